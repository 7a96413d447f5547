"""Settings that every test shares."""

import os
import signal

import pytest
from hypothesis import settings

# No example may fail because a machine is slow, or pass because the dice fell well.
settings.register_profile("book", deadline=None, derandomize=True)
settings.load_profile("book")

# Notebooks that are compared with their stored outputs show no progress bar, as in `make notebooks`.
os.environ["TOYTF_PROGRESS"] = "0"
# Several tests run side by side, and their products are small: a second thread for each only waits.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


@pytest.fixture
def keyboard():
    """Python's own answer to Ctrl-C; in the background of a shell Ctrl-C would be ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
