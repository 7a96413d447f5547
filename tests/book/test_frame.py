"""The frame of a page: listings are copied as they can be run, names and formulas break where they may."""

import re

import pytest
import toytf_site

import sitecheck
from bookcheck.reading import ROOT

CONSOLE = '<span class="gp">&gt;&gt;&gt; </span>1 + 2\n<span class="go">3</span>\n'
PAGE = f"""<!doctype html><title>Code</title><article>
<div class="highlight"><pre>{CONSOLE}</pre></div></article><script src="code.js"></script>"""


@pytest.fixture
def address(tmp_path):
    (tmp_path / "index.html").write_text(PAGE, encoding="utf-8")
    (tmp_path / "code.js").write_text((ROOT / "book" / "_assets" / "code.js").read_text("utf-8"), encoding="utf-8")
    with sitecheck.serve(tmp_path) as server:
        yield f"{server}/index.html"


def test_a_copied_listing_has_no_prompt_and_nothing_that_was_printed(browser, address):
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(address)
    page.locator(".copybtn").focus()  # from the keyboard
    page.keyboard.press("Enter")
    page.locator(".copybtn[aria-label=Copied]").wait_for()
    assert page.evaluate("navigator.clipboard.readText()").strip() == "1 + 2"
    page.locator(".copybtn[aria-label=Copy]").wait_for()
    context.close()


def test_where_a_page_may_not_copy_the_listing_is_selected(browser, address):
    page = browser.new_page()
    page.add_init_script("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page.goto(address)
    page.locator(".copybtn").click()
    page.locator(".copybtn[aria-label^='Press Ctrl+C']").wait_for()
    assert page.evaluate("String(getSelection())").strip() == ">>> 1 + 2\n3"
    page.close()


# ---------------------------------------------------------------------------------------
# Names in tables


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("trace.scaled_scores", "trace|.scaled_|scores"),
        ("causal_mask(length)", "causal_|mask(|length)"),
        ("w[:, 0]", "w[:, 0]"),
        ("0.5 * values", "0.5 * values"),
    ],
)
def test_a_name_in_a_table_breaks_between_its_parts(name, parts):
    cell = '<table class="docutils"><td><span class="pre">{}</span></td></table>'
    assert toytf_site.break_names(cell.format(name)) == cell.format(parts.replace("|", "<wbr>"))


def test_a_name_outside_of_a_table_is_left_alone_unless_it_is_longer_than_a_line():
    text = '<p><span class="pre">{}</span></p>'
    assert toytf_site.break_names(text.format("trace.scaled_scores")) == text.format("trace.scaled_scores")
    long, parts = "check.identity_weights(identity_weights)", "check|.identity_|weights(|identity_|weights)"
    assert toytf_site.break_names(text.format(long)) == text.format(parts.replace("|", "<wbr>"))


FORMULA = '<span class="math notranslate nohighlight"><math><mi>x</mi></math></span>'
LONG = FORMULA.replace("nohighlight", "nohighlight long")


@pytest.mark.parametrize(
    "text, kept",
    [
        (f"so {FORMULA}.", f'so <span class="kept">{FORMULA}.</span>'),
        (f"({FORMULA}), then", f'<span class="kept">({FORMULA}),</span> then'),
        (f"a {FORMULA} b {FORMULA}", f"a {FORMULA} b {FORMULA}"),
        (f"a {LONG}.", f"a {LONG}."),  # that one may have to break
    ],
)
def test_a_formula_keeps_its_full_stop(text, kept):
    assert toytf_site.keep_signs(text) == kept


def test_browsers_without_light_dark_have_the_colours_of_the_day():
    css = (ROOT / "book" / "_assets" / "toytf.css").read_text("utf-8")
    colours = re.findall(r"(--[\w-]+): light-dark\((#\w+), (#\w+)\);", css)
    plain, _, modern = toytf_site.also_plain(css).partition("@supports (color: light-dark(#000, #fff)) {")
    assert len(colours) > 20
    for name, day, night in colours:
        assert f"{name}: {day};" in plain and f"{name}: light-dark({day}, {night});" in modern
