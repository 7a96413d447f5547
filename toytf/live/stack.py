"""A stack of layers with random weights: how its numbers grow, where the first NaN arises, and what ends it."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from toytf.attention import merge_heads, split_heads
from toytf.byhand import Exp, Num, Quotient, Sum, fmt
from toytf.byhand.workings import Entry, Operand, Working
from toytf.live.element import SAID, SUBSCRIPTS, Element, chart, power, table
from toytf.model import EncoderLayer
from toytf.ops import Array, Linear, linear, softmax_naive

HIGH = math.log(np.finfo(np.float64).max)  # of what is larger, exp is infinite
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
SAME = 1e-12  # rows that differ by less of their size are called alike
LOOKS = (("orange", "orange dashed", "square"), ("blue", "blue", "disc"))  # of score and entry, in the picture
KEY = '<span class="stack-key"><i class="stack-key-{0}"></i>largest</span> '
HEADS = ("layer", KEY.format("score") + "|score|", KEY.format("entry") + "entry", "row gap")


def stack(
    x, layers: Sequence[EncoderLayer], *, n_heads: int, depth: int, rows: Sequence[str], id: str = "stack"
) -> Element:
    """Send rows through layers with a softmax as it is usually typed, and see where the first NaN arises::

        rows = attention(rows),   rows = feed_forward(rows)        layer after layer

    Its settings are the number of layers, a factor of all weights, residual, layer norm and the softmax. At first
    there is neither residual nor norm.

    Parameters
    ----------
    x : array_like, shape (tokens, d_model)
        The rows that go in.
    layers : sequence of EncoderLayer
        All layers there are, drawn once, with relu. Their matrices are what the factor multiplies.
    n_heads : int
        Of each layer.
    depth : int
        How many of the layers are used at first.
    rows : sequence of str
        What the tokens are called.
    id : str
        The element's address on its page, ``#stack?layers=12&norm=post``.

    Returns
    -------
    Element

    Notes
    -----
    *Attention Is All You Need*, section 3.1 and figure 1.
    """
    x = np.asarray(x, float)
    steps = _steps(x, layers[:depth], n_heads)
    sizes = [s.sizes() for s in steps]
    bad = next((n for n, s in enumerate(steps, 1) if not all(np.isfinite(a).all() for a in s)), None)
    said = f"In layer {bad} the first infinity or NaN arises." if bad else "No infinity and no NaN arises."
    look = bad or 1
    lines = [(str(n), *_words(*size)) for n, size in enumerate(sizes, 1)]
    sizes_table = table("layers", [(n, *map(_cell, words)) for n, *words in lines], HEADS)
    static = (
        f'{SAID}<p class="stack-where">{said}</p><div class="stack-sizes">{_chart(sizes)}{sizes_table}</div>'
        f'<details class="byhand-part"><summary class="stack-inside">Inside layer {look}</summary>'
        f'<div class="byhand-beside">{"".join(_marked(panel.html()) for panel in _panels(steps[look - 1], rows))}</div>'
        "</details>"
    )
    data = {"x": x, "layers": layers, "n_heads": n_heads, "depth": depth, "look": look, "rows": rows, "limit": HIGH}
    lines.insert(0, ("layer", "largest |score|", "largest entry", "row gap"))
    text = "\n".join(f"{n:<7}{score:>15}{entry:>15}{gap:>12}" for n, score, entry, gap in lines)
    title = "How deep can you stack before softmax breaks?"
    return Element("stack", title, data, static, f"{text}\n{said}", id)


# ---------------------------------------------------------------- the layers, NaN and all


class _Step(NamedTuple):
    """What one layer computed, with neither residual nor norm."""

    rows: Array  # token, d_model: what went in
    scores: Array  # head, query, key: divided by the root of the width
    weights: Array
    out: Array  # token, d_model

    def sizes(self) -> tuple[float, float, float]:
        """The largest score and the largest entry, signs left aside, and how different the rows are for their size."""
        with np.errstate(all="ignore"):
            entry = np.abs(self.out).max()
            return np.abs(self.scores).max(), entry, np.ptp(self.out, axis=0).max() / entry


_linear = linear.__wrapped__  # without its door


def _steps(x: Array, layers: Sequence[EncoderLayer], n_heads: int) -> list[_Step]:
    """`toytf.model.encoder_layer` refuses NaN, and here it is what one wants to see."""
    found, rows = [], x
    with np.errstate(all="ignore"):
        for p in layers:
            a, fed = p.self_attention, p.feed_forward
            maps = (Linear(a.w_q, a.b_q), Linear(a.w_k, a.b_k), Linear(a.w_v, a.b_v))
            q, k, v = (split_heads(_linear(m, rows), n_heads) for m in maps)
            scores = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])
            weights = softmax_naive(scores)
            attended = _linear(Linear(a.w_o, a.b_o), merge_heads(weights @ v))
            hidden = np.maximum(0, _linear(Linear(fed.w_1, fed.b_1), attended))
            out = _linear(Linear(fed.w_2, fed.b_2), hidden)
            found.append(_Step(rows, scores, weights, out))
            rows = out
    return found


# ---------------------------------------------------------------- numbers, the picture, the table


def _short(value: float) -> str:
    """A number of any size in at most eleven letters."""
    if not np.isfinite(value):
        return "NaN" if np.isnan(value) else "∞"
    if 1 <= abs(value) < 1e5:
        word = fmt(value, 2)
    else:
        word = fmt(value, 4) if 0.001 <= abs(value) < 1 else _power(value, 2)
    return word.replace("-", "−")


def _power(value: float, decimals: int) -> str:
    """7.9 × 10⁻⁵"""
    digits, power = fmt(value, decimals, sci=True).split("e")
    return f"{digits} × 10{str(int(power)).translate(RAISED)}"


def _short_gap(value: float) -> str:
    """A difference of nearly equal numbers has few digits; below a limit it is a float's own rounding."""
    if value < SAME:
        return "< 10⁻¹²"
    return _power(value, 1) if value < 0.01 else fmt(value, 3).replace("nan", "NaN")


def _words(score: float, entry: float, gap: float) -> list[str]:
    return [_short(score), _short(entry), _short_gap(gap)]


def _cell(word: str) -> str:
    return f'<td class="live-nan">{word}</td>' if word in ("NaN", "∞") else word


def _chart(sizes: list[tuple[float, float, float]]) -> str:
    """The largest score and the largest entry, layer by layer, on a scale of powers of ten. stack.js draws it again."""
    n = len(sizes)
    with np.errstate(divide="ignore"):
        logs = np.log10(np.array(sizes, float)[:, :2]).T  # score, entry
    found = logs[np.isfinite(logs)]
    top = next((t for t in (4, 8, 16, 32, 64, 128) if t >= found.max(initial=0)), 310)
    bottom = next((b for b in (-1, -4, -16) if b <= found.min(initial=0)), -64)
    tick = next(t for t in (1, 2, 4, 8, 16, 32, 64) if t * 7 > top - bottom)
    series = [[(k, max(log, bottom)) for k, log in enumerate(logs_of, 1) if np.isfinite(log)] for logs_of in logs]
    bad = next((k for k, (_, entry, _) in enumerate(sizes, 1) if not np.isfinite(entry)), None)
    first = f"{_short(sizes[0][0])} and {_short(sizes[0][1])}"
    end = f"NaN from layer {bad} on" if bad else f"{_short(sizes[-1][0])} and {_short(sizes[-1][1])} in layer {n}"
    ends, high, edge = (0.5, n + 0.5), math.log10(HIGH), (bad or n) - 0.5
    return chart(
        f"Largest score and largest entry of {n} layers, on a scale of powers of ten, with a line at "
        f"{fmt(HIGH, 2)}: from {first} in layer 1 to {end}.",
        ends,
        (bottom, top),
        ([(k, str(k)) for k in range(1, n + 1)], [(p, power(p)) for p in range(bottom, top + 1) if p % tick == 0]),
        [
            *([("band", [(edge, bottom), (edge, top), (ends[1], top), (ends[1], bottom)])] if bad else []),
            ("red", [(x, high) for x in ends]),
            *((line, points) for (_, line, _), points in zip(LOOKS, series, strict=True) if points),
        ],
        [(look, shape, point) for (look, _, shape), points in zip(LOOKS, series, strict=True) for point in points],
        [
            ("red end", (ends[1] - n / 50, high), f"exp overflows above +{fmt(HIGH, 2)}", 15),
            *([("red nan", ((edge + ends[1]) / 2, top), "NaN", 16)] if bad else []),
        ],
        ["layer"],
    )


# ---------------------------------------------------------------- inside a layer


def _panels(step: _Step, rows: list[str]) -> list[Working]:
    """The rows that go in, scores and weights of each head, the rows that come out."""
    names, cols = tuple(rows), tuple(str(j + 1) for j in range(step.rows.shape[1]))

    def table(name, array):
        return Working(name, "", array, names, cols, decimals=_decimals(array))

    heads = []
    for h, (scores, weights) in enumerate(zip(step.scores, step.weights, strict=True)):
        at = str(h + 1).translate(SUBSCRIPTS)
        entries = tuple(
            Entry(f"{names[i]}, {names[j]}", _softmax_steps(scores[i], j, weights[i, j]), (i, j))
            for i, j in np.ndindex(weights.shape)
        )
        operands = (Operand(f"scaled{at}", scores, None, names, "row, cell"),)
        formula = f"softmax(scaled{at})"
        heads.append(Working(f"A{at}", formula, weights, names, names, entries, operands=operands, sign="→"))
    return [table("rows that go in", step.rows), *heads, table("rows that come out", step.out)]


def _decimals(array: Array) -> int:
    """Four decimals for small numbers, two for large ones: so rows fit on a phone."""
    return 4 if np.nan_to_num(np.abs(array), nan=0, posinf=0).max() < 100 else 2


class _Large(Num):
    """A number that is not written out where it is too long."""

    @property
    def word(self) -> str:
        sci = np.isfinite(self.value) and abs(self.value) >= 1e9
        return fmt(self.value, 3, sci=True) if sci else super().word


def _softmax_steps(scores: Array, j: int, value: float) -> tuple:
    """The arithmetic of one weight, though its powers may overflow."""
    with np.errstate(all="ignore"):
        values = np.exp(scores)
        total = values.sum()
    exps = [Exp(_Large(float(s))) for s in scores]
    numbers = [_Large(float(v), sci=True) for v in values]  # a small power is not 0
    first = Quotient(exps[j], Sum(*exps)), Quotient(numbers[j], Sum(*numbers))
    return (*first, Quotient(numbers[j], _Large(float(total), sci=True)), _Large(float(value), sci=True))


def _marked(html: str) -> str:
    """NaN by its usual name, marked."""
    html = html.replace("<td>nan</td>", '<td class="live-nan">NaN</td>')
    return re.sub("(?<=[> ])nan(?=[< ])", "NaN", html)
