"""Checkers of chapter 8: scores that overflow."""

import numpy as np

from toytf import ops
from toytf.byhand import Prod, Quotient, Root
from toytf.check.answers import number, part, worked
from toytf.check.core import Case, checker


@checker("ex-08-8")
def softmax(scores):
    """Turn each row of scores into weights: ``exp(s_i) / sum_j exp(s_j)``.

    scores: array of shape (..., n). Returns an array of the same shape; each row sums
    to 1. It must survive a score of 1000.
    """
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exps / exps.sum(axis=-1, keepdims=True)


softmax.cases = lambda rng: [
    Case(([0.0, np.log(3.0)],), "weights 1/4 and 3/4"),
    Case(([[1.0, 2.0, 3.0], [3.0, 3.0, 0.0]],), "two rows"),
    Case(([[1000.0, 1001.0], [-1000.0, -1000.0]],), "scores that overflow exp"),
    Case(([[1000.0, -1000.0]],), "a gap of 2000"),
    Case((rng.normal(size=(2, 3, 4)) * 5,), "two sentences, three queries, four keys"),
]
softmax.knows("""
    - no maximum subtracted: scores - scores.max(axis=-1, keepdims=True) => scores
      exp overflows above 709.78 (chapter 8). Subtract the largest score of each row first; the weights stay the same.
    - summed over the wrong axis: axis=-1 =>> axis=0
      The weights of one query sum to 1 along its row: axis=-1.
    - one sum for the whole array: axis=-1, keepdims=True =>>
      sum() without an axis adds up all rows. Each row needs its own sum: axis=-1, keepdims=True.
    - one maximum for the whole array: scores.max(axis=-1, keepdims=True) => scores.max()
      A row far below the largest score of another row becomes 0 / 0. Each row needs its own maximum: axis=-1,
      keepdims=True.
    - the maximum subtracted above the line alone: exps.sum => np.exp(scores).sum
      The factor cancels only if numerator and denominator both have it. Compute the powers once and divide them by
      their own sum.
    - the smallest score subtracted: scores.max => scores.min
      Then the largest power still grows with the gap, and overflows. Subtract the largest: no power is above 1, and one
      of them is 1.
    - keepdims forgotten: exps.sum(axis=-1, keepdims=True) => exps.sum(axis=-1)
      The sums have lost their axis, so NumPy lines them up with the columns, or finds that the shapes do not fit.
      keepdims=True leaves one sum at the end of each row.
    - powers of 2: np.exp => np.exp2
      The powers are those of e: np.exp. With another base each gap of scores counts for less.
    - the exponential left out: np.exp(scores - scores.max(axis=-1, keepdims=True)) => scores
      Scores divided by their sum can be negative, and the sum can be 0. First exp, which makes every number positive
      (chapter 5).
    - divided by the mean: exps.sum => exps.mean
      Divided by the mean of its powers, a row sums to its length. Divide by their sum.
    - not divided by the sum: exps / exps.sum(axis=-1, keepdims=True) => exps
      These are the powers. Divide each row by its sum, so that it sums to 1.
    - a sigmoid for each score: exps / exps.sum(axis=-1, keepdims=True) => 1 / (1 + np.exp(-scores))
      A sigmoid sees one score, and a row of them sums to anything. In a softmax the scores of a row share 1 among them.
    - all for the largest score:
        exps / exps.sum(axis=-1, keepdims=True) => np.eye(scores.shape[-1])[scores.argmax(axis=-1)]
      That is argmax: the largest score takes all. Softmax leaves every score its share.
""")


@checker("ex-08-9")
def log_softmax(scores):
    """Give the logarithm of the softmax of each row: ``s_i - log(sum_j exp(s_j))``.

    scores: array of shape (..., n). Returns an array of the same shape, with numbers up
    to 0. Every result must be finite, for scores of 1000 and for a gap of 2000 too.
    """
    shifted = scores - scores.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


log_softmax.cases = softmax.cases
log_softmax.knows("""
    - the logarithm of a finished softmax:
        return shifted - np.log(np.exp(shifted).sum( => return np.log(np.exp(shifted) / np.exp(shifted).sum(
      A weight too small for a float is 0, and its logarithm is minus infinity. Take the logarithm of the formula first:
      s_i - log(sum), and no division is left.
    - no maximum subtracted: scores - scores.max(axis=-1, keepdims=True) => scores
      exp overflows above 709.78, and log(0) waits at the other end (chapter 8). Subtract the largest score of each row
      before exp.
    - the logarithm of a softmax without maximum:
        scores - scores.max(axis=-1, keepdims=True) => scores, and
        return shifted - np.log(np.exp(shifted).sum( => return np.log(np.exp(shifted) / np.exp(shifted).sum(
      exp overflows above 709.78 (chapter 8), and the logarithm of a weight 0 is minus infinity. Subtract the largest
      score, then compute s_i - log(sum).
    - the maximum subtracted once only: return shifted - => return scores -
      The sum was made with shifted scores, so the score in front of it has to be the shifted one as well.
    - summed over the wrong axis: axis=-1 =>> axis=0
      Each row has a sum of its own, along its columns: axis=-1.
    - one sum for the whole array: axis=-1, keepdims=True =>>
      sum() without an axis adds up all rows. Each row needs its own: axis=-1, keepdims=True.
    - one maximum for the whole array: scores.max(axis=-1, keepdims=True) => scores.max()
      In a row far below the largest score of another row all powers are 0, and so is their sum. Each row needs its own
      maximum: axis=-1, keepdims=True.
    - the softmax itself:
        shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
        => np.exp(shifted) / np.exp(shifted).sum(axis=-1, keepdims=True)
      These are the weights, between 0 and 1. Asked for are their logarithms, which are 0 or below.
    - the sign of a loss: return shifted - np.log => return -shifted + np.log
      The logarithm of a weight is 0 or below. The minus sign comes later, with the loss (chapter 14).
    - logarithms to base 2: return shifted => return (shifted, and keepdims=True)) => keepdims=True))) / np.log(2.0)
      np.log2 counts in bits. The logarithm that undoes np.exp is np.log.
    - the sum without its logarithm:
        np.log(np.exp(shifted).sum(axis=-1, keepdims=True)) => np.exp(shifted).sum(axis=-1, keepdims=True)
      Dividing by a sum becomes subtracting its logarithm. Subtract np.log of the sum.
    - the largest score in the place of the sum: - np.log(np.exp(shifted).sum(axis=-1, keepdims=True)) =>
      s_i - max is near the answer where one score stands out, and too large by log(n) where all are equal. Subtract the
      logarithm of the sum as well.
""")


def _first_bad_cases(rng):
    nan, inf = np.nan, np.inf
    first, bad = int(rng.integers(2, 5)), nan if rng.integers(2) else inf
    stack = rng.normal(size=(7, 2, 4)) * 10.0 ** np.arange(7)[:, None, None]
    stack[first, 1, int(rng.integers(4))] = bad
    stack[first + 1 :] = nan
    return [
        Case(((np.array([1.0, 2.0]), np.array([nan, 3.0])),), "NaN in the second array"),
        Case(((np.array([[0.0, inf], [1.0, 2.0]]), np.array([nan, nan])),), "infinity first, then NaN"),
        Case(((np.array([0.0]), np.array([1e308, 1e308])),), "large numbers, all finite"),
        Case(((np.array([5.0]), np.array([-inf, 2.0, 1.0]), np.array([nan])),), "minus infinity, then NaN"),
        Case(((np.array([1.0]), np.array([2.0]), np.array([nan]), np.array([3.0])),), "NaN, and a good array after it"),
        Case((tuple(stack),), "seven arrays, one entry bad, then NaN everywhere"),
    ]


@checker("ex-08-3", cases=_first_bad_cases)
def first_bad(arrays):
    """Find the first array that holds NaN or infinity.

    arrays: a tuple of arrays of any shapes, in the order in which they were computed.
    Returns its place, counted from 0, or -1 if every entry of every array is finite.
    """
    for i, array in enumerate(arrays):
        if not np.isfinite(array).all():
            return i
    return -1


first_bad.knows("""
    - infinity not looked for: not np.isfinite(array).all() => np.isnan(array).any()
      An overflow gives infinity first, and NaN one step later (chapter 8, One bad row). np.isnan alone names the wrong
      array; np.isfinite finds both.
    - NaN not looked for: not np.isfinite(array).all() => np.isinf(array).any()
      0 / 0 gives NaN with no infinity before it (chapter 8, The other way to fail). np.isfinite finds both.
    - minus infinity forgotten: not np.isfinite(array).all() => (np.isnan(array) | (array == np.inf)).any()
      There are two infinities. np.isfinite excludes both, and NaN.
    - only arrays that are bad throughout: .all() => .any()
      One bad entry is enough, and it is how the trouble begins. Ask whether all entries are finite, and say not to
      that.
    - the sum in the place of the entries: np.isfinite(array).all() => np.isfinite(array.sum())
      The sum of finite numbers can be infinite. Look at the entries themselves: np.isfinite(array).all().
    - the last bad array: enumerate(arrays) => reversed(list(enumerate(arrays)))
      The loop goes on after the first find and overwrites it. Return at once: the culprit is the first.
    - decided at the first array: enumerate(arrays) => enumerate(arrays[:1])
      The loop returns in its first round, whatever stands in the arrays behind. The return -1 belongs after the loop.
    - counted from 1: enumerate(arrays) => enumerate(arrays, start=1)
      Places are counted from 0, as Python's lists do: enumerate(arrays).
    - 0 where nothing is bad: return -1 => return 0
      0 is the place of the first array. Where nothing is bad, return -1.
    - None where nothing is bad: return -1 => return None
      The loop ends without a find, and so does the function. Return -1 after the loop.
    - the first good array: not np.isfinite => np.isfinite
      np.isfinite(array).all() is True for a good array. Look for the first where it is not.
    - the number of bad arrays:
        return i => return sum(not np.isfinite(array).all() for array in arrays), and return -1 => return 0
      Asked for is the place of the first one. Return it as soon as it is found.
""")


# 8.1 and 8.2: what exp can take
_SCORES = np.array([[710.0, 700.0], [-750.0, -760.0], [710.0, -760.0]])


with np.errstate(all="ignore"):
    _NAIVE_NAN = np.isnan(ops.softmax_naive(_SCORES)).sum(axis=1)
_WHY_NAN = (
    "inf / inf is NaN, a number / inf is 0: 1 NaN",
    "both powers are 0, and 0 / 0 is NaN: 2 NaN",
    "inf / inf is NaN, 0 / inf is 0: 1 NaN",
)
_POWERS = (
    "exp(710) is inf and exp(700) is a number; each is divided by their sum",
    "both powers are too small for a number and become 0; each is divided by their sum",
    "exp(710) is inf and exp(-760) becomes 0; each is divided by their sum",
)


def _weight_terms(place) -> str:
    row = _SCORES[place[0]]
    gap = number(row.max() - row.min())
    above = "1" if row[place[1]] == row.max() else f"exp(-{gap})"
    return f"{above} / (1 + exp(-{gap})) = {number(ops.softmax(row)[place[1]], 5)}"


BY_HAND = {}
BY_HAND["8.1"] = [
    part("NaN", _NAIVE_NAN, lambda at: _WHY_NAN[at[0]])
    .step(lambda at: _POWERS[at[0]])
    .knows([2, 2, 2], "whole rows of NaN. A number divided by inf is no NaN.")
    .knows([1, 0, 1], "inf alone. Where every power is zero, the sum is zero too.")
    .knows([0, 0, 0], "the stable softmax. Asked is the naive one."),
    part("stable", ops.softmax(_SCORES), _weight_terms, decimals=5)
    .step(
        lambda at: (
            f"the row's largest score taken off, then exp, then each divided by the sum; the gap is "
            f"{number(abs(_SCORES[at[0], 0] - _SCORES[at[0], 1]))}"
        )
    )
    .knows([[1, 0]] * 3, "the right numbers with too few decimals. Give five.", room=1e-9)
    .knows(ops.softmax(_SCORES)[:, ::-1], "the two weights exchanged. The larger score has the larger."),
]
BY_HAND["8.2"] = [
    worked("score", Prod(7.1, 10, 10), lead="scores grow with the square of the factor: ", decimals=1).knows(
        71, "one factor of 10. Queries and keys both grow, so there are two."
    ),
    worked("factor", Root(Quotient(709.78, 7.1)), about=True, decimals=3).knows(
        709.78 / 7.1, "the factor of the score. That of X is its root."
    ),
]
