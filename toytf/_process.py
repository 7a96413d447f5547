"""What the process is asked for during a piece of work, and what is put back afterwards: Ctrl-C and threads."""

from __future__ import annotations

import functools
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import ThreadpoolController

# So many parameters. On two cores that other programs used as well, a second thread made a training step (batches
# of 640 tokens) of 10,000 to 1,000,000 parameters two to ten times as long, of 4,000,000 three times, and of
# 15,000,000 a third longer. What large models gain where nothing else runs is left to them.
SMALL = 1_000_000


@contextmanager
def one_thread_if_small(parameters: int) -> Iterator[None]:
    """While it lasts, the matrices of a small model are multiplied on one thread; larger ones keep all.

    Short products wait longer for a second thread than it saves. The numbers are the same.
    """
    if parameters > SMALL:
        yield
        return
    with _blas().limit(limits=1):
        yield


@functools.cache
def _blas() -> ThreadpoolController:
    """What NumPy multiplies with, looked for once: that takes a millisecond."""
    return ThreadpoolController().select(user_api="blas")


@contextmanager
def whole_step() -> Iterator[list]:
    """Hold Ctrl-C back until the step is whole; the list that is yielded is then no longer empty.

    A second Ctrl-C is not held back. Outside the main thread Python delivers no Ctrl-C at all.
    """
    interrupted: list = []
    if threading.current_thread() is not threading.main_thread():
        yield interrupted
        return

    def hold(signum, frame):
        interrupted.append(signum)
        signal.signal(signal.SIGINT, before)

    before = signal.getsignal(signal.SIGINT)
    if not callable(before):  # ignored, as in a job in the background, or not Python's to handle
        yield interrupted
        return
    signal.signal(signal.SIGINT, hold)
    try:
        yield interrupted
    finally:
        signal.signal(signal.SIGINT, before)
