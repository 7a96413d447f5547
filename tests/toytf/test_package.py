"""The wheel and the source that `make dist` makes: what is in them, what is not, and always the same bytes."""

import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.metadata import Metadata

import toytf

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
MOST = 1_000_000  # bytes of a wheel; today's has about 800 thousand


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


def test_the_wheel_and_the_source_have_every_file_of_the_package_and_no_other(dist, wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {name for name in names if not name.startswith(f"toytf-{toytf.__version__}.dist-info/")} == tracked()
    assert wheel.stat().st_size < MOST
    (sdist,) = dist.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}
    assert names == tracked() | {"pyproject.toml", "LICENSE", "NOTICE", "PKG-INFO"}


def test_the_same_files_make_the_same_bytes_at_another_time_in_another_folder(dist, wheel, tmp_path):
    (sdist,) = dist.glob("*.tar.gz")
    source = unpacked(sdist, tmp_path / "source")
    for path in source.rglob("*"):
        os.utime(path, (1_800_000_000, 1_800_000_000))
    build("wheel", tmp_path / "again", source)
    assert (tmp_path / "again" / wheel.name).read_bytes() == wheel.read_bytes()
    build("sdist", tmp_path / "again")
    assert (tmp_path / "again" / sdist.name).read_bytes() == sdist.read_bytes()


def test_the_metadata_is_valid_and_complete(wheel):
    with zipfile.ZipFile(wheel) as archive:
        raw = archive.read(f"toytf-{toytf.__version__}.dist-info/METADATA")
    said = Metadata.from_email(raw, validate=True)
    assert (said.name, str(said.version)) == ("toytf", toytf.__version__)
    assert said.author_email is None  # nobody's address
    assert said.project_urls in (None, {})  # where it will stand is not known here


def test_without_matplotlib_the_line_that_installs_it_is_named():
    hide = "import sys; sys.modules['matplotlib'] = None; import toytf.translator, toytf.course.plot"
    done = subprocess.run([sys.executable, "-c", hide], cwd=ROOT, capture_output=True, encoding="utf-8")
    assert done.returncode == 1
    assert 'figures need matplotlib: pip install "toytf[plot]"' in done.stderr.splitlines()[-1]
