"""Each executed page is a text and the notebook made of it: executed to the same bytes, and no edit is lost."""

import copy
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_raw_cell

import text
from bookcheck import reading
from text import PairError

PAIRS = text.all_pairs()


def test_every_notebook_has_its_text():
    assert {pair.notebook for pair in PAIRS} == set(reading.notebook_paths())


# ---------------------------------------------------------------- reading and writing

ONE, TWO, THREE = "# Scaling", "Why divide at all?", new_code_cell("print(1 + 1)", metadata={"tags": ["hide-input"]})
RELU = f"```python\n{text.CHECKS['relu'].source}```"


def notebook_of(*cells):
    """A notebook with ids 05-000, 05-001, ...; strings are Markdown."""
    cells = [new_markdown_cell(cell) if isinstance(cell, str) else copy.deepcopy(cell) for cell in cells]
    for number, cell in enumerate(cells):
        cell.id = f"05-{number:03}"
    return new_notebook(cells=cells, metadata=copy.deepcopy(text.METADATA), nbformat_minor=5)


@pytest.mark.parametrize(
    "cell",
    [
        "::::{note}\n:::{solution} ex\n:class: dropdown\n\nAll.\n:::\n::::",
        "See\n\n```python\nx = 1\n\n\ny = 2\n```\n\nand on  \n    four.\n\n---\n\n<!-- +++ -->",
        "````\n```{code-cell}\n1\n```\n````",
        RELU,
        new_code_cell("---\n:tags: [no]\n```\n'''a  \n  b '''"),
        new_code_cell(
            "1", metadata={"mystnb": {"image": {"alt": "A: 'b' # d\n- " + "word " * 40}}, "tags": ["solution"]}
        ),
        new_raw_cell("\\newpage\n---", metadata={"format": "text/latex"}),
    ],
)
def test_an_unusual_cell_comes_back_as_it_was(cell):
    notebook = notebook_of("Before.", cell, new_code_cell("2"), cell)
    written = text.write_text(notebook, "05.ipynb")
    assert [one.source for one in text.read_text(written, "05.md").cells] == [one.source for one in notebook.cells]
    assert text.content(text.read_text(written, "05.md")) == text.content(notebook)
    assert "def relu" not in written and "source_hidden" not in written


@pytest.mark.parametrize(
    "cell",
    [
        "One.\n\n+++\n\nTwo.",
        "```\nnever closed",
        new_markdown_cell("![x](attachment:x.png)", attachments={"x.png": {"image/png": "iVBO"}}),
    ],
)
def test_what_a_text_cannot_hold_is_refused(cell):
    with pytest.raises(PairError, match=r"^05\.ipynb: "):
        text.write_text(notebook_of("Before.", cell, new_code_cell("1")), "05.ipynb")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("```{code-cel}\n1\n```", "got '```{code-cel}'"),
        (":::{code-cell}\n1\n:::", "got ':::{code-cell}'"),
        ("- one\n\n  ```{code-cell}\n  1\n  ```", "got '  ```{code-cell}'"),
        ("```{code-cell}\n1\n\n```{code-cell}\n2\n```", "got '```{code-cell}'"),
        ("```{code-cell}\n:tags: [a\n1\n```", "expected metadata such as"),
        ("```{code-cell}\n:tags: hide-input\n1\n```", "expected metadata such as"),
        ("{{ check.reluu }}", "expected a checker of toytf.check, got reluu"),
    ],
)
def test_a_mistake_in_a_text_is_named(body, message):
    with pytest.raises(PairError) as error:
        text.read_text(f"First.\n\n{body}\n", "05.md")
    assert str(error.value).startswith("05.md: ") and message in str(error.value)


@pytest.mark.parametrize(
    ("cells", "ids"),
    [
        ([ONE, "Why divide here at all?", THREE], ["05-000", "05-001", "05-002"]),
        ([TWO, THREE, ONE], ["05-001", "05-002", "05-000"]),
        ([ONE, TWO, "Something new.", THREE], ["05-000", "05-001", None, "05-002"]),
    ],
)
def test_a_cell_keeps_its_id_and_a_new_ones_comes_from_its_words(cells, ids):
    made = [notebook_of(*cells), notebook_of(*cells)]
    for notebook in made:
        text._give_ids(notebook, notebook_of(ONE, TWO, THREE), "05")
    first, second = ([cell.id for cell in notebook.cells] for notebook in made)
    assert first == second and len({*first}) == len(first)
    assert all(want in (None, got) for want, got in zip(ids, first, strict=True))


# ---------------------------------------------------------------- both ways


def edit(path, old, new):
    before = path.read_text("utf-8")
    assert old in before
    path.write_text(before.replace(old, new), "utf-8")


@pytest.fixture(params=["the last run", "git"])
def pair(request, tmp_path):
    """A chapter whose text and notebook were just the same; known from the last run, or in a fresh clone from git."""
    one = text.pair_of(tmp_path / "notebooks" / "05_scaling.ipynb")
    one.notebook.parent.mkdir()
    nbformat.write(notebook_of(ONE, TWO, THREE, RELU), one.notebook)
    assert text.text_from_notebook(one) == "book/chapters/05_scaling.md: written"
    if request.param == "git":
        identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
        for words in (["init"], ["add", "notebooks", "book"], ["commit", "-m", "both"]):
            subprocess.run(["git", "-C", one.root, *identity, *words], check=True, capture_output=True)
        one.base.unlink()
    return one


def test_an_edited_text_makes_the_notebook(pair):
    edit(pair.text, "divide", "multiply")
    assert text.text_from_notebook(pair).endswith("newer than its notebook; make notebooks executes it")
    made = text.notebook_from_text(pair)
    assert made.cells[1].source == "Why multiply at all?" and made.cells[1].id == "05-001"
    assert made.cells[3].source == RELU


def test_an_edited_notebook_comes_back_to_the_text(pair):
    edit(pair.notebook, "divide", "multiply")
    with pytest.raises(PairError, match=r"^notebooks/05_scaling\.ipynb: edited, so it stays"):
        text.notebook_from_text(pair)
    assert text.text_from_notebook(pair) == "book/chapters/05_scaling.md: written"
    assert "Why multiply at all?" in pair.text.read_text("utf-8") and "{{ check.relu }}" in pair.text.read_text("utf-8")
    assert text.text_from_notebook(pair) == "book/chapters/05_scaling.md: unchanged"


def test_when_both_were_edited_nothing_is_lost_but_what_force_names(pair):
    edit(pair.text, "divide", "multiply")
    edit(pair.notebook, "Scaling", "Dividing")
    for way in (text.notebook_from_text, text.text_from_notebook):
        with pytest.raises(PairError, match="edited, so "):
            way(pair)
    assert text.notebook_from_text(pair, force=True).cells[0].source == "# Scaling"
    assert text.main(["--force", str(pair.notebook)]) == 0
    assert "multiply" not in pair.text.read_text("utf-8") and "# Dividing" in pair.text.read_text("utf-8")


def test_what_an_editor_keeps_for_itself_is_no_edit(pair):
    notebook = nbformat.read(pair.notebook, as_version=4)
    notebook.metadata["language_info"]["version"] = "3.99"
    notebook.cells[2].metadata |= {"collapsed": False, "scrolled": True, "execution": {"a": "1"}}
    notebook.cells[2].source += "\n"
    notebook.cells.append(new_markdown_cell(""))
    nbformat.write(notebook, pair.notebook)
    assert text.text_from_notebook(pair) == "book/chapters/05_scaling.md: unchanged"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--force"], "--force: expected the files that it is meant for, got none"),
        (["book/glossary.md"], "expected one of notebooks/*.ipynb, "),
    ],
)
def test_a_wrong_call_is_refused(arguments, message, capsys):
    with pytest.raises(SystemExit):
        text.main(arguments)
    assert message in capsys.readouterr().err


# ---------------------------------------------------------------- make notebooks


def run(path):
    command = [sys.executable, Path(text.__file__).with_name("execute.py"), path]
    return subprocess.run(command, capture_output=True, encoding="utf-8")


@pytest.fixture
def sums(tmp_path):
    """A chapter that has its text alone."""
    one = text.pair_of(tmp_path / "book" / "chapters" / "01_sums.md")
    one.text.parent.mkdir(parents=True)
    one.text.write_text("# Sums\n\n```{code-cell}\nprint(1)\nprint(2)\n1 + 2\n```\n", "utf-8")
    return one


def test_the_same_text_gives_the_same_bytes(sums):
    assert "written" in run(sums.text).stdout
    first = sums.notebook.read_bytes()
    notebook = nbformat.reads(first, 4)
    assert [output.get("text") or output.data["text/plain"] for output in notebook.cells[1].outputs] == ["1\n2\n", "3"]
    assert "unchanged" in run(sums.notebook).stdout and sums.notebook.read_bytes() == first


def test_a_failing_cell_is_shown_and_an_edit_is_not_overwritten(sums):
    run(sums.text)
    before = sums.notebook.read_bytes()
    edit(sums.text, "1 + 2", "1 / 0")
    result = run(sums.text)
    assert result.returncode == 1 and "ZeroDivisionError" in result.stdout
    assert sums.notebook.read_bytes() == before
    meanwhile = f"with open({str(sums.notebook)!r}, 'a') as file:\n    _ = file.write(' ')"
    edit(sums.text, "1 / 0", meanwhile)
    assert "edited while its text was executed" in run(sums.text).stdout
    edit(sums.notebook, "1 + 2", "1 + 3")
    result = run(sums.text)
    assert result.returncode == 1 and "edited, so it stays" in result.stdout
