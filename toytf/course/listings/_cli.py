"""The command ``toytf listings``: run all listings and store what they give."""

from __future__ import annotations

import argparse

import numpy as np

from toytf._command import Trouble, place_for, write_whole
from toytf.course import listings
from toytf.course.pytorch import import_torch

EXAMPLES = ("toytf listings --out toytf/course/data/pytorch.json",)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "Run the book's PyTorch listings and store what they give."
    parser.add_argument(
        "--out",
        required=True,
        metavar="FILE",
        help="where to write the results (.json)",
    )


def run(options) -> int:
    out = place_for("--out", options.out)
    try:
        torch = import_torch()
    except ImportError as error:
        raise Trouble(str(error)) from error
    found = {name: listings.run(name) for name in listings.names()}
    text = listings.dumps(found, torch.__version__, np.__version__)
    write_whole(out, text.encode("utf-8"))
    print(
        f"{len(found)} listings run with torch {torch.__version__}; "
        f"written: {options.out}"
    )
    return 0
