"""The command ``toytf grade``: a folder of notebooks becomes a table and pages of feedback."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from pathlib import Path

import toytf
from toytf._command import Trouble, reason
from toytf.teach import keys, own, tables
from toytf.teach.grade import desks, gradebook
from toytf.teach.grade.grading import read_assignment
from toytf.teach.grade.sandbox import Bubblewrap, Limits, SandboxError, Unprotected, default_packages
from toytf.teach.pages import environment

LEAST_MEMORY = 256  # MB; Python and NumPy alone take most of it
LOUD = """
************************************************************************************************
WITHOUT SANDBOX. The students' code can now read every file that this user can read, and use the
network. Do this only in a container that holds nothing of value and is thrown away afterwards.
************************************************************************************************
"""


EXAMPLES = (
    "toytf grade week6/submissions --class class.csv --out week6/grades.csv",
    "toytf grade week6/submissions --out week6/grades.csv --manual week6/points.csv",
    "toytf grade week5/submissions --class class.csv --key-file key.txt --out week5/grades.csv",
    "toytf grade week3/submissions --class canvas_gradebook.csv --out week3/grades.csv",
)
STOPPED = "what is graded already is kept, the same command goes on from here"


def arguments(parser: argparse.ArgumentParser) -> None:
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
    tables.arguments(parser, "who is expected")
    parser.add_argument(
        "--manual", type=Path, metavar="CSV", help="what a person gave: student, exercise, met, points, comment"
    )
    parser.add_argument("--jobs", type=int, default=len(desks.cores()), help="how many at a time (default: one a core)")
    parser.add_argument(
        "--allow", action="append", default=[], metavar="NAME", help="another package that students may use"
    )
    parser.add_argument("--again", action="store_true", help="grade also what was graded before")
    keys.arguments(parser, " Needed where toytf assign was called with --own-numbers.")
    limits = Limits()
    parser.add_argument(
        "--cell-seconds",
        type=float,
        default=limits.cell,
        help="of the processor for one code cell (default: %(default)g)",
    )
    parser.add_argument(
        "--call-seconds", type=float, default=limits.call, help="of the processor for one call (default: %(default)g)"
    )
    parser.add_argument(
        "--seconds", type=float, default=limits.total, help="of the processor for a submission (default: %(default)g)"
    )
    parser.add_argument("--memory", type=int, default=limits.memory >> 20, metavar="MB", help="default: %(default)d")
    parser.add_argument(
        "--without-sandbox-i-trust-this-code",
        action="store_true",
        help="run students' code unprotected; only in a container that is thrown away afterwards",
    )


def run(options) -> int:
    try:
        return _grade(options)
    except SandboxError as error:
        raise Trouble(str(error)) from error
    except OSError as error:  # the disk is full, a folder is read-only
        raise Trouble(f"{reason(error)}; {STOPPED}") from error


def _grade(given) -> int:
    if not given.submissions.is_dir():
        raise Trouble(f"submissions: expected a folder, got {given.submissions}")
    if given.out.suffix != ".csv" or given.out.is_dir():
        what = "a folder" if given.out.is_dir() else given.out
        raise Trouble(f"--out: expected a file name that ends in .csv, got {what}")
    times = {"--cell-seconds": given.cell_seconds, "--call-seconds": given.call_seconds, "--seconds": given.seconds}
    for option, value in times.items():
        if not 0 < value < 1e6:
            raise Trouble(f"{option}: expected a number of seconds above 0, got {value:g}")
    if given.jobs < 1:
        raise Trouble(f"--jobs: expected at least 1, got {given.jobs}")
    if not LEAST_MEMORY <= given.memory < 1 << 20:
        raise Trouble(f"--memory: expected at least {LEAST_MEMORY} MB, got {given.memory}")
    tables.refuse_a_column_alone(given)
    home = given.out.with_suffix("").resolve()
    if home.is_relative_to(given.submissions.resolve()):
        raise Trouble(f"--out: expected a place outside the folder of submissions, got {given.out}")
    assignment = read_assignment(given.assignment or given.submissions / "assignment.json")
    numbers = own.Answers(assignment, _key(given, assignment)) if assignment.own else None
    allow = tuple(dict.fromkeys([*default_packages(), *given.allow]))
    hide = tuple(str(p) for p in (given.submissions.resolve(), home, Path(toytf.__file__).resolve().parent))
    if given.without_sandbox_i_trust_this_code:
        print(LOUD, file=sys.stderr)
        sandbox = Unprotected(allow, hide)
    else:
        sandbox = Bubblewrap(allow, hide)
    environment()  # the pages come last, what they need is looked for first
    sandbox.check()
    limits = dataclasses.replace(
        Limits(), cell=given.cell_seconds, call=given.call_seconds, total=given.seconds, memory=given.memory << 20
    )
    summary = gradebook.grade_folder(
        given.submissions, given.out, assignment, sandbox,
        class_list=given.class_list, student_column=given.student_column, manual=given.manual, limits=limits,
        jobs=given.jobs, again=given.again, numbers=numbers,
    )  # fmt: skip
    for note in summary.notes + summary.failed:
        print(note, file=sys.stderr)
    print(f"{summary.students} students: {summary.graded} graded now, {summary.reused} as before.")
    print(f"Grades: {given.out}. Feedback: {given.out.with_suffix('')}/feedback/index.html.")
    if summary.to_read:
        many = "1 text is" if summary.to_read == 1 else f"{summary.to_read} texts are"
        print(f"{many} to be read by a person: {given.out.with_suffix('')}/to_read.csv.")
    if summary.failed:
        many = "1 submission" if len(summary.failed) == 1 else f"{len(summary.failed)} submissions"
        print(
            f"{many} could not be graded; the cells are empty, and the remark says why. The same command tries again."
        )
        return 1
    return 0


def _key(given, assignment) -> str:
    try:
        return keys.read(given)
    except OSError as error:
        raise Trouble(f"--key-file: expected a file that holds the key, got {reason(error)}") from None
    except ValueError as error:
        raise Trouble(f"{', '.join(assignment.own)}: the numbers are each student's own; {error}") from None
