"""The exercises of the book: of every kind, with a level and minutes, linked, solved; and how they are read."""

import copy
import json
import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from bookcheck import links, reading
from toytf import check
from toytf.course import exercises
from toytf.course.chapters import chapters
from toytf.course.exercises import KINDS, SOLUTION_TAG, parse, read, without_solutions

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
CHAPTERS = [int(path.name[:2]) for path in exercises.notebooks(NOTEBOOKS)]
each_chapter = pytest.mark.parametrize("chapter", CHAPTERS)


@cache
def of(chapter):
    """The exercises of one chapter."""
    return list(read(NOTEBOOKS, [chapter]).values())


# ---------------------------------------------------------------- the book's exercises


def problems(listed):
    """What a chapter's exercises lack."""
    found = [f"no exercise of the kind {kind}" for kind in KINDS if not any(kind in one.kinds for one in listed)]
    found += [f"{len(listed)} exercises"] * (len(listed) < 5)
    for n, one in enumerate(listed, 1):
        file, slug = one.section.split("#")
        path, name = NOTEBOOKS / file, one.check and one.check.name
        blocks = re.findall(r"^```python\n(.*?)^```$", one.solution, re.DOTALL | re.MULTILINE)
        asks = f"check.{name}({name})" if name else f'check.byhand("{one.number}"' if one.by_hand else ""
        found += [
            f"{one.label}: {what}"
            for what, right in {
                "not in its order": one.number == f"{one.chapter}.{n}",
                "no such section": path.is_file() and slug in links.heading_slugs(reading.page_markdown(path)),
                "a solution that is not folded": one.folded,
                "a solution that is not the checker's": not name or any(one.check.source in block for block in blocks),
                "a text that does not name the checker": asks in one.text,
                "a function to write, and not of the kind code": not name or "code" in one.kinds,
                "minutes": 1 <= one.minutes <= 120,
            }.items()
            if not right
        ]
    return found


def test_every_chapter_of_the_contents_is_read_and_exercises_are_a_hundred_at_least():
    assert CHAPTERS == [int(number) for number in chapters()]
    assert len(read(NOTEBOOKS)) >= 100


def test_every_checker_has_its_exercise():
    have = {one.label for chapter in CHAPTERS for one in of(chapter) if one.check or one.by_hand}
    assert have == {one.exercise for one in [*check.CHECKS.values(), *check.BY_HAND.values()]}


@each_chapter
def test_the_exercises_of_a_chapter_lack_nothing(chapter):
    assert problems(of(chapter)) == []


def changed(kind, **change):
    """Chapter 9's exercises, the first one of a kind changed."""
    first = next(i for i, one in enumerate(of(9)) if one.kind == kind)
    return [replace(one, **change) if i == first else one for i, one in enumerate(of(9))]


@pytest.mark.parametrize(
    ("listed", "says"),
    [
        ([one for one in of(9) if "explore" not in one.kinds], "no exercise of the kind explore"),
        (of(9)[1:], "ex-09-2: not in its order"),
        (changed("text", section="09_residual_and_layer_norm.ipynb#gone"), "no such section"),
        (changed("text", folded=False), "not folded"),
        (changed("function", solution="```python\ndef another(x):\n    return x\n```\n"), "is not the checker's"),
        (changed("function", text="Write it."), "does not name the checker"),
        (changed("function", kinds=("explain",)), "not of the kind code"),
        (changed("text", minutes=0), "minutes"),
    ],
)
def test_a_planted_fault_of_a_chapter_is_found(listed, says):
    assert [line for line in problems(listed) if line.endswith(says)]


# ---------------------------------------------------------------- how they are read

GOOD = """## Exercises

:::{exercise} 9.1: One row
:label: ex-09-1
:nonumber:

*By hand and explain, level 2, 15 min*

Normalise a row. ([Layer norm](#layer-norm))
:::
"""
SOLVED = """:::{solution} ex-09-1
:label: sol-09-1
:class: dropdown

Mean: 3.
:::
"""


def cell(source, kind="markdown", **metadata):
    return {"cell_type": kind, "id": "x", "metadata": metadata, "source": source}


def book(folder, *texts):
    """A folder with one chapter, one cell for each text."""
    notebook = {"cells": [cell(text) for text in texts], "metadata": {}}
    (folder / "09_norm.ipynb").write_text(json.dumps(notebook), "utf-8")
    return folder


def test_an_exercise_is_read_with_all_that_belongs_to_it(tmp_path):
    (one,) = read(book(tmp_path, GOOD, SOLVED)).values()
    assert (one.label, one.number, one.chapter) == ("ex-09-1", "9.1", 9)
    assert (one.title, one.kinds, one.level, one.minutes) == ("One row", ("by hand", "explain"), 2, 15)
    assert one.section == "09_norm.ipynb#layer-norm"
    assert (one.text, one.solution) == ("Normalise a row. ([Layer norm](#layer-norm))", "Mean: 3.")
    assert (one.by_hand, one.check, one.kind, one.points) == (check.BY_HAND["9.1"], None, "by hand", 2)
    (one,) = (one for one in of(9) if one.label == "ex-09-7")
    assert (one.check, one.kind, one.points) == (check.layer_norm, "function", check.layer_norm.points)


@pytest.mark.parametrize(
    ("right", "wrong", "says"),
    [
        ("level 2, 15 min*", "level 2*", 'One row: expected a first line such as "*By hand, level 1, 5 min*"'),
        ("15 min*\n\n", "15 min*\n", "expected a first line such as"),
        (" 9.1: One row", " One row", '/09_norm.ipynb: exercise One row: expected a title such as "9.1: Name"'),
        (" 9.1: One row", " 9.2: One row", "expected :label: ex-09-2"),
        (":nonumber:\n", "", "expected :nonumber:"),
        ("[Layer norm](#layer-norm)", "layer norm", "expected a link to its section"),
        (":label: ex-09-1", "", "expected :label: ex-09-1"),
        (SOLVED, "", "expected a solution"),
        ("Mean: 3.\n:::", "Mean: 3.", ":::{solution} ex-09-1: expected a line ::: that closes it"),
    ],
)
def test_a_planted_mistake_is_named(tmp_path, right, wrong, says):
    text = GOOD + "\n" + SOLVED
    assert right in text
    with pytest.raises(ValueError, match=re.escape(says)):
        read(book(tmp_path, text.replace(right, wrong)))


def test_a_file_that_is_no_notebook_is_named(tmp_path):
    (tmp_path / "09_norm.ipynb").write_text("{}", "utf-8")
    with pytest.raises(ValueError, match="expected a Jupyter notebook, got KeyError"):
        read(tmp_path)


def test_a_chapter_or_folder_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(ValueError, match="chapters: expected some of 9, got 10"):
        read(book(tmp_path, GOOD, SOLVED), [10])
    with pytest.raises(ValueError, match="folder: expected one with notebooks"):
        read(tmp_path / "nowhere")


def test_directives_in_code_fences_are_text_and_longer_fences_hold_shorter_ones():
    text = "```text\n:::{exercise} Shown only\n```\n\n::::{solution} ex-09-1\n:::{tip}\nA tip.\n:::\n::::\nAfter."
    (directive,) = parse(text)
    assert directive.kind == "solution"
    assert "A tip." in directive.body
    assert text.splitlines()[directive.stop :] == ["After."]


# ---------------------------------------------------------------- leaving the solutions out


def pointers(notebook):
    """What is left of a solution, or points at one, where there should be none."""
    found, after = [], False  # whether the heading of the exercises is above
    for c in notebook["cells"]:
        if SOLUTION_TAG in c["metadata"].get("tags", []):
            found.append(f"cell tagged {SOLUTION_TAG}")
        elif after and c["cell_type"] == "code":
            found.append(f"a cell that is not tagged: {c['source']}")
        elif c["cell_type"] == "markdown":
            after = after or "\n## Exercises" in "\n" + c["source"]
            outside = re.sub(r"(?ms)^:::\{exercise\}.*?^:::$", "", c["source"].split("\n## Exercises")[-1])
            words = r"\bsolutions?\b|these answers" if after else "(?!)"
            found += re.findall(r"\{solution\}|sol-\d\d", c["source"]) + re.findall(words, outside)
    return found


@each_chapter
def test_a_student_sees_nothing_that_points_at_a_solution(chapter):
    (path,) = exercises.notebooks(NOTEBOOKS, [chapter])
    notebook = exercises.read_notebook(path)
    assert pointers(without_solutions(notebook)) == []
    assert pointers(notebook) != []  # the check sees what is there before


@pytest.mark.parametrize("as_stored", [str, lambda source: source.splitlines(keepends=True)])
def test_solutions_and_cells_with_their_tag_go_and_nothing_else_does(as_stored):
    shown = cell("print(1)", "code", tags=["hide-input"])
    announced = cell("The next cell computes the numbers of the solutions.", tags=["solution"])
    computed = cell("print(2)", "code", tags=["hide-cell", "solution"])
    text, alone = cell(f"{GOOD}\n{SOLVED}\nOther answers are welcome."), cell(SOLVED)
    before = {"cells": [cell("# Many solutions"), shown, text, announced, computed, alone], "metadata": {"a": 1}}
    for c in before["cells"]:
        c["source"] = as_stored(c["source"])
    kept = copy.deepcopy(before)
    left = without_solutions(before)
    assert before == kept  # a copy
    assert left["metadata"] == before["metadata"]
    assert [c["source"] for c in left["cells"]] == [
        as_stored(source) for source in ("# Many solutions", "print(1)", f"{GOOD}\nOther answers are welcome.")
    ]
    assert without_solutions(left) == left


def test_a_planted_pointer_and_a_forgotten_tag_are_found():
    cells = [cell("## Exercises"), cell("The numbers of the solutions."), cell("print(3)", "code", tags=["hide-cell"])]
    assert pointers({"cells": cells}) == ["solutions", "a cell that is not tagged: print(3)"]
