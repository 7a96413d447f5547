"""Grades one submission: what it says is collected in a sandbox, what that is worth is decided here."""

from __future__ import annotations

import difflib
import hashlib
import json
import re
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache, cached_property
from pathlib import Path

import numpy as np

import toytf
from toytf import check
from toytf.check.answers import ByHand
from toytf.check.compare import shown_input
from toytf.check.core import Outcome, diagnose
from toytf.check.outcomes import KINDS
from toytf.course.exercises import NOT_ANSWERED
from toytf_classroom import ClassroomError, frames, submission
from toytf_classroom.plain_text import plain
from toytf_classroom.sandbox import Failure, Limits, SandboxError, Session, lasting
from toytf_classroom.submission import Unreadable

FORMAT = "toytf receipt"
IMPORTS = "import numpy as np\n\nfrom toytf import check\nfrom toytf.byhand import fmt"  # a notebook's first cell
OWN = "own numbers"  # the kind of a by-hand exercise whose numbers are each student's own
MOST_LINES = 60  # of what a checker says
REMARKS = re.compile(r"(?:^#[^=\n]*$\n?)+|^\w+[ \t]*=[ \t]*\(?[\"'][^=]*", re.MULTILINE)  # at the margin, and no sum


# ---------------------------------------------------------------- the assignment


@dataclass(frozen=True)
class Exercise:
    """One exercise: label, number, kind ("function", "by hand", `OWN`, "text"), points, name, topic, and title."""

    label: str
    number: str
    kind: str
    points: float
    name: str | None = None
    topic: str = ""  # of `OWN`: which of the worksheets'
    title: str = ""


@dataclass(frozen=True)
class Assignment:
    """What `toytf_classroom.assign` wrote into assignment.json; it holds no answers."""

    title: str
    exercises: tuple[Exercise, ...]
    sha256: str
    belongs: str = ""  # by what the key is known again with which the numbers of `OWN` were drawn
    handed_out: frozenset[str] = frozenset()  # `fingerprint` of each text of the student's notebook

    @property
    def points(self) -> float:
        return sum(exercise.points for exercise in self.exercises)

    @property
    def own(self) -> list[str]:
        """The exercises whose numbers are each student's own."""
        return [exercise.number for exercise in self.exercises if exercise.kind == OWN]


@dataclass(frozen=True)
class Numbers:
    """What one student was given and what is right, where the numbers are one's own; see `own_numbers`."""

    sheet: str  # its number
    sealed: str  # changes with anything here
    right: Mapping[str, ByHand]  # from labels of exercises to the answers
    given: Mapping[str, tuple[str, ...]]  # from labels to the tables that the student was given, as text
    only_with: Mapping[str, Mapping[str, tuple[str, ...]]]  # label, answer: those that must be right too


def read_assignment(source: Path | bytes) -> Assignment:
    """Read assignment.json; `ClassroomError` if it is none, or asks for exercises that this version does not know."""
    try:
        data = source if isinstance(source, bytes) else source.read_bytes()
        whole = json.loads(data)
        if (whole["format"], whole["version"]) != ("toytf assignment", 1):
            raise ValueError("another format")
        exercises = tuple(Exercise(**entry) for entry in whole["exercises"])
        for one in exercises:
            known = {
                "function": one.name in check.CHECKS,
                "by hand": one.number in check.BY_HAND,
                OWN: True,
                "text": True,
            }
            if not known.get(one.kind) or not one.points >= 0:
                raise ValueError(f"an exercise that this version of toytf does not know, {one}")
        if not exercises or len({one.number for one in exercises}) < len(exercises):
            raise ValueError("no exercise, or one twice")
        about = str(whole["title"]), exercises, hashlib.sha256(data).hexdigest(), str(whole.get("belongs", ""))
        return Assignment(*about, frozenset(whole.get("texts", ())))
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        got = f"{type(error).__name__}: {error}"
        raise ClassroomError(f"assignment: expected what toytf-classroom assign wrote, got {got}") from None


def fingerprint(text: str) -> str:
    """By what a text that was handed out is known again, however an editor breaks its lines."""
    return hashlib.sha256(" ".join(text.split()).encode()).hexdigest()[:16]


# ---------------------------------------------------------------- the receipt


@dataclass
class Result:
    """What one exercise is worth, and why."""

    label: str
    number: str
    kind: str
    name: str | None
    out_of: float
    points: float | None  # None where a person has to look: at a text, or where the checker failed
    headline: str
    details: list[str] = field(default_factory=list)
    mistake: str | None = None  # the name of a known one
    text: str | None = None  # a text answer
    remark: str = ""  # for the teacher: why this is 0, or what to look at


@dataclass
class Receipt:
    """What was graded, and how it came out; the same submission gives the same receipt."""

    student: str
    sha256: str  # of the file's bytes; "" if it could not be read
    assignment: str  # hash of assignment.json
    results: list[Result]
    reason: str = ""  # why there is nothing to grade
    cells: list[dict] = field(default_factory=list)  # of each of which there is something to say: number, print, error
    notes: list[str] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)  # with what it was graded
    settings: dict = field(default_factory=dict)
    slow: bool = False  # whether something was stopped because its time was over, and might not be at another try
    graded: bool = True  # False if nobody knows yet: no points are said, and `reason` is for the teacher
    content: str = ""  # hash of what the cells say
    remarks: list[str] = field(default_factory=list)  # for the teacher
    late: float = 0.0  # percent that are taken off
    own: dict[str, str] = field(default_factory=dict)  # own numbers: the student's sheet, its `sealed`, the one carried

    @property
    def points(self) -> float:
        """Points without the exercises that a person has still to read, less what lateness costs."""
        return round(sum(result.points or 0 for result in self.results) * (1 - self.late / 100), 2)

    @property
    def failed(self) -> list[str]:
        """The exercises at which the checker itself failed: nobody knows yet what they are worth."""
        return [result.number for result in self.results if result.points is None and result.kind != "text"]

    def to_json(self) -> bytes:
        whole = {"format": FORMAT, "version": 1, **asdict(self), "points": self.points}
        return (json.dumps(whole, indent=1, sort_keys=True) + "\n").encode()

    @classmethod
    def from_json(cls, data: bytes) -> Receipt:
        """Read a receipt; `ValueError` if it is none."""
        try:
            whole = json.loads(data)
            if whole.pop("format") != FORMAT or whole.pop("version") != 1:
                raise ValueError("expected a receipt")
            whole.pop("points")
            return cls(**{**whole, "results": [Result(**result) for result in whole["results"]]})
        except (KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ValueError(f"expected a receipt, got {error}") from None


@cache
def code_version() -> str:
    """A hash of the code that can decide what an answer is worth: with another one a class is graded anew."""
    whole = hashlib.sha256()
    patterns = ("*.py", "byhand/*.py", "check/*.py", "course/exercises.py")
    for root in (Path(toytf.__file__).parent, Path(__file__).parent):
        for file in sorted(file for pattern in patterns for file in root.glob(pattern)):
            whole.update(f"{file.relative_to(root).as_posix()}\0".encode() + file.read_bytes())
    return whole.hexdigest()[:16]


def circumstances(sandbox, limits) -> dict:
    """What a receipt says of how it came about: with other versions or settings a class is graded anew."""
    versions = {"toytf": toytf.__version__, "numpy": np.__version__, "code": code_version()}
    return {"versions": versions, "settings": {"allow": sorted(sandbox.allow), "limits": asdict(limits)}}


# ---------------------------------------------------------------- grading


def grade_one(
    data: bytes, assignment: Assignment, student: str, *, sandbox, limits: Limits, key: bytes = b"",
    numbers: Numbers | None = None,
) -> Receipt:  # fmt: skip
    """Grade one notebook; also a file that cannot be read has a receipt, with ``reason``: an empty one 0 points.

    The `key` is a secret: with the submission's hash it decides the hidden inputs. `numbers` are this student's, if the
    assignment has exercises with numbers of one's own. `SandboxError` if the sandbox does not work: that is no
    student's doing.
    """
    about = circumstances(sandbox, limits)
    try:
        read = submission.read(data)
    except Unreadable as error:
        if data.strip():
            return not_graded(student, assignment, str(error))
        seen = hashlib.sha256(data).hexdigest()
        return nothing_to_grade(student, assignment, str(error), sha256=seen, **about)
    run = _Run(read, assignment, sandbox, limits, key, numbers)
    results = run.grade()
    notes, own = [*read.notes], {}
    if run.no_imports:
        notes.insert(
            0, "The notebook's first cell, with the imports, is missing. It was put back, and costs no points."
        )
    if assignment.own:
        own = {"sheet": numbers.sheet, "sealed": numbers.sealed, "carried": read.sheet}
        if read.sheet and read.sheet != numbers.sheet:
            notes.append(f"This notebook says that it is sheet {read.sheet}. Yours is sheet {numbers.sheet}.")
    return Receipt(
        student, read.sha256, assignment.sha256, results, "", run.cells_said(), notes, slow=run.slow, own=own,
        content=read.content, remarks=run.remarks(), **about,
    )  # fmt: skip


def nothing_to_grade(student: str, assignment: Assignment, reason: str, sha256: str = "", **about) -> Receipt:
    """The receipt of a submission that is none."""
    results = _all(assignment, 0, "nothing to grade")
    return Receipt(student, sha256, assignment.sha256, results, plain(reason), **about)


def not_graded(student: str, assignment: Assignment, why: str) -> Receipt:
    """What is known where a person has to look, or where the grader itself failed: no points, not even 0."""
    results = _all(assignment, None, "not graded")
    return Receipt(student, "", assignment.sha256, results, plain(why, 300), graded=False)


def _all(assignment: Assignment, points: float | None, said: str) -> list[Result]:
    """The same result for every exercise."""
    return [_result(e, points, f"{e.number}: {said}.") for e in assignment.exercises]


def _result(exercise: Exercise, points: float | None, headline: str, *details: str, **more) -> Result:
    lines = [plain(line, 4000) for line in details[:MOST_LINES]]
    headline = plain(headline, 2200)
    if points == 0 < exercise.points:
        why = headline.partition(": ")[2].removeprefix("not yet. ").removeprefix("It raised ").rstrip(".")
        more.setdefault("remark", plain(f"{exercise.number}: {why}", 200))
    about = exercise.label, exercise.number, exercise.kind, exercise.name, exercise.points
    return Result(*about, points, headline, lines, **more)


class _Run:
    """One submission on its way through as many sandboxes as it takes."""

    def __init__(self, read: submission.Submission, assignment, sandbox, limits, key, numbers: Numbers | None):
        self.read, self.assignment, self.sandbox, self.limits, self.key = read, assignment, sandbox, limits, key
        self.numbers = numbers
        self.slow = False  # whether anything was stopped because its time was over
        self.session: Session | None = None
        self.spent = 0.0  # seconds of the processor, in the sandboxes that are gone
        self.results: dict[str, Result] = {}
        self.said: dict[int, dict] = {}  # by number of the code cell
        self.skipped: set[int] = set()
        self.no_imports = not self._cells_with(r"^[ \t]*(import|from)[ \t]+numpy\b")
        self._own, self._texts = (
            {exercise.label for exercise in assignment.exercises if exercise.kind == kind} for kind in (OWN, "text")
        )

    # ---- the course of it

    def grade(self) -> list[Result]:
        texts = [exercise for exercise in self.assignment.exercises if exercise.kind == "text"]
        self.until = time.monotonic() + self.limits.total * self.limits.clock
        for _ in range(self.limits.restarts + 1):
            if len(self.results) + len(texts) == len(self.assignment.exercises) or self._over():
                break
            self.session = Session(self.sandbox, self.limits)
            try:
                self._cells()
                self._exercises()
            except Failure as failure:
                self.slow |= failure.kind == "slow"
            finally:
                self.spent += self.session.used()
                self.session.close()
                self.session = None
        for exercise in texts:
            self.results[exercise.label] = self._text(exercise)
        why = "too many sandboxes had to be ended before it"
        if self._over():
            why = f"its {lasting(self.limits.total)} were used up"
            self.slow = True
        for exercise in self.assignment.exercises:
            if exercise.label not in self.results:
                self._record(exercise, 0, f"{exercise.name or exercise.number}: not reached, {why}.")
        return [self.results[exercise.label] for exercise in self.assignment.exercises]

    def _left(self) -> tuple[float, float]:
        """What is left of the submission's time, on the processor and on the clock."""
        used = self.spent + (self.session.used() if self.session else 0.0)
        return self.limits.total - used, self.until - time.monotonic()

    def _over(self) -> bool:
        return min(self._left()) <= 0

    def _request(self, header: dict, arrays=(), *, most: float):
        """Ask the sandbox, which has so many seconds, or what is left of all."""
        left, on_the_clock = self._left()
        self.seconds = max(0.01, min(most, left))
        self.clock = max(0.01, min(most * self.limits.clock, on_the_clock))
        return self.session.request(header, arrays, seconds=self.seconds, clock=self.clock)

    def _stopped(self, reply) -> str:
        """After how long the code that was just asked was stopped, in words."""
        self.slow = True
        if reply.header.get("clock") == "clock":
            return f"stopped after {lasting(self.clock)} on the clock"
        return f"stopped after {lasting(self.seconds)} of processor time"

    def _cells(self) -> None:
        code = [IMPORTS] if self.no_imports else []
        for number, source in enumerate([*code, *self.read.code], start=1 - len(code)):
            if number in self.skipped:
                continue
            said = self.said.setdefault(number, {"cell": number})
            try:
                reply = self._request({"do": "cell", "number": number, "source": source}, most=self.limits.cell)
            except frames.Malformed:
                self.skipped.add(number)
                said["error"] = "The cell is too large."
                continue
            except Failure as failure:
                self.skipped.add(number)
                printed = self.session.take_printed()
                said.update(printed=printed, error=f"The cell {failure}; the others are graded without it.")
                raise
            said["printed"] = self.session.take_printed()
            said.update(self._about_cell(reply))

    def _about_cell(self, reply) -> dict:
        kind, about = reply.header.get("kind"), {}
        dropped = reply.header.get("dropped")
        if isinstance(dropped, list) and dropped:
            lines = ", ".join(line[:200] for line in dropped[:20] if isinstance(line, str))
            about["note"] = f"Left out, since only Jupyter understands it: {lines}"
        lacks = reply.header.get("lacks")
        if isinstance(lacks, list) and lacks:
            about["lacks"] = "; ".join(line[:200] for line in lacks[:20] if isinstance(line, str))
        if kind == "slow":
            about["error"] = f"The cell was {self._stopped(reply)}."
        elif kind == "raised":
            line = reply.header.get("line")
            where = f" (line {line})" if type(line) is int and 0 < line < 10**6 else ""
            about["error"] = re.sub(r" \(<code cell \d+>, line \d+\)$", "", reply.text("text")) + where
        return about

    def _exercises(self) -> None:
        for exercise in self.assignment.exercises:
            if exercise.kind == "text" or exercise.label in self.results:
                continue
            if self._over():
                return
            ask = self._function if exercise.kind == "function" else self._by_hand
            name = exercise.name or exercise.number
            self.input = None
            try:
                ask(exercise)
            except frames.Malformed as error:
                self._record(exercise, 0, f"{name}: not yet. It handed back no arrays: {error}.")
            except Failure as failure:
                self._cut_off(exercise, f"It {failure}")
                raise
            except SandboxError:
                raise
            except Exception as error:  # a checker that fails must not fail a batch
                what = f"{type(error).__name__}: {error}"
                self._record(exercise, None, f"{name}: the checker itself failed.", what)

    # ---- the kinds of exercises

    def _text(self, exercise: Exercise) -> Result:
        """A text is for a person to read, wherever in the notebook it stands; only what is blank gets 0."""
        number = exercise.number
        named = re.compile(rf"(?<![\d.]){re.escape(number)}(?!\d)")  # in the title, or in the answer to another one
        mine = [(role, text) for label, role, text in self.words if label == exercise.label and role != "comment"]
        found = mine or [one[1:] for one in self.words if one[1] not in ("answer", "title") or named.search(one[2])]
        if found:
            apart = not any(role == "answer" for role, _ in mine)
            remark = f"{number}: the answer stands outside of its cell" * apart
            text = plain("\n\n".join(dict.fromkeys(text for _, text in found)), 20_000)
            return _result(exercise, None, f"{number}: to be read by a person.", text=text, remark=remark)
        return _result(exercise, 0, f"{number}: no answer was found.", text="", remark=f"{number}: no answer")

    @cached_property
    def words(self) -> list[tuple[str, str, str]]:
        """What the student wrote in words: at which exercise it stands (its label), in which role, and the text.

        A text belongs to the exercise whose name its cell has, else to the one whose question stands before it.
        """
        found, here = [], ""
        for cell in self.read.cells:
            label, role = self._place(cell)
            here = label or here
            for_one = role == "text" and label in self._own  # other words for each student
            handed_out = for_one or fingerprint(cell.source) in self.assignment.handed_out
            if handed_out or cell.source.strip() in ("", NOT_ANSWERED):
                continue
            if not cell.code or self._is_prose(cell, label, role):
                found.append((here, role, cell.source))
            elif any(len(re.findall(r"[^\W\d_]{2,}", one)) > 8 for one in REMARKS.findall(cell.source)):
                found.append((here, "comment", cell.source))
        return found

    def _place(self, cell: submission.Cell) -> tuple[str, str]:
        """The exercise at which a cell stands and its role there, by its names or a question's heading."""
        heading = "" if cell.code else re.match(r"\s*(?:#+\s*(\d+\.\d+)\b)?", cell.source)[1]
        for exercise in self.assignment.exercises:
            for name in cell.names:
                if name == exercise.label or name.startswith((f"{exercise.label}-", f"{exercise.label}_")):
                    role = name[len(exercise.label) + 1 :]
                    return exercise.label, role if role in ("text", "check") else "answer"
            if heading == exercise.number:
                return exercise.label, "text"
        return "", "title" if "title" in cell.names else ""

    def _is_prose(self, cell: submission.Cell, label: str, role: str) -> bool:
        """Whether a cell of code holds words: it was an answer in words, it is all comment, or it is no Python."""
        if role == "check":
            return False
        if role == "answer":
            return label in self._texts
        lines = [line.strip() for line in cell.source.splitlines() if line.strip()]
        no_python = "SyntaxError" in self.said.get(cell.code, {}).get("error", "") and len(cell.source.split()) > 3
        return no_python or all(line.startswith("#") for line in lines) or _is_string(cell.source)

    def _function(self, exercise: Exercise) -> None:
        checker, name = check.CHECKS[exercise.name], exercise.name
        cases = checker.draw(self._inputs(exercise))
        outcomes: list[Outcome] = []
        for i, case in enumerate(cases, start=1):
            arrays, self.input = [], (checker, case)
            header = {"do": "call", "name": name, "args": frames.pack_value(tuple(case.args), arrays)["tuple"]}
            reply = self._request(header, arrays, most=self.limits.call)
            kind = reply.header.get("kind")
            if kind == "missing":
                return self._missing(exercise, name, rf"(def {name}\b|{name}[ \t]*(:.*)?=)")
            if kind == "not callable":
                return self._record(exercise, 0, f"{name}: expected your function, got {reply.text('text', 100)}.")
            if kind == "too slow":
                return self._cut_off(exercise, f"On input {i} it was {self._stopped(reply)}")
            outcomes.append(_outcome(reply, case.args))
        with np.errstate(all="ignore"):
            said = diagnose(checker, cases, outcomes)
        if said.right:
            return self._record(exercise, exercise.points, said.headline, *said.details)
        hints = [f"Not here while the grader runs: {lacks}." for lacks in self._lacks()]
        if len(found := self._cells_with(rf"^[ \t]*def {name}\b")) > 1:
            hints.append(f"Code cells {', '.join(map(str, found))} define it. The last one counts.")
        self._record(exercise, 0.0, said.headline, *said.details, *hints, mistake=said.mistake or None)

    def _by_hand(self, exercise: Exercise) -> None:
        own, number = exercise.kind == OWN, exercise.number
        expected = self.numbers.right[exercise.label] if own else check.BY_HAND[number]
        variable = answer_name(exercise)
        reply = self._request({"do": "read", "name": variable}, most=self.limits.call)
        if reply.header.get("kind") == "missing":
            return self._missing(exercise, variable, rf"{variable}\b.*[=(]")
        named, answers = _answers(reply)
        known = [part.name for part in expected.parts]
        listed = ", ".join(map(repr, known))
        if not named:
            if len(known) > 1:
                return self._record(exercise, 0, f"{number}: expected {variable} to be a dictionary with {listed}.")
            answers = {known[0]: answers.get(None)}
        notes = [f"{plain(name, 60)!r} is none of {listed}." for name in answers if name not in known]
        given = {name: answers.get(name) for name in known}
        if own:  # a table in which nothing was written: None comes as NaN
            blank = [name for name, mine in given.items() if isinstance(mine, np.ndarray) and np.isnan(mine).all()]
            given |= dict.fromkeys(blank)
        reports = [expected.reports(value, part=name)[0] for name, value in given.items()]
        right = {name for name, report in zip(known, reports, strict=True) if report.right}
        counts, said = len(right), [str(report) for report in reports]
        headline = f"{number}: right." if counts == len(reports) else f"{number}: {counts} of {len(reports)} right."
        if own:
            alone = self._alone(exercise, right)
            counts -= len(alone)
            headline += f" {counts} of these count{'s' * (counts == 1)}." if alone else ""
            said = ["Your numbers:", *self.numbers.given[exercise.label], "", *said, *alone]
        why = [*notes, *(report.headline.partition(": ")[2] for report in reports if not report.right)]
        more = {} if counts else {"remark": plain(f"{number}: {why[0].rstrip('.')}", 200)}
        self._record(exercise, round(exercise.points * counts / len(reports), 2), headline, *said, *notes, **more)

    def _cut_off(self, exercise: Exercise, said: str) -> None:
        """No points for what was stopped, with the input on which that happened."""
        shown = shown_input(*self.input) if self.input else []
        headline, remark = f"{exercise.name or exercise.number}: not yet. {said}.", f"{exercise.number}: {said}"
        self._record(exercise, 0, headline, *shown, remark=remark)

    def _alone(self, exercise: Exercise, right: set[str]) -> list[str]:
        """Right answers that do not count without others, since a neighbour's may be the same: a sentence for each."""
        return [
            f"{name} counts when {' and '.join(others)} {'are' if len(others) > 1 else 'is'} right too."
            for name, others in self.numbers.only_with[exercise.label].items()
            if name in right and not right >= set(others)
        ]

    # ---- why something is not there

    def _missing(self, exercise: Exercise, name: str, pattern: str) -> None:
        """No points, and why the name is not there: the cell that would define it failed, or nearly has the name."""
        for number in self._cells_with(rf"^[ \t]*{pattern}"):
            if error := self.said.get(number, {}).get("error"):
                why = f"code cell {number}, which would define it, stopped before: {error.rstrip('.')}"
                return self._record(exercise, 0, f"{name}: not found, since {why}.")
        for cell in self.read.cells:
            handed_out = fingerprint(cell.source) in self.assignment.handed_out
            if not handed_out and re.search(rf"^[ \t#]*{pattern}", cell.source, re.MULTILINE):
                where = "a text cell, which does not run. Make it a code cell again"
                if cell.code:
                    where = f"code cell {cell.code}: behind #, in a function, a class or a try, or left out or deleted"
                return self._record(exercise, 0, f"{name}: not found after all cells had run. It stands in {where}.")
        defined = re.findall(r"^[ \t]*(?:def )?(\w{1,60})[ \t]*[(=]", "\n".join(self.read.code), re.MULTILINE)
        others = {one.name or answer_name(one) for one in self.assignment.exercises if one.kind != "text"}
        free = [one for one in dict.fromkeys(defined) if one not in others]
        near = difflib.get_close_matches(name, free[:200], n=1, cutoff=0.8)
        self._record(exercise, 0, f"{name}: not found{f', but {near[0]} is there' if near else ''}.")

    def _cells_with(self, pattern: str) -> list[int]:
        """The numbers of the code cells in which something stands."""
        return [n for n, source in enumerate(self.read.code, 1) if re.search(pattern, source, re.MULTILINE)]

    def _lacks(self) -> list[str]:
        """What could not be imported, and by which cells."""
        return [f"{plain(said['lacks'], 300)} (code cell {n})" for n, said in self.said.items() if said.get("lacks")]

    def remarks(self) -> list[str]:
        """What a teacher wants to know besides the points; a notebook without any says why."""
        results = list(self.results.values())
        said = ["the first cell, with the imports, is missing, and was put back"] * self.no_imports
        said += [result.remark for result in results if result.remark]
        said += [f"not here: {lacks}" for lacks in self._lacks()]
        if any("### BEGIN SOLUTION" in source for source in self.read.code):
            said.append("this is the instructor's notebook")
        named = {label for label, _ in map(self._place, self.read.cells)} - {""}
        if not named and not any(result.points for result in results):
            said = [one for one in said if not one.endswith((": not found", ": no answer", "was put back"))]
            none = "none of the exercises is in it: is it another assignment's?"
            said.append(none if any(cell.source.strip() for cell in self.read.cells) else "the notebook is empty")
        elif not any(result.points is None or result.points for result in results):
            said.append("nothing was answered right")
        return said

    # ---- what comes of it

    def _inputs(self, exercise: Exercise) -> np.random.Generator:
        """Hidden inputs: new for each submission, the same each time it is graded."""
        seed = b"\0".join([self.key, self.read.sha256.encode(), exercise.label.encode()])
        return np.random.default_rng(int.from_bytes(hashlib.sha256(seed).digest(), "little"))

    def _record(self, exercise: Exercise, points, headline: str, *details: str, **more) -> None:
        self.results[exercise.label] = _result(exercise, points, headline, *details, **more)

    def cells_said(self) -> list[dict]:
        """What there is to tell about the code cells, for the student."""
        shown = []
        for number in sorted(self.said):
            one = {k: plain(v, 20_000) if isinstance(v, str) else v for k, v in self.said[number].items() if v}
            if lacks := one.pop("lacks", ""):
                one["note"] = f"Not here while the grader runs, and the cell went on without it: {lacks}."
            if len(one) > 1:
                shown.append(one)
        return shown


def _is_string(source: str) -> bool:
    """Whether a cell is one string, printed or not; only its ends are looked at."""
    text = source.strip().removeprefix("print").strip().removeprefix("(").removesuffix(")").strip()
    return len(text) > 2 and text[0] in "\"'" and text[-1] == text[0]


# ---------------------------------------------------------------- reading replies


def _outcome(reply, args: tuple) -> Outcome:
    """An outcome from a reply about a call with these arguments; whatever is not as it has to be is `Malformed`."""
    kind = reply.header.get("kind")
    if kind not in KINDS:
        raise frames.Malformed("expected a kind of outcome")
    arrays = reply.arrays()
    if kind not in ("arrays", "nothing", "no numbers"):  # it returned nothing, so it has no arguments to compare
        if arrays:
            raise frames.Malformed("expected no arrays with this kind")
        return Outcome(kind, text=plain(reply.text("text")))
    count = reply.header.get("results")
    if type(count) is not int or not 0 <= count <= len(arrays) or (count and kind != "arrays"):
        raise frames.Malformed("expected the number of results")
    modified = _modified(reply.header.get("given"), arrays[count:], args)
    return Outcome(kind, tuple(arrays[:count]), plain(reply.text("text")), modified)


def _modified(given, arrays: list, args: tuple) -> tuple[int, ...]:
    """Which arguments came back as others than they were sent; decided here, where no student's code runs."""
    if not isinstance(given, list) or len(given) != len(args):
        raise frames.Malformed("expected each argument as it was left")
    changed, start = [], 0
    for i, (one, argument) in enumerate(zip(given, args, strict=True)):
        if not isinstance(one, list) or len(one) != 2 or type(one[1]) is not int or one[1] < 0:
            raise frames.Malformed("expected an argument's text and the number of its arrays")
        text, parts = frames.pack_argument(argument)
        back = arrays[start : start + one[1]]
        start += one[1]
        if one[0] != text or not _same_bytes(parts, back):
            changed.append(i)
    if start != len(arrays):
        raise frames.Malformed("expected no arrays after the arguments")
    return tuple(changed)


def _same_bytes(ours: list, theirs: list) -> bool:
    return len(ours) == len(theirs) and all(
        a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
        for a, b in zip(ours, theirs, strict=True)
    )


def answer_name(one) -> str:
    """The variable of a by-hand answer, of an exercise with a number: ``answer_9_1``."""
    return f"answer_{re.sub(r'[.-]', '_', one.number)}"


def _answers(reply) -> tuple[bool, dict]:
    """By-hand answers from a reply: whether they have names, and name -> array, text or None."""
    parts, named = reply.header.get("parts"), reply.header.get("named")
    if reply.header.get("kind") != "answers" or not isinstance(parts, list) or not isinstance(named, bool):
        raise frames.Malformed("expected answers")
    arrays, answers = iter(reply.arrays()), {}
    for part in parts[:64]:
        name, kind = (part.get("name"), part.get("kind")) if isinstance(part, dict) else (0, 0)
        if not (isinstance(name, str) if named else name is None):
            raise frames.Malformed("expected names of answers")
        if kind == "none":
            answers[name] = None
        elif kind == "array":
            answers[name] = next(arrays, None)
        else:
            text = part.get("text")
            answers[name] = plain(text, 100) if isinstance(text, str) else "something else"
    return named, answers
