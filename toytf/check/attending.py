"""Checkers of chapters 4 to 6: attention, its scale, its heads."""

from __future__ import annotations

import numpy as np

from toytf import attention
from toytf.check.core import Case, Check, Mistake
from toytf.check.pencil import ByHand, Part, product, sum_of_products
from toytf.example import PAPER, PUBLISHED, W_K, W_Q
from toytf.ops import softmax, softmax_naive


def _t(k):
    """The transpose of the last two axes."""
    return np.swapaxes(k, -1, -2)


# ---------------------------------------------------------------- chapter 4: attention


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


def _scores_once(query, keys):
    return keys @ query / np.sqrt(len(query))


def _attend_once_cases(rng):
    key = np.array([np.log(3.0), 0.0, 0.0, 0.0])
    return [
        Case(
            (np.array([2.0, 1.0, 0.0, 5.0]), np.array([key, 0 * key]), np.array([[4.0], [8.0]])),
            "weights 3/4 and 1/4",
        ),
        Case((rng.normal(size=3), rng.normal(size=(5, 3)), rng.normal(size=(5, 2))), "five keys of width 3"),
        Case((rng.normal(size=2), rng.normal(size=(3, 2)), rng.normal(size=(3, 2))), "keys as wide as values"),
        Case(
            (np.array([30.0, 40.0, 0.0, 0.0]), np.array([[20.0, 35.0, 1.0, 0.0], [20.0, 35.0, 0.0, 1.0]]) * 2)
            + (rng.normal(size=(2, 3)),),
            "large scores",
        ),
        Case((rng.normal(size=4), rng.normal(size=(1, 4)), rng.normal(size=(1, 3))), "a single key"),
    ]


ATTEND_ONCE = Check(
    solution=attend_once,
    expected=lambda query, keys, values: attention.attention(query[None], keys, values)[0][0],
    cases=_attend_once_cases,
    exercise="ex-04-4",
    results=("output",),
    mistakes=(
        Mistake(
            "the weighted rows not added",
            "Each value row times its weight is the step before the last. Add the rows up: the output is one row.",
            lambda q, k, v: softmax(_scores_once(q, k))[:, None] * v,
        ),
        Mistake(
            "no scaling",
            "The scores are divided by the root of d_k, the width of the query, before the softmax.",
            lambda q, k, v: softmax(k @ q) @ v,
        ),
        Mistake(
            "divided by d_k in place of its root",
            "The divisor is the root of the width: np.sqrt(len(query)).",
            lambda q, k, v: softmax(k @ q / len(q)) @ v,
        ),
        Mistake(
            "the root of the number of keys",
            "len(keys) is the number of keys. The divisor is the root of their width, len(query).",
            lambda q, k, v: softmax(k @ q / np.sqrt(len(k))) @ v,
        ),
        Mistake(
            "no softmax",
            "Scores are no shares: they may be negative, and they do not sum to 1. Turn them into weights first.",
            lambda q, k, v: _scores_once(q, k) @ v,
        ),
        Mistake(
            "scores divided by their sum",
            "Softmax divides powers of e by their sum. Scores themselves may be negative or sum to 0.",
            lambda q, k, v: _scores_once(q, k) / _scores_once(q, k).sum() @ v,
        ),
        Mistake(
            "the value of the best key alone",
            "Attention takes a share of every value, most from the best match.",
            lambda q, k, v: v[_scores_once(q, k).argmax()],
        ),
        Mistake(
            "the powers not divided by their sum",
            "The powers of e are no weights yet: they sum to 1 only when each is divided by the sum of all.",
            lambda q, k, v: np.exp(_scores_once(q, k) - _scores_once(q, k).max()) @ v,
        ),
        Mistake(
            "all values with the same weight",
            "That is the average. The weights come from the scores.",
            lambda q, k, v: v.mean(axis=0),
        ),
        Mistake(
            "no maximum subtracted",
            "exp overflows above 709.78 (chapter 5). Subtract the largest score first; the weights stay the same.",
            lambda q, k, v: softmax_naive(_scores_once(q, k)) @ v,
        ),
        Mistake(
            "keys mixed in place of values",
            "The key says how well a token fits, the value is what it hands over: weight the values.",
            lambda q, k, v: softmax(_scores_once(q, k)) @ k,
        ),
    ),
)


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


def _scale(q, scale):
    return 1 / np.sqrt(q.shape[-1]) if scale is None else scale


def _weights(q, k, scale, axis=-1):
    return softmax(q @ _t(k) * _scale(q, scale), axis=axis)


def _one_sum(q, k, v, scale):
    scores = q @ _t(k) * _scale(q, scale)
    exps = np.exp(scores - scores.max())
    return exps / exps.sum() @ v


def _one_maximum(q, k, v, scale):
    scores = q @ _t(k) * _scale(q, scale)
    exps = np.exp(scores - scores.max())
    return exps / exps.sum(axis=-1, keepdims=True) @ v


def _divided_by_scale(q, k, v, scale):
    scores = q @ _t(k) / _scale(q, scale)  # a scale of 0 gives infinities, and NaN in the end
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exps / exps.sum(axis=-1, keepdims=True) @ v


def _attend_cases(rng):
    square = np.array([[1.0, 0.0], [1.0, 1.0]])
    return [
        Case(
            (np.array([[1.0, 0.0]]), np.eye(2), np.array([[4.0], [8.0]]), float(np.log(3.0))),
            "weights 3/4 and 1/4",
        ),
        Case((square, square + np.array([[0.0, 2.0], [0.0, 0.0]]), np.eye(2), None), "two tokens, everything 2 x 2"),
        Case((rng.normal(size=(3, 4)), rng.normal(size=(5, 4)), rng.normal(size=(5, 2)), None), "3 ask, 5 answer"),
        Case((rng.normal(size=(2, 4)), rng.normal(size=(3, 4)), rng.normal(size=(3, 4)), 0.1), "a scale of one's own"),
        Case((rng.normal(size=(2, 3)), rng.normal(size=(4, 3)), rng.normal(size=(4, 2)), 0.0), "scale 0: an average"),
        Case(
            (rng.normal(size=(2, 3, 5)), rng.normal(size=(2, 4, 5)), rng.normal(size=(2, 4, 3)), None),
            "a batch of two sentences",
        ),
        Case(
            (np.array([[30.0, 40.0]]), np.array([[20.0, 35.0], [20.5, 34.0]]), rng.normal(size=(2, 3)), None),
            "large scores",
        ),
        Case(
            (np.array([[0.0], [2.0]]), np.array([[1.0], [2.0]]) * 900, np.array([[4.0], [8.0]]), None),
            "scores of one query far below those of another",
        ),
    ]


ATTEND = Check(
    solution=attend,
    expected=lambda q, k, v, scale: attention.attention(q, k, v, scale=scale)[0],
    cases=_attend_cases,
    exercise="ex-04-9",
    results=("output",),
    mistakes=(
        Mistake(
            "keys not transposed",
            "q @ k multiplies queries with columns of k. Each key must become a column: np.swapaxes(k, -1, -2).",
            lambda q, k, v, scale: softmax(q @ k * _scale(q, scale)) @ v,
        ),
        Mistake(
            "axes other than the last two exchanged",
            ".T turns all axes round, swapaxes(0, 1) the first two; both are right for a matrix alone. With sentences "
            "or heads in front, exchange the last two: np.swapaxes(k, -1, -2).",
            lambda q, k, v, scale: softmax(q @ k.T * _scale(q, scale)) @ v,
        ),
        Mistake(
            "softmax over the queries",
            "Each query shares its attention among the keys: its row sums to 1. Take axis=-1.",
            lambda q, k, v, scale: _weights(q, k, scale, axis=-2) @ v,
        ),
        Mistake(
            "one sum for the whole array",
            "Each row of scores has a sum of its own: axis=-1, keepdims=True.",
            _one_sum,
        ),
        Mistake(
            "no softmax",
            "Scores are no shares. Turn each row into weights that sum to 1 before they meet the values.",
            lambda q, k, v, scale: q @ _t(k) * _scale(q, scale) @ v,
        ),
        Mistake(
            "no maximum subtracted",
            "exp overflows above 709.78 (chapter 5). Subtract the largest score of each row; the weights stay the "
            "same.",
            lambda q, k, v, scale: softmax_naive(q @ _t(k) * _scale(q, scale)) @ v,
        ),
        Mistake(
            "one maximum for the whole array",
            "A row of scores far below the largest score of another row becomes 0 / 0. Each row needs its own maximum: "
            "axis=-1, keepdims=True.",
            _one_maximum,
        ),
        Mistake(
            "keys mixed in place of values",
            "The key says how well a token fits, the value is what it hands over. The last product is with v.",
            lambda q, k, v, scale: _weights(q, k, scale) @ k,
        ),
        Mistake(
            "queries and keys exchanged",
            "Row i of the scores belongs to query i: q k^T, not k q^T.",
            lambda q, k, v, scale: _weights(k, q, scale) @ v,
        ),
        Mistake(
            "divided by scale",
            "scale is what the scores are multiplied by: 1 / sqrt(d_k), not sqrt(d_k).",
            _divided_by_scale,
        ),
        Mistake(
            "no scaling when none is given",
            "Without a scale the scores are still divided by the root of d_k.",
            lambda q, k, v, scale: _weights(q, k, 1.0 if scale is None else scale) @ v,
        ),
        Mistake(
            "scale never used",
            "The scores are multiplied by scale before the softmax.",
            lambda q, k, v, scale: _weights(q, k, 1.0) @ v,
        ),
        Mistake(
            "the given scale overlooked",
            "1 / sqrt(d_k) is only what is taken if scale is None.",
            lambda q, k, v, scale: _weights(q, k, None) @ v,
        ),
        Mistake(
            "scale 0 taken for none",
            "0 counts as False, so `scale or ...` and `if not scale` overlook it. Ask: if scale is None.",
            lambda q, k, v, scale: _weights(q, k, scale or None) @ v,
        ),
        Mistake(
            "divided by d_k in place of its root",
            "If no scale is given it is 1 / np.sqrt(q.shape[-1]).",
            lambda q, k, v, scale: _weights(q, k, 1 / q.shape[-1] if scale is None else scale) @ v,
        ),
        Mistake(
            "the root of the number of keys",
            "d_k is the width of a key, q.shape[-1]. How many keys there are plays no part.",
            lambda q, k, v, scale: _weights(q, k, 1 / np.sqrt(k.shape[-2]) if scale is None else scale) @ v,
        ),
        Mistake(
            "the root of the values' width",
            "A score is a sum over the columns of a query and a key: the root of their width, q.shape[-1]. Values may "
            "be of another width.",
            lambda q, k, v, scale: _weights(q, k, 1 / np.sqrt(v.shape[-1]) if scale is None else scale) @ v,
        ),
        Mistake(
            "scaled after the softmax",
            "Scale the scores, then take the softmax. Afterwards the rows do not sum to 1 any more.",
            lambda q, k, v, scale: _weights(q, k, 1.0) * _scale(q, scale) @ v,
        ),
    ),
)

_QUERY = np.array([1, 2, 0])
_KEYS = np.array([[2, 1, 0], [0, 1, 9], [4, 2, 0]])
_WORLD = np.round(PAPER.x[1], 4)  # as the exercise gives it
_THINKING = np.array([112, 96])

_CHAPTER_4 = [
    ByHand("ex-04-1", (product(_QUERY, _KEYS.T),)),
    ByHand("ex-04-2", (product(_WORLD, W_K[0], decimals=4),)),
    ByHand(
        "ex-04-3",
        (
            Part(
                _THINKING / 8,
                lambda place: f"{_THINKING[place[0]]} / 8 = {_THINKING[place[0]] // 8}",
                name="scaled scores",
            ),
            Part(
                softmax(_THINKING / 8),
                lambda place: (
                    "e^2 / (e^2 + 1) = 7.389 / 8.389 = 0.88",
                    "1 / (e^2 + 1) = 1 / 8.389 = 0.12",
                )[place[0]],
                decimals=2,
                name="weights",
            ),
        ),
    ),
]

# ---------------------------------------------------------------- chapter 5: the scale


def scaled_scores(q, k):
    """Compare every query with every key: ``q k^T / sqrt(d_k)``, before any softmax.

    q: array of shape (..., query, d_k). k: array of shape (..., key, d_k). The leading
    axes count sentences and heads; with heads, d_k is the width of one. Returns an
    array of shape (..., query, key).
    """
    return q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])


def _scaled_scores_cases(rng):
    return [
        Case((np.array([[1.0, 2.0, 0.0, 3.0]]), np.array([[2.0, 1.0, 5.0, 0.0], [4.0, 0.0, 1.0, 2.0]])), "d_k = 4"),
        Case((rng.normal(size=(3, 9)), rng.normal(size=(2, 9))), "d_k = 9"),
        Case((np.array([[1.0, 2.0], [3.0, 0.0]]), np.array([[2.0, 1.0], [0.0, 5.0]])), "everything 2 x 2"),
        Case((rng.normal(size=(2, 3, 5)), rng.normal(size=(2, 4, 5))), "a batch of two sentences"),
        Case((rng.normal(size=(2, 3, 4, 5)), rng.normal(size=(2, 3, 6, 5))), "two sentences, three heads"),
    ]


def _raw(q, k):
    return q @ _t(k)


SCALED_SCORES = Check(
    solution=scaled_scores,
    expected=lambda q, k: attention.attention(q, k, k)[1].scaled_scores,
    cases=_scaled_scores_cases,
    exercise="ex-05-8",
    results=("scores",),
    mistakes=(
        Mistake(
            "no scaling",
            "A sum of d_k products has a standard deviation of sqrt(d_k) (chapter 5). Divide by it.",
            _raw,
        ),
        Mistake(
            "divided by d_k in place of its root",
            "The standard deviation grows like the root of the width. With d_k itself the weights become all equal "
            "(chapter 5).",
            lambda q, k: _raw(q, k) / q.shape[-1],
        ),
        Mistake(
            "the root of the number of keys",
            "The divisor depends on how many products are added up in one score: the width, q.shape[-1].",
            lambda q, k: _raw(q, k) / np.sqrt(k.shape[-2]),
        ),
        Mistake(
            "the root of the number of queries",
            "len(q) and q.shape[-2] count rows. The divisor is the root of the width, q.shape[-1].",
            lambda q, k: _raw(q, k) / np.sqrt(q.shape[-2]),
        ),
        Mistake(
            "the root of the length of the first axis",
            "len(q) is the number of queries, or of sentences. The width is q.shape[-1].",
            lambda q, k: _raw(q, k) / np.sqrt(len(q)),
        ),
        Mistake(
            "the root of all heads' width together",
            "Each head adds up d_k products, its own width: q.shape[-1]. d_model is that width times the number of "
            "heads.",
            lambda q, k: _raw(q, k) / np.sqrt(q.shape[-1] * (q.shape[-3] if q.ndim > 3 else 1)),
        ),
        Mistake(
            "multiplied by the root",
            "The scores are divided by sqrt(d_k). Multiplied, the softmax saturates sooner.",
            lambda q, k: _raw(q, k) * np.sqrt(q.shape[-1]),
        ),
        Mistake(
            "30 in place of the root",
            "30 was chosen for one example, whose numbers are large (chapter 5, The divisor 30). The rule is the root "
            "of d_k.",
            lambda q, k: _raw(q, k) / 30,
        ),
        Mistake(
            "keys not transposed",
            "q @ k multiplies queries with columns of k. Each key must become a column: np.swapaxes(k, -1, -2).",
            lambda q, k: q @ k / np.sqrt(q.shape[-1]),
        ),
        Mistake(
            "axes other than the last two exchanged",
            ".T turns all axes round, swapaxes(0, 1) the first two; both are right for a matrix alone. With sentences "
            "or heads in front, exchange the last two: np.swapaxes(k, -1, -2).",
            lambda q, k: q @ k.T / np.sqrt(q.shape[-1]),
        ),
        Mistake(
            "keys as rows and queries as columns",
            "A row of the scores belongs to a query: q k^T, not k q^T.",
            lambda q, k: _t(scaled_scores(q, k)),
        ),
        Mistake(
            "the softmax taken as well",
            "The exercise stops at the scaled scores.",
            lambda q, k: softmax(scaled_scores(q, k)),
        ),
    ),
)

_MATRICES = np.array([[[0.3, 0.7], [0.6, 0.4]], [[0.3, 0.6], [0.7, 0.4]], [[0.5, 0.5], [0.5, 0.5]]])
_X = PUBLISHED.x
_GAP = float(np.diff((_X @ W_Q[0] @ (_X @ W_K[0]).T)[0])[0])
_SPREAD = 64 * (1 / 3) ** 2  # variance of a sum of 64 products


def _sums(axis, name):
    def terms(place):
        m, line = place
        row = _MATRICES[m].take(line, axis=1 - axis)
        return f"{row[0]:g} + {row[1]:g} = {row.sum():.1f}"

    return Part(_MATRICES.sum(axis=axis + 1), terms, decimals=1, name=name)


_CHAPTER_5 = [
    ByHand(
        "ex-05-1",
        (
            Part(softmax([7.0] * 4), lambda _: "e^7 / (4 e^7) = 1/4 = 0.25", decimals=2, name="weights"),
            Part(np.log(3), lambda _: "e^gap = (3/4) / (1/4) = 3, so the gap is ln 3 = 1.0986", decimals=4, name="gap"),
        ),
    ),
    ByHand(
        "ex-05-2",
        (
            Part(
                softmax([1001.0, 1002.0, 1003.0]),
                lambda place: (
                    f"the weights of 1, 2, 3: e^{place[0] + 1} / (e^1 + e^2 + e^3) = "
                    f"{softmax([1.0, 2.0, 3.0])[place[0]]:.2f}"
                ),
                decimals=2,
            ),
        ),
    ),
    ByHand("ex-05-3", (_sums(1, "row sums"), _sums(0, "column sums"))),
    ByHand(
        "ex-05-4",
        (
            Part(_SPREAD, lambda _: f"64 * 1/3 * 1/3 = 64/9 = {_SPREAD:.2f}", decimals=2, name="variance"),
            Part(
                np.sqrt(_SPREAD),
                lambda _: f"the root of 64/9 = 8/3 = {np.sqrt(_SPREAD):.2f}",
                decimals=2,
                name="divisor",
            ),
        ),
    ),
    ByHand(
        "ex-05-6",
        (
            Part(
                np.log(9),
                lambda _: f"e^gap = 0.9 / 0.1 = 9, so the scaled gap is ln 9 = {np.log(9):.4f}",
                decimals=4,
                name="scaled gap",
            ),
            Part(
                _GAP / np.log(9),
                lambda _: f"{_GAP:.2f} / {np.log(9):.4f} = {_GAP / np.log(9):.1f}",
                decimals=1,
                name="divisor",
            ),
        ),
    ),
]

# ---------------------------------------------------------------- chapter 6: heads


def split_heads(x, n_heads):
    """Cut columns into heads: (..., n, n_heads * d_head) to (..., n_heads, n, d_head).

    x: array whose last axis holds the heads' columns side by side: head 0 owns the
    first d_head columns, head 1 the next d_head, and so on.
    """
    *leading, n, width = x.shape
    cut = x.reshape(*leading, n, n_heads, width // n_heads)
    return cut.swapaxes(-2, -3)


def _columns_dealt_out(x, n_heads):
    """Column c to head ``c % n_heads``."""
    *leading, n, width = x.shape
    return np.moveaxis(x.reshape(*leading, n, width // n_heads, n_heads), -1, -3)


def _reshape_alone(x, n_heads):
    *leading, n, width = x.shape
    return x.reshape(*leading, n_heads, n, width // n_heads)


def _cut(x, n_heads):
    return x.reshape(*x.shape[:-1], n_heads, x.shape[-1] // n_heads)


def _heads_and_width_exchanged(x, n_heads):
    return _cut(x, x.shape[-1] // n_heads).swapaxes(-2, -3)


def _split_heads_cases(rng):
    return [
        Case((np.array([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]), 2), "two tokens, two heads of width 2"),
        Case((np.arange(30.0).reshape(5, 6), 2), "five tokens, two heads of width 3"),
        Case((rng.normal(size=(2, 5, 6)), 3), "two sentences, three heads of width 2"),
        Case((rng.normal(size=(4, 3)), 1), "one head"),
        Case((rng.normal(size=(3, 2, 4, 10)), 5), "two leading axes"),
    ]


SPLIT_HEADS = Check(
    solution=split_heads,
    expected=attention.split_heads,
    cases=_split_heads_cases,
    exercise="ex-06-8",
    results=("heads",),
    mistakes=(
        Mistake(
            "a reshape without the swap",
            "reshape only recounts the numbers in memory: parts of one token become different tokens (chapter 6, "
            "A reshape that lies). Cut into (n, n_heads, d_head), then swap the axes of tokens and heads.",
            _reshape_alone,
        ),
        Mistake(
            "cut and not swapped",
            "The shape is still (..., n, n_heads, d_head). Put the heads before the tokens: swapaxes(-2, -3).",
            _cut,
        ),
        Mistake(
            "columns dealt out in turn",
            "Head 0 owns the first d_head columns, one after the other. Cut the last axis into (n_heads, d_head), in "
            "this order.",
            _columns_dealt_out,
        ),
        Mistake(
            "number of heads and width of a head exchanged",
            "The last axis is cut into (n_heads, d_head): the number of heads comes first.",
            _heads_and_width_exchanged,
        ),
        Mistake(
            "the last two axes swapped",
            "That puts columns before heads. Tokens and heads change places: swapaxes(-2, -3).",
            lambda x, n_heads: _cut(x, n_heads).swapaxes(-1, -2),
        ),
        Mistake(
            "all axes reversed by .T",
            ".T turns all axes round. Only tokens and heads change places: swapaxes(-2, -3).",
            lambda x, n_heads: _cut(x, n_heads).T,
        ),
        Mistake(
            "axes 0 and 1 swapped",
            "With a batch in front, axis 0 counts sentences. Count from the end: swapaxes(-2, -3).",
            lambda x, n_heads: _cut(x, n_heads).swapaxes(0, 1),
        ),
        Mistake(
            "tokens divided in place of columns",
            "Every head sees every token, and some of the columns: cut the last axis.",
            lambda x, n_heads: x.reshape(*x.shape[:-2], n_heads, x.shape[-2] // n_heads, x.shape[-1]),
        ),
        Mistake(
            "the heads in reverse order",
            "Head 0 owns the first columns.",
            lambda x, n_heads: split_heads(x, n_heads)[..., ::-1, :, :],
        ),
    ),
)


def merge_heads(heads):
    """Put heads side by side: (..., n_heads, n, d_head) to (..., n, n_heads * d_head).

    heads: array with one output for each head; the columns of head 0 come first.
    """
    *leading, n_heads, n, d_head = heads.shape
    return heads.swapaxes(-2, -3).reshape(*leading, n, n_heads * d_head)


def _merge_alone(heads):
    *leading, n_heads, n, d_head = heads.shape
    return heads.reshape(*leading, n, n_heads * d_head)


def _columns_in_turn(heads):
    *leading, n_heads, n, d_head = heads.shape
    return np.moveaxis(heads, -3, -1).reshape(*leading, n, d_head * n_heads)


def _merge_batch_wrong(heads):
    *leading, n_heads, n, d_head = heads.shape
    return heads.swapaxes(0, 1).reshape(*leading, n, n_heads * d_head)


def _heads_under_each_other(heads):
    *leading, n_heads, n, d_head = heads.shape
    return heads.reshape(*leading, n_heads * n, d_head)


def _merge_heads_cases(rng):
    return [
        Case((np.array([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]]),), "two heads, two tokens, width 2"),
        Case((np.arange(30.0).reshape(2, 5, 3),), "two heads, five tokens, width 3"),
        Case((rng.normal(size=(2, 3, 5, 2)),), "two sentences, three heads"),
        Case((rng.normal(size=(1, 4, 3)),), "one head"),
        Case((rng.normal(size=(3, 2, 5, 4, 2)),), "two leading axes"),
    ]


MERGE_HEADS = Check(
    solution=merge_heads,
    expected=attention.merge_heads,
    cases=_merge_heads_cases,
    exercise="ex-06-9",
    results=("rows",),
    mistakes=(
        Mistake(
            "a reshape without the swap",
            "reshape only recounts the numbers in memory: a row would hold several tokens of one head. Swap the axes "
            "of heads and tokens first, then join the last two.",
            _merge_alone,
        ),
        Mistake(
            "swapped and not joined",
            "The heads' columns become one axis: reshape(..., n, n_heads * d_head).",
            lambda heads: heads.swapaxes(-2, -3),
        ),
        Mistake(
            "the heads under each other",
            "The rows stay the tokens, only the columns grow in number: join along the last axis.",
            _heads_under_each_other,
        ),
        Mistake(
            "columns of the heads in turn",
            "First all columns of head 0, then all of head 1. Otherwise they meet the wrong rows of W^O.",
            _columns_in_turn,
        ),
        Mistake(
            "heads added up",
            "They are put side by side. What adds them up, each with weights of its own, is W^O.",
            lambda heads: heads.sum(axis=-3),
        ),
        Mistake(
            "heads averaged",
            "Two heads with clear opinions average to none (chapter 6). Put them side by side.",
            lambda heads: heads.mean(axis=-3),
        ),
        Mistake(
            "the heads in reverse order",
            "The columns of head 0 come first.",
            lambda heads: merge_heads(heads[..., ::-1, :, :]),
        ),
        Mistake(
            "axes 0 and 1 swapped",
            "With a batch in front, axis 0 counts sentences. Count from the end: swapaxes(-2, -3).",
            _merge_batch_wrong,
        ),
    ),
)


def multi_head(x, w_q, w_k, w_v, w_o, n_heads):
    """Let several heads attend to the rows of x, and mix what they found by W^O.

    x: array of shape (..., n, d_model). w_q, w_k: (d_model, n_heads * d_k). w_v:
    (d_model, n_heads * d_v). w_o: (n_heads * d_v, d_model). The heads' columns stand
    side by side. Returns an array of shape (..., n, d_model). Scores are divided by the
    root of d_k.
    """

    def split(rows):
        cut = rows.reshape(*rows.shape[:-1], n_heads, rows.shape[-1] // n_heads)
        return cut.swapaxes(-2, -3)

    q, k, v = split(x @ w_q), split(x @ w_k), split(x @ w_v)
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    attn_weights = exps / exps.sum(axis=-1, keepdims=True)
    heads = (attn_weights @ v).swapaxes(-2, -3)
    return heads.reshape(*heads.shape[:-2], -1) @ w_o


def _heads(x, w_q, w_k, w_v, n_heads, divisor=None, axis=-1, split=split_heads):
    """Every head's output, (..., n_heads, n, d_v), with a piece exchanged."""
    q, k, v = (split(x @ w, n_heads) for w in (w_q, w_k, w_v))
    divisor = np.sqrt(q.shape[-1]) if divisor is None else divisor
    return softmax(q @ _t(k) / divisor, axis=axis) @ v


def _multi_head(**changed):
    """Multi-head attention with a piece exchanged; a divisor may depend on x and w_k."""
    merge = changed.pop("merge", merge_heads)
    divisor = changed.pop("divisor", lambda x, w_k, n_heads: None)

    def function(x, w_q, w_k, w_v, w_o, n_heads):
        return merge(_heads(x, w_q, w_k, w_v, n_heads, divisor(x, w_k, n_heads), **changed)) @ w_o

    return function


def _split_then_project(x, w_q, w_k, w_v, w_o, n_heads):
    """Each head is given its share of the columns of x, and the block of the weights that belongs to them."""

    def projected(w):
        parts, matrices = split_heads(x, n_heads), split_heads(w, n_heads)
        d = parts.shape[-1]
        return np.stack([parts[..., h, :, :] @ matrices[h, h * d : (h + 1) * d] for h in range(n_heads)], axis=-3)

    q, k, v = projected(w_q), projected(w_k), projected(w_v)
    return merge_heads(softmax(q @ _t(k) / np.sqrt(q.shape[-1])) @ v) @ w_o


def _multi_head_in_toytf(x, w_q, w_k, w_v, w_o, n_heads):
    return attention.multi_head_attention(attention.MultiHead(w_q, w_k, w_v, w_o), x, n_heads=n_heads)[0]


def _multi_head_cases(rng):
    def weights(d_model, n_heads, d_k, d_v):
        q, k, v = (rng.normal(size=(d_model, n_heads * d)) for d in (d_k, d_k, d_v))
        q, k = q / np.sqrt(d_model), k / np.sqrt(d_model)  # larger scores would magnify what float32 rounds off
        return q, k, v, rng.normal(size=(n_heads * d_v, d_model)), n_heads

    tiny = np.array([[np.log(3.0), 0.0], [0.0, 0.0]]), np.eye(2), np.eye(2), np.array([[4.0, 0.0], [0.0, 8.0]]), 2
    return [
        Case((np.eye(2), *tiny), "two heads of width 1; the second has equal weights"),
        Case((rng.normal(size=(2, 4)), *weights(4, 2, 3, 3)), "the sizes of the running example"),
        Case((rng.normal(size=(5, 4)), *weights(4, 2, 2, 3)), "five tokens, values wider than keys"),
        Case((rng.normal(size=(3, 6)), *weights(6, 3, 2, 2)), "all heads together as wide as a row"),
        Case((rng.normal(size=(2, 4, 6)), *weights(6, 2, 4, 5)), "a batch of two sentences"),
    ]


MULTI_HEAD = Check(
    solution=multi_head,
    expected=_multi_head_in_toytf,
    cases=_multi_head_cases,
    exercise="ex-06-10",
    results=("z",),
    points=4,
    mistakes=(
        Mistake(
            "W^O forgotten",
            "The heads side by side are not the output yet: multiply by w_o, which brings the row back to d_model.",
            lambda x, w_q, w_k, w_v, w_o, n_heads: merge_heads(_heads(x, w_q, w_k, w_v, n_heads)),
        ),
        Mistake(
            "heads averaged in place of added",
            "The product with w_o adds the heads' parts (chapter 6, Z is a sum over heads). Nothing is divided by "
            "their number.",
            lambda x, w_q, w_k, w_v, w_o, n_heads: multi_head(x, w_q, w_k, w_v, w_o, n_heads) / n_heads,
        ),
        Mistake(
            "the scale of d_model",
            "A score is a sum over the columns of one head: divide by the root of d_k, q.shape[-1] after the split.",
            _multi_head(divisor=lambda x, w_k, n_heads: np.sqrt(x.shape[-1])),
        ),
        Mistake(
            "the scale of all heads together",
            "A score is a sum over the columns of one head: divide by the root of its width, not of n_heads * d_k.",
            _multi_head(divisor=lambda x, w_k, n_heads: np.sqrt(w_k.shape[-1])),
        ),
        Mistake(
            "no scaling",
            "The scores of each head are divided by the root of d_k (chapter 5).",
            _multi_head(divisor=lambda x, w_k, n_heads: 1.0),
        ),
        Mistake(
            "divided by d_k in place of its root",
            "The divisor is the root of the head's width (chapter 5).",
            _multi_head(divisor=lambda x, w_k, n_heads: w_k.shape[-1] / n_heads),
        ),
        Mistake(
            "split and merged without the swap",
            "reshape(n_heads, n, d_head) mixes heads and tokens (chapter 6, A reshape that lies). Cut into "
            "(n, n_heads, d_head), then swap; on the way back swap, then join.",
            _multi_head(split=_reshape_alone, merge=_merge_alone),
        ),
        Mistake(
            "split without the swap",
            "The heads are cut wrongly: reshape to (n, n_heads, d_head), then swap tokens and heads.",
            _multi_head(split=_reshape_alone),
        ),
        Mistake(
            "merged without the swap",
            "The heads are joined wrongly: swap back to (n, n_heads, d_head), then join the last two axes.",
            _multi_head(merge=_merge_alone),
        ),
        Mistake(
            "split before the projection",
            "Each head multiplies the whole row, all columns of x, by its matrices (chapter 6, Project, then split). "
            "Split x @ w_q, not x.",
            _split_then_project,
        ),
        Mistake(
            "one head with all columns",
            "n_heads is not used: every head has its own row of weights. Split queries, keys and values first.",
            lambda x, w_q, w_k, w_v, w_o, n_heads: multi_head(x, w_q, w_k, w_v, w_o, 1),
        ),
        Mistake(
            "softmax over the queries",
            "Each query shares its attention among the keys: axis=-1.",
            _multi_head(axis=-2),
        ),
        Mistake(
            "softmax over the heads",
            "Each head has weights of its own that sum to 1 over the keys: axis=-1.",
            _multi_head(axis=-3),
        ),
        Mistake(
            "the heads side by side in reverse order",
            "Head 0 meets the first rows of w_o.",
            _multi_head(merge=lambda heads: merge_heads(heads[..., ::-1, :, :])),
        ),
        Mistake(
            "columns of the heads in turn",
            "First all columns of head 0, then all of head 1: each block of columns has its block of rows in w_o.",
            _multi_head(merge=_columns_in_turn),
        ),
    ),
)


def reorder_w_o(w_o, order):
    """Put the blocks of W^O in the order of the heads.

    The heads are given another order: new head j is old head order[j]. Each brought its
    block of d_v rows of w_o. w_o: array of shape (n_heads * d_v, d_model). order: array
    of integers of shape (n_heads,). Returns an array of the shape of w_o, with which
    the output is the old one.
    """
    blocks = w_o.reshape(len(order), -1, w_o.shape[-1])
    return blocks[order].reshape(w_o.shape)


def _blocks(w_o, order):
    return w_o.reshape(len(order), -1, w_o.shape[-1])


def _columns_reordered(w_o, order):
    return np.concatenate([np.array_split(w_o, len(order), axis=1)[j] for j in order], axis=1)


def _blocks_of_interleaved_rows(w_o, order):
    return w_o.reshape(-1, len(order), w_o.shape[-1])[:, order].reshape(w_o.shape)


def _reorder_w_o_cases(rng):
    return [
        Case((np.arange(1.0, 9.0).reshape(4, 2), np.array([1, 0])), "two heads of width 2, exchanged"),
        Case((rng.normal(size=(6, 4)), np.array([1, 2, 0])), "three heads in a circle"),
        Case((rng.normal(size=(6, 4)), np.array([0, 1])), "the old order"),
        Case((rng.normal(size=(8, 5)), np.array([2, 0, 3, 1])), "four heads"),
        Case((rng.normal(size=(15, 6)), rng.permutation(5)), "five heads"),
    ]


REORDER_W_O = Check(
    solution=reorder_w_o,
    expected=lambda w_o, order: np.concatenate([np.split(w_o, len(order))[j] for j in order]),
    cases=_reorder_w_o_cases,
    exercise="ex-06-4",
    results=("w_o",),
    mistakes=(
        Mistake(
            "w_o left as it is",
            "Then the columns of one head meet the rows of another. Each head takes its block along.",
            lambda w_o, order: w_o.copy(),
        ),
        Mistake(
            "single rows in place of blocks",
            "w_o[order] takes n_heads rows. A head owns d_v rows: cut w_o into blocks first.",
            lambda w_o, order: w_o[order],
        ),
        Mistake(
            "the inverse order",
            "New head j is old head order[j], so block j of the result is old block order[j]. You put old block j at "
            "place order[j].",
            lambda w_o, order: _blocks(w_o, order)[np.argsort(order)].reshape(w_o.shape),
        ),
        Mistake(
            "columns reordered in place of rows",
            "A head meets its rows of w_o; every column of the output belongs to all heads.",
            _columns_reordered,
        ),
        Mistake(
            "blocks reversed, whatever the order",
            "Reversing is right for two heads that change places. Use order.",
            lambda w_o, order: _blocks(w_o, order)[::-1].reshape(w_o.shape),
        ),
        Mistake(
            "all rows reversed",
            "The blocks move as wholes; inside a block the rows keep their order.",
            lambda w_o, order: w_o[::-1],
        ),
        Mistake(
            "rows of a head taken at a distance",
            "The rows of a head are neighbours: reshape to (n_heads, d_v, d_model), in this order.",
            _blocks_of_interleaved_rows,
        ),
    ),
)

_Q2, _K2 = _X @ W_Q[1], _X @ W_K[1]
_HELLO = np.round(_Q2[0] @ _K2.T, 2)
_BATCH, _TOKENS, _D, _H = 32, 7, 1024, 16
_HEAD = _D // _H


def _counted(d, n_heads, width, name):
    total = 4 * d * n_heads * width
    return Part(total, lambda _: f"4 * {d} * {n_heads} * {width} = {total}", name=name)


def _mix(weights, values, decimals=1):
    return sum_of_products(weights, values, decimals)


_SHAPES = {
    "x @ w_q": ((_BATCH, _TOKENS, _D), "32 sentences, 7 tokens, 16 * 64 columns"),
    "reshape": ((_BATCH, _TOKENS, _H, _HEAD), "the columns are cut into 16 heads of 1024 / 16 = 64"),
    "swapaxes": ((_BATCH, _H, _TOKENS, _HEAD), "tokens and heads change places"),
    "weights": ((_BATCH, _H, _TOKENS, _TOKENS), "in each head a row for each query, a column for each key"),
    "side by side": ((_BATCH, _TOKENS, _D), "16 heads of 64 columns are 1024 columns"),
    "w_o": ((_D, _D), "16 * 64 rows, d columns"),
    "output": ((_BATCH, _TOKENS, _D), "the shape of the input"),
}

_CHAPTER_6 = [
    ByHand(
        "ex-06-1",
        (
            Part(
                _HELLO,
                lambda place: sum_of_products(np.round(_Q2[0], 2), np.round(_K2[place[0]], 2), 2),
                decimals=2,
                name="scores",
            ),
            Part(
                _HELLO / 30,
                lambda place: f"{_HELLO[place[0]]:g} / 30 = {_HELLO[place[0]] / 30:.4f}",
                decimals=4,
                name="scaled scores",
            ),
        ),
    ),
    ByHand(
        "ex-06-2",
        (
            Part(
                (0.7 * 4 + 0.3 * 1, 0.2 * 1 + 0.8 * 3),
                lambda place: (_mix([0.7, 0.3], [4, 1]), _mix([0.2, 0.8], [1, 3]))[place[0]],
                decimals=1,
            ),
        ),
    ),
    ByHand(
        "ex-06-3",
        tuple(
            Part(shape, lambda _, why=why, shape=shape: f"{why}: {shape}", name=name)
            for name, (shape, why) in _SHAPES.items()
        ),
    ),
    ByHand(
        "ex-06-7",
        (
            _counted(512, 8, 64, "8 heads of 64"),
            _counted(512, 8, 32, "8 heads of 32"),
            _counted(512, 16, 64, "16 heads of 64"),
        ),
    ),
]

# ---------------------------------------------------------------- all of them

CHECKS = [
    ATTEND_ONCE,
    ATTEND,
    SCALED_SCORES,
    SPLIT_HEADS,
    MERGE_HEADS,
    MULTI_HEAD,
    REORDER_W_O,
]

BY_HAND = [*_CHAPTER_4, *_CHAPTER_5, *_CHAPTER_6]
