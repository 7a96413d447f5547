"""The page with a plan, goals and minutes: what it says is what the book has, counted here in another way."""

import html
import re

import pytest

from bookcheck import reading
from toytf.course.chapters import chapters, outline
from toytf.course.exercises import read
from toytf_classroom.goals import Goal, goals
from toytf_classroom.goals import read as read_goals

PAGE = reading.ROOT / "book" / "syllabus.ipynb"
WEEK = re.compile(r"^\| (\d+): (.+) \| (\d+) \| (\d+) \| (\d+) \|$", re.MULTILINE)


def shown(found):
    """All that the page's cells show, as Markdown or HTML."""
    outputs = [out for _, cell in reading.code_cells(found) for out in cell.outputs]
    data = [out.get("data", {}) for out in outputs]
    return "\n".join(one.get("text/markdown") or one.get("text/html", "") for one in data)


@pytest.fixture(scope="module")
def page():
    return shown(reading.read_notebook(PAGE))


@pytest.fixture(scope="module")
def exercises():
    return {one.number: one for one in read(reading.ROOT / "notebooks").values()}


# ---------------------------------------------------------------- the plan


def week_problems(text, exercises):
    """Weeks whose minutes are not those of the exercises and of the first page."""
    reading_minutes = {chapter.number: chapter.minutes for chapter in outline()}
    wrong = []
    for week, names, *said in WEEK.findall(text):
        those = [int(n) for n in re.findall(r"notebooks/(\d\d)_", names)]
        right = [sum(e.minutes for e in exercises.values() if e.chapter in those)]
        right += [sum(e.minutes for e in exercises.values() if e.chapter in those and e.level == 1)]
        right += [sum(reading_minutes[n] for n in those)]
        if [*map(int, said)] != right:
            wrong.append(f"week {week}: expected {right}, got {said}")
    return wrong


def test_each_plan_has_every_chapter_once(page):
    weeks = [(int(number), names) for number, names, *_ in WEEK.findall(page)]
    assert [number for number, _ in weeks] == [*range(1, 15), *range(1, 13)]
    for plan in (weeks[:14], weeks[14:]):
        assert re.findall(r"notebooks/(\d\d)_", " ".join(names for _, names in plan)) == list(chapters())


def test_the_minutes_of_a_week_are_those_of_its_chapters(page, exercises):
    assert len(WEEK.findall(page)) == 26
    assert not week_problems(page, exercises)


def test_a_changed_minute_is_seen(page, exercises):
    first = WEEK.search(page)
    for place in (3, 4, 5):
        start, end = first.span(place)
        planted = page[:start] + str(int(first[place]) + 1) + page[end:]
        assert len(week_problems(planted, exercises)) == 1


def test_the_paragraph_for_the_catalogue_has_the_books_numbers(page, exercises):
    said = [int(n) for n in re.findall(r"\b\d+\b", page[: page.index("| Week |")])]
    checked = sum(one.kind != "text" for one in exercises.values())
    hours = [sum(chapter.minutes for chapter in outline()), sum(one.minutes for one in exercises.values())]
    assert said == [len(chapters()), len(exercises), checked, *(round(minutes / 60) for minutes in hours)]


# ---------------------------------------------------------------- the goals


def goal_problems(found, exercises):
    """Chapters with too few goals or too many, and goals whose exercises are not there."""
    wrong = []
    for chapter in map(int, chapters()):
        if not 2 <= len(found.get(chapter, ())) <= 3:
            wrong.append(f"chapter {chapter}: expected two or three goals, got {len(found.get(chapter, ()))}")
        for goal in found.get(chapter, ()):
            wrong += [
                f"chapter {chapter}: no exercise {number}" for number in goal.exercises if number not in exercises
            ]
    return wrong


def test_every_chapter_has_goals_and_every_goal_an_exercise_of_its_chapter(exercises):
    assert not goal_problems(goals(), exercises)
    assert list(goals()) == [*map(int, chapters())]


@pytest.mark.parametrize(
    ("planted", "says"),
    [
        ({9: ()}, "chapter 9: expected two or three goals, got 0"),
        ({9: (*goals()[9][:2], Goal("fly.", ("9.99",)))}, "chapter 9: no exercise 9.99"),
    ],
)
def test_a_goal_that_cannot_be_checked_is_seen(planted, says, exercises):
    assert goal_problems({**goals(), **planted}, exercises) == [says]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("## 9\n- fly. (8.1)", "expected exercises of chapter 9, got 8.1"),
        ("## 9\n- fly.", r"line 2: expected \"- normalise a row. \(9.1\)\", got '- fly.'"),
        ("## 9\n- fly (9.1)", "line 2: expected"),
        ("## 9\n\n## 10\n- fly. (10.1)", "expected at least one for chapter 9, got none"),
        ("## 9\n- fly. (9.1)\n## 9\n- swim. (9.2)", "expected each chapter once, got chapter 9 again"),
    ],
)
def test_a_text_of_another_form_is_refused(text, says):
    with pytest.raises(ValueError, match=says):
        read_goals(text)


def test_the_page_shows_every_goal_with_links_to_its_exercises(page):
    lines = re.findall("<li>(.*?)</li>", page)
    assert len(lines) == sum(map(len, goals().values()))
    for line, (chapter, goal) in zip(lines, ((n, g) for n, all_of in goals().items() for g in all_of), strict=True):
        assert html.unescape(line).startswith(f"{goal.words} (")
        links = re.findall(r'<a href="\.\./notebooks/(\d\d)_\w+\.ipynb#ex-(\d\d)-(\d+)">([\d.]+)</a>', line)
        assert [number for *_, number in links] == list(goal.exercises)
        for file, first, second, number in links:
            assert (int(file), number) == (chapter, f"{int(first)}.{second}")


def test_no_goal_stands_twice():
    words = [goal.words for of in goals().values() for goal in of]
    assert len(set(words)) == len(words)
