"""Assignments: two editions with the same cells, one of them without anything of a solution."""

import copy
import json
import re
from functools import cache

import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient

from gradecheck import role, source
from toytf.course.exercises import read
from toytf_classroom import assign, pages, rubrics
from toytf_classroom.__main__ import main

ANSWER = re.compile(r"^[ \t]*### BEGIN SOLUTION\n(.*?)^[ \t]*### END SOLUTION$", re.DOTALL | re.MULTILINE)


@cache
def book():
    return list(read(assign.MASTER).values())


@cache
def everything():
    """Both editions of an assignment that has all exercises of the book."""
    return assign.notebooks(book(), "Everything")


def execute(notebook, folder):
    """Run from top to bottom; an error in a cell is an error here. What each cell printed and showed, by id."""
    loaded = nbformat.reads(json.dumps(notebook), as_version=4)
    how = {"extra_arguments": ["--log-level=ERROR"], "resources": {"metadata": {"path": str(folder)}}}
    NotebookClient(loaded, coalesce_streams=True, **how).execute()
    return {c.id: [o.get("text") or o["data"]["text/plain"] for o in c.get("outputs", [])] for c in loaded.cells}


# ---------------------------------------------------------------- the two editions


def test_the_editions_differ_only_where_answers_stand_and_the_blank_one_is_the_solved_without_the_solution():
    student, instructor = everything()
    assert student["metadata"] == instructor["metadata"]
    for blank, solved in zip(student["cells"], instructor["cells"], strict=True):
        assert {k: v for k, v in blank.items() if k != "source"} == {k: v for k, v in solved.items() if k != "source"}
        assert (source(blank) == source(solved)) == (role(blank) != "answer")
        if role(blank) == "answer" and blank["cell_type"] == "code":
            (inside,) = ANSWER.findall(source(solved))
            assert inside.strip()
            left = ANSWER.sub("", source(solved)).rstrip()
            assert re.sub(r"\n    raise NotImplementedError\(.*\)$", "", source(blank)) == left
        elif role(blank) == "answer":
            assert source(blank) == "YOUR ANSWER HERE"


def secret_lines():
    """The lines of all solutions that stand in no task and in no stub; with whom they belong to."""
    tasks, hidden, known = [source(everything()[0]["cells"][0])], [], rubrics.read()
    for one in book():
        tasks += [assign.portable(one.text, one), one.title]
        secret = assign.portable(one.solution, one).splitlines()
        if one.check:
            tasks.append(one.check.stub)
            secret += one.check.source.splitlines()
            secret += [text for mistake in one.check.mistakes for text in (mistake.name, mistake.advice)]
        if rubric := known.get(one.number):
            secret += [text for point in rubric.scoring for text in (point.text, point.also)]
            secret += [rubric.typical, rubric.say]
        if one.by_hand:
            secret += [str(np.asarray(part.expected).tolist()) for part in one.by_hand.parts]
        hidden += [(one.label, line.strip()) for line in secret]
    tasks = "\n".join(tasks)
    return {
        line: label for label, line in hidden if len(line) >= 8 and re.search(r"\w\W+\w", line) and line not in tasks
    }


def traces(notebook):
    """Lines of solutions in any text of a notebook: sources, outputs, metadata."""

    def texts(value):
        if isinstance(value, dict):
            value = [*value, *value.values()]
        if isinstance(value, list):
            return "\n".join([*map(texts, value), "".join(v for v in value if isinstance(v, str))])
        return str(value)

    whole = texts(notebook)
    return [line for line in secret_lines() if line in whole]


def test_the_texts_send_no_student_to_names_that_only_a_chapter_has():
    texts = "\n".join(source(cell) for cell in everything()[0]["cells"] if role(cell) == "text")
    chapters = "\n".join(one.text for one in book())
    for wrong in (r"the name\s+`\w+`\s+is\s+taken", r'check\.byhand\("[\d.]+", answer\b'):
        assert re.search(wrong, chapters) and not re.search(wrong, texts)
    assert 'check.byhand("8.2", answer_8_2["score"], part="score")' in texts
    assert 'check.byhand("4.1", answer_4_1)' in texts


def test_the_student_finds_no_line_of_any_solution():
    assert traces(everything()[0]) == []


def test_a_planted_line_of_a_solution_or_of_a_rubric_is_found():
    line = next(line for line, label in secret_lines().items() if label == next(o.label for o in book() if o.check))
    for hidden in (line, next(iter(rubrics.read().values())).say):
        student = copy.deepcopy(everything()[0])
        student["cells"][5]["metadata"]["hint"] = [hidden]
        assert traces(student) == [hidden]


@pytest.mark.parametrize("solved", [False, True])
def test_a_notebook_runs_from_top_to_bottom_and_says_what_is_missing_or_right(tmp_path, solved):
    said = execute(everything()[solved], tmp_path)
    for one in book():
        if one.kind != "text":
            printed, points = said[f"{one.label}-check"]
            says = ": right" if solved else ": not written yet." if one.check else ": not answered yet."
            assert all(says in line for line in printed.splitlines()), printed
            assert float(points) == one.points * solved


def test_both_editions_are_valid_notebooks_with_nbgrader_metadata():
    for notebook in everything():
        nbformat.validate(nbformat.from_dict(notebook))
        assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
        for cell in notebook["cells"]:
            meta = cell["metadata"]["nbgrader"]
            assert meta["grade_id"] == cell["id"]
            assert (meta["schema_version"], meta["task"], meta["cell_type"]) == (3, False, cell["cell_type"])
            assert ("points" in meta) == meta["grade"]
            assert (meta["solution"], meta["locked"]) == ((True, False) if role(cell) == "answer" else (False, True))
        total = sum(cell["metadata"]["nbgrader"].get("points", 0) for cell in notebook["cells"])
        assert total == sum(one["points"] for one in assign.manifest(book(), "Everything", notebook)["exercises"])


def test_markdown_is_set_for_paper():
    text = pages.prose("See *here*, [there](https://x.org/?a&b), <b> and $a < b$.\n\n| a |\n|---|\n| 1 |")
    assert "<em>here</em>" in text and '<a href="https://x.org/?a&amp;b">there</a>' in text
    assert "&lt;b&gt;" in text and "<mo>&lt;</mo>" in text and "<td>1</td>" in text


# ---------------------------------------------------------------- the command

THREE = {"student.ipynb", "instructor.ipynb", "submissions/assignment.json"}


def run(*arguments):
    return main(["assign", *(str(argument) for argument in arguments)])


def there(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_command_writes_three_files_and_overwrites_none_without_force(tmp_path, capsys):
    for name in ("a", "b"):
        assert run("--exercises", "12.2", "11.1", "--title", "Week 6", "--out", tmp_path / name) == 0
    assert "2 exercises" in capsys.readouterr().out
    before = there(tmp_path / "a")
    assert before.keys() == THREE and before == there(tmp_path / "b")
    assert [one["number"] for one in json.loads(before["submissions/assignment.json"])["exercises"]] == ["12.2", "11.1"]
    (tmp_path / "a" / "submissions" / "ada.ipynb").write_text("hers", "utf-8")
    assert run("--exercises", "12.1", "--out", tmp_path / "a") == 2
    assert "expected a new file, got one that is there; --force replaces it" in capsys.readouterr().err
    assert there(tmp_path / "a") == before | {"submissions/ada.ipynb": b"hers"}
    assert run("--exercises", "12.1", "--out", tmp_path / "a", "--force") == 0
    after = there(tmp_path / "a")
    assert after.keys() == THREE | {"submissions/ada.ipynb"} and all(after[name] != before[name] for name in THREE)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--exercises", "11.99"], "got 11.99"),
        (["--exercises", "11.1", "11.1"], "each once, got 11.1"),
        (["--exercises", "99.1"], "each once, got 99.1"),
        (["--exercises", "one"], "exercises: expected numbers such as 1.1, each once, got one"),
        (["--chapters", "99"], "chapters: expected some of 1, 2"),
        (["--exercises", "11.1", "--chapters", "11"], "expected these or --chapters, got both"),
        (["--exercises", "11.1", "--kinds", "explore"], "got one that none meets"),
        (["--topics", "product"], "expected --own-numbers with topics, got none"),
    ],
)
def test_mistakes_in_the_arguments_are_named(tmp_path, capsys, arguments, says):
    assert run(*arguments, "--out", tmp_path / "out") == 2
    assert says in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
