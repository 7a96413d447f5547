"""`toytf answers`: everything of an instructor's notebook stands on the page, once, and typeset."""

import json
import re

import pytest
from test_worksheet import Page

from bookcheck import reading
from toytf import check
from toytf_classroom.__main__ import main
from toytf.course.exercises import read
from toytf_classroom import answers, assign, markdown, paper

CHOICE = ["9.1", "8.8", "9.7", "9.2"]


@pytest.fixture(scope="module")
def exercises():
    return list(read(reading.ROOT / "notebooks").values())


@pytest.fixture(scope="module")
def book(exercises, tmp_path_factory):
    """Every exercise of the book, as an instructor's notebook."""
    folder = tmp_path_factory.mktemp("book")
    assign.write({folder / "all": assign.files(exercises, "All of it")})
    return answers.read(folder / "all" / "instructor.ipynb")


@pytest.fixture
def week(tmp_path):
    folder = tmp_path / "week"
    assert main(["assign", "--exercises", *CHOICE, "--title", "A week", "--out", str(folder)]) == 0
    return folder


# ---------------------------------------------------------------- reading


def test_every_exercise_of_the_book_is_read_with_its_points(book, exercises):
    title, solved = book
    assert title == "All of it"
    assert [one.title.split()[0] for one in solved] == [one.number for one in exercises]
    assert [one.points for one in solved] == [one.points for one in exercises]
    for one, exercise in zip(solved, exercises, strict=True):
        assert f"level {exercise.level}" in one.about
        assert one.text.strip() and (one.worked.strip() or one.code)


def test_the_code_of_a_function_is_the_right_one_and_its_mistakes_are_all_there(book, exercises):
    functions = [(s, e) for s, e in zip(book[1], exercises, strict=True) if e.kind == "function"]
    assert len(functions) == len(check.CHECKS)
    for one, exercise in functions:
        assert one.code == exercise.check.source.rstrip("\n")
        flat = [(name, re.sub(r"\s+", " ", advice)) for name, advice in one.mistakes]
        assert flat == [(m.name, re.sub(r"\s+", " ", m.advice)) for m in exercise.check.mistakes]
        assert not one.worked.startswith("#") and "Common mistakes" not in one.worked


def test_numbers_are_typed_as_a_student_would_type_them(book, exercises):
    numbers = [(s, e) for s, e in zip(book[1], exercises, strict=True) if e.kind == "by hand"]
    for one, exercise in numbers:
        typed = {}
        exec(one.code, typed)
        reports = exercise.by_hand.reports(typed[assign.answer_name(exercise)])
        assert all(reports), one.title
        assert one.worked == exercise.solution


def test_a_change_by_the_teacher_is_printed(week):
    path = week / "instructor.ipynb"
    notebook = json.loads(path.read_text("utf-8"))
    (cell,) = (c for c in notebook["cells"] if c["id"] == "ex-09-2-answer")
    cell["source"] = ["My own words, and **a rubric**."]
    path.write_text(json.dumps(notebook), "utf-8")
    text = answers.page(*answers.read(path))
    assert "<p>My own words, and <strong>a rubric</strong>.</p>" in text


# ---------------------------------------------------------------- the page


def test_the_page_of_the_whole_book_is_set_without_scripts_or_addresses(book):
    text = answers.page(*book)
    page = Page(text)
    assert page.lang == "en" and page.title == "Answers: All of it"
    assert not re.search(r"<script|<img|<link\b|url\(", text)
    said = " ".join(page.words)
    assert not re.search(r"\$|\\(?:begin|frac|sqrt)|BEGIN SOLUTION|\]\((?:#|\.\.)", said)
    assert not re.search(r"\[\d+pt\]", "".join(said.split()))
    assert page.tags["math"] > 500 and page.tags["pre"] > len(book[1]) / 2
    assert page.tags["section"] == len(book[1])


def test_what_looks_like_html_or_mathematics_in_an_advice_stays_text(week):
    title, (one, *_) = answers.read(week / "instructor.ipynb")
    planted = answers.Solved("1.1 A", "", "t", "w", "", (("<b>", "a*b*c is $x$, not <i>"),), 1)
    text = answers.page(title, [one, planted])
    assert "<b>&lt;b&gt;</b>: a*b*c is $x$, not &lt;i&gt;" in text


def test_a_formula_that_cannot_be_set_is_named(week, capsys):
    path = week / "instructor.ipynb"
    path.write_text(path.read_text("utf-8").replace("A residual connection lets", r"$\\frakture{x}$"), "utf-8")
    assert main(["answers", str(week), "--html"]) == 2
    said = capsys.readouterr().err
    assert "instructor.ipynb: formula: expected TeX that can be set, got \\frakture{x} (" in said
    assert not (week / "answers.html").exists()


def test_markdown_is_set_for_paper():
    text = markdown.html("See [here](#there), [there](https://x.org/?a&b), <b> and $a < b$.\n\n| a |\n|---|\n| 1 |")
    assert "<em>here</em>" in text and '<a href="https://x.org/?a&amp;b">there</a>' in text
    assert "&lt;b&gt;" in text and "<mo>&lt;</mo>" in text and "<td>1</td>" in text
    assert markdown.html("$$\na \\\\ b\n$$").startswith('<div class="formula"><math display="block"')
    assert '<span class="k">def</span>' in markdown.code("def f(): pass")
    assert markdown.code("a < b", "no such language").startswith('<pre class="code">a &lt; b')


# ---------------------------------------------------------------- the command


def test_the_page_lies_beside_the_notebook_and_is_not_replaced(week, capsys):
    assert main(["answers", str(week), "--html"]) == 0
    assert capsys.readouterr().out.splitlines()[-2:] == [str(week / "answers.html"), "4 exercises, 6 points"]
    assert main(["answers", str(week / "instructor.ipynb"), "--html"]) == 2
    assert "answers.html: expected a new file, got one that is there; --force" in capsys.readouterr().err
    assert main(["answers", str(week), "--html", "--force", "--paper", "letter"]) == 0
    assert "size: letter" in (week / "answers.html").read_text("utf-8")


def test_a_notebook_of_another_name_gets_answers_of_its_name(week):
    (week / "instructor").mkdir()
    (week / "instructor.ipynb").rename(week / "instructor" / "anna.ipynb")
    assert main(["answers", str(week / "instructor" / "anna.ipynb"), "--html"]) == 0
    assert (week / "instructor" / "anna.answers.html").is_file()


def test_without_chromium_the_page_is_left_and_the_command_says_what_to_install(week, capsys, monkeypatch):
    monkeypatch.setattr(paper, "find_chromium", lambda: None)
    assert main(["answers", str(week)]) == 1
    assert "no PDF: expected Chromium or Chrome to print with, got none" in capsys.readouterr().out
    assert (week / "answers.html").is_file() and not (week / "answers.pdf").exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["{week}/student.ipynb"], "ex-09-1: expected an instructor's notebook, got one without solutions"),
        (["{week}/submissions"], "assignment: expected a folder with instructor.ipynb or a notebook, got"),
        (["{week}/submissions/assignment.json"], "expected a Jupyter notebook, got KeyError"),
        (["{week}", "--out", "{week}/a.txt"], "--out: expected a file such as answers.pdf, got"),
        (["{week}", "--out", "{week}"], "--out: expected a file such as answers.pdf, got"),
    ],
)
def test_what_is_no_instructors_notebook_is_refused(words, says, week, capsys):
    assert main(["answers", "--html", *(word.format(week=week) for word in words)]) == 2
    assert says in capsys.readouterr().err
    assert not list(week.glob("*.html"))


def test_a_notebook_of_the_book_is_refused(capsys):
    path = next(reading.ROOT.glob("notebooks/09_*.ipynb"))
    assert main(["answers", str(path), "--html"]) == 2
    assert "expected an instructor's notebook of toytf assign, got one without exercises" in capsys.readouterr().err
