"""Every gradient, of every function and of models of every kind, against finite differences."""

import dataclasses
import itertools
from typing import NamedTuple

import numpy as np
import pytest

from toytf import attention, model, ops
from toytf.gradcheck import STEP, TOLERANCE, elementwise
from toytf.model import Config, FeedForward, MultiHead, backward, forward, init
from toytf.ops import LayerNorm, Linear, cross_entropy, cross_entropy_backward
from toytf.tree import named_arrays, paired_arrays


def flat(*parts):
    """The arrays of a result, parameters among them, in order."""
    return [a for part in parts for a in ([part] if isinstance(part, np.ndarray) else named_arrays(part).values())]


MASK = np.random.default_rng(7).random((2, 5, 7)) < 0.6
NOTHING_LEFT = MASK & (np.arange(5) != 2)[:, None]
QKV = [(2, 5, 11), (2, 7, 11), (2, 7, 13)]
HEADS = [(17, 33), (17, 33), (17, 39), (39, 17)]  # 3 heads, keys 11 and values 13 wide
BIASES = [(33,), (33,), (39,), (17,)]
IDS, GOAL = np.array([[4, 1, 4], [0, 4, 1]]), np.array([[4, 0, 1], [2, 2, 3]])
IS_TOKEN = np.array([[True, True, False], [True, True, True]])


def softmax_along(axis):
    return (
        lambda x: ops.softmax(x, axis),
        lambda dout, x: [ops.softmax_backward(ops.softmax(x, axis), dout, axis)],
        [(2, 3, 5)],
    )


def attending(mask, scale, shapes=QKV):
    def attend(q, k, v):
        return attention.attention(q, k, v, mask, scale)

    return (
        lambda *qkv: attend(*qkv)[0],
        lambda dout, *qkv: attention.attention_backward(attend(*qkv)[1], dout),
        shapes,
    )


def several_heads(crosses, biases):
    def attend(x, memory, *p):
        return attention.multi_head_attention(MultiHead(*p), x, memory if crosses else None, n_heads=3, mask=None)

    def back(dout, x, memory, *p):
        dx, dmemory, dp = attention.multi_head_attention_backward(MultiHead(*p), attend(x, memory, *p)[1], dout)
        return flat(dx, dmemory if crosses else 0 * memory, dp)

    return lambda *given: attend(*given)[0], back, [(2, 5, 17), (2, 7, 17), *HEADS, *biases]


def smoothed(share):
    def loss(x):
        return cross_entropy(x, GOAL, IS_TOKEN, share)

    return lambda x: loss(x)[0], lambda dout, x: [dout * cross_entropy_backward(loss(x)[1])], [(2, 3, 5)]


def fed(activation):
    def feed(x, *p):
        return model.feed_forward(FeedForward(*p), x, activation)

    return (
        lambda *given: feed(*given)[0],
        lambda dout, x, *p: flat(*model.feed_forward_backward(FeedForward(*p), feed(x, *p)[1], dout, activation)),
        [(2, 3, 5), (5, 7), (7,), (7, 4), (4,)],
    )


CASES = {  # a function, its gradients from dout and the same arrays, and the arrays' shapes; all lengths differ
    "softmax": softmax_along(-1),
    "softmax along axis 0": softmax_along(0),
    "linear": (
        lambda x, w, b: ops.linear(Linear(w, b), x),
        lambda dout, x, w, b: flat(*ops.linear_backward(Linear(w, b), x, dout)),
        [(2, 3, 5), (5, 7), (7,)],
    ),
    "linear without bias": (
        lambda x, w: ops.linear(Linear(w), x),
        lambda dout, x, w: flat(*ops.linear_backward(Linear(w), x, dout)),
        [(2, 3, 5), (5, 7)],
    ),
    "embedding, tokens repeated": (
        lambda table: ops.embedding(table, IDS),
        lambda dout, table: [ops.embedding_backward(len(table), IDS, dout)],
        [(5, 3)],
    ),
    "relu": (ops.relu, lambda dout, x: [ops.relu_backward(x, dout)], [(3, 7)]),
    "gelu": (ops.gelu, lambda dout, x: [ops.gelu_backward(x, dout)], [(3, 7)]),
    "layer norm": (
        lambda x, *p: ops.layer_norm(LayerNorm(*p), x)[0],
        lambda dout, x, *p: flat(*ops.layer_norm_backward(LayerNorm(*p), ops.layer_norm(LayerNorm(*p), x)[1], dout)),
        [(2, 3, 5), (5,), (5,)],
    ),
    "cross-entropy": smoothed(0.0),
    "cross-entropy, labels smoothed": smoothed(0.1),
    "attention": attending(None, None),
    "attention, unscaled": attending(None, 0.1),
    "attention, masked": attending(MASK, None),
    "attention, a query with nothing to attend to": attending(NOTHING_LEFT, None),
    "attention, a mask and keys for all sentences": attending(MASK[0], None, [(2, 5, 11), (7, 11), (1, 7, 13)]),
    "several heads": several_heads(False, []),
    "several heads, biases": several_heads(False, BIASES),
    "several heads, a memory": several_heads(True, []),
    "several heads, a memory, biases": several_heads(True, BIASES),
    "feed-forward, relu": fed("relu"),
    "feed-forward, gelu": fed("gelu"),
}


@pytest.mark.parametrize("name", CASES)
def test_the_gradients_of_a_function(name):
    function, back, shapes = CASES[name]
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=shape) / max(1, shape[-2] ** 0.5 if len(shape) == 2 else 1) for shape in shapes]
    dout = rng.normal(size=np.shape(function(*arrays)))
    gradients = back(dout, *arrays)
    assert len(gradients) == len(arrays)
    for k, gradient in enumerate(gradients):

        def loss(x, k=k):
            return float((function(*arrays[:k], x, *arrays[k + 1 :]) * dout).sum())

        found = elementwise(loss, arrays[k], gradient)  # a gradient of 0, as that of key biases, has no length
        noise = np.finfo(float).eps * abs(loss(arrays[k])) / (2 * STEP) * gradient.size**0.5  # of rounded losses
        assert found.gap < max(TOLERANCE * found.length, 30 * noise), (k, found)


# ---------------------------------------------------------------- whole models

SMALL = Config(
    src_vocab=11, tgt_vocab=13, d_model=6, n_heads=2, d_head=5, d_ff=7, n_encoder_layers=2, n_decoder_layers=3
)
SRC, TGT, NEXT = [[1, 2, 3, 4], [5, 6, 7, 8]], [[1, 2, 3], [4, 5, 6]], [[2, 3, 4], [5, 6, 0]]
SRC_FLAGS, TGT_FLAGS = [[True] * 4, [True, True, True, False]], [[True] * 3, [True, True, False]]
SWITCHES = {
    "norm": ["post", "pre", "none"],
    "residual": [True, False],
    "scale": [True, False],
    "positions": [True, False],
    "causal": [True, False],
    "cross_attention": [True, False],
    "activation": ["relu", "gelu"],
    "bias": [True, False],
}


def loss_and_traces(params, cfg):
    src, flags = (SRC, SRC_FLAGS) if params.encoder else (None, None)
    logits, trace = forward(params, cfg, src, TGT, flags, TGT_FLAGS)
    return *cross_entropy(logits, NEXT, TGT_FLAGS, label_smoothing=0.1), trace


def slopes(loss, params, grads):
    """For every array, by its name, along one random direction: the gradient's slope, that of the loss, and lengths.

    A gradient that is off by a share of its length shows a gap of about that share of it. `noise` is about the gap that
    rounding makes by itself.
    """
    found, rng = {}, np.random.default_rng(2)
    for name, array, gradient in paired_arrays(params, grads):
        direction, kept = rng.normal(size=array.shape), array.copy()
        array[...] = kept + STEP * direction
        above = loss()
        array[...] = kept - STEP * direction
        below = loss()
        array[...] = kept
        analytic, numeric = float((gradient * direction).sum()), (above - below) / (2 * STEP)
        length = max(np.linalg.norm(gradient), abs(numeric))
        noise = np.finfo(float).eps * max(abs(above), abs(below)) / (2 * STEP)
        found[name] = Slope(analytic, numeric, length, noise)
    return found


class Slope(NamedTuple):
    analytic: float
    numeric: float
    length: float
    noise: float


def corner_between(trace):
    """Whether a relu's input is so near to 0 that a nudge may turn it round: then the slopes to both sides differ."""
    layers = [layer for stack in (trace.encoder, trace.decoder) if stack is not None for layer in stack.layers]
    inputs = [np.abs(layer.feed_forward.inner.before) for layer in layers]
    return any(x.min() < 1e-4 * x.max() for x in inputs)


def agree(spoil=lambda grads: None, **switches):
    """Compare all gradients with the slopes, in a draw where each is long enough to be seen beside the rounding.

    What the model leaves out has a gradient of 0. So have key biases (softmax ignores a shift of a whole row): what
    is found for them is measured by the length of their weights' gradient.
    """
    cfg = dataclasses.replace(SMALL, **switches)
    for seed in range(20):  # in some draws all of a relu is 0 or a softmax saturated, and a gradient vanishes
        params, rng = init(cfg, np.random.default_rng(seed)), np.random.default_rng(1)
        for array in named_arrays(params).values():
            if array.ndim == 1:  # gammas, betas and biases off 1 and 0, so that their part in a gradient shows
                array += 0.3 * rng.normal(size=array.shape)
        _, loss_trace, trace = loss_and_traces(params, cfg)
        grads = backward(params, cfg, trace, cross_entropy_backward(loss_trace))
        spoil(grads)
        found = slopes(lambda p=params: loss_and_traces(p, cfg)[0], params, grads)
        unused = () if cfg.cross_attention else ("src_embedding", "encoder")
        left_out = {n for n in found if n.startswith(unused) or (cfg.norm == "none" and ".norm_" in n)}
        by = {n: found[n[:-3] + "w_k" if n.endswith("b_k") else n].length for n in found.keys() - left_out}
        if all(found[name].noise < 1e-6 * length for name, length in by.items()) and not corner_between(trace):
            break
    else:
        pytest.fail("expected weights whose gradients can all be seen, got none")
    for name in left_out:
        assert found[name].analytic == found[name].numeric == 0, (name, found[name])
    for name, length in by.items():  # rounding makes a gap of a few times the noise; there is room for ten times
        assert abs(found[name].analytic - found[name].numeric) < 1e-5 * length, (name, found[name])


@pytest.mark.parametrize("values", list(itertools.product(*SWITCHES.values()))[::5])
def test_the_gradients_of_every_configuration(values):
    switches = dict(zip(SWITCHES, values, strict=True))
    # In three layers without residual gradients vanish, down to 1e-25; without norm softmax becomes a step.
    if not switches["residual"] or switches["norm"] == "none":
        switches |= {"n_encoder_layers": 1, "n_decoder_layers": 1}
    agree(**switches)


@pytest.mark.parametrize("norm", ["post", "pre", "none"])
def test_the_gradients_of_a_decoder_only_model(norm):
    agree(n_encoder_layers=0, norm=norm)


def test_the_check_of_the_whole_model_catches_one_wrong_array():
    def spoil(grads):
        grads.decoder[1].cross_attention.w_q *= 1.01

    with pytest.raises(AssertionError, match=r"'decoder\.1\.cross_attention\.w_q', Slope"):
        agree(spoil)


def test_each_backward_takes_the_trace_that_its_forward_left():
    """At the door, where its axes are held against the parameters'."""
    params, x = init(SMALL, np.random.default_rng(0)), np.random.default_rng(1).normal(size=(2, 4, 6))
    cross, layer = params.decoder[0], params.encoder[0]
    _, trace = model.encoder_layer(layer, SMALL, x, np.tri(4, dtype=bool))
    assert model.encoder_layer_backward(layer, SMALL, trace, x)[0].shape == x.shape
    _, trace = model.decoder_layer(cross, SMALL, x[:, :3], x, np.tri(3, dtype=bool), np.array(SRC_FLAGS)[:, None])
    dx, dmemory, dp = model.decoder_layer_backward(cross, SMALL, trace, x[:, :3])
    assert (dx.shape, dmemory.shape, type(dp)) == ((2, 3, 6), x.shape, type(cross))
