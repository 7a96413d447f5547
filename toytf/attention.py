"""Scaled dot-product attention, and several heads of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from toytf._validate import (
    as_flags,
    as_floats,
    as_gradient,
    as_list,
    as_mask,
    number,
    positive_int,
    require_class,
    require_finite,
    require_leading,
    require_ndim,
    require_parameters,
    require_room,
    require_some,
    require_width,
    rows_for,
    shape_text,
    surely_finite,
)
from toytf.ops import Array, Linear, _linear, _linear_backward, _softmax, _softmax_backward, _transposed


@dataclass
class AttentionTrace:
    """Everything that one call of `attention` computed, kept for the page and for the gradient."""

    q: Annotated[Array, "... query d_k"]
    k: Annotated[Array, "... key d_k"]
    v: Annotated[Array, "... key d_v"]
    scaled_scores: Annotated[Array, "... query key"]  # q k^T * scale, before the mask
    attn_weights: Annotated[Array, "... query key"]
    scale: float
    mask: Annotated[Array, "... query key"] | None


def attention(q, k, v, mask=None, scale: float | None = None) -> tuple[Array, AttentionTrace]:
    """Average the values, weighted by how well each key fits the query::

        attention(Q, K, V) = softmax(Q K^T * scale) V,   scale = 1 / sqrt(d_k)

    Parameters
    ----------
    q : array_like, shape (..., query, d_k)
    k : array_like, shape (..., key, d_k)
    v : array_like, shape (..., key, d_v)
    mask : array_like of bool, broadcastable to (..., query, key), optional
        True means "may attend". What stands at a masked key or value, NaN included, changes
        nothing. A query that may attend to nothing gets a row of zeros, weights and output.
    scale : float, optional
        What the dot products are multiplied by; ``1 / sqrt(d_k)`` if left out.

    Returns
    -------
    out : Array, shape (..., query, d_v)
    trace : AttentionTrace

    Raises
    ------
    ValueError
        If widths, lengths or leading axes do not fit, the mask has a wrong shape, or a number
        that is attended to is NaN or infinite.
    TypeError
        If the mask is not boolean.

    Notes
    -----
    *Attention Is All You Need*, section 3.2.1 and equation 1.

    Examples
    --------
    >>> from toytf.byhand import fmt
    >>> q, k, v = [[1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]], [[10.0], [20.0]]
    >>> out, trace = attention(q, k, v, scale=1.0)
    >>> print(fmt(trace.attn_weights), fmt(out))
    [[0.7311 0.2689]] [[12.6894]]
    """
    return _attention(*_usable(q, k, v, mask, scale))


def _attention(q: Array, k: Array, v: Array, mask: Array | None, scale: float) -> tuple[Array, AttentionTrace]:
    """`attention` alone."""
    scaled_scores = q @ _transposed(k) * scale
    attn_weights = _masked_softmax("scaled_scores", scaled_scores, mask)
    return attn_weights @ v, AttentionTrace(q, k, v, scaled_scores, attn_weights, scale, mask)


def _usable(q, k, v, mask, scale) -> tuple[Array, Array, Array, Array | None, float]:
    """Return what `attention` was given as its formula can use it."""
    q, k, v = as_floats("q", q, min_ndim=2), as_floats("k", k, min_ndim=2), as_floats("v", v, min_ndim=2)
    require_width("q", q, "k", k, axis=-1)
    if k.shape[-2] != v.shape[-2]:
        raise ValueError(
            f"k has {k.shape[-2]} rows (shape {shape_text(k.shape)}) and v has {v.shape[-2]} "
            f"(shape {shape_text(v.shape)}): every key needs its value"
        )
    require_leading("q", q, "k", k)
    require_leading("q", q, "v", v)
    scale = _usable_scale(scale, q.shape[-1])
    if mask is not None:
        leading = np.broadcast_shapes(q.shape[:-2], k.shape[:-2])
        mask = as_mask("mask", mask, (*leading, q.shape[-2], k.shape[-2]))
        k, v = _blank_unseen(mask, k), _blank_unseen(mask, v)
    for name, x in (("q", q), ("k", k), ("v", v)):
        require_some(name, x)
        require_finite(name, x)
    return q, k, v, mask, scale


def _usable_scale(scale: float | None, d_k: int) -> float:
    return 1.0 / math.sqrt(d_k) if scale is None else number("scale", scale)


def attention_backward(trace: AttentionTrace, dout: Array) -> tuple[Array, Array, Array]:
    """The gradients of `attention`, from its trace::

        dV = A^T dout,   dA = dout V^T,   dS = softmax_backward(A, dA)
        dQ = dS K * scale,   dK = dS^T Q * scale

    A masked weight is exactly 0, so nothing flows through it; a query that may attend to
    nothing has gradient 0.

    Returns
    -------
    dq, dk, dv : Array, shapes of the trace's `q`, `k` and `v`
    """
    require_class("trace", trace, AttentionTrace)
    shape = (*trace.attn_weights.shape[:-1], trace.v.shape[-1])
    return _attention_backward(trace, as_gradient("dout", dout, shape, "trace gives"))


def _attention_backward(trace: AttentionTrace, dout: Array) -> tuple[Array, Array, Array]:
    """`attention_backward` alone."""
    a = trace.attn_weights
    dv = _transposed(a) @ dout
    da = dout @ _transposed(trace.v)
    ds = _softmax_backward(a, da) * trace.scale
    dq = ds @ trace.k
    dk = _transposed(ds) @ trace.q
    return _sum_to(dq, trace.q.shape), _sum_to(dk, trace.k.shape), _sum_to(dv, trace.v.shape)


def _sum_to(gradient: Array, shape: tuple[int, ...]) -> Array:
    """Add up a gradient over the leading axes along which its array was repeated."""
    if gradient.shape == shape:
        return gradient
    gradient = gradient.sum(axis=tuple(range(gradient.ndim - len(shape))))
    repeated = tuple(i for i, n in enumerate(shape) if n == 1 and gradient.shape[i] > 1)
    return gradient.sum(axis=repeated, keepdims=True) if repeated else gradient


def masked_softmax(scores, mask) -> Array:
    """Softmax over the keys that may be attended to; the others get weight exactly 0.

    A row with no key left becomes a row of zeros: this is the one place that decides it.

    Parameters
    ----------
    scores : array_like, shape (..., query, key)
    mask : array_like of bool, broadcastable to the shape of `scores`
        True means "may attend".

    Returns
    -------
    Array, shape (..., query, key)

    Examples
    --------
    >>> from toytf.byhand import fmt
    >>> print(fmt(masked_softmax([[5.0, 5.0, 9.0], [1.0, 2.0, 3.0]], [[True, True, False], [False] * 3])))
    [[0.5000 0.5000 0.0000]
     [0.0000 0.0000 0.0000]]
    """
    scores = as_floats("scores", scores, min_ndim=2)
    return _masked_softmax("scores", scores, as_mask("mask", mask, scores.shape))


def _masked_softmax(name: str, scores: Array, mask: Array | None) -> Array:
    """`masked_softmax` of what has been checked; without a mask all may be attended to."""
    if mask is None:
        return _softmax(name, scores)
    # A row without a key is given equal scores to keep the softmax defined, then set to zero.
    has_key = mask.any(axis=-1, keepdims=True)
    hidden = np.where(has_key, -np.inf, 0).astype(scores.dtype)
    return _softmax(name, np.where(mask, scores, hidden)) * has_key


def causal_mask(length: int) -> Array:
    """A mask that hides the future: query ``i`` may attend to keys ``0 .. i``, itself included.

    Notes
    -----
    *Attention Is All You Need*, section 3.2.3.

    Examples
    --------
    >>> print(causal_mask(3))
    [[ True False False]
     [ True  True False]
     [ True  True  True]]
    """
    length = positive_int("length", length)
    require_room("length", length, length)
    return np.tri(length, dtype=bool)


def padding_mask(is_token) -> Array:
    """A mask that hides filled-up places from every query.

    Combine it with a causal mask by ``&``: both must allow it.

    Parameters
    ----------
    is_token : array_like of bool, shape (..., key)
        True where a token stands, False where the sentence was filled up; `toytf.corpus.pad`
        returns it.

    Returns
    -------
    Array of bool, shape (..., 1, key)

    Examples
    --------
    >>> print(padding_mask([True, True, False]))
    [[ True  True False]]
    >>> print(causal_mask(3) & padding_mask([True, True, False]))
    [[ True False False]
     [ True  True False]
     [ True  True False]]
    """
    return as_flags("is_token", is_token, "where a token stands")[..., None, :]


def _blank_unseen(mask: Array, rows: Array) -> Array:
    """Return `rows` (keys or values) with zeros where no query may look, so that 0 * NaN cannot arise."""
    if surely_finite(rows):  # nothing to guard against, as in nearly every call
        return rows
    seen = np.broadcast_to(mask, (*mask.shape[:-2], *np.broadcast_shapes(mask.shape[-2:], (1, rows.shape[-2]))))
    seen = np.expand_dims(seen.any(axis=-2), -1)
    return rows if seen.all() else np.where(seen, rows, 0.0).astype(rows.dtype, copy=False)


# ---------------------------------------------------------------- several heads


@dataclass
class MultiHead:
    """Parameters of multi-head attention, the heads' matrices side by side.

    Columns ``h * d_head`` to ``(h + 1) * d_head`` of `w_q` belong to head ``h``; likewise `w_k`
    and `w_v`; `w_o` has the same rows. A head may have any width: ``n_heads * d_head`` need not
    be ``d_model``.
    """

    w_q: Annotated[Array, "d_model heads*d_k"]
    w_k: Annotated[Array, "d_model heads*d_k"]
    w_v: Annotated[Array, "d_model heads*d_v"]
    w_o: Annotated[Array, "heads*d_v d_model"]
    b_q: Annotated[Array, "heads*d_k"] | None = None
    b_k: Annotated[Array, "heads*d_k"] | None = None
    b_v: Annotated[Array, "heads*d_v"] | None = None
    b_o: Annotated[Array, "d_model"] | None = None

    @classmethod
    def from_heads(cls, w_q: Sequence, w_k: Sequence, w_v: Sequence, w_o) -> MultiHead:
        """Put one matrix a head side by side.

        Parameters
        ----------
        w_q, w_k : sequence of array_like, each of shape (d_model, d_k)
        w_v : sequence of array_like, each of shape (d_model, d_v)
        w_o : array_like, shape (n_heads * d_v, d_model)

        Raises
        ------
        ValueError
            If the numbers of heads or the shapes differ.
        """
        stacks, n_heads = {}, None
        for name, matrices in (("w_q", w_q), ("w_k", w_k), ("w_v", w_v)):
            matrices = as_list(name, matrices, "matrices, one a head")
            matrices = [as_floats(f"{name}[{h}]", m, min_ndim=2) for h, m in enumerate(matrices)]
            n_heads = len(matrices) if n_heads is None else n_heads
            if len(matrices) != n_heads:
                raise ValueError(f"{name}: expected {n_heads} heads, as many as w_q has, got {len(matrices)}")
            if not matrices:
                raise ValueError("w_q: expected at least one head, got none")
            for h, m in enumerate(matrices):
                require_ndim(f"{name}[{h}]", m, 2)
                if m.shape != matrices[0].shape:
                    raise ValueError(
                        f"{name}[{h}]: expected shape {shape_text(matrices[0].shape)} as in head 0, "
                        f"got {shape_text(m.shape)}"
                    )
            stacks[name] = np.concatenate(matrices, axis=-1)
        w_o = as_floats("w_o", w_o, min_ndim=2)
        require_width("the heads side by side", stacks["w_v"], "w_o", w_o, axis=-2)
        p = cls(**stacks, w_o=w_o)
        require_parameters("MultiHead", p, cls)
        return p


@dataclass
class MultiHeadTrace:
    """Everything that one call of `multi_head_attention` computed."""

    x: Annotated[Array, "... query d_model"]
    memory: Annotated[Array, "... key d_model"]
    attention: AttentionTrace  # its arrays have a `heads` axis before the last two
    heads: Annotated[Array, "... query heads*d_v"]  # the heads' outputs side by side


def multi_head_attention(
    p: MultiHead, x, memory=None, *, n_heads: int, mask=None, scale: float | None = None
) -> tuple[Array, MultiHeadTrace]:
    """Let several heads attend, each in a space of its own, and mix what they found::

        head_h       = attention(x W_h^Q, memory W_h^K, memory W_h^V)
        multi_head   = concat(head_1, ..., head_n) W^O

    Parameters
    ----------
    p : MultiHead
    x : array_like, shape (..., query, d_model)
        The rows that ask.
    memory : array_like, shape (..., key, d_model), optional
        The rows that are asked; `x` itself if left out (self-attention).
    n_heads : int
        Into how many heads the columns of ``w_q``, ``w_k`` and ``w_v`` are divided.
    mask : array_like of bool, broadcastable to (..., query, key), optional
        True means "may attend"; the same for every head.
    scale : float, optional
        As in `attention`: ``1 / sqrt(d_k)`` if left out.

    Returns
    -------
    out : Array, shape (..., query, d_model)
    trace : MultiHeadTrace

    Raises
    ------
    ValueError, TypeError
        As in `attention`, and if `n_heads` does not divide the columns.

    Notes
    -----
    *Attention Is All You Need*, section 3.2.2.

    Examples
    --------
    >>> from toytf.byhand import fmt
    >>> from toytf.example import PUBLISHED as hello
    >>> z, trace = multi_head_attention(hello.heads, hello.x, n_heads=2, scale=1 / 30)
    >>> print(fmt(z))
    [[ 11.4639 -13.1802 -11.5934 -17.0439]
     [ 11.6261 -13.4745 -11.8713 -17.4926]]
    >>> trace.attention.attn_weights.shape  # head, query, key
    (2, 2, 2)
    """
    x, memory, mask = _usable_rows(p, x, memory, mask)
    k, v = _keys_and_values(p, memory, n_heads)
    out, heads, trace = _ask(p, x, k, v, n_heads, mask, scale)
    return out, MultiHeadTrace(x, memory, trace, heads)


def _keys_and_values(p: MultiHead, memory: Array, n_heads: int) -> tuple[Array, Array]:
    """What each head is offered: ``memory W^K`` and ``memory W^V``. One who writes token after token keeps them."""
    k = split_heads(_linear(Linear(p.w_k, p.b_k), memory), n_heads)
    v = split_heads(_linear(Linear(p.w_v, p.b_v), memory), n_heads)
    return k, v


def _ask(p: MultiHead, x: Array, k: Array, v: Array, n_heads: int, mask, scale) -> tuple[Array, Array, AttentionTrace]:
    """Ask keys that are there with ``x W^Q``; mix what the heads found, side by side, with ``W^O``."""
    q = split_heads(_linear(Linear(p.w_q, p.b_q), x), n_heads)
    per_head, trace = _attention(q, k, v, mask, _usable_scale(scale, q.shape[-1]))
    heads = merge_heads(per_head)
    return _linear(Linear(p.w_o, p.b_o), heads), heads, trace


def _usable_rows(p: MultiHead, x, memory, mask) -> tuple[Array, Array, Array | None]:
    """Return what `multi_head_attention` was given as its formula can use it."""
    require_parameters("p", p, MultiHead)
    x = rows_for("x", x, "w_q", p.w_q, min_ndim=2)
    if memory is None:
        memory = x
    else:
        memory = rows_for("memory", memory, "w_k", p.w_k, min_ndim=2)
        require_leading("x", x, "memory", memory)
    if mask is not None:  # the same mask for every head: an axis of length 1 before the last two
        leading = np.broadcast_shapes(x.shape[:-2], memory.shape[:-2])
        mask = as_mask("mask", mask, (*leading, x.shape[-2], memory.shape[-2]))
        mask = np.atleast_2d(mask)[..., None, :, :]
    return x, memory, mask


def multi_head_attention_backward(
    p: MultiHead, trace: MultiHeadTrace, dout: Array
) -> tuple[Array, Array | None, MultiHead]:
    """The gradients of `multi_head_attention`, from its trace, back through W^O, the heads and W^Q, W^K, W^V.

    Returns
    -------
    dx : Array, shape of `x`
        In self-attention the sum of what came back through queries, keys and values.
    dmemory : Array, shape of `memory`, or None in self-attention
    dp : MultiHead
    """
    require_parameters("p", p, MultiHead)
    require_class("trace", trace, MultiHeadTrace)
    dout = as_gradient("dout", dout, (*trace.heads.shape[:-1], p.w_o.shape[-1]), "trace and p give")
    n_heads = trace.attention.q.shape[-3]
    dheads, d_o = _linear_backward(Linear(p.w_o, p.b_o), trace.heads, dout)
    dq, dk, dv = _attention_backward(trace.attention, split_heads(dheads, n_heads))
    dx, d_q = _linear_backward(Linear(p.w_q, p.b_q), trace.x, merge_heads(dq))
    from_keys, d_k = _linear_backward(Linear(p.w_k, p.b_k), trace.memory, merge_heads(dk))
    from_values, d_v = _linear_backward(Linear(p.w_v, p.b_v), trace.memory, merge_heads(dv))
    dmemory = from_keys + from_values
    weights = (d_q.weight, d_k.weight, d_v.weight, d_o.weight)
    dp = MultiHead(*weights, d_q.bias, d_k.bias, d_v.bias, d_o.bias)
    if trace.memory is trace.x:
        return dx + dmemory, None, dp
    return dx, dmemory, dp


def split_heads(x, n_heads: int) -> Array:
    """Cut the columns into heads: (..., length, heads*d_head) becomes (..., heads, length, d_head).

    Examples
    --------
    >>> split_heads(np.zeros((64, 12, 300)), 6).shape
    (64, 6, 12, 50)
    """
    x = as_floats("x", x, min_ndim=2)
    require_some("x", x)
    n_heads = positive_int("n_heads", n_heads)
    if x.shape[-1] % n_heads:
        raise ValueError(f"n_heads: expected a divisor of the width {x.shape[-1]}, got {n_heads}")
    d_head = x.shape[-1] // n_heads
    return np.swapaxes(x.reshape(*x.shape[:-1], n_heads, d_head), -2, -3)


def merge_heads(x) -> Array:
    """Put the heads side by side again: (..., heads, length, d_head) becomes (..., length, heads*d_head).

    Examples
    --------
    >>> merge_heads(np.zeros((64, 6, 12, 50))).shape
    (64, 12, 300)
    """
    x = as_floats("x", x, min_ndim=3)
    require_some("x", x)
    x = np.swapaxes(x, -2, -3)
    return x.reshape(*x.shape[:-2], -1)
