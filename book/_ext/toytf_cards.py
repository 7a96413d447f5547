"""A page's picture for those who share it: its number, its title, its first figure.

The figure is the SVG that the page itself shows. The fonts come with matplotlib, and
resvg draws without any of the machine's own, so every machine draws the same.
"""

import hashlib
import json
import re
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib import metadata
from pathlib import Path

import matplotlib
from fontTools.ttLib import TTFont

from toytf.course.exercises import without_solutions

SIZE = WIDTH, HEIGHT = 1200, 630
EDGE = 64  # pixels that stay free on the left and right
INK, QUIET, BLUE = "#1F2430", "#566070", "#0072B2"  # as on the page by day
SANS, BOLD, SERIF = "DejaVu Sans", "DejaVu Sans Bold", "DejaVu Serif Bold"
FILES = {
    SANS: "DejaVuSans.ttf",
    BOLD: "DejaVuSans-Bold.ttf",
    "DejaVu Sans Oblique": "DejaVuSans-Oblique.ttf",
    SERIF: "DejaVuSerif-Bold.ttf",
}
FONTS = {
    name: Path(matplotlib.get_data_path(), "fonts", "ttf", file)
    for name, file in FILES.items()
}
OURS = re.compile(r'<svg [^>]*class="toytf-(?:figure|spine)"')
OF_ALL = re.compile(r'<svg [^>]*class="toytf-spine"')
# A colour of the page, and what it is where no page says anything.
VARIABLE = re.compile(r"var\(--[\w-]+,((?:[^()]|\([^()]*\))*)\)")


@dataclass(frozen=True)
class Picture:
    """A figure: its SVG, and the text that says what is to be seen."""

    svg: str
    alt: str

    @property
    def size(self):
        """Width and height, from its viewBox."""
        return [
            float(side)
            for side in re.search(r'viewBox="([^"]*)"', self.svg)[1].split()[2:]
        ]


# ---------------------------------------------------------------- which figure


def first_figure(page, solutions=True):
    """The first figure of a notebook's file; the spine only where there is no other.

    Each chapter shows the spine, and from afar one looks like the next.
    """
    if page.suffix != ".ipynb":
        return None
    notebook = json.loads(page.read_text("utf-8"))
    found = list(_figures(notebook if solutions else without_solutions(notebook)))
    others = [picture for picture in found if not OF_ALL.match(picture.svg)]
    return next(iter(others or found), None)


def _figures(notebook):
    for cell in notebook["cells"]:
        alt = cell["metadata"].get("mystnb", {}).get("image", {}).get("alt", "")
        for output in cell.get("outputs", []):
            svg = "".join(output.get("data", {}).get("image/svg+xml", ""))
            if OURS.match(svg):
                yield Picture(svg, alt)


@cache
def of_the_book(pages):
    """The picture of a page that has none: the first spine of the book."""
    found = (
        picture
        for page in pages
        if page.suffix == ".ipynb"
        for picture in _figures(json.loads(page.read_text("utf-8")))
        if OF_ALL.match(picture.svg)
    )
    return next(found, None)


# ---------------------------------------------------------------- the card


@cache
def _advances(font):
    """Letter -> its width, for a size of 1."""
    with TTFont(FONTS[font]) as file:
        em, widths = file["head"].unitsPerEm, file["hmtx"].metrics
        return {
            chr(code): widths[name][0] / em for code, name in file.getBestCmap().items()
        }


def width_of(text, font, size):
    letters = _advances(font)
    return size * sum(letters.get(letter, 0.6) for letter in text)


def wrap(text, font, size, width):
    """Lines of a text that fit a width; a longer word has a line of its own."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and width_of(longer, font, size) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def _text(lines, font, size, colour, x, y):
    """Lines of text as SVG, and where the next one would stand."""
    weight = ' font-weight="700"' if "Bold" in font else ""
    family = font.removesuffix(" Bold")
    drawn = ""
    for line in lines:
        y += size * 1.2
        drawn += (
            f'<text x="{x:g}" y="{y:.1f}" font-family="{family}"{weight} '
            f'font-size="{size}" fill="{colour}">{escape(line)}</text>\n'
        )
    return drawn, y


def _figure(picture, x, y, width, height):
    """A figure in the middle of a box, as large as it fits."""
    w, h = picture.size
    scale = min(width / w, height / h)
    x, y = x + (width - w * scale) / 2, y + (height - h * scale) / 2
    svg = picture.svg[picture.svg.index("<svg") :]
    while (flat := VARIABLE.sub(r"\1", svg)) != svg:
        svg = flat
    root, rest = svg[: svg.index(">")], svg[svg.index(">") :]
    root = re.sub(r'\s(?:x|y|width|height)="[^"]*"', "", root)
    place = f'x="{x:.1f}" y="{y:.1f}" width="{w * scale:.1f}" height="{h * scale:.1f}"'
    return f"{root} {place}{rest}\n"


def card(book, title, said, picture):
    """The card as SVG. A wide figure stands below the title, another one beside it."""
    w, h = picture.size if picture else (1, 1)
    wide = picture is not None and w / h > 1.45
    room = WIDTH - 2 * EDGE if wide or picture is None else 470
    size = 50 if wide else 54
    named = [""] if title == book else [book]
    head, y = _text(named, SANS, 24, QUIET, EDGE + 62, 28)
    logo = _logo(EDGE, 30)
    lines, y = _text(wrap(title, SERIF, size, room), SERIF, size, INK, EDGE, y + 16)
    words = "" if wide else _words(said, room, y)
    figure = ""
    if wide:
        figure = _figure(picture, EDGE, y + 30, room, HEIGHT - y - 62)
    elif picture is not None:
        figure = _figure(
            picture, EDGE + room + 40, 40, WIDTH - 2 * EDGE - room - 20, 550
        )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}">\n'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>\n'
        f'<rect width="{WIDTH}" height="10" fill="{BLUE}"/>\n'
        f"{logo}{head}{lines}{words}{figure}</svg>\n"
    )


def _words(said, room, y):
    """As many lines of the description as there is room for."""
    size = 27
    most = max(0, int((HEIGHT - 60 - y) / (size * 1.2)))
    lines = wrap(said, SANS, size, room)
    if len(lines) > most > 0:
        lines = [*lines[: most - 1], f"{lines[most - 1].rstrip('.,;:')} …"]
    return _text(lines[:most], SANS, size, QUIET, EDGE, y + 20)[0]


def _logo(x, y):
    """The book's sign: two rows of four numbers."""
    rows = (("#0072b2", (1, 0.75, 0.5, 0.85)), ("#e69f00", (0.6, 1, 0.8, 0.5)))
    return "".join(
        f'<rect x="{x + 12 * k}" y="{y + 14 * row}" width="10" height="11" rx="1.5" '
        f'fill="{colour}" fill-opacity="{shade}"/>\n'
        for row, (colour, shades) in enumerate(rows)
        for k, shade in enumerate(shades)
    )


def png(svg):
    """The card as PNG."""
    import resvg_py  # a book without an address does without

    return bytes(
        resvg_py.svg_to_bytes(
            svg_string=svg,
            skip_system_fonts=True,
            font_files=[str(path) for path in FONTS.values()],
            font_family=SANS,
            sans_serif_family=SANS,
            serif_family="DejaVu Serif",
            monospace_family=SANS,
        )
    )


# ---------------------------------------------------------------- in the build


def draw_card(app, page, title, said):
    """Draw a page's card unless an earlier build did; where it stands, and its text."""
    source = Path(app.env.doc2path(page))
    picture = first_figure(source, app.config.toytf_solutions) or of_the_book(
        tuple(Path(app.env.doc2path(name)) for name in sorted(app.env.found_docs))
    )
    svg = card(app.config.html_title, title, said, picture)
    drawer = metadata.version("resvg-py")
    mark = hashlib.sha256(f"{drawer} {svg}".encode()).hexdigest()[:12]
    kept = Path(app.doctreedir, "cards", f"{mark}.png")
    if not kept.is_file():
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(png(svg))
    place = f"_cards/{page}.png"
    there = Path(app.outdir, place)
    there.parent.mkdir(parents=True, exist_ok=True)
    there.write_bytes(kept.read_bytes())
    # who has seen an older one asks again
    return f"{place}?v={mark[:8]}", (picture.alt if picture else "") or title
