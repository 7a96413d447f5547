"""A process of its own for each submission: whatever goes wrong there goes wrong for that submission alone.

Opening a stranger's file, talking with the sandbox, comparing what comes out: all of it happens in a
copy (fork) of the grader that has limits of memory and time, and hands back bytes. If it raises,
crashes, hangs or is killed, the grader reads why, and goes on with the others.

Each worker has a processor core of its own, which its sandbox inherits. So a neighbour's busy processes
take no time from an honest student.
"""

import ctypes
import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from toytf._process import whole_step
from toytf_classroom import ClassroomError

MEMORY = 1 << 30  # bytes that one worker may take besides what the grader had when it began
SECONDS = 60  # of the processor, for the worker itself; the sandbox has limits of its own
MOST_ANSWER = 64 << 20  # bytes that it may hand back


@dataclass(frozen=True)
class Done:
    """What came of one task: the bytes that it handed back, or the trouble that it had."""

    task: Any
    answer: bytes = b""
    error: str = ""


def cores() -> list[int]:
    """The processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def work(tasks: Sequence, do: Callable[[Any, int], bytes], *, jobs: int, clock: float) -> Iterator[Done]:
    """Do each task in a process of its own, so many at a time, and yield what came of it, as they end.

    `do` makes bytes of a task and the number of its worker, in the other process; one that has not come back after
    `clock` seconds is ended.
    """
    todo, busy = list(reversed(tasks)), {}
    try:
        while todo or busy:
            while todo and len(busy) < max(1, jobs):
                task = todo.pop()
                worker = next(n for n in range(len(busy) + 1) if n not in {w for _, _, w, _ in busy.values()})
                try:
                    with whole_step() as interrupted:  # while a process is copied, Python drops the error of Ctrl-C
                        line, one = _begin(do, task, worker)
                        busy[line] = task, one, worker, time.monotonic() + clock
                except OSError as error:  # the machine is short of something
                    yield Done(task, error=_in_words(error))
                if interrupted:
                    raise KeyboardInterrupt
            for line in wait(list(busy), timeout=1.0):
                task, one, _, _ = busy[line]
                done = _answer(task, line, one)
                del busy[line]
                yield done
            for line, (task, one, _, until) in list(busy.items()):
                if time.monotonic() > until:
                    _end(line, one)
                    del busy[line]
                    yield Done(task, error=f"it took more than {clock:.0f} seconds")
    finally:  # somebody stops the grader, or it fails: nothing goes on without it
        for line, (_, one, _, _) in busy.items():
            _end(line, one)


def _begin(do: Callable, task, worker: int) -> tuple[Connection, Any]:
    """Start a process for a task; return the line on which it will answer, and the process."""
    process = multiprocessing.get_context("fork")
    ours, theirs = process.Pipe(duplex=False)
    one = process.Process(target=_child, args=(ours, theirs, do, task, worker), daemon=True)  # ends with the grader
    one.start()
    theirs.close()
    return ours, one


def _answer(task, line: Connection, one) -> Done:
    try:
        said = line.recv_bytes(MOST_ANSWER)
    except (EOFError, OSError):
        one.join()
        how = signal.Signals(-one.exitcode).name if one.exitcode < 0 else f"exit status {one.exitcode}"
        return Done(task, error=f"its process ended ({how})")
    finally:
        _end(line, one)
    return Done(task, said[1:]) if said[:1] == b"+" else Done(task, error=said[1:].decode("utf-8", "replace"))


def _end(line: Connection, one) -> None:
    one.kill()  # sandboxes end with it
    one.join()
    line.close()


def _in_words(error: BaseException) -> str:
    """What went wrong, in a line; an error that was meant to be read says it in its own words."""
    return str(error) if isinstance(error, ClassroomError) else f"{type(error).__name__}: {error}"


# ---------------------------------------------------------------- in the other process


def _child(ours: Connection, theirs: Connection, do: Callable, task, worker: int) -> None:
    try:
        ours.close()
        _end_with_the_grader()
        signal.signal(signal.SIGINT, lambda *_: os._exit(130))  # Ctrl-C goes to all; the grader has the word
        _limit()
        mine = cores()
        os.sched_setaffinity(0, {mine[worker % len(mine)]})
        answer = b"+" + do(task, worker)
    except BaseException as error:
        answer = b"-" + _in_words(error)[:1000].encode("utf-8", "replace")
    theirs.send_bytes(answer)
    theirs.close()
    os._exit(0)  # without what the grader would do at its own end


def _end_with_the_grader() -> None:
    """Have the kernel end this process when the grader is killed, or end it now if that has happened."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    if os.getppid() != multiprocessing.parent_process().pid:
        os._exit(1)


def _limit() -> None:
    """Limit this process; what it starts sets limits of its own, so the hard ones stay as they are."""
    import resource

    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    for which, most in ((resource.RLIMIT_CPU, SECONDS), (resource.RLIMIT_AS, size + MEMORY)):
        hard = resource.getrlimit(which)[1]
        resource.setrlimit(which, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
