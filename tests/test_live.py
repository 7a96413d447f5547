"""What all things to touch share: scripts that travel once, a page that links them, words where input is bad."""

import json
import re

import nbformat
import pytest
import toytf_live

import sitecheck
import test_live_stack
from livecheck import document
from test_site import write_small_book
from toytf import live
from toytf.live import element, wire

SCORES = [[1.0, 2.0], [3.0, 5.0]]
LABELS = {"rows": ["a", "b"], "cols": ["a", "b"]}
FIRST, SECOND = live.divisor(SCORES, 4, **LABELS), live.divisor(SCORES, 9, id="other", **LABELS)


def test_each_output_brings_its_scripts():
    assert [thing._repr_html_().count("customElements.define") for thing in (FIRST, SECOND)] == [1, 1]


def test_scripts_lose_their_comments_and_nothing_else():
    for name in ("live", "divisor"):
        text = element.script(name)
        assert not re.search(r"(?m)^\s*//", text)
        assert text.count("{") == text.count("}") and text.count("(") == text.count(")")
    for name in ("live", "translator"):
        assert "/*" not in element.style(name)
        assert element.style(name).count("{") == element.style(name).count("}") > 0
    assert element.style("divisor") == ""  # what all share is enough for it


def test_data_cannot_end_the_element_that_it_stands_in():
    thing = live.divisor(SCORES, 4, rows=["</script><b>", "b"], cols=["a", "b"])
    assert "</script><b>" not in thing.html()
    (data,) = re.findall(r'<script type="application/json">(.*?)</script>', thing.html())
    assert json.loads(data)["rows"][0] == "</script><b>"


def test_a_page_links_what_its_elements_need_in_order():
    html = (
        FIRST.html() + '<toytf-translator id="translator" class="live" data-needs="trained sentence">' + SECOND.html()
    )
    assert toytf_live.scripts(html) == ["live", "trained", "sentence", "divisor", "translator"]
    assert toytf_live.scripts("<p>none</p>") == []
    assert toytf_live.without_parts(FIRST._repr_html_()) == FIRST.html()


def test_two_on_a_page_keep_their_own_state(touch):
    page = touch(FIRST, SECOND, fragment="#other?divisor=50")
    typed = page.locator(".live-typed")
    assert [box.input_value() for box in typed.all()] == ["2", "50"]
    typed.first.fill("7")
    typed.first.press("Enter")
    assert [box.input_value() for box in typed.all()] == ["7", "50"]
    page.wait_for_function("location.hash == '#divisor?divisor=7'")


MOVED = {
    "divisor": (FIRST, "#divisor?divisor=30"),
    "clocks": (live.clocks(4), "#clocks?pos=7"),
    "shares": (live.shares([[4.0, 1], [1, 3]], [3.7, 2.8], **LABELS), "#shares?one=off&a=0.9&b=0.1"),
    "mask": (live.mask(SCORES, [[True, False], [True, True]], SCORES, **LABELS), "#mask?mask=01.11"),
    "stack": (test_live_stack.STACK, "#stack?residual=on&norm=post"),
    "translator": (live.translator(), "#translator?sentence=hello+world&word=2&head=1"),
}


@pytest.mark.parametrize("name", MOVED)
def test_paper_has_the_sums_of_the_numbers_that_stand_above_them(touch, name):
    """Paper is made when `beforeprint` is over; what a disclosure says of having been opened comes later."""
    thing, link = MOVED[name]
    first, page = touch(thing), touch(thing, fragment=link)
    sums = "() => [...document.querySelectorAll('.live details')].map(box => box.textContent)"
    printed = page.evaluate(f"() => {{ dispatchEvent(new Event('beforeprint')); return ({sums})() }}")
    page.evaluate("document.querySelectorAll('.live details').forEach(box => { box.open = true })")
    page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
    assert printed == page.evaluate(sums) != first.evaluate(sums)


def test_a_percent_sign_alone_in_the_address_breaks_nothing(touch):
    page = touch(FIRST, fragment="#divisor?divisor=%")
    assert "got “%”" in page.locator(".live > .live-complaint").inner_text()


def test_an_element_that_is_read_before_its_data_waits_for_them(browser, tmp_path):
    """In a page that is still being read a script above the element sees it begin, and no more."""
    path = tmp_path / "page.html"
    path.write_text(document(FIRST), "utf-8")
    page = browser.new_page()
    page.goto(path.as_uri())
    assert page.locator(".live-on").count() == 1
    page.close()


def test_settings_are_announced_and_the_controls_have_names(touch):
    page = touch(FIRST)
    assert page.get_by_role("slider", name="divisor", exact=True).get_attribute("aria-valuetext") == "2"
    page.get_by_role("slider", name="divisor", exact=True).press("ArrowRight")
    page.wait_for_function("document.querySelector('.live-spoken').textContent.startsWith('Divided by')")
    assert page.get_by_role("radio", name="a").is_checked()


def test_in_print_the_static_form_stands_without_controls(touch):
    page = touch(FIRST)
    page.emulate_media(media="print")
    assert page.locator(".live-static").is_visible() and not page.locator(".live-controls").is_visible()


@pytest.mark.parametrize("with_element", [True, False])
def test_only_a_page_with_an_element_has_its_scripts(tmp_path, with_element):
    folder = write_small_book(tmp_path / "book")
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}, "language_info": {"name": "python"}}
    notebook = nbformat.v4.new_notebook(metadata=kernel, cells=[nbformat.v4.new_markdown_cell("# Second\n\n## There")])
    if with_element:
        data = {"text/html": FIRST._repr_html_(), "text/plain": "x"}
        shown = nbformat.v4.new_output("execute_result", data, execution_count=1)
        notebook.cells.append(nbformat.v4.new_code_cell("thing", outputs=[shown], execution_count=1))
    (folder / "second.md").unlink()
    (folder / "first.md").write_text(
        (folder / "first.md").read_text("utf-8").replace("second.md", "second.ipynb"), "utf-8"
    )
    nbformat.write(notebook, folder / "second.ipynb")
    result = sitecheck.build(folder, folder)
    assert result.returncode == 0, result.stdout
    site = folder / "_build" / "html"
    page = (site / "second.html").read_text("utf-8")
    there = {path.name for path in (site / "_static").glob("live*")}
    assert there == ({"live-live.css", "live-live.js", "live-divisor.js"} if with_element else set())
    assert set(re.findall(r"_static/(live[-.\w]*)\?", page)) == there
    assert "_static/live" not in (site / "first.html").read_text("utf-8")
    assert "customElements.define" not in page


def test_what_the_wire_cannot_carry_is_refused():
    with pytest.raises(ValueError, match="not JSON compliant"):
        wire.as_json({"x": float("nan")})
