"""The wheel and the source that `make dist` makes: what is in them, what is not, and always the same bytes."""

import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest
from packaging.metadata import Metadata

import toytf

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
MOST = 1_000_000  # bytes of a wheel; today's has about 800 thousand
NEEDED = (  # what the package opens that is no Python
    "toytf/data/translator.npz",
    "toytf/course/data/experiments.json",
    "toytf/course/data/pytorch.json",
    "toytf/course/data/bench.json",
    "toytf/byhand/panel.css",
    "toytf/byhand/panel.js",
    "toytf/live/engine/ops.js",
    "toytf/live/page/element.js",
    "toytf/live/beam.css",
    "toytf/live/divisor.js",
    "toytf/py.typed",
)


def build(what, folder, source=ROOT):
    """Have the project's build backend make a sdist or a wheel of `source`, as `python -m build` does."""
    folder.mkdir(exist_ok=True)
    code = f"import sys; from flit_core import buildapi; buildapi.build_{what}(sys.argv[1])"
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder)],
        cwd=source, capture_output=True, encoding="utf-8", env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def unpacked(sdist, folder):
    """The folder that a sdist holds."""
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (inside,) = folder.iterdir()
    return inside


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    """What `make dist` makes: the source, and the wheel of that source."""
    folder = tmp_path_factory.mktemp("dist")
    build("sdist", folder)
    (sdist,) = folder.glob("*.tar.gz")
    build("wheel", folder, unpacked(sdist, tmp_path_factory.mktemp("source")))
    return folder


@pytest.fixture(scope="module")
def wheel(dist):
    (path,) = dist.glob("*.whl")
    return path


def tracked():
    """The package's files that Git knows, and new ones that it would take."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "toytf"],
        cwd=ROOT, capture_output=True, encoding="utf-8", check=True,
    )  # fmt: skip
    return {name for name in listed.stdout.splitlines() if (ROOT / name).is_file()}


def problems(names, size):
    """What is wrong with a wheel of these files and of so many bytes."""
    found = [f"{name}: missing" for name in NEEDED if name not in names]
    for name in names:
        parts = Path(name).parts
        if parts[0] not in ("toytf", f"toytf-{toytf.__version__}.dist-info"):
            found.append(f"{name}: outside the package")
        unwanted = {"__pycache__", "tests", "notebooks", "_build"} & set(parts) or name.endswith(
            (".pyc", ".ipynb", "~")
        )
        if unwanted or any(part.startswith(".") for part in parts):
            found.append(f"{name}: not to be published")
    return found + ([f"{size:,} bytes: expected at most {MOST:,}"] if size > MOST else [])


def test_the_wheel_has_every_file_of_the_package_and_no_other(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert problems(names, wheel.stat().st_size) == []
    assert {name for name in names if name.startswith("toytf/")} == tracked()


@pytest.mark.parametrize(
    ("more", "size", "says"),
    [
        (["tests/test_ops.py"], 1, "tests/test_ops.py: outside the package"),
        (["toytf/__pycache__/ops.cpython-311.pyc"], 1, "not to be published"),
        (["toytf/course/01_overview.ipynb"], 1, "not to be published"),
        (["toytf/course/.ruff_cache/CACHEDIR.TAG"], 1, "not to be published"),
        ([], MOST + 1, "1,000,001 bytes: expected at most 1,000,000"),
    ],
)
def test_what_does_not_belong_into_the_wheel_is_named(more, size, says):
    assert problems(NEEDED, 1) == []
    assert any(says in problem for problem in problems([*NEEDED, *more], size))
    assert problems(NEEDED[1:], 1) == [f"{NEEDED[0]}: missing"]


def test_the_same_files_make_the_same_bytes_at_another_time_in_another_folder(dist, wheel, tmp_path):
    (sdist,) = dist.glob("*.tar.gz")
    source = unpacked(sdist, tmp_path / "source")
    for path in source.rglob("*"):
        os.utime(path, (1_800_000_000, 1_800_000_000))
    build("wheel", tmp_path / "again", source)
    assert (tmp_path / "again" / wheel.name).read_bytes() == wheel.read_bytes()
    build("sdist", tmp_path / "again")
    assert (tmp_path / "again" / sdist.name).read_bytes() == sdist.read_bytes()


def test_the_source_has_what_the_wheel_is_made_of_and_no_more(dist):
    (sdist,) = dist.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}
    assert names == tracked() | {"pyproject.toml", "LICENSE", "NOTICE", "PKG-INFO"}


def test_the_metadata_is_valid_and_complete(wheel):
    with zipfile.ZipFile(wheel) as archive:
        raw = archive.read(f"toytf-{toytf.__version__}.dist-info/METADATA")
    said = Metadata.from_email(raw, validate=True)
    assert (said.name, str(said.version)) == ("toytf", toytf.__version__)
    assert said.summary == PROJECT["description"] and said.license_expression == "MIT"
    assert said.description_content_type == "text/markdown"
    assert str(said.requires_python) == ">=3.11"
    assert "plot" in said.provides_extra
    assert len(said.keywords) >= 3
    assert said.author_email is None  # nobody's address
    assert said.project_urls in (None, {})  # where it will stand is not known here
    assert message_from_bytes(raw)["Author"] == "the toytf authors"


def test_the_package_names_each_python_that_the_workflow_tests():
    workflow = (ROOT / ".github" / "workflows" / "test.yml").read_text("utf-8")
    named = {name.rpartition(" ")[2] for name in PROJECT["classifiers"] if re.search(r" 3\.\d+$", name)}
    tested = [set(json.loads(row)) for row in re.findall(r"^ +python: (\[.*\])$", workflow, re.MULTILINE)]
    assert tested and all(versions == named for versions in tested)
    assert min(named, key=lambda version: int(version.partition(".")[2])) == PROJECT["requires-python"].removeprefix(
        ">="
    )


WITHOUT = {
    "matplotlib": ("import toytf.course.plot", 'figures need matplotlib: pip install "toytf[plot]"'),
}


@pytest.mark.parametrize("name", WITHOUT)
def test_what_is_not_installed_is_named_with_the_line_that_installs_it(name):
    code, says = WITHOUT[name]
    hide = f"import sys; sys.modules[{name!r}] = None; {code}"
    done = subprocess.run([sys.executable, "-c", hide], cwd=ROOT, capture_output=True, encoding="utf-8")
    assert done.returncode == 1
    assert says in done.stderr.splitlines()[-1]
