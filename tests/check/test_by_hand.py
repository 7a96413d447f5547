"""What by-hand checks tell a wrong answer: a hint, then the step before, then the sum; and what they keep back."""

import itertools
import re

import numpy as np
import pytest

from toytf import check, ops
from toytf.byhand import Num, Prod, Quotient, Root, Sum
from toytf.check.answers import Attempts, part, worked
from toytf.course.chapters import BOOK

PARTS = [(one, part) for one in check.BY_HAND.values() for part in one.parts]
each_part = pytest.mark.parametrize(("one", "part"), PARTS, ids=[f"{one.number} {part.name}" for one, part in PARTS])

TEXTS = "".join(path.read_text("utf-8") for path in sorted((BOOK / "book/chapters").glob("*.md")))
EXERCISES = dict(re.findall(r"^:::\{exercise\} (\d+\.\d+): (.*?)^:::$", TEXTS, re.MULTILINE | re.DOTALL))
ORDINALS = re.compile(r"\b(row|column|entry|key|query|position|place|pair|unit|head|step|token|chapter) \d+|N - 1")
LISTED = r"is ([-\d.]+(?:, [-\d.]+)*)"
OPERANDS = re.compile(rf"^[a-z ]+\d* {LISTED}; [a-z ]+\d* {LISTED}(?:; the bias {LISTED})?$")  # a row, a column, a bias


# ---------------------------------------------------------------- reading what is said


def numbers(text):
    """The numbers of a text, with their signs: "(-3) * 0.5 - 2" has -3, 0.5 and 2."""
    found = re.findall(r"((?<!\w)-)?(?<![\w.])(\d[\d,]*(?:\.\d+)?)", text)
    return [float(sign + digits.replace(",", "")) for sign, digits in found]


def holds(text, value, room):
    """Whether a text has a number that would be right in place of `value`; what counts rows or columns is none."""
    return any(abs(x - value) <= room for x in numbers(ORDINALS.sub(r"\1", text)))


def secret(one, part, value, said=""):
    """Whether a number stands neither in the exercise's text nor in parts before this one, nor among listed factors."""
    known = numbers(EXERCISES[one.number].replace("−", "-"))
    for earlier in itertools.takewhile(lambda other: other is not part, one.parts):
        known += earlier.numbers.ravel().tolist()
    if factors := OPERANDS.search(said):
        known += [x for text in factors.groups() if text for x in listed(text)]
    return not any(abs(x - value) <= part.room for x in known)


def listed(text):
    return [float(x) for x in text.split(", ")]


def places(part):
    return list(np.ndindex(part.numbers.shape))


def wrong(part, place):
    """The right answer with one entry off, by some units of the last digit, and like no known slip if possible."""
    for off in (2, 3, 41, 1001):
        answer = np.array(np.round(part.numbers, part.decimals))
        answer[place] += off * 10.0**-part.decimals
        if not part.looks(answer):
            break
    return answer


def said(one, part, stage, answer):
    """What is printed for the n-th wrong answer, `answer`."""
    attempts = Attempts()
    for i in range(stage - 1):
        one.reports(np.full(part.numbers.shape, 10.0**7 + i), part.name, attempts)
    (report,) = one.reports(answer, part.name, attempts)
    assert not report
    return report.details


# ---------------------------------------------------------------- the three stages, for every part


@each_part
def test_the_first_stage_holds_neither_the_right_number_nor_its_sum(one, part):
    for place in places(part):
        expected = part.numbers[place]
        for answer in (wrong(part, place), *(np.asarray(trap.value, float) for trap in part.wrong_answers)):
            for line in said(one, part, 1, answer):
                line = re.sub(r"yours \S+|and \d+ more", "", line)
                assert not secret(one, part, expected) or not holds(line, expected, part.room), line
                sides = re.split(r" = |, about |: |; ", part.work(place))
                assert not any(side in line for side in sides if len(numbers(side)) > 1), line


@each_part
def test_what_a_slip_looks_like_tells_no_other_part_and_quotes_the_exercise_alone(one, part):
    words = " ".join([EXERCISES[one.number], *(other.name for other in one.parts)])
    for trap in part.wrong_answers:
        for other in (other for other in one.parts if other is not part):
            told = [x for x in other.numbers.ravel() if holds(trap.looks, x, other.room)]
            assert not any(secret(one, one.parts[0], x) for x in told), (trap.looks, other.name, told)
        quoted = re.findall(r'[*"`](\S[^*"`]*)(?<=\S)[*"`]', trap.looks)
        assert [word for word in quoted if word not in words] == [], trap.looks


@each_part
def test_the_second_stage_says_the_step_before_and_not_the_result(one, part):
    for place in places(part):
        expected, before = part.numbers[place], part.before(place)
        assert before
        assert said(one, part, 2, wrong(part, place))[-1].endswith(f"; {before}")
        assert part.work(place) not in before
        assert not secret(one, part, expected, before) or not holds(before, expected, part.room), before
        if factors := OPERANDS.search(before):
            row, column, bias = (np.array(listed(text or "0")) for text in factors.groups())
            assert row @ column + bias[0] == pytest.approx(expected, abs=1e-4)


@each_part
def test_the_third_stage_says_where_it_is_wrong_and_how_the_right_number_comes_about(one, part):
    for place in places(part):
        last = said(one, part, 3, wrong(part, place))[-1]
        assert len(place) != 2 or last.startswith(f"row {place[0] + 1}, column {place[1] + 1}: yours ")
        assert last.endswith(f"; {part.work(place)}")
        product = np.prod(numbers(re.split(" = |: ", last)[-1]))  # 7.6 leaves it there
        found = [*numbers(part.work(place)), product]
        assert any(abs(x - part.numbers[place]) <= max(part.room, 0.5e-4) for x in found)


# ---------------------------------------------------------------- known slips


def slips(part):
    """Known slips and what somebody types for each. What is nearly right has a room in place of a number."""
    for trap in [*part.wrong_answers, *(one for one in part.common_mistakes if "nearly right" not in one.looks)]:
        answer = np.asarray(trap.value, float)
        if trap.each:  # in every entry that it is about, else right
            off = np.abs(answer - part.numbers) > part.room
            answer = np.where(off & (np.asarray(trap.room) >= 0), answer, part.numbers)
        yield trap.looks, answer


@each_part
def test_each_slip_is_recognised_and_none_is_a_right_answer_not_even_rounded(one, part):
    own = [trap.looks for trap in part.wrong_answers]
    for looks, answer in slips(part):
        told = part.looks(answer)
        assert told == looks or (looks not in own and told), (looks, told)
        for typed in (answer, np.round(answer, part.decimals) if part.room > 1e-9 else answer):
            assert not one.reports(typed, part.name)[0], looks
    for trap in part.wrong_answers:
        (report,) = one.reports(np.round(np.asarray(trap.value, float), 2), part.name)
        assert report.details[0] == f"It looks like {trap.looks}"


@each_part
def test_a_right_answer_stays_right_as_far_as_its_room_goes(one, part):
    whole = not part.decimals and (part.numbers == np.round(part.numbers)).all()
    inside, outside = (0, 1) if whole else (0.499 * 10.0**-part.decimals, 0.501 * 10.0**-part.decimals)
    assert one.reports(np.round(part.numbers, part.decimals), part.name)[0]
    for sign in (1, -1):
        assert one.reports(part.numbers + sign * inside, part.name)[0]
        assert not one.reports(part.numbers + sign * outside, part.name)[0]


def found(number, name):
    return next(part for part in check.BY_HAND[number].parts if part.name == name)


@pytest.mark.parametrize(
    ("number", "name", "answer", "looks"),
    [
        ("9.1", "result", [-1.41, 0, 0, 1.41], "too few decimals. Give four decimals."),
        ("9.1", "deviation", 1.4143, "nearly right. Keep more decimals on the way"),
        ("13.1", "probabilities", [0.6652, 0.2447, 0.09], ""),
        ("13.1", "probabilities", [66.52, 24.47, 9], "percent"),
        ("13.4", "temperature 0.5", 1.502, "the right number cut off. Round it to three decimals."),
        ("15.1", "dX", [[2, 1], [4, 7]], "the other sign"),
        ("15.1", "dX", [[2, 1], [-3, 7]], ""),
        ("3.2", "exponents", [0.6667, 0.6667, 0.3333, 0.3333, 0, 0], "the right numbers in reverse order."),
        ("16.2", "goal", [[1, 4, 5, 2], [1, 4, 3, 6]], "`<sos>` in the goal."),
    ],
)
def test_slips_are_told_apart(number, name, answer, looks):
    told = found(number, name).looks(np.asarray(answer, float))
    assert looks in told
    assert bool(looks) == bool(told)


# ---------------------------------------------------------------- tries


@pytest.fixture
def asked(monkeypatch, capsys):
    """What `check.byhand` prints, as after another start of Python."""
    monkeypatch.setattr(check, "_ATTEMPTS", Attempts())

    def ask(*arguments, **named):
        check.byhand(*arguments, **named)
        return capsys.readouterr().out

    return ask


def test_a_hint_then_the_step_before_then_the_sum(asked):
    told = [asked("15.1", [[2, wrong], [-4, 7]], part="dX") for wrong in (9, 8, 5, 6)]
    head = "15.1, dX: 1 of 4 entries differs.\n  row 1, column 2: yours "
    both = "; row 1 is 1, 0; column 2 is 1, 4\n"
    assert told == [f"{head}9\n", f"{head}8{both}", f"{head}5; 1 * 1 + 0 * 4 = 1\n", f"{head}6; 1 * 1 + 0 * 4 = 1\n"]


def test_the_same_answer_again_is_no_new_try_and_a_right_one_begins_anew(asked):
    said = [asked("9.1", wrong, part="mean") for wrong in (7, 7, 7.0, np.float32(7), 8, 3, 8)]
    first = "9.1, mean: not right.\n  yours {}\n"
    before = "9.1, mean: not right.\n  yours 8; (1 + 3 + 3 + 5) / 4\n"
    assert said == [*[first.format(7)] * 4, before, "9.1, mean: right.\n", first.format(8)]


def test_each_part_has_tries_of_its_own_and_points_count_none(asked):
    asked("9.1", 7, part="mean")
    assert check.points("9.1", {"variance": 8}, of=5) == 0
    assert asked("9.1", 7, part="variance") == "9.1, variance: not right.\n  yours 7\n"


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (None, "not answered yet"),
        ("three", "expected numbers, got 'three'"),
        ([1, 2], "expected shape 4, got 2"),
        ([1, None, 0, 1], "entry 2 has no number yet"),
        ([10**400, 0, 0, 0], "expected numbers"),
    ],
)
def test_what_is_no_answer_is_told_so_and_is_no_try(asked, answer, says):
    assert says in asked("9.1", answer, part="result")
    assert asked("9.1", [9, 0, 0, 9], part="result").endswith("entry 4: yours 9\n")


def test_answers_are_hidden_and_shown_again(asked):
    check.hide_answers()
    for n in (7, 8, 9, 10):
        assert asked("9.1", n, part="mean") == f"9.1, mean: not right.\n  yours {n}\n"
    check.hide_answers(False)
    assert asked("9.1", 11, part="mean").endswith("(1 + 3 + 3 + 5) / 4 = 3\n")
    with pytest.raises(TypeError, match="hide: expected True or False, got 'yes'"):
        check.hide_answers("yes")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("99.1", 1), "exercise: expected one of"),
        ((9.1, 1), "exercise: expected its number in quotation marks"),
        (("9.1", 1), "part: expected one of"),
        (("9.1", 1, "sum"), "got 'sum'"),
    ],
)
def test_a_by_hand_exercise_or_part_that_does_not_exist_is_an_error(arguments, says):
    with pytest.raises(ValueError, match=says):
        check.byhand(*arguments)


# ---------------------------------------------------------------- how an answer is made


@pytest.mark.parametrize(
    ("made", "place", "before", "work"),
    [
        (worked("", [Sum(1, Prod(2, -3))], also=[Num(-5)], lead="so: "), (0,), "so: 1 + 2 * (-3)", " = -5 = -5"),
        (worked("", Quotient(2, 3), also=Quotient(4, 6), decimals=2), (), "2 / 3", " = 4 / 6 = 0.67"),
        (worked("", Root(Sum(4, 5)), about=True, shown=".3f"), (), "the root of 4 + 5", ", about 3.000"),
        (worked("", Prod(4, 512), lead="four: ", shown=None), (), "four: 4 * 512", ""),
        (part("", 8, "2 * 4 = 4 + 4 = 8"), (), "2 * 4", " = 4 + 4 = 8"),
    ],
)
def test_the_step_before_is_what_stands_before_the_equals_sign(made, place, before, work):
    assert (made.before(place), made.work(place)) == (before, before + work)


ROW, PAIR = np.array([1.0, 3.0, 3.0, 5.0]), np.array([[2.0, 6.0]])


@pytest.mark.parametrize(
    ("number", "name", "expected"),
    [
        ("4.3", "weights", ops.softmax(np.array([14.0, 12.0]))),
        ("9.1", "result", check.layer_norm.solution(ROW, 1.0, 0.0, 0.0)),
        ("15.4", "dS", ops.softmax_backward(np.array([0.75, 0.25]), np.array([4.0, 20.0]))),
        ("15.5", "dx", check.layer_norm_backward.solution(PAIR, np.ones(2), np.array([[5.0, -1.0]]), 0.0)[0][0]),
    ],
)
def test_a_sum_written_by_hand_gives_what_the_function_gives(number, name, expected):
    np.testing.assert_allclose(found(number, name).expected, expected, rtol=1e-12, atol=1e-12)
