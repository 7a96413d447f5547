"""Drawing a word: temperature and cuts make shares, and a random number points at one of them."""

from __future__ import annotations

import html as _html
from collections.abc import Sequence

import numpy as np

from toytf.byhand import fmt
from toytf.generate import _draw, kept_tokens
from toytf.live import wire
from toytf.live.element import SAID, Element, bar, table
from toytf.ops import softmax

DRAWS = 500  # random numbers that the page has


def sampling(logits, words: Sequence[str], *, id: str = "sampling") -> Element:
    """Set temperature, top-k and top-p, and draw words with random numbers::

        p = softmax(logits / temperature),   share = p / sum of p over the words that are kept

    The shares lie end to end on a strip from 0 to 1; a random number is a place on it.

    Parameters
    ----------
    logits : array_like, shape (vocabulary,)
    words : sequence of str
        What they belong to.
    id : str
        The element's address on its page, ``#sampling?temperature=2&topk=3``.

    Returns
    -------
    Element

    Notes
    -----
    The random numbers are the first 500 of ``np.random.default_rng(0)``: with this generator `toytf.generate.sample`
    draws the same words. Holtzman et al., *The Curious Case of Neural Text Degeneration*, 2020, for top-p.
    """
    numbers = np.random.default_rng(0).random(DRAWS)
    probs = softmax(np.asarray(logits, float))
    word = words[_draw(probs, np.random.default_rng(0), None, None)]
    static = _strip(words, probs, kept_tokens(probs), numbers[0], word) + SAID + _table(words, probs)
    data = {"logits": logits, "words": words, "numbers": wire.many(numbers)}
    text = "\n".join(f"{word} {fmt(p)}" for word, p in zip(words, probs, strict=True))
    return Element("sampling", "Which word comes out? Point at the strip", data, static, text, id)


def _strip(words, probs, order, u: float, drawn: str) -> str:
    """The shares end to end, the largest first, and the place of the random number."""
    parts = "".join(
        f'<span class="live-part{" live-drawn" if words[i] == drawn else ""}" style="--share:{probs[i]:.6g}">'
        f"<b>{_html.escape(words[i])}</b></span>"
        for i in order
    )
    return (
        '<div class="live-line"><div class="live-strip" role="img" aria-label="'
        f'{_html.escape(f"The shares of {len(words)} words end to end; {fmt(u)} points at {drawn}.")}">{parts}'
        f'<span class="live-pointer" data-word="{_html.escape(drawn)}" style="--at:{u:.6g}"></span></div>'
        '<div class="live-scale" aria-hidden="true"><span>0</span><span>0.5</span><span>1</span></div></div>'
    )


def _table(words, probs) -> str:
    """For each word a bar, its probability, that at the temperature, its share, and how often it was drawn."""
    lines = [(word, bar(share=p, before=p), *[fmt(p)] * 3, "0") for word, p in zip(words, probs, strict=True)]
    heads = ("", "", "at T = 1", "at T", "share", "drawn")
    return table("chances", lines, heads, "Bar: its share; line: its probability at temperature T = 1")
