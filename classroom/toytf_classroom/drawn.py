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
LARGEST = 99  # of what is given, and of an answer


@dataclass(frozen=True)
class Given:
    """A table that stands on the sheet."""

    name: str  # what the text calls it, in TeX: "W^Q"
    array: Array  # shape (rows, columns)
    rows: tuple[str, ...]  # labels; empty strings for none
    cols: tuple[str, ...]
    words: tuple[tuple[str, ...], ...] | None = None  # how entries are written that are no plain numbers: "\\ln 3"
    decimals: int = 0  # so many everywhere, where the entries are plain numbers

    def cells(self) -> list[list[str]]:
        """The entries as they are printed, row by row."""
        if self.words is not None:
            return [list(row) for row in self.words]
        return [[fixed(float(v), self.decimals) for v in row] for row in self.array]


@dataclass(frozen=True)
class Asked:
    """One answer: a table with blanks on the student's sheet, worked out on the answer sheet."""

    name: str  # what an answer to a machine calls it: "A"
    symbol: str  # what the text calls it, in TeX
    expected: Array  # any shape up to two axes; the blanks stand in len(rows) x len(cols)
    rows: tuple[str, ...]
    cols: tuple[str, ...]
    work: Callable[[], Working]  # an entry for each number or for each row
    decimals: int = 0  # 0: whole numbers; otherwise the answer is exact with so many
    note: str = ""  # what the answer sheet says before the arithmetic
    # Answers that have to be right too if this one is to earn points: of an answer that can be one of a few only
    # (the root of `d_k`), a neighbour often has the same.
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
        table = np.reshape(self.expected, (len(self.rows), len(self.cols)))
        return [[trimmed(float(v), self.decimals) for v in row] for row in table]

    def terms(self, place: tuple[int, ...]) -> str:
        """How one entry comes about: ``"1·4 + 0·8 = 4 + 0 = 4"``."""
        entries = self.work().entries
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
    """One exercise of a sheet: what is given, what is asked, and how it is worked out."""

    number: int  # its place on the sheet, from 1
    topic: str  # a name in `toytf_classroom.topics.TOPICS`
    title: str
    chapter: int  # where the book explains it
    minutes: int  # for somebody who has read the chapter
    text: tuple[str, ...]  # paragraphs, with TeX between dollar signs and code between backticks
    given: tuple[Given, ...]
    asked: tuple[Asked, ...]

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


def complaints(exercise: Exercise) -> list[str]:
    """Say what is wrong with an exercise's numbers; nothing, if they are fit for a pencil.

    What is given is written in full, an answer ends within the decimals that are asked for, and no number is larger
    than 99. That every divisor is one of `DIVISORS` is part of the rule too; a test looks at it.
    """
    found = []
    plain = [(one.name, one.array, one.decimals if one.words is None else None) for one in exercise.given]
    for name, values, decimals in [*plain, *((one.name, one.expected, one.decimals) for one in exercise.asked)]:
        values = np.asarray(values, dtype=float)
        if np.abs(values).max() > LARGEST:
            found.append(f"{name}: expected nothing above {LARGEST}, got {np.abs(values).max():g}")
        if decimals is not None and np.abs(values - np.round(values, decimals)).max() > 1e-6 / 10**decimals:
            found.append(f"{name}: expected at most {decimals} decimals")
    return found
