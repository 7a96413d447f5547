"""The mask to switch: by mouse, key, finger and link it shows the weights and outputs that toytf computes."""

import re

import numpy as np
import pytest

from livecheck import FINGER, page_problems, shown, type_number
from toytf import byhand, live
from toytf.attention import causal_mask, masked_softmax, padding_mask
from toytf.byhand import fmt, panels
from toytf.example import PUBLISHED, W_K, W_Q, W_V

WORDS = ["Hello", "World", "<pad>"]
X = np.vstack([PUBLISHED.x, np.zeros(4)])
SCORES = (X @ W_Q[0]) @ (X @ W_K[0]).T / 30
VALUES = X @ W_V[0]
BOTH = causal_mask(3) & padding_mask([True, True, False])
MASK = live.mask(SCORES, BOTH, VALUES, rows=WORDS, cols=WORDS, name="S / 30")


def bits(rows):
    return np.array([[digit == "1" for digit in row] for row in rows.split(".")])


LOOK = """(where) => [...document.querySelector(where).tBodies[0].rows].map((row) => [...row.querySelectorAll("td")]
    .map((td) => [td.textContent.replace("−", "-"), td.classList.contains("live-hidden")]))"""
CELLS = """() => [...document.querySelectorAll(".live-mask tbody tr")].map((row) => [...row.querySelectorAll("button")]
    .map((b) => [b.ariaPressed, ...[...b.children].map((part) => part.textContent.replace("−", "-"))]))"""


def expect(page, mask, add=(0, 0, 0)):
    """The page shows this mask, and toytf's weights and outputs under it."""
    scores = SCORES + np.array(add)
    weights = masked_softmax(scores, mask)
    cells = page.evaluate(CELLS)
    assert [[(pressed, digit) for pressed, digit, _ in row] for row in cells] == [
        [(str(bool(may)).lower(), str(int(may))) for may in row] for row in mask
    ]
    assert [[score for *_, score in row] for row in cells] == [[fmt(s) for s in row] for row in scores]
    under = np.where(mask, scores, -np.inf)
    other = ".byhand-matrix:not(.byhand-result)"
    for part, expected in ((".live-weights .byhand-result", weights), (f".live-weights {other}", under)):
        assert np.array_equal(numbers(page, part), rounded(expected))
        assert [[hidden for _, hidden in row] for row in page.evaluate(LOOK, part)] == (~mask).tolist()
    assert np.array_equal(numbers(page, ".live-out .byhand-result"), rounded(weights @ VALUES))
    assert np.array_equal(numbers(page, f".live-out {other}"), rounded(weights))


def numbers(page, where):
    return np.array([[float(word.replace("∞", "inf")) for word, _ in row] for row in page.evaluate(LOOK, where)])


def rounded(x):
    return np.array([[float(fmt(v)) for v in row] for row in x])


def cell(page, row, col):
    return page.get_by_role("button", name=f"{row} may look at {col}", exact=True)


def said(page):
    return page.locator(".live-said").inner_text()


def test_it_begins_with_the_mask_of_the_chapter(touch):
    page = touch(MASK)
    expect(page, BOTH)
    assert said(page) == "5 of 9 pairs are visible."


def test_a_click_hides_a_cell_and_shows_it_again(touch):
    page = touch(MASK)
    cell(page, "World", "Hello").click()
    expect(page, bits("100.010.110"))
    cell(page, "World", "Hello").click()
    cell(page, "Hello", "<pad>").click()
    expect(page, bits("101.110.110"))


def test_keys_walk_and_switch_and_the_table_is_one_stop(touch):
    page = touch(MASK)
    cell(page, "Hello", "Hello").focus()
    for key in ("ArrowRight", "ArrowDown", "Space", "ArrowDown", "End", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    expect(page, bits("100.100.111"))
    assert page.locator(":focus").get_attribute("aria-label") == "<pad> may look at <pad>"
    assert page.locator(".live-mask button[tabindex='0']").count() == 1
    page.keyboard.press("Home")
    assert page.locator(":focus").get_attribute("aria-label") == "<pad> may look at Hello"
    page.keyboard.press("Tab")
    assert not page.locator(".live-mask :focus").count()


def test_a_finger_switches_and_the_cells_are_large_enough(touch):
    page = touch(MASK, **FINGER)
    cell(page, "World", "World").tap()
    expect(page, bits("100.100.110"))
    page.get_by_role("button", name="causal, turned round").tap()
    expect(page, causal_mask(3).T)
    sizes = [b.bounding_box() for b in page.locator(".live-mask button").all()]
    assert min(min(box["width"], box["height"]) for box in sizes) >= 40


PRESETS = {
    "all": "111.111.111",
    "causal": "100.110.111",
    "padding": "110.110.110",
    "both": "100.110.110",
    "earlier words only": "000.100.110",
    "causal, turned round": "111.011.001",
}


@pytest.mark.parametrize("name, mask", PRESETS.items(), ids=PRESETS)
def test_a_usual_mask_is_one_press_away(touch, name, mask):
    page = touch(MASK, fragment="#mask?mask=001.001.001")
    button = page.get_by_role("button", name=name, exact=True)
    assert button.get_attribute("aria-pressed") == "false"
    button.press("Enter")
    expect(page, bits(mask))
    assert button.get_attribute("aria-pressed") == "true"


def test_a_row_with_nothing_left_is_zeros_and_says_so(touch):
    page = touch(MASK, fragment="#mask?mask=000.100.110")
    expect(page, bits("000.100.110"))
    assert "Hello has nothing left: toytf gives zeros" in said(page) and "NaN" in said(page)
    page.locator(".live-weights .byhand-result tbody td").first.click()
    assert "0 / 0 would be NaN. toytf puts 0." in page.locator(".byhand-live").first.inner_text()


def test_what_is_hidden_may_change_and_nothing_follows(touch):
    page = touch(MASK)
    type_number(page, "by", "7.5")
    expect(page, BOTH, (0, 0, 7.5))
    assert page.locator(".live-weights .live-changed, .live-out .live-changed").count() == 0
    assert "With 7.5 more in the scores of <pad>, no weight moves." in said(page)
    cell(page, "World", "<pad>").click()
    expect(page, bits("100.111.110"), (0, 0, 7.5))
    changed = page.locator(".live-weights tr:has(.live-changed) th").all_inner_texts()
    assert changed == ["World"]
    assert "the weights of World move. Hello and <pad> cannot tell: <pad> is hidden from them." in said(page)


def test_the_scores_of_another_word_are_lowered_by_slider(touch):
    page = touch(MASK)
    page.locator("[data-setting=word] label", has_text="World").click()
    page.get_by_role("slider", name="add to scores").focus()
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    expect(page, BOTH, (0, -1.5, 0))
    assert "With 1.5 less in the scores of World, the weights of World and <pad> move." in said(page)


def test_a_link_carries_the_mask(touch):
    page = touch(MASK, fragment="#mask?mask=100.110.111&word=Hello&by=-2")
    expect(page, causal_mask(3), (-2, 0, 0))
    cell(page, "<pad>", "Hello").click()
    page.wait_for_function("location.hash == '#mask?mask=100.110.011&word=Hello&by=-2'")
    assert page.locator(".live-link").get_attribute("href") == "#mask?mask=100.110.011&word=Hello&by=-2"
    page.get_by_role("button", name="Reset").click()
    expect(page, BOTH)


@pytest.mark.parametrize("text", ["100.110", "100.110.112", "10.11.11", ""])
def test_a_wrong_mask_in_a_link_is_said(touch, text):
    page = touch(MASK, fragment=f"#mask?mask={text}&by=2")
    complaint = page.locator(":scope .live > .live-complaint").inner_text()
    assert f"mask: expected 3 rows of 3 digits, 0 or 1, as 100.110.110, got “{text}”" in complaint
    expect(page, BOTH, (0, 0, 2))


def test_what_is_no_number_is_said_and_changes_nothing(touch):
    page = touch(MASK)
    type_number(page, "by", "much")
    complaint = page.locator("[data-setting=by] .live-complaint").inner_text()
    assert "expected a number from −20 to 20, got “much”" in complaint
    expect(page, BOTH)


def test_the_sums_follow(touch):
    page = touch(MASK)
    page.locator(".live-weights .byhand-result tbody td").nth(3).click()
    line = page.locator(".live-weights .byhand-live")
    assert line.inner_text().startswith("World, Hello ≈ e2.9293 / (e2.9293 + e4.5184 + e−∞)")
    page.get_by_role("button", name="causal", exact=True).click()
    type_number(page, "by", "-3.25")
    scores = SCORES + [0, 0, -3.25]
    under = byhand.mask(scores, causal_mask(3), "S′", "S / 30 + M", rows=WORDS, cols=WORDS)
    weights = byhand.softmax(under, "A", "softmax(S′)", rows=WORDS, cols=WORDS)
    for part, working in ((".live-weights", weights), (".live-out", byhand.weighted_sum(weights, VALUES, rows=WORDS))):
        page.keyboard.press("Escape")  # the open line lies over it
        page.locator(f"{part} .byhand-sums summary").click()
        expected = re.findall(r"<p>(.*?)</p>", panels.sum_lines(working).replace("\n", " "))
        given = """([part, lines]) => [...document.querySelectorAll(`${part} .byhand-sums p`)]
            .map((p) => p.innerHTML.replaceAll("\u2002", "&ensp;")).join("") === lines.join("")"""
        page.wait_for_function(given, arg=[part, expected])


def test_without_a_script_its_numbers_stand(touch):
    page = touch(MASK, java_script_enabled=False)
    assert np.array_equal(numbers(page, ".live-weights .byhand-result"), rounded(masked_softmax(SCORES, BOTH)))
    assert shown(page, ".live-mask", "b") == [[str(int(may)) for may in row] for row in BOTH]
    assert not page.locator("button").count()


def test_queries_and_keys_may_differ_in_number_and_values_be_absent(touch):
    scores = np.random.default_rng(5).normal(size=(2, 4))
    page = touch(live.mask(scores, np.ones((2, 4), bool), rows=["hola", "mundo"], cols=list("abcd"), id="cross"))
    assert page.locator(".live-presets button").all_inner_texts() == ["all", "padding"]
    cell(page, "mundo", "c").click()
    expected = masked_softmax(scores, bits("1111.1101"))
    assert np.array_equal(numbers(page, ".live-weights .byhand-result"), rounded(expected))


WRONG = {
    "a row of its first mask is empty": ({"may_attend": np.tri(3, k=-1, dtype=bool)}, "may_attend: expected at least"),
    "numbers for a mask": ({"may_attend": np.tri(3)}, "may_attend: expected booleans"),
    "too few values": ({"values": VALUES[:2]}, "values: expected a row for each of 3 keys, got 2"),
    "two columns of one name": ({"cols": ["a", "a", "b"]}, "cols: expected 3 different names"),
    "scores whose powers are no floats": ({"scores": SCORES * 1e3}, "scores: expected numbers from -500 to 500"),
}


@pytest.mark.parametrize("given, word", WRONG.values(), ids=WRONG)
def test_a_wrong_call_is_refused(given, word):
    call = {"scores": SCORES, "may_attend": BOTH, "values": VALUES, "rows": WORDS, "cols": WORDS} | given
    with pytest.raises((ValueError, TypeError), match=word):
        live.mask(call.pop("scores"), call.pop("may_attend"), **call)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_page_and_axe_finds_nothing(touch, width, dark):
    page = touch(MASK, width=width, dark=dark)
    assert not page_problems(page)
    page.get_by_role("button", name="earlier words only").click()
    type_number(page, "by", "nothing")  # with a row of zeros and a complaint on the page
    page.locator(".live-weights .byhand-sums summary").click()
    assert not page_problems(page)
    page.goto(page.url.partition("#")[0] + "#mask?mask=1&by=9")
    page.locator(".live-weights .byhand-result tbody td").nth(1).click()
    assert not page_problems(page)
