"""The shares of one head and of two: line and rectangle are toytf's."""

import re

import numpy as np

from livecheck import Case
from toytf import live
from toytf.byhand import fmt
from toytf.byhand.expressions import trimmed

VALUES, WANTED = np.array([[4.0, 1.0], [1.0, 3.0]]), np.array([3.7, 2.8])
NAMES = {"rows": ["animal", "tired"], "cols": ["who", "state"]}
SHARES = live.shares(VALUES, WANTED, **NAMES)
BOX = (52, 272, 46, 196)  # left, right, top, bottom of the rectangle


def share_of(page, head):
    return float(page.locator(f"[data-setting={head}] [type=range]").get_attribute("aria-valuetext"))


def place(page):
    """Where the ring stands, in who and state."""
    x, y = map(float, re.findall(r"[\d.]+", page.locator(".live-point").get_attribute("transform")))
    left, right, top, bottom = BOX
    return np.array([1 + 3 * (x - left) / (right - left), 1 + 2 * (bottom - y) / (bottom - top)])


def shows(page, a=0.5, b=None):
    """One head with the share `a`, or two: head A gives the first column, head B the second."""
    one = b is None
    shares = (a, a if one else b)
    out = np.array([x * VALUES[0, j] + (1 - x) * VALUES[1, j] for j, x in enumerate(shares)])
    assert np.allclose(place(page), out, atol=2e-4)
    if page.locator(".live-on").count():
        assert (share_of(page, "a"), share_of(page, "b")) == shares
        assert page.get_by_role("slider", name="head B").is_visible()  # with one head it follows A
        rest = fmt(np.linalg.norm(out - WANTED), 2)
        told = page.locator(".live-said").inner_text()
        assert (
            " and ".join(f"column “{col}” {trimmed(x, 4)}" for col, x in zip(NAMES["cols"], out, strict=True)) in told
        )
        assert ("That is what was wanted" if rest == "0.00" else f"remains: {rest}.") in told


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


def press(page):
    page.get_by_role("slider", name="head A").press("ArrowRight")
    page.get_by_role("switch").press("Space")
    page.get_by_role("slider", name="head B").press("End")
    page.get_by_role("slider", name="the point").focus()
    for key in ("ArrowRight", "ArrowUp", "Shift+ArrowUp"):  # right is more who, up is more state
        page.keyboard.press(key)


def tap(page):
    """A finger drags the ring, and the page does not scroll meanwhile."""
    page.locator(".live-switch").tap()
    page.locator(".live-plane").scroll_into_view_if_needed()
    finger = page.context.new_cdp_session(page)

    def touches(kind, *points):
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y} for x, y in points]})

    before, (x, y), (x1, y1) = page.evaluate("scrollY"), ring(page), pixel(page, WANTED)
    touches("touchStart", (x, y))
    for part in np.linspace(0, 1, 6)[1:]:
        touches("touchMove", (x + part * (x1 - x), y + part * (y1 - y)))
    touches("touchEnd")
    assert page.evaluate("scrollY") == before


CASE = Case(
    SHARES,
    shows,
    links={
        "a=0.713&b=0.9": {"a": 0.713},  # one head has one share
        "one=off&a=0&b=1": {"a": 0.0, "b": 1.0},
        "one=off&a=0.123&b=0.77": {"a": 0.123, "b": 0.77},
        "one=off&a=0.9&b=0.1": {"a": 0.9, "b": 0.1},
    },
    keys=(press, {"a": 0.52, "b": 0.89}, "one=off&a=0.52&b=0.89"),
    finger=(tap, {"a": 0.9, "b": 0.1}),
    wrong_links={
        "a=2": ("share of animal: expected a number from 0 to 1, got 2", {}),
        "one=two": ("A and B are one head: expected on or off, got “two”", {}),
    },
)


def test_a_mouse_drags_the_ring_to_the_star_and_no_further_than_the_corner(touch):
    page = touch(SHARES, fragment="#shares?one=off")
    drag(page, WANTED)
    shows(page, 0.9, 0.1)
    drag(page, [-3, 9])
    shows(page, 0.0, 0.0)


def test_one_head_stays_on_the_line(touch):
    page = touch(SHARES)
    drag(page, WANTED)
    assert abs(share_of(page, "a") - nearest(WANTED)) <= 0.01
    shows(page, share_of(page, "a"))
    page.mouse.click(*pixel(page, [1.2, 2.9]))  # and a click brings it there
    assert abs(share_of(page, "a") - nearest([1.2, 2.9])) <= 0.01
    page = touch(SHARES, fragment="#shares?one=off&a=0.9&b=0.1")
    page.get_by_role("switch").click()
    shows(page, nearest(WANTED))
