"""Checkers of chapter 19: counts of new sentences."""

import numpy as np

from toytf.byhand import Prod
from toytf.check.answers import part, worked
from toytf.check.core import Case, checker


@checker("ex-19-2", results=("share", "spread"))
def share_and_spread(right, n):
    """Say which share of n sentences is right, and how much chance alone moves it.

    right: how many are right. n: how many there are. If each sentence is right with
    probability p, whatever happens to the others, the share has the standard deviation
    sqrt(p (1 - p) / n); p is estimated by the share itself. Returns the share and this
    spread, two numbers between 0 and 1.
    """
    share = right / n
    return share, np.sqrt(share * (1 - share) / n)


share_and_spread.cases = lambda rng: [
    Case((1, 4), "one of four"),
    Case((4, 5), "four of five"),
    Case((0, 10), "none of ten"),
    Case((800, 800), "all of 800"),
    Case((int(rng.integers(5000, 7000)), int(rng.integers(7000, 20_000))), "most of some thousand"),
    Case((int(rng.integers(1, 900)), int(rng.integers(9000, 20_000))), "few of some thousand"),
]
share_and_spread.knows("""
    - no root: np.sqrt(share * (1 - share) / n) => share * (1 - share) / n
      p (1 - p) / n is the variance. The spread is its root, and has the unit of the share.
    - n outside the root: np.sqrt(share * (1 - share) / n) => np.sqrt(share * (1 - share)) / n
      Four times as many sentences halve the spread: n stands under the root.
    - the spread of the count: share * (1 - share) / n => n * share * (1 - share)
      sqrt(n p (1 - p)) says by how many sentences the count varies. The exercise asks for the share: divide by n.
    - n forgotten: (1 - share) / n => (1 - share)
      sqrt(p (1 - p)) is the deviation of a single sentence, 0 or 1. The mean of n of them varies less: divide by n
      under the root.
    - 1 - p forgotten: share * (1 - share) / n => share / n
      Where all are right nothing varies: the spread of p = 1 is 0. Under the root stands p (1 - p) / n.
    - n - 1 under the root: (1 - share) / n => (1 - share) / (n - 1)
      p (1 - p) / n, with n. Here p is known to be the share, and nothing is estimated beside it.
    - the count in place of the share:
        share, np.sqrt(share * (1 - share) / n) => right, np.sqrt(right * (n - right) / n)
      p is a probability between 0 and 1: divide the count by n first.
    - percent in place of shares: share, np.sqrt => 100 * share, 100 * np.sqrt
      Both are asked as parts of 1, not of 100.
    - whole-number division: right / n => right // n
      right // n drops everything behind the point. Write right / n.
    - the widest spread for every share: np.sqrt(share * (1 - share) / n) => 0.5 / np.sqrt(n)
      0.5 / sqrt(n) is right at a share of one half, and too large everywhere else. Under the root stands p (1 - p) / n.
    - the two exchanged: share, np.sqrt(share * (1 - share) / n) => np.sqrt(share * (1 - share) / n), share
      The share comes first, then its spread.
""")


BY_HAND = {}
BY_HAND["19.1"] = [
    part("one", 7, "one of 7: 7")
    .step("one adjective, and each of the grammar's can be it")
    .knows(8, "no adjective counted too. Exactly one is asked for."),
    worked("two", Prod(7, 6), lead="7 for the first, 6 are left for the second: ")
    .knows(49, "the same adjective twice. The two differ.")
    .knows(21, "pairs without an order. Their order counts."),
    worked("three", Prod(7, 6, 5), lead="7, then 6, then 5: ")
    .knows(343, "the same adjective again. The three differ.")
    .knows(35, "groups without an order. Their order counts."),
]
