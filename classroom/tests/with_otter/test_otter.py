"""An assignment goes through the real Otter-Grader: assign, a student's answers, run, and the zip for Gradescope.

``otter grade`` runs the same autograder in a container. It is not tried: it needs Docker.
"""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from gradecheck import source
from toytf.course.exercises import read
from toytf_classroom import assign
from toytf_classroom.__main__ import main

ROOT = Path(__file__).resolve().parents[3]
CHOSEN = ["9.1", "8.8", "4.2", "9.2"]  # several numbers, a function, one table, words
WRONG = "def softmax(scores):\n    return np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)"
CHEAT = "check.softmax.report = lambda mine: type('', (), {'right': True})()\ndef softmax(scores):\n    return scores"


def otter(folder, *arguments):
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    python = os.pathsep.join([str(ROOT), str(ROOT / "classroom")])
    done = subprocess.run(
        [sys.executable, "-m", "otter", *map(str, arguments)],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        env={**os.environ, "PATH": path, "HOME": str(folder), "PYTHONPATH": python},
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def week(tmp_path_factory):
    folder = tmp_path_factory.mktemp("otter") / "week6"
    about = ["--title", "Week 6", "--install", "toytf==0.1.0", "--otter", "--out", str(folder)]
    assert main(["assign", "--exercises", *CHOSEN, *about]) == 0
    otter(folder, "assign", "otter.ipynb", "otter")  # it also runs its tests on the solutions
    return folder


def handed_out(week):
    return json.loads((week / "otter" / "student" / "otter.ipynb").read_text("utf-8"))


def code_cells(notebook):
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def grade(week, name, answers):
    """The points by question of a notebook in which these cells were replaced."""
    notebook = handed_out(week)
    for begins, text in answers.items():
        (cell,) = (cell for cell in code_cells(notebook) if source(cell).startswith(begins))
        cell["source"] = text
    place = week / name
    place.mkdir()
    (place / "otter.ipynb").write_text(json.dumps(notebook), "utf-8")
    (autograder,) = (week / "otter" / "autograder").glob("*.zip")
    otter(place, "run", "-a", autograder, "otter.ipynb")
    found = json.loads((place / "results.json").read_text("utf-8"))["tests"]
    return {test["name"].partition(" ")[0]: test.get("score", 0) for test in found if test["name"].startswith("ex_")}


def solutions():
    exercises = {one.number: one for one in read(assign.MASTER, [4, 8, 9]).values()}
    by_hand = {
        f"answer_{number.replace('.', '_')} =": assign.assign_answer(one, list(map(assign.rounded, one.parts)))
        for number in ("9.1", "4.2")
        for one in [exercises[number].by_hand]
    }
    return {"def softmax": exercises["8.8"].check.source, **by_hand}


def test_right_answers_have_all_points_and_a_blank_notebook_none(week):
    exercises = {one.number: one.points for one in read(assign.MASTER, [4, 8, 9]).values()}
    right = {f"ex_{int(n.split('.')[0]):02}_{n.split('.')[1]}": exercises[n] for n in CHOSEN if n != "9.2"}
    got = grade(week, "right", solutions())
    assert {name: got[name] for name in right} == right
    blank = grade(week, "blank", {})
    assert {name: blank[name] for name in right} == dict.fromkeys(right, 0)


def test_numbers_have_points_one_by_one_and_a_wrong_function_has_none(week):
    part = solutions()["answer_9_1 ="].replace('"mean": 3', '"mean": 4')
    got = grade(week, "part", {"answer_9_1 =": part, "def softmax": WRONG})
    assert got["ex_08_8"] == 0 and got["ex_09_1"] == pytest.approx(4 / 5 * 1)


def test_the_student_s_notebook_holds_no_solution_and_the_zip_is_whole(week):
    text = json.dumps(handed_out(week))
    assert "SOLUTION" not in text and "exps" not in text and '"softmax is not written yet' in text.replace("\\", "")
    (autograder,) = (week / "otter" / "autograder").glob("*.zip")
    with zipfile.ZipFile(autograder) as archive:
        assert {"run_autograder", "setup.sh", "environment.yml", "otter_config.json"} <= set(archive.namelist())
        assert "toytf==0.1.0" in archive.read("environment.yml").decode()


def test_code_that_replaces_the_checker_fools_otter(week):
    """The reason for a grader of our own: if this fails, Otter has got better and the page may say so."""
    assert grade(week, "cheat", {"def softmax": CHEAT})["ex_08_8"] > 0
