"""What the commands of `toytf` share: help with examples, errors, exit statuses, whole files, progress bars.

A command is a module with

- ``EXAMPLES``, lines that can be typed;
- ``arguments(parser)``, which describes the command and adds its arguments;
- ``run(options)``, which returns the exit status: 0 done, 1 done but for what it named.

`call` does the rest. What is wrong in the arguments or in a file ends with 2 and one ``error: ...``, and
Ctrl-C with 130. ``STOPPED`` in the module says what is kept then.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import NoReturn

REFUSED, INTERRUPTED = 2, 130


# ---------------------------------------------------------------- calling one


def call(name: str, command: ModuleType, words: Sequence[str], program: str = "toytf") -> int:
    """Run a command as ``toytf NAME WORDS`` does; return its exit status."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without "ñ" shows "?"
    try:
        options = parser(name, command, program).parse_args(words)
        status = command.run(options)
        show()
        return status
    except OSError as error:
        return refuse(reason(error))
    except ValueError as error:
        return refuse(str(error))
    except KeyboardInterrupt:
        kept = getattr(command, "STOPPED", None)
        print(f"\nstopped by hand{f'; {kept}' if kept else ''}", file=sys.stderr)
        return INTERRUPTED


def show(*words: str) -> None:
    """Print; that a reader, `head` perhaps, has seen enough and left is no error."""
    try:
        print(*words, end="\n" if words else "", flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def refuse(why: str) -> int:
    """Say what is wrong, and return the exit status for it."""
    print(f"error: {why}", file=sys.stderr)
    return REFUSED


def reason(error: OSError) -> str:
    """What the system says, and about which file: ``No space left on device: grades.csv``."""
    words = error.strerror or str(error)
    return words if error.filename is None else f"{words}: {error.filename}"


# ---------------------------------------------------------------- arguments and help


def parser(name: str, command: ModuleType, program: str = "toytf") -> argparse.ArgumentParser:
    """The arguments of a command, and its help: what it does, how it is called, examples."""
    made = _Parser(prog=f"{program} {name}", formatter_class=_Help)
    command.arguments(made)
    examples = "\n".join(["examples:", *(f"  {line}" for line in command.EXAMPLES)])
    made.epilog = f"{made.epilog}\n\n{examples}" if made.epilog else examples
    return made


class _Parser(argparse.ArgumentParser):
    """Whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(refuse(f"{message} ({self.prog} --help tells more)"))


class _Help(argparse.HelpFormatter):
    """Which fills lines, but leaves an example on a line of its own."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        whole = super()._fill_text
        return "\n".join(line if line.startswith("  ") else whole(line, width, indent) for line in text.split("\n"))


def place_for(option: str, file: str | Path) -> Path:
    """A file that can be written once the work is done: in a folder that is there, and none itself."""
    path = Path(file)
    if path.is_dir():
        raise ValueError(f"{option}: expected a file, got the folder {file}")
    if not path.resolve().parent.is_dir():
        raise ValueError(f"{option}: expected a file in an existing folder, got {file}")
    return path


# ---------------------------------------------------------------- files and progress


@contextlib.contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """Give a file to write, which takes the place of `path` when all of it is there."""
    new = path.with_name(f".{path.name}.new")
    try:
        yield new
        os.replace(new, path)
    finally:
        new.unlink(missing_ok=True)


def write_whole(path: Path, data: bytes) -> bool:
    """Write a file so that there is either the old one or the new one; return False if it holds these bytes already."""
    if path.is_file() and path.read_bytes() == data:
        return False
    with replaced(path) as new, open(new, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())  # there after a power cut, too
    return True


def progress(items: Iterable | None = None, **how):
    """A progress bar of tqdm's over these items, or with a `total`; none where nobody sits to see it."""
    from tqdm import tqdm

    tqdm.monitor_interval = 0  # it would be a thread, and a process with threads is not to be copied
    return tqdm(items, disable=not sys.stderr.isatty(), file=sys.stderr, **how)
