"""Writing a sentence, one token after the other: greedy, beam search, sampling.

All three work on a ``step``: a function that takes a state and the last token of each sentence, and
returns the scores of the next token and the new state. `stepper` makes one from a model; chapter 13
makes one from a tree that is drawn on paper. A state is passed in and comes out, and is never
changed, so that a beam can go back to an older one; its method ``take`` picks some of its sentences.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any

import numpy as np

from toytf._door import Array, Count, Flags, Floats, Ids, Place, Positive, door
from toytf._validate import as_floats, as_ids, number, require_finite, shape_text, whole_number
from toytf.attention import _attend, _keys_and_values, padding_mask
from toytf.model import _decoder_layer, _last_norm, decode, embed, encode
from toytf.ops import linear, log_softmax, softmax
from toytf.parameters import Config, MultiHead, Transformer

End = Annotated[int, lambda name, value: whole_number(name, value, least=-1)]  # -1: no token ends a sentence
Begin = Annotated[Any, as_ids]  # one for all sentences, or one for each
TopP = Annotated[float, lambda name, value: number(name, value, "more than 0 and at most 1", lambda p: 0 < p <= 1)]
Penalty = Annotated[float, lambda name, value: number(name, value, "0 or more", lambda x: 0 <= x < 100)]

# ---------------------------------------------------------------- one step of the model


@dataclass(frozen=True)
class DecodeState:
    """What the decoder keeps of the tokens that it has read, so as not to compute it again.

    For each decoder layer the keys and values of the tokens so far, and those of the memory, which
    never change. Without a cache it keeps the tokens and the memory and computes all of it anew.
    """

    ids: Annotated[Array, "batch length"]  # the tokens read so far
    memory: Annotated[Array, "batch source d_model"] | None
    memory_mask: Annotated[Array, "batch 1 source"] | None
    cached: bool
    keys: tuple[Array, ...] = ()  # one a layer: batch head length d_head
    values: tuple[Array, ...] = ()
    memory_keys: tuple[Array, ...] = ()  # one a layer: batch head source d_head
    memory_values: tuple[Array, ...] = ()

    def take(self, rows) -> DecodeState:
        """Return the state of some of the sentences, in the order of `rows`, repeated if repeated there."""

        def pick(part):
            if isinstance(part, tuple):
                return tuple(map(pick, part))
            return part[rows] if isinstance(part, np.ndarray) else part

        return DecodeState(**{name: pick(part) for name, part in vars(self).items()})


@door
def start(
    params: Transformer,
    cfg: Annotated[Config, "sizes"],
    src: Annotated[Ids, "... source < src_vocab"] | None = None,
    src_is_token: Annotated[Flags, "... source"] | None = None,
    cached: bool = True,
) -> DecodeState:
    """Read the source sentences and make the state from which writing starts.

    One sentence, (source,), counts as a batch of one; None is for a decoder-only model. Unless `cached`, everything is
    computed anew at each step: slower, the same numbers. A decoder without causal mask cannot be cached, since each new
    token changes the old rows.
    """
    if cached and not cfg.causal:
        raise ValueError("cached: expected False for a decoder without causal mask, got True")
    if src is None:
        if params.encoder:
            raise ValueError("src: expected token ids for a model with an encoder, got None")
        return DecodeState(np.zeros((1, 0), dtype=np.int64), None, None, cached)
    src = np.atleast_2d(src)
    mask = None if src_is_token is None else padding_mask(np.atleast_2d(src_is_token))
    memory, _ = encode(params, cfg, src, None if mask is None else mask[:, 0], keep_trace=False)
    state = DecodeState(np.zeros((len(src), 0), dtype=np.int64), memory if cfg.reads_memory else None, mask, cached)
    if not (cached and cfg.reads_memory):
        return state
    kept = [_keys_and_values(layer.cross_attention, memory, cfg.n_heads) for layer in params.decoder]
    return replace(state, memory_keys=tuple(k for k, _ in kept), memory_values=tuple(v for _, v in kept))


@door
def stepper(params: Transformer, cfg: Annotated[Config, "sizes"]) -> Callable:
    """Return ``step(state, ids) -> (logits, state)`` for a model.

    >>> from toytf.model import init
    >>> cfg = Config(src_vocab=5, tgt_vocab=7, d_model=4, n_heads=2, d_ff=8, n_encoder_layers=1, n_decoder_layers=1)
    >>> params = init(cfg, np.random.default_rng(0))
    >>> logits, state = stepper(params, cfg)(start(params, cfg, [1, 2, 3]), [4])
    >>> logits.shape, state.ids.shape
    ((1, 7), (1, 1))
    """
    if not params.decoder or params.tgt_embedding is None or params.output is None:
        raise ValueError("params: expected a model with a decoder and an output, got one without")

    @door
    def step(state: Any, ids) -> tuple[Array, DecodeState]:
        """Read one more token of each sentence; score the next, and say what is to be kept."""
        ids = as_ids("ids", ids, cfg.tgt_vocab)
        if ids.shape != (len(state.ids),):
            raise ValueError(f"ids: expected {len(state.ids)} tokens, one a sentence, got {shape_text(ids.shape)}")
        state = replace(state, ids=np.concatenate([state.ids, ids[:, None]], axis=1))
        return _cached_step(params, cfg, state) if state.cached else _step(params, cfg, state)

    return step


def _step(params: Transformer, cfg: Config, state: DecodeState) -> tuple[Array, DecodeState]:
    """All rows anew."""
    src_is_token = None if state.memory_mask is None else state.memory_mask[:, 0]
    rows, _ = decode(params, cfg, state.ids, state.memory, src_is_token=src_is_token, keep_trace=False)
    return linear(params.output, rows[:, -1]), state


def _cached_step(params: Transformer, cfg: Config, state: DecodeState) -> tuple[Array, DecodeState]:
    """The newest row alone: it asks the keys of the rows before it."""
    _, x = embed(params.tgt_embedding, cfg, state.ids[:, -1:], start=state.ids.shape[1] - 1)
    kept = []
    for i, p in enumerate(params.decoder):
        ask_past = partial(_ask_past, p.self_attention, cfg, state, i)
        ask_memory = partial(_ask_memory, p.cross_attention, cfg, state, i)
        x, trace = _decoder_layer(p, cfg, x, ask_past, ask_memory)
        kept.append(trace.self_attention.inner)
    x, _ = _last_norm(params.decoder_norm, cfg, x)
    state = replace(state, keys=tuple(k for k, _ in kept), values=tuple(v for _, v in kept))
    return linear(params.output, x[:, 0]), state


def _ask_past(p: MultiHead, cfg: Config, state: DecodeState, layer: int, x: Array) -> tuple[Array, tuple[Array, Array]]:
    """Self-attention of the newest row: its key and value join those of the past, which come back too."""
    k, v = _keys_and_values(p, x, cfg.n_heads)
    if state.keys:
        k = np.concatenate([state.keys[layer], k], axis=-2)
        v = np.concatenate([state.values[layer], v], axis=-2)
    out, _ = _attend(p, x, None, k, v, cfg.n_heads, None, None if cfg.scale else 1.0)
    return out, (k, v)


def _ask_memory(p: MultiHead, cfg: Config, state: DecodeState, layer: int, x: Array) -> tuple[Array, Any]:
    """Cross-attention to the memory's keys and values, which never change."""
    k, v = state.memory_keys[layer], state.memory_values[layer]
    return _attend(p, x, None, k, v, cfg.n_heads, state.memory_mask, None if cfg.scale else 1.0)


# ---------------------------------------------------------------- choosing tokens


@dataclass(frozen=True)
class Hypothesis:
    """One written sentence."""

    ids: tuple[int, ...]  # its tokens, without the start token; with the end token if it has ended
    log_prob: float  # the sum of the logarithms of its tokens' probabilities
    ended: bool  # with the end token; otherwise it was cut off at the limit
    score: float  # what it is ranked by: `log_prob`, divided by a length penalty in beam search


@door
def greedy(step: Callable, state, *, n: Count = 1, sos: Begin, eos: End, max_length: Count) -> list[Hypothesis]:
    """Take the most probable token at every step; of equals the first.

    ``step(state, ids) -> (logits, state)`` gives logits of shape (sentences, vocabulary). The state of `n` sentences,
    which are written side by side, is what `start` returned, or another with a method ``take``. The tokens `sos`, one
    for all or one for each, and `eos` start and end a sentence; `eos` is -1 if no token ends it. After `max_length`
    tokens, the end included, each is cut off. The result is a `Hypothesis` for each sentence.
    """
    return _write(step, state, n, sos, eos, max_length, lambda logits: logits.argmax(axis=-1))


@door
def sample(
    step: Callable,
    state,
    *,
    n: Count = 1,
    sos: Begin,
    eos: End,
    max_length: Count,
    rng: np.random.Generator,
    temperature: Positive = 1.0,
    top_k: Count | None = None,
    top_p: TopP | None = None,
) -> list[Hypothesis]:
    """Draw each token at random, by its probability; arguments and result are as of `greedy`.

    Logits are divided by the `temperature`: below 1 the likely tokens get likelier, above 1 all get more alike. With
    `top_k` only that many most probable tokens can come, with `top_p` the fewest that together have this probability.
    The sentence's ``log_prob`` is that of the model, before temperature and cuts.
    """

    def choose(logits):
        return np.array([_draw(softmax(row / temperature), rng, top_k, top_p) for row in logits])

    return _write(step, state, n, sos, eos, max_length, choose)


@door
def kept_tokens(probs: Annotated[Floats, "vocabulary"], top_k: Count | None = None, top_p: TopP | None = None) -> Array:
    """Return the ids that `sample` may draw from, the most probable first: (kept,).

    `top_p` is a share of what `top_k` leaves. No probability is below 0; their sum need not be 1.

    >>> kept_tokens([0.1, 0.6, 0.3], top_k=2).tolist(), kept_tokens([0.1, 0.6, 0.3], top_p=0.7).tolist()
    ([1, 2], [1, 2])
    """
    if probs.min() < 0:
        raise ValueError(f"probs: expected probabilities of 0 or more, got {probs.min()} at {probs.argmin()}")
    order = np.argsort(-probs, kind="stable")[:top_k]
    if top_p is not None:
        reached = np.cumsum(probs[order])
        order = order[: int(np.searchsorted(reached, top_p * reached[-1] * (1 - 1e-12))) + 1]
    return order


def _draw(probs: Array, rng, top_k, top_p) -> int:
    kept = kept_tokens(probs, top_k, top_p)
    reached = np.cumsum(probs[kept] / probs[kept].sum())
    return int(kept[min(np.searchsorted(reached, rng.random(), side="right"), len(kept) - 1)])


def _write(step, state, n, sos, eos, max_length, choose) -> list[Hypothesis]:
    """Write `n` sentences side by side, each next token chosen from its logits."""
    last = np.full(n, sos)
    ids: list[list[int]] = [[] for _ in range(n)]
    log_prob, ended = np.zeros(n), np.zeros(n, dtype=bool)
    for _ in range(max_length):
        logits, state = _scores(step, state, last, eos)
        last = choose(logits)
        gained = np.take_along_axis(log_softmax(logits), last[:, None], axis=-1)[:, 0]
        for row in np.flatnonzero(~ended):
            ids[row].append(int(last[row]))
            log_prob[row] += gained[row]
        ended |= last == eos
        if ended.all():
            break
    return [
        Hypothesis(tuple(tokens), float(p), bool(e), float(p))
        for tokens, p, e in zip(ids, log_prob, ended, strict=True)
    ]


def _scores(step: Callable, state, last: Array, eos: int) -> tuple[Array, Any]:
    """Take a step, which anybody may have written, and see that it gave a score for each token."""
    logits, state = step(state, last)
    logits = as_floats("step: its logits", logits)
    if logits.ndim != 2 or len(logits) != len(last):
        raise ValueError(
            f"step: expected logits of shape {len(last)} x vocabulary, a row for each sentence, "
            f"got {shape_text(logits.shape)}"
        )
    require_finite("step: its logits", np.where(np.isneginf(logits), 0, logits))
    if eos >= logits.shape[-1]:
        raise ValueError(f"eos: expected one of the {logits.shape[-1]} tokens, or -1 for none, got {eos}")
    return logits, state


@door
def beam_search(
    step: Callable,
    state,
    *,
    sos: Place,
    eos: End,
    max_length: Count,
    width: Count,
    length_penalty: Penalty = 0.0,
    n_best: Count = 1,
) -> list[Hypothesis]:
    """Keep the `width` best sentences so far, at every step.

    All continuations of all kept sentences compete, and the `width` with the largest summed
    log-probability stay. Those that end are set aside. Width 1 is `greedy`; a width that never
    has to throw anything away finds the most probable sentence of all.

    The ended ones are ranked by ``log_prob / ((5 + length) / 6) ** length_penalty``: 0 ranks by probability alone,
    larger values favour longer sentences. The `n_best` best are returned; if fewer have ended, ones that were cut off
    at the limit stand behind them. All else is as in `greedy`, for one source sentence.

    *Attention Is All You Need*, section 6.1 (width 4, length penalty 0.6); Wu et al., *Google's Neural Machine
    Translation System*, 2016, equation 14, for the penalty.
    """
    if n_best > width:
        raise ValueError(f"n_best: expected at most width = {width}, got {n_best}")

    def hypothesis(tokens, log_prob, ended):
        return Hypothesis(tokens, log_prob, ended, log_prob / ((5 + len(tokens)) / 6) ** length_penalty)

    alive: list[tuple[tuple[int, ...], float]] = [((), 0.0)]
    done: list[Hypothesis] = []
    for _ in range(max_length):
        last = np.array([tokens[-1] if tokens else sos for tokens, _ in alive])
        logits, state = _scores(step, state, last, eos)
        totals = np.array([log_prob for _, log_prob in alive])[:, None] + log_softmax(logits)
        best = np.argsort(-totals, axis=None, kind="stable")[:width]
        kept = []
        for parent, token in zip(*(part.tolist() for part in np.divmod(best, totals.shape[1])), strict=True):
            longer, log_prob = (*alive[parent][0], token), float(totals[parent, token])
            if token == eos:
                done.append(hypothesis(longer, log_prob, True))
            else:
                kept.append((longer, log_prob, parent))
        alive = [(longer, log_prob) for longer, log_prob, _ in kept]
        if not alive or (not length_penalty and _none_can_overtake(done, alive, n_best)):
            break
        state = state.take([parent for *_, parent in kept])
    cut = [hypothesis(tokens, log_prob, False) for tokens, log_prob in alive]
    ranked = sorted(done, key=lambda h: -h.score) + sorted(cut, key=lambda h: -h.score)
    return ranked[:n_best]


def _none_can_overtake(done: list[Hypothesis], alive: list, n_best: int) -> bool:
    """Whether the best that ended stay the best: a log-probability only falls as a sentence grows."""
    ended = sorted((h.log_prob for h in done), reverse=True)
    return len(ended) >= n_best and ended[n_best - 1] >= max(log_prob for _, log_prob in alive)
