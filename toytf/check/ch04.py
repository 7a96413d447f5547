"""Checkers of chapter 4: attention."""

import numpy as np

from toytf import ops
from toytf.byhand import Exp, Num, Quotient, Sum
from toytf.check.answers import listed, product, worked
from toytf.check.core import Case, checker, normals
from toytf.example import PAPER, PUBLISHED, W_K, W_Q, W_V


@checker("ex-04-4", results=("output",))
def attend_once(query, keys, values):
    """Attend with one query: the values, weighted by how well their keys fit, added up.

    query: array of shape (d_k,). keys: array of shape (n, d_k). values: array of shape
    (n, d_v). Returns an array of shape (d_v,). The scores are divided by the root of
    d_k. However large they are, exp must not overflow.
    """
    scores = []
    for key in keys:
        dot = sum(a * b for a, b in zip(query, key, strict=True))
        scores.append(dot / np.sqrt(len(query)))
    powers = [np.exp(score - max(scores)) for score in scores]
    output = np.zeros(values.shape[1])
    for power, value in zip(powers, values, strict=True):
        output += power / sum(powers) * value
    return output


attend_once.cases = lambda rng: [
    Case(([2.0, 1.0, 0.0, 5.0], [[np.log(3.0), 0.0, 0.0, 0.0], [0.0] * 4], [[4.0], [8.0]]), "weights 3/4 and 1/4"),
    Case(normals(rng, 3, (5, 3), (5, 2)), "five keys of width 3"),
    Case(normals(rng, 2, (3, 2), (3, 2)), "keys as wide as values"),
    Case(
        ([30.0, 40.0, 0.0, 0.0], [[40.0, 70.0, 2.0, 0.0], [40.0, 70.0, 0.0, 2.0]], rng.normal(size=(2, 3))),
        "large scores",
    ),
    Case(normals(rng, 4, (1, 4), (1, 3)), "a single key"),
]
attend_once.knows("""
    - the weighted rows not added: return output => return np.array(powers)[:, None] / sum(powers) * values
      Each value row times its weight is the step before the last. Add the rows up: the output is one row.
    - no scaling: dot / np.sqrt(len(query)) => dot
      The scores are divided by the root of d_k, the width of the query, before the softmax.
    - divided by d_k in place of its root: np.sqrt(len(query)) => len(query)
      The divisor is the root of the width: np.sqrt(len(query)).
    - the root of the number of keys: len(query) => len(keys)
      len(keys) is the number of keys. The divisor is the root of their width, len(query).
    - no softmax: np.exp(score - max(scores)) => score, and power / sum(powers) * value => power * value
      Scores are no shares: they may be negative, and they do not sum to 1. Turn them into weights first.
    - scores divided by their sum: np.exp(score - max(scores)) => score
      Softmax divides powers of e by their sum. Scores themselves may be negative or sum to 0.
    - the value of the best key alone: return output => return values[np.argmax(scores)]
      Attention takes a share of every value, most from the best match.
    - the powers not divided by their sum: power / sum(powers) * value => power * value
      The powers of e are no weights yet: they sum to 1 only when each is divided by the sum of all.
    - all values with the same weight: power / sum(powers) * value => value / len(values)
      That is the average. The weights come from the scores.
    - no maximum subtracted: score - max(scores) => score
      exp overflows above 709.78 (chapter 5). Subtract the largest score first; the weights stay the same.
    - a sigmoid for each score: power / sum(powers) * value => power / (power + np.exp(-max(scores))) * value
      A sigmoid sees one score, and the weights sum to anything. Softmax divides each power by the sum of all.
    - keys mixed in place of values: values.shape[1] => keys.shape[1], and values, strict=True => keys, strict=True
      The key says how well a token fits, the value is what it hands over: weight the values.
""")


@checker("ex-04-9", results=("output",))
def attend(q, k, v, scale=None):
    """Average the values by how well each key fits: ``softmax(q k^T * scale) v``.

    q: array of shape (..., query, d_k). k: (..., key, d_k). v: (..., key, d_v). Returns
    an array of shape (..., query, d_v). scale: what the scores are multiplied by, 0
    allowed; 1 / sqrt(d_k) if it is None. However large the scores are, exp must not
    overflow.
    """
    if scale is None:
        scale = 1 / np.sqrt(q.shape[-1])
    scores = q @ np.swapaxes(k, -1, -2) * scale
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    attn_weights = exps / exps.sum(axis=-1, keepdims=True)
    return attn_weights @ v


attend.cases = lambda rng: [
    Case(([[1.0, 0.0]], np.eye(2), [[4.0], [8.0]], float(np.log(3.0))), "weights 3/4 and 1/4"),
    Case(([[1.0, 0.0], [1.0, 1.0]], [[1.0, 2.0], [1.0, 1.0]], np.eye(2), None), "two tokens, everything 2 x 2"),
    Case((*normals(rng, (3, 4), (5, 4), (5, 2)), None), "3 ask, 5 answer"),
    Case((*normals(rng, (2, 4), (3, 4), (3, 4)), 0.1), "a scale of one's own"),
    Case((*normals(rng, (2, 3), (4, 3), (4, 2)), 0.0), "scale 0: an average"),
    Case((*normals(rng, (2, 3, 5), (2, 4, 5), (2, 4, 3)), None), "a batch of two sentences"),
    Case(([[30.0, 40.0]], [[20.0, 35.0], [20.5, 34.0]], rng.normal(size=(2, 3)), None), "large scores"),
    Case(([[0.0], [2.0]], [[900.0], [1800.0]], [[4.0], [8.0]], None), "scores of one query far below those of another"),
]
attend.knows("""
    - keys not transposed: np.swapaxes(k, -1, -2) => k
      q @ k multiplies queries with columns of k. Each key must become a column: np.swapaxes(k, -1, -2).
    - axes other than the last two exchanged: np.swapaxes(k, -1, -2) => k.T
      .T turns all axes round, swapaxes(0, 1) the first two; both are right for a matrix alone. With sentences or heads
      in front, exchange the last two: np.swapaxes(k, -1, -2).
    - softmax over the queries: axis=-1 =>> axis=-2
      Each query shares its attention among the keys: its row sums to 1. Take axis=-1.
    - the sum taken over the queries: exps.sum(axis=-1, keepdims=True) => exps.sum(axis=-2, keepdims=True)
      The powers of one query are divided by their own sum: exps.sum(axis=-1, keepdims=True).
    - the sum taken over the first axis: exps.sum(axis=-1, keepdims=True) => exps.sum(0)
      sum(0) adds down a column, over the queries. Each query's row has to sum to 1: axis=-1, keepdims=True.
    - one sum for the whole array: axis=-1, keepdims=True =>>
      Each row of scores has a sum of its own: axis=-1, keepdims=True.
    - no softmax: return attn_weights @ v => return scores @ v
      Scores are no shares. Turn each row into weights that sum to 1 before they meet the values.
    - no maximum subtracted: scores - scores.max(axis=-1, keepdims=True) => scores
      exp overflows above 709.78 (chapter 5). Subtract the largest score of each row; the weights stay the same.
    - one maximum for the whole array: scores.max(axis=-1, keepdims=True) => scores.max()
      A row of scores far below the largest score of another row becomes 0 / 0. Each row needs its own maximum: axis=-1,
      keepdims=True.
    - keys mixed in place of values: attn_weights @ v => attn_weights @ k
      The key says how well a token fits, the value is what it hands over. The last product is with v.
    - queries and keys exchanged: q @ np.swapaxes(k, -1, -2) => k @ np.swapaxes(q, -1, -2)
      Row i of the scores belongs to query i: q k^T, not k q^T.
    - divided by scale: * scale => / scale
      scale is what the scores are multiplied by: 1 / sqrt(d_k), not sqrt(d_k).
    - the scale taken for a divisor: = 1 / np.sqrt(q.shape[-1]) => = np.sqrt(q.shape[-1]), and * scale => / scale
      scale is what the scores are multiplied by. If none is given it is 1 / sqrt(d_k); a given one is not a divisor.
    - a sigmoid for each score: exps / exps.sum(axis=-1, keepdims=True) => 1 / (1 + np.exp(-scores))
      A sigmoid sees one score, and a row of them sums to anything. In a softmax the keys share 1 among them.
    - the value of the best key alone: return attn_weights @ v => return np.eye(v.shape[-2])[scores.argmax(axis=-1)] @ v
      That is argmax: the best key takes all. Attention takes a share of every value, most from the best match.
    - no scaling when none is given: scale = 1 / np.sqrt(q.shape[-1]) => scale = 1.0
      Without a scale the scores are still divided by the root of d_k.
    - scale never used: np.swapaxes(k, -1, -2) * scale => np.swapaxes(k, -1, -2)
      The scores are multiplied by scale before the softmax.
    - the given scale overlooked: if scale is None => if True
      1 / sqrt(d_k) is only what is taken if scale is None.
    - scale 0 taken for none: if scale is None => if not scale
      0 counts as False, so `scale or ...` and `if not scale` overlook it. Ask: if scale is None.
    - divided by d_k in place of its root: np.sqrt(q.shape[-1]) => q.shape[-1]
      If no scale is given it is 1 / np.sqrt(q.shape[-1]).
    - the root of the number of keys: q.shape[-1] => k.shape[-2]
      d_k is the width of a key, q.shape[-1]. How many keys there are plays no part.
    - the root of the values' width: q.shape[-1] => v.shape[-1]
      A score is a sum over the columns of a query and a key: the root of their width, q.shape[-1]. Values may be of
      another width.
    - scaled after the softmax: (k, -1, -2) * scale => (k, -1, -2), and attn_weights @ v => attn_weights * scale @ v
      Scale the scores, then take the softmax. Afterwards the rows do not sum to 1 any more.
""")


_QUERY = np.array([1, 2, 0])
_KEYS = np.array([[2, 1, 0], [0, 1, 9], [4, 2, 0]])
_WORLD = np.round(PAPER.x[1], 4)  # as the exercise gives it

BY_HAND = {}
BY_HAND["4.1"] = [
    product("", _QUERY, _KEYS.T)
    .step(lambda at: f"the query is {listed(_QUERY)}; key {'abc'[at[0]]} is {listed(_KEYS[at[0]])}")
    .knows((_KEYS**2).sum(axis=1), "the squares of the keys' lengths. A score meets the query.")
    .knows(np.linalg.norm(_KEYS, axis=1), "the keys' lengths. A score is a dot product with the query.")
    .knows(_KEYS.sum(axis=1), "the keys' sums. Each entry is first multiplied by the query's.")
]
BY_HAND["4.2"] = [
    product("", _WORLD, W_K[0], decimals=4)
    .knows(_WORLD @ W_Q[0], "the query. The key is the row times W^K.")
    .knows(_WORLD @ W_V[0], "the value. The key is the row times W^K.")
    .knows(PUBLISHED.x[1] @ W_K[0], "the key of the rounded row. Take the row that the exercise gives.")
]
BY_HAND["4.3"] = [
    worked("scaled scores", [Quotient(112, 8), Quotient(96, 8)]).knows(
        [112 / 64, 96 / 64], "a division by d_k = 64. Divide by its root, 8."
    ),
    worked(
        "weights",
        [Quotient(Exp(2), Sum(Exp(2), 1)), Quotient(1, Sum(Exp(2), 1))],
        also=[Quotient(Num(np.exp(2), 3), Num(np.exp(2) + 1, 3)), Quotient(1, Num(np.exp(2) + 1, 3))],
        decimals=2,
    )
    .knows([14 / 26, 12 / 26], "the scores divided by their sum. First e to each score, then divide.")
    .knows([1, 0], "the softmax of 112 and 96. Scale them first.")
    .knows(ops.softmax([12.0, 14.0]), "the two weights exchanged. The larger score has the larger weight."),
]
