"""Tables that teachers bring, class lists above all: CSV in UTF-8, with commas or semicolons.

A class list has a column `student`, or is what Canvas, Moodle or Gradescope exports: see
`toytf.teach.schools.forms`.
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from toytf._command import Trouble
from toytf.teach.schools.forms import KNOWN, STUDENT, Form, Person, columns_said, recognised, told_apart

__all__ = ["STUDENT", "Table", "form_of", "open_table", "people_of", "read_class", "read_people", "read_table"]


@dataclass(frozen=True)
class Table:
    """A table as it stands in its file.

    Parameters
    ----------
    path : str or path
    names : list of str
        The columns.
    head : list of str
        The first row, as it is.
    rows : list of (int, list of str)
        The line in which each other row ends, and its cells.
    separator, newline : str
    mark : bool
        Whether the file begins with a byte order mark.
    """

    path: Path | str
    names: list[str]
    head: list[str]
    rows: list[tuple[int, list[str]]]
    separator: str
    newline: str
    mark: bool

    def by_name(self) -> list[tuple[int, dict[str, str]]]:
        """The rows, their cells by the names of the columns; what a short row lacks is empty."""
        width = len(self.names)
        return [(line, dict(zip(self.names, [*row, *[""] * width], strict=False))) for line, row in self.rows]


def open_table(path: Path | str) -> Table:
    """Read a table with any columns.

    Raises
    ------
    Trouble
        If the file cannot be read: the message names the line.
    """
    try:
        data = Path(path).read_bytes()
        content = data.decode("utf-8-sig")
    except OSError as error:
        raise Trouble(f"{path}: expected a table (CSV, UTF-8), got {error}") from None
    except UnicodeDecodeError as error:
        wrong = f"byte {error.object[error.start]:#04x} at {error.start}"
        raise Trouble(f"{path}: expected UTF-8, got {wrong}") from None
    first = content.partition("\n")[0]
    bare = re.sub(r'"[^"]*"', "", first)  # a quoted name may hold any sign
    separator = ";" if ";" in bare and "," not in bare else ","
    reader = csv.reader(io.StringIO(content, newline=""), delimiter=separator, strict=True)
    try:
        head = next(reader, [])
        rows = [(reader.line_num, row) for row in reader]
    except csv.Error as error:
        raise Trouble(f"{path}, line {reader.line_num}: expected CSV, got a row that is none ({error})") from None
    while rows and not rows[-1][1]:
        rows.pop()
    newline = "\r\n" if first.endswith("\r") else "\n"
    mark = data.startswith(b"\xef\xbb\xbf")
    return Table(path, [name.strip() for name in head], head, rows, separator, newline, mark)


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
    table = open_table(path)
    for column in columns:
        if table.names.count(column) != 1:
            raise Trouble(f"{path}, line 1: expected one column {column!r}, got {columns_said(table.names)}")
    for column in perhaps:
        if table.names.count(column) > 1:
            got = columns_said(table.names)
            raise Trouble(f"{path}, line 1: expected at most one column {column!r}, got {got}")
    return table.by_name()


# ---------------------------------------------------------------- class lists


def arguments(parser: argparse._ActionsContainer, who: str) -> None:
    """Add ``--class`` and ``--student-column``; `who` says whom the list is to name."""
    parser.add_argument(
        "--class",
        type=Path,
        dest="class_list",
        metavar="CSV",
        help=f"{who}: a table in UTF-8 with a column student, or a list of Canvas, Moodle or Gradescope",
    )
    parser.add_argument("--student-column", metavar="NAME", help="with --class: another column that holds the ids")


def refuse_a_column_alone(options: argparse.Namespace) -> None:
    """`ValueError` if a column is named, and no list that has it."""
    if options.student_column is not None and options.class_list is None:
        raise ValueError("--student-column: expected a class list (--class CSV) with it, got none")


def read_class(path: Path | str, clean: Callable[[str], str] = str, column: str | None = None) -> list[str]:
    """Read the ids of a class: as `read_people`, and only these.

    Returns
    -------
    list of str
        In the order of the file.
    """
    return [one.student for one in read_people(path, clean, column)]


def read_people(path: Path | str, clean: Callable[[str], str] = str, column: str | None = None) -> list[Person]:
    """Read a class from a table with the column `student`, or in a form of Canvas, Moodle or Gradescope.

    Parameters
    ----------
    path : str or path
        Other columns are ignored.
    clean : callable, optional
        Gives an id the form in which it is used, or says what is wrong with it.
    column : str, optional
        The column that holds the ids, in place of the one that the form says.

    Returns
    -------
    list of Person
        In the order of the file.

    Raises
    ------
    Trouble
        If the file is no such table, or rows are empty, twice there or not fit for an id: the message names
        each of these lines.
    """
    table = open_table(path)
    return people_of(table, form_of(table, column), clean)


def form_of(table: Table, column: str | None = None) -> Form:
    """The form of a class list.

    Raises
    ------
    Trouble
        If it is none that is known, or a column by which it is known stands there twice.
    """
    form = recognised(table.names, column)
    got = columns_said(table.names)
    if form is None and column is not None:
        raise Trouble(f"{table.path}, line 1: expected one column {column!r}, got {got}")
    if form is None:
        raise Trouble(
            f"{table.path}, line 1: expected one column {STUDENT!r}, got {got}. Known lists: {KNOWN}. "
            "In another one, name the column of the students (--student-column)"
        )
    for name in (name for group in form.needs for name in group):
        if table.names.count(name) > 1:
            raise Trouble(f"{table.path}, line 1: expected one column {name!r}, got {got}")
    return form


def people_of(table: Table, form: Form, clean: Callable[[str], str] = str) -> list[Person]:
    """The students of a table in this form; `read_people` says what may be wrong."""
    found: list[Person] = []
    wrong: list[str] = []
    seen: dict[str, int] = {}
    for line, row in table.by_name():
        if form.passed(row):
            continue
        one, why = form.person(row, line), "student: expected at least one character, got none"
        try:
            student = clean(one.student)
        except ValueError as error:
            student, why = "", str(error)
        if not any(map(str.strip, row.values())):
            wrong.append(f"{table.path}, line {line}: expected a student, got an empty row")
        elif not student.strip():
            wrong.append(f"{table.path}, line {line}: {why}")
        elif form.chosen and student in seen:
            again = f"got {student!r} again (line {seen[student]})"
            wrong.append(f"{table.path}, line {line}: expected each student once, {again}")
        else:
            seen[student] = line
            found.append(dataclasses.replace(one, student=student))
    if not form.chosen:
        found, alike = told_apart(found)
        wrong += [f"{table.path}, {said}" for said in alike]
        for one in found:  # what tells two apart is part of the id now
            try:
                clean(one.student)
            except ValueError as error:
                wrong.append(f"{table.path}, line {one.line}: {error}")
    if wrong:
        raise Trouble("\n".join(wrong))
    if not found:
        raise Trouble(f"{table.path}: expected at least one student, got none")
    return found
