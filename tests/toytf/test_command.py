"""The command `toytf`: one help, errors in one line, the same from a console script and `python -m`."""

import importlib
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

import toytf
from toytf import _command
from toytf.__main__ import MODULES, main

ROOT = Path(__file__).resolve().parents[2]


def python(*words, **how):
    command = [sys.executable, *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", **how)


def made(run):
    """A command that does nothing but this."""
    return SimpleNamespace(EXAMPLES=("toytf made",), arguments=lambda parser: None, run=run, STOPPED="all is kept")


def test_the_help_names_every_command_and_imports_none():
    code = (
        "import sys; from toytf.__main__ import main; status = main(['--help']); "
        "assert not {'numpy', 'tqdm', 'torch', 'matplotlib', 'toytf.ops'} & set(sys.modules); sys.exit(status)"
    )
    done = python("-c", code)
    assert done.returncode == 0, done.stderr
    assert re.findall(r"^  ([a-z]+) ", done.stdout, re.MULTILINE) == list(MODULES)


@pytest.mark.parametrize("name", MODULES)
def test_the_help_of_a_command_shows_examples_that_can_be_typed(name, capsys):
    command = importlib.import_module(MODULES[name])
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])
    assert ended.value.code == 0
    said = capsys.readouterr().out
    assert said.startswith(f"usage: toytf {name} ")
    _, examples = said.split("\nexamples:\n")
    assert examples.splitlines() == [f"  {line}" for line in command.EXAMPLES]
    typed = [shlex.split(line) for line in command.EXAMPLES if not line.startswith("python ")]
    assert typed
    for words in typed:
        assert words[:2] == ["toytf", name]
        _command.parser(name, command).parse_args(words[2:])


@pytest.mark.parametrize("name", MODULES)
def test_no_command_needs_torch_or_matplotlib_to_show_its_help(name):
    code = (
        "import sys; sys.modules['torch'] = sys.modules['matplotlib'] = None\n"
        f"from toytf.__main__ import main; main([{name!r}, '--help'])"
    )
    done = python("-c", code)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_unknown_command_is_answered_with_the_known_ones(capsys):
    assert main(["grades"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == f"error: expected one of {', '.join(MODULES)}, got 'grades'\n"


def test_no_command_at_all_shows_the_help(capsys):
    assert main([]) == 0
    assert capsys.readouterr().out.startswith("usage: toytf COMMAND")


@pytest.mark.parametrize(
    "words", [["translate"], ["train"], ["train", "--out", "x", "--steps", "x"], ["train", "--no"]]
)
def test_a_wrong_argument_is_one_line_and_ends_with_2(words, capsys):
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert re.fullmatch(rf"error: .+ \(toytf {words[0]} --help tells more\)\n", said.err)


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (ValueError("steps: expected 1, got 2"), "error: steps: expected 1, got 2\n"),
        (_command.Trouble("it does not work here"), "error: it does not work here\n"),
        (FileNotFoundError(2, "No such file or directory", "a.csv"), "error: No such file or directory: a.csv\n"),
        (OSError("the disk is odd"), "error: the disk is odd\n"),
    ],
)
def test_what_is_wrong_is_said_in_a_line_and_ends_with_2(error, says, capsys):
    def run(_):
        raise error

    assert _command.call("made", made(run), []) == 2
    assert capsys.readouterr().err == says


def test_ctrl_c_ends_with_130_and_says_what_is_kept(capsys):
    def run(_):
        raise KeyboardInterrupt

    assert _command.call("made", made(run), []) == 130
    assert capsys.readouterr().err == "\nstopped by hand; all is kept\n"


def test_a_mistake_of_ours_is_not_taken_for_one_of_the_user():
    def run(_):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        _command.call("made", made(run), [])


@pytest.mark.skipif(sys.platform == "win32", reason="the pipe is one of bash's")
def test_a_reader_that_has_seen_enough_is_no_error():
    code = "from toytf._command import show; show('a line\\n' * 99_999)"
    done = subprocess.run(
        ["bash", "-c", '"$0" -c "$1" 2>&1 | head -1; echo ${PIPESTATUS[0]}', sys.executable, code],
        cwd=ROOT, capture_output=True, encoding="utf-8", check=True,
    )  # fmt: skip
    lines = done.stdout.splitlines()
    assert len(lines) == 2 and lines[1] == "0"


def test_a_file_takes_its_place_when_all_of_it_is_there(tmp_path):
    path = tmp_path / "a.npz"
    path.write_bytes(b"old")
    with pytest.raises(ValueError, match="in the middle"), _command.replaced(path) as new:
        new.write_bytes(b"ne")
        raise ValueError("in the middle")
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]
    with _command.replaced(path) as new:
        new.write_bytes(b"new")
    assert path.read_bytes() == b"new" and list(tmp_path.iterdir()) == [path]


def test_a_progress_bar_is_for_people(capsys, monkeypatch):
    assert list(_command.progress([1, 2])) == [1, 2]
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(_command, "no_bar", lambda: False)
    assert list(_command.progress([1, 2], unit="sheet")) == [1, 2]
    assert "2/2" in capsys.readouterr().err


def test_the_console_script_and_python_m_are_the_same():
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["scripts"]
    assert scripts == {"toytf": "toytf.__main__:main"}
    module, _, name = scripts["toytf"].partition(":")
    assert getattr(importlib.import_module(module), name) is main
    installed = python("-c", f"import sys; sys.argv[0] = 'toytf'; from {module} import {name}; sys.exit({name}())", "x")
    by_module = python("-m", "toytf", "x")
    assert (installed.returncode, installed.stderr) == (by_module.returncode, by_module.stderr)
    assert by_module.returncode == 2


def test_the_version_is_that_of_the_package(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"toytf {toytf.__version__}\n"
