"""Which of our code decides what an answer is worth: read from the imports, so that nothing has to be listed.

Receipts carry a hash of it. With another hash a class is graded anew, so what only shows or files a result
(feedback pages, figures, help) is not in it.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import toytf

ROOT = Path(toytf.__file__).parent
FIRST = ("teach/grade/grading.py", "teach/grade/runner.py", "check/*.py")  # the rest follows from their imports


def code_version(root: Path = ROOT) -> str:
    """A hash of the code that decides what an answer is worth: with another, receipts are made anew."""
    whole = hashlib.sha256()
    for file in files(root):
        whole.update(f"{file.relative_to(root).as_posix()}\0".encode() + file.read_bytes())
    return whole.hexdigest()[:16]


@cache
def files(root: Path = ROOT) -> tuple[Path, ...]:
    """The files of the package that grade: the first ones, and what they import."""
    waiting = [file for first in FIRST for file in root.glob(first)]
    found: set[Path] = set()
    while waiting:
        file = waiting.pop()
        if file not in found:
            found.add(file)
            waiting += imported(file, root)
    return tuple(sorted(found))


def imported(file: Path, root: Path) -> Iterator[Path]:
    """The files of the package that a file of it imports; of a package its `__init__` where a name comes from there."""
    for module, name in _imports(file.read_bytes()):
        if module.split(".")[0] == "toytf":
            yield _file(f"{module}.{name}", root) or _file(module, root)


@cache
def _imports(source: bytes) -> tuple[tuple[str, str | None], ...]:
    """What a source imports: each module, and the name that it takes from there."""
    found: list[tuple[str, str | None]] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [(alias.name, None) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found += [(node.module or "", alias.name) for alias in node.names]
    return tuple(found)


def _file(module: str, root: Path) -> Path | None:
    place = root.joinpath(*module.split(".")[1:])
    return next((path for path in (place.with_suffix(".py"), place / "__init__.py") if path.is_file()), None)
