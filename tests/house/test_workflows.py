"""What no linter of workflows looks at: nothing is published untested, and what is run is what the README says."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".github" / "workflows"
TEXTS = {path.name: path.read_text("utf-8") for path in sorted(FOLDER.glob("*.yml"))}
README, MAKEFILE = (Path(ROOT / name).read_text("utf-8") for name in ("README.md", "Makefile"))
SCRIPTS = Path(sys.executable).parent


def jobs():
    return {(name, job): body for name, text in TEXTS.items() for job, body in yaml.safe_load(text)["jobs"].items()}


def scripts(body):
    return "\n".join(step["run"].strip() for step in body.get("steps", ()) if "run" in step)


@pytest.mark.parametrize(
    ("linter", "name", "right", "wrong", "says"),
    [
        (["actionlint", "-no-color"], "test.yml", "timeout-minutes: 90", "timeout-minute: 90", "timeout-minute"),
        (["zizmor", "--offline", "-q"], "test.yml", "actions/checkout@3d3c42e5", "actions/checkout@v7 # ", "unpinned"),
    ],
)
def test_each_linter_names_a_planted_mistake(tmp_path, linter, name, right, wrong, says):
    assert right in TEXTS[name]
    (tmp_path / name).write_text(TEXTS[name].replace(right, wrong), "utf-8")
    done = subprocess.run([SCRIPTS / linter[0], *linter[1:], tmp_path / name], capture_output=True, encoding="utf-8")
    assert done.returncode != 0 and says in done.stdout + done.stderr


def waits_for(bodies, job):
    """The jobs that have to succeed before this one begins."""
    needs = bodies[job].get("needs", [])
    needs = [needs] if isinstance(needs, str) else needs
    return {*needs, *(more for name in needs for more in waits_for(bodies, name))} if "if" not in bodies[job] else set()


def published_untested(text):
    """The jobs that may write and do not wait for every test of the same commit."""
    bodies = yaml.safe_load(text)["jobs"]
    tests = {name for name, body in bodies.items() if body.get("uses") == "./.github/workflows/test.yml"}
    writing = [name for name, body in bodies.items() if "write" in body["permissions"].values()]
    return [name for name in writing if not tests & waits_for(bodies, name)]


def test_nothing_is_published_before_every_test_of_the_same_commit_has_passed():
    assert [name for text in TEXTS.values() for name in published_untested(text)] == []
    site = TEXTS["site.yml"].replace("needs: [test, build]", "needs: build")
    assert published_untested(site) == ["deploy", "push"]


def test_no_job_that_may_write_runs_the_repositorys_own_code():
    for where, body in jobs().items():
        if "write" in body["permissions"].values():
            assert not [step for step in body["steps"] if step.get("uses", "").startswith("actions/checkout@")], where


def test_every_target_that_a_workflow_makes_is_there():
    targets = set(re.search(r"^.PHONY: (.*)$", MAKEFILE, re.M)[1].split())
    for where, body in jobs().items():
        made = {word for line in re.findall(r"^make (.+)$", scripts(body), re.M) for word in re.findall(r"^\w+", line)}
        assert made <= targets, where


def lines(kind):
    """The README's lines of a kind of shell, without comments."""
    blocks = re.findall(rf"^```{kind}\n(.*?)^```$", README, re.M | re.S)
    return [line.partition("#")[0].strip() for block in blocks for line in block.splitlines()]


def test_windows_and_macos_type_what_the_readme_says():
    windows, macos = (scripts(jobs()["test.yml", name]).splitlines() for name in ("windows", "macos"))
    block = lines("bat")
    typed = [line for line in block[: block.index("set TOYTF_SOLUTIONS=no")] if not line.startswith("start ")]
    assert typed == windows and len(typed) == 6
    assert lines("sh")[:2] == macos


def test_windows_lines_do_what_make_does():
    build = re.search(r"^BUILD := \$\(BIN\)/(.*)$", MAKEFILE, re.M)[1]
    tests = re.search(r"^test: .*\n\t\$\(PYTEST\) (.*)$", MAKEFILE, re.M)[1]
    assert {f".venv\\Scripts\\{build}", f".venv\\Scripts\\python -m pytest {tests}"} <= set(lines("bat"))
