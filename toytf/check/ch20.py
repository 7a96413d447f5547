"""Checkers of chapter 20: a model that writes."""

import numpy as np

from toytf.check.answers import part
from toytf.check.core import Case, checker


@checker("ex-20-1", results=("tgt", "goal"))
def causal_batch(ids, sos, eos):
    """Make texts their own goal: what is read, and what is to be said, one token further on.

    ids: array of integers of shape (batch, n), texts filled up with 0 at the end. sos and
    eos: the ids of start and end. Returns tgt and goal, each of shape (batch, n + 1): tgt
    begins with sos, goal has eos behind the last token; both are filled up with 0.
    """
    column = np.zeros((len(ids), 1), dtype=int)
    tgt = np.hstack([column + sos, ids])
    goal = np.hstack([ids, column])
    goal[np.arange(len(ids)), (ids != 0).sum(axis=1)] = eos
    return tgt, goal


causal_batch.cases = lambda rng: [
    Case(([[5, 6, 7]], 1, 2), "one text"),
    Case(([[5, 6, 7], [8, 9, 0]], 1, 2), "a shorter text beside it"),
    Case(([[4, 0, 0], [3, 4, 5], [5, 5, 0]], 2, 1), "other ids for start and end"),
    Case((np.where(np.arange(6) < rng.integers(1, 7, size=(4, 1)), rng.integers(3, 9, size=(4, 6)), 0), 1, 2)),
]
causal_batch.knows("""
    - the goal not moved on: goal = np.hstack([ids, column]) => goal = np.hstack([column + sos, ids])
      Row t reads token t and should say token t + 1: the goal has no start token, and everything one place earlier.
    - no end: (ids != 0).sum(axis=1)] = eos => (ids != 0).sum(axis=1)] = 0
      Without eos as its last goal the model never learns to stop.
    - the end behind the padding: (ids != 0).sum(axis=1) => ids.shape[1]
      The end follows the last token of each text, not the padding.
    - the end in the place of the last token: (ids != 0).sum(axis=1)] => (ids != 0).sum(axis=1) - 1]
      The last token is to be said as well; eos comes after it.
    - no start: column + sos, ids] => ids, column]
      The first token has to be foretold too, so something must stand before it: sos.
    - start and end exchanged: column + sos => column + eos, and axis=1)] = eos => axis=1)] = sos
      sos stands where reading begins, eos is what is said last.
""")


@checker("ex-20-4", results=("kept",))
def kept_colour(ids, colours):
    """Say of each text whether it names no two different colours.

    ids: array of integers of shape (batch, n). colours: array of the ids that are colours.
    Returns an array of shape (batch,): True where at most one of them stands in the text,
    however often.
    """
    return (ids[..., None] == colours).any(axis=1).sum(axis=-1) <= 1


kept_colour.cases = lambda rng: [
    Case(([[1, 7, 2, 7], [1, 7, 2, 8]], [7, 8, 9]), "the same colour twice, and two colours"),
    Case(([[1, 2, 3, 4]], [7, 8]), "no colour"),
    Case(([[9, 8, 7], [7, 1, 1], [8, 8, 8]], [7, 8, 9]), "three, one, and one three times"),
    Case((rng.integers(0, 12, size=(6, 5)), [3, 4, 5, 6])),
]
kept_colour.knows("""
    - colours counted as often as they stand there: .any(axis=1).sum(axis=-1) => .sum(axis=(1, 2))
      A colour that is said twice is kept, not broken. Count which ones occur, not how often.
    - a text without a colour called broken: <= 1 => == 1
      Where no colour is said none is broken.
    - broken for kept: <= 1 => > 1
      True stands for a promise that is kept.
    - one answer for all texts: .any(axis=1).sum(axis=-1) => .any(axis=(0, 1)).sum(axis=-1) + 0 * ids[:, 0]
      Each text has a colour of its own: look at each by itself.
    - neighbours compared: (ids[..., None] == colours).any(axis=1).sum(axis=-1) <= 1
        => ~(np.isin(ids[:, 1:], colours) & np.isin(ids[:, :-1], colours)).any(axis=1)
      The second colour may stand anywhere in the text, not just behind the first.
    - two allowed: <= 1 => <= 2
      Two different colours for one thing are a broken promise.
""")


# ---------------------------------------------------------------- by hand

BY_HAND = {}
BY_HAND["20.2"] = [
    part("loss", np.log(8) / 3, "(log 2 + log 4 + log 1) / 3 = log 8 / 3 = 0.6931", decimals=4)
    .step("the mean of -log p over the three tokens")
    .knows_logarithms()
    .knows(np.log(8), "the sum of the three. The loss is their mean.")
    .knows((1 / 2 + 1 / 4 + 1) / 3, "the mean of the probabilities. The loss takes -log of each first."),
    part("perplexity", 2, "e^(log 8 / 3), the cube root of 8, 2")
    .step("e to the loss")
    .knows(8, "e to the sum. Perplexity is e to the mean."),
]
BY_HAND["20.3"] = [
    part("copies", np.log(8) / 10, "log 8 / 10 = 0.2079", decimals=4)
    .step("the log of the choices, over all tokens of the text")
    .knows_logarithms()
    .knows(np.log(8), "what the choice costs in all. It is spread over ten tokens."),
    part("forgets", np.log(64) / 10, "(log 8 + log 8) / 10 = 0.4159", decimals=4)
    .step("the same choice, paid for both times")
    .knows_logarithms()
    .knows(np.log(8) / 10, "as little as the one that copies. Whoever forgets pays for the colour twice."),
]
