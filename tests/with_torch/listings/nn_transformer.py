"""Four things that nn.Transformer and its stacks do without being asked."""

import torch
from torch import nn


def results():
    torch.manual_seed(0)
    sizes = {"d_model": 8, "nhead": 2, "dim_feedforward": 16, "dropout": 0.0}
    layer = nn.TransformerEncoderLayer(**sizes, batch_first=True)
    stack = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    mine = layer.linear1.weight.clone()
    first, second = (part.linear1.weight for part in stack.layers)
    copies = torch.equal(first, mine) and torch.equal(first, second)
    whole = nn.Transformer(8, 2, 1, 1, 16, 0.0, custom_encoder=stack, batch_first=True)
    ready_made = nn.Transformer(8, 2, 1, 1, 16, batch_first=True)
    src, tgt = torch.randn(1, 4, 8), torch.randn(1, 3, 8)
    other = tgt.clone()
    other[0, 2] += torch.arange(8.0)  # another last row; a shift alone would not show
    hides = whole.generate_square_subsequent_mask(3)
    return {
        "the layers of a new stack are equal": copies,
        "a stack handed over keeps its weights": torch.equal(first, mine),
        "a new one, post-norm, has last norms": ready_made.encoder.norm is not None,
        "default dropout of a layer": str(nn.TransformerEncoderLayer(8, 2).dropout.p),
        "the future is hidden": torch.allclose(whole(src, tgt)[0, 0], whole(src, other)[0, 0]),
        "the future is hidden, with tgt_mask": torch.allclose(
            whole(src, tgt, tgt_mask=hides)[0, 0],
            whole(src, other, tgt_mask=hides)[0, 0],
        ),
    }
