"""Made-up notebooks and folders of them, for the tests of the grader."""

import csv
import dataclasses
import functools
import io
import json
import os
import re
import sys
from pathlib import Path

import pytest

from toytf_classroom.gradebook import grade_folder
from toytf_classroom.grading import Receipt, grade_one, read_assignment
from toytf_classroom.sandbox import Bubblewrap, Limits, SandboxError

IMPORTS = "import numpy as np\n\nfrom toytf import check\nfrom toytf.byhand import fmt"
SOFTMAX = """def softmax(scores):
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exps / exps.sum(axis=-1, keepdims=True)"""
BY_HAND = """answer_9_1 = {
    "mean": 3, "squared distances": [4, 0, 0, 4], "variance": 2,
    "deviation": 1.4142, "result": [-1.4142, 0, 0, 1.4142],
}"""
STUB = 'def softmax(scores):\n    raise NotImplementedError("softmax is not written yet")'
BLANK = 'answer_9_1 = {"mean": None, "squared distances": None, "variance": None, "deviation": None, "result": None}'
EXERCISES = [
    {"label": "ex-08-8", "number": "8.8", "kind": "function", "name": "softmax", "points": 2},
    {"label": "ex-09-1", "number": "9.1", "kind": "by hand", "name": None, "points": 2},
    {"label": "ex-09-3", "number": "9.3", "kind": "text", "name": None, "points": 3},
]
ASSIGNMENT = json.dumps(
    {"format": "toytf assignment", "version": 1, "title": "Week 6", "exercises": EXERCISES}
).encode()
# Seconds of the processor: few, for what never ends. On the clock each may take a minute: an honest student does not
# fail because a machine is busy. Code that sleeps is tested with a `clock` of its own.
SIZES = {"memory": 512 << 20, "folder": 8 << 20, "file": 4 << 20, "output": 16 << 10}
SMALL = Limits(cell=1.0, call=1.0, total=12.0, clock=60.0, restarts=3, **SIZES)

FULL, EMPTY = ["4", "2", "2", ""], ["", "", "", ""]  # of a line of the table


needs_linux = pytest.mark.skipif(
    sys.platform != "linux", reason="the grader's sandbox is bubblewrap, which needs Linux"
)


def limits(**changed):
    return dataclasses.replace(SMALL, **changed)


def assignment():
    return read_assignment(ASSIGNMENT)


def code(source, **metadata):
    return {"cell_type": "code", "metadata": metadata, "source": source, "outputs": [], "execution_count": None}


def words(source, grade_id="ex-09-3"):
    about = {"nbgrader": {"grade_id": grade_id, "locked": False, "grade": True, "solution": True, "points": 3}}
    return {"cell_type": "markdown", "metadata": about, "source": source}


def notebook(*cells):
    """A notebook's JSON from cells; text stands for a code cell."""
    whole = [code(cell) if isinstance(cell, str) else cell for cell in cells]
    for i, cell in enumerate(whole):
        if isinstance(cell, dict):
            cell.setdefault("id", f"cell-{i}")
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": whole}


def data(*cells):
    return json.dumps(notebook(*cells)).encode()


def source(cell):
    return "".join(cell["source"])


def role(cell):
    """What a cell of an assignment is for: text, answer or check."""
    return cell["metadata"].get("toytf", {}).get("role", "")


HONEST = data(IMPORTS, SOFTMAX, "check.softmax(softmax)", BY_HAND, 'check.byhand("9.1", answer_9_1)', words("Because."))


def cells_of(name, place=Path(__file__).parent, **more):
    """Read honest.txt or the like: after "=== name" a notebook's cells, each after "--- code" or "--- words"."""
    places = {"IMPORTS": IMPORTS, "SOFTMAX": SOFTMAX, "BYHAND": BY_HAND, "BLANK": BLANK, "STUB": STUB} | more
    text = (place / name).read_text("utf-8")
    found = {}
    for part in re.split("^=== ", re.sub("^####.*\n", "", text, flags=re.MULTILINE), flags=re.MULTILINE)[1:]:
        name, _, rest = part.partition("\n")
        rest = re.sub("@([A-Z]+)@", lambda m: places.get(m.group(1), m.group()), rest)
        pairs = re.findall(r"^--- (\w+)\n(.*?)(?=^--- |\Z)", rest, re.MULTILINE | re.DOTALL)
        found[name] = [(words if kind == "words" else str)(source.strip("\n")) for kind, source in pairs]
    return found


def folder(place, files):
    """Make a folder of submissions; each is bytes, or a function that makes what it wants at a path."""
    place.mkdir(parents=True)
    (place / "assignment.json").write_bytes(ASSIGNMENT)
    for name, content in files.items():
        path = place / name
        if callable(content):
            content(path)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    return place


def grade(submissions, out, sandbox=None, **how):
    """Grade a folder and return what was done and the receipts by student."""
    how = {"limits": SMALL, "jobs": 2} | how
    summary = grade_folder(submissions, out, assignment(), sandbox or sandbox_or_skip(), **how)
    return summary, receipts(out)


def one(*cells, box=None, limits=SMALL, key=b"k" * 32, task=None):
    """The receipt of one notebook with these cells."""
    return grade_one(
        data(*cells), task or assignment(), "eve", sandbox=box or sandbox_or_skip(), limits=limits, key=key
    )


def receipts(out):
    found = (out.with_suffix("") / "receipts").glob("*.json")
    return {one.student: one for one in (Receipt.from_json(path.read_bytes()) for path in found)}


def points(receipt):
    return {result.number: result.points for result in receipt.results}


def printed(receipt):
    return "\n".join(str(cell.get(name, "")) for cell in receipt.cells for name in ("printed", "error", "note"))


@functools.cache
def _sandbox():
    box = Bubblewrap()
    try:
        box.check()
    except SandboxError as error:
        return str(error)
    return box


def sandbox_or_skip():
    """A sandbox that works; where there is none the test that asks is skipped, and fails in CI on Linux."""
    if sys.platform != "linux":
        pytest.skip("the grader's sandbox is bubblewrap, which needs Linux")
    if isinstance(box := _sandbox(), str):
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"no sandbox (on Debian: apt install bubblewrap): {box}")
    return box


def everything(out):
    """The bytes of all files that a run has written, by their places."""
    files = [out, *out.with_suffix("").rglob("*")]
    return {path.relative_to(out.parent): path.read_bytes() for path in files if path.is_file() and path.name[0] != "."}


def table(path):
    """The cells of a table of points, line by line."""
    return list(csv.reader(io.StringIO(path.read_text("utf-8"))))


def lines(out):
    """The table's lines by student: points of all, and of each exercise."""
    return {row[0]: [row[1], *row[3:6]] for row in table(out)[1:]}


class Weak(Bubblewrap):
    """A sandbox without one of its protections."""

    def __init__(self, namespaces=lambda o: o, system=lambda o: o, environment=lambda e: e, filters=True):
        super().__init__()
        whole = super()
        self.namespaces = lambda: namespaces(whole.namespaces())
        self.system = lambda limits: system(whole.system(limits))
        self.environment = lambda: environment(whole.environment())
        self.filter = lambda: whole.filter() if filters else None
