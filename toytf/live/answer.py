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

from toytf.check.answers import ByHand, Part, WrongAnswer
from toytf.live import wire

TITLE = "Check your answer"


def box(exercise: ByHand) -> str:
    """Return the box of an exercise as HTML, folded and without its script."""
    return (
        f'<toytf-answer data-exercise="{exercise.number}">'
        f'<script type="application/json">{wire.as_json(data(exercise))}</script>'
        f"<details><summary>{TITLE}</summary></details></toytf-answer>"
    )


def data(exercise: ByHand) -> dict:
    """Return what the script needs: of each part the numbers, the known wrong ones, and the words of each entry."""
    return {"number": exercise.number, "parts": [_part(part) for part in exercise.parts]}


def _part(part: Part) -> dict:
    expected = np.asarray(part.expected, dtype=float)
    places = list(np.ndindex(expected.shape))
    wrong_answers = [a for a in (*part.wrong_answers, *part.common_mistakes) if np.shape(a.value) == expected.shape]
    return {
        "name": part.name,
        "shape": expected.shape,
        "decimals": part.decimals,
        "expected": _numbers(expected),
        "room": part.room,
        "traps": [_wrong_answer(a) for a in wrong_answers],
        "before": [part.before(place) for place in places],
        "work": [part.work(place) for place in places],
    }


def _wrong_answer(wrong: WrongAnswer) -> dict:
    told = {"looks": wrong.looks, "value": _numbers(wrong.value)}
    if wrong.room is not None:
        rooms = _numbers(wrong.room)
        told["room"] = rooms[0] if len(set(rooms)) == 1 else rooms
    return told | {"each": 1} if wrong.each else told


def _numbers(array) -> list[float]:
    """One number after the other; a whole one without the point and zero that JSON would write."""
    return [int(x) if x.is_integer() else x for x in np.ravel(np.asarray(array, dtype=float)).tolist()]
