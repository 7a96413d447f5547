"""The machine: a whole small Transformer, each of its numbers in a cell that can be changed."""

from __future__ import annotations

import html as _html
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from toytf import byhand
from toytf.attention import MultiHead
from toytf.byhand import Operand, Working, panels
from toytf.corpus import Vocabulary
from toytf.live.element import Element, bars
from toytf.ops import Array, LayerNorm, layer_norm
from toytf.parameters import Config, FeedForward, Transformer
from toytf.positions import sinusoids, sinusoids_column_as_i

SUBSCRIPTS = str.maketrans("123456789", "₁₂₃₄₅₆₇₈₉")
NEEDS = ("machine_steps", "machine_cells")  # scripts beside machine.js


def machine(
    params: Transformer,
    cfg: Config,
    *,
    source: Sequence[str],
    target: Sequence[str],
    words: Sequence[str],
    published,
    positions: str = "paper",
    until: str | None = None,
    id: str = "machine",
) -> Element:
    """Change any number of a Transformer and see all that follows, from the embeddings to the next word::

        p = softmax(decoder(target, encoder(source)) W_out + b_out)

    Parameters
    ----------
    params : Transformer
    cfg : Config
        One encoder layer and one decoder layer, as in the paper: the norm after the residual, ReLU, no biases in the
        attention. The switches of the page take it from there.
    source : sequence of str
        The source sentence; its words are the first rows of ``params.src_embedding``.
    target : sequence of str
        Words of the target. At first the decoder has read the first of them; a switch lets it read more.
    words : sequence of str
        The target vocabulary.
    published : array_like, shape (position, d_model)
        Positional encodings as a source printed them, for the switch "as published"; positions that it did not print
        are computed by its formula (`toytf.positions.sinusoids_column_as_i`).
    positions : {"paper", "published", "none"}
        Those at the start.
    until : {"attention"}, optional
        Stop there: the embeddings and the encoder's first head.
    id : str
        The element's address on its page.

    Returns
    -------
    Element

    Raises
    ------
    ValueError
        If the model is another one than is described above.

    Notes
    -----
    *Attention Is All You Need*, section 3 and figure 1.

    The address says what differs from the start: ``#machine?divisor=30&enc.w_q.0.1=2.5``. A cell is named by its
    matrix, its row and its column, counted from 0 as in the code:

    - ``src``, ``tgt``: the embeddings, a row for each word of the vocabulary
    - ``enc.``, ``dec.``, ``cross.`` with ``w_q``, ``w_k``, ``w_v``, ``w_o``: the attention of the encoder, of the
      decoder, and between the two. Columns go through the heads: with heads of width 3, column 3 is the second head's
      first.
    - ``enc.``, ``dec.`` with ``w_1``, ``b_1``, ``w_2``, ``b_2``: the feed-forward networks
    - ``enc.``, ``dec.`` with ``gamma_1``, ``beta_1``, ``gamma_2``, ...: the norms in their order; ``gamma`` and
      ``beta`` alone are the last norm of a stack, which is there if the norm comes first
    - ``out.w``, ``out.b``: the linear map at the end

    The switches are ``positions=paper|published|none``, ``divisor``, ``residual=on|off``, ``norm=post|none|pre``,
    ``mask=on|off``, ``softmax=safe|naive`` and ``target``, the count of the words read.

    Examples
    --------
    >>> from toytf import live
    >>> from toytf.course.journey import cfg, params, source, words
    >>> from toytf.example import POSITIONS_PRINTED
    >>> target = ["SOS", "hola", "mundo"]
    >>> touch = live.machine(params, cfg, source=source, target=target, words=words, published=POSITIONS_PRINTED)
    >>> print(touch.text.splitlines()[0])
    X = E + PE (2 x 4)
    """
    plain = replace(
        cfg, n_encoder_layers=1, n_decoder_layers=1, norm="post", residual=True, scale=True, causal=True,
        activation="relu", cross_attention=True, bias=False, scale_embeddings=False,
    )  # fmt: skip
    if plain != cfg:
        raise ValueError(f"cfg: expected {plain}, with which the page's switches can begin, got {cfg}")
    ids = Vocabulary(words).ids(target)
    n = max(len(source), len(target))
    continued = sinusoids_column_as_i(n, cfg.d_model)[len(published) :]
    tables = {"paper": sinusoids(n, cfg.d_model), "published": np.vstack([published, continued])[:n]}
    tables["none"] = np.zeros((n, cfg.d_model))

    way = _Way(params, cfg, tuple(source), tuple(target), tuple(words), tables[positions])
    way.encoder(until)
    if until is None:
        way.decoder(ids)
    named = way.named()
    data = {
        "cfg": cfg, "start": math.sqrt(cfg.head_width), "positions": positions, "tables": tables, "until": until,
        "source": source, "target": target, "words": words, "ids": ids, "cells": way.cells,
        "steps": way.plan,
        "matrices": {name: matrix for name, matrix in matrices(params, cfg).items() if name in named},
    }  # fmt: skip
    return Element("machine", way.title(until), data, way.html(until), way.text(until), id, NEEDS)


def matrices(params: Transformer, cfg: Config) -> dict[str, Array]:
    """Return every array of the model by the name that it has in an address.

    Examples
    --------
    >>> from toytf.course.journey import cfg, params
    >>> matrices(params, cfg)["enc.w_q"].shape
    (4, 6)
    """
    found = {"src": params.src_embedding, "tgt": params.tgt_embedding}
    for side, layer, more in (("enc", params.encoder[0], ""), ("dec", params.decoder[0], "cross")):
        for name, attention in ((side, layer.self_attention), (more, more and layer.cross_attention)):
            if name:
                found |= {f"{name}.{w}": getattr(attention, w) for w in ("w_q", "w_k", "w_v", "w_o")}
        found |= {f"{side}.{name}": array for name, array in vars(layer.feed_forward).items()}
        for k in (1, 2, 3)[: 3 if more else 2]:
            norm = getattr(layer, f"norm_{k}")
            found |= {f"{side}.gamma_{k}": norm.gamma, f"{side}.beta_{k}": norm.beta}
        found |= {f"{side}.gamma": np.ones(cfg.d_model), f"{side}.beta": np.zeros(cfg.d_model)}
    return found | {"out.w": params.output.weight, "out.b": params.output.bias}


# ---------------------------------------------------------------- the steps


@dataclass
class _Way:
    """The steps from the words to the probabilities, each as a table with what it was made of."""

    params: Transformer
    cfg: Config
    source: tuple[str, ...]
    target: tuple[str, ...]
    words: tuple[str, ...]
    positions: Array
    steps: list = field(default_factory=list)  # headings, and (key, working, whether it is seen at first)
    plan: list = field(default_factory=list)  # what machine_steps.js computes, step by step
    cells: dict = field(default_factory=dict)  # by the key of a step: which weights stand in it

    # -- the three kinds of steps

    def put(
        self, key: str, working: Working, op: str, of: Sequence[str] = (), w: Sequence[str] = (), **more
    ) -> Working:
        """Add a step: `op` of the steps `of` and the arrays `w`; its rows are those of the source or of the target.

        Of a step that a switch can leave out, `when` says the switch, and `or` which one of `of` stands in its place.
        """
        self.steps.append((key, working, more.get("when") not in ("pre", "mask")))
        step = {"key": key, "op": op, "of": list(of), "w": list(w), "rows": self.side(key), "or": 0}
        self.plan.append(step | more)
        return working

    def weights(self, key: str, *blocks: tuple) -> None:
        """Say which weights stand in a step: blocks below each other, ``(name, what it is called, rows, shift)``."""
        self.cells[key] = [dict(zip(("name", "says", "rows", "shift"), block, strict=True)) for block in blocks]

    def rows(self, side: str, name: str, table: Array, ids, rows, mark: str, where: str) -> Working:
        """Embeddings, and with their positions."""
        e = self.put(f"{side}.E", byhand.table(table[ids], f"E{mark}", rows=rows), "look", w=[name])
        self.weights(f"{side}.E", (name, [f"{where}, embedding of {row}" for row in rows], list(ids), 0))
        pe = byhand.table(self.positions[: len(rows)], f"PE{mark}", rows=rows)
        self.put(f"{side}.PE", pe, "positions", when="positions")
        of = [f"{side}.E", f"{side}.PE"]
        return self.put(f"{side}.X", byhand.add(e, pe, f"X{mark}"), "add", of, when="positions")

    def attention(self, part, name, p: MultiHead, x, memory, mark, where, heading, heads=None) -> Working:
        """The heads of an attention, then the output matrix."""
        d = self.cfg.head_width
        asked, cols = (
            (f"{part}.N", "source" if part == "enc.att" else "target") if memory is x else ("enc.last", "source")
        )
        outputs = []
        for h in range(heads or self.cfg.n_heads):
            n = str(h + 1)
            more = ", and all heads together" if h + 1 == self.cfg.n_heads > 1 else ""
            self.steps.append(f"{heading}, head {n}{more}")
            if h == 0:
                self.norm_first(part, x, where)
            sub = n.translate(SUBSCRIPTS) + mark
            made = []
            for letter, rows, of in (("Q", x, f"{part}.N"), ("K", memory, asked), ("V", memory, asked)):
                key, array = f"{part}.{letter}{n}", f"w_{letter.lower()}"
                w = byhand.table(getattr(p, array)[:, h * d : (h + 1) * d], f"W{letter}{sub}")
                block = {"from": h * d, "to": (h + 1) * d, "rows": cols if letter in "KV" else self.side(part)}
                product = byhand.matmul(rows, w, f"{letter}{sub}")
                made.append(self.put(key, product, "product", [of], [f"{name}.{array}"], **block))
                says = f"{where}, W_{letter} of head {n}"
                self.weights(key, (f"{name}.{array}", says, list(range(len(w.result))), h * d))
            q, k, v = made

            def at(*letters, n=n):
                return [f"{part}.{letter}{n}" for letter in letters]

            s = self.put(*at("S"), byhand.matmul(q, k.T, f"S{sub}"), "dots", at("Q", "K"), cols=cols)
            scaled = byhand.divide(s, d, f"scaled{sub}", root=True)
            self.put(*at("scaled"), scaled, "divide", at("S"), cols=cols, width=d)
            if part == "dec.att":
                scores = Operand(scaled.name, scaled.result, scaled.rows, scaled.cols, source=scaled)
                made = (scaled.result, scaled.rows, scaled.cols)
                masked = Working(f"masked{sub}", f"{scaled.name} + mask", *made, operands=(scores,))
                self.put(*at("masked"), masked, "mask", at("scaled"), cols=cols, when="mask")
            a = byhand.softmax(scaled, f"A{sub}", subtract_max=True, sci=True)
            self.put(*at("A"), a, "softmax", at("masked" if part == "dec.att" else "scaled"), cols=cols, sci=True)
            mixed = byhand.weighted_sum(a, v, f"head{sub}")
            outputs.append(self.put(*at("head"), mixed, "mix", at("A", "V"), causal=part == "dec.att"))
        if heads:
            return outputs[-1]
        of = [f"{part}.head{h + 1}" for h in range(len(outputs))]
        both = self.put(f"{part}.heads", byhand.concat(*outputs, name=f"heads{mark}"), "concat", of)
        w_o = byhand.table(p.w_o, f"WO{mark}")
        self.weights(f"{part}.Z", (f"{name}.w_o", f"{where}, W_O", list(range(len(p.w_o))), 0))
        return self.put(
            f"{part}.Z", byhand.matmul(both, w_o, f"Z{mark}"), "product", [f"{part}.heads"], [f"{name}.w_o"]
        )

    def side(self, part: str) -> str:
        return "source" if part.startswith("enc") else "target"

    def feed_forward(self, part, name, p: FeedForward, x, mark, where, heading) -> Working:
        self.steps.append(heading)
        self.norm_first(part, x, where)
        first, second = ([f"{name}.w_{k}", f"{name}.b_{k}"] for k in (1, 2))
        before = self.affine(x, p.w_1, p.b_1, f"before{mark}", f"W₁{mark}", f"b₁{mark}")
        self.put(f"{part}.before", before, "affine", [f"{part}.N"], first)
        self.weights(f"{part}.before", *_stacked(name, "w_1", "b_1", where, "W_1", "b_1", len(p.w_1)))
        hidden = self.put(f"{part}.hidden", byhand.relu(before, f"hidden{mark}"), "relu", [f"{part}.before"])
        self.weights(f"{part}.F", *_stacked(name, "w_2", "b_2", where, "W_2", "b_2", len(p.w_2)))
        out = self.affine(hidden, p.w_2, p.b_2, f"F{mark}", f"W₂{mark}", f"b₂{mark}")
        return self.put(f"{part}.F", out, "affine", [f"{part}.hidden"], second)

    def affine(self, x: Working, weight, bias, name, w, b) -> Working:
        """``x W + b``; the bias stands below the matrix, as a row more."""
        cols = tuple(str(j + 1) for j in range(len(bias)))
        rows = (*(str(k + 1) for k in range(len(weight))), b)
        factors = (
            Operand(x.name, x.result, x.rows, x.cols, "row", source=x),
            Operand(f"{w} over {b}", np.vstack([weight, bias]), rows, cols, "column"),
        )
        result = x.result @ weight + bias
        formula = f"{x.name} {w} + {b}"
        return Working(name, formula, result, x.rows, cols, operands=factors, layout="product")

    def add_and_norm(self, part, x, inner, name, where, heading) -> Working:
        self.steps.append(heading)
        of = [INTO[part], f"{part}.F" if part.endswith("ff") else f"{part}.Z"]
        total = self.put(f"{part}.T", byhand.add(x, inner, f"{name}, before"), "add", of, when="residual", **{"or": 1})
        return self.norm(f"{part}.U", total, f"{part}.T", name, where, *NORMS[part], when="post")

    def norm_first(self, part, x, where) -> None:
        """Where the norm comes first it stands here; at the start it is not seen."""
        side, k = NORMS[part]
        name = f"N{str(k).translate(SUBSCRIPTS)}{'′' if side == 'dec' else ''}"
        self.norm(f"{part}.N", x, INTO[part], name, where, side, k)

    def norm(self, key, x, of, name, where, side, k, when="pre") -> Working:
        layer = {"enc": self.params.encoder, "dec": self.params.decoder}[side][0]
        p = getattr(layer, f"norm_{k}") if k else LayerNorm(np.ones(self.cfg.d_model), np.zeros(self.cfg.d_model))
        factors = (
            Operand(x.name, x.result, x.rows, x.cols, "row, cell", source=x),
            Operand("γ over β", np.vstack([p.gamma, p.beta]), ("γ", "β"), x.cols, "column"),
        )
        result, _ = layer_norm(p, x.result, self.cfg.eps)
        mark, called = (f"_{k}", f"{where}, norm {k}") if k else ("", f"{where}, last norm")
        self.weights(key, *((f"{side}.{name}{mark}", f"{called}, {name}", None, 0) for name in ("gamma", "beta")))
        made = Working(name, f"LN({x.name})", result, x.rows, x.cols, operands=factors, layout="product")
        return self.put(key, made, "norm", [of], [f"{side}.{name}{mark}" for name in ("gamma", "beta")], when=when)

    # -- the two stacks

    def encoder(self, until: str | None) -> None:
        p, where = self.params.encoder[0], "Encoder"
        self.steps.append("Source words: embedding and positions")
        x = self.rows("enc", "src", self.params.src_embedding, range(len(self.source)), self.source, "", where)
        heads = 1 if until else None
        z = self.attention("enc.att", "enc", p.self_attention, x, x, "", where, "Encoder: self-attention", heads)
        if until:
            return
        u = self.add_and_norm("enc.att", x, z, "U", where, "Encoder: add & norm 1")
        f = self.feed_forward("enc.ff", "enc", p.feed_forward, u, "", where, "Encoder: feed-forward")
        memory = self.add_and_norm("enc.ff", u, f, "memory", where, "Encoder: add & norm 2, the memory")
        self.norm("enc.last", memory, "enc.ff.U", "normed memory", where, "enc", None)
        self.memory = memory

    def decoder(self, ids) -> None:
        p, where = self.params.decoder[0], "Decoder"
        self.steps.append("Target words: embedding and positions")
        y = self.rows("dec", "tgt", self.params.tgt_embedding, ids[:1], self.target[:1], "′", where)
        names = [f"{where}, embedding of {word}" for word in self.target]
        self.weights("dec.E", ("tgt", names, list(ids), 0))
        z = self.attention("dec.att", "dec", p.self_attention, y, y, "′", where, "Decoder: masked self-attention")
        u = self.add_and_norm("dec.att", y, z, "Y", where, "Decoder: add & norm 1")
        cross, heading = p.cross_attention, "Decoder: cross-attention"
        z = self.attention("dec.cross", "cross", cross, u, self.memory, "″", "Cross-attention", heading)
        y = self.add_and_norm("dec.cross", u, z, "Y₂", where, "Decoder: add & norm 2")
        f = self.feed_forward("dec.ff", "dec", p.feed_forward, y, "′", where, "Decoder: feed-forward")
        out = self.add_and_norm("dec.ff", y, f, "out", where, "Decoder: add & norm 3")
        self.norm("dec.last", out, "dec.ff.U", "normed out", where, "dec", None)
        self.steps.append("Linear and softmax: the next word")
        weight, bias = self.params.output.weight, self.params.output.bias
        scores = byhand.matmul(out, byhand.table(weight, "Wout", cols=self.words), "scores")
        self.put("out.scores", scores, "product", ["dec.last"], ["out.w"])
        self.weights("out.scores", ("out.w", "Output, W", list(range(len(weight))), 0))
        factors = (
            Operand("scores", scores.result, scores.rows, scores.cols, "cell", source=scores),
            Operand("bout", bias[None], ("b",), scores.cols, "column"),
        )
        made = (scores.result + bias, scores.rows, scores.cols)
        logits = Working("logits", "scores + bout", *made, operands=factors, layout="product")
        self.put("out.logits", logits, "bias", ["out.scores"], ["out.b"])
        self.weights("out.logits", ("out.b", "Output, b", None, 0))
        self.put("out.p", byhand.softmax(logits, "p", subtract_max=True), "softmax", ["out.logits"])

    # -- showing

    def named(self) -> set[str]:
        """The names of the arrays whose cells are shown."""
        return {block["name"] for blocks in self.cells.values() for block in blocks}

    def title(self, until) -> str:
        return f"Change a number: {'what does this head give' if until else 'which word comes next'}?"

    def parts(self) -> Iterator[tuple[str, list]]:
        """Each heading with its steps."""
        at = [k for k, step in enumerate(self.steps) if isinstance(step, str)]
        for k, end in zip(at, [*at[1:], len(self.steps)], strict=True):
            yield self.steps[k], self.steps[k + 1 : end]

    def html(self, until) -> str:
        known: list[Working] = []
        out = []
        for heading, steps in self.parts():
            inside = ""
            for key, working, seen in steps:
                panel = panels.panel(working, known, in_chain=True)
                added = f'\\1 data-step="{key}"{"" if seen else " hidden"}'
                inside += re.sub(r'^(<div class="byhand [^"]*")', added, panel)
                known.append(working)
            opened = " open" if until or not out else ""
            out.append(
                f'<details class="byhand-part"{opened}><summary>{_html.escape(heading)}</summary>'
                f'<div class="byhand-beside">{inside}</div></details>'
            )
        first = ""
        if until is None:
            first = bars(self.words, self.last("out.p").result[-1], f"The next word after {self.target[0]}")
        return f'{first}<div class="byhand-chain">{"".join(out)}</div>'

    def last(self, key: str) -> Working:
        return next(step[1] for step in self.steps if step[0] == key)

    def text(self, until) -> str:
        keys = ("enc.X", "enc.att.A1", "enc.att.head1") if until else ("enc.X", "enc.ff.U", "dec.ff.U", "out.p")
        return "\n\n".join(replace(self.last(key), entries=()).text() for key in keys)


# Of each sub-layer: the step that goes in, and the norm beside it
INTO = {
    "enc.att": "enc.X",
    "enc.ff": "enc.att.U",
    "dec.att": "dec.X",
    "dec.cross": "dec.att.U",
    "dec.ff": "dec.cross.U",
}
NORMS = {
    "enc.att": ("enc", 1), "enc.ff": ("enc", 2), "dec.att": ("dec", 1), "dec.cross": ("dec", 2), "dec.ff": ("dec", 3),
}  # fmt: skip


def _stacked(name, w, b, where, called_w, called_b, n) -> tuple[tuple, tuple]:
    return (f"{name}.{w}", f"{where}, {called_w}", list(range(n)), 0), (f"{name}.{b}", f"{where}, {called_b}", None, 0)
