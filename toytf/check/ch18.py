"""Checkers of chapter 18: counts."""

from math import comb

import numpy as np

from toytf.byhand import Prod, Quotient
from toytf.check.answers import part, worked
from toytf.check.core import Case, checker


def _exact_cases(rng):
    goal = rng.integers(3, 9, size=(6, 5))
    is_token = np.arange(5) < rng.integers(2, 6, size=(6, 1))
    said = np.where(is_token, goal, rng.integers(3, 9, size=(6, 5)))
    wrong = said.copy()
    wrong[[1, 4], [0, 1]] += 1
    small = np.array([[4, 5, 6], [7, 8, 9], [4, 5, 6]])
    spoken = np.array([[4, 5, 6], [7, 1, 9], [4, 5, 9]])
    flags = np.array([[True, True, True], [True, True, False], [True, True, False]])
    return [
        Case(([[4, 5]], [[4, 6]], [[True, True]]), "one sentence of two tokens"),
        Case((spoken, small, flags), "three sentences, two of them with padding"),
        Case((np.where(flags, spoken, 0), np.where(flags, small, 0), flags), "the same, with 0 said at padding"),
        Case((said, np.where(is_token, goal, 0), is_token), "six right sentences, anything said at padding"),
        Case((wrong, np.where(is_token, goal, 0), is_token), "six sentences, two with one wrong token"),
    ]


@checker("ex-18-7", cases=_exact_cases)
def exact_matches(said, goal, is_token):
    """Say for each sentence whether all its tokens are right.

    said: (sentences, n), the ids that the model says. goal: (sentences, n), the right
    ids. is_token: boolean array (sentences, n), False where only padding stands.
    Padding does not count. Returns a boolean array of shape (sentences,).
    """
    return ((said == goal) | ~is_token).all(axis=-1)


exact_matches.knows("""
    - padding counted: (said == goal) | ~is_token => said == goal
      What the model says where only padding stands does not matter, and it may say anything there. Let these places
      count as right: | ~is_token.
    - any token in place of all: ((said == goal) | ~is_token).all => ((said == goal) & is_token).any
      One right token does not make a right sentence: all(axis=-1).
    - padding taken for wrong: (said == goal) | ~is_token => (said == goal) & is_token
      With & is_token every sentence with padding is wrong. Places without a token have to count as right: | ~is_token.
    - the flags the wrong way round: (said == goal) | ~is_token => (said == goal) | is_token
      True marks a token here. As you use them, the padding is compared and the tokens are not.
    - tokens in place of sentences:
        ((said == goal) | ~is_token).all(axis=-1) => ((said == goal) & is_token).sum(axis=-1) / is_token.sum(axis=-1)
      The share of right tokens says little about sentences: one wrong word in each leaves no sentence right. Take
      all(axis=-1).
    - one answer for all sentences: .all(axis=-1) => .all()
      all() without an axis asks whether every sentence is right. Each sentence has its own answer: axis=-1.
    - columns in place of rows: axis=-1 => axis=0
      axis=0 goes down the sentences and answers for each place. A sentence is a row: axis=-1.
    - a count in place of a flag for each sentence: .all(axis=-1) => .all(axis=-1).sum()
      The number of exact matches is the sum of what is asked here. Return the flags, one for each sentence.
    - the sentences that are wrong: ((said == goal) | ~is_token).all => ((said != goal) & is_token).any
      Your flags are True where something differs. True means here that all tokens are right.
    - only the last place compared: .all(axis=-1) => [:, -1]
      A sentence can go wrong anywhere. Compare all places: all(axis=-1).
    - equal places counted, padding among them:
        ((said == goal) | ~is_token).all(axis=-1) => (said == goal).sum(axis=-1) == is_token.sum(axis=-1)
      Padding can be equal, too: then more places are equal than there are tokens, or one makes up for a wrong token.
      Count the places that are both equal and tokens.
""")


_ORDERS = comb(10, 5)

BY_HAND = {}
BY_HAND["18.1"] = [
    part(
        "a cat sees the red houses",
        2,
        'the determiners are fixed by "houses"; "red" may stand before "cat" or "houses": 2',
    )
    .step('the determiners are fixed by "houses"; what may "red" stand before?')
    .knows(1, "the other sentence alone, or this one alone. Count both.")
    .knows(4, 'the determiners exchanged too. "a" cannot stand before "houses".'),
    worked(
        "the red cat sees this blue house", Prod(2, 2), lead="two ways for the determiners, two for the adjectives: "
    )
    .knows(3, "the other sentences. This one is counted too.")
    .knows(2, "one of two choices. Determiners and adjectives can both change places."),
]
BY_HAND["18.6"] = [
    part(
        "orders",
        _ORDERS,
        f"10 over 5: 10 * 9 * 8 * 7 * 6 / (5 * 4 * 3 * 2 * 1) = {10 * 9 * 8 * 7 * 6} / 120 = {_ORDERS}",
    )
    .knows(10 * 9 * 8 * 7 * 6, "places with an order among them. Divide by 5 * 4 * 3 * 2 * 1.")
    .knows(2**10, "any number of places. Five are chosen.")
    .knows(120, "the orders of five. Asked are the ways to choose them.")
    .knows(50, "a product of the two numbers. Each place that is taken leaves one less.")
    .knows(3628800, "the orders of all ten counts. Asked are the places of one group."),
    worked("percent", Quotient(100, _ORDERS), about=True, decimals=1, shown=".3f")
    .knows(1 / _ORDERS, "a part of 1. In percent it is 100 times as much.")
    .knows(200 / _ORDERS, "the lowest or the highest. Only the five lowest are asked for."),
]
