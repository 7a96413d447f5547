"""The command ``toytf-classroom feedback``: each student's page in a folder of the name by which it was handed in.

With the folders of Moodle's export (``Anna Abt_123_assignsubmission_file``) these are the names by which
Moodle's "upload multiple feedback files in a zip" finds its students again.
"""

import argparse
import io
import json
import sys
import zipfile
from pathlib import Path

from toytf._command import place_for, write_whole
from toytf_classroom.gradebook import HANDED_IN, receipts_of
from toytf_classroom.lms import read_table
from toytf_classroom.plain_text import folder_name


def feedback_zip(table: Path) -> tuple[bytes, list[str]]:
    """The feedback pages of a class as an archive, ``<student>/feedback.html`` of each; and who has none."""
    home = table.with_suffix("")
    handed_in = json.loads((home / HANDED_IN).read_bytes()) if (home / HANDED_IN).is_file() else {}
    pages = {name: (receipt.student, page) for name, (receipt, page) in receipts_of(home).items()}
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


EXAMPLES = ("toytf-classroom feedback week6/grades.csv --out week6/feedback.zip",)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "Put each student's feedback page into an archive, to hand back."
    parser.add_argument("grades", type=Path, help="grades.csv, written by toytf-classroom grade")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.zip", help="the archive to write")


def run(options) -> int:
    out = place_for("--out", options.out)
    archive, without = feedback_zip(options.grades)
    write_whole(out, archive)
    students = len(zipfile.ZipFile(io.BytesIO(archive)).namelist())
    print(f"{out}: a page for each of {students} students")
    if without:
        print(f"error: no page for {', '.join(map(repr, without))}; run the grader again", file=sys.stderr)
    return 1 if without else 0
