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
        if number in known and not math.isclose(sum(point.points for point in rubric.scoring), known[number].points):
            wrong.append(f"{number}: its points are not those of the exercise")
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
    ("old", "new"),
    [
        ("- 1: The", "- one: The"),
        ("- 1: The rows add up to 1.\n", ""),
        ("Say: Add up one row, and one column.", "Say:"),
        ("Typical:", "More words.\n\nTypical:"),
        ("Typical:", f"Typical: x\nSay: y\n\n{TEXT}\nTypical:"),
    ],
)
def test_what_is_wrong_in_a_file_is_named(old, new):
    with pytest.raises(ValueError, match=re.escape("09.md, 9.3: expected one rubric")):
        rubrics.parse(TEXT.replace(old, new), "09.md")


def test_the_letters_make_the_points():
    rubric = rubrics.parse(TEXT)["9.3"]
    for met, points in {"a": 1, "a b": 3, "B,A": 3, "ab": 3, "b; t": 2, "t": 0, "0": 0}.items():
        mark = rubric.mark(met)
        assert (mark.points, mark.typical) == (points, "t" in met)
    for met in ("c", "a a", "0 a", "x", "1", " ", "a b c"):
        with pytest.raises(ValueError, match="expected some of a, b, t, each once, or 0 for none, got"):
            rubric.mark(met)


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


def test_letters_or_points_of_a_line_count_and_what_is_left_to_read_gets_shorter(week):
    to_read = week.out.with_suffix("") / "to_read.csv"
    left = [["anna", "9.3", "", "", ""], ["bob", "9.3", "", "", ""]]
    assert table(to_read) == [["student", "exercise", "met", "points", "comment"], *left]
    rows = week("anna,9.3,a b,,", "bob,9.3,,,")
    assert rows["anna"] == ["7", "7", "2", "2", "3", ""]
    assert rows["bob"] == ["4", "7", "2", "2", "", "to be read: 9.3"]
    assert table(to_read)[1:] == left[1:]
    assert week("anna,9.3,a,,", 'bob,9.3,,"2,5",')["bob"][4] == "2.5"
    assert week("anna,9.3,b,2,", "bob,9.3,0,0.0,")["anna"][4] == "2"
    assert week("anna,9.3,a,2,b is half there")["anna"][4] == "2"  # with a comment, other points than the letters make
    assert "b is half there" in page(week, "anna")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("anna,9.3,a,2,", "line 2: points: expected 1, which 'a' makes, or a comment that says why not"),
        ("anna,9.3,c,,", "line 2: met: expected some of a, b, t, each once, or 0 for none, got 'c'"),
        ("anna,8.8,a,,", "line 2: met: expected nothing, since 8.8 has no rubric (write points), got 'a'"),
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


def test_who_is_not_read_by_the_rubric_sees_nothing_of_it(week, ours):
    for name in CLASS:
        assert rubric_in(shown(page(week, name)), ours) == [], name
    week("anna,9.3,a,,", "bob,9.3,,1,")
    assert rubric_in(shown(page(week, "anna")), ours) == [ours.scoring[0].text, ours.scoring[1].text]
    for name in ("bob", "cem"):  # one got points, one wrote nothing
        assert rubric_in(shown(page(week, name)), ours) == [], name


def test_the_teacher_s_pages_have_each_rubric_with_the_answers_that_are_left(week, ours):
    sheet = week.out.with_suffix("") / "to_read.html"
    said = sheet.read_text("utf-8")
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in said and "<script" not in said
    assert rubric_in(shown(said), ours) == parts(ours)
    assert "2 answers are to be read: anna Rows add up to 1." in shown(said)
    assert shown(said).endswith("bob Columns add up to 1. ")
    assert '<a href="../to_read.html">' in page(week, "index")
    week("anna,9.3,a t,,")
    assert "1 answer is to be read: bob Columns add up to 1." in shown(sheet.read_text("utf-8"))
    week("anna,9.3,a t,,", "bob,9.3,t,,")
    assert "Nothing is left to be read." in shown(sheet.read_text("utf-8"))
