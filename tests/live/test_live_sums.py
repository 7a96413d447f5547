"""The sums that the browser writes are those that `toytf.byhand` writes, letter by letter."""

import numpy as np
import pytest

from toytf import byhand
from toytf.byhand.panels import sum_lines
from toytf.live import element, wire

RNG = np.random.default_rng(0)
MATRICES = {
    "whole numbers": (RNG.integers(-3, 9, size=(2, 4)).astype(float), RNG.integers(-2, 3, size=(4, 3)).astype(float)),
    "few decimals": (RNG.normal(size=(2, 4)).round(2), RNG.normal(size=(4, 3)).round(1)),
    "many": (RNG.normal(size=(3, 2)) * 9, RNG.normal(size=(2, 2)) * 1e-3),
    "one number": (np.array([[0.0]]), np.array([[-1.5]])),
}


@pytest.fixture
def evaluate(browser):
    """JavaScript with the scripts that all elements share."""
    context = browser.new_context()
    page = context.new_page()
    page.add_script_tag(content=element.script("live"))
    yield lambda script, *given: page.evaluate(script, wire.plain(given))
    context.close()


def lines(working):
    """Every sum of a working, as the page has it."""
    html = sum_lines(working).replace("</p>", "</p>\x00").split("\x00")[:-1]
    return [line[line.index(">") + 1 : -4].replace("\n", " ") for line in html]


EVERY = "(value, sum) => value.flatMap((row, i) => row.map((x, j) => sum(`${i + 1}, ${j + 1}`, i, j, x)))"


@pytest.mark.parametrize("a, b", MATRICES.values(), ids=MATRICES)
def test_sums_of_products(evaluate, a, b):
    script = f"([a, b, c]) => ({EVERY})(c, (w, i, j, x) => toytf.productSum(w, a[i], toytf.transposed(b)[j], x))"
    assert evaluate(script, a, b, a @ b) == lines(byhand.matmul(a, b))


@pytest.mark.parametrize("a, b", MATRICES.values(), ids=MATRICES)
def test_weighted_sums_of_rows(evaluate, a, b):
    script = "([a, b, c]) => c.map((row, i) => toytf.weightedSumRow(`${i + 1}`, a[i], b, row))"
    assert evaluate(script, a, b, a @ b) == lines(byhand.weighted_sum(a, b))


@pytest.mark.parametrize("a", [a for a, _ in MATRICES.values()], ids=MATRICES)
def test_sums_of_one_matrix_each(evaluate, a):
    rng = np.random.default_rng(1)
    other = rng.normal(size=a.shape).round(1)
    for call, working, given in [
        ("toytf.addSum(w, a[i][j], b[i][j], x)", byhand.add(a, other), other),
        ("toytf.divideSum(w, a[i][j], Math.sqrt(3), x)", byhand.divide(a, np.sqrt(3)), other),
        ("toytf.reluSum(w, a[i][j], x)", byhand.relu(a), other),
        ("toytf.softmaxSum(w, a[i], j, x)", byhand.softmax(a), other),
        ("toytf.softmaxSum(w, a[i], j, x, { subtractMax: true })", byhand.softmax(a, subtract_max=True), other),
        (
            "toytf.softmaxSum(w, a[i].map((s) => 40 * s), j, x, { subtractMax: true, sci: true })",
            byhand.softmax(40 * a, subtract_max=True, sci=True),
            other,
        ),
    ]:
        script = f"([a, b, c]) => ({EVERY})(c, (w, i, j, x) => {call})"
        single = a.shape[1] == 1 and not working.cols[0]
        assert not single and evaluate(script, a, given, working.result) == lines(working), call


def test_a_sum_with_a_nan_says_so(evaluate):
    assert evaluate("() => toytf.productSum('a', [NaN, 1], [2, Infinity], NaN)") == (
        "<b>a</b> ≈ NaN·2 + 1·∞ ≈ NaN + ∞ ≈ NaN"
    )
