"""Models drawn at random, for properties."""

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from toytf import model, tree
from toytf.model import Config

SEEDS = st.integers(0, 2**32 - 1)


@st.composite
def configs(draw):
    """Any `Config` of a small size."""
    encoders, decoders = draw(st.integers(0, 2)), draw(st.integers(0, 2))
    assume(encoders or decoders)
    return Config(
        src_vocab=draw(st.integers(2, 5)), tgt_vocab=draw(st.integers(2, 5)), d_model=2 * draw(st.integers(1, 2)),
        n_heads=draw(st.integers(1, 2)), d_head=draw(st.integers(1, 3)), d_ff=draw(st.integers(1, 4)),
        n_encoder_layers=encoders, n_decoder_layers=decoders, norm=draw(st.sampled_from(["post", "pre", "none"])),
        eps=draw(st.sampled_from([1e-5, 0.1])), activation=draw(st.sampled_from(["relu", "gelu"])),
        **{
            name: draw(st.booleans())
            for name in ("residual", "scale", "positions", "causal", "cross_attention", "bias", "scale_embeddings")
        },
    )  # fmt: skip


def drawn_model(cfg, seed):
    """A model, none of whose arrays is all zeros or ones."""
    rng = np.random.default_rng(seed)
    params = model.init(cfg, rng)
    for array in tree.named_arrays(params).values():
        array += 0.5 * rng.normal(size=array.shape)
    return params
