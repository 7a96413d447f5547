"""The beam to step through: each step keeps what toytf's beam search keeps, and the end is what it finds."""

import numpy as np
import pytest

from livecheck import Case, said, shown, type_number
from sitecheck import DESKTOP, PHONE
from toytf import live
from toytf.byhand import fmt
from toytf.generate import beam_search

STUDENT = {
    (): {"a": 0.6, "I": 0.4},
    ("a",): {"student": 0.5, "friend": 0.3, "cat": 0.2},
    ("I",): {"am": 0.9, "was": 0.1},
}
MUNDO = {
    (): {"hola": 0.9, "buenas": 0.1},
    ("hola",): {"<eos>": 0.45, "mundo": 0.55},
    ("hola", "mundo"): {"<eos>": 0.8, "hola": 0.2},
}
BEAM = live.beam(STUDENT, max_length=3)


class Model:
    """A tree as a model that notes which sentences it is asked about."""

    def __init__(self, tree):
        self.tree, self.asked = tree, []
        self.tokens = list(dict.fromkeys(["<sos>", "<eos>", *(w for following in tree.values() for w in following)]))
        self.ends = {"sos": 0, "eos": 1, "max_length": 3}

    def step(self, state, ids):
        longer = [(*words, self.tokens[i]) for words, i in zip(state, ids, strict=True)]
        self.asked.append([" ".join(words[1:]) for words in longer])
        rows = [[self.tree.get(s[1:], {"<eos>": 1.0}).get(word, 0.0) for word in self.tokens] for s in longer]
        with np.errstate(divide="ignore"):
            return np.log(rows), Sentences(longer)

    def beam(self, width, penalty=0.0):
        (best,) = beam_search(self.step, Sentences([()]), width=width, length_penalty=penalty, **self.ends)
        return best

    def words(self, hypothesis):
        return " ".join(self.tokens[i] for i in hypothesis.ids)


class Sentences(list):
    def take(self, rows):
        return Sentences([self[row] for row in rows])


def log_prob(tree, sentence):
    words = tuple(sentence.split())
    probs = [tree.get(words[:k], {"<eos>": 1.0}).get(word, 0.0) for k, word in enumerate(words)]
    with np.errstate(divide="ignore"):
        return np.log(probs).sum()


def table(page, which):
    """What a table says, row by row; nothing if it is not shown."""
    return shown(page, f"{which} >> visible=true", "th, td") if page.locator(f"{which}:visible").count() else []


def candidates(page):
    return [row for row in table(page, ".live-list:not(.live-found)") if row[-1][0] in "✓✗■"]


def node(page, words):
    return page.locator(f"[data-words='{words}'] > .live-node:visible")


def shows(page, width=2, penalty=0, step=1, tree=STUDENT):
    """What is kept at this step is what the search asks about in the next; at the end what each width finds."""
    found = [Model(tree).beam(w, penalty) for w in (1, 2, 3, 4)]
    expected = [[Model(tree).words(h), fmt(np.exp(h.log_prob)), fmt(h.score)] for h in found]
    if not page.locator(".live-on").count():
        assert [row[0] for row in shown(page, ".live-found")] == [words for words, _, _ in expected]
        return
    model = Model(tree)
    best = model.beam(width, penalty)
    asked = [[s for s in sentences if s] for sentences in model.asked[1:]]
    assert page.locator(".live-at").inner_text().startswith(f"step {step} of ")
    if 1 <= step <= len(asked):
        kept = [words for words, _, _, fate in candidates(page) if fate == "✓ kept"]
        assert kept == [words for words in asked[step - 1] if np.isfinite(log_prob(tree, words))]
    for words, p, log, _ in candidates(page):
        assert (p, log) == (fmt(np.exp(log_prob(tree, words))), fmt(log_prob(tree, words)))
    ended = page.locator(".live-at").inner_text() == f"step {step} of {step}"
    assert [row[1:] for row in table(page, ".live-found")] == (expected if ended else [])
    if ended:
        assert f"“{model.words(best)}” is found, with probability {fmt(np.exp(best.log_prob))}" in said(page)


def press(page):
    page.get_by_role("button", name="on").press("Enter")
    page.keyboard.press("ArrowRight")
    for _ in range(5):
        page.keyboard.press("ArrowLeft")
    assert said(page).startswith("Step 0: nothing is written yet.") and not candidates(page)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")


def tap(page):
    page.locator("[data-setting=width] label", has_text="1").tap()
    page.get_by_role("button", name="on").tap()


LINKS = {
    f"width={width}&penalty={penalty}&step={step}": {"width": width, "penalty": penalty, "step": step}
    for width in (1, 2, 3, 4)
    for penalty, step in ((0, 1), (0, 2), (0.6, 3), (1.7, 3))
}
CASE = Case(
    BEAM,
    shows,
    links=LINKS,
    keys=(press, {"step": 2}, "step=2"),
    finger=(tap, {"width": 1, "step": 2}),
    wrong_links={
        "step=9": ("step: expected a whole number from 0 to 3, got “9”", {}),
        "width=5": ("width: expected one of 1, 2, 3, 4, got “5”", {}),
    },
)


def test_each_step_says_what_becomes_of_each_sentence(touch):
    page = touch(BEAM)
    assert said(page) == "Step 1: 2 candidates from 1 sentence. There is room for 2: nothing is thrown away."
    page.get_by_role("button", name="on").click()
    assert [(name, fate) for name, _, _, fate in candidates(page)] == [
        ("I am", "✓ kept"),
        ("a student", "✓ kept"),
        ("a friend", "✗ thrown away"),
        ("a cat", "✗ thrown away"),
        ("I was", "✗ thrown away"),
    ]
    assert "live-dropped" in node(page, "a cat").get_attribute("class")
    assert "live-unseen" in node(page, "a cat <eos>").get_attribute("class")
    page.get_by_role("button", name="on").press("Enter")
    assert said(page).endswith(
        "“I am <eos>” is found, with probability 0.3600. Greedy finds “a student <eos>”, with 0.3000."
    )
    page.locator("[data-setting=width] label", has_text="1").click()
    assert said(page).endswith("“a student <eos>” is found, with probability 0.3000. With width 1 this is greedy.")
    page.locator("[data-setting=width] label", has_text="2").click()
    assert [node(page, w).inner_text()[-1] for w in ("I", "I am", "I am <eos>", "a student <eos>")] == list("★★★■")


def test_the_length_penalty_changes_the_winner(touch):
    page = touch(live.beam(MUNDO, max_length=3))
    page.get_by_role("button", name="on").press("Enter")
    page.keyboard.press("ArrowRight")
    shows(page, step=3, tree=MUNDO)
    type_number(page, "penalty", "0.6")
    assert "“hola mundo <eos>” is found, with probability 0.3960 and score -0.7795 (α = 0.6)." in said(page)
    shows(page, penalty=0.6, step=3, tree=MUNDO)


def test_it_stops_where_no_other_can_overtake(touch):
    page = touch(live.beam({(): {"<eos>": 0.6, "a": 0.4}}, max_length=3))
    assert "No other can overtake it: a sum only falls. The search stops. “<eos>” is found" in said(page)


@pytest.mark.parametrize("width", [360, PHONE, 600, DESKTOP])
def test_the_whole_tree_is_in_view_at_every_width(touch, width):
    words = ["mi", "perro", "quieren", "mis", "vacas"]
    long = live.beam({tuple(words[:k]): {word: 1.0} for k, word in enumerate(words)}, max_length=6)
    tree = touch(long, width=width).locator(".live-tree")
    assert tree.evaluate("it => it.scrollWidth <= it.clientWidth")
    ends = tree.locator(".live-node").evaluate_all("all => all.map((one) => one.getBoundingClientRect().right)")
    assert max(ends) <= width
