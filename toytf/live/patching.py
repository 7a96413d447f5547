"""Heads silenced, rows swapped, matrices turned round in the trained translator: which word changes?"""

from __future__ import annotations

import copy
import html as _html
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import NamedTuple

import numpy as np

from toytf.byhand import fmt
from toytf.corpus import EOS, SOS
from toytf.generate import greedy, start, stepper
from toytf.live.element import Element, bars, table
from toytf.live.translator import MOST, NAMES, longest_learned, named, quoted, vocabulary, weight_table, word_line
from toytf.model import Transformer, decode, encode
from toytf.ops import linear, softmax
from toytf.translator import Translator

PARTS = {
    "encoder": lambda params: params.encoder[0].self_attention,
    "decoder": lambda params: params.decoder[0].self_attention,
    "cross": lambda params: params.decoder[0].cross_attention,
}
HEADS = tuple(f"{part}{head}" for part in PARTS for head in (1, 2))
MATRICES = tuple(f"{part}{letter}" for part in PARTS for letter in "qkvo")
TOP = 5  # the most probable words
CAPTION = "Where heads 1 and 2 of cross-attention look for it"


def patching(
    source: str = "the cows draw the new houses",
    other: str = "",
    *,
    turned: bool = False,
    word: int = 1,
    id: str = "patching",
) -> Element:
    """Silence heads of the trained translator, and swap rows of its memory::

        a silenced head:   its rows of W_O are 0
        a swapped row:     memory[k] = encode(other)[k]
        a turned matrix:   w_q, w_k, w_v or w_o is transposed; all are square

    It begins whole. What each head or row does alone stands there without a script.

    Parameters
    ----------
    source : str
        A sentence of words of `toytf.grammar`.
    other : str, optional
        Another one; rows of its memory can be put into that of the first. Without it there are only heads.
    turned : bool, default False
        Whether its matrices can be turned round, in the place of heads silenced.
    word : int, default 1
        The Spanish word whose probabilities are shown at the start, from 1.
    id : str
        The element's address on its page, ``#patching?rows=4+6&cross1=silenced&word=5``.

    Returns
    -------
    Element

    Raises
    ------
    KeyError
        If a word is not in the vocabulary.

    Examples
    --------
    >>> print("\\n".join(str(patching()).splitlines()[1:4]))
    the cows draw the new houses -> las vacas dibujan las casas nuevas
    With one head silenced:
    encoder head 1: la vacas dibujan las casas nuevas

    Notes
    -----
    *Attention Is All You Need*, section 3.2.2: a head speaks through its own rows of ``W_O``.
    """
    src, others, at, model = source.split(), other.split(), word - 1, Translator.load()
    parts = MATRICES if turned else HEADS
    whole = patched(model, src, others)
    if others:
        title, caption = "Swap a row of the memory, or silence a head. Which word changes?", "With one row swapped:"
        rows = enumerate(zip(src, others, strict=False), 1)
        alone = {f"row {k}, “{a}” ← “{b}”": patched(model, src, others, [k]) for k, (a, b) in rows}
    else:
        title, caption = "Silence a head. Which words change?", "With one head silenced:"
        if turned:
            title, caption = "Turn a matrix round. Does anything complain?", "With one matrix turned round:"
        alone = {called(part): patched(model, src, others, silent=[part]) for part in parts}
    lines = [(name, run.sentence() or "(nothing)") for name, run in alone.items()]
    best = np.argsort(-whole.probs[at], kind="stable")[:TOP]
    labels = [named(token) for token in model.tgt_vocab.tokens(best)]
    so_far = " ".join(whole.words[:at])
    where = f"the next word after “{so_far}”" if so_far else "the first word"
    line = word_line((w, f"patch-word{' patch-on' * (t == at)}", "", 0) for t, w in enumerate(whole.words))
    looks = ((f"{h + 1}, before", whole.heads[h, at]) for h in (0, 1))
    writes = f"“{whole.sentence()}”" if whole.sentence() else "nothing"
    said = (
        f"Nothing is changed: it writes {writes}. {quoted(labels[0])} has probability {fmt(whole.probs[at, best[0]])}."
    )
    static = (
        f'<p class="patch-reads">It reads “<span lang="en">{_html.escape(source)}</span>”.</p>'
        '<div class="patch-lines"><div class="patch-line"><span class="patch-name">before</span>'
        f'<div class="patch-before" lang="es">{line}</div></div></div>'
        f'<p class="live-said">{_html.escape(said)}</p>'
        f"{table('alone', lines, caption=caption)}"
        '<details class="patch-more"><summary>Probabilities, and where it looks</summary>'
        f'<p class="patch-at">{_html.escape(f"Probabilities of {where}")}</p>'
        f'<div class="live-side patch-bars">{bars(labels, whole.probs[at][best], "before")}</div>'
        '<div class="trans-scroll" role="region" aria-label="Where it looks" tabindex="0">'
        f"{weight_table(src, looks, CAPTION)}</div></details>"
    )
    most = max(alone, key=lambda name: differ(whole, alone[name]))
    first = "Any can be switched off." if others else f"Switch off {most} first."
    data = {
        "sentence": source,
        "other": other,
        "word": word,
        "legend": "Three attentions, four square matrices each." if turned else f"Six heads of attention. {first}",
        "parts": parts,
        "words": ["turned round", "as learned"] if turned else ["working", "silenced"],
        "turned": turned,
        "most": MOST,
    }
    data |= {"learned": longest_learned(), **vocabulary()}
    text = "\n".join([f"{source} -> {whole.sentence()}", caption, *map(": ".join, lines)])
    return Element("patching", title, data, static, text, id, ("sentence",), "trained")


def called(part: str) -> str:
    """Return the name of a head, or of a matrix."""
    return f"{part[:-1]} {'head ' if part in HEADS else 'w_'}{part[-1]}"


def differ(before: Run, after: Run) -> int:
    """Return at how many places other words are written."""
    return sum(a != b for a, b in zip_longest(before.words, after.words))


# ---------------------------------------------------------------- what the model does


class Run(NamedTuple):
    """What is written, and with the words of another run fed: all probabilities, and the weights of both heads."""

    ids: list[int]
    words: list[str]
    probs: np.ndarray
    heads: np.ndarray

    def sentence(self) -> str:
        return " ".join(word for word in self.words if word != NAMES[EOS])


def patched(
    model: Translator,
    src: Sequence[str],
    other: Sequence[str],
    rows: Collection[int] = (),
    silent: Collection[str] = (),
    like: Sequence[int] | None = None,
) -> Run:
    """Translate with some heads silent or matrices turned, and some rows of the memory, from 1, of another sentence.

    Probabilities and weights are those that follow the words of `like`, or what is written itself.
    """
    cfg, params = model.cfg, without(model.params, model.cfg.head_width, silent)
    state = start(params, cfg, model.src_vocab.ids(src), cached=False)
    memory = state.memory.copy()
    theirs = encode(params, cfg, model.src_vocab.ids(other))[0] if rows else ()
    for row in rows:
        memory[0, row - 1] = theirs[row - 1]
    ends = {"sos": model.tgt_vocab.id(SOS), "eos": model.tgt_vocab.id(EOS)}
    (written,) = greedy(stepper(params, cfg), replace(state, memory=memory), max_length=2 * len(src) + 4, **ends)
    fed = [ends["sos"], *(written.ids if like is None else like)[:-1]]
    out, trace = decode(params, cfg, fed, memory[0])
    words = [named(token) for token in model.tgt_vocab.tokens(written.ids)]
    heads = trace.layers[0].cross_attention.inner.attention.attn_weights
    return Run(list(written.ids), words, softmax(linear(params.output, out)), heads)


def without(params: Transformer, width: int, silent: Collection[str]) -> Transformer:
    """Return a copy of the parameters: the silent heads' rows of W_O are 0, matrices of `silent` are transposed."""
    params = copy.deepcopy(params)
    for name in silent:
        attention, which = PARTS[name[:-1]](params), name[-1]
        if name in HEADS:
            attention.w_o[(int(which) - 1) * width : int(which) * width] = 0
        else:
            setattr(attention, f"w_{which}", getattr(attention, f"w_{which}").T)
    return params
