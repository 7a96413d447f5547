"""Byte-pair encoding: tokens smaller than words, learned from a text.

Every text is bytes, and there are 256 of them. Where two tokens often stand side by side they become one new token,
again and again. A word that is common ends as one token, a rare one as a few, and nothing is unknown.

Sennrich, Haddow and Birch, *Neural Machine Translation of Rare Words with Subword Units* (2016); on bytes: Radford and
others, *Language Models are Unsupervised Multitask Learners* (2019).
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

Pair = tuple[bytes, bytes]


def learn_merges(text: str, n: int) -> list[Pair]:
    """Return the `n` pairs that become tokens, in their order: each time the pair that stands there most often.

    Of equally frequent pairs the first in the alphabet is taken. There are fewer if every word has become one token.

    >>> learn_merges("low lower lowest", 3)
    [(b'l', b'o'), (b'lo', b'w'), (b' ', b'low')]
    """
    words = Counter(map(_bytes, _words(text)))  # each once, with how often it stands there
    merges: list[Pair] = []
    while len(merges) < n:
        pairs: Counter[Pair] = Counter()
        for word, times in words.items():
            for pair in pairwise(word):
                pairs[pair] += times
        if not pairs:
            break
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        merges.append(best)
        words = Counter({_merged(word, best): times for word, times in words.items()})
    return merges


def encode(text: str, merges: list[Pair]) -> list[bytes]:
    """Cut a text into tokens: its bytes, merged in the order in which the pairs were learned.

    >>> encode("low slow", learn_merges("low lower lowest", 3))
    [b'low', b' ', b's', b'low']
    """
    tokens: list[bytes] = []
    for word in map(_bytes, _words(text)):
        for pair in merges:
            word = _merged(word, pair)
        tokens += word
    return tokens


def decode(tokens: list[bytes]) -> str:
    """Put tokens together again. Bytes that are not whole characters, as a model may write them, become U+FFFD.

    >>> decode([b'low', b' ', b's', b'low'])
    'low slow'
    """
    return b"".join(tokens).decode("utf-8", errors="replace")


def _words(text: str) -> list[str]:
    """Words, each with the space before it; what stands together in a text is the text again."""
    return re.findall(r" ?\w+| ?[^\w\s]+|\s", text)


def _bytes(word: str) -> tuple[bytes, ...]:
    return tuple(bytes([byte]) for byte in word.encode())


def _merged(word: tuple[bytes, ...], pair: Pair) -> tuple[bytes, ...]:
    """A word in which each occurrence of a pair, from the left, has become one token."""
    merged: list[bytes] = []
    for token in word:
        if merged and (merged[-1], token) == pair:
            merged[-1] += token
        else:
            merged.append(token)
    return tuple(merged)
