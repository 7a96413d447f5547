"""The command ``toytf sheet``: sheets and answer sheets."""

from __future__ import annotations

import argparse

from toytf.teach import keys, tables
from toytf.teach.worksheet.files import write_files
from toytf.teach.worksheet.sheets import DEFAULT, TITLE, clean_student, sheet
from toytf.teach.worksheet.topics import TOPICS

EXAMPLES = (
    'python -c "import secrets; print(secrets.token_hex(32))" > key.txt',
    "toytf sheet --class class.csv --key-file key.txt --topics product softmax --out sheets",
    "toytf sheet --class class.csv --key-file key.txt --topics product softmax --out answers --answers",
    "toytf sheet --list",
)
STOPPED = "finished files are kept, the same command goes on from here"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Make by-hand exercises with numbers of one's own for each student: a page to print and a "
        "notebook. With --answers and the same key, title and topics: the answer sheet, worked out term by term, and "
        "the answers as JSON."
    )
    parser.epilog = (
        "Keep the key: the answers can be made again at any time, but with this key alone. Without it nobody "
        "can make another student's sheet from the id. It does not keep anybody from solving a sheet that they have "
        "seen."
    )
    who = parser.add_argument_group("for whom")
    who.add_argument("--student", metavar="ID", help="one student's id: a name, a number, an address")
    tables.arguments(who, "a class")
    keys.arguments(parser)
    what = parser.add_argument_group("what")
    what.add_argument(
        "--topics",
        nargs="+",
        metavar="TOPIC",
        default=list(DEFAULT),
        help=f"which exercises, in which order; 'all' for all (default: {' '.join(DEFAULT)})",
    )
    what.add_argument("--list", action="store_true", help="show the topics and stop")
    what.add_argument("--title", default=TITLE, help="what is printed at the top; another title gives other numbers")
    what.add_argument("--answers", action="store_true", help="write the answer sheets, and nothing for students")
    what.add_argument(
        "--out", metavar="DIR", default="worksheets", help="the folder to write into, new or not (default: %(default)s)"
    )
    what.add_argument(
        "--one-file",
        action="store_true",
        help="with --class: one page to print, class.html, each sheet from a new page on",
    )
    what.add_argument("--force", action="store_true", help="replace files that hold something else")


def run(options) -> int:
    if options.list:
        for name, topic in TOPICS.items():
            print(f"{name}: {topic.title}, about {topic.minutes} min, chapter {topic.chapter}")
        return 0
    if (options.student is None) == (options.class_list is None):
        raise ValueError("expected either --student ID or --class FILE")
    if options.one_file and options.class_list is None:
        raise ValueError("--one-file: expected a class list (--class FILE) with it")
    tables.refuse_a_column_alone(options)
    key = keys.read(options)
    if options.class_list:
        students = tables.read_class(options.class_list, clean_student, options.student_column)
    else:
        students = [clean_student(options.student)]
    topics = list(TOPICS) if options.topics == ["all"] else options.topics

    def make(student: str):
        return sheet(student, key, topics, options.title)

    new = write_files(
        options.out, students, make, answers=options.answers, one_file=options.one_file, force=options.force
    )
    what = "answer sheet" if options.answers else "sheet"
    print(f"{len(students)} {what}{'s'[: len(students) != 1]} in {options.out}: {new} new file{'s'[: new != 1]}")
    return 0
