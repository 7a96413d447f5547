"""Checkers of chapters 7 to 10: from the feed-forward network to the encoder."""

from __future__ import annotations

import numpy as np

from toytf import model, ops
from toytf.check.core import Case, Check, Mistake
from toytf.check.pencil import ByHand, Part, number, product, sum_of_products
from toytf.example import FEED_FORWARD

# ---------------------------------------------------------------- chapter 7: feed-forward


def relu(x):
    """Cut off what is negative: ``max(0, x)`` for each entry.

    x: array of any shape. Returns a new array of the same shape; x stays as it is.
    """
    return np.maximum(0, x)


def _relu_cases(rng):
    return [
        Case((np.array([-2.0, 3.0]),), "one entry on each side of zero"),
        Case((np.array([4.0]),), "a single entry"),
        Case((np.array([[-1.0, 0.0, 0.5], [2.0, -3.0, 1.0]]),), "two rows"),
        Case((rng.normal(size=(2, 3, 5)),), "two sentences of three tokens"),
    ]


RELU = Check(
    solution=relu,
    expected=ops.relu,
    cases=_relu_cases,
    exercise="ex-07-7",
    mistakes=(
        Mistake(
            "one question for the whole array",
            "Python's max and if want a single answer, and an array has many. np.maximum compares entry by entry.",
            lambda x: x if x > 0 else 0,
        ),
        Mistake(
            "np.max in the place of np.maximum",
            "In np.max(x, 0) the 0 is an axis: it returns the largest entry along that axis. np.maximum(0, x) compares "
            "each entry with 0.",
            lambda x: np.max(x, 0),
        ),
        Mistake(
            "the smaller of the two kept",
            "np.minimum(0, x) keeps what is negative. ReLU keeps what is positive: np.maximum(0, x).",
            lambda x: np.minimum(0, x),
        ),
        Mistake(
            "the absolute value",
            "A negative entry becomes 0; it does not lose its sign. The absolute value takes two units (exercise 7.2).",
            np.abs,
        ),
        Mistake(
            "on and off in the place of numbers",
            "x > 0 says which units are on. A unit that is on passes its number unchanged (chapter 7, The bend).",
            lambda x: (x > 0) * 1.0,
        ),
        Mistake(
            "negative entries dropped",
            "x[x > 0] leaves entries out, so the shape changes. The unit stays, with 0 in its place.",
            lambda x: x[x > 0],
        ),
        Mistake(
            "a leak below zero",
            "Below zero a part of the entry comes through: that is the leaky ReLU. Here it becomes 0.",
            lambda x: np.where(x > 0, x, 0.01 * x),
        ),
        Mistake(
            "GELU in the place of ReLU",
            "GELU has no corner and goes below zero (chapter 7, ReLU and GELU). The paper's bend is max(0, x).",
            ops.gelu,
        ),
        Mistake(
            "the tanh form of GELU in the place of ReLU",
            "GELU has no corner and goes below zero (chapter 7, ReLU and GELU). The paper's bend is max(0, x).",
            ops.gelu_tanh,
        ),
        Mistake(
            "cut off above 1 too",
            "ReLU has no upper end: a unit that is on passes its number, however large.",
            lambda x: np.clip(x, 0, 1),
        ),
        Mistake(
            "the bend left out",
            "x comes back as it was. Every entry below zero becomes zero: np.maximum(0, x).",
            lambda x: x + 0.0,
        ),
    ),
)


def feed_forward(x, w_1, b_1, w_2, b_2):
    """Widen each row, bend it, narrow it again: ``max(0, x W_1 + b_1) W_2 + b_2``.

    x: (..., n, d); w_1: (d, d_ff); b_1: (d_ff,); w_2: (d_ff, d); b_2: (d,).
    Returns an array of the shape of x.
    """
    hidden = np.maximum(0, x @ w_1 + b_1)
    return hidden @ w_2 + b_2


def _feed_forward_cases(rng):
    def drawn(*shape, d_ff):
        d = shape[-1]
        sizes = (shape, (d, d_ff), d_ff, (d_ff, d), d)
        return tuple(rng.normal(size=size) for size in sizes)

    square = (
        np.array([[1.0, -2.0]]),
        np.array([[1.0, 2.0], [0.0, 1.0]]),
        np.array([1.0, -2.0]),
        np.array([[1.0, -3.0], [0.0, 2.0]]),
        np.array([1.0, 1.0]),
    )
    return [
        Case(square, "one token, square matrices"),
        Case(drawn(3, 2, d_ff=5), "three tokens of width 2, five hidden units"),
        Case(drawn(2, 3, 4, d_ff=8), "two sentences of three tokens"),
    ]


FEED_FORWARD_CHECK = Check(
    solution=feed_forward,
    expected=lambda x, w_1, b_1, w_2, b_2: model.feed_forward(model.FeedForward(w_1, b_1, w_2, b_2), x)[0],
    cases=_feed_forward_cases,
    exercise="ex-07-8",
    mistakes=(
        Mistake(
            "no bend between the maps",
            "Two linear maps in a row are one linear map (chapter 7, Why a bend). np.maximum(0, ...) goes around "
            "x @ w_1 + b_1.",
            lambda x, w_1, b_1, w_2, b_2: (x @ w_1 + b_1) @ w_2 + b_2,
        ),
        Mistake(
            "b_1 forgotten",
            "Add b_1 to x @ w_1, before the bend. Without it every unit's border passes through the origin.",
            lambda x, w_1, b_1, w_2, b_2: relu(x @ w_1) @ w_2 + b_2,
        ),
        Mistake(
            "b_2 forgotten",
            "Add b_2 to the narrowed rows, as the last step.",
            lambda x, w_1, b_1, w_2, b_2: relu(x @ w_1 + b_1) @ w_2,
        ),
        Mistake(
            "both biases forgotten",
            "Each linear map adds a row of its own: b_1 before the bend, b_2 at the end. The shape sheet leaves them "
            "out (E2-07), the paper does not.",
            lambda x, w_1, b_1, w_2, b_2: relu(x @ w_1) @ w_2,
        ),
        Mistake(
            "b_1 added after the bend",
            "The bias moves the border at which a unit goes on, so it stands inside: max(0, x W_1 + b_1).",
            lambda x, w_1, b_1, w_2, b_2: (relu(x @ w_1) + b_1) @ w_2 + b_2,
        ),
        Mistake(
            "the bend after the second map",
            "There the two maps before it are one matrix, and nothing negative can come out. The bend stands between "
            "the maps.",
            lambda x, w_1, b_1, w_2, b_2: relu((x @ w_1 + b_1) @ w_2 + b_2),
        ),
        Mistake(
            "the bend on the input",
            "The rows go into the first map as they are. Bend what comes out of it: max(0, x W_1 + b_1).",
            lambda x, w_1, b_1, w_2, b_2: (relu(x) @ w_1 + b_1) @ w_2 + b_2,
        ),
        Mistake(
            "a bend after each map",
            "There is one bend, between the maps. A second one cuts off every negative entry of the output.",
            lambda x, w_1, b_1, w_2, b_2: relu(relu(x @ w_1 + b_1) @ w_2 + b_2),
        ),
        Mistake(
            "GELU in the place of ReLU",
            "BERT and GPT bend with GELU (chapter 7, ReLU and GELU). The paper's network has max(0, x).",
            lambda x, w_1, b_1, w_2, b_2: ops.gelu(x @ w_1 + b_1) @ w_2 + b_2,
        ),
        Mistake(
            "the absolute value in the place of ReLU",
            "A unit below zero hands over nothing. It does not change its sign: np.maximum(0, ...).",
            lambda x, w_1, b_1, w_2, b_2: np.abs(x @ w_1 + b_1) @ w_2 + b_2,
        ),
        Mistake(
            "transposed weights",
            "Tokens are rows, so it reads x @ w_1, and w_1 has one row for each column of x. A transpose fits the "
            "shapes only where d = d_ff.",
            lambda x, w_1, b_1, w_2, b_2: relu(x @ w_1.T + b_1) @ w_2.T + b_2,
        ),
        Mistake(
            "the two maps exchanged",
            "First w_1 and b_1, which widen, then w_2 and b_2, which narrow. The shape sheet's W_1 is our W_2 (E2-07).",
            lambda x, w_1, b_1, w_2, b_2: relu(x @ w_2 + b_2) @ w_1 + b_1,
        ),
        Mistake(
            "the residual added already",
            "x is added by add & norm, outside the network (chapter 9). Here return F(x) alone.",
            lambda x, w_1, b_1, w_2, b_2: x + relu(x @ w_1 + b_1) @ w_2 + b_2,
        ),
    ),
)


def identity_weights(d):
    """Make weights with which the feed-forward network gives every row back: F(x) = x.

    d: width of a row; there are 2d hidden units. The first d carry the entries of the
    row in their order, the other d the same entries with the sign changed. All weights
    are 0, 1 or -1. Returns w_1 (d, 2d), b_1 (2d,), w_2 (2d, d), b_2 (d,).
    """
    w_1 = np.hstack([np.eye(d), -np.eye(d)])
    return w_1, np.zeros(2 * d), w_1.T, np.zeros(d)


def _identity_mistake(w_1, w_2, b_1=lambda d: np.zeros(2 * d), b_2=np.zeros):
    return lambda d: (w_1(np.eye(d)), b_1(d), w_2(np.eye(d)), b_2(d))


def _wide(eye):
    return np.hstack([eye, -eye])


def _tall(eye):
    return np.vstack([eye, -eye])


IDENTITY_WEIGHTS = Check(
    solution=identity_weights,
    expected=lambda d: (_wide(np.eye(d)), np.zeros(2 * d), _tall(np.eye(d)), np.zeros(d)),
    cases=lambda rng: [
        Case((1,), "a single entry"),
        Case((2,), "two entries"),
        Case((4,), "the width of the example"),
        Case((int(rng.integers(5, 10)),), "a wider row"),
    ],
    exercise="ex-07-4",
    results=("w_1", "b_1", "w_2", "b_2"),
    mistakes=(
        Mistake(
            "the negative entries lost",
            "With w_1 = [I, I] all units carry the entries themselves, and the bend cuts off the negative ones. The "
            "second half needs -I.",
            _identity_mistake(lambda e: np.hstack([e, e]), lambda e: np.vstack([e, e])),
        ),
        Mistake(
            "the absolute value",
            "The sum max(0, x) + max(0, -x) is |x| (exercise 7.2). The second half is subtracted: -I in w_2 too.",
            _identity_mistake(_wide, lambda e: np.vstack([e, e])),
        ),
        Mistake(
            "zero for every row",
            "With w_1 = [I, I] both halves are alike, and w_2 subtracts one from the other. The second half of w_1 "
            "is -I.",
            _identity_mistake(lambda e: np.hstack([e, e]), _tall),
        ),
        Mistake(
            "only d hidden units",
            "With w_1 = I the network is max(0, x): the negative entries are gone. It takes a second set of d units "
            "for them.",
            _identity_mistake(lambda e: e, lambda e: e, b_1=np.zeros),
        ),
        Mistake(
            "the two matrices exchanged",
            "Tokens are rows: w_1 has d rows and 2d columns (np.hstack), w_2 has 2d rows and d columns (np.vstack).",
            _identity_mistake(_tall, _wide),
        ),
        Mistake(
            "the two biases exchanged",
            "b_1 is added to the hidden units, so it has 2d numbers; b_2 is added to the output and has d.",
            _identity_mistake(_wide, _tall, b_1=np.zeros, b_2=lambda d: np.zeros(2 * d)),
        ),
        Mistake(
            "the negatives first",
            "Such weights keep the row as well. The exercise asks for one order, so that they can be compared: "
            "first the d units with the entries themselves.",
            _identity_mistake(lambda e: np.hstack([-e, e]), lambda e: np.vstack([-e, e])),
        ),
        Mistake(
            "each entry beside its negative",
            "Such weights keep the row as well. The exercise asks for one order, so that they can be compared: all d "
            "entries, then all d negatives.",
            _identity_mistake(lambda e: np.kron(e, [[1.0, -1.0]]), lambda e: np.kron(e, [[1.0], [-1.0]])),
        ),
        Mistake(
            "biases as tables",
            "A bias is one row of numbers, shape (2d,) and (d,): np.zeros(2 * d), without a second axis.",
            _identity_mistake(_wide, _tall, b_1=lambda d: np.zeros((1, 2 * d)), b_2=lambda d: np.zeros((1, d))),
        ),
    ),
)


# ---------------------------------------------------------------- chapter 8: scores that overflow


def softmax(scores):
    """Turn each row of scores into weights: ``exp(s_i) / sum_j exp(s_j)``.

    scores: array of shape (..., n). Returns an array of the same shape; each row sums
    to 1. It must survive a score of 1000.
    """
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exps / exps.sum(axis=-1, keepdims=True)


def _softmax_cases(rng):
    return [
        Case((np.array([0.0, np.log(3.0)]),), "weights 1/4 and 3/4"),
        Case((np.array([[1.0, 2.0, 3.0], [3.0, 3.0, 0.0]]),), "two rows"),
        Case((np.array([[1000.0, 1001.0], [-1000.0, -1000.0]]),), "scores that overflow exp"),
        Case((np.array([[1000.0, -1000.0]]),), "a gap of 2000"),
        Case((rng.normal(size=(2, 3, 4)) * 5,), "two sentences, three queries, four keys"),
    ]


def _exps(scores, axis=-1):
    return np.exp(scores - scores.max(axis=axis, keepdims=True))


def _weights(scores, axis=-1):
    exps = _exps(scores, axis)
    return exps / exps.sum(axis=axis, keepdims=True)


SOFTMAX = Check(
    solution=softmax,
    expected=ops.softmax,
    cases=_softmax_cases,
    exercise="ex-08-8",
    mistakes=(
        Mistake(
            "no maximum subtracted",
            "exp overflows above 709.78 (chapter 8). Subtract the largest score of each row first; the weights "
            "stay the same.",
            lambda s: np.exp(s) / np.exp(s).sum(axis=-1, keepdims=True),
        ),
        Mistake(
            "summed over the wrong axis",
            "The weights of one query sum to 1 along its row: axis=-1.",
            lambda s: _weights(s, axis=0),
        ),
        Mistake(
            "one sum for the whole array",
            "sum() without an axis adds up all rows. Each row needs its own sum: axis=-1, keepdims=True.",
            lambda s: np.exp(s - s.max()) / np.exp(s - s.max()).sum(),
        ),
        Mistake(
            "one maximum for the whole array",
            "A row far below the largest score of another row becomes 0 / 0. Each row needs its own maximum: "
            "axis=-1, keepdims=True.",
            lambda s: np.exp(s - s.max()) / np.exp(s - s.max()).sum(axis=-1, keepdims=True),
        ),
        Mistake(
            "the maximum subtracted above the line alone",
            "The factor cancels only if numerator and denominator both have it. Compute the powers once and divide "
            "them by their own sum.",
            lambda s: _exps(s) / np.exp(s).sum(axis=-1, keepdims=True),
        ),
        Mistake(
            "the smallest score subtracted",
            "Then the largest power still grows with the gap, and overflows. Subtract the largest: no power is above "
            "1, and one of them is 1.",
            lambda s: (
                np.exp(s - s.min(axis=-1, keepdims=True))
                / np.exp(s - s.min(axis=-1, keepdims=True)).sum(axis=-1, keepdims=True)
            ),
        ),
        Mistake(
            "keepdims forgotten",
            "The sums have lost their axis, so NumPy lines them up with the columns, or finds that the shapes do not "
            "fit. keepdims=True leaves one sum at the end of each row.",
            lambda s: _exps(s) / _exps(s).sum(axis=-1),
        ),
        Mistake(
            "powers of 2",
            "The powers are those of e: np.exp. With another base each gap of scores counts for less.",
            lambda s: (
                2.0 ** (s - s.max(axis=-1, keepdims=True))
                / (2.0 ** (s - s.max(axis=-1, keepdims=True))).sum(axis=-1, keepdims=True)
            ),
        ),
        Mistake(
            "the exponential left out",
            "Scores divided by their sum can be negative, and the sum can be 0. First exp, which makes every number "
            "positive (chapter 5).",
            lambda s: s / s.sum(axis=-1, keepdims=True),
        ),
        Mistake(
            "divided by the mean",
            "Divided by the mean of its powers, a row sums to its length. Divide by their sum.",
            lambda s: _exps(s) / _exps(s).mean(axis=-1, keepdims=True),
        ),
        Mistake(
            "not divided by the sum",
            "These are the powers. Divide each row by its sum, so that it sums to 1.",
            _exps,
        ),
    ),
)


def log_softmax(scores):
    """Give the logarithm of the softmax of each row: ``s_i - log(sum_j exp(s_j))``.

    scores: array of shape (..., n). Returns an array of the same shape, with numbers up
    to 0. Every result must be finite, for scores of 1000 and for a gap of 2000 too.
    """
    shifted = scores - scores.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def _log_sum(scores, axis=-1):
    """The logarithm of the sum of the powers, without an overflow."""
    largest = scores.max(axis=axis, keepdims=True)
    return largest + np.log(np.exp(scores - largest).sum(axis=axis, keepdims=True))


LOG_SOFTMAX = Check(
    solution=log_softmax,
    expected=ops.log_softmax,
    cases=_softmax_cases,
    exercise="ex-08-9",
    mistakes=(
        Mistake(
            "the logarithm of a finished softmax",
            "A weight too small for a float is 0, and its logarithm is minus infinity. Take the logarithm of the "
            "formula first: s_i - log(sum), and no division is left.",
            lambda s: np.log(_weights(s)),
        ),
        Mistake(
            "no maximum subtracted",
            "exp overflows above 709.78, and log(0) waits at the other end (chapter 8). Subtract the largest score of "
            "each row before exp.",
            lambda s: s - np.log(np.exp(s).sum(axis=-1, keepdims=True)),
        ),
        Mistake(
            "the logarithm of a softmax without maximum",
            "exp overflows above 709.78 (chapter 8), and the logarithm of a weight 0 is minus infinity. Subtract the "
            "largest score, then compute s_i - log(sum).",
            lambda s: np.log(np.exp(s) / np.exp(s).sum(axis=-1, keepdims=True)),
        ),
        Mistake(
            "the maximum subtracted once only",
            "The sum was made with shifted scores, so the score in front of it has to be the shifted one as well.",
            lambda s: s - np.log(_exps(s).sum(axis=-1, keepdims=True)),
        ),
        Mistake(
            "summed over the wrong axis",
            "Each row has a sum of its own, along its columns: axis=-1.",
            lambda s: s - _log_sum(s, axis=0),
        ),
        Mistake(
            "one sum for the whole array",
            "sum() without an axis adds up all rows. Each row needs its own: axis=-1, keepdims=True.",
            lambda s: s - s.max() - np.log(np.exp(s - s.max()).sum()),
        ),
        Mistake(
            "one maximum for the whole array",
            "In a row far below the largest score of another row all powers are 0, and so is their sum. Each row "
            "needs its own maximum: axis=-1, keepdims=True.",
            lambda s: s - s.max() - np.log(np.exp(s - s.max()).sum(axis=-1, keepdims=True)),
        ),
        Mistake(
            "the softmax itself",
            "These are the weights, between 0 and 1. Asked for are their logarithms, which are 0 or below.",
            _weights,
        ),
        Mistake(
            "the sign of a loss",
            "The logarithm of a weight is 0 or below. The minus sign comes later, with the loss (chapter 14).",
            lambda s: _log_sum(s) - s,
        ),
        Mistake(
            "logarithms to base 2",
            "np.log2 counts in bits. The logarithm that undoes np.exp is np.log.",
            lambda s: (s - _log_sum(s)) / np.log(2.0),
        ),
        Mistake(
            "the sum without its logarithm",
            "Dividing by a sum becomes subtracting its logarithm. Subtract np.log of the sum.",
            lambda s: s - s.max(axis=-1, keepdims=True) - _exps(s).sum(axis=-1, keepdims=True),
        ),
        Mistake(
            "the largest score in the place of the sum",
            "s_i - max is near the answer where one score stands out, and too large by log(n) where all are equal. "
            "Subtract the logarithm of the sum as well.",
            lambda s: s - s.max(axis=-1, keepdims=True),
        ),
    ),
)


def first_bad(arrays):
    """Find the first array that holds NaN or infinity.

    arrays: a tuple of arrays of any shapes, in the order in which they were computed.
    Returns its place, counted from 0, or -1 if every entry of every array is finite.
    """
    for i, array in enumerate(arrays):
        if not np.isfinite(array).all():
            return i
    return -1


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


def _first(bad, none=-1):
    """Make a function that returns the place of the first array for which `bad` holds."""
    return lambda arrays: next((i for i, array in enumerate(arrays) if bad(array)), none)


def _is_bad(array):
    return not np.isfinite(array).all()


FIRST_BAD = Check(
    solution=first_bad,
    expected=_first(_is_bad),
    cases=_first_bad_cases,
    exercise="ex-08-3",
    mistakes=(
        Mistake(
            "infinity not looked for",
            "An overflow gives infinity first, and NaN one step later (chapter 8, One bad row). np.isnan alone names "
            "the wrong array; np.isfinite finds both.",
            _first(lambda a: np.isnan(a).any()),
        ),
        Mistake(
            "NaN not looked for",
            "0 / 0 gives NaN with no infinity before it (chapter 8, The other way to fail). np.isfinite finds both.",
            _first(lambda a: np.isinf(a).any()),
        ),
        Mistake(
            "minus infinity forgotten",
            "There are two infinities. np.isfinite excludes both, and NaN.",
            _first(lambda a: (np.isnan(a) | (a == np.inf)).any()),
        ),
        Mistake(
            "only arrays that are bad throughout",
            "One bad entry is enough, and it is how the trouble begins. Ask whether all entries are finite, and say "
            "not to that.",
            _first(lambda a: not np.isfinite(a).any()),
        ),
        Mistake(
            "the sum in the place of the entries",
            "The sum of finite numbers can be infinite. Look at the entries themselves: np.isfinite(array).all().",
            _first(lambda a: not np.isfinite(a.sum())),
        ),
        Mistake(
            "the last bad array",
            "The loop goes on after the first find and overwrites it. Return at once: the culprit is the first.",
            lambda arrays: max((i for i, a in enumerate(arrays) if _is_bad(a)), default=-1),
        ),
        Mistake(
            "decided at the first array",
            "The loop returns in its first round, whatever stands in the arrays behind. The return -1 belongs after "
            "the loop.",
            lambda arrays: 0 if _is_bad(arrays[0]) else -1,
        ),
        Mistake(
            "counted from 1",
            "Places are counted from 0, as Python's lists do: enumerate(arrays).",
            lambda arrays: next((i for i, a in enumerate(arrays, start=1) if _is_bad(a)), -1),
        ),
        Mistake(
            "0 where nothing is bad",
            "0 is the place of the first array. Where nothing is bad, return -1.",
            _first(_is_bad, none=0),
        ),
        Mistake(
            "None where nothing is bad",
            "The loop ends without a find, and so does the function. Return -1 after the loop.",
            _first(_is_bad, none=None),
        ),
        Mistake(
            "the number of bad arrays",
            "Asked for is the place of the first one. Return it as soon as it is found.",
            lambda arrays: sum(_is_bad(a) for a in arrays),
        ),
        Mistake(
            "the first good array",
            "np.isfinite(array).all() is True for a good array. Look for the first where it is not.",
            _first(lambda a: np.isfinite(a).all()),
        ),
    ),
)


# ---------------------------------------------------------------- chapter 9: residual and layer norm


def layer_norm(x, gamma, beta, eps=1e-5):
    """Give each row mean 0 and variance 1, then scale and shift its columns.

    ``gamma * (x - mean) / sqrt(variance + eps) + beta``, with the mean and the variance
    of the row. x: (..., n, d); gamma and beta: (d,); eps: a small number.
    Returns an array of the shape of x.
    """
    away = x - x.mean(axis=-1, keepdims=True)
    variance = (away**2).mean(axis=-1, keepdims=True)
    return gamma * away / np.sqrt(variance + eps) + beta


def _layer_norm_cases(rng):
    flat = np.array([[3.0, 3.0, 3.0], [0.0, 0.001, 0.005]])
    return [
        Case((np.array([[2.0, 6.0]]), np.ones(2), np.zeros(2)), "mean 4, deviation 2"),
        Case((np.array([[1.0, 3.0], [4.0, 10.0]]), np.array([1.0, 2.0]), np.array([0.0, 1.0])), "two rows"),
        Case((rng.normal(size=(3, 5)) + 1, rng.normal(size=5), rng.normal(size=5)), "three rows of width 5"),
        Case((flat, np.ones(3), np.ones(3)), "a constant row, and one that is nearly constant"),
        Case((rng.normal(size=(2, 3, 4)), rng.normal(size=4), rng.normal(size=4)), "two sentences"),
        Case((rng.normal(size=(2, 4)), np.ones(4), rng.normal(size=4), 0.5), "a large eps"),
    ]


def _norm(x, gamma=1.0, beta=0.0, eps=1e-5, axis=-1, ddof=0):
    variance = x.var(axis=axis, ddof=ddof, keepdims=True)
    return gamma * (x - x.mean(axis=axis, keepdims=True)) / np.sqrt(variance + eps) + beta


def _away(x):
    return x - x.mean(axis=-1, keepdims=True)


def _deviation(x, eps=1e-5):
    return np.sqrt(x.var(axis=-1, keepdims=True) + eps)


LAYER_NORM = Check(
    solution=layer_norm,
    expected=lambda x, gamma, beta, eps=1e-5: ops.layer_norm(ops.LayerNorm(gamma, beta), x, eps)[0],
    cases=_layer_norm_cases,
    exercise="ex-09-7",
    mistakes=(
        Mistake(
            "N - 1 in the place of N",
            "The squares are divided by the number of columns, not by one less (chapter 9, E0-39). x.var() divides "
            "by N; x.var(ddof=1) and torch.std divide by N - 1.",
            lambda x, gamma, beta, eps=1e-5: _norm(x, gamma, beta, eps, ddof=1),
        ),
        Mistake(
            "epsilon outside the root",
            "It stands beside the variance: sqrt(variance + eps). Outside the root it acts on much smaller rows "
            "(chapter 9, E0-34).",
            lambda x, gamma, beta, eps=1e-5: gamma * _away(x) / (x.std(axis=-1, keepdims=True) + eps) + beta,
        ),
        Mistake(
            "divided by the variance",
            "Without the root, a row ten times as large comes out ten times as small. Divide by the deviation, "
            "sqrt(variance + eps).",
            lambda x, gamma, beta, eps=1e-5: gamma * _away(x) / (x.var(axis=-1, keepdims=True) + eps) + beta,
        ),
        Mistake(
            "the wrong axis (axis=0)",
            "Mean and variance are those of one token's row, over its columns: axis=-1. Along axis 0 the others mix "
            "in (chapter 9, Layer norm or batch norm).",
            lambda x, gamma, beta, eps=1e-5: _norm(x, gamma, beta, eps, axis=0),
        ),
        Mistake(
            "the wrong axis (axis=-2)",
            "That is a mean over the tokens, one for each column. Mean and variance are those of one token's row: "
            "axis=-1.",
            lambda x, gamma, beta, eps=1e-5: _norm(x, gamma, beta, eps, axis=-2),
        ),
        Mistake(
            "one mean for the whole array",
            "mean() and var() without an axis take all rows together. Each row has its own: axis=-1, keepdims=True.",
            lambda x, gamma, beta, eps=1e-5: _norm(x, gamma, beta, eps, axis=None),
        ),
        Mistake(
            "keepdims forgotten",
            "The means have lost their axis, so NumPy lines them up with the columns, or finds that the shapes do not "
            "fit. keepdims=True leaves one mean at the end of each row.",
            lambda x, gamma, beta, eps=1e-5: (
                gamma * (x - x.mean(axis=-1)) / np.sqrt(x.var(axis=-1, keepdims=True) + eps) + beta
            ),
        ),
        Mistake(
            "keepdims forgotten twice",
            "Means and variances have lost their axis, so NumPy lines them up with the columns, or finds that the "
            "shapes do not fit. keepdims=True leaves one of each at the end of each row.",
            lambda x, gamma, beta, eps=1e-5: gamma * (x - x.mean(axis=-1)) / np.sqrt(x.var(axis=-1) + eps) + beta,
        ),
        Mistake(
            "gamma forgotten",
            "Multiply each column by its gamma after the division, before beta is added.",
            lambda x, gamma, beta, eps=1e-5: _norm(x, 1.0, beta, eps),
        ),
        Mistake(
            "beta forgotten",
            "Add each column's beta as the last step.",
            lambda x, gamma, beta, eps=1e-5: _norm(x, gamma, 0.0, eps),
        ),
        Mistake(
            "gamma and beta forgotten",
            "Mean 0 and variance 1 is where they begin: multiply by gamma, then add beta (chapter 9, What gamma and "
            "beta are for).",
            lambda x, gamma, beta, eps=1e-5: _norm(x, eps=eps),
        ),
        Mistake(
            "beta inside the brackets",
            "gamma * (... + beta) scales the shift too. First gamma times the normalised row, then plus beta.",
            lambda x, gamma, beta, eps=1e-5: gamma * (_norm(x, eps=eps) + beta),
        ),
        Mistake(
            "gamma and beta exchanged",
            "gamma is the factor, beta is what is added. Look at the order of the arguments: x, gamma, beta.",
            lambda x, gamma, beta, eps=1e-5: _norm(x, beta, gamma, eps),
        ),
        Mistake(
            "the mean not subtracted",
            "Subtract the row's mean before you divide: the result of gamma 1 and beta 0 has mean 0.",
            lambda x, gamma, beta, eps=1e-5: gamma * x / _deviation(x, eps) + beta,
        ),
        Mistake(
            "the brackets around the difference forgotten",
            "x - mean / deviation divides the mean alone. The difference is divided: (x - mean) / deviation.",
            lambda x, gamma, beta, eps=1e-5: gamma * (x - x.mean(axis=-1, keepdims=True) / _deviation(x, eps)) + beta,
        ),
        Mistake(
            "the root of the mean square",
            "That is RMS norm, which later models use: it divides by the size of the row and leaves its mean. Subtract "
            "the mean first, here and in the variance.",
            lambda x, gamma, beta, eps=1e-5: gamma * x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps) + beta,
        ),
        Mistake(
            "the sum of the squares",
            "The variance is their mean: divide the sum by the number of columns.",
            lambda x, gamma, beta, eps=1e-5: (
                gamma * _away(x) / np.sqrt((_away(x) ** 2).sum(axis=-1, keepdims=True) + eps) + beta
            ),
        ),
        Mistake(
            "the mean distance",
            "np.abs weighs far entries less than the square does. The deviation is the root of the mean square.",
            lambda x, gamma, beta, eps=1e-5: (
                gamma * _away(x) / (np.abs(_away(x)).mean(axis=-1, keepdims=True) + eps) + beta
            ),
        ),
        Mistake(
            "no epsilon",
            "A constant row gives 0 / 0 (chapter 9, E2-02). Add eps to the variance, inside the root.",
            lambda x, gamma, beta, eps=1e-5: _norm(x, gamma, beta, 0.0),
        ),
        Mistake(
            "an eps of its own",
            "eps is an argument, with the default 1e-5. Use it, so that the caller can change it.",
            lambda x, gamma, beta, eps=1e-5: _norm(x, gamma, beta, 1e-5),
        ),
        Mistake(
            "another default for eps",
            "The signature says eps=1e-5. It shows on rows that are nearly constant.",
            lambda x, gamma, beta, eps=1e-6: _norm(x, gamma, beta, eps),
        ),
    ),
)


def add_and_norm(x, fx, gamma, beta, eps=1e-5):
    """Add a part's input to its output, then normalise the sum: ``LN(x + F(x))``.

    x: the part's input, (..., n, d); fx: its output F(x), of the same shape; gamma and
    beta: (d,); eps: a small number. Returns an array of the shape of x.
    """
    total = x + fx
    away = total - total.mean(axis=-1, keepdims=True)
    variance = (away**2).mean(axis=-1, keepdims=True)
    return gamma * away / np.sqrt(variance + eps) + beta


def _add_and_norm_cases(rng):
    def drawn(*shape):
        return (
            rng.normal(size=shape) + 1,
            2 * rng.normal(size=shape),
            rng.normal(size=shape[-1:]),
            rng.normal(size=shape[-1:]),
        )

    return [
        Case((np.array([[1.0, 0.0]]), np.array([[1.0, 6.0]]), np.ones(2), np.zeros(2)), "the sum is [2, 6]"),
        Case(
            (np.eye(2, 3), np.array([[0.0, 3.0, 2.0], [0.001, -1.0, 0.005]]), np.ones(3), np.zeros(3)),
            "two rows; the second sum is nearly constant",
        ),
        Case(drawn(3, 5), "three rows of width 5"),
        Case(drawn(2, 3, 4), "two sentences"),
    ]


def _add_and_norm(x, fx, gamma, beta, eps=1e-5):
    cfg = model.Config(src_vocab=1, tgt_vocab=1, eps=eps)
    return model.add_and_norm(cfg, ops.LayerNorm(gamma, beta), x, lambda rows: (fx, None))[0]


ADD_AND_NORM = Check(
    solution=add_and_norm,
    expected=_add_and_norm,
    cases=_add_and_norm_cases,
    exercise="ex-09-8",
    mistakes=(
        Mistake(
            "norm before the sum",
            "x + LN(F(x)) leaves the sum as large as it is, and it grows from layer to layer. Post-norm normalises the "
            "sum: LN(x + F(x)).",
            lambda x, fx, gamma, beta, eps=1e-5: x + _norm(fx, gamma, beta, eps),
        ),
        Mistake(
            "pre-norm in the place of post-norm",
            "Pre-norm normalises the input and adds afterwards (chapter 9, Before or after). Here the sum goes through "
            "the norm, as in the paper.",
            lambda x, fx, gamma, beta, eps=1e-5: _norm(x, gamma, beta, eps) + fx,
        ),
        Mistake(
            "each normalised by itself",
            "There is one norm, and it gets the sum: LN(x + F(x)).",
            lambda x, fx, gamma, beta, eps=1e-5: _norm(x, gamma, beta, eps) + _norm(fx, gamma, beta, eps),
        ),
        Mistake(
            "the residual forgotten",
            "Add x before the norm. Without it the tokens grow alike (chapter 9, What finite hides).",
            lambda x, fx, gamma, beta, eps=1e-5: _norm(fx, gamma, beta, eps),
        ),
        Mistake(
            "a double residual",
            "fx is F(x) alone, so x is added once. 2x + F(x) is the slip of E0-33 and E3-15.",
            lambda x, fx, gamma, beta, eps=1e-5: _norm(2 * x + fx, gamma, beta, eps),
        ),
        Mistake(
            "the residual after the norm too",
            "x is added once, before the norm. Added again behind it, the rows grow as before.",
            lambda x, fx, gamma, beta, eps=1e-5: x + _norm(x + fx, gamma, beta, eps),
        ),
        Mistake(
            "the part's output forgotten",
            "LN(x) has lost what the part found out. Normalise the sum x + fx.",
            lambda x, fx, gamma, beta, eps=1e-5: _norm(x, gamma, beta, eps),
        ),
        Mistake(
            "the norm forgotten",
            "This is the sum, and it grows from layer to layer. Bring each row to mean 0 and variance 1.",
            lambda x, fx, gamma, beta, eps=1e-5: x + fx,
        ),
        Mistake(
            "multiplied in the place of added",
            "A residual connection is a sum: if F(x) is 0, the row passes as it is.",
            lambda x, fx, gamma, beta, eps=1e-5: _norm(x * fx, gamma, beta, eps),
        ),
        Mistake(
            "subtracted in the place of added",
            "The part says what should be added to the row: x + fx.",
            lambda x, fx, gamma, beta, eps=1e-5: _norm(fx - x, gamma, beta, eps),
        ),
        Mistake(
            "the wrong axis (axis=0)",
            "Mean and variance are those of one token's row, over its columns: axis=-1.",
            lambda x, fx, gamma, beta, eps=1e-5: _norm(x + fx, gamma, beta, eps, axis=0),
        ),
        Mistake(
            "the wrong axis (axis=-2)",
            "That is a mean over the tokens, one for each column. Mean and variance are those of one token's row: "
            "axis=-1.",
            lambda x, fx, gamma, beta, eps=1e-5: _norm(x + fx, gamma, beta, eps, axis=-2),
        ),
        Mistake(
            "one mean for the whole array",
            "mean() and var() without an axis take all rows together. Each row has its own: axis=-1, keepdims=True.",
            lambda x, fx, gamma, beta, eps=1e-5: _norm(x + fx, gamma, beta, eps, axis=None),
        ),
        Mistake(
            "N - 1 in the place of N",
            "The squares are divided by the number of columns, not by one less (chapter 9, E0-39).",
            lambda x, fx, gamma, beta, eps=1e-5: _norm(x + fx, gamma, beta, eps, ddof=1),
        ),
        Mistake(
            "epsilon outside the root",
            "It stands beside the variance: sqrt(variance + eps) (chapter 9, E0-34).",
            lambda x, fx, gamma, beta, eps=1e-5: (
                gamma * _away(x + fx) / ((x + fx).std(axis=-1, keepdims=True) + eps) + beta
            ),
        ),
        Mistake(
            "gamma and beta forgotten",
            "Multiply the normalised row by gamma, then add beta.",
            lambda x, fx, gamma, beta, eps=1e-5: _norm(x + fx, eps=eps),
        ),
    ),
)


def rows_stand_alone(together, alone):
    """Tell whether a norm treats each row by itself.

    together: (n, d), what the norm gave for n rows at once; alone: (n, d), what it gave
    for each row by itself. Returns True if both are equal up to rounding, else False.
    """
    return bool(np.allclose(together, alone))


def _rows_stand_alone_cases(rng):
    rows = rng.normal(size=(4, 5)) + 1
    right, wrong = _norm(rows), _norm(rows, axis=0)
    one_row = np.array([[-1.0, 1.0], [-1.0, 1.0]])
    later = one_row + [[0.0, 0.0], [0.25, -0.25]]
    return [
        Case((one_row, one_row), "equal"),
        Case((np.array([[-1.0, -1.0], [1.0, 1.0]]), np.zeros((2, 2))), "two tokens, the wrong axis"),
        Case((later, one_row), "the second row differs"),
        Case((one_row - [[0.5, 0.0], [0.0, 0.5]], one_row), "together is smaller in both rows"),
        Case((one_row + 1e-14, one_row), "rounding"),
        Case((right, _norm(rows)), "four tokens, the right axis"),
        Case((wrong, np.zeros((4, 5))), "four tokens, the wrong axis"),
        Case((right + 0.01 * (np.arange(20).reshape(4, 5) == 17), right), "one entry differs"),
    ]


def _farthest(moved) -> float:
    """What decides whether rows are equal: the largest distance, if it is more than rounding."""
    distance = np.abs(moved).max()
    return np.inf if distance < 1e-12 else float(distance)


ROWS_STAND_ALONE = Check(
    solution=rows_stand_alone,
    expected=lambda together, alone: bool(np.abs(together - alone).max() < 1e-9),
    cases=_rows_stand_alone_cases,
    gap=lambda together, alone: _farthest(together - alone),
    exercise="ex-09-4",
    mistakes=(
        Mistake(
            "only the first row compared",
            "A later row can be wrong while the first is right. Compare all rows.",
            lambda together, alone: bool(np.allclose(together[0], alone[0])),
        ),
        Mistake(
            "exact equality",
            "The same sum in another order differs in its last digits (rounding), and == says False. np.allclose "
            "leaves room for that.",
            lambda together, alone: bool((together == alone).all()),
        ),
        Mistake(
            "the differences added up",
            "Differences of opposite sign cancel, so the sum can be 0 while every entry is wrong. Look at the largest "
            "distance.",
            lambda together, alone: bool(abs((together - alone).sum()) < 1e-9),
        ),
        Mistake(
            "signs kept",
            "together - alone is negative where together is smaller, and the largest difference does not see it. Take "
            "np.abs first.",
            lambda together, alone: bool((together - alone).max() < 1e-9),
        ),
        Mistake(
            "one equal entry is enough",
            "np.any asks for one entry. The promise holds for all: np.all, or np.allclose, which does the same.",
            lambda together, alone: bool(np.isclose(together, alone).any()),
        ),
        Mistake(
            "the means of the rows compared",
            "The right mean of a row is no evidence for its entries. Compare the entries.",
            lambda together, alone: bool(np.allclose(together.mean(axis=1), alone.mean(axis=1))),
        ),
        Mistake(
            "the answer reversed",
            "True means that each row stands alone, so that the two are equal.",
            lambda together, alone: not np.allclose(together, alone),
        ),
        Mistake(
            "one answer for each row",
            "Asked for is one True or False for the whole: add .all().",
            lambda together, alone: np.isclose(together, alone).all(axis=1),
        ),
        Mistake(
            "always True",
            "This test cannot fail, so it finds nothing. Give it a case that it must fail.",
            lambda together, alone: True,
        ),
    ),
)


# ---------------------------------------------------------------- chapter 10: the encoder


def encoder_layer(x, w_q, w_k, w_v, w_o, w_1, b_1, w_2, b_2):
    """One encoder layer with a single head: ``U = LN(X + Z)``, then ``LN(U + F(U))``.

    x: (..., n, d); w_q and w_k: (d, d_k); w_v: (d, d_v); w_o: (d_v, d);
    w_1: (d, d_ff); b_1: (d_ff,); w_2: (d_ff, d); b_2: (d,).
    Both norms have gamma 1, beta 0 and eps 1e-5. Returns an array of the shape of x.
    """

    def norm(rows):
        away = rows - rows.mean(axis=-1, keepdims=True)
        return away / np.sqrt((away**2).mean(axis=-1, keepdims=True) + 1e-5)

    q, k, v = x @ w_q, x @ w_k, x @ w_v
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(w_q.shape[1])
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    z = exps / exps.sum(axis=-1, keepdims=True) @ v @ w_o
    u = norm(x + z)
    return norm(u + np.maximum(0, u @ w_1 + b_1) @ w_2 + b_2)


def _encoder_layer_cases(rng):
    def drawn(*shape, d_k, d_v, d_ff, size=1.0):
        d = shape[-1]
        shapes = ((d, d_k), (d, d_k), (d, d_v), (d_v, d), (d, d_ff), d_ff, (d_ff, d), d)
        return size * rng.normal(size=shape), *(rng.normal(size=s) for s in shapes)

    small = (
        np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 1.0]]),
        np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]),
        np.array([[0.0, 1.0], [0.0, 1.0], [1.0, 0.0]]),
        np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0], [0.0, 0.0, 2.0]]),
        np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 2.0]]),
        np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]]),
        np.array([0.0, 1.0]),
        np.array([[0.0, 3.0, 0.0], [1.0, 0.0, -1.0]]),
        np.array([0.0, 0.0, 1.0]),
    )
    return [
        Case(small, "two tokens of width 3, small integers"),
        Case(drawn(3, 4, d_k=2, d_v=3, d_ff=5), "three tokens of width 4"),
        Case(drawn(2, 3, 4, d_k=3, d_v=2, d_ff=6), "two sentences"),
        Case(drawn(3, 4, d_k=3, d_v=2, d_ff=5, size=500.0), "large rows, whose scores overflow exp"),
    ]


def _encoder_layer(x, w_q, w_k, w_v, w_o, w_1, b_1, w_2, b_2):
    """The layer of `toytf.model`, put together from arrays."""
    d = x.shape[-1]
    cfg = model.Config(src_vocab=1, tgt_vocab=1, d_model=d, n_heads=1, n_decoder_layers=0, positions=False)
    plain = ops.LayerNorm(np.ones(d), np.zeros(d))
    attention = model.MultiHead(w_q, w_k, w_v, w_o)
    p = model.EncoderLayer(attention, plain, model.FeedForward(w_1, b_1, w_2, b_2), plain)
    return model.encoder_layer(p, cfg, x)[0]


def _turned(k):
    return k.swapaxes(-1, -2)


def _attend(x, w_q, w_k, w_v, w_o, divisor=None, softmax=_weights, turn=_turned):
    scores = (x @ w_q) @ turn(x @ w_k)
    return softmax(scores / (np.sqrt(w_q.shape[1]) if divisor is None else divisor)) @ (x @ w_v) @ w_o


def _feed(u, w_1, b_1, w_2, b_2):
    return np.maximum(0, u @ w_1 + b_1) @ w_2 + b_2


def _layer(norm=_norm, feed=_feed, **how):
    """Make an encoder layer with another norm, another network or another attention."""

    def layer(x, w_q, w_k, w_v, w_o, *f):
        u = norm(x + _attend(x, w_q, w_k, w_v, w_o, **how))
        return norm(u + feed(u, *f))

    return layer


def _halves(first, second):
    """Make an encoder layer from its two halves: first(x, z) gives U, second(x, u, f) the output."""

    def layer(x, w_q, w_k, w_v, w_o, *f):
        u = first(x, _attend(x, w_q, w_k, w_v, w_o))
        return second(x, u, lambda rows: _feed(rows, *f))

    return layer


def _first_half(x, z):
    return _norm(x + z)


def _second_half(x, u, f):
    return _norm(u + f(u))


def _pre_norm(x, w_q, w_k, w_v, w_o, *f):
    y = x + _attend(_norm(x), w_q, w_k, w_v, w_o)
    return y + _feed(_norm(y), *f)


ENCODER_LAYER = Check(
    solution=encoder_layer,
    expected=_encoder_layer,
    cases=_encoder_layer_cases,
    exercise="ex-10-7",
    tolerance=1e-6,  # a layer computed in float32 is right too, also where NumPy ends in float64
    points=4,
    mistakes=(
        Mistake(
            "pre-norm in the place of post-norm",
            "Here each part's input goes through the norm. In the paper the sum does: LN(x + part(x)) (chapter 10, "
            "Norm after, norm before).",
            _pre_norm,
        ),
        Mistake(
            "norm before the sum",
            "x + LN(Z) leaves the sum as large as it is. Add first, then normalise: LN(x + Z), and LN(U + F(U)).",
            _halves(lambda x, z: x + _norm(z), lambda x, u, f: u + _norm(f(u))),
        ),
        Mistake(
            "a double residual",
            "LN(U + F(U + X)) lets X in a second time (chapter 10, A residual too many, E0-33). The network gets U.",
            _halves(_first_half, lambda x, u, f: _norm(u + f(u + x))),
        ),
        Mistake(
            "the feed-forward network fed with X",
            "It reads what the first half has made, U = LN(X + Z), and so does the residual beside it.",
            _halves(_first_half, lambda x, u, f: _norm(u + f(x))),
        ),
        Mistake(
            "the feed-forward network fed with Z",
            "Z is attention's bare output (E0-27). Add X and normalise first: the network gets U = LN(X + Z).",
            lambda x, q, k, v, o, *f: _norm(_norm(x + _attend(x, q, k, v, o)) + _feed(_attend(x, q, k, v, o), *f)),
        ),
        Mistake(
            "the second residual adds X",
            "Each residual adds the input of its own part. The second part's input is U: LN(U + F(U)).",
            _halves(_first_half, lambda x, u, f: _norm(x + f(u))),
        ),
        Mistake(
            "the second norm missing",
            "A layer has two norms. The output is LN(U + F(U)), with mean 0 in every row.",
            _halves(_first_half, lambda x, u, f: u + f(u)),
        ),
        Mistake(
            "the first norm missing",
            "A layer has two norms. U = LN(X + Z) goes on into the feed-forward network.",
            _halves(lambda x, z: x + z, _second_half),
        ),
        Mistake(
            "the feed-forward network missing",
            "This is U, half a layer. The second half is LN(U + F(U)).",
            _halves(_first_half, lambda x, u, f: u),
        ),
        Mistake(
            "no residual around attention",
            "U = LN(X + Z). Without X each token's own row is gone (chapter 10, Do the rows stay apart?).",
            _halves(lambda x, z: _norm(z), _second_half),
        ),
        Mistake(
            "no residual around the feed-forward network",
            "The output is LN(U + F(U)): add U before the second norm.",
            _halves(_first_half, lambda x, u, f: _norm(f(u))),
        ),
        Mistake(
            "no residuals",
            "Each half adds its own input: LN(X + Z), then LN(U + F(U)).",
            _halves(lambda x, z: _norm(z), lambda x, u, f: _norm(f(u))),
        ),
        Mistake(
            "no scaling",
            "Divide the scores by the root of d_k, the width of a query, before softmax (chapter 5).",
            _layer(divisor=1.0),
        ),
        Mistake(
            "scaled by the wrong root",
            "The root is that of d_k, the width of a query and a key: w_q.shape[1]. This is the root of d, the width "
            "of a token's row.",
            lambda x, *w: _layer(divisor=np.sqrt(x.shape[-1]))(x, *w),
        ),
        Mistake(
            "scaled without a root",
            "Divide by the root of d_k. d_k itself makes the weights too even (chapter 5).",
            lambda x, w_q, *w: _layer(divisor=w_q.shape[1])(x, w_q, *w),
        ),
        Mistake(
            "keys reshaped in the place of transposed",
            "reshape keeps the numbers in their order and cuts them into other rows. k.swapaxes(-1, -2) turns each "
            "table of keys over.",
            _layer(turn=lambda k: k.reshape(*k.shape[:-2], k.shape[-1], k.shape[-2])),
        ),
        Mistake(
            "all axes of the keys turned over",
            "k.T turns over the axis of the sentences too. k.swapaxes(-1, -2) exchanges the last two.",
            _layer(turn=lambda k: k.T),
        ),
        Mistake(
            "queries and keys exchanged",
            "A row of scores belongs to a query: q @ k.swapaxes(-1, -2), and not the other way round.",
            lambda x, w_q, w_k, *w: _layer()(x, w_k, w_q, *w),
        ),
        Mistake(
            "softmax over the wrong axis (axis=-2)",
            "The weights of one query sum to 1 over the keys: axis=-1.",
            _layer(softmax=lambda s: _weights(s, axis=-2)),
        ),
        Mistake(
            "softmax over the wrong axis (axis=0)",
            "The weights of one query sum to 1 over the keys: axis=-1. In a batch, axis 0 is that of the sentences.",
            _layer(softmax=lambda s: _weights(s, axis=0)),
        ),
        Mistake(
            "no maximum subtracted in the softmax",
            "Large scores overflow exp and give NaN (chapter 8). Subtract each row's largest score first.",
            _layer(softmax=lambda s: np.exp(s) / np.exp(s).sum(axis=-1, keepdims=True)),
        ),
        Mistake(
            "the norm along the wrong axis (axis=-2)",
            "Mean and variance are those of one token's row: axis=-1. Over the tokens, every row needs the others "
            "(chapter 10, What goes wrong).",
            _layer(norm=lambda rows: _norm(rows, axis=-2)),
        ),
        Mistake(
            "the norm along the wrong axis (axis=0)",
            "Mean and variance are those of one token's row: axis=-1. Along axis 0 every row needs the others "
            "(chapter 10, What goes wrong).",
            _layer(norm=lambda rows: _norm(rows, axis=0)),
        ),
        Mistake(
            "one mean for the whole array in the norms",
            "mean() without an axis takes all rows together. Each row has its own: axis=-1, keepdims=True.",
            _layer(norm=lambda rows: _norm(rows, axis=None)),
        ),
        Mistake(
            "N - 1 in the norms",
            "The squares are divided by the number of columns, not by one less (chapter 9, E0-39).",
            _layer(norm=lambda rows: _norm(rows, ddof=1)),
        ),
        Mistake(
            "no bend in the feed-forward network",
            "Between the two maps stands max(0, ...) (chapter 7, Why a bend).",
            _layer(feed=lambda u, w_1, b_1, w_2, b_2: (u @ w_1 + b_1) @ w_2 + b_2),
        ),
        Mistake(
            "the biases forgotten",
            "Add b_1 before the bend and b_2 after the second map (chapter 7).",
            _layer(feed=lambda u, w_1, b_1, w_2, b_2: np.maximum(0, u @ w_1) @ w_2),
        ),
    ),
)


def other_rows_moved(before, after, row):
    """Tell whether a change of one input row has moved another row of the result.

    before, after: (n, d), what a norm gave for two inputs that differ in one row alone;
    row: the number of that row, counted from 0. Returns True if any other row has moved
    by more than rounding, else False.
    """
    moved = ~np.isclose(before, after).all(axis=1)
    moved[row] = False
    return bool(moved.any())


def _other_rows_moved_cases(rng):
    three = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])

    def plus(place, change):
        moved = three.copy()
        moved[place] = moved[place] + change
        return moved

    rows = rng.normal(size=(4, 5))
    changed = rows.copy()
    changed[2] = rng.normal(size=5) * 3
    return [
        Case((three, plus(1, 1.0), 1), "nothing moved but the changed row"),
        Case((three, plus(0, 1.0), 1), "the first row moved"),
        Case((three, plus(2, 1.0), 0), "the last row moved"),
        Case((three, plus(0, 1.0), 0), "the first row was changed"),
        Case((three, plus(2, -1.0), 1), "an entry has become smaller"),
        Case((three, plus(0, [1.0, -1.0]), 2), "an entry up, an entry down"),
        Case((three, three + 1e-14, 1), "rounding"),
        Case((three, plus((slice(None), 0), [1.0, 1.0, 1.0]), 0), "the first column moved"),
        Case((_norm(rows), _norm(changed), 2), "four tokens, the right axis"),
        Case((_norm(rows, axis=0), _norm(changed, axis=0), 2), "four tokens, the wrong axis"),
    ]


def _others(before, after, row):
    """How far the rows have moved, without the one that was changed."""
    return np.delete(after - before, row, axis=0)


OTHER_ROWS_MOVED = Check(
    solution=other_rows_moved,
    expected=lambda before, after, row: bool(np.abs(_others(before, after, row)).max() > 1e-9),
    cases=_other_rows_moved_cases,
    gap=lambda before, after, row: _farthest(_others(before, after, row)),
    exercise="ex-10-5",
    mistakes=(
        Mistake(
            "the changed row not left out",
            "The row whose input was changed may move. Look at the others: np.delete(..., row, axis=0).",
            lambda before, after, row: not np.allclose(before, after),
        ),
        Mistake(
            "only the first row looked at",
            "Any row can be the one that moves, and the first can be the one that was changed. Look at all but that.",
            lambda before, after, row: not np.allclose(before[0], after[0]),
        ),
        Mistake(
            "only the changed row looked at",
            "The changed row may move. The question is about all the others.",
            lambda before, after, row: not np.allclose(before[row], after[row]),
        ),
        Mistake(
            "signs kept",
            "after - before is negative where an entry became smaller, and its maximum does not see that. Take np.abs "
            "first.",
            lambda before, after, row: bool(_others(before, after, row).max() > 1e-9),
        ),
        Mistake(
            "the changes added up",
            "Changes of opposite sign cancel. Look at the largest distance, or use np.allclose.",
            lambda before, after, row: bool(abs(_others(before, after, row).sum()) > 1e-9),
        ),
        Mistake(
            "all other rows have to move",
            "One other row that moves is enough to find the slip: any, not all.",
            lambda before, after, row: bool((np.abs(_others(before, after, row)) > 1e-9).any(axis=1).all()),
        ),
        Mistake(
            "the row counted from 1",
            "row is counted from 0, as NumPy does. Use it as it is.",
            lambda before, after, row: bool(np.abs(_others(before, after, row - 1)).max() > 1e-9),
        ),
        Mistake(
            "a column left out in the place of a row",
            "Tokens are rows: leave out along axis 0.",
            lambda before, after, row: (
                bool(np.abs(np.delete(after - before, row, axis=1)).max() > 1e-9)
                if row < before.shape[1]
                else not np.allclose(before, after)
            ),
        ),
        Mistake(
            "exact equality",
            "The same sum in another order differs in its last digits (rounding), and != says True. Leave room for "
            "that: np.isclose.",
            lambda before, after, row: bool((_others(before, after, row) != 0).any()),
        ),
        Mistake(
            "the answer reversed",
            "True means that another row has moved, so that the axis is wrong.",
            lambda before, after, row: bool(np.abs(_others(before, after, row)).max() <= 1e-9),
        ),
    ),
)

CHECKS = [
    RELU,
    FEED_FORWARD_CHECK,
    IDENTITY_WEIGHTS,
    SOFTMAX,
    LOG_SOFTMAX,
    FIRST_BAD,
    LAYER_NORM,
    ADD_AND_NORM,
    ROWS_STAND_ALONE,
    ENCODER_LAYER,
    OTHER_ROWS_MOVED,
]


# ---------------------------------------------------------------- by hand


def _map(x, w, b, name) -> Part:
    """The answer ``x @ w + b``, each entry with its sum of products and its bias."""
    products = product(x, w)
    expected = x @ w + b

    def terms(place):
        return f"{products.terms(place)}; plus the bias {number(b[place[-1]])}: {number(expected[place])}"

    return Part(expected, terms, name=name)


def _bend(before, name="hidden") -> Part:
    """The answer ``max(0, before)``."""
    expected = np.maximum(0, before)
    return Part(expected, lambda at: f"max(0, {number(before[at])}) = {number(expected[at])}", name=name)


def _tenths(a) -> str:
    """A number as a term of a written sum: to one decimal, negative ones in brackets."""
    return f"({number(a, 1)})" if a < 0 else number(a, 1)


# 7.2: two units make the absolute value
_ROWS = np.array([[3.0], [-2.0], [0.0]])
_BOTH_SIDES = np.array([[1.0, -1.0]])
_BOTH_BEFORE = _ROWS @ _BOTH_SIDES
_BOTH_HIDDEN = np.maximum(0, _BOTH_BEFORE)

# 7.3: a new token through chapter 7's weights
_TOKEN = np.array([1.0, 0.0, 2.0, 0.0])
_BEFORE = _TOKEN @ FEED_FORWARD.w_1 + FEED_FORWARD.b_1
_ON = np.flatnonzero(_BEFORE > 0) + 1

# 7.6: how many numbers
_D, _D_FF, _PAPER_D = 4, 8, 512

# 8.1 and 8.2: what exp can take
_SCORES = np.array([[710.0, 700.0], [-750.0, -760.0], [710.0, -760.0]])
with np.errstate(all="ignore"):
    _NAIVE_NAN = np.isnan(ops.softmax_naive(_SCORES)).sum(axis=1)
_WHY_NAN = (
    "inf / inf is NaN, a number / inf is 0: one NaN",
    "both powers are 0, and 0 / 0 is NaN twice",
    "inf / inf is NaN, 0 / inf is 0: one NaN",
)
_LARGEST_SCORE, _LIMIT = 7.1, 709.78

# 9.1, 9.3 and 9.5: rows and a Jacobian
_ROW = np.array([1.0, 3.0, 3.0, 5.0])
_PAIRS = np.array([[2.0, 6.0], [10.0, 30.0]])
_W = np.array([[0.5, 1.0], [0.0, -1.0]])

# 10.1 and 10.2: the second half of a layer, and how many numbers a layer has
_U = np.array([1.0, -1.0, 1.0, -1.0])
_U_HIDDEN = np.maximum(0, _U @ FEED_FORWARD.w_1 + FEED_FORWARD.b_1)
_U_FED = _U_HIDDEN @ FEED_FORWARD.w_2 + FEED_FORWARD.b_2
_TOTAL = _U + _U_FED
_LAYER_D, _LAYER_FF = 8, 16
_LAYER_PARTS = {
    "attention": (4 * _LAYER_D**2, "4 * 8 * 8"),
    "feed-forward": (2 * _LAYER_D * _LAYER_FF + _LAYER_FF + _LAYER_D, "8 * 16 + 16 + 16 * 8 + 8"),
    "norms": (4 * _LAYER_D, "2 * (8 + 8)"),
}
_LAYER_COUNT = sum(n for n, _ in _LAYER_PARTS.values())


def _weight_terms(place) -> str:
    row = _SCORES[place[0]]
    gap = number(row.max() - row.min())
    above = "1" if row[place[1]] == row.max() else f"exp(-{gap})"
    return f"{above} / (1 + exp(-{gap})) = {number(ops.softmax(row)[place[1]], 5)}"


BY_HAND = [
    ByHand(
        "ex-07-2",
        (
            Part(_BOTH_BEFORE, product(_ROWS, _BOTH_SIDES).terms, name="before"),
            _bend(_BOTH_BEFORE),
            Part(
                _BOTH_HIDDEN.sum(axis=1),
                lambda at: sum_of_products(_BOTH_HIDDEN[at[0]], np.ones(2)),
                name="F",
            ),
        ),
    ),
    ByHand(
        "ex-07-3",
        (
            _map(_TOKEN, FEED_FORWARD.w_1, FEED_FORWARD.b_1, "before"),
            _bend(_BEFORE),
            Part(len(_ON), lambda _: f"positive before the bend are units {', '.join(map(str, _ON))}", name="on"),
            _map(np.maximum(0, _BEFORE), FEED_FORWARD.w_2, FEED_FORWARD.b_2, "F"),
        ),
    ),
    ByHand(
        "ex-07-6",
        (
            Part(2 * _D * _D_FF + _D_FF + _D, lambda _: "4 * 8 + 8 + 8 * 4 + 4 = 76", name="here"),
            Part(8 * _PAPER_D**2, lambda _: "512 * 2048 + 2048 * 512 = 8 * 512 * 512", name="feed-forward"),
            Part(4 * _PAPER_D**2, lambda _: "four matrices: 4 * 512 * 512", name="attention"),
        ),
    ),
    ByHand(
        "ex-08-1",
        (
            Part(_NAIVE_NAN, lambda at: _WHY_NAN[at[0]], name="NaN"),
            Part(ops.softmax(_SCORES), _weight_terms, decimals=5, name="stable"),
        ),
    ),
    ByHand(
        "ex-08-2",
        (
            Part(
                _LARGEST_SCORE * 100,
                lambda _: "scores grow with the square of the factor: 7.1 * 10 * 10 = 710",
                decimals=1,
                name="score",
            ),
            Part(
                (_LIMIT / _LARGEST_SCORE) ** 0.5,
                lambda _: f"the root of 709.78 / 7.1, about {number((_LIMIT / _LARGEST_SCORE) ** 0.5, 3)}",
                decimals=3,
                name="factor",
            ),
        ),
    ),
    ByHand(
        "ex-09-1",
        (
            Part(_ROW.mean(), lambda _: "(1 + 3 + 3 + 5) / 4 = 3", name="mean"),
            Part(
                (_ROW - 3) ** 2,
                lambda at: f"({number(_ROW[at])} - 3)^2 = {number((_ROW[at] - 3) ** 2)}",
                name="squared distances",
            ),
            Part(_ROW.var(), lambda _: "(4 + 0 + 0 + 4) / 4 = 2", name="variance"),
            Part(_ROW.std(), lambda _: "the root of 2, about 1.4142", decimals=4, name="deviation"),
            Part(
                (_ROW - 3) / _ROW.std(),
                lambda at: f"({number(_ROW[at])} - 3) / 1.4142, about {number((_ROW[at] - 3) / _ROW.std(), 4)}",
                decimals=4,
                name="result",
            ),
        ),
    ),
    ByHand(
        "ex-09-3",
        (
            Part(
                _PAIRS.mean(axis=1),
                lambda at: "({} + {}) / 2 = {}".format(*map(number, (*_PAIRS[at[0]], _PAIRS[at[0]].mean()))),
                name="mean",
            ),
            Part(
                _PAIRS.std(axis=1),
                lambda at: "both entries are {} away from the mean {}".format(
                    *map(number, (_PAIRS[at[0]].std(), _PAIRS[at[0]].mean()))
                ),
                name="deviation",
            ),
            Part(
                _norm(_PAIRS, eps=0.0),
                lambda at: "({} - {}) / {} = {}".format(
                    *map(number, (_PAIRS[at], _PAIRS[at[0]].mean(), _PAIRS[at[0]].std(), _norm(_PAIRS, eps=0.0)[at]))
                ),
                name="result",
            ),
        ),
    ),
    ByHand(
        "ex-09-5",
        (
            Part(
                np.eye(2) + _W,
                lambda at: f"{number(np.eye(2)[at])} + {_tenths(_W[at])} = {number((np.eye(2) + _W)[at], 1)}",
                decimals=1,
                name="Jacobian",
            ),
            Part(
                [0, 1],
                lambda _: "column 1 of the Jacobian asks for 1.5 x_1 = 0, so x_1 = 0; x_2 is free, here 1",
                name="row",
            ),
        ),
    ),
    ByHand(
        "ex-10-1",
        (
            _map(_U_HIDDEN, FEED_FORWARD.w_2, FEED_FORWARD.b_2, "F"),
            Part(_TOTAL, lambda at: f"{number(_U[at])} + {number(_U_FED[at])} = {number(_TOTAL[at])}", name="sum"),
            Part(
                _norm(_TOTAL, eps=0.0),
                lambda at: f"({number(_TOTAL[at])} - 3.5) / 1.5 = {number((_TOTAL[at] - 3.5) / 1.5)}",
                name="result",
            ),
        ),
    ),
    ByHand(
        "ex-10-2",
        (
            *(
                Part(n, lambda _, n=n, text=text: f"{text} = {n}", name=name)
                for name, (n, text) in _LAYER_PARTS.items()
            ),
            Part(
                _LAYER_COUNT,
                lambda _: f"{' + '.join(str(n) for n, _ in _LAYER_PARTS.values())} = {_LAYER_COUNT}",
                name="together",
            ),
        ),
    ),
]
