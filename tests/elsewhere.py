"""Pretend that this machine is another one, as far as that goes: what Linux alone has is hidden from our files.

    PYTHONPATH=tests TOYTF_ELSEWHERE=win32 python -m pytest -p elsewhere -o addopts= classroom/tests/test_grade.py
    PYTHONPATH=tests TOYTF_ELSEWHERE=darwin python -m pytest -p elsewhere -o addopts= classroom/tests/test_grade.py

Our files find no bubblewrap and the other system's name; as Windows, no module and no call that only POSIX has either.
A test that needs one of these has to be skipped there and say why. Paths, line ends and processes stay those of Linux,
so this is no run on Windows; it is what can be had of one without.
"""

import builtins
import os
import shutil
import signal
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent
OURS = tuple(str(ROOT / folder) + os.sep for folder in ("toytf", "classroom", "tests", "book"))
POSIX_MODULES = ("fcntl", "grp", "posix", "pty", "pwd", "resource", "termios")
POSIX_CALLS = {
    "os": "chown fork geteuid getgid getpgid getuid killpg mkfifo sched_getaffinity setsid setuid sysconf wait".split(),
    "signal": "SIGALRM SIGHUP SIGKILL SIGSTOP SIGUSR1 SIGXCPU alarm pthread_sigmask setitimer".split(),
}


class Hidden(ModuleType):
    """A module as our files see it: with some names changed, and some not there."""

    def __init__(self, module, changed=(), absent=()):
        super().__init__(module.__name__)
        self.__dict__["_hidden"] = (module, dict(changed), frozenset(absent))
        self.__dict__["_before"] = {}

    def __getattr__(self, name):
        module, changed, absent = self.__dict__["_hidden"]
        if name in absent:
            raise AttributeError(f"module {module.__name__!r} has no attribute {name!r} elsewhere")
        return changed[name] if name in changed else getattr(module, name)

    # What a test sets it sets for all; pytest takes it back by deleting it, since it was not set here.
    def __setattr__(self, name, value):
        module = self.__dict__["_hidden"][0]
        self.__dict__["_before"].setdefault(name, getattr(module, name))
        setattr(module, name, value)

    def __delattr__(self, name):
        setattr(self.__dict__["_hidden"][0], name, self.__dict__["_before"].pop(name))


def pretend(system):
    """From now on our files import what `system`, win32 or darwin, would give them."""
    if system not in ("win32", "darwin"):
        raise SystemExit(f"TOYTF_ELSEWHERE: expected win32 or darwin, got {system!r}")
    which, importing = shutil.which, builtins.__import__
    found = {
        "sys": Hidden(sys, {"platform": system}),
        "shutil": Hidden(
            shutil, {"which": lambda name, *how, **more: None if name == "bwrap" else which(name, *how, **more)}
        ),
    }
    gone = ()
    if system == "win32":
        gone = POSIX_MODULES
        found |= {
            "os": Hidden(os, {"name": "nt"}, POSIX_CALLS["os"]),
            "signal": Hidden(signal, absent=POSIX_CALLS["signal"]),
        }

    def importer(name, globals=None, locals=None, fromlist=(), level=0):
        if level == 0 and str((globals or {}).get("__file__") or "").startswith(OURS):
            if name in gone:
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)
            if name in found:
                return found[name]
        return importing(name, globals, locals, fromlist, level)

    builtins.__import__ = importer


def pytest_configure(config):
    pretend(os.environ.get("TOYTF_ELSEWHERE", "win32"))
