"""Open the notebooks in JupyterLab: `make lab`."""

import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
FIRST = "notebooks/01_overview.ipynb"
EXTENSION = "jupyterlab-myst"  # draws exercises, notes and links between headings
ENABLE = f"jupyter labextension enable {EXTENSION}"
WITHOUT = """\
{what}
Exercises, solutions and notes will show as lines that begin with ":::", and solutions
are in plain sight. Everything runs all the same. To get the versions that this course
was tried with:

    {python} -m pip install --require-hashes -r requirements/lab.txt
"""


def problem(listed):
    """What is wrong with the extension, from `jupyter labextension list`; or None."""
    line = re.search(rf"^\s*{EXTENSION} v(\S+) (.*)$", _plain(listed), re.MULTILINE)
    lab = re.search(r"^JupyterLab v(\S+)", _plain(listed), re.MULTILINE)
    if not line:
        return f"{EXTENSION} is not installed."
    if "enabled" not in line[2]:
        return f"{EXTENSION} {line[1]} is disabled. (Enable it: {ENABLE})"
    if "OK" not in line[2].split():
        which = f" {lab[1]}" if lab else ""
        return f"{EXTENSION} {line[1]} does not fit JupyterLab{which}."
    return None


def _plain(text):
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def settings(environment):
    """The environment of JupyterLab: the kernel beside this file, one BLAS thread."""
    found = dict(environment)
    path = [str(HERE), found.get("JUPYTER_PATH", "")]
    found["JUPYTER_PATH"] = os.pathsep.join(filter(None, path))
    # as in the tests: products of this size gain nothing from a second thread
    found.setdefault("OPENBLAS_NUM_THREADS", "1")
    return found


def main():
    command = [sys.executable, "-m", "jupyter", "labextension", "list"]
    run = subprocess.run(command, capture_output=True, encoding="utf-8")
    if what := problem(run.stdout + run.stderr):
        print(WITHOUT.format(what=what, python=sys.executable), file=sys.stderr)
    command = [sys.executable, "-m", "jupyter", "lab", *(sys.argv[1:] or [FIRST])]
    try:
        return subprocess.run(command, env=settings(os.environ)).returncode
    except KeyboardInterrupt:
        return 0


if __name__ == "__main__":
    sys.exit(main())
