"""JupyterLite: the notebooks with a Python that runs in the reader's browser, made by JupyterLite's own builder.

The site holds JupyterLab, the notebooks and the wheel of toytf as it is now. Python itself, NumPy and matplotlib the
reader's browser fetches from Pyodide's own address, and nothing from anywhere else.
"""

import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import nbformat

from pages import ROOT, FormError

sys.path.insert(0, str(ROOT / "book" / "_ext"))
from toytf_download import elsewhere

from toytf import __version__
from toytf.course.exercises import without_solutions

HERE = Path(__file__).resolve().parent
LITE = ROOT / ".venv-lite" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
# Pages of book/ that run with NumPy and matplotlib; the replays ask for more.
PAGES = ("follow", "machine")
FIRST_CELL = """\
# This notebook is a page of "The Transformer, Number by Number", run in your browser.
# The first time, NumPy and matplotlib come over the network; this can take a minute.
%pip install -q "toytf[book,plot]"
"""
KERNEL = {"display_name": "Python (Pyodide)", "language": "python", "name": "python"}


def notebooks(into, solutions=True):
    """Write the notebooks as one downloads them, with a first cell for the browser; returns the title of each."""
    titles = {}
    for page in [*sorted(ROOT.glob("notebooks/*.ipynb")), *(ROOT / "book" / f"{name}.ipynb" for name in PAGES)]:
        notebook = json.loads(page.read_text("utf-8"))
        if not solutions:
            notebook = without_solutions(notebook)
        made = elsewhere(notebook, page.name, __version__)
        made["cells"][0]["source"] = FIRST_CELL  # in place of what to install
        made["metadata"]["kernelspec"] = KERNEL
        # JupyterLite's list of headings wants each cell's text whole, as nbformat has it in memory
        whole = nbformat.reads(json.dumps(made), as_version=4)
        Path(into, page.name).write_text(json.dumps(whole, ensure_ascii=False, indent=1) + "\n", "utf-8")
        text = "\n".join("".join(cell["source"]) for cell in notebook["cells"])
        titles[page.name] = re.search(r"^# (.+)$", text, re.M)[1]
    return titles


def landing(titles, replaced):
    """The page that one meets first; JupyterLab reads its settings in the one that it replaces."""
    config = re.search(r'<script\b[^>]*\bid="jupyter-config-data".*?</script>', replaced, re.DOTALL)[0]
    rows = [f'<li><a href="lab/index.html?path={name}">{html.escape(title)}</a></li>' for name, title in titles.items()]
    text = (HERE / "lite.html").read_text("utf-8")
    return text.replace("{rows}", "\n".join(rows)).replace("{config}", config)


def run(call, folder):
    """Run a command; what it says is shown if it fails."""
    done = subprocess.run(list(map(str, call)), cwd=folder, capture_output=True, encoding="utf-8")
    if done.returncode:
        raise FormError(f"{' '.join(map(str, call[1:4]))} failed:\n{(done.stdout + done.stderr)[-3000:]}")


def make(site, out, python=LITE):
    """Make the site with the notebooks in the folder `out`/lite; returns it."""
    if not python.exists():
        raise FormError(f"expected JupyterLite in {python}, found nothing: make forms FORMS=lite installs it")
    with tempfile.TemporaryDirectory(dir=out) as folder:
        work, contents = Path(folder), Path(folder, "contents")
        contents.mkdir()
        # JupyterLite takes these wheels: toytf's, and what kernel and course need beside Pyodide's own
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
        run([*pip, "wheel", "--no-deps", "--no-build-isolation", "--no-index", "-w", work / "pypi", ROOT], work)
        pure = ["--only-binary=:all:", "--python-version=3.14", "--implementation=py", "--abi=none", "--platform=any"]
        wheels = ["--require-hashes", "-r", ROOT / "requirements" / "lite-kernel.txt"]
        run([*pip, "download", "--no-deps", *pure, "--dest", work / "pypi", *wheels], work)
        titles = notebooks(contents, os.environ.get("TOYTF_SOLUTIONS") != "no")
        build = [python, "-m", "jupyterlite_core", "build", "--lite-dir", work, "--output-dir", work / "site"]
        run([*build, "--contents", contents, "--apps", "lab", "--no-sourcemaps", "--no-unused-shared-packages"], work)
        first = work / "site" / "index.html"
        first.write_text(landing(titles, first.read_text("utf-8")), "utf-8")
        shutil.rmtree(Path(out, "lite"), ignore_errors=True)
        (work / "site").replace(Path(out, "lite"))
    return Path(out, "lite")
