"""By-hand exercises with numbers of one's own: a neighbour's answers are of no use.

A topic of `TOPICS` takes the place of each by-hand exercise (`Topic.instead_of`). Its numbers follow from the
teacher's key, the title and the student's name: the seed is an HMAC-SHA256 under the key. So nothing has to be kept
but the key. Neither the notebooks nor the assignment hold an answer, and ``toytf-classroom grade --key-file`` makes
the answers again. Whoever has *seen* a sheet can try out keys against it: so take a long one that no person thought up.

A student is who handed in. What the notebook says of its student, or of the numbers that are given, is read
for a remark to the teacher, and decides nothing.
"""

import argparse
import hashlib
import hmac
import json
import string
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from toytf.check.answers import ByHand, Part
from toytf.course.exercises import Exercise
from toytf_classroom import ClassroomError
from toytf_classroom.grading import OWN, Assignment, Numbers, answer_name
from toytf_classroom.plain_text import as_file, composed, person
from toytf_classroom.topics import TOPICS, Drawn, Given, fixed_width, is_word, sums

VERSION = 1  # of the recipes: a change that gives other numbers is another version
SHORT = 16  # characters of a key that can be guessed by trying


# ---------------------------------------------------------------- one student's numbers


@dataclass(frozen=True)
class Sheet:
    """A student's exercises."""

    student: str  # as it is printed, like the title
    title: str
    number: str  # nine digits that follow from the key and all that is printed: by it an answer sheet is known
    exercises: tuple[Drawn, ...]

    @property
    def minutes(self) -> int:
        return sum(TOPICS[exercise.topic].minutes for exercise in self.exercises)


def sheet(student: str, key: str, topics: Sequence[str], title: str) -> Sheet:
    """Make a student's numbers; the same arguments give the same, on any machine.

    In an id blanks around it do not count, nor how its accents are encoded, nor what Moodle adds to a folder's name.
    The key is the teacher's secret: long, and thought up by no person. An exercise does not depend on the other topics.
    Under another title the same student gets other numbers. `ValueError` if a topic is unknown or twice there.

    >>> made = sheet("anna", "a secret of the teacher", ["product"], "Week 6")
    >>> made.exercises[0].asked[0].shape
    (2, 2)
    """
    student, title, topics = person(student), composed(title), _known(topics)
    file = as_file(student)  # by which the grader will know the student
    seed = int.from_bytes(_hmac(key, "numbers", title, file), "big")
    exercises = tuple(
        TOPICS[topic].exercise(topic, np.random.default_rng([seed, int.from_bytes(topic.encode(), "big")]))
        for topic in topics
    )
    printed = [exercise.topic + exercise.fingerprint for exercise in exercises]
    digits = f"{int.from_bytes(_hmac(key, 'sheet', title, file, *printed), 'big') % 10**9:09d}"
    return Sheet(student, title, f"{digits[:3]}-{digits[3:6]}-{digits[6:]}", exercises)


def sheets(students: Iterable[str], make: Callable[[str], Sheet]) -> list[Sheet]:
    """A sheet for each student; `ValueError` if two have the same numbers, which nothing forbids."""
    made, seen = [make(student) for student in students], {}
    for one in made:
        other = seen.setdefault(tuple(exercise.fingerprint for exercise in one.exercises), one.student)
        if other != one.student:
            raise ValueError(f"{other!r} and {one.student!r} would get the same numbers: give another title")
    return made


def belongs(key: str, title: str, topics: Sequence[str]) -> str:
    """Sixteen signs by which a key, a title and topics are known again; they tell nothing of a good key."""
    return _hmac(key, "assignment", composed(title), *_known(topics)).hex()[:16]


def _known(topics: Sequence[str]) -> tuple[str, ...]:
    if not topics or len(set(topics)) < len(topics) or set(topics) - set(TOPICS):
        raise ValueError(f"topics: expected some of {', '.join(TOPICS)}, each once; got {', '.join(topics) or 'none'}")
    return tuple(topics)


def _hmac(key: str, purpose: str, *parts: str) -> bytes:
    """HMAC-SHA256 of what names a sheet. JSON keeps the parts apart: "ab" + "c" is not "a" + "bc"."""
    secret = unicodedata.normalize("NFC", key).strip().encode()
    message = json.dumps(["toytf worksheet", VERSION, purpose, *parts])
    return hmac.new(secret, message.encode(), hashlib.sha256).digest()


# ---------------------------------------------------------------- exercises of an assignment


@dataclass(frozen=True)
class OwnExercise:
    """An exercise of an assignment whose numbers are each student's own, with or without those of one student.

    `toytf_classroom.assign` takes it where it takes an exercise of the book.
    """

    label: str  # "ex-09-1"; of a topic that stands for no exercise "own-product"
    number: str  # "9.1" or "product"
    topic: str  # a name in `TOPICS`
    level: int  # 1, 2 or 3, which is also the points
    drawn: Drawn | None = None
    kind, kinds, section, check = OWN, (OWN,), "", None

    title = property(lambda self: TOPICS[self.topic].title)
    minutes = property(lambda self: TOPICS[self.topic].minutes)
    points = property(lambda self: self.level)
    text = property(lambda self: markdown(self.drawn))

    @property
    def by_hand(self) -> ByHand:
        """The answers in the form in which answers are checked."""
        parts = tuple(Part(asked.expected, asked.terms, asked.decimals, asked.name) for asked in self.drawn.asked)
        return ByHand(self.number, parts)

    @property
    def solution(self) -> str:
        """The arithmetic, a line for each entry."""
        lines = []
        for asked in self.drawn.asked:
            lines.append(f"{asked.name}{f': {asked.note}' if asked.note else ''}")
            for entry in asked.work().entries:
                where = f"{entry.where}: " if entry.where else ""
                lines.append(f"  {where}{sums(entry)}")
        return "\n".join(lines)

    @property
    def look(self) -> str:
        """The line that says what is missing."""
        shapes = json.dumps({asked.name: list(asked.shape) for asked in self.drawn.asked})
        return f'look("{self.number}", {answer_name(self)}, {shapes})'


def plan(chosen: Sequence[Exercise], topics: Sequence[str] = (), same_for_all: bool = False) -> list:
    """Put an `OwnExercise` in the place of each by-hand exercise, and one for each further topic behind all.

    With `same_for_all` by-hand exercises without a topic may stay as they are, the same for everybody. `ValueError` if
    some have none and are not allowed to stay, if a topic would come twice, or if none comes.
    """
    instead = {number: name for name in TOPICS for number in TOPICS[name].instead_of}
    having = f"--own-numbers: expected by-hand exercises that have a topic ({', '.join(instead)})"
    without = [one.number for one in chosen if one.kind == "by hand" and one.number not in instead]
    if without and not same_for_all:
        raise ValueError(
            f"{having}, got {', '.join(without)}. Leave them out, or say --same-for-all to keep their numbers the same "
            "for everybody"
        )
    planned = [
        OwnExercise(one.label, one.number, instead[one.number], one.level)
        if one.kind == "by hand" and one.number in instead
        else one
        for one in chosen
    ]
    planned += [OwnExercise(f"own-{name}", name, name, min(3, 1 + TOPICS[name].minutes // 10)) for name in topics]
    used = topics_of(planned)
    if not used or len(set(used)) < len(used):
        raise ValueError(f"{having} or --topics, and each topic once, got {', '.join(used) or 'none'}")
    return planned


def topics_of(planned: Iterable) -> list[str]:
    """The topics of an assignment, in its order; of a plan, or as the grader reads it."""
    return [one.topic for one in planned if one.kind == OWN]


# ---------------------------------------------------------------- a notebook for one student


def edition(notebook: dict, sheet: Sheet, planned: Sequence, locked: Callable[..., dict]) -> dict:
    """A notebook of `toytf_classroom.assign`, made a student's own: whose it is, and the cell with `look`."""
    listed = ", ".join(one.number for one in planned if one.kind == OWN)
    title, *cells = notebook["cells"]
    # As Markdown shows it letter by letter: every sign that could mean something is an entity.
    student = "".join(f"&#{ord(c)};" if c in string.punctuation else c for c in sheet.student)
    said = (
        f"\n\nStudent {student}, sheet {sheet.number}. The numbers in {listed} are yours alone. "
        "Work with a pencil, and type the answers in place of `None`. The cell below them says what is still missing. "
        "It does not say what is right: this notebook holds no answers."
    )
    title = title | {"source": ("".join(title["source"]) + said).splitlines(keepends=True)}
    at = next(i for i, cell in enumerate(cells) if cell["metadata"].get("toytf", {}).get("role") == "text")
    look = locked("look", LOOK, "code")
    look["metadata"]["jupyter"] = {"source_hidden": True}
    metadata = notebook["metadata"] | {"toytf": {"sheet": sheet.number}}
    return notebook | {"cells": [title, *cells[:at], look, *cells[at:]], "metadata": metadata}


# To check without the key, a notebook would have to hold the answers, their hashes (a few thousand guesses undo
# those: the answers are small whole numbers), or code that computes them.
LOOK = """\
# Says what is still missing, and what cannot be read. What is right it cannot say: this notebook
# holds no answers.
def look(number, answer, shapes):
    if not isinstance(answer, dict):
        return print(f"{number}: expected a dictionary with {', '.join(shapes)}; got {answer!r}")
    for name, shape in shapes.items():
        mine = answer.get(name)
        wanted = " rows of ".join(map(str, shape)) + " numbers" if shape else "one number"
        try:
            found = np.array(mine, dtype=float)
            empty = int(np.isnan(found).sum())
            if mine is None:
                said = f"not answered yet, {wanted}"
            elif list(found.shape) != shape:
                said = f"expected {wanted}, got {mine!r:.60}"
            else:
                said = f"{empty} of {found.size} numbers still missing" if empty else "filled in"
        except (TypeError, ValueError):
            said = f"could not read {mine!r:.60}: write {wanted}, with a point before decimals, such as 0.25"
        print(f"{number}, {name}: {said}")"""


def markdown(exercise: Drawn) -> str:
    """What an exercise gives and asks, as a notebook shows it, without a heading."""
    asked = ", ".join(
        (f"`{a.name}`" if a.symbol == a.name else f"`{a.name}`, ${a.symbol}$") + f" ({a.how})" for a in exercise.asked
    )
    parts = [*exercise.text, *map(_table, exercise.given)]
    parts.append(f"Asked: {asked}. The book explains it in chapter {TOPICS[exercise.topic].chapter}.")
    return "\n\n".join(parts)


def _table(given: Given) -> str:
    def label(word: str) -> str:
        if word.startswith("\\"):
            return f"${word}$"
        return word if not word or word.isdigit() else f"`{word}`"

    cells = [[f"${c}$" if given.words else c.replace("-", "−") for c in row] for row in given.cells()]
    name = given.name if is_word(given.name) else f"${given.name}$"
    head = f"| {name} | " + " | ".join(label(c) for c in given.cols) + " |"
    line = "|---|" + "---:|" * len(given.cols)
    body = [f"| {label(name)} | " + " | ".join(row) + " |" for name, row in zip(given.rows, cells, strict=True)]
    return "\n".join([head, line, *body])


# ---------------------------------------------------------------- whose


class RightAnswers:
    """Knows by the key what is right for whom; `ClassroomError` if the assignment was made with another key."""

    def __init__(self, assignment: Assignment, key: str):
        self.own = [one for one in assignment.exercises if one.kind == OWN]
        self.key, self.title, self.topics = key, assignment.title, topics_of(self.own)
        if belongs(key, self.title, self.topics) != assignment.belongs:
            raise ClassroomError(
                "the key: expected the one with which this assignment was made, got another one (or assignment.json "
                "was changed, or a version of toytf that draws other numbers wrote it)"
            )

    def __call__(self, student: str) -> Numbers:
        """What is right for a student."""
        made = sheet(student, self.key, self.topics, self.title)
        mine = [OwnExercise(e.label, e.number, e.topic, 1, d) for e, d in zip(self.own, made.exercises, strict=True)]
        right: Mapping[str, ByHand] = {one.label: one.by_hand for one in mine}
        given = {one.label: tuple(map(fixed_width, one.drawn.given)) for one in mine}
        only_with = {one.label: {a.name: a.only_with for a in one.drawn.asked} for one in mine}
        answers = [[a.values.tolist() for a in exercise.asked] for exercise in made.exercises]
        # Under the key: whoever sees a receipt could else try out small numbers.
        sealed = _hmac(self.key, "sealed", json.dumps([answers, given, only_with], sort_keys=True)).hex()
        return Numbers(made.number, sealed, right, given, only_with)

    def whose(self, number: str, students: Iterable[str]) -> str | None:
        """The student of a class to whom a sheet belongs."""
        return next((student for student in students if self(student).sheet == number), None)


# ---------------------------------------------------------------- the teacher's key


def key_argument(parser: argparse._ActionsContainer, needed: str = "") -> None:
    """Add ``--key-file``; `needed` says when."""
    parser.add_argument("--key-file", metavar="FILE", type=Path, help=f"a file that holds the teacher's key{needed}")


def read_key(options: argparse.Namespace) -> str:
    """The key of ``--key-file``; `ValueError` if there is none, or one that can be guessed by trying."""
    try:
        key = options.key_file.read_text(encoding="utf-8-sig").strip() if options.key_file else ""
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"--key-file: expected a file that holds the key in UTF-8, got {error}") from None
    if len(key) < SHORT:
        made = 'python -c "import secrets; print(secrets.token_hex(32))" > key.txt'
        raise ValueError(f"--key-file: expected a key of {SHORT} characters or more, got {len(key)}; {made} makes one")
    return key
