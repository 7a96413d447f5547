"""Checkers of chapters 7 to 10: from the feed-forward network to the encoder."""

from __future__ import annotations

import numpy as np

from toytf import ops
from toytf.check.core import Case, Check, Mistake
from toytf.check.pencil import ByHand, Part


def softmax(scores):
    """Turn each row of scores into weights: ``exp(s_i) / sum_j exp(s_j)``.

    scores: array of shape (..., n). Returns an array of the same shape; each row sums to 1.
    It must survive a score of 1000.
    """
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exps / exps.sum(axis=-1, keepdims=True)


def _softmax_cases(rng):
    return [
        Case((np.array([0.0, np.log(3.0)]),), "weights 1/4 and 3/4"),
        Case((np.array([[1.0, 2.0, 3.0], [3.0, 3.0, 0.0]]),), "two rows"),
        Case((np.array([[1000.0, 1001.0], [-1000.0, -1000.0]]),), "scores that overflow exp"),
        Case((rng.normal(size=(2, 3, 4)) * 5,), "two sentences, three queries, four keys"),
    ]


SOFTMAX = Check(
    solution=softmax,
    expected=ops.softmax,
    cases=_softmax_cases,
    exercise="ex-08-8",
    mistakes=(
        Mistake(
            "no maximum subtracted",
            "exp overflows above 709.78 (chapter 8). Subtract the largest score of each row first; the weights "
            "stay the same.",
            lambda s: np.exp(s) / np.exp(s).sum(axis=-1, keepdims=True),
        ),
        Mistake(
            "summed over the wrong axis",
            "The weights of one query sum to 1 along its row: axis=-1.",
            lambda s: np.exp(s - s.max(axis=0)) / np.exp(s - s.max(axis=0)).sum(axis=0),
        ),
        Mistake(
            "one sum for the whole array",
            "sum() without an axis adds up all rows. Each row needs its own sum: axis=-1, keepdims=True.",
            lambda s: np.exp(s - s.max()) / np.exp(s - s.max()).sum(),
        ),
    ),
)

CHECKS = [SOFTMAX]

_ROW = np.array([1.0, 3.0, 3.0, 5.0])

BY_HAND = [
    ByHand(
        "ex-09-1",
        (
            Part(_ROW.mean(), lambda _: "(1 + 3 + 3 + 5) / 4 = 3", name="mean"),
            Part((_ROW - 3) ** 2, name="squared distances"),
            Part(_ROW.var(), lambda _: "(4 + 0 + 0 + 4) / 4 = 2", name="variance"),
            Part(_ROW.std(), lambda _: "the root of 2, about 1.4142", decimals=4, name="deviation"),
            Part((_ROW - 3) / _ROW.std(), decimals=4, name="result"),
        ),
    ),
]
