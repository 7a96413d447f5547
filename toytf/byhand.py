"""Computations written out term by term, from the arrays, never typed.

Each function here takes the operands of one operation and returns a `Working`: the result as a
labelled table, and for every entry the arithmetic that gives it. A `Working` shows itself as HTML in
the book and in JupyterLab, as plain text in a terminal (``print``), and as LaTeX (``.latex()``).
The arithmetic is a small tree of numbers (`Num`, `Sum`, `Prod`, ...) that is evaluated again and
compared with what NumPy computes, so that what is written cannot differ from what is meant.

Between two steps stands "=" where every number is shown in full and "≈" where one is rounded.

This module also holds the one number formatter of the course, `fmt`.
"""

from __future__ import annotations

import html as _html
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from toytf import ops
from toytf._validate import as_floats, require_finite, require_width, shape_text
from toytf.positions import BASE, sinusoids, sinusoids_column_as_i

Array = np.ndarray

# ---------------------------------------------------------------- numbers


def fmt(x, decimals: int = 4, sci: bool = False) -> str:
    """Write numbers with a fixed count of decimals, the same on every machine.

    Parameters
    ----------
    x : number or array_like
        What to write. Integers and booleans are written as they are.
    decimals : int, default 4
        Digits after the point.
    sci : bool, default False
        Scientific notation, for numbers that would round to zero.

    Returns
    -------
    str
        Rows in brackets, one a line, columns aligned. A zero never has a minus sign.

    Examples
    --------
    >>> print(fmt(2 / 3))
    0.6667
    >>> print(fmt([[1, 0.5], [-0.00001, 12]], decimals=2))
    [[ 1.00  0.50]
     [ 0.00 12.00]]
    >>> print(fmt([4.67695573e-10, 1.0], decimals=3, sci=True))
    [4.677e-10 1.000e+00]
    """
    x = np.asarray(x)
    if x.dtype.kind == "f":
        words = [_fixed(v, decimals, sci) for v in x.ravel().tolist()]
    elif x.dtype.kind in "iub":
        words = [str(v) for v in x.ravel().tolist()]
    else:
        raise TypeError(f"x: expected numbers, got dtype {x.dtype}")
    if x.ndim == 0:
        return words[0]
    width = max((len(word) for word in words), default=0)
    return _nest([word.rjust(width) for word in words], x.shape)


def _nest(words: list[str], shape: tuple[int, ...], indent: int = 1) -> str:
    """Put brackets around `words`, row by row."""
    if len(shape) == 1:
        return "[" + " ".join(words) + "]"
    step = len(words) // shape[0] if shape[0] else 0
    parts = [_nest(words[i * step : (i + 1) * step], shape[1:], indent + 1) for i in range(shape[0])]
    return "[" + ("\n" + " " * indent).join(parts) + "]"


def _fixed(value: float, decimals: int, sci: bool = False) -> str:
    word = f"{value:.{decimals}{'e' if sci else 'f'}}"
    is_zero = not any(c in "123456789" for c in word.split("e")[0])
    return word.removeprefix("-") if is_zero and np.isfinite(value) else word


def _trimmed(value: float, decimals: int, sci: bool = False) -> str:
    """Write a number as a person would: no more decimals than it has, at most `decimals`."""
    word = _fixed(value, decimals)
    if sci and value and float(word) == 0.0:
        return _fixed(value, 3, sci=True)
    return word.rstrip("0").rstrip(".") if "." in word else word


def _is_exact(value: float, word: str) -> bool:
    """Tell whether `word` shows all of `value`: what is left is only the float's own rounding."""
    return abs(float(word) - value) <= 1e-12 * max(1.0, abs(value))


# ---------------------------------------------------------------- expressions
#
# Each class has a `value` and three renderings, `text`, `latex` and `html`, that differ only in how
# they write fractions, powers and roots. `tight` says that a neighbour binds strongly (a product, a
# power), so that a sum or a negative number needs parentheses.


@dataclass(frozen=True)
class Num:
    """A number, shown with at most `decimals` decimals."""

    value: float
    decimals: int = 4
    sci: bool = False

    @property
    def word(self) -> str:
        return _trimmed(self.value, self.decimals, self.sci)

    @property
    def exact(self) -> bool:
        return _is_exact(self.value, self.word)

    def render(self, form: str, tight: bool = False) -> str:
        word = self.word
        if "e" in word:
            digits, power = word.split("e")
            if form == "latex":
                word = rf"{digits} \cdot 10^{{{int(power)}}}"
            elif form == "html":
                word = f"{digits} × 10<sup>{int(power)}</sup>".replace("-", "−")
        elif form == "html":
            word = word.replace("-", "−")
        return f"({word})" if tight and self.value < 0 and word[0] in "-−" else word


@dataclass(frozen=True)
class Row:
    """A row of numbers, as one operand."""

    numbers: tuple[Num, ...]

    @property
    def value(self) -> Array:
        return np.array([n.value for n in self.numbers])

    @property
    def exact(self) -> bool:
        return all(n.exact for n in self.numbers)

    def render(self, form: str, tight: bool = False) -> str:
        words = [n.render(form) for n in self.numbers]
        if form == "latex":
            return r"\begin{bmatrix}" + " & ".join(words) + r"\end{bmatrix}"
        return "[" + ("&ensp;" if form == "html" else " ").join(words) + "]"


@dataclass(frozen=True)
class _Parts:
    """An expression made of other expressions."""

    parts: tuple

    def __init__(self, *parts):
        object.__setattr__(self, "parts", parts)

    @property
    def exact(self) -> bool:
        return all(part.exact for part in self.parts)


class Sum(_Parts):
    """``a + b + ...``"""

    @property
    def value(self):
        return sum(part.value for part in self.parts)

    def render(self, form: str, tight: bool = False) -> str:
        first, *rest = (part.render(form) for part in self.parts)
        minus = ("-", "−")
        text = first + "".join(f" − {w[1:]}" if w.startswith(minus) else f" + {w}" for w in rest)
        text = text.replace("−", "-") if form != "html" else text
        return _parentheses(text, form) if tight else text


class Difference(_Parts):
    """``a - b``"""

    @property
    def value(self):
        return self.parts[0].value - self.parts[1].value

    def render(self, form: str, tight: bool = False) -> str:
        a, b = self.parts
        text = f"{a.render(form)} {'−' if form == 'html' else '-'} {b.render(form, tight=True)}"
        return _parentheses(text, form) if tight else text


class Prod(_Parts):
    """``a · b · ...``"""

    @property
    def value(self):
        value = self.parts[0].value
        for part in self.parts[1:]:
            value = value * part.value
        return value

    def render(self, form: str, tight: bool = False) -> str:
        return (r" \cdot " if form == "latex" else "·").join(part.render(form, tight=True) for part in self.parts)


class Quotient(_Parts):
    """``a / b``"""

    @property
    def value(self):
        return self.parts[0].value / self.parts[1].value

    def render(self, form: str, tight: bool = False) -> str:
        top, bottom = self.parts
        if form == "latex":
            return rf"\frac{{{top.render(form)}}}{{{bottom.render(form)}}}"
        return f"{top.render(form, tight=True)} / {bottom.render(form, tight=True)}"


class Root(_Parts):
    """``√a``"""

    @property
    def value(self):
        return np.sqrt(self.parts[0].value)

    def render(self, form: str, tight: bool = False) -> str:
        inner = self.parts[0]
        return rf"\sqrt{{{inner.render(form)}}}" if form == "latex" else f"√{inner.render(form, tight=True)}"


class Power(_Parts):
    """``base ^ exponent``; the base may be the letter e."""

    @property
    def value(self):
        return self.parts[0].value ** self.parts[1].value

    def render(self, form: str, tight: bool = False) -> str:
        base, exponent = self.parts[0].render(form, tight=True), self.parts[1]
        if form == "latex":
            return f"{base}^{{{exponent.render(form)}}}"
        if form == "html":
            return f"{base}<sup>{exponent.render(form)}</sup>"
        inner = exponent.render(form)
        return f"{base}^{inner}" if isinstance(exponent, Num) and exponent.value >= 0 else f"{base}^({inner})"


@dataclass(frozen=True)
class _Euler:
    """The letter e: shown as a letter, so never rounded."""

    value = float(np.e)
    exact = True

    def render(self, form: str, tight: bool = False) -> str:
        return "e"


class Exp(Power):
    """``e ^ a``"""

    def __init__(self, exponent):
        super().__init__(_Euler(), exponent)

    @property
    def value(self):
        return np.exp(self.parts[1].value)


class Larger(_Parts):
    """``max(a, b)``"""

    @property
    def value(self):
        return max(part.value for part in self.parts)

    def render(self, form: str, tight: bool = False) -> str:
        inner = ", ".join(part.render(form) for part in self.parts)
        return (r"\max" if form == "latex" else "max") + _parentheses(inner, form)


class _Wave(_Parts):
    name = ""

    def render(self, form: str, tight: bool = False) -> str:
        name = "\\" + self.name if form == "latex" else self.name
        return name + _parentheses(self.parts[0].render(form), form)


class Sin(_Wave):
    """``sin(a)``"""

    name = "sin"

    @property
    def value(self):
        return np.sin(self.parts[0].value)


class Cos(_Wave):
    """``cos(a)``"""

    name = "cos"

    @property
    def value(self):
        return np.cos(self.parts[0].value)


def _is_transcendental(step) -> bool:
    if isinstance(step, (Exp, _Wave)):
        return bool(step.parts[-1].value != 0)
    return isinstance(step, _Parts) and any(_is_transcendental(part) for part in step.parts)


def _parentheses(text: str, form: str) -> str:
    return rf"\left({text}\right)" if form == "latex" else f"({text})"


# ---------------------------------------------------------------- a computation, written out


@dataclass(frozen=True)
class Entry:
    """One entry of a result: where it stands and the steps that lead to it, the last one its value."""

    where: str
    steps: tuple

    def chain(self, form: str) -> list[tuple[str, str]]:
        """Return ``(relation, expression)`` for each step."""
        relations = ["=" if self.steps[0].exact else "≈"]
        for before, after in itertools.pairwise(self.steps):
            shown_in_full = before.exact and after.exact
            # exp, sin and cos of anything but 0 are irrational: no finite number of digits is all of them.
            evaluated = _is_transcendental(before) and not _is_transcendental(after)
            relations.append("=" if shown_in_full and not evaluated else "≈")
        return [(relation, step.render(form)) for relation, step in zip(relations, self.steps, strict=True)]


@dataclass(frozen=True)
class Working:
    """A result as a labelled table, with the arithmetic of its entries.

    Parameters
    ----------
    name, formula : str
        ``"K₁"`` and ``"x W_K"``; either may be empty.
    result : Array, shape (rows, columns)
    rows, cols : tuple of str
        One label for each row and column.
    entries : tuple of Entry
        May be empty: then it is a labelled table and nothing more.
    decimals : int
        At most so many decimals are shown.
    sci : bool
        Write what would round to zero in scientific notation.
    """

    name: str
    formula: str
    result: Array
    rows: tuple[str, ...]
    cols: tuple[str, ...]
    entries: tuple[Entry, ...] = ()
    decimals: int = 4
    sci: bool = False

    # -- choosing

    def only(self, *where: str) -> Working:
        """Return the same table with the arithmetic of the named entries alone.

        Examples
        --------
        >>> a = np.array([[1.0, 2.0]])
        >>> print(matmul(a, a.T, name="s", rows=["q"], cols=["k"]).only("q, k"))
        s (1 x 1)
           k
        q  5
        [q, k] = 1·1 + 2·2 = 1 + 4 = 5
        """
        known = [entry.where for entry in self.entries]
        for name in where:
            if name not in known:
                raise ValueError(f"where: expected some of {known}, got {name!r}")
        return replace(self, entries=tuple(e for e in self.entries if e.where in where))

    # -- showing

    def _heading(self) -> str:
        return " = ".join(part for part in (self.name, self.formula) if part)

    def _cells(self, form: str = "text") -> list[list[str]]:
        """Return the table's words: every number with as many decimals as the longest needs."""
        words = [_trimmed(float(v), self.decimals) for v in self.result.ravel()]
        needed = max((len(w.partition(".")[2]) for w in words), default=0)
        cells = []
        for row in self.result:
            numbers = [Num(float(v), self.decimals, self.sci) for v in row]
            cells.append(
                [n.render(form) if "e" in n.word else _html_minus(_fixed(n.value, needed), form) for n in numbers]
            )
        return cells

    def text(self) -> str:
        """Return it as plain text, for a terminal."""
        cells = self._cells()
        stub = max(len(r) for r in self.rows)
        widths = [max(len(c), *(len(row[j]) for row in cells)) for j, c in enumerate(self.cols)]

        def line(label: str, words: Sequence[str]) -> str:
            padded = (w.rjust(n) for w, n in zip(words, widths, strict=True))
            return f"{label.ljust(stub)}  {'  '.join(padded)}".rstrip()

        lines = [f"{self._heading()} ({shape_text(self.result.shape)})".strip(), line("", self.cols)]
        lines += [line(label, row) for label, row in zip(self.rows, cells, strict=True)]
        for entry in self.entries:
            lines.append(f"[{entry.where}] " + " ".join(f"{r} {e}" for r, e in entry.chain("text")))
        return "\n".join(lines)

    def html(self) -> str:
        """Return it as HTML: a table, then one `<details>` for each entry, no script needed."""
        esc = _html.escape
        head = "".join(f'<th scope="col">{esc(c)}</th>' for c in self.cols)
        body = "".join(
            f'<tr><th scope="row">{esc(label)}</th>{"".join(f"<td>{c}</td>" for c in row)}</tr>'
            for label, row in zip(self.rows, self._cells("html"), strict=True)
        )
        shape = " × ".join(str(n) for n in self.result.shape)
        parts = [
            f'<div class="byhand-title">{esc(self._heading())} <span class="byhand-shape">{shape}</span></div>',
            f'<div class="byhand-scroll"><table class="byhand-matrix"><thead><tr><td></td>{head}</tr></thead>'
            f"<tbody>{body}</tbody></table></div>",
        ]
        if self.entries:
            parts.append('<div class="byhand-entries">')
            parts += [self._details(entry) for entry in self.entries]
            parts.append("</div>")
        return '<div class="byhand">' + "".join(parts) + "</div>"

    def _details(self, entry: Entry) -> str:
        chain = entry.chain("html")
        _, last = chain[-1]
        # What is seen before the entry is opened stands for the whole chain: one rounding makes it "≈".
        relation = "≈" if any(r == "≈" for r, _ in chain) else "="
        work = "<br>".join(f"{r} {e}" for r, e in chain)
        return (
            f'<details><summary><span class="byhand-where">{_html.escape(entry.where)}</span> '
            f'<span class="byhand-value">{relation} {last}</span></summary>'
            f'<div class="byhand-work">{work}</div></details>'
        )

    def latex(self) -> str:
        """Return it as LaTeX: the matrix, then one aligned line for each entry."""
        name = _latex_name(self._heading())
        matrix = r" \\ ".join(" & ".join(row) for row in self._cells("latex"))
        out = rf"{name} = \begin{{bmatrix}} {matrix} \end{{bmatrix}}"
        if not self.entries:
            return out
        lines = []
        for entry in self.entries:
            chain = " ".join(f"{r} {e}" for r, e in entry.chain("latex")).replace("≈", r"\approx")
            lines.append(rf"\text{{{_latex_text(entry.where)}}} &{chain}")
        return out + "\n" + r"\begin{aligned}" + " \\\\\n".join(lines) + r"\end{aligned}"

    def __str__(self) -> str:
        return self.text()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.html()


def beside(*workings: Working) -> _Beside:
    """Show several tables next to each other (below each other where the window is narrow)."""
    return _Beside(workings)


@dataclass(frozen=True)
class _Beside:
    workings: tuple[Working, ...]

    def __str__(self) -> str:
        return "\n\n".join(w.text() for w in self.workings)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return '<div class="byhand-beside">' + "".join(w.html() for w in self.workings) + "</div>"


def _html_minus(word: str, form: str) -> str:
    return word.replace("-", "−") if form == "html" else word


_SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉ᵢⱼ", "0123456789ij")


def _latex_name(name: str) -> str:
    """Turn ``K₁ᵀ`` into ``K_{1}^{T}``."""
    out = ""
    for char in name:
        if char.translate(_SUBSCRIPTS) != char:
            out += f"_{{{char.translate(_SUBSCRIPTS)}}}"
        else:
            out += {"ᵀ": "^{T}", "√": r"\surd ", "·": r"\cdot "}.get(char, char)
    return out


def _latex_text(text: str) -> str:
    for char in "\\{}$&#_%^~":
        text = text.replace(char, f"\\{char}" if char in "{}$&#_%" else " ")
    return text


# ---------------------------------------------------------------- what is written out


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
    return Working(
        name, "", array, _labels("rows", rows, array.shape[0]), _labels("cols", cols, array.shape[1]), (), decimals, sci
    )


def matmul(a, b, name: str = "", formula: str = "", *, rows=None, cols=None, decimals: int = 4, sci=False) -> Working:
    """A matrix product, every entry its sum of products: ``out[i, j] = sum_k a[i, k] b[k, j]``.

    Parameters
    ----------
    a : array_like, shape (rows, inner)
    b : array_like, shape (inner, columns)
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
    a, b = _matrix("a", a), _matrix("b", b)
    require_width("a", a, "b", b, axis=-2)

    def steps(i, j):
        pairs = [(Num(x, decimals, sci), Num(y, decimals, sci)) for x, y in zip(a[i], b[:, j], strict=True)]
        products = [Prod(x, y) for x, y in pairs]
        return Sum(*products), Sum(*(Num(float(p.value), decimals, sci) for p in products))

    return _work(name, formula, a @ b, steps, rows, cols, decimals, sci)


def dot(a, b, name: str = "", formula: str = "", *, decimals: int = 4) -> Working:
    """The dot product of two rows: ``sum_k a[k] b[k]``.

    Examples
    --------
    >>> print(dot([8, 3, 3], [4, 8, 4], "q₁·k₁").entries[0].chain("text")[0][1])
    8·4 + 3·8 + 3·4
    """
    a, b = _matrix("a", a), _matrix("b", b)
    return matmul(a, b.T, name, formula, rows=[name or "a · b"], cols=[""], decimals=decimals)


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
    a, b = _matrix("a", a), _matrix("b", b)
    if a.shape != b.shape:
        raise ValueError(f"a has shape {shape_text(a.shape)} and b {shape_text(b.shape)}: the two must be equal")

    def steps(i, j):
        return (Sum(Num(float(a[i, j]), decimals), Num(float(b[i, j]), decimals)),)

    return _work(name, formula, a + b, steps, rows, cols, decimals, False)


def divide(a, divisor, name: str = "", formula: str = "", *, root=False, rows=None, cols=None, decimals=4) -> Working:
    """Every entry divided by one number, or by its square root: ``out[i, j] = a[i, j] / √divisor``.

    Parameters
    ----------
    a : array_like, shape (rows, columns)
    divisor : float
        Not zero; positive if `root`.
    root : bool, default False
        Divide by the square root of `divisor`.
    name, formula, rows, cols, decimals
        As in `matmul`.

    Examples
    --------
    >>> print(divide([[68]], 3, "scaled", root=True).entries[0].chain("text"))
    [('=', '68 / √3'), ('≈', '68 / 1.7321'), ('≈', '39.2598')]
    """
    a = _matrix("a", a)
    if not np.isfinite(divisor) or divisor == 0 or (root and divisor < 0):
        raise ValueError(f"divisor: expected a {'positive' if root else 'non-zero'} number, got {divisor}")
    by = float(np.sqrt(divisor)) if root else float(divisor)

    def steps(i, j):
        top = Num(float(a[i, j]), decimals)
        plain = Quotient(top, Num(by, decimals))
        return (Quotient(top, Root(Num(float(divisor), decimals))), plain) if root else (plain,)

    return _work(name, formula, a / by, steps, rows, cols, decimals, False)


def softmax(scores, name="", formula="", *, subtract_max=False, rows=None, cols=None, decimals=4, sci=False) -> Working:
    """The softmax of every row: ``out[i, j] = e^x[i, j] / sum_k e^x[i, k]``.

    Parameters
    ----------
    scores : array_like, shape (rows, columns) or (columns,)
    subtract_max : bool, default False
        Subtract each row's largest score first, as `toytf.ops.softmax` does. The weights are the
        same; the powers stay small enough to write down.
    name, formula, rows, cols, decimals, sci
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
    scores = _matrix("scores", scores)

    def exponent(i, k):
        score = Num(float(scores[i, k]), decimals)
        return Difference(score, Num(float(scores[i].max()), decimals)) if subtract_max else score

    def steps(i, j):
        exps = [Exp(exponent(i, k)) for k in range(scores.shape[1])]
        numbers = [Num(float(e.value), decimals, sci) for e in exps]
        total = Num(float(sum(e.value for e in exps)), decimals, sci)
        return Quotient(exps[j], Sum(*exps)), Quotient(numbers[j], Sum(*numbers)), Quotient(numbers[j], total)

    return _work(name, formula, ops.softmax(scores), steps, rows, cols, decimals, sci)


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
    weights, values = _matrix("weights", weights), _matrix("values", values)
    require_width("weights", weights, "values", values, axis=-2)
    result = weights @ values
    row_labels = _labels("rows", rows, result.shape[0])

    def row(numbers):
        return Row(tuple(Num(float(v), decimals, sci) for v in numbers))

    entries = []
    for i, label in enumerate(row_labels):
        mix = Sum(*(Prod(Num(float(w), decimals, sci), row(v)) for w, v in zip(weights[i], values, strict=True)))
        parts = Sum(*(row(w * v) for w, v in zip(weights[i], values, strict=True)))
        entries.append(_entry(label, (mix, parts), row(result[i])))
    col_labels = _labels("cols", cols, result.shape[1])
    return Working(name, formula, result, row_labels, col_labels, tuple(entries), decimals, sci)


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
    x = _matrix("x", x)

    def steps(i, j):
        return (Larger(Num(0.0), Num(float(x[i, j]), decimals)),)

    return _work(name, formula, ops.relu(x), steps, rows, cols, decimals, False)


def mean(x, name="mean", *, rows=None, decimals=4) -> Working:
    """The mean of every row: ``(x[i, 1] + ... + x[i, d]) / d``.

    Examples
    --------
    >>> print(mean([[1, 3, 3, 5]], rows=["Hello"]).entries[0].chain("text"))
    [('=', '(1 + 3 + 3 + 5) / 4'), ('=', '12 / 4'), ('=', '3')]
    """
    x = _matrix("x", x)
    width = Num(float(x.shape[1]))

    def steps(i, _):
        total = Sum(*(Num(float(v), decimals) for v in x[i]))
        return Quotient(total, width), Quotient(Num(float(total.value), decimals), width)

    return _work(name, "", x.mean(axis=-1, keepdims=True), steps, rows, [""], decimals, False)


def variance(x, name="variance", *, unbiased=False, rows=None, decimals=4) -> Working:
    """The mean squared distance of every row's entries from the row's mean.

    Parameters
    ----------
    x : array_like, shape (rows, columns) or (columns,)
    unbiased : bool, default False
        Divide by one less than the number of columns, as `torch.std` does and layer norm does not.
    name, rows, decimals
        As in `matmul`.

    Examples
    --------
    >>> for relation, step in variance([[1, 3, 3, 5]], rows=["Hello"]).entries[0].chain("text"):
    ...     print(relation, step)
    = ((1 - 3)^2 + (3 - 3)^2 + (3 - 3)^2 + (5 - 3)^2) / 4
    = (4 + 0 + 0 + 4) / 4
    = 2
    """
    x = _matrix("x", x)
    by = x.shape[1] - (1 if unbiased else 0)
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
    return _work(name, "", result, steps, rows, [""], decimals, False)


def layer_norm(x, name="", formula="", *, eps=1e-5, eps_outside=False, rows=None, cols=None, decimals=4) -> Working:
    """Layer normalisation without scale and shift: ``(x - mean) / sqrt(variance + eps)``.

    Parameters
    ----------
    x : array_like, shape (rows, columns) or (columns,)
    eps : float, default 1e-5
    eps_outside : bool, default False
        Divide by ``std + eps``, as *The Random Transformer*'s code does.
    name, formula, rows, cols, decimals
        As in `matmul`.

    Examples
    --------
    >>> for relation, step in layer_norm([[1, 3, 3, 5]], rows=["Hello"]).entries[3].chain("text"):
    ...     print(relation, step)
    = (5 - 3) / √(2 + 0.00001)
    ≈ 2 / 1.4142
    ≈ 1.4142
    """
    x = _matrix("x", x)
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
    return _work(name, formula, result, steps, rows, cols, decimals, False)


def positions(pos: Sequence[int], d_model: int, name="PE", *, column_as_i=False, rows=None, decimals=4) -> Working:
    """The sinusoids of some positions, each with its exponent and its angle.

    Parameters
    ----------
    pos : sequence of int
        The positions, counted from 0.
    d_model : int
        Width, even.
    column_as_i : bool, default False
        Put the column number where the pair number belongs, as *The Random Transformer* does.
    name, rows, decimals
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
    full = (sinusoids_column_as_i if column_as_i else sinusoids)(max(pos) + 1, d_model)
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
    return _work(name, "", full[list(pos)], steps, rows, cols, decimals, False)


# ---------------------------------------------------------------- helpers


def _matrix(name: str, x) -> Array:
    x = as_floats(name, x)
    x = np.atleast_2d(x)
    if x.ndim != 2 or x.size == 0:
        raise ValueError(f"{name}: expected a row or a matrix with at least one entry, got shape {shape_text(x.shape)}")
    require_finite(name, x)
    return x


def _labels(name: str, labels, n: int) -> tuple[str, ...]:
    if labels is None:
        return tuple(str(i + 1) for i in range(n))
    labels = tuple(str(label) for label in labels)
    if len(labels) != n:
        raise ValueError(f"{name}: expected {n} labels, got {len(labels)}")
    return labels


def _work(name, formula, result, steps, rows, cols, decimals, sci) -> Working:
    """Build a `Working` from a function that gives the steps of entry (i, j)."""
    rows, cols = _labels("rows", rows, result.shape[0]), _labels("cols", cols, result.shape[1])
    entries = []
    for i, j in np.ndindex(result.shape):
        where = f"{rows[i]}, {cols[j]}" if cols[j] else rows[i]
        entries.append(_entry(where, steps(i, j), Num(float(result[i, j]), decimals, sci)))
    return Working(name, formula, result, rows, cols, tuple(entries), decimals, sci)


def _entry(where: str, steps: tuple, value) -> Entry:
    """Join the steps with their value, once each of them has been evaluated and found equal to it."""
    for step in steps:
        if not np.allclose(step.value, value.value, rtol=1e-9, atol=1e-14):
            raise AssertionError(f"{where}: the arithmetic gives {step.value}, NumPy gives {value.value}")
    return Entry(where, (*steps, value))
