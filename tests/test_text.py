"""Each executed page is a text and the notebook made of it: equal, both ways, and no edit is lost."""

import copy
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output, new_raw_cell

import text
from bookcheck import reading
from text import PairError

PAIRS = text.all_pairs()


def pair_problems(pair):
    """What keeps a text and its stored notebook from being a pair; nothing else may differ but outputs."""
    if missing := [pair.name(path) for path in (pair.text, pair.notebook) if not path.exists()]:
        return [f"{pair.name(pair.text)} and {pair.name(pair.notebook)}: {missing[0]} is missing"]
    made, _ = text.notebook_from_text(pair, force=True)
    stored = reading.read_notebook(pair.notebook)
    names = [f"{pair.name(pair.notebook)}: "] * 2
    problems = [names[0] + "its metadata"] if made.metadata != stored.metadata else []
    if len(made.cells) != len(stored.cells):
        problems.append(f"{names[0]}{len(made.cells)} cells in the text, {len(stored.cells)} in the notebook")
    for number, (a, b) in enumerate(zip(made.cells, stored.cells, strict=False), 1):
        problems += [
            f"{names[0]}cell {number}: {key} differs"
            for key in ("cell_type", "source", "metadata", "id")
            if a[key] != b[key]
        ]
    return problems


# ---------------------------------------------------------------- the book's own pairs


def test_the_book_has_chapters_and_pages():
    assert {pair.text.parent.name for pair in PAIRS} == {"chapters", "pages"}
    assert {pair.notebook for pair in PAIRS} >= set(reading.notebook_paths())


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.text.name)
def test_a_text_and_its_notebook_are_equal(pair):
    assert pair_problems(pair) == []


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.text.name)
def test_a_stored_notebook_comes_back_from_its_own_text(pair):
    stored = reading.read_notebook(pair.notebook)
    again = text.read_text(text.write_text(stored, pair.notebook.name), pair.text.name)
    assert cells_of(again) == cells_of(stored)
    assert again.metadata == stored.metadata


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.text.name)
def test_no_text_names_an_id(pair):
    written = pair.text.read_text("utf-8")
    assert [cell.id for cell in reading.read_notebook(pair.notebook).cells if cell.id in written] == []


def test_git_marks_notebooks_and_no_text_as_generated():
    if not (reading.ROOT / ".git").exists():
        pytest.skip("not under git")
    paths = [path for pair in PAIRS for path in (pair.notebook, pair.text)]
    said = subprocess.run(
        ["git", "check-attr", "linguist-generated", *paths], cwd=reading.ROOT, capture_output=True, encoding="utf-8"
    ).stdout.splitlines()
    generated = {line.split(":")[0] for line in said if line.endswith(": set")}
    assert generated == {str(pair.notebook) for pair in PAIRS}


# ---------------------------------------------------------------- a small book


def cells_of(notebook):
    return [(cell.cell_type, cell.source, cell.metadata) for cell in notebook.cells]


def titled(*cells):
    """A notebook of these cells; strings are Markdown."""
    cells = [new_markdown_cell(cell) if isinstance(cell, str) else copy.deepcopy(cell) for cell in cells]
    for number, cell in enumerate(cells):
        cell.id = f"05-{number:03}"
    notebook = new_notebook(cells=cells, metadata=copy.deepcopy(text.METADATA))
    notebook.nbformat_minor = 5
    return notebook


def stored(pair, notebook):
    pair.notebook.parent.mkdir(exist_ok=True)
    pair.notebook.write_text(nbformat.writes(notebook) + "\n", "utf-8")


@pytest.fixture
def pair(tmp_path):
    """A chapter whose text and notebook were just the same."""
    one = text.pair_of(tmp_path / "notebooks" / "05_scaling.ipynb")
    code = new_code_cell("print(1 + 1)", execution_count=1, metadata={"tags": ["hide-input"]})
    code.outputs = [new_output("stream", name="stdout", text="2\n")]
    stored(one, titled("# Scaling", "Why divide at all?", code, "That is all there is to say here."))
    assert text.text_from_notebook(one) == "book/chapters/05_scaling.md: written"
    return one


def edit_text(pair, old="divide", new="multiply"):
    before = pair.text.read_text("utf-8")
    assert old in before
    pair.text.write_text(before.replace(old, new), "utf-8")


def edit_notebook(pair, old="all there is", new="all that there is"):
    before = pair.notebook.read_text("utf-8")
    assert old in before
    pair.notebook.write_text(before.replace(old, new), "utf-8")


def test_a_text_and_its_notebook_are_found_from_either(tmp_path):
    for notebook, page in [
        ("notebooks/05_scaling.ipynb", "book/chapters/05_scaling.md"),
        ("book/follow.ipynb", "book/pages/follow.md"),
    ]:
        one = text.pair_of(tmp_path / notebook)
        assert one == text.pair_of(tmp_path / page)
        assert (one.name(one.notebook), one.name(one.text)) == (notebook, page)
    for elsewhere in ("book/glossary.md", "notebooks/05_scaling.md", "chapters/05_scaling.md", "sums.ipynb"):
        with pytest.raises(PairError, match=r"expected one of notebooks/\*\.ipynb, book/chapters/\*\.md, "):
            text.pair_of(tmp_path / elsewhere)


def plant(change):
    def planted(pair):
        notebook = nbformat.read(pair.notebook, as_version=4)
        change(notebook)
        stored(pair, notebook)

    return planted


@pytest.mark.parametrize(
    ("fault", "named"),
    [
        (lambda pair: edit_notebook(pair), "cell 4: source differs"),
        (lambda pair: edit_text(pair), "cell 2: source differs"),
        (plant(lambda nb: nb.cells[2].metadata.pop("tags")), "cell 3: metadata differs"),
        (plant(lambda nb: nb.cells.__setitem__(1, new_raw_cell(nb.cells[1].source))), "cell 2: cell_type differs"),
        (plant(lambda nb: nb.cells.reverse()), "cell 1: source differs"),
        (plant(lambda nb: nb.cells.pop()), "4 cells in the text, 3 in the notebook"),
        (plant(lambda nb: nb.metadata.update(authors=["me"])), "its metadata"),
        (lambda pair: pair.text.unlink(), "book/chapters/05_scaling.md is missing"),
        (lambda pair: pair.notebook.unlink(), "notebooks/05_scaling.ipynb is missing"),
    ],
)
def test_a_pair_that_is_none_is_named(pair, fault, named):
    assert pair_problems(pair) == []
    fault(pair)
    problems = pair_problems(pair)
    assert any(named in problem for problem in problems), problems
    assert all("notebooks/05_scaling.ipynb" in problem for problem in problems)


def test_a_pair_of_which_one_is_missing_is_among_all_pairs(tmp_path):
    for name in ("notebooks/01_one.ipynb", "book/chapters/02_two.md", "book/lone.ipynb", "book/pages/page.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert [one.text.stem for one in text.all_pairs(tmp_path)] == ["01_one", "02_two", "lone", "page"]
    for one in text.all_pairs(tmp_path):
        assert "is missing" in pair_problems(one)[0]


# ---------------------------------------------------------------- the round trip

UNUSUAL = {
    "colon fences": ":::{exercise} 9.9: Halve it\n:label: ex-09-9\n:nonumber:\n\n*Code*\n\nWrite it.\n:::\n\nAfter.",
    "nested colon fences": "::::{note}\n:::{solution} ex\n:class: dropdown\n\nAll.\n:::\n::::",
    "a fence": "See\n\n```python\nx = 1\n\n\ny = 2\n```\n\nand on.",
    "a fence in a quote": "> ```\n> x\n> ```",
    "a fence in a list": "1. one\n\n   ```\n   x\n   ```\n\n2. two",
    "a cell that is only shown": "````\n```{code-cell}\n1\n```\n````\n\n    ```{code-cell}\n    1\n    ```",
    "a fence around a fence": "````\n```\nx\n```\n````",
    "blanks at line ends": "one  \ntwo   \n\nthree\n    four",
    "a rule and a heading": "Title\n---\n\ntext\n\n---\n\ntext\n===",
    "something like a head": "---\ntitle: none\n---",
    "a plus list": "+ one\n+ two\n\n++ x\n\n    +++",
    "HTML": "<details>\n\n<summary>x</summary>\n</details>\n<!-- +++ -->",
    "a table and a formula": "| a | b |\n|---|---|\n| $x_1$ | `` ` `` |\n\n$$\nx = \\frac{1}{2}\n$$",
    "a link's definition": "[here]: https://example.org\n\n(target)=\n# Title",
    "other letters": "Überall ≈ 3 × √2, \N{NO-BREAK SPACE}hola, 数",
    "code": new_code_cell("x = 1\n\n\ny = 2"),
    "code that looks like metadata": new_code_cell(":tags: [no]\nx"),
    "code that looks like a block of metadata": new_code_cell("---\ntags: no\n---"),
    "code with a fence": new_code_cell('"""\n```\n````\n"""'),
    "a cell without code": new_code_cell(""),
    "code with blanks at line ends": new_code_cell("x = '''a  \n  b '''   \n    # last"),
    "tags": new_code_cell("1", metadata={"tags": ["hide-cell", "odd"]}),
    "an alternative text": new_code_cell(
        "1", metadata={"mystnb": {"image": {"alt": "A: 'b' \"c\" # d\n- " + "word " * 40}}, "tags": ["hide-input"]}
    ),
    "a raw cell": new_raw_cell("\\newpage\n---", metadata={"format": "text/latex"}),
    "metadata of Markdown": new_markdown_cell("# Title", metadata={"tags": ["x"], "odd": {"a": [1, None]}}),
}


@pytest.mark.parametrize("name", UNUSUAL)
def test_an_unusual_cell_comes_back_as_it_was(name):
    odd = UNUSUAL[name]
    for cells in ([odd], ["Before.", odd, "After."], [new_code_cell("1"), odd, new_code_cell("2"), odd]):
        notebook = titled(*cells)
        again = text.read_text(text.write_text(notebook, "05.ipynb"), "05.md")
        assert cells_of(again) == cells_of(notebook)


def test_the_cells_of_solutions_are_folded_and_what_one_folds_by_hand_is_no_edit():
    shown, solved = new_code_cell("1"), new_code_cell("2", metadata={"tags": ["hide-cell", "solution"]})
    written = text.write_text(titled(shown, solved), "05.ipynb")
    made = text.read_text(written, "05.md")
    assert [cell.metadata.get("jupyter") for cell in made.cells] == [None, text.FOLDED]
    assert "source_hidden" not in written
    made.cells[0].metadata["jupyter"] = {"source_hidden": True}
    del made.cells[1].metadata["jupyter"]
    assert text.write_text(made, "05.ipynb") == written
    assert text.content(made) == text.content(text.read_text(written, "05.md"))


LINES = st.sampled_from(
    [
        "",
        "x",
        "# T",
        "```",
        "````",
        "```{code-cell}",
        ":::{note}",
        ":::",
        "+++",
        "---",
        ":tags: [a]",
        "- x",
        "  ",
        "  y",
    ]
    + ["> q", "    z", "~~~", "$$", "|a|", "\x0c", "\u2028", "<div>", "<!--", "```{raw-cell}", "a: b", "\t", "'''"]
)
SOURCES = st.lists(LINES, max_size=6).map("\n".join)
CELLS = st.builds(
    lambda new, source, tags: new(source, metadata={"tags": tags} if tags else {}),
    st.sampled_from([new_markdown_cell, new_code_cell, new_raw_cell]),
    SOURCES,
    st.lists(st.sampled_from(["hide-cell", "a: b", "---", "]"]), max_size=2, unique=True),
)


@given(st.lists(CELLS, max_size=5))
def test_a_cell_comes_back_as_it_was_or_is_refused(cells):
    """But for blank lines around it, and for Markdown cells with nothing in them."""
    notebook = titled(*cells)
    try:
        written = text.write_text(notebook, "05.ipynb")
    except PairError as error:
        assert re.match(r"05\.ipynb, cell \d+ ", str(error))
        return
    assert text.content(text.read_text(written, "05.md")) == text.content(notebook)


@pytest.mark.parametrize(
    "odd",
    [
        "One.\n\n+++\n\nTwo.",
        "```{code-cell}\n1\n```",
        "```\nnever closed",
        "<!-- never closed",
        "a form feed\n\x0c\nwithin",
        new_code_cell("# one\u2028two"),
        new_markdown_cell("![x](attachment:x.png)", attachments={"x.png": {"image/png": "iVBO"}}),
    ],
)
def test_what_a_text_cannot_hold_is_refused_and_named(odd):
    notebook = titled("Before.", odd, new_code_cell("1"))
    with pytest.raises(PairError, match=r"^05\.ipynb, cell 2 \('.*'\): expected a cell that a text can hold, got "):
        text.write_text(notebook, "05.ipynb")


def test_what_an_editor_keeps_for_itself_is_no_edit(pair):
    notebook = nbformat.read(pair.notebook, as_version=4)
    notebook.metadata["language_info"]["version"] = "3.99"
    for cell in notebook.cells:
        cell.source = f"\n{cell.source}\n"
    notebook.cells[2].metadata |= {"collapsed": False, "scrolled": True, "trusted": True, "execution": {"a": "1"}}
    notebook.cells[2].outputs = []
    notebook.cells.append(new_markdown_cell(""))
    stored(pair, notebook)
    assert text.text_from_notebook(pair) == "book/chapters/05_scaling.md: unchanged"
    made, _ = text.notebook_from_text(pair)
    assert len(made.cells) == 4


# ---------------------------------------------------------------- ids


ONE, TWO, THREE, FOUR = "# Scaling", "Why divide at all?", new_code_cell("print(1 + 1)"), "That is all."
NEW = "Something that nobody has said before, in many words."


def ids_after(*cells, old=(ONE, TWO, THREE, FOUR)):
    """The ids that cells get whose notebook had the old ones, with ids 05-000, 05-001, ..."""
    notebook = titled(*cells)
    text.give_ids(notebook, titled(*old), "05")
    ids = [cell.id for cell in notebook.cells]
    assert len(set(ids)) == len(ids)
    return ids


@pytest.mark.parametrize(
    ("cells", "ids"),
    [
        ([ONE, TWO, THREE, FOUR], ["05-000", "05-001", "05-002", "05-003"]),
        ([TWO, THREE, FOUR], ["05-001", "05-002", "05-003"]),
        ([FOUR, ONE, TWO, THREE], ["05-003", "05-000", "05-001", "05-002"]),
        ([ONE, "Why divide here at all?", THREE, FOUR], ["05-000", "05-001", "05-002", "05-003"]),
        ([ONE, TWO, new_code_cell("print(1 + 2)"), FOUR], ["05-000", "05-001", "05-002", "05-003"]),
        (
            [ONE, "Why divide it?", "Why divide here at all?", THREE, FOUR],
            ["05-000", None, "05-001", "05-002", "05-003"],
        ),
        ([ONE, TWO, NEW, THREE, FOUR], ["05-000", "05-001", None, "05-002", "05-003"]),
        ([ONE, NEW, THREE, FOUR], ["05-000", None, "05-002", "05-003"]),
        ([ONE, TWO, "print(1 + 1)", FOUR], ["05-000", "05-001", None, "05-003"]),
        ([ONE, TWO, THREE, THREE, FOUR], ["05-000", "05-001", "05-002", None, "05-003"]),
        ([NEW, NEW], [None, None]),
    ],
)
def test_a_cell_keeps_its_id_where_it_is_clear_which_it_was(cells, ids):
    got = ids_after(*cells)
    assert [one if one in ("05-000", "05-001", "05-002", "05-003") else None for one in got] == ids
    assert all(re.fullmatch(r"05-[0-9a-f]{3}|05-[0-9a-f]{6}", one) for one in got)


def test_of_two_equal_cells_the_one_in_its_place_is_meant():
    assert ids_after(TWO, ONE, old=(ONE, TWO, ONE)) == ["05-001", "05-002"]


def test_metadata_may_change_and_the_id_stays():
    tagged = new_code_cell("print(1 + 1)", metadata={"tags": ["a"]})
    assert ids_after(ONE, TWO, tagged, FOUR)[2] == "05-002"
    assert ids_after(tagged, ONE, TWO, FOUR)[0] == "05-002"


def test_a_new_cells_id_comes_from_what_it_says():
    first, second = ids_after(ONE, NEW, TWO, THREE, FOUR)[1], ids_after(ONE, TWO, THREE, NEW, FOUR)[3]
    assert first == second
    assert ids_after(ONE, NEW + " More.", TWO, THREE, FOUR)[1] != first
    assert ids_after(NEW, old=()) == [first]
    assert ids_after(NEW, NEW, old=())[0] == first


# ---------------------------------------------------------------- mistakes

HEAD = text.myst.dump_yaml_blocks(text.HEAD, compact=False)
LINE = HEAD.count("\n") + 1


@pytest.mark.parametrize(
    ("body", "line", "message"),
    [
        (
            "```{code-cel}\n1\n```",
            0,
            "expected a cell {code-cell} or {raw-cell} (directives have colons), got {code-cel}",
        ),
        ("```{note}\n1\n```", 0, "expected a cell {code-cell} or {raw-cell} (directives have colons), got {note}"),
        ("```{code-cell} python\n1\n```", 0, "expected a cell {code-cell} or {raw-cell}"),
        ("Text.\n\n:::{code-cell}\n1\n:::", 2, "expected a cell of its own, in backticks, got colons or"),
        ("- one\n\n  ```{code-cell}\n  1\n  ```", 2, "expected a cell of its own, got one inside a list or quote"),
        ("```{code-cell}\n1\n", 0, "expected ``` below that closes it, got none"),
        ("x\n\n```{code-cell}\n1\n\ny\n\n```{code-cell}\n2\n```", 2, "expected ``` below that closes it, got none"),
        ("```text\n1\n\n```{code-cell}\n2\n```", 0, "expected ``` below that closes it, got none"),
        ("```{code-cell}\n:tags: [a\n1\n```", 1, "expected YAML, got a mistake: "),
        ("```{code-cell}\n---\ntags: [a]\nmystnb: {a: b: c}\n---\n1\n```", 3, "expected YAML, got a mistake: "),
        ("```{code-cell}\n---\ntags: *none\n---\n1\n```", 2, "expected YAML, got a mistake: "),
        ("```{code-cell}\n---\ntags: [a]\n1\n```", 1, "expected --- below that closes it, got none"),
        ("```{code-cell}\n:tags\n1\n```", 1, "expected metadata such as :tags: [hide-input], got 'tags'"),
        (
            "```{code-cell}\n:tags: hide-input\n1\n```",
            1,
            "expected metadata such as :tags: [hide-input], got 'hide-input' ",
        ),
        (
            "```{code-cell}\n---\nday: 2024-01-01\n---\n1\n```",
            1,
            "expected metadata such as :tags: [hide-input], got Obj",
        ),
        ("One.\n\n+++ [1]\n\nTwo.", 2, "expected metadata such as :tags: [hide-input], got [1]"),
        ("<!-- never closed\n\n```{code-cell}\n1\n```", 2, "expected a cell of its own, in backticks, got colons or"),
        ("> ```{code-cell}\n> 1\n> ```", 0, "expected a cell of its own, got one inside a list or quote"),
        ("One.\n\n+++ {tags}\n\nTwo.", 2, "expected +++ alone or with metadata in braces, got +++ {tags}"),
        ("One.\n\n+++ two\n\nTwo.", 2, "expected +++ alone or with metadata in braces, got +++ two"),
    ],
)
def test_a_mistake_in_a_text_gets_one_line_with_its_place(body, line, message):
    good = text.read_text(f"{HEAD}\nFirst.\n\n```{{code-cell}}\n1\n```\n\n", "05.md")
    assert len(good.cells) == 2
    with pytest.raises(PairError) as error:
        text.read_text(f"{HEAD}\nFirst.\n\n{body}\n", "05.md")
    assert str(error.value).startswith(f"05.md, line {LINE + 3 + line}: {message}")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("head", ["", "---\n---\n", HEAD.replace("python3", "julia"), "---\ntitle: none\n"])
def test_a_text_with_another_head_is_refused(head):
    with pytest.raises(PairError, match=r"^05\.md, line 1: expected the head --- / file_format: mystnb / ") as error:
        text.read_text(f"{head}\n# One\n", "05.md")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("05-002", "05-001", 22, "expected an id for each cell, got '05-001' twice"),
        ('"cells": [', '<<<<<<< ours\n "cells": [', 2, "expected a notebook, got Expecting property name"),
        ('"id": "05-001",\n', "", 1, "expected a notebook whose cells have ids, got another one"),
        ('"cells"', '"sells"', 1, "expected a notebook whose cells have ids, got another one"),
    ],
)
def test_a_mistake_in_a_notebook_gets_one_line_with_its_place(pair, old, new, line, message):
    edit_notebook(pair, old, new)
    for way in (text.notebook_from_text, text.text_from_notebook):
        with pytest.raises(PairError) as error:
            way(pair)
        assert str(error.value).startswith(f"notebooks/05_scaling.ipynb, line {line}: {message}")
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("side", ["text", "notebook"])
def test_bytes_that_are_no_text_are_named(pair, side):
    path = getattr(pair, side)
    path.write_bytes(path.read_bytes().replace(b"Scaling", b"Scal\xffing"))
    for way in (text.notebook_from_text, text.text_from_notebook):
        with pytest.raises(PairError, match=rf"^{pair.name(path)}: expected UTF-8, got .* byte 0xff"):
            way(pair)


# ---------------------------------------------------------------- both ways

OF_NOTEBOOK = r"^notebooks/05_scaling\.ipynb: edited, and its text book/chapters/05_scaling\.md was not; make text "
OF_BOTH = r"^book/chapters/05_scaling\.md and notebooks/05_scaling\.ipynb: both were edited "


def git(pair, *arguments):
    identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", pair.root, *identity, *arguments], check=True, capture_output=True)


def commit(pair):
    git(pair, "add", "notebooks", "book")
    git(pair, "commit", "-m", "both")


@pytest.fixture(params=["the last run", "git"])
def remembered(request, pair):
    """The pair; what it was is known from the last run, or after a fresh clone from git alone."""
    if request.param == "git":
        git(pair, "init")
        commit(pair)
        pair.base.unlink()
    return pair


def test_an_edited_text_makes_the_notebook(remembered):
    edit_text(remembered)
    made, source = text.notebook_from_text(remembered)
    assert made.cells[1].source == "Why multiply at all?"
    assert made.cells[1].id == "05-001"
    assert source == remembered.text.read_text("utf-8")
    before = remembered.text.read_bytes()
    assert text.text_from_notebook(remembered).endswith("newer than its notebook; make notebooks executes it")
    assert remembered.text.read_bytes() == before


def test_an_edited_notebook_comes_back_to_the_text(remembered):
    edit_notebook(remembered)
    with pytest.raises(PairError, match=OF_NOTEBOOK):
        text.notebook_from_text(remembered)
    assert text.text_from_notebook(remembered) == "book/chapters/05_scaling.md: written"
    assert "That is all that there is to say here." in remembered.text.read_text("utf-8")
    assert text.text_from_notebook(remembered) == "book/chapters/05_scaling.md: unchanged"
    assert pair_problems(remembered) == []


def test_when_both_were_edited_nothing_is_lost(remembered):
    edit_text(remembered)
    edit_notebook(remembered)
    before = remembered.text.read_bytes(), remembered.notebook.read_bytes()
    for way in (text.notebook_from_text, text.text_from_notebook):
        with pytest.raises(PairError, match=OF_BOTH) as error:
            way(remembered)
        assert (remembered.text.read_bytes(), remembered.notebook.read_bytes()) == before
        beside = re.search(r"--no-index (\S+) (\S+)\n", str(error.value))
        assert "all there is" in (remembered.root / beside[1]).read_text("utf-8")
        assert "all that there is" in (remembered.root / beside[2]).read_text("utf-8")


def test_when_both_were_edited_one_may_decide(remembered):
    edit_text(remembered)
    edit_notebook(remembered)
    assert text.notebook_from_text(remembered, force=True)[0].cells[3].source == "That is all there is to say here."
    assert text.text_from_notebook(remembered, force=True) == "book/chapters/05_scaling.md: written"
    assert text.notebook_from_text(remembered)[0].cells[1].source == "Why divide at all?"
    for new in ("multiply", "```{code}"):  # a newer text, and one with a mistake
        edit_text(remembered, "Why divide", f"\n{new}")
        assert text.text_from_notebook(remembered, force=True) == "book/chapters/05_scaling.md: written"
        assert text.text_from_notebook(remembered) == "book/chapters/05_scaling.md: unchanged"


def test_when_nothing_is_known_both_may_have_been_edited(pair):
    pair.base.unlink()
    edit_text(pair)
    for way in (text.notebook_from_text, text.text_from_notebook):
        with pytest.raises(PairError, match=OF_BOTH):
            way(pair)


def test_an_older_run_is_no_reason_to_refuse_what_git_knows(pair):
    """Another branch was checked out: the last run was about other words."""
    git(pair, "init")
    edit_text(pair, "divide", "stop")
    edit_notebook(pair, "divide", "stop")
    commit(pair)
    edit_text(pair, "stop", "go on")
    assert text.notebook_from_text(pair)[0].cells[1].source == "Why go on at all?"


def test_an_edit_that_was_committed_without_the_other_is_still_one(pair):
    git(pair, "init")
    commit(pair)
    pair.base.unlink()
    edit_text(pair)
    commit(pair)
    assert text.notebook_from_text(pair)[0].cells[1].source == "Why multiply at all?"
    edit_notebook(pair)
    with pytest.raises(PairError, match=OF_BOTH):
        text.text_from_notebook(pair)


@pytest.mark.parametrize("edited", ["text", "notebook"])
def test_a_text_that_is_younger_than_its_notebook_is_known_to_git_too(pair, edited):
    git(pair, "init")
    git(pair, "add", "notebooks")
    git(pair, "commit", "-m", "notebook")
    commit(pair)
    pair.base.unlink()
    if edited == "text":
        edit_text(pair)
        assert text.notebook_from_text(pair)[0].cells[1].source == "Why multiply at all?"
    else:
        edit_notebook(pair)
        assert text.text_from_notebook(pair) == "book/chapters/05_scaling.md: written"


def test_a_text_without_notebook_makes_one_and_a_notebook_without_text_is_named(pair):
    notebook = pair.notebook.read_bytes()
    pair.notebook.unlink()
    assert text.text_from_notebook(pair).endswith("has no notebook yet; make notebooks makes it")
    ids = [cell.id for cell in text.notebook_from_text(pair)[0].cells]
    assert ids == [cell.id for cell in text.notebook_from_text(pair)[0].cells]
    assert all(re.fullmatch("05-[0-9a-f]{6}", one) for one in ids)
    pair.text.unlink()
    pair.notebook.write_bytes(notebook)
    with pytest.raises(
        PairError, match=r"^notebooks/05_scaling\.ipynb: expected its text book/chapters/05_scaling\.md, "
    ):
        text.notebook_from_text(pair)


# ---------------------------------------------------------------- the command


def run(*arguments):
    tool = Path(text.__file__)
    return subprocess.run([sys.executable, tool, *arguments], capture_output=True, encoding="utf-8")


def test_make_text_names_what_it_did_and_fails_where_it_could_not(pair):
    edit_notebook(pair)
    result = run(pair.notebook, pair.text)
    assert (result.returncode, result.stdout) == (0, "book/chapters/05_scaling.md: written\n")
    edit_text(pair)
    edit_notebook(pair, "all that there is", "nothing")
    result = run(pair.text)
    assert result.returncode == 1
    assert re.match(OF_BOTH, result.stdout)
    assert f"{Path('book') / 'text.py'} --force notebooks/05_scaling.ipynb" in result.stdout
    assert run("--force", pair.notebook).stdout == "book/chapters/05_scaling.md: written\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--force"], "--force: expected the files that it is meant for, got none"),
        (["book/glossary.md"], "expected one of notebooks/*.ipynb, "),
        (["book/chapters/99_none.md"], "book/chapters/99_none.md: expected a file, got none"),
    ],
)
def test_a_wrong_call_is_refused(arguments, message):
    result = run(*arguments)
    assert result.returncode == 2
    assert message in result.stderr


# ---------------------------------------------------------------- solutions stand once

HALVE = "```python\n{{ check.relu }}\n```"


@pytest.mark.parametrize(
    "pair", [pair for pair in PAIRS if pair.text.parent.name == "chapters"], ids=lambda p: p.text.stem
)
def test_a_text_names_the_solutions_that_checkers_hold_and_types_none(pair):
    written = pair.text.read_text("utf-8")
    here = [one for one in text.checkers().values() if one.exercise.startswith(f"ex-{pair.text.name[:2]}-")]
    assert [one.name for one in here if written.count(f"\n{{{{ check.{one.name} }}}}\n") != 1] == []
    assert [one.name for one in here if one.source in written] == []


def test_a_named_solution_stands_in_the_notebook_and_is_named_again_on_the_way_back(pair):
    edit_text(pair, "Why divide at all?", HALVE)
    notebook, _ = text.notebook_from_text(pair)
    assert f"```python\n{text.checkers()['relu'].source}```" in notebook.cells[1].source
    stored(pair, notebook)
    pair.text.unlink()
    text.text_from_notebook(pair)
    assert HALVE in pair.text.read_text("utf-8")


def test_a_solution_that_was_edited_in_the_notebook_is_not_lost(pair):
    edit_text(pair, "Why divide at all?", HALVE)
    notebook, made_of = text.notebook_from_text(pair)
    stored(pair, notebook)
    text.remember(pair, made_of)
    edit_notebook(pair, "def relu(x)", "def relu(x, slope=0)")
    with pytest.raises(PairError, match="edited, and its text"):
        text.notebook_from_text(pair)
    text.text_from_notebook(pair)
    assert "def relu(x, slope=0)" in pair.text.read_text("utf-8")


def test_a_name_that_is_no_checkers_is_refused_with_its_line(pair):
    edit_text(pair, "Why divide at all?", "Why?\n\n{{ check.reluu }}")
    number = pair.text.read_text("utf-8").splitlines().index("{{ check.reluu }}") + 1
    with pytest.raises(PairError, match=rf"line {number}: expected a checker of toytf.check, got 'reluu'"):
        text.notebook_from_text(pair)


@pytest.mark.parametrize("known_by", ["the last run", "git"])
def test_a_solution_that_changes_in_its_checker_changes_the_notebook_without_a_word(pair, known_by, monkeypatch):
    def git(*words):
        identity = ["-c", "user.name=x", "-c", "user.email=x@x"]
        subprocess.run(["git", "-C", pair.root, *identity, *words], check=True, capture_output=True)

    edit_text(pair, "Why divide at all?", HALVE)
    notebook, made_of = text.notebook_from_text(pair)
    stored(pair, notebook)
    if known_by == "git":
        shutil.rmtree(pair.root / "_build")
        checks = pair.root / "toytf" / "check"
        checks.mkdir(parents=True)
        (checks / "ch07.py").write_text(f"@checker\n{text.checkers()['relu'].source}", "utf-8")
        git("init", "-q")
        git("add", ".")
        git("commit", "-qm", "A solution")
    else:
        text.remember(pair, made_of)
    monkeypatch.setattr(text, "_solution", lambda name: f"def {name}(x):\n    return abs(x)")
    made, _ = text.notebook_from_text(pair)
    assert "return abs(x)" in made.cells[1].source
