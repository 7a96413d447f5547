"""The exercises of the book: of every kind, with a level and minutes, linked, solved; and how they are read.

Below, each mistake that the reader looks for is planted once.
"""

import copy
import json
import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from bookcheck import links, reading
from toytf import check
from toytf.check import ByHand
from toytf.course import exercises
from toytf.course.chapters import chapters
from toytf.course.exercises import KINDS, SOLUTION_TAG, parse, read, without_solutions

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = ROOT / "notebooks"
CHAPTERS = [int(path.name[:2]) for path in exercises.notebooks(NOTEBOOKS)]
each_chapter = pytest.mark.parametrize("chapter", CHAPTERS)


@cache
def of(chapter):
    """The exercises of one chapter."""
    return list(read(NOTEBOOKS, [chapter]).values())


def fenced_python(markdown):
    """The python blocks of a text."""
    return re.findall(r"^```python\n(.*?)^```$", markdown, re.DOTALL | re.MULTILINE)


# ---------------------------------------------------------------- the book's exercises


def test_every_chapter_of_the_contents_is_read_and_exercises_are_a_hundred_at_least():
    assert CHAPTERS == [int(number) for number in chapters()]
    assert len(read(NOTEBOOKS)) >= 100


def amount_problems(listed):
    """Five or more, of all four kinds."""
    missing = set(KINDS) - {kind for one in listed for kind in one.kinds}
    few = [f"{len(listed)} exercises"] * (len(listed) < 5)
    return few + [f"no exercise of the kind {kind}" for kind in sorted(missing)]


def number_problems(listed):
    """Numbered without gaps, in the order in which they come."""
    numbers = [one.number for one in listed]
    due = [f"{one.chapter}.{n}" for n, one in enumerate(listed, 1)]
    return [f"{number} where {n} is due" for number, n in zip(numbers, due, strict=True) if number != n]


def link_problems(listed):
    """The section that an exercise links to exists."""
    problems = []
    for one in listed:
        file, slug = one.section.split("#")
        path = NOTEBOOKS / file
        if not path.is_file() or slug not in links.heading_slugs(reading.page_markdown(path)):
            problems.append(f"{one.label}: {one.section}: no such section")
    return problems


def solution_problems(listed):
    """Folded, not empty, and with the checker's source where there is one."""
    problems = []
    for one in listed:
        if not one.folded:
            problems.append(f"{one.label}: the solution is not folded")
        if len(one.solution) < 20:
            problems.append(f"{one.label}: the solution is empty")
        if one.check and not any(one.check.source in block for block in fenced_python(one.solution)):
            problems.append(f"{one.label}: the solution is not that of check.{one.check.name}")
    return problems


def text_problems(listed):
    """The text says how to check an answer; the title has a time that is believable, and says "code" for a function."""
    problems = []
    for one in listed:
        if one.check and f"check.{one.check.name}({one.check.name})" not in one.text:
            problems.append(f"{one.label}: the text does not name check.{one.check.name}")
        if one.check and "code" not in one.kinds:
            problems.append(f"{one.label}: a function to write, and not of the kind code")
        if one.by_hand and f'check.byhand("{one.number}"' not in one.text:
            problems.append(f"{one.label}: the text does not name check.byhand")
        if not 1 <= one.minutes <= 120:
            problems.append(f"{one.label}: {one.minutes} minutes")
    return problems


PROMISES = (amount_problems, number_problems, link_problems, solution_problems, text_problems)


@each_chapter
@pytest.mark.parametrize("promise", PROMISES, ids=lambda f: f.__name__)
def test_the_exercises_of_a_chapter_keep(chapter, promise):
    assert promise(of(chapter)) == []


def changed(listed, kind, **change):
    """The exercises, the first one of a kind changed."""
    first = next(i for i, one in enumerate(listed) if one.kind == kind)
    return [*listed[:first], replace(listed[first], **change), *listed[first + 1 :]]


@pytest.mark.parametrize(
    ("promise", "plant", "says"),
    [
        (amount_problems, lambda listed: listed[:4], "4 exercises"),
        (
            amount_problems,
            lambda listed: [x for x in listed if "explore" not in x.kinds],
            "no exercise of the kind explore",
        ),
        (number_problems, lambda listed: listed[1:], "9.2 where 9.1 is due"),
        (number_problems, lambda listed: [listed[1], listed[0], *listed[2:]], "9.1 where 9.2 is due"),
        (
            link_problems,
            lambda x: changed(x, "text", section="09_residual_and_layer_norm.ipynb#gone"),
            "no such section",
        ),
        (link_problems, lambda listed: changed(listed, "text", section="99_gone.ipynb#layer-norm"), "no such section"),
        (solution_problems, lambda listed: changed(listed, "text", folded=False), "not folded"),
        (solution_problems, lambda listed: changed(listed, "text", solution=""), "is empty"),
        (
            solution_problems,
            lambda listed: changed(listed, "function", solution="```python\ndef another(x):\n    return x\n```\n"),
            "is not that of check.",
        ),
        (text_problems, lambda listed: changed(listed, "function", text="Write it."), "does not name check."),
        (text_problems, lambda listed: changed(listed, "function", kinds=("explain",)), "not of the kind code"),
        (text_problems, lambda listed: changed(listed, "by hand", text="Compute."), "does not name check.byhand"),
        (text_problems, lambda listed: changed(listed, "text", minutes=0), "0 minutes"),
    ],
)
def test_a_planted_fault_of_a_chapter_is_found(promise, plant, says):
    assert [line for line in promise(plant(of(9))) if says in line]


def notebook_of(chapter):
    (path,) = exercises.notebooks(NOTEBOOKS, [chapter])
    return exercises.read_notebook(path)


def pointer_problems(notebook):
    """What is left of a solution, or points at one, where there should be none."""
    problems, after = [], False  # whether the heading of the exercises is above
    for c in notebook["cells"]:
        if SOLUTION_TAG in c["metadata"].get("tags", []):
            problems.append(f"cell tagged {SOLUTION_TAG}")
        if c["cell_type"] != "markdown":
            continue
        after = after or "\n## Exercises" in "\n" + c["source"]
        outside = re.sub(r"(?ms)^:::\{exercise\}.*?^:::$", "", c["source"].split("\n## Exercises")[-1])
        found = re.search(r"\{solution\}|sol-\d\d", c["source"])
        found = found or (after and re.search(r"\bsolutions?\b|these answers", outside))
        if found:
            problems.append(f"{found[0]!r} in a text")
    return problems


def untagged_problems(notebook):
    """Every code cell after the exercises shows solutions, and has to say so."""
    cells = notebook["cells"]
    first = next(i for i, c in enumerate(cells) if c["cell_type"] == "markdown" and "## Exercises" in c["source"])
    code = [c for c in cells[first:] if c["cell_type"] == "code"]
    return [c["source"] for c in code if SOLUTION_TAG not in c["metadata"].get("tags", [])]


@each_chapter
def test_a_student_sees_nothing_that_points_at_a_solution(chapter):
    assert pointer_problems(without_solutions(notebook_of(chapter))) == []
    assert pointer_problems(notebook_of(chapter)) != []  # the check sees what is there before


@each_chapter
def test_every_code_cell_after_the_exercises_is_tagged_as_a_solution(chapter):
    assert untagged_problems(notebook_of(chapter)) == []


def test_a_planted_pointer_and_a_forgotten_tag_are_found():
    left = without_solutions(notebook())
    left["cells"].append(cell("The next cell computes the numbers of the solutions."))
    assert pointer_problems(left) == ["'solutions' in a text"]
    left["cells"].append(cell("print(3)", "code", tags=["hide-cell"]))
    assert untagged_problems(left) == ["print(3)"]


def test_every_checker_has_its_exercise():
    have = {one.label for chapter in CHAPTERS for one in of(chapter) if one.check or one.by_hand}
    assert have == {one.exercise for one in [*check.CHECKS.values(), *check.BY_HAND.values()]}


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
WELCOME = "Other answers are welcome."


def cell(source, kind="markdown", **metadata):
    return {"cell_type": kind, "id": "x", "metadata": metadata, "source": source}


def book(folder, *sources):
    """A folder with one chapter, one cell for each text; code where a text is a cell already."""
    cells = [cell(s) if isinstance(s, str) else s for s in sources]
    (folder / "notebooks").mkdir(exist_ok=True)
    (folder / "notebooks" / "09_norm.ipynb").write_text(json.dumps({"cells": cells, "metadata": {}}), "utf-8")
    return folder / "notebooks"


def test_an_exercise_is_read_with_all_that_belongs_to_it(tmp_path):
    pencil = ByHand("ex-09-1", ())
    (one,) = read(book(tmp_path, GOOD, SOLVED), checks=[], by_hand=[pencil]).values()
    assert (one.label, one.number, one.chapter) == ("ex-09-1", "9.1", 9)
    assert (one.title, one.kinds, one.level, one.minutes) == ("One row", ("by hand", "explain"), 2, 15)
    assert one.section == "09_norm.ipynb#layer-norm"
    assert one.text == "Normalise a row. ([Layer norm](#layer-norm))"
    assert one.solution == "Mean: 3."
    assert (one.by_hand, one.check, one.kind, one.points, one.folded) == (pencil, None, "by hand", 2, True)


def test_a_function_has_the_points_of_its_checker(tmp_path):
    softmax = copy.copy(next(iter(check.CHECKS.values())))
    softmax.exercise, softmax.points = "ex-09-1", 7
    (one,) = read(book(tmp_path, GOOD, SOLVED), checks=[softmax], by_hand=[]).values()
    assert (one.kind, one.points) == ("function", 7)


@pytest.mark.parametrize(
    ("right", "wrong", "says"),
    [
        (
            "*By hand and explain, level 2, 15 min*",
            "*By hand, level 1*",
            'notebooks/09_norm.ipynb: exercise ex-09-1: first line: expected "*By hand, level 1, 5 min*", '
            'got "*By hand, level 1*"',
        ),
        ("level 2", "level 4", "first line: expected"),
        ("By hand and", "By heart and", "first line: expected"),
        ("15 min*\n\n", "15 min*\n", "first line: expected"),
        (" 9.1: One row", " One row", 'exercise ex-09-1: title: expected "9.1: ...", got "One row"'),
        (" 9.1: One row", " 9.2: One row", 'title: expected "9.1: ...", got "9.2: One row"'),
        (" 9.1: One row", " 9.1 One row", 'title: expected "9.1: ..."'),
        (":nonumber:\n", "", "options: expected :nonumber:"),
        ("[Layer norm](#layer-norm)", "layer norm", "text: expected a link to its section"),
        ("#layer-norm", "#exercises", "text: expected a link to its section"),
        (":label: ex-09-1", ":label: ex-10-1", "label: expected ex-09-1, -2, ..., got 'ex-10-1'"),
        (":label: ex-09-1", "", "label: expected ex-09-1, -2, ..., got ''"),
        (GOOD, GOOD + GOOD, "exercise ex-09-1: label: expected one exercise of this label, got two"),
        (SOLVED, SOLVED + SOLVED, "solution ex-09-1: label: expected one solution of this label, got two"),
        (SOLVED, "", "exercise ex-09-1: expected a solution, got none"),
        (GOOD, "", "solution of ex-09-1: expected such an exercise, got none"),
        ("{solution} ex-09-1", "{solution} ex-09-2", "solution of ex-09-2: expected such an exercise"),
        ("Mean: 3.\n:::", "Mean: 3.", ":::{solution} ex-09-1: expected a line ::: that closes it"),
    ],
)
def test_a_planted_mistake_is_named(tmp_path, right, wrong, says):
    text = GOOD + "\n" + SOLVED
    assert right in text
    with pytest.raises(ValueError, match=re.escape(says)):
        read(book(tmp_path, text.replace(right, wrong)), checks=[], by_hand=[])


def test_all_mistakes_are_named_at_once(tmp_path):
    folder = book(tmp_path, GOOD.replace("level 2", "level 9").replace("#layer-norm", ""))
    with pytest.raises(ValueError) as error:
        read(folder, checks=[], by_hand=[])
    assert len(str(error.value).splitlines()) == 3  # first line, section, solution


@pytest.mark.parametrize(
    ("label", "says"),
    [("ex-09-2", r'byhand\("ex-09-2"\): exercise: expected the label of an exercise'), ("9.1", "such as ex-09-1")],
)
def test_a_checker_whose_exercise_does_not_exist_is_named(tmp_path, label, says):
    with pytest.raises(ValueError, match=says):
        read(book(tmp_path, GOOD, SOLVED), checks=[], by_hand=[ByHand(label, ())])


def test_two_checkers_for_one_exercise_are_named(tmp_path):
    twice = [ByHand("ex-09-1", ()), ByHand("ex-09-1", ())]
    with pytest.raises(ValueError, match="expected one checker for ex-09-1, got two"):
        read(book(tmp_path, GOOD, SOLVED), checks=[], by_hand=twice)
    softmax = copy.copy(next(iter(check.CHECKS.values())))
    softmax.exercise = "ex-09-1"
    with pytest.raises(ValueError, match="expected one checker, got check and byhand"):
        read(book(tmp_path, GOOD, SOLVED), checks=[softmax], by_hand=twice[:1])


def test_checkers_of_chapters_that_are_not_read_are_no_mistake(tmp_path):
    assert read(book(tmp_path, GOOD, SOLVED), checks=[], by_hand=[ByHand("ex-10-1", ())])


@pytest.mark.parametrize(
    ("content", "says"),
    [("{", "expected a Jupyter notebook, got JSONDecodeError"), ("{}", "got KeyError"), ("[]", "got TypeError")],
)
def test_a_file_that_is_no_notebook_is_named(tmp_path, content, says):
    folder = book(tmp_path)
    (folder / "09_norm.ipynb").write_text(content, "utf-8")
    with pytest.raises(ValueError, match=says):
        read(folder)


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


def notebook():
    shown = cell("print(1)", "code", tags=["hide-input"])
    announced = cell("The next cell computes the numbers of the solutions.", tags=["solution"])
    computed = cell("print(2)", "code", tags=["hide-cell", "solution"])
    text = cell(f"{GOOD}\n{SOLVED}\n{WELCOME}")
    return {
        "cells": [cell("# Title\n\nMany solutions exist."), shown, text, announced, computed, {**computed}],
        "metadata": {"kernelspec": {"name": "python3"}},
        "nbformat": 4,
    }


def test_solutions_and_cells_with_their_tag_go_and_nothing_else_does():
    before = notebook()
    left = without_solutions(before)
    assert before == notebook()  # a copy
    assert [c["source"] for c in left["cells"]] == [
        "# Title\n\nMany solutions exist.",
        "print(1)",
        f"{GOOD}\n{WELCOME}",
    ]
    assert left["metadata"] == before["metadata"]


def test_sources_may_be_lists_of_lines():
    before = notebook()
    for c in before["cells"]:
        c["source"] = c["source"].splitlines(keepends=True)
    left = without_solutions(before)
    assert "".join(left["cells"][2]["source"]) == f"{GOOD}\n{WELCOME}"
    assert isinstance(left["cells"][2]["source"], list)


def test_a_cell_of_which_nothing_is_left_goes():
    before = {"cells": [cell(SOLVED), cell("The numbers of the solutions:", tags=["solution"])]}
    before["cells"].append(cell("print(2)", "code", tags=["solution"]))
    assert without_solutions(before)["cells"] == []


def test_a_notebook_without_solutions_stays_as_it_is():
    left = without_solutions(notebook())
    assert without_solutions(left) == left
