"""What reading a model file promises: whatever the file holds, one clear error that names it, and no memory lost."""

import dataclasses
import io
import json
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest

from toytf.parameters import Config, init, shapes
from toytf.store import load, load_extra, save
from toytf.translator import TRAINED, Translator
from toytf.tree import named_arrays

CFG = Config(5, 7, d_model=4, n_heads=2, d_ff=6, n_encoder_layers=1, n_decoder_layers=1)
NOT_OURS = "expected a file that toytf.store.save wrote"


@pytest.fixture
def arrays():
    """What `save` writes for a small model, by name."""
    about = {"format": "toytf", "version": 1, "config": dataclasses.asdict(CFG), "extra": {}}
    return {"about": np.array(json.dumps(about)), **named_arrays(init(CFG, np.random.default_rng(0)))}


def about(arrays, **change):
    return {**arrays, "about": np.array(json.dumps({**json.loads(str(arrays["about"])), **change}))}


def npy(array) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array(file, np.asarray(array), allow_pickle=True)
    return file.getvalue()


def declared(shape, dtype="<f8") -> bytes:
    """The header of an array of any shape, and nothing behind it."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"shape": shape, "fortran_order": False, "descr": dtype})
    return file.getvalue()


def written(path, members, compression=zipfile.ZIP_STORED):
    """Write a zip file of some members, arrays or bytes."""
    with zipfile.ZipFile(path, "w", compression) as file:
        for name, data in members.items():
            file.writestr(f"{name}.npy", data if isinstance(data, bytes) else npy(data))
    return path


def refused(path, *words, reads=(load, load_extra)):
    """See that a file is refused by a `ValueError` that names it, without much memory."""
    for read in reads:
        tracemalloc.start()
        with pytest.raises(ValueError) as caught:
            read(path)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert str(caught.value).startswith(f"{path}: ")
        for word in words:
            assert word in str(caught.value), str(caught.value)
        assert peak < 5_000_000


def test_what_is_written_by_hand_here_is_what_save_writes(tmp_path, arrays):
    for compression in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        params, cfg = load(written(tmp_path / "model.npz", arrays, compression))
        assert cfg == CFG
        for name, array in named_arrays(params).items():
            np.testing.assert_array_equal(array, arrays[name])
    save(tmp_path / "saved.npz", params, cfg)
    assert zipfile.ZipFile(tmp_path / "saved.npz").namelist() == [f"{name}.npy" for name in arrays]


def test_a_file_cut_off_at_any_byte_is_refused(tmp_path, arrays):
    whole = written(tmp_path / "model.npz", arrays).read_bytes()
    cut = tmp_path / "cut.npz"
    for length in range(0, len(whole), 97):
        cut.write_bytes(whole[:length])
        refused(cut, NOT_OURS)


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_byte_changed_anywhere_is_an_error_that_names_the_file_or_changes_nothing(tmp_path, arrays, compression):
    whole = bytearray(written(tmp_path / "model.npz", arrays, compression).read_bytes())
    changed, ends = tmp_path / "changed.npz", {"refused": 0, "equal": 0}
    for place in range(0, len(whole), 13):
        data = bytearray(whole)
        data[place] ^= 0x55
        changed.write_bytes(data)
        try:
            params, cfg = load(changed)
        except ValueError as error:
            assert str(error).startswith(f"{changed}: ")
            ends["refused"] += 1
        else:  # a date, a flag that nobody reads
            assert cfg == CFG and all(np.array_equal(a, arrays[name]) for name, a in named_arrays(params).items())
            ends["equal"] += 1
    assert ends["refused"] > 5 * ends["equal"]


def test_an_encrypted_file_is_refused(tmp_path, arrays):
    data = bytearray(written(tmp_path / "model.npz", arrays).read_bytes())
    for signature, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):  # the flags of each entry, in both places
        place = data.find(signature)
        while place >= 0:
            data[place + flags] |= 1
            place = data.find(signature, place + 4)
    (tmp_path / "encrypted.npz").write_bytes(data)
    refused(tmp_path / "encrypted.npz", NOT_OURS, "encrypted")


def test_a_file_that_holds_itself_is_refused(tmp_path, arrays):
    whole = written(tmp_path / "inner.npz", arrays).read_bytes()
    with zipfile.ZipFile(tmp_path / "outer.npz", "w") as file:
        file.writestr("outer.npz", whole)
    refused(tmp_path / "outer.npz", NOT_OURS, "outer.npz")
    written(tmp_path / "in_an_array.npz", {**arrays, "output.bias": whole})
    refused(tmp_path / "in_an_array.npz", NOT_OURS)


def test_members_that_share_their_bytes_are_refused(tmp_path, arrays):
    # Every entry of the directory points at the same data: how a few bytes become many.
    data = written(tmp_path / "model.npz", {"about": arrays["about"], "x": np.zeros(20_000)}).read_bytes()
    end = data.rindex(b"PK\x05\x06")
    size, start = struct.unpack("<II", data[end + 12 : end + 20])
    entry = data[data.index(b"PK\x01\x02", start + 1) : end]  # of x
    many = b"".join(entry.replace(b"x.npy", b"%c.npy" % letter) for letter in b"abcdefghijklmnop")
    tail = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 18, 18, size + len(many), start, 0)
    (tmp_path / "shared.npz").write_bytes(data[:end] + many + tail)
    refused(tmp_path / "shared.npz", NOT_OURS)


def test_an_array_of_another_shape_is_named_before_it_is_read(tmp_path, arrays):
    members = {**arrays, "output.weight": np.zeros((2, 2))}
    refused(written(tmp_path / "shape.npz", members), "output.weight: expected shape 4 x 7, got 2 x 2")
    members = {name: array for name, array in arrays.items() if name != "output.bias"}
    refused(written(tmp_path / "missing.npz", members), "'output.bias' missing")
    refused(written(tmp_path / "empty.npz", {**arrays, "output.bias": []}), "output.bias: expected shape 7, got 0")
    refused(written(tmp_path / "more.npz", {**arrays, "more": np.zeros(3)}), "'more' missing or left over")


@pytest.mark.parametrize("shape", [(10**9, 10**3), (2**62, 2**62), (10**18,), (-4, 7)])
def test_an_array_that_declares_more_than_there_is_is_not_made(tmp_path, arrays, shape):
    refused(written(tmp_path / "huge.npz", {**arrays, "output.weight": declared(shape)}), NOT_OURS, "output.weight")


def test_a_config_that_asks_for_more_than_there_is_makes_nothing(tmp_path, arrays):
    config = dataclasses.asdict(CFG)
    for change in ({"d_model": 2 * 10**9}, {"src_vocab": 10**30}, {"n_decoder_layers": 10**12}, {"d_head": 10**400}):
        refused(written(tmp_path / "large.npz", about(arrays, config=config | change)), "expected")


def test_a_bomb_is_not_unpacked(tmp_path, arrays):
    zeros = declared((2**26,)) + bytes(2**29)  # half a gigabyte in half a megabyte
    path = written(tmp_path / "bomb.npz", {**arrays, "output.bias": zeros}, zipfile.ZIP_DEFLATED)
    refused(path, "output.bias: expected shape 7, got 67108864")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (np.array([{"a": 1}], dtype=object), "Python objects"),
        (np.array(["a"] * 7), "real numbers"),
        (np.zeros(7, dtype=complex), "real numbers"),
        (np.zeros(7, dtype=[("a", float)]), "real numbers"),
        (b"hello", "magic"),
        (b"\x93NUMPY\x09\x00" + bytes(100), "header"),
        (b"\x93NUMPY\x01\x00\x76\x00" + b"(" * 117 + b"\n", "header"),
    ],
)
def test_what_is_no_array_of_numbers_is_refused(tmp_path, arrays, data, words):
    refused(written(tmp_path / "odd.npz", {**arrays, "output.bias": data}), NOT_OURS, words, reads=[load])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"version": 2}, "version 1"),
        ({"format": "another"}, "format"),
        ({"config": {}}, "src_vocab"),
        ({"config": {"src_vocab": "5", "tgt_vocab": 7}}, "src_vocab: expected a whole number, got '5'"),
        ({"config": {**dataclasses.asdict(CFG), "depth": 3}}, "depth"),
        ({"config": [1, 2]}, "mapping"),
        ({"config": {**dataclasses.asdict(CFG), "causal": "no"}}, "causal: expected True or False, got 'no'"),
        ({"extra": [1]}, "extra: expected a dict"),
    ],
)
def test_what_a_file_says_of_itself_is_checked(tmp_path, arrays, change, words):
    refused(written(tmp_path / "about.npz", about(arrays, **change)), NOT_OURS, words)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", "1e999", "[" * 100_000, '{"format": "toytf"}', '{"a": ' + "9" * 10_000 + "}"]
)
def test_what_a_file_says_of_itself_may_be_anything(tmp_path, arrays, text):
    refused(written(tmp_path / "about.npz", {**arrays, "about": np.array(text)}), NOT_OURS)


def test_a_text_in_the_place_of_no_text_is_refused(tmp_path, arrays):
    for data in (np.zeros(3), np.array(["a", "b"]), declared((), f"<U{10**9}")):
        refused(written(tmp_path / "about.npz", {**arrays, "about": data}), NOT_OURS)
    refused(written(tmp_path / "about.npz", {k: v for k, v in arrays.items() if k != "about"}), NOT_OURS, "'about'")


def test_a_folder_and_a_file_that_is_not_there_are_named(tmp_path):
    refused(tmp_path, NOT_OURS)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        load(tmp_path / "nowhere.npz")


def test_a_translator_whose_words_do_not_fit_is_refused(tmp_path):
    params, cfg = load(TRAINED)
    words = load_extra(TRAINED)
    for change in (
        {"src_vocab": words["src_vocab"][:-1]},
        {"tgt_vocab": 3},
        {"src_vocab": [1] * 55},
        {"tgt_vocab": "a"},
    ):
        save(tmp_path / "words.npz", params, cfg, {**words, **change})
        refused(tmp_path / "words.npz", "vocab" if change.get("tgt_vocab") is None else "", reads=[Translator.load])


def test_the_shapes_of_a_model_need_no_model():
    for switches in (
        {},
        {"norm": "pre", "bias": True},
        {"cross_attention": False},
        {"n_encoder_layers": 0},
        {"d_head": 5},
    ):
        cfg = dataclasses.replace(CFG, **switches)
        made = {name: array.shape for name, array in named_arrays(init(cfg, np.random.default_rng(0))).items()}
        assert shapes(cfg) == made and list(shapes(cfg)) == list(made)
    tracemalloc.start()
    assert shapes(Config(37000, 37000, d_model=2**20))["tgt_embedding"] == (37000, 2**20)
    assert tracemalloc.get_traced_memory()[1] < 1_000_000
    tracemalloc.stop()
