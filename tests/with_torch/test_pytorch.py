"""What `bridge` promises: with the same parameters the same numbers, forward and back."""

import itertools

import numpy as np
import pytest
import torch

import bridge
from toytf.attention import causal_mask, multi_head_attention, multi_head_attention_backward, padding_mask
from toytf.model import Config, backward, forward, init
from toytf.ops import cross_entropy, cross_entropy_backward
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
    sizes = {"d_model": 12, "n_heads": 3, "d_ff": 7, "n_encoder_layers": 2, "n_decoder_layers": 3}
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


def close(ours, theirs, tolerance, what=""):
    np.testing.assert_allclose(ours, theirs.detach().numpy(), rtol=0, atol=tolerance, err_msg=what)


def same_gradients(ours, module):
    """Every gradient agrees; only biases that toytf has not may have one there alone."""
    ours, theirs = bridge.state(ours), {name: p.grad for name, p in module.named_parameters()}
    assert all(name.endswith(("in_proj_bias", "out_proj.bias")) for name in theirs.keys() - ours.keys())
    for name, array in ours.items():
        close(array, theirs[name], BACKWARD, name)


# ---------------------------------------------------------------- multi-head attention

MASKS = {
    "no mask": (None, None),
    "causal": (causal_mask(TARGET), None),
    "causal and padding": (causal_mask(TARGET), TGT_IS_TOKEN),
    # Each sentence with a mask of its own; every query keeps itself.
    "its own for each sentence": (np.eye(TARGET, dtype=bool) | (rows(BATCH, TARGET, TARGET, seed=9) > 0), None),
}


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("crosses", [False, True])
@pytest.mark.parametrize("masks", MASKS.values(), ids=MASKS)
def test_multi_head_attention_and_all_its_gradients_agree(bias, crosses, masks):
    p = drawn(config(bias=bias)).encoder[0].self_attention
    module = bridge.multi_head_attention(p, 3)
    x, dout = rows(BATCH, TARGET, 12), rows(BATCH, TARGET, 12, seed=4)
    memory = rows(BATCH, TARGET, 12, seed=5) if crosses else None
    mask, is_token = masks
    whole = mask if is_token is None else mask & padding_mask(is_token)
    out, trace = multi_head_attention(p, x, memory, n_heads=3, mask=whole)
    dx, dmemory, dp = multi_head_attention_backward(p, trace, dout)
    tx = torch.tensor(x, requires_grad=True)
    tm = torch.tensor(memory, requires_grad=True) if crosses else tx
    turned = {
        "attn_mask": None if mask is None else bridge.attn_mask(mask, 3),
        "key_padding_mask": None if is_token is None else bridge.key_padding_mask(is_token),
    }
    theirs, weights = module(tx, tm, tm, **turned, average_attn_weights=False)
    theirs.backward(torch.tensor(dout))
    close(out, theirs, FORWARD)
    close(trace.attention.attn_weights, weights, FORWARD)
    close(dx, tx.grad, BACKWARD)
    if crosses:
        close(dmemory, tm.grad, BACKWARD)
    same_gradients(dp, module)


def test_a_sentence_without_a_token_is_zero_here_and_may_be_nan_there():
    p = drawn(config()).encoder[0].self_attention
    x, is_token = rows(2, 3, 12), np.array([[True, True, False], [False, False, False]])
    out, trace = multi_head_attention(p, x, n_heads=3, mask=padding_mask(is_token))
    hidden = bridge.key_padding_mask(is_token)
    theirs, _ = bridge.multi_head_attention(p, 3)(*[torch.tensor(x)] * 3, key_padding_mask=hidden)
    close(out[0], theirs[0], FORWARD)
    assert not trace.attention.attn_weights[1].any() and not out[1].any()
    assert theirs[1].isnan().all()


# ---------------------------------------------------------------- the whole model


def compare_models(cfg, plant=lambda module: None):
    """Logits, loss and every gradient of the whole model in both libraries."""
    params, rng = drawn(cfg), np.random.default_rng(8)
    src = rng.integers(0, cfg.src_vocab, (BATCH, SOURCE))
    tgt, goal = rng.integers(0, cfg.tgt_vocab, (2, BATCH, TARGET))
    logits, trace = forward(params, cfg, src, tgt, SRC_IS_TOKEN, TGT_IS_TOKEN)
    loss, loss_trace = cross_entropy(logits, goal, TGT_IS_TOKEN, label_smoothing=0.1)
    grads = backward(params, cfg, trace, cross_entropy_backward(loss_trace))
    module = bridge.Model(params, cfg)
    plant(module)
    hidden = bridge.key_padding_mask(SRC_IS_TOKEN), bridge.key_padding_mask(TGT_IS_TOKEN)
    theirs = module(torch.tensor(src), torch.tensor(tgt), *hidden)
    kept = torch.tensor(TGT_IS_TOKEN)
    their_loss = torch.nn.functional.cross_entropy(theirs[kept], torch.tensor(goal)[kept], label_smoothing=0.1)
    their_loss.backward()
    close(logits, theirs, FORWARD)
    assert abs(loss - their_loss.item()) < FORWARD
    same_gradients(grads, module)


@pytest.mark.parametrize(
    "switches", [*SWITCHES, {"positions": False}, {"scale_embeddings": False}, {"eps": 1e-3}], ids=named
)
def test_the_whole_model_its_loss_and_all_its_gradients_agree(switches):
    compare_models(config(**switches))


def test_a_transposed_weight_in_the_module_is_caught():
    def plant(module):
        weight = module.transformer.encoder.layers[0].self_attn.out_proj.weight.data
        weight.copy_(weight.T.clone())

    with pytest.raises(AssertionError):
        compare_models(config(), plant)
