"""The divisor to move: by slider, by number, by finger and by link it shows what toytf computes."""

import numpy as np
import pytest

from livecheck import FINGER, page_problems, shown, type_number
from toytf import live
from toytf.byhand import fmt
from toytf.example import PUBLISHED, TOKENS, W_K, W_Q
from toytf.ops import softmax, softmax_backward

SCORES = (PUBLISHED.x @ W_Q[0]) @ (PUBLISHED.x @ W_K[0]).T
DIVISOR = live.divisor(SCORES, 3, rows=TOKENS, cols=TOKENS)
WEIGHTS = ".live-weights .byhand-result"


def number(word):
    """4.677 × 10⁻¹⁰ as a number."""
    superscripts = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻−", "0123456789--")
    return float(word.replace(" × 10", "e").translate(superscripts))


def weights(page):
    return np.array([[number(word) for word in row] for row in shown(page, WEIGHTS)])


def bars(page, which):
    return [cells[-1] for cells in shown(page, f".live-bars >> nth={which}")]


def expected(divisor):
    """Four decimals, or four digits where these would all be zero."""
    return np.array(
        [[float(fmt(a) if a >= 0.00005 else fmt(a, 3, sci=True)) for a in row] for row in softmax(SCORES / divisor)]
    )


def test_it_begins_with_the_root_of_the_width(touch):
    page = touch(DIVISOR)
    assert np.array_equal(weights(page), expected(np.sqrt(3)))
    assert page.locator("[data-setting=divisor] .live-typed").input_value() == "1.73205080757"


def test_a_typed_divisor_changes_scores_weights_and_gradient(touch):
    page = touch(DIVISOR)
    type_number(page, "divisor", "30")
    assert np.array_equal(weights(page), expected(30))
    a = softmax(SCORES[0] / 30)
    assert bars(page, 0) == [fmt(x) for x in a]
    assert bars(page, 1) == [fmt(softmax_backward(a, np.eye(2)[j])[j]) for j in range(2)]
    assert page.locator(".live-scaled .b-sign").inner_text() == "/ 30 ="
    assert "Divided by 30" in page.locator(".live-said").inner_text()


def test_the_slider_moves_by_keys_and_reset_goes_back(touch):
    page = touch(DIVISOR)
    slider = page.get_by_role("slider", name="divisor")
    slider.focus()
    for _ in range(3):
        page.keyboard.press("PageUp")
    divisor = float(page.locator("[data-setting=divisor] .live-typed").input_value())
    assert divisor > 2
    assert np.array_equal(weights(page), expected(divisor))
    page.get_by_role("button", name="Reset").press("Enter")
    assert np.array_equal(weights(page), expected(np.sqrt(3)))


def test_a_finger_chooses_the_row(touch):
    page = touch(DIVISOR, **FINGER)
    page.locator("[data-setting=row] label", has_text="World").tap()
    assert np.array_equal([number(word) for word in bars(page, 0)], expected(np.sqrt(3))[1])


def test_the_sums_follow_and_an_open_one_too(touch):
    page = touch(DIVISOR)
    page.locator(".live-scaled .byhand-result tbody td").nth(1).click()
    assert "105.21 / 1.7321" in page.locator(".byhand-live").first.inner_text()
    type_number(page, "divisor", "30")
    assert page.locator(".byhand-live").first.inner_text().endswith("105.21 / 30 = 3.507")


@pytest.mark.parametrize("divisor", ["2", "1", "0.5"])
def test_the_two_slopes_of_a_row_of_two_are_equal_however_shut_it_is(touch, divisor):
    """Each is a₁ a₂. As a₁ (1 − a₁) one of them would lose its digits."""
    page = touch(DIVISOR)
    type_number(page, "divisor", divisor)
    first, second = bars(page, 1)
    assert first == second
    assert number(first) == pytest.approx(softmax(SCORES[0] / float(divisor)).prod(), rel=1e-3)
    assert first in page.locator(".live-said").inner_text()


def test_a_link_carries_the_settings(touch):
    page = touch(DIVISOR, fragment="#divisor?divisor=30&row=World")
    assert np.array_equal(weights(page), expected(30))
    assert bars(page, 0) == [fmt(x) for x in softmax(SCORES[1] / 30)]
    type_number(page, "divisor", "2")
    page.wait_for_function("location.hash == '#divisor?divisor=2&row=World'")
    assert page.locator(".live-link").get_attribute("href") == "#divisor?divisor=2&row=World"


NO_DIVISOR = {"abc": "got “abc”", "": "got “nothing”", "-3": "got −3", "1e9": "got 1000000000"}


@pytest.mark.parametrize("text, word", NO_DIVISOR.items())
def test_what_is_no_divisor_is_said_and_changes_nothing(touch, text, word):
    page = touch(DIVISOR)
    type_number(page, "divisor", text)
    said = page.locator("[data-setting=divisor] .live-complaint").inner_text()
    assert "expected a number from 0.5 to 100" in said and word in said
    assert np.array_equal(weights(page), expected(np.sqrt(3)))


def test_a_wrong_link_is_said(touch):
    page = touch(DIVISOR, fragment="#divisor?divisor=lots&rwo=World")
    said = page.locator(":scope .live > .live-complaint").inner_text()
    assert "divisor: expected a number" in said and "rwo: expected one of divisor, row" in said
    assert np.array_equal(weights(page), expected(np.sqrt(3)))


def test_without_a_script_its_numbers_stand(touch):
    page = touch(DIVISOR, java_script_enabled=False)
    assert np.array_equal(weights(page), expected(np.sqrt(3)))
    assert not page.locator(".live-controls").count()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_page_and_axe_finds_nothing(touch, width, dark):
    page = touch(DIVISOR, width=width, dark=dark)
    assert not page_problems(page)
    type_number(page, "divisor", "nothing")  # with a complaint on the page
    assert not page_problems(page)
    page.locator(".byhand-sums summary").first.click()
    assert not page_problems(page)
