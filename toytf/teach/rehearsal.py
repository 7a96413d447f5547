"""A made-up class that hands in an assignment: to try the grader before the first real one comes.

    toytf assign --exercises 9.1 8.8 9.7 9.2 --title "Week 6" --out week6
    toytf rehearse week6

writes ``class.csv``, a list of thirty students, and ``handed-in/`` with what they hand in: right and half
right, with known mistakes, blank, with a syntax error, an endless loop, somebody who cheats, a file
that is no notebook. One student hands in nothing. The same assignment always gives the same files.

A wrong function is the exercise's solution with one thing in it changed, and the checker has a name
for what that does; so this works for every exercise, those that you add too.

Where numbers are one's own, the class is the one whose notebooks are there, and it takes the key to answer:

    toytf rehearse week5 --key-file key.txt --out trial

Then one types a neighbour's answers, and one hands in a neighbour's whole notebook.
"""

from __future__ import annotations

import argparse
import ast
import copy
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np

from toytf import check
from toytf.check.core import Check
from toytf.check.pencil import ByHand
from toytf.teach import keys
from toytf.teach.assign import assign_answer, rounded, write
from toytf.teach.grade import Assignment, read_assignment
from toytf.teach.grade.grading import OWN
from toytf.teach.own import Answers

NAMES = (
    "adam alma amir anna bao bea carlos chen dana diego elif emma farah felix gita hugo iris ivan jana joao kim lena "
    "marek nadia olu priya quinn"
).split() + ["Zoë Müller", "李雷", "o'brien_7"]
ENDLESS = "while True:\n    pass"
CHEAT = """import numpy as np
import toytf.check
np.allclose = np.array_equal = np.isclose = lambda *a, **k: True
np.abs = lambda x: 0.0 * np.asarray(x)
toytf.check.points = lambda exercise, mine, of: of
print(open("/etc/passwd").read())"""


# ---------------------------------------------------------------- wrong functions


def wrong_functions(one: Check) -> dict[str, str]:
    """Sources of functions with a known mistake, by the mistake's name.

    Each is the solution with one thing changed: an operator, a number, an argument left out, a call
    left out. Those for which the checker has a name are kept, the first one for each name.

    Examples
    --------
    >>> found = wrong_functions(check.CHECKS["softmax"])
    >>> print(found["no maximum subtracted"].splitlines()[-1])
        return exps / exps.sum(axis=-1, keepdims=True)
    """
    found: dict[str, str] = {}
    tree = ast.parse(one.source)
    if any(isinstance(node, ast.While) for node in ast.walk(tree)):
        return found  # changed, it might never end
    for place, node in enumerate(ast.walk(tree)):
        for change in _changes(node):
            changed = copy.deepcopy(tree)
            change([*ast.walk(changed)][place])
            source = ast.unparse(ast.fix_missing_locations(changed))
            mistake = _mistake(one, source)
            if mistake:
                found.setdefault(mistake, source)
    return found


def _changes(node: ast.AST) -> Iterator[Callable[[ast.AST], None]]:
    """What can be changed at a place of a program, each as a function that does it there."""
    if isinstance(node, ast.BinOp):
        others = {ast.Add: [ast.Sub, ast.Mult], ast.Sub: [ast.Add], ast.Mult: [ast.Div, ast.Add], ast.Div: [ast.Mult]}
        for other in others.get(type(node.op), []):
            yield lambda there, other=other: setattr(there, "op", other())
        yield lambda there: _become(there, there.left)
    elif isinstance(node, ast.Call):
        for i in range(len(node.keywords)):
            yield lambda there, i=i: there.keywords.pop(i)
        if len(node.args) == 1:
            yield lambda there: _become(there, there.args[0])
    elif isinstance(node, ast.Constant) and isinstance(node.value, (bool, int)):
        for value in (not node.value,) if isinstance(node.value, bool) else (0, 1, 2, -1):
            if value != node.value:
                yield lambda there, value=value: setattr(there, "value", value)
    elif isinstance(node, ast.UnaryOp):
        yield lambda there: _become(there, there.operand)


def _become(node: ast.AST, other: ast.AST) -> None:
    node.__class__ = other.__class__
    node.__dict__ = other.__dict__


def _mistake(one: Check, source: str) -> str | None:
    names: dict = {"np": np}
    try:
        exec(source, names)  # our own solution, changed
        return one.report(names[one.name]).mistake
    except Exception:  # a change that makes no sense
        return None


# ---------------------------------------------------------------- the class


def made_up(
    student: dict | Mapping[str, dict], assignment: dict, answers: Answers | None = None
) -> dict[str, bytes | None]:
    """What the students hand in: file names in the folder of submissions, and contents; None for nothing.

    Parameters
    ----------
    student : dict
        The student's notebook, as JSON; where numbers are one's own each student's, by name.
    assignment : dict
        The content of assignment.json.
    answers : Answers, optional
        What is right for whom, where numbers are one's own.
    """
    room = _Room(student if answers else dict.fromkeys(NAMES, student), assignment["exercises"], answers)
    names, habits = list(room.notebooks), _habits(room)
    # Who sits beside whom in the list says nothing about what they know.
    order = [names[i] for i in np.random.default_rng(0).permutation(len(names))]
    step = max(1, len(habits) // len(names))  # a small class has some of each
    found = {who: habits[i * step % len(habits)](who, order[i - 1]) for i, who in enumerate(order)}
    folder = order[0]  # one of those who have all right; some systems store a folder for each student
    return {f"{name}/my copy (2).ipynb" if name == folder else f"{name}.ipynb": found[name] for name in names}


class _Room:
    """The students' blank notebooks, and what they may write into them: texts by the labels of exercises."""

    def __init__(self, notebooks: Mapping[str, dict], entries: list[dict], answers: Answers | None):
        self.notebooks, self.entries, self.answers = notebooks, entries, answers
        functions = {e["label"]: check.CHECKS[e["name"]] for e in entries if e["kind"] == "function"}
        self.functions = {label: one.source.rstrip("\n") for label, one in functions.items()}
        self.wrong = {
            label: list(wrong_functions(one).values()) or [self.functions[label]] for label, one in functions.items()
        }
        self.in_code = [*functions, *(e["label"] for e in entries if e["kind"] in ("by hand", OWN))]

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

    def file(self, who: str, said: dict[str, str]) -> bytes:
        return _filled(self.notebooks[who], said)


def _habits(room: _Room) -> list[Callable[[str, str], bytes | None]]:
    """What thirty students do, each a function of who it is and of a neighbour."""

    def blank(who, _):
        return room.file(who, {})

    def with_mistakes(many):
        return [lambda who, _, k=k: room.file(who, room.with_mistakes(who, k)) for k in range(many)]

    def unfinished(who, _):
        return room.file(who, room.broken(who, "def unfinished(scores:\n    return scores"))

    def endless(who, _):
        return room.file(who, room.broken(who, ENDLESS))

    def cheats(who, _):
        return room.file(who, dict.fromkeys(room.in_code, CHEAT))

    def hands_in_the_neighbours(_, neighbour):
        return room.file(neighbour, room.half(neighbour, 0))

    def types_the_neighbours(who, neighbour):
        return room.file(who, room.right(neighbour))

    first = [lambda who, _: room.file(who, room.right(who))] * 7
    first += [lambda who, _, k=k: room.file(who, room.half(who, k)) for k in range(5)]
    last = [
        lambda who, _: None,
        lambda who, _: b"%PDF-1.7 not a notebook",
        lambda who, _: room.file(who, room.right(who))[:300],
    ]
    if room.answers:  # a group of ten, which has every third of these, has both who copy and no endless loop
        some = [blank, hands_in_the_neighbours, blank, unfinished, types_the_neighbours, cheats]
        return [*first, *with_mistakes(8), *some, *last, endless]
    some = [blank, blank, unfinished, endless, cheats]
    return [*first, *with_mistakes(9), *some, *last, hands_in_the_neighbours]


def _numbers(one: ByHand, wrong: int | None = None) -> str:
    values = [rounded(part) for part in one.parts]
    if wrong is not None:
        values[wrong] = (np.asarray(values[wrong]) + 1).tolist()
    return assign_answer(one, values)


def _filled(student: dict, answers: dict[str, str]) -> bytes:
    """The student's notebook with answers in it, as JupyterLab would save it."""
    notebook = copy.deepcopy(student)
    for cell in notebook["cells"]:
        about = cell["metadata"].get("toytf", {})
        if about.get("role") == "answer" and about.get("exercise") in answers:
            cell["source"] = answers[about["exercise"]].splitlines(keepends=True)
    return (json.dumps(notebook, ensure_ascii=False, indent=1) + "\n").encode()


# ---------------------------------------------------------------- the command


def _read(folder: Path) -> tuple[dict | None, dict, Assignment]:
    """The student's notebook and the assignment, of a folder that `toytf.teach.assign` wrote.

    Where numbers are one's own there is no such notebook, and None in its place.
    """
    path, each = folder / "student.ipynb", folder / "students"
    if not path.is_file() and not each.is_dir():
        raise ValueError(f"assignment: expected a folder with student.ipynb or students, got {folder}")
    student = _notebook(path) if path.is_file() else None
    data = (folder / "submissions" / "assignment.json").read_bytes()
    assignment = read_assignment(data)  # complains if it is none
    needed = each if assignment.own else path
    if not needed.exists():
        raise ValueError(f"assignment: expected {needed.name} beside submissions, got none in {folder}")
    return student, json.loads(data), assignment


def _notebook(path: Path) -> dict:
    try:
        student = json.loads(path.read_text("utf-8"))
        whole = all(isinstance(cell["metadata"].get("toytf", {}), dict) for cell in student["cells"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        whole = False
    if not whole:
        raise ValueError(f"{path}: expected a notebook written by toytf assign")
    return student


def _of_each(folder: Path) -> dict[str, dict]:
    """The notebooks with numbers of one's own, by student."""
    found = {path.stem: _notebook(path) for path in sorted(folder.glob("*.ipynb"))}
    if not found:
        raise ValueError(f"{folder}: expected the students' notebooks, got none")
    return found


EXAMPLES = (
    "toytf rehearse week6",
    "toytf rehearse week6 --out trial --force",
    "toytf rehearse week5 --key-file key.txt --out trial",
)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Make up a class of thirty that hands in an assignment, to try the grader. Writes class.csv and "
        "a folder handed-in. Where toytf assign was called with --own-numbers, the class is the one of its list."
    )
    parser.add_argument("assignment", type=Path, help="the folder that toytf assign wrote")
    parser.add_argument("--out", type=Path, default=Path("."), metavar="FOLDER", help="where to (default: here)")
    parser.add_argument("--force", action="store_true", help="replace files that are there")
    keys.arguments(parser, " Needed where toytf assign was called with --own-numbers.")


def run(options) -> int:
    student, manifest, assignment = _read(options.assignment)
    if assignment.own:
        answers = Answers(assignment, keys.read(options))
        files = made_up(_of_each(options.assignment / "students"), manifest, answers)
    else:
        files = made_up(student, manifest)
    handed_in = {f"handed-in/{name}": content for name, content in files.items() if content is not None}
    students = [name.split("/")[0].removesuffix(".ipynb") for name in files]
    write({options.out: {"class.csv": "\n".join(["student", *students]) + "\n", **handed_in}}, options.force)
    print(f"class.csv: {len(students)} students")
    print(f"handed-in: {len(handed_in)} submissions")
    return 0
