"""Every slide of every chapter in Chromium, from the disk: it fits, it can be read, what is on it can be touched."""

import os
import re

import numpy as np
import pypdf
import pytest
from playwright.sync_api import sync_playwright

import make_slides
import npm
import sitecheck
from toytf.byhand import fmt
from toytf.example import PUBLISHED, W_K, W_Q
from toytf.ops import softmax

CHAPTERS = 22
LEAST = 18  # pixels of text, at 1280 x 720
WORDS = 45  # of prose: about 40, and a heading
# What is longer than a slide, and scrolls in it: things to touch, and chains whose panels know each other.
LONG = {"live", "byhand-chain"}
MOST_LONG = 16


MEASURE = """() => {
    const signs = "svg, math, sup, sub, .visually-hidden, .live-spoken, .byhand-live, aside.notes, script, style";
    const found = [];
    const long = [];
    Reveal.getSlides().forEach((slide, at) => {
        const say = (what) => found.push(`slide ${at + 1}: ${what}`);
        const edge = slide.getBoundingClientRect();
        const room = slide.querySelector(":scope > .show");
        const scrolls = room?.classList.contains("long");
        if (scrolls) long.push(room.querySelector(".live, .byhand-chain")?.classList[0] ?? "other");
        const near = [...slide.querySelectorAll("*")].filter((node) => (
            !node.closest("aside.notes, .live-spoken, defs, annotation, .visually-hidden") && node.checkVisibility()));
        for (const node of near) {
            if (node.closest("svg") && node.localName !== "svg") continue;
            const { top, left, right, bottom, width, height } = node.getBoundingClientRect();
            if (!width || !height || (scrolls && room.firstElementChild.contains(node))) continue;
            const out = Math.max(bottom - edge.bottom, right - edge.right, edge.left - left, edge.top - top);
            if (out > 1) say(`${node.localName}.${node.className} is ${Math.round(out)} pixels outside`);
        }
        if (room && !scrolls) {
            const over = room.firstElementChild.getBoundingClientRect().height - room.getBoundingClientRect().height;
            if (over > 1) say(`${Math.round(over)} pixels too tall`);
        }
        for (const node of near) {
            if (node === room || node.closest("svg, math") || node.matches("input")) continue;
            const cuts = getComputedStyle(node).overflowX !== "visible";
            if (cuts && node.clientWidth && node.scrollWidth > node.clientWidth + 1) say(`${node.className} is cut`);
        }
        const texts = document.createTreeWalker(slide, NodeFilter.SHOW_TEXT);
        while (texts.nextNode()) {
            const { data, parentElement } = texts.currentNode;
            if (!data.trim() || parentElement.closest(signs) || !parentElement.checkVisibility()) continue;
            const size = parseFloat(getComputedStyle(parentElement).fontSize) * parentElement.currentCSSZoom;
            if (size && size < LEAST - 0.1) say(`${data.trim().slice(0, 30)} has ${size.toFixed(1)} pixels`);
        }
        const prose = [...slide.querySelectorAll(":scope > :is(h1, h2, .lead)")].map((node) => {
            const copy = node.cloneNode(true);
            copy.querySelectorAll(".math").forEach((math) => math.replaceWith("x"));
            return copy.textContent;
        });
        const words = prose.join(" ").trim().split(/\\s+/).length;
        if (words > WORDS) say(`${words} words`);
        if (!slide.querySelector("h1, h2, .lead, .where, figure, .live")) say("nothing says what this is");
    });
    return [found, long];
}""".replace("LEAST", str(LEAST)).replace("WORDS", str(WORDS))


@pytest.fixture(scope="module")
def decks(tmp_path_factory):
    sitecheck.chromium_or_skip()
    folder = tmp_path_factory.mktemp("site")
    site = os.environ.get("TOYTF_SITE")  # one that is built already, while one writes slides
    if not site:
        done = sitecheck.build(make_slides.ROOT, folder)
        assert done.returncode == 0, done.stdout[-3000:]
        site = folder / "_build" / "html"
    try:
        make_slides.build(site, folder / "slides", given=os.environ.get("TOYTF_REVEAL"))
    except npm.Failed as sorry:
        if "network" not in str(sorry) and "npm is not installed" not in str(sorry):
            raise
        (pytest.fail if os.environ.get("CI") else pytest.skip)(str(sorry))
    return folder / "slides"


@pytest.fixture(scope="module")
def browser(decks):
    with sync_playwright() as playwright:
        browser = sitecheck.launch(playwright, sitecheck.chromium_or_skip())
        yield browser
        browser.close()


@pytest.fixture
def opened(decks, browser):
    """Opens a chapter's slides from the disk; at the end nothing was missing and nothing complained."""
    contexts, problems = [], []

    def open_slides(name, place="", **options):
        context = browser.new_context(viewport={"width": 1280, "height": 720}, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda one: one.url.startswith(("file:", "data:", "blob:")) or problems.append(one.url))
        page.on("requestfailed", lambda one: problems.append(f"missing: {one.url}"))
        page.on("console", lambda one: one.type in ("error", "warning") and problems.append(one.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        (path,) = decks.glob(f"{name}*.html")
        page.goto(path.as_uri() + place)
        page.wait_for_selector("html[data-fitted]", state="attached")
        return page

    yield open_slides
    for context in contexts:
        context.close()
    assert problems == []


def go_to(page, selector):
    """Go to the slide that holds something; returns its number."""
    return page.evaluate(
        """selector => {
            const slide = document.querySelector(selector).closest(".slide");
            const { h, v } = Reveal.getIndices(slide);
            Reveal.slide(h, v);
            return Reveal.getSlidePastCount();
        }""",
        selector,
    )


def at(page):
    return page.evaluate("Reveal.getSlidePastCount()")


def test_there_are_slides_for_each_chapter_and_a_list_of_them(decks):
    assert len(list(decks.glob("[0-9]*.html"))) == CHAPTERS
    assert len(re.findall(r'<li><a href="\d\d_', (decks / "index.html").read_text("utf-8"))) == CHAPTERS
    assert "MIT" not in (decks / "assets" / "slides.js").read_text("utf-8")
    assert "Permission is hereby granted" in (decks / "assets" / "reveal-LICENSE.txt").read_text("utf-8")


def test_every_slide_fits_and_can_be_read_from_the_last_row(decks, opened):
    problems, long = [], []
    for path in sorted(decks.glob("[0-9]*.html")):
        page = opened(path.stem)
        found, scrolling = page.evaluate(MEASURE)
        problems += [f"{path.stem}: {one}" for one in found]
        long += scrolling
        page.context.close()
    assert problems == []
    assert set(long) <= LONG and len(long) <= MOST_LONG, long


def test_no_solution_stands_on_a_slide(decks):
    for path in decks.glob("[0-9]*.html"):
        assert not re.search(r'class="[^"]*\bsolution\b|id="sol-', path.read_text("utf-8")), path.name


def test_the_divisor_computes_on_its_slide(opened):
    page = opened("05")
    go_to(page, "#divisor")
    field = page.locator("#divisor [data-setting=divisor] .live-typed")
    field.fill("30")
    field.press("Enter")
    scores = (PUBLISHED.x @ W_Q[0]) @ (PUBLISHED.x @ W_K[0]).T
    shown = page.locator("#divisor .live-weights .byhand-result tbody td").all_inner_texts()
    assert shown == [fmt(x) for x in softmax(scores / 30).ravel()]
    assert not np.isclose(float(shown[0]), softmax(scores / np.sqrt(3))[0, 0])


def test_an_entry_opens_its_sum_on_the_slide(opened):
    for chapter, place in (("05", "#panel-1"), ("04", "#panel-24")):
        page = opened(chapter)
        go_to(page, place)
        page.locator(f"{place} .byhand-result tbody td").last.click()
        bar = page.locator(f"{place} .byhand-live")
        assert "=" in bar.inner_text() or "≈" in bar.inner_text()
        sitecheck.still(page)
        box = bar.bounding_box()
        assert 0 <= box["y"] and box["y"] + box["height"] <= 721


def test_the_line_of_a_chain_does_not_hide_the_entry_it_is_about(opened):
    page = opened("05")
    go_to(page, ".byhand-chain")
    entry = page.locator(".byhand-chain .byhand-result tbody td").last
    entry.click()
    sitecheck.still(page)
    box, bar = entry.bounding_box(), page.locator(".byhand-chain > .byhand-live").bounding_box()
    assert bar["y"] + bar["height"] <= box["y"] or box["y"] + box["height"] <= bar["y"] + 1
    assert bar["y"] >= 0 and bar["y"] + bar["height"] <= 721


def test_arrows_belong_to_what_is_touched_and_a_remote_to_the_slides(opened):
    page = opened("05")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    assert at(page) == 1
    here = go_to(page, "#divisor")
    slider = page.get_by_role("slider", name="divisor")
    slider.focus()
    before = slider.input_value()
    page.keyboard.press("ArrowRight")
    assert slider.input_value() != before and at(page) == here
    page.keyboard.press("PageDown")
    assert at(page) == here + 1
    page.keyboard.press("PageUp")
    slider.focus()
    page.keyboard.press("Escape")
    page.wait_for_function("document.activeElement === document.body")
    assert not page.evaluate("Reveal.isOverview()")
    page.keyboard.press("Escape")
    assert page.evaluate("Reveal.isOverview()")
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowRight")
    assert at(page) == here + 1


def test_arrows_walk_in_a_panel(opened):
    page = opened("05")
    here = go_to(page, "#panel-1")
    entries = page.locator("#panel-1 .byhand-result tbody td")
    entries.first.click()
    page.keyboard.press("ArrowRight")
    assert entries.nth(1).get_attribute("aria-selected") == "true" and at(page) == here


def test_a_finger_turns_slides_and_does_not_turn_them_on_a_slider(opened):
    page = opened("05", has_touch=True)
    touch = page.context.new_cdp_session(page)

    def swipe(x, y):
        for kind, points in (("touchStart", [x]), ("touchMove", [x - 60]), ("touchMove", [x - 200]), ("touchEnd", [])):
            event = {"type": kind, "touchPoints": [{"x": point, "y": y} for point in points]}
            touch.send("Input.dispatchTouchEvent", event)

    swipe(900, 600)
    sitecheck.still(page)
    assert at(page) == 1
    here = go_to(page, "#divisor")
    box = page.get_by_role("slider", name="divisor").bounding_box()
    swipe(box["x"] + box["width"] - 5, box["y"] + box["height"] / 2)
    sitecheck.still(page)
    assert at(page) == here


def test_light_is_the_rule_and_d_makes_it_dark(opened):
    page = opened("05", color_scheme="dark")

    def ground():
        return page.evaluate("getComputedStyle(document.querySelector('.reveal-viewport')).backgroundColor")

    assert ground() == "rgb(255, 255, 255)"
    page.keyboard.press("d")
    assert ground() == "rgb(19, 23, 28)"
    page.keyboard.press("d")
    assert ground() == "rgb(255, 255, 255)"


def test_a_chapter_prints_one_slide_a_page(opened, tmp_path):
    page = opened("05", "?print-pdf")
    page.wait_for_function("document.querySelectorAll('.pdf-page').length > 0")
    sitecheck.still(page)
    path = tmp_path / "slides.pdf"
    page.pdf(path=path, prefer_css_page_size=True)
    sheets = pypdf.PdfReader(path).pages
    assert len(sheets) == page.evaluate("Reveal.getTotalSlides()")
    assert "Why divide" in sheets[0].extract_text()


def test_links_lead_to_slides_that_are_there(decks):
    ids = {
        path.name: set(re.findall(r'<section class="slide[^"]*" id="([^"]+)"', path.read_text("utf-8")))
        for path in decks.glob("[0-9]*.html")
    }
    missing = []
    for path in decks.glob("[0-9]*.html"):
        for href in re.findall(r'<a\b[^>]*\bhref="([^"]+)"', path.read_text("utf-8")):
            page, _, place = href.partition("#/")
            if "://" not in href and place not in {"", *ids.get(page or path.name, ())}:
                missing.append(f"{path.name}: {href}")
            if "://" not in href and page and page not in ids:
                missing.append(f"{path.name}: {href}")
    assert missing == []
