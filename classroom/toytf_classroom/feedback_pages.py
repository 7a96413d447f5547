"""Feedback pages: one file for each student, and one for the teacher that links to them.

A page holds no script and loads nothing, and a policy in its head forbids both; what strangers wrote stands as text.
"""

import base64
import hashlib
import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from toytf_classroom.grading import Assignment, Receipt
from toytf_classroom.pages import render
from toytf_classroom.rubrics import Mark, Rubric

NOTHING = "no submission"  # the reason of those who handed in nothing


def number(value: float | None) -> str:
    """Points as people write them: 2, 0.4; a line where a person has still to read."""
    return "–" if value is None else f"{round(value, 2):g}"


def _page(template: str, **values) -> bytes:
    style = render("feedback.css")  # as the page includes it
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-{digest}'"
    return render(template, **values, number=number, policy=policy).encode("utf-8", "replace")


# ---------------------------------------------------------------- a student's page


def student_page(receipt: Receipt, assignment: Assignment, marks: Mapping[str, Mark] | None = None) -> bytes:
    """What one student is told: points and words for each exercise, and what the code printed.

    `marks` is what a person found with the rubrics, by number of the exercise. Nothing of a rubric is shown without.
    """
    waiting = [result.number for result in receipt.results if result.points is None]
    about = {"receipt": receipt, "assignment": assignment, "waiting": waiting, "marks": marks or {}}
    return _page("student.html", **about, blocks=_blocks)


def _blocks(details: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """What there is to say, and whether it is a paragraph; lines that follow each other are one block."""
    for is_paragraph, group in itertools.groupby(details, lambda line: len(line) > 100 and "\n" not in line):
        lines = list(group)
        yield from ((line, True) for line in lines) if is_paragraph else [("\n".join(lines), False)]


# ---------------------------------------------------------------- the teacher's pages


def index_page(rows: Sequence, assignment: Assignment, notes: list[str]) -> bytes:
    """All students in one table, with links to their pages; for the teacher, not for students.

    `rows` are `toytf_classroom.gradebook.Graded`. The known mistakes that most of them made are what to talk about.
    """
    texts = any(exercise.kind == "text" for exercise in assignment.exercises)
    about = {"assignment": assignment, "rows": rows, "texts": texts, "notes": notes}
    made = Counter((result.number, result.mistake) for row in rows for result in row.receipt.results if result.mistake)
    return _page("index.html", **about, mistakes=sorted(made.items(), key=lambda item: (-item[1], item[0]))[:10])


def reading_page(answers: Sequence, assignment: Assignment, rubrics: Mapping[str, Rubric]) -> bytes:
    """The rubrics of an assignment, each with the answers below it that are still to be read; for the teacher.

    `answers` are whose they are (`Graded`), the exercise's number, and the text; `rubrics` are by number.
    """
    parts = []
    for exercise in assignment.exercises:
        if exercise.kind == "text":
            mine = [(row, text) for row, number, text in answers if number == exercise.number]
            parts.append((exercise, rubrics.get(exercise.number), mine))
    return _page("to_read.html", assignment=assignment, parts=parts)


def remark(receipt: Receipt) -> str:
    """What a teacher wants to know of a submission besides its points."""
    if receipt.reason:
        return receipt.reason
    waiting = [result.number for result in receipt.results if result.points is None and result.kind == "text"]
    said = [f"to be read: {', '.join(waiting)}"] if waiting else []
    said += [f"look at: {', '.join(receipt.failed)} (the checker failed)"] if receipt.failed else []
    return "; ".join(dict.fromkeys(said + receipt.remarks))
