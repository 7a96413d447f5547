"""Sphinx extension: listings are marked up only where toytf.css gives them a colour.

Pygments marks each name, bracket and operator. A chapter had 5,000 such marks, two
fifths of all its elements, and a browser reads them all before it shows the page.
"""

from pygments.formatters import HtmlFormatter
from pygments.token import (
    Comment,
    Generic,
    Keyword,
    Name,
    Number,
    Operator,
    String,
    Text,
)
from sphinx.highlighting import PygmentsBridge

COLOURED = [
    Comment,
    Generic.Output,  # this and the prompts are not copied (code.js)
    Generic.Prompt,
    Keyword,
    Name.Builtin.Pseudo,
    Name.Class,
    Name.Decorator,
    Name.Function,
    Number,
    Operator.Word,
    String,
]


class Formatter(HtmlFormatter):
    """As Sphinx's, without the marks that nothing shows."""

    def format(self, tokensource, outfile):
        kinds = (
            (next((kind for kind in COLOURED if token in kind), Text), text)
            for token, text in tokensource
        )
        super().format(kinds, outfile)


def setup(app):
    PygmentsBridge.html_formatter = Formatter
    return {"parallel_read_safe": True, "parallel_write_safe": True}
