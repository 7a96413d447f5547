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


def main(
    words: Sequence[str] | None = None, program: str = "toytf", version: str = __version__, commands: dict = COMMANDS
) -> int:
    """Run a command of a program; return its exit status."""
    name, *rest = [*(sys.argv[1:] if words is None else words)] or ["--help"]
    if name in ("--help", "-h"):
        print(usage(program, commands))
        return 0
    if name == "--version":
        print(f"{program} {version}")
        return 0
    if name not in commands:
        return _command.refuse(f"expected one of {', '.join(commands)}, got {name!r}")
    return _command.call(name, import_module(commands[name][1]), rest, program)


def usage(program: str, commands: dict) -> str:
    """What ``--help`` prints."""
    lines = [f"usage: {program} COMMAND ...", ""]
    lines += [f"  {name:12} {about}" for name, (about, _) in commands.items()]
    told = f"{program} COMMAND --help tells more, with examples. {program} --version tells the version."
    return "\n".join([*lines, "", told])


if __name__ == "__main__":
    sys.exit(main())
