"""The clocks of the positional encoding."""

import numpy as np

from livecheck import Case, button, shown
from toytf import live
from toytf.byhand import fmt, panels
from toytf.positions import sinusoids

CLOCKS = live.clocks(4)


def row(pos, d_model):
    return sinusoids(1, d_model, pos)[0]


def words(*rows):
    """As the panels of `byhand` write them, with no more decimals than needed."""
    return panels.words(np.array(rows), 5, False, "text")


def shows(page, d_model=4, pos=1, k=3, clock=0):
    """Rows, the numbers beside the dials, their hands, and the turned pair."""
    assert shown(page, ".live-width:not([hidden]) .byhand-result") == words(row(pos, d_model), row(pos + k, d_model))
    beside = page.locator(".live-dial:not([hidden]) :is(.live-sin, .live-cos) span").all_inner_texts()
    assert [text.replace("−", "-") for text in beside] == [fmt(x, 5) for x in row(pos, d_model)]
    pair = slice(2 * clock, 2 * clock + 2)
    assert shown(page, ".live-turned .byhand-result") == words(row(pos + k, d_model)[pair])
    for name, place in (("tip", pos), ("later-tip", pos + k)):  # right is the sine, up is the cosine
        tips = page.locator(f".live-dial:not([hidden]) .live-{name}").evaluate_all(
            "all => all.flatMap(e => e.getAttribute('transform').match(/-?[0-9.]+/g).map((x, k) => (k ? -x : x) / 36))"
        )
        assert np.allclose(tips, row(place, d_model), atol=2e-4)


def press(page):
    page.get_by_role("slider", name="position pos").press("End")
    page.get_by_role("slider", name="steps k").press("Home")
    button(page, "k: one on").press("Enter")
    page.get_by_role("radio", name="clock 0").press("ArrowRight")


def tap(page):
    button(page, "k: one on").tap()
    page.locator("[data-setting=d_model] label", has_text="8").tap()
    page.locator(".live-dial svg").nth(2).tap()
    assert not page.locator(".live-turn").is_visible()  # until one asks for it
    page.locator(".live-step > summary").tap()
    assert page.locator(".live-turn").inner_text() == "Turn of clock 2 = 4 / 100004 / 8 = 4 / 100 = 0.04"
    page.locator(".live-name").nth(3).tap()


CASE = Case(
    CLOCKS,
    shows,
    links={
        "pos=57&k=1&clock=1": {"pos": 57, "k": 1, "clock": 1},
        "d_model=8&pos=70&k=25": {"d_model": 8, "pos": 70, "k": 25},
        "d_model=16&pos=200&k=100&clock=3": {"d_model": 16, "pos": 200, "k": 100, "clock": 3},
    },
    keys=(press, {"pos": 200, "k": 1, "clock": 1}, "pos=200&k=1&clock=1"),
    finger=(tap, {"d_model": 8, "k": 4, "clock": 3}),
    wrong_links={
        "d_model=5&pos=7": ("width d_model: expected one of 4, 8, 16, got “5”", {"pos": 7}),
        "clock=8": ("clock: expected a whole number from 0 to 7, got “8”", {}),
    },
    drawn={
        f"d_model={d_model}&pos={pos}&k={k}": live.clocks(d_model, pos=pos, k=k)
        for d_model, pos, k in [(4, 0, 0), (8, 70, 25), (16, 200, 100)]
    },
)


def test_the_clocks_stand_before_what_moves_them(touch):
    page = touch(CLOCKS, width=390)
    dials, controls = (page.locator(name).bounding_box() for name in (".live-dials", ".live-controls"))
    assert dials["y"] + dials["height"] <= controls["y"]
    assert not page.locator(".live-width:not([hidden]) .b-sign").is_visible()  # no arrow that points at nothing
