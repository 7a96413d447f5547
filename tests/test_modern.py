"""The decoder of chapter 22: its parts against plain sums, and the whole against what Hugging Face's classes gave."""

import math
from dataclasses import replace

import numpy as np
import pytest

from toytf.course import listings, modern
from toytf.ops import softmax

RNG = np.random.default_rng(7)
CFG = modern.Config(words=20, d=6, n_heads=6, n_key_heads=2, d_head=4, d_ff=5, n_layers=2)


def rows(*shape):
    return RNG.normal(size=shape)


def plain_rotate(x, base):
    half = len(x[0]) // 2
    out = [list(row) for row in x]
    for t, row in enumerate(x):
        for i in range(half):
            angle = t / base ** (i / half)
            a, b = row[i], row[i + half]
            out[t][i] = a * math.cos(angle) - b * math.sin(angle)
            out[t][i + half] = a * math.sin(angle) + b * math.cos(angle)
    return np.array(out)


def plain_attention(p, cfg, x):
    """One query head after the other, each with the key head of its group."""
    heads = []
    for h in range(cfg.n_heads):
        g, wide = h // (cfg.n_heads // cfg.n_key_heads), cfg.d_head
        mine, shared = slice(h * wide, (h + 1) * wide), slice(g * wide, (g + 1) * wide)
        q = plain_rotate(x @ p["w_q"][:, mine], cfg.base)
        k = plain_rotate(x @ p["w_k"][:, shared], cfg.base)
        v = x @ p["w_v"][:, shared]
        out = []
        for t in range(len(x)):
            first = 0 if cfg.window is None else max(0, t - cfg.window + 1)
            scores = np.array([q[t] @ k[j] for j in range(first, t + 1)]) / math.sqrt(wide)
            powers = np.exp(scores)
            out.append(powers / powers.sum() @ v[first : t + 1])
        heads.append(out)
    return np.concatenate(heads, axis=-1) @ p["w_o"]


def plain_swiglu(p, x):
    gate, value = x @ p["w_1"], x @ p["w_3"]
    swish = np.array([[z / (1 + math.exp(-z)) for z in row] for row in gate])
    return (swish * value) @ p["w_2"]


def plain_mixture(p, cfg, x):
    out = []
    for row in x:
        scores = row @ p["router"]
        best = sorted(range(len(scores)), key=lambda e: -scores[e])[: cfg.chosen]
        powers = {e: math.exp(scores[e]) for e in best}
        parts = [powers[e] / sum(powers.values()) * plain_swiglu(p["experts"][e], row[None])[0] for e in best]
        out.append(sum(parts))
    return np.array(out)


def close(ours, plain):
    np.testing.assert_allclose(ours, plain, rtol=0, atol=1e-12)


# ---------------------------------------------------------------- the parts


def test_rms_norm_divides_by_the_root_of_the_mean_square():
    gamma = np.array([1.0, 1, 2, 1])
    close(modern.rms_norm(np.array([[1.0, 3, 3, 5]]), gamma, eps=0.0), np.array([[1, 3, 6, 5]]) / math.sqrt(11))
    assert modern.rms_norm(np.zeros((1, 4)), gamma).tolist() == [[0, 0, 0, 0]]


def test_rotation_turns_each_pair_and_keeps_its_length():
    x = rows(3, 5, 8)
    turned = modern.rotate(x, 100.0)
    for one, result in zip(x, turned, strict=True):
        close(result, plain_rotate(one, 100.0))
    close((turned**2).sum(axis=-1), (x**2).sum(axis=-1))
    assert np.array_equal(turned[:, 0], x[:, 0])  # place 0 has the angle 0


def test_after_the_rotation_a_score_knows_the_distance_alone():
    q, k = np.tile(rows(8), (9, 1)), np.tile(rows(8), (9, 1))
    scores = modern.rotate(q, 50.0) @ modern.rotate(k, 50.0).T
    for back in range(-8, 9):
        close(np.diagonal(scores, back), np.diagonal(scores, back)[0])


@pytest.mark.parametrize("width", [None, 1, 2, 4, 9])
def test_the_window_shows_the_row_itself_and_those_shortly_before(width):
    found = modern.window_mask(5, width)
    assert found.tolist() == [[j <= i and (width is None or i - j < width) for j in range(5)] for i in range(5)]


@pytest.mark.parametrize("window", [None, 1, 2, 3, 99])
@pytest.mark.parametrize("n_key_heads", [1, 2, 3, 6])
def test_grouped_attention_is_one_head_after_the_other(window, n_key_heads):
    cfg = replace(CFG, window=window, n_key_heads=n_key_heads)
    p = modern.init(cfg, np.random.default_rng(1))["layers"][0]
    x = rows(5, cfg.d)
    close(modern.grouped_attention(p, cfg, x), plain_attention(p, cfg, x))


def test_swiglu_is_gate_times_value_times_w_2():
    p = modern.init(CFG, np.random.default_rng(1))["layers"][0]
    x = rows(4, CFG.d)
    close(modern.swiglu(p, x), plain_swiglu(p, x))


@pytest.mark.parametrize("chosen", [1, 2, 5])
def test_a_mixture_adds_the_chosen_experts_in_their_shares(chosen):
    cfg = replace(CFG, n_experts=5, chosen=chosen)
    p = modern.init(cfg, np.random.default_rng(1))["layers"][0]
    x = rows(7, cfg.d)
    close(modern.mixture(p, cfg, x), plain_mixture(p, cfg, x))


def test_a_mixture_of_all_experts_has_softmax_for_shares():
    cfg = replace(CFG, n_experts=3, chosen=3)
    p = modern.init(cfg, np.random.default_rng(1))["layers"][0]
    x = rows(4, cfg.d)
    outs = np.stack([modern.swiglu(e, x) for e in p["experts"]], axis=1)
    close(modern.mixture(p, cfg, x), (softmax(x @ p["router"])[:, :, None] * outs).sum(axis=1))


# ---------------------------------------------------------------- the whole


def moved(cfg, place):
    params = modern.init(cfg, np.random.default_rng(3))
    ids = [1, 5, 2, 8, 3, 9, 4, 7, 6]
    other = [*ids[:place], 0, *ids[place + 1 :]]
    change = np.abs(modern.forward(params, cfg, ids) - modern.forward(params, cfg, other)).max(axis=-1)
    return np.flatnonzero(change > 1e-12).tolist()


def test_a_row_sees_itself_and_those_before():
    assert moved(CFG, 2) == [2, 3, 4, 5, 6, 7, 8]
    assert moved(replace(CFG, n_experts=3), 2) == [2, 3, 4, 5, 6, 7, 8]


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_through_a_window_each_layer_hands_on_one_width_less_one(depth):
    assert moved(replace(CFG, window=3, n_layers=depth), 1) == list(range(1, min(9, 2 + 2 * depth)))


@pytest.mark.own_seed
@pytest.mark.parametrize("name", modern.EXAMPLES)
def test_the_librarys_classes_gave_the_same_logits(name):
    params, ids = modern.example(name)
    ours = modern.forward(params, modern.EXAMPLES[name], ids)
    np.testing.assert_allclose(ours, listings.stored("modern_decoder")[name], rtol=0, atol=1e-10)


def paired_neighbours(x, base, right=modern.rotate):
    """Chapter 3's pairs, columns 2i and 2i + 1, where the library has i and i + half."""
    order = np.r_[0 : x.shape[-1] : 2, 1 : x.shape[-1] : 2]
    out = np.empty_like(x)
    out[..., order] = right(x[..., order], base)
    return out


SLIPS = {
    "neighbours are paired": ("rotate", paired_neighbours),
    "another base": ("rotate", lambda x, base, right=modern.rotate: right(x, 10_000.0)),
    "the window is one wider": ("window_mask", lambda n, w, right=modern.window_mask: right(n, w and w + 1)),
    "the gate is W_3": ("swiglu", lambda p, x: plain_swiglu({"w_1": p["w_3"], "w_3": p["w_1"], "w_2": p["w_2"]}, x)),
    "the norm takes off the mean": (
        "rms_norm",
        lambda x, g, e, right=modern.rms_norm: right(x - x.mean(-1, keepdims=True), g, e),
    ),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_a_planted_slip_is_caught(slip, monkeypatch):
    part, wrong = SLIPS[slip]
    monkeypatch.setattr(modern, part, wrong)
    name = "Mixtral with a window"
    params, ids = modern.example(name)
    off = np.abs(modern.forward(params, modern.EXAMPLES[name], ids) - listings.stored("modern_decoder")[name])
    assert off.max() > 1e-3
