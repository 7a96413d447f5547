"""What `toytf.gradcheck` promises: it agrees with right gradients and catches wrong ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toytf.attention import attention, attention_backward
from toytf.example import PUBLISHED, W_K, W_Q, W_V
from toytf.gradcheck import TOLERANCE, directional, elementwise
from toytf.ops import LayerNorm, cross_entropy, cross_entropy_backward, softmax


def cubes(x):
    return float((x**3).sum())


def test_a_right_gradient_passes_and_a_wrong_entry_is_named():
    x = np.random.default_rng(0).normal(size=(2, 3))
    right = 3 * x**2
    assert elementwise(cubes, x, right).error < TOLERANCE
    wrong = right.copy()
    wrong[1, 2] *= 1.001
    worst = elementwise(cubes, x, wrong)
    assert worst.where == (1, 2) and worst.error > TOLERANCE


@given(st.sampled_from([1e-8, 1.0, 1e8]))
def test_gradients_of_any_size_pass(scale):
    x = np.array([0.5, -1.5, 2.0])
    assert elementwise(lambda x: scale * cubes(x), x, scale * 3 * x**2).error < TOLERANCE


@pytest.mark.parametrize("size", [1e-12, 1e-6, 1.0, 1e6])
@pytest.mark.parametrize("mistake", ["zeros", "turned round", "ten times", "a thousandth", "one entry"])
def test_a_wrong_gradient_of_any_size_is_caught(size, mistake):
    x = np.array([0.5, -1.5, 2.0])
    right = size * 3 * x**2
    wrong = {
        "zeros": np.zeros(3),
        "turned round": -right,
        "ten times": 10 * right,
        "a thousandth": 1.001 * right,
        "one entry": right * [1, 1, 1.001],
    }[mistake]
    expected = {"zeros": 1.0, "turned round": 2.0, "ten times": 0.9}.get(mistake)
    found = elementwise(lambda x: size * cubes(x), x, wrong)
    assert found.error > 100 * TOLERANCE > found.blur
    assert expected is None or abs(found.error - expected) < 1e-6


# What an error that is the smaller of the absolute and the relative one lets pass: a gradient below its tolerance.


def saturated():
    """The pencil problem of chapter 15, whose softmax is saturated with the root of 3: a loss, Q, and dQ."""
    x, w_out = PUBLISHED.x, np.array([[1.0, -1, 0], [0, 1, 1], [-1, 0, -1]])
    q, k, v = x @ W_Q[0], x @ W_K[0], x @ W_V[0]

    def loss(q):
        return cross_entropy(softmax(q @ k.T / np.sqrt(3)) @ v @ w_out, [0, 1])[0]

    out, trace = attention(q, k, v, scale=3**-0.5)
    dq, _, _ = attention_backward(trace, cross_entropy_backward(cross_entropy(out @ w_out, [0, 1])[1]) @ w_out.T)
    return loss, q, dq


@pytest.mark.parametrize(
    ("wrong", "error"),
    [(lambda d: 0 * d, 1.0), (lambda d: -d, 2.0), (lambda d: 10 * d, 0.9), (lambda d: np.sqrt(3) * d, 0.42)],
    ids=["zeros", "turned round", "ten times", "divisor forgotten"],
)
def test_a_gradient_behind_a_saturated_softmax_is_checked_too(wrong, error):
    loss, q, right = saturated()
    assert np.abs(right).max() < 1e-8  # so an absolute error of 1e-7 would say nothing
    step = 1e-2
    assert elementwise(loss, q, right, step).error < 2e-3
    found = elementwise(loss, q, wrong(right), step)
    assert abs(found.error - error) < 0.01 and np.abs(wrong(right) - right).max() < TOLERANCE


def test_a_step_too_small_for_a_small_gradient_is_told_by_its_blur():
    loss, q, right = saturated()
    small, large = elementwise(loss, q, right), elementwise(loss, q, right, 1e-2)
    assert small.error > 0.01 and small.blur > 0.01 > 100 * large.blur


def test_a_gradient_lost_in_rounding_does_not_pass_and_its_blur_says_why():
    x = np.array([1.0, 2.0])
    lost = elementwise(lambda x: 3.0 + 1e-12 * float(x.sum()), x, np.zeros(2))
    assert lost.blur > 0.1 and (lost.error == 1 or lost.length == 0)
    flat = elementwise(lambda x: 3.0, x, np.zeros(2))
    assert flat.error == flat.length == 0 and flat.blur == np.inf


@given(st.integers(0, 2**32 - 1), st.sampled_from([1e-3, 1.0]))
def test_a_direction_shows_a_share_of_the_length_about_as_large(seed, share):
    rng = np.random.default_rng(seed)
    p = LayerNorm(rng.normal(size=4), rng.normal(size=4))
    wrong = LayerNorm(2 * p.gamma, 2 * p.beta)
    off = rng.normal(size=4)
    wrong.beta = wrong.beta + share * off / np.linalg.norm(off) * np.linalg.norm(wrong.beta)
    found = directional(lambda: float((p.gamma**2).sum() + (p.beta**2).sum()), p, wrong, rng)
    assert found["gamma"].error < TOLERANCE and found["beta"].error < 6 * share


def test_shapes_must_agree():
    with pytest.raises(ValueError, match=r"gradient: expected shape 2 as x has, got 3"):
        elementwise(cubes, np.ones(2), np.ones(3))


def test_a_direction_catches_a_wrong_array_and_names_it():
    p = LayerNorm(np.array([1.0, 2.0]), np.array([3.0, -1.0]))

    def loss():
        return float((p.gamma**2).sum() + (p.beta**3).sum())

    right = LayerNorm(2 * p.gamma, 3 * p.beta**2)
    found = directional(loss, p, right, np.random.default_rng(0))
    assert set(found) == {"gamma", "beta"} and all(m.error < TOLERANCE for m in found.values())
    wrong = directional(loss, p, LayerNorm(2 * p.gamma, 2 * p.beta**2), np.random.default_rng(0))
    assert wrong["beta"].error > TOLERANCE > wrong["gamma"].error
    np.testing.assert_array_equal(p.gamma, [1.0, 2.0])
