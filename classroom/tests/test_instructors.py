"""The page for instructors: its commands are run as they stand there, and what they print is compared with the page.

`python tests/test_instructors.py` takes the picture of the feedback page again (it needs Chromium).
"""

import ast
import html
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import pytest
from PIL import Image, PngImagePlugin

import gradecheck
from bookcheck import reading
from toytf.course.chapters import chapters as contents
from toytf.course.exercises import read
from toytf_classroom import ClassroomError, assign, grading, rehearse, sandbox
from toytf_classroom.__main__ import main
from toytf_classroom.feedback import feedback_zip
from toytf_classroom.names import file_name, folder_name

PAGE = reading.ROOT / "book" / "instructors.ipynb"
PICTURE = reading.ROOT / "book" / "_assets" / "feedback.png"
PICTURED = "anna"
OURS = 'toytf() { python -m toytf "$@"; }; toytf-classroom() { python -m toytf_classroom "$@"; }'
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MOODLE = ["Anna Abt_1001_assignsubmission_file", "Zoë Müller_1002_assignsubmission_file_"]
WORKSHEET = """\
Identifier,"Full name","Email address",Status,Grade,"Maximum Grade","Last modified (grade)","Feedback comments"
"Participant 1001","Anna Abt",anna@school.example,"Submitted for grading",,6.00,-,
"Participant 1002","Zoë Müller",zoe@school.example,"Submitted for grading",,6.00,-,
"Participant 1003","Bo Berg",bo@school.example,"No submission",,6.00,-,
"""


def markdown(path=PAGE):
    return "\n\n".join(cell.source for cell in reading.read_notebook(path).cells if cell.cell_type == "markdown")


def sessions(text):
    """Blocks of commands, each a list of (command, what it prints)."""
    found = []
    for kind, block in FENCE.findall(text):
        if kind == "console":
            parts = re.split(r"^\$ ", block, flags=re.MULTILINE)
            assert parts[0] == "", block
            found.append([(part.partition("\n")[0], part.partition("\n")[2]) for part in parts[1:]])
    return found


def shell(command, folder):
    """Run a command as an instructor would, `python` and `toytf` being those that the tests run with."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        [
            "bash",
            "-o",
            "pipefail",
            "-c",
            f"{OURS}\n{command}",
        ],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        env={
            **os.environ,
            "PATH": path,
            "PYTHONPATH": f"{reading.ROOT}{os.pathsep}{reading.ROOT / 'classroom'}",
            "TOYTF_PROGRESS": "0",
        },
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}"
    return done.stdout


def prepare(folder, text):
    """What the page takes for granted: the scripts that it shows, an archive and a worksheet from Moodle."""
    for kind, block in FENCE.findall(text):
        if kind == "python" and (name := re.match(r"# ([\w.]+)\n", block)):
            (folder / name[1]).write_text(block, "utf-8")
    with zipfile.ZipFile(folder / "moodle.zip", "w") as archive:
        for name in MOODLE:
            archive.writestr(f"{name}/Week 6.ipynb", gradecheck.HONEST)
    (folder / "worksheet.csv").write_text(WORKSHEET, "utf-8")


def replay(folder, text):
    """Run all commands of the page; yield each with what the page says and what came out."""
    prepare(folder, text)
    for block in sessions(text)[1:]:
        for command, said in block:
            yield command, said, shell(command, folder)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A folder in which everything on the page was done, and what came out."""
    gradecheck.sandbox_or_skip()
    folder = tmp_path_factory.mktemp("teacher")
    return folder, list(replay(folder, markdown()))


# ---------------------------------------------------------------- the page and its run


def problems(outcomes):
    return [f"$ {command}\n{said}came out as\n{got}" for command, said, got in outcomes if said != got]


def test_what_the_commands_print_is_what_the_page_shows(run):
    found = problems(run[1])
    assert not found, "\n\n".join(found)


def test_a_changed_number_on_the_page_is_seen(run):
    text = markdown()
    right = "30 students: 30 graded now, 0 as before."
    assert right in text
    planted = [pair for block in sessions(text.replace(right, right.replace("30 g", "31 g"), 1))[1:] for pair in block]
    outcomes = [(command, said, got) for (command, said), (_, _, got) in zip(planted, run[1], strict=True)]
    assert len(problems(outcomes)) == 1


def test_the_four_commands_on_top_are_four_and_are_those_of_the_run():
    first, whole, *_ = sessions(markdown())
    assert len(first) == 4
    assert [command for command, _ in first] == [
        command for command, _ in whole if "rehearse" not in command and not command.startswith("head ")
    ]


def test_no_other_page_shows_a_session_that_no_test_runs():
    """`numbertext` looks for no numbers in them."""
    for path in reading.notebook_paths() + reading.page_paths():
        assert path == PAGE or "```console" not in reading.page_markdown(path), path.name


def test_every_student_of_the_list_gets_a_page_and_a_folder_to_hand_back(run):
    folder, _ = run
    students = (folder / "class.csv").read_text("utf-8").splitlines()[1:]
    assert len(students) == len(set(students)) == 30
    with zipfile.ZipFile(folder / "week6" / "feedback.zip") as archive:
        assert sorted(archive.namelist()) == sorted(f"{student}/feedback.html" for student in students)
        assert all(
            student in archive.read(f"{student}/feedback.html").decode() for student in students if "'" not in student
        )


def test_folders_of_moodle_are_taken_and_come_back_by_the_same_names(run, tmp_path):
    folder, _ = run
    assert sorted(p.name for p in (folder / "week7" / "submissions").iterdir()) == sorted(MOODLE)
    _, receipts = gradecheck.grade(folder / "week7" / "submissions", tmp_path / "grades.csv")
    assert {receipt.points for receipt in receipts.values()} == {4}
    archive, without = feedback_zip(tmp_path / "grades.csv")
    assert without == []
    (tmp_path / "back.zip").write_bytes(archive)
    with zipfile.ZipFile(tmp_path / "back.zip") as back:
        assert sorted(back.namelist()) == sorted(f"{name}/feedback.html" for name in MOODLE)


def test_the_picture_is_of_the_page_as_it_is_now(run):
    with Image.open(PICTURE) as picture:
        assert picture.text["Source"] == words(run[0] / "week6" / "grades" / "feedback" / f"{PICTURED}.html"), (
            "take it again: PYTHONPATH=tests python classroom/tests/test_instructors.py"
        )
    assert PICTURE.stat().st_size < 150_000


def words(page):
    """What a feedback page says in the part that is pictured: the first two exercises."""
    parts = re.findall("<section>.*?</section>", page.read_text("utf-8"), re.DOTALL)[:2]
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", " ".join(parts))).split())


# ---------------------------------------------------------------- its tables


def rows(found):
    """The cells of the Markdown tables among a notebook's outputs."""
    texts = [
        out.get("data", {}).get("text/markdown", "") for _, cell in reading.code_cells(found) for out in cell.outputs
    ]
    lines = [line for text in texts for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def table_problems(found):
    """Sums of exercises and minutes on the page that are not those of the book; counted here in another way."""
    exercises = read(reading.ROOT / "notebooks").values()
    tables = {row[0]: row[1:] for row in rows(found)}
    wrong = []
    for chapter in map(int, contents()):
        those = [one for one in exercises if one.chapter == chapter]
        said = f"{sum(one.minutes for one in those)} ({len(those)})"
        if tables[str(chapter)][4] != said:
            wrong.append(f"chapter {chapter}: expected {said}, got {tables[str(chapter)][4]}")
    return wrong


def test_the_minutes_on_the_page_are_those_of_the_book():
    wrong = table_problems(reading.read_notebook(PAGE))
    assert not wrong, "\n".join(wrong)


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


def test_as_many_cheats_fool_nbgrader_as_the_page_says():
    tree = ast.parse((reading.ROOT / "classroom" / "tests" / "with_nbgrader" / "test_nbgrader.py").read_text("utf-8"))
    cheats = next(
        n.value.keys for n in tree.body if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == "CHEATS"
    )
    assert len(cheats) == 3
    assert "Three\ncheats were tried" in markdown()


# ---------------------------------------------------------------- what it uses


def test_a_class_can_be_made_up_for_every_exercise():
    chosen = list(read(reading.ROOT / "notebooks", [1, 11, 13]).values())
    student, _ = assign.notebooks(chosen, "All")
    files = rehearse.made_up(dict.fromkeys(rehearse.NAMES, student), assign.manifest(chosen, "All"))
    assert len(files) == 30
    assert sum(content is None for content in files.values()) == 1
    assert len(set(files.values())) >= 10


@pytest.mark.parametrize("student", ["../../x", "a/b", "c:\\x", "con\n", "", " x", "x.", "y" * 101])
def test_no_name_of_a_student_leads_out_of_the_archive(student):
    assert folder_name(student, file_name(student)) == file_name(student)


def test_an_archive_of_feedback_without_a_page_for_somebody_says_so_and_holds_the_others(tmp_path, capsys):
    with pytest.raises(ClassroomError, match="expected a table"):
        feedback_zip(tmp_path / "grades.csv")
    (tmp_path / "grades.csv").write_text("student,points\nanna,2\nbob,1\n", "utf-8")
    for folder in ("receipts", "feedback"):
        (tmp_path / "grades" / folder).mkdir(parents=True)
    receipt = grading.Receipt("bob", "", "", [])
    (tmp_path / "grades" / "receipts" / "bob.json").write_bytes(receipt.to_json())
    (tmp_path / "grades" / "feedback" / "bob.html").write_bytes(b"page")
    archive = tmp_path / "feedback.zip"
    assert main(["feedback", str(tmp_path / "grades.csv"), "--out", str(archive)]) == 1
    assert "no page for 'anna'" in capsys.readouterr().err
    assert zipfile.ZipFile(archive).namelist() == ["bob/feedback.html"]


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("student.ipynb", b"[]", "expected a notebook written by"),
        ("student.ipynb", b'{"cells": [3]}', "expected a notebook written by"),
        (
            "student.ipynb",
            b'{"cells": [{"metadata": {"toytf": 3}}]}',
            "expected a notebook written by",
        ),
        ("student.ipynb", b"\xff", "expected a notebook written by"),
        ("student.ipynb", b"[" * 100_000, "expected a notebook written by"),
        ("submissions/assignment.json", b"[]", "toytf assignment"),
        ("submissions/assignment.json", b"[" * 100_000, "expected what toytf-classroom assign wrote"),
        ("submissions/assignment.json", None, "assignment.json"),
    ],
)
def test_a_rehearsal_with_a_wrong_file_says_which(tmp_path, capsys, name, content, says):
    chosen = list(read(reading.ROOT / "notebooks", [9]).values())[:2]
    assign.write({tmp_path / "week6": assign.files(chosen, "Week 6", None)}, False)
    path = tmp_path / "week6" / name
    path.unlink() if content is None else path.write_bytes(content)
    assert main(["rehearse", str(tmp_path / "week6"), "--out", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert says in said
    assert said.startswith("error: ")
    assert not (tmp_path / "class.csv").exists()


# ---------------------------------------------------------------- the picture


def take_picture():
    from playwright.sync_api import sync_playwright

    import sitecheck

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        prepare(folder, markdown())
        for command, _ in sessions(markdown())[1]:
            shell(command, folder)
        page = folder / "week6" / "grades" / "feedback" / f"{PICTURED}.html"
        with sync_playwright() as playwright:
            browser = sitecheck.launch(playwright, sitecheck.find_chromium())
            tab = browser.new_page(
                viewport={"width": 720, "height": 900}, color_scheme="light", device_scale_factor=1.5
            )
            tab.goto(page.as_uri())
            last = tab.locator("section").nth(1).bounding_box()
            clip = {"x": 0, "y": 0, "width": 720, "height": last["y"] + last["height"] + 7}
            tab.screenshot(path=folder / "all.png", clip=clip, full_page=True)
            browser.close()
        about = PngImagePlugin.PngInfo()
        about.add_itxt("Source", words(page))
        picture = Image.open(folder / "all.png").convert("RGB").quantize(64)
        picture.save(PICTURE, pnginfo=about, optimize=True)
    print(f"{PICTURE}: {PICTURE.stat().st_size} bytes")


if __name__ == "__main__":
    take_picture()
