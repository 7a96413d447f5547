"""The site of `make lite` in Chromium, which reaches nobody: what starts from the site alone, and what is said."""

import contextlib
import functools
import hashlib
import http.server
import importlib.util
import io
import json
import subprocess
import threading
import zipfile
from pathlib import Path

import pytest

import sitecheck

ROOT = Path(__file__).resolve().parent.parent.parent
CHAPTER = "lab/index.html?path=02_words_become_vectors.ipynb"


@pytest.fixture(scope="module")
def build():
    spec = importlib.util.spec_from_file_location("lite_build", ROOT / "book" / "lite" / "build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if not module.LITE.exists():
        pytest.skip("JupyterLite is not installed (make lite)")
    return module


@pytest.fixture(scope="module")
def site(build, tmp_path_factory):
    folder = tmp_path_factory.mktemp("lite")
    return build.build(folder / "site", build.CACHE, folder / "work")


class Counting(sitecheck.Quiet):
    """Counts the bytes that leave."""

    sent = 0

    def copyfile(self, source, outputfile):
        content = source.read()
        type(self).sent += len(content)
        outputfile.write(content)


@pytest.fixture(scope="module")
def address(site):
    handler = functools.partial(Counting, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


class Notebook:
    """A notebook in JupyterLab, and what was asked of others meanwhile."""

    def __init__(self, page, address):
        self.page, self.elsewhere, self.problems = page, [], []
        page.on("request", self._asked)
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.goto(address + CHAPTER)
        page.locator(".jp-Notebook .jp-CodeCell").first.wait_for()
        # what is run before there is a kernel, JupyterLab drops without a word
        page.get_by_text("Python (Pyodide) | Idle").wait_for()

    def _asked(self, request):
        if not request.url.startswith(("http://127.0.0.1:", "data:", "blob:")):
            self.elsewhere.append(request.url)

    def run(self, code=None, cell=0):
        """Run a cell, with other code if some is given; its output as text."""
        where = self.page.locator(".jp-Notebook .jp-CodeCell").nth(cell)
        prompt = where.locator(".jp-InputPrompt")
        before = prompt.inner_text()
        where.locator(".cm-content").click()
        if code is not None:
            self.page.keyboard.press("Control+a")
            self.page.keyboard.insert_text(code)
        self.page.keyboard.press("Control+Enter")
        while (now := prompt.inner_text()) == before or "*" in now or not now.strip(" []:\n"):
            self.page.wait_for_timeout(200)
        return where.locator(".jp-OutputArea").inner_text()


@pytest.fixture(scope="module")
def offline(browser, address):
    """A notebook in a browser that reaches the site alone."""
    with contextlib.closing(browser.new_context(viewport={"width": 1280, "height": 900})) as context:
        yield Notebook(context.new_page(), address)


def test_the_version_of_pyodide_is_the_one_that_the_kernel_knows(build):
    asks = "from jupyterlite_pyodide_kernel.constants import *; print(PYODIDE_VERSION, PYODIDE_PYTHON_VERSION)"
    done = subprocess.run([build.LITE, "-c", asks], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [build.PYODIDE, build.PYODIDE_PYTHON]


def test_all_that_starts_is_in_the_site_and_numpy_has_a_hash(build, site):
    listed = json.loads((site / "static/pyodide/pyodide-lock.json").read_text("utf-8"))["packages"]
    near = {name for name, package in listed.items() if "://" not in package["file_name"]}
    for name in near:
        file = (site / "static/pyodide" / listed[name]["file_name"]).resolve()
        assert hashlib.sha256(file.read_bytes()).hexdigest() == listed[name]["sha256"]
    todo = [*build.FIRST_PACKAGES, "toytf"]
    while todo:
        name = todo.pop()
        if name == "numpy":
            continue
        assert name in near
        todo += [need for need in listed[name]["depends"] if need not in todo]
    assert listed["numpy"]["file_name"].startswith(build.PYODIDE_ADDRESS)
    assert len(listed["numpy"]["sha256"]) == len(listed["matplotlib"]["sha256"]) == 64
    assert "toytf" in json.loads((site / "pypi/all.json").read_text("utf-8"))


def test_the_wheel_of_toytf_is_made_of_the_files_of_today(site):
    with zipfile.ZipFile(next(site.glob("pypi/toytf-[0-9]*.whl"))) as opened:
        for name in ("toytf/ops.py", "toytf/model.py", "toytf/byhand/panels.py"):
            assert opened.read(name) == (ROOT / name).read_bytes()


def test_the_first_page_leads_to_the_notebooks(browser, address):
    with contextlib.closing(browser.new_context(viewport={"width": 390, "height": 844})) as context:
        page = context.new_page()
        page.goto(address)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.get_by_role("link", name="2. Words become vectors").click()
        page.wait_for_url("**/lab/index.html?path=02_words_become_vectors.ipynb")


def test_python_starts_from_the_site_alone_and_computes(offline):
    assert offline.run("1 + 1").splitlines()[-1] == "2"
    print(f"{Counting.sent / 1e6:.1f} MB until 1 + 1 is computed")
    assert offline.elsewhere == []
    assert offline.problems == []


def test_the_first_cell_says_what_cannot_be_had(offline):
    said = offline.run("import toytf_lite\n\nawait toytf_lite.load()")
    assert "NumPy and matplotlib could not be fetched" in said
    assert "cdn.jsdelivr.net" in said
    assert "Traceback" not in said
    assert {url.split("/")[2] for url in offline.elsewhere} == {"cdn.jsdelivr.net"}


@pytest.mark.parametrize("code", ["import numpy as np", "from toytf import ops", "import toytf.model"])
def test_any_other_cell_says_it_too(offline, code):
    said = offline.run(code)
    assert "NumPy could not be fetched" in said
    assert "Traceback" not in said


def test_other_mistakes_look_as_always(offline):
    assert "No module named 'nothing_like_it'" in offline.run("import nothing_like_it")
    assert "ZeroDivisionError" in offline.run("1 / 0")


def test_pip_in_a_cell_finds_the_wheel_of_toytf(offline):
    assert "here: " in offline.run("%pip install toytf\nimport toytf\nprint('here:', toytf.__version__)")


# ---------------------------------------------------------------- a network that answers as we like


def stand_in(name, version):
    """The bytes of a wheel that can be imported and computes nothing."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as opened:
        opened.writestr(f"{name}.py", f"stands_in_for = '{name}'\n")
        opened.writestr(f"{name}-{version}.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\n")
        opened.writestr(f"{name}-{version}.dist-info/RECORD", "")
        opened.writestr(f"{name}-{version}.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\n")
    return file.getvalue()


@contextlib.contextmanager
def network(browser, address, site, *, pinned):
    """A notebook whose network gives stand-ins for every wheel; `pinned`: their hashes stand in the site's list."""
    listed = json.loads((site / "static/pyodide/pyodide-lock.json").read_text("utf-8"))
    wheels = {}
    for package in listed["packages"].values():
        if "://" in package["file_name"] and package["package_type"] == "package":
            wheels[package["file_name"]] = stand_in(package["name"].replace("-", "_"), package["version"])
            if pinned:
                package["sha256"] = hashlib.sha256(wheels[package["file_name"]]).hexdigest()

    def answer(route):
        route.fulfill(body=wheels[route.request.url], headers={"Access-Control-Allow-Origin": "*"})

    with contextlib.closing(browser.new_context(service_workers="block")) as context:
        context.route("https://cdn.jsdelivr.net/**", answer)
        context.route("**/pyodide-lock.json", lambda route: route.fulfill(json=listed))
        yield Notebook(context.new_page(), address)


def test_what_comes_with_the_pinned_hash_is_taken(browser, address, site):
    with network(browser, address, site, pinned=True) as notebook:
        assert notebook.run().rstrip().endswith("Everything is here.")
        assert "numpy" in notebook.run("import numpy\nprint(numpy.stands_in_for)")


def test_what_comes_with_another_hash_is_refused(browser, address, site):
    with network(browser, address, site, pinned=False) as notebook:
        assert "NumPy and matplotlib could not be fetched" in notebook.run()


def test_a_network_that_never_answers_does_not_hold_the_cell(browser, address):
    with contextlib.closing(browser.new_context(service_workers="block")) as context:
        context.route("https://cdn.jsdelivr.net/**", lambda route: None)
        notebook = Notebook(context.new_page(), address)
        assert "Nothing came for 3 seconds" in notebook.run("import toytf_lite\nawait toytf_lite.load(seconds=3)")
