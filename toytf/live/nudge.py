"""The nudge on the loss curve: a slope from two losses, beside the slope computed backwards."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from toytf._validate import as_id, as_ids, number, require_shape, require_width
from toytf.attention import attention, attention_backward
from toytf.byhand import fmt
from toytf.live.element import Element, matrix
from toytf.ops import Array, Linear, cross_entropy, cross_entropy_backward, linear_backward

NAMES = {"w_v": "WV", "w_q": "WQ", "w_k": "WK", "w_out": "Wout"}
LARGEST = 1e6  # of the numbers, and of the divisor: so no product overflows while a weight is moved
FLAT = 1e-6  # with a smaller slope the curve would be a level line, whose axis has no steps
START = 0.5  # the nudge at first: large enough to be seen
SMALLEST = -16  # its power of ten; a float has no more than 16 digits
SURE = 1e-3  # the errors of smaller nudges differ between computers: the script draws its own
NUDGES = [10.0 ** (k / 4) for k in range(4 * SMALLEST, 1)]


def nudge(x, w_q, w_k, w_v, w_out, targets: Sequence[int], *, divisor: float, id: str = "nudge") -> Element:
    """Nudge one weight, and compare the slope that comes out with the gradient::

        slope = (L(w + nudge) - L(w - nudge)) / (2 nudge)
        L = cross_entropy(softmax(Q K^T / divisor) V W_out, targets),   Q = x W_Q, K = x W_K, V = x W_V

    Of each of the four matrices one can move the entry with the largest gradient.

    Parameters
    ----------
    x : array_like, shape (tokens, d_model)
    w_q, w_k, w_v : array_like, shape (d_model, d_head)
        One head's matrices.
    w_out : array_like, shape (d_head, words)
        From what the head gives to a score for each word.
    targets : sequence of int
        The right word at each token.
    divisor : float
        Of the scores, from 1e-6 to 1e6.
    id : str
        The element's address on its page, ``#nudge?weight=w_q&nudge=1e-6``.

    Returns
    -------
    Element
    """
    given = {"x": x, "w_q": w_q, "w_k": w_k, "w_v": w_v, "w_out": w_out}
    arrays = {name: matrix(name, array, LARGEST) for name, array in given.items()}
    divisor = number(
        "divisor", divisor, f"a number from {1 / LARGEST:g} to {LARGEST:g}", lambda d: 1 / LARGEST <= d <= LARGEST
    )
    id = as_id("id", id)
    for name in ("w_q", "w_k", "w_v"):
        require_width("x", arrays["x"], name, arrays[name], axis=-2)
    require_shape("w_k", arrays["w_k"], arrays["w_q"].shape, "w_q has")
    require_width("w_v", arrays["w_v"], "w_out", arrays["w_out"], axis=-2)
    right = as_ids("targets", targets, arrays["w_out"].shape[1])
    require_shape("targets", right, (len(arrays["x"]),), "x has rows")
    problem = _Problem(arrays, right, divisor)
    gradients = problem.gradients()
    places = {name: _steepest(gradients[name]) for name in NAMES}
    name, place = "w_v", tuple(places["w_v"])
    start = float(arrays[name][place])
    if not -3 <= start <= 3:
        raise ValueError(f"w_v: expected its steepest entry between -3 and 3, where it can be moved, got {start:g}")

    def loss(value: float) -> float:
        return problem.loss(name, place, value)

    slope = float(gradients[name][place])
    if abs(slope) < FLAT:
        raise ValueError(f"w_v: expected an entry of which the loss has a slope, got {slope:g} where it is steepest")
    static = (
        f'<p class="nudge-which">{which(name, place)}</p>'
        f'<div class="live-side"><div class="nudge-part"><p>The loss L, as w moves</p>{_curve(loss, start, slope)}{KEY}'
        '</div><div class="nudge-part"><p>Error / slope, for every nudge Δ</p>'
        f"{_errors(loss, start, slope)}{KEY_2}</div></div>"
        f"{_table(loss, start, slope)}"
    )
    data = {**arrays, "targets": right, "divisor": divisor, "names": NAMES, "places": places}
    data |= {"start": start, "nudge": START, "smallest": 10.0**SMALLEST}
    lines = [which(name, place)]
    lines += [
        f"{label:{len(LABELS[2])}}  {word}" for label, word in zip(LABELS, _numbers(loss, start, slope), strict=True)
    ]
    return Element("nudge", "How small should a nudge be?", data, static, "\n".join(lines), id)


def _steepest(gradient: Array) -> list[int]:
    """The place of the largest entry, sign left aside; of equal ones, up to rounding, the first."""
    sizes = np.abs(gradient)
    return np.argwhere(sizes >= sizes.max() * (1 - 1e-9))[0].tolist()


def which(name: str, place: Sequence[int]) -> str:
    return f"w stands in row {place[0] + 1}, column {place[1] + 1} of {NAMES[name]}."


# ---------------------------------------------------------------- the network and its gradient


class _Problem:
    """The small network, of which one weight at a time is moved."""

    def __init__(self, arrays: dict[str, Array], targets: Array, divisor: float):
        self.arrays, self.targets, self.divisor = arrays, targets, divisor

    def forward(self, arrays: dict[str, Array]):
        q, k, v = (arrays["x"] @ arrays[name] for name in ("w_q", "w_k", "w_v"))
        o, attended = attention(q, k, v, scale=1 / self.divisor)
        loss, said = cross_entropy(o @ arrays["w_out"], self.targets)
        return loss, o, attended, said

    def with_entry(self, name: str, place: tuple[int, ...], value: float) -> dict[str, Array]:
        changed = self.arrays[name].copy()
        changed[place] = value
        return self.arrays | {name: changed}

    def loss(self, name: str, place: tuple[int, ...], value: float) -> float:
        return self.forward(self.with_entry(name, place, value))[0]

    def gradients(self) -> dict[str, Array]:
        """Of the four matrices, computed backwards."""
        _, o, attended, said = self.forward(self.arrays)
        do, p_out = linear_backward(Linear(self.arrays["w_out"]), o, cross_entropy_backward(said))
        dq, dk, dv = attention_backward(attended, do)
        x = self.arrays["x"]
        return {"w_q": x.T @ dq, "w_k": x.T @ dk, "w_v": x.T @ dv, "w_out": p_out.weight}


def quotient(loss, w: float, by: float) -> float:
    """``(L(w + nudge) - L(w - nudge)) / (2 nudge)``."""
    return (loss(w + by) - loss(w - by)) / (2 * by)


# ---------------------------------------------------------------- the numbers

DECIMALS = 12  # of these; the script shows all 16 of a loss, whose last ones differ between computers
LABELS = ("L at w + Δ", "L at w − Δ", "their difference / 2Δ", "slope, backward pass", "error", "error / slope")


def _numbers(loss, w: float, slope: float) -> list[str]:
    by = quotient(loss, w, START)
    numbers = [fmt(v, DECIMALS) for v in (loss(w + START), loss(w - START), by, slope)]
    return [*numbers, short(abs(by - slope)), short(share(by, slope))]


def share(by: float, slope: float) -> float:
    """The error of a slope beside the slope: a small slope is held to the same as a large one."""
    return abs(by - slope) / abs(slope)


def short(error: float) -> str:
    return fmt(error, 1, sci=True) if error else "0"


def _table(loss, w: float, slope: float) -> str:
    words = [word.replace("-", "−") for word in _numbers(loss, w, slope)]
    words[:2] = _digits(*words[:2])
    rows = "".join(f'<tr><th scope="row">{k}</th><td>{v}</td></tr>' for k, v in zip(LABELS, words, strict=True))
    return f'<table class="nudge-numbers"><tbody>{rows}</tbody></table>'


def _digits(a: str, b: str) -> list[str]:
    """Two numbers, of which the digits that both begin with are quiet."""
    same = next((k for k, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    return [f'<span class="nudge-same">{word[:same]}</span><b>{word[same:]}</b>' for word in (a, b)]


# ---------------------------------------------------------------- the pictures; nudge.js redraws them

LEFT, RIGHT, TOP, BOTTOM = 50, 314, 8, 188
WIDE, HIGH, EDGE = RIGHT - LEFT, BOTTOM - TOP, 4.0  # the curve is drawn from -EDGE to EDGE
CURVE = [-EDGE + 2 * EDGE * k / 160 for k in range(161)]
POWERS = (-13, 2)  # of ten, of the errors that are shown, as shares of the slope
KEY = (
    '<p class="nudge-key"><span><i class="nudge-at"></i>w</span> <span><i class="nudge-pair"></i>w ± Δ, and the line '
    'through them</span> <span><i class="nudge-back"></i>the slope by the backward pass</span></p>'
)
ARMS = (
    f'<text x="{LEFT}" y="217" text-anchor="start">← few digits left</text>'
    f'<text x="{RIGHT}" y="217" text-anchor="end">the curve bends →</text>'
)
KEY_2 = (
    '<p class="nudge-key"><span><i class="nudge-unit"></i>one unit of the last digit of L, divided by 2Δ and by the '
    "slope</span></p>"
)


def _svg(name: str, alt: str, names: str, grid: str, plot: str, axis: str) -> str:
    return (
        f'<svg class="nudge-{name}" viewBox="0 0 320 220" role="img" aria-label="{alt}">'
        f'<g class="nudge-names">{names}</g><svg x="{LEFT}" y="{TOP}" width="{WIDE}" height="{HIGH}">'
        f'<g class="nudge-grid">{grid}</g>{plot}</svg>{axis}</svg>'
    )


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "".join(f"{'L' if k else 'M'}{a:.1f} {b:.1f}" for k, (a, b) in enumerate(points))


def _curve(loss, w: float, slope: float) -> str:
    losses = [loss(value) for value in CURVE]
    low, high, step = _scale(min(losses), max(losses))

    def point(value, height):
        return WIDE * (value + EDGE) / (2 * EDGE), HIGH * (high - height) / (high - low)

    ticks = [low + k * step for k in range(round((high - low) / step) + 1)]
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    names = "".join(
        f'<text x="{LEFT - 6}" y="{TOP + point(0, t)[1] + 4:.1f}" text-anchor="end">{fmt(t, decimals)}</text>'
        for t in ticks
    )
    names += "".join(
        f'<text x="{LEFT + point(v, low)[0]:.1f}" y="{BOTTOM + 15}">{str(v).replace("-", "−")}</text>'
        for v in range(-4, 5, 2)
    )
    grid = "".join(f'<path d="M0 {point(0, t)[1]:.1f}H{WIDE}"/>' for t in ticks)
    by = quotient(loss, w, START)
    middle = (loss(w + START) + loss(w - START)) / 2
    here, pair = point(w, loss(w)), [point(w + d, loss(w + d)) for d in (-START, START)]
    plot = (
        f'<path class="nudge-loss" d="{_path([point(v, y) for v, y in zip(CURVE, losses, strict=True)])}"/>'
        f'<path class="nudge-secant" d="{_path([point(v, middle + by * (v - w)) for v in (-EDGE, EDGE)])}"/>'
        f'<path class="nudge-tangent" d="{_path([point(v, loss(w) + slope * (v - w)) for v in (-EDGE, EDGE)])}"/>'
        + "".join(f'<path class="nudge-end" d="M{a - 4:.1f} {b - 4:.1f}h8v8h-8z"/>' for a, b in pair)
        + f'<path class="nudge-here" d="{_disc(*here)}"/>'
    )
    alt = f"The loss against w from −4 to 4. At w = {fmt(w, 4)} the line through the two nudged points has the slope "
    alt += f"{fmt(by, 4)}, the tangent {fmt(slope, 4)}."
    return _svg("curve", alt.replace("-", "−"), names, grid, plot, f'<text x="{LEFT + WIDE / 2:g}" y="217">w</text>')


def _disc(a: float, b: float) -> str:
    return f"M{a - 5:.1f} {b:.1f}a5 5 0 1 0 10 0a5 5 0 1 0 -10 0z"


def _scale(low: float, high: float) -> tuple[float, float, float]:
    """Where an axis begins and ends, and its step: 1, 2 or 5 times a power of ten."""
    rough = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m for m in (1, 2, 5, 10) if m * power >= rough) * power
    return math.floor(low / step) * step, math.ceil(high / step) * step, step


def _errors(loss, w: float, slope: float) -> str:
    low, high = POWERS

    def point(by, error):
        log = low if error == 0 else min(max(math.log10(error), low), high)
        return WIDE * (1 - math.log10(by) / SMALLEST), HIGH * (high - log) / (high - low)

    powers, nudges = range(-12, 1, 3), range(SMALLEST, 1, 4)
    names = "".join(
        f'<text x="{LEFT - 6}" y="{TOP + point(1, 10.0**p)[1] + 4:.1f}" text-anchor="end">{_power(p)}</text>'
        for p in powers
    )
    for p in nudges:
        anchor = ' text-anchor="end"' if p == 0 else ""  # the last one stays within the picture
        names += f'<text x="{LEFT + point(10.0**p, 1)[0]:.1f}" y="{BOTTOM + 15}"{anchor}>{_power(p)}</text>'
    grid = "".join(f'<path d="M0 {point(1, 10.0**p)[1]:.1f}H{WIDE}"/>' for p in powers)
    points = [point(by, share(quotient(loss, w, by), slope)) for by in NUDGES if by >= SURE]
    rounding = [point(by, math.ulp(loss(w)) / (2 * by) / abs(slope)) for by in (10.0**SMALLEST, 1.0)]
    error = share(quotient(loss, w, START), slope)
    a, b = point(START, error)
    plot = (
        f'<path class="nudge-rounding" d="{_path(rounding)}"/><path class="nudge-u" d="{_path(points)}"/>'
        f'<path class="nudge-line" d="M{a:.1f} 0V{HIGH}"/>'
        f'<path class="nudge-end nudge-now" d="M{a - 4:.1f} {b - 4:.1f}h8v8h-8z"/>'
    )
    alt = "Error of the slope, as a share of it, against the nudge, from 1e−16 to 1, on scales of powers of ten. "
    alt += f"At {fmt(START, 1)} it is {short(error)}."
    return _svg("errors", alt.replace("-", "−"), names, grid, plot, ARMS)


def _power(p: int) -> str:
    return f'10<tspan dy="-4" class="nudge-sup">{str(p).replace("-", "−")}</tspan>' if p else "1"
