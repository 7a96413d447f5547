"""What `toytf.byhand.follow` promises: every number leads back to the words, and every step adds up."""

import itertools
import re

import numpy as np
import pytest

from toytf import byhand
from toytf.model import Config, forward, init

SIZES = {"src_vocab": 5, "tgt_vocab": 4, "d_model": 4, "n_heads": 2, "d_head": 3, "d_ff": 8}


def model(n_layers=2, **change):
    cfg = Config(**(SIZES | {"n_encoder_layers": n_layers, "n_decoder_layers": n_layers} | change))
    params = init(cfg, np.random.default_rng(0))
    _, trace = forward(params, cfg, [1, 2, 3] if cfg.n_encoder_layers else None, [0, 2])
    return params, cfg, trace


def steps_of(step):
    yield step
    for below in step.opened.values():
        yield from steps_of(below)


@pytest.mark.parametrize("norm", ["post", "pre", "none"])
@pytest.mark.parametrize(
    "change",
    [
        {},
        {"residual": False},
        {"activation": "gelu"},
        {"bias": True},
        {"positions": False, "scale_embeddings": False},
        {"n_encoder_layers": 0},
        {"causal": False},
    ],
)
def test_every_number_of_a_forward_pass_leads_back_to_embeddings(norm, change):
    params, cfg, trace = model(norm=norm, **change)
    for word in range(4):  # each step is recomputed from its terms while it is made
        step = byhand.follow(params, cfg, trace, "logits", (1, word))
        assert step.value == trace.logits[1, word]
        assert all(re.match(r"(encoder|decoder)\.x\[", s.name) for s in steps_of(step) if not s.opened)


def test_the_attention_weights_are_followed_on_request_through_softmax_queries_and_keys():
    params, cfg, trace = model(1)
    rules = [{s.rule for s in steps_of(byhand.follow(params, cfg, trace, "logits", (1, 1), attention=attention))}
             for attention in ("all", "values")]  # fmt: skip
    assert {"softmax over these scores", "query · key · scale", "values, weighted by attention"} <= rules[0]
    assert "softmax over these scores" not in rules[1]


def test_the_term_furthest_from_0_is_followed_and_in_a_softmax_the_largest_score():
    params, cfg, trace = model(1)
    differ = 0
    for place in itertools.product(range(2), range(4)):
        for step in steps_of(byhand.follow(params, cfg, trace, "logits", place, attention="all")):
            is_softmax = step.rule == "softmax over these scores"
            values = [t.value for t in step.terms if any(factor.back for factor in t.factors)]
            weight = float if is_softmax else abs
            assert {step.terms[t].value for t, _ in step.opened} <= {max(values, key=weight, default=0)}
            differ += is_softmax and max(values) != max(values, key=abs)
    assert differ


def test_depth_says_how_far():
    assert [len(list(steps_of(byhand.follow(*model(), depth=depth)))) for depth in (1, 2, 3)] == [1, 2, 3]


@pytest.mark.parametrize(
    ("array", "index", "found"),
    [
        ("encoder.out", (2, 3), lambda t: t.encoder.out),
        ("encoder.x", (0, 0), lambda t: t.encoder.x),
        ("decoder.x", (1, 1), lambda t: t.decoder.x),
        ("encoder.1.out", (0, 1), lambda t: t.encoder.layers[1].out),
        ("encoder.0.self_attention", (1, 2), lambda t: t.encoder.layers[0].self_attention.out),
        ("decoder.1.cross_attention", (0, 3), lambda t: t.decoder.layers[1].cross_attention.out),
    ],
)
def test_any_array_of_the_trace_can_be_followed(array, index, found):
    params, cfg, trace = model()
    assert byhand.follow(params, cfg, trace, array, index).value == pytest.approx(found(trace)[index], rel=1e-12)


def test_a_trace_that_does_not_add_up_is_not_explained():
    params, cfg, trace = model()
    trace.decoder.layers[1].feed_forward.total[1, 2] += 0.5
    with pytest.raises(AssertionError, match=r"the terms give .*, the trace has"):
        byhand.follow(params, cfg, trace, "decoder.1.feed_forward", (1, 2))


def test_html_opens_step_by_step_without_a_script():
    step = byhand.follow(*model(), "logits", (1, 1), words=["<b>", "hola", "x", "y"])
    markup = step._repr_html_()
    assert markup.count("<details") == markup.count("</details>") == len(list(steps_of(step)))
    assert not re.search("<script|onclick|<b>", markup) and markup.count("<details open>") == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"array": "logit"}, r"array: expected one of logits, .* got 'logit'"),
        ({"array": "encoder.7.out"}, "array: expected one of"),
        ({"index": (2, 0)}, r"index: expected a row and a column of logits \(2 x 4\), got \(2, 0\)"),
        ({"index": (0,)}, "index: expected a row and a column"),
        ({"depth": 0}, "depth: expected at least 1, got 0"),
        ({"attention": "both"}, "attention: expected one of values, all, got 'both'"),
        ({"src": ["a"]}, "src: expected 3 names, got 1"),
    ],
)
def test_bad_input_is_named_with_what_was_expected_and_what_came(change, message):
    with pytest.raises(ValueError, match=message):
        byhand.follow(*model(), **change)


def test_a_batch_is_refused():
    params, cfg, _ = model()
    _, trace = forward(params, cfg, [[1, 2]], [[0, 1]])
    with pytest.raises(ValueError, match="trace: expected one sentence, got encoder ids of shape 1 x 2"):
        byhand.follow(params, cfg, trace)
