r"""Markdown of the book as HTML for paper: formulas become MathML, code gets its colours, and no script is needed.

>>> from toytf.teach.markdown import html
>>> print(html("A row sums to **1**."))
<p>A row sums to <strong>1</strong>.</p>
<BLANKLINE>
"""

from __future__ import annotations

import re
from functools import cache
from html import escape
from typing import TYPE_CHECKING

from toytf._command import Trouble

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_DISTANCE = re.compile(r"\\\\\[[\d.]+(?:pt|em|ex|mm|cm|in)\]")  # between two rows: \\[4pt]
MISSING = 'answers and exams: expected {} to be installed, got none; pip install "toytf[paper]"'


def html(text: str) -> str:
    """Turn Markdown with formulas between dollar signs into HTML; HTML in the text stays text.

    Raises
    ------
    Trouble
        If what it needs is not installed, or a formula cannot be set.
    """
    return _reader().render(text)


def inline(text: str) -> str:
    """The same for one line, without a paragraph around it."""
    return _reader().renderInline(text)


def code(text: str, language: str = "python") -> str:
    """Highlight code: ``<pre class="code">`` with a ``span`` for each kind of word."""
    try:
        from pygments import highlight
        from pygments.formatters import HtmlFormatter
        from pygments.lexers import get_lexer_by_name
        from pygments.util import ClassNotFound
    except ImportError:
        raise Trouble(MISSING.format("Pygments")) from None
    try:
        lexer = get_lexer_by_name(language)
    except ClassNotFound:
        lexer = get_lexer_by_name("text")
    return f'<pre class="code">{highlight(text, lexer, HtmlFormatter(nowrap=True)).rstrip()}</pre>\n'


def code_styles() -> str:
    """The colours of `code`, dark enough for paper."""
    try:
        from pygments.formatters import HtmlFormatter
    except ImportError:
        raise Trouble(MISSING.format("Pygments")) from None
    rules = HtmlFormatter().get_style_defs("pre.code")
    return "\n".join(line for line in rules.splitlines() if line.startswith("pre.code ."))


def formula(tex: str, display: bool = False) -> str:
    """A formula as MathML.

    Raises
    ------
    Trouble
        If it cannot be set: the message has the formula and the reason.
    """
    try:
        from math_core import LatexError, LatexToMathML
    except ImportError:
        raise Trouble(MISSING.format("math-core")) from None
    body = _DISTANCE.sub(r"\\\\", tex)  # math-core would print it
    try:
        return LatexToMathML(fancy_error=False).convert_with_local_state(body, displaystyle=display)
    except LatexError as error:
        raise Trouble(f"formula: expected TeX that can be set, got {tex.strip()} ({error})") from None


@cache
def _reader() -> MarkdownIt:
    try:
        from markdown_it import MarkdownIt
        from mdit_py_plugins.dollarmath import dollarmath_plugin
    except ImportError:
        raise Trouble(MISSING.format("markdown-it-py and mdit-py-plugins")) from None
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    dollarmath_plugin(reader, double_inline=True)
    reader.add_render_rule("fence", _fence)
    reader.add_render_rule("code_block", _fence)
    reader.add_render_rule("math_inline", lambda _, tokens, at, *__: formula(tokens[at].content))
    for name in ("math_block", "math_inline_double"):
        reader.add_render_rule(name, _displayed)
    reader.add_render_rule("link_open", _link_open)
    reader.add_render_rule("link_close", _link_close)
    reader.add_render_rule("image", lambda _, tokens, at, *__: escape(tokens[at].content))
    return reader


def _fence(_, tokens, at, *__) -> str:
    language, *_more = tokens[at].info.split() or ["text"]
    return code(tokens[at].content, language)


def _link_open(_, tokens, at, *__) -> str:
    """A link that leads on from paper; of one into the book only its words are left, in italics."""
    address = str(tokens[at].attrs.get("href", ""))
    return f'<a href="{escape(address)}">' if address.startswith(("https://", "http://")) else "<em>"


def _link_close(_, tokens, at, *__) -> str:
    opens = next(token for token in reversed(tokens[:at]) if token.type == "link_open")
    return "</a>" if _link_open(_, [opens], 0).startswith("<a") else "</em>"


def _displayed(_, tokens, at, *__) -> str:
    return f'<div class="formula">{formula(tokens[at].content, display=True)}</div>\n'
