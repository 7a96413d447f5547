"""The whole book on paper, for e-readers, as slides and as a zip. Workflow test.yml runs these tests."""

import json
import re
import shutil
import zipfile
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pypdf
import pytest

import epub
import lite
import make
import pdf
import sitecheck
import slides
from toytf.byhand import fmt
from toytf.example import PUBLISHED, W_K, W_Q
from toytf.ops import softmax

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = 460
CHAPTERS = 23
LEAST = 18  # pixels of text on a slide of 1280 x 720
MOST_LONG = 19  # slides on which something to touch, or a chain of panels, scrolls


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    done = sitecheck.build(ROOT, folder)
    assert done.returncode == 0, done.stdout[-3000:]
    return folder / "_build" / "html"


def test_without_solutions_every_exercise_is_there_and_no_link_leads_to_an_answer(tmp_path):
    done = sitecheck.build(ROOT, tmp_path, TOYTF_SOLUTIONS="no")
    assert done.returncode == 0, done.stdout[-3000:]
    made = tmp_path / "_build" / "html"
    assert sitecheck.link_problems(made) == []
    for path in ROOT.glob("notebooks/*.ipynb"):
        page = (made / "notebooks" / f"{path.stem}.html").read_text("utf-8")
        exercises = page.count('class="exercise admonition'), page.count('class="solution')
        assert exercises == (path.read_text("utf-8").count(":::{exercise}"), 0)


# ---------------------------------------------------------------- paper


def read_sheet(sheet):
    """Its words, and how far down its lowest line or picture stands: 0 at the top of the sheet, 1 at its foot."""
    heights = []

    def note(text, matrix, line, *_):
        if text.strip():
            heights.append(matrix[5] + line[4] * matrix[1] + line[5] * matrix[3])

    def draw(operator, names, matrix, _):
        if operator == b"Do" and sheet["/Resources"]["/XObject"][names[0]]["/Subtype"] == "/Image":
            heights.append(matrix[5])

    text = sheet.extract_text(visitor_text=note, visitor_operand_before=draw)
    return text, 1 - min(heights, default=0) / float(sheet.mediabox.height)


@pytest.mark.parametrize("paper", ["a4", "letter"])
def test_the_book_on_paper(site, tmp_path, paper):
    path = pdf.make(site, tmp_path, paper)
    reader = pypdf.PdfReader(path)
    texts, depths = zip(*map(read_sheet, reader.pages), strict=True)
    heads = [text.partition("\n")[0] for text in texts]
    assert 300 < len(texts) <= PAGES and path.stat().st_size < 20e6
    assert all(re.search(rf"(?<!\d){number}$", head) for number, head in enumerate(heads[3:], start=4))
    names = [re.sub(r"\d+$", "", head) for head in heads]
    within = [number for number, name in enumerate(names[:-1]) if number > 2 and name == names[number + 1]]
    assert [(heads[number], depths[number]) for number in within if depths[number] < 0.5] == []
    marks = {
        mark.title: reader.get_destination_page_number(mark) for mark in reader.outline if not isinstance(mark, list)
    }
    chapters = {title: sheet for title, sheet in marks.items() if re.match(r"\d+\. ", title)}
    assert len(chapters) == CHAPTERS
    assert all(heads[sheet].startswith(title) for title, sheet in chapters.items())
    links = [note.get_object() for sheet in reader.pages for note in sheet.get("/Annots", ())]
    inside = {str(link["/Dest"]) for link in links if "/Dest" in link}
    assert len(inside) > 500 and inside <= set(reader.named_destinations)
    assert not any("file:" in str(link.get("/A", "")) for link in links)
    text = "\n".join(texts)
    asked, solved = (set(re.findall(rf"Exercise (\d+\.\d+){end}", text)) for end in (": ", r"\s*\(p\."))
    assert len(asked) > 150 and asked == solved


# ---------------------------------------------------------------- e-readers


def test_the_epub_has_every_page_with_formulas_and_without_scripts(site, tmp_path):
    with zipfile.ZipFile(epub.make(site, tmp_path)) as made:  # whatever EPUBCheck says ends it
        texts = {name: made.read(name).decode("utf-8") for name in made.namelist() if name.endswith(".xhtml")}
    pages = [page.rpartition("/")[2] for page in sitecheck.CONTENTS if page not in sitecheck.OF_PACKAGE]
    assert [name for name in re.findall(r'href="([^"#]+)\.xhtml"', texts["nav.xhtml"]) if name in pages] == pages
    for name, text in texts.items():
        assert not re.search(r"<script|<button|<input|\son\w+=|\\\(|\$\$", text), name
    assert texts["05_scaling.xhtml"].count("<math ") > 50


# ---------------------------------------------------------------- slides

MEASURE = """least => {
    const found = [];
    let long = 0;
    const signs = "svg, math, sup, sub, .visually-hidden, .live-spoken, .byhand-live, template, script, style";
    document.querySelectorAll(".slide").forEach((slide) => {
        const edge = slide.getBoundingClientRect();
        const room = slide.querySelector(".show");
        const scrolls = room && (room.scrollHeight > room.clientHeight + 1 || room.scrollWidth > room.clientWidth + 1);
        if (scrolls) long += 1;
        if (scrolls && !slide.matches(".of-live, .of-panel, .of-code")) found.push(`${slide.id} scrolls`);
        for (const node of slide.querySelectorAll("h1, h2, .lead, .show, table, pre, svg, img, .byhand")) {
            const { top, left, right, bottom, width } = node.getBoundingClientRect();
            if (!node.checkVisibility() || (scrolls && room.firstElementChild.contains(node))) continue;
            if (width && Math.max(bottom - edge.bottom, right - edge.right, edge.left - left) > 1)
                found.push(`${slide.id}: ${node.localName} is outside`);
        }
        const texts = document.createTreeWalker(slide, NodeFilter.SHOW_TEXT);
        while (texts.nextNode()) {
            const { data, parentElement } = texts.currentNode;
            if (!data.trim() || parentElement.closest(signs) || !parentElement.checkVisibility()) continue;
            const size = parseFloat(getComputedStyle(parentElement).fontSize) * parentElement.currentCSSZoom;
            if (size && size < least) found.push(`${slide.id}: ${data.trim().slice(0, 30)}: ${size.toFixed(1)} pixels`);
        }
    });
    return [found, long];
}"""


@pytest.fixture(scope="module")
def decks(site, tmp_path_factory):
    return slides.make(site, tmp_path_factory.mktemp("slides"))


@pytest.fixture
def opened(decks, browser):
    """Opens a chapter's slides from the disk; at the end nothing was missing and nothing complained."""

    @contextmanager
    def open_slides(name):
        path = next(decks.glob(f"{name}*.html"))
        with sitecheck.open_page(browser, decks.as_uri(), path.name, height=720) as (page, problems):
            page.wait_for_selector("html[data-fitted]", state="attached")
            yield page
        assert problems == []

    return open_slides


def test_every_slide_fits_and_can_be_read_from_the_last_row(decks, opened):
    problems, long = [], 0
    paths = sorted(decks.glob("[0-9]*.html"))
    assert len(paths) == len(re.findall(r'<li><a href="\d\d_', (decks / "index.html").read_text("utf-8"))) == CHAPTERS
    for path in paths:
        assert not re.search(r'class="[^"]*\bsolution\b|id="sol-', path.read_text("utf-8")), path.name
        with opened(path.stem) as page:
            found, scrolling = page.evaluate(MEASURE, LEAST - 0.1)
        problems += [f"{path.stem}: {one}" for one in found]
        long += scrolling
    assert problems == []
    assert long <= MOST_LONG


def test_what_is_touched_computes_on_its_slide(opened):
    with opened("05") as page:
        field = page.locator("#divisor [data-setting=divisor] .live-typed")
        field.fill("30")
        field.press("Enter")
        scores = (PUBLISHED.x @ W_Q[0]) @ (PUBLISHED.x @ W_K[0]).T
        shown = page.locator("#divisor .live-weights .byhand-result tbody td").all_inner_texts()
        assert shown == [fmt(x) for x in softmax(scores / 30).ravel()]
        assert not np.isclose(float(shown[0]), softmax(scores / np.sqrt(3))[0, 0])
        slider = page.get_by_role("slider", name="divisor")
        slider.focus()
        sitecheck.still(page)
        before = page.evaluate("location.hash")
        value = slider.input_value()
        page.keyboard.press("ArrowRight")
        sitecheck.still(page)
        assert slider.input_value() != value and page.evaluate("location.hash") == before


@pytest.mark.parametrize(("chapter", "place"), [("05", "#panel-1"), ("04", "#panel-29"), ("05", ".byhand-chain")])
def test_an_entry_opens_its_sum_on_the_slide_and_is_not_hidden_by_it(opened, chapter, place):
    with opened(chapter) as page:
        entry = page.locator(f"{place} .byhand-result tbody td").last
        entry.click()
        bar = page.locator(f"{place} .byhand-live:not(:empty)").first
        assert re.search("[=≈]", bar.inner_text())
        sitecheck.still(page)
        line, box = bar.bounding_box(), entry.bounding_box()
        assert 0 <= line["y"] and line["y"] + line["height"] <= 721
        assert line["y"] + line["height"] <= box["y"] + 1 or box["y"] + box["height"] <= line["y"] + 1


# ---------------------------------------------------------------- in the browser


@pytest.mark.skipif(not lite.LITE.exists(), reason="JupyterLite is not installed (make forms FORMS=lite)")
def test_a_notebook_opens_and_asks_pyodides_address_alone(browser, tmp_path):
    made = lite.make(None, tmp_path)
    assert {"toytf", "comm", "mdit-py-plugins"} <= set(json.loads((made / "pypi" / "all.json").read_text("utf-8")))
    with zipfile.ZipFile(next(made.glob("pypi/toytf-[0-9]*.whl"))) as wheel:
        for name in ("toytf/ops.py", "toytf/byhand/panels.py"):
            assert wheel.read(name) == (ROOT / name).read_bytes(), "the files of today"
    with sitecheck.serve(made) as address:
        page, asked = browser.new_page(), set()
        page.on("request", lambda request: asked.add(request.url.partition("://")[2].partition("/")[0]))
        page.goto(f"{address}/index.html")
        page.get_by_role("link", name="2. Words become vectors").click()
        page.wait_for_url("**/lab/index.html?path=02_words_become_vectors.ipynb")
        page.locator(".jp-Notebook .jp-CodeCell").first.get_by_text("%pip install").wait_for()
        page.wait_for_function("performance.getEntriesByType('resource').length > 20")
    assert "cdn.jsdelivr.net" in asked or len(asked) == 1
    assert {host for host in asked if not host.startswith("127.0.0.1")} <= {"cdn.jsdelivr.net", ""}


# ---------------------------------------------------------------- a zip, and plain Sphinx


def test_the_zip_opens_from_the_disk(site, browser, tmp_path):
    shutil.unpack_archive(make.pack(site, tmp_path), tmp_path)
    (first,) = tmp_path.glob("*/index.html")
    page = browser.new_page()  # what pages may complain of from the disk, test_site sees
    page.goto(first.as_uri(), wait_until="commit")  # it leads on at once
    page.wait_for_url("**/book/preface.html")
    page.click("text=Why divide the scores")
    page.wait_for_url("**/notebooks/05_scaling.html")
    assert page.title().startswith("5. ")
    page.close()
