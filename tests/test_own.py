"""Numbers of one's own: whoever solved nothing gets nothing, by whatever route the page calls safe."""

import contextlib
import copy
import csv
import dataclasses
import io
import itertools
import json
import re
import shutil
from pathlib import Path

import nbformat
import numpy as np
import pytest

import gradecheck
from test_worksheet import leaks
from toytf import check
from toytf.__main__ import main
from toytf._command import Trouble
from toytf.teach import assign, own, worksheet
from toytf.teach.exercises import read
from toytf.teach.exports.feedback import feedback_zip
from toytf.teach.grade import gradebook, grading
from toytf.teach.grade.grading import BadAssignment, read_assignment
from toytf.teach.own import MARKED
from toytf.teach.worksheet import TOPICS, exercises, pages

KEY = "5b0a0b9f0c6b4f6f9d5e" * 3
TITLE = "Week 5"
ROOT = Path(__file__).resolve().parent.parent
STUDENTS = ["anna", "bob", "Zoë Müller", "o'brien_7"]


# ---------------------------------------------------------------- an assignment, and what one may do with it


def planned(*topics):
    return own.plan([], topics or list(MARKED))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """An assignment of all topics, as the command writes it."""
    place = tmp_path_factory.mktemp("own")
    (place / "class.csv").write_text("\n".join(["student", *STUDENTS]), "utf-8")
    (place / "key.txt").write_text(KEY + "\n", "utf-8")
    command = ["assign", "--topics", "all", "--own-numbers", "--class", place / "class.csv", "--key-file"]
    command += [place / "key.txt", "--title", TITLE, "--out", place / "week"]
    assert main([*map(str, command)]) == 0
    return place


def assignment(folder):
    return read_assignment(folder / "week" / "submissions" / "assignment.json")


def notebook_of(folder, student, edition="students"):
    return json.loads((folder / "week" / edition / f"{student}.ipynb").read_text("utf-8"))


def numbers_of(folder, student, key=KEY):
    return own.Answers(assignment(folder), key)(student)


def source(cell):
    return "".join(cell["source"])


def role(cell):
    return cell["metadata"].get("toytf", {}).get("role")


def filled(notebook, answers):
    """A notebook with these answers typed in: from labels to dictionaries."""
    notebook = copy.deepcopy(notebook)
    for cell in notebook["cells"]:
        label = cell["metadata"].get("toytf", {}).get("exercise")
        if role(cell) == "answer" and label in answers:
            variable = source(cell).partition(" = ")[0]
            cell["source"] = [f"{variable} = {answers[label]!r}"]
    return notebook


def right(folder, student):
    """The right answers, as somebody types them who solved everything."""
    by_label = numbers_of(folder, student).right
    return {label: {part.name: assign.rounded(part) for part in one.parts} for label, one in by_label.items()}


def shaped(folder, student, make):
    """Answers of the right shapes, each number from `make`."""

    def fill(shape):
        return [fill(shape[1:]) for _ in range(shape[0])] if shape else make()

    by_label = numbers_of(folder, student).right
    return {label: {part.name: fill(np.shape(part.expected)) for part in one.parts} for label, one in by_label.items()}


def at_home(notebook):
    """Run a notebook's cells where `toytf` is there; what was printed, and the names that are left."""
    space, printed = {}, io.StringIO()
    with contextlib.redirect_stdout(printed):
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                exec(source(cell), space)
    return printed.getvalue(), space


SEARCH = """
found = {}
try:
    import inspect
    import toytf.teach.own
    from toytf.teach import worksheet
    from toytf.teach.worksheet import sheets
    inspect.getsource(sheets)
    for key in KEYS:
        made = worksheet.sheet(STUDENT, key, list(toytf.teach.own.MARKED), TITLE)
        if made.number == SHEET:
            for exercise in made.exercises:
                found["own-" + exercise.topic] = {a.name: a.values.tolist() for a in exercise.asked}
except ImportError as error:
    print("no toytf:", error)
for label, answers in found.items():
    globals()["answer_" + label.removeprefix("own-").replace("-", "_")] = answers
"""


def searching(folder, student, *keys):
    """A cell that looks for one's own answers in the source of `toytf`, with keys that one might try."""
    notebook = notebook_of(folder, student)
    sheet = notebook["metadata"]["toytf"]["sheet"]
    manifest = json.loads((folder / "week" / "submissions" / "assignment.json").read_text("utf-8"))
    tried = [*keys, student, TITLE, sheet, manifest["belongs"], "key", "secret", "toytf worksheet", "0" * 64]
    return f"KEYS, STUDENT, TITLE, SHEET = {tried!r}, {student!r}, {TITLE!r}, {sheet!r}\n{SEARCH}"


def with_cell(notebook, text):
    cell = {"cell_type": "code", "id": "mine", "metadata": {}, "execution_count": None, "outputs": [], "source": text}
    return notebook | {"cells": [*notebook["cells"], cell]}


def corrected(folder, student):
    """Nonsense first; then whatever numbers the notebook prints about it are typed in."""
    blank = notebook_of(folder, student)
    count = itertools.count(2)
    said, _ = at_home(filled(blank, shaped(folder, student, lambda: next(count) % 7)))
    told = itertools.cycle([float(word) for word in re.findall(r"-?\d+(?:\.\d+)?", said)] or [0.0])
    return filled(blank, shaped(folder, student, lambda: next(told)))


def checks_edited(folder, student):
    whole = filled(notebook_of(folder, student), shaped(folder, student, lambda: 1))
    for cell in whole["cells"]:
        if role(cell) == "check" or cell["id"] == "look":
            cell["source"] = (
                "look = lambda *a: print('right')\nfrom toytf import check\ncheck.points = lambda *a, of=1: of"
            )
    return whole


def labels_edited(folder, student):
    """Every cell says that it is the text of some exercise, and of another one."""
    whole = filled(notebook_of(folder, student), right(folder, "bob"))
    for cell, topic in zip(whole["cells"], itertools.cycle(MARKED), strict=False):
        cell["metadata"]["toytf"] = {"exercise": f"own-{topic}", "role": "answer", "points": 99, "student": "bob"}
    return whole


def renamed(folder, student):
    """One's own notebook with a neighbour's name and answers, which says that it is the neighbour's."""
    whole = filled(notebook_of(folder, student), right(folder, "bob"))
    whole["metadata"] = notebook_of(folder, "bob")["metadata"] | {"student": "bob", "authors": [{"name": "bob"}]}
    whole["metadata"]["toytf"] |= {"student": "bob"}
    return with_cell(whole, 'student = "bob"')


def other_givens(folder, student):
    """One's own notebook, in which all that is given has become 0, and so the answers."""
    whole = filled(notebook_of(folder, student), shaped(folder, student, lambda: 0))
    for cell in whole["cells"]:
        if role(cell) == "text":
            cell["source"] = re.sub(r"(?<=\| )[−\d.$\\ln ]+(?= \|)", "0", source(cell))
    return whole


ROUTES = {
    "nonsense, then the correction": corrected,
    "a neighbour's answers": lambda folder, s: filled(notebook_of(folder, s), right(folder, "bob")),
    "a neighbour's whole notebook": lambda folder, s: filled(notebook_of(folder, "bob"), right(folder, "bob")),
    "toytf's source": lambda folder, s: with_cell(notebook_of(folder, s), searching(folder, s)),
    "the check cells edited": checks_edited,
    "labels edited": labels_edited,
    "a neighbour's name in the metadata": renamed,
    "the givens changed": other_givens,
    "zeros": lambda folder, s: filled(notebook_of(folder, s), shaped(folder, s, lambda: 0)),
    "ones": lambda folder, s: filled(notebook_of(folder, s), shaped(folder, s, lambda: 1)),
    "lists of everything": lambda folder, s: filled(
        notebook_of(folder, s), {f"own-{topic}": {"A": [[[0, 1]] * 9] * 9} for topic in MARKED}
    ),
    "blank": notebook_of,
}


def grade(folder, place, files, key=KEY, **how):
    """Grade these notebooks, from students to JSON or bytes; the receipts by student."""
    place.mkdir(exist_ok=True)
    submissions = place / "submissions"
    submissions.mkdir(exist_ok=True)
    for student, content in files.items():
        path = submissions / (student if student.endswith(".ipynb") else f"{student}.ipynb")
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    how = {"limits": gradecheck.SMALL, "jobs": 2} | how
    task = how.pop("task", None) or assignment(folder)
    box = gradecheck.sandbox_or_skip()
    summary = gradebook.grade_folder(submissions, place / "g.csv", task, box, numbers=own.Answers(task, key), **how)
    assert not summary.failed
    return summary, gradecheck.receipts(place / "g.csv")


@pytest.fixture(scope="module")
def graded(folder, tmp_path_factory):
    """Everybody has a route of their own, under a name of their own; two are honest."""
    files = {f"route {i}": make(folder, f"route {i}") for i, make in enumerate(made_for(folder).values())}
    files |= {name: filled(notebook_of(folder, name), right(folder, name)) for name in ("anna", "bob")}
    return tmp_path_factory.mktemp("graded"), grade(folder, tmp_path_factory.mktemp("routes"), files)


def made_for(folder):
    """The routes; their students' notebooks are written first."""
    sheets = [own.sheet_of(f"route {i}", KEY, TITLE, list(MARKED)) for i in range(len(ROUTES))]
    written = assign.own_files(planned(), TITLE, sheets, own.belongs(KEY, TITLE, list(MARKED)))
    assign.write({folder / "week": {k: v for k, v in written.items() if "assignment" not in k}}, force=True)
    return ROUTES


# ---------------------------------------------------------------- nothing for who solved nothing


def test_who_solved_everything_has_all_points(graded):
    _, (_, receipts) = graded
    for student in ("anna", "bob"):
        assert {r.number: r.points for r in receipts[student].results} == {
            r.number: r.out_of for r in receipts[student].results
        }


@pytest.mark.parametrize("route", ROUTES)
def test_no_route_gives_a_point_to_somebody_who_solved_nothing(graded, route):
    _, (_, receipts) = graded
    receipt = receipts[f"route {[*ROUTES].index(route)}"]
    assert receipt.reason == ""
    paid = {r.number: (r.points, r.headline) for r in receipt.results if r.points}
    assert not paid


def test_a_neighbours_whole_notebook_is_remarked_on_and_so_is_a_label_of_one(graded):
    _, (_, receipts) = graded
    carries = {name: receipts[f"route {i}"].own for i, name in enumerate(ROUTES)}
    bobs = receipts["bob"].own["sheet"]
    for name, about in carries.items():
        foreign = name in ("a neighbour's whole notebook", "a neighbour's name in the metadata")
        assert (about["carried"] == bobs) == foreign
        if not foreign:
            assert about["carried"] == about["sheet"]


def test_the_remark_names_whose_notebook_it_says_it_is_to_the_teacher_and_not_to_the_student(folder, tmp_path):
    files = {"anna": notebook_of(folder, "bob"), "bob": notebook_of(folder, "bob"), "eve": notebook_of(folder, "anna")}
    odd = notebook_of(folder, "anna")
    odd["metadata"]["toytf"]["sheet"] = "000-000-000"
    grade(folder, tmp_path, files | {"olu": odd})
    rows = {row["student"]: row["remark"] for row in csv.DictReader((tmp_path / "g.csv").open(encoding="utf-8"))}
    bobs, annas = (numbers_of(folder, name).sheet for name in ("bob", "anna"))
    assert rows["anna"] == f"the notebook says that it is sheet {bobs}, of bob"
    assert rows["eve"] == f"the notebook says that it is sheet {annas}, of anna"
    assert rows["olu"] == "the notebook says that it is sheet 000-000-000, of nobody here"
    assert rows["bob"] == ""
    page = (tmp_path / "g" / "feedback" / "anna.html").read_text("utf-8")
    assert f"This notebook says that it is sheet {bobs}." in page
    assert "bob" not in page
    assert "of bob" in (tmp_path / "g" / "feedback" / "index.html").read_text("utf-8")


# ---------------------------------------------------------------- each protection away, and the route pays


def pays(folder, place, student, content):
    _, receipts = grade(folder, place, {student: content})
    return receipts[student].points


def test_with_the_same_numbers_for_everybody_a_neighbours_answers_pay(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(own, "person", lambda student: "everybody")
    assert pays(folder, tmp_path, "anna", ROUTES["a neighbour's answers"](folder, "anna")) == assignment(folder).points


def test_with_the_student_read_from_the_notebook_a_neighbours_notebook_pays(folder, tmp_path, monkeypatch):
    bobs = own.Answers(assignment(folder), KEY)("bob")
    monkeypatch.setattr(own.Answers, "__call__", lambda self, student: bobs)
    assert (
        pays(folder, tmp_path, "anna", ROUTES["a neighbour's whole notebook"](folder, "anna"))
        == assignment(folder).points
    )


def test_without_company_a_neighbours_mask_pays(folder, tmp_path, monkeypatch):
    stolen = ROUTES["a neighbour's answers"](folder, "anna")
    _, receipts = grade(folder, tmp_path / "with", {"anna": stolen})
    assert receipts["anna"].points == 0
    mask = next(r for r in receipts["anna"].results if r.number == "causal-mask")
    assert "causal-mask, M: right." in mask.details
    assert "M counts when A is right too." in mask.details
    monkeypatch.setattr(grading._Run, "_alone", lambda self, exercise, right: [])
    assert pays(folder, tmp_path / "without", "anna", stolen) > 0


def test_with_the_key_the_source_of_toytf_has_the_answers_and_without_it_none(folder):
    name = "anna"
    for keys, found in (((), 0), ((KEY,), len(MARKED))):
        space = {}
        exec(searching(folder, name, *keys), space)
        assert len(space["found"]) == found
    assert space["found"]["own-layer-norm"] == right(folder, name)["own-layer-norm"]


def test_where_checks_show_the_sum_the_correction_is_there_to_copy(folder, monkeypatch):
    """What the notebook would give away if its check cell knew."""
    sheet = own.sheet_of("anna", KEY, TITLE, list(MARKED))
    text = json.dumps(corrected(folder, "anna"))
    assert not leaks(text, sheet)
    told = pages.LOOK.replace('        print(f"{number}, {name}: {said}")', "        print(RIGHT[number][name])")
    values = {e.topic: {a.name: a.values.ravel().tolist() for a in e.asked} for e in sheet.exercises}
    planted = notebook_of(folder, "anna")
    for cell in planted["cells"]:
        if cell["id"] == "look":
            assert told != pages.LOOK
            cell["source"] = f"RIGHT = {values!r}\n{told}"
    said, _ = at_home(planted)
    assert leaks(said, sheet)


# ---------------------------------------------------------------- what is one's own, and how much of it


def joint(sheets, topic, name):
    """How often two students agree in an answer and in those that it counts with."""
    of = [s.exercises[list(MARKED).index(topic)] for s in sheets]
    asked = {a.name: a for a in of[0].asked}[name]
    together = [name, *asked.only_with]
    seen = [str([a.values.tolist() for a in e.asked if a.name in together]) for e in of]
    return sum(seen.count(one) - 1 for one in seen) / (len(seen) * (len(seen) - 1))


@pytest.fixture(scope="module")
def many():
    return [own.sheet_of(f"student {i}", KEY, TITLE, list(MARKED)) for i in range(300)]


PARTS = [(e.topic, a.name) for e in worksheet.sheet("x", KEY, list(MARKED)).exercises for a in e.asked]


@pytest.mark.parametrize(("topic", "name"), PARTS)
def test_two_students_hardly_ever_agree_in_an_answer_that_earns_points(many, topic, name):
    assert joint(many, topic, name) < 1 / 50


def test_an_answer_that_many_share_would_be_noticed(many):
    shares = {}
    for topic, name in PARTS:
        of = [s.exercises[list(MARKED).index(topic)] for s in many]
        seen = [str([a.values.tolist() for a in e.asked if a.name == name]) for e in of]
        if sum(seen.count(one) - 1 for one in seen) / (len(seen) * (len(seen) - 1)) >= 1 / 50:
            shares[topic, name] = next(a for a in of[0].asked if a.name == name).only_with
    assert len(shares) > 5
    assert all(shares.values())
    assert shares["causal-mask", "M"] == ("A",)


def together(sheets, topic):
    """In how many pairs of students all answers of an exercise are the same."""
    number = [e.topic for e in sheets[0].exercises].index(topic)
    seen = [str([a.values.tolist() for a in sheet.exercises[number].asked]) for sheet in sheets]
    return sum(seen.count(one) - 1 for one in seen) // 2


@pytest.mark.parametrize("topic", MARKED)
def test_of_three_hundred_students_no_two_have_all_answers_in_common(many, topic):
    assert together(many, topic) == 0


@pytest.mark.parametrize("topic", ["cross-entropy", "greedy"])
def test_a_topic_with_few_answers_is_for_sheets_alone(topic):
    assert topic in set(TOPICS) - set(MARKED)
    sheets = [worksheet.sheet(f"student {i}", KEY, [topic]) for i in range(300)]
    assert together(sheets, topic) > 0
    with pytest.raises(ValueError, match=f"got '{topic}', which has too few different answers to be anybody's own"):
        own.plan([], [topic])


def test_answers_of_a_hundred_neighbours_are_worth_nothing_worth_mentioning(many):
    """Each types all answers of the next one, who has everything right."""
    counted = total = 0
    for mine, theirs in itertools.pairwise(many[:101]):
        for drawn, other in zip(mine.exercises, theirs.exercises, strict=True):
            by_hand = worksheet.sheets.by_hand(drawn, drawn.topic)
            good = {a.name for a in other.asked if by_hand.reports(a.values, part=a.name)[0].right}
            counted += sum(a.name in good and good >= set(a.only_with) for a in drawn.asked)
            total += len(drawn.asked)
    assert counted / total < 0.003


def test_a_topic_stands_for_by_hand_exercises_of_the_book_and_no_two_for_the_same():
    numbers = [number for topic in TOPICS.values() for number in topic.instead_of]
    assert len(set(numbers)) == len(numbers) >= 10
    assert set(numbers) <= set(check.BY_HAND)
    for topic in TOPICS.values():
        assert all(int(number.split(".")[0]) >= topic.chapter for number in topic.instead_of)


def test_a_step_counts_with_others_of_its_own_exercise():
    for exercise in worksheet.sheet("x", KEY, list(MARKED)).exercises:
        names = [asked.name for asked in exercise.asked]
        for asked in exercise.asked:
            assert set(asked.only_with) <= set(names) - {asked.name}


# ---------------------------------------------------------------- the notebooks


def test_a_students_notebook_holds_no_answer_and_no_key(folder):
    for student in STUDENTS:
        sheet = own.sheet_of(student, KEY, TITLE, list(MARKED))
        text = (folder / "week" / "students" / f"{student}.ipynb").read_text("utf-8")
        assert not leaks(text, sheet)
        assert KEY not in text
        assert "SOLUTION" not in text
        for cell in json.loads(text)["cells"]:
            assert not cell.get("outputs")


def test_the_same_search_finds_the_answers_in_the_instructors(folder):
    sheet = own.sheet_of("anna", KEY, TITLE, list(MARKED))
    text = (folder / "week" / "instructor" / "anna.ipynb").read_text("utf-8")
    found = leaks("\n".join(source(cell) for cell in json.loads(text)["cells"]), sheet)
    assert {e.topic for e in sheet.exercises} <= {name.split()[0] for name in found}
    assert KEY not in text


def test_the_assignment_holds_no_answer_and_no_key(folder):
    text = (folder / "week" / "submissions" / "assignment.json").read_text("utf-8")
    assert KEY not in text
    entries = json.loads(text)["exercises"]
    assert [set(entry) for entry in entries] == [
        {"label", "number", "title", "kind", "name", "points", "topic", "parts"}
    ] * len(MARKED)
    assert entries[0]["parts"] == ["ids", "E"]
    assert not re.search(r"\d\.\d|-\d", re.sub(r"own-|belongs.*", "", text))


def test_both_editions_are_notebooks_and_the_instructors_answers_are_right(folder):
    for edition in ("students", "instructor"):
        nbformat.validate(nbformat.from_dict(notebook_of(folder, "anna", edition)))
    _, space = at_home(notebook_of(folder, "anna", "instructor"))
    for label, one in numbers_of(folder, "anna").right.items():
        answer = space[f"answer_{label.removeprefix('own-').replace('-', '_')}"]
        assert all(one.reports(answer)), label


def test_what_is_given_and_asked_stands_in_the_notebook_as_on_the_sheet(folder):
    sheet = own.sheet_of("anna", KEY, TITLE, list(MARKED))
    cells = {cell["id"]: source(cell) for cell in notebook_of(folder, "anna")["cells"]}
    for exercise in sheet.exercises:
        assert pages.markdown(exercise) in cells[f"own-{exercise.topic}-text"]
    assert f"Student anna, sheet {sheet.number}." in cells["title"]


def test_a_name_is_shown_letter_by_letter(folder):
    title = source(notebook_of(folder, "o'brien_7")["cells"][0])
    assert "o&#39;brien&#95;7" in title


def test_the_check_says_what_is_missing_or_cannot_be_read_and_nothing_else(folder, capsys):
    space = {}
    exec(pages.LOOK, space)
    look = space["look"]
    for answer, said in [
        (
            {"mean": [None, None], "Y": None},
            "9.1, mean: 2 of 2 numbers still missing\n9.1, Y: not answered yet, 2 rows of 5",
        ),
        ({"mean": [3, None]}, "9.1, mean: 1 of 2 numbers still missing"),
        ({"mean": (3, 4.5)}, "9.1, mean: filled in"),
        ({"mean": np.array([3.0, 4.0])}, "9.1, mean: filled in"),
        ({"mean": [3, "4,5"]}, "9.1, mean: could not read '4,5': write a number, with a point before its decimals"),
        ({"mean": [3, float("nan")]}, "could not read nan"),
        ({"mean": [3, True]}, "could not read True"),
        ({"mean": 3}, "9.1, mean: expected 2 numbers, got 3"),
        ({"mean": [3, 4, 5]}, "9.1, mean: expected 2 numbers, got [3, 4, 5]"),
        ({"mean": []}, "9.1, mean: expected 2 numbers, got []"),
        ({"Y": [[1, 2, 3, 4, 5]] * 2}, "9.1, Y: filled in"),
        ({"Y": [[1, 2, 3, 4, 5], [1]]}, "9.1, Y: expected 2 rows of 5 numbers, got [[1, 2, 3, 4, 5], [1]]"),
        ({"Y": [1, [2]]}, "9.1, Y: expected 2 rows of 5 numbers, got [1, [2]]"),
        ({"meen": 3}, "9.1: 'meen' is none of mean, Y"),
        (3, "9.1: expected a dictionary with mean, Y; got 3"),
    ]:
        look("9.1", answer, {"mean": [2], "Y": [2, 5]})
        assert said in capsys.readouterr().out
    look("9.1", {"root": 3}, {"root": []})
    assert capsys.readouterr().out == "9.1, root: filled in\n"
    said = [at_home(filled(notebook_of(folder, "anna"), answers))[0] for answers in (
        right(folder, "anna"), right(folder, "bob"), shaped(folder, "anna", lambda: 0)
    )]  # fmt: skip
    assert said[0] == said[1] == said[2]  # right or wrong, it says the same


def test_the_same_command_writes_the_same_bytes_and_another_key_title_or_student_other_numbers():
    def texts(student, key, title):
        sheet = own.sheet_of(student, key, title, list(MARKED))
        return assign.own_files(planned(), title, [sheet], own.belongs(key, title, list(MARKED)))

    first = texts("anna", KEY, TITLE)
    assert first == texts(" anna ", KEY, TITLE)
    for other in (texts("bob", KEY, TITLE), texts("anna", KEY + "x", TITLE), texts("anna", KEY, "Week 6")):
        (mine,), (theirs,) = ([v for k, v in files.items() if k.startswith("students")] for files in (first, other))
        for a, b in zip(json.loads(mine)["cells"], json.loads(theirs)["cells"], strict=True):
            assert (source(a) == source(b)) == (role(a) != "text" and a["id"] != "title")


# ---------------------------------------------------------------- which exercises


def chosen(*numbers):
    return assign.select(read(ROOT / "notebooks"), list(numbers))


def test_an_exercise_is_replaced_where_it_stands_with_its_number_and_points():
    plan = own.plan(chosen("9.1", "8.8", "9.2", "15.1"), ["product"])
    assert [(one.number, one.kind, one.points) for one in plan] == [
        ("9.1", "own numbers", 1), ("8.8", "function", 2), ("9.2", "text", 1), ("15.1", "own numbers", 1),
        ("product", "own numbers", 1),
    ]  # fmt: skip
    assert [one.topic for one in plan if one.kind == "own numbers"] == ["layer-norm", "gradient", "product"]


def test_an_exercise_without_a_topic_is_named_and_stays_only_if_one_says_so():
    with pytest.raises(ValueError, match=r"got 9.5, 10.1. Leave them out, or say --same-for-all"):
        own.plan(chosen("9.1", "9.5", "10.1"))
    kept = own.plan(chosen("9.1", "9.5", "10.1"), same_for_all=True)
    assert [one.kind for one in kept] == ["own numbers", "by hand", "by hand"]


@pytest.mark.parametrize(
    ("numbers", "topics", "says"),
    [
        (["9.1", "9.3"], [], "expected each topic once, got 9.1 and 9.3, which are both layer-norm"),
        (["9.1"], ["layer-norm"], "got 9.1 and layer-norm, which are both layer-norm"),
        ([], ["product", "product"], "--topics: expected each topic once, got product product"),
        (["8.8", "9.2"], [], "or --topics, got none"),
        (["9.1"], ["sums"], "--topics: expected some of embedding"),
    ],
)
def test_a_choice_that_cannot_be_is_refused(numbers, topics, says):
    with pytest.raises(ValueError, match=says):
        own.plan(chosen(*numbers) if numbers else [], topics)


def test_exercises_of_every_kind_go_together_and_are_graded_together(tmp_path):
    (tmp_path / "class.csv").write_text("student\nanna\nbob\n", "utf-8")
    (tmp_path / "key.txt").write_text(KEY, "utf-8")
    words = ["assign", "--exercises", "9.1", "8.8", "9.5", "9.2", "--topics", "weighted-sum", "--same-for-all"]
    words += ["--own-numbers", "--class", tmp_path / "class.csv", "--key-file", tmp_path / "key.txt"]
    assert main([*map(str, [*words, "--title", TITLE, "--out", tmp_path / "week"])]) == 0
    for name in ("anna", "bob"):
        shutil.copy(tmp_path / "week" / "instructor" / f"{name}.ipynb", tmp_path / "week" / "submissions")
    gradecheck.sandbox_or_skip()
    arguments = ["grade", tmp_path / "week" / "submissions", "--key-file", tmp_path / "key.txt"]
    (tmp_path / "points.csv").write_text(
        "student,exercise,points,comment\nbob,weighted-sum,0.5,late\nanna,9.2,1,\nbob,9.2,0,\n", "utf-8"
    )
    arguments += ["--out", tmp_path / "g.csv", "--manual", tmp_path / "points.csv"]
    assert main([*map(str, arguments)]) == 0
    rows = list(csv.reader((tmp_path / "g.csv").open(encoding="utf-8")))
    assert rows == [
        ["student", "points", "out of", "9.1", "8.8", "9.5", "9.2", "weighted-sum", "remark"],
        ["anna", "7", "7", "1", "2", "2", "1", "1", ""],
        ["bob", "5.5", "7", "1", "2", "2", "0", "0.5", ""],
    ]
    archive, without = feedback_zip(tmp_path / "g.csv")
    assert (len(archive) > 0, without) == (True, [])


# ---------------------------------------------------------------- by key


def run(*words):
    return main([str(word) for word in words])


def test_without_the_key_or_with_another_one_nothing_is_graded(folder, tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("TOYTF_KEY", raising=False)
    command = ["grade", folder / "week" / "submissions", "--out", tmp_path / "g.csv"]
    for words, says in [
        ([], "weighted-sum, attention, causal-mask"),
        ([], "the numbers are each student's own; expected a key: --key-file FILE, the variable TOYTF_KEY"),
        (["--key", KEY + "x"], "the key: expected the one with which this assignment was made, got another one"),
        (["--key-file", tmp_path / "none"], "--key-file: expected a file that holds the key, got No such file"),
    ]:
        assert run(*command, *words) == 2
        assert says in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"title": "Week 6"}, "expected the one with which this assignment was made"),
        ({"belongs": "0" * 16}, "expected the one with which this assignment was made"),
        ({"belongs": None}, "assignment: belongs: expected text, got None"),
    ],
)
def test_an_assignment_that_was_changed_is_refused(folder, change, says):
    whole = json.loads((folder / "week" / "submissions" / "assignment.json").read_text("utf-8")) | change
    with pytest.raises((Trouble, BadAssignment), match=says):
        own.Answers(read_assignment(json.dumps(whole).encode()), KEY)


@pytest.mark.parametrize(
    ("change", "says"), [({"topic": ""}, r"exercises\[0\]: topic: expected a topic"), ({"topic": 3}, "topic: expected")]
)
def test_an_entry_without_its_topic_is_refused(folder, change, says):
    whole = json.loads((folder / "week" / "submissions" / "assignment.json").read_text("utf-8"))
    whole["exercises"][0] |= change
    with pytest.raises(BadAssignment, match=says):
        read_assignment(json.dumps(whole).encode())
    whole["exercises"][0]["topic"] = "sums"
    with pytest.raises(Trouble, match="embedding: expected a topic of this version of toytf, got 'sums'"):
        own.Answers(read_assignment(json.dumps(whole).encode()), KEY)


def test_one_notebook_alone_is_not_graded_without_its_numbers(folder):
    with pytest.raises(BadAssignment, match="expected the student's own numbers, which follow from the key; got none"):
        grading.grade_one(b"{}", assignment(folder), sandbox=None)


def test_an_assignment_with_the_same_numbers_for_all_needs_no_key_and_is_read_as_before():
    task = read_assignment(gradecheck.ASSIGNMENT)
    assert (task.own, task.belongs) == ([], "")
    receipt = grading.nothing_to_grade("anna", task, "none")
    assert receipt.own == {}
    old = json.loads(receipt.to_json())
    del old["own"]  # as it was written before there were such numbers
    assert grading.Receipt.from_json(json.dumps(old).encode()) == receipt


def test_what_was_graded_is_graded_again_when_the_answers_changed_and_not_else(folder, tmp_path, monkeypatch):
    files = {"anna": filled(notebook_of(folder, "anna"), right(folder, "anna"))}
    assert grade(folder, tmp_path, files)[0].graded == 1
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file() and path.name != ".lock"}
    assert (grade(folder, tmp_path, files)[0].graded, grade(folder, tmp_path, files)[0].reused) == (0, 1)
    assert {path: path.read_bytes() for path in before} == before
    draw = TOPICS["residual"].draw

    def other(rng):
        text, given, asked = draw(rng)
        return text, given, tuple(dataclasses.replace(a, decimals=3) for a in asked)

    monkeypatch.setitem(TOPICS, "residual", dataclasses.replace(TOPICS["residual"], draw=other))
    assert grade(folder, tmp_path, files)[0].graded == 1


def test_a_receipt_tells_nothing_of_the_answers_to_who_has_not_the_key(folder, graded):
    _, (_, receipts) = graded
    seals = [receipt.own["sealed"] for receipt in receipts.values()]
    assert len(set(seals)) == len(seals)
    assert numbers_of(folder, "anna").sealed == receipts["anna"].own["sealed"]
    assert numbers_of(folder, "anna", KEY).sealed != worksheet.sheets.sealed(KEY, "")
    assert worksheet.sheets.sealed(KEY, "text") != worksheet.sheets.sealed(KEY + "x", "text")


def test_a_correction_is_worth_all_points_at_a_second_try_and_none_under_another_title(folder, tmp_path):
    """What the page says of feedback: it shows the sums."""
    nonsense = filled(notebook_of(folder, "anna"), shaped(folder, "anna", lambda: 1))
    _, receipts = grade(folder, tmp_path / "first", {"anna": nonsense})
    page = (tmp_path / "first" / "g" / "feedback" / "anna.html").read_text("utf-8")
    sheet = own.sheet_of("anna", KEY, TITLE, ["product"])
    assert sheet.exercises[0].asked[0].terms((0, 0)).split(" = ")[-1] in page
    again = filled(notebook_of(folder, "anna"), right(folder, "anna"))  # typed from the page
    assert pays(folder, tmp_path / "second", "anna", again) == receipts["anna"].points + assignment(folder).points
    topics = list(MARKED)
    files = assign.own_files(
        planned(), "Week 5, again", [own.sheet_of("anna", KEY, "Week 5, again", topics)],
        own.belongs(KEY, "Week 5, again", topics),
    )  # fmt: skip
    task = read_assignment(files["submissions/assignment.json"].encode())
    _, receipts = grade(folder, tmp_path / "third", {"anna": again}, task=task)
    assert receipts["anna"].points == 0


# ---------------------------------------------------------------- feedback


def test_the_page_shows_the_students_own_numbers_and_the_sum(folder, tmp_path):
    grade(folder, tmp_path, {"anna": filled(notebook_of(folder, "anna"), shaped(folder, "anna", lambda: 1))})
    page = (tmp_path / "g" / "feedback" / "anna.html").read_text("utf-8").replace("&#39;", "'").replace("&lt;", "<")
    page = page.replace("&gt;", ">")
    sheet = own.sheet_of("anna", KEY, TITLE, list(MARKED))
    for exercise in sheet.exercises:
        for table in pages.tables(exercise):
            assert table in page
    product = sheet.exercises[list(MARKED).index("product")].asked[0]
    wrong = [place for place in np.ndindex(product.shape) if product.expected[place] != 1]
    assert product.terms(wrong[0]) in page


def test_nothing_typed_is_not_answered_and_shows_no_sum(graded):
    _, (_, receipts) = graded
    blank = receipts[f"route {[*ROUTES].index('blank')}"]
    for result in blank.results:
        said = [line for line in result.details if line.startswith(f"{result.number}, ")]
        assert said
        assert all(line.endswith(": not answered yet.") for line in said)


# ---------------------------------------------------------------- names


def test_a_folder_of_moodles_and_blanks_and_spellings_are_the_same_student(folder, tmp_path):
    hers = filled(notebook_of(folder, "Zoë Müller"), right(folder, "Zoë Müller"))
    moodle = "Zoë Müller_1002_assignsubmission_file_"
    annas = filled(notebook_of(folder, "anna"), right(folder, "anna"))
    _, receipts = grade(folder, tmp_path, {f"{moodle}/Week 5.ipynb": hers, " anna ": annas})
    assert {receipt.points for receipt in receipts.values()} == {assignment(folder).points}
    assert set(receipts) == {moodle, " anna "}
    decomposed = "Zoe\u0308 Mu\u0308ller"
    assert numbers_of(folder, decomposed).sheet == numbers_of(folder, "Zoë Müller").sheet


def test_who_is_not_in_the_class_list_gets_the_numbers_of_that_name_and_is_named(folder, tmp_path):
    (tmp_path / "class.csv").write_text("student\nanna\n", "utf-8")
    files = {"eve": filled(notebook_of(folder, "anna"), right(folder, "eve"))}
    summary, receipts = grade(folder, tmp_path, files, class_list=tmp_path / "class.csv")
    assert receipts["eve"].points == assignment(folder).points
    assert summary.notes == [
        "eve: handed in, but is not in the class list. The numbers that belong to this name were taken."
    ]


@pytest.mark.parametrize("name", ["y" * 101, "a\u202eb"])
def test_a_name_that_no_sheet_can_have_gets_no_points_and_a_reason(folder, tmp_path, name):
    whole = filled(notebook_of(folder, "anna"), right(folder, "anna"))
    _, receipts = grade(folder, tmp_path, {name: whole, "anna": whole})
    assert receipts[name].points == 0
    assert "no numbers belong to this name. student: expected" in receipts[name].results[0].headline
    assert receipts["anna"].points == assignment(folder).points


@pytest.mark.parametrize(
    ("names", "says"),
    [
        (["anna", "2026/17"], "class.csv, line 3: student: expected a name that a file can have, got '2026/17'"),
        ([".anna"], "line 2: student: expected a name that a file can have, got '.anna'"),
        (["Anna", "anna"], "expected names that differ in more than capital letters"),
        (["Anna Abt", "Anna Abt_12_assignsubmission_file"], "and what Moodle adds, got 'Anna Abt' and"),
        (["anna", "anna"], "line 3: expected each student once"),
    ],
)
def test_a_class_whose_names_cannot_be_those_of_files_is_refused(tmp_path, capsys, names, says):
    (tmp_path / "class.csv").write_text("\n".join(["student", *names]), "utf-8")
    words = ["--topics", "product", "--own-numbers", "--class", tmp_path / "class.csv", "--key", KEY]
    assert run("assign", *words, "--out", tmp_path / "week") == 2
    assert says in capsys.readouterr().err
    assert not (tmp_path / "week").exists()


# ---------------------------------------------------------------- the commands


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--exercises", "9.1", "--class", "class.csv"], "--class: expected it with --own-numbers, got it without"),
        (["--exercises", "9.1", "--topics", "product"], "--topics: expected it with --own-numbers"),
        (["--exercises", "9.1", "--same-for-all"], "--same-for-all: expected it with --own-numbers"),
        (["--exercises", "9.1", "--key", KEY], "--key: expected it with --own-numbers"),
        (["--exercises", "9.1", "--own-numbers", "--key", KEY], "expected a class list (--class FILE) with it"),
        (["--exercises", "9.1", "--own-numbers", "--class", "class.csv"], "expected a key: --key-file FILE"),
        (["--chapters", "9", "--own-numbers", "--class", "class.csv", "--apart"], "--apart: expected one assignment"),
        (
            ["--exercises", "9.1", "--own-numbers", "--class", "class.csv", "--gradescope", "a.zip"],
            "--gradescope: expected an assignment with the same numbers for everybody, got --own-numbers. The key",
        ),
        (
            ["--exercises", "9.1", "--own-numbers", "--class", "class.csv", "--classroom", "t"],
            "--classroom: expected an assignment with the same numbers",
        ),
    ],
)
def test_what_does_not_go_together_is_refused_and_nothing_written(tmp_path, capsys, monkeypatch, words, says):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TOYTF_KEY", raising=False)
    (tmp_path / "class.csv").write_text("student\nanna\n", "utf-8")
    assert run("assign", *words, "--out", tmp_path / "week") == 2
    assert says in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["class.csv"]


def test_the_list_shows_what_takes_whose_place(capsys):
    assert run("assign", "--exercises", "9.1", "8.8", "--own-numbers", "--topics", "attention", "--list") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "9.1   Two rows, normalised (own numbers, level 1, 10 min, 1 point, graded by the checker)"
    assert lines[2].startswith("attention One head, whole (own numbers, level 3, 25 min, 3 points")


def test_a_late_student_is_added_with_the_same_numbers_for_the_others(folder, tmp_path):
    for names in (["anna"], ["anna", "bob"]):
        (tmp_path / "class.csv").write_text("\n".join(["student", *names]), "utf-8")
        words = ["--topics", "all", "--own-numbers", "--class", tmp_path / "class.csv", "--key", KEY, "--title", TITLE]
        assert run("assign", *words, "--out", tmp_path / "week", "--force") == 0
    for name in ("anna", "bob"):
        assert (tmp_path / "week" / "students" / f"{name}.ipynb").read_bytes() == (
            folder / "week" / "students" / f"{name}.ipynb"
        ).read_bytes()


def test_a_made_up_class_answers_with_its_own_numbers_and_who_copies_gets_nothing(tmp_path, capsys):
    names = [f"s{i:02}" for i in range(30)]
    (tmp_path / "class.csv").write_text("\n".join(["student", *names]), "utf-8")
    words = ["--topics", "product", "layer-norm", "--own-numbers", "--class", tmp_path / "class.csv", "--key", KEY]
    assert run("assign", *words, "--out", tmp_path / "week") == 0
    assert run("rehearse", tmp_path / "week", "--out", tmp_path / "trial") == 2
    assert "expected a key" in capsys.readouterr().err
    assert run("rehearse", tmp_path / "week", "--out", tmp_path / "trial", "--key", KEY) == 0
    assert (tmp_path / "trial" / "class.csv").read_text("utf-8").split() == ["student", *names]
    shutil.copytree(tmp_path / "trial" / "handed-in", tmp_path / "week" / "submissions", dirs_exist_ok=True)
    task = read_assignment(tmp_path / "week" / "submissions" / "assignment.json")
    how = {"limits": gradecheck.limits(total=4.0), "jobs": 2, "class_list": tmp_path / "class.csv"}
    box = gradecheck.sandbox_or_skip()
    gradebook.grade_folder(
        tmp_path / "week" / "submissions", tmp_path / "g.csv", task, box, numbers=own.Answers(task, KEY), **how
    )
    receipts = gradecheck.receipts(tmp_path / "g.csv")
    points = [receipt.points for receipt in receipts.values()]
    assert len(points) == 30
    assert points.count(task.points) >= 7
    assert any(0 < p < task.points for p in points)
    (copied,) = [r for r in receipts.values() if r.own and r.own["carried"] not in ("", r.own["sheet"])]
    assert copied.points == 0
    order = [names[i] for i in np.random.default_rng(0).permutation(30)]
    assert receipts[order[24]].points == 0  # typed a neighbour's answers
    assert receipts[order[24]].own["carried"] == receipts[order[24]].own["sheet"]


def test_a_small_made_up_class_has_some_of_each(tmp_path):
    names = ["anna", "bob", "cem"]
    sheets = [own.sheet_of(name, KEY, TITLE, ["product"]) for name in names]
    files = assign.own_files(planned("product"), TITLE, sheets, own.belongs(KEY, TITLE, ["product"]))
    assign.write({tmp_path / "week": files})
    assert run("rehearse", tmp_path / "week", "--out", tmp_path, "--key", KEY) == 0
    texts = [path.read_text("utf-8") for path in (tmp_path / "handed-in").rglob("*.ipynb")]
    assert len(texts) == 3
    assert len(set(texts)) == 3
    shutil.rmtree(tmp_path / "week" / "students")
    assert run("rehearse", tmp_path / "week", "--out", tmp_path, "--key", KEY, "--force") == 2


def test_the_rule_for_a_sheet_holds_for_the_topics_that_stand_in(many):
    """Numbers fit for a pencil, here too."""
    for sheet in many[:20]:
        assert [exercises.complaints(exercise) for exercise in sheet.exercises] == [[]] * len(MARKED)
