"""A beam search stepped through, on a tree of words whose every number can be checked by hand."""

from __future__ import annotations

import html as _html
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from toytf.byhand import fmt
from toytf.byhand.expressions import trimmed
from toytf.generate import beam_search
from toytf.live.element import SAID, Element, table

SOS, EOS = "<sos>", "<eos>"
TITLE = "Which sentences does the beam keep? Step through it"
WIDEST = 4
STEEPEST = 2.0  # length penalty
FATE = '<em role="img" aria-label="" hidden></em>'  # the page says there what became of a word


def beam(
    tree: Mapping[tuple, Mapping[str, float]],
    *,
    max_length: int,
    id: str = "beam",
) -> Element:
    """Step through a beam search on a small tree of words::

        log P(sentence) = sum of log P(word | words before),   score = log P / ((5 + n) / 6)^penalty

    Parameters
    ----------
    tree : mapping
        What may follow which words, and with what probability, ``{(): {"a": 0.6, "I": 0.4}, ("I",): {"am": 1.0}}``.
        Words that it does not continue are followed by ``<eos>``, which ends a sentence.
    max_length : int
        A sentence is cut off after so many tokens, ``<eos>`` included.
    id : str
        The element's address on its page, ``#beam?width=1&step=2``.

    Returns
    -------
    Element

    Notes
    -----
    *Attention Is All You Need*, section 6.1. The search is `toytf.generate.beam_search`.
    """
    tokens = list(dict.fromkeys([SOS, EOS, *(word for following in tree.values() for word in following)]))

    def followers(words: tuple) -> Mapping[str, float]:
        return tree.get(words, {EOS: 1.0})

    def model(state, ids):
        """The tree as a model: what `toytf.generate` asks for."""
        longer = tuple((*s, tokens[i]) for s, i in zip(state.sentences, ids, strict=True))
        probs = [[followers(s[1:]).get(word, 0.0) for word in tokens] for s in longer]
        with np.errstate(divide="ignore"):  # what cannot follow is never chosen
            return np.log(probs), _Words(longer)

    ends = {"sos": 0, "eos": 1, "max_length": max_length}
    found = [beam_search(model, _Words(), width=width, **ends)[0] for width in range(1, WIDEST + 1)]
    lines = [
        (f"{k}{' = greedy' * (k == 1)}", " ".join(tokens[i] for i in h.ids), fmt(np.exp(h.log_prob)), fmt(h.score))
        for k, h in enumerate(found, 1)
    ]
    finds = [(head, *(_html.escape(cell).replace("-", "−") for cell in cells)) for head, *cells in lines]
    static = (
        f'<ul class="live-tree" aria-label="The tree of words"><li><span class="live-node">'
        f"<b>{_html.escape(SOS)}</b></span>{_branches(followers, max_length)}</li></ul>{SAID}"
        f"{table('list live-found', finds, ('width', 'finds', 'probability', 'score'), 'What each width finds')}"
    )
    text = "\n".join(f"width {k}: {sentence} {p}" for k, (_, sentence, p, _) in enumerate(lines, 1))
    after = [[list(words), list(following), list(following.values())] for words, following in tree.items()]
    data = {"tokens": tokens, "after": after, "max_length": max_length}
    data |= {"widest": WIDEST, "steepest": STEEPEST}
    return Element("beam", TITLE, data, static, text, id)


@dataclass(frozen=True)
class _Words:
    """The state of a search: the words so far of each sentence."""

    sentences: tuple = ((),)

    def take(self, rows):
        return _Words(tuple(self.sentences[row] for row in rows))


def _branches(followers, max_length: int, words: tuple = (), total: float = 1.0) -> str:
    """The tree as nested lists, each word with the probability of all words up to it."""
    if len(words) == max_length or words[-1:] == (EOS,):
        return ""
    items = []
    for word, p in followers(words).items():
        longer = (*words, word)
        items.append(
            f'<li data-words="{_html.escape(" ".join(longer))}"><i><span>{trimmed(p, 4)}</span></i>'
            f'<span class="live-node"><b>{_html.escape(word)}</b> <span>{trimmed(total * p, 4)}</span>{FATE}</span>'
            f"{_branches(followers, max_length, longer, total * p)}</li>"
        )
    return f"<ul>{''.join(items)}</ul>"
