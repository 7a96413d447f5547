"""A student's first minute: the notebook runs to its end where nothing is but Jupyter's kernel, or says why not."""

import json
import os
import shutil
import subprocess
import sys

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from test_wheel import BIN, call, wheel  # noqa: F401  (the wheel is a fixture)

from toytf import check
from toytf_classroom.__main__ import main
from toytf_classroom.assign import assign_answer

ANSWERS = {
    "ex-08-8": check.softmax.source,
    "ex-09-1": assign_answer(check.BY_HAND["9.1"], [3, [4, 0, 0, 4], 2, 1.4142, [-1.4142, 0, 0, 1.4142]]),
}
ALONE = {"PIP_CONFIG_FILE": os.devnull}  # no settings of this machine
NO_INDEX = {**ALONE, "PIP_NO_INDEX": "1"}
READ_ONLY = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/var/tmp"]


class Kernel:
    """An environment of its own with a kernel in it, and what else is named."""

    def __init__(self, place, *packages, pip=True):
        self.place = place
        subprocess.run([sys.executable, "-m", "venv", str(place / "venv")], check=True)
        self.python = place / "venv" / BIN / "python"
        done = call(self.python, "-m", "pip", "install", "-q", "ipykernel", *packages, place=place)
        assert done.returncode == 0, done.stderr
        if not pip:
            call(self.python, "-m", "pip", "uninstall", "-q", "-y", "pip", place=place)

    def run(self, notebook, folder, environment=(), before=()):
        """Execute a notebook in a folder; what each cell said, by its id, and the words that stopped it."""
        spec = self.place / "share" / "kernels" / "python3"
        shutil.rmtree(spec, ignore_errors=True)
        spec.mkdir(parents=True)
        command = [*before, str(self.python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        (spec / "kernel.json").write_text(json.dumps({"argv": command, "display_name": "x", "language": "python"}))
        ours = ("PYTHON", "TOYTF", *(["PIP_"] if environment else []))
        settings = {k: v for k, v in os.environ.items() if not k.startswith(ours)}
        settings |= {"JUPYTER_PATH": str(self.place / "share"), **dict(environment)}
        loaded = nbformat.reads(json.dumps(notebook), as_version=4)
        loaded.metadata.kernelspec.name = "python3"
        client = NotebookClient(loaded, startup_timeout=300, resources={"metadata": {"path": str(folder)}})
        client.create_kernel_manager()
        client.km.kernel_spec_manager.kernel_dirs = [str(spec.parent)]
        client.km.kernel_spec_manager.ensure_native_kernel = False
        stopped = ""
        try:
            client.execute(env=settings)
        except CellExecutionError as error:
            stopped = f"{error.ename}: {error.evalue}"
        said = {}
        for cell in loaded.cells:
            outputs = cell.get("outputs", [])
            said[cell.id] = "".join(
                o.get("text") or "\n".join(o.get("traceback", [])) or o["data"]["text/plain"] for o in outputs
            )
        return said, stopped

    def has(self, package):
        return call(self.python, "-c", f"import {package}", place=self.place).returncode == 0


def assigned(folder, *words):
    """The folder that a student gets: notebook, and what lies beside it."""
    command = ["assign", "--exercises", "8.8", "9.1", "9.2", "--title", "Week 6", "--out", str(folder / "teacher")]
    assert main([*command, *map(str, words)]) == 0
    home = folder / "home"
    home.mkdir()
    for path in (folder / "teacher").iterdir():
        if path.suffix == ".whl":
            shutil.copyfile(path, home / path.name)
    return json.loads((folder / "teacher" / "student.ipynb").read_text("utf-8")), home


def solved(notebook):
    for cell in notebook["cells"]:
        about = cell["metadata"].get("toytf", {})
        if about.get("role") == "answer" and about["exercise"] in ANSWERS:
            cell["source"] = ANSWERS[about["exercise"]]
    return notebook


def all_right(said):
    assert said["ex-08-8-check"].startswith("softmax: right, on") and said["ex-08-8-check"].endswith("\n2")
    assert said["ex-09-1-check"].count(": right.") == 5


@pytest.fixture
def empty(tmp_path):
    """A kernel, pip, and nothing else: no NumPy."""
    (tmp_path / "made").mkdir()
    return Kernel(tmp_path / "made")


@pytest.fixture(scope="module")
def stays_empty(tmp_path_factory):
    """The same for tests in which nothing is installed in the end."""
    return Kernel(tmp_path_factory.mktemp("empty"))


@pytest.fixture(scope="module")
def with_numpy(tmp_path_factory):
    return Kernel(tmp_path_factory.mktemp("numpy"), "numpy")


# ---------------------------------------------------------------- it runs


def test_in_an_empty_environment_with_the_wheel_beside_it(empty, wheel, tmp_path):  # noqa: F811
    notebook, home = assigned(tmp_path, "--install", wheel)
    assert [path.name for path in home.iterdir()] == [wheel.name]
    assert not empty.has("toytf") and not empty.has("numpy")
    said, stopped = empty.run(solved(notebook), home)
    assert stopped == ""
    assert said["needs"] == "Installing toytf. This takes a minute at most.\n"
    all_right(said)
    said, stopped = empty.run(solved(notebook), home, NO_INDEX)  # the next day, on the train
    assert (said["needs"], stopped) == ("", "")
    all_right(said)


def test_in_an_empty_environment_without_a_network_where_numpy_lies_beside_it(empty, wheel, tmp_path):  # noqa: F811
    """As in a room of computers that has a folder of wheels; PIP_FIND_LINKS names it."""
    shelf = tmp_path / "wheels"
    needed = ["numpy", "tqdm", "threadpoolctl"]
    done = call(sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", shelf, *needed, place=tmp_path)
    assert done.returncode == 0, done.stderr
    notebook, home = assigned(tmp_path, "--install", wheel)
    said, stopped = empty.run(solved(notebook), home, {**NO_INDEX, "PIP_FIND_LINKS": str(shelf)})
    assert stopped == ""
    all_right(said)


def test_from_an_address(empty, wheel, tmp_path):  # noqa: F811
    server = subprocess.Popen(
        [sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", str(wheel.parent)],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8",
    )  # fmt: skip
    try:
        port = server.stdout.readline().split("port ")[1].split()[0]
        notebook, home = assigned(tmp_path, "--install", f"http://127.0.0.1:{port}/{wheel.name}")
        assert list(home.iterdir()) == []
        said, stopped = empty.run(solved(notebook), home)
        assert stopped == ""
        all_right(said)
    finally:
        server.terminate()
        server.wait()


def test_where_toytf_is_there_it_says_nothing(wheel, tmp_path):  # noqa: F811
    (tmp_path / "made").mkdir()
    kernel = Kernel(tmp_path / "made", wheel)
    notebook, home = assigned(tmp_path, "--install", wheel)
    (home / wheel.name).unlink()
    said, stopped = kernel.run(solved(notebook), home, NO_INDEX)
    assert (said["needs"], stopped) == ("", "")
    all_right(said)


# ---------------------------------------------------------------- it cannot run, and says why


def last_words(said, stopped):
    assert stopped.startswith("Stop: toytf is not ready.")
    assert "Traceback" not in said["needs"]
    assert said["imports"] == ""  # no later cell is run
    return said["needs"]


def test_without_a_network(stays_empty, wheel, tmp_path):  # noqa: F811
    notebook, home = assigned(tmp_path, "--install", wheel)
    words = last_words(*stays_empty.run(notebook, home, NO_INDEX))
    assert "Is there a network here?" in words
    assert "The file is here, but NumPy, tqdm or threadpoolctl is missing beside it." in words
    unreachable = {**ALONE, "PIP_INDEX_URL": "http://127.0.0.1:9/simple"}
    assert "Is there a network here?" in last_words(*stays_empty.run(notebook, home, unreachable))


def test_with_an_address_that_leads_nowhere(stays_empty, tmp_path):
    notebook, home = assigned(tmp_path, "--install", "http://127.0.0.1:9/toytf-0.1.0-py3-none-any.whl")
    assert "Is there a network here?" in last_words(*stays_empty.run(notebook, home))


def test_without_pip(tmp_path, wheel):  # noqa: F811
    (tmp_path / "made").mkdir()
    kernel = Kernel(tmp_path / "made", pip=False)
    notebook, home = assigned(tmp_path, "--install", wheel)
    words = last_words(*kernel.run(notebook, home))
    assert "This Python has no pip" in words and "-m ensurepip" in words


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap makes the disk one that may only be read")
def test_where_the_environment_may_not_be_changed(with_numpy, wheel, tmp_path):  # noqa: F811
    shelf = tmp_path / "wheels"
    needed = ["tqdm", "threadpoolctl"]
    done = call(sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", shelf, *needed, place=tmp_path)
    assert done.returncode == 0, done.stderr
    notebook, home = assigned(tmp_path, "--install", wheel)
    settings = {**NO_INDEX, "PIP_FIND_LINKS": str(shelf), "TMPDIR": "/var/tmp"}
    words = last_words(*with_numpy.run(notebook, home, settings, before=READ_ONLY))
    assert "This Python may not be changed" in words and "On a JupyterHub: ask the people who run it" in words


def test_with_no_place_named(with_numpy, tmp_path):
    notebook, home = assigned(tmp_path)
    words = last_words(*with_numpy.run(notebook, home))
    assert "Your teacher says where it comes from" in words
    assert "Do not install a package of this name from anywhere else" in words
