"""Sphinx extension: things to touch (`toytf.live`) on the site, and the boxes for answers below by-hand exercises.

A notebook's output brings its style and scripts along, since it may stand in a frame of its own. A page links them as
files: what all elements share, what one needs, its own. A page without an element links none. What an element loads
itself, when somebody asks for it, lies beside them.

What is asked for, and what is right, `toytf.check` knows: the texts say nothing of the boxes. They hold answers, so the
edition without solutions has none.

A link may carry an element's settings: `[by 30](machine.ipynb#machine?divisor=30)`. What stands before the question
mark is the element's id.
"""

import re
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx_exercise.nodes import is_exercise_node

ELEMENT = re.compile(
    r'<toytf-([a-z]+) id="[^"]*" class="live"(?: data-needs="([^"]*)")?(?: data-later="live-(\w+)\.js")?>'
)


def without_parts(html):
    """The output of an element without its style and scripts, which stand before it."""
    return html[ELEMENT.search(html).start() :]


def scripts(html):
    """The names of the scripts that a page needs, in their order."""
    found = ELEMENT.findall(html)
    needed = [name for _, needs, _ in found for name in needs.split()]
    names = ["live", *needed, *(name for name, _, _ in found)] if found else []
    if "<toytf-answer " in html:
        names += ["answer"] if found else ["base", "answer"]  # "live" holds the base
    return list(dict.fromkeys(names))


def later(html):
    """The names of the scripts that its elements load themselves, when asked."""
    return sorted({name for _, _, name in ELEMENT.findall(html)} - {""})


class LinksWithSettings(SphinxPostTransform):
    """MyST looks for a heading; an element is none."""

    default_priority = 1  # before MyST looks

    def run(self, **kwargs):
        here = self.env.docname
        for node in list(self.document.findall(addnodes.pending_xref)):
            fragment = node.get("reftargetid") or ""
            if node.get("refdomain") == "doc" and "?" in fragment:
                to = f"{self.app.builder.get_relative_uri(here, node['reftarget'])}#{fragment}"
                node.replace_self(nodes.reference("", "", *node.children, internal=True, refuri=to))


def mend_outputs(app, doctree, docname):
    for node in list(doctree.findall(nodes.raw)):
        if node.get("format") == "html" and ELEMENT.search(node.astext()):
            html = without_parts(node.astext())
            node.replace_self(nodes.raw("", html, format="html"))


def put_boxes(app, doctree, docname):
    if app.builder.format != "html" or not app.config.toytf_solutions:
        return
    from toytf.check import BY_HAND
    from toytf.live import answer

    labelled = {one.exercise: one for one in BY_HAND.values()}
    for node in doctree.findall(is_exercise_node):
        if node["label"] in labelled:
            box = nodes.raw("", answer.box(labelled[node["label"]]), format="html")
            # what one can tap comes first, then how a notebook checks it
            said = next((p for p in node.findall(nodes.paragraph) if "check.byhand(" in p.astext()), None)
            if said:
                check = re.match(r"Check (it|the \w+) with", said.astext())
                said["classes"] += ["in-notebook"] * bool(check)
                said.parent.insert(said.parent.index(said), box)
            else:
                node += box


def link_files(app, page, template, context, doctree):
    from toytf.live import element

    static = Path(app.outdir, "_static")
    static.mkdir(parents=True, exist_ok=True)
    body = context.get("body", "")
    linked, asked_for = scripts(body), later(body)
    for name in [*linked, *asked_for]:
        css, js = element.style(name), element.script(name)
        if css:
            app.add_css_file(f"live-{name}.css")
            (static / f"live-{name}.css").write_text(css, "utf-8", newline="\n")
        if name in linked:
            app.add_js_file(f"live-{name}.js", loading_method="defer")
        (static / f"live-{name}.js").write_text(js, "utf-8", newline="\n")


def setup(app):
    app.add_post_transform(LinksWithSettings)
    # before what looks at the panels within
    app.connect("doctree-resolved", mend_outputs, priority=890)
    app.connect("doctree-resolved", put_boxes)
    app.connect("html-page-context", link_files, priority=500)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
