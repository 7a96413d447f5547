"""Checkers that name the mistake: ``check.softmax(mine)``.

    >>> import numpy as np
    >>> from toytf import check
    >>> def mine(scores):
    ...     return np.exp(scores) / np.exp(scores).sum()
    >>> check.softmax(mine)  # doctest: +ELLIPSIS
    softmax: not yet. ...

Each checker has the name of the function that its exercise asks for.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module

from toytf.check.answers import Attempts, ByHand
from toytf.check.core import Check, Report

__all__ = ["BY_HAND", "CHECKS", "Check", "Report", "byhand", "hide_answers", "points"]

CHECKS: dict[str, Check] = {}  # by the function's name; in the order of the chapters
BY_HAND: dict[str, ByHand] = {}  # by the exercise's number
_ATTEMPTS = Attempts()


def _collect() -> None:
    """Import the chapters' files, ``ch01.py`` for the first, and keep what they define."""
    for name in sorted(found.name for found in pkgutil.iter_modules(__path__) if found.name.startswith("ch")):
        chapter = import_module(f"{__name__}.{name}")
        CHECKS.update({one.name: one for one in vars(chapter).values() if isinstance(one, Check)})
        BY_HAND.update({number: ByHand(number, tuple(parts)) for number, parts in chapter.BY_HAND.items()})


_collect()
globals().update(CHECKS)
__all__ += CHECKS


def byhand(exercise: str, answer, part: str | None = None) -> None:
    """Check what you worked out with a pencil, and print which entry is wrong.

    The first wrong answer is told where it is wrong and, if it is a known slip, what it looks like. The
    second is told the step before the result, the third how the result comes about. The same answer
    again is no new try; a right one begins anew, and so does another start of Python. After
    `hide_answers` the first is all that is told.

    Parameters
    ----------
    exercise : str
        Its number in the book: "4.2".
    answer : array_like or dict
        Your number, row or table, rounded as the exercise asks. For several at once a dictionary:
        ``{"mean": 3, "variance": 2}``.
    part : str, optional
        Which answer, if the exercise asks for several; an error lists their names.

    Raises
    ------
    ValueError
        If there is no such by-hand exercise, or it has no such part.

    Examples
    --------
    >>> from toytf import check
    >>> check.byhand("9.1", 3, part="mean")
    9.1, mean: right.
    """
    if exercise not in BY_HAND:
        if not isinstance(exercise, str):
            raise ValueError(f'exercise: expected its number in quotation marks, such as "4.2", got {exercise!r}')
        raise ValueError(f"exercise: expected one of {', '.join(BY_HAND)}, got {exercise!r}")
    print(*BY_HAND[exercise].reports(answer, part, _ATTEMPTS), sep="\n")


def hide_answers(hide: bool = True) -> None:
    """Let `byhand` stop at the hint, however many tries there are; with False let it go on to the sum.

    An assignment's notebook says so in its first cell. It holds until Python starts again.

    Raises
    ------
    TypeError
        If it is neither True nor False.
    """
    if not isinstance(hide, bool):
        raise TypeError(f"hide: expected True or False, got {hide!r}")
    _ATTEMPTS.hidden = hide


def points(exercise: str, mine, of: float) -> float:
    """What an answer earns: ``of`` points if it is right, for by-hand answers the share of its parts that are.

    An assignment's notebook ends each exercise with it: nbgrader takes the number that a cell shows
    for the points, and the notebook runs on where nothing is right yet.

    Parameters
    ----------
    exercise : str
        The name of a function, "softmax", or the number of a by-hand exercise, "9.1".
    mine : callable, array_like or dict
        The function or the answers.
    of : float
        The points for a right answer.

    Raises
    ------
    ValueError
        If there is no such exercise.

    Examples
    --------
    >>> from toytf import check
    >>> check.points("9.1", {"mean": 3, "variance": None}, of=5)
    1.0
    """
    if exercise in CHECKS:
        return of if CHECKS[exercise].report(mine) else 0
    if exercise not in BY_HAND:
        raise ValueError(f"exercise: expected a function of an exercise or a number such as 9.1, got {exercise!r}")
    by_hand = BY_HAND[exercise]
    return round(of * sum(map(bool, by_hand.reports(mine))) / len(by_hand.parts), 2)
