"""One number of a model, followed back to the word that decided it."""

from __future__ import annotations

import html as _html
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from toytf import ops
from toytf._validate import as_list, one_of, positive_int, require_class, shape_text, whole_number
from toytf.byhand.expressions import Num
from toytf.byhand.operations import _labels
from toytf.byhand.workings import OPENS
from toytf.model import Config, Trace, Transformer
from toytf.parameters import require_model

VALUES = "values, shared out by attention"
SCORE = "query · key · scale"
SOFTMAX = "softmax"

# ---------------------------------------------------------------- what is found


@dataclass(frozen=True)
class Factor:
    """A number in a term: a weight, which is where the way ends, or an entry that can be followed."""

    name: str
    value: float
    back: Callable[[], Step] | None = None  # gives the step that made it


@dataclass(frozen=True)
class Term:
    """A product of factors, one summand of a `Step`."""

    factors: tuple[Factor, ...]

    @property
    def value(self) -> float:
        return float(np.prod([factor.value for factor in self.factors]))

    def words(self) -> tuple[str, str]:
        """Its numbers, ``"-0.5 = (-1)·0.5"``, and their names."""
        product = "·".join(_word(factor.value, tight=True) for factor in self.factors)
        numbers = _word(self.value) + (f" = {product}" if len(self.factors) > 1 else "")
        return numbers, " · ".join(factor.name for factor in self.factors)


@dataclass(frozen=True)
class Step:
    """One number, for example ``"logits[0, hola]"``: how it was made, out of which terms, and which of them decided.

    The rule says what was done with the terms: ``"row times column, plus bias"``. The term at the place `decided`
    contributes most in the sum's direction, of those that can be followed if there are any. In a softmax it is the own
    score.
    """

    name: str
    value: float
    rule: str
    terms: tuple[Term, ...]
    decided: int

    def share(self) -> str:
        """How far the term that decided did: its part of the sum, or how far a score lies above the next."""
        decided, others = self.terms[self.decided].value, [t for k, t in enumerate(self.terms) if k != self.decided]
        if self.rule != SOFTMAX:
            total = decided + sum(term.value for term in others)
            return f"{100 * decided / total:.0f} % of it" if total else "the largest"
        if not others:
            return "the only score"
        best = max(others, key=lambda term: term.value)
        return f"{_word(abs(decided - best.value))} {'above' if decided >= best.value else 'below'} {best.words()[1]}"

    def lines(self) -> list[str]:
        """Return it as lines of text, the term that decided with a mark."""
        terms = ["  " + "   ".join(term.words()) for term in self.terms]
        terms[self.decided] = f">{terms[self.decided][1:]}   {self.share()}"
        return [f"{self.name} = {_word(self.value)}   ({self.rule})", *terms]

    def html(self) -> str:
        """Return it as a list item: the term that decided, and by mouse, touch or keyboard all of them, no script."""
        value, words = _word(self.value).replace("-", "−"), [map(_html.escape, term.words()) for term in self.terms]
        items = [f'{n.replace("-", "−")} <span class="byhand-where">{where}</span>' for n, where in words]
        every = "".join(f"<li>{f'<b>{item}</b>' if t == self.decided else item}</li>" for t, item in enumerate(items))
        return (
            f"<li><b>{_html.escape(self.name).replace('[', '[<wbr>')} = {value}</b> "
            f'<span class="byhand-shape">{_html.escape(self.rule)}</span><details><summary>{OPENS}'
            f"{items[self.decided]}, {_html.escape(self.share())}</summary><ul>{every}</ul></details></li>"
        )


@dataclass(frozen=True)
class Trail:
    """Steps, each of them a factor in the term that decided the one before. A slice is a trail, too."""

    steps: tuple[Step, ...]
    first: int = 1  # the number of its first step

    def __getitem__(self, part: slice) -> Trail:
        return Trail(self.steps[part], self.first + range(len(self.steps))[part].start)

    def __str__(self) -> str:
        return "\n".join(line for step in self.steps for line in step.lines())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        steps = "".join(step.html() for step in self.steps)
        return f'<ol class="byhand byhand-follow" start="{self.first}">{steps}</ol>'


def _word(value: float, tight: bool = False) -> str:
    return Num(value, sci=abs(value) > 1e-14).render("text", tight)


# ---------------------------------------------------------------- the way back


def follow(
    params: Transformer,
    cfg: Config,
    trace: Trace,
    array: str = "logits",
    index: Sequence[int] = (0, 0),
    *,
    depth: int | None = None,
    attention: str = "values",
    src: Sequence[str] | None = None,
    tgt: Sequence[str] | None = None,
    words: Sequence[str] | None = None,
) -> Trail:
    """Write out where one number of a forward pass came from, back to an embedding.

    Every step names its terms and their values. At each, the term is followed that contributes most in the direction of
    the sum; in a softmax, the own score. What is written is computed again from the terms and compared with the trace,
    which is that of one sentence pair, without a batch axis.

    The number stands in the row and column `index` of an `array`: ``"logits"``, ``"probabilities"``, ``"encoder.out"``,
    ``"encoder.3.out"`` (layer 3, counted from 0), ``"decoder.0.cross_attention"`` (a sub-layer after its norm) or
    ``"encoder.x"``. At most `depth` steps are taken; all of them, back to the embeddings, if it is left out. Where
    `attention` shares out values, the ``"values"`` are followed, or the weight back through the softmax to its score,
    and there the ``"queries"`` or the ``"keys"``. `src`, `tgt` and `words` name the source rows, the target rows, and
    the vocabulary's columns. An array or an index that does not exist, and a batch axis, are a `ValueError`.

    >>> from toytf.model import forward, init
    >>> cfg = Config(src_vocab=3, tgt_vocab=3, d_model=2, n_heads=1, d_ff=2, n_encoder_layers=1, n_decoder_layers=1)
    >>> params = init(cfg, np.random.default_rng(0))
    >>> _, trace = forward(params, cfg, [1, 2], [0])
    >>> print(follow(params, cfg, trace, "logits", (0, 1), depth=1, words=["a", "hola", "b"]))
    logits[0, hola] = -0.52   (row times column, plus bias)
    > -1.0847 = (-1)·1.0847   decoder.out[0, 0] · output.weight[0, hola]   209 % of it
      0.5647 = 1·0.5647   decoder.out[0, 1] · output.weight[1, hola]
      0   output.bias[hola]
    """
    require_model(params, cfg)
    require_class("trace", trace, Trace)
    require_class("array", array, str)
    for name, stack in (("encoder", trace.encoder), ("decoder", trace.decoder)):
        if stack is not None and stack.ids.ndim != 1:
            raise ValueError(
                f"trace: expected one sentence, got {name} ids of shape {shape_text(stack.ids.shape)}; "
                "call forward without a batch axis"
            )
    depth = float("inf") if depth is None else positive_int("depth", depth)
    one_of("attention", attention, ("values", "queries", "keys"))
    ids = [stack and stack.ids for stack in (trace.encoder, trace.decoder)]
    sizes = [0 if array is None else array.shape[-1] for array in (*ids, trace.logits)]
    names = [
        list(map(str, range(n))) if given is None else _labels(name, given, n)
        for name, given, n in zip(("src", "tgt", "words"), (src, tgt, words), sizes, strict=True)
    ]
    find, shape = _Model(params, cfg, trace, *names).find(array)
    index = tuple(whole_number("index", i) for i in as_list("index", index, "two numbers"))
    if len(index) != len(shape) or not all(0 <= i < n for i, n in zip(index, shape, strict=False)):
        raise ValueError(f"index: expected a row and a column of {array} ({shape_text(shape)}), got {index}")
    steps = [find(*index)]
    while len(steps) < depth and (backs := [f.back for f in steps[-1].terms[steps[-1].decided].factors if f.back]):
        # the second factor of weight times value, of query times key
        steps.append(backs[attention == {VALUES: "values", SCORE: "keys"}.get(steps[-1].rule)]())
    return Trail(tuple(steps))


# ---------------------------------------------------------------- how each number was made


def _step(name: str, value, rule: str, terms: list[tuple[Factor, ...]], combine: Callable = sum, decided=None) -> Step:
    """A step, once its terms have been combined again and found to give its value."""
    value, terms = float(value), tuple(map(Term, terms))
    values = [term.value for term in terms]
    again = combine(values)
    if not np.isclose(again, value, rtol=1e-9, atol=1e-12):
        raise AssertionError(f"{name}: the terms give {again}, the trace has {value}")
    if decided is None:
        on = [t for t, term in enumerate(terms) if any(factor.back for factor in term.factors)]
        decided = max(on or range(len(terms)), key=lambda t: values[t] if sum(values) >= 0 else -values[t])
    return Step(name, value, rule, terms, decided)


def _softmax(name: str, value, scores: list[Factor], k: int) -> Step:
    return _step(name, value, SOFTMAX, [(s,) for s in scores], lambda row: float(ops.softmax(np.array(row))[k]), k)


def _row(before: str, row, back: Callable[[int], Step]) -> list[Factor]:
    """A row of an array, each entry with the step that made it; `before` is what its name begins with."""
    return [Factor(f"{before}, {k}]", float(x), partial(back, k)) for k, x in enumerate(row)]


def _products(row: list[Factor], weight, bias, j: int, column: str = "") -> list[tuple[Factor, ...]]:
    """``row · weight[:, j] + bias[j]``; a parameter is a pair of its name and its array."""
    (w_name, w), (b_name, b), column = weight, bias, column or str(j)
    terms = [(x, Factor(f"{w_name}[{k}, {column}]", float(w[k, j]))) for k, x in enumerate(row)]
    return terms if b is None else [*terms, (Factor(f"{b_name}[{column}]", float(b[j])),)]


def _linear(name: str, value, row: list[Factor], weight, bias, j: int, column: str = "") -> Step:
    rule = "row times column" + ("" if bias[1] is None else ", plus bias")
    return _step(name, value, rule, _products(row, weight, bias, j, column))


def _norm(name: str, value, rule: str, parts: list[Factor], mean, j: int, std, p_name: str, p) -> Step:
    """``gamma * (x - mean) / std + beta``, where x is the sum of the parts."""
    scale = Factor(f"{p_name}.gamma[{j}] / std", float(p.gamma[j] / std))
    terms = [(part, scale) for part in (*parts, Factor("minus the row's mean", -float(mean)))]
    return _step(name, value, rule, [*terms, (Factor(f"{p_name}.beta[{j}]", float(p.beta[j])),)])


class _Model:
    """What lies around the layers: embeddings, last norms, logits."""

    def __init__(self, params, cfg, trace, src, tgt, words):
        self.params, self.cfg, self.trace, self.words = params, cfg, trace, words
        self.rows = {"encoder": src, "decoder": tgt}

    def find(self, array: str) -> tuple[Callable[[int, int], Step], tuple[int, ...]]:
        """The function that makes a step of an entry, and the array's shape."""
        side, *rest = array.split(".")
        stack = getattr(self.trace, side) if side in self.rows else None
        ends = {"logits": self.logit, "probabilities": self.probability}
        if array in ends and self.trace.logits is not None:
            return ends[array], self.trace.logits.shape
        if stack is not None and rest in (["x"], ["out"]):
            return partial({"x": self.embedded, "out": self.stack_out}[rest[0]], side), stack.x.shape
        if stack is not None and len(rest) == 2 and rest[0].isdigit() and int(rest[0]) < len(stack.layers):
            kind = "feed_forward" if rest[1] == "out" else rest[1]
            if kind in SUBLAYERS and getattr(stack.layers[int(rest[0])], kind, None) is not None:
                return _Sublayer(self, side, int(rest[0]), kind).out, stack.x.shape
        known = "logits, probabilities, encoder.out, encoder.x, encoder.0.out, decoder.0.cross_attention, ..."
        raise ValueError(f"array: expected one of {known}, got {array!r}")

    def probability(self, i: int, j: int) -> Step:
        row, scores = f"[{self.rows['decoder'][i]}, ", self.trace.logits[i]
        names = [f"logits{row}{word}]" for word in self.words]
        factors = [Factor(names[k], float(x), partial(self.logit, i, k)) for k, x in enumerate(scores)]
        return _softmax(f"probabilities{row}{self.words[j]}]", ops.softmax(scores)[j], factors, j)

    def logit(self, i: int, j: int) -> Step:
        p, row = self.params.output, self.rows["decoder"][i]
        out = _row(f"decoder.out[{row}", self.trace.decoder.out[i], partial(self.stack_out, "decoder", i))
        parameters = ("output.weight", p.weight), ("output.bias", p.bias)
        return _linear(f"logits[{row}, {self.words[j]}]", self.trace.logits[i, j], out, *parameters, j, self.words[j])

    def stack_out(self, side: str, i: int, j: int) -> Step:
        stack, name = getattr(self.trace, side), f"{side}.out[{self.rows[side][i]}, {j}]"
        last = partial(_Sublayer(self, side, len(stack.layers) - 1, "feed_forward").out, i, j)
        if stack.last_norm is None:  # the same number under the name that the next part knows
            return replace(last(), name=name)
        row, end, p = stack.layers[-1].out[i], last(), f"{side}_norm"
        part, std = Factor(end.name, float(row[j]), last), stack.last_norm.std[i, 0]
        return _norm(name, stack.out[i, j], "norm", [part], row.mean(), j, std, p, getattr(self.params, p))

    def embedded(self, side: str, i: int, j: int) -> Step:
        """The first row: the token's embedding, scaled, plus its position."""
        stack, row = getattr(self.trace, side), self.rows[side][i]
        which = "src_embedding" if side == "encoder" else "tgt_embedding"
        token = int(stack.ids[i])
        factors = [Factor(f"{which}[{row}: id {token}, {j}]", float(getattr(self.params, which)[token, j]))]
        if self.cfg.scale_embeddings:
            factors.append(Factor("√d_model", float(np.sqrt(self.cfg.d_model))))
        terms = [tuple(factors)]
        if self.cfg.positions:
            terms.append((Factor(f"PE[{i}, {j}]", float(stack.x[i, j] - stack.embedded[i, j])),))
        rule = "embedding plus position" if self.cfg.positions else "embedding"
        return _step(f"{side}.x[{row}, {j}]", stack.x[i, j], rule, terms)


SUBLAYERS = ("self_attention", "cross_attention", "feed_forward")


class _Sublayer:
    """A sub-layer: how an entry of each of its arrays was made."""

    def __init__(self, model: _Model, side: str, layer: int, kind: str):
        self.model, self.side, self.layer, self.kind, self.cfg = model, side, layer, kind, model.cfg
        self.traces, params = getattr(model.trace, side).layers[layer], getattr(model.params, side)[layer]
        self.trace, self.inner_params = getattr(self.traces, kind), getattr(params, kind)
        self.inner = self.trace.inner
        self.name = f"{side}.{layer}.{kind}"
        which = SUBLAYERS.index(kind) + 1 if side == "decoder" or kind == "self_attention" else 2
        self.norm_params, self.norm_name = getattr(params, f"norm_{which}", None), f"{side}.{layer}.norm_{which}"
        # keys and values come from the encoder in cross-attention, from the same rows otherwise
        self.rows = model.rows[side]
        self.key_rows = model.rows["encoder"] if kind == "cross_attention" else self.rows

    def at(self, array: str, *labels) -> str:
        return f"{self.name}.{array}[{', '.join(map(str, labels))}]"

    def parameter(self, name: str):
        return f"{self.name}.{name}", getattr(self.inner_params, name)

    def factors(self, array: str, i: int, row, back: Callable[[int, int], Step]) -> list[Factor]:
        """A row of an array, each entry with the step that made it."""
        return _row(f"{self.name}.{array}[{self.rows[i]}", row, partial(back, i))

    def out(self, i: int, j: int) -> Step:
        """``norm(x + inner)``, or what `Config` makes of it."""
        t, name = self.trace, f"{self.name}[{self.rows[i]}, {j}]"
        parts = [self.factors("inner_out", i, t.inner_out[i], self.inner_out)[j]]
        if self.cfg.residual:
            parts.insert(0, self.before(i, t.x[i])[j])
        add = "add" if self.cfg.residual else ""
        if self.cfg.norm != "post":
            return _step(name, t.total[i, j], add or "the sub-layer alone", [(part,) for part in parts])
        rule, norm = f"{add} & norm".strip("& "), (t.norm.std[i, 0], self.norm_name, self.norm_params)
        return _norm(name, t.out[i, j], rule, parts, t.total[i].mean(), j, *norm)

    def before(self, i: int, row) -> list[Factor]:
        """A row that enters, each entry with the step that made it."""
        earlier = [k for k in SUBLAYERS[: SUBLAYERS.index(self.kind)] if getattr(self.traces, k, None) is not None]
        name, back = f"{self.side}.x", partial(self.model.embedded, self.side)
        if earlier or self.layer:
            place = (self.layer, earlier[-1]) if earlier else (self.layer - 1, "feed_forward")
            sublayer = _Sublayer(self.model, self.side, *place)
            name, back = sublayer.name, sublayer.out
        return _row(f"{name}[{self.rows[i]}", row, partial(back, i))

    def seen(self, i: int, row) -> list[Factor]:
        """A row that attention or feed-forward sees, likewise: normalised first with pre-norm."""
        return self.factors("normed", i, row, self.normed) if self.cfg.norm == "pre" else self.before(i, row)

    def normed(self, i: int, j: int) -> Step:
        t, p, x = self.trace, self.norm_params, self.trace.x[i]
        value, name = p.gamma[j] * t.norm.normalised[i, j] + p.beta[j], self.at("normed", self.rows[i], j)
        return _norm(name, value, "norm", [self.before(i, x)[j]], x.mean(), j, t.norm.std[i, 0], self.norm_name, p)

    def inner_out(self, i: int, j: int) -> Step:
        """An entry of what the sub-layer adds."""
        name, value = self.at("inner_out", self.rows[i], j), self.trace.inner_out[i, j]
        if self.kind == "feed_forward":
            row = self.factors("hidden", i, self.inner.hidden[i], self.hidden)
            return _linear(name, value, row, self.parameter("w_2"), self.parameter("b_2"), j)
        row = self.factors("heads", i, self.inner.heads[i], self.head)
        return _linear(name, value, row, self.parameter("w_o"), self.parameter("b_o"), j)

    # -- feed-forward

    def hidden(self, i: int, j: int) -> Step:
        """The activation, ``max(0, x)`` or gelu, of a row times a column."""
        terms = _products(self.seen(i, self.inner.x[i]), self.parameter("w_1"), self.parameter("b_1"), j)
        rule = {"relu": "max(0, row times column)"}.get(self.cfg.activation, f"{self.cfg.activation}(row times column)")
        name, activation = self.at("hidden", self.rows[i], j), getattr(ops, self.cfg.activation)
        return _step(name, self.inner.hidden[i, j], rule, terms, lambda row: activation(np.array([sum(row)]))[0])

    # -- attention

    def head_name(self, array: str, h: int, i: int, j: int) -> str:
        row = (self.key_rows if array in ("k", "v") else self.rows)[i]
        return self.at(array, f"head {h + 1}", row, j if array in ("q", "k", "v") else self.key_rows[j])

    def head_factor(self, array: str, h: int, i: int, j: int) -> Factor:
        """An entry of an array of one head, with the step that made it."""
        back = {"attn_weights": self.weight, "score": self.score}.get(array) or partial(self.projected, array)
        values = getattr(self.inner.attention, "scaled_scores" if array == "score" else array)
        return Factor(self.head_name(array, h, i, j), float(values[h, i, j]), partial(back, h, i, j))

    def head(self, i: int, column: int) -> Step:
        """An entry of the heads' outputs: the values, weighted."""
        h, c = divmod(column, self.inner.attention.v.shape[-1])
        of, keys = self.head_factor, range(len(self.key_rows))
        terms = [(of("attn_weights", h, i, k), of("v", h, k, c)) for k in keys]
        return _step(self.at("heads", self.rows[i], column), self.inner.heads[i, column], VALUES, terms)

    def weight(self, h: int, i: int, k: int) -> Step:
        """An attention weight: the softmax of a row of scores."""
        found = self.inner.attention
        seen = np.broadcast_to(True if found.mask is None else found.mask, found.scaled_scores.shape)[h, i]
        places = np.flatnonzero(seen).tolist()
        scores, name = [self.head_factor("score", h, i, m) for m in places], self.head_name("attn_weights", h, i, k)
        return _softmax(name, found.attn_weights[h, i, k], scores, places.index(k))

    def score(self, h: int, i: int, k: int) -> Step:
        """A scaled score: query times key."""
        found, of = self.inner.attention, self.head_factor
        columns, scale = range(found.q.shape[-1]), Factor("scale", found.scale)
        terms = [(of("q", h, i, c), of("k", h, k, c), scale) for c in columns]
        return _step(self.head_name("score", h, i, k), found.scaled_scores[h, i, k], SCORE, terms)

    def projected(self, array: str, h: int, i: int, c: int) -> Step:
        """An entry of a query, key or value: a row times a column of its weight matrix."""
        values, x = getattr(self.inner.attention, array), self.inner.x if array == "q" else self.inner.memory
        if self.kind == "cross_attention" and array != "q":
            row = _row(f"encoder.out[{self.key_rows[i]}", x[i], partial(self.model.stack_out, "encoder", i))
        else:
            row = self.seen(i, x[i])
        parameters = self.parameter(f"w_{array}"), self.parameter(f"b_{array}")
        return _linear(self.head_name(array, h, i, c), values[h, i, c], row, *parameters, h * values.shape[-1] + c)
