"""Gradients compared with finite differences, entry by entry or along random directions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from toytf._validate import (
    as_floats,
    number,
    positive_number,
    require_callable,
    require_finite,
    require_generator,
    require_some,
    shown_class,
)
from toytf.ops import Array
from toytf.tree import paired_arrays

# Central differences in float64 lose about half of the 16 digits.
STEP, TOLERANCE = 1e-6, 1e-7


@dataclass(frozen=True)
class Mismatch:
    """The entry of a gradient that differs most from its finite difference."""

    where: tuple[int, ...]
    analytic: float
    numeric: float

    @property
    def error(self) -> float:
        """The smaller of the absolute and the relative error.

        A gradient that is exactly zero (a key bias: softmax ignores a shift) has no relative error, and
        a large one no small absolute error; either is enough.
        """
        gap = abs(self.analytic - self.numeric)
        return min(gap, gap / max(abs(self.analytic), abs(self.numeric), 1e-300))


def numeric_gradient(f: Callable[[Array], float], x: Array, step: float = STEP) -> Array:
    """Central differences: ``(f(x + h e_i) - f(x - h e_i)) / 2h`` for every entry ``i``.

    Parameters
    ----------
    f : callable
        Takes an array of the shape of `x`, returns a number.
    x : Array of float64
    step : float

    Returns
    -------
    Array, same shape as `x`

    Examples
    --------
    >>> from toytf.byhand import fmt
    >>> print(fmt(numeric_gradient(lambda x: float((x**2).sum()), np.array([1.0, -3.0]))))
    [ 2.0000 -6.0000]
    """
    require_callable("f", f)
    x, step = np.array(as_floats("x", x, min_ndim=0), dtype=np.float64), positive_number("step", step)
    require_some("x", x)
    require_finite("x", x)
    out = np.empty_like(x)
    for i in np.ndindex(x.shape):
        kept = x[i]
        x[i] = kept + step
        above = _value("f", f(x))
        x[i] = kept - step
        out[i] = (above - _value("f", f(x))) / (2 * step)
        x[i] = kept
    return out


def _value(name: str, value) -> float:
    """Return what a function gave, once it is seen to be one number."""
    if np.ndim(value):
        raise TypeError(f"{name}: expected a function that gives a number, got {shown_class(value)} from it")
    return number(f"{name}: what it gives", value[()] if isinstance(value, np.ndarray) else value)


def elementwise(f: Callable[[Array], float], x: Array, gradient: Array, step: float = STEP) -> Mismatch:
    """Compare a gradient with finite differences at every entry and return the worst.

    Parameters
    ----------
    f : callable
        Takes an array of the shape of `x`, returns a number.
    x, gradient : Array of float64, same shape

    Returns
    -------
    Mismatch
        ``.error`` below `TOLERANCE` means that they agree.

    Raises
    ------
    ValueError
        If the shapes differ.

    Examples
    --------
    >>> x = np.array([1.0, -3.0])
    >>> elementwise(lambda x: float((x**2).sum()), x, 2 * x).error < TOLERANCE
    True
    >>> elementwise(lambda x: float((x**2).sum()), x, x).where
    (1,)
    """
    x, gradient = as_floats("x", x, min_ndim=0), as_floats("gradient", gradient, min_ndim=0)
    require_some("x", x)
    if gradient.shape != x.shape:
        raise ValueError(f"gradient: expected shape {x.shape} as x has, got {gradient.shape}")
    numeric = numeric_gradient(f, x, step)
    found = [Mismatch(i, float(gradient[i]), float(numeric[i])) for i in np.ndindex(numeric.shape)]
    return max(found, key=lambda mismatch: (mismatch.error, abs(mismatch.analytic - mismatch.numeric)))


def directional(
    loss: Callable[[], float], params, grads, rng: np.random.Generator, step: float = STEP
) -> dict[str, Mismatch]:
    """Compare, for every array of a model, the slope along a random direction with the gradient's.

    One direction an array: a wrong gradient shows unless the direction happens to miss it, which
    has probability zero.

    Parameters
    ----------
    loss : callable
        Computes the loss with the arrays of `params` as they are.
    params, grads
        The same class, for example `toytf.model.Transformer`. The arrays of `params` are moved a
        little while `loss` runs, and put back.
    rng : numpy.random.Generator

    Returns
    -------
    dict of str to Mismatch
        One for every array, by its name.

    Raises
    ------
    ValueError
        If an array has no gradient of its shape.
    """
    require_callable("loss", loss)
    require_generator(rng)
    step, found = positive_number("step", step), {}
    for name, array, gradient in paired_arrays(params, grads):
        direction = rng.normal(size=array.shape)
        kept = array.copy()
        array[...] = kept + step * direction
        try:
            above = _value("loss", loss())
            array[...] = kept - step * direction
            slope = (above - _value("loss", loss())) / (2 * step)
        finally:
            array[...] = kept
        found[name] = Mismatch((), float((gradient * direction).sum()), slope)
    return found
