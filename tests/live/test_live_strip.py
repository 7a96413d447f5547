"""The strip: numbers, what they move by, and slopes are Python's, as far as the steps have come."""

import numpy as np

from livecheck import Case, button, said, shown
from toytf import live
from toytf.byhand import fmt
from toytf.gradcheck import numeric_gradient
from toytf.live.strip import NUDGE, back, run

STRIP = live.strip(2.0, 3.0, -1.0, 4.0)
#: The step at which each number moves, and has its slope.
LAST = 9
FORWARD, BACK = {"w": 0, "x": 0, "b": 0, "u": 1, "y": 2, "z": 3, "L": 4}, {"L": 5, "z": 6, "y": 7, "u": 8, "b": 8}


def word(value):
    return f"{float(fmt(value)):g}"


def shows(page, w=2.0, x=3.0, b=-1.0, who="w", nudge=NUDGE, step=0, look="w"):
    """No step is done before one asks for it; without a script all are."""
    script = page.locator(".live-on").count()
    step = step if script else LAST
    given = {"w": w, "x": x, "b": b}
    numbers, moved = run(**given, goal=4.0), run(**given | {who: given[who] + float(nudge)}, goal=4.0)
    slopes = back(numbers)
    rows = [
        [
            word(number) if FORWARD[name] <= step else "·",
            word(moved[name] - number) if FORWARD[name] <= step else "·",
            word(slopes[name]) if BACK.get(name, LAST) <= step else "·",
        ]
        for name, number in numbers.items()
    ]
    assert shown(page, ".live-strip") == rows
    if script:
        assert page.locator(".live-strip [aria-pressed=true]").get_attribute("data-look") == look
        if step == LAST:
            assert f"{word(slopes[who])}·{word(float(nudge))} = {word(slopes[who] * float(nudge))};" in said(page)


def press(page):
    for _ in range(5):
        button(page, "Next step").press("Enter")
    page.locator("[data-look=dL]").press("ArrowUp")
    page.keyboard.press("Enter")


def tap(page):
    page.locator("[data-setting=who] label", has_text="b").tap()
    button(page, "All steps").tap()
    page.locator("[data-look=y]").tap()


CASE = Case(
    STRIP,
    shows,
    links={
        "w=-1.5&x=0.3&nudge=0.01&step=9": {"w": -1.5, "x": 0.3, "nudge": "0.01", "step": 9},
        "step=3&look=%CE%94z": {"step": 3, "look": "Δz"},
        "step=8&look=du": {"step": 8, "look": "du"},
        "who=b&b=4&nudge=1.0&step=9&look=%CE%94y": {"who": "b", "b": 4.0, "nudge": "1.0", "step": 9, "look": "Δy"},
    },
    keys=(press, {"step": 5, "look": "dz"}, "step=5&look=dz"),
    finger=(tap, {"who": "b", "step": 9, "look": "y"}),
    wrong_links={
        "look=dq": ("look: expected one of w, Δw, dw, x,", {}),
        "step=10&w=1": ("step: expected a whole number from 0 to 9, got “10”", {"w": 1.0}),
    },
    wrong_numbers={("w", "6"): "w: expected a number from −5 to 5, got 6"},
)

SUMS = {
    "w": "w = 2",
    "Δu": "Nudged: u = w·x = 2.1·3 = 6.3\nΔu = 6.3 - 6 = 0.3",
    "y": "y = u + b = 6 - 1 = 5",
    "ΔL": "Nudged: L = z² = 1.3² = 1.69\nΔL = 1.69 - 1 = 0.69",
    "dz": "dz = 2z·dL = 2·1·1 = 2",
    "db": "db = dy = 2",
    "dx": "dx = du·w = 2·2 = 4",
}


def test_each_number_opens_to_its_sum(touch):
    page = touch(STRIP, fragment="#strip?step=9")
    for look, expected in SUMS.items():
        page.locator(f"[data-look={look}]").click()
        assert page.locator(".strip-sum").inner_text().replace("−", "-").replace("\xa0", " ") == expected


def test_on_a_phone_what_is_moved_stands_below_what_follows_and_no_step_moves_it(touch):
    page = touch(STRIP, width=390)
    tops = set()
    for _ in range(LAST):
        button(page, "Next step").click()
        parts = (".live-title", ".live-sliders", ".live-strip")
        title, sliders, numbers = (page.locator(part).bounding_box()["y"] for part in parts)
        assert numbers < sliders
        tops.add(round(numbers - title))
    assert len(tops) == 1


def test_the_slopes_are_those_of_nudges():
    rng = np.random.default_rng(0)
    for w, x, b in rng.normal(size=(20, 3)):
        nudged = numeric_gradient(lambda at: float(run(*at, 4.0)["L"]), np.array([w, x, b]), 1e-5)
        slopes = back(run(w, x, b, 4.0))
        assert np.allclose([slopes[name] for name in "wxb"], nudged, rtol=1e-6, atol=1e-6)
