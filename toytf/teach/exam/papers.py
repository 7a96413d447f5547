"""Two comparable exams from one key: the same topics, minutes and points, with other numbers and questions.

>>> from toytf.teach import exam
>>> a, b = exam.papers("a secret of the teacher")
>>> [task.points for task in a.tasks] == [task.points for task in b.tasks]
True
>>> a.points, a.minutes
(90, 90)
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from toytf import check
from toytf.teach.exam.questions import TEXT, Question, pairs
from toytf.teach.worksheet import Asked, Exercise, sheet

SETS = ("A", "B")
TITLE = "The Transformer, number by number"
SAMPLE_KEY = "toytf sample exam"  # published here, so its exams are for trying out

# By hand: the chapters that are best asked with a pencil, and the points of each answer, a point a minute.
BY_HAND = {
    "embedding": {"ids": 1, "E": 4},
    "positions": {"X": 4},
    "scores": {"S": 7},
    "feed-forward": {"before": 5, "after": 2, "F": 5},
    "layer-norm": {"mean": 2, "variance": 3, "std": 1, "Y": 4},
    "causal-mask": {"M": 3, "A": 6},
    "greedy": {"ids": 3, "P": 2},
}

# Mistakes that change one line, and that a reader of the docstring can find. Both sets get the same function.
FAULTS = {
    "layer_norm": ("divided by the variance", "the sum of the squares", "beta inside the brackets"),
    "attend": ("keys mixed in place of values", "the root of the number of keys", "the sum taken over the queries"),
    "cross_attention": (
        "keys from the memory, values from the decoder",
        "keys from the decoder, values from the memory",
        "the root of the values' width",
    ),
    "masked_softmax": (
        "0 in place of minus infinity",
        "the mask with the opposite sense",
        "the mask added to the scores as 1 and 0",
    ),
    "add_and_norm": ("the residual forgotten", "a double residual", "the residual after the norm too"),
}
FAULT_MARKS = (
    (2, "The line is named."),
    (3, "What it computes in place of the right thing (2), and an input on which that shows (1)."),
    (3, "The line as it should be; another line that computes the same counts as much."),
)


@dataclass(frozen=True)
class Numbers:
    """A task by hand: an exercise of the worksheets, and the points of its answers."""

    exercise: Exercise
    marks: dict[str, int]

    @property
    def title(self) -> str:
        return self.exercise.title

    @property
    def chapter(self) -> int:
        return self.exercise.chapter

    @property
    def points(self) -> int:
        return sum(self.marks.values())

    def answers(self) -> list[tuple[Asked, int]]:
        """What is asked, with its points."""
        return [(asked, self.marks[asked.name]) for asked in self.exercise.asked]


@dataclass(frozen=True)
class Fault:
    """A function in which one line is wrong.

    Parameters
    ----------
    name, mistake : str
        As `toytf.check` calls them.
    chapter : int
    wrong, right : str
        The source with the mistake, and without it.
    line : int
        Which line differs, counted from 1.
    advice : str
    seen : str
        The smallest input of the checker on which it shows, with both results.
    """

    name: str
    mistake: str
    chapter: int
    wrong: str
    right: str
    line: int
    advice: str
    seen: str
    title: str = "One line is wrong"
    marks: tuple[tuple[int, str], ...] = FAULT_MARKS

    @property
    def points(self) -> int:
        return sum(points for points, _ in self.marks)

    @property
    def right_line(self) -> str:
        return self.right.splitlines()[self.line - 1].strip()


Task = Numbers | Question | Fault


@dataclass(frozen=True)
class Paper:
    """One exam.

    Parameters
    ----------
    letter : str
        Of `SETS`.
    title : str
    number : str
        Nine digits that stand on the exam and on its answer sheet.
    tasks : tuple
    """

    letter: str
    title: str
    number: str
    tasks: tuple[Task, ...]

    @property
    def points(self) -> int:
        return sum(task.points for task in self.tasks)

    @property
    def minutes(self) -> int:
        """A point a minute."""
        return self.points


def papers(key: str, title: str = TITLE, questions: Path | str = TEXT) -> tuple[Paper, Paper]:
    """Make the exams A and B; the same arguments give the same exams, on any machine.

    Parameters
    ----------
    key : str
        The teacher's secret. Numbers, the function with a mistake, and which question stands in which set follow
        from it.
    title : str
        Under another title the same key gives other exams.
    questions : path
        A file of the form of ``questions.md``.

    Raises
    ------
    ValueError
        If key or title is empty, or the questions are not of this form.
    """
    sheets = [sheet(f"Exam {letter}", key, list(BY_HAND), title) for letter in SETS]
    rng = _rng(key, title)
    by_hand = [[Numbers(e, BY_HAND[e.topic]) for e in made.exercises] for made in sheets]
    words = [_turned(rng, pair) for pair in pairs(questions)]
    faults = _faults(rng)
    made = []
    for i, letter in enumerate(SETS):
        first: list[Task] = [*by_hand[i], *(pair[i] for pair in words)]
        tasks = (*sorted(first, key=lambda task: task.chapter), faults[i])
        printed = [letter, *map(_printed, tasks)]
        digits = f"{int.from_bytes(_hmac(key, 'exam', title, *printed), 'big') % 10**9:09d}"
        made.append(Paper(letter, sheets[i].title, f"{digits[:3]}-{digits[3:6]}-{digits[6:]}", _numbered(tasks)))
    return made[0], made[1]


def _numbered(tasks: Sequence[Task]) -> tuple[Task, ...]:
    """An exercise knows its place, so it is told."""
    return tuple(
        replace(task, exercise=replace(task.exercise, number=number)) if isinstance(task, Numbers) else task
        for number, task in enumerate(tasks, start=1)
    )


def _turned(rng: np.random.Generator, pair: tuple[Question, Question]) -> tuple[Question, Question]:
    return pair if rng.integers(2) else pair[::-1]


def _faults(rng: np.random.Generator) -> list[Fault]:
    """The same function with two mistakes, one for each set."""
    name = list(FAULTS)[int(rng.integers(len(FAULTS)))]
    both = rng.permutation(len(FAULTS[name]))[: len(SETS)]
    return [fault(name, FAULTS[name][int(i)]) for i in both]


def fault(name: str, mistake: str) -> Fault:
    """A checker's function with one of its known mistakes.

    Raises
    ------
    ValueError
        If the checker knows no such mistake, or it changes more than one line.
    """
    one = check.CHECKS[name]
    wrong, right = one.wrong_source(mistake), one.source
    lines = zip(wrong.splitlines(), right.splitlines(), strict=True)
    differ = [number for number, (a, b) in enumerate(lines, start=1) if a != b]
    if len(differ) != 1:
        raise ValueError(f"{name}: expected a mistake in one line, got {mistake!r} in {len(differ)}")
    (known,) = (m for m in one.mistakes if m.name == mistake)
    _, *details = one.report(known.function).details
    seen = "\n".join(details).replace("yours", "wrong").replace("your ", "wrong ")
    return Fault(name, mistake, int(one.exercise.split("-")[1]), wrong, right, differ[0], known.advice, seen)


def _printed(task: Task) -> str:
    if isinstance(task, Numbers):
        return task.exercise.topic + task.exercise.fingerprint
    return task.text if isinstance(task, Question) else task.wrong


def _rng(key: str, title: str) -> np.random.Generator:
    return np.random.default_rng(int.from_bytes(_hmac(key, "choices", title), "big"))


def _hmac(key: str, purpose: str, *parts: str) -> bytes:
    message = json.dumps(["toytf exam", 1, purpose, *parts])
    return hmac.new(key.strip().encode(), message.encode(), hashlib.sha256).digest()
