"""What every thing to touch promises: numbers that are toytf's by link, key and finger, words where input is bad."""

import importlib

import pytest

from livecheck import FINGER, Case, follow, open_all, page_problems, type_number

NAMES = (
    "beam bill clocks divisor logits machine mask nudge patching sampling shares stack stages strip training "
    "translator writer"
).split()
MODULES = [importlib.import_module(f"test_live_{name}") for name in NAMES]
CASES = [case for module in MODULES for case in vars(module).values() if isinstance(case, Case)]


@pytest.fixture(params=CASES, ids=[case.thing.id or case.thing.name for case in CASES])
def case(request):
    return request.param


def test_it_begins_with_what_toytf_computes_and_has_it_without_a_script(touch, case):
    case.shows(touch(case.thing))
    still = touch(case.thing, java_script_enabled=False)
    case.shows(still)
    assert not still.locator(".live :is(button, input)").count()


def test_a_link_brings_what_toytf_computes(touch, case):
    page = touch(case.thing)
    for link, state in case.links.items():
        follow(page, f"#{case.thing.id}?{link}")
        case.shows(page, **state)
        assert not page.locator(".live > .live-complaint").inner_text(), link
    link, state = next(iter(case.links.items()))
    case.shows(touch(case.thing, fragment=f"#{case.thing.id}?{link}"), **state)


def test_keys_alone_reach_it_the_address_follows_and_reset_goes_back(touch, case):
    page = touch(case.thing)
    press, state, link = case.keys
    press(page)
    case.shows(page, **state)
    page.wait_for_function("link => location.hash === link", arg=f"#{case.thing.id}?{link}")
    assert page.locator(".live-link").get_attribute("href") == f"#{case.thing.id}?{link}"
    spoken = page.locator(".live-spoken")
    assert spoken.get_attribute("role") == "status"
    assert spoken.text_content() == page.locator(".live-said").text_content()
    page.get_by_role("button", name="Reset").press("Enter")
    case.shows(page)


def test_a_finger_reaches_it(touch, case):
    page = touch(case.thing, **FINGER)
    tap, state = case.finger
    tap(page)
    case.shows(page, **state)


def test_what_cannot_be_is_said_and_changes_nothing(touch, case):
    page = touch(case.thing)
    for (setting, text), complaint in case.wrong_numbers.items():
        type_number(page, setting, text)
        assert page.locator(f"[data-setting={setting}] [aria-invalid=true] ~ .live-complaint").inner_text() == complaint
        case.shows(page)
    for link, (complaint, state) in case.wrong_links.items():
        follow(page, f"#{case.thing.id}?{link}")
        assert complaint in page.locator(".live > .live-complaint").inner_text()
        case.shows(page, **state)


LATER = [case for case in CASES if case.thing.later]


@pytest.mark.parametrize("case", LATER, ids=[case.thing.name for case in LATER])
def test_large_numbers_are_loaded_when_somebody_touches_it_and_not_before(touch, case):
    page, asked_for = touch(case.thing, asked=True), []
    page.on("request", lambda request: asked_for.append(request.url.rsplit("/")[-1]))
    page.reload()
    case.shows(page)
    said = page.locator(".live-said").inner_text()
    assert asked_for == ["live-0.html"] and not page_problems(page)
    page.locator(".live :is(input, textarea)").first.focus()  # who goes on with keys finds all of it alive
    arrived(page)
    case.shows(page)
    assert page.locator(".live-said").inner_text() == said
    assert asked_for == ["live-0.html", f"live-{case.thing.later}.js"]
    assert not page.locator(".live-spoken").inner_text()  # what is focused is what one hears

    tap, state = case.finger
    page = touch(case.thing, asked=True, **FINGER)
    tap(page)
    arrived(page)
    case.shows(page, **state)

    link, state = next(iter(case.links.items()))
    page = touch(case.thing, asked=True, fragment=f"#{case.thing.id}?{link}")
    arrived(page)
    case.shows(page, **state)


def arrived(page):
    page.wait_for_function("document.querySelector('.live').still === false")


@pytest.mark.parametrize(("width", "dark"), [(390, False), (1280, True)], ids=["phone", "dark desktop"])
def test_nothing_is_wider_than_the_page_and_axe_finds_nothing(touch, case, width, dark):
    page = touch(case.thing, width=width, dark=dark)
    open_all(page)
    assert not page_problems(page)
    for link in (*list(case.links)[-2:], *list(case.wrong_links)[:1]):
        follow(page, f"#{case.thing.id}?{link}")
        open_all(page)
        for setting, text in list(case.wrong_numbers)[:1]:
            type_number(page, setting, text)
        assert not page_problems(page), link


def test_paper_has_the_sums_of_the_numbers_that_stand_above_them(touch, case):
    """Paper is made when `beforeprint` is over; what a disclosure says of having been opened comes later."""
    first, page = touch(case.thing), touch(case.thing, fragment=f"#{case.thing.id}?{list(case.links)[-1]}")
    sums = "() => [...document.querySelectorAll('.live details')].map((box) => box.textContent)"
    printed = page.evaluate(f"() => {{ dispatchEvent(new Event('beforeprint')); return ({sums})() }}")
    open_all(page)
    assert printed == page.evaluate(sums)
    assert not printed or printed != first.evaluate(sums)
    page.emulate_media(media="print")
    assert page.locator(".live-static").is_visible() and not page.locator(".live-foot").is_visible()


def test_the_script_draws_and_writes_what_python_does(touch, case):
    """All but the errors of small nudges, which differ between computers."""
    script = """() => [...document.querySelectorAll(".live-static :is(svg, details p, .live-turn):not([hidden] *)")]
        .map((part) => [part.ariaLabel, part.textContent.replace(/\\s+/g, " "),
            ...[...part.querySelectorAll(":is(path, text, circle, line, rect):not(.nudge-u)")].map((e) => [
                ..."d x y x1 y1 x2 y2 cx cy transform".split(" ").map((a) => e.getAttribute(a))].join(" "))])"""
    for link, thing in {"": case.thing, **case.drawn}.items():
        if thing is None:
            continue
        quiet, moved = touch(thing, java_script_enabled=False), touch(case.thing, fragment=f"#{case.thing.id}?{link}")
        open_all(moved)
        assert moved.evaluate(script) == quiet.evaluate(script), link
