"""One number of a model, followed back to the words that it came from."""

from __future__ import annotations

import html as _html
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from toytf import ops
from toytf._validate import as_labels, as_list, one_of, positive_int, require_class, shape_text, whole_number
from toytf.byhand.expressions import Num
from toytf.byhand.workings import OPENS
from toytf.model import Config, Trace, Transformer
from toytf.parameters import require_model

SOFTMAX = "softmax over these scores"

# ---------------------------------------------------------------- what is found


@dataclass(frozen=True)
class Factor:
    """A number in a term: a weight, which is where the way ends, or an entry that can be followed."""

    name: str
    value: float
    back: Callable[[], Step] | None = None  # gives the step that made it
    is_weight: bool = False  # an attention weight: followed on request only


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
    """One number: how it was made, out of which terms, and what is known about these in turn.

    Parameters
    ----------
    name : str
        ``"logits[0, hola]"``.
    value : float
    rule : str
        What was done with the terms, in words: ``"sum of 4 products"``.
    terms : tuple of Term
    opened : dict
        The factors that were followed further: ``{(term, factor): Step}``, counted from 0.
    """

    name: str
    value: float
    rule: str
    terms: tuple[Term, ...]
    opened: dict[tuple[int, int], Step] = field(default_factory=dict)

    def lines(self, indent: int = 0) -> list[str]:
        """Return it as indented lines of text."""
        pad = "  " * indent
        out = [f"{pad}{self.name} = {_word(self.value)}   ({self.rule})"]
        for t, term in enumerate(self.terms):
            out.append(f"{pad}  {'   '.join(term.words())}")
            for step in self._below(t):
                out += step.lines(indent + 2)
        return out

    def _below(self, t: int) -> list[Step]:
        """The steps that were opened under term `t`."""
        return [step for (term, _), step in sorted(self.opened.items()) if term == t]

    def __str__(self) -> str:
        return "\n".join(self.lines())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f'<div class="byhand byhand-follow">{self.html(outermost=True)}</div>'

    def html(self, outermost: bool = False) -> str:
        """Return it as nested ``<details>``: each step opens by mouse, touch or keyboard, no script needed."""
        esc, items = _html.escape, ""
        for t, term in enumerate(self.terms):
            numbers, names = map(esc, term.words())
            below = "".join(step.html() for step in self._below(t))
            items += f'<li>{numbers.replace("-", "−")} <span class="byhand-where">{names}</span>{below}</li>'
        value = _word(self.value).replace("-", "−")
        head = (
            f'<summary>{OPENS}<span class="byhand-where">{esc(self.name)}</span> '
            f'<span class="byhand-value">= {value}</span> <span class="byhand-shape">{esc(self.rule)}</span></summary>'
        )
        return f"<details{' open' if outermost else ''}>{head}<ul>{items}</ul></details>"


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
) -> Step:
    """Write out where one number of a forward pass came from, back to the embeddings.

    Every step names its terms and their values. At each, the term furthest from 0 is followed further,
    in a softmax the largest score. What is written is computed again from the terms and compared with
    the trace.

    Parameters
    ----------
    params : Transformer
    cfg : Config
    trace : Trace
        What `toytf.model.forward` returned for one sentence pair, without a batch axis.
    array : str, default "logits"
        ``"logits"``, ``"encoder.out"``, ``"encoder.3.out"`` (layer 3, counted from 0),
        ``"decoder.0.cross_attention"`` (a sub-layer after its norm), ``"encoder.x"``.
    index : (int, int)
        Row and column.
    depth : int, optional
        How many steps at most; all of them, back to the embeddings, if left out.
    attention : {"values", "all"}
        At a weighted sum, follow the values only, or the attention weights as well, back through
        the softmax to queries and keys.
    src, tgt, words : sequence of str, optional
        Names of the source rows, of the target rows, and of the vocabulary's columns.

    Returns
    -------
    Step

    Raises
    ------
    ValueError
        If the array or the index does not exist, or the trace has a batch axis.

    Examples
    --------
    >>> from toytf.model import forward, init
    >>> cfg = Config(src_vocab=3, tgt_vocab=3, d_model=2, n_heads=1, d_ff=2, n_encoder_layers=1, n_decoder_layers=1)
    >>> params = init(cfg, np.random.default_rng(0))
    >>> _, trace = forward(params, cfg, [1, 2], [0])
    >>> print(follow(params, cfg, trace, "logits", (0, 1), depth=1, words=["a", "hola", "b"]))
    logits[0, hola] = -0.52   (sum of 3 terms)
      -1.0847 = (-1)·1.0847   decoder.out[0, 0] · output.weight[0, hola]
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
    one_of("attention", attention, ("values", "all"))
    ids = [stack and stack.ids for stack in (trace.encoder, trace.decoder)]
    sizes = [0 if array is None else array.shape[-1] for array in (*ids, trace.logits)]
    names = [
        list(map(str, range(n))) if given is None else as_labels(name, given, n, "names")
        for name, given, n in zip(("src", "tgt", "words"), (src, tgt, words), sizes, strict=True)
    ]
    find, shape = _Model(params, cfg, trace, *names).find(array)
    index = tuple(whole_number("index", i) for i in as_list("index", index, "two numbers"))
    if len(index) != len(shape) or not all(0 <= i < n for i, n in zip(index, shape, strict=False)):
        raise ValueError(f"index: expected a row and a column of {array} ({shape_text(shape)}), got {index}")
    return _open(find(*index), depth, attention == "all")


def _open(step: Step, depth: float, weights_too: bool) -> Step:
    """Follow the term of a step that weighs most, and its, down to `depth`."""
    weight = float if step.rule == SOFTMAX else abs  # a sum is moved by −9 as by 9, a softmax is won by the largest
    followable = [t for t, term in enumerate(step.terms) if any(f.back for f in term.factors)]
    if depth <= 1 or not followable:
        return step
    t = max(followable, key=lambda t: weight(step.terms[t].value))
    opened = {
        (t, f): _open(factor.back(), depth - 1, weights_too)
        for f, factor in enumerate(step.terms[t].factors)
        if factor.back and (weights_too or not factor.is_weight)
    }
    return replace(step, opened=opened)


# ---------------------------------------------------------------- how each number was made


def _step(name: str, value, rule: str, terms: list[tuple[Factor, ...]], combine: Callable = sum) -> Step:
    """A step, once its terms have been combined again and found to give its value."""
    value, terms = float(value), tuple(map(Term, terms))
    again = combine([term.value for term in terms])
    if not np.isclose(again, value, rtol=1e-9, atol=1e-12):
        raise AssertionError(f"{name}: the terms give {again}, the trace has {value}")
    return Step(name, value, rule, terms)


def _row(before: str, row, back: Callable[[int], Step]) -> list[Factor]:
    """A row of an array, each entry with the step that made it; `before` is what its name begins with."""
    return [Factor(f"{before}, {k}]", float(x), partial(back, k)) for k, x in enumerate(row)]


def _linear(name: str, value, row: list[Factor], weight, bias, j: int, column: str = "") -> Step:
    """``value = row · weight[:, j] + bias[j]``; a parameter is a pair of its name and its array."""
    (w_name, w), (b_name, b), column = weight, bias, column or str(j)
    terms = [(x, Factor(f"{w_name}[{k}, {column}]", float(w[k, j]))) for k, x in enumerate(row)]
    if b is not None:
        terms.append((Factor(f"{b_name}[{column}]", float(b[j])),))
    return _step(name, value, f"sum of {len(terms)} terms", terms)


def _norm(name: str, value, row, j: int, std, p_name: str, p, before: Callable[[], Step]) -> Step:
    """``gamma * (x - mean) / std + beta``."""
    scale = Factor(f"{p_name}.gamma[{j}] / std", float(p.gamma[j] / std))
    terms = [
        (Factor(before().name, float(row[j]), before), scale),
        (Factor("minus the row's mean", -float(np.mean(row))), scale),
        (Factor(f"{p_name}.beta[{j}]", float(p.beta[j])),),
    ]
    return _step(name, value, f"layer norm: std of the row {Num(float(std)).word}", terms)


class _Model:
    """What lies around the layers: embeddings, last norms, logits."""

    def __init__(self, params, cfg, trace, src, tgt, words):
        self.params, self.cfg, self.trace, self.words = params, cfg, trace, words
        self.rows = {"encoder": src, "decoder": tgt}

    def find(self, array: str) -> tuple[Callable[[int, int], Step], tuple[int, ...]]:
        """The function that makes a step of an entry, and the array's shape."""
        side, *rest = array.split(".")
        stack = getattr(self.trace, side) if side in self.rows else None
        if array == "logits" and self.trace.logits is not None:
            return self.logit, self.trace.logits.shape
        if stack is not None and rest in (["x"], ["out"]):
            return partial({"x": self.embedded, "out": self.stack_out}[rest[0]], side), stack.x.shape
        if stack is not None and len(rest) == 2 and rest[0].isdigit() and int(rest[0]) < len(stack.layers):
            kind = "feed_forward" if rest[1] == "out" else rest[1]
            if kind in SUBLAYERS and getattr(stack.layers[int(rest[0])], kind, None) is not None:
                return _Sublayer(self, side, int(rest[0]), kind).out, stack.x.shape
        known = "logits, encoder.out, encoder.x, encoder.0.out, decoder.0.cross_attention, ..."
        raise ValueError(f"array: expected one of {known}, got {array!r}")

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
        p, row = getattr(self.params, f"{side}_norm"), stack.layers[-1].out[i]
        return _norm(name, stack.out[i, j], row, j, stack.last_norm.std[i, 0], f"{side}_norm", p, last)

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
        name, total = f"{self.name}[{self.rows[i]}, {j}]", partial(self.total, i, j)
        if self.cfg.norm != "post":
            return replace(total(), name=name)
        t = self.trace
        return _norm(name, t.out[i, j], t.total[i], j, t.norm.std[i, 0], self.norm_name, self.norm_params, total)

    def total(self, i: int, j: int) -> Step:
        """``x + inner``, the residual connection."""
        terms = [(self.factors("inner_out", i, self.trace.inner_out[i], self.inner_out)[j],)]
        if self.cfg.residual:
            terms.insert(0, (self.factors("x", i, self.trace.x[i], self.before)[j],))
        rule = "residual: the input plus the sub-layer" if self.cfg.residual else "the sub-layer alone"
        return _step(self.at("total", self.rows[i], j), self.trace.total[i, j], rule, terms)

    def before(self, i: int, j: int) -> Step:
        """An entry of the rows that enter."""
        earlier = [k for k in SUBLAYERS[: SUBLAYERS.index(self.kind)] if getattr(self.traces, k, None) is not None]
        if earlier:
            return _Sublayer(self.model, self.side, self.layer, earlier[-1]).out(i, j)
        if self.layer:
            return _Sublayer(self.model, self.side, self.layer - 1, "feed_forward").out(i, j)
        return self.model.embedded(self.side, i, j)

    def seen(self, i: int, j: int) -> Step:
        """An entry of the rows that attention or feed-forward sees: normalised first with pre-norm."""
        if self.cfg.norm != "pre":
            return self.before(i, j)
        t, p = self.trace, self.norm_params
        value = p.gamma[j] * t.norm.normalised[i, j] + p.beta[j]
        name, before = self.at("normed", self.rows[i], j), partial(self.before, i, j)
        return _norm(name, value, t.x[i], j, t.norm.std[i, 0], self.norm_name, p, before)

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
        """``max(0, x)``, or gelu."""
        before = self.factors("before", i, self.inner.before[i], self.activated)[j]
        rule = {"relu": "relu: max(0, x)"}.get(self.cfg.activation, self.cfg.activation)
        name, activation = self.at("hidden", self.rows[i], j), getattr(ops, self.cfg.activation)
        return _step(name, self.inner.hidden[i, j], rule, [(before,)], lambda values: activation(np.array(values))[0])

    def activated(self, i: int, j: int) -> Step:
        """What the activation is given."""
        row = self.factors("x", i, self.inner.x[i], self.seen)
        name, value = self.at("before", self.rows[i], j), self.inner.before[i, j]
        return _linear(name, value, row, self.parameter("w_1"), self.parameter("b_1"), j)

    # -- attention

    def head_name(self, array: str, h: int, i: int, j: int) -> str:
        row = (self.key_rows if array in ("k", "v") else self.rows)[i]
        return self.at(array, f"head {h}", row, j if array in ("q", "k", "v") else self.key_rows[j])

    def head_factor(self, array: str, h: int, i: int, j: int) -> Factor:
        """An entry of an array of one head, with the step that made it."""
        back = {"attn_weights": self.weight, "score": self.score}.get(array) or partial(self.projected, array)
        values = getattr(self.inner.attention, "scaled_scores" if array == "score" else array)
        name, value, is_weight = self.head_name(array, h, i, j), float(values[h, i, j]), array == "attn_weights"
        return Factor(name, value, partial(back, h, i, j), is_weight)

    def head(self, i: int, column: int) -> Step:
        """An entry of the heads' outputs: the values, weighted."""
        h, c = divmod(column, self.inner.attention.v.shape[-1])
        terms = [
            (self.head_factor("attn_weights", h, i, k), self.head_factor("v", h, k, c))
            for k in range(len(self.key_rows))
        ]
        name, value = self.at("heads", self.rows[i], column), self.inner.heads[i, column]
        return _step(name, value, "values, weighted by attention", terms)

    def weight(self, h: int, i: int, k: int) -> Step:
        """An attention weight: the softmax of a row of scores."""
        found = self.inner.attention
        seen = np.broadcast_to(True if found.mask is None else found.mask, found.scaled_scores.shape)[h, i]
        places = np.flatnonzero(seen)
        terms = [(self.head_factor("score", h, i, m),) for m in places]

        def softmax(scores):
            return float(ops.softmax(np.array(scores)) @ (places == k))

        name = self.head_name("attn_weights", h, i, k)
        return _step(name, found.attn_weights[h, i, k], SOFTMAX, terms, softmax)

    def score(self, h: int, i: int, k: int) -> Step:
        """A scaled score: query times key."""
        found, scale = self.inner.attention, Factor("scale", self.inner.attention.scale)
        terms = [
            (self.head_factor("q", h, i, c), self.head_factor("k", h, k, c), scale) for c in range(found.q.shape[-1])
        ]
        name = self.head_name("score", h, i, k)
        return _step(name, found.scaled_scores[h, i, k], "query · key · scale", terms)

    def projected(self, array: str, h: int, i: int, c: int) -> Step:
        """An entry of a query, key or value: a row times a column of its weight matrix."""
        values, from_memory = getattr(self.inner.attention, array), self.kind == "cross_attention" and array != "q"
        back = partial(self.model.stack_out, "encoder") if from_memory else self.seen
        rows, labels = (self.inner.x, self.rows) if array == "q" else (self.inner.memory, self.key_rows)
        source = "encoder.out" if from_memory else f"{self.name}.rows"
        row = _row(f"{source}[{labels[i]}", rows[i], partial(back, i))
        parameters = self.parameter(f"w_{array}"), self.parameter(f"b_{array}")
        name = self.head_name(array, h, i, c)
        return _linear(name, values[h, i, c], row, *parameters, h * values.shape[-1] + c)
