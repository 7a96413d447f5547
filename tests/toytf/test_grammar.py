"""What `toytf.grammar` promises."""

import numpy as np
import pytest

from toytf import grammar
from toytf.grammar import (
    ADJECTIVES,
    DETERMINERS,
    HELLO_WORLD,
    OBJECTS,
    SUBJECTS,
    VERBS,
    Phrase,
    all_words,
    corpus,
    draw_pairs,
    greeting,
    sentence,
)

NOUN = {noun.one: noun for noun in SUBJECTS + OBJECTS}
ADJECTIVE = {adjective.english: adjective for adjective in ADJECTIVES}
THE, A, THESE = DETERMINERS[0], DETERMINERS[1], DETERMINERS[6]


@pytest.mark.parametrize(
    ("determiner", "adjectives", "noun", "expected"),
    [
        (THE, [], "house", "the house -> la casa"),
        (THE, ["red"], "house", "the red house -> la casa roja"),
        (THE, ["red"], "hat", "the red hat -> el sombrero rojo"),
        (THESE, ["red"], "house", "these red houses -> estas casas rojas"),
        (THESE, ["small", "black"], "dog", "these small black dogs -> estos perros negros pequeños"),
        (A, ["big", "blue"], "letter", "a big blue letter -> una carta azul grande"),
    ],
)
def test_determiner_and_adjective_agree_with_the_noun_and_the_adjective_moves_behind_it(
    determiner, adjectives, noun, expected
):
    chosen = tuple(ADJECTIVE[a] for a in adjectives)
    assert str(Phrase(NOUN[noun], chosen, determiner, determiner.several).pair()) == expected


def test_the_verb_agrees_with_the_subject_and_not_with_the_object():
    one, several = Phrase(NOUN["queen"], (), THE), Phrase(NOUN["book"], (), THESE, several=True)
    assert str(sentence(one, VERBS[5], several)) == "the queen draws these books -> la reina dibuja estos libros"
    assert str(sentence(several, VERBS[5], one)) == "these books draw the queen -> estos libros dibujan la reina"


def test_hello_world_is_a_sentence_of_the_grammar():
    assert greeting(NOUN["world"]) == HELLO_WORLD
    assert str(HELLO_WORLD) == "hello world -> hola mundo"
    assert str(greeting(NOUN["cow"], [ADJECTIVE["new"]], several=True)) == "hello new cows -> hola vacas nuevas"


def test_links_name_the_word_that_each_word_translates():
    english = {"el": "the", "roja": "red", "casa": "house", "gato": "cat", "ve": "sees", "una": "a", "negro": "black"}
    pair = sentence(
        Phrase(NOUN["cat"], (ADJECTIVE["black"],), THE), VERBS[0], Phrase(NOUN["house"], (ADJECTIVE["red"],), A)
    )
    assert [pair.src[i] for i in pair.links] == [english[word] for word in pair.tgt]
    for drawn in draw_pairs(np.random.default_rng(1), 300, adjectives=(0, 1, 2, 3)):
        assert sorted(drawn.links) == list(range(len(drawn.src))) and len(drawn.tgt) == len(drawn.src)


def test_the_same_seed_draws_the_same_sentences_and_none_twice():
    pairs = draw_pairs(np.random.default_rng(5), 5000)
    assert pairs == draw_pairs(np.random.default_rng(5), 5000)
    assert pairs != draw_pairs(np.random.default_rng(6), 5000)
    assert len({pair.src for pair in pairs}) == len({pair.tgt for pair in pairs}) == 5000
    more = draw_pairs(np.random.default_rng(5), 3000, without=pairs)
    assert not {pair.src for pair in pairs} & {pair.src for pair in more}


def test_the_two_parts_of_the_corpus_share_no_sentence_in_either_language():
    train, held_out = corpus(np.random.default_rng(0))
    assert (len(train), len(held_out)) == (3200, 800) and train[0] == HELLO_WORLD
    for side in ("src", "tgt"):
        assert not {getattr(pair, side) for pair in train} & {getattr(pair, side) for pair in held_out}
    assert any(pair.src[0] == "hello" for pair in held_out)
    learned = {word for pair in train for word in (*pair.src, *pair.tgt)}  # new sentences, no new words
    assert not {word for pair in held_out for word in (*pair.src, *pair.tgt)} - learned


def test_the_vocabularies_hold_every_word_that_can_be_drawn():
    src_vocab, tgt_vocab = all_words()
    assert (len(src_vocab), len(tgt_vocab)) == (55, 80)
    for pair in draw_pairs(np.random.default_rng(2), 2000, adjectives=(0, 1, 2)):
        src_vocab.ids(pair.src), tgt_vocab.ids(pair.tgt)


def test_the_number_of_adjectives_is_as_asked():
    names = set(ADJECTIVE)
    for pair in draw_pairs(np.random.default_rng(3), 200, adjectives=(2,), greetings=0):
        assert sum(word in names for word in pair.src) == 4


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"n": 0}, "n: expected at least 1, got 0"),
        ({"n": 3, "adjectives": ()}, r"adjectives: expected numbers from 0 to 7, got \(\)"),
        ({"n": 3, "adjectives": (8,)}, r"got \(8,\)"),
        ({"n": 3, "greetings": 1.0}, "greetings: expected at least 0 and below 1, got 1.0"),
    ],
)
def test_what_the_grammar_cannot_supply_is_refused(how, message):
    with pytest.raises(ValueError, match=message):
        draw_pairs(np.random.default_rng(0), how.pop("n"), **how)
    with pytest.raises(TypeError, match=r"rng: expected np.random.default_rng\(seed\), got int"):
        draw_pairs(0, 3)


def test_a_grammar_that_has_no_more_sentences_says_how_many_it_gave(monkeypatch):
    for name in ("SUBJECTS", "VERBS", "OBJECTS"):
        monkeypatch.setattr(grammar, name, getattr(grammar, name)[:1])
    everything = draw_pairs(np.random.default_rng(0), 64, adjectives=(0,), greetings=0)
    assert len({pair.src for pair in everything}) == len(DETERMINERS) ** 2 == 64
    with pytest.raises(ValueError, match="n: expected a number that the grammar can supply, got 65; it gave 64"):
        draw_pairs(np.random.default_rng(0), 65, adjectives=(0,), greetings=0)
