"""Feedback to hand back. After ``toytf grade week6/submissions --out week6/grades.csv``

    toytf feedback week6/grades.csv --out week6/feedback.zip

puts each student's page into a folder with that student's name, the name of what was handed in. With
the folders of Moodle's export (``Anna Abt_123_assignsubmission_file``) these are the names by which
Moodle's "upload multiple feedback files in a zip" finds its students again.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
import zipfile
from pathlib import Path

from toytf._command import Trouble, place_for, write_whole
from toytf.teach.grade import Receipt
from toytf.teach.grade.gradebook import HANDED_IN, inert, written
from toytf.teach.names import folder_name
from toytf.teach.tables import read_table


def feedback_zip(table: Path) -> tuple[bytes, int]:
    """Put the feedback pages of a graded class into an archive, ``<student>/feedback.html``.

    Parameters
    ----------
    table : Path
        ``grades.csv``, as `toytf.teach.grade` wrote it; the pages are in the folder beside it.

    Returns
    -------
    archive : bytes
    without : list of str
        Students of the table who have no page: the others get theirs all the same.
    """
    home = table.with_suffix("")
    handed_in = _handed_in(home / HANDED_IN)
    pages = {}
    for path in sorted((home / "receipts").glob("*.json")):
        student = Receipt.from_json(path.read_bytes()).student
        pages[inert(written(student))] = student, home / "feedback" / f"{path.stem}.html"
    archive, taken, without = io.BytesIO(), set(), []
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as whole:
        for _, row in read_table(table, ["student"]):
            student, page = pages.get(row["student"], ("", Path()))
            if not page.is_file():
                without.append(row["student"])
                continue
            folder = folder_name(handed_in.get(student, student), page.stem)
            if folder.lower() in taken:
                folder = page.stem  # no two of these are equal
            taken.add(folder.lower())
            about = zipfile.ZipInfo(f"{folder}/feedback.html")  # of a fixed date: the same pages give the same bytes
            about.compress_type, about.external_attr = zipfile.ZIP_DEFLATED, 0o100644 << 16
            whole.writestr(about, page.read_bytes())
    return archive.getvalue(), without


def _handed_in(path: Path) -> dict[str, str]:
    """By which names of folders Moodle finds its students again; of a class without such folders, none."""
    try:
        found = json.loads(path.read_bytes()) if path.is_file() else {}
    except ValueError as error:
        raise Trouble(f"{path}: expected what toytf grade wrote there (JSON), got {error}; grade again") from None
    return found


# ---------------------------------------------------------------- the command

EXAMPLES = ("toytf feedback week6/grades.csv --out week6/feedback.zip",)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "Put each student's feedback page into an archive, to hand back."
    parser.add_argument("grades", type=Path, help="grades.csv, written by toytf grade")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.zip", help="the archive to write")


def run(options) -> int:
    out = place_for("--out", options.out)
    archive, without = feedback_zip(options.grades)
    write_whole(out, archive)
    students = len(zipfile.ZipFile(io.BytesIO(archive)).namelist())
    print(f"{out}: a page for each of {students} students")
    if without:
        names = ", ".join(map(repr, without))
        print(f"error: no page for {names}; run the grader again", file=sys.stderr)
    return 1 if without else 0
