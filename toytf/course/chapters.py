"""The chapters of the book, as its table of contents names them, and what each of them says of itself.

>>> chapters()["04"]
'04_self_attention'
>>> outline()[3].question
'How can a row take in what the other rows say?'
"""

from __future__ import annotations

import html
import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from toytf.course.small import picture

BOOK = Path(__file__).resolve().parents[2]  # the checkout; a package that is installed by itself has no book

# The stations of the course and their chapters: the wire above a chapter. First the model, then what one does with it.
WAYS: tuple[dict[str, tuple[int, ...]], ...] = (
    {
        "from outside": (1,), "embedding": (2,), "positions": (3,), "self-attention": (4, 5, 6), "feed-forward": (7,),
        "add & norm": (8, 9), "encoder": (10,), "masks": (11,), "decoder": (12,), "words": (13,), "loss": (14,),
        "gradients": (15,), "training": (16,),
    },
    {
        "looking inside": (17,), "taking apart": (18,), "new sentences": (19,), "writing": (20,),
        "PyTorch": (21,), "costs": (22,), "today": (23,),
    },
)  # fmt: skip

# How long one reads: a guess, nobody was timed.
PER_MINUTE = 200  # words
FORMULA = 3 / 60  # a formula in a line, in minutes
DISPLAYED = 20 / 60  # a formula on lines of its own
SHOWN = 45 / 60  # what a cell shows: a panel, a table, a picture


@cache
def chapters() -> dict[str, str]:
    """From the number of each chapter to the name of its notebook; none where the book is not there."""
    contents = BOOK / "_toc.yml"
    text = contents.read_text(encoding="utf-8") if contents.is_file() else ""
    return {name[:2]: name for name in re.findall(r"^ *- file: notebooks/(\d\d_\w+)$", text, re.MULTILINE)}


@dataclass(frozen=True)
class Chapter:
    """What a chapter says of itself."""

    name: str  # of its notebook: "04_self_attention"
    question: str  # what it answers: the first question in bold on its first screen
    words: int  # of its text, without code and exercises
    formulas: int  # between the words
    displayed: int  # formulas on lines of their own
    shown: int  # cells above the exercises that show something: a panel, a table, a picture

    @property
    def number(self) -> int:
        return int(self.name[:2])

    @property
    def minutes(self) -> int:
        """How long one reads it, in steps of five minutes, without the exercises."""
        seen = self.formulas * FORMULA + self.displayed * DISPLAYED + self.shown * SHOWN
        return max(5, 5 * round((self.words / PER_MINUTE + seen) / 5))


def outline() -> list[Chapter]:
    """Return the chapters in their order, each with its question; none where the book is not there.

    A first screen that asks no question in bold is a `ValueError`.
    """
    return [_read(name) for name in chapters().values()]


def _read(name: str) -> Chapter:
    notebook = json.loads((BOOK / "notebooks" / f"{name}.ipynb").read_text("utf-8"))
    cells = _before_the_exercises(notebook["cells"])
    text = "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    first, *_ = re.split(r"^## ", text, maxsplit=1, flags=re.MULTILINE)
    question = re.search(r"\*\*([^*]+\?)\*\*", first)
    if question is None:
        raise ValueError(f"{name}: expected a question in bold before its first section, got none")
    asked = re.sub(r'"([^"]*)"', r"“\1”", " ".join(question[1].split())).replace("'", "’")  # as the page has it
    return Chapter(name, asked, *count(text), sum(map(_shows, cells)))


def _before_the_exercises(cells: list[dict]) -> list[dict]:
    kept: list[dict] = []
    for cell in cells:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown" and (head := re.search(r"^## Exercises", source, re.MULTILINE)):
            return [*kept, {**cell, "source": source[: head.start()]}]
        kept.append(cell)
    return kept


def count(text: str) -> tuple[int, int, int]:
    r"""The words of a text, its formulas in a line, and those on lines of their own.

    >>> count(r"The root $\sqrt{d}$ of [width](#width) 4: $$ QK^T $$")
    (4, 1, 1)
    """
    text, displayed = re.subn(r"\$\$.*?\$\$", " ", text, flags=re.DOTALL)
    text, formulas = re.subn(r"\$[^$]+\$", " ", text)
    text = re.sub(r"\]\([^)]*\)", "]", text)  # where a link leads is not read
    return len(re.findall(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*", text)), formulas, displayed


def _shows(cell: dict) -> bool:
    hidden = {"hide-cell", "remove-cell", "remove-output", "hide-output"} & {*cell.get("metadata", {}).get("tags", [])}
    return bool(cell.get("outputs")) and not hidden


class Questions:
    """The contents of the course: each chapter's question, with a small picture of its own.

    It shows itself as HTML in the book and in JupyterLab, as text elsewhere.
    """

    def __init__(self):
        self.chapters = outline()

    def _repr_html_(self) -> str:
        lines = [
            f'<li><a href="../notebooks/{chapter.name}.ipynb">{picture(chapter.number)}'
            f'<span class="asked">{html.escape(chapter.question)}</span>'
            f'<span class="minutes">{chapter.minutes} min</span></a></li>'
            for chapter in self.chapters
        ]
        return f'<ol class="questions">{"".join(lines)}</ol>'

    def __str__(self) -> str:
        return "\n".join(f"{chapter.number:2}. {chapter.question}" for chapter in self.chapters)

    __repr__ = __str__
