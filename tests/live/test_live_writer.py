"""The story that is written on: words, shares and promises are toytf's, and nothing is loaded unasked."""

import gzip
import re

import numpy as np
import pytest

from livecheck import DESKTOP, Case, button, page_problems, said
from toytf import live
from toytf.byhand import fmt
from toytf.corpus import EOS
from toytf.live import element
from toytf.live.translator import named, quoted
from toytf.live.writer import LONGEST, _model, asked, cut, pieces, promises, written
from toytf.stories import SYLLABLES, all_words, draw_story, made_name, told

WRITER = live.writer()
START = "Once there was a shy owl called Rikotus."
LAYER, HEAD = WRITER.data["layer"], WRITER.data["head"]


def words(page):
    return page.locator(".story-text .story-word:not(:first-child)").all_text_contents()


def loaded(page, count):
    """Wait until the story has so many words: the models have arrived, and have written."""
    page.wait_for_function("n => document.querySelectorAll('.story-word').length === n + 1", arg=count)


def finished(page):
    page.wait_for_function("most => document.querySelector('toytf-writer').state.written === most", arg=LONGEST)


def shows(page, beginning=START, layers=2, temperature=0.8, draw=1, most=0, word=0, layer=LAYER, head=HEAD):
    """Whether the page shows a story as toytf writes it, and what there is to see at one of its words."""
    model, begun = _model(layers), cut(beginning)
    tokens = written(model, begun, temperature, draw, most)
    ended, layer = tokens[-1:] == [EOS], min(layer, layers)
    loaded(page, len(tokens) + (not ended))
    assert words(page) == ["".join(piece) for piece in pieces(tokens)] + [" …"] * (not ended)
    at = word - 1 if word else max((i for i, token in enumerate(tokens) if token in SYLLABLES[0]), default=0)
    if not word and not (ended or most == LONGEST):
        at = len(tokens) - (most > 0)
    probs, looks = asked(model, tokens, at, temperature)
    row = looks[layer - 1, head - 1]
    shares = page.locator(".story-word").evaluate_all("all => all.map(w => w.style.getPropertyValue('--share'))")
    assert np.allclose([float(share) for share in shares], [*row, *[0] * (len(shares) - len(row))], atol=6e-5)
    assert page.locator(".story-word").evaluate_all("all => all.findIndex(w => w.matches('.story-on'))") == at + 1
    best = list(np.argsort(-probs, kind="stable")[:5])
    if at < len(tokens) and model.vocab.id(tokens[at]) not in best:
        best.append(model.vocab.id(tokens[at]))
    bars = page.locator(".live-bars tbody tr")
    assert bars.locator("th").all_inner_texts() == [named(token) for token in model.vocab.tokens(best)]
    assert bars.locator("td:last-child").all_inner_texts() == [fmt(p) for p in probs[best]]
    if at < len(tokens):
        assert f"{quoted(named(tokens[at]))} had probability {fmt(probs[model.vocab.id(tokens[at])])}" in said(page)
    most = ["(start)", *(quoted(named(token)) for token in tokens)][row.argmax()]
    looks = f"Head {head} of layer {layer} looked most at {most}, with {fmt(row.max())} of its attention."
    assert said(page).endswith(looks)
    marks = page.locator(".story-promises li")
    over = promises(tokens) if ended or most == LONGEST else ()
    expected = [f"{mark} {promise}: {facts}" for mark, promise, facts in over]
    assert marks.all_inner_texts() == (expected)
    assert marks.evaluate_all("all => all.map(li => li.matches('.story-broken'))") == [
        line.startswith("✗") for line in expected
    ]


def field(page):
    return page.get_by_role("textbox", name="The beginning of a story")


def press(page):
    field(page).fill("By the lake")
    button(page, "One word").press("Enter")
    loaded(page, 3 + 2)
    button(page, "One word").press("Enter")
    page.locator(".story-text [tabindex='0']").focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    page.get_by_label("one layer").press("Space")


def tap(page):
    page.locator(".story-word").nth(9).tap()
    button(page, "Begin anew").tap()
    finished(page)
    page.locator(".story-word").nth(12).tap()
    page.get_by_text("head 3", exact=True).tap()


CASE = Case(
    WRITER,
    shows,
    links={
        f"beginning=By+the+sea&layers=1&temperature=1.3&draw=3&written={LONGEST}": {
            "beginning": "By the sea", "layers": 1, "temperature": 1.3, "draw": 3, "most": LONGEST,
        },
        "layers=1": {"layers": 1},
        f"draw=2&written={LONGEST}&word=14&layer=1&head=2": {
            "draw": 2, "most": LONGEST, "word": 14, "layer": 1, "head": 2,
        },
        f"beginning=&draw=4&written={LONGEST}": {"beginning": "", "draw": 4, "most": LONGEST},
        "written=7&head=4": {"most": 7, "head": 4},
        f"written={LONGEST}": {"most": LONGEST},
        f"temperature=2&written={LONGEST}": {"temperature": 2, "most": LONGEST},
    },
    keys=(
        press,
        {"beginning": "By the lake", "most": 2, "layers": 1, "word": 1},
        "beginning=By+the+lake&layers=1&written=2&word=1",
    ),
    finger=(tap, {"draw": 2, "most": LONGEST, "word": 12, "head": 3}),
    wrong_links={
        "layers=3": ("Written by: expected one of 1, 2, got “3”", {}),
        f"beginning={'a' * 401}": ("The beginning of a story: expected at most 400 letters, got 401", {}),
        "draw=100&word=3": ("draw: expected a whole number from 1 to 99, got “100”", {"word": 3}),
    },
    wrong_numbers={("temperature", "0"): "temperature: expected a number from 0.1 to 2, got 0"},
    drawn={"beginning=By+the+sea": live.writer("By the sea")},
)  # fmt: skip


# ---------------------------------------------------------------- loading


def test_the_models_are_loaded_when_somebody_asks_and_not_before(touch):
    asked_for = []
    page = touch(WRITER, asked=True)
    page.on("request", lambda request: asked_for.append(request.url.rsplit("/")[-1]))
    page.reload()
    assert asked_for == ["live-0.html"]
    assert not page.evaluate("'writers' in toytf")
    page.locator(".story-word").nth(3).click()
    shows(page, word=3)
    field(page).fill("By the sea")
    shows(page, "By the sea")
    assert asked_for == ["live-0.html", "live-writers.js"]


def test_what_could_not_be_loaded_is_said_and_tried_again(touch, tmp_path):
    page = touch(WRITER, asked=True)
    file = tmp_path / "_static/live-writers.js"
    script = file.read_text("utf-8")
    file.unlink()
    button(page, "Begin anew").click()
    complaint = page.locator(".live > .live-complaint")
    complaint.get_by_text("could not be loaded: expected its numbers in ./_static/live-writers.js").wait_for()
    file.write_text(script, "utf-8")
    page.locator(".story-word").nth(3).click()
    shows(page, draw=2, word=3)
    assert not complaint.inner_text()
    (missing,) = touch.problems
    touch.problems.clear()
    assert "ERR_FILE_NOT_FOUND" in missing


def test_an_output_of_a_notebook_brings_the_models_along(engine):
    html = WRITER._repr_html_()
    scripts = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    assert engine(script="\n".join(scripts))("Object.keys(toytf.writers)") == ["1", "2"]


def test_both_models_weigh_at_most_400_kilobytes_compressed():
    assert len(gzip.compress(element.script("writers").encode())) < 400_000


# ---------------------------------------------------------------- writing


def test_on_arrival_a_press_writes_the_story_to_its_end(touch):
    page = touch(WRITER)
    button(page, "Write on").click()
    finished(page)
    shows(page, most=LONGEST)


def test_it_writes_word_by_word_can_be_stopped_and_goes_on(touch):
    page = touch(WRITER, reduced_motion="no-preference")
    page.get_by_label("slow").check(force=True)
    field(page).fill("By the sea")
    field(page).press("Enter")
    page.wait_for_function("document.querySelectorAll('.story-word').length >= 6")
    button(page, "Pause").click()
    count = len(words(page))
    assert count < 12 and not page.locator(".story-promises li").count()
    page.wait_for_timeout(1000)
    assert len(words(page)) == count
    page.get_by_label("quick").check(force=True)
    button(page, "Write on").click()
    page.wait_for_function("n => document.querySelectorAll('.story-word').length > n + 3", arg=count)
    page.get_by_label("at once").check(force=True)
    finished(page)
    shows(page, "By the sea", most=LONGEST)
    assert button(page, "Write on").get_attribute("aria-disabled") == "true"


def test_typing_stops_the_writing(touch):
    page = touch(WRITER, reduced_motion="no-preference")
    button(page, "Begin anew").click()
    page.wait_for_function("document.querySelector('toytf-writer').state.written >= 2")
    field(page).fill("By the phone")
    page.wait_for_timeout(600)
    shows(page, "By the")
    assert button(page, "Begin anew").get_attribute("aria-disabled") == "true"


REMARKS = {
    "Once there was a purple owl": ("“purple” is not among the ", "Once there was a"),
    "Once there was a brve owl": ("In place of “brve”: brave", "Once there was a"),
    "Once Rikotux": ("“Rikotux” is no name", "Once"),
    "Rikotux ": ("A name has three syllables: Ba, Da,", ""),
    "Once there was a sh": ("", "Once there was a"),
    "Once there was a shy owl called Rik": ("", "Once there was a shy owl called"),
    "one ; two": ("“;” and “two” are not among the ", "one"),
    "Once there was a grumpy lion": ("“grumpy” and “lion” are not among the ", "Once there was a"),
}


@pytest.mark.parametrize("width", [390, DESKTOP])
def test_what_cannot_be_read_is_said_and_the_rest_is_kept(touch, width):
    page = touch(WRITER, width=width)
    for text, (told_, read) in REMARKS.items():
        field(page).fill(text)
        shows(page, read)
        note = page.locator(".story-note").text_content()
        assert told_ in note and bool(told_) == bool(note), text
        assert field(page).input_value() == text
        button(page, "Write on").click(force=True)  # it does not
        assert len(words(page)) == len(cut(read)) + 1
        assert not page_problems(page)


def test_a_word_can_be_chosen_for_one_that_is_not_known(touch):
    page = touch(WRITER)
    field(page).fill("owl, a owll was a grumpy lion")
    for word, rest in (("owl", "was a grumpy lion"), ("shy", "lion"), ("fox", "")):
        button(page, word).click()
        assert field(page).input_value().endswith(f"{word} {rest}".strip())
    shows(page, "owl, a owl was a shy fox")
    assert not page.locator(".story-note").text_content()


READ = {
    "Once there was a shy owl called RIKOTUS": "once there was a shy owl called Ri- -ko- -tus",
    'then, "my hat!" cried rikotus.': "then , “ my hat ! ” cried Ri- -ko- -tus .",
    "the giant’s wall  Ri- Riko-": "the giant's wall Ri- Ri- -ko-",
}


def stories(n, seed=0):
    rng = np.random.default_rng(seed)
    return [draw_story(rng, lambda rng: made_name(rng, new=bool(rng.integers(2)))) for _ in range(n)]


def test_typed_text_is_cut_as_toytf_has_it_and_told_as_toytf_tells_it(touch):
    # or the weights are older than the grammar
    assert list(_model(1).vocab) == list(_model(2).vocab) == list(all_words())
    page = touch(WRITER)
    data = "document.querySelector('toytf-writer').data"
    texts = stories(200)
    cuts = f"all => all.map((text) => toytf.cut(text, {data}).tokens)"
    assert page.evaluate(cuts, list(map(told, texts))) == texts
    assert [cut(told(story)) for story in texts] == texts
    assert page.evaluate(cuts, list(READ)) == [text.split() for text in READ.values()]
    rng = np.random.default_rng(1)
    vocab = _model(2).vocab
    wild = [vocab.tokens(rng.integers(3, len(vocab), size=30)) for _ in range(300)]
    tell = "all => all.map((tokens) => toytf.pieces(tokens))"
    assert ["".join(map("".join, some)) for some in page.evaluate(tell, texts + wild)] == list(map(told, texts + wild))
    assert page.evaluate(tell, texts + wild) == [[list(piece) for piece in pieces(some)] for some in texts + wild]


def spoiled(rng, story):
    """A story with any word in the place of another, one more, or one less, or without its end."""
    at, vocab, kind = int(rng.integers(len(story))), _model(2).vocab, int(rng.integers(4))
    other = vocab.tokens(rng.integers(3, len(vocab), size=1))
    return [*story[:at], *other * (kind < 2), *story[at + (kind != 1) :] * (kind < 3)]


def test_the_page_checks_promises_as_toytf_does(touch):
    page = touch(WRITER)
    rng = np.random.default_rng(2)
    names = [token for part in SYLLABLES for token in part]
    some = stories(100, seed=3)
    for story in stories(300, seed=4):
        some.append(spoiled(rng, story))
        places = [i for i, token in enumerate(story) if token in names or token in ("he", "she", "red", "hat", "apple")]
        at = places[rng.integers(len(places))]
        near = {"he": "she", "she": "he", "red": "blue", "hat": "kite", "apple": "key"}
        other = near.get(story[at]) or next(part for part in SYLLABLES if story[at] in part)[int(rng.integers(12))]
        some.append([*story[:at], other, *story[at + 1 :]])
    check = "all => all.map((tokens) => toytf.promises(tokens, document.querySelector('toytf-writer').data))"
    expected = [[list(promise) for promise in promises([*story, EOS])] for story in some]
    assert page.evaluate(check, [[*story, EOS] for story in some]) == expected
    broken = {promise for said in expected for mark, promise, _ in said if mark == "✗"}
    assert {"form", "hero", "helper", "pronouns", "colour"} <= broken and all(expected)
    assert page.evaluate(check, some[:1]) == [[list(p) for p in promises(some[0])]] != expected[:1]  # without an end
