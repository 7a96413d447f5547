"""Slips of honest students and teachers: none ends in a 0 that says nothing, and none costs what was right."""

import dataclasses
import html
import json
import re

import numpy as np
import pytest

import gradecheck
from gradecheck import BY_HAND, HONEST, IMPORTS, SOFTMAX, STUB, code, data, one, table
from toytf import check
from toytf.course.exercises import NOT_ANSWERED, read
from toytf_classroom import ClassroomError, assign, feedback_pages, frames, grading, sandbox, submission
from toytf_classroom.__main__ import main
from toytf_classroom.lms import read_class

SAID = "Each row has a mean and a variance of its own."
FUNCTION, WORDS = "ex-08-8", "ex-09-2"
MINE = {**{FUNCTION: SOFTMAX}, WORDS: SAID}


@pytest.fixture(scope="module")
def week():
    """An assignment as it is handed out, and as the grader reads it."""
    exercises = read(assign.MASTER, [8, 9])
    chosen = assign.select(exercises, ["9.2", "8.8", "9.6"])
    files = assign.files(chosen, "Week 6")
    return json.loads(files["student.ipynb"]), grading.read_assignment(files["submissions/assignment.json"].encode())


def handed_in(week, change, written=MINE):
    """A student's notebook with answers in it, changed by a slip."""
    notebook = json.loads(json.dumps(week[0]))
    for cell in notebook["cells"]:
        about = cell["metadata"].get("toytf", {})
        if about.get("role") == "answer" and about["exercise"] in written:
            cell["source"] = written[about["exercise"]]
    notebook["cells"] = change(notebook["cells"]) or notebook["cells"]
    return json.dumps(notebook).encode()


def result(week, box, content, number="9.2"):
    receipt = grading.grade_one(content, week[1], "eve", sandbox=box, limits=gradecheck.SMALL, key=b"k")
    return next(r for r in receipt.results if r.number == number), receipt


def at(cells, name):
    return next(i for i, cell in enumerate(cells) if cell["id"] == name)


def markdown(source, name="new"):
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": source}


# ---------------------------------------------------------------- F1: words that stand elsewhere


def below(cells):
    cells[(i := at(cells, f"{WORDS}-answer"))]["source"] = NOT_ANSWERED
    cells.insert(i + 1, markdown(SAID))


def in_the_question(cells):
    cells[at(cells, f"{WORDS}-answer")]["source"] = NOT_ANSWERED
    cells[at(cells, f"{WORDS}-text")]["source"] += [f"\n\n{SAID}"]


def as_code(cells):
    cells[at(cells, f"{WORDS}-answer")] |= {"cell_type": "code", "outputs": [], "execution_count": None}


def as_code_without_names(cells):
    as_code(cells)
    cells[at(cells, f"{WORDS}-answer")] |= {"id": "x", "metadata": {}}


def without_metadata(cells):
    for cell in cells:
        cell["metadata"] = {}


def without_names(cells):
    for i, cell in enumerate(cells):
        cell |= {"metadata": {}, "id": f"a{i}"}


def one_without_metadata(cells):
    cells[at(cells, f"{WORDS}-answer")]["metadata"] = {}


def far_away(cells):
    below(cells)
    cells.append(cells.pop(at(cells, "new")))


def as_a_comment(cells):
    cells[(i := at(cells, f"{WORDS}-answer"))]["source"] = NOT_ANSWERED
    cells.insert(i + 1, code(f"# {SAID}") | {"id": "new"})


def as_a_string(cells):
    cells[(i := at(cells, f"{WORDS}-answer"))]["source"] = NOT_ANSWERED
    cells.insert(i + 1, code(f'print("{SAID}")') | {"id": "new"})


def under(name, text):
    """A slip: the words stand at the end of another cell."""

    def slip(cells):
        cells[at(cells, f"{WORDS}-answer")]["source"] = NOT_ANSWERED
        cell = cells[at(cells, name)]
        cell["source"] = "".join(cell["source"]) + text

    return slip


def as_a_named_text(cells):
    below(cells)
    cells[at(cells, "new")] = code(f'x = 1\nanswer_9_2 = """{SAID}"""')


UNDER = {
    "title": under("title", f"\n\n9.2: {SAID}"),
    "another answer": under("ex-09-6-answer", f"\n\n9.2 {SAID}"),
    "a function": under(f"{FUNCTION}-answer", f"\n# {SAID}"),
    "a check": under(f"{FUNCTION}-check", f"\n# {SAID}"),
    "imports": under("imports", f"\n# {SAID}"),
    "a text with a name": as_a_named_text,
}


@pytest.mark.parametrize("where", UNDER)
def test_words_at_the_end_of_another_cell_are_read_by_a_person(week, box, where):
    found, receipt = result(week, box, handed_in(week, UNDER[where]))
    assert found.points is None and SAID in found.text
    assert found.remark == "9.2: the answer stands outside of its cell" and found.remark in receipt.remarks


def test_an_answer_to_another_question_is_no_answer_to_this_one(week, box):
    written = MINE | {WORDS: NOT_ANSWERED, "ex-09-6": "About 9.21 and 19.2 percent."}
    assert result(week, box, handed_in(week, lambda cells: None, written))[0].points == 0
    sums = "# Mean of the row: (1 + 3 + 3 + 5) / 4 = 3, and the variance of it is then 8 / 4 = 2."
    for comment in ("# The largest is taken away.", f"    # {SAID}", sums):  # about the code or the numbers
        found, _ = result(week, box, handed_in(week, under(f"{FUNCTION}-answer", f"\n{comment}")))
        assert found.points == 0


def question_deleted(cells):
    del cells[at(cells, f"{WORDS}-text")]


MOVED = [below, in_the_question, as_code, as_code_without_names, without_metadata, without_names, one_without_metadata]


@pytest.mark.parametrize(
    "slip", [*MOVED, far_away, as_a_comment, as_a_string, question_deleted], ids=lambda slip: slip.__name__
)
def test_words_are_found_wherever_they_stand_and_read_by_a_person(week, box, slip):
    found, _ = result(week, box, handed_in(week, slip))
    assert found.points is None and SAID in found.text, found


@pytest.mark.parametrize("slip", [below, in_the_question, far_away, as_a_string], ids=lambda slip: slip.__name__)
def test_words_outside_of_their_cell_are_remarked(week, box, slip):
    found, receipt = result(week, box, handed_in(week, slip))
    assert found.remark.startswith("9.2: ") and found.remark in receipt.remarks


@pytest.mark.parametrize(
    "slip", [lambda cells: None, without_metadata, without_names], ids=["blank", "metadata", "names"]
)
def test_what_was_handed_out_is_nobody_s_words_and_a_blank_notebook_says_so(week, box, slip):
    found, receipt = result(week, box, handed_in(week, slip, {}))
    assert (found.points, found.text) == (0, "")
    assert {"9.2: no answer", "nothing was answered right"} < {*receipt.remarks}


# ---------------------------------------------------------------- F4: what stands before a function


@pytest.mark.parametrize(
    "cells",
    [
        ["import pandas as pd\nimport torch\nimport numpy as np\nfrom toytf import ops\n" + SOFTMAX],
        ["from toytf import ops", "from ipywidgets import interact", IMPORTS, SOFTMAX],
        ["from __future__ import annotations\nimport pandas\nimport numpy as np\n\n\n" + SOFTMAX],
        [IMPORTS, "raise SystemExit", "plt.plot(3)", SOFTMAX],
    ],
)
def test_an_import_that_is_not_here_and_a_cell_that_fails_cost_a_right_function_nothing(box, cells):
    assert one(*cells, box=box).results[0].points == 2


def test_a_deleted_import_cell_is_put_back_and_the_report_begins_with_it(week, box):
    def without_imports(cells):
        del cells[at(cells, "imports")], cells[at(cells, "needs")]

    found, receipt = result(week, box, handed_in(week, without_imports), "8.8")
    assert found.points == 2 and receipt.remarks[0] == "the first cell, with the imports, is missing, and was put back"
    page = feedback_pages.student_page(receipt, week[1]).decode()
    said = re.search(r"</h1>\s*<p>eve</p>\s*<p>(.*?)</p>", page)[1]
    assert "first cell, with the imports, is missing" in html.unescape(said) and "costs no points" in said
    for cell in ("import numpy\n", "if True:\n    from numpy import exp\n"):
        assert not one(cell + SOFTMAX, box=box).notes


def test_what_could_not_be_imported_is_named(box):
    wrong = "def softmax(scores):\n    return pd.DataFrame(scores)"
    receipt = one(IMPORTS, f"import pandas as pd\n{wrong}", box=box)
    said = "not here: import pandas as pd (ModuleNotFoundError: No module named 'pandas') (code cell 2)"
    assert said in receipt.remarks and "8.8: NameError: name 'pd' is not defined" in receipt.remarks
    assert any("pandas" in line for line in receipt.results[0].details)
    assert "the cell went on without it" in gradecheck.printed(receipt)


@pytest.mark.parametrize(
    ("cells", "says"),
    [
        (["1 / 0\n" + SOFTMAX], "since code cell 2, which would define it, stopped before: ZeroDivisionError"),
        ([SOFTMAX.replace("def softmax", "def my_softmax")], "softmax: not found, but my_softmax is there."),
        ([SOFTMAX.replace("def softmax", "def Softmax")], "but Softmax is there."),
        (["def softmax(s:\n    return s"], "stopped before: SyntaxError"),
        (["x = 1"], "softmax: not found."),
    ],
)
def test_why_a_function_is_not_there_is_said(box, cells, says):
    found = one(IMPORTS, *cells, box=box).results[0]
    assert says in found.headline and found.remark.startswith("8.8: ")


INSIDE = SOFTMAX.replace("\n", "\n    ")
NOT_RUN = "code cell 2: behind #, in a function, a class or a try, or left out or deleted."


@pytest.mark.parametrize(
    ("cells", "says"),
    [
        ([markdown(SOFTMAX)], "a text cell, which does not run."),
        ([markdown(SOFTMAX) | {"cell_type": "raw"}], "a text cell, which does not run."),
        (["# " + SOFTMAX.replace("\n", "\n# ")], NOT_RUN),
        ([f"def main():\n    {INSIDE}"], NOT_RUN),
        ([f"class Layers:\n    {INSIDE}"], NOT_RUN),
        ([f"try:\n    import pandas.x\n    1 / 0\n    {INSIDE}\nexcept Exception:\n    pass"], NOT_RUN),
        ([f"%%writefile softmax.py\n{SOFTMAX}"], NOT_RUN),
        ([SOFTMAX, "del softmax"], NOT_RUN),
    ],
)
def test_a_function_that_stands_there_and_never_came_to_be_is_named_with_its_place(box, cells, says):
    found = one(IMPORTS, *cells, box=box).results[0]
    assert found.headline.startswith("softmax: not found after all cells had run. It stands in ")
    assert says in found.headline and says.rstrip(".") in found.remark


def test_code_in_a_question_is_not_taken_for_the_student_s(box):
    task = dataclasses.replace(gradecheck.assignment(), handed_out=frozenset({grading.fingerprint(SOFTMAX)}))
    assert one(IMPORTS, markdown(SOFTMAX), box=box, task=task).results[0].headline == "softmax: not found."


@pytest.mark.parametrize(
    "cell",
    [
        "    " + SOFTMAX.replace("\n", "\n    "),
        "\n  softmax = lambda s: np.exp(s - s.max()) / np.exp(s - s.max()).sum()\n" + SOFTMAX,
        ">>> " + SOFTMAX.replace("\n", "\n... "),
        "%matplotlib inline\ndef rest():\n    ...\n" + SOFTMAX,
    ],
)
def test_a_cell_that_runs_in_jupyter_indented_or_with_prompts_runs_here(box, cell):
    assert one(IMPORTS, cell, box=box).results[0].points == 2


@pytest.mark.parametrize("line", ['answer_9_1["mean"] = 3', "answer_9_1.update(mean=3)"])
def test_an_answer_whose_dictionary_is_gone_says_which_error_ended_it(box, line):
    found = one(IMPORTS, line, box=box).results[1]
    assert "code cell 2, which would define it, stopped before: NameError" in found.headline


def test_the_name_of_another_exercise_is_no_hint_and_a_place_in_a_cell_is_said_once(box):
    task = json.loads(gradecheck.ASSIGNMENT)
    task["exercises"].append({"label": "ex-08-1", "number": "8.1", "kind": "by hand", "name": None, "points": 1})
    task = grading.read_assignment(json.dumps(task).encode())
    found = one(IMPORTS, BY_HAND, "def softmax(s:", box=box, task=task).results
    assert found[3].headline == "answer_8_1: not found."
    assert found[0].remark.endswith("stopped before: SyntaxError: '(' was never closed (line 1)")


def test_what_a_function_raised_is_remarked(box):
    found = one("import numpy", SOFTMAX, box=box).results[0]
    assert found.remark == "8.8: NameError: name 'np' is not defined"


@pytest.mark.parametrize(
    ("cells", "number", "says"),
    [
        (["def softmax(scores):\n    print(scores)"], "8.8", "It returned None. Is the return missing?"),
        ([SOFTMAX, "def softmax(s):\n    return s"], "8.8", "This looks like: the exponential left out"),
        ([STUB + SOFTMAX.partition(":")[2]], "8.8", "not written yet. The line that raises "),
        (["answer_9_1 = {'mean': '3.0 (mean)'}"], "9.1", "expected numbers, got"),
        (["answer_9_1 = {'Mean': 3}"], "9.1", "'Mean' is none of 'mean'"),
        (["answer_9_1 = {'mean': [3]}"], "9.1", "expected shape a single number, got 1"),
        (["answer_9_1 = None"], "9.1", "expected answer_9_1 to be a dictionary"),
    ],
)
def test_a_0_has_its_reason_in_the_teacher_s_table_too(box, cells, number, says):
    receipt = one(IMPORTS, *cells, box=box)
    found = next(result for result in receipt.results if result.number == number)
    assert found.points == 0 and found.remark.startswith(f"{number}: {says}") and found.remark in receipt.remarks


def test_of_two_definitions_the_last_counts_and_it_is_said(box):
    found = one(IMPORTS, SOFTMAX, "def softmax(s):\n    return s", box=box).results[0]
    assert "Code cells 2, 3 define it. The last one counts." in found.details


def test_a_notebook_of_another_week_and_the_instructor_s_are_remarked(week, box):
    said = "none of the exercises is in it: is it another assignment's?"
    assert result(week, box, data("x = 1"))[1].remarks == [said]
    assert result(week, box, data(""))[1].remarks == ["the notebook is empty"]
    solved = data(IMPORTS, SOFTMAX.replace("    exps", "    ### BEGIN SOLUTION\n    exps"))
    assert "this is the instructor's notebook" in one(*json.loads(solved)["cells"], box=box).remarks


# ---------------------------------------------------------------- F2: folders, and tables that look wrong


def found_in(tmp_path, *files, known=()):
    place = gradecheck.folder(tmp_path / "week", {name: HONEST if "ipynb" in name else b"x" for name in files})
    found, _ = submission.find(place, lambda name: name.partition("_")[0] in known)
    return {one.student: str(one.path.relative_to(place)) if one.path else one.doubt or one.reason for one in found}


@pytest.mark.parametrize(
    ("files", "known"),
    [
        (["Week 6/anna.ipynb", "Week 6/bob.ipynb"], ()),
        (["Week 6/anna.ipynb"], ("anna",)),
        (["a/b/anna.ipynb", "a/b/bob/x.ipynb"], ("anna", "bob")),
        (["late/anna.ipynb", "bob.ipynb"], ("anna", "bob")),
        (["anna/week6/week6.ipynb", "bob/week6/week6.ipynb"], ()),  # nbgrader's submitted/
        (["submitted/anna/week6/week6.ipynb", "submitted/bob/week6/week6.ipynb"], ()),
        (["anna.ipynb.txt", "bob/week6 (1).ipynb", "__MACOSX/x.ipynb"], ()),
        (["anna/a.ipynb", "anna/.ipynb_checkpoints/a-checkpoint.ipynb", "anna/plot.png"], ("anna",)),
    ],
)
def test_folders_around_submissions_are_gone_into(tmp_path, files, known):
    found = found_in(tmp_path, *files, known=known)
    assert set(found) <= {"anna", "bob"} and "anna" in found
    assert all(re.search(r"\.ipynb(\.txt)?\Z", said) for said in found.values()), found


@pytest.mark.parametrize(
    ("files", "says"),
    [
        (
            ["anna/week6.ipynb", "anna/week6-Copy1.ipynb"],
            "got 2: week6-Copy1.ipynb, week6.ipynb.",
        ),
        (["anna/week6.zip"], "Expected a notebook (.ipynb), got week6.zip. Unpack it."),
        (["anna.pdf"], "Expected a notebook (.ipynb), got anna.pdf."),
        (["anna/screenshot.png"], "got screenshot.png."),
    ],
)
def test_what_is_not_clear_is_a_doubt_for_a_person_and_no_0(tmp_path, box, files, says):
    place = gradecheck.folder(tmp_path / "week", {**dict.fromkeys(files, HONEST), "bob.ipynb": HONEST})
    (tmp_path / "class.csv").write_text("Student\nanna\nbob\n", "utf-8")
    summary, receipts = gradecheck.grade(place, tmp_path / "g.csv", box, class_list=tmp_path / "class.csv")
    assert says in receipts["anna"].reason and summary.doubts
    assert table(tmp_path / "g.csv")[1][:4] == ["anna", "", "7", ""] and says in table(tmp_path / "g.csv")[1][-1]
    by_hand = given(tmp_path, "anna,8.8,2,", "anna,9.1,1,", "anna,9.3,0,As a picture.")
    summary, _ = gradecheck.grade(place, tmp_path / "g.csv", box, class_list=tmp_path / "class.csv", manual=by_hand)
    assert table(tmp_path / "g.csv")[1] == ["anna", "3", "7", "2", "1", "0", "graded by hand"] and not summary.graded


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"https://colab.example/drive/1AbC", "no valid JSON (line 1); is it cut off, a link"),
        (b"<<<<<<< HEAD\n" + HONEST, "no valid JSON (line 1)"),
        (b'{"nbformat": 3, "worksheets": []}', "no notebook of format 4"),
        (HONEST + b" " * submission.MOST_BYTES, "The file has 16 MB"),
        (b"\xff\xfe\xff", "no UTF-8 text"),
    ],
    ids=["link", "merge", "old format", "too large", "no text"],
)
def test_a_file_that_cannot_be_read_is_a_doubt_for_a_person_and_no_0(tmp_path, box, content, says):
    place = gradecheck.folder(tmp_path / "week", {"anna.ipynb": content, "bob.ipynb": HONEST, "cem.ipynb": b" "})
    _, receipts = gradecheck.grade(place, tmp_path / "g.csv", box)
    assert says in receipts["anna"].reason and not receipts["anna"].graded
    assert [row[:4] for row in table(tmp_path / "g.csv")[1::2]] == [["anna", "", "7", ""], ["cem", "0", "7", "0"]]
    summary, _ = gradecheck.grade(place, tmp_path / "g.csv", box)
    assert summary.graded == 0 and summary.doubts


def test_a_notebook_that_an_editor_saved_as_utf_16_is_read():
    for encoding in ("utf-16", "utf-16-le", "utf-8-sig"):
        assert submission.read(HONEST.decode().encode(encoding)).code == submission.read(HONEST).code


def test_a_folder_without_any_notebook_is_refused(tmp_path, box):
    place = gradecheck.folder(tmp_path / "week", {"moodle.zip": b"PK"})
    with pytest.raises(ClassroomError, match=r"expected <student>\.ipynb or folders with one, got none\n.*moodle\.zip"):
        gradecheck.grade(place, tmp_path / "g.csv", box)
    assert not (tmp_path / "g.csv").exists()


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ("anna,0,0,no submission\nbob,0,0,no submission", "Nobody has handed in."),
        ("anna,2,2,\nbob,0,0,no submission\ncem,0,0,no submission", "Only 1 of 3 have handed in."),
        ("anna,0,0,\nbob,0,0,x", "All 2 who handed in have 0 points in 8.8."),
        ("anna,2,2,\nbob,,,", "1 of 2 have no points, since a person has to look first: bob."),
    ],
)
def test_a_table_that_looks_wrong_stops_before_it_is_exported(tmp_path, capsys, rows, says):
    grades, into, out = (tmp_path / name for name in ("grades.csv", "into.csv", "out.csv"))
    lines = [re.sub("^([^,]*,[^,]*)", r"\1,2", line) for line in rows.splitlines()]
    grades.write_text("\n".join(["student,points,out of,8.8,remark", *lines]) + "\n", "utf-8")
    into.write_text("student,points\nanna,\nbob,\ncem,\n", "utf-8")
    words = ["export", str(grades), "--into", str(into), "--column", "points", "--out", str(out)]
    assert main(words) == 2
    said = capsys.readouterr().err
    assert says in said and "run the same command again with --anyway" in said and not out.exists()
    assert main([*words, "--anyway"]) == 0


# ---------------------------------------------------------------- F9, F10, F13: names and class lists


def test_a_class_list_that_excel_saved_says_what_to_do(tmp_path):
    path = tmp_path / "class.csv"
    path.write_bytes("student\nM\xfcller\n".encode("latin-1"))
    with pytest.raises(ClassroomError, match='line 2: expected UTF-8, got byte 0xfc. In Excel .* "CSV UTF-8"'):
        read_class(path, None)
    path.write_text("Student,\nanna,\n", "utf-8")
    for column in (None, "Student"):
        assert [person.student for person in read_class(path, column)] == ["anna"]


AWKWARD = ["O'Brien-Smith Jr.", "李雷", "韩梅梅", "Zoë Müller", "Kim/Lee", "d'Arc, Jeanne", ".dot", "anna"]


def test_awkward_names_get_numbers_of_their_own_and_are_known_again(tmp_path, box):
    (tmp_path / "class.csv").write_text("student\n" + "".join(f'"{name}"\n' for name in AWKWARD), "utf-8")
    (tmp_path / "key.txt").write_text("k" * 40)
    about = ["--class", str(tmp_path / "class.csv"), "--key-file", str(tmp_path / "key.txt")]
    week = tmp_path / "week"
    assert main(["assign", "--exercises", "4.2", "--own-numbers", *about, "--title", "T", "--out", str(week)]) == 0
    for path in (week / "instructor").iterdir():
        path.rename(week / "submissions" / path.name)
    assert main(["grade", str(week / "submissions"), *about, "--out", str(tmp_path / "g.csv")]) == 0
    rows = {row[0]: row[1:3] for row in table(tmp_path / "g.csv")[1:]}
    assert set(rows) == set(AWKWARD) and all(points == out_of for points, out_of in rows.values())
    pages = {path.stem.partition("~")[0] for path in (tmp_path / "g" / "feedback").glob("*.html")}
    assert {"李雷", "韩梅梅", "anna", "Zoë-Müller", "O-Brien-Smith-Jr"} <= pages


# ---------------------------------------------------------------- F14, F15: what a teacher gave, and who wrote the same


@pytest.fixture
def pair(tmp_path):
    return gradecheck.folder(tmp_path / "week", {"anna.ipynb": HONEST, "bob.ipynb": HONEST})


def given(tmp_path, *rows):
    path = tmp_path / "points.csv"
    path.write_text("\n".join(["student,exercise,points,comment", *rows]) + "\n", "utf-8")
    return path


def test_marks_given_by_hand_survive_every_later_run(pair, tmp_path, box):
    out = tmp_path / "g.csv"
    gradecheck.grade(pair, out, box, manual=given(tmp_path, "anna,9.3,2,Good."))
    assert gradecheck.lines(out)["anna"] == ["6", "2", "2", "2"]
    gradecheck.grade(pair, out, box)
    gradecheck.grade(pair, out, box, manual=given(tmp_path, "bob,9.3,1,"), only=["anna", "bob"])
    assert [gradecheck.lines(out)[who][0] for who in ("anna", "bob")] == ["6", "5"]
    gradecheck.grade(pair, out, box, manual=given(tmp_path, "anna,9.3,3,Better."))  # a later mark takes its place
    assert gradecheck.lines(out)["anna"][0] == "7"
    (pair / "anna.ipynb").write_bytes(HONEST.replace(b"Because.", b"For another reason."))
    gradecheck.grade(pair, out, box)
    assert gradecheck.lines(out)["anna"][0] == "7"
    assert "9.3: the answer is another one since a person read it" in table(out)[1][-1]
    (pair / "bob.ipynb").unlink()  # who has left the class is no error
    gradecheck.grade(pair, out, box)


def test_late_costs_a_percentage_that_a_person_gives(tmp_path, box):
    files = dict.fromkeys(["abtanna_LATE_1_5_week.ipynb", "bergbo_2_6_week.ipynb"], HONEST)
    place, out, people = gradecheck.folder(tmp_path / "week", files), tmp_path / "g.csv", tmp_path / "class.csv"
    people.write_text('Student,ID,Section\n"Abt, Anna",1,a\n"Berg, Bo",2,a\n', "utf-8")
    gradecheck.grade(place, out, box, class_list=people)
    assert ["Abt, Anna", "late", "", "", ""] in table(tmp_path / "g" / "to_read.csv")
    assert [row[1] for row in table(out)[1:]] == ["4", "4"]
    gradecheck.grade(place, out, box, class_list=people, manual=given(tmp_path, '"Abt, Anna",late,10,Two days.'))
    assert [row[1] for row in table(out)[1:]] == ["3.6", "4"]
    assert "late, 10 % taken off" in table(out)[1][-1]
    pages = [path.read_text("utf-8") for path in (tmp_path / "g" / "feedback").glob("Abt*.html")]
    assert "10 % of the points are taken off" in pages[0] and "Two days." in pages[0]
    assert ["Abt, Anna", "late", "", "", ""] not in table(tmp_path / "g" / "to_read.csv")


def test_one_student_is_graded_again_and_nobody_else(pair, tmp_path, box):
    out = tmp_path / "g.csv"
    gradecheck.grade(pair, out, box)
    for name in ("anna", "bob"):
        (pair / f"{name}.ipynb").write_bytes(data(IMPORTS, STUB))
    summary, receipts = gradecheck.grade(pair, out, box, only=["anna"])
    assert (summary.graded, receipts["anna"].points, receipts["bob"].points) == (1, 0, 4)
    with pytest.raises(ClassroomError, match="--student: expected one who handed in"):
        gradecheck.grade(pair, out, box, only=["ann"])


def test_who_handed_in_the_same_words_is_told_to_the_teacher_and_blank_ones_are_not(tmp_path, box):
    spaced = HONEST.replace(b"Because.", b"Because.  ")
    blank = data(IMPORTS, STUB)
    files = {"anna": HONEST, "bob": spaced, "cem": blank, "dan": blank, "eva": data(IMPORTS, SOFTMAX, BY_HAND)}
    place = gradecheck.folder(tmp_path / "week", {f"{name}.ipynb": content for name, content in files.items()})
    gradecheck.grade(place, tmp_path / "g.csv", box)
    same = {row[0]: "word for word" in row[-1] for row in table(tmp_path / "g.csv")[1:]}
    assert same == {"anna": True, "bob": True, "cem": False, "dan": False, "eva": False}


# ---------------------------------------------------------------- F6: outputs learned by heart

FEW = {"causal_mask", "identity_weights"}  # one size is all their input; the page names them


def called(checker, rng):
    """What the calls of a grading are known by, before one looks whether they are fair."""
    for case in checker.cases(rng):
        arrays = []
        text = json.dumps(frames.pack_value(tuple(case.args), arrays))
        yield text, *(np.asarray(array).tobytes() for array in arrays)


def test_a_table_of_a_thousand_calls_earns_nothing_in_a_thousand_gradings():
    learned = set()
    for name, checker in check.CHECKS.items():
        table_, draws = set(), 0
        while len(table_) < 1000 and draws < 400:
            table_ |= {*called(checker, np.random.default_rng([1, draws]))}
            draws += 1
        if any({*called(checker, np.random.default_rng([2, i]))} <= table_ for i in range(1000)):
            learned.add(name)
    assert learned == FEW


# ---------------------------------------------------------------- F7, F8: what a student can cost


def test_the_worst_case_is_three_minutes_of_a_core():
    limits = sandbox.Limits()
    assert limits.first().longest() + limits.longest() <= 180


SPENDERS = {
    "sleeps": "import time\nwhile True:\n    try:\n        time.sleep(100)\n    except BaseException:\n        pass",
    "children": "import os\nfor _ in range(20):\n    if os.fork() == 0:\n        while True: pass\nos.wait()",
    "restarts": "import os\nos._exit(0)",
}


@pytest.mark.parametrize("name", SPENDERS)
def test_a_submission_asks_for_no_more_than_its_time_whatever_it_does(box, monkeypatch, name):
    limits = gradecheck.limits(total=2.0, clock=2.0, restarts=20)
    asked, request = [], grading.Session.request

    def listens(self, header, arrays=(), *, seconds, clock):
        if header["do"] != "start":
            asked.append(clock)
        return request(self, header, arrays, seconds=seconds, clock=clock)

    monkeypatch.setattr(grading.Session, "request", listens)
    receipt = one(IMPORTS, *[SPENDERS[name]] * 30, SOFTMAX, box=box, limits=limits)
    assert max(asked) <= limits.total * limits.clock and receipt.results[0].points in (0, 2)
    assert len(asked) <= 2 * (limits.restarts + 1)  # the imports, and the cell that ends it, at each start


@gradecheck.needs_linux
def test_calls_that_reach_into_another_process_are_refused(box):
    source = """import ctypes, platform, resource
call, column = ctypes.CDLL(None, use_errno=True).syscall, platform.machine() == 'aarch64'
for name, numbers in {'kcmp': (312, 272), 'pidfd_getfd': (438, 438), 'pidfd_open': (434, 434)}.items():
    print(name, call(numbers[column], 1, 0, 0, 0, 0), ctypes.get_errno())
for pid in (1, 0):
    try:
        print('limits of', pid, resource.prlimit(pid, resource.RLIMIT_NOFILE)[0] > 0)
    except OSError as error:
        print('limits of', pid, error.errno)"""
    said = gradecheck.printed(one(source, box=box)).strip().splitlines()
    assert said == ["kcmp -1 38", "pidfd_getfd -1 38", "pidfd_open -1 38", "limits of 1 1", "limits of 0 True"]
