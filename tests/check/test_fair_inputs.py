"""Inputs are drawn until they are fair: no known mistake passes on them, and rounding decides nothing."""

import re

import numpy as np
import pytest

from toytf import check
from toytf.check.core import Case, Check, Mistake, apart

BY_NATURE_EXACT = {"embed": "compares whole numbers", "clip": "at the limit both answers are the same"}


@pytest.mark.parametrize("one", check.CHECKS.values(), ids=list(check.CHECKS))
def test_a_checker_of_a_function_that_decides_says_how_closely(one):
    body = one.source.split('"""', 2)[2].replace("<unk>", "")
    decides = re.search(r"argmax|argsort|close|[<>]", body) is not None
    assert (one.gap is not None) == (decides and one.name not in BY_NATURE_EXACT)


SAME_STEPS = np.log([0.9, 0.1]), np.log([[0.7, 0.3], [0.7, 0.3]])
ROW = np.array([[-1.0, 1.0], [-1.0, 1.0]])


@pytest.mark.parametrize(
    ("near", "name", "args"),
    [
        (True, "pick", (np.array([[[0.0, 9.0], [1.0, 1.0 + 1e-9]]]),)),
        (True, "top_k", (np.array([0.5, 0.25 + 1e-9, 0.25 - 1e-9]), 2)),
        (True, "top_p", (np.array([0.6, 0.3, 0.1]), 0.9)),  # 0.6 + 0.3 is less
        (True, "beam", (*SAME_STEPS, 3, 2)),  # 0 0 1 and 0 1 0
        (True, "generate", (np.eye(2), np.array([[0.0, 0.1], [0.2, 0.1]]), 0, 9, 3)),  # the second word: 0.2 to 0.2
        (True, "relu_backward", (np.array([1e-9, 1.0]), np.ones(2))),
        (True, "rows_stand_alone", (ROW + 1e-7, ROW)),
        (False, "pick", (np.array([[[1.0, 4.0, 4.0]]]),)),  # exact ties are part of the task
        (False, "rows_stand_alone", (ROW + 1e-14, ROW)),
    ],
)
def test_a_near_tie_is_seen_and_an_exact_one_does_not_count(near, name, args):
    gap = check.CHECKS[name].gap(*args)
    assert gap < 1e-6 if near else gap > 0.1


# ---------------------------------------------------------------- drawing again


def drawing(inputs, expected=lambda x: x, mistakes=(), **how):
    """A checker whose draws are given, one after the other; and how many it has drawn."""
    drawn = []

    def cases(rng):
        drawn.append(inputs[min(len(drawn), len(inputs) - 1)])
        return [Case((np.array(drawn[-1]),), "an array")]

    one = Check(lambda x: None, "ex-00-1", cases, expected, **how)
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
        ([[1.0, 1.00001], [1.0, 1.1]], {"expected": np.argmax, "gap": lambda x: apart(x[0], x[1])}),
        ([[1e308, 1.0]], {"expected": lambda x: np.isfinite(x).all()}),  # float32 cannot hold it: taken as it is
        ([[1.0]], {"expected": refuse(ValueError), "mistakes": [mistake(refuse(TypeError))]}),  # another error
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
        ({"gap": lambda x: 1e-9}, "a decision lies within rounding: numbers 1e-09 apart (an array)"),
        ({"expected": lambda x: np.sin(1e6 * x + 0.1)}, "float32 is not precise enough for the arguments (an array)"),
    ],
)
def test_a_checker_without_fair_inputs_says_so_loudly(how, says):
    value = [1.0 / 3] if "expected" in how else [2.0]
    one, drawn = drawing([value], **how)
    one.name = "made"
    with pytest.raises(RuntimeError, match="made: cases: expected fair inputs, got none; in the last draw ") as e:
        one.draw(np.random.default_rng(0))
    assert says in str(e.value)
    assert 10 <= len(drawn) <= 100
