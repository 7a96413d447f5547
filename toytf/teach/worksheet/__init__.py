"""By-hand exercises with numbers of one's own for each student.

    toytf sheet --student anna --key-file key.txt --out sheets

    >>> from toytf.teach import worksheet
    >>> sheet = worksheet.sheet("anna", "a secret of the teacher", ["product", "softmax"])
    >>> print(*(exercise.heading for exercise in sheet.exercises), sep="\\n")
    1. One product (8 min)
    2. Scores become weights (8 min)
    >>> print(*worksheet.check_answers(sheet, {2: {"sums": [10, 8]}}), sep="\\n")
    1, Q: not answered yet.
    2, sums: expected shape 3, got 2.
    2, A: not answered yet.

Everybody gets the same exercises with other numbers, so a neighbour's answers are of no use. The
numbers follow from the teacher's key and the student's id, so that the same command with
``--answers`` makes the answer sheet, at any time and on any machine.

What the key promises: the seed of a sheet is an HMAC-SHA256 under the key. Without the key nobody
can foretell the numbers of a sheet, or make another student's sheet or answers from the id alone.
It does not promise more: whoever has *seen* a sheet can work it out, and a key that can be guessed
can be tried out against a sheet that one holds. So take a long one that no person thought up.
"""

from toytf.teach.worksheet.exercises import Asked, Exercise, Given, complaints
from toytf.teach.worksheet.sheets import DEFAULT, Sheet, check_answers, clean_student, sheet
from toytf.teach.worksheet.topics import TOPICS

__all__ = [
    "DEFAULT", "TOPICS", "Asked", "Exercise", "Given", "Sheet", "check_answers", "clean_student", "complaints", "sheet",
]  # fmt: skip
