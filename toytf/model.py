"""The Transformer: encoder, decoder, and the words at the end.

Read it from the top: `Config` with its default values is the paper's base model, and
`encoder_layer`, `decoder_layer`, `encode`, `decode` and `forward` follow the paper's figure 1.
The switches of `Config`, which take parts out or move them, act in `add_and_norm` and in the one
or two lines that ask for them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal

import numpy as np

from toytf._validate import (
    ROOM,
    as_bool,
    as_flags,
    as_float_dtype,
    as_floats,
    as_gradient,
    as_ids,
    as_mask,
    one_of,
    pair_from,
    positive_int,
    positive_number,
    require_callable,
    require_class,
    require_generator,
    require_ndim,
    require_parameters,
    require_shape,
    require_some,
    require_width,
    rows_for,
    shape_text,
    whole_number,
)
from toytf.attention import (
    MultiHead,
    MultiHeadTrace,
    causal_mask,
    multi_head_attention,
    multi_head_attention_backward,
    padding_mask,
)
from toytf.ops import (
    Array,
    LayerNorm,
    LayerNormTrace,
    Linear,
    _linear,
    _linear_backward,
    embedding,
    embedding_backward,
    gelu,
    gelu_backward,
    layer_norm,
    layer_norm_backward,
    relu,
    relu_backward,
)
from toytf.positions import sinusoids
from toytf.tree import _leaves

MOST_LAYERS = 10_000  # in one model
ACTIVATIONS = {"relu": (relu, relu_backward), "gelu": (gelu, gelu_backward)}

# ---------------------------------------------------------------- sizes and switches


@dataclass(frozen=True)
class Config:
    """Sizes of a Transformer, and switches. Only the vocabularies have no default.

    Parameters
    ----------
    src_vocab, tgt_vocab : int
        How many tokens the source and the target vocabulary have. Without encoder layers
        `src_vocab` is not used; without decoder layers `tgt_vocab` is not.
    d_model, n_heads, d_ff, n_encoder_layers, n_decoder_layers : int
        The paper's base model: 512, 8, 2048, 6, 6. A stack of 0 layers is left out: 0 decoder
        layers make an encoder-only model, 0 encoder layers a decoder-only one.
    d_head : int, optional
        Width of one head; ``d_model / n_heads`` if left out.
    norm : {"post", "pre", "none"}
        "post" is the paper: ``norm(x + sublayer(x))``. "pre" is ``x + sublayer(norm(x))``, with one
        more norm at the end of each stack.
    residual : bool
        Add each sub-layer's input to its output.
    scale : bool
        Divide scores by the square root of the head's width.
    positions : bool
        Add the sinusoids.
    causal : bool
        Hide the future in the decoder's self-attention.
    cross_attention : bool
        Let the decoder read the encoder's output.
    activation : {"relu", "gelu"}
        The bend in the feed-forward network; the paper's is "relu".
    bias : bool
        Give the attention's linear maps a bias. The paper's have none.
    scale_embeddings : bool
        Multiply embeddings by the square root of `d_model` (the paper's section 3.4).
    eps : float
        Epsilon of the layer norms.

    Raises
    ------
    ValueError, TypeError
        If a size is below 1 (layers: below 0), `n_heads` does not divide `d_model` and `d_head` is
        not given, `d_model` is odd while positions are on, or a switch has an unknown value.

    Examples
    --------
    >>> Config(src_vocab=37000, tgt_vocab=37000).head_width
    64
    """

    src_vocab: int
    tgt_vocab: int
    d_model: int = 512
    n_heads: int = 8
    d_ff: int = 2048
    n_encoder_layers: int = 6
    n_decoder_layers: int = 6
    d_head: int | None = None
    norm: Literal["post", "pre", "none"] = "post"
    residual: bool = True
    scale: bool = True
    positions: bool = True
    causal: bool = True
    cross_attention: bool = True
    activation: Literal["relu", "gelu"] = "relu"
    bias: bool = False
    scale_embeddings: bool = True
    eps: float = 1e-5

    def __post_init__(self):
        for name in ("src_vocab", "tgt_vocab", "d_model", "n_heads", "d_ff"):
            self._keep(name, positive_int)
        for name in ("n_encoder_layers", "n_decoder_layers"):
            self._keep(name, _layers)
        if self.n_encoder_layers == self.n_decoder_layers == 0:
            raise ValueError("n_encoder_layers, n_decoder_layers: expected at least one layer, got 0 and 0")
        for name in ("residual", "scale", "positions", "causal", "cross_attention", "bias", "scale_embeddings"):
            self._keep(name, as_bool)
        if self.d_head is not None:
            self._keep("d_head", positive_int)
        elif self.d_model % self.n_heads:
            raise ValueError(
                f"n_heads: expected a divisor of d_model = {self.d_model}, got {self.n_heads}; "
                "or say how wide a head is with d_head"
            )
        if self.positions and self.d_model % 2:
            raise ValueError(f"d_model: expected an even number (sines and cosines come in pairs), got {self.d_model}")
        one_of("norm", self.norm, ("post", "pre", "none"))
        one_of("activation", self.activation, tuple(ACTIVATIONS))
        self._keep("eps", positive_number)

    def _keep(self, name: str, check: Callable) -> None:
        """Replace a field by what its check makes of it: an int of NumPy, which may overflow, by one of Python's."""
        object.__setattr__(self, name, check(name, getattr(self, name)))  # as a frozen dataclass sets its own

    @property
    def head_width(self) -> int:
        """The width of one head."""
        return self.d_head if self.d_head is not None else self.d_model // self.n_heads

    @property
    def reads_memory(self) -> bool:
        """Whether the decoder has cross-attention."""
        return self.cross_attention and self.n_encoder_layers > 0


def _layers(name: str, value) -> int:
    """Return how many layers a stack has: at least 1, or 0, which leaves it out."""
    value = whole_number(name, value)
    return value if value == 0 else positive_int(name, value)


# ---------------------------------------------------------------- parameters


@dataclass
class FeedForward:
    """Parameters of ``activation(x W_1 + b_1) W_2 + b_2``."""

    w_1: Annotated[Array, "d_model d_ff"]
    b_1: Annotated[Array, "d_ff"]
    w_2: Annotated[Array, "d_ff d_y"]  # in a layer d_y is d_model: the result is added to x
    b_2: Annotated[Array, "d_y"]


@dataclass
class EncoderLayer:
    """Parameters of one encoder layer: two sub-layers, a norm for each."""

    self_attention: MultiHead
    norm_1: LayerNorm
    feed_forward: FeedForward
    norm_2: LayerNorm


@dataclass
class DecoderLayer:
    """Parameters of one decoder layer: three sub-layers, a norm for each."""

    self_attention: MultiHead
    norm_1: LayerNorm
    cross_attention: MultiHead | None
    norm_2: LayerNorm | None
    feed_forward: FeedForward
    norm_3: LayerNorm


@dataclass
class Transformer:
    """All parameters of a model; what its `Config` leaves out is None or an empty list."""

    src_embedding: Annotated[Array, "src_vocab d_model"] | None
    encoder: list[EncoderLayer]
    encoder_norm: LayerNorm | None  # pre-norm only
    tgt_embedding: Annotated[Array, "tgt_vocab d_model"] | None
    decoder: list[DecoderLayer]
    decoder_norm: LayerNorm | None  # pre-norm only
    output: Linear | None


def init(cfg: Config, rng: np.random.Generator, dtype=np.float64) -> Transformer:
    """Draw the parameters of a model, once.

    Matrices are drawn uniformly between ``-a`` and ``a`` with ``a = sqrt(6 / (rows + columns))``
    (Glorot and Bengio, 2010), embeddings with standard deviation ``d_model ** -0.5``; gammas are 1,
    betas and biases 0.

    Parameters
    ----------
    cfg : Config
    rng : numpy.random.Generator
        ``np.random.default_rng(seed)``.
    dtype : dtype, default float64
        Of all parameters, and so of everything that is computed with them.

    Examples
    --------
    >>> cfg = Config(src_vocab=5, tgt_vocab=7, d_model=4, n_heads=2, d_ff=8, n_encoder_layers=1, n_decoder_layers=1)
    >>> from toytf.tree import count
    >>> count(init(cfg, np.random.default_rng(0)))
    467
    """
    require_class("cfg", cfg, Config)
    require_generator(rng)
    dtype = as_float_dtype("dtype", dtype)
    numbers = sum(map(math.prod, shapes(cfg).values()))
    if numbers > ROOM:
        raise ValueError(f"cfg: expected a model of at most {ROOM:,} parameters, got {numbers:,}")

    def matrix(rows, columns):
        a = math.sqrt(6 / (rows + columns))
        return rng.uniform(-a, a, size=(rows, columns)).astype(dtype)

    def table(rows, columns):
        return (rng.normal(size=(rows, columns)) * columns**-0.5).astype(dtype)

    return _put_together(cfg, matrix, table, partial(np.ones, dtype=dtype), partial(np.zeros, dtype=dtype))


def shapes(cfg: Config) -> dict[str, tuple[int, ...]]:
    """Return the shape of every array that a model has, by its name, without making one.

    Examples
    --------
    >>> shapes(Config(37000, 37000))["encoder.0.feed_forward.w_1"]
    (512, 2048)
    """
    require_class("cfg", cfg, Config)
    return _leaves(_outline(cfg), tuple)


def _outline(cfg: Config) -> Transformer:
    """Return a `Transformer` that has the shape of each array in the array's place."""

    def shape(*lengths):
        return lengths

    return _put_together(cfg, shape, shape, shape, shape)


def _put_together(cfg: Config, matrix: Callable, table: Callable, ones: Callable, zeros: Callable) -> Transformer:
    """Make a `Transformer` of what four functions make of an array's lengths."""
    if cfg.n_encoder_layers + cfg.n_decoder_layers > MOST_LAYERS:
        raise ValueError(f"cfg: expected at most {MOST_LAYERS:,} layers, got more")
    d, wide = cfg.d_model, cfg.n_heads * cfg.head_width

    def norm():
        return LayerNorm(ones(d), zeros(d))

    def attention():
        weights = [matrix(d, wide) for _ in range(3)] + [matrix(wide, d)]
        biases = [zeros(wide), zeros(wide), zeros(wide), zeros(d)] if cfg.bias else [None] * 4
        return MultiHead(*weights, *biases)

    def feed_forward_network():
        return FeedForward(matrix(d, cfg.d_ff), zeros(cfg.d_ff), matrix(cfg.d_ff, d), zeros(d))

    def encoder_parameters():
        return EncoderLayer(attention(), norm(), feed_forward_network(), norm())

    def decoder_parameters():
        cross = (attention(), norm()) if cfg.reads_memory else (None, None)
        return DecoderLayer(attention(), norm(), *cross, feed_forward_network(), norm())

    last_norm = norm if cfg.norm == "pre" else lambda: None
    encodes, decodes = cfg.n_encoder_layers > 0, cfg.n_decoder_layers > 0
    return Transformer(
        src_embedding=table(cfg.src_vocab, d) if encodes else None,
        encoder=[encoder_parameters() for _ in range(cfg.n_encoder_layers)],
        encoder_norm=last_norm() if encodes else None,
        tgt_embedding=table(cfg.tgt_vocab, d) if decodes else None,
        decoder=[decoder_parameters() for _ in range(cfg.n_decoder_layers)],
        decoder_norm=last_norm() if decodes else None,
        output=Linear(matrix(d, cfg.tgt_vocab), zeros(cfg.tgt_vocab)) if decodes else None,
    )


def _require_model(params: Transformer, cfg: Config) -> None:
    """Raise an error unless these are a model's parameters and sizes, and its vocabularies have the sizes.

    Layers are left to those who compute them: with another `Config` the same weights may be used another way.
    """
    require_parameters("params", params, Transformer)
    require_class("cfg", cfg, Config)
    if (params.encoder and params.src_embedding is None) or (params.decoder and params.tgt_embedding is None):
        raise ValueError("params: expected an embedding for each stack of layers, got None")
    output = None if params.output is None else params.output.weight
    for name, array, shape in (
        ("src_embedding", params.src_embedding, (cfg.src_vocab, cfg.d_model)),
        ("tgt_embedding", params.tgt_embedding, (cfg.tgt_vocab, cfg.d_model)),
        ("output.weight", output, (cfg.d_model, cfg.tgt_vocab)),
    ):
        if array is not None and array.shape != shape:
            raise ValueError(
                f"params: {name}: expected shape {shape_text(shape)} as cfg says, got {shape_text(array.shape)}"
            )


# ---------------------------------------------------------------- what a forward pass leaves behind


@dataclass
class FeedForwardTrace:
    """What one call of `feed_forward` computed."""

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
    """Everything that one call of `forward` computed."""

    encoder: StackTrace | None
    decoder: StackTrace | None
    logits: Annotated[Array, "... length tgt_vocab"] | None


# ---------------------------------------------------------------- the parts


def feed_forward(p: FeedForward, x, activation: str = "relu") -> tuple[Array, FeedForwardTrace]:
    """Widen each row, bend it, narrow it again: ``max(0, x W_1 + b_1) W_2 + b_2``.

    Parameters
    ----------
    p : FeedForward
    x : array_like, shape (..., length, d_model)
    activation : {"relu", "gelu"}

    Returns
    -------
    out : Array, shape (..., length, d_y)
    trace : FeedForwardTrace

    Notes
    -----
    *Attention Is All You Need*, section 3.3.

    Examples
    --------
    >>> p = FeedForward(np.array([[1.0, -1.0]]), np.zeros(2), np.array([[1.0], [1.0]]), np.zeros(1))
    >>> from toytf.byhand import fmt
    >>> print(fmt(feed_forward(p, [[-3.0], [2.0]])[0], 1))  # this one computes the absolute value
    [[3.0]
     [2.0]]
    """
    x, activate = _usable_rows(p, x, activation)
    before = _linear(Linear(p.w_1, p.b_1), x)
    hidden = activate(before)
    return _linear(Linear(p.w_2, p.b_2), hidden), FeedForwardTrace(x, before, hidden)


def _usable_rows(p: FeedForward, x, activation: str) -> tuple[Array, Callable]:
    """Return the rows that `feed_forward` was given, and the function that bends them."""
    require_parameters("p", p, FeedForward)
    x = rows_for("x", x, "w_1", p.w_1)
    activate, _ = ACTIVATIONS[one_of("activation", activation, ACTIVATIONS)]
    return x, activate


def feed_forward_backward(
    p: FeedForward, trace: FeedForwardTrace, dout: Array, activation: str = "relu"
) -> tuple[Array, FeedForward]:
    """The gradients of `feed_forward`, from its trace.

    Returns
    -------
    dx : Array, shape of `x`
    dp : FeedForward
    """
    dout, activate_backward = _usable_gradient(p, trace, dout, activation)
    dhidden, d_2 = _linear_backward(Linear(p.w_2, p.b_2), trace.hidden, dout)
    dbefore = activate_backward(trace.before, dhidden)
    dx, d_1 = _linear_backward(Linear(p.w_1, p.b_1), trace.x, dbefore)
    return dx, FeedForward(d_1.weight, d_1.bias, d_2.weight, d_2.bias)


def _usable_gradient(p: FeedForward, trace: FeedForwardTrace, dout, activation: str) -> tuple[Array, Callable]:
    """Return the gradient that `feed_forward_backward` was given, and the backward function of the bend."""
    require_parameters("p", p, FeedForward)
    require_class("trace", trace, FeedForwardTrace)
    require_width("trace.x", trace.x, "p.w_1", p.w_1, axis=-2)
    dout = as_gradient("dout", dout, (*trace.x.shape[:-1], p.w_2.shape[-1]), "trace and p give")
    _, activate_backward = ACTIVATIONS[one_of("activation", activation, ACTIVATIONS)]
    return dout, activate_backward


def add_and_norm(cfg: Config, norm: LayerNorm, x: Array, sublayer: Callable) -> tuple[Array, SublayerTrace]:
    """Put a sub-layer between its residual connection and its norm: ``norm(x + sublayer(x))``.

    `sublayer` takes rows and gives rows and a trace. The other forms that `Config` knows, norm
    first, no norm, no residual, are here and nowhere else.
    """
    x = _usable_input(cfg, norm, x, sublayer)
    rows, norm_trace = layer_norm(norm, x, cfg.eps) if cfg.norm == "pre" else (x, None)
    inner_out, inner = _two_from("sublayer", sublayer(rows), x)
    total = x + inner_out if cfg.residual else inner_out
    out, norm_trace = layer_norm(norm, total, cfg.eps) if cfg.norm == "post" else (total, norm_trace)
    return out, SublayerTrace(x, inner, inner_out, total, norm_trace, out)


def _usable_input(cfg: Config, norm: LayerNorm, x, sublayer: Callable) -> Array:
    """Return the rows that `add_and_norm` was given, once all it was given is seen to be usable."""
    require_class("cfg", cfg, Config)
    require_parameters("norm", norm, LayerNorm)
    require_callable("sublayer", sublayer)
    return as_floats("x", x)


def _two_from(name: str, given, x: Array) -> tuple[Array, Any]:
    """Return what a sub-layer's function gave: something of the shape of `x`, and something of its own."""
    rows, own = pair_from(name, given, "rows and something of its own")
    rows = as_floats(f"{name}: what it gives", rows)
    require_shape(f"{name}: what it gives", rows, x.shape, "x has")
    return rows, own


def add_and_norm_backward(
    cfg: Config, norm: LayerNorm, trace: SublayerTrace, dout: Array, sublayer_backward: Callable
) -> tuple[Array, LayerNorm, Any]:
    """The gradients of `add_and_norm`: the residual adds, so the gradient goes both ways.

    `sublayer_backward` takes the gradient of the sub-layer's output and gives those of its input and
    of its parameters.

    Returns
    -------
    dx : Array
    dnorm : LayerNorm
    dsublayer : the sub-layer's parameters' class
    """
    dout = _usable_output_gradient(cfg, norm, trace, dout, sublayer_backward)
    dnorm = LayerNorm(np.zeros_like(norm.gamma), np.zeros_like(norm.beta))  # without a norm
    dtotal = dout
    if cfg.norm == "post":
        dtotal, dnorm = layer_norm_backward(norm, trace.norm, dout)
    dx, dsublayer = _two_from("sublayer_backward", sublayer_backward(dtotal), trace.x)
    if cfg.norm == "pre":
        dx, dnorm = layer_norm_backward(norm, trace.norm, dx)
    return (dx + dtotal if cfg.residual else dx), dnorm, dsublayer


def _usable_output_gradient(cfg: Config, norm: LayerNorm, trace: SublayerTrace, dout, sublayer_backward) -> Array:
    """Return the gradient that `add_and_norm_backward` was given, once all it was given is seen to be usable."""
    require_class("cfg", cfg, Config)
    require_parameters("norm", norm, LayerNorm)
    require_class("trace", trace, SublayerTrace)
    require_callable("sublayer_backward", sublayer_backward)
    return as_gradient("dout", dout, trace.out.shape, "trace has")


def _attend(p: MultiHead, cfg: Config, x, memory=None, mask=None):
    return multi_head_attention(p, x, memory, n_heads=cfg.n_heads, mask=mask, scale=None if cfg.scale else 1.0)


def _attend_backward(p: MultiHead, trace: MultiHeadTrace, dout: Array) -> tuple[Array, tuple]:
    """`multi_head_attention_backward` as `add_and_norm_backward` wants it: the gradient of `x`, and the others."""
    dx, *others = multi_head_attention_backward(p, trace, dout)
    return dx, tuple(others)


def encoder_layer(p: EncoderLayer, cfg: Config, x: Array, mask=None) -> tuple[Array, EncoderLayerTrace]:
    """One encoder layer::

        y   = norm_1(x + self_attention(x))
        out = norm_2(y + feed_forward(y))

    Parameters
    ----------
    p : EncoderLayer
    cfg : Config
    x : Array, shape (..., length, d_model)
    mask : array_like of bool, broadcastable to (..., length, length), optional
        True means "may attend".

    Notes
    -----
    *Attention Is All You Need*, section 3.1.
    """
    require_parameters("p", p, EncoderLayer)
    require_class("cfg", cfg, Config)
    y, attended = add_and_norm(cfg, p.norm_1, x, partial(_attend, p.self_attention, cfg, mask=mask))
    out, fed = add_and_norm(cfg, p.norm_2, y, partial(feed_forward, p.feed_forward, activation=cfg.activation))
    return out, EncoderLayerTrace(attended, fed, out)


def encoder_layer_backward(
    p: EncoderLayer, cfg: Config, trace: EncoderLayerTrace, dout: Array
) -> tuple[Array, EncoderLayer]:
    """The gradients of `encoder_layer`: its lines in reverse.

    Returns
    -------
    dx : Array, shape of ``x``
    dp : EncoderLayer
    """
    require_parameters("p", p, EncoderLayer)
    require_class("cfg", cfg, Config)
    require_class("trace", trace, EncoderLayerTrace)
    back: Callable = partial(feed_forward_backward, p.feed_forward, trace.feed_forward.inner, activation=cfg.activation)
    dy, d_norm_2, d_feed_forward = add_and_norm_backward(cfg, p.norm_2, trace.feed_forward, dout, back)
    back = partial(_attend_backward, p.self_attention, trace.self_attention.inner)
    dx, d_norm_1, (_, d_attention) = add_and_norm_backward(cfg, p.norm_1, trace.self_attention, dy, back)
    return dx, EncoderLayer(d_attention, d_norm_1, d_feed_forward, d_norm_2)


def decoder_layer(
    p: DecoderLayer, cfg: Config, x: Array, memory: Array | None, mask=None, memory_mask=None
) -> tuple[Array, DecoderLayerTrace]:
    """One decoder layer::

        y   = norm_1(x + masked self_attention(x))
        z   = norm_2(y + cross_attention(y, memory))
        out = norm_3(z + feed_forward(z))

    Parameters
    ----------
    p : DecoderLayer
    cfg : Config
    x : Array, shape (..., length, d_model)
    memory : Array, shape (..., source length, d_model), or None without cross-attention
    mask : array_like of bool, broadcastable to (..., length, length), optional
        True means "may attend".
    memory_mask : array_like of bool, broadcastable to (..., length, source length), optional

    Notes
    -----
    *Attention Is All You Need*, section 3.1.
    """
    x, memory, memory_mask = _usable_memory(p, cfg, x, memory, memory_mask)
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


def _usable_memory(p: DecoderLayer, cfg: Config, x, memory, memory_mask) -> tuple[Array, Array | None, Array | None]:
    """Return what `decoder_layer` was given beside its mask, once the memory is seen to be there if it is read."""
    _require_decoder_layer(p, cfg)
    x = as_floats("x", x, min_ndim=2)
    _require_memory(memory, p.cross_attention is not None)
    if memory is None:
        return x, None, None
    memory = as_floats("memory", memory, min_ndim=2)
    if memory_mask is not None:
        leading = np.broadcast_shapes(x.shape[:-2], memory.shape[:-2])
        memory_mask = as_mask("memory_mask", memory_mask, (*leading, x.shape[-2], memory.shape[-2]))
    return x, memory, memory_mask


def _require_decoder_layer(p: DecoderLayer, cfg: Config) -> None:
    require_parameters("p", p, DecoderLayer)
    require_class("cfg", cfg, Config)
    if (p.cross_attention is None) != (p.norm_2 is None):
        raise ValueError("p: expected cross_attention and norm_2 both, or neither, got one of them")


def _require_memory(memory, is_read: bool) -> None:
    if is_read and memory is None:
        raise ValueError("memory: expected the encoder's output, got None")
    if memory is not None and not is_read:
        raise ValueError("memory: expected None for a decoder without cross-attention, got an array")


def decoder_layer_backward(
    p: DecoderLayer, cfg: Config, trace: DecoderLayerTrace, dout: Array
) -> tuple[Array, Array | None, DecoderLayer]:
    """The gradients of `decoder_layer`: its lines in reverse.

    Returns
    -------
    dx : Array, shape of ``x``
    dmemory : Array, shape of `memory`, or None without cross-attention
    dp : DecoderLayer
    """
    _require_decoder_layer(p, cfg)
    require_class("trace", trace, DecoderLayerTrace)
    dmemory = d_cross = d_norm_2 = None
    back: Callable = partial(feed_forward_backward, p.feed_forward, trace.feed_forward.inner, activation=cfg.activation)
    dy, d_norm_3, d_feed_forward = add_and_norm_backward(cfg, p.norm_3, trace.feed_forward, dout, back)
    if p.cross_attention is not None:
        back = partial(_attend_backward, p.cross_attention, trace.cross_attention.inner)
        dy, d_norm_2, (dmemory, d_cross) = add_and_norm_backward(cfg, p.norm_2, trace.cross_attention, dy, back)
    back = partial(_attend_backward, p.self_attention, trace.self_attention.inner)
    dx, d_norm_1, (_, d_self) = add_and_norm_backward(cfg, p.norm_1, trace.self_attention, dy, back)
    return dx, dmemory, DecoderLayer(d_self, d_norm_1, d_cross, d_norm_2, d_feed_forward, d_norm_3)


def embed(table: Array, cfg: Config, ids, start: int = 0) -> tuple[Array, Array]:
    """Look up rows and add positions: ``sqrt(d_model) * table[ids] + PE``.

    The first id stands at the position `start`.

    Returns
    -------
    embedded, x : Array, shape (..., length, d_model)
        Without and with positions.

    Notes
    -----
    *Attention Is All You Need*, sections 3.4 and 3.5.
    """
    table, ids = _usable_table(table, cfg, ids)
    embedded = embedding(table, ids)
    if cfg.scale_embeddings:
        embedded = embedded * math.sqrt(cfg.d_model)
    if not cfg.positions:
        return embedded, embedded
    pe = sinusoids(ids.shape[-1], cfg.d_model, start)
    return embedded, embedded + pe.astype(table.dtype)


def _usable_table(table, cfg: Config, ids) -> tuple[Array, Array]:
    require_class("cfg", cfg, Config)
    table = as_floats("table", table)
    require_ndim("table", table, 2)
    require_some("table", table)
    if table.shape[1] != cfg.d_model:
        raise ValueError(f"table: expected {cfg.d_model} columns as cfg says, got shape {shape_text(table.shape)}")
    return table, _as_sentences("ids", ids, len(table))


def embed_backward(table: Array, cfg: Config, ids: Array, dx: Array) -> Array:
    """The gradient of `embed` with respect to the table; positions are fixed and take none."""
    table, ids = _usable_table(table, cfg, ids)
    dx = as_gradient("dx", dx, (*ids.shape, cfg.d_model), "ids and cfg give")
    if cfg.scale_embeddings:
        dx = dx * math.sqrt(cfg.d_model)
    return embedding_backward(len(table), ids, dx)


def encode(
    params: Transformer, cfg: Config, src, src_is_token=None, *, keep_trace: bool = True
) -> tuple[Array, StackTrace | None]:
    """Read the source sentences: ids to rows, the memory.

    Parameters
    ----------
    params : Transformer
    cfg : Config
    src : array_like of int, shape (..., source length)
    src_is_token : array_like of bool, same shape, optional
        False where a sentence was filled up; those places get no attention.
    keep_trace : bool, default True
        False forgets what a layer computed as soon as the next one has read its output: enough to
        use a model, not to train it.

    Returns
    -------
    memory : Array, shape (..., source length, d_model)
    trace : StackTrace, or None if it is not kept
    """
    ids, mask, keep_trace = _usable_source(params, cfg, src, src_is_token, keep_trace)
    embedded, x = embed(params.src_embedding, cfg, ids)
    rows, layers = x, []
    for p in params.encoder:
        rows, trace = encoder_layer(p, cfg, rows, mask)
        layers.append(trace if keep_trace else None)
        del trace  # what is not kept serves the next layer
    out, last_norm = _last_norm(params.encoder_norm, cfg, rows)
    return out, StackTrace(ids, embedded, x, layers, last_norm, out) if keep_trace else None


def _usable_source(params: Transformer, cfg: Config, src, src_is_token, keep_trace) -> tuple[Array, Array | None, bool]:
    """Return ids and mask of what `encode` was given."""
    _require_model(params, cfg)
    if not params.encoder:
        raise ValueError("params: expected a model with an encoder, got one without encoder layers")
    ids = _as_sentences("src", src, cfg.src_vocab)
    keep_trace = as_bool("keep_trace", keep_trace)
    return ids, _hides_padding("src_is_token", src_is_token, "src", ids), keep_trace


def decode(
    params: Transformer,
    cfg: Config,
    tgt,
    memory=None,
    tgt_is_token=None,
    src_is_token=None,
    *,
    keep_trace: bool = True,
) -> tuple[Array, StackTrace | None]:
    """Read the target sentences so far, and the memory: ids to rows.

    Parameters
    ----------
    params : Transformer
    cfg : Config
    tgt : array_like of int, shape (..., length)
    memory : Array, shape (..., source length, d_model)
        What `encode` returned; None for a decoder-only model.
    tgt_is_token, src_is_token : array_like of bool, shape of `tgt` and of the source, optional
    keep_trace : bool, default True
        As in `encode`.

    Returns
    -------
    rows : Array, shape (..., length, d_model)
    trace : StackTrace, or None if it is not kept
    """
    ids, memory, mask, memory_mask, keep_trace = _usable_target(
        params, cfg, tgt, memory, tgt_is_token, src_is_token, keep_trace
    )
    embedded, x = embed(params.tgt_embedding, cfg, ids)
    rows, layers = x, []
    for p in params.decoder:
        rows, trace = decoder_layer(p, cfg, rows, memory, mask, memory_mask)
        layers.append(trace if keep_trace else None)
        del trace
    out, last_norm = _last_norm(params.decoder_norm, cfg, rows)
    return out, StackTrace(ids, embedded, x, layers, last_norm, out) if keep_trace else None


def _usable_target(params: Transformer, cfg: Config, tgt, memory, tgt_is_token, src_is_token, keep_trace) -> tuple:
    """Return what `decode` was given: ids, memory, the masks of both, and whether the trace is kept."""
    _require_model(params, cfg)
    if not params.decoder:
        raise ValueError("params: expected a model with a decoder, got one without decoder layers")
    _require_memory(memory, cfg.reads_memory)
    ids = _as_sentences("tgt", tgt, cfg.tgt_vocab)
    keep_trace = as_bool("keep_trace", keep_trace)
    mask = _hides_padding("tgt_is_token", tgt_is_token, "tgt", ids)
    if cfg.causal:
        mask = causal_mask(ids.shape[-1]) if mask is None else causal_mask(ids.shape[-1]) & mask
    if memory is None:
        return ids, None, mask, None, keep_trace
    memory = as_floats("memory", memory, min_ndim=2)
    require_some("memory", memory)
    return ids, memory, mask, _hides_padding("src_is_token", src_is_token, "memory", memory[..., 0]), keep_trace


def _last_norm(norm: LayerNorm | None, cfg: Config, rows: Array) -> tuple[Array, LayerNormTrace | None]:
    """A stack's last norm, which pre-norm models have."""
    return (rows, None) if norm is None else layer_norm(norm, rows, cfg.eps)


def forward(
    params: Transformer, cfg: Config, src, tgt, src_is_token=None, tgt_is_token=None, *, keep_trace: bool = True
) -> tuple[Array, Trace | None]:
    """The whole Transformer: a score for every word of the vocabulary, at every target place.

    Row ``t`` of the logits belongs to the token that follows ``tgt[..., t]``.

    Parameters
    ----------
    params : Transformer
    cfg : Config
    src : array_like of int, shape (..., source length), or None for a decoder-only model
    tgt : array_like of int, shape (..., length)
    src_is_token, tgt_is_token : array_like of bool, shapes of `src` and `tgt`, optional
        False where a sentence was filled up.
    keep_trace : bool, default True
        As in `encode`. `backward` needs the trace; without it a large model takes far less memory.

    Returns
    -------
    logits : Array, shape (..., length, tgt_vocab)
    trace : Trace, or None if it is not kept

    Notes
    -----
    *Attention Is All You Need*, figure 1.

    Examples
    --------
    >>> cfg = Config(src_vocab=5, tgt_vocab=7, d_model=4, n_heads=2, d_ff=8, n_encoder_layers=1, n_decoder_layers=1)
    >>> logits, trace = forward(init(cfg, np.random.default_rng(0)), cfg, [1, 2, 3], [4, 5])
    >>> logits.shape
    (2, 7)
    """
    require_class("params", params, Transformer)
    if params.output is None:
        raise ValueError("params: expected a model with an output, got None")
    memory = encoder_trace = None
    if src is not None:
        memory, encoder_trace = encode(params, cfg, src, src_is_token, keep_trace=keep_trace)
    elif params.encoder:
        raise ValueError("src: expected token ids for a model with an encoder, got None")
    memory = memory if cfg.reads_memory else None
    rows, decoder_trace = decode(params, cfg, tgt, memory, tgt_is_token, src_is_token, keep_trace=keep_trace)
    logits = _linear(params.output, rows)
    return logits, Trace(encoder_trace, decoder_trace, logits) if keep_trace else None


def backward(params: Transformer, cfg: Config, trace: Trace, dlogits: Array) -> Transformer:
    """The gradients of all parameters, from what one `forward` left behind.

    `dlogits` has the shape of the logits, as what `toytf.ops.cross_entropy_backward` returns; the gradients
    come in the parameters' own class.

    Examples
    --------
    >>> from toytf.ops import cross_entropy, cross_entropy_backward
    >>> cfg = Config(src_vocab=5, tgt_vocab=7, d_model=4, n_heads=2, d_ff=8, n_encoder_layers=1, n_decoder_layers=1)
    >>> params = init(cfg, np.random.default_rng(0))
    >>> logits, trace = forward(params, cfg, [1, 2, 3], [4, 5])
    >>> _, loss_trace = cross_entropy(logits, [5, 6])
    >>> grads = backward(params, cfg, trace, cross_entropy_backward(loss_trace))
    >>> grads.output.weight.shape
    (4, 7)
    """
    _require_model(params, cfg)
    if trace is None:
        raise ValueError("trace: expected what forward kept, got None; call it without keep_trace=False")
    require_class("trace", trace, Trace)
    if trace.decoder is None or params.output is None:
        raise ValueError("trace, params: expected those of a model with a decoder, got one without")
    dlogits = as_gradient("dlogits", dlogits, trace.logits.shape, "the logits have")
    drows, d_output = _linear_backward(params.output, trace.decoder.out, dlogits)
    d_tgt_embedding, d_decoder, d_decoder_norm, dmemory = _decode_backward(params, cfg, trace.decoder, drows)
    d_src_embedding, d_encoder, d_encoder_norm = None, [], None
    if params.encoder:
        if dmemory is None:  # nobody read the memory
            dmemory = np.zeros_like(trace.encoder.out)
        d_src_embedding, d_encoder, d_encoder_norm = _encode_backward(params, cfg, trace.encoder, dmemory)
    return Transformer(d_src_embedding, d_encoder, d_encoder_norm, d_tgt_embedding, d_decoder, d_decoder_norm, d_output)


def encode_backward(
    params: Transformer, cfg: Config, trace: StackTrace, dmemory: Array
) -> tuple[Array, list[EncoderLayer], LayerNorm | None]:
    """The gradients of `encode`: of the source embedding, of the layers, and of the last norm.

    Returns
    -------
    d_src_embedding : Array
    d_encoder : list of EncoderLayer
    d_encoder_norm : LayerNorm or None
    """
    _require_model(params, cfg)
    require_class("trace", trace, StackTrace)
    return _encode_backward(params, cfg, trace, as_gradient("dmemory", dmemory, trace.out.shape, "trace has"))


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
    if (norm is None) != (trace.last_norm is None):
        raise ValueError("params, trace: expected both with a norm after the last layer or both without")
    return (dout, None) if norm is None else layer_norm_backward(norm, trace.last_norm, dout)


def _as_sentences(name: str, ids, size: int) -> Array:
    ids = as_ids(name, ids, size)
    if ids.ndim < 1:
        raise ValueError(f"{name}: expected at least 1 axis, got the single id {ids}")
    return ids


def _hides_padding(name: str, is_token, other_name: str, other: Array) -> Array | None:
    """Return the mask of flags that have the shape of `other`, or None if there are none."""
    if is_token is None:
        return None
    is_token = as_flags(name, is_token, "where a token stands")
    require_shape(name, is_token, other.shape, f"{other_name} has")
    return padding_mask(is_token)
