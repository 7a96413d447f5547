"""A mask whose cells switch: scores, weights and outputs follow, and what is hidden changes nothing."""

from __future__ import annotations

import html as _html
from collections.abc import Sequence

import numpy as np

from toytf import byhand
from toytf.attention import causal_mask
from toytf.byhand import fmt
from toytf.live.element import SAID, Element, table

MOST = 20.0  # what can be added to the scores of a key


def mask(
    scores, may_attend, values, *, rows: Sequence[str], cols: Sequence[str], name: str = "S", id: str = "mask"
) -> Element:
    """Switch the cells of a mask, and see weights and outputs follow::

        weights = softmax(scores where M is True, -∞ elsewhere),   output = weights values

    Parameters
    ----------
    scores : array_like, shape (query, key)
        As they go into the softmax, before the mask.
    may_attend : array_like of bool, same shape, or one that fits it by broadcasting
        The mask at first: True where the query may attend to the key. No row of it is empty.
    values : array_like, shape (key, d_v)
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
    scores, values = np.asarray(scores, float), np.asarray(values, float)
    seen = np.broadcast_to(may_attend, scores.shape)
    under = byhand.mask(scores, seen, "S′", f"{name} + B", rows=rows, cols=cols)
    weights = byhand.softmax(under, "A", "softmax(S′)", rows=rows, cols=cols)
    out = byhand.matmul(weights, values, "output", "A V", rows=rows)
    static = (
        f'{_grid(scores, seen, rows, cols, name)}{SAID}<div class="live-weights">{weights.html()}</div>'
        f'<div class="live-out">{out.html()}</div>'
    )
    data = {"scores": scores, "mask": seen, "values": values, "rows": rows, "cols": cols, "most": MOST}
    text = "\n".join(working.text() for working in (under, weights, out))
    title = "Who may look at whom? Click or tap a cell to hide it"
    return Element("mask", title, data | {"presets": _presets(*scores.shape)}, static, text, id)


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
            "without itself": np.tri(n, k=-1, dtype=bool),
            "causal, turned round": causal.T,
        }
    return presets


def _grid(scores, seen, rows, cols, name) -> str:
    """The mask as a table: 1 where one may look, 0 where not, and below it the score."""

    def cell(may, score):
        word = fmt(score, 4).replace("-", "−")
        return f"<td{'' if may else ' class=live-hidden'}><b>{int(may)}</b> <span>{word}</span></td>"

    lines = [(row, *map(cell, *both)) for row, *both in zip(rows, seen, scores, strict=True)]
    caption = f"A row of M may look where it has a 1. Below it stands the score, {name}."
    return table("mask", lines, ["", *map(_html.escape, cols)], caption)
