"""How an answer worked out by hand is checked: which entry is wrong, the step before, and its sum of products."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from toytf._validate import shape_text
from toytf.byhand import Num, Prod, Root, Sum, fmt
from toytf.check.compare import Report
from toytf.check.wrong_answers import WrongAnswer, common_mistakes, room_of

Place = tuple[int, ...]  # of an entry


@dataclass(frozen=True)
class Part:
    """One answer of an exercise.

    >>> answer = product("", [[1, 0], [2, 3]], [[4, 8], [5, 4]]).knows([[4, 5], [8, 4]], "b itself.")
    >>> answer.before((0, 1))
    'row 1 is 1, 0; column 2 is 8, 4'
    >>> answer.work((0, 1))
    '1 * 8 + 0 * 4 = 8'
    >>> answer.looks(np.array([[4, 5], [8, 4]]))
    'b itself.'
    """

    expected: object  # unrounded, a number or an array
    terms: Callable[[Place], str] | None = None  # from the place of an entry to how it comes about
    decimals: int = 0  # to how many the exercise asks for it
    name: str = ""  # what the exercise calls it; empty if there is only one answer
    wrong_answers: tuple[WrongAnswer, ...] = ()  # that it `knows`, besides `common_mistakes`
    step_before: Callable[[Place], str] | str | None = None  # see `step`

    def knows(self, wrong, looks: str, room=None) -> Part:
        """The same answer, with one more wrong number that it knows, and what to say to it (`WrongAnswer`)."""
        return replace(self, wrong_answers=(*self.wrong_answers, WrongAnswer(wrong, looks, room)))

    def knows_logarithms(self) -> Part:
        """The same answer, a natural logarithm, with those to other bases."""
        binary = self.knows(self.expected / np.log(2), "a logarithm to base 2. It is the natural one here.")
        return binary.knows(self.expected / np.log(10), "a logarithm to base 10. It is the natural one here.")

    def step(self, before: Callable[[Place], str] | str) -> Part:
        """The same answer, with the step before its result: what meets what, or the formula.

        A text is the same for every entry. Without it the step is what stands in `terms` before the first "=", or
        else before "about" or the last colon.
        """
        return replace(self, step_before=before)

    @cached_property
    def numbers(self) -> np.ndarray:
        """`expected` as an array."""
        return np.asarray(self.expected, dtype=float)

    @cached_property
    def room(self) -> float:
        """How far a right answer may lie from `expected`."""
        return room_of(self.numbers, self.decimals)

    @cached_property
    def common_mistakes(self) -> tuple[WrongAnswer, ...]:
        """What may go wrong with any number, for this one: rounding, order, sign, percent, the point."""
        return common_mistakes(self.expected, self.decimals, percent="percent" in self.name)

    def looks(self, mine: np.ndarray) -> str:
        """What a wrong answer looks like, the exercise's own wrong answers first; empty if like none that is known."""
        known = (*self.wrong_answers, *self.common_mistakes)
        return next((wrong.looks for wrong in known if wrong.fits(mine, self.numbers, self.room)), "")

    def before(self, place: Place) -> str:
        """What a second try is told too: the step before the result, without the result; empty if none is known."""
        if self.step_before:
            return self.step_before if isinstance(self.step_before, str) else self.step_before(place)
        terms = self.terms(place) if self.terms else ""
        parts = (terms.partition(" = "), terms.partition(", about "), terms.rpartition(": "))
        return next((step for step, found, _ in parts if found), "")

    def work(self, place: Place) -> str:
        """What a third try is told: how the right number comes about, which is `terms` where there are any."""
        return self.terms(place) if self.terms else f"expected {number(self.numbers[place], self.decimals)}"


class Attempts:
    """The wrong answers to each part of each exercise, until Python ends.

    With `hidden` a wrong answer is told a hint and never more.

    >>> attempts = Attempts()
    >>> [attempts.wrong("9.1", mine) for mine in (4, 4, 5, 6, 7)]
    [1, 1, 2, 3, 3]
    """

    def __init__(self) -> None:
        self.hidden = False
        self._seen: dict[str, set[str]] = {}

    def right(self, about: str) -> None:
        """Begin anew, after a right answer."""
        self._seen.pop(about, None)

    def wrong(self, about: str, mine) -> int:
        """Count a wrong answer and say how much it is told, 1 to 3; the same answer again is no new attempt."""
        seen = self._seen.setdefault(about, set())
        if len(seen) < 3:
            seen.add(repr((np.asarray(mine, dtype=float) + 0.0).tolist()))
        return 1 if self.hidden else len(seen)


@dataclass(frozen=True)
class ByHand:
    """The answers of one by-hand exercise, "4.2"."""

    number: str
    parts: tuple[Part, ...]

    @property
    def exercise(self) -> str:
        """Its label in the book: "ex-04-2"."""
        chapter, place = self.number.split(".")
        return f"ex-{int(chapter):02}-{place}"

    def reports(self, answer, part: str | None = None, attempts: Attempts | None = None) -> list[Report]:
        """Compare answers with the right ones, at the number of decimals that is asked for: a report for each.

        One answer, for the part that is named; or for several parts a dictionary from their names to the answers,
        None for one that is not given yet. An exercise that has no such part, or has several where none is named, is
        a `ValueError`. `attempts` counts the wrong answers, and so says how much is told; without it all.
        """
        known = {p.name: p for p in self.parts}
        answers = answer if isinstance(answer, dict) and part is None else {part or "": answer}
        for name in answers:
            if name not in known:
                expected = f"expected one of {', '.join(map(repr, known))} for exercise {self.number}"
                raise ValueError(f"part: {expected}, got {name!r}")
        about = {name: f"{self.number}, {name}" if name else self.number for name in answers}
        return [_compare(about[name], value, known[name], attempts) for name, value in answers.items()]


def _compare(about: str, answer, part: Part, attempts: Attempts | None) -> Report:
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
        if attempts:
            attempts.right(about)
        return Report(True, f"{about}: right.")
    stage = attempts.wrong(about, mine) if attempts else 3
    n = int(bad.sum())
    said = "not right." if mine.ndim == 0 else f"{n} of {mine.size} entries differ{'s' * (n == 1)}."
    return Report(False, f"{about}: {said}", tuple(_told(mine, part, bad, stage)))


def _no_answer(mine: np.ndarray, expected: np.ndarray) -> str | None:
    """What is wrong with an answer before its numbers are; such an answer is no attempt."""
    if mine.shape != expected.shape:
        turned = mine.ndim > 1 and mine.shape == expected.shape[::-1]
        hint = " It is the expected shape turned over." if turned else ""
        return f"expected shape {shape_text(expected.shape)}, got {shape_text(mine.shape)}.{hint}"
    if np.isnan(mine).any():
        at = where(_places(np.isnan(mine))[0])
        return f"{at} has no number yet." if at else "expected a number, got nan."
    return None


def _told(mine: np.ndarray, part: Part, bad: np.ndarray, stage: int) -> list[str]:
    """What a wrong answer is told: where it is wrong; the second time the step before; then how it comes about."""
    looks = part.looks(mine)
    lines = [f"It looks like {looks}"] if looks else []
    places = _places(bad)
    for place in places[:3]:
        at = where(place)
        more = ("", part.before(place), part.work(place))[stage - 1]
        lines.append(f"{at}{': ' * bool(at)}yours {mine[place]:.10g}{'; ' * bool(more)}{more}")
    return lines + [f"and {len(places) - 3} more"] * (len(places) > 3)


def _places(flags: np.ndarray) -> list[Place]:
    return [tuple(place) for place in np.argwhere(flags).tolist()]


# ---------------------------------------------------------------- answers that say how they come about


def part(name: str, expected, terms=None, decimals: int = 0) -> Part:
    """An answer; `terms` may be a text, the same for each entry."""
    return Part(expected, (lambda _: terms) if isinstance(terms, str) else terms, decimals, name)


def product(name: str, a, b, bias=None, decimals: int = 0) -> Part:
    """The answer ``a @ b``, or ``a @ b + bias``, each entry with its sum of products.

    >>> product("", [[1, 0]], [[4], [8]]).work((0, 0))
    '1 * 4 + 0 * 8 = 4'
    """
    a, b = np.asarray(a), np.asarray(b)
    expected = a @ b if bias is None else a @ b + bias

    def factors(place: Place):
        return a[place[0]] if a.ndim == 2 else a, b[..., place[-1]] if b.ndim == 2 else b

    def meet(place: Place) -> str:
        row, column = map(listed, factors(place))
        nth = f"row {place[0] + 1}" if a.ndim == 2 else "the row"
        of = f"column {place[-1] + 1}" if b.ndim == 2 else "the column"
        added = "" if bias is None else f"; the bias is {number(bias[place[-1]])}"
        return f"{nth} is {row}; {of} is {column}{added}"

    def terms(place: Place) -> str:
        text = sum_of_products(*factors(place), decimals)
        return text if bias is None else f"{text}; plus the bias {number(bias[place[-1]])}: {number(expected[place])}"

    return part(name, expected, terms, decimals).step(meet)


def worked(name: str, steps, *, also=None, lead="", about=False, shown: str | None = "", decimals=0) -> Part:
    """The answer that an expression of `toytf.byhand` has, with the expression and its value written out.

    `steps` is an expression, or one for each entry; `also` writes the same another way, behind "=". `lead` are words
    in front, and `about` calls the result rounded. `shown` is the format of the result, where it is not that of
    `number`; None leaves the result out.

    >>> from toytf.byhand import Prod, Quotient, Root, Sum
    >>> worked("", Sum(Prod(4, 8), 2), lead="with biases: ").work(())
    'with biases: 4 * 8 + 2 = 34'
    >>> worked("", [Quotient(1, 2), Root(2)], decimals=2, about=True).work((1,))
    'the root of 2, about 1.41'
    """
    tables = [np.array(form, dtype=object) for form in (steps, also) if form is not None]
    expected = np.array([step.value for step in tables[0].flat]).reshape(tables[0].shape)

    def terms(place: Place) -> str:
        text = lead + " = ".join(written(table[place]) for table in tables)
        result = f"{expected[place]:{shown}}" if shown else number(expected[place], decimals)
        return text if shown is None else f"{text}{', about' if about else ' ='} {result}"

    return part(name, expected, terms, decimals).step(lambda place: lead + written(tables[0][place]))


def written(step) -> str:
    """An expression of `toytf.byhand` as one types it.

    >>> from toytf.byhand import Difference, Prod
    >>> written(Difference(Prod(3, -1), 2))
    '3 * (-1) - 2'
    """
    if isinstance(step, Root):
        return f"the root of {written(step.parts[0])}"
    return step.render("text").replace("·", " * ")


def sum_of_products(row, column, decimals: int = 0) -> str:
    """``1 * 4 + (-2) * 8 = -12``."""
    step = Sum(*map(Prod, np.ravel(row).tolist(), np.ravel(column).tolist()))
    return f"{written(step)} = {number(step.value, decimals)}"


def number(value, decimals: int = 0) -> str:
    """One number: whole if it is whole, else to so many decimals.

    >>> number(4.0), number(0.25, 2)
    ('4', '0.25')
    """
    return fmt(value, 0) if float(value).is_integer() else fmt(value, decimals or 4)


def listed(numbers) -> str:
    """Numbers one after the other, as short as they are: "1, -0.5, 2.25"."""
    return ", ".join(Num(x).render("text") for x in np.ravel(numbers).tolist())


def where(place: Place) -> str:
    """A place as people count, from 1: "row 1, column 3", "entry 2", or "" of a single number."""
    if len(place) == 2:
        return f"row {place[0] + 1}, column {place[1] + 1}"
    return f"entry {', '.join(str(i + 1) for i in place)}" if place else ""
