"""Heads silenced, rows swapped, matrices turned: what the page shows is what toytf computes with the same ones."""

import numpy as np

from livecheck import PHONE, Case, open_all, shown
from toytf import live
from toytf.byhand import fmt
from toytf.live.patching import HEADS, MATRICES, called, differ, patched
from toytf.translator import Translator

MODEL = Translator.load()
A, B = "some cats see the red house", "some cats see the red world"
PATCHING = live.patching(A, B, word=4)


def shows(page, source=A, other=B, rows=(), silent=(), word=4):
    script = page.locator(".live-on").count()
    if script:
        open_all(page)
    mine, theirs = source.split(), other.split()
    first = patched(MODEL, mine, theirs)
    then = patched(MODEL, mine, theirs, rows, silent, like=first.ids)
    (was, before, looked), (now, after, looks) = ((run.words, run.probs, run.heads) for run in (first, then))
    assert page.locator(".patch-before b").all_inner_texts() == was
    if not script:
        each = [patched(MODEL, mine, theirs, [k + 1]).sentence() for k in range(len(mine))]
        assert shown(page, ".live-alone") == [[sentence or "(nothing)"] for sentence in each]
        return
    assert page.locator(".patch-now b").all_inner_texts() == now
    changed = [w for t, w in enumerate(now) if t >= len(was) or w != was[t]]
    assert page.locator(".patch-now .patch-changed b").all_inner_texts() == changed
    assert page.locator(".patch-before .patch-on b").all_inner_texts() == [was[word - 1]]
    assert page.locator(".patch-now .patch-on b").all_inner_texts() == now[word - 1 : word]
    at, best = word - 1, None
    for when, probs in ((0, before), (1, after)):
        bars = page.locator(".live-bars").nth(when)
        if when and not (rows or silent):
            assert bars.locator("caption").inner_text() == "now: nothing is changed"
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
    both = (looked, looks) if rows or silent else (looked,)
    rows_of_map = [run[h, at] for h in (0, 1) for run in both]
    assert shown(page, ".live-map") == [[fmt(a, 2) for a in row] for row in rows_of_map]
    assert page.locator(".patch-cell.patch-other b").all_inner_texts() == [mine[row - 1] for row in rows]
    taken = ["(other’s)" if word == other else f"← {other}" for word, other in zip(mine, theirs, strict=False)]
    heads = [f"{word} {taken[k]}" if k + 1 in rows else word for k, word in enumerate(mine)]
    assert page.locator(".live-map thead th").all_inner_texts() == heads
    said = page.locator(".live-said").inner_text()
    words = " ".join(w for w in now if w != "(end)")
    assert f"it writes {f'“{words}”' if words else 'nothing'}." in said
    for row in rows:
        word, other = mine[row - 1], theirs[row - 1]
        whose = "of the other sentence" if word == other else f"← “{other}”"
        assert f"ow {row} swapped (“{word}” {whose})" in said
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


def test_it_begins_whole_and_each_head_alone_changes_the_sentence_most_of_all_the_one_to_try_first(touch):
    """A finger on any switch has an effect, and the sentence and the switches are on one screen."""
    page = touch(live.patching(), width=PHONE)
    source = live.patching().data["sentence"].split()
    whole = patched(MODEL, source, [])
    missed = {head: differ(whole, patched(MODEL, source, [], silent=[head])) for head in HEADS}
    first = max(missed, key=missed.get)
    assert page.get_by_text("first.").inner_text().endswith(f"Switch off {first[:-1]} head {first[-1]} first.")
    for head in HEADS:
        assert missed[head] and switch(page, head).is_checked() and not page.locator(".patch-changed").count()
        switch(page, head).click()
        assert page.locator(".patch-changed").count() and page.get_by_text("silenced", exact=True).count() == 1
        switch(page, head).click()
    top, end = (page.locator(part).bounding_box() for part in (".live-field", ".patch-heads"))
    assert end["y"] + end["height"] - top["y"] < 844


def test_a_matrix_turned_round_says_what_it_says_in_toytf_and_nothing_complains(touch):
    spoilt = live.patching(A, turned=True)
    for part, line in zip(MATRICES, spoilt.text.splitlines()[-12:], strict=True):
        page = touch(spoilt, fragment=f"#patching?{part}=turned+round&word=4")
        shows(page, other="", silent=(part,))
        assert [one for one in MATRICES if switch(page, one).is_checked()] == [part]
        kept = differ(patched(MODEL, A.split(), []), patched(MODEL, A.split(), [], silent=[part])) == 0
        told = f"Tried alone with this sentence: 1 of 12. Same words: {int(kept)}."
        assert page.locator("legend").inner_text() == told
        before = called(part).capitalize() + " turned round: it writes "
        said = line.split(": ")[1]
        written = "nothing" if said == "(nothing)" else f"“{said}”"
        assert page.locator(".live-said").inner_text().startswith(f"{before}{written}. ")


def test_each_matrix_tried_alone_keeps_its_result_until_reset(touch):
    page = touch(live.patching("hello world", turned=True))
    legend = page.locator("legend").inner_text()
    kept = [
        differ(patched(MODEL, ["hello", "world"], [], silent=s), patched(MODEL, ["hello", "world"], [])) == 0
        for s in map(list, zip(MATRICES))
    ]
    for tried, part in enumerate(MATRICES, 1):
        switch(page, part).click()
        switch(page, part).click()
        told = f"Tried alone with this sentence: {tried} of 12. Same words: {sum(kept[:tried])}."
        assert page.locator("legend").inner_text() == told
    told = page.locator(".patch-heads i").all_inner_texts()
    assert told == ["same words" if k else "other words" for k in kept]
    assert page.locator(".patch-wrong").count() == 12 - sum(kept)
    page.get_by_role("button", name="Reset").click()
    assert page.locator("legend").inner_text() == legend and not page.locator(".patch-wrong").count()


def test_where_no_word_is_known_the_switches_stay(touch):
    page = touch(PATCHING)
    page.get_by_role("textbox").first.fill("purple")
    assert switch(page, "cross1").is_visible() and not page.locator(".patch-before").is_visible()


def press(page):
    page.locator(".patch-cells [tabindex='0']").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
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
        "other=the+girls+see+a+red+hat&rows=1+6&cross1=silenced&encoder2=silenced&word=2": {
            "other": GIRLS,
            "rows": (1, 6),
            "silent": ("cross1", "encoder2"),
            "word": 2,
        },
        **{f"rows=6&{head}=silenced": {"rows": (6,), "silent": (head,)} for head in HEADS},
        "&".join(f"{head}=silenced" for head in HEADS): {"silent": HEADS},
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
        "encoder1=silenced&cross2=silenced&rows=2&word=5",
    ),
    finger=(tap, {"rows": (4, 6), "silent": ("decoder1",), "word": 6}),
    wrong_links={
        "rows=six": ("rows: expected none, or numbers from 1 to 12, got “six”", {}),
        "word=99": ("word: expected a whole number from 1 to 28, got “99”", {}),
        "cross1=yes": ("cross head 1: expected working or silenced, got “yes”", {}),
        "cross3=silenced": ("cross3: expected one of sentence, other, encoder1", {}),
    },
)


def test_a_row_that_is_gone_is_named_and_cannot_be_taken(touch):
    page = touch(PATCHING, fragment="#patching?rows=6")
    page.get_by_role("textbox").first.fill("some cats see hats")
    shows(page, "some cats see hats")
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
    assert not chips.count()  # they stand above what the reader reads: once chosen, or while one types, they are gone
    other.press("Home")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # the first that is offered: "the" in place of "some"
    assert other.input_value() == "the cats see the red boat"
    other.press("End")
    assert chips.first.is_visible()
    switch(page, "cross1").click()  # though the words offered above it go
    assert not switch(page, "cross1").is_checked() and not chips.first.is_visible()
    other.press("End")
    other.press_sequentially(" red")
    assert not chips.count()
    for text, told in {
        "some purple cats": "“purple” is not among its 52 words",
        "": "No rows to take: type a word.",
        "cats red": "",  # of no kind that it saw: it is not translated
    }.items():
        other.fill(text)
        other.blur()
        assert told in page.locator("[data-setting=other] .live-note").inner_text()
