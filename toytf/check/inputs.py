"""Checkers of chapters 1 to 3: words and positions."""

from __future__ import annotations

import numpy as np

from toytf import ops, positions
from toytf.check.core import Case, Check, Mistake
from toytf.check.pencil import ByHand, Part, product
from toytf.corpus import Vocabulary

# ---------------------------------------------------------------- chapter 1: recurrences


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


def _recurrence_at_once(x, keep=0.5):
    """All states by one product: word s reaches state t with the factor ``keep ** (t - s)``."""
    t, s = np.indices((len(x), len(x)))
    return np.tril(float(keep) ** np.maximum(t - s, 0)) @ x


def _states(x, step, first=0.0):
    """The states of any recurrence ``r_t = step(r_(t-1), x_t)``."""
    states = [first]
    for row in x:
        states.append(step(states[-1], row))
    return np.array(states[1:])


def _recurrence_cases(rng):
    return [
        Case((np.array([[1.0], [2.0], [3.0]]), 0.5), "three words, one number each"),
        Case((np.array([[1, 4], [2, 0], [3, 5]]), 0.5), "integers"),
        Case((rng.normal(size=(5, 3)), 0.9), "five rows of width 3"),
        Case((rng.normal(size=(4, 2)), 1.1), "a factor above 1"),
    ]


RECURRENCE = Check(
    solution=recurrence,
    expected=_recurrence_at_once,
    cases=_recurrence_cases,
    exercise="ex-01-7",
    results=("states",),
    mistakes=(
        Mistake(
            "the state before the first word left in",
            "r_0 = 0 starts the recurrence and belongs to no word. Return r_1 to r_n, n rows.",
            lambda x, keep: np.concatenate([np.zeros((1, x.shape[1])), recurrence(x, keep)]),
        ),
        Mistake(
            "the last state alone",
            "The function returns the state after every word. Keep each one, and return all of them.",
            lambda x, keep: recurrence(x, keep)[-1],
        ),
        Mistake(
            "the word before in place of the state before",
            "x_(t-1) is what the word before brought; r_(t-1) holds all words before it. Carry the state on.",
            lambda x, keep: x + keep * np.concatenate([np.zeros((1, x.shape[1])), x[:-1]]),
        ),
        Mistake(
            "the new word damped too",
            "keep multiplies the old state alone; the new word is added whole. Look for a bracket around the sum.",
            lambda x, keep: _states(x, lambda r, row: keep * (r + row)),
        ),
        Mistake(
            "the new word damped and the state kept whole",
            "keep says how much of the old state is kept. It stands before r_(t-1), not before x_t.",
            lambda x, keep: _states(x, lambda r, row: r + keep * row),
        ),
        Mistake(
            "keep forgotten",
            "This is the plain sum of all words so far. The old state is multiplied by keep in each step.",
            lambda x, keep: np.cumsum(x, axis=0),
        ),
        Mistake(
            "an average of state and word",
            "Nothing here makes the two factors sum to 1: the new word is added whole.",
            lambda x, keep: _states(x, lambda r, row: keep * r + (1 - keep) * row),
        ),
        Mistake(
            "0.5 in place of keep",
            "The function keeps half, whatever keep is. Use the argument; 0.5 is only its default.",
            lambda x, keep: recurrence(x, 0.5),
        ),
        Mistake(
            "the sentence read from right to left",
            "The first state comes from the first word: go through the rows of x in their order.",
            lambda x, keep: recurrence(x[::-1], keep),
        ),
        Mistake(
            "a start from the first word",
            "The first word is counted twice: once as the start, once when it is read. Start from zeros.",
            lambda x, keep: _states(x, lambda r, row: keep * r + row, first=x[0]),
        ),
        Mistake(
            "states cut to whole numbers",
            "An array made by np.zeros_like(x), or by x.copy(), holds integers when x does, and drops what stands "
            "after the point. Use np.zeros(x.shape).",
            lambda x, keep: recurrence(x, keep).astype(x.dtype),
        ),
    ),
)


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


def _layer_and_word(n, n_layers):
    """Layer numbers as a column and word numbers as a row, both from 0."""
    return np.arange(n_layers)[:, None], np.arange(n)


def _steps_with_a_sum(n, n_layers):
    steps = np.zeros((n_layers + 1, n + 1), dtype=int)
    for k, t in np.ndindex(n_layers, n):
        steps[k + 1, t + 1] = 1 + steps[k, t + 1] + steps[k + 1, t]
    return steps[1:, 1:]


def _earliest_steps_cases(rng):
    return [
        Case((3, 2), "three words, two layers"),
        Case((1, 3), "one word"),
        Case((4, 1), "one layer"),
        Case((64, 6), "a long sentence"),
        Case((int(rng.integers(5, 40)), int(rng.integers(2, 5)))),
    ]


EARLIEST_STEPS = Check(
    solution=earliest_steps,
    expected=lambda n, n_layers: sum(_layer_and_word(n, n_layers)) + 1,
    cases=_earliest_steps_cases,
    exercise="ex-01-5",
    results=("steps",),
    mistakes=(
        Mistake(
            "each layer waits for the whole layer below",
            "Layer 2 needs layer 1 at its own word only. It can start as soon as layer 1 has read the first word.",
            lambda n, n_layers: np.arange(1, n * n_layers + 1).reshape(n_layers, n),
        ),
        Mistake(
            "layers that do not wait for each other",
            "Layer k needs layer k - 1 at the same word, so it is at least one step later.",
            lambda n, n_layers: np.tile(np.arange(1, n + 1), (n_layers, 1)),
        ),
        Mistake(
            "words that do not wait for each other",
            "That is attention. In a recurrence each state needs the state of the word before.",
            lambda n, n_layers: np.tile(np.arange(1, n_layers + 1)[:, None], (1, n)),
        ),
        Mistake(
            "steps counted from 0",
            "The first state costs a step too, so the smallest entry is 1.",
            lambda n, n_layers: sum(_layer_and_word(n, n_layers)),
        ),
        Mistake(
            "the waiting times added",
            "Both inputs are computed at the same time, so the state waits for the later one: the larger of the two "
            "numbers, not their sum.",
            _steps_with_a_sum,
        ),
        Mistake(
            "words as rows and layers as columns",
            "The shape is (n_layers, n): a row for each layer.",
            lambda n, n_layers: earliest_steps(n, n_layers).T,
        ),
        Mistake(
            "only the number of steps of the whole stack",
            "The last entry of the table is that number. The function returns the table.",
            lambda n, n_layers: n + n_layers - 1,
        ),
        Mistake(
            "zeros at the border left in",
            "The row and the column of zeros stand for what does not exist. Cut them off: steps[1:, 1:].",
            lambda n, n_layers: np.pad(earliest_steps(n, n_layers), ((1, 0), (1, 0))),
        ),
    ),
)

_N, _D, _WIDTH, _HEADS = 5, 512, 64, 8
_SENTENCE = [1.0, 2.0, 3.0, 4.0, 1.0]
_R = _recurrence_at_once(np.array(_SENTENCE)[:, None])[:, 0]
_SHORT, _NARROW = 2, 4  # the running example: n and d


def _shape(rows, columns, name, why):
    return Part((rows, columns), lambda _: f"{why}: {rows} x {columns}", name=name)


_CHAPTER_1 = [
    ByHand(
        "ex-01-1",
        (
            _shape(_N, _D, "X", "a row of width 512 for each of 5 words"),
            _shape(_N, _WIDTH, "queries", "(5 x 512)(512 x 64)"),
            _shape(_N, _N, "scores", "(5 x 64)(64 x 5)"),
            _shape(_N, _HEADS * _WIDTH, "side by side", "8 heads of width 64, 5 rows"),
            _shape(_N, _D, "Z", "(5 x 512)(512 x 512)"),
            _shape(_N, _D, "memory", "every layer keeps the shape of X"),
        ),
    ),
    ByHand(
        "ex-01-2",
        (
            Part(
                _R[-1],
                lambda _: f"0.5 * {_R[-2]:g} + {_SENTENCE[-1]:g} = {_R[-1]:.4f}",
                decimals=4,
                name="fifth result",
            ),
            Part(len(_SENTENCE), lambda _: "r_1 and, through it, every later one: 5", name="results again"),
            Part(
                len(_SENTENCE),
                lambda _: "the word is compared with every word, so each of the 5 rows has a changed entry",
                name="rows",
            ),
        ),
    ),
    ByHand(
        "ex-01-3",
        (
            Part(_SHORT**2 * _NARROW, lambda _: "n * n * d = 2 * 2 * 4 = 16", name="attention product"),
            Part(_SHORT * _NARROW**2, lambda _: "n * d * d = 2 * 4 * 4 = 32", name="recurrent product"),
            Part(
                2 * _SHORT**2 * _NARROW + 4 * _SHORT * _NARROW**2,
                lambda _: "2 * n * n * d + 4 * n * d * d = 2 * 16 + 4 * 32 = 160",
                name="attention layer",
            ),
            Part(
                2 * _SHORT * _NARROW**2,
                lambda _: "2 * n * d * d = 2 * 32 = 64",
                name="recurrent layer",
            ),
        ),
    ),
]

# ---------------------------------------------------------------- chapter 2: words


def ids_or_unknown(vocabulary, sentence):
    """Give each token of a sentence its id, and that of <unk> to an unknown token.

    vocabulary: a str, the tokens in the order of their ids, with blanks between them;
    one of them is <unk>. sentence: a str, its tokens with blanks between them. Returns
    an array of integers, one for each token of the sentence.
    """
    known = vocabulary.split()
    id_of = {token: place for place, token in enumerate(known)}
    return np.array([id_of.get(token, id_of["<unk>"]) for token in sentence.split()])


def _ids(vocabulary, sentence, unknown):
    """The ids of a sentence; `unknown` takes the place of an unknown token's id."""
    known = vocabulary.split()
    return np.array([known.index(token) if token in known else unknown for token in sentence.split()])


def _ids_in_toytf(vocabulary, sentence):
    words = Vocabulary(vocabulary.split())
    return np.array([words.id(token if token in words else "<unk>") for token in sentence.split()])


def _ids_by_parts(vocabulary, sentence):
    known = vocabulary.split()
    unk = known.index("<unk>")
    return np.array([next((i for i, k in enumerate(known) if t in k), unk) for t in sentence.split()])


def _ids_of_known(vocabulary, sentence):
    known = vocabulary.split()
    return np.array([known.index(token) for token in sentence.split() if token in known])


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


IDS_OR_UNKNOWN = Check(
    solution=ids_or_unknown,
    expected=_ids_in_toytf,
    cases=_ids_or_unknown_cases,
    exercise="ex-02-3",
    results=("ids",),
    mistakes=(
        Mistake(
            "an error for an unknown token",
            "Look-up in a dictionary or by index stops at a token that is not there. Ask first, or use "
            "dict.get with the id of <unk>.",
            lambda vocabulary, sentence: np.array([vocabulary.split().index(t) for t in sentence.split()]),
        ),
        Mistake(
            "unknown tokens left out",
            "The sentence loses a token, and all later ones move. Each token gets an id.",
            _ids_of_known,
        ),
        Mistake(
            "-1 for an unknown token",
            "NumPy reads -1 as the last row of the table, so the unknown token becomes another word (chapter 2). "
            "Use the id of <unk>.",
            lambda vocabulary, sentence: _ids(vocabulary, sentence, -1),
        ),
        Mistake(
            "0 for an unknown token",
            "The token at 0 is another one, often <pad>. Use the id of <unk>.",
            lambda vocabulary, sentence: _ids(vocabulary, sentence, 0),
        ),
        Mistake(
            "1 for an unknown token, wherever <unk> stands",
            "In the chapter's vocabulary <unk> has the id 1; in another it has another. Look it up.",
            lambda vocabulary, sentence: _ids(vocabulary, sentence, 1),
        ),
        Mistake(
            "an id behind the vocabulary for an unknown token",
            "The table has no such row. Use the id of <unk>.",
            lambda vocabulary, sentence: _ids(vocabulary, sentence, len(vocabulary.split())),
        ),
        Mistake(
            "ids counted from 1",
            "The first token of the vocabulary has the id 0: it is a place in a list.",
            lambda vocabulary, sentence: ids_or_unknown(vocabulary, sentence) + 1,
        ),
        Mistake(
            "small and capital letters made equal",
            "'hello' and 'Hello' are different strings, so different tokens (chapter 2). Compare them as they are.",
            lambda vocabulary, sentence: ids_or_unknown(vocabulary.lower(), sentence.lower()),
        ),
        Mistake(
            "a part of a token taken for the token",
            "in and find on a str look for parts: 'or' is in 'World'. Compare whole tokens: split first.",
            _ids_by_parts,
        ),
        Mistake(
            "characters in place of tokens",
            "A loop over a str gives its characters. Loop over sentence.split().",
            lambda vocabulary, sentence: ids_or_unknown(vocabulary, " ".join(c if c != " " else "_" for c in sentence)),
        ),
        Mistake(
            "a vocabulary put in alphabetical order",
            "The id is the place in the vocabulary as it is given: do not sort it, and do not make a set of it.",
            lambda vocabulary, sentence: ids_or_unknown(" ".join(sorted(vocabulary.split())), sentence),
        ),
    ),
)


def one_hot(ids, n_tokens):
    """Write each id as a row of zeros with a 1 at the place of the id.

    ids: array of integers from 0 to n_tokens - 1, of shape (n,) or (batch, n).
    Returns an array of shape (n, n_tokens) or (batch, n, n_tokens).
    """
    return (ids[..., None] == np.arange(n_tokens)).astype(float)


def _ones_everywhere(ids, n_tokens):
    rows = np.zeros((*ids.shape, n_tokens))
    rows[..., ids] = 1.0
    return rows


def _one_hot_cases(rng):
    return [
        Case((np.array([1, 0]), 3), "two ids of three"),
        Case((np.array([2, 0, 2]), 5), "the largest ids do not occur"),
        Case((np.array([[3, 4, 0], [4, 0, 0]]), 5), "two sentences, three tokens each"),
        Case((rng.integers(0, 6, size=(2, 4)), 6)),
    ]


ONE_HOT = Check(
    solution=one_hot,
    expected=lambda ids, n_tokens: np.eye(n_tokens)[ids],
    cases=_one_hot_cases,
    exercise="ex-02-7",
    results=("rows",),
    mistakes=(
        Mistake(
            "the ones of all tokens in every row",
            "rows[:, ids] = 1 sets these columns in all rows. Pair row and column: rows[np.arange(n), ids] = 1, or "
            "compare ids[..., None] with np.arange(n_tokens).",
            _ones_everywhere,
        ),
        Mistake(
            "ids counted from 1",
            "The id 0 has its 1 in the first column.",
            lambda ids, n_tokens: np.eye(n_tokens)[ids - 1],
        ),
        Mistake(
            "one row for the whole sentence",
            "Each token has a row of its own. One row says which tokens occur and forgets where.",
            lambda ids, n_tokens: np.eye(n_tokens)[ids].max(axis=-2),
        ),
        Mistake(
            "the id in place of the 1",
            "The place says which token it is; the number there is 1, so that the product with the table is a row of "
            "the table and no multiple of it.",
            lambda ids, n_tokens: np.eye(n_tokens)[ids] * ids[..., None],
        ),
        Mistake(
            "a column for each token",
            "Tokens are rows: the shape is (n, n_tokens).",
            lambda ids, n_tokens: np.swapaxes(np.eye(n_tokens)[ids], -1, -2),
        ),
        Mistake(
            "columns only up to the largest id",
            "The row is as long as the vocabulary, even if its last tokens do not occur: use n_tokens.",
            lambda ids, n_tokens: np.eye(ids.max() + 1)[ids],
        ),
        Mistake(
            "zeros and ones exchanged",
            "One place holds 1, all others 0.",
            lambda ids, n_tokens: 1 - np.eye(n_tokens)[ids],
        ),
        Mistake(
            "ones along the diagonal",
            "The 1 of row k stands in column ids[k], not in column k.",
            lambda ids, n_tokens: np.zeros((*ids.shape, n_tokens)) + np.eye(ids.shape[-1], n_tokens),
        ),
        Mistake(
            "the axis of the sentences lost",
            "A batch of shape (batch, n) gives (batch, n, n_tokens): the new axis comes last, the others stay.",
            lambda ids, n_tokens: np.eye(n_tokens)[ids.ravel()],
        ),
    ),
)


def embed(table, ids):
    """Look up the row of each id in the embedding table.

    table: array of shape (tokens, d). ids: array of integers of any shape. Returns an
    array of shape (*ids.shape, d). An id below 0, or one for which the table has no
    row, raises a ValueError.
    """
    if ids.min() < 0 or ids.max() >= len(table):
        raise ValueError(f"ids: expected 0 to {len(table) - 1}, got {ids}")
    return table[ids]


def _lookup(rows):
    """A wrong look-up behind a right check of the ids."""

    def function(table, ids):
        embed(table, ids)
        return rows(table, ids)

    return function


def _zeros_for_unknown(table, ids):
    unknown = (ids < 0) | (ids >= len(table))
    return np.where(unknown[..., None], 0.0, table[np.where(unknown, 0, ids)])


def _embed_cases(rng):
    table = rng.normal(size=(5, 4))
    return [
        Case((np.array([[0.0, 0.0], [1.0, 2.0], [3.0, 4.0]]), np.array([2, 1])), "three tokens, width 2"),
        Case((table, rng.integers(1, 5, size=(2, 3))), "two sentences"),
        Case((table, np.array([0, 3, 0])), "one token twice"),
        Case((table, np.array([3, -1])), "an id below 0"),
        Case((table, np.array([1, 5, 2])), "an id without a row"),
    ]


EMBED = Check(
    solution=embed,
    expected=ops.embedding,
    cases=_embed_cases,
    exercise="ex-02-8",
    results=("rows",),
    mistakes=(
        Mistake(
            "-1 taken for the last row",
            "NumPy counts a negative index from the end, so an unknown token becomes the last word of the vocabulary "
            "(chapter 2). Raise a ValueError for ids below 0.",
            lambda table, ids: table[ids],
        ),
        Mistake(
            "ids pushed into the table",
            "np.clip, or min and max, turn an unknown id into the first or last token. Raise a ValueError.",
            lambda table, ids: table[np.clip(ids, 0, len(table) - 1)],
        ),
        Mistake(
            "ids wrapped around the table",
            "% len(table), or mode='wrap', turns an unknown id into some other token. Raise a ValueError.",
            lambda table, ids: table[ids % len(table)],
        ),
        Mistake(
            "zeros for an unknown id",
            "A row of zeros is what <pad> has, and it still gets weight (chapter 2). Raise a ValueError.",
            _zeros_for_unknown,
        ),
        Mistake(
            "ids counted from 1",
            "The id 0 is the first row of the table.",
            _lookup(lambda table, ids: table[ids - 1]),
        ),
        Mistake(
            "columns in place of rows",
            "A token is a row of the table: table[ids]. A column belongs to no token.",
            _lookup(lambda table, ids: table.T[ids]),
        ),
        Mistake(
            "the first rows of the table",
            "The rows are chosen by the ids, not by the number of ids.",
            _lookup(lambda table, ids: np.zeros((*ids.shape, 1)) + table[: ids.shape[-1]]),
        ),
        Mistake(
            "one row for the sentence",
            "Each token keeps a row of its own. Adding them up loses which token stands where.",
            _lookup(lambda table, ids: table[ids].sum(axis=-2)),
        ),
        Mistake(
            "rows multiplied by the root of d",
            "The paper does that before it adds the positions; this book leaves the factor out (chapter 2, The scale "
            "of an embedding).",
            _lookup(lambda table, ids: table[ids] * np.sqrt(table.shape[1])),
        ),
        Mistake(
            "the axis of the sentences lost",
            "ids of shape (batch, n) give (batch, n, d).",
            _lookup(lambda table, ids: table[ids.ravel()]),
        ),
    ),
)

_TABLE = np.array([[0, 0, 0, 0], [0, 1, 0, 0], [1, 0, 0, 0], [1, 2, 3, 4], [2, 3, 4, 5]])
_WORDS = ["<pad>", "<unk>", "<sos>", "Hello", "World"]
_LONGER = "World Hello World".split()
_LONGER_IDS = np.array([_WORDS.index(word) for word in _LONGER])

_CHAPTER_2 = [
    ByHand(
        "ex-02-1",
        (
            Part(
                _LONGER_IDS,
                lambda place: f"{_LONGER[place[0]]} is number {_LONGER_IDS[place[0]]} of the list, counted from 0",
                name="ids",
            ),
            Part(
                np.eye(5)[_LONGER_IDS],
                lambda place: f"{_LONGER[place[0]]} has its 1 in column {_LONGER_IDS[place[0]] + 1}, zeros elsewhere",
                name="one-hot rows",
            ),
            product(np.eye(5, dtype=int)[_LONGER_IDS], _TABLE, name="E"),
        ),
    ),
    ByHand(
        "ex-02-2",
        (
            Part(2 * 5 * 4, lambda _: "(2 x 5)(5 x 4): 2 * 5 * 4 = 40", name="two tokens"),
            Part(
                10 * 37000 * 512,
                lambda _: "(10 x 37000)(37000 x 512): 10 * 37000 * 512 = 189440000",
                name="ten tokens",
            ),
            Part(0, lambda _: "a row is copied, nothing is multiplied: 0", name="look-up"),
        ),
    ),
    ByHand(
        "ex-02-5",
        (
            Part(2 / (2 + 1), lambda _: "n / (n + k) = 2 / 3 = 0.6667", decimals=4, name="factor"),
            Part(3 * 2 - 2, lambda _: "n / (n + k) = 1/3 means n + k = 3n, so k = 2n = 4", name="k"),
        ),
    ),
]

# ---------------------------------------------------------------- chapter 3: positions


def sinusoids(length, d_model):
    """Make the paper's positional encoding, a sine and a cosine for each pair.

    length: how many positions, counted from 0. d_model: the width, even. Returns an
    array of shape (length, d_model): sines in the columns 0, 2, 4, ..., cosines in the
    columns 1, 3, 5, ...; both of pair i have the angle pos / 10000^(2i / d_model).
    """
    pos = np.arange(length)[:, None]
    i = np.arange(d_model // 2)
    angle = pos / 10000 ** (2 * i / d_model)
    out = np.empty((length, d_model))
    out[:, 0::2] = np.sin(angle)
    out[:, 1::2] = np.cos(angle)
    return out


def _waves(pos, exponents, sin=np.sin, cos=np.cos, base=10000.0):
    """Sines in even columns and cosines in odd ones; one exponent for each column."""
    angles = np.asarray(pos, float)[:, None] / base ** np.asarray(exponents, float)
    return np.where(np.arange(len(exponents)) % 2 == 0, sin(angles), cos(angles))


def _exponents(d_model):
    """``2i / d_model`` for each column: the same in both columns of a pair."""
    return 2 * (np.arange(d_model) // 2) / d_model


def _halves(length, d_model):
    table = sinusoids(length, d_model)
    return np.concatenate([table[:, 0::2], table[:, 1::2]], axis=1)


def _no_brackets(length, d_model):
    angles = np.arange(length)[:, None] / 10000**2 * (np.arange(d_model) // 2) / d_model
    return np.where(np.arange(d_model) % 2 == 0, np.sin(angles), np.cos(angles))


def _sinusoids_cases(rng):
    return [
        Case((2, 4), "the running example"),
        Case((3, 2), "a single pair"),
        Case((5, 6), "three pairs"),
        Case((7, 16)),
        Case((int(rng.integers(8, 20)), 2 * int(rng.integers(4, 30)))),
    ]


SINUSOIDS = Check(
    solution=sinusoids,
    expected=positions.sinusoids,
    cases=_sinusoids_cases,
    exercise="ex-03-8",
    results=("table",),
    mistakes=(
        Mistake(
            "the column number as i",
            "i counts pairs, from 0 to d_model/2 - 1; both columns of a pair have the same angle (chapter 3). With "
            "the column number no two columns belong together.",
            positions.sinusoids_column_as_i,
        ),
        Mistake(
            "an angle of its own for each odd column",
            "The exponent is 2i / d_model for both columns of pair i. The column number divided by d_model is right "
            "for the sines only: use the same angles for sine and cosine.",
            lambda length, d: _waves(np.arange(length), np.arange(d) / d),
        ),
        Mistake(
            "sines and cosines in halves",
            "The paper puts them alternately: out[:, 0::2] = sin, out[:, 1::2] = cos (chapter 3, Two layouts).",
            _halves,
        ),
        Mistake(
            "Tensor2Tensor's table",
            "Sines left, cosines right, and exponents up to exactly 1. The paper alternates, and its last exponent is "
            "(d_model - 2) / d_model (chapter 3, Two layouts).",
            positions.sinusoids_halves,
        ),
        Mistake(
            "positions counted from 1",
            "The first token has position 0: its row is 0, 1, 0, 1, ...",
            lambda length, d: sinusoids(length + 1, d)[1:],
        ),
        Mistake(
            "degrees in place of radians",
            "np.sin and np.cos take radians, and the formula's angle is one already: convert nothing.",
            lambda length, d: _waves(
                np.arange(length), _exponents(d), lambda a: np.sin(np.radians(a)), lambda a: np.cos(np.radians(a))
            ),
        ),
        Mistake(
            "1000 in place of 10000",
            "The base has four zeros.",
            lambda length, d: _waves(np.arange(length), _exponents(d), base=1000.0),
        ),
        Mistake(
            "the 2 in the exponent forgotten",
            "The exponent is 2i / d_model, where i counts pairs. With i / d_model the hands turn too fast.",
            lambda length, d: _waves(np.arange(length), _exponents(d) / 2),
        ),
        Mistake(
            "twice the exponent",
            "i counts the pairs: 0, 1, 2, ... If it counts the first columns of the pairs, 0, 2, 4, ..., it is 2i "
            "already, and the 2 in front of it is one too many.",
            lambda length, d: _waves(np.arange(length), 2 * _exponents(d)),
        ),
        Mistake(
            "the brackets of the exponent forgotten",
            "10000 ** 2 * i / d_model is 10000 squared, times i, divided by d_model. The whole exponent stands in "
            "brackets: 10000 ** (2 * i / d_model).",
            _no_brackets,
        ),
        Mistake(
            "d_model - 1 in the exponent",
            "2i is divided by d_model itself.",
            lambda length, d: _waves(np.arange(length), _exponents(d) * d / (d - 1)),
        ),
        Mistake(
            "integer division in the exponent",
            "// cuts 2i / d_model to 0, so every pair has the same angle. Use /.",
            lambda length, d: _waves(np.arange(length), np.zeros(d)),
        ),
        Mistake(
            "multiplied by the power of 10000",
            "The position is divided by it. Multiplied, the hands turn faster from pair to pair.",
            lambda length, d: _waves(np.arange(length), -_exponents(d)),
        ),
        Mistake(
            "cosines in the even columns",
            "Sines stand in the columns 0, 2, 4, ..., cosines in 1, 3, 5, ...",
            lambda length, d: _waves(np.arange(length), _exponents(d), np.cos, np.sin),
        ),
        Mistake(
            "sines alone",
            "The odd columns hold cosines of the same angles. Without them a shift is no turn (chapter 3).",
            lambda length, d: _waves(np.arange(length), _exponents(d), np.sin, np.sin),
        ),
    ),
)


def shift_matrix(k, d_model):
    """Build the matrix that moves positions by k: ``PE[pos + k] = PE[pos] @ T_k``.

    k: an integer, which may be negative. d_model: the width, even. Returns an array of
    shape (d_model, d_model): for each pair i a turn by b = k / 10000^(2i / d_model),
    the 2 x 2 block [[cos b, -sin b], [sin b, cos b]], on the diagonal, and zeros
    elsewhere.
    """
    matrix = np.zeros((d_model, d_model))
    for i in range(d_model // 2):
        b = k / 10000 ** (2 * i / d_model)
        block = [[np.cos(b), -np.sin(b)], [np.sin(b), np.cos(b)]]
        matrix[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = block
    return matrix


def _turns(angles, block=lambda c, s: [[c, -s], [s, c]]):
    """One block for each angle on the diagonal."""
    matrix = np.zeros((2 * len(angles), 2 * len(angles)))
    for i, b in enumerate(angles):
        matrix[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = block(np.cos(b), np.sin(b))
    return matrix


def _angles(k, d_model):
    return k / 10000 ** (2 * np.arange(d_model // 2) / d_model)


def _turns_in_halves(k, d_model):
    order = np.argsort(np.concatenate([np.arange(0, d_model, 2), np.arange(1, d_model, 2)]))
    return positions.shift(k, d_model)[np.ix_(np.argsort(order), np.argsort(order))]


def _shift_matrix_cases(rng):
    return [
        Case((1, 2), "one step, a single pair"),
        Case((3, 4), "three steps, two pairs"),
        Case((-2, 6), "backwards"),
        Case((0, 4), "no step"),
        Case((int(rng.integers(4, 60)), 2 * int(rng.integers(3, 10)))),
    ]


SHIFT_MATRIX = Check(
    solution=shift_matrix,
    expected=positions.shift,
    cases=_shift_matrix_cases,
    exercise="ex-03-5",
    results=("matrix",),
    mistakes=(
        Mistake(
            "a turn the other way",
            "The minus stands in the upper right corner of each block: [[cos b, -sin b], [sin b, cos b]], for a row "
            "times the matrix. Transposed it moves by -k.",
            lambda k, d: positions.shift(-k, d),
        ),
        Mistake(
            "no minus sign",
            "Without it the block does not turn: cos(a + b) = cos a cos b - sin a sin b.",
            lambda k, d: _turns(_angles(k, d), lambda c, s: [[c, s], [s, c]]),
        ),
        Mistake(
            "sine and cosine exchanged",
            "The cosines stand on the diagonal: a turn by 0 must change nothing.",
            lambda k, d: _turns(_angles(k, d), lambda c, s: [[s, -c], [c, s]]),
        ),
        Mistake(
            "the same angle for every pair",
            "Pair i turns by k / 10000^(2i / d_model): only pair 0 turns by k.",
            lambda k, d: _turns(np.full(d // 2, float(k))),
        ),
        Mistake(
            "the column number as i",
            "i counts the blocks: 0, 1, 2, ... The block's first column is 2i already.",
            lambda k, d: _turns(k / 10000 ** (4 * np.arange(d // 2) / d)),
        ),
        Mistake(
            "k forgotten",
            "That is the matrix of a single step. The angle of pair i is k times as large.",
            lambda k, d: positions.shift(1, d),
        ),
        Mistake(
            "k times the matrix of one step",
            "k steps are the matrix of one step applied k times, a product and no multiple: turn by k times the angle.",
            lambda k, d: k * positions.shift(1, d),
        ),
        Mistake(
            "blocks for the layout of halves",
            "In the paper's layout the two columns of a pair are neighbours, so the blocks stand on the diagonal.",
            _turns_in_halves,
        ),
        Mistake(
            "columns moved, not turned",
            "A shift of the position does not move the columns. Each pair of columns turns in its place.",
            lambda k, d: np.eye(d, k=k),
        ),
        Mistake(
            "degrees in place of radians",
            "np.sin and np.cos take radians, and the formula's angle is one already: convert nothing.",
            lambda k, d: _turns(np.radians(_angles(k, d))),
        ),
    ),
)


def diagonal_spread(table):
    """Measure for each distance how much the dot products at it differ.

    table: array of shape (n, d), n positions. Returns an array of shape (n,): entry k
    is the largest minus the smallest of the dot products table[p] @ table[p + k], for
    all p with p + k < n. Each is a diagonal of table @ table.T.
    """
    dots = table @ table.T
    return np.array([np.ptp(np.diagonal(dots, k)) for k in range(len(table))])


def _by_distance(table, summary):
    """A summary of the dot products of rows k apart, for each k."""
    n = len(table)
    return np.array([summary((table[: n - k] * table[k:]).sum(axis=1)) for k in range(n)])


def _spread_both_ways(table):
    dots = table @ table.T
    return np.array([np.ptp(np.diagonal(dots, k)) for k in range(1 - len(table), len(table))])


def _spread_around(table):
    return np.array([np.ptp((table * np.roll(table, -k, axis=0)).sum(axis=1)) for k in range(len(table))])


def _spread_of_distances(table):
    lengths = [np.linalg.norm(table[: len(table) - k] - table[k:], axis=1) for k in range(len(table))]
    return np.array([np.ptp(row) for row in lengths])


def _diagonal_spread_cases(rng):
    return [
        Case((np.array([[1.0, 0.0], [2.0, 1.0], [0.0, 3.0]]),), "three rows of width 2"),
        Case((rng.normal(size=(5, 3)),), "random rows"),
        Case((positions.sinusoids(6, 4),), "the paper's table: no spread"),
        Case((rng.normal(size=(4, 4)),), "as many rows as columns"),
        Case((positions.sinusoids_column_as_i(8, 6),), "the column number as i"),
    ]


DIAGONAL_SPREAD = Check(
    solution=diagonal_spread,
    expected=lambda table: _by_distance(table, np.ptp),
    cases=_diagonal_spread_cases,
    exercise="ex-03-6",
    results=("spread",),
    mistakes=(
        Mistake(
            "rows in place of diagonals",
            "A row of table @ table.T holds one position's products with all others, at all distances. One distance "
            "is a diagonal: np.diagonal(dots, k).",
            lambda table: np.ptp(table @ table.T, axis=1),
        ),
        Mistake(
            "columns multiplied in place of rows",
            "table.T @ table compares columns, d x d. Positions are rows: table @ table.T, n x n.",
            lambda table: diagonal_spread(table.T),
        ),
        Mistake(
            "both sides of the diagonal",
            "The table of dot products is symmetric, so each distance would be counted twice. Let k run from 0 to "
            "n - 1.",
            _spread_both_ways,
        ),
        Mistake(
            "distance 0 left out",
            "Entry 0 belongs to k = 0: the products of rows with themselves.",
            lambda table: diagonal_spread(table)[1:],
        ),
        Mistake(
            "the last distance left out",
            "The largest distance is n - 1, between the first row and the last. range(n) reaches it.",
            lambda table: diagonal_spread(table)[:-1],
        ),
        Mistake(
            "the standard deviation in place of the spread",
            "The spread is the largest minus the smallest: np.ptp.",
            lambda table: _by_distance(table, np.std),
        ),
        Mistake(
            "the largest product alone",
            "The spread is the largest minus the smallest: np.ptp.",
            lambda table: _by_distance(table, np.max),
        ),
        Mistake(
            "rows that wrap around the end",
            "After the last position comes nothing. np.roll brings the first rows back; stop at p + k < n.",
            _spread_around,
        ),
        Mistake(
            "distances of rows in place of dot products",
            "The exercise multiplies the rows; it does not subtract them.",
            _spread_of_distances,
        ),
    ),
)

_POS, _FOUR, _SIX = 2, 4, 6
_ROW_2 = positions.sinusoids(_POS + 1, _FOUR)[_POS]
_ROW_2_BY_COLUMN = positions.sinusoids_column_as_i(_POS + 1, _FOUR)[_POS]
_PAIRS = np.arange(_SIX) // 2


def _wave(divisors, place, value, decimals):
    column = place[0]
    wave = ("sin", "cos")[column % 2]
    return f"{wave}({_POS} / {divisors[column]}) = {value[column]:.{decimals}f}"


_CHAPTER_3 = [
    ByHand(
        "ex-03-1",
        (
            Part(
                _ROW_2,
                lambda place: _wave((1, 1, 100, 100), place, _ROW_2, 4),
                decimals=4,
                name="row",
            ),
            Part(
                _ROW_2_BY_COLUMN,
                lambda place: _wave((1, 100, 10000, 1000000), place, _ROW_2_BY_COLUMN, 2),
                decimals=2,
                name="column as i",
            ),
        ),
    ),
    ByHand(
        "ex-03-2",
        (
            Part(_PAIRS, lambda place: f"column {place[0]} belongs to pair {place[0] // 2}", name="pairs"),
            Part(
                2 * _PAIRS / _SIX,
                lambda place: f"2 * {place[0] // 2} / 6 = {2 * (place[0] // 2) / _SIX:.4f}",
                decimals=4,
                name="exponents",
            ),
            Part(
                10000 ** (2 * np.arange(3) / _SIX),
                lambda place: f"10000^({2 * place[0]}/6) = {10000 ** (2 * place[0] / _SIX):.2f}",
                decimals=2,
                name="divisors",
            ),
        ),
    ),
]

# ---------------------------------------------------------------- all of them

CHECKS = [
    RECURRENCE,
    EARLIEST_STEPS,
    IDS_OR_UNKNOWN,
    ONE_HOT,
    EMBED,
    SINUSOIDS,
    SHIFT_MATRIX,
    DIAGONAL_SPREAD,
]

BY_HAND = [*_CHAPTER_1, *_CHAPTER_2, *_CHAPTER_3]
