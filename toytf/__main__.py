"""The command ``toytf``, also ``python -m toytf``: a table of what it can do, each in a module of its own."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

from toytf import __version__, _command

ROOMS = {
    "the translator": {
        "translate": ("translate sentences", "toytf.course.translate"),
        "train": ("train a translator", "toytf.course.train_translator"),
    },
    "teaching": {
        "assign": ("make an assignment from exercises of the book", "toytf.teach.assign"),
        "rehearse": ("make up a class that hands it in", "toytf.teach.rehearsal"),
        "grade": ("grade what a class handed in", "toytf.teach.grade.cli"),
        "feedback": ("pack the feedback pages, to hand back", "toytf.teach.exports.feedback"),
        "export": ("fill grades into a table of Canvas, Moodle or Gradescope", "toytf.teach.exports.grades"),
        "answers": ("print the answers of an assignment", "toytf.teach.answers"),
        "exam": ("make two exams and their answer sheets", "toytf.teach.exam.cli"),
        "sheet": ("make by-hand exercises with numbers of one's own for each student", "toytf.teach.worksheet.cli"),
    },
    "called by exported assignments": {
        "gradescope": ("grade the submission in Gradescope's folder", "toytf.teach.exports.gradescope"),
        "classroom": ("print a receipt for GitHub Classroom", "toytf.teach.exports.classroom"),
    },
}
MODULES = {name: module for commands in ROOMS.values() for name, (_, module) in commands.items()}


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
    lines = ["usage: toytf COMMAND ...", "", "The Transformer, number by number."]
    for room, commands in ROOMS.items():
        lines += ["", f"{room}:", *(f"  {name:12} {about}" for name, (about, _) in commands.items())]
    return "\n".join([*lines, "", "toytf COMMAND --help tells more, with examples. toytf --version tells the version."])


if __name__ == "__main__":
    sys.exit(main())
