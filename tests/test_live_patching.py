"""Heads silenced and rows swapped: what the page shows is what toytf computes with the same heads and rows."""

import copy
from dataclasses import replace

import numpy as np
import pytest

from livecheck import FINGER, page_problems, shown
from toytf import live
from toytf.byhand import fmt
from toytf.generate import greedy, start, stepper
from toytf.live.patching import HEADS
from toytf.live.translator import named
from toytf.model import decode, encode
from toytf.ops import linear, softmax
from toytf.translator import Translator

MODEL = Translator.load()
A, B = "some cats see the red house", "some cats see the red world"
PATCHING = live.patching(A, B)
ATTENTION = {"encoder": "encoder", "decoder": "decoder", "cross": "decoder"}


def computed(source, other, rows=(), silent=(), fed=None):
    """What toytf writes with parameters whose rows of W_O are 0 and a memory with some rows of another sentence."""
    params = copy.deepcopy(MODEL.params)
    for head in silent:
        layer = getattr(params, ATTENTION[head[:-1]])[0]
        attention = layer.cross_attention if head.startswith("cross") else layer.self_attention
        attention.w_o[:8] *= head[-1] != "1"
        attention.w_o[8:] *= head[-1] != "2"
    state = start(params, MODEL.cfg, MODEL.src_vocab.ids(source.split()), cached=False)
    theirs, _ = encode(params, MODEL.cfg, MODEL.src_vocab.ids(other.split()))
    memory = np.array([theirs[k] if k + 1 in rows else own for k, own in enumerate(state.memory[0])])
    most = 2 * len(source.split()) + 4
    state = replace(state, memory=memory[None])
    (written,) = greedy(stepper(params, MODEL.cfg), state, sos=1, eos=2, max_length=most)
    fed = fed or [1, *written.ids[:-1]]
    out, trace = decode(params, MODEL.cfg, fed, memory)
    weights = trace.layers[0].cross_attention.inner.attention.attn_weights
    words = [named(word) for word in MODEL.tgt_vocab.tokens(written.ids)]
    return fed, words, softmax(linear(params.output, out)), weights


def agrees(page, source=A, other=B, rows=(6,), silent=(), word=4):
    fed, was, before, looked = computed(source, other)
    _, now, after, looks = computed(source, other, rows, silent, fed)
    assert page.locator(".patch-before b").all_inner_texts() == was
    assert page.locator(".patch-after b").all_inner_texts() == now
    changed = [w for t, w in enumerate(now) if t >= len(was) or w != was[t]]
    assert page.locator(".patch-after .patch-changed b").all_inner_texts() == changed
    assert page.locator(".patch-before .patch-on b").all_inner_texts() == [was[word - 1]]
    assert page.locator(".patch-after .patch-on b").all_inner_texts() == now[word - 1 : word]
    at, best = word - 1, None
    for when, probs in ((0, before), (1, after)):
        table = page.locator(".live-bars").nth(when).locator("tbody tr:not([hidden])")
        labels = table.locator("th").all_inner_texts()
        ids = [MODEL.tgt_vocab.id({"(end)": "<eos>"}.get(label, label)) for label in labels]
        assert best is None or ids == best
        best = ids
        assert table.locator(".live-value").all_inner_texts() == [fmt(probs[at, i]) for i in ids]
    top = {int(i) for probs in (before, after) for i in np.argsort(-probs[at])[:3]}
    assert set(best) == top
    rows_of_map = [looked[0, at], looks[0, at], looked[1, at], looks[1, at]]
    assert shown(page, ".trans-map") == [[fmt(a, 2) for a in row] for row in rows_of_map]
    assert page.locator(".patch-cell.patch-other b").all_inner_texts() == [source.split()[row - 1] for row in rows]
    mine, theirs = source.split(), other.split()
    heads = [f"{word} ← {theirs[k]}" if k + 1 in rows else word for k, word in enumerate(mine)]
    assert page.locator(".trans-map thead th").all_inner_texts() == heads
    said = page.locator(".patch-said").inner_text()
    assert f"“{' '.join(w for w in now if w != '(end)')}”" in said
    for row in rows:
        assert f"ow {row} swapped (“{mine[row - 1]}” ← “{theirs[row - 1]}”)" in said
    i = int(before[at].argmax())
    if said.startswith("Nothing is changed"):
        assert not rows and not silent and said.endswith(f"has probability {fmt(before[at, i])}.")
    else:
        assert f"had probability {fmt(before[at, i])}, now {fmt(after[at, i])}" in said


def switch(page, head):
    return page.locator(f"[data-setting={head}] input")


def cell(page, row):
    return page.locator(".patch-cell").nth(row - 1)


def test_it_begins_with_the_row_of_the_noun(touch):
    page = touch(PATCHING)
    agrees(page)
    assert page.locator(".patch-after .patch-changed b").all_inner_texts() == ["el", "mundo", "rojo"]
    said = page.locator(".patch-said").inner_text()
    page.locator(".patch-before .patch-word").nth(0).click()
    page.locator(".patch-before .patch-word").nth(3).click()  # computed by the script
    assert page.locator(".patch-said").inner_text() == said


def test_it_may_begin_with_nothing_swapped(touch):
    page = touch(live.patching(A, B, rows=()))
    agrees(page, rows=())
    assert page.locator(".patch-said").inner_text().startswith("Nothing is changed: it writes")
    cell(page, 6).click()
    agrees(page)


def test_a_row_that_is_gone_is_named(touch):
    page = touch(PATCHING)
    page.get_by_role("textbox").first.fill("some cats see hats")
    agrees(page, "some cats see hats", rows=())
    assert page.locator(".patch-said").inner_text().startswith("There is no row 6 to swap: it writes")


@pytest.mark.parametrize("head", HEADS)
def test_each_head_falls_silent(touch, head):
    page = touch(PATCHING)
    switch(page, head).check()
    agrees(page, silent=(head,))
    cell(page, 6).click()
    agrees(page, rows=(), silent=(head,))
    assert ("silent" in page.locator(".trans-map").inner_text()) == head.startswith("cross")


def test_all_heads_may_be_silent(touch):
    page = touch(PATCHING)
    for head in HEADS:
        switch(page, head).focus()
        page.keyboard.press("Space")
    agrees(page, silent=HEADS)


def test_rows_are_swapped_by_keys(touch):
    page = touch(PATCHING)
    page.locator(".patch-cells [tabindex='0']").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    agrees(page, rows=(2, 6))
    page.keyboard.press("End")
    page.keyboard.press("Space")
    agrees(page, rows=(2,))


def test_rows_are_swapped_by_a_finger(touch):
    page = touch(PATCHING, **FINGER)
    cell(page, 4).tap()
    cell(page, 6).tap()
    agrees(page, rows=(4,))
    switch(page, "decoder1").tap()
    page.locator(".patch-before .patch-word").nth(5).tap()
    agrees(page, rows=(4,), silent=("decoder1",), word=6)


def test_words_are_chosen_by_arrow_keys(touch):
    page = touch(PATCHING)
    page.locator(".patch-before [tabindex='0']").focus()
    page.keyboard.press("ArrowRight")
    agrees(page, word=5)
    page.keyboard.press("Home")
    agrees(page, word=1)


def test_a_word_after_chooses_its_place_too(touch):
    page = touch(PATCHING, **FINGER)
    assert "Tap a word to compare" in page.locator(".live-static").inner_text()
    page.locator(".patch-after .patch-word").nth(1).tap()
    agrees(page, word=2)
    source, other = "hello world", "these strange queens find my letters"
    page = touch(live.patching(source, other, rows=[2], word=1))
    was, now = (page.locator(f".patch-{when} .patch-word") for when in ("before", "after"))
    assert now.count() > was.count()  # there is nothing to compare beyond
    assert page.locator(".patch-beyond").count() == now.count() - was.count()
    now.last.click()
    agrees(page, source, other, (2,), word=1)
    now.nth(1).click()
    agrees(page, source, other, (2,), word=2)


def test_both_sentences_may_be_others(touch):
    page = touch(PATCHING)
    mine, other = page.get_by_role("textbox").all()
    mine.fill("the small queen sees a red house")
    other.fill("the small boy")
    agrees(page, "the small queen sees a red house", "the small boy", rows=())  # there is no row 6 to take
    assert page.locator(".patch-cell[aria-disabled]").count() == 4
    cell(page, 7).click(force=True)  # nothing happens
    cell(page, 3).click()
    agrees(page, "the small queen sees a red house", "the small boy", rows=(3,))


def test_words_are_offered_where_the_caret_is(touch):
    page = touch(PATCHING)
    other = page.get_by_role("textbox").nth(1)
    other.focus()
    other.press("End")
    chips = page.locator("[data-setting=other] .live-chip")
    assert chips.all_inner_texts() == ["book", "hat", "boat", "house", "letter", "table"]
    chips.nth(2).click()
    agrees(page, A, B.replace("world", "boat"))
    other.press("Home")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # the first that is offered: "the" in place of "some"
    assert other.input_value() == "the cats see the red boat"
    switch(page, "cross1").click()  # though the words offered above it go
    assert switch(page, "cross1").is_checked() and not chips.count()
    other.fill("some purple cats")
    assert "“purple” is not among its 52 words" in page.locator("[data-setting=other] .live-note").inner_text()


def test_a_link_carries_everything(touch):
    page = touch(PATCHING, fragment="#patching?other=the+girls+see+a+red+hat&rows=1+6&cross1=on&encoder2=on&word=2")
    agrees(page, other="the girls see a red hat", rows=(1, 6), silent=("cross1", "encoder2"), word=2)
    cell(page, 1).click()
    cell(page, 6).click()
    switch(page, "cross1").uncheck()
    page.wait_for_function("location.hash == '#patching?other=the+girls+see+a+red+hat&encoder2=on&rows=none&word=2'")
    page.get_by_role("button", name="Reset").press("Enter")
    agrees(page)


WRONG_LINKS = {
    "rows=six": "rows: expected none, or numbers from 1 to 12, got “six”",
    "rows=0": "rows: expected none, or numbers from 1 to 12, got “0”",
    "word=99": "word: expected a whole number from 1 to 28, got “99”",
    "cross1=yes": "cross 1: expected on or off, got “yes”",
    "cross3=on": "cross3: expected one of sentence, other, encoder1",
}


@pytest.mark.parametrize("asked, said", WRONG_LINKS.items())
def test_a_wrong_link_is_said(touch, asked, said):
    page = touch(PATCHING, fragment=f"#patching?{asked}")
    assert said in page.locator(".live > .live-complaint").inner_text()
    agrees(page)


def test_no_word_is_said_to_be_none(touch):
    page = touch(PATCHING)
    page.get_by_role("textbox").first.fill("")
    page.get_by_role("textbox").first.blur()
    assert "Nothing to translate" in page.locator("[data-setting=sentence] .live-note").inner_text()
    page.get_by_role("textbox").first.fill(A)
    agrees(page)
    other = page.locator("[data-setting=other]")
    other.get_by_role("textbox").fill("")
    assert other.locator(".live-note").inner_text() == "No rows to take: type a word."
    other.get_by_role("textbox").fill("cats red")  # of no kind that it saw: it is not translated
    other.get_by_role("textbox").blur()
    assert other.locator(".live-note").inner_text() == ""


def test_without_a_script_its_numbers_stand(touch):
    agrees(touch(PATCHING, java_script_enabled=False))
    other = live.patching("my dog finds a hat", "my girl finds a house", rows=[5, 2, 5], silent=["cross2"], word=2)
    page = touch(other, java_script_enabled=False)
    agrees(page, "my dog finds a hat", "my girl finds a house", (2, 5), ("cross2",), 2)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_page_and_axe_finds_nothing(touch, width, dark):
    page = touch(PATCHING, width=width, dark=dark)
    assert not page_problems(page)
    page.get_by_role("textbox").nth(1).fill("the small red new strange cows find a big blue black hat")
    switch(page, "cross1").check()
    page.get_by_role("textbox").first.fill("the purple small red new strange cows find a big blue black letters")
    assert not page_problems(page)


def test_wrong_calls_are_answered():
    with pytest.raises(ValueError, match="rows: expected numbers from 1 to 2, got 3"):
        live.patching("hello world", B, rows=[3], word=1)
    with pytest.raises(ValueError, match="silent: expected one of encoder1, .*, got 'cross3'"):
        live.patching(A, B, silent=["cross3"])
    with pytest.raises(TypeError, match="silent: expected a list of names of heads, got the single string"):
        live.patching(A, B, silent="cross1")
    with pytest.raises(ValueError, match="word: expected a number from 1 to 7, got 8"):
        live.patching(A, B, word=8)
    with pytest.raises(KeyError, match="other: unknown token 'purple'"):
        live.patching(A, "some cats see the purple house")
