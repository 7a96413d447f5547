"""Reads the axis names that dataclasses carry and holds them against the arrays.

``Annotated[Array, "... query d_k"]`` says: the last two axes are `query` and `d_k`, with any axes before.
``heads*d_k`` is a product, ``bias | None`` may be missing.
"""

from __future__ import annotations

import dataclasses
import math
import typing

import numpy as np


def axis_names(cls: type) -> dict[str, str]:
    """Return ``{field: axis text}`` for the fields of a dataclass that are arrays."""
    found = {}
    for name, hint in typing.get_type_hints(cls, include_extras=True).items():
        for option in (hint, *typing.get_args(hint)):
            for extra in getattr(option, "__metadata__", ()):
                found[name] = extra
    return found


def check_axes(obj, sizes: dict[str, int]) -> list[str]:
    """Return what is wrong: an array whose axes are not as long as `sizes` says, or have no name.

    Looks into the dataclasses and lists that `obj` holds. A mask may have length 1 where it is
    the same for all.
    """
    faults = []
    names = axis_names(type(obj))
    for field in dataclasses.fields(obj):
        value = getattr(obj, field.name)
        for part in value if isinstance(value, (list, tuple)) else [value]:
            if dataclasses.is_dataclass(part):
                faults += [f"{field.name}.{fault}" for fault in check_axes(part, sizes)]
        if not isinstance(value, np.ndarray):
            continue
        if field.name not in names:
            faults.append(f"{field.name}: an array without axis names")
            continue
        axes = names[field.name].split()
        shape = value.shape
        if axes[0] == "...":
            axes = axes[1:]
            shape = shape[len(shape) - len(axes) :]
        expected = tuple(math.prod(sizes[part] for part in axis.split("*")) for axis in axes)
        fits = [n == e or ("mask" in field.name and n == 1) for n, e in zip(shape, expected, strict=False)]
        if len(shape) != len(expected) or not all(fits):
            faults.append(f"{field.name}: {names[field.name]} should be {expected}, is {value.shape}")
    return faults
