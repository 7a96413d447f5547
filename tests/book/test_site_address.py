"""A site with an address: what it says of itself to others, and where its pages lead. Without one, none of this.

A small book is built with an address; the real one is built without in test_site.py.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ElementTree
import zipfile
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

import lxml.html
import pip
import pytest
import toytf_address
import toytf_download
import yaml
from nbformat.v4 import new_markdown_cell, new_notebook
from sphinx.errors import ConfigError

import colab
import pages
import sitecheck
from sitecheck import DESKTOP, PHONE, ROOT, write_small_book
from toytf.course.chapters import outline

BASE, PATH, SOURCE = "https://example.org/course/", "/course/", "https://github.com/somebody/course"
CHAPTER = "notebooks/04_self_attention"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def git(folder, *command, **settings):
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *command]
    env = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull} | settings
    run = subprocess.run(command, cwd=folder, env=env, check=True, capture_output=True, encoding="utf-8")
    return run.stdout.strip()


# ---------------------------------------------------------------- the settings


@pytest.mark.parametrize(
    "read, said, address",
    [
        ("site_url", "", ""),
        ("site_url", "https://some-body.example.org:8443/a/b_c", "https://some-body.example.org:8443/a/b_c/"),
        ("site_url", "http://example.org/", None),
        ("site_url", "https://me:secret@example.org/", None),
        ("site_url", 'https://example.org/"><script>', None),
        ("site_url", "https://example.org/\n", None),
        ("repository", "", ""),
        ("repository", "https://github.com/some-body/a.course_2.git/", "https://github.com/some-body/a.course_2"),
        ("repository", "https://github.com/somebody/course/tree/main", None),
        ("repository", "https://example.org/somebody/course", None),
    ],
)
def test_an_address_may_end_as_one_copies_it_and_what_is_none_is_named(read, said, address):
    if address is not None:
        assert getattr(toytf_address, read)(said) == address
        return
    with pytest.raises(ConfigError) as told:
        getattr(toytf_address, read)(said)
    assert re.match(rf"TOYTF_{read.upper()}: expected the address of .*, as in", str(told.value))
    assert f'got "{said}"' in str(told.value)


def test_the_date_is_that_of_the_last_commit_or_what_the_environment_says(tmp_path, monkeypatch):
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    assert toytf_address.epoch(tmp_path) == ""
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b").write_text("b", "utf-8")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "a", GIT_COMMITTER_DATE="2026-03-04T05:06:07Z")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "b")
    assert toytf_address.epoch(tmp_path / "a") == "1772600767"
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86399")
    assert toytf_address.epoch(tmp_path) == "86399"


# ---------------------------------------------------------------- the site


def write_book(folder):
    """The small book, with a chapter that is a notebook."""
    write_small_book(folder)
    (folder / "notebooks").mkdir()
    title = new_markdown_cell("# 4. Self-attention by hand", id="m")
    notebook = new_notebook(cells=[title], metadata=toytf_download.METADATA)
    (folder / f"{CHAPTER}.ipynb").write_text(json.dumps(notebook), "utf-8")
    toc = (folder / "_toc.yml").read_text("utf-8").replace("- chapters:", "- numbered: 1\n  chapters:")
    (folder / "_toc.yml").write_text(f"{toc}  - file: {CHAPTER}\n", "utf-8")
    return folder


SETTINGS = {"TOYTF_SITE_URL": BASE[:-1], "TOYTF_REPOSITORY": SOURCE, "SOURCE_DATE_EPOCH": "1790000000"}


@pytest.fixture(scope="module")
def sites(tmp_path_factory):
    """The same book with an address, built twice in different places."""
    found = []
    for name in ("one", "another"):
        folder = write_book(tmp_path_factory.mktemp(name) / name)
        result = sitecheck.build(folder, folder, **SETTINGS)
        assert result.returncode == 0, result.stdout
        found.append(folder / "_build" / "html")
    return found


@pytest.fixture(scope="module")
def site(sites):
    return sites[0]


class Head:
    """What a page says of itself: name or property of each meta, the canonical link, and links elsewhere."""

    def __init__(self, path):
        page = lxml.html.parse(path)
        said = [(one.get("name") or one.get("property"), one.get("content")) for one in page.iter("meta")]
        self.said = {name: [content for other, content in said if other == name] for name, _ in said if name}
        self.canonical = page.xpath("//link[@rel='canonical']/@href")
        self.links = page.xpath("//a[starts-with(@href, 'http')]/@href")


def test_each_page_says_once_what_it_is_where_it_is_and_how_it_looks(site):
    for page in ("first", "second", CHAPTER):
        head, here = Head(site / f"{page}.html"), [f"{BASE}{page}.html"]
        for name in ("description", "og:title", "og:description", "og:type", "og:site_name"):
            assert len(head.said[name]) == 1 and head.said[name][0], name
        assert head.canonical == head.said["og:url"] == here
        (picture,) = head.said["og:image"]
        assert (site / picture.removeprefix(BASE)).is_file()
    said = Head(site / f"{CHAPTER}.html").said
    assert said["og:title"] == ["2. Self-attention by hand"]  # counted in this book
    assert said["description"][0].startswith(outline()[3].question)
    assert Head(site / "second.html").said["description"] == ["Text."]
    assert Head(site / "first.html").said["description"][0].startswith("First. A page of ")  # its text has a formula


def test_the_first_page_leads_to_the_books_other_forms_where_the_workflow_lays_them(site):
    title = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))["title"]
    config = SimpleNamespace(html_title=title, toytf_site_url=BASE, toytf_lite_url="", toytf_repository="")
    names = {address.removeprefix(f"{BASE}files/") for _, address in toytf_address.other_forms(config)}
    forms = [link for link in Head(site / "first.html").links if link.startswith(f"{BASE}files/")]
    assert len(forms) == len(names)
    slug = pages.slug(title)
    assert names == {f"{slug}.pdf", f"{slug}.epub", f"{slug}-{PROJECT['version']}.zip"}  # as book/forms names them
    assert f"{BASE}files/" not in (site / "second.html").read_text("utf-8")


def test_the_bare_address_says_what_the_first_page_says(site):
    door, first = Head(site / "index.html"), Head(site / "first.html")
    assert door.canonical == first.canonical
    shared = {name: content for name, content in first.said.items() if name.startswith(("og:", "desc", "twitter"))}
    assert len(shared) >= 9 and door.said == shared
    assert 'content="0; url=first.html"' in (site / "index.html").read_text("utf-8")


def test_the_map_lists_every_page_once_and_robots_find_it(site):
    space = {"s": "http://www.sitemaps.org/schemas/sitemap/0.9"}
    listed = ElementTree.parse(site / "sitemap.xml").findall("s:url/s:loc", space)
    assert [place.text for place in listed] == [f"{BASE}{page}.html" for page in ("first", CHAPTER, "second")]
    assert f"\nSitemap: {BASE}sitemap.xml\n" in (site / "robots.txt").read_text("utf-8")
    assert (site / ".nojekyll").read_text("utf-8") == ""


def test_the_foot_says_version_and_date_and_opens_an_issue_about_the_page(site):
    page = (site / f"{CHAPTER}.html").read_text("utf-8")
    assert f"Code: MIT. Version {PROJECT['version']}, 2026-09-21." in page
    (address,) = [link for link in Head(site / f"{CHAPTER}.html").links if "/issues/new" in link]
    assert address.startswith(f"{SOURCE}/issues/new?")
    asked = parse_qs(urlsplit(address).query)
    assert asked["title"] == ["2. Self-attention by hand: "]
    (body,) = asked["body"]
    assert body.startswith(f"Page: {BASE}{CHAPTER}.html\nVersion: {PROJECT['version']}, 2026-09-21\n")


def app(**config):
    """As much of Sphinx as these functions ask for."""
    empty = dict.fromkeys(("toytf_site_url", "toytf_repository", "toytf_lite_url"), "")
    settings = empty | {"toytf_solutions": True, "root_doc": "index"} | config
    env = SimpleNamespace(doc2path=lambda page: f"{page}.ipynb", found_docs=set())
    builder = SimpleNamespace(name="html", get_target_uri=lambda page: f"{page}.html")
    return SimpleNamespace(config=SimpleNamespace(**settings), env=env, builder=builder)


def test_a_page_made_of_a_notebook_leads_to_where_it_runs(site):
    links = [link for link in Head(site / f"{CHAPTER}.html").links if "github.com/somebody" not in link]
    assert f"https://colab.research.google.com/github/somebody/course/blob/colab/{CHAPTER}.ipynb" in links
    binder = "https://mybinder.org/v2/gh/somebody/course/HEAD?urlpath=lab%2Ftree%2Fnotebooks%2F04_self_attention.ipynb"
    assert binder in links
    assert (site / "_sources" / f"{CHAPTER}.ipynb").is_file()  # what the branch `colab` has
    assert (ROOT / f"{CHAPTER}.ipynb").is_file()
    assert not [link for link in Head(site / "second.html").links if "colab" in link or "binder" in link]
    # without solutions to nobody who has them
    assert toytf_address.launches(app(toytf_repository=SOURCE, toytf_solutions=False), CHAPTER) == []
    lite = app(toytf_lite_url=f"{BASE}lite/")
    where = f"{BASE}lite/lab/index.html?path=04_self_attention.ipynb"
    assert toytf_address.launches(lite, CHAPTER) == [("Browser", where)]
    assert toytf_address.launches(lite, "book/instructors") == []


def test_two_builds_are_equal_byte_by_byte(sites):
    one, another = ({path.relative_to(s).as_posix(): path for path in s.rglob("*") if path.is_file()} for s in sites)
    assert one.keys() == another.keys() and len(one) > 20
    assert [name for name in one if one[name].read_bytes() != another[name].read_bytes()] == []


# ---------------------------------------------------------------- what is not there


@pytest.fixture(scope="module")
def lost(site, tmp_path_factory):
    """The site below its path, at a server that shows 404.html for what is not there, as GitHub Pages does."""
    top = tmp_path_factory.mktemp("server")
    shutil.copytree(site, top / PATH.strip("/"))

    class Lost(sitecheck.Quiet):
        def send_error(self, code, message=None, explain=None):
            page = (top / PATH.strip("/") / "404.html").read_bytes()
            self.send_response(200)  # a browser would report the right status as a problem
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(page)))
            self.end_headers()
            self.wfile.write(page)

    with sitecheck.serve(top, Lost) as server:
        yield server


@pytest.mark.parametrize("path, width, dark", [("nowhere", PHONE, False), ("a/b/nowhere.html", DESKTOP, True)])
def test_an_address_that_leads_nowhere_leads_on_at_any_depth(browser, lost, path, width, dark):
    with sitecheck.open_page(browser, lost, f"course/{path}", width, dark) as (page, problems):
        problems += sitecheck.page_problems(page)
        assert page.locator("h1").inner_text() == "This page is not here"
        styled = page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--toytf-ink')")
        scripts = page.evaluate(
            "Promise.all([...document.querySelectorAll('script[src]')].map(s => fetch(s.src).then(r => r.text())))"
        )
        page.locator("article a", has_text="The first page").click()
        page.wait_for_url("**/course/first.html")
    assert styled and scripts and not [text for text in scripts if "not here" in text]
    assert not problems, "\n".join(problems)


def test_that_page_is_none_to_be_found_or_shared(site):
    page = (site / "404.html").read_text("utf-8")
    assert 'name="robots" content="noindex"' in page and "canonical" not in page and "og:" not in page


def test_the_tools_and_the_foot_fit_a_phone_and_can_be_read(browser, site):
    with sitecheck.open_page(browser, site.as_uri(), f"{CHAPTER}.html", PHONE, True) as (page, problems):
        problems += sitecheck.page_problems(page)
        tops = {round(tool.bounding_box()["y"]) for tool in page.locator(".launches .tool").all()}
    assert not problems, "\n".join(problems)
    assert len(tops) == 1  # side by side


# ---------------------------------------------------------------- the notebook elsewhere

WHEEL = f"toytf-{PROJECT['version']}-py3-none-any.whl"
AFTER = "\nimport toytf.attention\nprint(toytf.__version__, toytf.__file__)"


@pytest.fixture
def empty(tmp_path_factory):
    """A Python that has what this one has, but for toytf."""
    folder = tmp_path_factory.mktemp("empty")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    (packages,) = folder.glob("lib/python*/site-packages") if os.name != "nt" else [folder / "Lib" / "site-packages"]
    for path in Path(pip.__file__).parent.parent.iterdir():
        if "toytf" not in path.name.lower() and not path.name.endswith(".pth"):
            try:
                os.symlink(path, packages / path.name)
            except OSError as refused:  # Windows, unless it is asked to
                pytest.skip(f"no links here: {refused}")
    return folder / "bin" / "python"


def run(python, code, folder, **more):
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    env |= {"PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_COMPILE": "1", **more}
    return subprocess.run([str(python), "-c", code], cwd=folder, env=env, capture_output=True, encoding="utf-8")


def first_cell_of(site, address):
    notebook = json.loads((site / "_sources" / f"{CHAPTER}.ipynb").read_text("utf-8"))
    cell = "".join(notebook["cells"][0]["source"])
    assert BASE in cell
    return cell.replace(BASE, f"{address}/")


def test_where_the_address_cannot_be_reached_the_first_cell_says_what_to_do(site, empty, tmp_path):
    with sitecheck.serve(site) as server:
        pass  # nobody answers there any more
    done = run(empty, first_cell_of(site, server), tmp_path, PIP_RETRIES="0")
    assert done.returncode == 1
    said = done.stderr.split("ModuleNotFoundError: ")[1]
    assert said.startswith("This cell cannot install toytf.")
    assert f'%pip install "toytf[plot] @ {server}/{WHEEL}"' in said


@pytest.mark.parametrize("source", ["the site", "the file beside the notebook", "the folder around the notebook"])
def test_the_first_cell_installs_the_package(site, empty, tmp_path, source):
    with sitecheck.serve(site) as server:
        cell = first_cell_of(site, server) if source == "the site" else toytf_download.first_cell(PROJECT["version"])
        if source == "the file beside the notebook":
            shutil.copy(site / WHEEL, tmp_path)
        around = source == "the folder around the notebook"
        # pip's word for: build with what is here, since no index may be asked
        done = run(empty, cell + AFTER, ROOT / "notebooks" if around else tmp_path, PIP_NO_BUILD_ISOLATION="0")
    assert done.returncode == 0, done.stderr
    version, place = done.stdout.split(maxsplit=1)
    assert version == PROJECT["version"] and Path(place.strip()).is_relative_to(empty.parent.parent)


def test_where_the_package_is_there_the_first_cell_asks_nobody(site, tmp_path):
    nobody = "import subprocess\nsubprocess.run = None\n"
    done = run(sys.executable, nobody + first_cell_of(site, "") + AFTER, tmp_path, PYTHONPATH=str(ROOT))
    assert done.returncode == 0, done.stderr


def test_with_a_repository_alone_the_first_cell_names_it():
    needed = toytf_download.what_pip_needs(app(toytf_repository=SOURCE))
    assert needed == f"toytf[plot] @ git+{SOURCE}"
    assert f'%pip install "{needed}"' in toytf_download.first_cell("1.2.3", needed)
    assert toytf_download.what_pip_needs(app()) == ""


def test_the_wheel_beside_the_site_is_the_package(site):
    with zipfile.ZipFile(site / WHEEL) as wheel:
        assert wheel.read("toytf/attention.py") == (ROOT / "toytf" / "attention.py").read_bytes()


def test_the_branch_for_colab_has_the_notebooks_and_nothing_else(site, tmp_path):
    git(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / "a.txt").write_text("a", "utf-8")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "a")
    (tmp_path / "a.txt").write_text("b", "utf-8")
    before = git(tmp_path, "status", "--short", "--branch")
    made = colab.commit(tmp_path, site / "_sources")
    assert git(tmp_path, "ls-tree", "-r", "--name-only", colab.BRANCH) == f"{CHAPTER}.ipynb"
    shown = git(tmp_path, "show", f"{colab.BRANCH}:{CHAPTER}.ipynb")
    assert shown == (site / "_sources" / f"{CHAPTER}.ipynb").read_text("utf-8").strip()
    assert git(tmp_path, "rev-list", "--count", colab.BRANCH) == "1"
    assert git(tmp_path, "status", "--short", "--branch") == before
    assert colab.commit(tmp_path, site / "_sources") == made
    assert colab.BRANCH == toytf_address.COLAB_BRANCH


def test_notebooks_that_would_not_run_in_colab_are_kept_off_that_branch(site, tmp_path):
    with pytest.raises(ValueError, match="got: no notebook is there"):
        colab.commit(tmp_path, tmp_path)
    text = (site / "_sources" / f"{CHAPTER}.ipynb").read_text("utf-8")
    (tmp_path / "a.ipynb").write_text(text.replace("toytf[plot] @ ", ""), "utf-8")
    with pytest.raises(ValueError, match="got: a.ipynb does not install toytf in Colab"):
        colab.commit(tmp_path, tmp_path)


# ---------------------------------------------------------------- Binder, and how to cite


def test_binder_installs_what_the_lab_has():
    asked = (ROOT / "binder" / "requirements.txt").read_text("utf-8").splitlines()[-1].split()[1]
    assert (ROOT / "binder" / asked).resolve() == ROOT / "requirements" / "lab.txt"
    if os.name != "nt":
        assert (ROOT / "binder" / "postBuild").stat().st_mode & 0o111  # Binder runs it only so


def test_the_citation_is_valid_and_says_what_the_package_and_the_book_say():
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.citation-file-format"]
    done = subprocess.run([*command, "CITATION.cff"], cwd=ROOT, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stdout
    cited, book = (yaml.safe_load((ROOT / name).read_text("utf-8")) for name in ("CITATION.cff", "_config.yml"))
    named = cited["preferred-citation"]
    for part in (cited, named):
        assert (part["version"], part["authors"]) == (PROJECT["version"], [{"name": book["author"]}])
    assert (named["title"], str(named["year"])) == (book["title"], book["copyright"])
    assert (cited["title"], cited["license"]) == (PROJECT["name"], PROJECT["license"])
