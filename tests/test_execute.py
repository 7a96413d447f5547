"""`make notebooks`: the same code gives the same bytes, and a failing cell is shown."""

import subprocess
import sys
from pathlib import Path

import nbformat

TOOL = Path(__file__).resolve().parent.parent / "book" / "execute.py"


def write_notebook(path, *sources):
    cells = [nbformat.v4.new_code_cell(source, id=f"cell-{i}") for i, source in enumerate(sources)]
    cells[0].metadata["execution"] = {"iopub.execute_input": "2020-01-01"}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata={"authors": ["me"]}), path)


def execute(path):
    return subprocess.run([sys.executable, TOOL, path], capture_output=True, encoding="utf-8")


def test_a_second_execution_changes_no_byte(tmp_path):
    path = tmp_path / "sums.ipynb"
    write_notebook(path, "print(1)\nprint(2)", "1 + 2")
    assert "written" in execute(path).stdout
    first = path.read_bytes()
    assert "unchanged" in execute(path).stdout
    assert path.read_bytes() == first

    notebook = nbformat.read(path, as_version=4)
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    assert notebook.cells[0].metadata == {}
    assert notebook.cells[0].outputs[0].text == "1\n2\n"
    assert notebook.cells[1].outputs[0].data == {"text/plain": "3"}


def test_a_failing_cell_is_shown_and_nothing_is_written(tmp_path):
    path = tmp_path / "broken.ipynb"
    write_notebook(path, "planted = 1 / 0")
    before = path.read_bytes()
    result = execute(path)
    assert result.returncode == 1
    assert "planted = 1 / 0" in result.stdout
    assert path.read_bytes() == before
