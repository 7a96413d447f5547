"""Numbers of one's own: by-hand exercises of an assignment whose numbers differ from student to student.

    toytf assign --exercises 9.1 8.8 9.7 --own-numbers --class class.csv --key-file key.txt --title "Week 6" --out week6

A topic of the worksheets takes the place of each by-hand exercise (`Topic.instead_of`). Its numbers follow
from the teacher's key, the title and the student's name, so that nothing has to be kept but the key: neither
the notebooks nor the assignment hold an answer, and ``toytf grade --key-file`` makes the answers again.

A student is who handed in. What the notebook says of its student, or of the numbers that are given, is read
for a remark to the teacher, and decides nothing.

An answer that can be one of a few only (a root of `d_k`, the causal mask) is often the neighbour's too. It
counts when the answers that it belongs to (`Asked.only_with`) are right as well.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from toytf._command import Trouble
from toytf.check.pencil import ByHand
from toytf.teach import worksheet
from toytf.teach.exercises import Exercise
from toytf.teach.grade.grading import OWN, Assignment, Numbers
from toytf.teach.names import folder_name, person
from toytf.teach.tables import read_class
from toytf.teach.worksheet import TOPICS, Sheet, pages, sheets
from toytf.teach.worksheet.exercises import chain

LABEL = "own-{}"  # of a topic that stands for no exercise
MARKED = tuple(name for name, topic in TOPICS.items() if not topic.few_answers)


# ---------------------------------------------------------------- which exercises


@dataclass(frozen=True)
class Planned:
    """An exercise of an assignment whose numbers will be each student's own.

    Parameters
    ----------
    label, number : str
        "ex-09-1" and "9.1"; of a topic that stands for no exercise "own-product" and "product".
    topic : str
        A name in `TOPICS`.
    level : int
        1, 2 or 3, which is also the points.
    """

    label: str
    number: str
    topic: str
    level: int
    kind = OWN
    kinds = (OWN,)

    @property
    def title(self) -> str:
        return TOPICS[self.topic].title

    @property
    def chapter(self) -> int:
        return TOPICS[self.topic].chapter

    @property
    def minutes(self) -> int:
        return TOPICS[self.topic].minutes

    @property
    def points(self) -> int:
        return self.level


def plan(chosen: Sequence[Exercise], topics: Sequence[str] = (), same_for_all: bool = False) -> list:
    """Put a `Planned` in the place of each by-hand exercise, and one for each further topic behind all.

    Parameters
    ----------
    chosen : sequence of Exercise
    topics : sequence of str
        Topics that come as exercises of their own.
    same_for_all : bool
        Whether by-hand exercises without a topic may stay as they are, with the same numbers for everybody.

    Raises
    ------
    ValueError
        If some have no topic and are not allowed to stay, if a topic would come twice, or if none comes.
    """
    instead = {number: name for name in MARKED for number in TOPICS[name].instead_of}
    without = [one.number for one in chosen if one.kind == "by hand" and one.number not in instead]
    if without and not same_for_all:
        raise ValueError(
            f"--own-numbers: expected by-hand exercises that have a topic ({', '.join(instead)}), got "
            f"{', '.join(without)}. Leave them out, or say --same-for-all to keep their numbers the same for everybody"
        )
    for topic in topics:
        if topic not in MARKED:
            few = ", which has too few different answers to be anybody's own" if topic in TOPICS else ""
            raise ValueError(f"--topics: expected some of {', '.join(MARKED)}; got {topic!r}{few}")
    planned = [
        Planned(one.label, one.number, instead[one.number], one.level)
        if one.kind == "by hand" and one.number in instead
        else one
        for one in chosen
    ]
    planned += [Planned(LABEL.format(topic), topic, topic, min(3, 1 + TOPICS[topic].minutes // 10)) for topic in topics]
    by_topic: dict[str, str] = {}
    for one in planned:
        if isinstance(one, Planned) and by_topic.setdefault(one.topic, one.number) != one.number:
            raise ValueError(
                f"--own-numbers: expected each topic once, got {by_topic[one.topic]} and {one.number}, which are both "
                f"{one.topic}"
            )
    if len({one.number for one in planned}) < len(planned):
        raise ValueError(f"--topics: expected each topic once, got {' '.join(topics)}")
    if not by_topic:
        raise ValueError(
            f"--own-numbers: expected a by-hand exercise that has a topic ({', '.join(instead)}) or --topics, got none"
        )
    return planned


def topics_of(planned: Iterable) -> list[str]:
    """The topics of an assignment, in its order; of a plan, of a student's exercises, or as the grader reads it."""
    return [one.topic for one in planned if one.kind == OWN]


# ---------------------------------------------------------------- for one student


@dataclass(frozen=True)
class Own(Exercise):
    """An exercise with one student's numbers, as `toytf.teach.assign` writes exercises into notebooks."""

    said: str = ""  # its number
    topic: str = ""
    blank: str = ""  # the lines to fill in
    look: str = ""  # the line that says what is missing

    @property
    def number(self) -> str:
        return self.said

    @property
    def chapter(self) -> int:
        return TOPICS[self.topic].chapter

    @property
    def kind(self) -> str:
        return OWN


def for_student(planned: Sequence, sheet: Sheet) -> list[Exercise]:
    """The exercises of an assignment, with the numbers of a student's sheet in those that are planned."""
    drawn = {exercise.topic: exercise for exercise in sheet.exercises}
    return [_own(one, drawn[one.topic]) if isinstance(one, Planned) else one for one in planned]


def _own(one: Planned, drawn: worksheet.Exercise) -> Own:
    variable = f"answer_{re.sub(r'[.-]', '_', one.number)}"
    return Own(
        label=one.label,
        title=one.title,
        kinds=one.kinds,
        level=one.level,
        minutes=one.minutes,
        section="",
        text=pages.markdown(drawn),
        solution="\n".join(_worked(drawn)),
        by_hand=sheets.by_hand(drawn, one.number),
        said=one.number,
        topic=one.topic,
        blank=pages.blanks(drawn, variable),
        look=f'look("{one.number}", {variable}, {pages.shapes(drawn)})',
    )


def _worked(drawn: worksheet.Exercise) -> list[str]:
    """The arithmetic, a line for each entry."""
    lines = []
    for asked in drawn.asked:
        working = asked.working()
        lines.append(f"{asked.name}{f': {asked.note}' if asked.note else ''}")
        if not working.entries:
            lines += [f"  {' '.join(row)}" for row in asked.cells()]
        for entry in working.entries:
            where = f"{entry.where}: " if entry.where else ""
            lines.append(f"  {where}{' '.join(chain(entry, 'text'))}")
    return lines


def edition(notebook: dict, sheet: Sheet, planned: Sequence) -> dict:
    """A notebook of `toytf.teach.assign.notebooks`, made a student's own: whose it is, and the cell with `look`."""
    numbers = [one.number for one in planned if isinstance(one, Planned)]
    title, *cells = notebook["cells"]
    listed = f"{', '.join(numbers[:-1])} and {numbers[-1]}" if len(numbers) > 1 else numbers[0]
    said = (
        f"\n\nStudent {pages.as_it_is(sheet.student)}, sheet {sheet.number}. The numbers in {listed} are yours alone. "
        "Work with a pencil, and type the answers in place of `None`. The cell below them says what is still missing. "
        "It does not say what is right: this notebook holds no answers."
    )
    title = title | {"source": ("".join(title["source"]) + said).splitlines(keepends=True)}
    at = next(i for i, cell in enumerate(cells) if cell["metadata"].get("toytf", {}).get("role") == "text")
    look = {"cell_type": "code", "id": "look", "metadata": {}, "execution_count": None, "outputs": []}
    look["metadata"] = {"jupyter": {"source_hidden": True}, "nbgrader": _locked("look")}
    look["source"] = pages.LOOK.splitlines(keepends=True)
    metadata = notebook["metadata"] | {"toytf": {"sheet": sheet.number}}
    return notebook | {"cells": [title, *cells[:at], look, *cells[at:]], "metadata": metadata}


def _locked(name: str) -> dict:
    return {
        "cell_type": "code", "grade": False, "grade_id": name, "locked": True, "schema_version": 3, "solution": False,
        "task": False,
    }  # fmt: skip


# ---------------------------------------------------------------- whose


def read_names(path: Path | str, column: str | None = None) -> list[str]:
    """A class whose names can be those of files, since the grader knows students by their files.

    `column` holds the names, if it is another one than the list's form says.

    Raises
    ------
    Trouble
        Naming the line.
    """

    def clean(student: str) -> str:
        student = worksheet.clean_student(student)
        if not folder_name(person(student), ""):
            raise ValueError(f"student: expected a name that a file can have, got {student!r}")
        return student

    students = read_class(path, clean, column)
    seen: dict[str, str] = {}
    for student in students:
        other = seen.setdefault(person(student).casefold(), student)
        if other != student:
            raise Trouble(
                f"{path}: expected names that differ in more than capital letters and what Moodle adds, got "
                f"{other!r} and {student!r}"
            )
    return students


def sheet_of(student: str, key: str, title: str, topics: Sequence[str]) -> Sheet:
    """A student's numbers; the student may be named as the folder that Moodle makes."""
    return worksheet.sheet(person(student), key, topics, title)


class Answers:
    """Knows by the key what is right for whom.

    Parameters
    ----------
    assignment : Assignment
    key : str

    Raises
    ------
    Trouble
        If the assignment was made with another key.
    """

    def __init__(self, assignment: Assignment, key: str):
        self.own = [one for one in assignment.exercises if one.kind == OWN]
        self.key, self.title, self.topics = key, assignment.title, [one.topic for one in self.own]
        for one in self.own:
            if one.topic not in TOPICS:
                raise Trouble(f"assignment: {one.number}: expected a topic of this version of toytf, got {one.topic!r}")
        if belongs(key, self.title, self.topics) != assignment.belongs:
            raise Trouble(
                "the key: expected the one with which this assignment was made, got another one (or assignment.json "
                "was changed, or a version of toytf that draws other numbers wrote it)"
            )

    def __call__(self, student: str) -> Numbers:
        """What is right for a student; for a name that no sheet can have, nothing is."""
        try:
            sheet = sheet_of(student, self.key, self.title, self.topics)
        except ValueError as error:
            return Numbers("", hashlib.sha256(str(error).encode()).hexdigest(), {}, {}, {}, str(error))
        drawn = {one.label: exercise for one, exercise in zip(self.own, sheet.exercises, strict=True)}
        right: dict[str, ByHand] = {one.label: sheets.by_hand(drawn[one.label], one.number) for one in self.own}
        given = {label: tuple(pages.tables(exercise)) for label, exercise in drawn.items()}
        only_with = {label: {a.name: a.only_with for a in exercise.asked} for label, exercise in drawn.items()}
        everything = json.dumps([sheet.answers(), given, only_with], sort_keys=True)
        # Under the key: whoever sees a receipt could else try out small numbers.
        return Numbers(sheet.number, sheets.sealed(self.key, everything), right, given, only_with)

    def whose(self, number: str, students: Iterable[str]) -> str | None:
        """The student of a class to whom a sheet belongs."""
        for student in students:
            if self(student).sheet == number:
                return student
        return None


def belongs(key: str, title: str, topics: Sequence[str]) -> str:
    """By what `Answers` knows the key of an assignment again."""
    return sheets.belongs(key, title, topics)


def entry(one: Own) -> Mapping:
    """What the assignment says of an exercise besides label, number, title, kind and points."""
    return {"topic": one.topic, "parts": [part.name for part in one.by_hand.parts]}
