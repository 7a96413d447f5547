"""The second example: what it claims of *it*, with the arithmetic of `toytf` and with a plain sum."""

import math

import numpy as np
import pytest

from toytf.course import pronoun

LAST = ("tired", "wide")
NOUN = {"tired": "animal", "wide": "street"}


SEEKS, COULD_BE = map(pronoun.with_names, (pronoun.DESCRIBES, pronoun.COULD_BE))


def layers(last, *heads, names=False):
    """Return the words, the last rows, and the traces of one layer after the other, each a list of heads."""
    words, x = pronoun.sentence(last, names=names)
    traces = []
    for layer in heads:
        found = [pronoun.attend(x, head) for head in layer]
        x = x + sum(added for added, _ in found)
        traces.append([trace for _, trace in found])
    return words, x, traces


@pytest.mark.parametrize("last", LAST)
def test_every_word_has_one_feature_and_they_differ(last):
    words, x = pronoun.sentence(last)
    assert words == ["animal", "cross", "street", "it", last]
    assert x.shape == (5, len(pronoun.FEATURES))
    assert (x.sum(axis=1) == 1).all()
    assert np.linalg.matrix_rank(x) == 5


@pytest.mark.parametrize("last", LAST)
def test_behind_the_features_stand_the_names_of_the_nouns(last):
    words, x = pronoun.sentence(last, names=True)
    assert (x[:, :8] == pronoun.sentence(last)[1]).all()
    named = [[word == name for name in pronoun.NAMES] for word in words]
    assert (x[:, 8:] == named).all()
    assert sum(map(sum, named)) == 2


@pytest.mark.parametrize("last", LAST)
@pytest.mark.parametrize("head", [pronoun.DESCRIBES, pronoun.COULD_BE])
def test_a_head_of_the_first_layer_leaves_the_names_alone(last, head):
    (_, bare), (_, named) = (pronoun.sentence(last, names=names) for names in (False, True))
    (added, trace), (wider, wider_trace) = (
        pronoun.attend(bare, head),
        pronoun.attend(named, pronoun.with_names(head)),
    )
    assert (wider[:, :8] == added).all()
    assert (wider[:, 8:] == 0).all()
    assert (trace.attn_weights == wider_trace.attn_weights).all()


@pytest.mark.parametrize("last", LAST)
def test_in_the_first_layer_it_looks_at_the_adjective_and_takes_what_that_seeks(last):
    words, x, [[trace]] = layers(last, [pronoun.DESCRIBES])
    share = 1 / (1 + 4 * math.exp(-pronoun.SHARPNESS / math.sqrt(2)))
    assert trace.attn_weights[words.index("it")] == pytest.approx([(1 - share) / 4] * 4 + [share], abs=1e-15)
    assert trace.attn_weights[words.index("animal")] == pytest.approx([0.2] * 5, abs=1e-15)
    it = dict(zip(pronoun.FEATURES, x[words.index("it")], strict=True))
    seeks = {"tired": "seeks animate", "wide": "seeks thing"}[last]
    assert it == pytest.approx(dict.fromkeys(pronoun.FEATURES, 0.0) | {"pronoun": 1.0, seeks: share}, abs=1e-15)


@pytest.mark.parametrize("last", LAST)
def test_in_the_second_layer_it_finds_its_noun(last):
    words, x, [_, [trace]] = layers(last, [pronoun.DESCRIBES], [pronoun.MEANT])
    weights = trace.attn_weights[words.index("it")]
    assert words[weights.argmax()] == NOUN[last]
    assert weights.max() > 0.98
    it = dict(zip(pronoun.FEATURES, x[words.index("it")], strict=True))
    assert (it["animate"] > 0.98) == (last == "tired")
    assert (it["thing"] > 0.98) == (last == "wide")


def concluded(x):
    """The rows after the two rules of chapter 7: what is above 2 of three entries speaks for one kind."""
    columns = list(pronoun.FEATURES)
    kinds = [columns.index(kind) for kind in ("animate", "thing")]
    seeks = [columns.index(f"seeks {kind}") for kind in ("animate", "thing")]
    sums = x[:, kinds] + x[:, seeks] + x[:, [columns.index("pronoun")]]
    said = np.maximum(0, sums - 2)
    x = x.copy()
    x[:, kinds] += said - said[:, ::-1]
    return x


@pytest.mark.parametrize("last", LAST)
def test_with_names_it_takes_home_the_name_of_its_noun_and_no_other(last):
    words, x, _ = layers(last, [SEEKS, COULD_BE], names=True)
    x = concluded(x)
    added, trace = pronoun.attend(x, pronoun.NAMED)
    weights = trace.attn_weights[words.index("it")]
    it = dict(zip(pronoun.FEATURES + pronoun.NAMES, (x + added)[words.index("it")], strict=True))
    other = {"animal": "street", "street": "animal"}[NOUN[last]]
    assert it[NOUN[last]] == weights[words.index(NOUN[last])] > 0.98
    assert it[other] < 0.01
    assert weights[words.index("it")] < 0.002  # it does not find itself
    assert (it["animate"] > 0.98) == (last == "tired")


@pytest.mark.parametrize("last", LAST)
def test_without_the_rules_it_cannot_choose_its_noun(last):
    words, x, _ = layers(last, [SEEKS, COULD_BE], names=True)
    _, trace = pronoun.attend(x, pronoun.NAMED)
    weights = dict(zip(words, trace.attn_weights[words.index("it")], strict=True))
    assert weights["animal"] == pytest.approx(weights["street"], abs=1e-12)
    assert 0.45 < weights["animal"] < 0.5


def test_one_layer_cannot_tell_tired_from_wide_whatever_its_weights():
    rng = np.random.default_rng(0)
    it, animal, street = 3, 0, 2
    (_, tired), (_, wide) = map(pronoun.sentence, LAST)
    for _ in range(100):
        head = pronoun.Head(*rng.normal(size=(3, 8, 2)) * 2, rng.normal(size=(2, 8)))
        ratios = [pronoun.attend(x, head)[1].attn_weights[it] for x in (tired, wide)]
        assert ratios[0][animal] / ratios[0][street] == pytest.approx(ratios[1][animal] / ratios[1][street], rel=1e-12)


@pytest.mark.parametrize("last", LAST)
def test_the_second_head_looks_at_both_nouns_alike(last):
    words, x, [[first, second]] = layers(last, [pronoun.DESCRIBES, pronoun.COULD_BE])
    it = words.index("it")
    weights = dict(zip(words, second.attn_weights[it], strict=True))
    assert weights["animal"] == weights["street"] > 0.49
    assert words[first.attn_weights[it].argmax()] == last
    assert x[it, pronoun.FEATURES.index("animate")] == x[it, pronoun.FEATURES.index("thing")] > 0.49


def test_another_last_word_is_refused():
    with pytest.raises(ValueError, match="last: expected one of tired, wide, got 'green'"):
        pronoun.sentence("green")


def test_names_that_are_no_truth_value_are_refused():
    with pytest.raises(TypeError, match="names"):
        pronoun.sentence("tired", names="animal")


def test_rows_of_another_width_and_what_is_no_head_are_refused():
    with pytest.raises(ValueError, match="x"):
        pronoun.attend(np.zeros((5, 7)), pronoun.MEANT)
    with pytest.raises(TypeError, match="head"):
        pronoun.with_names((1, 2, 3, 4))
    with pytest.raises(TypeError, match="head"):
        pronoun.attend(np.zeros((5, 8)), (1, 2, 3, 4))
