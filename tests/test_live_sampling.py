"""Drawing a word: what the strip, the table and the counts show is what toytf's sampling computes and draws."""

from collections import Counter

import numpy as np
import pytest

from livecheck import FINGER, page_problems, type_number
from toytf import live
from toytf.byhand import fmt
from toytf.generate import kept_tokens, sample
from toytf.ops import softmax

WORDS = "hello mundo world how ? EOS SOS a hola c".split()
LOGITS = np.random.default_rng(21).normal(size=10) * 2
SAMPLING = live.sampling(LOGITS, WORDS)
NUMBERS = np.random.default_rng(0).random(500)


def table(page):
    script = """() => [...document.querySelectorAll(".live-chances tbody tr")]
        .map((row) => [...row.cells].map((cell) => cell.textContent).filter((text) => text))"""
    return page.evaluate(script)


def strip(page):
    """The words on the strip and how wide each is, in parts of it."""
    script = """() => { const whole = document.querySelector(".live-strip").clientWidth;
        return [...document.querySelectorAll(".live-part:not([hidden])")]
          .map((part) => [part.textContent, part.getBoundingClientRect().width / whole]); }"""
    return page.evaluate(script)


def drawn(page):
    return page.locator(".live-drawn").text_content()


def said(page):
    return page.locator(".live-said").inner_text()


def button(page, name):
    return page.get_by_role("button", name=name)


def drawn_by_toytf(n, **settings):
    """The words that toytf draws one after the other with the generator whose numbers the page has."""
    found = sample(
        lambda state, ids: (np.tile(LOGITS, (len(ids), 1)), state),
        None,
        n=n,
        sos=0,
        eos=-1,
        max_length=1,
        rng=np.random.default_rng(0),
        **settings,
    )
    return [WORDS[h.ids[0]] for h in found]


def expect(page, n, temperature=1.0, top_k=None, top_p=None):
    """The page shows toytf's probabilities, shares and, after `n` random numbers, its words."""
    probs = softmax(LOGITS / temperature)
    kept = kept_tokens(probs, top_k, top_p)
    shares = np.zeros(10)
    shares[kept] = probs[kept] / probs[kept].sum()
    counts = Counter(drawn_by_toytf(n, temperature=temperature, top_k=top_k, top_p=top_p)) if n else {}
    assert table(page) == [
        [word, fmt(softmax(LOGITS)[i]), fmt(probs[i]), fmt(shares[i]) if i in kept else "cut", str(counts.get(word, 0))]
        for i, word in enumerate(WORDS)
    ]
    assert [word for word, _ in strip(page)] == [WORDS[i] for i in kept]
    assert np.allclose([width for _, width in strip(page)], shares[kept], atol=0.003)


def test_it_begins_with_the_first_random_number(touch):
    page = touch(SAMPLING)
    expect(page, 1)
    assert drawn(page) == drawn_by_toytf(1)[0]
    assert page.locator("[data-setting=u] .live-typed").input_value() == f"{NUMBERS[0]:.12g}"


def test_the_words_come_in_the_order_in_which_toytf_draws_them(touch):
    page = touch(SAMPLING, fragment="#sampling?temperature=1.5&topk=7")
    words = [drawn(page)]
    for _ in range(11):
        button(page, "next random number").press("Enter")
        words.append(drawn(page))
    assert words == drawn_by_toytf(12, temperature=1.5, top_k=7)
    assert len(set(words)) > 2
    expect(page, 12, 1.5, 7)


CUTS = [
    (1, None, None),
    (0.5, None, None),
    (4, 3, None),
    (2, None, 0.8),
    (1.25, 6, 0.9),
    (0.1, None, 0.5),
    (10, 1, None),
]


@pytest.mark.parametrize("temperature, top_k, top_p", CUTS)
def test_shares_and_counts_are_toytfs(touch, temperature, top_k, top_p):
    page = touch(SAMPLING)
    type_number(page, "temperature", str(temperature))
    type_number(page, "topk", str(top_k or 10))
    type_number(page, "topp", str(top_p or 1))
    expect(page, 1, temperature, top_k, top_p)
    for _ in range(2):
        button(page, "draw 100").click()
    expect(page, 201, temperature, top_k, top_p)


def test_a_place_on_the_strip_is_a_word(touch):
    page = touch(SAMPLING)
    box = page.locator(".live-strip").bounding_box()
    order = kept_tokens(softmax(LOGITS))
    ends = np.cumsum(softmax(LOGITS)[order])
    for place in (0.02, ends[0] + 0.02, ends[1] + 0.02):
        page.mouse.click(box["x"] + place * box["width"], box["y"] + 10)
        u = float(page.locator("[data-setting=u] .live-typed").input_value())
        assert abs(u - place) < 0.005
        k = int(np.searchsorted(ends, u, side="right"))
        assert drawn(page) == WORDS[order[k]]
        assert f"the part of “{WORDS[order[k]]}”" in said(page)
        begin = ends[k - 1] if k else 0.0
        assert f"lies between {fmt(begin)} and {fmt(ends[k])}" in said(page)
        assert page.locator(".live-strip").get_attribute("aria-label").endswith(f"points at {drawn(page)}.")
    page.mouse.move(box["x"] + 5, box["y"] + 10)  # not pressed: nothing moves
    assert drawn(page) == WORDS[order[2]]
    expect(page, 1)  # a place that one points at is not counted


def test_keys_move_the_random_number_to_the_ends(touch):
    page = touch(SAMPLING)
    order = kept_tokens(softmax(LOGITS))
    slider = page.get_by_role("slider", name="random number")
    slider.focus()
    page.keyboard.press("Home")
    assert drawn(page) == WORDS[order[0]]
    page.keyboard.press("End")
    assert drawn(page) == WORDS[order[-1]]


def test_a_finger_points_draws_and_cuts(touch):
    page = touch(SAMPLING, **FINGER)
    box = page.locator(".live-strip").bounding_box()
    page.touchscreen.tap(box["x"] + 0.05 * box["width"], box["y"] + 10)
    assert drawn(page) == WORDS[int(LOGITS.argmax())]
    button(page, "draw 100").tap()
    expect(page, 101)
    button(page, "count anew").tap()
    expect(page, 0)


def test_the_count_is_set_beside_what_is_expected(touch):
    page = touch(SAMPLING, fragment="#sampling?draws=100")
    word = drawn(page)
    times = drawn_by_toytf(100).count(word)
    expected = fmt(100 * softmax(LOGITS)[WORDS.index(word)], 1)
    assert said(page).endswith(
        f"With the first 100 random numbers “{word}” comes {times} times; {expected} are to be expected."
    )


def test_the_random_numbers_come_to_an_end(touch):
    page = touch(SAMPLING, fragment="#sampling?draws=499")
    button(page, "draw 100").press("Enter")
    expect(page, 500)
    assert said(page).endswith("The page has no more random numbers: count anew.")
    assert button(page, "draw 100").get_attribute("aria-disabled") == "true"
    button(page, "next random number").press("Enter")
    expect(page, 500)


def test_a_link_carries_everything(touch):
    page = touch(SAMPLING, fragment="#sampling?temperature=2&topk=5&topp=0.9&u=0.25&draws=30")
    expect(page, 30, 2.0, 5, 0.9)
    button(page, "draw 100").click()
    address = f"#sampling?temperature=2&topk=5&topp=0.9&u={NUMBERS[129]:.12g}&draws=130"
    page.wait_for_function("address => location.hash == address", arg=address)
    button(page, "Reset").click()
    expect(page, 1)


@pytest.mark.parametrize(
    "name, text, word",
    [
        ("temperature", "0", "temperature: expected a number from 0.1 to 10, got 0"),
        ("topk", "2.5", "top-k: expected a whole number from 1 to 10, got 2.5"),
        ("topk", "11", "top-k: expected a whole number from 1 to 10, got 11"),
        ("topp", "0", "top-p: expected a number from 0.01 to 1, got 0"),
        ("u", "x", "random number: expected a number from 0 to 1, got “x”"),
    ],
)
def test_what_is_no_setting_is_said_and_changes_nothing(touch, name, text, word):
    page = touch(SAMPLING)
    type_number(page, name, text)
    assert page.locator(f"[data-setting={name}] .live-complaint").inner_text() == word
    expect(page, 1)


def test_a_wrong_link_is_said(touch):
    page = touch(SAMPLING, fragment="#sampling?draws=1000&topk=2")
    complaint = page.locator(":scope .live > .live-complaint").inner_text()
    assert "draws: expected a whole number from 0 to 500, got “1000”" in complaint
    expect(page, 1, 1.0, 2)


def test_without_a_script_strip_and_probabilities_stand(touch):
    page = touch(SAMPLING, java_script_enabled=False)
    order = kept_tokens(softmax(LOGITS))
    assert page.locator(".live-part").all_text_contents() == [WORDS[i] for i in order]
    assert page.locator(".live-drawn").text_content() == drawn_by_toytf(1)[0]
    row = page.locator(".live-chances tbody tr").nth(2).locator("td").all_text_contents()
    assert row[1:4] == [fmt(softmax(LOGITS)[2])] * 3
    assert not page.locator("button").count()


@pytest.mark.parametrize("logits", [[0.0], [3.0, 3.0], [900.0, -900.0]])
def test_few_words_and_far_apart(touch, logits):
    page = touch(live.sampling(logits, ["a", "b"][: len(logits)]))
    button(page, "draw 100").click()
    probs = softmax(np.array(logits))
    assert [row[3] for row in table(page)] == [fmt(p) for p in probs]
    assert sum(int(row[4]) for row in table(page)) == 101


NO_CALL = {
    "too few words": ((LOGITS, WORDS[:9]), "words: expected 10 different words"),
    "a word twice": (([1.0, 2.0], ["a", "a"]), "words: expected 2 different words"),
    "not finite": (([1.0, np.inf], ["a", "b"]), "logits"),
    "a matrix": (([[1.0, 2.0]], ["a", "b"]), "logits"),
}


@pytest.mark.parametrize("given, word", NO_CALL.values(), ids=NO_CALL)
def test_a_wrong_call_is_refused(given, word):
    with pytest.raises(ValueError, match=word):
        live.sampling(*given)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_page_and_axe_finds_nothing(touch, width, dark):
    page = touch(SAMPLING, width=width, dark=dark)
    assert not page_problems(page)
    for fragment in ("temperature=3&topp=0.9&draws=500", "topk=1&draws=none"):
        page.goto(page.url.partition("#")[0] + f"#sampling?{fragment}")
        assert not page_problems(page)
