"""Sphinx extension: listings are marked up only where toytf.css gives them a colour.

Pygments marks each name, bracket and operator. A chapter had 5,000 such marks, two
fifths of all its elements, and a browser reads them all before it shows the page.
"""

import html
import io
import re

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


# Before and behind a name that is a link; no listing has these two characters.
BEGIN, END = "\ue000", "\ue001"


class Formatter(HtmlFormatter):
    """As Sphinx's, without the marks that nothing shows, and with links at names.

    The option `links` goes from (line, first column, end) of a name, the line from 1,
    to (address, title).
    """

    def format(self, tokensource, outfile):
        links = self.options.get("links", {})
        kinds = (
            (next((kind for kind in COLOURED if token in kind), Text), text)
            for token, text in tokensource
        )
        if not links:
            super().format(kinds, outfile)
            return
        marked = io.StringIO()
        super().format(_marked(kinds, links), marked)
        addresses = iter([links[place] for place in sorted(links)])

        def link(name):
            address, title = map(html.escape, next(addresses))
            return f'<a class="to-api" href="{address}" title="{title}">{name[1]}</a>'

        outfile.write(re.sub(f"{BEGIN}(.*?){END}", link, marked.getvalue()))


def _marked(tokens, links):
    """Set the two signs around each part of a token that is a link."""
    line, column = 1, 0
    for kind, text in tokens:
        parts = []
        for piece in re.findall(r"[^\n]*\n|[^\n]+", text):
            here = [
                place
                for place in sorted(links)
                if place[0] == line and column <= place[1] < column + len(piece)
            ]
            done = 0
            for _, begin, end in here:
                begin, end = begin - column, end - column
                parts += [piece[done:begin], BEGIN, piece[begin:end], END]
                done = end
            parts.append(piece[done:])
            if piece.endswith("\n"):
                line, column = line + 1, 0
            else:
                column += len(piece)
        yield kind, "".join(parts)


def setup(app):
    PygmentsBridge.html_formatter = Formatter
    return {"parallel_read_safe": True, "parallel_write_safe": True}
