"""On Windows and macOS the package is imported and says what it cannot do; what needs Linux is skipped and says why."""

import ast
import os
import re
import subprocess
import sys

import pytest

from elsewhere import POSIX_CALLS, POSIX_MODULES, ROOT

INSIDE = "classroom/toytf_classroom/runner.py"  # runs inside of the sandbox alone, never imported
ANY = re.compile(rf"\b({'|'.join([*POSIX_MODULES, *POSIX_CALLS['os'], *POSIX_CALLS['signal']])})\b")
FILES = [
    path
    for folder in ("toytf", "classroom", "tests", "book")
    for path in sorted((ROOT / folder).rglob("*.py"))
    if path.relative_to(ROOT).as_posix() != INSIDE
]


def at_import(tree):
    """The nodes that are run at import: no function's body, and nothing behind a look whether it is there."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for outside in (*node.decorator_list, node.args):
                yield from ast.walk(outside)
        elif isinstance(node, ast.BoolOp) and ast.unparse(node).startswith("hasattr(os, "):
            continue
        elif not isinstance(node, ast.Lambda):
            yield node
            yield from at_import(node)


def problems(source):
    """What a module asks of POSIX when it is imported."""
    found = []
    if not ANY.search(source):
        return found
    for node in at_import(ast.parse(source)):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module]
        found += [f"line {node.lineno}: {name}" for name in names if name in POSIX_MODULES]
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.attr in POSIX_CALLS.get(node.value.id, ()):
                found.append(f"line {node.lineno}: {node.value.id}.{node.attr}")
    return found


def test_every_module_can_be_imported_where_there_is_no_posix():
    assert len(FILES) > 200
    found = {path.relative_to(ROOT).as_posix(): problems(path.read_text("utf-8")) for path in FILES}
    assert {name: lines for name, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("import fcntl", ["line 1: fcntl"]),
        ("import os\nif True:\n    from resource import getrlimit", ["line 3: resource"]),
        ("import os\nPIPES = {'a': os.mkfifo}", ["line 2: os.mkfifo"]),
        ("class A:\n    END = signal.SIGKILL", ["line 2: signal.SIGKILL"]),
        ("def f(end=signal.SIGKILL):\n    import fcntl", ["line 1: signal.SIGKILL"]),
        ("A = hasattr(os, 'fork') and os.fork()\nB = os.fork()", ["line 2: os.fork"]),
        ("def f():\n    import fcntl\n    os.fork()\nG = lambda: os.fork()", []),
    ],
)
def test_what_windows_does_not_have_is_found(source, says):
    assert problems(source) == says


def pretended(system, *words):
    environment = {
        **os.environ,
        "PYTHONPATH": f"{ROOT / 'tests'}{os.pathsep}{ROOT}",
        "TOYTF_ELSEWHERE": system,
        "CI": "true",
    }
    return subprocess.run([sys.executable, *words], cwd=ROOT, env=environment, capture_output=True, encoding="utf-8")


CALL = "import elsewhere, sys; elsewhere.pretend({!r}); from toytf_classroom.__main__ import main; sys.exit(main({!r}))"


@pytest.mark.skipif(sys.platform != "linux", reason="it is Linux that pretends")
@pytest.mark.parametrize("system", ["win32", "darwin"])
def test_elsewhere_the_grader_says_that_it_needs_linux(system, tmp_path):
    (tmp_path / "week").mkdir()
    (tmp_path / "week" / "assignment.json").write_text(
        '{"format": "toytf assignment", "version": 1, "title": "Week 6", "exercises": '
        '[{"label": "ex-09-3", "number": "9.3", "kind": "text", "name": null, "points": 3}]}',
        "utf-8",
    )
    words = ["grade", str(tmp_path / "week"), "--out", str(tmp_path / "grades.csv")]
    done = pretended(system, "-c", CALL.format(system, words))
    assert done.returncode == 2
    assert "error: bubblewrap (the command bwrap) was not found." in done.stderr and "Linux" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="it is Linux that pretends")
def test_elsewhere_a_test_of_the_sandbox_is_skipped_and_says_why_in_ci_too():

    done = pretended(
        "win32",
        "-m",
        "pytest",
        "-p",
        "elsewhere",
        "-q",
        "-ra",
        "-o",
        "addopts=",
        "-k",
        "test_two_sandboxes_at_the_same_time_do_not_hear_of_each_other",
        "classroom/tests/test_sandbox.py",
    )
    assert done.returncode in (0, 5), done.stdout
    assert "bubblewrap, which needs Linux" in done.stdout and "failed" not in done.stdout
