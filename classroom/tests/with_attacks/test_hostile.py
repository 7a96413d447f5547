"""What the grader promises against students who do not play fair: 0 for what was not solved, others untouched.

Every attack is a small notebook or file. All are graded in one batch together with honest students.
An attack that gets at something it must not see prints GOT. At the end the protections are taken
away one at a time, and the attacks succeed: so they do test something.
"""

import contextlib
import dataclasses
import html
import io
import json
import os
import pathlib
import platform
import re
import socket
import tempfile
import threading
import time
import zipfile

import pytest
import tqdm

import gradecheck
import toytf
from gradecheck import HONEST, IMPORTS, SOFTMAX, Weak, code, data, notebook, words
from toytf_classroom import grading, sandbox
from toytf_classroom.plain_text import composed

HERE = pathlib.Path(__file__).parent

# ---------------------------------------------------------------- the attacks

# Finds what the grader's side of the sandbox uses to answer, as a student could.
RUNNER = """import gc, os, struct, sys
runner = next(x for x in gc.get_objects() if type(x).__name__ == "Runner")
def forge(header, body=b""):
    os.write(runner.replies, struct.pack("<4sII", b"TTF1", len(header), len(body)) + header + body)
def answer(header, body=b""):
    frame = sys._getframe()
    while "request" not in frame.f_locals: frame = frame.f_back
    forge(header % frame.f_locals["request"]["n"], body)
    os._exit(0)
"""


CODE = {name: [IMPORTS, *cells] for name, cells in gradecheck.cells_of("attacks.txt", HERE, RUNNER=RUNNER).items()}


def zip_bomb():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as whole:
        whole.writestr("a.ipynb", bytes(20_000_000))
    return file.getvalue()


def cells(*odd):
    return json.dumps({"nbformat": 4, "metadata": [], "cells": list(odd)}).encode()


# Each of these files is no notebook, or holds no answer.
FILES = {
    "truncated.ipynb": HONEST[: len(HONEST) // 2],
    "empty.ipynb": b"",
    "binary.ipynb": bytes(range(256)) * 100,
    "zip_bomb.ipynb": zip_bomb(),
    "utf16_cut.ipynb": json.dumps(notebook(SOFTMAX)).encode("utf-16")[:200],
    "list.ipynb": b"[1, 2]",
    "number.ipynb": b"42",
    "cells_are_text.ipynb": b'{"cells": "many"}',
    "format_3.ipynb": b'{"nbformat": 3, "worksheets": [{"cells": []}]}',
    "deep.ipynb": b'{"cells": ' + b"[" * 200_000 + b"]" * 200_000 + b"}",
    "deep_and_cut.ipynb": b'{"cells": ' + b'{"a":[' * 50_000,
    "many_parts.ipynb": b'{"cells": [' + b"[]," * 600_000 + b"[]]}",
    "long_number.ipynb": b'{"cells": [], "x": ' + b"9" * 100_000 + b"}",
    "many_cells.ipynb": cells(*[{}] * 5000),
    "wrong_types.ipynb": cells(
        1, None, [], "x", {}, {"cell_type": 3, "source": 4}, {"cell_type": "code", "source": [1, 2]},
        {"cell_type": "code", "source": {"a": 1}}, {"cell_type": ["code"], "source": "x = 1"},
        {"cell_type": "markdown", "source": "x", "metadata": 3},
        {"cell_type": "markdown", "source": "x", "metadata": {"nbgrader": [], "toytf": 5}},
        {"cell_type": "markdown", "source": "x", "metadata": {"nbgrader": {"grade_id": ["ex-09-3"]}}},
    ),
    "half_characters.ipynb": b'{"cells": [{"cell_type": "code", "source": "x = \'\\ud800\'", "metadata": {}}]}',
    "too_large.ipynb": lambda path: path.write_bytes(b" " * (17 << 20)),
    "sparse.ipynb": lambda path: (path.touch(), os.truncate(path, 1 << 40)),
    "link.ipynb": lambda path: path.symlink_to("honest.ipynb"),
    "link_to_nothing.ipynb": lambda path: path.symlink_to("/nowhere/at/all"),
    "link_to_folder": lambda path: path.symlink_to("/"),
    "pipe.ipynb": lambda path: os.mkfifo(path),  # Windows has none to name here
    "socket.ipynb": lambda path: socket.socket(socket.AF_UNIX).bind(os.path.relpath(path)),
    "two/a.ipynb": HONEST,
    "two/b.ipynb": HONEST,
    "none/readme.txt": b"nothing",
    "folder.ipynb/link.ipynb": lambda path: (path.parent.mkdir(), path.symlink_to("../honest.ipynb")),
    "both.ipynb": HONEST,
    "both/x.ipynb": HONEST,
    "quotes.ipynb": b'{"cells": [{"source": "' + b'\\"' * 2_000_000,
    "quotes_alone.ipynb": b'"' * (2 << 20),
    "cut_html_output.ipynb": HONEST[:-20] + b', "outputs": ["' + b'<div class=\\"plot\\">' * 100_000,
    "folder_inside/a.ipynb": lambda path: path.mkdir(parents=True),
    "nan.ipynb": b'{"cells": NaN, "nbformat": Infinity}',
    "twice.ipynb": b'{"cells": [], "cells": {"source": 1}}',
    "null.ipynb": bytes(100_000),
    "bom_alone.ipynb": b"\xef\xbb\xbf",
    "one_long_line.ipynb": cells({"cell_type": "code", "source": "x = " + "1+" * 500_000 + "1", "metadata": {}}),
    "many_lines.ipynb": cells({"cell_type": "code", "source": ["pass\n"] * 200_000, "metadata": {}}),
    "keeps_the_grader_busy.ipynb": cells(  # with whatever it searches cells for
        *({"cell_type": "code", "source": source, "metadata": {}} for source in (
            '""' + " " * 900_000 + "x", "\n" * 900_000, "a" * 900_000, " " * 900_000 + "1", "=" * 900_000,
        )),
        *({"cell_type": "markdown", "source": "# " * 400_000, "metadata": {}} for _ in range(3)),
    ),
    "null_in_source.ipynb": cells({"cell_type": "code", "source": "x = 1\0", "metadata": {}}),
}  # fmt: skip

# Edited cells and metadata: points come from what the code does.
EDITED = {
    "deleted_cells": data(IMPORTS),
    "duplicated_check_cells": data(
        IMPORTS, *[code("check.softmax(softmax)", nbgrader={"grade_id": "test-ex-08-8", "points": 99})] * 9
    ),
    "edited_metadata": data(
        IMPORTS,
        code(
            "softmax = 3", nbgrader={"grade_id": "ex-08-8", "points": 1e9}, toytf={"exercise": "ex-08-8", "points": 2}
        ),
    ),
    "edited_check_cell": data(
        IMPORTS, code("assert True\nprint('softmax: right, on 5 inputs.')", toytf={"role": "check"})
    ),
    "check_in_place_of_function": data(IMPORTS, "from toytf.check import softmax"),
    "locked_text_cell_as_answer": data(
        IMPORTS, {**words("x"), "metadata": {"nbgrader": {"grade_id": "ex-09-3", "locked": True}}}
    ),
}

NAMES = [
    "=1+1", '=HYPERLINK("x","y")', "+cmd|' /C calc'!A0", "-2", "@SUM(A1)", "\tx", " =1", "%2e%2e%2fx", "x\\..\\..\\x",
    "..%2F..%2Fx", "...", "<script>alert(1)<script>", "a\nb", "a\rb", "index", "Honest", "\u202ecod.exe", "nul\x01l",
    "x" * 200, "'; DROP TABLE", "–", "key", "~", "a~b", "receipts", "é", 'a"b,c',
    "\udcff", "'=1+1", "''=1+1", "\uff1d1+1", "a;=1+1", "a\t=1+1", "anna ", " anna", "anna\u200d",
    "e\u0301", "con", "-rf", "--out", "$(touch x)", "`id`", "%s%n", "{0}", "x.ipynb",
]  # fmt: skip

# What an attack has solved honestly besides, and keeps.
KEEPS = {
    "fork_bomb": {"8.8": 2},
    "os_exit_in_the_function": {"9.1": 2},
}
SAYS = {  # words that its receipt must hold
    "infinite_loop": "The cell was stopped after",
    "infinite_loop_that_ignores_signals": "The cell did not stop within",
    "sleeps_for_ever": "stopped after 3 seconds on the clock",
    "loop_in_c": "did not stop within",
    "os_exit": "The cell ended the whole Python process",
    "output_flood": "cut: more than 16 KB",
    "memory_flood": "MemoryError",
    "disk_flood": "No space left on device",
    "forged_object_array": "handed back no arrays",
    "answers_that_are_no_dictionary": "to be a dictionary with",
    "more_privileges": "capabilities [0, 0, 0, 0, 0, 0] [] no new 1 filter 2",
    "float16_to_be_compared_coarsely": "Work with float64",
    "many_cells_that_hang": "too many sandboxes had to be ended",
    "imports_the_solution": "No module named 'toytf'",
    "truncated": "is it cut off",
    "many_parts": "at most 2000 are read",
    "too_large": "at most 16 MB are read",
    "link": "links are not followed",
    "pipe": "no ordinary file",
    "both": "several submissions",
    "two": "Expected one notebook, got 2: a.ipynb, b.ipynb.",
    "deaf_and_asleep": "The cell did not stop within 3 seconds on the clock",
    "forged_that_nothing_was_changed": "changes its argument scores",
}


# ---------------------------------------------------------------- one batch with all of them


class World:
    """What must not change, and ears that must hear nothing."""

    def __init__(self, root):
        self.root, self.mark = root, f"toytf-{os.getpid()}-{time.time_ns()}"
        self.submissions, self.out, self.heard = root / "submissions", root / "grades.csv", []
        self.canary = root / "birds" / "canary"
        self.canary.parent.mkdir()
        self.canary.write_text("sings")
        self.ears = [socket.socket(family) for family in (socket.AF_INET, socket.AF_UNIX, socket.AF_UNIX)]
        for ear, place in zip(self.ears, [("127.0.0.1", 0), f"/tmp/{self.mark}", f"\0{self.mark}"], strict=True):
            ear.bind(place)
            ear.listen()
            threading.Thread(target=self.listen, args=(ear,), daemon=True).start()
        for place in (root, self.canary.parent, self.canary, f"/tmp/{self.mark}"):
            os.chmod(place, 0o777)  # what protects it shall be the sandbox alone

    def listen(self, ear):
        with contextlib.suppress(OSError):
            while True:
                self.heard.append(ear.accept())

    def notebook(self, parts):
        places = {
            "SUBMISSIONS": self.submissions, "CANARY": self.canary, "CSV": self.out, "HOME": self.out.with_suffix(""),
            "PORT": self.ears[0].getsockname()[1], "UNIX": f"/tmp/{self.mark}", "MARK": self.mark,
            "PROJECT": pathlib.Path(toytf.__file__).parents[1],
            "ENVIRONMENT": pathlib.Path(tqdm.__file__).resolve().parents[1],
        }  # fmt: skip
        fill = lambda m: str(places[m.group(1)])  # noqa: E731
        return data(*(re.sub("@([A-Z]+)@", fill, part) if isinstance(part, str) else part for part in parts))

    def left_behind(self):
        for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                if self.mark.encode() in path.read_bytes():
                    yield path


@pytest.fixture(scope="module")
def world():
    with tempfile.TemporaryDirectory(prefix="toytf-hostile-") as place:  # not pytest's, which is closed to other users
        world = World(pathlib.Path(place))
        yield world
        for ear in world.ears:
            ear.close()
        os.unlink(f"/tmp/{world.mark}")


@pytest.fixture(scope="module")
def batch(world):
    box = gradecheck.sandbox_or_skip()
    files = {f"{name}.ipynb": world.notebook(parts) for name, parts in CODE.items()}
    files |= {f"{name}.ipynb": content for name, content in EDITED.items()}
    files |= {
        "honest.ipynb": HONEST,
        "zz_honest.ipynb": HONEST,
        "folder_honest/in/Week 6 (1).ipynb": HONEST,
        **FILES,
    }
    files |= {"bomb.zip": zip_bomb(), "notes.txt": b"x", ".hidden.ipynb": HONEST}
    os.environ["TOYTF_SECRET"] = f"secret-{world.mark}"
    with contextlib.chdir(world.root):  # the name of a socket must be short
        gradecheck.folder(pathlib.Path("submissions"), files)
    before = {p: p.read_bytes() for p in world.submissions.glob("*.ipynb") if p.is_file() and p.stat().st_size < 10**6}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grading, "grade_one", _impatient_with_attacks(grading.grade_one))
        summary, receipts = gradecheck.grade(world.submissions, world.out, box)
    return {"summary": summary, "receipts": receipts, "before": before}


def _impatient_with_attacks(grade_one):
    """Many of them sleep: on the clock they get seconds, and who solved something as much as everybody."""

    def one(content, assignment, student, *, limits, **how):
        if "honest" not in student and student not in KEEPS:
            limits = dataclasses.replace(limits, clock=3.0)
        return grade_one(content, assignment, student, limits=limits, **how)

    return one


@pytest.mark.parametrize("name", CODE)
def test_hostile_code_gets_nothing_for_what_it_did_not_solve_and_gets_at_nothing(batch, world, name):
    receipt = batch["receipts"][name]
    wanted = {"8.8": 0, "9.1": 0} | KEEPS.get(name, {})
    got = {number: value for number, value in gradecheck.points(receipt).items() if number in wanted}
    assert got == wanted, receipt.to_json().decode()
    assert "GOT" not in gradecheck.printed(receipt)
    assert f"secret-{world.mark}" not in receipt.to_json().decode()


HANDED_IN = {name.split("/")[0].removesuffix(".ipynb"): name for name in FILES}
# Notebooks, with nothing of use in them.
EMPTY = {
    *EDITED,
    "wrong_types",
    "half_characters",
    "one_long_line",
    "many_lines",
    "null_in_source",
    "keeps_the_grader_busy",
}


@pytest.mark.parametrize("name", [*EDITED, *HANDED_IN])
def test_what_is_no_notebook_or_was_edited_gives_nothing_and_a_reason(batch, name):
    receipt = batch["receipts"]["folder.ipynb" if name == "folder" else name]
    assert receipt.points == 0
    assert receipt.reason or name in EMPTY


@pytest.mark.parametrize("name", SAYS)
def test_the_receipt_says_what_happened(batch, name):
    text = batch["receipts"][name].to_json().decode()
    assert SAYS[name] in text, text


def test_honest_students_in_the_same_batch_lose_nothing_and_everybody_is_graded(batch):
    assert batch["summary"].failed == []
    for name in ("honest", "zz_honest", "folder_honest"):
        receipt = batch["receipts"][name]
        assert gradecheck.points(receipt) == {"8.8": 2, "9.1": 2, "9.3": None}, receipt.to_json().decode()
        assert receipt.notes == []


def test_nothing_outside_the_sandbox_changed_nobody_was_called_and_no_process_is_left(batch, world):
    assert world.canary.read_text() == "sings"
    assert {p: p.read_bytes() for p in batch["before"]} == batch["before"]
    assert b"GOT" not in world.out.read_bytes()
    assert world.heard == []
    assert list(world.left_behind()) == []


def test_other_files_in_the_folder_are_named_and_never_opened(batch):
    notes = "\n".join(batch["summary"].notes)
    assert "bomb.zip: passed over" in notes
    assert "notes.txt: passed over" in notes
    assert ".hidden.ipynb: passed over" in notes
    assert ".hidden" not in batch["receipts"]


def test_pages_hold_no_script_and_load_nothing(batch, world):
    for page in (world.out.with_suffix("") / "feedback").glob("*.html"):
        text = page.read_text("utf-8")
        bare = re.sub(
            r"<(/?)(html|head|meta|title|style|body|main|section|h1|h2|p|pre|small|strong|div|table|thead|tbody|tr|th|td|a|ul|li)\b",
            "",
            text.replace("<!doctype", ""),
        )
        assert "<" not in bare.replace("initial-scale", ""), page
        assert "default-src 'none'" in html.unescape(text)
        assert not re.search(r"\x1b|\u202e|\u2066", text)
        assert not re.search(r"<[^>]*\s(on\w+|src|style)=", text)
        assert all(
            not link.startswith(("http", "//", "javascript", "data")) for link in re.findall('href="([^"]*)"', text)
        )


# ---------------------------------------------------------------- names


def test_no_name_leads_out_of_the_folder_or_meets_another_or_is_a_formula_or_markup(tmp_path):
    files = {f"{name}.ipynb": b"{" for name in NAMES}
    submissions = gradecheck.folder(tmp_path / "submissions", files | {"honest.ipynb": b"{"})
    listed = ["../../../etc/passwd", "=cmd", "<img src=x>", "/absolute", "honest"]
    (tmp_path / "class.csv").write_text("student\n" + "\n".join(listed) + "\n", "utf-8")
    summary, receipts = gradecheck.grade(submissions, tmp_path / "grades.csv", class_list=tmp_path / "class.csv")
    hidden = {name for name in NAMES if name.startswith(".")}
    students = {composed(name.partition("/")[0]) for name in set(NAMES) - hidden} | set(listed)
    assert set(receipts) == students
    assert sum("its name begins with a dot" in note for note in summary.notes) == len(hidden)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["class.csv", "grades", "grades.csv", "submissions"]
    for kind in ("receipts", "feedback"):
        found = [p.name for p in (tmp_path / "grades" / kind).iterdir()]
        assert len({name.lower() for name in found}) == len(students) + (kind == "feedback")
        assert all(re.fullmatch(r"[\w.@+~-]+", name) and not name.startswith(".") for name in found)
    rows = gradecheck.table(tmp_path / "grades.csv")
    assert len(rows) == len(students) + 1
    for cell in (cell for row in rows for cell in row):
        assert not cell.lstrip(" ").startswith(("=", "+", "-", "@", "\t", "\r")) and "\n" not in cell
    for page in (tmp_path / "grades" / "feedback").glob("*.html"):
        assert "<script" not in page.read_text("utf-8") and "<img" not in page.read_text("utf-8")


# ---------------------------------------------------------------- each protection is needed


def attack(world, name, box, tmp_path, **how):
    submissions = gradecheck.folder(tmp_path / "s", {f"{name}.ipynb": world.notebook(CODE[name])})
    _, receipts = gradecheck.grade(submissions, tmp_path / "g.csv", box, **how)
    return receipts[name]


def without(*names):
    return lambda options: [option for option in options if option not in names]


def shown(*option):
    """Something more to see, behind /tmp, in which it may lie."""
    return lambda options: [*options[:2], option, *options[2:]]


def as_installed(options):
    at = next(i for i, option in enumerate(options) if option[-1] == "/site")
    packages = [("--ro-bind", str(place), f"/site/{place.name}") for place in Weak().site.values()]
    return [*options[:at], *packages, *options[at + 1 :]]


# An attack, what is taken away, and what the attack then says.
HOLES = {
    "network": lambda w: {"namespaces": without("--unshare-net")},
    "reads_other_submissions": lambda w: {"system": shown("--ro-bind", str(w.submissions), str(w.submissions))},
    "writes_outside": lambda w: {"system": shown("--bind", str(w.canary.parent), str(w.canary.parent))},
    "reads_other_processes": lambda w: {"namespaces": without("--unshare-pid")},
    "reads_the_environment": lambda w: {"environment": lambda e: e | {"TOYTF_SECRET": f"GOT secret-{w.mark}"}},
    "memory_that_no_limit_counts": lambda w: {"filters": False},
    "reads_what_the_system_says_of_itself": lambda w: {"system": shown("--proc", "/proc")},
    "opens_terminals": lambda w: {"system": lambda options: [("--dev", "/dev"), *options]},
    "learns_where_the_project_is": lambda w: {"system": as_installed},
    "disk_flood": lambda w: {"system": lambda options: [option for option in options if option[0] != "--size"]},
}


@pytest.mark.parametrize("name", HOLES)
def test_with_one_protection_taken_away_its_attack_succeeds(world, batch, tmp_path, name):
    gradecheck.sandbox_or_skip()
    assert "GOT" in gradecheck.printed(attack(world, name, Weak(**HOLES[name](world)), tmp_path))
    world.heard.clear()


def test_with_toytf_in_sight_the_solution_is_imported(world, batch, tmp_path):
    weak = Weak()
    weak.site |= {place.name: place for place in (pathlib.Path(one.__file__).parent for one in (toytf, tqdm))}
    assert gradecheck.points(attack(world, "imports_the_solution", weak, tmp_path))["8.8"] == 2


# A call that the filter refuses, the attack that tries it, and what that attack says if it gets through.
CALLS = [
    ("asks_how_busy_the_machine_is", "sysinfo", "sysinfo"),
    ("asks_the_kernel_for_the_mounts", "listmount", "[b'"),
    ("leaves_its_core", "sched_setaffinity", "sched_setaffinity"),
    ("locks_a_file_that_others_see", "flock", "flock"),
    ("watches_what_others_do", "inotify_init1", "inotify_init1"),
    ("asks_what_is_in_the_machine_s_memory", "mincore", "mincore"),
    ("asks_what_is_in_the_machine_s_memory", "madvise", "MADV_PAGEOUT"),
    ("leaves_a_note_for_the_next", "ioctl", "ioctl"),
    ("uses_up_what_the_machine_has_once", "fcntl", "fcntl, a pipe"),
]


@pytest.mark.parametrize(("name", "call", "says"), CALLS, ids=lambda word: word.replace(" ", "_"))
def test_with_one_call_allowed_again_its_attack_succeeds(world, batch, tmp_path, monkeypatch, name, call, says):
    if call == "listmount":
        monkeypatch.setattr(sandbox, "_NEWEST", 1000)
    else:
        monkeypatch.delitem(sandbox._REFUSED if call in sandbox._REFUSED else sandbox._BY_ARGUMENT, call)
    if f"GOT {says}" not in gradecheck.printed(attack(world, name, Weak(), tmp_path)):
        assert f"GOT {says}" not in gradecheck.printed(attack(world, name, Weak(filters=False), tmp_path / "open"))
        pytest.skip(f"Linux {platform.release()} does not do this at all")


def test_the_memory_of_many_processes_counts_together(world, batch, tmp_path):
    patient = gradecheck.limits(cell=30.0, total=60.0)
    watched = attack(world, "memory_flood_in_many_processes", gradecheck.sandbox_or_skip(), tmp_path, limits=patient)
    assert "used more than 512 MB of memory" in gradecheck.printed(watched)
