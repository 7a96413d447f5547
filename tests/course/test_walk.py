"""The map: every part leads to its chapter, and the walk says the example's own numbers."""

from html import escape

from toytf.byhand import fmt
from toytf.course import journey
from toytf.course.chapters import chapters
from toytf.course.plot_spine import PARTS
from toytf.course.walk import Walk, steps

MAP = Walk()._repr_html_()


def test_every_part_is_a_step_of_the_walk_and_a_link_to_its_chapter_in_both_forms():
    parts = [part for lit, _, _ in steps() for part in lit]
    assert sorted(parts) == sorted(PARTS)
    for lit, chapter, _ in steps():
        place = f'<a href="../notebooks/{chapters()[f"{chapter:02}"]}.ipynb"><title>'
        for part in lit:
            spot = f'{place}{escape(part)}: chapter {chapter}</title><rect class="spot" data-part="{PARTS.index(part)}"'
            assert MAP.count(spot) >= 2, part


def test_each_step_leads_to_the_next_and_lights_its_parts_without_a_script():
    for k, (lit, _, words) in enumerate(steps(), 1):
        assert f'<li id="walk-{k}"><p>{words}</p>' in MAP
        spots = ",".join(f'[data-part="{PARTS.index(part)}"]' for part in lit)
        assert all(f":has(#walk-{k}:target) {what}:is({spots})" in MAP for what in (".spot", "text"))
        assert (f'href="#walk-{k + 1}">Next' in MAP) == (k < len(steps()))
    assert "<script" not in MAP


def test_the_walk_says_the_numbers_of_the_trace():
    said = str(Walk())
    assert "[1, 2, 3, 4]" in said and "[0, 1, 0, 1]" in said
    assert f"Hello {fmt(journey.trace.decoder.layers[0].cross_attention.inner.attention.attn_weights[0, 0, 0])}" in said


def test_a_share_that_is_not_tiny_is_printed():
    weights = journey.trace.encoder.layers[0].self_attention.inner.attention.attn_weights
    before = weights[0, 0, 0]
    weights[0, 0, 0] = 0.25
    try:
        assert "keeps 0.2500 of its attention" in str(Walk())
    finally:
        weights[0, 0, 0] = before
    assert "less than a billionth" in str(Walk())
