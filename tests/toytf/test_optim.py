"""What `toytf.optim` promises beside its numbers, which `test_properties` holds against plain Python."""

import numpy as np
import pytest

from toytf.ops import LayerNorm
from toytf.optim import Adam, sgd_step


def pair(gamma, beta):
    return LayerNorm(np.array(gamma, dtype=float), np.array(beta, dtype=float))


def test_a_gradient_that_is_no_number_changes_no_parameter():
    for step in (lambda p, g: sgd_step(p, g, 0.1), lambda p, g: Adam().step(p, g, 0.1)):
        p = pair([1.0], [2.0])
        with pytest.raises(ValueError, match=r"grads: beta: expected finite numbers, got nan at \[0\]"):
            step(p, pair([1.0], [np.nan]))
        np.testing.assert_array_equal([p.gamma[0], p.beta[0]], [1.0, 2.0])
