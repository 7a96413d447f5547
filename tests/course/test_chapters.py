"""What each chapter says of itself, its question and its part of the way, and the contents that show it."""

import html
import json
import re

import pytest

from toytf.course import chapters, plot_spine
from toytf.course.chapters import Questions, outline

OUTLINE = outline()


def test_every_chapter_asks_one_question_and_lights_the_parts_that_its_spine_lights():
    questions = [chapter.question for chapter in OUTLINE]
    assert [chapter.number for chapter in OUTLINE] == list(range(1, len(chapters.chapters()) + 1))
    assert len(set(questions)) == len(questions) and all(q.endswith("?") and q[0].isupper() for q in questions)
    assert max(map(len, questions)) <= 120, "longer ones fill the contents"
    lit = {chapter.number: chapter.lit for chapter in OUTLINE}
    assert lit[2] == ("embedding", "target embedding") and lit[1] == plot_spine.PARTS


@pytest.fixture
def book(tmp_path, monkeypatch):
    """Makes the book one of a single chapter."""

    def of(text, plain="<Spine, lit: softmax>"):
        cells = [
            {"cell_type": "markdown", "source": [text]},
            {"cell_type": "code", "source": [], "outputs": [{"data": {"text/plain": [plain]}}]},
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
    assert (one.question, one.lit, one.minutes) == ("Why not?", ("softmax",), 20)


@pytest.mark.parametrize(
    "text, plain, missing",
    [
        ("# One\n\nNo question.\n\n## Then\n\n**Too late?**", "<Spine, lit: softmax>", "a question in bold"),
        ("# One\n\n**Why?**", "<Figure>", "a cell that shows the spine"),
    ],
)
def test_a_chapter_without_a_question_or_a_spine_is_refused(book, text, plain, missing):
    book(text, plain)
    with pytest.raises(ValueError, match=f"01_one: expected {missing}"):
        outline()


def test_without_the_book_there_are_no_chapters(book):
    assert outline() == []


def test_the_contents_show_each_question_with_its_ribbon():
    shown = Questions()._repr_html_()
    asked = re.findall(r'class="question">(.*?)</span>', shown)
    assert [html.unescape(question) for question in asked] == [chapter.question for chapter in OUTLINE]
    assert shown.count('<use href="#ribbon"') == len(OUTLINE) and shown.count('<symbol id="ribbon"') == 1
    styles = re.findall(r'class="ribbon" aria-hidden="true" style="([^"]*)"', shown)
    for chapter, style in zip(OUTLINE, styles, strict=True):
        assert tuple(plot_spine.PARTS[int(k)] for k in re.findall(r"--lit-(\d+):1", style)) == chapter.lit
