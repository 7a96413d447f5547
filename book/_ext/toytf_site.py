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
    # a name without the words on the button: nobody can press it by saying them
    (r'(<summary) aria-label="Toggle hidden content"', r"\1"),
    # every heading has a level
    ('<p class="caption" role="heading"', r'\g<0> aria-level="2"'),
    # a menu that is always open has nothing to press
    (r'<input aria-label="Toggle navigation of [^>]*>(<label [^>]*>.*?</label>)', ""),
    # an option or a command is one word, hyphens and all
    (r'<span class="pre(?=">(--[a-z]|[a-z]+-)[a-z-]{,18}</span>)', r"\g<0> kept"),
    (r"(?<=\s)--[a-z][a-z-]*(?=[\s<])", r'<span class="kept">\g<0></span>'),
    (r"\b(?:GPT|DeepSeek)-V?\d(?=[^<>]*<)", r'<span class="kept">\g<0></span>'),
    (r"\(…, (\w+), (\w+)\)", "(…,\u00a0\\1,\u00a0\\2)"),  # a shape
]
# Styles that toytf.css has itself, shorter: colours of code, cells, exercises, buttons; and the theme's script, whose
# menus and list of headings are not here.
NOT_NEEDED = ("pygments.css", "mystnb.", "exercise.css", "furo-extensions.css", "furo.js")


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


def strip(app, page):
    """The stations that stand above a chapter, each with its chapters and whether it is past, and the other way as one;
    elsewhere None.
    """
    from toytf.course.chapters import WAYS, chapters

    names = {int(number): f"notebooks/{name}" for number, name in chapters().items()}
    names = {
        number: name for number, name in names.items() if name in app.env.titles
    }  # a part of the book may be built
    here = next((number for number, name in names.items() if name == page), None)
    way = next((way for way in WAYS if here in sum(way.values(), ())), None)
    if way is None:
        return None
    stations = [{"name": "the map", "page": "book/map", "state": "past"}]
    for name, numbers in ((name, [n for n in numbers if n in names]) for name, numbers in way.items()):
        if not numbers:
            continue
        state = "here" if here in numbers else "past" if numbers[-1] < here else "ahead"
        titles = [(n, names[n], app.env.titles[names[n]].astext()) for n in numbers]
        nearest = numbers[-1 if state == "past" else 0]
        stations.append({"name": name, "page": names[nearest], "state": state, "chapters": titles})
    for other in ([n for n in sum(other.values(), ()) if n in names] for other in WAYS if other is not way):
        if other:
            state, at = ("past", 1) if other[0] < here else ("ahead", len(stations))
            name = f"chapters {other[0]}–{other[-1]}"
            stations.insert(at, {"name": name, "page": names[other[0]], "state": state})
    return stations


def mark_question(app, doctree):
    """A paragraph that is a question in bold, below the title, opens the page in the title's place."""
    section = next(doctree.findall(nodes.section), None)
    for after in section.children[1:2] if section else ():
        parts = [type(part) for part in after.children if part.astext()]
        if isinstance(after, nodes.paragraph) and parts == [nodes.strong]:
            after["classes"].append("question")


def prepare_page(app, page, template, context, doctree):
    """Leave the other styles and scripts out; a chapter has its strip, and the page before it its question."""
    for kind in ("css_files", "script_files"):
        context[kind] = [
            file for file in context[kind] if not Path(str(file.filename or "")).name.startswith(NOT_NEEDED)
        ]
    for script in context["script_files"]:
        script.attributes["defer"] = "defer"  # the page is read first
    context["toc"] = re.sub(r"<ul>\s*</ul>\s*", "", context.get("toc") or "")
    context["author"] = app.config.author
    _, _, following = app.builder.relations.get(page, (None, None, None))
    context["next_question"] = questions().get(following)
    context["strip"] = strip(app, page)
    context["body"] = context.get("body", "")


# "2 × 4", also beside a formula; "32 %"; "chapter 9"; "add & norm".
TOGETHER = re.compile(r"(?:^|(?<=\d)) × (?=\d|$)|(?<=\d) (?=%)|(?<=[Cc]hapter) (?=\d)|(?<=[Aa]dd) & (?=norm)")


def keep_numbers(app, doctree):
    """A number, a sign and a number stand on one line."""
    for text in list(doctree.findall(nodes.Text)):
        if not isinstance(text.parent, (nodes.literal, nodes.math, nodes.FixedTextElement)):
            kept = TOGETHER.sub(lambda it: it[0].replace(" ", "\N{NO-BREAK SPACE}"), text)
            text.parent.replace(text, nodes.Text(kept))


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
NAME_BREAKS = re.compile(r"(?<=[^\W_]_)(?=[^\W_])|(?<=[^\W\d][(\[=])(?=.)|(?<=[\w)\]])(?=\.(?!(?:py|js)\b)[^\W\d])")
# A short formula with the bracket before it, or with the sign after it.
WITH_SIGNS = re.compile(
    r'([(\[“]*)(<span class="math notranslate nohighlight">(?:(?!</?span).)*</span>)([.,;:?!)\]”’]*)', re.DOTALL
)


def break_names(html, least=34):
    """A name that no phone has room for breaks between its parts, in a table's narrow column a shorter one too."""
    if least > 15:
        html = re.sub(r'<table class="docutils.*?</table>', lambda it: break_names(it[0], 15), html, flags=re.DOTALL)
    return re.sub(rf'(?<=<span class="pre">)[^<]{{{least},}}', lambda name: NAME_BREAKS.sub("<wbr>", name[0]), html)


def keep_signs(html):
    """No line begins with the full stop of a formula, none ends with its bracket."""
    return WITH_SIGNS.sub(lambda it: f'<span class="kept">{it[0]}</span>' if it[1] or it[3] else it[0], html)


def mend_pages(site):
    for page in site.rglob("*.html"):
        html = page.read_text("utf-8")
        if " data-mended" in html[:200]:
            continue
        for pattern, replacement in MENDS:
            html = re.sub(pattern, replacement, html, flags=re.DOTALL)
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
    app.connect("doctree-read", mark_question)
    app.connect("doctree-read", mark_elsewhere)
    app.connect("doctree-read", keep_numbers)
    # after the extensions have asked for their styles
    app.connect("html-page-context", prepare_page, priority=900)
    # after myst_nb has put its files there
    app.connect("build-finished", finish, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
