"""The machine: a whole small Transformer, each of its numbers in a cell that can be changed."""

from __future__ import annotations

import html as _html
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from toytf import byhand
from toytf.byhand import Operand, Working, panels
from toytf.corpus import SOS, Vocabulary
from toytf.live import translator as sentences
from toytf.live.element import SUBSCRIPTS, Element, bars
from toytf.ops import Array, LayerNorm, layer_norm
from toytf.parameters import Config, FeedForward, Transformer
from toytf.positions import sinusoids, sinusoids_column_as_i
from toytf.translator import Translator
from toytf.tree import count, named_arrays

NEEDS = ("machine_steps", "machine_cells")  # scripts beside machine.js
TOP = 8  # the most probable of many words
TASKS = {
    "hola": "<b>Make it say <i>hola</i></b> where it says something else, by changing one number.",
    "overflow": "<b>Make it overflow, and mend it</b>: NaN or ∞ arises, and goes without a number being put back.",
    "order": "<b>Make it forget the word order</b>: its words in another order give the same, other words do not.",
}
HINT = "It learned greetings, and sentences like “the cat wants a red hat”."


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
        activation="relu", cross_attention=True, bias=False,
    )  # fmt: skip
    if plain != cfg:
        raise ValueError(f"cfg: expected {plain}, with which the page's switches can begin, got {cfg}")
    n = max(len(source), len(target))
    continued = sinusoids_column_as_i(n, cfg.d_model)[len(published) :]
    tables = _tables(n, cfg) | {"published": np.vstack([published, continued])[:n]}
    arrays = matrices(params, cfg)
    vocabularies = {"source": list(source), "target": list(words)}
    plan = _Plan(arrays, cfg, {"source": source, "target": target[:1]}, vocabularies, tables[positions])
    data = {"until": until, "source": source, "target": target, "positions": positions, "tables": tables}
    title = f"Change a number: {'what does this head give' if until else 'which word comes next'}?"
    return plan.element(title, data, arrays, id, NEEDS)


def trained_machine(sentence: str = "hello red world", *, id: str = "trained") -> Element:
    """Do the same with the trained translator, on a sentence of the reader's own::

        p = softmax(decoder(words so far, encoder(sentence)) W_out + b_out)

    Parameters
    ----------
    sentence : str
        The sentence at the start, of words of `toytf.grammar`. The decoder reads, word by word, what the unchanged
        translator writes.
    id : str
        The element's address on its page, ``#trained?sentence=hello+world&target=2&dec.gamma_1.0=2``.

    Returns
    -------
    Element

    Raises
    ------
    KeyError
        If a word is not in the vocabulary.
    ValueError
        If there is no word, or more words than in the sentences that it learned from.

    Notes
    -----
    *Attention Is All You Need*, section 3. The cells and the switches are those of `machine`.

    Examples
    --------
    >>> print(trained_machine("hello world").title)
    Change one of 8,896 numbers: which word comes next?
    """
    model, source = Translator.load(), sentence.split()
    most = sentences.longest_learned()
    if not 1 <= len(source) <= most:
        raise ValueError(f"sentence: expected from 1 to {most} words, got {len(source)}")
    arrays, paths = matrices(model.params, model.cfg), named_arrays(model.params)
    stored = {name: next((path for path, a in paths.items() if a is array), array) for name, array in arrays.items()}
    vocabularies = {
        side: [sentences.named(word) for word in vocab]
        for side, vocab in (("source", model.src_vocab), ("target", model.tgt_vocab))
    }
    tables = _tables(most + 1, model.cfg)
    seen = {"source": source, "target": [sentences.named(SOS)]}
    plan = _Plan(arrays, model.cfg, seen, vocabularies, tables["paper"])
    data = {"sentence": sentence, "positions": "paper", "tables": tables, "top": TOP, "most": most, "learned": most}
    data |= {"hint": HINT, "until": None, "examples": list(sentences.EXAMPLES), **sentences.vocabulary()}
    title = f"Change one of {count(model.params):,} numbers: which word comes next?"
    return plan.element(title, data, stored, id, ("trained", "sentence", *NEEDS))


def rules(rows, p: FeedForward, *, words: Sequence[str], features: Sequence[str], id: str = "rules") -> Element:
    """Change the rules of a feed-forward network, each a column of W_1 with its bias below, or the rows they read::

        hidden = max(0, rows W_1 + b_1)

    Parameters
    ----------
    rows : array_like, shape (word, feature)
    p : FeedForward
        A hidden unit for each rule; its second map is not shown.
    words, features : sequence of str
        What rows and columns are called.
    id : str
        The element's address on its page, ``#rules?enc.w_1.0.1=1&enc.b_1.1=-1``.

    Returns
    -------
    Element

    Examples
    --------
    >>> import numpy as np
    >>> p = FeedForward(np.array([[1.0], [1.0]]), np.array([-1.0]), np.zeros((1, 2)), np.zeros(2))
    >>> print(rules(np.eye(2), p, words=["cat", "runs"], features=["noun", "verb"]).title)
    Write a rule: for which word does it hold?
    """
    arrays, cfg = {"src": np.asarray(rows, float), "enc.w_1": p.w_1, "enc.b_1": p.b_1}, Config(1, 1)
    plan = _Plan(arrays, cfg, {"source": words}, {"source": list(words), "target": []}, None, features, 2)
    plan.parts.append(("Rows and rules", []))
    plan.put("enc.X", "rows", "look", w=[("src", "row of")])
    plan.put("enc.before", "before", "affine", ["enc.X"], [("enc.w_1", "W₁"), ("enc.b_1", "b₁")], ["W₁", "b₁"])
    plan.put("enc.hidden", "hidden", "relu", ["enc.before"])
    data = {"until": "rules", "source": words, "target": [""], "positions": "none", "tables": {}, "decimals": 2}
    return plan.element("Write a rule: for which word does it hold?", data, arrays, id, NEEDS)


def _tables(n: int, cfg: Config) -> dict[str, Array]:
    """The positional encodings of every model; without them a table is not added.

    Sine and cosine differ between processors in their last bit, which a page must not.
    """
    return {"paper": sinusoids(n, cfg.d_model).round(12), "none": np.zeros((n, cfg.d_model))}


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


def _side(key: str) -> str:
    return "source" if key.startswith("enc") else "target"


def _product(name: str, formula: str, result: Array, x: Working, other: Operand, lights="row") -> Working:
    """A panel of a step that `byhand` has not: its two factors, side by side."""
    first = Operand(x.name, x.result, x.rows, x.cols, lights, source=x)
    return Working(name, formula, result, x.rows, other.cols, operands=(first, other), layout="product")


def _block(step, w, called, cols=None) -> Working:
    return byhand.table(w[:, step.get("from") : step.get("to")], called, cols=cols)


def _alone(name: str, formula: str, x: Working, result=None) -> Working:
    """Each entry from the one in its place."""
    of = Operand(x.name, x.result, x.rows, x.cols, source=x)
    return Working(name, formula, x.result if result is None else result, x.rows, x.cols, operands=(of,))


def _affine(name: str, x: Working, weight, bias, w, b) -> Working:
    """``x W + b``; the bias stands below the matrix, as a row more."""
    cols = tuple(str(k + 1) for k in range(len(bias)))
    stacked = Operand(f"{w} over {b}", np.vstack([weight, bias]), (*x.cols, b), cols, "column")
    return _product(name, f"{x.name} {w} + {b}", x.result @ weight + bias, x, stacked)


def _bias(name: str, x: Working, bias, called) -> Working:
    other = Operand(called, bias[None], ("b",), x.cols, "column")
    return _product(name, f"{x.name} + {called}", x.result + bias, x, other, "cell")


def _norm(name: str, x: Working, gamma, beta, eps) -> Working:
    other = Operand("γ over β", np.vstack([gamma, beta]), ("γ", "β"), x.cols, "column")
    return _product(name, f"LN({x.name})", layer_norm(LayerNorm(gamma, beta), x.result, eps)[0], x, other, "row, cell")


# The panel of each kind of step, of those before it and of arrays; machine_steps.js has the same kinds
PANELS = {
    "look": lambda plan, name, step, w: byhand.table(
        w[plan.ids(step["rows"])], name, rows=plan.labels[step["rows"]], cols=plan.columns
    ),
    "positions": lambda plan, name, step: byhand.table(
        plan.positions[: len(plan.labels[step["rows"]])], name, rows=plan.labels[step["rows"]]
    ),
    "add": lambda plan, name, step, a, b: byhand.add(a, b, name),
    "product": lambda plan, name, step, x, w, called, cols=None: byhand.matmul(x, _block(step, w, called, cols), name),
    "dots": lambda plan, name, step, q, k: byhand.matmul(q, k.T, name),
    "divide": lambda plan, name, step, s: byhand.divide(s, step["width"], name, root=True),
    "mask": lambda plan, name, step, s: _alone(name, f"{s.name} + mask", s),
    "root": lambda plan, name, step, e: _alone(
        name, f"{e.name} √{step['width']}", e, e.result * math.sqrt(step["width"])
    ),
    "softmax": lambda plan, name, step, s: byhand.softmax(s, name, subtract_max=True, sci=step.get("sci", False)),
    "mix": lambda plan, name, step, a, v: byhand.weighted_sum(a, v, name),
    "concat": lambda plan, name, step, *heads: byhand.concat(*heads, name=name),
    "affine": lambda plan, name, step, *made: _affine(name, *made),
    "bias": lambda plan, name, step, *made: _bias(name, *made),
    "relu": lambda plan, name, step, x: byhand.relu(x, name),
    "norm": lambda plan, name, step, x, gamma, beta: _norm(name, x, gamma, beta, plan.cfg.eps),
}


@dataclass
class _Plan:
    """The steps from the words to the probabilities: what the page computes, and the panel of each at the start."""

    arrays: dict[str, Array]
    cfg: Config
    labels: dict[str, Sequence[str]]  # the words of "source" and "target" that are read at the start
    vocabularies: dict[str, list[str]]
    positions: Array | None
    columns: Sequence[str] | None = None  # what the entries of an embedding are called
    decimals: int = 4
    parts: list = field(default_factory=list)  # headings, each with its steps: (key, working, whether it is seen)
    by_key: dict = field(default_factory=dict)  # the steps as the page reads them, by their keys
    cells: dict = field(default_factory=dict)  # by the key of a step: which weights stand in it

    def put(self, key: str, name: str, op: str, of: Sequence[str] = (), w: Sequence = (), called=(), **more) -> None:
        """Add a step: `op` of the steps `of` and of arrays, ``(name, what it is called)``.

        Of a step that a switch can leave out, `when` says the switch, and `or` which one of `of` stands in its place.
        """
        names = [array for array, _ in w]
        step = {"key": key, "op": op, "of": list(of), "w": names, "rows": _side(key), "or": 0} | more
        made = [*map(self.working, of), *(self.arrays[array] for array in names)]
        working = replace(PANELS[op](self, name, step, *made, *called), decimals=self.decimals)
        self.by_key[key] = step
        self.parts[-1][1].append((key, working, step.get("when") not in ("pre", "mask")))
        if w:
            self.cells[key] = [self.block(step, *one) for one in w]

    def ids(self, side: str) -> list[int]:
        return Vocabulary(self.vocabularies[side]).ids(self.labels[side])

    def block(self, step: dict, name: str, says: str) -> dict:
        """Which weights stand in a step, below one another: of embeddings the rows of the words that are read."""
        words = step["rows"] if step["op"] == "look" else None
        return {"name": name, "says": says, "words": words, "shift": step.get("from", 0)}

    def working(self, key: str) -> Working:
        """The panel of a step, or of what stands in its place at the start."""
        step = self.by_key[key]
        if step.get("when") in ("pre", "mask"):
            return self.working(step["of"][step["or"]])
        return next(working for _, steps in self.parts for own, working, _ in steps if own == key)

    def rows(self, side: str, name: str, mark: str, where: str) -> None:
        """Embeddings, and with their positions."""
        d, e = self.cfg.d_model, f"{side}.E"
        self.put(e, f"E{mark}", "look", w=[(name, f"{where}, embedding of")])
        if self.cfg.scale_embeddings:
            self.put(f"{side}.root", f"{math.sqrt(d):g}E{mark}", "root", [e], width=d)
            e = f"{side}.root"
        self.put(f"{side}.PE", f"PE{mark}", "positions", when="positions")
        self.put(f"{side}.X", f"X{mark}", "add", [e, f"{side}.PE"], when="positions")

    def attention(self, part, name, mark, where, heading, heads) -> None:
        """The heads of an attention, then the output matrix."""
        d = self.cfg.head_width
        asked, cols = ("enc.last", "source") if part == "dec.cross" else (f"{part}.N", _side(part))
        for h in range(heads):
            n, sub = str(h + 1), str(h + 1).translate(SUBSCRIPTS) + mark
            more = ", and all heads together" if h + 1 == self.cfg.n_heads > 1 else ""
            self.parts.append((f"{heading}, head {n}{more}", []))
            if h == 0:
                self.norm_first(part, where)

            def put(letters, op, of="", sources=(), w=(), called=(), n=n, sub=sub, **more):
                of = [*sources, *(f"{part}.{one}{n}" for one in of.split())]
                self.put(f"{part}.{letters}{n}", f"{letters}{sub}", op, of, w, called, **more)

            for letter, of, rows in (("Q", f"{part}.N", _side(part)), ("K", asked, cols), ("V", asked, cols)):
                w = [(f"{name}.w_{letter.lower()}", f"{where}, W_{letter} of head {n}")]
                block = {"from": h * d, "to": (h + 1) * d, "rows": rows}
                put(letter, "product", "", [of], w, [f"W{letter}{sub}"], **block)
            put("S", "dots", "Q K", cols=cols)
            put("scaled", "divide", "S", cols=cols, width=d)
            causal = part == "dec.att"
            if causal:
                put("masked", "mask", "scaled", cols=cols, when="mask")
            put("A", "softmax", "masked" if causal else "scaled", cols=cols, sci=True)
            put("head", "mix", "A V", causal=causal)
        if heads == self.cfg.n_heads:
            self.put(f"{part}.heads", f"heads{mark}", "concat", [f"{part}.head{h + 1}" for h in range(heads)])
            w = [(f"{name}.w_o", f"{where}, W_O")]
            self.put(f"{part}.Z", f"Z{mark}", "product", [f"{part}.heads"], w, [f"WO{mark}"])

    def feed_forward(self, part, name, mark, where, heading) -> None:
        self.parts.append((heading, []))
        self.norm_first(part, where)
        first, second = ([(f"{name}.{a}_{k}", f"{where}, {called}_{k}") for a, called in ("wW", "bb")] for k in (1, 2))
        self.put(f"{part}.before", f"before{mark}", "affine", [f"{part}.N"], first, [f"W₁{mark}", f"b₁{mark}"])
        self.put(f"{part}.hidden", f"hidden{mark}", "relu", [f"{part}.before"])
        self.put(f"{part}.F", f"F{mark}", "affine", [f"{part}.hidden"], second, [f"W₂{mark}", f"b₂{mark}"])

    def add_and_norm(self, part, name, where, heading) -> None:
        self.parts.append((heading, []))
        of = [INTO[part], f"{part}.F" if part.endswith("ff") else f"{part}.Z"]
        self.put(f"{part}.T", f"{name}, before", "add", of, when="residual", **{"or": 1})
        self.norm(f"{part}.U", f"{part}.T", name, where, *NORMS[part], when="post")

    def norm_first(self, part, where) -> None:
        """Where the norm comes first it stands here; at the start it is not seen."""
        side, k = NORMS[part]
        name = f"N{str(k).translate(SUBSCRIPTS)}{'′' if side == 'dec' else ''}"
        self.norm(f"{part}.N", INTO[part], name, where, side, k)

    def norm(self, key, of, name, where, side, k, when="pre") -> None:
        mark, called = (f"_{k}", f"{where}, norm {k}") if k else ("", f"{where}, last norm")
        w = [(f"{side}.{array}{mark}", f"{called}, {array}") for array in ("gamma", "beta")]
        self.put(key, name, "norm", [of], w, when=when)

    # -- the two stacks

    def encoder(self, heads: int) -> None:
        where = "Encoder"
        self.parts.append(("Source words: embedding and positions", []))
        self.rows("enc", "src", "", where)
        self.attention("enc.att", "enc", "", where, "Encoder: self-attention", heads)
        if heads < self.cfg.n_heads:
            return
        self.add_and_norm("enc.att", "U", where, "Encoder: add & norm 1")
        self.feed_forward("enc.ff", "enc", "", where, "Encoder: feed-forward")
        self.add_and_norm("enc.ff", "memory", where, "Encoder: add & norm 2, the memory")
        self.norm("enc.last", "enc.ff.U", "normed memory", where, "enc", None)

    def decoder(self) -> None:
        where, heads = "Decoder", self.cfg.n_heads
        self.parts.append(("Target words: embedding and positions", []))
        self.rows("dec", "tgt", "′", where)
        self.attention("dec.att", "dec", "′", where, "Decoder: masked self-attention", heads)
        self.add_and_norm("dec.att", "Y", where, "Decoder: add & norm 1")
        self.attention("dec.cross", "cross", "″", "Cross-attention", "Decoder: cross-attention", heads)
        self.add_and_norm("dec.cross", "Y₂", where, "Decoder: add & norm 2")
        self.feed_forward("dec.ff", "dec", "′", where, "Decoder: feed-forward")
        self.add_and_norm("dec.ff", "out", where, "Decoder: add & norm 3")
        self.norm("dec.last", "dec.ff.U", "normed out", where, "dec", None)
        self.parts.append(("Linear and softmax: the next word", []))
        called = ["Wout", self.vocabularies["target"]]
        self.put("out.scores", "scores", "product", ["dec.last"], [("out.w", "Output, W")], called)
        self.put("out.logits", "logits", "bias", ["out.scores"], [("out.b", "Output, b")], ["bout"])
        self.put("out.p", "p", "softmax", ["out.logits"])

    # -- showing

    def element(self, title: str, data: dict, arrays: dict, id: str, needs) -> Element:
        """All of it: `arrays` has each array by its name, or where the page finds it among the trained weights."""
        until = data["until"]
        if until != "rules":
            self.encoder(1 if until else self.cfg.n_heads)
        if until is None:
            self.decoder()
        named = {block["name"] for blocks in self.cells.values() for block in blocks}
        data |= {
            "cfg": self.cfg, "start": math.sqrt(self.cfg.head_width), "vocabularies": self.vocabularies,
            "cells": self.cells, "steps": list(self.by_key.values()),
            "matrices": {name: arrays[name] for name in arrays if name in named},
        }  # fmt: skip
        return Element("machine", title, data, self.html(data), self.text(until), id, needs)

    def html(self, data) -> str:
        known: list[Working] = []
        out = []
        for heading, steps in self.parts:
            inside = ""
            for key, working, seen in steps:
                panel = panels.panel(working, known, in_chain=True)
                added = f'\\1 data-step="{key}"{"" if seen else " hidden"}'
                inside += re.sub(r'^(<div class="byhand [^"]*")', added, panel)
                known.append(working)
            opened = " open" if data["until"] or not out else ""
            out.append(
                f'<details class="byhand-part"{opened}><summary>{_html.escape(heading)}</summary>'
                f'<div class="byhand-beside">{inside}</div></details>'
            )
        large = " live-large" if "top" in data else ""  # too much for paper
        chain = f'<div class="byhand-chain{large}">{"".join(out)}</div>'
        if data["until"]:
            return chain
        p = self.working("out.p").result[-1]
        best = np.argsort(-p, kind="stable")[: data["top"]] if "top" in data else range(len(p))
        words = [self.vocabularies["target"][i] for i in best]
        next_word = bars(words, p[best], f"The next word after {self.labels['target'][-1]}")
        field = sentences.field(data["sentence"]) if "sentence" in data else ""
        tasks = "".join(f'<li data-task="{name}">{task}</li>' for name, task in TASKS.items())
        return f'{field}<ul class="live-tasks">{tasks}</ul>{next_word}{chain}'

    def text(self, until) -> str:
        keys = {
            "attention": ("enc.X", "enc.att.A1", "enc.att.head1"), "rules": ("enc.X", "enc.before", "enc.hidden"),
            None: ("enc.X", "enc.ff.U", "dec.ff.U", "out.p"),
        }[until]  # fmt: skip
        return "\n\n".join(replace(self.working(key), entries=()).text() for key in keys)


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
