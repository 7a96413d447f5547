"""The translator learns in the page: what stands there is NumPy's, digit by digit, and whose run it is is said."""

import re
from copy import deepcopy

import numpy as np
import pytest

from livecheck import Case, button, said, shown
from toytf import live
from toytf.byhand import fmt
from toytf.corpus import to_batch
from toytf.grammar import corpus
from toytf.live.training import SENTENCES
from toytf.live.translator import written
from toytf.ops import cross_entropy
from toytf.translator import Translator, forward


def chapter(steps):
    """As chapter 16 trains."""
    rng = np.random.default_rng(0)
    train, held_out = corpus(rng)
    before, translator = deepcopy(rng), Translator.new(rng)
    records, copies = [], {0: deepcopy(translator)}
    for record in translator.learn(train, rng, steps=steps, progress=False):
        records.append(record)
        if record.step % 5 == 0:
            copies[record.step] = deepcopy(translator)
    return before, train, held_out, records, copies


STEPS = 40
SHORT = chapter(STEPS)
TRAINING = live.training(*SHORT)


def losses(run, step):
    """The loss of a step's batch and of the hundred sentences, as they are written."""
    _, _, held_out, records, copies = run
    translator = copies[step]
    b = to_batch(held_out[:100], translator.src_vocab, translator.tgt_vocab)
    logits, _ = forward(translator.params, translator.cfg, b.src, b.tgt, b.src_is_token, b.tgt_is_token)
    unseen = fmt(cross_entropy(logits, b.goal, b.tgt_is_token)[0])
    return ([fmt(records[step - 1].loss)] if step else []) + [unseen]


def answers(run, step):
    """Each answer as the page has it, as far as it is shown; the weights of both heads."""
    lines, weights = [], []
    for english, spanish in SENTENCES:
        words, _, heads = written(run[-1][step], english.split())
        own, right = [word for word in words if word != "(end)"], spanish.split()
        rest = " …" if len(own) > len(right) + 1 else "" if own else "(nothing)"
        lines.append([english + " ✓" * (own == right), " ".join(own[: len(right) + 1]) + rest])
        weights.append((words, heads))
    return lines, weights


def weight_rows(answer, english, head):
    words, heads = answer
    weights = heads.mean(axis=0) if head == "both" else heads[int(head) - 1]
    return [[fmt(x, 2) for x in row] for row in weights[: len(english.split()) + 2]], words[: len(english.split()) + 2]


def lines(page):
    script = "all => all.map((line) => [...line.querySelectorAll('[lang]')].map((part) => part.textContent))"
    return page.locator(".train-answers li").evaluate_all(script)


def shows_step(page, run, step, sentence=2, head="both"):
    expected, weights = answers(run, step)
    assert lines(page) == expected, step
    english = SENTENCES[sentence - 1][0]
    rows, words = weight_rows(weights[sentence - 1], english, head)
    assert shown(page, ".live-map") == rows, step
    assert [row[0] for row in shown(page, ".live-map", "th")] == words
    told = page.locator(".train-curve > svg").get_attribute("aria-label")
    assert f"loss at step {step}:" in told
    assert re.findall(r"\d\.\d{4}", told)[:-1] == losses(run, step), step


def shows(page, rate="0.01", pairs="3200", dropout=False, sentence=2, head="both"):
    """Nothing is learned before one asks for it; without a script the run's end stands there."""
    script = page.locator(".live-on").count()
    shows_step(page, SHORT, 0 if script else STEPS, sentence, head)
    if script:
        for name, value in (("rate", rate), ("pairs", pairs), ("head", head)):
            assert page.locator(f"[data-setting={name}] :checked").input_value() == value
        assert page.get_by_role("switch").is_checked() == dropout
        assert page.locator(".train-answers [aria-pressed=true]").inner_text().startswith(SENTENCES[sentence - 1][0])
        assert "Nothing is learned yet: with random numbers" in said(page)
        turned = (rate, pairs, dropout) != ("0.01", "3200", False)
        assert ("The knobs ask for another run" in said(page)) is turned


def press(page):
    page.get_by_role("radio", name="0.01", exact=True).press("ArrowRight")
    page.get_by_role("switch").press("Space")
    page.locator(".train-answers button").nth(3).press("Enter")


def tap(page):
    page.locator("[data-setting=pairs] label", has_text="50").first.tap()
    page.locator(".train-answers button").first.tap()


CASE = Case(
    TRAINING,
    shows,
    links={
        "pairs=50": {"pairs": "50"},
        "rate=1.0&dropout=on": {"rate": "1.0", "dropout": True},
        "sentence=5&head=2": {"sentence": 5, "head": "2"},
        "sentence=1&head=1": {"sentence": 1, "head": "1"},
    },
    keys=(press, {"rate": "0.03", "dropout": True, "sentence": 4}, "rate=0.03&dropout=on&sentence=4"),
    finger=(tap, {"pairs": "50", "sentence": 1}),
    wrong_links={
        "rate=2": ("largest learning rate: expected one of 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, got “2”", {}),
        "pairs=50&sentence=6": ("sentence: expected a whole number from 1 to 5, got “6”", {"pairs": "50"}),
    },
    drawn={"": None},  # the curve's end is compared when it has learned, below
)


# ---------------------------------------------------------------- learning

ELEMENT = "document.querySelector('toytf-training')"
OWN = "These are the numbers of the chapter."


def train(page):
    button(page, "Train").click()
    page.wait_for_function(f"{ELEMENT}.over")


def test_the_sentences_are_right_and_only_the_first_is_among_the_courses_pairs():
    seen = {" ".join(pair.src) for pair in SHORT[1]}
    assert [english in seen for english, _ in SENTENCES] == [True, False, False, False, False]
    assert Translator.load().translate([english for english, _ in SENTENCES]) == [spanish for _, spanish in SENTENCES]


def look_back(page, step):
    page.get_by_role("slider", name="look back").evaluate(
        "(slider, at) => { slider.value = at; slider.dispatchEvent(new Event('input')) }", step // 5
    )


ALL = """() => [...document.querySelectorAll(".train-back input")].flatMap((slider) =>
    Array.from({ length: Number(slider.max) + 1 }, (_, at) => {
        slider.value = at;
        slider.dispatchEvent(new Event("input"));
        const texts = (of) => [...document.querySelectorAll(of)].map((part) => part.textContent);
        return [texts(".live-said")[0], texts(".train-answers [lang=es]"), texts(".live-map td").slice(1)];
    }))"""


def test_every_digit_of_the_chapters_run_is_the_chapters(touch):
    """500 steps in a worker, then looked back over: losses, answers, and where they look, at every report."""
    run = chapter(500)
    page = touch(live.training(*run))
    train(page)
    reports = page.evaluate(ALL)
    assert len(reports) == 101
    for step, (told, spanish, shares) in zip(range(0, 501, 5), reports, strict=True):
        assert re.findall(r"\d\.\d{4}", told) == losses(run, step)
        assert told.endswith(OWN)
        if step % 25 == 0:
            expected, weights = answers(run, step)
            rows, _ = weight_rows(weights[1], SENTENCES[1][0], "both")
            assert spanish == [words for _, words in expected]
            assert shares == [share for row in rows for share in row], step
    shows_step(page, run, 500)


# The curve as Python wrote it
DRAWN = """html => new DOMParser().parseFromString(html, "text/html").querySelector(".train-curve > svg").innerHTML"""
NO_WORKER = {
    "none to be had": "delete window.Worker",
    "one that is refused": "window.Worker = class { constructor() { throw new Error('refused') } }",
    "one that fails later": """window.Worker = class extends EventTarget {
        constructor() { super(); setTimeout(() => this.dispatchEvent(new Event("error")), 50) }
        postMessage() {}
    }""",
}


@pytest.mark.parametrize("script", NO_WORKER.values(), ids=NO_WORKER)
def test_without_a_worker_the_page_learns_the_same(touch, script):
    page = touch(TRAINING)
    page.evaluate(f"() => {{ {script} }}")
    train(page)
    shows_step(page, SHORT, STEPS)
    assert page.locator(".train-curve > svg").inner_html() == page.evaluate(DRAWN, TRAINING.html())
    assert said(page).endswith(OWN)


def test_stop_go_on_and_reset(touch):
    page = touch(TRAINING)
    assert button(page, "Train anew").is_disabled()
    button(page, "Train").click()
    page.wait_for_function(f"{ELEMENT}.reports.length > 2")
    button(page, "Stop").click()
    reached = page.evaluate(f"{ELEMENT}.reports.length")
    page.wait_for_timeout(200)  # more than ten steps
    assert page.evaluate(f"{ELEMENT}.reports.length") <= reached + 1  # one may have been on its way
    look_back(page, 0)
    assert "with random numbers" in said(page)
    button(page, "Go on").click()
    page.wait_for_function(f"{ELEMENT}.over")
    assert "with random numbers" in said(page)  # who looks back goes on looking there
    look_back(page, STEPS)
    shows_step(page, SHORT, STEPS)
    button(page, "Reset").click()
    shows(page)


def test_other_settings_are_another_run_and_said_to_be_none_of_the_chapters(touch):
    page = touch(TRAINING, fragment="#training?pairs=10")
    train(page)
    assert said(page).endswith("This run has 10 pairs, the rate 0.01.")
    seen, unseen = map(float, re.findall(r"\d\.\d{4}", said(page)))
    assert unseen > seen + 0.5  # known by heart
    page.get_by_role("radio", name="3,200").check()
    assert said(page).endswith("This run has 10 pairs, the rate 0.01. The knobs ask for another run: press Train.")
    train(page)
    assert said(page).endswith(OWN)
    shows_step(page, SHORT, STEPS)


def test_a_run_with_other_digits_is_not_called_the_chapters(touch):
    page = touch(TRAINING)
    page.evaluate("toytf.learning = toytf.learning.replace('eps: 1e-9', 'eps: 1e-6')")
    train(page)
    assert said(page).endswith("the last digits those of your browser.")


def test_who_listens_hears_few_sentences_of_a_run(touch):
    """Not one for each of its pictures."""
    page = touch(TRAINING, reduced_motion="no-preference")
    page.evaluate(f"""() => {{
        window.spoken = [];
        const watch = new MutationObserver(() => spoken.push({ELEMENT}.spoken.textContent));
        watch.observe({ELEMENT}.spoken, {{ childList: true }});
    }}""")
    train(page)
    assert [words.split(":")[0] for words in page.evaluate("spoken")] == [f"Step {n} of {STEPS}" for n in (0, STEPS)]
