"""Positional encodings: the paper's sinusoids, and the two other versions that the sources use."""

from __future__ import annotations

import numpy as np

from toytf._door import Array, Count, Place, door

BASE = 10000.0  # the paper's constant: wavelengths run from 2 pi to about 10000 times 2 pi


@door
def sinusoids(length: Count, d_model: Count, start: Place = 0) -> Array:
    """The paper's positional encoding: ``sin`` in column 2i, ``cos`` in column 2i + 1::

        PE[pos, 2i]     = sin(pos / 10000^(2i / d_model))
        PE[pos, 2i + 1] = cos(pos / 10000^(2i / d_model))

    Both columns of a pair share one frequency; ``i`` counts pairs, from 0 to ``d_model/2 - 1``. Returns an array
    (length, d_model), whose first row stands at the position `start`. An odd width would leave a sine without its
    cosine, and is a `ValueError`. (*Attention Is All You Need*, section 3.5)

    >>> print(sinusoids(2, 4).round(4))
    [[0.     1.     0.     1.    ]
     [0.8415 0.5403 0.01   1.    ]]
    """
    pos, i = _positions_and_pairs(length, d_model)
    angles = (pos + start) / BASE ** (2 * i / d_model)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(length, d_model)


@door
def sinusoids_column_as_i(length: Count, d_model: Count, start: Place = 0) -> Array:
    """What *The Random Transformer* evaluates: the column number stands where the pair number belongs::

        PE[pos, j] = sin or cos(pos / 10000^(2j / d_model)),  sin for even j, cos for odd j

    Every column then has a frequency of its own, and no pair is a rotation any more.

    >>> [f"{x:.4f}" for x in sinusoids_column_as_i(2, 4)[1]]
    ['0.8415', '1.0000', '0.0001', '1.0000']
    """
    pos, _ = _positions_and_pairs(length, d_model)
    j = np.arange(d_model)
    angles = (pos + start) / BASE ** (2 * j / d_model)
    return np.where(j % 2 == 0, np.sin(angles), np.cos(angles))


@door
def sinusoids_halves(length: Count, d_model: Count) -> Array:
    """Tensor2Tensor's layout: all sines in the left half, all cosines in the right half::

        PE[pos, i]               = sin(pos / 10000^(i / (d_model/2 - 1)))
        PE[pos, i + d_model / 2] = cos(pos / 10000^(i / (d_model/2 - 1)))

    Not only the order of the columns differs from `sinusoids`: the exponent runs from 0 to
    exactly 1, the paper's from 0 to ``1 - 2/d_model``.

    >>> [f"{x:.4f}" for x in sinusoids_halves(2, 4)[1]]
    ['0.8415', '0.0001', '0.5403', '1.0000']
    """
    pos, i = _positions_and_pairs(length, d_model)
    angles = pos / BASE ** (i / max(len(i) - 1, 1))  # with a single pair the only exponent is 0
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=-1)


@door
def shift(k: int, d_model: Count) -> Array:
    """The one fixed matrix that moves every position by `k`: ``PE[pos + k] = PE[pos] @ shift(k)``.

    Each pair of columns turns by the angle ``k / 10000^(2i / d_model)``, whatever ``pos`` is; `k` may be negative. The
    matrix, (d_model, d_model), is block-diagonal, one 2 x 2 rotation a pair. (*Attention Is All You Need*, section 3.5,
    states that such a map exists.)

    >>> np.allclose(sinusoids(6, 4)[3:], sinusoids(3, 4) @ shift(3, 4))
    True
    """
    _, i = _positions_and_pairs(1, d_model)
    rotation = np.zeros((d_model, d_model))
    for pair, angle in enumerate(k / BASE ** (2 * i / d_model)):
        sin, cos = np.sin(angle), np.cos(angle)
        rotation[2 * pair : 2 * pair + 2, 2 * pair : 2 * pair + 2] = [[cos, -sin], [sin, cos]]
    return rotation


def _positions_and_pairs(length: int, d_model: int) -> tuple[Array, Array]:
    """Return ``pos`` as a column and the pair numbers ``i`` as a row."""
    if d_model % 2:
        raise ValueError(f"d_model: expected an even number (one sine and one cosine a pair), got {d_model}")
    return np.arange(length, dtype=float)[:, None], np.arange(d_model // 2)
