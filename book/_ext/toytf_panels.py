"""Sphinx extension: the panels of `toytf.byhand` on the site.

A notebook's output brings its style and script along, since it may stand in a frame of its own. A page links both once,
as files. Each panel gets an id, panel-1, panel-2, ... in the order of the page: `#panel-3.0.2` opens the third entry of
its first row.
"""

import itertools
import re
from pathlib import Path

from docutils import nodes

PARTS = re.compile(r'<style>.*?</style><script>.*?</script>(?=<div class="byhand)', re.DOTALL)
PANEL = re.compile(r'<div (?=class="byhand s\d)')
# a page of the book, where an output links to a notebook
LINK = re.compile(r'(<a href="[^":]*)\.ipynb(?=[#"])')


def mend_outputs(app, doctree, docname):
    numbers = itertools.count(1)
    for node in list(doctree.findall(nodes.raw)):
        if node.get("format") == "html":
            html = PARTS.sub("", LINK.sub(r"\1.html", node.astext()))
            html = PANEL.sub(lambda _: f'<div id="panel-{next(numbers)}" ', html)
            node.replace_self(nodes.raw("", html, format="html"))


def write_files(app):
    """The package has them; the book has no copy."""
    from toytf.byhand import panels

    static = Path(app.outdir, "_static")
    static.mkdir(parents=True, exist_ok=True)
    (static / "panel.css").write_text(panels.style(), "utf-8", newline="\n")
    (static / "panel.js").write_text(panels.script(), "utf-8", newline="\n")


def setup(app):
    app.add_css_file("panel.css")
    app.add_js_file("panel.js", loading_method="defer")
    app.connect("builder-inited", write_files)
    app.connect("doctree-resolved", mend_outputs, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
