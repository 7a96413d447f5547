"""What five texts printed about the Transformer, computed again.

    >>> from toytf import published
    >>> published.table("s0-q1-dot-k1", "s0-pe-1-1")
    what                                             printed  computed   verdict
    score of Hello's query with Hello's key          68       68         ✓ reproduced
    PE(1), column 1, in the source's own arithmetic  0.99     ✗ 0.99995  ✗ corrected
                                                                         right: 0.540302
                                                                         E0-02: the position of World
                                                                         E0-03: a cosine cut off, not rounded

From a terminal, ``python -m toytf.published`` does the same for everything that the course has
reached, and fails when a number that should reproduce does not.

The digits stand in ``published.json``, as they were printed. The functions that compute them again
stand below, in the order of the sources. They start from the arrays of `toytf.example` and never
from a result that a source printed. Four verdicts are possible:

``reproduced``
    What is computed agrees with every printed digit.
``corrected``
    It does not, and an erratum says why. The right value is computed too.
``cannot be recomputed``
    The source drew random numbers without a seed. What must hold whatever the draw was is checked.
``not reached yet``
    The chapter that computes it is still to come.
"""

from __future__ import annotations

import argparse
import difflib
import functools
import html as _html
import json
import math
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from decimal import Decimal, InvalidOperation
from importlib import resources

import numpy as np

from toytf._validate import shape_text
from toytf.attention import MultiHead, attention, merge_heads, multi_head_attention, split_heads
from toytf.corpus import Vocabulary
from toytf.example import EMBEDDING, PAPER, PUBLISHED, W_K, W_K2_TYPESET, W_O, W_Q, W_Q1_TYPESET, W_V
from toytf.ops import Array, Linear, embedding, linear, softmax
from toytf.positions import BASE, sinusoids, sinusoids_column_as_i, sinusoids_halves

# The finished chapters, and the notebook of each. This is the one place that says how far the
# course has come: a number that belongs to one of these must be computed, the others may wait.
CHAPTERS = {
    "01": "01_overview",
    "02": "02_words_become_vectors",
    "03": "03_positions",
    "04": "04_self_attention",
    "05": "05_scaling",
    "06": "06_many_heads",
}
REACHED = frozenset(CHAPTERS)
LAST_CHAPTER = 20

SOURCES = (
    "The Random Transformer",
    "The Illustrated Transformer",
    "the shape sheet",
    "the PyTorch post",
    "the notes",
)

REPRODUCED, CORRECTED = "reproduced", "corrected"
UNSEEDED, NOT_REACHED = "cannot be recomputed", "not reached yet"
STATUSES = (REPRODUCED, CORRECTED, UNSEEDED, NOT_REACHED)
FAILED = "FAILED"  # no verdict: the promise is broken, and the run ends with an error


# ---------------------------------------------------------------- what was printed


@dataclass(frozen=True)
class Entry:
    """One number, array, shape or statement of a source.

    Parameters
    ----------
    id : str
        ``"s0-k1"``: the source, then a name.
    source : int
        0 to 4, see `SOURCES`.
    section : str
        Where it stands there.
    what : str
        What it is.
    printed : str, list or None
        The digits as printed, in lists nested like the array; the text of a statement; None for a
        value that the source implies and does not print.
    chapter : str
        The chapter that computes it, ``"01"`` to ``"20"``.
    erratum : tuple of str
        The errata that make what is printed wrong.
    see : tuple of str
        Errata that are worth reading beside it, though what is printed holds.
    decimals : int, optional
        How many decimals are meant where zeros at the end were left out, as NumPy does: its
        ``6.84`` stands for 6.84000000.
    through : str, optional
        For a value that is not printed: the entry whose printed digits follow from it.
    unseeded : bool
        True if the source drew it from an unseeded generator.
    """

    id: str
    source: int
    section: str
    what: str
    printed: str | list | None
    chapter: str
    erratum: tuple[str, ...] = ()
    see: tuple[str, ...] = ()
    decimals: int | None = None
    through: str | None = None
    unseeded: bool = False

    @property
    def words(self) -> Array:
        """The printed words, in the shape of the array."""
        return np.array("not printed" if self.printed is None else self.printed, dtype=object)

    @property
    def is_number(self) -> bool:
        """True for digits, False for a statement and for what is not printed."""
        try:
            for word in self.words.ravel():
                Decimal(word)
        except InvalidOperation:
            return False
        return True


@dataclass(frozen=True)
class Erratum:
    """The title of an erratum, and the chapter that treats it."""

    title: str
    chapter: str


@dataclass(frozen=True)
class Claim:
    """What a check of a statement found.

    Parameters
    ----------
    holds : bool
        Whether the statement is true as it is printed.
    found : str
        What is true, with the numbers or shapes that show it.
    instead : bool
        For a statement that does not hold: whether what is right instead was seen to hold.
    """

    holds: bool
    found: str
    instead: bool = True

    def __str__(self) -> str:
        return self.found


def load(text: str) -> tuple[dict[str, Entry], dict[str, Erratum]]:
    """Read entries and errata from the text of ``published.json``.

    Raises
    ------
    ValueError
        If an id occurs twice or an entry refers to what does not exist.
    """
    data = json.loads(text)
    entries: dict[str, Entry] = {}
    for row in data["entries"]:
        erratum = row["erratum"] or []
        row["erratum"] = (erratum,) if isinstance(erratum, str) else tuple(erratum)
        entry = Entry(**{**row, "see": tuple(row.get("see", ()))})
        if entry.id in entries:
            raise ValueError(f"{entry.id}: expected every id once, got it twice")
        entries[entry.id] = entry
    return entries, {name: Erratum(**row) for name, row in data["errata"].items()}


ENTRIES, _ERRATA = load(resources.files("toytf").joinpath("published.json").read_text(encoding="utf-8"))
ERRATA: dict[str, str] = {name: erratum.title for name, erratum in _ERRATA.items()}
ERRATA_CHAPTER: dict[str, str] = {name: erratum.chapter for name, erratum in _ERRATA.items()}


# ---------------------------------------------------------------- what is computed
#
# One function for each quantity, in the order of the sources. A function returns the number or
# array, or a `Claim` about a statement.
#
#   @recomputes   the value, computed from the arrays of the running example
#   @right        the right value, where what follows from the source's own words is not right
#   given         an input or a setting: nothing computes it
#
# A value that is not printed is taken on to one that is, by the function named `via`.


@dataclass(frozen=True)
class Recomputation:
    """The function that computes an entry again.

    `via` belongs to a value that is not printed: it takes the value to one that is.
    """

    function: Callable
    given: bool = False
    via: Callable | None = None


_FUNCTIONS: dict[str, Recomputation] = {}
_RIGHT: dict[str, Callable] = {}


def _register(into: dict, wrap: Callable, ids: tuple[str, ...]) -> Callable:
    def register(function: Callable) -> Callable:
        for name in ids:
            if name not in ENTRIES:
                raise KeyError(_unknown(name, ENTRIES))
            if name in into:
                raise KeyError(f"{name}: expected one function, got a second one, {function.__name__}")
            into[name] = wrap(function)
        return function

    return register


def recomputes(*ids: str, via: Callable | None = None) -> Callable:
    """Register a function as the one that computes these entries again."""
    return _register(_FUNCTIONS, lambda function: Recomputation(function, via=via), ids)


def given(*ids: str, value) -> None:
    """Register a definition or a setting: nothing computes it, the course starts from it."""
    _register(_FUNCTIONS, lambda function: Recomputation(function, given=True), ids)(lambda: value)


def right(*ids: str) -> Callable:
    """Register the right value of entries whose own arithmetic does not lead to it."""
    return _register(_RIGHT, lambda function: function, ids)


def _unknown(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(str(name), list(known), n=3, cutoff=0.5)
    return f"unknown id {name!r}: " + (f"did you mean {' or '.join(near)}?" if near else "see ENTRIES for all ids")


# -- settings. The paper's base model: sections 3.1 to 3.3 and table 3.

D_MODEL, D_FF, N_HEADS, N_LAYERS, YEAR = 512, 2048, 8, 6, 2017
TASKS = ("WMT 2014 English-German", "WMT 2014 English-French")
TOY_D_FF, TOY_LAYERS = 8, 6  # the example's two sizes that no array of chapters 1 to 6 shows

X = PUBLISHED.x  # the encoder's input as published, token x d_model


def _size(array) -> str:
    """The shape of an array, or a shape, as a page writes it: ``3 × 64``."""
    return shape_text(getattr(array, "shape", array)).replace("x", "×")


# -- source 0, 1: embedding

given("s0-d-model-paper", "s2-d", value=D_MODEL)


@recomputes("s0-d-model-toy")
def _():
    return EMBEDDING.shape[1]


given("s0-emb-hello", value=EMBEDDING[0])
given("s0-emb-world", value=EMBEDDING[1])


@recomputes("s0-e-raw")
def _():
    words = Vocabulary(PUBLISHED.tokens)
    return embedding(EMBEDDING, words.ids(["Hello", "World"]))  # E[t] = table[id of token t]


# -- source 0, 2 and 3: positions


@recomputes("s0-pe-formula", "s4-pe-formula")
def pe_formula():
    """Both formulas, typed out number by number, give `sinusoids`."""
    length, d = 6, 8
    pe = np.empty((length, d))
    for pos in range(length):
        for i in range(d // 2):
            pe[pos, 2 * i] = math.sin(pos / 10000 ** (2 * i / d))
            pe[pos, 2 * i + 1] = math.cos(pos / 10000 ** (2 * i / d))
    return Claim(np.allclose(pe, sinusoids(length, d), rtol=0, atol=1e-14), "right, with i counting pairs of columns")


for _pos in (0, 1):
    for _column in (0, 1, 2, 3):

        @recomputes(f"s0-pe-{_pos}-{_column}")
        def _(pos=_pos, column=_column):
            return sinusoids_column_as_i(2, 4)[pos, column]


@right("s0-pe-1-1")
def _():
    return PAPER.positions[1, 1]


@recomputes("s0-pe-1-1-arg")
def _():
    return 1 / BASE ** (2 * 1 / 4)


@recomputes("s0-pe-1-2-exp")
def _():
    return 2 * 2 / 4


@recomputes("s0-pe-1-3-exp")
def _():
    return 2 * 3 / 4


@recomputes("s0-pe-hello")
def _():
    return sinusoids_column_as_i(2, 4)[0]


@recomputes("s0-pe-world")
def _():
    return sinusoids_column_as_i(2, 4)[1]


@recomputes("s0-pe-world-vs-paper")
@right("s0-pe-world")
def _():
    return sinusoids(2, 4)[1]


@recomputes("s0-e-hello-sum")
def _():
    return EMBEDDING[0] + PUBLISHED.positions[0]


@recomputes("s0-e-world-sum")
def _():
    return EMBEDDING[1] + PUBLISHED.positions[1]


@recomputes("s0-e-input")
def _():
    return EMBEDDING + PUBLISHED.positions  # X = E + PE


# -- source 0, 4.1: weights


@recomputes("s0-n-heads-toy")
def _():
    return len(W_Q)


@recomputes("s0-w-shape")
def _():
    return W_K[0].shape


for _name, _pair in (("wk", W_K), ("wv", W_V), ("wq", W_Q)):
    for _head in (0, 1):
        given(f"s0-{_name}{_head + 1}-code", value=_pair[_head])
        # What is typeset must be the same matrix as in the code, from which all later numbers follow.
        recomputes(f"s0-{_name}{_head + 1}-math")(lambda weights=_pair[_head]: weights)


# -- source 0, 4.2: keys, values, queries


@recomputes("s0-k1", "s0-k1-hand")
@right("s0-k1-hand-expansion")
def k1():
    return X @ W_K[0]  # K₁ = X W_K₁


@recomputes("s0-k1-hand-expansion")
def _():
    typed = X.copy()
    typed[1, 1] = 4.0  # columns 2 and 3 of row 2 write a 4 for World's second number
    return np.vstack([k1()[0], [k1()[1, 0], *(typed @ W_K[0])[1, 1:]]])


@recomputes("s0-v1")
def v1():
    return X @ W_V[0]


@recomputes("s0-q1")
@right("s0-q1-with-math-wq1")
def q1():
    return X @ W_Q[0]


@recomputes("s0-q1-with-math-wq1")
def _():
    return X @ W_Q1_TYPESET


@recomputes("s0-k2", via=lambda k: softmax(q2() @ k.T / 30) @ v2())
def k2():
    return X @ W_K[1]


@recomputes("s0-v2", via=lambda v: softmax(q2() @ k2().T / 30) @ v)
def v2():
    return X @ W_V[1]


@recomputes("s0-q2", via=lambda q: softmax(q @ k2().T / 30) @ v2())
def q2():
    return X @ W_Q[1]


# -- source 0, 4.3.1 to 4.3.3: scores, scaling, softmax


@recomputes("s0-q1-dot-k1")
def _():
    return q1()[0] @ k1()[0]


@recomputes("s0-scores1", "s0-scores1-hand")
def scores1():
    return q1() @ k1().T  # S = Q Kᵀ


@recomputes("s0-dk-toy")
def _():
    return k1().shape[1]


given("s0-dk-paper", value=D_MODEL // N_HEADS)


@recomputes("s0-scores1-scaled")
def _():
    return scores1() / np.sqrt(3)


@recomputes("s0-softmax-123")
def _():
    return softmax([1.0, 2.0, 3.0])


@recomputes("s0-softmax1")
def _():
    return softmax(scores1() / np.sqrt(3))


# -- source 0, 4.3.4: weighted values


@recomputes("s0-attention1-sat")
def _():
    return softmax(scores1() / np.sqrt(3)) @ v1()


@recomputes("s0-attention1-fn")
def _():
    return attention(q1(), k1(), v1())[0]


@recomputes("s0-attention2-sat")
def _():
    return attention(q2(), k2(), v2())[0]


@recomputes("s0-softmax2")
@right("s0-softmax2-with-math-wk2")
def _():
    return softmax(q2() @ k2().T / np.sqrt(3))


@recomputes("s0-softmax2-with-math-wk2")
def _():
    return softmax(q2() @ (X @ W_K2_TYPESET).T / np.sqrt(3))


@recomputes("s0-scale-30")
def _():
    # The printed output is w·v₁ + (1 - w)·v₂ with w = 1 / (1 + e^(gap / divisor)): solved for the divisor.
    out, (v_hello, v_world) = printed("s0-attention1-div30")[0, 0], v1()[:, 0]
    w = (v_world - out) / (v_world - v_hello)
    gap = scores1()[0, 1] - scores1()[0, 0]
    return gap / np.log((1 - w) / w)


@recomputes("s0-weights1-div30", via=lambda weights: weights @ v1())
def weights1_div30():
    return softmax(scores1() / 30)


@recomputes("s0-weights2-div30", via=lambda weights: weights @ v2())
def weights2_div30():
    return softmax(q2() @ k2().T / 30)


@recomputes("s0-attention1-div30")
def _():
    return weights1_div30() @ v1()


@recomputes("s0-attention2-div30")
def _():
    return weights2_div30() @ v2()


# -- source 0, 4.3.5 and the start of 5.1: both heads, Z


@recomputes("s0-attentions-concat")
def _():
    return np.concatenate([weights1_div30() @ v1(), weights2_div30() @ v2()], axis=1)


given("s0-w", value=W_O)


@recomputes("s0-z", "s0-z-math")
def _():
    return multi_head_attention(PUBLISHED.heads, X, n_heads=2, scale=1 / 30)[0]


# -- source 0, conclusion, and what it says earlier about sizes: paper, example

given("s0-n-encoders-paper", value=N_LAYERS)
given("s0-paper-embedding-dim", value=(D_MODEL, EMBEDDING.shape[1]))
given("s0-paper-encoder-count", "s0-paper-decoder-count", value=(N_LAYERS, TOY_LAYERS))
given("s0-paper-feed-forward-dim", value=(D_FF, TOY_D_FF))
given("s0-paper-attention-n", value=(N_HEADS, len(W_Q)))
given("s0-paper-attention-dim", value=(D_MODEL // N_HEADS, W_K[0].shape[1]))


@recomputes("s0-heads-times-dk")
def _():
    heads = np.zeros((N_HEADS, 1, D_MODEL // N_HEADS))  # head x token x d_head
    return merge_heads(heads).shape[-1]


# -- source 1: overview, input

given("s1-year", value=YEAR)
given("s1-wmt", value=", ".join(TASKS))
given("s1-n-layers", value=(N_LAYERS, N_LAYERS))
given("s1-encoder-sublayers", value=2)  # self-attention and feed-forward
given("s1-common-emb", value=(256, D_MODEL))  # both stand in the paper's table 3


@recomputes("s1-toy-emb")
def _():
    words = Vocabulary(["je", "suis", "étudiant"])
    rows = embedding(np.zeros((len(words), EMBEDDING.shape[1])), words.ids(list(words)))
    return rows.shape[::-1]


# -- source 1: self-attention


@recomputes("s1-layer-five")
def _():
    return max(range(1, N_LAYERS + 1))  # counted from 1; counted from 0 the last is number 5


given("s1-dkey", value=(D_MODEL // N_HEADS, D_MODEL))


@recomputes("s1-steps")
def _():
    q, k, v = q1(), k1(), v1()  # 1. query, key and value of every token
    scores = np.array([[a @ b for b in k] for a in q])  # 2. every query with every key
    scaled = scores / np.sqrt(k.shape[-1])  # 3.
    weights = softmax(scaled)  # 4.
    weighted = weights[:, :, None] * v  # 5. every value, times its weight
    out = weighted.sum(axis=1)  # 6.
    steps = ((q, k, v), scores, scaled, weights, weighted, out)
    return len(steps) if np.allclose(out, attention(q, k, v)[0], rtol=1e-12) else 0


@recomputes("s1-scale")
def _():
    q = np.ones((1, D_MODEL // N_HEADS))
    divisor = 1 / attention(q, q, q)[1].scale
    return Claim(divisor == 8.0, f"√{q.shape[1]} = {divisor:.0f}")


@recomputes("s1-row-lengths")
def _():
    x, w = np.zeros((1, D_MODEL)), np.zeros((D_MODEL, D_MODEL // N_HEADS))
    return x.shape[1], linear(Linear(w), x).shape[1]


# -- source 1: many heads

given("s1-heads", value=N_HEADS)


def _eight_heads(tokens: int = 3) -> tuple[MultiHead, Array]:
    """The paper's eight heads with drawn weights, and an input of some tokens."""
    rng = np.random.default_rng(0)
    d_head = D_MODEL // N_HEADS
    w_q, w_k, w_v = rng.standard_normal((3, N_HEADS, D_MODEL, d_head)) / np.sqrt(D_MODEL)
    p = MultiHead.from_heads(w_q, w_k, w_v, rng.standard_normal((N_HEADS * d_head, D_MODEL)))
    return p, rng.standard_normal((tokens, D_MODEL))


@recomputes("s1-concat-shape")
def _():
    p, x = _eight_heads()
    out, trace = multi_head_attention(p, x, n_heads=N_HEADS)
    shapes = f"{_size(trace.heads)} times {_size(p.w_o)} is {_size(out)}"
    return Claim(out.shape == x.shape, shapes)


@recomputes("s1-head-dim")
def _():
    return split_heads(np.zeros((1, D_MODEL)), N_HEADS).shape[-1]


@recomputes("s1-300-6")
def _():
    return split_heads(np.zeros((1, 300)), 6).shape[-1]


@functools.cache
def _manual_shapes() -> dict[str, tuple[int, ...]]:
    """The shapes on the way through one call: 64 sentences, 12 queries, 10 keys, 6 heads, width 300."""
    batch, n_query, n_key, width, heads = 64, 12, 10, 300, 6
    w = Linear(np.zeros((width, width)))
    source = {"q": np.zeros((batch, n_query, width)), "k": np.zeros((batch, n_key, width))}
    source["v"] = source["k"]
    shapes, parts = {}, {}
    for name, x in source.items():
        rows = linear(w, x)
        parts[name] = split_heads(rows, heads)
        shapes[f"{name}-lin"] = rows.shape
        shapes[f"{name}-view"] = rows.reshape(*rows.shape[:-1], heads, -1).shape
        shapes[f"{name}-heads"] = parts[name].shape
    context, trace = attention(parts["q"], parts["k"], parts["v"])
    merged = merge_heads(context)
    shapes["k-transposed"] = np.swapaxes(parts["k"], -1, -2).shape
    shapes["attention"] = trace.attn_weights.shape
    shapes["context"] = context.shape
    shapes["context-permuted"] = np.swapaxes(context, -2, -3).shape
    shapes["concat"] = merged.shape
    shapes["output"] = linear(w, merged).shape
    return shapes


for _name in (
    *(f"{_letter}-{_step}" for _step in ("lin", "view", "heads") for _letter in "kvq"),
    *("k-transposed", "attention", "context", "context-permuted", "concat", "output"),
):

    @recomputes(f"s1-shape-{_name}")
    def _(name=_name):
        return _manual_shapes()[name]


@recomputes("s1-final-shape")
def _():
    return merge_heads(np.zeros(_manual_shapes()["context"])).shape


# -- source 1: positions


@recomputes("s1-pe-toy-dim")
def _():
    return PAPER.positions.shape[1]


@recomputes("s1-pe-figure-shape")
def _():
    return sinusoids_halves(20, 512).shape


@recomputes("s1-pe-range")
def _():
    pe = sinusoids_halves(20, 512)
    return pe.min(), pe.max()


@recomputes("s1-pe-halves")
def _():
    pe = sinusoids_halves(20, 512)
    left, right_half = pe[:, :256], pe[:, 256:]
    waves = np.arange(20)[:, None] / 10000 ** (np.arange(256) / 255)
    holds = np.allclose(left, np.sin(waves), atol=1e-12) and np.allclose(right_half, np.cos(waves), atol=1e-12)
    return Claim(holds, "left sine, right cosine; row 0 is all 0 left, all 1 right")


@recomputes("s1-pe-t2t-vs-paper")
def _():
    paper = sinusoids(20, 512)
    reordered = np.concatenate([paper[:, 0::2], paper[:, 1::2]], axis=1)
    gap = np.abs(reordered - sinusoids_halves(20, 512)).max()
    return Claim(gap < 1e-12, f"the frequencies differ too: entries by up to {gap:.4f}")


# -- source 2


@recomputes("s2-qkv-shapes")
def _():
    (n, d), d_k, d_v = (3, D_MODEL), D_MODEL // N_HEADS, D_MODEL // N_HEADS
    x = np.zeros((n, d))
    q, k, v = (linear(Linear(np.zeros((d, width))), x) for width in (d_k, d_k, d_v))
    holds = q.shape == k.shape == (n, d_k) and v.shape == (n, d_v)
    return Claim(holds, ", ".join(_size(a) for a in (q, k, v)))


@recomputes("s2-qkt-shape")
def _():
    p, x = _eight_heads(tokens=3)
    scores = (x @ p.w_q[:, :64]) @ (x @ p.w_k[:, :64]).T
    sums = softmax(scores).sum(axis=1)  # row by row: the weights of one query
    return Claim(scores.shape == (3, 3) and np.allclose(sums, 1.0), f"{_size(scores)}, rows sum to 1")


@recomputes("s2-attn-out-shape")
def _():
    q, v = np.ones((3, 64)), np.ones((3, 32))  # d_v need not be d_k
    out = attention(q, q, v)[0]
    return Claim(out.shape == (3, 32), f"{_size(out)} for N = 3 and d_v = 32")


@recomputes("s2-heads")
def _():
    return N_HEADS, D_MODEL, D_MODEL // N_HEADS


@recomputes("s2-wo-shape")
def _():
    p, _ = _eight_heads()
    return Claim(p.w_o.shape == (8 * 64, D_MODEL), _size(p.w_o))


@recomputes("s2-split-then-project")
def _():
    p, x = _eight_heads()
    w_i = p.w_q[:, :64]  # the query weights of one head, d_model x d_k
    part = split_heads(x, N_HEADS)[0]
    try:
        linear(Linear(w_i), part)
    except ValueError:
        project_first = np.allclose(split_heads(x @ p.w_q, N_HEADS)[0], x @ w_i)
        found = f"the other order: a part, {_size(part)}, does not fit the weights, {_size(w_i)}"
        return Claim(False, found, instead=project_first)
    return Claim(True, f"{_size(part)} fits {_size(w_i)}")


@recomputes("s2-concat-axis")
def _():
    heads = np.arange(N_HEADS * 3 * 64.0).reshape(N_HEADS, 3, 64)
    columns, rows = np.concatenate(heads, axis=1), np.concatenate(heads, axis=0)
    holds = columns.shape == (3, 8 * 64) and np.array_equal(columns, merge_heads(heads))
    return Claim(holds, f"{_size(columns)} along the columns ({_size(rows)} along the rows)")


@recomputes("s2-mha-out")
def _():
    p, x = _eight_heads(tokens=3)
    out, _ = multi_head_attention(p, x, n_heads=N_HEADS)
    return Claim(out.shape == (3, D_MODEL), _size(out))


# -- source 3

given("s3-year-layers", value=(YEAR, N_LAYERS, N_LAYERS))


@recomputes("s3-variance")
def _():
    d, draws = 64, 20_000
    q, k = np.random.default_rng(0).standard_normal((2, draws, d))
    scores = (q * k).sum(axis=1)
    scaled = scores / np.sqrt(d)
    # Bounds of about five standard errors of the mean and of the variance.
    holds = abs(scaled.mean()) < 0.036 and abs(scores.var() / d - 1) < 0.052 and abs(scaled.var() - 1) < 0.052
    return Claim(holds, f"d = {d}: mean {scores.mean():.2f}, variance {scores.var():.1f}, then {scaled.var():.2f}")


@recomputes("s3-softmax-formula")
def _():
    z = np.random.default_rng(0).standard_normal((4, 5))
    typed = [[math.exp(a) / sum(math.exp(b) for b in row) for a in row] for row in z]
    return Claim(np.allclose(typed, softmax(z), rtol=1e-12), "right")


@recomputes("s3-code-shapes")
def _():
    n, step, d_model, h = 2, 5, 32, 4
    p = MultiHead(*(np.zeros((d_model, d_model)) for _ in range(4)))
    out, trace = multi_head_attention(p, np.ones((n, step, d_model)), n_heads=h)
    d_head = d_model // h
    found = (trace.heads.shape, trace.attention.q.shape, trace.attention.scaled_scores.shape, out.shape)
    holds = found == ((n, step, h * d_head), (n, h, step, d_head), (n, h, step, step), (n, step, d_model))
    return Claim(holds, ", ".join(map(_size, found)))


@recomputes("s3-input-shape")
def _():
    n, length, d = 2, 3, 4
    rows = embedding(np.arange(5.0 * d).reshape(5, d), [[0, 1, 2], [3, 4, 0]])
    x = rows + sinusoids(length, d)
    same = np.array_equal(x[1], rows[1] + sinusoids(length, d))  # every sentence gets the same positions
    return Claim(x.shape == (n, length, d) and same, f"{_size(x)} for 2 sentences of 3 tokens")


# -- source 4


@recomputes("s4-softmax")
def _():
    scores = scores1()[0]
    scaled, unscaled = softmax(scores / np.sqrt(3)), softmax(scores)
    found = f"scaled scores; Hello's weight is {scaled[0]:.1e}, unscaled {unscaled[0]:.1e}"
    weights = attention(q1(), k1(), v1())[1].attn_weights[0]
    holds, instead = (np.allclose(x, weights, rtol=1e-6, atol=0) for x in (unscaled, scaled))
    return Claim(holds, found, instead)


@recomputes("s4-scale")
def _():
    widths = (1, 3, 64)
    scales = [attention(x, x, x)[1].scale for x in (np.ones((1, d)) for d in widths)]
    holds = np.allclose(scales, [1 / math.sqrt(d) for d in widths], rtol=1e-15)
    return Claim(holds, f"{scales[1]:.4f} for d_k = 3, {scales[2]:.4f} for 64")


@recomputes("s4-steps")
def _():
    qkv = q, k, v = q1(), k1(), v1()
    scores = q @ k.T
    scaled = scores / np.sqrt(k.shape[-1])
    weights = softmax(scaled)
    out = weights @ v
    steps = (qkv, scores, scaled, weights, out)
    return len(steps) if np.allclose(out, attention(q, k, v)[0], rtol=1e-12) else 0


@recomputes("s4-pe-unique")
def _():
    pe = sinusoids(20, 512)
    values, vectors = np.unique(pe).size, np.unique(pe, axis=0).shape[0]
    first = " and ".join(f"{x:.0f}" for x in np.unique(pe[0]))
    found = f"{vectors} of 20 rows are unique; row 0 holds only {first}"
    return Claim(values == pe.size, found, instead=vectors == 20)


# ---------------------------------------------------------------- comparing


def agrees(printed, computed, decimals: int | None = None) -> Array:
    """Tell for every printed number whether the computed one rounds to it.

    A number agrees if it lies within half a unit of the last printed place, a tie included. In
    scientific notation that is the last place of the digits before the ``e``.

    Parameters
    ----------
    printed : str or nested lists of str
        The digits as printed.
    computed : array_like
        The numbers, in the same shape.
    decimals : int, optional
        How many decimals the digits are meant to have, if zeros at the end were left out. It does
        not touch numbers in scientific notation.

    Returns
    -------
    Array of bool, the shape of `printed`

    Raises
    ------
    ValueError
        If the shapes differ, or `decimals` is below what is printed.

    Examples
    --------
    >>> agrees(["0.09", "0.24", "0.67"], [0.09003, 0.24473, 0.66524]).tolist()
    [True, True, True]
    >>> agrees(["6.84", "9.99"], [6.84, 9.9935]).tolist()
    [True, True]
    >>> agrees(["6.84", "9.99"], [6.84, 9.9935], decimals=8).tolist()
    [True, False]
    """
    words, numbers = np.array(printed, dtype=object), np.asarray(computed, dtype=np.float64)
    if words.shape != numbers.shape:
        raise ValueError(f"computed: expected the shape {shape_text(words.shape)}, got {shape_text(numbers.shape)}")
    pairs = zip(words.ravel(), numbers.ravel().tolist(), strict=True)
    return np.array([_agrees(word, number, decimals) for word, number in pairs], dtype=bool).reshape(words.shape)


def _agrees(word: str, number: float, decimals: int | None) -> bool:
    value = Decimal(word)
    if value.is_nan() or not math.isfinite(number):
        return value.is_nan() and math.isnan(number)
    place = value.as_tuple().exponent
    if decimals is not None and "e" not in word.lower():
        if -decimals > place:
            raise ValueError(f"decimals: expected at least {-place}, as many as {word} shows, got {decimals}")
        place = -decimals
    unit = Decimal(1).scaleb(place)
    rounding = 4 * Decimal(math.ulp(number))  # what the float itself may be off by
    return abs(Decimal(number) - value) <= unit * (Decimal("0.5") + Decimal("1e-9")) + rounding


@dataclass(frozen=True)
class Result:
    """An entry and what came out when it was computed again.

    Parameters
    ----------
    entry : Entry
    status : str
        One of `STATUSES`, or `FAILED`.
    computed : Array, Claim, str or None
        What follows from the entry's own inputs; None if nothing was computed.
    right : Array, Claim, str or None
        The right value; the same as `computed` unless that starts from a mistake.
    matches : Array of bool or None
        For numbers: which entries agree.
    given : bool
        True for a definition or a setting.
    failure : str
        Why it failed; empty otherwise.
    """

    entry: Entry
    status: str
    computed: object = None
    right: object = None
    matches: Array | None = None
    given: bool = False
    failure: str = ""


@dataclass(frozen=True)
class Ledger:
    """The entries, the errata and the functions that compute the entries again.

    The module has one, `LEDGER`. Tests make others, with a digit changed, and see them fail.
    """

    entries: Mapping[str, Entry]
    errata: Mapping[str, Erratum]
    functions: Mapping[str, Recomputation]
    rights: Mapping[str, Callable]
    reached: frozenset[str]
    _cache: dict = field(default_factory=dict, compare=False, repr=False)

    def __getitem__(self, name: str) -> Entry:
        try:
            return self.entries[name]
        except (KeyError, TypeError):
            raise KeyError(_unknown(name, self.entries)) from None

    def result(self, name: str) -> Result:
        """Compute one entry again and compare.

        Raises
        ------
        KeyError
            If there is no such entry.
        """
        entry = self[name]
        if name not in self._cache:
            self._cache[name] = self._compare(entry)
        return self._cache[name]

    def results(self, source: int | None = None, chapter: str | None = None) -> list[Result]:
        """Compute all entries again, or those of one source or one chapter."""
        return [
            self.result(entry.id)
            for entry in self.entries.values()
            if source in (None, entry.source) and chapter in (None, entry.chapter)
        ]

    def _compare(self, entry: Entry) -> Result:
        unknown = [name for name in (*entry.erratum, *entry.see) if name not in self.errata]
        if unknown:
            return Result(entry, FAILED, failure=f"refers to {unknown[0]}, and there is no such erratum")
        if entry.chapter not in self.reached:
            return Result(entry, NOT_REACHED)
        if entry.id not in self.functions:
            return Result(entry, FAILED, failure=f"chapter {entry.chapter} is reached, and nothing recomputes it")
        recomputation = self.functions[entry.id]
        try:
            computed = _as_value(recomputation.function())
            correct = _as_value(self.rights[entry.id]()) if entry.id in self.rights else computed
            return self._judge(entry, computed, correct, recomputation)
        except Exception as error:  # a broken function must not hide the others
            return Result(entry, FAILED, failure=f"{type(error).__name__}: {error}")

    def _judge(self, entry: Entry, computed, correct, recomputation: Recomputation) -> Result:
        def result(status, matches=None, failure=""):
            return Result(entry, status, computed, correct, matches, recomputation.given, failure)

        if entry.unseeded:
            if not isinstance(computed, Claim):
                return result(FAILED, failure="was drawn without a seed: expected a check of its structure")
            return result(UNSEEDED) if computed.holds else result(FAILED, failure=f"its structure: {computed.found}")

        matches = None
        if isinstance(computed, Claim):
            agreed = computed.holds
        elif entry.printed is None:
            if entry.through is None or recomputation.via is None:
                return result(FAILED, failure="is not printed, and nothing printed follows from it")
            goal = self[entry.through]
            agreed = bool(agrees(goal.printed, recomputation.via(computed), goal.decimals).all())
            if not agreed:
                return result(FAILED, failure=f"is not printed, and {entry.through} does not follow from it")
        elif isinstance(computed, str):
            agreed = computed == entry.printed
        else:
            matches = agrees(entry.printed, computed, entry.decimals)
            agreed = bool(matches.all())

        if isinstance(computed, Claim) and not (agreed or computed.instead):
            return result(FAILED, failure=f"is wrong, and so is what should be right: {computed.found}")
        if agreed and entry.erratum:
            return result(FAILED, matches, f"agrees with what is printed, but {entry.erratum[0]} calls it wrong")
        if not agreed and not entry.erratum:
            gap = _first_gap(entry, computed, matches)
            return result(FAILED, matches, f"disagrees with what is printed, and no erratum says so: {gap}")
        return result(REPRODUCED if agreed else CORRECTED, matches)


def _as_value(value):
    """A claim or a text as it is, anything else as floats."""
    return value if isinstance(value, (Claim, str)) else np.asarray(value, dtype=np.float64)


def _first_gap(entry: Entry, computed, matches: Array | None) -> str:
    if matches is None:
        return f"printed {entry.printed!r}, found {str(computed)!r}"
    where = tuple(int(i) for i in np.argwhere(~matches)[0]) if matches.ndim else ()
    place = f" at {list(where)}" if where else ""
    return f"printed {entry.words[where]}, computed {float(computed[where]):.10g}{place}"


LEDGER = Ledger(ENTRIES, _ERRATA, _FUNCTIONS, _RIGHT, REACHED)


def value(name: str):
    """What an entry gives when it is computed again.

    Returns
    -------
    Array, float, Claim or str
        A `Claim` for a statement.

    Raises
    ------
    KeyError
        If there is no such entry.
    ValueError
        If the course has not reached it.

    Examples
    --------
    >>> value("s0-q1-dot-k1")
    68.0
    """
    result = LEDGER.result(name)
    if result.computed is None:
        late = f"expected an entry of a finished chapter, got one of chapter {result.entry.chapter}"
        raise ValueError(f"{name}: {result.failure or late}")
    found = result.computed
    return found if isinstance(found, (Claim, str)) else found.copy() if found.ndim else float(found)


def printed(name: str):
    """What a source printed, as floats.

    Returns
    -------
    Array or float

    Raises
    ------
    KeyError
        If there is no such entry.
    ValueError
        If it is no number, or is not printed.

    Examples
    --------
    >>> printed("s0-k1")
    array([[4.  , 8.  , 4.  ],
           [6.84, 9.99, 6.84]])
    """
    entry = LEDGER[name]
    if not entry.is_number:
        raise ValueError(f"{name}: expected a number, got {entry.words[()]!r}")
    numbers = entry.words.astype(np.float64)
    return numbers if numbers.ndim else float(numbers)


# ---------------------------------------------------------------- writing numbers


def _digits(entry: Entry, numbers: Array) -> Array:
    """Write computed numbers so that they can be read beside the printed ones: at least as many places."""
    words = entry.words.ravel() if entry.is_number else np.array([], dtype=object)
    if any("e" in word.lower() for word in words):
        places = max(_places(re.split("[eE]", word)[0]) for word in words)
        written = [f"{x:.{places}e}" for x in numbers.ravel().tolist()]
    else:
        places = max([6, entry.decimals or 0, *map(_places, words)])
        written = [f"{x:.{places}f}" for x in numbers.ravel().tolist()]
        surplus = min(len(word) - len(word.rstrip("0")) for word in written)  # zeros that all of them end with
        if surplus:
            written = [word[: -min(surplus, places)].rstrip(".") for word in written]
    zeros = {word for word in written if not any(c in "123456789" for c in word.split("e")[0])}
    return np.array([w.removeprefix("-") if w in zeros else w for w in written], dtype=object).reshape(numbers.shape)


def _places(word: str) -> int:
    return len(word.partition(".")[2])


def _written(entry: Entry, found) -> Array:
    """The words of what was computed, in its shape."""
    if isinstance(found, np.ndarray):
        return _digits(entry, found)
    return np.array("" if found is None else str(found), dtype=object)


def _verdict(result: Result) -> tuple[str, list[str]]:
    """The sign and status of a result, and the remarks that go with it."""
    entry = result.entry
    titles = [f"{name}: {LEDGER.errata[name].title}" for name in entry.erratum]
    if result.status == REPRODUCED:
        how = ["given"] if result.given else [f"through {entry.through}"] if entry.through else []
        return f"✓ {REPRODUCED}", how + [f"see {name}: {LEDGER.errata[name].title}" for name in entry.see]
    if result.status == FAILED:
        return f"✗ {FAILED}", [result.failure]
    sign = {CORRECTED: "✗", UNSEEDED: "○", NOT_REACHED: "…"}[result.status]
    return f"{sign} {result.status}", titles


# ---------------------------------------------------------------- a table for a page


def table(*ids: str) -> Table:
    """Set what was printed beside what is computed, for a notebook or a terminal.

    Parameters
    ----------
    *ids : str
        Which entries, in this order.

    Raises
    ------
    KeyError
        If an id is unknown; the message names close ones.
    ValueError
        If there is none.

    Examples
    --------
    >>> table("s0-scores1", "s0-k1-hand-expansion")
    scores of head 1, by NumPy: ✓ reproduced
        printed     68.   105.21
                  87.88 135.5517
        computed  68.0000 105.2100
                  87.8800 135.5517
    K₁, from the sums as they are typed: ✗ corrected
        E0-12: a 4 where 3.99 is meant
        printed      4    8    4
                  6.84 9.99 6.84
        computed  4.00    8.00 4.00
                  6.84 ✗ 10.00 6.84
        right     4.00 8.00 4.00
                  6.84 9.99 6.84
    """
    if not ids:
        raise ValueError('ids: expected at least one id, as in table("s0-k1"), got none')
    return Table(tuple(LEDGER.result(name) for name in ids))


@dataclass(frozen=True)
class Table:
    """Results that show themselves as a table, in HTML and in plain text.

    Short numbers stand side by side; where a row of an array is long, what was printed stands above
    what is computed, so that the page stays narrow.
    """

    results: tuple[Result, ...]

    @property
    def is_narrow(self) -> bool:
        """True if printed and computed numbers fit beside each other."""
        pairs = [(_aligned(r.entry.words), _aligned(_written(r.entry, r.computed))) for r in self.results]
        widest = (max(len(line) for pair in pairs for line in pair[side]) for side in (0, 1))
        return sum(widest) <= SIDE_BY_SIDE

    def __repr__(self) -> str:
        return "\n".join(self._side_by_side() if self.is_narrow else self._stacked())

    def _side_by_side(self) -> list[str]:
        rows = [[["what"], ["printed"], ["computed"], ["verdict"]]]
        for result in self.results:
            entry = result.entry
            numbers = [_aligned(entry.words), _aligned(_signed(_written(entry, result.computed), result.matches))]
            rows.append([[entry.what], *numbers, _verdict_lines(result)])
        widths = [max(len(line) for row in rows for line in row[j]) for j in range(4)]
        lines = []
        for row in rows:
            for i in range(max(map(len, row))):
                cells = [cell[i] if i < len(cell) else "" for cell in row]
                lines.append("  ".join(c.ljust(w) for c, w in zip(cells, widths, strict=True)).rstrip())
        return lines

    def _stacked(self) -> list[str]:
        lines = []
        for result in self.results:
            verdict, remarks = _verdict(result)
            lines.append(f"{result.entry.what}: {verdict}")
            lines += [f"    {remark}" for remark in remarks]
            for label, words, matches in _parts(result):
                for i, line in enumerate(_aligned(_signed(words, matches))):
                    lines.append(f"    {'' if i else label:10}{line}".rstrip())
        return lines

    def _repr_html_(self) -> str:
        if not self.is_narrow:
            return f'<table class="compare">{"".join(map(_html_block, self.results))}</table>'
        head = "".join(f'<th scope="col">{name}</th>' for name in ("what", "printed", "computed", "verdict"))
        body = "".join(map(_html_row, self.results))
        return f'<table class="compare"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


SIDE_BY_SIDE = 16  # characters that printed and computed numbers may take together, beside each other


def _aligned(words: Array) -> list[str]:
    """One line for each row of an array, in columns."""
    if words.ndim == 0:
        return [words[()]]
    rows = words.reshape(-1, words.shape[-1])
    widths = [max(map(len, column)) for column in rows.T]
    return [" ".join(word.rjust(width) for word, width in zip(row, widths, strict=True)) for row in rows]


def _signed(words: Array, matches: Array | None) -> Array:
    """The words, with a sign before each that does not match."""
    if matches is None:
        return words
    signed = [w if ok else f"✗ {w}" for w, ok in zip(words.flat, matches.flat, strict=True)]
    return np.array(signed, dtype=object).reshape(words.shape)


def _parts(result: Result) -> list[tuple[str, Array, Array | None]]:
    """What there is to show of a result: a label, the words, and which of them match."""
    entry = result.entry
    parts = [("printed", entry.words, None)]
    if result.computed is not None:
        parts.append(("computed", _written(entry, result.computed), result.matches))
    if result.status == CORRECTED and result.right is not result.computed:
        parts.append(("right", _written(entry, result.right), None))
    return parts


def _verdict_lines(result: Result) -> list[str]:
    verdict, remarks = _verdict(result)
    right_lines = [line for label, words, _ in _parts(result) if label == "right" for line in _aligned(words)]
    return [verdict, *(f"{'' if i else 'right:':6} {line}" for i, line in enumerate(right_lines)), *remarks]


def _html_verdict(result: Result) -> tuple[str, str]:
    """The status and the remarks; the style of the page sets a sign beside "ok" and "differs"."""
    kind = {REPRODUCED: "ok", CORRECTED: "differs", FAILED: "differs"}.get(result.status, "open")
    _, remarks = _verdict(result)
    notes = "".join(f"<br><small>{_html.escape(remark)}</small>" for remark in remarks)
    return f'<span class="{kind}">{result.status}</span>', notes


def _html_row(result: Result) -> str:
    """One row: what, printed, computed, verdict."""
    status, notes = _html_verdict(result)
    shown = {label: _html_words(words, matches) for label, words, matches in _parts(result)}
    if "right" in shown:
        status += f"<br>right: {shown['right']}"
    name = f"{_html.escape(result.entry.what)}<br><code>{result.entry.id}</code>"
    cells = (shown["printed"], shown.get("computed", ""), status + notes)
    return f'<tr><th scope="row">{name}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'


def _html_block(result: Result) -> str:
    """Several rows: what and verdict, then printed, computed, right."""
    status, notes = _html_verdict(result)
    name = f"{_html.escape(result.entry.what)} <code>{result.entry.id}</code>"
    rows = "".join(
        f'<tr><th scope="row">{label}</th><td>{_html_words(words, matches)}</td></tr>'
        for label, words, matches in _parts(result)
    )
    return f'<tbody><tr><th scope="rowgroup" colspan="2">{name} {status}{notes}</th></tr>{rows}</tbody>'


def _html_words(words: Array, matches: Array | None = None) -> str:
    """Words with the rows of an array on lines of their own, in columns; what does not match gets a sign."""
    if words.ndim == 0 and not re.fullmatch(r"[-+.\de]*", words[()]):
        return _html.escape(words[()])  # a statement
    lines = "\n".join(_aligned(_signed(words, matches))).replace("-", "−")
    lines = re.sub(r"✗ [^ \n]+", r"<strong>\g<0></strong>", lines)
    style = "font-family: monospace; font-size: 0.85em; white-space: pre"
    return f'<span class="compare-numbers" style="{style}">{lines}</span>'


# ---------------------------------------------------------------- the page of the book


def slug(heading: str) -> str:
    """The anchor that GitHub, JupyterLab and the book give a heading.

    Examples
    --------
    >>> slug("E0-12: a 4 where 3.99 is meant")
    'e0-12-a-4-where-399-is-meant'
    """
    return re.sub(r"[^\w\u4e00-\u9fff\- ]", "", heading.lower().replace(" ", "-"))


def errata_heading(name: str) -> str:
    """The heading of an erratum: its id and its title.

    Raises
    ------
    KeyError
        If there is no such erratum.

    Examples
    --------
    >>> errata_heading("E0-02")
    'E0-02: the position of World'
    """
    if name not in ERRATA:
        near = difflib.get_close_matches(str(name), ERRATA, n=3)
        raise KeyError(f"unknown erratum {name!r}: " + (f"did you mean {' or '.join(near)}?" if near else "see ERRATA"))
    return f"{name}: {ERRATA[name]}"


def errata_link(name: str, page: str = "errata.ipynb", text: str | None = None) -> str:
    """A Markdown link to an erratum; its heading alone if the page does not treat it yet.

    Parameters
    ----------
    name : str
        The erratum's id.
    page : str
        The errata page, as seen from the page with the link.
    text : str, optional
        What to click on; the heading if left out.

    Examples
    --------
    >>> errata_link("E0-02")
    '[E0-02: the position of World](errata.ipynb#e0-02-the-position-of-world)'
    >>> errata_link("E0-53", text="E0-53")
    'E0-53'
    """
    heading = errata_heading(name)
    text = heading if text is None else text
    return f"[{text}]({page}#{slug(heading)})" if ERRATA_CHAPTER[name] in REACHED else text


def counts(results: Iterable[Result]) -> dict[str, int]:
    """How many results have each status, in the order of `STATUSES`; failures only if there are any."""
    found = [result.status for result in results]
    tally = {status: found.count(status) for status in STATUSES}
    return tally | ({FAILED: found.count(FAILED)} if FAILED in found else {})


def as_markdown(source: int, notebooks: str = "../notebooks") -> str:
    """All entries of one source as Markdown tables, one for each section of the source.

    Each row links to the chapter that computes it, and to the erratum that corrects it.

    Parameters
    ----------
    source : int
        0 to 4.
    notebooks : str
        The folder of the chapters, as seen from the page.

    Raises
    ------
    ValueError
        If there is no such source.
    """
    if source not in range(len(SOURCES)):
        raise ValueError(f"source: expected 0 to {len(SOURCES) - 1}, got {source!r}")
    sections: dict[str, list[str]] = {}
    for result in LEDGER.results(source=source):
        sections.setdefault(result.entry.section, []).append(_markdown_row(result, notebooks))
    head = "| what | printed → computed | verdict |\n|:--|:--|:--|\n"
    tables = (f"**{name[0].upper()}{name[1:]}**\n\n{head}" + "\n".join(rows) for name, rows in sections.items())
    return "\n\n".join(tables)


def _markdown_row(result: Result, notebooks: str) -> str:
    entry, chapter = result.entry, result.entry.chapter
    where = f"chapter {int(chapter)}"
    if chapter in CHAPTERS:
        where = f"[{where}]({notebooks}/{CHAPTERS[chapter]}.ipynb)"
    numbers = [_markdown_words(entry.words)]
    if result.status in (CORRECTED, FAILED) or (entry.printed is None and result.computed is not None):
        numbers.append("→ " + _markdown_words(_written(entry, result.computed)))
    if result.status == CORRECTED and result.right is not result.computed:
        numbers.append("right: " + _markdown_words(_written(entry, result.right)))
    verdict, _ = _verdict(result)
    notes = [errata_link(name) for name in entry.erratum] if result.status == CORRECTED else []
    if result.status == REPRODUCED:
        notes = (["given"] if result.given else []) + [f"see {errata_link(name, text=name)}" for name in entry.see]
    verdict = verdict.replace(" ", "\N{NO-BREAK SPACE}", 1)
    return f"| {entry.what}, {where} | {'<br>'.join(numbers)} | {'<br>'.join([verdict, *notes])} |"


def _markdown_words(words: Array) -> str:
    """One line for each row of an array, in brackets: on a narrow page a row takes several lines."""
    if words.ndim == 0:
        return words[()].replace("|", "\\|")
    return "<br>".join(f"`[{' '.join(row)}]`" for row in words.reshape(-1, words.shape[-1]))


# ---------------------------------------------------------------- the command


def main(arguments: list[str] | None = None) -> int:
    """Recompute, print a line for each entry and the counts, and return the exit status."""
    options = _parser().parse_args(arguments)
    results = LEDGER.results(options.source, options.chapter)
    failures = [result for result in results if result.status == FAILED]
    shown = [r for r in results if options.only in (None, r.status) or r.status == FAILED]
    if options.json:
        text = json.dumps({"results": [_as_json(r) for r in shown], "counts": counts(results)}, indent=1)
    else:
        text = "\n".join([*_report(shown), _summary(results)])
    for failure in failures:
        print(f"{FAILED} {failure.entry.id}: {failure.failure}", file=sys.stderr)
    try:
        sys.stdout.reconfigure(errors="replace")  # a terminal without "…" shows "?"
    except AttributeError:  # not a terminal's stream
        pass
    try:
        print(text, flush=True)
    except BrokenPipeError:  # the reader, `head` perhaps, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1 if failures else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m toytf.published",
        description="Compute again what five texts printed about the Transformer, and compare every digit.",
        epilog="Each line: id, verdict, what was printed, what is computed (the right value where it is "
        "corrected), erratum. The last line counts the verdicts. Exit status: 0 if all is as it should be, "
        "1 if a number that should reproduce does not, 2 if the arguments are wrong.",
    )
    listed = ", ".join(f"{i} {name}" for i, name in enumerate(SOURCES))
    parser.add_argument("--source", type=_source, metavar="N", help=f"only one source: {listed}")
    parser.add_argument("--chapter", type=_chapter, metavar="NN", help=f"only one chapter, 01 to {LAST_CHAPTER}")
    parser.add_argument("--only", type=_status, metavar="STATUS", help=f"only one verdict: {', '.join(STATUSES)}")
    parser.add_argument("--json", action="store_true", help="print JSON, with nothing shortened")
    return parser


def _source(text: str) -> int:
    if text not in map(str, range(len(SOURCES))):
        raise argparse.ArgumentTypeError(f"expected a source from 0 to {len(SOURCES) - 1}, got {text!r}")
    return int(text)


def _chapter(text: str) -> str:
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= LAST_CHAPTER):
        raise argparse.ArgumentTypeError(f"expected a chapter from 01 to {LAST_CHAPTER}, got {text!r}")
    return f"{int(text):02d}"


def _status(text: str) -> str:
    status = text.replace("-", " ").strip().lower()
    if status not in STATUSES:
        raise argparse.ArgumentTypeError(f"expected one of {', '.join(map(repr, STATUSES))}, got {text!r}")
    return status


WIDTH, NUMBERS = 120, 18  # columns of a line of the report, and of each of the two numbers in it


def _report(results: list[Result]) -> list[str]:
    """A line for each result, in columns."""
    names = max((len(r.entry.id) for r in results), default=0)
    verdicts = max((len(r.status) for r in results), default=0)
    room = WIDTH - names - verdicts - 2 * NUMBERS - 4 * 2
    lines = []
    for r in results:
        remark = "; ".join(map(errata_heading, r.entry.erratum)) if r.status == CORRECTED else ""
        found, start = _shown(r)
        cells = (
            r.entry.id.ljust(names),
            r.status.ljust(verdicts),
            _shortened(r.entry.words, start, NUMBERS).ljust(NUMBERS),
            _shortened(_written(r.entry, found), start, NUMBERS).ljust(NUMBERS),
            remark if len(remark) <= room else remark[: room - 1] + "…",
        )
        lines.append("  ".join(cells).rstrip())
    return lines


def _shown(result: Result) -> tuple[object, int]:
    """What a single column shows of a result, and where it first differs from what was printed.

    That is the right value, except where the printed digits are right and what they are said to
    follow from is not: then it is what does follow.
    """
    entry, found, matches = result.entry, result.right, result.matches
    if result.status == NOT_REACHED:
        return f"chapter {entry.chapter}", 0
    if result.status == CORRECTED and matches is not None:
        right_matches = agrees(entry.printed, found, entry.decimals)
        found, matches = (result.computed, matches) if right_matches.all() else (found, right_matches)
    return found, 0 if matches is None else int(np.argmin(matches.ravel()))


def _shortened(words: Array, start: int, room: int) -> str:
    """Words on one line; what does not fit becomes "…", but never the word at `start`."""
    flat = [str(word) for word in words.ravel()]
    text = " ".join(flat)
    if len(text) <= room:
        return text
    if len(flat) == 1:
        return text[: room - 1] + "…"
    if len(" ".join(flat[: start + 1])) + 2 <= room:
        start = 0  # it fits from the beginning on
    kept = ["…"] if start else []
    for word in flat[start:]:
        if len(" ".join([*kept, word])) + 2 > room and len(kept) > bool(start):
            break
        kept.append(word)
    return " ".join(kept) + (" …" if start + len(kept) - bool(start) < len(flat) else "")


def _summary(results: list[Result]) -> str:
    tally = ", ".join(f"{n} {status}" for status, n in counts(results).items())
    return f"{len(results)} published: {tally}"


def _as_json(result: Result) -> dict:
    def plain(found):
        if isinstance(found, np.ndarray):
            return found.tolist()
        return asdict(found) if isinstance(found, Claim) else found

    entry = asdict(result.entry)
    return entry | {
        "status": result.status,
        "given": result.given,
        "computed": plain(result.computed),
        "right": plain(result.right),
        "matches": None if result.matches is None else result.matches.tolist(),
        "failure": result.failure,
    }


if __name__ == "__main__":
    sys.exit(main())
