"""Sentences and their numbers: vocabularies, padding, sentence pairs, batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Annotated

import numpy as np

from toytf._door import Array, Count, Place, door
from toytf._validate import (
    as_ids,
    as_path,
    list_of,
    number,
    require_class,
    shown,
)

Fraction = Annotated[float, lambda name, value: number(name, value, "between 0 and 1", lambda x: 0 < x < 1)]


class Vocabulary:
    """A fixed list of distinct, non-empty tokens; a token's id is its place in the list.

    >>> vocabulary = Vocabulary(["<pad>", "Hello", "World"])
    >>> vocabulary.ids(["Hello", "World"])
    [1, 2]
    >>> vocabulary.tokens([2, 0])
    ['World', '<pad>']
    """

    def __init__(self, tokens: Iterable[str]):
        self._tokens = tuple(list_of("tokens", tokens, str, "strings"))
        self._ids = {token: place for place, token in enumerate(self._tokens)}
        if not self._tokens or "" in self._ids:
            raise ValueError(f"tokens: expected at least one, and none empty, got {shown(self._tokens)}")
        for place, token in enumerate(self._tokens):
            if self._ids[token] != place:
                raise ValueError(f"tokens: expected distinct tokens, got {token!r} at {place} and {self._ids[token]}")

    def __len__(self) -> int:
        return len(self._tokens)

    def __iter__(self):
        return iter(self._tokens)

    def __contains__(self, token) -> bool:
        return token in self._ids

    def id(self, token: str) -> int:
        """Return the id of one token; a token that is not in the vocabulary is a `KeyError`."""
        require_class("token", token, str)
        try:
            return self._ids[token]
        except KeyError:
            known = ", ".join(self._tokens[:10]) + (", ..." if len(self) > 10 else "")
            raise KeyError(f"unknown token {token!r}: the vocabulary has {len(self)} tokens ({known})") from None

    def ids(self, tokens: Sequence[str]) -> list[int]:
        """Return the id of every token of a sentence that is already cut into tokens."""
        return [self.id(token) for token in list_of("tokens", tokens, str, "strings")]

    def tokens(self, ids: Sequence[int]) -> list[str]:
        """Return the token of every id, each in ``0 .. len(self) - 1``."""
        return [self._tokens[i] for i in as_ids("ids", ids, len(self)).tolist()] if len(ids) else []


@door
def pad(sentences: Sequence[Sequence[int]], length: Count, pad_id: Place) -> tuple[Array, Array]:
    """Bring sentences to one length, so that a batch of them is one array.

    Shorter ones are filled with `pad_id` at the end, longer ones are cut. Returns ids and flags, each of shape
    (sentences, length): True where a token stands, False where it was filled.

    >>> ids, is_token = pad([[1, 2], [3, 4, 5, 6]], length=3, pad_id=0)
    >>> print(ids)
    [[1 2 0]
     [3 4 5]]
    >>> print(is_token)
    [[ True  True False]
     [ True  True  True]]
    """
    if not sentences or not all(len(sentence) for sentence in sentences):
        raise ValueError("sentences: expected at least one sentence, and a token in each, got none")
    as_ids("sentences", [i for sentence in sentences for i in sentence])
    ids = np.full((len(sentences), length), pad_id, dtype=np.int64)
    is_token = np.zeros((len(sentences), length), dtype=bool)
    for row, sentence in enumerate(sentences):
        kept = sentence[:length]
        ids[row, : len(kept)] = kept
        is_token[row, : len(kept)] = True
    return ids, is_token


# ---------------------------------------------------------------- sentence pairs

PAD, SOS, EOS = "<pad>", "<sos>", "<eos>"
#: Ids 0, 1 and 2 in every vocabulary that `vocabularies` makes: padding, start and end.
SPECIAL = (PAD, SOS, EOS)


@dataclass(frozen=True)
class Pair:
    """A sentence and its translation, cut into tokens.

    `links` has for each target token the place of the source token that it translates, where that is known.

    >>> print(Pair(("the", "red", "house"), ("la", "casa", "roja"), links=(0, 2, 1)))
    the red house -> la casa roja
    """

    src: tuple[str, ...]
    tgt: tuple[str, ...]
    links: tuple[int, ...] | None = None

    def __post_init__(self):
        for side in ("src", "tgt"):
            if not (words := tuple(list_of(side, getattr(self, side), str, "words, each a string"))):
                raise ValueError(f"{side}: expected at least one word, got none")
            object.__setattr__(self, side, words)  # as a frozen dataclass sets its own

    def __str__(self) -> str:
        return f"{' '.join(self.src)} -> {' '.join(self.tgt)}"


def read_pairs(path) -> list[Pair]:
    """Read sentence pairs from a text file: one pair a line, source and target separated by a tab.

    Tokens are what white space separates. Empty lines and lines that begin with ``#`` are skipped,
    and so is a pair that has occurred before.

    A line of the file, in UTF-8, is for example ``the red house<TAB>la casa roja``. The first that has not two columns
    with text, or one of `SPECIAL` in it, is a `ValueError` that names it by its number.
    """
    path = as_path("path", path)
    pairs: dict[Pair, None] = {}  # in order, each once
    try:
        lines = path.read_text("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: expected UTF-8, got {error}") from error
    for place, line in enumerate(lines, start=1):
        if not line.strip() or line.startswith("#"):
            continue
        columns = [tuple(column.split()) for column in line.split("\t")]
        if len(columns) != 2 or not all(columns):
            raise ValueError(f"{path}: line {place}: expected text, a tab and text, got {shown(line)}")
        if special := [token for token in (*columns[0], *columns[1]) if token in SPECIAL]:
            raise ValueError(f"{path}: line {place}: expected words, got {special[0]!r}, with a meaning of its own")
        pairs[Pair(*columns)] = None
    return _pairs(list(pairs))


@door
def split(pairs: Sequence[Pair], rng: np.random.Generator, held_out: Fraction = 0.2) -> tuple[list[Pair], list[Pair]]:
    """Divide pairs into some to learn from and some to test with, that share no sentence.

    Pairs that have a sentence in common, on either side, stay together, so that no sentence of
    the test, and no translation of it, has been seen.

    The share `held_out` of them goes to the test, as nearly as groups allow. Both parts are in random order.

    >>> pairs = [Pair((word,), (word.upper(),)) for word in "abcde"]
    >>> train, test = split(pairs, np.random.default_rng(0))
    >>> len(train), len(test)
    (4, 1)
    """
    pairs = _pairs(pairs)
    wanted = round(held_out * len(pairs))
    groups = _that_share_a_sentence(pairs)
    train: list[Pair] = []
    test: list[Pair] = []
    for place in rng.permutation(len(groups)):
        fits = len(test) + len(groups[place]) <= wanted
        (test if fits else train).extend(groups[place])
    if not train or not test:
        raise ValueError(
            "pairs: expected enough of them for two parts that share no sentence, "
            f"got {len(train)} to learn from and {len(test)} to test with"
        )
    return train, test


def _pairs(pairs) -> list[Pair]:
    pairs = list_of("pairs", pairs, Pair, "sentence pairs, each a Pair")
    if not pairs:
        raise ValueError("pairs: expected at least one sentence pair, got none")
    return pairs


def _that_share_a_sentence(pairs: Sequence[Pair]) -> list[list[Pair]]:
    """Put pairs that hang together, by a sentence on either side, into one group.

    A pair is put behind the group of its source sentence, and both behind that of its target sentence; the
    group that grew last comes last.
    """
    group_of: dict[tuple[str, tuple[str, ...]], list[Pair]] = {}
    groups: dict[int, list[Pair]] = {}
    for pair in pairs:
        group = [pair]
        for end in (("src", pair.src), ("tgt", pair.tgt)):
            before = group_of.get(end, group)
            if before is not group:
                groups.pop(id(before), None)
                groups.pop(id(group), None)
                before += group
                for member in group[:-1]:  # the pair's own ends follow below
                    group_of["src", member.src] = group_of["tgt", member.tgt] = before
                group = before
        group_of["src", pair.src] = group_of["tgt", pair.tgt] = group
        groups[id(group)] = group
    return list(groups.values())


def vocabularies(pairs: Iterable[Pair]) -> tuple[Vocabulary, Vocabulary]:
    """Make the two vocabularies of some pairs: `SPECIAL` first, then the words in alphabetical order.

    >>> src_vocab, tgt_vocab = vocabularies([Pair(("hello", "world"), ("hola", "mundo"))])
    >>> list(src_vocab)
    ['<pad>', '<sos>', '<eos>', 'hello', 'world']
    """
    pairs = _pairs(pairs)
    src, tgt = (
        Vocabulary([*SPECIAL, *sorted({token for pair in pairs for token in getattr(pair, side)})])
        for side in ("src", "tgt")
    )
    return src, tgt


# ---------------------------------------------------------------- batches


@dataclass(frozen=True)
class Batch:
    """Sentence pairs, or texts alone, as arrays of ids, filled up to equal lengths.

    The decoder reads `tgt`, which begins with ``<sos>``, and should say `goal`, which is one place
    further on and ends with ``<eos>``: goal ``t`` is the token that follows ``tgt[..., t]``.
    """

    src: Annotated[Array, "batch source"] | None  # None: texts, which translate nothing
    src_is_token: Annotated[Array, "batch source"] | None
    tgt: Annotated[Array, "batch target"]
    goal: Annotated[Array, "batch target"]
    tgt_is_token: Annotated[Array, "batch target"]  # of `tgt` and of `goal` alike

    def __len__(self) -> int:
        return len(self.tgt)

    def take(self, rows) -> Batch:
        """Return some of the sentence pairs."""
        parts = (getattr(self, field.name) for field in fields(self))
        return Batch(*(None if part is None else part[rows] for part in parts))


def to_batch(pairs: Sequence[Pair], src_vocab: Vocabulary, tgt_vocab: Vocabulary) -> Batch:
    """Turn sentence pairs into one batch.

    >>> pairs = [Pair(("hello", "world"), ("hola", "mundo")), Pair(("hello",), ("hola",))]
    >>> batch = to_batch(pairs, *vocabularies(pairs))
    >>> print(batch.tgt)
    [[1 3 4]
     [1 3 0]]
    >>> print(batch.goal)
    [[3 4 2]
     [3 2 0]]
    """
    pairs = _pairs(pairs)
    sources = [src_vocab.ids(pair.src) for pair in pairs]
    src, src_is_token = pad(sources, max(map(len, sources)), src_vocab.id(PAD))
    return replace(to_text_batch([pair.tgt for pair in pairs], tgt_vocab), src=src, src_is_token=src_is_token)


def to_text_batch(texts: Sequence[Sequence[str]], vocab: Vocabulary) -> Batch:
    """Turn texts, each a list of tokens, into one batch: a text is its own goal, one token further on.

    >>> batch = to_text_batch([["a", "b"], ["b"]], Vocabulary([*SPECIAL, "a", "b"]))
    >>> print(batch.tgt)
    [[1 3 4]
     [1 4 0]]
    >>> print(batch.goal)
    [[3 4 2]
     [4 2 0]]
    """
    targets = [vocab.ids(text) for text in texts]
    sos, eos = vocab.id(SOS), vocab.id(EOS)
    longest = 1 + max(map(len, targets), default=0)
    tgt, tgt_is_token = pad([[sos, *ids] for ids in targets], longest, vocab.id(PAD))
    goal, _ = pad([[*ids, eos] for ids in targets], longest, vocab.id(PAD))
    return Batch(None, None, tgt, goal, tgt_is_token)


@door
def batches(data: Batch, size: Count, rng: np.random.Generator) -> Iterator[Batch]:
    """Cut shuffled data into batches of `size`, without end: each time through, a new order.

    The pairs left over at the end of an order, fewer than `size`, open the next one.
    """
    waiting = np.zeros(0, dtype=np.int64)
    while True:
        orders = -(-(size - len(waiting)) // len(data))  # so many are needed, rounded up
        waiting = np.concatenate([waiting, *(rng.permutation(len(data)) for _ in range(orders))])
        rows, waiting = waiting[:size], waiting[size:]
        yield data.take(rows)
