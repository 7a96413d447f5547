"""Checkers of chapter 1: recurrences."""

import numpy as np

from toytf.byhand import Prod, Sum
from toytf.check.answers import part, worked
from toytf.check.core import Case, checker


@checker("ex-01-7", results=("states",))
def recurrence(x, keep=0.5):
    """Carry a row through a sentence: ``r_t = keep * r_(t-1) + x_t``, with ``r_0 = 0``.

    x: array of shape (n, d), one row for each word; it may hold integers. keep: a
    number. Returns an array of shape (n, d): the states r_1 to r_n.
    """
    states = np.zeros(x.shape)
    state = np.zeros(x.shape[1:])
    for t, row in enumerate(x):
        state = keep * state + row
        states[t] = state
    return states


recurrence.cases = lambda rng: [
    Case(([[1.0], [2.0], [3.0]], 0.5), "three words, one number each"),
    Case(([[1, 4], [2, 0], [3, 5]], 0.5), "integers"),
    Case((rng.normal(size=(5, 3)), 0.9), "five rows of width 3"),
    Case((rng.normal(size=(4, 2)), 1.1), "a factor above 1"),
]
recurrence.knows("""
    - the state before the first word left in: return states => return np.vstack([np.zeros_like(states[:1]), states])
      r_0 = 0 starts the recurrence and belongs to no word. Return r_1 to r_n, n rows.
    - the last state alone: return states => return states[-1]
      The function returns the state after every word. Keep each one, and return all of them.
    - the word before in place of the state before: keep * state + row => keep * (x[t - 1] if t else 0) + row
      x_(t-1) is what the word before brought; r_(t-1) holds all words before it. Carry the state on.
    - the new word damped too: keep * state + row => keep * (state + row)
      keep multiplies the old state alone; the new word is added whole. Look for a bracket around the sum.
    - the new word damped and the state kept whole: keep * state + row => state + keep * row
      keep says how much of the old state is kept. It stands before r_(t-1), not before x_t.
    - keep forgotten: keep * state => state
      This is the plain sum of all words so far. The old state is multiplied by keep in each step.
    - an average of state and word: keep * state + row => keep * state + (1 - keep) * row
      Nothing here makes the two factors sum to 1: the new word is added whole.
    - 0.5 in place of keep: keep * state => 0.5 * state
      The function keeps half, whatever keep is. Use the argument; 0.5 is only its default.
    - the sentence read from right to left: enumerate(x) => enumerate(x[::-1])
      The first state comes from the first word: go through the rows of x in their order.
    - a start from the first word: np.zeros(x.shape[1:]) => x[0]
      The first word is counted twice: once as the start, once when it is read. Start from zeros.
    - states cut to whole numbers: np.zeros(x.shape) => np.zeros_like(x)
      An array made by np.zeros_like(x), or by x.copy(), holds integers when x does, and drops what stands after the
      point. Use np.zeros(x.shape).
""")


@checker("ex-01-5", results=("steps",))
def earliest_steps(n, n_layers):
    """Say in which step each state of a stack of recurrences can be computed.

    Layer k's state at word t needs its own state at word t - 1 and layer k - 1's state
    at word t, where they exist. All states that are ready are computed in the same
    step. n, n_layers: numbers of words and layers. Returns an array of integers of
    shape (n_layers, n): a row for each layer, a column for each word. The first is 1.
    """
    steps = np.zeros((n_layers + 1, n + 1), dtype=int)
    for k in range(1, n_layers + 1):
        for t in range(1, n + 1):
            steps[k, t] = 1 + max(steps[k - 1, t], steps[k, t - 1])
    return steps[1:, 1:]


earliest_steps.cases = lambda rng: [
    Case((3, 2), "three words, two layers"),
    Case((1, 3), "one word"),
    Case((4, 1), "one layer"),
    Case((64, 6), "a long sentence"),
    *(Case((int(rng.integers(5, 400)), int(rng.integers(2, 60)))) for _ in range(3)),
]
earliest_steps.knows("""
    - each layer waits for the whole layer below: steps[k - 1, t] => steps[k - 1, n]
      Layer 2 needs layer 1 at its own word only. It can start as soon as layer 1 has read the first word.
    - layers that do not wait for each other: max(steps[k - 1, t], steps[k, t - 1]) => steps[k, t - 1]
      Layer k needs layer k - 1 at the same word, so it is at least one step later.
    - words that do not wait for each other: max(steps[k - 1, t], steps[k, t - 1]) => steps[k - 1, t]
      That is attention. In a recurrence each state needs the state of the word before.
    - steps counted from 0: return steps[1:, 1:] => return steps[1:, 1:] - 1
      The first state costs a step too, so the smallest entry is 1.
    - the waiting times added: max(steps[k - 1, t], steps[k, t - 1]) => steps[k - 1, t] + steps[k, t - 1]
      Both inputs are computed at the same time, so the state waits for the later one: the larger of the two numbers,
      not their sum.
    - words as rows and layers as columns: return steps[1:, 1:] => return steps[1:, 1:].T
      The shape is (n_layers, n): a row for each layer.
    - only the number of steps of the whole stack: return steps[1:, 1:] => return steps[-1, -1]
      The last entry of the table is that number. The function returns the table.
    - zeros at the border left in: return steps[1:, 1:] => return steps
      The row and the column of zeros stand for what does not exist. Cut them off: steps[1:, 1:].
""")


_SENTENCE = [1.0, 2.0, 3.0, 4.0, 1.0]
_R = recurrence.solution(np.array(_SENTENCE)[:, None])[:, 0]
_NND, _NDD = Prod(2, 2, 4), Prod(2, 4, 4)  # with n and d of the running example


def _shape(name, rows, columns, why):
    return part(name, (rows, columns), f"{why}: {rows} x {columns}")


BY_HAND = {}
BY_HAND["1.1"] = [
    _shape("X", 5, 512, "a row of width 512 for each of 5 words")
    .step("a row for each word, and d is the width of a row")
    .knows((5, 64), "the width of a head. A word's row is d wide."),
    _shape("queries", 5, 64, "(5 x 512)(512 x 64)").knows((512, 64), "the learned matrix. The queries are X times it."),
    _shape("scores", 5, 5, "(5 x 64)(64 x 5)")
    .knows((64, 64), "the other product. The keys are transposed, not the queries.")
    .knows((5, 64), "the queries. Scores have a column for each key."),
    _shape("side by side", 5, 8 * 64, "8 heads of width 64, 5 rows")
    .knows((5 * 8, 64), "heads below each other. Side by side they have as many rows as words.")
    .knows((5, 64), "one head. The columns of all heads stand side by side."),
    _shape("Z", 5, 512, "(5 x 512)(512 x 512)")
    .knows((512, 512), "W^O itself. Z is the heads side by side, times W^O.")
    .knows((5, 64), "the width of a head. W^O takes all heads."),
    _shape("memory", 5, 512, "every layer keeps the shape of X")
    .knows((1, 512), "one row for the sentence. Every word keeps a row of its own.")
    .knows((5, 64), "the width of a head. Every layer keeps the width of X."),
]
BY_HAND["1.2"] = [
    worked("fifth result", Sum(Prod(0.5, _R[-2]), _SENTENCE[-1]), decimals=4)
    .knows(0.5 * (_R[-2] + _SENTENCE[-1]), "the new word halved too. Only the old state is halved.")
    .knows(0.5 * _R[-2], "the new word left out. It is added to half of the old state."),
    part("results again", len(_SENTENCE), "r_1 and, through it, every later one: 5")
    .step("the first result changes, and every later one is made of the one before it")
    .knows(1, "the first alone. Each later one is made of the one before it."),
    part("rows", len(_SENTENCE), "the word is compared with every word, so each of the 5 rows has a changed entry")
    .step("in a product of X with itself a word is compared with every word")
    .knows(1, "the changed word's own row. Every other word is compared with it too."),
]
BY_HAND["1.3"] = [
    worked("attention product", _NND, lead="n * n * d = ").knows(_NDD.value, "n * d * d, the recurrent product."),
    worked("recurrent product", _NDD, lead="n * d * d = ").knows(_NND.value, "n * n * d, the attention product."),
    worked("attention layer", Sum(Prod(2, _NND.value), Prod(4, _NDD.value)), lead="2 * n * n * d + 4 * n * d * d = ")
    .knows(4 * _NDD.value, "the four matrices alone, or one of them left out.")
    .knows(_NND.value + 4 * _NDD.value, "one product of n * n * d. There are two."),
    worked("recurrent layer", Prod(2, _NDD.value), lead="2 * n * d * d = ").knows(
        _NDD.value, "one matrix. Word and state have one each."
    ),
]
