"""Checkers of chapter 6: heads."""

import numpy as np

from toytf.byhand import Prod, Quotient, Sum
from toytf.check.answers import listed, part, sum_of_products, worked
from toytf.check.core import Case, checker
from toytf.example import PUBLISHED, W_K, W_Q


@checker("ex-06-8", results=("heads",))
def split_heads(x, n_heads):
    """Cut columns into heads: (..., n, n_heads * d_head) to (..., n_heads, n, d_head).

    x: array whose last axis holds the heads' columns side by side: head 0 owns the
    first d_head columns, head 1 the next d_head, and so on.
    """
    *leading, n, width = x.shape
    cut = x.reshape(*leading, n, n_heads, width // n_heads)
    return cut.swapaxes(-2, -3)


split_heads.cases = lambda rng: [
    Case(([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]], 2), "two tokens, two heads of width 2"),
    Case((np.arange(30.0).reshape(5, 6), 2), "five tokens, two heads of width 3"),
    Case((rng.normal(size=(2, 5, 6)), 3), "two sentences, three heads of width 2"),
    Case((rng.normal(size=(4, 3)), 1), "one head"),
    Case((rng.normal(size=(3, 2, 4, 10)), 5), "two leading axes"),
]
split_heads.knows("""
    - a reshape without the swap: *leading, n, n_heads => *leading, n_heads, n, and cut.swapaxes(-2, -3) => cut
      reshape only recounts the numbers in memory: parts of one token become different tokens (chapter 6, A reshape that
      lies). Cut into (n, n_heads, d_head), then swap the axes of tokens and heads.
    - cut and not swapped: cut.swapaxes(-2, -3) => cut
      The shape is still (..., n, n_heads, d_head). Put the heads before the tokens: swapaxes(-2, -3).
    - columns dealt out in turn:
        n_heads, width // n_heads) => width // n_heads, n_heads), and cut.swapaxes(-2, -3) => np.moveaxis(cut, -1, -3)
      Head 0 owns the first d_head columns, one after the other. Cut the last axis into (n_heads, d_head), in this
      order.
    - number of heads and width of a head exchanged: n_heads, width // n_heads) => width // n_heads, n_heads)
      The last axis is cut into (n_heads, d_head): the number of heads comes first.
    - the last two axes swapped: swapaxes(-2, -3) => swapaxes(-1, -2)
      That puts columns before heads. Tokens and heads change places: swapaxes(-2, -3).
    - all axes reversed by .T: cut.swapaxes(-2, -3) => cut.T
      .T turns all axes round. Only tokens and heads change places: swapaxes(-2, -3).
    - axes 0 and 1 swapped: swapaxes(-2, -3) => swapaxes(0, 1)
      With a batch in front, axis 0 counts sentences. Count from the end: swapaxes(-2, -3).
    - tokens divided in place of columns:
        n, n_heads, width // n_heads) => n_heads, n // n_heads, width), and cut.swapaxes(-2, -3) => cut
      Every head sees every token, and some of the columns: cut the last axis.
    - the heads in reverse order: cut.swapaxes(-2, -3) => cut.swapaxes(-2, -3)[..., ::-1, :, :]
      Head 0 owns the first columns.
""")


@checker("ex-06-9", results=("rows",))
def merge_heads(heads):
    """Put heads side by side: (..., n_heads, n, d_head) to (..., n, n_heads * d_head).

    heads: array with one output for each head; the columns of head 0 come first.
    """
    *leading, n_heads, n, d_head = heads.shape
    return heads.swapaxes(-2, -3).reshape(*leading, n, n_heads * d_head)


merge_heads.cases = lambda rng: [
    Case(([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]],), "two heads, two tokens, width 2"),
    Case((np.arange(30.0).reshape(2, 5, 3),), "two heads, five tokens, width 3"),
    Case((rng.normal(size=(2, 3, 5, 2)),), "two sentences, three heads"),
    Case((rng.normal(size=(1, 4, 3)),), "one head"),
    Case((rng.normal(size=(3, 2, 5, 4, 2)),), "two leading axes"),
]
merge_heads.knows("""
    - a reshape without the swap: heads.swapaxes(-2, -3).reshape => heads.reshape
      reshape only recounts the numbers in memory: a row would hold several tokens of one head. Swap the axes of heads
      and tokens first, then join the last two.
    - swapped and not joined: .reshape(*leading, n, n_heads * d_head) =>
      The heads' columns become one axis: reshape(..., n, n_heads * d_head).
    - the heads under each other:
        heads.swapaxes(-2, -3).reshape(*leading, n, n_heads * d_head) => heads.reshape(*leading, n_heads * n, d_head)
      The rows stay the tokens, only the columns grow in number: join along the last axis.
    - columns of the heads in turn: heads.swapaxes(-2, -3) => np.moveaxis(heads, -3, -1)
      First all columns of head 0, then all of head 1. Otherwise they meet the wrong rows of W^O.
    - heads added up: heads.swapaxes(-2, -3).reshape(*leading, n, n_heads * d_head) => heads.sum(axis=-3)
      They are put side by side. What adds them up, each with weights of its own, is W^O.
    - heads averaged: heads.swapaxes(-2, -3).reshape(*leading, n, n_heads * d_head) => heads.mean(axis=-3)
      Two heads with clear opinions average to none (chapter 6). Put them side by side.
    - the heads in reverse order: heads.swapaxes(-2, -3) => heads[..., ::-1, :, :].swapaxes(-2, -3)
      The columns of head 0 come first.
    - axes 0 and 1 swapped: swapaxes(-2, -3) => swapaxes(0, 1)
      With a batch in front, axis 0 counts sentences. Count from the end: swapaxes(-2, -3).
""")


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


@checker("ex-06-10", cases=_multi_head_cases, results=("z",), points=4)
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


multi_head.knows("""
    - W^O forgotten: heads.reshape(*heads.shape[:-2], -1) @ w_o => heads.reshape(*heads.shape[:-2], -1)
      The heads side by side are not the output yet: multiply by w_o, which brings the row back to d_model.
    - heads averaged in place of added: (*heads.shape[:-2], -1) @ w_o => (*heads.shape[:-2], -1) @ w_o / n_heads
      The product with w_o adds the heads' parts (chapter 6, Z is a sum over heads). Nothing is divided by their number.
    - the scale of d_model: q.shape[-1] => x.shape[-1]
      A score is a sum over the columns of one head: divide by the root of d_k, q.shape[-1] after the split.
    - the scale of all heads together: q.shape[-1] => w_k.shape[-1]
      A score is a sum over the columns of one head: divide by the root of its width, not of n_heads * d_k.
    - no scaling: k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]) => k.swapaxes(-1, -2)
      The scores of each head are divided by the root of d_k (chapter 5).
    - divided by d_k in place of its root: np.sqrt(q.shape[-1]) => q.shape[-1]
      The divisor is the root of the head's width (chapter 5).
    - split and merged without the swap:
        rows.shape[:-1], n_heads, rows.shape[-1] // n_heads => rows.shape[:-2], n_heads, rows.shape[-2], -1, and
        cut.swapaxes(-2, -3) => cut, and (attn_weights @ v).swapaxes(-2, -3) => attn_weights @ v, and
        heads.reshape(*heads.shape[:-2], -1) => heads.reshape(*x.shape[:-1], -1)
      reshape(n_heads, n, d_head) mixes heads and tokens (chapter 6, A reshape that lies). Cut into (n, n_heads,
      d_head), then swap; on the way back swap, then join.
    - split without the swap:
        rows.shape[:-1], n_heads, rows.shape[-1] // n_heads => rows.shape[:-2], n_heads, rows.shape[-2], -1, and
        cut.swapaxes(-2, -3) => cut
      The heads are cut wrongly: reshape to (n, n_heads, d_head), then swap tokens and heads.
    - merged without the swap:
        (attn_weights @ v).swapaxes(-2, -3) => attn_weights @ v, and (*heads.shape[:-2], -1) => (*x.shape[:-1], -1)
      The heads are joined wrongly: swap back to (n, n_heads, d_head), then join the last two axes.
    - one head with all columns: n_heads, rows.shape[-1] // n_heads) => 1, rows.shape[-1])
      n_heads is not used: every head has its own row of weights. Split queries, keys and values first.
    - one head with all columns, scaled as one of many:
        n_heads, rows.shape[-1] // n_heads) => 1, rows.shape[-1]), and q.shape[-1] => q.shape[-1] // n_heads
      Every head has its own row of weights. Split queries, keys and values first.
    - the first head alone: heads.reshape(*heads.shape[:-2], -1) @ w_o => heads[..., 0, :] @ w_o[: heads.shape[-1]]
      All heads stand side by side before they meet w_o.
    - softmax over the queries: axis=-1 =>> axis=-2
      Each query shares its attention among the keys: axis=-1.
    - softmax over the heads: axis=-1 =>> axis=-3
      Each head has weights of its own that sum to 1 over the keys: axis=-1.
    - the heads side by side in reverse order: heads = (attn_weights @ v) => heads = (attn_weights @ v)[..., ::-1, :, :]
      Head 0 meets the first rows of w_o.
    - columns of the heads in turn: (attn_weights @ v).swapaxes(-2, -3) => np.moveaxis(attn_weights @ v, -3, -1)
      First all columns of head 0, then all of head 1: each block of columns has its block of rows in w_o.
    - split before the projection:
        split(x @ w_q), split(x @ w_k), split(x @ w_v)
        => (split(x) @ np.array([np.split(m, n_heads)[i] for i, m in enumerate(split(w))]) for w in (w_q, w_k, w_v))
      Each head multiplies the whole row, all columns of x, by its matrices (chapter 6, Project, then split). Split x @
      w_q, not x.
""")


@checker("ex-06-4", results=("w_o",))
def reorder_w_o(w_o, order):
    """Put the blocks of W^O in the order of the heads.

    The heads are given another order: new head j is old head order[j]. Each brought its
    block of d_v rows of w_o. w_o: array of shape (n_heads * d_v, d_model). order: array
    of integers of shape (n_heads,). Returns an array of the shape of w_o, with which
    the output is the old one.
    """
    blocks = w_o.reshape(len(order), -1, w_o.shape[-1])
    return blocks[order].reshape(w_o.shape)


reorder_w_o.cases = lambda rng: [
    Case((np.arange(1.0, 9.0).reshape(4, 2), [1, 0]), "two heads of width 2, exchanged"),
    Case((rng.normal(size=(6, 4)), [1, 2, 0]), "three heads in a circle"),
    Case((rng.normal(size=(6, 4)), [0, 1]), "the old order"),
    Case((rng.normal(size=(8, 5)), [2, 0, 3, 1]), "four heads"),
    Case((rng.normal(size=(15, 6)), rng.permutation(5)), "five heads"),
]
reorder_w_o.knows("""
    - w_o left as it is: blocks[order] => blocks
      Then the columns of one head meet the rows of another. Each head takes its block along.
    - single rows in place of blocks: blocks[order].reshape(w_o.shape) => w_o[order]
      w_o[order] takes n_heads rows. A head owns d_v rows: cut w_o into blocks first.
    - the inverse order: blocks[order] => blocks[np.argsort(order)]
      New head j is old head order[j], so block j of the result is old block order[j]. You put old block j at place
      order[j].
    - blocks reversed, whatever the order: blocks[order] => blocks[::-1]
      Reversing is right for two heads that change places. Use order.
    - all rows reversed: blocks[order].reshape(w_o.shape) => w_o[::-1]
      The blocks move as wholes; inside a block the rows keep their order.
    - rows of a head taken at a distance: len(order), -1, => -1, len(order),, and blocks[order] => blocks[:, order]
      The rows of a head are neighbours: reshape to (n_heads, d_v, d_model), in this order.
    - columns reordered in place of rows:
        blocks[order].reshape(w_o.shape) => np.hstack([np.array_split(w_o, len(order), axis=1)[j] for j in order])
      A head meets its rows of w_o; every column of the output belongs to all heads.
""")


_X = PUBLISHED.x
_Q2, _K2 = _X @ W_Q[1], _X @ W_K[1]
_HELLO = np.round(_Q2[0] @ _K2.T, 2)
_ONE_HEAD = "one head's columns. All 16 heads stand side by side here."


def _shape(name, shape, why):
    return part(name, shape, f"{why}: {shape}")


def _four_matrices(heads, width):
    """The answer 4 d h d_head."""
    one = 512 * heads * width
    return (
        worked(f"{heads} heads of {width}", Prod(4, 512, heads, width))
        .knows(3 * one, "three matrices. W^O is the fourth.")
        .knows(4 * 512 * width, "one head. All heads have matrices of their own.")
        .knows(4 * one * heads, f"the heads counted twice. {heads} * {width} columns are those of all heads.")
    )


BY_HAND = {}
BY_HAND["6.1"] = [
    part("scores", _HELLO, lambda at: sum_of_products(_Q2[0].round(2), _K2[at[0]].round(2), 2), decimals=2)
    .step(lambda at: f"the query is {listed(_Q2[0].round(2))}; the key is {listed(_K2[at[0]].round(2))}")
    .knows((_X @ W_Q[0])[0] @ (_X @ W_K[0]).T, "the scores of head 1. Take the tables of head 2.")
    .knows(_Q2[1] @ _K2.T, 'the scores of the other query. Take that of "Hello".')
    .knows(_Q2 @ _K2[0], 'a column of the scores. The query of "Hello" meets both keys, in a row.'),
    worked("scaled scores", [Quotient(score, 30) for score in _HELLO.tolist()], decimals=4, shown=".4f")
    .knows(_HELLO / np.sqrt(3), "a division by the root of 3. The exercise asks for 30.")
    .knows(_HELLO / 3, "a division by d_k = 3. The exercise asks for 30.")
    .knows(_HELLO, "the scores as they were. Divide them.")
    .knows(_HELLO / np.sqrt(30), "a division by the root of 30. The exercise asks for 30 itself."),
]
BY_HAND["6.2"] = [
    worked("", [Sum(Prod(0.7, 4), Prod(0.3, 1)), Sum(Prod(0.2, 1), Prod(0.8, 3))], decimals=1)
    .knows([3.1, 1.6], "head A for both columns. Head B has shares of its own for the second.")
    .knows([1.6, 2.6], "head B for both columns. Head A has shares of its own for the first.")
    .knows([1.6, 1.6], "the heads exchanged. Head A gives the first column, head B the second.")
]
BY_HAND["6.3"] = [
    _shape("x @ w_q", (32, 7, 1024), "32 sentences, 7 tokens, 16 * 64 columns")
    .step("sentences and tokens stay, and W^Q makes as many columns as all heads have")
    .knows((32, 7, 64), _ONE_HEAD),
    _shape("reshape", (32, 7, 16, 64), "the columns are cut into 16 heads of 1024 / 16 = 64")
    .step("the columns are cut into the heads, all else stays")
    .knows((32, 16, 7, 64), "the shape after swapaxes. reshape cuts the columns alone."),
    _shape("swapaxes", (32, 16, 7, 64), "tokens and heads change places").knows(
        (32, 7, 16, 64), "the shape before swapaxes. Heads come before tokens."
    ),
    _shape("weights", (32, 16, 7, 7), "in each head a row for each query, a column for each key").knows(
        (32, 16, 7, 64), "the shape of the queries. Weights have a column for each key."
    ),
    _shape("side by side", (32, 7, 1024), "16 heads of 64 columns are 1024 columns")
    .step("the columns of all heads beside each other")
    .knows((32, 7, 64), _ONE_HEAD),
    _shape("w_o", (1024, 1024), "16 * 64 rows, d columns")
    .step("as many rows as all heads have columns, d columns")
    .knows((64, 1024), "one head's rows of W^O. It has h * d_v rows."),
    _shape("output", (32, 7, 1024), "the shape of the input").knows((32, 7, 64), _ONE_HEAD),
]
BY_HAND["6.7"] = [_four_matrices(8, 64), _four_matrices(8, 32), _four_matrices(16, 64)]
