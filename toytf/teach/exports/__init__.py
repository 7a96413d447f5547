"""The same assignment for Gradescope and for GitHub Classroom, graded by `toytf.teach.grade`; and feedback.

What was tried: the archive's entry script in an empty folder laid out as Gradescope's, with and without
bubblewrap, and the workflow against the published schema of workflows. What was not: either server, the
installation that ``setup.sh`` does, and Classroom's reporter.
"""
