"""How much a wrong answer is told, and how many tries there were."""

from __future__ import annotations

from enum import IntEnum

import numpy as np


class Stage(IntEnum):
    """What a wrong answer is told."""

    HINT = 1  # which entry is off, and what it looks like
    BEFORE = 2  # the step before: what meets what
    SUM = 3  # how the right number comes about


class Tries:
    """The wrong answers to each part of each exercise, until Python ends.

    Attributes
    ----------
    hidden : bool
        Whether a wrong answer is told a hint and never more.

    Examples
    --------
    >>> tries = Tries()
    >>> [tries.wrong("9.1", mine).name for mine in (4, 4, 5, 6, 7)]
    ['HINT', 'HINT', 'BEFORE', 'SUM', 'SUM']
    """

    def __init__(self) -> None:
        self.hidden = False
        self._seen: dict[str, set[str]] = {}

    def right(self, about: str) -> None:
        """Begin anew, after a right answer."""
        self._seen.pop(about, None)

    def wrong(self, about: str, mine) -> Stage:
        """Count a wrong answer and say what it is told; the same answer again is no new try."""
        seen = self._seen.setdefault(about, set())
        if len(seen) < Stage.SUM:
            seen.add(repr((np.asarray(mine, dtype=float) + 0.0).tolist()))
        return Stage.HINT if self.hidden else Stage(len(seen))
