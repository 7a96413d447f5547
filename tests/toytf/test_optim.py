"""What `toytf.optim` promises beside its numbers, which `test_properties` holds against plain Python."""

import numpy as np
import pytest

from toytf.ops import LayerNorm
from toytf.optim import Adam, cosine_schedule, paper_schedule, sgd_step


def pair(gamma, beta):
    return LayerNorm(np.array(gamma, dtype=float), np.array(beta, dtype=float))


def test_schedules_have_their_peak_after_warm_up_and_no_step_of_size_zero():
    rates = [paper_schedule(512, 4000)(t) for t in range(1, 20_001)]
    assert int(np.argmax(rates)) + 1 == 4000
    rates = [cosine_schedule(0.01, 100, 600)(t) for t in range(1, 602)]
    assert max(rates) == rates[99] == 0.01 and rates[-1] == pytest.approx(0, abs=1e-12)
    assert min(rates[:-1]) > 0 and rates[99:] == sorted(rates[99:], reverse=True)


def test_a_gradient_that_is_no_number_changes_no_parameter():
    for step in (lambda p, g: sgd_step(p, g, 0.1), lambda p, g: Adam().step(p, g, 0.1)):
        p = pair([1.0], [2.0])
        with pytest.raises(ValueError, match=r"grads: beta: expected finite numbers, got nan at \[0\]"):
            step(p, pair([1.0], [np.nan]))
        np.testing.assert_array_equal([p.gamma[0], p.beta[0]], [1.0, 2.0])
