"""Source 2, the shape sheet."""

from __future__ import annotations

import numpy as np

from replays.ledger import Claim
from replays.recompute.common import (
    D_FF,
    D_HEAD,
    D_MODEL,
    N_HEADS,
    N_LAYERS,
    eight_heads,
    size,
    small_decoder_layer,
)
from replays.recompute.register import given, recomputes
from replays.recompute.source0_attention import z
from replays.recompute.source0_encoder import ones_and_zeros
from toytf.attention import attention, merge_heads, multi_head_attention, split_heads
from toytf.example import PUBLISHED
from toytf.model import Config, FeedForward, decoder_layer, feed_forward, forward, init
from toytf.ops import Linear, layer_norm, linear, relu, softmax


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


# -- layer norm


@recomputes("s2-sigma-formula")
def sigma_formula():
    row = (PUBLISHED.x + z())[0]
    with np.errstate(invalid="ignore"):
        as_printed = np.sqrt(row.sum() / row.size)  # the mean of this row is negative
    sigma = np.sqrt(((row - row.mean()) ** 2).sum() / row.size)
    found = f"sqrt(sum of (x - mu)^2 / d): {sigma:.4f} for row 1 of X + Z, and {as_printed} as printed"
    normalised = layer_norm(ones_and_zeros(row.size), row)[0]
    return Claim(bool(np.isclose(as_printed, sigma)), found, instead=np.allclose(normalised * sigma, row - row.mean()))


@recomputes("s2-ln-example")
def shape_through_layer_norm():
    p, x = eight_heads(tokens=3)
    attended, _ = multi_head_attention(p, x, n_heads=N_HEADS)
    normalised, _ = layer_norm(ones_and_zeros(D_MODEL), attended)
    if not x.shape == attended.shape == normalised.shape:
        raise ValueError(f"three shapes: {size(x)}, {size(attended)}, {size(normalised)}")
    return normalised.shape


# -- feed-forward


def drawn_without_bias(d_model: int, d_ff: int) -> FeedForward:
    rng = np.random.default_rng(0)
    w_0, w_1 = rng.standard_normal((d_model, d_ff)), rng.standard_normal((d_ff, d_model))
    return FeedForward(w_0, np.zeros(d_ff), w_1, np.zeros(d_model))


@recomputes("s2-ffn-shapes")
def feed_forward_shapes():
    p, x = drawn_without_bias(D_MODEL, D_FF), np.ones((3, D_MODEL))
    if feed_forward(p, x)[0].shape != x.shape:
        raise ValueError("the two matrices do not lead back to the width of the input")
    return p.w_1.shape, p.w_2.shape


@recomputes("s2-ffn-no-bias")
def feed_forward_without_bias():
    p, x = drawn_without_bias(4, 8), PUBLISHED.x
    return Claim(np.allclose(feed_forward(p, x)[0], relu(x @ p.w_1) @ p.w_2, rtol=1e-12), "right, biases left out")


# -- layers, decoder, output

given("s2-layer-options", value=(N_LAYERS, 2 * N_LAYERS))


@recomputes("s2-dec-shapes")
def decoder_shapes():
    cfg, p = small_decoder_layer()
    rng = np.random.default_rng(1)
    x, memory = rng.standard_normal((2, cfg.d_model)), rng.standard_normal((3, cfg.d_model))
    _, trace = decoder_layer(p, cfg, x, memory)
    shapes = {trace.self_attention.inner_out.shape, trace.cross_attention.inner_out.shape}
    return Claim(shapes == {(2, cfg.d_model)}, f"both {size(min(shapes))} for N1 = 2, N = 3, d_model = {cfg.d_model}")


@recomputes("s2-out-shape")
def output_shape():
    cfg = Config(src_vocab=5, tgt_vocab=10, d_model=8, n_heads=2, d_ff=16, n_encoder_layers=1, n_decoder_layers=1)
    p = softmax(forward(init(cfg, np.random.default_rng(0)), cfg, [1, 2, 3], [4, 5])[0])
    holds = p.shape == (2, cfg.tgt_vocab) and p.min() > 0 and p.max() < 1 and np.allclose(p.sum(axis=1), 1)
    return Claim(bool(holds), f"{size(p)} for N1 = 2 and d_voc = {cfg.tgt_vocab}; rows sum to 1")
