"""One mask, three readings; and a row that may attend to nothing."""

import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

KEEP = torch.tensor([[True, True, True, False]])  # meant: the last one is padding


def three_readings():
    """Equal scores, so that every key that is seen gets the same weight."""
    x = torch.eye(4, dtype=torch.float64)[None]  # 1 sentence, 4 tokens
    module = nn.MultiheadAttention(4, 1, bias=False, batch_first=True).double()
    nn.init.zeros_(module.in_proj_weight)

    def module_weights(mask):
        _, weights = module(x, x, x, key_padding_mask=mask)
        return weights[0, 0]

    def core_weights(mask):  # the values are unit rows, so the output is the weights
        out = scaled_dot_product_attention(0 * x, 0 * x, x, attn_mask=mask)
        return out[0, 0]

    added = torch.zeros(1, 4).double().masked_fill(~KEEP, -torch.inf)
    return {
        "nn.MultiheadAttention, mask": module_weights(KEEP),
        "nn.MultiheadAttention, ~mask": module_weights(~KEEP),
        "nn.MultiheadAttention, 0 and -inf": module_weights(added),
        "scaled_dot_product_attention, mask": core_weights(KEEP),
    }


def nothing_left():
    """The second sentence is all padding: what is its row, in training and in use?"""
    torch.manual_seed(0)
    hidden = torch.tensor([[False, True], [True, True]])
    x = torch.randn(2, 2, 4)
    attend = nn.MultiheadAttention(4, 2, batch_first=True)
    bias = nn.init.ones_(attend.out_proj.bias)  # a new module has zeros here
    layer = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True)
    calls = {
        "with weights": lambda: attend(x, x, x, hidden)[0],
        "without weights": lambda: attend(x, x, x, hidden, need_weights=False)[0],
        "encoder layer": lambda: layer(x, src_key_padding_mask=hidden),
        "scaled_dot_product_attention": lambda: scaled_dot_product_attention(x, x, x, attn_mask=~hidden[:, None]),
    }

    def said(row):
        if row.isnan().any():
            return "NaN"
        if row.eq(0).all():
            return "zeros"
        return "the bias" if row.allclose(bias) else "numbers"

    found = {}
    for name, call in calls.items():
        for mode in ("training", "in use"):
            attend.train(mode == "training")
            layer.train(mode == "training")
            with torch.set_grad_enabled(mode == "training"):
                found[f"nothing left: {name}, {mode}"] = said(call()[1])
    return found


def results():
    return three_readings() | nothing_left()
