"""The gradebook: a receipt for each submission, feedback pages, and grades.csv, each written whole or not at all.

Receipts are the memory: a run that was killed goes on with those that are there, and everything else
is made from receipts alone. So a second run, and a run after any number of kills, writes the same bytes.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import hashlib
import json
import secrets
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from toytf._command import progress, write_whole
from toytf_classroom import ClassroomError, feedback_pages, grading, rubrics, submission, workers
from toytf_classroom.grading import Assignment, Receipt
from toytf_classroom.lms import decimal, matched, read_class, read_table, students_of
from toytf_classroom.plain_text import Roll, file_names, one_line, plain, to_csv, without_formula
from toytf_classroom.sandbox import Bubblewrap, Limits
from toytf_classroom.submission import Found

if TYPE_CHECKING:
    from toytf_classroom.own_numbers import RightAnswers

GIVEN = "given.csv"  # what a person gave in this run and all before
LATE = "late"  # in the column exercise: points are then how many percent are taken off
HANDED_IN = "handed_in.json"  # from students to the folders by which Moodle finds them again
COLUMNS = ["student", "points", "out of", "remark"]  # of grades.csv, beside those of the exercises
TO_READ = ["student", "exercise", "met", "points", "comment"]
TOO_SLOW, NEW, OLD = b"too slow", b"+", b"="  # what a process says of its submission

# ---------------------------------------------------------------- files


@contextlib.contextmanager
def locked(folder: Path):
    """Hold the folder against a second grader; the lock goes with the process, however that ends."""
    import fcntl  # Windows has none; there, no sandbox works, and the grader is refused before it comes here

    with open(folder / ".lock", "a") as file:
        for left in reversed(range(20)):  # a process that a killed grader was starting may hold it for a moment more
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError:
                if not left:
                    raise ClassroomError(f"{folder}: another grader is at work in this folder.") from None
                time.sleep(0.1)
        yield


def inputs_key(folder: Path) -> bytes:
    """Read the secret from which hidden inputs come; it is made at the first run."""
    path = folder / "key"
    if not path.exists() or not path.read_bytes().strip():
        write_whole(path, secrets.token_hex(32).encode() + b"\n")
        path.chmod(0o600)
    return path.read_bytes().strip()


# ---------------------------------------------------------------- what a person gave


@dataclass(frozen=True)
class Given:
    """What a person gave for one answer; ``mark`` says which points of the rubric it meets, where one was used."""

    points: float
    comment: str
    mark: rubrics.Mark | None = None
    row: tuple[str, str, str] = ("", "", "")  # met, points and comment as they were written
    read: str = ""  # `fingerprint` of the answer that was read


Manual = dict[tuple[str, str], Given]  # by student and number of the exercise, or `LATE`


def read_manual(
    path: Path, students: list[str], assignment: Assignment, known: dict[str, rubrics.Rubric], kept: bool = False
) -> Manual:
    """What a person gave, from a table with the columns student, exercise, points, comment, and perhaps met.

    `kept` says that it is the table of earlier runs, in which somebody may stand who has left. The letters in `met`
    make the points. Points beside them have to be the same, or have a comment that says why not.
    `ClassroomError` names the line that is not as expected.
    """
    roll, exercises = Roll(students), {exercise.number: exercise for exercise in assignment.exercises}
    given: Manual = {}
    for line, row in read_table(path, ["student", "exercise", "points", "comment"]):
        if not row["points"].strip() and not row.get("met", "").strip():
            continue  # not read yet
        try:
            student, number = roll(row["student"]), row["exercise"].strip()
            if student is None and kept:  # somebody who has left the class
                student = row["student"]
            if student is None:
                raise ValueError(f"student: expected one who handed in or is in the class, got {row['student']!r}")
            if number not in exercises and number != LATE:
                raise ValueError(f"exercise: expected one of {', '.join(exercises)}, or {LATE}, got {number!r}")
            if (student, number) in given:
                raise ValueError(f"{row['student']} has points for {number} in an earlier line already")
            given[student, number] = _given(row, exercises.get(number), known.get(number))
        except ValueError as error:
            raise ClassroomError(f"{path}, line {line}: {error}") from None
    return given


def _given(row: dict[str, str], exercise: grading.Exercise | None, rubric: rubrics.Rubric | None) -> Given:
    value, met, comment = (row.get(name, "").strip() for name in ("points", "met", "comment"))
    number, most = (exercise.number, exercise.points) if exercise else (LATE, 100)  # percent
    if met and (exercise is None or exercise.kind != "text" or rubric is None):
        raise ValueError(f"met: expected nothing, since {number} has no rubric (write points), got {met!r}")
    mark = rubric.mark(met) if met else None
    points = mark.points if mark and not value else decimal(value)
    if points is None or not 0 <= points <= most:
        raise ValueError(f"points: expected a number from 0 to {most:g}, got {value!r}")
    if mark and points != mark.points and not comment:
        made = f"{feedback_pages.number(mark.points)}, which {met!r} makes"
        raise ValueError(f"points: expected {made}, or a comment that says why not, got {value!r} alone")
    return Given(round(points, 2), comment, mark, (met, value, comment), row.get("read", ""))


def kept_manual(new: Manual, old: Manual, receipts: dict[str, Receipt]) -> Manual:
    """What a person gave now and before, each with a fingerprint of the answer that was there to be read."""
    fresh = {}
    for (student, number), one in new.items():
        texts = [r.text or "" for r in receipts[student].results if r.number == number] if student in receipts else []
        fresh[student, number] = dataclasses.replace(one, read="".join(map(grading.fingerprint, texts)))
    return old | fresh


def manual_table(given: Manual) -> bytes:
    """What a person gave as a table, which `read_manual` reads."""
    rows = [[one_line(student), number, *one.row, one.read] for (student, number), one in sorted(given.items())]
    return to_csv([[*TO_READ, "read"], *rows])


def with_manual(receipt: Receipt, given: Manual) -> Receipt:
    """A receipt with the points of a person in place of, or after, those of the checkers; and what lateness costs."""
    results, remarks = [], [*receipt.remarks]
    for result in receipt.results:
        if one := given.get((receipt.student, result.number)):
            said = f"{result.number}: {one.points:g} point{'s'[: one.points != 1]} from your teacher."
            details = [*([one.comment] if one.comment else []), *result.details]
            if one.read and one.read != grading.fingerprint(result.text or ""):
                remarks.append(f"{result.number}: the answer is another one since a person read it")
            result = dataclasses.replace(result, points=one.points, headline=said, details=details, remark="")
        results.append(result)
    if not receipt.graded and all(result.points is not None for result in results):  # a person has graded all of it
        receipt = dataclasses.replace(receipt, graded=True, reason="")
        remarks.append("graded by hand")
    late = given.get((receipt.student, LATE))
    if late and late.points:
        said = f"Handed in late: {late.points:g} % of the points are taken off."
        return dataclasses.replace(
            receipt, results=results, late=late.points, notes=[*receipt.notes, said, *filter(None, [late.comment])],
            remarks=[*remarks, f"late, {late.points:g} % taken off"],
        )  # fmt: skip
    return dataclasses.replace(receipt, results=results, remarks=remarks)


@dataclass(frozen=True)
class Graded:
    """What the tables and the teacher's pages say of one student."""

    receipt: Receipt  # with the points of a person
    file: str  # the name of the page
    remark: str

    student = property(lambda self: self.receipt.student)
    points = property(lambda self: self.receipt.points if self.receipt.graded else None)
    each = property(lambda self: [result.points for result in self.receipt.results])

    @property
    def waiting(self) -> list[grading.Result]:
        """What a person has to read, or at what the grader failed."""
        return [result for result in self.receipt.results if result.points is None]

    def line(self, out_of: float) -> list[str]:
        """The line in grades.csv: points empty where a person has still to read, or where the grader failed."""
        points = ["" if one is None else feedback_pages.number(one) for one in (self.points, out_of, *self.each)]
        return [one_line(self.student), *points, self.remark]


# ---------------------------------------------------------------- the whole folder


@dataclass
class Summary:
    """What a run did: counts, and words for the teacher."""

    students: int = 0
    graded: int = 0  # anew
    reused: int = 0
    failed: list[str] = field(default_factory=list)  # not graded, by no fault of the student
    doubts: list[str] = field(default_factory=list)  # at whose submission a person has to look
    wrong: list[str] = field(default_factory=list)  # why the whole table looks wrong
    to_read: int = 0  # texts that a person has to read
    notes: list[str] = field(default_factory=list)


def grade_folder(
    submissions: Path, out: Path, assignment: Assignment, sandbox: Bubblewrap, *,
    class_list: Path | None = None, student_column: str | None = None, manual: Path | None = None,
    limits: Limits, jobs: int = 1, answers: RightAnswers | None = None,
    only: Sequence[str] = (),
) -> Summary:  # fmt: skip
    """Grade all submissions of a folder, so many `jobs` at a time, and write `out` (CSV) and the folder beside it.

    `manual` is a table of what a person gave; `only` names students who are graded again, all others stay as they are;
    `answers` says what is right for whom, if numbers are each student's own. `ClassroomError` if something is to be put
    right first; nothing is written then.
    """
    home = out.with_suffix("")
    if manual is not None and manual.resolve() == (home / "to_read.csv").resolve():
        raise ClassroomError(f"{manual}: this file is written anew by each run. Copy it, and give the copy's name.")
    people = read_class(class_list, student_column) if class_list is not None else []
    (found, notes), handed_in = submission.find(submissions, lambda name: bool(students_of(name, people))), {}
    strays = {one.student: one for one in found if one.stray and not students_of(one.student, people)}
    notes += [
        f"{plain(one.stray, 100)}: passed over, it is no notebook (.ipynb) and no folder." for one in strays.values()
    ]
    found = [one for one in found if one.student not in strays]
    if not found:
        told = "".join(f"\n{note}" for note in notes)
        raise ClassroomError(f"{submissions}: expected <student>.ipynb or folders with one, got none{told}")
    unknown: list[str] = []
    if class_list is not None:
        found, more, handed_in = matched(found, people)
        notes += more
        came, expected = [one.student for one in found], [one.student for one in people]
        unknown = sorted(set(came) - set(expected))
        found += [Found(student, None, feedback_pages.NOTHING) for student in expected if student not in came]
    students = sorted(one.student for one in found)
    names, known = file_names(students), rubrics.read()
    points = read_manual(manual, students, assignment, known) if manual is not None else {}
    before = home / GIVEN
    old_points = read_manual(before, students, assignment, known, kept=True) if before.exists() else {}
    roll = Roll(students)
    if missing := [name for name in only if roll(name) is None]:
        raise ClassroomError(f"--student: expected one who handed in or is in the class, got {missing[0]!r}")
    for folder in (home, home / "receipts", home / "feedback"):
        folder.mkdir(parents=True, exist_ok=True)
    with locked(home):
        for folder in (home, home / "receipts", home / "feedback", out.parent):
            for left in folder.glob(".*.new"):  # of a run that was killed
                left.unlink()
        key = inputs_key(home)
        if handed_in or (home / HANDED_IN).exists():
            write_whole(home / HANDED_IN, (json.dumps(handed_in, indent=1, sort_keys=True) + "\n").encode())
        summary = Summary(students=len(students), notes=notes)
        taken = " The numbers that belong to this name were taken." if answers else ""
        summary.notes += [f"{plain(s, 100)}: handed in, but is not in the class list.{taken}" for s in unknown]
        about = grading.circumstances(sandbox, limits)
        grader = _Grader(home, assignment, sandbox, limits, key, names, about, answers, frozenset(map(roll, only)))
        receipts = _grade(grader, found, jobs, summary)
        late = [one.student for one in found if one.late]
        given = kept_manual(points, old_points, receipts)
        if given:
            write_whole(home / GIVEN, manual_table(given))
        twins = _twins(receipts.values())
        graded = [_page(grader, receipts[student], given, twins.get(student, []), summary) for student in students]
        summary.failed.sort()
        waiting = [student for student in late if (student, LATE) not in given]
        _write_tables(out, home, assignment, graded, summary, known, waiting)
        summary.wrong = looks_wrong(out)
    return summary


def receipts_of(home: Path) -> dict[str, tuple[Receipt, Path]]:
    """The receipts of a folder and the pages beside them, by the students' names as tables write them."""
    found = {}
    for path in sorted((home / "receipts").glob("*.json")):
        receipt = Receipt.from_json(path.read_bytes())
        found[without_formula(one_line(receipt.student))] = receipt, home / "feedback" / f"{path.stem}.html"
    return found


def looks_wrong(grades: Path) -> list[str]:
    """Why a table of grades looks wrong as a whole: a sentence for each reason, for a person to look first."""
    table = [row for _, row in read_table(grades, ["student", "points", "remark"])]
    came = [row for row in table if not row["remark"].startswith(feedback_pages.NOTHING)]
    wrong = []
    if len(came) < len(table) / 2 or not came:
        many = f"Only {len(came)} of {len(table)} have" if came else "Nobody has"
        wrong.append(f"{many} handed in.")
    for number in came[0] if len(came) > 1 else ():
        if number not in COLUMNS and all(row[number] == "0" for row in came):
            wrong.append(f"All {len(came)} who handed in have 0 points in {number}.")
    if unknown := [row["student"] for row in table if not row.get("points", "").strip()]:
        few = ", ".join(unknown[:5]) + ", ..." * (len(unknown) > 5)
        wrong.append(f"{len(unknown)} of {len(table)} have no points, since a person has to look first: {few}.")
    return wrong


def _twins(receipts: Iterable[Receipt]) -> dict[str, list[str]]:
    """Who handed in the same, word for word, among those who have solved or written anything."""
    same: dict[str, list[str]] = {}
    for one in receipts:
        if one.content and any(result.points is None or result.points for result in one.results):
            same.setdefault(one.content, []).append(one.student)
    return {who: [other for other in group if other != who] for group in same.values() for who in group}


def _write_tables(
    out: Path, home: Path, assignment: Assignment, graded: list[Graded], summary: Summary, known, late: list[str]
) -> None:
    """What is made of all students: the grades, what is to be read, and the teacher's pages."""
    head = [*COLUMNS[:3], *(e.number for e in assignment.exercises), *COLUMNS[3:]]
    write_whole(out, to_csv([head, *(one.line(assignment.points) for one in graded)]))
    waiting = [(one, result) for one in graded for result in one.waiting]
    summary.to_read = len(waiting)
    to_read = [[one_line(one.student), result.number, "", "", ""] for one, result in waiting]
    to_read += [[one_line(student), LATE, "", "", ""] for student in late]
    write_whole(home / "to_read.csv", to_csv([TO_READ, *to_read]))
    answers = [(one, result.number, result.text) for one, result in waiting if result.text]
    write_whole(home / "to_read.html", feedback_pages.reading_page(answers, assignment, known))
    page = feedback_pages.index_page(graded, assignment, summary.notes + summary.failed)
    write_whole(home / "feedback" / "index.html", page)


def _grade(grader: _Grader, found: list[Found], jobs: int, summary: Summary) -> dict[str, Receipt]:
    """Grade everybody, some at a time; what was too slow is graded again when nobody else is at work."""
    receipts: dict[str, Receipt] = {}
    alone = jobs == 1 or len(found) == 1
    with progress(total=len(found), desc="graded", unit="") as bar:
        while found:
            slow: list[Found] = []
            limits = grader.limits if alone else grader.limits.first()
            do = partial(grader.grade, alone=alone)
            for done in workers.work(found, do, jobs=1 if alone else jobs, clock=limits.longest() + workers.SECONDS):
                if done.answer == TOO_SLOW:
                    slow.append(done.task)
                    continue
                receipts[done.task.student] = _filed(grader, done, summary)
                bar.update()
            found, alone = slow, True
    summary.doubts.sort()
    return receipts


def _filed(grader: _Grader, done: workers.Done, summary: Summary) -> Receipt:
    """What came of one student, once it is written; whatever went wrong, the others are graded all the same."""
    student = done.task.student
    if done.error:
        return _failed(grader, student, done.error, summary)
    receipt = Receipt.from_json(done.answer[1:])
    grader.write(receipt)
    summary.graded += done.answer[:1] == NEW
    summary.reused += done.answer[:1] != NEW
    if not receipt.graded:
        summary.doubts.append(f"{plain(student, 100)}: {receipt.reason}")
    elif receipt.failed:
        what = f"{', '.join(receipt.failed)} could not be graded, the checker failed"
        summary.failed.append(f"{plain(student, 100)}: {what}")
    return receipt


def _failed(grader: _Grader, student: str, why: str, summary: Summary) -> Receipt:
    """The receipt of a student at whom the grader itself failed."""
    why = f"could not be graded, {plain(why, 300)}"
    summary.failed.append(f"{plain(student, 100)}: {why}")
    receipt = grading.not_graded(student, grader.assignment, why)
    grader.write(receipt)
    return receipt


def _page(grader: _Grader, receipt: Receipt, manual: Manual, twins: list[str], summary: Summary) -> Graded:
    """One student's page, written; if that fails, the others have theirs."""
    try:
        return grader.file(receipt, manual, twins)
    except OSError:  # the disk is full
        raise
    except Exception as error:
        receipt = _failed(grader, receipt.student, f"{type(error).__name__}: {error}", summary)
        return grader.file(receipt, {}, [])


@dataclass(frozen=True)
class _Grader:
    """Grades one submission, and files what came of it."""

    home: Path
    assignment: Assignment
    sandbox: Bubblewrap
    limits: Limits
    key: bytes
    names: dict[str, str]
    about: dict  # with what is graded
    answers: RightAnswers | None = None  # what is right for whom, where numbers are one's own
    only: frozenset[str] = frozenset()  # who is graded again, if not all are

    def grade(self, found: Found, worker: int, *, alone: bool) -> bytes:
        """The receipt, behind a sign whether it is new; what is too slow among others gets another chance alone.

        This runs in a process of its own.
        """
        receipt, new = self.receipt(found, worker, self.limits if alone else self.limits.first())
        if new and receipt.slow and not alone:
            return TOO_SLOW
        return (NEW if new else OLD) + receipt.to_json()

    def write(self, receipt: Receipt) -> None:
        """Write a receipt, the memory of later runs."""
        write_whole(self.home / "receipts" / f"{self.names[receipt.student]}.json", receipt.to_json())

    def file(self, receipt: Receipt, manual: Manual, twins: list[str]) -> Graded:
        """Write a feedback page, and say what the tables say."""
        student, name = receipt.student, self.names[receipt.student]
        shown = with_manual(receipt, manual)
        marks = {number: one.mark for (whose, number), one in manual.items() if whose == student and one.mark}
        write_whole(self.home / "feedback" / f"{name}.html", feedback_pages.student_page(shown, self.assignment, marks))
        said = [feedback_pages.remark(shown), self.foreign(receipt)]
        few = ", ".join(map(one_line, twins[:5])) + ", ..." * (len(twins) > 5)
        said += [f"word for word the same as {few}"] if twins else []
        return Graded(shown, f"{name}.html", "; ".join(filter(None, said)))

    def foreign(self, receipt: Receipt) -> str:
        """Whose notebook it says it is, if not this student's. The notebook says so, and anybody can edit it."""
        says = receipt.own.get("carried")
        if not says or says == receipt.own["sheet"]:
            return ""
        whose = self.answers.whose(says, self.names)
        return f"the notebook says that it is sheet {says}, {f'of {one_line(whose)}' if whose else 'of nobody here'}"

    def receipt(self, found: Found, worker: int, limits: Limits) -> tuple[Receipt, bool]:
        """The receipt of one student, an old one if it still fits, and whether it is new."""
        if found.error:
            raise ClassroomError(found.error)
        old, doubt, data = self.old_receipt(found.student), found.doubt, None
        try:
            data = found.path and submission.read_bytes(found.path)
        except submission.Unreadable as error:
            doubt = str(error)
        if data is None:
            receipt = grading.nothing_to_grade(found.student, self.assignment, found.reason, **self.about)
            if doubt:
                receipt = grading.not_graded(found.student, self.assignment, doubt)
            return receipt, receipt != old
        if old is not None and found.student not in self.only:
            same = old.student == found.student and old.assignment == self.assignment.sha256
            if same and (self.only or self.fits(old, data)):
                return old, False
        sandbox = copy.copy(self.sandbox)
        sandbox.worker = worker
        numbers = self.answers(found.student) if self.answers else None
        how = {"sandbox": sandbox, "key": self.key, "limits": limits, "numbers": numbers}
        receipt = grading.grade_one(data, self.assignment, found.student, **how)
        receipt = dataclasses.replace(receipt, **self.about)
        return receipt, receipt.graded or receipt != old

    def old_receipt(self, student: str) -> Receipt | None:
        """The receipt of an earlier run, if there is one that can be read."""
        try:
            return Receipt.from_json((self.home / "receipts" / f"{self.names[student]}.json").read_bytes())
        except (OSError, ValueError):
            return None

    def fits(self, receipt: Receipt, data: bytes) -> bool:
        """Whether a receipt of this student and this assignment would come out the same again."""
        return (
            receipt.graded
            and not receipt.failed
            and receipt.sha256 == hashlib.sha256(data).hexdigest()
            and receipt.versions == self.about["versions"]
            and receipt.settings == self.about["settings"]
            and receipt.own.get("sealed") == (self.answers(receipt.student).sealed if self.answers else None)
        )
