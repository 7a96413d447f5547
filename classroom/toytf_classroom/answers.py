"""The command ``toytf-classroom answers``: an instructor's notebook as a page to print, formulas set, code in colours.

It reads the notebook as it is now, so what a teacher has changed in it, and what stands in it of rubrics, is
printed too.
"""

from __future__ import annotations

import argparse
import re
import textwrap
from itertools import dropwhile, takewhile
from pathlib import Path

from toytf._command import write_whole
from toytf.course.exercises import NOT_ANSWERED, read_notebook
from toytf_classroom import ClassroomError
from toytf_classroom.assign import BEGIN, END
from toytf_classroom.pages import render

NOTEBOOK = "instructor.ipynb"
EXAMPLES = ("toytf-classroom answers week6", "toytf-classroom answers byhand/instructor/anna.ipynb")


def read(path: Path) -> tuple[str, list[dict]]:
    """The title of an instructor's notebook, and of each exercise heading, text, code, worked answer and points.

    Raises
    ------
    ClassroomError
        If it is none: not of ``toytf-classroom assign``, or without solutions.
    """
    cells = read_notebook(path)["cells"]
    title = next((line[2:] for cell in cells for line in cell["source"].splitlines() if line.startswith("# ")), "")
    parts: dict[str, dict[str, dict]] = {}
    for cell in cells:
        about = cell.get("metadata", {}).get("toytf", {})
        if {"exercise", "role"} <= about.keys():
            parts.setdefault(about["exercise"], {})[about["role"]] = cell
    solved = []
    for label, by_role in parts.items():
        if not {"text", "answer"} <= by_role.keys() or not _is_solved(by_role["answer"]):
            raise ClassroomError(f"{path}, {label}: expected an instructor's notebook, got one without solutions")
        heading, _, text = by_role["text"]["source"].removeprefix("## ").partition("\n")
        code, worked = "", by_role["answer"]["source"]
        if by_role["answer"]["cell_type"] == "code":
            code, worked = _apart(worked)
        points = max(cell.get("metadata", {}).get("nbgrader", {}).get("points", 0) for cell in by_role.values())
        solved.append({"title": heading, "text": text, "code": code, "worked": worked, "points": points})
    if not solved:
        raise ClassroomError(f"{path}: expected an instructor's notebook of toytf-classroom assign, got another one")
    return title, solved


def _is_solved(cell: dict) -> bool:
    source = cell["source"]
    return BEGIN in source and END in source if cell["cell_type"] == "code" else source.strip() != NOT_ANSWERED


def _apart(source: str) -> tuple[str, str]:
    """The code of a solved cell, and the worked answer and known mistakes that stand in it as comments."""
    before, _, rest = source.partition(f"{BEGIN}\n")
    lines = textwrap.dedent(rest.partition(END)[0].rstrip(" ")).splitlines()
    is_note = lambda line: line.startswith("#")  # noqa: E731
    is_code = lambda line: not is_note(line)  # noqa: E731
    if before.endswith("    "):  # notes stand at the head of a function's body, and below numbers
        notes, body = takewhile(is_note, lines), dropwhile(is_note, lines)
        code = f"{before.rstrip()}\n{textwrap.indent(chr(10).join(body), '    ')}"
    else:
        notes, code = dropwhile(is_code, lines), "\n".join(takewhile(is_code, lines))
    return code, "\n".join(re.sub("^# ?", "", line) for line in notes)


def page(title: str, solved: list[dict]) -> str:
    """Solved exercises as a page of HTML to be printed."""
    return render("answers.html", title=title, solved=solved)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Write the answers of an assignment as a page of HTML, which a browser prints: an instructor's notebook with "
        "its texts, worked answers, code, known mistakes and points. They are not for students."
    )
    parser.add_argument(
        "assignment", type=Path, help=f"the folder that assign made, or an instructor's notebook ({NOTEBOOK})"
    )


def run(options) -> int:
    given = options.assignment
    notebook = given / NOTEBOOK if given.is_dir() else given
    if not notebook.is_file():
        raise ClassroomError(f"assignment: expected a folder with {NOTEBOOK} or a notebook, got {given}")
    out = notebook.with_name(f"{notebook.stem}.answers.html".removeprefix("instructor."))
    title, solved = read(notebook)
    write_whole(out, page(title, solved).encode())
    points = sum(one["points"] for one in solved)
    print(f"{out}: {len(solved)} exercise{'s'[: len(solved) != 1]}, {points} point{'s'[: points != 1]}")
    return 0
