"""Heads silenced and rows of the memory swapped, in the trained translator: which word changes?"""

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
from toytf.live.element import Element, bars
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
TOP = 5  # the most probable words, before or after
MEMORY = "The memory of “{}”. Swapped rows come from “{}”."
CAPTION = "Where heads 1 and 2 of cross-attention look for it"
SAME = "after: nothing is changed"


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
    src, others, rows, at = source.split(), other.split(), sorted(rows), word - 1
    silent, model = [head for head in HEADS if head in silent], Translator.load()
    before = patched(model, src, others)
    after = patched(model, src, others, rows, silent, like=before.ids)
    best = favourites(before.probs[at], after.probs[at])
    labels = [named(token) for token in model.tgt_vocab.tokens(best)]
    runs = (("before", before), ("after", after))
    looks = [(_row_name(h, when, silent), run.heads[h, at]) for h in (0, 1) for when, run in runs]
    beyond, same = len(before.words), not (rows or silent)
    lines = {"before": [], "after": []}
    for name, run in runs:
        for t, said in enumerate(run.words):
            changed = t >= beyond or said != before.words[t]
            look = f"patch-word{' patch-changed' * changed}{' patch-on' * (t == at)}{' patch-beyond' * (t >= beyond)}"
            lines[name].append((said, look, "", 0))
    so_far = " ".join(before.words[:at])
    where = f"the next word after “{so_far}”" if so_far else "the first word"
    static = (
        f'<p class="patch-name">{_html.escape(MEMORY.format(source, other))}</p>'
        f'<div class="patch-cells" lang="en">{_memory(src, others, rows)}</div><div class="patch-lines">'
        + "".join(
            f'<div class="patch-line"><span class="patch-name">{name}</span>'
            f'<div class="patch-{name}" lang="es">{word_line(line)}</div></div>'
            for name, line in lines.items()
        )
        + f'</div><p class="patch-at">{_html.escape(f"Probabilities of {where}")}</p>'
        f'<div class="live-side patch-bars{" patch-same" * same}">{bars(labels, before.probs[at][best], "before")}'
        f"{bars(labels, after.probs[at][best], SAME if same else 'after')}</div>"
        '<div class="trans-scroll" role="region" aria-label="Where it looks" tabindex="0">'
        f"{weight_table(_columns(src, others, rows), looks, CAPTION)}</div>"
        f'<p class="live-said">{_html.escape(_said(model, src, others, rows, silent, before, after, at))}</p>'
    )
    data = {"sentence": source, "other": other, "rows": rows, "silent": silent, "word": word, "most": MOST}
    data |= {"learned": longest_learned(), **vocabulary()}
    what = f"rows {', '.join(map(str, rows)) or 'none'} from: {other}; silent: {', '.join(silent) or 'none'}"
    text = f"source: {source}; {what}\nbefore: {before.sentence()}\nafter:  {after.sentence()}"
    title = "Silence a head, or swap a row of the memory. Which word changes?"
    return Element("patching", title, data, static, text, id, ("sentence",), "trained")


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
    """Return the most probable words of both, the most probable first."""
    return np.argsort(-np.maximum(before, after), kind="stable")[:TOP].tolist()


# ---------------------------------------------------------------- its static form


def _memory(src, others, rows) -> str:
    swapped = [k + 1 in rows for k in range(len(src))]
    return word_line(
        (word, f"patch-cell{' patch-other' * on}", f"← {others[k]}" if on else "its own", 0)
        for k, (word, on) in enumerate(zip(src, swapped, strict=True))
    )


def _columns(src, others, rows) -> list[str]:
    """The words, and of a swapped row both."""
    return [f"{word} ← {others[k]}" if k + 1 in rows else word for k, word in enumerate(src)]


def _said(model: Translator, src, others, rows, silent, before: Run, after: Run, at: int) -> str:
    """What the script says too."""
    done = [f"{head[:-1]} {head[-1]} silent" for head in silent]
    done += [f"row {row} swapped (“{src[row - 1]}” ← “{others[row - 1]}”)" for row in rows]
    best = list(dict.fromkeys(int(probs[at].argmax()) for probs in (before.probs, after.probs)))
    names = [quoted(named(token)) for token in model.tgt_vocab.tokens(best)]
    writes = f"it writes “{after.sentence()}”" if after.sentence() else "it writes nothing"
    if not done:
        return f"Nothing is changed: {writes}. {names[-1]} has probability {fmt(after.probs[at, best[-1]])}."
    changed = sum(a != b for a, b in zip_longest(before.words, after.words))
    differ = f"{changed} {'place differs' if changed == 1 else 'places differ'}" if changed else "No word differs"
    shares = (
        f"{name} had probability {fmt(before.probs[at, i])}, now {fmt(after.probs[at, i])}"
        for name, i in zip(names, best, strict=True)
    )
    what = ", ".join(done)
    return f"{what[0].upper()}{what[1:]}: {writes}. {differ}. {'; '.join(shares)}."


def _row_name(h: int, when: str, silent) -> str:
    return f"{h + 1}, {'silent' if when == 'after' and f'cross{h + 1}' in silent else when}"
