"""Checkers that name the mistake: ``check.softmax(mine)``.

Examples
--------
>>> import numpy as np
>>> from toytf import check
>>> def mine(scores):
...     return np.exp(scores) / np.exp(scores).sum()
>>> check.softmax(mine)  # doctest: +ELLIPSIS
softmax: not yet. ...
"""

from __future__ import annotations

from toytf.check import attending, beyond, decoding, inputs, layers, learning
from toytf.check.core import Check, Report
from toytf.check.pencil import ByHand

_CHAPTERS = (inputs, attending, layers, decoding, learning, beyond)
CHECKS: dict[str, Check] = {check.name: check for part in _CHAPTERS for check in part.CHECKS}
BY_HAND: dict[str, ByHand] = {answer.number: answer for part in _CHAPTERS for answer in part.BY_HAND}
globals().update(CHECKS)  # check.softmax, check.layer_norm, ...


def byhand(exercise: str, answer, part: str | None = None) -> None:
    """Check what you worked out with a pencil, and print which entry is wrong and how it comes about.

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
    print(*BY_HAND[exercise].reports(answer, part), sep="\n")


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
    pencil = BY_HAND[exercise]
    return round(of * sum(map(bool, pencil.reports(mine))) / len(pencil.parts), 2)


__all__ = ["BY_HAND", "CHECKS", "Check", "Report", "byhand", "points", *CHECKS]
