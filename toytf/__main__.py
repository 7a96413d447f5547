"""The command ``toytf``, also ``python -m toytf``: a table of what it can do, each in a module of its own."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

from toytf import __version__, _command

COMMANDS = {
    "translate": ("translate sentences", "toytf.course.translate"),
    "train": ("train a translator", "toytf.course.train_translator"),
}
MODULES = {name: module for name, (_, module) in COMMANDS.items()}


def main(words: Sequence[str] | None = None) -> int:
    """Run a command; return its exit status."""
    name, *rest = [*(sys.argv[1:] if words is None else words)] or ["--help"]
    if name in ("--help", "-h"):
        print(usage())
        return 0
    if name == "--version":
        print(f"toytf {__version__}")
        return 0
    if name not in MODULES:
        return _command.refuse(f"expected one of {', '.join(MODULES)}, got {name!r}")
    return _command.call(name, import_module(MODULES[name]), rest)


def usage() -> str:
    """What `toytf --help` prints."""
    lines = ["usage: toytf COMMAND ...", "", "The Transformer, number by number.", ""]
    lines += [f"  {name:12} {about}" for name, (about, _) in COMMANDS.items()]
    return "\n".join([*lines, "", "toytf COMMAND --help tells more, with examples. toytf --version tells the version."])


if __name__ == "__main__":
    sys.exit(main())
