"""Checkers of chapter 12: the decoder."""

import numpy as np

from toytf.check.answers import listed, number, part, product, sum_of_products
from toytf.check.ch11 import NUMBERS_FOR_BOOLEANS, OPPOSITE
from toytf.check.core import Case, checker, normals
from toytf.example import W_K, W_V


def _cross_first_cases(rng):
    y, memory = np.array([[2.0, 0.0]]), np.array([[0.0, 0.0], [0.0, 0.0]])
    three, five = rng.normal(size=(3, 4)), rng.normal(size=(5, 4))
    return [
        Case((y, memory, np.tri(1, dtype=bool)), "one target row, a memory of zeros"),
        Case((three, five, np.tri(3, dtype=bool)), "three target rows, five source rows, the causal mask"),
        Case((three, five, np.tri(3, dtype=bool) & ~np.tri(3, k=-2, dtype=bool)), "the same rows, a window of two"),
        Case((rng.normal(size=(2, 4, 3)) * 2, rng.normal(size=(2, 5, 3)) * 2, np.tri(4, dtype=bool)), "two sentences"),
    ]


@checker("ex-12-5", cases=_cross_first_cases)
def cross_first(y, memory, mask):
    """A decoder layer without feed-forward, its two attentions in the other order.

    Cross-attention comes first, then self-attention, each with residual and layer norm
    around it (add, then normalise). Rows are used as queries, keys and values as they
    are; scores are divided by the root of d. The layer norm has epsilon 1e-5 inside
    the root, no scale and no shift.

    y: shape (..., target, d). memory: shape (..., source, d). mask: boolean, shape
    (target, target), for self-attention; True means "may attend", and every row has a
    key left. Returns an array of the shape of y.
    """

    def attend(rows, others, may):
        scores = rows @ np.swapaxes(others, -1, -2) / np.sqrt(rows.shape[-1])
        scores = np.where(may, scores, -np.inf)
        exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return exps / exps.sum(axis=-1, keepdims=True) @ others

    def norm(rows):
        centred = rows - rows.mean(axis=-1, keepdims=True)
        return centred / np.sqrt(rows.var(axis=-1, keepdims=True) + 1e-5)

    read = norm(y + attend(y, memory, True))
    return norm(read + attend(read, read, mask))


cross_first.knows("""
    - the usual order: attend(y, memory, True) => attend(y, y, mask), and (read, read, mask) => (read, memory, True)
      Self-attention comes first here, as in the paper. The exercise asks for the exchange.
    - both attentions fed with the rows that came in: attend(read, read, mask) => attend(y, y, mask)
      Self-attention must look at what cross-attention and its norm have left, not at y.
    - no mask in self-attention: attend(read, read, mask) => attend(read, read, True)
      The rows see their future. Write minus infinity over the scores where the mask is False (chapter 11).
    - no residual around cross-attention: norm(y + attend => norm(attend
      Add y to what the memory gave, then normalise: norm(y + ...).
    - no residual around self-attention: norm(read + attend => norm(attend
      Add the row that went in, then normalise: norm(read + ...).
    - the second residual taken from y: norm(read + attend => norm(y + attend
      A residual adds what went into its own sub-layer. Into self-attention went the normalised row, not y.
    - the last layer norm left out: norm(read + attend(read, read, mask)) => read + attend(read, read, mask)
      There is add and norm around each of the two attentions, so the layer ends with a norm.
    - the first layer norm left out: read = norm(y + attend(y, memory, True)) => read = y + attend(y, memory, True)
      There is add and norm around each of the two attentions, so a norm stands between them.
    - the layer norms before the attentions:
        read = norm(y + attend(y, memory, True)) => read = y + attend(norm(y), memory, True), and
        return norm(read + attend(read, read, mask)) => return read + attend(norm(read), norm(read), mask)
      This is pre-norm. The exercise asks for the paper's order, post-norm: add, then normalise.
    - no scaling: np.swapaxes(others, -1, -2) / np.sqrt(rows.shape[-1]) => np.swapaxes(others, -1, -2)
      Divide the scores of both attentions by the root of d (chapter 5).
    - no word of the source: attend(y, memory, True) => attend(y, y, True)
      Your first attention looks at y. Cross-attention takes keys and values from the memory.
    - the mask with the opposite sense: attend(read, read, mask) => np.nan_to_num(attend(read, read, ~mask))
      True means 'may attend' (chapter 11).
""")


@checker("ex-12-6")
def disguise_mask(n_source, n_target, with_past):
    """Make the last n_target rows of a mask for source and target rows in one matrix.

    The n_source rows of the memory come first, the n_target rows of the target behind
    them. with_past False: self-attention with these mask rows gives the
    cross-attention of the target with the memory. with_past True: a target row may
    attend to the target rows up to itself as well. Returns a boolean array of shape
    (n_target, n_source + n_target), True means "may attend".
    """
    own = np.tri(n_target, dtype=bool) & with_past
    return np.concatenate([np.ones((n_target, n_source), dtype=bool), own], axis=1)


disguise_mask.cases = lambda rng: [
    Case((2, 1, False), "two source rows, one target row"),
    Case((5, 3, False), "five source rows, three target rows"),
    Case((5, 3, True), "the same, with the target's past"),
    Case((1, 4, True), "one source row, four target rows"),
    Case((int(rng.integers(2, 300)), int(rng.integers(2, 300)), False), "longer sentences"),
    Case((int(rng.integers(2, 300)), int(rng.integers(2, 300)), True), "longer sentences with the target's past"),
]
disguise_mask.knows(f"""
    - the target's columns in front:
        np.ones((n_target, n_source), dtype=bool), own => own, np.ones((n_target, n_source), dtype=bool)
      The memory's rows come first in the matrix, so its columns come first in the mask.
    - the opposite sense: return np => return ~np
      {OPPOSITE}
    - the past always visible: np.tri(n_target, dtype=bool) & with_past => np.tri(n_target, dtype=bool)
      Cross-attention alone does not look at the target, not even at its own row: with_past False hides the last
      n_target columns.
    - the past never visible: & with_past => & False
      With with_past True the last n_target columns hold the causal mask.
    - the row itself left out of its past: np.tri(n_target, => np.tri(n_target, k=-1,
      A target row sees the target rows up to and including itself: the diagonal is True (chapter 11).
    - the target's future visible: np.tri(n_target, dtype=bool) => np.ones((n_target, n_target), dtype=bool)
      with_past True shows the target up to the row itself and hides what comes after it: a causal mask in the last
      columns.
    - the source hidden by a causal mask: np.ones((n_target, n_source), => np.tri(n_target, n_source,
      The source is complete: every target row may attend to all its rows. The first n_source columns are True.
    - the mask of all rows:
        np.ones((n_target, n_source), dtype=bool) => np.ones((n_source + n_target, n_source), dtype=bool), and
        own] => np.vstack([np.ones((n_source, n_target), dtype=bool), own])]
      Only the last n_target rows are asked for: the shape is (n_target, n_source + n_target).
    - rows and columns exchanged: axis=1) => axis=1).T
      The rows ask: one row for each target row, one column for each row that is asked. The expected shape is (n_target,
      n_source + n_target).
    - numbers in place of booleans: axis=1) => axis=1).astype(float)
      {NUMBERS_FOR_BOOLEANS}
""")


@checker("ex-12-7")
def cross_attention(y, memory, w_q, w_k, w_v):
    """Let the rows of the target read the memory: one head, without a mask.

    y: the decoder's rows, shape (..., target, d). memory: the encoder's rows, shape
    (..., source, d). w_q, w_k: shape (d, d_k). w_v: shape (d, d_v). Scores are divided
    by the root of d_k. Returns an array of shape (..., target, d_v).
    """
    q, k, v = y @ w_q, memory @ w_k, memory @ w_v
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exps / exps.sum(axis=-1, keepdims=True) @ v


cross_attention.cases = lambda rng: [
    Case(
        (
            [[1.0, 0.0]],
            [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]],
            [[np.log(3.0)], [0.0]],
            [[1.0], [0.0]],
            [[10.0, 20.0, 0.0], [0.0, 50.0, 10.0]],
        ),
        "one target row with the shares 1/5, 3/5, 1/5",
    ),
    Case(normals(rng, (2, 4), (5, 4), (4, 3), (4, 3), (4, 2)), "two target rows, five source rows"),
    Case(normals(rng, (3, 4), (3, 4), *[(4, 4)] * 3), "as many target rows as source rows, all of one width"),
    Case((2e5 * rng.normal(size=(2, 4)), *normals(rng, (3, 4), (4, 2), (4, 2), (4, 3))), "scores that overflow exp"),
    Case(normals(rng, (2, 3, 4), (2, 5, 4), (4, 2), (4, 2), (4, 3)), "two sentences"),
]
cross_attention.knows("""
    - keys and values from the decoder: memory @ w_k, memory @ w_v => y @ w_k, y @ w_v
      This is self-attention: the source sentence has no influence (chapter 12, What goes wrong). Keys and values are
      memory @ w_k and memory @ w_v.
    - queries from the memory, keys and values from the decoder:
        y @ w_q, memory @ w_k, memory @ w_v => memory @ w_q, y @ w_k, y @ w_v
      The two sides are exchanged: the memory asks and the target is asked. Queries are y @ w_q, keys and values come
      from the memory, and the expected shape has a row for each target row.
    - queries from the memory: y @ w_q => memory @ w_q
      The memory looks at itself, which the encoder has done already. It is the target that asks: y @ w_q. The expected
      shape has a row for each target row.
    - keys from the memory, values from the decoder: memory @ w_v => y @ w_v
      Every key needs its value, so both come from the same rows, the memory's. With lengths that differ the shapes do
      not fit; with equal lengths nothing fails and the source is not read.
    - keys from the decoder, values from the memory: memory @ w_k => y @ w_k
      Every key needs its value, so both come from the same rows, the memory's. With lengths that differ the shapes do
      not fit; with equal lengths nothing fails.
    - the keys used as values: memory @ w_v => memory @ w_k
      Keys and values share their input, the memory (chapter 12, Who asks, who is asked). The values have a matrix of
      their own, w_v.
    - the memory itself used as values: memory @ w_v => memory
      The shares are right, and then they average the memory. They should average memory @ w_v; the expected shape ends
      in d_v.
    - no scaling: np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1]) => np.swapaxes(k, -1, -2)
      The scores must be divided by the root of d_k, the width of a query (chapter 5).
    - the wrong root: q.shape[-1] => y.shape[-1]
      You divide by the root of d, the width of the rows. It is d_k that counts, the width of a query and key: so many
      products are in each sum (chapter 5).
    - the root of the values' width: q.shape[-1] => w_v.shape[-1]
      You divide by the root of d_v. A score is a sum over the columns of a query and a key, so it is their width, d_k,
      that counts (chapter 5).
    - divided by d_k without the root: np.sqrt(q.shape[-1]) => q.shape[-1]
      Divide the scores by np.sqrt(d_k). It is the standard deviation of a score that grows like this root (chapter 5).
    - softmax over the queries: axis=-1 =>> axis=-2
      Each target row shares out the source: its shares over the keys sum to 1. That is the last axis.
    - a causal mask over the source:
        scores = q => scores = np.where(np.tri(y.shape[-2], memory.shape[-2], dtype=bool), q, and
        np.sqrt(q.shape[-1]) => np.sqrt(q.shape[-1]), -np.inf)
      The source sentence is complete; nothing in it is the future. The causal mask belongs to self-attention (chapter
      12, Three words ask five).
    - no maximum subtracted: scores - scores.max(axis=-1, keepdims=True) => scores
      exp overflows above 709.78 (chapter 8). Subtract the largest score of each row first.
    - all axes of the keys turned round: np.swapaxes(k, -1, -2) => k.T
      k.T reverses every axis, the batch's too. np.swapaxes(k, -1, -2) exchanges the last two and leaves the others
      where they are; for a single sentence both are the same.
""")


_QUERY = np.array([-1.0888, -0.2757, -0.6111])  # of <sos> in head 1
_THIRD = np.array([0.0, 1.0, 0.0, 0.0])
_SCORE = _QUERY @ (_THIRD @ W_K[0])
_SIZES = {  # rows and last axis of what exercise 2 asks for, and what the last axis is
    "self Q": (12, 50, "50 columns a head"),
    "self K": (12, 50, "50 columns a head"),
    "self weights": (12, 12, "12 tokens that are asked"),
    "cross Q": (12, 50, "50 columns a head"),
    "cross K": (10, 50, "50 columns a head"),
    "cross weights": (12, 10, "10 tokens that are asked"),
}
_OTHER_SIDE = "the other sentence's length. Keys of the cross-attention come from the source, all else from the target."


def _shape(name, rows, last, about):
    axes = ("64 sentences", "6 heads", f"{rows} {'source' if rows == 10 else 'target'} tokens", about)
    asked = "a column for each key" if "weights" in name else "the columns of one head"
    steps = ("the sentences", "the heads", f"a row for each {'key' if name.endswith('K') else 'query'}", asked)
    answer = part(name, (64, 6, rows, last), lambda at: axes[at[0]]).step(lambda at: steps[at[0]])
    if "weights" in name and rows != last:
        answer = answer.knows((64, 6, last, rows), "keys as rows. A row belongs to a query.")
    return answer.knows((64, 6, 22 - rows, last), _OTHER_SIDE).knows(
        (64, rows, 6, last), "the shape before the heads come forward. Heads stand before tokens."
    )


BY_HAND = {}
BY_HAND["12.1"] = [
    product("key", _THIRD, W_K[0])
    .knows(W_K[0][2], "the third row of W^K. The 1 stands in the second place, so it is the second row.")
    .knows(_THIRD @ W_V[0], "the value. The key is the row times W^K."),
    part(
        "scaled score",
        _SCORE / np.sqrt(3),
        f"{sum_of_products(_QUERY, _THIRD @ W_K[0], 4)}, and {_SCORE:.4f} / 1.7321 = {number(_SCORE / np.sqrt(3), 3)}",
        decimals=3,
    )
    .step(f"the query is {listed(_QUERY)}; the key is {listed(_THIRD @ W_K[0])}; then / the root of 3")
    .knows(_SCORE, "the score not scaled. Divide by the root of the head's width, 3.")
    .knows(_SCORE / 2, "a division by the root of d = 4. The head's width is 3.")
    .knows(_SCORE / 3, "a division by d_k = 3. Divide by its root.")
    .knows(_QUERY @ (_THIRD @ W_V[0]) / np.sqrt(3), "the query with the value. It meets the key."),
]
BY_HAND["12.2"] = [_shape(name, *size) for name, size in _SIZES.items()]
