"""Gradients compared with finite differences, entry by entry."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from toytf._door import Array, Floats, Gradient, Positive, door

# Central differences in float64 lose about half of the 16 digits.
STEP = 1e-6
#: Two gradients agree if they differ by less, relative to their size.
TOLERANCE = 1e-7


@dataclass(frozen=True)
class Mismatch:
    """How far a gradient is from its finite differences, measured by its own length."""

    where: tuple[int, ...]  # the entry that differs most
    analytic: float  # what the gradient says there
    numeric: float  # and what nudging says
    gap: float  # the length of the difference of the two gradients
    length: float  # that of the longer of the two

    @property
    def error(self) -> float:
        """``gap / length``: near 0 if they agree, 1 for zeros in place of a gradient, 2 for the wrong sign.

        A small gradient is held to the same as a large one. An absolute error would let it pass whatever it says.
        """
        return self.gap / self.length if self.length else 0.0


@door
def numeric_gradient(f: Callable, x: Annotated[Floats, "..."], step: Positive = STEP) -> Array:
    """Central differences: ``(f(x + h e_i) - f(x - h e_i)) / 2h`` for every entry ``i``, ``h`` being `step`.

    `f` takes an array of the shape of `x`, which is also that of the result, and returns a number.

    >>> print(numeric_gradient(lambda x: float((x**2).sum()), np.array([1.0, -3.0])).round(4))
    [ 2. -6.]
    """
    x = x.astype(np.float64)
    out = np.empty_like(x)
    for i in np.ndindex(x.shape):
        kept = x[i]
        x[i] = kept + step
        above = float(f(x))
        x[i] = kept - step
        below = float(f(x))
        x[i] = kept
        out[i] = (above - below) / (2 * step)
    return out


def _length(x: Array) -> float:
    """The root of the sum of all squares, which may lie outside the float range."""
    return math.hypot(*x.ravel().tolist())


@door
def elementwise(
    f: Callable, x: Annotated[Floats, "..."], gradient: Annotated[Gradient, "..."], step: Positive = STEP
) -> Mismatch:
    """Compare a gradient with the finite differences at all entries, by the length of what is between them::

        error = |gradient - numeric| / max(|gradient|, |numeric|)

    `f` takes an array of the shape of `x` and returns a number. An ``.error`` below `TOLERANCE` means that they agree.
    A very small gradient is lost in the rounding of `f`: a larger step sees more of it.

    >>> x = np.array([1.0, -3.0])
    >>> elementwise(lambda x: float((x**2).sum()), x, 2 * x).error < TOLERANCE
    True
    >>> half = elementwise(lambda x: float((x**2).sum()), x, x)
    >>> half.where, round(half.error, 6)
    ((1,), 0.5)
    """
    numeric = numeric_gradient(f, x, step)
    gap = gradient - numeric
    where = tuple(int(i) for i in np.unravel_index(np.abs(gap).argmax(), gap.shape))
    longer = max(_length(gradient), _length(numeric))
    return Mismatch(where, float(gradient[where]), float(numeric[where]), _length(gap), longer)
