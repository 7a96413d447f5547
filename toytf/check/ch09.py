"""Checkers of chapter 9: residual and layer norm."""

import numpy as np

from toytf.byhand import Difference, Power, Quotient, Root, Sum
from toytf.check.answers import number, part, worked
from toytf.check.core import Case, checker, normals


@checker("ex-09-7")
def layer_norm(x, gamma, beta, eps=1e-5):
    """Give each row mean 0 and variance 1, then scale and shift its columns.

    ``gamma * (x - mean) / sqrt(variance + eps) + beta``, with the mean and the variance
    of the row. x: (..., n, d); gamma and beta: (d,); eps: a small number.
    Returns an array of the shape of x.
    """
    away = x - x.mean(axis=-1, keepdims=True)
    variance = (away**2).mean(axis=-1, keepdims=True)
    return gamma * away / np.sqrt(variance + eps) + beta


layer_norm.cases = lambda rng: [
    Case(([[1.0, 2.0, 6.0]], np.ones(3), np.zeros(3)), "one row, with mean 3"),
    Case(([[1.0, 3.0], [4.0, 10.0]], [1.0, 2.0], [0.0, 1.0]), "two rows"),
    Case((rng.normal(size=(3, 5)) + 1, rng.normal(size=5), rng.normal(size=5)), "three rows of width 5"),
    Case(
        ([[3.0, 3.0, 3.0], [0.0, 0.001, 0.005]], np.ones(3), np.ones(3)),
        "a constant row, and one that is nearly constant",
    ),
    Case((rng.normal(size=(2, 3, 4)), rng.normal(size=4), rng.normal(size=4)), "two sentences"),
    Case((rng.normal(size=(2, 4)), np.ones(4), rng.normal(size=4), 0.5), "a large eps"),
]
layer_norm.knows("""
    - N - 1 in the place of N: (away**2).mean(axis=-1, keepdims=True) => x.var(axis=-1, ddof=1, keepdims=True)
      The squares are divided by the number of columns, not by one less (chapter 9, What stands under the root).
      x.var() divides by N; x.var(ddof=1) and torch.std divide by N - 1.
    - epsilon outside the root: np.sqrt(variance + eps) => (np.sqrt(variance) + eps)
      It stands beside the variance: sqrt(variance + eps). Outside the root it acts on much smaller rows (chapter 9,
      What stands under the root).
    - divided by the variance: np.sqrt(variance + eps) => (variance + eps)
      Without the root, a row ten times as large comes out ten times as small. Divide by the deviation, sqrt(variance +
      eps).
    - the wrong axis (axis=0): axis=-1 =>> axis=0
      Mean and variance are those of one token's row, over its columns: axis=-1. Along axis 0 the others mix in (chapter
      9, Layer norm or batch norm).
    - the wrong axis (axis=-2): axis=-1 =>> axis=-2
      That is a mean over the tokens, one for each column. Mean and variance are those of one token's row: axis=-1.
    - one mean for the whole array: axis=-1, keepdims=True =>>
      mean() and var() without an axis take all rows together. Each row has its own: axis=-1, keepdims=True.
    - keepdims forgotten: x.mean(axis=-1, keepdims=True) => x.mean(axis=-1), and (away**2).mean => x.var
      The means have lost their axis, so NumPy lines them up with the columns, or finds that the shapes do not fit.
      keepdims=True leaves one mean at the end of each row.
    - keepdims forgotten twice:
        x.mean(axis=-1, keepdims=True) => x.mean(axis=-1), and (away**2).mean(axis=-1, keepdims=True) => x.var(axis=-1)
      Means and variances have lost their axis, so NumPy lines them up with the columns, or finds that the shapes do not
      fit. keepdims=True leaves one of each at the end of each row.
    - gamma forgotten: gamma * away => away
      Multiply each column by its gamma after the division, before beta is added.
    - beta forgotten: np.sqrt(variance + eps) + beta => np.sqrt(variance + eps)
      Add each column's beta as the last step.
    - gamma and beta forgotten: gamma * away => away, and np.sqrt(variance + eps) + beta => np.sqrt(variance + eps)
      Mean 0 and variance 1 is where they begin: multiply by gamma, then add beta (chapter 9, What gamma and beta are
      for).
    - beta inside the brackets: away / np.sqrt(variance + eps) + beta => (away / np.sqrt(variance + eps) + beta)
      gamma * (... + beta) scales the shift too. First gamma times the normalised row, then plus beta.
    - gamma and beta exchanged: gamma * away => beta * away, and (variance + eps) + beta => (variance + eps) + gamma
      gamma is the factor, beta is what is added. Look at the order of the arguments: x, gamma, beta.
    - the mean not subtracted: gamma * away => gamma * x
      Subtract the row's mean before you divide: the result of gamma 1 and beta 0 has mean 0.
    - the brackets around the difference forgotten:
        gamma * away / np.sqrt(variance + eps) => gamma * (x - x.mean(axis=-1, keepdims=True) / np.sqrt(variance + eps))
      x - mean / deviation divides the mean alone. The difference is divided: (x - mean) / deviation.
    - the root of the mean square: x - x.mean(axis=-1, keepdims=True) => x
      That is RMS norm, which later models use: it divides by the size of the row and leaves its mean. Subtract the mean
      first, here and in the variance.
    - the sum of the squares: (away**2).mean => (away**2).sum
      The variance is their mean: divide the sum by the number of columns.
    - the mean distance: (away**2).mean => np.abs(away).mean, and np.sqrt(variance + eps) => (variance + eps)
      np.abs weighs far entries less than the square does. The deviation is the root of the mean square.
    - no epsilon: variance + eps => variance
      A constant row gives 0 / 0 (chapter 9, What stands under the root). Add eps to the variance, inside the root.
    - an eps of its own: variance + eps => variance + 1e-5
      eps is an argument, with the default 1e-5. Use it, so that the caller can change it.
    - another default for eps: eps=1e-5 => eps=1e-6
      The signature says eps=1e-5. It shows on rows that are nearly constant.
""")


@checker("ex-09-8")
def add_and_norm(x, fx, gamma, beta, eps=1e-5):
    """Add a part's input to its output, then normalise the sum: ``LN(x + F(x))``.

    x: the part's input, (..., n, d); fx: its output F(x), of the same shape; gamma and
    beta: (d,); eps: a small number. Returns an array of the shape of x.
    """
    total = x + fx
    away = total - total.mean(axis=-1, keepdims=True)
    variance = (away**2).mean(axis=-1, keepdims=True)
    return gamma * away / np.sqrt(variance + eps) + beta


add_and_norm.cases = lambda rng: [
    Case(([[1.0, 0.0, 2.0]], [[0.0, 2.0, 4.0]], np.ones(3), np.zeros(3)), "the sum is [1, 2, 6]"),
    Case(
        (np.eye(2, 3), [[0.0, 3.0, 2.0], [0.001, -1.0, 0.005]], np.ones(3), np.zeros(3)),
        "two rows; the second sum is nearly constant",
    ),
    Case((rng.normal(size=(3, 5)) + 1, 2 * rng.normal(size=(3, 5)), *normals(rng, 5, 5)), "three rows of width 5"),
    Case((rng.normal(size=(2, 3, 4)) + 1, 2 * rng.normal(size=(2, 3, 4)), *normals(rng, 4, 4)), "two sentences"),
]
add_and_norm.knows("""
    - norm before the sum: x + fx => fx, and np.sqrt(variance + eps) + beta => np.sqrt(variance + eps) + beta + x
      x + LN(F(x)) leaves the sum as large as it is, and it grows from layer to layer. Post-norm normalises the sum:
      LN(x + F(x)).
    - pre-norm in the place of post-norm: x + fx => x, and (variance + eps) + beta => (variance + eps) + beta + fx
      Pre-norm normalises the input and adds afterwards (chapter 9, Before or after). Here the sum goes through the
      norm, as in the paper.
    - the residual forgotten: x + fx => fx
      Add x before the norm. Without it the tokens grow alike (chapter 9, What finite hides).
    - a double residual: x + fx => 2 * x + fx
      fx is F(x) alone, so x is added once: 2x + F(x) holds it twice (chapter 9, Adding the input).
    - the residual after the norm too: np.sqrt(variance + eps) + beta => np.sqrt(variance + eps) + beta + x
      x is added once, before the norm. Added again behind it, the rows grow as before.
    - the part's output forgotten: x + fx => x
      LN(x) has lost what the part found out. Normalise the sum x + fx.
    - the norm forgotten: return gamma * away / np.sqrt(variance + eps) + beta => return total
      This is the sum, and it grows from layer to layer. Bring each row to mean 0 and variance 1.
    - multiplied in the place of added: x + fx => x * fx
      A residual connection is a sum: if F(x) is 0, the row passes as it is.
    - subtracted in the place of added: x + fx => fx - x
      The part says what should be added to the row: x + fx.
    - the wrong axis (axis=0): axis=-1 =>> axis=0
      Mean and variance are those of one token's row, over its columns: axis=-1.
    - the wrong axis (axis=-2): axis=-1 =>> axis=-2
      That is a mean over the tokens, one for each column. Mean and variance are those of one token's row: axis=-1.
    - one mean for the whole array: axis=-1, keepdims=True =>>
      mean() and var() without an axis take all rows together. Each row has its own: axis=-1, keepdims=True.
    - N - 1 in the place of N: (away**2).mean(axis=-1, keepdims=True) => total.var(axis=-1, ddof=1, keepdims=True)
      The squares are divided by the number of columns, not by one less (chapter 9, What stands under the root).
    - epsilon outside the root: np.sqrt(variance + eps) => (np.sqrt(variance) + eps)
      It stands beside the variance: sqrt(variance + eps) (chapter 9, What stands under the root).
    - gamma and beta forgotten: gamma * away => away, and np.sqrt(variance + eps) + beta => np.sqrt(variance + eps)
      Multiply the normalised row by gamma, then add beta.
    - each normalised by itself:
        x + fx => np.stack([x, fx]), and
        gamma * away / np.sqrt(variance + eps) + beta => (gamma * away / np.sqrt(variance + eps) + beta).sum(axis=0)
      There is one norm, and it gets the sum: LN(x + F(x)).
""")


def norm(x, axis=-1, eps=1e-5):
    """Layer norm without gamma and beta, along any axis."""
    return (x - x.mean(axis=axis, keepdims=True)) / np.sqrt(x.var(axis=axis, keepdims=True) + eps)


def _rows_stand_alone_cases(rng):
    rows = rng.normal(size=(4, 5)) + 1
    right, wrong = norm(rows), norm(rows, axis=0)
    one_row = np.array([[-1.0, 1.0], [-1.0, 1.0]])
    later = one_row + [[0.0, 0.0], [0.25, -0.25]]
    return [
        Case((one_row, one_row), "equal"),
        Case(([[-1.0, -1.0], [1.0, 1.0]], np.zeros((2, 2))), "two tokens, the wrong axis"),
        Case((later, one_row), "the second row differs"),
        Case((one_row - [[0.5, 0.0], [0.0, 0.5]], one_row), "together is smaller in both rows"),
        Case((one_row + 1e-14, one_row), "rounding"),
        Case((right, norm(rows)), "four tokens, the right axis"),
        Case((wrong, np.zeros((4, 5))), "four tokens, the wrong axis"),
        Case((right + 0.01 * (np.arange(20).reshape(4, 5) == 17), right), "one entry differs"),
    ]


@checker("ex-09-4", cases=_rows_stand_alone_cases)
def rows_stand_alone(together, alone):
    """Tell whether a norm treats each row by itself.

    together: (n, d), what the norm gave for n rows at once; alone: (n, d), what it gave
    for each row by itself. Returns True if both are equal up to rounding, else False.
    """
    return bool(np.allclose(together, alone))


rows_stand_alone.knows("""
    - only the first row compared: np.allclose(together, alone) => np.allclose(together[0], alone[0])
      A later row can be wrong while the first is right. Compare all rows.
    - exact equality: np.allclose(together, alone) => (together == alone).all()
      The same sum in another order differs in its last digits (rounding), and == says False. np.allclose leaves room
      for that.
    - the differences added up: np.allclose(together, alone) => abs((together - alone).sum()) < 1e-9
      Differences of opposite sign cancel, so the sum can be 0 while every entry is wrong. Look at the largest distance.
    - signs kept: np.allclose(together, alone) => (together - alone).max() < 1e-9
      together - alone is negative where together is smaller, and the largest difference does not see it. Take np.abs
      first.
    - one equal entry is enough: np.allclose(together, alone) => np.isclose(together, alone).any()
      np.any asks for one entry. The promise holds for all: np.all, or np.allclose, which does the same.
    - the means of the rows compared: allclose(together, alone) => allclose(together.mean(axis=1), alone.mean(axis=1))
      The right mean of a row is no evidence for its entries. Compare the entries.
    - the answer reversed: return bool => return not bool
      True means that each row stands alone, so that the two are equal.
    - one answer for each row: bool(np.allclose(together, alone)) => np.isclose(together, alone).all(axis=1)
      Asked for is one True or False for the whole: add .all().
    - always True: bool(np.allclose(together, alone)) => True
      This test cannot fail, so it finds nothing. Give it a case that it must fail.
""")


# 9.1, 9.3 and 9.5: rows and a Jacobian
_ROW = [1, 3, 3, 5]
_SQUARES = [Power(Difference(x, 3), 2) for x in _ROW]
_PAIRS = np.array([[2.0, 6.0], [10.0, 30.0]])
_BY_ONE_LESS = "a division by N - 1. Layer norm divides the squares by their number N."


def _pair(at):
    """The two numbers of a row, their deviation and their mean, as text."""
    return [number(x) for x in (*_PAIRS[at[0]], _PAIRS[at[0]].std(), _PAIRS[at[0]].mean())]


def normalised(name, rows, taken_off=0, not_so=_BY_ONE_LESS, **how):
    """The answer ``(x - mean) / deviation``, row by row; `taken_off` from the number that divides the squares."""
    away, std = rows - rows.mean(axis=-1, keepdims=True), rows.std(axis=-1, ddof=taken_off, keepdims=True)
    step = np.vectorize(lambda *numbers: Quotient(Difference(*numbers[:2]), numbers[2]), otypes=[object])
    return (
        worked(name, step(rows, rows - away, std), **how)
        .knows(away / rows.std(axis=-1, ddof=1 - taken_off, keepdims=True), not_so)
        .knows(away / std**2, "a division by the variance. Divide by its root.")
        .knows(rows / std, "the mean not subtracted. First x - mean, then the division.")
        .knows(away, "the mean subtracted and no more. Divide by the deviation.")
    )


BY_HAND = {}
BY_HAND["9.1"] = [
    worked("mean", Quotient(Sum(*_ROW), 4)).knows(12, "the sum. Divide by how many there are."),
    worked("squared distances", _SQUARES)
    .knows([-2, 0, 0, 2], "the distances. Square them.")
    .knows([2, 0, 0, 2], "the distances without their signs. Square them.")
    .knows([-4, 0, 0, 4], "squares with a minus. The square of a negative number is positive.")
    .knows(np.square(_ROW), "the squares of the numbers. First take the mean off."),
    worked("variance", Quotient(Sum(*(square.value for square in _SQUARES)), 4))
    .knows(8 / 3, _BY_ONE_LESS)
    .knows(8, "the sum of the squares. The variance is their mean.")
    .knows(11, "the mean of the numbers' squares. First take the mean off."),
    worked("deviation", Root(2), about=True, decimals=4)
    .knows((8 / 3) ** 0.5, _BY_ONE_LESS)
    .knows(2, "the variance. The deviation is its root.")
    .knows(8**0.5, "the root of the sum. It is the mean of the squares that goes under the root."),
    normalised("result", np.array(_ROW), about=True, decimals=4),
]
BY_HAND["9.3"] = [
    worked("mean", [Quotient(Sum(*pair), 2) for pair in _PAIRS])
    .knows(_PAIRS.sum(axis=1), "the sums. Divide by how many there are.")
    .knows(_PAIRS.mean(axis=0), "the means of the columns. Each row has its own."),
    part("deviation", _PAIRS.std(axis=1), lambda at: "both entries are {2} away from the mean {3}".format(*_pair(at)))
    .step(lambda at: "the root of the mean of ({0} - {3})^2 and ({1} - {3})^2".format(*_pair(at)))
    .knows(_PAIRS.std(axis=1, ddof=1), _BY_ONE_LESS)
    .knows(_PAIRS.var(axis=1), "the variances. The deviation is the root.")
    .knows(_PAIRS.std(axis=0), "the deviations of the columns. Each row has its own."),
    normalised("result", _PAIRS).knows(
        [[-1, -1], [1, 1]], "mean and deviation of the columns. Each token's row has its own."
    ),
]
BY_HAND["9.5"] = [
    worked("Jacobian", [[Sum(1, 0.5), Sum(0, 1)], [Sum(0, 0), Sum(1, -1)]], decimals=1).knows(
        [[0.5, 1], [0, -1]], "the Jacobian of F alone. The residual adds I."
    ),
    part("row", [0, 1], "column 1 of the Jacobian asks for 1.5 x_1 = 0, so x_1 = 0; x_2 is free, here 1")
    .step("1.5 x_1 + 0 x_2 must be 0, and so must 1 x_1 + 0 x_2")
    .knows([1, 0], "the two entries exchanged. The second one is 1."),
]
