"""The engine that trains, in Chromium: NumPy's random numbers, `toytf`'s gradients, the whole run of chapter 16."""

from functools import partial

import numpy as np
import pytest

from toytf.corpus import Pair, to_batch, vocabularies
from toytf.grammar import all_words, corpus
from toytf.live import element, wire
from toytf.model import Config, forward, init
from toytf.ops import cross_entropy
from toytf.translator import Translator, loss_and_gradients
from toytf.tree import named_arrays

MODELS = 200
ENDS = {"sos": 1, "eos": 2}


@pytest.fixture
def engine(engine):
    return partial(engine, script=element.script("live") + element.script("learning"))


# ---------------------------------------------------------------- random numbers

DRAW = """([state, n, sizes]) => {
    const rng = new toytf.Generator(state);
    const many = (draw) => Array.from({ length: n }, draw);
    return [many(() => rng.normal()), many(() => rng.uniform(-3, 5)), sizes.map((size) => rng.permutation(size)),
        many(() => rng.random())];
}"""
SIZES = [1, 2, 3, 64, 65, 1000, 3200, 70_000]


def drawn_otherwise(evaluate, seeds=6, n=10_000):
    """How far normal numbers are from NumPy's, at most, and whether all else is the same."""
    worst, same = 0.0, True
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        rng.permutation(seed)  # some have half a number left over
        normal, uniform, orders, random = evaluate(DRAW, [wire.generator(rng), n, SIZES])
        expected = rng.normal(size=n)
        worst = max(worst, np.max(np.abs(np.array(normal) / expected - 1)))
        same &= uniform == rng.uniform(-3, 5, size=n).tolist()
        same &= orders == [rng.permutation(size).tolist() for size in SIZES]
        same &= random == rng.random(n).tolist()
    return worst, same


def test_random_numbers_are_numpys(engine):
    worst, same = drawn_otherwise(engine())
    assert same
    assert worst < 1e-12  # its tables of the ziggurat are computed here


@pytest.mark.parametrize(
    "change",
    [
        ("this.half = Number(bits >> 32n)", "this.half = null"),
        ("j > i", "j >= i"),
        ("-this.tail() : this.tail()", "this.tail() : -this.tail()"),
        ("TAIL + beyond", "TAIL - beyond"),
        ("between * this.random()", "2 * between * this.random()"),
        ("low(52, bits >> 9n)", "low(52, bits >> 10n)"),
    ],
)
def test_random_numbers_drawn_wrong_are_caught(engine, change):
    worst, same = drawn_otherwise(engine(*change), seeds=2)
    assert not (same and worst < 1e-12)


# ---------------------------------------------------------------- gradients

GRADIENTS = """(cases) => cases.map(({ cfg, names, numbers, pairs }) => {
    const model = new toytf.Model(cfg, new toytf.Generator({ state: "1", inc: "1", has_uint32: 0 }));
    const place = (name) => name.split(".").reduce((part, key) => part[key], model.params);
    names.forEach((name, i) => model.numbers.set(numbers[i], place(name).at));
    const loss = model.lossAndGradients(toytf.toBatch(pairs, 1, 2));
    const slope = ({ at, rows, cols }) => Array.from(model.gradients.subarray(at, at + rows * cols));
    return [loss, names.map((name) => slope(place(name))), model.count];
})"""


def random_case(rng):
    """A small model of the paper's form, parameters that are nowhere 0 or 1, and sentence pairs of any lengths."""
    cfg = Config(
        src_vocab=9,
        tgt_vocab=int(rng.integers(8, 14)),
        d_model=2 * int(rng.integers(1, 6)),
        n_heads=int(rng.integers(1, 4)),
        d_head=int(rng.integers(1, 6)),
        d_ff=int(rng.integers(1, 10)),
        n_encoder_layers=int(rng.integers(1, 3)),
        n_decoder_layers=int(rng.integers(1, 3)),
        eps=float(10.0 ** rng.integers(-8, -1)),
    )
    params = init(cfg, rng)
    for array in named_arrays(params).values():
        array += 0.3 * rng.normal(size=array.shape)
    sentence = partial(rng.integers, 3, 8)
    pairs = [[sentence(size=rng.integers(1, 7)).tolist() for _ in range(2)] for _ in range(rng.integers(1, 5))]
    return cfg, params, pairs


def gradients_off_by(evaluate, models=MODELS):
    """How far losses and gradients are from toytf's on random models, relative to the largest of each model."""
    rng = np.random.default_rng(0)
    cases = [random_case(rng) for _ in range(models)]
    given = [
        {
            "cfg": wire.plain(cfg),
            "names": list(named_arrays(params)),
            "numbers": [array.ravel().tolist() for array in named_arrays(params).values()],
            "pairs": pairs,
        }
        for cfg, params, pairs in cases
    ]
    words = [str(i) for i in range(3, 14)]
    vocab, _ = vocabularies([Pair(tuple(words[:-2]), ("0",))])
    worst = 0.0
    for (cfg, params, pairs), (loss, slopes, count) in zip(cases, evaluate(GRADIENTS, given), strict=True):
        ids = [Pair(*(tuple(vocab.tokens(side)) for side in pair)) for pair in pairs]
        expected, gradients = loss_and_gradients(params, to_batch(ids, vocab, vocab), cfg=cfg)
        assert count == sum(array.size for array in named_arrays(params).values())
        flat = np.concatenate([array.ravel() for array in named_arrays(gradients).values()])
        off = np.abs(np.concatenate(slopes) - flat).max() / np.abs(flat).max()
        worst = np.nanmax([worst, off, abs(loss - expected)]) if np.isfinite(off) else np.inf
    return worst


def test_losses_and_gradients_agree_with_toytf_on_200_random_models(engine):
    assert gradients_off_by(engine()) < 1e-10


WRONG = {  # each a slip that training could survive
    "a bias that gets no gradient": ("if (bias) this.addRows", "if (false) this.addRows"),
    "the residual left out on the way back": ("this.add(this.feedForwardBackward(p.feed_forward, feed, dfed), dfed)",
                                              "this.feedForwardBackward(p.feed_forward, feed, dfed)"),
    "the mean of the norm held fixed": ("g - mean / d -", "g -"),
    "the scores' divisor forgotten on the way back": ("(h[dout + j] - average) * scale", "(h[dout + j] - average)"),
    "the future seen": ("causal ? i + 1 : m", "m"),
    "the encoder not taught through the values": ("memory, dv, dmemory ?? dx", "memory, dv, dx"),
    "a last row of the product forgotten": ("i < n; i += 3", "i < n - 1; i += 3"),
    "a row of the last tile left out": ("i + 1 < n ? aRow", "i + 2 < n ? aRow"),
    "a row written that is not there": ("i + 2 < n ? 2 * aRow", "i + 1 < n ? 2 * aRow"),
    "columns beyond the fours forgotten": ("let j = fours; j < m", "let j = fours + 1; j < m"),
    "a sentence at the position of the batch": ("i += 1, pos += 1", "i += 1, pos = i"),
}  # fmt: skip


@pytest.mark.parametrize("change", WRONG.values(), ids=WRONG)
def test_an_engine_made_wrong_is_caught(engine, change):
    assert not gradients_off_by(engine(*change), models=30) < 1e-10


# ---------------------------------------------------------------- chapter 16's run

RUN = """(how) => [...toytf.learn({ ...how, pairs: toytf.pairsOf(how.pairs), unseen: toytf.pairsOf(how.unseen) })]
    .map(({ step, loss, unseen, answers }) => [step, loss, unseen, answers?.map(({ ids, heads }) => [ids, heads])])"""


@pytest.fixture(scope="module")
def chapter():
    """The corpus, and the generator as it is before the weights are drawn."""
    rng = np.random.default_rng(0)
    train, held_out = corpus(rng)
    return train, held_out, rng


def how(chapter, **more):
    train, held_out, rng = chapter
    cfg = Translator.load().cfg
    settings = {"steps": 500, "batchSize": 48, "learningRate": 0.01, "warmup": 100, "dropout": 0, "every": 50}
    of = {
        "start": wire.generator(rng),
        "dice": wire.generator(np.random.default_rng(0)),
        "ends": ENDS,
        "cfg": wire.plain(cfg),
    }
    sentences = [Translator.load().src_vocab.ids(pair.src) for pair in held_out[:5]]
    return {
        **of,
        **settings,
        "pairs": wire.pairs(train, *all_words()),
        "unseen": wire.pairs(held_out[:100], *all_words()),
        "sentences": sentences,
    } | more


def learned(chapter, **more):
    """What toytf learns, step by step: the translator, and the loss."""
    rng = np.random.default_rng()
    rng.bit_generator.state = chapter[2].bit_generator.state
    translator = Translator.new(rng)
    for record in translator.learn(chapter[0], rng, progress=False, **more):
        yield translator, record


def test_the_whole_run_of_the_chapter_is_numpys(engine, chapter):
    """500 losses, the loss of 100 sentences that it never saw, its answers and where they look."""
    evaluate = engine()
    steps = evaluate(RUN, how(chapter))
    unseen = chapter[1][:100]
    assert [step[0] for step in steps] == list(range(501))
    for (t, loss, loss_unseen, answers), (translator, record) in zip(steps[1:], learned(chapter), strict=True):
        assert abs(loss / record.loss - 1) < 2e-11, t  # measured: 4e-12 at step 500, 1e-15 in the first 50
        if t % 50:
            continue
        batch = to_batch(unseen, translator.src_vocab, translator.tgt_vocab)
        given = batch.src, batch.tgt, batch.src_is_token, batch.tgt_is_token
        logits, _ = forward(translator.params, translator.cfg, *given)
        assert abs(loss_unseen / cross_entropy(logits, batch.goal, batch.tgt_is_token)[0] - 1) < 2e-11, t
        said = translator.write([pair.src for pair in unseen[:5]])
        assert [ids for ids, _ in answers] == [list(h.ids) for h in said], t
        for pair, (ids, heads) in zip(unseen[:5], answers, strict=True):
            _, trace = forward(translator.params, translator.cfg, translator.src_vocab.ids(pair.src), [1, *ids[:-1]])
            weights = trace.decoder.layers[-1].cross_attention.inner.attention.attn_weights
            assert np.allclose(heads, weights, rtol=0, atol=1e-9), t


def test_few_pairs_and_dropout_are_the_chapters_too(engine, chapter):
    """200 pairs, whose orders end within a batch; a tenth of the embeddings dropped, by dice of their own."""
    dice = np.random.default_rng(0)

    def with_dropout(params, batch, **given):
        kept = {name: (dice.random(getattr(params, name).shape) >= 0.1) / 0.9 for name in TABLES}
        whole = {name: getattr(params, name) for name in TABLES}
        for name in TABLES:
            setattr(params, name, whole[name] * kept[name])
        loss, gradients = loss_and_gradients(params, batch, **given)
        for name in TABLES:
            setattr(params, name, whole[name])
            getattr(gradients, name)[...] *= kept[name]
        return loss, gradients

    few = (chapter[0][:200], *chapter[1:])
    theirs = [record.loss for _, record in learned(few, steps=60, objective=with_dropout)]
    evaluate = engine()
    mine = [step[1] for step in evaluate(RUN, how(few, steps=60, dropout=0.1))[1:]]
    assert np.allclose(mine, theirs, rtol=1e-12, atol=0)
    assert not np.allclose([step[1] for step in evaluate(RUN, how(few, steps=60))[1:]], theirs, rtol=1e-3, atol=0)


TABLES = ("src_embedding", "tgt_embedding")


# ---------------------------------------------------------------- in slices

DRIVEN = """({ stop, ...how }) => new Promise((done) => {
    const losses = [];
    let stopped = false;
    const take = toytf.learner(({ run, steps, done: over }) => {
        losses.push(...steps.filter(({ step }) => step).map(({ loss }) => loss));
        if (stop && !stopped && losses.length >= 7) {
            stopped = true;
            take({ going: false });
            setTimeout(() => { losses.frozen = losses.length; setTimeout(() => {
                if (losses.length !== losses.frozen) return done("it went on");
                take({ going: true });
            }, 100) });
        }
        if (over) done([run, losses]);
    });
    take({ run: 3, most: 200, ...how });
})"""


def test_stopped_and_gone_on_it_learns_the_same(engine, chapter):
    evaluate, given = engine(), how(chapter, steps=30, every=5)
    assert evaluate(DRIVEN, {**given, "stop": True}) == evaluate(DRIVEN, {**given, "stop": False})


def test_its_text_makes_a_worker_that_learns_the_same(engine, chapter):
    script = """(how) => new Promise((done) => {
        const text = `${toytf.learning} const take = toytf.learner((x) => postMessage(x));
            onmessage = ({ data }) => take(data);`;
        const worker = new Worker(URL.createObjectURL(new Blob([text])));
        const losses = [];
        worker.onmessage = ({ data }) => {
            losses.push(...data.steps.filter(({ step }) => step).map(({ loss }) => loss));
            if (data.done) done([data.run, losses]);
        };
        worker.postMessage({ run: 3, most: 200, ...how });
    })"""
    evaluate, given = engine(), how(chapter, steps=20, every=5)
    assert evaluate(script, given) == evaluate(DRIVEN, given)
