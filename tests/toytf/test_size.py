"""What `toytf.size` promises: its formulas against arrays, matrix products and bytes that exist."""

import dataclasses

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from drawn import configs
from toytf import generate
from toytf.model import Config, backward, encode, forward, init
from toytf.ops import cross_entropy, cross_entropy_backward
from toytf.optim import Adam
from toytf.parameters import _outline
from toytf.size import activations, cache, memory, multiplications, parameters, writing
from toytf.tree import count, leaves, named_arrays

LENGTHS = st.integers(1, 7)


class Counting(np.ndarray):
    """An array that counts the multiplications of every product of two matrices that it is in, and what comes of it."""

    done = 0

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        plain = [np.asarray(x) if isinstance(x, np.ndarray) else x for x in inputs]
        kwargs["out"] = tuple(np.asarray(x) for x in kwargs.get("out", ())) or None
        result = getattr(ufunc, method)(*plain, **kwargs)
        if ufunc is np.matmul and all(x.ndim >= 2 for x in plain):
            Counting.done += result.size * plain[0].shape[-1]
        return result.view(Counting) if isinstance(result, np.ndarray) else result


def watched(cfg):
    """A model whose products are counted from now on."""
    params = _outline(cfg)
    for name, shape in leaves(params, tuple).items():
        *above, field = name.split(".")
        part = params
        for step in above:
            part = part[int(step)] if step.isdigit() else getattr(part, step)
        setattr(part, field, np.ones(shape).view(Counting))
    Counting.done = 0
    return params


def ids(size, length, batch=()):
    return np.arange(np.prod((*batch, length), dtype=int)).reshape(*batch, length) % size


def run(params, cfg, source, target, batch=()):
    """One pass through whatever the model has."""
    src = ids(cfg.src_vocab, source, batch) if cfg.n_encoder_layers else None
    if not cfg.n_decoder_layers:
        return encode(params, cfg, src)[1]
    return forward(params, cfg, src, ids(cfg.tgt_vocab, target, batch))[1]


def write(params, cfg, source, target, cached=True):
    """The state after writing `target` tokens."""
    state = generate.start(params, cfg, ids(cfg.src_vocab, source) if cfg.n_encoder_layers else None, None, cached)
    for t in range(target):
        _, state = generate.stepper(params, cfg)(state, [t % cfg.tgt_vocab])
    return state


def float_bytes(*nodes):
    """The bytes of all floating arrays in traces and tuples; arrays that share memory count once."""
    owners = {}

    def visit(node):
        if isinstance(node, np.ndarray):
            while node.base is not None:
                node = node.base
            if node.dtype.kind == "f":
                owners[id(node)] = node.nbytes
        elif dataclasses.is_dataclass(node) or isinstance(node, (list, tuple)):
            for part in vars(node).values() if dataclasses.is_dataclass(node) else node:
                visit(part)

    visit(nodes)
    return sum(owners.values())


@given(configs(), LENGTHS, LENGTHS)
def test_parameters_and_multiplications_are_those_of_a_forward_pass(cfg, source, target):
    assert sum(parameters(cfg).values()) == count(watched(cfg))
    run(watched(cfg), cfg, source, target)
    assert Counting.done == sum(multiplications(cfg, source, target).values())


@given(configs(), LENGTHS, LENGTHS, st.booleans())
def test_writing_takes_the_multiplications_that_the_steps_make_and_the_cache_is_the_state(cfg, source, target, cached):
    assume(cfg.n_decoder_layers and (cfg.causal or not cached))
    state = write(watched(cfg), cfg, source, target, cached)
    assert Counting.done == sum(writing(cfg, source, target, cached).values())
    if cached:
        parts = cache(cfg, 1, source, target)
        assert 8 * parts["own keys and values"] == float_bytes(state.keys, state.values)
        assert 8 * parts["memory's keys and values"] == float_bytes(state.memory_keys, state.memory_values)
        assert 8 * sum(parts.values()) == float_bytes(state) == memory(cfg, 1, source, target, itemsize=8)["cache"]


@given(configs(), LENGTHS, LENGTHS)
def test_activations_are_the_bytes_of_a_trace(cfg, source, target):
    trace = run(init(cfg, np.random.default_rng(0)), cfg, source, target, batch=(2,))
    assert float_bytes(trace) == 8 * sum(activations(cfg, 2, source, target).values())


def test_weights_gradients_and_adam_are_the_bytes_of_a_training_step():
    cfg = Config(11, 13, d_model=6, n_heads=2, d_ff=7, n_encoder_layers=2, n_decoder_layers=3)
    params, tgt = init(cfg, np.random.default_rng(0), np.float32), ids(13, 9, (2,))
    logits, trace = forward(params, cfg, ids(11, 4, (2,)), tgt)
    gradients = backward(params, cfg, trace, cross_entropy_backward(cross_entropy(logits, tgt)[1]))
    adam = Adam()
    adam.step(params, gradients, 0.01)
    need = memory(cfg, 2, 4, 9, itemsize=4)
    assert need["weights"] == sum(a.nbytes for a in named_arrays(params).values())
    assert need["gradients"] == sum(a.nbytes for a in named_arrays(gradients).values())
    assert need["adam"] == adam.m.nbytes + adam.v.nbytes
    assert need["activations"] == float_bytes(trace)
