"""Grades one submission: what it says is collected in a sandbox, what that is worth is decided here."""

from __future__ import annotations

import hashlib
import json
import re
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

import toytf
from toytf import check
from toytf.check.core import Outcome, Report, Unfair, diagnose
from toytf.exercises import NOT_ANSWERED
from toytf.grade import frames, submission
from toytf.grade.sandbox import GRACE, Failure, Limits, Session
from toytf.grade.sandbox import settings as sandbox_settings
from toytf.grade.submission import Unreadable, plain

FORMAT = "toytf receipt"
KINDS = ("arrays", "raised", "not written", "nothing", "no numbers", "too slow")
MOST_LINES = 60  # of what a checker says


class BadAssignment(ValueError):
    """An assignment.json that is none, or asks for exercises that this version does not know."""


# ---------------------------------------------------------------- the assignment


@dataclass(frozen=True)
class Exercise:
    """One exercise of an assignment: its label, number, kind ("function", "by hand", "text"), and points."""

    label: str
    number: str
    kind: str
    name: str | None
    points: float


@dataclass(frozen=True)
class Assignment:
    """What `toytf.assign` wrote into assignment.json; it holds no answers."""

    title: str
    exercises: tuple[Exercise, ...]
    sha256: str

    @property
    def points(self) -> float:
        return sum(exercise.points for exercise in self.exercises)


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
    except (OSError, ValueError) as error:
        raise BadAssignment(f"assignment: expected a JSON file written by toytf.assign, got {error}") from None
    if not isinstance(whole, dict) or whole.get("format") != "toytf assignment" or whole.get("version") != 1:
        raise BadAssignment('assignment: expected {"format": "toytf assignment", "version": 1, ...}')
    entries = whole.get("exercises")
    if not isinstance(entries, list) or not entries:
        raise BadAssignment("assignment: expected a list of exercises, got none")
    exercises = tuple(_exercise(i, entry) for i, entry in enumerate(entries))
    numbers = [exercise.number for exercise in exercises]
    if len(set(numbers)) < len(numbers):
        raise BadAssignment(f"assignment: expected each exercise once, got {', '.join(numbers)}")
    return Assignment(str(whole.get("title") or "Assignment"), exercises, hashlib.sha256(data).hexdigest())


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
    if kind == "function" and name not in check.CHECKS:
        raise BadAssignment(f"{where}: name: expected a checker of this version of toytf, got {name!r}")
    if kind == "by hand" and number not in check.BY_HAND:
        raise BadAssignment(f"{where}: number: expected a by-hand exercise with answers, got {number!r}")
    if kind not in ("function", "by hand", "text"):
        raise BadAssignment(f'{where}: kind: expected "function", "by hand" or "text", got {kind!r}')
    return Exercise(label, number, kind, name if kind == "function" else None, points)


# ---------------------------------------------------------------- the receipt


@dataclass
class Result:
    """What one exercise is worth, and why.

    ``points`` is None for a text that a person has to read; ``mistake`` is the name of a known mistake.
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

    @property
    def points(self) -> float:
        """Points without the exercises that a person has still to read."""
        return round(sum(result.points or 0 for result in self.results), 2)

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
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"expected a receipt, got {error}") from None


def code_version() -> str:
    """A hash of the code that decides what an answer is worth: with another, receipts are made anew."""
    root = Path(toytf.__file__).parent
    files = sorted([*root.glob("*.py"), *root.glob("check/*.py"), *root.glob("byhand/*.py"), *root.glob("grade/*.py")])
    whole = hashlib.sha256()
    for file in files:
        whole.update(f"{file.relative_to(root).as_posix()}\0".encode() + file.read_bytes())
    return whole.hexdigest()[:16]


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
    stop: threading.Event | None = None,
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
    stop : threading.Event, optional
        Set by somebody who wants to stop.

    Returns
    -------
    Receipt
        Also for a file that cannot be read: then with ``reason``, and 0 points.

    Raises
    ------
    SandboxError
        If the sandbox does not work; that is no student's doing.
    Stopped
        If `stop` was set.
    """
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
    run = _Run(read, assignment, sandbox, limits, key, stop or threading.Event())
    results = run.grade()
    return Receipt(
        student, read.sha256, assignment.sha256, results, "", run.cells_said(), [*read.notes, *run.notes], **about
    )  # fmt: skip


def nothing_to_grade(student: str, assignment: Assignment, reason: str, sha256: str = "", **about) -> Receipt:
    """The receipt of a submission that is none."""
    results = [
        Result(e.label, e.number, e.kind, e.name, e.points, 0, f"{e.number}: nothing to grade.")
        for e in assignment.exercises
    ]
    return Receipt(student, sha256, assignment.sha256, results, plain(reason), **about)


class _Run:
    """One submission on its way through as many sandboxes as it takes."""

    def __init__(self, read: submission.Submission, assignment, sandbox, limits, key, stop):
        self.read, self.assignment, self.sandbox, self.limits, self.stop = read, assignment, sandbox, limits, stop
        self.key = key
        self.results: dict[str, Result] = {}
        self.said: dict[int, dict] = {}  # by number of the code cell
        self.skipped: set[int] = set()
        self.notes: list[str] = []

    # ---- the course of it

    def grade(self) -> list[Result]:
        for exercise in self.assignment.exercises:
            if exercise.kind == "text":
                self.results[exercise.label] = self._text(exercise)
        self.until = time.monotonic() + self.limits.total
        for _ in range(self.limits.restarts + 1):
            if len(self.results) == len(self.assignment.exercises):
                break
            session = Session(self.sandbox, self.limits, self.stop)
            try:
                if self._cells(session) and not self._exercises(session):
                    continue
            finally:
                session.close()
            if time.monotonic() > self.until:
                break
        late = time.monotonic() > self.until
        why = (
            f"its {self.limits.total:g} seconds were used up"
            if late
            else "too many sandboxes had to be ended before it"
        )
        for exercise in self.assignment.exercises:
            if exercise.label not in self.results:
                self._no_points(exercise, f"{exercise.name or exercise.number}: not reached, {why}.")
        return [self.results[exercise.label] for exercise in self.assignment.exercises]

    def _seconds(self, most: float) -> float:
        return max(0.0, min(most, self.until - time.monotonic())) + GRACE

    def _cells(self, session: Session) -> bool:
        """Run the code cells in order; False if the sandbox had to be ended."""
        for number, source in enumerate(self.read.cells, start=1):
            if number in self.skipped:
                continue
            seconds = self._seconds(self.limits.cell)
            header = {"do": "cell", "number": number, "source": source, "seconds": seconds - GRACE}
            said = self.said.setdefault(number, {"cell": number})
            try:
                reply = session.request(header, seconds=seconds)
            except frames.Malformed:
                self.skipped.add(number)
                said["error"] = "The cell is too large."
                continue
            except Failure as failure:
                self.skipped.add(number)
                said.update(
                    printed=session.take_printed(), error=f"The cell {failure}; the others are graded without it."
                )
                return False
            said["printed"] = session.take_printed()
            said.update(self._about_cell(reply, seconds - GRACE))
        return True

    def _about_cell(self, reply, seconds: float) -> dict:
        kind, about = reply.header.get("kind"), {}
        dropped = reply.header.get("dropped")
        if isinstance(dropped, list) and dropped:
            lines = ", ".join(line[:200] for line in dropped[:20] if isinstance(line, str))
            about["note"] = f"Left out, since only Jupyter understands it: {lines}"
        if kind == "slow":
            about["error"] = f"The cell was stopped after {seconds:g} seconds."
        elif kind == "raised":
            line = reply.header.get("line")
            where = f" (line {line})" if type(line) is int and 0 < line < 10**6 else ""
            about["error"] = reply.text("text") + where
        return about

    def _exercises(self, session: Session) -> bool:
        """Ask for the results; False if the sandbox had to be ended."""
        for exercise in self.assignment.exercises:
            if exercise.label in self.results:
                continue
            if time.monotonic() > self.until:
                return True
            ask = self._function if exercise.kind == "function" else self._by_hand
            try:
                ask(session, exercise)
            except frames.Malformed as error:
                self._no_points(
                    exercise, f"{exercise.name or exercise.number}: not yet. It handed back no arrays: {error}."
                )
            except Failure as failure:
                self._no_points(exercise, f"{exercise.name or exercise.number}: not yet. It {failure}.")
                return False
        return True

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

    def _function(self, session: Session, exercise: Exercise) -> None:
        checker = check.CHECKS[exercise.name]
        try:
            cases = checker.draw(self._inputs(exercise))
        except Unfair as error:
            return self._checker_failed(exercise, error)
        outcomes: list[Outcome] = []
        for case in cases:
            arrays: list = []
            header = {"do": "call", "name": exercise.name, "args": frames.pack_value(tuple(case.args), arrays)["tuple"]}
            seconds = self._seconds(self.limits.call)
            reply = session.request({**header, "seconds": seconds - GRACE}, arrays, seconds=seconds)
            kind = reply.header.get("kind")
            if kind == "missing":
                return self._no_points(
                    exercise, f"{exercise.name}: not found. No cell defines a function of this name."
                )
            if kind == "not callable":
                what = f"expected your function, got {plain(reply.text('text', 100))}"
                return self._no_points(exercise, f"{exercise.name}: {what}.")
            outcome = _outcome(reply, len(case.args))
            outcomes.append(outcome)
            if outcome.kind == "too slow":
                outcomes += [outcome] * (len(cases) - len(outcomes))
                break
        self._decide(exercise, lambda: diagnose(checker, cases, outcomes), outcomes, seconds - GRACE)

    def _by_hand(self, session: Session, exercise: Exercise) -> None:
        expected = check.BY_HAND[exercise.number]
        variable = "answer_" + exercise.number.replace(".", "_")
        reply = session.request({"do": "read", "name": variable}, seconds=self._seconds(self.limits.call))
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
            reports = [expected.reports(value, part=name)[0] for name, value in given.items()]
        except Exception as error:  # a checker that fails must not fail a batch
            return self._checker_failed(exercise, error)
        right = sum(report.right for report in reports)
        points = round(exercise.points * right / len(reports), 2)
        headline = (
            f"{exercise.number}: right."
            if right == len(reports)
            else f"{exercise.number}: {right} of {len(reports)} right."
        )
        self._put(exercise, points, headline, [*(str(report) for report in reports), *notes])

    # ---- what comes of it

    def _inputs(self, exercise: Exercise) -> np.random.Generator:
        """Hidden inputs: new for each submission, the same each time it is graded."""
        seed = b"\0".join([self.key, self.read.sha256.encode(), exercise.label.encode()])
        return np.random.default_rng(int.from_bytes(hashlib.sha256(seed).digest(), "little"))

    def _decide(self, exercise: Exercise, report: Callable[[], Report], outcomes, seconds: float) -> None:
        if any(outcome.kind == "too slow" for outcome in outcomes):
            first = next(i for i, outcome in enumerate(outcomes, 1) if outcome.kind == "too slow")
            text = f"{exercise.name}: not yet. On input {first} it was stopped after {seconds:g} seconds."
            return self._no_points(exercise, text)
        try:
            with np.errstate(all="ignore"):
                said = report()
        except Exception as error:  # a checker that fails must not fail a batch
            return self._checker_failed(exercise, error)
        points = exercise.points if said.right else 0.0
        self._put(exercise, points, said.headline, list(said.details), said.mistake)

    def _checker_failed(self, exercise: Exercise, error: Exception) -> None:
        what = f"{type(error).__name__}: {error}"
        self._put(exercise, 0, f"{exercise.name or exercise.number}: the checker itself failed.", [what])
        self.results[exercise.label].person = True

    def _no_points(self, exercise: Exercise, headline: str) -> None:
        self._put(exercise, 0, headline, [])

    def _put(self, exercise: Exercise, points, headline: str, details: list[str], mistake: str | None = None) -> None:
        lines = [plain(line, 4000) for line in details[:MOST_LINES]]
        self.results[exercise.label] = Result(
            exercise.label, exercise.number, exercise.kind, exercise.name, exercise.points, points,
            plain(headline, 2200), lines, mistake,
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


def _outcome(reply, arguments: int) -> Outcome:
    """An outcome from a reply about a call; whatever is not as it has to be is `Malformed`."""
    kind = reply.header.get("kind")
    if kind not in KINDS:
        raise frames.Malformed("expected a kind of outcome")
    arrays = tuple(reply.arrays())
    if arrays and kind != "arrays":
        raise frames.Malformed("expected no arrays with this kind")
    modified = reply.header.get("modified", [])
    if not isinstance(modified, list) or not all(type(i) is int and 0 <= i < arguments for i in modified):
        raise frames.Malformed("expected the numbers of arguments")
    return Outcome(kind, arrays, plain(reply.text("text")), tuple(modified))


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
