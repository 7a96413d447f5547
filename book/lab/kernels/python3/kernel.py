"""The kernel of `make lab`: IPython's, which does not write its version into notebooks.

JupyterLab stores what a kernel says of its language, as soon as it has started. The
version is that of whoever opens the notebook, so each notebook would be "unsaved"
before a cell is run, and a diff in Git once it is saved. This kernel says what the
stored notebooks say; a test compares the two.
"""

from ipykernel.ipkernel import IPythonKernel
from ipykernel.kernelapp import IPKernelApp

IPythonKernel.language_info = {"name": "python"}

if __name__ == "__main__":
    IPKernelApp.launch_instance()
