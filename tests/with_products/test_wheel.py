"""The wheel in an empty environment, far from the repository: for a reader who types `pip install`, and a student."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from toytf import check
from toytf_classroom.__main__ import main
from toytf_classroom.assign import assign_answer

ROOT = Path(__file__).resolve().parent.parent.parent
BIN = "Scripts" if os.name == "nt" else "bin"


def call(*command, place):
    """Run something far from here: no folder of ours on the path, no setting of ours."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(list(map(str, command)), cwd=place, env=environment, capture_output=True, encoding="utf-8")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """What `make dist` makes; that it holds what Git knows is seen in test_package."""
    out = tmp_path_factory.mktemp("dist")
    done = call(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, ROOT, place=out)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(out.glob("*.whl"))


class Environment:
    """An environment of its own, and what is named in it."""

    def __init__(self, place, *packages):
        self.place = place
        subprocess.run([sys.executable, "-m", "venv", str(place / "venv")], check=True)
        self.python, self.toytf = (place / "venv" / BIN / name for name in ("python", "toytf"))
        done = self.run(self.python, "-m", "pip", "install", "-q", *packages)
        assert done.returncode == 0, done.stderr

    def run(self, *command):
        return call(*command, place=self.place)

    def installed(self):
        said = self.run(self.python, "-m", "pip", "list", "--format=freeze").stdout
        return {line.partition("=")[0].lower() for line in said.splitlines()} - {"pip", "setuptools", "wheel"}

    def execute(self, notebook, folder, **settings):
        """Execute a notebook in a folder; what each cell said, by its id, and the words that stopped it."""
        spec = self.place / "share" / "kernels" / "python3"
        spec.mkdir(parents=True, exist_ok=True)
        command = [str(self.python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        (spec / "kernel.json").write_text(json.dumps({"argv": command, "display_name": "x", "language": "python"}))
        ours = ("PYTHON", "TOYTF", *(["PIP_"] if settings else []))
        environment = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        loaded = nbformat.reads(json.dumps(notebook), as_version=4)
        loaded.metadata.kernelspec.name = "python3"
        client = NotebookClient(loaded, startup_timeout=300, resources={"metadata": {"path": str(folder)}})
        client.create_kernel_manager()
        client.km.kernel_spec_manager.kernel_dirs = [str(spec.parent)]
        client.km.kernel_spec_manager.ensure_native_kernel = False
        stopped = ""
        try:
            client.execute(env=environment | settings)
        except CellExecutionError as error:
            stopped = f"{error.ename}: {error.evalue}"
        said = {}
        for cell in loaded.cells:
            outputs = cell.get("outputs", [])
            texts = (o.get("text") or "\n".join(o.get("traceback", [])) or o["data"]["text/plain"] for o in outputs)
            said[cell.id] = "".join(texts)
        return said, stopped


# ---------------------------------------------------------------- a reader


@pytest.fixture(scope="module")
def bare(wheel, tmp_path_factory):
    return Environment(tmp_path_factory.mktemp("bare"), wheel)


def test_in_an_empty_environment_it_translates_trains_and_opens_what_it_has_learned(bare):
    done = bare.run(bare.toytf, "translate", "hello world", "the small cats see a red house", "--beam", "4")
    two = "hello world -> hola mundo\nthe small cats see a red house -> los gatos pequeños ven una casa roja\n"
    assert (done.returncode, done.stdout, done.stderr) == (0, two, "")
    assert bare.installed() == {"numpy", "threadpoolctl", "tqdm", "toytf"}
    said = bare.run(bare.python, "-c", "import toytf; print(toytf.__file__)").stdout
    assert Path(said.strip()).is_relative_to(bare.place), "it is the wheel that translates"
    done = bare.run(bare.toytf, "train", "--out", "model.npz", "--steps", "2")
    assert done.returncode == 0 and "written: model.npz" in done.stdout, done.stderr
    assert bare.run(bare.toytf, "translate", "hello world", "--model", "model.npz").returncode == 0


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


def test_the_figures_need_plot_and_have_it(bare, wheel, tmp_path):
    draw = "from toytf.course import plot; print(len(plot.svg(plot.heatmap([[1.0, 2.0]], title='t').figure)) > 500)"
    refused = bare.run(bare.python, "-c", draw)
    assert refused.stderr.splitlines()[-1] == 'ImportError: figures need matplotlib: pip install "toytf[plot]"'
    more = Environment(tmp_path, f"{wheel}[plot]")
    assert more.run(more.python, "-c", draw).stdout == "True\n"


# ---------------------------------------------------------------- a student

ANSWERS = {
    "ex-08-8": check.softmax.source,
    "ex-09-1": assign_answer(check.BY_HAND["9.1"], [3, [4, 0, 0, 4], 2, 1.4142, [-1.4142, 0, 0, 1.4142]]),
}
NO_INDEX = {"PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "1"}


def assigned(folder, *words):
    """The student's notebook with right answers, in the folder that a student gets."""
    command = ["assign", "--exercises", "8.8", "9.1", "9.2", "--title", "Week 6", "--out", str(folder / "teacher")]
    assert main([*command, *map(str, words)]) == 0
    home = folder / "home"
    home.mkdir()
    for path in (folder / "teacher").glob("*.whl"):
        shutil.copyfile(path, home / path.name)
    notebook = json.loads((folder / "teacher" / "student.ipynb").read_text("utf-8"))
    for cell in notebook["cells"]:
        about = cell["metadata"].get("toytf", {})
        if about.get("role") == "answer" and about["exercise"] in ANSWERS:
            cell["source"] = ANSWERS[about["exercise"]]
    return notebook, home


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    """A kernel, pip, and nothing else: no NumPy."""
    return Environment(tmp_path_factory.mktemp("kernel"), "ipykernel")


# The other words of the first cell: classroom/tests/test_first_cell.py.
def test_without_a_network_or_a_place_the_notebook_stops_and_says_why(kernel, wheel, tmp_path):
    cases = {
        "Is there a network here?": (["--install", wheel], NO_INDEX),
        "Your teacher says where it comes from": ([], {}),
    }
    for n, (words, (options, settings)) in enumerate(cases.items()):
        (tmp_path / str(n)).mkdir()
        said, stopped = kernel.execute(*assigned(tmp_path / str(n), *options), **settings)
        assert stopped.startswith("Stop: toytf is not ready.") and said["imports"] == ""
        assert words in said["needs"] and "Traceback" not in said["needs"]


def test_with_the_wheel_beside_it_the_notebook_runs_to_its_end_and_the_next_day_offline(kernel, wheel, tmp_path):
    notebook, home = assigned(tmp_path, "--install", wheel)
    assert [path.name for path in home.iterdir()] == [wheel.name]
    for settings, needs in (({}, "Installing toytf. This takes a minute at most.\n"), (NO_INDEX, "")):
        said, stopped = kernel.execute(notebook, home, **settings)
        assert (stopped, said["needs"]) == ("", needs)
        assert said["ex-08-8-check"].startswith("softmax: right, on") and said["ex-08-8-check"].endswith("\n2")
        assert said["ex-09-1-check"].count(": right.") == 5
