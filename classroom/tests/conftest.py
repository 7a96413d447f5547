"""Settings that the tests of the classroom share."""

import os

import pytest
from hypothesis import HealthCheck, settings

# No example may fail because a machine is slow, or pass because the dice fell well. TOYTF_DEEP=1: thousands of each.
settings.register_profile("book", deadline=None, derandomize=True, database=None)
settings.register_profile(
    "deep", deadline=None, max_examples=10_000, database=None, print_blob=True, suppress_health_check=list(HealthCheck)
)
DEEP = os.environ.get("TOYTF_DEEP") == "1"
settings.load_profile("deep" if DEEP else "book")
os.environ.setdefault("PYTHONUTF8", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def pytest_collection_modifyitems(items):
    for item in items if DEEP else ():
        item.add_marker(pytest.mark.timeout(0))


@pytest.fixture(scope="session")
def box():
    """A sandbox for the code of students."""
    import gradecheck  # elsewhere there is none

    return gradecheck.sandbox_or_skip()
