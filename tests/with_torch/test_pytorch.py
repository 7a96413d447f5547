"""What `bridge` promises: with the same parameters the same numbers, forward and back."""

import itertools
from dataclasses import replace

import bridge
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from toytf.attention import causal_mask, multi_head_attention, multi_head_attention_backward, padding_mask
from toytf.model import (
    Config,
    backward,
    decoder_layer,
    decoder_layer_backward,
    encoder_layer,
    encoder_layer_backward,
    forward,
    init,
)
from toytf.ops import Linear, cross_entropy, cross_entropy_backward, layer_norm, linear, linear_backward
from toytf.translator import Translator
from toytf.tree import named_arrays

FORWARD, BACKWARD = 1e-12, 1e-10
SWITCHES = [
    {"norm": norm, "activation": activation, "bias": bias}
    for norm, activation, bias in itertools.product(("post", "pre"), ("relu", "gelu"), (False, True))
]
BATCH, SOURCE, TARGET = 3, 5, 4
SRC_IS_TOKEN = np.arange(SOURCE) < np.array([[5], [2], [4]])  # unequal lengths
TGT_IS_TOKEN = np.arange(TARGET) < np.array([[4], [3], [1]])


def named(switches):
    return "-".join(str(value) for value in switches.values())


def config(**switches):
    sizes = {"d_model": 8, "n_heads": 2, "d_ff": 6, "n_encoder_layers": 2, "n_decoder_layers": 2}
    return Config(7, 9, **{**sizes, **switches})


def drawn(cfg, seed=0):
    """Parameters in which nothing is zero or one, so that no array can hide."""
    params = init(cfg, np.random.default_rng(seed))
    rng = np.random.default_rng(seed + 1)
    for array in named_arrays(params).values():
        array += 0.3 * rng.normal(size=array.shape)
    return params


def rows(*shape, seed=3):
    return np.random.default_rng(seed).normal(size=shape)


def tensor(x):
    return torch.tensor(x, requires_grad=True)


def close(ours, theirs, tolerance, what=""):
    theirs = theirs.detach().numpy() if hasattr(theirs, "detach") else theirs
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=tolerance, err_msg=what)


def same_arrays(ours, theirs, tolerance=BACKWARD):
    """Every array of two trees agrees; with tolerance 0 bit for bit, dtype included."""
    a, b = named_arrays(ours), named_arrays(theirs)
    assert a.keys() == b.keys()
    for name in a:
        assert a[name].dtype == b[name].dtype, name
        close(a[name], b[name], tolerance, name)


# ---------------------------------------------------------------- linear maps and tables


@pytest.mark.parametrize("bias", [False, True])
def test_a_linear_map_and_its_gradients_agree_and_come_back(bias):
    p = Linear(rows(3, 5), rows(5, seed=4) if bias else None)
    module = bridge.linear(p)
    x, dout = rows(2, 3, seed=5), rows(2, 5, seed=6)
    tx = tensor(x)
    theirs = module(tx)
    theirs.backward(torch.tensor(dout))
    close(linear(p, x), theirs, FORWARD)
    dx, dp = linear_backward(p, x, dout)
    close(dx, tx.grad, BACKWARD)
    same_arrays(dp, bridge.from_linear(module, bridge.gradients))
    same_arrays(p, bridge.from_linear(module), tolerance=0)


def test_what_torch_does_to_its_copy_leaves_ours_alone():
    p, table = Linear(rows(3, 5), rows(5)), rows(4, 3)
    before = p.weight.copy(), table.copy()
    module, embedding = bridge.linear(p), bridge.embedding(table)
    with torch.no_grad():
        module.weight.zero_()
        embedding.weight.zero_()
    taken = bridge.from_linear(module)
    taken.weight[:] = 5.0
    assert np.array_equal(p.weight, before[0]) and np.array_equal(table, before[1])
    assert not module.weight.any()
    assert embedding.weight.requires_grad


# ---------------------------------------------------------------- multi-head attention

MASKS = {
    "no mask": (None, None),
    "causal": (causal_mask(TARGET), None),
    "padding": (None, TGT_IS_TOKEN),
    "causal and padding": (causal_mask(TARGET), TGT_IS_TOKEN),
    # Each sentence with a mask of its own; every query keeps itself.
    "its own for each sentence": (np.eye(TARGET, dtype=bool) | (rows(BATCH, TARGET, TARGET, seed=9) > 0), None),
}


def joined(mask, is_token):
    """toytf's one mask for torch's two arguments."""
    if is_token is None:
        return mask
    return padding_mask(is_token) if mask is None else mask & padding_mask(is_token)


def in_torch(mask, is_token, n_heads=2):
    return {
        "attn_mask": None if mask is None else bridge.attn_mask(mask, n_heads),
        "key_padding_mask": None if is_token is None else bridge.key_padding_mask(is_token),
    }


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("masks", MASKS.values(), ids=MASKS)
def test_multi_head_attention_and_all_its_gradients_agree(bias, masks):
    p = drawn(config(bias=bias)).encoder[0].self_attention
    module = bridge.multi_head_attention(p, 2)
    x, dout = rows(BATCH, TARGET, 8), rows(BATCH, TARGET, 8, seed=4)
    out, trace = multi_head_attention(p, x, n_heads=2, mask=joined(*masks))
    dx, _, dp = multi_head_attention_backward(p, trace, dout)
    tx = tensor(x)
    theirs, weights = module(tx, tx, tx, **in_torch(*masks), average_attn_weights=False)
    theirs.backward(torch.tensor(dout))
    close(out, theirs, FORWARD)
    close(trace.attention.attn_weights, weights, FORWARD)
    close(dx, tx.grad, BACKWARD)
    same_arrays(dp, bridge.from_multi_head_attention(module, bridge.gradients))
    same_arrays(p, bridge.from_multi_head_attention(module), tolerance=0)


@pytest.mark.parametrize("bias", [False, True])
def test_cross_attention_and_all_its_gradients_agree(bias):
    p = drawn(config(bias=bias)).decoder[0].cross_attention
    module = bridge.multi_head_attention(p, 2)
    x, memory, dout = rows(BATCH, TARGET, 8), rows(BATCH, SOURCE, 8, seed=5), rows(BATCH, TARGET, 8, seed=4)
    out, trace = multi_head_attention(p, x, memory, n_heads=2, mask=padding_mask(SRC_IS_TOKEN))
    dx, dmemory, dp = multi_head_attention_backward(p, trace, dout)
    tx, tm = tensor(x), tensor(memory)
    theirs, weights = module(tx, tm, tm, key_padding_mask=bridge.key_padding_mask(SRC_IS_TOKEN))
    theirs.backward(torch.tensor(dout))
    close(out, theirs, FORWARD)
    close(trace.attention.attn_weights.mean(axis=-3), weights, FORWARD)  # torch's default: the mean over heads
    close(dx, tx.grad, BACKWARD)
    close(dmemory, tm.grad, BACKWARD)
    same_arrays(dp, bridge.from_multi_head_attention(module, bridge.gradients))


def test_one_bias_alone_is_not_lost():
    p = drawn(config()).encoder[0].self_attention
    p.b_v = rows(8)
    x = rows(BATCH, TARGET, 8)
    theirs, _ = bridge.multi_head_attention(p, 2)(*[torch.tensor(x)] * 3)
    close(multi_head_attention(p, x, n_heads=2)[0], theirs, FORWARD)


# ---------------------------------------------------------------- layers


@pytest.mark.parametrize("switches", SWITCHES, ids=named)
def test_an_encoder_layer_and_all_its_gradients_agree(switches):
    cfg = config(**switches)
    p = drawn(cfg).encoder[0]
    module = bridge.encoder_layer(p, cfg)
    x, dout = rows(BATCH, SOURCE, 8), rows(BATCH, SOURCE, 8, seed=4)
    out, trace = encoder_layer(p, cfg, x, padding_mask(SRC_IS_TOKEN))
    dx, dp = encoder_layer_backward(p, cfg, trace, dout)
    tx = tensor(x)
    theirs = module(tx, src_key_padding_mask=bridge.key_padding_mask(SRC_IS_TOKEN))
    theirs.backward(torch.tensor(dout))
    close(out, theirs, FORWARD)
    close(dx, tx.grad, BACKWARD)
    same_arrays(dp, bridge.from_encoder_layer(module, bridge.gradients, cfg.bias))
    same_arrays(p, bridge.from_encoder_layer(module, bias=cfg.bias), tolerance=0)


@pytest.mark.parametrize("switches", SWITCHES, ids=named)
def test_a_decoder_layer_and_all_its_gradients_agree(switches):
    cfg = config(**switches)
    p = drawn(cfg).decoder[0]
    module = bridge.decoder_layer(p, cfg)
    x, memory, dout = rows(BATCH, TARGET, 8), rows(BATCH, SOURCE, 8, seed=5), rows(BATCH, TARGET, 8, seed=4)
    mask = causal_mask(TARGET) & padding_mask(TGT_IS_TOKEN)
    out, trace = decoder_layer(p, cfg, x, memory, mask, padding_mask(SRC_IS_TOKEN))
    dx, dmemory, dp = decoder_layer_backward(p, cfg, trace, dout)
    tx, tm = tensor(x), tensor(memory)
    theirs = module(
        tx,
        tm,
        tgt_mask=bridge.attn_mask(causal_mask(TARGET)),
        tgt_key_padding_mask=bridge.key_padding_mask(TGT_IS_TOKEN),
        memory_key_padding_mask=bridge.key_padding_mask(SRC_IS_TOKEN),
    )
    theirs.backward(torch.tensor(dout))
    close(out, theirs, FORWARD)
    close(dx, tx.grad, BACKWARD)
    close(dmemory, tm.grad, BACKWARD)
    same_arrays(dp, bridge.from_decoder_layer(module, bridge.gradients, cfg.bias))
    same_arrays(p, bridge.from_decoder_layer(module, bias=cfg.bias), tolerance=0)


# ---------------------------------------------------------------- nn.Transformer and the whole model


def stacks(params, cfg, x, y, src_mask, tgt_mask):
    """The two stacks of toytf on rows: what `encode` and `decode` do after the embeddings."""
    for p in params.encoder:
        x, _ = encoder_layer(p, cfg, x, src_mask)
    if params.encoder_norm is not None:
        x, _ = layer_norm(params.encoder_norm, x, cfg.eps)
    for p in params.decoder:
        y, _ = decoder_layer(p, cfg, y, x, tgt_mask, src_mask)
    if params.decoder_norm is not None:
        y, _ = layer_norm(params.decoder_norm, y, cfg.eps)
    return y


@pytest.mark.parametrize("switches", SWITCHES, ids=named)
def test_the_two_stacks_agree_and_come_back(switches):
    cfg = config(**switches)
    params = drawn(cfg)
    module = bridge.transformer(params, cfg)
    x, y = rows(BATCH, SOURCE, 8), rows(BATCH, TARGET, 8, seed=5)
    theirs = module(
        torch.tensor(x),
        torch.tensor(y),
        tgt_mask=bridge.attn_mask(causal_mask(TARGET)),
        src_key_padding_mask=bridge.key_padding_mask(SRC_IS_TOKEN),
        tgt_key_padding_mask=bridge.key_padding_mask(TGT_IS_TOKEN),
        memory_key_padding_mask=bridge.key_padding_mask(SRC_IS_TOKEN),
    )
    mask = causal_mask(TARGET) & padding_mask(TGT_IS_TOKEN)
    close(stacks(params, cfg, x, y, padding_mask(SRC_IS_TOKEN), mask), theirs, FORWARD)
    same_arrays(params, with_stacks(params, bridge.from_transformer(module, bias=cfg.bias)), tolerance=0)


def with_stacks(params, found):
    """The parameters with other stacks, as `from_transformer` returns them."""
    encoder, encoder_norm, decoder, decoder_norm = found
    return replace(params, encoder=encoder, encoder_norm=encoder_norm, decoder=decoder, decoder_norm=decoder_norm)


@pytest.mark.parametrize("norm_first", [False, True])
def test_a_ready_made_transformer_of_torch_comes_over_with_its_last_norms(norm_first):
    torch.manual_seed(1)
    theirs = torch.nn.Transformer(
        8, 2, 2, 2, 6, dropout=0.0, batch_first=True, norm_first=norm_first, dtype=torch.float64
    )
    cfg = config(norm="pre" if norm_first else "post", bias=True)
    params = with_stacks(drawn(cfg), bridge.from_transformer(theirs))
    assert params.encoder_norm is not None and params.decoder_norm is not None  # in post-norm, too
    x, y = rows(BATCH, SOURCE, 8), rows(BATCH, TARGET, 8, seed=5)
    mask = bridge.attn_mask(causal_mask(TARGET))
    out = stacks(params, cfg, x, y, None, causal_mask(TARGET))
    close(out, theirs(torch.tensor(x), torch.tensor(y), tgt_mask=mask), FORWARD)
    again = bridge.transformer(params, cfg)
    close(out, again(torch.tensor(x), torch.tensor(y), tgt_mask=mask), FORWARD)


def compare_models(params, cfg, src, tgt, goal, src_is_token, tgt_is_token, module=None):
    """Logits, loss and every gradient of the whole model in both libraries."""
    logits, trace = forward(params, cfg, src, tgt, src_is_token, tgt_is_token)
    loss, loss_trace = cross_entropy(logits, goal, tgt_is_token, label_smoothing=0.1)
    grads = backward(params, cfg, trace, cross_entropy_backward(loss_trace))
    module = bridge.model(params, cfg) if module is None else module
    theirs = module(
        torch.tensor(src),
        torch.tensor(tgt),
        bridge.key_padding_mask(src_is_token),
        bridge.key_padding_mask(tgt_is_token),
    )
    kept = torch.tensor(tgt_is_token)
    their_loss = torch.nn.functional.cross_entropy(theirs[kept], torch.tensor(goal)[kept], label_smoothing=0.1)
    their_loss.backward()
    close(logits, theirs, FORWARD)
    assert abs(loss - their_loss.item()) < FORWARD
    same_arrays(grads, bridge.from_model(module, bridge.gradients, cfg.bias))
    return module


def ids(cfg, batch=BATCH, source=SOURCE, target=TARGET, seed=8):
    rng = np.random.default_rng(seed)
    goal = rng.integers(0, cfg.tgt_vocab, (batch, target))
    return rng.integers(0, cfg.src_vocab, (batch, source)), rng.integers(0, cfg.tgt_vocab, (batch, target)), goal


@pytest.mark.parametrize(
    "switches", [*SWITCHES, {"positions": False}, {"scale_embeddings": False}, {"eps": 1e-3}], ids=named
)
def test_the_whole_model_its_loss_and_all_its_gradients_agree(switches):
    cfg = config(**switches)
    params = drawn(cfg)
    module = compare_models(params, cfg, *ids(cfg), SRC_IS_TOKEN, TGT_IS_TOKEN)
    same_arrays(params, bridge.from_model(module, bias=cfg.bias), tolerance=0)


@st.composite
def sizes(draw):
    """A model of any small size, and a batch for it, every sentence with at least one token."""
    n_heads = draw(st.integers(1, 4))
    cfg = config(
        d_model=2 * n_heads * draw(st.integers(1, 3)),
        n_heads=n_heads,
        d_ff=draw(st.integers(1, 9)),
        n_encoder_layers=draw(st.integers(1, 3)),
        n_decoder_layers=draw(st.integers(1, 3)),
        norm=draw(st.sampled_from(["post", "pre"])),
        activation=draw(st.sampled_from(["relu", "gelu"])),
        bias=draw(st.booleans()),
    )
    batch, source, target = (draw(st.integers(1, 5)) for _ in range(3))
    lengths = [draw(st.lists(st.integers(1, n), min_size=batch, max_size=batch)) for n in (source, target)]
    flags = [np.arange(n) < np.array(found)[:, None] for n, found in zip((source, target), lengths, strict=True)]
    return cfg, ids(cfg, batch, source, target, seed=draw(st.integers(0, 99))), flags


@settings(max_examples=30)
@given(sizes())
def test_models_of_any_size_agree(drawn_sizes):
    cfg, (src, tgt, goal), (src_is_token, tgt_is_token) = drawn_sizes
    params = drawn(cfg)
    module = compare_models(params, cfg, src, tgt, goal, src_is_token, tgt_is_token)
    same_arrays(params, bridge.from_model(module, bias=cfg.bias), tolerance=0)


def test_a_model_in_float32_stays_in_float32():
    cfg = config()
    params = init(cfg, np.random.default_rng(0), np.float32)
    src, tgt, _ = ids(cfg)
    logits, _ = forward(params, cfg, src, tgt)
    module = bridge.model(params, cfg)
    theirs = module(torch.tensor(src), torch.tensor(tgt))
    assert theirs.dtype == torch.float32
    close(logits, theirs, 1e-5)
    same_arrays(params, bridge.from_model(module), tolerance=0)


def test_the_trained_translator_agrees():
    translator = Translator.load()
    cfg = translator.cfg
    src, tgt, goal = ids(cfg, batch=16, source=9, target=8)
    every = np.ones_like(src, bool), np.ones_like(tgt, bool)
    module = compare_models(translator.params, cfg, src, tgt, goal, *every)
    same_arrays(translator.params, bridge.from_model(module), tolerance=0)


# ---------------------------------------------------------------- rows with nothing left


def test_a_sentence_without_a_token_is_zero_here_and_may_be_nan_there():
    p = drawn(config()).encoder[0].self_attention
    module = bridge.multi_head_attention(p, 2)
    x, is_token = rows(2, 3, 8), np.array([[True, True, False], [False, False, False]])
    out, trace = multi_head_attention(p, x, n_heads=2, mask=padding_mask(is_token))
    theirs, _ = module(*[torch.tensor(x)] * 3, key_padding_mask=bridge.key_padding_mask(is_token))
    close(out[0], theirs[0], FORWARD)
    assert not trace.attention.attn_weights[1].any() and not out[1].any()
    assert theirs[1].isnan().all()


# ---------------------------------------------------------------- what cannot be carried over


@pytest.mark.parametrize(
    ("switches", "message"),
    [
        ({"d_head": 3}, "expected heads that together are d_model = 8 wide, as torch requires, got 2 of 3"),
        ({"residual": False}, "cfg: residual: expected True, the only form that torch's layers have, got False"),
        ({"scale": False}, "cfg: scale: expected True"),
        ({"norm": "none"}, "cfg: norm: expected 'post' or 'pre', the forms that torch's layers have, got 'none'"),
        ({"cross_attention": False}, "p: expected a decoder layer with cross-attention"),
        ({"n_encoder_layers": 0}, "params: expected an encoder and a decoder"),
        ({"n_decoder_layers": 0}, "expected an encoder and a decoder"),
        ({"causal": False}, "cfg: causal: expected True, got False"),
    ],
)
def test_what_torch_has_not_is_refused(switches, message):
    cfg = config(**switches)
    with pytest.raises(ValueError, match=message):
        bridge.model(init(cfg, np.random.default_rng(0)), cfg)


def test_attention_that_torch_cannot_have_is_refused():
    wide = init(config(d_head=3), np.random.default_rng(0)).encoder[0].self_attention
    with pytest.raises(ValueError, match="p: expected heads that together are 8 wide.*got 6 and 6"):
        bridge.multi_head_attention(wide, 2)
    with pytest.raises(ValueError, match="n_heads: expected a divisor of d_model = 8, got 3"):
        bridge.multi_head_attention(drawn(config()).encoder[0].self_attention, 3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kdim": 6}, "expected queries, keys and values of one width, got kdim or vdim of their own"),
        ({"add_bias_kv": True}, "expected add_bias_kv and add_zero_attn to be off"),
        ({"add_zero_attn": True}, "expected add_bias_kv and add_zero_attn to be off"),
    ],
)
def test_attention_that_toytf_cannot_have_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        bridge.from_multi_head_attention(torch.nn.MultiheadAttention(8, 2, **options))


def test_layers_without_biases_and_gradients_before_backward_are_refused():
    bare = torch.nn.TransformerEncoderLayer(8, 2, 6, bias=False)
    with pytest.raises(ValueError, match="expected biases, got a module without"):
        bridge.from_encoder_layer(bare)
    with pytest.raises(ValueError, match="expected layer norms with a bias, got one without"):
        bridge.from_encoder_layer(bare, bias=False)
    with pytest.raises(ValueError, match="expected a gradient, got none: call backward"):
        bridge.from_linear(torch.nn.Linear(2, 2), bridge.gradients)


# ---------------------------------------------------------------- planted mistakes


def plant_transposed_weight(module):
    weight = module.transformer.encoder.layers[0].self_attn.out_proj.weight
    weight.copy_(weight.T.clone())


def plant_queries_for_keys(module):
    weight = module.transformer.decoder.layers[1].multihead_attn.in_proj_weight
    weight.copy_(torch.cat([weight[8:16], weight[:8], weight[16:]]))


def plant_swapped_norms(module):
    layer = module.transformer.decoder.layers[0]
    layer.norm1, layer.norm3 = layer.norm3, layer.norm1


def plant_other_epsilon(module):
    module.transformer.encoder.layers[1].norm2.eps = 1e-6


def plant_a_last_norm(module):
    module.transformer.encoder.norm = torch.nn.LayerNorm(8, dtype=torch.float64)


def plant_dropout(module):
    module.transformer.encoder.layers[0].dropout1.p = 0.1


PLANTS = [
    plant_transposed_weight,
    plant_queries_for_keys,
    plant_swapped_norms,
    plant_other_epsilon,
    plant_a_last_norm,
    plant_dropout,
]


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.__name__)
def test_a_planted_mistake_in_the_module_is_caught(plant):
    cfg = config()
    params = drawn(cfg)
    module = bridge.model(params, cfg)
    torch.manual_seed(0)
    with torch.no_grad():
        plant(module)
    with pytest.raises(AssertionError):
        compare_models(params, cfg, *ids(cfg), SRC_IS_TOKEN, TGT_IS_TOKEN, module)


@pytest.mark.parametrize("name", ["attn_mask", "key_padding_mask"])
def test_a_mask_in_the_wrong_sense_is_caught(name, monkeypatch):
    right = getattr(bridge, name)
    cfg = config()
    params = drawn(cfg)
    monkeypatch.setattr(bridge, name, lambda *arguments: ~right(*arguments))
    with pytest.raises(AssertionError):
        compare_models(params, cfg, *ids(cfg), SRC_IS_TOKEN, TGT_IS_TOKEN)


def test_a_changed_parameter_does_not_survive_the_round_trip_unseen():
    cfg = config()
    params = drawn(cfg)
    module = bridge.model(params, cfg)
    with torch.no_grad():
        module.transformer.encoder.layers[0].linear1.bias[2] += 1e-15
    with pytest.raises(AssertionError, match=r"encoder\.0\.feed_forward\.b_1"):
        same_arrays(params, bridge.from_model(module), tolerance=0)
