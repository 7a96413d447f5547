"""The Transformer: encoder, decoder, and the words at the end.

Read it from the top: `encoder_layer`, `decoder_layer`, `encode`, `decode` and `forward` follow the paper's
figure 1, and each backward function is its forward function read from the end. The switches of
`toytf.parameters.Config`, which take parts out or move them, act in `add_and_norm` and in the one or two lines
that ask for them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, Literal

import numpy as np

from toytf._door import Array, Flags, Floats, Gradient, Ids, Mask, Numbers, Place, door
from toytf.attention import causal_mask, multi_head_attention, multi_head_attention_backward, padding_mask
from toytf.ops import (
    embedding,
    embedding_backward,
    gelu,
    gelu_backward,
    layer_norm,
    layer_norm_backward,
    linear,
    linear_backward,
    relu,
    relu_backward,
)
from toytf.parameters import (
    Config,
    DecoderLayer,
    EncoderLayer,
    FeedForward,
    LayerNorm,
    Linear,
    MultiHead,
    Transformer,
    init,  # noqa: F401  # readers take it from here, beside forward
)
from toytf.positions import sinusoids
from toytf.traces import (
    DecoderLayerTrace,
    EncoderLayerTrace,
    FeedForwardTrace,
    LayerNormTrace,
    MultiHeadTrace,
    StackTrace,
    SublayerTrace,
    Trace,
)

ACTIVATIONS = {"relu": (relu, relu_backward), "gelu": (gelu, gelu_backward)}

# ---------------------------------------------------------------- sub-layers


@door
def feed_forward(
    p: FeedForward, x: Annotated[Floats, "... d_model"], activation: Literal["relu", "gelu"] = "relu"
) -> tuple[Array, FeedForwardTrace]:
    """Widen each row, bend it, narrow it again: ``max(0, x W_1 + b_1) W_2 + b_2``.

    Returns the rows, (..., d_y), and a `FeedForwardTrace`. (*Attention Is All You Need*, section 3.3)

    >>> p = FeedForward(np.array([[1.0, -1.0]]), np.zeros(2), np.array([[1.0], [1.0]]), np.zeros(1))
    >>> print(feed_forward(p, [[-3.0], [2.0]])[0])  # this one computes the absolute value
    [[3.]
     [2.]]
    """
    bend, _ = ACTIVATIONS[activation]
    before = linear(Linear(p.w_1, p.b_1), x)
    hidden = bend(before)
    return linear(Linear(p.w_2, p.b_2), hidden), FeedForwardTrace(x, before, hidden)


@door
def feed_forward_backward(
    p: FeedForward,
    trace: FeedForwardTrace,
    dout: Annotated[Gradient, "... length d_y"],
    activation: Literal["relu", "gelu"] = "relu",
) -> tuple[Array, FeedForward]:
    """The gradients of `feed_forward`, from its trace: ``dx`` and that of `p`."""
    _, bend_backward = ACTIVATIONS[activation]
    dhidden, d_2 = linear_backward(Linear(p.w_2, p.b_2), trace.hidden, dout)
    dbefore = bend_backward(trace.before, dhidden)
    dx, d_1 = linear_backward(Linear(p.w_1, p.b_1), trace.x, dbefore)
    return dx, FeedForward(d_1.weight, d_1.bias, d_2.weight, d_2.bias)


@door
def add_and_norm(
    cfg: Config, norm: LayerNorm, x: Annotated[Floats, "... d_model"], sublayer: Callable
) -> tuple[Array, SublayerTrace]:
    """Put a sub-layer between its residual connection and its norm: ``norm(x + sublayer(x))``.

    `sublayer` takes rows and gives rows and a trace. The other forms that `Config` knows, norm
    first, no norm, no residual, are here and nowhere else.
    """
    rows, norm_trace = layer_norm(norm, x, cfg.eps) if cfg.norm == "pre" else (x, None)
    inner_out, inner = sublayer(rows)
    total = x + inner_out if cfg.residual else inner_out
    out, norm_trace = layer_norm(norm, total, cfg.eps) if cfg.norm == "post" else (total, norm_trace)
    return out, SublayerTrace(x, inner, inner_out, total, norm_trace, out)


@door
def add_and_norm_backward(
    cfg: Config,
    norm: LayerNorm,
    trace: SublayerTrace,
    dout: Annotated[Gradient, "... length d_model"],
    sublayer_backward: Callable,
) -> tuple[Array, LayerNorm, Any]:
    """The gradients of `add_and_norm`: the residual adds, so the gradient goes both ways.

    `sublayer_backward` takes the gradient of the sub-layer's output and gives those of its input and of its
    parameters. Returns ``dx``, the gradient of `norm`, and that of the sub-layer's parameters.
    """
    dtotal, dnorm = dout, LayerNorm(np.zeros_like(norm.gamma), np.zeros_like(norm.beta))
    if cfg.norm == "post":
        dtotal, dnorm = layer_norm_backward(norm, trace.norm, dout)
    dx, dsublayer = sublayer_backward(dtotal)
    if cfg.norm == "pre":
        dx, dnorm = layer_norm_backward(norm, trace.norm, dx)
    return (dx + dtotal if cfg.residual else dx), dnorm, dsublayer


def _attend(p: MultiHead, cfg: Config, x: Array, memory: Array | None = None, mask: Array | None = None):
    return multi_head_attention(p, x, memory, n_heads=cfg.n_heads, mask=mask, scale=None if cfg.scale else 1.0)


def _attend_backward(p: MultiHead, trace: MultiHeadTrace, dout: Array) -> tuple[Array, tuple]:
    """`multi_head_attention_backward` as `add_and_norm_backward` wants it: the gradient of `x`, and the others."""
    dx, dmemory, dp = multi_head_attention_backward(p, trace, dout)
    return dx, (dmemory, dp)


# ---------------------------------------------------------------- layers


@door
def encoder_layer(
    p: EncoderLayer,
    cfg: Config,
    x: Annotated[Floats, "... length d_model"],
    mask: Annotated[Mask, "... length length"] | None = None,
) -> tuple[Array, EncoderLayerTrace]:
    """One encoder layer::

        y   = norm_1(x + self_attention(x))
        out = norm_2(y + feed_forward(y))

    Returns the rows, of the shape of `x`, and an `EncoderLayerTrace`. (*Attention Is All You Need*, section 3.1)
    """
    y, attended = add_and_norm(cfg, p.norm_1, x, partial(_attend, p.self_attention, cfg, mask=mask))
    out, fed = add_and_norm(cfg, p.norm_2, y, partial(feed_forward, p.feed_forward, activation=cfg.activation))
    return out, EncoderLayerTrace(attended, fed, out)


@door
def encoder_layer_backward(
    p: EncoderLayer, cfg: Config, trace: EncoderLayerTrace, dout: Annotated[Gradient, "... length d_model"]
) -> tuple[Array, EncoderLayer]:
    """The gradients of `encoder_layer`, its lines in reverse: ``dx`` and that of `p`."""
    back: Callable = partial(feed_forward_backward, p.feed_forward, trace.feed_forward.inner, activation=cfg.activation)
    dy, d_norm_2, d_feed_forward = add_and_norm_backward(cfg, p.norm_2, trace.feed_forward, dout, back)
    back = partial(_attend_backward, p.self_attention, trace.self_attention.inner)
    dx, d_norm_1, (_, d_attention) = add_and_norm_backward(cfg, p.norm_1, trace.self_attention, dy, back)
    return dx, EncoderLayer(d_attention, d_norm_1, d_feed_forward, d_norm_2)


@door
def decoder_layer(
    p: DecoderLayer,
    cfg: Config,
    x: Annotated[Floats, "... length d_model"],
    memory: Annotated[Floats, "... source d_model"] | None,
    mask: Annotated[Mask, "... length length"] | None = None,
    memory_mask: Annotated[Mask, "... length source"] | None = None,
) -> tuple[Array, DecoderLayerTrace]:
    """One decoder layer::

        y   = norm_1(x + masked self_attention(x))
        z   = norm_2(y + cross_attention(y, memory))
        out = norm_3(z + feed_forward(z))

    The memory is None without cross-attention. Returns the rows, of the shape of `x`, and a `DecoderLayerTrace`.
    (*Attention Is All You Need*, section 3.1)
    """
    _require_memory(memory, p.cross_attention is not None)
    ask_past = partial(_attend, p.self_attention, cfg, mask=mask)
    ask_memory = partial(_attend, p.cross_attention, cfg, memory=memory, mask=memory_mask)
    return _decoder_layer(p, cfg, x, ask_past, ask_memory)


def _decoder_layer(
    p: DecoderLayer, cfg: Config, x: Array, ask_past: Callable, ask_memory: Callable
) -> tuple[Array, DecoderLayerTrace]:
    """`decoder_layer`, its two attentions given as functions: keys and values may be there already."""
    y, attended = add_and_norm(cfg, p.norm_1, x, ask_past)
    read = None
    if p.cross_attention is not None:
        y, read = add_and_norm(cfg, p.norm_2, y, ask_memory)
    out, fed = add_and_norm(cfg, p.norm_3, y, partial(feed_forward, p.feed_forward, activation=cfg.activation))
    return out, DecoderLayerTrace(attended, read, fed, out)


@door
def decoder_layer_backward(
    p: DecoderLayer, cfg: Config, trace: DecoderLayerTrace, dout: Annotated[Gradient, "... length d_model"]
) -> tuple[Array, Array | None, DecoderLayer]:
    """The gradients of `decoder_layer`, its lines in reverse: ``dx``, ``dmemory`` (or None) and that of `p`."""
    dmemory = d_cross = d_norm_2 = None
    back: Callable = partial(feed_forward_backward, p.feed_forward, trace.feed_forward.inner, activation=cfg.activation)
    dy, d_norm_3, d_feed_forward = add_and_norm_backward(cfg, p.norm_3, trace.feed_forward, dout, back)
    if p.cross_attention is not None:
        back = partial(_attend_backward, p.cross_attention, trace.cross_attention.inner)
        dy, d_norm_2, (dmemory, d_cross) = add_and_norm_backward(cfg, p.norm_2, trace.cross_attention, dy, back)
    back = partial(_attend_backward, p.self_attention, trace.self_attention.inner)
    dx, d_norm_1, (_, d_self) = add_and_norm_backward(cfg, p.norm_1, trace.self_attention, dy, back)
    return dx, dmemory, DecoderLayer(d_self, d_norm_1, d_cross, d_norm_2, d_feed_forward, d_norm_3)


# ---------------------------------------------------------------- from ids to logits


@door
def embed(
    table: Annotated[Numbers, "vocabulary d_model"],
    cfg: Annotated[Config, "sizes"],
    ids: Annotated[Ids, "... length < vocabulary"],
    start: Place = 0,
) -> tuple[Array, Array]:
    """Look up rows and add positions: ``sqrt(d_model) * table[ids] + PE``.

    The first id stands at the position `start`. Returns the rows, (..., length, d_model), without and with positions.
    (*Attention Is All You Need*, sections 3.4 and 3.5)
    """
    embedded = embedding(table, ids)
    if cfg.scale_embeddings:
        embedded = embedded * math.sqrt(cfg.d_model)
    if not cfg.positions:
        return embedded, embedded
    return embedded, embedded + sinusoids(ids.shape[-1], cfg.d_model, start).astype(table.dtype)


@door
def embed_backward(
    table: Annotated[Numbers, "vocabulary d_model"],
    cfg: Annotated[Config, "sizes"],
    ids: Annotated[Ids, "... length < vocabulary"],
    dx: Annotated[Gradient, "... length d_model"],
) -> Array:
    """The gradient of `embed` with respect to the table; positions are fixed and take none."""
    return embedding_backward(len(table), ids, dx * math.sqrt(cfg.d_model) if cfg.scale_embeddings else dx)


@door
def encode(
    params: Transformer,
    cfg: Annotated[Config, "sizes"],
    src: Annotated[Ids, "... source < src_vocab"],
    src_is_token: Annotated[Flags, "... source"] | None = None,
    *,
    keep_trace: bool = True,
) -> tuple[Array, StackTrace | None]:
    """Read the source sentences: ids to rows, the memory, (..., source, d_model); and a `StackTrace`.

    Where `src_is_token` is False a sentence was filled up: those places get no attention. Without `keep_trace`, what a
    layer computed is forgotten as soon as the next one has read its output, and the trace is None: enough to use a
    model, not to train it.
    """
    if not params.encoder or params.src_embedding is None:
        raise ValueError("params: expected a model with an encoder, got one without")
    mask = None if src_is_token is None else padding_mask(src_is_token)
    embedded, x = embed(params.src_embedding, cfg, src)
    rows, layers = x, []
    for p in params.encoder:
        rows, trace = encoder_layer(p, cfg, rows, mask)
        layers.append(trace if keep_trace else None)
        del trace  # what is not kept serves the next layer
    out, last_norm = _last_norm(params.encoder_norm, cfg, rows)
    return out, StackTrace(src, embedded, x, layers, last_norm, out) if keep_trace else None


@door
def decode(
    params: Transformer,
    cfg: Annotated[Config, "sizes"],
    tgt: Annotated[Ids, "... length < tgt_vocab"],
    memory: Annotated[Floats, "... source d_model"] | None = None,
    tgt_is_token: Annotated[Flags, "... length"] | None = None,
    src_is_token: Annotated[Flags, "... source"] | None = None,
    *,
    keep_trace: bool = True,
) -> tuple[Array, StackTrace | None]:
    """Read the target sentences so far, and the memory: ids to rows, (..., length, d_model); and a `StackTrace`.

    The memory is what `encode` returned, None for a decoder-only model; flags and `keep_trace` are as there.
    """
    if not params.decoder or params.tgt_embedding is None:
        raise ValueError("params: expected a model with a decoder, got one without")
    _require_memory(memory, cfg.reads_memory)
    mask = causal_mask(tgt.shape[-1]) if cfg.causal else None
    if tgt_is_token is not None:
        mask = padding_mask(tgt_is_token) if mask is None else mask & padding_mask(tgt_is_token)
    memory_mask = None if src_is_token is None or memory is None else padding_mask(src_is_token)
    embedded, x = embed(params.tgt_embedding, cfg, tgt)
    rows, layers = x, []
    for p in params.decoder:
        rows, trace = decoder_layer(p, cfg, rows, memory, mask, memory_mask)
        layers.append(trace if keep_trace else None)
        del trace
    out, last_norm = _last_norm(params.decoder_norm, cfg, rows)
    return out, StackTrace(tgt, embedded, x, layers, last_norm, out) if keep_trace else None


def _require_memory(memory: Array | None, is_read: bool) -> None:
    if is_read and memory is None:
        raise ValueError("memory: expected the encoder's output, got None")
    if memory is not None and not is_read:
        raise ValueError("memory: expected None for a decoder without cross-attention, got an array")


def _last_norm(norm: LayerNorm | None, cfg: Config, rows: Array) -> tuple[Array, LayerNormTrace | None]:
    """A stack's last norm, which pre-norm models have."""
    return (rows, None) if norm is None else layer_norm(norm, rows, cfg.eps)


@door
def forward(
    params: Transformer,
    cfg: Annotated[Config, "sizes"],
    src: Annotated[Ids, "... source < src_vocab"] | None,
    tgt: Annotated[Ids, "... length < tgt_vocab"],
    src_is_token: Annotated[Flags, "... source"] | None = None,
    tgt_is_token: Annotated[Flags, "... length"] | None = None,
    *,
    keep_trace: bool = True,
) -> tuple[Array, Trace | None]:
    """The whole Transformer: a score for every word of the vocabulary, at every target place.

    Returns the logits, (..., length, tgt_vocab), and the `Trace` that `backward` needs; without it a large model takes
    far less memory. Row ``t`` of the logits belongs to the token that follows ``tgt[..., t]``. `src` is None for a
    decoder-only model; flags and `keep_trace` are those of `encode`. (*Attention Is All You Need*, figure 1)

    >>> cfg = Config(src_vocab=5, tgt_vocab=7, d_model=4, n_heads=2, d_ff=8, n_encoder_layers=1, n_decoder_layers=1)
    >>> logits, trace = forward(init(cfg, np.random.default_rng(0)), cfg, [1, 2, 3], [4, 5])
    >>> logits.shape
    (2, 7)
    """
    if params.output is None:
        raise ValueError("params: expected a model with an output, got None")
    memory = encoder_trace = None
    if src is not None:
        memory, encoder_trace = encode(params, cfg, src, src_is_token, keep_trace=keep_trace)
    elif params.encoder:
        raise ValueError("src: expected token ids for a model with an encoder, got None")
    memory = memory if cfg.reads_memory else None
    rows, decoder_trace = decode(params, cfg, tgt, memory, tgt_is_token, src_is_token, keep_trace=keep_trace)
    logits = linear(params.output, rows)
    return logits, Trace(encoder_trace, decoder_trace, logits) if keep_trace else None


@door
def backward(
    params: Transformer,
    cfg: Annotated[Config, "sizes"],
    trace: Trace,
    dlogits: Annotated[Gradient, "... length tgt_vocab"],
) -> Transformer:
    """The gradients of all parameters, from what one `forward` left behind.

    The gradients come in the parameters' own class; `toytf.ops.cross_entropy_backward` gives `dlogits`.

    >>> from toytf.ops import cross_entropy, cross_entropy_backward
    >>> cfg = Config(src_vocab=5, tgt_vocab=7, d_model=4, n_heads=2, d_ff=8, n_encoder_layers=1, n_decoder_layers=1)
    >>> params = init(cfg, np.random.default_rng(0))
    >>> logits, trace = forward(params, cfg, [1, 2, 3], [4, 5])
    >>> _, loss_trace = cross_entropy(logits, [5, 6])
    >>> grads = backward(params, cfg, trace, cross_entropy_backward(loss_trace))
    >>> grads.output.weight.shape
    (4, 7)
    """
    drows, d_output = linear_backward(params.output, trace.decoder.out, dlogits)
    d_tgt_embedding, d_decoder, d_decoder_norm, dmemory = _decode_backward(params, cfg, trace.decoder, drows)
    d_src_embedding: Array | None = None
    d_encoder: list[EncoderLayer] = []
    d_encoder_norm: LayerNorm | None = None
    if params.encoder:
        if dmemory is None:  # nobody read the memory
            dmemory = np.zeros_like(trace.encoder.out)
        d_src_embedding, d_encoder, d_encoder_norm = _encode_backward(params, cfg, trace.encoder, dmemory)
    return Transformer(d_src_embedding, d_encoder, d_encoder_norm, d_tgt_embedding, d_decoder, d_decoder_norm, d_output)


def _encode_backward(params: Transformer, cfg: Config, trace: StackTrace, dmemory: Array):
    dx, d_last_norm = _last_norm_backward(params.encoder_norm, trace, dmemory)
    layers: list[EncoderLayer] = []
    for p, layer in zip(reversed(params.encoder), reversed(trace.layers), strict=True):
        dx, dp = encoder_layer_backward(p, cfg, layer, dx)
        layers.insert(0, dp)
    return embed_backward(params.src_embedding, cfg, trace.ids, dx), layers, d_last_norm


def _decode_backward(params: Transformer, cfg: Config, trace: StackTrace, drows: Array):
    dx, d_last_norm = _last_norm_backward(params.decoder_norm, trace, drows)
    dmemory = None
    layers: list[DecoderLayer] = []
    for p, layer in zip(reversed(params.decoder), reversed(trace.layers), strict=True):
        dx, from_layer, dp = decoder_layer_backward(p, cfg, layer, dx)
        layers.insert(0, dp)
        if from_layer is not None:  # every layer reads the same memory
            dmemory = from_layer if dmemory is None else dmemory + from_layer
    return embed_backward(params.tgt_embedding, cfg, trace.ids, dx), layers, d_last_norm, dmemory


def _last_norm_backward(norm: LayerNorm | None, trace: StackTrace, dout: Array) -> tuple[Array, LayerNorm | None]:
    return (dout, None) if norm is None else layer_norm_backward(norm, trace.last_norm, dout)
