"""Feedback pages: one file for each student, and one for the teacher that links to them.

A page is inert. It holds no script and loads nothing, and a policy in its head forbids both; what a
student's code printed, or wrote where others read it, stands in it as text.
"""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from toytf_classroom.grading import Assignment, Receipt, Result
from toytf_classroom.pages import render
from toytf_classroom.rubrics import Mark, Rubric


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

    Parameters
    ----------
    receipt : Receipt
    assignment : Assignment
    marks : mapping, optional
        What a person found with the rubrics, by number of the exercise. Nothing of a rubric is shown without.
    """
    waiting = [result.number for result in receipt.results if result.points is None]
    return _page(
        "student.html",
        receipt=receipt,
        assignment=assignment,
        waiting=waiting,
        marks=marks or {},
        colour=_colour,
        blocks=_blocks,
    )


def _colour(result: Result) -> str:
    return "wait" if result.points is None else "good" if result.points >= result.out_of else "bad"


def _blocks(details: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """What there is to say, and whether it is a paragraph; lines that follow each other are one block."""
    block: list[str] = []
    for detail in details:
        if len(detail) <= 100 or "\n" in detail:
            block.append(detail)
            continue
        if block:
            yield "\n".join(block), False
        yield detail, True
        block = []
    if block:
        yield "\n".join(block), False


# ---------------------------------------------------------------- the teacher's pages


def index_row(receipt: Receipt, file: str) -> dict:
    """One student's line in the teacher's table, with a link to the page."""
    return {
        "student": receipt.student,
        "file": file,
        "points": receipt.points if receipt.graded else None,
        "each": [result.points for result in receipt.results],
        "remark": remark(receipt),
    }


def index_page(
    rows: list[dict | None],
    mistakes: list[tuple[str, str]],
    assignment: Assignment,
    notes: list[str],
    typical: Sequence[tuple[str, str]] = (),
) -> bytes:
    """All students in one table, with links to their pages; for the teacher, not for students.

    Parameters
    ----------
    rows : list of dict
        From `index_row`; None for a student of whom nothing could be said.
    mistakes : list of (str, str)
        Exercise and name of each known mistake that was made.
    assignment : Assignment
    notes : list of str
    typical : sequence of (str, str)
        Exercise and typical wrong answer of its rubric, where a person found it.
    """
    return _page(
        "index.html",
        rows=rows,
        mistakes=_most(mistakes),
        typical=_most(typical),
        texts=any(exercise.kind == "text" for exercise in assignment.exercises),
        assignment=assignment,
        notes=notes,
    )


def _most(mistakes: Sequence[tuple[str, str]]) -> list[tuple[tuple[str, str], int]]:
    """Which mistakes were made how often: what to talk about in class."""
    return sorted(Counter(mistakes).items(), key=lambda item: (-item[1], item[0]))[:10]


def reading_page(
    answers: Sequence[tuple[dict, str, str]], assignment: Assignment, rubrics: Mapping[str, Rubric]
) -> bytes:
    """The rubrics of an assignment, each with the answers below it that are still to be read; for the teacher.

    Parameters
    ----------
    answers : sequence of (dict, str, str)
        The student's line from `index_row`, the exercise's number, and the text.
    assignment : Assignment
    rubrics : mapping
        By number of the exercise.
    """
    parts = []
    for exercise in assignment.exercises:
        if exercise.kind == "text":
            rubric = rubrics.get(exercise.number)
            worth = rubric.worth(exercise.points) if rubric else ()
            mine = [(row, text) for row, number, text in answers if number == exercise.number]
            parts.append((exercise, rubric, worth, mine))
    return _page("to_read.html", assignment=assignment, parts=parts)


def remark(receipt: Receipt) -> str:
    """What a teacher wants to know of a submission besides its points."""
    if receipt.reason:
        return receipt.reason
    waiting = [result.number for result in receipt.results if result.points is None and result.kind == "text"]
    said = [f"to be read: {', '.join(waiting)}"] if waiting else []
    return "; ".join(said + ([f"look at: {', '.join(receipt.failed)} (the checker failed)"] if receipt.failed else []))
