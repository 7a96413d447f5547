"""What `toytf.ops` promises."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from toytf import ops
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

finite = st.floats(allow_nan=False, allow_infinity=False, width=64)
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


@given(hnp.arrays(np.float64, (3, 4), elements=st.floats(-50, 50)), st.floats(-1e3, 1e3))
def test_softmax_ignores_a_shift_of_the_whole_row(x, shift):
    np.testing.assert_allclose(softmax(x + shift), softmax(x), atol=1e-12)


@given(hnp.arrays(np.float64, 5, elements=st.floats(-100, 100)), st.permutations(range(5)))
def test_softmax_moves_with_its_scores(x, order):
    np.testing.assert_array_max_ulp(softmax(x[list(order)]), softmax(x)[list(order)], maxulp=8)


def test_softmax_survives_what_overflows_and_underflows_the_naive_one():
    np.testing.assert_allclose(softmax([[800.0, 900.0], [-800.0, -900.0]]), [[np.exp(-100), 1], [1, np.exp(-100)]])
    with np.errstate(all="ignore"):
        assert np.isnan(softmax_naive([[800.0, 900.0]])).any()
        assert np.isnan(softmax_naive([[-800.0, -900.0]])).all()
    huge = np.finfo(float).max
    np.testing.assert_array_equal(softmax([-huge, huge]), [0.0, 1.0])


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
        (np.zeros((2, 0)), "at least one score"),
        (3.0, "at least 1 axis"),
    ],
)
def test_softmax_says_what_it_cannot_use_and_where(bad, message):
    with pytest.raises(ValueError, match=message):
        softmax(bad)


def test_softmax_refuses_an_axis_that_is_not_there():
    with pytest.raises(ValueError, match="axis: expected -1 to 0 for shape 3, got 1"):
        softmax([1.0, 2.0, 3.0], axis=1)


@pytest.mark.parametrize("bad", ["abc", None, [[1.0], [1.0, 2.0]], [1j]])
def test_what_is_not_a_number_is_refused_by_type(bad):
    with pytest.raises(TypeError, match="^x: expected"):
        softmax(bad)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_dtype_of_the_argument_is_the_dtype_of_the_result(dtype):
    x = np.ones((2, 3), dtype)
    assert softmax(x).dtype == dtype
    assert linear(Linear(np.ones((3, 5), dtype), np.ones(5, dtype)), x).dtype == dtype


def test_integers_become_float64():
    assert softmax([1, 2]).dtype == np.float64


def test_linear_by_hand_and_over_any_leading_axes():
    p = Linear(np.array([[1.0, 0.0, 2.0], [0.0, 1.0, -1.0]]), np.array([10.0, 20.0, 30.0]))
    np.testing.assert_array_equal(linear(p, [[3.0, 4.0]]), [[13.0, 24.0, 32.0]])  # [3, 4, 6 - 4] + bias
    x = np.random.default_rng(0).normal(size=(2, 3, 5, 2))
    np.testing.assert_allclose(linear(p, x), np.einsum("abcd,de->abce", x, p.weight) + p.bias, rtol=1e-14)
    np.testing.assert_array_equal(linear(p, x[0, 0, 0]), linear(p, x)[0, 0, 0])  # one row alone


def test_linear_names_both_shapes_when_widths_differ():
    with pytest.raises(ValueError, match=r"x has width 4 \(shape 2 x 4\), but weight has 3 rows \(shape 3 x 2\)"):
        linear(Linear(np.zeros((3, 2))), np.zeros((2, 4)))
    with pytest.raises(ValueError, match="bias: expected shape 2 .* got 3"):
        linear(Linear(np.zeros((3, 2)), np.zeros(3)), np.zeros((2, 3)))


def test_linear_names_the_place_of_a_nan():
    x = np.zeros((2, 3))
    x[1, 2] = np.nan
    with pytest.raises(ValueError, match=r"x: expected finite numbers, got nan at \[1, 2\]$"):
        linear(Linear(np.zeros((3, 2))), x)


def test_a_sum_that_overflows_is_not_mistaken_for_an_infinity():
    x = np.full((1, 2), 1.7e308)
    np.testing.assert_array_equal(linear(Linear(np.zeros((2, 1))), x), [[0.0]])


def test_embedding_is_the_product_with_one_hot_rows():
    table = np.random.default_rng(1).normal(size=(7, 3))
    ids = np.array([[6, 0], [2, 2]])
    np.testing.assert_array_equal(embedding(table, ids), np.eye(7)[ids] @ table)


@pytest.mark.parametrize(("ids", "got"), [([0, -1], r"got -1 at \[1\]"), ([[0, 7]], r"got 7 at \[0, 1\]")])
def test_embedding_refuses_an_id_outside_the_vocabulary(ids, got):
    with pytest.raises(ValueError, match="ids: expected ids from 0 to 6 .* " + got):
        embedding(np.zeros((7, 3)), ids)


def test_embedding_refuses_ids_that_are_no_integers_and_an_empty_sentence():
    with pytest.raises(TypeError, match="integer token ids, got dtype float64"):
        embedding(np.zeros((7, 3)), [0.0])
    with pytest.raises(ValueError, match="at least one token id"):
        embedding(np.zeros((7, 3)), [])


# ---------------------------------------------------------------- log-softmax


@given(hnp.arrays(np.float64, (3, 5), elements=st.floats(-300, 300)))
def test_log_softmax_is_the_logarithm_of_the_softmax(x):
    np.testing.assert_allclose(np.exp(log_softmax(x)), softmax(x), rtol=1e-9, atol=1e-300)


def test_log_softmax_of_what_softmax_rounds_to_zero_is_finite():
    np.testing.assert_array_equal(log_softmax([0.0, 1e4, -1e4]), [-1e4, 0.0, -2e4])


# ---------------------------------------------------------------- float16


def test_sums_of_float16_do_not_leave_its_range():
    zeros = np.zeros(70_000, np.float16)  # as many ones are more than 65504
    weights = softmax(zeros)
    assert weights.dtype == np.float16
    np.testing.assert_array_equal(weights, np.full(70_000, 1 / 70_000, np.float16))
    np.testing.assert_array_equal(log_softmax(zeros), np.full(70_000, -np.log(70_000), np.float16))
    x = np.random.default_rng(0).normal(size=(3, 50)).astype(np.float16)
    np.testing.assert_allclose(softmax(x), softmax(x.astype(float)), rtol=1e-3)
    np.testing.assert_allclose(log_softmax(x), log_softmax(x.astype(float)), rtol=1e-3)


def test_the_loss_of_many_tokens_in_float16_is_that_of_float32():
    rng = np.random.default_rng(0)
    logits, targets = rng.normal(size=(70_000, 3)).astype(np.float16), rng.integers(3, size=70_000)
    loss, trace = cross_entropy(logits, targets, label_smoothing=0.1)
    expected, expected_trace = cross_entropy(logits.astype(np.float32), targets, label_smoothing=0.1)
    assert loss == expected and trace.n == 70_000
    gradient = cross_entropy_backward(trace)  # one part in 70,000 would be 0, or nearly, in float16
    assert gradient.dtype == np.float32
    np.testing.assert_array_equal(gradient, cross_entropy_backward(expected_trace))


# ---------------------------------------------------------------- activations


def test_relu_keeps_the_positive_and_drops_the_rest():
    np.testing.assert_array_equal(relu([[-2.0, 0.0], [0.5, -0.0]]), [[0.0, 0.0], [0.5, 0.0]])


def test_gelu_by_hand():
    # Phi(1) = 0.841344746068543, from a table of the normal distribution
    np.testing.assert_allclose(gelu([0.0, 1.0, -1.0]), [0, 0.841344746068543, 0.841344746068543 - 1], rtol=1e-14)


@given(st.floats(-1e3, 1e3))
def test_gelu_splits_x_between_x_and_minus_x(x):
    np.testing.assert_allclose(gelu(x) - gelu(-x), x, rtol=1e-12, atol=1e-300)


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


def test_gamma_stretches_and_beta_moves():
    x = np.random.default_rng(0).normal(size=(3, 5))
    p = LayerNorm(np.arange(1.0, 6.0), np.arange(5.0))
    np.testing.assert_allclose(layer_norm(p, x)[0], layer_norm(norm(5), x)[0] * p.gamma + p.beta)


def test_a_constant_row_becomes_beta():
    for value in (0.0, 1e6, -1e30):
        np.testing.assert_array_equal(layer_norm(norm(4, beta=0.25), np.full((1, 4), value))[0], np.full((1, 4), 0.25))


def test_rows_shifted_by_a_million_or_as_large_as_1e30_stay_right():
    x = np.array([[1.0, 3.0, 3.0, 5.0]])
    expected = layer_norm(norm(4), x)[0]
    np.testing.assert_allclose(layer_norm(norm(4), x + 1e6)[0], expected, rtol=1e-9)
    np.testing.assert_allclose(layer_norm(norm(4), x * 1e30)[0], expected, rtol=1e-5)


LARGEST = np.finfo(float).max


def exact_layer_norm(row, eps=1e-5):
    """The row and its std, in fractions: nothing is rounded and nothing overflows before the end."""
    row = [Fraction(v) for v in row]
    mean = sum(row) / len(row)
    variance = sum((v - mean) ** 2 for v in row) / len(row) + Fraction(eps)
    unit = max(abs(v - mean) for v in row) + 1
    root = Fraction(math.sqrt(variance / unit**2)) * unit
    return [float((v - mean) / root) for v in row], float(root)


@pytest.mark.parametrize(
    "row",
    [
        [1e200, -1e200],
        [1e200, 3e200, 3e200, 5e200],
        [LARGEST, -LARGEST],
        [LARGEST, LARGEST, -LARGEST],  # x - mean leaves the float range
        [LARGEST] * 4,  # the sum does, and the row is constant
        [1e200] * 4,
        [1e200, 1e200, 1e200 * (1 + 2**-50), 1e200 * (1 - 2**-50)],
        [1e170] * 5 + [1e170 + 1e167],
        [1e154, -1e154, 0, 0],
        [1e308, 5e-324],
        [1e160, 1e-160, 1, -1],
    ],
)
def test_rows_whose_squares_leave_the_float_range_are_normalised_all_the_same(row):
    for sign in (1, -1):
        out, trace = layer_norm(norm(len(row)), [[sign * v for v in row]])  # a warning would fail here
        expected, std = exact_layer_norm([sign * v for v in row])
        np.testing.assert_allclose(out, [expected], rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(trace.std, [[std]], rtol=1e-12)


def test_epsilon_is_measured_in_the_unit_of_a_large_row_too():
    row = [1e155, 2e155, -1e155]
    out, trace = layer_norm(norm(3), [row], eps=1e308)  # a hundredth of the variance
    expected, std = exact_layer_norm(row, eps=1e308)
    np.testing.assert_allclose(out, [expected], rtol=1e-12)
    np.testing.assert_allclose(trace.std, [[std]], rtol=1e-12)


def test_in_float32_and_float16_too():
    out, _ = layer_norm(
        LayerNorm(np.ones(2, np.float32), np.zeros(2, np.float32)), np.array([[1e20, -1e20]], np.float32)
    )
    np.testing.assert_array_equal(out, np.array([[1, -1]], np.float32))
    assert out.dtype == np.float32
    half = LayerNorm(np.ones(4, np.float16), np.zeros(4, np.float16))
    out, _ = layer_norm(half, np.array([[65504, -65504, 60000, -60000]], np.float16))
    np.testing.assert_allclose(out, layer_norm(norm(4), [[65504.0, -65504, 60000, -60000]])[0], rtol=1e-3)
    assert out.dtype == np.float16
    np.testing.assert_array_equal(layer_norm(half, np.full((1, 4), 7, np.float16), eps=1e-12)[0], np.zeros((1, 4)))


def test_a_large_row_changes_no_digit_of_the_rows_beside_it():
    x = np.random.default_rng(0).normal(size=(5, 7)) * np.array([[1e-300], [1], [1e6], [1e153], [1e-9]])
    alone, alone_trace = layer_norm(norm(7), x)
    out, trace = layer_norm(norm(7), np.vstack([x, np.full((1, 7), 1e300) * np.arange(7)]))
    np.testing.assert_array_equal(out[:-1], alone)
    np.testing.assert_array_equal(trace.std[:-1], alone_trace.std)


@pytest.mark.parametrize("power", [-3, 100, 500, 511, 512, 600, 1000, 1022])
def test_a_row_times_a_power_of_two_is_normalised_to_the_same_digits_and_its_gradient_divided(power):
    x, dout = np.random.default_rng(1).uniform(-1, 1, size=(3, 5)), np.random.default_rng(2).normal(size=(3, 5))
    unit = 2.0**power
    out, trace = layer_norm(norm(5), x, eps=1e-300)
    scaled, scaled_trace = layer_norm(norm(5), x * unit, eps=1e-300)
    np.testing.assert_array_equal(scaled, out)
    np.testing.assert_array_equal(scaled_trace.std, trace.std * unit)
    dx, _ = layer_norm_backward(norm(5), trace, dout)
    scaled_dx, _ = layer_norm_backward(norm(5), scaled_trace, dout)
    np.testing.assert_allclose(scaled_dx, dx / unit, rtol=1e-12, atol=1e-320)


def test_an_epsilon_that_the_dtype_takes_for_zero_is_refused():
    p = LayerNorm(np.ones(2, np.float32), np.zeros(2, np.float32))
    with pytest.raises(ValueError, match="eps: expected a positive number of float32, got 1e-50"):
        layer_norm(p, np.ones((1, 2), np.float32), eps=1e-50)


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
        (lambda: layer_norm(norm(3), np.ones((2, 4))), "gamma: expected shape 4 for rows of shape 2 x 4, got 3"),
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


def test_padding_does_not_count():
    logits = np.random.default_rng(0).normal(size=(2, 3, 5))
    targets = np.array([[1, 2, 3], [4, 0, 0]])
    is_token = np.array([[True, True, True], [True, False, False]])
    loss, trace = cross_entropy(logits, targets, is_token)
    counted = [cross_entropy(logits[b, t : t + 1], targets[b, t : t + 1])[0] for b, t in np.argwhere(is_token)]
    assert loss == pytest.approx(np.mean(counted)) and trace.n == 4
    assert (cross_entropy_backward(trace)[~is_token] == 0).all()


def test_label_smoothing_mixes_the_goal_with_an_even_share():
    logits = np.random.default_rng(1).normal(size=(3, 5))
    targets = [4, 0, 2]
    loss, trace = cross_entropy(logits, targets, label_smoothing=0.1)
    even = -log_softmax(logits).mean()
    assert loss == pytest.approx(0.9 * cross_entropy(logits, targets)[0] + 0.1 * even)
    np.testing.assert_allclose(trace.goal.sum(axis=-1), 1)


def test_a_confident_mistake_has_a_finite_loss():
    assert cross_entropy([[1e4, 0.0]], [1])[0] == 1e4


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cross_entropy(np.zeros((2, 3)), [0, 3]), r"targets: expected ids from 0 to 2 .* got 3 at \[1\]"),
        (lambda: cross_entropy(np.zeros((2, 3)), [0]), "targets: expected shape 2 for logits of shape 2 x 3, got 1"),
        (lambda: cross_entropy(np.zeros((1, 3)), [0], [False]), "is_token: expected at least one token to count"),
        (lambda: cross_entropy(np.zeros((1, 3)), [0], [1]), "is_token: expected booleans of shape 1"),
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


def test_softmax_backward_is_the_product_with_the_jacobian():
    a, dout = softmax(drawn(2, 5)), drawn(3, 5)
    jacobian = np.diag(a) - np.outer(a, a)
    np.testing.assert_allclose(softmax_backward(a, dout), jacobian @ dout, rtol=1e-12)


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


def test_every_public_function_opens_with_what_it_does_and_shows_an_example():
    for name in (
        "softmax", "softmax_naive", "log_softmax", "linear", "embedding", "relu", "gelu", "gelu_tanh", "layer_norm",
        "layer_norm_eps_outside",
    ):  # fmt: skip
        doc = getattr(ops, name).__doc__
        opening = doc.split("Parameters")[0].split("Examples")[0]
        assert ("``" in opening or "::" in opening) and ">>>" in doc, name
    for name in ("softmax", "linear", "embedding", "layer_norm"):  # whose arguments say more than a shape
        doc = getattr(ops, name).__doc__
        assert "Parameters" in doc and "Returns" in doc and "Raises" in doc, name
