"""torch.std divides by one less than the number of columns; layer norm does not."""

import torch
from torch import nn

from toytf.attention import multi_head_attention
from toytf.example import PUBLISHED


def layer_norm_by_std(x, eps=1e-5):
    return (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + eps)


def results():
    z, _ = multi_head_attention(PUBLISHED.heads, PUBLISHED.x, n_heads=2, scale=1 / 30)
    total = torch.from_numpy(PUBLISHED.x + z)  # 2 x 4
    wide = total.repeat(1, 128)  # the same numbers again and again, in 512 columns
    norm, by_std = nn.LayerNorm(4, dtype=torch.float64), layer_norm_by_std(total)
    return {
        "torch.std": total.std(-1),
        "torch.std, correction=0": total.std(-1, correction=0),
        "nn.LayerNorm": norm(total).detach(),
        "layer_norm_by_std": by_std,
        "torch.std, 512 columns": wide.std(-1),
        "torch.std, 512 columns, correction=0": wide.std(-1, correction=0),
    }
