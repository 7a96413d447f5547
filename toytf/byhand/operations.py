"""The operations that can be written out: each takes operands and returns a `Working`.

Operands are matrices, (rows, columns), or single rows, (columns,); a `Working` among them brings its name and its
labels. The result is called `name` and said to be `formula`; ``**how`` are `rows`, `cols`, `decimals` and `sci` of
`table`. An operand that is empty or not finite, and operands whose shapes do not fit, are a `ValueError`.

An operation says three things: its result, as NumPy computes it; its entry (i, j) as an expression of the operands'
numbers; and how deep that expression is evaluated in the lines that follow. `_Made` does what is left, the same for
all: names, labels, the lines of each entry, and the check that each of them has the entry's value.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from toytf import ops
from toytf._validate import (
    as_bool,
    as_floats,
    as_list,
    as_mask,
    number,
    positive_number,
    require_class,
    require_finite,
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
    Sin,
    Sum,
    leaf,
)
from toytf.byhand.workings import Entry, Operand, Working, require_decimals
from toytf.positions import BASE, sinusoids, sinusoids_column_as_i

LARGEST_POWER = 700  # powers of e of larger scores are no floats


def table(array, name: str = "", *, rows=None, cols=None, decimals=4, sci=False, marked=None) -> Working:
    """A labelled table of an array, nothing worked out.

    It is called `name`, for example ``"E"`` or ``"K₁"``; `rows` and `cols` are its labels, numbers from 1 if left out.
    At most so many decimals are shown; with `sci` what would round to zero is written in scientific notation.
    Cells are tinted where the array `marked` is true.

    >>> print(table([[1, 2.5]], "E", rows=["Hello"]))
    E (1 x 2)
             1    2
    Hello  1.0  2.5
    """
    array = _matrix("array", array).copy()  # a table shows what the array held when it was made
    rows, cols = _labels("rows", rows, array.shape[0]), _labels("cols", cols, array.shape[1])
    return Working(name, "", array, rows, cols, decimals=decimals, sci=sci, marked=marked)


def matmul(a, b, name: str = "", formula: str = "", **how) -> Working:
    """A matrix product, every entry its sum of products: ``out[i, j] = sum_k a[i, k] b[k, j]``.

    The factors are (rows, inner) and (inner, columns). A transpose, ``K.T``, brings its name and its labels, too.

    >>> E = [[1, 3, 3, 5], [2.84, 3.99, 4, 6]]
    >>> W_K1 = [[1, 0, 1], [0, 1, 0], [1, 0, 1], [0, 1, 0]]
    >>> print(matmul(E, W_K1, "K₁", "E W_K", rows=["Hello", "World"]).only("World, 2"))
    K₁ = E W_K (2 x 3)
              1     2     3
    Hello  4.00  8.00  4.00
    World  6.84  9.99  6.84
    [World, 2] = 2.84·0 + 3.99·1 + 4·0 + 6·1 = 0 + 3.99 + 0 + 6 = 9.99
    """
    x, y = _matrix("a", a), _matrix("b", b)
    require_width("a", x, "b", y, axis=-2)
    made = _Made((a, b), ("row", "column"), "{} {}", layout="product")
    return made.working(x @ y, lambda i, j: Sum(*map(Prod, x[i], y[:, j])), (1,), name, formula, **how)


def add(a, b, name: str = "", formula: str = "", **how) -> Working:
    """A sum, entry by entry: ``out[i, j] = a[i, j] + b[i, j]`` (adding positions, a residual).

    >>> print(add([[1, 2]], [[0, 1]], "x", rows=["Hello"]))
    x (1 x 2)
           1  2
    Hello  1  3
    [Hello, 1] = 1 + 0 = 1
    [Hello, 2] = 2 + 1 = 3
    """
    x, y = _same_shape(a=a, b=b)
    made = _Made((a, b), ("cell", "other cell"), "{} + {}", signs=("", "+"))
    return made.working(x + y, lambda i, j: Sum(x[i, j], y[i, j]), (), name, formula, **how)


def divide(a, divisor, name: str = "", formula: str = "", *, root=False, decimals=4, **how) -> Working:
    """Every entry divided by one number, or by its square root: ``out[i, j] = a[i, j] / √divisor``.

    The number is not zero, and positive if its `root` is taken.

    >>> print(divide([[68]], 3, "scaled", root=True).entries[0])
    [1, 1] = 68 / √3 ≈ 68 / 1.7321 ≈ 39.2598
    """
    x = _matrix("a", a)
    if as_bool("root", root):
        divisor = positive_number("divisor", divisor)
    else:
        divisor = number("divisor", divisor, "a non-zero number", lambda x: math.isfinite(x) and x != 0)
    by = Root(divisor) if root else leaf(divisor)
    sign = f"/ {by.evaluated(0, require_decimals(decimals)).render('html')}"
    made = _Made((a,), ("cell",), f"{{}} {sign}", sign=f"{sign} =")
    steps = (1,) if root else ()
    return made.working(
        x / by.value, lambda i, j: Quotient(x[i, j], by), steps, name, formula, decimals=decimals, **how
    )


def softmax(scores, name: str = "", formula: str = "", *, subtract_max=False, **how) -> Working:
    """The softmax of every row: ``out[i, j] = e^x[i, j] / sum_k e^x[i, k]``.

    With `subtract_max` each row's largest score is subtracted first, as `toytf.ops.softmax` does. The weights are the
    same; the powers stay small enough to write down. Without it a power that is no float is a `ValueError`.

    >>> print(softmax([1, 2, 3]).entries[0])
    [1, 1] = e^1 / (e^1 + e^2 + e^3) ≈ 2.7183 / (2.7183 + 7.3891 + 20.0855) ≈ 2.7183 / 30.1929 ≈ 0.09
    """
    x, subtract_max = _scores("scores", scores), as_bool("subtract_max", subtract_max)
    if not subtract_max and np.abs(x.max(axis=-1)).max() > LARGEST_POWER:
        raise ValueError(
            f"scores: expected the largest of each row between -{LARGEST_POWER} and {LARGEST_POWER}, "
            f"so that its power of e is a float, got {x.max()}; subtract_max=True subtracts it first"
        )

    def entry(i, j):
        powers = [Exp(Difference(score, x[i].max()) if subtract_max else score) for score in x[i]]
        return Quotient(powers[j], Sum(*powers))

    made = _Made((scores,), ("row, cell",), "softmax({})", sign="→")
    return made.working(ops.softmax(x), entry, (2, 3) if subtract_max else (1, 2), name, formula, **how)


def mask(scores, may_attend, name: str = "", formula: str = "", **how) -> Working:
    """Scores where a row may look, minus infinity elsewhere: ``out = scores + M``, with 0 and -∞ in ``M``.

    `may_attend` is True where the row may attend to the column, and broadcasts to the scores. The formula ``"S + B"``
    calls what is added ``B``.

    >>> working = mask([[68, 105]], [[True, False]], "masked", rows=["Hello"])
    >>> print(working)
    masked (1 x 2)
            1   2
    Hello  68  -∞
    [Hello, 1] = 68 + 0 = 68
    [Hello, 2] = 105 - ∞ = -∞

    Its softmax gives what is hidden no weight:

    >>> print(softmax(working, subtract_max=True).entries[1])
    [Hello, 2] = e^(-∞ - 68) / (e^(68 - 68) + e^(-∞ - 68)) ≈ 0 / (1 + 0) = 0 / 1 = 0
    """
    x = _matrix("scores", scores)
    hidden = np.where(np.broadcast_to(as_mask("may_attend", may_attend, x.shape), x.shape), 0.0, -np.inf)
    made = _Made((scores, hidden), ("cell", "other cell"), "{} + {}", signs=("", "+"), unnamed=("", "M"))
    return made.working(x + hidden, lambda i, j: Sum(x[i, j], hidden[i, j]), (), name, formula, **how)


def concat(*parts, name: str = "", formula: str = "", cols=None, **how) -> Working:
    """Matrices with as many rows beside each other: what several heads give, as one matrix.

    >>> print(concat([[1, 2]], [[3]], name="heads", rows=["Hello"]))
    heads (1 x 3)
           1  2  3
    Hello  1  2  3
    [Hello, 1] = 1
    [Hello, 2] = 2
    [Hello, 3] = 3
    """
    arrays = [_matrix("parts", part) for part in parts]
    if len({len(a) for a in arrays}) != 1:
        shapes = ", ".join(shape_text(a.shape) for a in arrays)
        raise ValueError(f"parts: expected at least one matrix, all with as many rows, got {shapes or 'none'}")
    result = np.hstack(arrays)
    starts = tuple(itertools.accumulate((a.shape[1] for a in arrays[:-1]), initial=0))
    signs = ("", *["and"] * (len(parts) - 1))
    made = _Made(parts, ("cell",) * len(parts), f"[{', '.join(['{}'] * len(parts))}]", signs=signs, starts=starts)
    cols = range(1, result.shape[1] + 1) if cols is None else cols
    return made.working(result, None, (), name, formula, cols=cols, **how)


def weighted_sum(weights, values, name: str = "", formula: str = "", **how) -> Working:
    """Each output row as a mix of the value rows: ``out[i] = sum_j weights[i, j] values[j]``.

    The same numbers as `matmul` of (rows, n) and (n, columns), written with whole rows: this is what attention does.

    >>> print(weighted_sum([0.25, 0.75], [[6, 4], [8, 2]]).entries[0])
    [1] = 0.25·[6 4] + 0.75·[8 2] = [1.5 1] + [6 1.5] = [7.5 2.5]
    """
    x, y = _matrix("weights", weights), _matrix("values", values)
    require_width("weights", x, "values", y, axis=-2)
    made = _Made((weights, values), ("row", "all"), "{} {}", layout="product", whole_rows=True)
    return made.working(x @ y, lambda i: Sum(*map(Prod, x[i], y)), (1,), name, formula, **how)


def relu(x, name: str = "", formula: str = "", **how) -> Working:
    """The larger of 0 and each entry: ``out[i, j] = max(0, x[i, j])``.

    >>> print(relu([-1.5, 2], "y", rows=["Hello"]))
    y (1 x 2)
           1  2
    Hello  0  2
    [Hello, 1] = max(0, -1.5) = 0
    [Hello, 2] = max(0, 2) = 2
    """
    before = _matrix("x", x)
    made = _Made((x,), ("cell",), "max(0, {})", sign="→")
    return made.working(ops.relu(before), lambda i, j: Larger(0.0, before[i, j]), (), name, formula, **how)


def mean(x, name: str = "mean", **how) -> Working:
    """The mean of every row: ``(x[i, 1] + ... + x[i, d]) / d``.

    >>> print(mean([[1, 3, 3, 5]], rows=["Hello"]).entries[0])
    [Hello] = (1 + 3 + 3 + 5) / 4 = 12 / 4 = 3
    """
    row = _matrix("x", x)
    made = _Made((x,), ("row",), sign="→")
    result = row.mean(axis=-1, keepdims=True)
    return made.working(result, lambda i, j: Quotient(Sum(*row[i]), row.shape[1]), (1,), name, cols=[""], **how)


def variance(x, name: str = "variance", **how) -> Working:
    """The mean squared distance of every row's entries from the row's mean: ``sum_j (x[i, j] - mean[i])^2 / d``.

    >>> print(variance([[1, 3, 3, 5]], rows=["Hello"]).entries[0])
    [Hello] = ((1 - 3)^2 + (3 - 3)^2 + (3 - 3)^2 + (5 - 3)^2) / 4 = (4 + 0 + 0 + 4) / 4 = 2
    """
    row = _matrix("x", x)

    def entry(i, j):
        return Quotient(Sum(*(Power(Difference(v, row[i].mean()), 2) for v in row[i])), row.shape[1])

    made = _Made((x,), ("row",), sign="→")
    return made.working(row.var(axis=-1, keepdims=True), entry, (2,), name, cols=[""], **how)


def layer_norm(x, name: str = "", formula: str = "", *, eps=1e-5, eps_outside=False, **how) -> Working:
    """Layer normalisation without scale and shift: ``(x - mean) / sqrt(variance + eps)``.

    With `eps_outside` it divides by ``std + eps``, as *The Random Transformer*'s code does.

    >>> print(layer_norm([[1, 3, 3, 5]], rows=["Hello"]).entries[3])
    [Hello, 4] = (5 - 3) / √(2 + 0.00001) ≈ 2 / 1.4142 ≈ 1.4142
    """
    row, eps, eps_outside = _matrix("x", x), positive_number("eps", eps), as_bool("eps_outside", eps_outside)
    means, variances = row.mean(axis=-1, keepdims=True), row.var(axis=-1, keepdims=True)

    def entry(i, j):
        spread, small = variances[i, 0], Num(eps, 8)
        bottom = Sum(Root(spread), small) if eps_outside else Root(Sum(spread, small))
        return Quotient(Difference(row[i, j], means[i, 0]), bottom)

    made = _Made((x,), ("row, cell",), "LN({})", sign="→")
    std = np.sqrt(variances) + eps if eps_outside else np.sqrt(variances + eps)
    return made.working((row - means) / std, entry, (2,), name, formula, **how)


def softmax_backward(weights, dout, name: str = "", formula: str = "", **how) -> Working:
    """What a softmax sends back: ``out[i, j] = a[i, j] * (da[i, j] - sum_k a[i, k] da[i, k])``.

    `weights` are what the softmax gave, and `dout` is the gradient of the loss with respect to them.

    >>> print(softmax_backward([0.25, 0.75], [2, 6]).entries[0])
    [1, 1] = 0.25·(2 - (0.25·2 + 0.75·6)) = 0.25·(2 - 5) = 0.25·(-3) = -0.75
    """
    a, d = _same_shape(weights=weights, dout=dout)

    def entry(i, j):
        return Prod(a[i, j], Difference(d[i, j], Sum(*map(Prod, a[i], d[i]))))

    made = _Made((weights, dout), ("row, cell", "row, cell"), signs=("", "and"), sign="→")
    return made.working(ops.softmax_backward(a, d), entry, (2, 3), name, formula, **how)


def cross_entropy_backward(probs, goal, name: str = "", formula: str = "", **how) -> Working:
    """The mean cross-entropy's gradient: ``out[i, j] = (p[i, j] - g[i, j]) / n`` for ``n`` rows.

    `probs` are the softmax of the logits; `goal` is what was wanted, 1 for the right word and 0 for the others.

    >>> print(cross_entropy_backward([[0.25, 0.75], [0.5, 0.5]], [[1, 0], [0, 1]]).entries[0])
    [1, 1] = (0.25 - 1) / 2 = (-0.75) / 2 = -0.375
    >>> print(cross_entropy_backward([0.25, 0.75], [1, 0]).entries[0])  # one row: nothing to divide by
    [1, 1] = 0.25 - 1 = -0.75
    """
    p, g = _same_shape(probs=probs, goal=goal)
    n = len(p)

    def entry(i, j):
        away = Difference(p[i, j], g[i, j])
        return away if n == 1 else Quotient(away, n)

    signs, sign, steps = (("", "−"), "=", ()) if n == 1 else (("(", "−"), f") / {n} =", (1,))
    made = _Made((probs, goal), ("cell", "other cell"), "({} − {}) / n", signs=signs, sign=sign)
    return made.working((p - g) / n, entry, steps, name, formula, **how)


def positions(pos: Sequence[int], d_model: int, name: str = "PE", *, column_as_i=False, rows=None, decimals=4):
    """The sinusoids of some positions, counted from 0, each with its exponent and its angle; the width is even.

    With `column_as_i` the column number stands where the pair number belongs, as in *The Random Transformer*.

    >>> print(positions([1], 4).entries[2])
    [pos 1, 2 sin] = sin(1 / 10000^(2 / 4)) = sin(1 / 100) = sin(0.01) ≈ 0.01
    """
    pos = [whole_number("pos", p, least=0) for p in as_list("pos", pos, "positions")]
    if not pos:
        raise ValueError("pos: expected at least one position, got none")
    encoding = sinusoids_column_as_i if as_bool("column_as_i", column_as_i) else sinusoids
    result = np.vstack([encoding(1, d_model, p) for p in pos])

    def entry(i, j):
        exponent = Quotient(2 * j if column_as_i else 2 * (j // 2), d_model)
        return (Cos if j % 2 else Sin)(Quotient(pos[i], Power(BASE, exponent)))

    rows = [f"pos {p}" for p in pos] if rows is None else rows
    cols = [f"{j} {'cos' if j % 2 else 'sin'}" for j in range(d_model)]
    made = _Made((np.array(pos, float)[:, None],), ("row",), unnamed=("pos",), sign="→")
    # the angles need more digits than the values, or they would all read 0
    steps = ((2, 4), (3, max(require_decimals(decimals), 6)))
    return made.working(result, entry, steps, name, rows=rows, cols=cols, decimals=decimals)


# ---------------------------------------------------------------- the same for all


def _matrix(name: str, x) -> Array:
    x = as_floats(name, x.result if isinstance(x, Working) else x)
    if x.ndim not in (1, 2) or x.size == 0:
        raise ValueError(f"{name}: expected a row or a matrix with at least one entry, got shape {shape_text(x.shape)}")
    require_finite(name, x)
    return np.atleast_2d(x)


def _same_shape(**operands) -> tuple[Array, Array]:
    (name, a), (other_name, b) = ((name, _matrix(name, x)) for name, x in operands.items())
    if a.shape != b.shape:
        raise ValueError(
            f"{name} has shape {shape_text(a.shape)} and {other_name} {shape_text(b.shape)}: the two must be equal"
        )
    return a, b


def _scores(name: str, x) -> Array:
    """A matrix; one that `mask` gave may say that some scores are not there."""
    if not isinstance(x, Working) or np.isfinite(x.result).all():
        return _matrix(name, x)
    if not np.isfinite(x.result.max(axis=-1)).all():
        raise ValueError(f"{name}: expected at least one finite score in each row")
    return x.result


def _labels(name: str, labels, n: int) -> tuple[str, ...]:
    if labels is None:
        return tuple(str(i + 1) for i in range(n))
    labels = list(labels) if isinstance(labels, dict) else as_list(name, labels, "labels")  # steps by their names
    if len(labels) != n:
        raise ValueError(f"{name}: expected {n} labels, got {len(labels)}: {shown(labels)}")
    return tuple(map(str, labels))


WORD = re.compile(r"(?:[^\s()\[\]]|\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\]]*\])+")  # brackets hold their words together


def _names(pattern: str, formula: str) -> list[str]:
    """What a formula calls the operands: "X + Z" names two at the plus, "E · W" two words, "softmax(S)" what is inside.

    Empty where it has others than the pattern.
    """
    if "(" in pattern:
        inside = re.fullmatch(r"[^\s(]*\((?:0, )?(.*)\)(?: / \d+)?", formula)
        if pattern.count("{}") == 1:
            return [inside[1]] if inside else []
        formula = inside[1] if inside else formula
    words = WORD.findall(formula)
    if pattern == "{} {}":
        names = [word for word in words if word != "·"]
        return names if len(names) == 2 and not set(names) & set("+-−/=") else []
    sign = next((sign for sign in "+−/" if sign in pattern), None)
    parts = [" ".join(part) for is_sign, part in itertools.groupby(words, lambda word: word == sign) if not is_sign]
    return parts[: pattern.count("{}")] if len(parts) == 2 else []


@dataclass
class _Made:
    """What a result is made of, and how the page shows that."""

    given: Sequence  # the operands as they were given
    lights: Sequence[str]  # for each operand: what entry (i, j) lights in it
    pattern: str = ""  # the formula, "{} + {}", with the operands' names still to come
    signs: Sequence[str] | None = None  # before each operand
    sign: str = "="  # before the result
    layout: str = ""
    starts: Sequence[int] | None = None  # the column of the result at which each operand begins
    unnamed: Sequence[str] | None = None  # names of operands that have no other
    whole_rows: bool = False  # an entry is a row of the result

    def working(
        self,
        result,
        entry: Callable | None,
        heights,
        name="",
        formula="",
        *,
        rows=None,
        cols=None,
        decimals=4,
        sci=False,
    ) -> Working:
        """Write out each entry: the expression, that evaluated up to each of the heights, the result's number."""
        require_class("name", name, str)
        require_class("formula", formula, str)
        require_decimals(decimals)
        operands = self.operands(formula or name)
        first, last = self.given[0], self.given[-1 if self.layout == "product" else 0]
        rows = _labels("rows", first.rows if rows is None and isinstance(first, Working) else rows, len(result))
        cols = last.cols if cols is None and isinstance(last, Working) else cols
        cols = _labels("cols", cols, result.shape[1])
        entries = []
        for at in np.ndindex(result.shape[:1] if self.whole_rows else result.shape):
            where = rows[at[0]] if self.whole_rows or not cols[at[1]] else f"{rows[at[0]]}, {cols[at[1]]}"
            value = leaf(result[at]).evaluated(0, decimals, sci)
            entries.append(Entry(where, (*self.steps(where, entry, at, heights, value, decimals, sci), value), at))
        formula = formula or self.formula()
        entries = tuple(entries)
        return Working(name, formula, result, rows, cols, entries, decimals, sci, operands, self.layout, self.sign)

    def steps(self, where, entry, at, heights, value, decimals, sci) -> list:
        """The lines before the value, each evaluated and found equal to it."""
        if entry is None:
            return []
        steps = [entry(*at).evaluated(0, decimals, sci)]
        for height in heights:
            height, digits = height if isinstance(height, tuple) else (height, decimals)
            steps.append(steps[0].evaluated(height, digits, sci))
        for step in steps:
            if not np.allclose(step.value, value.value, rtol=1e-9, atol=1e-14):
                raise AssertionError(f"{where}: the arithmetic gives {step.value}, NumPy gives {value.value}")
        return steps

    def formula(self) -> str:
        """The formula with the operands' own names, if all have one."""
        names = [x.name for x in self.given if isinstance(x, Working) and x.name]
        if not self.pattern or len(names) < len(self.given):
            return ""
        if not set("([") & set(self.pattern):  # a sum inside a sum needs no parentheses, inside a product it does
            names = [f"({name})" if " " in name else name for name in names]
        return self.pattern.format(*names)

    def operands(self, formula: str) -> tuple[Operand, ...]:
        n = len(self.given)
        names = _names(self.pattern, formula) or self.unnamed or [""] * n
        signs, starts = self.signs or [""] * n, self.starts or [0] * n
        out = []
        for given, name, lights, sign, start in zip(self.given, names, self.lights, signs, starts, strict=True):
            if isinstance(given, Working):
                own = (given.name or name, given.result, given.rows, given.cols)
                out.append(Operand(*own, lights, sign, start, given))
            else:
                array = np.array(np.atleast_2d(np.asarray(given, float)))  # as it was when the result was made
                out.append(Operand(name, array, None, None, lights, sign, start))
        return tuple(out)
