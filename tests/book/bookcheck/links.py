"""Headings, their slugs, and links, as the book's own Markdown parser reads them."""

import re
from functools import cache

from markdown_it.renderer import RendererHTML
from markdown_it.tree import SyntaxTreeNode
from myst_parser.config.main import MdParserConfig
from myst_parser.mdit_to_docutils.base import compute_unique_slug
from myst_parser.parsers.mdit import create_md_parser

HEADING_DEPTH = 4  # to which _config.yml makes headings linkable (myst_heading_anchors)
PARSER = create_md_parser(MdParserConfig(enable_extensions={"dollarmath", "amsmath", "colon_fence"}), RendererHTML)
LINK = re.compile(r"\]\(\s*<?([^()\s<>#]*)(?:#([^()\s<>]*))?>?(?:\s+\"[^\"]*\")?\s*\)")


def links(markdown):
    """``(target, slug)`` of every link outside code blocks; the slug is None when there is no ``#``."""
    text = re.sub(r"^(```+)(?!\{).*?^\1$", "", markdown, flags=re.MULTILINE | re.DOTALL)
    return [(found[1], found[2]) for found in LINK.finditer(text)]


def _headings(markdown):
    return [node for node in SyntaxTreeNode(PARSER.parse(markdown)).children if node.type == "heading"]


def headings(markdown):
    """``(level, title)`` of the headings outside code fences and directives."""
    return [(int(node.tag[1]), node.children[0].content) for node in _headings(markdown)]


@cache
def heading_slugs(markdown):
    """The slugs that a page offers, in order."""
    slugs = []
    for node in _headings(markdown):
        if int(node.tag[1]) <= HEADING_DEPTH:
            slugs.append(compute_unique_slug(node, slugs))
    return slugs
