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

from toytf.check import chapters
from toytf.check.ch01 import earliest_steps, recurrence
from toytf.check.ch02 import embed, ids_or_unknown, one_hot
from toytf.check.ch03 import diagonal_spread, shift_matrix, sinusoids
from toytf.check.ch04 import attend, attend_once
from toytf.check.ch05 import scaled_scores
from toytf.check.ch06 import merge_heads, multi_head, reorder_w_o, split_heads
from toytf.check.ch07 import feed_forward, identity_weights, relu
from toytf.check.ch08 import first_bad, log_softmax, softmax
from toytf.check.ch09 import add_and_norm, layer_norm, rows_stand_alone
from toytf.check.ch10 import encoder_layer, other_rows_moved
from toytf.check.ch11 import causal_mask, masked_softmax, padding_mask, window_mask
from toytf.check.ch12 import cross_attention, cross_first, disguise_mask
from toytf.check.ch13 import beam, generate, pick, sentence_score, temperature, top_k, top_p
from toytf.check.ch14 import cross_entropy, shift_right, smoothed_goal
from toytf.check.ch15 import (
    attention_backward,
    cross_entropy_backward,
    layer_norm_backward,
    linear_backward,
    relu_backward,
    softmax_backward,
)
from toytf.check.ch16 import adam_step, clip, momentum_step, paper_schedule
from toytf.check.ch17 import contributions, even_weights, rollout
from toytf.check.ch18 import exact_matches
from toytf.check.ch19 import share_and_spread
from toytf.check.ch20 import sample_std, split_in_proj, turn_mask
from toytf.check.ch21 import cache_bytes, count_multiplications, count_parameters, table_bytes
from toytf.check.ch22 import llama_parameters
from toytf.check.core import Check, Report
from toytf.check.pencil import ByHand
from toytf.check.tries import Tries

_FOUND = chapters.modules(__path__, __name__)
CHECKS: dict[str, Check] = chapters.checkers(_FOUND)
BY_HAND: dict[str, ByHand] = chapters.by_hand(_FOUND)
_TRIES = Tries()


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
    print(*BY_HAND[exercise].reports(answer, part, _TRIES), sep="\n")


def hide_answers(hide: bool = True) -> None:
    """Let `byhand` stop at the hint, however many tries there are; with False let it go on to the sum.

    An assignment's notebook says so in its first cell. It holds until Python starts again.

    Parameters
    ----------
    hide : bool

    Raises
    ------
    TypeError
        If it is neither True nor False.

    Examples
    --------
    >>> from toytf import check
    >>> check.hide_answers()
    >>> for wrong in (7, 8, 9):
    ...     check.byhand("9.1", wrong, part="mean")
    9.1, mean: not right.
      yours 7
    9.1, mean: not right.
      yours 8
    9.1, mean: not right.
      yours 9
    >>> check.hide_answers(False)
    >>> check.byhand("9.1", 10, part="mean")
    9.1, mean: not right.
      yours 10; (1 + 3 + 3 + 5) / 4 = 3
    >>> check.byhand("9.1", 3, part="mean")
    9.1, mean: right.
    """
    if not isinstance(hide, bool):
        raise TypeError(f"hide: expected True or False, got {hide!r}")
    _TRIES.hidden = hide


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


__all__ = [
    "BY_HAND", "CHECKS", "Check", "Report", "adam_step", "add_and_norm", "attend", "attend_once",
    "attention_backward", "beam", "byhand", "cache_bytes", "causal_mask", "clip", "contributions",
    "count_multiplications", "count_parameters", "cross_attention", "cross_entropy", "cross_entropy_backward",
    "cross_first", "diagonal_spread", "disguise_mask", "earliest_steps", "embed", "encoder_layer", "even_weights",
    "exact_matches", "feed_forward", "first_bad", "generate", "hide_answers", "identity_weights", "ids_or_unknown",
    "layer_norm", "layer_norm_backward", "linear_backward", "llama_parameters", "log_softmax", "masked_softmax",
    "merge_heads", "momentum_step", "multi_head", "one_hot", "other_rows_moved", "padding_mask", "paper_schedule",
    "pick", "points", "recurrence", "relu", "relu_backward", "reorder_w_o", "rollout", "rows_stand_alone",
    "sample_std", "scaled_scores", "sentence_score", "share_and_spread", "shift_matrix", "shift_right",
    "sinusoids", "smoothed_goal", "softmax", "softmax_backward", "split_heads", "split_in_proj", "table_bytes",
    "temperature", "top_k", "top_p", "turn_mask", "window_mask",
]  # fmt: skip
