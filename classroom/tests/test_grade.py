"""What the grader promises to honest students and to their teacher: no point lost, nothing lost, all explained."""

import contextlib
import dataclasses
import json
import multiprocessing
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import gradecheck
import kills
from gradecheck import (
    ASSIGNMENT,
    BLANK,
    BY_HAND,
    HONEST,
    IMPORTS,
    SMALL,
    SOFTMAX,
    STUB,
    code,
    data,
    notebook,
    table,
    words,
)
from toytf import check
from toytf.course.exercises import NOT_ANSWERED
from toytf_classroom import ClassroomError, frames, gradebook, grading, sandbox, submission, workers
from toytf_classroom import grading as grade
from toytf_classroom.__main__ import main

# ---------------------------------------------------------------- honest variants

HTML = [{"output_type": "display_data", "data": {"text/html": ["<b>x</b>"], "image/png": "aGk="}, "metadata": {}}]
DISPLAY = "from IPython.display import HTML, Markdown, display\ndisplay(HTML('<b>weights</b>'), Markdown('*x*'))"
VARIANTS = {name: data(*cells) for name, cells in gradecheck.cells_of("honest.txt").items()} | {
    "as_in_the_book": HONEST,
    "html_output": json.dumps(notebook({**code(IMPORTS), "outputs": HTML}, SOFTMAX, BY_HAND, DISPLAY)).encode(),
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
    made = [sys.executable, "-m", "toytf_classroom", "assign", "--title", "All", "--out", str(tmp_path / "all")]
    subprocess.run(made, check=True, capture_output=True)
    assignment = grade.read_assignment(tmp_path / "all" / "submissions" / "assignment.json")
    limits = dataclasses.replace(SMALL, cell=30.0, call=30.0, total=120.0)
    solved, blank = (
        grade.grade_one(tmp_path / "all" / f"{name}.ipynb", assignment, sandbox=box, limits=limits)
        for name in ("instructor", "student")
    )
    lost = [result.headline for result in solved.results if result.points not in (None, result.out_of)]
    assert lost == []
    assert sum(result.kind == "function" for result in solved.results) == len(check.CHECKS)
    assert blank.points == 0
    assert not any(result.points is None for result in blank.results)


# ---------------------------------------------------------------- what a receipt says


def one(*cells, box, limits=SMALL, key=b"k" * 32, assignment=None):
    return grade.grade_one(data(*cells), assignment or gradecheck.assignment(), sandbox=box, key=key, limits=limits)


def test_a_mistake_is_named_with_the_checker_s_words(box):
    receipt = one(
        IMPORTS, "def softmax(s):\n    return np.exp(s) / np.exp(s).sum(axis=-1, keepdims=True)", BLANK, box=box
    )
    result = receipt.results[0]
    assert (result.points, result.mistake) == (0, "no maximum subtracted")
    assert "This looks like: no maximum subtracted." in result.headline
    assert "With this input (scores that overflow exp):" in result.details


def test_a_stub_is_told_that_it_is_not_written_and_a_missing_function_that_it_is_not_there(box):
    assert one(IMPORTS, STUB, box=box).results[0].headline == "softmax: not written yet."
    assert one(IMPORTS, box=box).results[0].headline.startswith("softmax: not found.")
    assert one(IMPORTS, "softmax = 3", box=box).results[0].headline == "softmax: expected your function, got int."


def test_changing_an_argument_in_place_is_told(box):
    lines = [
        "def softmax(s):",
        "s -= s.max(-1, keepdims=True)",
        "np.exp(s, out=s)",
        "s /= s.sum(-1, keepdims=True)",
        "return s",
    ]
    receipt = one(IMPORTS, "\n    ".join(lines), box=box)
    assert "changes its argument scores" in receipt.results[0].headline
    assert receipt.results[0].points == 0


def test_by_hand_answers_are_graded_part_by_part(box):
    cell = BY_HAND.replace('"mean": 3', '"mean": 4').replace('"variance": 2', '"variance": None')
    result = one(IMPORTS, cell, box=box).results[1]
    assert result.points == 1.2
    assert result.headline == "9.1: 3 of 5 right."
    assert "9.1, mean: not right.\n  yours 4; (1 + 3 + 3 + 5) / 4 = 3" in result.details
    assert "9.1, variance: not answered yet." in result.details


def test_a_text_is_left_to_a_person_and_a_blank_one_is_not(box):
    read = one(IMPORTS, words("Rows add up to 1."), box=box).results[2]
    assert (read.points, read.text, read.headline) == (None, "Rows add up to 1.", "9.3: to be read by a person.")
    assert one(IMPORTS, words(f"{NOT_ANSWERED}\n"), box=box).results[2].points == 0
    blank = one(IMPORTS, words("  \n"), box=box).results[2]
    assert (blank.points, blank.headline) == (0, "9.3: no answer was found.")
    named = one(IMPORTS, words("Because.", grade_id="ex-09-3-answer"), box=box).results[2]
    assert named.text == "Because."
    assert one(IMPORTS, words("Because.", grade_id="ex-09-30"), box=box).results[2].points == 0


TIMERS = "signal.setitimer(signal.ITIMER_REAL, 0)\nsignal.setitimer(signal.ITIMER_PROF, 0)"
DEAF = f"import signal\n{TIMERS}\nwhile True: pass"  # to being asked to stop


def test_what_hangs_is_named_and_the_rest_is_graded_without_it(box):
    receipt = one(IMPORTS, DEAF, SOFTMAX, BY_HAND, box=box)
    assert receipt.points == 4
    assert receipt.cells == [
        {
            "cell": 2,
            "error": "The cell did not stop within 1 second of processor time; the others are graded without it.",
        }
    ]
    inside = DEAF.replace("\n", "\n    ")
    receipt = one(IMPORTS, f"def softmax(scores):\n    {inside}", BY_HAND, box=box)
    assert receipt.results[0].headline == "softmax: not yet. It did not stop within 1 second of processor time."
    assert receipt.results[1].points == 2


def test_when_the_time_of_a_submission_is_over_what_was_finished_counts(box):
    limits = gradecheck.limits(cell=30.0, call=30.0, total=2.0)
    whole = json.loads(ASSIGNMENT)
    whole["exercises"].reverse()
    assignment = grade.read_assignment(json.dumps(whole).encode())
    late = "def softmax(scores):\n    while True: pass"
    receipt = one(IMPORTS, BY_HAND, late, box=box, limits=limits, assignment=assignment)
    assert [result.points for result in receipt.results] == [0, 2, 0]
    assert "softmax: not yet. On input 1 it was stopped after" in receipt.results[2].headline
    assert receipt.slow
    receipt = one(IMPORTS, DEAF, SOFTMAX, box=box, limits=limits)
    assert "its 2 seconds were used up" in receipt.results[0].headline


def test_what_sleeps_ends_by_the_clock_and_would_sleep_again(box):
    receipt = one("import time\ntime.sleep(1000)", box=box, limits=gradecheck.limits(clock=3.0))
    assert "3 seconds on the clock" in gradecheck.printed(receipt)
    assert not receipt.slow


def test_hidden_inputs_are_new_for_each_submission_and_the_same_at_each_grading(box):
    show = "def softmax(scores):\n    print(scores)"
    first, again = (one(IMPORTS, show, box=box).to_json() for _ in range(2))
    assert first == again
    texts = set()
    for cells, key in [((IMPORTS,), b"a" * 32), ((IMPORTS,), b"b" * 32), ((IMPORTS, "# mine"), b"a" * 32)]:
        run = grading._Run(submission.read(data(*cells)), gradecheck.assignment(), box, SMALL, key)
        texts.add(str(run._inputs(gradecheck.assignment().exercises[0]).normal(size=3)))
    assert len(texts) == 3


def test_a_checker_that_fails_fails_no_batch(box, monkeypatch):
    monkeypatch.setattr(grading, "diagnose", lambda *a: 1 / 0)
    result = one(IMPORTS, SOFTMAX, box=box).results[0]
    assert (result.points, result.person) == (None, True)
    assert "the checker itself failed" in result.headline
    assert "ZeroDivisionError" in result.details[0]


# ---------------------------------------------------------------- a folder of them


@pytest.fixture
def week(tmp_path):
    """Three students, of whom one handed in nothing that can be read."""
    return gradecheck.folder(
        tmp_path / "week", {"anna.ipynb": HONEST, "bob.ipynb": data(IMPORTS, STUB, BY_HAND), "cem.ipynb": b"{"}
    )


def everything(out):
    files = [out, *out.with_suffix("").rglob("*")]
    return {
        path.relative_to(out.parent): path.read_bytes() for path in files if path.is_file() and path.name != ".lock"
    }


def test_the_table_has_a_line_for_each_student_and_a_column_for_each_exercise(week, tmp_path, box):
    gradecheck.grade(week, tmp_path / "grades.csv", box)
    assert table(tmp_path / "grades.csv") == [
        ["student", "points", "out of", "8.8", "9.1", "9.3", "remark"],
        ["anna", "4", "7", "2", "2", "", "to be read: 9.3"],
        ["bob", "2", "7", "0", "2", "0", ""],
        [
            "cem",
            "0",
            "7",
            "0",
            "0",
            "0",
            "The file is no notebook: it is no valid JSON (line 1); was the file cut off?",
        ],
    ]
    assert table(tmp_path / "grades" / "to_read.csv") == [
        ["student", "exercise", "met", "points", "comment"],
        ["anna", "9.3", "", "", ""],
    ]
    pages = sorted(p.name for p in (tmp_path / "grades" / "feedback").iterdir())
    assert pages == ["anna.html", "bob.html", "cem.html", "index.html"]


def test_a_second_run_grades_nothing_again_and_writes_the_same_bytes(week, tmp_path, box, monkeypatch):
    gradecheck.grade(week, tmp_path / "grades.csv", box)
    before = everything(tmp_path / "grades.csv")
    monkeypatch.setattr(grading, "Session", None)  # any sandbox would be an error now
    summary, _ = gradecheck.grade(week, tmp_path / "grades.csv", box)
    assert (summary.reused, summary.graded) == (3, 0)
    assert everything(tmp_path / "grades.csv") == before


def test_what_changed_is_graded_again_and_nothing_else(week, tmp_path, box):
    out = tmp_path / "grades.csv"
    gradecheck.grade(week, out, box)
    (week / "bob.ipynb").write_bytes(HONEST)
    (week / "cem.ipynb").write_bytes(HONEST)
    assert gradecheck.grade(week, out, box)[0].graded == 2
    assert gradecheck.grade(week, out, box, limits=dataclasses.replace(SMALL, call=2.0))[0].graded == 3
    (tmp_path / "grades" / "receipts" / "anna.json").write_bytes(b'{"points": 99}')  # no receipt
    assert gradecheck.grade(week, out, box, limits=dataclasses.replace(SMALL, call=2.0))[0].graded == 1
    assert gradecheck.grade(week, out, box, limits=dataclasses.replace(SMALL, call=2.0), again=True)[0].graded == 3


def test_a_class_list_gives_nothing_to_the_missing_and_reports_the_unknown(week, tmp_path, box):
    (tmp_path / "class.csv").write_text("name;student\nAnna;anna\nBob;bob\nDora;dora\n", "utf-8-sig")
    summary, receipts = gradecheck.grade(week, tmp_path / "grades.csv", box, class_list=tmp_path / "class.csv")
    assert receipts["dora"].reason == "no submission"
    assert ["dora", "0", "7", "0", "0", "0", "no submission"] in table(tmp_path / "grades.csv")
    assert "cem: handed in, but is not in the class list." in summary.notes


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("eve,9.3,1,", "line 2: student: expected one who"),
        ("anna,9.9,1,", "line 2: exercise: expected one of 8.8, 9.1, 9.3, got '9.9'"),
        ("anna,9.3,4,", "line 2: points: expected a number from 0 to 3, got '4'"),
        ("anna,9.3,-1,", "from 0 to 3"),
        ("anna,9.3,nan,", "from 0 to 3"),
        ("anna,9.3,good,", "from 0 to 3"),
        ("anna,9.3,1,\nanna,9.3,2,", "in an earlier line already"),
    ],
)
def test_a_wrong_line_of_a_person_s_points_is_named_and_nothing_is_written(week, tmp_path, box, line, says):
    (tmp_path / "manual.csv").write_text(f"student,exercise,points,comment\n{line}\n")
    with pytest.raises(ClassroomError, match=re.escape(says)):
        gradecheck.grade(week, tmp_path / "grades.csv", box, manual=tmp_path / "manual.csv")
    assert not (tmp_path / "grades.csv").exists()


def test_the_list_of_what_is_to_be_read_cannot_be_lost_by_filling_it_in(week, tmp_path, box):
    gradecheck.grade(week, tmp_path / "grades.csv", box)
    with pytest.raises(ClassroomError, match="Copy it"):
        gradecheck.grade(week, tmp_path / "grades.csv", box, manual=tmp_path / "grades" / "to_read.csv")


def test_two_graders_do_not_write_one_folder(week, tmp_path, box):
    (tmp_path / "grades").mkdir()
    with gradebook.locked(tmp_path / "grades"), pytest.raises(ClassroomError, match="another grader is at work"):
        gradecheck.grade(week, tmp_path / "grades.csv", box)
    gradecheck.grade(week, tmp_path / "grades.csv", box)


def test_trouble_of_the_grader_s_own_leaves_one_line_empty_and_the_table_whole(week, tmp_path, box, monkeypatch):
    out, whole = tmp_path / "grades.csv", grading.grade_one

    def sick(data, assignment, **how):
        if how["student"] == "bob":
            raise RuntimeError("of the grader")
        return whole(data, assignment, **how)

    monkeypatch.setattr(grading, "grade_one", sick)
    summary, receipts = gradecheck.grade(week, out, box)
    assert summary.failed == ["bob: could not be graded, RuntimeError: of the grader"]
    assert receipts["anna"].points == 4
    assert [row[:2] for row in table(out)] == [["student", "points"], ["anna", "4"], ["bob", ""], ["cem", "0"]]
    assert table(out)[2][3:] == ["", "", "", "could not be graded, RuntimeError: of the grader"]
    page = (tmp_path / "grades/feedback/bob.html").read_text("utf-8")
    assert "Not graded yet" in page
    assert "RuntimeError" not in page  # that is for the teacher
    monkeypatch.setattr(grading, "grade_one", whole)
    summary, _ = gradecheck.grade(week, out, box)
    assert (summary.graded, summary.reused) == (1, 2)
    assert [row[1] for row in table(out)] == ["points", "4", "2", "0"]


# ---------------------------------------------------------------- killed and stopped


def test_killed_at_any_moment_a_second_run_yields_the_same_bytes(tmp_path):
    gradecheck.sandbox_or_skip()
    count = int(os.environ.get("TOYTF_KILLS", "10"))
    report = kills.run(count, tmp_path, seed=0)
    assert report["kills"] == count
    assert report["differences"] == []


def test_a_grader_that_forgot_what_it_had_written_would_be_caught(tmp_path):
    gradecheck.sandbox_or_skip()

    def careless(path, new):
        path.write_bytes(new[: len(new) // 2])
        os.killpg(0, signal.SIGKILL)

    assert kills.run(2, tmp_path, seed=0, write=careless)["differences"]


def test_killed_it_leaves_no_process_behind(week, tmp_path, box):
    mark = f"toytf-{os.getpid()}-{time.time_ns()}"
    (week / "anna.ipynb").write_bytes(data(f"import os\nos.execv('/usr/bin/sleep', ['{mark}', '1000'])"))
    command = [
        sys.executable,
        "-m",
        "toytf_classroom",
        "grade",
        str(week),
        "--out",
        str(tmp_path / "g.csv"),
        "--cell-seconds",
        "900",
    ]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _wait_for(lambda: _running(mark))
    process.kill()
    process.wait()
    _wait_for(lambda: not _running(mark))


def test_after_ctrl_c_the_same_command_goes_on(week, tmp_path, box):
    (week / "bob.ipynb").write_bytes(data("import time\ntime.sleep(1000)"))
    command = [
        sys.executable,
        "-m",
        "toytf_classroom",
        "grade",
        str(week),
        "--out",
        str(tmp_path / "g.csv"),
        "--jobs",
        "1",
        "--cell-seconds",
    ]
    process = subprocess.Popen(
        [*command, "900"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=_hears_ctrl_c
    )
    _wait_for((tmp_path / "g" / "receipts" / "anna.json").exists)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == 130, said
    assert "the same command goes on from here" in said
    assert not (tmp_path / "g.csv").exists()
    (week / "bob.ipynb").write_bytes(HONEST)
    again = subprocess.run([*command, "900"], capture_output=True, text=True)
    assert again.returncode == 0, again.stderr
    assert "2 graded now, 1 as before" in again.stdout


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no copies of a process here")
def test_ctrl_c_is_heard_while_a_process_is_copied(monkeypatch, keyboard):
    def fork():
        """Ctrl-C in one of the calls that Python makes after a fork, whose errors it drops."""
        copy = was()
        if copy:
            with contextlib.suppress(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
        return copy

    was = os.fork
    monkeypatch.setattr(os, "fork", fork)
    with pytest.raises(KeyboardInterrupt):
        list(workers.work(["bob"], lambda task, worker: signal.pause(), jobs=1, clock=1e6))
    assert multiprocessing.active_children() == []


def _hears_ctrl_c():
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _running(mark):
    """Whether a process is there whose command begins with this word."""
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if path.read_bytes().startswith(mark.encode()):
                return True
    return False


def _wait_for(what):
    while not what():
        time.sleep(0.05)


# ---------------------------------------------------------------- the command


def class_list(week, text):
    path = week.parent / "class.csv"
    path.write_text(text)
    return path


def run_main(*words_, capsys):
    status = main(["grade", *(str(word) for word in words_)])
    said = capsys.readouterr()
    return status, said.out, said.err


def test_the_command_grades_a_folder(week, tmp_path, box, capsys):
    status, out, _ = run_main(week, "--out", tmp_path / "g.csv", "--jobs", "2", capsys=capsys)
    assert status == 0
    assert out.startswith("3 students: 3 graded now, 0 as before.")
    assert f"Grades: {tmp_path / 'g.csv'}" in out
    assert "1 text is to be read by a person" in out
    assert table(tmp_path / "g.csv")[1][:2] == ["anna", "4"]


def test_without_bubblewrap_it_refuses_and_says_how_to_get_it(week, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))
    status, _, said = run_main(week, "--out", tmp_path / "g.csv", capsys=capsys)
    assert status == 2
    assert "sudo apt install bubblewrap" in said
    assert not (tmp_path / "g.csv").exists()


@gradecheck.needs_linux
def test_where_namespaces_are_forbidden_it_refuses_and_says_what_to_do(week, tmp_path, monkeypatch, capsys):
    fake = tmp_path / "bin" / "bwrap"
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    fake.chmod(0o755)
    (tmp_path / "bin").chmod(0o755)
    popen = sandbox._popen
    monkeypatch.setattr(
        sandbox, "_popen", lambda command, passed, **how: popen([str(fake), *command[1:]], passed, **how)
    )
    monkeypatch.setattr(sandbox.shutil, "which", lambda name: str(fake))
    status, _, said = run_main(week, "--out", tmp_path / "g.csv", capsys=capsys)
    assert status == 2
    assert "No permissions to create new namespace" in said
    assert "kernel.apparmor_restrict_unprivileged_userns=0" in said


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda week: ["nowhere"], "submissions: expected a folder"),
        (lambda week: [week, "--out", "grades.txt"], "--out: expected a file .csv"),
        (lambda week: [week, "--out", week / "grades.csv"], "outside the folder of submissions"),
        (lambda week: [week, "--assignment", week / "none.json"], "assignment: expected what"),
        (lambda week: [week, "--class", week / "none.csv"], "expected a table"),
        (lambda week: [week, "--class", class_list(week, "student\nanna\n\nanna\n")], "line 3: student: expected"),
        (lambda week: [week, "--class", class_list(week, "student;x\nanna;\nanna;\n")], "line 3: expected each"),
        (
            lambda week: [week, "--allow", "no-such-package"],
            "--allow: expected installed packages, got 'no-such-package'",
        ),
    ],
)
def test_what_is_wrong_with_a_command_is_said_before_anything_is_graded(
    week, tmp_path, box, capsys, monkeypatch, change, says
):
    monkeypatch.chdir(tmp_path)
    status, _, said = run_main(*change(week), capsys=capsys)
    assert status == 2
    assert says in said
    assert not (tmp_path / "grades.csv").exists()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"format": "x"}, "toytf assignment"),
        ({"version": 2}, "toytf assignment"),
        ({"exercises": []}, "got none"),
        ({"exercises": [3]}, r"exercises\[0\]: expected an object, got int"),
        (
            {"exercises": [{"label": "a", "number": "1", "kind": "function", "name": "nothing", "points": 1}]},
            "got 'nothing'",
        ),
        ({"exercises": [{"label": "a", "number": "99.9", "kind": "by hand", "points": 1}]}, "got '99.9'"),
        ({"exercises": [{"label": "a", "number": "1", "kind": "oral", "points": 1}]}, "got 'oral'"),
        ({"exercises": [{"label": "a", "number": "1", "kind": "text", "points": "x"}]}, "points: expected a number"),
        ({"exercises": [{"label": "a", "number": "1", "kind": "text", "points": 1}] * 2}, "each exercise once"),
    ],
)
def test_an_assignment_that_is_none_is_refused_with_the_entry(change, says):
    with pytest.raises(grade.BadAssignment, match=says):
        grade.read_assignment(json.dumps(json.loads(ASSIGNMENT) | change).encode())


@gradecheck.needs_posix
def test_without_sandbox_it_is_loud_and_grades_the_same(week, tmp_path, capsys):
    words_ = ["--without-sandbox-i-trust-this-code", "--cell-seconds", "20"]
    status, _, said = run_main(week, "--out", tmp_path / "g.csv", *words_, capsys=capsys)
    assert status == 0, said
    assert "WITHOUT SANDBOX" in said
    assert [row[1] for row in table(tmp_path / "g.csv")] == ["points", "4", "2", "0"]


@gradecheck.needs_posix
def test_without_sandbox_the_code_is_another_user_s_if_root_starts_it_and_has_limits():
    box = sandbox.Unprotected()
    cell = "import os, resource as r\nprint(os.getuid(), os.environ.get('TOYTF_PROGRESS'), r.getrlimit(r.RLIMIT_FSIZE))"
    receipt = one(
        IMPORTS,
        cell,
        "while True: pass",
        SOFTMAX,
        "import os\nos.setuid(0) if os.getuid() else 1 / 0",
        box=box,
    )
    said = gradecheck.printed(receipt)
    assert f"{sandbox.FIRST_USER if os.geteuid() == 0 else os.getuid()} None ({4 << 20}, {4 << 20})" in said
    assert "stopped after 1 second of processor time" in said
    assert "PermissionError" in said or "ZeroDivisionError" in said
    assert receipt.points == 2


# ---------------------------------------------------------------- pieces


def test_a_message_comes_back_as_it_was_sent():
    arrays = [
        np.arange(6.0).reshape(2, 3),
        np.array(True),
        np.zeros((0, 3), np.int8),
        np.array([1.5], ">f4"),
        np.float16(2),
    ]
    header, body = frames.unpack_whole(frames.pack({"n": 1, "x": float("inf")}, arrays))
    back = frames.read_arrays(header["arrays"], body)
    assert header["x"] == float("inf")
    for a, b in zip(arrays, back, strict=True):
        assert np.array_equal(a, b)
        assert np.shape(a) == b.shape
        assert b.flags.writeable


VALUES = [(1, 2.5, None, "a", True), [[1], (2,)], {"a": np.ones(2), 3: (4,)}, np.float32(1.5), float("nan")]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_an_argument_comes_back_as_it_was(value):
    arrays = []
    packed = json.loads(json.dumps(frames.pack_value(value, arrays)))
    assert repr(frames.unpack_value(packed, [np.asarray(a) for a in arrays])) == repr(value)


def test_an_argument_that_is_no_data_cannot_be_sent():
    with pytest.raises(TypeError, match="got function"):
        frames.pack_value([lambda x: x], [])


def test_every_checker_s_inputs_can_be_sent():
    for checker in check.CHECKS.values():
        for case in checker.draw(np.random.default_rng(0)):
            arrays = []
            json.dumps(frames.pack_value(tuple(case.args), arrays))


def test_the_filter_of_system_calls_is_known_for_common_processors_only():
    assert len(sandbox.seccomp("x86_64")) % 8 == 0
    assert len(sandbox.seccomp("aarch64")) % 8 == 0
    assert sandbox.seccomp("vax") is None


def test_a_family_is_found_also_where_the_kernel_keeps_no_lists():
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        assert child.pid in sandbox.family(os.getpid())
        assert child.pid in sandbox._all_parents()[os.getpid()]
    finally:
        child.kill()
        child.wait()


def test_what_is_allowed_brings_what_it_needs_and_nothing_else():
    found = sandbox.packages(("numpy",))
    assert "numpy" in found
    assert not {"toytf", "pytest", "IPython", "_pytest", "tqdm"} & set(found)
    assert "tqdm" in sandbox.packages(("numpy", "tqdm"))


def test_inside_there_is_python_and_numpy_and_nothing_of_ours(box):
    session = sandbox.Session(box, SMALL)
    try:
        source = "import os\nprint(*(sorted(os.listdir(x)) for x in ('/', '/grader')), 'toytf' in os.listdir('/site'))"
        session.request({"do": "cell", "number": 1, "source": source}, seconds=5, clock=300)
        said = session.take_printed()
        assert "['frames.py', 'outcomes.py', 'runner.py'] False" in said
        assert not {"home", "work", "var", "opt", "mnt", "sys", "run", "srv"} & set(
            re.findall(r"'(\w+)'", said.partition("]")[0])
        )
    finally:
        session.close()


def test_the_feedback_page_says_it_all_and_holds_its_own_style(week, tmp_path, box):
    gradecheck.grade(week, tmp_path / "grades.csv", box)
    page = (tmp_path / "grades/feedback/bob.html").read_text("utf-8")
    for part in (
        "2 of 7 points",
        "8.8 softmax: 0 of 2",
        "softmax: not written yet.",
        "9.1: right.",
        'lang="en"',
        "color-scheme: light dark",
    ):
        assert part in page
    index = (tmp_path / "grades/feedback/index.html").read_text("utf-8")
    assert '<a href="anna.html">anna</a>' in index
