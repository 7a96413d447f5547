"""Checks at the door: a signature says what its function takes, and the outermost call is held to that.

::

    @door
    def attention(q: Annotated[Seen, "... query d_k"], k: Annotated[Seen, "... key d_k"], ...)

Lists become arrays, and integers floats. Axes of one name have one length in all arguments of a call, in the
parts of a dataclass too; ``...`` stands for any leading axes, and ``< size`` behind the axes for ids below that
length. What a function calls in its turn is not checked again: the formulas run alone.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import types
import typing
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple, TypeVar

import numpy as np

from toytf import _validate
from toytf._validate import as_ids, require_class, require_finite, require_some, shape_text
from toytf.tree import Array

# ---------------------------------------------------------------- kinds of arguments


@dataclass(frozen=True, eq=False)
class Kind:
    """How an argument is read."""

    read: Callable[[str, Any], Any]
    repeats: bool = True  # whether its leading axes may be repeated, or must be those of the others
    finish: Callable[[str, Array, dict], Array] | None = None  # what is looked at when all arguments are read


def _numbers(name: str, value) -> Array:
    x = _validate.as_floats(name, value)
    require_some(name, x)
    return x


def _finite(name: str, value) -> Array:
    x = _numbers(name, value)
    require_finite(name, x)
    return x


def _flags(name: str, value) -> Array:
    return _validate.as_flags(name, value, "where a token stands")


def _visible(name: str, x: Array, given: dict) -> Array:
    """Return finite rows, zeros where no query may look: 0 * NaN would be NaN."""
    if given.get("mask") is not None and not np.isfinite(x).all():
        mask = np.atleast_2d(given["mask"])
        seen = np.broadcast_to(mask, (*mask.shape[:-1], x.shape[-2])).any(axis=-2, keepdims=True)
        x = np.where(np.swapaxes(seen, -1, -2), x, x.dtype.type(0))
    require_finite(name, x)
    return x


def _row_by_row(name: str, x: Array, given: dict) -> Array:
    """Return scores of which the softmax is defined: no NaN, no infinity, a finite one in each row."""
    require_finite(name, np.where(np.isneginf(x), 0, x))
    alone = np.argwhere(np.isneginf(x.max(axis=given.get("axis", -1), keepdims=True)))
    if len(alone):
        raise ValueError(
            f"{name}: expected a finite score in every row, got only -inf in the row at {alone[0].tolist()}"
        )
    return x


MASK = Kind(_numbers)  # is read when the axes are known that it broadcasts to
Numbers = Annotated[np.ndarray, Kind(_numbers)]  # whatever they are: NaN flows on
Floats = Annotated[np.ndarray, Kind(_finite)]
Seen = Annotated[np.ndarray, Kind(_numbers, finish=_visible)]  # finite but for rows that the argument `mask` hides
Scores = Annotated[np.ndarray, Kind(_numbers, finish=_row_by_row)]  # -inf is allowed, but not alone in a row
Gradient = Annotated[np.ndarray, Kind(_numbers, repeats=False)]
Ids = Annotated[np.ndarray, Kind(as_ids, repeats=False)]
Flags = Annotated[np.ndarray, Kind(_flags, repeats=False)]
Mask = Annotated[np.ndarray, MASK]  # True means "may attend"; broadcasts to its axes

Count = Annotated[int, _validate.positive_int]
Place = Annotated[int, lambda name, value: _validate.whole_number(name, value, least=0)]
Positive = Annotated[float, _validate.positive_number]
Share = Annotated[float, _validate.share]

SCALARS: dict[Any, Callable] = {
    bool: _validate.as_bool,
    int: _validate.whole_number,
    float: _validate.number,
    np.random.Generator: lambda name, value: _validate.require_generator(value),
}

# ---------------------------------------------------------------- one call


class Axes(NamedTuple):
    """What ``"... length < vocabulary"`` says: any leading axes, one called `length`, ids below `vocabulary`."""

    leads: bool
    named: tuple[str, ...]
    bound: str

    @classmethod
    def read(cls, text: str) -> Axes:
        axes, _, bound = text.partition("<")
        return cls("..." in axes, tuple(axis for axis in axes.split() if axis != "..."), bound.strip())


class _Place(NamedTuple):
    """Where a length was seen first."""

    length: int
    name: str
    shape: tuple[int, ...]  # () if it is a number
    axis: int  # -1 is the last

    def has(self) -> str:
        """``k has 4 columns (shape 2 x 4)``."""
        if not self.shape:
            return f"{self.name} is {self.length}"
        what = {-1: "columns" if len(self.shape) > 1 else "entries", -2: "rows"}.get(self.axis, f"on axis {self.axis}")
        return f"{self.name} has {self.length} {what} (shape {shape_text(self.shape)})"

    def is_width(self) -> bool:
        return self.axis == -1 and len(self.shape) > 1


@dataclass
class _Call:
    """The lengths that one call has shown so far, and the leading axes of its arguments."""

    lengths: dict[str, _Place] = field(default_factory=dict)
    leading: tuple[int, ...] | None = None
    leads: str = ""  # whose leading axes they are
    leads_shape: tuple[int, ...] = ()

    def know(self, axis: str, place: _Place) -> None:
        """Hold a length against that of the same axis elsewhere."""
        first = self.lengths.setdefault(axis, place)
        if first.length == place.length:
            return
        one, other = (place, first) if place.is_width() and not first.is_width() else (first, place)
        has = f"{one.name} has width {one.length} (shape {shape_text(one.shape)})" if one.is_width() else one.has()
        if axis == "key":
            that = f"{other.name} has {other.length} (shape {shape_text(other.shape)})"
            raise ValueError(f"{has} and {that}: every key needs its value")
        raise ValueError(f"{has}, but {other.has()}: the two must be equal")

    def fit(self, name: str, x: Array, axes: Axes, repeats: bool) -> None:
        """Hold an array against the axes that are declared for it."""
        named, n = axes.named, len(axes.named)
        if x.ndim < n or (x.ndim > n and not axes.leads):
            least = f"{'at least ' if axes.leads else ''}{n} {'axis' if n == 1 else 'axes'}"
            raise ValueError(f"{name}: expected {least}, got {x.ndim} (shape {shape_text(x.shape)})")
        if axes.leads and not repeats and self.leading is not None and all(axis in self.lengths for axis in named):
            expected = (*self.leading, *(self.lengths[axis].length for axis in named))
            _validate.require_shape(name, x, expected, f"{self.leads} has")
        for place, axis in enumerate(named, start=-n):
            self.know(axis, _Place(x.shape[place], name, x.shape, place))
        if axes.leads:
            self.lead(name, x.shape, x.shape[: x.ndim - n], repeats)

    def lead(self, name: str, shape: tuple[int, ...], before: tuple[int, ...], repeats: bool) -> None:
        """Hold the axes before the named ones against those of the other arguments."""
        if self.leading is None:
            self.leading, self.leads, self.leads_shape = before, name, shape
            return
        try:
            together = np.broadcast_shapes(self.leading, before)
        except ValueError:
            together = None
        if together is None or (together != before and not repeats):
            raise ValueError(
                f"the leading axes of {self.leads} (shape {shape_text(self.leads_shape)}) and {name} "
                f"(shape {shape_text(shape)}) do not fit each other"
            )
        self.leading = together

    def shape(self, axes: Axes) -> tuple[int, ...]:
        """The shape that a mask broadcasts to; without a memory there are as many keys as queries."""
        queries = self.lengths[axes.named[0]]
        return (*(self.leading or ()), *(self.lengths.get(axis, queries).length for axis in axes.named))


# ---------------------------------------------------------------- checks, made of annotations

Check = Callable[[_Call, str, Any], Any]  # returns what the formula uses


def _check_for(hint, nested: bool = False) -> Check | None:
    """Make the check that an annotation asks for; None if it asks for nothing that is known here."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        options = [option for option in args if option is not type(None)]
        inner = _check_for(options[0], nested) if len(options) == 1 else None
        return inner and (lambda call, name, value: None if value is None else inner(call, name, value))
    if origin is Annotated:
        return _annotated(args[0], hint.__metadata__, nested)
    if origin is typing.Literal:
        return lambda call, name, value: _validate.one_of(name, value, args)
    if Callable in (origin, hint):
        return _callers_own
    if origin is list and dataclasses.is_dataclass(args[0]):
        return functools.partial(_each, args[0])
    if hint in SCALARS:
        return lambda call, name, value: _known(call, name, SCALARS[hint](name, value))
    if dataclasses.is_dataclass(hint):
        return functools.partial(_parts, hint, nested)
    return None


def _annotated(cls: Any, metadata: tuple, nested: bool) -> Check | None:
    """For ``Annotated[Floats, "... d"]``, ``Annotated[Array, "... d"]`` in a dataclass, `Count`, and sizes."""
    kind, last = metadata[0], metadata[-1]
    if dataclasses.is_dataclass(cls):
        return functools.partial(_sizes, cls)
    if not isinstance(last, str):
        return lambda call, name, value: _known(call, name, kind(name, value))
    axes = Axes.read(last)
    if kind is last:
        return None if nested and axes.leads else functools.partial(_held, axes)  # of another function's, on its axes
    if kind is MASK:
        return lambda call, name, value: _validate.as_mask(name, value, call.shape(axes))

    def check(call: _Call, name: str, value):
        bound = call.lengths.get(axes.bound)
        x = kind.read(name, value) if bound is None else as_ids(name, value, bound.length)
        call.fit(name, x, axes, kind.repeats)
        return x

    return check


def _known(call: _Call, name: str, value):
    """Return a scalar; a whole number may be the length of an axis of its name."""
    if type(value) is int:
        call.know(name.rpartition(".")[2], _Place(value, name, (), 0))
    return value


def _sizes(cls: Any, call: _Call, name: str, value):
    """``Annotated[Config, "sizes"]``: its whole numbers are the lengths of the axes of their names."""
    require_class(name, value, cls)
    for part, length in vars(value).items():
        _known(call, f"{name}.{part}", length)
    return value


def _held(axes: Axes, call: _Call, name: str, value):
    """An array that a dataclass holds: as it stands, never converted."""
    if not isinstance(value, np.ndarray):
        raise TypeError(f"{name}: expected an array, {' x '.join(axes.named)}, got {_validate.shown_class(value)}")
    if value.dtype.kind not in "fiub":
        raise TypeError(f"{name}: expected an array of numbers, got dtype {value.dtype}")
    require_some(name, value)
    call.fit(name, value, axes, True)
    return value


def _each(cls: Any, call: _Call, name: str, values):
    for k, value in enumerate(values):
        _parts(cls, True, call, f"{name}[{k}]", value)
    return values


def _parts(cls: Any, nested: bool, call: _Call, name: str, value):
    """A dataclass and all it holds; of what it holds in its turn, only arrays without ``...``."""
    require_class(name, value, cls)
    if not cls.__dataclass_params__.frozen:  # a frozen one was checked when it was made
        for part, check in _checks_of(cls, nested):
            check(call, part if name == "p" else f"{name}.{part}", getattr(value, part))
    return value


@functools.cache
def _checks_of(cls: Any, nested: bool) -> list[tuple[str, Check]]:
    found = []
    for name, hint in typing.get_type_hints(cls, include_extras=True).items():
        is_array = any(typing.get_origin(option) is Annotated for option in (hint, *typing.get_args(hint)))
        if (check := _check_for(hint, nested or not is_array)) is not None:
            found.append((name, check))
    return found


def check_fields(made) -> None:
    """Hold the fields of a frozen dataclass of scalars against their annotations; keep what the checks return."""
    call, cls = _Call(), typing.cast(Any, type(made))
    for name, check in _checks_of(cls, False):
        object.__setattr__(made, name, check(call, name, getattr(made, name)))


# ---------------------------------------------------------------- the door

_inside: ContextVar[bool] = ContextVar("inside", default=False)
F = TypeVar("F", bound=Callable)


def _run(inside: bool, function: Callable, args, kwargs):
    token = _inside.set(inside)
    try:
        return function(*args, **kwargs)
    finally:
        _inside.reset(token)


def _callers_own(call: _Call, name: str, function: Callable) -> Callable:
    """Let a function of the caller's stand outside: what it calls is checked."""
    _validate.require_callable(name, function)
    return lambda *args, **kwargs: _run(False, function, args, kwargs)


def door(function: F) -> F:
    """Check the arguments of a function as its signature declares them, unless another door was passed before."""
    signature = inspect.signature(function)

    @functools.cache
    def declared() -> tuple[dict[str, Check], dict[str, Callable]]:
        """The check of each argument, and what is looked at when all are read; classes may stand further down."""
        hints = typing.get_type_hints(function, include_extras=True)
        checks = {name: check for name in signature.parameters if (check := _check_for(hints.get(name))) is not None}
        kinds = {name: getattr(hints.get(name), "__metadata__", (None,))[0] for name in signature.parameters}
        return checks, {name: kind.finish for name, kind in kinds.items() if getattr(kind, "finish", None)}

    @functools.wraps(function)
    def checked(*args, **kwargs):
        if _inside.get():
            return function(*args, **kwargs)
        checks, late = declared()
        call, given = _Call(), signature.bind(*args, **kwargs).arguments  # in the signature's order, not in the call's
        for name, value in given.items():
            if name in checks:
                given[name] = checks[name](call, name, value)
        for name, finish in late.items():
            if name in given:
                given[name] = finish(name, given[name], given)
        return _run(True, function, (), given)

    return typing.cast(F, checked)
