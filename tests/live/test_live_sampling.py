"""Drawing a word: what the strip, the table and the counts show is what toytf's sampling computes and draws."""

from collections import Counter

import numpy as np

from livecheck import Case, button, said
from toytf import live
from toytf.byhand import fmt
from toytf.generate import kept_tokens, sample
from toytf.ops import softmax

WORDS = "hello mundo world how ? EOS SOS a hola c".split()
LOGITS = np.random.default_rng(21).normal(size=10) * 2
SAMPLING = live.sampling(LOGITS, WORDS)
NUMBERS = np.random.default_rng(0).random(500)


def drawn(page):
    return page.locator(".live-drawn").text_content()


def drawn_by_toytf(n, **settings):
    """The words that toytf draws one after the other with the generator whose numbers the page has."""
    ends = {"n": n, "sos": 0, "eos": -1, "max_length": 1, "rng": np.random.default_rng(0)}
    found = sample(lambda state, ids: (np.tile(LOGITS, (len(ids), 1)), state), None, **ends, **settings)
    return [WORDS[h.ids[0]] for h in found]


def shows(page, n=1, temperature=1.0, top_k=None, top_p=None):
    """toytf's probabilities, shares and, after `n` random numbers, its words."""
    probs = softmax(LOGITS / temperature)
    kept = kept_tokens(probs, top_k, top_p)
    shares = np.zeros(10)
    shares[kept] = probs[kept] / probs[kept].sum()
    strip = page.evaluate(
        """() => { const whole = document.querySelector(".live-strip").clientWidth;
            return [...document.querySelectorAll(".live-part:not([hidden])")]
              .map((part) => [part.textContent, part.getBoundingClientRect().width / whole]); }"""
    )
    assert [word for word, _ in strip] == [WORDS[i] for i in kept]
    assert np.allclose([width for _, width in strip], shares[kept], atol=0.003)
    if n == 1 and not (top_k or top_p) and temperature == 1:
        assert drawn(page) == drawn_by_toytf(1)[0]
    settings = {"temperature": temperature, "top_k": top_k, "top_p": top_p}
    counts = Counter(drawn_by_toytf(n, **settings)) if n else {}
    table = page.evaluate(
        """() => [...document.querySelectorAll(".live-chances tbody tr")]
            .map((row) => [...row.cells].map((cell) => cell.textContent).filter((text) => text))"""
    )
    with_count = bool(page.locator(".live-on").count())
    assert [row if with_count else row[:4] for row in table] == [
        [word, fmt(softmax(LOGITS)[i]), fmt(probs[i]), fmt(shares[i]) if i in kept else "cut"]
        + [str(counts.get(word, 0))] * with_count
        for i, word in enumerate(WORDS)
    ]


def press(page):
    button(page, "draw 100").press("Enter")
    words = [drawn(page)]
    for _ in range(11):
        button(page, "next random number").press("Enter")
        words.append(drawn(page))
    assert words == drawn_by_toytf(111)[99:]


def tap(page):
    box = page.locator(".live-strip").bounding_box()
    page.touchscreen.tap(box["x"] + 0.05 * box["width"], box["y"] + 10)
    assert drawn(page) == WORDS[int(LOGITS.argmax())]
    button(page, "count anew").tap()
    button(page, "draw 100").tap()


CASE = Case(
    SAMPLING,
    shows,
    links={
        "temperature=2&topk=5&topp=0.9&u=0.25&draws=30": {"n": 30, "temperature": 2, "top_k": 5, "top_p": 0.9},
        "temperature=0.5&draws=201": {"n": 201, "temperature": 0.5},
        "temperature=4&topk=3&draws=200": {"n": 200, "temperature": 4, "top_k": 3},
        "temperature=0.1&topp=0.5&draws=100": {"n": 100, "temperature": 0.1, "top_p": 0.5},
        "temperature=10&topk=1": {"temperature": 10, "top_k": 1},
        "temperature=3&topp=0.9&draws=500": {"n": 500, "temperature": 3, "top_p": 0.9},
    },
    keys=(press, {"n": 111}, f"u={NUMBERS[110]:.12g}&draws=111"),
    finger=(tap, {"n": 100}),
    wrong_links={"draws=1000&topk=2": ("draws: expected a whole number from 0 to 500, got “1000”", {"top_k": 2})},
    wrong_numbers={
        ("temperature", "0"): "temperature: expected a number from 0.1 to 10, got 0",
        ("topk", "2.5"): "top-k: expected a whole number from 1 to 10, got 2.5",
        ("topp", "0"): "top-p: expected a number from 0.01 to 1, got 0",
        ("u", "x"): "random number: expected a number from 0 to 1, got “x”",
    },
)


def test_a_place_on_the_strip_is_a_word(touch):
    page = touch(SAMPLING)
    box = page.locator(".live-strip").bounding_box()
    order = kept_tokens(softmax(LOGITS))
    ends = np.cumsum(softmax(LOGITS)[order])
    for place in (0.02, ends[0] + 0.02, ends[1] + 0.02):
        page.mouse.click(box["x"] + place * box["width"], box["y"] + 10)
        u = page.locator(".live").evaluate("it => it.state.u")
        k = int(np.searchsorted(ends, u, side="right"))
        assert abs(u - place) < 0.005 and drawn(page) == WORDS[order[k]]
        assert f"lies between {fmt(ends[k - 1] if k else 0.0)} and {fmt(ends[k])}" in said(page)
    page.mouse.move(box["x"] + 5, box["y"] + 10)  # not pressed: nothing moves
    assert drawn(page) == WORDS[order[2]]
    page.get_by_role("slider", name="random number").press("End")
    assert drawn(page) == WORDS[order[-1]]
