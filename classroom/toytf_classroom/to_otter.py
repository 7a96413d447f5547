"""The same exercises as an assignment of Otter-Grader 7: the notebook from which ``otter assign`` makes all the rest.

Each function and each number is an autograded question whose tests ask `toytf.check`; words are read by a person
(``manual``). The zip for Gradescope is the one that Otter writes.
"""

import json
from collections.abc import Sequence

from toytf_classroom.first_cell import Ready
from toytf_classroom.grading import answer_name

INSIDE = "/autograder/source/files"  # where Otter's container has what lies beside the notebook
FUNCTION = """\
def test_{name}({name}):
    from toytf import check
    report = check.{name}.report({name})
    assert report.right, str(report)"""
NUMBER = """\
def test_part_{place}({variable}):
    from toytf.check import BY_HAND
    from toytf.check.answers import Attempts
    attempts = Attempts()
    attempts.hidden = True  # a hint, not the answer
    answer = {variable}{of_part}
    report, = BY_HAND["{number}"].reports(answer, {part}, attempts)
    assert report.right, str(report)"""


def source(title: str, exercises: Sequence[dict], imports: str, ready: Ready) -> dict:
    """The notebook that ``otter assign`` reads; each of the `exercises` has text, blank, solved and its tests."""
    needs = [f"{INSIDE}/{name}" for name in ready.beside] or ([ready.requirement] if ready.requirement else [])
    about = {
        "name": title, "requirements": needs, "files": sorted(ready.beside), "export_cell": False,
        "tests": {"ok_format": False}, "check_all_cell": False,
    }  # fmt: skip
    cells = [_raw(f"# ASSIGNMENT CONFIG\n{_yaml(about)}"), _cell("markdown", f"# {title}"), _cell("code", ready.cell)]
    cells.append(_cell("code", imports))
    for one in exercises:
        cells += _question(**one)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 4}


def _question(label: str, points: float, text: str, blank: str, solved: str, tests: Sequence[str]) -> list[dict]:
    name = label.replace("-", "_")
    about = {"name": name, "manual": True, "points": points} if not tests else {"name": name, "points": points}
    answer = _cell("code", _both(blank.splitlines(), solved.splitlines())) if tests else _cell("markdown", solved)
    cells = [_raw(f"# BEGIN QUESTION\n{_yaml(about)}"), _cell("markdown", text)]
    cells += [_raw("# BEGIN SOLUTION"), answer, _raw("# END SOLUTION")]
    if tests:
        cells += [_raw("# BEGIN TESTS"), *(_cell("code", test) for test in tests), _raw("# END TESTS")]
    return [*cells, _raw("# END QUESTION")]


def _both(blank: list[str], solved: list[str]) -> str:
    """What a student starts from and the solution in one cell; a function's head and docstring stand in both."""
    same = next((i for i, pair in enumerate(zip(blank, solved, strict=False)) if len(set(pair)) > 1), 0)
    same = same if blank[0].startswith("def ") else 0
    room = " " * 4 * bool(same)
    marks = [f'{room}""" # BEGIN PROMPT', f'{room}""" # END PROMPT', f"{room}# BEGIN SOLUTION NO PROMPT"]
    lines = [*blank[:same], marks[0], *blank[same:], *marks[1:], *solved[same:], f"{room}# END SOLUTION"]
    return "\n".join(lines)


def tests_of(one) -> list[str]:
    """The tests of an exercise: one for a function, one for each number, none for words."""
    if one.check:
        return [FUNCTION.format(name=one.check.name)]
    if not one.by_hand:
        return []
    found = []
    for place, part in enumerate(one.by_hand.parts, start=1):
        of_part = f".get({json.dumps(part.name)})" if part.name else ""
        named = {"place": place, "number": one.number, "part": json.dumps(part.name) if part.name else None}
        found.append(NUMBER.format(variable=answer_name(one), of_part=of_part, **named))
    return found


def _yaml(about: dict) -> str:
    """JSON is YAML."""
    return "\n".join(f"{name}: {json.dumps(value)}" for name, value in about.items())


def _raw(text: str) -> dict:
    return _cell("raw", text)


def _cell(kind: str, text: str) -> dict:
    code = {"execution_count": None, "outputs": []} if kind == "code" else {}
    return {"cell_type": kind, "metadata": {}, **code, "source": text.splitlines(keepends=True)}
