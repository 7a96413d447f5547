"""Parameters as a tree: dataclasses and lists, with arrays at the ends, each under its name."""

from __future__ import annotations

import dataclasses
from typing import TypeVar

import numpy as np

from toytf._validate import shape_text, shown, shown_class
from toytf.ops import Array

T = TypeVar("T")


def named_arrays(params) -> dict[str, Array]:
    """Return every array of a tree of parameters under its name, in a fixed order.

    Examples
    --------
    >>> from toytf.ops import LayerNorm
    >>> list(named_arrays(LayerNorm(np.ones(4), np.zeros(4))))
    ['gamma', 'beta']
    """
    return _arrays_of("params", params)


def _arrays_of(name: str, tree) -> dict[str, Array]:
    """`named_arrays`, where errors speak of the tree by its name."""
    if not isinstance(tree, list) and not _is_dataclass(tree):
        raise TypeError(f"{name}: expected a dataclass of arrays, got {shown_class(tree)}")
    arrays = _leaves(tree, np.ndarray, name)
    for part, array in arrays.items():
        if type(array) is not np.ndarray and isinstance(array, np.ma.MaskedArray):
            raise TypeError(f"{name}: {part}: expected an array, got a masked array of numpy.ma")
    return arrays


def _float_arrays(name: str, tree) -> dict[str, Array]:
    """Return every array of a tree, of which there is one at least, and all hold floats.

    Raises
    ------
    TypeError
        If an array holds anything else: a step could not change it in place.
    """
    arrays = _arrays_of(name, tree)
    if not arrays:
        raise ValueError(f"{name}: expected a dataclass with at least one array, got none in {shown_class(tree)}")
    for part, array in arrays.items():
        if array.dtype.kind != "f":
            raise TypeError(f"{name}: {part}: expected an array of floats, got dtype {array.dtype}")
    return arrays


def _leaves(params, kind: type[T], tree: str = "params") -> dict[str, T]:
    """Return every leaf of one kind in a tree of dataclasses and lists, under its name.

    What else a dataclass holds is passed over; what else a list holds is taken for a mistake.
    """
    found = {}

    def visit(name, node):
        if isinstance(node, kind):
            found[name] = node
        elif _is_dataclass(node):
            for field, part in vars(node).items():
                visit(f"{name}.{field}" if name else field, part)
        elif isinstance(node, list):
            for i, part in enumerate(node):
                if not isinstance(part, (kind, list)) and not _is_dataclass(part):
                    raise TypeError(f"{tree}: {name}: expected arrays, got a list with {shown(part)} in it")
                visit(f"{name}.{i}", part)

    visit("", params)
    return found


def _is_dataclass(node) -> bool:
    return dataclasses.is_dataclass(node) and not isinstance(node, type)


def paired_arrays(params, grads) -> list[tuple[str, Array, Array]]:
    """Return ``(name, array, gradient)`` for every array of a tree of parameters.

    Raises
    ------
    ValueError
        If an array has no gradient of its shape, or a gradient no array.
    """
    arrays, gradients = _float_arrays("params", params), _float_arrays("grads", grads)
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
