"""A site with an address: what it says of itself to others, and where its pages lead. Without one, none of this.

A small book is built twice with an address; the real one is built without in tests/test_site.py.
"""

import doctest
import io
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ElementTree
import zipfile
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

import pytest
import toytf_address
import toytf_cards
import toytf_download
import yaml
from matplotlib.image import imread
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from sphinx.errors import ConfigError

import colab
import sitecheck
from sitecheck import DESKTOP, PHONE
from test_site import write_small_book
from toytf.course.chapters import outline
from toytf.course.exercises import read_notebook

ROOT = Path(__file__).resolve().parent.parent
BASE, PATH, SOURCE = "https://example.org/course/", "/course/", "https://github.com/somebody/course"
CHAPTER = "notebooks/04_self_attention"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
TITLES = {path.stem: path for path in sorted((ROOT / "notebooks").glob("*.ipynb"))}


def git(folder, *command, **settings):
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *command]
    env = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull} | settings
    run = subprocess.run(command, cwd=folder, env=env, check=True, capture_output=True, encoding="utf-8")
    return run.stdout.strip()


# ---------------------------------------------------------------- the two settings


@pytest.mark.parametrize(
    "said, address",
    [
        ("", ""),
        ("https://example.org", "https://example.org/"),
        ("https://example.org/", "https://example.org/"),
        ("https://some-body.example.org:8443/a/b_c", "https://some-body.example.org:8443/a/b_c/"),
    ],
)
def test_an_address_may_end_with_a_slash_or_not(said, address):
    assert toytf_address.site_url(said) == address


@pytest.mark.parametrize(
    "said",
    [
        "http://example.org/",
        "example.org/course",
        "/course/",
        "https://",
        "https:///course",
        "https://example.org//course",
        "https://example.org/course?a=b",
        "https://example.org/course#top",
        "https://me:secret@example.org/",
        "https://example.org/a b",
        'https://example.org/"><script>',
        "https://example.org/\n",
    ],
)
def test_what_is_no_address_of_a_site_is_named(said):
    with pytest.raises(ConfigError) as told:
        toytf_address.site_url(said)
    assert str(told.value).startswith("TOYTF_SITE_URL: expected the address of the site, as in")
    assert f'got "{said}"' in str(told.value)


@pytest.mark.parametrize("end", ["", "/", ".git", ".git/"])
def test_a_repository_may_end_as_one_copies_it(end):
    assert toytf_address.repository("") == ""
    assert toytf_address.repository(f"https://github.com/some-body/a.course_2{end}") == (
        "https://github.com/some-body/a.course_2"
    )


@pytest.mark.parametrize(
    "said",
    [
        "somebody/course",
        "https://github.com/somebody",
        "https://github.com/somebody/course/tree/main",
        "git@github.com:somebody/course.git",
        "https://example.org/somebody/course",
        "https://github.com/some body/course",
    ],
)
def test_what_is_no_repository_is_named(said):
    with pytest.raises(ConfigError, match="^TOYTF_REPOSITORY: expected the address of a repository on GitHub"):
        toytf_address.repository(said)


def test_the_settings_are_looked_at_before_anything_is_built(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    config = SimpleNamespace(
        toytf_site_url=BASE[:-1], toytf_repository=f"{SOURCE}/", toytf_lite_url="", toytf_epoch="", html_baseurl=""
    )
    toytf_address.check(SimpleNamespace(srcdir="."), config)
    assert vars(config) == {
        "toytf_site_url": BASE, "toytf_repository": SOURCE, "toytf_lite_url": "",
        "toytf_epoch": "0", "html_baseurl": BASE,
    }  # fmt: skip
    config.toytf_site_url = "example.org"
    with pytest.raises(ConfigError, match="TOYTF_SITE_URL"):
        toytf_address.check(SimpleNamespace(srcdir="."), config)


# ---------------------------------------------------------------- version and date


def test_the_date_is_that_of_the_last_commit_or_what_the_environment_says(tmp_path, monkeypatch):
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    assert toytf_address.epoch(tmp_path) == ""
    when = {"GIT_COMMITTER_DATE": "2026-03-04T05:06:07Z"}
    git(tmp_path, "init", "-q")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "a", **when)
    (tmp_path / "a").mkdir()
    assert toytf_address.epoch(tmp_path / "a") == ""  # of this folder nothing is in the commit
    (tmp_path / "a" / "b").write_text("b", "utf-8")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "b", **when)
    assert toytf_address.day(toytf_address.epoch(tmp_path / "a")) == "2026-03-04"
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86399")
    assert toytf_address.day(toytf_address.epoch(tmp_path)) == "1970-01-01"
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "today")
    with pytest.raises(ConfigError, match='SOURCE_DATE_EPOCH: expected seconds since 1970, got "today"'):
        toytf_address.epoch(tmp_path)
    assert toytf_address.day("") == ""


def test_the_examples_in_the_extensions_are_right():
    assert doctest.testmod(toytf_address) == (0, 3)


# ---------------------------------------------------------------- pictures

FIGURE = (
    '<svg xmlns="http://www.w3.org/2000/svg" class="toytf-figure" viewBox="0 0 40 20" width="40" height="20" '
    'style="font:14.5px sans-serif">'
    '<rect width="40" height="20" style="fill:var(--toytf-green,#009E73)"/></svg>\n'
)
SPINE = FIGURE.replace("toytf-figure", "toytf-spine").replace("green,#009E73", "red,#D55E00")


def figures(*svgs, tags=()):
    """A notebook with a cell for each figure."""
    shown = [new_output("display_data", {"image/svg+xml": svg}) for svg in svgs]
    cells = [new_code_cell("draw()", outputs=[output], id=f"c{k}") for k, output in enumerate(shown)]
    for cell in cells:
        cell["metadata"] = {"tags": list(tags), "mystnb": {"image": {"alt": "A green box."}}}
    title = new_markdown_cell("# 4. Self-attention by hand", id="m")
    return new_notebook(cells=[title, *cells], metadata=toytf_download.METADATA)


def saved(notebook, path):
    path.write_text(json.dumps(notebook), "utf-8")
    return path


def test_a_pages_picture_is_its_first_figure_and_the_spine_only_if_there_is_no_other(tmp_path):
    path = tmp_path / "04_a.ipynb"
    first = toytf_cards.first_figure
    assert first(saved(figures(SPINE, FIGURE), path)) == toytf_cards.Picture(FIGURE, "A green box.")
    assert first(saved(figures(SPINE), path)).svg == SPINE
    assert first(saved(figures("<svg>not ours</svg>"), path)) is None
    assert first(saved(figures(FIGURE, tags=["solution"]), path), solutions=False) is None
    assert first(saved(figures(FIGURE, tags=["solution"]), path)).svg == FIGURE
    assert first(tmp_path / "a.md") is None
    assert toytf_cards.of_the_book((tmp_path / "a.md", saved(figures(FIGURE, SPINE), path))).svg == SPINE


def crowded(svg):
    """What of a card's own text does not fit, or has no sign in its font."""
    found = []
    for x, y, bold, size, words in re.findall(
        r'<text x="(\d+)" y="([\d.]+)" font-family="DejaVu \w+"( font-weight="700")? font-size="(\d+)"[^>]*>(.*?)<', svg
    ):
        font = toytf_cards.SERIF if bold else toytf_cards.SANS
        end = float(x) + toytf_cards.width_of(unescape(words), font, float(size))
        if end > toytf_cards.WIDTH - 20 or float(y) > toytf_cards.HEIGHT - 20:
            found.append(words)
    letters = set(unescape(re.sub(r"<[^>]*>", "", svg))) - set("\n")
    return found + sorted(letters - toytf_cards._advances(toytf_cards.SANS).keys())


def test_every_chapter_has_a_figure_of_its_own_that_is_large_enough():
    seen = set()
    for chapter in outline():
        path = TITLES[chapter.name]
        title = re.search(r"# (.*)", "".join(read_notebook(path)["cells"][0]["source"]))[1]
        picture = toytf_cards.first_figure(path)
        svg = toytf_cards.card("The Transformer, Number by Number", title, chapter.question, picture)
        assert picture.alt and "toytf-spine" not in picture.svg[:300], chapter.name
        assert crowded(svg) == [], chapter.name
        assert "var(" not in svg
        x, y, width, height = (
            float(re.search(rf'<svg [^>]*class="toytf-figure"[^>]* {side}="([\d.]+)"', svg)[1])
            for side in ("x", "y", "width", "height")
        )
        assert x >= 40 and y >= 40 and x + width <= 1180 and y + height <= 600, chapter.name
        assert width * height > 100_000, chapter.name
        seen.add(picture.svg)
    assert len(seen) == len(outline())


def test_a_text_that_does_not_fit_a_picture_is_seen():
    picture = toytf_cards.Picture(FIGURE, "")
    assert crowded(toytf_cards.card("B", "4. Self-attention by hand", "", picture)) == []
    assert crowded(toytf_cards.card("B", "Self" * 20, "", picture)) == ["Self" * 20]
    assert crowded(toytf_cards.card("B", "word " * 120, "", picture))
    assert crowded(toytf_cards.card("B", "漢", "", picture)) == ["漢"]


def test_a_picture_is_the_same_each_time_and_shows_the_figure():
    svg = toytf_cards.card("B", "4. A", "Why?", toytf_cards.Picture(FIGURE, ""))
    drawn = toytf_cards.png(svg)
    assert struct.unpack(">II", drawn[16:24]) == (1200, 630)
    assert drawn == toytf_cards.png(svg)
    image = pixels(drawn)
    assert image[400, 600].tolist() == [0, 158, 115]  # the green of the figure, which no page defines here
    assert image[620, 20].tolist() == [255, 255, 255]
    untitled = pixels(toytf_cards.png(svg.replace("4. A", "")))
    assert dark(image) > dark(untitled) + 500


def pixels(drawn):
    """An array of rows of red, green and blue."""
    return (imread(io.BytesIO(drawn))[..., :3] * 255).round().astype(int)


def dark(image):
    return int((image[60:160].sum(axis=2) < 300).sum())


# ---------------------------------------------------------------- the site


def write_book(folder):
    """The small book, with a chapter that is a notebook."""
    write_small_book(folder)
    (folder / "notebooks").mkdir()
    saved(figures(SPINE, FIGURE), folder / f"{CHAPTER}.ipynb")
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


class Head(HTMLParser):
    """What a page says of itself: name or property of each meta, and the canonical link."""

    def __init__(self, text):
        super().__init__()
        self.said, self.canonical, self.links = {}, [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag == "meta" and (name := attrs.get("name") or attrs.get("property")):
            self.said.setdefault(name, []).append(attrs["content"])
        if tag == "link" and attrs.get("rel") == "canonical":
            self.canonical.append(attrs["href"])
        if tag == "a" and attrs.get("href", "").startswith("http"):
            self.links.append(attrs["href"])


def head(path):
    return Head(path.read_text("utf-8"))


def share_problems(site, page):
    """What a preview of a page would lack or show twice."""
    page_head, found = head(site / f"{page}.html"), []
    names = ["description", *(f"og:{name}" for name in ("title", "description", "type", "site_name", "url", "image"))]
    found += [name for name in names if len(page_head.said.get(name, [])) != 1 or not page_head.said[name][0]]
    here = f"{BASE}{page}.html"
    if page_head.canonical != [here] or page_head.said.get("og:url") != [here]:
        found.append("address")
    picture = site / urlsplit(page_head.said.get("og:image", [""])[0]).path.removeprefix(PATH)
    if not picture.is_file() or struct.unpack(">II", picture.read_bytes()[16:24]) != (1200, 630):
        found.append("picture")
    return found


def test_the_first_page_leads_to_the_books_other_forms_where_the_workflow_lays_them(site):
    title = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))["title"]
    config = SimpleNamespace(html_title=title, toytf_site_url=BASE, toytf_lite_url="")
    names = {
        address.removeprefix(f"{BASE}files/")
        for _, address in toytf_address.other_forms(SimpleNamespace(config=config))
    }
    forms = [link for link in head(site / "first.html").links if link.startswith(f"{BASE}files/")]
    assert len(forms) == len(names)
    assert f"{BASE}files/" not in (site / "second.html").read_text("utf-8")


def test_each_page_says_what_it_is_where_it_is_and_how_it_looks(site):
    for page in ("first", "second", CHAPTER):
        assert share_problems(site, page) == []
    said = head(site / f"{CHAPTER}.html").said
    assert said["og:title"] == ["2. Self-attention by hand"]  # counted in this book
    assert said["description"][0].startswith(outline()[3].question)
    assert said["og:image:alt"] == ["A green box."]
    assert head(site / "second.html").said["description"] == ["Text."]
    assert head(site / "first.html").said["description"][0].startswith("First. A page of ")  # its text has a formula
    pictures = {(site / f"_cards/{page}.png").read_bytes() for page in ("first", "second", CHAPTER)}
    assert len(pictures) == 3


@pytest.mark.parametrize(
    "right, wrong, problem",
    [
        ('name="description"', 'name="descriptions"', "description"),
        ("</head>", '<meta name="description" content="Twice."></head>', "description"),
        ('property="og:title" content="', 'property="og:title" content="" data-was="', "og:title"),
        (f'href="{BASE}second.html"', 'href="second.html"', "address"),
        (f'content="{BASE}second.html"', 'content="second.html"', "address"),
        ("_cards/second.png", "_cards/third.png", "picture"),
    ],
)
def test_what_is_missing_in_a_head_is_found(site, tmp_path, right, wrong, problem):
    copy = shutil.copytree(site, tmp_path / "site")
    page = (copy / "second.html").read_text("utf-8")
    assert right in page
    (copy / "second.html").write_text(page.replace(right, wrong), "utf-8")
    assert share_problems(copy, "second") == [problem]


def test_the_bare_address_says_what_the_first_page_says(site):
    door, first = head(site / "index.html"), head(site / "first.html")
    assert door.canonical == first.canonical
    shared = {name: content for name, content in first.said.items() if name.startswith(("og:", "desc", "twitter"))}
    assert len(shared) >= 10 and door.said == shared
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
    (address,) = [link for link in head(site / f"{CHAPTER}.html").links if "/issues/new" in link]
    assert address.startswith(f"{SOURCE}/issues/new?")
    asked = parse_qs(urlsplit(address).query)
    assert asked["title"] == ["2. Self-attention by hand: "]
    (body,) = asked["body"]
    assert body.startswith(f"Page: {BASE}{CHAPTER}.html\nVersion: {PROJECT['version']}, 2026-09-21\n")


def test_a_page_made_of_a_notebook_leads_to_colab_and_binder(site):
    links = [link for link in head(site / f"{CHAPTER}.html").links if "github.com/somebody" not in link]
    assert f"https://colab.research.google.com/github/somebody/course/blob/colab/{CHAPTER}.ipynb" in links
    binder = "https://mybinder.org/v2/gh/somebody/course/HEAD?urlpath=lab%2Ftree%2Fnotebooks%2F04_self_attention.ipynb"
    assert binder in links
    assert (site / "_sources" / f"{CHAPTER}.ipynb").is_file()  # what the branch `colab` has
    assert (ROOT / f"{CHAPTER}.ipynb").is_file()
    assert not [link for link in head(site / "second.html").links if "colab" in link or "binder" in link]


def app(**config):
    """As much of Sphinx as these functions ask for."""
    empty = dict.fromkeys(("toytf_site_url", "toytf_repository", "toytf_lite_url"), "")
    settings = empty | {"toytf_solutions": True, "root_doc": "index"} | config
    env = SimpleNamespace(doc2path=lambda page: f"{page}.ipynb", found_docs=set())
    builder = SimpleNamespace(name="html", get_target_uri=lambda page: f"{page}.html")
    return SimpleNamespace(config=SimpleNamespace(**settings), env=env, builder=builder)


def test_a_book_without_solutions_leads_to_nobody_who_has_them():
    assert [name for name, _ in toytf_address.launches(app(toytf_repository=SOURCE), CHAPTER)] == ["Colab", "Binder"]
    assert toytf_address.launches(app(toytf_repository=SOURCE, toytf_solutions=False), CHAPTER) == []
    assert toytf_address.launches(app(toytf_site_url=BASE), CHAPTER) == []
    lite = app(toytf_lite_url=f"{BASE}lite/")
    where = f"{BASE}lite/lab/index.html?path=04_self_attention.ipynb"
    assert toytf_address.launches(lite, CHAPTER) == [("Browser", where)]
    assert toytf_address.launches(lite, "book/instructors") == []
    assert toytf_address.issue(app(toytf_site_url=BASE), CHAPTER, "A", "1") == ""


def test_what_an_earlier_build_left_for_an_address_goes_with_it(tmp_path):
    for name in ("sitemap.xml", "robots.txt", "404.html", ".nojekyll", "first.html"):
        (tmp_path / name).write_text("old", "utf-8")
    toytf_address.finish(app(outdir=tmp_path), RuntimeError("a build that failed"))
    assert len(list(tmp_path.iterdir())) == 5
    without = app()
    without.outdir = tmp_path
    toytf_address.finish(without, None)
    assert [path.name for path in tmp_path.iterdir()] == ["first.html"]


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


def lost_links(page):
    """Links of a page that hold only where it is: neither whole, nor from the top, nor within the page."""
    return re.findall(r'\s(?:href|src|action|data-content_root)="(?!https?:|data:|/course/|#)[^"]*"', page)


def test_every_link_of_that_page_begins_at_the_top(site):
    page = (site / "404.html").read_text("utf-8")
    assert page.count(f'"{PATH}') > 10
    assert lost_links(page) == []
    assert lost_links(page.replace(f'href="{PATH}first.html"', 'href="first.html"', 1)) == [' href="first.html"']
    assert 'name="robots" content="noindex"' in page
    assert "canonical" not in page and "og:" not in page


def test_the_tools_and_the_foot_fit_a_phone_and_can_be_read(browser, site):
    for width, dark in ((PHONE, True), (DESKTOP, False)):
        with sitecheck.open_page(browser, site.as_uri(), f"{CHAPTER}.html", width, dark) as (page, problems):
            problems += sitecheck.page_problems(page)
            tops = {round(tool.bounding_box()["y"]) for tool in page.locator(".launches .tool").all()}
        assert not problems, "\n".join(problems)
        assert len(tops) == 1  # side by side


# ---------------------------------------------------------------- the notebook elsewhere


def first_code(path):
    return "".join(json.loads(path.read_text("utf-8"))["cells"][0]["source"])


@pytest.fixture
def empty(tmp_path_factory):
    """A Python that has what this one has, but for toytf."""
    folder = tmp_path_factory.mktemp("empty")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    (packages,) = folder.glob("lib/python*/site-packages") if os.name != "nt" else [folder / "Lib" / "site-packages"]
    import pip

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
    command = [str(python), "-c", code]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, encoding="utf-8")


WHEEL = f"toytf-{PROJECT['version']}-py3-none-any.whl"
AFTER = "\nimport toytf.attention\nprint(toytf.__version__, toytf.__file__)"


def test_where_the_address_cannot_be_reached_the_first_cell_says_what_to_do(site, empty, tmp_path):
    with sitecheck.serve(site) as server:
        pass  # nobody answers there any more
    cell = first_code(site / "_sources" / f"{CHAPTER}.ipynb").replace(BASE, f"{server}/")
    done = run(empty, cell, tmp_path, PIP_RETRIES="0")
    assert done.returncode == 1
    said = done.stderr.split("ModuleNotFoundError: ")[1]
    assert said.startswith("This cell cannot install toytf.")
    assert f'%pip install "toytf[plot] @ {server}/{WHEEL}"' in said


def installed(done, empty):
    """Whether a cell has put the package into an environment."""
    assert done.returncode == 0, done.stderr
    version, place = done.stdout.split(maxsplit=1)
    return version == PROJECT["version"] and Path(place.strip()).is_relative_to(empty.parent.parent)


def test_the_first_cell_installs_the_package_of_the_site(site, empty, tmp_path):
    cell = first_code(site / "_sources" / f"{CHAPTER}.ipynb")
    with sitecheck.serve(site) as server:
        here = cell.replace(BASE, f"{server}/")
        assert here != cell
        assert installed(run(empty, here + AFTER, tmp_path), empty)


def test_without_an_address_the_first_cell_installs_the_file_beside_the_notebook(site, empty, tmp_path):
    shutil.copy(site / WHEEL, tmp_path)
    cell = toytf_download.first_cell(PROJECT["version"])
    assert installed(run(empty, cell + AFTER, tmp_path), empty)


def test_without_an_address_the_first_cell_installs_the_folder_that_the_notebook_stands_in(empty):
    cell = toytf_download.first_cell(PROJECT["version"])
    # pip's word for: build with what is here, since no index may be asked
    assert installed(run(empty, cell + AFTER, ROOT / "notebooks", PIP_NO_BUILD_ISOLATION="0"), empty)


def test_where_the_package_is_there_the_first_cell_asks_nobody(site, tmp_path):
    cell = first_code(site / "_sources" / f"{CHAPTER}.ipynb")
    nobody = "import subprocess\nsubprocess.run = None\n"
    done = run(sys.executable, nobody + cell + AFTER, tmp_path, PYTHONPATH=str(ROOT))
    assert done.returncode == 0, done.stderr


def test_with_a_repository_alone_the_first_cell_names_it():
    needed = toytf_download.what_pip_needs(app(toytf_repository=SOURCE))
    assert needed == f"toytf[plot] @ git+{SOURCE}"
    assert f'%pip install "{needed}"' in toytf_download.first_cell("1.2.3", needed)
    assert toytf_download.what_pip_needs(app()) == ""


def test_the_wheel_beside_the_site_is_the_package(site):
    with zipfile.ZipFile(site / f"toytf-{PROJECT['version']}-py3-none-any.whl") as wheel:
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
    expected = "^expected a book that was built with TOYTF_SITE_URL or TOYTF_REPOSITORY in .*, got: "
    with pytest.raises(ValueError, match=f"{expected}no notebook is there"):
        colab.commit(tmp_path, tmp_path)
    text = (site / "_sources" / f"{CHAPTER}.ipynb").read_text("utf-8")
    (tmp_path / "a.ipynb").write_text(text.replace("toytf[plot] @ ", ""), "utf-8")
    with pytest.raises(ValueError, match=f"{expected}a.ipynb does not install toytf in Colab"):
        colab.commit(tmp_path, tmp_path)


# ---------------------------------------------------------------- Binder, and how to cite


def test_binder_installs_what_the_lab_has_and_the_package_as_make_does():
    lines = (ROOT / "binder" / "requirements.txt").read_text("utf-8").splitlines()
    (asked,) = [line for line in lines if not line.startswith("#")]
    _, name = asked.split()
    assert (ROOT / "binder" / name).resolve() == ROOT / "requirements" / "lab.txt"
    script = ROOT / "binder" / "postBuild"
    makefile = (ROOT / "Makefile").read_text("utf-8")
    (install,) = re.findall(r"^python (-m pip install .*)$", script.read_text("utf-8"), re.M)
    assert f"$(BIN)/python {install}\n" in makefile
    assert script.read_text("utf-8").startswith("#!/bin/bash\n")
    if os.name != "nt":
        assert script.stat().st_mode & 0o111  # Binder runs it only so
        assert subprocess.run(["bash", "-n", str(script)]).returncode == 0
    version = (ROOT / "binder" / "runtime.txt").read_text("utf-8").strip().removeprefix("python-")
    oldest = PROJECT["requires-python"].removeprefix(">=")
    assert [int(part) for part in version.split(".")] >= [int(part) for part in oldest.split(".")]


def citation_problems(text, folder):
    """What the format's own schema finds, and what differs from pyproject.toml and the book."""
    (folder / "CITATION.cff").write_text(text, "utf-8")
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.citation-file-format"]
    done = subprocess.run([*command, "CITATION.cff"], cwd=folder, capture_output=True, encoding="utf-8")
    found = [] if done.returncode == 0 else ["schema"]
    cited, book = yaml.safe_load(text), yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
    for part in (cited, cited.get("preferred-citation", {})):
        if part.get("version") != PROJECT["version"]:
            found.append("version")
        if [who.get("name") for who in part.get("authors", [])] != [book["author"]]:
            found.append("authors")
    named = cited.get("preferred-citation", {})
    if (named.get("title"), str(named.get("year"))) != (book["title"], book["copyright"]):
        found.append("book")
    if (cited.get("title"), cited.get("license")) != (PROJECT["name"], PROJECT["license"]):
        found.append("package")
    return found


CITATION = (ROOT / "CITATION.cff").read_text("utf-8")


def test_the_citation_is_valid_and_says_what_the_package_and_the_book_say(tmp_path):
    assert citation_problems(CITATION, tmp_path) == []


@pytest.mark.parametrize(
    "right, wrong, problem",
    [
        ("version: 0.1.0", "version: 0.0.9", "version"),
        ("message:", "massage:", "schema"),
        ("license: CC-BY-4.0", "license: CC-4.0", "schema"),
        ("title: The Transformer, Number", "title: The Transformers, Number", "book"),
        ("license: MIT", "license: BSD-3-Clause", "package"),
        ("name: the toytf authors", "name: somebody", "authors"),
    ],
)
def test_a_mistake_in_the_citation_is_found(tmp_path, right, wrong, problem):
    assert right in CITATION
    assert citation_problems(CITATION.replace(right, wrong, 1), tmp_path) == [problem]
