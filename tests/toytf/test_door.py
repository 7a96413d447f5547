"""What `toytf._door` promises: a signature is held against the arguments, once, at the outermost call.

How the errors read: `test_errors.py`.
"""

import inspect
import threading

import numpy as np
import pytest

from toytf import attention, generate, gradcheck, model, ops, positions, size
from toytf._door import Count, door
from toytf.model import Config, init
from toytf.ops import LayerNorm, Linear

X = np.random.default_rng(1).normal(size=(2, 3, 4))
CFG = Config(src_vocab=5, tgt_vocab=7, d_model=4, n_heads=2, d_ff=3, n_encoder_layers=1, n_decoder_layers=1)
PARAMS = init(CFG, np.random.default_rng(0))
NORM = LayerNorm(np.ones(4), np.zeros(4))
LINEAR = Linear(np.ones((4, 3)), np.ones(3))
RIGHT = {  # a right call for each kind of argument
    ops.softmax: {"x": X, "axis": -1},
    ops.linear: {"p": LINEAR, "x": X},
    ops.linear_backward: {"p": LINEAR, "x": X, "dout": X[..., :3]},
    ops.embedding: {"table": X[0], "ids": np.array([0, 2])},
    ops.layer_norm: {"p": NORM, "x": X, "eps": 1e-5},
    ops.layer_norm_backward: {"p": NORM, "trace": ops.layer_norm(NORM, X)[1], "dout": X},
    ops.cross_entropy: {"logits": X, "targets": np.zeros((2, 3), int), "is_token": np.ones((2, 3), bool)},
    positions.sinusoids: {"length": 3, "d_model": 4, "start": 0},
    attention.attention: {"q": X, "k": X, "v": X, "mask": np.ones((3, 3), bool), "scale": 1.0},
    model.feed_forward: {"p": PARAMS.encoder[0].feed_forward, "x": X, "activation": "relu"},
    model.forward: {"params": PARAMS, "cfg": CFG, "src": np.array([[1, 2]]), "tgt": np.array([[1, 2]])},
    gradcheck.numeric_gradient: {"f": lambda x: 0.0, "x": X[0], "step": 0.1},
}


def six_wrong(value):
    """Six values that stand for all that is wrong at such a place."""
    if isinstance(value, np.ndarray):
        no_dtype = value.astype(int) if value.dtype == bool else value.astype(complex)
        return ["abc", None, object(), [[1.0], [1.0, 2.0]], value[..., :0], no_dtype]
    return ["abc", None, object(), -1.5, True, {"a": 1}]


@pytest.mark.parametrize(
    ("f", "name", "k"),
    [(f, name, k) for f, right in RIGHT.items() for name in right for k in range(6)],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_a_wrong_value_is_refused(f, name, k):
    wrong = six_wrong(RIGHT[f][name])[k]
    f(**RIGHT[f])
    allowed = wrong is None and inspect.signature(f).parameters[name].default is None  # it may be left out
    if allowed or (name == "scale" and wrong == -1.5):
        return
    with pytest.raises((ValueError, TypeError), match=".{10}"):
        f(**{**RIGHT[f], name: wrong})


@pytest.mark.parametrize("home", [ops, positions, attention, model, generate, size])
def test_every_public_function_of_the_formulas_stands_behind_it(home):
    own = [f for name, f in vars(home).items() if inspect.isfunction(f) and f.__module__ == home.__name__]
    assert [f.__name__ for f in own if f.__name__[0] != "_" and not hasattr(f, "__wrapped__")] == []


def test_lists_become_arrays_and_integers_floats_and_leading_axes_are_repeated():
    _, trace = attention.attention([[1, 2]], np.ones((5, 3, 2), np.float32), np.ones((1, 3, 4), np.float32))
    assert (trace.q.dtype, trace.k.dtype) == (np.float64, np.float32) and trace.v.shape == (1, 3, 4)


def test_what_a_mask_hides_becomes_zeros_and_shared_keys_do_not_grow_to_the_masks_batch():
    k = np.array([[1.0, 2.0], [np.nan, 3.0]])
    _, trace = attention.attention(np.ones((5, 1, 2)), k, np.ones((2, 2)), np.ones((5, 1, 2), bool) & [True, False])
    assert trace.k[..., 1, :].tolist() == [[0, 0]] * 5 and np.isnan(k[1, 0])
    _, trace = attention.attention(np.ones((5, 1, 2)), np.ones((2, 2)), np.ones((2, 2)), np.ones((5, 1, 2), bool))
    assert trace.k.shape == (2, 2)


def test_only_the_outermost_call_is_checked_in_each_thread_for_itself():
    found = []

    def error():
        with pytest.raises(ValueError, match="length: expected at least 1") as caught:
            attention.causal_mask(0)
        found.append(caught)

    @door
    def outer(n: Count):
        assert attention.causal_mask(0).shape == (0, 0)  # not looked at in here
        other = threading.Thread(target=error)
        other.start()
        other.join()
        raise RuntimeError  # what comes after an error is outside again

    with pytest.raises(RuntimeError):
        outer(1)
    error()
    assert len(found) == 2


def test_a_function_of_the_callers_stands_outside():
    assert gradcheck.numeric_gradient(lambda x: x[0] * ops.relu([1, -1]).sum(), [1.0]).round(6).tolist() == [1.0]
    with pytest.raises(ValueError, match="length: expected at least 1"):
        gradcheck.numeric_gradient(lambda x: attention.causal_mask(0).sum(), [1.0])


def test_name_signature_and_docstring_are_those_of_the_function():
    def named(k: Count = 2):
        """What it does."""

    kept = door(named)
    assert (kept.__name__, kept.__doc__) == ("named", "What it does.")
    assert inspect.signature(kept) == inspect.signature(named)
