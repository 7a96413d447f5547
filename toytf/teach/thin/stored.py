"""Checks that know their results by heart, and by-hand answers under a seal.

The package for students has this file as `toytf.check.stored`, beside `toytf.check.compare`, which says the
same words as ever. So it imports nothing else of `toytf`.

A function's check keeps its inputs and the right results. A known mistake is kept as a hash of what it gives, and
what is said to it lies hidden under that: who makes the mistake opens the words.

A number worked out by hand is kept as a slow hash with a salt of its own (scrypt), one for each entry. Yours is
hashed in the same way; equal hashes mean that it is right, and nothing leads back from a hash but trying.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from toytf._validate import shape_text
from toytf.check.compare import Case, Inputs, Mistake, Outcome, Report, by_part, collect, diagnose, not_a_function

COST = {"n": 2**14, "r": 8, "p": 1, "maxmem": 2**26}  # a twentieth of a second for each number that is tried
TAG = 8  # bytes of a hash that are kept to compare; the rest is a key

# ---------------------------------------------------------------- values as JSON


def packed(value: Any) -> Any:
    """An argument or a result as JSON has it; every float keeps all of its digits.

    Examples
    --------
    >>> packed((2, np.array([[1.0, 0.1]])))
    {'tuple': [2, {'dtype': '<f8', 'shape': [1, 2], 'numbers': [1.0, 0.1]}]}
    """
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.generic):
        value = np.asarray(value)
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
        return {"dtype": value.dtype.str, "shape": list(value.shape), "numbers": value.ravel().tolist()}
    for kind in (tuple, list):
        if isinstance(value, kind):
            return {kind.__name__: [packed(part) for part in value]}
    raise TypeError(f"value: expected numbers, arrays of them, text, tuples or lists, got {type(value).__name__}")


def unpacked(found: Any) -> Any:
    """What `packed` was given.

    Examples
    --------
    >>> unpacked(packed((2, [None, "a"])))
    (2, [None, 'a'])
    """
    if not isinstance(found, dict):
        return found
    if "numbers" in found:
        return np.array(found["numbers"], dtype=found["dtype"]).reshape(found["shape"])
    ((kind, parts),) = found.items()
    return {"tuple": tuple, "list": list}[kind](map(unpacked, parts))


# ---------------------------------------------------------------- functions


class Elsewhere:
    """Stands where a right or a wrong function would: what it gives is known, how it is made is not here."""

    def __call__(self, *args):
        raise LookupError("this package has results of this function, and not the function")


@dataclass(frozen=True)
class Look:
    """How the results of a known mistake are told from others: by the cells of a grid in which its numbers lie.

    Parameters
    ----------
    step, offset : float
        Of the grid; none of the mistake's numbers lies within rounding of its lines.
    tag : str
        The first bytes of the hash of all cells.
    words : str
        Name and advice, hidden under the rest of it.
    """

    step: float
    offset: float
    tag: str
    words: str

    def opened(self, outcomes: Sequence[Outcome]) -> Mistake | None:
        """The mistake, if these are its results."""
        key = cells_hash(outcomes, self.step, self.offset)
        if key[:TAG].hex() != self.tag:
            return None
        name, advice = json.loads(hidden(bytes.fromhex(self.words), key[TAG:]))
        return Mistake(name, advice, Elsewhere())


def cells_hash(outcomes: Sequence[Outcome], step: float, offset: float) -> bytes:
    """A hash of the kinds of results, of their shapes, and of the cells in which their numbers lie.

    Large numbers have wider cells (arsinh), for a tolerance is relative to them.
    """
    whole = hashlib.sha256()
    for outcome in outcomes:
        whole.update(f"{outcome.kind}:".encode())
        for array in outcome.arrays:
            cells = np.floor(np.arcsinh(array.astype(float)) / step + offset)
            numbers = " ".join(f"{cell:.0f}" for cell in cells.ravel().tolist())
            whole.update(f"{array.dtype.kind == 'b'} {array.shape} {numbers};".encode())
    return whole.digest()


@dataclass(eq=False)
class StoredCheck:
    """The checker of one exercise, with inputs and results that were computed elsewhere.

    Parameters
    ----------
    name, exercise, parameters, results, tolerance
        As `toytf.check.core.Check` has them.
    inputs : Inputs
        The cases, with what `expected` gives on them.
    expected : Elsewhere
    looks : sequence of pairs of Look
        For each known mistake: for numbers in full, and for those of float32.
    """

    name: str
    exercise: str
    parameters: list[str]
    results: tuple[str, ...]
    tolerance: float
    inputs: Inputs
    expected: Callable
    looks: Sequence[tuple[Look, Look]]
    __doc__: str = field(default="")

    def __call__(self, mine: Callable) -> None:
        """Print what `report` says."""
        print(self.report(mine))

    def report(self, mine: Callable) -> Report:
        """Compare `mine` with the right results."""
        if (refused := not_a_function(self.name, mine)) is not None:
            return refused
        return diagnose(self, self.inputs, collect(mine, self.inputs))

    def looks_like(self, inputs: Inputs, outcomes: Sequence[Outcome]) -> Mistake | None:
        """The first known mistake that gives these outcomes."""
        single = any(array.dtype == np.float32 for outcome in outcomes for array in outcome.arrays)
        opened = (look[single].opened(outcomes) for look in self.looks)
        return next((mistake for mistake in opened if mistake is not None), None)


def check_from(found: Mapping) -> StoredCheck:
    """A check from what `toytf.teach.thin.recorded` wrote."""
    inputs = Inputs(Case(unpacked(args), about) for args, about in found["cases"])
    expected = Elsewhere()
    right = [Outcome(kind, tuple(map(unpacked, arrays)), text) for kind, arrays, text in found["right"]]
    inputs.knows(expected, right)
    return StoredCheck(
        found["name"],
        found["exercise"],
        found["parameters"],
        tuple(found["results"]),
        found["tolerance"],
        inputs,
        expected,
        [(Look(*full), Look(*single)) for full, single in found["looks"]],
        found["doc"],
    )


# ---------------------------------------------------------------- by hand


@lru_cache(maxsize=4096)
def sealed(text: str, salt: str) -> bytes:
    """A slow hash of 32 bytes."""
    return hashlib.scrypt(text.encode(), salt=salt.encode(), dklen=32, **COST)


def hidden(words: bytes, key: bytes) -> bytes:
    """Words under a key, or words that were, in the open again."""
    return bytes(a ^ b for a, b in zip(words, hashlib.shake_256(key).digest(len(words)), strict=True))


def steps(values, decimals: int) -> np.ndarray:
    """Numbers as whole steps of their last decimal: 1.4142 with two decimals is 141."""
    return np.rint(np.asarray(values, dtype=float) * 10.0**decimals) + 0.0


def step_text(values) -> str:
    """Steps as they are hashed."""
    return " ".join(f"{value:.0f}" for value in np.ravel(values))


@dataclass(frozen=True)
class SealedPart:
    """One by-hand answer of which only hashes are here.

    Parameters
    ----------
    name, shape, decimals
        What is asked for, and to how many decimals.
    exact : bool
        Whether the answers are whole, so that 2.4 is not taken for 2.
    salt : str
    entries : tuple of tuple of str
        For each entry the tags of the answers that are right: one, or two where half a step may be rounded either way.
    traps : tuple of (int, str, str)
        Known wrong answers: with how many decimals they are recognised, the tag, and the words, hidden under the key.
    """

    name: str
    shape: tuple[int, ...]
    decimals: int
    exact: bool
    salt: str
    entries: tuple[tuple[str, ...], ...]
    traps: tuple[tuple[int, str, str], ...]

    def compare(self, about: str, answer: Any) -> Report:
        """Say which entries are right."""
        if answer is None:
            return Report(False, f"{about}: not answered yet.")
        try:
            mine = np.asarray(answer, dtype=float)
        except (TypeError, ValueError):
            return Report(False, f"{about}: expected numbers, got {answer!r}.")
        if mine.shape != self.shape:
            turned = mine.ndim > 1 and mine.shape == self.shape[::-1]
            hint = " It is the expected shape turned over." if turned else ""
            expected, got = shape_text(self.shape), shape_text(mine.shape)
            return Report(False, f"{about}: expected shape {expected}, got {got}.{hint}")
        bad = ~self.right(mine)
        n = int(bad.sum())
        if not n:
            return Report(True, f"{about}: right.")
        lines = [f"It looks like {looks}" for looks in self._seen(mine)]
        for place in np.argwhere(bad)[:3]:
            at = _where(tuple(int(i) for i in place))
            lines.append(f"{f'{at}: ' if at else ''}yours {mine[tuple(place)]:.10g}")
        if n > 3:
            lines.append(f"and {n - 3} more")
        said = "not right." if mine.ndim == 0 else f"{n} of {mine.size} entries differ{'s' * (n == 1)}."
        return Report(False, f"{about}: {said}", tuple(lines))

    def right(self, mine: np.ndarray) -> np.ndarray:
        """Which entries of an answer are right."""
        places = range(len(self.entries))
        found = [self._is_right(value, i) for value, i in zip(np.ravel(mine), places, strict=True)]
        return np.array(found, dtype=bool).reshape(self.shape)

    def _is_right(self, value: float, place: int) -> bool:
        if not np.isfinite(value) or (self.exact and abs(value - np.rint(value)) > 1e-9):
            return False
        key = sealed(step_text(steps(value, self.decimals)), f"{self.salt}/{place}")
        return key[:TAG].hex() in self.entries[place]

    def _seen(self, mine: np.ndarray) -> list[str]:
        """What a wrong answer looks like, if it is a known one."""
        if not np.isfinite(mine).all():
            return []
        for i, (decimals, tag, words) in enumerate(self.traps):
            key = sealed(step_text(steps(mine, decimals)), f"{self.salt}/trap {i}")
            if key[:TAG].hex() == tag:
                return [hidden(bytes.fromhex(words), key[TAG:]).decode()]
        turned = mine.ndim == 2 and mine.shape == mine.T.shape and self.right(mine.T).all()
        return ["the right table turned over: rows and columns are exchanged."] * bool(turned)


def _where(place: tuple[int, ...]) -> str:
    """A place as people count: from 1."""
    if len(place) == 2:
        return f"row {place[0] + 1}, column {place[1] + 1}"
    return f"entry {', '.join(str(i + 1) for i in place)}" if place else ""


@dataclass(frozen=True)
class SealedByHand:
    """The answers of one by-hand exercise, sealed."""

    exercise: str
    number: str
    parts: tuple[SealedPart, ...]

    def reports(self, answer, part: str | None = None) -> list[Report]:
        """Compare answers with the right ones, one report for each.

        Raises
        ------
        ValueError
            If the exercise has no such part, or has several and none is named.
        """
        known = {p.name: p for p in self.parts}
        answers = by_part(self.number, known, answer, part)
        return [
            known[name].compare(f"{self.number}, {name}" if name else self.number, value)
            for name, value in answers.items()
        ]


def by_hand_from(found: Mapping) -> SealedByHand:
    """A by-hand exercise from what `toytf.teach.thin.sealed_by_hand` wrote."""
    parts = tuple(
        SealedPart(
            one["name"],
            tuple(one["shape"]),
            one["decimals"],
            one["exact"],
            one["salt"],
            tuple(map(tuple, one["entries"])),
            tuple(map(tuple, one["traps"])),
        )
        for one in found["parts"]
    )
    return SealedByHand(found["exercise"], found["number"], parts)


# ---------------------------------------------------------------- what a notebook calls


class Shelf:
    """The checks of one assignment, and what `toytf.check` has beside them."""

    def __init__(self, text: str | bytes):
        found = json.loads(text)
        self.title = found["title"]
        self.checks = {one["name"]: check_from(one) for one in found["checks"]}
        self.by_hand = {one["number"]: by_hand_from(one) for one in found["by hand"]}

    def byhand(self, exercise: str, answer, part: str | None = None) -> None:
        """Check what you worked out with a pencil, and print which entry is wrong.

        As `toytf.check.byhand`, but right answers are not here, so none is told.
        """
        print(*self._pencil(exercise).reports(answer, part), sep="\n")

    def points(self, exercise: str, mine, of: float) -> float:
        """What an answer earns: ``of`` points if it is right, for by-hand answers the share of its parts that are."""
        if exercise in self.checks:
            return of if self.checks[exercise].report(mine) else 0
        pencil = self._pencil(exercise)
        return round(of * sum(map(bool, pencil.reports(mine))) / len(pencil.parts), 2)

    def hide_answers(self, *_, **__) -> None:
        """Nothing: there are no answers here to be hidden or shown."""

    def missing(self, name: str) -> AttributeError:
        """What is said to somebody who asks for a check that is not here."""
        here = ", ".join([*self.checks, *self.by_hand]) or "none"
        return AttributeError(f"check.{name}: this package has the checks of {self.title!r} alone: {here}")

    def _pencil(self, exercise: str) -> SealedByHand:
        if exercise not in self.by_hand:
            here = ", ".join([*self.checks, *self.by_hand]) or "none"
            raise ValueError(f"exercise: expected one of {self.title!r}: {here}; got {exercise!r}")
        return self.by_hand[exercise]
