"""Heads silenced and rows swapped: what the page shows is what toytf computes with the same heads and rows."""

import numpy as np

from livecheck import PHONE, Case, shown
from toytf import live
from toytf.byhand import fmt
from toytf.live.patching import HEADS, patched
from toytf.translator import Translator

MODEL = Translator.load()
A, B = "some cats see the red house", "some cats see the red world"
PATCHING = live.patching(A, B)


def shows(page, source=A, other=B, rows=(6,), silent=(), word=4):
    mine, theirs = source.split(), other.split()
    first = patched(MODEL, mine, theirs)
    then = patched(MODEL, mine, theirs, rows, silent, like=first.ids)
    (was, before, looked), (now, after, looks) = ((run.words, run.probs, run.heads) for run in (first, then))
    assert page.locator(".patch-before b").all_inner_texts() == was
    assert page.locator(".patch-after b").all_inner_texts() == now
    changed = [w for t, w in enumerate(now) if t >= len(was) or w != was[t]]
    assert page.locator(".patch-after .patch-changed b").all_inner_texts() == changed
    assert page.locator(".patch-before .patch-on b").all_inner_texts() == [was[word - 1]]
    assert page.locator(".patch-after .patch-on b").all_inner_texts() == now[word - 1 : word]
    at, best = word - 1, None
    for when, probs in ((0, before), (1, after)):
        bars = page.locator(".live-bars").nth(when)
        if when and not (rows or silent):
            assert bars.locator("caption").inner_text() == "after: nothing is changed"
            assert not bars.locator("tbody").is_visible()
            continue
        table = bars.locator("tbody tr:not([hidden])")
        labels = table.locator("th").all_inner_texts()
        ids = [MODEL.tgt_vocab.id({"(end)": "<eos>"}.get(label, label)) for label in labels]
        assert best is None or ids == best
        best = ids
        assert table.locator("td:last-child").all_inner_texts() == [fmt(probs[at, i]) for i in ids]
    top = {int(i) for i in np.argsort(-np.maximum(before[at], after[at]))[:5]}
    assert set(best) == top
    rows_of_map = [looked[0, at], looks[0, at], looked[1, at], looks[1, at]]
    assert shown(page, ".live-map") == [[fmt(a, 2) for a in row] for row in rows_of_map]
    assert page.locator(".patch-cell.patch-other b").all_inner_texts() == [mine[row - 1] for row in rows]
    heads = [f"{word} ← {theirs[k]}" if k + 1 in rows else word for k, word in enumerate(mine)]
    assert page.locator(".live-map thead th").all_inner_texts() == heads
    if not page.locator(".live-on").count():
        return
    said = page.locator(".live-said").inner_text()
    words = " ".join(w for w in now if w != "(end)")
    assert f"it writes {f'“{words}”' if words else 'nothing'}." in said
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


def test_a_switch_moves_nothing_but_the_last_sentence(touch):
    page = touch(PATCHING, width=PHONE)
    places = "[...document.querySelectorAll('.patch-line, .patch-at, .live-bars, .live-map')].map(x => x.offsetTop)"
    before = page.evaluate(places)
    for head in HEADS:
        switch(page, head).click()
        assert page.evaluate(places) == before, head


def press(page):
    page.locator(".patch-cells [tabindex='0']").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.keyboard.press("End")
    page.keyboard.press("Space")
    for head in ("encoder1", "cross2"):
        switch(page, head).focus()
        page.keyboard.press("Space")
    page.locator(".patch-before [tabindex='0']").focus()
    page.keyboard.press("ArrowRight")


def tap(page):
    cell(page, 4).tap()
    cell(page, 6).tap()
    switch(page, "decoder1").tap()
    page.locator(".patch-before .patch-word").nth(5).tap()


GIRLS = "the girls see a red hat"
CASE = Case(
    PATCHING,
    shows,
    links={
        "other=the+girls+see+a+red+hat&rows=1+6&cross1=on&encoder2=on&word=2": {
            "other": GIRLS,
            "rows": (1, 6),
            "silent": ("cross1", "encoder2"),
            "word": 2,
        },
        **{f"rows=none&{head}=on": {"rows": (), "silent": (head,)} for head in HEADS},
        "&".join(f"{head}=on" for head in HEADS): {"silent": HEADS},
        "rows=none": {"rows": ()},
        "sentence=the+small+queen+sees+a+red+house&other=the+small+boy&rows=3": {
            "source": "the small queen sees a red house",
            "other": "the small boy",
            "rows": (3,),
        },
    },
    keys=(
        press,
        {"rows": (2,), "silent": ("encoder1", "cross2"), "word": 5},
        "encoder1=on&cross2=on&rows=2&word=5",
    ),
    finger=(tap, {"rows": (4,), "silent": ("decoder1",), "word": 6}),
    wrong_links={
        "rows=six": ("rows: expected none, or numbers from 1 to 12, got “six”", {}),
        "word=99": ("word: expected a whole number from 1 to 28, got “99”", {}),
        "cross1=yes": ("cross 1: expected on or off, got “yes”", {}),
        "cross3=on": ("cross3: expected one of sentence, other, encoder1", {}),
    },
)


def test_a_row_that_is_gone_is_named_and_cannot_be_taken(touch):
    page = touch(PATCHING)
    page.get_by_role("textbox").first.fill("some cats see hats")
    shows(page, "some cats see hats", rows=())
    assert page.locator(".live-said").inner_text().startswith("There is no row 6 to swap: it writes")
    page.get_by_role("textbox").nth(1).fill("the small boy")
    assert page.locator(".patch-cell[aria-disabled]").count() == 1
    cell(page, 4).click(force=True)  # nothing happens
    cell(page, 3).click()
    shows(page, "some cats see hats", "the small boy", rows=(3,))


def test_words_are_offered_where_the_caret_is(touch):
    page = touch(PATCHING)
    other = page.get_by_role("textbox").nth(1)
    other.focus()
    other.press("End")
    chips = page.locator("[data-setting=other] .live-chip")
    assert chips.all_inner_texts() == ["book", "hat", "boat", "house", "letter", "table"]
    chips.nth(2).click()
    shows(page, A, B.replace("world", "boat"))
    other.press("Home")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # the first that is offered: "the" in place of "some"
    assert other.input_value() == "the cats see the red boat"
    switch(page, "cross1").click()  # though the words offered above it go
    assert switch(page, "cross1").is_checked() and not chips.first.is_visible()
    for text, told in {
        "some purple cats": "“purple” is not among its 52 words",
        "": "No rows to take: type a word.",
        "cats red": "",  # of no kind that it saw: it is not translated
    }.items():
        other.fill(text)
        other.blur()
        assert told in page.locator("[data-setting=other] .live-note").inner_text()
