"""The command ``toytf-classroom sheet``: a class's pencil exercises and their answers, each a page of HTML to print."""

import argparse
from pathlib import Path

from toytf._command import place_for, write_whole
from toytf_classroom import lms, own_numbers
from toytf_classroom.pages import render
from toytf_classroom.topics import TOPICS, is_word, sums

EXAMPLES = (
    "toytf-classroom sheet --class class.csv --key-file key.txt --topics product softmax --out sheets.html",
    "toytf-classroom sheet --class class.csv --key-file key.txt --topics product softmax --answers --out answers.html",
    "toytf-classroom sheet --list",
)


def page(sheets: list[own_numbers.Sheet], answers: bool) -> str:
    """Sheets, or their answers, as one page to print; each begins on a new sheet of paper."""
    how = {"markdown": own_numbers.markdown, "sums": sums, "is_word": is_word, "TOPICS": TOPICS}
    return render("sheet.html", sheets=sheets, answers=answers, **how) + "\n"


# ---------------------------------------------------------------- the command


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Make by-hand exercises with numbers of one's own for each student: one page of HTML, which a browser prints. "
        "With --answers and the same key, title and topics: the answers, worked out term by term."
    )
    parser.epilog = "Keep the key: the answers can be made again at any time, but with this key alone."
    parser.add_argument("--student", metavar="ID", help="one student's id: a name, a number, an address")
    lms.arguments(parser, "a class")
    own_numbers.key_argument(parser)
    parser.add_argument(
        "--topics", nargs="+", choices=TOPICS, default=list(TOPICS), help="which, in which order (default: all)"
    )
    parser.add_argument("--list", action="store_true", help="show the topics and stop")
    parser.add_argument(
        "--title", default="Worksheet", help="what is printed at the top; another title gives other numbers"
    )
    parser.add_argument("--answers", action="store_true", help="write the answers, and nothing for students")
    parser.add_argument("--out", metavar="FILE.html", type=Path, help="the page to write, new or not")


def run(options) -> int:
    if options.list:
        for name, topic in TOPICS.items():
            stands = f", in place of {' and '.join(topic.instead_of)}" if topic.instead_of else ""
            print(f"{name}: {topic.title}, about {topic.minutes} min, chapter {topic.chapter}{stands}")
        return 0
    if (options.student is None) == (options.class_list is None) or options.out is None:
        raise ValueError("expected either --student ID or --class FILE, and --out FILE.html")
    out, key = place_for("--out", options.out), own_numbers.read_key(options)
    students = [options.student]
    if options.class_list:
        students = [one.student for one in lms.read_class(options.class_list, options.student_column)]
    made = own_numbers.sheets(students, lambda who: own_numbers.sheet(who, key, options.topics, options.title))
    write_whole(out, page(made, options.answers).encode())
    print(f"{out}: {'answers for' if options.answers else 'sheets of'} {len(made)} student{'s'[: len(made) != 1]}")
    return 0
