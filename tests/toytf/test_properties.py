"""Random right calls of the functions of ops, positions, attention, model, generate, optim and corpus, against `plain`.

About a hundred calls of each function, the same ones each time, and others in `make test-matrix`. The plain functions
are in `plain.py`; `plainly` turns arrays and parameters into lists and dicts.
"""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import plain
from drawn import SEEDS, configs, drawn_model
from toytf import attention, corpus, generate, model, ops, optim, parameters, positions, tree
from toytf.attention import MultiHead
from toytf.corpus import Pair
from toytf.ops import LayerNorm, Linear

# ---------------------------------------------------------------- drawing

SIDES = st.integers(1, 4)
NUMBERS = st.floats(-50, 50, allow_subnormal=False)


def arrays(*shape, elements=NUMBERS):
    return hnp.arrays(np.float64, shape, elements=elements)


@st.composite
def shaped(draw, *names, leading=2, elements=NUMBERS):
    """Arrays whose axes have names: those of one name are of one length; all have the same leading axes."""
    lengths = {axis: draw(SIDES) for name in names for axis in name.split()}
    before = tuple(draw(st.lists(SIDES, max_size=leading)))
    return [draw(arrays(*before, *(lengths[axis] for axis in name.split()), elements=elements)) for name in names]


def close(got, expected, scale=1.0):
    """Whether numbers agree but for rounding, where they come out of ones of this size."""
    np.testing.assert_allclose(got, np.array(expected, dtype=float), rtol=1e-10, atol=1e-12 * max(1.0, scale))


def plainly(tree):
    """Arrays as lists, dataclasses as dicts."""
    if isinstance(tree, np.ndarray):
        return tree.tolist()
    if dataclasses.is_dataclass(tree):
        return {name: plainly(part) for name, part in vars(tree).items()}
    return [plainly(part) for part in tree] if isinstance(tree, list) else tree


def by_rows(function, *arrays):
    """Give each row of some arrays to a function, the last axis being the row."""
    rows = zip(*(a.reshape(-1, a.shape[-1]).tolist() for a in arrays), strict=True)
    return np.array([function(*row) for row in rows]).reshape(arrays[0].shape)


def by_matrices(function, *arrays):
    """Give each matrix of some arrays to a function, whatever axes they have before the last two."""
    before = arrays[0].shape[:-2]
    matrices = zip(*(a.reshape(-1, *a.shape[-2:]).tolist() for a in arrays), strict=True)
    out = np.array([function(*each) for each in matrices])
    return out.reshape(*before, *out.shape[1:])


# ---------------------------------------------------------------- ops


@given(hnp.arrays(np.float64, hnp.array_shapes(max_dims=3, max_side=4), elements=NUMBERS), st.data())
def test_softmax_and_its_logarithm(x, data):
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    rows = np.moveaxis(x, axis, -1)
    close(np.moveaxis(ops.softmax(x, axis), axis, -1), by_rows(plain.softmax, rows))
    close(np.moveaxis(ops.softmax_naive(x, axis), axis, -1), by_rows(plain.softmax, rows))
    close(np.moveaxis(ops.log_softmax(x, axis), axis, -1), by_rows(plain.log_softmax, rows), 100)


@given(shaped("n d"), st.booleans(), SIDES, st.data())
def test_linear(drawn, has_bias, d_out, data):
    (x,) = drawn
    weight = data.draw(arrays(x.shape[-1], d_out))
    bias = data.draw(arrays(d_out)) if has_bias else None
    expected = by_matrices(lambda m: plain.linear(m, weight.tolist(), plainly(bias)), x)
    close(ops.linear(Linear(weight, bias), x), expected, 2500)


@given(shaped("vocabulary d", leading=0), hnp.array_shapes(max_dims=3, max_side=4), st.data())
def test_embedding(drawn, shape, data):
    (table,) = drawn
    ids = data.draw(hnp.arrays(np.int64, shape, elements=st.integers(0, len(table) - 1)))
    assert ops.embedding(table, ids).tolist() == np.array([table[i] for i in ids.ravel()]).reshape(*shape, -1).tolist()


@given(hnp.array_shapes(min_dims=0, max_dims=3, max_side=4), st.data())
def test_activations(shape, data):
    x = data.draw(arrays(*shape))
    for got, function in (
        (ops.relu(x), plain.relu),
        (ops.gelu(x), plain.gelu),
        (ops.gelu_tanh(x), plain.gelu_tanh),
        (ops.normal_cdf(x), plain.bell_below),
    ):
        close(got, np.array([function(v) for v in x.ravel().tolist()]).reshape(shape))


@given(shaped("d"), st.sampled_from([1e-12, 1e-5, 0.1, 3.0]), st.data())
def test_layer_norm(drawn, eps, data):
    (x,) = drawn
    gamma, beta = data.draw(arrays(x.shape[-1])), data.draw(arrays(x.shape[-1]))
    # What is left of a nearly constant row after its mean was taken away is rounding, which eps divides.
    scale = 1e3 / math.sqrt(eps)
    expected = by_rows(lambda r: plain.layer_norm(r, gamma.tolist(), beta.tolist(), eps), x)
    close(ops.layer_norm(LayerNorm(gamma, beta), x, eps)[0], expected, scale)

    def outside(row):
        std = math.sqrt(plain.mean([(v - plain.mean(row)) ** 2 for v in row]))
        return [(v - plain.mean(row)) / (std + eps) for v in row]

    close(ops.layer_norm_eps_outside(x, eps), by_rows(outside, x), 1e3 / eps)


@given(shaped("n vocabulary"), st.sampled_from([0.0, 0.1, 0.9]), st.booleans(), st.data())
def test_cross_entropy(drawn, smoothing, all_count, data):
    (logits,) = drawn
    places, vocabulary = logits.shape[:-1], logits.shape[-1]
    targets = data.draw(hnp.arrays(np.int64, places, elements=st.integers(0, vocabulary - 1)))
    counted = np.ones(places, bool) if all_count else data.draw(hnp.arrays(bool, places))
    assume(counted.any())
    loss, _ = ops.cross_entropy(logits, targets, None if all_count else counted, smoothing)
    rows, goals, flags = logits.reshape(-1, vocabulary).tolist(), targets.ravel().tolist(), counted.ravel().tolist()
    close(loss, plain.cross_entropy(rows, goals, flags, smoothing), 100)


# ---------------------------------------------------------------- positions


@given(st.integers(1, 6), st.integers(1, 5), st.integers(0, 10**6), st.integers(-50, 50))
def test_positions(length, pairs, start, k):
    d, last = 2 * pairs, max(pairs - 1, 1)
    # A large position has few digits behind the point: its angle is right to some 1e-16 of itself.
    close(
        positions.sinusoids(length, d, start), [plain.position(start + t, d) for t in range(length)], 1e3 * (start + 10)
    )
    expected = [[(math.cos if j % 2 else math.sin)(t / 10000 ** (2 * j / d)) for j in range(d)] for t in range(length)]
    close(positions.sinusoids_column_as_i(length, d), expected)
    expected = [
        [wave(t / 10000 ** (i / last)) for wave in (math.sin, math.cos) for i in range(pairs)] for t in range(length)
    ]
    close(positions.sinusoids_halves(length, d), expected)
    rows = [plain.position(t, d) for t in range(60, 60 + length)]
    moved = [plain.position(t + k, d) for t in range(60, 60 + length)]
    close(plain.matmul(rows, positions.shift(k, d).tolist()), moved, 100)


# ---------------------------------------------------------------- attention


@st.composite
def masks(draw, *shape):
    return draw(hnp.arrays(bool, shape)) if draw(st.booleans()) else np.ones(shape, bool)


SMALL_NUMBERS = st.floats(-4, 4, allow_subnormal=False)


@given(shaped("query d_k", "key d_k", "key d_v", elements=SMALL_NUMBERS), st.none() | st.floats(-2, 2), st.data())
def test_attention(drawn, scale, data):
    q, k, v = drawn
    mask = data.draw(masks(*q.shape[:-1], k.shape[-2]))
    out, trace = attention.attention(q, k, v, mask, scale)
    factor = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    close(out, by_matrices(lambda *m: plain.attention(*m, factor)[0], q, k, v, mask))
    close(trace.attn_weights, by_matrices(lambda *m: plain.attention(*m, factor)[1], q, k, v, mask))
    close(attention.masked_softmax(trace.scaled_scores, mask), trace.attn_weights)
    if mask.all():
        np.testing.assert_array_equal(attention.attention(q, k, v, None, scale)[0], out)


def heads_from(rng, d, n_heads, d_k, d_v, bias):
    shapes = [(d, n_heads * d_k)] * 2 + [(d, n_heads * d_v), (n_heads * d_v, d)]
    biases = [(n_heads * d_k,)] * 2 + [(n_heads * d_v,), (d,)]
    return MultiHead(
        *(rng.normal(size=shape) for shape in shapes),
        *(rng.normal(size=shape) if bias else None for shape in biases),
    )


@given(
    shaped("query d", "key d", elements=SMALL_NUMBERS),
    SEEDS, SIDES, SIDES, SIDES, st.booleans(), st.booleans(), st.none() | st.floats(-2, 2), st.data(),
)  # fmt: skip
def test_several_heads(drawn, seed, n_heads, d_k, d_v, bias, own, scale, data):
    x, memory = drawn[0], drawn[0] if own else drawn[1]
    p = heads_from(np.random.default_rng(seed), x.shape[-1], n_heads, d_k, d_v, bias)
    mask = data.draw(masks(*x.shape[:-1], memory.shape[-2]))
    out, _ = attention.multi_head_attention(p, x, None if own else memory, n_heads=n_heads, mask=mask, scale=scale)
    expected = by_matrices(
        lambda x, m, mask: plain.multi_head_attention(plainly(p), x, m, n_heads, mask, scale), x, memory, mask
    )
    close(out, expected, 1e4)


@given(st.integers(1, 3), SIDES, SIDES, SIDES, SEEDS)
def test_heads_side_by_side(n_heads, d, d_k, d_v, seed):
    rng = np.random.default_rng(seed)
    w_q, w_k, w_v = ([rng.normal(size=(d, width)).tolist() for _ in range(n_heads)] for width in (d_k, d_k, d_v))
    p = MultiHead.from_heads(w_q, w_k, w_v, rng.normal(size=(n_heads * d_v, d)))
    for whole, heads in ((p.w_q, w_q), (p.w_k, w_k), (p.w_v, w_v)):
        assert whole.tolist() == [[v for head in heads for v in head[row]] for row in range(d)]


# ---------------------------------------------------------------- model


@given(configs(), SEEDS)
def test_the_arrays_of_a_model(cfg, seed):
    params = model.init(cfg, np.random.default_rng(seed))
    found = tree.named_arrays(params)
    assert list(found) == list(parameters.shapes(cfg))  # in one order, which a file and Adam rely on
    assert parameters.shapes(cfg) == {name: array.shape for name, array in found.items()}
    assert tree.count(params) == sum(array.size for array in found.values())
    for name, array in found.items():
        last = name.rsplit(".", 1)[-1]
        if last in ("gamma", "beta", "bias") or last.startswith("b_"):
            assert (array == (last == "gamma")).all()
        elif not name.endswith("embedding"):
            assert np.abs(array).max() <= math.sqrt(6 / sum(array.shape))


@st.composite
def sentences(draw, vocabulary, n):
    """Ids and flags of `n` sentences of one length, the first token of each a real one."""
    length = draw(st.integers(1, 4))
    ids = draw(hnp.arrays(np.int64, (n, length), elements=st.integers(0, vocabulary - 1)))
    kept = draw(hnp.arrays(np.int64, n, elements=st.integers(1, length)))
    return ids, np.arange(length) < kept[:, None]


@given(configs(), SEEDS, st.booleans(), st.booleans(), st.data())
def test_a_whole_model(cfg, seed, padded, keep_trace, data):
    params = drawn_model(cfg, seed)
    src, src_flags = data.draw(sentences(cfg.src_vocab, 2))
    tgt, tgt_flags = data.draw(sentences(cfg.tgt_vocab, 2))
    if not padded:
        src_flags[:], tgt_flags[:] = True, True
    given_src, given_tgt = (src_flags, tgt_flags) if padded else (None, None)
    simple = plainly(params)
    memory = None
    if params.encoder:
        start = data.draw(st.integers(0, 9))
        _, x = model.embed(params.src_embedding, cfg, src, start)
        close(x, [plain.embed(simple["src_embedding"], cfg, row, start) for row in src.tolist()])
        memory, _ = model.encode(params, cfg, src, given_src, keep_trace=keep_trace)
        expected = [plain.encode(simple, cfg, *row) for row in zip(src.tolist(), src_flags.tolist(), strict=True)]
        close(memory, expected, 1e6)
    if params.decoder:
        read = memory if cfg.reads_memory else None
        rows, _ = model.decode(params, cfg, tgt, read, given_tgt, given_src, keep_trace=keep_trace)
        four = [a.tolist() for a in (src, tgt, src_flags, tgt_flags)]
        logits, trace = model.forward(
            params, cfg, src if params.encoder else None, tgt, given_src, given_tgt, keep_trace=keep_trace
        )
        assert (trace is not None) == keep_trace
        close(logits, [plain.forward(simple, cfg, *row) for row in zip(*four, strict=True)], 1e7)
        output = simple["output"]
        close(by_matrices(lambda m: plain.linear(m, output["weight"], output["bias"]), rows), logits, 1e7)


# ---------------------------------------------------------------- generate


@given(configs(), SEEDS, st.booleans(), st.data())
def test_steps_give_what_the_whole_model_gives(cfg, seed, cached, data):
    assume(cfg.n_decoder_layers)
    cached = cached and cfg.causal
    params = drawn_model(cfg, seed)
    src, flags = data.draw(sentences(cfg.src_vocab, 2))
    tgt, _ = data.draw(sentences(cfg.tgt_vocab, 2))
    step, simple = generate.stepper(params, cfg), plainly(params)
    if params.encoder:
        order = data.draw(st.lists(st.integers(0, 1), min_size=2, max_size=2))
        state = generate.start(params, cfg, src, flags, cached)
    else:
        order = [0]
        state = generate.start(params, cfg, cached=cached)
    for t in range(tgt.shape[1]):
        if t == 1:  # from here on other sentences, as a beam would have it
            state, src, flags, tgt = (
                state.take(order),
                src[order],
                flags[order],
                np.hstack([tgt[order, :1], tgt[: len(order), 1:]]),
            )
        ids = tgt[: len(order) if t or not params.encoder else 2, t]
        before, (logits, state) = state, step(state, ids)
        np.testing.assert_array_equal(step(before, ids)[0], logits)  # a state is never changed
        for row in range(len(logits)):
            so_far = tgt[row, : t + 1].tolist()
            expected = plain.forward(simple, cfg, src[row].tolist(), so_far, flags[row].tolist(), [True] * (t + 1))
            close(logits[row], expected[-1], 1e7)


@dataclasses.dataclass(frozen=True)
class Chain:
    """A made-up model: the next token's scores depend on the last two tokens."""

    sentences: tuple = ((),)

    def take(self, rows):
        return Chain(tuple(self.sentences[row] for row in rows))


def chain(scores):
    """A step through a `Chain`, and the same for `plain`: a function of the tokens so far."""

    def after(tokens):
        return scores[tokens[-1]][tokens[-2] if len(tokens) > 1 else 0]

    def step(state, ids):
        longer = tuple((*s, int(i)) for s, i in zip(state.sentences, ids, strict=True))
        return np.array([after(s) for s in longer]), Chain(longer)

    return step, after


@st.composite
def chains(draw):
    vocabulary = draw(st.integers(2, 4))
    scores = np.random.default_rng(draw(SEEDS)).normal(size=(vocabulary,) * 3) * draw(st.sampled_from([0.3, 1, 4]))
    sos, eos = draw(st.integers(0, vocabulary - 1)), draw(st.integers(-1, vocabulary - 1))
    return scores.tolist(), {"sos": sos, "eos": eos, "max_length": draw(st.integers(1, 6))}


def same(hypothesis, tokens, log_prob, eos):
    assert hypothesis.ids == tokens
    assert hypothesis.log_prob == pytest.approx(log_prob, abs=1e-9)
    assert hypothesis.ended == (tokens[-1] == eos)


CUTS = {"top_k": st.none() | st.integers(1, 5), "top_p": st.none() | st.floats(0.01, 1)}


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6), st.fixed_dictionaries(CUTS))
def test_kept_tokens(probs, cuts):
    assert generate.kept_tokens(probs, **cuts).tolist() == plain.kept_tokens(probs, **cuts)


@given(chains(), st.fixed_dictionaries(CUTS), st.floats(0.2, 5), SEEDS)
def test_sample(drawn, cuts, temperature, seed):
    scores, ends = drawn
    step, after = chain(scores)
    (found,) = generate.sample(step, Chain(), rng=np.random.default_rng(seed), temperature=temperature, **cuts, **ends)
    random = np.random.default_rng(seed).random
    same(found, *plain.sample(after, random=random, temperature=temperature, **cuts, **ends), ends["eos"])


@given(chains(), st.integers(1, 5), st.sampled_from([0.0, 0.6, 2.0]), st.data())
def test_beam_search(drawn, width, length_penalty, data):
    scores, ends = drawn
    step, after = chain(scores)
    n_best = data.draw(st.integers(1, width))
    found = generate.beam_search(step, Chain(), width=width, length_penalty=length_penalty, n_best=n_best, **ends)
    try:
        done, alive = plain.beam_search(after, width=width, length_penalty=length_penalty, **ends)
    except plain.Tie:
        assume(False)
    expected = (done + alive)[:n_best]
    if width == 1:  # that is greedy, of several sentences side by side too
        for one in generate.greedy(step, Chain(((),) * 3), n=3, **ends):
            same(one, *expected[0], ends["eos"])
    # Without a penalty the search may stop as soon as no sentence can overtake: what ended comes first either way.
    assert len(found) == len(expected)
    for hypothesis, (tokens, log_prob) in zip(found, expected, strict=True):
        same(hypothesis, tokens, log_prob, ends["eos"])
        assert hypothesis.score == pytest.approx(log_prob / ((5 + len(tokens)) / 6) ** length_penalty, abs=1e-9)


# ---------------------------------------------------------------- optim

RATES = st.floats(1e-4, 1.0)


@given(
    st.lists(st.tuples(NUMBERS, st.lists(NUMBERS, min_size=3, max_size=3)), min_size=1, max_size=5),
    st.lists(RATES, min_size=3, max_size=3), st.floats(0, 0.99), st.floats(0, 0.999), st.floats(1e-9, 1.0), RATES,
)  # fmt: skip
def test_optimisers(numbers, rates, beta1, beta2, eps, limit):
    def tree(values):
        return LayerNorm(np.array(values), np.zeros(0))

    moved, descended = tree([p for p, _ in numbers]), tree([p for p, _ in numbers])
    adam = optim.Adam(beta1, beta2, eps)
    for t, rate in enumerate(rates):
        gradients = [g[t] for _, g in numbers]
        adam.step(moved, tree(gradients), rate)
        optim.sgd_step(descended, tree(gradients), rate)
        clipped = tree(gradients)
        length = math.sqrt(math.fsum(g * g for g in gradients))
        assert optim.gradient_length(tree(gradients)) == pytest.approx(length, rel=1e-12)
        assert optim.clip(clipped, limit) == pytest.approx(length, rel=1e-12)
        close(clipped.gamma, [g * min(1, limit / length) if length else g for g in gradients])
    close(moved.gamma, [plain.adam(p, g, rates, beta1, beta2, eps) for p, g in numbers], 1e3)
    expected = [p - math.fsum(rate * g for rate, g in zip(rates, gs, strict=True)) for p, gs in numbers]
    close(descended.gamma, expected, 1e3)


@given(st.integers(1, 1000), st.integers(1, 1000), st.integers(1, 10**6), RATES, st.data())
def test_schedules(d_model, warmup, t, peak, data):
    expected = min(1 / math.sqrt(t), t / warmup**1.5) / math.sqrt(d_model)
    assert optim.paper_schedule(d_model, warmup)(t) == pytest.approx(expected, rel=1e-12)
    steps = data.draw(st.integers(warmup, 2000))
    t = data.draw(st.integers(1, steps))
    down = (t - warmup) / (steps - warmup + 1)  # 0 at the peak, 1 one step after the last
    expected = peak * t / warmup if t <= warmup else peak * (1 + math.cos(math.pi * down)) / 2
    assert optim.cosine_schedule(peak, warmup, steps)(t) == pytest.approx(expected, rel=1e-9, abs=1e-12)


# ---------------------------------------------------------------- corpus

WORDS = st.text("abc", min_size=1, max_size=2)
SENTENCES = st.lists(WORDS, min_size=1, max_size=4).map(tuple)
PAIRS = st.builds(Pair, SENTENCES, SENTENCES)


@given(st.lists(PAIRS, min_size=1, max_size=6))
def test_vocabularies(pairs):
    for vocabulary, side in zip(corpus.vocabularies(pairs), ("src", "tgt"), strict=True):
        words = sorted({word for pair in pairs for word in getattr(pair, side)})
        assert vocabulary.tokens([]) == []
        assert list(vocabulary) == ["<pad>", "<sos>", "<eos>", *words]
        for pair in pairs:
            ids = vocabulary.ids(getattr(pair, side))
            assert ids == [3 + words.index(word) for word in getattr(pair, side)]
            assert vocabulary.tokens(ids) == list(getattr(pair, side))


@given(st.lists(st.lists(st.integers(0, 99), min_size=1, max_size=6), min_size=1, max_size=5), st.integers(1, 8), SIDES)
def test_pad(sentences, length, pad_id):
    ids, is_token = corpus.pad(sentences, length, pad_id)
    expected = [plain.padded(sentence, length, pad_id) for sentence in sentences]
    assert ids.tolist() == [row for row, _ in expected]
    assert is_token.tolist() == [flags for _, flags in expected]


@given(st.lists(PAIRS, min_size=1, max_size=6), st.integers(1, 9), SEEDS)
def test_batches(pairs, size, seed):
    src_vocab, tgt_vocab = corpus.vocabularies(pairs)
    data = corpus.to_batch(pairs, src_vocab, tgt_vocab)
    longest = [max(len(getattr(pair, side)) for pair in pairs) for side in ("src", "tgt")]
    for row, pair in enumerate(pairs):
        src, src_flags = plain.padded(src_vocab.ids(pair.src), longest[0], 0)
        tgt, tgt_flags = plain.padded([1, *tgt_vocab.ids(pair.tgt)], longest[1] + 1, 0)
        goal, _ = plain.padded([*tgt_vocab.ids(pair.tgt), 2], longest[1] + 1, 0)
        got = [part.tolist() for part in vars(data.take([row])).values()]
        assert got == [[src], [src_flags], [tgt], [goal], [tgt_flags]]
    rng, waiting = np.random.default_rng(seed), []
    endless = corpus.batches(data, size, np.random.default_rng(seed))
    for _ in range(4):
        while len(waiting) < size:
            waiting += rng.permutation(len(pairs)).tolist()
        rows, waiting = waiting[:size], waiting[size:]
        batch = next(endless)
        assert all((vars(batch)[name] == array[rows]).all() for name, array in vars(data).items())


@given(st.lists(PAIRS, min_size=2, max_size=10), st.floats(0.1, 0.9), SEEDS)
def test_split(pairs, share, seed):
    pairs = [dataclasses.replace(pair, links=(number,)) for number, pair in enumerate(pairs)]
    try:
        train, test = corpus.split(pairs, np.random.default_rng(seed), share)
    except ValueError as error:
        assert str(error).startswith("pairs: expected enough of them for two parts")
        return
    assert sorted(pair.links for pair in train + test) == [(number,) for number in range(len(pairs))]
    assert not {pair.src for pair in train} & {pair.src for pair in test}
    assert not {pair.tgt for pair in train} & {pair.tgt for pair in test}
    assert len(test) <= round(share * len(pairs))
