"""The spine: its cells carry the trace's numbers, what is lit is lit, in both forms."""

import copy
import gzip
import re

import numpy as np
import pytest

from toytf.course import journey
from toytf.course.plot_spine import LIT, PARTS, spine, strength
from toytf.ops import softmax


def drawn(lit="all", trace=journey.trace):
    return spine(trace, lit=lit, title="A title").svg


def values(svg, name):
    """The numbers that the cells of a strip tell; the tall form tells some again."""
    wide = svg.partition('<svg class="tall"')[0]
    return [float(x) for x in re.findall(rf"<title>{re.escape(name)} \[[^\]]+\] = ([-\d.]+)</title>", wide)]


ENC, DEC = journey.trace.encoder, journey.trace.decoder
HEADS = ENC.layers[0].self_attention.inner.heads


@pytest.mark.parametrize(
    "name, expected",
    [
        ("encoder, embedding", ENC.embedded),
        ("encoder, positions", ENC.x - ENC.embedded),
        ("encoder, self-attention, head 1", HEADS[:, :3]),
        ("encoder, self-attention, head 2", HEADS[:, 3:]),
        ("encoder, after self-attention", ENC.layers[0].self_attention.out),
        ("encoder, feed-forward, hidden", ENC.layers[0].feed_forward.inner.hidden),
        ("encoder, after feed-forward", ENC.out),
        ("decoder, cross-attention, result", DEC.layers[0].cross_attention.inner_out),
        ("decoder, after feed-forward", DEC.out),
        ("logit", journey.logits),
        ("probability", softmax(journey.logits)),
    ],
)
def test_cells_carry_the_numbers_of_the_trace(name, expected):
    np.testing.assert_allclose(sorted(values(drawn(), name)), np.sort(expected.ravel()), atol=0.00006)


def test_a_changed_trace_changes_the_cells():
    other = copy.deepcopy(journey.trace)
    other.encoder.embedded = other.encoder.embedded + 1
    found = values(drawn(trace=other), "encoder, embedding")
    np.testing.assert_array_equal(np.sort(found), np.sort(ENC.embedded.ravel() + 1))


def test_strength_grows_with_the_root_and_stops_at_nine():
    assert [strength(x) for x in (0, 1, -4, 9, -19)] == [0, 1 / 3, 2 / 3, 1, 1]


@pytest.mark.parametrize("part", PARTS)
def test_what_is_lit_is_lit_and_nothing_else(part):
    picture = spine(journey.trace, lit={part}, title="")
    assert picture.lit == (part,) and repr(picture) == f"<Spine, lit: {part}>"
    bold = set(re.findall(r"font-weight:600[^>]*>([^<\d]+)</text>", picture.svg))
    words = {"source words": "World", "target words": "SOS", "next word": "EOS"}.get(part) or (
        "add &amp; norm" if "norm" in part else re.sub("^(target |decoder )?(?=emb|pos|feed)", "", part)
    )
    assert bold and all(word.strip("+ ") in (words, *journey.source) for word in bold)


def test_both_forms_light_the_same_and_the_tall_one_uses_every_strip_of_the_wide_one():
    wide, tall = re.findall(r'<svg class="(?:wide|tall)".*?</svg>', drawn({"self-attention"}))
    assert wide.count(LIT) == tall.count(LIT) == 1
    names = re.findall(r'id="(strip-\d+)"', wide)
    assert sorted(re.findall(r'href="#(strip-\d+)"', tall)) == sorted(names) and len(names) == len(set(names))


def test_an_unknown_part_is_refused_with_those_that_there_are():
    with pytest.raises(ValueError, match=r"lit: expected some of 'source words', .*'next word', got 'attention'"):
        drawn({"attention"})


def test_the_same_spine_gives_the_same_bytes_and_few_of_them():
    assert drawn() == drawn() and len(gzip.compress(drawn().encode())) < 7500
