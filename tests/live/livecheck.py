"""Things to touch, each on a page of its own in Chromium: opened from the disk, with the book's style."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sitecheck
from sitecheck import DESKTOP, PHONE
from toytf.byhand import panels
from toytf.live import element

ROOT = Path(__file__).parents[2]
FINGER = {"has_touch": True, "is_mobile": True, "viewport": {"width": PHONE, "height": 844}}


def document(*elements, dark=False, asked=False):
    """A page of the book with nothing but these elements; what they load when `asked` is brought along otherwise."""
    later = {e.later for e in elements if e.later and not asked}
    names = dict.fromkeys(["live", *later, *(name for e in elements for name in (*e.needs, e.name))])
    scripts = "".join(f"<script>{element.script(name)}</script>" for name in names)
    styles = "".join(element.style(name) for name in names)
    book = (ROOT / "book/_assets/toytf.css").read_text("utf-8")
    return (
        '<!doctype html><html lang="en" data-content_root="./"><head><meta charset="utf-8"><title>To touch</title>'
        '<meta name="viewport" content="width=device-width,initial-scale=1"><link rel="icon" href="data:,">'
        f"<style>{book}</style>{panels.style_and_script()}<style>{styles}</style>{scripts}</head>"
        f'<body data-theme="{"dark" if dark else "light"}"><main><article role="presentation" '
        'style="max-width: 44rem; margin: 1rem auto; padding: 0 16px"><h1>To touch</h1>'
        f"{''.join(e.html() for e in elements)}<p>After.</p></article></main></body></html>"
    )


class Opener:
    """Opens elements, one context each; what goes wrong meanwhile is kept in `problems`."""

    def __init__(self, browser, folder):
        self.browser, self.folder, self.problems, self.contexts = browser, folder, [], []

    def __call__(self, *elements, width=DESKTOP, fragment="", dark=False, asked=False, **settings):
        """Open a page of elements at an address's fragment; further settings are those of a browser's context."""
        path = self.folder / f"live-{len(self.contexts)}.html"
        path.write_text(document(*elements, dark=dark, asked=asked), "utf-8")
        for later in {e.later for e in elements if e.later}:  # what a page loads when somebody asks for it
            (self.folder / "_static").mkdir(exist_ok=True)
            (self.folder / f"_static/live-{later}.js").write_text(element.script(later), "utf-8")
        settings = {"viewport": {"width": width, "height": 900}, "reduced_motion": "reduce", **settings}
        context = self.browser.new_context(**settings)
        self.contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("console", lambda said: self.problems.append(said.text) if said.type in ("error", "warning") else None)
        page.on("request", self.asked)
        page.goto(path.as_uri() + fragment)
        return page

    def asked(self, request):
        """From a page on the disk nothing else is asked for."""
        if not request.url.startswith((self.folder.as_uri(), "data:", "blob:")):
            self.problems.append(f"request leaves: {request.url}")

    def close(self):
        for context in self.contexts:
            context.close()
        assert not self.problems, self.problems


# ---------------------------------------------------------------- what every element promises


@dataclass(frozen=True)
class Case:
    """An element with what it promises; test_elements.py holds it to that.

    A state is what `shows` needs to compute with `toytf` what the page should show; the start is ``{}``.
    """

    thing: Any
    shows: Callable  # shows(page, **state): all numbers of the page are toytf's; without a script too
    links: dict[str, dict]  # what a link says, and the state that it brings
    keys: tuple[Callable, dict, str]  # what is done to the page by keyboard alone, the state then, and its link
    finger: tuple[Callable, dict]
    wrong_links: dict[str, tuple[str, dict]]  # what a link says, what is said to it, and the state
    wrong_numbers: dict[tuple[str, str], str] = field(default_factory=dict)  # (setting, what is typed): what is said
    # what a link says, and an element whose static form is that; None where the script begins with another picture
    drawn: dict[str, Any] = field(default_factory=dict)


def shown(page, where, of="td"):
    """The numbers of a panel's table or of bars, as text, row by row."""
    script = """(table, of) => [...table.tBodies[0].rows].filter((row) => !row.hidden)
        .map((row) => [...row.querySelectorAll(of)].map((cell) => cell.textContent.replaceAll("−", "-")))"""
    return page.locator(where).first.evaluate(script, of)


def said(page):
    return page.locator(".live-said").inner_text().replace("−", "-")


def button(page, name):
    return page.get_by_role("button", name=name, exact=True)


def type_number(page, name, text):
    """Type a number beside a slider, and leave the box."""
    box = page.locator(f"[data-setting={name}] .live-typed")
    box.fill(text)
    box.press("Enter")
    box.blur()


def follow(page, link):
    """Change the address's fragment, and wait until the page has heard of it."""
    script = """hash => new Promise((done) => {
        if (location.hash === hash) return done();
        addEventListener("hashchange", () => done(), { once: true });
        location.hash = hash;
    })"""
    page.evaluate(script, link)


def open_all(page):
    """Open all that is folded; a moment later the page has heard of it, and painted what is inside."""
    page.evaluate("document.querySelectorAll('.live details').forEach((box) => { box.open = true })")
    page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")


def page_problems(page):
    """What axe finds, and what is wider than its column."""
    return sitecheck.axe_problems(page) + sitecheck.width_problems(page)
