"""A mask whose cells switch: scores, weights and outputs follow, and what is hidden changes nothing."""

from __future__ import annotations

import html as _html
from collections.abc import Sequence

import numpy as np

from toytf import byhand
from toytf._validate import as_id, as_labels, as_mask, require_class
from toytf.attention import causal_mask
from toytf.byhand import fmt
from toytf.live.element import Element, matrix

MOST = 20.0  # what can be added to the scores of a key
LARGEST = 500.0  # of the scores, so that every power of e can be written down
WIDEST = 1e9  # of the values: floats of this size still have all decimals that are shown


def mask(
    scores, may_attend, values=None, *, rows: Sequence[str], cols: Sequence[str], name: str = "S", id: str = "mask"
) -> Element:
    """Switch the cells of a mask, and see weights and outputs follow::

        weights = softmax(scores where M is True, -∞ elsewhere),   output = weights values

    Parameters
    ----------
    scores : array_like, shape (query, key)
        As they go into the softmax, before the mask.
    may_attend : array_like of bool, same shape, or one that fits it by broadcasting
        The mask at first: True where the query may attend to the key. No row of it is empty.
    values : array_like, shape (key, d_v), optional
        What is averaged by the weights.
    rows, cols : sequence of str
        What the queries and the keys are called.
    name : str
        What the scores are called: "S / 30".
    id : str
        The element's address on its page, ``#mask?mask=100.110.110``.

    Returns
    -------
    Element

    Notes
    -----
    *Attention Is All You Need*, section 3.2.3.
    """
    require_class("name", name, str)
    id = as_id("id", id)
    scores, seen, values, rows, cols = _usable(scores, may_attend, values, rows, cols)
    under = byhand.mask(scores, seen, "S′", f"{name} + B", rows=rows, cols=cols)
    weights = byhand.softmax(under, "A", "softmax(S′)", rows=rows, cols=cols)
    panels = [("weights", weights)]
    if values is not None:
        panels.append(("out", byhand.weighted_sum(weights, values, "output", "A V", rows=rows)))
    static = _grid(scores, seen, rows, cols, name) + "".join(
        f'<div class="live-{part}">{working.html()}</div>' for part, working in panels
    )
    data = {
        "scores": scores,
        "mask": seen,
        "values": values,
        "rows": rows,
        "cols": cols,
        "presets": _presets(*scores.shape),
        "most": MOST,
    }
    text = "\n".join(working.text() for working in (under, *(working for _, working in panels)))
    return Element("mask", "Who may look at whom? Tap a cell to hide it", data, static, text, id)


def _usable(scores, may_attend, values, rows, cols) -> tuple:
    scores = matrix("scores", scores, LARGEST)
    seen = np.broadcast_to(as_mask("may_attend", may_attend, scores.shape), scores.shape)
    if not seen.any(axis=1).all():
        row = int(seen.any(axis=1).argmin())
        raise ValueError(f"may_attend: expected at least one True in each row, got none in row {row}")
    if values is not None:
        values = matrix("values", values, WIDEST)
        if len(values) != scores.shape[1]:
            raise ValueError(f"values: expected a row for each of {scores.shape[1]} keys, got {len(values)}")
    rows, cols = (
        as_labels(what, names, n, "names", different=True)
        for what, names, n in zip(("rows", "cols"), (rows, cols), scores.shape, strict=True)
    )
    return scores, seen, values, rows, cols


def _presets(n: int, m: int) -> dict:
    """What a button sets the whole mask to."""
    presets = {"all": np.ones((n, m), dtype=bool)}
    if m > 1:
        presets["padding"] = np.broadcast_to(np.arange(m) < m - 1, (n, m))
    if n == m > 1:
        causal = causal_mask(n)
        presets |= {
            "causal": causal,
            "both": causal & presets["padding"],
            "earlier words only": np.tri(n, k=-1, dtype=bool),
            "causal, turned round": causal.T,
        }
    return presets


def _grid(scores, seen, rows, cols, name) -> str:
    """The mask as a table: 1 where one may look, 0 where not, and below it the score."""
    esc = _html.escape

    def cell(may, score):
        word = fmt(score, 4).replace("-", "−")
        return f"<td{'' if may else ' class=live-hidden'}><b>{int(may)}</b> <span>{word}</span></td>"

    head = "".join(f'<th scope="col">{esc(col)}</th>' for col in cols)
    body = "".join(
        f'<tr><th scope="row">{esc(row)}</th>'
        + "".join(cell(may, score) for may, score in zip(may_row, score_row, strict=True))
        + "</tr>"
        for row, may_row, score_row in zip(rows, seen, scores, strict=True)
    )
    caption = f"M. A row asks, a column is asked. 1: may look, 0: hidden; below it the score, {esc(name)}"
    return (
        f'<table class="live-mask"><caption>{caption}</caption><thead><tr><td></td>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table>"
    )
