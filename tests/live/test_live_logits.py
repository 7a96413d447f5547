"""Logits to move: what p, loss and slopes become, and what steps against the slopes do, is toytf's."""

import numpy as np

from livecheck import Case, button, said, shown
from toytf import live
from toytf.byhand import fmt
from toytf.live.element import on_page
from toytf.ops import cross_entropy, cross_entropy_backward, softmax

TOKENS = [f"w{i}" for i in range(9)]
RNG = np.random.default_rng(0)
STARTS = {"wrong": (RNG.normal(size=9) * 2, 3), "sure": (np.array([9.0, -5, *RNG.normal(size=7)]), 1)}
LOGITS = live.logits(STARTS, TOKENS)


def order(row, right):
    """The right word, then its four rivals."""
    return [right, *(w for w in np.argsort(-row, kind="stable") if w != right)][:5]


def distance(s, right):
    return float(np.linalg.norm(softmax(s) - np.eye(9)[right]))


def slopes(s, right, loss):
    if loss == "cross-entropy":
        return cross_entropy_backward(cross_entropy(s[None], [right])[1])[0]
    away = np.eye(9) * 1e-6
    return np.array([(distance(s + by, right) - distance(s - by, right)) / 2e-6 for by in away])


def state_of(start="wrong", loss="cross-entropy", moved=None, steps=0):
    row, right = STARTS[start]
    s, words = row.copy(), order(row, right)
    others = np.delete(np.arange(9), words)
    if moved:
        s[words] = moved[:5]
        s[others] += moved[5] - np.log(np.exp(s[others]).sum())
    for _ in range(steps):
        s = s - slopes(s, right, loss)
    return s, right, words, others


def shows(page, loss="cross-entropy", **state):
    s, right, words, others = state_of(loss=loss, **state)
    p, ds = softmax(s), slopes(s, right, loss)
    summed = [np.log(np.exp(s[others]).sum()), p[others].sum(), ds[others].sum()]
    names = [*(TOKENS[w] for w in words), "the others"]
    value = cross_entropy(s[None], [right])[0] if loss == "cross-entropy" else distance(s, right)
    rows = shown(page, ".live-logits")
    assert [name for (name,) in shown(page, ".live-logits", "th")] == names
    for cells, logit, share, slope in zip(
        rows, [*s[words], summed[0]], [*p[words], summed[1]], [*ds[words], summed[2]], strict=True
    ):
        assert cells[1] == fmt(logit, 2)
        assert cells[3] == written(share)
        assert cells[5] == written(slope) or abs(slope) < 1e-4  # of the distance: nudged here, and only so exact
    assert shown(page, ".live-bars") == [["", written(value)]]
    for of, expected in (("share", [*p[words], summed[1]]), ("slope", [*ds[words], summed[2]])):
        drawn = page.locator(f".live-logits [style*={of}]").evaluate_all(
            "(cells, of) => cells.map(({ style }) => Number(style.getPropertyValue(`--${of}`)))", of
        )
        assert np.allclose(drawn, expected, rtol=1e-4, atol=1e-5)
    if page.locator(".live-on").count():
        share = powers(on_page(p[right], sci=True))
        assert f"“{TOKENS[right]}”, the right word, has p = {share}" in said(page).replace("\xa0", " ")
        for slider, logit in zip(page.get_by_role("slider").all(), [*s[words], summed[0]], strict=True):
            assert slider.get_attribute("aria-valuetext").replace("−", "-") == fmt(logit, 2)


def powers(words):
    """2.5 × 10<sup>-7</sup> as the script writes it."""
    digits, _, power = words.replace("</sup>", "").partition("<sup>")
    return digits.replace("−", "-") + "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(d)] if d.isdigit() else "⁻" for d in power)


def written(value):
    return powers(on_page(value, sci=True))


def press(page):
    button(page, "One step").press("Enter")
    button(page, "Ten steps").press("Space")


def tap(page):
    page.get_by_text("sure", exact=True).tap()
    button(page, "One step").tap()


CASE = Case(
    LOGITS,
    shows,
    links={
        "start=sure": {"start": "sure"},
        "steps=3&loss=distance": {"loss": "distance", "steps": 3},
        "start=sure&loss=distance&steps=12": {"start": "sure", "loss": "distance", "steps": 12},
        "moved=15+-5+-5+-5+-5+-5": {"moved": [15, -5, -5, -5, -5, -5]},  # p is nearly 1, and says how nearly
        "moved=3+1+-2+0.5+0+1.25&steps=2": {"moved": [3, 1, -2, 0.5, 0, 1.25], "steps": 2},
    },
    keys=(press, {"steps": 11}, "steps=11"),
    finger=(tap, {"start": "sure", "steps": 1}),
    wrong_links={
        "moved=1+2+3": ("moved: expected six numbers from −20 to 20, got “1 2 3”", {}),
        "steps=3&loss=squares": ("loss: expected one of cross-entropy, distance, got “squares”", {"steps": 3}),
    },
)


def test_a_logit_that_is_moved_stays_and_steps_go_on_from_there(touch):
    page = touch(LOGITS, fragment="#logits?steps=4")
    s, _, words, others = state_of(steps=4)
    moved = [round(float(x), 2) for x in [*s[words], np.log(np.exp(s[others]).sum())]]
    moved[2] = 5.0
    slider = page.get_by_role("slider").nth(2)
    slider.evaluate("(slider) => { slider.value = 5; slider.dispatchEvent(new Event('input')) }")
    shows(page, moved=moved)
    button(page, "One step").click()
    shows(page, moved=moved, steps=1)
    page.get_by_text("wrong", exact=True).click()  # the start that it has: nothing changes
    shows(page, moved=moved, steps=1)
    page.get_by_text("sure", exact=True).click()
    shows(page, start="sure")
