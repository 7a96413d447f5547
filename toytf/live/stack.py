"""A stack of layers with random weights: how its numbers grow, where the first NaN arises, and what ends it."""

from __future__ import annotations

import html as _html
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from toytf._door import require_all_parameters
from toytf._validate import (
    as_floats,
    as_id,
    as_labels,
    list_of,
    positive_int,
    require_finite,
    require_ndim,
    require_some,
    shape_text,
    shown,
)
from toytf.attention import merge_heads, split_heads
from toytf.byhand import Exp, Num, Quotient, Sum, fmt
from toytf.byhand.workings import Entry, Operand, Working
from toytf.live.element import Element
from toytf.model import EncoderLayer
from toytf.ops import Array, Linear, linear, softmax_naive

HIGH = math.log(np.finfo(np.float64).max)  # of what is larger, exp is infinite
SAME = 1e-12  # rows that differ by less of their size are called alike


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
    x, n_heads, depth = as_floats("x", x), positive_int("n_heads", n_heads), positive_int("depth", depth)
    require_ndim("x", x, 2)
    require_some("x", x)
    require_finite("x", x)
    id = as_id("id", id)
    layers = list_of("layers", layers, EncoderLayer, "layers")
    for k, p in enumerate(layers):
        _require_layer(f"layers[{k}]", p, x.shape[1], n_heads)
    if not layers:
        raise ValueError("layers: expected at least one layer, got none")
    if depth > len(layers):
        raise ValueError(f"depth: expected at most {len(layers)}, the number of layers, got {shown(depth)}")
    rows = as_labels("rows", rows, len(x), "names")
    steps = _steps(x, layers[:depth], n_heads)
    bad = _first_bad(steps, rows)
    look = 1 if bad is None else bad[0] + 1
    inside = _panels(steps[look - 1], rows)
    sizes = [s.sizes for s in steps]
    said = _said(bad, steps)
    static = (
        f'<p class="stack-where">{said}</p>'
        f'<div class="stack-sizes">{_chart(sizes)}{_table(sizes, len(layers), look)}</div>'
        f'<p class="stack-inside">Inside layer {look}</p>'
        f'<div class="byhand-beside">{"".join(_marked(panel.html()) for panel in inside)}</div>'
    )
    data = {"x": x, "layers": layers, "n_heads": n_heads, "depth": depth, "look": look, "rows": rows, "limit": HIGH}
    lines = [f"{'layer':7}{'largest |score|':>15}{'largest entry':>15}{'row gap':>12}"]
    lines += [
        f"{n:<7}{_short(score):>15}{_short(entry):>15}{_short_gap(gap):>12}"
        for n, (score, entry, gap) in enumerate(sizes, 1)
    ]
    title = "How deep can you stack before softmax breaks?"
    return Element("stack", title, data, static, "\n".join([*lines, said]), id)


def _require_layer(name: str, p: EncoderLayer, d_model: int, n_heads: int) -> None:
    """Raise an error unless rows of `d_model` can go in and come out, also through its norms."""
    require_all_parameters(name, p, EncoderLayer)
    a, fed = p.self_attention, p.feed_forward
    widths = {"self_attention.w_q": a.w_q, "self_attention.w_v": a.w_v, "feed_forward.w_1": fed.w_1}
    widths |= {"feed_forward.b_2": fed.b_2, "norm_1.gamma": p.norm_1.gamma, "norm_2.gamma": p.norm_2.gamma}
    for part, array in widths.items():
        if len(array) != d_model:
            raise ValueError(
                f"{name}.{part}: expected {d_model} rows, as x has columns, got shape {shape_text(array.shape)}"
            )
    for part, array in (("w_q", a.w_q), ("w_v", a.w_v)):
        if array.shape[1] % n_heads:
            raise ValueError(
                f"n_heads: expected a divisor of {array.shape[1]}, the columns of {name}.self_attention.{part}, "
                f"got {shown(n_heads)}"
            )


# ---------------------------------------------------------------- the layers, NaN and all


@dataclass
class _Step:
    """What one layer computed, with neither residual nor norm."""

    rows: Array  # token, d_model: what went in
    q: Array  # head, token, width; so are k and v
    k: Array
    v: Array
    scores: Array  # head, query, key: divided by the root of the width
    weights: Array
    heads: Array  # token, heads * width
    attended: Array  # token, d_model
    hidden: Array  # token, d_ff
    out: Array  # token, d_model

    @property
    def sizes(self) -> tuple[float, float, float]:
        """The largest score and the largest entry, signs left aside, and how different the rows are for their size."""
        with np.errstate(all="ignore"):
            entry = np.abs(self.out).max()
            return np.abs(self.scores).max(), entry, np.ptp(self.out, axis=0).max() / entry

    def parts(self) -> Iterator[tuple[str, int | None, Array]]:
        """What is computed, in order: its name, its head, its rows."""
        for h in range(len(self.q)):
            yield from ((name, h, getattr(self, name)[h]) for name in ("q", "k", "v", "scores", "weights"))
        yield from ((name, None, getattr(self, name)) for name in ("heads", "attended", "hidden", "out"))


_linear = linear.__wrapped__  # without its door


def _steps(x: Array, layers: list[EncoderLayer], n_heads: int) -> list[_Step]:
    """`toytf.model.encoder_layer` refuses NaN, and here it is what one wants to see."""
    found, rows = [], x
    with np.errstate(all="ignore"):
        for p in layers:
            a, fed = p.self_attention, p.feed_forward
            maps = (Linear(a.w_q, a.b_q), Linear(a.w_k, a.b_k), Linear(a.w_v, a.b_v))
            q, k, v = (split_heads(_linear(m, rows), n_heads) for m in maps)
            scores = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])
            weights = softmax_naive(scores)
            heads = merge_heads(weights @ v)
            attended = _linear(Linear(a.w_o, a.b_o), heads)
            hidden = np.maximum(0, _linear(Linear(fed.w_1, fed.b_1), attended))
            out = _linear(Linear(fed.w_2, fed.b_2), hidden)
            found.append(_Step(rows, q, k, v, scores, weights, heads, attended, hidden, out))
            rows = out
    return found


NAMES = {"q": "queries", "k": "keys", "v": "values", "scores": "scores", "heads": "heads' outputs"}
NAMES |= {"attended": "output of attention", "hidden": "hidden numbers", "out": "output"}


def _first_bad(steps: list[_Step], rows: list[str]) -> tuple[int, str] | None:
    """The index of the layer where the first infinity or NaN arises, and a sentence that says how."""
    for n, step in enumerate(steps):
        for name, h, array in step.parts():
            for i, row in enumerate(array):
                head = "" if h is None else f"head {h + 1}, "
                where = f"Layer {n + 1}, {head}row {rows[i]}"
                if name == "weights":
                    why = _why(step.scores[h][i])
                    if why:
                        return n, f"{where}: {why}"
                elif not np.isfinite(row).all():
                    return n, f"{where}: the {NAMES[name]} are more than a float holds."
    return None


def _why(scores: Array) -> str:
    """What goes wrong when the powers of e of one row of scores are divided by their sum."""
    with np.errstate(all="ignore"):
        exps = np.exp(scores)
        total = exps.sum()
    largest = fmt(scores.max(), 2).replace("-", "−")
    if np.isinf(exps).any():
        return f"e^{largest} is more than a float holds. Infinity stands in its place, and ∞ / ∞ is NaN."
    if np.isinf(total):
        return "each power of e is a float, and their sum is not. A number / ∞ is 0: all its weights are 0."
    if total == 0:
        return f"no score is above {largest}, so every power of e is rounded to 0 (below about −745), and 0 / 0 is NaN."
    return ""


def _said(bad, steps: list[_Step]) -> str:
    """Where the first bad number arises and how far it spreads, or that there is none."""
    if bad is None:
        gap = steps[-1].sizes[2]
        scores = max(s.sizes[0] for s in steps)
        return (
            f"No infinity and no NaN: the largest score of all, signs left aside, is {_short(scores)}, and exp "
            f"overflows above {fmt(HIGH, 2)}. After layer {len(steps)} the row gap is "
            + ("below 1e−12: the rows are alike." if gap < SAME else f"{_short_gap(gap)}.")
        )
    lost = next((n for n, s in enumerate(steps, 1) if not np.isfinite(s.out).any(axis=-1).any()), None)
    return bad[1] + ("" if lost is None else f" After layer {lost} no row has a number left.")


# ---------------------------------------------------------------- numbers


def _short(value: float) -> str:
    """A number of any size in at most nine letters."""
    if not np.isfinite(value):
        return "NaN" if np.isnan(value) else "∞"
    if 1 <= abs(value) < 1e5:
        word = fmt(value, 2)
    else:
        word = fmt(value, 4) if 0.001 <= abs(value) < 1 else fmt(value, 3, sci=True).replace("e+", "e")
    return word.replace("-", "−")


def _short_gap(value: float) -> str:
    """A difference of nearly equal numbers has few digits; below a limit it is a float's own rounding."""
    return "< 1e−12" if value < SAME else fmt(value, 1, sci=True).replace("-", "−").replace("nan", "NaN")


class _Large(Num):
    """A number that is not written out where it is too long, or rounds to zero."""

    @property
    def word(self) -> str:
        sci = np.isfinite(self.value) and abs(self.value) >= 1e9
        return fmt(self.value, 3, sci=True) if sci else super().word


def _nan(word: str) -> str:
    return ' class="live-nan"' if word in ("NaN", "∞") else ""


# ---------------------------------------------------------------- the picture

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 320, 230, 42, 312, 12, 196
TOPS, BOTTOMS, TICKS = (4, 8, 16, 32, 64, 128, 310), (-1, -4, -16, -64), (1, 2, 4, 8, 16, 32, 64)


def _chart(sizes: list[tuple[float, float, float]]) -> str:
    """The largest score and the largest entry, layer by layer, on a scale of powers of ten. stack.js redraws it."""
    with np.errstate(divide="ignore"):
        logs = np.log10(np.array(sizes, float)[:, :2]).T  # score, entry
    found = logs[np.isfinite(logs)]
    top = next((t for t in TOPS if t >= found.max(initial=0)), TOPS[-1])
    bottom = next((b for b in BOTTOMS if b <= found.min(initial=0)), BOTTOMS[-1])
    tick = next(t for t in TICKS if t * 7 > top - bottom)

    def right(layer):
        return LEFT + (RIGHT - LEFT) * (layer - 0.5) / len(sizes)

    def down(log):
        return TOP + (BOTTOM - TOP) * (top - min(max(log, bottom), top)) / (top - bottom)

    powers = [p for p in range(bottom, top + 1) if p % tick == 0]
    grid = "".join(f'<path d="M{LEFT} {down(p):.1f}H{RIGHT}"/>' for p in powers)
    names = "".join(f'<text x="{LEFT - 6}" y="{down(p) + 4:.1f}" text-anchor="end">{_power(p)}</text>' for p in powers)
    names += "".join(f'<text x="{right(n):.1f}" y="{BOTTOM + 16}">{n}</text>' for n in range(1, len(sizes) + 1))
    lines, marks = [], []
    for name, series in zip(("score", "entry"), logs, strict=True):
        points = [(right(n), down(log)) for n, log in enumerate(series, 1) if np.isfinite(log)]
        path = "".join(f"{'L' if k else 'M'}{a:.1f} {b:.1f}" for k, (a, b) in enumerate(points))
        lines.append(f'<path class="stack-{name}" d="{path}"/>')
        marks += [f'<path class="stack-{name}-mark" d="{_mark(name, a, b)}"/>' for a, b in points]
    bad = next((n for n, (_, entry, _) in enumerate(sizes, 1) if not np.isfinite(entry)), None)
    band = label = ""
    if bad is not None:
        a = LEFT + (RIGHT - LEFT) * (bad - 1) / len(sizes)
        band = f'<rect x="{a:.1f}" y="{TOP}" width="{RIGHT - a:.1f}" height="{BOTTOM - TOP}"/>'
        label = f'<text class="stack-nan" x="{(a + RIGHT) / 2:.1f}" y="{TOP + 16}">NaN</text>'
    high = down(math.log10(HIGH))
    alt = _html.escape(_alt(sizes, bad))
    return (
        f'<svg class="stack-chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{alt}">'
        f'<g class="stack-band">{band}</g><g class="stack-grid">{grid}</g><g class="stack-names">{names}</g>'
        f'<path class="stack-limit" d="M{LEFT} {high:.1f}H{RIGHT}"/>'
        f'<text class="stack-limit-name" x="{RIGHT}" y="{high - 5:.1f}">exp overflows above {fmt(HIGH, 2)}</text>'
        f'<g class="stack-lines">{"".join(lines + marks)}</g><g class="stack-label">{label}</g>'
        f'<text class="stack-axis" x="{(LEFT + RIGHT) / 2:.1f}" y="{HEIGHT - 4}">layer</text></svg>'
    )


def _power(p: int) -> str:
    return f'10<tspan dy="-4" class="stack-sup">{str(p).replace("-", "−")}</tspan>'


def _mark(name: str, a: float, b: float) -> str:
    """A square for a score, a disc for an entry."""
    if name == "score":
        return f"M{a - 4:.1f} {b - 4:.1f}h8v8h-8z"
    return f"M{a - 4:.1f} {b:.1f}a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z"


def _alt(sizes: list[tuple[float, float, float]], bad: int | None) -> str:
    end = (
        f"NaN from layer {bad} on"
        if bad
        else f"{_short(sizes[-1][0])} and {_short(sizes[-1][1])} in layer {len(sizes)}"
    )
    return (
        f"Largest score and largest entry of {len(sizes)} layers, on a scale of powers of ten, with a line at "
        f"{fmt(HIGH, 2)}: from {_short(sizes[0][0])} and {_short(sizes[0][1])} in layer 1 to {end}."
    )


def _table(sizes: list[tuple[float, float, float]], n_layers: int, look: int) -> str:
    """The same numbers as a table; lines are kept for layers that are not used at first."""
    lines = []
    for n in range(1, n_layers + 1):
        if n <= len(sizes):
            score, entry, gap = sizes[n - 1]
            words = [_short(score), _short(entry), _short_gap(gap)]
        else:
            words = [""] * 3
        cells = "".join(f"<td{_nan(word)}>{word}</td>" for word in words)
        hidden, lit = "" if n <= len(sizes) else " hidden", ' class="stack-looked"' if n == look else ""
        lines.append(f'<tr{lit}{hidden}><th scope="row">{n}</th>{cells}</tr>')
    heads = (
        "layer",
        '<i class="stack-key-score"></i>largest |score|',
        '<i class="stack-key-entry"></i>largest entry',
        "row gap",
    )
    return (
        f'<table class="stack-table"><thead><tr>{"".join(f"<th scope={chr(34)}col{chr(34)}>{h}</th>" for h in heads)}'
        f"</tr></thead><tbody>{''.join(lines)}</tbody></table>"
    )


# ---------------------------------------------------------------- inside a layer


def _panels(step: _Step, rows: list[str]) -> list[Working]:
    """The rows that go in, scores and weights of each head, the rows that come out."""
    names, cols = tuple(rows), tuple(str(j + 1) for j in range(step.rows.shape[1]))

    def table(name, array):
        return Working(name, "", array, names, cols, decimals=_decimals(array))

    heads = []
    for h, (scores, weights) in enumerate(zip(step.scores, step.weights, strict=True)):
        at = f"{h + 1}".translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))
        entries = tuple(
            Entry(f"{names[i]}, {names[j]}", _softmax_steps(scores[i], j, weights[i, j]), (i, j))
            for i, j in np.ndindex(weights.shape)
        )
        operands = (Operand(f"S{at}", scores, None, names, "row, cell"),)
        formula = f"softmax(S{at})"
        heads.append(Working(f"A{at}", formula, weights, names, names, entries, operands=operands, sign="→"))
    return [table("rows that go in", step.rows), *heads, table("rows that come out", step.out)]


def _decimals(array: Array) -> int:
    """Four decimals for small numbers, two for large ones: so rows fit on a phone."""
    return 4 if np.nan_to_num(np.abs(array), nan=0, posinf=0).max() < 100 else 2


def _softmax_steps(scores: Array, j: int, value: float) -> tuple:
    """The arithmetic of one weight, though its powers may overflow."""
    with np.errstate(all="ignore"):
        values = np.exp(scores)
        total = values.sum()
    exps = [Exp(_Large(float(s))) for s in scores]
    numbers = [_Large(float(v)) for v in values]
    first = Quotient(exps[j], Sum(*exps)), Quotient(numbers[j], Sum(*numbers))
    return (*first, Quotient(numbers[j], _Large(float(total))), _Large(float(value)))


def _marked(html: str) -> str:
    """NaN by its usual name, marked."""
    html = html.replace("<td>nan</td>", '<td class="live-nan">NaN</td>')
    return re.sub("(?<=[> ])nan(?=[< ])", "NaN", html)
