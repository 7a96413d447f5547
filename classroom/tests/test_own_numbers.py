"""Numbers of one's own: right, fit for a pencil, none handed out, and nothing for whoever solved nothing."""

import contextlib
import copy
import csv
import io
import itertools
import json
import math
import re
from collections import Counter

import numpy as np
import pytest

import gradecheck
from toytf import byhand
from toytf.course.exercises import read
from toytf_classroom import ClassroomError, assign, gradebook, grading, own_numbers, sheet
from toytf_classroom.__main__ import main
from toytf_classroom.drawn import DIVISORS, Asked, Exercise, Given, complaints
from toytf_classroom.grading import BadAssignment, read_assignment
from toytf_classroom.own_numbers import LOOK, RightAnswers
from toytf_classroom.topics import TOPICS

KEY = "5b0a0b9f0c6b4f6f9d5e" * 3
TITLE = "Week 5"
STUDENTS = ["anna", "bob", "Zoë Müller", "o'brien_7"]
ALL, MANY = list(TOPICS), 300
topics = pytest.mark.parametrize("topic", ALL)


# ---------------------------------------------------------------- whose numbers


@pytest.fixture(scope="module")
def many():
    """The sheets of three hundred students, with every topic."""
    return [own_numbers.sheet(f"student {i}", KEY, ALL, TITLE) for i in range(MANY)]


def by_topic(sheets, topic):
    return [one.exercises[ALL.index(topic)] for one in sheets]


def test_the_same_sheet_comes_out_on_every_machine():
    made = own_numbers.sheet("anna", "a secret of the teacher", ALL, "Worksheet")
    assert made.number == "278-453-025"  # a hash of all that is printed


@pytest.mark.parametrize(
    ("student", "key", "title"), [("bob", KEY, TITLE), ("anna", "other", TITLE), ("anna", KEY, "4")]
)
def test_another_student_key_or_title_gives_other_numbers_in_every_exercise(student, key, title):
    one, other = own_numbers.sheet("anna", KEY, ALL, TITLE), own_numbers.sheet(student, key, ALL, title)
    assert one.number != other.number
    assert all(a.fingerprint != b.fingerprint for a, b in zip(one.exercises, other.exercises, strict=True))


def test_one_student_however_the_name_is_spelled():
    spellings = ["José", "  Jose\u0301\n", "José_1001_assignsubmission_file_"]
    assert len({own_numbers.sheet(who, KEY, ["product"], TITLE).number for who in spellings}) == 1


@topics
def test_a_neighbours_answers_are_of_no_use(many, topic):
    answers = Counter(tuple(a.values.tobytes() for a in e.asked) for e in by_topic(many, topic))
    pairs = sum(n * (n - 1) // 2 for n in answers.values())
    assert pairs == 0


@pytest.mark.parametrize("name", ["", " ", "y" * 101, "a\u202eb", "a\x00"])
def test_a_name_that_cannot_be_printed_is_refused(name):
    with pytest.raises(ValueError, match="student: expected"):
        own_numbers.sheet(name, KEY, ["product"], TITLE)


# ---------------------------------------------------------------- the right answers, beside plain NumPy


def normal(scores):
    powers = np.exp(scores)
    return powers / powers.sum(axis=-1, keepdims=True)


def _embedding(g, e):
    ids = [e.given[0].rows.index(word) for word in e.asked[0].rows]
    return {"ids": ids, "E": math.sqrt(4) * g["table"][ids]}


def _attention(g, e):
    q, k, v = g["X"] @ g["W^Q"], g["X"] @ g["W^K"], g["X"] @ g["W^V"]
    scaled = q @ k.T / np.sqrt(q.shape[1])
    a = normal(np.log(3) * scaled)
    return {"Q": q, "K": k, "V": v, "S": q @ k.T, "scaled": scaled, "A": a, "Z": a @ v}


def _masked(g, e):
    mask = np.tril(np.ones((4, 4)))
    return {"M": mask, "A": normal(np.where(mask > 0, g["S"], -np.inf))}


def _feed_forward(g, e):
    before = g["X"] @ g["W_1"] + g["b_1"]
    after = before * (before > 0)
    return {"before": before, "after": after, "F": after @ g["W_2"] + g["b_2"]}


def _layer_norm(g, e):
    x = g["X"]
    mean, std = x.mean(axis=1), x.std(axis=1)
    return {"mean": mean, "variance": std**2, "std": std, "Y": (x - mean[:, None]) / std[:, None]}


INDEPENDENT = {
    "embedding": _embedding,
    "product": lambda g, e: {"Q": g["X"] @ g["W^Q"]},
    "scores": lambda g, e: {"S": g["Q"] @ g["K"].T},
    "scaling": lambda g, e: {"root": np.sqrt(g["d_k"][0, 0]), "scaled": g["S"] / np.sqrt(g["d_k"])},
    "softmax": lambda g, e: {"sums": np.exp(g["S"]).sum(axis=1), "A": normal(g["S"])},
    "weighted-sum": lambda g, e: {"Z": g["A"] @ g["V"]},
    "attention": _attention,
    "causal-mask": _masked,
    "feed-forward": _feed_forward,
    "layer-norm": _layer_norm,
    "gradient": lambda g, e: {"dX": g["dY"] @ g["W"].T, "dW": g["X"].T @ g["dY"]},
}


@topics
def test_every_answer_agrees_with_plain_numpy_to_the_printed_place(many, topic):
    for exercise in by_topic(many, topic):
        right = INDEPENDENT[topic](exercise.numbers, exercise)
        assert list(right) == [asked.name for asked in exercise.asked]
        for asked, theirs in zip(exercise.asked, right.values(), strict=True):
            assert np.shape(theirs) == asked.shape
            np.testing.assert_allclose(asked.expected, theirs, rtol=1e-9, atol=1e-9)
            printed = np.array([[float(cell) for cell in row] for row in asked.cells()])
            np.testing.assert_array_equal(printed.reshape(asked.shape), np.round(theirs, asked.decimals))


@topics
def test_the_arithmetic_gives_the_answer_in_every_line(many, topic):
    for asked in (asked for exercise in by_topic(many[:5], topic) for asked in exercise.asked):
        entries = asked.working().entries  # raises if a step does not give the result
        assert len(entries) in (0, len(asked.rows), np.size(asked.expected))
        for place in np.ndindex(asked.shape):
            last = re.findall(r"\[[^\]]*\]|-?[\d.]+", asked.terms(place))[-1]
            assert float(np.asarray(asked.values)[place]) in [float(word) for word in last.strip("[]").split()]


def test_work_that_gives_something_else_is_caught():
    asked = Asked("a", "a", np.array([[5.0]]), ("1",), ("1",), lambda: byhand.add([[1]], [[3]]))
    with pytest.raises(AssertionError, match="expected"):
        asked.working()


# ---------------------------------------------------------------- fit for a pencil


@topics
def test_the_rule_holds_for_everybody(many, topic):
    for exercise in by_topic(many, topic):
        assert not complaints(exercise)
        divisors = np.asarray(_divided_by(topic, exercise.numbers), dtype=float)
        assert all(np.isclose(d, DIVISORS).any() for d in divisors), divisors


def _divided_by(topic, g):
    """Everything that somebody who solves it divides by."""
    if topic in ("softmax", "causal-mask"):
        powers = np.exp(g["S"])
        return (np.tril(powers)[1:] if topic == "causal-mask" else powers).sum(axis=1)
    if topic == "attention":
        q, k = g["X"] @ g["W^Q"], g["X"] @ g["W^K"]
        return [2, *(3.0 ** (q @ k.T / 2)).sum(axis=1)]
    return {
        "scaling": lambda: np.sqrt(g["d_k"]).ravel(),
        "layer-norm": lambda: [5, *g["X"].std(axis=1)],
    }.get(topic, list)()


def _planted(expected, decimals=0, given=3.0):
    answer = Asked("a", "a", np.array([[expected]]), ("",), ("",), None, decimals)
    table = Given("g", np.array([[given]]), ("",), ("",))
    return complaints(Exercise(1, "planted", "Planted", 1, 1, (), (table,), (answer,)))


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ({"expected": 0.5}, "a: expected at most 0 decimals"),
        ({"expected": 1 / 3, "decimals": 3}, "a: expected at most 3 decimals"),
        ({"expected": 120.0}, "a: expected nothing above 99, got 120"),
        ({"expected": 1.0, "given": 0.5}, "g: expected at most 0 decimals"),
        ({"expected": 1.0, "given": 100.0}, "g: expected nothing above 99, got 100"),
    ],
)
def test_a_number_that_breaks_the_rule_is_caught(numbers, said):
    assert any(said in complaint for complaint in _planted(**numbers)), _planted(**numbers)


# ---------------------------------------------------------------- nothing handed out


def leaks(text: str, sheet) -> list[str]:
    """Which answers stand in a text: their numbers one after the other, or the arithmetic of one."""
    text = re.sub(r"\s+", " ", text.replace("−", "-"))
    numbers = re.findall(r"-?\d+(?:\.\d+)?", text)
    numbers = [f"{float(n):g}" for n in numbers]
    found = []
    for exercise in sheet.exercises:
        for asked in exercise.asked:
            flat = [f"{v:g}" for v in asked.values.ravel().tolist()]
            n = len(flat)
            if n >= 6 and any(numbers[i : i + n] == flat for i in range(len(numbers) - n + 1)):
                found.append(f"{exercise.topic} {asked.name}")
            for place in np.ndindex(asked.shape):
                terms = asked.terms(place)
                if len(terms) > 12 and terms in text:
                    found.append(f"{exercise.topic} {asked.name}: {terms}")
    return found


# ---------------------------------------------------------------- an assignment, and what one may do with it


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
    return RightAnswers(assignment(folder), key)(student)


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
    for cell, topic in zip(whole["cells"], itertools.cycle(TOPICS), strict=False):
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
    "the check cells edited": checks_edited,
    "labels edited": labels_edited,
    "a neighbour's name in the metadata": renamed,
    "the givens changed": other_givens,
    "zeros": lambda folder, s: filled(notebook_of(folder, s), shaped(folder, s, lambda: 0)),
    "ones": lambda folder, s: filled(notebook_of(folder, s), shaped(folder, s, lambda: 1)),
    "lists of everything": lambda folder, s: filled(
        notebook_of(folder, s), {f"own-{topic}": {"A": [[[0, 1]] * 9] * 9} for topic in TOPICS}
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
    summary = gradebook.grade_folder(submissions, place / "g.csv", task, box, answers=RightAnswers(task, key), **how)
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
    sheets = [own_numbers.sheet(f"route {i}", KEY, list(TOPICS), TITLE) for i in range(len(ROUTES))]
    written = assign.own_files(
        own_numbers.plan([], list(TOPICS)), TITLE, sheets, own_numbers.belongs(KEY, TITLE, list(TOPICS))
    )
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
    monkeypatch.setattr(own_numbers, "person", lambda student: "everybody")
    assert pays(folder, tmp_path, "anna", ROUTES["a neighbour's answers"](folder, "anna")) == assignment(folder).points


def test_with_the_student_read_from_the_notebook_a_neighbours_notebook_pays(folder, tmp_path, monkeypatch):
    bobs = RightAnswers(assignment(folder), KEY)("bob")
    monkeypatch.setattr(RightAnswers, "__call__", lambda self, student: bobs)
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


# ---------------------------------------------------------------- what the notebooks hold


def test_the_check_says_what_is_missing_or_cannot_be_read_and_nothing_else(folder, capsys):
    space = {}
    exec(f"import numpy as np\n{LOOK}", space)
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


# ---------------------------------------------------------------- and what does not stand in them


def test_a_students_notebook_and_the_assignment_hold_no_answer_and_no_key(folder):
    for student in STUDENTS:
        made = own_numbers.sheet(student, KEY, list(TOPICS), TITLE)
        text = (folder / "week" / "students" / f"{student}.ipynb").read_text("utf-8")
        assert not leaks(text, made) and KEY not in text and "SOLUTION" not in text
        assert f"sheet {made.number}." in text
    text = (folder / "week" / "submissions" / "assignment.json").read_text("utf-8")
    assert KEY not in text and not re.search(r"\d\.\d|-\d", re.sub(r"own-|belongs.*", "", text))


def test_the_same_search_finds_the_answers_in_the_instructors_which_are_right(folder):
    made = own_numbers.sheet("anna", KEY, list(TOPICS), TITLE)
    whole = notebook_of(folder, "anna", "instructor")
    found = leaks("\n".join(map(source, whole["cells"])), made)
    assert {e.topic for e in made.exercises} <= {name.split()[0] for name in found}
    _, space = at_home(whole)
    for label, one in numbers_of(folder, "anna").right.items():
        assert all(one.reports(space[f"answer_{label.removeprefix('own-').replace('-', '_')}"])), label


def test_a_page_to_print_holds_answers_only_where_they_are_asked_for():
    made = [own_numbers.sheet(who, KEY, ALL, TITLE) for who in ("anna", "<script>")]
    blank, solved = (sheet.page(made, answers) for answers in (False, True))
    cells = [" ".join(re.findall(r'<td class="answer">(.*?)</td>', page)) for page in (blank, solved)]
    assert cells[0] == "" and not leaks(re.sub("<[^>]*>", "", blank.split("</style>")[1]), made[0])
    for asked in (asked for one in made for exercise in one.exercises for asked in exercise.asked):
        assert " ".join(cell for row in asked.cells() for cell in row).replace("-", "−") in cells[1]
    for page in (blank, solved):
        assert (
            "<script" not in page and "&lt;script&gt;" in page and "http" not in page.replace("http://www.w3.org", "")
        )


# ---------------------------------------------------------------- which exercises


def chosen(*numbers):
    return assign.select(read(assign.MASTER), list(numbers))


def test_an_exercise_is_replaced_where_it_stands_with_its_number_and_points():
    plan = own_numbers.plan(chosen("9.1", "8.8", "9.2", "15.1"), ["product"])
    assert [(one.number, one.kind, one.points) for one in plan] == [
        ("9.1", "own numbers", 1), ("8.8", "function", 2), ("9.2", "text", 1), ("15.1", "own numbers", 1),
        ("product", "own numbers", 1),
    ]  # fmt: skip
    kept = own_numbers.plan(chosen("9.1", "9.5"), same_for_all=True)
    assert [one.kind for one in kept] == ["own numbers", "by hand"]


@pytest.mark.parametrize(
    ("numbers", "topics", "says"),
    [
        (["9.1", "9.3"], [], "each topic once, got layer-norm, layer-norm"),
        ([], ["product", "product"], "each topic once, got product, product"),
        (["8.8", "9.2"], [], "each topic once, got none"),
        (["9.1"], ["sums"], "--topics: expected some of embedding"),
        (["9.1", "9.5", "10.1"], [], r"got 9.5, 10.1. Leave them out, or say --same-for-all"),
    ],
)
def test_a_choice_that_cannot_be_is_refused(numbers, topics, says):
    with pytest.raises(ValueError, match=says):
        own_numbers.plan(chosen(*numbers) if numbers else [], topics)


# ---------------------------------------------------------------- by key


def test_without_the_key_or_with_another_one_nothing_is_graded(folder, tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("TOYTF_KEY", raising=False)
    command = ["grade", str(folder / "week" / "submissions"), "--out", str(tmp_path / "g.csv")]
    assert main(command) == 2
    assert "the numbers are each student's own; expected a key: --key-file FILE" in capsys.readouterr().err
    monkeypatch.setenv("TOYTF_KEY", KEY + "x")
    assert main(command) == 2
    assert "the key: expected the one with which this assignment was made" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("change", [{"title": "Week 6"}, {"belongs": "0" * 16}, {"belongs": None}])
def test_an_assignment_that_was_changed_is_refused(folder, change):
    whole = json.loads((folder / "week" / "submissions" / "assignment.json").read_text("utf-8")) | change
    with pytest.raises((ClassroomError, BadAssignment), match="expected"):
        RightAnswers(read_assignment(json.dumps(whole).encode()), KEY)


def test_one_notebook_alone_is_not_graded_without_its_numbers(folder):
    with pytest.raises(BadAssignment, match="expected the student's own numbers, which follow from the key; got none"):
        grading.grade_one(b"{}", assignment(folder), sandbox=None)


@pytest.mark.parametrize(
    ("names", "says"),
    [("anna\na/b", "line 3: student: expected a name that a file can have"), ("Anna\nanna", "line 3")],
)
def test_a_class_whose_names_cannot_be_those_of_files_is_refused(tmp_path, names, says):
    (tmp_path / "class.csv").write_text(f"student\n{names}\n", "utf-8")
    with pytest.raises(ClassroomError, match=says):
        own_numbers.read_names(tmp_path / "class.csv")


def test_two_students_with_the_same_numbers_are_noticed():
    made = own_numbers.sheet("anna", KEY, ["product"], TITLE)
    with pytest.raises(ValueError, match="'bob' and 'anna' would get the same numbers|'anna' and 'bob' would get"):
        own_numbers.sheets(["anna", "bob"], lambda who: own_numbers.Sheet(who, TITLE, "1", made.exercises))
