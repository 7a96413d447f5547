"""One row of logits to move: probabilities, loss and slopes follow, and steps go against the slopes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from toytf.byhand import fmt
from toytf.live.element import SAID, Element, bar, on_page, table
from toytf.ops import Array, log_softmax, softmax

RIVALS = 4  # the most probable words beside the right one
MOST = 15  # nats, where the bar of the loss ends
HEADS = ("", None, "logit s", None, "p", None, "slope ds")
HATCHED = "Hatched: a slope below 0, so a step raises this logit"


def logits(starts: Mapping[str, tuple[Sequence[float], int]], tokens: Sequence[str], *, id: str = "logits") -> Element:
    """Move logits, or step against their slopes, and see what the model says then::

        p = softmax(s),   loss = -log p[right],   ds = p - g,   s = s - ds

    Its settings are the start, the logits of the right word, of its rivals and of all others as one, the number of
    steps, and the loss: the distance between p and g is the rival of the logarithm.

    Parameters
    ----------
    starts : mapping of str to (array_like, int)
        What a start is called, its row of logits, one for each token, and the id of the right word.
    tokens : sequence of str
        All tokens.
    id : str
        The element's address on its page, ``#logits?steps=10&loss=distance``.

    Returns
    -------
    Element

    Examples
    --------
    >>> print(logits({"even": ([0.0] * 6, 0)}, "abcdef"))
    Move a logit, or take a step
    a: logit 0.00, p 0.1667, slope -0.8333
    b: logit 0.00, p 0.1667, slope 0.1667
    c: logit 0.00, p 0.1667, slope 0.1667
    d: logit 0.00, p 0.1667, slope 0.1667
    e: logit 0.00, p 0.1667, slope 0.1667
    the others: logit 0.00, p 0.1667, slope 0.1667
    loss: 1.7918
    """
    given, first = {}, None
    for name, (row, right) in starts.items():
        s = np.asarray(row, float)
        best = [int(w) for w in np.argsort(-s, kind="stable") if w != right][:RIVALS]
        given[name] = {"logits": s, "words": [right, *best]}
        first = first or given[name]
    s, words = np.asarray(first["logits"]), first["words"]
    names = [*(tokens[w] for w in words), "the others"]
    p, slopes = softmax(s), softmax(s) - np.eye(len(s))[words[0]]
    loss = -float(log_softmax(s)[words[0]])
    rows = list(
        zip(names, _as_one(s, words, _together), _as_one(p, words, sum), _as_one(slopes, words, sum), strict=True)
    )
    lines = [
        (name, "", fmt(x, 2).replace("-", "−"), bar(share=q), on_page(q, sci=True), _slope(d), on_page(d, sci=True))
        for name, x, q, d in rows
    ]
    losses = [(f"loss, −log p of {names[0]}", bar(share=min(1, loss / MOST)), fmt(loss))]
    above = f'<div class="logits-loss">{table("bars", losses)}</div>'
    static = f"{above}{table('logits', lines, HEADS, HATCHED)}{SAID}"
    data = {"starts": given, "tokens": tokens, "most": MOST}
    told = [f"{name}: logit {fmt(x, 2)}, p {fmt(q)}, slope {fmt(d)}" for name, x, q, d in rows]
    return Element("logits", "Move a logit, or take a step", data, static, "\n".join([*told, f"loss: {fmt(loss)}"]), id)


def _as_one(row: Array, words: Sequence[int], of) -> list[float]:
    """The entries of some words, and what becomes of all others."""
    return [*row[words], of(np.delete(row, words))]


def _together(s: Array) -> float:
    """The logit of a word that would get what these words get together: log-sum-exp."""
    return s.max() + math.log(np.exp(s - s.max()).sum())


def _slope(value: float) -> str:
    """A bar to the left or to the right of the middle; -1 and 1 are its ends."""
    return f'<td class="logits-slope{" logits-down" if value < 0 else ""}" style="--slope:{value:.6g}"></td>'
