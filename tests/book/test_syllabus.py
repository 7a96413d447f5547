"""The page with a plan, goals and minutes: what it says is what the book has, counted here in another way."""

import re

import pytest

from bookcheck import reading
from toytf.course.chapters import chapters, outline
from toytf.course.exercises import read

WEEK = re.compile(r"^\| (\d+): (.+) \| (\d+) \| (\d+) \| (\d+) \|$", re.MULTILINE)
GOAL = re.compile(r"^- (.+\.) \((.+)\)$|^## (\d+)$", re.MULTILINE)
EXERCISES = {one.number: one for one in read(reading.ROOT / "notebooks").values()}


@pytest.fixture(scope="module")
def page():
    """All that the page's cells show."""
    cells = reading.read_notebook(reading.ROOT / "book" / "syllabus.ipynb").cells
    outputs = [output.get("data", {}) for cell in cells for output in cell.get("outputs", [])]
    return "\n".join(one.get("text/markdown") or one.get("text/html", "") for one in outputs)


def week_problems(text):
    """Weeks whose minutes are not those of the exercises and of the first page."""
    minutes = {chapter.number: chapter.minutes for chapter in outline()}
    for week, names, *said in WEEK.findall(text):
        those = [int(n) for n in re.findall(r"notebooks/(\d\d)_", names)]
        mine = [one for one in EXERCISES.values() if one.chapter in those]
        right = [sum(one.minutes for one in mine), sum(one.minutes for one in mine if one.level == 1)]
        right += [sum(minutes[n] for n in those)]
        if [*map(int, said)] != right:
            yield f"week {week}: expected {right}, got {said}"


def test_each_plan_has_every_chapter_once_and_its_minutes(page):
    weeks = [(int(number), re.findall(r"notebooks/(\d\d)_", names)) for number, names, *_ in WEEK.findall(page)]
    assert [number for number, _ in weeks] == [*range(1, 15), *range(1, 13)]
    for plan in (weeks[:14], weeks[14:]):
        assert [one for _, of in plan for one in of] == list(chapters())
    assert [*week_problems(page)] == []
    start = WEEK.search(page).start(3)
    assert len([*week_problems(f"{page[:start]}1{page[start:]}")]) == 1


def test_the_paragraph_for_the_catalogue_has_the_books_numbers(page):
    said = [int(n) for n in re.findall(r"\b\d+\b", page[: page.index("| Week |")])]
    checked = sum(one.kind != "text" for one in EXERCISES.values())
    minutes = [sum(chapter.minutes for chapter in outline()), sum(one.minutes for one in EXERCISES.values())]
    assert said == [len(chapters()), len(EXERCISES), checked, *(round(one / 60) for one in minutes)]


def goal_problems(text):
    """Chapters with too few goals or too many, and goals that no exercise of their chapter checks."""
    found = {}
    for words, numbers, chapter in GOAL.findall(text):
        if chapter:
            goals = found[chapter] = []
            continue
        goals.append(words)
        if not all(one in EXERCISES and one.split(".")[0] == [*found][-1] for one in numbers.split(", ")):
            yield f"{words}: expected exercises of its chapter, got {numbers}"
    if [*found] != [str(int(chapter)) for chapter in chapters()]:
        yield f"expected every chapter once, got {[*found]}"
    yield from (f"chapter {n}: expected two or three goals" for n, of in found.items() if not 2 <= len(of) <= 3)


def test_every_chapter_has_goals_and_every_goal_an_exercise():
    goals = (reading.ROOT / "toytf/course/data/goals.md").read_text("utf-8")
    assert [*goal_problems(goals)] == []
    for planted in ("- I fly. (9.99)\n", "- I fly. (1.1)\n", "## 23\n"):
        assert [*goal_problems(f"{goals}\n{planted}")]
