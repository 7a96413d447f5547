"""The same parameters in PyTorch: into ``torch.nn``'s modules, and back.

    import bridge

    module = bridge.model(params, cfg)        # an nn.Module with the same numbers
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
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch

from toytf._validate import positive_int, shape_text
from toytf.attention import MultiHead, causal_mask
from toytf.model import Config, DecoderLayer, EncoderLayer, FeedForward, Transformer
from toytf.ops import Array, LayerNorm, Linear
from toytf.positions import sinusoids

# ---------------------------------------------------------------- masks


def attn_mask(mask, n_heads: int | None = None):
    """Turn a mask round: toytf's True "may attend" becomes torch's True "hidden".

    Parameters
    ----------
    mask : array_like of bool, shape (query, key) or (batch, query, key)
    n_heads : int, optional
        Needed for a mask with a batch axis, which torch wants once for every head.

    Returns
    -------
    torch.Tensor of bool, shape (query, key) or (batch * n_heads, query, key)
        For `attn_mask` of ``nn.MultiheadAttention``, `src_mask`, `tgt_mask` and `memory_mask`.
        ``scaled_dot_product_attention`` has toytf's sense and needs no turning.

    Raises
    ------
    TypeError
        If the mask is not boolean: whether a 0 hides cannot be seen.
    ValueError
        If it has another number of axes, or a batch axis and no `n_heads`.
    """
    mask = _flags("mask", mask)
    if mask.ndim == 2:
        return _tensor(~mask)
    if mask.ndim != 3:
        raise ValueError(
            f"mask: expected shape (query, key) or (batch, query, key), got {shape_text(mask.shape)}; "
            "padding goes into key_padding_mask"
        )
    if n_heads is None:
        raise ValueError("n_heads: expected a number for a mask with a batch axis, got None")
    return _tensor(np.repeat(~mask, positive_int("n_heads", n_heads), axis=0))


def key_padding_mask(is_token):
    """Turn flags round: True "a token stands here" becomes True "hidden".

    Parameters
    ----------
    is_token : array_like of bool, shape (batch, length)
        As `toytf.corpus.pad` returns it. Leave no sentence without a token: torch may give NaN.

    Returns
    -------
    torch.Tensor of bool, same shape
        For `key_padding_mask`, `src_key_padding_mask`, `tgt_key_padding_mask`, `memory_key_padding_mask`.

    Raises
    ------
    TypeError
        If the flags are not boolean.
    """
    return _tensor(~_flags("is_token", is_token))


def _flags(name: str, flags) -> Array:
    flags = np.asarray(flags)
    if flags.dtype != np.bool_:
        raise TypeError(f"{name}: expected booleans, got dtype {flags.dtype}")
    return flags


# ---------------------------------------------------------------- into torch


def multi_head_attention(p: MultiHead, n_heads: int):
    """Make an ``nn.MultiheadAttention`` that computes what `toytf.attention.multi_head_attention` does.

    Parameters
    ----------
    p : MultiHead
    n_heads : int

    Returns
    -------
    torch.nn.MultiheadAttention
        With ``batch_first=True`` and without dropout; call it with ``average_attn_weights=False`` to
        get the weights of each head.

    Raises
    ------
    ValueError
        If the heads together are not as wide as the rows, or `n_heads` does not divide that width:
        torch requires both.
    """
    d_model, wide = p.w_q.shape
    if d_model % positive_int("n_heads", n_heads):
        raise ValueError(f"n_heads: expected a divisor of d_model = {d_model}, got {n_heads}")
    if wide != d_model or p.w_v.shape[1] != d_model:
        raise ValueError(
            f"p: expected heads that together are {d_model} wide, as the rows are and torch requires, "
            f"got {wide} and {p.w_v.shape[1]}"
        )
    bias = any(b is not None for b in (p.b_q, p.b_k, p.b_v, p.b_o))
    module = torch.nn.MultiheadAttention(d_model, n_heads, bias=bias, batch_first=True, dtype=_dtype(p.w_q))
    _fill_attention(module, p)
    return module


def encoder_layer(p: EncoderLayer, cfg: Config):
    """Make an ``nn.TransformerEncoderLayer`` of `toytf.model.encoder_layer`.

    Parameters
    ----------
    p : EncoderLayer
    cfg : Config
        Its residual, scale and norm must be on, and its heads together `d_model` wide.

    Returns
    -------
    torch.nn.TransformerEncoderLayer
        Takes and returns rows of shape (batch, length, d_model).

    Raises
    ------
    ValueError
        If torch's layer cannot do what `cfg` says.
    """
    module = torch.nn.TransformerEncoderLayer(**_layer_options(cfg, p))
    _fill_encoder_layer(module, p)
    return module


def decoder_layer(p: DecoderLayer, cfg: Config):
    """Make an ``nn.TransformerDecoderLayer`` of `toytf.model.decoder_layer`.

    Parameters
    ----------
    p : DecoderLayer
        With cross-attention.
    cfg : Config
        As in `encoder_layer`.

    Returns
    -------
    torch.nn.TransformerDecoderLayer
        Takes rows of shape (batch, length, d_model) and a memory of (batch, source length, d_model).

    Raises
    ------
    ValueError
        If the layer has no cross-attention, or torch's layer cannot do what `cfg` says.
    """
    if p.cross_attention is None:
        raise ValueError("p: expected a decoder layer with cross-attention, which torch's always has, got one without")
    module = torch.nn.TransformerDecoderLayer(**_layer_options(cfg, p))
    _fill_decoder_layer(module, p)
    return module


def transformer(params: Transformer, cfg: Config):
    """Make an ``nn.Transformer`` of the two stacks; embeddings and output are not part of torch's module.

    Parameters
    ----------
    params : Transformer
    cfg : Config

    Returns
    -------
    torch.nn.Transformer
        Takes and returns rows: `src` and `tgt` of shape (batch, length, d_model). It hides nothing by
        itself: give it a `tgt_mask` and the padding.

    Raises
    ------
    ValueError
        If the model has no encoder or no decoder, or torch's layers cannot do what `cfg` says.
    """
    nn = torch.nn
    if not (params.encoder and params.decoder):
        raise ValueError("params: expected an encoder and a decoder, which torch's Transformer always has")
    # Without custom stacks nn.Transformer would end each with one more norm, in post-norm models too.
    norms = _norm(params.encoder_norm, cfg), _norm(params.decoder_norm, cfg)
    encoder = nn.TransformerEncoder(
        encoder_layer(params.encoder[0], cfg), len(params.encoder), norms[0], enable_nested_tensor=False
    )
    decoder = nn.TransformerDecoder(decoder_layer(params.decoder[0], cfg), len(params.decoder), norms[1])
    whole = nn.Transformer(cfg.d_model, cfg.n_heads, custom_encoder=encoder, custom_decoder=decoder, batch_first=True)
    # nn.Transformer draws all its matrices anew, also those of parts that it was given: fill them now.
    for module, p in zip(whole.encoder.layers, params.encoder, strict=True):
        _fill_encoder_layer(module, p)
    for module, p in zip(whole.decoder.layers, params.decoder, strict=True):
        _fill_decoder_layer(module, p)
    return whole


def model(params: Transformer, cfg: Config):
    """Make the whole model as a ``torch.nn.Module``: ids in, logits out, as `toytf.model.forward`.

    Parameters
    ----------
    params : Transformer
    cfg : Config
        With an encoder, a decoder and a causal mask.

    Returns
    -------
    torch.nn.Module
        Call it with ``(src, tgt, src_key_padding_mask=None, tgt_key_padding_mask=None)``: ids of shape
        (batch, length), and masks in torch's sense; it returns logits of shape (batch, length,
        tgt_vocab). Its parts are `src_embedding`, `tgt_embedding`, `transformer` and `output`.

    Raises
    ------
    ValueError
        If `cfg` is not causal, and as in `transformer`.
    """
    if not cfg.causal:
        raise ValueError("cfg: causal: expected True, got False")
    stacks = transformer(params, cfg)

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.transformer = stacks
            self.src_embedding = embedding(params.src_embedding)
            self.tgt_embedding = embedding(params.tgt_embedding)
            self.output = linear(params.output)

        def rows(self, table, ids):
            x = table(ids)
            if cfg.scale_embeddings:
                x = x * math.sqrt(cfg.d_model)
            if cfg.positions:
                x = x + torch.from_numpy(sinusoids(ids.shape[-1], cfg.d_model)).to(x.dtype)
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

    return Model()


def embedding(table: Array):
    """Make an ``nn.Embedding`` of a table of shape (vocabulary, d_model), which can go on learning."""
    return torch.nn.Embedding.from_pretrained(_tensor(table), freeze=False)


def linear(p: Linear):
    """Make an ``nn.Linear``, whose weight stands transposed: (d_out, d_in)."""
    module = torch.nn.Linear(*p.weight.shape, bias=p.bias is not None, dtype=_dtype(p.weight))
    _copy(module.weight, p.weight.T)
    if p.bias is not None:
        _copy(module.bias, p.bias)
    return module


def _layer_options(cfg: Config, p) -> dict:
    for name in ("residual", "scale"):
        if not getattr(cfg, name):
            raise ValueError(f"cfg: {name}: expected True, the only form that torch's layers have, got False")
    if cfg.norm == "none":
        raise ValueError("cfg: norm: expected 'post' or 'pre', the forms that torch's layers have, got 'none'")
    if cfg.n_heads * cfg.head_width != cfg.d_model:
        raise ValueError(
            f"cfg: expected heads that together are d_model = {cfg.d_model} wide, as torch requires, "
            f"got {cfg.n_heads} of {cfg.head_width}"
        )
    return {
        "d_model": cfg.d_model,
        "nhead": cfg.n_heads,
        "dim_feedforward": cfg.d_ff,
        "dropout": 0.0,
        "activation": cfg.activation,
        "layer_norm_eps": cfg.eps,
        "batch_first": True,
        "norm_first": cfg.norm == "pre",
        "dtype": _dtype(p.feed_forward.w_1),
    }


def _fill_encoder_layer(module, p: EncoderLayer) -> None:
    _fill_attention(module.self_attn, p.self_attention)
    _fill_rest(module, p.feed_forward, (p.norm_1, p.norm_2))


def _fill_decoder_layer(module, p: DecoderLayer) -> None:
    _fill_attention(module.self_attn, p.self_attention)
    _fill_attention(module.multihead_attn, p.cross_attention)
    _fill_rest(module, p.feed_forward, (p.norm_1, p.norm_2, p.norm_3))


def _fill_attention(module, p: MultiHead) -> None:
    _copy(module.in_proj_weight, np.concatenate([p.w_q.T, p.w_k.T, p.w_v.T]))
    _copy(module.out_proj.weight, p.w_o.T)
    if module.in_proj_bias is not None:  # torch's layers always have one; zeros where toytf has none
        biases = (p.b_q, p.b_k, p.b_v)
        _copy(module.in_proj_bias, np.concatenate([np.zeros(len(p.w_q)) if b is None else b for b in biases]))
        _copy(module.out_proj.bias, np.zeros(len(p.w_q)) if p.b_o is None else p.b_o)


def _fill_rest(module, p: FeedForward, norms) -> None:
    _copy(module.linear1.weight, p.w_1.T)
    _copy(module.linear1.bias, p.b_1)
    _copy(module.linear2.weight, p.w_2.T)
    _copy(module.linear2.bias, p.b_2)
    for i, norm in enumerate(norms, start=1):
        _fill_norm(getattr(module, f"norm{i}"), norm)


def _norm(p: LayerNorm | None, cfg: Config):
    if p is None:
        return None
    module = torch.nn.LayerNorm(cfg.d_model, eps=cfg.eps, dtype=_dtype(p.gamma))
    _fill_norm(module, p)
    return module


def _fill_norm(module, p: LayerNorm) -> None:
    _copy(module.weight, p.gamma)
    _copy(module.bias, p.beta)


def _copy(parameter, array: Array) -> None:
    with torch.no_grad():
        parameter.copy_(_tensor(array))


def _tensor(array: Array):
    return torch.from_numpy(np.array(array))  # a copy: what torch does to it stays there


def _dtype(array: Array):
    return torch.from_numpy(np.empty(0, array.dtype)).dtype


# ---------------------------------------------------------------- and back


def values(parameter) -> Array:
    """The numbers of a torch parameter, in its own shape."""
    return parameter.detach().cpu().numpy().copy()


def gradients(parameter) -> Array:
    """The gradient of a torch parameter after ``backward()``, in its own shape.

    Raises
    ------
    ValueError
        If there is none.
    """
    if parameter.grad is None:
        raise ValueError("expected a gradient, got none: call backward() on a loss first")
    return values(parameter.grad)


def from_multi_head_attention(module, read: Callable = values, bias: bool | None = None) -> MultiHead:
    """Take the parameters, or the gradients, of an ``nn.MultiheadAttention``.

    Parameters
    ----------
    module : torch.nn.MultiheadAttention
    read : callable
        `values` or `gradients`.
    bias : bool, optional
        Whether to take the biases; if left out, those that the module has.

    Returns
    -------
    MultiHead

    Raises
    ------
    ValueError
        If the module has what toytf has not: keys or values of another width, an added key or value.
    """
    if module.in_proj_weight is None:
        raise ValueError("module: expected queries, keys and values of one width, got kdim or vdim of their own")
    if module.bias_k is not None or module.add_zero_attn:
        raise ValueError("module: expected add_bias_kv and add_zero_attn to be off, got one of them on")
    w_q, w_k, w_v = (part.T.copy() for part in np.split(read(module.in_proj_weight), 3))
    p = MultiHead(w_q, w_k, w_v, read(module.out_proj.weight).T.copy())
    if bias is None or bias:
        if module.in_proj_bias is not None:
            p.b_q, p.b_k, p.b_v = (part.copy() for part in np.split(read(module.in_proj_bias), 3))
            p.b_o = read(module.out_proj.bias)
        elif bias:
            raise ValueError("module: expected biases, got a module without")
    return p


def from_encoder_layer(module, read: Callable = values, bias: bool = True) -> EncoderLayer:
    """Take the parameters, or the gradients, of an ``nn.TransformerEncoderLayer``.

    Parameters
    ----------
    module : torch.nn.TransformerEncoderLayer
        Made with ``bias=True``, as torch does by default.
    read : callable
        `values` or `gradients`.
    bias : bool, default True
        Whether to take the attention's biases, which torch's layers always have.

    Returns
    -------
    EncoderLayer
    """
    return EncoderLayer(
        from_multi_head_attention(module.self_attn, read, bias),
        _from_norm(module.norm1, read),
        _from_feed_forward(module, read),
        _from_norm(module.norm2, read),
    )


def from_decoder_layer(module, read: Callable = values, bias: bool = True) -> DecoderLayer:
    """Take the parameters, or the gradients, of an ``nn.TransformerDecoderLayer``.

    Parameters
    ----------
    module : torch.nn.TransformerDecoderLayer
    read, bias
        As in `from_encoder_layer`.

    Returns
    -------
    DecoderLayer
    """
    return DecoderLayer(
        from_multi_head_attention(module.self_attn, read, bias),
        _from_norm(module.norm1, read),
        from_multi_head_attention(module.multihead_attn, read, bias),
        _from_norm(module.norm2, read),
        _from_feed_forward(module, read),
        _from_norm(module.norm3, read),
    )


def from_transformer(module, read: Callable = values, bias: bool = True) -> tuple:
    """Take the parameters, or the gradients, of an ``nn.Transformer``.

    Parameters
    ----------
    module : torch.nn.Transformer
    read, bias
        As in `from_encoder_layer`.

    Returns
    -------
    encoder : list of EncoderLayer
    encoder_norm : LayerNorm or None
        Unless it was made otherwise, torch's has one, in post-norm models too; `toytf.model.encode`
        applies it if it is there.
    decoder : list of DecoderLayer
    decoder_norm : LayerNorm or None
    """
    return (
        [from_encoder_layer(layer, read, bias) for layer in module.encoder.layers],
        _from_norm(module.encoder.norm, read),
        [from_decoder_layer(layer, read, bias) for layer in module.decoder.layers],
        _from_norm(module.decoder.norm, read),
    )


def from_model(module, read: Callable = values, bias: bool = False) -> Transformer:
    """Take the parameters, or the gradients, of what `model` made.

    Parameters
    ----------
    module : torch.nn.Module
    read : callable
        `values` or `gradients`.
    bias : bool, default False
        Whether the attention's biases belong to the model: the model's ``cfg.bias``.

    Returns
    -------
    Transformer
    """
    encoder, encoder_norm, decoder, decoder_norm = from_transformer(module.transformer, read, bias)
    return Transformer(
        src_embedding=read(module.src_embedding.weight),
        encoder=encoder,
        encoder_norm=encoder_norm,
        tgt_embedding=read(module.tgt_embedding.weight),
        decoder=decoder,
        decoder_norm=decoder_norm,
        output=from_linear(module.output, read),
    )


def from_linear(module, read: Callable = values) -> Linear:
    """Take the parameters, or the gradients, of an ``nn.Linear``; the weight comes back as (d_in, d_out)."""
    return Linear(read(module.weight).T.copy(), None if module.bias is None else read(module.bias))


def _from_norm(module, read: Callable) -> LayerNorm | None:
    if module is None:
        return None
    if module.bias is None:
        raise ValueError("module: expected layer norms with a bias, got one without")
    return LayerNorm(read(module.weight), read(module.bias))


def _from_feed_forward(module, read: Callable) -> FeedForward:
    first, second = from_linear(module.linear1, read), from_linear(module.linear2, read)
    return FeedForward(first.weight, first.bias, second.weight, second.bias)
