"""Which of our code graded: receipts carry a hash of it, and with another one a class is graded anew."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

import toytf

ROOTS = (Path(toytf.__file__).parent, Path(__file__).parent)
FILES = ("*.py", "byhand/*.py", "check/*.py")  # templates show a result, and decide nothing


@cache
def code_version(roots: tuple[Path, ...] = ROOTS) -> str:
    """A hash of the code of both packages that can decide what an answer is worth."""
    whole = hashlib.sha256()
    for root in roots:
        for file in sorted(file for pattern in FILES for file in root.glob(pattern)):
            whole.update(f"{file.relative_to(root).as_posix()}\0".encode() + file.read_bytes())
    return whole.hexdigest()[:16]
