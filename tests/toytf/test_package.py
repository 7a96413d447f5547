"""The wheel and the source that `make dist` makes."""

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
MOST = 1_300_000  # bytes; the weights of the models that write are half a megabyte of them


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    """What `make dist` makes: the source, and the wheel of that source."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder)]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
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
