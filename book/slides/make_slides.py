"""Slides for each chapter, of the site's own pages: `make slides` calls this.

`deck.py` says what becomes a slide; reveal.js shows them. It comes from npm, once, and
its hash is compared each time (TOYTF_REVEAL=archive.tgz takes one that is there). What
is made holds all that it needs: it opens from the disk, without a network.
"""

import argparse
import html
import os
import re
import shutil
import sys
import tarfile
import tempfile
from pathlib import Path

from bs4 import BeautifulSoup

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(ROOT / "book"), str(ROOT / "book" / "paper")]

import npm  # noqa: E402
from deck import SlidesError, deck  # noqa: E402
from press import run, settings  # noqa: E402

OUT = ROOT / "_build" / "slides"
CACHE = ROOT / "_build" / "slides-cache"

# Its licence (MIT) goes along. npm tells the hash:
# `npm view reveal.js@VERSION dist.integrity`.
REVEAL = npm.Package(
    "reveal.js",
    "6.0.2",
    "sha512-JYIg5D9aoxoaLeb84O+OvAwsKWdIavVgEDScxtYEXFCT6t6TQrhNtSgogcjdCpdLsWglhJn3zyE3fU"
    "OwiH5KEg==",
    title="reveal.js",
    weighs="3 MB",
    setting="TOYTF_REVEAL",
    command="make slides",
)
PARTS = {
    "package/dist/reveal.js": "reveal.js",
    "package/dist/reveal.css": "reveal.css",
    "package/dist/plugin/notes.js": "reveal-notes.js",
    "package/LICENSE": "reveal-LICENSE.txt",
}
# Scripts of the page that belong to a page of the site: its search, its address.
OF_THE_SITE = {"toytf.js", "code.js", "documentation_options.js", "doctools.js"}
OF_THE_SITE |= {"sphinx_highlight.js", "furo.js"}


# ---------------------------------------------------------------- one chapter


def parts_of(page, folder):
    """The style sheets and the scripts that a page links, as files."""
    soup = BeautifulSoup(page, "html.parser")
    styles = [link["href"] for link in soup.select('link[rel~="stylesheet"]')]
    scripts = [script["src"] for script in soup.select("script[src]")]
    files = [(folder / link.partition("?")[0]).resolve() for link in styles + scripts]
    return [file for file in files if file.name not in OF_THE_SITE]


def document(made, files, book):
    """The page with a chapter's slides. files: names of its styles and scripts."""
    styles = ["reveal.css", *(name for name in files if name.endswith(".css"))]
    scripts = ["reveal.js", "reveal-notes.js"]
    scripts += [name for name in files if name.endswith(".js")]
    links = "".join(
        f'<link rel="stylesheet" href="assets/{name}">\n'
        for name in [*styles, "slides.css"]
    )
    runs = "".join(
        f'<script defer src="assets/{name}"></script>\n'
        for name in [*scripts, "slides.js"]
    )
    columns = "\n".join(map(column, made.columns))
    title = html.escape(f"{made.title}: {book}")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n{links}{runs}</head>\n"
        '<body data-theme="light">\n<article class="reveal"><div class="slides">\n'
        f"{columns}\n</div></article>\n"
        '<button type="button" class="shade" title="Light or dark (D)" '
        'aria-label="Light or dark">◐</button>\n</body></html>\n'
    )


def column(slides):
    inner = "\n".join(map(slide, slides))
    return inner if len(slides) == 1 else f"<section>\n{inner}\n</section>"


def slide(one):
    """A slide as reveal.js wants it: a <section>."""
    parts = []
    if one.where:
        parts.append(f'<p class="where">{one.where}</p>')
    if one.title:
        level = "h1" if one.kind == "title" else "h2"
        parts.append(f"<{level}>{one.title}</{level}>")
    if one.lead:
        parts.append(f'<p class="lead">{one.lead}</p>')
    if one.show:
        parts.append(f'<div class="show"><div class="fit">{one.show}</div></div>')
    if one.notes:
        parts.append(f'<aside class="notes">{"".join(one.notes)}</aside>')
    place = f' id="{html.escape(one.id)}"' if one.id else ""
    return (
        f'<section class="slide of-{one.kind}"{place}>\n'
        + "\n".join(parts)
        + "\n</section>"
    )


# ---------------------------------------------------------------- links


def relink(source, name, places):
    """Links lead to slides; what leads to another page of the site is words.

    places: for each chapter the ids of its slides.
    """
    soup = BeautifulSoup(source, "html.parser")
    for link in soup.select(".slides a[href]"):
        href = link["href"]
        if re.match(r"[a-z]+:", href):
            continue
        path, _, fragment = href.partition("#")
        chapter = re.sub(r"\.html$", "", path.rpartition("/")[2]) if path else name
        inside = path == "" or "/" not in path
        if not inside or chapter not in places:
            link.unwrap()
        elif fragment in places[chapter]:
            link["href"] = f"{'' if chapter == name else chapter + '.html'}#/{fragment}"
        elif chapter != name:
            link["href"] = f"{chapter}.html"
        else:
            link.unwrap()
    return str(soup)


def pictures(source, folder):
    """The pictures that a page shows, as files."""
    found = re.findall(r'<img\b[^>]*\bsrc="([^"]+)"', source)
    return {link: (folder / link).resolve() for link in found if ":" not in link}


# ---------------------------------------------------------------- all of them


def chapters(site, root=ROOT):
    """The chapters' pages of a built site, in the order of its contents."""
    toc = settings(root)[1]
    names = [entry["file"] for part in toc["parts"] for entry in part["chapters"]]
    pages = [site / f"{name}.html" for name in names if name.startswith("notebooks/")]
    for page in pages:
        if not page.is_file():
            raise SlidesError(
                f"expected the page {page}, found none: run `make book` first"
            )
    return pages


def questions(pages):
    """What each chapter asks, so that the one before it can say so at its end."""
    return {page.stem: deck(page.stem, page.read_text("utf-8")) for page in pages}


def write(site, archive, out, root=ROOT):
    """Write all slides into the folder `out`, which is new; returns the decks."""
    config = settings(root)[0]
    pages = chapters(site, root)
    first = questions(pages)
    following = [(one.name, one.title, one.question) for one in first.values()]
    assets = out / "assets"
    assets.mkdir(parents=True)
    with tarfile.open(archive) as opened:
        for name, own in PARTS.items():
            content = opened.extractfile(name).read()
            (assets / own).write_bytes(content)
    for own in ("slides.css", "slides.js"):
        shutil.copyfile(HERE / own, assets / own)
    made = {}
    for page, after in zip(pages, [*following[1:], None], strict=True):
        made[page.stem] = deck(page.stem, page.read_text("utf-8"), after)
    places = {
        name: {one.id for slides in a_deck.columns for one in slides if one.id}
        for name, a_deck in made.items()
    }
    for page in pages:
        files = parts_of(page.read_text("utf-8"), page.parent)
        for file in files:
            shutil.copyfile(file, assets / file.name)
        text = document(made[page.stem], [file.name for file in files], config["title"])
        text = relink(text, page.stem, places)
        for link, file in pictures(text, page.parent).items():
            shutil.copyfile(file, assets / file.name)
            text = text.replace(f'src="{link}"', f'src="assets/{file.name}"')
        (out / f"{page.stem}.html").write_text(text, "utf-8", newline="\n")
    (out / "index.html").write_text(index(made, config["title"]), "utf-8", newline="\n")
    return made


def index(decks, title):
    """The page that lists the chapters' slides, and says which key does what."""
    lines = "\n".join(
        f'<li><a href="{one.name}.html">{html.escape(one.title)}</a> '
        f"<span>{html.escape(one.question)}</span></li>"
        for one in decks.values()
    )
    text = (HERE / "index.html").read_text("utf-8")
    return text.replace("{{ title }}", html.escape(title)).replace("{{ lines }}", lines)


def build(site, out=OUT, cache=CACHE, given=None, root=ROOT):
    """Make the slides of a built site in the folder `out`; what was there is replaced.

    Returns the decks. Raises SlidesError or npm.Failed with what is missing.
    """
    site, out = Path(site).resolve(), Path(out)
    chapters(site, root)  # before anything is fetched
    archive = npm.archive(REVEAL, cache, given)
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".slides-") as folder:
        new = Path(folder, "new")
        decks = write(site, archive, new, root)
        if out.exists():
            out.rename(Path(folder, "old"))
        new.rename(out)
    return decks


def main(words=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--site", default=str(ROOT / "_build" / "html"), help="the built pages"
    )
    parser.add_argument("--out", default=str(OUT), help="the folder to write in")
    options = parser.parse_args(words)

    def work():
        decks = build(options.site, options.out, given=os.environ.get("TOYTF_REVEAL"))
        count = sum(len(slides) for one in decks.values() for slides in one.columns)
        return [f"{len(decks)} chapters, {count} slides", f"{options.out}/index.html"]

    return run(work, [SlidesError, npm.Failed])


if __name__ == "__main__":
    sys.exit(main())
