"""What the grader promises when all goes wrong with one of a class: nobody else loses anything.

`TOYTF_DEEP=1` throws an exception at every call that the grader makes for one student, one after the
other; without it at every tenth.
"""

import faulthandler
import os
import re
import signal
import sys
import time
import zipfile
from pathlib import Path

import pytest

import gradecheck
from gradecheck import BY_HAND, EMPTY, FULL, HONEST, IMPORTS, SOFTMAX, data, lines, table, words
from toytf_classroom import gradebook, grading, sandbox, submission, workers
from toytf_classroom.__main__ import main

DEEP = os.environ.get("TOYTF_DEEP") == "1"


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


def eats_memory():
    piece = [bytearray(1 << 20) for _ in range(1 << 14)]
    return len(piece)


def eats_time():
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    while True:
        re.match("(a+)+$", "a" * 60 + "b")  # never ends, and holds the interpreter


TROUBLE = {
    "raises": (lambda: 1 / 0, "ZeroDivisionError"),
    "exits": (lambda: sys.exit(0), "SystemExit"),
    "is interrupted": (lambda: (_ for _ in ()).throw(KeyboardInterrupt), "KeyboardInterrupt"),
    "ends the process": (lambda: os._exit(3), "its process ended (exit status 3)"),
    "crashes": (crashes, "its process ended (SIGSEGV)"),
    "is killed": (lambda: os.kill(os.getpid(), signal.SIGKILL), "its process ended (SIGKILL)"),
    "takes all memory": (eats_memory, "MemoryError"),
    "takes all time": (eats_time, "it took more than 2 seconds of processor time outside the sandbox"),
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
    read = submission.read
    monkeypatch.setattr(workers, "SECONDS", 2 if name == "takes all time" else 120)
    if name == "sleeps":
        monkeypatch.setattr(workers, "work", _short_for_the_victim(workers.work, 4.0))
    monkeypatch.setattr(submission, "read", lambda data: what() if data == b"victim" else read(data))
    (three / "victim.ipynb").write_bytes(b"victim")
    summary, _ = gradecheck.grade(three, tmp_path / "g.csv", box)
    remarks = whole(tmp_path / "g.csv", summary, "victim")
    assert remarks["victim"].startswith(f"could not be graded, {says}")
    assert "Not graded yet" in (tmp_path / "g" / "feedback" / "victim.html").read_text("utf-8")
    monkeypatch.undo()
    (three / "victim.ipynb").write_bytes(HONEST)
    summary, _ = gradecheck.grade(three, tmp_path / "g.csv", box)
    whole(tmp_path / "g.csv", summary)
    assert (summary.graded, summary.reused) == (1, 2)


def _short_for_the_victim(work, seconds):
    def short(tasks, do, *, jobs, clock):
        for task in tasks:
            yield from work([task], do, jobs=jobs, clock=seconds if task.student == "victim" else clock)

    return short


def test_the_command_writes_the_table_and_ends_with_1(three, tmp_path, box, monkeypatch, capsys):
    read = submission.read
    monkeypatch.setattr(submission, "read", lambda data: 1 / 0 if data == b"victim" else read(data))
    (three / "victim.ipynb").write_bytes(b"victim")
    assert main(["grade", str(three), "--out", str(tmp_path / "g.csv")]) == 1
    said = capsys.readouterr()
    assert "victim: could not be graded, ZeroDivisionError: division by zero" in said.err
    assert "1 submission could not be graded: the cells are empty" in said.out
    assert lines(tmp_path / "g.csv")["honest_1"] == FULL
    assert main(["feedback", str(tmp_path / "g.csv"), "--out", str(tmp_path / "f.zip")]) == 0
    assert len(zipfile.ZipFile(tmp_path / "f.zip").namelist()) == 3


class Fault(Exception):
    """Thrown by the test."""


def _sites(monkeypatch, record, throw=None):
    """Watch every call that the grader's code makes for the victim; record it, or raise at one of them."""
    was = workers._child

    def watch(frame, event, arg):
        if event not in ("call", "c_call"):
            return
        caller = frame if event == "c_call" else frame.f_back
        if caller is None or f"{os.sep}toytf" not in caller.f_code.co_filename:
            return
        callee = arg.__name__ if event == "c_call" else frame.f_code.co_name
        site = f"{os.path.basename(caller.f_code.co_filename)}:{caller.f_lineno} {callee}"
        if throw is None and site not in seen:
            seen.add(site)
            os.write(record, f"{site}\n".encode())
        elif site == throw:
            os.write(record, b"thrown\n")
            raise Fault(site)

    seen = set()

    def child(ours, theirs, do, task, worker):
        if task.student == "victim":
            sys.setprofile(watch)
        was(ours, theirs, do, task, worker)

    monkeypatch.setattr(workers, "_child", child)


def test_thrown_at_every_call_for_one_student_an_exception_leaves_the_table_whole(three, tmp_path, box, monkeypatch):
    out, log = tmp_path / "g.csv", tmp_path / "calls"
    (three / "victim.ipynb").write_bytes(data(IMPORTS, "print('x')", SOFTMAX, BY_HAND, words("Because.")))
    record = os.open(log, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    with monkeypatch.context() as patch:
        _sites(patch, record)
        summary, _ = gradecheck.grade(three, out, box)
    whole(out, summary)
    sites = log.read_text().splitlines()
    assert len(sites) > 200
    files = "grading gradebook sandbox submission feedback_pages frames workers"
    assert {f"{name}.py" for name in files.split()} <= {site.partition(":")[0] for site in sites}
    chosen = sites if DEEP else sites[::10]
    thrown, wrong = 0, []
    for site in chosen:
        (tmp_path / "g" / "receipts" / "victim.json").unlink(missing_ok=True)
        os.ftruncate(record, 0)
        with monkeypatch.context() as patch:
            _sites(patch, record, throw=site)
            summary, _ = gradecheck.grade(three, out, box)
        came = b"thrown" in log.read_bytes()
        thrown += came
        found = lines(out)
        right = all(got in ("", full) for got, full in zip(found["victim"][1:], FULL[1:], strict=True))
        told = bool(summary.failed) or found["victim"] == FULL  # a sandbox that fails is tried again
        others = (found["honest_1"], found["honest_2"]) == (FULL, FULL) and summary.reused >= 2
        if not (right and told and others and (came or not summary.failed)):
            wrong.append((site, found, summary.failed))
    os.close(record)
    assert wrong == []
    assert thrown >= 0.9 * len(chosen)


@pytest.mark.parametrize("name", ["submission._in", "submission.composed", "gradebook.line_of", "grading.not_graded"])
def test_thrown_where_the_grader_collects_it_an_exception_costs_nobody_else(three, tmp_path, box, monkeypatch, name):
    module, _, function = name.partition(".")
    module = {"submission": submission, "gradebook": gradebook, "grading": grading}[module]
    was = getattr(module, function)

    def thrown(*args, **kwargs):
        if "victim" in str([getattr(a, "name", getattr(a, "student", a)) for a in args]):
            raise Fault(name)
        return was(*args, **kwargs)

    if name == "grading.not_graded":  # what is said of a failure fails too
        read = submission.read
        monkeypatch.setattr(submission, "read", lambda data: 1 / 0 if data == b"victim" else read(data))
        (three / "victim.ipynb").write_bytes(b"victim")
    monkeypatch.setattr(module, function, thrown)
    gradecheck.grade(three, tmp_path / "g.csv", box)
    found = lines(tmp_path / "g.csv")
    assert (found["honest_1"], found["honest_2"]) == (FULL, FULL)


# ---------------------------------------------------------------- a neighbour costs nothing

BUSY = """import os
for _ in range(29):
    if os.fork() == 0:
        while True: pass
while True: pass"""
WORKS = "import time\nstart = time.process_time()\nwhile time.process_time() - start < 1.5: pass"


def test_busy_processes_of_a_neighbour_cost_an_honest_student_nothing(tmp_path, box):
    files = {"a.ipynb": data(IMPORTS, BUSY), "b.ipynb": data(IMPORTS, f"{WORKS}\n{SOFTMAX}", BY_HAND)}
    files |= {"c.ipynb": files["a.ipynb"], "d.ipynb": files["b.ipynb"]}
    week = gradecheck.folder(tmp_path / "week", files)
    limits = gradecheck.limits(cell=2.0, total=6.0, clock=20.0, restarts=1)
    for jobs in (2, 4):  # with four, two share a core of a machine that has two
        _, receipts = gradecheck.grade(week, tmp_path / f"{jobs}.csv", box, limits=limits, jobs=jobs)
        for honest in ("b", "d"):
            assert receipts[honest].points == 4, receipts[honest].to_json().decode()


def test_each_sandbox_has_one_core(tmp_path, box):
    show = "import os\nprint('cores', *os.sched_getaffinity(0))"
    week = gradecheck.folder(tmp_path / "week", {f"s{i}.ipynb": data(show) for i in range(4)})
    _, receipts = gradecheck.grade(week, tmp_path / "g.csv", box, jobs=2)
    said = [re.search(r"cores ([\d ]+)", gradecheck.printed(one))[1].split() for one in receipts.values()]
    assert [len(cores) for cores in said] == [1] * 4
    assert {int(cores[0]) for cores in said} <= set(workers.cores())
    assert len({cores[0] for cores in said}) == min(2, len(workers.cores()))


def test_what_is_too_slow_among_others_is_graded_again_alone(tmp_path, box, monkeypatch):
    week = gradecheck.folder(tmp_path / "week", {"a.ipynb": HONEST, "b.ipynb": HONEST, "c.ipynb": HONEST})
    whole_ = grading.grade_one
    log = os.open(tmp_path / "log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def grade_one(data, assignment, **how):
        os.write(log, f"{how['student']} ".encode())
        first = (tmp_path / "log").read_text().split().count(how["student"]) == 1
        receipt = whole_(data, assignment, **how)
        receipt.slow = how["student"] == "b" and first
        return receipt

    monkeypatch.setattr(grading, "grade_one", grade_one)
    summary, receipts = gradecheck.grade(week, tmp_path / "g.csv", box, jobs=2)
    assert (tmp_path / "log").read_text().split()[-1] == "b"
    assert sorted((tmp_path / "log").read_text().split()) == ["a", "b", "b", "c"]
    assert [one.slow for one in receipts.values()] == [False] * 3
    assert summary.graded == 3
    os.close(log)


def test_what_was_too_slow_alone_is_not_tried_at_every_run(tmp_path, box):
    week = gradecheck.folder(tmp_path / "week", {"a.ipynb": HONEST, "b.ipynb": data(IMPORTS, "while True: pass")})
    _, receipts = gradecheck.grade(week, tmp_path / "g.csv", box)
    assert receipts["b"].slow
    assert gradecheck.grade(week, tmp_path / "g.csv", box)[0].reused == 2


def test_time_is_the_processor_s_and_sleep_ends_by_the_clock(box):
    def said(source, **limits):
        receipt = grading.grade_one(
            data(IMPORTS, source, SOFTMAX, BY_HAND),
            gradecheck.assignment(),
            sandbox=box,
            limits=gradecheck.limits(**limits),
        )
        return receipt.points, gradecheck.printed(receipt).strip(), receipt.slow

    assert said("import time\ntime.sleep(1.5)") == (4, "", False)  # more than the second that the cell has
    _, text, slow = said("import time\ntime.sleep(100)", clock=3.0)
    assert "3 seconds on the clock" in text
    assert not slow
    assert said("while True: pass") == (4, "The cell was stopped after 1 second of processor time.", True)
    many = "import os\nfor _ in range(3):\n    if os.fork() == 0:\n        while True: pass\nos.wait()"
    points, text, slow = said(many)
    assert (points, slow) == (4, True)
    assert "did not stop within 1 second of processor time" in text


@gradecheck.needs_linux
def test_one_who_waits_for_a_processor_is_told_from_one_who_sleeps():
    core = min(workers.cores())

    def child(work):
        pid = os.fork()
        if not pid:
            if hasattr(os, "sched_setaffinity"):
                os.sched_setaffinity(0, {core})
            while True:
                work()
        return pid

    busy, other, asleep = child(lambda: None), child(lambda: None), child(signal.pause)
    try:
        while Path(f"/proc/{asleep}/stat").read_text().rpartition(")")[2].split()[0] != "S":
            time.sleep(0.01)
        before = sandbox.waiting_seconds([asleep])
        start = sandbox.waiting_seconds([busy])
        while sandbox.waiting_seconds([busy]) - start < 0.5:
            time.sleep(0.01)
        assert sandbox.waiting_seconds([asleep]) - before < 0.25
    finally:
        for pid in (busy, other, asleep):
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
