"""Parameters as a tree: dataclasses and lists, with arrays at the ends, each under its name."""

from __future__ import annotations

import dataclasses
from typing import TypeVar

import numpy as np

from toytf._validate import shape_text, shown_class

Array = np.ndarray
T = TypeVar("T")


def named_arrays(params) -> dict[str, Array]:
    """Return every array of a tree of parameters under its name, in a fixed order.

    >>> from toytf.ops import LayerNorm
    >>> list(named_arrays(LayerNorm(np.ones(4), np.zeros(4))))
    ['gamma', 'beta']
    """
    return leaves(params, np.ndarray)


def leaves(tree, kind: type[T]) -> dict[str, T]:
    """Return every leaf of one kind in a tree of dataclasses and lists, by its name; pass over what else it holds."""
    found: dict[str, T] = {}

    def visit(name: str, node) -> None:
        if isinstance(node, kind):
            found[name] = node
        elif isinstance(node, list):
            for i, part in enumerate(node):
                visit(f"{name}.{i}", part)
        elif dataclasses.is_dataclass(node):
            for field, part in vars(node).items():
                visit(f"{name}.{field}" if name else field, part)

    if not isinstance(tree, list) and (not dataclasses.is_dataclass(tree) or isinstance(tree, type)):
        raise TypeError(f"params: expected a dataclass of arrays, got {shown_class(tree)}")
    visit("", tree)
    return found


def paired_arrays(params, grads) -> list[tuple[str, Array, Array]]:
    """Return ``(name, array, gradient)`` for every array of a tree; each must have a gradient of its shape."""
    arrays, gradients = named_arrays(params), named_arrays(grads)
    if arrays.keys() != gradients.keys():
        odd = sorted(arrays.keys() ^ gradients.keys())
        raise ValueError(f"grads: expected one for every array of params, got {odd} on one side only")
    for name, array in arrays.items():
        if gradients[name].shape != array.shape:
            raise ValueError(
                f"grads: {name}: expected shape {shape_text(array.shape)}, got {shape_text(gradients[name].shape)}"
            )
    return [(name, array, gradients[name]) for name, array in arrays.items()]


def count(params) -> int:
    """Return how many numbers a tree of parameters holds."""
    return sum(array.size for array in named_arrays(params).values())
