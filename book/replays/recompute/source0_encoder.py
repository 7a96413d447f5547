"""Source 0, the rest of the encoder: sections 5.1 to 5.3.

Its random arrays were drawn without a seed. They cannot come out again, but what must hold for any
draw can: the stacks are drawn here a thousand times, and the printed arrays must look like one of them.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from replays.ledger import Claim, printed
from replays.recompute.common import D_FF, D_MODEL, TOY_D_FF, TOY_LAYERS, X, size
from replays.recompute.register import given, recomputes
from replays.recompute.source0_attention import z
from toytf.attention import attention, merge_heads
from toytf.example import EMBEDDING, W_K, W_Q
from toytf.model import Config, FeedForward, encoder_layer, feed_forward, init
from toytf.ops import Array, LayerNorm, layer_norm, layer_norm_eps_outside, relu, softmax_naive

DRAWS = 1000

# -- 5.1: feed-forward


def drawn_feed_forward(rng: np.random.Generator, leading: tuple[int, ...] = ()) -> FeedForward:
    """Weights as the source draws them: every entry standard normal."""
    d, d_ff = X.shape[1], TOY_D_FF
    shapes = (d, d_ff), (1, d_ff), (d_ff, d), (1, d)
    w_1, b_1, w_2, b_2 = (rng.standard_normal((*leading, *shape)) for shape in shapes)
    return FeedForward(w_1, b_1, w_2, b_2) if leading else FeedForward(w_1, b_1[0], w_2, b_2[0])


def written_out(p: FeedForward, x: Array) -> Array:
    """The formula as it is printed."""
    return np.maximum(x @ p.w_1 + p.b_1, 0) @ p.w_2 + p.b_2  # ReLU(x W₁ + b₁) W₂ + b₂


given("s0-ffn-dims-paper", value=(D_MODEL, D_FF))


@recomputes("s0-ffn-dims-toy")
def feed_forward_widths():
    out, trace = feed_forward(drawn_feed_forward(np.random.default_rng(0)), z())
    return trace.x.shape[1], trace.hidden.shape[1], out.shape[1]


@recomputes("s0-relu")
def relu_in_two_cases():
    numbers = np.linspace(-3, 3, 13)  # 0 is one of them
    return Claim(np.array_equal(relu(numbers), [v if v >= 0 else 0 for v in numbers]), "right")


@recomputes("s0-ffn-formula")
def feed_forward_formula():
    p = drawn_feed_forward(np.random.default_rng(0))
    return Claim(np.allclose(feed_forward(p, z())[0], written_out(p, z()), rtol=1e-12), "right")


def is_usual(number: float, draws) -> bool:
    """Whether a number lies where 99 of 100 draws do; False for NaN."""
    low, high = np.quantile(draws, [0.005, 0.995])
    return bool(low <= number <= high)


def largest(rows: Array) -> Array:
    """The largest absolute value in each 2 × 4 array."""
    return np.abs(rows).max(axis=(-2, -1))


def apart(rows: Array) -> Array:
    """How far both rows of each array are apart, as a part of its largest number."""
    gap = np.abs(rows[..., 0, :] - rows[..., 1, :]).max(axis=-1)
    with np.errstate(invalid="ignore"):  # two rows of zeros: 0 / 0, which is like no draw
        return gap / largest(rows)


def is_close(rows: Array, draws: Array) -> bool:
    """Whether two rows are as close to each other as in nearly every draw; False for NaN."""
    return bool(apart(rows) <= np.quantile(apart(draws), 0.995))


def like_a_draw(rows: Array, draws: Array) -> Claim:
    """Whether an array of two rows looks like one of the draws, by its shape, its size and its two rows."""
    holds = rows.shape == draws.shape[1:] and is_usual(largest(rows), largest(draws)) and is_close(rows, draws)
    part, usual = 100 * apart(rows), 100 * np.median(apart(draws))
    return Claim(holds, f"{size(rows)}, rows {part:.1f} % apart (a draw: about {usual:.1f} %)")


@recomputes("s0-ffn-output")
def feed_forward_of_z():
    p = drawn_feed_forward(np.random.default_rng(0), leading=(DRAWS,))
    return like_a_draw(printed("s0-ffn-output"), written_out(p, z()))


# -- 5.2: random blocks

given("s0-enc-const", "s0-dec-const", value=(EMBEDDING.shape[1], W_K[0].shape[1], TOY_D_FF, len(W_Q)))


def attention_naive(q: Array, k: Array, v: Array) -> Array:
    """Attention with the softmax of the source, from whose scores nothing is subtracted."""
    return softmax_naive(q @ np.swapaxes(k, -1, -2) / math.sqrt(k.shape[-1])) @ v


def attention_stable(q: Array, k: Array, v: Array) -> Array:
    return attention(q, k, v)[0]


def sublayer_alone(x: Array, sublayer: Array) -> Array:
    return sublayer


def add_and_norm(x: Array, sublayer: Array) -> Array:
    return layer_norm_eps_outside(x + sublayer)


def drawn_block(rng: np.random.Generator, x: Array, attend, join) -> Array:
    """A block with weights of its own for each array in `x`, draw x token x d_model."""
    n, d = len(x), x.shape[-1]
    d_head, n_heads = W_K[0].shape[1], len(W_K)
    q, k, v = (x[:, None] @ rng.standard_normal((n, n_heads, d, d_head)) for _ in range(3))
    y = join(x, merge_heads(attend(q, k, v)) @ rng.standard_normal((n, n_heads * d_head, d)))
    return join(y, written_out(drawn_feed_forward(rng, leading=(n,)), y))


@functools.cache
def drawn_stacks(attend, join) -> list[Array]:
    """What each of six blocks gives, for a thousand stacks; with NaN where they overflow."""
    rng = np.random.default_rng(0)
    rows, outputs = np.broadcast_to(X, (DRAWS, *X.shape)), []
    with np.errstate(all="ignore"):
        for _ in range(TOY_LAYERS):
            rows = drawn_block(rng, rows, attend, join)
            outputs.append(rows)
    return outputs


@recomputes("s0-random-encoder-block")
def one_random_block():
    return like_a_draw(printed("s0-random-encoder-block"), drawn_stacks(attention_naive, sublayer_alone)[0])


@recomputes("s0-encoder-nan")
def six_random_blocks():
    naive, stable = (
        int(np.isnan(drawn_stacks(attend, sublayer_alone)[-1]).any(axis=(1, 2)).sum())
        for attend in (attention_naive, attention_stable)
    )
    rows = printed("s0-encoder-nan")
    holds = rows.shape == X.shape and np.isnan(rows).all() and (naive, stable) == (DRAWS, 0)
    return Claim(bool(holds), f"NaN in {naive} of {DRAWS} drawn stacks, {stable} with a stable softmax")


# -- 5.3: residual and layer norm


def ones_and_zeros(d: int) -> LayerNorm:
    """A layer norm that neither scales nor shifts."""
    return LayerNorm(np.ones(d), np.zeros(d))


@recomputes("s0-layernorm-formula")
def layer_norm_formula():
    rng = np.random.default_rng(0)
    p, x, eps = LayerNorm(*rng.standard_normal((2, 4))), X + z(), 1e-5
    mu, variance = x.mean(axis=-1, keepdims=True), x.var(axis=-1, keepdims=True)
    typed = p.gamma * (x - mu) / np.sqrt(variance + eps) + p.beta
    return Claim(np.allclose(typed, layer_norm(p, x, eps)[0], rtol=1e-12), "right")


@recomputes("s0-encoder-formula")
def encoder_formula():
    cfg = Config(src_vocab=2, tgt_vocab=2, d_model=4, n_heads=2, d_head=3, d_ff=TOY_D_FF)
    p = init(cfg, np.random.default_rng(0)).encoder[0]
    out, trace = encoder_layer(p, cfg, X)
    y = trace.self_attention.out  # Z(x) of the formula: LayerNorm(x + Attention(x))

    def last_half(fed):
        return layer_norm(p.norm_2, y + feed_forward(p.feed_forward, fed)[0], cfg.eps)[0]

    as_printed, once = (np.abs(last_half(fed) - out).max() for fed in (y + X, y))
    found = f"LayerNorm(Z(x) + FFN(Z(x))); with x twice, drawn weights: off by up to {as_printed:.1f}"
    return Claim(as_printed < 1e-12, found, instead=once < 1e-12)


# -- 5.3.1: the sum, mean and deviation by hand, from the typeset Z


@recomputes("s0-e-plus-attention")
def sum_by_hand():
    return X + printed("s0-z-math")


@recomputes("s0-mu1-hand", "s0-mu1-hand-9dp")
def mean_1():
    return sum_by_hand()[0].mean()


@recomputes("s0-ss1")
def squares_1():
    return ((sum_by_hand()[0] - mean_1()) ** 2).sum()


@recomputes("s0-var1")
def variance_1():
    return squares_1() / X.shape[1]


@recomputes("s0-sigma1")
def deviation_1():
    return math.sqrt(variance_1())


@recomputes("s0-mu2-hand")
def mean_2():
    return sum_by_hand()[1].mean()


@recomputes("s0-sigma2-hand")
def deviation_2():
    return sum_by_hand()[1].std()


# -- 5.3.1: both by NumPy, from its own Z


@recomputes("s0-mean-np")
def means():
    return (X + z()).mean(axis=-1, keepdims=True)


@recomputes("s0-std-np")
def deviations():
    return (X + z()).std(axis=-1, keepdims=True)


# -- 5.3.2: layer norm

EPS_TEXT = 1e-5
given("s0-eps-text", value=EPS_TEXT)
given("s0-eps-code", value=1e-6)


def centred_1(column):
    return sum_by_hand()[0, column] - mean_1()


def normalised_1(column):
    return centred_1(column) / math.sqrt(variance_1() + EPS_TEXT)


for _column in range(4):
    recomputes(f"s0-norm-{_column + 1}-numerator")(functools.partial(centred_1, _column))
    recomputes(f"s0-norm-{_column + 1}")(functools.partial(normalised_1, _column))


@recomputes("s0-layer-norm")
def layer_norm_by_the_code():
    return layer_norm_eps_outside(z() + X)


def is_normalised(rows: Array) -> bool:
    """Whether each row, printed with eight decimals, has mean 0 and a deviation a hair below 1."""
    return bool((np.abs(rows.mean(axis=-1)) <= 1e-8).all() and (np.abs(1 - rows.std(axis=-1)) < 1e-5).all())


def two_alike(rows: Array) -> Claim:
    """Whether an array looks like the output of six drawn blocks with residual and layer norm."""
    draws = drawn_stacks(attention_naive, add_and_norm)[-1]
    gap = np.abs(rows[0] - rows[1]).max()
    holds = rows.shape == X.shape and is_normalised(rows) and is_close(rows, draws)
    return Claim(holds, f"mean 0, deviation 1 in each row, and the rows differ by {gap:.0e}")


@recomputes("s0-encoder6-norm")
def six_blocks_with_norm():
    return two_alike(printed("s0-encoder6-norm"))
