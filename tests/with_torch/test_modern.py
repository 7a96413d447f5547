"""The decoder of chapter 23 gives what Hugging Face's classes give, for models drawn at random."""

from dataclasses import replace

import numpy as np
import pytest

from listings import modern_decoder
from listings.modern_decoder import modern

DENSE = modern.Sizes(words=17, d=12, n_heads=6, n_key_heads=3, d_head=4, d_ff=10, n_layers=3)
SPARSE = replace(DENSE, n_experts=5)
SIZES = {
    "llama": DENSE,
    "a key head for each query head": replace(DENSE, n_key_heads=6),
    "one key head for all": replace(DENSE, n_key_heads=1),
    "heads wider than the row": replace(DENSE, d_head=8),
    "another base, another epsilon": replace(DENSE, base=123.0, eps=0.1),
    "stretched: a pair kept, one between, two slowed": replace(DENSE, d_head=8, base=123.0, stretch=8.0, read=60),
    "norm on queries and keys": replace(DENSE, norm_qk=True),
    "both, one key head": replace(DENSE, norm_qk=True, n_key_heads=1, stretch=3.0, read=9),
    "mixtral": SPARSE,
    "one expert each": replace(SPARSE, chosen=1),
    "all experts": replace(SPARSE, chosen=5),
    "a window": replace(SPARSE, window=4),
    "a window of one": replace(SPARSE, window=1),
}


def drawn(cfg, seed):
    rng = np.random.default_rng(seed)
    return modern.drawn(cfg, rng), rng.integers(0, cfg.words, size=9).tolist()


@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize("seed", [0, 1])
def test_the_same_logits_in_double_precision(name, seed):
    params, ids = drawn(SIZES[name], seed)
    ours = modern.decoder(params, SIZES[name], ids)
    np.testing.assert_allclose(ours, modern_decoder.logits(params, SIZES[name], ids).numpy(), rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["llama", "norm on queries and keys", "mixtral", "a window"])
def test_as_it_stands_a_class_differs_by_its_single_precision(name):
    params, ids = drawn(SIZES[name], 0)
    off = modern.decoder(params, SIZES[name], ids) - modern_decoder.logits(params, SIZES[name], ids, False).numpy()
    assert 1e-10 < np.abs(off).max() < 1e-5
