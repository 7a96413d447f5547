"""One number of a model, followed back to the words that it came from."""

from __future__ import annotations

import html as _html
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from toytf._validate import as_list, positive_int, require_class, shape_text, shown, whole_number
from toytf.byhand.expressions import Num
from toytf.byhand.workings import OPENS, require_decimals
from toytf.model import Config, SublayerTrace, Trace, Transformer
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
    decimals : int
        At most so many decimals are shown.
    """

    name: str
    value: float
    rule: str
    terms: tuple[Term, ...]
    opened: dict[tuple[int, int], Step] = field(default_factory=dict)
    decimals: int = field(default=4, compare=False)

    # -- showing

    def lines(self, indent: int = 0) -> list[str]:
        """Return it as indented lines of text."""
        pad = "  " * indent
        out = [f"{pad}{self.name} = {self._word(self.value)}" + (f"   ({self.rule})" if self.rule else "")]
        for t, term in enumerate(self.terms):
            out.append(f"{pad}  {self._term(term)}")
            for step in self._below(t):
                out += step.lines(indent + 2)
        return out

    def _below(self, t: int) -> list[Step]:
        """The steps that were opened under term `t`."""
        return [step for (term, _), step in sorted(self.opened.items()) if term == t]

    def _word(self, value: float) -> str:
        return Num(value, self.decimals, sci=abs(value) > 1e-14).render("text")

    def _term(self, term: Term) -> str:
        names = " · ".join(factor.name for factor in term.factors)
        if len(term.factors) == 1:
            return f"{self._word(term.value)}   {names}"
        numbers = "·".join(
            Num(f.value, self.decimals, sci=abs(f.value) > 1e-14).render("text", tight=True) for f in term.factors
        )
        return f"{self._word(term.value)} = {numbers}   {names}"

    def __str__(self) -> str:
        return "\n".join(self.lines())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f'<div class="byhand byhand-follow">{self.html(outermost=True)}</div>'

    def html(self, outermost: bool = False) -> str:
        """Return it as nested ``<details>``: each step opens by mouse, touch or keyboard, no script needed."""
        esc = _html.escape
        items = []
        for t, term in enumerate(self.terms):
            numbers, _, names = esc(self._term(term)).partition("   ")
            line = f'{numbers.replace("-", "−")} <span class="byhand-where">{names}</span>'
            items.append(f"<li>{line}{''.join(step.html() for step in self._below(t))}</li>")
        rule = f' <span class="byhand-shape">{esc(self.rule)}</span>' if self.rule else ""
        head = (
            f'<summary>{OPENS}<span class="byhand-where">{esc(self.name)}</span> '
            f'<span class="byhand-value">= {esc(self._word(self.value)).replace("-", "−")}</span>{rule}</summary>'
        )
        opened = " open" if outermost else ""
        return f"<details{opened}>{head}<ul>{''.join(items)}</ul></details>"


# ---------------------------------------------------------------- the way back


def follow(
    params: Transformer,
    cfg: Config,
    trace: Trace,
    array: str = "logits",
    index: Sequence[int] = (0, 0),
    *,
    depth: int | None = None,
    breadth: int = 1,
    attention: str = "values",
    src: Sequence[str] | None = None,
    tgt: Sequence[str] | None = None,
    words: Sequence[str] | None = None,
    decimals: int = 4,
) -> Step:
    """Write out where one number of a forward pass came from, back to the embeddings.

    Every step names its terms and their values. At each, the `breadth` terms furthest from 0 are
    followed further, in a softmax the `breadth` largest scores. What is written is computed again
    from the terms and compared with the trace.

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
    breadth : int, default 1
        How many terms are followed at each step.
    attention : {"values", "all"}
        At a weighted sum, follow the values only, or the attention weights as well, back through
        the softmax to queries and keys.
    src, tgt, words : sequence of str, optional
        Names of the source rows, of the target rows, and of the vocabulary's columns.
    decimals : int, default 4

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
    if depth is not None:
        positive_int("depth", depth)
    positive_int("breadth", breadth)
    if not isinstance(attention, str) or attention not in ("values", "all"):
        raise ValueError(f"attention: expected 'values' or 'all', got {shown(attention)}")
    require_decimals(decimals)
    way = _WayBack(
        params, cfg, trace,
        _names("src", src, 0 if trace.encoder is None else len(trace.encoder.ids)),
        _names("tgt", tgt, 0 if trace.decoder is None else len(trace.decoder.ids)),
        _names("words", words, 0 if trace.logits is None else trace.logits.shape[-1]),
    )  # fmt: skip
    find, shape = way.find(array)
    index = tuple(whole_number("index", i) for i in as_list("index", index, "two numbers"))
    if len(index) != len(shape) or not all(0 <= i < n for i, n in zip(index, shape, strict=False)):
        raise ValueError(f"index: expected a row and a column of {array} ({shape_text(shape)}), got {index}")
    return _open(find(*index), depth, breadth, attention == "all", decimals)


def _names(name: str, names, n: int) -> list[str] | None:
    """Return names for `n` rows or columns at least."""
    if names is None:
        return None
    names = as_list(name, names, "names")
    if len(names) < n:
        raise ValueError(f"{name}: expected {n} names, got {len(names)}")
    return names


def _open(step: Step, depth: int | None, breadth: int, weights_too: bool, decimals: int) -> Step:
    """Follow the terms of a step that weigh most, and theirs, down to `depth`."""
    opened = {}
    weight = float if step.rule == SOFTMAX else abs  # a sum is moved by −9 as by 9, a softmax is won by the largest
    if depth is None or depth > 1:
        below = None if depth is None else depth - 1
        ways = [t for t, term in enumerate(step.terms) if any(f.back for f in term.factors)]
        for t in sorted(ways, key=lambda t: -weight(step.terms[t].value))[:breadth]:
            for f, factor in enumerate(step.terms[t].factors):
                if factor.back and (weights_too or not factor.is_weight):
                    opened[t, f] = _open(factor.back(), below, breadth, weights_too, decimals)
    return replace(step, opened=opened, decimals=decimals)


class _WayBack:
    """For every kind of array, how an entry of it was made."""

    def __init__(self, params, cfg, trace, src, tgt, words):
        self.params, self.cfg, self.trace = params, cfg, trace
        self.rows = {"encoder": src, "decoder": tgt}
        self.words = words

    # -- names

    def row(self, side: str, i: int) -> str:
        names = self.rows[side]
        return str(i) if names is None else str(names[i])

    def word(self, j: int) -> str:
        return str(j) if self.words is None else str(self.words[j])

    def find(self, array: str) -> tuple[Callable, tuple[int, int]]:
        """Return the function that makes a step of an entry, and the array's shape."""
        parts = array.split(".")
        stack = getattr(self.trace, parts[0], None) if parts[0] in ("encoder", "decoder") else None
        if array == "logits" and self.trace.logits is not None:
            return self.logit, self.trace.logits.shape
        if stack is not None and len(parts) >= 2:
            side = parts[0]
            if parts[1:] == ["out"]:
                return lambda i, j: self.stack_out(side, i, j), stack.out.shape
            if parts[1:] == ["x"]:
                return lambda i, j: self.embedded(side, i, j), stack.x.shape
            if parts[1].isdigit() and int(parts[1]) < len(stack.layers) and len(parts) == 3:
                layer = int(parts[1])
                if parts[2] == "out":
                    return lambda i, j: self.layer_out(side, layer, i, j), stack.out.shape
                if isinstance(getattr(stack.layers[layer], parts[2], None), SublayerTrace):
                    return lambda i, j: self.sublayer(side, layer, parts[2], i, j), stack.out.shape
        known = "logits, encoder.out, encoder.x, encoder.0.out, decoder.0.cross_attention, ..."
        raise ValueError(f"array: expected one of {known}, got {array!r}")

    # -- making steps

    def step(self, name: str, value, rule: str, terms: list[Term], combine: Callable | None = None) -> Step:
        """Make a step, once its terms have been combined again and found to give its value."""
        value = float(value)
        again = combine([t.value for t in terms]) if combine else sum(t.value for t in terms)
        if not np.isclose(again, value, rtol=1e-9, atol=1e-12):
            raise AssertionError(f"{name}: the terms give {again}, the trace has {value}")
        return Step(name, value, rule, tuple(terms))

    def linear(self, name, value, row, back, row_name, weight, bias, w_name, b_name, j, column=None) -> Step:
        """``value = row · weight[:, j] + bias[j]``; `back(k)` gives the step of ``row[k]``."""
        column = str(j) if column is None else column
        terms = [
            Term((
                Factor(f"{row_name}{k}]", float(row[k]), lambda k=k: back(k)),
                Factor(f"{w_name}[{k}, {column}]", float(weight[k, j])),
            ))
            for k in range(len(row))
        ]  # fmt: skip
        if bias is not None:
            terms.append(Term((Factor(f"{b_name}[{column}]", float(bias[j])),)))
        return self.step(name, value, f"sum of {len(terms)} terms", terms)

    def logit(self, i: int, j: int) -> Step:
        out, p = self.trace.decoder.out, self.params.output
        return self.linear(
            f"logits[{self.row('decoder', i)}, {self.word(j)}]", self.trace.logits[i, j], out[i],
            lambda k: self.stack_out("decoder", i, k), f"decoder.out[{self.row('decoder', i)}, ",
            p.weight, p.bias, "output.weight", "output.bias", j, self.word(j),
        )  # fmt: skip

    def stack_out(self, side: str, i: int, j: int) -> Step:
        stack = getattr(self.trace, side)
        if stack.last_norm is None:  # the same number under the name that the next part knows
            return replace(
                self.layer_out(side, len(stack.layers) - 1, i, j), name=f"{side}.out[{self.row(side, i)}, {j}]"
            )
        last = stack.layers[-1].out
        return self.norm(
            f"{side}.out[{self.row(side, i)}, {j}]", stack.out[i, j], last[i], j,
            getattr(self.params, f"{side}_norm"), stack.last_norm, i, f"{side}_norm",
            lambda: self.layer_out(side, len(stack.layers) - 1, i, j),
        )  # fmt: skip

    def layer_out(self, side: str, layer: int, i: int, j: int) -> Step:
        return self.sublayer(side, layer, "feed_forward", i, j)

    def sublayer_input(self, side: str, layer: int, kind: str, i: int, j: int) -> Step:
        """The step of an entry of the rows that enter a sub-layer."""
        trace = getattr(self.trace, side).layers[layer]
        order = ["self_attention", "cross_attention", "feed_forward"]
        before = [k for k in order[: order.index(kind)] if getattr(trace, k, None) is not None]
        if before:
            return self.sublayer(side, layer, before[-1], i, j)
        return self.layer_out(side, layer - 1, i, j) if layer else self.embedded(side, i, j)

    def sublayer(self, side: str, layer: int, kind: str, i: int, j: int) -> Step:
        """``norm(x + inner)``, or what `Config` makes of it."""
        trace = getattr(getattr(self.trace, side).layers[layer], kind)
        p = getattr(self.params, side)[layer]
        norms = {"self_attention": "norm_1", "cross_attention": "norm_2", "feed_forward": "norm_3"}
        norm_name = "norm_2" if side == "encoder" and kind == "feed_forward" else norms[kind]
        place = f"{side}.{layer}.{kind}"
        name = f"{place}[{self.row(side, i)}, {j}]"
        if self.cfg.norm == "post":
            return self.norm(
                name, trace.out[i, j], trace.total[i], j, getattr(p, norm_name), trace.norm, i,
                f"{side}.{layer}.{norm_name}", lambda: self.total(side, layer, kind, i, j),
            )  # fmt: skip
        total = self.total(side, layer, kind, i, j)
        return Step(name, total.value, total.rule, total.terms)

    def total(self, side: str, layer: int, kind: str, i: int, j: int) -> Step:
        """``x + inner``, the residual connection."""
        trace = getattr(getattr(self.trace, side).layers[layer], kind)
        place, at = f"{side}.{layer}.{kind}", f"[{self.row(side, i)}, {j}]"
        terms = [
            Term((
                Factor(
                    f"{place}.inner_out{at}", float(trace.inner_out[i, j]),
                    lambda: self.inner(side, layer, kind, i, j),
                ),
            ))
        ]  # fmt: skip
        if self.cfg.residual:
            before = Factor(
                f"{place}.x{at}", float(trace.x[i, j]), lambda: self.sublayer_input(side, layer, kind, i, j)
            )
            terms.insert(0, Term((before,)))
        rule = "residual: the input plus the sub-layer" if self.cfg.residual else "the sub-layer alone"
        return self.step(f"{place}.total{at}", trace.total[i, j], rule, terms)

    def norm(self, name, value, row, j, p, trace, i, p_name, back) -> Step:
        """``gamma * (x - mean) / std + beta``."""
        mean, std = float(np.mean(row)), float(trace.std[i, 0])
        gamma, beta = float(p.gamma[j]), float(p.beta[j])
        scale = Factor(f"{p_name}.gamma[{j}] / std", gamma / std)
        terms = [
            Term((Factor(back().name, float(row[j]), back), scale)),
            Term((Factor("minus the row's mean", -mean), scale)),
            Term((Factor(f"{p_name}.beta[{j}]", beta),)),
        ]
        return self.step(name, value, f"layer norm: std of the row {Num(std).word}", terms)

    def norm_input(self, side: str, layer: int, kind: str, i: int, j: int) -> Step:
        """The step of an entry of the rows that a sub-layer sees: normalised first with pre-norm."""
        if self.cfg.norm != "pre":
            return self.sublayer_input(side, layer, kind, i, j)
        trace = getattr(getattr(self.trace, side).layers[layer], kind)
        p = getattr(self.params, side)[layer]
        norms = {"self_attention": "norm_1", "cross_attention": "norm_2", "feed_forward": "norm_3"}
        norm_name = "norm_2" if side == "encoder" and kind == "feed_forward" else norms[kind]
        q = getattr(p, norm_name)
        value = q.gamma[j] * trace.norm.normalised[i, j] + q.beta[j]
        return self.norm(
            f"{side}.{layer}.{kind}.normed[{self.row(side, i)}, {j}]", value, trace.x[i], j, q, trace.norm, i,
            f"{side}.{layer}.{norm_name}", lambda: self.sublayer_input(side, layer, kind, i, j),
        )  # fmt: skip

    def inner(self, side: str, layer: int, kind: str, i: int, j: int) -> Step:
        """An entry of what a sub-layer adds: feed-forward or attention."""
        trace = getattr(getattr(self.trace, side).layers[layer], kind)
        p = getattr(getattr(self.params, side)[layer], kind)
        place, row = f"{side}.{layer}.{kind}", self.row(side, i)
        name, value = f"{place}.inner_out[{row}, {j}]", trace.inner_out[i, j]
        if kind == "feed_forward":
            return self.linear(
                name, value, trace.inner.hidden[i], lambda k: self.hidden(side, layer, i, k),
                f"{place}.hidden[{row}, ", p.w_2, p.b_2, f"{place}.w_2", f"{place}.b_2", j,
            )  # fmt: skip
        return self.linear(
            name, value, trace.inner.heads[i], lambda k: self.head_out(side, layer, kind, i, k),
            f"{place}.heads[{row}, ", p.w_o, p.b_o, f"{place}.w_o", f"{place}.b_o", j,
        )  # fmt: skip

    def hidden(self, side: str, layer: int, i: int, j: int) -> Step:
        """``max(0, before)``, or gelu."""
        trace = getattr(self.trace, side).layers[layer].feed_forward.inner
        place, at = f"{side}.{layer}.feed_forward", f"[{self.row(side, i)}, {j}]"
        before = Factor(f"{place}.before{at}", float(trace.before[i, j]), lambda: self.before(side, layer, i, j))
        hidden = float(trace.hidden[i, j])
        if self.cfg.activation == "relu":
            return self.step(
                f"{place}.hidden{at}", hidden, "relu: max(0, x)", [Term((before,))], lambda v: max(0.0, v[0])
            )
        return self.step(f"{place}.hidden{at}", hidden, "gelu", [Term((before,))], lambda v: hidden)

    def before(self, side: str, layer: int, i: int, j: int) -> Step:
        trace = getattr(self.trace, side).layers[layer].feed_forward.inner
        p = getattr(self.params, side)[layer].feed_forward
        place, row = f"{side}.{layer}.feed_forward", self.row(side, i)
        return self.linear(
            f"{place}.before[{row}, {j}]", trace.before[i, j], trace.x[i],
            lambda k: self.norm_input(side, layer, "feed_forward", i, k),
            f"{place}.x[{row}, ", p.w_1, p.b_1, f"{place}.w_1", f"{place}.b_1", j,
        )  # fmt: skip

    def head_out(self, side: str, layer: int, kind: str, i: int, column: int) -> Step:
        """A head's output: the values, weighted."""
        trace = getattr(getattr(self.trace, side).layers[layer], kind).inner
        d_v = trace.attention.v.shape[-1]
        h, c = divmod(column, d_v)
        place, keys = f"{side}.{layer}.{kind}", self.key_side(side, kind)
        terms = [
            Term((
                Factor(
                    f"{place}.attn_weights[head {h}, {self.row(side, i)}, {self.row(keys, k)}]",
                    float(trace.attention.attn_weights[h, i, k]),
                    lambda k=k: self.weight(side, layer, kind, h, i, k),
                    is_weight=True,
                ),
                Factor(
                    f"{place}.v[head {h}, {self.row(keys, k)}, {c}]", float(trace.attention.v[h, k, c]),
                    lambda k=k: self.projected(side, layer, kind, "v", h, k, c),
                ),
            ))
            for k in range(trace.attention.v.shape[-2])
        ]  # fmt: skip
        name = f"{place}.heads[{self.row(side, i)}, {column}]"
        return self.step(name, trace.heads[i, column], "values, weighted by attention", terms)

    def key_side(self, side: str, kind: str) -> str:
        """Keys and values come from the encoder in cross-attention, from the same rows otherwise."""
        return "encoder" if kind == "cross_attention" else side

    def weight(self, side: str, layer: int, kind: str, h: int, i: int, k: int) -> Step:
        """An attention weight: the softmax of a row of scores."""
        trace = getattr(getattr(self.trace, side).layers[layer], kind).inner.attention
        place, keys = f"{side}.{layer}.{kind}", self.key_side(side, kind)
        mask = trace.mask
        seen = [True] * trace.k.shape[-2]
        if mask is not None:
            seen = np.broadcast_to(mask, trace.scaled_scores.shape)[h, i]
        allowed = [m for m in range(len(seen)) if seen[m]]
        terms = [
            Term((
                Factor(
                    f"{place}.score[head {h}, {self.row(side, i)}, {self.row(keys, m)}]",
                    float(trace.scaled_scores[h, i, m]), lambda m=m: self.score(side, layer, kind, h, i, m),
                ),
            ))
            for m in allowed
        ]  # fmt: skip

        def softmax(scores):
            if k not in allowed:
                return 0.0
            powers = np.exp(np.array(scores) - max(scores))
            return float(powers[allowed.index(k)] / powers.sum())

        name = f"{place}.attn_weights[head {h}, {self.row(side, i)}, {self.row(keys, k)}]"
        return self.step(name, trace.attn_weights[h, i, k], SOFTMAX, terms, softmax)

    def score(self, side: str, layer: int, kind: str, h: int, i: int, k: int) -> Step:
        """A scaled score: query times key."""
        trace = getattr(getattr(self.trace, side).layers[layer], kind).inner.attention
        place, keys = f"{side}.{layer}.{kind}", self.key_side(side, kind)
        scale = Factor("scale", trace.scale)
        terms = [
            Term((
                Factor(
                    f"{place}.q[head {h}, {self.row(side, i)}, {c}]", float(trace.q[h, i, c]),
                    lambda c=c: self.projected(side, layer, kind, "q", h, i, c),
                ),
                Factor(
                    f"{place}.k[head {h}, {self.row(keys, k)}, {c}]", float(trace.k[h, k, c]),
                    lambda c=c: self.projected(side, layer, kind, "k", h, k, c),
                ),
                scale,
            ))
            for c in range(trace.q.shape[-1])
        ]  # fmt: skip
        name = f"{place}.score[head {h}, {self.row(side, i)}, {self.row(keys, k)}]"
        return self.step(name, trace.scaled_scores[h, i, k], "query · key · scale", terms)

    def projected(self, side: str, layer: int, kind: str, what: str, h: int, i: int, c: int) -> Step:
        """An entry of a query, key or value: a row times a column of its weight matrix."""
        trace = getattr(getattr(self.trace, side).layers[layer], kind).inner
        p = getattr(getattr(self.params, side)[layer], kind)
        from_memory = kind == "cross_attention" and what != "q"
        rows = trace.memory if what != "q" else trace.x
        row_side = "encoder" if from_memory else side
        array = getattr(trace.attention, what)
        column = h * array.shape[-1] + c
        place, row = f"{side}.{layer}.{kind}", self.row(row_side, i)

        def back(m):
            if from_memory:
                return self.stack_out("encoder", i, m)
            return self.norm_input(side, layer, kind, i, m)

        source = "encoder.out" if from_memory else f"{place}.rows"
        return self.linear(
            f"{place}.{what}[head {h}, {row}, {c}]", array[h, i, c], rows[i], back, f"{source}[{row}, ",
            getattr(p, f"w_{what}"), getattr(p, f"b_{what}"), f"{place}.w_{what}", f"{place}.b_{what}", column,
        )  # fmt: skip

    def embedded(self, side: str, i: int, j: int) -> Step:
        """The first row: the token's embedding, scaled, plus its position."""
        stack = getattr(self.trace, side)
        table = self.params.src_embedding if side == "encoder" else self.params.tgt_embedding
        token = int(stack.ids[i])
        which = "src_embedding" if side == "encoder" else "tgt_embedding"
        factors = [Factor(f"{which}[{self.row(side, i)}: id {token}, {j}]", float(table[token, j]))]
        if self.cfg.scale_embeddings:
            factors.append(Factor("√d_model", float(np.sqrt(self.cfg.d_model))))
        terms = [Term(tuple(factors))]
        if self.cfg.positions:
            terms.append(Term((Factor(f"PE[{i}, {j}]", float(stack.x[i, j] - stack.embedded[i, j])),)))
        rule = "embedding plus position" if self.cfg.positions else "embedding"
        return self.step(f"{side}.x[{self.row(side, i)}, {j}]", stack.x[i, j], rule, terms)
