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

from gradecheck import source
from toytf.course.exercises import read
from toytf_classroom import assign
from toytf_classroom.__main__ import main
from toytf_classroom.to_nbgrader import write_back

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


# ---------------------------------------------------------------- graded by ours, written back


@pytest.fixture(scope="module")
def graded(course, tmp_path_factory):
    """The same course, its submitted/ graded by our grader, and nbgrader's gradebook as it is then."""
    place = tmp_path_factory.mktemp("graded")
    assign.write(place / WEEK, assign.files(CHOSEN, "Week 6"))
    sub = course / "submitted" / "right" / WEEK
    (sub / "timestamp.txt").write_text("2026-11-09 12:00:00 UTC\n", "utf-8")
    (sub / "submission_secret.txt").write_text("secret", "utf-8")
    renamed = course / "submitted" / "wrong" / WEEK
    (renamed / f"{WEEK}.ipynb").rename(renamed / "my copy (1).ipynb")  # nbgrader would give 0 for it
    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:  # nothing is left of what autograde said
        gradebook.remove_submission(WEEK, "right")
        gradebook.db.commit()
    out, manual = place / "grades.csv", place / "points.csv"
    manual.write_text(f"student,exercise,points,comment\nright,{TEXT.number},1,Look again.\nright,late,50,\n", "utf-8")
    task = str(place / WEEK / "submissions" / "assignment.json")
    words = ["grade", str(course / "submitted"), "--assignment", task, "--out", str(out), "--manual", str(manual)]
    assert main(words) == 0
    write_back(out, course, WEEK)
    return out


def in_nbgrader(course, student, label, kind="check"):
    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        grade = gradebook.find_grade(f"{label}-{kind}", WEEK, WEEK, student)
        comment = gradebook.find_comment(f"{label}-answer", WEEK, WEEK, student)
        return grade.score, grade.needs_manual_grade, comment.comment


def test_our_marks_and_comments_stand_in_nbgrader_s_gradebook_and_no_cheat_has_points(course, graded):
    assert in_nbgrader(course, "right", FUNCTION.label)[:2] == (FUNCTION.points, False)
    score, waits, said = in_nbgrader(course, "right", TEXT.label, "answer")
    assert (score, waits) == (1, False) and said.startswith("Look again.")
    assert in_nbgrader(course, "right-on-release", TEXT.label, "answer")[1]  # waits for a person
    assert "not yet" in in_nbgrader(course, "wrong", FUNCTION.label)[2]
    for cheat in CHEATS:
        assert in_nbgrader(course, cheat, FUNCTION.label)[0] == 0
    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        late = gradebook.find_submission_notebook(WEEK, WEEK, "right").late_submission_penalty
    assert late == (FUNCTION.points + BY_HAND.points + 1) / 2


def test_nbgrader_exports_our_marks_also_of_a_notebook_that_it_did_not_find(course, graded):
    nbgrader(course, "export", "--to", "grades.csv")
    share = round(BY_HAND.points / len(BY_HAND.by_hand.parts), 2)
    assert float(marks(course)["wrong"]["score"]) == share
    assert float(marks(course)["cheat-checker"]["score"]) == 0


def test_our_page_is_the_feedback_that_nbgrader_releases(course, graded):
    page = course / "feedback" / "right" / WEEK / f"{WEEK}.html"
    assert "points from your teacher" in page.read_text("utf-8") or "point from your teacher" in page.read_text("utf-8")
    exchange = course / "exchange"
    exchange.mkdir()
    os.chmod(exchange, 0o777)
    only = ["--student", "right"]
    nbgrader(course, "release_feedback", WEEK, *only, f"--Exchange.root={exchange}", "--course", "course")
    (released,) = (exchange / "course" / "feedback").glob("*.html")
    assert released.read_bytes() == page.read_bytes()


def test_what_a_person_gave_in_nbgrader_stays_and_a_later_autograde_changes_no_mark(course, graded):
    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        grade = gradebook.find_grade(f"{FUNCTION.label}-check", WEEK, WEEK, "wrong")
        grade.manual_score = 0.25
        gradebook.db.commit()
    notes = write_back(graded, course, WEEK)
    assert f"wrong, {FUNCTION.number}: 0.25 points of a person stay." in notes
    assert in_nbgrader(course, "wrong", FUNCTION.label)[0] == 0.25
    write_back(graded, course, WEEK, force=True)
    assert in_nbgrader(course, "wrong", FUNCTION.label)[0] == 0
    nbgrader(course, "autograde", WEEK, "--student", "cheat-checker", "--force")
    assert in_nbgrader(course, "cheat-checker", FUNCTION.label)[0] == 0


def test_what_is_missing_is_named(course, graded, capsys):
    assert main(["nbgrader", str(graded), "--course", str(course), "--assignment", "week7", "--anyway"]) == 2
    assert "expected an assignment 'week7'" in capsys.readouterr().err
