"""How an answer worked out by hand is checked: which entry is wrong, and its sum of products."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from toytf._validate import shape_text
from toytf.byhand import Prod, Root, Sum, fmt
from toytf.check.core import Report


@dataclass(frozen=True)
class Trap:
    """A wrong answer that one knows, and what it looks like: "the squares divided by 3, ..."."""

    value: object
    looks: str


@dataclass(frozen=True)
class Part:
    """One answer of an exercise.

    Parameters
    ----------
    expected : array_like
        The answer, unrounded.
    terms : callable, optional
        From the place of an entry, a tuple of indices, to how it comes about:
        ``"1 * 4 + 0 * 8 = 4"``.
    decimals : int
        To how many decimals the exercise asks for it; 0 for whole numbers.
    name : str
        What the exercise calls it: "a", "the mean". Empty if there is only one answer.
    traps : tuple of Trap
        Wrong answers that are recognised. A square table turned over is, without being named here.
    """

    expected: object
    terms: Callable[[tuple[int, ...]], str] | None = None
    decimals: int = 0
    name: str = ""
    traps: tuple[Trap, ...] = ()


@dataclass(frozen=True)
class ByHand:
    """The answers of one by-hand exercise, "ex-04-2"."""

    exercise: str
    parts: tuple[Part, ...]

    @property
    def number(self) -> str:
        """Its number as the book shows it: "4.2"."""
        return ".".join(str(int(n)) for n in self.exercise.split("-")[1:])

    def reports(self, answer, part: str | None = None) -> list[Report]:
        """Compare answers with the right ones, at the number of decimals that is asked for.

        Parameters
        ----------
        answer : array_like or dict
            One answer; or for several parts a dictionary from their names to the answers, None for
            one that is not given yet.
        part : str, optional
            Which part a single answer is for.

        Returns
        -------
        list of Report
            One for each answer.

        Raises
        ------
        ValueError
            If the exercise has no such part, or has several and none is named.
        """
        answers = answer if isinstance(answer, dict) and part is None else {part or "": answer}
        known = {p.name: p for p in self.parts}
        for name in answers:
            if name not in known:
                raise ValueError(
                    f"part: expected one of {', '.join(map(repr, known))} for exercise {self.number}, got {name!r}"
                )
        return [_compare(self._about(name), value, known[name]) for name, value in answers.items()]

    def _about(self, name: str) -> str:
        return f"{self.number}, {name}" if name else self.number


def product(a, b, **how) -> Part:
    """The answer ``a @ b``, each entry with its sum of products.

    Examples
    --------
    >>> product([[1, 0]], [[4], [8]]).terms((0, 0))
    '1 * 4 + 0 * 8 = 4'
    """
    a, b = np.asarray(a), np.asarray(b)
    expected = a @ b
    decimals = how.get("decimals", 0)

    def terms(place: tuple[int, ...]) -> str:
        row = a[place[0]] if a.ndim == 2 else a
        column = b[..., place[-1]] if b.ndim == 2 else b
        return sum_of_products(row, column, decimals)

    return Part(expected, terms, **how)


def mapped(x, w, b, name: str, **how) -> Part:
    """The answer ``x @ w + b``, each entry with its sum of products and its bias."""
    products = product(x, w)
    expected = x @ w + b

    def terms(place: tuple[int, ...]) -> str:
        return f"{products.terms(place)}; plus the bias {number(b[place[-1]])}: {number(expected[place])}"

    return Part(expected, terms, name=name, **how)


def worked(*steps, lead: str = "", about: bool = False, shown: str | None = "", **how) -> Part:
    """The answer that an expression of `toytf.byhand` has, with the expression and its value written out.

    Parameters
    ----------
    *steps : expression, or list of expressions
        One for each entry of the answer. Further ones are ways of writing the same, behind "=".
    lead : str
        Words in front.
    about : bool
        Whether the result is called rounded.
    shown : str or None
        How the result is written, as `format` takes it. Empty is the way of `number`; None leaves it out.
    **how
        What else a `Part` takes.

    Examples
    --------
    >>> from toytf.byhand import Prod, Quotient, Root, Sum
    >>> worked(Sum(Prod(4, 8), 2), lead="with biases: ").terms(())
    'with biases: 4 * 8 + 2 = 34'
    >>> worked([Quotient(1, 2), Root(2)], decimals=2, about=True).terms((1,))
    'the root of 2, about 1.41'
    """
    tables = [np.array(step, dtype=object) for step in steps]
    expected = np.array([step.value for step in tables[0].flat]).reshape(tables[0].shape)

    def terms(place: tuple[int, ...]) -> str:
        text = lead + " = ".join(written(table[place]) for table in tables)
        if shown is None:
            return text
        result = f"{expected[place]:{shown}}" if shown else number(expected[place], how.get("decimals", 0))
        return f"{text}{', about' if about else ' ='} {result}"

    return Part(expected, terms, **how)


def written(step) -> str:
    """An expression of `toytf.byhand` as one types it.

    Examples
    --------
    >>> from toytf.byhand import Difference, Prod
    >>> written(Difference(Prod(3, -1), 2))
    '3 * (-1) - 2'
    """
    if isinstance(step, Root):
        return f"the root of {written(step.parts[0])}"
    return step.render("text").replace("·", " * ")


def sum_of_products(row, column, decimals: int = 0) -> str:
    """``1 * 4 + 0 * 8 = 4``; negative factors stand in brackets.

    Examples
    --------
    >>> sum_of_products([1, -2], [4, 8])
    '1 * 4 + (-2) * 8 = -12'
    """
    step = Sum(*map(Prod, np.ravel(row).tolist(), np.ravel(column).tolist()))
    return f"{written(step)} = {number(step.value, decimals)}"


def number(value, decimals: int = 0) -> str:
    """One number: whole if it is whole, else to so many decimals.

    Examples
    --------
    >>> number(4.0), number(0.25, 2)
    ('4', '0.25')
    """
    return fmt(value, 0) if float(value).is_integer() else fmt(value, decimals or 4)


def _compare(about: str, answer, part: Part) -> Report:
    expected = np.asarray(part.expected, dtype=float)
    if answer is None:
        return Report(False, f"{about}: not answered yet.")
    try:
        mine = np.asarray(answer, dtype=float)
    except (TypeError, ValueError):
        return Report(False, f"{about}: expected numbers, got {answer!r}.")
    if mine.shape != expected.shape:
        turned = mine.ndim > 1 and mine.shape == expected.shape[::-1]
        hint = " It is the expected shape turned over." if turned else ""
        return Report(
            False, f"{about}: expected shape {shape_text(expected.shape)}, got {shape_text(mine.shape)}.{hint}"
        )
    # An answer is right if it is what rounding gives, whichever way a half was rounded.
    room = 0.5 * 10.0**-part.decimals * (1 + 1e-9) if part.decimals or _has_fraction(expected) else 1e-9
    bad = ~(np.abs(mine - expected) <= room)
    if not bad.any():
        return Report(True, f"{about}: right.")
    lines = [f"It looks like {looks}" for looks in _seen(mine, expected, part.traps, room)]
    for place in np.argwhere(bad)[:3]:
        place = tuple(int(i) for i in place)
        at = _where(place)
        yours, ours = f"{mine[place]:.10g}", number(expected[place], part.decimals)
        work = part.terms(place) if part.terms else f"expected {ours}"
        lines.append(f"{at}: yours {yours}; {work}" if at else f"yours {yours}; {work}")
    if bad.sum() > 3:
        lines.append(f"and {int(bad.sum()) - 3} more")
    n = int(bad.sum())
    said = "not right." if mine.ndim == 0 else f"{n} of {mine.size} entries differ{'s' * (n == 1)}."
    return Report(False, f"{about}: {said}", tuple(lines))


def _seen(mine, expected, traps: tuple[Trap, ...], room: float) -> list[str]:
    """What a wrong answer looks like, if it is one of the known ones."""
    for trap in traps:  # a wrong number may be written with two decimals, and is nearer to the trap
        value = np.asarray(trap.value, dtype=float)
        if value.shape != mine.shape:
            continue
        away = np.abs(mine - value)
        if away.max() <= max(room, 0.006) and away.max() <= np.abs(mine - expected).max():
            return [trap.looks]
    turned = mine.shape == expected.T.shape and mine.ndim == 2 and (np.abs(mine - expected.T) <= room).all()
    return ["the right table turned over: rows and columns are exchanged."] * bool(turned)


def _where(place: tuple[int, ...]) -> str:
    """A place as people count: from 1."""
    if len(place) == 2:
        return f"row {place[0] + 1}, column {place[1] + 1}"
    return f"entry {', '.join(str(i + 1) for i in place)}" if place else ""


def _has_fraction(x) -> bool:
    return bool((x != np.round(x)).any())
