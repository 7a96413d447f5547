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
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from toytf._command import progress, write_whole
from toytf_classroom import ClassroomError, feedback_pages, grading, rubrics, submission, workers
from toytf_classroom.grading import Assignment, Receipt
from toytf_classroom.lms import Matched, matched, read_class, read_table
from toytf_classroom.names import Roll, composed, file_names, same_writing
from toytf_classroom.plain_text import one_line, plain, to_csv
from toytf_classroom.sandbox import GRACE, STARTING, Bubblewrap, Limits, SandboxError, Unprotected, settings
from toytf_classroom.submission import Found

if TYPE_CHECKING:
    from toytf_classroom.own_numbers import RightAnswers

HANDED_IN = "handed_in.json"  # from students to the folders by which Moodle finds them again
TO_READ = ["student", "exercise", "met", "points", "comment"]
TOO_SLOW = b"too slow"

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


def read_key(folder: Path) -> bytes:
    """Read the secret from which hidden inputs come; it is made at the first run."""
    path = folder / "key"
    if not path.exists():
        write_whole(path, secrets.token_hex(32).encode() + b"\n")
        path.chmod(0o600)
    key = path.read_bytes().strip()
    if len(key) < 32:
        raise ClassroomError(
            f"{path}: expected a key of at least 32 characters. Delete the file and a new one is made."
        )
    return key


# ---------------------------------------------------------------- what a person gave


@dataclass(frozen=True)
class Given:
    """What a person gave for one answer; ``mark`` says which points of the rubric it meets, where one was used."""

    points: float
    comment: str
    mark: rubrics.Mark | None = None


Manual = dict[tuple[str, str], Given]  # by student and number of the exercise


def read_manual(path: Path, students: list[str], assignment: Assignment, known: dict[str, rubrics.Rubric]) -> Manual:
    """What a person gave, from a table with the columns student, exercise, points, comment, and perhaps met.

    The letters in `met` make the points. Points beside them have to be the same, or have a comment that says why not.

    Raises
    ------
    ClassroomError
        Naming the line that is not as expected.
    """
    roll, exercises = Roll(students), {exercise.number: exercise for exercise in assignment.exercises}
    given: Manual = {}
    for line, row in read_table(path, ["student", "exercise", "points", "comment"]):
        if not row["points"].strip() and not row.get("met", "").strip():
            continue  # not read yet
        try:
            student, number = roll(row["student"]), row["exercise"].strip()
            if student is None:
                raise ValueError(f"student: expected one who handed in or is in the class, got {row['student']!r}")
            if number not in exercises:
                raise ValueError(f"exercise: expected one of {', '.join(exercises)}, got {number!r}")
            if (student, number) in given:
                raise ValueError(f"{row['student']} has points for {number} in an earlier line already")
            given[student, number] = _given(row, exercises[number], known.get(number))
        except ValueError as error:
            raise ClassroomError(f"{path}, line {line}: {error}") from None
    return given


def _given(row: dict[str, str], exercise: grading.Exercise, rubric: rubrics.Rubric | None) -> Given:
    value, met, comment = (row.get(name, "").strip() for name in ("points", "met", "comment"))
    mark = _mark(met, exercise, rubric) if met else None
    points = _points(value, exercise) if value or mark is None else mark.points
    if mark and points != mark.points and not comment:
        made = f"{feedback_pages.number(mark.points)}, which {met!r} makes"
        raise ValueError(f"points: expected {made}, or a comment that says why not, got {value!r} alone")
    return Given(points, comment, mark)


def _points(value: str, exercise: grading.Exercise) -> float:
    try:
        points = float(value.replace(",", "."))
    except ValueError:
        points = -1.0
    if not 0 <= points <= exercise.points:
        raise ValueError(f"points: expected a number from 0 to {exercise.points:g}, got {value!r}")
    return round(points, 2)


def _mark(met: str, exercise: grading.Exercise, rubric: rubrics.Rubric | None) -> rubrics.Mark:
    if exercise.kind != "text" or rubric is None:
        raise ValueError(f"met: expected nothing, since {exercise.number} has no rubric (write points), got {met!r}")
    try:
        return rubric.mark(met, exercise.points)
    except ValueError as error:
        raise ValueError(f"met: {error}") from None


def with_manual(receipt: Receipt, given: Manual) -> Receipt:
    """A receipt with the points of a person in place of, or after, those of the checkers."""
    results = []
    for result in receipt.results:
        if one := given.get((receipt.student, result.number)):
            said = f"{result.number}: {one.points:g} point{'s'[: one.points != 1]} from your teacher."
            details = [*([one.comment] if one.comment else []), *result.details]
            result = dataclasses.replace(result, points=one.points, headline=said, details=details)
        results.append(result)
    return dataclasses.replace(receipt, results=results)


def marks_of(student: str, given: Manual) -> dict[str, rubrics.Mark]:
    """What a person found in the answers of one student with the rubrics, by number of the exercise."""
    return {number: one.mark for (whose, number), one in given.items() if whose == student and one.mark}


@dataclass(frozen=True)
class Line:
    """What the tables and the teacher's page say of one student."""

    student: str
    grades: list[str]  # the line in grades.csv
    to_read: list[list[str]]  # lines in to_read.csv
    page: dict | None  # the line on the teacher's page
    mistakes: list[list[str]]  # exercise and name of each known mistake
    failed: list[str]  # exercises at which the checker itself failed
    answers: list[list[str]] = field(default_factory=list)  # exercise and text of what is to be read
    typical: list[str] = field(default_factory=list)  # exercises with the typical wrong answer of their rubric


def line_of(receipt: Receipt, assignment: Assignment, file: str, foreign: str, marks: dict[str, rubrics.Mark]) -> Line:
    """The lines of one student: points empty where a person has still to read, or where the grader failed.

    `foreign` says that the notebook is another student's, where it is; `marks` is what a person found with the rubrics.
    """
    number = feedback_pages.number
    each = ["" if result.points is None else number(result.points) for result in receipt.results]
    remark = "; ".join(filter(None, [feedback_pages.remark(receipt), foreign]))
    name, waiting = one_line(receipt.student), [result for result in receipt.results if result.points is None]
    return Line(
        receipt.student,
        grades=[name, number(receipt.points) if receipt.graded else "", number(assignment.points), *each, remark],
        to_read=[[name, result.number, "", "", ""] for result in waiting],
        page=feedback_pages.index_row(receipt, file) | {"remark": remark},
        mistakes=[[result.number, result.mistake] for result in receipt.results if result.mistake],
        failed=receipt.failed if receipt.graded else [],
        answers=[[result.number, result.text] for result in waiting if result.text],
        typical=[number for number, mark in marks.items() if mark.typical],
    )


def empty_line(student: str, assignment: Assignment, why: str) -> Line:
    """The line of a student of whom nothing else can be said; nothing in it can fail."""
    cells = ["" for _ in assignment.exercises]
    return Line(student, [ascii(student), "", "", *cells, why], [], None, [], [])


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
    student_column: str | None = None,
    manual: Path | None = None,
    limits: Limits | None = None,
    jobs: int = 1,
    again: bool = False,
    answers: RightAnswers | None = None,
) -> Summary:
    """Grade all submissions of a folder and write `out` and the folder beside it.

    Parameters
    ----------
    submissions, out : Path
        A folder, and the CSV file to write.
    assignment : Assignment
    sandbox : Bubblewrap or Unprotected
    class_list : Path, optional
        Who is expected: CSV with a column student, or a list of Canvas or Moodle.
    student_column : str, optional
        The column with the students' ids, if it is another one.
    manual : Path, optional
        CSV with the columns student, exercise, met, points, comment.
    limits : Limits, optional
    jobs : int
        How many at a time.
    again : bool
        Grade also what was graded before.
    answers : RightAnswers, optional
        What is right for whom, if the assignment has exercises with numbers of one's own.

    Raises
    ------
    ClassroomError
        If something is to be put right first; nothing is written then.
    """
    limits = limits or Limits()
    home = out.with_suffix("")
    if manual is not None and manual.resolve() == (home / "to_read.csv").resolve():
        raise ClassroomError(f"{manual}: this file is written anew by each run. Copy it, and give the copy's name.")
    there = submission.find(submissions)
    ours, expected = Matched(there.found), []
    if class_list is not None:
        people = read_class(class_list, student_column)
        ours, expected = matched(there.found, people), [one.student for one in people]
    missing, unknown = _compare(ours.found, expected) if expected else ([], [])
    found = ours.found + missing
    students = sorted(one.student for one in found)
    names, known = file_names(students), rubrics.read()
    points = read_manual(manual, students, assignment, known) if manual is not None else {}
    for folder in (home, home / "receipts", home / "feedback"):
        folder.mkdir(parents=True, exist_ok=True)
    with locked(home):
        for folder in (home, home / "receipts", home / "feedback", out.parent):
            for left in folder.glob(".*.new"):  # of a run that was killed
                left.unlink()
        key = read_key(home)
        if ours.handed_in or (home / HANDED_IN).exists():
            write_whole(home / HANDED_IN, (json.dumps(ours.handed_in, indent=1, sort_keys=True) + "\n").encode())
        summary = Summary(students=len(students), notes=[*there.notes, *ours.notes])
        taken = " The numbers that belong to this name were taken." if answers else ""
        summary.notes += [f"{plain(s, 100)}: handed in, but is not in the class list.{taken}" for s in unknown]
        about = {"versions": grading.versions(), "settings": settings(sandbox, limits)}
        grader = _Grader(home, assignment, sandbox, limits, key, names, again, points, about, answers)
        lines = _lines(grader, found, jobs, summary)
        _write_tables(out, home, assignment, lines, summary, known)
    return summary


def _write_tables(out: Path, home: Path, assignment: Assignment, lines: list[Line], summary: Summary, known) -> None:
    """What is made of all students: the grades, what is to be read, and the teacher's pages."""
    head = ["student", "points", "out of", *(e.number for e in assignment.exercises), "remark"]
    write_whole(out, to_csv([head, *(line.grades for line in lines)]))
    to_read = [row for line in lines for row in line.to_read]
    summary.to_read = len(to_read)
    write_whole(home / "to_read.csv", to_csv([TO_READ, *to_read]))
    answers = [(line.page, *answer) for line in lines if line.page for answer in line.answers]
    write_whole(home / "to_read.html", feedback_pages.reading_page(answers, assignment, known))
    mistakes = [tuple(mistake) for line in lines for mistake in line.mistakes]
    typical = [(number, known[number].typical) for line in lines for number in line.typical]
    notes = summary.notes + summary.failed
    page = feedback_pages.index_page([line.page for line in lines], mistakes, assignment, notes, typical)
    write_whole(home / "feedback" / "index.html", page)


def _compare(found: list[Found], expected: list[str]) -> tuple[list[Found], list[str]]:
    """Who is in the class list and handed in nothing, and who handed in and is not in the list."""
    roll = Roll([one.student for one in found])
    came, missing = set(), {}
    for name in expected:
        there = {roll(name)} - {None} or set(roll.alike.get(same_writing(name), []))  # twins: all of them
        came |= there
        if not there:
            student = composed(name).strip()
            missing[student] = Found(student, None, "no submission")
    return list(missing.values()), sorted(one.student for one in found if one.student not in came)


def _lines(grader: _Grader, found: list[Found], jobs: int, summary: Summary) -> list[Line]:
    """Grade everybody, some at a time; what was too slow is graded again when nobody else is at work."""
    lines: dict[str, Line] = {}
    limits = grader.limits
    clock = 2 * (limits.total * limits.clock + (limits.restarts + 1) * (STARTING + GRACE)) + workers.SECONDS
    alone = jobs == 1 or len(found) == 1
    with progress(total=len(found), desc="graded", unit="") as bar:
        while found:
            slow: list[Found] = []
            for done in workers.work(
                found, grader.alone if alone else grader.among_others, jobs=1 if alone else jobs, clock=clock
            ):
                one = done.task
                try:
                    if done.answer == TOO_SLOW:
                        slow.append(one)
                        continue
                    if done.error:
                        raise ClassroomError(done.error)
                    new, said = json.loads(done.answer)
                    line = lines[one.student] = Line(**said)
                    if line.failed:
                        what = f"{', '.join(line.failed)} could not be graded, the checker failed"
                        summary.failed.append(f"{plain(one.student, 100)}: {what}")
                    summary.graded += new
                    summary.reused += not new
                except Exception as error:  # the others are graded all the same
                    why = str(error) if isinstance(error, ClassroomError) else f"{type(error).__name__}: {error}"
                    lines[one.student] = _failed(grader, one.student, why, summary)
                bar.update()
            found, alone = slow, True
    summary.failed.sort()
    return [lines[student] for student in sorted(lines)]


def _failed(grader: _Grader, student: str, why: str, summary: Summary) -> Line:
    why = f"could not be graded, {plain(why, 300)}"
    summary.failed.append(f"{plain(student, 100)}: {why}")
    try:
        return grader.file(grading.not_graded(student, grader.assignment, why))
    except Exception as error:  # perhaps the same again
        summary.notes.append(f"{plain(student, 100)}: nothing could be filed, {type(error).__name__}: {error}")
        return empty_line(student, grader.assignment, why)


@dataclass(frozen=True)
class _Grader:
    """Grades one submission and files what came of it; all of this runs in a process of its own."""

    home: Path
    assignment: Assignment
    sandbox: Bubblewrap | Unprotected
    limits: Limits
    key: bytes
    names: dict[str, str]
    again: bool
    manual: Manual
    about: dict  # with what is graded
    answers: RightAnswers | None = None  # what is right for whom, where numbers are one's own

    def among_others(self, found: Found, worker: int) -> bytes:
        """Grade it while others are graded: what is too slow now is not filed, and gets another chance."""
        receipt, new = self.receipt(found, worker)
        return TOO_SLOW if new and receipt.slow else self.filed(receipt, new)

    def alone(self, found: Found, worker: int) -> bytes:
        """Grade it while nobody else is graded; what is too slow now is too slow."""
        return self.filed(*self.receipt(found, worker))

    def filed(self, receipt: Receipt, new: bool) -> bytes:
        return json.dumps([new, dataclasses.asdict(self.file(receipt))]).encode()

    def file(self, receipt: Receipt) -> Line:
        """Write receipt and feedback page, and return the student's lines."""
        name = self.names[receipt.student]
        write_whole(self.home / "receipts" / f"{name}.json", receipt.to_json())
        shown, marks = with_manual(receipt, self.manual), marks_of(receipt.student, self.manual)
        write_whole(self.home / "feedback" / f"{name}.html", feedback_pages.student_page(shown, self.assignment, marks))
        return line_of(shown, self.assignment, f"{name}.html", self.foreign(receipt), marks)

    def foreign(self, receipt: Receipt) -> str:
        """Whose notebook it says it is, if not this student's. The notebook says so, and anybody can edit it."""
        says = receipt.own.get("carried")
        if not says or says == receipt.own["sheet"]:
            return ""
        whose = self.answers.whose(says, self.names)
        return f"the notebook says that it is sheet {says}, {f'of {one_line(whose)}' if whose else 'of nobody here'}"

    def receipt(self, found: Found, worker: int) -> tuple[Receipt, bool]:
        """The receipt of one student, an old one if it still fits, and whether it is new."""
        if found.error:
            raise ClassroomError(found.error)
        try:
            data = None if found.path is None else submission.read_bytes(found.path)
            reason = found.reason
        except submission.Unreadable as error:
            data, reason = None, str(error)
        old = self.old_receipt(found.student)
        if data is None:
            receipt = grading.nothing_to_grade(found.student, self.assignment, reason, **self.about)
            return receipt, receipt != old
        if old is not None and self.fits(old, found.student, data) and not self.again:
            return old, False
        sandbox = copy.copy(self.sandbox)
        sandbox.worker = worker
        how = {"sandbox": sandbox, "key": self.key, "student": found.student, "limits": self.limits}
        if self.answers:
            how["numbers"] = self.answers(found.student)
        with contextlib.suppress(SandboxError):  # the machine may have been short of something for a moment
            return grading.grade_one(data, self.assignment, **how), True
        return grading.grade_one(data, self.assignment, **how), True

    def old_receipt(self, student: str) -> Receipt | None:
        """The receipt of an earlier run, if there is one that can be read."""
        try:
            return Receipt.from_json((self.home / "receipts" / f"{self.names[student]}.json").read_bytes())
        except (OSError, ValueError):
            return None

    def fits(self, receipt: Receipt, student: str, data: bytes) -> bool:
        """Whether a receipt would come out the same again."""
        return (
            receipt.graded
            and not receipt.failed
            and receipt.student == student
            and receipt.sha256 == hashlib.sha256(data).hexdigest()
            and receipt.assignment == self.assignment.sha256
            and receipt.versions == self.about["versions"]
            and receipt.settings == self.about["settings"]
            and receipt.own.get("sealed") == (self.answers(student).sealed if self.answers else None)
        )
