"""What the grader promises about a class in which one hands in something odd: nobody else loses anything.

Each test here failed when the grader was first attacked.
"""

import errno
import io
import os
import re
import signal
import unicodedata
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradecheck
from gradecheck import HONEST, IMPORTS, SMALL, SOFTMAX, data, lines
from toytf_classroom import ClassroomError, frames, gradebook, grading, sandbox, submission
from toytf_classroom import names as names_
from toytf_classroom.__main__ import main
from toytf_classroom.feedback import feedback_zip
from toytf_classroom.lms import read_table
from toytf_classroom.names import Roll
from toytf_classroom.plain_text import one_line, to_csv, without_formula


@pytest.fixture
def two(tmp_path):
    return gradecheck.folder(tmp_path / "week", {"anna.ipynb": HONEST, "bob.ipynb": HONEST})


# ---------------------------------------------------------------- a file cannot stop a class

QUOTES = b'{"cells": [{"cell_type": "code", "source": "' + b'\\"' * 4_000_000  # a text that is never closed


@pytest.mark.parametrize(
    ("content", "size"), [(QUOTES, (3, 4)), (b'"' * (1 << 20), (0, 0)), (b'"\\', (0, 0)), (QUOTES + b'"}]}', (3, 7))]
)
def test_a_file_of_quotation_marks_is_measured_before_the_run_s_limit(content, size):
    assert submission._size(content) == size  # 100 kB once took a minute: the largest of these would take days


def test_a_file_s_depth_and_parts_are_counted_outside_its_texts():
    assert submission._size(b'{"cells": [{"a\\"[": "x\\\\"}]}') == (3, 6)
    assert submission._size(b'["[[[[,,,,", 1]') == (1, 3)
    assert submission._size(b'["' + b'\\"[') == (1, 1)


@pytest.mark.parametrize("shape", [[0, 2**24, 2**24, 2**24], [2**24, 0, 2**24], [2**24] * 8])
def test_a_forged_shape_is_no_message(shape):
    with pytest.raises(frames.Malformed):
        frames.read_arrays([{"dtype": "f8", "shape": shape}], b"")


@gradecheck.needs_linux
def test_a_process_that_calls_itself_by_no_text_is_watched_as_any_other(tmp_path):
    named, name = os.pipe()
    child = os.fork()
    if not child:
        with open("/proc/self/comm", "wb") as file:
            file.write(b"\xff\n) 1 2")
        os.write(name, b"now")
        while True:
            signal.pause()
    try:
        os.read(named, 3)
        threads, memory = sandbox.usage([child])
        assert threads == 1
        assert memory > 0
        assert sandbox.processor_seconds([child]) >= 0
        assert child in sandbox._all_parents()[os.getpid()]
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


# ---------------------------------------------------------------- changed arguments

IN_PLACE = """def softmax(scores):
    scores -= scores.max(-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(-1, keepdims=True)
    return scores.copy()"""
# Tells the grader's side of the sandbox that nothing was changed, as the reply was made up before.
FORGES = """import gc
runner = next(x for x in gc.get_objects() if type(x).__name__ == "Runner")
send = runner.send
def forged(header, arrays=()):
    header.pop("modified", None)
    send({**header, "modified": []}, arrays)
runner.send = forged"""


def test_that_an_argument_was_changed_is_seen_outside(box):
    for cells in ([IMPORTS, IN_PLACE], [IMPORTS, FORGES, IN_PLACE]):
        receipt = grading.grade_one(data(*cells), gradecheck.assignment(), sandbox=box, limits=SMALL)
        assert receipt.results[0].points == 0
        assert "changes its argument scores" in receipt.results[0].headline


ARGUMENTS = (np.arange(6.0).reshape(2, 3), [1, [2.0, None]], {"a": np.ones(2)}, float("nan"), "text")


def _reply(args):
    descriptions, arrays = [], []
    for argument in args:
        text, parts = frames.pack_argument(argument)
        descriptions.append([text, len(parts)])
        arrays += parts
    return descriptions, arrays


@pytest.mark.parametrize(
    ("changed", "which"),
    [
        (ARGUMENTS, ()),
        ((np.arange(6.0).reshape(2, 3) * 1.0, *ARGUMENTS[1:]), ()),
        ((np.arange(6.0).reshape(3, 2), *ARGUMENTS[1:]), (0,)),
        ((np.arange(6, dtype=np.float32).reshape(2, 3), *ARGUMENTS[1:]), (0,)),
        ((-np.arange(6.0).reshape(2, 3), *ARGUMENTS[1:]), (0,)),  # -0.0 is another 0.0
        ((ARGUMENTS[0], [1, [2, None]], *ARGUMENTS[2:]), (1,)),
        ((*ARGUMENTS[:2], {"a": np.ones(2), "b": 1}, *ARGUMENTS[3:]), (2,)),
        ((*ARGUMENTS[:2], {"a": np.zeros(2)}, 0.0, "other"), (2, 3, 4)),
    ],
)
def test_arguments_are_compared_by_their_bytes(changed, which):
    assert grading._modified(*_reply(changed), ARGUMENTS) == which


@pytest.mark.parametrize(
    "given", [None, [], [[1, 2, 3]] * 5, [["1", -1]] * 5, [["1", True]] * 5, [["1", 99]] * 5, [["1", 0]] * 5, "12345"]
)
def test_forged_arguments_are_malformed_or_changed(given):
    try:
        assert grading._modified(given, [np.ones(1)], ARGUMENTS) != ()
    except frames.Malformed:
        pass


# ---------------------------------------------------------------- names and tables


def test_a_blank_at_the_end_of_a_name_blocks_nobody_s_points_and_pages(tmp_path, box):
    week = gradecheck.folder(tmp_path / "week", {"anna .ipynb": HONEST, "bob.ipynb": HONEST, " cem.ipynb": HONEST})
    out, manual = tmp_path / "g.csv", tmp_path / "manual.csv"
    gradecheck.grade(week, out, box)
    filled = (tmp_path / "g" / "to_read.csv").read_text().replace('"","",""', '"","1","good"')
    manual.write_text(filled)
    gradecheck.grade(week, out, box, manual=manual)
    assert lines(out) == {" cem": ["5", "2", "2", "1"], "anna ": ["5", "2", "2", "1"], "bob": ["5", "2", "2", "1"]}
    archive, without = feedback_zip(out)
    assert (len(zipfile.ZipFile(io.BytesIO(archive)).namelist()), without) == (3, [])
    manual.write_text("student,exercise,points,comment\nanna,9.3,2,\ncem,9.3,3,\n")  # as a spreadsheet may leave it
    gradecheck.grade(week, out, box, manual=manual)
    assert (lines(out)["anna "][0], lines(out)[" cem"][0]) == ("6", "7")
    (tmp_path / "class.csv").write_text("student\nanna\nbob\ncem\ndora\n")
    summary, receipts = gradecheck.grade(week, out, box, class_list=tmp_path / "class.csv")
    assert sorted(receipts) == [" cem", "anna ", "bob", "dora"]
    assert summary.notes == []


def test_two_spellings_of_one_name_are_two_submissions_that_keep_their_points(tmp_path, box):
    names = ["josé", "jose\u0301"]
    assert unicodedata.normalize("NFC", names[1]) == names[0]
    week = gradecheck.folder(
        tmp_path / "week", {f"{names[0]}.ipynb": HONEST, f"{names[1]}.ipynb": data(IMPORTS, SOFTMAX)}
    )
    (tmp_path / "class.csv").write_text("student\njosé\n", "utf-8")
    summary, receipts = gradecheck.grade(week, tmp_path / "g.csv", box, class_list=tmp_path / "class.csv")
    assert {student: receipt.points for student, receipt in receipts.items()} == {names[0]: 4, names[1]: 2}
    assert len({*names_.file_names(names).values()}) == 2
    assert any("2 names that read the same were handed in" in note for note in summary.notes)


NAMES = st.text(st.characters(codec=None, exclude_characters="/\0"), min_size=1, max_size=60)


@given(st.lists(NAMES, min_size=2, max_size=6, unique=True))
def test_any_names_have_files_and_lines_of_their_own(students):
    files = names_.file_names(students)
    assert len({name.lower() for name in files.values()}) == len(students)
    assert all(re.fullmatch(r"[A-Za-z0-9_.@+~-]+", name) and len(name) < 120 for name in files.values())
    cells = [without_formula(one_line(student)) for student in students]
    assert len(set(cells)) == len(students)
    roll = Roll(students)
    assert [roll(cell) for cell in cells] == students
    for cell in cells:
        assert "\n" not in cell
        cell.encode()


@given(st.text("=+-@\uff1d\uff0b\uff0d\uff20;,|\t\r\n \"'a1", max_size=20))
def test_no_cell_begins_a_formula_in_any_dialect(cell):
    for separator in ";,|\t":
        for line in to_csv([[cell]]).decode().splitlines():
            for part in line.split(separator):
                bare = part.strip(' "\t\r')
                assert not re.match("[=+\\-@\uff1d\uff0b\uff0d\uff20]", bare), (cell, line)


@given(st.lists(st.lists(st.text(st.characters(codec="utf-8", exclude_categories=["Cc"])), min_size=2, max_size=2)))
def test_a_table_comes_back_as_it_was_written(tmp_path_factory, rows):
    path = tmp_path_factory.getbasetemp() / "table.csv"
    path.write_bytes(to_csv([["a", "b"], *rows]))
    back = read_table(path, ["a", "b"])
    assert [[row["a"], row["b"]] for _, row in back] == [[without_formula(cell) for cell in row] for row in rows]


# ---------------------------------------------------------------- plain words for what is wrong


def no_space(path, *args, **kwargs):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))


def test_a_full_disk_is_a_plain_message(two, tmp_path, box, monkeypatch, capsys):
    monkeypatch.setattr(gradebook, "write_whole", no_space)
    assert main(["grade", str(two), "--out", str(tmp_path / "g.csv")]) == 2
    assert capsys.readouterr().err.startswith("error: No space left on device: ")
    monkeypatch.undo()
    assert main(["grade", str(two), "--out", str(tmp_path / "g.csv")]) == 0


def test_a_folder_in_which_nothing_can_be_written_is_a_plain_message(two, tmp_path, box, capsys):
    (tmp_path / "file").write_text("")
    assert main(["grade", str(two), "--out", str(tmp_path / "file" / "g.csv")]) == 2
    assert re.match("error: (Not a directory|File exists): ", capsys.readouterr().err)


@pytest.mark.parametrize(
    ("words_", "says"),
    [
        (["--cell-seconds", "0"], "--cell-seconds: expected a number of seconds above 0, got 0"),
        (["--cell-seconds", "nan"], "--cell-seconds: expected a number of seconds above 0, got nan"),
        (["--call-seconds", "-1"], "--call-seconds: expected a number of seconds above 0, got -1"),
        (["--seconds", "0"], "--seconds: expected a number of seconds above 0, got 0"),
        (["--seconds", "inf"], "--seconds: expected a number of seconds above 0, got inf"),
        (["--jobs", "0"], "--jobs: expected at least 1, got 0"),
        (["--memory", "1"], "--memory: expected at least 256 MB, got 1"),
        (["--allow", "toytf"], "--allow: toytf holds the right functions"),
        (["--allow", "ToyTF"], "--allow: toytf holds the right functions"),
        (["--out", "."], "--out: expected a file .csv"),
    ],
)
def test_a_limit_that_is_none_and_the_solutions_are_refused_with_a_reason(
    two, tmp_path, box, capsys, monkeypatch, words_, says
):
    monkeypatch.chdir(tmp_path)
    assert main(["grade", str(two), *words_]) == 2
    assert says in capsys.readouterr().err
    assert not (tmp_path / "grades.csv").exists()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("student,exercise,points,comment\nanna,9.3,1," + "x" * 140_000, "field larger than field limit"),
        ("", "expected one column 'student', got none"),
        ('student,exercise,points,comment\n"anna', "unexpected end of data"),
        ("student,exercise\0,points,comment\nanna,9.3,1,", "expected"),
    ],
)
def test_an_odd_table_is_named_with_what_is_odd(two, tmp_path, box, content, says):
    manual = tmp_path / "manual.csv"
    manual.write_text(content)
    with pytest.raises(ClassroomError, match=r"manual.csv, line \d: expected") as trouble:
        gradecheck.grade(two, tmp_path / "g.csv", box, manual=manual)
    assert says in str(trouble.value)


@pytest.mark.parametrize("content", [b"[" * 200_000, b'{"a":' * 200_000])
def test_a_deep_file_is_no_assignment_and_no_receipt(content):
    with pytest.raises(grading.BadAssignment, match="expected what toytf-classroom assign wrote"):
        grading.read_assignment(content)
    with pytest.raises(ValueError):
        grading.Receipt.from_json(content)
