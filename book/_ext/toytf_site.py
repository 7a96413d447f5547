"""Sphinx extension: the site holds everything that its pages need, and nothing else.

With the environment variable TOYTF_SOLUTIONS set to "no" it holds no solution of an exercise either.
"""

import gc
import json
import os
import re
import shutil
from functools import cache
from pathlib import Path

from docutils import nodes
from sphinx.errors import ConfigError
from sphinx_exercise.nodes import solution_node

# What the theme writes, and what stands in the pages instead. tests/book/test_site.py sees when a new version of the
# theme writes something else.
MENDS = [
    # seen by the next build, which does not mend a page twice
    ('<html class="no-js"', r"\g<0> data-mended"),
    # who has a keyboard hears what the box to tick does
    ("Toggle site navigation sidebar", "Show the contents"),
    ("Toggle table of contents sidebar", "Show the headings"),
    ("Toggle Light / Dark / Auto color theme", "Light or dark"),
    # a name without the words on the button: nobody can press it by saying them
    (r'(<summary) aria-label="Toggle hidden content"', r"\1"),
    # no name at all
    (r'(<input class="task-list-item-checkbox")', r'\1 aria-label="task"'),
    # on a small screen the search is one tap away
    (
        '<div class="theme-toggle-container theme-toggle-header">',
        r'<a class="header-search" href="{root}search.html" aria-label="Search"><svg viewBox="0 0 24 24" '
        r'aria-hidden="true"><circle cx="10.5" cy="10.5" r="6.5"/><path d="m15.5 15.5 5 5"/></svg></a>\g<0>',
    ),
    # everything stands in a landmark, every heading has a level
    (r'(<input type="checkbox" class="sidebar-toggle"[^>]*>\s*){2}', r'<nav aria-label="Menus">\g<0></nav>'),
    ('<div class="content-icon-container"', r'\g<0> role="region" aria-label="Tools"'),
    ('<p class="caption" role="heading"', r'\g<0> aria-level="2"'),
    # each landmark has a name of its own
    ('<aside class="sidebar-drawer"', r'\g<0> aria-label="The book"'),
    (r'<aside class="toc-drawer[^"]*"', r'\g<0> aria-label="On this page"'),
]
# Styles that toytf.css has itself, shorter: colours of code, cells, exercises, buttons.
STYLES_NOT_NEEDED = ("pygments.css", "mystnb.", "exercise.css", "furo-extensions.css")
# The headings of remarks in a replay: a list of seventy helps nobody, and the theme's script would lay out the place of
# each, however far away, before the page stands.
REMARK = re.compile(r'<li><a class="[^"]*" href="#e\d-\d\d-[^<]*</a></li>\s*')


def number_once(app, docname, source):
    """A chapter's title has its number in the notebook; in the book Sphinx counts."""
    source[0] = re.sub(r'"# \d+\. ', '"# ', source[0], count=1)


# ---------------------------------------------------------------- without solutions


def with_solutions():
    """What TOYTF_SOLUTIONS says; by default the book has its solutions."""
    said = os.environ.get("TOYTF_SOLUTIONS") or "yes"
    if said not in {"yes", "no"}:
        raise ConfigError(f'TOYTF_SOLUTIONS: expected "yes" or "no", got "{said}"')
    return said == "yes"


def start_empty(app):
    """What an earlier build left there, pictures above all, could show a solution."""
    if not app.config.toytf_solutions:
        shutil.rmtree(app.outdir)
        Path(app.outdir).mkdir()


def leave_out_solutions(app, docname, source):
    if not app.config.toytf_solutions and app.env.doc2path(docname).endswith(".ipynb"):
        from toytf.course.exercises import without_solutions

        source[0] = json.dumps(without_solutions(json.loads(source[0])))


# ---------------------------------------------------------------- the frame


@cache
def questions():
    """From the page of each chapter to the question that it answers."""
    from toytf.course.chapters import outline

    return {f"notebooks/{chapter.name}": chapter.question for chapter in outline()}


def prepare_page(app, page, template, context, doctree):
    """Leave the other styles out; the first page is the front door."""
    context["css_files"] = [
        style for style in context["css_files"] if not Path(str(style.filename)).name.startswith(STYLES_NOT_NEEDED)
    ]
    for script in context["script_files"]:
        script.attributes["defer"] = "defer"  # the page is read first
    context["toc"] = re.sub(r"<ul>\s*</ul>\s*", "", REMARK.sub("", context.get("toc") or ""))
    context["author"] = app.config.author
    _, _, following = app.builder.relations.get(page, (None, None, None))
    context["next_question"] = questions().get(following)
    if page == app.config.root_doc:
        context["body"] = f'<div class="front">{context["body"]}</div>'


def mark_elsewhere(app, doctree):
    """What a link out leads to has no hold on the page."""
    for link in doctree.findall(nodes.reference):
        if "://" in link.get("refuri", ""):
            link["rel"] = "noopener"


class Folded(nodes.General, nodes.Element):
    """A note that is folded, as an admonition with the class `dropdown` asks for."""


def fold(app, doctree):
    for note in list(doctree.findall(nodes.admonition)):
        if "dropdown" in note["classes"]:
            note.replace_self(Folded("", *note.children, **note.attributes))


def open_box(writer, node):
    """A folded box is a <details>: it needs no script and takes no room."""
    tag = "details" if "dropdown" in node["classes"] else "div"
    writer.body.append(writer.starttag(node, tag, CLASS="admonition"))
    if tag == "details":
        writer.body.append('<summary class="admonition-title">')
        for part in node.pop(0):
            # a link there would be pressed by who wants to open
            for word in part.children if isinstance(part, nodes.reference) else [part]:
                word.walkabout(writer)
        writer.body.append("</summary>")


def close_box(writer, node):
    writer.body.append("</details>" if "dropdown" in node["classes"] else "</div>")


# ---------------------------------------------------------------- the pages as they are written

# Where a name in code may break: behind "_", "(", "[" and "=", before a point.
NAME_BREAKS = re.compile(r"(?<=[^\W_]_)(?=[^\W_])|(?<=[^\W\d][(\[=])(?=.)|(?<=[\w)\]])(?=\.[^\W\d])")
# A short formula with the bracket before it, or with the sign after it.
WITH_SIGNS = re.compile(
    r'([(\[“]*)(<span class="math notranslate nohighlight">(?:(?!</?span).)*</span>)([.,;:?!)\]”’]*)', re.DOTALL
)


def break_names(html):
    """In a table's narrow column a name breaks between its parts, not within a word."""

    def in_table(table):
        return re.sub(r'(?<=<span class="pre">)[^<]{9,}', lambda name: NAME_BREAKS.sub("<wbr>", name[0]), table[0])

    return re.sub(r'<table class="docutils.*?</table>', in_table, html, flags=re.DOTALL)


def keep_signs(html):
    """No line begins with the full stop of a formula, none ends with its bracket."""
    return WITH_SIGNS.sub(lambda it: f'<span class="kept">{it[0]}</span>' if it[1] or it[3] else it[0], html)


def mend_pages(site):
    for page in site.rglob("*.html"):
        html = page.read_text("utf-8")
        if " data-mended" in html[:200]:
            continue
        root = "../" * (len(page.relative_to(site).parts) - 1)
        for pattern, replacement in MENDS:
            html = re.sub(pattern, replacement.replace("{root}", root), html)
        page.write_text(keep_signs(break_names(html)), "utf-8", newline="\n")


def also_plain(css):
    """The styles, with the colours of the day for browsers that do not know light-dark()."""
    colours = re.search(r":root \{\n  color-scheme.*?\n\}\n", css, re.DOTALL)[0]
    plain = re.sub(r"light-dark\((\S+), \S+\)", r"\1", colours)
    return css.replace(colours, f"{plain}@supports (color: light-dark(#000, #fff)) {{\n{colours}}}\n", 1)


def remove_unused(site):
    """Remove from _static what no page, style or script mentions, source maps, and fonts for old browsers."""
    static = [path for path in (site / "_static").rglob("*") if path.is_file()]
    readers = [path for path in [*site.rglob("*.html"), *static] if path.suffix in {".html", ".css", ".js"}]
    texts = {path: path.read_text("utf-8") for path in readers}
    for path in static:
        mentioned = any(path.name in text for other, text in texts.items() if other != path)
        if path.suffix in {".map", ".ttf"} or not mentioned:
            path.unlink()


def finish(app, exception):
    if exception is not None or app.builder.format != "html":
        return
    site = Path(app.outdir)
    styles = site / "_static" / "toytf.css"
    if "@supports" not in (css := styles.read_text("utf-8")):  # not those of the last build
        styles.write_text(also_plain(css), "utf-8", newline="\n")
    mend_pages(site)
    remove_unused(site)


def setup(app):
    # A build makes millions of nodes and keeps them; a fifth of its time went into looking for those that may go.
    gc.set_threshold(20_000, 20, 20)
    app.add_config_value("toytf_solutions", with_solutions(), "env", bool)
    app.connect("builder-inited", start_empty)
    app.connect("source-read", leave_out_solutions)
    app.connect("source-read", number_once)
    # Jupyter Book sets an option of an extension that is not here.
    app.add_config_value("comments_config", {}, "")
    app.add_node(solution_node, override=True, html=(open_box, close_box))
    app.add_node(Folded, html=(open_box, close_box))
    app.connect("doctree-read", fold)
    app.connect("doctree-read", mark_elsewhere)
    # after the extensions have asked for their styles
    app.connect("html-page-context", prepare_page, priority=900)
    # after myst_nb has put its files there
    app.connect("build-finished", finish, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
