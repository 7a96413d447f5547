"""What a receipt's hash of our code covers: what grades, and nothing that only shows or files a result."""

import shutil
import subprocess
import sys

import pytest

from toytf.teach.grade import code

SHOWS = [
    "course/plot.py", "course/data/bench.json", "teach/grade/feedback.py", "teach/grade/cli.py",
    "teach/grade/gradebook.py", "teach/worksheet/topics.py", "teach/exports/gradescope.py", "_command.py",
    "__main__.py",
]  # fmt: skip
GRADES = [
    "ops.py", "model.py", "byhand/operations.py", "check/core.py", "check/compare.py", "check/outcomes.py",
    "check/pencil.py", "check/slips.py", "teach/grade/grading.py", "teach/grade/runner.py",
    "teach/grade/frames.py", "teach/grade/sandbox.py", "teach/grade/submission.py", "teach/grade/code.py",
    "teach/exercises.py",
]  # fmt: skip


@pytest.fixture
def copy(tmp_path):
    root = tmp_path / "toytf"
    shutil.copytree(code.ROOT, root, ignore=shutil.ignore_patterns("__pycache__", "*.npz"))
    return root


@pytest.mark.parametrize("name", SHOWS)
def test_a_change_of_what_only_shows_a_result_grades_nothing_again(copy, name):
    before = code.code_version(copy)
    with open(copy / name, "a", encoding="utf-8") as file:
        file.write("\n")
    assert code.code_version(copy) == before == code.code_version()


@pytest.mark.parametrize("name", GRADES)
def test_a_change_of_what_grades_grades_anew(copy, name):
    before = code.code_version(copy)
    with open(copy / name, "a", encoding="utf-8") as file:
        file.write("\n")
    assert code.code_version(copy) != before


def test_a_new_import_of_what_grades_belongs_to_it(copy):
    (copy / "ops.py").write_text("from toytf.course import plot\n" + (copy / "ops.py").read_text("utf-8"), "utf-8")
    assert {file.relative_to(copy).as_posix() for file in code.files(copy)} >= {"course/plot.py"}


def test_the_files_that_grade_are_those_that_python_imports():
    """The grader's package imports its feedback pages too, which only show: they stay out. The runner is no import."""
    said = (
        "import sys, types; sys.modules['toytf.teach.grade.feedback'] = types.SimpleNamespace(student_page=None)\n"
        "import toytf.teach.grade.grading; print(*(m for m in sys.modules if m.startswith('toytf')))"
    )
    done = subprocess.run([sys.executable, "-c", said], capture_output=True, encoding="utf-8", check=True)
    found = set()
    for file in code.files():
        parts = file.relative_to(code.ROOT.parent).with_suffix("").parts
        found.add(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    shows = {"toytf.teach", "toytf.teach.grade", "toytf.teach.grade.feedback"}
    assert found == set(done.stdout.split()) - shows | {"toytf.teach.grade.runner"}
