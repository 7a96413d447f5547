"""Headings, their slugs, and the links that lead to them."""

import re
from functools import cache
from itertools import pairwise

from markdown_it import MarkdownIt
from mdit_py_plugins.anchors.index import slugify
from mdit_py_plugins.colon_fence import colon_fence_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin

from bookcheck.reading import page_markdown

# The depth to which the book's configuration makes headings linkable (myst_heading_anchors).
HEADING_DEPTH = 4

_MARKDOWN = MarkdownIt("commonmark").use(dollarmath_plugin).use(colon_fence_plugin)

_LINK = re.compile(r"\]\(\s*<?([^()\s<>#]*)(?:#([^()\s<>]*))?>?(?:\s+\"[^\"]*\")?\s*\)")


def links(markdown):
    """``(target, slug)`` of every link outside code blocks; the slug is None when there is no ``#``."""
    text = re.sub(r"^(```+)(?!\{).*?^\1$", "", markdown, flags=re.MULTILINE | re.DOTALL)
    return [(m[1], m[2]) for m in _LINK.finditer(text)]


def _heading_tokens(markdown):
    """The tokens of the headings outside code fences and directives, each with that of its title."""
    return [(one, then) for one, then in pairwise(_MARKDOWN.parse(markdown)) if one.type == "heading_open"]


def headings(markdown):
    """``(level, title)`` of the headings outside code fences and directives."""
    return [(int(heading.tag[1]), title.content) for heading, title in _heading_tokens(markdown)]


@cache
def heading_slugs(markdown):
    """The slugs that a page offers, in order; a title that stands twice gets a number.

    The text of a title is that of its words and code; MyST leaves formulas out.
    """
    slugs = []
    for heading, title in _heading_tokens(markdown):
        if int(heading.tag[1]) > HEADING_DEPTH:
            continue
        new = slugify("".join(c.content for c in title.children if c.type in ("text", "code_inline")))
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
        elif anchor is not None and "?" in anchor:  # something to touch, with its settings
            if path is None or not _has(path.read_text(encoding="utf-8"), anchor.partition("?")[0]):
                problems.append(f"link to {target}#{anchor}: no such thing to touch")
        elif anchor is not None:
            text = page_markdown(path) if path else markdown
            if anchor not in heading_slugs(text):
                problems.append(f"link to {target}#{anchor}: no such heading")
    return problems


def _has(notebook, name):
    """Whether a notebook's code makes the element of this id, or of this name, which then is its id."""
    return re.search(rf"live\.{re.escape(name)}\(|\bid=\\\"{re.escape(name)}\\\"", notebook) is not None
