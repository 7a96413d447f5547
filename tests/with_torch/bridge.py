"""The same parameters in PyTorch: toytf's arrays under the names, and in the shapes, of ``torch.nn``'s modules.

    module = bridge.Model(params, cfg)   # an nn.Module with the same numbers
    bridge.state(grads)                  # what .grad has to be after loss.backward(), by the module's names

What differs between the two libraries, and what is done about it:

=====================  ====================================  =========================================
what                   toytf                                 torch.nn
=====================  ====================================  =========================================
linear map             ``x @ weight``, (d_in, d_out)         ``x @ weight.T``, (d_out, d_in)
Q, K, V                three matrices                        one, (3 d_model, d_model): `in_proj_weight`
mask                   True: may attend                      True: hidden (`MultiheadAttention` and layers)
mask of each sentence  (batch, query, key)                   (batch * heads, query, key)
padding                True: a token                         True: hidden (`key_padding_mask`)
a row without keys     output 0                              NaN, or 0, depending on the path taken
attention bias         None, or four arrays                  zeros where toytf has None
width of a head        any                                   d_model / n_heads
dropout                none                                  0.1 by default; here 0
axes                   (batch, length, d_model)              (length, batch, d_model); here batch first
last norm of a stack   pre-norm only                         `nn.Transformer`: always; here as in toytf
=====================  ====================================  =========================================
"""

from __future__ import annotations

import math
import re

import numpy as np
import torch
from torch import nn

from toytf.attention import MultiHead, causal_mask
from toytf.model import Config, Transformer
from toytf.ops import Linear
from toytf.positions import sinusoids
from toytf.tree import named_arrays

# ---------------------------------------------------------------- masks


def attn_mask(mask, n_heads: int = 1):
    """Turn a mask round; one with a batch axis is repeated for each of the heads."""
    return torch.from_numpy(~mask if mask.ndim == 2 else np.repeat(~mask, n_heads, axis=0))


def key_padding_mask(is_token):
    """Turn flags round: True "a token stands here" becomes True "hidden"."""
    return torch.from_numpy(~np.asarray(is_token))


# ---------------------------------------------------------------- parameters, or gradients, as torch has them


# From toytf's names to torch's. Q, K and V get one name: in this order they are one matrix, and one bias.
NAMES = [
    (r"self_attention", "self_attn"),
    (r"cross_attention", "multihead_attn"),
    (r"\bw_[qkv]$", "in_proj_weight"),
    (r"\bb_[qkv]$", "in_proj_bias"),
    (r"\bw_o$", "out_proj.weight"),
    (r"\bb_o$", "out_proj.bias"),
    (r"feed_forward\.w_(\d)", r"linear\1.weight"),
    (r"feed_forward\.b_(\d)", r"linear\1.bias"),
    (r"norm_(\d)", r"norm\1"),
    (r"gamma$", "weight"),
    (r"beta$", "bias"),
    (r"_embedding$", "_embedding.weight"),
    (r"^(encoder|decoder)_norm", r"transformer.\1.norm"),
    (r"^(encoder|decoder)\.", r"transformer.\1.layers."),
]


def state(part) -> dict:
    """The arrays of a model, or of a part of one, as tensors by torch's names: parameters, or their gradients."""
    found = {}
    for name, array in named_arrays(part).items():
        turned = torch.from_numpy(array if "embedding" in name else array.T)
        for pattern, theirs in NAMES:
            name = re.sub(pattern, theirs, name)
        found[name] = torch.cat([*([found[name]] if name in found else []), turned])
    return found


def filled(module, p):
    """Return the module with toytf's numbers; only a bias that toytf has not stays as it is made, at 0."""
    tensors = state(p)
    module.to(next(iter(tensors.values())).dtype)
    missing, strange = module.load_state_dict(tensors, strict=False)
    assert not strange and all(name.endswith(("in_proj_bias", "out_proj.bias")) for name in missing)
    return module


# ---------------------------------------------------------------- modules with toytf's parameters


def linear(p: Linear):
    return filled(nn.Linear(*p.weight.shape, bias=p.bias is not None), p)


def multi_head_attention(p: MultiHead, n_heads: int):
    return filled(nn.MultiheadAttention(len(p.w_q), n_heads, batch_first=True), p)


def _options(cfg: Config) -> dict:
    return {
        "d_model": cfg.d_model,
        "nhead": cfg.n_heads,
        "dim_feedforward": cfg.d_ff,
        "dropout": 0.0,
        "activation": cfg.activation,
        "layer_norm_eps": cfg.eps,
        "batch_first": True,
        "norm_first": cfg.norm == "pre",
    }


class Model(nn.Module):
    """The whole model: ids in, logits out, as `toytf.model.forward`, for all that torch's layers can do."""

    def __init__(self, params: Transformer, cfg: Config):
        super().__init__()
        assert cfg.residual and cfg.scale and cfg.causal and cfg.reads_memory and cfg.norm != "none"
        assert cfg.n_heads * cfg.head_width == cfg.d_model
        self.cfg, width = cfg, cfg.d_model
        self.src_embedding, self.tgt_embedding = (nn.Embedding(n, width) for n in (cfg.src_vocab, cfg.tgt_vocab))
        self.output = nn.Linear(width, cfg.tgt_vocab)
        # Without stacks of ours nn.Transformer would end each with one more norm, in post-norm models too.
        norms = [nn.LayerNorm(width, eps=cfg.eps) if cfg.norm == "pre" else None for _ in range(2)]
        first, last = nn.TransformerEncoderLayer(**_options(cfg)), nn.TransformerDecoderLayer(**_options(cfg))
        encoder = nn.TransformerEncoder(first, cfg.n_encoder_layers, norms[0], enable_nested_tensor=False)
        decoder = nn.TransformerDecoder(last, cfg.n_decoder_layers, norms[1])
        stacks = {"custom_encoder": encoder, "custom_decoder": decoder, "batch_first": True}
        self.transformer = nn.Transformer(width, cfg.n_heads, **stacks)
        filled(self, params)

    def rows(self, table, ids):
        x = table(ids)
        if self.cfg.scale_embeddings:
            x = x * math.sqrt(self.cfg.d_model)
        if self.cfg.positions:
            x = x + torch.from_numpy(sinusoids(ids.shape[-1], self.cfg.d_model)).to(x.dtype)
        return x

    def forward(self, src, tgt, src_key_padding_mask=None, tgt_key_padding_mask=None):
        rows = self.transformer(
            self.rows(self.src_embedding, src),
            self.rows(self.tgt_embedding, tgt),
            tgt_mask=attn_mask(causal_mask(tgt.shape[-1])),
            src_key_padding_mask=src_key_padding_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=src_key_padding_mask,
        )
        return self.output(rows)
