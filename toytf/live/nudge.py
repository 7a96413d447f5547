"""The nudge on the loss curve: a slope from two losses, beside the slope computed backwards."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from toytf.attention import attention, attention_backward
from toytf.byhand import fmt
from toytf.live.element import SAID, Element, chart, power, table
from toytf.ops import Array, Linear, cross_entropy, cross_entropy_backward, linear_backward

NAMES = {"w_v": "WV", "w_q": "WQ", "w_k": "WK", "w_out": "Wout"}
START = 0.5  # the nudge at first: large enough to be seen
SMALLEST = -16  # its power of ten; a float has no more than 16 digits
SURE = 1e-3  # the errors of smaller nudges differ between computers: the script draws its own
EDGE = 4.0  # the curve is drawn from -EDGE to EDGE
LEAST, MOST = -13, 2  # powers of ten, of the errors that are shown
DECIMALS = 12  # of these; the script shows all 16 of a loss, whose last ones differ between computers
LABELS = ("L at w + Δ", "L at w − Δ", "their difference / 2Δ", "slope, backward pass", "error", "error / slope")
KEY = (
    '<p class="nudge-key"><span><i class="nudge-at"></i>w</span> <span><i class="nudge-pair"></i>w ± Δ, and the line '
    'through them</span> <span><i class="nudge-back"></i>the slope by the backward pass</span></p>'
)
KEY_2 = (
    '<p class="nudge-key"><span><i class="nudge-unit"></i>one unit of the last digit of L, divided by 2Δ and by the '
    "slope</span></p>"
)


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
        Of the scores.
    id : str
        The element's address on its page, ``#nudge?weight=w_q&nudge=1e-6``.

    Returns
    -------
    Element
    """
    arrays = {"x": x, "w_q": w_q, "w_k": w_k, "w_v": w_v, "w_out": w_out}
    arrays = {name: np.asarray(array, float) for name, array in arrays.items()}

    def forward(arrays: dict[str, Array]):
        q, k, v = (arrays["x"] @ arrays[name] for name in ("w_q", "w_k", "w_v"))
        o, attended = attention(q, k, v, scale=1 / divisor)
        loss, said = cross_entropy(o @ arrays["w_out"], targets)
        return loss, o, attended, said

    def loss(value: float) -> float:
        changed = arrays["w_v"].copy()
        changed[place] = value
        return forward(arrays | {"w_v": changed})[0]

    def quotient(by: float) -> float:
        return (loss(w + by) - loss(w - by)) / (2 * by)

    _, o, attended, said = forward(arrays)
    do, p_out = linear_backward(Linear(arrays["w_out"]), o, cross_entropy_backward(said))
    grads = [arrays["x"].T @ d for d in attention_backward(attended, do)]
    gradients = dict(zip(("w_q", "w_k", "w_v", "w_out"), (*grads, p_out.weight), strict=True))
    places = {name: _steepest(gradients[name]) for name in NAMES}
    place = places["w_v"]
    w, slope = float(arrays["w_v"][place]), float(gradients["w_v"][place])
    error = abs(quotient(START) - slope)
    numbers = [fmt(v, DECIMALS) for v in (loss(w + START), loss(w - START), quotient(START), slope)]
    numbers += [_short(error), _short(error / abs(slope))]
    words = [word.replace("-", "−") for word in numbers]
    words[:2] = _digits(*words[:2])
    which = f"w stands in row {place[0] + 1}, column {place[1] + 1} of {NAMES['w_v']}."
    static = (
        f'{SAID}<p class="nudge-which">{which}</p>'
        '<div class="live-side"><div class="nudge-part"><p>The loss L, as w moves</p>'
        f"{_curve(loss, w, slope, quotient(START))}{KEY}</div>"
        '<div class="nudge-part"><p>Error / slope, for every nudge Δ</p>'
        f"{_errors(loss, w, slope, quotient)}{KEY_2}</div></div>"
        f"{table('numbers', zip(LABELS, words, strict=True))}"
    )
    data = {**arrays, "targets": targets, "divisor": divisor, "names": NAMES, "places": places}
    data |= {"start": w, "nudge": START, "smallest": 10.0**SMALLEST}
    lines = [which, *(f"{label:{len(LABELS[2])}}  {word}" for label, word in zip(LABELS, numbers, strict=True))]
    return Element("nudge", "How small should a nudge be?", data, static, "\n".join(lines), id)


def _steepest(gradient: Array) -> tuple[int, ...]:
    """The place of the largest entry, sign left aside; of equal ones, up to rounding, the first."""
    sizes = np.abs(gradient)
    return tuple(np.argwhere(sizes >= sizes.max() * (1 - 1e-9))[0].tolist())


def _short(error: float) -> str:
    return fmt(error, 1, sci=True) if error else "0"


def _digits(a: str, b: str) -> list[str]:
    """Two numbers, of which the digits that both begin with are quiet."""
    same = next((k for k, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    return [f'<span class="nudge-same">{word[:same]}</span><b>{word[same:]}</b>' for word in (a, b)]


# ---------------------------------------------------------------- the pictures; nudge.js draws them again


def _curve(loss, w: float, slope: float, by: float) -> str:
    curve = [(v, loss(v)) for v in (-EDGE + 2 * EDGE * k / 160 for k in range(161))]
    low, high, step = _scale(min(y for _, y in curve), max(y for _, y in curve))
    ticks = [low + k * step for k in range(round((high - low) / step) + 1)]
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    middle = (loss(w + START) + loss(w - START)) / 2
    alt = f"The loss against w from −4 to 4. At w = {fmt(w, 4)} the line through the two nudged points has the slope "
    alt += f"{fmt(by, 4)}, the tangent {fmt(slope, 4)}."
    return chart(
        alt.replace("-", "−"),
        (-EDGE, EDGE),
        (low, high),
        ([(v, str(v).replace("-", "−")) for v in range(-4, 5, 2)], [(t, fmt(t, decimals)) for t in ticks]),
        [
            ("ink nudge-loss", curve),
            ("orange nudge-secant", [(v, middle + by * (v - w)) for v in (-EDGE, EDGE)]),
            ("blue dashed nudge-tangent", [(v, loss(w) + slope * (v - w)) for v in (-EDGE, EDGE)]),
        ],
        [
            *(("orange", "square", (v, loss(v))) for v in (w - START, w + START)),
            ("blue", "disc", (w, loss(w))),
        ],
        below=["w"],
    )


def _scale(low: float, high: float) -> tuple[float, float, float]:
    """Where an axis begins and ends, and its step: 1, 2 or 5 times a power of ten."""
    rough = (high - low) / 5
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(m for m in (1, 2, 5, 10) if m * unit >= rough) * unit
    return math.floor(low / step) * step, math.ceil(high / step) * step, step


def _errors(loss, w: float, slope: float, quotient) -> str:
    def point(by, error):
        return math.log10(by), min(max(math.log10(error), LEAST), MOST) if error else LEAST

    error = abs(quotient(START) - slope) / abs(slope)
    nudges = [10.0 ** (k / 4) for k in range(4 * SMALLEST, 1)]
    digit = math.log10(math.ulp(loss(w)) / 2 / abs(slope))  # with Δ = 1
    rounding = [(x, digit - x) for x in (max(SMALLEST, digit - MOST), min(0, digit - LEAST))]
    alt = "Error of the slope, as a share of it, against the nudge, from 1e−16 to 1, on scales of powers of ten. "
    alt += f"At {fmt(START, 1)} it is {_short(error)}."
    here = point(START, error)
    return chart(
        alt.replace("-", "−"),
        (SMALLEST, 0),
        (LEAST, MOST),
        ([(p, power(p)) for p in range(SMALLEST, 1, 4)], [(p, power(p)) for p in range(-12, 1, 3)]),
        [
            ("quiet dotted", rounding),
            ("orange nudge-u", [point(by, abs(quotient(by) - slope) / abs(slope)) for by in nudges if by >= SURE]),
            ("faint", [(here[0], LEAST), (here[0], MOST)]),
        ],
        [("orange", "square", here)],
        below=["← few digits left", "the curve bends →"],
    )
