"""Sphinx extension: the book as an EPUB, by Sphinx's own builder.

A page of the site is HTML: a browser forgives what an e-reader does not. Here each page
is read once more, and written as XML (`page`). What one presses is left out, formulas
are MathML as on the site, figures are SVG, links that lead nowhere are words.
"""

import html
import posixpath
import re
import shutil
import uuid
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sphinx.builders.epub3 import Epub3Builder
from sphinx.errors import ExtensionError

STYLE = "epub.css"
NAMESPACES = {
    "html": "http://www.w3.org/1999/xhtml",
    "svg": "http://www.w3.org/2000/svg",
    "math": "http://www.w3.org/1998/Math/MathML",
}
STYLES = ("displaystyle", "scriptlevel")
XLINK = "http://www.w3.org/1999/xlink"
EMPTY = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta"}
EMPTY |= {"source", "track", "wbr"}
GONE_TAGS = {"script", "style", "button", "input", "template"}
# What is for hands, and code that the site keeps folded.
GONE_CLASSES = {"headerlink", "hide", "live-controls", "live-foot", "live-said"}
GONE_CLASSES |= {"live-complaint", "byhand-live", "byhand-all", "print-page", "live-tasks", "live-large"}
GONE_CLASSES |= {"related-pages", "bottom-of-page"}  # of the site's frame
# With the raw name: HTMLParser knows small letters only, and SVG has viewBox.
ATTRIBUTE = re.compile(r"""([^\s=/>"']+)(?:\s*=\s*("[^"]*"|'[^']*'|[^\s"'>]+))?""", re.DOTALL)
# In a style: the tag of a thing to touch.
TOUCH = re.compile(r"(?<![\w.#-])toytf-(?=[a-z])")
VARIABLE = re.compile(r"var\(--[\w-]+,((?:[^()]|\([^()]*\))*)\)")


class PageError(ValueError):
    """A page that cannot be read."""


# ---------------------------------------------------------------- reading


class _Reader(HTMLParser):
    """Builds a tree of the tags as they are written, without namespaces."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.tree = ET.TreeBuilder()
        self.open = []

    def handle_starttag(self, tag, attrs):
        text = self.get_starttag_text()
        name = re.match(r"<([^\s/>]+)", text)[1]
        inside = text[len(name) + 1 :].rstrip(">").rstrip("/")
        found = {}
        for key, value in ATTRIBUTE.findall(inside):
            if not key.startswith("xmlns"):
                found[key] = html.unescape(value.strip("\"'")) if value else ""
        self.tree.start(name, found)
        if tag in EMPTY and "svg" not in self.open:
            self.tree.end(name)
        else:
            self.open.append(name)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in EMPTY or "svg" in self.open:
            self.tree.end(self.open.pop())

    def handle_endtag(self, tag):
        if tag in EMPTY and "svg" not in self.open:
            return
        if not self.open or self.open[-1].lower() != tag:
            line, column = self.getpos()
            expected = f"</{self.open[-1]}>" if self.open else "no end tag"
            raise PageError(f"expected {expected}, got </{tag}> in line {line}, column {column}")
        self.tree.end(self.open.pop())

    def handle_data(self, data):
        if self.open:
            self.tree.data(data)


def read(text):
    """The tree of a page of HTML whose tags are all closed.

    Raises PageError where one is not.
    """
    reader = _Reader()
    reader.feed(text)
    reader.close()
    if reader.open:
        raise PageError(f"expected </{reader.open[-1]}>, got the end of the page")
    return reader.tree.close()


# ---------------------------------------------------------------- mending


def is_gone(node):
    return (
        node.tag in GONE_TAGS
        or "hidden" in node.attrib
        or not GONE_CLASSES.isdisjoint(node.get("class", "").split())
        or (node.tag == "link" and node.get("rel") != "stylesheet")
        or (node.tag == "meta" and "charset" not in node.attrib)
    )


def remove(parent, gone):
    """Remove children, and leave what stands behind them."""
    for child in list(parent):
        if not gone(child):
            remove(child, gone)
            continue
        at = list(parent).index(child)
        tail = child.tail or ""
        if at:
            parent[at - 1].tail = (parent[at - 1].tail or "") + tail
        else:
            parent.text = (parent.text or "") + tail
        parent.remove(child)


def without_variables(style):
    """A style with the colours that its variables have on white paper."""
    before = None
    while before != style:
        before, style = style, VARIABLE.sub(r"\1", style)
    return style


def mend(root):
    """What HTML allows and an EPUB does not."""
    remove(root, is_gone)
    seen = set()
    for node in root.iter():
        if node.tag.startswith("toytf-"):  # a thing to touch, without a script
            node.set("class", f"{node.tag} {node.get('class', '')}")
            node.tag = "div"
        for name in [*node.attrib]:
            if name.startswith(("data-", "on")):  # for scripts, and scripts themselves
                del node.attrib[name]
        for name in ("style", "fill", "stroke"):
            if "var(" in node.get(name, ""):
                node.set(name, without_variables(node.get(name)))
        if node.get("id") in seen:
            del node.attrib["id"]
        elif "id" in node.attrib:
            seen.add(node.get("id"))
    for math in root.iter("math"):
        mend_math(math)
    for svg in root.iter("svg"):
        mend_svg(svg)
    set_namespaces(root)
    return seen


def mend_math(math):
    """MathML 3 has style's attributes in `mstyle` alone."""
    for node in math.iter():
        names = [name for name in STYLES if name in node.attrib]
        own = {name: node.attrib.pop(name) for name in names}
        if not own or node is math:
            node.attrib.update(own)
        elif node.tag in {"mrow", "mstyle"}:
            node.tag = "mstyle"
            node.attrib.update(own)
        elif node.tag == "mtd":
            inside = ET.Element("mstyle", own)
            inside.text, node.text = node.text, None
            inside.extend(list(node))
            node[:] = [inside]
        else:
            inner = ET.Element(node.tag, node.attrib)
            inner.text, inner[:] = node.text, list(node)
            node.tag, node.text, node[:] = "mstyle", None, [inner]
            node.attrib.clear()
            node.attrib.update(own)


def mend_svg(svg):
    for node in svg.iter("use"):
        if "href" in node.attrib:
            node.set("xlink:href", node.attrib.pop("href"))


def set_namespaces(root):
    """Each kind of tree says what it is; within it all names are of that kind."""
    root.set("xmlns", NAMESPACES["html"])
    for kind in ("svg", "math"):
        for node in root.iter(kind):
            node.set("xmlns", NAMESPACES[kind])
            if any("xlink:href" in inner.attrib for inner in node.iter()):
                node.set("xmlns:xlink", XLINK)
    for svg in root.iter("svg"):  # one in another has it from there
        for inner in list(svg.iter("svg"))[1:]:
            inner.attrib.pop("xmlns", None)


def mend_links(root, page, ids):
    """Lead each link of a page to a place that is there, or make words of it.

    page: its name, with suffix. ids: the ids of each page.
    """
    folder = posixpath.dirname(page)
    for link in root.iter("a"):
        to = urlsplit(link.get("href", ""))
        if to.scheme or to.netloc or "href" not in link.attrib:
            continue
        path = posixpath.normpath(posixpath.join(folder, unquote(to.path)))
        target = re.sub(r"\.html$", ".xhtml", path) if to.path else page
        if target not in ids:
            del link.attrib["href"]
            continue
        anchor = place(unquote(to.fragment), ids[target])
        beside = posixpath.relpath(target, folder or ".")
        to_page = "" if target == page and anchor else beside
        link.set("href", f"{to_page}#{anchor}" if anchor else to_page)


def place(fragment, ids):
    """The id that a fragment means; an entry of a panel is where the panel is."""
    name = fragment.partition("?")[0]
    for found in (name, name.replace(":", "-"), name.partition(".")[0]):
        if found in ids:
            return found
    return ""


def written(root):
    """The page as XML."""
    text = ET.tostring(root, "unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE html>\n{text}\n'


# ---------------------------------------------------------------- the builder


class Epub(Epub3Builder):
    """Sphinx's, whose pages are mended before they are packed."""

    # the font's licence goes with the font
    media_types = Epub3Builder.media_types | {".txt": "text/plain"}

    def init(self):
        # the site's styles are made for browsers
        self.config.html_style = STYLE
        super().init()

    def handle_finish(self):
        self.mend_pages()
        self.mend_beside()
        self.remove_unused()
        super().handle_finish()

    def mend_pages(self):
        self.kinds = {}
        pages, problems = {}, []
        for docname in sorted(self.env.found_docs):
            name = docname + self.out_suffix
            try:
                pages[name] = read(Path(self.outdir, name).read_text("utf-8"))
            except PageError as error:
                problems.append(f"{docname}: {error}")
        if problems:
            raise ExtensionError("\n".join(problems), modname="toytf_epub")
        ids = {name: mend(root) for name, root in pages.items()}
        for name, root in pages.items():
            mend_links(root, name, ids)
            root.attrib |= dict.fromkeys(("lang", "xml:lang"), self.config.language)
            kinds = [("mathml", "math"), ("svg", "svg")]
            self.kinds[name] = " ".join(word for word, tag in kinds if root.find(f".//{tag}") is not None)
            Path(self.outdir, name).write_text(written(root), "utf-8", newline="\n")

    def mend_beside(self):
        """E-readers know little of styles in pictures; things to touch are boxes."""
        for path in Path(self.outdir, "_static").glob("live*.css"):
            path.write_text(TOUCH.sub(".toytf-", path.read_text("utf-8")), "utf-8")
        for path in Path(self.outdir, self.imagedir).glob("*.svg"):
            path.write_text(without_variables(path.read_text("utf-8")), "utf-8")

    def remove_unused(self):
        """Remove from the files beside the pages what no page and no style asks for."""
        pages = [Path(self.outdir, page) for page in self.kinds]
        said = "".join(page.read_text("utf-8") for page in pages)
        for one in Path(self.outdir, "_static").iterdir():
            if f"_static/{one.name}" not in said and "licence" not in one.name:
                one.unlink() if one.is_file() else shutil.rmtree(one)

    def get_toc(self):
        super().get_toc()
        for entry in self.refnodes:  # seen from the first page, which is in a folder
            entry["refuri"] = posixpath.normpath(entry["refuri"])

    def toc_metadata(self, level, navpoints):
        said = super().toc_metadata(level, navpoints)
        return {**said, "uid": self.config.epub_identifier}

    def build_content(self):
        """Say which pages have formulas and pictures in them, as an EPUB must."""
        super().build_content()
        path = Path(self.outdir, "content.opf")
        text = path.read_text("utf-8")
        for name, kinds in self.kinds.items():
            item = f'(<item [^>]*href="{re.escape(name)}")'
            if kinds:
                text = re.sub(item, rf'\1 properties="{kinds}"', text)
        path.write_text(text, "utf-8", newline="\n")


def describe(app):
    """What an EPUB says of itself."""
    if app.builder.name != Epub.name:
        return
    from toytf import __version__

    config = app.config
    config.version = config.version or __version__
    config.epub_title = config.html_title
    config.epub_basename = basename(config.html_title)
    config.epub_description = "A course in which every number is computed and checked."
    config.epub_contributor = config.author
    config.epub_publisher = config.author
    config.epub_uid = "book"
    config.epub_scheme = "UUID"
    # the same for each edition, and of nobody's address
    name = uuid.uuid5(uuid.NAMESPACE_URL, f"urn:toytf:{config.epub_basename}")
    config.epub_identifier = f"urn:uuid:{name}"
    config.epub_tocscope = "includehidden"
    config.epub_tocdup = False
    config.epub_show_urls = "no"


def basename(title):
    """ "A title as the name of a file."""
    return re.sub(r"\W+", "-", title.lower()).strip("-")


def setup(app):
    app.add_builder(Epub, override=True)
    # before the builder looks whether all is said
    app.connect("builder-inited", describe, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
