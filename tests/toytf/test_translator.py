"""What `toytf.translator` promises, the trained weights included."""

import json
import shutil
import subprocess
import sys

import numpy as np
import pytest

from toytf.__main__ import main
from toytf.corpus import Pair, vocabularies
from toytf.grammar import corpus, draw_pairs
from toytf.model import Config, init
from toytf.store import save
from toytf.translator import TRAINED, Translator
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
    arrays, stored = named_arrays(again.params), named_arrays(shipped.params)
    assert arrays.keys() == stored.keys()
    for name, array in arrays.items():
        assert array.dtype == np.float64
        np.testing.assert_allclose(array, stored[name], rtol=0, atol=1e-7, err_msg=name)


def test_the_small_model_translates_sentences_that_it_has_never_seen(trained_again):
    translator, records, learned, held_out = trained_again
    assert records[0].loss > 4 and records[-1].loss < 0.01
    unseen = held_out + draw_pairs(np.random.default_rng(1), 10_000, without=learned + held_out)
    right = translator.exact(unseen)
    assert len(right) == 10_800
    assert right.sum() >= 0.9995 * len(right), [str(p) for p, r in zip(unseen, right, strict=True) if not r]


def test_exact_means_every_token_and_the_end(trained_again):
    translator, *_, held_out = trained_again
    good = held_out[0]
    wrong = [
        Pair(good.src, good.tgt[:-1]),
        Pair(good.src, (*good.tgt, good.tgt[-1])),
        Pair(good.src, (*good.tgt[:-1], "hola")),
    ]
    assert translator.exact([good, *wrong]).tolist() == [True, False, False, False]


def test_greedy_and_beam_of_width_one_say_the_same_and_long_lists_are_cut_into_parts(monkeypatch):
    translator = Translator.load()
    sentences = ["hello world", "the small cats see a red house", "hello blue dogs"]
    expected = ["hola mundo", "los gatos pequeños ven una casa roja", "hola perros azules"]
    assert translator.translate(sentences) == translator.translate(sentences, width=4) == expected
    monkeypatch.setattr("toytf.translator.AT_ONCE", 2)
    assert translator.translate(sentences) == expected
    (greedy,), (beam,) = (translator.write([("hello", "world")], width) for width in (1, 3))
    assert greedy.ids == beam.ids and greedy.log_prob == pytest.approx(beam.log_prob, abs=1e-12)


def test_a_translator_survives_its_file(tmp_path):
    translator = Translator.new(np.random.default_rng(0), vocabularies(FRENCH), **TINY)
    translator.save(tmp_path / "french.npz")
    again = Translator.load(tmp_path / "french.npz")
    assert again.cfg == translator.cfg and list(again.tgt_vocab) == list(translator.tgt_vocab)
    assert again.translate(["merci"]) == translator.translate(["merci"])


def test_a_model_without_vocabularies_is_no_translator(tmp_path):
    cfg = Config(3, 3, n_encoder_layers=1, n_decoder_layers=1, **TINY)
    save(tmp_path / "model.npz", init(cfg, np.random.default_rng(0)), cfg)
    with pytest.raises(ValueError, match="expected a translator, got a model without 'src_vocab'"):
        Translator.load(tmp_path / "model.npz")


def test_bad_sentences_are_refused():
    translator = Translator.load()
    with pytest.raises(TypeError, match="a list of sentences, got the single string 'hello world'"):
        translator.translate("hello world")
    with pytest.raises(ValueError, match="at least one word in each, got an empty one"):
        translator.translate(["hello", " "])
    with pytest.raises(KeyError, match="unknown token 'hallo'"):
        translator.translate(["hallo"])
    with pytest.raises(ValueError, match="width: expected at least 1, got 0"):
        translator.translate(["hello"], width=0)


def test_a_translator_learns_by_heart_what_a_teacher_brings():
    rng = np.random.default_rng(0)
    translator = Translator.new(rng, vocabularies(FRENCH), d_model=8, n_heads=2, d_ff=16)
    losses = [record.loss for record in translator.learn(FRENCH, rng, steps=150, batch_size=2, progress=False)]
    assert losses[-1] < 0.05 < losses[0]
    assert translator.translate(["je suis étudiant", "merci"]) == ["i am a student", "thanks"]


def test_switches_reach_the_model_and_a_decoder_that_sees_the_future_can_still_write():
    translator = Translator.new(np.random.default_rng(0), causal=False, **TINY)
    assert not translator.cfg.causal
    assert len(translator.translate(["hello world"])) == 1


# ---------------------------------------------------------------- the command


def test_the_command_translates(capsys):
    assert main(["translate", "hello world", "my red cows"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "hello world -> hola mundo"


def test_the_command_trains_from_a_file_of_pairs(tmp_path, capsys):
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("".join(f"w{i} x\tv{i} y\n" for i in range(10)), encoding="utf-8")
    out = tmp_path / "model.npz"
    assert main(["train", "--pairs", str(pairs), "--steps", "10", "--batch-size", "4", "--out", str(out)]) == 0
    text = capsys.readouterr().out
    assert "8 pairs to learn from, 2 held out" in text and "of 2 exactly right after 10 steps" in text
    assert list(Translator.load(out).src_vocab)[3:5] == ["w0", "w1"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["translate", "hello wrld"], "error: unknown token 'wrld'"),
        (["translate", "hello", "--model", "nowhere.npz"], "nowhere.npz"),
        (["translate", "hello", "--width", "0"], "width: expected at least 1, got 0"),
        (["train", "--out", "no/such/folder/model.npz"], "--out: expected a file in an existing folder"),
        (["train", "--out", "."], "--out: expected a file, got the folder ."),
        (["train", "--out", "model.npz", "--pairs", "nowhere.tsv"], "nowhere.tsv"),
        (["train", "--out", "model.npz", "--d-model", "15"], "n_heads: expected a divisor of d_model = 15"),
    ],
)
def test_the_command_says_what_is_wrong(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    said = capsys.readouterr()
    assert said.err.startswith("error: ") and message in said.err
    assert said.out.count("step") == 0  # before the work, not after it
    assert not list(tmp_path.iterdir())


def test_the_weights_are_a_plain_file_without_pickle(tmp_path):
    shutil.copy(TRAINED, tmp_path / "model.npz")
    with np.load(tmp_path / "model.npz", allow_pickle=False) as file:
        about = json.loads(str(file["about"]))
    assert about["format"] == "toytf" and about["config"]["d_model"] == 16


def test_importing_the_translator_needs_no_matplotlib():
    code = "import sys, toytf.translator; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
