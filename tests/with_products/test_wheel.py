"""The wheel, as somebody gets it who types `pip install toytf` in an empty environment, far from the repository."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
BIN = "Scripts" if os.name == "nt" else "bin"
NEEDED = {"numpy", "threadpoolctl", "tqdm", "toytf"}


def call(*command, place, **how):
    """Run something far from here: no folder of ours on the path, no setting of ours."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [str(word) for word in command], cwd=place, env=environment, capture_output=True, encoding="utf-8", **how
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """What `make dist` makes of a copy of what Git knows, and of what is new."""
    place = tmp_path_factory.mktemp("source")
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "toytf", "pyproject.toml", "LICENSE",
         "NOTICE"],
        cwd=ROOT, capture_output=True, encoding="utf-8", check=True,
    )  # fmt: skip
    for name in listed.stdout.splitlines():
        if (ROOT / name).is_file():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, place / name)
    out = tmp_path_factory.mktemp("dist")
    done = call(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, place, place=place)
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = out.glob("*.whl")
    return path


class Empty:
    """An environment of its own, with the wheel in it, and perhaps an extra."""

    def __init__(self, place, wheel, extra=""):
        self.place = place
        subprocess.run([sys.executable, "-m", "venv", str(place / "venv")], check=True)
        self.python = place / "venv" / BIN / "python"
        self.toytf = place / "venv" / BIN / "toytf"
        done = call(self.python, "-m", "pip", "install", "-q", f"{wheel}{extra}", place=place)
        assert done.returncode == 0, done.stderr
        (place / "elsewhere").mkdir()

    def run(self, *command):
        return call(*command, place=self.place / "elsewhere")

    def installed(self):
        said = self.run(self.python, "-m", "pip", "list", "--format=freeze").stdout
        return {line.partition("=")[0].lower() for line in said.splitlines()} - {"pip", "setuptools", "wheel"}


@pytest.fixture(scope="module")
def bare(wheel, tmp_path_factory):
    return Empty(tmp_path_factory.mktemp("bare"), wheel)


def test_in_an_empty_environment_it_translates_hello_world(bare):
    done = bare.run(bare.toytf, "translate", "hello world")
    assert (done.returncode, done.stdout, done.stderr) == (0, "hello world -> hola mundo\n", "")
    assert bare.installed() == NEEDED


def test_it_is_the_wheel_that_translates_and_not_this_folder(bare):
    said = bare.run(bare.python, "-c", "import toytf; print(toytf.__file__)").stdout
    assert Path(said.strip()).is_relative_to(bare.place)


def test_several_sentences_and_a_beam(bare):
    done = bare.run(bare.toytf, "translate", "hello world", "the small cats see a red house", "--beam", "4")
    assert done.stdout.splitlines()[1] == "the small cats see a red house -> los gatos pequeños ven una casa roja"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["translate", "hello penguin"], "penguin"),
        (["translate", "hello world", "--beam", "0"], "width: expected at least 1, got 0"),
        (["translate", ""], "expected at least one word"),
        (["translate", "hello world", "--model", "missing.npz"], "No such file or directory: missing.npz"),
        (["translated"], "expected one of translate, train"),
        (["assign", "--exercises", "9.1", "--out", "week"], "expected one with notebooks"),
    ],
)
def test_what_is_wrong_or_missing_is_said_in_one_line(bare, words, says):
    done = bare.run(bare.toytf, *words)
    assert done.returncode == 2
    assert says in done.stderr and len(done.stderr.splitlines()) == 1


def test_exercises_are_checked_sums_are_written_and_panels_have_their_style(bare):
    code = (
        "import numpy as np; from toytf import byhand, check, live; "
        "e = lambda x: np.exp(x) / np.exp(x).sum(axis=-1, keepdims=True); check.softmax(e); "
        "w = byhand.matmul([[1, 2]], [[3], [4]], 'z'); print(w); print(len(w._repr_html_()) > 500); "
        "print(len(live.divisor([[1.0, 2.0]], 4, rows=['a'], cols=['b', 'c'])._repr_html_()) > 5000)"
    )
    done = bare.run(bare.python, "-c", code)
    assert done.returncode == 0, done.stderr
    assert "This looks like: no maximum subtracted." in done.stdout
    assert "1·3 + 2·4" in done.stdout and done.stdout.count("True") == 2


def test_it_trains_and_what_it_has_learned_is_opened_again(bare):
    done = bare.run(bare.toytf, "train", "--out", "model.npz", "--steps", "2")
    assert done.returncode == 0 and "written: model.npz" in done.stdout, done.stderr
    assert bare.run(bare.toytf, "translate", "hello world", "--model", "model.npz").returncode == 0


def test_the_figures_need_plot_and_have_it(bare, wheel, tmp_path):
    draw = "from toytf.course import plot; print(len(plot.svg(plot.heatmap([[1.0, 2.0]], title='t').figure)) > 500)"
    refused = bare.run(bare.python, "-c", draw)
    assert refused.stderr.splitlines()[-1] == 'ImportError: figures need matplotlib: pip install "toytf[plot]"'
    more = Empty(tmp_path, wheel, "[plot]")
    done = more.run(more.python, "-c", draw)
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr
    assert "matplotlib" in more.installed()


def test_torch_and_transformers_are_found_for_the_extra_torch(wheel, tmp_path):
    """Resolved alone: what it brings takes gigabytes."""
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True)
    python = tmp_path / "venv" / BIN / "python"
    done = call(
        python, "-m", "pip", "install", "--dry-run", "--report", tmp_path / "report.json", "-q", f"{wheel}[torch]",
        place=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "report.json").read_text("utf-8")
    assert '"name": "torch"' in text and '"name": "transformers"' in text
