"""The translator on the first page: whatever is typed, tapped or linked, it shows what toytf writes."""

import numpy as np
import pytest

import livecheck
from livecheck import FINGER, page_problems, shown
from toytf import live
from toytf.byhand import fmt
from toytf.grammar import (
    ADJECTIVES,
    DETERMINERS,
    OBJECTS,
    SUBJECTS,
    VERBS,
    Phrase,
    all_words,
    corpus,
    draw_pairs,
    greeting,
    sentence,
)
from toytf.live.translator import EXAMPLES, MOST, longest_learned, named, vocabulary
from toytf.model import forward
from toytf.ops import softmax
from toytf.translator import Translator

MODEL = Translator.load()
TRANSLATOR = live.translator()
START = "the small queens see a red house"
HEADS = {"both": None, "1": 0, "2": 1}


IMPOSSIBLE = (
    "house",
    "the cat sees a dog",  # a dog is never seen
    "the house sees a cat",
    "a cats see the house",
    "the cat see a house",
    "the cats see a houses",
    "the small red cat sees a house",  # of its length, but never two adjectives
    "hello the world",
    "cat sees house",
    "the cat sees a house hello",
)


@pytest.fixture(scope="module")  # a million: made when a test asks for them, and not kept
def learned():
    """Every English sentence that the course's corpus can have, from `Phrase`, `sentence` and `greeting`."""
    some = [(), *((adjective,) for adjective in ADJECTIVES)]
    subjects, things = (
        [Phrase(noun, a, d, d.several) for noun in nouns for a in some for d in DETERMINERS]
        for nouns in (SUBJECTS, OBJECTS)
    )
    ends = {" ".join(thing.pair().src) for thing in things}
    starts = {
        " ".join(sentence(subject, verb, things[0]).src[: -len(things[0].pair().src)])
        for subject in subjects
        for verb in VERBS
    }
    hellos = {
        " ".join(greeting(n, a, several).src) for n in SUBJECTS + OBJECTS for a in some for several in (False, True)
    }
    return {f"{start} {end}" for start in starts for end in ends} | hellos


def expected(sentence):
    """The words that toytf writes, the probabilities at each place, and the weights of each head."""
    (hypothesis,) = MODEL.write([sentence.split()])
    fed = [MODEL.tgt_vocab.id("<sos>"), *hypothesis.ids[:-1]]
    logits, trace = forward(MODEL.params, MODEL.cfg, MODEL.src_vocab.ids(sentence.split()), fed)
    weights = trace.decoder.layers[0].cross_attention.inner.attention.attn_weights
    return [named(word) for word in MODEL.tgt_vocab.tokens(hypothesis.ids)], softmax(logits), weights


def spanish(page):
    return page.locator(".trans-tgt b").all_inner_texts()


def english(page):
    return page.locator(".trans-src .trans-word:not(.trans-more) b").all_inner_texts()


def chosen(page):
    return page.locator(".trans-tgt .trans-on b").inner_text()


def agrees(page, sentence, word, head="both"):
    """Whether the page shows a sentence as toytf has it: words, weights, probabilities, threads, and what is said."""
    words, probs, weights = expected(sentence)
    assert english(page) == sentence.split() and spanish(page) == words
    assert chosen(page) == words[word - 1]
    row = (weights.mean(axis=0) if head == "both" else weights[int(head) - 1])[word - 1]
    assert page.locator(".trans-src .trans-word:not(.trans-more) i").all_inner_texts() == [fmt(a) for a in row]
    best = np.argsort(-probs[word - 1], kind="stable")[:5]
    bars = page.locator(".live-bars tbody tr")
    assert bars.locator("th").all_inner_texts() == [named(MODEL.tgt_vocab.tokens([i])[0]) for i in best]
    assert bars.locator(".live-value").all_inner_texts() == [fmt(probs[word - 1, i]) for i in best]
    for threads in page.locator(".trans-threads g").all():  # for words side by side, and below each other
        lit = threads.locator(".trans-on").evaluate_all("all => all.map(p => p.style.getPropertyValue('--share'))")
        assert lit == [fmt(a) for a in row]
        assert threads.locator("path").count() == weights[0].size
    said = page.locator(".trans-said").inner_text()
    assert f"“{' '.join(w for w in words if w != '(end)')}”" in said
    assert fmt(probs[word - 1].max()) in said and fmt(row.max()) in said


def kept(page):
    """Where the third place is in another sentence: the last word that is not the end, if there are fewer."""
    return min(3, len([word for word in spanish(page) if word != "(end)"]) or 1)


def write(page, text):
    page.get_by_role("textbox").fill(text)
    page.get_by_role("textbox").blur()


def remark(page):
    return page.locator(".live-note").inner_text()


def test_it_begins_with_what_toytf_writes_and_says_how_large_it_is(touch):
    page = touch(TRANSLATOR)
    agrees(page, START, 3)
    assert "8,896 numbers" in page.locator(".live-title").inner_text()
    page.wait_for_function("document.querySelector('toytf-translator').key !== undefined")  # computed meanwhile
    agrees(page, START, 3)


def test_what_is_typed_is_translated(touch):
    page = touch(TRANSLATOR)
    for pair in corpus(np.random.default_rng(0))[1][:6]:
        write(page, " ".join(pair.src))
        agrees(page, " ".join(pair.src), min(3, len(pair.tgt)))
        assert spanish(page) == [*pair.tgt, "(end)"]


def test_it_follows_each_key(touch):
    page = touch(TRANSLATOR)
    page.get_by_role("textbox").fill("")
    page.get_by_role("textbox").press_sequentially("hello w")
    assert english(page) == ["hello", "w"] and spanish(page) == expected("hello")[0]
    assert page.locator(".live-note .live-chip").all_inner_texts() == ["world", "worlds", "wants", "want"]
    page.get_by_role("textbox").press_sequentially("orld")
    agrees(page, "hello world", 2)


def test_capitals_and_punctuation_do_not_count(touch):
    page = touch(TRANSLATOR)
    write(page, "  The cat sees,   a HOUSE. ")
    agrees(page, "the cat sees a house", 3)


def test_words_are_chosen_by_arrow_keys(touch):
    page = touch(TRANSLATOR)
    page.locator(".trans-tgt [tabindex='0']").focus()
    page.keyboard.press("ArrowRight")
    agrees(page, START, 4)
    page.keyboard.press("End")
    agrees(page, START, 8)
    assert chosen(page) == "(end)"
    page.keyboard.press("ArrowRight")  # there is no further word
    page.keyboard.press("Home")
    agrees(page, START, 1)


@pytest.mark.parametrize("head", HEADS)
def test_each_head_has_its_threads(touch, head):
    page = touch(TRANSLATOR)
    page.locator(f"[data-setting=head] input[value='{head}']").check(force=True)
    page.locator(".trans-tgt .trans-word").nth(1).click()
    agrees(page, START, 2, head)
    if head != "both":
        assert f"head {head}" in page.locator(".trans-said").inner_text()


def test_a_finger_changes_a_word_by_another(touch):
    page = touch(TRANSLATOR, **FINGER)
    page.locator(".trans-src .trans-word", has_text="queens").tap()
    page.locator(".live-palette").get_by_role("button", name="dogs", exact=True).tap()
    agrees_when_closed = START.replace("queens", "dogs")
    assert english(page) == agrees_when_closed.split()
    page.get_by_role("button", name="Done").tap()
    page.locator(".trans-tgt .trans-word").nth(5).tap()
    agrees(page, agrees_when_closed, 6)


def test_words_that_make_no_sentence_are_dashed(touch, learned):
    page = touch(TRANSLATOR)
    palette = page.locator(".live-palette")
    for word, odd in (("house", "cat"), ("queens", "hat"), ("see", "sees"), ("red", None)):
        page.locator(".trans-src .trans-word", has_text=word).first.click()
        words = palette.locator(".live-chip").all_inner_texts()
        dashed = palette.locator(".live-odd").all_inner_texts()
        assert dashed == [w for w in words if START.replace(f" {word}", f" {w}") not in learned]
        assert odd in dashed if odd else not dashed
        assert ("dashed" in page.locator(".live-palette-name").inner_text()) == bool(dashed)
        page.get_by_role("button", name="Done").click()


def test_a_sentence_is_made_by_keys_alone(touch):
    page = touch(TRANSLATOR)
    write(page, "")
    page.get_by_role("button", name="Add a word").focus()
    page.keyboard.press("Enter")
    for word in ("these", "cows", "find", "my", "new", "letters"):
        button = page.locator(".live-palette").get_by_role("button", name=word, exact=True)
        button.focus()
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.matches('.live-palette button')")  # one can go on
    page.get_by_role("button", name="Done").press("Enter")
    agrees(page, "these cows find my new letters", 3)
    page.locator(".trans-src .trans-word", has_text="new").click()
    page.get_by_role("button", name="Take it out").press("Enter")
    agrees(page, "these cows find my letters", 3)


def test_the_words_to_tap_are_the_grammar_s(touch, learned):
    groups = vocabulary()["groups"]
    words = [word for group in groups for word in group["words"]]
    assert sorted(words) == sorted(set(all_words()[0]) - {"<pad>", "<sos>", "<eos>"})
    page = touch(TRANSLATOR)
    for before in ("", "these", "the", "hello red", "some cats see", START):
        start = before + " " * bool(before)
        after = {s[len(start) :].partition(" ")[0] for s in learned if s.startswith(start)}
        write(page, before)
        page.get_by_role("button", name="Add a word").click()
        offered = page.locator(".live-palette .live-chip").all_inner_texts()
        assert sorted(offered) == sorted(after or words)
        assert ("no sentence that goes on" in page.locator(".live-palette-name").inner_text()) == (not after)
        if before:
            page.get_by_role("button", name="Done").click()


FITS = "texts => texts.filter(s => toytf.fits(document.querySelector('toytf-translator').data, s.split(' ')))"


def test_a_sentence_passes_if_the_grammar_can_make_it(touch, learned):
    page = touch(TRANSLATOR)
    drawn = [" ".join(pair.src) for pair in draw_pairs(np.random.default_rng(3), 2000, greetings=0.2)]
    assert page.evaluate(FITS, drawn) == drawn
    strange = list(IMPOSSIBLE)
    rng = np.random.default_rng(4)
    for text in drawn[:300]:  # without a word, with one twice, in another order
        words, i = text.split(), rng.integers(len(text.split()))
        strange += [" ".join(w) for w in (words[:i] + words[i + 1 :], words[: i + 1] + words[i:], words[::-1])]
    assert set(drawn) <= learned
    assert page.evaluate(FITS, strange) == [text for text in strange if text in learned]
    assert not learned & set(IMPOSSIBLE)


@pytest.mark.parametrize("text", IMPOSSIBLE)
def test_a_sentence_of_no_kind_that_it_saw_is_remarked(touch, text):
    page = touch(TRANSLATOR)
    write(page, text)
    assert remark(page) == "It never saw a sentence of this kind: expect mistakes."
    agrees(page, text, kept(page))
    write(page, "the cat sees a house")
    assert "the cat wants a red hat" in remark(page)


def test_who_is_still_writing_is_told_that_it_is_no_sentence_yet(touch):
    page = touch(TRANSLATOR)
    field = page.get_by_role("textbox")
    field.fill("")
    for begun in ("hello ", "my queens ", "the cat sees "):  # it may still become one
        field.fill("")
        field.press_sequentially(begun)
        assert "this is none yet" in remark(page) and "It never saw" not in remark(page)
    field.press_sequentially("the dog")  # nothing can mend this
    assert "It never saw" in remark(page)
    field.fill("the cat sees")
    field.blur()
    assert "It never saw" in remark(page)


@pytest.mark.parametrize("width", [390, 1280])
def test_a_remark_moves_nothing(touch, width):
    page = touch(TRANSLATOR, width=width)
    heights = set()
    for text in (
        START,
        "the cat sees a dog",
        "house",
        "the cat sees a purple house",
        "the quen sees a house",
        "i love you",
        "",
        "hello",
    ):
        write(page, text)
        heights.add(round(page.locator("[data-setting=sentence]").bounding_box()["height"]))
    assert len(heights) == 1


def test_examples_come_one_after_the_other_and_are_right(touch):
    page = touch(TRANSLATOR)
    for example in EXAMPLES:
        page.get_by_role("button", name="Another sentence").click()
        agrees(page, example, kept(page))
        assert page.get_by_role("textbox").input_value() == example
    page.get_by_role("button", name="Another sentence").click()
    agrees(page, START, 3)
    assert page.evaluate(FITS, list(EXAMPLES)) == list(EXAMPLES)


# ---------------------------------------------------------------- what is not translated


def test_an_unknown_word_is_said_and_the_rest_is_translated(touch):
    page = touch(TRANSLATOR)
    write(page, "the purple queen sees a house")
    assert "“purple” is not among its 52 words" in remark(page)
    assert page.locator(".trans-out b").all_inner_texts() == ["purple"]
    assert spanish(page) == expected("the queen sees a house")[0]
    assert page.get_by_role("textbox").input_value() == "the purple queen sees a house"  # nothing is lost


def test_the_nearest_words_are_offered_and_one_tap_puts_them_in(touch):
    page = touch(TRANSLATOR, **FINGER)
    write(page, "the quen sees a house")
    assert page.locator(".live-note .live-chip").all_inner_texts()[0] == "queen"
    page.locator(".live-note").get_by_role("button", name="queen", exact=True).tap()
    agrees(page, "the queen sees a house", 3)
    page.get_by_role("textbox").blur()
    assert "Tap a Spanish word" in remark(page)


def suggested(page):
    return page.locator(".live-note .live-ask").all_inner_texts()


def test_each_unknown_word_has_its_own_question(touch):
    page = touch(TRANSLATOR)
    write(page, "the quen sees a huse")
    assert [" ".join(text.split()) for text in suggested(page)] == [
        "Did you mean queen for “quen”?",
        "house for “huse”?",
    ]
    page.locator(".live-note .live-chip", has_text="house").click()
    assert page.get_by_role("textbox").input_value().strip() == "the quen sees a house"
    for far in ("I", "la", "xyz", "elephant"):
        write(page, far)
        assert "is not among its 52 words" in remark(page) and not suggested(page)


@pytest.mark.parametrize("word", ["purple", "hou"])
def test_an_unknown_last_word_is_left_out_like_the_others(touch, word):
    page = touch(TRANSLATOR)
    page.get_by_role("textbox").fill(f"the cat sees a {word}")
    begun = word == "hou"  # "house" may come of it
    assert page.locator(".trans-begun").count() == begun and page.locator(".trans-out").count() == (not begun)
    page.get_by_role("textbox").press("Enter")
    assert page.locator(".trans-out b").all_inner_texts() == [word] and not page.locator(".trans-begun").count()
    assert "left out" in page.locator(".trans-out i").inner_text()


def test_too_long_and_unknown_are_both_said(touch):
    page = touch(TRANSLATOR)
    write(page, "the purple " + "house " * (MOST + 1))
    assert "“purple” is not among its 52 words" in remark(page)
    assert f"It reads {MOST} words here; “house” and what follows is left out" in remark(page)
    write(page, "the small red queens see a big purple red house")
    assert "“purple” is not among" in remark(page) and "this one has 9" in remark(page)


def test_words_to_tap_are_next_by_tab_and_closed_by_escape(touch):
    page = touch(TRANSLATOR)
    focused = "document.activeElement.textContent"
    page.locator(".trans-src [tabindex='0']").focus()
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    assert not page.locator(".live-palette").count() and "queens" in page.evaluate(focused)
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate(focused) == "queens" and page.evaluate("document.activeElement.matches('.live-chip')")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    agrees(page, START.replace("queens", "cows"), 3)
    page.keyboard.press("Escape")
    assert not page.locator(".live-palette").count() and "cows" in page.evaluate(focused)
    page.keyboard.press("Enter")
    page.locator(".live-palette button").first.focus()
    page.keyboard.press("Shift+Tab")
    assert "cows" in page.evaluate(focused) and page.evaluate("document.activeElement.matches('.trans-word')")


def test_nothing_is_said_to_be_nothing(touch):
    page = touch(TRANSLATOR)
    write(page, "  ")
    assert "Nothing to translate" in remark(page)
    assert page.locator(".trans-said").inner_text() == ""  # said once
    assert spanish(page) == [] and not page.locator(".trans-threads path").count()
    write(page, "<pad> xyzzy")
    assert "are not among its 52 words" in remark(page)
    write(page, "hello world")
    agrees(page, "hello world", 2)


@pytest.mark.parametrize("text", ["", "i love you", "good morning", "i love you " * 4])
def test_where_no_word_is_read_there_are_words_to_begin_with(touch, text):
    page = touch(TRANSLATOR)
    write(page, text)
    palette = page.locator(".live-palette")
    assert "begin" in page.locator(".live-palette-name").inner_text()
    assert not page.locator("[data-setting=head]").is_visible()  # no head has anything to show
    if text:
        assert "Try “my dog finds the strange hat”" in remark(page)
    palette.get_by_role("button", name="my", exact=True).click()
    assert english(page) == ["my"]  # what is not among its words has gone
    palette.get_by_role("button", name="cat", exact=True).click()
    assert page.get_by_role("textbox").input_value() == "my cat"
    write(page, text)
    write(page, START)
    assert not palette.count()
    agrees(page, START, 3)


def test_the_end_is_chosen_by_a_tap_and_not_by_typing(touch):
    page = touch(TRANSLATOR)
    write(page, "hello world")
    agrees(page, "hello world", 2)
    page.locator(".trans-tgt .trans-word").last.click()
    agrees(page, "hello world", 3)
    assert "(end), its sign that it is done, has probability" in page.locator(".trans-said").inner_text()
    page.locator("[data-setting=head] input[value='1']").check(force=True)
    agrees(page, "hello world", 3, "1")
    write(page, "hello cat")
    assert chosen(page) == "gato"
    agrees(touch(TRANSLATOR, fragment="#translator?sentence=my+cat+sees+a+hat&word=6"), "my cat sees a hat", 6)


def test_a_long_sentence_is_told_where_the_limits_are(touch):
    page = touch(TRANSLATOR)
    longer = "the small red queens see a big red house"
    write(page, longer)
    assert f"up to {longest_learned()} words; this one has 9" in remark(page)
    agrees(page, longer, 3)
    write(page, "house " * (MOST + 2))
    assert f"It reads {MOST} words here; “house” and what follows is left out" in remark(page)
    assert spanish(page) == expected("house " * MOST)[0]
    assert page.locator(".trans-out").count() == 2


def test_the_longest_sentence_of_the_training_is_measured():
    assert longest_learned() == max(len(pair.src) for pair in corpus(np.random.default_rng(0))[0]) == 7


# ---------------------------------------------------------------- links, reset, other forms


def test_a_link_carries_sentence_word_and_head(touch):
    page = touch(TRANSLATOR, fragment="#translator?sentence=hello+world&word=2&head=1")
    agrees(page, "hello world", 2, "1")
    write(page, "my cat has a purple hat")
    page.wait_for_function("location.hash == '#translator?sentence=my+cat+has+a+purple+hat&word=2&head=1'")
    page.locator("[data-setting=head] input[value=both]").check(force=True)
    assert page.locator(".live-link").get_attribute("href") == "#translator?sentence=my+cat+has+a+purple+hat&word=2"


def test_a_link_past_the_last_word_chooses_the_last(touch):
    agrees(touch(TRANSLATOR, fragment="#translator?sentence=hello+world&word=9"), "hello world", 2)


WRONG_LINKS = {
    "word=0": "word: expected a whole number from 1 to 28, got “0”",
    "word=two": "word: expected a whole number from 1 to 28, got “two”",
    "head=3": "Attention of: expected one of 1, 2, both, got “3”",
    f"sentence={'a' * 201}": "An English sentence: expected at most 200 letters, got 201",
    "words=2": "words: expected one of sentence, word, head",
}


@pytest.mark.parametrize("asked, said", WRONG_LINKS.items())
def test_a_wrong_link_is_said(touch, asked, said):
    page = touch(TRANSLATOR, fragment=f"#translator?{asked}")
    assert said in page.locator(".live > .live-complaint").inner_text()
    agrees(page, START, 3)


def test_reset_goes_back(touch):
    page = touch(TRANSLATOR, fragment="#translator?sentence=hello+world&word=2&head=1")
    page.locator(".trans-src .trans-word").first.click()
    page.get_by_role("button", name="Reset").press("Enter")
    agrees(page, START, 3)
    assert page.get_by_role("textbox").input_value() == START


def test_all_weights_stand_in_a_table_that_follows(touch):
    page = touch(TRANSLATOR)
    page.locator(".trans-all summary").click()
    table = ".trans-map"
    assert shown(page, table) == [[fmt(a, 2) for a in row] for row in expected(START)[2].mean(axis=0)]
    write(page, "hello world")
    page.locator("[data-setting=head] input[value='2']").check(force=True)
    assert shown(page, table) == [[fmt(a, 2) for a in row] for row in expected("hello world")[2][1]]
    assert page.locator(".trans-map th").all_inner_texts() == ["hello", "world", "hola", "mundo", "(end)"]


def test_without_a_script_its_numbers_stand(touch):
    page = touch(TRANSLATOR, java_script_enabled=False)
    agrees(page, START, 3)
    assert not page.locator("toytf-translator").get_by_role("textbox").count()


def test_words_that_appear_one_after_the_other_are_there_within_a_second(touch):
    page = touch(TRANSLATOR, reduced_motion="no-preference")
    ends = page.evaluate(
        """() => {
            document.querySelector("toytf-translator").change({ sentence: "these girls draw some blue boats" });
            const running = document.querySelector(".trans-picture").getAnimations({ subtree: true });
            return running.map((animation) => animation.effect.getComputedTiming().endTime);
        }"""
    )
    assert ends and max(ends) < 1000
    page = touch(TRANSLATOR)  # with less motion, at once
    write(page, "these girls draw some blue boats")
    assert not page.evaluate("document.getAnimations().length")


@pytest.mark.parametrize("width", [390, 1280])
def test_the_script_moves_nothing(touch, width):
    """It stands above the fold: its size, and where its words stand, are the same before the script has run."""
    page, script = touch(TRANSLATOR, width=width), livecheck.document(TRANSLATOR)
    bare = page.context.new_page()
    assert script.count('define("translator", ') == 1
    bare.set_content(script.replace('define("translator", ', 'void ("translator", '))
    names = ["toytf-translator", ".live-field", ".trans-picture", ".live-bars", ".trans-said", ".trans-all"]

    def places(page):
        return [[page.locator(name).bounding_box()[key] for key in ("x", "y", "height")] for name in names]

    assert not bare.locator(".live-on").count() and page.locator(".live-on").count()
    assert np.allclose(places(bare), places(page), atol=0.5)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_page_and_axe_finds_nothing(touch, width, dark):
    page = touch(TRANSLATOR, width=width, dark=dark)
    page.locator(".trans-all summary").click()
    assert not page_problems(page)
    page.locator(".trans-src .trans-word").nth(2).click()  # with words to tap
    assert not page_problems(page)
    write(page, "the purple quen sees a strange black hat in a boat of my")  # with a remark
    assert not page_problems(page)
    write(page, "the small red new strange cows find a big blue black letters")  # more than fit side by side
    assert not page_problems(page)


# ---------------------------------------------------------------- in Python


def test_wrong_calls_are_answered():
    with pytest.raises(TypeError, match="source: expected a str"):
        live.translator(3)
    with pytest.raises(ValueError, match=f"source: expected from 1 to {MOST} words, got 0"):
        live.translator(" ")
    with pytest.raises(KeyError, match="source: unknown token 'purple'"):
        live.translator("the purple house")
    with pytest.raises(ValueError, match="word: expected a number from 1 to 3, got 4"):
        live.translator("hello world", 4)


@pytest.mark.parametrize("width", [390, 1280])
def test_threads_end_at_their_words_and_words_do_not_touch(touch, width):
    page = touch(TRANSLATOR, width=width)
    for text in (
        START,
        "these strange queens find these strange letters",
        "hello",
        "some cows find these strange hats",
    ):
        write(page, text)
        boxes = {side: [w.bounding_box() for w in page.locator(f".trans-{side} b").all()] for side in ("src", "tgt")}
        down = width < 600
        for words in boxes.values():
            for a, b in zip(words, words[1:], strict=False):
                assert (a["y"] + a["height"] <= b["y"]) if down else (a["x"] + a["width"] < b["x"])
        middle = (lambda b: b["y"] + b["height"] / 2) if down else (lambda b: b["x"] + b["width"] / 2)
        picture = page.locator(".trans-threads").bounding_box()
        begin, size = (picture["y"], picture["height"]) if down else (picture["x"], picture["width"])
        drawn = page.locator(".trans-threads g").nth(1 if down else 0)
        assert drawn.is_visible()
        ends = drawn.locator("path").evaluate_all(
            "all => all.map(p => p.getAttribute('d').match(/[0-9]+/g).map(Number))"
        )
        words = len(text.split())
        for i, d in enumerate(ends):
            t, k = divmod(i, words)
            assert abs(begin + size * d[0] / 1000 - middle(boxes["src"][k])) < 2.5
            assert abs(begin + size * d[-2] / 1000 - middle(boxes["tgt"][t])) < 2.5
