"""An encoder layer in the paper's order, with dropout, in training and in use."""

import numpy as np
import torch

import bridge
from toytf.model import Config, init


def results():
    cfg = Config(1, 1, d_model=8, n_heads=2, d_ff=32, bias=True)
    rng = np.random.default_rng(21)
    layer = bridge.encoder_layer(init(cfg, rng).encoder[0], cfg, dropout=0.1)
    x = torch.from_numpy(rng.normal(size=(2, 5, 8)))
    hidden = bridge.key_padding_mask(np.arange(5) < [[5], [3]])  # the second sentence is shorter
    noisy = [layer(x, src_key_padding_mask=hidden) for _ in range(2)]  # a new module is in training mode
    layer.eval()
    memory, again = (layer(x, src_key_padding_mask=hidden) for _ in range(2))
    return {
        "memory": memory,
        "training: two calls agree": torch.equal(*noisy),
        "in use: two calls agree": torch.equal(memory, again),
    }
