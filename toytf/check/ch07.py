"""Checkers of chapter 7: feed-forward."""

import numpy as np

from toytf.byhand import Larger, Prod, Sum
from toytf.check.answers import listed, part, product, sum_of_products, worked
from toytf.check.core import Case, checker, normals
from toytf.example import FEED_FORWARD


@checker("ex-07-7")
def relu(x):
    """Cut off what is negative: ``max(0, x)`` for each entry.

    x: array of any shape. Returns a new array of the same shape; x stays as it is.
    """
    return np.maximum(0, x)


relu.cases = lambda rng: [
    Case(([-2.0, 3.0],), "one entry on each side of zero"),
    Case(([4.0],), "a single entry"),
    Case(([[-1.0, 0.0, 0.5], [2.0, -3.0, 1.0]],), "two rows"),
    Case((rng.normal(size=(2, 3, 5)),), "two sentences of three tokens"),
]
relu.knows("""
    - one question for the whole array: np.maximum(0, x) => x if x > 0 else 0
      Python's max and if want a single answer, and an array has many. np.maximum compares entry by entry.
    - np.max in the place of np.maximum: np.maximum(0, x) => np.max(x, 0)
      In np.max(x, 0) the 0 is an axis: it returns the largest entry along that axis. np.maximum(0, x) compares each
      entry with 0.
    - the smaller of the two kept: np.maximum => np.minimum
      np.minimum(0, x) keeps what is negative. ReLU keeps what is positive: np.maximum(0, x).
    - the absolute value: np.maximum(0, x) => np.abs(x)
      A negative entry becomes 0; it does not lose its sign. The absolute value takes two units (exercise 7.2).
    - on and off in the place of numbers: np.maximum(0, x) => (x > 0) * 1.0
      x > 0 says which units are on. A unit that is on passes its number unchanged (chapter 7, The bend).
    - negative entries dropped: np.maximum(0, x) => x[x > 0]
      x[x > 0] leaves entries out, so the shape changes. The unit stays, with 0 in its place.
    - a leak below zero: np.maximum(0, x) => np.where(x > 0, x, 0.01 * x)
      Below zero a part of the entry comes through: that is the leaky ReLU. Here it becomes 0.
    - GELU in the place of ReLU: np.maximum(0, x) => ops.gelu(x)
      GELU has no corner and goes below zero (chapter 7, Why a bend). The paper's bend is max(0, x).
    - the tanh form of GELU in the place of ReLU: np.maximum(0, x) => ops.gelu_tanh(x)
      GELU has no corner and goes below zero (chapter 7, Why a bend). The paper's bend is max(0, x).
    - cut off above 1 too: np.maximum(0, x) => np.clip(x, 0, 1)
      ReLU has no upper end: a unit that is on passes its number, however large.
    - the bend left out: np.maximum(0, x) => x + 0.0
      x comes back as it was. Every entry below zero becomes zero: np.maximum(0, x).
""")


@checker("ex-07-8")
def feed_forward(x, w_1, b_1, w_2, b_2):
    """Widen each row, bend it, narrow it again: ``max(0, x W_1 + b_1) W_2 + b_2``.

    x: (..., n, d); w_1: (d, d_ff); b_1: (d_ff,); w_2: (d_ff, d); b_2: (d,).
    Returns an array of the shape of x.
    """
    hidden = np.maximum(0, x @ w_1 + b_1)
    return hidden @ w_2 + b_2


feed_forward.cases = lambda rng: [
    Case(
        ([[1.0, -2.0]], [[1.0, 2.0], [0.0, 1.0]], [1.0, -2.0], [[1.0, -3.0], [0.0, 2.0]], [1.0, 1.0]),
        "one token, square matrices",
    ),
    Case(normals(rng, (3, 2), (2, 5), 5, (5, 2), 2), "three tokens of width 2, five hidden units"),
    Case(normals(rng, (2, 3, 4), (4, 8), 8, (8, 4), 4), "two sentences of three tokens"),
]
feed_forward.knows("""
    - no bend between the maps: np.maximum(0, x @ w_1 + b_1) => x @ w_1 + b_1
      Two linear maps in a row are one linear map (chapter 7, Why a bend). np.maximum(0, ...) goes around x @ w_1 + b_1.
    - b_1 forgotten: x @ w_1 + b_1 => x @ w_1
      Add b_1 to x @ w_1, before the bend. Without it every unit's border passes through the origin.
    - b_2 forgotten: hidden @ w_2 + b_2 => hidden @ w_2
      Add b_2 to the narrowed rows, as the last step.
    - both biases forgotten: x @ w_1 + b_1 => x @ w_1, and hidden @ w_2 + b_2 => hidden @ w_2
      Each linear map adds a row of its own: b_1 before the bend, b_2 at the end.
    - b_1 added after the bend: np.maximum(0, x @ w_1 + b_1) => np.maximum(0, x @ w_1) + b_1
      The bias moves the border at which a unit goes on, so it stands inside: max(0, x W_1 + b_1).
    - b_1 in the place of 0: np.maximum(0, x @ w_1 + b_1) => np.maximum(b_1, x @ w_1)
      The bias is added, and what comes out is compared with 0: max(0, x W_1 + b_1).
    - the bend after the second map:
        np.maximum(0, x @ w_1 + b_1) => x @ w_1 + b_1, and hidden @ w_2 + b_2 => np.maximum(0, hidden @ w_2 + b_2)
      There the two maps before it are one matrix, and nothing negative can come out. The bend stands between the maps.
    - the bend on the input: np.maximum(0, x @ w_1 + b_1) => np.maximum(0, x) @ w_1 + b_1
      The rows go into the first map as they are. Bend what comes out of it: max(0, x W_1 + b_1).
    - a bend after each map: hidden @ w_2 + b_2 => np.maximum(0, hidden @ w_2 + b_2)
      There is one bend, between the maps. A second one cuts off every negative entry of the output.
    - GELU in the place of ReLU: np.maximum(0, x @ w_1 + b_1) => ops.gelu(x @ w_1 + b_1)
      BERT and GPT bend with GELU (chapter 7, Why a bend). The paper's network has max(0, x).
    - the absolute value in the place of ReLU: np.maximum(0, x @ w_1 + b_1) => np.abs(x @ w_1 + b_1)
      A unit below zero hands over nothing. It does not change its sign: np.maximum(0, ...).
    - transposed weights: x @ w_1 => x @ w_1.T, and hidden @ w_2 => hidden @ w_2.T
      Tokens are rows, so it reads x @ w_1, and w_1 has one row for each column of x. A transpose fits the shapes only
      where d = d_ff.
    - the two maps exchanged: x @ w_1 + b_1 => x @ w_2 + b_2, and hidden @ w_2 + b_2 => hidden @ w_1 + b_1
      First w_1 and b_1, which widen, then w_2 and b_2, which narrow.
    - the residual added already: return hidden => return x + hidden
      x is added by add & norm, outside the network (chapter 9). Here return F(x) alone.
""")


@checker("ex-07-4", results=("w_1", "b_1", "w_2", "b_2"))
def identity_weights(d):
    """Make weights with which the feed-forward network gives every row back: F(x) = x.

    d: width of a row; there are 2d hidden units. The first d carry the entries of the
    row in their order, the other d the same entries with the sign changed. All weights
    are 0, 1 or -1. Returns w_1 (d, 2d), b_1 (2d,), w_2 (2d, d), b_2 (d,).
    """
    w_1 = np.hstack([np.eye(d), -np.eye(d)])
    return w_1, np.zeros(2 * d), w_1.T, np.zeros(d)


identity_weights.cases = lambda rng: [
    Case((1,), "a single entry"),
    Case((2,), "two entries"),
    Case((4,), "the width of the example"),
    Case((int(rng.integers(5, 120)),), "a wider row"),
]
identity_weights.knows("""
    - the negative entries lost: -np.eye(d) => np.eye(d)
      With w_1 = [I, I] all units carry the entries themselves, and the bend cuts off the negative ones. The second half
      needs -I.
    - the absolute value: w_1.T => np.abs(w_1.T)
      The sum max(0, x) + max(0, -x) is |x| (exercise 7.2). The second half is subtracted: -I in w_2 too.
    - zero for every row: return w_1 => return np.abs(w_1)
      With w_1 = [I, I] both halves are alike, and w_2 subtracts one from the other. The second half of w_1 is -I.
    - only d hidden units: np.hstack([np.eye(d), -np.eye(d)]) => np.eye(d), and np.zeros(2 * d) => np.zeros(d)
      With w_1 = I the network is max(0, x): the negative entries are gone. It takes a second set of d units for them.
    - zeros in the second half of w_1 and of w_2: np.eye(d), -np.eye(d) => np.eye(d), np.zeros((d, d))
      With w_1 = [I, 0] the second half of the units is always 0, and the negative entries are gone. It carries -I.
    - zeros in the second half of w_1: -np.eye(d) => np.zeros((d, d)), and w_1.T => np.vstack([np.eye(d), -np.eye(d)])
      With w_1 = [I, 0] there is nothing in the second half that w_2 could subtract. It carries -I.
    - zeros in the second half of w_2: w_1.T => np.vstack([np.eye(d), np.zeros((d, d))])
      With 0 there the negative entries never come back. What the second half carries is subtracted: -I.
    - the two matrices exchanged: return w_1 => return w_1.T, and w_1.T, np.zeros(d) => w_1, np.zeros(d)
      Tokens are rows: w_1 has d rows and 2d columns (np.hstack), w_2 has 2d rows and d columns (np.vstack).
    - the two biases exchanged: np.zeros(2 * d) => np.zeros(d), and np.zeros(d) => np.zeros(2 * d)
      b_1 is added to the hidden units, so it has 2d numbers; b_2 is added to the output and has d.
    - the negatives first: np.eye(d), -np.eye(d) => -np.eye(d), np.eye(d)
      Such weights keep the row as well. The exercise asks for one order, so that they can be compared: first the d
      units with the entries themselves.
    - each entry beside its negative: np.hstack([np.eye(d), -np.eye(d)]) => np.kron(np.eye(d), [[1.0, -1.0]])
      Such weights keep the row as well. The exercise asks for one order, so that they can be compared: all d entries,
      then all d negatives.
    - biases as tables: np.zeros(2 * d) => np.zeros((1, 2 * d)), and np.zeros(d) => np.zeros((1, d))
      A bias is one row of numbers, shape (2d,) and (d,): np.zeros(2 * d), without a second axis.
""")


def _bend(before):
    """The answer ``max(0, before)``."""
    return (
        worked("hidden", np.vectorize(lambda x: Larger(0, x), otypes=[object])(before))
        .knows(before, "the numbers before the bend. A negative one becomes 0.")
        .knows(np.abs(before), "the minus signs left out. A negative number becomes 0.")
        .knows(np.minimum(0, before), "the other half. Positive numbers stay, negative ones become 0.")
    )


# 7.2: two units make the absolute value
_ROWS = np.array([[3.0], [-2.0], [0.0]])
_BOTH_SIDES = np.array([[1.0, -1.0]])
_BOTH_BEFORE = _ROWS @ _BOTH_SIDES
_BOTH_HIDDEN = np.maximum(0, _BOTH_BEFORE)

# 7.3: a new token through chapter 7's weights
_TOKEN = np.array([1.0, 0.0, 2.0, 0.0])
_BEFORE = _TOKEN @ FEED_FORWARD.w_1 + FEED_FORWARD.b_1
_ON = np.flatnonzero(_BEFORE > 0) + 1
_NO_BIASES = "Both formulas leave them out."

BY_HAND = {}
BY_HAND["7.2"] = [
    product("before", _ROWS, _BOTH_SIDES).knows(_BOTH_HIDDEN, "the numbers after the bend. That is *hidden*."),
    _bend(_BOTH_BEFORE),
    part("F", _BOTH_HIDDEN.sum(axis=1), lambda at: sum_of_products(_BOTH_HIDDEN[at[0]], np.ones(2)))
    .step(lambda at: f"the row is {listed(_BOTH_HIDDEN[at[0]])}; the column is 1, 1")
    .knows(_BOTH_BEFORE.sum(axis=1), "the bend left out. W_2 adds what is left after it.")
    .knows(_BOTH_HIDDEN[:, 0], "the first unit alone. W_2 adds both."),
]
BY_HAND["7.3"] = [
    product("before", _TOKEN, FEED_FORWARD.w_1, FEED_FORWARD.b_1).knows(
        _TOKEN @ FEED_FORWARD.w_1, "the bias b_1 left out."
    ),
    _bend(_BEFORE),
    part("on", len(_ON), f"positive before the bend are units {', '.join(map(str, _ON))}: {len(_ON)}")
    .step("the numbers of *before* that lie above zero")
    .knows(len(_BEFORE) - len(_ON), "how many are off."),
    product("F", np.maximum(0, _BEFORE), FEED_FORWARD.w_2, FEED_FORWARD.b_2)
    .knows(np.maximum(0, _BEFORE) @ FEED_FORWARD.w_2, "the bias b_2 left out.")
    .knows(_BEFORE @ FEED_FORWARD.w_2 + FEED_FORWARD.b_2, "the bend left out. W_2 takes *hidden*."),
]
BY_HAND["7.6"] = [
    worked("here", Sum(Prod(4, 8), 8, Prod(8, 4), 4))
    .knows(64, "the two matrices alone. The biases are counted too.")
    .knows(72, "b_2 left out.")
    .knows(68, "b_1 left out.")
    .knows(40, "the first matrix and its bias. There is a second of each."),
    worked("feed-forward", Sum(Prod(512, 2048), Prod(2048, 512)), also=Prod(8, 512, 512), shown=None)
    .knows(512 * 2048, "one matrix. There are two, W_1 and W_2.")
    .knows(2 * 512 * 2048 + 2048 + 512, f"the biases counted. {_NO_BIASES}"),
    worked("attention", Prod(4, 512, 512), lead="four matrices: ", shown=None)
    .step("four matrices, each as high and as wide as d")
    .knows(3 * 512 * 512, "three matrices. W^O is the fourth.")
    .knows(4 * (512 * 512 + 512), f"the biases counted. {_NO_BIASES}"),
]
