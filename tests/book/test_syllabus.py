"""The page with plans and goals: nbval computes its minutes again; here is what its cells take for granted."""

import re

from bookcheck import reading
from toytf.course.chapters import chapters


def test_each_plan_has_every_chapter_once():
    cells = reading.code_cells(reading.read_notebook(reading.ROOT / "book/syllabus.ipynb"))
    shown = [text for _, cell in cells for kind, text in reading.text_outputs(cell) if kind == "text/html"]
    plans = [re.findall(r"<li><b>Week \d+.*?</li>", text) for text in shown if "<b>Week 1</b>" in text]
    assert [len(weeks) for weeks in plans] == [14, 12]
    for weeks in plans:
        assert re.findall(r"notebooks/(\d\d)_", "\n".join(weeks)) == list(chapters())


def goal_problems(text):
    """Chapters with too few goals or too many, and goals that no exercise of their chapter checks."""
    parts = re.findall(r"^## (\d+)\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    if [chapter for chapter, _ in parts] != [str(int(chapter)) for chapter in chapters()]:
        yield f"expected every chapter once, got {[chapter for chapter, _ in parts]}"
    for chapter, part in parts:
        goals = re.findall(r"^- .+\. \((.+)\)$", part, re.M)
        if not 2 <= len(goals) <= 3 or len(goals) != part.count("\n- ") + part.startswith("- "):
            yield f"chapter {chapter}: expected two or three goals, each with its exercises"
        yield from (f"{one}: expected an exercise of chapter {chapter}" for goal in goals for one in goal.split(", ")
                    if not one.startswith(f"{chapter}."))  # fmt: skip


def test_every_chapter_has_goals_and_every_goal_an_exercise():
    goals = (reading.ROOT / "toytf/course/data/goals.md").read_text("utf-8")
    assert [*goal_problems(goals)] == []
    for planted in ("- I fly. (1.1)\n", "- I fly.\n", "## 24\n"):
        assert [*goal_problems(f"{goals}\n{planted}")]
