"""What `toytf.ops` promises."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from toytf import ops
from toytf.ops import Linear, embedding, linear, softmax, softmax_naive

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


def test_no_argument_is_modified():
    x = np.random.default_rng(2).normal(size=(2, 3))
    kept = x.copy()
    p = Linear(np.ones((3, 3)), np.ones(3))
    for f in (softmax, softmax_naive, lambda x: linear(p, x)):
        f(x)
        np.testing.assert_array_equal(x, kept)
    np.testing.assert_array_equal(p.weight, np.ones((3, 3)))
    assert embedding(x, [0, 1]).base is None  # a copy: writing into it leaves the table alone


def test_every_public_function_says_what_it_returns():
    for name in ("softmax", "softmax_naive", "linear", "embedding"):
        doc = getattr(ops, name).__doc__
        assert "Parameters" in doc and "Returns" in doc and ">>>" in doc, name
