"""Checkers of chapters 11 to 13: masks, the decoder, choosing words."""

from __future__ import annotations

import numpy as np

from toytf import attention, ops
from toytf.check.core import Case, Check, Mistake, apart
from toytf.check.pencil import ByHand, Part, number, product, sum_of_products
from toytf.example import W_K
from toytf.generate import beam_search, greedy, kept_tokens

# ---------------------------------------------------------------- chapter 11: masks


def causal_mask(length):
    """Make the mask that hides the future: query i may attend to keys 0 to i.

    length: number of tokens, n. Returns a boolean array of shape (n, n), one row for
    each query and one column for each key; True means "may attend".
    """
    return np.tri(length, dtype=bool)


NUMBERS_FOR_BOOLEANS = (
    "A mask is made of True and False, and yours holds numbers. np.where takes them for the same; & and ~ do not. "
    "Say dtype=bool, or compare with > 0."
)
OPPOSITE = (
    "In this book True means 'may attend' (chapter 11, A table of may and may not). Yours is True where a key is "
    "hidden, as in PyTorch. Turn it round with ~."
)


def _additive(mask):
    return np.where(mask, 0.0, -np.inf)


CAUSAL_MASK = Check(
    solution=causal_mask,
    expected=attention.causal_mask,
    cases=lambda rng: [
        Case((3,), "three tokens"),
        Case((1,), "one token"),
        Case((2,), "two tokens"),
        Case((5,), "five tokens"),
        Case((int(rng.integers(6, 40)),), "a longer sentence"),
    ],
    exercise="ex-11-8",
    mistakes=(
        Mistake(
            "the upper triangle",
            "This shows the future and hides the past, the mask turned round of chapter 11. The row asks, so row i has "
            "True in columns 0 to i: np.tri, not np.triu.",
            lambda n: np.triu(np.ones((n, n), dtype=bool)),
        ),
        Mistake(
            "the diagonal missing",
            "A token may attend to itself: up to and including. Without the diagonal the first row has nothing left "
            "(chapter 11, A row with nothing left). In np.tri leave out k=-1; in a loop use i + 1 as the end.",
            lambda n: np.tri(n, k=-1, dtype=bool),
        ),
        Mistake(
            "one token of the future visible",
            "Row i reaches column i + 1, which holds the word that row i must predict. In np.tri leave out k=1; in a "
            "loop the columns are 0 to i.",
            lambda n: np.tri(n, k=1, dtype=bool),
        ),
        Mistake("the opposite sense", OPPOSITE, lambda n: ~np.tri(n, dtype=bool)),
        Mistake("numbers in place of booleans", NUMBERS_FOR_BOOLEANS, lambda n: np.tri(n)),
        Mistake(
            "0 and minus infinity in place of booleans",
            "This is the table that the notes add to the scores. Here a mask says True and False; masked_softmax "
            "writes the minus infinity.",
            lambda n: _additive(np.tri(n, dtype=bool)),
        ),
        Mistake(
            "the last row left out",
            "The last row is all False: a loop over range(n - 1) ends one row early. The last token may attend to all.",
            lambda n: np.tri(n, dtype=bool) & (np.arange(n)[:, None] < n - 1),
        ),
        Mistake(
            "one row and one column short",
            "The shape is (n - 1, n - 1). There is one row and one column for each token, n of them.",
            lambda n: np.tri(n - 1, dtype=bool),
        ),
        Mistake(
            "every key visible",
            "All entries are True, so nothing is hidden. The future is what lies above the diagonal.",
            lambda n: np.ones((n, n), dtype=bool),
        ),
    ),
)


def padding_mask(is_token):
    """Make the mask that hides filled-up places from every query.

    is_token: boolean array of shape (..., key), True where a token stands. Returns a
    boolean array of shape (..., 1, key), to be used for every query; True means
    "may attend".
    """
    return is_token[..., None, :]


def _padding_cases(rng):
    lengths = rng.integers(1, 8, size=4)
    return [
        Case((np.array([True, True, False]),), "two tokens and one place filled up"),
        Case((np.array([[True, True, True], [True, False, False]]),), "two sentences"),
        Case((np.array([[False, True, True], [True, True, False], [True, True, True]]),), "three sentences of three"),
        Case((np.arange(7) < lengths[:, None],), "four sentences"),
    ]


PADDING_MASK = Check(
    solution=padding_mask,
    expected=attention.padding_mask,
    cases=_padding_cases,
    exercise="ex-11-9",
    mistakes=(
        Mistake(
            "no axis for the query",
            "The shape is still (..., key). NumPy compares shapes from the right, so the sentences of a batch would "
            "be taken for queries (chapter 11, Shapes of masks). Put an axis of length 1 before the last one.",
            lambda t: t.copy(),
        ),
        Mistake(
            "the new axis behind the keys",
            "The shape (..., key, 1) hides the rows of those who ask. Padding hides columns: the new axis stands "
            "before the last one, [..., None, :].",
            lambda t: t[..., None],
        ),
        Mistake(
            "the axes counted from the front",
            "[:, None, :] needs a batch. A single sentence has one axis, and any number of axes may stand before the "
            "keys: count from the back, [..., None, :]. The expected shape is (..., 1, key).",
            lambda t: t[:, None, :],
        ),
        Mistake(
            "the new axis in front",
            "For one sentence this is right. In a batch the shape becomes (1, batch, key), and every sentence gets the "
            "masks of all. Put the axis before the last one, [..., None, :].",
            lambda t: t[None],
        ),
        Mistake("the opposite sense", OPPOSITE, lambda t: ~t[..., None, :]),
        Mistake("numbers in place of booleans", NUMBERS_FOR_BOOLEANS, lambda t: t[..., None, :].astype(float)),
        Mistake(
            "0 and minus infinity in place of booleans",
            "This is what the notes add to the scores. Here a mask says True and False.",
            lambda t: _additive(t[..., None, :]),
        ),
        Mistake(
            "the padding's own rows hidden too",
            "Your shape is (..., key, key): a filled-up place may not ask either, and its row has nothing left. The "
            "row is computed and nobody reads it; hide columns alone, with one row of shape (..., 1, key).",
            lambda t: t[..., :, None] & t[..., None, :],
        ),
        Mistake(
            "two new axes",
            "The shape (..., 1, 1, key) has an axis for the heads as well. Multi-head attention puts that one in.",
            lambda t: t[..., None, None, :],
        ),
        Mistake(
            "the causal mask in it",
            "This hides the future too. The two masks are made apart and joined by & where both are needed; the "
            "encoder needs padding alone. The expected shape is (..., 1, key).",
            lambda t: np.tri(t.shape[-1], dtype=bool) & t[..., None, :],
        ),
    ),
)


def masked_softmax(scores, mask):
    """Softmax over the keys that may be attended to; the others get weight exactly 0.

    scores: array of shape (..., query, key). mask: boolean array whose shape
    broadcasts to that of scores, True means "may attend". Returns an array of the
    shape of scores. Each row sums to 1; a row that may attend to nothing is a row of
    zeros. It must survive a score of 1000.
    """
    seen = np.where(mask, scores, -np.inf)
    largest = seen.max(axis=-1, keepdims=True)
    exps = np.exp(seen - np.where(largest == -np.inf, 0, largest))
    sums = exps.sum(axis=-1, keepdims=True)
    return exps / np.where(sums == 0, 1, sums)


def _softmax(scores, axis=-1):
    exps = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return exps / exps.sum(axis=axis, keepdims=True)


def _no_maximum(scores, mask):
    exps = np.exp(np.where(mask, scores, -np.inf))
    sums = exps.sum(axis=-1, keepdims=True)
    return exps / np.where(sums == 0, 1, sums)


def _renewed(scores, mask):
    zeroed = _softmax(scores) * mask
    return zeroed / zeroed.sum(axis=-1, keepdims=True)


def _powers_masked(scores, largest, mask):
    exps = np.exp(scores - largest) * mask
    sums = exps.sum(axis=-1, keepdims=True)
    return exps / np.where(sums == 0, 1, sums)


def _masked_cases(rng):
    length = int(rng.integers(3, 5))
    padded = (np.arange(5) < np.array([length, 5])[:, None])[:, None]
    return [
        Case((np.array([[0.0, np.log(3.0), 5.0]]), np.array([[True, True, False]])), "weights 1/4, 3/4 and 0"),
        Case((np.array([[1.0, 1.0], [2.0, 3.0]]), np.tri(2, dtype=bool)), "a causal mask"),
        Case((np.array([[1.0, 2.0], [2.0, 0.0]]), np.array([[True, True], [False, False]])), "nothing left in row 2"),
        Case((np.array([[0.0, 800.0], [1000.0, 999.0]]), np.array([[True, False], [True, True]])), "large scores"),
        Case(
            (np.array([[0.0, 0.0], [1000.0, 1000.0]]), np.array([[True, True], [True, True]])),
            "scores of one query far below those of another",
        ),
        Case((rng.normal(size=(2, 3, 5)) * 3, padded), "two sentences, three queries, five keys"),
        Case((rng.normal(size=(2, 2, 4, 4)) * 3, np.tri(4, dtype=bool)), "two sentences, two heads, four tokens"),
    ]


MASKED_SOFTMAX = Check(
    solution=masked_softmax,
    expected=attention.masked_softmax,
    cases=_masked_cases,
    exercise="ex-11-10",
    mistakes=(
        Mistake(
            "the mask after the softmax",
            "The hidden keys have taken their share before they are set to 0, so the rest no longer sums to 1 (chapter "
            "11, After the softmax). Write minus infinity over the scores first.",
            lambda s, m: _softmax(s) * m,
        ),
        Mistake(
            "the mask after the softmax, the sums renewed",
            "Next to a hidden score of 800 the visible weights are 0 already, and 0 divided by 0 is NaN (chapter 11, "
            "After the softmax). Mask the scores first.",
            _renewed,
        ),
        Mistake(
            "the powers of the hidden keys set to 0",
            "The largest score was taken from the hidden keys too: next to a hidden score of 800 the visible powers "
            "are 0 already. Mask the scores first, so that a hidden one has no say in the maximum.",
            lambda s, m: _powers_masked(s, s.max(axis=-1, keepdims=True), m),
        ),
        Mistake(
            "one maximum for the whole array",
            "A row far below the largest score of another row loses all its weights. Each row needs its own maximum: "
            "axis=-1, keepdims=True.",
            lambda s, m: _powers_masked(np.where(m, s, -np.inf), np.where(m, s, -np.inf).max(), m),
        ),
        Mistake(
            "the mask with the opposite sense",
            "True means 'may attend': keep the score where the mask is True, write minus infinity where it is False.",
            lambda s, m: masked_softmax(s, ~m),
        ),
        Mistake(
            "0 in place of minus infinity",
            "The hidden scores became 0, by scores * mask or np.where(mask, scores, 0), and a score of 0 is a score: "
            "its power of e is 1 (exercise 3 of chapter 11). Write minus infinity.",
            lambda s, m: _softmax(np.where(m, s, 0.0)),
        ),
        Mistake(
            "the mask added to the scores as 1 and 0",
            "scores + mask adds 1 where the mask is True. Nothing is hidden. Use np.where(mask, scores, -np.inf).",
            lambda s, m: _softmax(s + m),
        ),
        Mistake(
            "NaN in a row with nothing left",
            "Where every score is minus infinity, the largest is too, and their difference is NaN (chapter 11, A row "
            "with nothing left). The row should be zeros: take 0 for such a maximum, and 1 for a sum of 0.",
            lambda s, m: _softmax(np.where(m, s, -np.inf)),
        ),
        Mistake(
            "a large negative number in place of minus infinity",
            "In a row with nothing left all keys are then equal, and each forbidden key gets the same weight. That row "
            "should be zeros.",
            lambda s, m: _softmax(np.where(m, s, -1e9)),
        ),
        Mistake(
            "a large negative number added",
            "In a row with nothing left every score is moved by the same number, which softmax forgets: the query "
            "reads what is forbidden, as if there were no mask (chapter 11, A row with nothing left).",
            lambda s, m: _softmax(s + np.where(m, 0.0, -1e9)),
        ),
        Mistake(
            "summed over the wrong axis",
            "The weights of one query sum to 1 along its row, over the keys: axis=-1, for the maximum and for the sum.",
            lambda s, m: _softmax(np.where(m, s, -np.inf), axis=-2),
        ),
        Mistake(
            "no maximum subtracted",
            "exp overflows above 709.78, and infinity divided by infinity is NaN (chapter 8). Subtract the largest "
            "visible score of each row first.",
            _no_maximum,
        ),
        Mistake(
            "the mask not used",
            "These are the weights without a mask. Write minus infinity where it is False; np.where returns a new "
            "array, so keep its result.",
            lambda s, m: _softmax(s),
        ),
    ),
)


def window_mask(length, width):
    """Make the mask of a window: every token sees itself and the width - 1 before it.

    length: number of tokens, n. width: how many tokens a full row may see, at least 1.
    Returns a boolean array of shape (n, n), a row for each query; True means
    "may attend".
    """
    return np.tri(length, dtype=bool) & ~np.tri(length, k=-width, dtype=bool)


def _behind(length):
    """How far the key lies behind the query: 0 on the diagonal, negative in the future."""
    return np.arange(length)[:, None] - np.arange(length)


WINDOW_MASK = Check(
    solution=window_mask,
    expected=lambda n, width: (_behind(n) >= 0) & (_behind(n) < width),
    cases=lambda rng: [
        Case((4, 2), "four tokens, each sees itself and the one before"),
        Case((6, 3), "six tokens, three visible"),
        Case((3, 1), "each token sees itself alone"),
        Case((3, 5), "a window longer than the sentence"),
        Case((int(rng.integers(7, 40)), int(rng.integers(2, 6))), "a longer sentence"),
    ],
    exercise="ex-11-4",
    mistakes=(
        Mistake(
            "one token too many",
            "width counts the token itself. The far end is hidden from k=-width on.",
            lambda n, w: np.tri(n, dtype=bool) & ~np.tri(n, k=-w - 1, dtype=bool),
        ),
        Mistake(
            "one token too few",
            "A full row has width tokens: itself and width - 1 before it. np.tri(n, k=-width) is what to take away.",
            lambda n, w: np.tri(n, dtype=bool) & ~np.tri(n, k=-w + 1, dtype=bool),
        ),
        Mistake(
            "the token itself left out",
            "Every token sees itself. Your window lies wholly before it, and the first row is empty.",
            lambda n, w: (_behind(n) >= 1) & (_behind(n) <= w),
        ),
        Mistake(
            "a window into the future as well",
            "abs(i - j) < width looks both ways. The tokens behind a token in the sentence are hidden: j <= i as well.",
            lambda n, w: np.abs(_behind(n)) < w,
        ),
        Mistake(
            "rows and columns exchanged",
            "Your rows see what comes after them. The row asks: row i reaches back to column i - width + 1.",
            lambda n, w: ((_behind(n) >= 0) & (_behind(n) < w)).T,
        ),
        Mistake(
            "the whole past visible",
            "This is the causal mask. What lies width tokens back or more must be taken away: & ~np.tri(n, k=-width).",
            lambda n, w: np.tri(n, dtype=bool),
        ),
        Mistake("the opposite sense", OPPOSITE, lambda n, w: ~((_behind(n) >= 0) & (_behind(n) < w))),
        Mistake(
            "numbers in place of booleans",
            NUMBERS_FOR_BOOLEANS,
            lambda n, w: np.tri(n) - np.tri(n, k=-w),
        ),
        Mistake(
            "the first rows left empty",
            "A token near the start sees the tokens that there are. Your loop begins where the window is full.",
            lambda n, w: (_behind(n) >= 0) & (_behind(n) < w) & (np.arange(n)[:, None] >= w - 1),
        ),
    ),
)

_IS_TOKEN = np.array([1, 1, 0, 0])


def _may(place):
    query, key = place
    return [
        f"key {key + 1} lies {'in the future of' if key > query else 'not after'} query {query + 1}",
        f"key {key + 1} is {'a token' if _IS_TOKEN[key] else 'filled up'}",
    ]


def _table(name, mask, reasons):
    """A mask of 1 (may attend) and 0, and why an entry is what it is."""
    return Part(mask, lambda at: f"{' and '.join(reasons(at))}: {mask[at]}", name=name)


_CAUSAL, _PADDING = np.tri(4, dtype=int), np.tile(_IS_TOKEN, (4, 1))
_PAIRS = np.array([_CAUSAL.sum(), _PADDING.sum(), (_CAUSAL * _PADDING).sum()])
_BEFORE = np.array([0.2, 0.3, 0.5])  # weights without a mask; the third key is hidden
_LEFT = _BEFORE * [1, 1, 0]


def _count(place):
    rows = (_CAUSAL, _PADDING, _CAUSAL * _PADDING)[place[0]].sum(axis=1)
    return f"{' + '.join(map(str, rows))} = {rows.sum()}"


MASKS_BY_HAND = [
    ByHand(
        "ex-11-1",
        (
            _table("causal", _CAUSAL, lambda at: _may(at)[:1]),
            _table("padding", _PADDING, lambda at: _may(at)[1:]),
            _table("both", _CAUSAL * _PADDING, _may),
            Part(_PAIRS, _count, name="visible pairs"),
        ),
    ),
    ByHand(
        "ex-11-2",
        (
            Part(
                _LEFT / _LEFT.sum(),
                lambda at: f"{_LEFT[at]:g} / (0.2 + 0.3) = {_LEFT[at] / _LEFT.sum():g}",
                decimals=1,
                name="before",
            ),
            Part(
                _LEFT,
                lambda at: "hidden: 0" if at == (2,) else f"{_LEFT[at]:g}, as it was",
                decimals=1,
                name="after",
            ),
            Part(_LEFT.sum(), lambda _: f"0.2 + 0.3 + 0 = {_LEFT.sum():g}", decimals=1, name="sum"),
        ),
    ),
]

# ---------------------------------------------------------------- chapter 12: the decoder


def cross_attention(y, memory, w_q, w_k, w_v):
    """Let the rows of the target read the memory: one head, without a mask.

    y: the decoder's rows, shape (..., target, d). memory: the encoder's rows, shape
    (..., source, d). w_q, w_k: shape (d, d_k). w_v: shape (d, d_v). Scores are divided
    by the root of d_k. Returns an array of shape (..., target, d_v).
    """
    q, k, v = y @ w_q, memory @ w_k, memory @ w_v
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exps / exps.sum(axis=-1, keepdims=True) @ v


def _scores(q, k, scale=None):
    return q @ np.swapaxes(k, -1, -2) * (1 / np.sqrt(q.shape[-1]) if scale is None else scale)


def _attend(q, k, v, scale=None):
    return _softmax(_scores(q, k, scale)) @ v


def _no_maximum_cross(y, memory, w_q, w_k, w_v):
    exps = np.exp(_scores(y @ w_q, memory @ w_k))
    return exps / exps.sum(axis=-1, keepdims=True) @ (memory @ w_v)


def _causal_cross(y, memory, w_q, w_k, w_v):
    scores = _scores(y @ w_q, memory @ w_k)
    return masked_softmax(scores, np.tri(*scores.shape[-2:], dtype=bool)) @ (memory @ w_v)


def _cross_case(rng, about, batch, target, source, d, d_k, d_v, size=1.0):
    shapes = ((*batch, target, d), (*batch, source, d), (d, d_k), (d, d_k), (d, d_v))
    y, *others = (rng.normal(size=shape) for shape in shapes)
    return Case((y * size, *others), about)


def _cross_cases(rng):
    memory = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    one, two = np.array([[np.log(3.0)], [0.0]]), np.array([[1.0], [0.0]])
    values = np.array([[10.0, 20.0, 0.0], [0.0, 50.0, 10.0]])
    return [
        Case((np.array([[1.0, 0.0]]), memory, one, two, values), "one target row with the weights 1/5, 3/5, 1/5"),
        _cross_case(rng, "two target rows, five source rows", (), 2, 5, 4, 3, 2),
        _cross_case(rng, "as many target rows as source rows, all of one width", (), 3, 3, 4, 4, 4),
        _cross_case(rng, "scores that overflow exp", (), 2, 3, 4, 2, 3, size=5000.0),
        _cross_case(rng, "two sentences", (2,), 3, 5, 4, 2, 3),
    ]


CROSS_ATTENTION = Check(
    solution=cross_attention,
    expected=lambda y, memory, w_q, w_k, w_v: attention.attention(y @ w_q, memory @ w_k, memory @ w_v)[0],
    cases=_cross_cases,
    exercise="ex-12-7",
    mistakes=(
        Mistake(
            "keys and values from the decoder",
            "This is self-attention: the source sentence has no influence (chapter 12, What goes wrong). Keys and "
            "values are memory @ w_k and memory @ w_v.",
            lambda y, m, w_q, w_k, w_v: _attend(y @ w_q, y @ w_k, y @ w_v),
        ),
        Mistake(
            "queries from the memory, keys and values from the decoder",
            "The two sides are exchanged: the memory asks and the target is asked. Queries are y @ w_q, keys and "
            "values come from the memory, and the expected shape has a row for each target row.",
            lambda y, m, w_q, w_k, w_v: _attend(m @ w_q, y @ w_k, y @ w_v),
        ),
        Mistake(
            "queries from the memory",
            "The memory looks at itself, which the encoder has done already. It is the target that asks: y @ w_q. The "
            "expected shape has a row for each target row.",
            lambda y, m, w_q, w_k, w_v: _attend(m @ w_q, m @ w_k, m @ w_v),
        ),
        Mistake(
            "keys from the memory, values from the decoder",
            "Every key needs its value, so both come from the same rows, the memory's. With lengths that differ the "
            "shapes do not fit; with equal lengths nothing fails and the source is not read.",
            lambda y, m, w_q, w_k, w_v: _attend(y @ w_q, m @ w_k, y @ w_v),
        ),
        Mistake(
            "keys from the decoder, values from the memory",
            "Every key needs its value, so both come from the same rows, the memory's. With lengths that differ the "
            "shapes do not fit; with equal lengths nothing fails.",
            lambda y, m, w_q, w_k, w_v: _attend(y @ w_q, y @ w_k, m @ w_v),
        ),
        Mistake(
            "the keys used as values",
            "Keys and values share their input, the memory; they are not identical (chapter 12, Who asks, who is "
            "asked). The values have a matrix of their own, w_v.",
            lambda y, m, w_q, w_k, w_v: _attend(y @ w_q, m @ w_k, m @ w_k),
        ),
        Mistake(
            "the memory itself used as values",
            "The weights are right, and then they average the memory. They should average memory @ w_v; the expected "
            "shape ends in d_v.",
            lambda y, m, w_q, w_k, w_v: _attend(y @ w_q, m @ w_k, m),
        ),
        Mistake(
            "no scaling",
            "The scores must be divided by the root of d_k, the width of a query (chapter 5).",
            lambda y, m, w_q, w_k, w_v: _attend(y @ w_q, m @ w_k, m @ w_v, 1.0),
        ),
        Mistake(
            "the wrong root",
            "You divide by the root of d, the width of the rows. It is d_k that counts, the width of a query and key: "
            "so many products are in each sum (chapter 5).",
            lambda y, m, w_q, w_k, w_v: _attend(y @ w_q, m @ w_k, m @ w_v, 1 / np.sqrt(y.shape[-1])),
        ),
        Mistake(
            "the root of the values' width",
            "You divide by the root of d_v. A score is a sum over the columns of a query and a key, so it is their "
            "width, d_k, that counts (chapter 5).",
            lambda y, m, w_q, w_k, w_v: _attend(y @ w_q, m @ w_k, m @ w_v, 1 / np.sqrt(w_v.shape[-1])),
        ),
        Mistake(
            "divided by d_k without the root",
            "Divide the scores by np.sqrt(d_k). It is the standard deviation of a score that grows like this root "
            "(chapter 5).",
            lambda y, m, w_q, w_k, w_v: _attend(y @ w_q, m @ w_k, m @ w_v, 1 / w_k.shape[-1]),
        ),
        Mistake(
            "softmax over the queries",
            "Each target row shares out the source: its weights over the keys sum to 1. That is the last axis.",
            lambda y, m, w_q, w_k, w_v: _softmax(_scores(y @ w_q, m @ w_k), axis=-2) @ (m @ w_v),
        ),
        Mistake(
            "a causal mask over the source",
            "The source sentence is complete; nothing in it is the future. The causal mask belongs to self-attention "
            "(chapter 12, Three words ask five).",
            _causal_cross,
        ),
        Mistake(
            "no maximum subtracted",
            "exp overflows above 709.78 (chapter 8). Subtract the largest score of each row first.",
            _no_maximum_cross,
        ),
        Mistake(
            "all axes of the keys turned round",
            "k.T reverses every axis, the batch's too. np.swapaxes(k, -1, -2) exchanges the last two and leaves the "
            "others where they are; for a single sentence both are the same.",
            lambda y, m, w_q, w_k, w_v: _softmax((y @ w_q) @ (m @ w_k).T / np.sqrt(w_k.shape[-1])) @ (m @ w_v),
        ),
    ),
)


def cross_first(y, memory, mask):
    """A decoder layer without feed-forward, its two attentions in the other order.

    Cross-attention comes first, then self-attention, each with residual and layer norm
    around it (add, then normalise). Rows are used as queries, keys and values as they
    are; scores are divided by the root of d. The layer norm has epsilon 1e-5 inside
    the root, no scale and no shift.

    y: shape (..., target, d). memory: shape (..., source, d). mask: boolean, shape
    (target, target), for self-attention; True means "may attend", and every row has a
    key left. Returns an array of the shape of y.
    """

    def attend(rows, others, may):
        scores = rows @ np.swapaxes(others, -1, -2) / np.sqrt(rows.shape[-1])
        scores = np.where(may, scores, -np.inf)
        exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return exps / exps.sum(axis=-1, keepdims=True) @ others

    def norm(rows):
        centred = rows - rows.mean(axis=-1, keepdims=True)
        return centred / np.sqrt(rows.var(axis=-1, keepdims=True) + 1e-5)

    read = norm(y + attend(y, memory, True))
    return norm(read + attend(read, read, mask))


def _look(rows, others, mask=True, scale=None):
    scores = _scores(rows, others, scale)
    return masked_softmax(scores, np.broadcast_to(mask, scores.shape)) @ others


def _norm(rows):
    d = rows.shape[-1]
    return ops.layer_norm(ops.LayerNorm(np.ones(d), np.zeros(d)), rows)[0]


def _expected_cross_first(y, memory, mask):
    read = _norm(y + attention.attention(y, memory, memory)[0])
    return _norm(read + attention.attention(read, read, read, mask)[0])


def _usual_order(y, memory, mask):
    seen = _norm(y + _look(y, y, mask))
    return _norm(seen + _look(seen, memory))


def _read(y, memory):
    return _norm(y + _look(y, memory))


def _pre_norm(y, memory, mask):
    read = y + _look(_norm(y), memory)
    return read + _look(_norm(read), _norm(read), mask)


def _unscaled(y, memory, mask):
    read = _norm(y + _look(y, memory, scale=1.0))
    return _norm(read + _look(read, read, mask, scale=1.0))


def _self_twice(y, memory, mask):
    read = _norm(y + _look(y, y))
    return _norm(read + _look(read, read, mask))


def _cross_first_cases(rng):
    y, memory = np.array([[2.0, 0.0]]), np.array([[0.0, 0.0], [0.0, 0.0]])
    three, five = rng.normal(size=(3, 4)), rng.normal(size=(5, 4))
    return [
        Case((y, memory, np.tri(1, dtype=bool)), "one target row, a memory of zeros"),
        Case((three, five, np.tri(3, dtype=bool)), "three target rows, five source rows, the causal mask"),
        Case((three, five, np.tri(3, dtype=bool) & ~np.tri(3, k=-2, dtype=bool)), "the same rows, a window of two"),
        Case((rng.normal(size=(2, 4, 3)) * 2, rng.normal(size=(2, 5, 3)) * 2, np.tri(4, dtype=bool)), "two sentences"),
    ]


CROSS_FIRST = Check(
    solution=cross_first,
    expected=_expected_cross_first,
    cases=_cross_first_cases,
    exercise="ex-12-5",
    mistakes=(
        Mistake(
            "the usual order",
            "Self-attention comes first here, as in the paper. The exercise asks for the exchange.",
            _usual_order,
        ),
        Mistake(
            "both attentions fed with the rows that came in",
            "Self-attention must look at what cross-attention and its norm have left, not at y.",
            lambda y, m, mask: _norm(_read(y, m) + _look(y, y, mask)),
        ),
        Mistake(
            "no mask in self-attention",
            "The rows see their future. Write minus infinity over the scores where the mask is False (chapter 11).",
            lambda y, m, mask: _norm(_read(y, m) + _look(_read(y, m), _read(y, m))),
        ),
        Mistake(
            "the mask with the opposite sense",
            "True means 'may attend' (chapter 11).",
            lambda y, m, mask: _norm(_read(y, m) + _look(_read(y, m), _read(y, m), ~mask)),
        ),
        Mistake(
            "no residual around cross-attention",
            "Add y to what the memory gave, then normalise: norm(y + ...).",
            lambda y, m, mask: _norm((r := _norm(_look(y, m))) + _look(r, r, mask)),
        ),
        Mistake(
            "no residual around self-attention",
            "Add the row that went in, then normalise: norm(read + ...).",
            lambda y, m, mask: _norm(_look(r := _read(y, m), r, mask)),
        ),
        Mistake(
            "the second residual taken from y",
            "A residual adds what went into its own sub-layer. Into self-attention went the normalised row, not y.",
            lambda y, m, mask: _norm(y + _look(r := _read(y, m), r, mask)),
        ),
        Mistake(
            "the last layer norm left out",
            "There is add and norm around each of the two attentions, so the layer ends with a norm.",
            lambda y, m, mask: (r := _read(y, m)) + _look(r, r, mask),
        ),
        Mistake(
            "the first layer norm left out",
            "There is add and norm around each of the two attentions, so a norm stands between them.",
            lambda y, m, mask: _norm((r := y + _look(y, m)) + _look(r, r, mask)),
        ),
        Mistake(
            "the layer norms before the attentions",
            "This is pre-norm. The exercise asks for the paper's order, post-norm: add, then normalise.",
            _pre_norm,
        ),
        Mistake("no scaling", "Divide the scores of both attentions by the root of d (chapter 5).", _unscaled),
        Mistake(
            "no word of the source",
            "Your first attention looks at y. Cross-attention takes keys and values from the memory.",
            _self_twice,
        ),
    ),
)


def disguise_mask(n_source, n_target, with_past):
    """Make the last n_target rows of a mask for source and target rows in one matrix.

    The n_source rows of the memory come first, the n_target rows of the target behind
    them. with_past False: self-attention with these mask rows gives the
    cross-attention of the target with the memory. with_past True: a target row may
    attend to the target rows up to itself as well. Returns a boolean array of shape
    (n_target, n_source + n_target), True means "may attend".
    """
    own = np.tri(n_target, dtype=bool) & with_past
    return np.concatenate([np.ones((n_target, n_source), dtype=bool), own], axis=1)


def _disguise(n, m, past, strictly=0):
    return np.hstack([np.ones((m, n), dtype=bool), np.tri(m, k=strictly, dtype=bool) & past])


def _whole_disguise(n, m, past):
    return np.vstack([np.ones((n, n + m), dtype=bool), _disguise(n, m, past)])


DISGUISE_MASK = Check(
    solution=disguise_mask,
    expected=lambda n, m, past: np.tri(n + m, dtype=bool)[n:] & ((np.arange(n + m) < n) | past),
    cases=lambda rng: [
        Case((2, 1, False), "two source rows, one target row"),
        Case((5, 3, False), "five source rows, three target rows"),
        Case((5, 3, True), "the same, with the target's past"),
        Case((1, 4, True), "one source row, four target rows"),
        Case((int(rng.integers(2, 30)), int(rng.integers(2, 30)), False), "longer sentences"),
        Case((int(rng.integers(2, 30)), int(rng.integers(2, 30)), True), "longer sentences with the target's past"),
    ],
    exercise="ex-12-6",
    mistakes=(
        Mistake(
            "the target's columns in front",
            "The memory's rows come first in the matrix, so its columns come first in the mask.",
            lambda n, m, past: np.roll(_disguise(n, m, past), m, axis=1),
        ),
        Mistake("the opposite sense", OPPOSITE, lambda n, m, past: ~_disguise(n, m, past)),
        Mistake(
            "the past always visible",
            "Cross-attention alone does not look at the target, not even at its own row: with_past False hides the "
            "last n_target columns.",
            lambda n, m, past: _disguise(n, m, True),
        ),
        Mistake(
            "the past never visible",
            "With with_past True the last n_target columns hold the causal mask.",
            lambda n, m, past: _disguise(n, m, False),
        ),
        Mistake(
            "the row itself left out of its past",
            "A target row sees the target rows up to and including itself: the diagonal is True (chapter 11).",
            lambda n, m, past: _disguise(n, m, past, -1),
        ),
        Mistake(
            "the target's future visible",
            "with_past True shows the target up to the row itself and hides what comes after it: a causal mask in the "
            "last columns.",
            lambda n, m, past: _disguise(n, m, past, m),
        ),
        Mistake(
            "the source hidden by a causal mask",
            "The source is complete: every target row may attend to all its rows. The first n_source columns are True.",
            lambda n, m, past: np.hstack([np.tri(m, n, dtype=bool), np.tri(m, dtype=bool) & past]),
        ),
        Mistake(
            "the mask of all rows",
            "Only the last n_target rows are asked for: the shape is (n_target, n_source + n_target).",
            _whole_disguise,
        ),
        Mistake(
            "rows and columns exchanged",
            "The rows ask: one row for each target row, one column for each row that is asked. The expected shape is "
            "(n_target, n_source + n_target).",
            lambda n, m, past: _disguise(n, m, past).T,
        ),
        Mistake(
            "numbers in place of booleans", NUMBERS_FOR_BOOLEANS, lambda n, m, past: _disguise(n, m, past).astype(float)
        ),
    ),
)

_QUERY = np.array([0.9105, 1.5468, -1.0829])  # of <sos> in head 1
_THIRD = np.array([0.0, 1.0, 0.0, 0.0])
_SCORE = _QUERY @ (_THIRD @ W_K[0])


_SIZES = {  # rows and last axis of what exercise 2 asks for, and what the last axis is
    "self Q": (12, 50, "50 columns a head"),
    "self K": (12, 50, "50 columns a head"),
    "self weights": (12, 12, "12 tokens that are asked"),
    "cross Q": (12, 50, "50 columns a head"),
    "cross K": (10, 50, "50 columns a head"),
    "cross weights": (12, 10, "10 tokens that are asked"),
}


def _shape(name, rows, last, about):
    axes = ("64 sentences", "6 heads", f"{rows} {'source' if rows == 10 else 'target'} tokens", about)
    return Part((64, 6, rows, last), lambda at: axes[at[0]], name=name)


DECODER_BY_HAND = [
    ByHand(
        "ex-12-1",
        (
            product(_THIRD, W_K[0], name="key"),
            Part(
                _SCORE / np.sqrt(3),
                lambda _: (
                    f"{sum_of_products(_QUERY, _THIRD @ W_K[0], 4)}, and {_SCORE:.4f} / 1.7321 = "
                    f"{number(_SCORE / np.sqrt(3), 3)}"
                ),
                decimals=3,
                name="scaled score",
            ),
        ),
    ),
    ByHand("ex-12-2", tuple(_shape(name, *size) for name, size in _SIZES.items())),
]

# ---------------------------------------------------------------- chapter 13: out come words


def pick(logits):
    """Choose the next word of each sentence greedily.

    logits: array of shape (sentences, tokens, words): for each token written so far a
    row of scores for the word after it. Returns integers of shape (sentences,): the id
    of the word with the largest score, counted from 0, in the last row of each
    sentence; of equals the first.
    """
    return logits[:, -1].argmax(axis=-1)


def _pick_cases(rng):
    return [
        Case((np.array([[[0.0, 9.0, 1.0], [2.0, 3.0, 5.0]]]),), "one sentence, two tokens written, three words"),
        Case((np.array([[[1.0, 4.0, 4.0]], [[-3.0, -2.0, -1.0]]]),), "two equal scores; all scores negative"),
        Case(
            (np.array([[[0.0, 7.0, 1.0], [9.0, 5.0, 6.0]], [[8.0, 2.0, 3.0], [4.0, 1.0, 6.0]]]),),
            "two sentences, two tokens written",
        ),
        Case((rng.normal(size=(4, 3, 10)),), "four sentences, three tokens written, ten words"),
    ]


def _expected_pick(logits):
    written = greedy(lambda state, ids: (logits[:, -1], state), None, n=len(logits), sos=0, eos=-1, max_length=1)
    return np.array([h.ids[0] for h in written])


def _lead(scores) -> float:
    """How far the largest score of each row lies above the others."""
    ranked = np.sort(scores, axis=-1)
    return apart(ranked[..., :-1], ranked[..., -1:])


PICK = Check(
    solution=pick,
    expected=_expected_pick,
    cases=_pick_cases,
    gap=lambda logits: _lead(logits[:, -1]),
    exercise="ex-13-9",
    mistakes=(
        Mistake(
            "argmax over the flattened array",
            "argmax without an axis counts through all numbers of all rows (chapter 13, Three faults of one loop). The "
            "expected shape is one id for each sentence: axis=-1.",
            lambda x: x.argmax(),
        ),
        Mistake(
            "argmax over the flattened last rows",
            "argmax without an axis counts through the last rows of all sentences. The expected shape is one id for "
            "each sentence: axis=-1.",
            lambda x: x[:, -1].argmax(),
        ),
        Mistake(
            "argmax over the sentences",
            "axis=0 asks for each word which sentence likes it most. For each sentence the words compete: axis=-1. The "
            "expected shape is (sentences,).",
            lambda x: x[:, -1].argmax(axis=0),
        ),
        Mistake(
            "the first row in place of the last",
            "Row 0 scores the word after the start token, which is written already. Only the last row is new: [:, -1].",
            lambda x: x[:, 0].argmax(axis=-1),
        ),
        Mistake(
            "the last sentence in place of the last row",
            "logits[-1] is the last sentence with all its rows. The axes are (sentences, tokens, words): [:, -1].",
            lambda x: x[-1].argmax(axis=-1),
        ),
        Mistake(
            "every row",
            "The expected shape is one id for each sentence. The rows before the last score words that are written "
            "already.",
            lambda x: x.argmax(axis=-1),
        ),
        Mistake("the least probable word", "argmin takes the smallest score.", lambda x: x[:, -1].argmin(axis=-1)),
        Mistake(
            "the last of equals",
            "Where two words have the same score, the first is taken, as argmax does. Sorting and taking the last one "
            "gives the other; >= in a loop as well.",
            lambda x: x.shape[-1] - 1 - x[:, -1, ::-1].argmax(axis=-1),
        ),
        Mistake(
            "the score in place of the id",
            "max gives the largest score. argmax gives its place, which is the id of the word.",
            lambda x: x[:, -1].max(axis=-1),
        ),
        Mistake(
            "ids counted from 1",
            "Ids begin with 0, as the rows of the embedding table do.",
            lambda x: x[:, -1].argmax(axis=-1) + 1,
        ),
        Mistake(
            "the largest absolute value",
            "A score of -3 is less than one of -1. Signs count.",
            lambda x: np.abs(x[:, -1]).argmax(axis=-1),
        ),
    ),
)


def temperature(logits, t):
    """Turn logits into the probabilities from which a word is drawn at temperature t.

    logits: array of shape (..., words). t: a positive number. The logits are divided by
    t before the softmax over the words. Returns an array of the shape of logits; each
    row sums to 1. It must survive logits of 20 at a temperature of 0.01.
    """
    scaled = logits / t
    exps = np.exp(scaled - scaled.max(axis=-1, keepdims=True))
    return exps / exps.sum(axis=-1, keepdims=True)


def _undivided_maximum(logits, t):
    exps = np.exp(logits / t - logits.max(axis=-1, keepdims=True))
    return exps / exps.sum(axis=-1, keepdims=True)


TEMPERATURE = Check(
    solution=temperature,
    expected=lambda logits, t: ops.softmax(logits / t),
    cases=lambda rng: [
        Case((np.array([0.0, np.log(3.0)]), 0.5), "1/4 and 3/4 become 1/10 and 9/10"),
        Case((np.array([0.0, np.log(9.0)]), 2.0), "1/10 and 9/10 become 1/4 and 3/4"),
        Case((np.array([[1.0, 2.0, 3.0], [3.0, 3.0, 0.0]]), 1.0), "two sentences at temperature 1"),
        Case((np.array([[20.0, 19.0], [-20.0, -20.0]]), 0.01), "a low temperature"),
        Case((np.array([712.0, 711.0]) / 128, 1 / 128), "powers that overflow unless the maximum is subtracted"),
        Case((rng.normal(size=(2, 3, 5)) * 2, 0.7), "two sentences, three rows, five words"),
    ],
    exercise="ex-13-10",
    mistakes=(
        Mistake(
            "multiplied in place of divided",
            "At T = 0.5 the likely words must get likelier, and yours get less so. Divide the logits by T. "
            "(Probabilities raised to the power T are the same mistake: the power is 1 / T.)",
            lambda x, t: _softmax(x * t),
        ),
        Mistake(
            "divided after the softmax",
            "The sum is 1 / T then, and the ratios of the words are as before. Divide the logits, before the softmax.",
            lambda x, t: _softmax(x) / t,
        ),
        Mistake(
            "a temperature without effect",
            "These are the probabilities at T = 1. Dividing the probabilities and renewing their sum, or subtracting T "
            "from the logits, changes nothing: divide the logits.",
            lambda x, t: _softmax(x),
        ),
        Mistake(
            "the root of the temperature",
            "Divide by T itself. The root belongs to the scores of attention.",
            lambda x, t: _softmax(x / np.sqrt(t)),
        ),
        Mistake(
            "no softmax",
            "The divided logits are returned. Softmax comes behind.",
            lambda x, t: x / t,
        ),
        Mistake(
            "softmax twice",
            "You divide probabilities by T and take their softmax. Divide the logits, and take one softmax.",
            lambda x, t: _softmax(_softmax(x) / t),
        ),
        Mistake(
            "no maximum subtracted",
            "20 / 0.01 is 2000, and exp overflows above 709.78 (chapter 8). Subtract the largest of each row first.",
            lambda x, t: np.exp(x / t) / np.exp(x / t).sum(axis=-1, keepdims=True),
        ),
        Mistake(
            "the maximum of the logits that are not divided",
            "At a low temperature the divided logits are far larger, and exp overflows all the same. Divide first, "
            "then subtract the largest of what you have.",
            _undivided_maximum,
        ),
        Mistake(
            "summed over the wrong axis",
            "The probabilities of the words of one row sum to 1: axis=-1.",
            lambda x, t: _softmax(x / t, axis=0),
        ),
        Mistake(
            "one sum for the whole array",
            "sum() without an axis adds up all rows. Each row needs its own sum: axis=-1, keepdims=True.",
            lambda x, t: np.exp((x - x.max()) / t) / np.exp((x - x.max()) / t).sum(),
        ),
    ),
)


def top_k(probs, k):
    """Keep the k most probable words and share out their probabilities to sum to 1.

    probs: array of shape (words,), the probabilities of the next word. k: how many
    words are kept, at most all; of equals the first. Returns an array of shape
    (words,), 0 for the words that are cut off.
    """
    order = np.argsort(-probs, kind="stable")
    kept = np.zeros_like(probs)
    kept[order[:k]] = probs[order[:k]]
    return kept / kept.sum()


def _shares(probs, ids):
    """The probabilities of some words, all else 0, not renewed."""
    shares = np.zeros_like(probs)
    shares[ids] = probs[ids]
    return shares


def _renew(shares):
    return shares / shares.sum()


def _order(probs):
    return np.argsort(-probs, kind="stable")


def _at_the_cut(probs, kept) -> float:
    """How far the last word kept lies above those that are cut off."""
    ranked = np.sort(probs)[::-1]
    return apart(ranked[kept - 1], ranked[kept:])


TOP_K = Check(
    solution=top_k,
    expected=lambda p, k: _renew(_shares(p, kept_tokens(p, top_k=k))),
    cases=lambda rng: [
        Case((np.array([0.125, 0.5, 0.125, 0.25]), 2), "the two best of four words"),
        Case((np.array([0.125, 0.5, 0.25, 0.125]), 3), "two words of equal probability, room for one"),
        Case((np.array([0.5, 0.25, 0.25]), 1), "one word"),
        Case((np.array([0.25, 0.75]), 2), "all words"),
        Case((rng.dirichlet(np.ones(8)), 3), "three of eight words"),
    ],
    gap=_at_the_cut,
    exercise="ex-13-11",
    mistakes=(
        Mistake(
            "the sum not renewed",
            "What is left sums to less than 1. Divide by its sum.",
            lambda p, k: _shares(p, _order(p)[:k]),
        ),
        Mistake(
            "the least probable words kept",
            "argsort counts upwards: its first k are the least probable. Sort -probs, or take the last k.",
            lambda p, k: _renew(_shares(p, np.argsort(p, kind="stable")[:k])),
        ),
        Mistake(
            "the first words kept",
            "You keep the first k of the vocabulary. Sort by probability first.",
            lambda p, k: _renew(_shares(p, np.arange(k))),
        ),
        Mistake(
            "one word too many",
            "k + 1 words are left. A slice [:k] has k entries.",
            lambda p, k: _renew(_shares(p, _order(p)[: k + 1])),
        ),
        Mistake(
            "all of equals kept",
            "Words as probable as the last one kept stay too, so there can be more than k. Of equals the first stays: "
            "choose by place, not by value.",
            lambda p, k: _renew(p * (p >= np.sort(p)[-k])),
        ),
        Mistake(
            "the last of equals kept",
            "Of equals the first is kept. np.argsort(-probs, kind='stable') leaves them in order; a sort turned "
            "round does not.",
            lambda p, k: _renew(_shares(p, np.argsort(p, kind="stable")[-k:])),
        ),
        Mistake(
            "equal shares",
            "Each kept word got 1 / k. The shares keep the ratios of the probabilities.",
            lambda p, k: _renew(_shares(np.ones_like(p), _order(p)[:k])),
        ),
        Mistake(
            "a second softmax",
            "Softmax of probabilities gives every word a share, those cut off too. Divide by the sum.",
            lambda p, k: _softmax(_shares(p, _order(p)[:k])),
        ),
        Mistake(
            "only the kept words returned",
            "The place of a number is the id of its word, so the expected shape is that of probs, with 0 for the words "
            "that are cut off.",
            lambda p, k: _renew(p[_order(p)[:k]]),
        ),
    ),
)


def top_p(probs, p):
    """Keep the fewest words that together reach the probability p, and renew the sum.

    probs: array of shape (words,), the probabilities of the next word. p: a number
    above 0, at most 1. Words are taken from the most probable on (of equals the first)
    until their sum is p or more. Returns an array of shape (words,) that sums to 1, 0
    for the words that are cut off.
    """
    order = np.argsort(-probs, kind="stable")
    before = np.cumsum(probs[order]) - probs[order]  # what the words in front have
    ids = order[before < p]
    kept = np.zeros_like(probs)
    kept[ids] = probs[ids]
    return kept / kept.sum()


def _reached(probs):
    """The sums of the most probable words, one by one."""
    return np.cumsum(probs[_order(probs)])


def _top_p_gap(probs, p) -> float:
    """The sums are compared with p, then the words with each other."""
    return min(apart(_reached(probs), p), _at_the_cut(probs, len(kept_tokens(probs, top_p=p))))


TOP_P = Check(
    solution=top_p,
    expected=lambda probs, p: _renew(_shares(probs, kept_tokens(probs, top_p=p))),
    cases=lambda rng: [
        Case((np.array([0.125, 0.5, 0.125, 0.25]), 0.7), "two words are enough"),
        Case((np.array([0.25, 0.5, 0.125, 0.125]), 0.75), "two words reach p exactly"),
        Case((np.array([0.125, 0.625, 0.25]), 0.3), "the first word is enough"),
        Case((np.array([0.25, 0.5, 0.25]), 0.6), "two words of equal probability, one is enough"),
        Case((np.array([0.5, 0.25, 0.25]), 1.0), "all words"),
        Case((rng.dirichlet(np.ones(8)), 0.9), "eight words"),
    ],
    gap=_top_p_gap,
    exercise="ex-13-12",
    mistakes=(
        Mistake(
            "the sum not renewed",
            "What is left sums to less than 1. Divide by its sum.",
            lambda x, p: _shares(x, _order(x)[: np.searchsorted(_reached(x), p) + 1]),
        ),
        Mistake(
            "the word that reaches p left out",
            "The sum of the words kept must be p or more, so the word with which it is reached stays. If it is the "
            "first word, none is left, and 0 divided by 0 is NaN.",
            lambda x, p: _renew(_shares(x, _order(x)[_reached(x) <= p])),
        ),
        Mistake(
            "one word more where p is reached exactly",
            "The fewest words that reach p: when their sum equals p, that is enough.",
            lambda x, p: _renew(_shares(x, _order(x)[: np.searchsorted(_reached(x), p, side="right") + 1])),
        ),
        Mistake(
            "one word too many",
            "You stop one word after p has been reached.",
            lambda x, p: _renew(_shares(x, _order(x)[: np.searchsorted(_reached(x), p) + 2])),
        ),
        Mistake(
            "the words not sorted",
            "You add up in the order of the vocabulary. The most probable words come first.",
            lambda x, p: _renew(_shares(x, np.arange(len(x))[np.cumsum(x) - x < p])),
        ),
        Mistake(
            "the least probable words first",
            "argsort counts upwards. Sort -probs.",
            lambda x, p: _renew(_shares(x, (up := np.argsort(x, kind="stable"))[np.cumsum(x[up]) - x[up] < p])),
        ),
        Mistake(
            "the last of equals first",
            "Of equals the first is taken first. np.argsort(-probs, kind='stable') leaves them in order; a sort turned "
            "round does not.",
            lambda x, p: _renew(
                _shares(x, (down := np.argsort(x, kind="stable")[::-1])[np.cumsum(x[down]) - x[down] < p])
            ),
        ),
        Mistake(
            "each word measured by itself",
            "You keep the words that have at least p alone. It is their sum that must reach p.",
            lambda x, p: _renew(x * (x >= p)),
        ),
        Mistake(
            "words above 1 - p",
            "The words cut off have at most 1 - p together; that says nothing of each one. Add up from the top.",
            lambda x, p: _renew(x * (x > 1 - p)),
        ),
        Mistake(
            "not put back in their places",
            "Your result is sorted by probability. The place of a number is the id of its word.",
            lambda x, p: np.sort(top_p(x, p))[::-1],
        ),
        Mistake(
            "equal shares",
            "Each kept word got the same. The shares keep the ratios of the probabilities.",
            lambda x, p: _renew((top_p(x, p) > 0).astype(float)),
        ),
    ),
)


def sentence_score(log_probs, alpha):
    """Rank a finished sentence: log P / ((5 + n) / 6) ** alpha.

    log_probs: array of shape (n,), the log-probability of each of the sentence's n
    tokens, the end token included; log P is their sum. alpha: 0 or more. Returns a
    number.
    """
    return log_probs.sum() / ((5 + len(log_probs)) / 6) ** alpha


def _penalty(x, alpha):
    return ((5 + len(x)) / 6) ** alpha


SENTENCE_SCORE = Check(
    solution=sentence_score,
    expected=lambda x, alpha: np.sum(x) / _penalty(x, alpha),  # as toytf.generate.beam_search ranks
    cases=lambda rng: [
        Case((np.array([-1.0, -2.0, -1.0, -1.0, -1.0, -1.0, -1.0]), 1.0), "seven tokens: -8 / 2"),
        Case((np.array([-2.0]), 0.6), "one token: its penalty is 1"),
        Case((np.array([-0.5, -0.25]), 0.0), "no penalty"),
        Case((np.array([-0.25, -0.5, -0.25]), 2.0), "three tokens"),
        Case((-rng.exponential(size=10), 0.6), "ten tokens, the paper's alpha"),
    ],
    exercise="ex-13-13",
    mistakes=(
        Mistake("no length penalty", "This is log P alone. Divide it.", lambda x, a: x.sum()),
        Mistake(
            "multiplied by the penalty",
            "log P is negative: dividing it by more than 1 brings it nearer to 0 and helps long sentences. Multiplied, "
            "it is as if they were punished twice.",
            lambda x, a: x.sum() * _penalty(x, a),
        ),
        Mistake(
            "divided by the number of tokens",
            "This is the mean. The paper divides by ((5 + n) / 6) to the power alpha, which grows more slowly.",
            lambda x, a: x.mean(),
        ),
        Mistake(
            "n in place of (5 + n) / 6",
            "n to the power alpha is another penalty. The paper's begins with 5 + n.",
            lambda x, a: x.sum() / len(x) ** a,
        ),
        Mistake(
            "a bracket missing",
            "5 + n / 6 divides n alone. It is (5 + n) / 6.",
            lambda x, a: x.sum() / (5 + len(x) / 6) ** a,
        ),
        Mistake(
            "alpha on the 6 alone",
            "(5 + n) / 6 ** alpha raises the 6 alone. The whole fraction stands in brackets: ((5 + n) / 6) ** alpha.",
            lambda x, a: x.sum() / ((5 + len(x)) / 6**a),
        ),
        Mistake(
            "alpha as a factor",
            "alpha is an exponent: ** alpha. With alpha = 0 the penalty is 1.",
            lambda x, a: x.sum() / np.float64(_penalty(x, 1) * a),
        ),
        Mistake(
            "alpha not used",
            "Raise (5 + n) / 6 to the power alpha. With alpha = 0 the score is log P.",
            lambda x, a: x.sum() / _penalty(x, 1),
        ),
        Mistake(
            "the end token not counted",
            "n counts all tokens, the end token included: len(log_probs).",
            lambda x, a: x.sum() / ((4 + len(x)) / 6) ** a,
        ),
        Mistake(
            "log-probabilities multiplied",
            "Probabilities are multiplied, so their logarithms are added (chapter 13, Sums of logarithms).",
            lambda x, a: x.prod() / _penalty(x, a),
        ),
        Mistake(
            "the probability in place of its logarithm",
            "The sentences are ranked by log P, the sum itself. No exp.",
            lambda x, a: np.exp(x.sum()) / _penalty(x, a),
        ),
    ),
)


def beam(first, following, length, width):
    """Write sentences of a fixed length by beam search in a table.

    first: shape (words,), the log-probability of each word as the first one.
    following: shape (words, words); row w holds the log-probabilities of the word after
    word w. length: how many words a sentence has. width: how many sentences are kept
    at each step, at most as many as there are words. Returns (sentences, log_probs):
    integers of shape (width, length) and their summed log-probabilities, shape
    (width,), the best first; of equals the one that was found first.
    """
    kept = np.argsort(-first, kind="stable")[:width]
    sentences, log_probs = kept[:, None], first[kept]
    for _ in range(length - 1):
        candidates = log_probs[:, None] + following[sentences[:, -1]]  # kept x word
        best = np.argsort(-candidates, axis=None, kind="stable")[:width]
        parent, word = np.divmod(best, len(first))
        sentences = np.column_stack([sentences[parent], word])
        log_probs = candidates[parent, word]
    return sentences, log_probs


class _Begun:
    """The state of a table: nothing but that the first word is written."""

    def take(self, rows):
        return self


def _expected_beam(first, following, length, width):
    def step(state, ids):
        return (first[None] if state is None else following[ids]), _Begun()

    limits = {"sos": 0, "eos": -1, "max_length": length}
    found = beam_search(step, None, width=width, n_best=width, **limits)
    return np.array([h.ids for h in found]), np.array([h.log_prob for h in found])


def _wrong_beam(prune, steps=0):
    """A beam whose pruning is wrong: from sentences, their sums and the table to the next ones."""

    def mistaken(first, following, length, width):
        kept = _order(first)[:width]
        sentences, log_probs = kept[:, None], first[kept]
        for _ in range(length - 1 + steps):
            sentences, log_probs = prune(sentences, log_probs, following, width)
        return sentences, log_probs

    return mistaken


def _extend(sentences, candidates, best, words):
    parent, word = np.divmod(best, words)
    return np.column_stack([sentences[parent], word]), candidates[parent, word]


def _best(candidates, width):
    return np.argsort(-candidates, axis=None, kind="stable")[:width]


def _right(s, total, table, width):
    candidates = total[:, None] + table[s[:, -1]]
    return _extend(s, candidates, _best(candidates, width), len(table))


def _each_its_best(s, total, table, width):
    candidates = total[:, None] + table[s[:, -1]]
    return np.column_stack([s, candidates.argmax(axis=1)]), candidates.max(axis=1)


def _each_its_width(s, total, table, width):
    candidates = total[:, None] + table[s[:, -1]]
    words = np.argsort(-candidates, axis=1, kind="stable")[:, :width]
    many = np.repeat(s, words.shape[1], axis=0)
    return np.column_stack([many, words.ravel()]), np.take_along_axis(candidates, words, 1).ravel()


def _past_forgotten(s, total, table, width):
    candidates = table[s[:, -1]]
    return _extend(s, candidates, _best(candidates, width), len(table))


def _wrong_parents(s, total, table, width):
    candidates = total[:, None] + table[s[:, -1]]
    best = _best(candidates, width)
    return np.column_stack([s, best % len(table)]), candidates.ravel()[best]


def _columns(s, total, table, width):
    candidates = total[:, None] + table[:, s[:, -1]].T
    return _extend(s, candidates, _best(candidates, width), len(table))


def _multiplied(s, total, table, width):
    candidates = total[:, None] * table[s[:, -1]]
    return _extend(s, candidates, _best(candidates, width), len(table))


def _by_width(s, total, table, width):
    candidates = total[:, None] + table[s[:, -1]]
    return _extend(s, candidates, _best(candidates, width), width)


def _worst(s, total, table, width):
    candidates = total[:, None] + table[s[:, -1]]
    return _extend(s, candidates, _best(-candidates, width), len(table))


def _beam_cases(rng):
    two = np.log([0.6, 0.4]), np.log([[0.55, 0.45], [0.1, 0.9]])
    three = np.log([0.5, 0.3, 0.2]), np.log([[0.4, 0.35, 0.25], [0.1, 0.1, 0.8], [0.05, 0.9, 0.05]])
    drawn = np.log(rng.dirichlet(np.ones(5))), np.log(rng.dirichlet(np.ones(5), size=5))
    return [
        Case((*two, 2, 2), "two words, greedy would miss the best sentence"),
        Case((*two, 2, 1), "width 1 is greedy"),
        Case((*three, 3, 2), "three words"),
        Case((*three, 4, 3), "three words, four of them in a sentence"),
        Case((*drawn, 4, 3), "five words"),
    ]


def _beam_gap(first, following, length, width) -> float:
    """The nearest two of the candidates that are kept and the best one that is not.

    Sentences with the same transitions in another order have equal sums, or nearly, as rounding wills.
    """
    kept = _order(first)[:width]
    sentences, log_probs, candidates = kept[:, None], first[kept], first
    gaps = []
    for _ in range(length):
        ranked = np.sort(candidates, axis=None)[::-1][: width + 1]
        gaps.append(apart(ranked[1:], ranked[:-1]))
        candidates = log_probs[:, None] + following[sentences[:, -1]]
        sentences, log_probs = _right(sentences, log_probs, following, width)
    return min(gaps)


BEAM = Check(
    solution=beam,
    expected=_expected_beam,
    cases=_beam_cases,
    gap=_beam_gap,
    exercise="ex-13-5",
    results=("sentences", "log_probs"),
    points=3,
    mistakes=(
        Mistake(
            "pruned within each sentence",
            "Each kept sentence keeps its own best continuations, so their number is multiplied at every step (chapter "
            "13, Beam search, step by step). All candidates compete. The expected shape has width rows.",
            _wrong_beam(_each_its_width),
        ),
        Mistake(
            "one continuation of each sentence",
            "Each kept sentence goes on greedily by itself. All continuations of all sentences compete, and one "
            "sentence may lose all of its children.",
            _wrong_beam(_each_its_best),
        ),
        Mistake(
            "greedy",
            "The width is not used: one sentence comes out. The expected shape has width rows.",
            lambda first, following, length, width: _wrong_beam(_right)(first, following, length, 1),
        ),
        Mistake(
            "the sums so far forgotten",
            "You compare the last words alone. Add what the sentence has had before: log_probs[:, None] + ...",
            _wrong_beam(_past_forgotten),
        ),
        Mistake(
            "the words put behind the wrong sentences",
            "The sentences that stay must be picked by their parents before the new words go behind them: "
            "sentences[parent].",
            _wrong_beam(_wrong_parents),
        ),
        Mistake(
            "the table read by columns",
            "Row w of following holds what comes after word w: following[last], not following[:, last].",
            _wrong_beam(_columns),
        ),
        Mistake(
            "log-probabilities multiplied",
            "Probabilities are multiplied, so their logarithms are added (chapter 13, Sums of logarithms).",
            _wrong_beam(_multiplied),
        ),
        Mistake(
            "divided by the width to find parent and word",
            "A flattened index counts through rows of as many entries as there are words: divmod(best, words).",
            _wrong_beam(_by_width),
        ),
        Mistake(
            "the least probable kept",
            "argsort counts upwards. Sort the negative sums.",
            _wrong_beam(_worst),
        ),
        Mistake(
            "the best sentence last",
            "The sentences are the right ones. The best comes first: turn their order round, and that of log_probs.",
            lambda *args: tuple(found[::-1] for found in _wrong_beam(_right)(*args)),
        ),
        Mistake(
            "one word too many",
            "The first word is there before the loop; length - 1 are to come. The expected shape is (width, length).",
            _wrong_beam(_right, steps=1),
        ),
        Mistake(
            "probabilities in place of their logarithms",
            "The sums themselves are asked for, without exp.",
            lambda *args: (beam(*args)[0], np.exp(beam(*args)[1])),
        ),
    ),
)


def generate(table, weight, sos, eos, limit):
    """Write a sentence greedily, with a decoder small enough to be read at a glance.

    table: embeddings, shape (words, d). weight: output matrix, shape (d, words). Row t
    of the decoder's output is the mean of the embeddings of tokens 0 to t. sos, eos:
    the ids of start and end token. limit: how many tokens are written at most. Returns
    the ids that were written, an array of integers, without the start token, with the
    end token if it came.
    """
    ids = [sos]
    for _ in range(limit):
        rows = table[ids].cumsum(axis=0) / np.arange(1, len(ids) + 1)[:, None]  # t x d
        ids.append(int(np.argmax(rows[-1] @ weight)))
        if ids[-1] == eos:
            break
    return np.array(ids[1:])


def _expected_generate(table, weight, sos, eos, limit):
    def step(read, ids):
        read = [*read, *ids]
        return (table[read].mean(axis=0) @ weight)[None], read

    (h,) = greedy(step, [], sos=sos, eos=eos, max_length=limit)
    return np.array(h.ids)


def _loop(table, weight, sos, eos, limit, choose=None, replaced=False, stops=True):
    ids, written = [sos], []
    for _ in range(limit):
        rows = table[ids].cumsum(axis=0) / np.arange(1, len(ids) + 1)[:, None]
        written.append(int((choose or (lambda x: x[-1].argmax()))(rows @ weight)))
        ids = written[-1:] if replaced else [*ids, written[-1]]
        if stops and written[-1] == eos:
            break
    return np.array(written, dtype=int)


def _generate_cases(rng):
    forgets = np.array([[0.0, 4, 3, 0], [2, -2, 1, 0], [0, 0, -3, 5], [0, 0, 0, 0]])
    grows = np.array([[0.0, 1, 0, 0], [0, 0, 9, 0], [0, 0, -9, 5], [0, 0, 0, 0]])
    drawn = rng.normal(size=(6, 4)), rng.normal(size=(4, 6))
    return [
        Case((np.eye(4), forgets, 0, 3, 5), "four words, three to be written"),
        Case((np.eye(4), grows, 0, 3, 5), "larger logits in the later rows"),
        Case((np.eye(4), forgets, 0, 3, 2), "cut off after two"),
        Case((*drawn, 0, 5, 8), "six words"),
        Case((*drawn, 1, 2, 8), "other start and end tokens"),
    ]


def _generate_gap(table, weight, sos, eos, limit) -> float:
    """The lead of each word that is written."""
    ids = [sos, *generate(table, weight, sos, eos, limit)]
    return min(_lead(table[ids[:t]].mean(axis=0) @ weight) for t in range(1, len(ids)))


GENERATE = Check(
    solution=generate,
    expected=_expected_generate,
    cases=_generate_cases,
    gap=_generate_gap,
    exercise="ex-13-6",
    mistakes=(
        Mistake(
            "the sequence replaced, not extended",
            "The decoder reads one token and has forgotten what it wrote (chapter 13, Three faults of one loop). "
            "Add the new token to those that are there.",
            lambda *args: _loop(*args, replaced=True),
        ),
        Mistake(
            "argmax over the flattened array",
            "With t rows argmax counts through all of them. There may be no such word (chapter 13, Three faults of "
            "one loop). Only the last row is new: rows[-1].",
            lambda *args: _loop(*args, choose=np.argmax),
        ),
        Mistake(
            "the first row in place of the last",
            "Row 0 predicts the word after the start token, every time the same. Only the last row is new: rows[-1].",
            lambda *args: _loop(*args, choose=lambda x: x[0].argmax()),
        ),
        Mistake(
            "no stop at the end token",
            "When the end token comes the sentence is over: break.",
            lambda *args: _loop(*args, stops=False),
        ),
        Mistake(
            "the start token in the result",
            "The start token is read, not written. Return what comes behind it.",
            lambda table, weight, sos, *rest: np.r_[sos, _loop(table, weight, sos, *rest)],
        ),
        Mistake(
            "the end token left out of the result",
            "The end token is written like the others, and belongs to the result.",
            lambda table, weight, sos, eos, limit: (w := _loop(table, weight, sos, eos, limit))[w != eos],
        ),
        Mistake(
            "one token beyond the limit",
            "At most limit tokens are written, the start token not counted: range(limit).",
            lambda t, w, sos, eos, limit: _loop(t, w, sos, eos, limit + 1),
        ),
        Mistake(
            "one token too few",
            "limit tokens may be written. The start token does not count.",
            lambda t, w, sos, eos, limit: _loop(t, w, sos, eos, limit - 1),
        ),
        Mistake(
            "the least probable word",
            "argmin takes the smallest logit.",
            lambda *args: _loop(*args, choose=lambda x: x[-1].argmin()),
        ),
    ),
)

_POWERS = np.exp([2.0, 1.0, 0.0])
_RATIO = 1.2259  # of "hola" to "world", as the exercise gives it


def _softmax_of_three(place):
    power, total = _POWERS[place], _POWERS.round(4).sum()  # as the exercise gives them
    return f"{power:.4f} / (7.3891 + 2.7183 + 1) = {power:.4f} / {total:.4f}, about {power / total:.4f}"


WORDS_BY_HAND = [
    ByHand(
        "ex-13-1",
        (
            Part(_POWERS / _POWERS.sum(), _softmax_of_three, decimals=4, name="probabilities"),
            Part(_POWERS / _POWERS.sum(), _softmax_of_three, decimals=4, name="with 100 added"),
        ),
    ),
    ByHand(
        "ex-13-4",
        (
            Part(
                _RATIO**2,
                lambda _: f"the difference of the logits doubles: {_RATIO} * {_RATIO}, about {_RATIO**2:.3f}",
                decimals=3,
                name="temperature 0.5",
            ),
            Part(
                np.sqrt(_RATIO),
                lambda _: f"the difference of the logits is halved: the root of {_RATIO}, about {np.sqrt(_RATIO):.3f}",
                decimals=3,
                name="temperature 2",
            ),
        ),
    ),
    ByHand(
        "ex-13-7",
        (
            Part(
                2 * 6 * 100 * 512,
                lambda _: (
                    f"keys and values, 6 layers, 100 tokens, 512 columns: 2 * 6 * 100 * 512 = {2 * 6 * 100 * 512}"
                ),
                name="numbers",
            ),
            Part(100, lambda _: "one row for each token: 100", name="rows with cache"),
            Part(
                100 * 101 // 2,
                lambda _: f"1 + 2 + ... + 100 = 100 * 101 / 2 = {100 * 101 // 2}",
                name="rows without cache",
            ),
            Part(4, lambda _: "one for each hypothesis: 4", name="caches"),
        ),
    ),
]

CHECKS: list[Check] = [
    WINDOW_MASK,
    CAUSAL_MASK,
    PADDING_MASK,
    MASKED_SOFTMAX,
    CROSS_FIRST,
    DISGUISE_MASK,
    CROSS_ATTENTION,
    BEAM,
    GENERATE,
    PICK,
    TEMPERATURE,
    TOP_K,
    TOP_P,
    SENTENCE_SCORE,
]

BY_HAND: list[ByHand] = [*MASKS_BY_HAND, *DECODER_BY_HAND, *WORDS_BY_HAND]
