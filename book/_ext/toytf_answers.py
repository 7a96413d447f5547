"""Sphinx extension: a box for the reader's answer below each by-hand exercise.

What is asked for, and what is right, `toytf.check` knows: the texts say nothing of the boxes. They hold answers, so the
edition without solutions has none.
"""

from pathlib import Path

import toytf_live
from docutils import nodes
from sphinx_exercise.nodes import is_exercise_node


def put_boxes(app, doctree, docname):
    if app.builder.format != "html" or not app.config.toytf_solutions:
        return
    from toytf.check import BY_HAND
    from toytf.live import answer

    labelled = {one.exercise: one for one in BY_HAND.values()}
    for node in doctree.findall(is_exercise_node):
        if node["label"] in labelled:
            node += nodes.raw("", answer.box(labelled[node["label"]]), format="html")


def link_files(app, page, template, context, doctree):
    body = context.get("body", "")
    if "<toytf-answer " not in body:
        return
    from toytf.live import element

    static = Path(app.outdir, "_static")
    static.mkdir(parents=True, exist_ok=True)
    app.add_css_file("live-answer.css")
    (static / "live-answer.css").write_text(element.style("answer"), "utf-8", newline="\n")
    # what things to touch share, and a page with one has already, holds the base
    for name in ["answer"] if toytf_live.scripts(body) else ["base", "answer"]:
        app.add_js_file(f"live-{name}.js", loading_method="defer")
        (static / f"live-{name}.js").write_text(element.script(name), "utf-8", newline="\n")


def setup(app):
    app.connect("doctree-resolved", put_boxes)
    # after toytf_live: its scripts stand first
    app.connect("html-page-context", link_files, priority=510)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
