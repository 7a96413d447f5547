"""The nudge on the loss curve: losses, slopes and errors are toytf's, as far as floats of two computers can agree.

A loss is known to about 16 digits, and NumPy and a browser add up in different orders: their losses differ by a few
units of the last digit, at most 1.3e-15 of the loss in 8,000 that were measured. Divided by a small nudge this is
large. So a loss is compared to 4e-15 of itself, and a slope to that, divided by the nudge, beside 1e-12 of the slope.
"""

import re

import numpy as np
import pytest

from livecheck import FINGER, page_problems, type_number
from toytf import live
from toytf.attention import attention, attention_backward
from toytf.byhand import fmt
from toytf.example import PUBLISHED, W_K, W_Q, W_V
from toytf.ops import Linear, cross_entropy, cross_entropy_backward, linear_backward

W_OUT = np.array([[1.0, -1, 0], [0, 1, 1], [-1, 0, -1]])
ARRAYS = {"x": PUBLISHED.x, "w_q": W_Q[0], "w_k": W_K[0], "w_v": W_V[0], "w_out": W_OUT}
NUDGE = live.nudge(*ARRAYS.values(), [0, 1], divisor=30)
PLACES = {"w_v": (3, 2), "w_q": (0, 0), "w_k": (0, 0), "w_out": (1, 2)}
ROUNDING = 4e-15


def with_weight(weight, w):
    arrays = {name: array.copy() for name, array in ARRAYS.items()}
    arrays[weight][PLACES[weight]] = w
    return arrays


def loss(weight, w):
    a = with_weight(weight, w)
    o, _ = attention(a["x"] @ a["w_q"], a["x"] @ a["w_k"], a["x"] @ a["w_v"], scale=1 / 30)
    return cross_entropy(o @ a["w_out"], [0, 1])[0]


def gradient(weight, w):
    """Backwards, as chapter 15 does it."""
    a = with_weight(weight, w)
    o, trace = attention(a["x"] @ a["w_q"], a["x"] @ a["w_k"], a["x"] @ a["w_v"], scale=1 / 30)
    do, p = linear_backward(Linear(a["w_out"]), o, cross_entropy_backward(cross_entropy(o @ a["w_out"], [0, 1])[1]))
    dq, dk, dv = attention_backward(trace, do)
    found = {"w_q": a["x"].T @ dq, "w_k": a["x"].T @ dk, "w_v": a["x"].T @ dv, "w_out": p.weight}
    return found[weight][PLACES[weight]]


def numbers(page):
    return [cell.inner_text().replace("−", "-") for cell in page.locator(".nudge-numbers td").all()]


def said(page):
    return page.locator(".live-said").inner_text().replace("−", "-")


def agrees(page, weight, w, by):
    """Compare all that is shown with toytf; return the error of the slope."""
    up, down, slope, backwards, error, share = (float(word) for word in numbers(page))
    losses = [loss(weight, w + by), loss(weight, w - by)]
    assert [up, down] == pytest.approx(losses, rel=ROUNDING, abs=1e-16)
    assert backwards == pytest.approx(gradient(weight, w), rel=1e-11, abs=1e-12)
    expected = (losses[0] - losses[1]) / (2 * by)
    assert slope == pytest.approx(expected, rel=1e-11, abs=1e-12 + ROUNDING * losses[0] / by)
    assert error == pytest.approx(abs(slope - backwards), rel=0.051, abs=2e-12)
    assert share == pytest.approx(error / abs(gradient(weight, w)), rel=0.11)
    assert f"off by {numbers(page)[5]} of the slope" in said(page)
    assert f"slope comes out as {slope:.6f}; the backward pass gives {backwards:.6f}" in said(page)
    return error


def test_it_begins_with_a_nudge_that_can_be_seen(touch):
    page = touch(NUDGE)
    assert agrees(page, "w_v", 0, 0.5) > 0.5
    assert page.locator(".nudge-which").inner_text() == "w stands in row 4, column 3 of WV."
    assert [fmt(float(word), 9) for word in numbers(page)[:2]] == [fmt(loss("w_v", b), 9) for b in (0.5, -0.5)]
    assert "the curve bends between the two points" in said(page)


def test_any_weight_value_and_nudge_give_what_toytf_gives(touch):
    page = touch(NUDGE)
    for weight, w, by in [
        ("w_v", 0.25, 1e-5),
        ("w_v", -2.5, 0.001),
        ("w_v", 3, 1e-12),
        ("w_q", 1.5, 1),
        ("w_k", -0.125, 1e-9),
        ("w_out", 0.5, 0.01),
        ("w_out", -3, 1e-14),
    ]:
        page.evaluate(FOLLOW, f"#nudge?weight={weight}&w={w}&nudge={by}")
        agrees(page, weight, w, by)


FOLLOW = """hash => new Promise((done) => {
    addEventListener("hashchange", () => done(), { once: true });
    location.hash = hash;
})"""


def test_the_error_falls_with_the_square_of_the_nudge_and_rises_again(touch):
    page = touch(NUDGE)
    errors = []
    for by in (0.1, 0.01, 0.001):
        type_number(page, "nudge", str(by))
        errors.append(agrees(page, "w_v", 0, by))
    assert errors[0] / errors[1] == pytest.approx(100, rel=0.2) and errors[1] / errors[2] == pytest.approx(100, rel=0.2)
    type_number(page, "nudge", "1e-5")
    assert "hardly any nudge does better" in said(page)
    type_number(page, "nudge", "1e-13")
    assert agrees(page, "w_v", 0, 1e-13) > 1e-7
    same = page.locator(".nudge-same").all_inner_texts()
    assert same[0] == same[1] and f"have {len(same[0]) - 1} digits in common" in said(page)
    assert 12 <= len(same[0]) - 1 <= 16
    up, down = numbers(page)[:2]
    assert up.startswith(same[0]) and down.startswith(same[0]) and up[len(same[0])] != down[len(same[0])]


def test_at_the_smallest_nudge_nothing_is_left(touch):
    """2.5 + 1e-16 is 2.5 to a float: both losses are one, and the slope comes out as 0."""
    page = touch(NUDGE, fragment="#nudge?w=2.5&nudge=1e-16")
    up, down, slope, backwards, error, share = numbers(page)
    assert up == down and float(slope) == 0 and float(error) == pytest.approx(float(backwards), rel=0.05)
    assert float(share) == 1


def places(path):
    """The points of a path."""
    return np.array(re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", path), float)


def test_the_pictures_are_drawn_where_the_numbers_are(touch):
    page = touch(NUDGE, fragment="#nudge?w=1&nudge=0.3")
    drawn = places(page.locator(".nudge-loss").get_attribute("d"))
    at = np.linspace(-4, 4, 161)
    losses = [loss("w_v", w) for w in at]
    right, down = np.polyfit(at, drawn[:, 0], 1), np.polyfit(losses, drawn[:, 1], 1)
    assert np.allclose(np.polyval(right, at), drawn[:, 0], atol=0.1)
    assert np.allclose(np.polyval(down, losses), drawn[:, 1], atol=0.1)

    def points(name):
        return places(page.locator(f".nudge-{name}").get_attribute("d"))

    rise = down[0] / right[0]  # of a slope of 1, in the picture
    (a, b), (c, d) = points("secant")
    assert (d - b) / (c - a) == pytest.approx(rise * (loss("w_v", 1.3) - loss("w_v", 0.7)) / 0.6, rel=0.01)
    (a, b), (c, d) = points("tangent")
    assert (d - b) / (c - a) == pytest.approx(rise * gradient("w_v", 1), rel=0.01)
    here = re.match(r"M([\d.]+) ([\d.]+)a", page.locator(".nudge-here").get_attribute("d"))
    assert float(here[1]) + 5 == pytest.approx(np.polyval(right, 1), abs=0.2)
    assert float(here[2]) == pytest.approx(np.polyval(down, loss("w_v", 1)), abs=0.2)
    for k, w in enumerate((0.7, 1.3)):
        end = re.match(r"M([\d.]+) ([\d.]+)h", page.locator(".nudge-curve .nudge-end").nth(k).get_attribute("d"))
        assert float(end[1]) + 4 == pytest.approx(np.polyval(right, w), abs=0.2)
        assert float(end[2]) + 4 == pytest.approx(np.polyval(down, loss("w_v", w)), abs=0.2)

    u = points("u")  # 65 nudges from 1e-16 to 1, errors from 1e-13 to 100
    power = 2 - 15 * u[:, 1] / 180
    for k in range(44, 65):  # where the bend rules
        by = 10.0 ** (-16 + k / 4)
        slope = gradient("w_v", 1)
        error = abs((loss("w_v", 1 + by) - loss("w_v", 1 - by)) / (2 * by) / slope - 1)
        assert power[k] == pytest.approx(np.log10(error), abs=0.3 if k < 48 else 0.02), k
    unit = 2.0**-52 * 2  # of a loss between 2 and 4
    assert 2 < loss("w_v", 1) < 4
    for k in range(40):  # where rounding rules: a few units, divided by twice the nudge
        assert power[k] < np.log10(10 * unit / (2 * 10.0 ** (-16 + k / 4)) / abs(gradient("w_v", 1))), k
    assert power[:8].mean() > -2.5
    alt = page.locator(".nudge-errors").get_attribute("aria-label")
    assert f"At 0.3 it is {numbers(page)[5].replace('-', '−')}" in alt


def test_sliders_by_keys_and_a_weight_by_mouse(touch):
    page = touch(NUDGE)
    page.get_by_role("slider", name="nudge Δ").press("Home")
    assert page.locator("[data-setting=nudge] .live-typed").input_value() == "1e−16"
    page.get_by_role("slider", name="nudge Δ").press("End")
    agrees(page, "w_v", 0, 1)
    page.get_by_role("slider", name="w", exact=True).press("ArrowRight")
    agrees(page, "w_v", 0.01, 1)
    page.locator("[data-setting=weight] label", has_text="Wout").click()
    agrees(page, "w_out", 1, 1)  # its own value
    assert page.locator(".nudge-which").inner_text() == "w stands in row 2, column 3 of Wout."
    page.wait_for_function("location.hash == '#nudge?weight=w_out&w=1&nudge=1'")
    page.get_by_role("button", name="Reset").press("Enter")
    agrees(page, "w_v", 0, 0.5)


def test_a_finger_chooses_the_weight(touch):
    page = touch(NUDGE, **FINGER)
    page.locator("[data-setting=weight] label", has_text="WK").tap()
    agrees(page, "w_k", 1, 0.5)


def test_what_is_no_number_is_said_and_changes_nothing(touch):
    page = touch(NUDGE)
    for setting, text, word in [
        ("nudge", "0", "nudge Δ: expected a number from 1e−16 to 1, got 0"),
        ("nudge", "tiny", "nudge Δ: expected a number from 1e−16 to 1, got “tiny”"),
        ("w", "4", "w: expected a number from −3 to 3, got 4"),
    ]:
        type_number(page, setting, text)
        assert page.locator(f"[data-setting={setting}] .live-complaint").inner_text() == word
        agrees(page, "w_v", 0, 0.5)


def test_a_wrong_link_is_said(touch):
    page = touch(NUDGE, fragment="#nudge?weight=w_z&w=1")
    complaint = page.locator(".live > .live-complaint").inner_text()
    assert "a weight of: expected one of w_v, w_q, w_k, w_out, got “w_z”" in complaint
    agrees(page, "w_v", 1, 0.5)


def test_without_a_script_its_numbers_stand(touch):
    page = touch(NUDGE, java_script_enabled=False)
    slope = (loss("w_v", 0.5) - loss("w_v", -0.5)) / 1
    expected = [fmt(v, 12) for v in (loss("w_v", 0.5), loss("w_v", -0.5), slope, gradient("w_v", 0))]
    error = abs(slope - gradient("w_v", 0))
    assert numbers(page) == [*expected, *(fmt(v, 1, sci=True) for v in (error, error / abs(gradient("w_v", 0))))]
    assert expected[3] in str(NUDGE)
    assert not page.locator(".live-controls").count()


def test_the_script_draws_what_python_drew(touch):
    """All but the errors of small nudges, which differ between computers."""
    quiet, live_ = (touch(NUDGE, java_script_enabled=on) for on in (False, True))
    for part in (".nudge-curve", ".nudge-errors .nudge-names", ".nudge-errors .nudge-grid"):
        assert quiet.locator(part).inner_html() == live_.locator(part).inner_html()
    for part in (".nudge-now", ".nudge-line", ".nudge-rounding"):
        assert quiet.locator(part).get_attribute("d") == live_.locator(part).get_attribute("d")
    seen = [page.locator(".nudge-u").get_attribute("d") for page in (quiet, live_)]
    assert len(places(seen[0])) == 13 and seen[1].endswith(seen[0][1:])
    assert quiet.locator(".nudge-curve").get_attribute("aria-label") == live_.locator(".nudge-curve").get_attribute(
        "aria-label"
    )


def test_wrong_arguments_are_told():
    for change, word in [
        ({"x": [1.0]}, "x: expected"),
        ({"w_q": np.ones((3, 3))}, "w_q"),
        ({"w_v": np.full((4, 3), np.nan)}, "w_v: expected finite numbers"),
        ({"w_v": W_V[0] + 7.0}, "w_v: expected its steepest entry between -3 and 3"),
        ({"targets": [0, 3]}, "targets"),
        ({"targets": [0]}, "targets"),
        ({"divisor": 0}, "divisor"),
        ({"w_out": np.zeros((3, 3))}, "w_v: expected an entry of which the loss has a slope"),
    ]:
        given = {**ARRAYS, "targets": [0, 1], "divisor": 30} | change
        with pytest.raises((ValueError, TypeError), match=word):
            live.nudge(**given)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_page_and_axe_finds_nothing(touch, width, dark):
    page = touch(NUDGE, width=width, dark=dark)
    assert not page_problems(page)
    type_number(page, "nudge", "1.23e-12")
    page.locator("[data-setting=weight] label", has_text="Wout").click()
    type_number(page, "w", "nothing")
    assert not page_problems(page)
