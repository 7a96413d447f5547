"""What `toytf.positions` promises."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toytf.positions import sinusoids, sinusoids_column_as_i, sinusoids_halves

VERSIONS = [sinusoids, sinusoids_column_as_i, sinusoids_halves]
even = st.integers(1, 40).map(lambda n: 2 * n)


def test_position_1_by_hand():
    # pair 0 turns by 1, pair 1 by 1 / 10000^(2/4) = 1 / 100
    expected = [np.sin(1.0), np.cos(1.0), np.sin(0.01), np.cos(0.01)]
    np.testing.assert_allclose(sinusoids(2, 4)[1], expected, rtol=1e-15)


def test_the_column_number_in_place_of_the_pair_number_by_hand():
    expected = [np.sin(1.0), np.cos(0.01), np.sin(1e-4), np.cos(1e-6)]
    np.testing.assert_allclose(sinusoids_column_as_i(2, 4)[1], expected, rtol=1e-15)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(("length", "d_model"), [(1, 2), (20, 512), (3, 6), (5000, 8)])
def test_shape_range_and_position_0(version, length, d_model):
    pe = version(length, d_model)
    assert pe.shape == (length, d_model)
    assert np.abs(pe).max() <= 1
    assert sorted(set(pe[0])) == [0.0, 1.0]  # sin 0 and cos 0


def test_a_shift_is_no_linear_map_when_the_column_stands_for_i():
    pe = sinusoids_column_as_i(200, 4)
    best, *_ = np.linalg.lstsq(pe[:-1], pe[1:], rcond=None)
    assert np.abs(pe[:-1] @ best - pe[1:]).max() > 0.5


@given(even, st.integers(0, 100), st.integers(0, 100), st.integers(0, 500))
def test_the_dot_product_of_two_positions_depends_on_their_distance_alone(d_model, p, q, k):
    pe = sinusoids(max(p, q) + k + 1, d_model)
    np.testing.assert_allclose(pe[p] @ pe[q], pe[p + k] @ pe[q + k], atol=1e-10 * d_model)


def test_halves_are_no_mere_reordering():
    ours, theirs = sinusoids(20, 512), sinusoids_halves(20, 512)
    reordered = np.concatenate([ours[:, 0::2], ours[:, 1::2]], axis=1)
    assert 0.02 < np.abs(reordered - theirs).max() < 0.03


def test_halves_of_a_single_pair_have_one_frequency():
    np.testing.assert_allclose(sinusoids_halves(3, 2), sinusoids(3, 2))


@pytest.mark.parametrize("version", VERSIONS)
def test_an_odd_width_is_refused(version):
    with pytest.raises(ValueError, match="d_model: expected an even number .* got 5"):
        version(3, 5)


def test_positions_can_start_anywhere():
    np.testing.assert_array_equal(sinusoids(3, 8, start=5), sinusoids(8, 8)[5:])
