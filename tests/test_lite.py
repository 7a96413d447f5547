"""The site of `make lite`, as far as it can be held without a browser: what goes in, what is refused, what is said."""

import asyncio
import hashlib
import importlib.util
import json
import subprocess
import sys
import types
import zipfile
from html.parser import HTMLParser
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LITE = ROOT / "book" / "lite"


def loaded(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def build():
    return loaded("lite_build", LITE / "build.py")


def wheel(folder, name="thing-1.0-py3-none-any.whl", needs=()):
    """A wheel with a package, a module and some needs."""
    path = folder / name
    lines = ["Metadata-Version: 2.1", "Name: thing", "Version: 1.0", *(f"Requires-Dist: {need}" for need in needs)]
    with zipfile.ZipFile(path, "w") as opened:
        for file in ("thing/__init__.py", "thing/inner/deep.py", "alone.py", "thing-1.0.data/scripts/run.py"):
            opened.writestr(file, "")
        opened.writestr("thing-1.0.dist-info/METADATA", "\n".join(lines))
    return path


# ---------------------------------------------------------------- the list of packages


def test_a_wheel_is_listed_with_its_hash_its_imports_and_what_it_needs_in_a_browser(build, tmp_path):
    needs = ["numpy>=1", 'pexpect; sys_platform == "linux"', "Typing_Extensions", 'pytest; extra == "test"']
    path = wheel(tmp_path, needs=needs)
    entry = build.entry(path, "../../pypi/")
    assert entry["file_name"] == "../../pypi/thing-1.0-py3-none-any.whl"
    assert entry["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert entry["imports"] == ["alone", "thing"]
    assert entry["depends"] == ["numpy", "typing-extensions"]


def test_a_wheel_for_one_machine_is_refused(build, tmp_path):
    with pytest.raises(build.Failed, match="expected a wheel in plain Python, got thing"):
        build.entry(wheel(tmp_path, "thing-1.0-cp311-cp311-win_amd64.whl"), "")


def listed(name, depends=()):
    file_name = f"{name}-1-py3-none-any.whl"
    return {"name": name, "version": "1", "file_name": file_name, "sha256": "00", "depends": list(depends)}


def test_ours_stand_in_the_site_and_others_at_pyodides_address_with_their_hashes(build):
    published = {"info": {"python": "3.14.2"}, "packages": {"num": listed("num"), "a_b": listed("a_b")}}
    made = build.lock(published, [{**listed("a-b", ["num"]), "sha256": "11"}], "https://there/")
    assert made["info"] == published["info"]
    assert made["packages"]["num"] == {**listed("num"), "file_name": "https://there/num-1-py3-none-any.whl"}
    assert made["packages"]["a_b"]["file_name"] == "a-b-1-py3-none-any.whl"  # one entry, however it is written
    assert made["packages"]["a_b"]["sha256"] == "11"
    assert published["packages"]["num"] == listed("num")


def test_a_need_that_nobody_has_is_named(build):
    with pytest.raises(build.Failed, match=r"thing needs \['nowhere'\]"):
        build.lock({"packages": {"num": listed("num")}}, [listed("thing", ["num", "nowhere"])])


# ---------------------------------------------------------------- what is downloaded


def test_another_archive_than_the_pinned_one_is_refused(build, tmp_path):
    given = tmp_path / "pyodide.tgz"
    given.write_bytes(b"something else")
    with pytest.raises(
        build.Failed, match=r"pyodide.tgz is not what was pinned:\nexpected sha512-BKDT.*\ngot      sha512-"
    ):
        build.pyodide_archive(tmp_path, str(given))
    with pytest.raises(build.Failed, match="TOYTF_PYODIDE: expected a file, got '/not/here'"):
        build.pyodide_archive(tmp_path, "/not/here")


def test_a_machine_without_npm_hears_what_to_do(build, tmp_path, monkeypatch):
    monkeypatch.setattr(build.shutil, "which", lambda name: None)
    with pytest.raises(build.Failed, match=r"npm is not installed(.|\n)*TOYTF_PYODIDE="):
        build.pyodide_archive(tmp_path)


@pytest.mark.parametrize("what", ["pyodide_archive", "kernel_wheels"])
def test_a_machine_without_a_network_hears_so_and_nothing_half_written_stays(build, tmp_path, monkeypatch, what):
    def run(call, **options):
        into = Path(call[call.index("--pack-destination" if "pack" in call else "--dest") + 1])
        into.mkdir(exist_ok=True)
        (into / "half").write_text("written")
        return subprocess.CompletedProcess(call, 1, "", "getaddrinfo failed")

    monkeypatch.setattr(build.shutil, "which", lambda name: "npm")
    monkeypatch.setattr(build.npm.subprocess, "run", run)
    monkeypatch.setattr(build, "KERNEL_LIST", LITE / "index.html")  # any file
    with pytest.raises(build.Failed, match=r"Is there a network\?\ngetaddrinfo failed"):
        getattr(build, what)(tmp_path, *([LITE / "index.html"] if what == "kernel_wheels" else []))
    assert list(tmp_path.iterdir()) == []


def test_a_build_that_fails_leaves_the_old_site_and_says_why(build, tmp_path, monkeypatch, capsys):
    old = tmp_path / "lite"
    old.mkdir()
    (old / "index.html").write_text("old")

    def fail(cache, given=None):
        raise build.Failed("no archive today")

    monkeypatch.setattr(build, "LITE", Path(sys.executable))
    monkeypatch.setattr(build, "pyodide_archive", fail)
    monkeypatch.setattr(sys, "stdout", sys.__stdout__)  # a stand-in has no line buffering
    monkeypatch.setattr(build.build, "__defaults__", (old, tmp_path / "cache", tmp_path / "work"))
    assert build.main() == 1
    assert capsys.readouterr().err == "make lite: no archive today\n"
    assert (old / "index.html").read_text() == "old"


# ---------------------------------------------------------------- notebooks, first page


@pytest.fixture(scope="module")
def written(build, tmp_path_factory):
    folder = tmp_path_factory.mktemp("contents")
    return folder, build.notebooks(folder, "1.2.3")


def test_every_chapter_is_there_with_a_first_cell_for_the_browser(written):
    folder, pages = written
    names = [name for name, _ in pages]
    assert names[:-2] == sorted(path.name for path in (ROOT / "notebooks").glob("*.ipynb"))
    assert names[-2:] == ["follow.ipynb", "machine.ipynb"]
    assert pages[1] == ("02_words_become_vectors.ipynb", "2. Words become vectors")
    for name in names:
        made = json.loads((folder / name).read_text("utf-8"))
        assert "await toytf_lite.load()" in made["cells"][0]["source"]
        assert made["metadata"]["kernelspec"]["name"] == "python"
        # lists of lines break JupyterLite's list of headings
        assert all(isinstance(cell["source"], str) for cell in made["cells"])
        assert not any(":::{" in cell["source"] for cell in made["cells"])


class Links(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found += [value for name, value in attrs if name == "href"]


def test_the_first_page_says_what_it_costs_links_every_notebook_and_keeps_the_settings(build):
    config = '<script id="jupyter-config-data" type="application/json">\n{}\n</script>'
    page = build.landing([("05_a.ipynb", "5. A & B")], 17.6, f"<html>{config}</html>")
    assert "18 MB" in page
    assert "5. A &amp; B" in page
    assert config in page
    assert "lab/index.html?path=05_a.ipynb" in Links(page).found
    assert not set("{}") & set(page.partition("<body>")[2])
    with pytest.raises(build.Failed, match="no settings"):
        build.landing([], 1, "<html></html>")


# ---------------------------------------------------------------- in the reader's browser


class Pyodide:
    """What toytf_lite asks of Pyodide; `there` can be fetched, and each fetch takes some seconds."""

    def __init__(self, there, takes=0):
        self.there, self.takes, self.have, self.asked = there, takes, {}, 0
        self.loadedPackages = self
        numpy = types.SimpleNamespace(file_name="https://pyodide.example/numpy.whl")
        self.lockfile = types.SimpleNamespace(packages=types.SimpleNamespace(numpy=numpy))

    def to_py(self):
        return dict(self.have)

    async def loadPackage(self, names, messageCallback, errorCallback):
        self.asked += 1
        await asyncio.sleep(self.takes)
        for name in names:
            if name in self.there:
                self.have[name] = "default channel"
            else:
                errorCallback(f"Failed to fetch {name}")


@pytest.fixture(scope="module")
def lite():
    return loaded("toytf_lite", LITE / "toytf_lite" / "toytf_lite" / "__init__.py")


@pytest.fixture
def pyodide(monkeypatch):
    def make(*arguments, **settings):
        made = Pyodide(*arguments, **settings)
        monkeypatch.setitem(sys.modules, "pyodide_js", made)
        return made

    return make


def test_what_comes_is_announced_and_asked_for_once(lite, pyodide, capsys):
    made = pyodide(lite.NEEDED)
    asyncio.run(lite.load())
    said = capsys.readouterr().out
    assert said.startswith("Fetching NumPy and matplotlib, once")
    assert said.endswith("Everything is here.\n")
    asyncio.run(lite.load())
    assert capsys.readouterr().out == ""
    assert made.asked == 1


def test_what_does_not_come_is_named_with_its_address(lite, pyodide):
    pyodide(["toytf", "mdit-py-plugins", "matplotlib"])
    with pytest.raises(ModuleNotFoundError) as caught:
        asyncio.run(lite.load())
    words = caught.value._render_traceback_()[0]
    assert words.startswith("NotHere: NumPy could not be fetched")
    assert "Failed to fetch numpy" in words
    assert "pyodide.example" in words


def test_what_never_comes_does_not_hold_the_cell(lite, pyodide):
    pyodide(lite.NEEDED, takes=60)
    with pytest.raises(lite.NotHere, match=r"Nothing came for 0\.05 seconds"):
        asyncio.run(lite.load(seconds=0.05))


class Shell:
    """Keeps the handler, and what it shows."""

    def set_custom_exc(self, kinds, handler):
        self.kinds, self.handler = kinds, handler

    def showtraceback(self, found, tb_offset=None):
        self.shown = found[1]


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (ModuleNotFoundError("No module named 'numpy'", name="numpy"), "NumPy could not be fetched"),
        (ModuleNotFoundError("No module named 'numpy.linalg'", name="numpy.linalg"), "NumPy could not be fetched"),
        (ModuleNotFoundError("The module 'numpy' is not installed"), "NumPy could not be fetched"),
        (ModuleNotFoundError("No module named 'nump'", name="nump"), "No module named 'nump'"),
        (ModuleNotFoundError("gone"), "gone"),
    ],
)
def test_any_cell_that_wants_numpy_in_vain_says_so_in_words(lite, pyodide, monkeypatch, error, says):
    pyodide([])
    monkeypatch.delitem(sys.modules, "numpy", raising=False)
    shell = Shell()
    lite.explain(shell)
    shell.handler(shell, type(error), error, None)
    assert shell.kinds == (ModuleNotFoundError,)
    assert str(shell.shown).startswith(says)


def test_what_load_has_said_stands(lite, pyodide, monkeypatch):
    pyodide([])
    monkeypatch.delitem(sys.modules, "numpy", raising=False)
    shell, said = Shell(), lite.NotHere("NumPy and matplotlib: the whole story", name="numpy")
    lite.explain(shell)
    shell.handler(shell, lite.NotHere, said, None)
    assert shell.shown is said
