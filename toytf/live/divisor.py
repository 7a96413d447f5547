"""The divisor of the scores, to be moved: scores, weights, and what a step of learning can still move."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from toytf import byhand
from toytf.live.element import SAID, Element, bars
from toytf.ops import softmax

LARGEST = 100.0  # divisor that the page's slider reaches
SLOPES = "the slope of each share: how fast it grows with its own scaled score, for a tiny nudge"


def divisor(scores, d_k: int, *, rows: Sequence[str], cols: Sequence[str], id: str = "divisor") -> Element:
    """Move the divisor of attention's scores, and see the weights and their gradient follow::

        weights = softmax(S / divisor),   d weight_j / d (s_j / divisor) = weight_j (1 - weight_j)

    Parameters
    ----------
    scores : array_like, shape (query, key)
        Dot products of queries and keys, not divided.
    d_k : int
        Width of a head; the divisor is its root at first.
    rows, cols : sequence of str
        What the queries and the keys are called.
    id : str
        The element's address on its page, ``#divisor?divisor=1&row=World``.

    Returns
    -------
    Element

    Notes
    -----
    *Attention Is All You Need*, section 3.2.1 and its footnote 4.
    """
    start = math.sqrt(d_k)
    scaled = byhand.divide(scores, start, "S / divisor", rows=rows, cols=cols)
    weights = softmax(scaled.result)
    shares = byhand.softmax(scaled, "A", "softmax(S / divisor)", subtract_max=True, sci=True)
    # the others' sum, not 1 - weight: near 1 the difference would lose its digits
    slopes = [share * np.delete(weights[0], j).sum() for j, share in enumerate(weights[0])]
    static = (
        f'<div class="live-side">{bars(cols, weights[0], f"{rows[0]}: its shares", sci=True)}'
        f"{bars(cols, slopes, f'{rows[0]}: {SLOPES}', sci=True)}</div>{SAID}"
        f'<div class="live-scaled">{scaled.html()}</div><div class="live-weights">{shares.html()}</div>'
    )
    data = {"scores": scores, "start": start, "rows": rows, "cols": cols, "largest": LARGEST}
    return Element("divisor", "Move the divisor", data, static, f"{scaled.text()}\n{shares.text()}", id)
