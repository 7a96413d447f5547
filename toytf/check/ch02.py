"""Checkers of chapter 2: words."""

import numpy as np

from toytf.byhand import Prod, Quotient
from toytf.check.answers import part, product, worked
from toytf.check.core import Case, checker


def _ids_or_unknown_cases(rng):
    words = ["cat", "dog", "bird", "sees", "eats", "the"]
    vocabulary = [str(token) for token in rng.permutation(["<pad>", *words, "<unk>"])]
    sentence = [str(token) for token in rng.choice([*words, "fish", "The"], size=7)]
    return [
        Case(("<pad> <unk> <sos> Hello World", "World Hello"), "every token is known"),
        Case(("<pad> <unk> <sos> Hello World", "Hello there World"), "one token that is not known"),
        Case(("<pad> <unk> <sos> Hello World", "hello World or Hello"), "a small letter, and a part of a token"),
        Case(("World Hello <pad> <unk>", "World , Hello everybody"), "<unk> at another place"),
        Case((" ".join(vocabulary), " ".join([*sentence, "mouse"]))),
    ]


@checker("ex-02-3", cases=_ids_or_unknown_cases, results=("ids",))
def ids_or_unknown(vocabulary, sentence):
    """Give each token of a sentence its id, and that of <unk> to an unknown token.

    vocabulary: a str, the tokens in the order of their ids, with blanks between them;
    one of them is <unk>. sentence: a str, its tokens with blanks between them. Returns
    an array of integers, one for each token of the sentence.
    """
    known = vocabulary.split()
    id_of = {token: place for place, token in enumerate(known)}
    return np.array([id_of.get(token, id_of["<unk>"]) for token in sentence.split()])


ids_or_unknown.knows("""
    - an error for an unknown token: id_of.get(token, id_of["<unk>"]) => known.index(token)
      Look-up in a dictionary or by index stops at a token that is not there. Ask first, or use dict.get with the id of
      <unk>.
    - unknown tokens left out: in sentence.split() => in sentence.split() if token in known
      The sentence loses a token, and all later ones move. Each token gets an id.
    - -1 for an unknown token: id_of["<unk>"] => -1
      NumPy reads -1 as the last row of the table, so the unknown token becomes another word (chapter 2). Use the id of
      <unk>.
    - 0 for an unknown token: id_of["<unk>"] => 0
      The token at 0 is another one, often <pad>. Use the id of <unk>.
    - 1 for an unknown token, wherever <unk> stands: id_of["<unk>"] => 1
      In the chapter's vocabulary <unk> has the id 1; in another it has another. Look it up.
    - an id behind the vocabulary for an unknown token: id_of["<unk>"] => len(known)
      The table has no such row. Use the id of <unk>.
    - ids counted from 1: enumerate(known) => enumerate(known, start=1)
      The first token of the vocabulary has the id 0: it is a place in a list.
    - small and capital letters made equal: split =>> lower().split
      'hello' and 'Hello' are different strings, so different tokens (chapter 2). Compare them as they are.
    - a part of a token taken for the token:
        id_of.get(token, id_of["<unk>"]) => next((i for i, k in enumerate(known) if token in k), id_of["<unk>"])
      in and find on a str look for parts: 'or' is in 'World'. Compare whole tokens: split first.
    - characters in place of tokens: in sentence.split() => in sentence
      A loop over a str gives its characters. Loop over sentence.split().
    - a vocabulary put in alphabetical order: known = vocabulary.split() => known = sorted(vocabulary.split())
      The id is the place in the vocabulary as it is given: do not sort it, and do not make a set of it.
""")


@checker("ex-02-7", results=("rows",))
def one_hot(ids, n_tokens):
    """Write each id as a row of zeros with a 1 at the place of the id.

    ids: array of integers from 0 to n_tokens - 1, of shape (n,) or (batch, n).
    Returns an array of shape (n, n_tokens) or (batch, n, n_tokens).
    """
    return (ids[..., None] == np.arange(n_tokens)).astype(float)


one_hot.cases = lambda rng: [
    Case(([1, 0], 3), "two ids of three"),
    Case(([2, 0, 2], 5), "the largest ids do not occur"),
    Case(([[3, 4, 0], [4, 0, 0]], 5), "two sentences, three tokens each"),
    Case((rng.integers(0, 6, size=(3, 6)), 6)),
]
one_hot.knows("""
    - ids counted from 1: ids[..., None] => (ids[..., None] - 1) % n_tokens
      The id 0 has its 1 in the first column.
    - one row for the whole sentence: .astype(float) => .astype(float).max(axis=-2)
      Each token has a row of its own. One row says which tokens occur and forgets where.
    - the id in place of the 1: .astype(float) => .astype(float) * ids[..., None]
      The place says which token it is; the number there is 1, so that the product with the table is a row of the table
      and no multiple of it.
    - a column for each token: .astype(float) => .astype(float).swapaxes(-1, -2)
      Tokens are rows: the shape is (n, n_tokens).
    - columns only up to the largest id: np.arange(n_tokens) => np.arange(ids.max() + 1)
      The row is as long as the vocabulary, even if its last tokens do not occur: use n_tokens.
    - zeros and ones exchanged: ids[..., None] == np => ids[..., None] != np
      One place holds 1, all others 0.
    - ones along the diagonal: ids[..., None] => np.indices(ids.shape)[-1][..., None]
      The 1 of row k stands in column ids[k], not in column k.
    - the axis of the sentences lost: ids[..., None] => ids.reshape(-1, 1)
      A batch of shape (batch, n) gives (batch, n, n_tokens): the new axis comes last, the others stay.
    - the ones of all tokens in every row:
        (ids[..., None] == np.arange(n_tokens)).astype(float)
        => np.isin(np.arange(n_tokens), ids) + np.zeros((*ids.shape, 1))
      rows[:, ids] = 1 sets these columns in all rows. Pair row and column: rows[np.arange(n), ids] = 1, or compare
      ids[..., None] with np.arange(n_tokens).
""")


def _embed_cases(rng):
    table = rng.normal(size=(5, 4))
    return [
        Case(([[0.0, 0.0], [1.0, 2.0], [3.0, 4.0]], [2, 1]), "three tokens, width 2"),
        Case((table, rng.integers(1, 5, size=(2, 3))), "two sentences"),
        Case((table, [0, 3, 0]), "one token twice"),
        Case((table, [3, -1]), "an id below 0"),
        Case((table, [1, 5, 2]), "an id without a row"),
    ]


@checker("ex-02-8", cases=_embed_cases, results=("rows",))
def embed(table, ids):
    """Look up the row of each id in the embedding table.

    table: array of shape (tokens, d). ids: array of integers of any shape. Returns an
    array of shape (*ids.shape, d). An id below 0, or one for which the table has no
    row, raises a ValueError.
    """
    if ids.min() < 0 or ids.max() >= len(table):
        raise ValueError(f"ids: expected 0 to {len(table) - 1}, got {ids}")
    return table[ids]


embed.knows("""
    - -1 taken for the last row: ids.min() < 0 or ids.max() >= len(table) => False
      NumPy counts a negative index from the end, so an unknown token becomes the last word of the vocabulary (chapter
      2). Raise a ValueError for ids below 0.
    - ids pushed into the table:
        ids.min() < 0 or ids.max() >= len(table) => False, and table[ids] => table[np.clip(ids, 0, len(table) - 1)]
      np.clip, or min and max, turn an unknown id into the first or last token. Raise a ValueError.
    - ids wrapped around the table:
        ids.min() < 0 or ids.max() >= len(table) => False, and table[ids] => table[ids % len(table)]
      % len(table), or mode='wrap', turns an unknown id into some other token. Raise a ValueError.
    - ids counted from 1: table[ids] => table[ids - 1]
      The id 0 is the first row of the table.
    - columns in place of rows: table[ids] => table.T[ids]
      A token is a row of the table: table[ids]. A column belongs to no token.
    - the first rows of the table: table[ids] => table[np.indices(ids.shape)[-1]]
      The rows are chosen by the ids, not by the number of ids.
    - one row for the sentence: table[ids] => table[ids].sum(axis=-2)
      Each token keeps a row of its own. Adding them up loses which token stands where.
    - rows multiplied by the root of d: table[ids] => table[ids] * np.sqrt(table.shape[1])
      The paper does that before it adds the positions; looking up is the step before it, and leaves the rows as they
      are (chapter 2, The scale of an embedding).
    - the axis of the sentences lost: table[ids] => table[ids.ravel()]
      ids of shape (batch, n) give (batch, n, d).
    - zeros for an unknown id:
        ids.min() < 0 or ids.max() >= len(table) => False, and
        table[ids]
        => np.where(((ids < 0) | (ids >= len(table)))[..., None], 0.0, table[np.clip(ids, 0, len(table) - 1)])
      A row of zeros is what <pad> has, and it still gets weight (chapter 2). Raise a ValueError.
""")


@checker("ex-02-9", results=("ids",))
def merge(ids, pair, new):
    """Make one id of each pair of neighbours, from the left: byte-pair encoding's one step.

    ids: array of integers of shape (n,). pair: array of two ids. new: the id that takes
    their place. Returns an array of integers, shorter by one for each pair.
    """
    merged = []
    for i in ids:
        if merged and (merged[-1], i) == tuple(pair):
            merged[-1] = new
        else:
            merged.append(i)
    return np.array(merged)


merge.cases = lambda rng: [
    Case(([5, 1, 2, 5], [1, 2], 9), "one pair in the middle"),
    Case(([1, 2, 3, 1, 2], [1, 2], 9), "a pair at both ends"),
    Case(([2, 1, 2, 1], [1, 2], 9), "the two in the other order too"),
    Case(([7, 7, 7, 7, 7], [7, 7], 8), "a token beside itself"),
    Case(([3, 4, 5], [5, 3], 6), "no pair"),
    Case((rng.integers(0, 3, size=30), [0, 1], 3)),
]
merge.knows("""
    - the first pair alone: if merged and => if new not in merged and merged and
      The pair may stand in several places, and each becomes the new id.
    - either order: (merged[-1], i) == tuple(pair) => sorted((merged[-1], i)) == sorted(pair)
      The pair 1 2 is not the pair 2 1: "ea" is not "ae".
    - the new id beside the old one: merged[-1] = new => merged[-1:] = [merged[-1], new]
      The new id takes the place of both.
    - the pair taken out: merged[-1] = new => merged.pop()
      The two become one id, `new`. Without it the text loses letters.
    - the second id kept: merged[-1] = new => merged[-1] = i
      The two become one id, `new`, which stands for both.
    - the last id lost: for i in ids => for i in ids[:-1]
      A loop over neighbours has one step less than there are ids. The last id belongs to the text too.
""")


_TABLE = np.array([[0, 0, 0, 0], [0, 1, 0, 0], [1, 0, 0, 0], [1, 2, 3, 4], [2, 3, 4, 5]])
_WORDS = ["<pad>", "<unk>", "<sos>", "Hello", "World"]
_LONGER = "World Hello World".split()
_IDS = np.array([_WORDS.index(word) for word in _LONGER])
_ONE_HOT = np.eye(5, dtype=int)[_IDS]

BY_HAND = {}
BY_HAND["2.1"] = [
    part("ids", _IDS, lambda at: f"{_LONGER[at[0]]} is number {_IDS[at[0]]} of the list, counted from 0")
    .step(lambda at: f"the place of {_LONGER[at[0]]} in the vocabulary, counted from zero")
    .knows(_IDS + 1, "places counted from one. The first token of the list has the id zero."),
    part(
        "one-hot rows",
        _ONE_HOT,
        lambda at: f"{_LONGER[at[0]]} has its 1 in column {_IDS[at[0]] + 1}, zeros elsewhere: {_ONE_HOT[at]}",
    )
    .step(lambda at: f"zeros, and a single one in the column that the id of {_LONGER[at[0]]} names")
    .knows(np.eye(5)[_IDS - 1], "a column too far to the left. Ids are counted from zero.")
    .knows(np.eye(5)[[3, 4, 3]], "the rows of the other word."),
    product("E", _ONE_HOT, _TABLE)
    .knows(_TABLE[[3, 4, 3]], "the rows of the other word.")
    .knows(_TABLE[_IDS - 1], "rows counted from one. The id zero is the first row of the table."),
]
BY_HAND["2.2"] = [
    worked("two tokens", Prod(2, 5, 4), lead="(2 x 5)(5 x 4): ")
    .knows(8, "the entries of the result. Each entry is a sum of several products.")
    .knows(10, "the entries of the one-hot rows. Each meets every column of the table."),
    worked("ten tokens", Prod(10, 37000, 512), lead="(10 x 37000)(37000 x 512): ")
    .knows(10 * 512, "the entries of the result. Each entry is a sum of several products.")
    .knows(10 * 37000, "the entries of the one-hot rows. Each meets every column of the table.")
    .knows(37000 * 512, "one token. There are ten."),
    part("look-up", 0, "a row is copied, nothing is multiplied: 0")
    .step("a row of the table is copied as it is")
    .knows(8, "the numbers that are copied. Copying multiplies nothing."),
]
BY_HAND["2.5"] = [
    worked("factor", Quotient(2, 3), lead="n / (n + k) = ", decimals=4)
    .knows(1 / 3, "the share of the padding. What is left is n / (n + k).")
    .knows(3 / 2, "the factor turned over. Zeros make the average smaller."),
    part("k", 3 * 2 - 2, "n / (n + k) = 1/3 means n + k = 3n, so k = 2n = 4")
    .step("n / (n + k) = 1/3 means n + k = 3n")
    .knows(2, "as many padding rows as tokens. That halves the average."),
]
