"""What an exercise on a sheet is made of, and the rule that its numbers obey."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from toytf.byhand import Entry, Working
from toytf.byhand.expressions import fixed, trimmed

Array = np.ndarray

DIVISORS = (2, 4, 5, 8, 10, 20)  # whatever is divided by one of these ends after few decimals
LARGEST_GIVEN = 99
LARGEST_ANSWER = 99


@dataclass(frozen=True)
class Given:
    """A table that stands on the sheet.

    Parameters
    ----------
    name : str
        What the text calls it, in TeX: "W^Q".
    array : Array, shape (rows, columns)
    rows, cols : tuple of str
        Labels; empty strings for none.
    words : tuple of tuple of str, optional
        How the entries are written, in the same TeX, where they are no plain numbers: ``\\ln 3``.
    decimals : int
        So many decimals everywhere, where the entries are plain numbers.
    """

    name: str
    array: Array
    rows: tuple[str, ...]
    cols: tuple[str, ...]
    words: tuple[tuple[str, ...], ...] | None = None
    decimals: int = 0

    def cells(self) -> list[list[str]]:
        """The entries as they are printed, row by row."""
        if self.words is not None:
            return [list(row) for row in self.words]
        return [[fixed(float(v), self.decimals) for v in row] for row in self.array]


@dataclass(frozen=True)
class Asked:
    """One answer: a table with blanks on the student's sheet, worked out on the answer sheet.

    Parameters
    ----------
    name : str
        What an answer to a machine calls it: "A".
    symbol : str
        What the text calls it, in TeX. The sentence says what it is.
    expected : Array
        Any shape up to two axes; the blanks stand in ``len(rows)`` × ``len(cols)``.
    rows, cols : tuple of str
        Labels; empty strings for none.
    decimals : int
        0: whole numbers. Otherwise the answer is exact with so many decimals.
    work : callable
        Gives the `Working`, an entry for each number or for each row.
    note : str
        What the answer sheet says before the arithmetic.
    only_with : tuple of str
        Other answers of the exercise that have to be right too if this one is to earn points. Of an
        answer that can be one of a few only (the root of `d_k`), a neighbour often has the same.
    """

    name: str
    symbol: str
    expected: Array
    rows: tuple[str, ...]
    cols: tuple[str, ...]
    work: Callable[[], Working]
    decimals: int = 0
    note: str = ""
    only_with: tuple[str, ...] = ()

    @property
    def shape(self) -> tuple[int, ...]:
        return np.shape(self.expected)

    @property
    def how(self) -> str:
        """In which form the answer is wanted."""
        if self.decimals:
            return f"exact, at most {self.decimals} decimal{'s'[: self.decimals != 1]}"
        return "whole numbers" if self.shape else "a whole number"

    @property
    def values(self) -> Array:
        """The answer, rounded as it is asked for."""
        return np.round(np.asarray(self.expected, dtype=float), self.decimals) + 0.0  # no -0

    def cells(self) -> list[list[str]]:
        """The right answers as they are written, row by row."""
        flat = [trimmed(float(v), self.decimals) for v in np.ravel(self.expected)]
        width = len(self.cols)
        return [flat[i : i + width] for i in range(0, len(flat), width)]

    def working(self) -> Working:
        """The arithmetic, once it has been found to give what is expected."""
        working = self.work()
        if not np.allclose(working.result.ravel(), np.ravel(self.expected), rtol=1e-9, atol=1e-12):
            raise AssertionError(f"{self.name}: the working gives {working.result}, expected {self.expected}")
        return working

    def terms(self, place: tuple[int, ...]) -> str:
        """How one entry comes about: ``"1·4 + 0·8 = 4 + 0 = 4"``."""
        entries = self.working().entries
        if not entries:
            return f"expected {float(np.asarray(self.expected)[place]):g}"
        whole_rows = len(entries) < np.size(self.expected)
        at = place[0] if whole_rows else int(np.ravel_multi_index(place, self.shape)) if place else 0
        return " ".join(chain(entries[at], "text"))


@dataclass(frozen=True)
class Word:
    """A number that is written as a word: ``ln 4``. Nothing of it is rounded."""

    value: float
    word: str
    exact = True

    def render(self, form: str, tight: bool = False) -> str:
        return html.escape(self.word).replace("-", "−") if form == "html" else self.word


@dataclass(frozen=True)
class Exercise:
    """One exercise of a sheet: what is given, what is asked, and how it is worked out.

    Parameters
    ----------
    number : int
        Its place on the sheet, from 1.
    topic : str
        A name in `toytf_classroom.topics.TOPICS`.
    title : str
    chapter : int
        Where the book explains it.
    minutes : int
        About how long it takes somebody who has read the chapter.
    text : tuple of str
        Paragraphs, with TeX between dollar signs and code between backticks.
    given : tuple of Given
    asked : tuple of Asked
    """

    number: int
    topic: str
    title: str
    chapter: int
    minutes: int
    text: tuple[str, ...]
    given: tuple[Given, ...]
    asked: tuple[Asked, ...]

    @property
    def numbers(self) -> dict[str, Array]:
        """The givens by name."""
        return {given.name: given.array for given in self.given}

    @property
    def fingerprint(self) -> str:
        """All that differs between two students' exercises, as text."""
        return "|".join(f"{g.name};{g.rows};{g.cols};{g.cells()}" for g in self.given)


def chain(entry: Entry, form: str) -> list[str]:
    """The steps to one entry, from the second on with the sign before it: ``["1·4 + 0·8", "= 4 + 0", "= 4"]``."""
    (_, first), *rest = entry.chain(form)
    return [first, *(f"{relation} {step}" for relation, step in rest)]


def is_word(name: str) -> bool:
    """Whether a name is a word, which stays upright where a symbol is set as mathematics."""
    return len(name) > 2 and name.isalpha() and name.islower()


def fixed_width(given: Given) -> str:
    """A table as plain text."""

    def spoken(tex: str) -> str:
        return re.sub(r"\\mathrm\{(\w+)\}", r"\1", tex).replace("\\", "")

    head = ["", *map(spoken, given.cols)]
    rows = [[spoken(label), *map(spoken, row)] for label, row in zip(given.rows, given.cells(), strict=True)]
    rows = [head, *rows] if any(head) else rows
    wide, *widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    lines = []
    for label, *row in rows:
        entries = "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        lines.append(f"  {label.ljust(wide)}  {entries}" if wide else f"  {entries}")
    return "\n".join([spoken(given.name), *lines])


# ---------------------------------------------------------------- the rule


def complaints(exercise: Exercise) -> list[str]:
    """Say what is wrong with an exercise's numbers; nothing, if they are fit for a pencil.

    The rule:

    - What is given is written in full, and no number is larger than 99.
    - An answer ends within the decimals that are asked for, and is no larger than 99.

    That every divisor is one of `DIVISORS` is part of the rule too; a test looks at it.
    """
    found = []
    for given in exercise.given:
        if np.abs(given.array).max() > LARGEST_GIVEN:
            found.append(f"{given.name}: expected nothing above {LARGEST_GIVEN}, got {np.abs(given.array).max():g}")
        if given.words is None and not _ends(given.array, given.decimals).all():
            found.append(f"{given.name}: expected at most {given.decimals} decimals")
    for asked in exercise.asked:
        expected = np.asarray(asked.expected, dtype=float)
        if np.abs(expected).max() > LARGEST_ANSWER:
            found.append(f"{asked.name}: expected nothing above {LARGEST_ANSWER}, got {np.abs(expected).max():g}")
        if not _ends(expected, asked.decimals).all():
            found.append(f"{asked.name}: expected at most {asked.decimals} decimals")
    return found


def _ends(values: Array, decimals: int) -> Array:
    units = np.asarray(values, dtype=float) * 10**decimals
    return np.abs(units - np.round(units)) < 1e-6
