"""Numbers of one's own: right, fit for a pencil, none handed out, and nothing for whoever solved nothing."""

import contextlib
import copy
import csv
import io
import itertools
import json
import re
from collections import Counter

import numpy as np
import pytest

import gradecheck
from gradecheck import role, source
from toytf.course.exercises import read
from toytf_classroom import ClassroomError, assign, gradebook, grading, own_numbers, sheet
from toytf_classroom.__main__ import main
from toytf_classroom.grading import read_assignment
from toytf_classroom.own_numbers import LOOK, RightAnswers
from toytf_classroom.topics import DIVISORS, TOPICS, Asked, Drawn, Given, complaints

KEY = "5b0a0b9f0c6b4f6f9d5e" * 3
TITLE = "Week 5"
STUDENTS = ["anna", "bob", "Zoë Müller", "o'brien_7"]
ALL, MANY = list(TOPICS), 200
ANY_TOPIC = itertools.cycle(TOPICS)
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
    assert made.number == "549-051-886"  # a hash of all that is printed


def test_another_student_key_or_title_gives_other_numbers_in_every_exercise():
    mine = own_numbers.sheet("anna", KEY, ALL, TITLE)
    for who, key, title in (("bob", KEY, TITLE), ("anna", "other", TITLE), ("anna", KEY, "4")):
        other = own_numbers.sheet(who, key, ALL, title)
        assert mine.number != other.number
        assert all(a.fingerprint != b.fingerprint for a, b in zip(mine.exercises, other.exercises, strict=True))
    spellings = ["José", "  Jose\u0301\n", "José_1001_assignsubmission_file_"]
    assert len({own_numbers.sheet(who, KEY, ["product"], TITLE).number for who in spellings}) == 1


@topics
def test_a_neighbours_answers_are_of_no_use(many, topic):
    answers = Counter(tuple(a.values.tobytes() for a in e.asked) for e in by_topic(many, topic))
    pairs = sum(n * (n - 1) // 2 for n in answers.values())
    assert pairs == 0


# ---------------------------------------------------------------- the right answers, beside plain NumPy


def normal(scores):
    powers = np.exp(scores)
    return powers / powers.sum(axis=-1, keepdims=True)


def _feed_forward(g, e):
    before = g["X"] @ g["W_1"] + g["b_1"]
    after = before * (before > 0)
    return {"before": before, "after": after, "F": after @ g["W_2"] + g["b_2"]}


def _layer_norm(g, e):
    x, mean, std = g["X"], g["X"].mean(axis=1), g["X"].std(axis=1)
    return {"mean": mean, "variance": std**2, "std": std, "Y": (x - mean[:, None]) / std[:, None]}


def _ids(e):
    return [e.given[0].rows.index(word) for word in e.asked[0].rows]


MASK = np.tril(np.ones((4, 4)))
INDEPENDENT = {
    "embedding": lambda g, e: {"ids": _ids(e), "E": 2 * g["table"][_ids(e)]},
    "product": lambda g, e: {"Q": g["X"] @ g["W^Q"]},
    "scores": lambda g, e: {"S": g["Q"] @ g["K"].T},
    "scaling": lambda g, e: {"root": np.sqrt(g["d_k"][0, 0]), "scaled": g["S"] / np.sqrt(g["d_k"])},
    "softmax": lambda g, e: {"sums": np.exp(g["S"]).sum(axis=1), "A": normal(g["S"])},
    "weighted-sum": lambda g, e: {"Z": g["A"] @ g["V"]},
    "causal-mask": lambda g, e: {"M": MASK, "A": normal(np.where(MASK > 0, g["S"], -np.inf))},
    "feed-forward": _feed_forward,
    "layer-norm": _layer_norm,
    "gradient": lambda g, e: {"dX": g["dY"] @ g["W"].T, "dW": g["X"].T @ g["dY"]},
}


def givens(exercise):
    return {given.name: given.array for given in exercise.given}


@topics
def test_every_answer_agrees_with_plain_numpy_to_the_printed_place(many, topic):
    for exercise in by_topic(many, topic):
        right = INDEPENDENT[topic](givens(exercise), exercise)
        assert list(right) == [asked.name for asked in exercise.asked]
        for asked, theirs in zip(exercise.asked, right.values(), strict=True):
            assert np.shape(theirs) == asked.shape
            np.testing.assert_allclose(asked.expected, theirs, rtol=1e-9, atol=1e-9)
            printed = np.array([[float(cell) for cell in row] for row in asked.cells()])
            np.testing.assert_array_equal(printed.reshape(asked.shape), np.round(theirs, asked.decimals))


@topics
def test_the_arithmetic_gives_the_answer_in_every_line(many, topic):
    for asked in (asked for exercise in by_topic(many[:5], topic) for asked in exercise.asked):
        for entry in asked.work().entries:  # every step by itself
            *steps, last = entry.steps
            for step in steps:
                np.testing.assert_allclose(step.value, last.value, atol=1e-9)
        for place in np.ndindex(asked.shape):
            last = re.findall(r"\[[^\]]*\]|-?[\d.]+", asked.terms(place))[-1]
            assert float(np.asarray(asked.values)[place]) in [float(word) for word in last.strip("[]").split()]


# ---------------------------------------------------------------- fit for a pencil


@topics
def test_the_rule_holds_for_everybody(many, topic):
    for exercise in by_topic(many, topic):
        assert not complaints(exercise)
        divisors = np.asarray(_divided_by(topic, givens(exercise)), dtype=float)
        assert all(np.isclose(d, DIVISORS).any() for d in divisors), divisors


def _divided_by(topic, g):
    """Everything that somebody who solves it divides by."""
    if topic in ("softmax", "causal-mask"):
        powers = np.exp(g["S"])
        return (np.tril(powers)[1:] if topic == "causal-mask" else powers).sum(axis=1)
    return {
        "scaling": lambda: np.sqrt(g["d_k"]).ravel(),
        "layer-norm": lambda: [5, *g["X"].std(axis=1)],
    }.get(topic, list)()


@pytest.mark.parametrize(
    ("expected", "decimals", "given", "said"),
    [
        (1 / 3, 3, 3.0, "a: expected at most 3 decimals"),
        (120.0, 0, 3.0, "a: expected nothing above 99, got 120"),
        (1.0, 0, 0.5, "g: expected at most 0 decimals"),
        (1.0, 0, 100.0, "g: expected nothing above 99, got 100"),
    ],
)
def test_a_number_that_breaks_the_rule_is_caught(expected, decimals, given, said):
    answer = Asked("a", "a", np.array([[expected]]), ("",), ("",), None, decimals)
    table = Given("g", np.array([[given]]), ("",), ("",))
    assert complaints(Drawn("planted", (), (table,), (answer,))) == [said]


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
    command = ["assign", "--topics", *ALL, "--own-numbers", "--class", place / "class.csv", "--key-file"]
    command += [place / "key.txt", "--title", TITLE, "--out", place / "week"]
    assert main([*map(str, command)]) == 0
    return place


def assignment(folder):
    return read_assignment(folder / "week" / "submissions" / "assignment.json")


def notebook_of(folder, student, edition="students"):
    return json.loads((folder / "week" / edition / f"{student}.ipynb").read_text("utf-8"))


def numbers_of(folder, student, key=KEY):
    return RightAnswers(assignment(folder), key)(student)


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


def corrected(folder, student):
    """Nonsense first; then whatever numbers the notebook prints about it are typed in."""
    blank, count = notebook_of(folder, student), itertools.count(2)
    said, _ = at_home(filled(blank, shaped(folder, student, lambda: next(count) % 7)))
    told = itertools.cycle([float(word) for word in re.findall(r"-?\d+(?:\.\d+)?", said)] or [0.0])
    return filled(blank, shaped(folder, student, lambda: next(told)))


def edited(folder, student, mine, change):
    """One's own notebook with these answers, of which every cell is changed."""
    whole = filled(notebook_of(folder, student), mine)
    for cell in whole["cells"]:
        change(cell)
    return whole


def without_checks(cell):
    if role(cell) == "check" or cell["id"] == "look":
        cell["source"] = "look = lambda *a: print('right')\nfrom toytf import check\ncheck.points = lambda *a, of=1: of"


def with_another_label(cell):
    about = {"exercise": f"own-{next(ANY_TOPIC)}", "role": "answer", "points": 99, "student": "bob"}
    cell["metadata"]["toytf"] = about


def without_givens(cell):
    if role(cell) == "text":
        cell["source"] = re.sub(r"(?<=\| )[−\d.$\\log ]+(?= \|)", "0", source(cell))


def renamed(folder, student):
    """One's own notebook with a neighbour's name and answers, which says that it is the neighbour's."""
    whole = filled(notebook_of(folder, student), right(folder, "bob"))
    about = {"student": "bob", "authors": [{"name": "bob"}]}
    return whole | {"metadata": notebook_of(folder, "bob")["metadata"] | about}


ROUTES = {
    "nonsense, then the correction": corrected,
    "a neighbour's answers": lambda folder, s: filled(notebook_of(folder, s), right(folder, "bob")),
    "a neighbour's whole notebook": lambda folder, s: filled(notebook_of(folder, "bob"), right(folder, "bob")),
    "the check cells edited": lambda folder, s: edited(folder, s, shaped(folder, s, lambda: 1), without_checks),
    "labels edited": lambda folder, s: edited(folder, s, right(folder, "bob"), with_another_label),
    "a neighbour's name in the metadata": renamed,
    "the givens changed": lambda folder, s: edited(folder, s, shaped(folder, s, lambda: 0), without_givens),
    "zeros": lambda folder, s: filled(notebook_of(folder, s), shaped(folder, s, lambda: 0)),
    "ones": lambda folder, s: filled(notebook_of(folder, s), shaped(folder, s, lambda: 1)),
    "lists of everything": lambda folder, s: filled(
        notebook_of(folder, s), {f"own-{topic}": {"A": [[[0, 1]] * 9] * 9} for topic in TOPICS}
    ),
    "blank": notebook_of,
}


def grade(folder, place, files):
    """Grade these notebooks, from students to JSON; the receipts by student."""
    submissions = gradecheck.folder(
        place / "submissions", {f"{name}.ipynb": json.dumps(content).encode() for name, content in files.items()}
    )
    task, box = assignment(folder), gradecheck.sandbox_or_skip()
    how = {"limits": gradecheck.SMALL, "jobs": 2, "answers": RightAnswers(task, KEY)}
    assert not gradebook.grade_folder(submissions, place / "g.csv", task, box, **how).failed
    return gradecheck.receipts(place / "g.csv")


@pytest.fixture(scope="module")
def graded(folder, tmp_path_factory):
    """Everybody has a route of their own, under a name of their own; two are honest."""
    names = {route: f"route {i}" for i, route in enumerate(ROUTES)}
    sheets = [own_numbers.sheet(name, KEY, ALL, TITLE) for name in names.values()]
    written = assign.own_files(own_numbers.plan([], ALL), TITLE, sheets, own_numbers.belongs(KEY, TITLE, ALL))
    assign.write(folder / "week", {k: v for k, v in written.items() if "assignment" not in k})
    files = {name: ROUTES[route](folder, name) for route, name in names.items()}
    files |= {name: filled(notebook_of(folder, name), right(folder, name)) for name in ("anna", "bob")}
    place = tmp_path_factory.mktemp("routes")
    receipts = grade(folder, place, files)
    return place, receipts | {route: receipts[name] for route, name in names.items()}


# ---------------------------------------------------------------- nothing for who solved nothing


@pytest.mark.parametrize("route", ROUTES)
def test_no_route_gives_a_point_to_somebody_who_solved_nothing_and_who_solved_all_has_them(graded, route):
    for student in ("anna", "bob"):
        assert all(result.points == result.out_of for result in graded[1][student].results)
    receipt = graded[1][route]
    assert receipt.reason == ""
    assert not {r.number: (r.points, r.headline) for r in receipt.results if r.points}


def test_the_remark_names_whose_notebook_it_says_it_is_to_the_teacher_and_not_to_the_student(graded):
    place, receipts = graded
    bobs = receipts["bob"].own["sheet"]
    rows = {row["student"]: row["remark"] for row in csv.DictReader((place / "g.csv").open(encoding="utf-8"))}
    for route in ROUTES:
        foreign = route in ("a neighbour's whole notebook", "a neighbour's name in the metadata")
        said = f"the notebook says that it is sheet {bobs}, of bob" if foreign else ""
        assert rows[receipts[route].student].partition("nothing was answered right")[2].strip("; ") == said
    theirs = receipts["a neighbour's whole notebook"].student.replace("route ", "route-")
    (page,) = (place / "g" / "feedback").glob(f"{theirs}~*.html")
    assert f"This notebook says that it is sheet {bobs}." in page.read_text("utf-8")
    assert "of bob" not in page.read_text("utf-8")


# ---------------------------------------------------------------- each protection away, and the route pays


def pays(folder, place, route):
    receipts = grade(folder, place, {"anna": ROUTES[route](folder, "anna")})
    return receipts["anna"].points


def test_with_the_same_numbers_for_everybody_a_neighbours_answers_pay(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(own_numbers, "person", lambda student: "everybody")
    assert pays(folder, tmp_path, "a neighbour's answers") == assignment(folder).points


def test_without_company_a_neighbours_mask_pays(folder, graded, tmp_path, monkeypatch):
    mask = next(r for r in graded[1]["a neighbour's answers"].results if r.number == "causal-mask")
    assert "causal-mask, M: right." in mask.details
    assert "M counts when A is right too." in mask.details
    monkeypatch.setattr(grading._Run, "_alone", lambda self, exercise, right: [])
    assert pays(folder, tmp_path, "a neighbour's answers") > 0


# ---------------------------------------------------------------- what the notebooks hold


def test_the_check_says_what_is_missing_or_cannot_be_read_and_nothing_else(folder, capsys):
    space = {}
    exec(f"import numpy as np\n{LOOK}", space)
    look = space["look"]
    for answer, said in [
        (
            {"mean": [None, None], "Y": None},
            "mean: 2 of 2 numbers still missing\n9.1, Y: not answered yet, 2 rows of 5",
        ),
        ({"mean": (3, 4.5)}, "9.1, mean: filled in"),
        ({"mean": np.array([3.0, 4.0])}, "9.1, mean: filled in"),
        ({"mean": [3, "4,5"]}, "9.1, mean: could not read [3, '4,5']: write 2 numbers, with a point before decimals"),
        ({"mean": 3}, "9.1, mean: expected 2 numbers, got 3"),
        ({"mean": []}, "9.1, mean: expected 2 numbers, got []"),
        ({"Y": [[1, 2, 3, 4, 5]] * 2}, "9.1, Y: filled in"),
        ({"Y": [[1, 2, 3, 4, 5], [1]]}, "9.1, Y: could not read [[1, 2, 3, 4, 5], [1]]: write 2 rows of 5 numbers"),
        (3, "9.1: expected a dictionary with mean, Y; got 3"),
    ]:
        look("9.1", answer, {"mean": [2], "Y": [2, 5]})
        assert said in capsys.readouterr().out
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
        (["9.1", "9.5", "10.1"], [], r"got 9.5, 10.1. Leave them out, or say --same-for-all"),
    ],
)
def test_a_choice_that_cannot_be_is_refused(numbers, topics, says):
    with pytest.raises(ValueError, match=says):
        own_numbers.plan(chosen(*numbers) if numbers else [], topics)


# ---------------------------------------------------------------- by key


def test_without_the_key_or_with_another_one_nothing_is_graded(folder, tmp_path, capsys):
    command = ["grade", str(folder / "week" / "submissions"), "--out", str(tmp_path / "g.csv")]
    assert main(command) == 2
    assert "--key-file: expected a key of 16 characters or more, got 0" in capsys.readouterr().err
    (tmp_path / "key.txt").write_text(KEY + "x")
    assert main([*command, "--key-file", str(tmp_path / "key.txt")]) == 2
    assert "the key: expected the one with which this assignment was made" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["key.txt"]


def test_an_assignment_that_was_changed_is_refused(folder):
    whole = json.loads((folder / "week" / "submissions" / "assignment.json").read_text("utf-8"))
    for change in ({"title": "Week 6"}, {"belongs": "0" * 16}, {"belongs": None}):
        with pytest.raises(ClassroomError, match="expected"):
            RightAnswers(read_assignment(json.dumps(whole | change).encode()), KEY)


def test_two_students_with_the_same_numbers_are_noticed():
    made = own_numbers.sheet("anna", KEY, ["product"], TITLE)
    with pytest.raises(ValueError, match="'bob' and 'anna' would get the same numbers|'anna' and 'bob' would get"):
        own_numbers.sheets(["anna", "bob"], lambda who: own_numbers.Sheet(who, TITLE, "1", made.exercises))
