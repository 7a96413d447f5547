"""The command ``toytf-classroom``, also ``python -m toytf_classroom``: a table of what it can do."""

import sys
from collections.abc import Sequence

from toytf import __main__ as toytf_command
from toytf_classroom import __version__

COMMANDS = {
    "assign": ("make an assignment from exercises of the book", "toytf_classroom.assign"),
    "grade": ("grade what a class handed in", "toytf_classroom.grade"),
    "feedback": ("pack the feedback pages, to hand back", "toytf_classroom.feedback"),
    "export": ("fill grades into a table of Canvas or Moodle", "toytf_classroom.export"),
    "nbgrader": ("write marks, comments and feedback into nbgrader's gradebook", "toytf_classroom.to_nbgrader"),
    "sheet": ("make pages of by-hand exercises with other numbers for each student", "toytf_classroom.sheet"),
}


def main(words: Sequence[str] | None = None) -> int:
    """Run a command; return its exit status."""
    return toytf_command.main(words, "toytf-classroom", __version__, COMMANDS)


if __name__ == "__main__":
    sys.exit(main())
