"""What the functions of several sources start from: sizes, the input, one way to write a shape."""

from __future__ import annotations

import numpy as np

from toytf._validate import shape_text
from toytf.attention import MultiHead
from toytf.example import FEED_FORWARD, PUBLISHED
from toytf.model import Config, DecoderLayer, init
from toytf.ops import Array

# The paper's base model: its sections 3.1 to 3.3 and table 3.
D_MODEL, D_FF, N_HEADS, N_LAYERS, YEAR = 512, 2048, 8, 6, 2017
D_HEAD = D_MODEL // N_HEADS
TOY_D_FF, TOY_LAYERS = FEED_FORWARD.w_1.shape[1], 6

X = PUBLISHED.x  # the encoder's input as published, token x d_model


def size(array) -> str:
    """The shape of an array, or a shape, as a page writes it: ``3 × 64``."""
    return shape_text(getattr(array, "shape", array)).replace("x", "×")


def eight_heads(tokens: int = 3) -> tuple[MultiHead, Array]:
    """The paper's eight heads with drawn weights, and an input of some tokens."""
    rng = np.random.default_rng(0)
    w_q, w_k, w_v = rng.standard_normal((3, N_HEADS, D_MODEL, D_HEAD)) / np.sqrt(D_MODEL)
    p = MultiHead.from_heads(w_q, w_k, w_v, rng.standard_normal((N_HEADS * D_HEAD, D_MODEL)))
    return p, rng.standard_normal((tokens, D_MODEL))


def small_decoder_layer() -> tuple[Config, DecoderLayer]:
    """A decoder layer of width 8 with drawn weights, and its sizes."""
    cfg = Config(src_vocab=1, tgt_vocab=1, d_model=8, n_heads=2, d_ff=16, n_encoder_layers=1, n_decoder_layers=1)
    return cfg, init(cfg, np.random.default_rng(0)).decoder[0]
