"""What `make test-matrix` promises: a restriction takes hold or is missed, and a changed digit is found."""

import os
import platform
import sys

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

import matrix
from matrix import OLD_NUMPY, Setting, environment_of, play

on_x86 = pytest.mark.skipif(platform.machine().lower() not in ("x86_64", "amd64"), reason="kernels of x86")


@on_x86
def test_a_restriction_takes_hold_and_one_that_does_not_is_noticed(monkeypatch):
    _, report = environment_of(Setting("old", threads=1, kernel="Nehalem", without="everything"))
    assert (report["kernel"], report["threads"], report["dispatched"]) == ("Nehalem", 1, [])
    with pytest.raises(RuntimeError, match="x: expected OpenBLAS kernels for Haswel, got"):
        environment_of(Setting("x", kernel="Haswel"))
    monkeypatch.setattr(matrix, "hidden", lambda dispatched, without: ["AVX_NONSENSE"])
    with pytest.raises(RuntimeError, match="expected NumPy's baseline alone, got"):
        environment_of(Setting("x", without="everything"))
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
