"""What a wrong call is told: which argument, what was expected, and what came."""

import dataclasses

import numpy as np
import pytest

from toytf import attention, corpus, generate, grammar, model, ops, optim, parameters, positions, size, tree
from toytf.attention import MultiHead
from toytf.model import Config, init
from toytf.ops import LayerNorm, Linear
from toytf.translator import Translator

CFG = Config(11, 13, d_model=6, n_heads=2, d_head=5, d_ff=7, n_encoder_layers=2, n_decoder_layers=3)
PARAMS = init(CFG, np.random.default_rng(0))
UNREAD = dataclasses.replace(CFG, cross_attention=False)
SRC, TGT = [[1, 2, 3, 4], [5, 6, 7, 8]], [[1, 2, 3], [4, 5, 6]]
RNG = np.random.default_rng(0)
ENDS = {"sos": 0, "eos": 1, "max_length": 3}
PAIRS = [corpus.Pair(("a",), ("b",)), corpus.Pair(("a",), ("c",))]
POINT = LayerNorm(np.ones(1), np.zeros(1))


def flat(state, ids):
    return np.zeros((len(ids), 5)), state


def start():
    return generate.start(PARAMS, CFG, SRC[0])


W23 = np.ones((2, 3))
TWO = LayerNorm(np.ones(2), np.zeros(2))


def across(q, k, v, mask=None):
    return attention.attention(v=v, k=k, q=q, mask=mask)


CALLS = [
    (lambda: across(W23, np.ones((2, 4)), W23), r"^q has width 3 \(shape 2 x 3\), but k has 4 columns"),
    (lambda: across(np.ones((2, 2, 3)), np.ones((5, 2, 3)), W23), r"leading axes of q \(shape 2 x 2 x 3\)"),
    (lambda: across([1.0], W23, W23), "q: expected at least 2 axes, got 1"),
    (lambda: across(W23, W23, W23, np.ones((3, 2), bool)), "mask: expected a shape that broadcasts to 2 x 2"),
    (lambda: ops.linear(Linear(W23), W23), r"x has width 3 .* but weight has 2 rows \(shape 2 x 3\)"),
    (lambda: ops.linear(Linear(W23, np.ones(4)), W23), "weight has width 3 .* but bias has 4 entries"),
    (lambda: ops.embedding_backward(3, [[0, 1]], W23), r"leading axes of ids \(shape 1 x 2\) and dout \(shape 2 x 3\)"),
    (lambda: ops.relu_backward(W23, [1.0]), "dout: expected shape 2 x 3 as x has, got 1"),  # never repeated
    (lambda: ops.cross_entropy(W23, [0, 1], [True]), "is_token: expected shape 2 as logits has, got 1"),
    (lambda: ops.cross_entropy(W23, [0, 1], label_smoothing=1.0), "label_smoothing: expected at least 0 and below 1"),
    (lambda: positions.sinusoids(3, 4, -1), "start: expected at least 0"),
    (lambda: attention.causal_mask(0), "length: expected at least 1, got 0"),
    (lambda: ops.layer_norm(TWO, [[1.0, 2.0]], eps=0), "eps: expected a positive number"),
    (lambda: dataclasses.replace(CFG, norm="batch"), "norm: expected one of post, pre, none, got 'batch'"),
    (
        lambda: parameters.require_model(PARAMS, dataclasses.replace(CFG, d_ff=8)),
        r"params.encoder\[0\].feed_forward.w_1 has width 7 .* but cfg.d_ff is 8",
    ),
    (lambda: ops.softmax([[0.0, 1.0], [-np.inf, -np.inf]]), r"only -inf in the row at \[1, 0\]"),
    (lambda: ops.embedding(np.zeros((7, 3)), [0, -1]), r"ids: expected ids from 0 to 6 .* got -1 at \[1\]"),
    (lambda: ops.layer_norm(POINT, np.ones((2, 4))), "x has width 4 .* but gamma has 1 entries .shape 1.: the two"),
    (lambda: ops.cross_entropy(np.zeros((2, 3)), [0, 3]), r"targets: expected ids from 0 to 2 .* got 3 at \[1\]"),
    (lambda: ops.cross_entropy([[0.0]], [0], [False]), "is_token: expected at least one token to count"),
    (lambda: positions.sinusoids(3, 5), "d_model: expected an even number .* got 5"),
    (lambda: across(W23, np.ones((4, 3)), np.ones((5, 3))), "k has 4 rows .* v has 5"),
    (lambda: attention.split_heads(np.ones((2, 300)), 8), "n_heads: expected a divisor of the width 300, got 8"),
    (lambda: MultiHead.from_heads([[[1.0]]], [], [[[1.0]]], [[1.0]]), "as many w_k and w_v as w_q, got 1, 0 and 1"),
    (lambda: MultiHead.from_heads(*[[np.ones((4, 3))] * 2] * 3, np.ones((4, 4))), "w_v has width 6 .* w_o has 4 rows"),
    (lambda: dataclasses.replace(CFG, n_heads=4, d_head=None), "n_heads: expected a divisor of d_model = 6, got 4"),
    (lambda: dataclasses.replace(CFG, d_model=7), "d_model: expected an even number .* got 7"),
    (lambda: Config(1, 1, n_encoder_layers=0, n_decoder_layers=0), "expected at least one layer"),
    (lambda: model.forward(PARAMS, CFG, [[1, 11]], [[1]]), r"src: expected ids from 0 to 10 .* got 11 at \[0, 1\]"),
    (lambda: model.forward(PARAMS, CFG, None, [[1]]), "src: expected token ids for a model with an encoder, got None"),
    (lambda: model.forward(PARAMS, CFG, SRC, [[1, 2]] * 3), "leading axes"),
    (lambda: model.decode(PARAMS, CFG, TGT), "memory: expected the encoder's output, got None"),
    (lambda: model.decode(PARAMS, UNREAD, TGT, np.ones((2, 4, 6))), "memory: expected None for a decoder without"),
    (lambda: model.encode(init(dataclasses.replace(CFG, n_encoder_layers=0), RNG), CFG, SRC), "model with an encoder"),
    (
        lambda: model.backward(PARAMS, CFG, model.forward(PARAMS, CFG, SRC, TGT)[1], np.zeros((2, 3))),
        "dlogits: expected shape 2 x 3 x 13 as trace.logits has, got 2 x 3",
    ),
    (lambda: generate.start(PARAMS, dataclasses.replace(CFG, causal=False), SRC), "cached: expected False"),
    (lambda: generate.stepper(PARAMS, CFG)(start(), [13]), "ids: expected ids from 0 to 12"),
    (lambda: generate.stepper(PARAMS, CFG)(start(), [1, 1]), "ids: expected 1 tokens, one a sentence, got 2"),
    (lambda: generate.greedy(flat, None, **(ENDS | {"eos": 9})), "eos: expected one of the 5 tokens, or -1 .* got 9"),
    (lambda: generate.greedy(lambda *_: (np.zeros(5), 0), None, **ENDS), "step: expected logits of shape 1 x voc"),
    (lambda: generate.beam_search(flat, None, width=1, n_best=2, **ENDS), "n_best: expected at most width = 1, got 2"),
    (lambda: generate.sample(flat, None, rng=RNG, top_p=1.5, **ENDS), "top_p: expected more than 0 and at most 1"),
    (lambda: optim.Adam().step(POINT, LayerNorm(np.ones(2), np.ones(1)), 0.1), "grads: gamma: expected shape 1, got 2"),
    (lambda: tree.paired_arrays(POINT, LayerNorm(np.ones(1), None)), r"got \['beta'\] on one side only"),
    (lambda: optim.cosine_schedule(0.1, 20, 10), "warmup: expected 0 to 10, the number of steps, got 20"),
    (lambda: optim.cosine_schedule(0.1, 1, 10)(12), "t: expected 1 to 11, one step after the last, got 12"),
    (lambda: corpus.Vocabulary(["a", "b", "a"]), "expected distinct tokens, got 'a' at 0 and 2"),
    (lambda: corpus.Vocabulary(["a", ""]), "none empty"),
    (lambda: corpus.Vocabulary(["a", "b"]).tokens([0, -1]), r"ids: expected ids from 0 to 1 .* got -1 at \[1\]"),
    (lambda: corpus.pad([[1], []], 3, 0), "and a token in each, got none"),
    (lambda: corpus.split(PAIRS, RNG, 0.5), "share no sentence, got 2 to learn from and 0 to test with"),
    (lambda: grammar.draw_pairs(RNG, 3, adjectives=(8,)), r"adjectives: expected numbers from 0 to 7, got \(8,\)"),
    (lambda: size.multiplications(CFG, None, 3), "source: expected a number of tokens for a model with an encoder"),
    (lambda: size.writing(dataclasses.replace(CFG, n_decoder_layers=0), 3, 3), "without decoder layers"),
    (lambda: Translator.load().translate(["hello", " "]), "at least one word in each, got an empty one"),
    (lambda: Translator.load().translate(["hello"], width=0), "width: expected at least 1, got 0"),
]
TYPES = [
    (lambda: ops.relu([[1.0], [1.0, 2.0]]), "x: expected rows of equal length"),
    (lambda: ops.relu("abc"), "x: expected real numbers"),
    (lambda: ops.relu(), "missing a required argument: 'x'"),
    (lambda: ops.relu(W23, x=W23), "multiple values"),
    (lambda: ops.linear([W23], W23), "p: expected a Linear, got a list"),
    (lambda: ops.linear(Linear(W23.tolist()), W23), "weight: expected an array, .* got a list"),
    (lambda: ops.embedding(W23, [0.0]), "ids: expected integer token ids"),
    (lambda: attention.causal_mask(2.0), "length: expected a whole number, got 2.0"),
    (lambda: generate.start(PARAMS, CFG, SRC, cached=1), "cached: expected True or False"),
    (lambda: attention.attention([[1.0]], [[1.0]], [[1.0]], [[1]]), "mask: expected booleans, .* mask == 0"),
    (lambda: model.backward(PARAMS, CFG, None, np.ones((2, 3, 13))), "trace: expected a Trace, got None"),
    (lambda: grammar.draw_pairs(0, 3), r"rng: expected np.random.default_rng\(seed\), got int"),
    (lambda: corpus.Vocabulary("abc"), "got the single string 'abc'"),
    (lambda: corpus.Vocabulary(["Hello"]).ids("Hello"), "got the single string 'Hello'"),
    (lambda: Translator.load().translate("hello world"), "a list of sentences, got the single string 'hello world'"),
]
OTHERS = [
    (KeyError, lambda: corpus.Vocabulary(["Hello", "World"]).id("hello"), r"'hello': .* 2 tokens \(Hello, World\)"),
    (KeyError, lambda: Translator.load().translate(["hallo"]), "unknown token 'hallo'"),
]


@pytest.mark.parametrize(
    ("error", "call", "message"),
    [*((ValueError, *one) for one in CALLS), *((TypeError, *one) for one in TYPES), *OTHERS],
)
def test_a_wrong_call_is_told(error, call, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("name", ["q", "k", "v"])
@pytest.mark.parametrize("masked", [False, True])
def test_a_nan_that_is_attended_to_is_named_with_its_place(name, masked):
    arrays = {"q": np.ones((2, 3)), "k": np.ones((4, 3)), "v": np.ones((4, 3))}
    arrays[name][1, 2] = np.nan
    mask = np.ones((2, 4), bool) if masked else None
    with pytest.raises(ValueError, match=rf"^{name}: expected finite numbers, got nan at \[1, 2\]"):
        attention.attention(**arrays, mask=mask)
