"""The command ``toytf-classroom answers``: an instructor's notebook as a page to print, formulas set, code in colours.

It reads the notebook as it is now, so what a teacher has changed in it, and what stands in it of rubrics, is
printed too.
"""

from __future__ import annotations

import argparse
import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

from toytf._command import write_whole
from toytf.course.exercises import NOT_ANSWERED, read_notebook
from toytf_classroom import ClassroomError
from toytf_classroom.assign import BEGIN, END, MISTAKES
from toytf_classroom.pages import code_styles, render

NOTEBOOK = "instructor.ipynb"
_HEADING = re.compile(r"## (?P<title>.+)\n+(?:\*(?P<about>[^*\n]+)\*\n+)?")
_MISTAKES = re.compile(rf"{re.escape(MISTAKES)}\n(?P<items>(?:- .*\n?(?:  .*\n?)*)+)")


@dataclass(frozen=True)
class Solved:
    """An exercise of an instructor's notebook.

    Parameters
    ----------
    title, about : str
        Its number and title; kind, level, minutes and points.
    text, worked : str
        What is asked and the worked answer, as Markdown.
    mistakes : list of str
        Known ones, each with its advice.
    code : str
        The right function, or the numbers as one types them; empty for an answer in words.
    points : int
    """

    title: str
    about: str
    text: str
    worked: str
    mistakes: list[str]
    code: str
    points: int


def read(path: Path) -> tuple[str, list[Solved]]:
    """The title and the solved exercises of an instructor's notebook.

    Raises
    ------
    ClassroomError
        If it is none: not of ``toytf-classroom assign``, or without solutions.
    """
    cells = read_notebook(path)["cells"]
    title = next((line[2:] for cell in cells for line in cell["source"].splitlines() if line.startswith("# ")), None)
    parts: dict[str, dict[str, dict]] = {}
    for cell in cells:
        about = cell.get("metadata", {}).get("toytf", {})
        if {"exercise", "role"} <= about.keys():
            parts.setdefault(about["exercise"], {})[about["role"]] = cell
    solved = [_solved(f"{path}, {label}", cells) for label, cells in parts.items()]
    if title is None or not solved:
        raise ClassroomError(f"{path}: expected an instructor's notebook of toytf-classroom assign, got another one")
    return title, solved


def _solved(where: str, cells: dict[str, dict]) -> Solved:
    text, answer = (cells.get(role, {"source": ""})["source"] for role in ("text", "answer"))
    heading = _HEADING.match(text)
    if heading is None:
        raise ClassroomError(f'{where}: expected a text that begins with "## " and a title, got {text[:80]!r}')
    code, worked, mistakes = "", answer, []
    if cells["answer"]["cell_type"] == "code":
        code, worked, mistakes = _apart(where, answer)
    elif answer.strip() == NOT_ANSWERED:
        raise ClassroomError(f"{where}: expected an instructor's notebook, got one without solutions")
    points = max(cell.get("metadata", {}).get("nbgrader", {}).get("points", 0) for cell in cells.values())
    return Solved(
        heading["title"], heading["about"] or "", text[heading.end() :], worked, mistakes, code, points
    )  # fmt: skip


def _apart(where: str, source: str) -> tuple[str, str, list[str]]:
    """The code of a solved cell, the worked answer and the known mistakes that stand in it as comments."""
    before, begin, rest = source.partition(f"{BEGIN}\n")
    inside, end, _ = rest.partition(END)
    if not (begin and end):
        raise ClassroomError(f"{where}: expected an instructor's notebook, got one without solutions")
    lines, function = textwrap.dedent(inside).splitlines(), before.rstrip(" ") != before
    comments = [line.startswith("#") for line in lines] + [not function]
    at = comments.index(not function)  # notes stand at the head of a function's body, and below numbers
    notes, code = (lines[:at], lines[at:]) if function else (lines[at:], lines[:at])
    written = "\n".join(re.sub("^# ?", "", line) for line in notes)
    mistakes = _MISTAKES.search(written)
    body = "\n".join(code)
    whole = f"{before.rstrip()}\n{textwrap.indent(body, '    ')}" if function else body
    return whole, _MISTAKES.sub("", written), _items(mistakes["items"]) if mistakes else []


def _items(listed: str) -> list[str]:
    return [" ".join(item.split()) for item in re.split(r"^- ", listed, flags=re.MULTILINE)[1:]]


def page(title: str, solved: list[Solved]) -> str:
    """Solved exercises as a page of HTML to be printed."""
    return render("answers.html", title=title, solved=solved, styles=code_styles())


# ---------------------------------------------------------------- the command


EXAMPLES = ("toytf-classroom answers week6", "toytf-classroom answers week6 --out answers-3.html")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Write the answers of an assignment as a page of HTML, which a browser prints: an instructor's notebook with "
        "its texts, worked answers, code, known mistakes and points. They are not for students."
    )
    parser.add_argument(
        "assignment", type=Path, help=f"the folder that assign made, or an instructor's notebook ({NOTEBOOK})"
    )
    parser.add_argument("--out", type=Path, metavar="FILE.html", help="default: answers.html beside the notebook")
    parser.add_argument("--force", action="store_true", help="replace a file that is there")


def run(options) -> int:
    given = options.assignment
    notebook = given / NOTEBOOK if given.is_dir() else given
    out = options.out or notebook.with_name(f"{notebook.stem}.answers.html".removeprefix("instructor."))
    if not notebook.is_file():
        raise ClassroomError(f"assignment: expected a folder with {NOTEBOOK} or a notebook, got {given}")
    if out.suffix != ".html" or (out.exists() and not options.force):
        raise ClassroomError(f"--out: expected a new file .html, got {out}; --force replaces one")
    title, solved = read(notebook)
    write_whole(out, page(title, solved).encode())
    points = sum(one.points for one in solved)
    print(f"{out}: {len(solved)} exercise{'s'[: len(solved) != 1]}, {points} point{'s'[: points != 1]}")
    return 0
