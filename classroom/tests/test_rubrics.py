"""Rubrics: each answer in words has one, and it reaches whom it is for and nobody else."""

import math
import re

import pytest

import gradecheck
from gradecheck import BY_HAND, IMPORTS, SOFTMAX, STUB, data, table, words
from toytf.course.exercises import read
from toytf_classroom import ClassroomError, assign, rubrics
from toytf_classroom.pages import inline

TEXT = """\
## 9.3

- 1: The rows add up to 1.
- 2: Each entry of $W^O$ lies between 0 and 1,
  whatever the scores are.
  Also accepted: an example
    with `softmax`.

Typical: The columns add up to 1.
Say: Add up one row, and one column.
"""


def parts(rubric):
    """Every text of a rubric."""
    return [*(t for point in rubric.scoring for t in (point.text, point.also) if t), rubric.typical, rubric.say]


# ---------------------------------------------------------------- those of the book


def problems(found, exercises):
    """What does not fit between rubrics and the exercises of the book."""
    known = {one.number: one for one in exercises if one.kind == "text"}
    wrong = [f"{number}: no rubric" for number in known if number not in found]
    wrong += [f"{number}: no such exercise in words" for number in found if number not in known]
    for number, rubric in found.items():
        if number in known and not math.isclose(rubric.points, known[number].points):
            wrong.append(f"{number}: {rubric.points:g} points together")
        for text in parts(rubric):
            if text[-1] not in ".?" or "http" in text or not inline(text):  # `inline` complains about formulas
                wrong.append(f"{number}: {text}")
    return wrong


def test_each_answer_in_words_has_a_rubric_whose_points_are_its_own():
    exercises = list(read(assign.MASTER).values())
    assert problems(rubrics.read(), exercises) == []
    planted = rubrics.Rubric("9.2", (rubrics.Point(3, "One."), rubrics.Point(1, "No end")), "Wrong.", "Look.")
    assert len(problems(rubrics.read() | {"9.2": planted, "9.99": planted}, exercises)) == 4


# ---------------------------------------------------------------- reading them


def test_a_rubric_is_read_with_its_letters_and_lines_that_go_on():
    rubric = rubrics.parse(TEXT)["9.3"]
    assert [(letter, point.points) for letter, point in rubric.lettered] == [("a", 1), ("b", 2)]
    assert rubric.scoring[1].text == "Each entry of $W^O$ lies between 0 and 1, whatever the scores are."
    assert rubric.scoring[1].also == "an example with `softmax`."
    assert (rubric.typical, rubric.say) == ("The columns add up to 1.", "Add up one row, and one column.")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("## 9.3", "# 9.3", '09.md: expected "## 9.2", the number of an exercise'),
        ("- 1: The", "- one: The", "09.md, 9.3: expected one rubric"),
        ("- 1: The rows add up to 1.\n", "", "09.md, 9.3: expected one rubric"),
        ("Typical: The columns add up to 1.\n", "", "09.md, 9.3: expected one rubric"),
        ("Say: Add up one row, and one column.", "Say:", "09.md, 9.3: expected one rubric"),
        ("Typical:", "More words.\n\nTypical:", "09.md, 9.3: expected one rubric"),
        ("Typical:", f"Typical: x\nSay: y\n\n{TEXT}\nTypical:", "09.md, 9.3: expected one rubric"),
    ],
)
def test_what_is_wrong_in_a_file_is_named(old, new, says):
    assert TEXT.count(old) == 1
    with pytest.raises(ValueError, match=re.escape(says)):
        rubrics.parse(TEXT.replace(old, new), "09.md")


@pytest.mark.parametrize(
    ("met", "points", "typical"),
    [("a", 1, False), ("a b", 3, False), ("B,A", 3, False), ("ab", 3, False), ("b; t", 2, True), ("t", 0, True),
     ("0", 0, False)],
)  # fmt: skip
def test_the_letters_make_the_points(met, points, typical):
    mark = rubrics.parse(TEXT)["9.3"].mark(met)
    assert (mark.points, mark.typical) == (points, typical)


@pytest.mark.parametrize("met", ["c", "a a", "0 a", "x", "1", " ", "yes", "a b c"])
def test_letters_that_are_none_are_named(met):
    with pytest.raises(ValueError, match="expected some of a, b, t, each once, or 0 for none, got"):
        rubrics.parse(TEXT)["9.3"].mark(met)


def test_an_exercise_that_is_worth_more_here_makes_its_points_worth_more():
    rubric = rubrics.parse(TEXT)["9.3"]
    assert [rubric.mark(met, 4).points for met in ("a", "b", "a b", "0")] == [1.33, 2.67, 4, 0]


@pytest.fixture
def ours(monkeypatch):
    """The one rubric of the tests, in place of those of the book."""
    found = rubrics.parse(TEXT)
    monkeypatch.setattr(rubrics, "read", lambda: found)
    return found["9.3"]


# ---------------------------------------------------------------- in grading

HONEST = (IMPORTS, SOFTMAX, BY_HAND)
CLASS = {
    "anna": data(*HONEST, words("Rows add up to 1. <script>alert(1)</script>")),
    "bob": data(*HONEST, words("Columns add up to 1.")),
    "cem": data(IMPORTS, STUB),  # who wrote nothing
}


@pytest.fixture
def week(tmp_path, ours):
    """Three graded students, of whom two have written words; a function that grades again by a table's lines."""
    box = gradecheck.sandbox_or_skip()
    place = gradecheck.folder(tmp_path / "week", {f"{name}.ipynb": content for name, content in CLASS.items()})
    out = tmp_path / "grades.csv"
    gradecheck.grade(place, out, box)

    def again(*lines, head="student,exercise,met,points,comment"):
        manual = tmp_path / "manual.csv"
        manual.write_text("\n".join([head, *lines, ""]), "utf-8")
        gradecheck.grade(place, out, box, manual=manual)
        return {row[0]: row[1:] for row in table(out)}

    again.out = out
    return again


def page(week, name):
    return (week.out.with_suffix("") / "feedback" / f"{name}.html").read_text("utf-8")


def test_the_list_of_what_is_to_be_read_has_a_column_for_the_letters(week):
    assert table(week.out.with_suffix("") / "to_read.csv") == [
        ["student", "exercise", "met", "points", "comment"],
        ["anna", "9.3", "", "", ""],
        ["bob", "9.3", "", "", ""],
    ]


def test_the_letters_of_a_line_become_points_and_what_is_left_to_read_gets_shorter(week):
    rows = week("anna,9.3,a b,,", "bob,9.3,,,")
    assert rows["anna"] == ["7", "7", "2", "2", "3", ""]
    assert rows["bob"] == ["4", "7", "2", "2", "", "to be read: 9.3"]
    assert [row[0] for row in table(week.out.with_suffix("") / "to_read.csv")] == ["student", "bob"]


def test_each_line_may_say_letters_or_points_or_points_that_agree(week):
    assert week("anna,9.3,a,,", 'bob,9.3,,"2,5",')["bob"][4] == "2.5"
    assert week("anna,9.3,b,2,", "bob,9.3,0,0.0,")["anna"][4] == "2"
    assert week("anna,9.3,a b,3,")["bob"][4] == ""


def test_other_points_than_the_letters_make_need_a_comment_and_win_with_it(week):
    with pytest.raises(
        ClassroomError, match="line 2: points: expected 1, which 'a' makes, or a comment that says why not"
    ):
        week("anna,9.3,a,2,")
    assert week("anna,9.3,a,2,b is half there")["anna"][4] == "2"
    assert "b is half there" in page(week, "anna")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("anna,9.3,c,,", "line 2: met: expected some of a, b, t, each once, or 0 for none, got 'c'"),
        ("anna,9.3,a a,,", "line 2: met: expected some of a, b, t, each once, or 0 for none, got 'a a'"),
        ("anna,9.3,0 a,,", "line 2: met: expected some of a, b, t, each once, or 0 for none, got '0 a'"),
        ("anna,8.8,a,,", "line 2: met: expected nothing, since 8.8 has no rubric (write points), got 'a'"),
        ("anna,9.3,a,,\nanna,9.3,b,,", "line 3: anna has points for 9.3 in an earlier line already"),
        ("eve,9.3,a,,", "line 2: student: expected one who"),
        ("anna,9.3,a,4,why", "line 2: points: expected a number from 0 to 3, got '4'"),
    ],
)
def test_a_wrong_line_is_named_and_the_grades_stay_as_they_were(week, line, says):
    before = week.out.read_bytes(), page(week, "anna")
    with pytest.raises(ClassroomError, match=re.escape(says)):
        week(line)
    assert (week.out.read_bytes(), page(week, "anna")) == before


# ---------------------------------------------------------------- on the pages


def shown(page_):
    """The words of a page, without its tags."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", page_.partition("</head>")[2]))


def rubric_in(text, rubric):
    """Which parts of a rubric stand in a text."""
    return [part for part in parts(rubric) if shown(f"</head>{inline(part)}").strip() in text]


def test_a_student_s_page_says_of_each_point_whether_it_is_met_and_what_to_do_next(week, ours):
    week("anna,9.3,a t,,Nice.")
    said = shown(page(week, "anna"))
    assert "9.3: 1 of 3" in said
    assert "Met (1): The rows add up to 1." in said
    assert "Not met (2): Each entry of WO lies between 0 and 1, whatever the scores are." in said
    assert "A wrong answer that many give: “The columns add up to 1.” Add up one row, and one column." in said
    assert "an example with" not in said  # what else is accepted is for the teacher
    assert said.index("Nice.") < said.index("Met (1)") < said.index("Your answer:")


def test_without_the_mark_of_the_typical_answer_nothing_is_said_of_it(week, ours):
    week("anna,9.3,a,,")
    assert rubric_in(shown(page(week, "anna")), ours) == [ours.scoring[0].text, ours.scoring[1].text]


def test_who_is_not_read_yet_sees_nothing_of_the_rubric(week, ours):
    for name in CLASS:
        assert rubric_in(shown(page(week, name)), ours) == [], name
    week("anna,9.3,a b t,,")
    assert rubric_in(shown(page(week, "anna")), ours)
    for name in ("bob", "cem"):  # one is to be read, one wrote nothing
        assert rubric_in(shown(page(week, name)), ours) == [], name
    week("anna,9.3,a,,", "bob,9.3,,1,")  # read, but not by the rubric
    assert rubric_in(shown(page(week, "bob")), ours) == []


def test_the_teacher_s_sheet_has_each_rubric_with_the_answers_that_are_left_below_it(week, ours):
    sheet = week.out.with_suffix("") / "to_read.html"
    said = shown(sheet.read_text("utf-8"))
    assert rubric_in(said, ours) == parts(ours)
    assert "2 answers are to be read: anna Rows add up to 1." in said
    assert said.endswith("bob Columns add up to 1. ")
    week("anna,9.3,a,,")
    said = shown(sheet.read_text("utf-8"))
    assert "1 answer is to be read: bob Columns add up to 1." in said
    assert "anna" not in said
    week("anna,9.3,a,,", "bob,9.3,t,,")
    assert "Nothing is left to be read." in shown(sheet.read_text("utf-8"))


def test_what_a_student_wrote_stays_text_on_the_teacher_s_sheet(week):
    sheet = (week.out.with_suffix("") / "to_read.html").read_text("utf-8")
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in sheet
    assert "<script" not in sheet
    assert "default-src &#39;none&#39;" in sheet


def test_the_class_s_page_leads_to_the_sheet_and_counts_the_typical_answers(week):
    assert '<a href="../to_read.html">' in page(week, "index")
    assert "Typical wrong answers" not in page(week, "index")
    week("anna,9.3,a t,,", "bob,9.3,t,,")
    assert "9.3: The columns add up to 1. (2)" in shown(page(week, "index"))
