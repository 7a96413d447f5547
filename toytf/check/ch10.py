"""Checkers of chapter 10: the encoder."""

import numpy as np

from toytf.byhand import Prod, Sum
from toytf.check.answers import product, worked
from toytf.check.ch09 import norm, normalised
from toytf.check.core import Case, checker, normals
from toytf.example import FEED_FORWARD


# a layer computed in float32 is right too, also where NumPy ends in float64
@checker("ex-10-7", tolerance=1e-6, points=4)
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


encoder_layer.cases = lambda rng: [
    Case(
        (
            [[1.0, 0.0, 2.0], [0.0, 3.0, 1.0]],
            [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]],
            [[0.0, 1.0], [0.0, 1.0], [1.0, 0.0]],
            [[1.0, 0.0, 0.0], [0.0, 1.0, 1.0], [0.0, 0.0, 2.0]],
            [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 2.0]],
            [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]],
            [0.0, 1.0],
            [[0.0, 3.0, 0.0], [1.0, 0.0, -1.0]],
            [0.0, 0.0, 1.0],
        ),
        "two tokens of width 3, small integers",
    ),
    Case(normals(rng, (3, 4), (4, 2), (4, 2), (4, 3), (3, 4), (4, 5), 5, (5, 4), 4), "three tokens of width 4"),
    Case(normals(rng, (2, 3, 4), (4, 3), (4, 3), (4, 2), (2, 4), (4, 6), 6, (6, 4), 4), "two sentences"),
    Case(
        (500.0 * rng.normal(size=(3, 4)), *normals(rng, (4, 3), (4, 3), (4, 2), (2, 4), (4, 5), 5, (5, 4), 4)),
        "large rows, whose scores overflow exp",
    ),
]
encoder_layer.knows("""
    - pre-norm in the place of post-norm:
        x @ w_q, x @ w_k, x @ w_v => norm(x) @ w_q, norm(x) @ w_k, norm(x) @ w_v, and u = norm(x + z) => u = x + z, and
        norm(u + np.maximum(0, u @ w_1 + b_1) @ w_2 + b_2) => u + np.maximum(0, norm(u) @ w_1 + b_1) @ w_2 + b_2
      Here each part's input goes through the norm. In the paper the sum does: LN(x + part(x)) (chapter 9, Before or
      after).
    - norm before the sum: u = norm(x + z) => u = x + norm(z), and norm(u + np.maximum => u + norm(np.maximum
      x + LN(Z) leaves the sum as large as it is. Add first, then normalise: LN(x + Z), and LN(U + F(U)).
    - a double residual: u @ w_1 => (u + x) @ w_1
      LN(U + F(U + X)) lets X in a second time (chapter 10, A residual too many). The network gets U.
    - the feed-forward network fed with X: u @ w_1 => x @ w_1
      It reads what the first half has made, U = LN(X + Z), and so does the residual beside it.
    - the feed-forward network fed with Z: u @ w_1 => z @ w_1
      Z is attention's bare output. Add X and normalise first: the network gets U = LN(X + Z).
    - the second residual adds X: norm(u + np.maximum => norm(x + np.maximum
      Each residual adds the input of its own part. The second part's input is U: LN(U + F(U)).
    - the second norm missing: return norm(u => return (u
      A layer has two norms. The output is LN(U + F(U)), with mean 0 in every row.
    - the first norm missing: u = norm(x + z) => u = x + z
      A layer has two norms. U = LN(X + Z) goes on into the feed-forward network.
    - the feed-forward network missing: norm(u + np.maximum(0, u @ w_1 + b_1) @ w_2 + b_2) => u
      This is U, half a layer. The second half is LN(U + F(U)).
    - no residual around attention: norm(x + z) => norm(z)
      U = LN(X + Z). Without X each token's own row is gone (chapter 10, Do the rows stay apart?).
    - no residual around the feed-forward network: norm(u + np.maximum => norm(np.maximum
      The output is LN(U + F(U)): add U before the second norm.
    - no residuals: norm(x + z) => norm(z), and norm(u + np.maximum => norm(np.maximum
      Each half adds its own input: LN(X + Z), then LN(U + F(U)).
    - no scaling: k.swapaxes(-1, -2) / np.sqrt(w_q.shape[1]) => k.swapaxes(-1, -2)
      Divide the scores by the root of d_k, the width of a query, before softmax (chapter 5).
    - scaled by the wrong root: w_q.shape[1] => w_q.shape[0]
      The root is that of d_k, the width of a query and a key: w_q.shape[1]. This is the root of d, the width of a
      token's row.
    - scaled without a root: np.sqrt(w_q.shape[1]) => w_q.shape[1]
      Divide by the root of d_k. d_k itself makes the weights too even (chapter 5).
    - keys reshaped in the place of transposed: k.swapaxes(-1, -2) => k.reshape(*k.shape[:-2], k.shape[-1], -1)
      reshape keeps the numbers in their order and cuts them into other rows. k.swapaxes(-1, -2) turns each table of
      keys over.
    - all axes of the keys turned over: k.swapaxes(-1, -2) => k.T
      k.T turns over the axis of the sentences too. k.swapaxes(-1, -2) exchanges the last two.
    - queries and keys exchanged: q @ k.swapaxes => k @ q.swapaxes
      A row of scores belongs to a query: q @ k.swapaxes(-1, -2), and not the other way round.
    - softmax over the wrong axis (axis=-2):
        scores.max(axis=-1 => scores.max(axis=-2, and exps.sum(axis=-1 => exps.sum(axis=-2
      The weights of one query sum to 1 over the keys: axis=-1.
    - softmax over the wrong axis (axis=0):
        scores.max(axis=-1 => scores.max(axis=0, and exps.sum(axis=-1 => exps.sum(axis=0
      The weights of one query sum to 1 over the keys: axis=-1. In a batch, axis 0 is that of the sentences.
    - no maximum subtracted in the softmax: scores - scores.max(axis=-1, keepdims=True) => scores
      Large scores overflow exp and give NaN (chapter 8). Subtract each row's largest score first.
    - the norm along the wrong axis (axis=-2): mean(axis=-1 =>> mean(axis=-2
      Mean and variance are those of one token's row: axis=-1. Over the tokens, every row needs the others (chapter 10,
      What goes wrong).
    - the norm along the wrong axis (axis=0): mean(axis=-1 =>> mean(axis=0
      Mean and variance are those of one token's row: axis=-1. Along axis 0 every row needs the others (chapter 10, What
      goes wrong).
    - one mean for the whole array in the norms: mean(axis=-1, keepdims=True) =>> mean()
      mean() without an axis takes all rows together. Each row has its own: axis=-1, keepdims=True.
    - N - 1 in the norms: (away**2).mean(axis=-1, keepdims=True) => rows.var(axis=-1, ddof=1, keepdims=True)
      The squares are divided by the number of columns, not by one less (chapter 9, What stands under the root).
    - no bend in the feed-forward network: np.maximum(0, u @ w_1 + b_1) => (u @ w_1 + b_1)
      Between the two maps stands max(0, ...) (chapter 7, Why a bend).
    - the biases forgotten: u @ w_1 + b_1 => u @ w_1, and @ w_2 + b_2 => @ w_2
      Add b_1 before the bend and b_2 after the second map (chapter 7).
""")


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
        Case((norm(rows), norm(changed), 2), "four tokens, the right axis"),
        Case((norm(rows, axis=0), norm(changed, axis=0), 2), "four tokens, the wrong axis"),
    ]


@checker("ex-10-5", cases=_other_rows_moved_cases)
def other_rows_moved(before, after, row):
    """Tell whether a change of one input row has moved another row of the result.

    before, after: (n, d), what a norm gave for two inputs that differ in one row alone;
    row: the number of that row, counted from 0. Returns True if any other row has moved
    by more than rounding, else False.
    """
    moved = ~np.isclose(before, after).all(axis=1)
    moved[row] = False
    return bool(moved.any())


other_rows_moved.knows("""
    - the changed row not left out: moved[row] = False => pass
      The row whose input was changed may move. Look at the others: np.delete(..., row, axis=0).
    - only the first row looked at: moved[row] = False => pass, and moved.any() => moved[0]
      Any row can be the one that moves, and the first can be the one that was changed. Look at all but that.
    - only the changed row looked at: moved[row] = False => pass, and moved.any() => moved[row]
      The changed row may move. The question is about all the others.
    - signs kept: ~np.isclose(before, after).all(axis=1) => (after - before).max(axis=1) > 1e-9
      after - before is negative where an entry became smaller, and its maximum does not see that. Take np.abs first.
    - the changes added up: moved.any() => abs(np.delete(after - before, row, axis=0).sum()) > 1e-9
      Changes of opposite sign cancel. Look at the largest distance, or use np.allclose.
    - all other rows have to move: moved[row] = False => moved[row] = True, and moved.any() => moved.all()
      One other row that moves is enough to find the slip: any, not all.
    - the row counted from 1: moved[row] => moved[row - 1]
      row is counted from 0, as NumPy does. Use it as it is.
    - exact equality: ~np.isclose(before, after).all(axis=1) => (before != after).any(axis=1)
      The same sum in another order differs in its last digits (rounding), and != says True. Leave room for that:
      np.isclose.
    - the answer reversed: return bool => return not bool
      True means that another row has moved, so that the axis is wrong.
    - a column left out in the place of a row: all(axis=1) => all(axis=0), and moved[row] => moved[row : row + 1]
      Tokens are rows: leave out along axis 0.
""")


# 10.1 and 10.2: the second half of a layer, and how many numbers a layer has
_U = np.array([1.0, -1.0, 1.0, -1.0])
_U_HIDDEN = np.maximum(0, _U @ FEED_FORWARD.w_1 + FEED_FORWARD.b_1)
_U_FED = _U_HIDDEN @ FEED_FORWARD.w_2 + FEED_FORWARD.b_2
_TOTAL = _U + _U_FED
_LAYER = (
    worked("attention", Prod(4, 8, 8))
    .knows(3 * 8 * 8, "W_O forgotten. There are four matrices.")
    .knows(4 * 8 * 4, "one head. The two heads have 8 columns together.")
    .knows(4 * 8 * 8 + 4 * 8, "the biases counted. This attention has none."),
    worked("feed-forward", Sum(Prod(8, 16), 16, Prod(16, 8), 8))
    .knows(2 * 8 * 16, "the biases forgotten.")
    .knows(8 * 16 + 16, "the first matrix and its bias. There is a second of each.")
    .knows(2 * 8 * 16 + 16, "b_2 forgotten.")
    .knows(2 * 8 * 16 + 8, "b_1 forgotten."),
    worked("norms", Prod(2, Sum(8, 8))).knows(
        8 + 8, "one norm, or two without beta. Two norms have gamma and beta each."
    ),
)

BY_HAND = {}
BY_HAND["10.1"] = [
    product("F", _U_HIDDEN, FEED_FORWARD.w_2, FEED_FORWARD.b_2)
    .knows(_U_HIDDEN @ FEED_FORWARD.w_2, "b_2 forgotten. It is added at the end.")
    .knows(
        np.maximum(0, _U @ FEED_FORWARD.w_1) @ FEED_FORWARD.w_2 + FEED_FORWARD.b_2,
        "b_1 forgotten. It is added before the bend.",
    ),
    worked("sum", [Sum(u, fed) for u, fed in zip(_U, _U_FED, strict=True)])
    .knows(_U_FED, "F(U) alone. The input is added.")
    .knows(_U_FED - _U, "F(U) - U. The input is added."),
    normalised("result", _TOTAL).knows(
        (_U_FED - _U_FED.mean()) / _U_FED.std(), "F(U) alone, normalised. It is the sum that is."
    ),
]
BY_HAND["10.2"] = [
    *_LAYER,
    worked("together", Sum(*(int(one.expected) for one in _LAYER)))
    .step("attention, feed-forward and norms, added")
    .knows(sum(int(one.expected) for one in _LAYER[:2]), "the norms left out."),
]
