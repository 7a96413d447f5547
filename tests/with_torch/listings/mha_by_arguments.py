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
    one_head = nn.MultiheadAttention(WIDTH, 1, dtype=torch.float64)
    first, *_ = example(batch_first=True)
    found = {
        "out": out[0, 0],  # first query of the first sentence
        "weights": weights[0],
        "weights of each head": per_head[0],
        "constructor": str(inspect.signature(nn.MultiheadAttention)),
        "shape of query": query.shape,
        "shape of key and value": memory.shape,
        "shape of out": out.shape,
        "shape of weights": weights.shape,
        "shape of weights of each head": per_head.shape,
        "shape of out, one head": one_head(query, memory, memory)[0].shape,
        "shape of out, batch_first": first(query.transpose(0, 1), *[memory.transpose(0, 1)] * 2)[0].shape,
    }
    for name, parameter in module.named_parameters():
        found[f"shape of {name}"] = parameter.shape
    return found
