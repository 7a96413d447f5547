"""Positional encodings: the paper's sinusoids, and the two other versions that the sources use."""

from __future__ import annotations

import numpy as np

from toytf._validate import EXACT, positive_int, require_room, shown, whole_number
from toytf.ops import Array

BASE = 10000.0  # the paper's constant: wavelengths run from 2 pi to about 10000 times 2 pi


def sinusoids(length: int, d_model: int, start: int = 0) -> Array:
    """The paper's positional encoding: ``sin`` in column 2i, ``cos`` in column 2i + 1::

        PE[pos, 2i]     = sin(pos / 10000^(2i / d_model))
        PE[pos, 2i + 1] = cos(pos / 10000^(2i / d_model))

    Both columns of a pair share one frequency; ``i`` counts pairs, from 0 to ``d_model/2 - 1``.

    Parameters
    ----------
    length : int
        How many positions.
    d_model : int
        Width of the encoding, even.
    start : int, default 0
        The first position. One who writes word after word needs only the newest.

    Returns
    -------
    Array, shape (length, d_model)
        Values from -1 to 1.

    Raises
    ------
    ValueError
        If `d_model` is odd (a sine would be left without its cosine) or a size is below 1.

    Notes
    -----
    *Attention Is All You Need*, section 3.5.

    Examples
    --------
    >>> from toytf.byhand import fmt
    >>> print(fmt(sinusoids(2, 4)))
    [[0.0000 1.0000 0.0000 1.0000]
     [0.8415 0.5403 0.0100 1.0000]]
    """
    pos, i = _positions_and_pairs(length, d_model)
    pos += _place("start", start, least=0)
    return _interleave(*_sin_cos(pos / BASE ** (2 * i / d_model)))


def sinusoids_column_as_i(length: int, d_model: int) -> Array:
    """What *The Random Transformer* evaluates: the column number stands where the pair number belongs::

        PE[pos, j] = sin or cos(pos / 10000^(2j / d_model)),  sin for even j, cos for odd j

    Every column then has a frequency of its own, and no pair is a rotation any more.

    Examples
    --------
    >>> from toytf.byhand import fmt
    >>> print(fmt(sinusoids_column_as_i(2, 4)))
    [[0.0000 1.0000 0.0000 1.0000]
     [0.8415 1.0000 0.0001 1.0000]]
    """
    pos, _ = _positions_and_pairs(length, d_model)
    j = np.arange(d_model)
    angles = pos / BASE ** (2 * j / d_model)
    return np.where(j % 2 == 0, np.sin(angles), np.cos(angles))


def sinusoids_halves(length: int, d_model: int) -> Array:
    """Tensor2Tensor's layout: all sines in the left half, all cosines in the right half::

        PE[pos, i]               = sin(pos / 10000^(i / (d_model/2 - 1)))
        PE[pos, i + d_model / 2] = cos(pos / 10000^(i / (d_model/2 - 1)))

    Not only the order of the columns differs from `sinusoids`: the exponent runs from 0 to
    exactly 1, the paper's from 0 to ``1 - 2/d_model``.

    Examples
    --------
    >>> from toytf.byhand import fmt
    >>> print(fmt(sinusoids_halves(2, 4)))
    [[0.0000 0.0000 1.0000 1.0000]
     [0.8415 0.0001 0.5403 1.0000]]
    """
    pos, i = _positions_and_pairs(length, d_model)
    last = max(len(i) - 1, 1)  # with a single pair the only exponent is 0
    return np.concatenate(_sin_cos(pos / BASE ** (i / last)), axis=-1)


def shift(k: int, d_model: int) -> Array:
    """The one fixed matrix that moves every position by `k`: ``PE[pos + k] = PE[pos] @ shift(k)``.

    Each pair of columns turns by the angle ``k / 10000^(2i / d_model)``, whatever ``pos`` is.

    Parameters
    ----------
    k : int
        How many positions to move; may be negative.
    d_model : int
        Width of the encoding, even.

    Returns
    -------
    Array, shape (d_model, d_model)
        Block-diagonal, one 2 x 2 rotation a pair.

    Notes
    -----
    *Attention Is All You Need*, section 3.5, states that such a map exists.

    Examples
    --------
    >>> from toytf.byhand import fmt
    >>> print(fmt(sinusoids(6, 4)[3:] - sinusoids(3, 4) @ shift(3, 4)))
    [[0.0000 0.0000 0.0000 0.0000]
     [0.0000 0.0000 0.0000 0.0000]
     [0.0000 0.0000 0.0000 0.0000]]
    """
    _, i = _positions_and_pairs(1, d_model)
    require_room("d_model", d_model, d_model)
    angles = _place("k", k) / BASE ** (2 * i / d_model)
    rotation = np.zeros((d_model, d_model))
    for pair, angle in enumerate(angles):
        sin, cos = np.sin(angle), np.cos(angle)
        rotation[2 * pair : 2 * pair + 2, 2 * pair : 2 * pair + 2] = [[cos, -sin], [sin, cos]]
    return rotation


def _positions_and_pairs(length: int, d_model: int) -> tuple[Array, Array]:
    """Return ``pos`` as a column and the pair numbers ``i`` as a row."""
    length, d_model = positive_int("length", length), positive_int("d_model", d_model)
    if d_model % 2:
        raise ValueError(f"d_model: expected an even number (one sine and one cosine a pair), got {d_model}")
    require_room("length, d_model", length, d_model)
    return np.arange(length, dtype=float)[:, None], np.arange(d_model // 2)


def _place(name: str, value: int, least: int | None = None) -> int:
    """Return a position, or how many to move: whole, and small enough for a float to hold the last 1."""
    value = whole_number(name, value, least)
    if abs(value) > EXACT:
        raise ValueError(f"{name}: expected at most {EXACT:,}, above which floats have gaps, got {shown(value)}")
    return value


def _sin_cos(angles: Array) -> tuple[Array, Array]:
    return np.sin(angles), np.cos(angles)


def _interleave(even: Array, odd: Array) -> Array:
    """Put the columns of `even` and `odd` alternately: e0, o0, e1, o1, ..."""
    return np.stack([even, odd], axis=-1).reshape(len(even), -1)
