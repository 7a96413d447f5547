"""Wrong answers that one knows: those of one exercise, and those that happen with any number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

Array = np.ndarray

NEVER = -1.0  # a room that nothing fits into


@dataclass(frozen=True)
class WrongAnswer:
    """A wrong answer that one knows, and what it looks like: "the squares divided by 3, ...".

    It fits what lies as near as `room` to its value: without a room, as near as a number with two decimals lies to
    what it stands for.

    >>> import numpy as np
    >>> wrong = WrongAnswer([-4, -8], "the other sign.", each=True)
    >>> wrong.fits(np.array([4, -8]), np.array([4, 8]), room=1e-9)
    True
    """

    value: object  # in the shape of the right answer
    looks: str  # what to say to it, which holds neither the right number nor its sum
    room: object = None  # one for all entries or one for each; `NEVER` at an entry that does not count
    each: bool = False  # whether each wrong entry is looked at for itself, and those that are right may stay

    def fits(self, mine: Array, expected: Array, room: float) -> bool:
        """Whether a wrong answer is this one; `room` is what a right number may differ by."""
        value = np.asarray(self.value, dtype=float)
        if value.shape != mine.shape:
            return False
        away = np.abs(mine - value)
        near = away <= (max(room, 0.006) if self.room is None else np.asarray(self.room))
        off = np.abs(mine - expected)
        if self.each:
            wrong = ~(off <= room)
            return bool(wrong.any() and near[wrong].all())
        return bool(near.all() and away.max() <= off.max())


def room_of(expected: Array, decimals: int) -> float:
    """How far a right answer may lie from the unrounded one: what rounding takes, whichever way a half goes."""
    has_fraction = bool((expected != np.round(expected)).any())
    return 0.5 * 10.0**-decimals * (1 + 1e-9) if decimals or has_fraction else 1e-9


def in_words(decimals: int) -> str:
    """A count of decimals, in words as far as they go: "four decimals"."""
    words = dict(enumerate(("no", "one", "two", "three", "four", "five", "six")))
    return f"{words.get(decimals, decimals)} decimal{'s' * (decimals != 1)}"


def common_mistakes(expected, decimals: int, percent: bool = False) -> tuple[WrongAnswer, ...]:
    """What goes wrong with any number, as wrong answers: rounding, order, sign, percent, the point.

    The right answer comes unrounded, with the number of decimals that is asked for, and whether that is in percent.
    The first that fits is the one to name. None is right. What is nearly right stands last: its value is
    the right one, its room a little more.

    >>> [float(wrong.value) for wrong in common_mistakes(0.0625, 4)]
    [0.1, 0.06, 0.063, 0.062, -0.0625, 6.25, 0.625, 0.00625, 0.0625]
    """
    e = np.asarray(expected, dtype=float)
    found: dict[tuple[bytes, bytes], WrongAnswer] = {}
    for wrong in (*_rounded(e, decimals), *_turned(e), *_scaled(e, decimals, percent)):
        value, room = np.broadcast_arrays(np.asarray(wrong.value) + 0.0, wrong.room)
        if (np.abs(value - e) > room_of(e, decimals))[room >= 0].any():  # it has an entry that is not right
            found.setdefault((value.tobytes(), room.tobytes()), wrong)
    return (*found.values(), *_nearly(e, decimals))


def _rounded(e: Array, decimals: int) -> Iterator[WrongAnswer]:
    """Right, but with too few decimals, or cut off where it should be rounded."""
    for d in range(decimals):
        counts = (np.abs(e) >= 10) if d == 0 else True
        for half in (0.5, 0.0):
            looks = f"the right number with too few decimals. Give {in_words(decimals)}."
            yield _each(_cut(e, d, half), looks, 1e-9, counts)
    if decimals:
        yield _each(_cut(e, decimals), f"the right number cut off. Round it to {in_words(decimals)}.", 1e-9)


def _turned(e: Array) -> Iterator[WrongAnswer]:
    """Right numbers at wrong places."""
    room = 1e-9 + (0.006 if (e != np.round(e)).any() else 0.0)
    if e.ndim == 2 and e.shape[0] == e.shape[1]:
        yield WrongAnswer(e.T, "the right table turned over: rows and columns are exchanged.", room)
    if e.ndim == 1 and len(e) > 1:
        yield WrongAnswer(e[::-1], "the right numbers in reverse order.", room)


def _scaled(e: Array, decimals: int, percent: bool) -> Iterator[WrongAnswer]:
    yield _each(-e, "the right number with the other sign.", np.minimum(0.006, 0.02 * np.abs(e)))
    if decimals and not percent and ((e >= 0) & (e <= 1)).all():
        yield _each(100 * e, "percent. Asked is a part of 1.", np.minimum(0.5, 0.02 * 100 * np.abs(e)))
    one_place = "The point is one place off."
    yield _each(10 * e, f"ten times the right number. {one_place}", np.minimum(0.06, 0.02 * 10 * np.abs(e)))
    many = (np.abs(e) >= 100) | (e != np.round(e))  # else a tenth is a number like any other
    yield _each(e / 10, f"a tenth of the right number. {one_place}", np.minimum(0.006, 0.002 * np.abs(e)), many)


def _nearly(e: Array, decimals: int) -> Iterator[WrongAnswer]:
    """So near that a number on the way was rounded."""
    near = np.minimum(0.01 * np.abs(e), 20 * 10.0**-decimals)
    counts = near > room_of(e, decimals)
    if decimals and counts.any():
        looks = "a number that is nearly right. Keep more decimals on the way, and round at the end to "
        yield WrongAnswer(e, f"{looks}{in_words(decimals)}.", np.where(counts, near, NEVER), each=True)


def _each(value: Array, looks: str, room, counts=True) -> WrongAnswer:
    """A mistake in single entries; a zero looks like nothing."""
    return WrongAnswer(value, looks, np.where((value != 0) & counts, room, NEVER), each=True)


def _cut(e: Array, d: int, half: float = 0.0) -> Array:
    """Cut off after so many decimals; with a half, rounded."""
    return np.sign(e) * np.floor(np.abs(e) * 10**d + half + 1e-9) / 10**d
