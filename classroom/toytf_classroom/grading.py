"""Grades one submission: what it says is collected in a sandbox, what that is worth is decided here."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

import toytf
from toytf import check
from toytf.check.answers import ByHand
from toytf.check.core import Outcome, Report, diagnose
from toytf.check.outcomes import KINDS
from toytf.course.exercises import NOT_ANSWERED
from toytf_classroom import frames, submission
from toytf_classroom.code_version import code_version
from toytf_classroom.plain_text import plain
from toytf_classroom.sandbox import Failure, Limits, Session, lasting
from toytf_classroom.sandbox import settings as sandbox_settings
from toytf_classroom.submission import Unreadable

FORMAT = "toytf receipt"
OWN = "own numbers"  # the kind of a by-hand exercise whose numbers are each student's own
MOST_LINES = 60  # of what a checker says


class BadAssignment(ValueError):
    """An assignment.json that is none, or asks for exercises that this version does not know."""


# ---------------------------------------------------------------- the assignment


@dataclass(frozen=True)
class Exercise:
    """One exercise: label, number, kind ("function", "by hand", `OWN`, "text"), points, topic, and title."""

    label: str
    number: str
    kind: str
    name: str | None
    points: float
    topic: str = ""  # of `OWN`: which of the worksheets'
    title: str = ""


@dataclass(frozen=True)
class Assignment:
    """What `toytf_classroom.assign` wrote into assignment.json; it holds no answers."""

    title: str
    exercises: tuple[Exercise, ...]
    sha256: str
    belongs: str = ""  # by what the key is known again with which the numbers of `OWN` were drawn

    @property
    def points(self) -> float:
        return sum(exercise.points for exercise in self.exercises)

    @property
    def own(self) -> list[str]:
        """The exercises whose numbers are each student's own."""
        return [exercise.number for exercise in self.exercises if exercise.kind == OWN]


@dataclass(frozen=True)
class Numbers:
    """What one student was given and what is right, where the numbers are one's own; see `own_numbers`.

    Parameters
    ----------
    sheet : str
        The number of the student's sheet.
    sealed : str
        Changes with anything here.
    right : mapping
        From the labels of exercises to the answers.
    given : mapping
        From labels to the tables that the student was given, as text.
    only_with : mapping
        From labels and names of answers to those that have to be right too for it to count.
    refused : str
        Why there are none.
    """

    sheet: str
    sealed: str
    right: Mapping[str, ByHand]
    given: Mapping[str, tuple[str, ...]]
    only_with: Mapping[str, Mapping[str, tuple[str, ...]]]
    refused: str = ""


def read_assignment(source: Path | bytes) -> Assignment:
    """Read assignment.json.

    Raises
    ------
    BadAssignment
        Naming the entry that is not as expected.
    """
    try:
        data = source if isinstance(source, bytes) else Path(source).read_bytes()
        whole = json.loads(data)
    except (OSError, ValueError, RecursionError) as error:
        raise BadAssignment(f"assignment: expected what toytf-classroom assign wrote, got {error}") from None
    if not isinstance(whole, dict) or whole.get("format") != "toytf assignment" or whole.get("version") != 1:
        raise BadAssignment('assignment: expected {"format": "toytf assignment", "version": 1, ...}')
    entries = whole.get("exercises")
    if not isinstance(entries, list) or not entries:
        raise BadAssignment("assignment: expected a list of exercises, got none")
    exercises = tuple(_exercise(i, entry) for i, entry in enumerate(entries))
    numbers = [exercise.number for exercise in exercises]
    if len(set(numbers)) < len(numbers):
        raise BadAssignment(f"assignment: expected each exercise once, got {', '.join(numbers)}")
    belongs = whole.get("belongs", "")
    if not isinstance(belongs, str):
        raise BadAssignment(f"assignment: belongs: expected text, got {belongs!r}")
    title = str(whole.get("title") or "Assignment")
    return Assignment(title, exercises, hashlib.sha256(data).hexdigest(), belongs)


def _exercise(i: int, entry) -> Exercise:
    where = f"assignment: exercises[{i}]"
    if not isinstance(entry, dict):
        raise BadAssignment(f"{where}: expected an object, got {type(entry).__name__}")
    label, number, kind, name = (entry.get(key) for key in ("label", "number", "kind", "name"))
    points = entry.get("points")
    if not isinstance(label, str) or not isinstance(number, str):
        raise BadAssignment(f"{where}: expected label and number, got {label!r} and {number!r}")
    if not isinstance(points, (int, float)) or isinstance(points, bool) or not 0 <= points < 1e6:
        raise BadAssignment(f"{where}: points: expected a number, got {points!r}")
    if kind == "function" and (not isinstance(name, str) or name not in check.CHECKS):
        raise BadAssignment(f"{where}: name: expected a checker of this version of toytf, got {name!r}")
    if kind == "by hand" and number not in check.BY_HAND:
        raise BadAssignment(f"{where}: number: expected a by-hand exercise with answers, got {number!r}")
    topic = entry.get("topic", "")
    if kind == OWN and (not isinstance(topic, str) or not topic):
        raise BadAssignment(f"{where}: topic: expected a topic of the worksheets, got {topic!r}")
    if kind not in ("function", "by hand", OWN, "text"):
        raise BadAssignment(f'{where}: kind: expected "function", "by hand", "{OWN}" or "text", got {kind!r}')
    title = entry.get("title")
    return Exercise(
        label,
        number,
        kind,
        name if kind == "function" else None,
        points,
        topic if kind == OWN else "",
        title if isinstance(title, str) else "",
    )


# ---------------------------------------------------------------- the receipt


@dataclass
class Result:
    """What one exercise is worth, and why.

    ``points`` is None where a person has to look: at a text, or where the checker failed; ``mistake`` is the
    name of a known mistake.
    """

    label: str
    number: str
    kind: str
    name: str | None
    out_of: float
    points: float | None
    headline: str
    details: list[str] = field(default_factory=list)
    mistake: str | None = None
    text: str | None = None  # a text answer
    person: bool = False  # whether a person has to look at it


@dataclass
class Receipt:
    """What was graded, and how it came out; the same submission gives the same receipt.

    Parameters
    ----------
    student, sha256 : str
        Whose file, and the hash of its bytes; "" if it could not be read.
    assignment : str
        Hash of assignment.json.
    reason : str
        Why there is nothing to grade; "" if there is.
    results : list of Result
    cells : list of dict
        For each code cell of which there is something to say: its number, what it printed, its error.
    notes : list of str
    versions, settings : dict
        With what it was graded.
    slow : bool
        Whether something was stopped because its time was over, and might not be at another try: what
        slept would sleep again.
    graded : bool
        False if the grader itself failed: then no points are said, and ``reason`` is for the teacher.
    own : dict
        Where numbers are one's own: ``sheet``, the number of this student's; ``sealed``, which changes with the
        answers; ``carried``, the number that the notebook says it has.
    """

    student: str
    sha256: str
    assignment: str
    results: list[Result]
    reason: str = ""
    cells: list[dict] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    settings: dict = field(default_factory=dict)
    slow: bool = False
    graded: bool = True
    own: dict[str, str] = field(default_factory=dict)

    @property
    def points(self) -> float:
        """Points without the exercises that a person has still to read."""
        return round(sum(result.points or 0 for result in self.results), 2)

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


def versions() -> dict[str, str]:
    return {"toytf": toytf.__version__, "numpy": np.__version__, "code": code_version()}


# ---------------------------------------------------------------- grading


def grade_one(
    path: Path | bytes,
    assignment: Assignment,
    *,
    sandbox,
    key: bytes = b"",
    student: str | None = None,
    limits: Limits | None = None,
    numbers: Numbers | None = None,
) -> Receipt:
    """Grade one notebook.

    Parameters
    ----------
    path : Path or bytes
        The notebook's file, or its bytes.
    assignment : Assignment
        From `read_assignment`.
    sandbox : Bubblewrap or Unprotected
        Where the student's code runs.
    key : bytes
        A secret; with the submission's hash it decides the hidden inputs.
    student : str, optional
        The file's name if not given.
    limits : Limits, optional
    numbers : Numbers, optional
        This student's, if the assignment has exercises with numbers of one's own.

    Returns
    -------
    Receipt
        Also for a file that cannot be read: then with ``reason``, and 0 points.

    Raises
    ------
    BadAssignment
        If it needs `numbers` and there are none.
    SandboxError
        If the sandbox does not work; that is no student's doing.
    """
    if assignment.own and numbers is None:
        what = "expected the student's own numbers, which follow from the key"
        raise BadAssignment(f"assignment: {', '.join(assignment.own)}: {what}; got none")
    limits = limits or Limits()
    student = student if student is not None else Path(path).stem if not isinstance(path, bytes) else "student"
    about = {"versions": versions(), "settings": sandbox_settings(sandbox, limits)}
    data = None
    try:
        data = path if isinstance(path, bytes) else submission.read_bytes(Path(path))
        read = submission.read(data)
    except Unreadable as error:
        seen = "" if data is None else hashlib.sha256(data).hexdigest()
        return nothing_to_grade(student, assignment, str(error), sha256=seen, **about)
    run = _Run(read, assignment, sandbox, limits, key, numbers)
    results = run.grade()
    notes, own = [*read.notes], {}
    if assignment.own:
        own = {"sheet": numbers.sheet, "sealed": numbers.sealed, "carried": read.sheet}
        if read.sheet and numbers.sheet and read.sheet != numbers.sheet:
            notes.append(f"This notebook says that it is sheet {read.sheet}. Yours is sheet {numbers.sheet}.")
    return Receipt(
        student, read.sha256, assignment.sha256, results, "", run.cells_said(), notes, slow=run.slow, own=own, **about
    )  # fmt: skip


def nothing_to_grade(student: str, assignment: Assignment, reason: str, sha256: str = "", **about) -> Receipt:
    """The receipt of a submission that is none."""
    results = [
        Result(e.label, e.number, e.kind, e.name, e.points, 0, f"{e.number}: nothing to grade.")
        for e in assignment.exercises
    ]
    return Receipt(student, sha256, assignment.sha256, results, plain(reason), **about)


def not_graded(student: str, assignment: Assignment, why: str) -> Receipt:
    """What is known of a submission at which the grader itself failed: no points, not even 0."""
    results = [
        Result(e.label, e.number, e.kind, e.name, e.points, None, f"{e.number}: not graded.", person=True)
        for e in assignment.exercises
    ]
    return Receipt(student, "", assignment.sha256, results, plain(why, 300), graded=False)


class _Run:
    """One submission on its way through as many sandboxes as it takes."""

    def __init__(self, read: submission.Submission, assignment, sandbox, limits, key, numbers: Numbers | None = None):
        self.read, self.assignment, self.sandbox, self.limits, self.key = read, assignment, sandbox, limits, key
        self.numbers = numbers
        self.slow = self.asleep = False  # whether anything was stopped for its time, at work or asleep
        self.session: Session | None = None
        self.spent = 0.0  # seconds of the processor, in the sandboxes that are gone
        self.results: dict[str, Result] = {}
        self.said: dict[int, dict] = {}  # by number of the code cell
        self.skipped: set[int] = set()

    # ---- the course of it

    def grade(self) -> list[Result]:
        for exercise in self.assignment.exercises:
            if exercise.kind == "text":
                self.results[exercise.label] = self._text(exercise)
        self.until = time.monotonic() + self.limits.total * self.limits.clock
        for _ in range(self.limits.restarts + 1):
            if len(self.results) == len(self.assignment.exercises) or self._over():
                break
            self.session = Session(self.sandbox, self.limits)
            try:
                self._cells()
                self._exercises()
            except Failure as failure:
                self.slow |= failure.kind == "slow"
                self.asleep |= failure.kind == "asleep"
            finally:
                self.spent += self.session.used()
                self.session.close()
                self.session = None
        why = "too many sandboxes had to be ended before it"
        if self._over():
            why = f"its {lasting(self.limits.total)} were used up"
            self.slow |= self._left()[0] <= 0 or not self.asleep
        for exercise in self.assignment.exercises:
            if exercise.label not in self.results:
                self._no_points(exercise, f"{exercise.name or exercise.number}: not reached, {why}.")
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
        if reply.header.get("clock") == "clock":
            if self.session.starved(self.clock):
                self.slow = True
            else:
                self.asleep = True
            return f"stopped after {lasting(self.clock)} on the clock"
        self.slow = True
        return f"stopped after {lasting(self.seconds)} of processor time"

    def _cells(self) -> None:
        """Run the code cells in order."""
        for number, source in enumerate(self.read.cells, start=1):
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
        if kind == "slow":
            about["error"] = f"The cell was {self._stopped(reply)}."
        elif kind == "raised":
            line = reply.header.get("line")
            where = f" (line {line})" if type(line) is int and 0 < line < 10**6 else ""
            about["error"] = reply.text("text") + where
        return about

    def _exercises(self) -> None:
        """Ask for the results."""
        for exercise in self.assignment.exercises:
            if exercise.label in self.results:
                continue
            if self._over():
                return
            ask = self._function if exercise.kind == "function" else self._by_hand
            name = exercise.name or exercise.number
            try:
                ask(exercise)
            except frames.Malformed as error:
                self._no_points(exercise, f"{name}: not yet. It handed back no arrays: {error}.")
            except Failure as failure:
                self._no_points(exercise, f"{name}: not yet. It {failure}.")
                raise

    # ---- the kinds of exercises

    def _text(self, exercise: Exercise) -> Result:
        """A text is for a person to read; the cell is found by its grade id or by the exercise's label."""
        found = [
            text
            for name, text in self.read.texts.items()
            if name == exercise.label or re.fullmatch(rf"{re.escape(exercise.label)}[-_].+", name)
        ]
        text = plain("\n\n".join(dict.fromkeys(found)), 20_000)
        blank = text.strip() in ("", NOT_ANSWERED)
        said = "no answer was found." if blank else "to be read by a person."
        points = 0 if blank else None
        return Result(
            exercise.label, exercise.number, "text", None, exercise.points, points, f"{exercise.number}: {said}",
            text=text, person=True,
        )  # fmt: skip

    def _function(self, exercise: Exercise) -> None:
        checker = check.CHECKS[exercise.name]
        try:
            cases = checker.draw(self._inputs(exercise))
        except Exception as error:  # a checker that fails must not fail a batch
            return self._checker_failed(exercise, error)
        outcomes: list[Outcome] = []
        for i, case in enumerate(cases, start=1):
            arrays: list = []
            header = {"do": "call", "name": exercise.name, "args": frames.pack_value(tuple(case.args), arrays)["tuple"]}
            reply = self._request(header, arrays, most=self.limits.call)
            kind = reply.header.get("kind")
            if kind == "missing":
                return self._no_points(
                    exercise, f"{exercise.name}: not found. No cell defines a function of this name."
                )
            if kind == "not callable":
                what = f"expected your function, got {plain(reply.text('text', 100))}"
                return self._no_points(exercise, f"{exercise.name}: {what}.")
            if kind == "too slow":
                what = f"not yet. On input {i} it was {self._stopped(reply)}"
                return self._no_points(exercise, f"{exercise.name}: {what}.")
            outcomes.append(_outcome(reply, case.args))
        self._decide(exercise, lambda: diagnose(checker, cases, outcomes))

    def _by_hand(self, exercise: Exercise) -> None:
        own = exercise.kind == OWN
        if own and self.numbers.refused:
            return self._no_points(
                exercise, f"{exercise.number}: no numbers belong to this name. {self.numbers.refused}"
            )
        expected = self.numbers.right[exercise.label] if own else check.BY_HAND[exercise.number]
        variable = "answer_" + re.sub(r"[.-]", "_", exercise.number)
        reply = self._request({"do": "read", "name": variable}, most=self.limits.call)
        if reply.header.get("kind") == "missing":
            return self._no_points(exercise, f"{exercise.number}: not found. No cell sets {variable}.")
        named, answers, notes = _answers(reply)
        known = [part.name for part in expected.parts]
        if not named:
            if len(known) > 1:
                what = f"expected {variable} to be a dictionary with {', '.join(map(repr, known))}"
                return self._no_points(exercise, f"{exercise.number}: {what}.")
            answers = {known[0]: answers.get(None)}
        notes += [
            f"{plain(name, 60)!r} is none of {', '.join(map(repr, known))}." for name in answers if name not in known
        ]
        given = {name: answers.get(name) for name in known}
        try:
            if own:
                given = {name: None if _blank(mine) else mine for name, mine in given.items()}
            reports = [expected.reports(value, part=name)[0] for name, value in given.items()]
        except Exception as error:  # a checker that fails must not fail a batch
            return self._checker_failed(exercise, error)
        right = {name for name, report in zip(known, reports, strict=True) if report.right}
        headline = (
            f"{exercise.number}: right."
            if len(right) == len(reports)
            else f"{exercise.number}: {len(right)} of {len(reports)} right."
        )
        said, counts = [str(report) for report in reports], len(right)
        if own:
            alone = self._alone(exercise, right)
            counts -= len(alone)
            headline += f" {counts} of these count{'s' * (counts == 1)}." if alone else ""
            said = ["Your numbers:", *self.numbers.given[exercise.label], "", *said, *alone]
        self._record(exercise, round(exercise.points * counts / len(reports), 2), headline, [*said, *notes])

    def _alone(self, exercise: Exercise, right: set[str]) -> list[str]:
        """Right answers that do not count without others, since a neighbour's may be the same: a sentence for each."""
        return [
            f"{name} counts when {' and '.join(others)} {'are' if len(others) > 1 else 'is'} right too."
            for name, others in self.numbers.only_with[exercise.label].items()
            if name in right and not right >= set(others)
        ]

    # ---- what comes of it

    def _inputs(self, exercise: Exercise) -> np.random.Generator:
        """Hidden inputs: new for each submission, the same each time it is graded."""
        seed = b"\0".join([self.key, self.read.sha256.encode(), exercise.label.encode()])
        return np.random.default_rng(int.from_bytes(hashlib.sha256(seed).digest(), "little"))

    def _decide(self, exercise: Exercise, report: Callable[[], Report]) -> None:
        try:
            with np.errstate(all="ignore"):
                said = report()
        except Exception as error:  # a checker that fails must not fail a batch
            return self._checker_failed(exercise, error)
        points = exercise.points if said.right else 0.0
        self._record(exercise, points, said.headline, list(said.details), said.mistake or "")

    def _checker_failed(self, exercise: Exercise, error: Exception) -> None:
        what = f"{type(error).__name__}: {error}"
        self._record(exercise, None, f"{exercise.name or exercise.number}: the checker itself failed.", [what])
        self.results[exercise.label].person = True

    def _no_points(self, exercise: Exercise, headline: str) -> None:
        self._record(exercise, 0, headline, [])

    def _record(
        self, exercise: Exercise, points, headline: str, details: list[str], mistake: str | None = None
    ) -> None:
        lines = [plain(line, 4000) for line in details[:MOST_LINES]]
        self.results[exercise.label] = Result(
            exercise.label, exercise.number, exercise.kind, exercise.name, exercise.points, points,
            plain(headline, 2200), lines, mistake or None,
        )  # fmt: skip

    def cells_said(self) -> list[dict]:
        """What there is to tell about the code cells, for the student."""
        shown = []
        for number in sorted(self.said):
            one = {k: plain(v, 20_000) if isinstance(v, str) else v for k, v in self.said[number].items() if v}
            if len(one) > 1:
                shown.append(one)
        return shown


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


def _blank(answer) -> bool:
    """Whether nothing was written into any of the boxes: None in a table comes as NaN."""
    return isinstance(answer, np.ndarray) and bool(np.isnan(answer).all())


def _answers(reply) -> tuple[bool, dict, list[str]]:
    """By-hand answers from a reply: whether they have names, name -> array, text or None, and notes."""
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
    return named, answers, []
