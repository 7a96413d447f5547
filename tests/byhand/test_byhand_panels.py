"""What the panels of `toytf.byhand` promise: what is lit is what an entry is made of, and nothing is said twice."""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from toytf import byhand, live, ops
from toytf.byhand import panels
from toytf.byhand.workings import LIGHTS
from toytf.example import PUBLISHED, TOKENS, W_K, W_Q, W_V

RNG = np.random.default_rng(0)
A, B, SQUARE = RNG.normal(size=(2, 3)), RNG.normal(size=(3, 4)), RNG.normal(size=(3, 3))
OTHER = RNG.normal(size=(2, 3))
WEIGHTS, SEEN = ops.softmax(A), np.array([[True, False, True], [True, True, False]])


def product(*lit):
    return sum(x * y for x, y in zip(*lit, strict=True))


# Every operation, and how an entry follows from the lit cells of each operand and its place.
MADE = {
    "matmul": (byhand.matmul(A, B), lambda i, j, a, b: product(a, b)),
    "add": (byhand.add(A, OTHER), lambda i, j, a, b: a[0] + b[0]),
    "divide": (byhand.divide(A, 3, root=True), lambda i, j, a: a[0] / 3**0.5),
    "softmax": (byhand.softmax(A), lambda i, j, a: np.exp(a[j]) / np.exp(a).sum()),
    "mask": (byhand.mask(A, SEEN), lambda i, j, a, m: a[0] + m[0]),
    "concat": (byhand.concat(A, OTHER), lambda i, j, a, b: (a + b)[0]),
    "relu": (byhand.relu(A), lambda i, j, a: max(0, a[0])),
    "mean": (byhand.mean(A), lambda i, j, a: np.mean(a)),
    "variance": (byhand.variance(A), lambda i, j, a: np.var(a)),
    "layer_norm": (byhand.layer_norm(A), lambda i, j, a: (a[j] - np.mean(a)) / np.sqrt(np.var(a) + 1e-5)),
    "softmax_backward": (
        byhand.softmax_backward(WEIGHTS, OTHER),
        lambda i, j, a, d: a[j] * (d[j] - product(a, d)),
    ),
    "layer_norm_backward": (
        byhand.layer_norm_backward(A, OTHER),
        lambda i, j, x, d: ops.layer_norm_backward(*plain_norm([x]), np.array([d]))[0][0, j],
    ),
    "cross_entropy_backward": (byhand.cross_entropy_backward(WEIGHTS, OTHER), lambda i, j, p, g: (p[0] - g[0]) / 2),
    "positions": (byhand.positions([0, 7], 4), lambda i, j, p: np.sin(p[0] / 100 ** (j // 2) + j % 2 * np.pi / 2)),
    "weighted_sum": (
        byhand.weighted_sum(A, B),
        lambda i, j, a, b: product(a, np.reshape(b, B.shape)[:, j]),
    ),
}


def plain_norm(x):
    plain = ops.LayerNorm(np.ones(3), np.zeros(3))
    return plain, ops.layer_norm(plain, x)[1]


def lit(operand, i, j):
    return [float(operand.array[cell]) for cell in operand.lit(i, j)]


def remade(working, rule):
    """The result, computed from nothing but the lit cells."""
    return [
        [rule(i, j, *(lit(o, i, j) for o in working.operands)) for j in range(working.result.shape[1])]
        for i in range(working.result.shape[0])
    ]


@pytest.mark.parametrize("operation", MADE)
def test_an_entry_follows_from_what_it_lights_and_from_nothing_else(operation):
    working, rule = MADE[operation]
    np.testing.assert_allclose(remade(working, rule), working.result, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("operation", "wrong"), [("matmul", "row"), ("softmax", "cell"), ("concat", "column")])
def test_wrong_lights_would_be_seen(operation, wrong):
    working, rule = MADE[operation]
    *others, last = working.operands
    planted = replace(working, operands=(*others, replace(last, lights=wrong, shift=0)))
    with pytest.raises((AssertionError, ValueError, IndexError)):
        np.testing.assert_allclose(remade(planted, rule), working.result, rtol=1e-12, atol=1e-12)


def test_the_page_is_told_the_same_lights():
    for (working, _), (name, lights) in ((MADE["matmul"], x) for x in LIGHTS.items()):
        operand = replace(working.operands[0], lights=name)
        assert panels._lights(operand) == ",".join(where + colour for where, colour in lights)
        assert panels._lights(operand, turned=True) == ",".join(where[::-1] + colour for where, colour in lights)


# ---------------------------------------------------------------- names


@pytest.mark.parametrize(
    ("working", "names"),
    [
        (byhand.matmul(A, B, "K₁", "X W_K"), ["X", "W_K"]),
        (byhand.matmul(A, A.T, "S", "Q₁ K₁ᵀ"), ["Q₁", "K₁ᵀ"]),
        (byhand.matmul(A, B, "X W"), ["X", "W"]),
        (byhand.matmul(A, B, "E", "one-hot · table"), ["one-hot", "table"]),
        (byhand.matmul(A, B, "Z", "[head₁, head₂] W_O"), ["[head₁, head₂]", "W_O"]),
        (byhand.weighted_sum(A, B, "out", "softmax(S / 30) V₁"), ["softmax(S / 30)", "V₁"]),
        (byhand.matmul(A, B, "keys in layer 1"), ["", ""]),
        (byhand.matmul(A, B, "K"), ["", ""]),
        (byhand.add(A, A, "X", "E + PE"), ["E", "PE"]),
        (byhand.add(A, A, "dX", "(by Q + by K) + by V"), ["(by Q + by K)", "by V"]),
        (byhand.divide(A, 3, "S / √3", root=True), ["S"]),
        (byhand.softmax(A, "A", "softmax(S / √3)"), ["S / √3"]),
        (byhand.softmax(A, "A", "softmax of each row"), [""]),
        (byhand.relu(A, "hidden", "max(0, before)"), ["before"]),
        (byhand.layer_norm(A, "U", "LN₁(X + Z)"), ["X + Z"]),
        (byhand.cross_entropy_backward(WEIGHTS, A, "dlogits", "(p − g) / 2"), ["p", "g"]),
    ],
    ids=lambda x: x._heading() if isinstance(x, byhand.Working) else "",
)
def test_operands_are_named_by_the_formula_where_it_has_one_name_for_each(working, names):
    assert [operand.name for operand in working.operands] == names


def test_a_working_brings_its_name_its_labels_and_the_way_back():
    x = byhand.table(PUBLISHED.x, "X", rows=TOKENS)
    k = byhand.matmul(x, byhand.table(W_K[0], "W_K"), "K")
    assert (k.formula, k.rows) == ("X W_K", TOKENS)
    s = byhand.matmul(k, k.T, "S")
    assert (s.formula, s.rows, s.cols) == ("K Kᵀ", TOKENS, TOKENS)
    assert [o.source for o in s.operands] == [k, s.operands[1].source] and s.operands[1].turned
    assert k.T.T is k
    assert byhand.softmax(s).formula == "softmax(S)"
    assert byhand.matmul(x, W_K[0], "K").formula == ""  # one of the two has no name
    assert str(byhand.matmul(k, k.T, "S", "Q Kᵀ", rows=["a", "b"])).startswith("S = Q Kᵀ (2 x 2)")


def test_a_mean_over_one_row_is_shown_without_a_division_and_one_over_two_rows_with_brackets():
    one, two = (byhand.cross_entropy_backward(WEIGHTS[:n], OTHER[:n]) for n in (1, 2))
    assert ([operand.sign for operand in one.operands], one.sign) == (["", "−"], "=")
    assert ([operand.sign for operand in two.operands], two.sign) == (["(", "−"], ") / 2 =")


def test_operands_are_kept_as_they_were():
    a = np.ones((2, 2))
    working = byhand.matmul(a, a)
    a[0, 0] = 7
    assert working.operands[0].array[0, 0] == 1


def test_a_masked_score_has_no_weight_and_a_row_without_scores_is_refused():
    masked = byhand.mask([[1.0, 2.0]], [[True, False]], "M")
    assert "−∞" in masked.html()
    np.testing.assert_array_equal(byhand.softmax(masked).result, [[1, 0]])
    with pytest.raises(ValueError, match="scores: expected at least one finite score in each row"):
        byhand.softmax(byhand.mask([[1.0, 2.0]], [[False, False]]))


# ---------------------------------------------------------------- the page


def test_each_matrix_stands_in_a_panel_once_and_each_sum_too():
    markup = byhand.matmul(PUBLISHED.x, W_K[0], "K₁", "X W_K", rows=TOKENS).html()
    assert markup.count("<table") == 3 and markup.count("<caption>") == 3
    for sum_ in ("2.84·0 + 3.99·1 + 4·0 + 6·1", "1·0 + 3·1 + 3·0 + 5·1"):
        assert markup.count(sum_) == 1
    assert re.findall(r'data-l="([^"]*)"', markup) == ["i*r", "*jc"]


def test_sums_of_some_entries_say_which():
    markup = byhand.matmul(A, B, rows=TOKENS).only("World, 2").html()
    assert '<p data-at="1.1"><b>World, 2</b>' in markup and markup.count("<p") == 1


def test_each_output_is_whole_and_the_same_whether_it_is_the_first_or_the_tenth():
    working = byhand.table([[1.0]])
    for thing in (
        working,
        byhand.beside(working),
        byhand.chain(working),
        live.divisor([[1.0]], 4, rows=["a"], cols=["a"]),
    ):
        outputs = {thing._repr_html_() for _ in range(10)}
        assert len(outputs) == 1 and outputs.pop().startswith(panels.style_and_script())


@given(hnp.arrays(np.float64, st.tuples(st.integers(1, 9), st.integers(1, 9)), elements=st.floats(-1e4, 1e4)))
def test_every_panel_has_one_of_the_widths_that_the_style_knows(array):
    style = panels.style()
    for kind, digits in re.findall(r"\b([stu])(\d+)\b", byhand.add(array, array, "sum").html()):
        assert re.search(rf"\.{kind}{digits}\b", style)


# ---------------------------------------------------------------- chains


def small_chain():
    x = byhand.table(PUBLISHED.x, "X", rows=TOKENS)
    q, k, v = (byhand.matmul(x, byhand.table(w[0], n), n[1:]) for w, n in ((W_Q, "WQ"), (W_K, "WK"), (W_V, "WV")))
    s = byhand.matmul(q, k.T, "S")
    a = byhand.softmax(byhand.divide(s, 30, "scaled"), "A")
    return x, q, k, v, s, a, byhand.weighted_sum(a, v, "out")


def test_a_chain_finds_each_operand_among_the_earlier_steps_turned_too():
    x, q, k, v, s, a, out = small_chain()
    strip = byhand.chain(x, q, k, v, s, a, out)
    assert [strip.sources(n) for n in (0, 1, 4, 6)] == [
        [],
        [(0, False), None],  # the matrix of weights stands nowhere else
        [(1, False), (2, True)],
        [(5, False), (3, False)],
    ]
    assert strip.sources(5) == [None]  # the scaled scores were left out, so they stand beside the weights
    markup = strip.html()
    assert 'data-from="1:i*r:0 2:j*c:0"' in markup  # row i of Q, and row j of K for column j of Kᵀ
    assert markup.count(">X <") == 1 and markup.count("<details") == 1


def test_a_long_chain_opens_with_its_last_part_and_says_every_sum_once():
    steps = small_chain()
    few = byhand.chain("First ([chapter 4](../notebooks/04_self_attention.ipynb))", *steps)
    assert few.html().count('<details class="byhand-part" open>') == 1
    assert '<a href="../notebooks/04_self_attention.ipynb">chapter 4</a>' in few.html()
    assert few.text().startswith("First (chapter 4)\n\nX (2 x 4)")
    many = byhand.chain("one", *steps, "two", *small_chain(), "three", *small_chain())
    assert re.findall('<details class="byhand-part"( open)?>', many.html()) == ["", "", " open"]


def test_a_heading_can_neither_smuggle_markup_in_nor_lead_away():
    strip = byhand.chain("<b> [x](javascript:alert) [y](https://a.b)", byhand.table([[1.0]]))
    assert "<b>" not in strip.html() and "<a" not in strip.html()


def test_attention_as_a_whole_is_the_chain_of_its_steps():
    _, q, k, v, *_ = small_chain()
    strip = byhand.attention(q, k, v, "Z", divisor=30)
    assert [step.name for step in strip.workings] == ["Q", "K", "V", "S", "scaled", "A", "Z"]
    expected = ops.softmax(q.result @ k.result.T / 30) @ v.result
    np.testing.assert_allclose(strip.workings[-1].result, expected)
    masked = byhand.attention(q, k, v, may_attend=[[True, False], [True, True]])
    assert masked.workings[5].name == "masked"
    np.testing.assert_allclose(masked.workings[-1].result[0], v.result[0])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x, q, s: byhand.chain(), ValueError, "steps: expected at least one table"),
        (lambda x, q, s: byhand.chain("heading"), ValueError, "steps: expected at least one table"),
        (
            lambda x, q, s: byhand.chain(x, 3),
            TypeError,
            "steps: expected tables as matmul gives them and headings, got",
        ),
        (lambda x, q, s: byhand.chain(q, x), ValueError, "steps: expected X before Q"),
        (lambda x, q, s: byhand.mask(x, [[True]] * 3), ValueError, "may_attend: expected a shape that broadcasts"),
        (
            lambda x, q, s: byhand.concat(x, [[1.0]]),
            ValueError,
            "parts: expected at least one matrix, all with as many rows, got 2 x 4",
        ),
        (lambda x, q, s: byhand.concat(), ValueError, "parts: expected at least one matrix"),
        (lambda x, q, s: byhand.attention(x, q, q), ValueError, "q has width 4"),
        (lambda x, q, s: byhand.attention(q, q, [[1.0]]), ValueError, "k has shape 2 x 3 and v 1 x 1"),
    ],
)
def test_bad_input_is_named_with_what_was_expected_and_what_came(call, error, message):
    x, q, *_, s, _, _ = small_chain()
    with pytest.raises(error, match=message):
        call(x, q, s)
