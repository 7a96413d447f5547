"""The translator on the first page: whatever is typed, tapped or linked, it shows what toytf writes."""

import numpy as np
import pytest

import livecheck
from livecheck import Case, button, page_problems
from toytf import live
from toytf.byhand import fmt
from toytf.grammar import SUBJECTS, VERBS, corpus, draw_pairs
from toytf.live.translator import EXAMPLES, MOST, longest_learned, named, written
from toytf.translator import Translator

MODEL = Translator.load()
TRANSLATOR = live.translator()
START = "the small queens see a hat"
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


def expected(sentence):
    """The words that toytf writes, the probabilities at each place, and the weights of each head."""
    return written(MODEL, sentence.split())


def spanish(page):
    return page.locator(".trans-tgt b").all_inner_texts()


def english(page):
    return page.locator(".trans-src .trans-word:not(.trans-more) b").all_inner_texts()


def chosen(page):
    return page.locator(".trans-tgt .trans-on b").inner_text()


def shows(page, sentence=START, word=3, head="both"):
    """Whether the page shows a sentence as toytf has it: words, weights, probabilities, threads, and what is said."""
    words, probs, weights = expected(sentence)
    assert english(page) == sentence.split() and spanish(page) == words
    assert chosen(page) == words[word - 1]
    row = (weights.mean(axis=0) if head == "both" else weights[int(head) - 1])[word - 1]
    assert page.locator(".trans-src .trans-word:not(.trans-more) i").all_inner_texts() == [fmt(a) for a in row]
    best = np.argsort(-probs[word - 1], kind="stable")[:5]
    bars = page.locator(".live-bars tbody tr")
    assert bars.locator("th").all_inner_texts() == [named(MODEL.tgt_vocab.tokens([i])[0]) for i in best]
    assert bars.locator("td:last-child").all_inner_texts() == [fmt(probs[word - 1, i]) for i in best]
    for threads in page.locator(".trans-threads g").all():  # for words side by side, and below each other
        lit = threads.locator(".trans-on").evaluate_all("all => all.map(p => p.style.getPropertyValue('--share'))")
        assert lit == [fmt(a) for a in row]
        assert threads.locator("path").count() == weights[0].size
    if not page.locator(".live-on").count():
        return
    said = page.locator(".live-said").inner_text()
    assert f"“{' '.join(w for w in words if w != '(end)')}”" in said
    assert fmt(probs[word - 1].max()) in said and fmt(row.max()) in said


def write(page, text):
    page.get_by_role("textbox").fill(text)
    page.get_by_role("textbox").blur()


def remark(page):
    return page.locator(".live-note").inner_text()


def press(page):
    """A sentence is made by keys alone."""
    write(page, "")
    button(page, "Add a word").press("Enter")
    for word in ("these", "cows", "find", "my", "new", "letters"):
        button(page, word).press("Enter")
        assert page.evaluate("document.activeElement.matches('.live-palette button')")  # one can go on
    button(page, "Done").press("Enter")
    page.locator(".trans-src .trans-word", has_text="new").press("Enter")
    button(page, "Take it out").press("Enter")
    page.locator(".trans-tgt [tabindex='0']").focus()
    page.keyboard.press("End")
    page.keyboard.press("ArrowRight")  # there is no further word
    page.keyboard.press("ArrowLeft")


def tap(page):
    page.locator(".trans-src .trans-word", has_text="queens").tap()
    page.locator(".trans-detail .live-palette").get_by_role("button", name="dogs", exact=True).tap()
    button(page, "Done").tap()
    page.locator(".trans-tgt .trans-word").nth(5).tap()


LONG = "the small red queens see a big red house"
CASE = Case(
    TRANSLATOR,
    shows,
    links={
        "sentence=hello+world&word=2&head=1": {"sentence": "hello world", "word": 2, "head": "1"},
        "sentence=hello+world&word=9": {"sentence": "hello world", "word": 2},  # past the last word
        "sentence=my+cat+sees+a+hat&word=6": {"sentence": "my cat sees a hat", "word": 6},  # its end
        "word=2&head=2": {"word": 2, "head": "2"},
        **{f"sentence={text.replace(' ', '+')}&word=1": {"sentence": text, "word": 1} for text in IMPOSSIBLE},
        f"sentence={LONG.replace(' ', '+')}": {"sentence": LONG},
        "sentence=the+small+red+new+strange+cows+find+a+big+blue+letters": {
            "sentence": "the small red new strange cows find a big blue letters"
        },
    },
    keys=(
        press,
        {"sentence": "these cows find my letters", "word": 5},
        "sentence=these+cows+find+my+letters&word=5",
    ),
    finger=(tap, {"sentence": START.replace("queens", "dogs"), "word": 6}),
    wrong_links={
        "word=two": ("word: expected a whole number from 1 to 28, got “two”", {}),
        "head=3": ("Attention of: expected one of 1, 2, both, got “3”", {}),
        f"sentence={'a' * 201}": ("An English sentence: expected at most 200 letters, got 201", {}),
        "words=2": ("words: expected one of sentence, word, head", {}),
    },
    drawn={"sentence=hello+world&word=2": live.translator("hello world", 2)},
)


def test_what_is_typed_is_translated_key_by_key(touch):
    page = touch(TRANSLATOR)
    for pair in corpus(np.random.default_rng(0))[1][:4]:
        write(page, " ".join(pair.src))
        shows(page, " ".join(pair.src), min(3, len(pair.tgt)))
    write(page, "  The cat sees,   a HOUSE. ")  # capitals and punctuation do not count
    shows(page, "the cat sees a house")
    page.get_by_role("textbox").fill("")
    page.get_by_role("textbox").press_sequentially("hello w")
    assert english(page) == ["hello", "w"] and spanish(page) == expected("hello")[0]
    assert page.locator(".live-note .live-chip").all_inner_texts() == ["world", "worlds", "wants", "want"]
    page.get_by_role("textbox").press_sequentially("orld")
    shows(page, "hello world", 2)
    page.locator(".trans-tgt .trans-word").last.click()  # the end is chosen by a tap and not by typing
    shows(page, "hello world", 3)
    write(page, "hello cat")
    assert chosen(page) == "gato"


FITS = "texts => texts.filter(s => toytf.fits(document.querySelector('toytf-translator').data, s.split(' ')))"


def test_a_sentence_passes_if_the_grammar_draws_it(touch):
    page = touch(TRANSLATOR)
    drawn = [" ".join(pair.src) for pair in draw_pairs(np.random.default_rng(3), 2000, greetings=0.2)]
    assert page.evaluate(FITS, [*drawn, *IMPOSSIBLE, *EXAMPLES]) == [*drawn, *EXAMPLES]


REMARKS = {
    "the cat sees a dog": "It never saw a sentence of this kind: expect mistakes.",
    "the purple queen sees a house": "“purple” is not among its 52 words",
    "the quen sees a house": "Did you mean",
    "the cat wants pizza": "Try: the world the book the hat",
    "the white dogs eat a big apple": "In place of “white”: red black",
    "the elephant eats": "are not among its 52 words and are left out: expect mistakes. In place of “elephant”: cat",
    "  ": "Nothing to translate",
    "my cat": "Try “my cat sees the world”.",
    "i love my cat": "Try “my cat sees the world”.",
    "you see a cat": "Try “my dog finds the strange hat”.",
    "i love you": "Try “my dog finds the strange hat”",
    LONG: f"up to {longest_learned()} words; this one has 9",
    "house " * (MOST + 2): f"It reads {MOST} words here; “house” and what follows is left out",
    "the purple " + "house " * (MOST + 1): f"It reads {MOST} words here",
}


@pytest.mark.parametrize("width", [390, 1280])
def test_what_is_not_translated_as_learned_is_remarked_and_the_remark_moves_nothing(touch, width):
    page = touch(TRANSLATOR, width=width)
    heights = set()
    for text, told in REMARKS.items():
        write(page, text)
        assert told in " ".join(remark(page).split())
        assert page.get_by_role("textbox").input_value() == text  # nothing is lost
        if len(text) < 30:
            heights.add(round(page.locator("[data-setting=sentence]").bounding_box()["height"]))
        assert not page_problems(page)
    assert len(heights) == 1
    write(page, "the purple queen sees a house")
    assert page.locator(".trans-out b").all_inner_texts() == ["purple"]
    assert spanish(page) == expected("the queen sees a house")[0]


def test_who_is_still_writing_is_told_that_it_is_no_sentence_yet(touch):
    page = touch(TRANSLATOR)
    field = page.get_by_role("textbox")
    field.fill("")
    field.press_sequentially("the cat sees ")  # it may still become one
    assert "this is none yet" in remark(page)
    field.press_sequentially("the dog")  # nothing can mend this
    assert "It never saw" in remark(page)
    field.fill("the cat sees a hou")  # "house" may come of it
    assert page.locator(".trans-begun").count() == 1
    field.press_sequentially("q")
    assert "left out" in page.locator(".trans-out i").inner_text() and not page.locator(".trans-begun").count()


def test_a_sentence_that_it_never_learned_is_doubted_where_it_is_translated_and_words_that_fit_are_offered(touch):
    page = touch(TRANSLATOR)
    doubt = "Outside what it learned it writes"
    assert doubt not in page.locator(".live-said").inner_text()
    write(page, "the elephant eats")
    assert doubt in page.locator(".live-said").inner_text()
    nouns, verbs = (page.locator(".live-ask").nth(k).locator(".live-chip").all_inner_texts() for k in range(2))
    assert set(nouns) <= {noun[False] for noun in SUBJECTS} and set(verbs) <= {verb[False] for verb in VERBS}
    page.locator(".live-ask").nth(1).locator(".live-chip").first.click()
    assert english(page) == ["the", "elephant", verbs[0]]


def test_who_writes_eats_is_not_asked_for_cats(touch):
    page = touch(TRANSLATOR)
    asked = page.locator(".live-ask")
    several = {verb[True] for verb in VERBS}
    for text, lead in {"cats eat": "Try:", "cats eat mice": "In place of “eat”:"}.items():
        write(page, text)
        assert asked.first.inner_text().startswith(lead)
        assert set(asked.first.locator(".live-chip").all_inner_texts()) <= several
    write(page, "eats")
    assert not asked.count() and "Try “" in remark(page)
    write(page, "the bots see a hat")
    assert asked.locator(".live-chip").all_inner_texts() == ["boys"]  # it acts; boats do not


def test_all_words_are_below_the_field_to_tap(touch):
    page = touch(TRANSLATOR, width=390)
    assert page.get_by_role("textbox").evaluate("e => e.scrollWidth <= e.clientWidth"), "the first sentence is cut"
    write(page, "")
    page.get_by_text("All 52 words").press("Enter")
    words = page.locator(".live-known .live-chip")
    rows = sorted({box.bounding_box()["y"] for box in words.all()})
    seen = page.locator(".live-known .live-palette").bounding_box()
    assert rows[3] + words.first.bounding_box()["height"] < seen["y"] + seen["height"] - 10, "the fourth row is whole"
    assert words.all_inner_texts() == [w for group in live.vocabulary()["groups"] for w in group["words"]]
    for word in "my cat sees a hat".split():
        words.get_by_text(word, exact=True).press("Enter")
    shows(page, "my cat sees a hat", 3)
    words.get_by_text("hello", exact=True).click()
    assert page.get_by_role("textbox").input_value() == "my cat sees a hat hello"  # nothing is lost
    page.get_by_role("button", name="Another sentence").click()
    words.get_by_text("hello", exact=True).click()  # nobody typed that sentence
    assert page.get_by_role("textbox").input_value() == "hello"
    assert not page_problems(page)


def test_keys_lead_to_the_words_for_a_place_and_escape_back(touch):
    page = touch(TRANSLATOR)
    focused = "document.activeElement.textContent"
    page.locator(".trans-src [tabindex='0']").focus()
    for key in ("ArrowRight", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    assert page.evaluate(focused) == "queens" and page.evaluate("document.activeElement.matches('.live-chip')")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    shows(page, START.replace("queens", "cows"), 3)
    page.keyboard.press("Escape")
    assert not page.locator(".trans-detail .live-palette").count() and "cows" in page.evaluate(focused)
    assert page.evaluate("document.activeElement.matches('.trans-word')")


def test_another_sentence_ends_the_choice_of_a_word(touch):
    page = touch(TRANSLATOR)
    choice = page.locator(".trans-detail .live-palette")
    for anew in (lambda: write(page, "my cat sees a hat"), page.get_by_role("button", name="Another sentence").click):
        page.locator(".trans-src .trans-word").nth(1).click()
        assert choice.count()
        anew()
        assert not choice.count()


def test_where_no_word_is_read_there_are_words_to_begin_with(touch):
    page = touch(TRANSLATOR)
    write(page, "i love you")
    assert "begin" in page.locator(".trans-detail .live-palette-name").inner_text()
    assert not page.locator("[data-setting=head]").is_visible()  # no head has anything to show
    button(page, "my").click()
    button(page, "cat").click()
    assert page.get_by_role("textbox").input_value() == "my cat"
    for example in (*EXAMPLES, START):
        page.get_by_role("button", name="Another sentence").click()
        assert english(page) == example.split()


@pytest.mark.parametrize("width", [390, 1280])
def test_the_script_moves_nothing(touch, width):
    """It stands above the fold: its size, and where its words stand, are the same before the script has run."""
    page, script = touch(TRANSLATOR, width=width), livecheck.document(TRANSLATOR)
    bare = page.context.new_page()
    assert script.count('define("translator", ') == 1
    bare.set_content(script.replace('define("translator", ', 'void ("translator", '))
    names = ["toytf-translator", ".live-field", ".trans-picture", ".live-bars", ".trans-all"]

    def places(page):
        return [[page.locator(name).bounding_box()[key] for key in ("x", "y", "height")] for name in names]

    assert not bare.locator(".live-on").count() and page.locator(".live-on").count()
    assert np.allclose(places(bare), places(page), atol=0.5)


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
