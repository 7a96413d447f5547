"""What `toytf._door` promises: a signature is held against the arguments, once, at the outermost call."""

import inspect
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
import pytest

from toytf import attention, generate, model, ops, positions, size
from toytf._door import (
    Array,
    Count,
    Flags,
    Floats,
    Gradient,
    Ids,
    Mask,
    Numbers,
    Place,
    Positive,
    Scores,
    Seen,
    Share,
    check_fields,
    door,
)  # fmt: skip

NAN = float("nan")


@dataclass
class Map:
    weight: Annotated[Array, "d_in d_out"]
    bias: Annotated[Array, "d_out"] | None = None


@dataclass
class Maps:
    first: Map
    others: list[Map]


@dataclass
class Left:
    rows: Annotated[Array, "... length d_in"]


@dataclass(frozen=True)
class Sizes:
    d_in: Count
    switch: bool = True
    name: Literal["a", "b"] = "a"

    def __post_init__(self):
        check_fields(self)


@door
def both(x: Annotated[Floats, "... n d"], y: Annotated[Floats, "... m d"]):
    return x, y


@door
def mapped(p: Map, x: Annotated[Floats, "... d_in"]):
    return x


@door
def back(trace: Left, dout: Annotated[Gradient, "... length d_out"]):
    return dout


@door
def looked_up(table: Annotated[Numbers, "vocabulary d"], ids: Annotated[Ids, "... < vocabulary"]):
    return ids


@door
def seen(k: Annotated[Seen, "... key d"], q: Annotated[Floats, "... query d"], mask: Annotated[Mask, "... query key"]):
    return k, mask


@door
def scored(x: Annotated[Scores, "... n"], axis: int = -1):
    return x


@door
def flagged(x: Annotated[Floats, "... n d"], flags: Annotated[Flags, "... n"]):
    return flags


@door
def scalars(n: Count = 1, start: Place = 0, eps: Positive = 1.0, share: Share = 0.0, keep: bool = True):
    return n, start, eps, share, keep


@door
def whole(p: Maps, cfg: Annotated[Sizes, "sizes"]):
    return p


def test_lists_become_arrays_and_integers_floats_and_float32_stays():
    x, y = both([[1, 2]], np.ones((3, 2), np.float32))
    assert x.dtype == np.float64 and y.dtype == np.float32 and x.tolist() == [[1, 2]]


W23 = np.ones((2, 3))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: both(W23, np.ones((2, 4))), r"x has width 3 \(shape 2 x 3\), but y has 4 columns"),
        (lambda: both(y=np.ones((2, 4)), x=W23), r"^x has width 3"),  # in the signature's order
        (lambda: mapped(Map(W23), W23), r"x has width 3 .* but weight has 2 rows \(shape 2 x 3\)"),
        (lambda: mapped(Map(W23, np.ones(4)), W23), r"weight has width 3 .* but bias has 4 entries"),
        (lambda: both(np.ones((2, 2, 3)), np.ones((5, 2, 3))), r"leading axes of x \(shape 2 x 2 x 3\)"),
        (lambda: both([1.0], W23), "x: expected at least 2 axes, got 1"),
        (lambda: both([[NAN, 1.0]], W23), r"x: expected finite numbers, got nan at \[0, 0\]"),
        (lambda: back(Left(np.ones((5, 2, 3))), np.ones((4, 2, 7))), "leading axes of trace.rows"),
        (lambda: back(Left(np.ones((5, 2, 3))), np.ones((1, 2, 7))), "leading axes"),  # never repeated
        (lambda: looked_up(W23, [0, 2]), r"ids: expected ids from 0 to 1 \(the vocabulary has 2 tokens\)"),
        (lambda: seen(W23, W23, np.ones((3, 2), bool)), "mask: expected a shape that broadcasts to 2 x 2"),
        (lambda: scored([[0.0, 1], [-np.inf] * 2]), r"only -inf in the row at \[1, 0\]"),
        (lambda: flagged(np.ones((2, 2, 3)), np.ones((1, 2), bool)), "flags: expected shape 2 x 2 as x"),
        (lambda: scalars(n=0), "n: expected at least 1, got 0"),
        (lambda: scalars(start=-1), "start: expected at least 0"),
        (lambda: scalars(eps=0), "eps: expected a positive number"),
        (lambda: scalars(share=1.0), "share: expected at least 0 and below 1"),
        (lambda: Sizes(3, name="c"), "name: expected one of a, b"),
        (lambda: whole(Maps(Map(W23), []), Sizes(4)), "first.weight has 2 rows .* but cfg.d_in is 4"),
        (lambda: whole(Maps(Map(W23), [Map(W23.T)]), Sizes(2)), r"and others\[0\].weight has 3 "),
    ],
)
def test_what_does_not_fit_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


RIGHT = {  # a right call of each function
    both: {"x": W23, "y": W23},
    mapped: {"p": Map(W23), "x": W23.T},
    back: {"trace": Left(W23), "dout": W23},
    looked_up: {"table": W23, "ids": np.array([0, 1])},
    seen: {"k": W23, "q": W23, "mask": np.ones((2, 2), bool)},
    scored: {"x": W23},
    flagged: {"x": W23, "flags": np.ones(2, bool)},
    scalars: {"n": 1, "start": 0, "eps": 1.0, "share": 0.0, "keep": True},
    whole: {"p": Maps(Map(W23), []), "cfg": Sizes(2)},
}


def six_wrong(value):
    """Six values that stand for all that is wrong at such a place."""
    if isinstance(value, np.ndarray):
        no_dtype = value.astype(int) if value.dtype == bool else value.astype(complex)
        return ["abc", None, object(), [[1.0], [1.0, 2.0]], value[..., :0], no_dtype]
    return ["abc", None, object(), -1.5, {"a": 1}, [W23.tolist()]]


@pytest.mark.parametrize(
    ("f", "name", "k"),
    [(f, name, k) for f, right in RIGHT.items() for name in right for k in range(6)],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_a_wrong_value_is_refused(f, name, k):
    f(**RIGHT[f])
    with pytest.raises((ValueError, TypeError), match=rf"{name}|expected"):
        f(**{**RIGHT[f], name: six_wrong(RIGHT[f][name])[k]})


def test_what_a_mask_hides_becomes_zeros():
    k = np.array([[1.0, 2.0], [NAN, 3.0]])
    kept, mask = seen(k, np.ones((1, 2)), [[True, False]])
    assert kept.tolist() == [[1, 2], [0, 0]] and mask.tolist() == [[True, False]] and np.isnan(k[1, 0])


def test_shared_keys_do_not_grow_to_the_masks_batch():
    k, _ = seen(np.ones((2, 3)), np.ones((5, 1, 3)), np.ones((5, 1, 2), bool))
    assert k.shape == (2, 3)


def test_only_the_outermost_call_is_checked_in_each_thread_for_itself():
    found = []

    @door
    def outer(n: Count):
        found.append(scalars(n=0)[0])  # not looked at in here
        other = threading.Thread(target=lambda: found.append(_error(lambda: scalars(n=0))))
        other.start()
        other.join()
        raise RuntimeError  # what comes after an error is outside again

    with pytest.raises(RuntimeError):
        outer(1)
    assert found[0] == 0 and "expected at least 1" in found[1]
    assert "expected at least 1" in _error(lambda: scalars(n=0))


def _error(call):
    try:
        return call()
    except ValueError as error:
        return str(error)


def test_a_function_of_the_callers_stands_outside():
    @door
    def calls(f: Callable, x: Annotated[Floats, "n"]):
        return f(x)

    assert calls(lambda x: both([[1]], [[2]])[0].dtype, [1.0]) == np.float64
    with pytest.raises(ValueError, match="n: expected at least 1"):
        calls(lambda x: scalars(n=0), [1.0])


def test_name_signature_and_docstring_are_those_of_the_function():
    def named(x: Annotated[Floats, "n"], k: Count = 2):
        """What it does."""

    kept = door(named)
    assert (kept.__name__, kept.__doc__) == ("named", "What it does.")
    assert inspect.signature(kept) == inspect.signature(named)


@pytest.mark.parametrize("home", [ops, positions, attention, model, generate, size])
def test_every_public_function_of_the_formulas_stands_behind_it(home):
    own = [f for name, f in vars(home).items() if inspect.isfunction(f) and f.__module__ == home.__name__]
    assert [f.__name__ for f in own if f.__name__[0] != "_" and not hasattr(f, "__wrapped__")] == []
