"""Assignments from the book's exercises: a student's notebook and an instructor's.

Both notebooks have the same cells. They differ only in those that a student fills in, which in the
instructor's hold solution, common mistakes and worked answer between ``### BEGIN SOLUTION`` and
``### END SOLUTION``; a worked answer in words is followed by its rubric. So the instructor's is also a source
for nbgrader's ``generate_assignment``.

The locked cell of an exercise prints what the checker says, and its last line shows the points as a
number. nbgrader takes that number for the (partial) credit, an exception or a warning for none. Nothing raises, so a
blank notebook runs to its end.
"""

import argparse
import ast
import json
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from toytf._command import progress, write_whole
from toytf.check.answers import ByHand, Part
from toytf.course.chapters import BOOK
from toytf.course.exercises import KINDS, NOT_ANSWERED, Exercise, read, words_for_links
from toytf_classroom import first_cell, lms, own_numbers, to_otter
from toytf_classroom.grading import IMPORTS, OWN, answer_name, fingerprint
from toytf_classroom.own_numbers import Sheet
from toytf_classroom.plain_text import as_file
from toytf_classroom.rubrics import TYPICAL, Rubric
from toytf_classroom.rubrics import read as read_rubrics

MASTER = BOOK / "notebooks"
BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
MISTAKES = "Common mistakes, as the checker names them:"
# What holds in a chapter's notebook alone: there some names are taken, and an answer has no name yet.
IN_THE_CHAPTER = re.compile(r"\s*\(In the\s+chapter's notebook the name `\w+` is\s+taken[^)]*\)")
BY_HAND = re.compile(r'(check\.byhand\("[\d.]+", )answer(, part=("[^"]*"))?\)')
NO_PLACE = first_cell.named()
HIDES = "check.hide_answers()  # a wrong number gets a hint, not the answer"


# ---------------------------------------------------------------- which exercises


def select(
    exercises: Mapping[str, Exercise],
    numbers: Sequence[str] = (),
    chapters: Iterable[int] = (),
    kinds: Iterable[str] = (),
) -> list[Exercise]:
    """Choose exercises: those of these numbers ("9.1"), in their order, or all; of them those of chapters and kinds.

    `ValueError` if a number does not exist or stands twice, or nothing is left.
    """
    by_number = {one.number: one for one in exercises.values()}
    for i, number in enumerate(numbers):
        if number not in by_number or number in numbers[:i]:
            raise ValueError(f"exercises: expected numbers such as {next(iter(by_number))}, each once, got {number}")
    chosen = [by_number[number] for number in numbers or by_number]
    chosen = [one for one in chosen if not chapters or one.chapter in chapters]
    chosen = [one for one in chosen if not kinds or {*kinds} & {*one.kinds}]
    if not chosen:
        raise ValueError("exercises: expected a choice that some exercise meets, got one that none meets")
    return chosen


def listed(one: Exercise) -> str:
    """An exercise in a line: number, title, kinds, level, minutes, points, and who grades it."""
    by = "read by a person" if one.kind == "text" else "graded by the checker"
    kinds = " and ".join(one.kinds)
    return f"{one.number:5} {one.title} ({kinds}, level {one.level}, {one.minutes} min, {_points(one.points)}, {by})"


def _points(points: int) -> str:
    return f"{points} point{'s'[: points != 1]}"


# ---------------------------------------------------------------- the cells


def notebooks(
    chosen: Sequence, title: str, hide_answers: bool = True, ready: first_cell.Ready = NO_PLACE
) -> tuple[dict, dict]:
    """Make the two editions, the student's and the instructor's: notebooks as JSON, without outputs.

    `hide_answers` says whether the checks of by-hand answers stop at a hint, or go on to the sum with the third try;
    `ready` makes `toytf` ready, by default the cell that installs nothing.
    """
    rubrics = read_rubrics()
    needs = _locked("needs", ready.cell, "code")
    needs["metadata"] |= first_cell.FOLDED
    first = [_locked("title", _introduction(chosen, title)), needs, _locked("imports", _imports(hide_answers), "code")]
    student, instructor = list(first), list(first)
    for one in chosen:
        text = _locked(f"{one.label}-text", _text(one), toytf={"exercise": one.label, "role": "text"})
        blank, solved = _answers(one, rubrics.get(one.number))
        student += [text, blank, *_check(one)]
        instructor += [text, solved, *_check(one)]
    return _notebook(student), _notebook(instructor)


def manifest(chosen: Sequence, title: str, student: dict) -> dict:
    """What `toytf_classroom.grading` has to know; it holds no answers. `student` is a notebook that is handed out."""
    listed = []
    for one in chosen:
        name = one.check.name if one.check else None
        about = {"label": one.label, "number": one.number, "title": one.title, "kind": one.kind, "name": name}
        listed.append(about | {"points": one.points} | ({"topic": one.topic} if one.kind == OWN else {}))
    texts = [fingerprint("".join(cell["source"])) for cell in student["cells"]]
    return {"format": "toytf assignment", "version": 1, "title": title, "exercises": listed, "texts": texts}


def _imports(hide_answers: bool) -> str:
    return f"{IMPORTS}\n\n{HIDES}" if hide_answers else IMPORTS


def _introduction(chosen: Sequence, title: str) -> str:
    points, minutes = sum(one.points for one in chosen), sum(one.minutes for one in chosen)
    return (
        f"# {title}\n\n"
        f"{len(chosen)} exercise{'s'[: len(chosen) != 1]}, {_points(points)}, "
        f"about {minutes} minutes for somebody who has read the chapters.\n\n"
        "- Functions: replace the line that raises `NotImplementedError`. Keep the name and the arguments.\n"
        "- Numbers: write them in place of `None`, a row as `[1, 2]`, a table as `[[1, 2], [3, 4]]`.\n"
        f"- Words: write them in place of {NOT_ANSWERED}. Try things out in cells that you add.\n"
        "- What counts: functions and numbers under the names that stand here, and your words. When it is graded, the "
        "cells run from top to bottom, with Python, NumPy and matplotlib, and no other package.\n\n"
        "The cell below each function and each number tells how far you are, as often as you like, and shows "
        "the points. An exercise that refers to arrays of its chapter is best tried in that chapter's notebook."
    )


def _text(one: Exercise) -> str:
    text, mine = IN_THE_CHAPTER.sub("", portable(one.text, one)), answer_name(one)
    text = BY_HAND.sub(lambda said: f"{said[1]}{mine}{f'[{said[3]}]{said[2]}' if said[2] else ''})", text)
    about = f"{' and '.join(one.kinds)}, level {one.level}, about {one.minutes} minutes, {_points(one.points)}"
    return f"## {one.number} {portable(one.title, one)}\n\n*{about}*\n\n{text}"


def _answers(one: Exercise, rubric: Rubric | None) -> tuple[dict, dict]:
    """The cell to be filled in, blank and solved."""
    nbgrader = {"grade": False, "locked": False, "solution": True}
    if one.kind == "text":
        nbgrader |= {"grade": True, "points": one.points}
        solved = portable(one.solution, one)
        texts = NOT_ANSWERED, f"{solved}\n\n{_rubric(rubric)}" if rubric else solved
    elif one.kind == "function":
        texts = one.check.stub.rstrip("\n"), _solved_function(one)
    else:
        parts = one.by_hand.parts
        shapes = [np.shape(part.expected) if one.kind == OWN else () for part in parts]
        blank = assign_answer(one.by_hand, [np.full(shape, None).tolist() for shape in shapes])
        right = assign_answer(one.by_hand, [rounded(part) for part in parts])
        texts = blank, "\n".join([blank, BEGIN, right, *_comment(portable(one.solution, one)), END])
    kind, about = "markdown" if one.kind == "text" else "code", {"exercise": one.label, "role": "answer"}
    blank, solved = (_cell(f"{one.label}-answer", text, kind, nbgrader, about) for text in texts)
    return blank, solved


def _rubric(rubric: Rubric) -> str:
    """A rubric as Markdown: each scoring point with its letter, then the typical wrong answer."""
    lines = ["**Rubric**", ""]
    for letter, point in rubric.lettered:
        lines.append(f"- **{letter}** ({point.points:g}): {point.text}")
        if point.also:
            lines.append(f"  Also accepted: {point.also}")
    lines += [f"- **{TYPICAL}**, a typical wrong answer: {rubric.typical}", f"  Say: {rubric.say}"]
    return "\n".join(lines)


def _check(one: Exercise) -> list[dict]:
    """The locked cell that says how far a student is, and shows the points for nbgrader."""
    if one.kind == "text":
        return []
    about = {"exercise": one.label, "role": "check"}
    if one.kind == OWN:
        return [_locked(f"{one.label}-check", one.look, "code", about)]
    name, mine = (one.check.name, one.check.name) if one.check else (one.number, answer_name(one))
    says = f"check.{name}({mine})" if one.check else f'check.byhand("{name}", {mine})'
    source = f'{says}\ncheck.points("{name}", {mine}, of={one.points})'
    nbgrader = {"grade": True, "locked": True, "solution": False, "points": one.points}
    return [_cell(f"{one.label}-check", source, "code", nbgrader, about)]


def assign_answer(one: ByHand, values: Sequence) -> str:
    """The line, or lines, in which a student writes the values of a by-hand answer."""
    parts = one.parts
    if len(parts) == 1 and not parts[0].name:
        return f"{answer_name(one)} = {values[0]}"
    lines = [f"    {json.dumps(part.name, ensure_ascii=False)}: {v}," for part, v in zip(parts, values, strict=True)]
    return "\n".join([f"{answer_name(one)} = {{", *lines, "}"]).replace("], [", "],\n          [")


def rounded(part: Part):
    """An answer as a student would type it."""
    value = np.round(np.asarray(part.expected, dtype=float), part.decimals) + 0.0  # no -0.0
    whole = not part.decimals and (value == np.round(value)).all()
    return (value.astype(int) if whole else value).tolist()


def _solved_function(one: Exercise) -> str:
    source = one.check.source.rstrip("\n")
    lines = source.split("\n")
    head = ast.parse(source).body[0].body[0].end_lineno  # where the docstring ends
    notes = [f"# {MISTAKES}"]
    for mistake in one.check.mistakes:
        text = f"- {mistake.name}: {mistake.advice}"
        notes += [f"# {line}" for line in textwrap.wrap(text, 96, subsequent_indent="  ", break_on_hyphens=False)]
    # The worked answer shows the same source, which stands below anyway.
    worked = re.sub(rf"```python\n{re.escape(source)}\n```\n*", "", portable(one.solution, one)).strip()
    notes += _comment(worked) if worked else []
    return "\n".join([*lines[:head], *(f"    {line}" for line in [BEGIN, *notes]), *lines[head:], f"    {END}"])


def _comment(text: str) -> list[str]:
    return [f"# {line}".rstrip() for line in text.split("\n")]


def portable(text: str, one: Exercise) -> str:
    """Put words in place of the links of an exercise, which would lead nowhere outside of the book."""
    return words_for_links(text, one.section.split("#")[0])


def _locked(name: str, source: str, kind: str = "markdown", toytf: dict | None = None) -> dict:
    return _cell(name, source, kind, {"grade": False, "locked": True, "solution": False}, toytf)


def _cell(name: str, source: str, kind: str, nbgrader: dict, toytf: dict | None = None) -> dict:
    """One cell; `name` is its id, and nbgrader's name for it."""
    about = {**nbgrader, "grade_id": name, "schema_version": 3, "task": False, "cell_type": kind}
    metadata: dict = {"nbgrader": dict(sorted(about.items()))}
    if toytf:
        metadata["toytf"] = toytf
    code = {"execution_count": None, "outputs": []} if kind == "code" else {}
    return {"cell_type": kind, "id": name, "metadata": metadata, **code, "source": source.splitlines(keepends=True)}


def _notebook(cells: list[dict]) -> dict:
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


# ---------------------------------------------------------------- writing


def files(chosen: Sequence, title: str, ready: first_cell.Ready = NO_PLACE, **how) -> dict[str, str | bytes]:
    """The files of an assignment, by their paths in its folder: three, and what lies beside the notebooks.

    `how` is what else `notebooks` takes.
    """
    student, instructor = notebooks(chosen, title, ready=ready, **how)
    return {
        "student.ipynb": _json(student),
        "instructor.ipynb": _json(instructor),
        "submissions/assignment.json": _json(manifest(chosen, title, student)),
        **ready.beside,
    }


def otter_files(chosen: Sequence, title: str, ready: first_cell.Ready, hide_answers: bool = True) -> dict[str, str]:
    """The notebook for ``otter assign``, and what lies beside it."""
    exercises = []
    for one in chosen:
        blank, solved = ("".join(cell["source"]) for cell in _answers(one, read_rubrics().get(one.number)))
        if one.kind == "by hand":
            solved = solved.partition(f"{BEGIN}\n")[2].partition(f"\n{END}")[0]
        elif one.check:
            solved = one.check.source
        about = {"label": one.label, "points": one.points, "text": _text(one), "blank": blank, "solved": solved}
        exercises.append(about | {"tests": to_otter.tests_of(one)})
    notebook = to_otter.source(title, exercises, _imports(hide_answers), ready)
    return {"otter.ipynb": _json(notebook), **ready.beside}


def own_files(
    planned: Sequence, title: str, sheets: Sequence[Sheet], belongs: str, ready: first_cell.Ready = NO_PLACE, **how
) -> dict[str, str | bytes]:
    """The files of an assignment with numbers of one's own: two notebooks for each student, and assignment.json.

    `planned` comes from `toytf_classroom.own_numbers.plan`, `belongs` from its function of this name: by it the grader
    knows the key again. What lies beside the notebooks is there once.
    """
    found: dict[str, str | bytes] = {f"students/{name}": data for name, data in ready.beside.items()}
    for sheet in sheets:
        drawn = {one.topic: one for one in sheet.exercises}
        chosen = [replace(one, drawn=drawn[one.topic]) if one.kind == OWN else one for one in planned]
        both = notebooks(chosen, title, ready=ready, **how)
        for edition, notebook in zip(("students", "instructor"), both, strict=True):
            file = f"{edition}/{as_file(sheet.student)}.ipynb"
            found[file] = _json(own_numbers.edition(notebook, sheet, planned, _locked))
    about = manifest(planned, title, both[0]) | {"belongs": belongs}
    return found | {"submissions/assignment.json": _json(about)}


def _json(content: dict) -> str:
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def write(folder: Path, files: Mapping[str, str | bytes], force: bool = False) -> None:
    """Write files of a folder; others that are there (the submissions, say) stay as they are.

    `ValueError` if one of the files is there already and `force` is not set; then nothing is written.
    """
    if not force and (there := [folder / name for name in files if (folder / name).exists()]):
        raise ValueError(f"{there[0]}: expected a new file, got one that is there; --force replaces it")
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_whole(folder / name, content if isinstance(content, bytes) else content.encode())


# ---------------------------------------------------------------- the command


EXAMPLES = (
    'toytf-classroom assign --exercises 9.1 9.7 8.8 --title "Week 6" --out week6',
    "toytf-classroom assign --list --chapters 9 --kinds code",
    'toytf-classroom assign --exercises 9.1 9.7 --title "Week 6" --out week6 --install toytf-0.1.0-py3-none-any.whl',
    "toytf-classroom assign --exercises 9.1 9.7 --own-numbers --class class.csv --key-file key.txt --out week5",
)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Make an assignment from exercises of the book: a student's notebook and an instructor's. "
        "Without a choice it has every exercise."
    )
    choice = parser.add_argument_group("which exercises")
    choice.add_argument("--exercises", nargs="+", default=[], metavar="N.N", help="these, in this order: 9.1 9.7 8.8")
    choice.add_argument("--chapters", nargs="+", default=[], type=int, metavar="N", help="those of these chapters")
    kinds = [kind.replace(" ", "-") for kind in KINDS]
    choice.add_argument("--kinds", nargs="+", default=[], choices=kinds, help="of these, only those of such a kind")
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
        "--topics", nargs="+", choices=own_numbers.TOPICS, default=[], help="these topics too, each as an exercise"
    )
    mine.add_argument(
        "--same-for-all", action="store_true", help="by-hand exercises without a topic stay as they are in the book"
    )
    own_numbers.key_argument(mine)
    parser.add_argument("--title", default="Exercises", help="default: %(default)s")
    parser.add_argument(
        "--install",
        metavar="WHERE",
        help="where students get toytf: a wheel (it is copied beside the notebook), an address, or toytf==VERSION from "
        "the package index; without it, the notebook's first cell says what to do and installs nothing",
    )
    parser.add_argument(
        "--otter", action="store_true", help="also otter.ipynb, from which Otter-Grader's otter assign makes the rest"
    )
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="for the notebooks and submissions/assignment.json")
    parser.add_argument("--force", action="store_true", help="replace files that are there (submissions stay)")
    parser.add_argument(
        "--hide-answers",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="whether a wrong number gets a hint alone (the default); else the second wrong try is told the step "
        "before, the third the sum",
    )


def run(options) -> int:
    _refuse_what_does_not_go_together(options)
    chosen = _chosen(options)
    for one in chosen if options.list else ():
        print(listed(one))
    if options.out:
        content = _files(chosen, options)
        write(options.out, content, options.force)
        many = sum(name.startswith("instructor/") for name in content)
        told = f"students and instructor, {many} notebooks each; submissions/assignment.json"
        print(f"{options.out}: {told if options.own_numbers else ', '.join(content)}")
    points, minutes = sum(one.points for one in chosen), sum(one.minutes for one in chosen)
    print(f"{len(chosen)} exercise{'s'[: len(chosen) != 1]}, {_points(points)}, about {minutes} minutes")
    return 0


def _refuse_what_does_not_go_together(options) -> None:
    own = [name for name in ("class_list", "student_column", "topics", "same_for_all") if getattr(options, name)]
    for wrong, says in (
        (not (options.list or options.out), "--out: expected a folder, or --list, got nothing to write"),
        (options.exercises and options.chapters, "--exercises: expected these or --chapters, got both"),
        (own and not options.own_numbers, f"expected --own-numbers with {', '.join(own)}, got none"),
        (options.otter and options.own_numbers, "--otter: expected it without --own-numbers, got both"),
        (options.out and options.own_numbers and not options.class_list, "--own-numbers: expected --class, got none"),
    ):
        if wrong:
            raise ValueError(says)


def _chosen(options) -> list:
    """The exercises that the options name; those whose numbers will be each student's own are only planned."""
    kinds = [kind.replace("-", " ") for kind in options.kinds]
    only_topics = options.topics and not (options.exercises or options.chapters or kinds)
    chosen = (
        []
        if only_topics
        else select(read(MASTER, options.chapters or None), options.exercises, options.chapters, kinds)
    )
    if not options.own_numbers:
        return chosen
    return own_numbers.plan(chosen, options.topics, options.same_for_all)


def _files(chosen: list, options) -> dict[str, str | bytes]:
    how = {"ready": first_cell.named(options.install), "hide_answers": options.hide_answers}
    if not options.own_numbers:
        more = otter_files(chosen, options.title, **how) if options.otter else {}
        return files(chosen, options.title, **how) | more
    key, topics = own_numbers.read_key(options), own_numbers.topics_of(chosen)
    people = progress(lms.read_class(options.class_list, options.student_column), unit="student")
    sheets = own_numbers.sheets(
        (one.student for one in people), lambda who: own_numbers.sheet(who, key, topics, options.title)
    )
    return own_files(chosen, options.title, sheets, own_numbers.belongs(key, options.title, topics), **how)
