"""What `toytf.byhand` writes is true: every step, every equals sign, and what is lit for each entry."""

import itertools
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from toytf import byhand, ops
from toytf.byhand.panels import LIGHTS
from toytf.example import PUBLISHED, TOKENS, W_K
from toytf.positions import sinusoids, sinusoids_column_as_i

# ---------------------------------------------------------------- true arithmetic

NUMBERS = st.floats(-30, 30).map(lambda x: round(x, 3))


def matrix(rows, cols, elements=NUMBERS):
    return hnp.arrays(np.float64, (rows, cols), elements=elements)


UNEQUAL = matrix(2, 4, st.integers(-50, 50)).filter(lambda x: x.std(-1).min() > 0)
WEIGHTS = matrix(2, 4).map(ops.softmax)


def dot(x, y):
    return sum(a * b for a, b in zip(x, y, strict=True))


def sinusoid(table):
    return lambda i, j, pos: table(8, 6)[int(pos[0]), j]


# The operation, its operands, and its entry (i, j) from nothing but the cells that are lit in each.
OPERATIONS = {
    "matmul": (byhand.matmul, (matrix(2, 3), matrix(3, 2)), lambda i, j, x, y: dot(x, y)),
    "weighted_sum": (
        byhand.weighted_sum, (matrix(2, 3), matrix(3, 2)), lambda i, j, w, v: dot(w, np.reshape(v, (3, 2))[:, j]),
    ),
    "add": (byhand.add, (matrix(2, 3), matrix(2, 3)), lambda i, j, x, y: x[0] + y[0]),
    "divide": (lambda x, **how: byhand.divide(x, 30, **how), (matrix(2, 3),), lambda i, j, x: x[0] / 30),
    "divide by a root": (
        lambda x, **how: byhand.divide(x, 3, root=True, **how), (matrix(2, 3),), lambda i, j, x: x[0] / 3**0.5,
    ),
    "softmax": (byhand.softmax, (matrix(2, 4, st.integers(-3, 3)),), lambda i, j, x: ops.softmax(x)[j]),
    "softmax, the largest subtracted": (
        lambda x, **how: byhand.softmax(x, subtract_max=True, **how),
        (matrix(2, 4),), lambda i, j, x: ops.softmax(x)[j],
    ),
    "mask": (byhand.mask, (matrix(2, 3), matrix(2, 3).map(lambda x: x > 0)), lambda i, j, x, m: x[0] + m[0]),
    "concat": (byhand.concat, (matrix(2, 2), matrix(2, 3)), lambda i, j, x, y: (x + y)[0]),
    "relu": (byhand.relu, (matrix(2, 4),), lambda i, j, x: max(0, x[0])),
    "mean": (byhand.mean, (matrix(2, 5),), lambda i, j, x: np.mean(x)),
    "variance": (byhand.variance, (matrix(2, 5),), lambda i, j, x: np.var(x)),
    "layer_norm": (
        byhand.layer_norm, (UNEQUAL,), lambda i, j, x: (x[j] - np.mean(x)) / (np.var(x) + 1e-5) ** 0.5,
    ),
    "layer_norm, epsilon outside": (
        lambda x, **how: byhand.layer_norm(x, eps_outside=True, **how),
        (UNEQUAL,), lambda i, j, x: (x[j] - np.mean(x)) / (np.std(x) + 1e-5),
    ),
    "softmax_backward": (
        byhand.softmax_backward, (WEIGHTS, matrix(2, 4)), lambda i, j, a, d: a[j] * (d[j] - dot(a, d)),
    ),
    "cross_entropy_backward": (
        byhand.cross_entropy_backward, (WEIGHTS, matrix(2, 4)), lambda i, j, p, g: (p[0] - g[0]) / 2,
    ),
    "positions": (lambda pos, **how: byhand.positions(pos, 6, **how), (st.just([0, 1, 7]),), sinusoid(sinusoids)),
    "positions, the column as i": (
        lambda pos, **how: byhand.positions(pos, 6, column_as_i=True, **how),
        (st.just([0, 1, 7]),), sinusoid(sinusoids_column_as_i),
    ),
}  # fmt: skip


def evaluate(text: str):
    """Evaluate an expression as it stands on the page."""
    text = text.replace("·", "*").replace("^", "**").replace("∞", "inf")
    text = re.sub(r"√(\([^)]*\)|[\d.]+)", r"(\1)**0.5", text)
    text = re.sub(r"\[([^\]]*)\]", lambda row: f"array([{', '.join(row[1].split())}])", text)
    return eval(text, {"e": np.e, "sin": np.sin, "cos": np.cos, "max": max, "inf": np.inf, "array": np.array})


def lit(operand, i, j):
    """The cells of an operand that entry (i, j) lights, as panel.js finds them."""
    j -= operand.shift
    wanted = {(r, c) for rows, cols, _ in LIGHTS[operand.lights].split(",") for r, c in np.ndindex(operand.array.shape)
              if rows in "*" + "i" * (r == i) and cols in "*" + "j" * (c == j)}  # fmt: skip
    return [float(operand.array[cell]) for cell in sorted(wanted)]


def untrue(working, entry_of):
    """What a working claims that is not so: of an entry and what it lights, of a step, of an equals sign."""
    found = []
    for i, j in np.ndindex(working.result.shape):
        if entry_of(i, j, *(lit(operand, i, j) for operand in working.operands)) != pytest.approx(
            working.result[i, j], rel=1e-9, abs=1e-12
        ):
            found.append(f"({i}, {j}) does not follow from the lit cells")
    for entry in working.entries:
        chain = [(relation, evaluate(text)) for relation, text in entry.chain("text")]
        for _, value in chain:
            if value != pytest.approx(working.result[entry.at], rel=1e-5, abs=1e-5):
                found.append(f"{entry.where}: {value} is not the entry")
        for (_, before), (relation, after) in itertools.pairwise(chain):
            if relation == "=" and before != pytest.approx(after, rel=1e-11, abs=1e-7):
                found.append(f"{entry.where}: {before} = {after}")
    return found


@pytest.mark.parametrize("operation", OPERATIONS)
@given(data=st.data())
def test_each_entry_follows_from_what_it_lights_and_each_equals_sign_stands_between_equal_numbers(operation, data):
    function, operands, entry_of = OPERATIONS[operation]
    assert not untrue(function(*map(data.draw, operands), decimals=8), entry_of)


def test_what_is_not_true_would_be_seen():
    working = byhand.matmul([[1.0, 2.0]], [[3.0], [4.5]])
    first, second = working.operands
    (entry,) = working.entries
    planted = replace(working, operands=(first, replace(second, lights="cell")))
    with pytest.raises(ValueError, match="zip"):
        untrue(planted, OPERATIONS["matmul"][2])
    wrong = replace(entry, steps=(*entry.steps[:-1], byhand.Num(11.0)))
    assert untrue(replace(working, entries=(wrong,)), OPERATIONS["matmul"][2]) == [
        "1, 1: 11 is not the entry", "1, 1: 12 = 11",
    ]  # fmt: skip


def test_a_backward_step_with_a_term_left_out_is_never_shown(monkeypatch):
    """a_i (1 - a_i) da_i, as if each weight hung on its own score alone."""
    monkeypatch.setattr(ops, "softmax_backward", lambda weights, dout: weights * (1 - weights) * dout)
    with pytest.raises(AssertionError, match="the arithmetic gives .*, NumPy gives"):
        byhand.softmax_backward([0.25, 0.75], [2.0, 6.0])


# ---------------------------------------------------------------- how it is written


@pytest.mark.parametrize(
    ("working", "text"),
    [
        (byhand.matmul([[2.5, 3.75]], [[1], [2]]), "[1, 1] = 2.5·1 + 3.75·2 = 2.5 + 7.5 = 10"),
        (byhand.matmul([[-1.5, 2.0]], [[2.0], [-3.0]]), "[1, 1] = (-1.5)·2 + 2·(-3) = -3 - 6 = -9"),
        (
            byhand.positions([1], 2),
            "[pos 1, 0 sin] = sin(1 / 10000^(0 / 2)) = sin(1 / 1) = sin(1) ≈ 0.8415",
        ),
        (byhand.positions([0], 2), "[pos 0, 0 sin] = sin(0 / 10000^(0 / 2)) = sin(0 / 1) = sin(0) = 0"),
    ],
)
def test_an_entry_reads_as_one_would_write_it(working, text):
    assert str(working.entries[0]) == text


def test_what_would_round_to_zero_is_shown_when_asked():
    tiny = [[4.67695573e-10, 1.5]]
    assert "4.677e-10" in (working := byhand.table(tiny, sci=True)).text()
    assert "4.677 × 10<sup>−10</sup>" in working.html() and "0.0" in byhand.table(tiny).text()


def test_an_expansion_can_be_narrowed_to_some_entries():
    working = byhand.matmul(PUBLISHED.x, W_K[0], rows=TOKENS)
    assert [e.where for e in working.only("World, 2").entries] == ["World, 2"] and len(working.entries) == 6
    with pytest.raises(ValueError, match="where: expected some of"):
        working.only("Hello, 9")


def test_a_masked_score_has_no_weight_and_a_row_without_scores_is_refused():
    np.testing.assert_array_equal(byhand.softmax(byhand.mask([[1.0, 2.0]], [[True, False]])).result, [[1, 0]])
    with pytest.raises(ValueError, match="scores: expected at least one finite score in each row"):
        byhand.softmax(byhand.mask([[1.0, 2.0]], [[False, False]]))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: byhand.matmul(np.ones((2, 3)), np.ones((4, 2))), ValueError, r"a has width 3 \(shape 2 x 3\).*4 rows"),
        (lambda: byhand.weighted_sum([[1.0]], [[1.0], [2.0]]), ValueError, "weights has width 1 .*values has 2 rows"),
        (lambda: byhand.add(np.ones((2, 3)), np.ones((2, 2))), ValueError, "a has shape 2 x 3 and b 2 x 2"),
        (lambda: byhand.matmul([[1.0, np.nan]], [[1.0], [1.0]]), ValueError, r"a: expected finite .* nan at \[0, 1\]"),
        (lambda: byhand.divide([[1.0]], 0), ValueError, "divisor: expected a non-zero number, got 0"),
        (lambda: byhand.divide([[1.0]], -3, root=True), ValueError, "divisor: expected a positive number, got -3"),
        (lambda: byhand.softmax([800.0, 1.0]), ValueError, "subtract_max=True subtracts it first"),
        (lambda: byhand.mask([[1.0]], [[True]] * 3), ValueError, "may_attend: expected a shape that broadcasts"),
        (lambda: byhand.concat([[1.0]], [[1.0]] * 2), ValueError, "parts: .* as many rows, got 1 x 1, 2 x 1"),
        (lambda: byhand.table([[1.0, 2.0]], rows=["a", "b"]), ValueError, "rows: expected 1 labels, got 2"),
        (lambda: byhand.table(np.ones((2, 2, 2))), ValueError, "array: expected a row or a matrix .* 2 x 2 x 2"),
        (lambda: byhand.table([["a"]]), TypeError, "array: expected real numbers"),
        (lambda: byhand.positions([1], 3), ValueError, "d_model: expected an even number"),
    ],
)
def test_bad_input_is_named_with_what_was_expected_and_what_came(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_operands_are_neither_modified_nor_shared():
    a = np.ones((2, 2))
    for working in (byhand.table(a), byhand.matmul(a, a), byhand.add(a, a)):
        working.result[0, 0] = 7
        np.testing.assert_array_equal(a, np.ones((2, 2)))
    a[0, 0] = 7
    assert working.operands[0].array[0, 0] == 1
