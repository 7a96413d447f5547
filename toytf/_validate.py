"""Checks of arguments: each raises an error that names the argument, what was expected and what came."""

from __future__ import annotations

import numpy as np


def shape_text(shape: tuple[int, ...]) -> str:
    """Return a shape as people write it: ``(2, 4)`` becomes ``"2 x 4"``."""
    return " x ".join(str(n) for n in shape) if shape else "a single number"


def as_floats(name: str, x, min_ndim: int = 1) -> np.ndarray:
    """Return `x` as a floating array: floats keep their dtype, integers become float64.

    Raises
    ------
    TypeError
        If `x` is not made of real numbers (strings, None, complex, ragged lists).
    ValueError
        If `x` has fewer than `min_ndim` axes.
    """
    try:
        x = np.asarray(x)
    except ValueError as error:  # rows of unequal length
        raise TypeError(f"{name}: expected rows of equal length, got a ragged list") from error
    if x.dtype.kind not in "fiu":
        raise TypeError(f"{name}: expected real numbers, got dtype {x.dtype}")
    if x.ndim < min_ndim:
        raise ValueError(
            f"{name}: expected at least {min_ndim} {'axis' if min_ndim == 1 else 'axes'}, "
            f"got {x.ndim} (shape {shape_text(x.shape)})"
        )
    return x if x.dtype.kind == "f" else x.astype(np.float64)


def require_finite(name: str, x: np.ndarray) -> None:
    """Raise `ValueError` naming the first NaN or infinity in `x`, if there is one."""
    if surely_finite(x):
        return
    bad = np.argwhere(~np.isfinite(x))
    if len(bad):
        where = tuple(int(i) for i in bad[0])
        more = f" (and {len(bad) - 1} more)" if len(bad) > 1 else ""
        raise ValueError(f"{name}: expected finite numbers, got {float(x[where])} at {list(where)}{more}")


def surely_finite(x: np.ndarray) -> bool:
    """Whether the sum of the squares is finite: then all of `x` is, and one pass has shown it.

    Numbers near the end of the float range give False too; look at each of them then.
    """
    row = x.ravel(order="K")
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(np.dot(row, row)))


def require_width(name: str, x: np.ndarray, other_name: str, other: np.ndarray, axis: int) -> None:
    """Raise `ValueError` unless the last axis of `x` is as long as `axis` of `other`."""
    if x.shape[-1] != other.shape[axis]:
        what = {-1: "columns", -2: "rows"}[axis]
        raise ValueError(
            f"{name} has width {x.shape[-1]} (shape {shape_text(x.shape)}), but {other_name} has "
            f"{other.shape[axis]} {what} (shape {shape_text(other.shape)}): the two must be equal"
        )


def require_leading(name: str, x: np.ndarray, other_name: str, other: np.ndarray) -> None:
    """Raise `ValueError` unless the axes before the last two of both arrays fit each other."""
    try:
        np.broadcast_shapes(x.shape[:-2], other.shape[:-2])
    except ValueError:
        raise ValueError(
            f"the leading axes of {name} (shape {shape_text(x.shape)}) and {other_name} "
            f"(shape {shape_text(other.shape)}) do not fit each other"
        ) from None


def as_mask(name: str, mask, shape: tuple[int, ...]) -> np.ndarray:
    """Return `mask` as a boolean array that broadcasts to `shape`, True meaning "may attend"."""
    mask = np.asarray(mask)
    if mask.dtype != np.bool_:
        raise TypeError(
            f"{name}: expected booleans, True meaning 'may attend', got dtype {mask.dtype}. "
            "If 1 means 'may attend', pass mask.astype(bool); if 1 means 'hidden', pass mask == 0"
        )
    try:
        fits = np.broadcast_shapes(mask.shape, shape) == shape
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(
            f"{name}: expected a shape that broadcasts to {shape_text(shape)} (..., query, key), "
            f"got {shape_text(mask.shape)}"
        )
    return mask


def as_ids(name: str, ids, size: int) -> np.ndarray:
    """Return token ids as an integer array, all of them in ``0 .. size - 1``."""
    ids = np.asarray(ids)
    if ids.size == 0:
        raise ValueError(f"{name}: expected at least one token id, got none")
    if ids.dtype.kind not in "iu":
        raise TypeError(f"{name}: expected integer token ids, got dtype {ids.dtype}")
    bad = np.argwhere((ids < 0) | (ids >= size))
    if len(bad):
        where = tuple(int(i) for i in bad[0])
        raise ValueError(
            f"{name}: expected ids from 0 to {size - 1} (the vocabulary has {size} tokens), "
            f"got {int(ids[where])} at {list(where)}"
        )
    return ids


def positive_int(name: str, value) -> int:
    """Return `value` as an int, at least 1."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name}: expected a whole number, got {value!r}")
    if value < 1:
        raise ValueError(f"{name}: expected at least 1, got {value}")
    return int(value)


def require_generator(rng) -> None:
    """Raise `TypeError` unless `rng` draws as the course does: from a seed of one's own."""
    if not isinstance(rng, np.random.Generator):
        raise TypeError(f"rng: expected np.random.default_rng(seed), got {type(rng).__name__}")
