"""Open the notebooks in JupyterLab, with the kernel beside this file: `make lab`."""

import os
import subprocess
import sys
from pathlib import Path

FIRST = "notebooks/01_overview.ipynb"


def settings(environment):
    """The environment of JupyterLab."""
    here = str(Path(__file__).resolve().parent)
    paths = filter(None, [here, environment.get("JUPYTER_PATH")])
    # As in the tests: products of this size gain nothing from a second thread.
    one_thread = {"OPENBLAS_NUM_THREADS": "1"}
    return one_thread | environment | {"JUPYTER_PATH": os.pathsep.join(paths)}


if __name__ == "__main__":
    command = [sys.executable, "-m", "jupyter", "lab", *(sys.argv[1:] or [FIRST])]
    try:
        sys.exit(subprocess.run(command, env=settings(dict(os.environ))).returncode)
    except KeyboardInterrupt:
        pass
