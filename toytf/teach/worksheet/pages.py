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

_LOOK = """\
# Says which boxes are still empty. What is right it cannot say: this notebook holds no answers.
SHAPES = {shapes}


def boxes(answer):
    if not isinstance(answer, (list, tuple)):
        return [answer]
    return [box for part in answer for box in boxes(part)]


def shape(answer):
    if not isinstance(answer, (list, tuple)):
        return ()
    inner = {{shape(part) for part in answer}}
    return (len(answer), *inner.pop()) if len(inner) == 1 else (len(answer), "?")


for number, parts in SHAPES.items():
    answer = globals().get(f"answer_{{number}}", {{}})
    for name, wanted in parts.items():
        mine = answer.get(name)
        found = boxes(mine)
        empty = sum(box is None for box in found)
        odd = [box for box in found if box is not None and not isinstance(box, (int, float))]
        if shape(mine) != wanted:
            said = f"expected shape {{wanted}}, got {{shape(mine)}}"
        elif odd:
            said = f"expected numbers, got {{odd[0]!r}}"
        else:
            said = f"{{empty}} of {{len(found)}} boxes still empty" if empty else "filled in"
        print(f"{{number}}, {{name}}: {{said}}")
"""


def notebook(sheet) -> dict:
    """Write a sheet as a Jupyter notebook with blanks.

    It holds no answers, and no check of them: to check without the key, it would have to hold the
    answers, their hashes (a few thousand guesses undo those: the answers are small whole numbers),
    or code that computes them. So its last cell says which boxes are still empty, and nothing else.
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
    shapes = {e.number: {a.name: a.shape for a in e.asked} for e in sheet.exercises}
    listed = "{\n" + "".join(f"    {number}: {parts},\n" for number, parts in shapes.items()) + "}"
    cells.append(_cell("markdown", "look-text", "## Is anything left?"))
    cells.append(_cell("code", "look", _LOOK.format(shapes=listed.replace("'", '"')).rstrip("\n")))
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
