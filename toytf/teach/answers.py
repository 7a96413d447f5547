"""The command ``toytf answers``: an instructor's notebook on paper, formulas set and code in colours.

    toytf answers week6

It reads the notebook as it is now, so what a teacher has changed in it, and what stands in it of rubrics, is
printed too.
"""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from toytf._command import Trouble
from toytf.teach import markdown, paper
from toytf.teach.assign import BEGIN, END
from toytf.teach.exercises import NOT_ANSWERED, read_notebook
from toytf.teach.pages import environment

NOTEBOOK = "instructor.ipynb"
MISTAKES = "Common mistakes, as the checker names them:"
_HEADING = re.compile(r"## (?P<title>.+)\n+(?:\*(?P<about>[^*\n]+)\*\n+)?")
_MISTAKE = re.compile(r"- (?P<name>.+?): (?P<advice>.+)", re.DOTALL)


@dataclass(frozen=True)
class Solved:
    """An exercise of an instructor's notebook.

    Parameters
    ----------
    title, about : str
        Its number and title; kind, level, minutes and points.
    text, worked : str
        What is asked and the worked answer, as Markdown.
    code : str
        The right function, or the numbers as one types them; empty for an answer in words.
    mistakes : tuple of (str, str)
        Known ones, each with its advice.
    points : int
    """

    title: str
    about: str
    text: str
    worked: str
    code: str
    mistakes: tuple[tuple[str, str], ...]
    points: int


# ---------------------------------------------------------------- reading


def read(path: Path) -> tuple[str, list[Solved]]:
    """The title and the solved exercises of an instructor's notebook.

    Raises
    ------
    ValueError
        If it is none: not of ``toytf assign``, or without solutions.
    """
    cells = read_notebook(path)["cells"]
    title = next((line[2:] for cell in cells for line in cell["source"].splitlines() if line.startswith("# ")), None)
    parts: dict[str, dict[str, dict]] = {}
    for cell in cells:
        about = cell.get("metadata", {}).get("toytf", {})
        if isinstance(about, dict) and {"exercise", "role"} <= about.keys():
            parts.setdefault(about["exercise"], {})[about["role"]] = cell
    solved = [_solved(path, label, cells) for label, cells in parts.items()]
    if title is None or not solved:
        raise ValueError(f"{path}: expected an instructor's notebook of toytf assign, got one without exercises")
    return title, solved


def _solved(path: Path, label: str, cells: dict[str, dict]) -> Solved:
    where = f"{path}, {label}"
    if missing := {"text", "answer"} - cells.keys():
        raise ValueError(f"{where}: expected a text and an answer, got no {' and no '.join(sorted(missing))}")
    heading = _HEADING.match(cells["text"]["source"])
    if heading is None:
        raise ValueError(
            f'{where}: expected a text that begins with "## " and a title, got {cells["text"]["source"]!r}'
        )
    text = cells["text"]["source"][heading.end() :]
    points = max(cell.get("metadata", {}).get("nbgrader", {}).get("points", 0) for cell in cells.values())
    answer = cells["answer"]["source"]
    if cells["answer"]["cell_type"] == "markdown":
        if answer.strip() == NOT_ANSWERED:
            raise ValueError(f"{where}: expected an instructor's notebook, got one without solutions")
        return Solved(heading["title"], heading["about"] or "", text, answer, "", (), points)
    code, notes = _split(where, answer)
    mistakes, worked = _mistakes(notes)
    return Solved(heading["title"], heading["about"] or "", text, worked, code, mistakes, points)


def _split(where: str, source: str) -> tuple[str, str]:
    """The code of a solved cell, and the notes that stand in it as comments."""
    lines = source.splitlines()
    marks = [i for i, line in enumerate(lines) if line.strip() in (BEGIN, END)]
    if len(marks) != 2:
        raise ValueError(f"{where}: expected an instructor's notebook, got one without solutions")
    begin, end = marks
    indent = lines[begin].removesuffix(BEGIN)
    inside = [line.removeprefix(indent) for line in lines[begin + 1 : end]]
    if indent:  # a function: notes, then its body below signature and docstring
        stop = next((i for i, line in enumerate(inside) if not line.startswith("#")), len(inside))
        notes, body = inside[:stop], inside[stop:]
        code = [*lines[:begin], *(f"{indent}{line}".rstrip() for line in body)]
    else:  # numbers: what is typed, then notes
        start = next((i for i, line in enumerate(inside) if line.startswith("#")), len(inside))
        code, notes = inside[:start], inside[start:]
    return "\n".join(code), "\n".join(re.sub("^# ?", "", line) for line in notes)


def _mistakes(notes: str) -> tuple[tuple[tuple[str, str], ...], str]:
    """Known mistakes at the head of the notes, and what follows them."""
    head, _, rest = notes.partition("\n")
    if head != MISTAKES:
        return (), notes
    lines = rest.splitlines()
    stop = next((i for i, line in enumerate(lines) if not line.startswith(("- ", "  "))), len(lines))
    items = re.split(r"\n(?=- )", "\n".join(lines[:stop]))
    return tuple(_items(items)), "\n".join(lines[stop:])


def _items(items: Sequence[str]) -> Iterator[tuple[str, str]]:
    for item in items:
        words = " ".join(textwrap.dedent(item).split())
        matched = _MISTAKE.fullmatch(words)
        yield (matched["name"], matched["advice"]) if matched else (words.removeprefix("- "), "")


# ---------------------------------------------------------------- writing


def page(title: str, solved: Sequence[Solved], size: str = "a4") -> str:
    """Solved exercises as a page of HTML to be printed."""
    template = environment().get_template("answers.html")
    from markupsafe import Markup  # it comes with Jinja2

    return template.render(
        title=title,
        solved=solved,
        size=paper.SIZES[size],
        styles=Markup(markdown.code_styles()),
        prose=lambda text: Markup(markdown.html(text)),
        inline=lambda text: Markup(markdown.inline(text)),
        code=lambda text: Markup(markdown.code(text)),
    )


# ---------------------------------------------------------------- the command


EXAMPLES = (
    "toytf answers week6",
    "toytf answers week6 --paper letter --out answers-3.pdf",
    "toytf answers week6 --html",
)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Print the answers of an assignment as PDF: an instructor's notebook with its texts, worked answers, code, "
        "known mistakes and points. They are not for students."
    )
    parser.add_argument(
        "assignment", help=f"the folder that toytf assign made, or an instructor's notebook ({NOTEBOOK})"
    )
    parser.add_argument("--out", metavar="FILE.pdf", help="default: answers.pdf beside the notebook")
    parser.add_argument("--paper", choices=list(paper.SIZES), default="a4", help="default: %(default)s")
    parser.add_argument("--html", action="store_true", help="write a page of HTML, and print nothing")
    parser.add_argument("--force", action="store_true", help="replace a file that is there")


def run(options) -> int:
    given = Path(options.assignment)
    notebook = given / NOTEBOOK if given.is_dir() else given
    if not notebook.is_file():
        raise ValueError(f"assignment: expected a folder with {NOTEBOOK} or a notebook, got {given}")
    own = "answers.pdf" if notebook.name == NOTEBOOK else f"{notebook.stem}.answers.pdf"
    out = Path(options.out) if options.out else notebook.with_name(own)
    if out.suffix != ".pdf" or out.is_dir():
        raise ValueError(f"--out: expected a file such as answers.pdf, got {out}")
    title, solved = read(notebook)
    try:
        text = page(title, solved, options.paper)
    except Trouble as error:
        raise Trouble(f"{notebook}: {error}") from None
    (written,), missing = paper.write({out: text}, print_them=not options.html, force=options.force)
    print(written)
    points = sum(one.points for one in solved)
    print(f"{len(solved)} exercise{'s'[: len(solved) != 1]}, {points} point{'s'[: points != 1]}")
    if missing:
        print(f"note: {missing}")
    return 1 if missing else 0
