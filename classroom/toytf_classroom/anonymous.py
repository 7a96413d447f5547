"""Installed packages without the name of the place where they are installed.

A compiled file (.pyc) names the folder in which it was compiled: that of the project, and mostly in it the
name of the person who teaches. A sandbox is shown a folder that holds the same packages and names nobody.
It is made once, in the cache of the user who grades (``XDG_CACHE_HOME`` or ``~/.cache``), and may be
deleted at any time.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.util
import marshal
import os
import shutil
import tempfile
from pathlib import Path
from types import CodeType

NOT_SHOWN = {"direct_url.json"}  # where a package came from, if it came from a folder


@functools.cache
def without_names(packages: tuple[Path, ...], seen_as: str) -> Path:
    """Make a folder that holds these packages, or find the one that was made before.

    Parameters
    ----------
    packages : tuple of Path
        Where each is installed.
    seen_as : str
        What the folder is called where it is shown.

    Raises
    ------
    OSError
        If there is no room for it.
    """
    files = sorted(_files(packages))
    digest = hashlib.sha256(repr([seen_as, importlib.util.MAGIC_NUMBER, files]).encode()).hexdigest()[:24]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "toytf"
    folder = cache / f"packages-{digest}"
    if folder.is_dir():
        return folder
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as new:
        new = os.path.join(new, "whole")
        for name, path, _, _ in files:
            _copy(os.path.realpath(path), os.path.join(new, name), f"{seen_as}/{name}")
        for place, _, _ in os.walk(new):
            os.chmod(place, 0o755)  # another user reads it, if root grades
        try:
            os.rename(new, folder)
        except OSError:
            if not folder.is_dir():  # made by another grader meanwhile
                raise
    return folder


def _files(packages):
    """All files of packages: name in the folder, where it is, size and time."""
    for place in packages:
        folders = os.walk(place, followlinks=True) if place.is_dir() else [(place.parent, [], [place.name])]
        for folder, _, names in folders:
            inside = os.path.relpath(folder, place.parent)
            for name in set(names) - NOT_SHOWN:
                path = os.path.join(folder, name)
                with contextlib.suppress(FileNotFoundError):  # Python writes compiled files at any time
                    about = os.stat(path)
                    yield os.path.normpath(os.path.join(inside, name)), path, about.st_size, about.st_mtime_ns


def _copy(path: str, new: str, seen_as: str) -> None:
    """Put a file into the folder; a compiled one with the name that its source has there."""
    os.makedirs(os.path.dirname(new), exist_ok=True)
    if not path.endswith(".pyc"):
        try:
            os.link(path, new)
        except OSError:  # on another disk, or of another user
            shutil.copy2(path, new)
        return
    with open(path, "rb") as file:
        head, content = file.read(16), file.read()
    try:
        code = marshal.loads(content) if head[:4] == importlib.util.MAGIC_NUMBER else None
        source = importlib.util.source_from_cache(seen_as)
    except (ValueError, EOFError, TypeError):
        return
    if isinstance(code, CodeType):
        with open(new, "wb") as file:
            file.write(head + marshal.dumps(_renamed(code, source)))


def _renamed(code: CodeType, name: str) -> CodeType:
    """The same code, of a file of this name."""
    constants = tuple(_renamed(one, name) if isinstance(one, CodeType) else one for one in code.co_consts)
    return code.replace(co_filename=name, co_consts=constants)
