"""`make lab`: one thread unless one asks for more, and a kernel that leaves notebooks as they are."""

import os
import runpy

from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import start_new_kernel

import text
from bookcheck.reading import ROOT

LAB = ROOT / "book" / "lab"


def test_the_kernel_says_what_the_stored_notebooks_say(monkeypatch):
    """JupyterLab writes both into a notebook that it opens; the same again is no change."""
    settings = runpy.run_path(str(LAB / "start.py"))["settings"]
    made = settings({"JUPYTER_PATH": "/a"})
    assert made == {"JUPYTER_PATH": os.pathsep.join([str(LAB), "/a"]), "OPENBLAS_NUM_THREADS": "1"}
    assert settings({"OPENBLAS_NUM_THREADS": "4"})["OPENBLAS_NUM_THREADS"] == "4"
    monkeypatch.setenv("JUPYTER_PATH", made["JUPYTER_PATH"])
    spec = KernelSpecManager().get_kernel_spec("python3")
    assert spec.resource_dir == str(LAB / "kernels" / "python3")
    said = {"display_name": spec.display_name, "language": spec.language, "name": "python3"}
    assert said == text.METADATA["kernelspec"]
    manager, client = start_new_kernel(kernel_name="python3", startup_timeout=None)
    try:
        info = client.kernel_info(reply=True)["content"]["language_info"]
        assert info == text.METADATA["language_info"]
        reply = client.execute_interactive("import numpy; assert numpy.eye(2).sum() == 2")
        assert reply["content"]["status"] == "ok"
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
