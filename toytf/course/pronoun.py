"""The second example: what does *it* mean in "The animal didn't cross the street because it was too tired"?

    >>> from toytf.byhand import fmt
    >>> from toytf.course import pronoun
    >>> words, x = pronoun.sentence("tired")
    >>> added, trace = pronoun.attend(x, pronoun.DESCRIBES)
    >>> print(words[3], fmt(trace.attn_weights[3]))  # it looks at tired
    it [0.0034 0.0034 0.0034 0.0034 0.9862]

Five words of the sentence, eight features that one can read, and weights that one can read: zeros, ones, and one
factor for sharpness in the queries. Nothing was trained. Chapter 4 takes one head, chapter 6 two side by side,
chapter 7 the rules, chapter 9 a norm behind them, chapter 10 a whole layer and a second one, in which *it* finds the
word that it stands for: there each noun has one more column, its name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from toytf._door import Floats, door
from toytf._validate import as_bool, one_of
from toytf.attention import AttentionTrace, attention
from toytf.model import FeedForward
from toytf.ops import Array

FEATURES = ("animate", "thing", "action", "pronoun", "tired", "wide", "seeks animate", "seeks thing")
NAMES = ("animal", "street")  # what a noun has of its own; only chapter 10 needs it
WORDS = {"animal": "animate", "cross": "action", "street": "thing", "it": "pronoun", "tired": "tired", "wide": "wide"}
SHARPNESS = 8.0  # what a query asks for, it asks for so strongly


def sentence(last: str, *, names: bool = False) -> tuple[list[str], Array]:
    """The words *animal, cross, street, it* and a last one, each a row with a 1 in the column of what it is.

    The rows, (5, 8), have a column for each of `FEATURES`; with `names`, (5, 10), also one for each of `NAMES`, with a
    1 in the row of that noun. The last word is "tired" or "wide"; another is a `ValueError`.
    """
    words = ["animal", "cross", "street", "it", one_of("last", last, ("tired", "wide"))]
    columns = FEATURES + NAMES if as_bool("names", names) else FEATURES
    return words, np.array([[float(column in (WORDS[word], word)) for column in columns] for word in words])


@dataclass
class Head:
    """One head of width 2 with its own way back into the row, which has 8 columns, or 10 with the names."""

    w_q: Annotated[Array, "columns width"]  # what a row asks for
    w_k: Annotated[Array, "columns width"]  # what a row can be found by
    w_v: Annotated[Array, "columns width"]  # what a row hands over
    w_o: Annotated[Array, "width columns"]  # into which columns that is written


@door
def attend(x: Annotated[Floats, "n columns"], head: Head) -> tuple[Array, AttentionTrace]:
    """What one head adds to each row::

        attention(X W^Q, X W^K, X W^V) W^O

    `x` is (n, 8), or (n, 10) for a head that knows the names. Returns what is to be added to it, of its shape, and an
    `AttentionTrace`.
    """
    found, trace = attention(x @ head.w_q, x @ head.w_k, x @ head.w_v)
    return found @ head.w_o, trace


def with_names(head: Head) -> Head:
    """The same head, of 8 columns, for rows with names, of 10: it neither reads nor writes them."""
    below, behind = ((0, len(NAMES)), (0, 0)), ((0, 0), (0, len(NAMES)))
    w_q, w_k, w_v = (np.pad(w, below) for w in (head.w_q, head.w_k, head.w_v))
    return Head(w_q, w_k, w_v, np.pad(head.w_o, behind))


def rules(*, names: bool = False) -> FeedForward:
    """The two rules of chapter 7: a pronoun that could be of a kind, and seeks it, is of that kind alone.

    Each is a hidden unit. With `names` they are for rows with names, which they neither read nor write.
    """
    columns = FEATURES + NAMES if as_bool("names", names) else FEATURES
    conditions = [(kind, "pronoun", f"seeks {kind}") for kind in ("animate", "thing")]
    w_1 = np.array([[float(column in rule) for rule in conditions] for column in columns])
    w_2 = _picks("animate", "thing", columns).T - _picks("thing", "animate", columns).T
    return FeedForward(w_1, np.array([-2.0, -2.0]), w_2, np.zeros(len(columns)))


def _picks(first: str, second: str, columns: tuple[str, ...] = FEATURES) -> Array:
    """The matrix whose first column picks one column of a row, and whose second another."""
    return np.array([[float(column == picked) for picked in (first, second)] for column in columns])


# Layer 1. A pronoun asks for adjectives; an adjective hands over whom it can be said of.
DESCRIBES = Head(
    w_q=SHARPNESS * _picks("pronoun", "pronoun"),
    w_k=_picks("tired", "wide"),
    w_v=_picks("tired", "wide"),
    w_o=_picks("seeks animate", "seeks thing").T,
)
# Layer 1, a second head. A pronoun asks for nouns; a noun hands over what it is.
COULD_BE = Head(
    w_q=SHARPNESS * _picks("pronoun", "pronoun"),
    w_k=_picks("animate", "thing"),
    w_v=_picks("animate", "thing"),
    w_o=_picks("animate", "thing").T,
)
# Layer 2. A row asks for what it now seeks; a noun hands over what it is.
MEANT = Head(
    w_q=SHARPNESS * _picks("seeks animate", "seeks thing"),
    w_k=_picks("animate", "thing"),
    w_v=_picks("animate", "thing"),
    w_o=_picks("animate", "thing").T,
)
# The second layer behind a whole first one, in rows with names. A row asks for the kind that it is, a noun is found by
# its kind and a pronoun is not, and what is found hands over its name.
NAMED = Head(
    w_q=SHARPNESS * _picks("animate", "thing", FEATURES + NAMES),
    w_k=_picks("animate", "thing", FEATURES + NAMES) - _picks("pronoun", "pronoun", FEATURES + NAMES),
    w_v=_picks(*NAMES, FEATURES + NAMES),
    w_o=_picks(*NAMES, FEATURES + NAMES).T,
)
