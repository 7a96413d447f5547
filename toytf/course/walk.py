"""The map: the whole way of the example, each part a link to its chapter, and one sentence that goes through it.

    >>> print(str(Walk()).splitlines()[1])
    2. Each word is looked up in a table. The row of Hello is [1, 2, 3, 4]. (Chapter 2)

It needs no script: a step is the target of a link, and the style of its page lights the part.
"""

from __future__ import annotations

import html

import numpy as np

from toytf.byhand import fmt
from toytf.byhand.expressions import trimmed
from toytf.course import journey
from toytf.course.chapters import chapters
from toytf.course.plot_spine import PARTS, spine
from toytf.ops import softmax

ALT = (
    "The way of Hello World in strips of colour, a cell for each number. Above, the encoder, from left to right: "
    "embedding, positions, self-attention, add and norm, feed-forward, add and norm. Its last rows, the memory, go "
    "down to the decoder below, which has one more part, cross-attention. From its end an arrow leads up to ten words, "
    "with a score and a probability each. Each part is a link to its chapter."
)


def steps() -> list[tuple[tuple[str, ...], int, str]]:
    """The steps of the walk: the parts that are lit, the chapter, and what happens there, in the example's numbers."""
    encoder, decoder = journey.trace.encoder, journey.trace.decoder
    first, layer = encoder.layers[0], decoder.layers[0]
    looks = first.self_attention.inner.attention.attn_weights[0][0]
    reads = layer.cross_attention.inner.attention.attn_weights[0][0]
    hidden = first.feed_forward.inner.hidden[0]
    said = softmax(journey.logits)[-1]
    best = int(np.argmax(said))

    def row(numbers):
        return f"[{', '.join(trimmed(float(x), 4) for x in numbers)}]"

    return [
        (("source words",), 2, "Two words go in, Hello and World. The model knows each by its place in a list."),
        (("embedding",), 2, f"Each word is looked up in a table. The row of Hello is {row(encoder.embedded[0])}."),
        (("positions",), 3, f"A row for the place is added, {row((encoder.x - encoder.embedded)[0])} for the first."),
        (("self-attention",), 4, "Each row looks at all rows and takes in what they have to give, in two heads. "
         f"In head 1 Hello keeps {'less than a billionth' if looks[0] < 1e-9 else fmt(looks[0])} of its attention for "
         "itself: World gets the rest."),
        (("encoder add & norm 1",), 9, "What came home is added to the row, and the row is brought to mean 0 and "
         "variance 1."),
        (("feed-forward",), 7, f"Each row is widened to {len(hidden)} numbers, what is below zero is cut off "
         f"({(hidden > 0).sum()} are left for Hello), and it is narrowed again."),
        (("encoder add & norm 2",), 9, "Add and normalise once more: an encoder layer is done. The paper stacks six."),
        (("memory",), 10, f"Two rows of {encoder.out.shape[-1]} numbers have come out, as two went in. They are the "
         "memory, which the decoder reads for each word that it writes."),
        (("target words", "target embedding", "target positions"), 12, "The decoder begins with SOS, a mark for the "
         "start of a sentence. It is looked up, and gets its place."),
        (("masked self-attention", "decoder add & norm 1"), 11, "Its rows look at each other too, but none may look "
         "ahead. Here there is one row only, which looks at itself."),
        (("cross-attention", "decoder add & norm 2"), 12, "Then it looks into the memory. In head 1 SOS gives Hello "
         f"{fmt(reads[0])} of its attention and World {fmt(reads[1])}."),
        (("decoder feed-forward", "decoder add & norm 3"), 12, "The same network as in the encoder, with weights of "
         "its own."),
        (("linear",), 13, f"One more product of matrices gives a score to each of {len(said)} words."),
        (("softmax",), 13, f"Softmax makes probabilities of the scores. {journey.words[best]} has the largest, "
         f"{fmt(said[best])}."),
        (("next word",), 14, f"So the model answers {journey.words[best]}, the end of a sentence: it has not learned "
         "anything yet. Chapters 14 to 16 teach it."),
    ]  # fmt: skip


def links() -> dict[str, tuple[str, str]]:
    """Return for each part of the map its chapter's address, as seen from another notebook, and what to call it; none
    where the book is not there.
    """
    names = {int(number): name for number, name in chapters().items()}
    return {
        part: (f"../notebooks/{names[n]}.ipynb", f"{part}: chapter {n}")
        for parts, n, _ in steps() for part in parts if n in names
    }  # fmt: skip


class Walk:
    """The map with its steps; shows itself as HTML in the book and in JupyterLab, as text elsewhere."""

    def _repr_html_(self) -> str:
        places, way = links(), steps()
        svg = spine(journey.trace, lit="all", title="", links=places).svg
        svg = svg[svg.index('<svg class="wide"') : svg.rindex("</svg>")].replace(' display="none"', "")
        svg = svg.replace(' y="30"', "").replace("<svg ", f'<svg role="group" aria-label="{html.escape(ALT)}" ')
        lines = rules = ""
        for k, (parts, chapter, words) in enumerate(way, 1):
            on = f'<a class="walk-next" href="#walk-{k + 1}">Next</a>' if k < len(way) else ""
            on += f'<a href="#walk-{k - 1}">Back</a>' if k > 1 else ""
            lines += (
                f'<li id="walk-{k}"><p>{words}</p>'
                f'<p class="walk-ways">{on}<a href="{places[parts[0]][0]}">Chapter {chapter}</a></p></li>'
            )
            lit = ",".join(f'[data-part="{PARTS.index(part)}"]' for part in parts)
            rules += f".walk:has(#walk-{k}:target) .spot:is({lit}){{stroke-width:3;fill-opacity:0}}"
            rules += f".walk:has(#walk-{k}:target) text:is({lit}){{opacity:1}}"
        begin = '<p class="walk-begin"><a href="#walk-1">Walk through it, step by step</a></p>'
        return f'<div class="walk"><style>{rules}</style>{begin}<ol>{lines}</ol><div>{svg}</div></div>'

    def __str__(self) -> str:
        return "\n".join(f"{k}. {words} (Chapter {chapter})" for k, (_, chapter, words) in enumerate(steps(), 1))

    __repr__ = __str__
