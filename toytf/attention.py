"""Scaled dot-product attention, and several heads of it."""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np

from toytf._door import Array, Count, Flags, Floats, Gradient, Mask, Numbers, Scores, Seen, door
from toytf.ops import linear, linear_backward, softmax, softmax_backward
from toytf.parameters import Linear, MultiHead
from toytf.traces import AttentionTrace, MultiHeadTrace


@door
def attention(
    q: Annotated[Floats, "... query d_k"],
    k: Annotated[Seen, "... key d_k"],
    v: Annotated[Seen, "... key d_v"],
    mask: Annotated[Mask, "... query key"] | None = None,
    scale: float | None = None,
) -> tuple[Array, AttentionTrace]:
    """Average the values, weighted by how well each key fits the query::

        attention(Q, K, V) = softmax(Q K^T * scale) V,   scale = 1 / sqrt(d_k)

    In the mask, True means "may attend". What stands at a masked key or value, NaN included, changes nothing. A query
    that may attend to nothing gets a row of zeros, weights and output. Returns the rows, (..., query, d_v), and an
    `AttentionTrace`. (*Attention Is All You Need*, section 3.2.1, equation 1)

    >>> q, k, v = [[1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]], [[10.0], [20.0]]
    >>> out, trace = attention(q, k, v, scale=1.0)
    >>> print(trace.attn_weights.round(4), out.round(4))
    [[0.7311 0.2689]] [[12.6894]]
    """
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    scaled_scores = q @ np.swapaxes(k, -1, -2) * scale
    attn_weights = softmax(scaled_scores) if mask is None else masked_softmax(scaled_scores, mask)
    return attn_weights @ v, AttentionTrace(q, k, v, scaled_scores, attn_weights, scale, mask)


@door
def attention_backward(trace: AttentionTrace, dout: Annotated[Gradient, "... query d_v"]) -> tuple[Array, Array, Array]:
    """The gradients of `attention`, from its trace::

        dV = A^T dout,   dA = dout V^T,   dS = softmax_backward(A, dA)
        dQ = dS K * scale,   dK = dS^T Q * scale

    A masked weight is exactly 0, so nothing flows through it; a query that may attend to nothing has gradient 0.
    Returns ``dq``, ``dk`` and ``dv``, of the shapes of the trace's `q`, `k` and `v`.
    """
    a = trace.attn_weights
    dv = np.swapaxes(a, -1, -2) @ dout
    ds = softmax_backward(a, dout @ np.swapaxes(trace.v, -1, -2)) * trace.scale
    dq, dk = ds @ trace.k, np.swapaxes(ds, -1, -2) @ trace.q
    return _sum_to(dq, trace.q.shape), _sum_to(dk, trace.k.shape), _sum_to(dv, trace.v.shape)


def _sum_to(gradient: Array, shape: tuple[int, ...]) -> Array:
    """Add up a gradient over the leading axes along which its array was repeated."""
    if gradient.shape == shape:
        return gradient
    gradient = gradient.sum(axis=tuple(range(gradient.ndim - len(shape))))
    repeated = tuple(i for i, n in enumerate(shape) if n == 1 and gradient.shape[i] > 1)
    return gradient.sum(axis=repeated, keepdims=True) if repeated else gradient


@door
def masked_softmax(scores: Annotated[Scores, "... query key"], mask: Annotated[Mask, "... query key"]) -> Array:
    """Softmax over the keys that may be attended to; the others get weight exactly 0.

    A row with no key left becomes a row of zeros: this is the one place that decides it.

    >>> print(masked_softmax([[5.0, 5.0, 9.0], [1.0, 2.0, 3.0]], [[True, True, False], [False] * 3]).round(4))
    [[0.5 0.5 0. ]
     [0.  0.  0. ]]
    """
    # Where the paper writes -inf stands the lowest number: exp of it is 0 too, and a row without a key is defined.
    return softmax(np.where(mask, scores, np.finfo(scores.dtype).min)) * mask


@door
def causal_mask(length: Count) -> Array:
    """A mask that hides the future: query ``i`` may attend to keys ``0 .. i``, itself included.

    *Attention Is All You Need*, section 3.2.3.

    >>> print(causal_mask(3))
    [[ True False False]
     [ True  True False]
     [ True  True  True]]
    """
    return np.tri(length, dtype=bool)


@door
def padding_mask(is_token: Annotated[Flags, "... key"]) -> Array:
    """A mask that hides filled-up places from every query: (..., key) becomes (..., 1, key).

    `is_token` is True where a token stands, as `toytf.corpus.pad` returns it. Combine the mask with a causal one by
    ``&``: both must allow it.

    >>> print(causal_mask(3) & padding_mask([True, True, False]))
    [[ True False False]
     [ True  True False]
     [ True  True False]]
    """
    return is_token[..., None, :]


# ---------------------------------------------------------------- several heads


@door
def multi_head_attention(
    p: MultiHead,
    x: Annotated[Floats, "... query d_model"],
    memory: Annotated[Floats, "... key d_model"] | None = None,
    *,
    n_heads: Count,
    mask: Annotated[Mask, "... query key"] | None = None,
    scale: float | None = None,
) -> tuple[Array, MultiHeadTrace]:
    """Let several heads attend, each in a space of its own, and mix what they found::

        head_h       = attention(x W_h^Q, memory W_h^K, memory W_h^V)
        multi_head   = concat(head_1, ..., head_n) W^O

    The rows of `x` ask, those of `memory` are asked: `x` itself if it is left out (self-attention). The columns of
    ``w_q``, ``w_k`` and ``w_v`` are divided into `n_heads`. Mask, the same for every head, and `scale` are those of
    `attention`. Returns the rows, of the shape of `x`, and a `MultiHeadTrace`. (*Attention Is All You Need*, section
    3.2.2)

    >>> from toytf.example import PUBLISHED as hello
    >>> z, trace = multi_head_attention(hello.heads, hello.x, n_heads=2, scale=1 / 30)
    >>> print(z.round(4))
    [[ 11.4639 -13.1802 -11.5934 -17.0439]
     [ 11.6261 -13.4745 -11.8713 -17.4926]]
    >>> trace.attention.attn_weights.shape  # head, query, key
    (2, 2, 2)
    """
    memory = x if memory is None else memory
    k, v = _keys_and_values(p, memory, n_heads)
    return _attend(p, x, memory, k, v, n_heads, mask, scale)


def _keys_and_values(p: MultiHead, memory: Array, n_heads: int) -> tuple[Array, Array]:
    """What each head is offered: ``memory W^K`` and ``memory W^V``. One who writes token after token keeps them."""
    k = split_heads(linear(Linear(p.w_k, p.b_k), memory), n_heads)
    v = split_heads(linear(Linear(p.w_v, p.b_v), memory), n_heads)
    return k, v


def _attend(
    p: MultiHead, x: Array, memory: Array | None, k: Array, v: Array, n_heads: int, mask, scale
) -> tuple[Array, MultiHeadTrace]:
    """Ask keys that are there with ``x W^Q``; mix what the heads found, side by side, with ``W^O``."""
    q = split_heads(linear(Linear(p.w_q, p.b_q), x), n_heads)
    mask = None if mask is None else np.atleast_2d(mask)[..., None, :, :]  # the same for every head
    per_head, trace = attention(q, k, v, mask, scale)
    heads = merge_heads(per_head)
    return linear(Linear(p.w_o, p.b_o), heads), MultiHeadTrace(x, memory, trace, heads)


@door
def multi_head_attention_backward(
    p: MultiHead, trace: MultiHeadTrace, dout: Annotated[Gradient, "... query d_model"]
) -> tuple[Array, Array | None, MultiHead]:
    """The gradients of `multi_head_attention`, from its trace, back through W^O, the heads and W^Q, W^K, W^V.

    Returns ``dx``, ``dmemory`` and the gradient of `p`. In self-attention ``dx`` is the sum of what came back through
    queries, keys and values, and ``dmemory`` None.
    """
    n_heads = trace.attention.q.shape[-3]
    dheads, d_o = linear_backward(Linear(p.w_o, p.b_o), trace.heads, dout)
    dq, dk, dv = attention_backward(trace.attention, split_heads(dheads, n_heads))
    dx, d_q = linear_backward(Linear(p.w_q, p.b_q), trace.x, merge_heads(dq))
    from_keys, d_k = linear_backward(Linear(p.w_k, p.b_k), trace.memory, merge_heads(dk))
    from_values, d_v = linear_backward(Linear(p.w_v, p.b_v), trace.memory, merge_heads(dv))
    dmemory = from_keys + from_values
    dp = MultiHead(d_q.weight, d_k.weight, d_v.weight, d_o.weight, d_q.bias, d_k.bias, d_v.bias, d_o.bias)
    if trace.memory is trace.x:
        return dx + dmemory, None, dp
    return dx, dmemory, dp


@door
def split_heads(x: Annotated[Numbers, "... length width"], n_heads: Count) -> Array:
    """Cut the columns into heads: (..., length, heads*d_head) becomes (..., heads, length, d_head).

    >>> split_heads(np.zeros((64, 12, 300)), 6).shape
    (64, 6, 12, 50)
    """
    if x.shape[-1] % n_heads:
        raise ValueError(f"n_heads: expected a divisor of the width {x.shape[-1]}, got {n_heads}")
    return np.swapaxes(x.reshape(*x.shape[:-1], n_heads, -1), -2, -3)


@door
def merge_heads(x: Annotated[Numbers, "... heads length d_head"]) -> Array:
    """Put the heads side by side again: (..., heads, length, d_head) becomes (..., length, heads*d_head).

    >>> merge_heads(np.zeros((64, 6, 12, 50))).shape
    (64, 12, 300)
    """
    x = np.swapaxes(x, -2, -3)
    return x.reshape(*x.shape[:-2], -1)
