"""Grade notebooks of strangers: ``toytf grade submissions/ --out grades.csv``.

A student's code runs in a sandbox (`sandbox`, `runner`) and hands back arrays. Right answers, hidden
inputs, comparison (`grading`) and gradebook (`gradebook`) stay outside, where it never runs.

Examples
--------
Grading one file from another program::

    from toytf.teach import grade

    assignment = grade.read_assignment("assignment.json")
    receipt = grade.grade_one("anna.ipynb", assignment, sandbox=grade.Bubblewrap())
    print(receipt.points, "of", assignment.points)
"""

from __future__ import annotations

from toytf.teach.grade.feedback import student_page
from toytf.teach.grade.grading import Assignment, BadAssignment, Exercise, Receipt, Result, grade_one, read_assignment
from toytf.teach.grade.sandbox import Bubblewrap, Limits, SandboxError, Unprotected

__all__ = [
    "Assignment", "BadAssignment", "Bubblewrap", "Exercise", "Limits", "Receipt", "Result", "SandboxError",
    "Unprotected", "grade_one", "read_assignment", "student_page",
]  # fmt: skip
