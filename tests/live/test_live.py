"""What all things to touch share: scripts that travel once, a page that links them, words where input is bad."""

import json
import re

import toytf_live

from toytf import live

SCORES = [[1.0, 2.0], [3.0, 5.0]]
LABELS = {"rows": ["a", "b"], "cols": ["a", "b"]}
FIRST, SECOND = live.divisor(SCORES, 4, **LABELS), live.divisor(SCORES, 9, id="other", **LABELS)


def test_each_output_brings_its_scripts():
    assert [thing._repr_html_().count("customElements.define") for thing in (FIRST, SECOND)] == [1, 1]


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
    assert toytf_live.scripts("<p>none</p>") == toytf_live.later(html) == []
    story = '<toytf-writer id="writer" class="live" data-needs="sentence" data-later="live-writers.js">'
    assert toytf_live.scripts(story) == ["live", "sentence", "writer"]
    assert toytf_live.later(story + story) == ["writers"]
    assert toytf_live.without_parts(FIRST._repr_html_()) == FIRST.html()


def test_two_on_a_page_keep_their_own_state(touch):
    page = touch(FIRST, SECOND, fragment="#other?divisor=50")
    typed = page.locator(".live-typed")
    assert [box.input_value() for box in typed.all()] == ["2", "50"]
    typed.first.fill("7")
    typed.first.press("Enter")
    assert [box.input_value() for box in typed.all()] == ["7", "50"]
    page.wait_for_function("location.hash == '#divisor?divisor=7'")
