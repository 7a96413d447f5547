r"""Sphinx extension: formulas are set when the book is built, as MathML.

    mathml(r"\sqrt{d_k}", display=False)  # '<math><semantics><msqrt>...'

The browser draws them by itself, with a font that comes with the styles (toytf_mathfont.py): they stand at the first
paint, and no script sets anything. math-core reads the TeX; what it leaves open is mended here. A formula with a
mistake ends the build, with its page and what is wrong.
"""

import base64
import html
import re
import xml.etree.ElementTree as ET
from functools import cache
from pathlib import Path

import toytf_mathfont
from docutils import nodes
from math_core import LatexError, LatexToMathML
from sphinx.errors import ExtensionError
from sphinx.locale import _
from sphinx.util.math import get_node_equation_number

STYLES = "formulas.css"
LICENCE = "formulas-font-licence.txt"
# Left to itself, a browser decodes the font when it first lays out a formula, and may paint before it has it.
DECODE = f"document.fonts.load('1em {toytf_mathfont.NAME}')"
CLASSES = "math notranslate nohighlight"
# A formula in the line with more characters than this may be wider than a phone.
SHORT = 20


class FormulaError(ValueError):
    """A formula that cannot be set, and why."""


@cache
def _converter():
    return LatexToMathML(fancy_error=False)


@cache
def element(tex, display):
    """The formula as a `math` element, from TeX as it stands in the text."""
    # the distance of a row, `\\[4pt]`, is for JupyterLab: here all rows keep off each other (toytf_formulas.css)
    tex = re.sub(r"\\\\\[[^\]]*\]", r"\\\\", tex)
    try:
        text = _converter().convert_with_local_state(tex, displaystyle=display)
    except LatexError as error:
        raise FormulaError(f"{error} in {tex.strip()}") from None
    # XML knows five characters by name, and math-core names others
    text = re.sub(r"&(?!(?:lt|gt|amp|quot|apos);)\w+;", lambda name: html.unescape(name[0]), text)
    # it draws overlines with a combining character, which WebKit pushes aside
    text = text.replace('<mo stretchy="true">\u0332', '<mo stretchy="true" lspace="0" rspace="0">‾')
    math = ET.fromstring(text)
    for cell in [cell for row in math.iter("mtr") for cell in row[1::2]]:
        # in an aligned row that begins with a sign, TeX sees a term before it
        if "text-align: left" in cell.get("style", "") and len(cell) > 1 and cell[0].text in set("+−±×⋅"):
            cell[0].set("form", "infix")
    return math


@cache
def mathml(tex, display):
    """The formula as MathML, with its TeX as an annotation."""
    math = element(tex, display)
    inner = "".join(ET.tostring(child, "unicode") for child in math)
    if len(math) != 1:
        inner = f"<mrow>{inner}</mrow>"
    block = ' display="block"' if display else ""
    note = f'<annotation encoding="application/x-tex">{html.escape(tex.strip(), quote=False)}</annotation>'
    return f"<math{block}><semantics>{inner}{note}</semantics></math>"


def is_long(tex):
    """Whether a formula in the line may be wider than a phone."""
    return len("".join(element(tex, False).itertext())) > SHORT


# --- Sphinx ---


def visit_inline(writer, node):
    long = " long" if is_long(node.astext()) else ""
    writer.body.append(writer.starttag(node, "span", "", CLASS=CLASSES + long))
    writer.body.append(mathml(node.astext(), False) + "</span>")
    raise nodes.SkipNode


def visit_display(writer, node):
    writer.body.append(writer.starttag(node, "div", CLASS=CLASSES))
    if node["number"]:
        writer.body.append(f'<span class="eqno">({get_node_equation_number(writer, node)})')
        writer.add_permalink_ref(node, _("Link to this equation"))
        writer.body.append("</span>")
    writer.body.append(mathml(node.astext(), True) + "</div>\n")
    raise nodes.SkipNode


def collect(app, doctree):
    """What formulas each page has: the font needs those of all, changed or not."""
    found = {(node.astext(), isinstance(node, nodes.math_block)) for node in doctree.findall(is_formula)}
    app.env.metadata[app.env.docname]["toytf_formulas"] = sorted(found)


def is_formula(node):
    return isinstance(node, (nodes.math, nodes.math_block))


def convert(app, env):
    """Set all formulas, or say what is wrong with each; write styles with the font."""
    if app.builder.format != "html":
        return
    problems, used = [], {}
    for docname, kept in sorted(env.metadata.items()):
        for tex, display in kept.get("toytf_formulas", ()):
            try:
                characters = toytf_mathfont.characters(element(tex, display))
            except FormulaError as error:
                problems.append(f"{docname}: {error}")
            else:
                used |= {char: f"{docname}: no {char!r} in the font, needed in {tex}" for char in characters}
    font, missing = toytf_mathfont.font("".join(sorted(used)))
    problems += [used[char] for char in sorted(missing)]
    if problems:
        raise ExtensionError("\n".join(["formulas that cannot be set:", *problems]), modname="toytf_formulas")
    static = Path(app.outdir, "_static")
    static.mkdir(parents=True, exist_ok=True)
    (static / STYLES).write_text(styles(font), "utf-8", newline="\n")
    (static / LICENCE).write_text(toytf_mathfont.licence(), "utf-8", newline="\n")


def styles(font):
    """The styles of formulas.

    The font is inside: who has them can draw, also from a disk, where a browser refuses to fetch a font ahead.
    """
    data = base64.b64encode(font).decode("ascii")
    return f"""\
/* Licence of the font: {LICENCE} */
@font-face {{
  font-family: "{toytf_mathfont.NAME}";
  src: url("data:font/woff2;base64,{data}") format("woff2");
}}
{Path(__file__).with_suffix(".css").read_text("utf-8")}"""


def add_styles(app, pagename, templatename, context, doctree):
    if app.builder.format == "html" and app.env.metadata[pagename].get("toytf_formulas"):
        app.builder.add_css_file(STYLES, onload=DECODE)
        app.builder.add_js_file("formulas.js", defer="defer")


def choose(app, config):
    config.html_math_renderer = "toytf"


def setup(app):
    app.add_html_math_renderer("toytf", (visit_inline, None), (visit_display, None))
    app.connect("config-inited", choose)
    app.connect("doctree-read", collect)
    app.connect("env-updated", convert)
    app.connect("html-page-context", add_styles)
    return {"env_version": 2, "parallel_read_safe": True, "parallel_write_safe": True}
