"""What `toytf.example` promises: the running example, in two tracks."""

import numpy as np

from toytf.example import FEED_FORWARD, PAPER, PUBLISHED, W_K, W_K2_TYPESET, W_Q, W_Q1_TYPESET, W_V
from toytf.positions import sinusoids


def test_the_published_track_starts_from_the_printed_input():
    np.testing.assert_allclose(PUBLISHED.x, [[1, 3, 3, 5], [2.84, 3.99, 4, 6]], rtol=1e-15)


def test_the_papers_track_differs_in_the_positions_alone():
    np.testing.assert_array_equal(PAPER.positions, sinusoids(2, 4))
    np.testing.assert_array_equal(PAPER.embedding, PUBLISHED.embedding)
    assert PAPER.heads is PUBLISHED.heads
    np.testing.assert_array_equal(PAPER.x[0], PUBLISHED.x[0])  # position 0 is right in both


def test_shapes():
    for matrices in (W_Q, W_K, W_V):
        assert [m.shape for m in matrices] == [(4, 3), (4, 3)]
    assert PUBLISHED.heads.w_q.shape == (4, 6)
    assert PUBLISHED.heads.w_o.shape == (6, 4)


def test_the_typeset_matrices_differ_from_the_code_in_one_row_each():
    assert (W_Q1_TYPESET != W_Q[0]).any(axis=1).sum() == 1
    assert (W_K2_TYPESET != W_K[1]).any(axis=1).sum() == 1


def test_the_feed_forward_integers_fit_the_example():
    assert (FEED_FORWARD.w_1.shape, FEED_FORWARD.b_1.shape) == ((4, 8), (8,))
    assert (FEED_FORWARD.w_2.shape, FEED_FORWARD.b_2.shape) == ((8, 4), (4,))
