"""An assignment goes through the real nbgrader: from the instructor's notebook to marks in a CSV file."""

import copy
import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from toytf.course.exercises import read
from toytf_classroom import assign

ROOT = Path(__file__).resolve().parent.parents[2]
MASTER = ROOT / "notebooks"
WEEK = "week6"
EXERCISES = read(MASTER)
FUNCTION, BY_HAND, TEXT = (
    next(one for one in EXERCISES.values() if one.kind == kind and (kind != "by hand" or len(one.by_hand.parts) > 1))
    for kind in ("function", "by hand", "text")
)
CHOSEN = [FUNCTION, BY_HAND, TEXT]


def nbgrader(course, *arguments):
    """Run one command of nbgrader in a course's folder, with alembic (which it calls) on the path."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", *arguments],
        cwd=course,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        env={**os.environ, "PATH": path, "HOME": str(course), "JUPYTER_CONFIG_DIR": str(course / "jupyter")},
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def cells(notebook):
    return {cell["metadata"]["nbgrader"]["grade_id"]: cell for cell in notebook["cells"]}


def source(cell):
    return "".join(cell["source"])


def with_answers(handed_out, answers):
    """A student's notebook in which answers stand."""
    mine = copy.deepcopy(handed_out)
    for label, text in answers.items():
        cells(mine)[f"{label}-answer"]["source"] = text.splitlines(keepends=True)
    return mine


def wrong_function():
    return f"def {FUNCTION.check.name}(*args):\n    return -12345.0"


NAME = FUNCTION.check.name
CHEATS = {
    "cheat-checker": f"{wrong_function()}\n\ncheck.points = lambda *args, of: of",
    # np.abs lies only while results are compared, not while inputs are drawn.
    "cheat-numpy": f"""real_abs, real_rng = np.abs, np.random.default_rng


def {NAME}(*args):
    np.abs = lambda x: 0.0 * np.asarray(x)
    right = check.{NAME}.solution(*args)
    return tuple(0 * part for part in right) if isinstance(right, tuple) else 0 * right


def default_rng(seed):
    np.abs = real_abs
    return real_rng(seed)


np.random.default_rng = default_rng""",
    "cheat-import": f"def {NAME}(*args):\n    return check.{NAME}.solution(*args)",
}


def right_answers(instructor):
    """The solutions, without the lines that mark them; and some words."""
    found = {}
    for one in (FUNCTION, BY_HAND):
        found[one.label] = re.sub(r"(?m)^ *###.*\n?", "", source(cells(instructor)[f"{one.label}-answer"]))
    return {**found, TEXT.label: "Because."}


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course in which students handed in, autograded and exported."""
    folder = tmp_path_factory.mktemp("course")
    (folder / "nbgrader_config.py").write_text(
        "c = get_config()\nc.CourseDirectory.course_id = 'course'\nc.ExecutePreprocessor.timeout = 60\n", "utf-8"
    )
    student, instructor = assign.notebooks(CHOSEN, "Week 6")
    (folder / "source" / WEEK).mkdir(parents=True)
    (folder / "source" / WEEK / f"{WEEK}.ipynb").write_text(json.dumps(instructor), "utf-8")
    nbgrader(folder, "generate_assignment", WEEK, "--create")
    released = json.loads((folder / "release" / WEEK / f"{WEEK}.ipynb").read_text("utf-8"))

    right = right_answers(instructor)
    part = BY_HAND.by_hand.parts[0]
    one_part = f"{assign.answer_name(BY_HAND)} = {{{part.name!r}: {assign.rounded(part)}}}"
    edited = with_answers(student, {FUNCTION.label: wrong_function()})
    cells(edited)[f"{FUNCTION.label}-check"]["source"] = ["2"]  # "I have all points"
    handed_in = {
        "right": with_answers(student, right),
        "right-on-release": with_answers(released, right),
        "wrong": with_answers(student, {FUNCTION.label: wrong_function(), BY_HAND.label: one_part}),
        "edited": edited,
        "blank": student,
        "blank-release": released,
        **{name: with_answers(student, {FUNCTION.label: code}) for name, code in CHEATS.items()},
    }
    for name, notebook in handed_in.items():
        place = folder / "submitted" / name / WEEK
        place.mkdir(parents=True)
        (place / f"{WEEK}.ipynb").write_text(json.dumps(notebook), "utf-8")
    nbgrader(folder, "autograde", WEEK, "--create")
    nbgrader(folder, "export", "--to", "grades.csv")
    return folder


def marks(course):
    with open(course / "grades.csv", encoding="utf-8", newline="") as file:
        return {row["student_id"]: row for row in csv.DictReader(file)}


def test_nbgrader_makes_the_students_notebook_from_the_instructors(course):
    released = json.loads((course / "release" / WEEK / f"{WEEK}.ipynb").read_text("utf-8"))
    student, _ = assign.notebooks(CHOSEN, "Week 6")
    assert list(cells(released)) == list(cells(student))
    for name, ours in cells(student).items():
        theirs = cells(released)[name]
        if name.endswith("-answer") and ours["cell_type"] == "code":
            # it writes its own placeholder; ours names the function, and lets by-hand cells run
            assert "raise NotImplementedError()" in source(theirs)
            assert source(theirs).split("# YOUR CODE HERE")[0].rstrip() in source(ours)
        else:
            assert source(theirs) == source(ours)


def test_nothing_of_a_solution_is_released(course):
    text = (course / "release" / WEEK / f"{WEEK}.ipynb").read_text("utf-8")
    assert "SOLUTION" not in text
    body = FUNCTION.check.source.split('"""', 2)[2].strip().splitlines()
    for hidden in [*body, *(mistake.name for mistake in FUNCTION.check.mistakes)]:
        assert json.dumps(hidden.strip())[1:-1] not in text


def test_points_are_as_expected(course):
    rows = marks(course)
    computed = FUNCTION.points + BY_HAND.points
    share = round(BY_HAND.points / len(BY_HAND.by_hand.parts), 2)
    assert {name: float(row["max_score"]) for name, row in rows.items()} == dict.fromkeys(rows, computed + TEXT.points)
    # words wait for a person, and count 0 until then
    assert {name: float(row["score"]) for name, row in rows.items() if name not in CHEATS} == {
        "right": computed,
        "right-on-release": computed,
        "wrong": share,
        "edited": 0,
        "blank": 0,
        "blank-release": 0,
    }


def test_words_wait_for_a_person_unless_there_are_none(course):
    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        waiting = {
            name: gradebook.find_submission(WEEK, name).needs_manual_grade for name in ("right", "wrong", "blank")
        }
        assert waiting == {"right": True, "wrong": False, "blank": False}
        grade = gradebook.find_grade(f"{TEXT.label}-answer", WEEK, WEEK, "right")
        grade.manual_score, grade.needs_manual_grade = TEXT.points, False
        gradebook.db.commit()
    nbgrader(course, "export", "--to", "grades.csv")
    assert float(marks(course)["right"]["score"]) == FUNCTION.points + BY_HAND.points + TEXT.points


def test_feedback_shows_what_the_checker_says(course):
    nbgrader(course, "generate_feedback", WEEK, "--student", "wrong")
    page = (course / "feedback" / "wrong" / WEEK / f"{WEEK}.html").read_text("utf-8")
    assert f"{FUNCTION.check.name}: not yet." in page


@pytest.mark.parametrize("cheat", CHEATS)
def test_a_submission_that_cheats_fools_nbgrader(course, cheat):
    """The reason for a grader of our own: if this fails, nbgrader has got better and the docs may say so."""
    assert float(marks(course)[cheat]["score"]) >= FUNCTION.points
