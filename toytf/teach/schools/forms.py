"""The forms of a class list: our own, and those of Canvas, Moodle and Gradescope, known by their columns.

A student's id is the name, because that is what stands on sheets and in tables of grades. Where two have the same
name, what tells them apart follows in brackets.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from toytf.teach.names import composed, same_writing

STUDENT = "student"
Row = Mapping[str, str]
Names = Callable[[Row], tuple[str, ...]]


@dataclass(frozen=True)
class Person:
    """One student of a class list.

    Parameters
    ----------
    student : str
        The id under which grades are kept.
    names : tuple of str
        How the name may be written in what was handed in.
    keys : tuple of str
        What else is this student's alone: an email address, a login, a number.
    number, system : str
        The number that a system writes into names of downloaded files, and which system; "" if the list has none.
    line : int
        Where the student stands in the list.
    """

    student: str
    names: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    number: str = ""
    system: str = ""
    line: int = 0


@dataclass(frozen=True)
class Form:
    """A form of a class list.

    Parameters
    ----------
    system : str
        Whose: "canvas", "moodle", "gradescope", or "" for our own.
    title : str
        What a person calls it.
    needs : tuple of tuple of str
        Columns by which it is known: one of each group at least.
    names : callable
        From a row to the ways in which the name may be written; the first is the student's id.
    telling : tuple of str
        Columns whose cells are one student's alone, the best first.
    number : str
        The column with the number that stands in names of downloaded files.
    passed : callable
        Whether a row is no student's.
    grade, most : str
        The column of grades and that of the most points, where the form has them.
    """

    system: str
    title: str
    needs: tuple[tuple[str, ...], ...]
    names: Names
    telling: tuple[str, ...] = ()
    number: str = ""
    passed: Callable[[Row], bool] = lambda row: False
    grade: str = ""
    most: str = ""

    def fits(self, columns: Sequence[str]) -> bool:
        return all(any(name in columns for name in group) for group in self.needs)

    @property
    def chosen(self) -> bool:
        """Whether the ids stand in one column, as somebody chose them."""
        return len(self.needs) == 1

    def by(self, column: str) -> Form:
        """The same form with another column for the student's id."""

        def names(row: Row) -> tuple[str, ...]:
            return (row.get(column, "").strip(), *self.names(row))

        telling = tuple(one for one in self.telling if one != column)
        return dataclasses.replace(self, needs=((column,),), names=names, telling=telling)

    def person(self, row: Row, line: int) -> Person:
        """The student of a row."""
        spelled = composed if self.system else str  # in our own list an id is as it stands there
        names = tuple(dict.fromkeys(spelled(name) for name in self.names(row) if name))
        number = row.get(self.number, "").strip()
        if self.system == "moodle":  # "Participant 1001"
            number = "".join(re.findall(r"\d+\Z", number))
        keys = tuple(composed(row[c]).strip() for c in self.telling if row.get(c, "").strip())
        return Person(next(iter(names), ""), names, keys, number, self.system, line)


# ---------------------------------------------------------------- the forms


def _alone(*columns: str) -> Names:
    """The name in the first of these columns that is filled."""
    return lambda row: next(((cell,) for cell in (row.get(c, "").strip() for c in columns) if cell), ())


def _pair(firsts: Sequence[str], lasts: Sequence[str]) -> Names:
    """First name and last name, and the other way round: which of them Moodle writes first is a site's setting."""

    def names(row: Row) -> tuple[str, ...]:
        parts = ["".join(_alone(*columns)(row)) for columns in (firsts, lasts)]
        return tuple(" ".join(filter(None, way)) for way in (parts, parts[::-1]))

    return names


def _canvas(row: Row) -> tuple[str, ...]:
    """Abt, Anna; also Anna Abt."""
    whole = row.get("Student", "") or ", ".join(row.get(part, "").strip() for part in ("LastName", "FirstName"))
    last, comma, first = whole.strip().strip(",").partition(",")
    return (f"{last.strip()}, {first.strip()}", f"{first.strip()} {last.strip()}") if comma else (last.strip(),)


def _canvas_filler(row: Row) -> bool:
    """Whether a row of Canvas's gradebook is about the assignments, or the course's made-up "Test Student"."""
    cells = [cell.strip() for cell in row.values()]
    about = all(re.fullmatch(r"(Muted|Manual Posting.*)?", cell, re.IGNORECASE) for cell in cells)
    test = _canvas(row)[0] == "Student, Test" and not row.get("SIS User ID", "").strip()
    return about or test or "Points Possible" in cells[0]


def _gradescope(row: Row) -> tuple[str, ...]:
    return tuple(filter(None, [*_pair(["First Name"], ["Last Name"])(row)[:1], *_alone("Name")(row)]))


OWN = Form("", f"our own ({STUDENT})", ((STUDENT,),), lambda row: (row.get(STUDENT, ""),))
FORMS = (
    OWN,
    Form(
        "canvas", "Canvas's gradebook (Student, ID, Section)",
        (("Student", "LastName"), ("Student", "FirstName"), ("ID",), ("Section",)), _canvas,
        ("ID", "SIS User ID", "SIS Login ID", "Integration ID"), "ID", _canvas_filler,
    ),
    Form(
        "moodle", "Moodle's grading worksheet (Identifier, Grade)",
        (("Identifier",), ("Grade",)), _alone("Full name", "Identifier"),
        ("Email address", "ID number", "Username", "Identifier"), "Identifier", grade="Grade", most="Maximum Grade",
    ),
    Form(
        "moodle", "Moodle's participants or grades (First name, Last name)",
        (("First name",), ("Last name", "Surname")), _pair(["First name"], ["Last name", "Surname"]),
        ("Email address", "ID number", "Username"),
    ),
    Form(
        "gradescope", "Gradescope's roster or grades (Name, or First Name and Last Name; Email)",
        (("Name", "First Name"), ("Name", "Last Name"), ("Email",)), _gradescope,
        ("Email", "SID"), passed=lambda row: row.get("Role", "").strip() not in ("", "Student"),
        grade="Total Score", most="Max Points",
    ),
)  # fmt: skip
KNOWN = "; ".join(form.title for form in FORMS)


def recognised(columns: Sequence[str], student_column: str | None = None) -> Form | None:
    """The form of a list with these columns, by a column that the teacher names perhaps; None if none fits."""
    found = next((form for form in FORMS if form.fits(columns)), None)
    if student_column is None:
        return found
    return (found or OWN).by(student_column) if student_column in columns else None


def told_apart(people: Sequence[Person]) -> tuple[list[Person], list[str]]:
    """The same people, each with an id of its own; and what is wrong where two cannot be told apart.

    Examples
    --------
    >>> two = [Person("Anna Abt", keys=("a1@school.example",)), Person("Anna Abt", keys=("a2@school.example",))]
    >>> [one.student for one in told_apart(two)[0]]
    ['Anna Abt (a1@school.example)', 'Anna Abt (a2@school.example)']
    """
    groups: dict[str, list[Person]] = {}
    for one in people:
        groups.setdefault(same_writing(one.student).casefold(), []).append(one)
    found, wrong = [], []
    for one in people:
        group = groups[same_writing(one.student).casefold()]
        if len(group) == 1:
            found.append(one)
            continue
        ids = [f"{other.student} ({other.keys[0]})" if other.keys else "" for other in group]
        if not all(ids) or len({each.casefold() for each in ids}) < len(ids):
            if one is group[0]:
                lines = " and ".join(f"line {other.line}" for other in group)
                names = " and ".join(repr(other.student) for other in group)
                wrong.append(f"{lines}: expected students whom a number or an address tells apart, got {names}")
            continue
        found.append(dataclasses.replace(one, student=ids[group.index(one)]))
    return found, wrong


# ---------------------------------------------------------------- how systems write names


def squeezed(name: str) -> set[str]:
    """How Canvas writes a name into names of files: last name first, small letters, no other signs.

    Examples
    --------
    >>> sorted(squeezed("Abt, Anna")), squeezed("Müller, Zoë")
    (['abtanna'], {'müllerzoë'})
    """
    *rest, last = composed(name).split() or [""]
    ways = [name] if "," in name else [name, " ".join([last, *rest])]
    return {re.sub(r"\W", "", composed(way).lower()) for way in ways}


def cleaned(name: str) -> str:
    """How Moodle writes a name into names of folders: a blank for an underscore, no signs that a file cannot have.

    Examples
    --------
    >>> cleaned("Sinéad O'Brien"), cleaned("A_B  C")
    ('Sinéad OBrien', 'A B C')
    """
    return " ".join(re.sub(r"[\x00-\x1f\x7f&<>\"`|':\\/]", "", composed(name)).replace("_", " ").split())


def columns_said(columns: Sequence[str]) -> str:
    """The columns of a table on one line, none of whose signs steers a terminal."""
    listed = ascii(", ".join(columns))[1:-1] or "none"
    return listed if len(listed) <= 200 else f"{listed[:200]} ... (cut)"
