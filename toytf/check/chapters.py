"""Where the checkers are: a file for each chapter, ``ch01.py`` for the first, found by its name."""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterable
from importlib import import_module
from types import ModuleType

from toytf.check.core import Check
from toytf.check.pencil import ByHand


def modules(path: Iterable[str], package: str) -> list[ModuleType]:
    """Import the chapters' files of a package, in their order.

    Parameters
    ----------
    path : iterable of str
        The package's ``__path__``.
    package : str
        Its name.

    Returns
    -------
    list of module

    Raises
    ------
    ValueError
        If a file is named nearly like a chapter's, so that it would be passed over.
    """
    names = sorted(found.name for found in pkgutil.iter_modules(path) if re.match(r"ch\D*\d", found.name))
    for name in names:
        if not re.fullmatch(r"ch\d\d", name):
            raise ValueError(f"{package}: expected chapters' files named as ch09.py, got {name}.py")
    return [import_module(f"{package}.{name}") for name in names]


def checkers(chapters: Iterable[ModuleType]) -> dict[str, Check]:
    """All checkers by their names, in the order in which the files define them.

    Raises
    ------
    ValueError
        If two have one name, or if one stands in the file of another chapter.
    """
    found: dict[str, Check] = {}
    for chapter in chapters:
        for one in vars(chapter).values():
            if isinstance(one, Check) and one.solution.__module__ == chapter.__name__:  # not an imported one
                _put(found, one.name, one, chapter)
    return found


def by_hand(chapters: Iterable[ModuleType]) -> dict[str, ByHand]:
    """All by-hand answers, the ``BY_HAND`` of each file, by the numbers of their exercises.

    Raises
    ------
    ValueError
        If two have one number, or if one stands in the file of another chapter.
    """
    found: dict[str, ByHand] = {}
    for chapter in chapters:
        for one in getattr(chapter, "BY_HAND", []):
            _put(found, one.number, one, chapter)
    return found


def _put(found: dict, key: str, one: Check | ByHand, chapter: ModuleType) -> None:
    if key in found:
        raise ValueError(f"{chapter.__name__}: expected a name of its own for each answer, got {key!r} a second time")
    if chapter.__name__[-2:] != one.exercise[3:5]:
        raise ValueError(f"{chapter.__name__}: expected exercises of this chapter, got {one.exercise} ({key})")
    found[key] = one
