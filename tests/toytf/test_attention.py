"""What `toytf.attention` promises."""

import numpy as np
import pytest
from axes import axis_names, check_axes
from hypothesis import given
from hypothesis import strategies as st

from toytf.attention import (
    AttentionTrace,
    MultiHead,
    MultiHeadTrace,
    attention,
    attention_backward,
    multi_head_attention,
    multi_head_attention_backward,
    split_heads,
)
from toytf.gradcheck import TOLERANCE, directional, elementwise

# All sizes differ, so that two swapped axes show.
SIZES = {"batch": 2, "heads": 3, "query": 5, "key": 7, "d_k": 11, "d_v": 13, "d_model": 17}


def draw(seed, *names):
    return np.random.default_rng(seed).normal(size=tuple(SIZES[name] for name in names))


def draw_heads(seed=0):
    """Per-head matrices and the output projection."""
    w_q, w_k = draw(seed, "heads", "d_model", "d_k"), draw(seed + 1, "heads", "d_model", "d_k")
    w_v = draw(seed + 2, "heads", "d_model", "d_v")
    w_o = np.random.default_rng(seed + 3).normal(size=(SIZES["heads"] * SIZES["d_v"], SIZES["d_model"]))
    return w_q, w_k, w_v, w_o


def test_one_query_by_hand():
    # scores 1 and 0, weights 1/(1+e^-1) and 1/(1+e), output 10 a + 20 (1 - a)
    out, trace = attention([[1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]], [[10.0], [20.0]], scale=1.0)
    a = 1 / (1 + np.exp(-1.0))
    np.testing.assert_allclose(trace.attn_weights, [[a, 1 - a]], rtol=1e-15)
    np.testing.assert_allclose(out, [[10 * a + 20 * (1 - a)]], rtol=1e-15)


def test_the_traces_axes_are_named_and_true():
    out, trace = multi_head_attention(
        MultiHead.from_heads(*draw_heads()),
        draw(1, "batch", "query", "d_model"),
        draw(2, "batch", "key", "d_model"),
        n_heads=SIZES["heads"],
        mask=np.ones((SIZES["query"], SIZES["key"]), bool),
    )
    assert check_axes(trace, SIZES) == []
    assert check_axes(MultiHead.from_heads(*draw_heads()), SIZES) == []
    assert out.shape == (SIZES["batch"], SIZES["query"], SIZES["d_model"])
    for cls in (AttentionTrace, MultiHead, MultiHeadTrace):
        assert axis_names(cls), cls


@given(st.permutations(range(5)))
def test_without_positions_permuting_the_tokens_permutes_the_output(order):
    x, order = draw(3, "query", "d_model"), list(order)
    p = MultiHead.from_heads(*draw_heads())
    out, _ = multi_head_attention(p, x, n_heads=3)
    np.testing.assert_allclose(multi_head_attention(p, x[order], n_heads=3)[0], out[order], atol=1e-10)


# ---------------------------------------------------------------- masks


@pytest.mark.parametrize("garbage", [np.nan, np.inf, -np.inf, 1e300])
def test_what_stands_at_a_masked_key_or_value_changes_nothing(garbage):
    q, k, v = draw(0, "query", "d_k"), draw(1, "key", "d_k"), draw(2, "key", "d_v")
    mask = np.arange(7) != 4
    expected, _ = attention(q, k, v, mask)
    k[4], v[4] = garbage, garbage
    np.testing.assert_array_equal(attention(q, k, v, mask)[0], expected)


@pytest.mark.parametrize("shape", [(7,), (1, 7), (5, 7), (5, 1), (2, 1, 7), (2, 5, 7)])
def test_a_mask_of_any_fitting_shape_means_what_broadcasting_says(shape):
    q, k, v = draw(0, "batch", "query", "d_k"), draw(1, "batch", "key", "d_k"), draw(2, "batch", "key", "d_v")
    mask = np.random.default_rng(4).random(shape) < 0.7
    out, _ = attention(q, k, v, mask)
    np.testing.assert_array_equal(out, attention(q, k, v, np.broadcast_to(mask, (2, 5, 7)))[0])


def test_a_query_with_nothing_to_attend_to_gets_zeros():
    q, k, v = draw(0, "query", "d_k"), draw(1, "key", "d_k"), draw(2, "key", "d_v")
    mask = np.ones((5, 7), bool)
    mask[2] = False
    out, trace = attention(q, k, v, mask)
    assert (out[2] == 0).all() and (trace.attn_weights[2] == 0).all()
    np.testing.assert_allclose(trace.attn_weights.sum(-1), [1, 1, 0, 1, 1])
    assert (attention(q, k, v, np.zeros((5, 7), bool))[0] == 0).all()


# ---------------------------------------------------------------- several heads


def test_biases_are_added_where_they_stand():
    w_q, w_k, w_v, w_o = draw_heads()
    p = MultiHead.from_heads(w_q, w_k, w_v, w_o)
    x = draw(1, "query", "d_model")
    p.b_v = np.full(p.w_v.shape[1], 0.5)
    p.b_o = np.full(p.w_o.shape[1], 2.0)
    plain, _ = multi_head_attention(MultiHead.from_heads(w_q, w_k, w_v, w_o), x, n_heads=3)
    # weights sum to 1, so a bias on the values reaches the output as b_v W_o
    np.testing.assert_allclose(multi_head_attention(p, x, n_heads=3)[0], plain + p.b_v @ p.w_o + 2.0, atol=1e-10)


def test_a_mask_is_the_same_for_every_head_of_a_sentence():
    p = MultiHead.from_heads(*draw_heads())
    x = draw(1, "batch", "query", "d_model")
    mask = np.random.default_rng(5).random((2, 5, 5)) < 0.6
    out, _ = multi_head_attention(p, x, n_heads=3, mask=mask)
    for b in range(2):
        np.testing.assert_allclose(out[b], multi_head_attention(p, x[b], n_heads=3, mask=mask[b])[0], atol=1e-10)
    padding = np.array([True, True, True, False, False])
    one, _ = multi_head_attention(p, x, n_heads=3, mask=padding)
    np.testing.assert_array_equal(
        one, multi_head_attention(p, x, n_heads=3, mask=np.broadcast_to(padding, (2, 5, 5)))[0]
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: attention(np.ones((2, 3)), np.ones((2, 4)), np.ones((2, 4))), r"q has width 3 .*k has 4 columns"),
        (lambda: attention(np.ones((2, 3)), np.ones((4, 3)), np.ones((5, 3))), r"k has 4 rows .* v has 5"),
        (lambda: attention(np.ones(3), np.ones((4, 3)), np.ones((4, 3))), "q: expected at least 2 axes, got 1"),
        (
            lambda: attention(np.ones((2, 2, 3)), np.ones((5, 4, 3)), np.ones((5, 4, 3))),
            r"leading axes of q \(shape 2 x 2 x 3\) and k \(shape 5 x 4 x 3\)",
        ),
        (
            lambda: attention(np.ones((1, 1)), np.ones((1, 1)), np.ones((1, 1)), scale=np.nan),
            "scale: expected a finite",
        ),
        (lambda: split_heads(np.ones((2, 300)), 8), "n_heads: expected a divisor of the width 300, got 8"),
        (lambda: split_heads(np.ones((2, 300)), 0), "n_heads: expected at least 1, got 0"),
        (
            lambda: MultiHead.from_heads([np.ones((4, 3))], [], [np.ones((4, 3))], np.ones((3, 4))),
            "as many w_k and w_v as w_q, got 1, 0 and 1 heads",
        ),
        (
            lambda: MultiHead.from_heads(*[[np.ones((4, 3))] * 2] * 3, np.ones((4, 4))),
            "w_v has width 6 .* w_o has 4 rows",
        ),
        (
            lambda: multi_head_attention(MultiHead(*[np.ones((4, 4))] * 4), np.ones((2, 3)), n_heads=2),
            r"x has width 3 \(shape 2 x 3\), but w_q has 4 rows",
        ),
    ],
)
def test_bad_input_is_named_with_what_was_expected_and_what_came(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("name", ["q", "k", "v"])
@pytest.mark.parametrize("masked", [False, True])
def test_a_nan_that_is_attended_to_is_named_with_its_place(name, masked):
    arrays = {"q": np.ones((2, 3)), "k": np.ones((4, 3)), "v": np.ones((4, 3))}
    arrays[name][1, 2] = np.nan
    mask = np.ones((2, 4), bool) if masked else None
    with pytest.raises(ValueError, match=rf"^{name}: expected finite numbers, got nan at \[1, 2\]"):
        attention(**arrays, mask=mask)


def test_float32_stays_float32():
    p = MultiHead(*(np.asarray(w, np.float32) for w in (np.ones((4, 6)),) * 3), np.ones((6, 4), np.float32))
    x = np.ones((2, 4), np.float32)
    out, trace = multi_head_attention(p, x, n_heads=2, mask=np.eye(2, dtype=bool))
    assert out.dtype == trace.attention.attn_weights.dtype == np.float32


# ---------------------------------------------------------------- gradients


def masks():
    rng = np.random.default_rng(7)
    some = rng.random((2, 5, 7)) < 0.6
    nothing_left = some.copy()
    nothing_left[:, 2] = False
    return {"none": None, "some": some, "a row with nothing left": nothing_left, "shared": some[0]}


@pytest.mark.parametrize("name", masks())
@pytest.mark.parametrize("scale", [None, 1.0])
def test_the_gradients_of_attention(name, scale):
    mask = masks()[name]
    q, k = draw(0, "batch", "query", "d_k"), draw(1, "batch", "key", "d_k")
    v, dout = draw(2, "batch", "key", "d_v"), draw(3, "batch", "query", "d_v")

    def loss(q, k, v):
        return float((attention(q, k, v, mask, scale)[0] * dout).sum())

    dq, dk, dv = attention_backward(attention(q, k, v, mask, scale)[1], dout)
    for f, x, gradient in (
        (lambda q: loss(q, k, v), q, dq),
        (lambda k: loss(q, k, v), k, dk),
        (lambda v: loss(q, k, v), v, dv),
    ):
        worst = elementwise(f, x, gradient)
        assert worst.error < TOLERANCE, worst


def test_a_query_with_nothing_to_attend_to_sends_nothing_back():
    mask = np.ones((5, 7), bool)
    mask[2] = False
    _, trace = attention(draw(0, "query", "d_k"), draw(1, "key", "d_k"), draw(2, "key", "d_v"), mask)
    dq, _, _ = attention_backward(trace, draw(3, "query", "d_v"))
    assert (dq[2] == 0).all() and (dq[3] != 0).any()


def test_keys_shared_by_a_batch_gather_the_gradient_of_all_its_sentences():
    q, k, v = draw(0, "batch", "query", "d_k"), draw(1, "key", "d_k"), draw(2, "key", "d_v")
    dout = draw(3, "batch", "query", "d_v")
    _, dk, dv = attention_backward(attention(q, k, v)[1], dout)
    for x, gradient, f in (
        (k, dk, lambda k: float((attention(q, k, v)[0] * dout).sum())),
        (v, dv, lambda v: float((attention(q, k, v)[0] * dout).sum())),
    ):
        assert elementwise(f, x, gradient).error < TOLERANCE


@pytest.mark.parametrize("cross", [False, True])
@pytest.mark.parametrize("bias", [False, True])
def test_the_gradients_of_multi_head_attention(cross, bias):
    p = MultiHead.from_heads(*draw_heads())
    if bias:
        rng = np.random.default_rng(8)
        for name, weight in (("b_q", p.w_q), ("b_k", p.w_k), ("b_v", p.w_v), ("b_o", p.w_o)):
            setattr(p, name, rng.normal(size=weight.shape[1]))
    x, memory = draw(1, "batch", "query", "d_model") / 9, draw(2, "batch", "key", "d_model") / 9
    dout = draw(3, "batch", "query", "d_model")

    def run(x, memory):
        return multi_head_attention(p, x, memory if cross else None, n_heads=3)

    dx, dmemory, dp = multi_head_attention_backward(p, run(x, memory)[1], dout)
    assert elementwise(lambda x: float((run(x, memory)[0] * dout).sum()), x, dx).error < TOLERANCE
    if cross:
        assert elementwise(lambda m: float((run(x, m)[0] * dout).sum()), memory, dmemory).error < TOLERANCE
    else:
        assert dmemory is None
    checked = directional(lambda: float((run(x, memory)[0] * dout).sum()), p, dp, np.random.default_rng(9))
    for name, found in checked.items():
        # Softmax ignores a shift of a whole row, so b_k's gradient is 0: it is measured by the length of w_k's.
        length = checked["w_k"].length if name == "b_k" else found.length
        assert found.gap < 1e-6 * length and found.noise < 1e-7 * length, (name, found)
    if bias:  # 0 but for rounding: some hundred products, each rounded by an eps of its size
        np.testing.assert_allclose(dp.b_k, 0, atol=1e-12 * checked["w_k"].length)
