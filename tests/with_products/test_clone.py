"""A fresh clone: the README's lines without make build the book, and the workflows' own steps do their work."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import readme_lines
import steps

ROOT = Path(__file__).resolve().parent.parent.parent
pytestmark = pytest.mark.timeout(3600)


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """The last commit, in a folder that has nothing else."""
    place = tmp_path_factory.mktemp("clone") / "course"
    subprocess.run(["git", "clone", "-q", "--depth", "1", ROOT.as_uri(), str(place)], check=True)
    return place


@pytest.mark.skipif(sys.platform == "win32", reason="on Windows the workflow types the lines themselves")
def test_the_readmes_lines_without_make_build_the_book_with_and_without_solutions(clone):
    words = ["--venv", "--run", "--folder", str(clone), "--skip", "pytest", "--skip", "test.txt"]
    assert readme_lines.main(words) == 0
    for site in ("_build/html", "_build/without-solutions/_build/html"):
        assert len(list((clone / site / "notebooks").glob("*.html"))) >= 22


@pytest.mark.skipif(sys.platform == "win32", reason="these steps are for Linux")
def test_the_steps_of_a_release_make_what_it_offers_with_right_sums(tmp_path):
    assert steps.main(["release.yml", "build", "--folder", str(tmp_path), "--ref", "v0.1.0"]) == 0
    made = tmp_path / "work" / "_build" / "release"
    assert {Path(name).name for name in steps.PARTS} | {"SHA256SUMS"} == {path.name for path in made.iterdir()}
    with zipfile.ZipFile(next(made.glob("*.whl"))) as archive:
        assert "toytf/data/translator.npz" in archive.namelist()
        assert json.loads(archive.read("toytf/course/data/bench.json"))


@pytest.mark.skipif(sys.platform == "win32", reason="these steps are for Linux")
def test_the_steps_of_the_site_build_it_for_the_address_that_was_asked_for(tmp_path):
    assert steps.main(["site.yml", "build", "--folder", str(tmp_path)]) == 0
    site = tmp_path / "work" / "_build" / "html"
    assert (site / "index.html").is_file() and len(list((site / "files").iterdir())) == 4
