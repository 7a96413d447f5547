"""`make lab`: it says what is missing, sets one thread, and its kernel leaves notebooks as they are."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import start_new_kernel

import text

ROOT = Path(__file__).resolve().parent.parent
LAB = ROOT / "book" / "lab"
LISTED = """JupyterLab v4.6.6
/book/.venv/share/jupyter/labextensions
        jupyterlab-myst v2.6.0 \x1b[32menabled\x1b[0m \x1b[32mOK\x1b[0m (python, jupyterlab_myst)
        jupyterlab_pygments v0.3.0 \x1b[32menabled\x1b[0m \x1b[32mOK\x1b[0m (python, jupyterlab_pygments)
"""


@pytest.fixture(scope="module")
def start():
    spec = importlib.util.spec_from_file_location("start", LAB / "start.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("right", "wrong", "says"),
    [
        ("2.6.0", "2.6.0", None),
        ("        jupyterlab-myst", "        jupyterlab-other", "jupyterlab-myst is not installed."),
        (
            "v2.6.0 \x1b[32menabled\x1b[0m",
            "v2.6.0 \x1b[31mdisabled\x1b[0m",
            "jupyterlab-myst 2.6.0 is disabled. (Enable it: jupyter labextension enable jupyterlab-myst)",
        ),
        (
            "v2.6.0 \x1b[32menabled\x1b[0m \x1b[32mOK\x1b[0m",
            "v2.7.0 \x1b[32menabled\x1b[0m \x1b[31m X\x1b[0m",
            "jupyterlab-myst 2.7.0 does not fit JupyterLab 4.6.6.",
        ),
    ],
)
def test_an_extension_that_is_missing_or_does_not_fit_is_named(start, right, wrong, says):
    assert right in LISTED
    assert start.problem(LISTED.replace(right, wrong)) == says


def test_no_answer_at_all_counts_as_missing(start):
    assert start.problem("No module named jupyter") == "jupyterlab-myst is not installed."


def test_there_is_one_thread_unless_one_asks_for_more(start):
    assert start.settings({})["OPENBLAS_NUM_THREADS"] == "1"
    assert start.settings({"OPENBLAS_NUM_THREADS": "4"})["OPENBLAS_NUM_THREADS"] == "4"
    assert start.settings({"JUPYTER_PATH": "/a"})["JUPYTER_PATH"] == os.pathsep.join([str(LAB), "/a"])


def test_lab_starts_after_the_words_and_with_the_notebook(start, monkeypatch, capsys):
    ran = []

    def run(command, **options):
        ran.append((command, options))
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(start.subprocess, "run", run)
    monkeypatch.setattr(sys, "argv", ["start.py"])
    assert start.main() == 0
    said = capsys.readouterr().err
    assert "jupyterlab-myst is not installed." in said
    assert "requirements/lab.txt" in said
    command, options = ran[-1]
    assert command[1:] == ["-m", "jupyter", "lab", "notebooks/01_overview.ipynb"]
    assert (ROOT / command[-1]).is_file()
    assert options["env"]["OPENBLAS_NUM_THREADS"] == "1"


def test_the_kernel_says_what_the_stored_notebooks_say(start, monkeypatch):
    """JupyterLab writes both into a notebook that it opens; the same again is no change."""
    monkeypatch.setenv("JUPYTER_PATH", start.settings({})["JUPYTER_PATH"])
    spec = KernelSpecManager().get_kernel_spec("python3")
    assert Path(spec.resource_dir) == LAB / "kernels" / "python3"
    said = {"display_name": spec.display_name, "language": spec.language, "name": "python3"}
    assert said == text.METADATA["kernelspec"]
    manager, client = start_new_kernel(kernel_name="python3", startup_timeout=None)
    try:
        info = client.kernel_info(reply=True)["content"]["language_info"]
        assert info == text.METADATA["language_info"]
        reply = client.execute_interactive("import numpy; assert numpy.eye(2).sum() == 2")
        assert reply["content"]["status"] == "ok"
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
