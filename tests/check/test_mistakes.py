"""Known mistakes as edits of the right function. Each thing that the reader must refuse is planted."""

import re
import sys

import numpy as np
import pytest

from toytf import check
from toytf.check.core import Case, Check, checker

LIMIT = 7


def deviation(x, eps=0.5):
    """The root of the variance: ``np.sqrt(variance + eps)``."""
    away = x - x.mean()
    variance = (away * away).mean()
    return np.sqrt(variance + eps)


X = np.array([1.0, 3.0])  # variance 1


def told(mistakes: str) -> Check:
    """A checker of `deviation` that knows some mistakes."""
    one = checker("ex-00-1", cases=lambda rng: [Case((X,))])(deviation)
    one.knows(mistakes)
    return one


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("np.sqrt(variance + eps) => variance + eps", 1.5),
        ("eps=0.5 => eps=3.0", 2.0),  # in the signature
        ("x.mean() =>0.0", np.sqrt(5.5)),
        ("variance + eps => LIMIT + 2", 3.0),  # a name of the solution's module
        ("- x.mean() =>", np.sqrt(5.5)),  # nothing takes its place
        ("mean =>> sum", np.sqrt(10.5)),  # each of them
        ("x.mean() => 0.0, and\n    np.sqrt(variance + eps)\n    => variance - eps", 4.5),
        ("\n    x.mean() => 0.0 + eps - eps, and + eps => - eps", np.sqrt(4.5)),  # found in the solution alone
    ],
)
def test_an_edit_makes_the_wrong_function(text, value):
    text = f"- [:, None] forgotten: {text}".replace(": \n", ":\n")
    (mistake,) = told(f"{text}\n  Advice: two\n  lines.").mistakes
    assert (mistake.name, mistake.advice) == ("[:, None] forgotten", "Advice: two lines.")
    assert mistake.function(X) == pytest.approx(value)
    assert mistake.source.startswith("def deviation(x, eps=")


def test_two_mistakes_at_once_keep_the_longer_edit_and_each_place():
    one = told("- a: mean =>> sum\n  A.\n- b: x.mean() => 0.0\n  B.\n- c: + eps => - eps\n  C.")
    values = {two.name: two.function(X) for two in one.two_at_once}
    assert values == pytest.approx({"a, and b": np.sqrt(10.5), "a, and c": np.sqrt(9.5), "b, and c": np.sqrt(4.5)})


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("- wrong: np.sqrt(variance) => 1", "wrong: expected 'np.sqrt(variance)' once in the solution, got it 0 times"),
        ("- wrong: variance => 1.0", "deviation: wrong: expected 'variance' once in the solution, got it 2 times"),
        ("- wrong: + eps =>> - eps", "wrong: expected '+ eps' more than once in the solution, got it 1 times"),
        ("- wrong: The root => The square", "expected 'The root' once in the solution, got it 0 times"),  # no code
        ("- wrong: + eps => +  eps", "deviation: wrong: expected edits that change the function, got the solution"),
        ("- wrong: + eps => +", "invalid syntax (<deviation: wrong>, line 5)"),
        ("- wrong: + eps", "wrong: expected BEFORE => AFTER, got '+ eps'"),
        ("- wrong: eps => 1 => 2", "wrong: expected BEFORE => AFTER, got 'eps => 1 => 2'"),
        ("- wrong: variance + eps => 1, and + eps => - eps", "wrong: expected edits of different places, got"),
        ("- wrong: + eps => - eps\n  A.\n- wrong: + eps => * eps", "wrong: expected a name for each mistake"),
        ("wrong: a => b", "deviation: expected '- NAME: BEFORE => AFTER' and below it an advice"),
        ("- a: + eps => - eps\n- b: + eps => * eps", "expected '- NAME: BEFORE => AFTER' and below it an advice"),
    ],
)
def test_what_is_no_mistake_is_refused_with_its_name_and_text(text, says):
    with pytest.raises((SyntaxError, ValueError), match=re.escape(says)):
        told(f"{text}\n  Mend it.").report(abs)


def test_a_checker_and_an_answer_stand_in_the_file_of_their_chapter():
    for one in check.CHECKS.values():
        assert one.solution.__module__ == f"toytf.check.ch{one.exercise[3:5]}"
        assert getattr(check, one.name) is one
        assert one.name in check.__all__
    for number, one in check.BY_HAND.items():
        assert one.parts == tuple(sys.modules[f"toytf.check.ch{one.exercise[3:5]}"].BY_HAND[number])
