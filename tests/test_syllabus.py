"""The page with a plan, goals and minutes: what it says is what the book has, counted here in another way."""

import html
import re

import pytest

from bookcheck import reading
from toytf.course.chapters import chapters, outline
from toytf.course.exercises import read

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

GOALS = re.findall(r"^- (.+\.) \((.+)\)$|^## (\d+)$", (reading.ROOT / "toytf/course/data/goals.md").read_text(), re.M)


def goal_problems(lines, exercises):
    """Chapters with too few goals or too many, and goals whose exercises are not there."""
    found, wrong = {}, []
    for words, numbers, chapter in lines:
        if chapter:
            found[chapter] = []
            continue
        found[[*found][-1]].append(words)
        known = [number for number in numbers.split(", ") if number in exercises]
        if known != numbers.split(", ") or {one.split(".")[0] for one in known} != {[*found][-1]}:
            wrong.append(f"{words}: expected exercises of its chapter, got {numbers}")
    if list(found) != [str(int(chapter)) for chapter in chapters()]:
        wrong.append(f"expected every chapter once, got {list(found)}")
    return wrong + [f"chapter {n}: expected two or three goals" for n, of in found.items() if not 2 <= len(of) <= 3]


def test_every_chapter_has_goals_and_every_goal_an_exercise_of_its_chapter(exercises):
    assert not goal_problems(GOALS, exercises)


@pytest.mark.parametrize("planted", [("fly.", "9.99", ""), ("fly.", "1.1", ""), ("", "", "23")])
def test_a_goal_that_cannot_be_checked_is_seen(planted, exercises):
    assert goal_problems([*GOALS, planted], exercises)


def test_the_page_shows_every_goal_with_links_to_its_exercises(page):
    shown_goals = [re.sub("<[^>]*>", "", line) for line in re.findall("<li>(.*?)</li>", page)]
    assert [html.unescape(line) for line in shown_goals] == [f"{words} ({of})" for words, of, _ in GOALS if words]
    for file, first, second, number in re.findall(r'/(\d\d)_\w+\.ipynb#ex-(\d\d)-(\d+)">([\d.]+)</a>', page):
        assert file == first and number == f"{int(first)}.{second}"
