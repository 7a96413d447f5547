"""The trained translator at work: a sentence is typed, its Spanish appears, each word says where it looked."""

from __future__ import annotations

import html as _html
import inspect
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import product, zip_longest

import numpy as np

from toytf import byhand
from toytf.byhand import fmt
from toytf.corpus import EOS, PAD, SOS
from toytf.grammar import (
    ADJECTIVES,
    DETERMINERS,
    HELLO_WORLD,
    OBJECTS,
    SUBJECTS,
    VERBS,
    Noun,
    Phrase,
    draw_pairs,
    sentence,
)
from toytf.live.element import Element, bars, table
from toytf.model import forward
from toytf.ops import softmax
from toytf.translator import Translator
from toytf.tree import count

MOST = 12  # words that are read
SLOTS = 8  # places for words: the longest sentence of the training, and its end
ROOM = 58  # letters side by side, at least
NARROWEST, GAP = 5, 1.4  # of a word's place, and between two, in letters
TOP = 5  # the most probable words
HINT = (
    "It learned greetings, and sentences like “the cat wants a red hat”. Click or tap a Spanish word: pink is what it "
    "looked at. Click or tap an English one to change it."
)
ON = ' class="trans-on"'
NAMES = {EOS: "(end)", SOS: "(start)", PAD: "(padding)"}
EXAMPLES = (
    "my dog finds the strange hat",
    "these girls draw some blue boats",
    "the big cow wants this black table",
    "some boys buy a new book",
    "hello world",
)


def translator(source: str = "the small queens see a hat", word: int = 3, *, id: str = "translator") -> Element:
    """Type an English sentence; the trained translator writes its Spanish, and each word shows where it looked::

        p(next word) = softmax(decode(words so far, encode(sentence)) W + b),   the largest is written

    Parameters
    ----------
    source : str
        The sentence at the start, of words of `toytf.grammar`.
    word : int, default 3
        The Spanish word that is chosen at the start, from 1.
    id : str
        The element's address on its page, ``#translator?sentence=hello+world&word=2&head=1``.

    Returns
    -------
    Element

    Raises
    ------
    KeyError
        If a word is not in the vocabulary.

    Examples
    --------
    >>> print(str(translator("hello world", 2)).splitlines()[1])
    hello world -> hola mundo

    Notes
    -----
    *Attention Is All You Need*, section 3.1, and figure 3 of its appendix, whose threads these are.
    """
    src, model, words = source.split(), Translator.load(), vocabulary()
    known = [word for group in words["groups"] for word in group["words"]]
    said, probs, heads = written(model, src)
    at, weights = word - 1, heads.mean(axis=0)
    size = count(model.params)
    summary = f"<summary>All {len(known)} words that it knows</summary>"
    listed = f'<details class="live-known">{summary}{", ".join(known)}</details>'
    title = f"Type a sentence: {size:,} numbers turn it into Spanish"
    top = np.argsort(-probs[at], kind="stable")[:TOP]
    name = f"The {TOP} most probable words where it wrote {quoted(said[at])}"
    labels = [named(model.tgt_vocab.tokens([i])[0]) for i in top]
    static = (
        f"{field(source, listed, HINT)}"
        f"{_picture(src, said, weights, at)}"
        f'<div class="trans-detail">{bars(labels, probs[at][top], name)}'
        '<div class="trans-side"><p class="trans-head">Threads and shares: the mean of both heads.</p>'
        f'<p class="live-said">{_html.escape(_said(src, said, probs[at], weights[at], at))}</p></div></div>'
        '<details class="trans-all"><summary>All of this attention, as a table: a row for each word it writes</summary>'
        '<div class="trans-scroll" role="region" aria-label="All of this attention" tabindex="0">'
        f"{weight_table(src, zip(said, weights, strict=True))}</div></details>"
    )
    learned = longest_learned()
    data = {"sentence": source, "word": at + 1, "slots": SLOTS, **words, "examples": list(EXAMPLES)}
    data |= {"room": ROOM, "narrowest": NARROWEST, "gap": GAP, "most": MOST, "learned": learned, "hint": HINT}
    table = byhand.table(weights, "where each word looks, mean of both heads", rows=said, cols=src, decimals=2)
    text = f"{source} -> {' '.join(said[:-1] if said[-1] == NAMES[EOS] else said)}\n{table.text()}"
    return Element("translator", title, data, static, text, id, ("sentence",), "trained")


# ---------------------------------------------------------------- what the model does


def written(model: Translator, src: Sequence[str]) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return the words that are written, all probabilities at each of them, and the cross-attention of each head."""
    (hypothesis,) = model.write([src])
    fed = [model.tgt_vocab.id(SOS), *hypothesis.ids[:-1]]
    logits, trace = forward(model.params, model.cfg, model.src_vocab.ids(src), fed)
    weights = trace.decoder.layers[0].cross_attention.inner.attention.attn_weights
    return [named(word) for word in model.tgt_vocab.tokens(hypothesis.ids)], softmax(logits), weights


def named(token: str) -> str:
    """Return a word as the page has it: ``<eos>`` is "(end)"."""
    return NAMES.get(token, token)


def quoted(token: str) -> str:
    """Return a word as a sentence has it: “house”, (end)."""
    return token if token in NAMES.values() else f"“{token}”"


# ---------------------------------------------------------------- the words of the grammar


@cache
def longest_learned() -> int:
    """Return how many words the longest sentence has that the training can show."""
    most = max(_adjectives())
    a, b = (Phrase(nouns[0], ADJECTIVES[:most], DETERMINERS[0]) for nouns in (SUBJECTS, OBJECTS))
    return len(sentence(a, VERBS[0], b).src)


def _adjectives() -> tuple[int, ...]:
    """How many adjectives a noun of the training may have."""
    return inspect.signature(draw_pairs).parameters["adjectives"].default


def vocabulary() -> dict:
    """Return the English words in groups, and the kinds of sentence of the training.

    A kind lists its places; ``places`` has the words that may stand at each.
    """
    numbers = [("one", False), ("several", True)]
    groups = [
        ("hello", "a greeting", HELLO_WORLD.src[:1]),
        ("determiner", "determiners", dict.fromkeys(d.english for d in DETERMINERS)),
        ("adjective", "adjectives", [a.english for a in ADJECTIVES]),
        *(("noun", f"who acts, {name}", [n[several] for n in SUBJECTS]) for name, several in numbers),
        *(("noun", f"things, {name}", [n[several] for n in OBJECTS]) for name, several in numbers),
        *(("verb", f"verbs, of {name}", [v[several] for v in VERBS]) for name, several in numbers),
    ]
    kinds = _kinds()
    places = list(dict.fromkeys(place for kind in kinds for place in kind))
    return {
        "groups": [{"kind": kind, "label": label, "words": list(words)} for kind, label, words in groups],
        "places": [list(words) for words in places],
        "kinds": [[places.index(place) for place in kind] for kind in kinds],
    }


def _kinds() -> list[list[tuple[str, ...]]]:
    """Every kind of sentence that `draw_pairs` draws, as the words that may stand at each place."""
    ones = [(several, count) for several in (False, True) for count in _adjectives()]

    def phrase(nouns: tuple[Noun, ...], several: bool, count: int) -> list[tuple[str, ...]]:
        return [tuple(a.english for a in ADJECTIVES)] * count + [tuple(noun[several] for noun in nouns)]

    def determined(nouns: tuple[Noun, ...], several: bool, count: int) -> list[tuple[str, ...]]:
        return [tuple(d.english for d in DETERMINERS if d.several == several), *phrase(nouns, several, count)]

    sentences = [
        [*determined(SUBJECTS, *a), tuple(verb[a[0]] for verb in VERBS), *determined(OBJECTS, *b)]
        for a, b in product(ones, ones)
    ]
    return [*sentences, *([HELLO_WORLD.src[:1], *phrase(SUBJECTS + OBJECTS, *one)] for one in ones)]


# ---------------------------------------------------------------- its static form


def field(sentence: str, known: str = "", hint: str = "") -> str:
    """Return a sentence where the script will put the field to type it, with what stands below."""
    words, hint = _html.escape(" ".join(sentence.split())), f'{known}<p class="live-note">{hint}</p>'
    return f'<div class="live-sentence"><div class="live-field"><span>{words}</span></div>{hint}</div>'


def _said(src, said, probs, weights, at: int) -> str:
    """What the script says too."""
    words = " ".join(word for word in said if word != NAMES[EOS])
    name = f"{NAMES[EOS]}, its sign that it is done," if said[at] == NAMES[EOS] else quoted(said[at])
    return (
        f"It writes “{words}”. {name} has probability {fmt(probs.max())} and looks most at "
        f"“{src[weights.argmax()]}”, with {fmt(weights.max())} of its attention."
    )


def _picture(src, said, weights, at) -> str:
    """Two lines of words, and between them the threads: each as wide as its weight."""
    english = word_line((word, "trans-word", fmt(a), a) for word, a in zip(src, weights[at], strict=True))
    looks = [f"trans-word{' trans-on' * (t == at)}{' trans-end' * (word == NAMES[EOS])}" for t, word in enumerate(said)]
    spanish = word_line((word, look, "", 0) for word, look in zip(said, looks, strict=True))
    slots, columns = max(len(said), len(src) + (len(src) < MOST)), _columns(src, said)
    side, below = _middles(columns, max(ROOM, sum(columns))), _middles([1] * slots, slots)
    threads = "".join(
        f'<g class="{name}">'
        + "".join(
            f'<path d="{_thread(at_slot[k], at_slot[t])}" style="--share:{a:.4f}"{ON if t == at else ""}></path>'
            for t, row in enumerate(weights)
            for k, a in enumerate(row)
        )
        + "</g>"
        for name, at_slot in (("trans-side-by-side", side), ("trans-below", below))
    )
    widths = " ".join(f"minmax(0,{width:.4g}fr)" for width in [*columns, max(0, ROOM - sum(columns))])
    links = ", ".join(f"{word} to {src[k]}" for word, k in zip(said, weights.argmax(axis=1), strict=True))
    long = " trans-long" if slots > SLOTS else ""
    return (
        f'<div class="trans-picture{long}" style="--slots:{slots};--columns:{widths}">'
        f'<div class="trans-words trans-src" lang="en">{english}</div>'
        '<svg class="trans-threads" viewBox="0 0 1000 1000" preserveAspectRatio="none" role="img" '
        f'aria-label="{_html.escape(f"The strongest thread of each word: {links}.")}">{threads}</svg>'
        f'<div class="trans-words trans-tgt" lang="es">{spanish}</div></div>'
    )


def _columns(src, said) -> list[float]:
    """How many letters wide the places of the words are, where they stand side by side."""
    return [max(len(a), len(b), NARROWEST) + GAP for a, b in zip_longest(src, said, fillvalue="")]


def _middles(widths, total) -> list[int]:
    """Where the middles of the places are, in thousandths of the whole."""
    ends = np.cumsum(widths)
    return [int((end - width / 2) / total * 1000 + 0.5) for end, width in zip(ends, widths, strict=True)]


def _thread(a: int, b: int) -> str:
    """From the middle of an English word to that of a Spanish one."""
    return f"M{a} 0C{a} 500 {b} 500 {b} 1000"


def word_line(items: Iterable[tuple[str, str, str, float]]) -> str:
    """Return words, each with its look, with what is small beside it, and with its share; sentence.js goes on."""
    return "".join(
        f'<span class="{look}" style="--share:{share:.4f}"><i>{_html.escape(small)}</i>'
        f"<b>{_html.escape(word)}</b></span>"
        for word, look, small, share in items
    )


def weight_table(columns: Sequence[str], rows: Iterable[tuple[str, np.ndarray]], caption: str = "") -> str:
    """Return attention weights as a table: rows, each with its name, and a shade for each weight."""
    lines = ((name, *(f'<td style="--share:{a:.4f}">{fmt(a, 2)}</td>' for a in row)) for name, row in rows)
    return table("map", lines, ["", *(f"<span>{_html.escape(word)}</span>" for word in columns)], caption)
