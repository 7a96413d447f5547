"""What reading a model file promises: whatever the file holds, one error that names it, and no memory lost."""

import dataclasses
import io
import json
import tracemalloc
import zipfile

import numpy as np
import pytest

from toytf.parameters import Config, init
from toytf.store import load, load_extra, save
from toytf.translator import TRAINED, Translator
from toytf.tree import named_arrays

CFG = Config(5, 7, d_model=4, n_heads=2, d_ff=6, n_encoder_layers=1, n_decoder_layers=1)
SIZES = dataclasses.asdict(CFG)


@pytest.fixture
def arrays():
    """What `save` writes for a small model, by name."""
    about = {"format": "toytf", "version": 1, "config": SIZES, "extra": {}}
    return {"about": np.array(json.dumps(about)), **named_arrays(init(CFG, np.random.default_rng(0)))}


def about(arrays, **change):
    return {**arrays, "about": np.array(json.dumps({**json.loads(str(arrays["about"])), **change}))}


def written(path, members, compression=zipfile.ZIP_STORED):
    """Write a zip file of some members, arrays or bytes."""
    with zipfile.ZipFile(path, "w", compression) as file:
        for name, data in members.items():
            if not isinstance(data, bytes):
                np.lib.format.write_array(made := io.BytesIO(), np.asarray(data), allow_pickle=True)
                data = made.getvalue()
            file.writestr(f"{name}.npy", data)
    return path


def refused(path, words="", read=load):
    """See that a file is refused by a `ValueError` that names it, without much memory."""
    tracemalloc.start()
    with pytest.raises(ValueError) as caught:
        read(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert str(caught.value).startswith(f"{path}: expected a ") and words in str(caught.value), str(caught.value)
    assert peak < 5_000_000


def test_what_is_saved_comes_back(tmp_path, arrays):
    params, cfg = load(written(tmp_path / "model.npz", arrays, zipfile.ZIP_DEFLATED))
    save(tmp_path / "saved.npz", params, cfg, {"words": ["a"]})
    again, cfg = load(tmp_path / "saved.npz")
    assert cfg == CFG and load_extra(tmp_path / "saved.npz") == {"words": ["a"]}
    for name, array in named_arrays(again).items():
        np.testing.assert_array_equal(array, arrays[name])
    with zipfile.ZipFile(tmp_path / "saved.npz") as file:
        assert file.namelist() == [f"{name}.npy" for name in arrays]


def test_a_file_cut_off_at_any_byte_is_refused(tmp_path, arrays):
    whole, cut = written(tmp_path / "model.npz", arrays).read_bytes(), tmp_path / "cut.npz"
    for length in range(0, len(whole), 197):
        cut.write_bytes(whole[:length])
        refused(cut)


def test_a_byte_changed_anywhere_is_an_error_that_names_the_file_or_changes_nothing(tmp_path, arrays):
    whole, changed = written(tmp_path / "model.npz", arrays).read_bytes(), tmp_path / "changed.npz"
    for place in range(0, len(whole), 29):
        changed.write_bytes(bytes([*whole[:place], whole[place] ^ 0x55, *whole[place + 1 :]]))
        try:
            params, cfg = load(changed)
        except ValueError as error:
            assert str(error).startswith(f"{changed}: ")
        else:  # a date, a flag that nobody reads
            assert cfg == CFG and all(np.array_equal(a, arrays[name]) for name, a in named_arrays(params).items())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"output.bias": np.array([{"a": 1}], dtype=object)}, "expected shape 7, got 1"),
        ({"output.bias": np.array([{"a": 1}] * 7, dtype=object)}, "pickle"),
        ({"output.bias": np.array(["a"] * 7)}, "real numbers"),
        ({"output.bias": np.zeros(7, dtype=complex)}, "real numbers"),
        ({"output.bias": b"hello"}, "magic"),
        ({"output.bias": np.zeros(8)}, "output.bias: expected shape 7, got 8"),
        ({"more": np.zeros(8)}, "'more' missing or left over"),
        ({"about": np.array("{")}, ""),
        ({"about": np.array("[" * 100_000)}, ""),
        ({"about": np.zeros(3)}, ""),
    ],
)
def test_what_belongs_into_no_model_is_refused(tmp_path, arrays, change, words):
    refused(written(tmp_path / "odd.npz", {**arrays, **change}), words)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"version": 2}, "version 1"),
        ({"config": {}}, "src_vocab"),
        ({"config": {**SIZES, "src_vocab": "5"}}, "src_vocab: expected a whole number, got '5'"),
        ({"config": {**SIZES, "depth": 3}}, "depth"),
        ({"config": {**SIZES, "causal": "no"}}, "causal: expected True or False, got 'no'"),
        ({"config": {**SIZES, "d_model": 2 * 10**9}}, "expected shape"),
        ({"config": {**SIZES, "n_decoder_layers": 10**12}}, "for more layers than that"),
        ({"extra": [1]}, "extra: expected a dict"),
    ],
)
def test_what_a_file_says_of_itself_is_checked(tmp_path, arrays, change, words):
    refused(written(tmp_path / "about.npz", about(arrays, **change)), words)


def test_a_bomb_is_not_unpacked(tmp_path, arrays):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"shape": (2**26,), "fortran_order": False, "descr": "<f8"})
    zeros = header.getvalue() + bytes(2**29)  # half a gigabyte in half a megabyte
    refused(written(tmp_path / "bomb.npz", {**arrays, "output.bias": zeros}, zipfile.ZIP_DEFLATED), "got 67108864")


def test_a_translator_whose_words_are_missing_or_do_not_fit_is_refused(tmp_path):
    params, cfg = load(TRAINED)
    words = load_extra(TRAINED)
    for extra in ({}, {**words, "src_vocab": words["src_vocab"][:-1]}, {**words, "tgt_vocab": 3}):
        save(tmp_path / "words.npz", params, cfg, extra)
        refused(tmp_path / "words.npz", "translator", Translator.load)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        load(tmp_path / "nowhere.npz")
