"""By-hand exercises whose numbers are drawn: what one is made of, the rule that its numbers obey, and the topics.

Each topic draws an exercise, or None where the numbers are not fit for a pencil. Where it has a choice, it leaves out
numbers that hide a mistake: scores that are the same turned over, weights that are all alike, units that are all on.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from toytf import byhand
from toytf.attention import causal_mask
from toytf.byhand import Difference, Entry, Num, Prod, Quotient, Root, Sum, Working
from toytf.byhand.expressions import fixed, trimmed

Array = np.ndarray

DIVISORS = (2, 4, 5, 8, 10, 20)  # whatever is divided by one of these ends after few decimals
LARGEST = 99  # of what is given, and of an answer
SUBJECTS = ("we", "they", "cats", "dogs", "birds", "friends")
VERBS = ("like", "see", "want", "find", "draw")
OBJECTS = ("tea", "books", "rain", "snow", "music", "bread")
DOINGS = ("sleep", "sing", "run", "wait", "dance", "swim")

TRIES = 10_000


@dataclass(frozen=True)
class Given:
    """A table that stands on the sheet."""

    name: str  # what the text calls it, in TeX: "W^Q"
    array: Array  # shape (rows, columns)
    rows: tuple[str, ...]  # labels; empty strings for none
    cols: tuple[str, ...]
    words: tuple[tuple[str, ...], ...] | None = None  # how entries are written that are no plain numbers: "\\log 3"
    decimals: int = 0  # so many everywhere, where the entries are plain numbers

    def cells(self) -> list[list[str]]:
        """The entries as they are printed, row by row."""
        if self.words is not None:
            return [list(row) for row in self.words]
        return [[fixed(float(v), self.decimals) for v in row] for row in self.array]


@dataclass(frozen=True)
class Asked:
    """One answer: a table with blanks on the student's sheet, worked out on the answer sheet."""

    name: str  # what an answer to a machine calls it: "A"
    symbol: str  # what the text calls it, in TeX
    expected: Array  # any shape up to two axes; the blanks stand in len(rows) x len(cols)
    rows: tuple[str, ...]
    cols: tuple[str, ...]
    work: Callable[[], Working]  # an entry for each number or for each row
    decimals: int = 0  # 0: whole numbers; otherwise the answer is exact with so many
    note: str = ""  # what the answer sheet says before the arithmetic
    # Answers that have to be right too if this one is to earn points: of an answer that can be one of a few only
    # (the root of `d_k`), a neighbour often has the same.
    only_with: tuple[str, ...] = ()

    @property
    def shape(self) -> tuple[int, ...]:
        return np.shape(self.expected)

    @property
    def how(self) -> str:
        """In which form the answer is wanted."""
        if self.decimals:
            return f"exact, at most {self.decimals} decimal{'s'[: self.decimals != 1]}"
        return "whole numbers" if self.shape else "a whole number"

    @property
    def values(self) -> Array:
        """The answer, rounded as it is asked for."""
        return np.round(np.asarray(self.expected, dtype=float), self.decimals) + 0.0  # no -0

    def cells(self) -> list[list[str]]:
        """The right answers as they are written, row by row."""
        table = np.reshape(self.expected, (len(self.rows), len(self.cols)))
        return [[trimmed(float(v), self.decimals) for v in row] for row in table]

    def terms(self, place: tuple[int, ...]) -> str:
        """How one entry comes about: ``"1·4 + 0·8 = 4 + 0 = 4"``."""
        entries = self.work().entries
        if not entries:
            return f"expected {float(np.asarray(self.expected)[place]):g}"
        whole_rows = len(entries) < np.size(self.expected)
        at = place[0] if whole_rows else int(np.ravel_multi_index(place, self.shape)) if place else 0
        return sums(entries[at])


@dataclass(frozen=True)
class Word:
    """A number that is written as a word: ``log 4``. Nothing of it is rounded."""

    value: float
    word: str
    exact = True

    def render(self, form: str, tight: bool = False) -> str:
        return self.word


@dataclass(frozen=True)
class Drawn:
    """One exercise of a sheet: what is given, what is asked, and how it is worked out."""

    topic: str  # a name in `TOPICS`
    text: tuple[str, ...]  # paragraphs, with TeX between dollar signs and code between backticks
    given: tuple[Given, ...]
    asked: tuple[Asked, ...]

    @property
    def fingerprint(self) -> str:
        """All that differs between two students' exercises, as text."""
        return "|".join(f"{g.name};{g.rows};{g.cols};{g.cells()}" for g in self.given)


def sums(entry: Entry) -> str:
    """The steps to one entry: ``"1·4 + 0·8 = 4 + 0 = 4"``."""
    (_, first), *rest = entry.chain("text")
    return " ".join([first, *(f"{relation} {step}" for relation, step in rest)])


def is_word(name: str) -> bool:
    """Whether a name is a word, which stays upright where a symbol is set as mathematics."""
    return len(name) > 2 and name.isalpha() and name.islower()


def fixed_width(given: Given) -> str:
    """A table as plain text."""
    rows = [("", *given.cols), *((label, *row) for label, row in zip(given.rows, given.cells(), strict=True))]
    spoken = ([cell.replace("\\", "") for cell in row] for row in rows if any(row))
    return "\n".join([given.name, *("".join(f"{cell:>9}" for cell in row) for row in spoken)])


def complaints(exercise: Drawn) -> list[str]:
    """Say what is wrong with an exercise's numbers; nothing, if they are fit for a pencil.

    What is given is written in full, an answer ends within the decimals that are asked for, and no number is larger
    than 99. That every divisor is one of `DIVISORS` is part of the rule too; a test looks at it.
    """
    found = []
    plain = [(one.name, one.array, one.decimals if one.words is None else None) for one in exercise.given]
    for name, values, decimals in [*plain, *((one.name, one.expected, one.decimals) for one in exercise.asked)]:
        values = np.asarray(values, dtype=float)
        if np.abs(values).max() > LARGEST:
            found.append(f"{name}: expected nothing above {LARGEST}, got {np.abs(values).max():g}")
        if decimals is not None and np.abs(values - np.round(values, decimals)).max() > 1e-6 / 10**decimals:
            found.append(f"{name}: expected at most {decimals} decimals")
    return found


@dataclass(frozen=True)
class Topic:
    """One kind of exercise."""

    title: str
    chapter: int  # where the book explains it
    minutes: int  # for somebody who has read the chapter
    draw: Callable[[np.random.Generator], tuple | None]  # text, givens and what is asked; None where they are not fit
    # The by-hand exercises of the book whose place it can take: it asks for the same computation, or for the main one.
    instead_of: tuple[str, ...] = ()

    def exercise(self, name: str, rng: np.random.Generator) -> Drawn:
        """Draw until the numbers obey the rule."""
        for _ in range(TRIES):
            if (parts := self.draw(rng)) is not None:
                exercise = Drawn(name, *parts)
                if not complaints(exercise):
                    return exercise
        raise RuntimeError(f"{name}: {TRIES} draws, and none obeys the rule")


# ---------------------------------------------------------------- drawing


def _whole(rng, low: int, high: int, shape) -> Array:
    """Whole numbers from `low` to `high`, both included."""
    return rng.integers(low, high + 1, shape).astype(float)


def _pick(rng, words: Sequence[str], n: int = 1) -> list[str]:
    return [words[i] for i in rng.permutation(len(words))[:n]]


def _sentence(rng, n: int) -> tuple[str, ...]:
    """Two, three or four tokens; a sentence of four begins with ``<sos>``, as a decoder's does."""
    if n == 2:
        return (*_pick(rng, SUBJECTS), *_pick(rng, DOINGS))
    words = (*_pick(rng, SUBJECTS), *_pick(rng, VERBS), *_pick(rng, OBJECTS))
    return words if n == 3 else ("<sos>", *words)


def _shares(rng, parts: int, totals: Sequence[int]) -> Array:
    """Whole numbers, not all alike, whose sum is one of `totals`: divided by it they are weights that end."""
    while True:
        many = rng.integers(1, 10, (128, parts))  # most sums are none of the totals
        for numbers in many[(many.sum(axis=1)[:, None] == totals).any(axis=1)]:
            if numbers.min() < numbers.max():
                return numbers.astype(float)


def _numbers(n: int) -> tuple[str, ...]:
    return tuple(str(i + 1) for i in range(n))


def _matrix(name: str, array: Array, rows: Sequence[str] | None = None, cols=None, decimals: int = 0) -> Given:
    rows = ("",) * len(array) if rows is None else tuple(rows)
    cols = ("",) * array.shape[1] if cols is None else tuple(cols)
    return Given(name, array, rows, cols, None, decimals)


def _listed(words: Sequence[str]) -> str:
    return " ".join(f"`{word}`" for word in words)


# ---------------------------------------------------------------- working out


def _num(value) -> Num:
    return Num(float(value), 4)


def _nums(values) -> list[Num]:
    return [_num(v) for v in values]


def _worked(name: str, symbol: str, result, rows, cols, steps: Callable[[int, int], tuple], *more, **how) -> Asked:
    """An answer whose entry (i, j) comes about by these steps."""
    result, rows, cols = np.asarray(result, dtype=float), tuple(rows), tuple(cols)

    def work():
        table, entries = result.reshape(len(rows), len(cols)), []
        for i, j in np.ndindex(table.shape):
            where = ", ".join(word for word in (rows[i], cols[j]) if word)
            entries.append(Entry(where, (*steps(i, j), _num(table[i, j]))))
        return Working("", "", table, rows, cols, tuple(entries))

    return Asked(name, symbol, result, rows, cols, work, *more, **how)


def _product(name: str, symbol: str, a: Array, b: Array, rows, cols=None, **how) -> Asked:
    """``a @ b``, each entry with its sum of products."""
    rows = tuple(rows)
    cols = _numbers(b.shape[1]) if cols is None else tuple(cols)
    return Asked(name, symbol, a @ b, rows, cols, partial(byhand.matmul, a, b, rows=rows, cols=cols), **how)


def _affine(name: str, symbol: str, a: Array, b: Array, bias: Array, rows) -> Asked:
    """``a @ b + bias``."""

    def steps(i, j):
        products = [Prod(_num(x), _num(y)) for x, y in zip(a[i], b[:, j], strict=True)]
        return Sum(*products, _num(bias[j])), Sum(*_nums(p.value for p in products), _num(bias[j]))

    return _worked(name, symbol, a @ b + bias, rows, _numbers(b.shape[1]), steps)


def _weights(powers: Sequence[Array], rows, cols, note: str) -> Asked:
    """Each power divided by the sum of its row; a row may be shorter than the table, then 0 follows."""
    n = len(cols)
    expected = np.array([np.append(p / p.sum(), np.zeros(n - len(p))) for p in powers])

    def steps(i, j):
        row = powers[i]
        if j >= len(row):
            return (Word(0.0, "hidden"),)
        short = Quotient(_num(row[j]), _num(row.sum()))
        return (Quotient(_num(row[j]), Sum(*_nums(row))), short) if len(row) > 1 else (short,)

    return _worked("A", "A", expected, rows, cols, steps, 3, note=note)


def _logarithms(powers: Array, rows, cols) -> Given:
    """Scores that are logarithms of whole numbers, and written so."""
    words = tuple(tuple(rf"\log {int(a)}" for a in row) for row in powers)
    return Given("S", np.log(powers), tuple(rows), tuple(cols), words)


# ---------------------------------------------------------------- the topics


def embedding(rng):
    said = _sentence(rng, 3)
    others = _pick(rng, [w for w in SUBJECTS + VERBS + OBJECTS if w not in said], 2)
    vocabulary = _pick(rng, (*said, *others), 5)
    ids = np.array([vocabulary.index(word) for word in said])
    table = _whole(rng, -3, 9, (5, 4))
    taken = table[ids]
    if list(ids) == [0, 1, 2] or (taken == 0).sum() > 2:
        return None
    cols = _numbers(4)

    def row_number(i, _):
        return (Word(float(ids[i]), f"number of the row of {said[i]}"),)

    def doubled(i, j):
        return Prod(Root(Num(4.0)), _num(taken[i, j])), Prod(Num(2.0), _num(taken[i, j]))

    text = (
        "The table holds one row of width $d = 4$ for each word of a small vocabulary. A word's id is the number of "
        f"its row, counted from 0. Write down the ids of {_listed(said)}, look up their rows, and multiply every entry "
        r"by $\sqrt{d}$, as the paper does.",
    )
    given = (_matrix("table", table, vocabulary, cols),)
    asked = (_worked("ids", "ids", ids, said, ("",), row_number), _worked("E", "E", 2 * taken, said, cols, doubled))
    return text, given, asked


def product(rng):
    said = _sentence(rng, 2)
    x, w = _whole(rng, -3, 5, (2, 3)), _whole(rng, -3, 4, (3, 2))
    if (x == 0).sum() > 1 or (w == 0).sum() > 2 or not x.any(axis=1).all() or not w.any(axis=0).all():
        return None
    text = ("Tokens are rows: each row of $X$ is one token. Compute its query, the same row of $Q = X W^Q$.",)
    return text, (_matrix("X", x, said), _matrix("W^Q", w)), (_product("Q", "Q", x, w, said),)


def scores(rng):
    said = _sentence(rng, 2)
    q, k = _whole(rng, -2, 5, (2, 4)), _whole(rng, -2, 5, (2, 4))
    s = q @ k.T
    if s[0, 1] == s[1, 0] or len(np.unique(s)) < 4 or (q == 0).sum() > 2 or (k == 0).sum() > 2:
        return None
    text = (
        "Every query meets every key: $S = Q K^T$. The entry in row $i$ and column $j$ is the score of query $i$ with "
        "key $j$.",
    )
    return text, (_matrix("Q", q, said), _matrix("K", k, said)), (_product("S", "S", q, k.T, said, said),)


def scaling(rng):
    said = _sentence(rng, 3)
    d_k, per = [(4, 2), (16, 2), (25, 5), (64, 2), (100, 10)][int(rng.integers(5))]
    root = np.sqrt(d_k)
    scaled = _whole(rng, -4 * per, 9 * per, (3, 3)) / per
    s = scaled * root
    if (scaled == np.round(scaled)).sum() > 6:
        return None

    text = (r"These are the scores $S$ of queries and keys of width $d_k$. Find $\sqrt{d_k}$, and divide each by it.",)
    work = partial(byhand.divide, s, d_k, root=True, rows=said, cols=said)
    given = (_matrix("d_k", np.array([[float(d_k)]])), _matrix("S", s, said, said))
    asked = (
        _worked("root", r"\sqrt{d_k}", root, ("",), ("",), lambda _i, _j: (Root(_num(d_k)),), only_with=("scaled",)),
        Asked("scaled", r"S / \sqrt{d_k}", scaled, said, said, work, 1),
    )
    return text, given, asked


_POWER_OF_LOG = r"$e^{\log a} = a$, so the powers of each row are the numbers whose logarithms are given."


def softmax(rng):
    rows, cols = [f"query {i}" for i in (1, 2, 3)], [f"key {j}" for j in (1, 2, 3, 4)]
    powers = np.array([_shares(rng, 4, (5, 8, 10, 20)) for _ in rows])
    text = (
        r"These scores are already scaled, and they are logarithms: $e^{\log a} = a$. Take the softmax of each row: "
        "write down the sum of the row's powers, then the weights $A$.",
    )

    def total(i, _):
        return (Sum(*_nums(powers[i])),)

    asked = (
        _worked("sums", "sums", powers.sum(axis=1), rows, ("",), total, only_with=("A",)),
        _weights(powers, rows, cols, _POWER_OF_LOG),
    )
    return text, (_logarithms(powers, rows, cols),), asked


def weighted_sum(rng):
    said = _sentence(rng, 3)
    parts = np.array([_shares(rng, 3, (4, 5, 10)) for _ in range(2)])
    a, v = parts / parts.sum(axis=1, keepdims=True), _whole(rng, 0, 9, (3, 2))
    rows = ("query 1", "query 2")
    if np.array_equal(a[0], a[1]) or len(np.unique(v)) < 4:
        return None
    text = (
        f"Two queries look at {_listed(said)} with the weights $A$. Mix the values: each row of $Z = A V$ is a "
        "weighted sum of the rows of $V$.",
    )
    work = partial(byhand.weighted_sum, a, v, rows=rows, cols=_numbers(2))
    asked = (Asked("Z", "Z", a @ v, rows, _numbers(2), work, 2),)
    return text, (_matrix("A", a, rows, said, decimals=2), _matrix("V", v, said)), asked


def masked(rng):
    said = _sentence(rng, 4)
    powers = _whole(rng, 1, 9, (4, 4))
    longer = [_shares(rng, n, (4, 5, 8, 10, 20)) for n in (2, 3, 4)]
    seen = [rng.permutation([2.0, 4.0, 5.0, 8.0])[:1], *longer]
    for i, row in enumerate(seen):
        powers[i, : i + 1] = row
    mask = causal_mask(4).astype(float)
    note = f"The mask comes before the softmax, so hidden scores have no part in the sums. {_POWER_OF_LOG}"

    text = (
        r"A decoder's self-attention has these scaled scores; they are logarithms, and $e^{\log a} = a$. Write down "
        "the causal mask $M$, with 1 where a query may look and 0 where the key is hidden. Then take the softmax of "
        "each row with the mask.",
    )
    asked = (
        Asked("M", "M", mask, said, said, partial(byhand.table, mask, rows=said, cols=said), only_with=("A",)),
        _weights(seen, said, said, note),
    )
    return text, (_logarithms(powers, said, said),), asked


def feed_forward(rng):
    said = _sentence(rng, 2)
    x, w_1, b_1 = _whole(rng, -2, 4, (2, 2)), _whole(rng, -2, 3, (2, 3)), _whole(rng, -3, 3, 3)
    w_2, b_2 = _whole(rng, -2, 3, (3, 2)), _whole(rng, -3, 3, 2)
    inner = x @ w_1 + b_1
    on = np.maximum(0.0, inner)
    if not 2 <= (inner < 0).sum() <= 3 or (x == 0).any() or (w_1 == 0).sum() > 1 or (w_2 == 0).sum() > 1:
        return None

    text = (
        r"Send both rows through the feed-forward network $F(X) = \max(0, X W_1 + b_1) W_2 + b_2$. Write down what "
        "stands before the ReLU, after it, and what comes out.",
    )
    relu = partial(byhand.relu, inner, rows=said, cols=_numbers(3))
    weights = {"W_1": w_1, "b_1": b_1[None], "W_2": w_2, "b_2": b_2[None]}
    given = (_matrix("X", x, said), *(_matrix(name, array) for name, array in weights.items()))
    asked = (
        _affine("before", "X W_1 + b_1", x, w_1, b_1, said),
        Asked("after", r"\max(0, X W_1 + b_1)", on, said, _numbers(3), relu),
        _affine("F", "F(X)", on, w_2, b_2, said),
    )
    return text, given, asked


@cache
def _rows_with_a_whole_deviation() -> Array:
    """Rows of width 5 whose mean is whole and whose standard deviation is 2 or 4.

    Width 5, because in width 4 a deviation of 2 or 4 leaves nothing but rows like [1, 1, 5, 5],
    whose normalised entries are all 1 or -1.
    """
    away = np.stack(np.meshgrid(*[np.arange(-8, 9)] * 4, indexing="ij"), axis=-1).reshape(-1, 4)
    away = np.column_stack([away, -away.sum(axis=1)])
    away = away[np.isin((away**2).sum(axis=1), (5 * 2**2, 5 * 4**2))]
    rows = (away[None] + np.arange(10)[:, None, None]).reshape(-1, 5)
    return rows[np.abs(rows).max(axis=1) <= 12].astype(float)


def layer_norm(rng):
    said = _sentence(rng, 2)
    pool = _rows_with_a_whole_deviation()
    x = pool[rng.integers(len(pool), size=2)]
    means, variances = x.mean(axis=1), x.var(axis=1)
    stds = np.sqrt(variances)
    out = (x - means[:, None]) / stds[:, None]
    if np.array_equal(np.sort(out[0]), np.sort(out[1])) or means[0] == means[1]:
        return None
    cols = _numbers(5)

    def root(i, _):
        return (Root(_num(variances[i])),)

    def normalised(i, j):
        away = Difference(_num(x[i, j]), _num(means[i]))
        return Quotient(away, _num(stds[i])), Quotient(_num(away.value), _num(stds[i]))

    text = (
        r"Normalise each row of $X$, with $\varepsilon$ left out: its mean $\mu$, its variance $\sigma^2$ (the mean of "
        r"the squared distances from $\mu$; divide by 5), its standard deviation $\sigma$, and the row "
        r"$Y = (X - \mu) / \sigma$.",
    )
    variance = partial(byhand.variance, x, rows=said)
    asked = (
        Asked("mean", r"\mu", means, said, ("",), partial(byhand.mean, x, rows=said)),
        Asked("variance", r"\sigma^2", variances, said, ("",), variance, only_with=("mean",)),
        _worked("std", r"\sigma", stds, said, ("",), root, only_with=("mean",)),
        _worked("Y", "Y", out, said, cols, normalised, 2),
    )
    return text, (_matrix("X", x, said, cols),), asked


def gradient(rng):
    said = _sentence(rng, 2)
    x, w, dy = _whole(rng, -3, 4, (2, 3)), _whole(rng, -3, 4, (3, 2)), _whole(rng, -3, 3, (2, 2))
    if (x == 0).sum() > 1 or (w == 0).sum() > 1 or (dy == 0).sum() > 1:
        return None
    text = (
        "$Y = X W$, and $dY$ is the gradient of the loss with respect to $Y$. Send it back to both factors: "
        "$dX = dY W^T$ and $dW = X^T dY$. Check the shapes: a gradient has the shape of what it belongs to.",
    )
    given = (_matrix("X", x, said), _matrix("W", w), _matrix("dY", dy, said))
    asked = (_product("dX", "dX", dy, w.T, said), _product("dW", "dW", x.T, dy, [f"row {i}" for i in (1, 2, 3)]))
    return text, given, asked


TOPICS: dict[str, Topic] = {
    "embedding": Topic("Words become rows", 2, 5, embedding, ("2.1",)),
    "product": Topic("One product", 4, 8, product, ("4.2",)),
    "scores": Topic("Every query meets every key", 4, 7, scores, ("4.1",)),
    "scaling": Topic("Divide by the root", 5, 4, scaling),
    "softmax": Topic("Scores become weights", 5, 8, softmax, ("13.1",)),
    "weighted-sum": Topic("A mix of values", 4, 6, weighted_sum, ("6.2",)),
    "causal-mask": Topic("Do not look ahead", 11, 9, masked, ("11.1",)),
    "feed-forward": Topic("Widen, cut, narrow", 7, 12, feed_forward, ("7.2", "7.3")),
    "layer-norm": Topic("Two rows, normalised", 9, 10, layer_norm, ("9.1", "9.3")),
    "gradient": Topic("Back through a product", 15, 14, gradient, ("15.1",)),
}
