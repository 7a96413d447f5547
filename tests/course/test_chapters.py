"""What each chapter says of itself, its question and its stations, and the contents that show it."""

import html
import json
import re

import pytest

from toytf.course import chapters
from toytf.course.chapters import WAYS, Questions, outline
from toytf.course.small import PICTURES, picture

OUTLINE = outline()


def test_every_chapter_asks_one_question_and_stands_at_one_station():
    questions = [chapter.question for chapter in OUTLINE]
    assert [chapter.number for chapter in OUTLINE] == list(range(1, len(chapters.chapters()) + 1))
    assert len(set(questions)) == len(questions) and all(q.endswith("?") and q[0].isupper() for q in questions)
    assert max(map(len, questions)) <= 120, "longer ones fill the contents"
    stations = [number for way in WAYS for numbers in way.values() for number in numbers]
    assert stations == [chapter.number for chapter in OUTLINE]


@pytest.fixture
def book(tmp_path, monkeypatch):
    """Makes the book one of a single chapter."""

    def of(text):
        cells = [
            {"cell_type": "markdown", "source": [text]},
            {"cell_type": "code", "source": [], "outputs": [{"data": {"text/plain": ["<Figure>"]}}]},
        ]
        (tmp_path / "notebooks").mkdir()
        (tmp_path / "notebooks" / "01_one.ipynb").write_text(json.dumps({"cells": cells}), "utf-8")
        (tmp_path / "_toc.yml").write_text("  - file: notebooks/01_one\n", "utf-8")

    monkeypatch.setattr(chapters, "BOOK", tmp_path)
    chapters.chapters.cache_clear()
    yield of
    chapters.chapters.cache_clear()


def test_a_chapter_is_read(book):
    formulas = "$x$ " * 100 + "$$ x $$ " * 15  # ten minutes, as the words
    text = "# One\n\nWell. **Why\nnot?** So.\n\n## Then\n\n**Or this?** " + "word " * 2000 + formulas
    book(f"{text}\n\n## Exercises\n\n{'no ' * 999}")
    (one,) = outline()
    assert (one.question, one.minutes) == ("Why not?", 20)


def test_a_chapter_without_a_question_is_refused(book):
    book("# One\n\nNo question.\n\n## Then\n\n**Too late?**")
    with pytest.raises(ValueError, match="01_one: expected a question in bold"):
        outline()


def test_without_the_book_there_are_no_chapters(book):
    assert outline() == []


def test_the_contents_show_each_question_with_a_picture_of_its_own():
    shown = Questions()._repr_html_()
    asked = re.findall(r'class="asked">(.*?)</span>', shown)
    assert [html.unescape(question) for question in asked] == [chapter.question for chapter in OUTLINE]
    pictures = re.findall(r'<svg class="small".*?</svg>', shown)
    assert pictures == [picture(chapter.number) for chapter in OUTLINE] and len(set(pictures)) == len(pictures)
    assert set(PICTURES) == {chapter.number for chapter in OUTLINE}
