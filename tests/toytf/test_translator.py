"""What `toytf.translator` promises, the trained weights included."""

import numpy as np
import pytest

from toytf.corpus import Pair, vocabularies
from toytf.grammar import corpus, draw_pairs
from toytf.translator import Translator
from toytf.tree import named_arrays

TINY = {"d_model": 4, "n_heads": 1, "d_ff": 4}
FRENCH = [Pair(("je", "suis", "étudiant"), ("i", "am", "a", "student")), Pair(("merci",), ("thanks",))]


@pytest.fixture(scope="module")
def trained_again():
    """The shipped translator, trained once more by its command, with the records of its training."""
    rng = np.random.default_rng(0)
    learned, held_out = corpus(rng)
    translator = Translator.new(rng)
    records = list(translator.learn(learned, rng, progress=False))
    return translator, records, learned, held_out


@pytest.mark.own_seed
def test_training_again_gives_the_shipped_weights(trained_again):
    again, shipped = trained_again[0], Translator.load()
    assert again.cfg == shipped.cfg
    assert list(again.src_vocab) == list(shipped.src_vocab) and list(again.tgt_vocab) == list(shipped.tgt_vocab)
    stored = named_arrays(shipped.params)
    for name, array in named_arrays(again.params).items():
        np.testing.assert_allclose(array, stored[name], rtol=0, atol=1e-7, err_msg=name)


def test_the_small_model_translates_sentences_that_it_has_never_seen(trained_again):
    translator, records, learned, held_out = trained_again
    assert records[0].loss > 4 and records[-1].loss < 0.01
    unseen = held_out + draw_pairs(np.random.default_rng(1), 10_000, without=learned + held_out)
    right = translator.exact(unseen)
    assert right.sum() >= 0.9995 * len(unseen), [str(p) for p, r in zip(unseen, right, strict=True) if not r]


def test_exact_means_every_token_and_the_end():
    src, tgt = "hello blue dogs".split(), "hola perros azules".split()
    given = [tgt, tgt[:-1], [*tgt, tgt[-1]], [*tgt[:-1], "hola"]]
    assert Translator.load().exact([Pair(src, one) for one in given]).tolist() == [True, False, False, False]


def test_greedy_and_beam_say_the_same_and_long_lists_are_cut_into_parts(monkeypatch):
    translator = Translator.load()
    sentences = ["hello world", "the small cats see a red house", "hello blue dogs"]
    expected = ["hola mundo", "los gatos pequeños ven una casa roja", "hola perros azules"]
    assert translator.translate(sentences) == translator.translate(sentences, width=4) == expected
    monkeypatch.setattr("toytf.translator.AT_ONCE", 2)
    assert translator.translate(sentences) == expected


def test_a_translator_learns_by_heart_what_a_teacher_brings_and_survives_its_file(tmp_path):
    rng = np.random.default_rng(0)
    translator = Translator.new(rng, vocabularies(FRENCH), d_model=8, n_heads=2, d_ff=16)
    losses = [record.loss for record in translator.learn(FRENCH, rng, steps=150, batch_size=2, progress=False)]
    assert losses[-1] < 0.05 < losses[0]
    translator.save(tmp_path / "french.npz")
    again = Translator.load(tmp_path / "french.npz")
    assert again.cfg == translator.cfg
    assert again.translate(["je suis étudiant", "merci"]) == ["i am a student", "thanks"]


def test_a_decoder_that_sees_the_future_can_still_write():
    translator = Translator.new(np.random.default_rng(0), causal=False, **TINY)
    assert not translator.cfg.causal and len(translator.translate(["hello world"])) == 1
