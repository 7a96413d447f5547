"""What `toytf.byhand` promises: the arithmetic that it writes is true, in both forms."""

import itertools
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from toytf import byhand, ops
from toytf.byhand import fmt
from toytf.example import PUBLISHED, W_K
from toytf.positions import sinusoids, sinusoids_column_as_i

numbers = st.floats(-1e4, 1e4).map(lambda x: round(x, 2))


def matrices(rows, cols):
    return hnp.arrays(np.float64, (rows, cols), elements=numbers)


def evaluate(text: str) -> float:
    """Evaluate an expression as it stands on the page."""
    text = text.replace("·", "*").replace("^", "**").replace("−", "-")
    text = re.sub(r"√(\([^)]*\)|[\d.]+)", r"(\1)**0.5", text)
    return eval(text, {"e": np.e, "sin": np.sin, "cos": np.cos, "max": max})


# ---------------------------------------------------------------- the formatter


def test_numbers_have_fixed_decimals_aligned_columns_and_no_negative_zero():
    assert fmt([[1, -0.00004], [10.5, 2]]) == "[[ 1.0000  0.0000]\n [10.5000  2.0000]]"
    assert fmt(-0.0, 2) == "0.00"
    assert fmt(np.float64(0.1), 3) == "0.100"
    assert fmt(np.array([1, 20])) == "[ 1 20]"
    assert fmt([np.nan, np.inf, -np.inf], 1) == "[ nan  inf -inf]"
    assert fmt([4.67695573e-10, 1.0], 8, sci=True) == "[4.67695573e-10 1.00000000e+00]"


@given(st.floats(-1e6, 1e6), st.integers(0, 8))
def test_what_is_written_is_the_number_rounded_to_the_last_place(x, decimals):
    assert abs(float(fmt(x, decimals)) - x) <= 0.5 * 10.0**-decimals + 1e-9


def test_words_are_refused():
    with pytest.raises(TypeError, match="expected numbers, got dtype"):
        fmt("abc")


# ---------------------------------------------------------------- true arithmetic


def narrow(columns):
    return hnp.arrays(np.float64, (2, columns), elements=st.floats(-30, 30).map(lambda x: round(x, 3)))


def backward_of_layer_norm(x, dout):
    plain = ops.LayerNorm(np.ones(4), np.zeros(4))
    return ops.layer_norm_backward(plain, ops.layer_norm(plain, x)[1], dout)[0]


# The operation, what goes in, what should come out, and how near each step comes to it: rounding hides the rest.
OPERATIONS = {
    "matmul": (byhand.matmul, (matrices(2, 3), matrices(3, 2)), np.matmul, 1e-3),
    "add": (byhand.add, (matrices(2, 3), matrices(2, 3)), np.add, 1e-3),
    "divide": (byhand.divide, (matrices(2, 3), st.sampled_from([2.0, 3.0, 30.0])), np.divide, 1e-3),
    "divide by a root": (
        lambda a, by: byhand.divide(a, by, root=True, decimals=8),
        (narrow(3), st.sampled_from([2.0, 3.0, 64.0])),
        lambda a, by: a / by**0.5,
        1e-6,
    ),
    "softmax": (lambda s: byhand.softmax(s, subtract_max=True, decimals=8), (narrow(4),), ops.softmax, 1e-5),
    "mean": (byhand.mean, (matrices(2, 5),), lambda x: x.mean(axis=-1, keepdims=True), 1e-3),
    "relu": (byhand.relu, (matrices(2, 5),), ops.relu, 1e-3),
    "softmax_backward": (
        lambda a, d: byhand.softmax_backward(ops.softmax(a), d, decimals=8),
        (narrow(4), narrow(4)),
        lambda a, d: ops.softmax_backward(ops.softmax(a), d),
        1e-5,
    ),
    "layer_norm_backward": (
        lambda x, d: byhand.layer_norm_backward(x, d, decimals=8),
        (
            hnp.arrays(np.float64, (2, 4), elements=st.integers(-50, 50)).filter(lambda x: x.std(-1).min() > 0),
            narrow(4),
        ),
        backward_of_layer_norm,
        1e-5,
    ),
    "cross_entropy_backward": (
        lambda x, g: byhand.cross_entropy_backward(ops.softmax(x), g, decimals=8),
        (narrow(4), narrow(4)),
        lambda x, g: (ops.softmax(x) - g) / 2,
        1e-6,
    ),
    "positions": (
        lambda wrong: byhand.positions([0, 1, 7], 6, column_as_i=wrong),
        (st.booleans(),),
        lambda wrong: (sinusoids_column_as_i if wrong else sinusoids)(8, 6)[[0, 1, 7]],
        1e-4,
    ),
}


@pytest.mark.parametrize("operation", OPERATIONS)
@given(data=st.data())
def test_every_step_evaluates_to_the_entry_and_an_equals_sign_stands_between_equal_numbers(operation, data):
    function, given_, expected, near = OPERATIONS[operation]
    arguments = [data.draw(one) for one in given_]
    working = function(*arguments)
    np.testing.assert_allclose(working.result, expected(*arguments), rtol=1e-12, atol=1e-14)
    for entry, value in zip(working.entries, np.ravel(working.result), strict=True):
        chain = [(relation, evaluate(text)) for relation, text in entry.chain("text")]
        for _, found in chain:
            assert found == pytest.approx(value, rel=near, abs=near)
        for (_, before), (relation, after) in itertools.pairwise(chain):
            assert relation == "≈" or before == pytest.approx(after, rel=1e-11, abs=1e-7)


@given(matrices(2, 5), st.booleans())
def test_the_first_step_of_variance_and_layer_norm_evaluates_to_the_entry(x, other):
    for working in (
        byhand.variance(x, unbiased=other, decimals=6),
        byhand.layer_norm(x, eps_outside=other, decimals=6),
    ):
        for entry, expected in zip(working.entries, working.result.ravel(), strict=True):
            assert evaluate(entry.chain("text")[0][1]) == pytest.approx(expected, rel=1e-4, abs=1e-3)


def test_a_backward_step_with_a_term_left_out_is_never_shown(monkeypatch):
    """a_i (1 - a_i) da_i, as if each weight hung on its own score alone."""
    monkeypatch.setattr(ops, "softmax_backward", lambda weights, dout: weights * (1 - weights) * dout)
    with pytest.raises(AssertionError, match="the arithmetic gives .*, NumPy gives"):
        byhand.softmax_backward([0.25, 0.75], [2.0, 6.0])


def test_the_sources_k1_entry_stands_as_it_should_have_been_printed():
    working = byhand.matmul(PUBLISHED.x, W_K[0], "K₁", rows=PUBLISHED.tokens)
    assert working.entries[4].chain("text") == [
        ("=", "2.84·0 + 3.99·1 + 4·0 + 6·1"),
        ("=", "0 + 3.99 + 0 + 6"),
        ("=", "9.99"),
    ]


def test_a_rounded_step_is_marked_as_rounded():
    relations = [relation for relation, _ in byhand.softmax([1, 2, 3]).entries[2].chain("text")]
    assert relations == ["=", "≈", "≈", "≈"]
    assert [r for r, _ in byhand.positions([1], 4).entries[3].chain("text")] == ["=", "=", "=", "≈"]
    assert [r for r, _ in byhand.positions([0], 4).entries[1].chain("text")] == ["=", "=", "=", "="]


def test_negative_numbers_are_written_so_that_they_can_be_read():
    entry = byhand.matmul([[-1.5, 2.0]], [[2.0], [-3.0]]).entries[0]
    assert [text for _, text in entry.chain("text")] == ["(-1.5)·2 + 2·(-3)", "-3 - 6", "-9"]
    assert [text for _, text in entry.chain("html")] == ["(−1.5)·2 + 2·(−3)", "−3 − 6", "−9"]


# ---------------------------------------------------------------- two forms, one object


def test_html_has_one_disclosure_with_all_sums_and_needs_no_script():
    markup = byhand.matmul(PUBLISHED.x, W_K[0], "K₁", "x W", rows=PUBLISHED.tokens, cols=["a", "b", "c"]).html()
    assert markup.count("<details") == markup.count("<summary>All 6 sums<") == 1
    assert markup.count("<p>") == 6 and "<p><b>World, b</b> = 2.84·0 + 3.99·1 + 4·0 + 6·1\n= 0 +" in markup
    assert "<script" not in markup and "onclick" not in markup and "style=" not in markup
    assert '<th scope="row">World</th>' in markup and '<th scope="col">b</th>' in markup


def test_labels_cannot_smuggle_markup_in():
    working = byhand.table([[1.0]], "<b>", rows=["<script>"], cols=["a & b"])
    assert "<script>" not in working.html() and "&lt;script&gt;" in working.html()


def test_what_would_round_to_zero_is_shown_when_asked():
    working = byhand.table([[4.67695573e-10, 1.0]], "A", sci=True)
    assert "4.677e-10" in working.text()
    assert "4.677 × 10<sup>−10</sup>" in working.html()
    assert "0.0" in byhand.table([[4.67695573e-10, 1.5]], "A").text()


def test_an_expansion_can_be_narrowed_to_some_entries():
    working = byhand.add([[1.0, 2.0]], [[3.0, 4.0]], rows=["Hello"])
    assert [e.where for e in working.only("Hello, 2").entries] == ["Hello, 2"]
    with pytest.raises(ValueError, match=r"where: expected some of \['Hello, 1', 'Hello, 2'\], got 'Hello, 3'"):
        working.only("Hello, 3")


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: byhand.matmul(np.ones((2, 3)), np.ones((4, 2))), ValueError, r"a has width 3 \(shape 2 x 3\).*4 rows"),
        (lambda: byhand.add(np.ones((2, 3)), np.ones((2, 2))), ValueError, "a has shape 2 x 3 and b 2 x 2"),
        (lambda: byhand.matmul([[1.0, np.nan]], [[1.0], [1.0]]), ValueError, r"a: expected finite .* nan at \[0, 1\]"),
        (lambda: byhand.softmax_backward([0.5, 0.5], [1.0]), ValueError, "weights has shape 1 x 2 and dout 1 x 1"),
        (lambda: byhand.layer_norm_backward(np.ones((2, 3)), [[1.0]]), ValueError, "x has shape 2 x 3 and dout 1 x 1"),
        (lambda: byhand.cross_entropy_backward([[0.5, 0.5]], [1.0]), ValueError, "probs has shape 1 x 2 and goal"),
        (lambda: byhand.divide([[1.0]], 0), ValueError, "divisor: expected a non-zero number, got 0"),
        (lambda: byhand.divide([[1.0]], -3, root=True), ValueError, "divisor: expected a positive number, got -3"),
        (lambda: byhand.table([[1.0, 2.0]], rows=["a", "b"]), ValueError, "rows: expected 1 labels, got 2"),
        (lambda: byhand.table(np.ones((2, 2, 2))), ValueError, "array: expected a row or a matrix .* 2 x 2 x 2"),
        (lambda: byhand.weighted_sum([[1.0]], [[1.0], [2.0]]), ValueError, "weights has width 1 .*values has 2 rows"),
        (lambda: byhand.table([["a"]]), TypeError, "array: expected real numbers"),
        (lambda: byhand.positions([1], 3), ValueError, "d_model: expected an even number"),
    ],
)
def test_bad_input_is_named_with_what_was_expected_and_what_came(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_no_argument_is_modified():
    a = np.ones((2, 2))
    for f in (byhand.table, byhand.softmax, lambda a: byhand.matmul(a, a), lambda a: byhand.add(a, a)):
        working = f(a)
        working.result[0, 0] = 7
        np.testing.assert_array_equal(a, np.ones((2, 2)))
