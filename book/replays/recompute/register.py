"""The register of the functions that compute again what was printed."""

from __future__ import annotations

from collections.abc import Callable

from replays.ledger import ENTRIES, Recomputation, lookup

FUNCTIONS: dict[str, Recomputation] = {}
RIGHTS: dict[str, Callable] = {}


def recomputes(*ids: str, via: Callable | None = None) -> Callable:
    """Register a function as the one that computes these entries again."""

    def register(function: Callable) -> Callable:
        _add(FUNCTIONS, ids, Recomputation(function, via=via))
        return function

    return register


def right(*ids: str) -> Callable:
    """Register the right value of entries whose own arithmetic does not lead to it."""

    def register(function: Callable) -> Callable:
        _add(RIGHTS, ids, function)
        return function

    return register


def given(*ids: str, value) -> None:
    """Register a definition or a setting: nothing computes it, the course starts from it."""
    _add(FUNCTIONS, ids, Recomputation(lambda: value, given=True))


def _add(register: dict, ids: tuple[str, ...], item) -> None:
    for name in ids:
        lookup(name, ENTRIES)
        if name in register:
            raise KeyError(f"{name}: expected one function, got a second one")
        register[name] = item
