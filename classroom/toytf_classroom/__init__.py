"""For teachers: assignments from the exercises of *The Transformer, Number by Number*, and their grades.

A student's code runs in a sandbox (`sandbox`, `runner`) and hands back arrays. Right answers, hidden inputs and
comparison (`grading`) and the grades (`gradebook`) stay outside, where it never runs.
"""

__version__ = "0.1.0"


class ClassroomError(ValueError):
    """What keeps a command from its work, in words for the teacher."""
