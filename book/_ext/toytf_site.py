"""Sphinx extension: the site holds everything that its pages need, and nothing else.

With the environment variable TOYTF_SOLUTIONS set to "no" it holds no solution of an
exercise either.
"""

import json
import os
import re
import shutil
from importlib import metadata
from pathlib import Path

from sphinx.errors import ConfigError

# one file with every TeX extension: it never fetches another
MATHJAX = "tex-svg-full.js"

# What the theme writes, and what stands in the pages instead. tests/test_site.py sees
# when a new version of the theme writes something else.
MENDS = [
    # 1.4 MB of script to draw the icons a second time: the icon font has them
    (r".*scripts/fontawesome\.js.*\n", ""),
    # a name without the words on the button: nobody can press it by saying them
    (r'(<summary) aria-label="Toggle hidden content"', r"\1"),
    (r'(<button class="btn search-button-field[^>]*) aria-label="Search"', r"\1"),
    # no name at all
    (r'(<input class="task-list-item-checkbox")', r'\1 aria-label="task"'),
    # the book's title outside of all landmarks
    (
        r'(<div id="pst-primary-sidebar")',
        r'\1 role="complementary" aria-label="The book"',
    ),
]
# Source maps, and fonts for browsers that cannot show these pages anyway.
NOT_NEEDED = {".map", ".ttf"}


def add_mathjax(app, config):
    """Take the one script out of the installed package; the repository has no copy."""
    package = metadata.distribution("sphinx-mathjax-offline")
    script = package.locate_file(f"sphinx-mathjax-offline/static/mathjax/{MATHJAX}")
    config.html_static_path.append(str(script))
    config.mathjax_path = MATHJAX


def number_once(app, docname, source):
    """A chapter's title has its number in the notebook; in the book Sphinx counts."""
    source[0] = re.sub(r'"# \d+\. ', '"# ', source[0], count=1)


def with_solutions():
    """What TOYTF_SOLUTIONS says; by default the book has its solutions."""
    said = os.environ.get("TOYTF_SOLUTIONS") or "yes"
    if said not in {"yes", "no"}:
        raise ConfigError(f'TOYTF_SOLUTIONS: expected "yes" or "no", got "{said}"')
    return said == "yes"


def left_out(notebook):
    """The text of a notebook's file, with the solutions left out."""
    from toytf.teach.exercises import without_solutions

    left = without_solutions(json.loads(notebook))
    return json.dumps(left, ensure_ascii=False, indent=1) + "\n"


def start_empty(app):
    """What an earlier build left there, pictures above all, could show a solution."""
    if not app.config.toytf_solutions:
        shutil.rmtree(app.outdir)
        Path(app.outdir).mkdir()


def leave_out_solutions(app, docname, source):
    if not app.config.toytf_solutions and app.env.doc2path(docname).endswith(".ipynb"):
        source[0] = left_out(source[0])


def mend_sources(site):
    """Sphinx copies sources from the disk, where the solutions are."""
    for path in site.rglob("*.ipynb"):
        path.write_text(left_out(path.read_text("utf-8")), "utf-8", newline="\n")


def mend_pages(site):
    for page in site.rglob("*.html"):
        html = page.read_text("utf-8")
        for pattern, replacement in MENDS:
            html = re.sub(pattern, replacement, html)
        page.write_text(html, "utf-8", newline="\n")


def remove_unused(site):
    """Remove from _static what no page, style or script mentions: translations, ..."""
    static = [path for path in (site / "_static").rglob("*") if path.is_file()]
    readers = [
        path
        for path in [*site.rglob("*.html"), *static]
        if path.suffix in {".html", ".css", ".js"}
    ]
    texts = {path: path.read_text("utf-8") for path in readers}
    for path in static:
        others = (text for other, text in texts.items() if other != path)
        mentioned = any(path.name in text for text in others)
        if path.suffix in NOT_NEEDED or not mentioned:
            path.unlink()


def finish(app, exception):
    if exception is None and app.builder.format == "html":
        mend_pages(Path(app.outdir))
        remove_unused(Path(app.outdir))
        if not app.config.toytf_solutions:
            mend_sources(Path(app.outdir))


def setup(app):
    app.add_config_value("toytf_solutions", with_solutions(), "env", bool)
    app.connect("config-inited", add_mathjax)
    app.connect("builder-inited", start_empty)
    app.connect("source-read", leave_out_solutions)
    app.connect("source-read", number_once)
    # after myst_nb has put its files there
    app.connect("build-finished", finish, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
