"""Assignments from the book's exercises: a student's notebook and an instructor's.

    toytf-classroom assign --exercises 9.1 9.7 8.8 --title "Week 6" --out week6

writes ``week6/student.ipynb``, ``week6/instructor.ipynb`` and ``week6/submissions/assignment.json``;
put the students' notebooks beside the last one, and ``toytf-classroom grade`` grades them.

Both notebooks have the same cells. They differ only in those that a student fills in, which in the
instructor's hold solution, common mistakes and worked answer between ``### BEGIN SOLUTION`` and
``### END SOLUTION``; a worked answer in words is followed by its rubric. So the instructor's is also a source
for nbgrader's ``generate_assignment``.

The locked cell of an exercise prints what the checker says, and its last line shows the points as a
number. nbgrader takes that number for the (partial) credit, an exception or a warning for none. An
``assert`` would do as well for nbgrader, but would stop a student who runs the notebook from top to
bottom; this way nothing raises, and a blank notebook runs to its end.

**nbgrader can be fooled.** It runs checks in the kernel of the student's own code, so a submission that
patches NumPy or ``toytf.check``, or that calls the right function of `toytf`, gets full marks, and its
code reads what the grader reads. ``toytf-classroom grade`` grades the same notebooks with `toytf` and the
comparison outside of the student's process.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from toytf._command import progress, write_whole
from toytf.check.answers import ByHand, Part
from toytf.course.chapters import BOOK
from toytf.course.exercises import KINDS, LEVELS, NOT_ANSWERED, Exercise, read, words_for_links
from toytf_classroom import first_cell, keys, lms, own_numbers
from toytf_classroom.grading import OWN
from toytf_classroom.own_numbers import Sheet
from toytf_classroom.rubrics import TYPICAL, Rubric
from toytf_classroom.rubrics import read as read_rubrics

MASTER = BOOK / "notebooks"
BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
MISTAKES = "Common mistakes, as the checker names them:"
IMPORTS = "import numpy as np\n\nfrom toytf import check\nfrom toytf.byhand import fmt"
HIDES = "check.hide_answers()  # a wrong number gets a hint, not the answer"


# ---------------------------------------------------------------- which exercises


def select(
    exercises: Mapping[str, Exercise],
    numbers: Sequence[str] | None = None,
    chapters: Iterable[int] | None = None,
    kinds: Iterable[str] | None = None,
    levels: Iterable[int] | None = None,
) -> list[Exercise]:
    """Choose exercises: those of the given numbers, in their order, or those of the chapters.

    Parameters
    ----------
    exercises : mapping
        What `toytf.course.exercises.read` gave.
    numbers : sequence of str, optional
        "9.1", ...
    chapters, kinds, levels : iterable, optional
        Of these, only the exercises of these chapters, of one of these kinds, of these levels.

    Raises
    ------
    ValueError
        If a number does not exist or stands twice, or nothing is left.
    """
    by_number = {one.number: one for one in exercises.values()}
    for i, number in enumerate(numbers or ()):
        if number not in by_number:
            raise ValueError(f"exercises: expected numbers such as {next(iter(by_number))}, got {number}")
        if number in numbers[:i]:
            raise ValueError(f"exercises: expected each number once, got {number} twice")
    chosen = [by_number[number] for number in numbers] if numbers else list(by_number.values())
    if chapters is not None:
        chosen = [one for one in chosen if one.chapter in set(chapters)]
    if kinds is not None:
        chosen = [one for one in chosen if set(kinds) & set(one.kinds)]
    if levels is not None:
        chosen = [one for one in chosen if one.level in set(levels)]
    if not chosen:
        raise ValueError("exercises: expected a choice that some exercise meets, got one that none meets")
    return chosen


def listed(one: Exercise) -> str:
    """An exercise in a line: number, title, kinds, level, minutes, points, and who grades it."""
    points = f"{one.points} point{'s'[: one.points != 1]}"
    by = "read by a person" if one.kind == "text" else "graded by the checker"
    kinds = " and ".join(one.kinds)
    return f"{one.number:5} {one.title} ({kinds}, level {one.level}, {one.minutes} min, {points}, {by})"


# ---------------------------------------------------------------- the cells


def notebooks(
    chosen: Sequence[Exercise], title: str, book: str | None = None, hide_answers: bool = True, ready: str | None = None
) -> tuple[dict, dict]:
    """Make the two editions, the student's and the instructor's.

    Parameters
    ----------
    chosen : sequence of Exercise
    title : str
    book : str, optional
        Address of the built book, for links to its sections; without it they are words.
    hide_answers : bool
        Whether the checks of by-hand answers stop at a hint, or go on to the sum with the third try.
    ready : str, optional
        The code that makes `toytf` ready, from `toytf_classroom.first_cell`; the one that installs nothing if left out.

    Returns
    -------
    student, instructor : dict
        Notebooks as JSON, without outputs.
    """
    rubrics = read_rubrics()
    imports = f"{IMPORTS}\n\n{HIDES}" if hide_answers else IMPORTS
    needs = _locked("needs", ready or first_cell.nowhere().cell, "code")
    needs["metadata"] |= first_cell.FOLDED
    first = [_locked("title", _introduction(chosen, title)), needs, _locked("imports", imports, "code")]
    student, instructor = list(first), list(first)
    for one in chosen:
        text = _locked(f"{one.label}-text", _text(one, book), toytf={"exercise": one.label, "role": "text"})
        blank, solved = _answers(one, book, rubrics.get(one.number))
        student += [text, blank, *_check(one)]
        instructor += [text, solved, *_check(one)]
    return _notebook(student), _notebook(instructor)


def manifest(chosen: Sequence[Exercise], title: str) -> dict:
    """What `toytf_classroom.grading` has to know; it holds no answers."""
    listed = []
    for one in chosen:
        entry = {
            "label": one.label,
            "number": one.number,
            "title": one.title,
            "kind": one.kind,
            "name": one.check.name if one.check else None,
            "points": one.points,
        }
        if one.kind == "by hand":
            entry["parts"] = [part.name for part in one.by_hand.parts]
        elif one.kind == OWN:
            entry |= {"topic": one.topic, "parts": [part.name for part in one.by_hand.parts]}
        listed.append(entry)
    return {"format": "toytf assignment", "version": 1, "title": title, "exercises": listed}


def _introduction(chosen: Sequence[Exercise], title: str) -> str:
    points, minutes = sum(one.points for one in chosen), sum(one.minutes for one in chosen)
    return (
        f"# {title}\n\n"
        f"{len(chosen)} exercise{'s'[: len(chosen) != 1]}, {points} point{'s'[: points != 1]}, "
        f"about {minutes} minutes for somebody who has read the chapters.\n\n"
        "- Functions: replace the line that raises `NotImplementedError`. Keep the name and the arguments.\n"
        "- Numbers: write them in place of `None`, a row as `[1, 2]`, a table as `[[1, 2], [3, 4]]`.\n"
        f"- Words: write them in place of {NOT_ANSWERED}. Try things out in cells that you add.\n\n"
        "The cell below each function and each number tells how far you are, as often as you like, and shows "
        "the points. An exercise that refers to arrays of its chapter is best tried in that chapter's notebook."
    )


def _text(one: Exercise, book: str | None) -> str:
    about = f"{' and '.join(one.kinds)}, level {one.level}, about {one.minutes} minutes"
    points = f"{one.points} point{'s'[: one.points != 1]}"
    return f"## {one.number} {portable(one.title, one, book)}\n\n*{about}, {points}*\n\n{portable(one.text, one, book)}"


def _answers(one: Exercise, book: str | None, rubric: Rubric | None) -> tuple[dict, dict]:
    """The cell to be filled in, blank and solved."""
    if one.kind == "function":
        texts = one.check.stub.rstrip("\n"), _solved_function(one)
    elif one.kind == "by hand":
        blank = assign_answer(one.by_hand, [None] * len(one.by_hand.parts))
        right = assign_answer(one.by_hand, [rounded(part) for part in one.by_hand.parts])
        texts = blank, "\n".join([blank, BEGIN, right, *_comment(one.solution), END])
    elif one.kind == OWN:
        right = assign_answer(one.by_hand, [rounded(part) for part in one.by_hand.parts])
        texts = one.blank, "\n".join([one.blank, BEGIN, right, *_comment(one.solution), END])
    else:
        solved = portable(one.solution, one, book)
        texts = NOT_ANSWERED, f"{solved}\n\n{_rubric(rubric, one)}" if rubric else solved
    by_person = one.kind == "text"
    nbgrader = {"grade": by_person, "locked": False, "solution": True}
    if by_person:
        nbgrader["points"] = one.points
    blank, solved = (
        _cell(
            f"{one.label}-answer",
            text,
            "markdown" if by_person else "code",
            nbgrader,
            {"exercise": one.label, "role": "answer"},
        )
        for text in texts
    )
    return blank, solved


def _rubric(rubric: Rubric, one: Exercise) -> str:
    """A rubric as Markdown: each scoring point with its letter, then the typical wrong answer."""
    lines = ["**Rubric**", ""]
    for (letter, point), worth in zip(rubric.lettered, rubric.worth(one.points), strict=True):
        lines.append(f"- **{letter}** ({worth:g}): {point.text}")
        if point.also:
            lines.append(f"  Also accepted: {point.also}")
    lines += [f"- **{TYPICAL}**, a typical wrong answer: {rubric.typical}", f"  Say: {rubric.say}"]
    return "\n".join(lines)


def _check(one: Exercise) -> list[dict]:
    """The locked cell that says how far a student is, and shows the points for nbgrader."""
    if one.kind == "text":
        return []
    if one.kind == OWN:
        about = {"exercise": one.label, "role": "check"}
        return [_locked(f"{one.label}-check", one.look, "code", about)]
    name, mine = (one.check.name, one.check.name) if one.check else (one.number, answer_name(one))
    says = f"check.{name}({mine})" if one.check else f'check.byhand("{name}", {mine})'
    source = f'{says}\ncheck.points("{name}", {mine}, of={one.points})'
    nbgrader = {"grade": True, "locked": True, "solution": False, "points": one.points}
    return [_cell(f"{one.label}-check", source, "code", nbgrader, {"exercise": one.label, "role": "check"})]


def answer_name(one: Exercise | ByHand) -> str:
    """The variable of a by-hand answer: ``answer_9_1``."""
    return f"answer_{re.sub(r'[.-]', '_', one.number)}"


def assign_answer(one: ByHand, values: Sequence) -> str:
    """The line, or lines, in which a student writes the values of a by-hand answer."""
    parts = one.parts
    if len(parts) == 1 and not parts[0].name:
        return f"{answer_name(one)} = {values[0]}"
    lines = [f"    {json.dumps(part.name, ensure_ascii=False)}: {v}," for part, v in zip(parts, values, strict=True)]
    return "\n".join([f"{answer_name(one)} = {{", *lines, "}"])


def rounded(part: Part):
    """An answer as a student would type it."""
    value = np.round(np.asarray(part.expected, dtype=float), part.decimals) + 0.0  # no -0.0
    whole = not part.decimals and (value == np.round(value)).all()
    return (value.astype(int) if whole else value).tolist()


def _solved_function(one: Exercise) -> str:
    source = one.check.source.rstrip("\n")
    lines = source.split("\n")
    head = ast.parse(source).body[0].body[0].end_lineno  # where the docstring ends
    notes = []
    if one.check.mistakes:
        notes = [f"# {MISTAKES}"]
        for mistake in one.check.mistakes:
            text = f"- {mistake.name}: {mistake.advice}"
            notes += [f"# {line}" for line in textwrap.wrap(text, 96, subsequent_indent="  ", break_on_hyphens=False)]
    # The worked answer shows the same source, which stands below anyway.
    worked = re.sub(rf"```python\n{re.escape(source)}\n```\n*", "", one.solution).strip()
    notes += _comment(worked) if worked else []
    inside = [BEGIN, *notes]
    return "\n".join([*lines[:head], *(f"    {line}" for line in inside), *lines[head:], f"    {END}"])


def _comment(text: str) -> list[str]:
    return [f"# {line}".rstrip() for line in text.split("\n")]


def portable(text: str, one: Exercise, book: str | None = None) -> str:
    """Make the links of an exercise work outside of the book: addresses in the built one, or words.

    "([Layer norm](#layer-norm))" becomes "(*Layer norm*, chapter 9)".
    """
    return words_for_links(text, one.section.split("#")[0], book)


def _locked(name: str, source: str, kind: str = "markdown", toytf: dict | None = None) -> dict:
    return _cell(name, source, kind, {"grade": False, "locked": True, "solution": False}, toytf)


def _cell(name: str, source: str, kind: str, nbgrader: dict, toytf: dict | None = None) -> dict:
    """One cell; `name` is its id, and nbgrader's name for it."""
    metadata: dict = {"nbgrader": {**nbgrader, "grade_id": name, "schema_version": 3, "task": False}}
    metadata["nbgrader"]["cell_type"] = kind
    metadata["nbgrader"] = dict(sorted(metadata["nbgrader"].items()))
    if toytf:
        metadata["toytf"] = toytf
    code = {"execution_count": None, "outputs": []} if kind == "code" else {}
    return {"cell_type": kind, "id": name, "metadata": metadata, **code, "source": source.splitlines(keepends=True)}


def _notebook(cells: list[dict]) -> dict:
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


# ---------------------------------------------------------------- writing


def files(
    chosen: Sequence[Exercise],
    title: str,
    book: str | None = None,
    hide_answers: bool = True,
    ready: first_cell.Ready | None = None,
) -> dict[str, str | bytes]:
    """The files of an assignment, by their paths in its folder: three, and what lies beside the notebooks."""
    ready = ready or first_cell.nowhere()
    student, instructor = notebooks(chosen, title, book, hide_answers, ready=ready.cell)
    return {
        "student.ipynb": _json(student),
        "instructor.ipynb": _json(instructor),
        "submissions/assignment.json": _json(manifest(chosen, title)),
        **ready.beside,
    }


def own_files(
    planned: Sequence,
    title: str,
    sheets: Sequence[Sheet],
    belongs: str,
    ready: first_cell.Ready | None = None,
    **how,
) -> dict[str, str | bytes]:
    """The files of an assignment with numbers of one's own: two notebooks for each student, and assignment.json.

    Parameters
    ----------
    planned : sequence
        From `toytf_classroom.own_numbers.plan`.
    title : str
    sheets : sequence of Sheet
        The students' numbers, under this title.
    belongs : str
        By what the grader knows the key again: `toytf_classroom.own_numbers.belongs`.
    ready : Ready, optional
        How the notebooks get `toytf`; what lies beside them is there once.
    **how
        What else `notebooks` takes.
    """
    ready = ready or first_cell.nowhere()
    found: dict[str, str | bytes] = {f"students/{name}": content for name, content in ready.beside.items()}
    for sheet in sheets:
        chosen = own_numbers.for_student(planned, sheet)
        both = notebooks(chosen, title, ready=ready.cell, **how)
        for edition, notebook in zip(("students", "instructor"), both, strict=True):
            found[f"{edition}/{sheet.student}.ipynb"] = _json(own_numbers.edition(notebook, sheet, planned, _locked))
    return found | {"submissions/assignment.json": _json(manifest(chosen, title) | {"belongs": belongs})}


def _json(content: dict) -> str:
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def write(folders: Mapping[Path, Mapping[str, str | bytes]], force: bool = False) -> None:
    """Write the files of several folders; other files that are there (the submissions, say) stay as they are.

    Raises
    ------
    ValueError
        If one of the files is there already and `force` is not set; then nothing is written.
    """
    paths = {folder / name: content for folder, files in folders.items() for name, content in files.items()}
    if not force and (there := [path for path in paths if path.exists()]):
        raise ValueError(f"{there[0]}: expected a new file, got one that is there; --force replaces it")
    for path, content in paths.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content if isinstance(content, bytes) else content.encode())


# ---------------------------------------------------------------- the command


EXAMPLES = (
    'toytf-classroom assign --exercises 9.1 9.7 8.8 --title "Week 6" --out week6',
    "toytf-classroom assign --list --chapters 9 --kinds code",
    'toytf-classroom assign --exercises 9.1 9.7 --title "Week 6" --out week6 --install toytf-0.1.0-py3-none-any.whl',
    'toytf-classroom assign --exercises 9.1 9.7 --title "Week 6" --out week6 --no-hide-answers',
    "toytf-classroom assign --exercises 9.1 9.7 --own-numbers --class class.csv --key-file key.txt --out week5",
)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Make an assignment from exercises of the book: a student's notebook and an instructor's. "
        "Without a choice it has every exercise."
    )
    choice = parser.add_argument_group("which exercises")
    choice.add_argument("--exercises", nargs="+", metavar="N.N", help="these, in this order: 9.1 9.7 8.8")
    choice.add_argument("--chapters", nargs="+", type=int, metavar="N", help="those of these chapters")
    kinds = [kind.replace(" ", "-") for kind in KINDS]
    choice.add_argument("--kinds", nargs="+", choices=kinds, help="of these, only those of such a kind")
    choice.add_argument("--levels", nargs="+", type=int, choices=LEVELS, help="of these, only those of such a level")
    parser.add_argument("--list", action="store_true", help="show the chosen exercises, a line each")
    mine = parser.add_argument_group(
        "numbers of one's own", "The key and the title make them: keep both, and grade with the same key."
    )
    mine.add_argument(
        "--own-numbers",
        action="store_true",
        help="a notebook for each student: by-hand exercises have other numbers in each, and none holds answers",
    )
    lms.arguments(mine, "who gets one")
    mine.add_argument(
        "--topics", nargs="+", metavar="TOPIC", default=[], help="these topics too, each as an exercise; 'all' for all"
    )
    mine.add_argument(
        "--same-for-all", action="store_true", help="by-hand exercises without a topic stay as they are in the book"
    )
    keys.arguments(mine)
    parser.add_argument("--title", default="Exercises", help="default: %(default)s")
    parser.add_argument(
        "--install",
        metavar="WHERE",
        help="where students get toytf: a wheel (it is copied beside the notebook), an address, or toytf==VERSION from "
        "the package index; without it, the notebook's first cell says what to do and installs nothing",
    )
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="for the notebooks and submissions/assignment.json")
    parser.add_argument("--apart", action="store_true", help="one folder for each chapter: FOLDER/chapter-09, ...")
    parser.add_argument("--force", action="store_true", help="replace files that are there (submissions stay)")
    parser.add_argument("--book", metavar="ADDRESS", help="where the book is served, to link to its sections")
    parser.add_argument(
        "--hide-answers",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="whether a wrong number gets a hint alone (the default); else the second wrong try is told the step "
        "before, the third the sum",
    )
    parser.add_argument("--notebooks", default=MASTER, metavar="FOLDER", help="the book's notebooks, the master")


def run(options) -> int:
    _refuse_what_does_not_go_together(options)
    chosen = _chosen(options)
    for one in chosen if options.list else ():
        print(listed(one))
    folders = _folders(chosen, options) if options.out else {}
    write(folders, options.force)
    for folder, content in folders.items():
        if options.own_numbers:
            many = sum(name.startswith("instructor/") for name in content)
            print(f"{folder}: students and instructor, {many} notebooks each; submissions/assignment.json")
        else:
            print(f"{folder}: {', '.join(content)}")
    points, minutes = sum(one.points for one in chosen), sum(one.minutes for one in chosen)
    print(f"{len(chosen)} exercises, {points} points, about {minutes} minutes")
    return 0


def _refuse_what_does_not_go_together(options) -> None:
    own = [name for name in ("class_list", "student_column", "topics", "same_for_all") if getattr(options, name)]
    for wrong, says in (
        (not (options.list or options.out), "--out: expected a folder, or --list, got nothing to write"),
        (options.apart and options.exercises, "--apart: expected --chapters, got --exercises"),
        (options.exercises and options.chapters, "--exercises: expected these or --chapters, got both"),
        (own and not options.own_numbers, f"expected --own-numbers with {', '.join(own)}, got none"),
        (options.apart and options.own_numbers, "--apart: expected one assignment with --own-numbers, got many"),
        (options.out and options.own_numbers and not options.class_list, "--own-numbers: expected --class, got none"),
    ):
        if wrong:
            raise ValueError(says)


def _chosen(options) -> list:
    """The exercises that the options name; those whose numbers will be each student's own are only planned."""
    chapters = options.chapters
    if options.exercises:  # what is wrong elsewhere in the book does not matter then
        firsts = [number.split(".")[0] for number in options.exercises]
        chapters = [int(first) for first in firsts] if all(map(str.isdecimal, firsts)) else None
    exercises = read(options.notebooks, chapters)
    kinds = options.kinds and [kind.replace("-", " ") for kind in options.kinds]
    only_topics = options.topics and not (options.exercises or options.chapters or kinds or options.levels)
    chosen = [] if only_topics else select(exercises, options.exercises, options.chapters, kinds, options.levels)
    if not options.own_numbers:
        return chosen
    topics = list(own_numbers.TOPICS) if options.topics == ["all"] else options.topics
    return own_numbers.plan(chosen, topics, options.same_for_all)


def _folders(chosen: list, options) -> dict[Path, dict[str, str | bytes]]:
    """What is to be written: the files of each folder."""
    how = {"ready": first_cell.named(options.install), "book": options.book, "hide_answers": options.hide_answers}
    if options.own_numbers:
        key, topics = keys.read(options), own_numbers.topics_of(chosen)
        names = own_numbers.read_names(options.class_list, options.student_column)
        sheets = own_numbers.sheets(
            progress(names, unit="student"), lambda who: own_numbers.sheet(who, key, topics, options.title)
        )
        belongs = own_numbers.belongs(key, options.title, topics)
        return {options.out: own_files(chosen, options.title, sheets, belongs, **how)}
    if not options.apart:
        return {options.out: files(chosen, options.title, **how)}
    return {
        options.out / f"chapter-{n:02}": files(
            [one for one in chosen if one.chapter == n], f"{options.title}, chapter {n}", **how
        )
        for n in sorted({one.chapter for one in chosen})
    }
