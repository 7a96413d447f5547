"""Six wrong values for each array of each public function: an error that says something, and no wrong number."""

import inspect

import numpy as np
import pytest

from toytf import attention, gradcheck, model, ops, optim, positions
from toytf.model import Config, init

CFG = Config(src_vocab=5, tgt_vocab=7, d_model=4, n_heads=2, d_ff=3, n_encoder_layers=1, n_decoder_layers=1)
PARAMS = init(CFG, np.random.default_rng(0))
X = np.random.default_rng(1).normal(size=(2, 3, 4))
_, TRACE = model.forward(PARAMS, CFG, [[1, 2, 3]] * 2, [[1, 2]] * 2)
LAYER, STACK = PARAMS.encoder[0], TRACE.encoder
LINEAR = ops.Linear(np.ones((4, 3)), np.ones(3))
SOFTMAX = ops.softmax(X)
LOSS = ops.cross_entropy(X, [[0, 1, 2]] * 2)[1]

RIGHT = {  # a right call of each function: the arguments by name
    ops.softmax: {"x": X},
    ops.softmax_backward: {"weights": SOFTMAX, "dout": X},
    ops.softmax_naive: {"x": X},
    ops.log_softmax: {"x": X},
    ops.linear: {"p": LINEAR, "x": X},
    ops.linear_backward: {"p": LINEAR, "x": X, "dout": X[..., :3]},
    ops.embedding: {"table": X[0], "ids": np.array([0, 2])},
    ops.embedding_backward: {"size": 5, "ids": np.array([[0, 2, 4]] * 2), "dout": X},
    ops.relu: {"x": X},
    ops.relu_backward: {"x": X, "dout": X},
    ops.gelu: {"x": X},
    ops.gelu_backward: {"x": X, "dout": X},
    ops.gelu_tanh: {"x": X},
    ops.normal_cdf: {"x": X},
    ops.layer_norm: {"p": LAYER.norm_1, "x": X},
    ops.layer_norm_backward: {"p": LAYER.norm_1, "trace": ops.layer_norm(LAYER.norm_1, X)[1], "dout": X},
    ops.layer_norm_eps_outside: {"x": X},
    ops.cross_entropy: {"logits": X, "targets": np.zeros((2, 3), int), "is_token": np.ones((2, 3), bool)},
    ops.cross_entropy_backward: {"trace": LOSS},
    positions.sinusoids: {"length": 3, "d_model": 4},
    positions.sinusoids_column_as_i: {"length": 3, "d_model": 4},
    positions.sinusoids_halves: {"length": 3, "d_model": 4},
    positions.shift: {"k": 3, "d_model": 4},
    attention.attention: {"q": X, "k": X, "v": X, "mask": np.ones((3, 3), bool)},
    attention.attention_backward: {"trace": attention.attention(X, X, X)[1], "dout": X},
    attention.masked_softmax: {"scores": X, "mask": np.ones((3, 4), bool)},
    attention.causal_mask: {"length": 3},
    attention.padding_mask: {"is_token": np.ones((2, 3), bool)},
    attention.multi_head_attention: {"p": LAYER.self_attention, "x": X, "memory": X, "n_heads": 2},
    attention.multi_head_attention_backward: {
        "p": LAYER.self_attention,
        "trace": STACK.layers[0].self_attention.inner,
        "dout": X,
    },
    attention.split_heads: {"x": X, "n_heads": 2},
    attention.merge_heads: {"x": X},
    model.feed_forward: {"p": LAYER.feed_forward, "x": X, "activation": "relu"},
    model.feed_forward_backward: {
        "p": LAYER.feed_forward,
        "trace": STACK.layers[0].feed_forward.inner,
        "dout": X,
        "activation": "relu",
    },
    model.encoder_layer: {"p": LAYER, "cfg": CFG, "x": X},
    model.encoder_layer_backward: {"p": LAYER, "cfg": CFG, "trace": STACK.layers[0], "dout": X},
    model.decoder_layer: {"p": PARAMS.decoder[0], "cfg": CFG, "x": X, "memory": X},
    model.decoder_layer_backward: {
        "p": PARAMS.decoder[0],
        "cfg": CFG,
        "trace": TRACE.decoder.layers[0],
        "dout": X[:, :2],
    },
    model.embed: {"table": PARAMS.src_embedding, "cfg": CFG, "ids": np.array([1, 2]), "start": 1},
    model.encode: {"params": PARAMS, "cfg": CFG, "src": np.array([[1, 2]]), "src_is_token": np.ones((1, 2), bool)},
    model.decode: {"params": PARAMS, "cfg": CFG, "tgt": np.array([[1, 2]]), "memory": X[:1]},
    model.forward: {"params": PARAMS, "cfg": CFG, "src": np.array([[1, 2]]), "tgt": np.array([[1, 2]])},
    model.backward: {"params": PARAMS, "cfg": CFG, "trace": TRACE, "dlogits": np.ones((2, 2, 7))},
    model.encode_backward: {"params": PARAMS, "cfg": CFG, "trace": STACK, "dmemory": X},
    optim.sgd_step: {"params": LINEAR, "grads": LINEAR, "learning_rate": 0.1},
    optim.clip: {"grads": LINEAR, "limit": 100.0},
    gradcheck.numeric_gradient: {"f": lambda x: 0.0, "x": X[0], "step": 0.1},
}


def wrong_for(value):
    """Six values that stand for all that is wrong at such a place."""
    if isinstance(value, np.ndarray):
        flags = value.dtype == bool
        no_dtype = value.astype(int) if flags else value.astype(complex)
        return ["abc", None, object(), [[1.0], [1.0, 2.0]], value[..., :0], no_dtype]
    return ["abc", None, object(), -1.5, True, {"a": 1}]


CASES = [(f, name, k) for f, right in RIGHT.items() for name in right for k in range(6)]


@pytest.mark.parametrize(("f", "name", "k"), CASES, ids=lambda value: getattr(value, "__name__", value))
def test_a_wrong_value_is_refused(f, name, k):
    right = RIGHT[f]
    wrong = wrong_for(right[name])[k]
    if wrong is None and inspect.signature(f).parameters[name].default is None:
        return  # it may be left out
    with pytest.raises((ValueError, TypeError), match=r".{10}"):
        f(**{**right, name: wrong})


def test_the_right_calls_are_right():
    for f, right in RIGHT.items():
        f(**right)


def test_every_function_with_an_array_is_called():
    for home in (ops, positions, attention, model):
        for name, function in vars(home).items():
            if inspect.isfunction(function) and function.__module__ == home.__name__ and name[0] != "_":
                assert function in RIGHT or name in ("add_and_norm", "add_and_norm_backward", "embed_backward"), name
