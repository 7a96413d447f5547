"""The shares of one head and of two: line and rectangle are toytf's, by slider, number, key, mouse, finger and link."""

import re

import numpy as np
import pytest

from livecheck import FINGER, page_problems, shown, type_number
from toytf import byhand, live
from toytf.byhand import fmt, panels

VALUES, WANTED = np.array([[4.0, 1.0], [1.0, 3.0]]), np.array([3.7, 2.8])
NAMES = {"rows": ["animal", "tired"], "cols": ["who", "state"]}
SHARES = live.shares(VALUES, WANTED, **NAMES)
BOX = (52, 272, 46, 196)  # left, right, top, bottom of the rectangle


def share_of(page, head):
    return float(page.locator(f"[data-setting={head}] .live-typed").input_value())


def outputs(a, b):
    """What head A with its share gives in the first column, and head B in the second."""
    return np.array(
        [byhand.weighted_sum([[x, 1 - x]], VALUES[:, j : j + 1]).result.item() for j, x in enumerate((a, b))]
    )


def words(matrix):
    return panels.words(np.atleast_2d(matrix), 4, False, "text")


def place(page):
    """Where the ring stands, in who and state."""
    x, y = map(float, re.findall(r"[\d.]+", page.locator(".live-point").get_attribute("transform")))
    left, right, top, bottom = BOX
    return np.array([1 + 3 * (x - left) / (right - left), 1 + 2 * (bottom - y) / (bottom - top)])


def expect(page, a, b=None):
    """All numbers are toytf's: of one head with the share `a`, or of two."""
    one = b is None
    b = a if one else b
    out = outputs(a, b)
    assert (share_of(page, "a"), share_of(page, "b")) == (a, b)
    assert page.locator(".live-one").is_visible() == one and page.locator(".live-two").is_visible() != one
    assert page.locator("[data-setting=b]").is_visible() != one
    if one:
        assert shown(page, ".live-one .byhand-result") == words(out)
        assert shown(page, ".live-one table:not(.b-above)") == words([a, 1 - a])
    else:
        for j, share in enumerate((a, b)):
            panel = f".live-two .byhand >> nth={j} >>"
            assert shown(page, f"{panel} .byhand-result") == words(out[j])
            assert shown(page, f"{panel} table:not(.b-above)") == words([share, 1 - share])
        assert shown(page, ".live-two .byhand >> nth=2 >> .byhand-result") == words(out)
    assert np.allclose(place(page), out, atol=2e-4)
    rest = fmt(np.linalg.norm(out - WANTED), 2)
    said = page.locator(".live-said").inner_text()
    assert ("That is what was wanted" if rest == "0.00" else f"remains: {rest}.") in said


def ring(page):
    box = page.locator(".live-dot").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def pixel(page, out):
    """Where an output stands on the screen."""
    box = page.locator(".live-box").bounding_box()
    return box["x"] + box["width"] * (out[0] - 1) / 3, box["y"] + box["height"] * (3 - out[1]) / 2


def drag(page, out):
    page.mouse.move(*ring(page))
    page.mouse.down()
    page.mouse.move(*pixel(page, out), steps=5)
    page.mouse.up()


def nearest(out):
    """The best single share, among the hundredths: all are tried."""
    tried = np.arange(101) / 100
    line = tried[:, None] * VALUES[0] + (1 - tried[:, None]) * VALUES[1]
    return tried[np.linalg.norm(line - out, axis=1).argmin()]


# ---------------------------------------------------------------- by every hand


def test_it_begins_with_one_head_that_halves_its_attention(touch):
    expect(touch(SHARES), 0.5)


@pytest.mark.parametrize("share", ["0", "0.25", "0.713", "1"])
def test_one_head_stays_on_the_line(touch, share):
    page = touch(SHARES)
    type_number(page, "a", share)
    expect(page, float(share))


@pytest.mark.parametrize("a, b", [("0.9", "0.1"), ("0", "1"), ("0.123", "0.77")])
def test_two_heads_have_a_share_each(touch, a, b):
    page = touch(SHARES)
    page.get_by_role("switch", name="one head for both columns").click()
    expect(page, 0.5, 0.5)
    type_number(page, "a", a)
    type_number(page, "b", b)
    expect(page, float(a), float(b))


def test_sliders_move_by_keys_and_reset_goes_back(touch):
    page = touch(SHARES)
    page.get_by_role("slider", name="head A").focus()
    page.keyboard.press("ArrowRight")
    expect(page, 0.51)
    page.get_by_role("switch").press("Space")
    page.get_by_role("slider", name="head B").focus()
    page.keyboard.press("End")
    expect(page, 0.51, 1.0)
    page.get_by_role("button", name="Reset").press("Enter")
    expect(page, 0.5)


def test_a_slider_is_dragged(touch):
    page = touch(SHARES)
    box = page.get_by_role("slider", name="head A").bounding_box()
    page.mouse.click(box["x"] + box["width"] * 0.75, box["y"] + box["height"] / 2)
    a = share_of(page, "a")
    assert 0.7 < a < 0.8
    expect(page, a)


def test_the_ring_moves_by_arrow_keys(touch):
    """Right and up are more who and more state, whatever the shares must do for it."""
    page = touch(SHARES, fragment="#shares?one=off&a=0.5&b=0.5")
    point = page.get_by_role("slider", name="the point")
    point.focus()
    for key in ("ArrowRight", "ArrowUp", "Shift+ArrowUp"):
        page.keyboard.press(key)
    expect(page, 0.51, 0.39)
    assert point.get_attribute("aria-valuetext") == "who 2.53, state 2.22"
    for _ in range(6):
        page.keyboard.press("Shift+ArrowLeft")
    expect(page, 0.0, 0.39)
    page.get_by_role("button", name="Reset").click()
    point.focus()
    page.keyboard.press("ArrowUp")  # along the line, towards more state
    expect(page, 0.49)


def test_two_heads_drag_the_ring_to_the_star(touch):
    page = touch(SHARES, fragment="#shares?one=off")
    drag(page, WANTED)
    expect(page, 0.9, 0.1)
    drag(page, [-3, 9])  # out of the rectangle: its corner is as far as it goes
    expect(page, 0.0, 0.0)


def test_one_head_drags_the_ring_along_the_line(touch):
    page = touch(SHARES)
    drag(page, WANTED)
    a = share_of(page, "a")
    assert abs(a - nearest(WANTED)) <= 0.01
    expect(page, a)
    page.mouse.click(*pixel(page, [1.2, 2.9]))  # and a click brings it there
    assert abs(share_of(page, "a") - nearest([1.2, 2.9])) <= 0.01


def test_a_finger_drags_the_ring_and_taps_a_place(touch):
    page = touch(SHARES, **FINGER)
    page.locator(".live-switch").tap()
    page.locator(".live-plane").scroll_into_view_if_needed()
    page.touchscreen.tap(*pixel(page, [2.2, 1.4]))
    assert np.allclose(place(page), [2.2, 1.4], atol=0.03)
    expect(page, share_of(page, "a"), share_of(page, "b"))
    finger = page.context.new_cdp_session(page)

    def touches(kind, *points):
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y} for x, y in points]})

    before, (x, y), (x1, y1) = page.evaluate("scrollY"), ring(page), pixel(page, WANTED)
    touches("touchStart", (x, y))
    for part in np.linspace(0, 1, 6)[1:]:
        touches("touchMove", (x + part * (x1 - x), y + part * (y1 - y)))
    touches("touchEnd")
    expect(page, 0.9, 0.1)
    assert page.evaluate("scrollY") == before


def test_the_switch_brings_two_heads_to_the_nearest_point_of_the_line(touch):
    page = touch(SHARES, fragment="#shares?one=off&a=0.9&b=0.1")
    expect(page, 0.9, 0.1)
    page.get_by_role("switch").click()
    expect(page, nearest(WANTED))
    assert not page.locator(".live > .live-complaint").inner_text()


# ---------------------------------------------------------------- sums, links, what is no share


@pytest.mark.parametrize("a, b", [(0.3, None), (0.9, 0.1), (0.123, 0.77)])
def test_the_sums_are_those_that_byhand_writes(touch, a, b):
    page = touch(SHARES, fragment=f"#shares?a={a}&b={b or a}" + ("&one=off" if b else ""))
    for summary in page.locator(".byhand-sums:visible summary").all():
        summary.click()
    if b is None:
        workings = [byhand.weighted_sum([[a, 1 - a]], VALUES, rows=["it"])]
    else:
        weights = ([[a, 1 - a]], [[b, 1 - b]])
        workings = [byhand.weighted_sum(weights[j], VALUES[:, j : j + 1], rows=["it"]) for j in range(2)]
        workings.append(byhand.concat(*workings, rows=["it"], cols=NAMES["cols"]))
    expected = "".join(panels.sum_lines(w) for w in workings).replace("\n", " ").replace("&ensp;", "\u2002")
    ours = page.locator(".byhand-sums:visible p").evaluate_all("all => all.map(e => e.outerHTML).join('')")
    assert ours == expected


def test_a_link_carries_the_settings(touch):
    page = touch(SHARES)
    page.get_by_role("switch").click()
    type_number(page, "a", "0.9")
    type_number(page, "b", "0.1")
    page.wait_for_function("location.hash == '#shares?one=off&a=0.9&b=0.1'")
    assert page.locator(".live-link").get_attribute("href") == "#shares?one=off&a=0.9&b=0.1"
    expect(touch(SHARES, fragment="#shares?one=off&a=0.9&b=0.1"), 0.9, 0.1)


@pytest.mark.parametrize(
    "text, word", {"1.5": "got 1.5", "-0.1": "got −0.1", "half": "got “half”", "": "“nothing”"}.items()
)
def test_what_is_no_share_is_said_and_changes_nothing(touch, text, word):
    page = touch(SHARES)
    type_number(page, "a", text)
    said = page.locator("[data-setting=a] .live-complaint").inner_text()
    assert "head A: share of animal: expected a number from 0 to 1, " in said and word in said
    assert shown(page, ".live-one .byhand-result") == words(outputs(0.5, 0.5))


@pytest.mark.parametrize(
    "asked, said, share",
    [
        ("a=2", "share of animal: expected a number from 0 to 1, got 2", 0.5),
        ("one=two", "one head for both columns: expected on or off, got “two”", 0.5),
        ("c=1", "c: expected one of one, a, b", 0.5),
        ("a=0.9&b=0.1", "One head has one share, here 0.9. For two heads the link needs one=off.", 0.9),
    ],
)
def test_a_wrong_link_is_said(touch, asked, said, share):
    page = touch(SHARES, fragment=f"#shares?{asked}")
    assert said in page.locator(".live > .live-complaint").inner_text()
    expect(page, share)


@pytest.mark.parametrize(
    "values, wanted, word",
    [
        ([[1, 2], [1, 3]], [1, 2], "two words that differ in both columns"),
        ([[4, 1], [1, 3]], [5, 2], r"wanted: expected 1 to 4 and 1 to 3, got \[5.0, 2.0\]"),
        ([[4, 1, 0], [1, 3, 0]], [3, 2], "values: expected shape 2 x 2"),
        ([[4, 1], [1, np.inf]], [3, 2], "values: expected finite numbers"),
    ],
)
def test_python_refuses_what_the_plane_could_not_show(values, wanted, word):
    with pytest.raises(ValueError, match=word):
        live.shares(values, wanted, **NAMES)
    with pytest.raises(ValueError, match="rows: expected 2 labels, got 1"):
        live.shares(VALUES, WANTED, rows=["animal"], cols=["who", "state"])


def test_other_values_have_their_line_where_they_are(touch):
    """Negative numbers, and a first word that is the lower one in both columns."""
    values, wanted = np.array([[-2.0, 0.5], [3.0, 1.5]]), np.array([3.0, 0.5])
    page = touch(
        live.shares(values, wanted, rows=["a", "b"], cols=["x", "y"], query="c", id="other"), fragment="#other?one=off"
    )
    page.get_by_role("slider", name="the point").focus()
    for key in ("ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
    assert (share_of(page, "a"), share_of(page, "b")) == (0.49, 0.51)
    expected = 0.49 * values[0, 0] + 0.51 * values[1, 0], 0.51 * values[0, 1] + 0.49 * values[1, 1]
    assert shown(page, ".live-two .byhand >> nth=2 >> .byhand-result") == words(expected)
    first = [float(page.locator(".live-word").first.get_attribute(c)) for c in ("cx", "cy")]
    assert first == [52, 196]


# ---------------------------------------------------------------- how it stands on the page


def test_without_a_script_its_numbers_stand(touch):
    page = touch(SHARES, java_script_enabled=False)
    assert shown(page, ".live-one .byhand-result") == words(outputs(0.5, 0.5))
    assert np.allclose(place(page), outputs(0.5, 0.5), atol=2e-4)
    assert page.locator(".live-plane svg").get_attribute("role") == "img"
    assert not page.locator(".live-controls").count()
    assert "drag" not in page.locator(".live-plane").inner_text()


def test_the_picture_says_what_is_seen(touch):
    page = touch(SHARES, fragment="#shares?one=off&a=0.9&b=0.2")
    said = "Plane of who and state. The point: who 3.7, state 2.6. Wanted: who 3.7, state 2.8."
    assert page.get_by_role("group", name=said).count() == 1
    assert "The point: who 2.5, state 2. Wanted" in SHARES.static


def test_its_letters_are_large_enough_on_a_phone(touch):
    page = touch(SHARES, width=390)
    sizes = page.locator(".live-plane").evaluate(
        """plane => [...plane.querySelectorAll("text, span")].map((e) => {
            const svg = e.closest("svg");
            const scale = svg ? svg.getBoundingClientRect().width / svg.viewBox.baseVal.width : 1;
            return parseFloat(getComputedStyle(e).fontSize) * scale;
        })"""
    )
    assert len(sizes) > 8 and min(sizes) >= 11


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_page_and_axe_finds_nothing(touch, width, dark):
    page = touch(SHARES, width=width, dark=dark)
    assert not page_problems(page)
    type_number(page, "a", "nothing")  # with a complaint on the page
    page.get_by_role("switch").click()
    type_number(page, "b", "0.123")
    page.locator(".byhand-sums:visible summary").first.click()
    assert not page_problems(page)
