"""Optimisers: how parameters follow their gradients. The only functions of `toytf` that modify what they are given."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from toytf._validate import (
    EXACT,
    HALF,
    as_floats,
    positive_int,
    positive_number,
    require_finite,
    require_ndim,
    share,
    shown,
    surely_finite,
    whole_number,
)
from toytf.ops import Array
from toytf.tree import _float_arrays, paired_arrays

BLOCK = 2**14  # so many numbers at a time: a block stays in the processor's cache from one line to the next


def sgd_step(params, grads, learning_rate: float) -> None:
    """One step of gradient descent: ``p = p - learning_rate * gradient``, in place.

    Parameters and gradients are of one class, for example `toytf.model.Transformer`.

    Examples
    --------
    >>> from toytf.ops import LayerNorm
    >>> p = LayerNorm(np.array([1.0]), np.array([0.0]))
    >>> sgd_step(p, LayerNorm(np.array([2.0]), np.array([-4.0])), 0.25)
    >>> print(p.gamma, p.beta)
    [0.5] [1.]
    """
    learning_rate, pairs = positive_number("learning_rate", learning_rate), paired_arrays(params, grads)
    for name, _, gradient in pairs:  # all of them, before the first array is changed
        require_finite(f"grads: {name}", gradient)
    for _, array, gradient in pairs:
        array -= learning_rate * gradient


@dataclass
class Adam:
    """Adam: each entry moves by its mean gradient, divided by the root of its mean squared gradient::

        m = beta1 m + (1 - beta1) g          v = beta2 v + (1 - beta2) g^2
        p = p - learning_rate * (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + eps)

    Parameters
    ----------
    beta1, beta2, eps : float
        The paper's values (section 5.3) are the defaults.
    t : int
        How many steps have been taken.
    m, v : Array, shape (count,)
        The two running means, of all arrays one behind the other in the order of
        `toytf.tree.named_arrays`; None before the first step.

    Notes
    -----
    Kingma and Ba, *Adam*, 2015. ``t`` counts the steps; the divisions by ``1 - beta^t`` correct for
    `m` and `v` starting at 0.

    Examples
    --------
    >>> from toytf.ops import LayerNorm
    >>> p, adam = LayerNorm(np.array([1.0]), np.array([0.0])), Adam()
    >>> adam.step(p, LayerNorm(np.array([2.0]), np.array([-4.0])), 0.1)  # the first step has full size
    >>> print(p.gamma.round(6), p.beta.round(6))
    [0.9] [0.1]
    """

    beta1: float = 0.9
    beta2: float = 0.98
    eps: float = 1e-9
    t: int = 0
    m: Annotated[Array, "count"] | None = None
    v: Annotated[Array, "count"] | None = None

    def __post_init__(self):
        self.beta1, self.beta2 = share("beta1", self.beta1), share("beta2", self.beta2)
        self.eps, self.t = positive_number("eps", self.eps), whole_number("t", self.t, least=0)
        if self.t > EXACT:
            raise ValueError(f"t: expected at most {EXACT:,} steps, got {shown(self.t)}")
        for name in ("m", "v"):
            if getattr(self, name) is not None:
                setattr(self, name, as_floats(name, getattr(self, name)))
                require_ndim(name, getattr(self, name), 1)
                require_finite(name, getattr(self, name))
        if np.shape(self.m) != np.shape(self.v) or (self.m is None) != (self.v is None):
            raise ValueError("m, v: expected both of one shape, or neither")

    def step(self, params, grads, learning_rate: float) -> None:
        """Move `params` one step, in place; `grads` are of their class."""
        learning_rate, pairs = positive_number("learning_rate", learning_rate), paired_arrays(params, grads)
        change = self._gradients_in_one_row(pairs)
        self.t += 1
        rate = learning_rate / (1 - self.beta1**self.t)
        for g, m, v in _in_blocks(change, self.m, self.v):
            m[:] = self.beta1 * m + (1 - self.beta1) * g
            v[:] = self.beta2 * v + (1 - self.beta2) * g**2
            g[:] = m / (np.sqrt(v / (1 - self.beta2**self.t)) + self.eps) * rate
        _subtract(change, pairs)

    def _gradients_in_one_row(self, pairs: list[tuple[str, Array, Array]]) -> Array:
        """Return what the formula needs of the gradients, once `m` and `v` are there for it: zeros at first."""
        g = _in_one_row(pairs)
        if self.m is None:
            self.m, self.v = np.zeros_like(g), np.zeros_like(g)
        elif self.m.shape != g.shape:
            raise ValueError(f"params: expected {len(self.m)} numbers as in the steps before, got {len(g)}")
        return g


def _in_blocks(*rows: Array) -> Iterator[tuple[Array, ...]]:
    """Give the same piece of each row, one after the other: all at once, a step of width 64 takes a tenth longer."""
    for begin in range(0, len(rows[0]), BLOCK):
        yield tuple(row[begin : begin + BLOCK] for row in rows)


def _in_one_row(pairs: list[tuple[str, Array, Array]]) -> Array:
    """Return all gradients one behind the other: a few operations on many numbers, not many on a few."""
    g = np.concatenate([gradient.ravel() for _, _, gradient in pairs])
    if g.dtype == HALF:  # in which Adam's epsilon would be 0
        g = g.astype(np.float32)
    if not surely_finite(g):
        for name, _, gradient in pairs:
            require_finite(f"grads: {name}", gradient)
        raise ValueError(f"grads: expected numbers whose squares are finite in {g.dtype}, got larger ones")
    return g


def _subtract(row: Array, pairs: list[tuple[str, Array, Array]]) -> None:
    """Subtract from each array its part of the row, in place."""
    begin = 0
    for _, array, _ in pairs:
        array -= row[begin : begin + array.size].reshape(array.shape)
        begin += array.size


def clip(grads, limit: float) -> float:
    """Shorten all gradients together, in place, if their common length exceeds `limit`.

    Returns their length before, the root of the sum of all squares.

    Examples
    --------
    >>> from toytf.ops import LayerNorm
    >>> g = LayerNorm(np.array([3.0]), np.array([4.0]))
    >>> clip(g, 1.0)
    5.0
    >>> print(g.gamma.round(6), g.beta.round(6))
    [0.6] [0.8]
    """
    limit, length = positive_number("limit", limit), gradient_length(grads)
    if not math.isfinite(length):
        raise ValueError(f"grads: expected finite gradients, got a length of {length}")
    if length > limit:
        for g in _float_arrays("grads", grads).values():
            g *= limit / length
    return length


def gradient_length(grads) -> float:
    """The root of the sum of the squares of all gradients.

    Examples
    --------
    >>> from toytf.ops import LayerNorm
    >>> gradient_length(LayerNorm(np.array([3.0]), np.array([4.0])))
    5.0
    """
    return _length("grads", grads)


def _length(name: str, grads) -> float:
    """`gradient_length`, where errors speak of the gradients by another name."""
    arrays = list(_float_arrays(name, grads).values())
    with np.errstate(over="ignore", invalid="ignore"):
        square = sum(float((g * g).sum()) for g in arrays)
    return math.sqrt(square) if math.isfinite(square) else _length_in_units_of_the_largest(arrays)


def _length_in_units_of_the_largest(arrays: list[Array]) -> float:
    """The length of what is so long that its square leaves the float range; NaN or infinity if they are in it."""
    arrays = [g.astype(np.float64) for g in arrays]
    largest = float(np.max([np.abs(g).max() for g in arrays if g.size]))
    if not math.isfinite(largest):
        return largest
    return largest * math.sqrt(sum(float(((g / largest) ** 2).sum()) for g in arrays))


def paper_schedule(d_model: int, warmup: int = 4000) -> Callable[[int], float]:
    """The paper's learning rate: up in a straight line, then down like one over the root of the step::

        rate(t) = d_model^-0.5 * min(t^-0.5, t * warmup^-1.5)

    Returned is a function from the step, counted from 1, to the learning rate.

    Notes
    -----
    *Attention Is All You Need*, section 5.3, equation 3.

    Examples
    --------
    >>> rate = paper_schedule(512)
    >>> f"{rate(1):.3g} {rate(4000):.3g} {rate(16000):.3g}"
    '1.75e-07 0.000699 0.000349'
    """
    d_model, warmup = _at_least_1("d_model", d_model), _at_least_1("warmup", warmup)

    def rate(t: int) -> float:
        t = _at_least_1("t", t)
        return d_model**-0.5 * min(t**-0.5, t * warmup**-1.5)

    return rate


def _at_least_1(name: str, value) -> int:
    value = positive_int(name, value)
    if value > EXACT:
        raise ValueError(f"{name}: expected at most {EXACT:,}, above which floats have gaps, got {shown(value)}")
    return value


def cosine_schedule(peak: float, warmup: int, steps: int) -> Callable[[int], float]:
    """Up in a straight line to `peak`, then down along a cosine that would reach 0 one step after the last.

    Parameters
    ----------
    peak : float
        The largest rate, reached at step `warmup`.
    warmup, steps : int
        How many steps the rise takes, and how many there are in all.

    Returns
    -------
    callable
        From the step, counted from 1, to the learning rate.

    Examples
    --------
    >>> rate = cosine_schedule(0.01, 100, 600)
    >>> [f"{rate(t):.4f}" for t in (1, 100, 350, 600)]
    ['0.0001', '0.0100', '0.0050', '0.0000']
    """
    peak, steps, warmup = positive_number("peak", peak), _at_least_1("steps", steps), whole_number("warmup", warmup)
    if not 0 <= warmup <= steps:
        raise ValueError(f"warmup: expected 0 to {steps}, the number of steps, got {shown(warmup)}")

    def rate(t: int) -> float:
        t = _at_least_1("t", t)
        if t > steps + 1:
            raise ValueError(f"t: expected 1 to {steps + 1}, one step after the last, got {shown(t)}")
        if t <= warmup:
            return peak * t / warmup
        return peak * 0.5 * (1 + math.cos(math.pi * (t - warmup) / (steps - warmup + 1)))

    return rate
