"""Installed packages without the name of the place where they are installed.

A compiled file (.pyc) names the folder in which it was compiled: that of the project, and mostly in it the
name of the person who teaches. A sandbox is shown a folder that holds the same packages, compiled anew under
another name. It is made once, in the cache of the user who grades (``XDG_CACHE_HOME`` or ``~/.cache``), and
may be deleted at any time.
"""

from __future__ import annotations

import compileall
import functools
import hashlib
import importlib.util
import os
import shutil
import tempfile
from pathlib import Path

NOT_SHOWN = shutil.ignore_patterns("direct_url.json", "__pycache__")  # the first says where a package came from


@functools.cache
def without_names(packages: tuple[Path, ...], seen_as: str) -> Path:
    """Make a folder that holds these packages, or find the one that was made before; `OSError` if there is no room.

    With each package comes its dist-info, whose name has the version. `seen_as` is what the folder is called where it
    is shown.
    """
    about = [(place.name, str(place), place.stat().st_mtime_ns) for place in sorted(packages)]
    digest = hashlib.sha256(repr([seen_as, "compiled", importlib.util.MAGIC_NUMBER, about]).encode()).hexdigest()[:24]
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
                shutil.copytree(package, new / package.name, ignore=NOT_SHOWN, copy_function=_copy)
            else:
                _copy(package, new / package.name)
        compileall.compile_dir(new, quiet=2, stripdir=str(new), prependdir=seen_as, workers=0)
        for inside, _, _ in os.walk(new):
            os.chmod(inside, 0o755)  # another user reads it, if root grades
        try:
            os.rename(new, folder)
        except OSError:
            if not folder.is_dir():  # made by another grader meanwhile
                raise
    return folder


def _copy(path: str | Path, new: str | Path) -> None:
    try:
        os.link(os.path.realpath(path), new)
    except OSError:  # on another disk, or of another user
        shutil.copy2(path, new)
