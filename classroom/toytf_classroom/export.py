"""The command ``toytf-classroom export``: grades for the place where a school keeps them.

All rows and columns of a table come back as they were; only the cells of the column for the grades change, and cells
that a spreadsheet could take for a formula get ' in front.
"""

import argparse
import csv
import io
import sys
from dataclasses import dataclass, field
from pathlib import Path

from toytf._command import place_for, write_whole
from toytf_classroom import ClassroomError
from toytf_classroom.feedback_pages import number
from toytf_classroom.gradebook import looks_wrong
from toytf_classroom.lms import Person, Table, decimal, form_of, open_table, people_of, read_table, students_of
from toytf_classroom.plain_text import Roll, is_formula

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
    """Fill the points of a ``grades.csv`` into a table of Canvas or Moodle, or into one of your own; it is not changed.

    `column` holds the grades; a worksheet of Moodle has one. `student_column` has the students' ids, where the table
    has another form than those that are known.

    `ClassroomError` names what is wrong: a file or a column is not as expected, two rows mean one student, the table
    says another maximum, or another grade stands there already and `force` is not set.
    """
    table, result = open_table(into), Filled()
    form, people = form_of(table, student_column), people_of(table, student_column)
    if not (column or form == "worksheet"):
        raise ClassroomError(f"--column: expected the column of {into} for the grades, got none")
    at = table.column(column.strip() if column else "Grade")
    by_line = {one.line: one.student for one in people}
    points = _points(grades, people, result, _maximum(table, form, at))
    for line, row in table.rows:
        if (student := by_line.get(line)) not in points:
            continue
        row += [""] * (len(table.names) - len(row))
        old, new = row[at].strip(), points[student]
        if old in DECIDED:
            result.notes.append(f"{student}: {old} stays.")
        elif old in EMPTY or decimal(old) == new or force:
            row[at] = number(new)
            result.filled.append(student)
        else:
            raise ClassroomError(
                f"{into}, line {line}: expected no grade for {student!r} yet, got {old} (new: {number(new)}); "
                "--force replaces such grades"
            )
    file = io.StringIO()
    rows = [table.names, *(row for _, row in table.rows)]
    safe = [[f"'{cell}" if is_formula(cell) else cell for cell in row] for row in rows]
    csv.writer(file, delimiter=table.separator, lineterminator="\r\n").writerows(safe)
    result.data = file.getvalue().encode()
    return result


def stop_if_wrong(grades: Path) -> None:
    """Refuse a table that as a whole looks wrong (`gradebook.looks_wrong`)."""
    if wrong := looks_wrong(grades):
        said = "\n".join(f"  {one}" for one in wrong)
        go_on = "If it is as it should be, run the same command again with --anyway behind it."
        raise ClassroomError(f"{grades}: this table looks wrong, so nothing was written.\n{said}\n{go_on}")


def _points(path: Path, people: list[Person], result: Filled, maximum: float | None) -> dict[str, float]:
    """Points by students of the table."""
    roll, given = Roll([one.student for one in people]), {}
    for line, row in read_table(path, ["student", "points", "out of", "remark"]):
        name, where = row["student"], f"{path}, line {line}"
        if not row["points"].strip():
            result.notes.append(f"{name!r} has no points, so nothing was filled in.")
            continue
        points, out_of = decimal(row["points"]), decimal(row["out of"])
        if points is None or maximum not in (None, out_of):
            most = "" if maximum is None else f" out of {number(maximum)}, as the table says"
            raise ClassroomError(f"{where}: expected points{most}, got {row['points']!r} out of {row['out of']}")
        student = roll(name)
        fits = students_of(name, people) if student is None else [student]
        if len(fits) > 1 or any(one in given for one in fits):
            raise ClassroomError(f"{where}: expected one student of the table, and once, got {name!r}")
        given |= dict.fromkeys(fits, points)
        result.left += [] if fits else [name]
        if fits and "to be read" in row["remark"]:
            result.notes.append(f"{name!r} has answers that nobody has read: points may still grow.")
    return given


def _maximum(table: Table, form: str, at: int) -> float | None:
    """The most points that a table states, if it does."""
    stated = [row.get("Maximum Grade", "") for _, row in table.by_name()]
    if form == "canvas":
        stated = [row[at] for _, row in table.rows if at < len(row) and "Points Possible" in row[0]]
    return next(filter(None, map(decimal, stated)), None)


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
    parser.add_argument("--column", metavar="NAME", help="for the grades (default: Grade, in Moodle's worksheet)")
    parser.add_argument("--student-column", metavar="NAME", help="with the students' ids, if it is another one")
    parser.add_argument("--out", type=Path, required=True, metavar="CSV", help="the table to write")
    parser.add_argument("--force", action="store_true", help="replace other grades in the table, and the file of --out")
    parser.add_argument("--anyway", action="store_true", help="also if the grades as a whole look wrong")


def run(options) -> int:
    out = place_for("--out", options.out)
    if out.exists() and (not options.force or out.resolve() in (options.into.resolve(), options.grades.resolve())):
        raise ClassroomError(f"--out: expected a new file, got {out}; --force replaces it, if it is none that is read")
    if not options.anyway:
        stop_if_wrong(options.grades)
    how = {"student_column": options.student_column, "force": options.force}
    result = fill(options.grades, options.into, options.column, **how)
    write_whole(out, result.data)
    print(f"{out}: grades of {len(result.filled)} student{'s'[: len(result.filled) != 1]}")
    for note in result.notes:
        print(f"note: {note}", file=sys.stderr)
    if result.left:
        print(f"error: not in {options.into}: {', '.join(map(repr, result.left))}", file=sys.stderr)
    return 1 if result.left else 0
