"""Numbers as people write them, and small trees of them: sums, products, fractions, powers, roots."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

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
# Each class has a `value` and two renderings, `text` and `html`, that differ in powers and in the sign of minus.
# `tight` says that a neighbour binds strongly (a product, a power): a sum or a negative number needs parentheses.


@dataclass(frozen=True)
class Num:
    """A number, shown with at most `decimals` decimals."""

    value: float
    decimals: int = 4
    sci: bool = False

    @property
    def word(self) -> str:
        return trimmed(self.value, self.decimals, self.sci)

    @property
    def exact(self) -> bool:
        return _is_exact(self.value, self.word)

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

    @property
    def value(self) -> Array:
        return np.array([n.value for n in self.numbers])

    @property
    def exact(self) -> bool:
        return all(n.exact for n in self.numbers)

    def render(self, form: str, tight: bool = False) -> str:
        words = [n.render(form) for n in self.numbers]
        return "[" + ("&ensp;" if form == "html" else " ").join(words) + "]"


@dataclass(frozen=True)
class _Parts:
    """An expression made of other expressions; a plain number among them is a `Num`."""

    parts: tuple

    def __init__(self, *parts):
        object.__setattr__(self, "parts", tuple(part if hasattr(part, "render") else Num(part) for part in parts))

    @property
    def exact(self) -> bool:
        return all(part.exact for part in self.parts)


class Sum(_Parts):
    """``a + b + ...``"""

    @property
    def value(self):
        return sum(part.value for part in self.parts)

    def render(self, form: str, tight: bool = False) -> str:
        if len(self.parts) == 1:
            return self.parts[0].render(form, tight)
        first, *rest = (part.render(form) for part in self.parts)
        minus = ("-", "−")
        text = first + "".join(f" − {w[1:]}" if w.startswith(minus) else f" + {w}" for w in rest)
        text = text.replace("−", "-") if form != "html" else text
        return f"({text})" if tight else text


class Difference(_Parts):
    """``a - b``"""

    @property
    def value(self):
        return self.parts[0].value - self.parts[1].value

    def render(self, form: str, tight: bool = False) -> str:
        a, b = self.parts
        text = f"{a.render(form)} {'−' if form == 'html' else '-'} {b.render(form, tight=True)}"
        return f"({text})" if tight else text


class Prod(_Parts):
    """``a · b · ...``"""

    @property
    def value(self):
        value = self.parts[0].value
        for part in self.parts[1:]:
            value = value * part.value
        return value

    def render(self, form: str, tight: bool = False) -> str:
        return "·".join(part.render(form, tight=True) for part in self.parts)


class Quotient(_Parts):
    """``a / b``"""

    @property
    def value(self):
        return self.parts[0].value / self.parts[1].value

    def render(self, form: str, tight: bool = False) -> str:
        return " / ".join(part.render(form, tight=True) for part in self.parts)


class Root(_Parts):
    """``√a``"""

    @property
    def value(self):
        return np.sqrt(self.parts[0].value)

    def render(self, form: str, tight: bool = False) -> str:
        return f"√{self.parts[0].render(form, tight=True)}"


class Power(_Parts):
    """``base ^ exponent``; the base may be the letter e."""

    @property
    def value(self):
        return self.parts[0].value ** self.parts[1].value

    def render(self, form: str, tight: bool = False) -> str:
        base, exponent = self.parts[0].render(form, tight=True), self.parts[1]
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
        return f"max({', '.join(part.render(form) for part in self.parts)})"


class _Wave(_Parts):
    name = ""

    def render(self, form: str, tight: bool = False) -> str:
        return f"{self.name}({self.parts[0].render(form)})"


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


def is_transcendental(step) -> bool:
    if isinstance(step, (Exp, _Wave)):
        return bool(step.parts[-1].value != 0)
    return isinstance(step, _Parts) and any(is_transcendental(part) for part in step.parts)
