"""Two exams with answer sheets, on chapters 1 to 13.

    toytf exam --key-file key.txt --out exams

    >>> from toytf.teach import exam
    >>> a, b = exam.papers("a secret of the teacher")
    >>> a.letter, len(a.tasks), b.letter, len(b.tasks)
    ('A', 14, 'B', 14)

Seven tasks are by hand, with numbers that follow from the teacher's key (`toytf.teach.worksheet`). Six are questions
in words, and in the last a line of a function is wrong. The questions in words are published with this package: the
key decides only which of two stands in which set. A teacher whose students may have read them brings others
(``--questions``).
"""

from toytf.teach.exam.papers import SAMPLE_KEY, SETS, Fault, Numbers, Paper, papers
from toytf.teach.exam.questions import Question, pairs

__all__ = ["SAMPLE_KEY", "SETS", "Fault", "Numbers", "Paper", "Question", "pairs", "papers"]
