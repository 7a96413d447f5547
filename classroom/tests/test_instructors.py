"""The page for instructors: its commands are run as they stand there, and what they print is compared with the page."""

import copy
import json
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
from toytf_classroom import assign, grading, sandbox
from toytf_classroom.__main__ import main
from toytf_classroom.plain_text import folder_name

PAGES = [reading.ROOT / "book" / f"{name}.ipynb" for name in ("instructors", "classroom")]
SANDBOX = reading.ROOT / "book" / "sandbox.ipynb"
OURS = 'toytf() { python -m toytf "$@"; }; toytf-classroom() { python -m toytf_classroom "$@"; }'
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CLASS = ["Anna Abt", "Zoë Müller", "Bo Berg", "Sinéad O'Brien-Smith Jr.", "李雷", "Amir Khan", "Kim Lee"]
MOODLE = {name: f"{name}_{1001 + i}_assignsubmission_file" for i, name in enumerate(CLASS)}
WORKSHEET = 'Identifier,"Full name","Email address",Status,Grade,"Maximum Grade","Last modified (grade)"\n' + "".join(
    f'"Participant {1001 + i}","{name}",x@school.example,Submitted,,6.00,-\n' for i, name in enumerate(CLASS)
)
CHOSEN = ["9.1", "8.8", "9.7", "9.2"]


def markdown(pages=PAGES):
    cells = [cell for page in pages for cell in reading.read_notebook(page).cells]
    return "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def sessions(text):
    """Blocks of commands, each a list of (command, what it prints)."""
    found = []
    for kind, block in FENCE.findall(text):
        if kind == "console":
            _, *parts = re.split(r"^\$ ", block, flags=re.MULTILINE)
            found.append([(part.partition("\n")[0], part.partition("\n")[2]) for part in parts])
    return found


def handed_in():
    """What the class of the page hands in: right, with a known mistake, and with slips; Kim Lee hands in nothing."""
    chosen = assign.select(read(assign.MASTER, [8, 9]), CHOSEN)
    student, instructor = assign.notebooks(chosen, "Week 6")
    right = {
        cell["id"]: [line for line in cell["source"] if "### " not in line]
        for cell in instructor["cells"]
        if cell["id"].endswith("-answer")
    }
    right["ex-09-2-answer"] = ["Each row has a mean of its own."]
    softmax = "def softmax(s):\n    return np.exp(s) / np.exp(s).sum(axis=-1, keepdims=True)"

    def notebook(answers, change=lambda cells: None):
        mine = copy.deepcopy(student)
        for cell in mine["cells"]:
            cell["source"] = answers.get(cell["id"], cell["source"])
        change(mine["cells"])
        return json.dumps(mine, ensure_ascii=False)

    def below(cells):
        at = next(i for i, cell in enumerate(cells) if cell["id"] == "ex-09-2-answer")
        cells.insert(at + 1, {"cell_type": "markdown", "id": "x", "metadata": {}, "source": "My words."})

    half = {name: right[name] for name in ("ex-08-8-answer", "ex-09-1-answer")}
    broken = ["1 / 0\n", *right["ex-09-7-answer"]]
    pandas = ["import pandas as pd\n", *student["cells"][2]["source"]]
    return {
        "Anna Abt": notebook(right), "Zoë Müller": notebook(right | {"ex-08-8-answer": softmax}),
        "Bo Berg": notebook(half | {"imports": pandas}), "Sinéad O'Brien-Smith Jr.": notebook(half, below),
        "李雷": notebook({}), "Amir Khan": notebook(half | {"ex-09-7-answer": broken}),
    }  # fmt: skip


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
        for name, content in handed_in().items():
            archive.writestr(f"week6-download/{MOODLE[name]}/Week 6 (1).ipynb", content)
    (folder / "worksheet.csv").write_text(WORKSHEET, "utf-8")
    (folder / "class.csv").write_text("student\n" + "".join(f'"{name}"\n' for name in [*CLASS, "Kim/Lee"]), "utf-8")
    return folder, [(command, said, shell(command, folder)) for block in sessions(text) for command, said in block]


def test_what_the_commands_print_is_what_the_page_shows(run):
    wrong = [f"$ {command}\n{said}came out as\n{got}" for command, said, got in run[1] if said != got]
    assert not wrong, "\n\n".join(wrong)


def test_a_monday_is_forty_lines_at_most_and_the_page_two_thousand_words():
    page = markdown(PAGES[:1])
    monday = page[page.index("## A Monday") : page.index("Before the first real class")]
    assert len([line for line in monday.splitlines() if line.startswith(("$ ", "**", "The ", "Give ", "Open "))]) <= 40
    assert len(page.split()) <= 2000


def test_every_student_of_the_list_gets_a_page_by_which_moodle_knows_them(run):
    with zipfile.ZipFile(run[0] / "week6" / "feedback.zip") as archive:
        names = {path.removesuffix("/feedback.html") for path in archive.namelist()}
    assert names == {MOODLE[name] for name in CLASS[:-1]} | {CLASS[-1]}


def test_the_limits_on_the_page_are_those_of_the_sandbox():
    """What no cell of the page computes: the block is a transcript, and held to the sandbox here."""
    limits, mb = sandbox.Limits(), 1 << 20
    lines = re.search(
        r"^```console\n(one code cell.*?)^```", markdown([reading.ROOT / "book" / "sandbox.ipynb"]), re.M | re.S
    )[1].splitlines()
    told = dict(re.split(" {2,}", line)[:2] for line in lines)
    assert told == {
        "one code cell": f"{limits.cell:g} seconds", "one call of a function": f"{limits.call:g} seconds",
        "all of it": f"{limits.total:g} seconds", "each of these on the clock": f"{limits.clock:g} times as long",
        "memory": f"{limits.memory >> 30} GB", "processes and threads": str(limits.processes),
        "one file": f"{limits.file // mb} MB", "all files": f"{limits.folder // mb} MB",
        "what it prints": f"{limits.output >> 10} KB",
    }  # fmt: skip


# ---------------------------------------------------------------- what it uses


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
