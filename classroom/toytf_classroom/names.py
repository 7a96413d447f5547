"""Names of students, and of their files."""

from __future__ import annotations

import collections
import hashlib
import re
import unicodedata

from toytf_classroom.plain_text import one_line, without_formula

_MOODLE = re.compile(r"(.+?)_\d+_assignsubmission_\w*\Z", re.DOTALL)
_HARMLESS = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.@+-]{0,63}\Z")


def composed(student: str) -> str:
    """One spelling for letters that files of macOS and others spell differently, é for example."""
    return unicodedata.normalize("NFC", student)


def same_writing(student: str) -> str:
    """What two names have in common that a person reads as one: letters as in `composed`, no blanks around them."""
    return composed(student).strip()


def person(student: str) -> str:
    """Whose submission it is: the name in front of what Moodle adds to a student's folder.

    Examples
    --------
    >>> person("Anna Abt_1001_assignsubmission_file"), person("anna_1")
    ('Anna Abt', 'anna_1')
    """
    moodle = _MOODLE.match(same_writing(student))
    return same_writing(moodle[1] if moodle else student)


def file_name(student: str) -> str:
    """A name for a student's files: the id itself if it is harmless, else what is left of it and a hash.

    Examples
    --------
    >>> file_name("anna.k"), file_name("../../etc/passwd")
    ('anna.k', 'etc-passwd~3754d6cb3a38e1185e5b382d5f3ef3f1')
    """
    if _HARMLESS.match(student) and student.lower() != "index":
        return student
    left = re.sub(r"[^A-Za-z0-9_]+", "-", student)[:40].strip("-")
    return f"{left}~{_hash(student)}"


def file_names(students: list[str]) -> dict[str, str]:
    """A file name for each student; no two are equal, not even where capital letters do not count."""
    names = {student: file_name(student) for student in students}
    counts = collections.Counter(name.lower() for name in names.values())
    return {s: f"{name}~{_hash(s)}" if counts[name.lower()] > 1 else name for s, name in names.items()}


def _hash(student: str) -> str:
    """Too long for anybody to find a second name with the same one."""
    return hashlib.sha256(student.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def folder_name(student: str, otherwise: str) -> str:
    """The student's own name where every system takes it for a folder's, else the other, which is harmless."""
    odd = set('/\\:*?"<>|') & set(student) or student != student.strip(" .") or not student.isprintable()
    return otherwise if odd or not student or len(student) > 100 else student


class Roll:
    """Finds the student whom a table means.

    By the name as we write it in tables, else as it is, else by what `same_writing` leaves of it, if
    that is one student's alone.

    Examples
    --------
    >>> roll = Roll(["anna", "=1", "'=1", " bob"])
    >>> roll("anna"), roll("'=1"), roll("''=1"), roll("bob"), roll("cem")
    ('anna', '=1', "'=1", ' bob', None)
    """

    def __init__(self, students: list[str]):
        self.in_tables = {without_formula(one_line(student)): student for student in students}
        self.known = set(students)
        self.alike: dict[str, list[str]] = {}
        for student in students:
            for name in {same_writing(student), same_writing(without_formula(one_line(student)))}:
                self.alike.setdefault(name, []).append(student)

    def __call__(self, name: str) -> str | None:
        if name in self.in_tables:
            return self.in_tables[name]
        if name in self.known:
            return name
        alike = self.alike.get(same_writing(name), [])
        return alike[0] if len(alike) == 1 else None
