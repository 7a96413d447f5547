"""What by-hand checks tell a wrong answer: a hint, then the step before, then the sum; and what they keep back."""

import itertools
import json
import re

import numpy as np
import pytest

from toytf import check
from toytf.check.pencil import Part, Stage, Trap, Tries, number, product, worked
from toytf.check.slips import general
from toytf.course.chapters import BOOK
from toytf.teach.exercises import read
from toytf.teach.worksheet import DEFAULT, sheet

EXERCISES = {one.number: one for one in read(BOOK / "notebooks").values()}
PARTS = [(one, part) for one in check.BY_HAND.values() for part in one.parts]
each_part = pytest.mark.parametrize(("one", "part"), PARTS, ids=[f"{one.number} {part.name}" for one, part in PARTS])

NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?")
ORDINALS = re.compile(r"\b(row|column|entry|key|query|position|place|pair|unit|head|step|token|chapter) \d+")
LISTED = r"is ([-\d.]+(?:, [-\d.]+)*)"
OPERANDS = re.compile(rf"^[a-z ]+\d* {LISTED}; [a-z ]+\d* {LISTED}(?:; the bias {LISTED})?$")  # a row, a column, a bias


# ---------------------------------------------------------------- reading what is said


def numbers(text):
    """The numbers of a text, with their signs: "(-3) * 0.5 - 2" has -3, 0.5 and 2."""
    found = []
    for match in NUMBER.finditer(text):
        ahead = text[: match.start()]
        minus = ahead.endswith("-") and not ahead[-2:-1].isalnum()
        found.append(float(match.group().replace(",", "")) * (-1 if minus else 1))
    return found


def holds(text, value, room):
    """Whether a text has a number that would be right in place of `value`; what counts rows or columns is none."""
    return any(abs(x - value) <= room for x in numbers(ORDINALS.sub(r"\1", text)))


def given(one, part, said):
    """Numbers that are no secret: of the exercise's text, of parts before this one, and factors that are listed."""
    known = numbers(EXERCISES[one.number].text.replace("−", "-"))
    for earlier in itertools.takewhile(lambda other: other is not part, one.parts):
        known += np.asarray(earlier.expected, float).ravel().tolist()
    factors = OPERANDS.search(said)
    if factors:
        known += sum((listed(text) for text in factors.groups() if text), [])
    return known


def listed(text):
    return [float(x) for x in text.split(", ")]


def places(part):
    return list(np.ndindex(np.asarray(part.expected).shape))


def wrong(part, place, units=2):
    """The right answer with one entry off, by so many units of the last digit, and like no known slip if possible."""
    expected = np.round(np.asarray(part.expected, float), part.decimals)
    for off in (units, 3, 41, 1001):
        answer = np.array(expected)
        answer[place] += off * 10.0**-part.decimals
        if not part.looks(answer):
            break
    return answer


def sides(text):
    """The sides of the equations of a text, if they say more than one number."""
    parts = re.split(r" = |, about |: |; ", text)
    return [side for side in parts if len(numbers(side)) > 1 or "ln " in side or "log " in side]


# ---------------------------------------------------------------- the three stages, for every part


def said(one, part, stage, answer):
    """What is printed for the n-th wrong answer, `answer`."""
    tries = Tries()
    shape = np.asarray(part.expected).shape
    for i in range(stage - 1):
        one.reports(np.full(shape, 10.0**7 + i), part.name, tries)
    (report,) = one.reports(answer, part.name, tries)
    assert not report
    return report.details


@each_part
def test_the_first_stage_holds_neither_the_right_number_nor_its_sum(one, part):
    known_slips = [np.asarray(trap.value, float) for trap in part.traps]
    for place in places(part):
        expected = np.asarray(part.expected, float)[place]
        for answer in (wrong(part, place), *known_slips):
            details = said(one, part, Stage.HINT, answer)
            for line in details:
                line = re.sub(r"yours \S+|and \d+ more|N - 1", "", line)  # a count and a formula's name are none
                secret = not any(abs(x - expected) <= part.room for x in given(one, part, ""))
                assert not (secret and holds(line, expected, part.room)), line
                assert not any(side in line for side in sides(part.work(place))), line


@each_part
def test_the_second_stage_says_the_step_before_and_not_the_result(one, part):
    for place in places(part):
        expected = np.asarray(part.expected, float)[place]
        before = part.before(place)
        assert said(one, part, Stage.BEFORE, wrong(part, place))[-1].endswith(f"; {before}")
        assert before
        assert part.work(place) not in before
        if holds(before, expected, part.room):
            known = given(one, part, before)
            assert any(abs(x - expected) <= part.room for x in known), before


@each_part
def test_factors_that_are_listed_are_those_of_the_sum(one, part):
    for place in places(part):
        factors = OPERANDS.search(part.before(place))
        if factors:
            row, column, bias = (np.array(listed(text or "0")) for text in factors.groups())
            assert row @ column + bias[0] == pytest.approx(np.asarray(part.expected, float)[place], abs=1e-4)


@each_part
def test_the_third_stage_says_how_the_right_number_comes_about(one, part):
    for place in places(part):
        expected = np.asarray(part.expected, float)[place]
        details = said(one, part, Stage.SUM, wrong(part, place))
        assert details[-1].endswith(f"; {part.work(place)}")
        last = re.split(" = |: ", part.work(place))[-1]
        product = float(np.prod(numbers(last))) if re.fullmatch(r"[\d *]+", last) else np.nan  # 7.6 leaves it there
        said_at_the_end = [*numbers(part.work(place)), product]
        assert any(abs(x - expected) <= max(part.room, 0.5e-4) for x in said_at_the_end), part.work(place)
