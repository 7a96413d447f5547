"""Strangers' text as tables and pages may hold it, and their names, also as those of files."""

import collections
import csv
import hashlib
import io
import re
import unicodedata
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

    >>> plain("a\\x1b[31mb\\u202e")
    'a\ufffd[31mb\ufffd'
    """
    text = CONTROL.sub("\ufffd", text.replace("\r\n", "\n"))
    return text if len(text) <= most else text[:most] + " ... (cut)"


def without_formula(cell: str) -> str:
    """A cell in which no spreadsheet finds a formula, whatever sign it takes for the end of a cell.

    Two different cells stay different (but for control characters, which `one_line` takes care of).

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


# ---------------------------------------------------------------- names

MOODLE = re.compile(r"(?P<name>.+?)_(?P<number>\d+)_assignsubmission_\w*", re.DOTALL)
_HARMLESS = re.compile(r"[^\W_][\w.@+-]{0,39}")  # of 4 bytes each a file name holds 60


def composed(student: str) -> str:
    """One spelling of a name: é as macOS writes it in files and é as others do are one letter; no blanks around it."""
    return unicodedata.normalize("NFC", student).strip()


def as_file(student: str) -> str:
    """The name of a student's file: the id, with _ for signs that no file has.

    >>> as_file("O'Brien-Smith Jr."), as_file("Kim/Lee")
    ("O'Brien-Smith Jr.", 'Kim_Lee')
    """
    return re.sub(r'[/\\:*?"<>|]|^\.', "_", composed(student))


def person(student: str) -> str:
    """Whose submission it is: the name in front of what Moodle adds to a student's folder.

    >>> person("Anna Abt_1001_assignsubmission_file"), person("anna_1")
    ('Anna Abt', 'anna_1')
    """
    moodle = MOODLE.fullmatch(composed(student))
    return composed(moodle[1] if moodle else student)


def file_names(students: list[str]) -> dict[str, str]:
    """A file name for each student: the id if it is harmless, else what is left of it and a hash.

    Letters of every script are left. No two names are equal, not even where capital letters do not count.

    >>> file_names(["anna.k", "李雷", "../../etc/passwd"])
    {'anna.k': 'anna.k', '李雷': '李雷', '../../etc/passwd': 'etc-passwd~3754d6cb3a38e1185e5b382d5f3ef3f1'}
    """
    counts = collections.Counter(student.casefold() for student in students)
    names = {}
    for student in students:
        known = _HARMLESS.fullmatch(student) and student == composed(student)
        harmless = known and student.casefold() != "index" and counts[student.casefold()] == 1
        left = student if known else re.sub(r"\W+", "-", composed(student))[:40].strip("-")
        # Too long for anybody to find a second name with the same one.
        digest = hashlib.sha256(student.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        names[student] = student if harmless else f"{left}~{digest}"
    return names


def folder_name(student: str, otherwise: str) -> str:
    """The student's own name where every system takes it for a folder's, else the other, which is harmless."""
    odd = set('/\\:*?"<>|') & set(student) or student != student.strip(" .") or not student.isprintable()
    return otherwise if odd or not student or len(student) > 100 else student


class Roll:
    """Finds the student whom a table means: by the name as we write it in tables, else as it is.

    >>> roll = Roll(["anna", "=1", "'=1"])
    >>> roll("anna"), roll("'=1"), roll("''=1"), roll(" anna"), roll("cem")
    ('anna', '=1', "'=1", 'anna', None)
    """

    def __init__(self, students: list[str]):
        self.known = {student: student for student in students}
        self.known |= {without_formula(one_line(student)): student for student in students}

    def __call__(self, name: str) -> str | None:
        return self.known.get(name) or self.known.get(composed(name))
