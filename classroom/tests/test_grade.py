"""What the grader promises to honest students and to their teacher: no point lost, nothing lost, all explained."""

import dataclasses
import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest

import gradecheck
from gradecheck import ASSIGNMENT, BY_HAND, HONEST, IMPORTS, SMALL, SOFTMAX, STUB, code, data, one, table, words
from toytf import check
from toytf.check.core import Check
from toytf.course.exercises import NOT_ANSWERED
from toytf_classroom import ClassroomError, gradebook, grading, sandbox
from toytf_classroom.__main__ import main

# ---------------------------------------------------------------- honest variants

HTML = [{"output_type": "display_data", "data": {"text/html": ["<b>x</b>"], "image/png": "aGk="}, "metadata": {}}]
DISPLAY = "from IPython.display import HTML, Markdown, display\ndisplay(HTML('<b>weights</b>'), Markdown('*x*'))"
VARIANTS = {name: data(*cells) for name, cells in gradecheck.cells_of("honest.txt").items()} | {
    "as_in_the_book": HONEST,
    "html_output": data({**code(IMPORTS), "outputs": HTML}, SOFTMAX, BY_HAND, DISPLAY),
    "source_as_lines": data(*(code(cell.splitlines(keepends=True)) for cell in (IMPORTS, SOFTMAX, BY_HAND))),
}


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    root = tmp_path_factory.mktemp("honest")
    gradecheck.folder(root / "submissions", {f"{name}.ipynb": content for name, content in VARIANTS.items()})
    limits = dataclasses.replace(SMALL, cell=20.0, call=5.0, total=60.0)  # slow machines are honest too
    _, receipts = gradecheck.grade(root / "submissions", root / "grades.csv", limits=limits)
    return receipts


@pytest.mark.parametrize("name", VARIANTS)
def test_an_honest_variant_loses_no_point(honest, name):
    points = gradecheck.points(honest[name])
    assert (points["8.8"], points["9.1"]) == (2, 2), honest[name].to_json().decode()


def test_errors_elsewhere_and_what_was_left_out_are_told(honest):
    said = gradecheck.printed(honest["errors_elsewhere"])
    for words_ in ("ZeroDivisionError", "No module named 'pandas'", "SyntaxError", "FileNotFoundError", "EOFError"):
        assert words_ in said
    assert not any("error" in cell for cell in honest["what_the_system_does_for_python"].cells)
    assert "Left out, since only Jupyter understands it: %matplotlib inline" in gradecheck.printed(honest["magics"])


def test_the_instructor_s_notebook_of_the_whole_book_gets_all_points_and_the_student_s_none(tmp_path):
    box = gradecheck.sandbox_or_skip()
    assert main(["assign", "--title", "All", "--out", str(tmp_path / "all")]) == 0
    task = grading.read_assignment(tmp_path / "all" / "submissions" / "assignment.json")
    limits = dataclasses.replace(SMALL, cell=30.0, call=30.0, total=120.0)
    solved, blank = (
        grading.grade_one((tmp_path / "all" / f"{name}.ipynb").read_bytes(), task, name, sandbox=box, limits=limits)
        for name in ("instructor", "student")
    )
    assert [result.headline for result in solved.results if result.points not in (None, result.out_of)] == []
    assert sum(result.kind == "function" for result in solved.results) == len(check.CHECKS)
    assert blank.points == 0
    assert not any(result.points is None for result in blank.results)


# ---------------------------------------------------------------- what a receipt says

IN_PLACE = (
    "def softmax(s):\n    s -= s.max(-1, keepdims=True)\n    np.exp(s, out=s)\n    s /= s.sum(-1, keepdims=True)\n"
)
SAID = [  # a cell, and what is said of the function
    ("", "softmax: not found."),
    (STUB, "softmax: not written yet."),
    ("softmax = 3", "softmax: expected your function, got int."),
    (
        "def softmax(s):\n    return np.exp(s) / np.exp(s).sum(axis=-1, keepdims=True)",
        "looks like: no maximum subtracted",
    ),
    (f"{IN_PLACE}    return s.copy()", "changes its argument scores"),
]


@pytest.mark.parametrize(("cell", "says"), SAID)
def test_what_is_wrong_with_a_function_is_said(box, cell, says):
    result = one(IMPORTS, cell, box=box).results[0]
    assert result.points == 0
    assert says in result.headline


def test_by_hand_answers_are_graded_part_by_part(box):
    cell = BY_HAND.replace('"mean": 3', '"mean": 4').replace('"variance": 2', '"variance": None')
    result = one(IMPORTS, cell, box=box).results[1]
    assert (result.points, result.headline) == (1.2, "9.1: 3 of 5 right.")
    assert "9.1, mean: not right.\n  yours 4; (1 + 3 + 3 + 5) / 4 = 3" in result.details
    assert "9.1, variance: not answered yet." in result.details


@pytest.mark.parametrize(
    ("text", "grade_id", "points"),
    [("Because.", "ex-09-3", None), ("Because.", "ex-09-3-answer", None),
     (f"{NOT_ANSWERED}\n", "ex-09-3", 0), ("  \n", "ex-09-3", 0)],
)  # fmt: skip
def test_a_text_is_left_to_a_person_and_a_blank_one_is_not(box, text, grade_id, points):
    result = one(IMPORTS, words(text, grade_id), box=box).results[2]
    said = "to be read by a person" if points is None else "no answer was found"
    assert (result.points, result.headline) == (points, f"9.3: {said}.")


TIMERS = "signal.setitimer(signal.ITIMER_REAL, 0)\nsignal.setitimer(signal.ITIMER_PROF, 0)"
DEAF = f"import signal\n{TIMERS}\nwhile True: pass"  # to being asked to stop


def test_what_hangs_is_named_and_the_rest_is_graded_without_it(box):
    receipt = one(IMPORTS, DEAF, SOFTMAX, BY_HAND, box=box)
    assert receipt.points == 4
    said = "The cell did not stop within 1 second of processor time; the others are graded without it."
    assert receipt.cells == [{"cell": 2, "error": said}]


def test_when_the_time_of_a_submission_is_over_what_was_finished_counts(box):
    limits = gradecheck.limits(cell=30.0, call=30.0, total=2.0)
    whole = json.loads(ASSIGNMENT)
    whole["exercises"].reverse()
    task = grading.read_assignment(json.dumps(whole).encode())
    receipt = one(IMPORTS, BY_HAND, "def softmax(scores):\n    while True: pass", box=box, limits=limits, task=task)
    assert [result.points for result in receipt.results] == [0, 2, 0]
    assert "softmax: not yet. On input 1 it was stopped after" in receipt.results[2].headline
    assert receipt.results[2].remark.startswith("8.8: On input 1 it was stopped after")
    assert receipt.results[2].details[0].startswith("With this input") and "scores = " in receipt.results[2].details[1]
    assert receipt.slow
    deaf = "def softmax(scores):\n    " + DEAF.replace("\n", "\n    ")
    receipt = one(IMPORTS, deaf, box=box)
    assert "8.8: It did not stop within 1 second of processor time" in receipt.remarks
    assert "scores = " in receipt.results[0].details[1]
    receipt = one(IMPORTS, DEAF, SOFTMAX, box=box, limits=limits)
    assert "its 2 seconds were used up" in receipt.results[0].headline


def test_time_is_the_processor_s_and_sleep_ends_by_the_clock(box):
    receipt = one(IMPORTS, "import time\ntime.sleep(1.5)", SOFTMAX, BY_HAND, box=box)  # the cell has one second
    assert (receipt.points, gradecheck.printed(receipt), receipt.slow) == (4, "", False)
    receipt = one(IMPORTS, "import time\ntime.sleep(100)", box=box, limits=gradecheck.limits(clock=3.0))
    assert "3 seconds on the clock" in gradecheck.printed(receipt)
    many = "import os\nfor _ in range(3):\n    if os.fork() == 0:\n        while True: pass\nos.wait()"
    receipt = one(IMPORTS, many, SOFTMAX, BY_HAND, box=box)
    assert (receipt.points, receipt.slow) == (4, True)
    assert "did not stop within 1 second of processor time" in gradecheck.printed(receipt)


# ---------------------------------------------------------------- hidden inputs


def asked(monkeypatch, *cells, box, key=b"k" * 32):
    """The inputs that a notebook's function is asked for."""
    request, seen = grading._Run._request, []

    def listens(self, header, arrays=(), **how):
        seen.extend(np.array(array).tolist() for array in arrays)
        return request(self, header, arrays, **how)

    with monkeypatch.context() as patch:
        patch.setattr(grading._Run, "_request", listens)
        return seen, one(*cells, box=box, key=key)


def test_hidden_inputs_are_new_for_each_submission_and_the_same_at_each_grading(box, monkeypatch):
    def ask(*cells, key=b"a" * 32):
        return repr(asked(monkeypatch, IMPORTS, SOFTMAX, *cells, box=box, key=key)[0])

    assert ask() == ask()
    assert len({ask(), ask(key=b"b" * 32), ask("# mine")}) == 3


def test_a_checker_that_fails_takes_no_points_and_says_so(box, monkeypatch):
    monkeypatch.setitem(check.CHECKS, "softmax", Check(np.argmax, "ex-08-8", cases=lambda rng: [1 / 0]))
    _, receipt = asked(monkeypatch, IMPORTS, "softmax = np.argmax", box=box)
    assert receipt.results[0].points is None
    assert "the checker itself failed" in receipt.results[0].headline


# ---------------------------------------------------------------- a folder of them


@pytest.fixture
def week(tmp_path):
    """Three students, of whom one handed in nothing that can be read."""
    return gradecheck.folder(
        tmp_path / "week", {"anna.ipynb": HONEST, "bob.ipynb": data(IMPORTS, STUB, BY_HAND), "cem.ipynb": b""}
    )


def test_the_table_has_a_line_for_each_student_and_pages_say_the_same(week, tmp_path, box):
    gradecheck.grade(week, tmp_path / "grades.csv", box)
    empty = "The file is no notebook: it is empty"
    stub = "not written yet. The line that raises NotImplementedError still ends it"
    assert table(tmp_path / "grades.csv") == [
        ["student", "points", "out of", "8.8", "9.1", "9.3", "remark"],
        ["anna", "4", "7", "2", "2", "", "to be read: 9.3"],
        ["bob", "2", "7", "0", "2", "0", f"8.8: {stub}; 9.3: no answer"],
        ["cem", "0", "7", "0", "0", "0", empty],
    ]
    head = ["student", "exercise", "met", "points", "comment"]
    assert table(tmp_path / "grades" / "to_read.csv") == [head, ["anna", "9.3", "", "", ""]]
    pages = {path.name: path.read_text("utf-8") for path in (tmp_path / "grades" / "feedback").iterdir()}
    assert sorted(pages) == ["anna.html", "bob.html", "cem.html", "index.html"]
    for part in ("2 of 7 points", "8.8 softmax: 0 of 2", "softmax: not written yet.", "9.1: right."):
        assert part in pages["bob.html"]
    assert '<a href="anna.html">anna</a>' in pages["index.html"]


def test_only_what_changed_is_graded_again(week, tmp_path, box, monkeypatch):
    out = tmp_path / "grades.csv"
    gradecheck.grade(week, out, box)
    before = gradecheck.everything(out)
    with monkeypatch.context() as patch:
        patch.setattr(grading, "Session", None)  # any sandbox would be an error now
        summary, _ = gradecheck.grade(week, out, box)
    assert (summary.reused, summary.graded) == (3, 0)
    assert gradecheck.everything(out) == before
    (week / "bob.ipynb").write_bytes(HONEST)
    (week / "cem.ipynb").write_bytes(HONEST)
    assert gradecheck.grade(week, out, box)[0].graded == 2
    limits = dataclasses.replace(SMALL, call=2.0)
    assert gradecheck.grade(week, out, box, limits=limits)[0].graded == 3
    (tmp_path / "grades" / "receipts" / "anna.json").write_bytes(b'{"points": 99}')  # no receipt
    assert gradecheck.grade(week, out, box, limits=limits)[0].graded == 1
    assert gradecheck.grade(week, out, box, limits=limits, only=["anna", "bob"])[0].graded == 2


def test_a_class_list_gives_nothing_to_the_missing_and_reports_the_unknown(week, tmp_path, box):
    (tmp_path / "class.csv").write_text("name;student\nAnna;anna\nBob;bob \nDora;dora\n", "utf-8-sig")
    summary, receipts = gradecheck.grade(week, tmp_path / "grades.csv", box, class_list=tmp_path / "class.csv")
    assert receipts["dora"].reason == "no submission"
    assert ["dora", "0", "7", "0", "0", "0", "no submission"] in table(tmp_path / "grades.csv")
    assert "cem: handed in, but is not in the class list." in summary.notes


def test_the_list_of_what_is_to_be_read_cannot_be_lost_by_filling_it_in(week, tmp_path, box):
    gradecheck.grade(week, tmp_path / "grades.csv", box)
    with pytest.raises(ClassroomError, match="Copy it"):
        gradecheck.grade(week, tmp_path / "grades.csv", box, manual=tmp_path / "grades" / "to_read.csv")


def test_two_graders_do_not_write_one_folder(week, tmp_path, box):
    (tmp_path / "grades").mkdir()
    with gradebook.locked(tmp_path / "grades"), pytest.raises(ClassroomError, match="another grader is at work"):
        gradecheck.grade(week, tmp_path / "grades.csv", box)
    gradecheck.grade(week, tmp_path / "grades.csv", box)


# ---------------------------------------------------------------- the command


def run_main(*words_, capsys):
    status = main(["grade", *(str(word) for word in words_)])
    said = capsys.readouterr()
    return status, said.out, said.err


@gradecheck.needs_linux
@pytest.mark.parametrize("fake", [None, "bwrap: No permissions to create new namespace"])
def test_without_a_bubblewrap_that_works_it_refuses_and_says_how_to_get_it(week, tmp_path, monkeypatch, capsys, fake):
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    if fake:
        (tmp_path / "bin").mkdir()
        (tmp_path / "bin" / "bwrap").write_text(f"#!/bin/sh\necho '{fake}' >&2\nexit 1\n")
        (tmp_path / "bin" / "bwrap").chmod(0o755)
        popen = sandbox._popen
        fake_one = str(tmp_path / "bin" / "bwrap")
        monkeypatch.setattr(sandbox, "_popen", lambda command, passed: popen([fake_one, *command[1:]], passed))
    status, _, said = run_main(week, "--out", tmp_path / "g.csv", capsys=capsys)
    assert status == 2
    assert (fake or "was not found") in said
    assert "sudo apt install bubblewrap" in said and "AppArmor profile: SECURITY.md" in said
    assert not (tmp_path / "g.csv").exists()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (["nowhere"], "submissions: expected a folder"),
        (["--out", "grades.txt"], "--out: expected a file .csv"),
        (["--out", "."], "--out: expected a file .csv"),
        (["--out", "week/grades.csv"], "outside the folder of submissions"),
        (["--assignment", "none.json"], "assignment: expected what"),
        (["--class", "none.csv"], "No such file or directory: none.csv"),
        (["--student-column", "x"], "--student-column: expected --class CSV with it"),
        (["--allow", "no-such-package"], "--allow: expected installed packages, got 'no-such-package'"),
        (["--allow", "ToyTF"], "--allow: toytf holds the right functions"),
        (["--cell-seconds", "nan"], "expected numbers above 0"),
        (["--memory", "1"], "--memory: expected at least 256 MB, got 1"),
        (["--out", "file/g.csv"], "Not a directory: "),
    ],
)
def test_what_is_wrong_with_a_command_is_said_before_anything_is_graded(
    week, tmp_path, box, capsys, monkeypatch, change, says
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    status, _, said = run_main(*(change if change[0] == "nowhere" else ["week", *change]), capsys=capsys)
    assert status == 2
    assert says in said
    assert not (tmp_path / "grades.csv").exists()


EXERCISE = {"label": "a", "number": "1", "kind": "text", "points": 1}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"format": "x"}, "another format"),
        ({"version": 2}, "another format"),
        ({"exercises": []}, "no exercise, or one twice"),
        ({"exercises": [3]}, "TypeError"),
        ({"exercises": [EXERCISE | {"kind": "function", "name": "nothing"}]}, "does not know.*name='nothing'"),
        ({"exercises": [EXERCISE | {"kind": "by hand", "number": "99.9"}]}, "does not know.*number='99.9'"),
        ({"exercises": [EXERCISE | {"kind": "oral"}]}, "does not know.*kind='oral'"),
        ({"exercises": [EXERCISE | {"points": "x"}]}, "TypeError"),
        ({"exercises": [EXERCISE] * 2}, "no exercise, or one twice"),
    ],
)
def test_an_assignment_that_is_none_is_refused_with_the_entry(change, says):
    with pytest.raises(ClassroomError, match=says):
        grading.read_assignment(json.dumps(json.loads(ASSIGNMENT) | change).encode())


def test_inside_there_is_python_and_numpy_and_nothing_of_ours(box):
    source = "import os\nprint(*(sorted(os.listdir(x)) for x in ('/', '/grader')), 'toytf' in os.listdir('/site'))"
    said = gradecheck.printed(one(source, box=box))
    assert "['frames.py', 'outcomes.py', 'runner.py'] False" in said
    shown = set(re.findall(r"'(\w+)'", said.partition("]")[0]))
    assert not {"home", "work", "var", "opt", "mnt", "sys", "run", "srv"} & shown
    found = sandbox.packages(("numpy",))
    assert "numpy" in found and not {"toytf", "pytest", "IPython", "_pytest", "tqdm"} & set(found)
    assert "tqdm" in sandbox.packages(("numpy", "tqdm"))


def test_it_is_a_command_of_its_own():
    done = subprocess.run([sys.executable, "-m", "toytf_classroom"], capture_output=True, text=True, env={**os.environ})
    assert done.returncode == 0
    commands = re.findall(r"^  ([a-z]+) ", done.stdout, re.MULTILINE)
    assert commands == "assign grade feedback export nbgrader sheet".split()
