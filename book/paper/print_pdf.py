"""Print the built site as one PDF: `python book/paper/print_pdf.py --site _build/html`.

The pages become one document (prepare.js) with styles for paper (paper.css), which
Chromium prints: so fonts are inside once, links lead within, and the tags for those who
listen are whole. It is printed twice: the first time shows on which page each place
comes to stand, the second has these numbers behind the links and in the contents.
"""

import argparse
import contextlib
import html
import os
import re
import shutil
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from press import OUT, ROOT, run, settings, size, slug
from toytf import __version__
from toytf._command import replaced

HERE = Path(__file__).resolve().parent
# width of the sheet, and what paper.css leaves free left and right, in millimetres
PAPERS = {"a4": 210.0, "letter": 215.9}
MARGINS = 40
PIXELS = 96 / 25.4
# Page numbers in the margin, by @page's boxes, came with this version.
OLDEST = 131
# The package's reference is for looking up, and long: paper does without it.
ON_THE_SITE = "book/api/"
TIMES = 5  # so often the numbers may move others
INSTALL = "on Debian: sudo apt install chromium; elsewhere: Chrome"


class PaperError(ValueError):
    """What keeps the book from being printed, in words for the person who asked."""


# ---------------------------------------------------------------- what is printed


@dataclass
class Book:
    """The site's pages in the order of its contents, and what it says of itself."""

    site: Path
    title: str
    author: str
    language: str
    parts: list
    styles: list


def read(site, root=ROOT):
    """The book that stands in the folder `site`, built from the folder `root`.

    Raises PaperError if a page that the contents name is not there.
    """
    site = Path(site).resolve()
    config, toc = settings(root)
    parts = [{"caption": None, "pages": [toc["root"]]}]
    parts += [
        {"caption": part["caption"], "pages": list(listed(part["chapters"]))}
        for part in toc["parts"]
    ]
    styles = {}
    for part in parts:
        part["pages"] = [page(site, name, styles) for name in part["pages"]]
    language = config["sphinx"]["config"]["language"]
    return Book(site, config["title"], config["author"], language, parts, list(styles))


def listed(entries):
    """The pages of a part of the contents, without those that are only looked up."""
    for entry in entries:
        if not entry["file"].startswith(ON_THE_SITE):
            yield entry["file"]
        yield from listed(entry.get("sections", ()))


def page(site, name, styles):
    """A page's article; its styles are added to those that are there."""
    path = site / f"{name}.html"
    if not path.is_file():
        raise PaperError(f"expected the page {path}, found none: run `make book` first")
    text = path.read_text("utf-8")
    for link in re.findall(r'<link [^>]*rel="stylesheet"[^>]*>', text):
        style = (path.parent / re.search(r'href="([^"?]+)', link)[1]).resolve()
        styles[style] = None
    article = re.search(r"<article\b.*</article>", text, re.DOTALL)
    if not article:
        raise PaperError(f"expected an <article> in {path}, found none")
    return {"name": name, "html": article[0]}


def document(book, paper):
    """The empty document into which prepare.js puts the pages."""
    links = "".join(
        f'<link rel="stylesheet" href="{html.escape(style.as_uri())}">'
        for style in book.styles
    )
    own = (HERE / "paper.css").read_text("utf-8")
    return (
        f'<!doctype html>\n<html lang="{book.language}"><head><meta charset="utf-8">'
        f"<title>{html.escape(book.title)}</title>{links}"
        f"<style>{own}\n@page {{ size: {paper} }}</style></head>"
        '<body data-theme="light"></body></html>\n'
    )


def edition(book):
    """What stands at the foot of the title page."""
    pages = [page["html"] for part in book.parts for page in part["pages"]]
    solved = any('<details class="solution' in text for text in pages)
    return [
        f"Version {__version__}, by {book.author}.",
        "Text and figures: CC BY 4.0, but for quotations and the borrowed example.",
        "Code: MIT licence. Whose they are: see References.",
        "",
        "Behind a link stands its page."
        + " Solutions stand at the end of each chapter." * solved,
        "What the text asks you to tap is open here; of long lists of sums you see the",
        "first. What moves on the site stands still. Code that the site folds away",
        "(imports, checks, the code of figures) is in the notebooks.",
    ]


# ---------------------------------------------------------------- the browser


def find_chromium():
    """An installed Chromium or Chrome, or None: then playwright takes its own."""
    names = ["chromium", "chromium-browser", "google-chrome", "chrome"]
    places = [
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
        r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    ]
    found = map(shutil.which, [os.environ.get("CHROMIUM", ""), *names, *places])
    return next(filter(None, found), None)


@contextlib.contextmanager
def chromium():
    """A browser that reaches nothing but this machine's files."""
    from playwright.sync_api import Error, sync_playwright

    args = ["--host-resolver-rules=MAP * ~NOTFOUND"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        args.append("--no-sandbox")  # Chromium does not start as root without
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(
                executable_path=find_chromium(), args=args
            )
        except Error as error:
            said = str(error).strip().splitlines()[0]
            raise PaperError(f"no Chromium to print with ({INSTALL}): {said}") from None
        try:
            if int(browser.version.split(".")[0]) < OLDEST:
                raise PaperError(
                    f"expected Chromium {OLDEST} or newer, which numbers pages, "
                    f"got {browser.version}"
                )
            yield browser
        finally:
            browser.close()


def prepared(browser, book, path, paper):
    """The book in the browser, ready to be printed; `path` is a file for it.

    Returns the page, and what was made smaller to fit, as lines of text.
    """
    path.write_text(document(book, paper), "utf-8")
    width = round((PAPERS[paper] - MARGINS) * PIXELS)
    tab = browser.new_page(viewport={"width": width, "height": 1000})
    tab.set_default_timeout(0)
    tab.emulate_media(media="print", color_scheme="light", reduced_motion="reduce")
    tab.goto(path.as_uri())
    tab.add_script_tag(path=str(HERE / "prepare.js"))
    about = {
        "title": book.title,
        "author": book.author,
        "edition": edition(book),
        "logo": (book.site / "_static" / "logo.svg").as_uri(),
        "site": book.site.as_uri() + "/",
    }
    problems = tab.evaluate(
        "([parts, book]) => paperbook.assemble(parts, book)", [book.parts, about]
    )
    if problems:
        raise PaperError("links that lead nowhere:\n" + "\n".join(problems))
    tab.evaluate("() => document.fonts.ready.then(() => null)")
    pictures = tab.evaluate("() => paperbook.pictures()")
    if pictures:
        raise PaperError("pictures that are not there:\n" + "\n".join(pictures))
    smaller = tab.evaluate("() => paperbook.fit()")
    tab.evaluate("() => paperbook.keep()")
    return tab, smaller


def places(pdf):
    """From the name of each place that a link leads to, to its page and its height."""
    numbers = {sheet.objgen: i for i, sheet in enumerate(pdf.pages)}
    found = {}
    for name, target in (pdf.Root.get("/Dests") or {}).items():
        sheet, _kind, left, top, _zoom = target
        found[name.removeprefix("/")] = (numbers[sheet.objgen], float(left), float(top))
    return found


def printed(tab, folder, tell):
    """The book's PDF with its page numbers, and where each place stands."""
    import pikepdf

    old, wanted = {}, set(tab.evaluate("() => paperbook.targets()"))
    for again in range(1, TIMES + 1):
        file = Path(folder, f"book{again}.pdf")
        with tell(f"printing, time {again}"):
            tab.pdf(path=str(file), prefer_css_page_size=True, tagged=True)
        pdf = pikepdf.open(file)
        new = places(pdf)
        missing = sorted(wanted - set(new))
        if missing:
            raise PaperError(f"places that are not in the PDF: {', '.join(missing)}")
        numbers = {name: sheet + 1 for name, (sheet, _, _) in new.items()}
        if numbers == old:
            return pdf, new
        pdf.close()
        tab.evaluate("(numbers) => paperbook.number(numbers)", numbers)
        old = numbers
    raise PaperError(f"the pages' numbers still move after {TIMES} times")


# ---------------------------------------------------------------- the file


def describe(pdf, book):
    """What a reader's program shows of the book."""
    from pikepdf import Name

    with pdf.open_metadata(set_pikepdf_as_editor=False) as about:
        about["dc:title"] = book.title
        about["dc:creator"] = [book.author]
        about["dc:language"] = [book.language]
        about["dc:description"] = f"Version {__version__}"
        about["pdf:Keywords"] = f"version {__version__}"
        about["xmp:CreatorTool"] = f"toytf {__version__}"
    pdf.docinfo["/Title"] = book.title
    pdf.docinfo["/Author"] = book.author
    pdf.docinfo["/Keywords"] = f"version {__version__}"
    pdf.docinfo["/Creator"] = f"toytf {__version__}"
    pdf.Root.PageMode = Name.UseOutlines
    pdf.Root.ViewerPreferences = {"/DisplayDocTitle": True}


def mark(pdf, headings, places):
    """Bookmarks: parts, their chapters, their sections.

    headings: level from 0, words, place of each; a part has none of its own, and stands
    where its first chapter does.
    """
    from pikepdf import OutlineItem

    with pdf.open_outline() as outline:
        outline.root.clear()
        stack = [outline.root]
        for at, (level, words, place) in enumerate(headings):
            name = place or next(other for _, _, other in headings[at:] if other)
            sheet, left, top = places[name]
            item = OutlineItem(words, sheet, "XYZ", left=left, top=top)
            item.is_closed = level > 0
            del stack[level + 1 :]
            stack[level].append(item)
            stack.append(item.children)


def save(pdf, path):
    """Write the file; the many small objects of the tags are packed together."""
    import pikepdf

    packed = pikepdf.ObjectStreamMode.generate
    with replaced(path) as new:
        pdf.save(new, object_stream_mode=packed, deterministic_id=True)


# ---------------------------------------------------------------- the command


@contextlib.contextmanager
def telling(what, start, stream=None):
    """Say what begins; on a screen the seconds go by, to show that it works."""
    stream = stream or sys.stdout
    done = threading.Event()

    def seconds():
        return f"{time.perf_counter() - start:4.0f} s  {what}"

    def tick():
        while not done.wait(1):
            print(f"\r{seconds()} ...", end="", file=stream, flush=True)

    if stream.isatty():
        threading.Thread(target=tick, daemon=True).start()
    else:
        print(f"{seconds()} ...", file=stream, flush=True)
    try:
        yield
    finally:
        done.set()
    if stream.isatty():
        print(f"\r{seconds()}, done ", file=stream, flush=True)


def make(site, path, paper="a4", root=ROOT):
    """Print the site as a PDF; returns how many pages it has.

    site: the folder with the built pages. path: the file to write. paper: of PAPERS.
    """
    if paper not in PAPERS:
        known = " or ".join(PAPERS)
        raise PaperError(f"expected paper of the size {known}, got {paper!r}")
    start = time.perf_counter()
    book = read(site, root)
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        with telling("setting the pages", start):
            tab, smaller = prepared(browser, book, Path(folder, "book.html"), paper)
        for line in smaller:
            print(f"        made smaller to fit: {line}")
        pdf, found = printed(tab, folder, lambda what: telling(what, start))
        with pdf, telling("writing bookmarks, and the file", start):
            describe(pdf, book)
            mark(pdf, tab.evaluate("() => paperbook.headings()"), found)
            save(pdf, path)
            count = len(pdf.pages)
    return count


def file_name(title, paper):
    """The name of the book's file on this paper."""
    return slug(title) + ("" if paper == "a4" else f"-{paper}") + ".pdf"


def main(words=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--site", default="_build/html", help="the built pages")
    parser.add_argument("--out", default=OUT, help="the folder to write in")
    parser.add_argument("--paper", default="a4", help=" or ".join(PAPERS))
    options = parser.parse_args(words)

    def work():
        name = file_name(settings()[0]["title"], options.paper)
        path = Path(options.out, name)
        count = make(options.site, path, options.paper)
        return [f"{path}: {count} pages, {size(path)}"]

    return run(work, [PaperError])


if __name__ == "__main__":
    sys.exit(main())
