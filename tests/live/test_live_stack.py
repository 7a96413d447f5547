"""The stack of random layers: sizes, the first NaN and the panels are what toytf and NumPy compute."""

import numpy as np

from livecheck import FINGER, Case, said, shown, type_number
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


def panel(page, n):
    return shown(page, f".byhand >> nth={n} >> .byhand-result")


def words(array, decimals=4):
    """As a panel writes numbers that are neither long nor all round."""
    return [["NaN" if np.isnan(v) else fmt(v, decimals) for v in row] for row in array]


def shows(page, **settings):
    """The table; and where the first bad number arises, or that there is none."""
    found = computed(**settings)
    assert shown(page, ".live-layers") == lines(found)
    finite = all(np.isfinite(out).all() for *_, out in found)
    where = (
        page.locator(".live-said" if page.locator(".live-on").count() else ".stack-where")
        .text_content()
        .replace("−", "-")
    )
    assert where.startswith("No infinity and no NaN") == finite
    if finite and page.locator(".live-on").count():
        largest = max(np.abs(scores).max() for _, scores, _, _ in found)
        assert f"largest score of all, signs left aside, is {_short(largest)}".replace("−", "-") in where
    assert page.locator(".live-chart .nan").count() == (0 if finite else 1)


def press(page):
    page.get_by_role("slider", name="layers").press("ArrowRight")
    page.get_by_role("switch", name="residual").press("Space")
    page.get_by_role("radio", name="as usually typed").press("ArrowRight")
    page.get_by_role("slider", name="weights times").press("End")
    page.get_by_role("radio", name="look inside layer 2").press("ArrowDown")
    assert page.locator(".stack-inside").inner_text() == "Inside layer 3"


def tap(page):
    page.get_by_text("after each part").tap()
    page.locator(".live-layers label").nth(4).tap()
    assert page.locator(".stack-inside").inner_text() == "Inside layer 5"


CASE = Case(
    STACK,
    shows,
    links={
        "layers=12&norm=post&residual=on": {"layers": 12, "norm": "post", "residual": True},
        "layers=9&norm=post": {"layers": 9, "norm": "post"},
        "residual=on": {"residual": True},
        "scale=0.5": {"scale": 0.5},
        "scale=0.1&layers=1": {"scale": 0.1, "layers": 1},
        "layers=12&scale=10&softmax=stable&look=12": {"layers": 12, "scale": 10, "attend": "stable"},
    },
    keys=(
        press,
        {"layers": 7, "residual": True, "attend": "stable", "scale": 10},
        "layers=7&scale=10&residual=on&softmax=stable&look=3",
    ),
    finger=(tap, {"norm": "post"}),
    wrong_links={
        "norm=always&scale=0.5": ("layer norm: expected one of none, post, got “always”", {"scale": 0.5}),
        "look=99": ("look: expected a whole number from 1 to 12, got “99”", {}),
    },
    drawn={"layers=1": element(depth=1), "layers=12": element(depth=12)},
)


def test_it_names_the_first_bad_number_and_a_tap_opens_its_layer(touch):
    page = touch(STACK)
    _, scores, weights, out = computed()[1]
    where = f"Layer 2, head 2, row World: exp({fmt(scores[1, 1, 1], 2)}) is more than a float holds."
    assert said(page).startswith(where) and "After layer 3 no row has a number left" in said(page)
    assert "In layer 2 the first infinity or NaN arises." in str(STACK)
    assert not page.get_by_text("rows that go in").is_visible()
    page.locator(".live-layers label").nth(1).click()  # chosen before, and closed
    assert panel(page, 2) == [["0", "1"], ["0", "NaN"]] and np.isnan(weights[1, 1, 1])
    assert panel(page, 3) == words(out, 2)
    page.locator(".byhand >> nth=2 >> .byhand-result td").last.click()
    sum_ = page.locator(".byhand-live").first.inner_text()
    assert "∞ / ∞ ≈ NaN" in sum_ and "e729.5184" in sum_ and len(sum_) < 200
    page.keyboard.press("Escape")
    type_number(page, "scale", "4")  # now in the first layer
    assert page.locator(".stack-inside").inner_text() == "Inside layer 1"
    page.get_by_role("radio", name="look inside layer 3").check()  # a choice of one's own stands
    assert page.locator(".stack-inside").inner_text() == "Inside layer 3"


def test_the_panels_show_the_layer_that_is_tapped(touch):
    page = touch(STACK, fragment="#stack?residual=on&norm=post", **FINGER)
    rows, scores, weights, out = computed(residual=True, norm="post")[4]
    page.locator(".live-layers label").nth(4).tap()
    assert page.locator(".stack-inside").inner_text() == "Inside layer 5"
    assert [panel(page, 0), panel(page, 3)] == [words(rows), words(out)]
    for h in range(2):
        assert panel(page, 1 + h) == words(weights[h])
        assert shown(page, f".byhand >> nth={1 + h} >> .byhand-matrix") == words(scores[h])
    page.wait_for_function("location.hash.endsWith('look=5')")
    assert np.allclose(weights, softmax(scores), rtol=1e-12)
