"""The command ``toytf exam``: two exams and their answer sheets."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from toytf.teach import keys, paper
from toytf.teach.exam.pages import answer_page, exam_page
from toytf.teach.exam.papers import SAMPLE_KEY, TITLE, papers
from toytf.teach.exam.questions import TEXT

EXAMPLES = (
    'python -c "import secrets; print(secrets.token_hex(32))" > key.txt',
    'toytf exam --key-file key.txt --title "Exam, chapters 1 to 13" --out exams',
    "toytf exam --out exams --paper letter",
)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Make two exams on chapters 1 to 13, A and B, and their answer sheets, as PDF. The two have the same topics, "
        "minutes and points, with other numbers and questions; another key gives another pair."
    )
    parser.epilog = (
        "Without a key they are the sample exams, which anybody can make. The questions in words are published with "
        "toytf, whatever the key; --questions takes others."
    )
    keys.arguments(parser)
    parser.add_argument("--out", metavar="FOLDER", required=True, help="where to write exam-A.pdf and three more")
    parser.add_argument("--title", default=TITLE, help="at the head; another title gives other exams (%(default)s)")
    parser.add_argument("--paper", choices=list(paper.SIZES), default="a4", help="default: %(default)s")
    parser.add_argument(
        "--questions", metavar="FILE", default=TEXT, help=f"questions in words, written as in {TEXT.name} of toytf"
    )
    parser.add_argument("--html", action="store_true", help="write pages of HTML, and print nothing")
    parser.add_argument("--force", action="store_true", help="replace files that are there")


def run(options) -> int:
    sample = options.key is None and options.key_file is None and keys.VARIABLE not in os.environ
    key = SAMPLE_KEY if sample else keys.read(options)
    both = papers(key, options.title, options.questions)
    folder = Path(options.out)
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"--out: expected a folder, got the file {folder}")
    pages = {}
    for one in both:
        pages[folder / f"exam-{one.letter}.pdf"] = exam_page(one, options.paper)
        pages[folder / f"exam-{one.letter}.answers.pdf"] = answer_page(one, options.paper)
    written, missing = paper.write(pages, print_them=not options.html, force=options.force)
    for path in written:
        print(path)
    one = both[0]
    print(f"2 exams of {len(one.tasks)} tasks, {one.points} points, about {one.minutes} minutes each")
    if sample:
        print("note: no key was given, so these are the sample exams. Anybody can make them")
    if missing:
        print(f"note: {missing}")
    return 1 if missing else 0
