"""The divisor to move."""

import numpy as np
import pytest

from livecheck import Case, shown, type_number
from sitecheck import DESKTOP, PHONE
from toytf import live
from toytf.byhand import fmt
from toytf.example import PUBLISHED, TOKENS, W_K, W_Q
from toytf.ops import softmax, softmax_backward

SCORES = (PUBLISHED.x @ W_Q[0]) @ (PUBLISHED.x @ W_K[0]).T
DIVISOR = live.divisor(SCORES, 3, rows=TOKENS, cols=TOKENS)


def number(word):
    """4.677 × 10⁻¹⁰ as a number, and 1 less that."""
    if word.startswith("1 - "):
        return 1 - number(word[4:])
    return float(word.replace(" × 10", "e").translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻−", "0123456789--")))


def rounded(values):
    """Four decimals, or four digits of what is missing to 0 or 1 where the decimals would say that."""

    def one(a):
        if 1 - 0.00005 < a < 1:
            return 1 - one(1 - a)
        return float(fmt(a) if a >= 0.00005 else fmt(a, 3, sci=True))

    return [one(a) for a in np.ravel(values)]


def shows(page, divisor=3**0.5, row=0):
    weights = softmax(SCORES / divisor)
    assert [number(word) for line in shown(page, ".live-weights .byhand-result") for word in line] == rounded(weights)
    slopes = [softmax_backward(weights[row], np.eye(2)[j])[j] for j in range(2)]
    for which, expected in enumerate((weights[row], slopes)):
        bars = [number(cells[-1]) for cells in shown(page, f".live-bars >> nth={which}")]
        assert bars == pytest.approx(rounded(expected), rel=1e-3)  # 1 - weight has lost its digits here


def press(page):
    page.get_by_role("slider", name="divisor").press("End")
    page.get_by_role("radio", name="Hello").press("ArrowRight")


CASE = Case(
    DIVISOR,
    shows,
    links={"divisor=30&row=World": {"divisor": 30, "row": 1}, "divisor=0.5": {"divisor": 0.5}},
    keys=(press, {"divisor": 100, "row": 1}, "divisor=100&row=World"),
    finger=(lambda page: page.locator("[data-setting=row] label", has_text="World").tap(), {"row": 1}),
    wrong_links={
        "divisor=lots&rwo=World": ("rwo: expected one of divisor, row", {}),
        "divisor=%": ("got “%”", {}),
    },
    wrong_numbers={
        ("divisor", "abc"): "divisor: expected a number from 0.5 to 100, got “abc”",
        ("divisor", ""): "divisor: expected a number from 0.5 to 100, got “nothing”",
        ("divisor", "-3"): "divisor: expected a number from 0.5 to 100, got −3",
    },
)


@pytest.mark.parametrize("divisor", ["2", "1", "0.5"])
def test_the_two_slopes_of_a_row_of_two_are_equal_however_shut_it_is(touch, divisor):
    """Each is a₁ a₂. As a₁ (1 − a₁) one of them would lose its digits."""
    page = touch(DIVISOR)
    type_number(page, "divisor", divisor)
    first, second = (cells[-1] for cells in shown(page, ".live-bars >> nth=1"))
    assert first == second
    assert number(first) == pytest.approx(softmax(SCORES[0] / float(divisor)).prod(), rel=1e-3)
    assert first.replace(" ", "\u00a0") in page.locator(".live-said").inner_text(), "torn"


@pytest.mark.parametrize("width", [360, PHONE, DESKTOP])
def test_the_bars_stand_above_the_panels_and_nothing_below_jumps_when_the_divisor_moves(touch, width):
    page = touch(DIVISOR, width=width)
    tops = [page.locator(part).first.bounding_box()["y"] for part in (".live-controls", ".live-bars", ".byhand")]
    assert tops == sorted(tops)
    heights = set()
    for divisor in ("0.5", "1.73205080757", "5", "20", "100"):
        type_number(page, "divisor", divisor)
        heights.add(page.locator(".live").bounding_box()["height"])
    assert len(heights) == 1


def test_a_box_shows_four_decimals_and_the_value_keeps_its_digits(touch):
    page = touch(DIVISOR)
    box = page.locator(".live-typed")
    assert box.input_value() == "1.7321"
    box.press("Enter")  # nothing was typed, so nothing changes
    page.locator("[data-setting=row] label", has_text="World").click()
    shows(page, row=1)
    type_number(page, "divisor", "2.00003")
    box.blur()
    shows(page, divisor=2.00003, row=1)
