"""The second example: what it claims of *it*, with the arithmetic of `toytf` and with a plain sum."""

import math

import numpy as np
import pytest

from toytf.course import pronoun
from toytf.model import feed_forward

LAST = pytest.mark.parametrize("last, noun, other", [("tired", "animal", "street"), ("wide", "street", "animal")])
WORDS = ["animal", "cross", "street", "it"]
ANIMAL, _, STREET, IT = range(4)
SHARE = 1 / (1 + 4 * math.exp(-pronoun.SHARPNESS / math.sqrt(2)))  # of the adjective in what "it" takes


def layer(x, *heads):
    """The rows after a layer, and the weights of each head."""
    found = [pronoun.attend(x, head) for head in heads]
    return x + sum(added for added, _ in found), [trace.attn_weights for _, trace in found]


def features(row):
    return dict(zip(pronoun.FEATURES + pronoun.NAMES, row))  # noqa: B905 (without names a row is shorter)


@LAST
def test_every_word_has_one_feature_and_behind_these_stand_the_names_of_the_nouns(last, noun, other):
    words, x = pronoun.sentence(last)
    assert words == [*WORDS, last] and (x.sum(axis=1) == 1).all() and np.linalg.matrix_rank(x) == 5
    _, named = pronoun.sentence(last, names=True)
    assert (named[:, :8] == x).all()
    assert (named[:, 8:] == [[word == name for name in pronoun.NAMES] for word in words]).all()


@LAST
def test_a_head_of_the_first_layer_leaves_the_names_alone(last, noun, other):
    (_, bare), (_, named) = (pronoun.sentence(last, names=names) for names in (False, True))
    for head in (pronoun.DESCRIBES, pronoun.COULD_BE):
        added, trace = pronoun.attend(bare, head)
        wider, wider_trace = pronoun.attend(named, pronoun.with_names(head))
        assert (wider[:, :8] == added).all() and (wider[:, 8:] == 0).all()
        assert (trace.attn_weights == wider_trace.attn_weights).all()


@LAST
def test_in_the_first_layer_it_looks_at_the_adjective_and_in_the_second_it_finds_its_noun(last, noun, other):
    x, [weights] = layer(pronoun.sentence(last)[1], pronoun.DESCRIBES)
    assert weights[IT] == pytest.approx([(1 - SHARE) / 4] * 4 + [SHARE], abs=1e-15)
    assert weights[ANIMAL] == pytest.approx([0.2] * 5, abs=1e-15)
    seeks, kind = {"tired": ("seeks animate", "animate"), "wide": ("seeks thing", "thing")}[last]
    assert features(x[IT]) == pytest.approx(dict.fromkeys(pronoun.FEATURES, 0.0) | {"pronoun": 1.0, seeks: SHARE})
    x, [weights] = layer(x, pronoun.MEANT)
    assert weights[IT, WORDS.index(noun)] == weights[IT].max() > 0.98
    assert [name for name in ("animate", "thing") if features(x[IT])[name] > 0.98] == [kind]


@LAST
def test_the_second_head_looks_at_both_nouns_alike(last, noun, other):
    x, [first, second] = layer(pronoun.sentence(last)[1], pronoun.DESCRIBES, pronoun.COULD_BE)
    assert first[IT].argmax() == 4 and second[IT, ANIMAL] == second[IT, STREET] > 0.49
    assert features(x[IT])["animate"] == features(x[IT])["thing"] > 0.49


def concluded(x):
    """The rows after the two rules of chapter 7: what is above 2 of three entries speaks for one kind."""
    at = pronoun.FEATURES.index
    kinds, seeks = [at("animate"), at("thing")], [at("seeks animate"), at("seeks thing")]
    said = np.maximum(0, x[:, kinds] + x[:, seeks] + x[:, [at("pronoun")]] - 2)
    x = x.copy()
    x[:, kinds] += said - said[:, ::-1]
    return x


@LAST
def test_with_the_rules_it_takes_home_the_name_of_its_noun_and_without_it_cannot_choose(last, noun, other):
    heads = map(pronoun.with_names, (pronoun.DESCRIBES, pronoun.COULD_BE))
    before, _ = layer(pronoun.sentence(last, names=True)[1], *heads)
    x, [weights] = layer(concluded(before), pronoun.NAMED)
    assert features(x[IT])[noun] == weights[IT, WORDS.index(noun)] > 0.98 and features(x[IT])[other] < 0.01
    assert weights[IT, IT] < 0.002  # it does not find itself
    _, [weights] = layer(before, pronoun.NAMED)
    assert weights[IT, ANIMAL] == pytest.approx(weights[IT, STREET], abs=1e-12) and 0.45 < weights[IT, ANIMAL] < 0.5


def normed(x):
    x = x - x.mean(axis=1, keepdims=True)
    return x / np.sqrt((x**2).mean(axis=1, keepdims=True) + 1e-5)


@LAST
def test_with_a_norm_behind_each_part_it_takes_home_the_same_name(last, noun, other):
    x = pronoun.sentence(last, names=True)[1]
    u = normed(layer(x, *map(pronoun.with_names, (pronoun.DESCRIBES, pronoun.COULD_BE)))[0])
    x = normed(u + feed_forward(pronoun.rules(names=True), u)[0])
    assert x == pytest.approx(normed(concluded(u)), abs=1e-12)
    x, [weights] = layer(x, pronoun.NAMED)
    assert weights[IT, WORDS.index(noun)] > 0.99
    row = features(normed(x)[IT])
    assert row[noun] > 0.9 > -1 > row[other]


def test_one_layer_cannot_tell_tired_from_wide_whatever_its_weights():
    rng = np.random.default_rng(0)
    sentences = [pronoun.sentence(last)[1] for last in ("tired", "wide")]
    for _ in range(100):
        head = pronoun.Head(*rng.normal(size=(3, 8, 2)) * 2, rng.normal(size=(2, 8)))
        tired, wide = (layer(x, head)[1][0][IT] for x in sentences)
        assert tired[ANIMAL] / tired[STREET] == pytest.approx(wide[ANIMAL] / wide[STREET], rel=1e-12)


def test_another_last_word_is_refused():
    with pytest.raises(ValueError, match="last: expected one of tired, wide, got 'green'"):
        pronoun.sentence("green")
