"""Bytes of strangers, at random: replies that a student's code forges, notebooks that were damaged.

`TOYTF_DEEP=1` tries 9,000 replies and 20,000 notebooks; without it a few hundred.
"""

import json
import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gradecheck
from gradecheck import BY_HAND, HONEST, IMPORTS, SOFTMAX, code, data, words
from toytf_classroom import feedback_pages, frames, gradebook, grading, sandbox, submission
from toytf_classroom.plain_text import to_csv

DEEP = os.environ.get("TOYTF_DEEP") == "1"
REPLIES = settings(max_examples=9000 if DEEP else 300, suppress_health_check=list(HealthCheck))
NOTEBOOKS = settings(max_examples=20_000 if DEEP else 300, suppress_health_check=list(HealthCheck))

# ---------------------------------------------------------------- forged replies

WORDS = st.sampled_from(
    "n kind arrays raised nothing answers missing ready results given clock text line parts named name array none "
    "other dropped modified dtype shape f8 b1 O slow ok mean variance =1+1 \ud800 \x1b[2J".split(" ")
)
NUMBERS = st.one_of(
    st.integers(-3, 70), st.sampled_from([2**24, 2**31, 2**63, 10**400, 0.5, float("inf"), float("nan")])
)
LEAVES = st.one_of(st.none(), st.booleans(), NUMBERS, WORDS, st.text(max_size=8))
ANYTHING = st.recursive(
    LEAVES, lambda s: st.one_of(st.lists(s, max_size=4), st.dictionaries(WORDS, s, max_size=4)), max_leaves=12
)
ARRAYS = st.lists(
    st.one_of(
        ANYTHING,
        st.fixed_dictionaries(
            {
                "dtype": st.sampled_from(["f8", "b1", "i1", "f2", "O", 3]),
                "shape": st.one_of(
                    st.lists(st.sampled_from([0, 2**24]), max_size=8),
                    st.lists(st.sampled_from([0, 1, 2, 3, -1, 2**24, True, "1"]), max_size=9),
                ),
            }
        ),
    ),
    max_size=5,
)
HEADERS = st.fixed_dictionaries(
    {},
    optional={
        "kind": st.one_of(
            st.sampled_from(grading.KINDS + ("answers", "missing", "too slow", "not callable")), ANYTHING
        ),
        "arrays": st.one_of(ARRAYS, ANYTHING),
        "results": st.one_of(NUMBERS, ANYTHING),
        "given": st.one_of(st.lists(st.lists(LEAVES, max_size=3), max_size=3), ANYTHING),
        "text": ANYTHING,
        "clock": ANYTHING,
        "parts": st.one_of(
            st.lists(st.fixed_dictionaries({"name": LEAVES, "kind": LEAVES}, optional={"text": LEAVES}), max_size=5),
            ANYTHING,
        ),
        "named": st.one_of(st.booleans(), ANYTHING),
        "dropped": ANYTHING,
        "line": ANYTHING,
    },
)


class Forged:
    """A session in which the student's code answers what it likes."""

    def __init__(self, replies):
        self.replies, self.kept = list(replies), []

    def __call__(self, sandbox_, limits):
        return self

    def request(self, header, arrays=(), *, seconds, clock):
        said = self.replies.pop(0) if self.replies else {"kind": "missing", "arrays": []}
        return sandbox.Reply(*said) if isinstance(said, tuple) else sandbox.Reply(said, b"")

    def used(self):
        return 0.0

    def starved(self, clock):
        return True

    def take_printed(self):
        return "printed"

    def close(self):
        pass


@REPLIES
@given(st.lists(st.tuples(HEADERS, st.binary(max_size=40)), max_size=12))
def test_whatever_a_student_s_code_answers_comes_to_a_receipt_without_points(replies):
    session = Forged(replies)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grading, "Session", session)
        patch.setattr(grading, "code_version", lambda: "0" * 16)  # the same each time, and slow to find out
        receipt = grading.grade_one(
            data(IMPORTS, SOFTMAX), gradecheck.assignment(), sandbox=FAKE, student="eve", limits=gradecheck.SMALL
        )
    assert receipt.results[0].points == 0, receipt.to_json().decode()
    assert grading.Receipt.from_json(receipt.to_json()) == receipt
    feedback_pages.student_page(receipt, gradecheck.assignment())
    line = gradebook.line_of(receipt, gradecheck.assignment(), "eve.html", "", {})
    to_csv([line.grades, *line.to_read])
    assert receipt.failed == []


class FAKE:
    """What is asked of a sandbox besides a session."""

    name, allow = "forged", ()


def _message(header, body):
    text = json.dumps(header).encode()
    return frames.HEAD.pack(b"TTF1", len(text), len(body)) + text + body


@REPLIES
@given(st.one_of(st.binary(max_size=60), st.builds(_message, HEADERS, st.binary(max_size=60))))
def test_bytes_on_the_line_are_a_message_or_malformed(message):
    try:
        header, body = frames.unpack_whole(message)
        frames.read_arrays(header.get("arrays"), body)
    except frames.Malformed:
        pass


# ---------------------------------------------------------------- damaged notebooks

OUTPUT = [{"data": {"text/html": ['<b class="x">\\"</b>']}}]
RICH = data(
    IMPORTS, {**code(SOFTMAX), "outputs": OUTPUT}, BY_HAND, words("Because."), words("More.", grade_id="ex-09-3-more")
)
PIECES = [
    b'"',
    b"\\",
    b'\\"',
    b"[",
    b"]",
    b"{",
    b"}",
    b",",
    b":",
    b"null",
    b"NaN",
    b"1e999",
    b"\xff",
    b"\\ud800",
    b"\n",
    b"\0",
]


def _readable(content):
    try:
        read = submission.read(content)
        for text in [*read.cells, *read.texts.values()]:
            text.encode()
    except submission.Unreadable as error:
        assert str(error).startswith("The ")


@NOTEBOOKS
@given(
    st.sampled_from([HONEST, RICH]),
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 0.1), st.sampled_from(PIECES)), min_size=1, max_size=6),
)
def test_a_damaged_notebook_is_read_or_refused_with_a_reason(content, damages):
    for at, length, piece in damages:
        start = int(at * len(content))
        content = content[:start] + piece + content[start + int(length * len(content)) :]
    _readable(content)


KEYS = st.sampled_from(["cell_type", "source", "metadata", "outputs", "nbgrader", "toytf", "id"])
CELLS = st.dictionaries(KEYS, st.one_of(ANYTHING, st.sampled_from(["code", "markdown"])))


@NOTEBOOKS
@given(
    st.dictionaries(st.sampled_from(["metadata", "nbformat"]), ANYTHING),
    st.lists(st.one_of(ANYTHING, CELLS), max_size=5),
)
def test_a_notebook_of_odd_parts_is_read_or_refused_with_a_reason(whole, cells):
    _readable(json.dumps({**whole, "cells": cells}).encode())
