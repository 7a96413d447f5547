"""A made-up class that hands in an assignment: to try the grader before the first real one comes.

    toytf assign --exercises 9.1 8.8 9.7 9.2 --title "Week 3" --out week3
    toytf rehearse week3

writes ``class.csv``, a list of thirty students, and ``handed-in/`` with what they hand in: right and half
right, with known mistakes, blank, with a syntax error, an endless loop, somebody who cheats, a file
that is no notebook. One student hands in nothing. The same assignment always gives the same files.

A wrong function is the exercise's solution with one thing in it changed, and the checker has a name
for what that does; so this works for every exercise, those that you add too.
"""

from __future__ import annotations

import argparse
import ast
import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from toytf import check
from toytf.check.core import Check
from toytf.check.pencil import ByHand
from toytf.teach.assign import assign_answer, rounded, write
from toytf.teach.grade import read_assignment

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


def made_up(student: dict, assignment: dict) -> dict[str, bytes | None]:
    """What thirty students hand in: file names in the folder of submissions, and contents; None for nothing.

    Parameters
    ----------
    student : dict
        The student's notebook, as JSON.
    assignment : dict
        The content of assignment.json.
    """
    right, wrong, parts = {}, {}, {}
    for entry in assignment["exercises"]:
        label = entry["label"]
        if entry["kind"] == "function":
            right[label] = check.CHECKS[entry["name"]].source.rstrip("\n")
            wrong[label] = list(wrong_functions(check.CHECKS[entry["name"]]).values()) or [right[label]]
        elif entry["kind"] == "by hand":
            parts[label] = check.BY_HAND[entry["number"]]
            right[label] = _numbers(parts[label])
        else:
            right[label] = "Because the numbers above say so."
    in_code = [*wrong, *parts]

    def half(i: int) -> dict[str, str]:
        return {label: text for k, (label, text) in enumerate(right.items()) if k % 2 == i % 2}

    def with_mistakes(i: int) -> dict[str, str]:
        functions = {label: sources[i % len(sources)] for label, sources in wrong.items()}
        return right | functions | {label: _numbers(one, i % len(one.parts)) for label, one in parts.items()}

    def broken(source: str) -> dict[str, str]:
        """One answer in code is this, the others are right."""
        return right | {label: source for label in in_code[:1]}

    answers = [right] * 7 + [half(i) for i in range(5)] + [with_mistakes(i) for i in range(9)] + [{}] * 2
    answers += [broken("def unfinished(scores:\n    return scores"), broken(ENDLESS), dict.fromkeys(in_code, CHEAT)]
    contents: list[bytes | None] = [_filled(student, one) for one in answers]
    contents += [None, b"%PDF-1.7 not a notebook", contents[0][:300], contents[7]]
    # Who sits beside whom in the list says nothing about what they know.
    order = np.random.default_rng(0).permutation(len(NAMES))
    found = {NAMES[who]: content for who, content in zip(order, contents, strict=True)}
    folder = NAMES[order[0]]  # one of those who have all right; some systems store a folder for each student
    return {f"{name}/my copy (2).ipynb" if name == folder else f"{name}.ipynb": found[name] for name in NAMES}


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


def _read(folder: Path) -> tuple[dict, dict]:
    """The student's notebook and the assignment, of a folder that `toytf.teach.assign` wrote."""
    path = folder / "student.ipynb"
    if not path.is_file():
        raise ValueError(f"assignment: expected a folder with student.ipynb, got {folder}")
    try:
        student = json.loads(path.read_text("utf-8"))
        whole = all(isinstance(cell["metadata"].get("toytf", {}), dict) for cell in student["cells"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        whole = False
    if not whole:
        raise ValueError(f"{path}: expected a notebook written by toytf assign")
    data = (folder / "submissions" / "assignment.json").read_bytes()
    read_assignment(data)  # complains if it is none
    return student, json.loads(data)


EXAMPLES = ("toytf rehearse week3", "toytf rehearse week3 --out trial --force")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Make up a class of thirty that hands in an assignment, to try the grader. Writes class.csv and "
        "a folder handed-in."
    )
    parser.add_argument("assignment", type=Path, help="the folder that toytf assign wrote")
    parser.add_argument("--out", type=Path, default=Path("."), metavar="FOLDER", help="where to (default: here)")
    parser.add_argument("--force", action="store_true", help="replace files that are there")


def run(options) -> int:
    files = made_up(*_read(options.assignment))
    handed_in = {f"handed-in/{name}": content for name, content in files.items() if content is not None}
    students = [name.split("/")[0].removesuffix(".ipynb") for name in files]
    write({options.out: {"class.csv": "\n".join(["student", *students]) + "\n", **handed_in}}, options.force)
    print(f"class.csv: {len(students)} students")
    print(f"handed-in: {len(handed_in)} submissions")
    return 0
