"""Rubrics for answers in words: what earns points, a typical wrong answer, and what to say to it.

They stand in ``rubrics/``, one file a chapter. A point has its letter from its place: a, b, c. Who grades
writes the letters of what is met, and `t` where the typical wrong answer stands.

>>> from toytf_classroom.rubrics import parse
>>> rubrics = parse('''## 9.2
...
... - 0.5: The mean of each row is 0 before gamma and beta.
... - 0.5: So a constant added to all entries of a row changes nothing.
...   Also accepted: an example with numbers.
...
... Typical: Layer norm removes the mean of the whole table.
... Say: It works on each row alone. Take two rows, add 10 to one of them, and compute both means.
... ''')
>>> mark = rubrics["9.2"].mark("b t")
>>> mark.points, mark.typical
(0.5, True)
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).with_name("rubrics")
LETTERS = "abcd"
TYPICAL, NONE = "t", "0"  # beside the letters: the typical wrong answer; no point is met

_HEADING = re.compile(r"^## (\d+\.\d+)\n", re.MULTILINE)
_POINT = r"- \d+(?:\.\d+)?: .+\n(?:  Also accepted: .+\n)?"
_RUBRIC = re.compile(rf"\n(?P<points>(?:{_POINT}){{2,4}})\nTypical: (?P<typical>.+)\nSay: (?P<say>.+)\n\n?")
_PARTS = re.compile(r"- (\d+(?:\.\d+)?): (.+)\n(?:  Also accepted: (.+)\n)?")
FORM = '"- 0.5: ..." two to four times (below it perhaps "  Also accepted: ..."), "Typical: ...", "Say: ..."'


@dataclass(frozen=True)
class Point:
    """One scoring point: what it is worth, what must stand in the answer, and what else may stand for it."""

    points: float
    text: str
    also: str = ""


@dataclass(frozen=True)
class Rubric:
    """The rubric of one exercise: scoring points, a typical wrong answer, and what to say to that."""

    number: str
    scoring: tuple[Point, ...]
    typical: str
    say: str

    @property
    def lettered(self) -> list[tuple[str, Point]]:
        """The scoring points with their letters."""
        return list(zip(LETTERS, self.scoring, strict=False))

    def mark(self, met: str) -> Mark:
        """What an answer is worth of which a person writes what it meets; `ValueError` names the letters that are odd.

        `met` has letters, "a c", with or without anything between them, `t` where the typical wrong answer stands, or
        "0" if it meets nothing.
        """
        letters = re.sub(r"[\s,;+]", "", met).lower()
        known = LETTERS[: len(self.scoring)] + TYPICAL
        twice = len(set(letters)) < len(letters)
        if letters != NONE and (not letters or twice or set(letters) - set(known)):
            what = f"some of {', '.join(known)}, each once, or {NONE} for none"
            raise ValueError(f"met: expected {what}, got {met.strip()!r}")
        lines = tuple((letter in letters, point) for letter, point in self.lettered)
        return Mark(self, lines, TYPICAL in letters)


@dataclass(frozen=True)
class Mark:
    """What a person found in one answer: which scoring points, and whether the typical mistake."""

    rubric: Rubric
    lines: tuple[tuple[bool, Point], ...]  # each scoring point, and whether it is met
    typical: bool

    @property
    def points(self) -> float:
        return math.fsum(point.points for met, point in self.lines if met)


def parse(text: str, where: str = "rubrics") -> dict[str, Rubric]:
    """Read the rubrics of a text, by the numbers of their exercises; a long line goes on, indented, in the next one.

    `ValueError` names the exercise whose rubric has another form.
    """
    found: dict[str, Rubric] = {}
    text = re.sub(r"\n {2,4}(?!Also accepted: )(?=\S)", " ", text)
    _, *pieces = _HEADING.split(text.rstrip() + "\n")
    for number, body in zip(pieces[::2], pieces[1::2], strict=True):
        matched = _RUBRIC.fullmatch(body)
        if number in found or not matched:
            got = "a second one" if matched else repr(body.strip()[:200])
            raise ValueError(f"{where}, {number}: expected one rubric, {FORM}; got {got}")
        points = [Point(float(worth), said, also) for worth, said, also in _PARTS.findall(matched["points"])]
        found[number] = Rubric(number, tuple(points), matched["typical"], matched["say"])
    return found


def read(folder: Path = FOLDER) -> dict[str, Rubric]:
    """Read all rubrics of a folder with ``09.md`` and so on, by the numbers of their exercises."""
    whole: dict[str, Rubric] = {}
    for path in sorted(folder.glob("*.md")):
        whole |= parse(path.read_text("utf-8"), f"{folder.name}/{path.name}")
    return whole
