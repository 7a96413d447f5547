"""Play: what the reader starts walks through its stages, and stands still whenever it is asked to."""

import pytest

from livecheck import FINGER, button, follow, page_problems
from sitecheck import PHONE
from test_live_beam import BEAM
from test_live_clocks import CLOCKS
from test_live_clocks import shows as clocks_show
from test_live_divisor import DIVISOR
from test_live_mask import MASK
from test_live_stages import MIXING, NORMALISING
from toytf import live

PLAYED = {
    # what moves, and the stages: what each sets, as the address has it
    "clocks": (CLOCKS, "pos", ["2", "3", "4", "5", "6", "7", "8"]),
    "divisor": (DIVISOR, "divisor", ["1.73205080757", "5", "10", "20", "50", "100"]),
    "mask": (MASK, "mask", ["100.000.000", "100.110.000", "100.110.110"]),
    "beam": (BEAM, "step", ["0", "1", "2", "3"]),
    "mixing": (MIXING, "stage", ["1", "2", "3", "4"]),
    "normalising": (NORMALISING, "stage", ["1", "2", "3"]),
}
WATCH = """(it) => {
    it.seen = []; it.frames = 0; it.heard = [];
    const [display, dials] = [it.display, it.showDials];
    it.display = function () {
        display.call(it);
        const written = ([name, setting]) => [name, setting.write(it.state[name])];
        it.seen.push(Object.fromEntries(Object.entries(it.can).map(written)));
    };
    it.showDials = function (...all) { it.frames += 1; dials?.apply(it, all); };
    new MutationObserver(() => it.heard.push(it.spoken.textContent)).observe(it.spoken, { childList: true });
}"""
WORDS = [letter * 12 for letter in "abcde"]
ON = 100_000  # milliseconds of the page's own clock: more than any Play


@pytest.fixture(params=PLAYED)
def played(request):
    return PLAYED[request.param]


def watched(page):
    """The element; from now on it notes each state that is shown, and the page's clock is ours."""
    it = page.locator(".live")
    it.evaluate(WATCH)
    page.clock.install()
    return it


def seen(it, name):
    return [state[name] for state in it.evaluate("it => it.seen")]


def test_play_walks_through_its_stages_and_the_last_one_stands_and_is_said(touch, played):
    thing, name, stages = played
    page = touch(thing)
    it = watched(page)
    button(page, "Play").press("Enter")
    assert seen(it, name) == stages[:1]
    page.clock.run_for(ON)
    assert seen(it, name) == stages
    assert it.evaluate("it => it.heard") == [page.locator(".live-said").text_content()]
    assert page.evaluate("document.activeElement.textContent") == "Play"
    button(page, "Reset").click()
    assert seen(it, name)[-1] == it.evaluate("(it, name) => it.can[name].write(it.begin()[name])", name)


def test_a_second_press_stops_it_where_it_is(touch, played):
    thing, name, stages = played
    page = touch(thing)
    it = watched(page)
    button(page, "Play").press("Space")
    button(page, "Stop").press("Space")
    page.clock.run_for(ON)
    assert set(seen(it, name)) == {stages[0]}
    assert button(page, "Play").count() == 1
    assert it.evaluate("it => it.heard") == [page.locator(".live-said").text_content()]


INPUTS = {
    "a link": lambda page: follow(page, "#divisor?row=World"),
    "a setting": lambda page: page.locator("[data-setting=row] label", has_text="World").click(),
    "a wrong number": lambda page: page.locator("[data-setting=divisor] .live-typed").fill("0"),
    "a look at an entry": lambda page: page.locator(".live-weights .byhand-result tbody td").first.click(),
    "reset": lambda page: button(page, "Reset").click(),
}


@pytest.mark.parametrize("given", INPUTS.values(), ids=INPUTS)
def test_whatever_else_the_reader_does_stops_it(touch, given):
    page = touch(DIVISOR)
    it = watched(page)
    button(page, "Play").click()
    given(page)
    assert button(page, "Play").count() == 1
    page.clock.run_for(ON)
    assert set(seen(it, "divisor")) == {"1.73205080757"}


def test_the_hands_turn_between_positions_unless_less_motion_is_wanted(touch):
    for motion, turned in (("no-preference", True), ("reduce", False)):
        page = touch(CLOCKS, reduced_motion=motion)
        it = watched(page)
        button(page, "Play").click()
        page.clock.run_for(ON)
        assert it.evaluate("it => it.frames > it.seen.length") is turned, motion
        tips = page.locator(".live-dial:not([hidden]) .live-tip").evaluate_all("all => all.map(e => e.outerHTML)")
        still = touch(CLOCKS, fragment="#clocks?pos=8").locator(".live-dial:not([hidden]) .live-tip")
        assert tips == still.evaluate_all("all => all.map(e => e.outerHTML)")


MOVED = {
    "the dots": (NORMALISING, "#normalising?stage=2", {"stage": "3"}, 4),
    "the bars": (MIXING, "#mixing?stage=1", {"stage": "2"}, 5),
}


@pytest.mark.parametrize(("thing", "fragment", "stage", "count"), MOVED.values(), ids=MOVED)
def test_the_last_stage_moves_too_unless_less_motion_is_wanted(touch, thing, fragment, stage, count):
    script = """(it, stage) => {
        it.play([stage]);
        const all = [".fall-dot", ".live-bar"].flatMap((part) => [...it.querySelectorAll(part)]);
        return all.flatMap((part) => part.getAnimations({ subtree: true }))
            .filter((a) => a instanceof CSSTransition).map((a) => a.effect.getTiming().duration);
    }"""
    for motion in ("no-preference", "reduce"):
        page = touch(thing, fragment=fragment, reduced_motion=motion)
        lasts = page.locator(".live").evaluate(script, stage)
        assert len(lasts) == (count if motion == "no-preference" else 0)
        assert all(last >= 600 for last in lasts)


def test_hands_that_are_stopped_on_their_way_are_where_the_numbers_say(touch):
    page = touch(CLOCKS, reduced_motion="no-preference")
    it = watched(page)
    button(page, "Play").click()
    page.clock.run_for(100)
    button(page, "Stop").click()
    frames = it.evaluate("it => it.frames")
    page.clock.run_for(ON)
    assert it.evaluate("it => it.frames") == frames
    clocks_show(page, pos=2)


def test_the_divisor_only_grows(touch):
    page = touch(live.divisor([[6.0, 9.0]], 144, rows=["Hello"], cols=["Hello", "World"]))
    it = watched(page)
    button(page, "Play").click()
    page.clock.run_for(ON)
    assert seen(it, "divisor") == ["12", "20", "50", "100"]


def test_the_clocks_begin_again_before_they_leave_their_last_position(touch):
    page = touch(CLOCKS, fragment="#clocks?pos=194")
    it = watched(page)
    button(page, "Play").click()
    page.clock.run_for(ON)
    assert seen(it, "pos") == ["0", "1", "2", "3", "4", "5", "6"]


def test_the_beam_plays_the_search_that_is_set(touch):
    page = touch(BEAM, fragment="#beam?width=1&penalty=0.6")
    it = watched(page)
    button(page, "Play").click()
    page.clock.run_for(ON)
    assert {(state["width"], state["penalty"]) for state in it.evaluate("it => it.seen")} == {("1", "0.6")}


def test_what_is_new_is_seen_on_a_phone(touch):
    tree = {tuple(WORDS[:k]): {word: 1.0} for k, word in enumerate(WORDS)}
    page = touch(live.beam(tree, max_length=6), width=PHONE)
    it = watched(page)
    button(page, "Play").click()
    page.clock.run_for(ON)
    assert seen(it, "step")[-1] == "6"
    box = page.locator(".live-now").bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= PHONE
    assert button(page, "Play").bounding_box()["x"] >= 0  # the tree alone has moved
    assert not page_problems(page)


def test_a_finger_finds_the_button_and_axe_finds_nothing(touch, played):
    page = touch(played[0], **FINGER)
    page.clock.install()
    box = button(page, "Play").bounding_box()
    assert box["height"] >= 44 and box["width"] >= 44
    button(page, "Play").tap()
    assert button(page, "Stop").bounding_box()["width"] == box["width"]
    assert not page_problems(page)
