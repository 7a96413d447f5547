"""`toytf-classroom answers`: everything of an instructor's notebook stands on the page, once, and typeset."""

import json
import re

import pytest

from toytf import check
from toytf.course.exercises import read
from toytf_classroom import ClassroomError, answers, assign, pages
from toytf_classroom.__main__ import main


@pytest.fixture(scope="module")
def exercises():
    return list(read(assign.MASTER).values())


@pytest.fixture(scope="module")
def book(exercises, tmp_path_factory):
    """Every exercise of the book, as an instructor's notebook."""
    folder = tmp_path_factory.mktemp("book")
    assign.write({folder / "all": assign.files(exercises, "All of it")})
    return answers.read(folder / "all" / "instructor.ipynb")


@pytest.fixture
def week(tmp_path):
    assert (
        main(["assign", "--exercises", "9.1", "8.8", "9.2", "--title", "A week", "--out", str(tmp_path / "week")]) == 0
    )
    return tmp_path / "week"


def test_every_exercise_of_the_book_is_read_with_points_code_and_mistakes(book, exercises):
    assert book[0] == "All of it" and len(book[1]) == len(exercises)
    for one, exercise in zip(book[1], exercises, strict=True):
        assert (one.title.split()[0], one.points) == (exercise.number, exercise.points)
        assert one.text.strip() and (one.worked.strip() or one.code)
        if exercise.kind == "function":
            known = [re.sub(r"\s+", " ", f"{m.name}: {m.advice}") for m in exercise.check.mistakes]
            assert (one.code, one.mistakes) == (exercise.check.source.rstrip("\n"), known)
        elif exercise.kind == "by hand":
            typed = {}
            exec(one.code, typed)
            assert all(exercise.by_hand.reports(typed[assign.answer_name(exercise)]))
            assert one.worked == exercise.solution
    assert sum(bool(one.mistakes) for one in book[1]) == len(check.CHECKS)


def test_the_page_of_the_whole_book_is_set_without_scripts_or_addresses(book):
    text = answers.page(*book)
    assert not re.search(r"<script|<img|<link\b|url\(", text)
    said = re.sub("<pre.*?</pre>|<annotation.*?</annotation>|<[^>]+>", " ", text.split("</style>")[1], flags=re.DOTALL)
    assert not re.search(r"\\(?:begin|frac|sqrt)|BEGIN SOLUTION|\]\((?:#|\.\.)", said)
    assert text.count("<math") > 500 and text.count("<section") == len(book[1])


def test_markdown_is_set_for_paper():
    text = pages.prose("See [here](#there), [there](https://x.org/?a&b), <b> and $a < b$.\n\n| a |\n|---|\n| 1 |")
    assert "<em>here</em>" in text and '<a href="https://x.org/?a&amp;b">there</a>' in text
    assert "&lt;b&gt;" in text and "<mo>&lt;</mo>" in text and "<td>1</td>" in text
    assert pages.prose("$$\na \\\\ b\n$$").startswith('<div class="formula"><math display="block"')
    assert '<span class="k">def</span>' in pages.code("def f(): pass")
    with pytest.raises(ClassroomError, match="expected TeX that can be set, got"):
        pages.math(r"\frakture{x}")


def test_what_a_teacher_changed_is_printed_and_no_page_is_replaced(week, capsys):
    notebook = json.loads((week / "instructor.ipynb").read_text("utf-8"))
    (cell,) = (c for c in notebook["cells"] if c["id"] == "ex-09-2-answer")
    cell["source"] = ["My own words, <b>, and **a rubric**."]
    (week / "instructor.ipynb").write_text(json.dumps(notebook), "utf-8")
    assert main(["answers", str(week)]) == 0
    assert "<p>My own words, &lt;b&gt;, and <strong>a rubric</strong>.</p>" in (week / "answers.html").read_text(
        "utf-8"
    )
    assert main(["answers", str(week)]) == 2
    assert "answers.html; --force replaces" in capsys.readouterr().err
    assert main(["answers", str(week), "--force"]) == 0


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("student.ipynb", "ex-09-1: expected an instructor's notebook, got one without solutions"),
        ("submissions", "assignment: expected a folder with instructor.ipynb or a notebook, got"),
        ("submissions/assignment.json", "expected a Jupyter notebook, got KeyError"),
    ],
)
def test_what_is_no_instructors_notebook_is_refused(word, says, week, capsys):
    assert main(["answers", str(week / word)]) == 2
    assert says in capsys.readouterr().err
    assert not list(week.glob("*.html"))
