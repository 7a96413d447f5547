"""The beam to step through: each step keeps what toytf's beam search keeps, and the end is what it finds."""

import numpy as np
import pytest

from livecheck import FINGER, page_problems, type_number
from toytf import live
from toytf.byhand import fmt
from toytf.generate import beam_search, greedy

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
BEAM = live.beam({"student": STUDENT, "mundo": MUNDO}, max_length=3)


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

    def greedy(self):
        return greedy(self.step, Sentences([()]), **self.ends)[0]

    def words(self, hypothesis):
        return " ".join(self.tokens[i] for i in hypothesis.ids)


class Sentences(list):
    def take(self, rows):
        return Sentences([self[row] for row in rows])


def table(page, which):
    """What a table says, row by row; nothing if it is not shown."""
    script = """(which) => [...document.querySelectorAll(which)].filter((t) => t.offsetParent).flatMap((t) => (
        [...t.tBodies[0].rows].map((row) => [...row.cells].map((c) => c.textContent.replace("−", "-")))))"""
    return page.evaluate(script, which)


FOUND = ".live-found"


def candidates(page):
    return [row for row in table(page, ".live-list") if row[-1][0] in "✓✗■"]


def aside(page):
    return [row for row in table(page, ".live-list:not(.live-found)") if row[-1][0] == "-" and len(row) == 4]


def node(page, words):
    return page.locator(f"[data-words='{words}'] > .live-node:visible")


def said(page):
    return page.locator(".live-said").inner_text()


def button(page, name):
    return page.get_by_role("button", name=name)


def test_it_begins_after_the_first_step(touch):
    page = touch(BEAM)
    assert candidates(page) == [["a", "0.6000", "-0.5108", "✓ kept"], ["I", "0.4000", "-0.9163", "✓ kept"]]
    assert said(page) == "Step 1: 2 candidates from 1 sentence. There is room for 2: nothing is thrown away."
    assert not table(page, FOUND) and not aside(page)


def test_the_second_step_keeps_the_two_best_of_all(touch):
    page = touch(BEAM)
    button(page, "on").click()
    assert [(name, p, fate) for name, p, _, fate in candidates(page)] == [
        ("I am", "0.3600", "✓ kept"),
        ("a student", "0.3000", "✓ kept"),
        ("a friend", "0.1800", "✗ thrown away"),
        ("a cat", "0.1200", "✗ thrown away"),
        ("I was", "0.0400", "✗ thrown away"),
    ]
    assert said(page) == "Step 2: 5 candidates from 2 sentences. The 2 best of them all stay; 3 thrown away."
    assert "live-dropped" in node(page, "a cat").get_attribute("class")
    assert "live-unseen" in node(page, "a cat <eos>").get_attribute("class")


def test_in_the_end_the_best_is_named_beside_greedys(touch):
    page = touch(BEAM)
    for _ in range(5):  # the last two do nothing
        button(page, "on").press("Enter")
    assert page.locator(".live-at").inner_text() == "step 3 of 3"
    assert said(page).endswith(
        "“I am <eos>” is found, with probability 0.3600. Greedy finds “a student <eos>”, with 0.3000."
    )
    assert [node(page, words).inner_text()[-1] for words in ("I", "I am", "I am <eos>", "a student <eos>")] == list(
        "★★★■"
    )
    assert aside(page)[0] == ["I am <eos>", "3", "-1.0217", "-1.0217"]


@pytest.mark.parametrize("penalty", [0, 0.6, 1.7])
@pytest.mark.parametrize("name, tree", {"student": STUDENT, "mundo": MUNDO}.items(), ids=["student", "mundo"])
def test_it_keeps_and_finds_what_toytf_does(touch, name, tree, penalty):
    page = touch(BEAM, fragment=f"#beam?tree={name}&penalty={penalty}&step=3")
    best = [Model(tree).beam(width, penalty) for width in (1, 2, 3, 4)]
    assert [row[1:] for row in table(page, FOUND)] == [
        [Model(tree).words(h), fmt(np.exp(h.log_prob)), fmt(h.score)] for h in best
    ]
    for width in (1, 2, 3, 4):
        page.goto(page.url.partition("#")[0] + f"#beam?tree={name}&penalty={penalty}&width={width}&step=3")
        model = Model(tree)
        h = model.beam(width, penalty)
        assert f"“{model.words(h)}” is found, with probability {fmt(np.exp(h.log_prob))}" in said(page)
        # what is kept at each step is what the search asks about in the next
        possible = [[s for s in asked if s] for asked in model.asked[1:]]
        for t, asked in enumerate(possible, 1):
            page.goto(page.url.partition("#")[0] + f"#beam?tree={name}&penalty={penalty}&width={width}&step={t}")
            kept = [words for words, _, _, fate in candidates(page) if fate == "✓ kept"]
            assert kept == [words for words in asked if np.isfinite(log_prob(tree, words))]
            for words, p, log, _ in candidates(page):
                assert (p, log) == (fmt(np.exp(log_prob(tree, words))), fmt(log_prob(tree, words)))


def log_prob(tree, sentence):
    words = tuple(sentence.split())
    probs = [tree.get(words[:k], {"<eos>": 1.0}).get(word, 0.0) for k, word in enumerate(words)]
    with np.errstate(divide="ignore"):
        return np.log(probs).sum()


def test_the_length_penalty_changes_the_winner(touch):
    page = touch(BEAM, fragment="#beam?tree=mundo&step=3")
    assert "“hola <eos>” is found" in said(page)
    type_number(page, "penalty", "0.6")
    assert "“hola mundo <eos>” is found, with probability 0.3960 and score −0.7795 (α = 0.6)." in said(page)
    assert [row[0] for row in aside(page)] == ["hola mundo <eos>", "hola <eos>"]
    h = Model(MUNDO).beam(2, 0.6)
    assert aside(page)[0][1:] == [str(len(h.ids)), fmt(h.log_prob), fmt(h.score)]


def test_keys_go_on_and_back(touch):
    page = touch(BEAM)
    button(page, "on").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator(".live-at").inner_text() == "step 2 of 3"
    page.keyboard.press("Enter")
    for _ in range(4):
        page.keyboard.press("ArrowLeft")
    assert page.locator(".live-at").inner_text() == "step 0 of 3"
    assert said(page).startswith("Step 0: nothing is written yet.")
    assert not candidates(page)
    assert button(page, "back").get_attribute("aria-disabled") == "true"


def test_a_finger_goes_on_and_chooses_the_width(touch):
    page = touch(BEAM, **FINGER)
    page.locator("[data-setting=width] label", has_text="1").tap()
    button(page, "on").tap()
    assert [fate for *_, fate in candidates(page)] == ["✓ kept", "✗ thrown away", "✗ thrown away"]
    assert said(page).endswith("The best stays; 2 thrown away.")


def test_a_link_carries_the_step(touch):
    page = touch(BEAM, fragment="#beam?tree=mundo&width=3&penalty=1&step=2")
    assert page.locator(".live-at").inner_text() == "step 2 of 3"
    button(page, "on").click()
    page.wait_for_function("location.hash == '#beam?tree=mundo&width=3&penalty=1&step=3'")
    button(page, "Reset").click()
    assert page.locator(".live-at").inner_text() == "step 1 of 3"
    assert candidates(page)[0][0] == "a"


@pytest.mark.parametrize("text, word", {"step=9": "step: expected a whole number from 0 to 3, got “9”",
                                        "width=5": "width: expected one of 1, 2, 3, 4, got “5”"}.items())  # fmt: skip
def test_a_wrong_link_is_said(touch, text, word):
    page = touch(BEAM, fragment=f"#beam?{text}")
    assert word in page.locator(":scope .live > .live-complaint").inner_text()
    assert page.locator(".live-at").inner_text() == "step 1 of 3"


def test_what_is_no_penalty_is_said(touch):
    page = touch(BEAM)
    type_number(page, "penalty", "-1")
    assert (
        "expected a number from 0 to 2, got −1" in page.locator("[data-setting=penalty] .live-complaint").inner_text()
    )


def test_without_a_script_the_tree_and_what_is_found_stand(touch):
    page = touch(BEAM, java_script_enabled=False)
    first = page.locator(".live-found").first.locator("tbody tr").nth(1)
    assert first.inner_text().split("\t") == ["2", "I am <eos>", "0.3600", "−1.0217"]
    assert node(page, "a student").inner_text().split() == ["student", "0.3"]
    assert not page.locator("button").count()


def test_one_tree_needs_no_choice_and_may_begin_at_its_end(touch):
    page = touch(live.beam({"mundo": MUNDO}, max_length=4, step=4))
    assert not page.locator("[data-setting=tree]").count()
    assert "“hola <eos>” is found" in said(page)
    assert "No other can overtake it: a sum only falls. The search stops." in said(page)
    with pytest.raises(ValueError, match="step: expected at most max_length = 3, got 4"):
        live.beam({"mundo": MUNDO}, max_length=3, step=4)


NO_TREES = {
    "none": ({}, "trees: expected at least one tree"),
    "no beginning": ({"t": {("a",): {"b": 1.0}}}, "expected what follows no words under"),
    "a branch in the air": ({"t": {(): {"a": 1.0}, ("b",): {"c": 1.0}}}, "is never reached"),
    "a sum of 0.9": ({"t": {(): {"a": 0.5, "b": 0.4}}}, "expected probabilities that add up to 1, got 0.9"),
    "a probability of 0": ({"t": {(): {"a": 1.0, "b": 0.0}}}, "expected a probability above 0"),
    "after the end": ({"t": {(): {"<eos>": 1.0}, ("<eos>",): {"b": 1.0}}}, "goes on after"),
}


@pytest.mark.parametrize("trees, word", NO_TREES.values(), ids=NO_TREES)
def test_what_is_no_tree_is_refused(trees, word):
    with pytest.raises(ValueError, match=word):
        live.beam(trees, max_length=3)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_page_and_axe_finds_nothing(touch, width, dark):
    page = touch(BEAM, width=width, dark=dark)
    assert not page_problems(page)
    for fragment in ("step=3", "tree=mundo&step=3&penalty=0.6&width=4", "step=0&width=what"):
        page.goto(page.url.partition("#")[0] + f"#beam?{fragment}")
        assert not page_problems(page)
