"""Numbers as people write them, and small trees of them: sums, products, fractions, powers, roots."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass

import numpy as np

Array = np.ndarray

# ---------------------------------------------------------------- numbers


def fmt(x, decimals: int = 4, sci: bool = False) -> str:
    """Write numbers with a fixed count of decimals, the same on every machine.

    Integers and booleans are written as they are. `sci` is scientific notation, for numbers that would round to zero.
    Rows stand in brackets, one a line, columns aligned. A zero never has a minus sign.

    >>> print(fmt(2 / 3))
    0.6667
    >>> print(fmt([[1, 0.5], [-0.00001, 12]], decimals=2))
    [[ 1.00  0.50]
     [ 0.00 12.00]]
    >>> print(fmt([4.67695573e-10, 1.0], decimals=3, sci=True))
    [4.677e-10 1.000e+00]
    """
    # This text also goes into students' notebooks, alone: it asks nobody else.
    if isinstance(decimals, bool) or not isinstance(decimals, (int, np.integer)) or not 0 <= decimals <= 1000:
        raise TypeError(f"decimals: expected a whole number from 0 to 1000, got {type(decimals).__name__}")
    if not isinstance(sci, (bool, np.bool_)):
        raise TypeError(f"sci: expected True or False, got {type(sci).__name__}")
    if any(isinstance(part, np.ma.MaskedArray) for part in (x if isinstance(x, (list, tuple)) else [x])):
        raise TypeError("x: expected numbers, got a masked array of numpy.ma")
    try:
        x = np.asarray(x)
    except ValueError:
        raise TypeError("x: expected numbers in rows of equal length, got a ragged list") from None
    if x.dtype.kind == "f":
        words = [fixed(v, decimals, sci) for v in x.ravel().tolist()]
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


def fixed(value: float, decimals: int, sci: bool = False) -> str:
    word = f"{value:.{decimals}{'e' if sci else 'f'}}"
    is_zero = not any(c in "123456789" for c in word.split("e")[0])
    return word.removeprefix("-") if is_zero and np.isfinite(value) else word


def trimmed(value: float, decimals: int, sci: bool = False) -> str:
    """Write a number as a person would: no more decimals than it has, at most `decimals`."""
    if np.isinf(value):  # a masked score
        return "-∞" if value < 0 else "∞"
    word = fixed(value, decimals)
    if sci and value and float(word) == 0.0:
        return fixed(value, 3, sci=True)
    return word.rstrip("0").rstrip(".") if "." in word else word


def _is_exact(value: float, word: str) -> bool:
    """Tell whether `word` shows all of `value`: what is left is only the float's own rounding."""
    if np.isinf(value):
        return True
    return abs(float(word) - value) <= 1e-12 * max(1.0, abs(value))


# ---------------------------------------------------------------- expressions
#
# Each has a `value` and two renderings, `text` and `html`, that differ in powers and in the sign of minus. It is
# `exact` if all of its numbers are shown in full. `tight` says that a neighbour binds strongly (a product, a power): a
# sum or a negative number needs parentheses. `height` counts the operations below each other; `evaluated` is the same
# expression with the lowest of them worked out, as the next line of a calculation shows it.


@dataclass(frozen=True)
class Num:
    """A number, shown with at most `decimals` decimals: 4, or as many as the calculation has in which it stands."""

    value: float
    decimals: int | None = None
    sci: bool = False
    height = 0

    @property
    def word(self) -> str:
        return trimmed(self.value, 4 if self.decimals is None else self.decimals, self.sci)

    @property
    def exact(self) -> bool:
        return _is_exact(self.value, self.word)

    def evaluated(self, height: int, decimals: int, sci: bool = False) -> Num:
        """The number itself, with as many decimals as the calculation has."""
        return self if self.decimals is not None else Num(self.value, decimals, sci)

    def render(self, form: str, tight: bool = False) -> str:
        word = self.word
        if form == "html":
            digits, *power = word.split("e")
            word = "".join([digits, *(f" × 10<sup>{int(p)}</sup>" for p in power)]).replace("-", "−")
        return f"({word})" if tight and self.value < 0 and word[0] in "-−" else word


@dataclass(frozen=True)
class Row:
    """A row of numbers, as one operand."""

    numbers: tuple[Num, ...]
    height = 0

    @property
    def value(self) -> Array:
        return np.array([n.value for n in self.numbers])

    @property
    def exact(self) -> bool:
        return all(n.exact for n in self.numbers)

    def evaluated(self, height: int, decimals: int, sci: bool = False) -> Row:
        """The row itself, with as many decimals as the calculation has."""
        return Row(tuple(n.evaluated(height, decimals, sci) for n in self.numbers))

    def render(self, form: str, tight: bool = False) -> str:
        words = [n.render(form) for n in self.numbers]
        return "[" + ("&ensp;" if form == "html" else " ").join(words) + "]"


def leaf(value) -> Num | Row:
    """A number, or an array as a row of numbers, as an operand."""
    return Row(tuple(map(Num, value))) if np.ndim(value) else Num(value)


class _Operation:
    """An expression made of others; a plain number or array among them becomes a `Num` or a `Row`."""

    def __init__(self, *parts):
        self.parts = tuple(part if hasattr(part, "render") else leaf(part) for part in parts)

    @property
    def value(self):
        return self._compute(*(part.value for part in self.parts))

    @property
    def exact(self) -> bool:
        return all(part.exact for part in self.parts)

    @property
    def height(self) -> int:
        return 1 + max(part.height for part in self.parts)

    def evaluated(self, height: int, decimals: int, sci: bool = False):
        if self.height <= height:
            return leaf(self.value).evaluated(height, decimals, sci)
        return type(self)(*(part.evaluated(height, decimals, sci) for part in self.parts))


class Sum(_Operation):
    """``a + b + ...``"""

    def _compute(self, *values):
        return sum(values)

    def render(self, form: str, tight: bool = False) -> str:
        if len(self.parts) == 1:
            return self.parts[0].render(form, tight)
        first, *rest = (part.render(form) for part in self.parts)
        text = first + "".join(f" {w[0]} {w[1:]}" if w[0] in "-−" else f" + {w}" for w in rest)
        return f"({text})" if tight else text


class Difference(_Operation):
    """``a - b``"""

    _compute = staticmethod(operator.sub)

    def render(self, form: str, tight: bool = False) -> str:
        a, b = self.parts
        text = f"{a.render(form)} {'−' if form == 'html' else '-'} {b.render(form, tight=True)}"
        return f"({text})" if tight else text


class Prod(_Operation):
    """``a · b · ...``"""

    def _compute(self, *values):
        return math.prod(values)

    def render(self, form: str, tight: bool = False) -> str:
        return "·".join(part.render(form, tight=True) for part in self.parts)


class Quotient(_Operation):
    """``a / b``"""

    _compute = staticmethod(operator.truediv)

    def render(self, form: str, tight: bool = False) -> str:
        return " / ".join(part.render(form, tight=True) for part in self.parts)


class Root(_Operation):
    """``√a``"""

    _compute = staticmethod(np.sqrt)

    def render(self, form: str, tight: bool = False) -> str:
        return f"√{self.parts[0].render(form, tight=True)}"


class Power(_Operation):
    """``base ^ exponent``"""

    _compute = staticmethod(operator.pow)

    def render(self, form: str, tight: bool = False) -> str:
        return _power(self.parts[0].render(form, tight=True), self.parts[1], form)


class Exp(_Operation):
    """``e ^ a``"""

    _compute = staticmethod(np.exp)

    def render(self, form: str, tight: bool = False) -> str:
        return _power("e", self.parts[0], form)


def _power(base: str, exponent, form: str) -> str:
    raised = exponent.render(form)
    if form == "html":
        return f"{base}<sup>{raised}</sup>"
    return f"{base}^{raised}" if isinstance(exponent, Num) and exponent.value >= 0 else f"{base}^({raised})"


class _Called(_Operation):
    """A function's name with what it is given in brackets."""

    def render(self, form: str, tight: bool = False) -> str:
        return f"{self._name}({', '.join(part.render(form) for part in self.parts)})"


class Larger(_Called):
    """``max(a, b)``"""

    _name, _compute = "max", staticmethod(max)


class Sin(_Called):
    """``sin(a)``"""

    _name, _compute = "sin", staticmethod(np.sin)


class Cos(_Called):
    """``cos(a)``"""

    _name, _compute = "cos", staticmethod(np.cos)


def is_idle(step) -> bool:
    """Whether it is 0 since every product in it has a factor 0, and all else that is added is 0."""
    parts = getattr(step, "parts", ())
    if isinstance(step, (Prod, Quotient)):
        return any(map(is_idle, parts))
    return all(map(is_idle, parts)) if isinstance(step, Sum) else isinstance(step, Num) and not step.value


def is_transcendental(step) -> bool:
    """Whether exp, sin or cos of anything but 0 stands in it: no finite number of digits is all of such a number."""
    parts = getattr(step, "parts", ())
    return (isinstance(step, (Exp, Sin, Cos)) and bool(parts[0].value != 0)) or any(map(is_transcendental, parts))
