"""What by-hand checks tell a wrong answer: a hint, then the step before, then the sum; and what they keep back."""

import itertools
import re

import numpy as np
import pytest

from toytf import check
from toytf.byhand import Sum
from toytf.check.answers import Part, Stage, Tries, mapped, product, worked
from toytf.course.chapters import BOOK
from toytf.teach import assign
from toytf.teach.exercises import read
from toytf.teach.worksheet import check_answers, sheet

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
    return known + [x for text in factors.groups() if text for x in listed(text)] if factors else known


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
    logarithms = re.findall(r"(?:ln|log) ?\(?\d[\d./ ]*", text)
    return [side for side in parts if len(numbers(side)) > 1] + [one.strip() for one in logarithms]


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
def test_what_a_slip_looks_like_tells_no_other_part_of_the_exercise(one, part):
    for trap in part.traps:
        line = trap.looks.replace("N - 1", "")
        for other in (other for other in one.parts if other is not part):
            told = [x for x in np.ravel(other.expected).astype(float).tolist() if holds(line, x, other.room)]
            known = numbers(EXERCISES[one.number].text.replace("−", "-"))
            assert all(any(abs(x - y) <= other.room for y in known) for x in told), (line, other.name, told)


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
        multiplied = np.prod(numbers(last)) if re.fullmatch(r"[\d *]+", last) else np.nan  # 7.6 leaves it there
        said_at_the_end = [*numbers(part.work(place)), multiplied]
        assert any(abs(x - expected) <= max(part.room, 0.5e-4) for x in said_at_the_end), part.work(place)


# ---------------------------------------------------------------- known slips


def typed(part, trap):
    """A slip as somebody would type it: in every entry that it is about, else right."""
    expected = np.asarray(part.expected, float)
    far = np.broadcast_to(np.asarray(1.0 if trap.room is None else trap.room), expected.shape)
    off = np.abs(np.asarray(trap.value, float) - expected) > part.room
    return np.where(off & (far >= 0), trap.value, expected)


def slips(part):
    """Known slips and what somebody types for each. What is nearly right has a room in place of a number."""
    for trap in [*part.traps, *(slip for slip in part.slips if "nearly right" not in slip.looks)]:
        yield trap.looks, typed(part, trap) if trap.each else np.asarray(trap.value, float)


@each_part
def test_no_slip_is_a_right_answer(one, part):
    """Not even rounded, where the exercise asks for that. A square table turned over is a slip too."""
    expected = np.asarray(part.expected, float)
    turned = [("turned over", expected.T)] if expected.ndim == 2 and len(expected) == len(expected.T) else []
    for looks, answer in [*slips(part), *turned]:
        for typed_in in (answer, np.round(answer, part.decimals) if part.room > 1e-9 else answer):
            assert (np.abs(typed_in - expected) > part.room).any(), looks
            assert not one.reports(typed_in, part.name)[0]


@each_part
def test_a_word_that_a_slip_quotes_stands_in_its_exercise(one, part):
    known = " ".join([EXERCISES[one.number].text, *(other.name for other in one.parts)])
    for trap in part.traps:
        quoted = re.findall(r'[*"`](\S[^*"`]*)(?<=\S)[*"`]', trap.looks)
        assert [word for word in quoted if word not in known] == [], trap.looks


@each_part
def test_each_slip_is_recognised(one, part):
    own = [trap.looks for trap in part.traps]
    for looks, answer in slips(part):
        told = part.looks(answer)
        assert told == looks or (looks not in own and told), (looks, told)


@each_part
def test_a_right_answer_stays_right_as_far_as_its_room_goes(one, part):
    expected = np.asarray(part.expected, float)
    whole = not part.decimals and (expected == np.round(expected)).all()
    inside, outside = (0, 1) if whole else (0.499 * 10.0**-part.decimals, 0.501 * 10.0**-part.decimals)
    for sign in (1, -1):
        assert one.reports(expected + sign * inside, part.name)[0]
        assert not one.reports(expected + sign * outside, part.name)[0]


@pytest.mark.parametrize(
    ("number", "name", "answer", "looks"),
    [
        ("9.1", "result", [-1.41, 0, 0, 1.41], "too few decimals. Give four decimals."),
        ("9.1", "deviation", 1.4143, "nearly right. Keep more decimals on the way"),
        ("9.1", "deviation", 14.14, "ten times the right number"),
        ("9.1", "deviation", 1.4, "too few decimals. Give four decimals."),
        ("13.1", "probabilities", [0.6652, 0.2447, 0.09], ""),
        ("13.1", "probabilities", [66.52, 24.47, 9], "percent"),
        ("13.1", "probabilities", [0.6652, 0.2447, 0.1], "too few decimals. Give four decimals."),
        ("13.4", "temperature 0.5", 1.502, "the right number cut off. Round it to three decimals."),
        ("13.1", "probabilities", [0.6652, 0.2447, 0], ""),
        ("15.1", "dX", [[2, 1], [4, 7]], "the other sign"),
        ("15.1", "dX", [[2, -4], [1, 7]], "turned over"),
        ("15.1", "dX", [[2, 1], [-3, 7]], ""),
        ("5.1", "gap", 1.585, "a logarithm to base 2."),
        ("3.1", "row", [0.0349, 0.9994, 0.0003, 1], "an angle in degrees."),
        ("18.6", "percent", 0.004, "a part of 1."),
        ("18.6", "percent", 39.7, ""),
        ("5.1", "weights", [0.25, 0.25, 0.25, 0], ""),
        ("1.1", "scores", [5, 64], "the queries."),
        ("1.1", "side by side", [5, 64], "one head."),
        ("1.1", "memory", [5, 64], "the width of a head."),
        ("1.2", "fifth result", 3.0625, "the new word left out."),
        ("3.1", "row", [0.9093, 0.02, -0.4161, 0.9998], "all sines first, then all cosines."),
        ("3.1", "column as i", [0.91, 0, 1, 1], "all sines first, then all cosines."),
        ("6.1", "scores", [120, 166.31], "a column of the scores."),
        ("6.7", "8 heads of 64", 8388608, "the heads counted twice."),
        ("6.7", "8 heads of 32", 4194304, "the heads counted twice."),
        ("7.6", "feed-forward", 2099712, "the biases counted."),
        ("7.6", "attention", 1050624, "the biases counted."),
        ("10.1", "result", [0.2774, -0.2774, -1.3868, 1.3868], "F(U) alone, normalised."),
        ("12.1", "key", [1, 0, 0], "the value."),
        ("12.1", "scaled score", -0.629, "the query with the value."),
        ("16.1", "after step 2", 0.8091, "the correction of step 1 once more."),
        ("16.1", "after step 2", 0.8281, "the two betas exchanged."),
        ("16.2", "goal", [[1, 4, 5, 2], [1, 4, 3, 6]], "`<sos>` in the goal."),
        ("18.1", "a cat sees the red houses", 4, "the determiners exchanged too."),
    ],
)
def test_slips_are_told_apart(number, name, answer, looks):
    part = next(part for part in check.BY_HAND[number].parts if part.name == name)
    told = part.looks(np.asarray(answer, float))
    assert looks in told
    assert bool(looks) == bool(told)


# ---------------------------------------------------------------- tries


@pytest.fixture
def fresh(monkeypatch):
    """As after another start of Python; says what `check.byhand` prints."""
    monkeypatch.setattr(check, "_TRIES", Tries())


def asked(capsys, *arguments, **named):
    check.byhand(*arguments, **named)
    return capsys.readouterr().out


def test_the_first_try_is_told_a_hint_the_second_the_step_before_the_third_the_sum(fresh, capsys):
    told = [asked(capsys, "15.1", [[2, wrong], [-4, 7]], part="dX") for wrong in (9, 8, 5, 6)]
    head = "15.1, dX: 1 of 4 entries differs.\n  row 1, column 2: yours "
    assert told == [
        f"{head}9\n",
        f"{head}8; row 1 is 1, 0; column 2 is 1, 4\n",
        f"{head}5; 1 * 1 + 0 * 4 = 1\n",
        f"{head}6; 1 * 1 + 0 * 4 = 1\n",
    ]


def test_the_same_wrong_answer_again_is_no_new_try(fresh, capsys):
    told = [asked(capsys, "9.1", wrong, part="mean") for wrong in (7, 7, 7.0, np.float32(7), 8, 7, 8)]
    assert told[:4] == ["9.1, mean: not right.\n  yours 7\n"] * 4
    assert told[4:] == [f"9.1, mean: not right.\n  yours {n}; (1 + 3 + 3 + 5) / 4\n" for n in (8, 7, 8)]


def test_a_right_answer_begins_anew(fresh, capsys):
    first = [asked(capsys, "9.1", wrong, part="mean") for wrong in (7, 8, 9)]
    assert asked(capsys, "9.1", 3, part="mean") == "9.1, mean: right.\n"
    assert [asked(capsys, "9.1", wrong, part="mean") for wrong in (7, 8, 9)] == first


def test_what_is_no_answer_is_no_try(fresh, capsys):
    for no_answer, says in [
        (None, "not answered yet"),
        ("three", "expected numbers, got 'three'"),
        ([1, 2], "expected shape 4, got 2"),
        ([1, None, 0, 1], "entry 2 has no number yet"),
        ([10**400, 0, 0, 0], "expected numbers"),
    ]:
        assert says in asked(capsys, "9.1", no_answer, part="result")
    assert asked(capsys, "9.1", [9, 0, 0, 9], part="result").endswith("entry 4: yours 9\n")


def test_each_part_of_each_exercise_has_tries_of_its_own(fresh, capsys):
    for wrong in (7, 8, 9):
        check.byhand("9.1", wrong, part="mean")
    capsys.readouterr()
    assert asked(capsys, "9.1", 7, part="variance") == "9.1, variance: not right.\n  yours 7\n"
    assert asked(capsys, "15.5", 7, part="mean(dy)") == "15.5, mean(dy): not right.\n  yours 7\n"


def test_points_print_nothing_and_count_no_try(fresh, capsys):
    for wrong in (7, 8, 9):
        assert check.points("9.1", {"mean": wrong}, of=5) == 0
    assert capsys.readouterr().out == ""
    assert asked(capsys, "9.1", 7, part="mean") == "9.1, mean: not right.\n  yours 7\n"


def test_without_tries_a_report_has_the_sum_at_once():
    """So the grader's feedback, after the deadline, and the worksheets' answers."""
    assert str(check.BY_HAND["9.1"].reports(7, "mean")[0]).endswith("yours 7; (1 + 3 + 3 + 5) / 4 = 3")
    one = sheet("anna", "a secret of the teacher", ["product"])
    assert " = " in str(check_answers(one, {1: {"Q": [[-10, 8], [12, 5]]}})[0])


# ---------------------------------------------------------------- hidden answers


@each_part
def test_hidden_answers_stay_hidden_whatever_is_tried(one, part, fresh, capsys):
    check.hide_answers()
    expected = np.asarray(part.expected, float)
    rng = np.random.default_rng(0)
    secrets = {part.before(place) for place in places(part)} | {part.work(place) for place in places(part)}
    first = re.compile(r"(?:(?:row \d+, column \d+|entry \d+): )?yours \S+|It looks like .*|and \d+ more")
    for _ in range(1000):
        near = np.round(expected + rng.normal(size=expected.shape) * 10.0 ** rng.integers(-6, 4), part.decimals)
        if rng.random() < 0.5:
            near = np.where(rng.random(expected.shape) < 0.8, np.round(expected, part.decimals), near)
        _, *lines = asked(capsys, one.number, near.tolist(), part=part.name or None).splitlines()
        for line in lines:
            assert first.fullmatch(line.strip()), line
            assert not any(secret in line for secret in secrets if not secret.replace(".", "").isdigit())


def test_a_setting_hides_and_shows_again(fresh, capsys):
    check.hide_answers()
    told = [asked(capsys, "9.1", wrong, part="mean") for wrong in (7, 8, 9, 10)]
    assert {text.splitlines()[1] for text in told} == {f"  yours {n}" for n in (7, 8, 9, 10)}
    check.hide_answers(False)
    assert asked(capsys, "9.1", 11, part="mean").endswith("(1 + 3 + 3 + 5) / 4 = 3\n")
    with pytest.raises(TypeError, match="hide: expected True or False, got 'yes'"):
        check.hide_answers("yes")


def sources(cells):
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


@pytest.mark.parametrize(("hide", "shows"), [(True, False), (False, True)])
def test_an_assigned_notebook_hides_by_default_and_shows_if_asked_to(hide, shows, fresh, capsys):
    chosen = assign.select(EXERCISES, ["9.1"])
    default = assign.notebooks(chosen, "Week")
    given = assign.notebooks(chosen, "Week", hide_answers=hide)
    assert (default == given) == hide
    for notebook in given:
        for source in sources(notebook["cells"])[:2]:  # what makes toytf ready, and the imports
            exec(source, {})
        told = [asked(capsys, "9.1", wrong, part="mean") for wrong in (7, 8, 9)]
        assert ("= 3" in told[-1]) == shows
        check.byhand("9.1", 3, part="mean")
        capsys.readouterr()


# ---------------------------------------------------------------- the steps that are made by themselves


def test_the_step_before_of_a_product_says_what_meets_what():
    table = product([[1, -2], [0.5, 3]], [[4, 8], [5, 6]])
    assert table.before((1, 0)) == "row 2 is 0.5, 3; column 1 is 4, 5"
    assert product([1, 2], [[3], [4]]).before((0,)) == "the row is 1, 2; column 1 is 3, 4"
    assert product([1, 2], [3, 4]).before(()) == "the row is 1, 2; the column is 3, 4"
    with_bias = mapped(np.array([1, 2]), np.array([[3], [4]]), np.array([5]), "y")
    assert with_bias.before((0,)) == "the row is 1, 2; column 1 is 3, 4; the bias is 5"


def test_the_step_before_is_the_formula_up_to_its_first_equals_sign_if_nothing_else_is_said():
    assert Part(8, lambda _: "2 * 4 = 4 + 4 = 8").before(()) == "2 * 4"
    assert Part(8, lambda _: "it stays 8").before(()) == ""
    assert Part(8).before(()) == ""
    assert Part(8, step="twice four").before(()) == "twice four"
    assert worked(Sum(1, 2), lead="so: ").before(()) == "so: 1 + 2"
