"""What `toytf.teach.worksheet` promises: own numbers, fit for a pencil, right answers, none of them handed out."""

import hashlib
import hmac
import json
import math
import os
import re
import stat
import subprocess
import sys
from collections import Counter
from html.parser import HTMLParser

import nbformat
import numpy as np
import pytest

from toytf import byhand
from toytf.__main__ import main
from toytf.teach import worksheet
from toytf.teach.names import file_stem
from toytf.teach.tables import read_class
from toytf.teach.worksheet import files, pages
from toytf.teach.worksheet.exercises import DIVISORS, Asked, Exercise, Given, complaints, rounding, ugly_divisors

KEY = "a secret of the teacher"
ALL = list(worksheet.TOPICS)
MANY = 1000
STUDENTS = [f"student {i}" for i in range(MANY)]
topics = pytest.mark.parametrize("topic", ALL)


@pytest.fixture(scope="module")
def thousand():
    """A thousand students' sheets with every topic."""
    return [worksheet.sheet(student, KEY, ALL) for student in STUDENTS]


@pytest.fixture(scope="module")
def one():
    return worksheet.sheet("Ana Müller", KEY, ALL, "Week 6")


def by_topic(sheets, topic):
    return [sheet.exercises[ALL.index(topic)] for sheet in sheets]


# ---------------------------------------------------------------- whose numbers


def files_of(sheet):
    return (sheet.html(), pages.as_json(sheet.notebook()), sheet.answers_html(), pages.as_json(sheet.answers()))


def test_the_same_id_and_key_give_the_same_bytes(one):
    again = worksheet.sheet("Ana Müller", KEY, ALL, "Week 6")
    assert files_of(again) == files_of(one)


def test_the_same_sheet_comes_out_on_every_machine():
    assert worksheet.sheet("anna", KEY, ALL).number == "109-881-496"  # a hash of all that is printed


@pytest.mark.parametrize(
    "other",
    [
        ("Ana Müller", "another secret", "Week 6"),
        ("Ana Mullet", KEY, "Week 6"),
        ("Ana Müller", KEY, "4"),
    ],
    ids=["key", "student", "title"],
)
def test_another_key_student_or_title_gives_other_numbers_in_every_exercise(one, other):
    student, key, title = other
    changed = worksheet.sheet(student, key, ALL, title)
    assert changed.number != one.number
    for a, b in zip(one.exercises, changed.exercises, strict=True):
        assert a.fingerprint != b.fingerprint


def test_an_exercise_does_not_depend_on_the_others(one):
    alone = worksheet.sheet("Ana Müller", KEY, ["gradient"], "Week 6").exercises[0]
    assert alone.fingerprint == one.exercises[ALL.index("gradient")].fingerprint


def test_the_seed_is_an_hmac_of_student_title_and_version():
    message = json.dumps(["toytf worksheet", 1, "numbers", "Worksheet", "anna"]).encode()
    seed = int.from_bytes(hmac.new(KEY.encode(), message, hashlib.sha256).digest(), "big")
    rng = np.random.default_rng([seed, int.from_bytes(b"residual", "big")])
    mine = worksheet.TOPICS["residual"].exercise("residual", 1, rng)
    assert mine.fingerprint == worksheet.sheet("anna", KEY, ["residual"]).exercises[0].fingerprint


def test_an_id_is_the_same_however_its_accents_are_encoded():
    assert files_of(worksheet.sheet("José", KEY, ["product"])) == files_of(
        worksheet.sheet("  Jose\u0301\n", KEY, ["product"])
    )


@topics
def test_no_two_of_a_thousand_students_share_an_exercise(thousand, topic):
    # Measured with this key: no pair of 499,500 shares all givens of any one exercise.
    exercises = by_topic(thousand, topic)
    arrays = {tuple(a.tobytes() for a in exercise.numbers.values()) for exercise in exercises}
    assert len(arrays) == MANY


@topics
def test_a_neighbours_answers_are_of_no_use(thousand, topic):
    answers = Counter(tuple(a.values.tobytes() for a in e.asked) for e in by_topic(thousand, topic))
    pairs = sum(n * (n - 1) // 2 for n in answers.values())
    # Cross-entropy and greedy choice have few answers in all; by luck one pair in 100 may agree.
    allowed = {"cross-entropy": 0.01, "greedy": 0.01}.get(topic, 0.00001)
    assert pairs <= allowed * MANY * (MANY - 1) / 2


def test_no_two_of_a_thousand_students_get_the_same_sheet(thousand):
    assert len({sheet.number for sheet in thousand}) == MANY
    assert len({tuple(e.fingerprint for e in sheet.exercises) for sheet in thousand}) == MANY


# ---------------------------------------------------------------- the right answers


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


def _heads(g, e):
    h = np.concatenate([g[r"\mathrm{head}_1"], g[r"\mathrm{head}_2"]], axis=1)
    return {"H": h, "Z": h @ g["W^O"]}


def _feed_forward(g, e):
    before = g["X"] @ g["W_1"] + g["b_1"]
    after = before * (before > 0)
    return {"before": before, "after": after, "F": after @ g["W_2"] + g["b_2"]}


def _layer_norm(g, e):
    x = g["X"]
    mean, std = x.mean(axis=1), x.std(axis=1)
    return {"mean": mean, "variance": std**2, "std": std, "Y": (x - mean[:, None]) / std[:, None]}


def _cross_entropy(g, e):
    losses = -np.log((g["p"] * g["G"]).sum(axis=1))
    return {"losses": losses, "loss": losses.mean()}


def _greedy(g, e):
    ids, probability, row = [], 1.0, 0
    while not ids or ids[-1] != 0:
        ids.append(int(g["p"][row].argmax()))
        probability *= g["p"][row].max()
        row = ids[-1]
    return {"ids": ids, "P": probability}


INDEPENDENT = {
    "embedding": _embedding,
    "positions": lambda g, e: {"X": g["E"] + g["PE"][:3]},
    "product": lambda g, e: {"Q": g["X"] @ g["W^Q"]},
    "scores": lambda g, e: {"S": g["Q"] @ g["K"].T},
    "scaling": lambda g, e: {"root": np.sqrt(g["d_k"][0, 0]), "scaled": g["S"] / np.sqrt(g["d_k"])},
    "softmax": lambda g, e: {"sums": np.exp(g["S"]).sum(axis=1), "A": normal(g["S"])},
    "weighted-sum": lambda g, e: {"Z": g["A"] @ g["V"]},
    "attention": _attention,
    "causal-mask": _masked,
    "heads": _heads,
    "feed-forward": _feed_forward,
    "residual": lambda g, e: {"Y": g["X"] + g["F"]},
    "layer-norm": _layer_norm,
    "cross-entropy": _cross_entropy,
    "gradient": lambda g, e: {"dX": g["dY"] @ g["W"].T, "dW": g["X"].T @ g["dY"]},
    "greedy": _greedy,
}


@topics
def test_every_answer_agrees_with_plain_numpy_to_the_printed_place(thousand, topic):
    exercises = by_topic(thousand, topic)
    right = [INDEPENDENT[topic](exercise.numbers, exercise) for exercise in exercises]
    assert list(right[0]) == [asked.name for asked in exercises[0].asked]
    for i, (name, first) in enumerate(right[0].items()):
        asked = [exercise.asked[i] for exercise in exercises]
        assert np.shape(first) == asked[0].shape
        theirs = np.stack([numbers[name] for numbers in right])
        np.testing.assert_allclose(np.stack([a.expected for a in asked]), theirs, rtol=1e-9, atol=1e-9)
        printed = np.array([[[float(cell) for cell in row] for row in a.cells()] for a in asked])
        assert printed.shape[1:] == (len(asked[0].rows), len(asked[0].cols))
        np.testing.assert_array_equal(printed.reshape(theirs.shape), np.round(theirs, asked[0].decimals))
        np.testing.assert_array_equal(printed.reshape(theirs.shape), np.stack([a.values for a in asked]))


@topics
def test_the_arithmetic_gives_the_answer_in_every_line(thousand, topic):
    for exercise in by_topic(thousand[:5], topic):
        for asked in exercise.asked:
            entries = asked.working().entries  # raises if a step does not give the result
            assert len(entries) in (0, len(asked.rows), np.size(asked.expected))
            for place in np.ndindex(asked.shape):
                last = re.findall(r"\[[^\]]*\]|-?[\d.]+", asked.terms(place))[-1]
                numbers = [float(word) for word in last.strip("[]").split()]
                value = float(np.asarray(asked.values)[place])
                assert value in numbers, (exercise.topic, asked.name, asked.terms(place), value)


# ---------------------------------------------------------------- fit for a pencil


def ends(values, decimals):
    units = np.asarray(values) * 10**decimals
    return np.abs(units - np.rint(units)).max() < 1e-6


@topics
def test_the_rule_holds_for_a_thousand_students(thousand, topic):
    exercises = by_topic(thousand, topic)
    for i, given in enumerate(exercises[0].given):
        stacked = np.stack([e.given[i].array for e in exercises])
        assert np.abs(stacked).max() <= 99
        assert ends(np.exp(stacked) if given.words else stacked, given.decimals)
    for i, asked in enumerate(exercises[0].asked):
        stacked = np.stack([e.asked[i].expected for e in exercises])
        assert np.abs(stacked).max() <= 99
        assert all(e.asked[i].decimals == asked.decimals and e.asked[i].rounded == asked.rounded for e in exercises)
        if not asked.rounded:
            assert ends(stacked, asked.decimals)
            continue
        paths = [stacked, *(np.stack(p) for p in zip(*(e.asked[i].paths for e in exercises), strict=True))]
        assert len(paths) > 1
        for path in paths:
            units = path * 10**asked.decimals
            assert np.abs(units % 1 - 0.5).min() >= 0.1 - 1e-9
            assert np.array_equal(np.rint(units), np.rint(stacked * 10**asked.decimals))


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
        "cross-entropy": lambda: [4, *(1 / (g["p"] * g["G"]).sum(axis=1))],
    }.get(topic, list)()


@topics
def test_no_division_is_ugly_for_a_thousand_students(thousand, topic):
    for exercise in by_topic(thousand, topic):
        divisors = np.asarray(_divided_by(topic, exercise.numbers), dtype=float)
        assert all(np.isclose(d, DIVISORS).any() for d in divisors), divisors


@topics
def test_no_written_division_is_ugly(thousand, topic):
    assert not [ugly_divisors(exercise) for exercise in by_topic(thousand[:20], topic) if ugly_divisors(exercise)]


@topics
def test_nothing_is_rounded_but_logarithms(thousand, topic):
    for exercise in by_topic(thousand[:20], topic):
        for asked in exercise.asked:
            for entry in asked.working().entries:
                signs = {relation for relation, _ in entry.chain("text")}
                assert signs <= ({"=", "≈"} if topic == "cross-entropy" else {"="})


def _planted(expected, decimals=0, rounded=False, paths=(), given=3.0):
    answer = Asked("a", "a", np.array([[expected]]), ("",), ("",), None, decimals, rounded, paths=paths)
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
        ({"expected": 0.1245, "decimals": 3, "rounded": True}, "a: 0.000 of a unit from a half"),
        ({"expected": 0.12459, "decimals": 3, "rounded": True}, "a: 0.090 of a unit from a half"),
        ({"expected": 0.1247, "decimals": 3, "rounded": True, "paths": (np.array([[0.1241]]),)}, "after rounding on"),
    ],
)
def test_a_number_that_breaks_the_rule_is_caught(numbers, said):
    assert any(said in complaint for complaint in _planted(**numbers)), _planted(**numbers)


def test_numbers_that_obey_the_rule_pass():
    assert not _planted(99.0)
    assert not _planted(0.1246001, decimals=3, rounded=True)
    assert rounding(np.array([0.125]), (), 2)


def test_an_ugly_division_is_caught():
    exercise = worksheet.sheet("anna", KEY, ["layer-norm"]).exercises[0]
    work = byhand.divide([[6.0]], 3.0)
    asked = Asked("a", "a", np.array([[2.0]]), ("1",), ("1",), lambda: work)
    wrong = Exercise(1, "planted", "Planted", 1, 1, (), exercise.given, (asked,))
    assert ugly_divisors(wrong) == [3.0]


def test_work_that_gives_something_else_is_caught():
    asked = Asked("a", "a", np.array([[5.0]]), ("1",), ("1",), lambda: byhand.add([[1]], [[3]]))
    with pytest.raises(AssertionError, match="expected"):
        asked.working()


# ---------------------------------------------------------------- no answer is handed out


class Page(HTMLParser):
    """Reads a page strictly: every tag that is opened is closed in its turn."""

    VOID = ("meta", "br", "hr", "img", "link", "input")

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.attributes, self.words = [], Counter(), [], []
        self.blanks, self.cells = [], []  # what stands in the boxes
        self.title, self.lang = "", ""
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags[tag] += 1
        self.attributes += attrs.items()
        self.lang = attrs.get("lang", self.lang)
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "td":
            kind = attrs.get("class")
            (self.blanks if kind == "blank" else self.cells).append("")
            self.into = self.blanks if kind == "blank" else self.cells

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, tag

    def handle_data(self, data):
        if "style" in self.open:
            return
        if "title" in self.open:
            self.title += data
        self.words.append(data)
        if "td" in self.open:
            self.into[-1] += data


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


def page_leaks(page, sheet):
    """Look through all that is shown, the cells alone (labels hold numbers too), and the attributes."""
    attributes = (value or "" for _, value in page.attributes)
    return [found for words in (page.words, page.cells, attributes) for found in leaks(" ".join(words), sheet)]


def test_the_students_page_holds_no_answer(thousand):
    for sheet in thousand[:5]:
        page = Page(sheet.html())
        assert not page_leaks(page, sheet)
        assert len(page.blanks) == sum(np.size(a.expected) for e in sheet.exercises for a in e.asked)
        assert not "".join(page.blanks)
        assert 'class="answer"' not in sheet.html()


def test_the_students_notebook_holds_no_answer(thousand):
    for sheet in thousand[:5]:
        notebook = sheet.notebook()
        assert not leaks(json.dumps(notebook, ensure_ascii=False), sheet)
        space = {}
        for cell in notebook["cells"]:
            assert cell["metadata"] == {}
            if cell["cell_type"] == "code":
                assert cell["outputs"] == [] and cell["execution_count"] is None
                if cell["id"] != "look":
                    exec("".join(cell["source"]), space)
        for exercise in sheet.exercises:
            blanks = space[f"answer_{exercise.number}"]
            assert list(blanks) == [asked.name for asked in exercise.asked]
            for asked in exercise.asked:
                mine = np.array(blanks[asked.name], dtype=object)
                assert mine.shape == asked.shape
                assert all(box is None for box in mine.ravel())


def test_the_answer_sheet_holds_every_answer(one):
    # The same search that finds nothing on the student's page finds every table here.
    found = page_leaks(Page(one.answers_html()), one)
    tables = [f"{e.topic} {a.name}" for e in one.exercises for a in e.asked if np.size(a.expected) >= 6]
    assert len(tables) > 10
    assert set(tables) <= set(found)
    assert len(found) > 100  # and the arithmetic of every entry


@pytest.mark.parametrize("where", ["box", "attribute", "comment in the text", "arithmetic"])
def test_a_planted_answer_is_found_on_the_page(one, where):
    asked = one.exercises[0].asked[1]
    cells = [cell for row in asked.cells() for cell in row]
    text = one.html()
    planted = {
        "box": lambda: text.replace('<td class="blank"></td>', f'<td class="blank">{cells[0]}</td>', 1),
        "attribute": lambda: text.replace("<main>", f'<main data-answers="{" ".join(cells)}">'),
        "comment in the text": lambda: text.replace("</h1>", f"</h1><p>{', '.join(cells)}</p>", 1),
        "arithmetic": lambda: text.replace("</h1>", f"</h1><p>{one.exercises[2].asked[0].terms((0, 0))}</p>", 1),
    }[where]()
    assert planted != text
    page = Page(planted)
    assert "".join(page.blanks) or page_leaks(page, one)


def test_a_planted_answer_is_found_in_the_notebook(one):
    notebook = one.notebook()
    notebook["metadata"]["toytf"]["key"] = one.exercises[0].asked[1].values.tolist()
    assert leaks(json.dumps(notebook), one) == ["embedding E"]


def test_the_last_cell_of_the_notebook_says_what_is_missing_and_nothing_else(capsys):
    sheet = worksheet.sheet("anna", KEY, ["product", "scaling"])
    cells = ["".join(cell["source"]) for cell in sheet.notebook()["cells"] if cell["cell_type"] == "code"]

    def run(**changed):
        space = {}
        for source in cells[:-1]:
            exec(source, space)
        space.update(changed)
        exec(cells[-1], space)
        return capsys.readouterr().out.splitlines()

    assert run() == [
        "1, Q: 4 of 4 numbers still missing",
        "2, root: not answered yet, one number",
        "2, scaled: 9 of 9 numbers still missing",
    ]
    wrong = {"Q": [[1, 2], [3, 4]]}
    assert run(answer_1=wrong)[0] == "1, Q: filled in"  # right or wrong, it says the same
    assert run(answer_1={"Q": sheet.exercises[0].asked[0].values.tolist()})[0] == "1, Q: filled in"
    assert run(answer_1={"Q": [[1, 2], [3]]})[0] == "1, Q: expected 2 rows of 2 numbers, got [[1, 2], [3]]"
    assert run(answer_1={"Q": [["4", 2], [3, 4]]})[0].startswith("1, Q: could not read '4': write a number")
    assert run(answer_1={})[0] == "1, Q: not answered yet, 2 rows of 2 numbers"


# ---------------------------------------------------------------- pages


@pytest.mark.parametrize("answers", [False, True], ids=["student", "answers"])
def test_a_page_parses_and_needs_nothing_else(one, answers):
    text = one.answers_html() if answers else one.html()
    page = Page(text)
    assert page.lang == "en"
    assert page.title == ("Answers: " if answers else "") + "Week 6, Ana Müller"
    assert text.startswith("<!DOCTYPE html>") and '<meta charset="utf-8">' in text
    assert not {"script", "link", "img", "iframe", "object", "embed", "svg"} & set(page.tags)
    assert not {"src", "href", "style", "onload", "onclick"} & {name for name, _ in page.attributes}
    assert not re.search(r"https?:|//\w|url\(|@import", text)
    assert page.tags["h1"] == 1 and page.tags["h2"] == len(ALL) and page.tags["table"] == page.tags["caption"]
    assert "prefers-color-scheme" not in text  # paper is white


def test_student_and_number_stand_in_what_is_repeated_on_every_page(one):
    running = re.search(r'<div class="running">.*?</div></div>', one.html()).group()
    assert "Ana Müller" in running and one.number in running and "Week 6" in running
    assert ".running { display: table-header-group" in one.html()


HOSTILE = [
    "../../x", "=1+1", "<script>alert(1)</script>", "a" * 100, "王小明", "José 😀", "a&amp;b", "x' onload='y", '"><b>',
    "con", "..", "/etc/passwd", "a\\b", "$x$ `y` *z* [l](javascript:alert(1))", "{name}", "%s", "-rf", "ß", "</title>",
]  # fmt: skip


@pytest.mark.parametrize("student", HOSTILE)
def test_any_id_is_printed_as_it_is_and_does_nothing(student, tmp_path):
    sheet = worksheet.sheet(student, KEY, ["product"], title=student)
    for text in (sheet.html(), sheet.answers_html()):
        page = Page(text)
        assert student in page.words and student in page.title
        assert set(page.tags) <= set(
            "html head meta title style body main article div span header h1 h2 h3 p b bdi i sup sub section table "
            "caption thead tbody tr th td code ul li".split()
        )
        assert not [name for name, _ in page.attributes if name.startswith("on")]
    notebook = nbformat.reads(pages.as_json(sheet.notebook()), as_version=4)
    nbformat.validate(notebook)
    said = "".join(notebook.cells[0].source)
    assert not re.search(r"[<>$`*\[\]()]", said.replace("`None`", ""))
    # A name for its files stays in the folder and is a plain word on every system.
    stem = file_stem(student)
    assert re.fullmatch(r"[a-z0-9][a-z0-9-]*-[0-9a-f]{10}", stem) and len(stem) <= 41
    assert run(f"--student={student}", "--key", KEY, "--topics", "product", "--out", tmp_path / "out") == 0
    assert [p.name for p in tmp_path.iterdir()] == ["out"]
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == [f"{stem}.html", f"{stem}.ipynb"]


def test_every_id_has_files_of_its_own():
    ids = [*HOSTILE, "Anna", "anna", "an na", "an-na", "ANNA ", "josé", "jose", "1", "01"]
    assert len({file_stem(student) for student in ids}) == len({worksheet.clean_student(i) for i in ids})


@pytest.mark.parametrize(
    ("student", "said"),
    [
        ("", "student: expected at least one character, got none"),
        (" \t\n", "student: expected at least one character, got none"),
        ("a" * 101, "student: expected at most 100 characters, got 101"),
        ("a\nb", r"student: expected printable characters, got U\+000A"),
        ("a\x00b", r"student: expected printable characters, got U\+0000"),
        ("a\u202eb", r"student: expected printable characters, got U\+202E"),
        ("a\ud800", r"student: expected printable characters, got U\+D800"),
    ],
)
def test_an_id_that_cannot_be_printed_is_refused(student, said):
    with pytest.raises(ValueError, match=said):
        worksheet.sheet(student, KEY)


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        ({"student": 7}, TypeError, "student: expected text, got int"),
        ({"key": " "}, ValueError, "key: expected at least one character"),
        ({"key": None}, TypeError, "key: expected text or bytes, got NoneType"),
        ({"title": ""}, ValueError, "title: expected at least one character"),
        ({"topics": []}, ValueError, "topics: expected at least one, got none"),
        ({"topics": "product"}, TypeError, "topics: expected a list of names, got the text 'product'"),
        ({"topics": ["sums"]}, ValueError, "topics: expected some of embedding, .*; got 'sums'"),
        ({"topics": ["product", "product"]}, ValueError, "topics: expected each once, got 'product' twice"),
    ],
)
def test_a_wrong_argument_is_named(change, error, said):
    with pytest.raises(error, match=said):
        worksheet.sheet(**({"student": "anna", "key": KEY} | change))


# ---------------------------------------------------------------- checking


def right_answers(sheet):
    return {e.number: {a.name: a.values.tolist() for a in e.asked} for e in sheet.exercises}


def test_right_answers_are_right_and_blanks_are_not_answered(one):
    reports = worksheet.check_answers(one, right_answers(one))
    assert all(reports) and len(reports) == sum(len(e.asked) for e in one.exercises)
    assert {str(r).split(": ")[1] for r in worksheet.check_answers(one, {})} == {"not answered yet."}
    space = {}
    for cell in one.notebook()["cells"]:
        if cell["id"].startswith("answer-"):
            exec("".join(cell["source"]), space)
    blank = {n: space[f"answer_{n}"] for n in right_answers(one)}
    assert {str(r).split(": ")[1] for r in worksheet.check_answers(one, blank)} == {"not answered yet."}


def test_a_wrong_entry_is_shown_with_its_sum_of_products(one):
    product = one.exercises[ALL.index("product")]
    mine = product.asked[0].values.tolist()
    mine[1][0] += 1
    (report,) = [r for r in worksheet.check_answers(one, {"product": {"Q": mine}}) if not str(r).endswith("yet.")]
    assert not report.right and "1 of 4 entries differs" in report.headline
    row, column = product.numbers["X"][1], product.numbers["W^Q"][:, 0]
    total = f"{row @ column:g}"
    assert report.details[0].startswith(f"row 2, column 1: yours {mine[1][0]:g}; ")
    assert "·" in report.details[0] and report.details[0].endswith(f"= {total}")


@topics
def test_every_single_wrong_entry_is_noticed(one, topic):
    exercise = one.exercises[ALL.index(topic)]
    for asked in exercise.asked:
        for place in np.ndindex(asked.shape):
            mine = np.array(asked.values)
            mine[place] += 10.0**-asked.decimals
            reports = worksheet.check_answers(one, {topic: {asked.name: mine}})
            (report,) = [r for r in reports if "not answered" not in r.headline]
            assert not report.right


def test_answers_for_exercises_that_are_not_there_are_refused(one):
    with pytest.raises(ValueError, match="mine: expected exercises 1 to 16 or their topics, got 17"):
        worksheet.check_answers(one, {17: {}})
    with pytest.raises(ValueError, match="expected one of 'Q'"):
        worksheet.check_answers(one, {"product": {"K": 1}})
    with pytest.raises(ValueError, match="mine: expected a dictionary of answers for exercise 1, got list"):
        worksheet.check_answers(one, {1: [1]})


def test_the_answers_for_a_machine_are_the_right_ones(one):
    answers = json.loads(pages.as_json(one.answers()))
    mine = {e["number"]: {a["name"]: a["values"] for a in e["answers"]} for e in answers["exercises"]}
    assert all(worksheet.check_answers(one, mine))
    assert answers["sheet"] == one.number
    for exercise in answers["exercises"]:
        for answer in exercise["answers"]:
            assert len(answer["terms"]) == math.prod(answer["shape"])


# ---------------------------------------------------------------- class lists


def test_two_students_with_the_same_numbers_are_noticed(tmp_path):
    def make(student):
        made = worksheet.sheet("anna", KEY, ["product"])
        return worksheet.Sheet(student, made.title, made.number, made.exercises)

    with pytest.raises(ValueError, match="'anna' and 'bob' would get the same numbers"):
        files.write_files(tmp_path, ["anna", "bob"], make, answers=False, one_file=True, force=False)
    assert not list(tmp_path.iterdir())


def class_file(tmp_path, content, name="class.csv"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    "content",
    [
        "student\nanna\nbob\n",
        b"\xef\xbb\xbfstudent\r\nanna\r\nbob\r\n",
        'name,student,group\n"Berg, Anna",anna,1\nBob,bob,2',
        " student ,x\n  anna ,1\nbob,",
        "name;student;group\nBerg, Anna;anna;1\nBob;bob;2",
        "student\nanna\nbob\n\n\n",
    ],
    ids=["plain", "byte order mark", "more columns", "blanks", "semicolons", "blank lines at the end"],
)
def test_a_class_list_is_read(tmp_path, content):
    assert read_class(class_file(tmp_path, content), worksheet.clean_student) == ["anna", "bob"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("student\nanna\n\nbob\n", "line 3: expected a student, got an empty row"),
        ("student,x\nanna,1\n,\n", "line 3: expected a student, got an empty row"),
        ("x,student\n1,anna\n2,\n", "line 3: student: expected at least one character, got none"),
        ("x,student\n1,anna\n2\n", "line 3: student: expected at least one character, got none"),
        ("student\nanna\nbob\n anna\n", r"line 4: expected each student once, got 'anna' again \(line 2\)"),
        ("student\nJosé\nJose\u0301\n", "line 3: expected each student once"),
        ("student\n" + "a" * 101, "line 2: student: expected at most 100 characters"),
        ("name\nanna\n", "line 1: expected one column 'student', got name"),
        ("name\tstudent\nx\tanna\n", r"line 1: expected one column 'student', got name\\tstudent"),
        ("name;student\nx;anna\ny;\n", "line 3: student: expected at least one character, got none"),
        ("student\nanna\n\nanna\n", r"line 3: expected a student[^\n]*\n[^\n]*line 4: expected each student once"),
        ("student,student\na,b\n", "line 1: expected one column 'student'"),
        ("", "line 1: expected one column 'student', got none"),
        ("student\n", "expected at least one student, got none"),
        ('student\n"anna\n', "line 2: expected CSV"),
        (b"student\n\xe9va\n", "expected UTF-8, got byte 0xe9 at 8"),
    ],
)
def test_a_wrong_class_list_names_the_line(tmp_path, content, said):
    with pytest.raises(ValueError, match=said):
        read_class(class_file(tmp_path, content), worksheet.clean_student)


# ---------------------------------------------------------------- the command


def run(*arguments):
    return main(["sheet", *(str(a) for a in arguments)])


@pytest.fixture
def thirty(tmp_path):
    names = [f"student{i:02d}@school.example" for i in range(26)] + ["=1+1", "../../x", "<b>", "Åsa Öberg"]
    return class_file(tmp_path, "name,student\n" + "".join(f"N {i},{name}\n" for i, name in enumerate(names)))


SHORT = ("--topics", "product", "softmax", "cross-entropy")


def test_a_class_of_thirty_from_list_to_answers(thirty, tmp_path, capsys):
    key = class_file(tmp_path, KEY + "\n", "key.txt")
    out, solved = tmp_path / "sheets", tmp_path / "answers"
    assert run("--class", thirty, "--key-file", key, *SHORT, "--title", "Week 6", "--out", out) == 0
    assert "30 sheets in" in capsys.readouterr().out
    assert run("--class", thirty, "--key-file", key, *SHORT, "--title", "Week 6", "--out", solved, "--answers") == 0
    assert len(list(out.iterdir())) == 60 and len(list(solved.iterdir())) == 60
    for student in read_class(thirty, worksheet.clean_student):
        stem = file_stem(student)
        answers = json.loads((solved / f"{stem}.answers.json").read_text(encoding="utf-8"))["sheets"][0]
        assert answers["student"] == student
        page = (out / f"{stem}.html").read_text(encoding="utf-8")
        assert answers["sheet"] in page
        assert answers["sheet"] in (solved / f"{stem}.answers.html").read_text(encoding="utf-8")
        sheet = worksheet.sheet(student, KEY, SHORT[1:], "Week 6")
        mine = {e["number"]: {a["name"]: a["values"] for a in e["answers"]} for e in answers["exercises"]}
        assert all(worksheet.check_answers(sheet, mine))
        assert not page_leaks(Page(page), sheet)
        nbformat.validate(nbformat.read(out / f"{stem}.ipynb", as_version=4))
    # One student alone gets the same file as in the class.
    assert run("--student", "Åsa Öberg", "--key", KEY, *SHORT, "--title", "Week 6", "--out", tmp_path / "one") == 0
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (out / path.name).read_bytes()


def test_one_file_to_print_holds_the_whole_class(thirty, tmp_path):
    out = tmp_path / "out"
    assert run("--class", thirty, "--key", KEY, *SHORT, "--one-file", "--out", out) == 0
    assert run("--class", thirty, "--key", KEY, *SHORT, "--one-file", "--out", out, "--answers") == 0
    assert sorted(p.name for p in out.iterdir()) == ["class.answers.html", "class.answers.json", "class.html"]
    text = (out / "class.html").read_text(encoding="utf-8")
    page = Page(text)
    assert page.tags["article"] == 30 and page.title == "Worksheet, 30 students"
    assert "break-before: page" in text and not "".join(page.blanks)
    answers = json.loads((out / "class.answers.json").read_text(encoding="utf-8"))
    assert [s["student"] for s in answers["sheets"]] == read_class(thirty, worksheet.clean_student)
    for sheet in answers["sheets"]:
        assert text.count(sheet["sheet"]) >= 2


def test_a_second_run_continues_where_the_first_stopped(thirty, tmp_path, monkeypatch, capsys):
    whole, out = tmp_path / "whole", tmp_path / "out"
    assert run("--class", thirty, "--key", KEY, *SHORT, "--out", whole) == 0
    replace, done = os.replace, []

    def stop_at_the_seventh(*names):
        if len(done) == 6:
            raise KeyboardInterrupt
        done.append(names)
        replace(*names)

    monkeypatch.setattr(os, "replace", stop_at_the_seventh)
    assert run("--class", thirty, "--key", KEY, *SHORT, "--out", out) == 130
    monkeypatch.undo()
    assert len([p for p in out.iterdir() if not p.name.endswith(".new")]) == 6
    before = {p.name: p.stat().st_mtime_ns for p in out.iterdir() if not p.name.endswith(".new")}
    capsys.readouterr()
    assert run("--class", thirty, "--key", KEY, *SHORT, "--out", out) == 0
    assert "54 new files" in capsys.readouterr().out
    assert {p.name: p.read_bytes() for p in out.iterdir()} == {p.name: p.read_bytes() for p in whole.iterdir()}
    assert all((out / name).stat().st_mtime_ns == at for name, at in before.items())


def test_a_file_with_another_content_is_refused_before_anything_is_written(thirty, tmp_path, capsys):
    out = tmp_path / "out"
    out.mkdir()
    last = out / f"{file_stem('Åsa Öberg')}.html"
    last.write_text("mine")
    assert run("--class", thirty, "--key", KEY, *SHORT, "--out", out) == 2
    assert "is there already, with another content" in capsys.readouterr().err
    assert [p.name for p in out.iterdir()] == [last.name] and last.read_text() == "mine"
    assert run("--class", thirty, "--key", KEY, *SHORT, "--out", out, "--force") == 0
    assert last.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert len(list(out.iterdir())) == 60
    # Another title gives other sheets under the same names: refused as well.
    assert run("--class", thirty, "--key", KEY, *SHORT, "--out", out, "--title", "Week 4") == 2


def test_student_and_key_are_enough(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("--student", "anna", "--key", KEY) == 0
    assert sorted(p.suffix for p in (tmp_path / "worksheets").iterdir()) == [".html", ".ipynb"]


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    out = tmp_path / "out"
    monkeypatch.setattr(os, "replace", full)
    assert run("--student", "anna", "--key", KEY, *SHORT, "--out", out) == 2
    assert not [p for p in out.iterdir() if p.suffix in (".html", ".ipynb")]


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_written_file_has_the_usual_permissions(tmp_path):
    (tmp_path / "usual").write_text("")
    assert run("--student", "anna", "--key", KEY, *SHORT, "--out", tmp_path / "out") == 0
    usual = stat.S_IMODE((tmp_path / "usual").stat().st_mode)
    assert {stat.S_IMODE(p.stat().st_mode) for p in (tmp_path / "out").iterdir()} == {usual}


def test_the_key_comes_from_argument_file_or_environment(tmp_path, monkeypatch):
    key = class_file(tmp_path, b"\xef\xbb\xbf" + KEY.encode() + b"\r\n", "key.txt")
    monkeypatch.delenv("TOYTF_KEY", raising=False)
    wanted = ("--student", "anna", *SHORT, "--out")
    assert run(*wanted, tmp_path / "a", "--key", KEY) == 0
    assert run(*wanted, tmp_path / "b", "--key-file", key) == 0
    monkeypatch.setenv("TOYTF_KEY", KEY)
    assert run(*wanted, tmp_path / "c") == 0
    assert len({tuple(p.read_bytes() for p in sorted((tmp_path / d).iterdir())) for d in "abc"}) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "expected either --student ID or --class FILE"),
        (("--student", "anna", "--class", "x.csv", "--key", KEY, "--out", "o"), "expected either --student ID or"),
        (("--student", "anna", "--out", "o"), "expected a key: --key-file FILE, the variable TOYTF_KEY, or --key"),
        (("--student", "anna", "--out", "o", "--key", " "), "--key: expected a key, got nothing but blanks"),
        (
            ("--student", "anna", "--out", "o", "--key", "a", "--key-file", "b"),
            "expected --key or --key-file, got both",
        ),
        (("--student", "anna", "--out", "o", "--key-file", "nowhere"), "nowhere"),
        (("--student", "", "--out", "o", "--key", KEY), "student: expected at least one character, got none"),
        (("--student", "a" * 101, "--out", "o", "--key", KEY), "student: expected at most 100 characters, got 101"),
        (("--student", "anna", "--out", "o", "--key", KEY, "--topics", "sums"), "topics: expected some of embedding"),
        (("--student", "anna", "--out", "o", "--key", KEY, "--one-file"), "--one-file: expected a class list"),
        (("--class", "nowhere.csv", "--out", "o", "--key", KEY), "nowhere.csv"),
    ],
)
def test_a_wrong_command_says_what_was_expected(tmp_path, monkeypatch, capsys, arguments, said):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TOYTF_KEY", raising=False)
    assert run(*arguments) == 2
    captured = capsys.readouterr().err
    assert captured.startswith("error: ") or "\nerror: " in captured
    assert said in captured
    assert not list(tmp_path.iterdir())


def test_out_may_not_be_a_file(tmp_path, capsys):
    (tmp_path / "out").write_text("")
    assert run("--student", "anna", "--key", KEY, "--out", tmp_path / "out") == 2
    assert "--out: expected a folder" in capsys.readouterr().err


def test_a_short_key_is_remarked_on_and_the_help_warns_of_the_history(tmp_path, capsys):
    assert run("--student", "anna", "--key", "SECRET", *SHORT, "--out", tmp_path / "out") == 0
    assert "a key of 6 characters can be guessed by trying" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        run("--help")
    said = " ".join(capsys.readouterr().out.split())
    assert "stays in your shell's history" in said and "TOYTF_KEY" in said


def test_all_topics_are_listed_and_the_default_is_a_choice_of_them(capsys):
    assert run("--list") == 0
    assert [line.split(":")[0] for line in capsys.readouterr().out.splitlines()] == ALL
    assert set(worksheet.DEFAULT) < set(ALL)
    assert 40 <= sum(worksheet.TOPICS[t].minutes for t in worksheet.DEFAULT) <= 60


def test_the_command_runs_and_imports_nothing_for_figures_notebooks_or_torch(tmp_path):
    code = (
        "import sys; from toytf.__main__ import main; status = main(sys.argv[1:]); "
        "assert not {'matplotlib', 'nbformat', 'IPython', 'torch'} & set(sys.modules); sys.exit(status)"
    )
    arguments = ["sheet", "--student", "anna", "--topics", "all", "--out", str(tmp_path / "out")]
    for command in (["-c", code], ["-m", "toytf"]):
        done = subprocess.run(
            [sys.executable, *command, *arguments],
            env=os.environ | {"TOYTF_KEY": KEY},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
    assert done.stdout == f"1 sheet in {tmp_path / 'out'}: 0 new files\n"
