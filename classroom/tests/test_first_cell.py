"""The first cell of a student's notebook: silent where toytf is there, and plain words where it cannot be had."""

import ast
import json
import os
import subprocess
import sys
import venv
import zipfile

import pytest

import gradecheck
from toytf import __version__
from toytf_classroom import first_cell
from toytf_classroom.__main__ import main

FILE = f"toytf-{__version__}-py3-none-any.whl"
WHEEL = {  # in which a toytf says where it comes from
    "toytf/__init__.py": f'__version__ = "{__version__}"\n',
    "toytf/check.py": 'SAYS = "from the wheel"\n',
    "toytf/byhand.py": "fmt = str\n",
}
INDEX, ADDRESS = f"toytf=={__version__}", f"https://school.example/{FILE}"
MARK = "open('called', 'w')"  # in place of pip


@pytest.fixture
def wheel(tmp_path):
    with zipfile.ZipFile(tmp_path / FILE, "w") as archive:
        for name, text in WHEEL.items():
            archive.writestr(name, text)
    return tmp_path / FILE


@pytest.fixture
def cells(wheel):
    """Every kind of first cell."""
    return {where: first_cell.named(where).cell for where in (None, str(wheel), ADDRESS, INDEX)}


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """A Python in which nothing is installed, pip neither."""
    place = tmp_path_factory.mktemp("bare") / "venv"
    venv.EnvBuilder(with_pip=False, symlinks=os.name != "nt").create(place)
    return place / ("Scripts" if os.name == "nt" else "bin") / "python"


def run(python, cell, folder, then="", pip=None, first=""):
    """Run a cell, and what follows, as a script in a folder; `pip` is found where there is none."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PIP_", "TOYTF"))}
    if pip is not None:
        (folder / "packages" / "pip").mkdir(parents=True, exist_ok=True)
        (folder / "packages" / "pip" / "__init__.py").write_text("")
        (folder / "packages" / "pip" / "__main__.py").write_text(pip)
        environment["PYTHONPATH"] = str(folder / "packages")
    elif python == sys.executable:
        environment["PYTHONPATH"] = os.pathsep.join(sys.path)
    command = [python, "-c", f"{first}\n{cell}\n{then}"]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, encoding="utf-8")


def words(done):
    """What the cell says in the end, without the traceback that a terminal shows."""
    assert done.returncode == 1
    text = done.stderr[done.stderr.index("toytf is not ready.") :]
    assert text.rstrip().endswith("Then run this cell again.")
    return text


def test_where_toytf_is_there_every_cell_is_silent_and_the_rest_is_graded(tmp_path, cells, box):
    for cell in cells.values():
        ast.parse(cell, feature_version=(3, 7))
        done = run(sys.executable, cell, tmp_path, "print([n for n in dir() if 'ready' in n])")
        assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr
        receipt = gradecheck.one(cell, gradecheck.IMPORTS, gradecheck.SOFTMAX, gradecheck.BY_HAND, box=box)
        assert receipt.points == 4
        assert gradecheck.printed(receipt).strip() == ""
    done = run(sys.executable, cells[None].replace(__version__, "9.9"), tmp_path)
    assert done.stdout.startswith(f"toytf {__version__} is here; this notebook was made with 9.9.")


def test_an_older_python_and_a_stranger_s_package_are_told_so_before_anything_else(tmp_path, bare, cells):
    old = "import sys; sys.version_info = (3, 9, 1); sys.version = '3.9.1 (main)'"
    for cell in cells.values():
        text = words(run(bare, cell, tmp_path, first=old, pip=MARK))
        assert "It needs Python 3.11 or newer, and this is Python 3.9.1." in text
    (tmp_path / "toytf.py").write_text("")
    for cell in cells.values():
        assert "is here that is not the course's" in words(run(bare, cell, tmp_path, pip=MARK))
    assert not (tmp_path / "called").exists()


def test_without_a_place_or_with_a_missing_file_nothing_is_installed(tmp_path, bare, cells, wheel):
    (tmp_path / "elsewhere").mkdir()
    for where, says in (
        (None, "Your teacher says where it comes from"),
        (str(wheel), f"needs the file {FILE} beside it"),
    ):
        assert says in words(run(bare, cells[where], tmp_path / "elsewhere", pip=MARK))
    assert not (tmp_path / "elsewhere" / "called").exists()


def test_pip_is_asked_for_what_the_teacher_named_and_what_was_installed_is_used_at_once(tmp_path, bare, cells, wheel):
    asks = "import json, sys\njson.dump(sys.argv[1:], open('asked.json', 'w'))\nsys.exit('it failed')\n"
    for where, what in ((INDEX, INDEX), (ADDRESS, f"toytf @ {ADDRESS}")):
        run(bare, cells[where], tmp_path, pip=asks)
        asked = json.loads((tmp_path / "asked.json").read_text())
        assert (asked[0], asked[-1]) == ("install", what)
        assert all(word.startswith("-") or word in ("install", "1", "20") for word in asked[:-1])
    unpacks = f"import zipfile\nzipfile.ZipFile({FILE!r}).extractall({str(tmp_path / 'packages')!r})\n"
    done = run(bare, cells[str(wheel)], tmp_path, "from toytf import check; print(check.SAYS)", pip=unpacks)
    assert done.stdout == "Installing toytf. This takes a minute at most.\nfrom the wheel\n", done.stderr


# What pip says, as it was seen to say it (tests/with_products makes it say some of these).
TROUBLES = {
    "/usr/bin/python3: No module named pip": "This Python has no pip",
    "error: externally-managed-environment": "This Python may not be changed",
    "ERROR: Could not install packages due to an OSError: [Errno 13] Permission denied: '/x'": "On a JupyterHub",
    "ERROR: No matching distribution found for numpy>=1.26": "Is there a network here?",
    "ERROR: something new": "Show these lines to your teacher",
}


@pytest.mark.parametrize("said", TROUBLES)
def test_where_pip_fails_the_words_say_what_to_do_and_what_pip_said(tmp_path, bare, cells, said):
    text = words(run(bare, cells[INDEX], tmp_path, pip=f"import sys\nsys.stderr.write({said!r})\nsys.exit(1)\n"))
    assert TROUBLES[said] in text and said in text


def test_jupyter_shows_the_words_without_a_traceback():
    from IPython.core.interactiveshell import InteractiveShell

    shell, said = InteractiveShell(), []
    shell._showtraceback = lambda kind, value, lines: said.extend(lines)
    shell.run_cell(first_cell.named().cell.replace("(3, 11)", "(99, 0)"))
    assert said[0] == "toytf is not ready."
    assert not [line for line in said if "Traceback" in line or "File" in line]


def test_a_wheel_is_copied_beside_the_notebook_and_what_is_no_place_is_refused(tmp_path, wheel, capsys):
    command = ["assign", "--exercises", "9.1", "--out", str(tmp_path / "week"), "--install"]
    (tmp_path / "other.whl").write_bytes(wheel.read_bytes())
    for where in ("toytf", "toytf>=0.1", "http://school.example/toytf.whl", "toytf==0.1.0; import os",
                  'https://x.org/"+evil+"', str(tmp_path / "other.whl"), f"missing/{FILE}"):  # fmt: skip
        assert main([*command, where]) == 2
        assert "--install: expected a wheel" in capsys.readouterr().err
    assert main([*command, str(wheel)]) == 0
    assert (tmp_path / "week" / FILE).read_bytes() == wheel.read_bytes()
    for name in ("student.ipynb", "instructor.ipynb"):
        cells = json.loads((tmp_path / "week" / name).read_text("utf-8"))["cells"]
        (code, *_) = [cell for cell in cells if cell["cell_type"] == "code"]
        assert code["metadata"]["jupyter"] == {"source_hidden": True}
        assert f'_make_ready("{FILE}", "{__version__}")' in "".join(code["source"])
