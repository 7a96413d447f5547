"""What `toytf.check` promises: a right answer is seen as right, and each known mistake is called by its name."""

import builtins
import functools
import re

import numpy as np
import pytest

from toytf import check, ops, positions
from toytf.byhand import Num, Prod, Quotient, Root, Sum
from toytf.check.answers import worked
from toytf.check.core import Case, Check, Mistake, as_outcome, collect, diagnose

CHECKS = list(check.CHECKS.values())
each = pytest.mark.parametrize("one", CHECKS, ids=[c.name for c in CHECKS])
PLANTED = {f"{one.name}-{mistake.name}": (one, mistake) for one in CHECKS for mistake in one.mistakes}
planted = pytest.mark.parametrize(("one", "mistake"), PLANTED.values(), ids=list(PLANTED))


@functools.cache
def drawn(name, seed):
    return check.CHECKS[name].draw(np.random.default_rng(seed))


def run(source: str, name: str):
    """Define a function as a student's notebook would: with NumPy and nothing else at hand."""
    space = {"np": np, "__builtins__": builtins}
    exec(compile(source, name, "exec"), space)
    return space[name]


# ---------------------------------------------------------------- every checker


@each
def test_the_solution_is_right_with_numpy_alone(one):
    report = one.report(run(one.source, one.name))
    assert report.right, str(report)


@each
def test_the_solution_is_right_on_inputs_of_any_seed(one):
    for seed in (1, 2, 3):
        cases = drawn(one.name, seed)
        report = diagnose(one, cases, collect(run(one.source, one.name), cases))
        assert report.right, f"seed {seed}: {report}"


@planted
def test_a_planted_mistake_is_called_by_its_name(one, mistake):
    report = one.report(mistake.function)
    assert not report
    assert report.mistake == mistake.name, str(report)
    assert mistake.advice in report.details


@planted
def test_a_planted_mistake_is_named_on_inputs_of_any_seed(one, mistake):
    for seed in (1, 2, 3):
        cases = drawn(one.name, seed)
        assert diagnose(one, cases, collect(mistake.function, cases)).mistake == mistake.name, seed


@planted
def test_a_mistake_gives_numbers_on_some_input_so_that_not_every_error_looks_like_it(one, mistake):
    outcomes = collect(mistake.function, one.inputs)
    assert any(outcome.kind == "arrays" for outcome in outcomes)


@planted
def test_a_report_of_a_mistake_shows_an_input_and_both_values(one, mistake):
    text = str(one.report(mistake.function))
    assert "With this input" in text
    assert re.search(r"yours .+, expected|expected|raised|shape", text)


@each
def test_a_blank_stub_fails_politely(one):
    report = one.report(run(one.stub, one.name))
    assert not report
    assert str(report) == f"{one.name}: not written yet."


@each
def test_a_stub_holds_nothing_of_the_solution(one):
    body = one.source.split('"""', 2)[2]
    lines = [line.strip() for line in body.splitlines() if line.strip()]
    assert lines
    assert not [line for line in lines if line in one.stub]


@each
def test_at_least_six_mistakes_are_known_or_the_checker_says_why_not(one):
    assert len(one.mistakes) >= 6 or one.few_mistakes, one.name


@each
def test_common_accidents_have_a_message_of_their_own(one):
    def says(function):
        report = one.report(function)
        assert not report
        return report.headline

    assert "returned None" in says(lambda *args: None)
    assert "raised ZeroDivisionError" in says(lambda *args: 1 // 0)
    assert "str" in says(lambda *args: "a word")
    assert "shape" in says(lambda *args: tuple(np.zeros((9, 1, 9)) for _ in one.results))
    assert "result" in says(lambda *args: tuple(np.zeros(97) for _ in range(len(one.results) + 1)))
    assert "expected your function, got int" in one.report(3).headline


@each
def test_cases_of_one_seed_are_equal_and_of_another_differ(one):
    def text(seed):
        with np.printoptions(threshold=10**6, precision=17):
            return str([case.args for case in one.draw(np.random.default_rng(seed))])

    assert text(0) == text(0)
    if one.random:  # two small cases may be equal by chance
        assert len({text(seed) for seed in range(20)}) > 1


# ---------------------------------------------------------------- how they compare

DOUBLE = Check(
    solution=(lambda: None),
    expected=lambda x: 2 * x,
    cases=lambda rng: [Case((np.array([1.0, 2.0]),), "two numbers")],
    mistakes=(Mistake("squared", "x * x is not 2 * x.", lambda x: x * x),),
    exercise="ex-00-1",
)
DOUBLE.name = "double"
DOUBLE.solution = lambda x: 2 * x


@pytest.mark.parametrize(
    ("mine", "says"),
    [
        (lambda x: x + x, "double: right, on 1 input."),
        (lambda x: [2, 4], "double: right"),
        (lambda x: (2 * x).astype(np.float32), "double: right"),
        (lambda x: (2.001 * x).astype(np.float16), "Work with float64."),
        (lambda x: x * x, "This looks like: squared."),
        (lambda x: -2 * x, "Every sign is the other way round."),
        (lambda x: 3 * x, "Every number is 1.5000 times what is expected."),
        (lambda x: x * np.nan, "There is NaN"),
        (lambda x: (2 * x)[:, None], "result has shape 2 x 1; expected 2."),
        (lambda x: 2 * x + [0, 1], "Some numbers differ."),
        (lambda x: x > 0, "result has dtype bool; expected numbers."),
        (lambda x: np.array([1j, 2]), "complex128"),
        (lambda x: [[1], [2, 3]], "It returned list"),
        (lambda x: np.multiply(x, 2, out=x), "changes its argument x"),
    ],
)
def test_what_a_checker_says(mine, says):
    assert says in str(DOUBLE.report(mine))


def test_the_first_input_that_differs_is_shown_with_both_values():
    text = str(DOUBLE.report(lambda x: 2 * x + [0, 1]))
    assert "x = [1.0000 2.0000]" in text
    assert "result[1]: yours 5, expected 4" in text


def test_numbers_that_agree_in_four_decimals_are_shown_with_more():
    assert "yours 4.00001, expected 4" in str(DOUBLE.report(lambda x: 2 * x + [0, 1e-5]))


def test_a_mask_of_numbers_is_not_taken_for_one_of_truth_values():
    mask = Check(
        solution=(lambda n: None),
        expected=lambda n: np.tri(n, dtype=bool),
        cases=lambda rng: [Case((2,))],
        mistakes=(Mistake("numbers", "Add dtype=bool.", lambda n: np.tri(n)),),
        exercise="ex-00-1",
    )
    assert mask.report(lambda n: np.tri(n, dtype=bool))
    for wrong in (np.tri, lambda n: np.tri(n, dtype=int)):
        assert "expected bool" in str(mask.report(wrong))
    assert mask.report(np.tri).mistake == "numbers"


def made(expected, inputs, *mistakes):
    """A checker of one argument."""
    one = Check(
        solution=(lambda x: None),
        expected=expected,
        cases=lambda rng: [Case((np.asarray(x),)) for x in inputs],
        mistakes=mistakes,
        exercise="ex-00-1",
    )
    one.name = "made"
    return one


def test_a_number_is_not_equal_to_infinity():
    to_infinity = made(lambda x: x / 0, [[1.0, 2.0]])
    assert to_infinity.report(lambda x: x / 0)
    assert not to_infinity.report(lambda x: x)


def test_a_mistake_that_overflows_is_not_taken_for_one_that_does_not():
    one = made(lambda x: x, [[1.0, 2.0]], Mistake("overflow", "Too large.", lambda x: x * np.inf))
    assert one.report(lambda x: x * np.inf).mistake == "overflow"
    assert one.report(lambda x: x + [0, 1]).mistake is None


def refuses(error):
    def function(x):
        if x.min() < 0:
            raise error("below 0")
        return x

    return function


def test_an_error_of_another_type_is_named():
    one = made(refuses(ValueError), [[1.0], [-1.0]])
    assert one.report(refuses(ValueError))
    text = str(one.report(refuses(IndexError)))
    assert "It raised IndexError: below 0; expected ValueError" in text


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


def test_many_arguments_are_shown_by_their_shapes():
    def shown(rows):
        one = made(lambda x: x, [])
        one.solution = lambda a, b, c, d: None
        one.expected = lambda a, b, c, d: a
        one.cases = lambda rng: [Case((*(np.ones((rows, 7)) for _ in range(3)), np.zeros(3)))]
        return str(one.report(lambda a, b, c, d: a + 1))

    assert "a =" in shown(rows=4)
    assert "a: shape 5 x 7" in shown(rows=5)
    assert "d = [0.0000 0.0000 0.0000]" in shown(rows=5)


def test_an_object_that_lies_about_equality_is_no_array():
    class Liar:
        def __eq__(self, other):
            return True

    assert as_outcome(Liar()).kind == "no numbers"


# ---------------------------------------------------------------- what readers wrote


def sigmoid(scores):
    return 1 / (1 + np.exp(-scores))


def one_hot(scores):
    return np.eye(scores.shape[-1])[scores.argmax(axis=-1)]


def attending(share):
    def attend(q, k, v, scale=None):
        scores = q @ np.swapaxes(k, -1, -2) * (1 / np.sqrt(q.shape[-1]) if scale is None else scale)
        return share(scores) @ v

    return attend


def keeping(count):
    """top_p with as many words as `count` says."""

    def top_p(probs, p):
        order = np.argsort(-probs, kind="stable")
        ids = order[: count(np.cumsum(probs[order]), p)]
        shares = np.where(np.isin(np.arange(len(probs)), ids), probs, 0)
        return shares / shares.sum()

    return top_p


def without_heads(x, w_q, w_k, w_v, w_o, n_heads):
    scores = (x @ w_q) @ np.swapaxes(x @ w_k, -1, -2) / np.sqrt(w_q.shape[-1] // n_heads)
    return ops.softmax(scores) @ (x @ w_v) @ w_o


def first_head(x, w_q, w_k, w_v, w_o, n_heads):
    q, k, v = (np.split(x @ w, n_heads, axis=-1)[0] for w in (w_q, w_k, w_v))
    return ops.softmax(q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])) @ v @ w_o[: v.shape[-1]]


def four_squares(words, d, layers, n_heads, n_key_heads, d_head, d_ff):
    return layers * (4 * d * d + 3 * d * d_ff + 2 * d) + d + 2 * words * d


def rounded(name, decimals):
    return lambda *args: np.round(check.CHECKS[name].solution(*args), decimals)


def listed(name):
    return lambda *args: list(check.CHECKS[name].solution(*args))


def naive_and_one_sum(scores):
    return np.exp(scores) / np.exp(scores).sum()


def sample_deviation_and_eps_outside(x, gamma, beta, eps=1e-5):
    return gamma * (x - x.mean(axis=-1, keepdims=True)) / (x.std(axis=-1, ddof=1, keepdims=True) + eps) + beta


def naive_over_the_queries(q, k, v, scale=None):
    exps = np.exp(q @ np.swapaxes(k, -1, -2) * (1 / np.sqrt(q.shape[-1]) if scale is None else scale))
    return exps / exps.sum(axis=-2, keepdims=True) @ v


@pytest.mark.parametrize(
    ("name", "mine", "says"),
    [
        ("softmax", sigmoid, "a sigmoid for each score"),
        ("softmax", one_hot, "all for the largest score"),
        ("attend", attending(sigmoid), "a sigmoid for each score"),
        ("attend", attending(one_hot), "the value of the best key alone"),
        ("attend_once", lambda q, k, v: sigmoid(k @ q / np.sqrt(len(q))) @ v, "a sigmoid for each score"),
        ("masked_softmax", lambda s, mask: np.where(mask, sigmoid(s), 0), "a sigmoid for each score"),
        ("temperature", lambda logits, t: sigmoid(logits / t), "a sigmoid for each logit"),
        ("temperature", lambda logits, t: one_hot(logits), "the likeliest word alone"),
        ("softmax", rounded("softmax", 4), "You rounded"),
        ("attend", rounded("attend", 3), "You rounded"),
        ("sample_std", rounded("sample_std", 2), "You rounded"),
        ("top_p", keeping(lambda sums, p: (sums < p).sum()), "the word that reaches p always left out"),
        (
            "top_p",
            keeping(lambda sums, p: np.argmax(sums > p) + 1),
            "one word more where p is reached exactly, by argmax",
        ),
        ("multi_head", without_heads, "one head with all columns, scaled as one of many"),
        ("multi_head", first_head, "the first head alone"),
        ("llama_parameters", four_squares, "four matrices of d x d"),
        ("pick", lambda logits: logits[:, -2:].argmax(axis=-1)[:, 0], "the row before the last"),
        ("adam_step", listed("adam_step"), "Return a tuple: return w, m, v"),
        ("linear_backward", listed("linear_backward"), "Return a tuple: return dx, dw, db"),
        ("split_heads", lambda x, n: tuple(np.split(x, n, axis=-1)), "heads has shape 3 x 2 x 5 x 2"),
        ("softmax", naive_and_one_sum, "no maximum subtracted, and one sum for the whole array"),
        ("layer_norm", sample_deviation_and_eps_outside, "N - 1 in the place of N, and epsilon outside the root"),
        ("attend", naive_over_the_queries, "softmax over the queries, and no maximum subtracted"),
    ],
)
def test_natural_slips_are_told_apart(name, mine, says):
    report = check.CHECKS[name].report(mine)
    assert not report
    assert says in report.headline


def test_a_tuple_of_equal_arrays_is_as_good_as_a_list():
    for kind in (tuple, list):
        assert made(lambda x: np.stack([x, 2 * x]), [[1.0, 2.0]]).report(lambda x, kind=kind: kind([x, 2 * x]))


# ---------------------------------------------------------------- by hand


@pytest.mark.parametrize("one", check.BY_HAND.values(), ids=list(check.BY_HAND))
def test_the_right_answer_of_a_by_hand_exercise_is_right_when_rounded_as_asked(one):
    for part in one.parts:
        (report,) = one.reports({part.name: np.round(np.asarray(part.expected, float), part.decimals)})
        assert report.right, str(report)


@pytest.mark.parametrize("one", check.BY_HAND.values(), ids=list(check.BY_HAND))
def test_one_wrong_entry_of_a_by_hand_exercise_is_found_and_explained(one):
    for part in one.parts:
        expected = np.asarray(part.expected, float)
        for place in np.ndindex(expected.shape):
            for units in (2, 3, 5, 41):  # the first that is no answer known by name
                answer = np.array(np.round(expected, part.decimals))
                answer[place] += units * 10.0**-part.decimals
                (report,) = one.reports({part.name: answer})
                if "It looks like" not in str(report):
                    break
            assert not report
            assert len(report.details) == 1
            if len(place) == 2:
                assert f"row {place[0] + 1}, column {place[1] + 1}" in report.details[0]


def test_the_sum_of_products_behind_a_wrong_entry_is_shown():
    reports = check.BY_HAND["9.1"].reports({"mean": 4, "variance": 2, "deviation": None})
    assert list(map(str, reports)) == [
        "9.1, mean: not right.\n  yours 4; (1 + 3 + 3 + 5) / 4 = 3",
        "9.1, variance: right.",
        "9.1, deviation: not answered yet.",
    ]


TRAPS = [(one, part, trap) for one in check.BY_HAND.values() for part in one.parts for trap in part.traps]


@pytest.mark.parametrize(
    ("one", "part", "trap"), TRAPS, ids=[f"{one.number}, {part.name}: {trap.looks[:30]}" for one, part, trap in TRAPS]
)
def test_a_known_wrong_answer_is_called_by_its_name(one, part, trap):
    (report,) = one.reports({part.name: np.round(np.asarray(trap.value, dtype=float), 2)})
    assert not report
    assert report.details[0] == f"It looks like {trap.looks}"
    (report,) = one.reports({part.name: part.expected})
    assert report


def test_a_table_that_is_turned_over_is_recognised(capsys):
    check.byhand("9.5", [[1.5, 0], [1, 0]], part="Jacobian")
    assert "It looks like the right table turned over" in capsys.readouterr().out
    check.byhand("9.5", [[1.5, 1], [1, 0]], part="Jacobian")
    assert "looks like" not in capsys.readouterr().out


def part(number, name=""):
    """One answer of an exercise."""
    (found,) = (part for part in check.BY_HAND[number].parts if part.name == name)
    return found


def test_a_worked_answer_is_the_value_of_what_is_written():
    table = worked([[Sum(1, Prod(2, -3))], [Quotient(2, 3)]], [[Num(-5)], [Quotient(4, 6)]], decimals=2, lead="so: ")
    np.testing.assert_array_equal(table.expected, [[-5], [2 / 3]])
    assert table.terms((0, 0)) == "so: 1 + 2 * (-3) = -5 = -5"
    assert table.terms((1, 0)) == "so: 2 / 3 = 4 / 6 = 0.67"
    assert worked(Root(Sum(4, 5)), about=True, shown=".3f").terms(()) == "the root of 4 + 5, about 3.000"
    assert worked(Prod(4, 512), lead="four: ", shown=None).terms(()) == "four: 4 * 512"


@pytest.mark.parametrize(
    ("number", "name", "expected"),
    [
        ("1.2", "fifth result", check.recurrence.solution(np.array([[1.0], [2.0], [3.0], [4.0], [1.0]]))[-1, 0]),
        ("3.1", "row", positions.sinusoids(3, 4)[2]),
        ("3.1", "column as i", positions.sinusoids_column_as_i(3, 4)[2]),
        ("4.3", "weights", ops.softmax(np.array([14.0, 12.0]))),
        ("5.2", "", ops.softmax(np.array([1001.0, 1002.0, 1003.0]))),
        ("9.1", "result", check.layer_norm.solution(np.array([1.0, 3.0, 3.0, 5.0]), 1.0, 0.0, 0.0)),
        ("9.3", "result", check.layer_norm.solution(np.array([[2.0, 6.0], [10.0, 30.0]]), 1.0, 0.0, 0.0)),
        ("14.4", "goal", check.smoothed_goal.solution(np.array(1), 4, 0.2)),
        ("15.3", "ds", ops.softmax_backward(np.array([0.5, 0.25, 0.25]), np.array([4.0, 0.0, 12.0]))),
        ("15.4", "dS", ops.softmax_backward(np.array([0.75, 0.25]), np.array([4.0, 20.0]))),
        (
            "15.5",
            "dx",
            check.layer_norm_backward.solution(np.array([[2.0, 6.0]]), np.ones(2), np.array([[5.0, -1.0]]), 0.0)[0][0],
        ),
        ("20.4", "deviation with N - 1", check.sample_std.solution(np.array([1.0, 3.0, 3.0, 5.0]))[0]),
    ],
)
def test_a_sum_written_by_hand_gives_what_the_function_gives(number, name, expected):
    np.testing.assert_allclose(part(number, name).expected, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("99.1", 1), "exercise: expected one of"),
        ((9.1, 1), "exercise: expected its number in quotation marks"),
        (("9.1", 1), "part: expected one of"),
        (("9.1", 1, "sum"), "got 'sum'"),
    ],
)
def test_a_by_hand_exercise_or_part_that_does_not_exist_is_an_error(arguments, says):
    with pytest.raises(ValueError, match=says):
        check.byhand(*arguments)


def test_an_answer_of_the_wrong_kind_or_shape_is_told_so(capsys):
    check.byhand("9.1", "three", part="mean")
    check.byhand("9.1", [1, 2], part="result")
    said = capsys.readouterr().out
    assert "expected numbers, got 'three'" in said
    assert "expected shape 4, got 2" in said
