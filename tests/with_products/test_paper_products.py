"""The whole book on paper, for e-readers, as a zip, and built by plain Sphinx: `make test-products` (ten minutes)."""

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pikepdf
import pypdf
import pytest

import make_epub
import pack_site
import print_pdf
import sitecheck

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = 460  # a little more than half of what the site's pages gave, printed one by one


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    done = sitecheck.build(ROOT, folder)
    assert done.returncode == 0, done.stdout[-3000:]
    return folder / "_build" / "html"


# ---------------------------------------------------------------- paper


@pytest.fixture(scope="module", params=["a4", "letter"])
def pdf(request, site, tmp_path_factory):
    sitecheck.chromium_or_skip()
    path = tmp_path_factory.mktemp("paper") / f"{request.param}.pdf"
    print_pdf.make(site, path, request.param)
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    return path


@pytest.fixture(scope="module")
def reader(pdf):
    return pypdf.PdfReader(pdf)


@pytest.fixture(scope="module")
def texts(reader):
    return [sheet.extract_text() for sheet in reader.pages]


@pytest.fixture(scope="module")
def heads(texts):
    """The line above each page's text: its chapter, its number."""
    return [text.partition("\n")[0] for text in texts]


def test_the_book_is_not_longer_than_it_should_be(pdf, reader):
    assert 300 < len(reader.pages) <= PAGES
    assert pdf.stat().st_size < 20e6


def test_every_page_has_its_number(heads):
    for number, head in enumerate(heads[3:], start=4):
        assert re.search(rf"(?<!\d){number}$", head), (number, head)


def test_every_chapter_is_marked_and_begins_on_the_page_that_its_mark_names(reader, texts, heads):
    marks = [mark for mark in flat(reader.outline) if re.match(r"\d+\. ", mark.title)]
    assert len(marks) == 22
    for mark in marks:
        sheet = reader.get_destination_page_number(mark)
        assert heads[sheet].startswith(mark.title)
        assert not heads[sheet - 1].startswith(mark.title)
        assert f"\n{mark.title}" in "\n" + texts[sheet].partition("\n")[2].replace("\n", " ")


def flat(outline):
    for entry in outline:
        if isinstance(entry, list):
            yield from flat(entry)
        else:
            yield entry


def test_links_lead_to_places_that_are_there(reader):
    places = set(reader.named_destinations)
    links = [
        note.get_object()
        for sheet in reader.pages
        for note in sheet.get("/Annots", ())
        if note.get_object()["/Subtype"] == "/Link"
    ]
    assert len(links) > 2000
    assert {str(link["/Dest"]) for link in links if "/Dest" in link} <= places


def test_it_is_tagged_and_says_what_it_is(pdf):
    with pikepdf.open(pdf) as made:
        assert made.Root.MarkInfo.Marked and "/StructTreeRoot" in made.Root
        assert made.Root.Lang == "en" and "Number by Number" in str(made.docinfo.Title)


def test_all_solutions_stand_behind_their_exercises(texts):
    text = "\n".join(texts)
    asked = set(re.findall(r"Exercise (\d+\.\d+): ", text))
    solved = set(re.findall(r"Exercise (\d+\.\d+)\s*\(p\.", text))
    assert len(asked) > 150 and asked == solved


# ---------------------------------------------------------------- e-readers


@pytest.fixture(scope="module")
def epub(tmp_path_factory):
    return make_epub.make(tmp_path_factory.mktemp("epub"))


def test_epubcheck_finds_nothing(epub):
    path, asked = epub
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    if not asked:
        pytest.skip(f"EPUBCheck is not here: {make_epub.INSTALL}")


def test_the_epub_has_every_page_with_formulas_and_without_scripts(epub):
    with zipfile.ZipFile(epub[0]) as made:
        names = made.namelist()
        pages = sitecheck.toc_pages(ROOT)
        for page in pages:
            text = made.read(f"{page}.xhtml").decode("utf-8")
            assert not re.search(r"<script|<button|<input|\son\w+=|\\\(|\$\$", text), page
        chapter = made.read("notebooks/05_scaling.xhtml").decode("utf-8")
        assert chapter.count("<math ") > 50 and ".svg" in chapter
        order = made.read("nav.xhtml").decode("utf-8")
    assert re.findall(r'href="([^"#]+)\.xhtml"', order)[: len(pages)] == pages
    assert not any(name.endswith(".js") for name in names)


# ---------------------------------------------------------------- a zip, and plain Sphinx


def test_the_zip_opens_from_the_disk(site, tmp_path):
    from playwright.sync_api import sync_playwright

    executable = sitecheck.chromium_or_skip()
    pack_site.pack(site, tmp_path / "book.zip", "book")
    shutil.unpack_archive(tmp_path / "book.zip", tmp_path)
    problems = []
    with sync_playwright() as playwright:
        browser = sitecheck.launch(playwright, executable)
        page = browser.new_page()
        page.on("requestfailed", lambda request: problems.append(request.url))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.goto((tmp_path / "book" / "index.html").as_uri())
        page.wait_for_url("**/book/preface.html")
        page.click("text=Why divide the scores")
        page.wait_for_url("**/notebooks/05_scaling.html")
        assert page.title().startswith("5. ")
        browser.close()
    assert problems == []


def test_plain_sphinx_builds_the_same_pages(site, tmp_path):
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "-n", "--keep-going", "-d", str(tmp_path / "doctrees")]
    done = subprocess.run([*command, str(ROOT), str(tmp_path / "out")], capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr[-3000:]
    for name in sitecheck.toc_pages(ROOT):
        there, here = ((folder / f"{name}.html").read_text("utf-8") for folder in (site, tmp_path / "out"))
        assert article(there) == article(here), name


def article(html):
    return re.search(r"<article\b.*</article>", html, re.DOTALL)[0]
