"""Headings, their slugs, and the links that lead to them."""

import re

from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

from bookcheck.reading import page_markdown

# The depth to which the book's configuration makes headings linkable (myst_heading_anchors).
HEADING_DEPTH = 4

_INLINE = MarkdownIt("commonmark").use(dollarmath_plugin)

_LINK = re.compile(r"\]\(\s*<?([^()\s<>#]*)(?:#([^()\s<>]*))?>?(?:\s+\"[^\"]*\")?\s*\)")


def links(markdown):
    """``(target, slug)`` of every link outside code blocks; the slug is None when there is no ``#``."""
    text = re.sub(r"^(```+)(?!\{).*?^\1$", "", markdown, flags=re.MULTILINE | re.DOTALL)
    return [(m[1], m[2]) for m in _LINK.finditer(text)]


def slug(title):
    """A heading's slug, as GitHub and MyST make it: lower case, hyphens, no punctuation."""
    return re.sub(r"[^\w\u4e00-\u9fff\- ]", "", title.lower().replace(" ", "-"))


def headings(markdown):
    """``(level, title)`` of the headings outside code fences and directives."""
    found, fence = [], None
    for line in markdown.splitlines():
        mark = re.match(r"\s*(`{3,}|~{3,}|:{3,})", line)
        if fence:
            fence = None if mark and line.strip() == fence else fence
        elif mark:
            fence = mark[1]
        elif heading := re.match(r"(#{1,6})\s+(.*?)(?:\s+#+)?\s*$", line):
            found.append((len(heading[1]), heading[2]))
    return found


def heading_slugs(markdown):
    """The slugs that a page offers, in order; a title that stands twice gets a number.

    The text of a title is that of its words and code; MyST leaves formulas out.
    """
    slugs = []
    for level, title in headings(markdown):
        if level > HEADING_DEPTH:
            continue
        children = _INLINE.parse(f"# {title}")[1].children or []
        new = slug("".join(c.content for c in children if c.type in ("text", "code_inline")))
        number = 1
        while new in slugs:
            new, number = f"{new}-{number}", number + 1
        slugs.append(new)
    return slugs


def link_problems(markdown, folder):
    """Every link to a file of the book has its file, and its heading."""
    problems = []
    for target, anchor in links(markdown):
        if re.match(r"[a-z]+:", target):
            continue
        path = (folder / target).resolve() if target else None
        if path and not path.exists():
            problems.append(f"link to {target}: no such file")
        elif anchor is not None:
            text = page_markdown(path) if path else markdown
            if anchor not in heading_slugs(text):
                problems.append(f"link to {target}#{anchor}: no such heading")
    return problems
