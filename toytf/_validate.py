"""Checks of arguments, at the door: what comes back can be used by the formula.

Each raises an error that names the argument, what was expected and what came: ``name: expected WHAT, got WHAT``.
`ValueError` means that the kind was right and the value was not, `TypeError` that the kind was wrong.
"""

from __future__ import annotations

import math
import os
import reprlib
from collections.abc import Callable, Collection, Iterable
from pathlib import Path

import numpy as np

# ---------------------------------------------------------------- how errors speak


def shape_text(shape: tuple[int, ...]) -> str:
    """Return a shape as people write it: ``(2, 4)`` becomes ``"2 x 4"``."""
    return " x ".join(map(str, shape)) if shape else "a single number"


_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 60


def shown(value) -> str:
    """Return a value as an error shows it: short, and never an error itself."""
    try:
        return _SHORT.repr(value.item() if isinstance(value, np.generic) else value)
    except Exception:  # a repr of somebody else's, or an integer of more digits than Python writes
        return f"something of type {type(value).__name__}"


def shown_class(value) -> str:
    """Return None as it is, and the class of anything else: a whole array or model would be no help."""
    return "None" if value is None else _with_article(type(value).__name__)


def _with_article(word: str) -> str:
    return f"{'an' if word[0] in 'AEIOUaeiou' else 'a'} {word}"


# ---------------------------------------------------------------- arrays


def as_array(name: str, x) -> np.ndarray:
    """Return `x` as an array of NumPy, once nothing of it would be lost."""
    if isinstance(x, np.ma.MaskedArray):
        raise TypeError(f"{name}: expected an array without a mask of its own, got a masked array of numpy.ma")
    try:
        return np.asarray(x)
    except ValueError as error:
        raise TypeError(f"{name}: expected rows of equal length, got a ragged list") from error


def as_floats(name: str, x) -> np.ndarray:
    """Return `x` as a floating array: floats keep their dtype, integers become float64."""
    x = as_array(name, x)
    if x.dtype.kind not in "fiu":
        raise TypeError(f"{name}: expected real numbers, got dtype {x.dtype}")
    return x if x.dtype.kind == "f" else x.astype(np.float64)


def require_some(name: str, x: np.ndarray) -> None:
    """Raise `ValueError` if there is nothing in `x`."""
    if not x.size:
        raise ValueError(f"{name}: expected at least one number, got shape {shape_text(x.shape)}")


def require_finite(name: str, x: np.ndarray) -> None:
    """Raise `ValueError` naming the first NaN or infinity in `x`, if there is one."""
    if np.isfinite(x).all():
        return
    first, *others = np.argwhere(~np.isfinite(x)).tolist()
    more = f" (and {len(others)} more)" if others else ""
    raise ValueError(f"{name}: expected finite numbers, got {float(x[tuple(first)])} at {first}{more}")


def require_shape(name: str, x: np.ndarray, shape: tuple[int, ...], like: str) -> None:
    """Raise `ValueError` unless `x` has this shape, which is that of `like`."""
    if x.shape != shape:
        raise ValueError(f"{name}: expected shape {shape_text(shape)} as {like}, got {shape_text(x.shape)}")


def require_width(name: str, x: np.ndarray, other_name: str, other: np.ndarray, axis: int) -> None:
    """Raise `ValueError` unless the last axis of `x` is as long as `axis` of `other`."""
    if x.shape[-1] != other.shape[axis]:
        what = {-1: "columns", -2: "rows"}[axis]
        raise ValueError(
            f"{name} has width {x.shape[-1]} (shape {shape_text(x.shape)}), but {other_name} has "
            f"{other.shape[axis]} {what} (shape {shape_text(other.shape)}): the two must be equal"
        )


def as_flags(name: str, flags, meaning: str) -> np.ndarray:
    """Return `flags` as a boolean array of at least one axis; `meaning` says what True stands for."""
    flags = as_array(name, flags)
    if flags.dtype != np.bool_:
        raise TypeError(f"{name}: expected booleans, True {meaning}, got dtype {flags.dtype}")
    if flags.ndim < 1 or not flags.size:
        raise ValueError(f"{name}: expected at least 1 axis, and one value, got shape {shape_text(flags.shape)}")
    return flags


def as_mask(name: str, mask, shape: tuple[int, ...]) -> np.ndarray:
    """Return `mask` as a boolean array that broadcasts to `shape`, True meaning "may attend"."""
    mask = as_array(name, mask)
    if mask.dtype != np.bool_:
        raise TypeError(
            f"{name}: expected booleans, True meaning 'may attend', got dtype {mask.dtype}. "
            "If 1 means 'may attend', pass mask.astype(bool); if 1 means 'hidden', pass mask == 0"
        )
    before = (1,) * (len(shape) - mask.ndim) + mask.shape
    if len(before) != len(shape) or any(n not in (1, length) for n, length in zip(before, shape, strict=True)):
        raise ValueError(
            f"{name}: expected a shape that broadcasts to {shape_text(shape)} (..., query, key), "
            f"got {shape_text(mask.shape)}"
        )
    return mask


def as_ids(name: str, ids, size: int | None = None) -> np.ndarray:
    """Return token ids as an integer array, all of them in ``0 .. size - 1``; without a size, 0 or more."""
    ids = as_array(name, ids)
    if ids.size == 0:
        raise ValueError(f"{name}: expected at least one token id, got none")
    if ids.dtype.kind not in "iu":
        raise TypeError(f"{name}: expected integer token ids, got dtype {ids.dtype}")
    if ids.min() >= 0 and (size is None or ids.max() < size):
        return ids
    where = np.argwhere((ids < 0) | (ids >= (ids.max() + 1 if size is None else size)))[0].tolist()
    expected = "ids from 0" if size is None else f"ids from 0 to {size - 1} (the vocabulary has {size} tokens)"
    raise ValueError(f"{name}: expected {expected}, got {int(ids[tuple(where)])} at {where}")


# ---------------------------------------------------------------- numbers, switches, names


def whole_number(name: str, value, least: int | None = None) -> int:
    """Return `value` as an int of Python's, at least `least` if that is given."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name}: expected a whole number, got {shown(value)}")
    if least is not None and value < least:
        raise ValueError(f"{name}: expected at least {least}, got {shown(value)}")
    return int(value)


def positive_int(name: str, value) -> int:
    """Return `value` as an int of Python's, at least 1."""
    return whole_number(name, value, least=1)


def number(name: str, value, expected: str = "a finite number", allowed: Callable = math.isfinite) -> float:
    """Return `value` as a float of Python's for which `allowed` holds; `expected` says that in words."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise TypeError(f"{name}: expected {expected}, got {shown(value)}")
    if not allowed(float(value)):
        raise ValueError(f"{name}: expected {expected}, got {shown(value)}")
    return float(value)


def positive_number(name: str, value) -> float:
    """Return `value` as a float, above 0 and finite."""
    return number(name, value, "a positive number", lambda x: 0 < x < math.inf)


def share(name: str, value) -> float:
    """Return `value` as a float, at least 0 and below 1."""
    return number(name, value, "at least 0 and below 1", lambda x: 0 <= x < 1)


def as_bool(name: str, value) -> bool:
    """Return a switch as a bool: what is only like one (1, "no", None) is refused."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name}: expected True or False, got {shown(value)}")
    return bool(value)


def one_of(name: str, value, known: Collection[str]) -> str:
    """Return a name that is one of those known."""
    if not isinstance(value, str) or value not in known:
        error = ValueError if isinstance(value, str) else TypeError
        raise error(f"{name}: expected one of {', '.join(known)}, got {shown(value)}")
    return value


# ---------------------------------------------------------------- objects


def require_class(name: str, value, *classes: type) -> None:
    """Raise `TypeError` unless `value` is of one of the classes."""
    if not isinstance(value, classes):
        expected = _with_article(" or ".join(cls.__name__ for cls in classes))
        raise TypeError(f"{name}: expected {expected}, got {shown_class(value)}")


def require_callable(name: str, value) -> None:
    """Raise `TypeError` unless `value` can be called."""
    if not callable(value):
        raise TypeError(f"{name}: expected a function, got {shown(value)}")


def require_generator(rng) -> np.random.Generator:
    """Return `rng`, which draws as the course does: from a seed of one's own."""
    if not isinstance(rng, np.random.Generator):
        raise TypeError(f"rng: expected np.random.default_rng(seed), got {type(rng).__name__}")
    return rng


def as_list(name: str, values, of: str) -> list:
    """Return what can be gone through as a list; a string, which can, is refused: its letters are not meant."""
    if isinstance(values, str):
        raise TypeError(f"{name}: expected a list of {of}, got the single string {shown(values)}")
    if isinstance(values, (bytes, dict, set)) or not isinstance(values, Iterable) or getattr(values, "ndim", 1) == 0:
        raise TypeError(f"{name}: expected a list of {of}, got {shown(values)}")
    return list(values)


def list_of(name: str, values, cls: type, of: str) -> list:
    """Return a list of instances of one class."""
    values = as_list(name, values, of)
    for place, value in enumerate(values):
        if not isinstance(value, cls):
            raise TypeError(f"{name}: expected {of}, got {shown(value)} at {place}")
    return values


def as_path(name: str, path) -> Path:
    """Return the name of a file as a `Path`. (`open` would take a number too: 0 waits for the keyboard.)"""
    if not isinstance(path, (str, os.PathLike)) or not str(path):
        raise TypeError(f"{name}: expected the name of a file, got {shown(path)}")
    return Path(path)
