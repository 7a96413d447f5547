"""The HTML of `toytf.byhand`: each matrix and each sum once, operands named, steps found again in a chain."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from toytf import byhand, live, ops
from toytf.byhand import panels
from toytf.example import PUBLISHED, TOKENS, W_K, W_Q, W_V

RNG = np.random.default_rng(0)
A, B = RNG.normal(size=(2, 3)), RNG.normal(size=(3, 4))


@pytest.mark.parametrize(
    ("working", "names"),
    [
        (byhand.matmul(A, B, "K₁", "X W_K"), ["X", "W_K"]),
        (byhand.matmul(A, B, "X W"), ["X", "W"]),
        (byhand.matmul(A, B, "E", "one-hot · table"), ["one-hot", "table"]),
        (byhand.matmul(A, B, "Z", "[head₁, head₂] W_O"), ["[head₁, head₂]", "W_O"]),
        (byhand.weighted_sum(A, B, "out", "softmax(S / 30) V₁"), ["softmax(S / 30)", "V₁"]),
        (byhand.matmul(A, B, "keys in layer 1"), ["", ""]),
        (byhand.matmul(A, B, "K"), ["", ""]),
        (byhand.add(A, A, "X", "E + PE"), ["E", "PE"]),
        (byhand.add(A, A, "dX", "(by Q + by K) + by V"), ["(by Q + by K)", "by V"]),
        (byhand.mask(A, A > 0, "S′", "S + B"), ["S", "B"]),
        (byhand.mask(A, A > 0, "S′"), ["", "M"]),
        (byhand.divide(A, 3, "S / √3", root=True), ["S"]),
        (byhand.softmax(A, "A", "softmax(S / √3)"), ["S / √3"]),
        (byhand.softmax(A, "A", "softmax of each row"), [""]),
        (byhand.relu(A, "hidden", "max(0, before)"), ["before"]),
        (byhand.layer_norm(A, "U", "LN₁(X + Z)"), ["X + Z"]),
        (byhand.cross_entropy_backward(A, A, "dlogits", "(p − g) / 2"), ["p", "g"]),
    ],
    ids=lambda x: str(x).partition(" (")[0] if isinstance(x, byhand.Working) else "",
)
def test_operands_are_named_by_the_formula_where_it_has_one_name_for_each(working, names):
    assert [operand.name for operand in working.operands] == names


def test_a_working_brings_its_name_its_labels_and_the_way_back():
    x = byhand.table(PUBLISHED.x, "X", rows=TOKENS)
    k = byhand.matmul(x, byhand.table(W_K[0], "W_K"), "K")
    assert (k.formula, k.rows) == ("X W_K", TOKENS)
    s = byhand.matmul(k, k.T, "S")
    assert (s.formula, s.rows, s.cols) == ("K Kᵀ", TOKENS, TOKENS)
    assert [o.source for o in s.operands] == [k, s.operands[1].source] and k.T.T is k
    assert byhand.softmax(s).formula == "softmax(S)"
    assert byhand.matmul(x, W_K[0], "K").formula == ""  # one of the two has no name


@pytest.mark.parametrize(("a", "sign"), [(8.706, "≈"), (8.71, "=")])
def test_a_sum_whose_parts_are_rounded_has_no_equals_sign_between_them(a, sign):
    html = byhand.add([[a]], [[-0.02]], "logits", decimals=2).html()
    assert re.findall(r'class="b-sign">([^<]*)<', html) == ["+", sign]


def test_a_mean_over_one_row_is_shown_without_a_division_and_one_over_two_rows_with_brackets():
    one, two = (byhand.cross_entropy_backward(A[:n], A[:n]) for n in (1, 2))
    assert ([operand.sign for operand in one.operands], one.sign) == (["", "−"], "=")
    assert ([operand.sign for operand in two.operands], two.sign) == (["(", "−"], ") / 2 =")


def test_each_matrix_stands_in_a_panel_once_and_each_sum_in_one_disclosure_without_a_script():
    markup = byhand.matmul(PUBLISHED.x, W_K[0], "K₁", "X W_K", rows=TOKENS, cols=["a", "b", "c"]).html()
    assert markup.count("<table") == markup.count("<caption>") == 3
    assert markup.count("<details") == markup.count("<summary>All 6 sums<") == 1
    assert markup.count("<p><b>World, b</b> = 2.84·0 + 3.99·1 + 4·0 + 6·1\n= 0 + 3.99 + 0 + 6\n= 9.99</p>") == 1
    assert re.findall(r'data-l="([^"]*)"', markup) == ["i*r", "*jc"]
    assert '<th scope="row">World</th>' in markup and '<th scope="col">b</th>' in markup
    assert not re.search("<script|onclick|style=", markup)


def test_sums_of_some_entries_say_which():
    markup = byhand.matmul(A, B, rows=TOKENS).only("World, 2").html()
    assert '<p data-at="1.1"><b>World, 2</b>' in markup and markup.count("<p") == 1


def test_the_marked_cells_of_a_table_are_tinted_and_no_others():
    html = byhand.table([[1, 2], [0, 3]], "X", marked=[[False, True], [False, True]]).html()
    assert re.findall(r"<td[^>]*>(\S*?)</td>", html) == ["", "1", "<mark>2</mark>", "0", "<mark>3</mark>"]


def test_many_sums_of_nothing_but_zeros_are_counted_and_a_sum_ends_with_the_number_of_its_table():
    product = byhand.matmul([[1.0, 0], [0, 0], [0, 2]], [[0.25, 0], [0, 0.5]])
    sums = panels.sum_lines(product)
    assert [line.count(" hidden") for line in sums.split("</p>")] == [0, 1, 1, 1, 1, 0, 0]
    assert sums.endswith("4 entries are 0, term by term.</div>")
    assert "= 0.25 + 0\n= 0.25</p>" in sums and "= 0 + 1\n= 1.00</p>" in sums
    few = panels.sum_lines(byhand.matmul([[1.0, 0]], [[0.25, 0], [0, 0.5]]))
    assert "hidden" not in few and "= 0 + 0\n= 0.00</p>" in few
    assert "≈ 0.0900</p>" in panels.sum_lines(byhand.softmax([1, 2, 3]))


def test_labels_and_headings_can_neither_smuggle_markup_in_nor_lead_away():
    working = byhand.table([[1.0]], "<b>", rows=["<script>"], cols=["a & b"])
    strip = byhand.chain("<b> [x](javascript:alert) [y](https://a.b)", working)
    for markup in (working.html(), strip.html()):
        assert not re.search("<script>|<b>|<a", markup) and "&lt;script&gt;" in markup


def test_each_output_is_whole_and_the_same_whether_it_is_the_first_or_the_tenth():
    working = byhand.table([[1.0]])
    widget = live.divisor([[1.0]], 4, rows=["a"], cols=["a"])
    for thing in (working, byhand.beside(working), byhand.chain(working), widget):
        assert thing._repr_html_() == thing._repr_html_() and thing._repr_html_().startswith(panels.style_and_script())


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
    markup = byhand.chain(*small_chain()).html()
    assert re.findall(r'data-from="([^"]*)"', markup) == [
        *["0:i*r:0"] * 3,  # X; the matrices of weights stand nowhere else
        "1:i*r:0 2:j*c:0",  # row i of Q, and row j of K for column j of its transpose
        "5:i*r:0 3:**c:0",  # not A: the scaled scores were left out, so they stand beside the weights
    ]
    assert re.findall(">from ([^<>]*) above<", markup) == ["X", "X", "X", "Q and K", "A and V"]
    assert markup.count(">X<") == 1 and markup.count("<details") == 1


def test_a_long_chain_opens_with_its_last_part_or_the_one_that_is_named():
    steps = small_chain()
    few = byhand.chain("First ([chapter 4](../notebooks/04_self_attention.ipynb))", *steps)
    assert few.html().count('<details class="byhand-part" open>') == 1
    assert '<a href="../notebooks/04_self_attention.ipynb">chapter 4</a>' in few.html()
    closed = byhand.chain("one", *steps, "two", *small_chain(), seen="one")
    assert re.findall('<details class="byhand-part"( open)?>', closed.html()) == [" open", ""]
    assert few.text().startswith("First (chapter 4)\n\nX (2 x 4)")
    many = byhand.chain("one", *steps, "two", *small_chain(), "three", *small_chain())
    assert re.findall('<details class="byhand-part"( open)?>', many.html()) == ["", "", " open"]
    named = byhand.chain("one", *steps, "two", *small_chain(), "three", *small_chain(), seen="two")
    assert re.findall('<details class="byhand-part"( open)?>', named.html()) == ["", " open", ""]


def test_attention_as_a_whole_is_the_chain_of_its_steps():
    _, q, k, v, *_ = small_chain()
    strip = byhand.attention(q, k, v, "Z", divisor=30)
    assert [step.name for step in strip.workings] == ["Q", "K", "V", "S", "scaled", "A", "Z"]
    expected = ops.softmax(q.result @ k.result.T / 30) @ v.result
    np.testing.assert_allclose(strip.workings[-1].result, expected)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x, q: byhand.chain("heading"), ValueError, "steps: expected at least one table"),
        (lambda x, q: byhand.chain(x, 3), TypeError, "steps: expected tables as matmul gives them and headings, got"),
        (lambda x, q: byhand.chain(q, x), ValueError, "steps: expected X before Q"),
        (
            lambda x, q: byhand.chain("one", x, seen="two"),
            ValueError,
            r"seen: expected one of the headings \['one'\], got",
        ),
        (lambda x, q: byhand.attention(x, q, q), ValueError, "q has width 4"),
        (lambda x, q: byhand.attention(q, q, [[1.0]]), ValueError, "weights has width 2 .*values has 1 rows"),
    ],
)
def test_bad_steps_are_named_with_what_was_expected_and_what_came(call, error, message):
    with pytest.raises(error, match=message):
        call(*small_chain()[:2])
