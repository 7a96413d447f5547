"""Where an answer worked out by hand is typed, on the page of its exercise, and told what the notebook would say.

    >>> from toytf import check
    >>> from toytf.live import answer
    >>> answer.box(check.BY_HAND["4.1"]).startswith('<toytf-answer data-exercise="4.1">')
    True

The book puts a box below each exercise of `check.BY_HAND` (``book/_ext/toytf_live.py``), never into the edition
without solutions: a box holds the right numbers and how they come about. The words are those of `toytf.check.answers`.
"""

from __future__ import annotations

import numpy as np

from toytf.check.answers import ByHand, Part, Trap
from toytf.live import wire

TITLE = "Check your answer"


def box(pencil: ByHand) -> str:
    """Return the box of an exercise as HTML, folded and without its script."""
    return (
        f'<toytf-answer data-exercise="{pencil.number}">'
        f'<script type="application/json">{wire.as_json(data(pencil))}</script>'
        f"<details><summary>{TITLE}</summary></details></toytf-answer>"
    )


def data(pencil: ByHand) -> dict:
    """Return what the script needs: of each part the numbers, the known wrong ones, and the words of each entry."""
    return {"number": pencil.number, "parts": [_part(part) for part in pencil.parts]}


def _part(part: Part) -> dict:
    expected = np.asarray(part.expected, dtype=float)
    places = list(np.ndindex(expected.shape))
    traps = [trap for trap in (*part.traps, *part.slips) if np.shape(trap.value) == expected.shape]
    return {
        "name": part.name,
        "shape": expected.shape,
        "decimals": part.decimals,
        "expected": _numbers(expected),
        "room": part.room,
        "traps": [_trap(trap) for trap in traps],
        "before": [part.before(place) for place in places],
        "work": [part.work(place) for place in places],
    }


def _trap(trap: Trap) -> dict:
    told = {"looks": trap.looks, "value": _numbers(trap.value)}
    if trap.room is not None:
        rooms = _numbers(trap.room)
        told["room"] = rooms[0] if len(set(rooms)) == 1 else rooms
    return told | {"each": 1} if trap.each else told


def _numbers(array) -> list[float]:
    """One number after the other; a whole one without the point and zero that JSON would write."""
    return [int(x) if x.is_integer() else x for x in np.ravel(np.asarray(array, dtype=float)).tolist()]
