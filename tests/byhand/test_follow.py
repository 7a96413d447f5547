"""What `toytf.byhand.follow` promises: every number leads back to the words, and every step adds up."""

import itertools
import re

import numpy as np
import pytest

from toytf import byhand
from toytf.model import Config, forward, init

SIZES = {"src_vocab": 5, "tgt_vocab": 4, "d_model": 4, "n_heads": 2, "d_head": 3, "d_ff": 8}
WORDS = ["<sos>", "hola", "mundo", "<eos>"]


def model(**change):
    cfg = Config(**(SIZES | {"n_encoder_layers": 2, "n_decoder_layers": 2} | change))
    params = init(cfg, np.random.default_rng(0))
    _, trace = forward(params, cfg, [1, 2, 3] if cfg.n_encoder_layers else None, [0, 2])
    return params, cfg, trace


def steps_of(step):
    yield step
    for below in step.opened.values():
        yield from steps_of(below)


def leaves(step):
    """The names of the last steps of each way."""
    return [s.name for s in steps_of(step) if not s.opened]


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
        assert all(re.match(r"(encoder|decoder)\.x\[", name) for name in leaves(step))


def test_all_terms_can_be_followed_through_softmax_queries_and_keys():
    params, cfg, trace = model(n_encoder_layers=1, n_decoder_layers=1)
    step = byhand.follow(params, cfg, trace, "logits", (1, 1), attention="all")
    rules = {s.rule.split(":")[0] for s in steps_of(step)}
    assert {"softmax over these scores", "query · key · scale", "values, weighted by attention"} <= rules
    assert "softmax over these scores" not in {
        s.rule for s in steps_of(byhand.follow(params, cfg, trace, "logits", (1, 1)))
    }


def test_depth_and_breadth_say_how_far():
    params, cfg, trace = model()
    assert len(list(steps_of(byhand.follow(params, cfg, trace, depth=1)))) == 1
    assert len(list(steps_of(byhand.follow(params, cfg, trace, depth=2, breadth=3)))) == 4
    top = byhand.follow(params, cfg, trace, depth=2)
    ((term, _),) = top.opened
    assert abs(top.terms[term].value) == max(abs(t.value) for t in top.terms if t.factors[0].back)


def test_in_a_softmax_the_largest_score_is_followed_and_not_the_one_furthest_from_0():
    params, cfg, trace = model(n_encoder_layers=1, n_decoder_layers=1)
    differ = 0
    for place in itertools.product(range(2), range(4)):
        for step in steps_of(byhand.follow(params, cfg, trace, "logits", place, attention="all")):
            if step.rule == "softmax over these scores":
                scores = [term.value for term in step.terms]
                assert [scores[term] for term, _ in step.opened] == [max(scores)]
                differ += max(scores) != max(scores, key=abs)
    assert differ


@pytest.mark.parametrize(
    ("array", "index"),
    [
        ("encoder.out", (2, 3)),
        ("encoder.x", (0, 0)),
        ("decoder.x", (1, 1)),
        ("encoder.1.out", (0, 1)),
        ("encoder.0.self_attention", (1, 2)),
        ("decoder.1.cross_attention", (0, 3)),
    ],
)
def test_any_array_of_the_trace_can_be_followed(array, index):
    params, cfg, trace = model()
    side, *rest = array.split(".")
    node = getattr(trace, side)
    if rest[0].isdigit():
        node, rest = node.layers[int(rest[0])], rest[1:]
    node = getattr(node, rest[0])
    expected = getattr(node, "out", node)[index]
    assert byhand.follow(params, cfg, trace, array, index).value == pytest.approx(expected, rel=1e-12)


def test_a_trace_that_does_not_add_up_is_not_explained():
    params, cfg, trace = model()
    trace.decoder.layers[1].feed_forward.inner.hidden[1] += 0.5
    with pytest.raises(AssertionError, match=r"the terms give .*, the trace has"):
        for word, breadth in itertools.product(range(4), [4]):
            byhand.follow(params, cfg, trace, "logits", (1, word), breadth=breadth, depth=5)


def test_html_opens_step_by_step_without_a_script():
    params, cfg, trace = model()
    step = byhand.follow(params, cfg, trace, "logits", (1, 1), words=["<b>", "hola", "x", "y"], decimals=3)
    markup = step._repr_html_()
    assert markup.count("<details") == markup.count("</details>") == len(list(steps_of(step)))
    assert "<script" not in markup and "onclick" not in markup and "<b>" not in markup
    assert markup.count("<details open>") == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"array": "logit"}, r"array: expected one of logits, .* got 'logit'"),
        ({"array": "encoder.7.out"}, "array: expected one of"),
        ({"index": (2, 0)}, r"index: expected a row and a column of logits \(2 x 4\), got \(2, 0\)"),
        ({"index": (0,)}, "index: expected a row and a column"),
        ({"index": (0, -1)}, "index: expected a row and a column"),
        ({"depth": 0}, "depth: expected at least 1, got 0"),
        ({"breadth": 0}, "breadth: expected at least 1, got 0"),
        ({"attention": "both"}, "attention: expected one of values, all, got 'both'"),
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
