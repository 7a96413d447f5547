"""The functions that compute again what was printed, in the order of the sources.

One function for each quantity. It starts from the arrays of `toytf.example`, never from a result
that a source printed, and returns the number or array, or a `Claim` about a statement.

``@recomputes``
    The value, computed from the arrays of the running example. A value that is not printed is taken
    on to one that is, by the function named `via`.
``@right``
    The right value, where what follows from the source's own words is not right.
``given``
    An input or a setting: nothing computes it.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np

from toytf._validate import shape_text
from toytf.attention import MultiHead, attention, merge_heads, multi_head_attention, split_heads
from toytf.corpus import Vocabulary
from toytf.example import EMBEDDING, PAPER, PUBLISHED, W_K, W_K2_TYPESET, W_O, W_Q, W_Q1_TYPESET, W_V
from toytf.ops import Array, Linear, embedding, linear, softmax
from toytf.positions import BASE, sinusoids, sinusoids_column_as_i, sinusoids_halves
from toytf.published.ledger import ENTRIES, ERRATA, REACHED, Claim, Ledger, Recomputation, lookup, printed

# ---------------------------------------------------------------- the register

_FUNCTIONS: dict[str, Recomputation] = {}
_RIGHTS: dict[str, Callable] = {}


def recomputes(*ids: str, via: Callable | None = None) -> Callable:
    """Register a function as the one that computes these entries again."""

    def register(function: Callable) -> Callable:
        _add(_FUNCTIONS, ids, Recomputation(function, via=via))
        return function

    return register


def right(*ids: str) -> Callable:
    """Register the right value of entries whose own arithmetic does not lead to it."""

    def register(function: Callable) -> Callable:
        _add(_RIGHTS, ids, function)
        return function

    return register


def given(*ids: str, value) -> None:
    """Register a definition or a setting: nothing computes it, the course starts from it."""
    _add(_FUNCTIONS, ids, Recomputation(lambda: value, given=True))


def _add(register: dict, ids: tuple[str, ...], item) -> None:
    for name in ids:
        lookup(name, ENTRIES)
        if name in register:
            raise KeyError(f"{name}: expected one function, got a second one")
        register[name] = item


# ---------------------------------------------------------------- settings
#
# The paper's base model: its sections 3.1 to 3.3 and table 3.

D_MODEL, D_FF, N_HEADS, N_LAYERS, YEAR = 512, 2048, 8, 6, 2017
D_HEAD = D_MODEL // N_HEADS
TOY_D_FF, TOY_LAYERS = 8, 6  # the example's two sizes that no array of chapters 1 to 6 shows

X = PUBLISHED.x  # the encoder's input as published, token x d_model


def size(array) -> str:
    """The shape of an array, or a shape, as a page writes it: ``3 × 64``."""
    return shape_text(getattr(array, "shape", array)).replace("x", "×")


# ---------------------------------------------------------------- source 0
#
# -- 1: embedding

given("s0-d-model-paper", "s2-d", value=D_MODEL)


@recomputes("s0-d-model-toy")
def d_model_toy():
    return EMBEDDING.shape[1]


given("s0-emb-hello", value=EMBEDDING[0])
given("s0-emb-world", value=EMBEDDING[1])


@recomputes("s0-e-raw")
def looked_up():
    words = Vocabulary(PUBLISHED.tokens)
    return embedding(EMBEDDING, words.ids(["Hello", "World"]))  # E[t] = table[id of token t]


# -- 2 and 3: positions


@recomputes("s0-pe-formula", "s4-pe-formula")
def pe_formula():
    """Both formulas, typed out number by number, give `sinusoids`."""
    length, d = 6, 8
    pe = np.empty((length, d))
    for pos in range(length):
        for i in range(d // 2):
            pe[pos, 2 * i] = math.sin(pos / 10000 ** (2 * i / d))
            pe[pos, 2 * i + 1] = math.cos(pos / 10000 ** (2 * i / d))
    return Claim(np.allclose(pe, sinusoids(length, d), rtol=0, atol=1e-14), "right, with i counting pairs of columns")


def pe_own(pos, column):
    """PE in the source's own arithmetic, which takes the column number for i."""
    return sinusoids_column_as_i(2, 4)[pos, column]


for _pos, _column in np.ndindex(2, 4):
    recomputes(f"s0-pe-{_pos}-{_column}")(functools.partial(pe_own, _pos, _column))


@right("s0-pe-1-1")
def pe_world_column_1():
    return PAPER.positions[1, 1]


@recomputes("s0-pe-1-1-arg")
def pe_angle_column_1():
    return 1 / BASE ** (2 * 1 / 4)


@recomputes("s0-pe-1-2-exp")
def pe_exponent_column_2():
    return 2 * 2 / 4


@recomputes("s0-pe-1-3-exp")
def pe_exponent_column_3():
    return 2 * 3 / 4


@recomputes("s0-pe-hello")
def pe_hello():
    return sinusoids_column_as_i(2, 4)[0]


@recomputes("s0-pe-world")
def pe_world():
    return sinusoids_column_as_i(2, 4)[1]


@recomputes("s0-pe-world-vs-paper")
@right("s0-pe-world")
def pe_world_in_the_paper():
    return sinusoids(2, 4)[1]


@recomputes("s0-e-hello-sum")
def x_hello():
    return EMBEDDING[0] + PUBLISHED.positions[0]


@recomputes("s0-e-world-sum")
def x_world():
    return EMBEDDING[1] + PUBLISHED.positions[1]


@recomputes("s0-e-input")
def x_both():
    return EMBEDDING + PUBLISHED.positions  # X = E + PE


# -- 4.1: weights


@recomputes("s0-n-heads-toy")
def n_heads_toy():
    return len(W_Q)


@recomputes("s0-w-shape")
def w_shape():
    return W_K[0].shape


def _weights(name: str, weights: Array) -> None:
    """The matrix of the code is an input; the typeset one must be the same, for all later numbers follow from it."""
    given(f"s0-{name}-code", value=weights)
    recomputes(f"s0-{name}-math")(lambda: weights)


_weights("wk1", W_K[0])
_weights("wv1", W_V[0])
_weights("wq1", W_Q[0])
_weights("wk2", W_K[1])
_weights("wv2", W_V[1])
_weights("wq2", W_Q[1])


# -- 4.2: keys, values, queries


@recomputes("s0-k1", "s0-k1-hand")
@right("s0-k1-hand-expansion")
def k1():
    return X @ W_K[0]  # K₁ = X W_K₁


@recomputes("s0-k1-hand-expansion")
def k1_as_typed():
    typed = X.copy()
    typed[1, 1] = 4.0  # columns 2 and 3 of row 2 write a 4 for World's second number
    return np.vstack([k1()[0], [k1()[1, 0], *(typed @ W_K[0])[1, 1:]]])


@recomputes("s0-v1")
def v1():
    return X @ W_V[0]


@recomputes("s0-q1")
@right("s0-q1-with-math-wq1")
def q1():
    return X @ W_Q[0]


@recomputes("s0-q1-with-math-wq1")
def q1_typeset():
    return X @ W_Q1_TYPESET


def head2(q, k, v):
    """The output of head 2, with the divisor that its printed digits come from."""
    return softmax(q @ k.T / 30) @ v


@recomputes("s0-k2", via=lambda k: head2(q2(), k, v2()))
def k2():
    return X @ W_K[1]


@recomputes("s0-v2", via=lambda v: head2(q2(), k2(), v))
def v2():
    return X @ W_V[1]


@recomputes("s0-q2", via=lambda q: head2(q, k2(), v2()))
def q2():
    return X @ W_Q[1]


# -- 4.3.1 to 4.3.3: scores, scaling, softmax


@recomputes("s0-q1-dot-k1")
def score_hello_hello():
    return q1()[0] @ k1()[0]


@recomputes("s0-scores1", "s0-scores1-hand")
def scores1():
    return q1() @ k1().T  # S = Q Kᵀ


@recomputes("s0-dk-toy")
def d_head_toy():
    return k1().shape[1]


given("s0-dk-paper", value=D_HEAD)


@recomputes("s0-scores1-scaled")
def scores1_scaled():
    return scores1() / np.sqrt(3)


@recomputes("s0-softmax-123")
def softmax_123():
    return softmax([1.0, 2.0, 3.0])


@recomputes("s0-softmax1")
def weights1():
    return softmax(scores1() / np.sqrt(3))


# -- 4.3.4: weighted values


@recomputes("s0-attention1-sat")
def attention1():
    return weights1() @ v1()


@recomputes("s0-attention1-fn")
def attention1_by_the_function():
    return attention(q1(), k1(), v1())[0]


@recomputes("s0-attention2-sat")
def attention2():
    return attention(q2(), k2(), v2())[0]


@recomputes("s0-softmax2")
@right("s0-softmax2-with-math-wk2")
def weights2():
    return softmax(q2() @ k2().T / np.sqrt(3))


@recomputes("s0-softmax2-with-math-wk2")
def weights2_typeset():
    return softmax(q2() @ (X @ W_K2_TYPESET).T / np.sqrt(3))


@recomputes("s0-scale-30")
def divisor():
    # The printed output is w·v₁ + (1 - w)·v₂ with w = 1 / (1 + e^(gap / divisor)): solved for the divisor.
    out, (v_hello, v_world) = printed("s0-attention1-div30")[0, 0], v1()[:, 0]
    w = (v_world - out) / (v_world - v_hello)
    gap = scores1()[0, 1] - scores1()[0, 0]
    return gap / np.log((1 - w) / w)


@recomputes("s0-weights1-div30", via=lambda weights: weights @ v1())
def weights1_div30():
    return softmax(scores1() / 30)


@recomputes("s0-weights2-div30", via=lambda weights: weights @ v2())
def weights2_div30():
    return softmax(q2() @ k2().T / 30)


@recomputes("s0-attention1-div30")
def attention1_div30():
    return weights1_div30() @ v1()


@recomputes("s0-attention2-div30")
def attention2_div30():
    return weights2_div30() @ v2()


# -- 4.3.5 and the start of 5.1: both heads, Z


@recomputes("s0-attentions-concat")
def both_heads():
    return np.concatenate([attention1_div30(), attention2_div30()], axis=1)


given("s0-w", value=W_O)


@recomputes("s0-z", "s0-z-math")
def z():
    return multi_head_attention(PUBLISHED.heads, X, n_heads=2, scale=1 / 30)[0]


# -- the conclusion, and what is said earlier about sizes: paper, example

given("s0-n-encoders-paper", value=N_LAYERS)
given("s0-paper-embedding-dim", value=(D_MODEL, EMBEDDING.shape[1]))
given("s0-paper-encoder-count", "s0-paper-decoder-count", value=(N_LAYERS, TOY_LAYERS))
given("s0-paper-feed-forward-dim", value=(D_FF, TOY_D_FF))
given("s0-paper-attention-n", value=(N_HEADS, len(W_Q)))
given("s0-paper-attention-dim", value=(D_HEAD, W_K[0].shape[1]))


@recomputes("s0-heads-times-dk")
def heads_times_d_head():
    heads = np.zeros((N_HEADS, 1, D_HEAD))  # head x token x d_head
    return merge_heads(heads).shape[-1]


# ---------------------------------------------------------------- source 1
#
# -- overview, input

given("s1-year", value=YEAR)
given("s1-wmt", value="WMT 2014 English-German, WMT 2014 English-French")
given("s1-n-layers", value=(N_LAYERS, N_LAYERS))
given("s1-encoder-sublayers", value=2)  # self-attention and feed-forward
given("s1-common-emb", value=(256, D_MODEL))  # both stand in the paper's table 3


@recomputes("s1-toy-emb")
def vectors_in_the_pictures():
    words = Vocabulary(["je", "suis", "étudiant"])
    rows = embedding(np.zeros((len(words), EMBEDDING.shape[1])), words.ids(list(words)))
    return rows.shape[::-1]


# -- self-attention


@recomputes("s1-layer-five")
def last_layer():
    return max(range(1, N_LAYERS + 1))  # counted from 1; counted from 0 the last is number 5


given("s1-dkey", value=(D_HEAD, D_MODEL))


def attention_steps():
    """What the steps of attention give, one after the other; the last is what `attention` returns."""
    q, k, v = q1(), k1(), v1()
    scores = q @ k.T  # every query with every key
    scaled = scores / np.sqrt(k.shape[-1])
    weights = softmax(scaled)
    weighted = weights[:, :, None] * v  # query x key x d_head: every value, times its weight
    out = weighted.sum(axis=1)
    if not np.allclose(out, attention(q, k, v)[0], rtol=1e-12):
        raise ArithmeticError("the steps do not lead to what attention gives")
    return (q, k, v), scores, scaled, weights, weighted, out


@recomputes("s1-steps")
def six_steps():
    return len(attention_steps())


@recomputes("s1-scale")
def scale_64():
    q = np.ones((1, D_HEAD))
    divisor = 1 / attention(q, q, q)[1].scale
    return Claim(divisor == 8.0, f"√{D_HEAD} = {divisor:.0f}")


@recomputes("s1-row-lengths")
def row_lengths():
    x, w = np.zeros((1, D_MODEL)), np.zeros((D_MODEL, D_HEAD))
    return x.shape[1], linear(Linear(w), x).shape[1]


# -- many heads

given("s1-heads", value=N_HEADS)


def eight_heads(tokens: int = 3) -> tuple[MultiHead, Array]:
    """The paper's eight heads with drawn weights, and an input of some tokens."""
    rng = np.random.default_rng(0)
    w_q, w_k, w_v = rng.standard_normal((3, N_HEADS, D_MODEL, D_HEAD)) / np.sqrt(D_MODEL)
    p = MultiHead.from_heads(w_q, w_k, w_v, rng.standard_normal((N_HEADS * D_HEAD, D_MODEL)))
    return p, rng.standard_normal((tokens, D_MODEL))


@recomputes("s1-concat-shape")
def concat_shape():
    p, x = eight_heads()
    out, trace = multi_head_attention(p, x, n_heads=N_HEADS)
    return Claim(out.shape == x.shape, f"{size(trace.heads)} times {size(p.w_o)} is {size(out)}")


@recomputes("s1-head-dim")
def head_of_512():
    return split_heads(np.zeros((1, D_MODEL)), N_HEADS).shape[-1]


@recomputes("s1-300-6")
def head_of_300():
    return split_heads(np.zeros((1, 300)), 6).shape[-1]


@functools.cache
def manual_shapes() -> dict[str, tuple[int, ...]]:
    """The shapes on the way through one call: 64 sentences, 12 queries, 10 keys, 6 heads, width 300."""
    batch, n_query, n_key, width, heads = 64, 12, 10, 300, 6
    w = Linear(np.zeros((width, width)))
    shapes, parts = {}, {}
    for name, length in (("q", n_query), ("k", n_key), ("v", n_key)):
        rows = linear(w, np.zeros((batch, length, width)))
        parts[name] = split_heads(rows, heads)
        shapes[f"{name}-lin"] = rows.shape
        shapes[f"{name}-view"] = rows.reshape(*rows.shape[:-1], heads, -1).shape
        shapes[f"{name}-heads"] = parts[name].shape
    context, trace = attention(parts["q"], parts["k"], parts["v"])
    merged = merge_heads(context)
    shapes["k-transposed"] = np.swapaxes(parts["k"], -1, -2).shape
    shapes["attention"] = trace.attn_weights.shape
    shapes["context"] = context.shape
    shapes["context-permuted"] = np.swapaxes(context, -2, -3).shape
    shapes["concat"] = merged.shape
    shapes["output"] = linear(w, merged).shape
    return shapes


def manual_shape(name):
    return manual_shapes()[name]


for _name in (
    *("k-lin", "v-lin", "q-lin", "k-view", "v-view", "q-view", "k-heads", "v-heads", "q-heads"),
    *("k-transposed", "attention", "context", "context-permuted", "concat", "output"),
):
    recomputes(f"s1-shape-{_name}")(functools.partial(manual_shape, _name))


@recomputes("s1-final-shape")
def merged_shape():
    return merge_heads(np.zeros(manual_shape("context"))).shape


# -- positions


@recomputes("s1-pe-toy-dim")
def pe_width_toy():
    return PAPER.positions.shape[1]


def heat_map():
    return sinusoids_halves(20, D_MODEL)


@recomputes("s1-pe-figure-shape")
def heat_map_shape():
    return heat_map().shape


@recomputes("s1-pe-range")
def heat_map_range():
    return heat_map().min(), heat_map().max()


@recomputes("s1-pe-halves")
def heat_map_halves():
    left, right_half = np.split(heat_map(), 2, axis=1)
    waves = np.arange(20)[:, None] / 10000 ** (np.arange(256) / 255)
    holds = np.allclose(left, np.sin(waves), atol=1e-12) and np.allclose(right_half, np.cos(waves), atol=1e-12)
    return Claim(holds, "left sine, right cosine; row 0 is all 0 left, all 1 right")


@recomputes("s1-pe-t2t-vs-paper")
def heat_map_and_paper():
    paper = sinusoids(20, D_MODEL)
    reordered = np.concatenate([paper[:, 0::2], paper[:, 1::2]], axis=1)
    gap = np.abs(reordered - heat_map()).max()
    return Claim(gap < 1e-12, f"the frequencies differ too: entries by up to {gap:.4f}")


# ---------------------------------------------------------------- source 2


@recomputes("s2-qkv-shapes")
def qkv_shapes():
    n, d, d_k, d_v = 3, D_MODEL, D_HEAD, D_HEAD
    x = np.zeros((n, d))
    q, k, v = (linear(Linear(np.zeros((d, width))), x) for width in (d_k, d_k, d_v))
    holds = q.shape == k.shape == (n, d_k) and v.shape == (n, d_v)
    return Claim(holds, ", ".join(size(a) for a in (q, k, v)))


@recomputes("s2-qkt-shape")
def scores_shape():
    p, x = eight_heads(tokens=3)
    scores = (x @ p.w_q[:, :D_HEAD]) @ (x @ p.w_k[:, :D_HEAD]).T
    sums = softmax(scores).sum(axis=1)  # row by row: the weights of one query
    return Claim(scores.shape == (3, 3) and np.allclose(sums, 1.0), f"{size(scores)}, rows sum to 1")


@recomputes("s2-attn-out-shape")
def attention_shape():
    q, v = np.ones((3, 64)), np.ones((3, 32))  # d_v need not be d_k
    out = attention(q, q, v)[0]
    return Claim(out.shape == (3, 32), f"{size(out)} for N = 3 and d_v = 32")


@recomputes("s2-heads")
def sizes_of_many_heads():
    return N_HEADS, D_MODEL, D_HEAD


@recomputes("s2-wo-shape")
def w_o_shape():
    p, _ = eight_heads()
    return Claim(p.w_o.shape == (N_HEADS * D_HEAD, D_MODEL), size(p.w_o))


@recomputes("s2-split-then-project")
def split_then_project():
    p, x = eight_heads()
    w_i = p.w_q[:, :D_HEAD]  # the query weights of one head, d_model x d_k
    part = split_heads(x, N_HEADS)[0]
    try:
        linear(Linear(w_i), part)
    except ValueError:
        project_first = np.allclose(split_heads(x @ p.w_q, N_HEADS)[0], x @ w_i)
        found = f"the other order: a part, {size(part)}, does not fit the weights, {size(w_i)}"
        return Claim(False, found, instead=project_first)
    return Claim(True, f"{size(part)} fits {size(w_i)}")


@recomputes("s2-concat-axis")
def concat_axis():
    heads = np.arange(N_HEADS * 3 * 64.0).reshape(N_HEADS, 3, 64)
    columns, rows = np.concatenate(heads, axis=1), np.concatenate(heads, axis=0)
    holds = columns.shape == (3, 8 * 64) and np.array_equal(columns, merge_heads(heads))
    return Claim(holds, f"{size(columns)} along the columns ({size(rows)} along the rows)")


@recomputes("s2-mha-out")
def multi_head_shape():
    p, x = eight_heads(tokens=3)
    out, _ = multi_head_attention(p, x, n_heads=N_HEADS)
    return Claim(out.shape == (3, D_MODEL), size(out))


# ---------------------------------------------------------------- source 3

given("s3-year-layers", value=(YEAR, N_LAYERS, N_LAYERS))


@recomputes("s3-variance")
def variance_of_a_score():
    d, draws = 64, 20_000
    q, k = np.random.default_rng(0).standard_normal((2, draws, d))
    scores = (q * k).sum(axis=1)
    scaled = scores / np.sqrt(d)
    # Bounds of about five standard errors of the mean and of the variance.
    holds = abs(scaled.mean()) < 0.036 and abs(scores.var() / d - 1) < 0.052 and abs(scaled.var() - 1) < 0.052
    return Claim(holds, f"d = {d}: mean {scores.mean():.2f}, variance {scores.var():.1f}, then {scaled.var():.2f}")


@recomputes("s3-softmax-formula")
def softmax_formula():
    z = np.random.default_rng(0).standard_normal((4, 5))
    typed = [[math.exp(a) / sum(math.exp(b) for b in row) for a in row] for row in z]
    return Claim(np.allclose(typed, softmax(z), rtol=1e-12), "right")


@recomputes("s3-code-shapes")
def shapes_in_the_comments():
    n, step, d_model, h = 2, 5, 32, 4
    p = MultiHead(*(np.zeros((d_model, d_model)) for _ in range(4)))
    out, trace = multi_head_attention(p, np.ones((n, step, d_model)), n_heads=h)
    d_head = d_model // h
    found = (trace.heads.shape, trace.attention.q.shape, trace.attention.scaled_scores.shape, out.shape)
    holds = found == ((n, step, h * d_head), (n, h, step, d_head), (n, h, step, step), (n, step, d_model))
    return Claim(holds, ", ".join(map(size, found)))


@recomputes("s3-input-shape")
def several_sentences():
    n, length, d = 2, 3, 4
    rows = embedding(np.arange(5.0 * d).reshape(5, d), [[0, 1, 2], [3, 4, 0]])
    x = rows + sinusoids(length, d)
    same = np.array_equal(x[1], rows[1] + sinusoids(length, d))  # every sentence gets the same positions
    return Claim(x.shape == (n, length, d) and same, f"{size(x)} for 2 sentences of 3 tokens")


# ---------------------------------------------------------------- source 4


@recomputes("s4-softmax")
def which_scores():
    scores = scores1()[0]
    scaled, unscaled = softmax(scores / np.sqrt(3)), softmax(scores)
    found = f"scaled scores; Hello's weight is {scaled[0]:.1e}, unscaled {unscaled[0]:.1e}"
    weights = attention(q1(), k1(), v1())[1].attn_weights[0]
    holds, instead = (np.allclose(x, weights, rtol=1e-6, atol=0) for x in (unscaled, scaled))
    return Claim(holds, found, instead)


@recomputes("s4-scale")
def scale_of_any_width():
    widths = (1, 3, 64)
    scales = [attention(x, x, x)[1].scale for x in (np.ones((1, d)) for d in widths)]
    holds = np.allclose(scales, [1 / math.sqrt(d) for d in widths], rtol=1e-15)
    return Claim(holds, f"{scales[1]:.4f} for d_k = 3, {scales[2]:.4f} for 64")


@recomputes("s4-steps")
def five_steps():
    return len(attention_steps()) - 1  # weighting and adding are one step here


@recomputes("s4-pe-unique")
def unique_positions():
    pe = sinusoids(20, D_MODEL)
    values, vectors = np.unique(pe).size, np.unique(pe, axis=0).shape[0]
    first = " and ".join(f"{x:.0f}" for x in np.unique(pe[0]))
    found = f"{vectors} of 20 rows are unique; row 0 holds only {first}"
    return Claim(values == pe.size, found, instead=vectors == 20)


# ---------------------------------------------------------------- all of it

LEDGER = Ledger(ENTRIES, ERRATA, _FUNCTIONS, _RIGHTS, REACHED)


def value(name: str):
    """What an entry gives when it is computed again.

    Returns
    -------
    Array, float, Claim or str
        A `Claim` for a statement.

    Raises
    ------
    KeyError
        If there is no such entry.
    ValueError
        If the course has not reached it.

    Examples
    --------
    >>> value("s0-q1-dot-k1")
    68.0
    """
    result = LEDGER.result(name)
    found = result.computed
    if found is None:
        late = f"expected an entry of a finished chapter, got one of chapter {result.entry.chapter}"
        raise ValueError(f"{name}: {result.failure or late}")
    if not isinstance(found, np.ndarray):
        return found
    return found.copy() if found.ndim else float(found)
