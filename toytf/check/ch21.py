"""Checkers of chapter 21: another library."""

import numpy as np

from toytf.byhand import Prod, Quotient, Root, Sum
from toytf.check.answers import part, worked, written
from toytf.check.ch09 import normalised
from toytf.check.core import Case, checker


@checker("ex-21-2", results=("key_padding_mask", "attn_mask", "both"))
def turn_mask(is_token):
    """Make PyTorch's masks of a decoder from flags that say where tokens stand.

    is_token: boolean array of shape (batch, n), True where a token stands. Returns
    three boolean arrays. key_padding_mask (batch, n) and the causal attn_mask (n, n)
    are for nn.MultiheadAttention: True hides. both (batch, 1, n, n) is for
    scaled_dot_product_attention: True may attend.
    """
    causal = np.tri(is_token.shape[-1], dtype=bool)
    both = causal & is_token[:, None, None, :]
    return ~is_token, ~causal, both


turn_mask.cases = lambda rng: [
    Case(([[True, False]],), "one sentence, a token and padding"),
    Case(([[True, True, True], [True, False, False]],), "the two sentences of the exercise"),
    Case((np.arange(5) < rng.integers(1, 6, size=(4, 1)),), "four sentences"),
    Case((np.arange(30) < rng.integers(1, 31, size=(6, 1)),), "six longer sentences"),
]
turn_mask.knows("""
    - all masks in this book's sense: ~is_token, ~causal => is_token, causal
      In nn.MultiheadAttention True hides, so the words would be hidden and the padding read (chapter 21, Three readings
      of one mask). Turn the first two round: ~.
    - key_padding_mask not turned round: ~is_token => is_token
      In nn.MultiheadAttention True hides: the module would read the padding and not the words. It is ~is_token.
    - attn_mask not turned round: ~causal => causal
      In nn.MultiheadAttention True hides: each row would see the future, and neither the past nor itself. It is the
      causal mask with ~.
    - the joined mask turned round: ~causal, both => ~causal, ~both
      scaled_dot_product_attention has this book's sense: True may attend. Of the three masks this one stays as it is.
    - joined with or: causal & is_token => causal | is_token
      With | a key is seen if it is a token or not in the future. It has to be both: &. (~a & ~b, turned round, is a |
      b.)
    - turned masks joined with and: causal & is_token => ~causal & ~is_token
      ~a & ~b is True where a key is padding and in the future as well. Join the masks in the sense of 'may attend'.
    - the token itself hidden: np.tri(is_token.shape[-1], => np.tri(is_token.shape[-1], k=-1,
      A token may attend to itself. np.tri keeps the diagonal; np.triu needs k=1 to leave it out.
    - the diagonal hidden in attn_mask: ~causal, => ~causal | np.eye(len(causal), dtype=bool),
      np.triu without k=1 is True on the diagonal, and True hides: the first row has nothing left. A token may attend to
      itself.
    - past and future exchanged: dtype=bool) => dtype=bool).T
      A row asks, a column is asked: hidden are the columns right of the diagonal. Yours hides the past.
    - no axis for the heads: [:, None, None, :] => [:, None, :]
      scaled_dot_product_attention has scores of shape (batch, heads, n, n). The mask needs an axis of length 1 for the
      heads.
    - padding hidden among the queries: [:, None, None, :] => [:, None, :, None]
      Keys are hidden, and keys are columns: is_token[:, None, None, :]. Yours empties the rows of the padding and
      leaves its columns open.
    - padding not hidden in the joined mask:
        causal & is_token[:, None, None, :] => np.broadcast_to(causal, (len(is_token), 1, *causal.shape))
      The causal mask alone lets later padding be seen by padding, and padding in front by everybody. Join it with
      is_token[:, None, None, :].
    - an axis for the queries in key_padding_mask: ~is_token => ~is_token[:, None, :]
      nn.MultiheadAttention wants (batch, key) and adds the other axes itself.
    - zero and minus infinity:
        ~is_token, ~causal, both
        => np.where(is_token, 0.0, -np.inf), np.where(causal, 0.0, -np.inf), np.where(both, 0.0, -np.inf)
      A mask of floats is added to the scores, and has no sense to confuse. It works in PyTorch; here masks of True and
      False are asked.
    - masks of 0 and 1: ~is_token, ~causal, both => 1 - is_token, 1 - causal, 1 * both
      PyTorch refuses masks of whole numbers: whether 1 hides cannot be seen. Use booleans.
""")


@checker("ex-21-3", results=("w_q", "w_k", "w_v"))
def split_in_proj(in_proj_weight):
    """Cut the one array of nn.MultiheadAttention into matrices for ``x @ w``.

    in_proj_weight: (3 d, d), the transposes of W_Q, W_K and W_V one below the other.
    Returns w_q, w_k and w_v, each of shape (d, d).
    """
    q, k, v = np.split(in_proj_weight, 3)
    return q.T, k.T, v.T


split_in_proj.cases = lambda rng: [
    Case((np.arange(12.0).reshape(6, 2),), "rows of width 2, all numbers different"),
    Case((rng.normal(size=(9, 3)),), "rows of width 3"),
    Case((rng.normal(size=(15, 5)),), "rows of width 5"),
]
split_in_proj.knows("""
    - no transposes: q.T, k.T, v.T => q, k, v
      PyTorch stores the transposes and computes x @ w.T. For x @ w turn each of the three over (chapter 21, One matrix
      turned round). They are square, so no shape complains.
    - w_v not transposed: v.T => v
      One of three is easily forgotten, and it is square: no shape complains. w_v needs its .T as well.
    - w_k not transposed: k.T => k
      One of three is easily forgotten, and it is square: no shape complains. w_k needs its .T as well.
    - w_q not transposed: q.T => q
      One of three is easily forgotten, and it is square: no shape complains. w_q needs its .T as well.
    - keys and queries exchanged: q.T, k.T => k.T, q.T
      The order is W_Q, W_K, W_V from top to bottom.
    - keys and values exchanged: k.T, v.T => v.T, k.T
      The order is W_Q, W_K, W_V from top to bottom.
    - the order turned round: q.T, k.T, v.T => v.T, k.T, q.T
      The order is W_Q, W_K, W_V from top to bottom; you begin below.
    - every third row: np.split(in_proj_weight, 3) => (in_proj_weight[i::3] for i in range(3))
      The three matrices stand one below the other, each in one piece: rows 0 to d - 1 are W_Q. Do not interleave them.
    - rows for columns:
        np.split(in_proj_weight, 3) => np.split(in_proj_weight.reshape(in_proj_weight.shape[1], -1), 3, axis=1), and
        q.T, k.T, v.T => q, k, v
      A reshape to (d, 3 d) reads the same numbers in the same order and is no transpose. Cut the rows into three, then
      turn each over.
    - a reshape of the transpose:
        np.split(in_proj_weight, 3) => in_proj_weight.T.reshape(3, in_proj_weight.shape[1], -1), and
        q.T, k.T, v.T => q, k, v
      in_proj_weight.T has shape (d, 3 d), and its columns are to be cut: np.split(..., 3, axis=1). A reshape mixes the
      three.
    - turned upside down: q.T, k.T, v.T => q[::-1], k[::-1], v[::-1]
      np.flip and [::-1] change the order of rows. A transpose exchanges rows and columns: .T.
""")


@checker("ex-21-9")
def sample_std(x):
    """Compute the deviation of each row as torch.std does: divide the squares by d - 1.

    x: array of shape (..., d), d at least 2. Returns an array of shape (..., 1).
    """
    away = x - x.mean(axis=-1, keepdims=True)
    return np.sqrt((away**2).sum(axis=-1, keepdims=True) / (x.shape[-1] - 1))


sample_std.cases = lambda rng: [
    Case(([1.0, 3.0, 3.0, 5.0],), "the row of exercise 4"),
    Case(([[0.0, 2.0], [10.0, 30.0]],), "two rows of two numbers"),
    Case((rng.normal(size=(3, 4)) + 2,), "three rows"),
    Case((rng.normal(size=(2, 3, 5)) * 10,), "two sentences of three rows"),
]
sample_std.knows("""
    - N in place of N - 1: (x.shape[-1] - 1) => x.shape[-1]
      That is what np.std does, and nn.LayerNorm. torch.std divides by one less (chapter 21, Two deviations).
    - N - 2: (x.shape[-1] - 1) => max(x.shape[-1] - 2, 1)
      One is taken off once. np.std(x, ddof=1) divides by d - 1.
    - N + 1: x.shape[-1] - 1 => x.shape[-1] + 1
      ddof is subtracted. One number less, because the mean was taken from the same numbers: d - 1.
    - the root forgotten: return np.sqrt( => return (
      This is the variance. The deviation is its root.
    - N - 1 outside the root: keepdims=True) / (x.shape[-1] - 1)) => keepdims=True)) / (x.shape[-1] - 1)
      The division comes before the root: sqrt(sum / (d - 1)).
    - the mean not subtracted: x - x.mean(axis=-1, keepdims=True) => x
      The distances from the mean are squared, not the numbers themselves.
    - the wrong axis: -1 =>> 0
      A row is normalised by itself: axis=-1. Yours goes down the columns.
    - one deviation for the whole array:
        mean(axis=-1, keepdims=True) => mean(), and sum(axis=-1, keepdims=True) => sum(), and shape[-1] - 1 => size - 1
      Each row has its own: axis=-1, keepdims=True.
    - keepdims forgotten: (away**2).sum(axis=-1, keepdims=True) => (away**2).sum(axis=-1)
      Each row's deviation stays beside its row: shape (..., 1), with keepdims=True. Without it the division of a square
      table by it goes wrong without an error.
    - absolute distances: np.sqrt((away**2).sum => (np.abs(away).sum
      The mean distance is another measure. Square the distances, then take the root of their mean.
    - N - 1 in the mean as well: x.mean(axis=-1, keepdims=True) => x.sum(axis=-1, keepdims=True) / (x.shape[-1] - 1)
      The mean is divided by d. Only the squares are divided by d - 1.
    - the squares of the whole array: x.shape[-1] - 1 => x.size - 1
      x.size counts all rows. Divide by the length of one row less one: x.shape[-1] - 1.
    - one mean for the whole array: x.mean(axis=-1, keepdims=True) => x.mean()
      Each row has its own mean: axis=-1, keepdims=True.
    - keepdims forgotten in the mean: x.mean(axis=-1, keepdims=True) => x.mean(axis=-1)
      The means have lost their last axis, so NumPy lays them along the columns. keepdims=True keeps each mean beside
      its row.
    - 1 subtracted after the division: (x.shape[-1] - 1) => x.shape[-1] - 1
      sum / d - 1 divides first. The bracket belongs around d - 1: sum / (d - 1).
    - divided twice: (away**2).sum => (away**2).mean
      mean() has divided by d already. Take sum(), and divide once, by d - 1.
""")


# 21.1: the arrays of nn.MultiheadAttention(8, 2); 21.4: two deviations; 21.5: two residuals
_MHA = {
    "in_proj_weight": (Prod(24, 8), "three matrices, one below the other, of 8 * 8 each"),
    "in_proj_bias": (Prod(24), "a number for each row of in_proj_weight"),
    "out_proj.weight": (Prod(8, 8), "one square matrix of width d"),
    "out_proj.bias": (Prod(8), "a number for each row of out_proj.weight"),
}
_MHA_COUNTS = [count.value for count, _ in _MHA.values()]
_MHA_STEPS = [f"{name}: {why}" for name, (_, why) in _MHA.items()]
_MHA_TERMS = [f"{name}: {written(count)} = {count.value}" for name, (count, _) in _MHA.items()]
_NORM_ROW = np.array([1.0, 3.0, 3.0, 5.0])
_SQUARES = (_NORM_ROW - 3) ** 2
_X, _F = np.array([1.0, 0.0]), np.array([0.5, 0.5])


def _parts(name, n):
    """The deviation and the normalised row, with the squares divided by n."""
    not_so = f"the squares divided by {7 - n}. Here they are divided by {n}."
    return (
        worked(f"deviation with {name}", Root(Quotient(Sum(*_SQUARES), n)), about=True, decimals=4)
        .knows(np.sqrt(_SQUARES.sum() / (7 - n)), not_so)
        .knows(_SQUARES.sum() / n, "the variance. The deviation is its root.")
        .knows(np.sqrt(_SQUARES.sum()), "the root of the sum. Divide under the root."),
        normalised(f"result with {name}", _NORM_ROW, 4 - n, not_so, about=True, decimals=4),
    )


def _residual_part(name, times):
    return (
        worked(name, [Sum(*[x] * times, f) for x, f in zip(_X, _F, strict=True)], decimals=1)
        .knows(_F, "F(x) alone. The input is added.")
        .knows((3 - times) * _X + _F, f"the input added {('twice', 'once')[times - 1]}.")
    )


BY_HAND = {}
BY_HAND["21.1"] = [
    part("numbers", _MHA_COUNTS, lambda at: _MHA_TERMS[at[0]])
    .step(lambda at: _MHA_STEPS[at[0]])
    .knows([64, 8, 64, 8], "one matrix in `in_proj_weight`. W^Q, W^K and W^V stand in it, one below the other.")
    .knows([192, 8, 64, 8], "one bias in `in_proj_bias`. Queries, keys and values have one each."),
    worked("together", Sum(*_MHA_COUNTS)).knows(
        sum(_MHA_COUNTS[::2]), "the two weights alone. The biases are parameters too."
    ),
    part("with 4 heads", sum(_MHA_COUNTS), f"the heads share the columns, so it stays {sum(_MHA_COUNTS)}")
    .step("more heads share the same columns")
    .knows(2 * sum(_MHA_COUNTS), "twice as many. More heads are narrower heads of the same columns."),
    worked("without bias", Sum(*_MHA_COUNTS[::2]), lead="the two weights are left: ")
    .knows(sum(_MHA_COUNTS) - 8, "the output's bias alone left out. `bias=False` leaves out both.")
    .knows(sum(_MHA_COUNTS) - 24, "`in_proj_bias` alone left out. `bias=False` leaves out both."),
]
BY_HAND["21.4"] = [
    *_parts("N", 4),
    *_parts("N - 1", 3),
    part("factor", np.sqrt(3 / 4), f"the root of (d - 1) / d = 3 / 4, about {np.sqrt(3 / 4):.4f}", decimals=4)
    .knows(np.sqrt(4 / 3), "the factor of the deviations. Dividing by more makes the result smaller.")
    .knows(3 / 4, "the factor of the variances, turned over. Take its root."),
]
BY_HAND["21.5"] = [
    _residual_part("once", 1).knows(_X, "x alone."),
    _residual_part("twice", 2).knows(2 * (_X + _F), "F(x) added twice as well. The input alone is."),
]
