"""What both exports hold of this package, and how they show a result."""

from __future__ import annotations

import textwrap
from pathlib import Path

from toytf.teach.pages import TEMPLATES

PACKAGE = Path(__file__).parent.parent.parent


def package_files(below: str) -> dict[str, bytes]:
    """This package, as files below a folder: what `toytf.teach.grade` needs, its templates too, and no data."""
    code = (path for path in PACKAGE.rglob("*.py") if "__pycache__" not in path.parts)
    paths = sorted([*code, *TEMPLATES.iterdir()])
    return {f"{below}toytf/{path.relative_to(PACKAGE).as_posix()}": path.read_bytes() for path in paths}


def requirements() -> str:
    """What this package needs: the versions that the course is tested with, and the hashes of their files."""
    return (PACKAGE / "teach" / "requirements.txt").read_text("utf-8")


def shown(result) -> str:
    """A graded answer as plain text: the headline, and what there is to know about it."""
    return "\n".join([result.headline, *(textwrap.indent(line, "  ") for line in result.details)])
