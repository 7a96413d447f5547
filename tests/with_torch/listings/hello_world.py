"""The running example, "Hello World", through one encoder layer in PyTorch."""

import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

import bridge
from toytf.example import FEED_FORWARD, PAPER, PUBLISHED
from toytf.ops import Linear


def encoder_layer(example):
    """nn.MultiheadAttention cannot: two heads of width 3 are not 4 wide."""
    x, p = torch.from_numpy(example.x), example.heads  # 2 x 4
    q, k, v = (
        bridge.linear(Linear(w))(x).unflatten(-1, (2, 3)).transpose(0, 1) for w in (p.w_q, p.w_k, p.w_v)
    )  # head, token, 3
    heads = scaled_dot_product_attention(q, k, v, scale=1 / 30)
    z = bridge.linear(Linear(p.w_o))(heads.transpose(0, 1).flatten(1))
    norm = nn.LayerNorm(4, dtype=torch.float64)
    u = norm(x + z)
    widen = bridge.linear(Linear(FEED_FORWARD.w_1, FEED_FORWARD.b_1))
    narrow = bridge.linear(Linear(FEED_FORWARD.w_2, FEED_FORWARD.b_2))
    return z, norm(u + narrow(torch.relu(widen(u))))


def results():
    found = {}
    for name, example in (("as published", PUBLISHED), ("as in the paper", PAPER)):
        found[f"Z, {name}"], found[f"layer, {name}"] = encoder_layer(example)
    return found
