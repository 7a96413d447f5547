"""The engine of `toytf.live`, in Chromium: it computes what `toytf` computes, and a wrong one is found out."""

import numpy as np
import pytest

from toytf.attention import attention, attention_backward
from toytf.byhand.expressions import fixed, trimmed
from toytf.corpus import SOS
from toytf.grammar import corpus
from toytf.live import wire
from toytf.model import Config, forward, init
from toytf.ops import Linear, cross_entropy, cross_entropy_backward, linear_backward
from toytf.stories import draw_story
from toytf.translator import Translator
from toytf.tree import named_arrays
from toytf.writer import Writer

MODELS = 200
LAYERS = [(1, 1), (2, 1), (1, 2), (2, 2), (0, 2)]


def random_model(rng):
    """A small model with any switches, parameters that are nowhere 0 or 1, and two sentences."""
    flags = ("residual", "scale", "positions", "causal", "cross_attention", "bias", "scale_embeddings")
    n_encoder_layers, n_decoder_layers = LAYERS[rng.integers(len(LAYERS))]
    cfg = Config(
        src_vocab=6,
        tgt_vocab=7,
        d_model=2 * int(rng.integers(1, 5)),
        n_heads=int(rng.integers(1, 4)),
        d_head=int(rng.integers(1, 5)),
        d_ff=int(rng.integers(1, 9)),
        n_encoder_layers=n_encoder_layers,
        n_decoder_layers=n_decoder_layers,
        norm=("post", "pre", "none")[rng.integers(3)],
        eps=float(10.0 ** rng.integers(-8, -1)),
        **{flag: bool(rng.integers(2)) for flag in flags},
    )
    params = init(cfg, rng)
    for array in named_arrays(params).values():
        array += 0.3 * rng.normal(size=array.shape)
    src = rng.integers(6, size=rng.integers(1, 6)).tolist() if n_encoder_layers else None
    return {"cfg": cfg, "params": params, "src": src, "tgt": rng.integers(7, size=rng.integers(1, 6)).tolist()}


def off_by(evaluate, seed=0, models=MODELS):
    """How far the engine's logits are from toytf's on random models, relative to each model's largest."""
    rng = np.random.default_rng(seed)
    cases = [random_model(rng) for _ in range(models)]
    all_logits = evaluate(
        "cases => cases.map(({ params, cfg, src, tgt }) => toytf.forward(params, cfg, src, tgt)[0])", wire.plain(cases)
    )
    worst = []
    for case, logits in zip(cases, all_logits, strict=True):
        expected, _ = forward(case["params"], case["cfg"], case["src"], case["tgt"])
        worst.append(np.abs(np.array(logits, float) - expected).max() / np.abs(expected).max())
    return np.array(worst)


def test_the_engine_agrees_with_toytf_on_200_random_models(engine):
    assert off_by(engine()).max() < 1e-12


WRONG = {  # slips that a reader of the paper has made
    "divided by d_k, not by its root": ("1 / Math.sqrt(q[0].length)", "1 / q[0].length"),
    "epsilon outside the root": ("Math.sqrt(variance + eps / unit / unit)", "(Math.sqrt(variance) + eps / unit)"),
    "the future seen": ("j <= i + past", "j <= i + past + 1"),
}


@pytest.mark.parametrize("change", WRONG.values(), ids=WRONG)
def test_an_engine_made_wrong_is_caught(engine, change):
    assert (~(off_by(engine(*change), models=40) < 1e-12)).any()


def test_what_is_not_finite_is_shown_and_does_not_spread_through_a_mask(engine):
    """toytf refuses such numbers; the page has to show them where they arise."""
    evaluate = engine()
    assert evaluate("toytf.softmaxNaive([800, 1]).map(String)") == ["NaN", "0"]
    assert evaluate("toytf.softmax([Infinity, 1]).map(String)") == ["NaN", "NaN"]
    assert evaluate("toytf.softmax([800, 1])") == [1, 0]
    masked = "toytf.attention([[1], [1]], [[1], [1]], [[5], [NaN]], { mask: [[true, false], [true, true]] })[0]"
    assert evaluate(f"{masked}.map(String)") == ["5", "NaN"]
    assert evaluate("toytf.maskedSoftmax([[1, 2]], [[false, false]])") == [[0, 0]]


BACKWARD = """({ x, w, b, dy, q, k, v, dout, scale, logits, targets }) => {
    const [loss, said] = toytf.crossEntropy(logits, targets);
    const [dx, { weight, bias }] = toytf.linearBackward({ weight: w, bias: b }, x, dy);
    const [dq, dk, dv] = toytf.attentionBackward(toytf.attention(q, k, v, { scale })[1], dout);
    return [[loss], toytf.crossEntropyBackward(said), dx, weight, bias, dq, dk, dv];
}"""


def backward_off_by(evaluate):
    """How far losses and gradients are from toytf's, the worst of 30 draws."""
    rng, worst = np.random.default_rng(7), 0.0
    for _ in range(30):
        n, m, d, e = (int(i) for i in rng.integers(2, 6, size=4))
        shapes = {"x": (n, d), "w": (d, e), "b": e, "dy": (n, e), "q": (n, d), "k": (m, d), "v": (m, e), "dout": (n, e)}
        g = {name: rng.normal(size=shape) for name, shape in shapes.items()}
        g |= {"scale": rng.uniform(0.1, 2), "logits": rng.normal(size=(n, e)) * 9, "targets": rng.integers(e, size=n)}
        loss, trace = cross_entropy(g["logits"], g["targets"])
        dx, p = linear_backward(Linear(g["w"], g["b"]), g["x"], g["dy"])
        _, attended = attention(g["q"], g["k"], g["v"], scale=g["scale"])
        expected = [[loss], cross_entropy_backward(trace), dx, p.weight, p.bias]
        expected += attention_backward(attended, g["dout"])
        for mine, theirs in zip(evaluate(BACKWARD, wire.plain(g)), expected, strict=True):
            off = np.abs(np.array(mine, float) - theirs).max() if np.shape(mine) == np.shape(theirs) else np.inf
            worst = max(worst, off / max(1, np.abs(theirs).max()))
    return worst


def test_losses_and_gradients_agree_with_toytf(engine):
    assert backward_off_by(engine()) < 1e-12


def test_a_gradient_made_wrong_is_caught(engine):
    change = ("matmul(ds, k), matmul(transposed(ds), q)", "matmul(ds, k), matmul(transposed(ds.map(() => ds[0])), q)")
    assert not backward_off_by(engine(*change)) < 1e-12


# ---------------------------------------------------------------- token by token, with a cache

CACHED = """cases => cases.map(({ params, cfg, src, tgt }) => {
    const step = toytf.stepper(params, cfg, { cached: true });
    let state = toytf.take(toytf.start(params, cfg, src), [0, 0]);
    return tgt.map((token) => {
        let logits;
        [logits, state] = step(toytf.take(state, [1, 1]), [0, token]);
        return logits[1];
    });
})"""


def cache_off_by(evaluate):
    """How far the scores of a cached step are from toytf's, on models whose decoder does not see the future."""
    rng = np.random.default_rng(11)
    drawn = (random_model(rng) for _ in range(80))
    cases = [case for case in drawn if case["cfg"].causal and case["cfg"].n_decoder_layers]
    worst = 0.0
    for case, logits in zip(cases, evaluate(CACHED, wire.plain(cases)), strict=True):
        expected, _ = forward(case["params"], case["cfg"], case["src"], case["tgt"])
        worst = max(worst, np.abs(np.array(logits, float) - expected).max() / np.abs(expected).max())
    return worst


def test_a_cached_step_agrees_with_toytf(engine):
    assert cache_off_by(engine()) < 1e-12


FORGETFUL = {
    "each row at the first position": (
        "sinusoids(ids.length, cfg.d_model, begin)",
        "sinusoids(ids.length, cfg.d_model)",
    ),
    "the past of another head": ("past[h][name]", "past[0][name]"),
    "the past of another layer": ("past?.layers[i]", "past?.layers[0]"),
    "the past of another sentence": ("state.decoders[row])", "state.decoders[0])"),
}


@pytest.mark.parametrize("change", FORGETFUL.values(), ids=FORGETFUL)
def test_a_cache_made_wrong_is_caught(engine, change):
    assert not cache_off_by(engine(*change)) < 1e-12


def test_what_writes_stories_agrees_with_toytf_on_weights_of_two_bytes(engine):
    """Rounded to float16, computed in float64; small and negative numbers too, and the start token."""
    rng = np.random.default_rng(5)
    writer = Writer.new(rng, dtype=np.float64)
    for array in named_arrays(writer.params).values():
        array += rng.normal(size=array.shape) * 10.0 ** rng.integers(-7, 0, size=array.shape)
        array[...] = array.astype(np.float16)
    story = draw_story(rng)
    write = """([data, story]) => {
        const writer = new toytf.Writer(data);
        let read = null;
        return ["<sos>", ...story].map((token) => (read = writer.read(token, read?.state)).logits);
    }"""
    expected, _ = forward(writer.params, writer.cfg, None, writer.vocab.ids([SOS, *story]))
    got = np.array(engine()(write, [wire.writer(writer), story]))
    assert np.abs(got - expected).max() < 1e-12 * np.abs(expected).max()
    wrong = np.array(engine("rest / 1024", "rest / 1000")(write, [wire.writer(writer), story]))
    assert not np.abs(wrong - expected).max() < 1e-5 * np.abs(expected).max()


# ---------------------------------------------------------------- the trained translator


def test_the_trained_translator_writes_the_same_words(engine):
    """All 800 sentences that training never saw, word for word."""
    translator, sentences = Translator.load(), [list(pair.src) for pair in corpus(np.random.default_rng(0))[1]]
    write = """([data, all]) => {
        const translator = new toytf.Translator(data);
        return all.map((words) => [...translator.steps(words)].map(({ token }) => token));
    }"""
    written = engine()(write, [wire.translator(translator), sentences])
    assert len(sentences) == 800 and written == [list(h.ids) for h in translator.write(sentences)]


# ---------------------------------------------------------------- numbers


def test_numbers_are_written_as_the_course_writes_them(engine):
    evaluate, rng = engine(), np.random.default_rng(3)
    values = [0.125, -0.125, 2.5, 0.5, -0.5, 1e22, 1.005, 0.15, -1e-5, 1e-9, 5e-5, 2.00005, -1.5, 0.0]
    values += rng.normal(size=300).tolist()
    values += (rng.integers(-4000, 4000, size=300) / 2.0 ** rng.integers(1, 9, size=300)).tolist()  # many halves
    for decimals in range(7):
        got = evaluate(
            "([v, d]) => v.map((x) => [toytf.fixed(x, d), toytf.trimmed(x, d), toytf.scientific(x, d)])",
            [values, decimals],
        )
        assert got == [[fixed(x, decimals), trimmed(x, decimals), fixed(x, decimals, sci=True)] for x in values]
    assert evaluate("[NaN, Infinity, -Infinity, -0].map((x) => toytf.shown(x))") == ["NaN", "∞", "−∞", "0"]


READ = {
    "7": 7, "-0.5": -0.5, "−3": -3, "–3": -3, "+2": 2, "0,5": 0.5, ".5": 0.5, "5.": 5, " 4 ": 4, "1/2": 0.5,
    "-1/4": -0.25,
    "2 ÷ 4": 0.5, "√2": 2**0.5, "-√2": -(2**0.5), "2√3": 2 * 3**0.5, "sqrt(2)/2": 2**0.5 / 2, "1/√4": 0.5, "10^6": 1e6,
    "2**-1": 0.5, "1.5e3": 1500, "3·10^2": 300, "1,000,000": 1e6, "1,000.5": 1000.5, "10 000": 1e4,
    "10'737'418'240": 10737418240, "1_000": 1000, "(1/2)": 0.5, "(-3)": -3, "65 %": 0.65, "10^-5": 1e-5,
}  # fmt: skip
UNREAD = [
    "", " ", "abc", "1.2.3", "1,2,3", "4 2 8", "1 2", "-", "√", "√-1", "--1", "%", "10^999",
    "1/", "1/0", "2*(3", "3 - 2", "1+1", "inf",
    "nan", "0x10", "1e999",
]  # fmt: skip


@pytest.mark.parametrize("whole", [False, True])
def test_what_is_typed_is_a_number_as_people_write_it_or_refused(engine, whole):
    asked = [*READ, *UNREAD, "10,000", "-1,234"]
    found = engine()("([words, whole]) => words.map((word) => toytf.parsed(word, whole) ?? null)", [asked, whole])
    assert found[: len(READ)] == pytest.approx(list(READ.values()), rel=1e-15)
    assert found[len(READ) : -2] == [None] * len(UNREAD)
    assert found[-2:] == ([None, None] if whole else [10, -1.234])  # ten, or ten thousand


def test_numbers_of_the_wire_keep_every_digit(engine):
    x = np.random.default_rng(4).normal(size=1000) * 10.0 ** np.random.default_rng(5).integers(-300, 300, size=1000)
    data = wire.as_json({"x": x, "s": "</script>"})
    assert "</" not in data
    back = engine()("text => { const { x, s } = JSON.parse(text); return [x.map(String), s] }", data)
    assert [float(word) for word in back[0]] == x.tolist() and back[1] == "</script>"
    with pytest.raises(ValueError):
        wire.as_json({"x": np.array([np.nan])})
