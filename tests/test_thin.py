"""The package for students: it says the words of the real checks, and holds nothing that solves an exercise."""

import builtins
import importlib.util
import inspect
import io
import json
import re
import subprocess
import sys
import zipfile
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from test_assign import execute
from toytf import check
from toytf.__main__ import main
from toytf.check import edits
from toytf.check.compare import agree, collect
from toytf.course.chapters import BOOK
from toytf.teach import assign, thin
from toytf.teach.exercises import read
from toytf.teach.thin import stored

CHECKS = list(check.CHECKS.values())
each = pytest.mark.parametrize("one", CHECKS, ids=[one.name for one in CHECKS])
PARTS = {f"{one.number} {part.name}".strip(): (one, part) for one in check.BY_HAND.values() for part in one.parts}
each_part = pytest.mark.parametrize(("one", "part"), PARTS.values(), ids=list(PARTS))


@cache
def book():
    return read(BOOK / "notebooks")


@cache
def everything():
    """The package of an assignment with all exercises; sealed cheaply, for here nobody tries to open it."""
    dear = stored.COST
    stored.COST = dear | {"n": 2}
    try:
        return thin.wheel(list(book().values()), "Everything")
    finally:
        stored.COST = dear
        stored.sealed.cache_clear()


def contents(wheel):
    with zipfile.ZipFile(io.BytesIO(wheel)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@cache
def shelf():
    return stored.Shelf(contents(everything()[1])["toytf/check/data.json"])


@pytest.fixture
def cheap(monkeypatch):
    monkeypatch.setattr(stored, "COST", stored.COST | {"n": 2})
    stored.sealed.cache_clear()
    yield
    stored.sealed.cache_clear()


def run(source, name):
    space = {"np": np, "__builtins__": builtins}
    exec(compile(source, name, "exec"), space)
    return space[name]


# ---------------------------------------------------------------- the same words


def modifies(one):
    """The right function, which changes its first array as well."""

    def function(*args):
        result = one.expected(*args)
        for arg in args:
            if isinstance(arg, np.ndarray) and arg.size:
                arg.flat[0] = 1 - arg.flat[0]
        return result

    return function


def tries(one):
    yield "the solution", run(one.source, one.name)
    yield "the right function", one.expected
    yield from ((mistake.name, mistake.function) for mistake in one.mistakes)
    yield from ((f"{m.name} in float32", _then(m.function, np.float32)) for m in one.mistakes)
    yield "a stub", run(one.stub, one.name)
    yield "no function", 3
    yield "None", lambda *args: None
    yield "a word", lambda *args: "a word"
    yield "an error", lambda *args: 1 // 0
    yield "a wrong shape", lambda *args: tuple(np.zeros((9, 1, 9)) for _ in one.results)
    yield "a result too many", lambda *args: tuple(np.zeros(1) for _ in range(len(one.results) + 1))
    yield "zeros", lambda *args: args[0] * 0
    yield "in float32", lambda *args: _as(np.float32, one.expected(*args))
    yield "in float16", lambda *args: _as(np.float16, one.expected(*args))
    yield "twice as much", lambda *args: _as(float, one.expected(*args), 2)
    yield "an argument changed", modifies(one)


def _then(function, dtype):
    """A function whose numbers are handed over in another precision; truth values stay."""

    def cast(part):
        part = np.asarray(part)
        return part if part.dtype.kind == "b" else part.astype(dtype)

    def then(*args):
        value = function(*args)
        return tuple(map(cast, value)) if isinstance(value, tuple) else cast(value)

    return then


def _as(dtype, value, times=1):
    parts = tuple(np.asarray(part).astype(dtype) * times for part in (value if isinstance(value, tuple) else (value,)))
    return parts if isinstance(value, tuple) else parts[0]


@each
def test_it_says_the_words_of_the_real_check_for_right_and_wrong_functions(one):
    mine = shelf().checks[one.name]
    for about, function in tries(one):
        expected, got = one.report(function), mine.report(function)
        assert (got.right, got.mistake, str(got)) == (expected.right, expected.mistake, str(expected)), about
    assert (mine.name, mine.exercise, mine.__doc__) == (one.name, one.exercise, one.__doc__)


def test_values_come_back_as_they_were():
    odd = (np.array([[np.nan, -0.0], [np.inf, 0.1 + 0.2]]), np.float32(0.1), np.array(3), np.array([], bool), [1, "a"])
    back = stored.unpacked(json.loads(json.dumps(stored.packed(odd))))
    for a, b in zip(odd[:4], back[:4], strict=True):
        a = np.asarray(a)
        assert (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())
    assert back[4] == [1, "a"]
    with pytest.raises(TypeError, match="expected numbers, arrays of them, text, tuples or lists, got dict"):
        stored.packed({})


# ---------------------------------------------------------------- by hand


def typed(value, decimals):
    """A value as one types it."""
    found = np.round(np.asarray(value, dtype=float), decimals)
    return found.tolist()


@each_part
def test_right_numbers_are_right_and_wrong_ones_wrong_entry_by_entry(one, part, cheap):
    mine = shelf().by_hand[one.number]
    right = np.asarray(typed(part.expected, part.decimals))
    for answer in (right, np.asarray(part.expected, dtype=float)):
        assert [str(r) for r in mine.reports({part.name: answer})] == [str(r) for r in one.reports({part.name: answer})]
        assert all(mine.reports({part.name: answer}))
    for place in np.ndindex(right.shape):
        answer = right.copy()
        answer[place] += 1
        (expected,), (got,) = one.reports({part.name: answer}), mine.reports({part.name: answer})
        assert (got.right, got.headline) == (expected.right, expected.headline) and not got
        assert len([line for line in got.details if "yours" in line]) == 1


@each_part
def test_what_is_no_answer_gets_the_words_of_the_real_check(one, part, cheap):
    mine = shelf().by_hand[one.number]
    for answer in (None, "seven", np.zeros((9, 1, 9)), np.zeros((*np.shape(part.expected), 2))):
        assert [str(r) for r in mine.reports({part.name: answer})] == [str(r) for r in one.reports({part.name: answer})]
    nan = np.full(np.shape(part.expected), np.nan)
    assert not mine.reports({part.name: nan})[0]


def recognised(part, i):
    """Whether a part's trap has digits of its own: else nothing tells it from the right answer or an earlier trap."""
    value = np.asarray(part.traps[i].value, dtype=float)
    others = [part.expected, *(trap.value for trap in part.traps[:i])]
    digits = 2 if not part.decimals else min(2, part.decimals)
    return value.shape == np.shape(part.expected) and not any(
        np.shape(other) == value.shape and np.array_equal(stored.steps(value, digits), stored.steps(other, digits))
        for other in others
    )


TRAPS = [(one, part, i) for one, part in PARTS.values() for i in range(len(part.traps))]


@pytest.mark.parametrize(("one", "part", "i"), TRAPS, ids=[f"{o.number} {p.name} {i}" for o, p, i in TRAPS])
def test_a_known_wrong_answer_is_called_what_it_looks_like(one, part, i, cheap):
    if not recognised(part, i):
        pytest.skip("its digits are those of another answer")
    answer = np.asarray(part.traps[i].value, dtype=float)
    (got,) = shelf().by_hand[one.number].reports({part.name: answer})
    assert got.details[0] == f"It looks like {part.traps[i].looks}"


def test_nearly_all_known_wrong_answers_are_recognised():
    assert sum(recognised(part, i) for _, part, i in TRAPS) > 0.9 * len(TRAPS)


def test_a_table_turned_over_is_seen(cheap):
    mine = shelf().by_hand["9.5"]
    (got,) = mine.reports({"Jacobian": np.array(PARTS["9.5 Jacobian"][1].expected).T})
    assert got.details[0] == "It looks like the right table turned over: rows and columns are exchanged."


def test_points_are_those_of_the_real_check(cheap):
    for answer in ({"mean": 3, "variance": 0}, {"mean": 3}, {"mean": 3, "variance": 2}):
        assert shelf().points("9.1", answer, of=5) == check.points("9.1", answer, of=5)
    one = check.CHECKS["softmax"]
    assert shelf().points("softmax", one.expected, of=2) == 2
    assert shelf().points("softmax", one.mistakes[0].function, of=2) == 0
    with pytest.raises(ValueError, match="expected one of .*'deviation'.*, got 'width'"):
        shelf().byhand("9.1", 3, part="width")


def test_a_seal_is_slow_and_its_own_for_each_entry():
    assert stored.COST["n"] >= 2**14 and stored.COST["r"] >= 8
    one = check.BY_HAND["9.1"]
    sealed = thin.sealed_by_hand(one, "Week 6")
    tags = [tag for part in sealed["parts"] for entry in part["entries"] for tag in entry]
    assert len(set(tags)) == len(tags) > 10  # 4 stands there twice, and nobody sees it
    other = thin.sealed_by_hand(one, "Week 4")
    assert not set(tags) & {tag for part in other["parts"] for entry in part["entries"] for tag in entry}
    shelf = stored.Shelf(json.dumps({"title": "Week 6", "checks": [], "by hand": [sealed]}))
    assert shelf.points("9.1", {part.name: typed(part.expected, part.decimals) for part in one.parts}, of=1) == 1


# ---------------------------------------------------------------- nothing that solves an exercise


def body(one):
    """The lines of a solution below its docstring; not those that any function may have, or that its task says."""
    task = f"{one.stub}\n{book()[one.exercise].text}"
    lines = [line.strip() for line in one.source.split('"""', 2)[2].splitlines()]
    return [line for line in lines if len(line) >= 8 and re.search(r"\w\W+\w+\W+\w", line) and line not in task]


def given_away(files):
    """Lines of solutions in any file."""
    plain = plainly(files)
    return [f"{one.name}: {line}" for one in CHECKS for line in body(one) if re.sub(r"\s+", " ", line) in plain]


def plainly(files):
    """All texts, also those that stand in JSON, with single blanks."""
    whole = "\n".join(content.decode("utf-8") for content in files.values())
    return re.sub(r"\s+", " ", whole + whole.replace('\\"', '"').replace("\\n", "\n"))


def test_no_line_of_any_solution_is_in_any_file():
    assert all(map(body, CHECKS))
    assert given_away(contents(everything()[1])) == []


@pytest.mark.parametrize("name", ["toytf/check/data.json", "toytf/check/__init__.py"])
def test_a_planted_line_is_found(name):
    files = contents(everything()[1])
    line = body(check.CHECKS["top_p"])[0]
    files[name] += json.dumps(line).encode()
    assert f"top_p: {line}" in given_away(files)


def test_no_edit_that_makes_a_mistake_is_in_any_file():
    """An edit would say which line is changed."""
    files = contents(everything()[1])
    data = json.loads(files.pop("toytf/check/data.json"))
    for one in data["checks"]:
        del one["doc"]
    plain = plainly(files | {"data": json.dumps(data, ensure_ascii=False).encode()})
    found, looked_for = [], 0
    for one in CHECKS:
        for text in (given for given in one.mistakes._given if isinstance(given, str)):
            pieces = {piece for mistake in edits.read(text) for pair in mistake.edits for piece in pair}
            pieces = {piece for piece in pieces if len(piece) >= 16 and re.search(r"\w\W+\w+\W+\w", piece)}
            looked_for += len(pieces)
            found += [f"{one.name}: {piece}" for piece in pieces if piece in plain]
    assert looked_for > 300
    assert found == []


def test_what_is_said_to_a_mistake_is_read_by_who_makes_it_and_by_nobody_else():
    plain = plainly(contents(everything()[1]))
    words = [text for one in CHECKS for mistake in one.mistakes for text in (mistake.name, mistake.advice)]
    assert [text for text in words if len(text) > 30 and text in plain] == []
    two = check.softmax.mistakes[:2]
    mine = shelf().checks["softmax"]
    looks = [next(pair[0] for pair in mine.looks if pair[0].opened(collect(m.function, mine.inputs))) for m in two]
    assert looks[0] is not looks[1]
    assert looks[0].opened(collect(two[1].function, mine.inputs)) is None
    assert looks[0].opened(collect(two[0].function, mine.inputs)).advice == two[0].advice


def test_no_file_is_one_that_computes_what_the_course_teaches():
    names = [name for name in contents(everything()[1]) if name.endswith(".py")]
    assert sorted(names) == [
        "toytf/__init__.py", "toytf/_validate.py", "toytf/byhand/__init__.py", "toytf/byhand/expressions.py",
        "toytf/check/__init__.py", "toytf/check/compare.py", "toytf/check/outcomes.py", "toytf/check/stored.py",
    ]  # fmt: skip
    for name in names:
        text = contents(everything()[1])[name].decode()
        asked = re.findall(r"^\s*(?:from|import) (toytf[\w.]*)", text, re.MULTILINE)
        own = {path.removesuffix(".py").replace("/", ".").removesuffix(".__init__") for path in names}
        assert set(asked) <= own, name


@pytest.fixture(scope="module")
def inside(tmp_path_factory):
    """Every function in the package, imported from the archive under its own name."""
    place = tmp_path_factory.mktemp("thin") / everything()[0]
    place.write_bytes(everything()[1])
    ours = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "toytf"}
    for name in ours:
        del sys.modules[name]
    sys.path.insert(0, str(place))
    try:
        for name in ("toytf", "toytf.check", "toytf.byhand", "toytf._validate", "toytf.check.stored"):
            __import__(name)
        modules = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "toytf"}
        assert all(str(place) in module.__file__ for module in modules.values())
    finally:
        sys.path.remove(str(place))
        for name in [name for name in sys.modules if name.partition(".")[0] == "toytf"]:
            del sys.modules[name]
        sys.modules.update(ours)
    return modules


def callables(modules):
    """Whatever can be called: functions of modules, methods of their classes and of what they made."""
    found = {}
    for module in modules.values():
        for name, thing in vars(module).items():
            if getattr(thing, "__module__", "").startswith("toytf") or type(thing).__module__.startswith("toytf"):
                for inner in dir(thing):
                    if not inner.startswith("__") and callable(getattr(thing, inner, None)):
                        found[f"{module.__name__}.{name}.{inner}"] = getattr(thing, inner)
                if callable(thing) and not inspect.isclass(thing):
                    found[f"{module.__name__}.{name}"] = thing
    return found


def test_no_function_of_the_package_is_a_right_one(inside, capsys):
    found = callables(inside)
    assert len(found) > 100
    solves = []
    for one in CHECKS:
        cases = one.draw(np.random.default_rng(0))
        right = list(cases.given(one.expected))
        for name, function in found.items():
            first = collect(function, cases[:1])[0]
            if agree(one, first, right[0]) and all(map(agree, [one] * len(right), collect(function, cases), right)):
                solves.append(f"{name} solves {one.name}")
    assert solves == []
    capsys.readouterr()


def test_inspect_and_a_call_of_what_stands_for_the_right_function_give_nothing(inside):
    for one in inside["toytf.check"].CHECKS.values():
        assert not hasattr(one, "source") and not hasattr(one, "solution")
        with pytest.raises(TypeError):
            inspect.getsource(one.expected)
        with pytest.raises(LookupError, match="has results of this function, and not the function"):
            one.expected(1)


def test_no_number_worked_out_by_hand_stands_in_the_open():
    found = json.loads(contents(everything()[1])["toytf/check/data.json"])["by hand"]
    assert len(found) == len(check.BY_HAND)
    for one in found:
        text = json.dumps([{k: v for k, v in part.items() if k not in ("name", "salt")} for part in one["parts"]])
        numbers = re.findall(r'(?<!["\w])-?\d+(?:\.\d+)?(?!["\w])', text)
        allowed = {n for part in one["parts"] for n in map(str, [*part["shape"], part["decimals"]])}
        assert set(numbers) <= allowed | {"0", "1", "2", "3", "4", "5"}  # with how many decimals a trap is recognised
        assert not re.search(r"\d\.\d", text)
        for part in check.BY_HAND[one["number"]].parts:
            assert not [trap.looks for trap in part.traps if trap.looks in text]


# ---------------------------------------------------------------- the file


def some():
    return [one for one in book().values() if one.number in ("9.1", "8.8", "9.2")]


def test_the_same_assignment_gives_the_same_bytes_and_another_another_version():
    name, content = thin.wheel(some(), "Week 6")
    assert thin.wheel(some(), "Week 6") == (name, content)
    assert re.fullmatch(r"toytf_student-\d+\.\d+\.\d+\.post\d+-py3-none-any\.whl", name)
    assert thin.wheel(some(), "Week 4")[0] != name
    assert thin.wheel(some()[1:], "Week 6")[0] != name


def test_the_file_is_a_wheel_whose_record_is_right(tmp_path):
    import base64
    import csv
    import hashlib

    from packaging.metadata import Metadata
    from packaging.utils import parse_wheel_filename

    name, content = thin.wheel(some(), "Week 6")
    project, version, *_ = parse_wheel_filename(name)
    files = contents(content)
    about = f"toytf_student-{version}.dist-info"
    metadata = Metadata.from_email(files[f"{about}/METADATA"])
    assert (metadata.name, metadata.version, project) == ("toytf-student", version, "toytf-student")
    rows = list(csv.reader(files[f"{about}/RECORD"].decode().splitlines()))
    assert [row[0] for row in rows] == list(files)
    for file, digest, size in rows[:-1]:
        found = base64.urlsafe_b64encode(hashlib.sha256(files[file]).digest()).rstrip(b"=").decode()
        assert (digest, int(size)) == (f"sha256={found}", len(files[file]))
    code = (
        "import toytf, toytf.check as c, importlib.metadata as m\n"
        "print(toytf.__version__ == m.version('toytf-student'), sorted(c.CHECKS), sorted(c.BY_HAND))\n"
        "c.hide_answers()\nc.byhand('9.1', 4, part='mean')\nc.byhand('9.1', 3, part='mean')\n"
        "for name in ('layer_norm', 'ops'):\n"
        "    try:\n        getattr(c, name)\n    except AttributeError as error:\n        print(error)\n"
        "try:\n    from toytf import ops\nexcept ImportError as error:\n    print(error)\n"
    )
    (tmp_path / name).write_bytes(content)
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {name!r})\n{code}"],
        cwd=tmp_path, capture_output=True, encoding="utf-8",
    )  # fmt: skip
    assert done.stdout.splitlines() == [
        "True ['softmax'] ['9.1']",
        "9.1, mean: not right.",
        "  yours 4",
        "9.1, mean: right.",
        "check.layer_norm: this package has the checks of 'Week 6' alone: softmax, 9.1",
        "check.ops: this package has the checks of 'Week 6' alone: softmax, 9.1",
        "toytf.ops is not in this package, which has the checks of one assignment; toytf.check and toytf.byhand.fmt "
        "are. Whatever needs more is tried out in its chapter's notebook, with the whole of toytf.",
    ], done.stderr


def test_a_title_of_any_signs_makes_a_package_that_opens(tmp_path):
    name, content = thin.wheel([book()["ex-08-8"]], 'Week "3"\\ {x} \n """é"""')
    (tmp_path / name).write_bytes(content)
    code = f"import sys; sys.path.insert(0, {name!r}); import toytf.check; print(*toytf.check.CHECKS)"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, encoding="utf-8")
    assert done.stdout == "softmax\n", done.stderr


# ---------------------------------------------------------------- with a notebook


def command(folder, *words):
    return main(["assign", "--exercises", "9.1", "8.8", "9.2", "--title", "Week 6", "--out", str(folder), *words])


def test_the_command_writes_it_beside_the_notebook_which_runs_with_it(tmp_path, capsys):
    assert command(tmp_path / "week", "--thin") == 0
    (wheel,) = (tmp_path / "week").glob("*.whl")
    assert wheel.name == thin.wheel([book()[f"ex-{n}"] for n in ("09-1", "08-8", "09-2")], "Week 6")[0]
    assert wheel.name in capsys.readouterr().out
    notebook = json.loads((tmp_path / "week" / "student.ipynb").read_text("utf-8"))
    answers = {
        "ex-08-8": check.softmax.source,
        "ex-09-1": assign.assign_answer(check.BY_HAND["9.1"], [4, [4, 0, 0, 4], 2, 1.4142, None]),
    }
    for cell in notebook["cells"]:
        about = cell["metadata"].get("toytf", {})
        if about.get("role") == "answer" and about["exercise"] in answers:
            cell["source"] = answers[about["exercise"]]
        if cell["id"] == "imports":
            cell["source"] = ["import toytf\n", *cell["source"], "\nprint(toytf.__file__)"]
    said = execute(notebook, tmp_path / "week")
    assert wheel.name in said["imports"][0]
    assert said["needs"] == []
    assert said["ex-08-8-check"] == [
        f"softmax: right, on {len(check.softmax.draw(np.random.default_rng(0)))} inputs.\n",
        "2",
    ]
    assert said["ex-09-1-check"][0].splitlines()[:2] == ["9.1, mean: not right.", "  yours 4"]
    assert "right." in said["ex-09-1-check"][0] and "(1 + 3 + 3 + 5)" not in said["ex-09-1-check"][0]
    assert said["ex-09-1-check"][1] == "0.6"


def test_each_chapter_apart_has_a_package_of_its_own(tmp_path):
    words = ["assign", "--chapters", "18", "19", "--apart", "--thin", "--out", str(tmp_path)]
    assert main(words) == 0
    assert len({path.name for path in tmp_path.glob("chapter-*/*.whl")}) == 2


def test_exercises_that_are_tried_out_with_more_of_toytf_are_named(tmp_path, capsys):
    words = ["assign", "--exercises", "13.8", "9.7", "9.2", "8.5", "--out", str(tmp_path / "week"), "--thin"]
    assert main(words) == 0
    assert "tried out with the whole of toytf, in the chapter's notebook: 13.8, 8.5\n" in capsys.readouterr().out
    assert [one.number for one in thin.need_more([replace(book()["ex-09-2"], text="See `toytf.ops`.")])] == ["9.2"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            ["--thin", "--classroom", "x"],
            "--thin: expected no --classroom, whose folder for the grader has the solutions",
        ),
        (
            ["--thin", "--install", "toytf==0.1.0"],
            "expected with --thin the address of a folder, https://.../, got toytf",
        ),
        (["--thin", "--install", "https://x.org/a.whl"], "the address of a folder"),
    ],
)
def test_what_does_not_go_together_is_refused(tmp_path, capsys, monkeypatch, words, says):
    monkeypatch.chdir(tmp_path)
    assert command(tmp_path / "week", *words) == 2
    assert says in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_it_needs_a_folder_to_be_written_to(capsys):
    assert main(["assign", "--exercises", "9.1", "--list", "--thin"]) == 2
    assert "--thin: expected --out, a folder for the package, got none" in capsys.readouterr().err


def test_the_grader_does_not_use_it():
    from toytf.teach.grade import code

    names = {file.relative_to(code.ROOT).as_posix() for file in code.files()}
    assert not [name for name in names if "thin" in name or "first_cell" in name]
    assert importlib.util.find_spec("toytf.teach.thin") is not None
