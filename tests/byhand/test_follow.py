"""What `toytf.byhand.follow` promises: every number leads back to the word that decided it, every step adds up."""

import itertools
import re

import numpy as np
import pytest

from toytf import byhand
from toytf.model import Config, forward, init
from toytf.ops import softmax
from toytf.translator import Translator

SIZES = {"src_vocab": 5, "tgt_vocab": 4, "d_model": 4, "n_heads": 2, "d_head": 3, "d_ff": 8}


def model(n_layers=2, **change):
    cfg = Config(**(SIZES | {"n_encoder_layers": n_layers, "n_decoder_layers": n_layers} | change))
    params = init(cfg, np.random.default_rng(0))
    _, trace = forward(params, cfg, [1, 2, 3] if cfg.n_encoder_layers else None, [0, 2])
    return params, cfg, trace


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
        for attention in ("values", "queries", "keys"):
            first, *_, last = byhand.follow(params, cfg, trace, "logits", (1, word), attention=attention).steps
            assert first.value == trace.logits[1, word]
            assert re.match(r"(encoder|decoder)\.x\[", last.name)


@pytest.mark.parametrize(
    ("attention", "end"), [("values", "encoder.x"), ("queries", "decoder.x"), ("keys", "encoder.x")]
)
def test_attention_is_followed_by_its_values_or_by_its_weights_to_a_query_or_a_key(attention, end):
    way = byhand.follow(*model(1, residual=False), "decoder.0.cross_attention", (1, 1), attention=attention)
    rules = [step.rule for step in way.steps]
    assert ("softmax" in rules) == ("query · key · scale" in rules) == (attention != "values")
    assert way.steps[-1].name.startswith(end)


def test_the_term_that_has_most_of_the_sum_decides_and_in_a_softmax_the_own_score():
    params, cfg, trace = model(1)
    against = 0  # sums in which a term that pulls the other way is furthest from 0
    for place, attention in itertools.product(itertools.product(range(2), range(4)), ("values", "queries")):
        way = byhand.follow(params, cfg, trace, "probabilities", place, attention=attention).steps
        for step, after in itertools.pairwise(way):
            term = step.terms[step.decided]
            assert after.name in [factor.name for factor in term.factors]
            if step.rule == "softmax":
                own = [np.exp(t.value - term.value) for t in step.terms]
                assert step.value == pytest.approx(1 / sum(own), rel=1e-12)
            else:
                open_ones = [t.value for t in step.terms if any(factor.back for factor in t.factors)]
                total = sum(t.value for t in step.terms)
                assert term.value == max(open_ones, key=lambda value: value * np.sign(total))
                against += term.value != max(open_ones, key=abs)
    assert against


def test_the_trained_translator_is_followed_from_each_word_to_the_one_that_it_translates():
    translator = Translator.load()
    english, read = "hello red world".split(), "<sos> hola mundo rojo".split()
    ids = translator.src_vocab.ids(english), translator.tgt_vocab.ids(read)
    logits, trace = forward(translator.params, translator.cfg, *ids)
    for row, (word, ends) in enumerate([("hola", "hello"), ("mundo", "world"), ("rojo", "red"), ("<eos>", "rojo")]):
        at = row, translator.tgt_vocab.id(word)
        way = byhand.follow(translator.params, translator.cfg, trace, "probabilities", at, src=english, tgt=read)
        assert way.steps[0].value == softmax(logits)[at] > 0.95
        assert re.match(rf"(src|tgt)_embedding\[{ends}: ", way.steps[-1].terms[0].factors[0].name)


def test_a_part_of_a_way_keeps_its_numbers_and_depth_says_how_far_it_goes():
    way = byhand.follow(*model())
    assert [str(byhand.follow(*model(), depth=depth)) for depth in (1, 2)] == [str(way[:1]), str(way[:2])]
    assert [way[part].first for part in (slice(3, 5), slice(None, 2), slice(-1, None))] == [4, 1, len(way.steps)]
    assert (
        str(way) == f"{way[:3]}\n{way[3:]}" and '<ol class="byhand byhand-follow" start="4">' in way[3:]._repr_html_()
    )


@pytest.mark.parametrize(
    ("array", "index", "found"),
    [
        ("probabilities", (1, 3), lambda t: softmax(t.logits)),
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
    assert byhand.follow(params, cfg, trace, array, index).steps[0].value == pytest.approx(
        found(trace)[index], rel=1e-12
    )


def test_a_trace_that_does_not_add_up_is_not_explained():
    params, cfg, trace = model()
    trace.decoder.layers[1].feed_forward.total[1, 2] += 0.5
    with pytest.raises(AssertionError, match=r"the terms give .*, the trace has"):
        byhand.follow(params, cfg, trace, "decoder.1.feed_forward", (1, 2))


def test_html_shows_the_way_and_opens_each_sum_without_a_script():
    way = byhand.follow(*model(), "logits", (1, 1), words=["<b>", "hola", "x", "y"])
    markup = way._repr_html_()
    assert markup.count("<details>") == markup.count("</details>") == len(way.steps)
    assert markup.count("<li>") == len(way.steps) + sum(len(step.terms) for step in way.steps)
    assert not re.search("<script|onclick", markup)
    assert "&lt;b&gt;" in byhand.follow(*model(), words=["<b>", "hola", "x", "y"])._repr_html_()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"array": "logit"}, r"array: expected one of logits, .* got 'logit'"),
        ({"array": "encoder.7.out"}, "array: expected one of"),
        ({"index": (2, 0)}, r"index: expected a row and a column of logits \(2 x 4\), got \(2, 0\)"),
        ({"index": (0,)}, "index: expected a row and a column"),
        ({"depth": 0}, "depth: expected at least 1, got 0"),
        ({"attention": "both"}, "attention: expected one of values, queries, keys, got 'both'"),
        ({"src": ["a"]}, "src: expected 3 labels, got 1"),
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
