"""A beam search stepped through, on trees of words whose every number can be checked by hand."""

from __future__ import annotations

import html as _html
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from toytf._validate import as_id, list_of, number, positive_int, require_class, shown, whole_number
from toytf.byhand import fmt
from toytf.byhand.expressions import trimmed
from toytf.generate import Hypothesis, beam_search
from toytf.live.element import Element

SOS = "<sos>"
WIDEST = 4
STEEPEST = 2.0  # length penalty
LONGEST = 50  # tokens of a sentence: each is a level of the drawn tree
FATE = '<em role="img" aria-label="" hidden></em>'  # the page says there what became of a word


def beam(
    trees: Mapping[str, Mapping[tuple, Mapping[str, float]]],
    *,
    max_length: int,
    eos: str = "<eos>",
    step: int = 1,
    id: str = "beam",
) -> Element:
    """Step through a beam search on small trees of words::

        log P(sentence) = sum of log P(word | words before),   score = log P / ((5 + n) / 6)^penalty

    Parameters
    ----------
    trees : mapping of mappings
        By name: what may follow which words, and with what probability,
        ``{(): {"a": 0.6, "I": 0.4}, ("I",): {"am": 1.0}}``. Words that a tree does not continue are followed by `eos`.
    max_length : int
        A sentence is cut off after so many tokens, `eos` included; at most 50.
    eos : str
        What ends a sentence.
    step : int
        At which step it stands at first, at most `max_length`.
    id : str
        The element's address on its page, ``#beam?width=1&step=2``.

    Returns
    -------
    Element

    Notes
    -----
    *Attention Is All You Need*, section 6.1. The search is `toytf.generate.beam_search`.
    """
    max_length, step, id = positive_int("max_length", max_length), whole_number("step", step, 0), as_id("id", id)
    if max_length > LONGEST:
        raise ValueError(f"max_length: expected at most {LONGEST}, got {shown(max_length)}")
    if step > max_length:
        raise ValueError(f"step: expected at most max_length = {max_length}, got {shown(step)}")
    require_class("eos", eos, str)
    if eos in ("", SOS):
        raise ValueError(f"eos: expected a word other than {SOS}, got {shown(eos)}")
    if not _mapping("trees", trees, "trees by their names"):
        raise ValueError("trees: expected at least one tree by name, got none")
    list_of("trees", list(trees), str, "names of trees")
    known = {name: _Tree(_usable(name, tree, eos), eos, max_length) for name, tree in trees.items()}
    found = {name: [tree.search(width) for width in range(1, WIDEST + 1)] for name, tree in known.items()}
    static = "".join(
        f'<div class="live-beam" data-tree="{_html.escape(name)}">{_drawn(tree)}{_results(tree, found[name])}</div>'
        for name, tree in known.items()
    )
    text = "\n".join(
        f"{name}, width {width}: {known[name].sentence(h)} {fmt(np.exp(h.log_prob))}"
        for name, hypotheses in found.items()
        for width, h in enumerate(hypotheses, 1)
    )
    data = {
        "trees": {name: {"tokens": tree.tokens, "after": tree.after()} for name, tree in known.items()},
        "eos": eos,
        "step": step,
        "max_length": max_length,
        "widest": WIDEST,
        "steepest": STEEPEST,
    }
    return Element("beam", "Which sentences does the beam keep? Step through it", data, static, text, id)


def _usable(name, tree, eos) -> dict:
    """Return a tree whose every branch can be reached and whose probabilities add up to 1."""
    where = f"trees[{name!r}]"
    if () not in _mapping(where, tree, "what follows which words"):
        raise ValueError(f"{where}: expected what follows no words under (), got {shown(tree)}")
    for words, following in tree.items():
        if not isinstance(words, tuple):  # words as one string would be cut into letters
            raise TypeError(f"{where}: expected tuples of words, got {shown(words)}")
        for word in _mapping(f"{where}[{words}]", following, "probabilities of words"):
            require_class(f"{where}[{words}]", word, str)
            if word in ("", SOS):
                raise ValueError(f"{where}[{words}]: expected words other than {SOS}, got {shown(word)}")
    for words, following in tree.items():
        if words and words[-1] not in tree.get(words[:-1], {}):
            raise ValueError(f"{where}: {words} is never reached: {words[:-1]} is not followed by {words[-1]!r}")
        if eos in words:
            raise ValueError(f"{where}: {words} goes on after {eos!r}")
        _require_probabilities(f"{where}[{words}]", following)
    return {words: {w: float(p) for w, p in following.items()} for words, following in tree.items()}


def _require_probabilities(name: str, following) -> None:
    for word, p in following.items():
        number(f"{name}[{word!r}]", p, "a probability above 0, at most 1", lambda p: 0 < p <= 1)
    if not np.isclose(sum(following.values()), 1, rtol=0, atol=1e-9):
        raise ValueError(f"{name}: expected probabilities that add up to 1, got {sum(following.values())}")


def _mapping(name: str, value, of: str) -> Mapping:
    """Return a mapping that is one."""
    if not isinstance(value, Mapping):
        raise TypeError(f"{name}: expected a mapping of {of}, got {shown(value)}")
    return value


@dataclass(frozen=True)
class _Words:
    """The state of a search: the words so far of each sentence."""

    sentences: tuple = ((),)

    def take(self, rows):
        return _Words(tuple(self.sentences[row] for row in rows))


class _Tree:
    """A tree as a model: what `toytf.generate` asks for."""

    def __init__(self, tree: dict, eos: str, max_length: int):
        self.tree, self.eos, self.max_length = tree, eos, max_length
        words = [word for following in tree.values() for word in following]
        self.tokens = list(dict.fromkeys([SOS, eos, *words]))

    def followers(self, words: tuple) -> dict[str, float]:
        return self.tree.get(words, {self.eos: 1.0})

    def step(self, state, ids):
        longer = tuple((*s, self.tokens[i]) for s, i in zip(state.sentences, ids, strict=True))
        probs = [[self.followers(s[1:]).get(word, 0.0) for word in self.tokens] for s in longer]
        with np.errstate(divide="ignore"):  # what cannot follow is never chosen
            return np.log(probs), _Words(longer)

    def search(self, width: int, penalty: float = 0.0) -> Hypothesis:
        sos, eos = self.tokens.index(SOS), self.tokens.index(self.eos)
        ends = {"sos": sos, "eos": eos, "max_length": self.max_length}
        return beam_search(self.step, _Words(), width=width, length_penalty=penalty, **ends)[0]

    def sentence(self, h: Hypothesis) -> str:
        return " ".join(self.tokens[i] for i in h.ids)

    def after(self) -> list:
        """What follows which words, as lists, for the page: words before, words, probabilities."""
        return [[list(words), list(following), list(following.values())] for words, following in self.tree.items()]


# ---------------------------------------------------------------- the static form


def _drawn(tree: _Tree) -> str:
    """The tree as nested lists, each word with the probability of all words up to it."""

    def branches(words: tuple, total: float) -> str:
        if len(words) == tree.max_length or words[-1:] == (tree.eos,):
            return ""
        items = []
        for word, p in tree.followers(words).items():
            longer = (*words, word)
            items.append(
                f'<li data-words="{_html.escape(" ".join(longer))}"><i><span>{_short(p)}</span></i>'
                f'<span class="live-node"><b>{_html.escape(word)}</b> <span>{_short(total * p)}</span>{FATE}</span>'
                f"{branches(longer, total * p)}</li>"
            )
        return f"<ul>{''.join(items)}</ul>"

    root = f'<li><span class="live-node"><b>{_html.escape(SOS)}</b></span>{branches((), 1.0)}</li>'
    return f'<ul class="live-tree" aria-label="The tree of words">{root}</ul>'


def _results(tree: _Tree, found: list[Hypothesis]) -> str:
    """What each width finds."""
    rows = "".join(
        f'<tr><th scope="row">{width}{" = greedy" if width == 1 else ""}</th><td>{_html.escape(tree.sentence(h))}</td>'
        f"<td>{fmt(np.exp(h.log_prob))}</td><td>{fmt(h.score).replace('-', '−')}</td></tr>"
        for width, h in enumerate(found, 1)
    )
    heads = "".join(f'<th scope="col">{name}</th>' for name in ("width", "finds", "probability", "score"))
    return (
        f'<table class="live-list live-found"><caption>What each width finds</caption><thead><tr>{heads}</tr></thead>'
        f"<tbody>{rows}</tbody></table>"
    )


def _short(p: float) -> str:
    return trimmed(p, 4)
