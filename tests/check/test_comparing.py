"""What a checker says to a function: right, a known mistake, or what any function can have wrong."""

import numpy as np
import pytest

from toytf.check.core import Case, Check, Mistake


def made(solution, inputs, *mistakes):
    """A checker of one argument."""
    one = Check(solution, "ex-00-1", lambda rng: [Case((np.asarray(x),), "numbers") for x in inputs])
    one.name, one.mistakes = "made", mistakes
    return one


DOUBLE = made(lambda x: 2 * x, [[1.0, 2.0]], Mistake("squared", "x * x is not 2 * x.", lambda x: x * x))


@pytest.mark.parametrize(
    ("mine", "says"),
    [
        (lambda x: x + x, "made: right, on 1 input."),
        (lambda x: (2 * x + 1e-6).astype(np.float32), "made: right"),
        (lambda x: 2 * x + [0, 1e-6], "yours 4.000001, expected 4"),
        (lambda x: (2.001 * x).astype(np.float16), "Work with float64."),
        (lambda x: x * x, "This looks like: squared."),
        (lambda x: -2 * x, "Every sign is the other way round."),
        (lambda x: 3 * x, "Every number is 1.5000 times what is expected."),
        (lambda x: x * np.nan, "There is NaN"),
        (lambda x: (2 * x)[:, None], "result has shape 2 x 1; expected 2."),
        (lambda x: 2 * x + [0, 1], "Some numbers differ."),
        (lambda x: 2 * x + [0, 1], "result[1]: yours 5, expected 4"),
        (lambda x: x > 0, "result has dtype bool; expected numbers."),
        (lambda x: np.array([1j, 2]), "complex128"),
        (lambda x: [[1], [2, 3]], "It returned list"),
        (lambda x: "a word", "It returned str"),
        (lambda x: None, "It returned None. Is the return missing?"),
        (lambda x: 1 // 0, "It raised ZeroDivisionError"),
        (lambda x: (x, x, x), "It returned 3 results; expected 1 result."),
        (lambda x: np.multiply(x, 2, out=x), "changes its argument x"),
    ],
)
def test_what_a_checker_says(mine, says):
    assert says in str(DOUBLE.report(mine))


def test_a_mask_of_numbers_is_not_taken_for_one_of_truth_values():
    mask = made(lambda n: np.tri(n, dtype=bool), [2], Mistake("numbers", "Add dtype=bool.", lambda n: np.tri(n)))
    assert mask.report(np.tri).mistake == "numbers"


def test_infinity_equals_itself_alone():
    to_infinity = made(lambda x: x / 0, [[1.0, 2.0]])
    assert to_infinity.report(lambda x: x / 0)
    assert not to_infinity.report(lambda x: x)
    one = made(lambda x: x, [[1.0, 2.0]], Mistake("overflow", "Too large.", lambda x: x * np.inf))
    assert one.report(lambda x: x * np.inf).mistake == "overflow"
    assert one.report(lambda x: x + [0, 1]).mistake is None


def test_an_error_of_another_type_is_named():
    def refuses(error):
        def function(x):
            if x.min() < 0:
                raise error("below 0")
            return x

        return function

    one = made(refuses(ValueError), [[1.0], [-1.0]])
    assert one.report(refuses(ValueError))
    assert "It raised IndexError: below 0; expected ValueError" in str(one.report(refuses(IndexError)))


@pytest.mark.parametrize(
    ("mine", "inputs"),
    [
        (lambda x: -x, [[1.0]]),  # one number has any sign and any ratio by chance
        (lambda x: 2 * x, [[1.0]]),
        (lambda x: x**3, [[2.0, -2.0], [1.0, 2.0]]),  # a ratio of 4, on the first input alone
        (lambda x: x * [1, -1], [[0.0, 2.0], [1.0, 2.0]]),
        (lambda x: x + 1, [[1.0, 1.0]]),  # equal numbers have equal ratios
        (lambda x: x * (1 + 1e-6), [[1.0, 2.0]]),  # would read "1.0000 times"
    ],
)
def test_no_pattern_is_read_into_a_coincidence(mine, inputs):
    assert made(lambda x: x, inputs).report(mine).headline == "made: not yet. Some numbers differ."


def test_a_pattern_of_all_wrong_inputs_is_said():
    assert "Every number is 2.0000 times" in str(made(lambda x: x, [[0.0], [1.0, 2.0]]).report(lambda x: 2 * x))
    lengths = made(lambda x: len(x) * x, [[1.0, 2.0], [1.0, 2.0, 3.0]])  # a factor of its own for each input
    assert "Every number is 0.5000 times" in str(lengths.report(lambda x: x))


@pytest.mark.parametrize(("rows", "says"), [(4, "a ="), (5, "a: shape 5 x 7"), (5, "d = [0.0000 0.0000 0.0000]")])
def test_many_arguments_are_shown_by_their_shapes(rows, says):
    cases = [Case((*(np.ones((rows, 7)) for _ in range(3)), np.zeros(3)))]
    one = Check(lambda a, b, c, d: a, "ex-00-1", lambda rng: cases)
    assert says in str(one.report(lambda a, b, c, d: a + 1))


def test_a_tuple_of_equal_arrays_is_as_good_as_a_list():
    for kind in (tuple, list):
        assert made(lambda x: np.stack([x, 2 * x]), [[1.0, 2.0]]).report(lambda x, kind=kind: kind([x, 2 * x]))
