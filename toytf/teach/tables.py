"""Tables that teachers bring, class lists above all: CSV in UTF-8, with commas or semicolons."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from pathlib import Path

from toytf._command import Trouble

STUDENT = "student"


def read_table(
    path: Path | str, columns: Sequence[str], perhaps: Sequence[str] = ()
) -> list[tuple[int, dict[str, str]]]:
    """Read a table that has these columns, and perhaps others.

    Parameters
    ----------
    path : str or path
    columns : sequence of str
    perhaps : sequence of str
        Columns that mean something where they are there.

    Returns
    -------
    list of (int, dict)
        The line in which each row ends, and its cells by the names of the columns. Lines at the end in which
        nothing stands are no rows.

    Raises
    ------
    Trouble
        If the file cannot be read, or a column is not there or there twice: the message names the line.
    """
    try:
        content = Path(path).read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise Trouble(f"{path}: expected a table (CSV, UTF-8), got {error}") from None
    except UnicodeDecodeError as error:
        wrong = f"byte {error.object[error.start]:#04x} at {error.start}"
        raise Trouble(f"{path}: expected UTF-8, got {wrong}") from None
    head = content.partition("\n")[0]
    separator = ";" if ";" in head and "," not in head else ","
    reader = csv.reader(io.StringIO(content, newline=""), delimiter=separator, strict=True)
    try:
        names = [name.strip() for name in next(reader, [])]
        for column in columns:
            if names.count(column) != 1:
                raise Trouble(f"{path}, line 1: expected one column {column!r}, got {_plain(names)}")
        for column in perhaps:
            if names.count(column) > 1:
                raise Trouble(f"{path}, line 1: expected at most one column {column!r}, got {_plain(names)}")
        rows = [(reader.line_num, row) for row in reader]
    except csv.Error as error:
        raise Trouble(f"{path}, line {reader.line_num}: expected CSV, got a row that is none ({error})") from None
    while rows and not rows[-1][1]:
        rows.pop()
    width = len(names)
    return [(line, dict(zip(names, [*row, *[""] * width], strict=False))) for line, row in rows]


def _plain(names: Sequence[str]) -> str:
    """The columns of a table on one line, none of whose signs steers a terminal."""
    listed = ascii(", ".join(names))[1:-1] or "none"
    return listed if len(listed) <= 200 else f"{listed[:200]} ... (cut)"


def read_class(path: Path | str, clean: Callable[[str], str] = str) -> list[str]:
    """Read the ids of a class from the column `student` of a table.

    Parameters
    ----------
    path : str or path
        Other columns are ignored.
    clean : callable, optional
        Gives an id the form in which it is used, or says what is wrong with it.

    Returns
    -------
    list of str
        In the order of the file.

    Raises
    ------
    Trouble
        If the file is no such table, or rows are empty, twice there or not fit for an id: the message names
        each of these lines.
    """
    seen: dict[str, int] = {}
    wrong = []
    for line, row in read_table(path, [STUDENT]):
        try:
            student = clean(row[STUDENT])
        except ValueError as error:
            student, why = "", str(error)
        else:
            why = "student: expected at least one character, got none"
        if not any(map(str.strip, row.values())):
            wrong.append(f"{path}, line {line}: expected a student, got an empty row")
        elif not student.strip():
            wrong.append(f"{path}, line {line}: {why}")
        elif student in seen:
            again = f"got {student!r} again (line {seen[student]})"
            wrong.append(f"{path}, line {line}: expected each student once, {again}")
        else:
            seen[student] = line
    if wrong:
        raise Trouble("\n".join(wrong))
    if not seen:
        raise Trouble(f"{path}: expected at least one student, got none")
    return list(seen)
