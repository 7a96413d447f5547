"""The index of the numbers that the book prints: what is in it, and what is not."""

import re

import pytest
import toytf_numbers as numbers

PANEL = """<div class="byhand"{own}><div class="byhand-title">K₁ = X W <span class="byhand-shape">1 × 2</span></div>
<table class="byhand-matrix"><thead><tr><td></td><th>a</th><th>b</th></tr></thead>
<tbody><tr><th>Hello</th><td>4.50</td><td>−8.25</td></tr></tbody></table>
<details class="byhand-sums"><p><b>Hello, a</b> = 1.5·3 = 4.50</p><p><b>Hello, b</b> = −8.25</p></details></div>"""


def read(body):
    """The reader of a page with a title, one section and this body."""
    return numbers.Page(f'<article><section id="one"><h1>1. One</h1>{body}</section></article>')


def texts(body):
    return [line[1] for line in read(body).lines]


@pytest.mark.parametrize(
    "text, found",
    [
        ("0.2244 and 56.81.", ["0.2244", "56.81"]),
        ("version 2.4.6", []),
        ("Exercise 4.1 asks", []),
        ('check.byhand("4.1", answer)', []),
        ("12 words, 999 too", []),
        ("8,896 numbers, or 8896; not 1,2", ["8,896", "8896"]),
        ("1.1e-03 2.3e-10", ["1.1e-03", "2.3e-10"]),
    ],
)
def test_a_number_is_what_has_a_point_in_it_once(text, found):
    assert numbers.NUMBER.findall(text) == found


def test_prose_outputs_and_tables_are_lines_of_their_section():
    body = "<p>It is 0.5. It was <em>0.25</em> once. No more.</p><pre>a 1.5\nb\nc 2.5\n</pre>"
    body += "<table><tr><th>loss</th><td>0.125</td></tr></table>"
    body += "<p><span><i>0.75</i><b>the</b></span><span><i>0.875</i><b>small</b></span></p>"
    assert texts(body) == ["It is 0.5.", "It was 0.25 once.", "a 1.5", "c 2.5", "loss | 0.125", "0.75 the 0.875 small"]
    assert read(body).places == [["one", "1. One"]]
    assert read(body).title == "1. One"


def test_a_long_sentence_is_shortened_around_its_numbers():
    words = "word " * 60
    (line,) = texts(f"<p>{words}0.5 {words}0.25 {words}</p>")
    assert len(line) < 300
    assert numbers.NUMBER.findall(line) == ["0.5", "0.25"]


@pytest.mark.parametrize(
    "hidden",
    [
        '<div class="cell_input"><pre>x = 0.5</pre></div>',
        "<script>0.5</script>",
        "<math><annotation>0.5</annotation></math>",
        '<span class="caption-number">0.5</span>',
    ],
)
def test_code_and_what_nobody_reads_is_left_out(hidden):
    assert texts(f"<p>{hidden} nothing</p>") == []


def test_what_stands_outside_of_the_article_is_left_out(tmp_path):
    html = '<nav><p>0.5</p></nav><article><section id="one"><h1>1</h1><p>0.25</p></section></article>'
    (tmp_path / "page.html").write_text(html, "utf-8")
    assert numbers.index(tmp_path)["toytf_numbers"] == [["page.html", "1", [["one", "1"]], [[0, "0.25"]], []]]


def test_words_are_sentences_headings_and_counts_without_code_and_labels(tmp_path):
    body = """<section id="one"><h1>1. Multi-head</h1>
    <pre>import numpy as np</pre><svg><text>Three heads ask here.</text></svg>
    <div class="byhand">So say all of us.</div>
    <div class="cell_input"><pre>heads = 2  # Two heads of ours.</pre></div>
    <p>Two heads ask at once. Short. 1 + 2 + 3 + 4 = 10</p>
    <table><tr><td>head</td><td>one way to ask</td></tr></table>"""
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "page.html").write_text(f"<article>{body}</section></article>", "utf-8")
    index = numbers.index(tmp_path)
    pages, counts = index["toytf_words"]
    assert pages == [["notebooks/page.html", "1. Multi-head", 1, [["one", "1. Multi-head"]]]]
    assert index["words/notebooks/page.html"] == [["Two heads ask at once.", "head: one way to ask"]]
    assert (counts["ask"], counts["multihead"], counts["multi"]) == ([0, 2], [0, 2], [0, 2])
    assert "numpy" not in counts and "three" not in counts and "us" not in counts
    assert numbers.unpacked(numbers.packed("a", index)) == index


@pytest.mark.parametrize("own, number", [("", 1), (' id="panel-7"', 7)])
def test_a_panel_is_known_by_its_number_and_its_labels(own, number):
    page = read(PANEL.format(own=own))
    assert page.lines == []
    assert page.panels == [[number, "K₁", ["Hello"], ["a", "b"], [["4.50", "−8.25"]], [[0, 0, "1.5"]]]]


def test_of_several_matrices_the_result_is_meant():
    body = '<div class="byhand"><table class="byhand-matrix"><tr><td>9.5</td></tr></table>{}</div>'
    caption = "<caption>S <span>1 × 1</span></caption>"
    body = body.format(f'<table class="byhand-matrix byhand-result">{caption}<tr><td>0.5</td></tr></table>')
    assert read(body).panels == [[1, "S", [""], [], [["0.5"]], []]]


def test_the_sums_of_a_chain_belong_to_its_panels():
    table = '<table class="byhand-matrix"><tr><td>{}</td></tr></table>'
    panel = '<div class="byhand"><div class="byhand-title">{}</div>' + table + "</div>"
    sums = '<div data-k="0"><i>X</i><p>= 3</p></div><div data-k="1"><p>2·0.25 = 0.5</p></div>'
    sums = f'<details class="byhand-sums">{sums}</details>'
    page = read(f'<div class="byhand-chain">{panel.format("X", 3)}{panel.format("Y", 0.5)}{sums}</div><p>0.75</p>')
    assert page.panels == [[2, "Y", [""], [], [["0.5"]], [[0, 0, "0.25"]]]]
    assert [line[1] for line in page.lines] == ["0.75"]


def test_a_panel_without_decimals_is_left_out():
    assert read(re.sub(r"\d\.\d+", "3", PANEL.format(own=""))).panels == []


def test_powers_of_ten_are_kept():
    assert texts("<p>only 2.7 × 10<sup>−6</sup> of it</p>") == ["only 2.7 × 10^−6 of it"]


def test_the_texts_of_a_figure_are_one_line():
    body = '<svg aria-label="Two bars"><text>0.5</text><text>weight</text><text>0.25</text></svg>'
    assert read(body).lines == [[0, "0.5 0.25", "Two bars"]]
