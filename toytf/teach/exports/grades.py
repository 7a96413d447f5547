"""Grades for the place where a school keeps them. After ``toytf grade week3/submissions --out week3/grades.csv``

    toytf export week3/grades.csv --into gradebook.csv --column "Week 3 (4711)" --out upload.csv

fills the points into a table that Canvas, Moodle or Gradescope exported (`toytf.teach.schools`). All rows and
columns come back as they were, in their order and with their separator; only the cells of that column change.
"""

from __future__ import annotations

import argparse
import csv
import io
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from toytf._command import Trouble, place_for, write_whole
from toytf.teach.grade.feedback import number
from toytf.teach.grade.gradebook import STARTS, Roll
from toytf.teach.plain_text import plain
from toytf.teach.schools.downloads import Class
from toytf.teach.schools.forms import Form, Person, columns_said
from toytf.teach.tables import Table, form_of, open_table, people_of, read_table

EMPTY = ("", "-")  # what systems write where there is no grade yet
DECIDED = ("EX", "N/A")  # Canvas: excused, not assigned. These are no grades, and stay
ABOUT = ("student", "points", "out of", "remark")  # the other columns of grades.csv are exercises
NO_FORMULA = re.compile(r"\s*(-|[+-]?\d[\d.,]*%?)\s*")


@dataclass
class Filled:
    """A table with grades in it.

    Parameters
    ----------
    data : bytes
    filled : list of str
        Students who have a grade now.
    notes : list of str
        What the teacher should know.
    left : list of str
        Students with points who are not in the table.
    """

    data: bytes
    filled: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


def fill(
    grades: Path | str,
    into: Path | str,
    column: str | None = None,
    *,
    student_column: str | None = None,
    scale: bool = False,
    force: bool = False,
) -> Filled:
    """Fill points into a table of Canvas, Moodle or Gradescope, or into one of your own.

    Parameters
    ----------
    grades : path
        ``grades.csv``, as `toytf.teach.grade` wrote it.
    into : path
        The table; it is not changed.
    column : str, optional
        Which column holds the grades. A worksheet of Moodle has one, and so has Canvas's gradebook of one assignment.
    student_column : str, optional
        The column with the students' ids, in place of the one that the form says.
    scale : bool
        Turn points into those of the table, where it says another maximum.
    force : bool
        Replace other grades that stand there.

    Raises
    ------
    Trouble
        If a file or a column is not as expected, two rows mean one student, the maximum is another one, or
        another grade stands there already: the message names what.
    """
    table = open_table(into)
    form = form_of(table, student_column)
    people = people_of(table, form)
    at = _column(table, form, column)
    points, most, result = _points(grades, people)
    factor = _factor(table, form, at, most, scale)
    by_line = {one.line: one.student for one in people}
    rows, kept = [], []
    for line, row in table.rows:
        student = by_line.get(line)
        if student in points:
            row = [*row, *[""] * (len(table.names) - len(row))]
            old, new = row[at].strip(), number(round(points[student] * factor, 2))
            if old in DECIDED:
                result.notes.append(f"{plain(student, 100)}: {old} stays in {table.names[at]!r}.")
            elif old in EMPTY or _same(old, new) or force:
                row[at] = new
                result.filled.append(student)
            else:
                kept.append(f"{table.path}, line {line}: expected no grade for {student!r} yet, got {old} (new: {new})")
        rows.append(row)
    if kept:
        raise Trouble("\n".join([*kept, "--force replaces these grades"]))
    result.data, changed = _written(table, [table.head, *rows])
    if changed:
        result.notes.append(
            f"{_many(changed, 'cell')} that a spreadsheet could take for a formula: now with ' in front."
        )
    return result


def _points(path: Path | str, people: Sequence[Person]) -> tuple[dict[str, float], float, Filled]:
    """Points by students of the table, the most there are, and what to say of the others."""
    roll, known = Roll([one.student for one in people]), Class(people)
    given: dict[str, float] = {}
    whose: dict[str, str] = {}
    open_, empty, wrong, most = [], [], [], set()
    result = Filled(b"")
    for line, row in read_table(path, ABOUT):
        name, where = row["student"], f"{path}, line {line}"
        if not row["points"].strip():
            empty.append(name)
            continue
        try:
            points, out_of = float(row["points"]), float(row["out of"])
            if not (0 <= points < 1e6 and 0 <= out_of < 1e6):
                raise ValueError
        except ValueError:
            said = f"{row['points']!r} out of {row['out of']!r}"
            raise Trouble(f"{where}: expected points as toytf grade writes them, got {said}") from None
        most.add(out_of)
        student = roll(name)
        fit = [student] if student is not None else known.students(name)
        if len(fit) > 1:
            wrong.append(f"{where}: expected one student of the table, got {' and '.join(map(repr, fit))}")
        elif not fit:
            result.left.append(name)
        elif fit[0] in given:
            wrong.append(f"{where}: expected each student once, got {name!r} after {whose[fit[0]]!r}")
        else:
            given[fit[0]], whose[fit[0]] = points, name
            if any(not cell.strip() for key, cell in row.items() if key not in ABOUT):
                open_.append(name)
    if wrong:
        raise Trouble("\n".join(wrong))
    if len(most) > 1:
        raise Trouble(f"{path}: expected the same 'out of' for everybody, got {', '.join(map(number, sorted(most)))}")
    if open_:
        result.notes.append(f"{_many(len(open_), 'student')} with answers that nobody has read: points may still grow.")
    if empty:
        result.notes.append(f"no points, so nothing was filled in, for {', '.join(map(repr, empty))}.")
    return given, next(iter(most), 0.0), result


def _column(table: Table, form: Form, column: str | None) -> int:
    """Where the grades go."""
    got = columns_said(table.names)
    if column is not None:
        if table.names.count(column.strip()) != 1:
            raise Trouble(f"--column: expected one column of {table.path}, got {column!r}; there are {got}")
        return table.names.index(column.strip())
    found = [form.grade] if form.grade in table.names else []
    if form.system == "canvas":
        found = [name for name in table.names if re.search(r" \(\d+\)\Z", name)]
    if len(found) != 1:
        raise Trouble(f"--column: expected the column of {table.path} for the grades, got none; there are {got}")
    return table.names.index(found[0])


def _factor(table: Table, form: Form, at: int, most: float, scale: bool) -> float:
    """By what points are multiplied: 1, or with `scale` whatever makes the most of the table of ours."""
    stated = {row.get(form.most, "").strip() for _, row in table.by_name()} if form.most else set()
    if form.system == "canvas":
        stated = {row[at].strip() for _, row in table.rows if at < len(row) and "Points Possible" in row[0]}
    for said in sorted(stated - {"", "-"}):
        try:
            theirs = float(said.replace(",", "."))
        except ValueError:
            continue  # "(read only)", or a scale of words
        if theirs == most or not most:
            continue
        if scale and len(stated - {"", "-"}) == 1:
            return theirs / most
        where = f"{table.path}, {form.most or 'Points Possible'}"
        raise Trouble(
            f"{where}: expected {number(most)} points as in the grades, got {said}. --scale turns them into these"
        )
    return 1.0


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'s'[: count != 1]}"


def _same(old: str, new: str) -> bool:
    try:
        return float(old.replace(",", ".")) == float(new)
    except ValueError:
        return False


def _is_formula(cell: str) -> bool:
    """Whether a spreadsheet could take a cell for a formula; numbers and a lone "-" are none."""
    return bool(STARTS.match(cell)) and not cell.startswith("'") and not NO_FORMULA.fullmatch(cell)


def _written(table: Table, rows: list[list[str]]) -> tuple[bytes, int]:
    """The file, and how many of its cells had to be made harmless."""
    safe = [[f"'{cell}" if _is_formula(cell) else cell for cell in row] for row in rows]
    file = io.StringIO()
    csv.writer(file, delimiter=table.separator, lineterminator=table.newline).writerows(safe)
    changed = sum(_is_formula(cell) for row in rows for cell in row)
    return file.getvalue().encode("utf-8-sig" if table.mark else "utf-8"), changed


# ---------------------------------------------------------------- the command

EXAMPLES = (
    'toytf export week3/grades.csv --into gradebook.csv --column "Week 3 (4711)" --out upload.csv',
    "toytf export week3/grades.csv --into worksheet.csv --out upload.csv",
)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Fill grades into a table that Canvas, Moodle or Gradescope exported, or into one of your own with a column "
        "student, so that it can be imported there."
    )
    parser.epilog = "Exit status: 0 done, 1 done but for students who are not in the table, 2 refused."
    parser.add_argument("grades", type=Path, help="grades.csv, written by toytf grade")
    parser.add_argument("--into", type=Path, required=True, metavar="CSV", help="the system's table; it is not changed")
    parser.add_argument(
        "--column", metavar="NAME", help="for the grades (default: Grade in Moodle, the only assignment in Canvas)"
    )
    parser.add_argument("--student-column", metavar="NAME", help="with the students' ids, if it is another one")
    parser.add_argument("--out", type=Path, required=True, metavar="CSV", help="the table to write")
    parser.add_argument("--scale", action="store_true", help="turn points into those that the table has at most")
    parser.add_argument("--force", action="store_true", help="replace other grades in the table, and the file of --out")


def run(options) -> int:
    out = place_for("--out", options.out)
    if out.exists() and out.resolve() in (options.into.resolve(), options.grades.resolve()):
        raise Trouble(f"--out: expected another file than those that are read, got {options.out}")
    how = {"student_column": options.student_column, "scale": options.scale, "force": options.force}
    result = fill(options.grades, options.into, options.column, **how)
    if out.exists() and not options.force and out.read_bytes() != result.data:
        raise Trouble(f"--out: {options.out} is there and holds something else; --force replaces it")
    write_whole(out, result.data)
    print(f"{options.out}: grades of {_many(len(result.filled), 'student')}")
    for note in result.notes:
        print(f"note: {note}", file=sys.stderr)
    if result.left:
        names = ", ".join(map(repr, result.left))
        print(f"error: not in {options.into}: {names}", file=sys.stderr)
    return 1 if result.left else 0
