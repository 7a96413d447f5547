"""Settings that every test shares."""

import gc
import os
import signal

import numpy as np
import pytest
from hypothesis import settings

# No example may fail because a machine is slow, or pass because the dice fell well.
settings.register_profile("book", deadline=None, derandomize=True, database=None)
settings.register_profile("other", deadline=None, database=None)
settings.load_profile("book")

# TOYTF_SEED=n: other numbers from every generator and other examples of each property (tests/matrix.py).
if SEED := int(os.environ.get("TOYTF_SEED", "0")):
    settings.load_profile("other")
    GENERATOR = np.random.default_rng
    np.random.default_rng = lambda seed=None: GENERATOR(np.random.SeedSequence(seed, spawn_key=(SEED,)))

# What a test starts speaks UTF-8 with it, on Windows too.
os.environ.setdefault("PYTHONUTF8", "1")
# Several tests run side by side, and their products are small: a second thread for each only waits.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


@pytest.hookimpl(optionalhook=True)  # other environments have no xdist
def pytest_xdist_auto_num_workers():
    """One worker more than there are cores: while a sandbox or a page is waited for, none of them rests."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return (cores or 1) + 1


# `make test` hands files out one after the other: a long one at the end would let all but one core wait.
LONGEST = (
    "test_site.py test_grade.py test_instructors.py test_elements.py test_live_answer.py "
    "test_checkers.py test_experiments.py "
    "test_live_engine.py 16_training.ipynb test_text.py test_own_numbers.py "
    "test_live_machine.py 18_taking_apart.ipynb 19_new_sentences.ipynb"
).split()


def pytest_collection_modifyitems(items):
    """The longest files first."""
    place = {name: n for n, name in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(item.path.name, len(LONGEST)))


def pytest_collection_finish():
    """Thousands of tests stay until the end: they are not looked through for what may go."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def keyboard():
    """Python's own answer to Ctrl-C; in the background of a shell Ctrl-C would be ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


# Of a module, not of the session: while a browser is open, `asyncio.run` fails in the tests beside it.
@pytest.fixture(scope="module")
def browser():
    """Chromium, which reaches this machine alone."""
    from playwright.sync_api import sync_playwright

    import sitecheck  # other environments run other tests, and have no browser

    executable = sitecheck.chromium_or_skip()
    with sync_playwright() as playwright:
        browser = sitecheck.launch(playwright, executable)
        yield browser
        browser.close()
