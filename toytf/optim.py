"""Optimisers: how parameters follow their gradients. The only functions of `toytf` that modify what they are given."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from toytf._door import Array, Count, Place, Positive, Share, check_fields, door
from toytf._validate import require_finite
from toytf.tree import named_arrays, paired_arrays


@door
def sgd_step(params, grads, learning_rate: Positive) -> None:
    """One step of gradient descent: ``p = p - learning_rate * gradient``, in place.

    Parameters and gradients are of one class, for example `toytf.parameters.Transformer`.

    >>> from toytf.ops import LayerNorm
    >>> p = LayerNorm(np.array([1.0]), np.array([0.0]))
    >>> sgd_step(p, LayerNorm(np.array([2.0]), np.array([-4.0])), 0.25)
    >>> print(p.gamma, p.beta)
    [0.5] [1.]
    """
    for _, p, g in _finite_pairs(params, grads):
        p -= learning_rate * g


@dataclass
class Adam:
    """Adam: each entry moves by its mean gradient, divided by the root of its mean squared gradient::

        m = beta1 m + (1 - beta1) g          v = beta2 v + (1 - beta2) g^2
        p = p - learning_rate * (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + eps)

    After `t` steps `m` and `v`, of shape (count,), are the two running means, of all arrays one behind the other in the
    order of `toytf.tree.named_arrays`. The divisions by ``1 - beta^t`` correct for them starting at 0. The defaults are
    the paper's (section 5.3). (Kingma and Ba, *Adam*, 2015)

    >>> from toytf.ops import LayerNorm
    >>> p, adam = LayerNorm(np.array([1.0]), np.array([0.0])), Adam()
    >>> adam.step(p, LayerNorm(np.array([2.0]), np.array([-4.0])), 0.1)  # the first step has full size
    >>> print(p.gamma.round(6), p.beta.round(6))
    [0.9] [0.1]
    """

    beta1: Share = 0.9
    beta2: Share = 0.98
    eps: Positive = 1e-9
    t: Place = 0
    m: Array | float = 0.0
    v: Array | float = 0.0

    def __post_init__(self):
        check_fields(self)

    @door
    def step(self, params, grads, learning_rate: Positive) -> None:
        """Move `params` one step, in place; `grads` are of their class."""
        pairs = _finite_pairs(params, grads)
        g = np.concatenate([gradient.ravel() for _, _, gradient in pairs])  # a few operations on many numbers
        self.t += 1
        self.m = self.beta1 * self.m + (1 - self.beta1) * g
        self.v = self.beta2 * self.v + (1 - self.beta2) * g**2
        rate = learning_rate / (1 - self.beta1**self.t)
        change = self.m / (np.sqrt(self.v / (1 - self.beta2**self.t)) + self.eps) * rate
        for (_, p, _), end in zip(pairs, np.cumsum([p.size for _, p, _ in pairs]), strict=True):
            p -= change[end - p.size : end].reshape(p.shape)


def _finite_pairs(params, grads) -> list[tuple[str, Array, Array]]:
    """Return arrays and gradients, all of them seen to be finite before the first is changed."""
    pairs = paired_arrays(params, grads)
    for name, _, gradient in pairs:
        require_finite(f"grads: {name}", gradient)
    return pairs


@door
def clip(grads, limit: Positive) -> float:
    """Shorten all gradients together, in place, if their common length exceeds `limit`.

    Returns their length before, the root of the sum of all squares.

    >>> from toytf.ops import LayerNorm
    >>> g = LayerNorm(np.array([3.0]), np.array([4.0]))
    >>> clip(g, 1.0)
    5.0
    >>> print(g.gamma.round(6), g.beta.round(6))
    [0.6] [0.8]
    """
    length = gradient_length(grads)
    if not math.isfinite(length):
        raise ValueError(f"grads: expected finite gradients, got a length of {length}")
    if length > limit:
        for g in named_arrays(grads).values():
            g *= limit / length
    return length


def gradient_length(grads) -> float:
    """The root of the sum of the squares of all gradients.

    >>> from toytf.ops import LayerNorm
    >>> gradient_length(LayerNorm(np.array([3.0]), np.array([4.0])))
    5.0
    """
    return math.sqrt(sum(float((g * g).sum()) for g in named_arrays(grads).values()))


@door
def paper_schedule(d_model: Count, warmup: Count = 4000) -> Callable[[int], float]:
    """The paper's learning rate: up in a straight line, then down like one over the root of the step::

        rate(t) = d_model^-0.5 * min(t^-0.5, t * warmup^-1.5)

    Returns a function from the step, counted from 1, to the learning rate. (*Attention Is All You Need*, section
    5.3, equation 3)

    >>> rate = paper_schedule(512)
    >>> f"{rate(1):.3g} {rate(4000):.3g} {rate(16000):.3g}"
    '1.75e-07 0.000699 0.000349'
    """

    @door
    def rate(t: Count) -> float:
        return d_model**-0.5 * min(t**-0.5, t * warmup**-1.5)

    return rate


@door
def cosine_schedule(peak: Positive, warmup: Place, steps: Count) -> Callable[[int], float]:
    """Up in a straight line to `peak`, then down along a cosine that would reach 0 one step after the last.

    The peak is reached at step `warmup` of `steps`. Returns a function from the step, counted from 1, to the
    learning rate.

    >>> rate = cosine_schedule(0.01, 100, 600)
    >>> [f"{rate(t):.4f}" for t in (1, 100, 350, 600)]
    ['0.0001', '0.0100', '0.0050', '0.0000']
    """
    if warmup > steps:
        raise ValueError(f"warmup: expected 0 to {steps}, the number of steps, got {warmup}")

    @door
    def rate(t: Count) -> float:
        if t > steps + 1:
            raise ValueError(f"t: expected 1 to {steps + 1}, one step after the last, got {t}")
        if t <= warmup:
            return peak * t / warmup
        return peak * 0.5 * (1 + math.cos(math.pi * (t - warmup) / (steps - warmup + 1)))

    return rate
