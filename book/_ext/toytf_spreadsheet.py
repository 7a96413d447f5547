"""Sphinx extension: the running example as a spreadsheet, and the tool that has it."""

import re
from pathlib import Path

NAME = "hello_world.xlsx"
# Chapters 2 to 13, whose steps are its sheets, and the pages that look at all of them
PAGES = re.compile(r"notebooks/(0[2-9]|1[0-3])_\w+|book/(follow|machine|instructors)")


def lead(app, page, template, context, doctree):
    if PAGES.fullmatch(page):
        context["toytf_spreadsheet"] = context["pathto"](
            f"_static/{NAME}", resource=True
        )


def write(app, exception):
    """Write it where a page leads to it; the same bytes in every build."""
    if exception or app.builder.name != "html":
        return
    if any(map(PAGES.fullmatch, app.env.found_docs)):
        from toytf.course.spreadsheet import hello_world

        (Path(app.outdir) / "_static" / NAME).write_bytes(hello_world().file())


def setup(app):
    app.connect("html-page-context", lead)
    # before toytf_site takes away what no page mentions
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
