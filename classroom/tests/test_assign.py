"""Assignments: two editions with the same cells, one of them without anything of a solution."""

import copy
import json
import re
from functools import cache
from pathlib import Path

import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient

from toytf.course.exercises import read
from toytf_classroom import assign, rubrics
from toytf_classroom.__main__ import main

ROOT = Path(__file__).resolve().parents[2]
MASTER = ROOT / "notebooks"
ANSWER = re.compile(r"^[ \t]*### BEGIN SOLUTION\n(.*?)^[ \t]*### END SOLUTION$", re.DOTALL | re.MULTILINE)


@cache
def book():
    return read(MASTER)


@cache
def everything():
    """Both editions of an assignment that has all exercises of the book."""
    return assign.notebooks(list(book().values()), "Everything")


def source(cell):
    return "".join(cell["source"])


def role(cell):
    return cell["metadata"].get("toytf", {}).get("role", "")


def some(kind):
    """The first exercise of a kind."""
    return next(one for one in book().values() if one.kind == kind)


def execute(notebook, folder):
    """Run from top to bottom; an error in a cell is an error here. What each cell printed and showed, by id."""
    loaded = nbformat.reads(json.dumps(notebook), as_version=4)
    NotebookClient(
        loaded,
        coalesce_streams=True,
        extra_arguments=["--log-level=ERROR"],
        resources={"metadata": {"path": str(folder)}},
    ).execute()
    said = {}
    for cell in loaded.cells:
        texts = [o.get("text") or o["data"]["text/plain"] for o in cell.get("outputs", [])]
        said[cell.id] = texts
    return said


# ---------------------------------------------------------------- the two editions


def test_the_editions_have_the_same_cells_and_differ_only_where_answers_stand():
    student, instructor = everything()
    assert student["metadata"] == instructor["metadata"]
    for blank, solved in zip(student["cells"], instructor["cells"], strict=True):
        assert {k: v for k, v in blank.items() if k != "source"} == {k: v for k, v in solved.items() if k != "source"}
        assert (source(blank) == source(solved)) == (role(blank) != "answer")


def test_a_blank_answer_is_the_solved_one_with_the_solution_taken_out():
    student, instructor = everything()
    for blank, solved in zip(student["cells"], instructor["cells"], strict=True):
        if role(blank) == "answer" and blank["cell_type"] == "code":
            (inside,) = ANSWER.findall(source(solved))
            assert inside.strip()
            left = ANSWER.sub("", source(solved)).rstrip()
            assert re.sub(r"\n    raise NotImplementedError\(.*\)$", "", source(blank)) == left
        elif role(blank) == "answer":
            assert source(blank) == "YOUR ANSWER HERE"


def test_the_instructor_finds_solutions_points_and_common_mistakes():
    _, instructor = everything()
    cells = {cell["id"]: source(cell) for cell in instructor["cells"]}
    for one in book().values():
        assert f"{one.points} point" in cells[f"{one.label}-text"]
        answer = cells[f"{one.label}-answer"]
        if one.kind == "text":
            assert answer.startswith(assign.portable(one.solution, one))  # the rubric: tests/test_rubrics.py
        if one.kind == "function":
            for line in one.check.source.splitlines():
                assert line in answer
            for mistake in one.check.mistakes:
                plain = re.sub(r"\s+#?\s+|\s+", " ", answer)
                assert re.sub(r"\s+", " ", f"- {mistake.name}: {mistake.advice}") in plain


def secret_lines():
    """The lines of all solutions that stand in no task and in no stub; with whom they belong to."""
    tasks, hidden, known = [], [], rubrics.read()
    for one in book().values():
        tasks += [assign.portable(one.text, one), one.title]
        hidden += [(one.label, line) for line in assign.portable(one.solution, one).splitlines()]
        if one.check:
            tasks.append(one.check.stub)
            hidden += [(one.label, line) for line in one.check.source.splitlines()]
            hidden += [(one.label, text) for mistake in one.check.mistakes for text in (mistake.name, mistake.advice)]
        if rubric := known.get(one.number):
            points = [text for point in rubric.scoring for text in (point.text, point.also)]
            hidden += [(one.label, text) for text in (*points, rubric.typical, rubric.say)]
        if one.by_hand:
            hidden += [(one.label, str(np.asarray(part.expected).tolist())) for part in one.by_hand.parts]
    tasks.append(source(everything()[0]["cells"][0]))
    tasks = "\n".join(tasks)
    return {
        line.strip(): label
        for label, line in hidden
        if len(line.strip()) >= 8 and re.search(r"\w\W+\w", line) and line.strip() not in tasks
    }


def traces(notebook):
    """Lines of solutions in any text of a notebook: sources, outputs, metadata."""
    texts = []

    def collect(value):
        if isinstance(value, str):
            texts.append(value)
        elif isinstance(value, list):
            texts.append("".join(v for v in value if isinstance(v, str)))
            for v in value:
                collect(v)
        elif isinstance(value, dict):
            for k, v in value.items():
                collect(k)
                collect(v)

    collect(notebook)
    whole = "\n".join(texts)
    return [f"{label}: {line}" for line, label in secret_lines().items() if line in whole]


def test_the_student_finds_no_line_of_any_solution():
    assert traces(everything()[0]) == []


def test_a_planted_line_of_a_rubric_is_found():
    rubric = next(iter(rubrics.read().values()))
    for text in (rubric.scoring[-1].text, rubric.typical, rubric.say):
        student = copy.deepcopy(everything()[0])
        student["cells"][0]["source"].append(f"\n{text}")
        assert [found for found in traces(student) if found.endswith(text)]


@pytest.mark.parametrize("where", ["source", "outputs", "metadata"])
def test_a_planted_line_of_a_solution_is_found(where):
    student = copy.deepcopy(everything()[0])
    line = next(line for line, label in secret_lines().items() if label == some("function").label)
    cell = next(cell for cell in student["cells"] if role(cell) == "check")
    if where == "source":
        cell["source"].append(f"\n# {line}")
    elif where == "outputs":
        cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": [line + "\n"]}]
    else:
        cell["metadata"]["hint"] = line
    assert [found for found in traces(student) if found.endswith(line)]


# ---------------------------------------------------------------- for students


def test_a_blank_notebook_runs_from_top_to_bottom_and_says_politely_what_is_missing(tmp_path):
    said = execute(everything()[0], tmp_path)
    for one in book().values():
        if one.kind == "function":
            assert said[f"{one.label}-check"] == [f"{one.check.name}: not written yet.\n", "0"]
        elif one.kind == "by hand":
            printed, points = said[f"{one.label}-check"]
            assert printed.count(": not answered yet.\n") == len(one.by_hand.parts) == len(printed.splitlines())
            assert float(points) == 0


def test_the_solved_notebook_runs_and_is_right_everywhere_with_all_points(tmp_path):
    said = execute(everything()[1], tmp_path)
    for one in book().values():
        if one.kind != "text":
            printed, points = said[f"{one.label}-check"]
            assert all(": right" in line for line in printed.splitlines()), printed
            assert float(points) == one.points


def test_links_become_words_or_addresses():
    one = next(one for one in book().values() if one.chapter == 9)
    text = (
        "([Layer norm](#layer-norm)), [The formula](../notebooks/03_positions.ipynb#the-formula), "
        "[chapter 5](../notebooks/05_scaling.ipynb), [E0-01](../book/errata.ipynb#e0-01), "
        "[site](https://x.org/a), f[0](x)"
    )
    assert assign.portable(text, one) == (
        "(*Layer norm*, chapter 9), *The formula* (chapter 3), chapter 5, E0-01, [site](https://x.org/a), f[0](x)"
    )
    there = assign.portable(text, one, "https://school.org/book/")
    assert "[Layer norm](https://school.org/book/notebooks/09_residual_and_layer_norm.html#layer-norm)" in there
    assert "[E0-01](https://school.org/book/book/errata.html#e0-01)" in there


# ---------------------------------------------------------------- for nbgrader and toytf_classroom.grading


def test_both_editions_are_valid_notebooks_with_nbgrader_metadata():
    for notebook in everything():
        nbformat.validate(nbformat.from_dict(notebook))
        names = [cell["id"] for cell in notebook["cells"]]
        assert len(set(names)) == len(names)
        for cell in notebook["cells"]:
            meta = cell["metadata"]["nbgrader"]
            assert meta["grade_id"] == cell["id"]
            assert re.fullmatch(r"[\w-]+", meta["grade_id"])
            assert (meta["schema_version"], meta["task"], meta["cell_type"]) == (3, False, cell["cell_type"])
            assert ("points" in meta) == meta["grade"]
            assert (meta["solution"], meta["locked"]) == ((True, False) if role(cell) == "answer" else (False, True))


def test_points_in_both_notebooks_and_the_manifest_agree():
    chosen = list(book().values())
    listed = assign.manifest(chosen, "Everything")["exercises"]
    total = sum(one.points for one in chosen)
    assert sum(entry["points"] for entry in listed) == total
    for notebook in everything():
        assert sum(cell["metadata"]["nbgrader"].get("points", 0) for cell in notebook["cells"]) == total


def test_the_manifest_says_what_is_asked_for_and_no_answer():
    chosen = [some("function"), some("by hand"), some("text")]
    made = assign.manifest(chosen, "Week 6")
    assert (made["format"], made["version"], made["title"]) == ("toytf assignment", 1, "Week 6")
    function, by_hand, text = made["exercises"]
    assert function["name"] == chosen[0].check.name
    assert by_hand["parts"] == [part.name for part in chosen[1].by_hand.parts]
    assert text["kind"] == "text"
    assert set(by_hand) == {"label", "number", "title", "kind", "name", "points", "parts"}


# ---------------------------------------------------------------- the choice


def numbers(**choice):
    return [one.number for one in assign.select(book(), **choice)]


def test_exercises_are_chosen_by_number_chapter_kind_and_level():
    assert numbers(numbers=["12.2", "11.1"]) == ["12.2", "11.1"]  # in this order
    assert numbers() == [one.number for one in book().values()]
    assert {n.split(".")[0] for n in numbers(chapters=[12, 11])} == {"11", "12"}
    for one in assign.select(book(), kinds=["by hand"], levels=[1, 2]):
        assert "by hand" in one.kinds
        assert one.level < 3


@pytest.mark.parametrize(
    ("choice", "says"),
    [
        ({"numbers": ["11.99"]}, "expected numbers such as .*, got 11.99"),
        ({"numbers": ["11.1", "11.1"]}, "got 11.1 twice"),
        ({"chapters": [11], "levels": []}, "got one that none meets"),
    ],
)
def test_a_choice_that_cannot_be_met_is_an_error(choice, says):
    with pytest.raises(ValueError, match=says):
        numbers(**choice)


# ---------------------------------------------------------------- the command

THREE = {"student.ipynb", "instructor.ipynb", "submissions/assignment.json"}


def one_line(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def run(*arguments):
    return main(["assign", *(str(argument) for argument in arguments)])


def test_the_command_writes_three_files_and_the_same_bytes_again(tmp_path, capsys):
    for name in ("a", "b"):
        assert run("--exercises", "11.1", "12.1", "--title", "Week 6", "--out", tmp_path / name) == 0
        assert one_line(tmp_path / name) == THREE
    assert "2 exercises" in capsys.readouterr().out
    for name in THREE:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert {path.name for path in tmp_path.iterdir()} == {"a", "b"}  # nothing temporary is left
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o755


def test_each_chapter_can_have_a_folder_of_its_own(tmp_path):
    assert run("--chapters", 12, 11, "--apart", "--out", tmp_path / "all") == 0
    assert one_line(tmp_path / "all") == {f"chapter-{n}/{name}" for n in (11, 12) for name in THREE}


def test_nothing_is_overwritten_without_force_and_submissions_stay_with_it(tmp_path, capsys):
    out = tmp_path / "week"
    assert run("--exercises", "11.1", "--out", out) == 0
    (out / "submissions" / "ada.ipynb").write_text("hers", "utf-8")
    before = {name: (out / name).read_bytes() for name in THREE}
    assert run("--exercises", "12.1", "--out", out) == 2
    assert "expected a new file, got one that is there; --force replaces it" in capsys.readouterr().err
    assert {name: (out / name).read_bytes() for name in THREE} == before
    assert run("--exercises", "12.1", "--out", out, "--force") == 0
    assert all((out / name).read_bytes() != before[name] for name in THREE)
    assert one_line(out) == THREE | {"submissions/ada.ipynb"}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--exercises", "11.99"], "got 11.99"),
        (["--exercises", "99.1"], "chapters: expected some of"),
        (["--exercises", "one"], "exercises: expected numbers such as 1.1, got one"),
        (["--chapters", "99"], "chapters: expected some of 1, 2"),
        (["--exercises", "11.1", "--chapters", "11"], "expected these or --chapters, got both"),
        (["--exercises", "11.1", "--apart"], "--apart: expected --chapters, got --exercises"),
        (["--notebooks", "nowhere"], "folder: expected one with notebooks"),
    ],
)
def test_mistakes_in_the_arguments_are_named(tmp_path, capsys, arguments, says):
    assert run(*arguments, "--out", tmp_path / "out") == 2
    assert says in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
