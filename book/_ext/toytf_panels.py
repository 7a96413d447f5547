"""Sphinx extension: the panels of `toytf.byhand` on the site.

A notebook's output brings its style and script along, since it may stand in a frame of its own. A page links both once,
as files. Each panel gets an id, panel-1, panel-2, ... in the order of the page: `#panel-3.0.2` opens the third entry of
its first row. Beside a product stand the shapes of its three matrices, to scale, where the page has a margin.
"""

import itertools
import re
from pathlib import Path

from docutils import nodes

PARTS = re.compile(r'<style>.*?</style><script>.*?</script>(?=<div class="byhand)', re.DOTALL)
PANEL = re.compile(r'<div (?=class="byhand s\d)')
# a page of the book, where an output links to a notebook
LINK = re.compile(r'(<a href="[^":]*)\.ipynb(?=[#"])')


CAPTION = re.compile(
    r'<caption>(.*?)(?:<span class="b-i".*?></span>)? ?<span class="byhand-shape">(\d+) × (\d+)</span></caption>'
)
UNIT, LONGEST = 9, 108  # pixels of a number, and of the longest side


def _shapes(panel):
    found = [(name, int(rows), int(cols)) for name, rows, cols in CAPTION.findall(panel)[:3]]
    unit = min(UNIT, LONGEST / max(side for _, *sides in found for side in sides))
    drawn = [
        f'<span><i class="{mark}" style="width:{cols * unit:.0f}px;height:{rows * unit:.0f}px;--u:{unit:.2g}px"></i>'
        f"<em>{name}</em>{rows} × {cols}</span>"
        for (name, rows, cols), mark in zip(found, ("b-top", "b-side", ""), strict=True)
    ]
    return f'<div class="b-shapes" aria-hidden="true">{drawn[0]}×{drawn[1]}={drawn[2]}</div>'


def set_beside(node, html):
    """Before the cell of one product stand its shapes: a page floats them into its margin."""
    cell = node.parent
    while cell is not None and cell.get("nb_element") != "cell_code":
        cell = cell.parent
    alone = html.count('<div id="panel-') == 1 and "<toytf-" not in html
    if cell is not None and alone and "b-left" in html and "b-above" in html:
        cell.parent.insert(cell.parent.index(cell), nodes.raw("", _shapes(html), format="html"))


def mend_outputs(app, doctree, docname):
    numbers = itertools.count(1)
    for node in list(doctree.findall(nodes.raw)):
        if node.get("format") == "html":
            html = PARTS.sub("", LINK.sub(r"\1.html", node.astext()))
            html = PANEL.sub(lambda _: f'<div id="panel-{next(numbers)}" ', html)
            set_beside(node, html)
            node.replace_self(nodes.raw("", html, format="html"))


def write_files(app):
    """The package has them; the book has no copy."""
    from toytf.byhand import panels

    static = Path(app.outdir, "_static")
    static.mkdir(parents=True, exist_ok=True)
    (static / "panel.css").write_text(panels.style(), "utf-8", newline="\n")
    (static / "panel.js").write_text(panels.script(), "utf-8", newline="\n")


def link_files(app, pagename, templatename, context, doctree):
    if "byhand" in context.get("body", ""):
        app.add_css_file("panel.css")
        app.add_js_file("panel.js", loading_method="defer")


def setup(app):
    app.connect("builder-inited", write_files)
    app.connect("html-page-context", link_files)
    app.connect("doctree-resolved", mend_outputs, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
