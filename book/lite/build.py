"""JupyterLite: the notebooks with a Python that runs in the reader's browser.

`make lite` calls this. The site in _build/lite holds JupyterLab, Pyodide's Python, what
starts before the first cell, and the wheel of toytf as it is now. NumPy and matplotlib
it does not hold: the reader's browser fetches them from Pyodide's own address, and
compares each with the hash that stands in the site.
"""

import hashlib
import html
import json
import os
import re
import shutil
import sys
import tarfile
import tempfile
import zipfile
from email.parser import BytesParser
from pathlib import Path

import nbformat
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name, parse_wheel_filename

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(ROOT / "book" / "_ext"), str(ROOT / "book")]

import npm  # noqa: E402
from npm import Failed  # noqa: E402

OUT = ROOT / "_build" / "lite"
CACHE = ROOT / "_build" / "lite-cache"
WORK = ROOT / "_build" / "lite-work"
SCRIPTS = "Scripts" if os.name == "nt" else "bin"
BIN = f".venv/{SCRIPTS}"
LITE = ROOT / ".venv-lite" / SCRIPTS / ("python.exe" if os.name == "nt" else "python")
KERNEL_LIST = ROOT / "requirements" / "lite-kernel.txt"

# The version that jupyterlite-pyodide-kernel of requirements/lite.in knows; npm tells
# the hash: `npm view pyodide@VERSION dist.integrity`.
PYODIDE = "314.0.6"
INTEGRITY = (
    "sha512-BKDTJyIqFxC4BExLqeRS3f5xvXZIjOt8C3zGLN/Cc7tFxSwvKVhVkchQQ2AGLOtR4YrVOIFxbV"
    "8poyDOOmWwxQ=="
)
PYODIDE_PACKAGE = npm.Package(
    "pyodide",
    PYODIDE,
    INTEGRITY,
    title="Pyodide",
    weighs="6 MB",
    setting="TOYTF_PYODIDE",
    command="make lite",
)
PYODIDE_PYTHON = "3.14"
PYODIDE_ADDRESS = f"https://cdn.jsdelivr.net/pyodide/v{PYODIDE}/full/"
CORE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")
LOCK = "pyodide-lock.json"
# What every kernel loads at its start, all at once.
FIRST_PACKAGES = ["micropip", "ipython", "comm", "jedi", "toytf-lite"]

FIRST_CELL = """\
# This notebook is a page of "The Transformer, Number by Number", run in your browser.
# The first time, NumPy and matplotlib come over the network.
import toytf_lite

await toytf_lite.load()
"""
# Pages of book/ that run with NumPy and matplotlib; the replays ask for more.
PAGES = ("follow", "machine")
KERNELSPEC = {
    "display_name": "Python (Pyodide)",
    "language": "python",
    "name": "python",
}
KERNEL = "@jupyterlite/pyodide-kernel-extension:kernel"


# ---------------------------------------------------------------- what is downloaded


def pyodide_archive(cache, given=None):
    """The archive with Pyodide's core, the hash compared.

    cache: folder that keeps it. given: an archive that is there already.
    """
    return npm.archive(PYODIDE_PACKAGE, cache, given)


def kernel_wheels(cache, requirements=KERNEL_LIST):
    """The folder with the wheels of the list; pip has compared them with its hashes."""
    mark = hashlib.sha256(requirements.read_bytes()).hexdigest()[:12]
    kept = cache / f"wheels-{mark}"
    if not kept.is_dir():
        print(f"Downloading {requirements.relative_to(ROOT)} with pip (5 MB, once)")
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as folder:
            new = Path(folder, "wheels")
            call = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
            call += ["--disable-pip-version-check", "--require-hashes"]
            call += ["--only-binary=:all:", f"--python-version={PYODIDE_PYTHON}"]
            call += ["--implementation=py", "--abi=none", "--platform=any"]
            call += ["--dest", str(new), "-r", str(requirements)]
            npm.run(call, "pip could not fetch these wheels. Is there a network?")
            new.replace(kept)
    return kept


# ---------------------------------------------------------------- what is made of it


def own_wheel(folder, into):
    """The wheel of a project here, made now."""
    call = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    call += ["--disable-pip-version-check", "--no-build-isolation", "--no-index"]
    before = set(into.glob("*.whl"))
    npm.run([*call, "--wheel-dir", str(into), str(folder)], f"{folder} makes no wheel")
    return (set(into.glob("*.whl")) - before).pop()


def entry(wheel, place):
    """What Pyodide's list says of a wheel.

    wheel: path of a wheel in plain Python. place: its folder, as seen from the list.
    """
    name, version, _, tags = parse_wheel_filename(wheel.name)
    if {tag.platform for tag in tags} != {"any"}:
        raise Failed(f"expected a wheel in plain Python, got {wheel.name}")
    with zipfile.ZipFile(wheel) as opened:
        files = opened.namelist()
        meta = next(one for one in files if one.endswith(".dist-info/METADATA"))
        said = BytesParser().parsebytes(opened.read(meta))
    here = {
        "sys_platform": "emscripten",
        "platform_system": "Emscripten",
        "os_name": "posix",
        "python_version": PYODIDE_PYTHON,
        "python_full_version": f"{PYODIDE_PYTHON}.0",
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
        "platform_machine": "wasm32",
        "extra": "",
    }
    needs = map(Requirement, said.get_all("Requires-Dist", []))
    heads = {one.partition("/") for one in files if one.endswith(".py")}
    heads = {head if slash else head[:-3] for head, slash, _ in heads}
    return {
        "name": str(name),
        "version": str(version),
        "file_name": f"{place}{wheel.name}",
        "install_dir": "site",
        "sha256": hashlib.sha256(wheel.read_bytes()).hexdigest(),
        "package_type": "package",
        "imports": sorted(head for head in heads if head.isidentifier()),
        "depends": sorted(
            canonicalize_name(need.name)
            for need in needs
            if need.marker is None or need.marker.evaluate(here)
        ),
        "unvendored_tests": False,
    }


def lock(published, ours, address=PYODIDE_ADDRESS):
    """Pyodide's list: our wheels are in the site, all others at Pyodide's address.

    published: the list as Pyodide has it. ours: entries of wheels in the site.

    Raises Failed when one of ours needs what nobody has.
    """
    names = {}
    packages = {}
    for key, package in published["packages"].items():
        names[canonicalize_name(key)] = key
        packages[key] = {**package, "file_name": address + package["file_name"]}
    for package in ours:
        key = names.setdefault(canonicalize_name(package["name"]), package["name"])
        packages[key] = package
    for package in ours:
        if missing := [name for name in package["depends"] if name not in names]:
            raise Failed(f"{package['name']} needs {missing}, which Pyodide has not")
    return {**published, "packages": packages}


def notebooks(into, version):
    """Write the notebooks as one downloads them, with a first cell for the browser.

    Returns (file name, title) of each, the chapters first.
    """
    from toytf_download import elsewhere

    from toytf.course.exercises import without_solutions

    written = []
    pages = sorted(ROOT.glob("notebooks/*.ipynb"))
    pages += [ROOT / "book" / f"{name}.ipynb" for name in PAGES]
    for page in pages:
        notebook = json.loads(page.read_text("utf-8"))
        if os.environ.get("TOYTF_SOLUTIONS") == "no":
            notebook = without_solutions(notebook)
        made = elsewhere(notebook, page.name, version)
        made["cells"][0]["source"] = FIRST_CELL  # in place of what to install
        made["metadata"] = {**made["metadata"], "kernelspec": KERNELSPEC}
        # JupyterLite hands lists of lines on as they are; the list of headings wants
        # texts, as nbformat has them in memory.
        whole = nbformat.reads(json.dumps(made), as_version=4)
        text = json.dumps(whole, ensure_ascii=False, indent=1)
        Path(into, page.name).write_text(f"{text}\n", "utf-8", newline="\n")
        written.append((page.name, _title(notebook)))
    return written


def _title(notebook):
    for cell in notebook["cells"]:
        if found := re.search(r"^# (.+)$", "".join(cell["source"]), re.M):
            return found[1]
    raise Failed("expected a notebook with a title, got none")


def landing(pages, megabytes, replaced):
    """The page that one meets first: what it needs, what it costs, and the notebooks.

    replaced: JupyterLite's own first page. JupyterLab reads its settings there.
    """
    config = re.search(
        r'<script\b[^>]*\bid="jupyter-config-data".*?</script>', replaced, re.S
    )
    if not config:
        raise Failed("JupyterLite's first page has no settings any more")
    rows = "\n".join(
        f'<li><a href="lab/index.html?path={name}">{html.escape(title)}</a></li>'
        for name, title in pages
    )
    text = (HERE / "index.html").read_text("utf-8")
    text = text.replace("{megabytes}", f"{megabytes:.0f}").replace("{rows}", rows)
    return text.replace("{config}", config[0])


def start_megabytes(site):
    """What a browser loads until `1 + 1` is there, without JupyterLab's own scripts."""
    files = [*site.glob("static/pyodide/*")]
    return sum(file.stat().st_size for file in files) / 1e6


# ---------------------------------------------------------------- the site


def build(out=OUT, cache=CACHE, work=WORK):
    """Make the site. Whatever goes wrong, `out` is the old one or the new one."""
    from toytf import __version__

    if not LITE.exists():
        raise Failed(f"{LITE.relative_to(ROOT)} is not there: make lite installs it")
    archive = pyodide_archive(cache, os.environ.get("TOYTF_PYODIDE"))
    wheels = kernel_wheels(cache)

    print("Making the wheel of toytf and the notebooks")
    shutil.rmtree(work, ignore_errors=True)
    core, pypi, contents = work / "static/pyodide", work / "pypi", work / "contents"
    for folder in (core, pypi, contents):
        folder.mkdir(parents=True)
    ours = []
    for wheel in sorted(wheels.glob("*.whl")):
        shutil.copy(wheel, core)
        ours.append(entry(wheel, ""))
    for folder in (ROOT, HERE / "toytf_lite"):
        ours.append(entry(own_wheel(folder, pypi), "../../pypi/"))
    with tarfile.open(archive) as opened:
        for name in (*CORE, LOCK):
            content = opened.extractfile(f"package/{name}").read()
            (core / name).write_bytes(content)
    listed = lock(json.loads((core / LOCK).read_text("utf-8")), ours)
    (core / LOCK).write_text(json.dumps(listed, indent=1), "utf-8", newline="\n")
    pages = notebooks(contents, __version__)
    (work / "jupyter-lite.json").write_text(json.dumps(settings(), indent=1), "utf-8")

    print("Making the site (half a minute)")
    new = work / "site"
    call = [
        str(LITE),
        "-m",
        "jupyterlite_core",
        "build",
        "--lite-dir",
        str(work),
        "--output-dir",
        str(new),
    ]
    call += ["--contents", str(contents), "--apps", "lab", "--no-sourcemaps"]
    call += ["--no-unused-shared-packages"]
    npm.run(call, "JupyterLite could not be built:", cwd=work)
    first = new / "index.html"
    page = landing(pages, start_megabytes(new), first.read_text("utf-8"))
    first.write_text(page, "utf-8", newline="\n")

    old = work / "old"
    if out.exists():
        out.replace(old)
    out.parent.mkdir(parents=True, exist_ok=True)
    new.replace(out)
    shutil.rmtree(work)
    return out


def settings():
    """What jupyter-lite.json says."""
    python = f"/lib/python{PYODIDE_PYTHON}/site-packages"
    kernel = {
        "loadPyodideOptions": {
            "packages": FIRST_PACKAGES,
            "env": {"PYTHONSTARTUP": f"{python}/toytf_lite/startup.py"},
        }
    }
    return {
        "jupyter-lite-schema-version": 0,
        "jupyter-config-data": {
            "appName": "The Transformer, Number by Number",
            "litePluginSettings": {KERNEL: kernel},
        },
    }


def main():
    sys.stdout.reconfigure(line_buffering=True)  # progress, in a log too
    try:
        out = build()
    except Failed as failed:
        print(f"make lite: {failed}", file=sys.stderr)
        return 1
    size = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
    place = out.relative_to(ROOT)
    print(f"\nThe site is built: {place}, {size / 1e6:.0f} MB. It wants a server:")
    call = f"{BIN}/python -m http.server --bind 127.0.0.1 --directory {place}"
    print(f"    {call}\n    and open http://127.0.0.1:8000")
    print(f"When somebody runs a notebook, NumPy comes from {PYODIDE_ADDRESS}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
