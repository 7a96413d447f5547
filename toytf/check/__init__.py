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
        raise ValueError(f"exercise: expected one of {', '.join(BY_HAND)}, got {exercise!r}")
    print(*BY_HAND[exercise].reports(answer, part), sep="\n")


__all__ = ["BY_HAND", "CHECKS", "Check", "Report", "byhand", *CHECKS]
