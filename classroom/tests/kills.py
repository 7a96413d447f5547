"""Kills the grader at random moments and looks whether a later run yields the same bytes.

``make test-classroom`` does it; ``python classroom/tests/kills.py 50 --seed 3`` fifty times. Half of the
kills hit a grader whose sandboxes are real, the other half one that grades in no time and so is
nearly always killed while it writes.
"""

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

from tqdm import tqdm

import gradecheck
from toytf_classroom import ClassroomError, gradebook, grading, submission
from toytf_classroom.grading import Receipt, Result
from toytf_classroom.sandbox import settings

FILES = {
    "anna.ipynb": gradecheck.HONEST,
    "bob.ipynb": gradecheck.data(gradecheck.IMPORTS, gradecheck.STUB, gradecheck.words("An answer.")),
    "cem.ipynb": b"{",
    "dora/x.ipynb": gradecheck.data(gradecheck.IMPORTS, "print('hello')", gradecheck.SOFTMAX, gradecheck.BY_HAND),
    "eve.ipynb": gradecheck.data("import os\nos._exit(1)", gradecheck.BY_HAND),
}


def instant(data, assignment, *, sandbox, student, limits, key):
    """A grade in no time: full marks for whoever has a notebook."""
    read = submission.read(data)
    about = {"versions": grading.versions(), "settings": settings(sandbox, limits)}
    results = [
        Result(
            e.label,
            e.number,
            e.kind,
            e.name,
            e.points,
            None if e.kind == "text" else e.points,
            f"{e.number}: {key[:4]!r}",
        )
        for e in assignment.exercises
    ]
    return Receipt(student, read.sha256, assignment.sha256, results, **about)


def everything(home):
    return {
        str(path.relative_to(home)): path.read_bytes()
        for path in sorted(home.rglob("*"))
        if path.is_file() and path.name != ".lock"
    }


def grade(submissions, out, quick, write):
    """Run the grader in a process of its own; returns its id."""
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        os.setsid()
        if write is not None:
            gradebook.write_whole = write
        grading.code_version = lambda: "0" * 16  # somebody may edit the code meanwhile
        if quick:
            grading.grade_one = instant
        how = {"limits": gradecheck.SMALL, "jobs": 2, "manual": submissions.parent / "manual.csv"}
        gradebook.grade_folder(submissions, out, gradecheck.assignment(), gradecheck.sandbox_or_skip(), **how)
        status = 0
    except ClassroomError:
        status = 3
    finally:
        os._exit(status)


def run(count, place, *, seed, write=None, progress=False):
    """Kill so many graders; returns how many were, and where what was written differs from a run in peace.

    What lies there right after a kill counts too: a table that is half written is a difference. A grader whose own
    `write` is given is waited for: that kills it, at the moment that it likes.
    """
    # tqdm's own lock is one for a process and all its forks: killed while it holds it, a fork would stop all others.
    tqdm.set_lock(threading.RLock())
    tqdm.monitor_interval = 0
    rng = random.Random(seed)
    gradecheck.sandbox_or_skip()
    submissions = gradecheck.folder(place / "submissions", FILES)
    (place / "manual.csv").write_text("student,exercise,points,comment\nbob,9.3,1,so so\n")
    wanted, seconds = {}, {}
    for quick in (False, True):
        start = time.monotonic()
        _in_peace(submissions, place / f"peace{quick:d}" / "grades.csv", quick)
        seconds[quick] = time.monotonic() - start
        wanted[quick] = everything(place / f"peace{quick:d}")
    differences, killed, round_, late = [], 0, 0, 0
    with tqdm(total=count, desc="killed", unit="", disable=not progress) as bar:
        while killed < count:
            round_ += 1
            quick = round_ % 2 == 0
            home = place / "work"
            (home / "grades").mkdir(parents=True)
            shutil.copy(place / f"peace{quick:d}" / "grades" / "key", home / "grades" / "key")
            for again in range(rng.randint(1, 4)):
                if killed == count:
                    break
                pid = grade(submissions, home / "grades.csv", quick, write)
                if write is None:
                    # What is done is not done again.
                    time.sleep(rng.uniform(0, seconds[quick] * (0.4 if again else 0.8)))
                    os.kill(pid, signal.SIGKILL)
                _, status = os.waitpid(pid, 0)
                late += not os.WIFSIGNALED(status)  # it had finished already
                killed += os.WIFSIGNALED(status)
                bar.update(os.WIFSIGNALED(status))
                for name, content in everything(home).items():
                    whole = Path(name).name[0] == "." or content == wanted[quick].get(name)
                    if not whole:
                        differences.append(f"round {round_}: {name} right after the kill")
            _in_peace(submissions, home / "grades.csv", quick)
            for name in wanted[quick].keys() | everything(home).keys():
                if wanted[quick].get(name) != everything(home).get(name):
                    differences.append(f"round {round_}: {name}")
            shutil.rmtree(home)
    return {"kills": killed, "too late": late, "rounds": round_, "differences": sorted(differences)}


def _in_peace(submissions, out, quick):
    out.parent.mkdir(parents=True, exist_ok=True)
    if not quick and not (out.parent / "grades" / "key").exists():
        (out.parent / "grades").mkdir()
        (out.parent / "grades" / "key").write_bytes(b"0123456789abcdef" * 4 + b"\n")
    _, status = os.waitpid(grade(submissions, out, quick, None), 0)
    if status:
        raise RuntimeError(f"grading in peace: expected exit status 0, got {os.waitstatus_to_exitcode(status)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("count", type=int, nargs="?", default=1000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        report = run(given.count, Path(folder), seed=given.seed, progress=True)
    print(f"{report['kills']} kills in {report['rounds']} rounds ({report['too late']} more came when all was done).")
    print(*(report["differences"] or ["Every round yielded the same bytes."]), sep="\n")
    sys.exit(bool(report["differences"]))
