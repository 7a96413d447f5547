"""The built site as the book's other forms take it: its pages in the order of its contents, and links between them."""

import posixpath
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

import yaml
from bs4 import BeautifulSoup, NavigableString, Tag

ROOT = Path(__file__).resolve().parent.parent.parent
# What is for hands, and code that the site shows when it is asked for.
PRESSED = (
    "script, style, button, input, template, [hidden], toytf-answer, details.hide, .more-code, .headerlink, "
    ".print-page, .live-controls, .live-foot, .live-said, .live-complaint, .live-tasks, .live-large, .byhand-live, "
    ".byhand-corner, .byhand-all"
)


# What the text asks for, where nothing can be tapped and all is open.
TAP = re.compile(r"\b(Click or tap|Tap)\b")


class FormError(ValueError):
    """What keeps the book from a form, in words for the person who asked."""


@dataclass
class Page:
    """A page of the site; `part` is the part of the contents that it stands in, `source` all of its HTML."""

    name: str
    part: str
    path: Path
    source: str
    article: Tag

    @property
    def key(self) -> str:
        """Its name without folders, which no other page has."""
        return self.name.rpartition("/")[2]

    @property
    def title(self) -> str:
        """Its heading: words, without the sign that links to it."""
        return self.article.h1.get_text().removesuffix("¶")

    def styles(self) -> list[Path]:
        """The style sheets that it links."""
        return self._files(r'<link [^>]*href="([^"?]+\.css)')

    def scripts(self) -> list[Path]:
        """The scripts that it links."""
        return self._files(r'<script [^>]*src="([^"?]+\.js)')

    def _files(self, pattern):
        return [(self.path.parent / link).resolve() for link in re.findall(pattern, self.source)]


def config(root: Path = ROOT) -> dict:
    """What _config.yml says."""
    return yaml.safe_load((root / "_config.yml").read_text("utf-8"))


def slug(title: str) -> str:
    """A title as the name of a file: "One, two" is "one-two"."""
    return re.sub(r"\W+", "-", title.lower()).strip("-")


def soup(source: str) -> BeautifulSoup:
    """The tree of a piece of HTML."""
    return BeautifulSoup(source, "html.parser")


def read(site: Path, root: Path = ROOT, of: str = "") -> list[Page]:
    """The pages that _toc.yml of the folder `root` names, from a built site; `of`: only of this folder.

    Raises FormError if one of them is not there.
    """
    toc = yaml.safe_load((root / "_toc.yml").read_text("utf-8"))
    parts = [
        ("", [{"file": toc["root"]}]),
        *((part["caption"], part["chapters"]) for part in toc["parts"]),
    ]
    names = [(part, name) for part, chapters in parts for name in _listed(chapters) if name.startswith(of)]
    return [_page(Path(site), part, name) for part, name in names]


def _listed(chapters):
    for chapter in chapters:
        yield chapter["file"]
        yield from _listed(chapter.get("sections", ()))


def _page(site, part, name):
    path = site / f"{name}.html"
    if not path.is_file():
        raise FormError(f"expected the page {path}, found none: run `make book` first")
    source = path.read_text("utf-8")
    article = soup(re.search(r"<article\b.*</article>", source, re.DOTALL)[0]).article
    return Page(name, part, path, source, article)


def still(article: Tag) -> None:
    """Leave out what is pressed, and what asks for it: "Tap the last entry" is "Look at the last entry"."""
    for node in article.select(PRESSED):
        node.decompose()
    for text in article.find_all(string=TAP):
        if type(text) is NavigableString:
            text.replace_with(TAP.sub("Look at", text))


def relink(pages: list[Page], address) -> None:
    """Lead links between the pages to ``address(page, place)``; one to what is not in these pages becomes words.

    address gets the page that a link leads to, and an id there, or "".
    """
    ids = {page.name: {node["id"] for node in page.article.select("[id]")} for page in pages}
    named = {page.name: page for page in pages}
    for page in pages:
        for link in page.article.select("a[href]"):
            to = urlsplit(link["href"])
            if to.scheme or to.netloc:
                continue
            path = posixpath.normpath(posixpath.join(posixpath.dirname(page.name), unquote(to.path)))
            name = path.removesuffix(".html") if to.path else page.name
            wanted = unquote(to.fragment).partition("?")[0]
            # an entry of a panel, panel-3.0.2, is where the panel is
            place = next(
                (id for id in (wanted, wanted.partition(".")[0]) if id in ids.get(name, ())),
                "",
            )
            if name in named and (place or name != page.name):
                link["href"] = address(named[name], place)
            else:
                link.unwrap()
