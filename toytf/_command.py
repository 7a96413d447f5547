"""What the command lines share: files that are whole or not there, and when a progress bar is shown."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path


def write_whole(path: Path, data: bytes) -> bool:
    """Write a file so that after a crash at any moment there is either the old one or the new one.

    Returns whether it had to be written: False if it holds these bytes already.
    """
    with contextlib.suppress(OSError):
        if path.read_bytes() == data:
            return False
    new = path.with_name(f".{path.name}.new")
    with open(new, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(new, path)
    if os.name == "posix":  # elsewhere a folder cannot be opened
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    return True


def no_bar() -> bool:
    """Whether a progress bar stays away: ``TOYTF_PROGRESS=0`` wants it so, or nobody sits there to see it."""
    return os.environ.get("TOYTF_PROGRESS") == "0" or not sys.stderr.isatty()
