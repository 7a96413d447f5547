"""The page for instructors: its commands are run as they stand there, and what they print is compared with the page."""

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import gradecheck
from bookcheck import reading
from toytf.course.exercises import read
from toytf_classroom import assign, grading, rehearse, sandbox
from toytf_classroom.__main__ import main
from toytf_classroom.feedback import feedback_zip
from toytf_classroom.plain_text import folder_name

PAGE = reading.ROOT / "book" / "instructors.ipynb"
OURS = 'toytf() { python -m toytf "$@"; }; toytf-classroom() { python -m toytf_classroom "$@"; }'
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MOODLE = ["Anna Abt_1001_assignsubmission_file", "Zoë Müller_1002_assignsubmission_file_"]
WORKSHEET = """\
Identifier,"Full name","Email address",Status,Grade,"Maximum Grade","Last modified (grade)","Feedback comments"
"Participant 1001","Anna Abt",anna@school.example,"Submitted for grading",,6.00,-,
"Participant 1002","Zoë Müller",zoe@school.example,"Submitted for grading",,6.00,-,
"Participant 1003","Bo Berg",bo@school.example,"No submission",,6.00,-,
"""


def markdown():
    return "\n\n".join(cell.source for cell in reading.read_notebook(PAGE).cells if cell.cell_type == "markdown")


def sessions(text):
    """Blocks of commands, each a list of (command, what it prints)."""
    found = []
    for kind, block in FENCE.findall(text):
        if kind == "console":
            _, *parts = re.split(r"^\$ ", block, flags=re.MULTILINE)
            found.append([(part.partition("\n")[0], part.partition("\n")[2]) for part in parts])
    return found


def shell(command, folder):
    """Run a command as an instructor would, `python` and `toytf` being those that the tests run with."""
    environment = {
        **os.environ,
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "PYTHONPATH": f"{reading.ROOT}{os.pathsep}{reading.ROOT / 'classroom'}",
    }
    bash = ["bash", "-o", "pipefail", "-c", f"{OURS}\n{command}"]
    done = subprocess.run(
        bash, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", env=environment
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}"
    return done.stdout


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A folder in which everything on the page was done: each command, what the page says and what came out."""
    gradecheck.sandbox_or_skip()
    folder, text = tmp_path_factory.mktemp("teacher"), markdown()
    for kind, block in FENCE.findall(text):
        if kind == "python" and (name := re.match(r"# ([\w.]+)\n", block)):
            (folder / name[1]).write_text(block, "utf-8")
    with zipfile.ZipFile(folder / "moodle.zip", "w") as archive:
        for name in MOODLE:
            archive.writestr(f"{name}/Week 6.ipynb", gradecheck.HONEST)
    (folder / "worksheet.csv").write_text(WORKSHEET, "utf-8")
    return folder, [(command, said, shell(command, folder)) for block in sessions(text)[1:] for command, said in block]


def test_what_the_commands_print_is_what_the_page_shows(run):
    wrong = [f"$ {command}\n{said}came out as\n{got}" for command, said, got in run[1] if said != got]
    assert not wrong, "\n\n".join(wrong)


def test_the_four_commands_on_top_are_those_of_the_run():
    first, whole, *_ = sessions(markdown())
    left_out = ("toytf-classroom rehearse", "head ")
    assert first == [(command, "") for command, _ in whole if not command.startswith(left_out)]


def test_every_student_of_the_list_gets_a_page_and_a_folder_to_hand_back(run):
    folder, _ = run
    students = (folder / "class.csv").read_text("utf-8").splitlines()[1:]
    assert len(students) == len(set(students)) == 30
    with zipfile.ZipFile(folder / "week6" / "feedback.zip") as archive:
        assert sorted(archive.namelist()) == sorted(f"{student}/feedback.html" for student in students)
    (folder / "back.zip").write_bytes(feedback_zip(folder / "week7" / "grades.csv")[0])
    with zipfile.ZipFile(folder / "back.zip") as archive:  # Moodle knows them by the names of its folders
        assert {f"{name}/feedback.html" for name in MOODLE} < set(archive.namelist())


def test_the_limits_on_the_page_are_those_of_the_sandbox():
    limits, mb = sandbox.Limits(), 1 << 20
    lines = re.search(r"^```text\n(one code cell.*?)^```", markdown(), re.M | re.S)[1].splitlines()
    told = dict(re.split(" {2,}", line)[:2] for line in lines)
    assert told == {
        "one code cell": f"{limits.cell:g} seconds", "one call of a function": f"{limits.call:g} seconds",
        "all of it": f"{limits.total / 60:g} minutes", "each of these on the clock": f"{limits.clock:g} times as long",
        "memory": f"{limits.memory >> 30} GB", "processes and threads": str(limits.processes),
        "one file": f"{limits.file // mb} MB", "all files": f"{limits.folder // mb} MB",
        "what it prints": f"{limits.output >> 10} KB",
    }  # fmt: skip


# ---------------------------------------------------------------- what it uses


def test_a_class_can_be_made_up_for_every_exercise():
    chosen = list(read(assign.MASTER, [1, 11, 13]).values())
    student, _ = assign.notebooks(chosen, "All")
    files = rehearse.made_up(dict.fromkeys(rehearse.NAMES, student), assign.manifest(chosen, "All"))
    assert len(files) == 30
    assert sum(content is None for content in files.values()) == 1
    assert len(set(files.values())) >= 10


@pytest.mark.parametrize("student", ["../../x", "a/b", "c:\\x", "con\n", "", " x", "x.", "y" * 101])
def test_no_name_of_a_student_leads_out_of_the_archive(student):
    assert folder_name(student, "harmless") == "harmless"


def test_an_archive_of_feedback_without_a_page_for_somebody_says_so_and_holds_the_others(tmp_path, capsys):
    (tmp_path / "grades.csv").write_text("student,points\nanna,2\nbob,1\n", "utf-8")
    for folder in ("receipts", "feedback"):
        (tmp_path / "grades" / folder).mkdir(parents=True)
    (tmp_path / "grades" / "receipts" / "bob.json").write_bytes(grading.Receipt("bob", "", "", []).to_json())
    (tmp_path / "grades" / "feedback" / "bob.html").write_bytes(b"page")
    archive = tmp_path / "feedback.zip"
    assert main(["feedback", str(tmp_path / "grades.csv"), "--out", str(archive)]) == 1
    assert "no page for 'anna'" in capsys.readouterr().err
    assert zipfile.ZipFile(archive).namelist() == ["bob/feedback.html"]


@pytest.mark.parametrize("content", [b"[]", b'{"cells": [{"metadata": {"toytf": 3}}]}', b"\xff", b"[" * 100_000])
def test_a_rehearsal_with_a_wrong_file_says_which(tmp_path, capsys, content):
    chosen = list(read(assign.MASTER, [9]).values())[:2]
    assign.write(tmp_path / "week6", assign.files(chosen, "Week 6"))
    for name, says in (("student.ipynb", "expected a notebook written by"), ("submissions/assignment.json", "toytf")):
        (tmp_path / "week6" / name).write_bytes(content)
        assert main(["rehearse", str(tmp_path / "week6"), "--out", str(tmp_path)]) == 2
        said = capsys.readouterr().err
        assert said.startswith("error: ") and says in said
    assert not (tmp_path / "class.csv").exists()
