"""How a sheet is written: HTML for paper and screen, a notebook, and answers.

The exercises' text holds a little TeX between dollar signs. A notebook takes it as it is; for a page
without any script, `toytf.teach.worksheet.typeset` turns it into HTML.
"""

from __future__ import annotations

import json
import re
import string
from collections.abc import Sequence

from toytf.teach.pages import environment
from toytf.teach.worksheet.exercises import Asked, Exercise, Given, is_word

# ---------------------------------------------------------------- the page


def page(sheets: Sequence, answers: bool) -> str:
    """Write sheets as one page of HTML that needs nothing else: no script, no address, no font."""
    template = environment().get_template("sheet.html")
    from toytf.teach.worksheet import typeset  # it needs what comes with Jinja2

    return template.render(sheets=sheets, answers=answers, typeset=typeset) + "\n"


def _number(word: str) -> str:
    return word.replace("-", "−")


# ---------------------------------------------------------------- the notebook

LOOK = """\
# Says what is still missing, and what cannot be read. What is right it cannot say: this notebook
# holds no answers.
def look(number, answer, shapes):
    def plain(value):
        value = value.tolist() if hasattr(value, "tolist") else value
        return [plain(part) for part in value] if isinstance(value, (list, tuple)) else value

    def boxes(value):
        return [box for part in value for box in boxes(part)] if isinstance(value, list) else [value]

    def shape(value):
        if not isinstance(value, list):
            return []
        inner = [shape(part) for part in value]
        same = bool(inner) and all(one == inner[0] for one in inner)
        return [len(value), *inner[0]] if same else [len(value)] + ["?"] * any(inner)

    def words(size):
        return " rows of ".join(map(str, size)) + " numbers" if size else "one number"

    def number_like(box):
        return isinstance(box, (int, float)) and not isinstance(box, bool) and box == box

    if not isinstance(answer, dict):
        return print(f"{number}: expected a dictionary with {', '.join(shapes)}; got {answer!r}")
    for name in answer:
        if name not in shapes:
            print(f"{number}: {name!r} is none of {', '.join(shapes)}")
    for name, wanted in shapes.items():
        mine = plain(answer.get(name))
        found = boxes(mine)
        odd = [box for box in found if box is not None and not number_like(box)]
        empty = sum(box is None for box in found)
        if mine is None:
            said = f"not answered yet, {words(wanted)}"
        elif shape(mine) != wanted:
            said = f"expected {words(wanted)}, got {mine!r:.60}"
        elif odd:
            said = f"could not read {odd[0]!r:.30}: write a number, with a point before its decimals, such as 0.25"
        else:
            said = f"{empty} of {len(found)} numbers still missing" if empty else "filled in"
        print(f"{number}, {name}: {said}")"""


def notebook(sheet) -> dict:
    """Write a sheet as a Jupyter notebook with blanks.

    It holds no answers, and no check of them: to check without the key, it would have to hold the
    answers, their hashes (a few thousand guesses undo those: the answers are small whole numbers),
    or code that computes them. So its last cell says what is still missing, and nothing else.
    """
    said = (
        f"# {as_it_is(sheet.title)}\n\nStudent {as_it_is(sheet.student)}, sheet {sheet.number}, "
        f"about {sheet.minutes} minutes.\n\nWork with a pencil, and type the answers in place of `None`. "
        "The numbers on this sheet are yours alone."
    )
    cells = [_cell("markdown", "title", said)]
    for exercise in sheet.exercises:
        cells.append(_cell("markdown", f"exercise-{exercise.number}", _markdown(exercise)))
        cells.append(_cell("code", f"answer-{exercise.number}", blanks(exercise, f"answer_{exercise.number}")))
    calls = [f'look({e.number}, globals().get("answer_{e.number}", {{}}), {shapes(e)})' for e in sheet.exercises]
    cells.append(_cell("markdown", "look-text", "## Is anything left?"))
    cells.append(_cell("code", "look", "\n".join([LOOK, "\n", *calls])))
    return {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
            "toytf": {"worksheet": sheet.number},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def shapes(exercise: Exercise) -> str:
    """The shapes of an exercise's answers, as `LOOK` takes them: ``{"root": [], "scaled": [3, 3]}``."""
    return json.dumps({asked.name: list(asked.shape) for asked in exercise.asked})


def as_json(content: dict) -> str:
    """JSON as files hold it."""
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _cell(kind: str, name: str, source: str) -> dict:
    cell = {"cell_type": kind, "id": name, "metadata": {}, "source": source.splitlines(keepends=True)}
    return cell | {"execution_count": None, "outputs": []} if kind == "code" else cell


def as_it_is(text: str) -> str:
    """Text as Markdown shows it letter by letter: every sign that could mean something is an entity."""
    return "".join(f"&#{ord(c)};" if c in string.punctuation else c for c in text)


def _markdown(exercise: Exercise) -> str:
    return f"## {exercise.heading}\n\n{markdown(exercise)}"


def markdown(exercise: Exercise) -> str:
    """What an exercise gives and asks, as a notebook shows it, without a heading."""
    asked = ", ".join(f"{_md_symbol(a)} ({a.how})" for a in exercise.asked)
    parts = [*exercise.text, *(_md_table(given) for given in exercise.given)]
    parts.append(f"Asked: {asked}. The book explains it in chapter {exercise.chapter}.")
    return "\n\n".join(parts)


def tables(exercise: Exercise) -> list[str]:
    """The givens of an exercise as plain text, a table each.

    Examples
    --------
    >>> from toytf.teach.worksheet import sheet
    >>> made = sheet("anna", "a secret of the teacher", ["scaling"]).exercises[0]
    >>> print(tables(made)[0])
    d_k
      16
    """
    return [_text_table(given) for given in exercise.given]


def _text_table(given: Given) -> str:
    cells = [[spoken(cell) for cell in row] for row in given.cells()]
    head, labels = [spoken(c) for c in given.cols], [spoken(r) for r in given.rows]
    rows = [["", *head], *([label, *row] for label, row in zip(labels, cells, strict=True))]
    if not any(head):
        del rows[0]
    wide, *widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for label, *row in rows:
        entries = "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        lines.append(f"  {label.ljust(wide)}  {entries}" if wide else f"  {entries}")
    return "\n".join([spoken(given.name), *lines])


def spoken(tex: str) -> str:
    """The little TeX of names and entries as plain text.

    Examples
    --------
    >>> spoken(r"\\mathrm{head}_1"), spoken(r"\\ln 3"), spoken("W^Q")
    ('head_1', 'ln 3', 'W^Q')
    """
    return re.sub(r"\\mathrm\{(\w+)\}", r"\1", tex).replace("\\", "")


def _md_symbol(asked: Asked) -> str:
    return f"`{asked.name}`" if asked.symbol == asked.name else f"`{asked.name}`, ${asked.symbol}$"


def _md_table(given: Given) -> str:
    def label(word: str) -> str:
        if word.startswith("\\"):
            return f"${word}$"
        return word if not word or word.isdigit() else f"`{word}`"

    cells = [[f"${c}$" if given.words is not None else _number(c) for c in row] for row in given.cells()]
    name = given.name if is_word(given.name) else f"${given.name}$"
    head = f"| {name} | " + " | ".join(label(c) for c in given.cols) + " |"
    line = "|---|" + "---:|" * len(given.cols)
    body = [f"| {label(name)} | " + " | ".join(row) + " |" for name, row in zip(given.rows, cells, strict=True)]
    return "\n".join([head, line, *body])


def blanks(exercise: Exercise, variable: str) -> str:
    """The lines into which a student types the answers: a dictionary with None in every box."""
    lines = [f"{variable} = {{"]
    for asked in exercise.asked:
        if len(asked.shape) == 2:
            row = f"        [{', '.join(['None'] * asked.shape[1])}],"
            lines += [f'    "{asked.name}": [  # {asked.how}', *[row] * asked.shape[0], "    ],"]
        else:
            blank = f"[{', '.join(['None'] * asked.shape[0])}]" if asked.shape else "None"
            lines.append(f'    "{asked.name}": {blank},  # {asked.how}')
    return "\n".join([*lines, "}"])
