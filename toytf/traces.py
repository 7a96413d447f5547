"""What the formulas leave behind: everything that one call computed, for the page and for its backward function.

A trace is the cache of the gradients, and it is what the chapters print and the panels open. ``Annotated`` names
the axes; ``...`` stands for any leading ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

Array = np.ndarray


@dataclass
class LayerNormTrace:
    """What one call of `toytf.ops.layer_norm` computed on the way."""

    normalised: Annotated[Array, "... d_model"]  # mean 0, variance 1, before gamma and beta
    std: Annotated[Array, "... 1"]  # sqrt(variance + eps) of each row


@dataclass
class CrossEntropyTrace:
    """What one call of `toytf.ops.cross_entropy` computed on the way."""

    probs: Annotated[Array, "... length vocabulary"]
    goal: Annotated[Array, "... length vocabulary"]  # the distribution that was wanted
    counted: Annotated[Array, "... length 1"]  # 1 for a token, 0 for padding
    n: int  # how many tokens were counted


@dataclass
class AttentionTrace:
    """What one call of `toytf.attention.attention` was given, and computed of it."""

    q: Annotated[Array, "... query d_k"]
    k: Annotated[Array, "... key d_k"]
    v: Annotated[Array, "... key d_v"]
    scaled_scores: Annotated[Array, "... query key"]  # q k^T * scale, before the mask
    attn_weights: Annotated[Array, "... query key"]
    scale: float
    mask: Annotated[Array, "... query key"] | None


@dataclass
class MultiHeadTrace:
    """What one call of `toytf.attention.multi_head_attention` computed."""

    x: Annotated[Array, "... query d_model"]
    memory: Annotated[Array, "... key d_model"]
    attention: AttentionTrace  # its arrays have a `heads` axis before the last two
    heads: Annotated[Array, "... query heads*d_v"]  # the heads' outputs side by side


@dataclass
class FeedForwardTrace:
    """What one call of `toytf.model.feed_forward` computed."""

    x: Annotated[Array, "... length d_model"]
    before: Annotated[Array, "... length d_ff"]  # the activation
    hidden: Annotated[Array, "... length d_ff"]  # after it


@dataclass
class SublayerTrace:
    """One sub-layer with its residual connection and its norm."""

    x: Annotated[Array, "... length d_model"]
    inner: Any  # MultiHeadTrace or FeedForwardTrace: what the sub-layer's function left
    inner_out: Annotated[Array, "... length d_model"]
    total: Annotated[Array, "... length d_model"]  # x + inner_out, before a post-norm
    norm: LayerNormTrace | None
    out: Annotated[Array, "... length d_model"]


@dataclass
class EncoderLayerTrace:
    """What one encoder layer computed."""

    self_attention: SublayerTrace
    feed_forward: SublayerTrace
    out: Annotated[Array, "... length d_model"]


@dataclass
class DecoderLayerTrace:
    """What one decoder layer computed."""

    self_attention: SublayerTrace
    cross_attention: SublayerTrace | None
    feed_forward: SublayerTrace
    out: Annotated[Array, "... length d_model"]


@dataclass
class StackTrace:
    """What the encoder or the decoder computed, from ids to rows."""

    ids: Annotated[Array, "... length"]
    embedded: Annotated[Array, "... length d_model"]
    x: Annotated[Array, "... length d_model"]  # with positions
    layers: list
    last_norm: LayerNormTrace | None
    out: Annotated[Array, "... length d_model"]


@dataclass
class Trace:
    """Everything that one call of `toytf.model.forward` computed."""

    encoder: StackTrace | None
    decoder: StackTrace | None
    logits: Annotated[Array, "... length tgt_vocab"] | None
