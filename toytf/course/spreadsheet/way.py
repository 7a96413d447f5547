"""The sheets of "Hello World", one for each step on the way from words to the probabilities of the next word.

    >>> from toytf.course.spreadsheet import hello_world
    >>> book = hello_world()
    >>> q = book["3 Head 1"].blocks["Q₁"]
    >>> book.formula(q, 0, 1)  # a row of X times the second column of WQ₁
    '$B14*H$7+$C14*H$8+$D14*H$9+$E14*H$10'

It is the model of `toytf.course.journey`, and so of the pages "One number, followed" and "The machine", with the names
of the book's notation and of the panels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from toytf.attention import MultiHead, causal_mask
from toytf.course import journey
from toytf.course.spreadsheet import steps
from toytf.course.spreadsheet.cells import Block, Book, Page
from toytf.course.spreadsheet.steps import ALONE
from toytf.example import POSITIONS_PRINTED
from toytf.model import FeedForward, Transformer
from toytf.ops import Array, LayerNorm
from toytf.positions import sinusoids, sinusoids_column_as_i

TARGET = ("SOS", "hola", "mundo")  # what the decoder has read
CHOICES = ("paper", "published", "none")  # of positions
SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉"


@dataclass(frozen=True)
class Attention:
    """What the sheets of one of the three attentions are called."""

    mark: str  # behind the names of its arrays, as the panels have it
    tab: str
    title: str
    says: str
    chapters: tuple[tuple[int, ...], tuple[int, ...]]  # of the first head; of the second, and of both


SELF = Attention(
    "", "Head", "Encoder: self-attention",
    "Queries meet keys: S = Q Kᵀ. Scaled and made shares, they weight the values: head = A V.",
    ((4, 5), (6,)),
)  # fmt: skip
MASKED = Attention(
    "′", "Masked head", "Decoder: masked self-attention",
    "Queries meet keys: S = Q Kᵀ. Scaled, masked and made shares, they weight the values: head = A V.",
    ((11, 12), (11, 12)),
)  # fmt: skip
CROSS = Attention(
    "″", "Cross head", "Decoder: cross-attention",
    "Queries of the target meet keys of the source: S = Q Kᵀ. Scaled, made shares, they weight the values: head = A V.",
    ((12,), (12,)),
)  # fmt: skip


@dataclass
class _Way:
    """The sheets in their order, and the numbers that several of them need."""

    book: Book
    params: Transformer
    divisor: Block | None = None
    eps: Block | None = None
    mask: Block | None = None

    def page(self, name: str, title: str, says: str, *chapters: int) -> Page:
        page = self.book.page(f"{len(self.book.pages)} {name}", title, says, _listed(chapters))
        page.below()
        return page

    # -- words and positions

    def embedding(self, page: Page, words: Sequence[str], vocabulary: Sequence[str], numbers: Array, mark="") -> Block:
        """Look each word up: a one-hot row times the table."""
        said = page.given(f"words{mark}", np.array(words, dtype=object)[:, None], cols=ALONE)
        page.skip(len(vocabulary) - 1)
        table = page.given(f"table{mark}", numbers, vocabulary)
        page.choose(said, table)
        page.below()
        return steps.product(page, f"E{mark}", steps.one_hot(page, said, table), table)

    def positions(self, e: Block, n: int) -> tuple[Block, Block]:
        """Positions, as in the paper or as the source printed them, and the encoder's input."""
        page = self.page(
            "Positions", "A place for each word",
            "PE = sin(pos / 10000^(2i/d)) in column 2i, cos(pos / 10000^(2i/d)) in column 2i + 1. X = E + PE.", 3,
        )  # fmt: skip
        e = page.taken(e)
        d = steps.width(page, "d", e)
        choice = page.given("positions", [CHOICES[:1]], ALONE, ALONE)
        page.choose(choice, f'"{",".join(CHOICES)}"')
        page.below()
        page.skip(2)
        j, i = steps.pairs(page, e)
        page.below()
        page.skip(2)
        waves, waves_published = steps.wave(page, i, d), steps.wave(page, j, d)
        page.below()
        pos = page.given("pos", np.arange(n)[:, None], cols=ALONE)
        shape = n, len(e.cols)
        paper = steps.sine_or_cosine(page, "as in the paper", pos, j, i, waves, sinusoids(*shape))
        goes_on = steps.sine_or_cosine(page, "j for i", pos, j, i, waves_published, sinusoids_column_as_i(*shape))
        printed = page.given("as published", POSITIONS_PRINTED, form="plain")
        page.below()
        page.skip(2)
        pe = steps.chosen(page, "PE", choice, paper, printed, goes_on)
        return pe, steps.add(page, "X", e, pe)

    # -- attention

    def head(self, page: Page, p: MultiHead, h: int, x: Block, memory: Block, mark: str) -> Block:
        """``softmax(Q K^T / divisor) V`` of head h, counted from 0."""
        name, d = f"{SUBSCRIPTS[h + 1]}{mark}", journey.cfg.head_width
        wq, wk, wv = (w[:, h * d : (h + 1) * d] for w in (p.w_q, p.w_k, p.w_v))
        page.below(x)
        w_q = page.given(f"WQ{name}", wq)
        if x is memory:
            w_k, w_v = page.given(f"WK{name}", wk), page.given(f"WV{name}", wv)
            page.below()
            x = memory = page.taken(x)
            q = steps.product(page, f"Q{name}", x, w_q)
        else:
            page.below()
            q = steps.product(page, f"Q{name}", page.taken(x), w_q)
            page.below(memory)
            w_k, w_v = page.given(f"WK{name}", wk), page.given(f"WV{name}", wv)
            page.below()
            memory = page.taken(memory)
        k, v = steps.product(page, f"K{name}", memory, w_k), steps.product(page, f"V{name}", memory, w_v)

        page.below()
        scores = steps.product(page, f"S{name}", q, k.T)
        scores = steps.divide(page, f"scaled{name}", scores, self.the_divisor(page, q))
        hidden = mark == MASKED.mark
        if hidden:
            scores = steps.masked(page, f"masked{name}", scores, page.taken(self.mask))
        return steps.product(page, f"head{name}", steps.softmax(page, f"A{name}", scores, hidden), v)

    def the_divisor(self, page: Page, q: Block) -> Block:
        """What scores are divided by: the root of the width of a query, if nobody types another number."""
        if self.divisor is not None:
            return page.taken(self.divisor)
        width = steps.width(page, "d_k", q)
        self.divisor = page.given("divisor", len(q.cols) ** 0.5, ALONE, ALONE, starts=f"SQRT({width.fixed()})")
        return self.divisor

    def attention(self, sort: Attention, p: MultiHead, x: Block, memory: Block) -> Block:
        """A sheet for each head, and one for both: side by side, times WO."""
        made = []
        for h, chapters in enumerate(sort.chapters):
            page = self.page(f"{sort.tab} {h + 1}", f"{sort.title}, head {h + 1}", sort.says, *chapters)
            made.append(self.head(page, p, h, x, memory, sort.mark))
        says = "What the heads found stands side by side, and WO mixes it: Z = heads WO."
        page = self.page(f"Both {sort.tab.lower()}s", f"{sort.title}, both heads", says, *sort.chapters[-1])
        one, other = (page.taken(head) for head in made)
        page.below()
        page.skip(1 + len(p.w_o))
        w_o = page.given(f"WO{sort.mark}", p.w_o)
        page.below()
        heads = steps.concat(page, f"heads{sort.mark}", one, other)
        return steps.product(page, f"Z{sort.mark}", heads, w_o)

    # -- what stands around it

    def add_and_norm(self, tab: str, title: str, x: Block, inner: Block, p: LayerNorm, called: str, *chapters) -> Block:
        """``LN(x + inner)``"""
        says = f"The residual keeps what came in; the norm brings each row to mean 0 and variance 1. {called}"
        page = self.page(tab, title, says, *chapters)
        total = steps.add(page, "sum", page.taken(x), page.taken(inner))
        page.below()
        gamma, beta = page.given("γ", p.gamma, ALONE), page.given("β", p.beta, ALONE)
        if self.eps is None:
            eps = self.eps = page.given("ε", journey.cfg.eps, ALONE, ALONE, "plain")
        else:
            eps = page.taken(self.eps)
        page.below()
        return steps.layer_norm(page, called.partition(" ")[0], total, gamma, beta, eps)

    def feed_forward(self, side: str, x: Block, p: FeedForward, mark: str = "") -> Block:
        """``max(0, x W_1 + b_1) W_2 + b_2``"""
        w1, b1, w2, b2 = (f"{name}{mark}" for name in ("W₁", "b₁", "W₂", "b₂"))
        says = f"Each row alone: widened by {w1}, bent at 0, narrowed by {w2}."
        formula = f"F{mark} = max(0, {x.name} {w1} + {b1}) {w2} + {b2}"
        page = self.page("Feed-forward", f"{side}: feed-forward", f"{says} {formula}", 7)
        page.below(x)
        w_1 = page.given(w1, p.w_1)
        page.below(x)
        b_1 = page.given(b1, p.b_1, ALONE)
        page.below()
        before = steps.affine(page, f"before{mark}", page.taken(x), w_1, b_1)
        page.below(before)
        w_2 = page.given(w2, p.w_2)
        page.below(before)
        b_2 = page.given(b2, p.b_2, ALONE)
        page.below()
        return steps.affine(page, f"F{mark}", steps.relu(page, f"hidden{mark}", before), w_2, b_2)

    # -- the two stacks, and what comes out

    def encoder(self, words: Sequence[str]) -> tuple[Block, Block]:
        """Return the positions and the memory."""
        layer, tab, title = self.params.encoder[0], "Add and norm", "Encoder: add & norm"
        says = "Each word is looked up in the table: a one-hot row times the table is the word's row. E = one-hot table"
        page = self.page("Embedding", "Words become rows of numbers", says, 2)
        pe, x = self.positions(self.embedding(page, words, words, self.params.src_embedding), len(TARGET))
        z = self.attention(SELF, layer.self_attention, x, x)
        u = self.add_and_norm(tab, f"{title} 1", x, z, layer.norm_1, "U = LN₁(X + Z)", 8, 9)
        f = self.feed_forward("Encoder", u, layer.feed_forward)
        called = "memory = X⁽¹⁾ = LN₂(U + F)"
        return pe, self.add_and_norm("Memory", f"{title} 2, the memory", u, f, layer.norm_2, called, 9, 10)

    def decoder(self, words: Sequence[str], vocabulary: Sequence[str], pe: Block, memory: Block) -> Block:
        """Return the decoder's rows."""
        layer, tab, title = self.params.decoder[0], "Add and norm", "Decoder: add & norm"
        says = "What the decoder has read, looked up in a table of its own, with the same positions. Y = E′ + PE"
        page = self.page("Target", "Decoder: words and positions", says, 2, 3, 12)
        e = self.embedding(page, words, vocabulary, self.params.tgt_embedding, "′")
        page.below()
        y = steps.add(page, "Y", e, page.taken(pe))
        says = (
            "M says who (row) may attend to whom (column). 1 is True, may attend. 0 is False, hidden: it comes later."
        )
        page = self.page("Mask", "Decoder: nobody looks ahead", says, 11)
        self.mask = page.given("M", causal_mask(len(words)).astype(int), y.rows, y.rows)

        z = self.attention(MASKED, layer.self_attention, y, y)
        y = self.add_and_norm(tab, f"{title} 1", y, z, layer.norm_1, "Y′ = LN₁(Y + Z′)", 9, 12)
        z = self.attention(CROSS, layer.cross_attention, y, memory)
        y = self.add_and_norm(tab, f"{title} 2", y, z, layer.norm_2, "Y″ = LN₂(Y′ + Z″)", 9, 12)
        f = self.feed_forward("Decoder", y, layer.feed_forward, "′")
        return self.add_and_norm(tab, f"{title} 3", y, f, layer.norm_3, "Y‴ = LN₃(Y″ + F′)", 9, 12)

    def probabilities(self, y: Block, vocabulary: Sequence[str]) -> tuple[Block, Block]:
        """Return the probabilities, and the most probable word of each row."""
        says = "A score for each word of the vocabulary. logits = Y‴ Wout + bout"
        page = self.page("Logits", "Scores for the next word", says, 13)
        page.below(y)
        w = page.given("Wout", self.params.output.weight, cols=vocabulary)
        page.below(y)
        b = page.given("bout", self.params.output.bias, ALONE, vocabulary)
        page.below()
        logits = steps.affine(page, "logits", page.taken(y), w, b)
        says = "Each row says which word may come after the words read so far; the last row is new. p = softmax(logits)"
        page = self.page("Probabilities", "Out come probabilities", says, 13)
        p = steps.softmax(page, "p", page.taken(logits))
        return p, steps.most_probable(page, "next word", p)


def _listed(chapters: Sequence[int]) -> str:
    *first, last = map(str, chapters)
    return f"Chapters {', '.join(first)} and {last}" if first else f"Chapter {last}"


# ---------------------------------------------------------------- the first sheet

SAYS = (
    "Every step of a small Transformer, a sheet each. Each number is a formula of numbers before it: change an input, "
    "and all that follows changes."
)
ABOUT = (
    'It is the model of the pages "One number, followed" and "The machine": width 4, two heads of width 3, one encoder '
    "layer and one decoder layer.",
    "Another layer would be the same sheets once more, with weights of its own; the paper has six of each. Nothing is "
    "trained, so the words that win mean nothing.",
    "Embeddings and attention matrices of the encoder are those of the running example. The other weights were drawn "
    "once.",
)
COLOURS = {
    "given": "may be changed: a word, an embedding, a weight, the divisor, a choice",
    "taken": "taken from a sheet before",
    "computed": "computed on its sheet: click it to see the formula",
    "handed on": "computed, and taken by another sheet",
}
TRY = (
    (
        "1 Embedding",
        "Change a number of Hello, or let World come first. Then look here again, and at the sheets between.",
    ),
    (
        "2 Positions",
        'Choose "published", and type 30 as divisor on "3 Head 1": sheets 3 to 6 show what chapters 4, 6 and 9 print.',
    ),
    ("3 Head 1", "Type a divisor: 1, 30, 1000. What becomes of the shares A₁?"),
    ("6 Add and norm", "Set all γ to 0. Why does no change of Hello reach p any more?"),
    ("10 Mask", "Set a 0 to 1. Which rows of p change, and why does the last one stay?"),
    ("11 Masked head 1", "Why is the first row of A₁′ 1, 0, 0, whatever the scores are?"),
)


def _start(page: Page, book: Book, p: Block, word: Block) -> None:
    """What came out, how the model is made, the colours, the sheets, and what to try."""
    page.below()
    page.taken(word)
    page.taken(p, "p, after the words up to here")
    for text in ABOUT:
        page.line((1, text, "note"))
    page.line()
    page.line((1, "Colours", "name"))
    for kind, text in COLOURS.items():
        page.line((1, "", kind), (2, text, "note"))
    page.line((2, "Shares and probabilities are the bluer the larger they are.", "note"))
    page.line()
    page.line((1, "The way", "name"))
    for there in book.pages[1:]:
        page.line((1, there.name, "link"), (4, there.more, "note"), (7, there.title, "note"))
    page.line()
    page.line((1, "Things to try", "name"))
    for name, text in TRY:
        page.line((1, name, "link"), (4, text, "note"))


def hello_world() -> Book:
    """Return the sheets of "Hello World"; its method `file` gives the bytes of an .xlsx file.

    Examples
    --------
    >>> book = hello_world()
    >>> [page.name for page in book.pages][:4]
    ['Start', '1 Embedding', '2 Positions', '3 Head 1']
    >>> book["22 Probabilities"].blocks["next word"].result.tolist()
    [['EOS'], ['SOS'], ['c']]
    """
    book = Book()
    start = book.page("Start", "Hello World, from words to probabilities", SAYS)
    way = _Way(book, journey.params)
    pe, memory = way.encoder(journey.source)
    y = way.decoder(TARGET, journey.words, pe, memory)
    _start(start, book, *way.probabilities(y, journey.words))
    return book
