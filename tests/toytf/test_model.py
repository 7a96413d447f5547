"""What `toytf.model` promises."""

import dataclasses
import itertools

import numpy as np
import pytest
from axes import check_axes

from toytf import model
from toytf.gradcheck import directional
from toytf.model import Config, backward, decode, encode, forward, init
from toytf.ops import cross_entropy, cross_entropy_backward
from toytf.tree import named_arrays

# All sizes differ, so that two swapped axes show.
SMALL = Config(
    src_vocab=11, tgt_vocab=13, d_model=6, n_heads=2, d_head=5, d_ff=7, n_encoder_layers=2, n_decoder_layers=3
)
SRC, TGT = [[1, 2, 3, 4], [5, 6, 7, 8]], [[1, 2, 3], [4, 5, 6]]


def small(seed=0, **switches):
    cfg = dataclasses.replace(SMALL, **switches)
    return init(cfg, np.random.default_rng(seed)), cfg


def test_the_default_is_the_papers_base_model():
    cfg = Config(src_vocab=37000, tgt_vocab=37000)
    assert (cfg.d_model, cfg.n_heads, cfg.head_width, cfg.d_ff) == (512, 8, 64, 2048)
    assert (cfg.n_encoder_layers, cfg.n_decoder_layers, cfg.norm, cfg.activation) == (6, 6, "post", "relu")


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


@pytest.mark.parametrize("name", ["norm", "residual", "scale", "positions", "causal", "activation"])
def test_every_switch_changes_what_the_same_weights_compute(name):
    params, cfg = small()
    other = dataclasses.replace(cfg, **{name: SWITCHES[name][1]})
    difference = np.abs(forward(params, cfg, SRC, TGT)[0] - forward(params, other, SRC, TGT)[0]).max()
    assert difference > 1e-6


def test_without_cross_attention_the_source_does_not_matter():
    params, cfg = small(cross_attention=False)
    np.testing.assert_array_equal(forward(params, cfg, SRC, TGT)[0], forward(params, cfg, [[9] * 4] * 2, TGT)[0])
    params, cfg = small()
    assert np.abs(forward(params, cfg, SRC, TGT)[0] - forward(params, cfg, [[9] * 4] * 2, TGT)[0]).max() > 1e-6


def test_a_later_target_token_changes_no_earlier_row():
    params, cfg = small()
    before, _ = forward(params, cfg, SRC, [[1, 2, 3], [4, 5, 6]])
    after, _ = forward(params, cfg, SRC, [[1, 2, 9], [4, 5, 9]])
    np.testing.assert_array_equal(before[:, :2], after[:, :2])
    assert np.abs(before[:, 2] - after[:, 2]).max() > 1e-6
    leaky = dataclasses.replace(cfg, causal=False)
    before, _ = forward(params, leaky, SRC, [[1, 2, 3], [4, 5, 6]])
    after, _ = forward(params, leaky, SRC, [[1, 2, 9], [4, 5, 9]])
    assert np.abs(before[:, :2] - after[:, :2]).max() > 1e-6  # the test above can fail


def test_padding_changes_nothing():
    params, cfg = small()
    alone, _ = forward(params, cfg, SRC[0][:3], TGT[0][:2])
    flags_src, flags_tgt = [[True, True, True, False]], [[True, True, False]]
    padded, _ = forward(params, cfg, [[*SRC[0][:3], 10]], [[*TGT[0][:2], 12]], flags_src, flags_tgt)
    np.testing.assert_allclose(padded[0, :2], alone, rtol=1e-12, atol=1e-14)
    unmasked, _ = forward(params, cfg, [[*SRC[0][:3], 10]], [[*TGT[0][:2], 12]])
    assert np.abs(unmasked[0, :2] - alone).max() > 1e-6


def test_encoder_only_and_decoder_only_models_come_from_the_same_parts():
    encoder, cfg = small(n_decoder_layers=0)
    assert encode(encoder, cfg, SRC)[0].shape == (2, 4, 6)
    assert encoder.tgt_embedding is None and encoder.output is None
    with pytest.raises(ValueError, match="expected a model with a decoder"):
        decode(encoder, cfg, TGT)
    decoder, cfg = small(n_encoder_layers=0)
    logits, trace = forward(decoder, cfg, None, TGT)
    assert logits.shape == (2, 3, 13) and trace.encoder is None
    assert all(layer.cross_attention is None for layer in decoder.decoder)
    with pytest.raises(ValueError, match="expected a model with an encoder"):
        encode(decoder, cfg, SRC)


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_without_a_trace_the_logits_are_the_same_and_nothing_is_kept(norm):
    params, cfg = small(norm=norm)
    kept, trace = forward(params, cfg, SRC, TGT)
    logits, nothing = forward(params, cfg, SRC, TGT, keep_trace=False)
    np.testing.assert_array_equal(logits, kept)
    assert trace is not None and nothing is None
    with pytest.raises(TypeError, match="trace: expected a Trace, got None"):
        backward(params, cfg, nothing, logits)


def test_no_parameter_and_no_input_is_modified():
    params, cfg = small(norm="pre")
    kept = {name: array.copy() for name, array in named_arrays(params).items()}
    src = np.array(SRC)
    forward(params, cfg, src, TGT)
    np.testing.assert_array_equal(src, SRC)
    for name, array in named_arrays(params).items():
        np.testing.assert_array_equal(array, kept[name], err_msg=name)


def test_every_array_of_parameters_and_trace_has_its_axes_named_and_true():
    sizes = {"src_vocab": 11, "tgt_vocab": 13, "d_model": 6, "d_ff": 7, "d_y": 6, "heads": 2, "d_k": 5, "d_v": 5}
    sizes |= {"d_in": 6, "d_out": 13, "1": 1}
    params, cfg = small(norm="pre", bias=True)
    _, trace = forward(params, cfg, SRC, TGT, np.ones((2, 4), bool), np.ones((2, 3), bool))

    assert check_axes(params, sizes) == []
    assert check_axes(trace.encoder, sizes | {"length": 4, "query": 4, "key": 4}) == []
    sizes |= {"length": 3, "query": 3, "key": 3}
    assert check_axes(dataclasses.replace(trace.decoder, layers=[]), sizes) == []
    for layer in trace.decoder.layers:
        assert check_axes(dataclasses.replace(layer, cross_attention=None), sizes) == []
        assert check_axes(layer.cross_attention, sizes | {"key": 4}) == []


def test_float32_parameters_make_a_float32_model():
    cfg = SMALL
    logits, trace = forward(init(cfg, np.random.default_rng(0), np.float32), cfg, SRC, TGT)
    assert logits.dtype == np.float32
    assert trace.encoder.out.dtype == np.float32


# ---------------------------------------------------------------- gradients

GOAL = np.array([[2, 3, 4], [5, 6, 0]])
SRC_FLAGS = np.array([[True] * 4, [True, True, True, False]])
TGT_FLAGS = np.array([[True] * 3, [True, True, False]])


def loss_and_traces(params, cfg, src=SRC):
    flags = SRC_FLAGS if src is not None else None
    logits, trace = forward(params, cfg, src, TGT, flags, TGT_FLAGS)
    return *cross_entropy(logits, GOAL, TGT_FLAGS, label_smoothing=0.1), trace


def gradients(params, cfg, src=SRC):
    _, loss_trace, trace = loss_and_traces(params, cfg, src)
    return backward(params, cfg, trace, cross_entropy_backward(loss_trace))


def slopes(params, cfg, grads, src=SRC):
    """Compare the gradients with the loss a little to both sides."""
    return directional(lambda: loss_and_traces(params, cfg, src)[0], params, grads, np.random.default_rng(2))


def wiggle(params):
    """Move gammas, betas and biases off 1 and 0, so that their part in a gradient shows."""
    rng = np.random.default_rng(1)
    for array in named_arrays(params).values():
        if array.ndim == 1:
            array += 0.3 * rng.normal(size=array.shape)
    return params


def corner_between(trace):
    """Whether a relu's input is so near to 0 that a nudge may turn it round: then the slopes to both sides differ."""
    layers = [layer for stack in (trace.encoder, trace.decoder) if stack is not None for layer in stack.layers]
    inputs = [np.abs(layer.feed_forward.inner.before) for layer in layers]
    return any(x.min() < 1e-4 * x.max() for x in inputs)


def agree(src=SRC, spoil=lambda grads: None, **switches):
    """Compare all gradients with the slopes, in a draw where each is long enough to be seen beside the rounding.

    What the model leaves out has a gradient of 0. So have key biases (softmax ignores a shift of a whole row): what
    is found for them is measured by the length of their weights' gradient.
    """
    for seed in range(20):  # in some draws all of a relu is 0 or a softmax saturated, and a gradient vanishes
        params, cfg = small(seed, **switches)
        wiggle(params)
        grads = gradients(params, cfg, src)
        spoil(grads)
        checked = slopes(params, cfg, grads, src)
        assert checked.keys() == named_arrays(params).keys()  # no array is left out
        unused = () if cfg.cross_attention else ("src_embedding", "encoder")
        left_out = {n for n in checked if n.startswith(unused) or (cfg.norm == "none" and ".norm_" in n)}
        by = {n: checked[n[:-3] + "w_k" if n.endswith("b_k") else n].length for n in checked.keys() - left_out}
        seen = all(checked[name].noise < 1e-6 * length for name, length in by.items())
        if seen and not corner_between(loss_and_traces(params, cfg, src)[2]):
            break
    else:
        pytest.fail("expected weights whose gradients can all be seen, got none")
    for name in left_out:
        assert checked[name].analytic == checked[name].numeric == 0, (name, checked[name])
    for name, length in by.items():  # rounding makes a gap of a few times the noise; there is room for ten times
        assert checked[name].gap < 1e-5 * length, (name, checked[name])
    return grads


@pytest.mark.parametrize("values", list(itertools.product(*SWITCHES.values()))[::5])
def test_the_gradients_of_every_configuration(values):
    switches = dict(zip(SWITCHES, values, strict=True))
    # In three layers without residual gradients vanish, down to 1e-25; without norm softmax becomes a step.
    if not switches["residual"] or switches["norm"] == "none":
        switches |= {"n_encoder_layers": 1, "n_decoder_layers": 1}
    agree(**switches)


@pytest.mark.parametrize("norm", ["post", "pre", "none"])
def test_the_gradients_of_a_decoder_only_model(norm):
    grads = agree(src=None, n_encoder_layers=0, norm=norm)
    assert grads.src_embedding is None and grads.encoder == []


@pytest.mark.parametrize(
    ("name", "wrong"), [("w_q", lambda d: 1.01 * d), ("w_o", np.negative), ("b_k", lambda d: d + 1e-3)]
)
def test_the_check_of_the_whole_model_catches_one_wrong_array(name, wrong):
    def spoil(grads):
        part = grads.decoder[1].cross_attention
        setattr(part, name, wrong(getattr(part, name)))

    with pytest.raises(AssertionError, match=rf"'decoder\.1\.cross_attention\.{name}', Mismatch"):
        agree(spoil=spoil, bias=True)


def test_gradients_have_the_parameters_class_shapes_and_dtype():
    cfg = SMALL
    for dtype in (np.float32, np.float64):
        params = init(cfg, np.random.default_rng(0), dtype)
        grads = gradients(params, cfg)
        assert type(grads) is type(params)
        for name, array in named_arrays(params).items():
            assert named_arrays(grads)[name].shape == array.shape, name
            assert named_arrays(grads)[name].dtype == dtype, name


def test_a_gradient_of_the_wrong_shape_is_refused():
    params, cfg = small()
    _, trace = forward(params, cfg, SRC, TGT)
    with pytest.raises(ValueError, match="dlogits: expected shape 2 x 3 x 13 as trace.logits has, got 2 x 3"):
        backward(params, cfg, trace, np.zeros((2, 3)))


# ---------------------------------------------------------------- files


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"d_model": 0}, ValueError, "d_model: expected at least 1, got 0"),
        ({"n_heads": 4, "d_head": None}, ValueError, "n_heads: expected a divisor of d_model = 6, got 4"),
        ({"d_model": 7}, ValueError, "d_model: expected an even number .* got 7"),
        ({"norm": "batch"}, ValueError, "norm: expected one of post, pre, none, got 'batch'"),
        ({"activation": "tanh"}, ValueError, "activation: expected one of relu, gelu, got 'tanh'"),
        ({"n_encoder_layers": -1}, ValueError, "n_encoder_layers: expected at least 0, got -1"),
        ({"n_encoder_layers": 0, "n_decoder_layers": 0}, ValueError, "expected at least one layer"),
        ({"eps": 0.0}, ValueError, "eps: expected a positive number"),
        ({"d_ff": 2.5}, TypeError, "d_ff: expected a whole number, got 2.5"),
    ],
)
def test_a_config_that_cannot_be_is_refused(change, error, message):
    with pytest.raises(error, match=message):
        dataclasses.replace(SMALL, **change)


def test_a_decoder_layer_that_reads_a_memory_gets_one_and_no_other_does():
    params, cfg = small()
    x = np.ones((2, 6))
    with pytest.raises(ValueError, match="memory: expected the encoder's output, got None"):
        model.decoder_layer(params.decoder[0], cfg, x, None)
    params, cfg = small(cross_attention=False)
    with pytest.raises(ValueError, match="memory: expected None for a decoder without cross-attention, got an array"):
        model.decoder_layer(params.decoder[0], cfg, x, x)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p, c: forward(p, c, [[1, 11]], [[1]]), r"src: expected ids from 0 to 10 .* got 11 at \[0, 1\]"),
        (lambda p, c: forward(p, c, [[1, 2]], [[-1]]), r"tgt: expected ids from 0 to 12 .* got -1 at \[0, 0\]"),
        (lambda p, c: forward(p, c, [], [[1]]), "src: expected at least one token id"),
        (lambda p, c: forward(p, c, None, [[1]]), "src: expected token ids for a model with an encoder, got None"),
        (lambda p, c: forward(p, c, SRC, TGT, [[True] * 3] * 2), "src_is_token: expected shape 2 x 4 .* got 2 x 3"),
        (lambda p, c: decode(p, c, TGT), "memory: expected the encoder's output, got None"),
        (lambda p, c: forward(p, c, SRC, [[1, 2]] * 3), "leading axes"),
    ],
)
def test_bad_input_is_named_with_what_was_expected_and_what_came(call, message):
    with pytest.raises(ValueError, match=message):
        call(*small())
