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


def phrase(determiner, adjectives, noun):
    return Phrase(NOUN[noun], tuple(ADJECTIVE[a] for a in adjectives.split()), determiner, determiner.several)


@pytest.mark.parametrize(
    ("pair", "expected"),
    [
        (phrase(THE, "", "house").pair(), "the house -> la casa"),
        (phrase(THE, "red", "hat").pair(), "the red hat -> el sombrero rojo"),
        (phrase(THESE, "red", "house").pair(), "these red houses -> estas casas rojas"),
        (phrase(THESE, "small black", "dog").pair(), "these small black dogs -> estos perros negros pequeños"),
        (phrase(A, "big blue", "letter").pair(), "a big blue letter -> una carta azul grande"),
        (
            sentence(phrase(THE, "", "queen"), VERBS[5], phrase(THESE, "", "book")),
            "the queen draws these books -> la reina dibuja estos libros",
        ),
        (
            sentence(phrase(THESE, "", "book"), VERBS[5], phrase(THE, "", "queen")),
            "these books draw the queen -> estos libros dibujan la reina",
        ),
        (HELLO_WORLD, "hello world -> hola mundo"),
        (greeting(NOUN["world"]), "hello world -> hola mundo"),
        (greeting(NOUN["cow"], (ADJECTIVE["new"],), several=True), "hello new cows -> hola vacas nuevas"),
    ],
)
def test_words_agree_with_the_noun_the_verb_with_its_subject_and_adjectives_move_behind(pair, expected):
    assert str(pair) == expected


def test_links_name_the_word_that_each_word_translates():
    english = {"el": "the", "roja": "red", "casa": "house", "gato": "cat", "ve": "sees", "una": "a", "negro": "black"}
    pair = sentence(phrase(THE, "black", "cat"), VERBS[0], phrase(A, "red", "house"))
    assert [pair.src[i] for i in pair.links] == [english[word] for word in pair.tgt]


def test_a_corpus_has_no_sentence_twice_in_its_two_parts_and_only_words_of_the_vocabularies():
    train, held_out = corpus(np.random.default_rng(0))
    assert (len(train), len(held_out)) == (3200, 800) and train[0] == HELLO_WORLD
    src_vocab, tgt_vocab = all_words()
    assert (len(src_vocab), len(tgt_vocab)) == (55, 80)
    for side, vocabulary in (("src", src_vocab), ("tgt", tgt_vocab)):
        assert len({getattr(pair, side) for pair in train + held_out}) == 4000
        assert all(word in vocabulary for pair in train + held_out for word in getattr(pair, side))
    assert any(pair.src[0] == "hello" for pair in held_out)
    learned = {word for pair in train for word in (*pair.src, *pair.tgt)}  # new sentences, no new words
    assert not {word for pair in held_out for word in (*pair.src, *pair.tgt)} - learned


def test_what_is_drawn_is_as_asked():
    pairs = draw_pairs(np.random.default_rng(5), 500, adjectives=(2,), greetings=0)
    assert pairs == draw_pairs(np.random.default_rng(5), 500, adjectives=(2,), greetings=0)
    assert all(sum(word in ADJECTIVE for word in pair.src) == 4 for pair in pairs)
    more = draw_pairs(np.random.default_rng(5), 300, adjectives=(2,), greetings=0, without=pairs)
    assert not {pair.src for pair in pairs} & {pair.src for pair in more}


def test_a_grammar_that_has_no_more_sentences_says_how_many_it_gave(monkeypatch):
    for name in ("SUBJECTS", "VERBS", "OBJECTS"):
        monkeypatch.setattr(grammar, name, getattr(grammar, name)[:1])
    with pytest.raises(ValueError, match="n: expected a number that the grammar can supply, got 65; it gave 64"):
        draw_pairs(np.random.default_rng(0), 65, adjectives=(0,), greetings=0)
