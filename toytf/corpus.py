"""Words and their numbers: vocabulary, padding and truncation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from toytf._validate import positive_int
from toytf.ops import Array


class Vocabulary:
    """A fixed list of tokens; a token's id is its place in the list.

    Parameters
    ----------
    tokens : iterable of str
        Distinct, non-empty.

    Raises
    ------
    ValueError
        If a token occurs twice, is empty, or there is none.
    TypeError
        If a token is not a string.

    Examples
    --------
    >>> vocabulary = Vocabulary(["<pad>", "Hello", "World"])
    >>> vocabulary.ids(["Hello", "World"])
    [1, 2]
    >>> vocabulary.tokens([2, 0])
    ['World', '<pad>']
    """

    def __init__(self, tokens: Iterable[str]):
        if isinstance(tokens, str):
            raise TypeError(f"tokens: expected a list of strings, got the single string {tokens!r}")
        self._tokens = tuple(tokens)
        if not self._tokens:
            raise ValueError("tokens: expected at least one token, got none")
        self._ids: dict[str, int] = {}
        for place, token in enumerate(self._tokens):
            if not isinstance(token, str):
                raise TypeError(f"tokens: expected strings, got {token!r} at {place}")
            if not token:
                raise ValueError(f"tokens: expected non-empty strings, got '' at {place}")
            if token in self._ids:
                raise ValueError(f"tokens: expected distinct tokens, got {token!r} at {self._ids[token]} and {place}")
            self._ids[token] = place

    def __len__(self) -> int:
        return len(self._tokens)

    def __iter__(self):
        return iter(self._tokens)

    def __contains__(self, token) -> bool:
        return token in self._ids

    def id(self, token: str) -> int:
        """Return the id of one token.

        Raises
        ------
        KeyError
            If the token is not in the vocabulary.
        """
        try:
            return self._ids[token]
        except (KeyError, TypeError):
            known = ", ".join(self._tokens[:10]) + (", ..." if len(self) > 10 else "")
            raise KeyError(f"unknown token {token!r}: the vocabulary has {len(self)} tokens ({known})") from None

    def ids(self, tokens: Sequence[str]) -> list[int]:
        """Return the id of every token of a sentence that is already cut into tokens."""
        if isinstance(tokens, str):
            raise TypeError(
                f"tokens: expected a list of strings, got the single string {tokens!r}; cut it into tokens first"
            )
        return [self.id(token) for token in tokens]

    def tokens(self, ids: Sequence[int]) -> list[str]:
        """Return the token of every id.

        Raises
        ------
        ValueError
            If an id lies outside ``0 .. len(self) - 1``.
        """
        for place, i in enumerate(ids):
            if not 0 <= i < len(self):
                raise ValueError(f"ids: expected 0 to {len(self) - 1}, got {i} at {place}")
        return [self._tokens[i] for i in ids]


def pad(sentences: Sequence[Sequence[int]], length: int, pad_id: int) -> tuple[Array, Array]:
    """Bring sentences to one length, so that a batch of them is one array.

    Shorter ones are filled with `pad_id` at the end, longer ones are cut.

    Parameters
    ----------
    sentences : sequence of sequences of int
        Token ids, one list a sentence.
    length : int
        How many tokens each row of the result has.
    pad_id : int
        The id that fills the rest.

    Returns
    -------
    ids : Array of int, shape (sentences, length)
    is_token : Array of bool, shape (sentences, length)
        True where a token stands, False where it was filled.

    Raises
    ------
    ValueError
        If there is no sentence, one is empty, or `length` is below 1.

    Examples
    --------
    >>> ids, is_token = pad([[1, 2], [3, 4, 5, 6]], length=3, pad_id=0)
    >>> print(ids)
    [[1 2 0]
     [3 4 5]]
    >>> print(is_token)
    [[ True  True False]
     [ True  True  True]]
    """
    length = positive_int("length", length)
    if not len(sentences):
        raise ValueError("sentences: expected at least one sentence, got none")
    ids = np.full((len(sentences), length), pad_id, dtype=np.int64)
    is_token = np.zeros((len(sentences), length), dtype=bool)
    for row, sentence in enumerate(sentences):
        if not len(sentence):
            raise ValueError(f"sentences: expected at least one token in each sentence, got none in sentence {row}")
        kept = list(sentence)[:length]
        ids[row, : len(kept)] = kept
        is_token[row, : len(kept)] = True
    return ids, is_token
