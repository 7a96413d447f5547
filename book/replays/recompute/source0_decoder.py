"""Source 0, the decoder: one token, drawn weights, and an encoder output that is given."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np

from replays.ledger import Claim, printed
from replays.recompute.common import size
from replays.recompute.register import given, recomputes
from replays.recompute.source0_attention import pe_own
from replays.recompute.source0_encoder import (
    DRAWS,
    attention_stable,
    drawn_feed_forward,
    is_normalised,
    is_usual,
    largest,
    written_out,
)
from toytf.attention import MultiHead, merge_heads, multi_head_attention
from toytf.example import PUBLISHED, W_K
from toytf.model import DecoderLayer
from toytf.ops import Array, layer_norm_eps_outside

SOS = np.array([1.0, 0.0, 0.0, 0.0])  # the embedding of the start token
MEMORY = np.array([[-1.5, 1.0, -0.8, 1.5], [1.0, -1.0, -0.5, 1.0]])  # the encoder's output, as the source assumes it

# -- structure, start token


@recomputes("s0-decoder-sublayers")
def parts_of_a_decoder_layer():
    return len(dataclasses.fields(DecoderLayer))


given("s0-sos-emb", value=SOS)
for _column in range(4):
    recomputes(f"s0-dec-pe-0-{_column}")(functools.partial(pe_own, 0, _column))


def start_row() -> Array:
    """The decoder's input, target token x d_model."""
    return SOS[None] + PUBLISHED.positions[:1]


@recomputes("s0-sos-e")
def start_token():
    return start_row()[0]


# -- self-attention


def drawn_heads(rng: np.random.Generator) -> MultiHead:
    """Two heads of width 3 as the source draws them: every entry standard normal."""
    d_model, d_head = W_K[0].shape
    w_q, w_k, w_v = rng.standard_normal((3, len(W_K), d_model, d_head))
    return MultiHead.from_heads(w_q, w_k, w_v, rng.standard_normal((len(W_K) * d_head, d_model)))


def drawn_attention(x: Array, memory: Array) -> Array:
    """The output of multi-head attention for a thousand draws of all weights, draw x query x d_model."""
    rng, (d_model, d_head) = np.random.default_rng(0), W_K[0].shape
    w_q, w_k, w_v = rng.standard_normal((3, DRAWS, len(W_K), d_model, d_head))
    heads = merge_heads(attention_stable(x @ w_q, memory @ w_k, memory @ w_v))
    return heads @ rng.standard_normal((DRAWS, len(W_K) * d_head, d_model))


@recomputes("s0-dec-self-attention")
def self_attention_of_one_token():
    rows, x = printed("s0-dec-self-attention"), start_row()
    first, second = (drawn_heads(np.random.default_rng(seed)) for seed in (1, 2))
    second = dataclasses.replace(second, w_v=first.w_v, w_o=first.w_o)  # other queries and keys, the same values
    outs = [multi_head_attention(p, x, n_heads=2)[0] for p in (first, second)]
    holds = np.array_equal(*outs) and rows.shape == outs[0].shape
    holds = bool(holds and is_usual(largest(rows), largest(drawn_attention(x, x))))
    return Claim(holds, f"{size(rows)}; with one token, queries and keys do not matter")


def after_self_attention() -> Array:
    """Add and norm, from the self-attention that the source printed."""
    return layer_norm_eps_outside(printed("s0-dec-self-attention") + start_row())


@recomputes("s0-dec-self-attention-ln")
def self_attention_normalised():
    return after_self_attention()


# -- cross-attention

given("s0-encoder-output-literal", value=MEMORY)


@recomputes("s0-dec-cross-attention")
def cross_attention():
    rows, x = printed("s0-dec-cross-attention"), after_self_attention()
    out, trace = multi_head_attention(drawn_heads(np.random.default_rng(0)), x, MEMORY, n_heads=2)
    weights = trace.attention.attn_weights.shape
    holds = rows.shape == out.shape and weights == (2, 1, 2)
    holds = bool(holds and is_usual(largest(rows), largest(drawn_attention(x, MEMORY))))
    return Claim(holds, f"{size(rows)}; weights {size(weights)}: 2 heads, 1 query, 2 keys")


@recomputes("s0-dec-cross-attention-ln")
def cross_attention_normalised():
    # The residual that the text means. The code adds Z, a 2 × 4 array left from the encoder.
    return layer_norm_eps_outside(printed("s0-dec-cross-attention") + after_self_attention())


# -- feed-forward, the whole block


@recomputes("s0-dec-ffn-output")
def feed_forward_with_residual():
    rows, x = printed("s0-dec-ffn-output"), printed("s0-dec-cross-attention-ln")
    draws = written_out(drawn_feed_forward(np.random.default_rng(0), leading=(DRAWS,)), x)
    holds = rows.shape == x.shape and not is_normalised(rows) and is_usual(largest(rows - x), largest(draws))
    return Claim(bool(holds), f"{size(rows)}, not normalised: mean {rows.mean():.2f}, deviation {rows.std():.2f}")


@recomputes("s0-decoder6")
def six_decoder_blocks():
    rows = printed("s0-decoder6")
    return Claim(rows.shape == (1, 4) and is_normalised(rows), f"{size(rows)}, mean 0, deviation 1")
