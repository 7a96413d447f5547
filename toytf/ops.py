"""The small operations that everything else is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from toytf._validate import as_floats, as_ids, require_finite, require_width, shape_text

Array = np.ndarray


# ---------------------------------------------------------------- softmax


def softmax(x, axis: int = -1) -> Array:
    """Turn scores into weights: ``softmax(x)[i] = exp(x[i]) / sum_j exp(x[j])``.

    The largest score of each row is subtracted first. That changes nothing in exact arithmetic
    (numerator and denominator shrink by the same factor) and keeps `exp` from overflowing.

    Parameters
    ----------
    x : array_like, shape (..., n, ...)
        Scores, of any finite size. ``-inf`` is allowed and gets weight 0, unless a whole row
        is ``-inf``.
    axis : int, default -1
        The axis along which the weights sum to 1: for attention scores, the keys.

    Returns
    -------
    Array, same shape as `x`
        Weights between 0 and 1.

    Raises
    ------
    ValueError
        If `x` holds NaN or ``+inf``, if a whole row is ``-inf``, or `axis` does not exist.

    Notes
    -----
    *Attention Is All You Need*, section 3.2.1.

    Examples
    --------
    >>> from toytf.byhand import fmt
    >>> print(fmt(softmax([1.0, 2.0, 3.0])))
    [0.0900 0.2447 0.6652]
    >>> print(fmt(softmax([1001.0, 1002.0, 1003.0])))
    [0.0900 0.2447 0.6652]
    """
    x = as_floats("x", x)
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(f"axis: expected {-x.ndim} to {x.ndim - 1} for shape {shape_text(x.shape)}, got {axis}")
    if x.shape[axis] == 0:
        raise ValueError(f"x: expected at least one score along axis {axis}, got shape {shape_text(x.shape)}")
    largest = x.max(axis=axis, keepdims=True)
    if not np.isfinite(largest).all():  # NaN, +inf and a row of -inf all show in the maximum
        _explain_unusable_scores(x, largest)
    with np.errstate(over="ignore", under="ignore"):  # a gap beyond the float range is weight 0
        exps = np.exp(x - largest)
    return exps / exps.sum(axis=axis, keepdims=True)


def _explain_unusable_scores(x: Array, largest: Array) -> None:
    """Raise the error that says what `softmax` cannot use, and where."""
    require_finite("x", np.where(np.isneginf(x), 0.0, x))
    where = [int(i) for i in np.argwhere(np.isneginf(largest))[0]]
    raise ValueError(f"x: expected a finite score in every row, got only -inf in the row at {where}")


def softmax_naive(x, axis: int = -1) -> Array:
    """The softmax as it is usually typed: ``exp(x) / sum(exp(x))``, nothing subtracted.

    Right for small scores. `exp` overflows above 709.78 in float64, and infinity divided by
    infinity is NaN; below about -745 everything underflows, and zero divided by zero is NaN too.
    The course keeps it to show that; use `softmax` for work.

    Parameters
    ----------
    x : array_like, shape (..., n, ...)
        Scores.
    axis : int, default -1
        The axis along which the weights sum to 1.

    Returns
    -------
    Array, same shape as `x`
        Weights, or NaN with NumPy's RuntimeWarning.

    Examples
    --------
    >>> from toytf.byhand import fmt
    >>> print(fmt(softmax_naive([1.0, 2.0, 3.0])))
    [0.0900 0.2447 0.6652]
    """
    exps = np.exp(as_floats("x", x))
    return exps / exps.sum(axis=axis, keepdims=True)


# ---------------------------------------------------------------- linear map


@dataclass
class Linear:
    """Parameters of ``y = x W + b``; `bias` may be left out."""

    weight: Annotated[Array, "d_in d_out"]
    bias: Annotated[Array, "d_out"] | None = None


def linear(p: Linear, x) -> Array:
    """Map every row: ``y = x W + b``.

    Parameters
    ----------
    p : Linear
        ``weight`` of shape (d_in, d_out), ``bias`` of shape (d_out,) or None.
    x : array_like, shape (..., length, d_in)
        One token a row.

    Returns
    -------
    Array, shape (..., length, d_out)

    Raises
    ------
    ValueError
        If the widths do not fit, or `x` holds NaN or infinity.

    Examples
    --------
    >>> from toytf.byhand import fmt
    >>> W = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> print(fmt(linear(Linear(W), [[1.0, 2.0, 3.0]]), decimals=1))
    [[4.0 5.0]]
    """
    x = as_floats("x", x)
    require_width("x", x, "weight", p.weight, axis=-2)
    require_finite("x", x)
    # One product of two matrices is faster than one product for each leading index.
    y = x.reshape(-1, x.shape[-1]) @ p.weight
    if p.bias is not None:
        if p.bias.shape != p.weight.shape[-1:]:
            raise ValueError(
                f"bias: expected shape {shape_text(p.weight.shape[-1:])} for a weight of shape "
                f"{shape_text(p.weight.shape)}, got {shape_text(p.bias.shape)}"
            )
        y += p.bias
    return y.reshape(*x.shape[:-1], p.weight.shape[-1])


# ---------------------------------------------------------------- embedding


def embedding(table, ids) -> Array:
    """Look up one row for each token id: ``out[t] = table[ids[t]]``.

    The same as a product with one-hot rows, without the multiplications by zero.

    Parameters
    ----------
    table : array_like, shape (vocabulary, d_model)
        One row for each token of the vocabulary.
    ids : array_like of int, shape (..., length)
        Token ids from 0 to ``vocabulary - 1``.

    Returns
    -------
    Array, shape (..., length, d_model)

    Raises
    ------
    ValueError
        If an id lies outside the vocabulary. (NumPy would read -1 as "the last row".)
    TypeError
        If the ids are not integers.

    Examples
    --------
    >>> from toytf.byhand import fmt
    >>> table = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    >>> print(fmt(embedding(table, [2, 0]), decimals=0))
    [[5 6]
     [1 2]]
    """
    table = as_floats("table", table, min_ndim=2)
    return table[as_ids("ids", ids, table.shape[0])]
