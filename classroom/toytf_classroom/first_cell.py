"""The first cell of a student's notebook: it makes `toytf` ready, or says in plain words what to do.

Where `toytf` is there, the cell says nothing. Where it is missing, pip installs what the teacher named. Without
``--install`` nothing is installed, and the cell says so: whose package of that name an index has is not known here.
"""

import re
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

from toytf import __version__

WHEEL = f"toytf-{__version__}-py3-none-any.whl"
REQUIREMENT = re.compile(r"[A-Za-z0-9][\w.-]*(\[[\w,.-]+\])?==[\w.!+]+")
ADDRESS = re.compile(r"(git\+)?(https://|http://127\.0\.0\.1[:/])[^\s\"'\\{}]+")

FOLDED = {"jupyter": {"source_hidden": True}, "cellView": "form"}  # in JupyterLab and in Colab

# ---------------------------------------------------------------- the cell

START = '''\
# @title First this cell: is toytf here?
# Run it before the others. You need not read it, and nothing in it is an exercise.
import importlib
import site
import subprocess
import sys
from pathlib import Path


def _make_ready(what, version):
    class Stop(Exception):
        def _render_traceback_(self):  # Jupyter shows these words, and no traceback
            return str(self).splitlines()

    def stop(*words):
        raise Stop("\\n".join(["toytf is not ready.", "", *words, "", "Then run this cell again."]))

    def found():
        """Which toytf is here; None if there is none, "" if it says no version."""
        importlib.invalidate_caches()
        try:
            import toytf
            from toytf import check
            from toytf.byhand import fmt
        except ImportError as error:
            module = str(error.name)
            if isinstance(error, ModuleNotFoundError) and (module == "toytf" or not module.startswith("toytf")):
                return None  # it is missing, or NumPy is
            it = sys.modules.get("toytf")
            place = getattr(it, "__file__", None) or list(getattr(it, "__path__", ["?"]))[0]
            stop("A package of the name toytf is here that is not the course's: " + place,
                 "Take it away, in a cell of its own:   %pip uninstall -y toytf",
                 "If it is a folder beside this notebook, give it another name. Then restart the kernel.")
        return getattr(toytf, "__version__", "")
{BODY}

try:
    _make_ready("{WHAT}", "{VERSION}")
finally:
    del _make_ready
'''
FIND = """
    if sys.version_info < (3, 11):
        stop("It needs Python 3.11 or newer, and this is Python " + sys.version.split()[0] + ".",
             "Choose another kernel (menu Kernel), or install a newer Python from python.org.",
             "On a JupyterHub: ask the people who run it.")
    here = found()
    if here is None:
"""
NOWHERE = """\
        stop("It is not installed in this Python: " + sys.executable,
             "Your teacher says where it comes from: a file that ends in .whl, or an address. With that,",
             "put in quotation marks, run in a cell of its own:   %pip install \\"FILE OR ADDRESS\\"",
             "Do not install a package of this name from anywhere else: it may be somebody else's.")
"""
BY_PIP = """\
        file = what if what.endswith(".whl") and "/" not in what else ""
        if file and not Path(file).is_file():
            stop("This notebook needs the file " + file + " beside it. It was handed out with the notebook.",
                 "Put it into the folder " + str(Path.cwd()),
                 "In Colab: click on the sign of a folder at the left edge, and drag the file into the list.")
        print("Installing toytf. This takes a minute at most.")
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check",
               "--retries", "1", "--timeout", "20", what]
        done = subprocess.run(pip, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              encoding="utf-8", errors="replace")
        if done.returncode:
            said = done.stdout.strip()
            locked = ("This Python may not be changed: " + sys.executable,
                      "On a JupyterHub: ask the people who run it to install " + what,
                      "On your own computer, in a terminal: python3 -m venv mine, mine/bin/pip install jupyterlab,",
                      "and start mine/bin/jupyter lab.")
            offline = ("What is needed could not be fetched. Is there a network here? Then run this cell again.",
                       "The file is here, but NumPy, tqdm or threadpoolctl is missing beside it." if file else "",
                       "Without a network, ask whoever looks after this computer to install " + what)
            known = {
                "No module named pip": ("This Python has no pip, which installs packages. In a terminal:",
                                        "    " + sys.executable + " -m ensurepip"),
                "externally-managed-environment": locked, "Read-only file": locked, "Permission denied": locked,
                "resolve": offline, "onnection": offline, "unreachable": offline, "timed out": offline,
                "No matching distribution": offline,
            }
            words = [known[sign] for sign in known if sign in said]
            words += [("pip could not install it. Show these lines to your teacher.",)]
            stop(*words[0], "", "What pip said:", *("    " + line for line in said.splitlines()[-4:]))
        mine = site.getusersitepackages()  # where pip goes if the rest is not ours; perhaps it is new
        if site.ENABLE_USER_SITE and Path(mine).is_dir():
            site.addsitedir(mine)
        here = found()
        if here is None:
            stop("It is installed, but this kernel does not find it. Restart the kernel (menu Kernel).")
"""
OTHER = """\
    if here not in ("", version):
        print("toytf " + here + " is here; this notebook was made with " + version
              + ". If a check below is missing, tell your teacher.")
"""


@dataclass(frozen=True)
class Ready:
    """How a student's notebook gets `toytf`: the code of its first cell, files beside it, and what pip would say."""

    cell: str
    beside: dict[str, bytes] = field(default_factory=dict)
    requirement: str = ""


def _cell(body: str, what: str) -> str:
    text = START.replace("{BODY}", (FIND + body + OTHER).rstrip("\n"))
    return text.replace("{WHAT}", what).replace("{VERSION}", __version__).rstrip("\n")


# ---------------------------------------------------------------- the place that a teacher names


def named(where: str | None = None) -> Ready:
    """What follows from ``--install WHERE``: a wheel, an address, a requirement with its version.

    `ValueError` if it is none of these, or a wheel of another package or another version.

    >>> named("toytf==0.1.0").cell.splitlines()[-3]
    '    _make_ready("toytf==0.1.0", "0.1.0")'
    """
    if where is None:
        return Ready(_cell(NOWHERE, ""))
    if ADDRESS.fullmatch(where):
        return Ready(_cell(BY_PIP, f"toytf @ {where}"), requirement=f"toytf @ {where}")
    if REQUIREMENT.fullmatch(where):
        return Ready(_cell(BY_PIP, where), requirement=where)
    path = Path(where)
    if path.name == WHEEL and zipfile.is_zipfile(path):
        return Ready(_cell(BY_PIP, WHEEL), {WHEEL: path.read_bytes()})
    raise ValueError(
        f"--install: expected a wheel ({WHEEL}), an address (https://...) or a package with its version "
        f"(toytf=={__version__}), got {where}"
    )
