"""The stack of random layers: sizes, the place of the first NaN and the panels are what toytf and NumPy compute."""

from dataclasses import replace

import numpy as np
import pytest

from livecheck import FINGER, page_problems, shown, type_number
from toytf import live
from toytf.attention import MultiHead, merge_heads
from toytf.byhand import fmt
from toytf.example import PUBLISHED, TOKENS
from toytf.live.stack import _short, _short_gap
from toytf.model import Config, EncoderLayer, FeedForward, encoder_layer
from toytf.ops import LayerNorm, softmax, softmax_naive

SIZES = {"w_q": (2, 4, 3), "w_k": (2, 4, 3), "w_v": (2, 4, 3), "w_o": (6, 4)}
SIZES |= {"w_1": (4, 8), "b_1": (1, 8), "w_2": (8, 4), "b_2": (1, 4)}
UNIT = LayerNorm(np.ones(4), np.zeros(4))


def draw(seed):
    """The blocks of chapter 8, drawn in its order."""
    rng = np.random.default_rng(seed)
    return [{name: rng.normal(size=size) for name, size in SIZES.items()} for _ in range(12)]


def layer(w):
    heads = MultiHead.from_heads(w["w_q"], w["w_k"], w["w_v"], w["w_o"])
    return EncoderLayer(heads, UNIT, FeedForward(w["w_1"], w["b_1"][0], w["w_2"], w["b_2"][0]), UNIT)


def element(seed=1244, depth=6):
    return live.stack(PUBLISHED.x, [layer(w) for w in draw(seed)], n_heads=2, depth=depth, rows=TOKENS)


STACK = element()


# ---------------------------------------------------------------- the plain lines of chapter 8, NaN and all


def plain(w, x, attend, residual, norm):
    def add_and_norm(x, part):
        y = x + part if residual else part
        if norm == "post":
            y = y - y.mean(axis=-1, keepdims=True)
            y = y / np.sqrt((y * y).mean(axis=-1, keepdims=True) + 1e-5)
        return y

    scores = (x @ w["w_q"]) @ (x @ w["w_k"]).swapaxes(-1, -2) / 3**0.5
    weights = attend(scores)
    z = add_and_norm(x, merge_heads(weights @ (x @ w["w_v"])) @ w["w_o"])
    fed = np.maximum(0, z @ w["w_1"] + w["b_1"]) @ w["w_2"] + w["b_2"]
    return add_and_norm(z, fed), scores, weights


def stable(scores):
    return softmax_naive(scores - scores.max(axis=-1, keepdims=True))


def computed(seed=1244, layers=6, scale=1.0, residual=False, norm="none", attend="naive"):
    """What goes into each layer, its scores, weights and what comes out; toytf's wherever toytf computes it."""
    found, rows = [], PUBLISHED.x
    with np.errstate(all="ignore"):
        for w in draw(seed)[:layers]:
            w = {name: array * (scale if name[0] == "w" else 1) for name, array in w.items()}
            out, scores, weights = plain(w, rows, {"naive": softmax_naive, "stable": stable}[attend], residual, norm)
            if np.isfinite(out).all() and np.abs(scores).max() < 700:
                cfg = Config(2, 2, 4, 2, 8, d_head=3, norm=norm, residual=residual)
                out, trace = encoder_layer(layer(w), cfg, rows)
                trace = trace.self_attention.inner.attention
                scores, weights = trace.scaled_scores, trace.attn_weights
            found.append((rows, scores, weights, out))
            rows = out
    return found


def lines(found):
    """The lines of the table."""
    with np.errstate(all="ignore"):
        sizes = [(np.abs(s).max(), np.abs(o).max(), np.ptp(o, axis=0).max() / np.abs(o).max()) for _, s, _, o in found]
    return [[w.replace("−", "-") for w in (_short(a), _short(b), _short_gap(c))] for a, b, c in sizes]


def table(page):
    rows = page.locator(".stack-table tbody tr:not([hidden])")
    return [[w.replace("−", "-") for w in row.locator("td").all_inner_texts()] for row in rows.all()]


def said(page):
    return page.locator(".live-said").inner_text()


def panel(page, n):
    return shown(page, f".byhand >> nth={n} >> .byhand-result")


def words(array, decimals=4):
    """As a panel writes numbers that are neither long nor all round."""
    return [["NaN" if np.isnan(v) else fmt(v, decimals) for v in row] for row in array]


# ---------------------------------------------------------------- what it shows


def test_a_setting_that_moves_the_first_bad_number_opens_its_layer(touch):
    page = touch(STACK)
    type_number(page, "scale", "4")
    bad = int(said(page).split(",")[0].removeprefix("Layer "))
    assert bad == 1  # in the first layer now, where it was in the second
    assert page.locator(".stack-inside").inner_text() == f"Inside layer {bad}"
    page.get_by_role("radio", name="look inside layer 3").check()  # a choice of one's own stands
    assert page.locator(".stack-inside").inner_text() == "Inside layer 3"


def test_it_begins_with_the_stack_of_chapter_8_and_names_the_first_bad_number(touch):
    page = touch(STACK)
    found = computed()
    assert table(page) == lines(found)
    score = found[1][1][1, 1, 1]  # layer 2, head 2, World asks World
    where = f"Layer 2, head 2, row World: e^{fmt(score, 2)} is more than a float holds."
    assert said(page).startswith(where) and "After layer 3 no row has a number left" in said(page)
    assert where in str(STACK) and where in STACK.static
    assert page.locator(".stack-table .live-nan").count() == 2 + 4 * 3
    _, _, weights, out = found[1]
    assert panel(page, 2) == [["0", "1"], ["0", "NaN"]] and np.isnan(weights[1, 1, 1])
    assert panel(page, 3) == words(out, 2)
    assert page.locator(".byhand >> nth=2 >> .live-nan").count() == 1


SETTINGS = {
    "layers=12&norm=post&residual=on": {"layers": 12, "norm": "post", "residual": True},
    "layers=9&norm=post": {"layers": 9, "norm": "post"},
    "residual=on": {"residual": True},
    "scale=0.4&residual=on&layers=12": {"layers": 12, "scale": 0.4, "residual": True},
    "scale=0.5": {"scale": 0.5},
    "softmax=stable": {"attend": "stable"},
    "scale=0.1&layers=1": {"scale": 0.1, "layers": 1},
}


FOLLOW = """hash => new Promise((done) => {
    addEventListener("hashchange", () => done(), { once: true });
    location.hash = hash;
})"""


def test_any_settings_give_what_toytf_gives(touch):
    page = touch(STACK)
    for link, settings in SETTINGS.items():
        page.evaluate(FOLLOW, f"#stack?{link}")
        found = computed(**settings)
        assert table(page) == lines(found), link
        finite = all(np.isfinite(out).all() for *_, out in found)
        assert said(page).startswith("No infinity and no NaN") == finite, link
        if finite:
            largest = max(np.abs(scores).max() for _, scores, _, _ in found)
            assert f"largest score of all, signs left aside, is {_short(largest)}" in said(page), link
        assert page.locator(".stack-nan").count() == (0 if finite else 1)
    page.get_by_role("button", name="Reset").click()
    assert table(page) == lines(computed())


def test_powers_that_all_round_to_zero_are_named(touch):
    page = touch(element(1))
    largest = computed(1)[1][1][0, 0].max()
    assert said(page).startswith(f"Layer 2, head 1, row Hello: no score is above {fmt(largest, 2)}".replace("-", "−"))
    assert "0 / 0 is NaN" in said(page)


def test_a_sum_that_overflows_is_named_though_it_gives_no_nan(touch):
    """Two scores of 709.5: each power is a float, their sum is not, and all weights become 0."""
    wide = np.sqrt(709.5 * np.sqrt(3))
    w = {name: np.zeros(size) for name, size in SIZES.items()}
    w["w_q"][:, 0, 0] = w["w_k"][:, 0, 0] = wide
    one = live.stack([[1.0, 0, 0, 0], [1.0, 0, 0, 0]], [layer(w)], n_heads=2, depth=1, rows=TOKENS)
    page = touch(one)
    assert said(page).startswith("Layer 1, head 1, row Hello: each power of e is a float, and their sum is not.")
    assert said(page).split(" After")[0] in one.text
    assert panel(page, 1) == [["0", "0"], ["0", "0"]]


def test_the_panels_show_the_layer_that_is_tapped(touch):
    page = touch(STACK, fragment="#stack?residual=on&norm=post", **FINGER)
    rows, scores, weights, out = computed(residual=True, norm="post")[4]
    page.locator(".stack-table label").nth(4).tap()
    assert page.locator(".stack-inside").inner_text() == "Inside layer 5"
    assert [panel(page, 0), panel(page, 3)] == [words(rows), words(out)]
    for h in range(2):
        assert panel(page, 1 + h) == words(weights[h])
        assert shown(page, f".byhand >> nth={1 + h} >> .byhand-matrix") == words(scores[h])
    page.wait_for_function("location.hash.endsWith('look=5')")
    assert np.allclose(weights, softmax(scores), rtol=1e-12)


def test_an_entry_shows_its_overflow(touch):
    page = touch(STACK)
    page.locator(".byhand >> nth=2 >> .byhand-result td").last.click()
    sum_ = page.locator(".byhand-live").first.inner_text()
    assert "∞ / ∞ ≈ NaN" in sum_ and "e729.5184" in sum_ and len(sum_) < 200


def test_layers_and_switches_by_keys_and_by_mouse(touch):
    page = touch(STACK)
    page.get_by_role("slider", name="layers").press("ArrowRight")
    assert table(page) == lines(computed(layers=7))
    page.get_by_role("slider", name="layers").press("End")
    page.get_by_role("switch", name="residual").press("Space")
    page.locator("[data-setting=norm] label", has_text="after each part").click()
    assert table(page) == lines(computed(layers=12, residual=True, norm="post"))
    page.get_by_role("radio", name="as usually typed").press("ArrowRight")
    assert page.get_by_role("radio", name="largest subtracted").is_checked()
    page.get_by_role("slider", name="weights times").press("PageUp")
    scale = float(page.locator("[data-setting=scale] .live-typed").input_value())
    assert scale > 1
    assert table(page) == lines(computed(layers=12, scale=scale, residual=True, norm="post", attend="stable"))
    page.get_by_role("radio", name="look inside layer 2").press("ArrowDown")
    assert page.locator(".stack-inside").inner_text() == "Inside layer 3"


def test_the_picture_says_what_is_seen_and_has_its_marks_where_the_numbers_are(touch):
    page = touch(STACK, fragment="#stack?residual=on&norm=post&layers=8")
    found = computed(layers=8, residual=True, norm="post")
    assert page.locator(".stack-score-mark").count() == page.locator(".stack-entry-mark").count() == 8
    words = lines(found)[-1]
    alt = page.get_by_role("img", name="on a scale of powers of ten").get_attribute("aria-label")
    assert f"to {words[0]} and {words[1]} in layer 8" in alt and "709.78" in alt

    def middle(mark):
        box = page.locator(mark).bounding_box()
        return box["y"] + box["height"] / 2

    scale = [middle(f".stack-grid path >> nth={n}") for n in (1, 2)]  # 1 and 10
    for n, (_, scores, _, out) in enumerate(found):
        for name, value in (("score", np.abs(scores).max()), ("entry", np.abs(out).max())):
            y = scale[0] + np.log10(value) * (scale[1] - scale[0])
            assert abs(middle(f".stack-{name}-mark >> nth={n}") - y) < 1, (name, n)


def test_what_is_no_number_is_said_and_changes_nothing(touch):
    page = touch(STACK)
    for setting, text, word in [
        ("layers", "2.5", "layers: expected a whole number from 1 to 12, got 2.5"),
        ("layers", "13", "layers: expected a whole number from 1 to 12, got 13"),
        ("scale", "many", "weights times: expected a number from 0.1 to 10, got “many”"),
    ]:
        type_number(page, setting, text)
        assert page.locator(f"[data-setting={setting}] .live-complaint").inner_text() == word
        assert table(page) == lines(computed())


def test_a_wrong_link_is_said(touch):
    page = touch(STACK, fragment="#stack?norm=always&look=99&scale=0.5")
    complaint = page.locator(".live > .live-complaint").inner_text()
    assert "layer norm: expected one of none, post, got “always”" in complaint
    assert "look: expected a layer from 1 to 12, got “99”" in complaint
    assert table(page) == lines(computed(scale=0.5))


def test_without_a_script_its_numbers_stand(touch):
    page = touch(STACK, java_script_enabled=False)
    assert table(page) == lines(computed())
    assert panel(page, 2) == [["0", "1"], ["0", "NaN"]]
    assert "Layer 2, head 2, row World" in page.locator(".stack-where").inner_text()
    assert not page.locator(".live-controls").count()


def test_the_script_draws_what_python_drew(touch):
    """The static picture and the static panels stay as they are when the script takes them over."""
    for stack in (STACK, element(9, depth=1), element(1, depth=12)):
        quiet, live_ = (touch(stack, java_script_enabled=on) for on in (False, True))
        seen = [page.locator(".stack-chart").inner_html() for page in (quiet, live_)]
        assert seen[0] == seen[1]
        seen = [[panel(page, n) for n in range(4)] for page in (quiet, live_)]
        assert seen[0] == seen[1]
        assert quiet.locator(".stack-where").inner_text() == said(live_)


def test_wrong_arguments_are_told():
    layers = STACK.data["layers"]
    for change, word in [
        ({"depth": 13}, "depth: expected at most 12, the number of layers, got 13"),
        ({"rows": ["Hello"]}, "rows: expected 2 names, one for each row of x, got 1"),
        ({"layers": [1]}, "layers"),
        ({"x": [1.0]}, "x: expected"),
        ({"layers": [replace(layers[0], norm_1=None)]}, "norm_1"),
    ]:
        given = {"x": PUBLISHED.x, "layers": layers, "n_heads": 2, "depth": 1, "rows": TOKENS} | change
        with pytest.raises((ValueError, TypeError), match=word.split(",")[0]):
            live.stack(given.pop("x"), given.pop("layers"), **given)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_page_and_axe_finds_nothing(touch, width, dark):
    page = touch(STACK, width=width, dark=dark)
    assert not page_problems(page)
    page.get_by_role("radio", name="largest subtracted").press("Space")  # numbers as long as they come
    page.get_by_role("slider", name="layers").press("End")
    type_number(page, "scale", "10")
    type_number(page, "layers", "nothing")
    page.locator(".byhand-sums summary").first.click()
    for look in (5, 12):
        page.locator(".stack-table label").nth(look - 1).click()
        assert not page_problems(page)
