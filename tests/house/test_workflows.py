"""What no linter of workflows looks at: nothing is published untested, and what is run is what the README says."""

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".github" / "workflows"
TEXTS = {path.name: path.read_text("utf-8") for path in sorted(FOLDER.glob("*.yml"))}
README, MAKEFILE = (Path(ROOT / name).read_text("utf-8") for name in ("README.md", "Makefile"))


def jobs():
    return {(name, job): body for name, text in TEXTS.items() for job, body in yaml.safe_load(text)["jobs"].items()}


def scripts(body):
    return "\n".join(step["run"].strip() for step in body.get("steps", ()) if "run" in step)


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
