"""Checkers of chapter 5: the scale."""

import numpy as np

from toytf.byhand import Exp, Num, Quotient, Sum
from toytf.check.answers import part, worked
from toytf.check.core import Case, checker, normals
from toytf.example import PUBLISHED, W_K, W_Q
from toytf.ops import softmax


@checker("ex-05-8", results=("scores",))
def scaled_scores(q, k):
    """Compare every query with every key: ``q k^T / sqrt(d_k)``, before any softmax.

    q: array of shape (..., query, d_k). k: array of shape (..., key, d_k). The leading
    axes count sentences and heads; with heads, d_k is the width of one. Returns an
    array of shape (..., query, key).
    """
    return q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])


scaled_scores.cases = lambda rng: [
    Case(([[1.0, 2.0, 0.0, 3.0]], [[2.0, 1.0, 5.0, 0.0], [4.0, 0.0, 1.0, 2.0]]), "d_k = 4"),
    Case(normals(rng, (3, 9), (2, 9)), "d_k = 9"),
    Case(([[1.0, 2.0], [3.0, 0.0]], [[2.0, 1.0], [0.0, 5.0]]), "everything 2 x 2"),
    Case(normals(rng, (2, 3, 5), (2, 4, 5)), "a batch of two sentences"),
    Case(normals(rng, (2, 3, 4, 5), (2, 3, 6, 5)), "two sentences, three heads"),
]
scaled_scores.knows("""
    - no scaling: np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1]) => np.swapaxes(k, -1, -2)
      A sum of d_k products has a standard deviation of sqrt(d_k) (chapter 5). Divide by it.
    - divided by d_k in place of its root: np.sqrt(q.shape[-1]) => q.shape[-1]
      The standard deviation grows like the root of the width. With d_k itself the weights become all equal (chapter 5).
    - the root of the number of keys: q.shape[-1] => k.shape[-2]
      The divisor depends on how many products are added up in one score: the width, q.shape[-1].
    - the root of the number of queries: q.shape[-1] => q.shape[-2]
      len(q) and q.shape[-2] count rows. The divisor is the root of the width, q.shape[-1].
    - the root of the length of the first axis: q.shape[-1] => len(q)
      len(q) is the number of queries, or of sentences. The width is q.shape[-1].
    - the root of all heads' width together: q.shape[-1] => q.shape[-1] * (q.shape[-3] if q.ndim > 3 else 1)
      Each head adds up d_k products, its own width: q.shape[-1]. d_model is that width times the number of heads.
    - multiplied by the root: / np.sqrt => * np.sqrt
      The scores are divided by sqrt(d_k). Multiplied, the softmax saturates sooner.
    - 30 in place of the root: np.sqrt(q.shape[-1]) => 30
      30 was chosen for one example, whose numbers are large (chapter 5). The rule is the root of d_k.
    - keys not transposed: np.swapaxes(k, -1, -2) => k
      q @ k multiplies queries with columns of k. Each key must become a column: np.swapaxes(k, -1, -2).
    - axes other than the last two exchanged: np.swapaxes(k, -1, -2) => k.T
      .T turns all axes round, swapaxes(0, 1) the first two; both are right for a matrix alone. With sentences or heads
      in front, exchange the last two: np.swapaxes(k, -1, -2).
    - keys as rows and queries as columns: q @ np.swapaxes(k, -1, -2) => k @ np.swapaxes(q, -1, -2)
      A row of the scores belongs to a query: q k^T, not k q^T.
    - the softmax taken as well:
        q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1]) => softmax(q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1]))
      The exercise stops at the scaled scores.
""")


_MATRICES = np.array([[[0.3, 0.7], [0.6, 0.4]], [[0.3, 0.6], [0.7, 0.4]], [[0.5, 0.5], [0.5, 0.5]]])
_X = PUBLISHED.x
_GAP = float(np.diff((_X @ W_Q[0] @ (_X @ W_K[0]).T)[0])[0])
_SPREAD = 64 * (1 / 3) ** 2  # variance of a sum of 64 products


def _sums(name, matrices):
    """The sum of each row of each matrix."""
    return worked(name, [[Sum(*row) for row in matrix] for matrix in matrices.tolist()], decimals=1, shown=".1f")


BY_HAND = {}
BY_HAND["5.1"] = [
    part("weights", softmax([7.0] * 4), "e^7 / (4 e^7) = 1/4 = 0.25", decimals=2)
    .step("e^7 / (e^7 + e^7 + e^7 + e^7)")
    .knows([1] * 4, "powers that are not divided. The shares sum to one.")
    .knows([7] * 4, "the scores. First e to each score, then divide.")
    .knows([1 / 7] * 4, "a division by the score. Divide each power by the sum of the powers."),
    part("gap", np.log(3), "e^gap = (3/4) / (1/4) = 3, so the gap is log 3 = 1.0986", decimals=4)
    .step("e^gap = (3/4) / (1/4)")
    .knows(3, "the ratio of the weights. The gap is its logarithm.")
    .knows(0.5, "the difference of the weights. Gaps of scores are ratios of weights.")
    .knows_logarithms(),
]
BY_HAND["5.2"] = [
    worked(
        "",
        [Quotient(Exp(score), Sum(Exp(1), Exp(2), Exp(3))) for score in (1, 2, 3)],
        lead="the weights of 1, 2, 3: ",
        decimals=2,
    )
    .knows([1 / 6, 2 / 6, 3 / 6], "the scores divided by their sum. First e to each score, then divide.")
    .knows([1 / 3] * 3, "three equal weights. A gap of 1 is a factor of e at any height.")
    .knows(softmax([3.0, 2.0, 1.0]), "the weights in reverse. The largest score has the largest weight.")
]
BY_HAND["5.3"] = [
    _sums("row sums", _MATRICES).knows(_MATRICES.sum(axis=1), "the column sums."),
    _sums("column sums", np.swapaxes(_MATRICES, 1, 2)).knows(_MATRICES.sum(axis=2), "the row sums."),
]
BY_HAND["5.4"] = [
    part("variance", _SPREAD, f"64 * 1/3 * 1/3 = 64/9 = {_SPREAD:.2f}", decimals=2)
    .step("64 products are added, each with the variance 1/3 * 1/3")
    .knows(64 / 3, "64 times 1/3. A product of two such numbers has the variance 1/3 * 1/3.")
    .knows(64, "the variance for entries of variance 1. Here it is 1/3.")
    .knows(1 / 9, "the variance of one product. 64 of them are added."),
    part("divisor", np.sqrt(_SPREAD), f"the root of 64/9 = 8/3 = {np.sqrt(_SPREAD):.2f}", decimals=2)
    .step("the root of the variance")
    .knows(8, "the root of 64. That is right for entries of variance 1; here it is 1/3.")
    .knows(np.sqrt(64 / 3), "the root of 64/3. One factor of 1/3 is missing.")
    .knows(_SPREAD, "the variance. A divisor c divides the variance by c * c, so take the root."),
]
BY_HAND["5.6"] = [
    part("scaled gap", np.log(9), f"e^gap = 0.9 / 0.1 = 9, so the scaled gap is log 9 = {np.log(9):.4f}", decimals=4)
    .step("e^gap = 0.9 / 0.1")
    .knows(9, "the ratio of the weights. The gap is its logarithm.")
    .knows(np.log(10), "the logarithm of 1 / 0.1. The gap compares 0.9 with 0.1.")
    .knows_logarithms(),
    worked("divisor", Quotient(Num(_GAP, 2), np.log(9)), decimals=1)
    .step(f"{_GAP:.2f} / the scaled gap")
    .knows(_GAP / 9, "the gap divided by the ratio of the weights. Divide by the scaled gap.")
    .knows(_GAP * np.log(9), "gap times scaled gap. Gap / divisor = scaled gap, so divide.")
    .knows(np.log(9) / _GAP, "the quotient turned over. Gap / divisor = scaled gap."),
]
