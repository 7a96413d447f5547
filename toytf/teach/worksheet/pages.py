"""How a sheet is written: HTML for paper and screen, a notebook, and answers.

The exercises' text holds a little TeX between dollar signs. A notebook takes it as it is; for a page
without any script, `math` turns it into HTML.
"""

from __future__ import annotations

import html
import json
import re
import string
from collections.abc import Sequence
from importlib import resources

from toytf.teach.worksheet.exercises import Asked, Exercise, Given, chain

_SIGNS = {
    "cdot": "·", "times": "×", "ln": "ln ", "max": "max", "mu": "μ", "sigma": "σ", "varepsilon": "ε", ",": " ",
}  # fmt: skip
_TEX = re.compile(
    r"""\\(?P<named>sqrt|mathrm)\{(?P<inside>[^{}]*)\}
    | \\(?P<sign>[a-z]+|,)\ ?
    | (?P<where>[_^])(?:\{(?P<long>[^{}]*)\}|(?P<short>\\?\w))
    | (?P<letter>[A-Za-z])
    | (?P<minus>-)
    | (?P<rest>[^A-Za-z\\_^-]+)""",
    re.VERBOSE,
)


def math(tex: str) -> str:
    """Turn the TeX of the exercises into HTML.

    Examples
    --------
    >>> math("Q = X W^Q")
    '<i>Q</i> = <i>X</i> <i>W</i><sup><i>Q</i></sup>'
    >>> math(r"S / \\sqrt{d_k}")
    '<i>S</i> / √<span class="root"><i>d</i><sub><i>k</i></sub></span>'
    """
    out, at = "", 0
    while at < len(tex):
        match = _TEX.match(tex, at)
        if match is None:
            raise ValueError(f"tex: expected what the exercises use, got {tex[at:]!r}")
        at = match.end()
        if match["named"] == "sqrt":
            out += f'√<span class="root">{math(match["inside"])}</span>'
        elif match["named"]:
            out += html.escape(match["inside"])
        elif match["sign"]:
            out += _SIGNS[match["sign"]]
        elif match["where"]:
            tag = "sup" if match["where"] == "^" else "sub"
            out += f"<{tag}>{math(match['long'] or match['short'])}</{tag}>"
        elif match["letter"]:
            out += f"<i>{match['letter']}</i>"
        else:
            out += "−" if match["minus"] else html.escape(match["rest"])
    return out


def prose(text: str) -> str:
    """Turn a paragraph with TeX between dollar signs and code between backticks into HTML."""
    pieces = []
    for piece in re.split(r"(\$[^$]*\$|`[^`]*`)", text):
        if piece.startswith("$"):
            pieces.append(f'<span class="math">{math(piece[1:-1])}</span>')
        elif piece.startswith("`"):
            pieces.append(f"<code>{html.escape(piece[1:-1])}</code>")
        else:
            pieces.append(html.escape(piece))
    return "".join(pieces)


# ---------------------------------------------------------------- the page

SHORT_LINE = 46  # characters that fit into half the width of a page


def page(sheets: Sequence, answers: bool) -> str:
    """Write sheets as one page of HTML that needs nothing else: no script, no address, no font."""
    first = sheets[0]
    whose = first.student if len(sheets) == 1 else f"{len(sheets)} students"
    title = f"{'Answers: ' if answers else ''}{first.title}, {whose}"
    style = resources.files("toytf.teach.worksheet").joinpath("page.css").read_text(encoding="utf-8")
    # With one student on the file the browser can count the pages; with many the count would be of all.
    if len(sheets) == 1:
        style += '\n@page { @bottom-center { content: counter(page) " / " counter(pages); font: 9pt sans-serif; } }\n'
    body = "\n".join(_sheet(sheet, answers) for sheet in sheets)
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>\n{style}</style>\n</head>\n"
        f'<body class="{"answers" if answers else "student"}">\n<main>\n{body}\n</main>\n</body>\n</html>\n'
    )


def _sheet(sheet, answers: bool) -> str:
    who = f"<bdi>{html.escape(sheet.student)}</bdi>"
    kind = "Answers, not for students" if answers else f"about {sheet.minutes} minutes"
    running = f"<span>{html.escape(sheet.title)}</span><span>{who}</span><span>sheet {sheet.number}</span>"
    said = (
        "This is the answer sheet: every number with the sums and products that give it."
        if answers
        else "Work with a pencil; no calculator is needed. The numbers on this sheet are yours alone. Write the "
        "answers into the boxes."
    )
    body = "\n".join(_exercise(exercise, answers) for exercise in sheet.exercises)
    return (
        f'<article class="sheet" aria-label="Sheet {sheet.number}">\n'
        f'<div class="running"><div class="line">{running}</div></div>\n'
        f'<div class="flow">\n<header><h1>{html.escape(sheet.title)}</h1>\n'
        f'<p class="who">Student <b>{who}</b> · sheet <b>{sheet.number}</b> · {kind}</p>\n<p>{said}</p></header>\n'
        f"{body}\n</div>\n</article>"
    )


def _exercise(exercise: Exercise, answers: bool) -> str:
    paragraphs = "".join(f"<p>{prose(text)}</p>" for text in exercise.text)
    given = "".join(_given(g) for g in exercise.given)
    blanks = "".join(_asked(a, answers) for a in exercise.asked)
    rest = "".join(_work(a) for a in exercise.asked) if answers else '<div class="room"></div>'
    small = f'<span class="small">about {exercise.minutes} min; chapter {exercise.chapter}</span>'
    heading = f"<h2>{exercise.number}. {html.escape(exercise.title)} {small}</h2>"
    return (
        f'<section class="exercise">\n<div class="top">{heading}\n{paragraphs}\n'
        f'<div class="tables">{given}</div></div>\n'
        f'<div class="tables asked">{blanks}</div>\n{rest}\n</section>'
    )


def _given(given: Given) -> str:
    cells = [[_number(c) if given.words is None else math(c) for c in row] for row in given.cells()]
    rows = [[f"<td>{c}</td>" for c in row] for row in cells]
    return _table("given", f"<b>{_symbol(given.name)}</b>", given.rows, given.cols, rows)


def _asked(asked: Asked, answers: bool) -> str:
    if answers:
        rows = [[f'<td class="answer">{_number(c)}</td>' for c in row] for row in asked.cells()]
    else:
        rows = [['<td class="blank"></td>'] * len(asked.cols) for _ in asked.rows]
    caption = f'<b>{_symbol(asked.symbol)}</b> <span class="how">{asked.how}</span>'
    return _table("boxes", caption, asked.rows, asked.cols, rows)


def _symbol(name: str) -> str:
    """Words stay upright, symbols are set as mathematics."""
    return html.escape(name) if _is_word(name) else math(name)


def _is_word(name: str) -> bool:
    return len(name) > 2 and name.isalpha() and name.islower()


def _table(kind: str, caption: str, rows: Sequence[str], cols: Sequence[str], cells: list[list[str]]) -> str:
    corner = "<td></td>" if any(rows) else ""
    head = ""
    if any(cols):
        named = "".join(f'<th scope="col">{_label(c)}</th>' for c in cols)
        head = f"<thead><tr>{corner}{named}</tr></thead>"
    starts = [f'<th scope="row">{html.escape(label)}</th>' if any(rows) else "" for label in rows]
    body = "".join(f"<tr>{start}{''.join(row)}</tr>" for start, row in zip(starts, cells, strict=True))
    table = f'<table class="{kind}"><caption>{caption}</caption>{head}<tbody>{body}</tbody></table>'
    return f'<div class="scroll">{table}</div>'


def _label(label: str) -> str:
    return math(label) if label.startswith("\\") else html.escape(label)


def _number(word: str) -> str:
    return word.replace("-", "−")


def _work(asked: Asked) -> str:
    entries = asked.working().entries
    if not entries and not asked.note:
        return ""
    lines = []
    for entry in entries:
        steps = " ".join(f'<span class="step">{step}</span>' for step in chain(entry, "html"))
        where = f'<span class="where">{html.escape(entry.where)}:</span> ' if entry.where else ""
        lines.append(f"<li>{where}{steps}</li>")
    longest = max((max(len(e.where), 11) + len(" ".join(chain(e, "text"))) for e in entries), default=0)
    short = ' class="short"' if longest <= SHORT_LINE else ""
    note = f"<p>{prose(asked.note)}</p>" if asked.note else ""
    return f'<div class="work"><h3>{_symbol(asked.symbol)}</h3>{note}<ul{short}>{"".join(lines)}</ul></div>'


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
        f"# {_plain(sheet.title)}\n\nStudent {_plain(sheet.student)}, sheet {sheet.number}, "
        f"about {sheet.minutes} minutes.\n\nWork with a pencil, and type the answers in place of `None`. "
        "The numbers on this sheet are yours alone."
    )
    cells = [_cell("markdown", "title", said)]
    for exercise in sheet.exercises:
        cells.append(_cell("markdown", f"exercise-{exercise.number}", _markdown(exercise)))
        cells.append(_cell("code", f"answer-{exercise.number}", _blanks(exercise)))
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


def _plain(text: str) -> str:
    """Text as Markdown shows it letter by letter: every sign that could mean something is an entity."""
    return "".join(f"&#{ord(c)};" if c in string.punctuation else c for c in text)


def _markdown(exercise: Exercise) -> str:
    asked = ", ".join(f"{_md_symbol(a)} ({a.how})" for a in exercise.asked)
    parts = [f"## {exercise.heading}", *exercise.text]
    parts += [_md_table(given) for given in exercise.given]
    parts.append(f"Asked: {asked}. The book explains it in chapter {exercise.chapter}.")
    return "\n\n".join(parts)


def _md_symbol(asked: Asked) -> str:
    return f"`{asked.name}`" if asked.symbol == asked.name else f"`{asked.name}`, ${asked.symbol}$"


def _md_table(given: Given) -> str:
    def label(word: str) -> str:
        if word.startswith("\\"):
            return f"${word}$"
        return word if not word or word.isdigit() else f"`{word}`"

    cells = [[f"${c}$" if given.words is not None else _number(c) for c in row] for row in given.cells()]
    name = given.name if _is_word(given.name) else f"${given.name}$"
    head = f"| {name} | " + " | ".join(label(c) for c in given.cols) + " |"
    line = "|---|" + "---:|" * len(given.cols)
    body = [f"| {label(name)} | " + " | ".join(row) + " |" for name, row in zip(given.rows, cells, strict=True)]
    return "\n".join([head, line, *body])


def _blanks(exercise: Exercise) -> str:
    lines = [f"answer_{exercise.number} = {{"]
    for asked in exercise.asked:
        if len(asked.shape) == 2:
            row = f"        [{', '.join(['None'] * asked.shape[1])}],"
            lines += [f'    "{asked.name}": [  # {asked.how}', *[row] * asked.shape[0], "    ],"]
        else:
            blank = f"[{', '.join(['None'] * asked.shape[0])}]" if asked.shape else "None"
            lines.append(f'    "{asked.name}": {blank},  # {asked.how}')
    return "\n".join([*lines, "}"])
