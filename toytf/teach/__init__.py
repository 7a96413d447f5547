"""For teachers: exercises, assignments, worksheets, and the grader for what strangers hand in."""
