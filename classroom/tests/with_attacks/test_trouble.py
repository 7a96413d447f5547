"""What the grader promises when all goes wrong with one of a class, or with itself: nobody else loses anything."""

import contextlib
import faulthandler
import multiprocessing
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import zipfile

import pytest

import gradecheck
from gradecheck import BY_HAND, EMPTY, FULL, HONEST, IMPORTS, SOFTMAX, STUB, data, lines, table, words
from toytf_classroom import gradebook, grading, submission, workers
from toytf_classroom.__main__ import main

# ---------------------------------------------------------------- whatever goes wrong with one


def whole(out, summary, *failed):
    """The table is there, honest students have their points, and the lines of those who failed are empty."""
    found = lines(out)
    assert [name for name in found if name.startswith("honest")] == ["honest_1", "honest_2"]
    for name, points in found.items():
        assert points == (EMPTY if name in failed else FULL), (name, points)
    assert [said.partition(":")[0] for said in summary.failed] == sorted(failed)
    return {row[0]: row[-1] for row in table(out)}


def crashes():
    faulthandler.disable()  # pytest's, which would print all that runs, as if something were wrong
    os.kill(os.getpid(), signal.SIGSEGV)


def eats_time():
    while True:
        re.match("(a+)+$", "a" * 60 + "b")  # never ends, and holds the interpreter


TROUBLE = {
    "raises": (lambda: 1 / 0, "ZeroDivisionError"),
    "exits": (lambda: sys.exit(0), "SystemExit"),
    "ends the process": (lambda: os._exit(3), "its process ended (exit status 3)"),
    "crashes": (crashes, "its process ended (SIGSEGV)"),
    "takes all memory": (lambda: [bytearray(1 << 20) for _ in range(1 << 14)], "MemoryError"),
    "takes all time": (eats_time, "its process ended (SIGXCPU)"),
    "sleeps": (lambda: time.sleep(1000), "it took more than 4 seconds"),
}


@pytest.fixture
def three(tmp_path):
    """Two honest students around a third."""
    return gradecheck.folder(
        tmp_path / "week", {f"{name}.ipynb": HONEST for name in ("honest_1", "victim", "honest_2")}
    )


@pytest.mark.parametrize("name", TROUBLE)
def test_whatever_happens_to_the_grader_with_one_submission_the_table_is_whole(three, tmp_path, box, monkeypatch, name):
    what, says = TROUBLE[name]
    read, work = submission.read, workers.work

    def short(tasks, do, *, jobs, clock):
        for task in tasks:
            yield from work([task], do, jobs=jobs, clock=4.0 if task.student == "victim" else clock)

    monkeypatch.setattr(workers, "SECONDS", 2 if name == "takes all time" else 120)
    if name == "sleeps":
        monkeypatch.setattr(workers, "work", short)
    monkeypatch.setattr(submission, "read", lambda data: what() if data == b"victim" else read(data))
    (three / "victim.ipynb").write_bytes(b"victim")
    summary, _ = gradecheck.grade(three, tmp_path / "g.csv", box)
    remarks = whole(tmp_path / "g.csv", summary, "victim")
    assert remarks["victim"].startswith(f"could not be graded, {says}")
    page = (tmp_path / "g" / "feedback" / "victim.html").read_text("utf-8")
    assert "Not graded yet" in page and says not in page  # that is for the teacher
    monkeypatch.undo()
    (three / "victim.ipynb").write_bytes(HONEST)
    summary, _ = gradecheck.grade(three, tmp_path / "g.csv", box)
    whole(tmp_path / "g.csv", summary)
    assert (summary.graded, summary.reused) == (1, 2)


def test_the_command_writes_the_table_and_ends_with_1(three, tmp_path, box, monkeypatch, capsys):
    read = submission.read
    monkeypatch.setattr(submission, "read", lambda data: 1 / 0 if data == b"victim" else read(data))
    (three / "victim.ipynb").write_bytes(b"victim")
    assert main(["grade", str(three), "--out", str(tmp_path / "g.csv")]) == 1
    said = capsys.readouterr()
    assert "victim: could not be graded, ZeroDivisionError: division by zero" in said.err
    assert "1 submission could not be graded: the cells are empty" in said.out
    assert main(["feedback", str(tmp_path / "g.csv"), "--out", str(tmp_path / "f.zip")]) == 0
    assert len(zipfile.ZipFile(tmp_path / "f.zip").namelist()) == 3


THROWN_IN = [(submission, "_in"), (submission, "composed"), (gradebook.feedback_pages, "student_page")]


@pytest.mark.parametrize(("where", "name"), THROWN_IN, ids=lambda it: it if isinstance(it, str) else "")
def test_thrown_where_the_grader_lists_or_files_it_an_exception_costs_nobody_else(
    three, tmp_path, box, monkeypatch, where, name
):
    was = getattr(where, name)

    def thrown(first, *more):
        whose = getattr(first, "name", getattr(first, "student", first))
        return 1 / 0 if str(whose).startswith("victim") and getattr(first, "graded", True) else was(first, *more)

    monkeypatch.setattr(where, name, thrown)
    summary, _ = gradecheck.grade(three, tmp_path / "g.csv", box)
    whole(tmp_path / "g.csv", summary, "victim")


def test_a_full_disk_is_a_plain_message(three, tmp_path, box, monkeypatch, capsys):
    def no_space(path, *args):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(gradebook, "write_whole", no_space)
    assert main(["grade", str(three), "--out", str(tmp_path / "g.csv")]) == 2
    assert capsys.readouterr().err.startswith("error: No space left on device: ")


# ---------------------------------------------------------------- killed and stopped

CLASS = {
    "anna.ipynb": HONEST,
    "bob.ipynb": data(IMPORTS, STUB, words("An answer.")),
    "cem.ipynb": b"{",
    "dora/x.ipynb": data(IMPORTS, "print('hello')", SOFTMAX, BY_HAND),
    "eve.ipynb": data("import os\nos._exit(1)", BY_HAND),
}
GRADES = """import sys, gradecheck, pathlib
from toytf_classroom import grading
grading.code_version = lambda: "0" * 16  # somebody may edit the code meanwhile
gradecheck.grade(*map(pathlib.Path, sys.argv[1:]), jobs=2)"""


def test_killed_at_any_moment_a_second_run_yields_the_same_bytes(tmp_path, box):
    week, rng = gradecheck.folder(tmp_path / "week", CLASS), random.Random(0)
    (tmp_path / "peace" / "g").mkdir(parents=True)
    (tmp_path / "peace" / "g" / "key").write_bytes(b"0123456789abcdef" * 4 + b"\n")

    def grader(place):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        return subprocess.Popen([sys.executable, "-c", GRADES, str(week), str(place / "g.csv")], env=environment)

    start = time.monotonic()
    assert grader(tmp_path / "peace").wait() == 0
    lasts, wanted = time.monotonic() - start, gradecheck.everything(tmp_path / "peace" / "g.csv")
    for round_ in range(int(os.environ.get("TOYTF_KILLS", "8"))):
        place = tmp_path / f"killed {round_}"
        (place / "g").mkdir(parents=True)
        shutil.copy(tmp_path / "peace" / "g" / "key", place / "g" / "key")
        process = grader(place)
        time.sleep(rng.uniform(0.3, 1) * lasts)
        process.kill()
        process.wait()
        for name, content in gradecheck.everything(place / "g.csv").items():
            assert content == wanted[name], f"{name} right after the kill"
        assert grader(place).wait() == 0
        assert gradecheck.everything(place / "g.csv") == wanted


def run(week, out, *more, **how):
    command = [sys.executable, "-m", "toytf_classroom", "grade", str(week), "--out", str(out), *more]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **how)


def test_killed_it_leaves_no_process_behind(three, tmp_path, box):
    mark = f"toytf-{os.getpid()}-{time.time_ns()}"
    (three / "victim.ipynb").write_bytes(data(f"import os\nos.execv('/usr/bin/sleep', ['{mark}', '1000'])"))
    process = run(three, tmp_path / "g.csv", "--cell-seconds", "900")
    _wait_for(lambda: _running(mark))
    process.kill()
    process.communicate()
    _wait_for(lambda: not _running(mark))


def test_after_ctrl_c_the_same_command_goes_on(three, tmp_path, box):
    (three / "victim.ipynb").write_bytes(data("import time\ntime.sleep(1000)"))
    hears = lambda: signal.signal(signal.SIGINT, signal.default_int_handler)  # noqa: E731
    process = run(three, tmp_path / "g.csv", "--jobs", "1", "--cell-seconds", "900", preexec_fn=hears)
    _wait_for((tmp_path / "g" / "receipts" / "honest_2.json").exists)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == 130, said
    assert "the same command goes on from here" in said
    assert not (tmp_path / "g.csv").exists()
    (three / "victim.ipynb").write_bytes(HONEST)
    out, said = run(three, tmp_path / "g.csv", "--cell-seconds", "900").communicate()
    assert "1 graded now, 2 as before" in out, said


def test_ctrl_c_is_heard_while_a_process_is_copied(monkeypatch):
    def fork():
        """Ctrl-C in one of the calls that Python makes after a fork, whose errors it drops."""
        copy = was()
        if copy:
            with contextlib.suppress(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
        return copy

    was, before = os.fork, signal.signal(signal.SIGINT, signal.default_int_handler)
    monkeypatch.setattr(os, "fork", fork)
    with pytest.raises(KeyboardInterrupt):
        list(workers.work(["bob"], lambda task, worker: signal.pause(), jobs=1, clock=1e6))
    signal.signal(signal.SIGINT, before)
    assert multiprocessing.active_children() == []


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


# ---------------------------------------------------------------- a neighbour costs nothing

BUSY = """import os
for _ in range(29):
    if os.fork() == 0:
        while True: pass
while True: pass"""
WORKS = "import time\nstart = time.process_time()\nwhile time.process_time() - start < 1.5: pass"
SHOWS = "import os\nprint('cores', *os.sched_getaffinity(0))"


def test_busy_processes_of_a_neighbour_cost_an_honest_student_nothing_and_each_has_one_core(tmp_path, box):
    honest, busy = data(IMPORTS, f"{WORKS}\n{SOFTMAX}", BY_HAND, SHOWS), data(IMPORTS, SHOWS, BUSY)
    week = gradecheck.folder(
        tmp_path / "week", {"a.ipynb": busy, "b.ipynb": honest, "c.ipynb": busy, "d.ipynb": honest}
    )
    limits = gradecheck.limits(cell=2.0, total=6.0, clock=20.0, restarts=1)
    _, receipts = gradecheck.grade(week, tmp_path / "g.csv", box, limits=limits, jobs=4)
    for name in ("b", "d"):  # with four, two share a core of a machine that has two
        assert receipts[name].points == 4, receipts[name].to_json().decode()
    cores = [re.search(r"cores ([\d ]+)", gradecheck.printed(one))[1].split() for one in receipts.values()]
    assert [len(mine) for mine in cores] == [1] * 4
    assert len({mine[0] for mine in cores}) >= min(2, len(workers.cores()))


def test_what_is_too_slow_among_others_is_graded_again_alone_and_not_at_every_run(tmp_path, box, monkeypatch):
    week = gradecheck.folder(tmp_path / "week", {f"{name}.ipynb": HONEST for name in "abc"})
    grade_one, log = grading.grade_one, tmp_path / "log"

    def slow_once(data, assignment, student, **how):
        with log.open("a") as file:
            file.write(f"{student} ")
        receipt = grade_one(data, assignment, student, **how)
        receipt.slow = student == "b" and log.read_text().split().count("b") == 1
        return receipt

    monkeypatch.setattr(grading, "grade_one", slow_once)
    _, receipts = gradecheck.grade(week, tmp_path / "g.csv", box, jobs=2)
    assert log.read_text().split()[-1] == "b"
    assert sorted(log.read_text().split()) == ["a", "b", "b", "c"]
    assert [one.slow for one in receipts.values()] == [False] * 3
    monkeypatch.undo()
    (week / "b.ipynb").write_bytes(data(IMPORTS, "while True: pass"))
    assert gradecheck.grade(week, tmp_path / "g.csv", box)[1]["b"].slow
    assert gradecheck.grade(week, tmp_path / "g.csv", box)[0].reused == 3
