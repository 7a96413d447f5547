"""How an answer worked out by hand is checked: which entry is wrong, the step before, and its sum of products."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from toytf._validate import shape_text
from toytf.byhand import Num, Prod, Root, Sum, fmt
from toytf.check.compare import Report
from toytf.check.traps import Trap, general, other_logarithms, room_of

__all__ = [
    "ByHand", "Part", "Trap", "Tries", "by_hand", "listed", "mapped", "number", "other_logarithms", "part", "product",
    "sum_of_products", "where", "worked", "written",
]  # fmt: skip

Place = tuple[int, ...]  # of an entry


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
        Wrong answers that are recognised, besides `slips`.
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
    >>> part.work((0, 1))
    '1 * 8 + 0 * 4 = 8'
    """

    expected: object
    terms: Callable[[Place], str] | None = None
    decimals: int = 0
    name: str = ""
    traps: tuple[Trap, ...] = ()
    step: Callable[[Place], str] | str | None = None

    def knows(self, *traps: Trap) -> Part:
        """The same answer, with wrong ones that it knows."""
        return replace(self, traps=traps)

    @cached_property
    def numbers(self) -> np.ndarray:
        """`expected` as an array."""
        return np.asarray(self.expected, dtype=float)

    @cached_property
    def room(self) -> float:
        """How far a right answer may lie from `expected`."""
        return room_of(self.numbers, self.decimals)

    @cached_property
    def slips(self) -> tuple[Trap, ...]:
        """What may go wrong with any number, for this one: rounding, order, sign, percent, the point."""
        return general(self.expected, self.decimals, percent="percent" in self.name)

    def looks(self, mine: np.ndarray) -> str:
        """What a wrong answer looks like, by `traps` and then by `slips`; empty if like none of them."""
        fitting = (trap.looks for trap in (*self.traps, *self.slips) if trap.fits(mine, self.numbers, self.room))
        return next(fitting, "")

    def hint(self, mine: np.ndarray, place: Place) -> str:
        """What a first wrong try is told of a wrong entry: where it stands and what is there."""
        at = where(place)
        return f"{at}: yours {mine[place]:.10g}" if at else f"yours {mine[place]:.10g}"

    def before(self, place: Place) -> str:
        """What a second try is told too: the step before the result, without the result; empty if none is known."""
        if self.step:
            return self.step if isinstance(self.step, str) else self.step(place)
        formula, equals, _ = self.terms(place).partition(" = ") if self.terms else ("", "", "")
        return formula if equals else ""

    def work(self, place: Place) -> str:
        """What a third try is told: how the right number comes about, which is `terms` where there are any."""
        return self.terms(place) if self.terms else f"expected {number(self.numbers[place], self.decimals)}"


class Tries:
    """The wrong answers to each part of each exercise, until Python ends.

    Attributes
    ----------
    hidden : bool
        Whether a wrong answer is told a hint and never more.

    Examples
    --------
    >>> tries = Tries()
    >>> [tries.wrong("9.1", mine) for mine in (4, 4, 5, 6, 7)]
    [1, 1, 2, 3, 3]
    """

    def __init__(self) -> None:
        self.hidden = False
        self._seen: dict[str, set[str]] = {}

    def right(self, about: str) -> None:
        """Begin anew, after a right answer."""
        self._seen.pop(about, None)

    def wrong(self, about: str, mine) -> int:
        """Count a wrong answer and say how much it is told, 1 to 3; the same answer again is no new try."""
        seen = self._seen.setdefault(about, set())
        if len(seen) < 3:
            seen.add(repr((np.asarray(mine, dtype=float) + 0.0).tolist()))
        return 1 if self.hidden else len(seen)


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
        answers = answer if isinstance(answer, dict) and part is None else {part or "": answer}
        for name in answers:
            if name not in known:
                expected = f"expected one of {', '.join(map(repr, known))} for exercise {self.number}"
                raise ValueError(f"part: {expected}, got {name!r}")
        about = {name: f"{self.number}, {name}" if name else self.number for name in answers}
        return [_compare(about[name], value, known[name], tries) for name, value in answers.items()]


def _compare(about: str, answer, part: Part, tries: Tries | None) -> Report:
    if answer is None:
        return Report(False, f"{about}: not answered yet.")
    try:
        mine = np.asarray(answer, dtype=float)
    except (TypeError, ValueError, OverflowError):
        return Report(False, f"{about}: expected numbers, got {answer!r}.")
    if (refused := _no_answer(mine, part.numbers)) is not None:
        return Report(False, f"{about}: {refused}")
    bad = np.abs(mine - part.numbers) > part.room
    if not bad.any():
        if tries:
            tries.right(about)
        return Report(True, f"{about}: right.")
    stage = tries.wrong(about, mine) if tries else 3
    n = int(bad.sum())
    said = "not right." if mine.ndim == 0 else f"{n} of {mine.size} entries differ{'s' * (n == 1)}."
    return Report(False, f"{about}: {said}", tuple(_told(mine, part, bad, stage)))


def _no_answer(mine: np.ndarray, expected: np.ndarray) -> str | None:
    """What is wrong with an answer before its numbers are; such an answer is no try."""
    if mine.shape != expected.shape:
        turned = mine.ndim > 1 and mine.shape == expected.shape[::-1]
        hint = " It is the expected shape turned over." if turned else ""
        return f"expected shape {shape_text(expected.shape)}, got {shape_text(mine.shape)}.{hint}"
    if np.isnan(mine).any():
        at = where(_places(np.isnan(mine))[0])
        return f"{at} has no number yet." if at else "expected a number, got nan."
    return None


def _told(mine: np.ndarray, part: Part, bad: np.ndarray, stage: int) -> list[str]:
    """What a wrong answer is told."""
    looks = part.looks(mine)
    lines = [f"It looks like {looks}"] if looks else []
    more = (lambda place: "", part.before, part.work)[stage - 1]
    places = _places(bad)
    lines += ["; ".join(filter(None, [part.hint(mine, place), more(place)])) for place in places[:3]]
    return lines + [f"and {len(places) - 3} more"] * (len(places) > 3)


def _places(flags: np.ndarray) -> list[Place]:
    return [tuple(place) for place in np.argwhere(flags).tolist()]


# ---------------------------------------------------------------- answers that say how they come about


def by_hand(exercise: str, *parts: Part) -> ByHand:
    """The answers of an exercise, one or more."""
    return ByHand(exercise, parts)


def part(name: str, expected, terms=None, *, step=None, decimals: int = 0) -> Part:
    """An answer; `terms` may be a text, the same for each entry."""
    how = (lambda _: terms) if isinstance(terms, str) else terms
    return Part(expected, how, decimals, name, step=step)


def product(name: str, a, b, *, decimals: int = 0, step=None) -> Part:
    """The answer ``a @ b``, each entry with its sum of products.

    Examples
    --------
    >>> product("", [[1, 0]], [[4], [8]]).work((0, 0))
    '1 * 4 + 0 * 8 = 4'
    """
    a, b = np.asarray(a), np.asarray(b)

    def factors(place: Place):
        return a[place[0]] if a.ndim == 2 else a, b[..., place[-1]] if b.ndim == 2 else b

    def meet(place: Place) -> str:
        row, column = map(listed, factors(place))
        nth = f"row {place[0] + 1}" if a.ndim == 2 else "the row"
        of = f"column {place[-1] + 1}" if b.ndim == 2 else "the column"
        return f"{nth} is {row}; {of} is {column}"

    def terms(place: Place) -> str:
        return sum_of_products(*factors(place), decimals)

    return part(name, a @ b, terms, step=step or meet, decimals=decimals)


def mapped(name: str, x, w, b) -> Part:
    """The answer ``x @ w + b``, each entry with its sum of products and its bias."""
    products, expected = product(name, x, w), x @ w + b

    def terms(place: Place) -> str:
        return f"{products.work(place)}; plus the bias {number(b[place[-1]])}: {number(expected[place])}"

    def meet(place: Place) -> str:
        return f"{products.before(place)}; the bias is {number(b[place[-1]])}"

    return part(name, expected, terms, step=meet)


def worked(name: str, steps, *, also=None, lead="", about=False, shown: str | None = "", decimals=0, step=None) -> Part:
    """The answer that an expression of `toytf.byhand` has, with the expression and its value written out.

    Parameters
    ----------
    name : str
    steps : expression, or list of expressions
        One for each entry of the answer.
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
    >>> worked("", Sum(Prod(4, 8), 2), lead="with biases: ").work(())
    'with biases: 4 * 8 + 2 = 34'
    >>> worked("", [Quotient(1, 2), Root(2)], decimals=2, about=True).work((1,))
    'the root of 2, about 1.41'
    """
    tables = [np.array(way, dtype=object) for way in (steps, also) if way is not None]
    expected = np.array([step.value for step in tables[0].flat]).reshape(tables[0].shape)

    def terms(place: Place) -> str:
        text = lead + " = ".join(written(table[place]) for table in tables)
        if shown is None:
            return text
        result = f"{expected[place]:{shown}}" if shown else number(expected[place], decimals)
        return f"{text}{', about' if about else ' ='} {result}"

    before = step or (lambda place: lead + written(tables[0][place]))
    return part(name, expected, terms, step=before, decimals=decimals)


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


def where(place: Place) -> str:
    """A place as people count, from 1.

    Examples
    --------
    >>> where((0, 2)), where((1,)), where(())
    ('row 1, column 3', 'entry 2', '')
    """
    if len(place) == 2:
        return f"row {place[0] + 1}, column {place[1] + 1}"
    return f"entry {', '.join(str(i + 1) for i in place)}" if place else ""
