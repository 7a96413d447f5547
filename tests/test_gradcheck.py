"""What `toytf.gradcheck` promises: it agrees with right gradients and catches wrong ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toytf.gradcheck import TOLERANCE, directional, elementwise, numeric_gradient
from toytf.ops import LayerNorm


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


def test_a_gradient_of_exactly_zero_passes_though_it_has_no_relative_error():
    x = np.array([1.0, 2.0])
    assert elementwise(lambda x: 3.0 + 1e-12 * float(x.sum()), x, np.zeros(2)).error < TOLERANCE


def test_the_argument_is_left_as_it_was():
    x = np.array([1.0, 2.0])
    numeric_gradient(cubes, x)
    np.testing.assert_array_equal(x, [1.0, 2.0])


def test_shapes_must_agree():
    with pytest.raises(ValueError, match=r"gradient: expected shape \(2,\) as x has, got \(3,\)"):
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


def test_an_array_without_a_gradient_is_refused():
    p = LayerNorm(np.ones(2), np.ones(2))
    with pytest.raises(ValueError, match=r"grads: expected one for every array of params, got \['beta'\]"):
        directional(lambda: 0.0, p, LayerNorm(np.ones(2), None), np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"grads: beta: expected shape 2, got 3$"):
        directional(lambda: 0.0, p, LayerNorm(np.ones(2), np.ones(3)), np.random.default_rng(0))
