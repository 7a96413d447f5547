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

NOT_SHOWN = shutil.ignore_patterns("direct_url.json")  # where a package came from, if it came from a folder


@functools.cache
def without_names(packages: tuple[Path, ...], seen_as: str) -> Path:
    """Make a folder that holds these packages, or find the one that was made before; `OSError` if there is no room.

    With each package comes its dist-info, whose name has the version. `seen_as` is what the folder is called where it
    is shown.
    """
    about = [(place.name, str(place), place.stat().st_mtime_ns) for place in sorted(packages)]
    digest = hashlib.sha256(repr([seen_as, importlib.util.MAGIC_NUMBER, about]).encode()).hexdigest()[:24]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "toytf"
    folder = cache / f"packages-{digest}"
    if folder.is_dir():
        return folder
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as place:
        new = Path(place, "whole")
        new.mkdir()
        for package in packages:
            if package.is_dir():
                copy = functools.partial(_copy, new, seen_as)
                shutil.copytree(package, new / package.name, ignore=NOT_SHOWN, copy_function=copy)
            else:
                _copy(new, seen_as, package, new / package.name)
        for inside, _, _ in os.walk(new):
            os.chmod(inside, 0o755)  # another user reads it, if root grades
        try:
            os.rename(new, folder)
        except OSError:
            if not folder.is_dir():  # made by another grader meanwhile
                raise
    return folder


def _copy(root: Path, seen_as: str, path: str | Path, new: str | Path) -> None:
    """Put a file into the folder; a compiled one with the name that its source has there."""
    if not str(path).endswith(".pyc"):
        try:
            os.link(os.path.realpath(path), new)
        except OSError:  # on another disk, or of another user
            shutil.copy2(path, new)
        return
    with contextlib.suppress(FileNotFoundError, ValueError, EOFError, TypeError):  # Python writes them at any time
        content, source = Path(path).read_bytes(), importlib.util.source_from_cache(str(new))
        if content[:4] == importlib.util.MAGIC_NUMBER:
            code = _renamed(marshal.loads(content[16:]), source.replace(str(root), seen_as))
            Path(new).write_bytes(content[:16] + marshal.dumps(code))


def _renamed(code: CodeType, name: str) -> CodeType:
    """The same code, of a file of this name."""
    constants = tuple(_renamed(one, name) if isinstance(one, CodeType) else one for one in code.co_consts)
    return code.replace(co_filename=name, co_consts=constants)
