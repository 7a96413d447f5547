"""The first cell of a student's notebook: silent where toytf is there, and plain words where it cannot be had."""

import json
import os
import subprocess
import sys
import venv
import zipfile

import pytest

import gradecheck
from toytf import __version__
from toytf_classroom import assign, first_cell
from toytf_classroom.__main__ import main

BIN = "Scripts" if os.name == "nt" else "bin"
FILE = f"toytf-{__version__}-py3-none-any.whl"


def fake_wheel(name="toytf", version=__version__):
    """A wheel with a toytf in it that says where it comes from."""
    about = f"{name.replace('-', '_')}-{version}.dist-info/"
    return {
        "toytf/__init__.py": f'__version__ = "{version}"\n',
        "toytf/check.py": 'SAYS = "from the wheel"\n',
        "toytf/byhand.py": "fmt = str\n",
        f"{about}METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{about}WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{about}RECORD": "",
    }


def zipped(path, files):
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """A Python in which nothing is installed, pip neither."""
    place = tmp_path_factory.mktemp("bare") / "venv"
    venv.EnvBuilder(with_pip=False, symlinks=os.name != "nt").create(place)
    return place / BIN / "python"


def run(python, cell, folder, then="", pip=None, first=""):
    """Run a cell, and what follows, as a script in a folder; a folder `pip` is found where there is none."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PIP_", "TOYTF"))}
    if pip is not None:
        (folder / "packages" / "pip").mkdir(parents=True)
        (folder / "packages" / "pip" / "__init__.py").write_text("")
        (folder / "packages" / "pip" / "__main__.py").write_text(pip)
        environment["PYTHONPATH"] = str(folder / "packages")
    return subprocess.run(
        [python, "-c", f"{first}\n{cell}\n{then}"],
        cwd=folder, env=environment, capture_output=True, encoding="utf-8",
    )  # fmt: skip


def fails(says):
    return f"import sys\nsys.stderr.write({says!r})\nsys.exit(1)\n"


# ---------------------------------------------------------------- toytf is there


def ways(tmp_path):
    """Every kind of first cell."""
    wheel = zipped(tmp_path / FILE, fake_wheel())
    return {
        "nothing": first_cell.named(None).cell,
        "file": first_cell.named(str(wheel)).cell,
        "address": first_cell.named(f"https://school.example/{FILE}").cell,
        "index": first_cell.named(f"toytf=={__version__}").cell,
    }


WAYS = ["nothing", "file", "address", "index"]


@pytest.mark.parametrize("way", WAYS)
def test_where_toytf_is_there_the_cell_is_silent_and_leaves_no_name_behind(tmp_path, way):
    done = run(sys.executable, ways(tmp_path)[way], tmp_path, "print([n for n in dir() if 'ready' in n])")
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr


def test_another_version_is_told_in_one_line(tmp_path):
    cell = first_cell.nowhere().cell.replace(__version__, "9.9")
    done = run(sys.executable, cell, tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith(f"toytf {__version__} is here; this notebook was made with 9.9.")
    assert len(done.stdout.splitlines()) == 1


@gradecheck.needs_linux
@pytest.mark.parametrize("way", WAYS)
def test_in_the_graders_sandbox_it_does_nothing_and_the_rest_is_graded(tmp_path, way, box):
    cells = [ways(tmp_path)[way], gradecheck.IMPORTS, gradecheck.SOFTMAX, gradecheck.BY_HAND]
    folder = gradecheck.folder(tmp_path / "week", {"anna.ipynb": gradecheck.data(*cells)})
    _, receipts = gradecheck.grade(folder, tmp_path / "g.csv", box)
    assert receipts["anna"].points == 4
    assert gradecheck.printed(receipts["anna"]).strip() == ""


# ---------------------------------------------------------------- toytf is missing


def words(done):
    """What the cell says in the end, without the traceback that a terminal shows."""
    assert done.returncode == 1
    text = done.stderr[done.stderr.index("toytf is not ready.") :]
    assert text.rstrip().endswith("Then run this cell again.")
    return text


def test_without_a_place_nothing_is_installed_and_it_is_said_what_to_do(tmp_path, bare):
    text = words(run(bare, first_cell.nowhere().cell, tmp_path, pip="open('called', 'w')"))
    assert not (tmp_path / "called").exists()
    assert "Your teacher says where it comes from" in text
    assert '%pip install "FILE OR ADDRESS"' in text
    assert "Do not install a package of this name from anywhere else" in text


def test_a_file_that_is_not_beside_the_notebook_is_asked_for_by_name(tmp_path, bare):
    cell = first_cell.named(str(zipped(tmp_path / FILE, fake_wheel()))).cell
    (tmp_path / "elsewhere").mkdir()
    text = words(run(bare, cell, tmp_path / "elsewhere"))
    assert f"needs the file {FILE} beside it" in text
    assert f"Put it into the folder {tmp_path / 'elsewhere'}" in text
    assert "In Colab" in text


def test_pip_is_asked_for_what_the_teacher_named_and_no_more(tmp_path, bare):
    pip = "import json, sys\njson.dump(sys.argv[1:], open('asked.json', 'w'))\nsys.exit('it failed')\n"
    for what in (f"toytf=={__version__}", f"https://school.example/{FILE}"):
        folder = tmp_path / what[:5]
        folder.mkdir()
        run(bare, first_cell.named(what).cell, folder, pip=pip)
        asked = json.loads((folder / "asked.json").read_text())
        assert asked[0] == "install"
        assert asked[-1] == (what if what.startswith("toytf") else f"toytf @ {what}")
        assert all(word.startswith("-") or word in ("install", "1", "20") for word in asked[:-1])


def test_what_was_installed_is_used_at_once(tmp_path, bare):
    """pip is made up: it unpacks the file."""
    zipped(tmp_path / FILE, fake_wheel())
    pip = f"import zipfile\nzipfile.ZipFile({FILE!r}).extractall({str(tmp_path / 'packages')!r})\n"
    cell = first_cell.named(str(tmp_path / FILE)).cell
    done = run(bare, cell, tmp_path, "from toytf import check; print(check.SAYS)", pip=pip)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "Installing toytf. This takes a minute at most.\nfrom the wheel\n"


# What pip says, as it was seen to say it (tests/with_products makes it say some of these).
TROUBLES = {
    "No module named pip": ("/usr/bin/python3: No module named pip", "This Python has no pip"),
    "system": (
        "error: externally-managed-environment\n\n× This environment is externally managed",
        "belongs to the system",
    ),
    "version": (
        "ERROR: Package 'toytf' requires a different Python: 3.10.1 not in '>=3.11'",
        "It needs another Python than this one",
    ),
    "read-only": (
        "ERROR: Could not install packages due to an OSError: [Errno 30] Read-only file system: '/opt/x'",
        "On a JupyterHub: ask the people who run it",
    ),
    "not ours": (
        "ERROR: Could not install packages due to an OSError: [Errno 13] Permission denied: '/opt/x'",
        "On a JupyterHub: ask the people who run it",
    ),
    "full": ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", "disk is full"),
    "gone": ("ERROR: HTTP error 404 while getting https://x.org/toytf.whl", "The address leads nowhere"),
    "no network": (
        "ERROR: Could not find a version that satisfies the requirement numpy>=1.26 (from toytf)\n"
        "ERROR: No matching distribution found for numpy>=1.26",
        "Is there a network here?",
    ),
    "anything": ("ERROR: something new", "Show these lines to your teacher"),
}


@pytest.mark.parametrize("trouble", TROUBLES)
def test_where_pip_fails_the_words_say_what_to_do_and_what_pip_said(tmp_path, bare, trouble):
    said, expected = TROUBLES[trouble]
    text = words(run(bare, first_cell.named(f"toytf=={__version__}").cell, tmp_path, pip=fails(said)))
    assert expected in text
    assert said.splitlines()[-1] in text
    others = {expected for _, expected in TROUBLES.values()} - {expected}
    assert not [other for other in others if other in text]


def test_a_python_without_pip_is_told_so(tmp_path, bare):
    text = words(run(bare, first_cell.named(f"toytf=={__version__}").cell, tmp_path))
    assert "This Python has no pip" in text and "ensurepip" in text


@pytest.mark.parametrize("way", WAYS)
def test_an_older_python_is_told_so_before_anything_else(tmp_path, bare, way):
    old = "import sys; sys.version_info = (3, 9, 1); sys.version = '3.9.1 (main)'"
    text = words(run(bare, ways(tmp_path)[way], tmp_path, first=old, pip="open('called', 'w')"))
    assert "It needs Python 3.11 or newer, and this is Python 3.9.1." in text
    assert not (tmp_path / "called").exists()


@pytest.mark.parametrize("way", WAYS)
def test_the_cell_can_be_read_by_an_old_python(tmp_path, way):
    import ast

    ast.parse(ways(tmp_path)[way], feature_version=(3, 7))


def test_a_python_in_the_browser_is_given_the_line_to_run(tmp_path, bare):
    text = words(
        run(
            bare,
            first_cell.named(f"toytf=={__version__}").cell,
            tmp_path,
            first="import sys; sys.platform='emscripten'",
        )
    )
    assert f'%pip install "toytf=={__version__}"' in text


@pytest.mark.parametrize("way", ["nothing", "index"])
@pytest.mark.parametrize("what", ["toytf.py", "toytf/__init__.py"])
def test_a_strangers_package_of_this_name_is_not_taken_for_ours(tmp_path, bare, way, what):
    (tmp_path / what).parent.mkdir(exist_ok=True)
    (tmp_path / what).write_text("")
    text = words(run(bare, ways(tmp_path)[way], tmp_path, pip="open('called', 'w')"))
    assert "is here that is not the course's" in text and str(tmp_path) in text
    assert not (tmp_path / "called").exists()


def test_jupyter_shows_the_words_without_a_traceback(tmp_path):
    from IPython.core.interactiveshell import InteractiveShell

    shell, said = InteractiveShell(), []
    shell._showtraceback = lambda kind, value, lines: said.extend(lines)
    shell.run_cell(first_cell.nowhere().cell.replace("(3, 11)", "(99, 0)"))
    assert said[0] == "toytf is not ready."
    assert not [line for line in said if "Traceback" in line or "File" in line]


# ---------------------------------------------------------------- the command


def assigned(folder, *more):
    return main(["assign", "--exercises", "9.1", "8.8", "--out", str(folder), *map(str, more)])


def needs(folder, name="student.ipynb"):
    cells = json.loads((folder / name).read_text("utf-8"))["cells"]
    (code, *_) = [cell for cell in cells if cell["cell_type"] == "code"]
    assert code["id"] == "needs"
    assert code["metadata"]["jupyter"] == {"source_hidden": True} and code["metadata"]["cellView"] == "form"
    return "".join(code["source"])


def test_a_wheel_is_copied_beside_the_notebook_and_the_first_cell_names_it(tmp_path, capsys):
    wheel = zipped(tmp_path / FILE, fake_wheel())
    assert assigned(tmp_path / "week", "--install", wheel) == 0
    assert (tmp_path / "week" / FILE).read_bytes() == wheel.read_bytes()
    assert FILE in capsys.readouterr().out
    for name in ("student.ipynb", "instructor.ipynb"):
        assert f'_make_ready("{FILE}", "{__version__}")' in needs(tmp_path / "week", name)


def test_without_a_place_the_cell_installs_nothing(tmp_path):
    assert assigned(tmp_path / "week") == 0
    assert needs(tmp_path / "week") == first_cell.nowhere().cell
    assert "subprocess.run" not in needs(tmp_path / "week")


@pytest.mark.parametrize(
    ("where", "says"),
    [
        ("toytf", "expected a wheel (toytf-"),
        ("toytf>=0.1", "expected a wheel"),
        ("http://school.example/toytf.whl", "expected a wheel"),
        ("toytf==0.1.0; import os", "expected a wheel"),
        ('https://x.org/"+evil+"', "expected a wheel"),
        ("missing.whl", "expected a wheel named as toytf-"),
        (f"toytf-{__version__}-py3-none-any.whl", "No such file"),
    ],
)
def test_a_place_that_is_none_is_refused(tmp_path, capsys, monkeypatch, where, says):
    monkeypatch.chdir(tmp_path)
    assert assigned(tmp_path / "week", "--install", where) == 2
    assert says in capsys.readouterr().err
    assert not (tmp_path / "week").exists()


@pytest.mark.parametrize(
    ("files", "says"),
    [
        (fake_wheel("other"), f"expected a wheel of toytf {__version__}, which makes this notebook, got other"),
        (fake_wheel(version="0.0.9"), "got toytf 0.0.9"),
        (fake_wheel("toytf-student"), "got toytf-student"),
        ({"a": "b"}, "which is none"),
    ],
)
def test_a_wheel_of_something_else_is_refused(tmp_path, capsys, files, says):
    assert assigned(tmp_path / "week", "--install", zipped(tmp_path / FILE, files)) == 2
    assert says in capsys.readouterr().err
    (tmp_path / FILE).write_text("no archive")
    assert assigned(tmp_path / "week", "--install", tmp_path / FILE) == 2
    assert "which is none" in capsys.readouterr().err


def test_the_cell_is_the_same_in_both_editions_and_carries_nothing_else():
    student, instructor = assign.notebooks([], "Empty")
    assert student == instructor
    assert [cell["id"] for cell in student["cells"]][1:] == ["needs", "imports"]
