"""The mask whose cells switch."""

import numpy as np

from livecheck import Case, button, said, shown
from toytf import live
from toytf.attention import causal_mask, masked_softmax, padding_mask
from toytf.byhand import fmt
from toytf.example import PUBLISHED, W_K, W_Q, W_V

WORDS = ["Hello", "World", "<pad>"]
X = np.vstack([PUBLISHED.x, np.zeros(4)])
SCORES = (X @ W_Q[0]) @ (X @ W_K[0]).T / 30
VALUES = X @ W_V[0]
BOTH = causal_mask(3) & padding_mask([True, True, False])
GIVEN = {"scores": SCORES, "may_attend": BOTH, "values": VALUES, "rows": WORDS, "cols": WORDS}
MASK = live.mask(**GIVEN, name="S / 30")
LOOK = """(where) => [...document.querySelector(where).tBodies[0].rows].map((row) => [...row.querySelectorAll("td")]
    .map((td) => td.classList.contains("live-hidden")))"""


def numbers(page, where):
    return np.array([[float(word.replace("∞", "inf")) for word in row] for row in shown(page, where)])


def rounded(x):
    return np.array([[float(fmt(v)) for v in row] for row in x])


def shows(page, mask="100.110.110", add=(0, 0, 0)):
    """The cells, the scores, weights and outputs; what is hidden is hatched once there is a script."""
    mask = np.array([[digit == "1" for digit in row] for row in mask.split(".")])
    scores = SCORES + np.array(add)
    weights = masked_softmax(scores, mask)
    assert shown(page, ".live-mask", "b") == [[str(int(may)) for may in row] for row in mask]
    assert shown(page, ".live-mask", "span") == [[fmt(s) for s in row] for row in scores]
    assert page.evaluate(LOOK, ".live-mask") == (~mask).tolist()
    under, other = np.where(mask, scores, -np.inf), ".byhand-matrix:not(.byhand-result)"
    for part, expected in ((".live-weights .byhand-result", weights), (f".live-weights {other}", under)):
        assert np.array_equal(numbers(page, part), rounded(expected))
        assert page.evaluate(LOOK, part) == (~mask).tolist() or not page.locator(".live-on").count()
    assert np.array_equal(numbers(page, ".live-out .byhand-result"), rounded(weights @ VALUES))
    assert np.array_equal(numbers(page, f".live-out {other}"), rounded(weights))


def cell(page, row, col):
    return button(page, f"{row} may look at {col}")


def press(page):
    cell(page, "Hello", "Hello").focus()
    for key in ("ArrowRight", "ArrowDown", "Space", "ArrowDown", "End", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    assert page.locator(":focus").get_attribute("aria-label") == "<pad> may look at <pad>"
    assert page.locator(".live-mask button[tabindex='0']").count() == 1
    page.keyboard.press("Tab")
    assert not page.locator(".live-mask :focus").count()  # the table is one stop
    page.get_by_role("slider", name="add to scores").press("ArrowLeft")


def tap(page):
    button(page, "causal, turned round").tap()
    cell(page, "World", "World").tap()


CASE = Case(
    MASK,
    shows,
    links={
        "mask=100.110.111&word=Hello&by=-2": {"mask": "100.110.111", "add": (-2, 0, 0)},
        "by=9": {"add": (0, 0, 9)},
        "mask=000.100.110": {"mask": "000.100.110"},
    },
    keys=(press, {"mask": "100.100.111", "add": (0, 0, -0.5)}, "mask=100.100.111&by=-0.5"),
    finger=(tap, {"mask": "111.001.001"}),
    wrong_links={
        f"mask={text}&by=2": (
            f"mask: expected 3 rows of 3 digits, 0 or 1, as 100.110.110, got “{text}”",
            {"add": (0, 0, 2)},
        )
        for text in ("100.110", "100.110.112", "10.11.11", "")
    },
    drawn={
        "mask=100.110.111&by=-3.25": live.mask(
            SCORES + [0, 0, -3.25], causal_mask(3), VALUES, rows=WORDS, cols=WORDS, name="S / 30"
        )
    },
)


def test_where_nothing_is_left_it_says_so(touch):
    page = touch(MASK, fragment="#mask?mask=000.100.110")
    assert "Hello has nothing left: toytf gives zeros" in said(page)
    page.locator(".live-weights .byhand-result tbody td").first.click()
    assert "0 / 0 would be NaN. toytf puts 0." in page.locator(".byhand-live").first.inner_text()


def test_shares_keep_their_digits_and_the_sum_in_the_corner_follows(touch):
    page = touch(MASK)
    page.locator(".live-out .byhand-corner").wait_for(state="attached")  # before anybody chose
    terms = page.locator(".live-out .byhand-corner > div")
    assert terms.nth(2).inner_text() == "0 × 0 = 0" and terms.last.inner_text() == "≈ 8.3586"
    cell(page, "World", "Hello").click()
    assert shown(page, ".live-weights .byhand-result")[:2] == [
        ["1.0000", "0.0000", "0.0000"],
        ["0.0000", "1.0000", "0.0000"],
    ]
    assert terms.nth(1).inner_text() == "1 × 8.84 = 8.84" and terms.last.inner_text() == "8.8400"
    button(page, "Reset").click()
    cell(page, "<pad>", "Hello").click()
    cell(page, "World", "Hello").click()
    assert shown(page, ".live-weights .byhand-result")[2] == ["0.0000", "1.0000", "0.0000"]
