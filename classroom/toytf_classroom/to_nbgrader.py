"""The command ``toytf-classroom nbgrader``: marks, comments and feedback go into nbgrader's gradebook.

It takes the place of ``nbgrader autograde``, and runs no code. Marks are written as manual ones, so a later
``autograde`` does not change them; what a person gave in nbgrader since then stays. Each student's page goes to
``feedback/``, where ``nbgrader release_feedback`` finds it.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from toytf._command import write_whole
from toytf_classroom import ClassroomError
from toytf_classroom.export import stop_if_wrong
from toytf_classroom.gradebook import GIVEN, receipts_of
from toytf_classroom.grading import Receipt, Result
from toytf_classroom.lms import decimal, read_table
from toytf_classroom.plain_text import plain

if TYPE_CHECKING:
    from nbgrader.api import Gradebook, SubmittedAssignment

WRITTEN = "nbgrader.json"  # what was written last: whatever else stands in the gradebook now is a person's


def write_back(grades: Path, course: Path, assignment: str, *, force: bool = False) -> list[str]:
    """Write what `grades` and the folder beside it hold into the gradebook of a course; return notes.

    `ClassroomError` if nbgrader or the assignment is not there, or a cell of an exercise.
    """
    try:
        from nbgrader.api import Gradebook, MissingEntry
    except ImportError:
        raise ClassroomError("expected nbgrader beside toytf-classroom (pip install nbgrader), got none") from None
    home, url = grades.with_suffix(""), f"sqlite:///{(course / 'gradebook.db').resolve()}"
    receipts = receipts_of(home)
    memory = json.loads((home / WRITTEN).read_bytes()) if (home / WRITTEN).exists() else {}
    given = read_table(home / GIVEN, ["student", "exercise", "comment"]) if (home / GIVEN).exists() else []
    comments = {(row["student"], row["exercise"]): row["comment"] for _, row in given}
    notes: list[str] = []
    with Gradebook(url) as book:
        try:
            book.find_assignment(assignment)
        except MissingEntry:
            what = f"expected an assignment {assignment!r} in {url}, got none: nbgrader generate_assignment makes it"
            raise ClassroomError(what) from None
        for line, row in read_table(grades, ["student", "points", "remark"]):
            if row["student"] not in receipts:
                raise ClassroomError(f"{grades}, line {line}: expected a receipt of {row['student']!r}; grade again")
            receipt, page = receipts[row["student"]]
            if receipt.sha256:
                one = _Student(book, course, assignment, receipt, row, comments, memory.get(receipt.student, {}), force)
                memory[receipt.student] = one.write(page, notes)
            else:
                notes.append(f"{plain(receipt.student, 100)}: nothing written, {receipt.reason}")
        book.db.commit()
    write_whole(home / WRITTEN, (json.dumps(memory, indent=1, sort_keys=True) + "\n").encode())
    return notes


class _Student:
    """One student's marks on their way into the gradebook."""

    def __init__(self, book: Gradebook, course: Path, assignment: str, receipt: Receipt, row, words, before, force):
        self.book, self.course, self.assignment, self.receipt = book, course, assignment, receipt
        self.row, self.words, self.before, self.force = row, words, before, force
        self.student = receipt.student

    def write(self, page: Path, notes: list[str]) -> dict:
        """Write scores, comments, what lateness costs, and the page; return what was written."""
        self.book.update_or_create_student(self.student)
        handed_in = self.course / "submitted" / self.student / self.assignment
        when = {}
        with suppress(OSError):
            when["timestamp"] = (handed_in / "timestamp.txt").read_text("utf-8").strip()
        with self.book.db.no_autoflush:  # it would warn of what nbgrader has not added yet
            submission = self.book.update_or_create_submission(self.assignment, self.student, **when)
        written = {}
        for result in self.receipt.results:
            written[result.number] = self._write_one(submission, result, notes)
        points = [decimal(self.row[result.number]) or 0 for result in self.receipt.results]
        submission.notebooks[0].late_submission_penalty = round(sum(points) - (decimal(self.row["points"]) or 0), 2)
        place = self.course / "feedback" / self.student / self.assignment
        place.mkdir(parents=True, exist_ok=True)
        write_whole(place / f"{submission.notebooks[0].name}.html", page.read_bytes())
        for name in ("timestamp.txt", "submission_secret.txt"):
            if (handed_in / name).is_file():
                shutil.copyfile(handed_in / name, place / name)
        return written

    def _write_one(self, submission: SubmittedAssignment, result: Result, notes: list[str]) -> list:
        name = f"{result.label}-{'answer' if result.kind == 'text' else 'check'}"
        grade = _named(submission, "grades", name)
        comment = _named(submission, "comments", f"{result.label}-answer")
        score, before = decimal(self.row[result.number]), self.before.get(result.number, [None, None])
        words = "\n".join(
            filter(None, [self.words.get((self.row["student"], result.number), ""), result.headline, *result.details])
        )
        mine, who = [score, words], f"{plain(self.student, 100)}, {result.number}"
        if grade.manual_score not in (None, before[0], score) and not self.force:
            notes.append(f"{who}: {grade.manual_score:g} points of a person stay.")
            mine[0] = before[0]
        else:
            grade.manual_score, grade.needs_manual_grade = score, score is None
            grade.auto_score = None if result.kind == "text" else score
        if comment.manual_comment not in (None, before[1], words) and not self.force:
            notes.append(f"{who}: the comment of a person stays.")
            mine[1] = before[1]
        else:
            comment.manual_comment = words
        return mine


def _named(submission: SubmittedAssignment, kind: str, name: str):
    """The grade or the comment of a cell."""
    for notebook in submission.notebooks:
        for one in getattr(notebook, kind):
            if one.name == name:
                return one
    raise ClassroomError(f"{submission.assignment.name}: expected a cell {name!r} in nbgrader's gradebook, got none")


EXAMPLES = ("toytf-classroom nbgrader week6/grades.csv --course course --assignment week6",)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Write marks, comments and feedback pages into the course of nbgrader whose submitted/ was graded."
    )
    parser.add_argument("grades", type=Path, help="grades.csv, written by toytf-classroom grade")
    parser.add_argument("--course", type=Path, required=True, metavar="FOLDER", help="the course's folder")
    parser.add_argument("--assignment", required=True, metavar="NAME", help="its name in nbgrader")
    parser.add_argument("--force", action="store_true", help="also replace what a person gave in nbgrader")
    parser.add_argument("--anyway", action="store_true", help="also if the grades as a whole look wrong")


def run(options) -> int:
    if not options.course.is_dir():
        raise ClassroomError(f"--course: expected a folder, got {options.course}")
    if not options.anyway:
        stop_if_wrong(options.grades)
    notes = write_back(options.grades, options.course, options.assignment, force=options.force)
    for note in notes:
        print(f"note: {note}", file=sys.stderr)
    print(f"{options.course}: marks, comments and feedback of {options.assignment}")
    return 0
