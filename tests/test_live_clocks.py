"""The clocks of the positional encoding: hands, rows and turns are toytf's, wherever one moves them."""

import numpy as np
import pytest

from livecheck import FINGER, page_problems, shown, type_number
from toytf import live
from toytf.byhand import fmt, panels
from toytf.positions import sinusoids

CLOCKS = live.clocks(4)
POS, K = "[data-setting=pos]", "[data-setting=k]"
STATES = [(4, 0, 0), (4, 57, 1), (8, 70, 25), (16, 200, 100)]  # width, position, steps


def row(pos, d_model):
    return sinusoids(1, d_model, pos)[0]


def words(*rows):
    """As the panels of `byhand` write them, with no more decimals than needed."""
    return panels.words(np.array(rows), 5, False, "text")


def encoding(page):
    return shown(page, ".live-width:not([hidden]) .byhand-result")


def dials(page):
    """What stands beside the dials that are seen, as one row."""
    seen = page.locator(".live-dial:not([hidden]) :is(.live-sin, .live-cos) span")
    return [text.replace("−", "-") for text in seen.all_inner_texts()]


def expect(page, d_model, pos, k, clock=0):
    """All numbers of the page are toytf's."""
    assert encoding(page) == words(row(pos, d_model), row(pos + k, d_model))
    assert dials(page) == [fmt(x, 5) for x in row(pos, d_model)]
    pair = slice(2 * clock, 2 * clock + 2)
    assert shown(page, ".live-turned .byhand-result") == words(row(pos + k, d_model)[pair])
    assert shown(page, ".live-turned .byhand-matrix") == words(row(pos, d_model)[pair])
    assert page.locator(f"{POS} .live-typed").input_value() == str(pos)
    assert f"] becomes PE[{pos + k}]" in page.locator(".live-said").inner_text()


def link(d_model, pos, k, clock=0):
    return f"#clocks?d_model={d_model}&pos={pos}&k={k}&clock={clock}"


def test_it_begins_where_python_put_it(touch):
    expect(touch(CLOCKS), 4, 1, 3)
    expect(touch(live.clocks(8, 301, pos=300, k=0)), 8, 300, 0)


@pytest.mark.parametrize("d_model, pos, k", STATES)
def test_a_link_carries_width_position_and_steps(touch, d_model, pos, k):
    page = touch(CLOCKS, fragment=link(d_model, pos, k))
    expect(page, d_model, pos, k)
    assert page.locator(".live-dial:visible").count() == d_model // 2


@pytest.mark.parametrize("d_model, pos, k", STATES)
def test_the_hands_are_where_sine_and_cosine_put_them(touch, d_model, pos, k):
    """Right is the sine, up is the cosine; the dashed hand stands k steps further."""
    page = touch(CLOCKS, fragment=link(d_model, pos, k))
    for name, place in (("tip", pos), ("later-tip", pos + k)):
        for i, tip in enumerate(page.locator(f".live-dial:not([hidden]) .live-{name}").all()):
            right, up = float(tip.get_attribute("cx")) / 36, -float(tip.get_attribute("cy")) / 36
            assert np.allclose([right, up], row(place, d_model)[2 * i : 2 * i + 2], atol=2e-4)


PARTS = (".live-dial:not([hidden]) svg", ".live-turn", ".live-width:not([hidden]) .byhand-sums p", ".live-turned p")


@pytest.mark.parametrize("d_model, pos, k", STATES)
def test_pictures_and_sums_are_to_the_letter_what_python_writes_there(touch, d_model, pos, k):
    page = touch(CLOCKS, fragment=link(d_model, pos, k))
    page.locator(".live-width:not([hidden]) summary").click()
    page.locator(".live-turned summary").click()
    read = "all => all.map(e => e.outerHTML.replace(/\\s+/g, ' '))"
    there = live.clocks(d_model, 301, pos=pos, k=k).html()
    for part in PARTS:
        parsed = page.evaluate_handle("html => new DOMParser().parseFromString(html, 'text/html')", there)
        theirs = parsed.evaluate(f"(d, part) => ({read})([...d.querySelectorAll(part)])", part)
        assert theirs and page.locator(part).evaluate_all(read) == theirs, part


# ---------------------------------------------------------------- by every hand


def test_the_position_moves_by_keys(touch):
    page = touch(CLOCKS)
    page.get_by_role("slider", name="position pos").focus()
    page.keyboard.press("ArrowRight")
    expect(page, 4, 2, 3)
    page.keyboard.press("End")
    expect(page, 4, 200, 3)
    page.get_by_role("slider", name="steps k").focus()
    page.keyboard.press("Home")
    expect(page, 4, 200, 0)


def test_the_position_moves_by_a_dragged_slider(touch):
    page = touch(CLOCKS)
    box = page.get_by_role("slider", name="position pos").bounding_box()
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 8, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, middle, steps=4)
    page.mouse.up()
    pos = int(page.locator(f"{POS} .live-typed").input_value())
    assert 60 < pos < 140
    expect(page, 4, pos, 3)


def test_buttons_go_one_back_and_one_on_and_stop_at_the_ends(touch):
    page = touch(CLOCKS)
    back, on = (page.get_by_role("button", name=f"position: one {way}") for way in ("back", "on"))
    on.click()
    on.press("Enter")
    expect(page, 4, 3, 3)
    for _ in range(5):
        back.press("Enter")
    expect(page, 4, 0, 3)
    assert back.get_attribute("aria-disabled") == "true" and on.get_attribute("aria-disabled") == "false"


def test_a_finger_steps_widens_and_chooses_a_clock(touch):
    page = touch(CLOCKS, **FINGER)
    page.get_by_role("button", name="k: one on").tap()
    expect(page, 4, 1, 4)
    page.locator("[data-setting=d_model] label", has_text="8").tap()
    page.locator(".live-dial svg").nth(2).tap()
    expect(page, 8, 1, 4, clock=2)
    page.locator(".live-name").nth(3).tap()
    expect(page, 8, 1, 4, clock=3)
    assert page.locator(".live-turn").inner_text() == "Turn of clock 3 = 4 / 100006 / 8 = 4 / 1000 = 0.004"


def test_the_chosen_clock_moves_by_keys(touch):
    page = touch(CLOCKS, fragment="#clocks?d_model=8")
    page.get_by_role("radio", name="clock 0").focus()
    page.keyboard.press("ArrowRight")
    expect(page, 8, 1, 3, clock=1)


def test_the_turn_is_the_same_wherever_one_starts(touch):
    page = touch(CLOCKS)
    turn = shown(page, ".live-turned .b-above")
    for pos in (0, 58, 199):
        type_number(page, "pos", str(pos))
        expect(page, 4, pos, 3)
        assert shown(page, ".live-turned .b-above") == turn
    type_number(page, "k", "4")
    assert shown(page, ".live-turned .b-above") != turn


def test_a_narrower_row_has_fewer_clocks(touch):
    page = touch(CLOCKS, fragment=link(16, 5, 2, clock=7))
    expect(page, 16, 5, 2, clock=7)
    page.locator("[data-setting=d_model] label", has_text="4").click()
    expect(page, 4, 5, 2, clock=0)
    assert not page.locator(".live > .live-complaint").inner_text()


def test_what_is_set_stands_in_the_link_and_reset_goes_back(touch):
    page = touch(CLOCKS)
    type_number(page, "pos", "57")
    page.get_by_role("radio", name="clock 1").check()
    page.wait_for_function("location.hash == '#clocks?pos=57&clock=1'")
    assert page.locator(".live-link").get_attribute("href") == "#clocks?pos=57&clock=1"
    assert page.get_by_role("status").inner_text() == page.locator(".live-said").inner_text()
    page.get_by_role("button", name="Reset").click()
    expect(page, 4, 1, 3)


def test_an_open_sum_follows(touch):
    page = touch(CLOCKS)
    page.locator(".live-width:not([hidden]) .byhand-result tbody td").nth(2).click()
    type_number(page, "pos", "7")
    assert page.locator(".byhand-live").first.inner_text().endswith("= sin(7 / 100) = sin(0.07) ≈ 0.06994")


# ---------------------------------------------------------------- what is no position

NO_POSITION = {"1.5": "got 1.5", "-1": "got −1", "201": "got 201", "one": "got “one”", " ": "got “nothing”"}


@pytest.mark.parametrize("text, word", NO_POSITION.items())
def test_what_is_no_position_is_said_and_changes_nothing(touch, text, word):
    page = touch(CLOCKS)
    type_number(page, "pos", text)
    said = page.locator(f"{POS} .live-complaint").inner_text()
    assert said == f"position pos: expected a whole number from 0 to 200, {word}"
    assert encoding(page) == words(row(1, 4), row(4, 4))
    type_number(page, "pos", "2")
    assert not page.locator(f"{POS} .live-complaint").inner_text()
    expect(page, 4, 2, 3)


@pytest.mark.parametrize(
    "asked, said",
    [
        ("pos=far", "position pos: expected a whole number from 0 to 200, got “far”"),
        ("d_model=5", "width d_model: expected one of 4, 8, 16, got “5”"),
        ("clock=8", "clock: expected one of 0, 1, 2, 3, 4, 5, 6, 7, got “8”"),
        ("clock=3", "clock: with width 4 expected 0 to 1, got 3."),
    ],
)
def test_a_wrong_link_is_said(touch, asked, said):
    page = touch(CLOCKS, fragment=f"#clocks?{asked}")
    assert said in page.locator(".live > .live-complaint").inner_text()
    expect(page, 4, 1, 3)


@pytest.mark.parametrize(
    "call, word",
    [
        (lambda: live.clocks(6), "d_model: expected one of 4, 8, 16, got 6"),
        (lambda: live.clocks(4, 1), "length: expected at least 2, got 1"),
        (lambda: live.clocks(4, 10, pos=10), "pos: expected at most 9, got 10"),
        (lambda: live.clocks(4, k=101), "k: expected at most 100, got 101"),
    ],
)
def test_python_refuses_what_the_page_could_not_show(call, word):
    with pytest.raises(ValueError, match=word):
        call()


# ---------------------------------------------------------------- how it stands on the page


def test_without_a_script_its_numbers_stand(touch):
    page = touch(CLOCKS, java_script_enabled=False)
    assert encoding(page) == words(row(1, 4), row(4, 4))
    assert dials(page) == [fmt(x, 5) for x in row(1, 4)]
    assert not page.locator(".live-controls").count()
    assert page.locator(".live-dial:visible").count() == 2


def test_its_letters_are_large_enough_on_a_phone(touch):
    for d_model in (4, 8, 16):
        page = touch(CLOCKS, width=390, fragment=link(d_model, 100, 50))
        sizes = page.locator(".live-dial:visible").evaluate_all(
            """dials => dials.flatMap(d => [...d.querySelectorAll("text, span")].map((e) => {
                const svg = e.closest("svg");
                const scale = svg ? svg.getBoundingClientRect().width / svg.viewBox.baseVal.width : 1;
                return parseFloat(getComputedStyle(e).fontSize) * scale;
            }))"""
        )
        assert len(sizes) > d_model and min(sizes) >= 11


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_page_and_axe_finds_nothing(touch, width, dark):
    page = touch(CLOCKS, width=width, dark=dark)
    assert not page_problems(page)
    type_number(page, "pos", "nowhere")  # with a complaint on the page
    assert not page_problems(page)
    page = touch(CLOCKS, width=width, dark=dark, fragment=link(16, 200, 100, clock=3))
    page.locator(".live-width:not([hidden]) summary").click()
    assert not page_problems(page)
