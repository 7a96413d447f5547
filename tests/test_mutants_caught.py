"""Small promises of the core that its other tests took for granted; found by `make test-mutants`.

Each test here fails for at least one small change of the code that no other test noticed.
"""

import dataclasses
import json
import re

import numpy as np
import pytest

from toytf import attention, generate, model, ops, optim, positions, store, tree
from toytf.attention import MultiHead
from toytf.model import Config
from toytf.ops import LayerNorm, Linear
from toytf.translator import Translator


def drawn(seed, *shape, dtype=float):
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


SMALL = Config(src_vocab=9, tgt_vocab=5, d_model=6, n_heads=2, d_ff=7, n_encoder_layers=2, n_decoder_layers=2)


def small(dtype=float, **switches):
    cfg = dataclasses.replace(SMALL, **switches)
    params = model.init(cfg, np.random.default_rng(0), dtype)
    for array in tree.named_arrays(params).values():
        if array.ndim == 1:  # biases off 0 and gammas off 1, so that they show
            array += drawn(1, *array.shape, dtype=dtype) / 3
    return params, cfg


# ---------------------------------------------------------------- every door names its argument

HEADS = MultiHead(*[np.ones((4, 4))] * 4)
ROWS = np.ones((2, 4))
TAKES_NUMBERS = {
    "softmax": ("x", 1, ops.softmax),
    "softmax_naive": ("x", 1, ops.softmax_naive),
    "log_softmax": ("x", 1, ops.log_softmax),
    "linear": ("x", 1, lambda x: ops.linear(Linear(np.ones((4, 4))), x)),
    "embedding": ("table", 2, lambda x: ops.embedding(x, [0])),
    "relu": ("x", 0, ops.relu),
    "gelu": ("x", 0, ops.gelu),
    "gelu_tanh": ("x", 0, ops.gelu_tanh),
    "layer_norm": ("x", 1, lambda x: ops.layer_norm(LayerNorm(np.ones(4), np.ones(4)), x)),
    "layer_norm_eps_outside": ("x", 1, ops.layer_norm_eps_outside),
    "cross_entropy": ("logits", 2, lambda x: ops.cross_entropy(x, [0])),
    "attention's queries": ("q", 2, lambda x: attention.attention(x, ROWS, ROWS)),
    "attention's keys": ("k", 2, lambda x: attention.attention(ROWS, x, ROWS)),
    "attention's values": ("v", 2, lambda x: attention.attention(ROWS, ROWS, x)),
    "masked_softmax": ("scores", 2, lambda x: attention.masked_softmax(x, [[True]])),
    "multi_head_attention": ("x", 2, lambda x: attention.multi_head_attention(HEADS, x, n_heads=2)),
    "its memory": ("memory", 2, lambda x: attention.multi_head_attention(HEADS, ROWS, x, n_heads=2)),
    "split_heads": ("x", 2, lambda x: attention.split_heads(x, 2)),
    "merge_heads": ("x", 3, attention.merge_heads),
    "a head's queries": ("w_q[1]", 2, lambda x: MultiHead.from_heads([ROWS, x], [ROWS] * 2, [ROWS] * 2, ROWS)),
    "a head's keys": ("w_k[1]", 2, lambda x: MultiHead.from_heads([ROWS] * 2, [ROWS, x], [ROWS] * 2, ROWS)),
    "a head's values": ("w_v[1]", 2, lambda x: MultiHead.from_heads([ROWS] * 2, [ROWS] * 2, [ROWS, x], ROWS)),
    "the output's matrix": ("w_o", 2, lambda x: MultiHead.from_heads([ROWS], [ROWS], [ROWS], x)),
}


@pytest.mark.parametrize("case", TAKES_NUMBERS)
def test_what_is_no_number_or_has_too_few_axes_is_refused_by_the_arguments_name(case):
    name, axes, call = TAKES_NUMBERS[case]
    with pytest.raises(TypeError) as error:
        call("words")
    assert str(error.value).startswith(f"{name}: expected")
    if axes:
        with pytest.raises(ValueError) as error:
            call(np.ones((1,) * (axes - 1)))
        got = rf"got ({axes - 1} \(|shape 1)"
        assert re.match(rf"{re.escape(name)}: expected (at least )?{axes} ax\w+, {got}", str(error.value))


@pytest.mark.parametrize("activation", [ops.relu, ops.gelu, ops.gelu_tanh])
def test_an_activation_takes_a_single_number(activation):
    assert activation(2.0) == activation([2.0])[0] != 0


TAKES_IDS = {
    "embedding": ("ids", lambda ids: ops.embedding(np.ones((3, 2)), ids)),
    "embedding_backward": ("ids", lambda ids: ops.embedding_backward(3, ids, np.ones((1, 2)))),
    "cross_entropy": ("targets", lambda ids: ops.cross_entropy(np.ones((1, 3)), ids)),
    "encode": ("src", lambda ids: model.encode(*small(), ids)),
    "decode": ("tgt", lambda ids: model.decode(*small(), ids, np.ones((1, 6)))),
    "a step": ("ids", lambda ids: generate.stepper(*small())(generate.start(*small(), [1]), ids)),
}


@pytest.mark.parametrize("case", TAKES_IDS)
def test_what_is_no_token_id_is_refused_by_the_arguments_name(case):
    name, call = TAKES_IDS[case]
    with pytest.raises(TypeError, match=f"^{name}: expected integer token ids"):
        call([0.5])
    with pytest.raises(ValueError, match=f"^{name}: expected ids from 0 to"):
        call([99])


class Nothing:
    """A state that remembers nothing, but counts how often it was asked."""

    def __init__(self):
        self.steps = 0

    def take(self, rows):
        return self


WALK = (lambda state, ids: (np.zeros((len(ids), 3)), state), Nothing())
ARGS = {"sos": 0, "eos": 1, "max_length": 3}
TAKES_SIZES = {
    "sinusoids": ("length", lambda n: positions.sinusoids(n, 4)),
    "their width": ("d_model", lambda n: positions.sinusoids(3, n)),
    "causal_mask": ("length", attention.causal_mask),
    "split_heads": ("n_heads", lambda n: attention.split_heads(ROWS, n)),
    "greedy": ("n", lambda n: generate.greedy(*WALK, n=n, **ARGS)),
    "its limit": ("max_length", lambda n: generate.greedy(*WALK, **{**ARGS, "max_length": n})),
    "sample": ("top_k", lambda n: generate.sample(*WALK, rng=np.random.default_rng(0), top_k=n, **ARGS)),
    "beam_search": ("width", lambda n: generate.beam_search(*WALK, width=n, **ARGS)),
    "its sentences": ("n_best", lambda n: generate.beam_search(*WALK, width=2, n_best=n, **ARGS)),
    "a beam's limit": ("max_length", lambda n: generate.beam_search(*WALK, width=2, **{**ARGS, "max_length": n})),
    "paper_schedule": ("d_model", optim.paper_schedule),
    "its warm-up": ("warmup", lambda n: optim.paper_schedule(8, n)),
    "cosine_schedule": ("steps", lambda n: optim.cosine_schedule(0.1, 0, n)),
    **{
        f"Config.{name}": (name, lambda n, name=name: dataclasses.replace(SMALL, **{name: n}))
        for name in ("src_vocab", "tgt_vocab", "d_model", "n_heads", "d_ff", "d_head")
    },
}


@pytest.mark.parametrize("case", TAKES_SIZES)
def test_a_size_below_one_or_not_whole_is_refused_by_the_arguments_name(case):
    name, call = TAKES_SIZES[case]
    with pytest.raises(ValueError, match=f"^{name}: expected at least 1, got 0"):
        call(0)
    with pytest.raises(TypeError, match=f"^{name}: expected a whole number, got 2.5"):
        call(2.5)


@pytest.mark.parametrize("name", ["n_encoder_layers", "n_decoder_layers"])
def test_a_stack_may_have_no_layer_but_no_half_one_and_false_is_no_number(name):
    assert getattr(dataclasses.replace(SMALL, **{name: 0}), name) == 0
    for wrong in (2.5, False, True):
        with pytest.raises(TypeError, match=f"^{name}: expected a whole number, got {wrong}"):
            dataclasses.replace(SMALL, **{name: wrong})


TAKES_POSITIVE = {
    "layer_norm": ("eps", lambda x: ops.layer_norm(LayerNorm(np.ones(4), np.ones(4)), ROWS, x)),
    "Config": ("eps", lambda x: dataclasses.replace(SMALL, eps=x)),
    "sgd_step": ("learning_rate", lambda x: optim.sgd_step(*[LayerNorm(np.ones(1), np.ones(1))] * 2, x)),
    "Adam.step": ("learning_rate", lambda x: optim.Adam().step(*[LayerNorm(np.ones(1), np.ones(1))] * 2, x)),
    "Adam": ("eps", lambda x: optim.Adam(eps=x)),
    "clip": ("limit", lambda x: optim.clip(LayerNorm(np.ones(1), np.ones(1)), x)),
    "cosine_schedule": ("peak", lambda x: optim.cosine_schedule(x, 1, 2)),
    "sample": ("temperature", lambda x: generate.sample(*WALK, rng=np.random.default_rng(0), temperature=x, **ARGS)),
}


@pytest.mark.parametrize("case", TAKES_POSITIVE)
@pytest.mark.parametrize("wrong", [0.0, -0.5, np.inf, np.nan])
def test_what_must_be_positive_and_finite_is_refused_by_the_arguments_name(case, wrong):
    name, call = TAKES_POSITIVE[case]
    with pytest.raises(ValueError, match=f"^{name}: expected a positive number, got {wrong}"):
        call(wrong)
    call(1e-300)  # as small as one likes, and no limit of 1
    call(7.0)


@pytest.mark.parametrize(
    ("name", "call", "least", "most", "over"),
    [
        ("label_smoothing", lambda x: ops.cross_entropy(np.ones((1, 3)), [0], None, x), 0.0, 0.999, 1.0),
        ("beta1", lambda x: optim.Adam(beta1=x), 0.0, 0.999, 1.0),
        ("beta2", lambda x: optim.Adam(beta2=x), 0.0, 0.999, 1.0),
        ("warmup", lambda x: optim.cosine_schedule(0.1, x, 5), 0, 5, 6),
        ("length_penalty", lambda x: generate.beam_search(*WALK, width=1, length_penalty=x, **ARGS), 0.0, 9.0, np.inf),
        (
            "top_p",
            lambda x: generate.sample(*WALK, rng=np.random.default_rng(0), top_p=x, **ARGS),
            1e-9, 1.0, 1.001,
        ),
    ],
)  # fmt: skip
def test_a_range_ends_where_it_says(name, call, least, most, over):
    call(least)
    call(most)
    for wrong in (least - 1, over):
        with pytest.raises(ValueError, match=f"^{name}: expected .* got {wrong}"):
            call(wrong)


@pytest.mark.parametrize(
    ("call", "place"),
    [
        (lambda x: ops.linear(Linear(np.ones((3, 2))), x), r"x: .* nan at \[1, 2\]"),
        (lambda x: ops.layer_norm(LayerNorm(np.ones(3), np.ones(3)), x), r"x: .* nan at \[1, 2\]"),
        (lambda x: ops.cross_entropy(x, [0, 1]), r"logits: .* nan at \[1, 2\]"),
        (lambda x: ops.softmax(x), r"x: .* nan at \[1, 2\]"),
    ],
)
def test_a_nan_is_named_with_its_place(call, place):
    x = np.ones((2, 3))
    x[1, 2] = np.nan
    with pytest.raises(ValueError, match=f"^{place}"):
        call(x)


def test_widths_and_leading_axes_that_do_not_fit_are_named_with_both_shapes():
    for call, pieces in (
        (lambda: attention.attention(np.ones((2, 3)), np.ones((5, 4)), ROWS), ("q", "2 x 3", "k", "5 x 4")),
        (lambda: attention.attention(np.ones((2, 3)), np.ones((5, 3)), ROWS), ("k", "5 x 3", "v", "2 x 4")),
        (
            lambda: attention.attention(np.ones((2, 2, 3)), np.ones((2, 5, 3)), np.ones((7, 5, 3))),
            ("q", "2 x 2 x 3", "v", "7 x 5 x 3"),
        ),
        (
            lambda: attention.multi_head_attention(HEADS, ROWS, np.ones((2, 3)), n_heads=2),
            ("memory", "2 x 3", "w_k", "4 x 4"),
        ),
        (
            lambda: MultiHead.from_heads([ROWS, np.ones((2, 3))], [ROWS] * 2, [ROWS] * 2, ROWS),
            ("w_q[1]", "2 x 4", "2 x 3"),
        ),
    ):
        with pytest.raises(ValueError) as error:
            call()
        for piece in pieces:
            assert piece in str(error.value), error.value


@pytest.mark.parametrize("name", ["w_k", "w_v"])
def test_as_many_keys_and_values_as_queries_are_wanted_and_at_least_one(name):
    matrices = {"w_q": [ROWS] * 2, "w_k": [ROWS] * 2, "w_v": [ROWS] * 2}
    with pytest.raises(ValueError, match=rf"^{name}: expected 2 heads.* got 1"):
        MultiHead.from_heads(**{**matrices, name: [ROWS]}, w_o=ROWS)
    with pytest.raises(ValueError, match="^w_q: expected at least one head, got none"):
        MultiHead.from_heads([], [], [], ROWS)


# ---------------------------------------------------------------- sums, softmax, loss


@pytest.mark.parametrize("axis", [-4, -3, -2, -1, 0, 1, 2, 3])
def test_a_sum_runs_along_the_axis_that_was_named(axis):
    x, y = drawn(0, 2, 3, 5, 7), drawn(1, 2, 3, 5, 7)
    np.testing.assert_allclose(ops._sum_along(x, axis), x.sum(axis=axis, keepdims=True), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(ops._dot_along(x, y, axis), (x * y).sum(axis=axis, keepdims=True), atol=1e-12)


@pytest.mark.parametrize("function", [ops.softmax, ops.softmax_naive, ops.log_softmax])
def test_the_axis_is_the_last_one_unless_said_otherwise(function):
    x = drawn(0, 2, 3, 5)
    np.testing.assert_array_equal(function(x), function(x, axis=-1))
    for axis in (0, 1):
        np.testing.assert_allclose(function(x, axis), np.moveaxis(function(np.moveaxis(x, axis, -1)), -1, axis))
        total = np.exp(function(x, axis)) if function is ops.log_softmax else function(x, axis)
        np.testing.assert_allclose(total.sum(axis=axis), 1, rtol=1e-12)
    weights, dout = ops.softmax(x), drawn(1, 2, 3, 5)
    np.testing.assert_array_equal(ops.softmax_backward(weights, dout), ops.softmax_backward(weights, dout, -1))
    assert np.abs(ops._sum_along(ops.softmax_backward(weights, dout))).max() < 1e-12


@pytest.mark.parametrize("n", [1, ops.SHORT - 1, ops.SHORT, ops.SHORT + 1, 3 * ops.SHORT])
def test_short_rows_and_long_ones_have_the_same_softmax(n):
    x = 100 * drawn(0, 3, n)
    exps = np.exp(x - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(ops.softmax(x), exps / exps.sum(axis=1, keepdims=True), rtol=1e-12)
    np.testing.assert_allclose(ops.softmax(x.T, axis=0), ops.softmax(x).T, rtol=1e-12)


def test_weights_too_small_for_a_float_are_zero_without_a_complaint():
    huge = np.finfo(float).max
    with np.errstate(all="raise"):
        np.testing.assert_array_equal(ops.softmax([0.0, -1e4]), [1.0, 0.0])
        np.testing.assert_array_equal(ops.softmax([huge, -huge]), [1.0, 0.0])
        np.testing.assert_array_equal(ops.log_softmax([0.0, -1e4]), [0.0, -1e4])
        np.testing.assert_array_equal(ops.log_softmax([huge, -huge]), [0.0, -np.inf])


def test_the_tanh_form_of_gelu_overflows_without_a_complaint():
    with np.errstate(all="raise", under="ignore"):
        np.testing.assert_array_equal(ops.gelu_tanh([1e200, -1e200]), [1e200, 0.0])


def test_the_tanh_form_of_gelu_by_its_formula():
    x = np.linspace(-3, 3, 25)
    expected = [v / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (v + 0.044715 * v**3))) for v in x]
    np.testing.assert_allclose(ops.gelu_tanh(x), expected, rtol=1e-12)


def test_the_gradient_of_relu_at_zero_is_zero():
    np.testing.assert_array_equal(ops.relu_backward(np.array([-1.0, 0.0, 1e-9]), np.full(3, 5.0)), [0.0, 0.0, 5.0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_dtype_of_the_numbers_stays(dtype):
    x, p = drawn(0, 3, 4, dtype=dtype), LayerNorm(np.ones(4, dtype), np.zeros(4, dtype))
    out, trace = ops.layer_norm(p, x)
    dx, dp = ops.layer_norm_backward(p, trace, x)
    loss, loss_trace = ops.cross_entropy(x, [0, 1, 2])
    _, with_flags = ops.cross_entropy(x, [0, 1, 2], [True, False, True])
    assert isinstance(loss, float)
    for found in (
        ops.softmax_naive(x), ops.log_softmax(x), ops.relu(x), ops.gelu(x), ops.gelu_tanh(x), ops.normal_cdf(x),
        ops.relu_backward(x, x), ops.gelu_backward(x, x), ops.gelu_backward(x, x.astype(float)),
        ops.embedding(x, [0]), ops.embedding_backward(5, [0, 1, 1], x),
        out, trace.normalised, trace.std, dx, dp.gamma, dp.beta, ops.layer_norm_eps_outside(x),
        loss_trace.probs, loss_trace.goal, loss_trace.counted, with_flags.counted,
        ops.cross_entropy_backward(with_flags),
    ):  # fmt: skip
        assert found.dtype == dtype


def test_epsilon_is_a_hundred_thousandth_inside_the_root_and_a_millionth_outside():
    x, p = np.array([[-1e-3, 1e-3]]), LayerNorm(np.ones(2), np.zeros(2))
    np.testing.assert_allclose(ops.layer_norm(p, x)[0], x / np.sqrt(1e-6 + 1e-5), rtol=1e-12)
    np.testing.assert_allclose(ops.layer_norm_eps_outside(x), x / (1e-3 + 1e-6), rtol=1e-12)
    np.testing.assert_allclose(ops.layer_norm_eps_outside(x, 1e-3), x / 2e-3, rtol=1e-12)
    y = drawn(0, 2, 3, 4)
    expected = (y - y.mean(axis=2, keepdims=True)) / (y.std(axis=2, keepdims=True) + 1e-6)
    np.testing.assert_allclose(ops.layer_norm_eps_outside(y), expected, rtol=1e-12)


def test_the_goal_of_a_smoothed_loss_by_hand():
    # 5 words, smoothing 0.1: 0.1/5 for each, and 0.9 more for the right one
    _, trace = ops.cross_entropy(np.zeros((1, 5)), [3], label_smoothing=0.1)
    np.testing.assert_allclose(trace.goal, [[0.02, 0.02, 0.02, 0.92, 0.02]], rtol=1e-14)
    np.testing.assert_allclose(trace.probs, np.full((1, 5), 0.2), rtol=1e-14)
    _, trace = ops.cross_entropy(np.zeros((1, 5)), [3])
    np.testing.assert_array_equal(trace.goal, [[0, 0, 0, 1, 0]])  # none, unless asked for


def test_flags_of_the_wrong_shape_or_kind_are_named_with_what_came():
    for flags, got in (([True], "shape 1"), ([1, 0], "int64"), ([[True, True]], "shape 1 x 2")):
        with pytest.raises(ValueError, match=f"^is_token: expected booleans of shape 2, got .*{got}"):
            ops.cross_entropy(np.zeros((2, 3)), [0, 1], flags)


def test_the_gradient_of_a_table_has_a_row_for_every_word_and_any_leading_axes():
    dout = drawn(0, 2, 3, 4)
    gradient = ops.embedding_backward(7, [[1, 1, 5], [0, 1, 5]], dout)
    expected = np.zeros((7, 4))
    np.add.at(expected, np.array([[1, 1, 5], [0, 1, 5]]), dout)
    np.testing.assert_allclose(gradient, expected, rtol=1e-14)


def test_rows_and_leading_axes_keep_their_places_in_the_gradients_of_a_linear_map():
    p, x, dout = Linear(drawn(0, 3, 2), drawn(1, 2)), drawn(2, 4, 5, 3), drawn(3, 4, 5, 2)
    dx, dp = ops.linear_backward(p, x, dout)
    np.testing.assert_allclose(dx, np.einsum("ijd,ed->ije", dout, p.weight), rtol=1e-12)
    np.testing.assert_allclose(dp.weight, np.einsum("ije,ijd->ed", x, dout), rtol=1e-12)
    np.testing.assert_allclose(dp.bias, dout.sum(axis=(0, 1)), rtol=1e-12)


# ---------------------------------------------------------------- positions


def test_positions_start_at_zero_unless_said_otherwise():
    np.testing.assert_array_equal(positions.sinusoids(3, 4), positions.sinusoids(3, 4, 0))
    np.testing.assert_array_equal(positions.sinusoids(1, 4), [[0.0, 1.0, 0.0, 1.0]])


@pytest.mark.parametrize("pairs", [2, 3, 4])
def test_the_halves_by_their_formula(pairs):
    pos, i = np.arange(5)[:, None], np.arange(pairs)
    angles = pos / 10000 ** (i / (pairs - 1))
    expected = np.hstack([np.sin(angles), np.cos(angles)])
    np.testing.assert_allclose(positions.sinusoids_halves(5, 2 * pairs), expected)


def test_an_embedding_is_its_row_times_the_root_of_the_width_plus_the_position():
    table, (_, cfg) = drawn(0, 9, 6), small()
    embedded, x = model.embed(table, cfg, [[3, 0], [8, 3]])
    np.testing.assert_allclose(embedded, np.sqrt(6) * table[[[3, 0], [8, 3]]], rtol=1e-15)
    np.testing.assert_allclose(x, embedded + positions.sinusoids(2, 6), rtol=1e-15)  # the first id is at position 0
    np.testing.assert_allclose(
        model.embed(table, cfg, [3, 0], start=4)[1], np.sqrt(6) * table[[3, 0]] + positions.sinusoids(6, 6)[4:]
    )
    plain, same = model.embed(table, dataclasses.replace(cfg, scale_embeddings=False, positions=False), [3, 0])
    np.testing.assert_array_equal(plain, table[[3, 0]])
    assert same is plain
    narrow = model.embed(table.astype(np.float32), cfg, [3, 0])
    assert narrow[0].dtype == narrow[1].dtype == np.float32


# ---------------------------------------------------------------- attention


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_attention_keeps_the_dtype_where_a_nan_is_hidden_or_a_row_is_empty(dtype):
    q, k, v = drawn(0, 3, 3, dtype=dtype), drawn(1, 4, 3, dtype=dtype), drawn(2, 4, 5, dtype=dtype)
    k[3], v[3] = np.nan, np.nan
    mask = np.array([[True, True, True, False], [False] * 4, [True, False, True, False]])
    out, trace = attention.attention(q, k, v, mask)
    dq, dk, dv = attention.attention_backward(trace, np.ones_like(out))
    for found in (out, trace.k, trace.v, trace.scaled_scores, trace.attn_weights, dq, dk, dv):
        assert found.dtype == dtype
        assert np.isfinite(found).all()
    np.testing.assert_array_equal(trace.k[3], np.zeros(3))
    np.testing.assert_array_equal(trace.v[3], np.zeros(5))


def test_a_trace_holds_what_was_computed():
    q, k, v = drawn(0, 2, 3), drawn(1, 4, 3), drawn(2, 4, 5)
    mask = np.array([[True, True, True, False]])
    out, trace = attention.attention(q, k, v, mask, scale=0.5)
    np.testing.assert_array_equal(trace.q, q)
    np.testing.assert_array_equal(trace.k, k)
    np.testing.assert_array_equal(trace.v, v)
    np.testing.assert_allclose(trace.scaled_scores, 0.5 * q @ k.T, rtol=1e-14)
    np.testing.assert_array_equal(trace.mask, mask)
    np.testing.assert_allclose(trace.attn_weights @ v, out)
    assert trace.scale == 0.5
    assert attention.attention(q, k, v)[1].mask is None


def test_one_key_that_only_some_sentences_hide_is_still_read_by_the_others():
    """What is hidden from every query is blanked; what one query may see must be finite."""
    q, k, v = drawn(0, 2, 1, 3), drawn(1, 2, 3), drawn(2, 2, 3)
    mask = np.array([[[True, False]], [[True, True]]])
    out, _ = attention.attention(q, k, v, mask)
    np.testing.assert_allclose(out[0], np.broadcast_to(v[0], (1, 3)), rtol=1e-12)
    v[1, 2] = np.nan
    with pytest.raises(ValueError, match=r"^v: expected finite numbers, got nan at \[1, 1, 2\]"):
        attention.attention(q, k, v, mask)


def test_gradients_of_what_was_repeated_are_added_up_over_those_axes_and_no_others():
    q, dout = drawn(0, 2, 3, 4, 5), drawn(3, 2, 3, 4, 7)
    for shape in ((6,), (1, 6), (3, 6), (1, 1, 6), (2, 1, 6), (1, 3, 6), (2, 3, 6)):
        k, v = drawn(1, *shape, 5), drawn(2, *shape, 7)
        wide = np.broadcast_to(k, (2, 3, 6, 5)), np.broadcast_to(v, (2, 3, 6, 7))
        _, dk, dv = attention.attention_backward(attention.attention(q, k, v)[1], dout)
        _, all_k, all_v = attention.attention_backward(attention.attention(q, *wide)[1], dout)
        assert dk.shape == k.shape and dv.shape == v.shape
        axes = tuple(range(3 - len(shape))) + tuple(i + 3 - len(shape) for i, n in enumerate(shape[:-1]) if n == 1)
        np.testing.assert_allclose(dk, all_k.sum(axis=axes).reshape(k.shape), atol=1e-12)
        np.testing.assert_allclose(dv, all_v.sum(axis=axes).reshape(v.shape), atol=1e-12)


@pytest.mark.parametrize("length", [1, 5])
def test_a_causal_mask_is_made_of_booleans(length):
    mask = attention.causal_mask(length)
    assert mask.dtype == np.bool_ and mask.shape == (length, length)
    np.testing.assert_array_equal(mask, np.tril(np.ones((length, length), bool)))


def test_flags_without_an_axis_make_no_padding_mask():
    with pytest.raises(ValueError, match="^is_token: expected at least 1 axis"):
        attention.padding_mask(np.bool_(True))


def test_heads_stand_side_by_side_in_their_order():
    w_q, w_k, w_v = (drawn(seed, 2, 4, 3) for seed in range(3))
    p = MultiHead.from_heads(w_q, w_k, w_v, drawn(3, 6, 4))
    for whole, heads in ((p.w_q, w_q), (p.w_k, w_k), (p.w_v, w_v)):
        np.testing.assert_array_equal(whole, np.hstack(list(heads)))
    assert p.b_q is p.b_k is p.b_v is p.b_o is None


# ---------------------------------------------------------------- the model


def test_a_model_is_drawn_as_it_says():
    """Matrices up to the root of 6 / (rows + columns), embeddings of length about 1, the rest 1 and 0."""
    cfg = Config(src_vocab=300, tgt_vocab=400, d_model=64, n_heads=4, d_ff=96, n_encoder_layers=1, n_decoder_layers=1,
                 bias=True, norm="pre")  # fmt: skip
    params = model.init(cfg, np.random.default_rng(0))
    for name, array in tree.named_arrays(params).items():
        if name.endswith("gamma"):
            np.testing.assert_array_equal(array, np.ones(64), err_msg=name)
        elif array.ndim == 1:
            np.testing.assert_array_equal(array, np.zeros(len(array)), err_msg=name)
        elif name.endswith("embedding"):
            assert array.std() == pytest.approx(64**-0.5, rel=0.02), name
            assert abs(array.mean()) < 0.01, name
        else:
            a = np.sqrt(6 / sum(array.shape))
            assert 0.99 * a < array.max() <= a and 0.99 * a < -array.min() <= a, name


def test_layers_do_not_share_their_arrays():
    params, _ = small()
    arrays = list(tree.named_arrays(params).values())
    assert len({id(array) for array in arrays}) == len(arrays)
    assert not any(np.array_equal(a, b) for a, b in zip(*map(drawn_matrices, params.encoder), strict=True))


def drawn_matrices(layer):
    return [array for array in tree.named_arrays(layer).values() if array.ndim == 2]


@pytest.mark.parametrize("layers", [(1, 0), (0, 1)])
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_model_has_the_parts_of_its_config_and_no_others(layers, norm):
    params, _ = small(n_encoder_layers=layers[0], n_decoder_layers=layers[1], norm=norm)
    assert (params.src_embedding is not None) == bool(layers[0])
    assert (params.encoder_norm is not None) == (bool(layers[0]) and norm == "pre")
    assert (params.tgt_embedding is not None) == (params.output is not None) == bool(layers[1])
    assert (params.decoder_norm is not None) == (bool(layers[1]) and norm == "pre")


@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_a_feed_forward_network_and_its_trace(activation):
    p = model.FeedForward(drawn(0, 3, 4), drawn(1, 4), drawn(2, 4, 3), drawn(3, 3))
    x, bend = drawn(4, 2, 3), getattr(ops, activation)
    out, trace = model.feed_forward(p, x, activation)
    np.testing.assert_allclose(out, bend(x @ p.w_1 + p.b_1) @ p.w_2 + p.b_2, rtol=1e-12)
    np.testing.assert_array_equal(trace.x, x)
    np.testing.assert_allclose(trace.before, x @ p.w_1 + p.b_1)
    np.testing.assert_allclose(trace.hidden, bend(trace.before))


def test_the_bend_is_a_relu_unless_said_otherwise():
    p = model.FeedForward(drawn(0, 3, 4), drawn(1, 4), drawn(2, 4, 3), drawn(3, 3))
    out, trace = model.feed_forward(p, drawn(4, 2, 3))
    np.testing.assert_array_equal(out, model.feed_forward(p, drawn(4, 2, 3), "relu")[0])
    for mine, other in zip(
        tree.named_arrays(model.feed_forward_backward(p, trace, out)[1]).values(),
        tree.named_arrays(model.feed_forward_backward(p, trace, out, "relu")[1]).values(),
        strict=True,
    ):
        np.testing.assert_array_equal(mine, other)


@pytest.mark.parametrize("norm", ["post", "pre", "none"])
@pytest.mark.parametrize("residual", [True, False])
def test_a_sublayers_trace_holds_every_stage(norm, residual):
    cfg = dataclasses.replace(SMALL, norm=norm, residual=residual, eps=1e-2)
    p, x = LayerNorm(drawn(0, 6), drawn(1, 6)), drawn(2, 3, 6)
    out, trace = model.add_and_norm(cfg, p, x, lambda rows: (2 * rows, "inner"))
    rows = ops.layer_norm(p, x, 1e-2)[0] if norm == "pre" else x
    total = x + 2 * rows if residual else 2 * rows
    expected = ops.layer_norm(p, total, 1e-2)[0] if norm == "post" else total
    np.testing.assert_allclose(out, expected, rtol=1e-12)
    np.testing.assert_array_equal(trace.x, x)
    np.testing.assert_allclose(trace.inner_out, 2 * rows)
    np.testing.assert_allclose(trace.total, total)
    np.testing.assert_array_equal(trace.out, out)
    assert trace.inner == "inner"
    assert (trace.norm is None) == (norm == "none")


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("stack", ["encoder", "decoder"])
def test_a_stacks_trace_holds_every_stage(stack, norm):
    params, cfg = small(norm=norm, eps=1e-2)
    _, trace = model.forward(params, cfg, [[1, 2, 3]], [[4, 0]])
    ids, table = ([[1, 2, 3]], params.src_embedding) if stack == "encoder" else ([[4, 0]], params.tgt_embedding)
    found, last = getattr(trace, stack), getattr(params, f"{stack}_norm")
    np.testing.assert_array_equal(found.ids, ids)
    embedded, x = model.embed(table, cfg, ids)
    np.testing.assert_array_equal(found.embedded, embedded)
    np.testing.assert_array_equal(found.x, x)
    np.testing.assert_array_equal(found.layers[0].self_attention.x, x)
    np.testing.assert_array_equal(found.layers[0].out, found.layers[1].self_attention.x)
    rows = found.layers[-1].out
    np.testing.assert_array_equal(found.out, rows if last is None else ops.layer_norm(last, rows, 1e-2)[0])
    assert (found.last_norm is None) == (last is None)
    np.testing.assert_allclose(trace.logits, ops.linear(params.output, trace.decoder.out))


def test_only_what_is_asked_for_is_kept():
    params, cfg = small()
    memory, trace = model.encode(params, cfg, [1, 2])
    assert trace is not None and len(trace.layers) == 2
    assert model.encode(params, cfg, [1, 2], keep_trace=False)[1] is None
    _, trace = model.decode(params, cfg, [1, 2], memory)
    assert trace is not None and len(trace.layers) == 2
    assert model.decode(params, cfg, [1, 2], memory, keep_trace=False)[1] is None


def test_flags_are_named_with_the_shape_that_they_should_have():
    params, cfg = small()
    for call, pieces in (
        (lambda: model.encode(params, cfg, [[1, 2]], [[True]]), ("src_is_token", "1 x 2", "src", "1 x 1")),
        (lambda: model.forward(params, cfg, [[1, 2]], [[3]], None, [True]), ("tgt_is_token", "1 x 1", "tgt", "1")),
    ):
        with pytest.raises(ValueError) as error:
            call()
        assert str(error.value).startswith(f"{pieces[0]}: expected shape {pieces[1]} as {pieces[2]} has")
        assert str(error.value).endswith(f"got {pieces[3]}")


def test_a_memory_too_many_or_missing_is_named():
    params, cfg = small()
    with pytest.raises(ValueError, match="^memory: expected the encoder's output, got None"):
        model.decode(params, cfg, [1])
    params, cfg = small(cross_attention=False)
    with pytest.raises(ValueError, match="^memory: expected None for a decoder without cross-attention"):
        model.decode(params, cfg, [1], np.ones((1, 6)))
    for layers, call in (((0, 1), model.encode), ((1, 0), model.decode)):
        params, cfg = small(n_encoder_layers=layers[0], n_decoder_layers=layers[1])
        with pytest.raises(ValueError, match="^params: expected a model with"):
            call(params, cfg, [1])


def test_a_model_with_an_encoder_alone_has_no_gradients_of_logits():
    params, cfg = small(n_decoder_layers=0)
    _, encoder = model.encode(params, cfg, [1, 2])
    with pytest.raises(ValueError, match="^trace, params: expected those of a model with a decoder, got one without"):
        model.backward(params, cfg, model.Trace(encoder, None, None), np.ones((2, 5)))


def test_gradients_come_in_the_order_of_the_layers():
    params, cfg = small()
    _, trace = model.forward(params, cfg, [[1, 2, 3]], [[4, 0]])
    grads = model.backward(params, cfg, trace, drawn(0, 1, 2, 5))
    layers = trace.decoder.layers
    dx = ops.linear_backward(params.output, trace.decoder.out, drawn(0, 1, 2, 5))[0]
    for i in (1, 0):
        dx, _, dp = model.decoder_layer_backward(params.decoder[i], cfg, layers[i], dx)
        np.testing.assert_allclose(grads.decoder[i].feed_forward.w_1, dp.feed_forward.w_1, rtol=1e-10)
        np.testing.assert_allclose(grads.decoder[i].self_attention.w_q, dp.self_attention.w_q, rtol=1e-10)


def test_a_memory_that_nobody_reads_gives_an_encoder_without_gradients():
    params, cfg = small(cross_attention=False)
    _, trace = model.forward(params, cfg, [[1, 2, 3]], [[4, 0]])
    grads = model.backward(params, cfg, trace, drawn(0, 1, 2, 5))
    assert len(grads.encoder) == 2
    for layer in grads.encoder:
        assert all((array == 0).all() for array in tree.named_arrays(layer).values())


def test_an_array_without_its_gradient_and_a_gradient_without_its_array_are_named():
    whole, part = LayerNorm(np.ones(2), np.ones(2)), LayerNorm(np.ones(2), None)
    for params, grads in ((whole, part), (part, whole)):
        with pytest.raises(ValueError, match=r"^grads: expected one for every array of params, got \['beta'\]"):
            tree.paired_arrays(params, grads)
    with pytest.raises(ValueError, match=r"^grads: beta: expected shape 2, got 2 x 1"):
        tree.paired_arrays(whole, LayerNorm(np.ones(2), np.ones((2, 1))))
    assert [name for name, *_ in tree.paired_arrays(whole, whole)] == ["gamma", "beta"]


# ---------------------------------------------------------------- files


def altered(path, **change):
    """The same file with other words about it, and other arrays."""
    with np.load(path) as file:
        arrays = dict(file)
    about = json.loads(str(arrays["about"]))
    about.update({name: value for name, value in change.items() if name in about})
    arrays.update({name: value for name, value in change.items() if name not in about})
    arrays["about"] = np.array(json.dumps(about))
    np.savez(path, **arrays)
    return path


@pytest.fixture
def file(tmp_path):
    params, cfg = small()
    store.save(tmp_path / "model.npz", params, cfg, {"words": ["a", "b"]})
    return tmp_path / "model.npz"


def test_a_file_says_its_format_and_version_and_brings_what_was_added(file):
    with np.load(file) as content:
        about = json.loads(str(content["about"]))
    assert about == {
        "format": "toytf", "version": 1, "config": dataclasses.asdict(SMALL), "extra": {"words": ["a", "b"]}
    }  # fmt: skip
    assert store.load_extra(file) == {"words": ["a", "b"]}
    store.save(file, *small())
    assert store.load_extra(file) == {}


@pytest.mark.parametrize("change", [{"format": "other"}, {"version": 2}, {"version": 0}, {"version": None}])
@pytest.mark.parametrize("read", [store.load, store.load_extra])
def test_a_file_of_another_format_or_version_is_refused(file, change, read):
    with pytest.raises(ValueError, match=r"model\.npz: expected a file that toytf\.store\.save wrote"):
        read(altered(file, **change))


def test_a_file_with_words_in_place_of_numbers_is_refused_by_the_arrays_name(file):
    with pytest.raises((TypeError, ValueError), match="output.bias: expected real numbers"):
        store.load(altered(file, **{"output.bias": np.array(list("abcde"))}))


def test_a_file_with_an_array_too_many_is_refused_by_its_name(file):
    with pytest.raises(ValueError, match=r"model\.npz: .*'surplus'"):
        store.load(altered(file, surplus=np.ones(2)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_model_comes_back_with_its_dtype_and_its_lists(tmp_path, dtype):
    params, cfg = small(dtype, norm="pre", bias=True)
    store.save(tmp_path / "model.npz", params, cfg)
    again, _ = store.load(tmp_path / "model.npz")
    assert isinstance(again.encoder, list) and isinstance(again.encoder[1], model.EncoderLayer)
    for name, array in tree.named_arrays(again).items():
        assert array.dtype == dtype, name
        np.testing.assert_array_equal(array, tree.named_arrays(params)[name], err_msg=name)


def test_a_translator_comes_back_with_its_words_in_order(tmp_path):
    translator = Translator.load()
    translator.save(tmp_path / "again.npz")
    again = Translator.load(tmp_path / "again.npz")
    assert list(again.src_vocab) == list(translator.src_vocab) != list(again.tgt_vocab)
    assert list(again.tgt_vocab) == list(translator.tgt_vocab)
    with pytest.raises(ValueError, match=r"again\.npz: expected a translator, got a model without 'tgt_vocab'"):
        Translator.load(altered(tmp_path / "again.npz", extra={"src_vocab": list(translator.src_vocab)}))


# ---------------------------------------------------------------- writing


def counted(logits_of):
    """A step that counts in its state how often it was taken."""

    def step(state, ids):
        state.steps += 1
        return np.array([logits_of(state.steps, int(i)) for i in ids], dtype=float), state

    return step


def test_a_beam_stops_as_soon_as_nothing_can_overtake():
    # Step 1: end 0.8, "a" 0.2. Nothing that goes on from 0.2 can reach 0.8.
    step = counted(lambda n, last: np.log([1e-9, 0.8, 0.2]))
    for n_best, steps in ((1, 1), (2, 2)):
        state = Nothing()
        found = generate.beam_search(step, state, sos=0, eos=1, max_length=9, width=2, n_best=n_best)
        assert state.steps == steps
        assert [h.ids for h in found] == [(1,), (2, 1)][:n_best]


def test_a_beam_with_a_length_penalty_goes_on_to_the_limit():
    step = counted(lambda n, last: np.log([1e-9, 0.8, 0.2]))
    state = Nothing()
    generate.beam_search(step, state, sos=0, eos=1, max_length=5, width=2, length_penalty=0.6)
    assert state.steps == 5


def test_a_beam_goes_on_while_a_living_sentence_is_better_and_stops_when_they_are_even():
    better = counted(lambda n, last: np.log([1e-9, 0.4, 0.6]) if n == 1 else np.log([1e-9, 0.9, 0.1]))
    state = Nothing()
    (found,) = generate.beam_search(better, state, sos=0, eos=1, max_length=9, width=2)
    assert found.ids == (2, 1) and state.steps == 2
    even = counted(lambda n, last: [-1e9, 0.0, 0.0])
    state = Nothing()
    (found,) = generate.beam_search(even, state, sos=0, eos=1, max_length=9, width=2)
    assert found.ids == (1,) and state.steps == 1


def test_a_beam_compares_with_the_worst_sentence_that_it_would_return():
    # Step 1: end 0.4, "a" 0.5. Step 2, after "a": end 0.1, which makes 0.05, and "a" 0.3, which makes 0.15 < 0.4.
    step = counted(lambda n, last: np.log([1e-9, 0.4, 0.5, 0.1]) if n == 1 else np.log([1e-9, 0.4, 0.3, 0.3]))
    state = Nothing()
    (found,) = generate.beam_search(step, state, sos=0, eos=1, max_length=9, width=4)
    assert found.ids == (1,) and state.steps == 2


def test_a_beam_gives_as_many_sentences_as_asked_for_one_by_default_and_the_cut_off_ones_last():
    step = counted(lambda n, last: np.log([1e-9, 0.3, 0.4, 0.3]) if n == 1 else np.log([1e-9, 0.5, 0.3, 0.2]))
    found = generate.beam_search(step, Nothing(), sos=0, eos=1, max_length=2, width=4, n_best=4)
    assert [h.ended for h in found] == [True, True, True, False]
    assert [h.ids for h in found] == [(1,), (2, 1), (3, 1), (2, 2)]
    assert [h.score for h in found] == [h.log_prob for h in found]  # no penalty unless asked for
    assert len(generate.beam_search(step, Nothing(), sos=0, eos=1, max_length=2, width=4)) == 1


def test_the_length_penalty_is_the_one_of_the_paper():
    step = counted(lambda n, last: np.log([1e-9, 0.5, 0.5]))
    found = generate.beam_search(step, Nothing(), sos=0, eos=1, max_length=3, width=2, n_best=2, length_penalty=0.6)
    for h in found:
        assert h.score == pytest.approx(h.log_prob / ((5 + len(h.ids)) / 6) ** 0.6, rel=1e-12)
        assert h.log_prob == pytest.approx(len(h.ids) * np.log(0.5), abs=1e-8)


def test_greedy_writes_one_sentence_by_default_and_stops_at_its_end():
    step = counted(lambda n, last: [0.0, 9.0, 0.0] if n == 3 else [0.0, 0.0, 9.0])
    state = Nothing()
    found = generate.greedy(step, state, sos=0, eos=1, max_length=9)
    assert [h.ids for h in found] == [(2, 2, 1)] and found[0].ended and state.steps == 3
    assert found[0].score == found[0].log_prob < 0
    assert type(found[0].log_prob) is float and type(found[0].ended) is bool
    assert all(type(i) is int for i in found[0].ids)


def test_a_sentence_that_has_ended_gains_no_more_words_while_others_go_on():
    def step(state, ids):
        state.steps += 1
        first = [0.0, 9.0, 0.0] if state.steps == 1 else [0.0, 0.0, 9.0]
        second = [0.0, 9.0, 0.0] if state.steps == 3 else [0.0, 0.0, 9.0]
        return np.array([first, second]), state

    one, other = generate.greedy(step, Nothing(), n=2, sos=0, eos=1, max_length=9)
    assert one.ids == (1,) and other.ids == (2, 2, 1)
    each = np.log(np.exp(9) / (np.exp(9) + 2))
    assert one.log_prob == pytest.approx(each, rel=1e-9) and other.log_prob == pytest.approx(3 * each, rel=1e-9)


def test_the_first_step_is_given_the_start_token_for_every_sentence():
    seen = []

    def step(state, ids):
        seen.append(ids.tolist())
        return np.tile([0.0, 9.0, 0.0], (len(ids), 1)), state

    generate.greedy(step, None, n=3, sos=2, eos=1, max_length=4)
    generate.beam_search(step, Nothing(), sos=2, eos=1, max_length=4, width=2)
    generate.sample(step, None, n=2, sos=0, eos=1, max_length=1, rng=np.random.default_rng(0))
    assert seen == [[2, 2, 2], [2], [0, 0]]


def test_a_sampled_sentence_has_the_models_probability_before_temperature_and_cuts():
    logits = np.log([[0.1, 0.2, 0.7]])
    for how in ({"temperature": 0.1}, {"top_k": 1}, {"top_p": 0.5}):
        (found,) = generate.sample(
            lambda state, ids: (logits, state), None, sos=0, eos=1, max_length=1, rng=np.random.default_rng(0), **how
        )
        assert found.ids == (2,) and found.log_prob == pytest.approx(np.log(0.7)) and not found.ended
        assert found.score == found.log_prob


def test_a_sampled_sentence_stops_at_its_end():
    step = counted(lambda n, last: [-1e9, 0.0, -1e9] if n == 2 else [-1e9, -1e9, 0.0])
    state = Nothing()
    (found,) = generate.sample(step, state, sos=0, eos=1, max_length=9, rng=np.random.default_rng(0))
    assert found.ids == (2, 1) and found.ended and state.steps == 2


def test_no_share_at_all_is_no_cut():
    with pytest.raises(ValueError, match="^top_p: expected more than 0 and at most 1, got 0"):
        generate.sample(*WALK, rng=np.random.default_rng(0), top_p=0.0, **ARGS)


def test_a_temperature_of_one_changes_nothing_and_is_the_default():
    def write(**how):
        rng = np.random.default_rng(3)
        step = lambda state, ids: (np.log(np.tile([0.2, 0.3, 0.5, 1e-12], (len(ids), 1))), state)  # noqa: E731
        return [h.ids for h in generate.sample(step, None, n=50, sos=0, eos=3, max_length=4, rng=rng, **how)]

    assert write() == write(temperature=1.0) != write(temperature=3.0)


def test_what_may_be_drawn_ends_where_the_probability_is_reached():
    probs = [0.125, 0.5, 0.25, 0.125]
    assert generate.kept_tokens(probs).tolist() == [1, 2, 0, 3]
    for top_p, kept in ((0.5, [1]), (0.50001, [1, 2]), (0.75, [1, 2]), (0.8, [1, 2, 0]), (1.0, [1, 2, 0, 3])):
        assert generate.kept_tokens(probs, top_p=top_p).tolist() == kept
    assert generate.kept_tokens(probs, top_k=3, top_p=0.75).tolist() == [1, 2]
    assert generate.kept_tokens(probs, top_k=1, top_p=1.0).tolist() == [1]
    np.testing.assert_array_equal(generate.kept_tokens(np.full(200, 0.005), top_k=100), np.arange(100))  # ties
    even = np.full(10_000, 1e-4, np.float32)  # added up in float32 these would be 0.5 much too late
    assert len(generate.kept_tokens(even, top_p=0.5)) == np.searchsorted(np.cumsum(even.astype(float)), 0.5) + 1
    thirds = [1 / 3] * 3  # a sum that rounding leaves just below what was asked for is reached
    assert generate.kept_tokens([0.1] * 10, top_p=0.3).tolist() == [0, 1, 2]
    assert len(generate.kept_tokens(thirds, top_p=1.0)) == 3


def test_a_draw_falls_where_the_shares_say():
    class Fixed:
        def __init__(self, value):
            self.value = value

        def random(self):
            return self.value

    probs = np.array([0.25, 0.5, 0.25])  # most probable first: 1 below 0.5, 0 below 0.75, then 2
    for value, token in ((0.0, 1), (0.499, 1), (0.5, 0), (0.749, 0), (0.75, 2), (0.999, 2), (1.0, 2)):
        assert generate._draw(probs, Fixed(value), None, None) == token
    for value, token in ((0.0, 1), (0.66, 1), (0.67, 0), (0.999, 0)):  # of the two that are left, 2/3 and 1/3
        assert generate._draw(probs, Fixed(value), 2, None) == token


# ---------------------------------------------------------------- one word after the other


@pytest.mark.parametrize("cached", [True, False])
@pytest.mark.parametrize("switches", [{}, {"bias": True}, {"scale": False}, {"activation": "gelu"}, {"norm": "pre"}])
def test_word_after_word_gives_what_the_whole_gives(cached, switches):
    params, cfg = small(eps=1e-2, **switches)
    src, flags, tgt = [[1, 2, 3], [4, 5, 0]], [[True] * 3, [True, True, False]], np.array([[0, 3, 2], [0, 1, 4]])
    state, step = generate.start(params, cfg, src, flags, cached), generate.stepper(params, cfg)
    for t in range(3):
        logits, state = step(state, tgt[:, t])
        whole, _ = model.forward(params, cfg, src, tgt[:, : t + 1], flags)
        np.testing.assert_allclose(logits, whole[:, -1], atol=1e-12)
    np.testing.assert_array_equal(state.ids, tgt)


@pytest.mark.parametrize("cached", [True, False])
def test_sentences_can_be_taken_out_of_a_state_repeated_and_reordered(cached):
    params, cfg = small(bias=True)
    src, flags = [[1, 2, 3], [4, 5, 0]], [[True] * 3, [True, True, False]]
    state, step = generate.start(params, cfg, src, flags, cached), generate.stepper(params, cfg)
    _, state = step(state, [0, 3])
    logits, _ = step(state, [2, 4])
    again, _ = step(state.take([1, 0, 1]), [4, 2, 4])
    np.testing.assert_allclose(again, logits[[1, 0, 1]], atol=1e-12)


def test_keys_and_values_are_kept_unless_said_otherwise():
    params, cfg = small()
    state = generate.start(params, cfg, [1, 2, 3])
    assert state.cached and len(state.memory_keys) == len(state.memory_values) == 2
    assert state.ids.shape == (1, 0) and state.ids.dtype == np.int64
    _, state = generate.stepper(params, cfg)(state, [0])
    assert len(state.keys) == len(state.values) == 2 and state.keys[0].shape == (1, 2, 1, 3)
    plain = generate.start(params, cfg, [1, 2, 3], cached=False)
    assert not plain.cached and plain.memory_keys == plain.memory_values == ()
    _, plain = generate.stepper(params, cfg)(plain, [0])
    assert plain.keys == plain.values == ()
    with pytest.raises(ValueError, match="^cached: expected False for a decoder without causal mask, got True$"):
        generate.start(*small(causal=False), [1, 2, 3])
    alone = generate.start(*small(n_encoder_layers=0))
    assert alone.memory is None and alone.memory_mask is None and alone.ids.shape == (1, 0)
    assert alone.ids.dtype == np.int64 and alone.cached


def test_the_keys_and_values_that_are_kept_are_those_of_the_whole():
    params, cfg = small(bias=True)
    state, step = generate.start(params, cfg, [[1, 2, 3]]), generate.stepper(params, cfg)
    for token in (0, 3, 2):
        _, state = step(state, [token])
    _, trace = model.forward(params, cfg, [[1, 2, 3]], [[0, 3, 2]])
    for i, layer in enumerate(trace.decoder.layers):
        own, memory = layer.self_attention.inner.attention, layer.cross_attention.inner.attention
        np.testing.assert_allclose(state.keys[i], own.k, atol=1e-12)
        np.testing.assert_allclose(state.values[i], own.v, atol=1e-12)
        np.testing.assert_allclose(state.memory_keys[i], memory.k, atol=1e-12)
        np.testing.assert_allclose(state.memory_values[i], memory.v, atol=1e-12)


@pytest.mark.parametrize("name", ["encode", "decode"])
def test_nobody_keeps_a_trace_for_writing(name, monkeypatch):
    whole, asked = getattr(generate, name), []

    def watched(*args, keep_trace=True, **how):
        asked.append(keep_trace)
        return whole(*args, keep_trace=keep_trace, **how)

    monkeypatch.setattr(generate, name, watched)
    params, cfg = small()
    generate.stepper(params, cfg)(generate.start(params, cfg, [1, 2, 3], cached=False), [0])
    assert asked == [False]


def test_float32_stays_float32_word_after_word():
    for cached in (True, False):
        params, cfg = small(np.float32, bias=True)
        state = generate.start(params, cfg, [1, 2, 3], cached=cached)
        assert generate.stepper(params, cfg)(state, [0])[0].dtype == np.float32


# ---------------------------------------------------------------- optimisers


def test_adam_has_the_papers_constants_and_starts_at_zero():
    adam = optim.Adam()
    assert (adam.beta1, adam.beta2, adam.eps, adam.t, adam.m, adam.v) == (0.9, 0.98, 1e-9, 0, None, None)


@pytest.mark.parametrize("n", [3, optim.BLOCK - 1, optim.BLOCK + 1, 2 * optim.BLOCK + 5])
def test_adam_is_its_formula_for_any_number_of_parameters(n):
    p, adam = LayerNorm(drawn(0, n), drawn(1, 2)), optim.Adam(beta1=0.7, beta2=0.8, eps=0.1)
    m, v, expected = [0.0, 0.0], [0.0, 0.0], [p.gamma.copy(), p.beta.copy()]
    for t in (1, 2, 3):
        grads = [drawn(10 + t, n), drawn(20 + t, 2)]
        adam.step(p, LayerNorm(*(g.copy() for g in grads)), 0.05)
        for i, g in enumerate(grads):
            m[i] = 0.7 * m[i] + 0.3 * g
            v[i] = 0.8 * v[i] + 0.2 * g * g
            expected[i] -= 0.05 * (m[i] / (1 - 0.7**t)) / (np.sqrt(v[i] / (1 - 0.8**t)) + 0.1)
    np.testing.assert_allclose(p.gamma, expected[0], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(p.beta, expected[1], rtol=1e-10, atol=1e-12)
    assert adam.t == 3


def test_adam_leaves_the_gradients_alone_and_refuses_another_number_of_parameters():
    adam, grads = optim.Adam(), LayerNorm(drawn(0, 3), drawn(1, 2))
    kept = grads.gamma.copy()
    adam.step(LayerNorm(np.ones(3), np.ones(2)), grads, 0.1)
    np.testing.assert_array_equal(grads.gamma, kept)
    with pytest.raises(ValueError, match="^params: expected 5 numbers as in the steps before, got 2"):
        adam.step(LayerNorm(np.ones(1), np.ones(1)), LayerNorm(np.ones(1), np.ones(1)), 0.1)
    assert adam.t == 1


def test_gradients_as_long_as_the_limit_stay_as_they_are():
    g = LayerNorm(np.array([3.0]), np.array([4.0]))
    assert optim.clip(g, 5.0) == 5.0
    np.testing.assert_array_equal([g.gamma[0], g.beta[0]], [3.0, 4.0])


def test_the_papers_schedule_warms_up_for_4000_steps_unless_said_otherwise():
    rate = optim.paper_schedule(64)
    assert rate(1) == pytest.approx(64**-0.5 * 4000**-1.5, rel=1e-12)
    assert rate(4000) == pytest.approx(64**-0.5 * 4000**-0.5, rel=1e-12)
    assert rate(9000) == pytest.approx(64**-0.5 * 9000**-0.5, rel=1e-12)
    assert optim.paper_schedule(1, 1)(1) == 1.0


def test_the_cosine_schedule_by_hand():
    rate = optim.cosine_schedule(0.8, 4, 11)
    assert [rate(t) for t in (1, 2, 4)] == pytest.approx([0.2, 0.4, 0.8], rel=1e-12)
    assert rate(8) == pytest.approx(0.4, rel=1e-12)  # half way from 4 to 12
    assert optim.cosine_schedule(0.8, 0, 3)(2) == pytest.approx(0.4, rel=1e-12)


# ---------------------------------------------------------------- more that one sample of changes found


def test_each_attention_and_network_of_a_model_with_biases_has_them_and_of_one_without_has_none():
    for switch in (True, False):
        params, _ = small(bias=switch)
        attentions = [part for layer in params.encoder + params.decoder for part in vars(layer).values()]
        attentions = [part for part in attentions if isinstance(part, MultiHead)]
        assert len(attentions) == 6
        for p in attentions:
            assert {b is not None for b in (p.b_q, p.b_k, p.b_v, p.b_o)} == {switch}


@pytest.mark.parametrize("which", ["src_embedding", "tgt_embedding"])
def test_a_model_that_does_not_fit_its_config_is_refused_with_name_and_both_shapes(which):
    params, cfg = small()
    setattr(params, which, np.ones((3, 6)))
    rows = cfg.src_vocab if which == "src_embedding" else cfg.tgt_vocab
    with pytest.raises(ValueError) as error:
        model.forward(params, cfg, [1, 2], [1])
    assert str(error.value) == f"params: {which}: expected shape {rows} x 6 as cfg says, got 3 x 6"


def test_one_memory_may_serve_many_rows_each_with_a_mask_of_its_own():
    params, cfg = small()
    x, memory = drawn(0, 2, 3, 6), drawn(1, 4, 6)
    mask = drawn(2, 2, 3, 4) > 0
    out, _ = model.decoder_layer(params.decoder[0], cfg, x, memory, memory_mask=mask)
    for i in range(2):
        alone, _ = model.decoder_layer(params.decoder[0], cfg, x[i], memory, memory_mask=mask[i])
        np.testing.assert_allclose(out[i], alone, rtol=0, atol=1e-13)


def test_the_end_token_is_an_id_or_minus_1_for_none():
    def step(state, ids):
        return np.zeros((len(ids), 3)), state

    generate.greedy(step, None, sos=0, eos=-1, max_length=1)
    with pytest.raises(ValueError, match="^eos: expected"):
        generate.greedy(step, None, sos=0, eos=-2, max_length=1)


@pytest.mark.parametrize("make", [lambda: optim.paper_schedule(4), lambda: optim.cosine_schedule(1.0, 1, 5)])
def test_a_step_before_the_first_is_refused_by_its_name(make):
    schedule = make()  # here, since a change of the code is in force only now
    with pytest.raises(ValueError, match="^t: expected"):
        schedule(0)


def test_a_gradient_of_another_width_than_gamma_is_refused_by_its_name():
    _, trace = ops.layer_norm(LayerNorm(np.ones(4), np.zeros(4)), ROWS)
    with pytest.raises(ValueError, match=r"^dout has width 4 \(shape 2 x 4\), but gamma has 3 columns"):
        ops.layer_norm_backward(LayerNorm(np.ones(3), np.zeros(3)), trace, ROWS)
