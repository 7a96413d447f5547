"""What `toytf.gradcheck` promises: it agrees with right gradients and catches wrong ones."""

import numpy as np
import pytest

from toytf.attention import attention, attention_backward
from toytf.example import PUBLISHED, W_K, W_Q, W_V
from toytf.gradcheck import TOLERANCE, elementwise
from toytf.ops import cross_entropy, cross_entropy_backward, softmax


@pytest.mark.parametrize("size", [1e-12, 1e-6, 1.0, 1e6])
@pytest.mark.parametrize(
    ("spoil", "expected"), [(0, 1.0), (-1, 2.0), (10, 0.9), (1.001, 1e-3), (np.array([1, 1, 1.001]), 7e-4)]
)
def test_a_gradient_of_any_size_passes_and_a_wrong_one_is_caught(size, spoil, expected):
    x = np.array([0.5, -1.5, 2.0])
    right = size * 3 * x**2
    assert elementwise(lambda x: size * float((x**3).sum()), x, right).error < TOLERANCE
    found = elementwise(lambda x: size * float((x**3).sum()), x, spoil * right)
    assert found.error == pytest.approx(expected, rel=0.3) and found.where == (2,)


def test_a_gradient_behind_a_saturated_softmax_is_checked_with_a_larger_step():
    """The pencil problem of chapter 15, divided by the root of 3: an absolute error would let zeros pass."""
    x, w_out = PUBLISHED.x, np.array([[1.0, -1, 0], [0, 1, 1], [-1, 0, -1]])
    q, k, v = x @ W_Q[0], x @ W_K[0], x @ W_V[0]

    def loss(q):
        return cross_entropy(softmax(q @ k.T / np.sqrt(3)) @ v @ w_out, [0, 1])[0]

    out, trace = attention(q, k, v, scale=3**-0.5)
    right, *_ = attention_backward(trace, cross_entropy_backward(cross_entropy(out @ w_out, [0, 1])[1]) @ w_out.T)
    assert np.abs(right).max() < 1e-8
    assert elementwise(loss, q, right, 1e-2).error < 2e-3
    for spoil, error in ((0, 1.0), (-1, 2.0), (10, 0.9), (np.sqrt(3), 0.42)):
        assert abs(elementwise(loss, q, spoil * right, 1e-2).error - error) < 0.01
    assert elementwise(loss, q, right).error > 0.01  # with the usual step it is lost in the rounding
    flat = elementwise(lambda x: 3.0, x, np.zeros(x.shape))
    assert flat.error == flat.length == 0
