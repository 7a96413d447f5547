"""What `toytf.ops` promises."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from toytf.gradcheck import TOLERANCE, elementwise
from toytf.ops import (
    LayerNorm,
    Linear,
    cross_entropy,
    cross_entropy_backward,
    embedding,
    embedding_backward,
    gelu,
    gelu_backward,
    gelu_tanh,
    layer_norm,
    layer_norm_backward,
    layer_norm_eps_outside,
    linear,
    linear_backward,
    log_softmax,
    relu,
    relu_backward,
    softmax,
    softmax_backward,
    softmax_naive,
)

finite = st.floats(-1e307, 1e307)  # their differences are finite too
arrays = hnp.arrays(np.float64, hnp.array_shapes(min_dims=1, max_dims=4, max_side=5), elements=finite)


def test_softmax_of_1_2_3_as_derived_by_hand():
    # e^1 + e^2 + e^3 = 2.718281828 + 7.389056099 + 20.085536923 = 30.192874850
    expected = np.array([2.718281828459045, 7.38905609893065, 20.085536923187668]) / 30.192874850577363
    np.testing.assert_allclose(softmax([1, 2, 3]), expected, rtol=1e-15)


@given(arrays, st.data())
def test_softmax_of_any_finite_input_sums_to_one_along_any_axis(x, data):
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    with np.errstate(all="raise", under="ignore"):  # and nothing overflows on the way
        weights = softmax(x, axis=axis)
    assert weights.shape == x.shape
    assert (weights >= 0).all()
    np.testing.assert_allclose(weights.sum(axis=axis), 1.0, rtol=1e-12)


def test_softmax_survives_what_overflows_and_underflows_the_naive_one():
    np.testing.assert_allclose(softmax([[800.0, 900.0], [-800.0, -900.0]]), [[np.exp(-100), 1], [1, np.exp(-100)]])
    with np.errstate(all="ignore"):
        assert np.isnan(softmax_naive([[800.0, 900.0]])).any()
        assert np.isnan(softmax_naive([[-800.0, -900.0]])).all()


def test_softmax_keeps_the_last_small_weight():
    # The saturated rows of the running example live on weights like this one.
    np.testing.assert_allclose(softmax([0.0, 44.0])[0], np.exp(-44), rtol=1e-14)


def test_softmax_gives_minus_infinity_no_weight():
    np.testing.assert_array_equal(softmax([-np.inf, 3.0, -np.inf]), [0.0, 1.0, 0.0])


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([1.0, np.nan], r"x: expected finite numbers, got nan at \[1\]"),
        ([[1.0, 2.0], [np.inf, 0.0]], r"got inf at \[1, 0\]"),
        ([[0.0, 1.0], [-np.inf, -np.inf]], r"only -inf in the row at \[1, 0\]"),
        (np.zeros((2, 0)), "at least one number"),
        (3.0, "at least 1 axis"),
    ],
)
def test_softmax_says_what_it_cannot_use_and_where(bad, message):
    with pytest.raises(ValueError, match=message):
        softmax(bad)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_dtype_of_the_argument_is_the_dtype_of_the_result(dtype):
    x = np.ones((2, 3), dtype)
    assert softmax(x).dtype == dtype
    assert linear(Linear(np.ones((3, 5), dtype), np.ones(5, dtype)), x).dtype == dtype


@pytest.mark.parametrize(("ids", "got"), [([0, -1], r"got -1 at \[1\]"), ([[0, 7]], r"got 7 at \[0, 1\]")])
def test_embedding_refuses_an_id_outside_the_vocabulary(ids, got):
    with pytest.raises(ValueError, match="ids: expected ids from 0 to 6 .* " + got):
        embedding(np.zeros((7, 3)), ids)


# ---------------------------------------------------------------- log-softmax


def test_log_softmax_of_what_softmax_rounds_to_zero_is_finite():
    np.testing.assert_array_equal(log_softmax([0.0, 1e4, -1e4]), [-1e4, 0.0, -2e4])


# ---------------------------------------------------------------- activations


def test_gelu_by_hand():
    # Phi(1) = 0.841344746068543, from a table of the normal distribution
    np.testing.assert_allclose(gelu([0.0, 1.0, -1.0]), [0, 0.841344746068543, 0.841344746068543 - 1], rtol=1e-14)


def test_the_tanh_form_of_gelu_is_within_half_a_thousandth():
    x = np.linspace(-10, 10, 20_001)
    assert 1e-4 < np.abs(gelu(x) - gelu_tanh(x)).max() < 5e-4
    np.testing.assert_array_equal(gelu_tanh([1e30, -1e30]), [1e30, 0.0])
    np.testing.assert_array_equal(gelu([1e30, -1e30]), [1e30, 0.0])


# ---------------------------------------------------------------- layer norm


def norm(width, gamma=1.0, beta=0.0):
    return LayerNorm(np.full(width, gamma), np.full(width, beta))


def test_layer_norm_by_hand():
    # mean 3, deviations -2 0 0 2, variance 8/4 = 2
    out, trace = layer_norm(norm(4), [[1.0, 3.0, 3.0, 5.0]], eps=1e-12)
    np.testing.assert_allclose(out, np.array([[-2, 0, 0, 2]]) / np.sqrt(2), rtol=1e-9)
    np.testing.assert_allclose(trace.std, [[np.sqrt(2)]], rtol=1e-9)


@given(hnp.arrays(np.float64, (2, 3, 7), elements=st.floats(-1e3, 1e3)))
def test_layer_norm_gives_each_row_mean_0_and_variance_just_below_1(x):
    out, _ = layer_norm(norm(7), x)
    np.testing.assert_allclose(out.mean(axis=-1), 0, atol=1e-9)
    variance = x.var(axis=-1)
    np.testing.assert_allclose(out.var(axis=-1), variance / (variance + 1e-5), rtol=1e-6, atol=1e-9)


def test_a_constant_row_becomes_beta():
    for value in (0.0, 1e6, -1e30):
        np.testing.assert_array_equal(layer_norm(norm(4, beta=0.25), np.full((1, 4), value))[0], np.full((1, 4), 0.25))


def test_rows_shifted_by_a_million_or_as_large_as_1e30_stay_right():
    x = np.array([[1.0, 3.0, 3.0, 5.0]])
    expected = layer_norm(norm(4), x)[0]
    np.testing.assert_allclose(layer_norm(norm(4), x + 1e6)[0], expected, rtol=1e-9)
    np.testing.assert_allclose(layer_norm(norm(4), x * 1e30)[0], expected, rtol=1e-5)


def test_where_epsilon_stands_matters_for_rows_that_are_nearly_constant():
    x = np.array([[1.0, 3.0, 3.0, 5.0]])
    np.testing.assert_allclose(layer_norm_eps_outside(x), layer_norm(norm(4), x, eps=1e-6)[0], atol=1e-5)
    tiny = 1e-6 * x
    inside, outside = layer_norm(norm(4), tiny, eps=1e-6)[0], layer_norm_eps_outside(tiny)
    np.testing.assert_allclose(inside[0, 3], 2e-6 / np.sqrt(2e-12 + 1e-6), rtol=1e-9)
    np.testing.assert_allclose(outside[0, 3], 2e-6 / (np.sqrt(2) * 1e-6 + 1e-6), rtol=1e-9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: layer_norm(norm(3), np.ones((2, 4))),
            "x has width 4 .* but gamma has 3 entries .shape 3.: the two",
        ),
        (lambda: layer_norm(norm(4), np.ones((2, 4)), eps=0), "eps: expected a positive number, got 0"),
        (lambda: layer_norm(norm(2), [[1.0, np.inf]]), r"x: expected finite numbers, got inf at \[0, 1\]"),
    ],
)
def test_layer_norm_says_what_is_wrong(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# ---------------------------------------------------------------- loss


def test_cross_entropy_of_1_2_3_by_hand():
    # log(e + e^2 + e^3) - 3 = 3.40760596 - 3
    assert cross_entropy([[1.0, 2.0, 3.0]], [2])[0] == pytest.approx(0.4076059644443806, rel=1e-14)
    assert cross_entropy(np.zeros((4, 7)), [0, 1, 2, 3])[0] == pytest.approx(np.log(7))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cross_entropy(np.zeros((2, 3)), [0, 3]), r"targets: expected ids from 0 to 2 .* got 3 at \[1\]"),
        (lambda: cross_entropy(np.zeros((2, 3)), [0]), "targets: expected shape 2 as logits has, got 1"),
        (lambda: cross_entropy(np.zeros((1, 3)), [0], [False]), "is_token: expected at least one token to count"),
        (lambda: cross_entropy([[0.0, np.nan]], [0]), r"logits: expected finite numbers, got nan at \[0, 1\]"),
        (lambda: cross_entropy(np.zeros((1, 3)), [0], label_smoothing=1), "label_smoothing: expected .* got 1"),
    ],
)
def test_cross_entropy_says_what_is_wrong(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# ---------------------------------------------------------------- gradients


def agree(f, x, gradient):
    """Whether a gradient is that of ``sum of f(x) * weights`` by finite differences."""
    worst = elementwise(f, x, gradient)
    assert worst.error < TOLERANCE, worst


def drawn(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape)


@pytest.mark.parametrize("axis", [-1, 0, 1])
def test_the_gradient_of_softmax(axis):
    x, dout = drawn(0, 2, 3, 5), drawn(1, 2, 3, 5)
    agree(lambda x: float((softmax(x, axis) * dout).sum()), x, softmax_backward(softmax(x, axis), dout, axis))


@pytest.mark.parametrize("bias", [True, False])
def test_the_gradients_of_linear(bias):
    x, w, b, dout = drawn(0, 2, 3, 5), drawn(1, 5, 7), drawn(2, 7) if bias else None, drawn(3, 2, 3, 7)
    dx, dp = linear_backward(Linear(w, b), x, dout)
    agree(lambda x: float((linear(Linear(w, b), x) * dout).sum()), x, dx)
    agree(lambda w: float((linear(Linear(w, b), x) * dout).sum()), w, dp.weight)
    if bias:
        agree(lambda b: float((linear(Linear(w, b), x) * dout).sum()), b, dp.bias)
    else:
        assert dp.bias is None


def test_the_gradient_of_embedding_gathers_repeated_tokens():
    table, ids, dout = drawn(0, 5, 3), np.array([[4, 1, 4], [0, 4, 1]]), drawn(1, 2, 3, 3)
    agree(lambda table: float((embedding(table, ids) * dout).sum()), table, embedding_backward(5, ids, dout))


@pytest.mark.parametrize(("forward", "backward"), [(relu, relu_backward), (gelu, gelu_backward)])
def test_the_gradients_of_the_activations(forward, backward):
    x, dout = 2 * drawn(0, 3, 7), drawn(1, 3, 7)
    agree(lambda x: float((forward(x) * dout).sum()), x, backward(x, dout))


def test_the_gradients_of_layer_norm():
    p, x, dout = LayerNorm(drawn(0, 5), drawn(1, 5)), drawn(2, 2, 3, 5), drawn(3, 2, 3, 5)
    dx, dp = layer_norm_backward(p, layer_norm(p, x)[1], dout)
    agree(lambda x: float((layer_norm(p, x)[0] * dout).sum()), x, dx)
    agree(lambda g: float((layer_norm(LayerNorm(g, p.beta), x)[0] * dout).sum()), p.gamma, dp.gamma)
    agree(lambda b: float((layer_norm(LayerNorm(p.gamma, b), x)[0] * dout).sum()), p.beta, dp.beta)


@pytest.mark.parametrize("label_smoothing", [0.0, 0.1])
def test_the_gradient_of_cross_entropy(label_smoothing):
    x, targets = drawn(0, 2, 3, 5), np.array([[4, 0, 1], [2, 2, 3]])
    is_token = np.array([[True, True, False], [True, True, True]])
    args = (targets, is_token, label_smoothing)
    agree(lambda x: cross_entropy(x, *args)[0], x, cross_entropy_backward(cross_entropy(x, *args)[1]))


def test_no_argument_is_modified():
    x = np.random.default_rng(2).normal(size=(2, 3))
    kept = x.copy()
    p = Linear(np.ones((3, 3)), np.ones(3))
    one = norm(3)
    for f in (softmax, softmax_naive, log_softmax, relu, gelu, gelu_tanh, layer_norm_eps_outside,
              lambda x: linear(p, x), lambda x: layer_norm(one, x)):  # fmt: skip
        f(x)
        np.testing.assert_array_equal(x, kept)
    np.testing.assert_array_equal(p.weight, np.ones((3, 3)))
    assert embedding(x, [0, 1]).base is None  # a copy: writing into it leaves the table alone
