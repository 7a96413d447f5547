"""The same parameters in PyTorch: into ``torch.nn``'s modules, and back.

    module = bridge.Model(params, cfg)        # an nn.Module with the same numbers
    params = bridge.from_model(module)        # and back, bit for bit
    grads = bridge.from_model(module, bridge.gradients)   # after loss.backward()

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

Each function ``..._of`` lays torch's parameters out as toytf's class, transposed where they are transposed. What it
holds are views: numbers copied into them are the module's.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import torch
from torch import nn

from toytf.attention import MultiHead, causal_mask
from toytf.model import Config, DecoderLayer, EncoderLayer, FeedForward, Transformer
from toytf.ops import LayerNorm, Linear
from toytf.positions import sinusoids
from toytf.tree import leaves, named_arrays

# ---------------------------------------------------------------- masks


def attn_mask(mask, n_heads: int = 1):
    """Turn a mask round; one with a batch axis is repeated for each of the heads."""
    return torch.from_numpy(~mask if mask.ndim == 2 else np.repeat(~mask, n_heads, axis=0))


def key_padding_mask(is_token):
    """Turn flags round: True "a token stands here" becomes True "hidden"."""
    return torch.from_numpy(~np.asarray(is_token))


# ---------------------------------------------------------------- torch's parameters, laid out as toytf's


def values(parameter):
    return parameter.data


def gradients(parameter):
    """What a parameter's gradient is after ``backward()``."""
    return parameter.grad


def linear_of(module, of=values) -> Linear:
    return Linear(of(module.weight).T, None if module.bias is None else of(module.bias))


def norm_of(module, of=values) -> LayerNorm | None:
    return None if module is None else LayerNorm(of(module.weight), of(module.bias))


def attention_of(module, of=values, bias=True) -> MultiHead:
    w_q, w_k, w_v = of(module.in_proj_weight).chunk(3)
    biases = (None,) * 4
    if bias and module.in_proj_bias is not None:
        biases = (*of(module.in_proj_bias).chunk(3), of(module.out_proj.bias))
    return MultiHead(w_q.T, w_k.T, w_v.T, of(module.out_proj.weight).T, *biases)


def feed_forward_of(layer, of=values) -> FeedForward:
    first, second = linear_of(layer.linear1, of), linear_of(layer.linear2, of)
    return FeedForward(first.weight, first.bias, second.weight, second.bias)


def encoder_layer_of(layer, of=values, bias=True) -> EncoderLayer:
    attends, feed = attention_of(layer.self_attn, of, bias), feed_forward_of(layer, of)
    return EncoderLayer(attends, norm_of(layer.norm1, of), feed, norm_of(layer.norm2, of))


def decoder_layer_of(layer, of=values, bias=True) -> DecoderLayer:
    attends, reads = attention_of(layer.self_attn, of, bias), attention_of(layer.multihead_attn, of, bias)
    norms = [norm_of(norm, of) for norm in (layer.norm1, layer.norm2, layer.norm3)]
    return DecoderLayer(attends, norms[0], reads, norms[1], feed_forward_of(layer, of), norms[2])


def model_of(module, of=values, bias=True) -> Transformer:
    encoder, decoder = module.transformer.encoder, module.transformer.decoder
    return Transformer(
        src_embedding=of(module.src_embedding.weight),
        encoder=[encoder_layer_of(layer, of, bias) for layer in encoder.layers],
        encoder_norm=norm_of(encoder.norm, of),
        tgt_embedding=of(module.tgt_embedding.weight),
        decoder=[decoder_layer_of(layer, of, bias) for layer in decoder.layers],
        decoder_norm=norm_of(decoder.norm, of),
        output=linear_of(module.output, of),
    )


def filled(module, views, params):
    """Return a module, its views filled with toytf's numbers; a bias that toytf has not becomes 0."""
    arrays, views = named_arrays(params), leaves(views, torch.Tensor)
    assert arrays.keys() <= views.keys()
    for name, view in views.items():
        if name in arrays:
            view.copy_(torch.from_numpy(np.array(arrays[name])))  # a copy: what torch does to it stays there
        else:
            view.zero_()
    return module


def arrays_of(views):
    """Return a tree of views as one of NumPy's arrays."""
    if isinstance(views, torch.Tensor):
        return views.detach().numpy().copy()
    if isinstance(views, list):
        return [arrays_of(view) for view in views]
    if dataclasses.is_dataclass(views):
        return type(views)(**{name: arrays_of(view) for name, view in vars(views).items()})
    return views


def from_model(module, of=values, bias: bool = False) -> Transformer:
    """Take the parameters, or the `gradients`, of what `Model` made; `bias` is the model's ``cfg.bias``."""
    return arrays_of(model_of(module, of, bias))


# ---------------------------------------------------------------- modules with toytf's parameters


def linear(p: Linear):
    module = nn.Linear(*p.weight.shape, bias=p.bias is not None, dtype=_dtype(p.weight))
    return filled(module, linear_of(module), p)


def embedding(table):
    return nn.Embedding.from_pretrained(torch.from_numpy(table.copy()), freeze=False)


def multi_head_attention(p: MultiHead, n_heads: int):
    module = nn.MultiheadAttention(len(p.w_q), n_heads, batch_first=True, dtype=_dtype(p.w_q))
    return filled(module, attention_of(module), p)


def encoder_layer(p: EncoderLayer, cfg: Config, dropout: float = 0.0):
    module = nn.TransformerEncoderLayer(**_options(cfg, p), dropout=dropout)
    return filled(module, encoder_layer_of(module), p)


def decoder_layer(p: DecoderLayer, cfg: Config):
    module = nn.TransformerDecoderLayer(**_options(cfg, p), dropout=0.0)
    return filled(module, decoder_layer_of(module), p)


class Model(nn.Module):
    """The whole model: ids in, logits out, as `toytf.model.forward`, for all that torch's layers can do."""

    def __init__(self, params: Transformer, cfg: Config):
        super().__init__()
        assert cfg.residual and cfg.scale and cfg.causal and cfg.reads_memory and cfg.norm != "none"
        assert cfg.n_heads * cfg.head_width == cfg.d_model
        self.cfg = cfg
        self.src_embedding, self.tgt_embedding = embedding(params.src_embedding), embedding(params.tgt_embedding)
        self.output = linear(params.output)
        norms = [
            None if p is None else nn.LayerNorm(cfg.d_model, eps=cfg.eps, dtype=_dtype(p.gamma))
            for p in (params.encoder_norm, params.decoder_norm)
        ]
        # Without stacks of ours nn.Transformer would end each with one more norm, in post-norm models too.
        first, last = encoder_layer(params.encoder[0], cfg), decoder_layer(params.decoder[0], cfg)
        encoder = nn.TransformerEncoder(first, len(params.encoder), norms[0], enable_nested_tensor=False)
        decoder = nn.TransformerDecoder(last, len(params.decoder), norms[1])
        sizes = {"custom_encoder": encoder, "custom_decoder": decoder, "batch_first": True}
        self.transformer = nn.Transformer(cfg.d_model, cfg.n_heads, **sizes)
        filled(self, model_of(self), params)  # nn.Transformer has drawn all matrices anew, those given to it too

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


def _options(cfg: Config, p) -> dict:
    return {
        "d_model": cfg.d_model,
        "nhead": cfg.n_heads,
        "dim_feedforward": cfg.d_ff,
        "activation": cfg.activation,
        "layer_norm_eps": cfg.eps,
        "batch_first": True,
        "norm_first": cfg.norm == "pre",
        "dtype": _dtype(p.feed_forward.w_1),
    }


def _dtype(array):
    return torch.from_numpy(np.empty(0, array.dtype)).dtype
