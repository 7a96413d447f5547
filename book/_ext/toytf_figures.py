"""Sphinx extension: figures that are SVG stand in the page, not beside it.

There they take the page's colours, light and dark, and their text can be selected and found. Panels of a figure become
pictures of their own: side by side where there is room. Builders that write something else than pages get the files.
"""

import html
import re
from pathlib import Path

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

OURS = re.compile(r'<svg [^>]*class="(toytf-figure|toytf-spine|house)"')
USE = re.compile(r'(\bid="|url\(#|href="#)([^")]+)(?=["\)])')
PANEL = re.compile(r'^<svg class="(\w+)"[^>]* viewBox="([^"]*)">(.*)</svg>$', re.M)
MESSAGE = re.compile(r'^<g class="message">(.*)</g>$', re.M)


def in_page(svg, alt, number=0):
    """A figure as a page shows it: its message as a sentence, its panels, its text; no name that another one has."""
    svg = svg[svg.index("<svg") :].strip()
    names = set(re.findall(r'\bid="([^"]+)"', svg))
    svg = USE.sub(lambda use: f"{use[1]}n{number}-{use[2]}" if use[2] in names else use[0], svg)
    label = f'role="{"group" if "<a " in svg else "img"}" aria-label="{html.escape(alt)}"'
    root, rest = svg[: svg.index(">")], svg[svg.index(">") :]
    kind = OURS.match(svg)[1]
    if kind == "house":
        root = re.sub(r'\s(role|aria-label)="[^"]*"', "", root)
        return root.replace("<svg ", f"<svg {label} ", 1) + rest
    # letters are as large as the page wants: their size is an attribute, which the page's style overrules
    style = re.sub(r"font:([\d.]+)px (.*)", r'font-family:\2" font-size="\1', re.search(r'style="([^"]*)"', root)[1])
    wide, shown = re.search(r'viewBox="0 0 (\S+) ', root)[1], re.search(r' width="(\S+)"', root)[1]
    panels = ""
    for name, box, content in PANEL.findall(svg):
        units = [float(side) for side in box.split()[2:]]
        w, h = (round(side * float(shown) / float(wide), 1) for side in units)
        panels += f'<span style="--w:{units[0]:g};--h:{units[1]:g}"><svg class="{name}" viewBox="{box}" '
        panels += f'width="{w:g}" height="{h:g}" style="{style}">{content}</svg></span>'
    message = MESSAGE.search(svg)
    lines = re.findall(r"<text[^>]*>(.*?)</text>", message[1] if message else "")
    said = " ".join(re.sub(r"<[^>]*>", "", line) for line in lines)
    caption = f"<figcaption>{said}</figcaption>" if said else ""
    return f'<figure class="{kind}">{caption}<div {label}>{panels}</div></figure>'


class Inline(SphinxPostTransform):
    """Put the text of an SVG file where its picture stood."""

    default_priority = 900  # after MyST-NB has chosen among a cell's forms of output

    def run(self, **kwargs):
        if self.app.builder.name not in ("html", "dirhtml", "singlehtml"):
            return
        for number, node in enumerate(list(self.document.findall(nodes.image))):
            path = Path(self.app.srcdir, node["uri"])
            if path.suffix == ".svg" and path.is_file() and OURS.search(svg := path.read_text("utf-8")):
                text = in_page(svg, node.get("alt", ""), number)
                node.replace_self(nodes.raw("", text, format="html"))


def setup(app):
    app.add_post_transform(Inline)
    app.add_css_file("figures.css")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
