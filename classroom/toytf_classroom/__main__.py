"""The command ``toytf-classroom``, also ``python -m toytf_classroom``: a table of what it can do."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

from toytf import _command
from toytf_classroom import __version__

PROGRAM = "toytf-classroom"
COMMANDS = {
    "assign": "make an assignment from exercises of the book",
    "rehearse": "make up a class that hands it in",
    "grade": "grade what a class handed in",
    "feedback": "pack the feedback pages, to hand back",
    "export": "fill grades into a table of Canvas or Moodle",
    "answers": "write the answers of an assignment as a page to print",
    "sheet": "make pages of by-hand exercises with other numbers for each student",
}


def main(words: Sequence[str] | None = None) -> int:
    """Run a command; return its exit status."""
    name, *rest = [*(sys.argv[1:] if words is None else words)] or ["--help"]
    if name in ("--help", "-h"):
        print(usage())
        return 0
    if name == "--version":
        print(f"{PROGRAM} {__version__}")
        return 0
    if name not in COMMANDS:
        return _command.refuse(f"expected one of {', '.join(COMMANDS)}, got {name!r}")
    return _command.call(name, import_module(f"toytf_classroom.{name}"), rest, PROGRAM)


def usage() -> str:
    """What ``toytf-classroom --help`` prints."""
    listed = [f"  {name:9} {about}" for name, about in COMMANDS.items()]
    return "\n".join([f"usage: {PROGRAM} COMMAND ...", "", *listed, "", f"{PROGRAM} COMMAND --help tells more."])


if __name__ == "__main__":
    sys.exit(main())
