"""Pages of HTML from the templates beside this file. Markdown in them becomes HTML, and its formulas MathML.

What strangers wrote goes in as text, and stays text. No page has a script, or needs anything from elsewhere.

>>> print(prose("A row sums to **1**."))
<p>A row sums to <strong>1</strong>.</p>
<BLANKLINE>
"""

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup
from math_core import LatexToMathML
from mdit_py_plugins.dollarmath import dollarmath_plugin

from toytf_classroom.plain_text import plain

TEMPLATES = Path(__file__).with_name("templates")


def render(template: str, **values) -> str:
    """Fill a template. Every value is escaped, and control characters are taken out."""
    return environment().get_template(template).render(values)


@cache
def environment() -> Environment:
    """Where templates are found, and what they may use."""
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        finalize=lambda v: v if hasattr(v, "__html__") or not isinstance(v, str) else plain(v, 30_000),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"prose": prose, "inline": inline, "math": math}
    return made


def prose(markdown: str) -> Markup:
    """Paragraphs, lists, tables, code and formulas as HTML; HTML in the text stays text."""
    return Markup(_reader().render(markdown))


def inline(markdown: str) -> Markup:
    """The same for one line, without a paragraph around it."""
    return Markup(_reader().renderInline(markdown))


def math(tex: str) -> Markup:
    """A formula of the project's own as MathML."""
    return Markup(LatexToMathML().convert_with_local_state(tex, displaystyle=False))


@cache
def _reader() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    dollarmath_plugin(reader)
    # A `Markup` would escape what it is added to.
    reader.add_render_rule("math_inline", lambda _, tokens, at, *__: str(math(tokens[at].content)))
    return reader
