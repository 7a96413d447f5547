"""One notebook alone, and one folder: what pytest runs needs nothing that `tests/conftest.py` or anybody sets."""

import os
import subprocess
import sys

from bookcheck.reading import ROOT


def pytest_alone(*words):
    """Run pytest as somebody types it who has installed the course, and read nothing else of it."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("TOYTF_", "PYTEST_"))}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, encoding="utf-8")
    return done.returncode, done.stdout + done.stderr


def test_one_notebook_alone_computes_what_it_stores():
    status, said = pytest_alone("--nbval", "notebooks/07_feed_forward.ipynb")
    assert status == 0, said


def test_the_books_folder_can_be_tested_alone():
    status, said = pytest_alone("--collect-only", "book")
    assert status == 0, said
    assert "book/preface.ipynb::Cell 0" in said
