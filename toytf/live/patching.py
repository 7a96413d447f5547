"""Heads silenced and rows of the memory swapped, in the trained translator: which word changes?"""

from __future__ import annotations

import copy
import html as _html
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import zip_longest

import numpy as np

from toytf._validate import as_id, as_list, one_of, shown, whole_number
from toytf.byhand import fmt
from toytf.corpus import EOS, SOS
from toytf.generate import greedy, start, stepper
from toytf.live.element import Element, bars
from toytf.live.translator import (
    MOST,
    NAMES,
    longest_learned,
    named,
    quoted,
    require_known,
    vocabulary,
    weight_table,
    words_of,
)
from toytf.model import Transformer, decode, encode
from toytf.ops import linear, softmax
from toytf.translator import Translator

PARTS = {
    "encoder": lambda params: params.encoder[0].self_attention,
    "decoder": lambda params: params.decoder[0].self_attention,
    "cross": lambda params: params.decoder[0].cross_attention,
}
HEADS = tuple(f"{part}{head}" for part in PARTS for head in (1, 2))
TOP = 3  # the most probable words, before and after
SHOWN = 2 * TOP
CAPTION = "Where heads 1 and 2 of cross-attention look for it"


def patching(
    source: str = "some cats see the red house",
    other: str = "some cats see the red world",
    *,
    rows: Sequence[int] = (6,),
    silent: Sequence[str] = (),
    word: int = 4,
    id: str = "patching",
) -> Element:
    """Silence heads of the trained translator, and swap rows of its memory::

        a silent head:   its rows of W_O are 0
        a swapped row:   memory[k] = encode(other)[k]

    Parameters
    ----------
    source, other : str
        Two sentences of words of `toytf.grammar`; rows of the second one's memory are put into that of the first.
    rows : sequence of int
        The rows that are swapped at the start, from 1.
    silent : sequence of str
        The heads that are silent at the start, of ``encoder1, encoder2, decoder1, decoder2, cross1, cross2``.
    word : int, default 4
        The Spanish word whose probabilities are shown at the start, from 1.
    id : str
        The element's address on its page, ``#patching?rows=4+6&cross1=on&word=5``.

    Returns
    -------
    Element

    Raises
    ------
    ValueError
        If a sentence has no word or more than are read, or one of them has no such row, word, or head.
    KeyError
        If a word is not in the vocabulary.

    Examples
    --------
    >>> print(str(patching()).splitlines()[3])
    after:  unos gatos ven el mundo rojo

    Notes
    -----
    *Attention Is All You Need*, section 3.2.2: a head speaks through its own rows of ``W_O``.
    """
    src, others = words_of("source", source), words_of("other", other)
    both = min(len(src), len(others))
    rows = sorted({whole_number("rows", row, least=1) for row in as_list("rows", rows, "whole numbers")})
    for row in rows:
        if row > both:
            raise ValueError(f"rows: expected numbers from 1 to {both}, got {shown(row)}")
    asked = {one_of("silent", head, HEADS) for head in as_list("silent", silent, "names of heads")}
    silent = [head for head in HEADS if head in asked]
    word, id = whole_number("word", word, least=1), as_id("id", id)
    model = Translator.load()
    require_known("source", src, model)
    require_known("other", others, model)

    before = patched(model, src, others)
    if word > len(before.words):
        raise ValueError(f"word: expected a number from 1 to {len(before.words)}, got {shown(word)}")
    after = patched(model, src, others, rows, silent, like=before.ids)
    at = word - 1
    best = favourites(before.probs[at], after.probs[at])
    labels = [named(token) for token in model.tgt_vocab.tokens(best)]
    runs = (("before", before), ("after", after))
    looks = [(_row_name(h, when, silent), run.heads[h, at]) for h in (0, 1) for when, run in runs]
    said = _sentence(model, before, after, at, _swaps(src, others, rows), silent)
    static = (
        f'<div class="patch-memory">{_memory(src, others, rows)}</div>'
        f'<div class="patch-lines">{_line("before", before.words, before.words, at)}'
        f"{_line('after', after.words, before.words, at)}</div>"
        f'<p class="patch-at">{_html.escape(_place(before.words, at))}</p>'
        f'<div class="live-side patch-bars">{bars(labels, before.probs[at][best], "before", rows=SHOWN)}'
        f"{bars(labels, after.probs[at][best], 'after', rows=SHOWN)}</div>"
        '<div class="trans-scroll" role="region" aria-label="Where it looks" tabindex="0">'
        f"{weight_table(_columns(src, others, rows), looks, CAPTION)}</div>"
        f'<p class="patch-said">{_html.escape(said)}</p>'
    )
    data: dict = {"sentence": " ".join(src), "other": " ".join(others), "rows": rows, "silent": silent}
    data |= {"word": word, "most": MOST, "learned": longest_learned(), **vocabulary()}
    what = f"rows {', '.join(map(str, rows)) or 'none'} from: {' '.join(others)}; silent: {', '.join(silent) or 'none'}"
    text = f"source: {' '.join(src)}; {what}\nbefore: {before.sentence()}\nafter:  {after.sentence()}"
    title = "Silence a head, or swap a row of the memory. Which word changes?"
    return Element("patching", title, data, static, text, id, ("trained", "sentence"))


# ---------------------------------------------------------------- what the model does


class Run:
    """What is written, and with the words of another run fed: all probabilities, and the weights of both heads."""

    def __init__(self, ids: list[int], words: list[str], probs: np.ndarray, heads: np.ndarray):
        self.ids, self.words, self.probs, self.heads = ids, words, probs, heads

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
    """Translate with some heads silent and some rows of the memory, from 1, taken from another sentence.

    Probabilities and weights are those that follow the words of `like`, or what is written itself.
    """
    cfg, params = model.cfg, without(model.params, model.cfg.head_width, silent)
    state = start(params, cfg, model.src_vocab.ids(src), cached=False)
    memory = state.memory.copy()
    theirs, _ = encode(params, cfg, model.src_vocab.ids(other))
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
    """Return a copy of the parameters in which the silent heads' rows of W_O are 0."""
    params = copy.deepcopy(params)
    for name in silent:
        part, h = name[:-1], int(name[-1]) - 1
        PARTS[part](params).w_o[h * width : (h + 1) * width] = 0
    return params


def favourites(before: np.ndarray, after: np.ndarray) -> list[int]:
    """Return the most probable words of both, the most probable first, each once."""
    first = [int(i) for probs in (before, after) for i in np.argsort(-probs, kind="stable")[:TOP]]
    return sorted(dict.fromkeys(first), key=lambda i: -max(before[i], after[i]))


# ---------------------------------------------------------------- its static form


def _memory(src, others, rows) -> str:
    cells = "".join(
        f'<span class="patch-cell{" patch-other" if k + 1 in rows else ""}"><b>{_html.escape(word)}</b>'
        f"<i>{_html.escape('← ' + others[k] if k + 1 in rows else 'its own')}</i></span>"
        for k, word in enumerate(src)
    )
    name = f"The memory of “{' '.join(src)}”. Swapped rows come from “{' '.join(others)}”."
    return f'<p class="patch-name">{_html.escape(name)}</p><div class="patch-cells" lang="en">{cells}</div>'


def _line(name: str, words, like, at: int) -> str:
    tiles = "".join(
        f'<span class="patch-word{" patch-changed" if t >= len(like) or word != like[t] else ""}'
        f'{" patch-on" if t == at else ""}{" patch-beyond" if t >= len(like) else ""}">'
        f"<b>{_html.escape(word)}</b></span>"
        for t, word in enumerate(words)
    )
    tiles = f'<div class="patch-{name}" lang="es">{tiles}</div>'
    return f'<div class="patch-line"><span class="patch-name">{name}</span>{tiles}</div>'


def _place(words, at: int) -> str:
    so_far = " ".join(words[:at])
    return f"Probabilities of the next word after “{so_far}”" if so_far else "Probabilities of the first word"


def _columns(src, others, rows) -> list[str]:
    """The words, and of a swapped row both."""
    return [f"{word} ← {others[k]}" if k + 1 in rows else word for k, word in enumerate(src)]


def _row_name(h: int, when: str, silent) -> str:
    return f"{h + 1}, {'silent' if when == 'after' and f'cross{h + 1}' in silent else when}"


def _swaps(src, others, rows) -> list[str]:
    return [f"row {row} swapped (“{src[row - 1]}” ← “{others[row - 1]}”)" for row in rows]


def _sentence(model: Translator, before: Run, after: Run, at: int, swaps, silent) -> str:
    """What is seen, in a sentence or three."""
    done = [*(f"{head[:-1]} {head[-1]} silent" for head in silent), *swaps]
    if not done:
        best = int(after.probs[at].argmax())
        has = f"{quoted(*model.tgt_vocab.tokens([best]))} has probability {fmt(after.probs[at, best])}"
        return f"Nothing is changed: it writes “{after.sentence()}”. {has}."
    what = ", ".join(done)
    pairs = zip_longest(before.words, after.words)
    changed = sum(was != now for was, now in pairs)
    differ = f"{changed} place{'s differ' if changed > 1 else ' differs'}" if changed else "No word differs"
    best = dict.fromkeys(int(run.probs[at].argmax()) for run in (before, after))
    shares = []
    for i in best:
        (token,) = model.tgt_vocab.tokens([i])
        shares.append(f"{quoted(token)} had probability {fmt(before.probs[at, i])}, now {fmt(after.probs[at, i])}")
    return f"{what[0].upper()}{what[1:]}: it writes “{after.sentence()}”. {differ}. {'; '.join(shares)}."
