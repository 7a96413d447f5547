"""Make conf.py, with which plain Sphinx builds the book: `make conf.py`.

What it holds is what Jupyter Book tells Sphinx, from _config.yml; so the book can do
without Jupyter Book's command. tests/test_paper.py sees when the two differ.
"""

import ast
import contextlib
import io
import shutil
import sys
import tempfile
from pathlib import Path
from pprint import pformat

from toytf._command import write_whole

ROOT = Path(__file__).resolve().parent.parent
HEAD = '''\
"""Settings of Sphinx: `sphinx-build . out` builds the book.

Made from _config.yml by `make conf.py`: edit that, and make this again.
"""
# ruff: noqa
# fmt: off

import sys
from pathlib import Path

# the book's own extensions
sys.path.insert(0, str(Path(__file__).resolve().parent / "book" / "_ext"))

'''


def settings(root):
    """What Jupyter Book tells Sphinx of the book in the folder `root`, as Python.

    The folder stays as it is: Jupyter Book writes beside a copy of what it reads.
    """
    from jupyter_book.cli.main import main

    with tempfile.TemporaryDirectory() as folder:
        for name in ("_config.yml", "_toc.yml"):
            shutil.copy(Path(root, name), folder)
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            main(["config", "sphinx", folder], standalone_mode=False)
        made = ast.parse(Path(folder, "conf.py").read_text("utf-8"))
    found = ((line.targets[0].id, ast.literal_eval(line.value)) for line in made.body)
    return "".join(f"{name} = {pformat(value, width=88)}\n" for name, value in found)


def text(root=ROOT):
    """The file conf.py of the book in the folder `root`."""
    return HEAD + settings(root)


def main():
    changed = write_whole(ROOT / "conf.py", text().encode("utf-8"))
    print(f"conf.py: {'written' if changed else 'unchanged'}")


if __name__ == "__main__":
    sys.exit(main())
