"""The command ``python -m toytf.course.listings``: run all listings and store what they give."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from toytf.course import listings
from toytf.course.pytorch import import_torch


def main(arguments: list[str] | None = None) -> None:
    """Run every listing and write their results."""
    parser = argparse.ArgumentParser(
        prog="python -m toytf.course.listings",
        description="Run the book's PyTorch listings and store what they give.",
    )
    parser.add_argument(
        "--out",
        required=True,
        metavar="FILE",
        help="where to write the results (.json)",
    )
    options = parser.parse_args(arguments)
    torch = import_torch()
    text = listings.dumps(
        {name: listings.run(name) for name in listings.names()},
        torch.__version__,
        np.__version__,
    )
    Path(options.out).write_text(text, encoding="utf-8")
    print(
        f"{len(listings.names())} listings run with torch {torch.__version__}; written: {options.out}"
    )


if __name__ == "__main__":
    main()
