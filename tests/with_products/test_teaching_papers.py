"""Exams and answers as PDF: printed by Chromium, whole, on both papers."""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pypdf
import pytest

import sitecheck
from toytf.teach import exam

ROOT = Path(__file__).resolve().parent.parent.parent
KEY = "a secret of the teacher"
WIDTHS = {"a4": (595, 842), "letter": (612, 792)}


def toytf(*words, folder):
    sitecheck.chromium_or_skip()
    done = subprocess.run([sys.executable, "-m", "toytf", *words], cwd=folder, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def texts(path):
    return [sheet.extract_text() for sheet in pypdf.PdfReader(path).pages]


def size_of_most_letters(path):
    """In points. A page that is too wide is printed smaller as a whole: then it is another one."""
    sizes = Counter()

    def look(text, matrix, text_matrix, _font, size):
        sizes[round(abs(size * text_matrix[3] * matrix[3]), 1)] += len(text.strip())

    for sheet in pypdf.PdfReader(path).pages:
        sheet.extract_text(visitor_text=look)
    return sizes.most_common(1)[0][0]


@pytest.fixture(scope="module", params=list(WIDTHS))
def exams(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    toytf("exam", "--key", KEY, "--paper", request.param, "--out", "exams", folder=folder)
    names = ["exam-A.answers.pdf", "exam-A.pdf", "exam-B.answers.pdf", "exam-B.pdf"]
    assert sorted(path.name for path in (folder / "exams").iterdir()) == names
    return request.param, folder / "exams"


def test_both_exams_are_on_the_paper_that_was_asked_for_and_tagged(exams):
    size, folder = exams
    for path in folder.iterdir():
        reader = pypdf.PdfReader(path)
        for sheet in reader.pages:
            assert (round(float(sheet.mediabox.width)), round(float(sheet.mediabox.height))) == WIDTHS[size]
        assert reader.trailer["/Root"]["/MarkInfo"]["/Marked"] and reader.trailer["/Root"]["/Lang"] == "en"
        assert size_of_most_letters(path) == 10.5


def test_each_task_stands_whole_on_one_page_of_its_exam(exams):
    _, folder = exams
    for one in exam.papers(KEY):
        pages = texts(folder / f"exam-{one.letter}.pdf")
        assert 8 <= len(pages) <= 14
        assert "Student number" in pages[0] and "Together" in pages[0]
        for number, task in enumerate(one.tasks, start=1):
            (page,) = [page for page in pages[1:] if f"{number}. {task.title}" in page]
            if isinstance(task, exam.Fault):
                assert task.wrong.splitlines()[-1].split()[-1] in page
        assert all(one.number in page for page in pages)
        for page in pages[1:]:  # none begins in the middle of a task
            body = re.sub(r"^.*Exam [AB] · [\d-]+\n|\d+ points\n?", "", page)
            assert re.match(r"\d+\. ", body), body[:80]


def test_the_answer_sheet_has_every_answer_and_the_exam_none(exams):
    _, folder = exams
    for one in exam.papers(KEY):
        solved = "\n".join(texts(folder / f"exam-{one.letter}.answers.pdf"))
        asked = "\n".join(texts(folder / f"exam-{one.letter}.pdf"))
        assert "Answers, not for students" in solved and "not for students" not in asked
        assert one.tasks[-1].mistake in solved and one.tasks[-1].mistake not in asked
        assert one.number in solved


def test_answers_of_an_assignment_are_printed(tmp_path):
    chosen = ["--exercises", "9.1", "8.8", "5.3", "17.1", "9.2", "--title", "A week", "--out", "week"]
    toytf("assign", *chosen, "--notebooks", str(ROOT / "notebooks"), folder=tmp_path)
    said = toytf("answers", "week", folder=tmp_path)
    assert said.splitlines() == [str(Path("week", "answers.pdf")), "5 exercises, 7 points"]
    text = "\n".join(texts(tmp_path / "week" / "answers.pdf"))
    wanted = ["9.1 One row", "8.8 Write softmax", "5.3 Which axis was it?", "return exps / exps.sum"]
    for words in [*wanted, "keepdims forgotten"]:
        assert words in text, words
    assert size_of_most_letters(tmp_path / "week" / "answers.pdf") == 10.5
    assert "[4pt]" not in "".join(text.split()) and "$" not in text
