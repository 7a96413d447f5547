"""Checkers of chapter 23: a model of today."""

from math import sqrt

from toytf.byhand import Difference, Prod, Quotient, Root, Sum
from toytf.check.answers import worked
from toytf.check.core import Case, checker


def _llama_cases(rng):
    d, pieces, narrow = (int(k) for k in rng.integers(2, (900, 900, 90)))
    return [
        Case((3, 4, 1, 2, 1, 2, 5), "one layer of width 4, two query heads, one key head"),
        Case((10, 8, 3, 4, 2, 3, 12), "heads that are wider together than d"),
        Case((11, 2 * d, pieces, 6, 3, narrow, 5 * d), "sizes drawn at random"),
        Case((128_256, 4096, 32, 32, 8, 128, 14_336), "Llama 3 with eight billion"),
    ]


@checker("ex-23-5", cases=_llama_cases, points=3)
def llama_parameters(words, d, layers, n_heads, n_key_heads, d_head, d_ff):
    """Count the parameters of a decoder-only model such as Llama 3.

    There is no bias anywhere. words: vocabulary, with two separate tables, input and
    output. Each layer has n_heads query heads and n_key_heads heads for keys and
    values, all of width d_head; SwiGLU with three matrices between d and d_ff; and two
    RMSNorms. One more RMSNorm stands at the end. An RMSNorm has d numbers. Returns a
    whole number.
    """
    attention = 2 * d * n_heads * d_head + 2 * d * n_key_heads * d_head
    return layers * (attention + 3 * d * d_ff + 2 * d) + d + 2 * words * d


llama_parameters.knows("""
    - a key head for every query head: n_key_heads * d_head => n_heads * d_head
      Keys and values are shared by groups of query heads: their matrices are d times n_key_heads * d_head.
    - four matrices of d x d: 2 * d * n_heads * d_head + 2 * d * n_key_heads * d_head => 4 * d * d
      That is the paper's attention. Here queries and output are n_heads * d_head wide, keys and values n_key_heads *
      d_head.
    - few query heads as well: 2 * d * n_heads => 2 * d * n_key_heads
      Only keys and values come in groups. Queries and output have n_heads heads.
    - the output matrix forgotten: 2 * d * n_heads => d * n_heads
      An attention has four matrices; the last, W_O, is n_heads * d_head times d.
    - two matrices in the feed-forward network: 3 * d * d_ff => 2 * d * d_ff
      SwiGLU has three, W_1 for the gate, W_3 and W_2: 3 * d * d_ff (chapter 23, A gate).
    - the last norm forgotten: + d + 2 * words * d => + 2 * words * d
      After the last layer stands one more RMSNorm, with d numbers.
    - the norms forgotten: 3 * d * d_ff + 2 * d) + d => 3 * d * d_ff)
      Each RMSNorm has d numbers: two in each layer, one at the end.
    - norms with gamma and beta: 3 * d * d_ff + 2 * d) + d => 3 * d * d_ff + 4 * d) + 2 * d
      RMSNorm has no beta: d numbers, where layer norm has 2 d.
    - one norm a layer: 3 * d * d_ff + 2 * d) => 3 * d * d_ff + d)
      A layer has two norms, one before each of its two parts.
    - one table for input and output: 2 * words * d => words * d
      This model has two separate tables: 2 * words * d.
    - the tables forgotten: + d + 2 * words * d => + d
      Input and output have a table each, with d numbers for each word.
    - one layer alone: layers * (attention => (attention
      Everything but the tables and the last norm is there once for each layer.
    - biases added:
        2 * d * n_key_heads * d_head => 2 * d * n_key_heads * d_head + (n_heads + 2 * n_key_heads) * d_head + d, and
        3 * d * d_ff => 3 * d * d_ff + 2 * d_ff + d
      There is no bias anywhere in this model.
    - queries of width d: 2 * d * n_heads * d_head => 2 * d * d
      The heads together are n_heads * d_head wide. That equals d in Llama 3, and need not elsewhere.
    - one matrix for keys and values: 2 * d * n_key_heads => d * n_key_heads
      Keys and values have a matrix each: 2 * d * n_key_heads * d_head.
""")


# 23.2: a chat
_A_TOKEN = Prod(2, 80, 8, 128, 2)
_A_CHAT = Prod(_A_TOKEN.value, 4096)

# 23.6: a norm and a turn
_ROW = (1, 1, 3, 5)
_RMS = Root(Quotient(Sum(*(x * x for x in _ROW)), len(_ROW)))
_DEVIATION = sqrt(11 / 4)  # around the mean 2.5


def _cache(name, step, lead=""):
    return (
        worked(name, step, lead=lead)
        .knows(step.value / 2, "a factor of 2 that is missing. Keys and values are kept, each number in two bytes.")
        .knows(step.value / 4, "numbers of the keys alone. Values are kept too, each number in two bytes.")
        .knows(8 * step.value, "64 heads. The keys and values of 8 are kept.")
        .knows(step.value / 80, "one layer. Each of the 80 keeps its own.")
    )


BY_HAND = {}
BY_HAND["23.2"] = [
    _cache("one token", _A_TOKEN, lead="keys and values, layers, heads, width, bytes: "),
    _cache("conversation", _A_CHAT),
    worked("without groups", Prod(8, _A_CHAT.value), lead="64 heads in place of 8, eight times as much: ")
    .knows(_A_CHAT.value, "the cache with groups. Without them each of the 64 heads has keys of its own.")
    .knows(64 * _A_CHAT.value, "64 times as much. With groups there are 8 key heads, so it is 8 times."),
]
BY_HAND["23.6"] = [
    worked("divisor", _RMS, lead="the root of the mean square: ")
    .knows(9, "the mean square. Its root is asked for.")
    .knows(6, "the root of the sum. It is the mean that goes under the root.")
    .knows(_DEVIATION, "the deviation from the mean, as in layer norm. RMSNorm takes no mean off."),
    worked("row", [Quotient(x, _RMS.value) for x in _ROW], about=True, decimals=2)
    .knows([(x - 2.5) / _DEVIATION for x in _ROW], "layer norm. RMSNorm takes no mean off.")
    .knows([x / 9 for x in _ROW], "the row divided by the mean square. Divide by its root."),
    worked(
        "query at 1",
        [Difference(Prod(2, 0), Prod(1, 1)), Sum(Prod(1, 0), Prod(2, 1))],
        lead="the cosine of a quarter turn is 0, its sine 1: ",
    )
    .knows([1, -2], "a turn the other way: (a, b) becomes (-b, a).")
    .knows([1, 2], "a sign that is missing: (a, b) becomes (-b, a).")
    .knows([2, 1], "the query at place 0. At place 1 it has turned once.")
    .knows([-2, -1], "the query at place 2. At place 1 it has turned once."),
    worked("score of 1 and 0", Sum(Prod(-1, 1), Prod(2, 2)))
    .knows(4, "the score of two rows at one place. The query has turned once.")
    .knows(-3, "a query turned the other way: (a, b) becomes (-b, a)."),
    worked("score of 2 and 1", Sum(Prod(-2, -2), Prod(-1, 1)), lead="both turned once more: ")
    .knows(4, "the score of two rows at one place. The query has turned once more than the key.")
    .knows(-4, "a key that has not turned. At place 1 it has turned once.")
    .knows(-3, "query and key exchanged, or turned the other way: the query is at place 2."),
]
