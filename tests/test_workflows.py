"""What GitHub is asked to do: pinned, with few rights, by commands that exist; and the linters see what is not so."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import steps

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".github" / "workflows"
TEXTS = {path.name: path.read_text("utf-8") for path in sorted(FOLDER.glob("*.yml"))}
TEST, SITE, RELEASE = (TEXTS[name] for name in ("test.yml", "site.yml", "release.yml"))
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
SCRIPTS = Path(sys.executable).parent
GIVEN = {"github.token": "t", "github.repository": "somebody/course"}
posix = pytest.mark.skipif(os.name != "posix", reason="the workflows' own commands are for Linux")


def linted(folder):
    """What `make lint` says of the workflows in a folder: the status of each linter, and their words."""
    found, nothing = [], re.compile(r"No findings to report\..*\n")
    for name, *options in (
        ("actionlint", "-no-color", "-shellcheck", str(SCRIPTS / "shellcheck")),
        ("zizmor", "--offline", "--no-progress", "--quiet", "--strict-collection", "--color=never"),
    ):
        command = [str(SCRIPTS / name), *options, *map(str, sorted(folder.glob("*.yml")))]
        done = subprocess.run(command, capture_output=True, encoding="utf-8", cwd=ROOT)
        found.append((done.returncode, nothing.sub("", done.stdout + done.stderr)))
    return found


def test_make_lint_runs_both_linters_offline():
    recipe = MAKEFILE.partition("\nlint:")[2].partition("\n\n")[0]
    assert "$(BIN)/actionlint -shellcheck $(BIN)/shellcheck\n" in recipe
    assert "$(BIN)/zizmor --offline " in recipe and recipe.rstrip().endswith("$(BIN)/shellcheck .ci/run")


def test_no_linter_has_a_word_to_say():
    assert linted(FOLDER) == [(0, ""), (0, "")]


PINNED = "actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1  # v7.0.1"
INJECTED = '      - run: echo "${{ github.event.pull_request.title }}"\n'
FAULTS = {
    "an action that is not pinned": (TEST, PINNED, "actions/checkout@v7", "unpinned-uses"),
    "a script that a title writes": (TEST, "      - name: Type", INJECTED + "      - name: Type", "injection"),
    "credentials that stay": (TEST, "persist-credentials: false", "fetch-depth: 1", "artipacked"),
    "every right": (RELEASE, "permissions:\n      contents: read", "permissions: write-all", "excessive-permissions"),
    "the rights of whoever sends": (TEST, "  pull_request:\n", "  pull_request_target:\n", "dangerous-triggers"),
    "a key that is none": (TEST, "timeout-minutes: 90", "timeout-minute: 90", "timeout-minute"),
    "a machine that is none": (SITE, "ubuntu-24.04", "ubuntu-42", "ubuntu-42"),
    "a step that nobody has": (SITE, "steps.deployment.outputs", "steps.deployed.outputs", "deployed"),
    "a job that nobody has": (RELEASE, "needs: [test, build]", "needs: [test, made]", "made"),
    "a matrix that says another word": (TEST, "matrix.python", "matrix.snake", "snake"),
    "a word that the shell splits": (RELEASE, '"$GITHUB_REF_NAME" release', "$GITHUB_REF_NAME release", "SC2086"),
    "a cache that others may fill": (RELEASE, '"3.12"', '"3.12"\n          cache: pip', "cache-poisoning"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_mistake_is_caught_and_named(fault, tmp_path):
    text, right, wrong, says = FAULTS[fault]
    assert right in text
    (tmp_path / "planted.yml").write_text(text.replace(right, wrong), "utf-8")
    statuses, words = zip(*linted(tmp_path), strict=True)
    assert any(statuses)
    assert says in "".join(words)


# ---------------------------------------------------------------- what no linter looks at


def uses(text):
    """Each action that a workflow uses, with its hash and its version."""
    return re.findall(r"uses: ([\w./-]+)@(\S+)(?:  # (v\S+))?$", text, re.MULTILINE)


def test_each_action_is_pinned_to_one_commit_with_its_version_beside_it():
    found = {}
    for text in TEXTS.values():
        assert len(uses(text)) == len(re.findall(r"uses: (?!\./)", text))
        for name, commit, version in uses(text):
            assert re.fullmatch(r"[0-9a-f]{40}", commit) and re.fullmatch(r"v\d+(\.\d+\.\d+)?", version), name
            assert found.setdefault(name, (commit, version)) == (commit, version), name
    assert {name.partition("/")[0] for name in found} == {"actions"}


# Linters know an action's inputs by its tag, and ours are pinned. These were read in action.yml at that commit.
INPUTS = {
    "actions/checkout": {"persist-credentials"},
    "actions/setup-python": {"python-version", "cache", "cache-dependency-path"},
    "actions/upload-pages-artifact": {"path"},
    "actions/upload-artifact": {"name", "path", "if-no-files-found", "retention-days"},
    "actions/download-artifact": {"name", "path"},
    "actions/attest": {"subject-checksums"},
}


def unknown_inputs(texts):
    """The inputs that a step gives to an action that has none of this name."""
    return [
        f"{step['uses']}: {name}"
        for text in texts
        for body in yaml.safe_load(text)["jobs"].values()
        for step in body.get("steps", ())
        for name in step.get("with", ())
        if name not in INPUTS[step["uses"].partition("@")[0]]
    ]


def test_an_action_is_given_inputs_that_it_has():
    assert unknown_inputs(TEXTS.values()) == []
    (found,) = unknown_inputs([SITE.replace("          path: _build/html", "          folder: _build/html")])
    assert found.endswith(": folder")


def jobs():
    return {(name, job): body for name, text in TEXTS.items() for job, body in yaml.safe_load(text)["jobs"].items()}


def test_no_right_is_given_to_a_whole_workflow_and_each_job_names_its_own():
    for name, text in TEXTS.items():
        whole = yaml.safe_load(text)
        assert whole["permissions"] == {} and "concurrency" in whole, name
    rights = {where: set(body["permissions"].items()) - {("contents", "read")} for where, body in jobs().items()}
    assert {where: more for where, more in rights.items() if more} == {
        ("site.yml", "build"): {("pages", "read")},
        ("site.yml", "deploy"): {("pages", "write"), ("id-token", "write")},
        ("site.yml", "colab"): {("contents", "write")},
        ("release.yml", "publish"): {("contents", "write"), ("id-token", "write"), ("attestations", "write")},
    }


def waits_for(text, job):
    """The jobs of a workflow that have to succeed before this one begins."""
    bodies = yaml.safe_load(text)["jobs"]
    needs = bodies[job].get("needs", [])
    needs = [needs] if isinstance(needs, str) else needs
    return {*needs, *(more for name in needs for more in waits_for(text, name))} if "if" not in bodies[job] else set()


def published_untested(text):
    """The jobs that may write and do not wait for every test of the same commit."""
    bodies = yaml.safe_load(text)["jobs"]
    tests = {name for name, body in bodies.items() if body.get("uses") == "./.github/workflows/test.yml"}
    return [
        name
        for name, body in bodies.items()
        if "write" in body["permissions"].values() and not tests & waits_for(text, name)
    ]


def test_nothing_is_published_before_every_test_of_the_same_commit_has_passed():
    assert [name for text in TEXTS.values() for name in published_untested(text)] == []
    assert published_untested(SITE.replace("needs: [test, build]", "needs: build")) == ["deploy", "colab"]
    assert published_untested(RELEASE.replace("  publish:\n", "  publish:\n    if: always()\n")) == ["publish"]


def test_no_job_that_may_write_runs_the_repositorys_own_code():
    for where, body in jobs().items():
        if "write" in body["permissions"].values():
            assert not [step for step in body["steps"] if step.get("uses", "").startswith("actions/checkout@")], where


def test_each_job_has_an_end_and_a_system_of_a_named_version():
    for where, body in jobs().items():
        if "uses" not in body:
            assert body["timeout-minutes"] <= 120, where
            assert re.fullmatch(r"(ubuntu|macos|windows)-\d+(\.\d+)?", body["runs-on"]), where


def test_linux_macos_and_windows_are_tested_with_each_python():
    tested = {}
    for (name, _), body in jobs().items():
        if name == "test.yml" and "strategy" in body:
            tested[body["runs-on"].partition("-")[0]] = body["strategy"]["matrix"]["python"]
            assert body["strategy"]["fail-fast"] is False
    assert tested == {system: ["3.11", "3.12", "3.13", "3.14"] for system in ("ubuntu", "macos", "windows")}


def test_what_is_run_is_there():
    targets = set(re.findall(r"^([\w-]+):(?!=)", MAKEFILE, re.MULTILINE))
    for (name, job), body in jobs().items():
        for step in body.get("steps", ()):
            script = step.get("run", "")
            made = {word for line in re.findall(r"^make (.+)$", script, re.MULTILINE) for word in line.split()}
            assert {word for word in made if "=" not in word} <= targets, (name, job)
            for path in re.findall(r"(?:bash|python) ((?:\.ci|tests)/\S+)", script):
                assert (ROOT / path).is_file(), path


def test_the_caches_follow_the_locks():
    for name, text in TEXTS.items():
        assert text.count("cache: pip") == text.count("cache-dependency-path: requirements/*.txt"), name
    assert TEST.count("cache: pip") == 4 and "cache:" not in SITE + RELEASE


def test_nobodys_name_stands_in_a_workflow():
    """Owner, repository and address come from where it runs."""
    for name, text in TEXTS.items():
        assert not re.search(r"github\.com/|github\.io|@users|\bowner\b", text), name
    assert SITE.count("TOYTF_REPOSITORY: ${{ github.server_url }}/${{ github.repository }}") >= 1
    assert SITE.count("TOYTF_SITE_URL: ${{ steps.pages.outputs.url }}") >= 1


# ---------------------------------------------------------------- the steps themselves, as far as they run here


@pytest.fixture
def machine(tmp_path):
    """A folder, a GitHub that answers from files, and a note of what it was asked."""
    return steps.Machine(tmp_path / "work", tmp_path / "machine")


@posix
def test_the_sites_address_is_asked_of_the_repository_and_ends_with_a_slash(machine):
    machine.answers("gh", "https://example.org/course")
    done = machine.run(steps.step("site.yml", "build", "Ask where the site will stand"), GIVEN)
    assert done.returncode == 0, done.stderr
    assert machine.outputs() == {"url": "https://example.org/course/"}
    assert machine.asked() == ["gh api repos/somebody/course/pages --jq .html_url"]


@posix
def test_where_pages_are_off_the_step_says_what_to_do(machine):
    machine.answers("gh", "Not Found", status=1)
    done = machine.run(steps.step("site.yml", "build", "Ask where the site will stand"), GIVEN)
    assert done.returncode == 1
    assert "Settings, Pages, Source: GitHub Actions" in done.stdout
    assert machine.outputs() == {}


@posix
@pytest.mark.parametrize(("tag", "status"), [("v0.1.0", 0), ("v0.2.0", 1), ("0.1.0", 1)])
def test_a_tag_that_is_not_the_packages_version_makes_no_release(machine, tag, status):
    machine.answers("toytf", "toytf 0.1.0", place=machine.work / ".venv" / "bin")
    done = machine.run(steps.step("release.yml", "build", "See that the tag is the package's version"), ref=tag)
    assert done.returncode == status
    assert status == 0 or f"The tag is {tag}, the package says v0.1.0" in done.stdout


@posix
def test_what_is_laid_side_by_side_is_what_arrives_and_a_changed_byte_is_seen(machine):
    for name in steps.PARTS:
        path = machine.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name, "utf-8")
    done = machine.run(steps.step("release.yml", "build", "Lay everything side by side, with its sums"))
    assert done.returncode == 0, done.stderr
    made = machine.work / "_build" / "release"
    assert {path.name for path in made.iterdir()} == {Path(name).name for name in steps.PARTS} | {"SHA256SUMS"}
    wheel = next(made.glob("*.whl"))
    assert f"{hashlib.sha256(wheel.read_bytes()).hexdigest()}  {wheel.name}\n" in (made / "SHA256SUMS").read_text(
        "utf-8"
    )
    shutil.copytree(made, machine.work / "release")
    check = steps.step("release.yml", "publish", "See that all has arrived whole")
    assert machine.run(check).returncode == 0
    (machine.work / "release" / wheel.name).write_text("another", "utf-8")
    assert machine.run(check).returncode != 0


@posix
def test_a_part_that_was_not_made_stops_the_release(machine):
    for name in steps.PARTS[:-1]:
        path = machine.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (machine.work / "_build" / "dist").mkdir(parents=True, exist_ok=True)
    assert machine.run(steps.step("release.yml", "build", "Lay everything side by side, with its sums")).returncode != 0


@posix
def test_the_branch_for_colab_arrives_as_it_was_made_and_the_others_stay(machine, tmp_path):
    def git(place, *words):
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        done = subprocess.run(["git", *identity, *words], cwd=place, check=True, capture_output=True, encoding="utf-8")
        return done.stdout.strip()

    theirs = tmp_path / "somebody" / "course"
    theirs.mkdir(parents=True)
    git(theirs, "init", "-q", "--bare")
    git(machine.work, "init", "-q", "-b", "main")
    git(machine.work, "commit", "-q", "--allow-empty", "-m", "main")
    git(machine.work, "push", "-q", str(theirs), "main")
    git(machine.work, "checkout", "-q", "--orphan", "colab")
    git(machine.work, "commit", "-q", "--allow-empty", "-m", "colab")
    main, made = git(theirs, "rev-parse", "main"), git(machine.work, "rev-parse", "colab")
    git(machine.work, "bundle", "create", "-q", "colab.bundle", "colab")
    machine.server = tmp_path.as_uri()
    done = machine.run(steps.step("site.yml", "colab", "Push the branch that Colab opens"), GIVEN)
    assert done.returncode == 0, done.stderr
    assert git(theirs, "rev-parse", "colab") == made and git(theirs, "rev-parse", "main") == main
    assert machine.asked() == ["gh auth setup-git"]


@posix
def test_the_release_has_every_part_and_its_sums(machine):
    (machine.work / "release").mkdir()
    for name in ("a.whl", "SHA256SUMS"):
        (machine.work / "release" / name).touch()
    machine.answers("gh", "")
    done = machine.run(steps.step("release.yml", "publish", "Make the release"), GIVEN, ref="v0.1.0")
    assert done.returncode == 0, done.stderr
    assert machine.asked() == [
        "gh release create v0.1.0 release/SHA256SUMS release/a.whl --verify-tag --generate-notes --title v0.1.0"
    ]


def test_a_step_that_asks_for_a_value_that_is_not_given_is_named():
    with pytest.raises(KeyError, match="github.actor"):
        steps.filled("echo ${{ github.actor }}", {"github.ref": "x"})
    assert steps.filled("${{ github.ref }}!", {"github.ref": "x"}) == "x!"
    with pytest.raises(KeyError, match="No such"):
        steps.step("site.yml", "build", "No such")
