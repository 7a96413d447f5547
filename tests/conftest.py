"""Settings that every test shares."""

import os

from hypothesis import settings

# No example may fail because a machine is slow, or pass because the dice fell well.
settings.register_profile("book", deadline=None, derandomize=True)
settings.load_profile("book")

# Notebooks that are compared with their stored outputs show no progress bar, as in `make notebooks`.
os.environ["TOYTF_PROGRESS"] = "0"
