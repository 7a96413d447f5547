"""The README's lines can be typed as they stand: in cmd, in PowerShell, in a shell, and they do what make does."""

import importlib
import os
import re
import shlex

import pytest
import yaml

import readme_lines
from readme_lines import ROOT
from toytf import _command
from toytf.__main__ import MODULES

TEXT = readme_lines.README.read_text("utf-8")
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
needs_sh = pytest.mark.skipif(
    os.name != "posix", reason="Windows has no sh; there, the workflow types the lines in cmd"
)
LINES = [line for block in readme_lines.windows(TEXT) for line in block]
SCRIPTS = {"pip", "python", "jupyter-book"}  # what the locked lists put into .venv\Scripts


def problems(line, text=TEXT):
    """What keeps a line from working in cmd or in PowerShell."""
    found = []
    if strange := re.findall(r"[&|<>^%!;`'\"(){}$@,~]|[^\x20-\x7e]", line):
        found.append(f"{line}: {strange[0]} means something else in cmd or in PowerShell")
    if "/" in line:
        found.append(f"{line}: / where Windows writes \\")
    first, *rest = line.split()
    if first == "set":
        name, _, value = rest[0].partition("=")
        if len(rest) != 1 or not value:
            found.append(f"{line}: expected set NAME=value")
        if f'`$env:{name} = "{value}"`' not in text:
            found.append(
                f"{line}: PowerShell takes it for something else, and the README does not say what to type there"
            )
    elif first.startswith(".venv\\Scripts\\"):
        if first.rpartition("\\")[2] not in SCRIPTS:
            found.append(f"{line}: no such command in .venv")
    elif first not in ("py", "start"):
        found.append(f"{line}: a command that Windows does not have")
    for name in re.findall(r"requirements\\\S+", line):
        if not (ROOT / name.replace("\\", "/")).is_file():
            found.append(f"{line}: no file {name}")
    return found


def test_windows_lines_are_valid_in_cmd_and_in_powershell():
    assert len(LINES) >= 10
    assert [problem for line in LINES for problem in problems(line)] == []


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("make book", "a command that Windows does not have"),
        ("set LANG=en", "does not say what to type there"),
        ("set TOYTF_SOLUTIONS no", "expected set NAME=value"),
        (".venv/bin/pip install -r requirements\\book.txt", "/ where Windows writes"),
        (".venv\\Scripts\\pip install -r requirements\\reading.txt", "no file requirements\\reading.txt"),
        (".venv\\Scripts\\jupyter lab", "no such command"),
        (".venv\\Scripts\\pip install -e . && start a.html", "& means something else"),
        ('.venv\\Scripts\\pip install ".[plot]"', '" means something else'),
        ("start %CD%\\a.html", "% means something else"),
    ],
)
def test_a_line_that_would_not_work_is_named(fault, says):
    assert any(says in problem for problem in problems(fault))


def test_windows_lines_build_and_test_what_make_builds_and_tests():
    build = re.search(r"^BUILD := \$\(BIN\)/(.*)$", MAKEFILE, re.MULTILINE)[1]
    tests = re.search(r"^test: .*\n\t\$\(BIN\)/(.*)$", MAKEFILE, re.MULTILINE)[1]
    assert f".venv\\Scripts\\{build}" in LINES
    assert f".venv\\Scripts\\{build} --path-output _build\\without-solutions" in LINES
    assert "--path-output _build/without-solutions)" in MAKEFILE
    assert f".venv\\Scripts\\{tests}" in LINES
    assert (
        "pip install --require-hashes -r" in MAKEFILE and "pip install --no-deps --no-build-isolation -e ." in MAKEFILE
    )


def test_what_is_opened_is_what_the_line_before_has_built():
    for block in readme_lines.windows(TEXT):
        for line, after in zip(block, block[1:], strict=False):
            if after.startswith("start "):
                place = re.search(r"--path-output (\S+)", line)
                assert after == f"start {place[1] + chr(92) if place else ''}_build\\html\\index.html"


def test_without_make_on_macos_and_linux_the_lines_are_those_of_windows_by_the_readmes_rule():
    rule = TEXT.partition("On macOS and Linux the same lines")[2].partition("\n\n")[0]
    for said in ("python3 -m venv .venv", ".venv/bin/", "`/`", "TOYTF_SOLUTIONS=no", "xdg-open", "`open`"):
        assert said in rule, said
    made = [line for block in readme_lines.venv(TEXT) for line in block]
    assert not any("\\" in line or line.startswith(("set ", "py ")) for line in made)
    assert made[:2] == ["python3 -m venv .venv", ".venv/bin/pip install --require-hashes -r requirements/book.txt"]
    assert made[-2].startswith("TOYTF_SOLUTIONS=no .venv/bin/jupyter-book build .")


def test_with_make_the_lines_are_targets_that_make_knows():
    (lines,) = readme_lines.unix(TEXT)
    assert lines == ["make book", "make test"]
    targets = set(re.findall(r"^([\w-]+):(?!=)", MAKEFILE, re.MULTILINE))
    assert {target for line in re.findall(r"`make ([\w-]+)[^`]*`", TEXT) for target in [line]} | {
        "book",
        "test",
    } <= targets


def test_every_toytf_line_of_the_readmes_can_be_typed():
    package = (ROOT / "toytf" / "README.md").read_text("utf-8")
    block = [line for block in readme_lines.blocks(TEXT, "sh") for line in block]
    typed = [shlex.split(line) for line in block if line.startswith("toytf ")]
    typed += [shlex.split(line) for line in re.findall(r"^    \$ (toytf .*)$", package, re.MULTILINE)]
    assert len(typed) >= 4
    for _, name, *words in typed:
        if name != "--help":
            _command.parser(name, importlib.import_module(MODULES[name])).parse_args(words)


# ---------------------------------------------------------------- typing them


@needs_sh
def test_the_first_line_that_fails_ends_it(tmp_path, capfd):
    assert readme_lines.run([["echo one", "false", "echo two"], ["echo three"]], "sh", tmp_path) == 1
    assert capfd.readouterr().out.splitlines() == ["> echo one", "one", "> false"]


@needs_sh
def test_a_page_that_is_to_be_opened_has_to_be_there(tmp_path):
    (tmp_path / "there.html").touch()
    assert readme_lines.run([["start there.html"]], "sh", tmp_path) == 0
    assert readme_lines.run([["start missing.html"]], "sh", tmp_path) == 1


def test_one_shell_types_them_all_so_that_a_setting_stays():
    said = readme_lines.script([["set A=b", "start x\\y.html"]], "cmd")
    assert said.split("\r\n") == [
        "@echo off",
        "echo ^> set A=b", "set A=b", "if errorlevel 1 exit /b 1",
        "echo ^> start x\\y.html", "if not exist x\\y.html exit /b 1", "if errorlevel 1 exit /b 1", "",
    ]  # fmt: skip


@needs_sh
def test_another_python_than_the_expected_one_is_a_failure(tmp_path, capsys):
    (tmp_path / "README.md").write_text("```sh\ntrue  # nothing\n```\n", "utf-8")
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.12.1\n", "utf-8")
    words = ["--unix", "--run", "--folder", str(tmp_path), "--expect"]
    assert readme_lines.main([*words, "3.12"]) == 0
    assert readme_lines.main([*words, "3.1"]) == 1
    assert capsys.readouterr().err == "expected Python 3.1 in .venv, got 3.12\n"


def test_the_workflow_types_the_readmes_lines_on_windows_and_on_macos():
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text("utf-8"))["jobs"]
    runs = {name: " ".join(step.get("run", "") for step in job["steps"]) for name, job in jobs.items()}
    assert 'python tests/readme_lines.py --windows --run --expect "$PY_PYTHON3"' in runs["windows"]
    assert "python tests/readme_lines.py --unix --run" in runs["macos"]
