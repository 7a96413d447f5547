"""The command ``toytf spreadsheet``: the running example as a file for Excel, LibreOffice or Google Sheets."""

from __future__ import annotations

import argparse

from toytf._command import place_for, write_whole

EXAMPLES = ("toytf spreadsheet --out hello_world.xlsx",)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        'Write "Hello World" as a spreadsheet: a sheet for each step from words to probabilities, every number a '
        "formula of the cells before it. Change an embedding, and all that follows changes. Needs openpyxl."
    )
    parser.add_argument("--out", required=True, metavar="FILE", help="where to write it (.xlsx)")


def run(options) -> int:
    from toytf.course.spreadsheet import hello_world

    out = place_for("--out", options.out)
    book = hello_world()
    write_whole(out, book.file())
    print(f"{len(book.pages)} sheets: {options.out}")
    return 0
