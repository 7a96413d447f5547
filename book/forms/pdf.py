"""The site as one PDF: its pages become one document with styles for paper, which Chromium prints.

So fonts are inside once, links lead within, and outline and tags are whole. It is printed until the numbers of its
pages, behind links and in the contents, stand still.
"""

import html
import json
import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pikepdf

from pages import ROOT, FormError, config, read, relink, slug, soup, still
from toytf import __version__
from toytf._command import replaced

HERE = Path(__file__).resolve().parent
WIDTHS = {
    "a4": 210.0,
    "letter": 215.9,
}  # of the sheet, in millimetres; paper.css leaves 40 of them free
PIXELS = 96 / 25.4
LONG = 12  # rows of a table, and half as many as lines of code, from which on it may be cut; as in paper.css
TIMES = 5  # so often the numbers may move others
NAMES_AN_ID = ("id", "for", "headers", "aria-labelledby", "aria-describedby")
EDITION = """Version {version}, by {author}.<br>
Text and figures: CC BY 4.0, but for quotations and the borrowed example.<br>
Code: MIT licence. Whose they are: see References.<br><br>
Behind a link stands its page.{solved} What you would tap on the site is open here; of long lists of sums you see the
first. What moves on the site stands still. Code that the site folds away (imports, checks, the code of figures) is in
the notebooks."""


# ---------------------------------------------------------------- one document


def document(site, paper, root=ROOT):
    """The book as one page of HTML: a title page, contents, and an article for each page.

    The package's reference is for looking up, and long: paper does without it.
    """
    about = config(root)
    pages = [page for page in read(site, root) if "/api/" not in page.name]
    styles = {path.as_uri(): None for page in pages for path in page.styles()}
    for page in pages:
        page.article["id"] = ""  # a link to the page leads here
    relink(pages, lambda page, place: f"#{page.key}.{place}")
    solved = False
    for page in pages:
        still(page.article)
        for image in page.article.select("img"):
            image["src"] = (page.path.parent / image["src"]).resolve().as_uri()
        for details in page.article.select("details:not(.solution)"):
            details["open"] = ""
        name_ids(page)
        solved |= move_solutions(page)
        keep_tables(page)
        number_links(page)
    heads = "".join(
        f'article[id="{page.key}."] {{ page: c{n}; }} '
        f"@page c{n} {{ @top-left {{ content: {json.dumps(page.title)}; }} }}\n"
        for n, page in enumerate(pages)
    )
    edition = EDITION.format(
        version=__version__,
        author=about["author"],
        solved=" Solutions stand at the end of each chapter." * solved,
    )
    logo = (site / "_static" / "logo.svg").as_uri()
    links = "".join(f'<link rel="stylesheet" href="{html.escape(style)}">' for style in styles)
    return (
        f'<!doctype html>\n<html lang="{about["sphinx"]["config"]["language"]}"><head><meta charset="utf-8">'
        f"<title>{html.escape(about['title'])}</title>{links}"
        f"<style>{(HERE / 'paper.css').read_text('utf-8')}\n@page {{ size: {paper} }}\n{heads}</style></head>"
        f'<body data-theme="light"><section class="title-page"><img src="{logo}" alt="">'
        f'<p class="title">{html.escape(about["title"])}</p><p class="author">{html.escape(about["author"])}</p>'
        f'<p class="edition">{edition}</p></section>{contents(pages)}'
        f"{''.join(str(page.article) for page in pages)}</body></html>"
    )


def name_ids(page):
    """Each id begins with its page's name, so that none stands twice."""
    for node in [page.article, *page.article.find_all(True)]:
        for name, value in node.attrs.items():
            if name in NAMES_AN_ID:
                node[name] = f"{page.key}.{value}"
            elif (node.name == "use" and name.endswith("href")) or "url(#" in value:
                node[name] = value.replace("#", f"#{page.key}.")


def move_solutions(page):
    """Solutions stand at the chapter's end, each with the way to it and back; says whether there are any."""
    found = page.article.select("details.solution")
    if found:
        page.article.append(soup(f'<section class="answers" id="{page.key}.solutions"><h2>Solutions</h2></section>'))
    for details in found:
        exercise = page.article.find(id=details["id"].replace(".sol-", ".ex-"))
        title = exercise.select_one(".admonition-title").get_text().partition(":")[0]
        exercise.append(soup(f'<p class="to-answer"><a href="#{details["id"]}">Solution</a></p>'))
        answer = soup(
            f'<div id="{details["id"]}"><p class="of-exercise"><a href="#{exercise["id"]}">{title}</a></p></div>'
        ).div
        details.summary.decompose()
        answer.extend(list(details.contents))
        details.decompose()
        page.article.select_one(".answers").append(answer)
    return bool(found)


def number_links(page):
    """Behind a link that leads to another page, or between exercise and solution, its page's number will stand."""
    for link in page.article.select('a[href^="#"]'):
        if not link["href"].startswith(f"#{page.key}.") or link.parent.get("class") in (["to-answer"], ["of-exercise"]):
            link.append(soup('<span class="at"></span>'))


def keep_tables(page):
    """Chromium lets a heading stand alone before a table that begins on the next page. So both are one box.

    What is long may be cut, a listing too.
    """
    for pre in page.article.select("pre"):
        if pre.get_text().count("\n") > 2 * LONG:
            pre["class"] = ["long", *pre.get("class", ())]
    for table in page.article.select(":is(h1, h2, h3, h4, p) + .table-wrapper"):
        box = table.find_previous_sibling().wrap(soup('<div class="keep"></div>').div)
        if len(table.select("tr")) > LONG:
            box["class"] = "keep-head"
        box.append(table.extract())


def contents(pages):
    """The list of parts, chapters and sections."""
    lines, part = ["<p class='title'>Contents</p>"], ""
    for page in pages:
        if page.part != part:
            part = page.part
            lines.append(f'<p class="part">{html.escape(part)}</p>')
        lines.append(
            f'<p class="line"><a href="#{page.key}.">{html.escape(page.title)}<span class="at"></span></a></p>'
        )
        for h2 in page.article.select("h2"):
            place = h2.find_parent(id=True)["id"]
            lines.append(
                f'<p class="line of-section"><a href="#{place}">{h2.decode_contents()}<span class="at"></span></a></p>'
            )
    return f'<nav class="contents">{"".join(lines)}</nav>'


# ---------------------------------------------------------------- printed


def find_chromium():
    """An installed Chromium or Chrome, or None."""
    # First what has no window: it opens a page with a quarter of the work.
    names = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome"]
    places = [
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
        r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    ]
    return next(filter(None, map(shutil.which, [os.environ.get("CHROMIUM", ""), *names, *places])), None)


@contextmanager
def chromium():
    """A browser that reaches nothing but this machine's files."""
    from playwright.sync_api import Error, sync_playwright

    args = ["--host-resolver-rules=MAP * ~NOTFOUND"]
    with sync_playwright() as playwright:
        try:
            found = find_chromium()
            how = {"executable_path": found} if found else {"channel": "chrome"}
            browser = playwright.chromium.launch(args=args, **how)
        except Error as error:
            install = "on Debian: sudo apt install chromium; elsewhere: Chrome"
            raise FormError(f"expected Chromium, which prints the book ({install}): {error}") from None
        yield browser
        browser.close()


def print_out(browser, path, paper):
    """Print the book that stands in a file; returns the PDF that Chromium made."""
    width = round((WIDTHS[paper] - 40) * PIXELS)
    tab = browser.new_page(viewport={"width": width, "height": 1000})
    tab.set_default_timeout(0)
    tab.emulate_media(media="print", color_scheme="light", reduced_motion="reduce")
    tab.goto(path.as_uri())
    tab.add_script_tag(path=str(HERE / "paper.js"))
    if missing := tab.evaluate("missingPictures()"):
        raise FormError("pictures that are not there: " + ", ".join(missing))
    tab.evaluate("fitTheWidth()")
    old, made = None, path.with_suffix(".pdf")
    for _ in range(TIMES):
        tab.pdf(path=str(made), prefer_css_page_size=True, tagged=True, outline=True)
        with pikepdf.open(made) as pdf:
            sheets = {sheet.objgen: number for number, sheet in enumerate(pdf.pages, start=1)}
            numbers = {name[1:]: sheets[place[0].objgen] for name, place in pdf.Root.Dests.items()}
        if numbers == old:
            tab.close()
            return made
        if nowhere := tab.evaluate("numbers => setNumbers(numbers)", numbers):
            raise FormError("links that lead nowhere: " + ", ".join(nowhere))
        old = numbers
    raise FormError(f"the pages' numbers still move after {TIMES} times")


def make(site, out, paper="a4", root=ROOT, browser=chromium):
    """Print the site as a PDF into the folder `out`; returns its path."""
    about = config(root)
    path = Path(out, slug(about["title"]) + ("" if paper == "a4" else f"-{paper}") + ".pdf")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "book.html")
        source.write_text(document(Path(site), paper, root), "utf-8")
        with browser() as chrome:
            made = print_out(chrome, source, paper)
        with pikepdf.open(made) as pdf, replaced(path) as new:
            with pdf.open_metadata(set_pikepdf_as_editor=False) as said:
                said["dc:title"], said["dc:creator"] = about["title"], [about["author"]]
                said["pdf:Keywords"] = f"version {__version__}"
            pdf.docinfo["/Author"] = about["author"]
            pdf.Root.PageMode = pikepdf.Name.UseOutlines
            pdf.Root.ViewerPreferences = {"/DisplayDocTitle": True}
            # the many small objects of the tags are packed together
            pdf.save(
                new,
                object_stream_mode=pikepdf.ObjectStreamMode.generate,
                deterministic_id=True,
            )
    return path
