"""Every checker: a right answer is seen as right, and each known mistake is called by its name.

A few draws of inputs for each.
"""

import builtins
import functools
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from toytf import attention, check, model, ops, optim, positions, size
from toytf.check.compare import call
from toytf.check.core import diagnose
from toytf.generate import greedy, kept_tokens

SEEDS = (0, 1, 2)
CHECKS = list(check.CHECKS.values())
each = pytest.mark.parametrize("one", CHECKS, ids=[c.name for c in CHECKS])


def run(source: str, name: str):
    """Define a function as a student's notebook would: with NumPy and nothing else at hand."""
    space = {"np": np, "__builtins__": builtins}
    exec(compile(source, name, "exec"), space)
    return space[name]


@functools.lru_cache(256)
def drawn(name, seed):
    return check.CHECKS[name].draw(np.random.default_rng(seed))


def draws(one):
    return (drawn(one.name, seed) for seed in SEEDS)


# ---------------------------------------------------------------- right functions other than the solutions


def keeping(probs, **limit):
    """The words that toytf keeps, their sum renewed."""
    kept = np.where(np.isin(np.arange(len(probs)), kept_tokens(probs, **limit)), probs, 0.0)
    return kept / kept.sum()


def beam_of_whole_sentences(score):
    """A beam that scores each candidate anew."""

    def function(first, following, length, width):
        def scored(words):
            return score([first[words[0]], *(following[a, b] for a, b in pairwise(words))])

        kept = [[]]
        for _ in range(length):
            kept = [[*words, word] for words in kept for word in range(len(first))]
            kept = sorted(kept, key=lambda words: -scored(words))[:width]
        return np.array(kept), np.array([scored(words) for words in kept])

    return function


def layer_norm_by_squares(x, gamma, beta, eps=1e-5):
    """The variance as the mean of the squares minus the square of the mean."""
    mean = x.mean(axis=-1, keepdims=True)
    variance = (x * x).mean(axis=-1, keepdims=True) - mean * mean
    return (x - mean) * (gamma / np.sqrt(variance + eps)) + beta


def diagonals(table):
    return np.array([np.ptp((table[: len(table) - k] * table[k:]).sum(axis=1)) for k in range(len(table))])


def llama(words, d, layers, n_heads, n_key_heads, d_head, d_ff):
    wide, narrow = n_heads * d_head, n_key_heads * d_head
    layer = [(d, wide), (d, narrow), (d, narrow), (wide, d), (d, d_ff), (d, d_ff), (d_ff, d), (d,), (d,)]
    return sum(int(np.prod(shape)) for shape in [*layer * layers, (d,), (words, d), (d, words)])


def greedily(table, weight, sos, eos, limit):
    def step(read, ids):
        read = [*read, *ids]
        return (table[read].mean(axis=0) @ weight)[None], read

    (sentence,) = greedy(step, [], sos=sos, eos=eos, max_length=limit)
    return np.array(sentence.ids)


def bare_norm(rows):
    d = rows.shape[-1]
    return ops.layer_norm(ops.LayerNorm(np.ones(d), np.zeros(d)), rows)[0]


def encoder_layer(x, w_q, w_k, w_v, w_o, *network):
    d = x.shape[-1]
    cfg = model.Config(src_vocab=1, tgt_vocab=1, d_model=d, n_heads=1, n_decoder_layers=0, positions=False)
    norm = ops.LayerNorm(np.ones(d), np.zeros(d))
    heads, network = model.MultiHead(w_q, w_k, w_v, w_o), model.FeedForward(*network)
    return model.encoder_layer(model.EncoderLayer(heads, norm, network, norm), cfg, x)[0]


def cross_first(y, memory, mask):
    read = bare_norm(y + attention.attention(y, memory, memory)[0])
    return bare_norm(read + attention.attention(read, read, read, mask)[0])


def linear_backward(x, w, dy):
    dx, d = ops.linear_backward(ops.Linear(w, np.zeros(w.shape[1])), x, dy)
    return dx, d.weight, d.bias


def layer_norm_backward(x, gamma, dout):
    p = ops.LayerNorm(gamma, np.zeros_like(gamma))
    dx, d = ops.layer_norm_backward(p, ops.layer_norm(p, x)[1], dout)
    return dx, d.gamma, d.beta


def adam_step(w, dw, m, v, t, learning_rate):
    adam, new = optim.Adam(t=t - 1, m=m.flatten(), v=v.flatten()), w.copy()
    adam.step(ops.Linear(new), ops.Linear(dw), learning_rate)
    return new, adam.m.reshape(w.shape), adam.v.reshape(w.shape)


def clip(dw, db, limit):
    both = ops.Linear(dw.copy(), db.copy())
    optim.clip(both, limit)
    return both.weight, both.bias


def torch_masks(is_token):
    causal = attention.causal_mask(is_token.shape[-1])
    return ~is_token, ~causal, (causal & attention.padding_mask(is_token))[:, None]


def config(words=5, d=4, d_ff=8, layers=1, n_heads=1):
    return model.Config(words, words, d, n_heads, d_ff, n_encoder_layers=layers, n_decoder_layers=layers)


OTHERWISE = {  # what each solution gives, computed once more: by toytf where it has such a function
    "one_hot": lambda ids, n_tokens: np.eye(n_tokens)[ids],
    "embed": ops.embedding,
    "sinusoids": positions.sinusoids,
    "shift_matrix": positions.shift,
    "attend_once": lambda query, keys, values: attention.attention(query[None], keys, values)[0][0],
    "attend": lambda q, k, v, scale: attention.attention(q, k, v, scale=scale)[0],
    "scaled_scores": lambda q, k: attention.attention(q, k, k)[1].scaled_scores,
    "split_heads": attention.split_heads,
    "merge_heads": attention.merge_heads,
    "multi_head": lambda x, *w: attention.multi_head_attention(attention.MultiHead(*w[:4]), x, n_heads=w[4])[0],
    "relu": ops.relu,
    "feed_forward": lambda x, *network: model.feed_forward(model.FeedForward(*network), x)[0],
    "identity_weights": lambda d: (
        np.kron([[1.0, -1.0]], np.eye(d)),
        np.zeros(2 * d),
        np.kron([[1.0], [-1.0]], np.eye(d)),
        np.zeros(d),
    ),
    "softmax": ops.softmax,
    "log_softmax": ops.log_softmax,
    "layer_norm": lambda x, gamma, beta, eps=1e-5: ops.layer_norm(ops.LayerNorm(gamma, beta), x, eps)[0],
    "add_and_norm": lambda x, fx, gamma, beta: layer_norm_by_squares(x + fx, gamma, beta),
    "encoder_layer": encoder_layer,
    "causal_mask": attention.causal_mask,
    "padding_mask": attention.padding_mask,
    "masked_softmax": attention.masked_softmax,
    "cross_first": cross_first,
    "cross_attention": lambda y, memory, w_q, w_k, w_v: attention.attention(y @ w_q, memory @ w_k, memory @ w_v)[0],
    "generate": greedily,
    "temperature": lambda logits, t: ops.softmax(logits / t),
    "cross_entropy": lambda logits, targets, is_token: ops.cross_entropy(logits, targets, is_token)[0],
    "smoothed_goal": lambda targets, n, e: ops.cross_entropy(np.zeros((*targets.shape, n)), targets, None, e)[1].goal,
    "cross_entropy_backward": lambda *read: ops.cross_entropy_backward(ops.cross_entropy(*read)[1]),
    "linear_backward": linear_backward,
    "relu_backward": ops.relu_backward,
    "softmax_backward": ops.softmax_backward,
    "layer_norm_backward": layer_norm_backward,
    "attention_backward": lambda q, k, v, do: attention.attention_backward(attention.attention(q, k, v)[1], do),
    "adam_step": adam_step,
    "paper_schedule": lambda step, d_model, warmup: optim.paper_schedule(d_model, warmup)(step),
    "clip": clip,
    "even_weights": lambda mask: attention.masked_softmax(np.zeros(mask.shape), mask),
    "contributions": lambda weights, v, w_o: np.linalg.norm(weights[..., None] * (v @ w_o)[..., None, :, :], axis=-1),
    "turn_mask": torch_masks,
    "table_bytes": lambda batch, n, m, n_heads, layers: (
        4 * size.activations(config(d=2 * n_heads, n_heads=n_heads, layers=layers), batch, n, m)["attention weights"]
    ),
    "count_parameters": lambda words, d, d_ff, layers: (  # one table in the place of three, and no bias at the output
        sum(size.parameters(config(words, d, d_ff, layers)).values()) - 2 * words * d - words
    ),
    "cache_bytes": lambda n, m, d, layers, itemsize: (
        itemsize * sum(size.cache(config(d=d, layers=layers), 1, n, m).values())
    ),
    "count_multiplications": lambda n, m, *sizes: sum(size.multiplications(config(*sizes), n, m).values()),
    "recurrence": lambda x, keep=0.5: np.tril(float(keep) ** np.abs(np.subtract.outer(*[range(len(x))] * 2))) @ x,
    "earliest_steps": lambda n, layers: np.add.outer(np.arange(layers), np.arange(n)) + 1,
    "diagonal_spread": diagonals,
    "reorder_w_o": lambda w_o, order: np.concatenate([np.split(w_o, len(order))[j] for j in order]),
    "rows_stand_alone": lambda together, alone: bool((abs(together - alone) < 1e-6).all()),
    "other_rows_moved": lambda before, after, row: bool(np.abs(np.delete(after - before, row, axis=0)).sum() > 1e-6),
    "window_mask": lambda n, width: np.isin(np.subtract.outer(np.arange(n), np.arange(n)), range(width)),
    "disguise_mask": lambda n, m, past: np.tri(n + m, dtype=bool)[n:] & ((np.arange(n + m) < n) | past),
    "shift_right": lambda goals, sos: np.insert(goals[..., :-1], 0, sos, axis=-1),
    "pick": lambda logits: np.array([rows[-1].tolist().index(rows[-1].max()) for rows in logits]),
    "rollout": lambda maps: functools.reduce(lambda a, b: b @ a, (maps.mean(axis=1) + np.eye(maps.shape[-1])) / 2),
    "exact_matches": lambda said, goal, is_token: np.array(
        [np.array_equal(a[here], b[here]) for a, b, here in zip(said, goal, is_token, strict=True)]
    ),
    "share_and_spread": lambda right, n: (right / n, np.std(np.arange(n) < right) / n**0.5),
    "split_in_proj": lambda w: tuple(w.reshape(3, w.shape[1], w.shape[1]).transpose(0, 2, 1)),
    "sample_std": lambda x: np.std(x, axis=-1, ddof=1, keepdims=True),
    "llama_parameters": llama,
    "top_k": lambda probs, k: keeping(probs, top_k=k),
    "top_p": lambda probs, p: keeping(probs, top_p=p),
    "beam": beam_of_whole_sentences(lambda steps: np.log(np.prod(np.exp(steps)))),
}


def single(x):
    """Rounded to float32, also inside tuples; what that cannot hold stays as it is."""
    if isinstance(x, tuple):
        return tuple(map(single, x))
    if not (isinstance(x, (np.ndarray, np.generic)) and x.dtype == np.float64):
        return x
    with np.errstate(over="ignore"):
        rounded = x.astype(np.float32)
    return rounded if np.array_equal(np.isfinite(rounded), np.isfinite(x)) else x


@each
def test_every_right_way_is_right_on_all_inputs(one):
    alone = run(one.source, one.name)
    for way in (one.solution, alone, lambda *args: single(alone(*single(args))), OTHERWISE.get(one.name, alone)):
        for inputs in draws(one):
            report = diagnose(one, inputs, [call(way, case.args) for case in inputs])
            assert report.right, f"{way}: {report}"


@each
def test_every_known_mistake_is_called_by_its_name_on_all_inputs_in_any_precision(one):
    assert len(one.mistakes) >= 6
    for inputs in draws(one):
        for mistake in one.mistakes:
            outcomes = list(inputs.given(mistake.function))
            report = diagnose(one, inputs, outcomes)
            assert report.mistake == mistake.name, str(report)
            assert mistake.advice in report.details
            assert "With this input" in str(report)
            assert any(outcome.kind == "arrays" for outcome in outcomes)  # else every error would look like it
            for dtype in (np.float32, np.float16):
                assert not diagnose(one, inputs, handed_in(outcomes, dtype)), (mistake.name, dtype)


def handed_in(outcomes, dtype):
    """The same numbers with another precision; truth values, and what is no number, stay."""
    with np.errstate(over="ignore"):
        return [replace(o, arrays=tuple(a if a.dtype == bool else a.astype(dtype) for a in o.arrays)) for o in outcomes]


@each
def test_a_seed_says_which_inputs_are_drawn(one):
    def drawn(seed):
        with np.printoptions(threshold=10**6, precision=17):
            return str([case.args for case in one.draw(np.random.default_rng(seed))])

    assert drawn(0) == drawn(0)
    assert len({drawn(seed) for seed in range(20)}) > 1


@each
def test_a_stub_holds_nothing_of_the_solution_and_fails_politely(one):
    lines = [line.strip() for line in one.source.split('"""', 2)[2].splitlines() if line.strip()]
    assert lines
    assert not [line for line in lines if line in one.stub]
    assert str(one.report(run(one.stub, one.name))).startswith(f"{one.name}: not written yet. The line that raises ")


def test_what_is_no_function_is_told_so():
    assert "expected your function, got int. Write check.softmax(softmax)" in check.softmax.report(3).headline


def test_points_are_all_or_nothing_for_a_function_and_a_share_for_parts():
    assert check.points("softmax", check.softmax.solution, of=3) == 3
    assert check.points("softmax", abs, of=3) == 0
    assert check.points("9.1", {"mean": 3, "variance": None}, of=5) == 1
    with pytest.raises(ValueError, match="exercise: expected a function of an exercise or a number such as 9.1"):
        check.points("soft", abs, of=3)


# ---------------------------------------------------------------- what readers wrote


def reaching(probs, p):
    order = np.argsort(-probs, kind="stable")
    ids = order[: (np.cumsum(probs[order]) < p).sum()]
    return np.where(np.isin(np.arange(len(probs)), ids), probs, 0) / probs[ids].sum()


def sample_deviation_and_eps_outside(x, gamma, beta, eps=1e-5):
    return gamma * (x - x.mean(axis=-1, keepdims=True)) / (x.std(axis=-1, ddof=1, keepdims=True) + eps) + beta


@pytest.mark.parametrize(
    ("name", "mine", "says"),
    [
        ("softmax", lambda scores: 1 / (1 + np.exp(-scores)), "a sigmoid for each score"),
        ("temperature", lambda s, t: np.eye(s.shape[-1])[s.argmax(axis=-1)], "the likeliest word alone"),
        ("softmax", lambda scores: np.round(ops.softmax(scores), 4), "You rounded"),
        ("top_p", reaching, "the word that reaches p always left out"),
        ("pick", lambda logits: logits[:, -2:].argmax(axis=-1)[:, 0], "the row before the last"),
        ("split_heads", lambda x, n: tuple(np.split(x, n, axis=-1)), "heads has shape 3 x 2 x 5 x 2"),
        ("softmax", lambda s: np.exp(s) / np.exp(s).sum(), "no maximum subtracted, and one sum for the whole array"),
        ("layer_norm", sample_deviation_and_eps_outside, "N - 1 in the place of N, and epsilon outside the root"),
    ],
)
def test_natural_slips_and_two_at_once_are_told_apart(name, mine, says):
    report = check.CHECKS[name].report(mine)
    assert not report
    assert says in report.headline
