"""The command ``toytf-classroom export``: grades for the place where a school keeps them.

    toytf-classroom export week3/grades.csv --into gradebook.csv --column "Week 3 (4711)" --out upload.csv

fills the points into a table that Canvas or Moodle exported. All rows and columns come back as they were; only the
cells of that column change, and cells that a spreadsheet could take for a formula get ' in front.
"""

from __future__ import annotations

import argparse
import csv
import io
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

from toytf._command import place_for, write_whole
from toytf_classroom import ClassroomError
from toytf_classroom.feedback_pages import number
from toytf_classroom.lms import Table, column_of, form_of, open_table, people_of, read_table, students_of
from toytf_classroom.names import Roll
from toytf_classroom.plain_text import is_formula

EMPTY = ("", "-")  # what systems write where there is no grade yet
DECIDED = ("EX", "N/A")  # Canvas: excused, not assigned. These are no grades, and stay


@dataclass
class Filled:
    """A table with grades in it: its bytes, who has a grade now, notes, and who is not in the table."""

    data: bytes = b""
    filled: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


def fill(
    grades: Path, into: Path, column: str | None = None, *, student_column: str | None = None, force: bool = False
) -> Filled:
    """Fill points into a table of Canvas or Moodle, or into one of your own.

    Parameters
    ----------
    grades : Path
        ``grades.csv``, as `toytf_classroom.gradebook` wrote it.
    into : Path
        The table; it is not changed.
    column : str, optional
        Which column holds the grades. A worksheet of Moodle has one, and so has Canvas's gradebook of one assignment.
    student_column : str, optional
        The column with the students' ids, where the table has another form than those that are known.
    force : bool
        Replace other grades that stand there.

    Raises
    ------
    ClassroomError
        If a file or a column is not as expected, two rows mean one student, the table says another maximum, or
        another grade stands there already: the message names what.
    """
    table, result = open_table(into), Filled()
    form, people = form_of(table, student_column), people_of(table, student_column)
    at = column_of(table, column.strip()) if column else _grade_column(table, form)
    points = _points(grades, people, result)
    _same_maximum(table, form, at, {out_of for _, out_of in points.values()})
    by_line, rows, kept = {one.line: one.student for one in people}, [], []
    for line, row in table.rows:
        student = by_line.get(line)
        if student in points:
            row = [*row, *[""] * (len(table.names) - len(row))]
            old, new = row[at].strip(), number(points[student][0])
            if old in DECIDED:
                result.notes.append(f"{student}: {old} stays.")
            elif old in EMPTY or _value(old) == float(new) or force:
                row[at] = new
                result.filled.append(student)
            else:
                kept.append(f"{into}, line {line}: expected no grade for {student!r} yet, got {old} (new: {new})")
        rows.append(row)
    if kept:
        raise ClassroomError("\n".join([*kept, "--force replaces these grades"]))
    file = io.StringIO()
    safe = [[f"'{cell}" if is_formula(cell) else cell for cell in row] for row in [table.names, *rows]]
    csv.writer(file, delimiter=table.separator, lineterminator="\r\n").writerows(safe)
    result.data = file.getvalue().encode()
    return result


def _points(path: Path, people, result: Filled) -> dict[str, tuple[float, float]]:
    """Points and their maximum, by students of the table."""
    roll, given = Roll([one.student for one in people]), {}
    for line, row in read_table(path, ["student", "points", "out of", "remark"]):
        name = row["student"]
        if not row["points"].strip():
            result.notes.append(f"{name!r} has no points, so nothing was filled in.")
            continue
        points, out_of = _value(row["points"]), _value(row["out of"])
        if points is None or out_of is None:
            raise ClassroomError(f"{path}, line {line}: expected points as they were written, got {row['points']!r}")
        student = roll(name)
        fits = students_of(name, people) if student is None else [student]
        if len(fits) > 1 or any(one in given for one in fits):
            raise ClassroomError(f"{path}, line {line}: expected one student of the table, and once, got {name!r}")
        if not fits:
            result.left.append(name)
            continue
        given[fits[0]] = points, out_of
        if "to be read" in row["remark"]:
            result.notes.append(f"{name!r} has answers that nobody has read: points may still grow.")
    return given


def _grade_column(table: Table, form: str) -> int:
    found = [i for i, name in enumerate(table.names) if re.search(r" \(\d+\)\Z", name)] if form == "canvas" else []
    if form == "worksheet":
        found = [table.names.index("Grade")]
    if len(found) != 1:
        raise ClassroomError(f"--column: expected the column of {table.path} for the grades, got none")
    return found[0]


def _same_maximum(table: Table, form: str, at: int, ours: set[float]) -> None:
    """Refuse a table that states another maximum than the grades have."""
    stated = {row.get("Maximum Grade", "") for _, row in table.by_name()}
    if form == "canvas":
        stated = {row[at] for _, row in table.rows if at < len(row) and "Points Possible" in row[0]}
    for theirs in {_value(one) for one in stated} - {None}:
        if ours and ours != {theirs}:
            got = ", ".join(map(number, sorted(ours)))
            raise ClassroomError(f"{table.path}: expected grades out of {number(theirs)}, as it says, got {got}")


def _value(text: str) -> float | None:
    try:
        return float(text.strip().replace(",", "."))
    except ValueError:
        return None


# ---------------------------------------------------------------- the command

EXAMPLES = (
    'toytf-classroom export week3/grades.csv --into gradebook.csv --column "Week 3 (4711)" --out upload.csv',
    "toytf-classroom export week3/grades.csv --into worksheet.csv --out upload.csv",
)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Fill grades into a table that Canvas or Moodle exported, or into one of your own with a column student, so "
        "that it can be imported there."
    )
    parser.epilog = "Exit status: 0 done, 1 done but for students who are not in the table, 2 refused."
    parser.add_argument("grades", type=Path, help="grades.csv, written by toytf-classroom grade")
    parser.add_argument("--into", type=Path, required=True, metavar="CSV", help="the system's table; it is not changed")
    parser.add_argument(
        "--column", metavar="NAME", help="for the grades (default: Grade in Moodle, the only assignment in Canvas)"
    )
    parser.add_argument("--student-column", metavar="NAME", help="with the students' ids, if it is another one")
    parser.add_argument("--out", type=Path, required=True, metavar="CSV", help="the table to write")
    parser.add_argument("--force", action="store_true", help="replace other grades in the table, and the file of --out")


def run(options) -> int:
    out = place_for("--out", options.out)
    if out.exists() and (not options.force or out.resolve() in (options.into.resolve(), options.grades.resolve())):
        raise ClassroomError(f"--out: expected a new file, got {out}; --force replaces it, if it is none that is read")
    result = fill(
        options.grades, options.into, options.column, student_column=options.student_column, force=options.force
    )
    write_whole(out, result.data)
    print(f"{out}: grades of {len(result.filled)} student{'s'[: len(result.filled) != 1]}")
    for note in result.notes:
        print(f"note: {note}", file=sys.stderr)
    if result.left:
        print(f"error: not in {options.into}: {', '.join(map(repr, result.left))}", file=sys.stderr)
    return 1 if result.left else 0
