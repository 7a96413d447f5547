"""Class lists and downloads of Canvas and Moodle.

A class list is a table with a column `student`, Canvas's gradebook, or Moodle's grading worksheet or participants.
What students handed in has their names, in a form of the system's own:

- Canvas, a file for each: ``abtanna_1001_5551_week3.ipynb``, with ``_LATE`` behind the name if it came late.
  1001 is the student's ID in the gradebook, 5551 the file's. Handed in again, it is ``week3-1.ipynb``, with a
  larger number.
- Moodle, a folder for each: ``Anna Abt_1001_assignsubmission_file``. 1001 is in the grading worksheet, as
  "Participant 1001".

The forms were read in November 2026 in the sources of both systems (Canvas: ``gradebook_exporter.rb``,
``content_zipper.rb``; Moodle: ``gradingtable.php``, ``downloader.php``).
"""

import argparse
import csv
import dataclasses
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from toytf_classroom import ClassroomError
from toytf_classroom.plain_text import MOODLE, as_file, composed, plain
from toytf_classroom.submission import Found

CANVAS = re.compile(r"(?P<name>.*?)(?P<late>_LATE)?_(?P<number>\d+)_(?P<file>\d+)_(?P<rest>.+)", re.DOTALL)
COPY = re.compile(r"( ?\(\d+\)|-Copy\d+)$")  # what a browser or Jupyter writes behind the name of a copy
FORMS = {  # the columns by which a list is known
    "own": ("student",),
    "canvas": ("Student", "ID", "Section"),
    "worksheet": ("Identifier", "Full name", "Grade"),
    "participants": ("First name", "Last name"),
}
KNOWN = "Canvas's gradebook (Student, ID, Section), Moodle's worksheet (Identifier, Full name, Grade) or participants"


# ---------------------------------------------------------------- tables


@dataclass(frozen=True)
class Table:
    """A table as it stands in its file: the columns, and each row's line and cells."""

    path: Path
    names: list[str]
    rows: list[tuple[int, list[str]]]
    separator: str = ","

    def by_name(self) -> list[tuple[int, dict[str, str]]]:
        """The rows, their cells by the names of the columns; what a short row lacks is empty."""
        width = len(self.names)
        return [(line, dict(zip(self.names, [*row, *[""] * width], strict=False))) for line, row in self.rows]

    def column(self, name: str) -> int:
        """Where a column stands that the table has to have once."""
        if self.names.count(name) != 1:
            raise ClassroomError(f"{self.path}, line 1: expected one column {name!r}, got {self.columns}")
        return self.names.index(name)

    @property
    def columns(self) -> str:
        return ascii(", ".join(self.names))[1:-1][:200] or "none"


def open_table(path: Path) -> Table:
    """Read a table: CSV in UTF-8, with commas or semicolons; `ClassroomError` names the line that is wrong."""
    try:
        content = Path(path).read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ClassroomError(
            f"{path}, line {line}: expected UTF-8, got byte {error.object[error.start]:#04x}. "
            'In Excel save the table as "CSV UTF-8"'
        ) from None
    bare = re.sub(r'"[^"]*"', "", content.partition("\n")[0])  # a quoted name may hold any sign
    separator = ";" if ";" in bare and "," not in bare else ","
    reader = csv.reader(io.StringIO(content, newline=""), delimiter=separator, strict=True)
    try:
        head = [name.strip() for name in next(reader, [])]
        rows = [(reader.line_num, row) for row in reader]
    except csv.Error as error:
        raise ClassroomError(f"{path}, line {reader.line_num}: expected CSV, got ({error})") from None
    while rows and not rows[-1][1]:
        rows.pop()
    for line, row in rows:
        if any(cell.strip() for cell in row[len(head) :]):
            raise ClassroomError(
                f"{path}, line {line}: expected at most {len(head)} cell{'s'[: len(head) != 1]} as in line 1, got "
                f'{len(row)}: put a name that holds a comma into quotation marks: "Doe, Jo"'
            )
    return Table(path, head, rows, separator)


def read_table(path: Path, columns: Sequence[str]) -> list[tuple[int, dict[str, str]]]:
    """The rows of a table that has each of these columns once."""
    table = open_table(path)
    for column in columns:
        table.column(column)
    return table.by_name()


def decimal(text: str) -> float | None:
    """A number with a point or a comma before its decimals; None if it is none."""
    try:
        return float(text.strip().replace(",", "."))
    except ValueError:
        return None


# ---------------------------------------------------------------- class lists


@dataclass(frozen=True)
class Person:
    """A row of a class list."""

    student: str  # the id
    number: str = ""  # the system's
    names: tuple[str, ...] = ()  # the ways to write the name
    line: int = 0


def arguments(parser: argparse._ActionsContainer, who: str) -> None:
    """Add ``--class`` and ``--student-column``; `who` says whom the list is to name."""
    parser.add_argument(
        "--class", type=Path, dest="class_list", metavar="CSV",
        help=f"{who}: a table in UTF-8 with a column student, or a list of Canvas or Moodle",
    )  # fmt: skip
    parser.add_argument("--student-column", metavar="NAME", help="another column that holds the students' ids")


def read_class(path: Path, column: str | None) -> list[Person]:
    """Read a class list; `column` holds the ids, where the list has another form than those that are known.

    `ClassroomError` if the file is no such table, or rows are empty or twice there, also as the names of files: the
    message names each of these lines.
    """
    return people_of(open_table(path), column)


def people_of(table: Table, column: str | None) -> list[Person]:
    """The students of a table; `read_class` says what may be wrong."""
    form = form_of(table, column)
    ids = column or _own_column(table)
    people = [_person(form, row, line, ids) for line, row in table.by_name() if not _filler(form, row)]
    counts = Counter(one.student.casefold() for one in people)
    found: dict[str, Person] = {}
    wrong = []
    for one in people:
        twin, name = counts[one.student.casefold()] > 1, one.student
        student = f"{name} ({one.number})" if twin and one.number else name
        file = as_file(student).casefold()
        if not student:
            wrong.append(f"{table.path}, line {one.line}: student: expected at least one character, got none")
        elif file in found:
            again = f"got {student!r} again (a sign that no file has counts as _)"
            wrong.append(f"{table.path}, line {one.line}: expected each student once, {again}")
        found[file] = dataclasses.replace(one, student=student)
    if wrong or not found:
        raise ClassroomError("\n".join(wrong) or f"{table.path}: expected at least one student, got none")
    return [*found.values()]


def form_of(table: Table, column: str | None) -> str:
    """In which of `FORMS` a table is; a column that is named makes it our own."""
    form = "own" if column else next((name for name, cs in FORMS.items() if {*cs} <= {*table.names}), None)
    if form is None and _own_column(table) in table.names:
        form = "own"
    if form is None:
        raise ClassroomError(
            f"{table.path}, line 1: expected one column 'student', or {KNOWN}, got {table.columns}. "
            "In another list, name the column of the students (--student-column)"
        )
    for name in [column or _own_column(table)] if form == "own" else FORMS[form]:
        table.column(name)
    return form


def _own_column(table: Table) -> str:
    """The column of the ids in a list of one's own: student, or Student."""
    return next((name for name in table.names if name.lower() == "student"), "student")


def _person(form: str, row: dict[str, str], line: int, column: str) -> Person:
    number = ""
    if form == "canvas":
        last, _, first = row["Student"].partition(",")
        names, number = [row["Student"], f"{first} {last}"], row["ID"].strip()
    elif form == "worksheet":
        names, number = [row["Full name"]], re.search(r"\d*\Z", row["Identifier"].strip()).group()
    elif form == "own":
        names = [row[column]]
    else:
        first, last = row["First name"].strip(), row["Last name"].strip()
        names = [f"{first} {last}", f"{last} {first}"]
    names = [composed(name) for name in names]
    return Person(names[0], number, tuple(names), line)


def _filler(form: str, row: dict[str, str]) -> bool:
    """Whether a row of Canvas's gradebook is about the assignments, or the course's made-up "Test Student"."""
    first = row.get("Student", "").strip()
    return form == "canvas" and (not row["ID"].strip() or "Points Possible" in first or first == "Student, Test")


# ---------------------------------------------------------------- whose a submission is


def matched(found: Sequence[Found], people: Sequence[Person]) -> tuple[list[Found], list[str], dict[str, str]]:
    """Give what was handed in the ids of a class list; what fits nobody keeps its name.

    Besides: notes for the teacher, and from students to the folders by which Moodle finds them again. `ClassroomError`
    names both where two students fit.
    """
    ours, notes, handed_in, groups = [], [], {}, {}
    for one in found:
        fits = students_of(one.student, people)
        if len(fits) > 1:
            both = " and ".join(map(repr, fits))
            raise ClassroomError(f"{plain(one.student, 100)}: expected one student of the class list, got {both}")
        groups.setdefault(fits[0] if fits else one.student, []).append(one)
    for student, group in sorted(groups.items()):
        chosen = _chosen(student, group, notes)
        if MOODLE.fullmatch(chosen.student):
            handed_in[student] = chosen.student
        late = bool((canvas := CANVAS.fullmatch(chosen.student)) and canvas["late"])
        if late:
            notes.append(f"{plain(student, 100)}: handed in late, says the name of the file.")
        ours.append(dataclasses.replace(chosen, student=student, late=late))
    return ours, notes, handed_in


def students_of(name: str, people: Sequence[Person]) -> list[str]:
    """The students whom a file or a folder of this name means: one, none, or several that fit.

    >>> two = [Person("Anna Abt", "1001", ("Anna Abt",)), Person("Bo", "", ("Bo",))]
    >>> students_of("Anna Abt_1001_assignsubmission_file_", two), students_of("bo_7_8_x", two), students_of("cem", two)
    (['Anna Abt'], ['Bo'], [])
    """
    name = composed(name)
    if same := [one.student for one in people if name in (one.student, as_file(one.student))]:
        return same
    form = MOODLE.fullmatch(name) or CANVAS.fullmatch(name)
    if form is None:
        bare = COPY.sub("", name)
        return students_of(bare, people) if bare != name else []
    by_name = [one for one in people if _letters(form["name"]) in map(_letters, one.names)]
    by_number = [one for one in people if one.number == form["number"]]
    if not by_number:  # somebody of this name with another number is somebody else
        return [one.student for one in by_name if not one.number]
    agree = [one for one in by_number if one in by_name]
    return [one.student for one in agree or [*by_number, *by_name]]


def _letters(name: str) -> str:
    """What is left of a name where a system writes it into the name of a file."""
    return re.sub(r"[\W_]", "", name).lower()


def _chosen(student: str, group: list[Found], notes: list[str]) -> Found:
    """Which of the things that a student handed in counts: with Canvas the newest, else the only one."""
    notebooks = [one for one in group if one.path is not None] or group
    if len(notebooks) == 1:
        return notebooks[0]
    names = ", ".join(plain(one.student, 100) for one in notebooks)
    again = [CANVAS.fullmatch(one.student) for one in notebooks]
    if all(again) and len({re.sub(r"-\d+\Z", "", one["rest"]) for one in again}) == 1:
        notes.append(f"{plain(student, 100)}: handed in {len(notebooks)} times; the newest counts.")
        return max(zip(again, notebooks, strict=True), key=lambda pair: int(pair[0]["file"]))[1]
    notes.append(f"{plain(student, 100)}: {len(notebooks)} notebooks were handed in, and none is graded: {names}.")
    return Found(student, None, doubt=f"Expected one notebook (.ipynb), got {len(notebooks)}: {names}.")
