"""Checkers of chapter 11: masks."""

import numpy as np

from toytf import ops
from toytf.byhand import Quotient, Sum
from toytf.check.answers import part, worked
from toytf.check.core import Case, checker


@checker("ex-11-4")
def window_mask(length, width):
    """Make the mask of a window: every token sees itself and the width - 1 before it.

    length: number of tokens, n. width: how many tokens a full row may see, at least 1.
    Returns a boolean array of shape (n, n), a row for each query; True means
    "may attend".
    """
    return np.tri(length, dtype=bool) & ~np.tri(length, k=-width, dtype=bool)


window_mask.cases = lambda rng: [
    Case((4, 2), "four tokens, each sees itself and the one before"),
    Case((6, 3), "six tokens, three visible"),
    Case((3, 1), "each token sees itself alone"),
    Case((3, 5), "a window longer than the sentence"),
    *(Case((int(rng.integers(7, 300)), int(rng.integers(2, 100))), "a longer sentence") for _ in range(3)),
]


NUMBERS_FOR_BOOLEANS = (
    "A mask is made of True and False, and yours holds numbers. np.where takes them for the same; & and ~ do not. "
    "Say dtype=bool, or compare with > 0."
)
OPPOSITE = (
    "In this book True means 'may attend' (chapter 11, A table of may and may not). Yours is True where a key is "
    "hidden, as in PyTorch. Turn it round with ~."
)
window_mask.knows(f"""
    - one token too many: k=-width => k=-width - 1
      width counts the token itself. The far end is hidden from k=-width on.
    - one token too few: k=-width => k=-width + 1
      A full row has width tokens: itself and width - 1 before it. np.tri(n, k=-width) is what to take away.
    - the token itself left out: tri(length, dtype=bool) => tri(length, k=-1, dtype=bool), and k=-width => k=-width - 1
      Every token sees itself. Your window lies wholly before it, and the first row is empty.
    - a window into the future as well: np.tri(length, dtype=bool) => np.tri(length, k=width - 1, dtype=bool)
      abs(i - j) < width looks both ways. The tokens behind a token in the sentence are hidden: j <= i as well.
    - rows and columns exchanged: bool) =>> bool).T
      Your rows see what comes after them. The row asks: row i reaches back to column i - width + 1.
    - the whole past visible: tri(length, dtype=bool) & ~np.tri(length, k=-width, dtype=bool) => tri(length, dtype=bool)
      This is the causal mask. What lies width tokens back or more must be taken away: & ~np.tri(n, k=-width).
    - the opposite sense: np.tri(length, dtype=bool) & ~np => ~np.tri(length, dtype=bool) | np
      {OPPOSITE}
    - numbers in place of booleans:
        np.tri(length, dtype=bool) & ~np.tri(length, k=-width, dtype=bool) => np.tri(length) - np.tri(length, k=-width)
      {NUMBERS_FOR_BOOLEANS}
    - the first rows left empty:
        k=-width, dtype=bool) => k=-width, dtype=bool) & (np.arange(length)[:, None] >= width - 1)
      A token near the start sees the tokens that there are. Your loop begins where the window is full.
""")


@checker("ex-11-8")
def causal_mask(length):
    """Make the mask that hides the future: query i may attend to keys 0 to i.

    length: number of tokens, n. Returns a boolean array of shape (n, n), one row for
    each query and one column for each key; True means "may attend".
    """
    return np.tri(length, dtype=bool)


causal_mask.cases = lambda rng: [
    Case((3,), "three tokens"),
    Case((1,), "one token"),
    Case((2,), "two tokens"),
    Case((5,), "five tokens"),
    Case((int(rng.integers(6, 40)),), "a longer sentence"),
]
causal_mask.knows(f"""
    - the upper triangle: np.tri(length, dtype=bool) => np.tri(length, dtype=bool).T
      This shows the future and hides the past, the mask turned round of chapter 11. The row asks, so row i has True in
      columns 0 to i: np.tri, not np.triu.
    - the diagonal missing: np.tri(length, => np.tri(length, k=-1,
      A token may attend to itself: up to and including. Without the diagonal the first row has nothing left (chapter
      11, A row with nothing left). In np.tri leave out k=-1; in a loop use i + 1 as the end.
    - one token of the future visible: np.tri(length, => np.tri(length, k=1,
      Row i reaches column i + 1, which holds the word that row i must predict. In np.tri leave out k=1; in a loop the
      columns are 0 to i.
    - the opposite sense: np.tri => ~np.tri
      {OPPOSITE}
    - numbers in place of booleans: np.tri(length, dtype=bool) => np.tri(length)
      {NUMBERS_FOR_BOOLEANS}
    - 0 and minus infinity in place of booleans:
        np.tri(length, dtype=bool) => np.where(np.tri(length, dtype=bool), 0.0, -np.inf)
      This is the table that the notes add to the scores. Here a mask says True and False; masked_softmax writes the
      minus infinity.
    - the last row left out: (length, dtype=bool) => (length, dtype=bool) & (np.arange(length)[:, None] < length - 1)
      The last row is all False: a loop over range(n - 1) ends one row early. The last token may attend to all.
    - one row and one column short: np.tri(length, => np.tri(length - 1,
      The shape is (n - 1, n - 1). There is one row and one column for each token, n of them.
    - every key visible: np.tri(length, dtype=bool) => np.ones((length, length), dtype=bool)
      All entries are True, so nothing is hidden. The future is what lies above the diagonal.
""")


@checker("ex-11-9")
def padding_mask(is_token):
    """Make the mask that hides filled-up places from every query.

    is_token: boolean array of shape (..., key), True where a token stands. Returns a
    boolean array of shape (..., 1, key), to be used for every query; True means
    "may attend".
    """
    return is_token[..., None, :]


padding_mask.cases = lambda rng: [
    Case(([True, True, False],), "two tokens and one place filled up"),
    Case(([[True, True, True], [True, False, False]],), "two sentences"),
    Case(([[False, True, True], [True, True, False], [True, True, True]],), "three sentences of three"),
    Case((np.arange(40) < rng.integers(1, 41, size=(6, 1)),), "six sentences"),
]
padding_mask.knows(f"""
    - no axis for the query: is_token[..., None, :] => is_token.copy()
      The shape is still (..., key). NumPy compares shapes from the right, so the sentences of a batch would be taken
      for queries (chapter 11, Shapes of masks). Put an axis of length 1 before the last one.
    - the new axis behind the keys: [..., None, :] => [..., None]
      The shape (..., key, 1) hides the rows of those who ask. Padding hides columns: the new axis stands before the
      last one, [..., None, :].
    - the axes counted from the front: [..., None, :] => [:, None, :]
      [:, None, :] needs a batch. A single sentence has one axis, and any number of axes may stand before the keys:
      count from the back, [..., None, :]. The expected shape is (..., 1, key).
    - the new axis in front: [..., None, :] => [None]
      For one sentence this is right. In a batch the shape becomes (1, batch, key), and every sentence gets the masks of
      all. Put the axis before the last one, [..., None, :].
    - the opposite sense: is_token[..., None, :] => ~is_token[..., None, :]
      {OPPOSITE}
    - numbers in place of booleans: [..., None, :] => [..., None, :].astype(float)
      {NUMBERS_FOR_BOOLEANS}
    - 0 and minus infinity in place of booleans:
        is_token[..., None, :] => np.where(is_token[..., None, :], 0.0, -np.inf)
      This is what the notes add to the scores. Here a mask says True and False.
    - the padding's own rows hidden too: is_token[..., None, :] => is_token[..., :, None] & is_token[..., None, :]
      Your shape is (..., key, key): a filled-up place may not ask either, and its row has nothing left. The row is
      computed and nobody reads it; hide columns alone, with one row of shape (..., 1, key).
    - two new axes: [..., None, :] => [..., None, None, :]
      The shape (..., 1, 1, key) has an axis for the heads as well. Multi-head attention puts that one in.
    - the causal mask in it: is_token[..., None, :] => np.tri(is_token.shape[-1], dtype=bool) & is_token[..., None, :]
      This hides the future too. The two masks are made apart and joined by & where both are needed; the encoder needs
      padding alone. The expected shape is (..., 1, key).
""")


def _masked_cases(rng):
    length = int(rng.integers(3, 5))
    padded = (np.arange(5) < np.array([length, 5])[:, None])[:, None]
    return [
        Case(([[0.0, np.log(3.0), 5.0]], [[True, True, False]]), "shares 1/4, 3/4 and 0"),
        Case(([[1.0, 1.0], [2.0, 3.0]], np.tri(2, dtype=bool)), "a causal mask"),
        Case(([[1.0, 2.0], [2.0, 0.0]], [[True, True], [False, False]]), "nothing left in row 2"),
        Case(([[0.0, 800.0], [1000.0, 999.0]], [[True, False], [True, True]]), "large scores"),
        Case(
            ([[0.0, 0.0], [1000.0, 1000.0]], [[True, True], [True, True]]),
            "scores of one query far below those of another",
        ),
        Case((rng.normal(size=(2, 3, 5)) * 3, padded), "two sentences, three queries, five keys"),
        Case((rng.normal(size=(2, 2, 4, 4)) * 3, np.tri(4, dtype=bool)), "two sentences, two heads, four tokens"),
    ]


@checker("ex-11-10", cases=_masked_cases)
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


masked_softmax.knows("""
    - the mask after the softmax: np.where(mask, scores, -np.inf) => scores, and return exps => return mask * exps
      The hidden keys have taken their share before they are set to 0, so the rest no longer sums to 1 (chapter 11,
      Why not after the softmax?). Write minus infinity over the scores first.
    - the mask after the softmax, the sums renewed:
        np.where(mask, scores, -np.inf) => scores, and exps.sum => (mask * exps).sum, and
        return exps / np.where(sums == 0, 1, sums) => return mask * exps / sums
      Next to a hidden score of 800 the visible shares are 0 already, and 0 divided by 0 is NaN (chapter 11, After the
      softmax). Mask the scores first.
    - the powers of the hidden keys set to 0: np.where(mask, scores, -np.inf) => scores, and = np.exp => = mask * np.exp
      The largest score was taken from the hidden keys too: next to a hidden score of 800 the visible powers are 0
      already. Mask the scores first, so that a hidden one has no say in the maximum.
    - one maximum for the whole array: seen.max(axis=-1, keepdims=True) => seen.max()
      A row far below the largest score of another row loses all its shares. Each row needs its own maximum: axis=-1,
      keepdims=True.
    - the mask with the opposite sense: np.where(mask, scores, -np.inf) => np.where(mask, -np.inf, scores)
      True means 'may attend': keep the score where the mask is True, write minus infinity where it is False.
    - 0 in place of minus infinity: np.where(mask, scores, -np.inf) => np.where(mask, scores, 0.0)
      The hidden scores became 0, by scores * mask or np.where(mask, scores, 0), and a score of 0 is a score: its power
      of e is 1 (exercise 3 of chapter 11). Write minus infinity.
    - the mask added to the scores as 1 and 0: np.where(mask, scores, -np.inf) => scores + mask
      scores + mask adds 1 where the mask is True. Nothing is hidden. Use np.where(mask, scores, -np.inf).
    - NaN in a row with nothing left: np.where(largest == -np.inf, 0, largest) => largest
      Where every score is minus infinity, the largest is too, and their difference is NaN (chapter 11, A row with
      nothing left). The row should be zeros: take 0 for such a maximum, and 1 for a sum of 0.
    - a large negative number in place of minus infinity: mask, scores, -np.inf => mask, scores, -1e9
      In a row with nothing left all keys are then equal, and each forbidden key gets the same weight. That row should
      be zeros.
    - a large negative number added: np.where(mask, scores, -np.inf) => scores + np.where(mask, 0.0, -1e9)
      In a row with nothing left every score is moved by the same number, which softmax forgets: the query reads what is
      forbidden, as if there were no mask (chapter 11, A row with nothing left).
    - summed over the wrong axis:
        seen.max(axis=-1 => seen.max(axis=-2, and np.where(largest == -np.inf, 0, largest) => largest, and
        exps.sum(axis=-1 => exps.sum(axis=-2
      The shares of one query sum to 1 along its row, over the keys: axis=-1, for the maximum and for the sum.
    - no maximum subtracted: seen - np.where(largest == -np.inf, 0, largest) => seen
      exp overflows above 709.78, and infinity divided by infinity is NaN (chapter 8). Subtract the largest visible
      score of each row first.
    - a sigmoid for each score: return exps / np.where(sums == 0, 1, sums) => return mask / (1 + np.exp(-scores))
      A sigmoid sees one score, and a row of them sums to anything. In a softmax the visible keys share 1 among them.
    - the mask not used: np.where(mask, scores, -np.inf) => scores
      These are the shares without a mask. Write minus infinity where it is False; np.where returns a new array, so
      keep its result.
""")


_IS_TOKEN = np.array([1, 1, 0, 0])


def _may(place):
    query, key = place
    return [
        f"key {key + 1} lies {'in the future of' if key > query else 'not after'} query {query + 1}",
        f"key {key + 1} is {'a token' if _IS_TOKEN[key] else 'filled up'}",
    ]


def _table(name, mask, reasons):
    """A mask of 1 (may attend) and 0, and why an entry is what it is."""
    answer = part(name, mask, lambda at: f"{' and '.join(reasons(at))}: {mask[at]}")
    return answer.knows(1 - mask, '1 and 0 exchanged. 1 means "may attend".')


_CAUSAL, _PADDING = np.tri(4, dtype=int), np.tile(_IS_TOKEN, (4, 1))
_BOTH = _CAUSAL * _PADDING
_BEFORE = np.array([0.1, 0.3, 0.6])  # shares without a mask; the third key is hidden
_LEFT = _BEFORE * [1, 1, 0]

BY_HAND = {}
BY_HAND["11.1"] = [
    _table("causal", _CAUSAL, lambda at: _may(at)[:1]).knows(
        np.tri(4, k=-1), "a mask that hides each token from itself. It may attend to itself."
    ),
    _table("padding", _PADDING, lambda at: _may(at)[1:])
    .knows(_PADDING.T, "a mask that hides queries. Padding hides keys, so the columns.")
    .knows(_PADDING * _PADDING.T, "rows and columns hidden. Padding hides keys alone."),
    _table("both", _BOTH, _may).knows(_CAUSAL | _PADDING, "what one mask or the other allows. Both must allow it."),
    worked("visible pairs", [Sum(*mask.sum(axis=1).tolist()) for mask in (_CAUSAL, _PADDING, _BOTH)]).knows(
        [6, 8, 9], "the hidden pairs. Count those with a 1."
    ),
]
BY_HAND["11.2"] = [
    worked("before", [Quotient(left, Sum(*_LEFT[:2])) for left in _LEFT], decimals=2, shown="g")
    .knows(_LEFT, "the shares with the third set to 0. The softmax lets what is left sum to 1.")
    .knows(
        _LEFT + [_BEFORE[2] / 2, _BEFORE[2] / 2, 0],
        "the hidden share given out in equal parts. The shares that are left keep their ratio.",
    )
    .knows([*ops.softmax(_LEFT[:2]), 0], "a softmax of the shares. They came out of one already, and keep their ratio.")
    .knows(_LEFT + [0, _BEFORE[2], 0], "the hidden share given to one key. The shares that are left keep their ratio."),
    part("after", _LEFT, lambda at: "hidden: 0" if at == (2,) else f"{_LEFT[at]:g}, as it was", decimals=2)
    .step(lambda at: "hidden" if at == (2,) else "the share as it was without a mask")
    .knows(_LEFT / _LEFT.sum(), "a further division. Nothing else is done here.")
    .knows(_BEFORE, "the shares without a mask. The third is hidden."),
    worked("sum", Sum(*_LEFT), decimals=2, shown="g").knows(
        1, "the sum before. A share is gone, and nothing took its place."
    ),
]
