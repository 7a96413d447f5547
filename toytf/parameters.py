"""What a model learns, and how large it is: `Config`, the parameters as dataclasses, and how they are drawn.

`Config` with its default values is the paper's base model. ``Annotated`` names the axes of each array; axes of one
name have one length.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Literal

import numpy as np

from toytf._door import Array, Count, Place, Positive, check_fields, door
from toytf._validate import as_floats
from toytf.tree import leaves

# ---------------------------------------------------------------- sizes and switches


@dataclass(frozen=True)
class Config:
    """Sizes of a Transformer, and switches. Only the vocabularies have no default, and the defaults are the paper's.

    A stack of 0 layers is left out, and its vocabulary is then not used: 0 decoder layers make an encoder-only model, 0
    encoder layers a decoder-only one.

    >>> Config(src_vocab=37000, tgt_vocab=37000).head_width
    64
    """

    src_vocab: Count
    tgt_vocab: Count
    d_model: Count = 512
    n_heads: Count = 8
    d_ff: Count = 2048
    n_encoder_layers: Place = 6
    n_decoder_layers: Place = 6
    d_head: Count | None = None  # the width of one head; d_model / n_heads if left out
    norm: Literal["post", "pre", "none"] = "post"  # norm(x + sublayer(x)), or x + sublayer(norm(x)) and one at the end
    residual: bool = True  # add each sub-layer's input to its output
    scale: bool = True  # divide scores by the square root of the head's width
    positions: bool = True  # add the sinusoids
    causal: bool = True  # hide the future in the decoder's self-attention
    cross_attention: bool = True  # let the decoder read the encoder's output
    activation: Literal["relu", "gelu"] = "relu"  # the bend in the feed-forward network
    bias: bool = False  # in the attention's linear maps
    scale_embeddings: bool = True  # multiply embeddings by the square root of d_model (section 3.4)
    eps: Positive = 1e-5  # epsilon of the layer norms

    def __post_init__(self):
        check_fields(self)
        if self.n_encoder_layers == self.n_decoder_layers == 0:
            raise ValueError("n_encoder_layers, n_decoder_layers: expected at least one layer, got 0 and 0")
        if self.d_head is None and self.d_model % self.n_heads:
            raise ValueError(
                f"n_heads: expected a divisor of d_model = {self.d_model}, got {self.n_heads}; "
                "or say how wide a head is with d_head"
            )
        if self.positions and self.d_model % 2:
            raise ValueError(f"d_model: expected an even number (sines and cosines come in pairs), got {self.d_model}")

    @property
    def head_width(self) -> int:
        """The width of one head."""
        return self.d_head if self.d_head is not None else self.d_model // self.n_heads

    @property
    def reads_memory(self) -> bool:
        """Whether the decoder has cross-attention."""
        return self.cross_attention and self.n_encoder_layers > 0


# ---------------------------------------------------------------- parameters


@dataclass
class Linear:
    """Parameters of ``y = x W + b``; `bias` may be left out."""

    weight: Annotated[Array, "d_in d_out"]
    bias: Annotated[Array, "d_out"] | None = None


@dataclass
class LayerNorm:
    """Parameters of layer normalisation: a scale and a shift for each column."""

    gamma: Annotated[Array, "d_model"]
    beta: Annotated[Array, "d_model"]


@dataclass
class MultiHead:
    """Parameters of multi-head attention, the heads' matrices side by side.

    Columns ``h * d_head`` to ``(h + 1) * d_head`` of `w_q` belong to head ``h``; likewise `w_k`
    and `w_v`; `w_o` has the same rows. A head may have any width: ``n_heads * d_head`` need not
    be ``d_model``.
    """

    w_q: Annotated[Array, "d_model heads*d_k"]
    w_k: Annotated[Array, "d_model heads*d_k"]
    w_v: Annotated[Array, "d_model heads*d_v"]
    w_o: Annotated[Array, "heads*d_v d_model"]
    b_q: Annotated[Array, "heads*d_k"] | None = None
    b_k: Annotated[Array, "heads*d_k"] | None = None
    b_v: Annotated[Array, "heads*d_v"] | None = None
    b_o: Annotated[Array, "d_model"] | None = None

    @classmethod
    def from_heads(cls, w_q: Sequence, w_k: Sequence, w_v: Sequence, w_o) -> MultiHead:
        """Put one matrix a head side by side: lists of (d_model, d_k), twice, and of (d_model, d_v).

        `w_o` has the shape (n_heads * d_v, d_model).
        """
        if not len(w_q) == len(w_k) == len(w_v) > 0:
            raise ValueError(f"expected as many w_k and w_v as w_q, got {len(w_q)}, {len(w_k)} and {len(w_v)} heads")
        q, k, v = (as_floats("a head", np.concatenate(matrices, axis=-1)) for matrices in (w_q, w_k, w_v))
        return _fitting(cls(q, k, v, as_floats("w_o", w_o)))


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


@door
def _fitting(p: MultiHead) -> MultiHead:
    """Return parameters whose shapes fit each other."""
    return p


@door
def init(cfg: Config, rng: np.random.Generator, dtype=np.float64) -> Transformer:
    """Draw the parameters of a model, once.

    Matrices are drawn uniformly between ``-a`` and ``a`` with ``a = sqrt(6 / (rows + columns))``
    (Glorot and Bengio, 2010), embeddings with standard deviation ``d_model ** -0.5``; gammas are 1,
    betas and biases 0. Everything that is computed with them has their dtype.

    >>> cfg = Config(src_vocab=5, tgt_vocab=7, d_model=4, n_heads=2, d_ff=8, n_encoder_layers=1, n_decoder_layers=1)
    >>> from toytf.tree import count
    >>> count(init(cfg, np.random.default_rng(0)))
    467
    """
    dtype = np.dtype(dtype)

    def matrix(rows, columns):
        a = math.sqrt(6 / (rows + columns))
        return rng.uniform(-a, a, size=(rows, columns)).astype(dtype)

    def table(rows, columns):
        return (rng.normal(size=(rows, columns)) * columns**-0.5).astype(dtype)

    return _assembled(cfg, matrix, table, partial(np.ones, dtype=dtype), partial(np.zeros, dtype=dtype))


@door
def shapes(cfg: Config) -> dict[str, tuple[int, ...]]:
    """Return the shape of every array that a model has, by its name, without making one.

    >>> shapes(Config(37000, 37000))["encoder.0.feed_forward.w_1"]
    (512, 2048)
    """
    return leaves(_outline(cfg), tuple)


def _outline(cfg: Config) -> Transformer:
    """Return a `Transformer` that has the shape of each array in the array's place."""

    def shape(*lengths):
        return lengths

    return _assembled(cfg, shape, shape, shape, shape)


def _assembled(cfg: Config, matrix: Callable, table: Callable, ones: Callable, zeros: Callable) -> Transformer:
    """Make a `Transformer` of what four functions make of an array's lengths."""
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


@door
def require_model(params: Transformer, cfg: Annotated[Config, "sizes"]) -> None:
    """Raise an error unless these are a model's parameters and sizes, and all shapes fit each other."""
