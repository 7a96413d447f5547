"""The nudge on the loss curve: losses, slopes and errors are toytf's, as far as floats of two computers can agree.

A loss is known to about 16 digits, and NumPy and a browser add up in different orders: their losses differ by a few
units of the last digit, at most 1.3e-15 of the loss in 8,000 that were measured. Divided by a small nudge this is
large. So a loss is compared to 4e-15 of itself, and a slope to that, divided by the nudge, beside 1e-12 of the slope.
"""

import re

import numpy as np
import pytest

from livecheck import Case, said
from toytf import live
from toytf.attention import attention, attention_backward
from toytf.example import PUBLISHED, W_K, W_Q, W_V
from toytf.ops import Linear, cross_entropy, cross_entropy_backward, linear_backward

W_OUT = np.array([[1.0, -1, 0], [0, 1, 1], [-1, 0, -1]])
ARRAYS = {"x": PUBLISHED.x, "w_q": W_Q[0], "w_k": W_K[0], "w_v": W_V[0], "w_out": W_OUT}
NUDGE = live.nudge(*ARRAYS.values(), [0, 1], divisor=30)
PLACES = {"w_v": (3, 2), "w_q": (0, 0), "w_k": (0, 0), "w_out": (1, 2)}
ROUNDING = 4e-15


def gone_through(weight, w):
    """The arrays with another weight, and what attention and the loss give with them."""
    a = {name: array.copy() for name, array in ARRAYS.items()}
    a[weight][PLACES[weight]] = w
    o, trace = attention(a["x"] @ a["w_q"], a["x"] @ a["w_k"], a["x"] @ a["w_v"], scale=1 / 30)
    return a, o, trace, cross_entropy(o @ a["w_out"], [0, 1])


def loss(weight, w):
    return gone_through(weight, w)[-1][0]


def gradient(weight, w):
    """Backwards, as chapter 15 does it."""
    a, o, trace, (_, said) = gone_through(weight, w)
    do, p = linear_backward(Linear(a["w_out"]), o, cross_entropy_backward(said))
    dq, dk, dv = attention_backward(trace, do)
    found = {"w_q": a["x"].T @ dq, "w_k": a["x"].T @ dk, "w_v": a["x"].T @ dv, "w_out": p.weight}
    return found[weight][PLACES[weight]]


def numbers(page):
    return [cell.inner_text().replace("−", "-") for cell in page.locator(".live-numbers td").all()]


def shows(page, weight="w_v", w=0, by=0.5):
    up, down, slope, backwards, error, share = (float(word) for word in numbers(page))
    losses = [loss(weight, w + by), loss(weight, w - by)]
    assert [up, down] == pytest.approx(losses, rel=ROUNDING, abs=1e-12)
    assert backwards == pytest.approx(gradient(weight, w), rel=1e-11, abs=1e-12)
    expected = (losses[0] - losses[1]) / (2 * by)
    assert slope == pytest.approx(expected, rel=1e-11, abs=1e-12 + ROUNDING * losses[0] / by)
    assert error == pytest.approx(abs(slope - backwards), rel=0.051, abs=2e-12)
    assert share == pytest.approx(error / abs(gradient(weight, w)), rel=0.11)
    unit = page.locator(".dotted").get_attribute("d")  # it falls ten times when the nudge grows ten times
    x_0, y_0, x_1, y_1 = (float(word) for word in re.findall(r"[\d.]+", unit))
    assert (y_1 - y_0) / 180 * 15 == pytest.approx((x_1 - x_0) / 264 * 16, abs=0.02)
    assert not page.locator(".live-on").count() or f"off by {numbers(page)[5]} of the slope" in said(page)


def press(page):
    page.get_by_role("slider", name="nudge Δ").press("Home")
    assert page.locator("[data-setting=nudge] .live-typed").input_value() == "1e−16"
    page.get_by_role("slider", name="nudge Δ").press("End")
    page.get_by_role("slider", name="w", exact=True).press("ArrowRight")


CASE = Case(
    NUDGE,
    shows,
    links={
        f"weight={weight}&w={w}&nudge={by}": {"weight": weight, "w": w, "by": by}
        for weight, w, by in [
            ("w_v", 0.25, 1e-5),
            ("w_v", 3, 1e-12),
            ("w_q", 1.5, 1),
            ("w_k", -0.125, 1e-9),
            ("w_out", -3, 1e-14),
        ]
    },
    keys=(press, {"w": 0.01, "by": 1}, "w=0.01&nudge=1"),
    finger=(  # a weight begins with its own value
        lambda page: page.locator("[data-setting=weight] label", has_text="Wout").tap(),
        {"weight": "w_out", "w": 1},
    ),
    wrong_links={"weight=w_z&w=1": ("a weight of: expected one of w_v, w_q, w_k, w_out, got “w_z”", {"w": 1})},
    drawn={"w=-1": live.nudge(*(ARRAYS | {"w_v": gone_through("w_v", -1)[0]["w_v"]}).values(), [0, 1], divisor=30)},
)
