"""Sphinx extension: listings are marked up only where toytf.css gives them a colour.

Pygments marks each name, bracket and operator. A chapter had 5,000 such marks, two fifths of all its elements, and a
browser reads them all before it shows the page.
"""

import html
import io
import re
from itertools import pairwise

from pygments.formatters import HtmlFormatter
from pygments.token import Comment, Generic, Keyword, Name, Number, Operator, String, Text
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
# On a phone a longer line wraps; what was printed in columns scrolls, so its box can be focused (toytf.js).
NARROW = 34
WORD = re.compile(r"(?:<[^>]*>|[^\s<])+")  # up to a space
CALL = re.compile(r"^(?:</?a\b[^>]*>|<span class=.bp.>|</span>|[^<{&(])+\((?!\))")  # up to its bracket, not in a string
COLUMNS = re.compile(r"\S {2,}\S|^ ?\[")


class Formatter(HtmlFormatter):
    """As Sphinx's, without the marks that nothing shows, and with links at names.

    The option `links` goes from a name as the listing writes it, ``ops.softmax``, to (address, title). The first one is
    the link, of ``ops.softmax`` its last part.
    """

    def format(self, tokensource, outfile):
        left, links, marked = dict(self.options.get("links", {})), [], io.StringIO()

        def kinds():
            path = ""
            for token, text in tokensource:
                if token in Name:
                    path = path + text if path.endswith(".") else text
                    if path in left:
                        links.append(left.pop(path))
                        text = f"{BEGIN}{text}{END}"
                else:
                    path = f"{path}." if text == "." else ""
                yield next((kind for kind in COLOURED if token in kind), Text), text

        super().format(kinds(), marked)

        def link(name):
            address, title = map(html.escape, links.pop(0))
            return f'<a class="to-api" href="{address}" title="{title}">{name[1]}</a>'

        listing = re.sub(f"{BEGIN}(.*?){END}", link, marked.getvalue())
        plain = html.unescape(re.sub("<.*?>", "", listing)).splitlines()
        marks = ' class="columns"' if sum(map(bool, map(COLUMNS.search, plain))) > 1 else ""
        marks += ' tabindex="0"' if 'class="long"' in listing else ""
        outfile.write(listing.replace("<pre>", f"<pre{marks}>", 1))

    def wrap(self, source):
        # one empty line between two functions is enough in a book
        lines = [
            line for before, line in pairwise(["", *(line for _, line in source)]) if line.strip() or before.strip()
        ]
        return super().wrap((1, hanging(line)) for line in lines)


def hanging(line):
    """A long line; what it goes on with stands four letters deeper, six before a block.

    It ends at a space, or behind the first bracket of a call that is long up to its first space.
    """
    plain = html.unescape(re.sub("<.*?>", "", line)).rstrip()
    deep = len(plain) - len(plain.lstrip()) + (6 if plain.endswith(":") else 4)
    if len(plain) <= NARROW:
        return line
    # a shape is one word, and so is ' '
    line = re.sub(r"\w+(?: × \w+)+|' '", r'<span class="kept">\g<0></span>', line)
    return f'<span class="long" style="--deep: {deep}ch">' + WORD.sub(opened, line) + "</span>"


def opened(word):
    short = len(html.unescape(re.sub("<.*?>", "", word[0]))) <= 20
    return word[0] if short else CALL.sub(r"\g<0><wbr>", word[0])


def setup(app):
    PygmentsBridge.html_formatter = Formatter
    return {"parallel_read_safe": True, "parallel_write_safe": True}
