"""Multi-head attention as a class of one's own, with the faults mended."""

import math

import numpy as np
import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, width, n_heads, dropout=0.0):
        super().__init__()
        if width % n_heads:
            raise ValueError(f"a width of {width} cannot be cut into {n_heads} heads")
        self.n_heads = n_heads
        self.scale = 1 / math.sqrt(width // n_heads)  # a number has no device
        self.to_q = nn.Linear(width, width)
        self.to_k = nn.Linear(width, width)
        self.to_v = nn.Linear(width, width)
        self.to_out = nn.Linear(width, width)
        self.dropout = nn.Dropout(dropout)

    def split(self, rows):
        """(batch, length, width) to (batch, heads, length, width / heads)"""
        return rows.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def forward(self, query, key, value, may_attend=None):
        """may_attend: bool, True where a query may see a key; (..., query, key)"""
        q = self.split(self.to_q(query))
        k = self.split(self.to_k(key))
        v = self.split(self.to_v(value))
        scores = q @ k.transpose(-1, -2) * self.scale
        if may_attend is not None:
            scores = scores.masked_fill(~may_attend, -torch.inf)  # float types have it
        weights = scores.softmax(dim=-1)
        if may_attend is not None:  # a row with nothing left is NaN here
            weights = weights.masked_fill(~may_attend, 0.0)
        heads = self.dropout(weights) @ v
        return self.to_out(heads.transpose(1, 2).flatten(2)), weights


def results():
    rng = np.random.default_rng(20)
    attention = Attention(300, 6, dropout=0.1).double().eval()
    with torch.no_grad():
        for parameter in attention.parameters():
            drawn = rng.normal(size=tuple(parameter.shape)) / 300**0.5
            parameter.copy_(torch.from_numpy(drawn))
    query = torch.from_numpy(rng.normal(size=(64, 12, 300))).requires_grad_()
    memory = torch.from_numpy(rng.normal(size=(64, 10, 300)))
    is_token = torch.arange(10) < torch.tensor([10, 7, 0] + 61 * [10])[:, None]
    out, weights = attention(query, memory, memory, is_token[:, None, None])
    out.sum().backward()
    in_half = Attention(8, 2).half()
    few = torch.ones(1, 3, 8, dtype=torch.float16)
    return {
        "shape of q": attention.split(attention.to_q(query)).shape,
        "shape of k": attention.split(attention.to_k(memory)).shape,
        "shape of weights": weights.shape,
        "shape of out": out.shape,
        "out": out[:3, 0],  # one query each of a full, a padded and an empty sentence
        "weights": weights[:3, 0, 0],
        "every gradient is finite": bool(query.grad.isfinite().all()),
        "half precision runs": bool(in_half(few, few, few)[0].isfinite().all()),
        "parameters": list(attention.state_dict()),
    }
