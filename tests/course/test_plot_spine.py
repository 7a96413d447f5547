"""The spine: its cells carry the trace's numbers, what is lit is lit, in both forms."""

import re

import numpy as np
import pytest

from toytf.course import journey
from toytf.course.plot_spine import LIT, PARTS, spine, strength
from toytf.ops import softmax


def drawn(lit="all"):
    return spine(journey.trace, lit=lit, title="A title").svg


def values(svg, name):
    """The numbers that the cells of a strip tell, by row and column."""
    found = re.findall(rf"<title>{re.escape(name)} \[([^,]+), ([^\]]+)\] = ([-\d.]+)</title>", svg)
    return {(row, column): float(value) for row, column, value in found}


def matrix(svg, name, rows):
    by_place = values(svg, name)
    columns = list(dict.fromkeys(column for _, column in by_place))
    columns.sort(key=lambda c: int(c) if c.isdigit() else -1)
    return np.array([[by_place[row, column] for column in columns] for row in rows])


ENC, DEC = journey.trace.encoder, journey.trace.decoder


@pytest.mark.parametrize(
    "name, rows, expected",
    [
        ("encoder, embedding", journey.source, ENC.embedded),
        ("encoder, positions", journey.source, ENC.x - ENC.embedded),
        ("encoder, input", journey.source, ENC.x),
        ("encoder, self-attention, head 1", journey.source, ENC.layers[0].self_attention.inner.heads[:, :3]),
        ("encoder, self-attention, head 2", journey.source, ENC.layers[0].self_attention.inner.heads[:, 3:]),
        ("encoder, self-attention, result", journey.source, ENC.layers[0].self_attention.inner_out),
        ("encoder, after self-attention", journey.source, ENC.layers[0].self_attention.out),
        ("encoder, feed-forward, hidden", journey.source, ENC.layers[0].feed_forward.inner.hidden),
        ("encoder, after feed-forward", journey.source, ENC.out),
        ("decoder, cross-attention, result", journey.target, DEC.layers[0].cross_attention.inner_out),
        ("decoder, after feed-forward", journey.target, DEC.out),
    ],
)
def test_cells_carry_the_numbers_of_the_trace(name, rows, expected):
    np.testing.assert_allclose(matrix(drawn(), name, rows), expected, atol=0.00006)


def test_the_words_carry_their_logits_and_probabilities():
    svg = drawn()
    logits = values(svg, "logit")
    np.testing.assert_allclose([logits[w, "score"] for w in journey.words], journey.logits[0], atol=0.00006)
    chances = dict(re.findall(r"<title>probability \[([^\]]+)\] = ([\d.]+)</title>", svg))
    np.testing.assert_allclose([float(chances[w]) for w in journey.words], softmax(journey.logits)[0], atol=0.00006)


def test_a_changed_trace_changes_the_cells():
    import copy

    other = copy.deepcopy(journey.trace)
    other.encoder.embedded = other.encoder.embedded + 1
    svg = spine(other, lit="all", title="").svg
    np.testing.assert_array_equal(matrix(svg, "encoder, embedding", journey.source), ENC.embedded + 1)


def test_strength_grows_with_the_root_and_stops_at_nine():
    assert [strength(v) for v in (0, 1, -4, 9, -19)] == [0, 1 / 3, 2 / 3, 1, 1]


@pytest.mark.parametrize("part", PARTS)
def test_what_is_lit_is_lit_and_nothing_else(part):
    picture = spine(journey.trace, lit={part}, title="")
    assert picture.lit == (part,)
    bold = re.findall(r"font-weight:600[^>]*>([^<]*)</text>", picture.svg)
    shown = {
        "positions": "+ positions", "target positions": "+ positions", "target embedding": "embedding",
        "source words": "World", "target words": "SOS", "decoder feed-forward": "feed-forward", "next word": "EOS",
    }  # fmt: skip
    words = "add & norm" if "norm" in part else shown.get(part, part)
    assert words.replace("&", "&amp;") in bold
    unlit = {"self-attention", "cross-attention", "linear", "softmax"} - {part}
    assert not unlit & set(bold)


def test_both_forms_light_the_same():
    wide, tall = re.findall(r'<svg class="(?:wide|tall)".*?</svg>', drawn({"self-attention"}))
    assert wide.count(LIT) == tall.count(LIT) == 1


def test_the_tall_form_uses_every_strip_of_the_wide_one():
    svg = drawn()
    names = re.findall(r'id="(strip-\d+)"', svg)
    assert sorted(re.findall(r'href="#(strip-\d+)"', svg)) == sorted(names) and len(names) == len(set(names))


def test_an_unknown_part_is_refused_with_those_that_there_are():
    with pytest.raises(ValueError, match=r"lit: expected some of 'source words', .*'next word', got 'attention'"):
        spine(journey.trace, lit={"attention"}, title="")


def test_words_of_another_number_are_refused():
    with pytest.raises(ValueError, match=r"source, target, words: expected lengths \(2, 1, 10\), got \(2, 1, 1\)"):
        spine(journey.trace, lit="all", title="", words=["hola"])


def test_what_is_no_trace_is_refused():
    with pytest.raises(TypeError, match="trace: expected a Trace, got None"):
        spine(None, lit="all", title="")


def test_the_picture_shows_itself_and_says_little():
    picture = spine(journey.trace, lit={"softmax"}, title="Chances")
    assert picture._repr_svg_() == picture.svg and repr(picture) == "<Spine, lit: softmax>"


def test_the_same_spine_gives_the_same_bytes_and_few_of_them():
    import gzip

    assert drawn() == drawn() and len(gzip.compress(drawn().encode())) < 7500
