"""The notebook behind the download button: plain Markdown, nothing of MyST, and it runs or says what it needs."""

import json
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from toytf_download import METADATA, elsewhere, first_cell, markdown

import toytf
from toytf.course.exercises import read_notebook, without_solutions

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted([*(ROOT / "notebooks").glob("*.ipynb"), *(ROOT / "book").glob("*.ipynb")])
each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
EXERCISE = """## Exercises

:::{exercise} 9.1: One row
:label: ex-09-1
:nonumber:

*By hand, level 2, 15 min*

Normalise it. ([Layer norm](#layer-norm), [chapter 4](../notebooks/04_self_attention.ipynb#scaling))
:::

:::{solution} ex-09-1
:label: sol-09-1
:class: dropdown

Mean: 3. ([E0-34](../book/errata.ipynb#e0-34-where-epsilon-goes))
:::
"""
PLAIN = """## Exercises

### Exercise 9.1: One row

*By hand, level 2, 15 min*

Normalise it. (*Layer norm*, chapter 4)

<details>
<summary>Solution of 9.1</summary>

Mean: 3. (E0-34)

</details>"""


def made(path):
    return elsewhere(read_notebook(path), path.name, "1.2.3")


def as_read(notebook):
    """A notebook as nbformat reads it from its file."""
    return nbformat.reads(json.dumps(notebook), as_version=4)


def problems(notebook):
    """What another reader than MyST would show as it stands, or what leads nowhere."""
    found = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            text = "".join(cell["source"])
            text = re.sub(r"^(```+).*?^\1$|(?<!\})`[^`\n]+`", "", text, flags=re.MULTILINE | re.DOTALL)
            text = re.sub(r"\$\$.*?\$\$|\$[^$\n]+\$", "", text, flags=re.DOTALL)
            found += re.findall(r"^:::.*|\{[a-z]+\}`|\]\((?!https?://)[^)\s]*\)|^:[\w-]+:.*", text, re.MULTILINE)
            if text.count("<details>") != text.count("</details>"):
                found.append("<details> that is not closed")
        if "solution" in cell["metadata"].get("tags", []):
            found.append("an open solution")
    return found


@each_notebook
def test_a_notebook_of_the_book_is_plain_elsewhere_and_valid(path):
    notebook = made(path)
    nbformat.validate(as_read(notebook))
    assert problems(notebook) == []
    before = read_notebook(path)
    if path.name[:2].isdigit():
        assert problems(before) != []  # the check sees what is there before
    said = json.dumps(notebook["cells"], ensure_ascii=False)
    text = json.dumps(before["cells"], ensure_ascii=False)
    assert said.count("### Exercise ") == text.count(":::{exercise}")
    assert said.count("<summary>Solution of ") == text.count(":::{solution}")


def test_an_exercise_is_a_heading_a_solution_is_folded_and_links_are_words():
    assert markdown(EXERCISE, "09_residual_and_layer_norm.ipynb") == PLAIN
    assert problems({"cells": [{"cell_type": "markdown", "metadata": {}, "source": PLAIN}]}) == []


def test_notes_are_quotations_and_pictures_say_what_they_show():
    note = ":::{note}\nTwo things.\n\nMore.\n:::"
    assert markdown(note, "a.ipynb") == "> **Note**\n>\n> Two things.\n>\n> More."
    assert markdown(":::{tip} Look\nHere.\n:::", "a.ipynb") == "> **Look**\n>\n> Here."
    proof = ":::{admonition} Where it comes from\n:class: dropdown\n\nFrom here.\n:::"
    folded = "<details>\n<summary>Where it comes from</summary>\n\nFrom here.\n\n</details>"
    assert markdown(proof, "a.ipynb") == folded
    assert markdown("![Two rows](_assets/a.png)", "a.ipynb") == "*Picture: Two rows*"
    assert markdown("[a](https://example.org/x.ipynb)", "a.ipynb") == "[a](https://example.org/x.ipynb)"
    assert markdown("```text\n:::{exercise} shown\n```", "a.ipynb") == "```text\n:::{exercise} shown\n```"


@pytest.mark.parametrize(
    "text",
    [
        ":::{grid} 2\nA\n:::",
        "See {ref}`ex-09-1`.",
        "(here)=\n# Title",
        "{.wide}\nText",
        "::::{note}\n:::{grid}\nA\n:::\n::::\n:::",
    ],
)
def test_what_only_myst_knows_is_refused(text):
    with pytest.raises(ValueError, match=r"expected Markdown, got .* which only MyST knows"):
        markdown(text, "a.ipynb")


def test_a_solution_with_code_is_read_and_not_run():
    solved = {"cell_type": "code", "id": "s", "metadata": {"tags": ["solution"]}, "source": "print(3)"}
    solved |= {"execution_count": 1, "outputs": [{"output_type": "stream", "name": "stdout", "text": ["3\n"]}]}
    notebook = elsewhere({"cells": [solved], "nbformat": 4, "nbformat_minor": 5}, "a.ipynb", "1.2.3")
    (_, cell) = notebook["cells"]
    assert cell["cell_type"] == "markdown"
    inside = "```python\nprint(3)\n```\n\nIt prints\n\n```text\n3\n```"
    assert "".join(cell["source"]).split("</summary>")[1] == f"\n\n{inside}\n\n</details>"


def test_without_solutions_nothing_folded_is_left():
    path = next(path for path in NOTEBOOKS if path.name.startswith("09_"))
    left = elsewhere(without_solutions(read_notebook(path)), path.name, "1.2.3")
    assert "<summary>Solution of " not in json.dumps(left)
    assert "### Exercise 9.1" in json.dumps(left)
    assert "<summary>Solution of " in json.dumps(made(path))  # the check sees what is there before


def test_the_metadata_name_no_version_of_python():
    assert "version" not in METADATA["language_info"]
    assert METADATA["kernelspec"]["name"] == "python3"


def test_a_downloaded_chapter_runs_in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    (path,) = (path for path in NOTEBOOKS if path.name.startswith("02_"))
    notebook = as_read(made(path))
    stored = [cell.outputs for cell in notebook.cells[1:] if cell.cell_type == "code"]
    where = {"metadata": {"path": tmp_path}}
    client = NotebookClient(
        notebook, kernel_name="python3", startup_timeout=300, coalesce_streams=True, resources=where
    )
    client.execute()
    assert [len(cell.outputs) for cell in notebook.cells[1:] if cell.cell_type == "code"] == [len(o) for o in stored]
    assert not any(tmp_path.iterdir())


def test_where_the_package_is_missing_the_first_cell_says_what_to_do(tmp_path):
    command = [sys.executable, "-I", "-S", "-c", first_cell("1.2.3")]  # a Python that has nothing
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, encoding="utf-8")
    assert run.returncode == 1
    said = run.stderr.split("ModuleNotFoundError: ")[1]
    assert said.startswith("This cell cannot install numpy, matplotlib, threadpoolctl, tqdm, toytf.")
    assert "Put toytf-1.2.3-py3-none-any.whl beside this notebook" in said
    assert '%pip install "/place/of/the/folder[plot]"' in said


def test_a_notebook_stops_at_that_cell(tmp_path):
    notebook = made(NOTEBOOKS[0])
    notebook["cells"] = notebook["cells"][:1]
    hidden = "import importlib.util; importlib.util.find_spec = lambda name: None\n"
    notebook["cells"][0]["source"] = [hidden, *notebook["cells"][0]["source"]]
    where = {"metadata": {"path": tmp_path}}
    client = NotebookClient(as_read(notebook), kernel_name="python3", startup_timeout=300, resources=where)
    with pytest.raises(CellExecutionError, match="This cell cannot install"):
        client.execute()


def test_the_extras_that_the_message_names_exist():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert re.findall(r"\[(\w+)\]\"", first_cell("1.2.3")) == ["plot", "plot"]
    assert "plot" in project["optional-dependencies"]
    assert project["version"] == toytf.__version__
