"""What somebody can do after each chapter: the learning goals, from the text ``goals.md`` beside this file.

>>> from toytf.teach.goals import goals
>>> print(goals()[9][0])
You can normalise a row with a pencil, and write it for many rows. (9.1, 9.3, 9.7)
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

TEXT = Path(__file__).with_name("goals.md")
_CHAPTER = re.compile(r"## (\d+)")
_GOAL = re.compile(r"- (?P<words>.+\.) \((?P<numbers>\d+\.\d+(?:, \d+\.\d+)*)\)")


@dataclass(frozen=True)
class Goal:
    """One thing that a reader of a chapter can do.

    Parameters
    ----------
    words : str
        What follows "You can", up to its full stop.
    exercises : tuple of str
        The numbers of the chapter's exercises that show it: ``("9.1", "9.7")``.
    """

    words: str
    exercises: tuple[str, ...]

    def __str__(self) -> str:
        return f"You can {self.words} ({', '.join(self.exercises)})"


@cache
def goals() -> dict[int, tuple[Goal, ...]]:
    """The goals of every chapter, by its number, in the order of the book."""
    return read(TEXT.read_text("utf-8"))


def read(text: str) -> dict[int, tuple[Goal, ...]]:
    """Read goals from a text: what stands before the first chapter is a remark.

    Raises
    ------
    ValueError
        If a line is none of a chapter and a goal, a chapter stands twice or has no goal, or a goal names an
        exercise of another chapter.

    Examples
    --------
    >>> read("## 9\\n- normalise a row. (9.1)")
    {9: (Goal(words='normalise a row.', exercises=('9.1',)),)}
    """
    found: dict[int, tuple[Goal, ...]] = {}
    chapter = None
    for number, line in enumerate(text.splitlines(), start=1):
        if head := _CHAPTER.fullmatch(line):
            _complete(found, chapter)
            chapter = int(head[1])
            if chapter in found:
                raise ValueError(f"goals, line {number}: expected each chapter once, got chapter {chapter} again")
            found[chapter] = ()
        elif chapter is not None and line.strip():
            found[chapter] += (_goal(line, number, chapter),)
    _complete(found, chapter)
    return found


def _complete(found: dict[int, tuple[Goal, ...]], chapter: int | None) -> None:
    if chapter is not None and not found[chapter]:
        raise ValueError(f"goals: expected at least one for chapter {chapter}, got none")


def _goal(line: str, number: int, chapter: int) -> Goal:
    matched = _GOAL.fullmatch(line)
    if matched is None:
        raise ValueError(f'goals, line {number}: expected "- normalise a row. (9.1)", got {line!r}')
    exercises = tuple(matched["numbers"].split(", "))
    for one in exercises:
        if int(one.split(".")[0]) != chapter:
            raise ValueError(f"goals, line {number}: expected exercises of chapter {chapter}, got {one}")
    return Goal(matched["words"], exercises)
