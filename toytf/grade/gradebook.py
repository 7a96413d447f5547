"""The gradebook: a receipt for each submission, feedback pages, and grades.csv, each written whole or not at all.

Receipts are the memory: a run that was killed goes on with those that are there, and everything else
is made from receipts alone. So a second run, and a run after any number of kills, writes the same bytes.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import csv
import dataclasses
import fcntl
import hashlib
import io
import secrets
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from tqdm import tqdm

from toytf._command import no_bar, write_whole
from toytf.grade import feedback, grading, submission
from toytf.grade.grading import Assignment, Receipt
from toytf.grade.sandbox import Limits, SandboxError, Stopped, settings
from toytf.grade.submission import Found, plain, same_writing

FORMULA = ("=", "+", "-", "@", "\t", "\r")


class Trouble(Exception):
    """Something that the teacher has to put right before anything is graded."""


# ---------------------------------------------------------------- files


@contextlib.contextmanager
def locked(folder: Path):
    """Hold the folder against a second grader; the lock goes with the process, however that ends."""
    with open(folder / ".lock", "a") as file:
        for left in reversed(range(20)):  # a process that a killed grader was starting may hold it for a moment more
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError:
                if not left:
                    raise Trouble(f"{folder}: another grader is at work in this folder.") from None
                time.sleep(0.1)
        yield


def read_key(folder: Path) -> bytes:
    """Read the secret from which hidden inputs come; it is made at the first run."""
    path = folder / "key"
    if not path.exists():
        write_whole(path, secrets.token_hex(32).encode() + b"\n")
        path.chmod(0o600)
    key = path.read_bytes().strip()
    if len(key) < 32:
        raise Trouble(f"{path}: expected a key of at least 32 characters. Delete the file and a new one is made.")
    return key


# ---------------------------------------------------------------- tables


def inert(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula.

    Examples
    --------
    >>> inert("=1+1"), inert("anna")
    ("'=1+1", 'anna')
    """
    cell = plain(cell)
    return f"'{cell}" if cell.lstrip(" ").startswith(FORMULA) else cell


def to_csv(rows: list[list[str]]) -> bytes:
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows([[inert(cell) for cell in row] for row in rows])
    return file.getvalue().encode("utf-8", "replace")


def read_csv(path: Path, columns: list[str]) -> list[dict[str, str]]:
    """Read a table that has these columns (and perhaps others), separated by commas or semicolons.

    Raises
    ------
    Trouble
        If the file cannot be read or a column is not there.
    """
    try:
        content = path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise Trouble(f"{path}: expected a table (CSV, UTF-8), got {error}") from None
    head = content.partition("\n")[0]
    rows = list(csv.DictReader(io.StringIO(content), delimiter=";" if ";" in head and "," not in head else ","))
    missing = [name for name in columns if name not in (rows[0] if rows else {})]
    if missing:
        raise Trouble(f"{path}: expected the columns {', '.join(columns)}, got {head.strip()!r}")
    return [{name: (row[name] or "").strip() for name in columns} for row in rows]


def read_class(path: Path) -> list[str]:
    """The students of a class list, in its column ``student``."""
    students = [same_writing(row["student"]) for row in read_csv(path, ["student"])]
    quoted = [student[:1] == "'" and student[1:].startswith(FORMULA) for student in students]  # by `inert`
    return [student[1:] if was else student for student, was in zip(students, quoted, strict=True) if student]


def read_manual(path: Path, students: list[str], assignment: Assignment) -> dict[tuple[str, str], tuple[float, str]]:
    """Points that a person gave: (student, exercise) -> points and comment.

    Raises
    ------
    Trouble
        Naming the line that is not as expected.
    """
    known = {same_writing(inert(student)): student for student in students} | {s: s for s in students}
    exercises = {exercise.number: exercise for exercise in assignment.exercises}
    given = {}
    for line, row in enumerate(read_csv(path, ["student", "exercise", "points", "comment"]), start=2):
        if not row["points"]:
            continue  # not read yet
        where, student = f"{path}, line {line}", known.get(same_writing(row["student"]))
        if student is None:
            raise Trouble(f"{where}: student: expected one who handed in or is in the class, got {row['student']!r}")
        if row["exercise"] not in exercises:
            raise Trouble(f"{where}: exercise: expected one of {', '.join(exercises)}, got {row['exercise']!r}")
        most = exercises[row["exercise"]].points
        try:
            points = float(row["points"].replace(",", "."))
        except ValueError:
            points = -1.0
        if not 0 <= points <= most:
            raise Trouble(f"{where}: points: expected a number from 0 to {most:g}, got {row['points']!r}")
        if (student, row["exercise"]) in given:
            raise Trouble(f"{where}: {row['student']} has points for {row['exercise']} in an earlier line already")
        given[student, row["exercise"]] = (round(points, 2), row["comment"])
    return given


def with_manual(receipt: Receipt, given: dict[tuple[str, str], tuple[float, str]]) -> Receipt:
    """A receipt with the points of a person in place of, or after, those of the checkers."""
    results = []
    for result in receipt.results:
        if (receipt.student, result.number) in given:
            points, comment = given[receipt.student, result.number]
            said = (
                f"{result.number}: {points:g} points from your teacher."
                if points != 1
                else f"{result.number}: 1 point from your teacher."
            )
            details = [*([comment] if comment else []), *result.details]
            result = dataclasses.replace(result, points=points, headline=said, details=details)
        results.append(result)
    return dataclasses.replace(receipt, results=results)


def grades(receipts: list[Receipt], assignment: Assignment) -> bytes:
    """grades.csv: a line for each student, a column for each exercise; empty where a person has still to read."""
    rows = [["student", "points", "out of", *(e.number for e in assignment.exercises), "remark"]]
    for receipt in receipts:
        each = ["" if result.points is None else feedback.number(result.points) for result in receipt.results]
        whole = [feedback.number(receipt.points), feedback.number(assignment.points)]
        rows.append([receipt.student, *whole, *each, feedback.remark(receipt)])
    return to_csv(rows)


def still_to_read(receipts: list[Receipt]) -> bytes:
    """to_read.csv: what is left for a person, in the form that ``--manual`` reads."""
    rows = [["student", "exercise", "points", "comment"]]
    rows += [[r.student, result.number, "", ""] for r in receipts for result in r.results if result.points is None]
    return to_csv(rows)


# ---------------------------------------------------------------- the whole folder


@dataclass
class Summary:
    """What a run did: counts, and words for the teacher."""

    students: int = 0
    graded: int = 0  # anew
    reused: int = 0
    failed: list[str] = field(default_factory=list)  # not graded, by no fault of the student
    to_read: int = 0  # texts that a person has to read
    notes: list[str] = field(default_factory=list)


def grade_folder(
    submissions: Path,
    out: Path,
    assignment: Assignment,
    sandbox,
    *,
    class_list: Path | None = None,
    manual: Path | None = None,
    limits: Limits | None = None,
    jobs: int = 1,
    again: bool = False,
) -> Summary:
    """Grade all submissions of a folder and write `out` and the folder beside it.

    Parameters
    ----------
    submissions, out : Path
        A folder, and the CSV file to write.
    assignment : Assignment
    sandbox : Bubblewrap or Unprotected
    class_list : Path, optional
        CSV with a column student: who is expected.
    manual : Path, optional
        CSV with the columns student, exercise, points, comment.
    limits : Limits, optional
    jobs : int
        How many at a time.
    again : bool
        Grade also what was graded before.

    Raises
    ------
    Trouble
        If something is to be put right first; nothing is written then.
    """
    limits = limits or Limits()
    home = out.with_suffix("")
    if manual is not None and manual.exists() and manual.resolve() == (home / "to_read.csv").resolve():
        raise Trouble(f"{manual}: this file is written anew by each run. Copy it, and give the name of the copy.")
    there = submission.find(submissions)
    expected = read_class(class_list) if class_list is not None else []
    found = there.found + _missing(there.found, expected)
    students = sorted(one.student for one in found)
    names = submission.file_names(students)
    points = read_manual(manual, students, assignment) if manual is not None else {}
    for folder in (home, home / "receipts", home / "feedback"):
        folder.mkdir(parents=True, exist_ok=True)
    with locked(home):
        for folder in (home, home / "receipts", home / "feedback", out.parent):
            for left in folder.glob(".*.new"):  # of a run that was killed
                left.unlink()
        key = read_key(home)
        summary = Summary(students=len(students), notes=list(there.notes))
        if class_list is not None:
            unknown = sorted(one.student for one in there.found if one.student not in set(expected))
            summary.notes += [f"{plain(s, 100)}: handed in, but is not in the class list." for s in unknown]
        desk = _Desk(home, assignment, sandbox, limits, key, names, again, summary)
        receipts = desk.all(found, jobs)
        shown = [with_manual(receipts[student], points) for student in students if student in receipts]
        notes = summary.notes + summary.failed
        for receipt in shown:
            page = feedback.student_page(receipt, assignment)
            write_whole(home / "feedback" / f"{names[receipt.student]}.html", page)
        write_whole(home / "feedback" / "index.html", feedback.index_page(shown, assignment, names, notes))
        summary.to_read = sum(result.points is None for receipt in shown for result in receipt.results)
        write_whole(home / "to_read.csv", still_to_read(shown))
        if not summary.failed:
            write_whole(out, grades(shown, assignment))
        return summary


def _missing(found: list[Found], expected: list[str]) -> list[Found]:
    there = {one.student for one in found}
    return [Found(student, None, "no submission") for student in dict.fromkeys(expected) if student not in there]


class _Desk:
    """Hands submissions out to sandboxes and files the receipts."""

    def __init__(self, home, assignment, sandbox, limits, key, names, again, summary):
        self.home, self.assignment, self.sandbox, self.limits = home, assignment, sandbox, limits
        self.key, self.names, self.again, self.summary = key, names, again, summary
        self.about = {"versions": grading.versions(), "settings": settings(sandbox, limits)}
        self.stop = threading.Event()

    def all(self, found: list[Found], jobs: int) -> dict[str, Receipt]:
        receipts = {}
        pool = concurrent.futures.ThreadPoolExecutor(max_workers=max(1, jobs))
        try:
            tasks = {pool.submit(self.one, each): each for each in found}
            with tqdm(total=len(found), desc="graded", unit="", disable=no_bar()) as bar:
                for task in concurrent.futures.as_completed(tasks):
                    student = tasks[task].student
                    try:
                        receipts[student], new = task.result()
                        self.summary.graded += new
                        self.summary.reused += not new
                    except Stopped:
                        raise
                    except Exception as error:  # the others are graded all the same
                        said = str(error) if isinstance(error, SandboxError) else f"{type(error).__name__}: {error}"
                        what = f"{plain(student, 100)}: could not be graded, {plain(said, 300)}"
                        self.summary.failed.append(what)
                    bar.update()
        finally:
            self.stop.set()  # on Ctrl-C the sandboxes end at once
            pool.shutdown(wait=True, cancel_futures=True)
        self.summary.failed.sort()
        return receipts

    def one(self, found: Found) -> tuple[Receipt, bool]:
        """The receipt of one student, an old one if it still fits, and whether it is new."""
        if self.stop.is_set():
            raise Stopped
        path = self.home / "receipts" / f"{self.names[found.student]}.json"
        try:
            data = None if found.path is None else submission.read_bytes(found.path)
            reason = found.reason
        except submission.Unreadable as error:
            data, reason = None, str(error)
        if data is None:
            receipt = grading.nothing_to_grade(found.student, self.assignment, reason, **self.about)
            return receipt, write_whole(path, receipt.to_json())
        old = None if self.again else self.old(path, found.student, data)
        if old is not None:
            return old, False
        receipt = self.new(found.student, data)
        write_whole(path, receipt.to_json())
        return receipt, True

    def old(self, path: Path, student: str, data: bytes) -> Receipt | None:
        try:
            receipt = Receipt.from_json(path.read_bytes())
        except (OSError, ValueError):
            return None
        fits = (
            receipt.student == student
            and receipt.sha256 == hashlib.sha256(data).hexdigest()
            and receipt.assignment == self.assignment.sha256
            and receipt.versions == self.about["versions"]
            and receipt.settings == self.about["settings"]
        )
        return receipt if fits else None

    def new(self, student: str, data: bytes) -> Receipt:
        how = {"sandbox": self.sandbox, "key": self.key, "student": student, "limits": self.limits, "stop": self.stop}
        try:
            return grading.grade_one(data, self.assignment, **how)
        except SandboxError:  # the machine may have been short of something for a moment
            return grading.grade_one(data, self.assignment, **how)
