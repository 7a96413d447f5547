"""Strangers' text, as tables and pages may hold it."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable

CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]"
)
# What begins a formula: at the start of a cell, and after any sign that a spreadsheet may take for a cell's end.
_SIGN = "[=+\\-@\uff1d\uff0b\uff0d\uff20]"
_STARTS = re.compile(rf"\s*'*{_SIGN}|'*[\t\r\n]")
_INSIDE = re.compile(rf"""([;,|"\t\r\n]\s*)('*{_SIGN})""")
_NUMBER = re.compile(r"\s*(-|[+-]?\d[\d.,]*%?)\s*")


def plain(text: str, most: int = 10_000) -> str:
    """Text without characters that steer a terminal or turn the direction of writing; cut if too long.

    Examples
    --------
    >>> plain("a\\x1b[31mb\\u202e")
    'a\ufffd[31mb\ufffd'
    """
    text = CONTROL.sub("\ufffd", text.replace("\r\n", "\n"))
    return text if len(text) <= most else text[:most] + " ... (cut)"


def without_formula(cell: str) -> str:
    """A cell in which no spreadsheet finds a formula, whatever sign it takes for the end of a cell.

    Two different cells stay different (but for control characters, which `one_line` takes care of).

    Examples
    --------
    >>> without_formula("=1+1"), without_formula("anna;=1"), without_formula("anna-b"), without_formula("'=1")
    ("'=1+1", "anna;'=1", 'anna-b', "''=1")
    """
    cell = plain(cell)
    return "'" * bool(_STARTS.match(cell)) + _INSIDE.sub(r"\1'\2", cell)


def is_formula(cell: str) -> bool:
    """Whether a spreadsheet could take a cell for a formula; numbers and a lone "-" are none."""
    return bool(_STARTS.match(cell)) and not cell.startswith("'") and not _NUMBER.fullmatch(cell)


def one_line(student: str) -> str:
    """A student's name as it stands in tables: on one line, and no other student's.

    Examples
    --------
    >>> print(one_line("anna"), one_line("a\\nb"), one_line("a\\\\b"))
    anna a\\u000ab a\\u005cb
    """
    odd = [c for c in set(student) if c in "\\\n\t" or CONTROL.match(c)]
    return student.translate({ord(c): f"\\u{ord(c):04x}" for c in odd})


def to_csv(rows: Iterable[Iterable[str]]) -> bytes:
    """A table in which every cell is quoted, and none is a formula."""
    file = io.StringIO()
    safe = [[without_formula(cell) for cell in row] for row in rows]
    csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows(safe)
    return file.getvalue().encode("utf-8", "replace")
