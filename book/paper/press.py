"""What the commands of this folder share: the book's name, and how they end."""

import re
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent.parent
OUT = "_build/paper"


def settings(root=ROOT):
    """What _config.yml says, and _toc.yml."""
    return [
        yaml.safe_load((Path(root) / name).read_text("utf-8"))
        for name in ("_config.yml", "_toc.yml")
    ]


def slug(title):
    """A title as the name of a file: "One, two" is "one-two"."""
    return re.sub(r"\W+", "-", title.lower()).strip("-")


def run(work, problems):
    """Do a command's work and return its exit status.

    work: returns the lines to print at the end. problems: the errors that are explained
    by their own words.
    """
    try:
        lines = work()
    except (*problems, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nstopped by hand; no file was changed", file=sys.stderr)
        return 130
    print(*lines, sep="\n")
    return 0


def size(path):
    return f"{Path(path).stat().st_size / 1e6:.1f} MB"
