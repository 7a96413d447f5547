"""Right ways of solving an exercise other than its solution's, for the tests of the checkers.

Most are made from the solution's source, run with another arithmetic: `in_another_order`, `in_single`.
What differs by more than arithmetic is written out (`OTHERWISE`).
"""

import builtins
from itertools import pairwise

import numpy as np

# ---------------------------------------------------------------- another arithmetic


class Arithmetic(np.ndarray):
    """An array whose operations are carried out by `run`; what comes out is such an array again."""

    @staticmethod
    def run(ufunc, method, inputs, kwargs):
        raise NotImplementedError

    def __array_ufunc__(self, ufunc, method, *inputs, out=(), **kwargs):
        inputs = [x.view(np.ndarray) if isinstance(x, Arithmetic) else x for x in inputs]
        if out:
            kwargs["out"] = tuple(x.view(np.ndarray) if isinstance(x, Arithmetic) else x for x in out)
        found = self.run(ufunc, method, inputs, kwargs)
        return out[0] if out else as_kind(type(self), found)


class OtherOrder(Arithmetic):
    """Every sum and every product of matrices begins at the other end."""

    @staticmethod
    def run(ufunc, method, inputs, kwargs):
        if ufunc is np.add and method == "reduce":
            summed, *rest = inputs
            axes = kwargs.get("axis", rest[0] if rest else 0)
            inputs = [np.flip(summed, axes).copy(), *rest]
        elif ufunc is np.matmul:
            left, right = inputs
            inputs = [left[..., ::-1].copy(), np.flip(right, max(right.ndim - 2, 0)).copy()]
        return getattr(ufunc, method)(*inputs, **kwargs)


class Single(Arithmetic):
    """Every operation in float32."""

    @staticmethod
    def run(ufunc, method, inputs, kwargs):
        return single(getattr(ufunc, method)(*map(single, inputs), **kwargs))


def as_kind(kind, x):
    """Arrays of another kind, also inside tuples."""
    if isinstance(x, (tuple, list)):
        return type(x)(as_kind(kind, part) for part in x)
    if isinstance(x, np.ndarray) or (isinstance(x, np.generic) and x.dtype.kind == "f"):
        x = single(x) if kind is Single else x
        return np.array(x).view(kind)
    return x


def single(x):
    """Rounded to float32; what that cannot hold stays as it is."""
    if not (isinstance(x, (np.ndarray, np.generic)) and x.dtype == np.float64):
        return x
    with np.errstate(over="ignore"):
        rounded = x.astype(np.float32)
    return rounded if np.array_equal(np.isfinite(rounded), np.isfinite(x)) else x


class Numpy:
    """NumPy whose functions give arrays of another kind."""

    def __init__(self, kind):
        self.kind = kind

    def __getattr__(self, name):
        found = getattr(np, name)
        if not callable(found) or isinstance(found, type):
            return found
        return lambda *args, **kwargs: as_kind(self.kind, found(*args, **kwargs))


def _in(kind, one):
    """The solution of a checker, with the arithmetic of a kind of array."""
    space = {"np": Numpy(kind)}
    if kind is OtherOrder:
        space["sum"] = lambda numbers: builtins.sum(reversed(list(numbers)))
    exec(compile(one.source, one.name, "exec"), space)

    def function(*args):
        value = space[one.name](*as_kind(kind, args))
        return tuple(map(np.asarray, value)) if isinstance(value, tuple) else np.asarray(value)

    return function


def in_another_order(one):
    return _in(OtherOrder, one)


def in_single(one):
    compute = _in(Single, one)

    def function(*args):
        value = compute(*args)
        return tuple(map(single, value)) if isinstance(value, tuple) else single(value)

    return function


# ---------------------------------------------------------------- another structure


def _top_p_from_below(probs, p):
    """Words are cut off from the least probable on, as long as the rest has p."""
    kept = probs.copy()
    for word in np.argsort(probs[::-1], kind="stable"):
        word = len(probs) - 1 - word
        if sum(np.delete(kept, word)[::-1]) < p:
            break
        kept[word] = 0.0
    return kept / sum(sorted(kept))


def _top_p_by_the_rest(probs, p):
    """Words are taken until the others have 1 - p together at most."""
    order = np.argsort(-probs, kind="stable")
    n = next(n for n in range(1, len(probs) + 1) if probs[order[n:]].sum() <= 1 - p)
    kept = np.where(np.isin(np.arange(len(probs)), order[:n]), probs, 0.0)
    return kept * (1 / kept.sum())


def _beam(score):
    """A beam that scores each candidate anew, from the whole sentence."""

    def function(first, following, length, width):
        kept = [[word] for word in range(len(first))]
        for n in range(length):
            if n:
                kept = [[*words, word] for words in kept for word in range(len(first))]
            kept = sorted(kept, key=lambda words: -score(first, following, words))[:width]
        return np.array(kept), np.array([score(first, following, words) for words in kept])

    return function


def _steps(first, following, words):
    return [first[words[0]], *(following[a, b] for a, b in pairwise(words))]


def _log_softmax_by_one_subtraction(scores):
    largest = scores.max(axis=-1, keepdims=True)
    return scores - (largest + np.log(np.exp(scores - largest).sum(axis=-1, keepdims=True)))


def _layer_norm_by_squares(x, gamma, beta, eps=1e-5):
    """The variance as the mean of the squares minus the square of the mean."""
    mean = x.mean(axis=-1, keepdims=True)
    variance = (x * x).mean(axis=-1, keepdims=True) - mean * mean
    return (x - mean) * (gamma / np.sqrt(variance + eps)) + beta


OTHERWISE = {
    "top_p": [_top_p_from_below, _top_p_by_the_rest],
    "beam": [
        _beam(lambda *sentence: sum(_steps(*sentence))),
        _beam(lambda *sentence: sum(_steps(*sentence)[::-1])),
        _beam(lambda *sentence: np.log(np.prod(np.exp(_steps(*sentence))))),
    ],
    "log_softmax": [_log_softmax_by_one_subtraction],
    "layer_norm": [_layer_norm_by_squares],
    "rows_stand_alone": [lambda together, alone: bool((abs(together - alone) < 1e-6).all())],
    "other_rows_moved": [lambda before, after, row: bool(np.abs(np.delete(after - before, row, axis=0)).sum() > 1e-6)],
}


def right_ways(one) -> dict:
    """Right functions for a checker, by name."""
    ways = {
        "the solution": one.solution,
        "in another order": in_another_order(one),
        "in float32": in_single(one),
    }
    return ways | {f"otherwise, {i}": way for i, way in enumerate(OTHERWISE.get(one.name, []), 1)}
