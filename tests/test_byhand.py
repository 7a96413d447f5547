"""What `toytf.byhand` promises: the arithmetic that it writes is true, in all three forms."""

import html
import re

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from toytf import byhand, ops
from toytf.byhand import fmt
from toytf.example import PUBLISHED, W_K

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


@given(matrices(2, 3), matrices(3, 2))
def test_every_step_of_a_matrix_product_evaluates_to_the_entry(a, b):
    working = byhand.matmul(a, b, decimals=4)
    np.testing.assert_array_equal(working.result, a @ b)
    for entry, expected in zip(working.entries, (a @ b).ravel(), strict=True):
        for _, text in entry.chain("text"):
            assert evaluate(text) == pytest.approx(expected, rel=1e-9, abs=1e-3)


@given(matrices(2, 3), matrices(3, 2))
def test_an_equals_sign_stands_only_between_numbers_shown_in_full(a, b):
    for entry in byhand.matmul(a, b, decimals=2).entries:
        chain = entry.chain("text")
        for (_, before), (relation, after) in zip(chain, chain[1:], strict=False):
            if relation == "=":
                assert evaluate(before) == pytest.approx(evaluate(after), rel=1e-11, abs=1e-7)


@given(hnp.arrays(np.float64, (2, 4), elements=st.floats(-30, 30).map(lambda x: round(x, 3))), st.booleans())
def test_every_step_of_a_softmax_evaluates_to_the_weight(scores, subtract_max):
    working = byhand.softmax(scores, subtract_max=subtract_max, decimals=6)
    for entry, expected in zip(working.entries, working.result.ravel(), strict=True):
        assert evaluate(entry.chain("text")[0][1]) == pytest.approx(expected, rel=1e-6, abs=1e-12)


def test_every_step_of_the_positions_evaluates_to_the_value():
    for column_as_i in (False, True):
        working = byhand.positions([0, 1, 7], 6, column_as_i=column_as_i)
        for entry, expected in zip(working.entries, working.result.ravel(), strict=True):
            for _, text in entry.chain("text"):
                assert evaluate(text) == pytest.approx(expected, abs=1e-4)


@given(matrices(2, 5), st.booleans())
def test_every_step_of_mean_variance_layer_norm_and_relu_evaluates_to_the_entry(x, other):
    for working in (
        byhand.mean(x, decimals=6),
        byhand.variance(x, unbiased=other, decimals=6),
        byhand.layer_norm(x, eps_outside=other, decimals=6),
        byhand.relu(x, decimals=6),
    ):
        for entry, expected in zip(working.entries, working.result.ravel(), strict=True):
            assert evaluate(entry.chain("text")[0][1]) == pytest.approx(expected, rel=1e-4, abs=1e-3)


@given(matrices(2, 3), st.sampled_from([2.0, 3.0, 30.0, 64.0]), st.booleans())
def test_every_step_of_a_division_evaluates_to_the_entry(a, divisor, root):
    for entry, expected in zip(
        *(lambda w: (w.entries, w.result.ravel()))(byhand.divide(a, divisor, root=root)), strict=True
    ):
        for _, text in entry.chain("text"):
            assert evaluate(text) == pytest.approx(expected, rel=1e-3, abs=1e-3)


@given(matrices(2, 4), matrices(2, 4))
def test_every_step_of_a_softmax_backward_evaluates_to_what_ops_gives(scores, dout):
    weights, dout = ops.softmax(scores / 1e3), dout / 1e4
    working = byhand.softmax_backward(weights, dout, decimals=8)
    np.testing.assert_array_equal(working.result, ops.softmax_backward(weights, dout))
    for entry, expected in zip(working.entries, working.result.ravel(), strict=True):
        for _, text in entry.chain("text"):
            assert evaluate(text) == pytest.approx(expected, rel=1e-6, abs=1e-7)


@given(hnp.arrays(np.float64, (2, 4), elements=st.integers(-50, 50)), matrices(2, 4))
def test_every_step_of_a_layer_norm_backward_evaluates_to_what_ops_gives(x, dout):
    assume(x.std(axis=-1).min() > 0)
    plain, dout = ops.LayerNorm(np.ones(4), np.zeros(4)), dout / 1e4
    _, trace = ops.layer_norm(plain, x)
    working = byhand.layer_norm_backward(x, dout, decimals=8)
    np.testing.assert_array_equal(working.result, ops.layer_norm_backward(plain, trace, dout)[0])
    for entry, expected in zip(working.entries, working.result.ravel(), strict=True):
        for _, text in entry.chain("text"):
            assert evaluate(text) == pytest.approx(expected, rel=1e-6, abs=1e-6)


@given(matrices(3, 4), st.lists(st.integers(0, 3), min_size=3, max_size=3))
def test_every_step_of_a_cross_entropy_backward_evaluates_to_what_ops_gives(logits, targets):
    _, trace = ops.cross_entropy(logits / 1e3, targets)
    working = byhand.cross_entropy_backward(trace.probs, trace.goal, decimals=8)
    np.testing.assert_allclose(working.result, ops.cross_entropy_backward(trace), rtol=0, atol=1e-15)
    for entry, expected in zip(working.entries, working.result.ravel(), strict=True):
        for _, text in entry.chain("text"):
            assert evaluate(text) == pytest.approx(expected, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize(
    ("function", "call"),
    [
        # a_i (1 - a_i) da_i, as if each weight hung on its own score alone
        ("softmax_backward", lambda: byhand.softmax_backward([0.25, 0.75], [2.0, 6.0])),
        # the row's own mean and variance taken for constants
        ("layer_norm_backward", lambda: byhand.layer_norm_backward([[1.0, 3.0, 3.0, 5.0]], [[1.0, 0.0, 0.0, 2.0]])),
    ],
)
def test_a_backward_step_with_a_term_left_out_is_never_shown(monkeypatch, function, call):
    wrong = {
        "softmax_backward": lambda weights, dout: weights * (1 - weights) * dout,
        "layer_norm_backward": lambda p, trace, dout: (dout * p.gamma / trace.std, p),
    }
    call()
    monkeypatch.setattr(ops, function, wrong[function])
    with pytest.raises(AssertionError, match="the arithmetic gives .*, NumPy gives"):
        call()


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


def test_arithmetic_that_disagrees_with_numpy_is_never_shown(monkeypatch):
    monkeypatch.setattr(byhand.Sum, "value", property(lambda self: 4.0))
    with pytest.raises(AssertionError, match=r"1, 1: the arithmetic gives 4\.0, NumPy gives 5\.0"):
        byhand.matmul([[1.0, 2.0]], [[1.0], [2.0]])


# ---------------------------------------------------------------- three forms, one object


def plain(markup: str) -> str:
    """Return the text of some HTML."""
    return html.unescape(re.sub(r"<[^>]+>", " ", markup))


def test_html_latex_and_text_say_the_same_numbers():
    working = byhand.softmax([[1.0, 2.5], [0.5, -0.25]], "A", "softmax(S)", rows=["Hello", "World"], cols=["k", "l"])

    def found(text):
        return sorted(re.findall(r"\d+\.\d+", text))

    text = found(working.text())
    assert found(working.latex()) == text
    # HTML shows the operands as well, each number with as many decimals as its matrix needs.
    assert set(text) <= set(found(plain(working.html())))


def test_html_has_one_disclosure_with_all_sums_and_needs_no_script():
    markup = byhand.matmul(PUBLISHED.x, W_K[0], "K₁", "x W", rows=PUBLISHED.tokens, cols=["a", "b", "c"]).html()
    assert markup.count("<details") == markup.count("<summary>All 6 sums<") == 1
    assert markup.count("<p>") == 6 and "<p><b>World, b</b> = 2.84·0 + 3.99·1 + 4·0 + 6·1\n= 0 +" in markup
    assert "<script" not in markup and "onclick" not in markup and "style=" not in markup
    assert '<th scope="row">World</th>' in markup and '<th scope="col">b</th>' in markup


def test_labels_cannot_smuggle_markup_in():
    working = byhand.table([[1.0]], "<b>", rows=["<script>"], cols=["a & b"])
    assert "<script>" not in working.html() and "&lt;script&gt;" in working.html()
    assert r"\&" in byhand.matmul([[1.0]], [[1.0]], "s", rows=["a & b"]).latex()


def test_what_would_round_to_zero_is_shown_when_asked():
    working = byhand.table([[4.67695573e-10, 1.0]], "A", sci=True)
    assert "4.677e-10" in working.text()
    assert "4.677 × 10<sup>−10</sup>" in working.html()
    assert r"4.677 \cdot 10^{-10}" in working.latex()
    assert "0.0" in byhand.table([[4.67695573e-10, 1.5]], "A").text()


def test_an_expansion_can_be_narrowed_to_some_entries():
    working = byhand.add([[1.0, 2.0]], [[3.0, 4.0]], rows=["Hello"])
    assert [e.where for e in working.only("Hello, 2").entries] == ["Hello, 2"]
    with pytest.raises(ValueError, match=r"where: expected some of \['Hello, 1', 'Hello, 2'\], got 'Hello, 3'"):
        working.only("Hello, 3")


def test_tables_beside_each_other_keep_their_forms():
    both = byhand.beside(byhand.table([[1.0]], "as published"), byhand.table([[2.0]], "as in the paper"))
    assert both._repr_html_().count("<table") == 2
    assert "as published" in str(both) and "as in the paper" in str(both)


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
