"""The two trained models that write stories: a beginning is typed, and it is written on, word by word."""

from __future__ import annotations

import html as _html
import re
from collections.abc import Iterator
from functools import cache
from types import SimpleNamespace

import numpy as np

from toytf import stories
from toytf.byhand import fmt
from toytf.corpus import EOS, SOS
from toytf.generate import _draw, start, stepper
from toytf.live import wire
from toytf.live.element import Element, bars
from toytf.live.translator import named, quoted, word_line
from toytf.model import forward
from toytf.ops import softmax
from toytf.store import load
from toytf.writer import LONGEST, Writer

TOP = 5  # the most probable words
NUMBERS = np.random.default_rng(0).random(599)  # a prime: each story begins at another of them
ODD = "this is no story of the kind that it learned: a sentence has another form, or there is no end"
OWNERS = {"gift": "the hero has it again", "keep": "the helper has it now", "share": "it belongs to both"}
NAME = re.compile("".join(f"({'|'.join(s.strip('-') for s in part)})" for part in stories.SYLLABLES))


def writer(
    beginning: str = "Once there was a shy owl called Rikotus.", temperature: float = 0.8, *, id: str = "writer"
) -> Element:
    """Type a beginning; a model of one or two layers writes on, and each word shows where it looked::

        p(next word) = softmax(logits(words so far) / temperature),   one is drawn

    In the end `toytf.stories.broken` says which promises the story keeps. At the start the beginning stands there;
    without a script the story of two layers follows. The head is the one that looks most, from the last word that
    begins a name, at earlier ones of it.

    Parameters
    ----------
    beginning : str
        In words of `toytf.stories`, with names of its syllables, as `toytf.stories.told` writes them.
    temperature : float
        From 0.1 to 2.
    id : str
        The element's address on its page, ``#writer?beginning=By+the+sea&layers=1&draw=3``.

    Returns
    -------
    Element

    Raises
    ------
    KeyError
        If a word is not in the vocabulary.

    Notes
    -----
    The weights are those of ``Writer.load(1)`` and ``Writer.load(2)``; the book's page loads them when somebody types
    or presses a button. Random numbers are the first 599 of ``np.random.default_rng(0)``, again and again.
    """
    model, begun = _model(2), cut(beginning)
    tokens = written(model, begun, temperature)
    at = max((i for i, token in enumerate(tokens) if token in stories.SYLLABLES[0]), default=0)
    _, looks = asked(model, tokens, at, temperature)
    same = [0, *(token == tokens[at] for token in tokens[:at])]
    layer, head = (int(i) for i in np.unravel_index((looks @ same).argmax(), looks.shape[:2]))
    probs, looks = asked(model, begun, len(begun), temperature)
    row = looks[layer, head]
    said = _said(model, begun, probs, row, (layer, head))
    kept = "".join(_promise(*promise) for promise in promises(tokens))
    static = (
        f'<div class="story-field"><p>{_html.escape(beginning)}</p></div>'
        f'<p class="story-text" lang="en">{_words(begun, row)}</p>'
        '<p class="story-hint">Click or tap a word: the stronger its colour, the more the head looked at it.</p>'
        f'<div class="story-detail">{_bars(model, probs, temperature)}'
        f'<div class="story-side"><p class="live-said">{_html.escape(said)}</p></div></div>'
        f'<noscript><p lang="en">{_html.escape(stories.told(tokens[:-1]))}</p><ul>{kept}</ul></noscript>'
        '<ul class="story-promises" hidden></ul>'
    )
    title = "Begin a story. A model of one or two layers writes on."
    data = {"beginning": beginning, "temperature": temperature, "layer": layer + 1, "head": head + 1}
    data |= {"longest": LONGEST, "numbers": wire.many(NUMBERS), "words": list(model.vocab)}
    data |= {"sentences": stories.SENTENCES, "slots": stories.SLOTS, "promises": stories.PROMISES}
    data |= {"name": stories.NAME, "owners": OWNERS, "odd": ODD}
    data["syllables"] = [[syllable.strip("-") for syllable in part] for part in stories.SYLLABLES]
    text = "\n".join([stories.told(tokens[:-1]), *(" ".join(promise) for promise in promises(tokens))])
    return Element("writer", title, data, static, text, id, ("sentence",), "writers")


# ---------------------------------------------------------------- what a model does


@cache
def _model(layers: int) -> Writer:
    """A trained writer that computes in float64, as the page does."""
    params, cfg = load(Writer.stored(layers), np.float64)
    return Writer(params, cfg, Writer.load(layers).vocab)


def cut(text: str) -> list[str]:
    """Return the tokens of what `toytf.stories.told` wrote.

    Examples
    --------
    >>> cut("“Keep it, Rikotus,” said Bateron.")[3:8]
    [',', 'Ri-', '-ko-', '-tus', ',']
    """
    words = re.findall(r"[.,!?“”]|[^\s.,!?“”]+", text)
    names = (NAME.fullmatch(word) for word in words)
    return [
        token
        for word, name in zip(words, names, strict=True)
        for token in ([f"{name[1]}-", f"-{name[2]}-", f"-{name[3]}"] if name else [word.lower()])
    ]


def written(model: Writer, begun: list[str], temperature: float, draw: int = 1, most: int = LONGEST) -> list[str]:
    """Write on: all tokens, with the end if it comes. The random numbers are those of the story `draw`."""
    step, state = stepper(model.params, model.cfg), start(model.params, model.cfg)
    numbers = (NUMBERS[(LONGEST * (draw - 1) + t) % len(NUMBERS)] for t in range(LONGEST))
    tokens, rng = [SOS], SimpleNamespace(random=lambda: next(numbers))
    while len(tokens) <= len(begun) + most and tokens[-1] != EOS:
        logits, state = step(state, model.vocab.ids(tokens[-1:]))
        read = len(tokens) <= len(begun)
        probs = softmax(logits[0] / temperature)
        tokens.append(begun[len(tokens) - 1] if read else model.vocab.tokens([_draw(probs, rng, None, None)])[0])
    return tokens[1:]


def asked(model: Writer, tokens: list[str], at: int, temperature: float) -> tuple[np.ndarray, np.ndarray]:
    """Return all probabilities of the token at a place, and the shares (layers, heads, start and tokens before it)."""
    logits, trace = forward(model.params, model.cfg, None, model.vocab.ids([SOS, *tokens[:at]]))
    layers = [layer.self_attention.inner.attention.attn_weights[..., -1, :] for layer in trace.decoder.layers]
    return softmax(logits[-1] / temperature), np.array(layers).reshape(len(layers), model.cfg.n_heads, at + 1)


def promises(tokens: list[str]) -> Iterator[tuple[str, str, str]]:
    """Yield a mark, a promise and its facts, for each promise that a finished story speaks of."""
    said = stories.facts(tokens[:-1]) if tokens[-1:] == [EOS] else None
    if said is None:
        yield "✗", "form", ODD
    for promise, slots in stories.PROMISES.items() if said else ():
        facts = dict.fromkeys(fact for slot, fact in said if slot in slots)
        if facts:
            words = [OWNERS.get(fact, stories.told(fact.split()) if "-" in fact else fact) for fact in facts]
            yield "✗" if len(facts) > 1 else "✓", promise, ", then ".join(words)


# ---------------------------------------------------------------- its static form


def pieces(tokens: list[str]) -> Iterator[tuple[str, str]]:
    """Yield for each token the space before it and the token, as `toytf.stories.told` writes them.

    Examples
    --------
    >>> list(pieces(["hello", ",", "Ri-", "-ko-"]))
    [('', 'Hello'), ('', ','), (' ', 'Ri'), ('', 'ko-')]
    """
    for before, token, after in zip(["", *tokens], tokens, [*tokens[1:], ""], strict=False):
        joins = before.endswith("-") and token.startswith("-")
        text = token[joins : -1 if token.endswith("-") and after.startswith("-") else None]
        space = "" if before in ("", "“") or joins or token in (".", ",", "!", "?", "”") else " "
        begins = before in ("", "“") or (space and before in (".", "!", "?")) or text == "i"
        yield space, named(text[0].upper() + text[1:] if begins else text)


def _words(begun: list[str], row: np.ndarray) -> str:
    typed = ((text, "story-word story-typed", space) for space, text in pieces(begun))
    words = ("(start)", "story-word story-start", ""), *typed
    items = [(*word, share) for word, share in zip(words, row, strict=True)]
    return word_line([*items, ("…", "story-word story-on", " ", 0.0)])


def _bars(model: Writer, probs: np.ndarray, temperature: float) -> str:
    best = np.argsort(-probs, kind="stable")[:TOP]
    labels = [named(token) for token in model.vocab.tokens(best)]
    return bars(labels, probs[best], f"What can come here, at temperature {temperature:g}")


def _said(model: Writer, begun: list[str], probs: np.ndarray, row: np.ndarray, head: tuple[int, int]) -> str:
    """What the script says too."""
    words = ["(start)", *(quoted(named(token)) for token in begun)]
    (word,) = model.vocab.tokens([probs.argmax()])
    looks = f"looked most at {words[row.argmax()]}, with {fmt(row.max())} of its attention."
    next_ = f"Most probable here is {quoted(named(word))}, with {fmt(probs.max())}."
    return f"{next_} Head {head[1] + 1} of layer {head[0] + 1} {looks}"


def _promise(mark: str, promise: str, facts: str) -> str:
    look = ' class="story-broken"' if mark == "✗" else ""
    return f"<li{look}><b>{mark}</b> {promise}: {facts}</li>"
