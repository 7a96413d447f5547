"""The command ``toytf-classroom grade``: a folder of notebooks becomes a table and pages of feedback."""

import argparse
import dataclasses
import sys
from pathlib import Path

import toytf
from toytf_classroom import ClassroomError, gradebook, lms, own_numbers, workers
from toytf_classroom.grading import read_assignment
from toytf_classroom.sandbox import Bubblewrap, Limits, default_packages

EXAMPLES = (
    "toytf-classroom grade week6/submissions --class class.csv --out week6/grades.csv",
    "toytf-classroom grade week6/submissions --out week6/grades.csv --manual week6/points.csv",
    "toytf-classroom grade week5/submissions --class class.csv --key-file key.txt --out week5/grades.csv",
)
STOPPED = "what is graded already is kept, the same command goes on from here"


def arguments(parser: argparse.ArgumentParser) -> None:
    limits = Limits()
    parser.description = (
        "Grade notebooks. Each one's code runs in a sandbox (bubblewrap), without network and with limits."
    )
    parser.epilog = (
        "Killed or stopped with Ctrl-C, the same command goes on where it was. Exit status: 0 done, "
        "1 some could not be graded, 2 refused, 130 stopped."
    )
    parser.add_argument("submissions", type=Path, help="folder with <student>.ipynb, or <student>/<any>.ipynb")
    parser.add_argument("--out", type=Path, default=Path("grades.csv"), help="the table to write (default: grades.csv)")
    parser.add_argument("--assignment", type=Path, help="default: assignment.json in the folder of submissions")
    lms.arguments(parser, "who is expected")
    parser.add_argument(
        "--manual", type=Path, metavar="CSV", help="what a person gave: student, exercise, met, points, comment"
    )
    parser.add_argument(
        "--jobs", type=int, default=len(workers.cores()), help="how many at a time (default: one a core)"
    )
    parser.add_argument(
        "--allow", action="append", default=[], metavar="NAME", help="another package that students may use"
    )
    parser.add_argument(
        "--student", action="append", default=[], metavar="NAME", help="grade this one again, and nobody else"
    )
    own_numbers.key_argument(parser, "; needed where the numbers are each student's own")
    for option, seconds, what in (
        ("--cell-seconds", limits.cell, "one code cell"),
        ("--call-seconds", limits.call, "one call"),
        ("--seconds", limits.total, "a submission"),
    ):
        words = f"of the processor for {what} (default: %(default)g)"
        parser.add_argument(option, type=float, default=seconds, help=words)
    parser.add_argument("--memory", type=int, default=limits.memory >> 20, metavar="MB", help="default: %(default)d")


def run(given) -> int:
    _refuse(given)
    assignment = read_assignment(given.assignment or given.submissions / "assignment.json")
    answers = own_numbers.RightAnswers(assignment, own_numbers.read_key(given)) if assignment.own else None
    sandbox = _sandbox(given)
    sandbox.check()
    limits = dataclasses.replace(
        Limits(), cell=given.cell_seconds, call=given.call_seconds, total=given.seconds, memory=given.memory << 20
    )
    summary = gradebook.grade_folder(
        given.submissions, given.out, assignment, sandbox,
        class_list=given.class_list, student_column=given.student_column, manual=given.manual, limits=limits,
        jobs=given.jobs, answers=answers, only=given.student,
    )  # fmt: skip
    home = given.out.with_suffix("")
    for note in summary.notes + summary.failed + summary.doubts:
        print(note, file=sys.stderr)
    many = "1 student" if summary.students == 1 else f"{summary.students} students"
    print(f"{many}: {summary.graded} graded now, {summary.reused} as before.")
    print(f"Grades: {given.out}. Feedback: {home}/feedback/index.html.")
    if summary.to_read:
        many = "1 text is" if summary.to_read == 1 else f"{summary.to_read} texts are"
        print(f"{many} to be read by a person: {home}/to_read.csv.")
    for wrong in summary.wrong:
        print(f"Look at this before you use the table: {wrong}")
    if summary.failed:
        many = "1 submission" if len(summary.failed) == 1 else f"{len(summary.failed)} submissions"
        print(f"{many} could not be graded: the cells are empty, the remark says why. The same command tries again.")
        return 1
    return 0


def _refuse(given) -> None:
    """Say what is wrong with the arguments before anything is done."""
    home = given.out.resolve().with_suffix("")
    seconds = [given.cell_seconds, given.call_seconds, given.seconds]
    for wrong, says in (
        (not given.submissions.is_dir(), f"submissions: expected a folder, got {given.submissions}"),
        (given.out.suffix != ".csv" or given.out.is_dir(), f"--out: expected a file .csv, got {given.out}"),
        (
            home.is_relative_to(given.submissions.resolve()),
            f"--out: expected a place outside the folder of submissions, {given.submissions}, got {given.out}",
        ),
        (not all(0 < one < 1e6 for one in seconds), f"--..seconds: expected numbers above 0, got {seconds}"),
        (not 256 <= given.memory < 1 << 20, f"--memory: expected at least 256 MB, got {given.memory}"),
        (given.student_column and not given.class_list, "--student-column: expected --class CSV with it, got none"),
    ):
        if wrong:
            raise ClassroomError(says)


def _sandbox(given) -> Bubblewrap:
    allow = tuple(dict.fromkeys([*default_packages(), *given.allow]))
    ours = Path(toytf.__file__).parent, Path(__file__).parent
    hide = tuple(str(p.resolve()) for p in (given.submissions, given.out.with_suffix(""), *ours))
    return Bubblewrap(allow, hide)
