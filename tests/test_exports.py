"""The assignment at Gradescope and at GitHub Classroom, as far as it can be tried without their servers.

The archive's entry script runs in an empty folder laid out as Gradescope's; the workflow is held
against the published schema of workflows, and its grading step is run here.
"""

import base64
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import zipfile
from functools import cache
from io import BytesIO
from pathlib import Path

import pytest
import yaml

from toytf.__main__ import main
from toytf.teach import assign
from toytf.teach.exercises import read
from toytf.teach.exports.classroom import classroom_files, classroom_result
from toytf.teach.exports.gradescope import gradescope, gradescope_zip
from toytf.teach.grade import Bubblewrap, SandboxError, Unprotected

ROOT = Path(__file__).resolve().parent.parent
MASTER = ROOT / "notebooks"
IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
KEY = b"0123456789abcdef" * 4
needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="Gradescope and GitHub run Linux")


@cache
def sandboxed():
    """Whether bubblewrap works here, or we are root, who can become another user."""
    try:
        Bubblewrap().check()
    except SandboxError:
        return IS_ROOT
    return True


@pytest.fixture(autouse=True)
def something_to_grade_with(request):
    if "autograder" in request.fixturenames and not sandboxed():
        (pytest.fail if os.environ.get("CI") else pytest.skip)("no bubblewrap (on Debian: apt install bubblewrap)")


@cache
def chosen():
    """A function, a by-hand exercise of several parts, and one for a person."""
    everything = read(MASTER)
    return [
        next(
            one for one in everything.values() if one.kind == kind and (kind != "by hand" or len(one.by_hand.parts) > 1)
        )
        for kind in ("function", "by hand", "text")
    ]


def manifest():
    return assign.manifest(chosen(), "Week 6")


def editions():
    student, instructor = assign.notebooks(chosen(), "Week 6")
    return json.dumps(student), json.dumps(instructor)


def with_code(source):
    """A student's notebook with one more cell."""
    student = json.loads(editions()[0])
    student["cells"].append({"cell_type": "code", "id": "more", "metadata": {}, "outputs": [], "source": source})
    return json.dumps(student)


# ---------------------------------------------------------------- the archive


@cache
def archive():
    return zipfile.ZipFile(BytesIO(gradescope_zip(manifest(), KEY)))


def test_the_archive_has_what_gradescope_asks_for_at_its_top():
    names = archive().namelist()
    for name in ("setup.sh", "run_autograder", "assignment.json", "key", "requirements.txt", "toytf/__init__.py"):
        assert name in names
    assert not [name for name in names if "__pycache__" in name or name.endswith((".npz", ".ipynb"))]
    modes = {name: archive().getinfo(name).external_attr >> 16 & 0o777 for name in names}
    assert modes.pop("setup.sh") == modes.pop("run_autograder") == 0o700
    assert set(modes.values()) == {0o600}


def test_the_same_key_gives_the_same_bytes_and_each_archive_its_own_key():
    assert gradescope_zip(manifest(), KEY) == gradescope_zip(manifest(), KEY)
    one, two = (zipfile.ZipFile(BytesIO(gradescope_zip(manifest()))).read("key") for _ in range(2))
    assert one != two
    assert len(one.strip()) == 64


@pytest.mark.parametrize("name", ["setup.sh", "run_autograder"])
def test_scripts_are_valid_bash_and_stop_at_an_error(name):
    text = archive().read(name).decode()
    assert text.startswith("#!/usr/bin/env bash\n")
    assert "set -euo pipefail" in text
    assert subprocess.run(["bash", "-n"], input=text, text=True).returncode == 0


def test_an_assignment_that_only_a_person_can_read_is_refused():
    with pytest.raises(ValueError, match="expected one that can be checked"):
        gradescope_zip(assign.manifest(chosen()[2:], "Words"))


@pytest.fixture
def autograder(tmp_path):
    """Gradescope's folder, with the archive unpacked and setup.sh's environment in place."""
    root = tmp_path / "autograder"
    for name in ("submission", "results"):
        (root / name).mkdir(parents=True)
    archive().extractall(root / "source")
    (root / "venv" / "bin").mkdir(parents=True)
    python = root / "venv" / "bin" / "python"  # what setup.sh would have made
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n', "utf-8")
    python.chmod(0o755)
    shutil.copy(root / "source" / "run_autograder", root / "run_autograder")
    (root / "run_autograder").chmod(0o755)
    return root


def run_autograder(root):
    """Run the entry script as Gradescope does, and read what it wrote."""
    done = subprocess.run(
        ["bash", str(root / "run_autograder")],
        cwd=root,
        env={**os.environ, "TOYTF_AUTOGRADER": str(root)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stdout
    return json.loads((root / "results" / "results.json").read_text("utf-8"))


def hand_in(root, notebook, name="mine.ipynb"):
    (root / "submission" / name).write_text(notebook, "utf-8")


@needs_linux
def test_the_instructors_notebook_gets_all_points_at_gradescope(autograder):
    hand_in(autograder, editions()[1])
    said = run_autograder(autograder)
    function, by_hand, text = chosen()
    assert said["score"] == function.points + by_hand.points
    assert [test["status"] for test in said["tests"]] == ["passed", "passed"]
    assert [test["max_score"] for test in said["tests"]] == [function.points, by_hand.points]
    assert said["tests"][0]["name"] == f"{function.number} {function.title}"
    assert f"To be read by a person: {text.number}." in said["output"]
    assert {test["output_format"] for test in said["tests"]} | {said["output_format"]} == {"text"}
    assert said["stdout_visibility"] == "hidden"


@needs_linux
def test_a_blank_notebook_gets_no_point_and_is_told_so(autograder):
    hand_in(autograder, editions()[0])
    said = run_autograder(autograder)
    assert said["score"] == 0
    assert "not written yet" in said["tests"][0]["output"]
    assert "not answered yet" in said["tests"][1]["output"]


@needs_linux
@pytest.mark.parametrize("names", [[], ["a.ipynb", "b.ipynb"]])
def test_no_notebook_or_two_are_named(autograder, names):
    for name in names:
        hand_in(autograder, editions()[1], name)
    said = run_autograder(autograder)
    assert said["score"] == 0
    assert f"Hand in one notebook (.ipynb). There are {len(names)}: {', '.join(names) or 'none'}." in said["output"]


@needs_linux
def test_a_file_that_is_no_notebook_is_named(autograder):
    hand_in(autograder, "{")
    said = run_autograder(autograder)
    assert said["score"] == 0
    assert "no notebook" in said["output"]


SPY = """
import os
found = []
for place in {places!r}:
    try:
        found.append(open(place, "rb").read()[:20])
    except OSError as error:
        found.append(type(error).__name__)
for place in {targets!r}:
    try:
        open(place, "w").write("mine")
        found.append("written")
    except OSError as error:
        found.append(type(error).__name__)
raise RuntimeError(f"user {{os.getuid()}} saw {{found}}")
"""


def spy(root):
    places = [str(root / "source" / name) for name in ("key", "assignment.json", "toytf/check/ch09.py")]
    return with_code(SPY.format(places=places, targets=[str(root / "results" / "results.json")]))


@needs_linux
def test_a_students_code_can_read_neither_key_nor_solutions_nor_write_results(autograder):
    hand_in(autograder, spy(autograder))
    said = run_autograder(autograder)
    assert said["score"] == 0
    assert "saw ['FileNotFoundError', 'FileNotFoundError', 'FileNotFoundError', " in said["output"] or (
        "saw ['PermissionError', 'PermissionError', 'PermissionError', 'PermissionError']" in said["output"]
    ), said["output"]
    assert "written" not in said["output"]


@needs_linux
@pytest.mark.skipif(not IS_ROOT, reason="only root can become another user, and at Gradescope the script is root")
def test_without_bubblewrap_a_students_code_is_another_user_who_is_kept_out(autograder, monkeypatch):
    def missing(self):
        raise SandboxError("bubblewrap (the command bwrap) was not found.")

    for place in autograder.parents:  # pytest's folders are closed to others; Gradescope's are open
        if place != Path("/") and place.stat().st_uid == 0:
            place.chmod(place.stat().st_mode | 0o011)
    for name in ("source", "submission", "results"):
        (autograder / name).chmod(0o700)  # as run_autograder does
    monkeypatch.setattr(Bubblewrap, "check", missing)
    hand_in(autograder, spy(autograder))
    said = gradescope(autograder)
    assert said["score"] == 0
    assert "saw ['PermissionError', 'PermissionError', 'PermissionError', 'PermissionError']" in said["output"]
    assert "user 0 " not in said["output"]
    hand_in(autograder, editions()[1])
    assert gradescope(autograder)["score"] == sum(one.points for one in chosen()[:2])


@needs_linux
def test_nobody_but_root_grades_without_bubblewrap(autograder, monkeypatch):
    def missing(self):
        raise SandboxError("bubblewrap (the command bwrap) was not found.")

    monkeypatch.setattr(Bubblewrap, "check", missing)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(Unprotected, "check", lambda self: pytest.fail("it ran unprotected"))
    hand_in(autograder, editions()[1])
    assert main(["gradescope", str(autograder)]) == 2
    assert not (autograder / "results" / "results.json").exists()


@needs_linux
def test_a_checker_that_fails_writes_no_zero_at_gradescope(autograder, monkeypatch, capsys):
    from toytf.teach.grade import grading

    monkeypatch.setattr(grading, "diagnose", lambda *a: 1 / 0)
    hand_in(autograder, editions()[1])
    assert main(["gradescope", str(autograder)]) == 2
    assert "the checker itself failed at" in capsys.readouterr().err
    assert not (autograder / "results" / "results.json").exists()


@needs_linux
def test_run_autograder_closes_the_folders_to_others(autograder):
    for name in ("source", "submission", "results"):
        (autograder / name).chmod(0o777)
    hand_in(autograder, editions()[0])
    run_autograder(autograder)
    for name in ("source", "source/key", "submission", "results"):
        assert stat.S_IMODE((autograder / name).stat().st_mode) & 0o077 == 0


# ---------------------------------------------------------------- the template repository


def template():
    return classroom_files(manifest(), editions()[0])


def workflow():
    return yaml.safe_load(template()[".github/workflows/classroom.yml"])


def steps():
    return workflow()["jobs"]["grade"]["steps"]


def test_the_template_has_notebook_readme_workflow_and_grader_and_no_solution():
    files = template()
    for name in ("README.md", "assignment.ipynb", ".github/grader/assignment.json", ".github/grader/toytf/__init__.py"):
        assert name in files
    assert json.loads(files["assignment.ipynb"]) == json.loads(editions()[0])
    assert "key" not in {Path(name).name for name in files}


def lint(text, folder):
    """What check-jsonschema says of a workflow; it brings the schema with it."""
    (folder / "classroom.yml").write_text(text, "utf-8")
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", "classroom.yml"]
    return subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8")


def test_the_workflow_is_valid(tmp_path):
    done = lint(template()[".github/workflows/classroom.yml"], tmp_path)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("right", "wrong"),
    [("runs-on:", "run-on:"), ("    steps:", "    step:"), ("contents: read", "contents: all"), ('"on":', '"when":')],
)
def test_a_mistake_in_the_workflow_is_found(tmp_path, right, wrong):
    text = template()[".github/workflows/classroom.yml"]
    assert right in text
    assert lint(text.replace(right, wrong, 1), tmp_path).returncode != 0


def test_the_workflow_allows_bubblewrap_before_it_grades():
    names = [step.get("name", step.get("uses")) for step in steps()]
    install, allow, grade = (
        names.index(name) for name in ("Install bubblewrap and NumPy", "Allow bubblewrap to make namespaces", "Grade")
    )
    assert install < allow < grade
    assert "apt-get install -q -y --no-install-recommends bubblewrap" in steps()[install]["run"]
    assert "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0" in steps()[allow]["run"]


def loose_actions(text):
    """The actions of a workflow that are not pinned by a commit, or do not say of which version it is."""
    uses = re.findall(r"^\s*(?:- )?uses: *(.*)$", text, re.M)
    return [used for used in uses if not re.fullmatch(r"[\w.-]+(?:/[\w.-]+)+@[0-9a-f]{40}  # v\d+(?:\.\d+)*", used)]


def test_the_workflows_actions_are_pinned_by_their_commits():
    text = template()[".github/workflows/classroom.yml"]
    assert loose_actions(text) == []
    assert sum("uses" in step for step in steps()) == text.count("uses:") == 4


@pytest.mark.parametrize("fault", ["@v7", "@main", f"@{'0a' * 19}  # v7", f"@{'0a' * 20}", f"@{'0A' * 20}  # v7", ""])
def test_an_action_that_is_not_pinned_is_found(fault):
    text = template()[".github/workflows/classroom.yml"]
    planted = re.sub(r"(actions/setup-python)@.*", rf"\1{fault}", text)
    assert loose_actions(planted) == [f"actions/setup-python{fault}"]


def test_the_workflow_may_read_the_repository_and_nothing_else():
    assert workflow()["permissions"] == {"contents": "read"}
    assert not [job for job in workflow()["jobs"].values() if "permissions" in job]
    (checkout,) = (step for step in steps() if step.get("uses", "").startswith("actions/checkout@"))
    assert checkout["with"] == {"persist-credentials": False}  # no later step finds the token on the disk


def test_both_exports_install_the_locked_list_with_its_hashes():
    locked = (ROOT / "toytf" / "teach" / "requirements.txt").read_text("utf-8")
    assert archive().read("requirements.txt").decode() == template()[".github/grader/requirements.txt"] == locked
    assert '--require-hashes -r "$root/source/requirements.txt"' in archive().read("setup.sh").decode()
    (install,) = (step["run"] for step in steps() if "pip install" in step.get("run", ""))
    assert "--require-hashes -r .github/grader/requirements.txt" in install


def test_no_step_puts_an_expression_into_a_script():
    """What somebody else may choose, a branch's name say, would be run as a command."""
    assert [step["run"] for step in steps() if "${{" in step.get("run", "")] == []


@needs_linux
@pytest.mark.parametrize("edition", ["student", "instructor"])
def test_the_grading_step_runs_here(tmp_path, edition):
    try:
        Bubblewrap().check()
    except SandboxError as error:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(str(error).splitlines()[0])
    repository, temporary = tmp_path / "repository", tmp_path / "temporary"
    for name, content in template().items():
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    (repository / "assignment.ipynb").write_text(editions()[edition == "instructor"], "utf-8")
    (repository / "json.py").write_text("raise SystemExit('a file of the repository was imported')", "utf-8")
    temporary.mkdir()
    (step,) = (step for step in steps() if step.get("id") == "toytf")
    grader = step["env"]["PYTHONPATH"].replace("${{ github.workspace }}", str(repository))
    output = tmp_path / "output"
    done = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", step["run"].replace("python -P", f'"{sys.executable}" -P')],
        cwd=repository,
        env={**os.environ, "PYTHONPATH": grader, "RUNNER_TEMP": str(temporary), "GITHUB_OUTPUT": str(output)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stdout
    name, _, value = output.read_text("utf-8").strip().partition("=")
    assert name == "result"
    result = json.loads(base64.b64decode(value))
    most = sum(one.points for one in chosen()[:2])
    assert result["max_score"] == most
    assert sum(test["score"] for test in result["tests"]) == (most if edition == "instructor" else 0)
    assert result["status"] == ("pass" if edition == "instructor" else "fail")
    assert (temporary / "grades" / "feedback" / "student.html").is_file()


def test_what_the_reporter_prints_holds_no_command_for_github():
    from toytf.teach.grade import Receipt, Result

    planted = Result("ex-09-1", "9.1", "function", "f", 2, 0, "::error::planted", ["##[error]planted", " ::set-env::"])
    result = classroom_result(Receipt("x", "", "", [planted]))
    decoded = base64.b64decode(result).decode()
    assert "::" not in decoded
    assert "##[" not in decoded
    assert re.fullmatch(r"[A-Za-z0-9+/=]+", result)


# ---------------------------------------------------------------- the command


def test_the_command_writes_both_exports_and_asks_before_it_replaces_them(tmp_path, capsys):
    numbers = [one.number for one in chosen()]
    arguments = ["--exercises", *numbers, "--title", "Week 6", "--gradescope", str(tmp_path / "week6.zip")]
    arguments += ["--classroom", str(tmp_path / "template")]
    assert main(["assign", *arguments]) == 0
    assert "week6.zip" in capsys.readouterr().out
    with zipfile.ZipFile(tmp_path / "week6.zip") as whole:
        assert json.loads(whole.read("assignment.json")) == manifest()
    assert (tmp_path / "template" / ".github" / "workflows" / "classroom.yml").is_file()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["template", "week6.zip"]
    assert main(["assign", *arguments]) == 2
    assert "--force replaces it" in capsys.readouterr().err
    assert main(["assign", *arguments, "--force"]) == 0


def test_nothing_to_write_is_an_error(capsys):
    assert main(["assign", "--exercises", "1.1"]) == 2
    assert "--out: expected a folder, or --gradescope, --classroom or --list" in capsys.readouterr().err
