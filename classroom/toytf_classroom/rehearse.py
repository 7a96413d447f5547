"""The command ``toytf-classroom rehearse``: a made-up class hands in, before the first real one comes.

    toytf-classroom assign --exercises 9.1 8.8 9.7 9.2 --title "Week 6" --out week6
    toytf-classroom rehearse week6

writes ``class.csv``, a list of thirty students, and ``handed-in/`` with what they hand in: right and half
right, with known mistakes, blank, with a syntax error, an endless loop, somebody who cheats, a file
that is no notebook. One student hands in nothing. The same assignment always gives the same files.

Where numbers are one's own, the class is the one whose notebooks are there, and it takes the key to answer. Then
one types a neighbour's answers, and one hands in a neighbour's whole notebook.
"""

from __future__ import annotations

import argparse
import copy
import json
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from toytf import check
from toytf.check.answers import ByHand
from toytf.check.core import Check
from toytf_classroom import ClassroomError
from toytf_classroom.assign import assign_answer, rounded, write
from toytf_classroom.grading import OWN, read_assignment
from toytf_classroom.own_numbers import RightAnswers, key_argument, read_key

NAMES = (
    "adam alma amir anna bao bea carlos chen dana diego elif emma farah felix gita hugo iris ivan jana joao kim lena "
    "marek nadia olu priya quinn"
).split() + ["Zoë Müller", "李雷", "o'brien_7"]
UNFINISHED = "def unfinished(scores:\n    return scores"
ENDLESS = "while True:\n    pass"
CHEAT = """import numpy as np
import toytf.check
np.allclose = np.array_equal = np.isclose = lambda *a, **k: True
np.abs = lambda x: 0.0 * np.asarray(x)
toytf.check.points = lambda exercise, mine, of: of
print(open("/etc/passwd").read())"""


def made_up(
    notebooks: Mapping[str, dict], assignment: dict, answers: RightAnswers | None = None
) -> dict[str, bytes | None]:
    """What the students hand in: file names in the folder of submissions, and contents; None for nothing.

    `notebooks` are the students' own, by name; `assignment` is the content of assignment.json; `answers` says what is
    right for whom, where numbers are one's own.
    """
    ways, names = _Answers(notebooks, assignment["exercises"], answers).ways(), list(notebooks)
    # Who sits beside whom in the list says nothing about what they know.
    order = [names[i] for i in np.random.default_rng(0).permutation(len(names))]
    step = max(1, len(ways) // len(names))  # a small class has some of each
    found = {who: ways[i * step % len(ways)](who, order[i - 1]) for i, who in enumerate(order)}
    folder = order[0]  # one of those who have all right; some systems store a folder for each student
    return {f"{name}/my copy (2).ipynb" if name == folder else f"{name}.ipynb": found[name] for name in names}


class _Answers:
    """What students may write into their blank notebooks: texts by the labels of exercises."""

    def __init__(self, notebooks: Mapping[str, dict], entries: list[dict], answers: RightAnswers | None):
        self.notebooks, self.entries, self.answers = notebooks, entries, answers
        functions = {e["label"]: check.CHECKS[e["name"]] for e in entries if e["kind"] == "function"}
        self.functions = {label: one.source.rstrip("\n") for label, one in functions.items()}
        self.wrong = {label: _wrong_sources(one) or [one.source] for label, one in functions.items()}
        self.in_code = [*functions, *(e["label"] for e in entries if e["kind"] in ("by hand", OWN))]

    def ways(self) -> list[Callable[[str, str], bytes | None]]:
        """What thirty students do, each a function of who it is and of a neighbour."""

        def writes(answers, *more):
            return lambda who, _: self.file(who, answers(who, *more))

        blank, cheats = writes(lambda who: {}), writes(lambda who: dict.fromkeys(self.in_code, CHEAT))
        unfinished, endless = writes(self.broken, UNFINISHED), writes(self.broken, ENDLESS)
        with_mistakes = [writes(self.with_mistakes, k) for k in range(9)]
        first = [writes(self.right)] * 7 + [writes(self.half, k) for k in range(5)]
        last = [
            lambda who, _: None,
            lambda who, _: b"%PDF-1.7 not a notebook",
            lambda who, _: self.file(who, self.right(who))[:300],
        ]
        hands_in_the_neighbours = lambda _, beside: self.file(beside, self.half(beside, 0))  # noqa: E731
        types_the_neighbours = lambda who, beside: self.file(who, self.right(beside))  # noqa: E731
        if self.answers:  # a group of ten, which has every third of these, has both who copy and no endless loop
            some = [blank, hands_in_the_neighbours, blank, unfinished, types_the_neighbours, cheats]
            return [*first, *with_mistakes[:8], *some, *last, endless]
        return [*first, *with_mistakes, blank, blank, unfinished, endless, cheats, *last, hands_in_the_neighbours]

    def parts(self, who: str) -> dict[str, ByHand]:
        same = {e["label"]: check.BY_HAND[e["number"]] for e in self.entries if e["kind"] == "by hand"}
        return same | dict(self.answers(who).right if self.answers else {})

    def right(self, who: str) -> dict[str, str]:
        known = self.functions | {label: _numbers(one) for label, one in self.parts(who).items()}
        return {e["label"]: known.get(e["label"], "Because the numbers above say so.") for e in self.entries}

    def half(self, who: str, i: int) -> dict[str, str]:
        return {label: text for k, (label, text) in enumerate(self.right(who).items()) if k % 2 == i % 2}

    def with_mistakes(self, who: str, i: int) -> dict[str, str]:
        functions = {label: sources[i % len(sources)] for label, sources in self.wrong.items()}
        slips = {label: _numbers(one, i % len(one.parts)) for label, one in self.parts(who).items()}
        return self.right(who) | functions | slips

    def broken(self, who: str, source: str) -> dict[str, str]:
        """One answer in code is this, the others are right."""
        return self.right(who) | {label: source for label in self.in_code[:1]}

    def file(self, who: str, written: dict[str, str]) -> bytes:
        """A student's notebook with answers in it, as JupyterLab would save it."""
        notebook = copy.deepcopy(self.notebooks[who])
        for cell in notebook["cells"]:
            about = cell["metadata"].get("toytf", {})
            if about.get("role") == "answer" and about.get("exercise") in written:
                cell["source"] = written[about["exercise"]].splitlines(keepends=True)
        return (json.dumps(notebook, ensure_ascii=False, indent=1) + "\n").encode()


def _wrong_sources(one: Check) -> list[str]:
    """The solution with each of its known mistakes, where that is an edit of it."""
    return [mistake.source for mistake in one.mistakes if mistake.source]


def _numbers(one: ByHand, wrong: int | None = None) -> str:
    values = [rounded(part) for part in one.parts]
    if wrong is not None:
        values[wrong] = (np.asarray(values[wrong]) + 1).tolist()
    return assign_answer(one, values)


# ---------------------------------------------------------------- the command

EXAMPLES = ("toytf-classroom rehearse week6", "toytf-classroom rehearse week5 --key-file key.txt --out trial --force")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Make up a class of thirty that hands in an assignment, to try the grader. Writes class.csv and "
        "a folder handed-in. Where numbers are each student's own, the class is the one whose notebooks are there."
    )
    parser.add_argument("assignment", type=Path, help="the folder that toytf-classroom assign wrote")
    parser.add_argument("--out", type=Path, default=Path("."), metavar="FOLDER", help="where to (default: here)")
    parser.add_argument("--force", action="store_true", help="replace files that are there")
    key_argument(parser, "; needed where the numbers are each student's own")


def run(options) -> int:
    data = (options.assignment / "submissions" / "assignment.json").read_bytes()
    assignment, answers = read_assignment(data), None  # complains if it is none
    if assignment.own:
        answers = RightAnswers(assignment, read_key(options))
        notebooks = {path.stem: _notebook(path) for path in sorted((options.assignment / "students").glob("*.ipynb"))}
        if not notebooks:
            raise ClassroomError(f"{options.assignment}: expected the students' notebooks, got none")
    else:
        notebooks = dict.fromkeys(NAMES, _notebook(options.assignment / "student.ipynb"))
    files = made_up(notebooks, json.loads(data), answers)
    handed_in = {f"handed-in/{name}": content for name, content in files.items() if content is not None}
    students = [name.split("/")[0].removesuffix(".ipynb") for name in files]
    write(options.out, {"class.csv": "\n".join(["student", *students]) + "\n", **handed_in}, options.force)
    print(f"class.csv: {len(students)} students")
    print(f"handed-in: {len(handed_in)} submissions")
    return 0


def _notebook(path: Path) -> dict:
    try:
        student = json.loads(path.read_text("utf-8"))
        if all(isinstance(cell["metadata"].get("toytf", {}), dict) for cell in student["cells"]):
            return student
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        pass
    raise ClassroomError(f"{path}: expected a notebook written by toytf-classroom assign")
