"""Whatever strangers hand in costs nobody else anything: odd names and tables, damaged notebooks, forged replies.

`TOYTF_DEEP=1` tries 10,000 of each; without it some dozens.
"""

import contextlib
import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradecheck
from gradecheck import BY_HAND, HONEST, IMPORTS, SOFTMAX, code, data, lines, one, words
from toytf_classroom import ClassroomError, feedback_pages, frames, gradebook, grading, sandbox, submission
from toytf_classroom.lms import read_table
from toytf_classroom.plain_text import Roll, file_names, one_line, to_csv, without_formula

# ---------------------------------------------------------------- names and tables


def test_a_name_is_one_however_it_is_spelled_and_two_submissions_of_it_are_named(tmp_path, box):
    files = {"anna .ipynb": HONEST, "jose\u0301.ipynb": HONEST, "bob.ipynb": HONEST, "bob .ipynb": HONEST}
    week = gradecheck.folder(tmp_path / "week", files)
    out, manual = tmp_path / "g.csv", tmp_path / "manual.csv"
    (tmp_path / "class.csv").write_text("student\n anna\njosé\nbob\ndora\n", "utf-8")
    manual.write_text("student,exercise,points,comment\n anna,9.3,2,\njose\u0301,9.3,3,\n", "utf-8")
    summary, receipts = gradecheck.grade(week, out, box, class_list=tmp_path / "class.csv", manual=manual)
    assert [(name, row[0]) for name, row in lines(out).items()] == [
        ("anna", "6"),
        ("bob", ""),
        ("dora", "0"),
        ("josé", "7"),
    ]
    assert "several submissions of this name" in receipts["bob"].reason
    assert summary.notes == []


NAMES = st.text(st.characters(codec=None, exclude_characters="/\0"), min_size=1, max_size=60)


@given(st.lists(NAMES, min_size=2, max_size=6, unique=True))
def test_any_names_have_files_and_lines_of_their_own(students):
    files = file_names(students)
    assert len({name.lower() for name in files.values()}) == len(students)
    assert all(re.fullmatch(r"[\w.@+~-]+", name) and len(name.encode()) < 250 for name in files.values())
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


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("student,exercise,points,comment\nanna,9.3,1," + "x" * 140_000, "field larger than field limit"),
        ("", "expected one column 'student', got none"),
        ('student,exercise,points,comment\n"anna', "unexpected end of data"),
        ("student,exercise\0,points,comment\nanna,9.3,1,", "expected"),
        ("student,exercise,points,comment\neve,9.3,1,", "line 2: student: expected one who"),
        ("student,exercise,points,comment\nanna,9.9,1,", "exercise: expected one of 8.8, 9.1, 9.3, or late, got '9.9'"),
        ("student,exercise,points,comment\nanna,9.3,4,", "points: expected a number from 0 to 3, got '4'"),
        ("student,exercise,points,comment\nanna,9.3,nan,", "from 0 to 3"),
        ("student,exercise,points,comment\nanna,9.3,1,\nanna,9.3,2,", "line 3: anna has points for 9.3 in an earlier"),
    ],
)
def test_an_odd_table_of_a_person_s_points_is_named_with_what_is_odd(tmp_path, box, content, says):
    manual = tmp_path / "manual.csv"
    manual.write_text(content)
    week = gradecheck.folder(tmp_path / "week", {"anna.ipynb": HONEST})
    with pytest.raises(ClassroomError, match=r"manual.csv, line \d: ") as trouble:
        gradecheck.grade(week, tmp_path / "g.csv", box, manual=manual)
    assert says in str(trouble.value)
    assert not (tmp_path / "g.csv").exists()


# ---------------------------------------------------------------- damaged notebooks

ODD = "n kind arrays raised answers missing results given clock text parts named name array dtype shape f8 b1 slow =1+1"
LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 70), st.sampled_from([2**24, 2**63, 10**400, 0.5, np.inf, np.nan]),
    st.sampled_from([*ODD.split(), "\ud800", "\x1b[2J"]), st.text(max_size=8),
)  # fmt: skip
ANYTHING = st.recursive(LEAVES, lambda s: st.lists(s, max_size=4) | st.dictionaries(st.text(max_size=5), s, max_size=4))
OUTPUT = [{"data": {"text/html": ['<b class="x">\\"</b>']}}]
RICH = data(IMPORTS, {**code(SOFTMAX), "outputs": OUTPUT}, BY_HAND, words("Because."), words("More.", "ex-09-3-more"))
PIECES = [*rb'" \ \" [ ] { } , : null NaN 1e999 \ud800'.split(), b"\xff", b"\0"]
DAMAGE = st.tuples(st.floats(0, 1), st.floats(0, 0.1), st.sampled_from(PIECES))


def readable(content):
    try:
        read = submission.read(content)
        for text in [*read.code, *(cell.source for cell in read.cells)]:
            text.encode()
    except submission.Unreadable as error:
        assert str(error).startswith("The ")


@given(st.sampled_from([HONEST, RICH]), st.lists(DAMAGE, min_size=1, max_size=6))
def test_a_damaged_notebook_is_read_or_refused_with_a_reason(content, damages):
    for at, length, piece in damages:
        start = int(at * len(content))
        content = content[:start] + piece + content[start + int(length * len(content)) :]
    readable(content)


PARTS = {name: ANYTHING for name in ("source", "metadata", "outputs", "id")} | {
    "cell_type": ANYTHING | st.sampled_from(["code", "markdown"]),
    "metadata": st.dictionaries(st.sampled_from(["nbgrader", "toytf"]), ANYTHING) | ANYTHING,
}


@given(ANYTHING, st.lists(ANYTHING | st.fixed_dictionaries({}, optional=PARTS), max_size=5))
def test_a_notebook_of_odd_parts_is_read_or_refused_with_a_reason(metadata, cells):
    readable(json.dumps({"metadata": metadata, "cells": cells}).encode())


@pytest.mark.parametrize("content", [b"[" * 200_000, b'{"a":' * 200_000])
def test_a_deep_file_is_no_assignment_and_no_receipt(content):
    with pytest.raises(ClassroomError, match="expected what toytf-classroom assign wrote"):
        grading.read_assignment(content)
    with pytest.raises(ValueError):
        grading.Receipt.from_json(content)


# ---------------------------------------------------------------- forged replies

ARRAY = st.fixed_dictionaries(
    {"dtype": st.sampled_from(["f8", "b1", "O", 3]), "shape": st.lists(st.sampled_from([0, 1, 3, -1, 2**24, True]))}
)
HEADER = {
    "kind": st.sampled_from([*grading.KINDS, "answers", "missing", "too slow", "not callable"]) | ANYTHING,
    "arrays": st.lists(ARRAY | ANYTHING, max_size=5) | ANYTHING,
    "given": st.lists(st.lists(LEAVES, max_size=3), max_size=3) | ANYTHING,
    "parts": st.lists(st.fixed_dictionaries({"name": LEAVES, "kind": LEAVES})) | ANYTHING,
} | dict.fromkeys(("results", "text", "clock", "named", "dropped", "line"), ANYTHING)
HEADERS = st.fixed_dictionaries({}, optional=HEADER)


class Forged:
    """A sandbox, and a session with it, in which the student's code answers what it likes."""

    allow = ()
    close, used, take_printed = (lambda *_, it=it: it for it in (None, 0.0, "printed"))

    def __init__(self, replies):
        self.replies = list(replies)

    def __call__(self, sandbox_, limits):
        return self

    def request(self, header, arrays=(), *, seconds, clock):
        return sandbox.Reply(*self.replies.pop(0) if self.replies else ({"kind": "missing", "arrays": []}, b""))


@given(st.lists(st.tuples(HEADERS, st.binary(max_size=40)), max_size=12))
def test_whatever_a_student_s_code_answers_comes_to_a_receipt_without_points(replies):
    session = Forged(replies)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grading, "Session", session)
        receipt = one(IMPORTS, SOFTMAX, box=session)
    assert receipt.results[0].points == 0, receipt.to_json().decode()
    assert receipt.failed == []
    assert grading.Receipt.from_json(receipt.to_json()) == receipt
    feedback_pages.student_page(receipt, gradecheck.assignment())
    to_csv([gradebook.Graded(receipt, "eve.html", feedback_pages.remark(receipt)).line(7)])


def _message(header, body):
    text = json.dumps(header).encode()
    return frames.HEAD.pack(b"TTF1", len(text), len(body)) + text + body


@given(st.binary(max_size=60) | st.builds(_message, HEADERS, st.binary(max_size=60)))
def test_bytes_on_the_line_are_a_message_or_malformed(message):
    with contextlib.suppress(frames.Malformed):
        if (whole := frames.first(message)) is not None:
            header, body, size = whole
            frames.read_arrays(header.get("arrays"), body)
            assert frames.first(message[: size - 1]) is None


@pytest.mark.parametrize("shape", [[0, 2**24, 2**24, 2**24], [2**24, 0, 2**24], [2**24] * 8])
def test_a_forged_shape_is_no_message(shape):
    with pytest.raises(frames.Malformed):
        frames.read_arrays([{"dtype": "f8", "shape": shape}], b"")


# ---------------------------------------------------------------- arrays and arguments, as they were

VALUES = [
    (1, 2.5, None, "a", True),
    [[1], (2,)],
    {"a": np.ones(2), 3: (4,)},
    np.float32(1.5),
    float("nan"),
    np.zeros((0, 3)),
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_an_argument_comes_back_as_it_was_sent(value):
    arrays = []
    header, body, _ = frames.first(frames.pack({"value": frames.pack_value(value, arrays)}, arrays))
    back = frames.unpack_value(header["value"], frames.read_arrays(header["arrays"], body))
    assert repr(back) == repr(value)


ARGUMENTS = (np.arange(6.0).reshape(2, 3), [1, [2.0, None]], {"a": np.ones(2)}, float("nan"), "text")
CHANGED = [
    ({}, ()),
    ({0: np.arange(6.0).reshape(3, 2)}, (0,)),
    ({0: np.arange(6, dtype=np.float32).reshape(2, 3)}, (0,)),
    ({0: -np.arange(6.0).reshape(2, 3)}, (0,)),  # -0.0 is another 0.0
    ({1: [1, [2, None]]}, (1,)),
    ({2: {"a": np.zeros(2)}, 3: 0.0, 4: "other"}, (2, 3, 4)),
]


@pytest.mark.parametrize(("changed", "which"), CHANGED)
def test_arguments_are_compared_by_their_bytes(changed, which):
    packed = [frames.pack_argument(changed.get(i, argument)) for i, argument in enumerate(ARGUMENTS)]
    given_back = [[text, len(parts)] for text, parts in packed]
    assert grading._modified(given_back, [part for _, parts in packed for part in parts], ARGUMENTS) == which


@pytest.mark.parametrize("given_back", [None, [], [[1, 2, 3]] * 5, [["1", -1]] * 5, [["1", 99]] * 5, [["1", 0]] * 5])
def test_forged_arguments_are_malformed_or_changed(given_back):
    try:
        assert grading._modified(given_back, [np.ones(1)], ARGUMENTS) != ()
    except frames.Malformed:
        pass
