"""What one head and two heads can reach: their shares move a point, on a line and in a rectangle."""

from __future__ import annotations

import html as _html
import math
from collections.abc import Sequence

import numpy as np

from toytf.byhand import Num
from toytf.live.element import SAID, Element

START = 0.5  # of the attention, for either word
WIDE, HIGH = 300, 258  # of the picture, which is never drawn smaller
LEFT, RIGHT, TOP, BOTTOM = 52, 272, 46, 196  # of its rectangle, from the least to the most of both columns
AXIS = 34  # from the rectangle to the axes


def shares(
    values, wanted, *, rows: Sequence[str], cols: Sequence[str], query: str = "it", id: str = "shares"
) -> Element:
    """Move the shares that heads give to two words: one head reaches a line, two heads reach a rectangle::

        one head:   out[j] = a values[0, j] + (1 - a) values[1, j], with one share a for both columns
        two heads:  out[0] with head A's share a, out[1] with head B's share b

    Parameters
    ----------
    values : array_like, shape (2, 2)
        A row for each of the two words that are looked at; they differ in both columns.
    wanted : array_like, shape (2,)
        The output that one would like to have, which two heads can reach.
    rows, cols : sequence of str
        What the two words and the two columns are called.
    query : str
        The word that looks.
    id : str
        The element's address on its page, ``#shares?one=off&a=0.9&b=0.1``.

    Returns
    -------
    Element

    Notes
    -----
    *Attention Is All You Need*, section 3.2.2: "With a single attention head, averaging inhibits this."

    Examples
    --------
    >>> it = shares([[4, 1], [1, 3]], [3.7, 2.8], rows=["animal", "tired"], cols=["who", "state"])
    >>> print(it.text)
    Plane of who and state. The point: who 2.5, state 2. Wanted: who 3.7, state 2.8.
    """
    values, wanted = np.asarray(values, float), np.asarray(wanted, float)
    out = START * values[0] + (1 - START) * values[1]
    static = (
        f'<div class="live-reach"><figure class="live-plane">{_picture(values, wanted, out, rows, cols, id)}'
        '<figcaption><span class="live-key-line">one head: the line</span>'
        '<span class="live-key-box">two heads: the rectangle</span>'
        f'<span class="live-key-point">the output of “{_html.escape(query)}”</span></figcaption></figure>{SAID}</div>'
    )
    data = {"values": values, "wanted": wanted, "rows": rows, "cols": cols, "start": START}
    data["ends"] = list(zip(values.min(axis=0), values.max(axis=0), strict=True))
    box = {"left": LEFT, "right": RIGHT, "top": TOP, "bottom": BOTTOM}
    title, text = "Can one head bring the point to the star?", _said(out, wanted, cols)
    return Element("shares", title, data | {"box": box}, static, text, id)


# ---------------------------------------------------------------- the picture


def _picture(values: np.ndarray, wanted: np.ndarray, out: np.ndarray, rows: Sequence[str], cols, id: str) -> str:
    """The plane of the two columns: line and rectangle, the two words, what is wanted, and the point."""
    least, most = values.min(axis=0), values.max(axis=0)

    def at(point):
        x, y = (np.asarray(point) - least) / (most - least)
        return float(LEFT + (RIGHT - LEFT) * x), float(BOTTOM - (BOTTOM - TOP) * y)

    def line(name, start, end):
        return f'<line class="{name}" x1="{start[0]:.2f}" y1="{start[1]:.2f}" x2="{end[0]:.2f}" y2="{end[1]:.2f}"/>'

    def text(x, y, words, anchor="middle"):
        return f'<text x="{x:.2f}" y="{y:.2f}" text-anchor="{anchor}">{_html.escape(words)}</text>'

    bottom, left = BOTTOM + AXIS, LEFT - AXIS
    axes = line("live-axis", (left, bottom), (RIGHT + 14, bottom)) + line("live-axis", (left, TOP - 14), (left, bottom))
    axes += text((LEFT + RIGHT) / 2, bottom + 16, f"{cols[0]} →") + text(left - 10, TOP - 30, f"↑ {cols[1]}", "start")
    for value in (least, most):
        x, y = at(value)
        axes += line("live-axis", (x, bottom), (x, bottom + 4)) + text(x, bottom + 16, _number(value[0]))
        axes += line("live-axis", (left - 4, y), (left, y)) + text(left - 7, y + 4, _number(value[1]), "end")
    words = ""
    for word, value in zip(rows, values, strict=True):
        x, y = at(value)
        above, start = value[1] == most[1], value[0] == least[0]
        words += f'<circle class="live-word" cx="{x:.2f}" cy="{y:.2f}" r="4"/>'
        words += text(
            x + (14 if start else 5), y + (-8 if above else 23), f"all to {word}", "start" if start else "end"
        )
    x, y = at(wanted)
    corners = [(4 if k % 2 else 10, k * math.pi / 5) for k in range(10)]  # radius and angle
    star = "L".join(f"{x + r * math.sin(a):.2f} {y - r * math.cos(a):.2f}" for r, a in corners)
    wish = text(x, y - 16, "wanted")  # where no ring comes past
    x1, y1 = at(out)
    width, height = RIGHT - LEFT, BOTTOM - TOP
    hatch = _html.escape(f"{id}-hatch")
    return (
        f'<svg viewBox="0 0 {WIDE} {HIGH}" style="--hatch:url(#{hatch})" role="img" '
        f'aria-label="{_html.escape(_said(out, wanted, cols))}">'
        f'<g aria-hidden="true"><defs><pattern id="{hatch}" width="7" height="7" patternUnits="userSpaceOnUse" '
        'patternTransform="rotate(45)"><line class="live-hatching" y2="7"/></pattern></defs>'
        f'<rect class="live-box" x="{LEFT}" y="{TOP}" width="{width}" height="{height}"/>{axes}'
        f"{line('live-guide live-guide-x', (x1, y1), (x1, bottom))}"
        f"{line('live-guide live-guide-y', (x1, y1), (left, y1))}"
        f"{line('live-line', at(values[0]), at(values[1]))}{line('live-left', (x1, y1), (x, y))}{words}"
        f'<path class="live-star" d="M{star}Z"/>{wish}</g>'
        f'<g class="live-point" transform="translate({x1:.2f} {y1:.2f})"><circle class="live-grab" r="22"/>'
        '<circle class="live-dot" r="8"/></g></svg>'
    )


def _number(x: float) -> str:
    return Num(float(x)).render("html")


def _said(out: np.ndarray, wanted: np.ndarray, cols: Sequence[str]) -> str:
    def place(point):
        return ", ".join(f"{col} {_number(x)}" for col, x in zip(cols, point, strict=True))

    return f"Plane of {cols[0]} and {cols[1]}. The point: {place(out)}. Wanted: {place(wanted)}."
