"""How an answer worked out by hand is checked: which entry is wrong, the step before, and its sum of products."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from toytf._validate import shape_text
from toytf.byhand import Num, Prod, Root, Sum, fmt
from toytf.check.compare import by_part
from toytf.check.core import Report
from toytf.check.slips import Trap, general, room_of
from toytf.check.tries import Stage, Tries

__all__ = [
    "ByHand", "Part", "Stage", "Trap", "Tries", "listed", "mapped", "number", "product", "sum_of_products", "where",
    "worked", "written",
]  # fmt: skip


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
        Wrong answers that are recognised, besides those of `slips`.
    step : callable or str, optional
        From the place of an entry to the step before its result: what meets what, or the formula; a
        text, if it is the same for every entry. Without it, what stands before the first "=" of
        `terms`. `before` gives it.

    Examples
    --------
    >>> part = product("", [[1, 0], [2, 3]], [[4, 8], [5, 4]])
    >>> part.hint(np.array([[4, 7], [23, 28]]), (0, 1))
    'row 1, column 2: yours 7'
    >>> part.before((0, 1))
    'row 1 is 1, 0; column 2 is 8, 4'
    >>> part.terms((0, 1))
    '1 * 8 + 0 * 4 = 8'
    """

    expected: object
    terms: Callable[[tuple[int, ...]], str] | None = None
    decimals: int = 0
    name: str = ""
    traps: tuple[Trap, ...] = ()
    step: Callable[[tuple[int, ...]], str] | str | None = None

    @cached_property
    def room(self) -> float:
        """How far a right answer may lie from `expected`."""
        return room_of(np.asarray(self.expected, dtype=float), self.decimals)

    @cached_property
    def slips(self) -> tuple[Trap, ...]:
        """What may go wrong with any number, for this one: rounding, order, sign, percent, the point."""
        return general(self.expected, self.decimals, percent="percent" in self.name)

    def looks(self, mine: np.ndarray) -> str:
        """What a wrong answer looks like, by `traps` and then by `slips`; empty if like none of them."""
        expected = np.asarray(self.expected, dtype=float)
        fitting = (trap.looks for trap in (*self.traps, *self.slips) if trap.fits(mine, expected, self.room))
        return next(fitting, "")

    def hint(self, mine: np.ndarray, place: tuple[int, ...]) -> str:
        """First stage, for a wrong entry: where it stands and what is there, ``row 1, column 2: yours 7``."""
        at = where(place)
        return f"{at}: yours {mine[place]:.10g}" if at else f"yours {mine[place]:.10g}"

    def before(self, place: tuple[int, ...]) -> str:
        """Second stage: the step before the result, without the result; empty if none is known."""
        if self.step:
            return self.step if isinstance(self.step, str) else self.step(place)
        formula, equals, _ = self.terms(place).partition(" = ") if self.terms else ("", "", "")
        return formula if equals else ""

    def work(self, place: tuple[int, ...]) -> str:
        """Third stage: how the right number comes about, which is `terms` where there are any."""
        if self.terms:
            return self.terms(place)
        return f"expected {number(np.asarray(self.expected, dtype=float)[place], self.decimals)}"


@dataclass(frozen=True)
class ByHand:
    """The answers of one by-hand exercise, "ex-04-2"."""

    exercise: str
    parts: tuple[Part, ...]

    @property
    def number(self) -> str:
        """Its number as the book shows it: "4.2"."""
        return ".".join(str(int(n)) for n in self.exercise.split("-")[1:])

    def reports(self, answer, part: str | None = None, tries: Tries | None = None) -> list[Report]:
        """Compare answers with the right ones, at the number of decimals that is asked for.

        Parameters
        ----------
        answer : array_like or dict
            One answer; or for several parts a dictionary from their names to the answers, None for
            one that is not given yet.
        part : str, optional
            Which part a single answer is for.
        tries : Tries, optional
            Counts the wrong answers, and so says how much is told. Without it a wrong answer is told
            its sum at once.

        Returns
        -------
        list of Report
            One for each answer.

        Raises
        ------
        ValueError
            If the exercise has no such part, or has several and none is named.
        """
        known = {p.name: p for p in self.parts}
        answers = by_part(self.number, known, answer, part)
        return [_compare(self._about(name), value, known[name], tries) for name, value in answers.items()]

    def _about(self, name: str) -> str:
        return f"{self.number}, {name}" if name else self.number


def by_hand(exercise: str, *parts: Part) -> ByHand:
    """The answers of an exercise, one or more."""
    return ByHand(exercise, parts)


def part(name: str, expected, *traps: Trap, terms=None, step=None, decimals: int = 0) -> Part:
    """An answer and the wrong ones that one knows; `terms` may be a text, the same for each entry."""
    how = (lambda _: terms) if isinstance(terms, str) else terms
    return Part(expected, how, decimals, name, traps, step)


def product(name: str, a, b, *traps: Trap, decimals: int = 0, step=None) -> Part:
    """The answer ``a @ b``, each entry with its sum of products.

    Examples
    --------
    >>> product("", [[1, 0]], [[4], [8]]).terms((0, 0))
    '1 * 4 + 0 * 8 = 4'
    """
    a, b = np.asarray(a), np.asarray(b)

    def terms(place: tuple[int, ...]) -> str:
        row = a[place[0]] if a.ndim == 2 else a
        column = b[..., place[-1]] if b.ndim == 2 else b
        return sum_of_products(row, column, decimals)

    def meet(place: tuple[int, ...]) -> str:
        row, nth = (a[place[0]], f"row {place[0] + 1}") if a.ndim == 2 else (a, "the row")
        column = b[..., place[-1]] if b.ndim == 2 else b
        of = f"column {place[-1] + 1}" if b.ndim == 2 else "the column"
        return f"{nth} is {listed(row)}; {of} is {listed(column)}"

    return part(name, a @ b, *traps, terms=terms, step=step or meet, decimals=decimals)


def mapped(name: str, x, w, b, *traps: Trap) -> Part:
    """The answer ``x @ w + b``, each entry with its sum of products and its bias."""
    products = product(name, x, w)
    expected = x @ w + b

    def terms(place: tuple[int, ...]) -> str:
        return f"{products.terms(place)}; plus the bias {number(b[place[-1]])}: {number(expected[place])}"

    def step(place: tuple[int, ...]) -> str:
        return f"{products.before(place)}; the bias is {number(b[place[-1]])}"

    return part(name, expected, *traps, terms=terms, step=step)


def worked(
    name: str, steps, *traps: Trap, also=None, lead="", about=False, shown: str | None = "", decimals=0, step=None
) -> Part:
    """The answer that an expression of `toytf.byhand` has, with the expression and its value written out.

    Parameters
    ----------
    name : str
    steps : expression, or list of expressions
        One for each entry of the answer.
    *traps : Trap
    also : expression, or list of expressions, optional
        Another way of writing the same, behind "=".
    lead : str
        Words in front.
    about : bool
        Whether the result is called rounded.
    shown : str or None
        How the result is written, as `format` takes it. Empty is the way of `number`; None leaves it out.
    decimals, step
        As in a `Part`.

    Examples
    --------
    >>> from toytf.byhand import Prod, Quotient, Root, Sum
    >>> worked("", Sum(Prod(4, 8), 2), lead="with biases: ").terms(())
    'with biases: 4 * 8 + 2 = 34'
    >>> worked("", [Quotient(1, 2), Root(2)], decimals=2, about=True).terms((1,))
    'the root of 2, about 1.41'
    """
    tables = [np.array(way, dtype=object) for way in (steps, also) if way is not None]
    expected = np.array([step.value for step in tables[0].flat]).reshape(tables[0].shape)

    def terms(place: tuple[int, ...]) -> str:
        text = lead + " = ".join(written(table[place]) for table in tables)
        if shown is None:
            return text
        result = f"{expected[place]:{shown}}" if shown else number(expected[place], decimals)
        return f"{text}{', about' if about else ' ='} {result}"

    before = step or (lambda place: lead + written(tables[0][place]))
    return part(name, expected, *traps, terms=terms, step=before, decimals=decimals)


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


def listed(numbers) -> str:
    """Numbers one after the other, as short as they are.

    Examples
    --------
    >>> listed([1, -0.5, 2.25])
    '1, -0.5, 2.25'
    """
    return ", ".join(Num(x).render("text") for x in np.ravel(numbers).tolist())


def where(place: tuple[int, ...]) -> str:
    """A place as people count, from 1.

    Examples
    --------
    >>> where((0, 2)), where((1,)), where(())
    ('row 1, column 3', 'entry 2', '')
    """
    if len(place) == 2:
        return f"row {place[0] + 1}, column {place[1] + 1}"
    return f"entry {', '.join(str(i + 1) for i in place)}" if place else ""


def _compare(about: str, answer, part: Part, tries: Tries | None) -> Report:
    expected = np.asarray(part.expected, dtype=float)
    if answer is None:
        return Report(False, f"{about}: not answered yet.")
    try:
        mine = np.asarray(answer, dtype=float)
    except (TypeError, ValueError, OverflowError):
        return Report(False, f"{about}: expected numbers, got {answer!r}.")
    if mine.shape != expected.shape:
        turned = mine.ndim > 1 and mine.shape == expected.shape[::-1]
        hint = " It is the expected shape turned over." if turned else ""
        return Report(
            False, f"{about}: expected shape {shape_text(expected.shape)}, got {shape_text(mine.shape)}.{hint}"
        )
    if np.isnan(mine).any():
        at = where(tuple(int(i) for i in np.argwhere(np.isnan(mine))[0]))
        return Report(False, f"{about}: {at} has no number yet." if at else f"{about}: expected a number, got nan.")
    bad = np.abs(mine - expected) > part.room
    if not bad.any():
        if tries:
            tries.right(about)
        return Report(True, f"{about}: right.")
    stage = tries.wrong(about, mine) if tries else Stage.SUM
    n = int(bad.sum())
    said = "not right." if mine.ndim == 0 else f"{n} of {mine.size} entries differ{'s' * (n == 1)}."
    return Report(False, f"{about}: {said}", tuple(_told(mine, part, bad, stage)))


def _told(mine, part: Part, bad, stage: Stage) -> list[str]:
    """What a wrong answer is told."""
    looks = part.looks(mine)
    lines = [f"It looks like {looks}"] if looks else []
    more = {Stage.HINT: lambda place: "", Stage.BEFORE: part.before, Stage.SUM: part.work}[stage]
    for place in np.argwhere(bad)[:3]:
        place = tuple(int(i) for i in place)
        lines.append("; ".join(filter(None, [part.hint(mine, place), more(place)])))
    if bad.sum() > 3:
        lines.append(f"and {int(bad.sum()) - 3} more")
    return lines
