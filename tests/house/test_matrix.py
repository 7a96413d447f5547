"""What `make test-matrix` promises: each setting takes hold, and a changed digit is found."""

import os
import platform
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

import matrix
from matrix import KERNELS, OLD_NUMPY, SETTINGS, Setting, environment_of, hidden, play

on_x86 = pytest.mark.skipif(platform.machine().lower() not in ("x86_64", "amd64"), reason="kernels of x86")


def test_the_settings_are_different_and_cover_threads_kernels_instructions_and_numpy():
    assert len({replace(setting, name="") for setting in SETTINGS}) == len(SETTINGS) >= 4
    cells, tests = ([setting for setting in SETTINGS if setting.run == run] for run in ("cells", "tests"))
    for settings in (cells, tests):
        assert {setting.threads for setting in settings} == {1, 2}
        assert {setting.old_numpy for setting in settings} == {True, False}
    assert {setting.kernel for setting in cells} >= {None, "Haswell", "Nehalem"}
    assert {setting.without for setting in cells} == {"", "AVX512", "everything"}
    assert {setting.kernel for setting in tests} == {None, *KERNELS}
    assert {setting.seed for setting in tests} == set(range(11))
    lock = matrix.LOCK.read_text(encoding="utf-8")
    assert f"numpy=={OLD_NUMPY} \\" in lock


def test_what_is_hidden_follows_the_names_that_numpy_uses():
    new, old = ["X86_V3", "X86_V4", "AVX512_ICL"], ["AVX2", "FMA3", "AVX512F"]
    assert hidden(new, "AVX512") == ["X86_V4", "AVX512_ICL"] and hidden(old, "AVX512") == ["AVX512F"]
    assert hidden(new, "everything") == new and hidden(new, "") == []


@on_x86
def test_a_restriction_takes_hold():
    _, report = environment_of(Setting("old", threads=1, kernel="Nehalem", without="everything"))
    assert (report["kernel"], report["threads"], report["dispatched"]) == ("Nehalem", 1, [])


@on_x86
def test_a_misspelt_restriction_is_noticed(monkeypatch):
    with pytest.raises(RuntimeError, match="x: expected OpenBLAS kernels for Haswel, got"):
        environment_of(Setting("x", kernel="Haswel"))
    monkeypatch.setattr(matrix, "hidden", lambda dispatched, without: ["AVX_NONSENSE"])
    with pytest.raises(RuntimeError, match="expected NumPy's baseline alone, got"):
        environment_of(Setting("x", without="everything"))


@on_x86
def test_numpy_of_another_version_is_noticed(monkeypatch):
    monkeypatch.setattr(matrix, "python_of", lambda setting: sys.executable)
    with pytest.raises(RuntimeError, match=f"expected NumPy {OLD_NUMPY}, got"):
        environment_of(Setting("x", old_numpy=True))


@pytest.mark.parametrize(("stored", "differ"), [("0.1000\n", 0), ("0.1001\n", 1)])
def test_a_cell_whose_digits_differ_is_named(tmp_path, stored, differ):
    cell = new_code_cell("print('0.1000')", execution_count=1)
    cell.outputs = [new_output("stream", name="stdout", text=stored)]
    path = tmp_path / "planted.ipynb"
    nbformat.write(new_notebook(cells=[cell]), path)
    cells, bad = play(Setting("here"), [path], dict(os.environ))
    assert cells == 1 and len(bad) == differ
    assert all("planted" in name for name in bad)


@on_x86
def test_other_seeds_leave_out_the_tests_of_their_own_seed():
    path = Path(matrix.__file__).with_name("toytf") / "test_translator.py"
    counts = {}
    for seed in (0, 1):
        setting = Setting("here", seed=seed, run="tests")
        counts[seed], bad = play(setting, [path], environment_of(setting)[0])
        assert bad == []
    assert 0 < counts[1] < counts[0]


def test_other_seeds_give_other_numbers():
    code = "import conftest, numpy; print(numpy.random.default_rng(3).random())"
    found = [
        subprocess.run(
            [sys.executable, "-c", code], env=dict(os.environ, TOYTF_SEED=seed), cwd=Path(matrix.__file__).parent,
            capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("0", "1", "2", "1")
    ]  # fmt: skip
    assert len(set(found)) == 3 and found[1] == found[3]
