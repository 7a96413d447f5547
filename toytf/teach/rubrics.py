"""Rubrics for answers in words: what earns points, a typical wrong answer, and what to say to it.

They stand in ``rubrics/``, one file a chapter. A point has its letter from its place: a, b, c. Who grades
writes the letters of what is met, and `t` where the typical wrong answer stands.

Examples
--------
>>> from toytf.teach.rubrics import parse
>>> rubrics = parse('''
... ## 9.2
...
... - 0.5: The mean of each row is 0 before gamma and beta.
... - 0.5: So a constant added to all entries of a row changes nothing.
...   Also accepted: an example with numbers.
...
... Typical: Layer norm removes the mean of the whole table.
... Say: It works on each row alone. Take two rows, add 10 to one of them, and compute both means.
... ''')
>>> [(letter, point.points) for letter, point in rubrics["9.2"].lettered]
[('a', 0.5), ('b', 0.5)]
>>> mark = rubrics["9.2"].mark("b t")
>>> mark.points, mark.typical
(0.5, True)
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from toytf.teach.exercises import Exercise

FOLDER = Path(__file__).with_name("rubrics")
LETTERS = "abcd"
LEAST = 2  # scoring points; with one alone there is nothing to tell apart
TYPICAL, NONE = "t", "0"  # beside the letters: the typical wrong answer; no point is met

_HEADING = re.compile(r"^## (?P<number>\d+\.\d+)$")
_POINT = re.compile(r"^- (?P<points>\d+(?:\.\d+)?): (?P<text>.+)$")
_PART = re.compile(r"^(?:  )?(?P<name>Also accepted|Typical|Say): *(?P<text>.*)$")


# ---------------------------------------------------------------- what a rubric is


@dataclass(frozen=True)
class Point:
    """One scoring point: what it is worth, what must stand in the answer, and what else may stand for it."""

    points: float
    text: str
    also: str = ""


@dataclass(frozen=True)
class Rubric:
    """The rubric of one exercise.

    Parameters
    ----------
    number : str
        The exercise's in the book: "9.2".
    scoring : tuple of Point
    typical : str
        A wrong answer that is often given, in the words of who gives it.
    say : str
        What to say to it: one step on, not the answer.
    """

    number: str
    scoring: tuple[Point, ...]
    typical: str
    say: str

    @property
    def points(self) -> float:
        return math.fsum(point.points for point in self.scoring)

    @property
    def lettered(self) -> list[tuple[str, Point]]:
        """The scoring points with their letters."""
        return list(zip(LETTERS, self.scoring, strict=False))

    def worth(self, out_of: float | None = None) -> tuple[float, ...]:
        """What each scoring point is worth, if the exercise is worth so much."""
        scale = 1.0 if out_of is None else out_of / self.points
        return tuple(point.points * scale for point in self.scoring)

    def mark(self, met: str, out_of: float | None = None) -> Mark:
        """What an answer is worth of which a person writes what it meets.

        Parameters
        ----------
        met : str
            Letters, "a c", with or without anything between them; `t` where the typical wrong answer stands;
            "0" if it meets nothing.
        out_of : float, optional
            What the exercise is worth, if not what the book gives; the scoring points grow in proportion.

        Raises
        ------
        ValueError
            Naming the letter that there is none of, or that stands twice.
        """
        letters = re.sub(r"[\s,;+]", "", met).lower()
        known = LETTERS[: len(self.scoring)] + TYPICAL
        expected = f"expected some of {', '.join(known)}, or {NONE} for none"
        if not letters:
            raise ValueError(f"{expected}, got nothing")
        if letters != NONE:
            for i, letter in enumerate(letters):
                if letter not in known:
                    raise ValueError(f"{expected}, got {met.strip()!r}")
                if letter in letters[:i]:
                    raise ValueError(f"expected each letter once, got {met.strip()!r}")
        found = tuple(letter in letters for letter, _ in self.lettered)
        return Mark(self, found, TYPICAL in letters, self.worth(out_of))


@dataclass(frozen=True)
class Mark:
    """What a person found in one answer.

    Parameters
    ----------
    rubric : Rubric
    met : tuple of bool
        Which scoring points.
    typical : bool
        Whether the typical wrong answer stands in it.
    worth : tuple of float
        What each scoring point is worth here.
    """

    rubric: Rubric
    met: tuple[bool, ...]
    typical: bool
    worth: tuple[float, ...]

    @property
    def points(self) -> float:
        return round(math.fsum(worth for worth, met in zip(self.worth, self.met, strict=True) if met), 2)

    @property
    def lines(self) -> list[tuple[bool, float, str]]:
        """Each scoring point: whether it is met, what it is worth, and what it says."""
        texts = (point.text for point in self.rubric.scoring)
        return list(zip(self.met, self.worth, texts, strict=True))


# ---------------------------------------------------------------- reading them


@dataclass
class _Found:
    """A rubric on the way: the line of its heading, and the lines of its parts as far as they are read."""

    line: int
    scoring: list[dict[str, str]] = field(default_factory=list)
    parts: dict[str, str] = field(default_factory=dict)
    last: tuple[dict[str, str], str] | None = None  # where a line that goes on belongs

    def put(self, home: dict[str, str], name: str, text: str) -> None:
        home[name], self.last = text, (home, name)


class _Reader:
    """Reads one file, and collects what is wrong with it."""

    def __init__(self, where: str, problems: list[str]):
        self.where, self.problems = where, problems
        self.found: dict[str, _Found] = {}
        self.now: _Found | None = None

    def wrong(self, line: int, what: str) -> None:
        self.problems.append(f"{self.where}, line {line}: {what}")

    def take(self, line: int, text: str) -> None:
        if heading := _HEADING.match(text):
            number = heading["number"]
            self.now = _Found(line)
            if number in self.found:
                self.wrong(line, f"expected one rubric of {number}, got two (line {self.found[number].line})")
            self.found.setdefault(number, self.now)
        elif not text:
            if self.now:
                self.now.last = None
        elif self.now is None:
            self.wrong(line, f'expected "## 9.2", the number of an exercise, got {text!r}')
        elif point := _POINT.match(text):
            self.now.scoring.append({"points": point["points"]})
            self.now.put(self.now.scoring[-1], "text", point["text"])
        elif part := _PART.match(text):
            self._part(self.now, line, part["name"], part["text"])
        elif self.now.last and text[0] not in "-#":
            home, name = self.now.last
            home[name] += f" {text.strip()}"
        else:
            self.wrong(line, f'expected "- 0.5: ...", "Also accepted: ...", "Typical: ..." or "Say: ...", got {text!r}')

    def _part(self, now: _Found, line: int, name: str, text: str) -> None:
        if not text:
            return self.wrong(line, f'expected words after "{name}:", got none')
        if name == "Also accepted":
            if now.parts or not now.scoring or "also" in now.scoring[-1]:
                return self.wrong(line, 'expected "Also accepted: ..." once below a scoring point, got one elsewhere')
            return now.put(now.scoring[-1], "also", text)
        if name in now.parts:
            return self.wrong(line, f'expected "{name}: ..." once, got it twice')
        return now.put(now.parts, name, text)

    def rubrics(self) -> dict[str, Rubric]:
        made = {}
        for number, found in self.found.items():
            count = len(found.scoring)
            if not LEAST <= count <= len(LETTERS):
                self.wrong(found.line, f"{number}: expected {LEAST} to {len(LETTERS)} scoring points, got {count}")
            for name in ("Typical", "Say"):
                if name not in found.parts:
                    self.wrong(found.line, f'{number}: expected a line "{name}: ...", got none')
            for point in found.scoring:
                if not float(point["points"]):
                    self.wrong(found.line, f"{number}: expected points above 0, got {point['points']}: {point['text']}")
            scoring = tuple(Point(float(p["points"]), p["text"], p.get("also", "")) for p in found.scoring)
            made[number] = Rubric(number, scoring, found.parts.get("Typical", ""), found.parts.get("Say", ""))
        return made


def _read(text: str, where: str, problems: list[str]) -> dict[str, Rubric]:
    reader = _Reader(where, problems)
    for line, content in enumerate(text.splitlines(), start=1):
        reader.take(line, content.rstrip())
    return reader.rubrics()


def parse(text: str, where: str = "rubrics") -> dict[str, Rubric]:
    """Read the rubrics of a text, by the numbers of their exercises.

    Parameters
    ----------
    text : str
        Below a heading ``## 9.2`` two to four lines ``- 0.5: ...``, each of which may have a line
        ``Also accepted: ...`` below it, then ``Typical: ...`` and ``Say: ...``. A long line goes on in the next one.
    where : str
        Its name in errors.

    Raises
    ------
    ValueError
        With a line for each thing that is wrong, which names the line of the text.
    """
    problems: list[str] = []
    found = _read(text, where, problems)
    if problems:
        raise ValueError("\n".join(problems))
    return found


def read(folder: Path | None = None) -> dict[str, Rubric]:
    """Read all rubrics, by the numbers of their exercises.

    Parameters
    ----------
    folder : Path, optional
        With ``09.md`` and so on; by default that of the package.

    Raises
    ------
    ValueError
        With a line for each thing that is wrong, which names file and line.
    """
    problems: list[str] = []
    whole: dict[str, Rubric] = {}
    folder = folder or FOLDER
    for path in sorted(folder.glob("*.md")):
        where = f"{folder.name}/{path.name}"
        for number, rubric in _read(path.read_text("utf-8"), where, problems).items():
            chapter = number.split(".")[0]
            if path.stem != f"{int(chapter):02}":
                problems.append(f"{where}: expected exercises of the chapter of its name, got {number}")
            whole[number] = rubric
    if problems:
        raise ValueError("\n".join(problems))
    return whole


def compare(rubrics: Mapping[str, Rubric], exercises: Iterable[Exercise]) -> list[str]:
    """What does not fit between rubrics and the exercises of the book; a line for each.

    Examples
    --------
    >>> compare({"9.2": Rubric("9.2", (Point(0.5, "One."), Point(0.5, "Two.")), "Wrong.", "Look.")}, [])
    ['rubric 9.2: expected an exercise of this number, got none']
    """
    found = []
    by_number = {one.number: one for one in exercises}
    for number, rubric in rubrics.items():
        one = by_number.get(number)
        if one is None:
            found.append(f"rubric {number}: expected an exercise of this number, got none")
        elif one.kind != "text":
            found.append(f"rubric {number}: expected an exercise that a person reads, got one of kind {one.kind!r}")
        elif not math.isclose(rubric.points, one.points):
            found.append(f"rubric {number}: expected {one.points:g} points together, got {rubric.points:g}")
    for number, one in by_number.items():
        if one.kind == "text" and number not in rubrics:
            found.append(f"exercise {number}: expected a rubric in rubrics/{one.chapter:02}.md, got none")
    return found
