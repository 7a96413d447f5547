"""nn.MultiheadAttention, with 64 sentences of 12 queries and 10 keys, 300 wide."""

import inspect

import numpy as np
import torch
from torch import nn

QUERIES, KEYS, SENTENCES, WIDTH, HEADS = 12, 10, 64, 300, 6


def example(**arguments):
    """The module and its inputs. NumPy draws all numbers, so that others can too."""
    rng = np.random.default_rng(19)
    module = nn.MultiheadAttention(WIDTH, HEADS, dtype=torch.float64, **arguments)
    with torch.no_grad():
        for parameter in module.parameters():
            drawn = rng.normal(size=tuple(parameter.shape)) / WIDTH**0.5
            parameter.copy_(torch.from_numpy(drawn))
    query = torch.from_numpy(rng.normal(size=(QUERIES, SENTENCES, WIDTH)))
    memory = torch.from_numpy(rng.normal(size=(KEYS, SENTENCES, WIDTH)))
    return module, query, memory


def results():
    module, query, memory = example()
    out, weights = module(query, memory, memory)
    _, per_head = module(query, memory, memory, average_attn_weights=False)
    _, nothing = module(query, memory, memory, need_weights=False)
    one_head = nn.MultiheadAttention(WIDTH, 1, dtype=torch.float64)
    first, *_ = example(batch_first=True)
    dropping, *_ = example(dropout=0.5)
    _, dropped = dropping(query, memory, memory, average_attn_weights=False)
    kept = dropped != 0
    found = {
        "out": out[0, 0],  # first query of the first sentence
        "weights": weights[0],
        "weights of each head": per_head[0],
        "dropout: every weight is 0 or doubled": torch.allclose(dropped[kept], 2 * per_head[kept]),
        "dropout: rows sum to 1": torch.allclose(dropped.sum(-1), torch.tensor(1.0).double()),
        "constructor": str(inspect.signature(nn.MultiheadAttention)),
        "call": list(inspect.signature(module.forward).parameters),
        "shape of query": query.shape,
        "shape of key and value": memory.shape,
        "shape of out": out.shape,
        "shape of weights": weights.shape,
        "shape of weights of each head": per_head.shape,
        "need_weights=False gives weights": nothing is not None,
        "shape of out, one head": one_head(query, memory, memory)[0].shape,
        "shape of out, batch_first": first(query.transpose(0, 1), *[memory.transpose(0, 1)] * 2)[0].shape,
    }
    for name, parameter in module.named_parameters():
        found[f"shape of {name}"] = parameter.shape
    own_widths = nn.MultiheadAttention(WIDTH, HEADS, kdim=200, vdim=100)
    for name in ("q_proj_weight", "k_proj_weight", "v_proj_weight"):
        found[f"kdim=200, vdim=100: shape of {name}"] = getattr(own_widths, name).shape
    more, *_ = example(add_bias_kv=True, add_zero_attn=True)
    found["add_bias_kv, add_zero_attn: shape of weights"] = more(query, memory, memory)[1].shape
    return found
