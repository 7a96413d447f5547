"""Inputs are drawn until they are fair: no known mistake passes on them, and rounding decides nothing."""

import numpy as np
import pytest

from toytf.check.core import Case, Check, Mistake


def drawing(inputs, solution=lambda x: x, mistakes=()):
    """A checker whose draws are given, one after the other; and how many it has drawn."""
    drawn = []

    def cases(rng):
        drawn.append(inputs[min(len(drawn), len(inputs) - 1)])
        return [Case((np.array(drawn[-1]),), "an array")]

    one = Check(solution, "ex-00-1", cases)
    one.mistakes = mistakes
    return one, drawn


def mistake(function):
    return Mistake("the mistake", "Do not make it.", function)


def refuse(error):
    def function(x):
        raise error("no")

    return function


@pytest.mark.parametrize(
    ("draws", "how"),
    [
        ([[2.0], [2.0], [-2.0]], {"mistakes": [mistake(np.abs)]}),
        ([[1.0, 1.0 + 1e-9], [1.0, 1.1]], {"solution": np.argmax}),  # in float32 the first of equals
        ([[1e308, 1.0]], {"solution": lambda x: np.isfinite(x).all()}),  # float32 cannot hold it: taken as it is
        ([[1.0]], {"solution": refuse(ValueError), "mistakes": [mistake(refuse(TypeError))]}),  # another error
    ],
)
def test_unfair_inputs_are_drawn_again_and_fair_ones_are_not(draws, how):
    one, drawn = drawing(draws, **how)
    (case,) = one.draw(np.random.default_rng(0))
    assert case.args[0].tolist() == draws[-1]
    assert len(drawn) == len(draws)


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"mistakes": [mistake(np.abs)]}, "'the mistake' passes as float64"),
        ({"mistakes": [mistake(lambda x: x * (1 + 1e-5))]}, "'the mistake' passes as float32"),
        ({"mistakes": [mistake(lambda x: x * (1 + 1e-4))]}, "'the mistake' passes as float16"),
        ({"solution": lambda x: np.sin(1e6 * x + 0.1)}, "float32 is not precise enough for the arguments (an array)"),
    ],
)
def test_a_checker_without_fair_inputs_says_so_loudly(how, says):
    value = [1.0 / 3] if "solution" in how else [2.0]
    one, drawn = drawing([value], **how)
    one.name = "made"
    with pytest.raises(RuntimeError, match="made: cases: expected fair inputs, got none; in the last draw ") as e:
        one.draw(np.random.default_rng(0))
    assert says in str(e.value)
    assert 10 <= len(drawn) <= 100
