"""Sphinx extension: a box for the reader's answer below each by-hand exercise.

What is asked for, and what is right, `toytf.check` knows: the texts say nothing of the
boxes. They hold answers, so the edition without solutions has none. Nor have paper and
e-readers, on which nobody types.
"""

from pathlib import Path

import toytf_live
from docutils import nodes
from sphinx_exercise.nodes import is_exercise_node


def has_boxes(app):
    builder = app.builder
    on_screen = builder.format == "html" and builder.name != "epub"
    return on_screen and app.config.toytf_solutions


def put_boxes(app, doctree, docname):
    if not has_boxes(app):
        return
    from toytf.check import BY_HAND
    from toytf.live import answer

    labelled = {pencil.exercise: pencil for pencil in BY_HAND.values()}
    for node in doctree.findall(is_exercise_node):
        if pencil := labelled.get(node["label"]):
            node += nodes.raw("", answer.box(pencil), format="html")


def link_files(app, page, template, context, doctree):
    body = context.get("body", "")
    if "<toytf-answer " not in body:
        return
    from toytf.live import element

    static = Path(app.outdir, "_static")
    static.mkdir(parents=True, exist_ok=True)
    app.add_css_file("live-answer.css")
    write(static / "live-answer.css", element.style("answer"))
    # what things to touch share, and a page with one has already, holds the base
    for name in ["answer"] if toytf_live.scripts(body) else ["base", "answer"]:
        app.add_js_file(f"live-{name}.js", loading_method="defer")
        write(static / f"live-{name}.js", element.script(name))


def write(path, text):
    path.write_text(text, "utf-8", newline="\n")


def setup(app):
    app.connect("doctree-resolved", put_boxes)
    # after toytf_live: its scripts stand first
    app.connect("html-page-context", link_files, priority=510)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
