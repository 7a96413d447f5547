"""Where `toytf.ops` and `toytf.attention` are easily wrong: at the ends of the numbers, masked, and in dtypes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from toytf.attention import MultiHead, attention, multi_head_attention
from toytf.ops import (
    LayerNorm,
    gelu,
    gelu_tanh,
    layer_norm,
    log_softmax,
    softmax,
    softmax_naive,
)

finite = st.floats(-1e307, 1e307)  # their differences are finite too
arrays = hnp.arrays(np.float64, hnp.array_shapes(min_dims=1, max_dims=4, max_side=5), elements=finite)


@given(arrays, st.data())
def test_softmax_of_any_finite_input_sums_to_one_along_any_axis(x, data):
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    with np.errstate(all="raise", under="ignore"):  # and nothing overflows on the way
        weights = softmax(x, axis=axis)
    assert weights.shape == x.shape and (weights >= 0).all()
    np.testing.assert_allclose(weights.sum(axis=axis), 1.0, rtol=1e-12)


def test_softmax_survives_what_overflows_and_underflows_the_naive_one():
    np.testing.assert_allclose(softmax([[800.0, 900.0], [-800.0, -900.0]]), [[np.exp(-100), 1], [1, np.exp(-100)]])
    np.testing.assert_array_equal(softmax([-np.inf, 3.0, -np.inf]), [0.0, 1.0, 0.0])
    np.testing.assert_array_equal(log_softmax([0.0, 1e4, -1e4]), [-1e4, 0.0, -2e4])
    with np.errstate(all="ignore"):
        assert np.isnan(softmax_naive([[800.0, 900.0]])).any()
        assert np.isnan(softmax_naive([[-800.0, -900.0]])).all()


def test_the_two_forms_of_gelu_are_within_half_a_thousandth_and_hold_at_the_ends():
    x = np.linspace(-10, 10, 20_001)
    assert 1e-4 < np.abs(gelu(x) - gelu_tanh(x)).max() < 5e-4
    for form in (gelu, gelu_tanh):
        np.testing.assert_array_equal(form([1e30, -1e30]), [1e30, 0.0])


def norm(beta=0.0):
    return LayerNorm(np.ones(4), np.full(4, beta))


def test_a_constant_row_becomes_beta_and_large_rows_stay_right():
    for value in (0.0, 1e6, -1e30):
        np.testing.assert_array_equal(layer_norm(norm(beta=0.25), np.full((1, 4), value))[0], np.full((1, 4), 0.25))
    x = np.array([[1.0, 3.0, 3.0, 5.0]])
    expected = layer_norm(norm(), x)[0]
    np.testing.assert_allclose(layer_norm(norm(), x + 1e6)[0], expected, rtol=1e-9)
    np.testing.assert_allclose(layer_norm(norm(), x * 1e30)[0], expected, rtol=1e-5)


@pytest.mark.parametrize("garbage", [np.nan, np.inf, -np.inf, 1e300])
def test_what_stands_at_a_masked_key_or_value_changes_nothing(garbage):
    rng = np.random.default_rng(0)
    q, k, v = rng.normal(size=(5, 3)), rng.normal(size=(7, 3)), rng.normal(size=(7, 2))
    mask = np.arange(7) != 4
    expected, _ = attention(q, k, v, mask)
    k[4], v[4] = garbage, garbage
    np.testing.assert_array_equal(attention(q, k, v, mask)[0], expected)


@pytest.mark.parametrize("shape", [(7,), (1, 7), (5, 7), (5, 1), (2, 1, 7), (2, 5, 7)])
def test_a_mask_of_any_fitting_shape_means_what_broadcasting_says(shape):
    rng = np.random.default_rng(4)
    mask, x, memory = rng.random(shape) < 0.7, rng.normal(size=(2, 5, 4)), rng.normal(size=(2, 7, 4))
    p, whole = MultiHead(*rng.normal(size=(4, 4, 4))), np.broadcast_to(mask, (2, 5, 7))
    for call in (
        lambda m: attention(x, memory, memory, m),
        lambda m: multi_head_attention(p, x, memory, n_heads=2, mask=m),
    ):
        np.testing.assert_array_equal(call(mask)[0], call(whole)[0])
