"""The operations that can be written out: each function takes operands and returns a `Working`."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence

import numpy as np

from toytf import ops
from toytf._validate import (
    as_bool,
    as_floats,
    as_list,
    as_mask,
    number,
    positive_int,
    positive_number,
    require_class,
    require_finite,
    require_room,
    require_width,
    shape_text,
    shown,
    whole_number,
)
from toytf.byhand.expressions import (
    Array,
    Cos,
    Difference,
    Exp,
    Larger,
    Num,
    Power,
    Prod,
    Quotient,
    Root,
    Row,
    Sin,
    Sum,
)
from toytf.byhand.workings import Entry, Operand, Working, require_decimals
from toytf.positions import BASE, sinusoids, sinusoids_column_as_i

WRITABLE = 1e150  # of larger numbers the squares are no floats
WRITABLE_POWER = 700  # nor are the powers of e of larger scores


def table(array, name: str = "", *, rows=None, cols=None, decimals: int = 4, sci: bool = False) -> Working:
    """A labelled table of an array, nothing worked out.

    Parameters
    ----------
    array : array_like, shape (rows, columns) or (columns,)
    name : str
        What to call it, ``"E"`` or ``"K₁"``.
    rows, cols : sequence of str, optional
        Labels; numbers from 1 if left out.
    decimals : int, default 4
        At most so many decimals.
    sci : bool, default False
        Write what would round to zero in scientific notation.

    Examples
    --------
    >>> print(table([[1, 2.5]], "E", rows=["Hello"]))
    E (1 x 2)
             1    2
    Hello  1.0  2.5
    """
    array = _matrix("array", array).copy()  # a table shows what the array held when it was made
    require_class("name", name, str)
    return Working(
        name, "", array, _labels("rows", rows, array.shape[0]), _labels("cols", cols, array.shape[1]), (), decimals, sci
    )


def matmul(a, b, name: str = "", formula: str = "", *, rows=None, cols=None, decimals: int = 4, sci=False) -> Working:
    """A matrix product, every entry its sum of products: ``out[i, j] = sum_k a[i, k] b[k, j]``.

    Parameters
    ----------
    a : array_like or Working, shape (rows, inner)
    b : array_like or Working, shape (inner, columns)
        A `Working`, or its transpose ``K.T``, brings its name and its labels.
    name, formula : str
        What the result is called, and the product's formula.
    rows, cols : sequence of str, optional
        Labels of the rows of `a` and of the columns of `b`.
    decimals : int, default 4
    sci : bool, default False

    Raises
    ------
    ValueError
        If the shapes do not fit.

    Examples
    --------
    >>> E = [[1, 3, 3, 5], [2.84, 3.99, 4, 6]]
    >>> W_K1 = [[1, 0, 1], [0, 1, 0], [1, 0, 1], [0, 1, 0]]
    >>> print(matmul(E, W_K1, "K₁", "E W_K", rows=["Hello", "World"]).only("World, 2"))
    K₁ = E W_K (2 x 3)
              1     2     3
    Hello  4.00  8.00  4.00
    World  6.84  9.99  6.84
    [World, 2] = 2.84·0 + 3.99·1 + 4·0 + 6·1 = 0 + 3.99 + 0 + 6 = 9.99
    """
    given, (a, b) = (a, b), (_matrix("a", a), _matrix("b", b))
    require_width("a", a, "b", b, axis=-2)

    def steps(i, j):
        pairs = [(Num(x, decimals, sci), Num(y, decimals, sci)) for x, y in zip(a[i], b[:, j], strict=True)]
        products = [Prod(x, y) for x, y in pairs]
        return Sum(*products), Sum(*(Num(float(p.value), decimals, sci) for p in products))

    return _work(name, formula, a @ b, steps, rows, cols, decimals, sci, _product(given, name, formula))


def dot(a, b, name: str = "", formula: str = "", *, decimals: int = 4) -> Working:
    """The dot product of two rows: ``sum_k a[k] b[k]``.

    Examples
    --------
    >>> print(dot([8, 3, 3], [4, 8, 4], "q₁·k₁").entries[0].chain("text")[0][1])
    8·4 + 3·8 + 3·4
    """
    require_class("name", name, str)
    rows = _matrix("a", a), _matrix("b", b).T
    if not any(isinstance(x, Working) for x in (a, b)):
        return matmul(*rows, name, formula, rows=[name or "a · b"], cols=[""], decimals=decimals)
    b = b.T if isinstance(b, Working) else rows[1]
    return matmul(a, b, name, formula, rows=[name or "a · b"], cols=[""], decimals=decimals)


def add(a, b, name: str = "", formula: str = "", *, rows=None, cols=None, decimals: int = 4) -> Working:
    """A sum, entry by entry: ``out[i, j] = a[i, j] + b[i, j]`` (adding positions, a residual).

    Examples
    --------
    >>> print(add([[1, 2]], [[0, 1]], "x", rows=["Hello"]))
    x (1 x 2)
           1  2
    Hello  1  3
    [Hello, 1] = 1 + 0 = 1
    [Hello, 2] = 2 + 1 = 3
    """
    given, (a, b) = (a, b), (_matrix("a", a), _matrix("b", b))
    _same_shape("a", a, "b", b)

    def steps(i, j):
        return (Sum(Num(float(a[i, j]), decimals), Num(float(b[i, j]), decimals)),)

    made = _Made(given, ("cell", "other cell"), ("", "+"), _split(_said(formula, name), "+", 2), "{} + {}")
    return _work(name, formula, a + b, steps, rows, cols, decimals, False, made)


def divide(a, divisor, name: str = "", formula: str = "", *, root=False, rows=None, cols=None, decimals=4) -> Working:
    """Every entry divided by one number, or by its square root: ``out[i, j] = a[i, j] / √divisor``.

    Parameters
    ----------
    a : array_like, shape (rows, columns)
    divisor : float
        Not zero; positive if `root`.
    name, formula
        As in `matmul`.
    root : bool, default False
        Divide by the square root of `divisor`.
    rows, cols, decimals
        As in `matmul`.

    Examples
    --------
    >>> print(divide([[68]], 3, "scaled", root=True).entries[0].chain("text"))
    [('=', '68 / √3'), ('≈', '68 / 1.7321'), ('≈', '39.2598')]
    """
    given, a = (a,), _matrix("a", a)
    if as_bool("root", root):
        divisor = positive_number("divisor", divisor)
    else:
        divisor = number("divisor", divisor, "a non-zero number", lambda x: math.isfinite(x) and x != 0)
    by = math.sqrt(divisor) if root else divisor

    def steps(i, j):
        top = Num(float(a[i, j]), decimals)
        plain = Quotient(top, Num(by, decimals))
        return (Quotient(top, Root(Num(float(divisor), decimals))), plain) if root else (plain,)

    require_decimals(decimals)
    sign = f"/ {'√' if root else ''}{Num(float(divisor), decimals).render('html')}"
    made = _Made(given, ("cell",), ("",), _split(_said(formula, name), "/", 2)[:1], f"{{}} {sign}", sign=f"{sign} =")
    return _work(name, formula, a / by, steps, rows, cols, decimals, False, made)


def softmax(scores, name="", formula="", *, subtract_max=False, rows=None, cols=None, decimals=4, sci=False) -> Working:
    """The softmax of every row: ``out[i, j] = e^x[i, j] / sum_k e^x[i, k]``.

    Parameters
    ----------
    scores : array_like, shape (rows, columns) or (columns,)
    name, formula
        As in `matmul`.
    subtract_max : bool, default False
        Subtract each row's largest score first, as `toytf.ops.softmax` does. The weights are the
        same; the powers stay small enough to write down.
    rows, cols, decimals, sci
        As in `matmul`.

    Examples
    --------
    >>> for relation, step in softmax([1, 2, 3]).entries[0].chain("text"):
    ...     print(relation, step)
    = e^1 / (e^1 + e^2 + e^3)
    ≈ 2.7183 / (2.7183 + 7.3891 + 20.0855)
    ≈ 2.7183 / 30.1929
    ≈ 0.09
    """
    given, scores, subtract_max = (scores,), _scores("scores", scores), as_bool("subtract_max", subtract_max)
    if not subtract_max and np.abs(scores.max(axis=-1)).max() > WRITABLE_POWER:
        raise ValueError(
            f"scores: expected the largest of each row between -{WRITABLE_POWER} and {WRITABLE_POWER}, "
            f"so that its power of e is a float, got {scores.max()}; subtract_max=True subtracts it first"
        )

    def exponent(i, k):
        score = Num(float(scores[i, k]), decimals)
        return Difference(score, Num(float(scores[i].max()), decimals)) if subtract_max else score

    def steps(i, j):
        exps = [Exp(exponent(i, k)) for k in range(scores.shape[1])]
        numbers = [Num(float(e.value), decimals, sci) for e in exps]
        total = Num(float(sum(e.value for e in exps)), decimals, sci)
        return Quotient(exps[j], Sum(*exps)), Quotient(numbers[j], Sum(*numbers)), Quotient(numbers[j], total)

    made = _Made(given, ("row, cell",), ("",), _inner(formula), "softmax({})", sign="→")
    return _work(name, formula, ops.softmax(scores), steps, rows, cols, decimals, sci, made)


def mask(scores, may_attend, name="", formula="", *, rows=None, cols=None, decimals=4) -> Working:
    """Scores where a row may look, minus infinity elsewhere: ``out = scores + M``, with 0 and -∞ in ``M``.

    Parameters
    ----------
    scores : array_like or Working, shape (rows, columns) or (columns,)
    may_attend : array_like of bool, same shape, or one that fits it by broadcasting
        True where the row may attend to the column.
    name, formula, rows, cols, decimals
        As in `matmul`. ``"S + B"`` calls what is added ``B``.

    Raises
    ------
    ValueError
        If the shapes differ.

    Examples
    --------
    >>> working = mask([[68, 105]], [[True, False]], "masked", rows=["Hello"])
    >>> print(working)
    masked (1 x 2)
            1   2
    Hello  68  -∞
    [Hello, 1] = 68 + 0 = 68
    [Hello, 2] = 105 - ∞ = -∞

    Its softmax gives what is hidden no weight:

    >>> print(softmax(working).entries[1].chain("text")[0][1])
    e^(-∞) / (e^68 + e^(-∞))
    """
    given, scores = scores, _matrix("scores", scores)
    seen = np.broadcast_to(as_mask("may_attend", may_attend, scores.shape), scores.shape)
    hidden = np.where(seen, 0.0, -np.inf)

    def steps(i, j):
        return (Sum(Num(float(scores[i, j]), decimals), Num(float(hidden[i, j]))),)

    name_scores, name_mask = _split(formula, "+", 2)
    names = (name_scores, name_mask or "M")
    made = _Made((given, hidden), ("cell", "other cell"), ("", "+"), names, "{} + M")
    return _work(name, formula, scores + hidden, steps, rows, cols, decimals, False, made)


def concat(*parts, name="", formula="", rows=None, cols=None, decimals=4) -> Working:
    """Matrices with as many rows beside each other: what several heads give, as one matrix.

    Parameters
    ----------
    *parts : array_like or Working, shape (rows, columns of each)
    name, formula, rows, cols, decimals
        As in `matmul`.

    Raises
    ------
    ValueError
        If the parts differ in rows.

    Examples
    --------
    >>> print(concat([[1, 2]], [[3]], name="heads", rows=["Hello"]))
    heads (1 x 3)
           1  2  3
    Hello  1  2  3
    [Hello, 1] = 1
    [Hello, 2] = 2
    [Hello, 3] = 3
    """
    if not parts:
        raise ValueError("parts: expected at least one matrix, got none")
    arrays = [_matrix("parts", part) for part in parts]
    if len({len(a) for a in arrays}) > 1:
        raise ValueError(
            f"parts: expected matrices with as many rows, got {', '.join(shape_text(a.shape) for a in arrays)}"
        )
    widths = [a.shape[1] for a in arrays]
    starts = [sum(widths[:n]) for n in range(len(parts))]
    named = all(isinstance(part, Working) and part.name for part in parts)
    formula = _said(formula, "") or (f"[{', '.join(part.name for part in parts)}]" if named else "")
    lights, signs = ["cell"] * len(parts), [""] + ["and"] * (len(parts) - 1)
    made = _Made(parts, lights, signs, [""] * len(parts), shifts=starts)
    cols = range(1, sum(widths) + 1) if cols is None else cols
    return _work(name, formula, np.hstack(arrays), lambda i, j: (), rows, cols, decimals, False, made)


def weighted_sum(weights, values, name="", formula="", *, rows=None, cols=None, decimals=4, sci=False) -> Working:
    """Each output row as a mix of the value rows: ``out[i] = sum_j weights[i, j] values[j]``.

    The same numbers as `matmul`, written with whole rows: this is what attention does.

    Parameters
    ----------
    weights : array_like, shape (rows, n) or (n,)
    values : array_like, shape (n, columns)
    name, formula, rows, cols, decimals, sci
        As in `matmul`.

    Examples
    --------
    >>> for relation, step in weighted_sum([0.25, 0.75], [[6, 4], [8, 2]]).entries[0].chain("text"):
    ...     print(relation, step)
    = 0.25·[6 4] + 0.75·[8 2]
    = [1.5 1] + [6 1.5]
    = [7.5 2.5]
    """
    given, (weights, values) = (weights, values), (_matrix("weights", weights), _matrix("values", values))
    require_width("weights", weights, "values", values, axis=-2)
    result = weights @ values
    made = _product(given, name, formula, lights=("row", "all"))
    formula, rows, cols = made.formula(formula), made.rows(rows), made.cols(cols)
    row_labels = _labels("rows", rows, result.shape[0])

    def row(numbers):
        return Row(tuple(Num(float(v), decimals, sci) for v in numbers))

    entries = []
    for i, label in enumerate(row_labels):
        mix = Sum(*(Prod(Num(float(w), decimals, sci), row(v)) for w, v in zip(weights[i], values, strict=True)))
        parts = Sum(*(row(w * v) for w, v in zip(weights[i], values, strict=True)))
        entries.append(_entry(label, (mix, parts), row(result[i]), (i,)))
    col_labels = _labels("cols", cols, result.shape[1])
    return Working(
        name, formula, result, row_labels, col_labels, tuple(entries), decimals, sci, made.operands(), "product"
    )


def relu(x, name="", formula="", *, rows=None, cols=None, decimals=4) -> Working:
    """The larger of 0 and each entry: ``out[i, j] = max(0, x[i, j])``.

    Parameters
    ----------
    x : array_like, shape (rows, columns) or (columns,)
    name, formula, rows, cols, decimals
        As in `matmul`.

    Examples
    --------
    >>> print(relu([-1.5, 2], "y", rows=["Hello"]))
    y (1 x 2)
           1  2
    Hello  0  2
    [Hello, 1] = max(0, -1.5) = 0
    [Hello, 2] = max(0, 2) = 2
    """
    given, x = (x,), _matrix("x", x)

    def steps(i, j):
        return (Larger(Num(0.0), Num(float(x[i, j]), decimals)),)

    made = _Made(given, ("cell",), ("",), _inner(formula, after="0, "), "max(0, {})", sign="→")
    return _work(name, formula, ops.relu(x), steps, rows, cols, decimals, False, made)


def mean(x, name="mean", *, rows=None, decimals=4) -> Working:
    """The mean of every row: ``(x[i, 1] + ... + x[i, d]) / d``.

    Examples
    --------
    >>> print(mean([[1, 3, 3, 5]], rows=["Hello"]).entries[0].chain("text"))
    [('=', '(1 + 3 + 3 + 5) / 4'), ('=', '12 / 4'), ('=', '3')]
    """
    given, x = (x,), _matrix("x", x)
    width = Num(float(x.shape[1]))

    def steps(i, _):
        total = Sum(*(Num(float(v), decimals) for v in x[i]))
        return Quotient(total, width), Quotient(Num(float(total.value), decimals), width)

    made = _Made(given, ("row",), ("",), ("",), sign="→")
    return _work(name, "", x.mean(axis=-1, keepdims=True), steps, rows, [""], decimals, False, made)


def variance(x, name="variance", *, unbiased=False, rows=None, decimals=4) -> Working:
    """The mean squared distance of every row's entries from the row's mean.

    Parameters
    ----------
    x : array_like, shape (rows, columns) or (columns,)
    name : str
        As in `matmul`.
    unbiased : bool, default False
        Divide by one less than the number of columns, as ``torch.std`` does and layer norm does not.
    rows, decimals
        As in `matmul`.

    Examples
    --------
    >>> for relation, step in variance([[1, 3, 3, 5]], rows=["Hello"]).entries[0].chain("text"):
    ...     print(relation, step)
    = ((1 - 3)^2 + (3 - 3)^2 + (3 - 3)^2 + (5 - 3)^2) / 4
    = (4 + 0 + 0 + 4) / 4
    = 2
    """
    given, x = (x,), _matrix("x", x)
    by = x.shape[1] - (1 if as_bool("unbiased", unbiased) else 0)
    if by < 1:
        raise ValueError(f"x: expected at least 2 columns for the unbiased variance, got {x.shape[1]}")
    width, means = Num(float(by)), x.mean(axis=-1)

    def steps(i, _):
        centre = Num(float(means[i]), decimals)
        squares = [Power(Difference(Num(float(v), decimals), centre), Num(2.0)) for v in x[i]]
        return (
            Quotient(Sum(*squares), width),
            Quotient(Sum(*(Num(float(s.value), decimals) for s in squares)), width),
        )

    result = x.var(axis=-1, ddof=1 if unbiased else 0, keepdims=True)
    made = _Made(given, ("row",), ("",), ("",), sign="→")
    return _work(name, "", result, steps, rows, [""], decimals, False, made)


def layer_norm(x, name="", formula="", *, eps=1e-5, eps_outside=False, rows=None, cols=None, decimals=4) -> Working:
    """Layer normalisation without scale and shift: ``(x - mean) / sqrt(variance + eps)``.

    Parameters
    ----------
    x : array_like, shape (rows, columns) or (columns,)
    name, formula
        As in `matmul`.
    eps : float, default 1e-5
    eps_outside : bool, default False
        Divide by ``std + eps``, as *The Random Transformer*'s code does.
    rows, cols, decimals
        As in `matmul`.

    Examples
    --------
    >>> for relation, step in layer_norm([[1, 3, 3, 5]], rows=["Hello"]).entries[3].chain("text"):
    ...     print(relation, step)
    = (5 - 3) / √(2 + 0.00001)
    ≈ 2 / 1.4142
    ≈ 1.4142
    """
    given, x, eps, eps_outside = (x,), _matrix("x", x), positive_number("eps", eps), as_bool("eps_outside", eps_outside)
    means, variances = x.mean(axis=-1), x.var(axis=-1)
    small = Num(float(eps), 8)
    widths = np.sqrt(variances) + eps if eps_outside else np.sqrt(variances + eps)

    def steps(i, j):
        distance = Difference(Num(float(x[i, j]), decimals), Num(float(means[i]), decimals))
        spread = Num(float(variances[i]), decimals)
        bottom = Sum(Root(spread), small) if eps_outside else Root(Sum(spread, small))
        plain = Quotient(Num(float(distance.value), decimals), Num(float(widths[i]), decimals))
        return Quotient(distance, bottom), plain

    result = (x - means[:, None]) / widths[:, None]
    made = _Made(given, ("row, cell",), ("",), _inner(formula), "LN({})", sign="→")
    return _work(name, formula, result, steps, rows, cols, decimals, False, made)


def softmax_backward(weights, dout, name="", formula="", *, rows=None, cols=None, decimals=4, sci=False) -> Working:
    """What a softmax sends back: ``out[i, j] = a[i, j] * (da[i, j] - sum_k a[i, k] da[i, k])``.

    Parameters
    ----------
    weights : array_like, shape (rows, columns) or (columns,)
        What the softmax gave.
    dout : array_like, same shape
        The gradient of the loss with respect to the weights.
    name, formula, rows, cols, decimals, sci
        As in `matmul`.

    Raises
    ------
    ValueError
        If the shapes differ.

    Examples
    --------
    >>> for relation, step in softmax_backward([0.25, 0.75], [2, 6]).entries[0].chain("text"):
    ...     print(relation, step)
    = 0.25·(2 - (0.25·2 + 0.75·6))
    = 0.25·(2 - 5)
    = 0.25·(-3)
    = -0.75
    """
    given, (weights, dout) = (weights, dout), (_matrix("weights", weights), _matrix("dout", dout))
    _same_shape("weights", weights, "dout", dout)

    def number(value):
        return Num(float(value), decimals, sci)

    def steps(i, j):
        a, d = number(weights[i, j]), number(dout[i, j])
        total = Sum(*(Prod(number(w), number(v)) for w, v in zip(weights[i], dout[i], strict=True)))
        short = Difference(d, number(total.value))
        return Prod(a, Difference(d, total)), Prod(a, short), Prod(a, number(short.value))

    made = _Made(given, ("row, cell", "row, cell"), ("", "and"), ("", ""), sign="→")
    return _work(name, formula, ops.softmax_backward(weights, dout), steps, rows, cols, decimals, sci, made)


def layer_norm_backward(x, dout, name="", formula="", *, eps=1e-5, rows=None, cols=None, decimals=4) -> Working:
    """What a layer norm without scale and shift sends back to its rows::

        out[i, j] = (g[j] - mean(g) - y[j] * mean(g y)) / sqrt(variance + eps)

    with ``g`` row ``i`` of `dout` and ``y`` the normalised row. With a scale, give ``dout * gamma``.

    Parameters
    ----------
    x : array_like, shape (rows, columns) or (columns,)
        What went into the layer norm.
    dout : array_like, same shape
        The gradient of the loss with respect to what came out.
    name, formula
        As in `matmul`.
    eps : float, default 1e-5
    rows, cols, decimals
        As in `matmul`.

    Raises
    ------
    ValueError
        If the shapes differ.

    Examples
    --------
    >>> working = layer_norm_backward([[1, 3, 3, 5]], [[1, 0, 0, 2]])
    >>> for relation, step in working.entries[3].chain("text"):
    ...     print(relation, step)
    ≈ (2 - 0.75 - 1.4142·0.3536) / 1.4142
    ≈ 0.75 / 1.4142
    ≈ 0.5303
    """
    given, (x, dout) = (x, dout), (_matrix("x", x), _matrix("dout", dout))
    _same_shape("x", x, "dout", dout)
    plain = ops.LayerNorm(np.ones(x.shape[1]), np.zeros(x.shape[1]))
    _, trace = ops.layer_norm(plain, x, eps)
    y, means, along = trace.normalised, dout.mean(axis=-1), (dout * trace.normalised).mean(axis=-1)

    def number(value):
        return Num(float(value), decimals)

    def steps(i, j):
        away = Difference(number(dout[i, j]), number(means[i]))
        top, std = Difference(away, Prod(number(y[i, j]), number(along[i]))), number(trace.std[i, 0])
        return Quotient(top, std), Quotient(number(top.value), std)

    result, _ = ops.layer_norm_backward(plain, trace, dout)
    made = _Made(given, ("row, cell", "row, cell"), ("", "and"), ("", ""), sign="→")
    return _work(name, formula, result, steps, rows, cols, decimals, False, made)


def cross_entropy_backward(probs, goal, name="", formula="", *, rows=None, cols=None, decimals=4) -> Working:
    """The mean cross-entropy's gradient: ``out[i, j] = (p[i, j] - g[i, j]) / n`` for ``n`` rows.

    Parameters
    ----------
    probs : array_like, shape (rows, columns) or (columns,)
        The softmax of the logits.
    goal : array_like, same shape
        What was wanted, 1 for the right word and 0 for the others.
    name, formula, rows, cols, decimals
        As in `matmul`.

    Raises
    ------
    ValueError
        If the shapes differ.

    Examples
    --------
    >>> working = cross_entropy_backward([[0.25, 0.75], [0.5, 0.5]], [[1, 0], [0, 1]])
    >>> working.entries[0].chain("text")
    [('=', '(0.25 - 1) / 2'), ('=', '(-0.75) / 2'), ('=', '-0.375')]
    >>> cross_entropy_backward([0.25, 0.75], [1, 0]).entries[0].chain("text")  # one row: nothing to divide by
    [('=', '0.25 - 1'), ('=', '-0.75')]
    """
    given, (probs, goal) = (probs, goal), (_matrix("probs", probs), _matrix("goal", goal))
    _same_shape("probs", probs, "goal", goal)
    n = len(probs)

    def steps(i, j):
        away = Difference(Num(float(probs[i, j]), decimals), Num(float(goal[i, j]), decimals))
        if n == 1:
            return (away,)
        return Quotient(away, Num(float(n))), Quotient(Num(float(away.value), decimals), Num(float(n)))

    names = _split(re.sub(r"^\((.*)\) / \d+$", r"\1", _said(formula, "")), "−", 2)
    signs, sign = (("", "−"), "=") if n == 1 else (("(", "−"), f") / {n} =")
    made = _Made(given, ("cell", "other cell"), signs, names, sign=sign)
    return _work(name, formula, (probs - goal) / n, steps, rows, cols, decimals, False, made)


def positions(pos: Sequence[int], d_model: int, name="PE", *, column_as_i=False, rows=None, decimals=4) -> Working:
    """The sinusoids of some positions, each with its exponent and its angle.

    Parameters
    ----------
    pos : sequence of int
        The positions, counted from 0.
    d_model : int
        Width, even.
    name : str
        As in `matmul`.
    column_as_i : bool, default False
        Put the column number where the pair number belongs, as *The Random Transformer* does.
    rows, decimals
        As in `matmul`.

    Examples
    --------
    >>> for relation, step in positions([1], 4).entries[2].chain("text"):
    ...     print(relation, step)
    = sin(1 / 10000^(2 / 4))
    = sin(1 / 100)
    = sin(0.01)
    ≈ 0.01
    """
    pos = [whole_number("pos", p, least=0) for p in as_list("pos", pos, "positions")]
    if not pos:
        raise ValueError("pos: expected at least one position, got none")
    require_room("pos, d_model", max(pos) + 1, positive_int("d_model", d_model))
    full = (sinusoids_column_as_i if as_bool("column_as_i", column_as_i) else sinusoids)(max(pos) + 1, d_model)
    decimals = whole_number("decimals", decimals, least=0)
    many = max(decimals, 6)  # the angles need more digits than the values, or they would all read 0

    def steps(r, j):
        wave = Cos if j % 2 else Sin
        exponent = 2 * j if column_as_i else 2 * (j // 2)
        at, power = Num(float(pos[r])), BASE ** (exponent / d_model)
        return (
            wave(Quotient(at, Power(Num(BASE), Quotient(Num(float(exponent)), Num(float(d_model)))))),
            wave(Quotient(at, Num(power))),
            wave(Num(pos[r] / power, many)),
        )

    rows = rows if rows is not None else [f"pos {p}" for p in pos]
    cols = [f"{wave}, column {j}" for j, wave in zip(range(d_model), itertools.cycle(("sin", "cos")), strict=False)]
    made = _Made((np.array(pos, float)[:, None],), ("row",), ("",), ("pos",), sign="→")
    return _work(name, "", full[list(pos)], steps, rows, cols, decimals, False, made)


# ---------------------------------------------------------------- helpers


def _matrix(name: str, x) -> Array:
    x = as_floats(name, x.result if isinstance(x, Working) else x)
    x = np.atleast_2d(x)
    if x.ndim != 2 or x.size == 0:
        raise ValueError(f"{name}: expected a row or a matrix with at least one entry, got shape {shape_text(x.shape)}")
    require_finite(name, x)
    largest = np.abs(x).max()
    if largest > WRITABLE:
        raise ValueError(f"{name}: expected numbers up to {WRITABLE:g}, whose products are floats, got {largest:g}")
    return x


def _same_shape(name: str, a: Array, other_name: str, b: Array) -> None:
    if a.shape != b.shape:
        raise ValueError(
            f"{name} has shape {shape_text(a.shape)} and {other_name} {shape_text(b.shape)}: the two must be equal"
        )


def _labels(name: str, labels, n: int) -> tuple[str, ...]:
    if labels is None:
        return tuple(str(i + 1) for i in range(n))
    labels = list(labels) if isinstance(labels, dict) else as_list(name, labels, "labels")  # steps by their names
    labels = tuple(str(label) for label in labels)
    if len(labels) != n:
        raise ValueError(f"{name}: expected {n} labels, got {len(labels)}: {shown(labels)}")
    return labels


def _scores(name: str, x) -> Array:
    """A matrix; one that `mask` gave may say that some scores are not there."""
    if not isinstance(x, Working) or np.isfinite(x.result).all():
        return _matrix(name, x)
    if not (np.isfinite(x.result) | np.isneginf(x.result)).all() or np.isneginf(x.result).all(axis=-1).any():
        raise ValueError(f"{name}: expected at least one finite score in each row")
    return x.result


class _Made:
    """What a result is made of: the operands as they were given, and what is known about each."""

    def __init__(self, given, lights, signs, names, pattern="", sign="=", layout="", shifts=None):
        self.given, self.lights, self.signs, self.names = given, lights, signs, names
        self.pattern, self.sign, self.layout = pattern, sign, layout
        self.shifts = shifts or [0] * len(given)

    def formula(self, formula: str) -> str:
        """The formula, written with the operands' own names where none was given."""
        require_class("formula", formula, str)
        named = [x.name for x in self.given if isinstance(x, Working) and x.name]
        if formula or not self.pattern or len(named) < len(self.given):
            return formula
        if "(" not in self.pattern:  # a sum inside a sum needs no parentheses, inside a product it does
            named = [f"({n})" if " " in n else n for n in named]
        return self.pattern.format(*named)

    def rows(self, rows):
        first = self.given[0]
        return first.rows if rows is None and isinstance(first, Working) else rows

    def cols(self, cols):
        last = self.given[-1] if self.layout == "product" else self.given[0]
        return last.cols if cols is None and isinstance(last, Working) else cols

    def operands(self) -> tuple[Operand, ...]:
        out = []
        for given, lights, sign, name, shift in zip(
            self.given, self.lights, self.signs, self.names, self.shifts, strict=True
        ):
            if isinstance(given, Working):
                own = (given.name or name, given.result, given.rows, given.cols)
                turned = given.source is not None
                out.append(Operand(*own, lights, sign, shift, given, turned))
            else:
                array = np.array(np.atleast_2d(np.asarray(given, float)))  # as it was when the result was made
                out.append(Operand(name, array, None, None, lights, sign, shift))
        return tuple(out)


def _product(given, name: str, formula: str, lights=("row", "column")) -> _Made:
    words = [w for w in _words(_said(formula, name)) if w != "·"]
    good = len(words) == 2 and not set(words) & {"+", "-", "−", "/", "="}
    return _Made(given, lights, ("", ""), words if good else ("", ""), "{} {}", layout="product")


def _said(formula, name) -> str:
    """The formula; a name often is one."""
    require_class("name", name, str)
    require_class("formula", formula, str)
    return formula or name


def _words(formula) -> list[str]:
    """Split a formula at its spaces, but not inside brackets: ``"[head₁, head₂] W_O"`` has two words."""
    require_class("formula", formula, str)
    return re.findall(r"(?:[^\s()\[\]]|\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\]]*\])+", formula)


def _split(formula, sign: str, n: int) -> list[str]:
    """Split a formula at a sign that stands between spaces and outside of brackets, into `n` names."""
    names = [""]
    for word in _words(formula):
        if word == sign:
            names.append("")
        else:
            names[-1] = f"{names[-1]} {word}".strip()
    return names if len(names) == n else [""] * n


def _inner(formula, after: str = "") -> list[str]:
    """What stands between the brackets of ``"softmax(S)"``."""
    require_class("formula", formula, str)
    found = re.fullmatch(rf"[^\s(]+\({re.escape(after)}(.*)\)", formula)
    return [found[1] if found else ""]


def _work(name, formula, result, steps, rows, cols, decimals, sci, made: _Made) -> Working:
    """Build a `Working` from a function that gives the steps of entry (i, j)."""
    formula, rows = made.formula(formula), made.rows(rows)
    cols = made.cols(cols) if result.shape[1] > 1 or cols is None else cols
    rows, cols = _labels("rows", rows, result.shape[0]), _labels("cols", cols, result.shape[1])
    entries = []
    for i, j in np.ndindex(result.shape):
        where = f"{rows[i]}, {cols[j]}" if cols[j] else rows[i]
        entries.append(_entry(where, steps(i, j), Num(float(result[i, j]), decimals, sci), (i, j)))
    return Working(
        name, formula, result, rows, cols, tuple(entries), decimals, sci, made.operands(), made.layout, made.sign
    )


def _entry(where: str, steps: tuple, value, at: tuple[int, ...] = ()) -> Entry:
    """Join the steps with their value, once each of them has been evaluated and found equal to it."""
    for step in steps:
        if not np.allclose(step.value, value.value, rtol=1e-9, atol=1e-14):
            raise AssertionError(f"{where}: the arithmetic gives {step.value}, NumPy gives {value.value}")
    return Entry(where, (*steps, value), at)
