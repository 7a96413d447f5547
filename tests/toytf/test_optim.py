"""What `toytf.optim` promises."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toytf.ops import LayerNorm
from toytf.optim import Adam, clip, cosine_schedule, paper_schedule, sgd_step
from toytf.tree import named_arrays


def pair(gamma, beta):
    return LayerNorm(np.array(gamma, dtype=float), np.array(beta, dtype=float))


def test_a_step_of_gradient_descent_by_hand():
    p = pair([1.0, 2.0], [3.0])
    sgd_step(p, pair([10.0, -10.0], [0.5]), 0.1)
    np.testing.assert_allclose(p.gamma, [0.0, 3.0])
    np.testing.assert_allclose(p.beta, [2.95])


def test_the_first_two_steps_of_adam_by_hand():
    # beta1 0.9, beta2 0.98. Step 1: m 0.2, v 0.08, made up to 2 and 4: moves by 0.1 * 2 / 2.
    # Step 2: m 0.9*0.2 + 0.1*1 = 0.28, v 0.98*0.08 + 0.02*1 = 0.0984, made up by 0.19 and 0.0396.
    p, adam = pair([1.0], []), Adam(eps=1e-300)
    adam.step(p, pair([2.0], []), 0.1)
    np.testing.assert_allclose(p.gamma, [0.9], rtol=1e-14)
    adam.step(p, pair([1.0], []), 0.1)
    np.testing.assert_allclose(p.gamma, [0.9 - 0.1 * (0.28 / 0.19) / math.sqrt(0.0984 / 0.0396)], rtol=1e-14)


@given(st.floats(1e-3, 1e3), st.sampled_from([-1.0, 1.0]))
def test_the_first_step_of_adam_has_the_same_size_for_any_gradient(size, sign):
    p = pair([0.0], [])
    Adam(eps=1e-12).step(p, pair([sign * size], []), 0.5)
    np.testing.assert_allclose(p.gamma, [-sign * 0.5], rtol=1e-6)


def test_both_optimisers_find_the_bottom_of_a_bowl():
    for step in (lambda p, g: sgd_step(p, g, 0.1), (lambda adam: lambda p, g: adam.step(p, g, 0.05))(Adam())):
        p = pair([3.0, -2.0], [1.0])
        for _ in range(400):
            step(p, pair(2 * p.gamma, 2 * p.beta))
        assert max(np.abs(a).max() for a in named_arrays(p).values()) < 1e-2


def test_clipping_shortens_all_gradients_together_and_only_if_needed():
    g = pair([3.0], [4.0])
    assert clip(g, 10.0) == 5.0
    np.testing.assert_array_equal(g.gamma, [3.0])
    assert clip(g, 1.0) == 5.0
    np.testing.assert_allclose([g.gamma[0], g.beta[0]], [0.6, 0.8])


def test_the_papers_schedule_rises_to_its_peak_and_falls_like_one_over_the_root():
    rate = paper_schedule(512, 4000)
    rates = [rate(t) for t in range(1, 20_001)]
    assert int(np.argmax(rates)) + 1 == 4000
    assert rate(16_000) == pytest.approx(rate(4000) / 2)
    assert rate(1000) == pytest.approx(rate(4000) / 4)


def test_the_cosine_schedule_has_its_peak_after_warm_up_and_no_step_of_size_zero():
    rate = cosine_schedule(0.01, 100, 600)
    rates = [rate(t) for t in range(1, 602)]
    assert max(rates) == rates[99] == 0.01
    assert rates[-1] == pytest.approx(0, abs=1e-12)
    assert min(rates[:-1]) > 0 and rates[99:] == sorted(rates[99:], reverse=True)
    assert 0 < cosine_schedule(1.0, 0, 10)(10) < 0.05


def test_float32_parameters_stay_float32():
    p = LayerNorm(np.ones(2, np.float32), np.ones(2, np.float32))
    g = LayerNorm(np.ones(2, np.float32), np.ones(2, np.float32))
    adam = Adam()
    adam.step(p, g, 0.1)
    assert p.gamma.dtype == adam.m.dtype == np.float32


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: sgd_step(pair([1.0], [1.0]), pair([1.0], [1.0]), 0),
            "learning_rate: expected a positive number, got 0",
        ),
        (lambda: Adam().step(pair([1.0], []), pair([1.0, 2.0], []), 0.1), "grads: gamma: expected shape 1, got 2"),
        (lambda: Adam(beta1=1.0), "beta1: expected at least 0 and below 1, got 1.0"),
        (lambda: sgd_step(pair([1.0], [1.0]), LayerNorm(np.ones(1), None), 0.1), r"got \['beta'\] on one side only"),
        (lambda: clip(pair([1.0], []), -1), "limit: expected a positive number, got -1"),
        (lambda: cosine_schedule(0.1, 20, 10), "warmup: expected 0 to 10, the number of steps, got 20"),
        (lambda: paper_schedule(512, 0), "warmup: expected at least 1, got 0"),
    ],
)
def test_bad_input_is_named_with_what_was_expected_and_what_came(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_gradient_that_is_no_number_changes_no_parameter():
    for step in (lambda p, g: sgd_step(p, g, 0.1), lambda p, g: Adam().step(p, g, 0.1)):
        p = pair([1.0], [2.0])
        with pytest.raises(ValueError, match=r"grads: beta: expected finite numbers, got nan at \[0\]"):
            step(p, pair([1.0], [np.nan]))
        np.testing.assert_array_equal([p.gamma[0], p.beta[0]], [1.0, 2.0])


def test_the_cosine_schedule_does_not_rise_again_after_its_end():
    rate = cosine_schedule(0.01, 100, 600)
    with pytest.raises(ValueError, match="t: expected 1 to 601, one step after the last, got 602"):
        rate(602)
