"""The machine: whatever number of the small Transformer is changed, each panel shows what toytf computes with it."""

import copy
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from livecheck import PHONE, Case, button, follow, open_all, said, shown, type_number
from toytf import live
from toytf.attention import causal_mask
from toytf.corpus import SOS
from toytf.course import journey, pronoun
from toytf.example import POSITIONS_PRINTED, PUBLISHED
from toytf.live.machine import matrices
from toytf.model import decoder_layer, encoder_layer
from toytf.ops import LayerNorm, layer_norm, linear, softmax
from toytf.positions import sinusoids, sinusoids_column_as_i
from toytf.translator import Translator

TARGET = ("SOS", "hola", "mundo")
GIVEN = {"source": journey.source, "target": TARGET, "words": journey.words, "published": POSITIONS_PRINTED}
MACHINE = live.machine(journey.params, journey.cfg, **GIVEN)
HEAD = live.machine(journey.params, journey.cfg, **GIVEN, positions="published", until="attention", id="head")
_words, _x = pronoun.sentence("tired")
ROWS = (_x + sum(pronoun.attend(_x, head)[0] for head in (pronoun.DESCRIBES, pronoun.COULD_BE))).round(4)
RULES = live.rules(ROWS, pronoun.rules(), words=_words, features=pronoun.FEATURES)
IDS = [journey.vocabulary.id(word) for word in TARGET]
CELLS = {
    f"{name}.{'.'.join(map(str, at))}": value
    for name, array in matrices(journey.params, journey.cfg).items()
    for at, value in np.ndenumerate(array)
    if name != "tgt" or at[0] in IDS
}

TRANSLATOR = Translator.load()
SENTENCE = "hello red world"
TRAINED = live.trained_machine(SENTENCE)

# ---------------------------------------------------------------- what toytf computes


def with_cells(model, cells):
    """A model's parameters with some cells changed, and all their arrays by their names."""
    params = copy.deepcopy(model.params)
    arrays = matrices(params, model.cfg)
    for name, value in cells.items():
        matrix, *at = re.fullmatch(r"(.*?)((?:\.\d+)+)", name).groups()
        arrays[matrix][tuple(int(n) for n in at[0][1:].split("."))] = value
    return params, arrays


def sublayer(trace, norm, residual, divisor):
    """The steps of a sub-layer, from what `toytf.model.add_and_norm` left behind."""
    inner = trace.inner
    found = {"N": inner.x} if norm == "pre" else {}
    found |= {"T": trace.total} if residual else {}
    found |= {"U": trace.out} if norm == "post" else {}
    if not hasattr(inner, "attention"):
        return found | {"before": inner.before, "hidden": inner.hidden, "F": trace.inner_out}
    a = inner.attention
    width = a.q.shape[-1] ** 0.5
    for h in (0, 1):
        q = a.q[h] * divisor / width if divisor else a.q[h]  # the queries were scaled for the divisor
        head = {"Q": q, "K": a.k[h], "V": a.v[h], "S": q @ a.k[h].T, "scaled": q @ a.k[h].T / (divisor or width)}
        head |= {"A": a.attn_weights[h], "head": a.attn_weights[h] @ a.v[h]}
        if a.mask is not None and len(q) > 1:
            head["masked"] = np.where(a.mask.reshape(len(q), -1), head["scaled"], -np.inf)
        found |= {f"{name}{h + 1}": array for name, array in head.items()}
    return found | {"heads": inner.heads, "Z": trace.inner_out}


def reads(sentence):
    """The model that reads a sentence, the journey's if there is none, and the ids of all words on both sides."""
    if sentence is None:
        return journey, [0, 1], IDS
    source = sentence.split()
    (written,) = TRANSLATOR.write([source])
    return TRANSLATOR, TRANSLATOR.src_vocab.ids(source), [TRANSLATOR.tgt_vocab.id(SOS), *written.ids[:-1]]


def computed(
    cells=None, *, sentence=None, positions="paper", divisor=None, residual=True, norm="post", mask=True, target=1
):
    """Every step with some cells changed, by the key of its panel: what the layers of `toytf` leave behind."""
    model, source, ids = reads(sentence)
    params, arrays = with_cells(model, cells or {})
    cfg, enc, dec = replace(model.cfg, norm=norm, residual=residual), params.encoder[0], params.decoder[0]
    published = np.vstack([POSITIONS_PRINTED, sinusoids_column_as_i(3, 4)[2:]])
    table = {"paper": sinusoids(8, cfg.d_model), "published": published, "none": None}[positions]
    found = {}

    def rows(side, e):
        found[f"{side}.E"] = e
        if cfg.scale_embeddings:
            e = found[f"{side}.root"] = e * np.sqrt(cfg.d_model)
        if table is not None:
            found[f"{side}.PE"], found[f"{side}.X"] = table[: len(e)], e + table[: len(e)]
        return e if table is None else found[f"{side}.X"]

    def last(side, x, **parts):
        for part, trace in parts.items():
            steps = sublayer(trace, norm, residual, divisor)
            found.update({f"{side}.{part}.{name}": array for name, array in steps.items()})
        if norm == "pre":
            gains = LayerNorm(arrays[f"{side}.gamma"], arrays[f"{side}.beta"])
            x = found[f"{side}.last"] = layer_norm(gains, x, cfg.eps)[0]
        return x

    for attention in (enc.self_attention, dec.self_attention, dec.cross_attention):
        attention.w_q *= cfg.head_width**0.5 / divisor if divisor else 1
    x, layer = encoder_layer(enc, cfg, rows("enc", params.src_embedding[source]))
    memory = last("enc", x, att=layer.self_attention, ff=layer.feed_forward)
    seen = causal_mask(target) if mask else None
    y, layer = decoder_layer(dec, cfg, rows("dec", params.tgt_embedding[ids[:target]]), memory, seen)
    y = last("dec", y, att=layer.self_attention, cross=layer.cross_attention, ff=layer.feed_forward)
    logits = linear(params.output, y)
    return found | {"out.scores": y @ params.output.weight, "out.logits": logits, "out.p": softmax(logits)}


# ---------------------------------------------------------------- what the page shows


def panels(page):
    """The numbers of every panel that is to be seen, by its step."""
    return page.evaluate(
        """() => Object.fromEntries([...document.querySelectorAll("[data-step]")].filter((node) => !node.hidden)
            .map((node) => [node.dataset.step, [...node.querySelectorAll(".byhand-result tbody tr")]
                .map((row) => [...row.querySelectorAll("td")].map((td) => td.textContent))]))"""
    )


def differences(page, expected):
    """Panels whose numbers are not those of toytf, to the last digit shown; and all panels are there and no other."""
    seen = panels(page)
    assert seen.keys() == expected.keys()
    return [key for key, array in expected.items() if not close(seen[key], array)]


def close(shown, array):
    """Four decimals, or four digits of a power of ten."""
    digits = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻−", "0123456789--")
    plain = [[word.replace(" × 10", "e").translate(digits).replace("∞", "inf") for word in row] for row in shown]
    numbers = np.array(
        [[1 - float(word[4:]) if word.startswith("1 - ") else word for word in row] for row in plain], float
    )
    with np.errstate(invalid="ignore"):
        away = np.abs(numbers - array)
    powers = np.array([["×" in word for word in row] for row in shown])
    return bool(np.all((numbers == array) | (away <= np.where(powers, 5.01e-4 * np.abs(array), 5.01e-5))))


def edit(page, name, text, key="Enter"):
    page.locator(f'[data-cell="{name}"]').click()
    page.locator(".live-cell").fill(text)
    page.locator(".live-cell").press(key)


def shows(page, cells=None, **switches):
    """Every panel; without a script those of the parts that are seen are the last one's."""
    if page.locator(".live-on").count():
        open_all(page)
        assert not differences(page, computed(cells, **switches))
    else:
        rows = page.locator('[data-step="out.p"] .byhand-result tbody td').all_text_contents()
        assert [float(word) for word in rows] == [round(x, 4) for x in computed(cells, **switches)["out.p"][0]]


def press(page):
    """A cell is changed by keys alone, and the switches."""
    page.locator(".byhand-part summary").nth(1).press("Enter")
    page.locator('[data-cell="enc.w_q.0.0"]').focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    label = "document.activeElement.getAttribute('aria-label')"
    assert page.evaluate(label) == "Encoder, W_Q of head 1, row 2, column 2: 1"
    page.keyboard.type("2.5")
    page.keyboard.press("Enter")
    assert page.evaluate(label).endswith("row 2, column 2: 2.5")
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowUp")
    assert page.locator(".live-cell").input_value() == "2.6"
    page.keyboard.press("Escape")
    page.get_by_role("radio", name="before").press("Space")
    page.get_by_role("switch", name="residual").press("Space")
    page.get_by_role("switch", name="mask").press("Space")


def tap(page):
    page.locator('[data-cell="src.0.1"]').tap()
    button(page, "other sign").tap()
    button(page, "0.1 more").tap()
    page.locator("h1").tap()
    page.get_by_text("SOS hola mundo").tap()


def link(cells, switches):
    """The address that says so."""
    words = {True: "on", False: "off"}
    told = {name: words[value] if isinstance(value, bool) else value for name, value in switches.items()}
    return "&".join(f"{name}={value}" for name, value in (told | cells).items())


SWITCHES = [
    {"divisor": 30.0, "positions": "published", "target": 3},
    {"residual": False, "target": 3},
    {"norm": "none", "positions": "none", "target": 2},
    {"norm": "pre", "target": 3, "mask": False},
    {"norm": "pre", "residual": False, "divisor": 0.5, "target": 2},
    {},
]


def some_cells(seed):
    rng = np.random.default_rng(seed)
    names = rng.choice(sorted(CELLS), size=25, replace=False).tolist()
    return {name: float(np.round(CELLS[name] + rng.normal(), 3)) for name in names}


CHANGED = [(some_cells(seed), switches) for seed, switches in enumerate(SWITCHES)]
CASE = Case(
    MACHINE,
    shows,
    links={link(cells, switches): {"cells": cells, **switches} for cells, switches in CHANGED},
    keys=(
        press,
        {"cells": {"enc.w_q.1.1": 2.6}, "norm": "pre", "residual": False, "mask": False},
        "residual=off&norm=pre&mask=off&enc.w_q.1.1=2.6",
    ),
    finger=(tap, {"cells": {"src.0.1": -1.9}, "target": 3}),
    wrong_links={
        "enc.w_q.9.1=2&divisor=30": ("enc.w_q.9.1: expected one of target, positions, divisor", {"divisor": 30}),
        "enc.w_q.0.1=x": ("expected a number, got “x”", {}),
    },
)


# ---------------------------------------------------------------- the trained translator


def shows_trained(page, cells=None, **state):
    """Every panel; without a script the bars."""
    state = {"sentence": SENTENCE} | state
    if page.locator(".live-on").count():
        assert page.locator(".live-bars tbody tr").first.get_attribute("class") == "live-lit"  # the most probable
        return shows(page, cells, **state)
    p = computed(cells, **state)["out.p"][-1]
    assert shown(page, ".live-bars", ".live-bar + td")[0] == [f"{p.max():.4f}"]
    return None


def press_trained(page):
    """Another sentence is typed, the decoder reads on, and a number of the last bias is changed: by keys alone."""
    page.get_by_role("textbox", name="An English sentence").focus()
    page.keyboard.press("Control+a")
    page.keyboard.type("the cat wants a hat")
    page.get_by_role("radio", name="(start)", exact=True).press("ArrowRight")
    page.locator(".byhand-part summary").last.press("Enter")
    page.locator('[data-cell="out.b.0"]').focus()
    for key in ("ArrowDown", "ArrowDown", "Enter"):  # turned: a line is a column
        page.keyboard.press(key)
    page.keyboard.type("10")
    page.keyboard.press("Enter")


def tap_trained(page):
    page.get_by_role("textbox", name="An English sentence").fill("hello world")
    page.get_by_text("(start) hola mundo", exact=True).tap()
    page.locator('[data-cell="src.31.15"]').tap()
    button(page, "0.1 more").tap()
    page.locator("h1").tap()


LONG = "the small queens see a red house"
MORE = float(f"{TRANSLATOR.params.src_embedding[31, 15] + 0.1:.12g}")  # of "hello"
SOME = {"src.3.0": 0.5, "enc.w_q.15.15": -1.25, "dec.w_2.31.3": 2.0, "cross.w_o.0.0": 1.0, "out.w.7.79": 0.125}
TRAINED_CASE = Case(
    TRAINED,
    shows_trained,
    links={
        "sentence=the+small+queens+see+a+red+house&target=5&" + link(SOME, {}): {
            "cells": SOME, "sentence": LONG, "target": 5,
        },
        "positions=none&residual=off&norm=pre": {"positions": "none", "residual": False, "norm": "pre"},
    },
    keys=(
        press_trained,
        {"cells": {"out.b.2": 10.0}, "sentence": "the cat wants a hat", "target": 2},
        "sentence=the+cat+wants+a+hat&target=2&out.b.2=10",
    ),
    finger=(tap_trained, {"cells": {"src.31.15": MORE}, "sentence": "hello world", "target": 3}),
    wrong_links={"norm=off&sentence=hello+world": ("expected one of post, pre, none", {"sentence": "hello world"})},
)  # fmt: skip


def test_a_sentence_that_it_cannot_read_is_refused():
    for sentence, complaint in (("", "from 1 to 7 words, got 0"), (f"{LONG} again", "got 8")):
        with pytest.raises(ValueError, match=complaint):
            live.trained_machine(sentence)
    with pytest.raises(KeyError, match="goodbye"):
        live.trained_machine("goodbye world")


def test_wide_matrices_stay_readable_on_a_phone(touch):
    """A row is a line, or a column beside the columns' names; no number is cut or lies over another."""
    page = touch(TRAINED, width=PHONE, fragment=f"#trained?sentence={LONG.replace(' ', '+')}&target=5")
    open_all(page)
    assert not page.evaluate(
        """() => [...document.querySelectorAll(".byhand:not([hidden]) table.byhand-matrix")].flatMap((table) => {
            const boxes = (row, kind) => [...row.querySelectorAll(kind)].map((cell) => cell.getBoundingClientRect());
            const names = table.tHead ? boxes(table.tHead, "th") : [];
            const near = (a, b) => Math.abs(a - b) < 2;
            const fine = [...table.tBodies[0].rows].every((row) => {
                const cells = boxes(row, "td");
                const line = cells.every((a, j) => near(a.top, cells[0].top) && !(cells[j + 1]?.left < a.right - 1));
                const turned = cells.every((a, j) => near(a.left, cells[0].left) &&
                    (!names.length || near(names[j].bottom, a.bottom)) && !(cells[j + 1]?.top < a.bottom - 1));
                return (line || turned) && [...row.cells].every((td) => td.scrollWidth <= td.clientWidth + 1);
            });
            return fine ? [] : [table.closest(".byhand").dataset.step];
        })"""
    )


def steps_of(line):
    """The numbers of each step of a sum: what stands between "=" and "≈", evaluated."""
    text = re.sub(r'<b>.*?</b>|<span class="live-was">.*?</span>', "", line)
    text = re.sub(r" × 10<sup>−(\d+)</sup>", r"e-\1", text)
    text = re.sub(r"e<sup>(.*?)</sup>", r"exp(\1)", text)
    text = re.sub(r"√([\d.]+)", r"sqrt(\1)", text).replace("√", "sqrt")
    text = re.sub(r"\[(.*?)\]", lambda row: f"array([{row[1].replace('&ensp;', ',')}])", text)
    text = text.replace("−", "-").replace("·", "*").replace("∞", "inf")
    names = {"exp": np.exp, "sqrt": np.sqrt, "array": np.array, "inf": np.inf, "max": max}
    return [eval(step, names) for step in re.split("[=≈]", text) if step.strip()]


NOWHERE_0_OR_1 = {
    name: round(float(x) * (-1) ** i, 3)
    for i, (name, x) in enumerate(zip(CELLS, np.random.default_rng(9).uniform(0.3, 0.9, len(CELLS)), strict=True))
}


@pytest.mark.parametrize(
    ("thing", "cells", "switches"),
    [
        (MACHINE, NOWHERE_0_OR_1, {"norm": "post", "target": 3, "divisor": 2.0}),
        (MACHINE, NOWHERE_0_OR_1, {"norm": "pre", "target": 3, "divisor": 2.0}),
        (TRAINED, {}, {"sentence": SENTENCE, "target": 3}),
    ],
    ids=["post", "pre", "trained"],
)
def test_every_sum_adds_up_to_its_number(touch, thing, cells, switches):
    """In each step of each sum of each panel."""
    page = touch(thing, fragment=f"#{thing.id}?{link(cells, switches)}")
    open_all(page)
    lines = page.evaluate(
        """() => Object.fromEntries([...document.querySelectorAll("[data-step]")].filter((node) => !node.hidden)
            .map((node) => [node.dataset.step, [...node.querySelectorAll(".byhand-result tbody tr")]
                .map((row, i) => [...row.querySelectorAll("td")].map((_, j) => node.toytfSum(i, j)))]))"""
    )
    expected = computed(cells, **switches)
    assert lines.keys() == expected.keys()
    for key, array in expected.items():
        for i, row in enumerate(lines[key]):
            for j, line in enumerate(row):
                value = array[i] if ".head" in key and key[-1] in "12" else array[i, j]
                for step in steps_of(line):
                    assert np.allclose(step, value, rtol=2e-3, atol=2e-3), (key, line)


def test_what_has_changed_is_marked_and_its_size_said(touch):
    page = touch(MACHINE)
    open_all(page)
    edit(page, "enc.w_q.0.1", "2.5")
    before, now = computed(), computed({"enc.w_q.0.1": 2.5})
    for key in ("enc.att.Q1", "enc.att.K1", "enc.att.S1", "enc.att.Q2", "out.p"):
        marks = page.locator(f'[data-step="{key}"] .byhand-result tbody td').evaluate_all(
            "tds => tds.map((td) => td.classList.contains('live-changed'))"
        )
        assert marks == (before[key] != now[key]).ravel().tolist(), key
    largest = max(np.abs(now[k] - before[k]).max() for k in before if k.startswith("enc.att.") and k[-1] == "1")
    assert page.locator(".live-size").nth(1).inner_text() == f"largest change ≈ {largest:.4f}"
    page.locator('[data-step="enc.att.Q1"] .byhand-result tbody td').nth(1).click()
    line = page.locator(".byhand-live").first.inner_text()
    assert "1·2.5 + 3·1 + 3·0 + 5·0" in line and "= 5.5 (was 3: +2.5)" in line
    assert page.locator(".live-list li").inner_text().startswith("Encoder, W_Q of head 1, row 1, column 2: 0 → 2.5")
    page.get_by_role("button", name="Put back Encoder, W_Q").press("Enter")
    assert not page.locator(".live-changed").count()
    assert not page.locator(".live-changes").is_visible()
    assert page.evaluate("document.activeElement.textContent") == "Reset"


def titles(page):
    """What stands above each panel, by its step."""
    return page.evaluate(
        """() => Object.fromEntries([...document.querySelectorAll("[data-step]")].filter((node) => !node.hidden)
            .map((node) => [node.dataset.step, node.querySelector(".byhand-title").firstChild.textContent.trim()]))"""
    )


def test_the_formulas_say_what_the_switches_make_of_them(touch):
    page = touch(MACHINE)
    open_all(page)
    at_first = titles(page)
    assert at_first["enc.att.Q1"] == "Q₁ = X WQ₁" and at_first["dec.cross.K2"] == "K₂″ = memory WK₂″"
    assert at_first["enc.att.scaled1"] == "scaled₁ = S₁ / √3"
    page.evaluate("location.hash = '#machine?norm=pre&positions=none&divisor=30&target=2'")
    page.wait_for_function(
        "location.hash.includes('pre') && document.querySelector('[data-step=\"enc.att.U\"]').hidden"
    )
    now = titles(page)
    assert now["enc.att.N"] == "N₁ = LN(E)" and now["enc.att.Q1"] == "Q₁ = N₁ WQ₁"
    assert now["enc.att.T"] == "U, before = E + Z" and now["enc.ff.N"] == "N₂ = LN(U, before)"
    assert now["dec.cross.K2"] == "K₂″ = (normed memory) WK₂″" and now["out.scores"] == "scores = (normed out) Wout"
    assert now["dec.att.masked1"] == "masked₁′ = scaled₁′ + mask" and now["dec.att.A1"] == "A₁′ = softmax(masked₁′)"
    assert now["enc.att.scaled1"] == "scaled₁ = S₁ / 30"
    page.evaluate("location.hash = '#machine?residual=off'")
    page.wait_for_function("document.querySelector('[data-step=\"enc.att.T\"]').hidden")
    assert titles(page)["enc.att.U"] == "U = LN(Z)"
    page.get_by_role("button", name="Reset").click()
    assert titles(page) == at_first


def test_an_overflow_shows_where_it_arises(touch):
    page = touch(MACHINE)
    open_all(page)
    edit(page, "src.0.1", "1e200")
    shown = panels(page)
    assert shown["enc.X"][0][1] == "1.000e200"
    assert shown["enc.att.S1"][0][0] == "∞"
    assert shown["enc.att.A1"][0] == ["NaN", "NaN"]
    assert page.locator(".live-size").nth(1).inner_text() == "NaN or ∞ arises here"
    assert page.locator(".live-size").nth(2).inner_text() == "NaN or ∞ comes in"
    assert "In “Encoder: self-attention, head 1”, S₁ has NaN or ∞" in said(page)
    assert page.locator('[data-step="enc.att.A1"] .live-nan').count() == 2
    page.locator('[data-step="enc.att.S1"] .byhand-result tbody td').first.click()
    assert "no number now" in page.locator(".byhand-live").first.inner_text()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Reset").click()
    assert not differences(page, computed())


def test_the_small_form_is_one_head(touch):
    page = touch(HEAD)
    keys = [
        f"enc.{key}" for key in ("E", "PE", "X", *(f"att.{k}1" for k in ("Q", "K", "V", "S", "scaled", "A", "head")))
    ]
    expected = computed(positions="published")
    assert np.array_equal(expected["enc.X"], PUBLISHED.x)
    assert not differences(page, {key: expected[key] for key in keys})
    edit(page, "src.0.1", "-1")
    type_number(page, "divisor", "30")
    expected = computed({"src.0.1": -1.0}, positions="published", divisor=30)
    assert not differences(page, {key: expected[key] for key in keys})
    row = expected["enc.att.A1"][0]
    assert f"Hello gives {journey.source[int(row.argmax())]} {row.max():.4f} (was " in said(page)
    page.wait_for_function("location.hash == '#head?divisor=30&src.0.1=-1'")


def best(row):
    """The most probable word, as the sentence has it."""
    return f"“{journey.words[int(np.argmax(row))]}” with {row.max():.4f}"


def test_the_mask_says_at_once_what_it_moves(touch):
    """The last row sees all words anyway; the rows before it look ahead."""
    page = touch(MACHINE, fragment="#machine?target=2")
    before = said(page)
    masked, open_ = computed(target=2)["out.p"], computed(target=2, mask=False)["out.p"]
    assert before == f"After “SOS hola”, the most probable word is {best(masked[1])}."
    assert np.array_equal(masked[1], open_[1]) and masked[0].argmax() == open_[0].argmax()
    page.get_by_role("switch", name="mask").press("Space")
    assert said(page) == (
        f"{before} The last row sees every word anyway, with a mask or without. The row of SOS now looks ahead: "
        f"after “SOS”, the most probable word is {best(open_[0])}; before it was {masked[0].max():.4f}."
    )
    page.get_by_text("SOS hola mundo").click()
    masked, open_ = computed(target=3)["out.p"], computed(target=3, mask=False)["out.p"]
    most = int(np.abs(masked - open_).max(axis=1).argmax())
    assert f"The rows of SOS and hola now look ahead: after “{' '.join(TARGET[: most + 1])}”" in said(page)
    page.locator("[data-setting=target] label").first.click()
    assert said(page).endswith("With one word the mask has nothing to hide: let the decoder read more.")


# ---------------------------------------------------------------- tasks

HELLO, HOLA = "src.0.0=1e4", "out.b.8=9"  # at first hola is not the most probable word
FIRST, FIRST_HOLA = "src.48.0=1e4", f"out.b.{TRANSLATOR.tgt_vocab.id('hola')}=99"


@pytest.mark.parametrize(
    ("thing", "at", "large", "hola"),
    [(MACHINE, "", HELLO, HOLA), (TRAINED, "sentence=the+red+world&", FIRST, FIRST_HOLA)],
    ids=["untrained", "trained"],
)
def test_a_task_is_recognised_when_done_and_only_then_said_aloud_and_stays_marked(touch, thing, at, large, hola):
    page = touch(thing)
    marked = page.locator(".live-done")
    way = [  # links, and how many tasks are done then, with what is said
        (f"{hola}&divisor=3", 0, ""),  # more than a number
        (f"{hola}&{large}", 0, ""),
        (hola, 1, "Make it say hola"),
        ("norm=none", 1, ""),
        ("positions=none", 2, "Make it forget the word order"),
        (f"softmax=naive&{large}", 2, ""),
        ("softmax=naive", 2, ""),  # put back is not mended
        (f"softmax=naive&{large}", 2, ""),
    ]
    for link, count, task in way:
        follow(page, f"#{thing.id}?{at}{link}")
        aloud = page.locator(".live-spoken").text_content()
        assert aloud.endswith(f". ✓ Done: {task}.") if task else "Done" not in aloud, (link, aloud)
        assert marked.count() == count, link
    assert "has NaN or ∞" in said(page)
    page.get_by_role("radio", name="largest subtracted").press("Space")
    assert said(page).endswith(". ✓ Done: Make it overflow, and mend it.")
    page.wait_for_function("document.querySelector('.live-spoken').textContent.endsWith('and mend it.')")
    page.get_by_role("button", name="Reset").press("Enter")
    assert marked.count() == 3 and "Done" not in said(page)


def test_the_norm_before_forgets_more_than_the_order(touch):
    """In the example's embeddings World is Hello plus 1: normed, they are one word."""
    page = touch(MACHINE, fragment="#machine?norm=pre")
    assert not page.locator(".live-done").count()


def test_a_rule_is_written_anew_and_the_page_says_for_whom_it_holds(touch):
    page, p = touch(RULES), pronoun.rules()
    assert said(page) == "Rule 1 holds for “it”; rule 2 holds for no word."
    p.w_1[[0, 3, 7], 1], p.b_1[1] = (1, 0, 0), -1.2
    page.evaluate("location.hash = '#rules?enc.w_1.0.1=1&enc.w_1.3.1=0&enc.w_1.7.1=0&enc.b_1.1=-1.2'")
    page.wait_for_function("document.querySelector('.live-said').textContent.includes('“animal” and “street”')")
    before = ROWS @ p.w_1 + p.b_1
    for key, array in {"enc.before": before, "enc.hidden": np.maximum(0, before)}.items():
        assert close(panels(page)[key], array.round(2))


LINKS = {
    (path.stem, link)
    for path in sorted(Path(__file__).parents[2].glob("book/*/*.md"))
    for link in re.findall(r"\(\S*(#(?:machine|trained|rules)\?[^)\s]*)\)", path.read_text("utf-8"))
}


@pytest.mark.parametrize("name, link", sorted(LINKS))
def test_every_link_of_the_book_says_what_can_be_set(touch, name, link):
    page = touch({"#tr": TRAINED, "#ru": RULES}.get(link[:3], MACHINE), fragment=link)
    assert not page.locator(".live > .live-complaint").inner_text()
    assert "#" + page.locator(".live-link").get_attribute("href").partition("#")[2] == link
    follows = page.locator(".live-size:not(:empty)").count()
    assert bool(follows) == bool(re.sub(r"(sentence|target)=[^&]*&?", "", link.partition("?")[2]))
