"""The notebook behind the download button: Markdown that everybody reads, and it runs or says what it needs."""

import json
import re
import subprocess
import sys
import tomllib

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook, new_output
from toytf_download import elsewhere, first_cell, markdown

import toytf
from bookcheck import reading
from toytf.course.exercises import without_solutions

EXERCISE = """:::{exercise} 9.1: One row
:label: ex-09-1

*By hand, level 2, 15 min*

Normalise it. ([Layer norm](#layer-norm), [chapter 4](../notebooks/04_self_attention.ipynb#scaling))
:::

:::{solution} ex-09-1
:class: dropdown

Mean: 3.
:::
"""
PLAIN = """### Exercise 9.1: One row

*By hand, level 2, 15 min*

Normalise it. (*Layer norm*, chapter 4)

<details>
<summary>Solution of 9.1</summary>

Mean: 3.

</details>"""


def made(path):
    return elsewhere(reading.read_notebook(path), path.name, "1.2.3")


@pytest.mark.parametrize("path", reading.notebook_paths(), ids=lambda path: path.stem)
def test_each_notebook_is_valid_and_keeps_its_exercises_and_solutions(path):
    """That nothing of MyST is left `markdown` sees: it refuses what it does not translate."""
    notebook = made(path)
    nbformat.validate(notebook)
    said, before = (json.dumps(one, ensure_ascii=False) for one in (notebook, reading.read_notebook(path)))
    assert said.count("### Exercise ") == before.count(":::{exercise}")
    assert said.count("<summary>Solution of ") == before.count(":::{solution}")
    left = elsewhere(without_solutions(reading.read_notebook(path)), path.name, "1.2.3")
    assert "<summary>Solution of " not in json.dumps(left)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        (EXERCISE, PLAIN),
        (":::{note}\nTwo things.\n\nMore.\n:::", "> **Note**\n>\n> Two things.\n>\n> More."),
        (":::{tip} Look\nHere.\n:::", "> **Look**\n>\n> Here."),
        (
            ":::{admonition} Why\n:class: dropdown\n\nSo.\n:::",
            "<details>\n<summary>Why</summary>\n\nSo.\n\n</details>",
        ),
        ("{.margin}\nBeside it.", "Beside it."),
        ("{.answered}\nThat is it.", "That is it."),
        ("![Two rows](_assets/a.png)", "*Picture: Two rows*"),
        ("[a](https://example.org/x.ipynb)", "[a](https://example.org/x.ipynb)"),
        ("```text\n:::{exercise} shown\n```", "```text\n:::{exercise} shown\n```"),
    ],
)
def test_what_myst_knows_becomes_markdown(text, plain):
    assert markdown(text, "09_residual_and_layer_norm.ipynb") == plain


@pytest.mark.parametrize(
    "text", [":::{grid} 2\nA\n:::", "See {ref}`ex-09-1`.", "(here)=\n# Title", "{.wide}\nText", "One.\n\n+++\n\nTwo."]
)
def test_what_only_myst_knows_is_refused(text):
    with pytest.raises(ValueError, match=r"expected Markdown, got .* which only MyST knows"):
        markdown(text, "a.ipynb")


def test_a_solution_with_code_is_read_and_not_run():
    outputs = [new_output("stream", text="3\n"), new_output("display_data", {"text/html": "<b>", "text/plain": "4"})]
    solved = new_code_cell("print(3)", metadata={"tags": ["solution"]}, execution_count=1, outputs=outputs)
    _, cell = elsewhere(new_notebook(cells=[solved]), "a.ipynb", "1.2.3").cells
    inside = "```python\nprint(3)\n```\n\nIt prints\n\n```text\n3\n4\n```"
    assert cell.cell_type == "markdown" and cell.source.split("</summary>")[1] == f"\n\n{inside}\n\n</details>"


def test_a_downloaded_chapter_runs_in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(reading.ROOT))
    notebook = made(reading.chapter_paths()[1])
    where = {"metadata": {"path": tmp_path}}
    NotebookClient(notebook, kernel_name="python3", startup_timeout=300, resources=where).execute()
    assert not any(tmp_path.iterdir())


def test_where_the_package_is_missing_the_first_cell_says_what_to_do(tmp_path):
    command = [sys.executable, "-I", "-S", "-c", first_cell("1.2.3")]  # a Python that has nothing
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, encoding="utf-8")
    assert run.returncode == 1
    said = run.stderr.split("ModuleNotFoundError: ")[1]
    assert said.startswith("This cell cannot install numpy, matplotlib, threadpoolctl, tqdm, toytf.")
    assert "Put toytf-1.2.3-py3-none-any.whl beside this notebook" in said
    project = tomllib.loads((reading.ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert re.findall(r"\[(\w+)\]\"", said) == ["plot"] and "plot" in project["optional-dependencies"]
    assert project["version"] == toytf.__version__
