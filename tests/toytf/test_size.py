"""What `toytf.size` promises: its formulas against arrays, matrix products and bytes that exist."""

import dataclasses
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toytf import generate
from toytf.model import Config, backward, encode, forward, init
from toytf.ops import cross_entropy, cross_entropy_backward
from toytf.optim import Adam
from toytf.size import activations, cache, memory, multiplications, parameters, writing
from toytf.tree import count, named_arrays

# All sizes differ, so that two swapped ones show.
SMALL = Config(
    src_vocab=11, tgt_vocab=13, d_model=6, n_heads=2, d_head=5, d_ff=7, n_encoder_layers=2, n_decoder_layers=3
)
SOURCE, TARGET = 4, 9
SWITCHES = [
    {},
    {"norm": "pre"},
    {"norm": "none"},
    {"residual": False},
    {"norm": "none", "residual": False},
    {"norm": "pre", "residual": False},
    {"positions": False},
    {"scale_embeddings": False},
    {"positions": False, "scale_embeddings": False},
    {"bias": True},
    {"activation": "gelu"},
    {"cross_attention": False},
    {"causal": False},
    {"scale": False},
    {"d_head": None},
    {"n_heads": 1},
    {"n_encoder_layers": 0},
    {"n_decoder_layers": 0},
    {"n_encoder_layers": 0, "norm": "pre", "bias": True},
    {"n_decoder_layers": 0, "norm": "pre", "bias": True},
]
every_switch = pytest.mark.parametrize("switches", SWITCHES, ids=str)


@st.composite
def configs(draw):
    """Any `Config` of a small size."""
    small = st.integers(1, 5)
    heads = draw(small)
    encoders, decoders = draw(st.sampled_from([(1, 1), (0, 2), (2, 0), (2, 1), (1, 3)]))
    return Config(
        src_vocab=draw(small),
        tgt_vocab=draw(small),
        d_model=2 * heads * draw(small),
        n_heads=heads,
        d_ff=draw(small),
        n_encoder_layers=encoders,
        n_decoder_layers=decoders,
        d_head=draw(st.none() | small),
        norm=draw(st.sampled_from(["post", "pre", "none"])),
        activation=draw(st.sampled_from(["relu", "gelu"])),
        **{
            switch: draw(st.booleans())
            for switch in ("residual", "scale", "positions", "cross_attention", "bias", "scale_embeddings")
        },
    )


def drawn(cfg, dtype=np.float64):
    return init(cfg, np.random.default_rng(0), dtype)


def ids(size, length, batch=()):
    return np.arange(np.prod((*batch, length), dtype=int)).reshape(*batch, length) % size


def run(params, cfg, source=SOURCE, target=TARGET, batch=()):
    """One pass through whatever the model has."""
    src = ids(cfg.src_vocab, source, batch) if cfg.n_encoder_layers else None
    if not cfg.n_decoder_layers:
        return encode(params, cfg, src)[1]
    return forward(params, cfg, src, ids(cfg.tgt_vocab, target, batch))[1]


# ---------------------------------------------------------------- parameters


@given(configs())
def test_parameters_are_as_many_as_the_arrays_hold(cfg):
    params, parts = drawn(cfg), parameters(cfg)
    arrays = Counter()
    for name, array in named_arrays(params).items():
        arrays[part_of(name)] += array.size
    assert {part: n for part, n in parts.items() if n} == arrays
    assert sum(parts.values()) == count(params)


def part_of(name):
    """The part of the table to which an array belongs, by its name."""
    stack = name.split(".")[0]
    if stack in ("src_embedding", "tgt_embedding"):
        return {"src_embedding": "source embedding", "tgt_embedding": "target embedding"}[stack]
    if stack == "output":
        return "output"
    side = stack.removesuffix("_norm")
    if "norm" in name:
        return f"{side} norms"
    if "feed_forward" in name:
        return f"{side} feed-forward"
    if side == "encoder":
        return "encoder attention"
    return f"decoder {'cross' if 'cross_attention' in name else 'self'}-attention"


def test_the_papers_base_model_by_hand():
    parts = parameters(Config(37000, 37000))
    # One attention 4 * 512 * 512, one feed-forward 2 * 512 * 2048 + 2048 + 512, one norm 2 * 512.
    assert parts == {
        "source embedding": 18_944_000,
        "encoder attention": 6 * 1_048_576,
        "encoder feed-forward": 6 * 2_099_712,
        "encoder norms": 6 * 2 * 1024,
        "target embedding": 18_944_000,
        "decoder self-attention": 6 * 1_048_576,
        "decoder cross-attention": 6 * 1_048_576,
        "decoder feed-forward": 6 * 2_099_712,
        "decoder norms": 6 * 3 * 1024,
        "output": 18_944_000 + 37_000,
    }


# ---------------------------------------------------------------- multiplications


class Counting(np.ndarray):
    """An array that counts the multiplications of every product of two matrices that it is in.

    What is computed from it counts too. `label` is the name of a parameter, None for other arrays.
    """

    label = None
    done = None  # a Counter, which the fixture sets

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        plain = [np.asarray(x) if isinstance(x, np.ndarray) else x for x in inputs]
        kwargs["out"] = tuple(np.asarray(x) for x in kwargs.get("out", ())) or None
        result = getattr(ufunc, method)(*plain, **kwargs)
        if ufunc is np.matmul and all(x.ndim >= 2 for x in plain):
            label = next((x.label for x in inputs if getattr(x, "label", None)), "scores and sums")
            Counting.done[label] += result.size * plain[0].shape[-1]
        return result.view(Counting) if isinstance(result, np.ndarray) else result


@pytest.fixture
def counted():
    """Return what a function multiplies, by parameter."""

    def count_in(params, function):
        for name, array in list(named_arrays(params).items()):
            owner = params
            *path, last = name.split(".")
            for step in path:
                owner = owner[int(step)] if step.isdigit() else getattr(owner, step)
            watched = array.view(Counting)
            watched.label = name
            setattr(owner, last, watched)
        Counting.done = Counter()
        function(params)
        return Counting.done

    return count_in


def check(done, parts):
    """Hold counted multiplications, by parameter, against the table's parts."""
    found = Counter()
    for name, multiplied in done.items():
        if name == "scores and sums":
            found[name] += multiplied
        elif name == "output.weight":
            found["output"] += multiplied
        else:
            side, _, sublayer, _ = name.split(".")
            if sublayer == "feed_forward":
                found[f"{side} feed-forward"] += multiplied
            else:
                found["cross-attention projections" if "cross" in sublayer else f"{side} projections"] += multiplied
    expected = Counter()
    for part, multiplied in parts.items():
        expected["scores and sums" if part.endswith("scores and sums") else part] += multiplied
    assert {part: n for part, n in expected.items() if n} == dict(found)


@every_switch
@pytest.mark.parametrize("lengths", [(4, 9), (5, 3), (1, 1)], ids=str)
def test_multiplications_are_those_that_a_forward_pass_makes(counted, switches, lengths):
    cfg = dataclasses.replace(SMALL, **switches)
    source, target = lengths
    done = counted(drawn(cfg), lambda params: run(params, cfg, source, target))
    check(done, multiplications(cfg, source, target))


@every_switch
@pytest.mark.parametrize("cached", [True, False])
def test_writing_takes_the_multiplications_that_the_steps_make(counted, switches, cached):
    cfg = dataclasses.replace(SMALL, **switches)
    if not cfg.n_decoder_layers or (cached and not cfg.causal):
        with pytest.raises(ValueError):
            writing(cfg, SOURCE, TARGET, cached)
        return

    def write(params):
        state = generate.start(params, cfg, ids(cfg.src_vocab, SOURCE) if cfg.n_encoder_layers else None, None, cached)
        for t in range(TARGET):
            _, state = generate.stepper(params, cfg)(state, [t])

    check(counted(drawn(cfg), write), writing(cfg, SOURCE, TARGET, cached))


# ---------------------------------------------------------------- memory


def float_bytes(node, owners=None):
    """The bytes of all floating arrays in a trace; arrays that share memory count once."""
    owners = {} if owners is None else owners
    if isinstance(node, np.ndarray):
        while node.base is not None:
            node = node.base
        if node.dtype.kind == "f":
            owners[id(node)] = node.nbytes
    elif dataclasses.is_dataclass(node):
        for field in dataclasses.fields(node):
            float_bytes(getattr(node, field.name), owners)
    elif isinstance(node, (list, tuple)):
        for part in node:
            float_bytes(part, owners)
    return sum(owners.values())


@every_switch
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_activations_are_the_bytes_of_a_trace(switches, dtype):
    cfg = dataclasses.replace(SMALL, **switches)
    trace = run(drawn(cfg, dtype), cfg, batch=(3,))
    expected = memory(cfg, 3, SOURCE, TARGET, np.dtype(dtype).itemsize)["activations"]
    assert float_bytes(trace) == expected


@given(configs(), st.integers(1, 40), st.integers(1, 40))
def test_activations_of_any_config_and_length(cfg, source, target):
    trace = run(drawn(cfg), cfg, source, target, batch=(2,))
    assert float_bytes(trace) == 8 * sum(activations(cfg, 2, source, target).values())


def test_weights_gradients_and_adam_are_the_bytes_of_a_training_step():
    params = drawn(SMALL, np.float32)
    src, tgt = ids(11, SOURCE, (2,)), ids(13, TARGET, (2,))
    logits, trace = forward(params, SMALL, src, tgt)
    gradients = backward(params, SMALL, trace, cross_entropy_backward(cross_entropy(logits, tgt)[1]))
    adam = Adam()
    adam.step(params, gradients, 0.01)
    need = memory(SMALL, 2, SOURCE, TARGET, itemsize=4)
    assert need["weights"] == sum(a.nbytes for a in named_arrays(params).values())
    assert need["gradients"] == sum(a.nbytes for a in named_arrays(gradients).values())
    assert need["adam"] == adam.m.nbytes + adam.v.nbytes


@every_switch
def test_the_cache_is_the_bytes_of_a_decode_state(switches):
    cfg = dataclasses.replace(SMALL, **switches)
    if not cfg.n_decoder_layers or not cfg.causal:
        return
    batch = 2 if cfg.n_encoder_layers else 1
    params = drawn(cfg)
    state = generate.start(params, cfg, ids(cfg.src_vocab, SOURCE, (2,)) if cfg.n_encoder_layers else None)
    for t in range(TARGET):
        _, state = generate.stepper(params, cfg)(state, [t] * batch)
    parts = cache(cfg, batch, SOURCE, TARGET)
    own = [*state.keys, *state.values]
    theirs = [*state.memory_keys, *state.memory_values]
    assert 8 * parts["own keys and values"] == sum(a.nbytes for a in own)
    assert 8 * parts["memory's keys and values"] == sum(a.nbytes for a in theirs)
    assert 8 * parts["memory"] == (0 if state.memory is None else state.memory.nbytes)
    assert memory(cfg, batch, SOURCE, TARGET, itemsize=8)["cache"] == 8 * sum(parts.values())


# ---------------------------------------------------------------- arguments


def test_a_length_that_is_needed_must_be_there_and_one_that_is_not_is_not_read():
    with pytest.raises(ValueError, match="source: expected a number of tokens for a model with an encoder, got None"):
        multiplications(SMALL, None, 3)
    with pytest.raises(ValueError, match="target: expected a number of tokens for a model with a decoder, got None"):
        activations(SMALL, 1, 3)
    with pytest.raises(ValueError, match="source: expected at least 1, got 0"):
        cache(SMALL, 1, 0, 3)
    with pytest.raises(TypeError, match="target: expected a whole number"):
        writing(SMALL, 3, 2.5)
    with pytest.raises(ValueError, match="batch"):
        memory(SMALL, 0, 3, 3)
    with pytest.raises(ValueError, match="itemsize"):
        memory(SMALL, 1, 3, 3, itemsize=0)
    decoder_only = dataclasses.replace(SMALL, n_encoder_layers=0)
    assert multiplications(decoder_only, None, 3) == multiplications(decoder_only, 99, 3)
    encoder_only = dataclasses.replace(SMALL, n_decoder_layers=0)
    assert sum(cache(encoder_only, 1, 5).values()) == 0


def test_writing_needs_a_decoder_and_a_cache_needs_the_causal_mask():
    with pytest.raises(ValueError, match="without decoder layers"):
        writing(dataclasses.replace(SMALL, n_decoder_layers=0), 3, 3)
    with pytest.raises(ValueError, match="without causal mask"):
        writing(dataclasses.replace(SMALL, causal=False), 3, 3)
