"""Names of students, and of their files. One rule for each purpose:

- `file_names` for what the grader files: an id that is harmless stays as it is;
- `file_stem` for a worksheet: readable, in small letters, with a hash;
- `folder_name` for feedback to hand back: the name by which it was handed in, wherever a folder may have it;
- `person` for numbers of one's own: who it is, without what Moodle adds to the name of a folder.
"""

from __future__ import annotations

import collections
import hashlib
import re
import unicodedata

MOODLES = re.compile(r"(.+?)_\d+_assignsubmission_\w*\Z", re.DOTALL)
PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.@+-]{0,63}\Z")


def composed(student: str) -> str:
    """One spelling for letters that files of macOS and others spell differently, é for example."""
    return unicodedata.normalize("NFC", student)


def same_writing(student: str) -> str:
    """What two names have in common that a person reads as one: letters as in `composed`, no blanks around them."""
    return composed(student).strip()


def hashed(student: str) -> str:
    """A hash of a name, too long for anybody to find a second name with the same one."""
    return hashlib.sha256(student.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def file_name(student: str) -> str:
    """A name for a student's files: the id itself if it is harmless, else what is left of it and a hash.

    Examples
    --------
    >>> file_name("anna.k"), file_name("../../etc/passwd")
    ('anna.k', 'etc-passwd~3754d6cb3a38e1185e5b382d5f3ef3f1')
    """
    if PLAIN_NAME.match(student) and student.lower() != "index":
        return student
    left = re.sub(r"[^A-Za-z0-9_]+", "-", student)[:40].strip("-")
    return f"{left}~{hashed(student)}"


def file_names(students: list[str]) -> dict[str, str]:
    """A file name for each student; no two are equal, not even where capital letters do not count."""
    names = {student: file_name(student) for student in students}
    counts = collections.Counter(name.lower() for name in names.values())
    twice = {student for student, name in names.items() if counts[name.lower()] > 1}
    return {student: f"{name}~{hashed(student)}" if student in twice else name for student, name in names.items()}


def file_stem(student: str) -> str:
    """A name for a student's sheet that is safe on every system, and another for every id.

    Examples
    --------
    >>> file_stem("José Pérez")
    'jose-perez-a51ad572ac'
    >>> file_stem("../../x")[:2], file_stem("王")[:8]
    ('x-', 'student-')
    """
    student = same_writing(student)
    plain = unicodedata.normalize("NFKD", student).encode("ascii", "ignore").decode().lower()
    readable = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:30].rstrip("-") or "student"
    return f"{readable}-{hashlib.sha256(student.encode()).hexdigest()[:10]}"


def folder_name(student: str, otherwise: str) -> str:
    """The student's own name where every system takes it for a folder's, else the page's, which is harmless."""
    odd = set('/\\:*?"<>|') & set(student) or student != student.strip(" .") or not student.isprintable()
    return otherwise if odd or not student or len(student) > 100 else student


def person(student: str) -> str:
    """Whose submission it is: the name in front of what Moodle adds to a student's folder.

    Examples
    --------
    >>> person("Anna Abt_1001_assignsubmission_file"), person("anna_1")
    ('Anna Abt', 'anna_1')
    """
    moodles = MOODLES.match(same_writing(student))
    return same_writing(moodles[1] if moodles else student)
