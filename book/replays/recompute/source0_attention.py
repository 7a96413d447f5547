"""Source 0, from the embedding to Z: sections 1 to 4, the start of 5.1, and the closing comparison."""

from __future__ import annotations

import functools
import math

import numpy as np

from replays.ledger import Claim, printed
from replays.recompute.common import D_FF, D_HEAD, D_MODEL, N_HEADS, N_LAYERS, TOY_D_FF, TOY_LAYERS, X
from replays.recompute.register import given, recomputes, right
from toytf.attention import attention, merge_heads, multi_head_attention
from toytf.corpus import Vocabulary
from toytf.example import EMBEDDING, PAPER, PUBLISHED, W_K, W_K2_TYPESET, W_O, W_Q, W_Q1_TYPESET, W_V
from toytf.ops import Array, embedding, softmax
from toytf.positions import BASE, sinusoids, sinusoids_column_as_i

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


@recomputes("s0-e-input", "s0-embedding-reprint")
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
