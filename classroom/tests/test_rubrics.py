"""Rubrics: each answer in words has one, it is plain and sound, and it reaches whom it is for and nobody else."""

import json
import re
from functools import cache
from pathlib import Path

import pytest
from toytf_classroom.typeset import prose

import gradecheck
from gradecheck import BY_HAND, IMPORTS, SOFTMAX, STUB, data, table, words
from toytf_classroom.__main__ import main
from toytf.course.exercises import read
from toytf_classroom import ClassroomError, assign, feedback_pages, gradebook, grading, rubrics

ROOT = Path(__file__).resolve().parents[2]
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


@cache
def book():
    return read(ROOT / "notebooks")


CHAPTERS = sorted({one.chapter for one in book().values() if one.kind == "text"})


def one_line(chapter):
    return {one.number: one for one in book().values() if one.kind == "text" and one.chapter == chapter}


def of(chapter):
    path = rubrics.FOLDER / f"{chapter:02}.md"
    return rubrics.parse(path.read_text("utf-8"), path.name) if path.exists() else {}


def parts(rubric):
    """Every text of a rubric."""
    return [
        *(text for point in rubric.scoring for text in (point.text, point.also) if text),
        rubric.typical,
        rubric.say,
    ]


# ---------------------------------------------------------------- those of the book


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_each_answer_in_words_has_a_rubric_whose_points_are_its_own(chapter):
    chosen = [one for one in book().values() if one.chapter == chapter]
    assert rubrics.compare(of(chapter), chosen) == []


def test_no_rubric_is_left_over():
    assert set(rubrics.read()) <= {one.number for one in book().values() if one.kind == "text"}


NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)*")


def numbers_in(text):
    """The numbers of a text, without the signs that only group digits."""
    return {found.rstrip(",.").replace(",", "") for found in NUMBER.findall(text)}


def foreign_numbers(rubric, one):
    """Numbers of two digits and more, and decimals, that stand neither in the exercise nor in its solution."""
    known = numbers_in(f"{one.title}\n{one.text}\n{one.solution}")
    mine = set().union(*(numbers_in(text) for text in parts(rubric)))
    return sorted(number for number in mine - known if len(number) > 1)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_number_in_a_rubric_stands_in_the_exercise_or_its_solution(chapter):
    exercises = one_line(chapter)
    found = {number: foreign_numbers(rubric, exercises[number]) for number, rubric in of(chapter).items()}
    assert not any(found.values()), found


def test_a_changed_number_in_a_rubric_is_seen():
    one = next(one for one in one_line(16).values() if one.number == "16.7")
    point = rubrics.Point(3.0, "At 0.9 no right answer is lost, and 108 of 400 wrong ones pass.")
    assert foreign_numbers(rubrics.Rubric("16.7", (point,), "None.", "Look."), one) == []
    wrong = rubrics.Point(3.0, "At 0.8 no right answer is lost, and 109 of 4,000 wrong ones pass.")
    assert foreign_numbers(rubrics.Rubric("16.7", (wrong,), "None.", "Look."), one) == ["0.8", "109", "4000"]


def markup(text):
    """What a feedback page could not show: links, emphasis, HTML, single signs, TeX that it does not know."""
    plain = re.sub(r"`[^`]*`|\$[^$]*\$", "", text)
    found = re.findall(r"\]\(|\*|<|&|https?:", plain)
    found += [sign for sign in "$`" if text.count(sign) % 2]
    try:
        prose(text)
    except (KeyError, ValueError) as error:
        found.append(f"{type(error).__name__}: {error}")
    return found


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_rubric_is_plain_text_with_code_and_formulas_that_a_page_can_show(chapter):
    found = {(number, text): markup(text) for number, rubric in of(chapter).items() for text in parts(rubric)}
    assert not any(found.values()), {key: value for key, value in found.items() if value}


@pytest.mark.parametrize("text", ["[a](#b)", "*so*", "a $b", "`c", "<b>", r"$\nonesuch$"])
def test_what_a_page_could_not_show_is_seen(text):
    assert markup(text)


def test_each_sentence_of_a_rubric_ends():
    texts = [(number, text) for number, rubric in rubrics.read().items() for text in parts(rubric)]
    assert [pair for pair in texts if pair[1][-1] not in ".?"] == []


# ---------------------------------------------------------------- reading them


def test_a_rubric_is_read_with_its_letters_and_lines_that_go_on():
    rubric = rubrics.parse(TEXT)["9.3"]
    assert [(letter, point.points) for letter, point in rubric.lettered] == [("a", 1), ("b", 2)]
    assert rubric.scoring[1].text == "Each entry of $W^O$ lies between 0 and 1, whatever the scores are."
    assert rubric.scoring[1].also == "an example with `softmax`."
    assert (rubric.typical, rubric.say) == ("The columns add up to 1.", "Add up one row, and one column.")
    assert rubric.points == 3


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("## 9.3", "# 9.3", "line 1: expected \"## 9.2\", the number of an exercise, got '# 9.3'"),
        ("## 9.3", "## nine", "got '## nine'"),
        ("- 1: The", "- one: The", 'line 3: expected "- 0.5: ...", '),
        ("- 1: The", "- 0: The", "line 1: 9.3: expected points above 0, got 0: The rows add up to 1."),
        ("- 1: The rows add up to 1.\n", "", "line 1: 9.3: expected 2 to 4 scoring points, got 1"),
        ("Typical: The columns add up to 1.\n", "", 'line 1: 9.3: expected a line "Typical: ...", got none'),
        ("Say: Add", "Add", 'expected a line "Say: ...", got none'),
        ("Say: Add up one row, and one column.", "Say:", 'line 10: expected words after "Say:", got none'),
        ("Say: Add", "Say: One.\nSay: Add", 'line 11: expected "Say: ..." once, got it twice'),
        ("Typical:", "  Also accepted: x.\n\nTypical:", 'line 9: expected "Also accepted: ..." once below a scoring'),
        ("Say: Add", "## 9.3\n\nSay: Add", "line 10: expected one rubric of 9.3, got two (line 1)"),
        ("Typical:", "More words.\n\nTypical:", 'line 9: expected "- 0.5: ...", '),
    ],
)
def test_what_is_wrong_in_a_file_is_named_with_its_line(old, new, says):
    assert TEXT.count(old) == 1
    with pytest.raises(ValueError) as raised:
        rubrics.parse(TEXT.replace(old, new), "09.md")
    assert all(line.startswith("09.md, line ") for line in str(raised.value).splitlines())
    assert says in str(raised.value)


def test_a_file_of_another_chapter_is_named(tmp_path):
    (tmp_path / "08.md").write_text(TEXT, "utf-8")
    with pytest.raises(ValueError, match=r"/08\.md: expected exercises of the chapter of its name, got 9\.3"):
        rubrics.read(tmp_path)


def test_rubrics_that_do_not_fit_the_exercises_are_named():
    one = one_line(9)["9.2"]  # 1 point
    function = next(one for one in book().values() if one.number == "9.7")
    made = {
        number: rubrics.Rubric(number, (rubrics.Point(1, "One."), rubrics.Point(1, "Two.")), "Wrong.", "Look.")
        for number in ("9.2", "9.7", "9.99")
    }
    missing = one_line(9)["9.6"]
    assert rubrics.compare(made, [one, function, missing]) == [
        "rubric 9.2: expected 1 points together, got 2",
        "rubric 9.7: expected an exercise that a person reads, got one of kind 'function'",
        "rubric 9.99: expected an exercise of this number, got none",
        "exercise 9.6: expected a rubric in rubrics/09.md, got none",
    ]


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
    with pytest.raises(ValueError, match="expected some of a, b, t, or 0 for none, got|expected each letter once, got"):
        rubrics.parse(TEXT)["9.3"].mark(met)


def test_an_exercise_that_is_worth_more_here_makes_its_points_worth_more():
    rubric = rubrics.parse(TEXT)["9.3"]
    assert [rubric.mark(met, 4).points for met in ("a", "b", "a b", "0")] == [1.33, 2.67, 4, 0]


def test_a_teacher_who_doubled_the_points_of_an_exercise_gets_letters_that_are_worth_twice(tmp_path, ours):
    whole = json.loads(gradecheck.ASSIGNMENT)
    whole["exercises"][2]["points"] = 6
    (tmp_path / "manual.csv").write_text("student,exercise,met,points,comment\nanna,9.3,b,,\n", "utf-8")
    assignment = grading.read_assignment(json.dumps(whole).encode())
    given = gradebook.read_manual(tmp_path / "manual.csv", ["anna"], assignment)
    assert given["anna", "9.3"].points == 4


# ---------------------------------------------------------------- in the instructor's notebook


@pytest.fixture
def ours(tmp_path, monkeypatch):
    """One rubric, in the place of all."""
    folder = tmp_path / "rubrics"
    folder.mkdir()
    (folder / "09.md").write_text(TEXT, "utf-8")
    monkeypatch.setattr(rubrics, "FOLDER", folder)
    return rubrics.parse(TEXT)["9.3"]


def source(cell):
    return "".join(cell["source"])


def test_the_instructor_s_notebook_has_the_rubric_below_the_solution_and_the_student_s_nothing_of_it():
    known, chosen = rubrics.read(), [one for one in book().values() if one.kind == "text"]
    student, instructor = assign.notebooks(chosen, "All")
    cells = {cell["id"]: source(cell) for cell in instructor["cells"]}
    blank = json.dumps(student, ensure_ascii=False)
    shown = 0
    for one in chosen:
        solution, _, below = cells[f"{one.label}-answer"].partition("\n\n**Rubric**\n")
        assert solution == assign.portable(one.solution, one)
        if rubric := known.get(one.number):
            shown += 1
            for text in parts(rubric):
                assert text in below
                assert json.dumps(text, ensure_ascii=False)[1:-1] not in blank, text
            assert all(f"- **{letter}** ({point.points:g}): " in below for letter, point in rubric.lettered)
    assert shown == len(known)
    assert "**Rubric**" not in blank


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


def test_a_table_without_the_column_works_as_before(week):
    assert week("anna,9.3,2,Clear.", head="student,exercise,points,comment")["anna"][4] == "2"
    assert "Clear." in page(week, "anna")
    assert "rubric" not in page(week, "anna").partition("</head>")[2]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("anna,9.3,c,,", "line 2: met: expected some of a, b, t, or 0 for none, got 'c'"),
        ("anna,9.3,a a,,", "line 2: met: expected each letter once, got 'a a'"),
        ("anna,9.3,0 a,,", "line 2: met: expected some of a, b, t, or 0 for none, got '0 a'"),
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


def test_a_second_column_of_letters_is_refused(week):
    with pytest.raises(
        ClassroomError, match="line 1: expected at most one column 'met', got student, exercise, met, met"
    ):
        week("anna,9.3,a,b,,", head="student,exercise,met,met,points,comment")


def test_grading_by_rubric_from_the_command_line_runs_no_notebook_again(week, tmp_path, capsys):
    (tmp_path / "points.csv").write_text("student,exercise,met,points,comment\nanna,9.3,b t,,\n", "utf-8")
    status = main(["grade", str(tmp_path / "week"), "--out", str(week.out), "--manual", str(tmp_path / "points.csv")])
    assert status == 0
    capsys.readouterr()
    said = main(["grade", str(tmp_path / "week"), "--out", str(week.out), "--manual", str(tmp_path / "points.csv")])
    assert said == 0
    assert "3 students: 0 graded now, 3 as before." in capsys.readouterr().out
    assert table(week.out)[1] == ["anna", "6", "7", "2", "2", "2", ""]


# ---------------------------------------------------------------- on the pages


def shown(page_):
    """The words of a page, without its tags."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", page_.partition("</head>")[2]))


def rubric_in(text, rubric):
    """Which parts of a rubric stand in a text."""
    return [part for part in parts(rubric) if shown(f"</head>{prose(part)}").strip() in text]


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


def test_a_page_that_showed_a_rubric_too_early_would_be_seen(ours):
    receipt = grading.Receipt("bob", "", "", [grading.Result("ex-09-3", "9.3", "text", None, 3, None, "x", text="y")])
    assignment = gradecheck.assignment()
    early = feedback_pages.student_page(receipt, assignment, {"9.3": ours.mark("a t", 3)}).decode()
    assert len(rubric_in(shown(early), ours)) == 4
    assert rubric_in(shown(feedback_pages.student_page(receipt, assignment).decode()), ours) == []


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


def test_the_teacher_s_sheet_says_where_there_is_no_rubric(tmp_path, monkeypatch):
    monkeypatch.setattr(rubrics, "FOLDER", tmp_path)
    sheet = feedback_pages.reading_page([], gradecheck.assignment(), rubrics.read()).decode()
    assert "There is no rubric for this exercise: write points." in sheet


def test_the_class_s_page_leads_to_the_sheet_and_counts_the_typical_answers(week):
    assert '<a href="../to_read.html">' in page(week, "index")
    assert "Typical wrong answers" not in page(week, "index")
    week("anna,9.3,a t,,", "bob,9.3,t,,")
    assert "9.3: The columns add up to 1. (2)" in shown(page(week, "index"))
