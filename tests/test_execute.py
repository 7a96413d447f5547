"""`make notebooks`: the same text gives the same bytes, and a failing cell is shown."""

import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient.exceptions import DeadKernelError

import execute as tool
import text

TOOL = Path(__file__).resolve().parent.parent / "book" / "execute.py"


@pytest.fixture
def pair(tmp_path):
    return text.pair_of(tmp_path / "notebooks" / "01_sums.ipynb")


def write_text(pair, *sources):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    pair.text.parent.mkdir(parents=True, exist_ok=True)
    pair.text.write_text(text.write_text(notebook, pair.text.name), "utf-8")


def execute(*arguments, tool=TOOL):
    return subprocess.run([sys.executable, tool, *arguments], capture_output=True, encoding="utf-8")


def test_a_second_execution_changes_no_byte(pair):
    write_text(pair, "print(1)\nprint(2)", "1 + 2")
    assert "written" in execute(pair.text).stdout
    first = pair.notebook.read_bytes()
    assert "unchanged" in execute(pair.notebook).stdout
    assert pair.notebook.read_bytes() == first

    notebook = nbformat.read(pair.notebook, as_version=4)
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    assert notebook.cells[0].metadata == {}
    assert notebook.cells[0].outputs[0].text == "1\n2\n"
    assert notebook.cells[1].outputs[0].data == {"text/plain": "3"}

    notebook.cells[0].metadata["execution"] = {"iopub.execute_input": "2020-01-01"}
    notebook.metadata["authors"] = ["me"]
    nbformat.write(notebook, pair.notebook)
    assert "written" in execute(pair.notebook).stdout
    assert pair.notebook.read_bytes() == first


@pytest.mark.parametrize(
    ("failures", "tries"),
    [
        ([], 1),
        ([RuntimeError("no answer")], 2),
        ([RuntimeError("no answer")] * 3, 3),
        ([DeadKernelError("died")], 1),
    ],
)
def test_a_kernel_that_does_not_start_is_started_again_and_a_dead_one_is_not(monkeypatch, tmp_path, failures, tries):
    """Two notebooks that start at the same time can be given one port."""
    left, begun = list(failures), []

    class Client:
        def __init__(self, notebook, **how):
            begun.append(notebook)

        def execute(self):
            if left:
                raise left.pop(0)

    monkeypatch.setattr(tool, "NotebookClient", Client)
    if len(failures) == tries:
        with pytest.raises(type(failures[-1])):
            tool.run("the notebook", tmp_path)
    else:
        tool.run("the notebook", tmp_path)
    assert begun == ["the notebook"] * tries


def test_an_edited_text_is_executed_under_the_same_ids(pair):
    write_text(pair, "total = 1 + 2", "total")
    execute(pair.text)
    before = nbformat.read(pair.notebook, as_version=4)
    write_text(pair, "total = 1 + 3", "'something else'", "total")
    assert "written" in execute(pair.text).stdout
    after = nbformat.read(pair.notebook, as_version=4)
    assert after.cells[2].outputs[0].data == {"text/plain": "4"}
    assert [after.cells[0].id, after.cells[2].id] == [cell.id for cell in before.cells]


def test_a_failing_cell_is_shown_and_nothing_is_written(pair):
    write_text(pair, "planted = 1 / 0")
    result = execute(pair.text)
    assert result.returncode == 1
    assert "planted = 1 / 0" in result.stdout
    assert not pair.notebook.exists()

    write_text(pair, "planted = 1 / 1")
    execute(pair.text)
    before = pair.notebook.read_bytes()
    write_text(pair, "planted = 1 / 0")
    assert execute(pair.text).returncode == 1
    assert pair.notebook.read_bytes() == before
    write_text(pair, "planted = 1 / 2")  # the failure has not made the old notebook an edited one
    assert "written" in execute(pair.text).stdout


def test_an_edited_notebook_is_not_overwritten(pair):
    write_text(pair, "1 + 2")
    execute(pair.text)
    edited = pair.notebook.read_text("utf-8").replace("1 + 2", "1 + 3")
    pair.notebook.write_text(edited, "utf-8")
    result = execute(pair.text)
    assert result.returncode == 1
    assert "notebooks/01_sums.ipynb: edited, and its text book/chapters/01_sums.md was not; make text" in result.stdout
    assert pair.notebook.read_text("utf-8") == edited
    assert "written" in execute("--force", pair.text).stdout
    assert nbformat.read(pair.notebook, as_version=4).cells[0].source == "1 + 2"


def test_a_notebook_that_is_edited_meanwhile_is_not_overwritten(pair):
    write_text(pair, "1 + 2")
    execute(pair.text)
    write_text(pair, f"with open({str(pair.notebook)!r}, 'a') as file:\n    _ = file.write(' ')")
    result = execute(pair.text)
    assert result.returncode == 1
    assert "notebooks/01_sums.ipynb: edited while its text was executed" in result.stdout
    assert pair.notebook.read_text("utf-8").endswith(" ")


def test_what_lacks_its_text_or_has_a_mistake_is_named_and_the_others_are_made(pair):
    """In a book of its own, where no file is named: all pairs are taken."""
    root = pair.root
    write_text(pair, "1 + 2")
    for name in ("execute.py", "text.py"):
        shutil.copy(TOOL.parent / name, root / "book")
    execute(pair.text)
    lone = text.pair_of(root / "book" / "lone.ipynb")
    shutil.copy(pair.notebook, lone.notebook)
    broken = text.pair_of(root / "notebooks" / "02_broken.ipynb")
    broken.text.write_text(pair.text.read_text("utf-8").replace("{code-cell}", "{code}"), "utf-8")
    result = execute(tool=root / "book" / "execute.py")
    assert result.returncode == 1
    said = sorted(result.stdout.splitlines())
    assert said[0].startswith("01_sums.ipynb: ")
    assert said[1].startswith("book/chapters/02_broken.md, line 8: expected a cell {code-cell} or {raw-cell}")
    assert said[2] == "book/lone.ipynb: expected its text book/pages/lone.md, got none; make text writes it"
    assert len(said) == 3
