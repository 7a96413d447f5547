r"""Sphinx extension: formulas are set when the book is built, as MathML.

    mathml(r"\sqrt{d_k}", display=False)  # '<math><semantics><msqrt>...'

The browser draws them by itself, with a font that comes with the styles
(toytf_mathfont.py): they stand at the first paint, and no script sets anything.
math-core reads the TeX; what it leaves open is mended here. A formula with a mistake
ends the build, with its page and what is wrong.
"""

import base64
import html
import html.entities
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
# Left to itself, a browser decodes the font when it first lays out a formula, and may
# paint before it has it.
DECODE = f"document.fonts.load('1em {toytf_mathfont.NAME}')"
CLASSES = "math notranslate nohighlight"

# A formula in the line with more characters than this may be wider than a phone.
SHORT = 20

# Environments of a whole display, and what sets their lines here. Sphinx numbers them.
INNER = {
    "align": "aligned",
    "alignat": "alignedat",
    "eqnarray": "aligned",
    "equation": None,
    "flalign": "aligned",
    "gather": "gathered",
    "multline": "gathered",
    "split": "aligned",
}
ENVIRONMENT = re.compile(rf"\\(begin|end)\{{({'|'.join(INNER)})\*?\}}")

# `\\[4pt]`: the next row stands lower. math-core prints it; it becomes a row that holds
# one character of nobody's, which is found again in what comes back.
BREAK = re.compile(r"(\\\\)\[([^\]]*)\]")
DISTANCE = re.compile(r"\s*[\d.]+\s*(pt|em|ex|mm|cm|in)\s*")
MARK = 0xE000

# In an aligned row that begins with one of these, TeX sees a term before it.
BETWEEN = set("+−±∓×⋅·∘⊙")


class FormulaError(ValueError):
    """A formula that cannot be set, and why."""


@cache
def _converter():
    return LatexToMathML(fancy_error=False)


@cache
def element(tex, display):
    """The formula as a `math` element, from TeX as it stands in the text."""
    body, distances = _prepared(tex, display)
    try:
        text = _converter().convert_with_local_state(body, displaystyle=display)
    except LatexError as error:
        where, _colon, reason = str(error).partition(": ")
        said = f"{reason} (at character {where})" if reason else where
        raise FormulaError(f"{said} in {tex.strip()}") from None
    math = ET.fromstring(_without_names(text))
    _set_distances(math, distances)
    _set_signs(math)
    _set_overlines(math)
    return math


@cache
def mathml(tex, display, namespace=False):
    """The formula as MathML, with its TeX as an annotation.

    `namespace` is for pages that are XML, as those of an EPUB.
    """
    math = element(tex, display)
    inner = "".join(ET.tostring(child, "unicode") for child in math)
    if len(math) != 1:
        inner = f"<mrow>{inner}</mrow>"
    xmlns = ' xmlns="http://www.w3.org/1998/Math/MathML"' if namespace else ""
    block = ' display="block"' if display else ""
    note = html.escape(tex.strip(), quote=False)
    note = f'<annotation encoding="application/x-tex">{note}</annotation>'
    return f"<math{xmlns}{block}><semantics>{inner}{note}</semantics></math>"


def is_long(math):
    """Whether a formula in the line may be wider than a phone."""
    return len("".join(math.itertext())) > SHORT


def _prepared(tex, display):
    """The TeX that math-core reads, and the distances between rows taken out of it."""

    def environment(found):
        inner = INNER[found[2]]
        return rf"\{found[1]}{{{inner}}}" if inner else ""

    def row(found):
        if not DISTANCE.fullmatch(found[2]):
            raise FormulaError(
                rf"expected a distance such as [4pt] after \\, got [{found[2]}] "
                f"in {tex.strip()}"
            )
        distances.append(found[2])
        return rf"\\ {chr(MARK + len(distances) - 1)} \\"

    distances = []
    body = re.sub(r"\\label\{[^}]*\}", "", tex)
    body = BREAK.sub(row, ENVIRONMENT.sub(environment, body))
    # as Sphinx has it: displayed formulas with an empty line between them are rows
    parts = [part for part in re.split(r"\n\s*\n", body) if part.strip()]
    if display and (len(parts) > 1 or _breaks(body)):
        body = r"\begin{aligned}" + r"\\".join(parts) + r"\end{aligned}"
    elif _breaks(body):
        raise FormulaError(
            rf"expected \\ in an environment or a displayed formula, "
            f"got it in the line: {tex.strip()}"
        )
    return body, distances


def _breaks(tex):
    r"""Whether there is a \\ outside of all environments."""
    depth = 0
    for found in re.finditer(r"\\begin\{|\\end\{|\\\\|\\.", tex, re.DOTALL):
        depth += {r"\begin{": 1, r"\end{": -1}.get(found[0], 0)
        if found[0] == r"\\" and depth == 0:
            return True
    return False


def _without_names(text):
    """XML knows five characters by name, and math-core names another."""
    return re.sub(
        r"&(?!(?:lt|gt|amp|quot|apos);)(\w+;)",
        lambda found: html.entities.html5.get(found[1], found[0]),
        text,
    )


def _set_distances(math, distances):
    marks = {chr(MARK + i): distance for i, distance in enumerate(distances)}
    for table in math.iter("mtable"):
        distance = None
        for row in list(table):
            mark = marks.get("".join(row.itertext()))
            if mark:
                table.remove(row)
            elif distance:
                for cell in row:
                    style = cell.get("style", "")
                    cell.set("style", f"{style}padding-top: calc(0.7ex + {distance});")
            distance = mark


def _set_signs(math):
    for row in math.iter("mtr"):
        for cell in row[1::2]:
            aligned = "text-align: left" in cell.get("style", "")
            if aligned and len(cell) > 1 and cell[0].tag == "mo":
                if cell[0].text in BETWEEN and "lspace" not in cell[0].attrib:
                    cell[0].set("form", "infix")


def _set_overlines(math):
    """math-core draws them with a combining character, which WebKit pushes aside."""
    for over in math.iter("mover"):
        if over[1].text == "\u0332":
            over[1].text = "‾"
            over[1].attrib |= {"lspace": "0", "rspace": "0"}


# --- Sphinx ---


def _shown(writer, node, display):
    epub = writer.builder.name.startswith("epub")
    return mathml(node.astext(), display, namespace=epub)


def visit_inline(writer, node):
    long = " long" if is_long(element(node.astext(), False)) else ""
    writer.body.append(writer.starttag(node, "span", "", CLASS=CLASSES + long))
    writer.body.append(_shown(writer, node, False) + "</span>")
    raise nodes.SkipNode


def visit_display(writer, node):
    writer.body.append(writer.starttag(node, "div", CLASS=CLASSES))
    if node["number"]:
        number = get_node_equation_number(writer, node)
        writer.body.append(f'<span class="eqno">({number})')
        writer.add_permalink_ref(node, _("Link to this equation"))
        writer.body.append("</span>")
    writer.body.append(_shown(writer, node, True) + "</div>\n")
    raise nodes.SkipNode


def _formulas(env):
    """What formulas each page has: the font needs those of all, changed or not."""
    if not hasattr(env, "toytf_formulas"):
        env.toytf_formulas = {}
    return env.toytf_formulas


def collect(app, doctree):
    _formulas(app.env)[app.env.docname] = {
        (node.astext(), isinstance(node, nodes.math_block))
        for kind in (nodes.math, nodes.math_block)
        for node in doctree.findall(kind)
    }


def forget(app, env, docname):
    _formulas(env).pop(docname, None)


def merge(app, env, docnames, other):
    found = _formulas(other)
    _formulas(env).update({name: found[name] for name in docnames if name in found})


def convert(app, env):
    """Set all formulas, or say what is wrong with each; write styles with the font."""
    if app.builder.format != "html":
        return
    problems, used = [], {}
    for docname, formulas in sorted(_formulas(env).items()):
        for tex, display in sorted(formulas):
            try:
                characters = toytf_mathfont.characters(element(tex, display))
            except FormulaError as error:
                problems.append(f"{docname}: {error}")
            else:
                used |= {
                    char: f"{docname}: no {char!r} in the font, needed in {tex}"
                    for char in characters
                }
    font, missing = toytf_mathfont.font("".join(sorted(used)))
    problems += [used[char] for char in sorted(missing)]
    if problems:
        problems.insert(0, "formulas that cannot be set:")
        raise ExtensionError("\n".join(problems), modname="toytf_formulas")
    static = Path(app.outdir, "_static")
    static.mkdir(parents=True, exist_ok=True)
    (static / STYLES).write_text(styles(font), "utf-8", newline="\n")
    (static / LICENCE).write_text(toytf_mathfont.licence(), "utf-8", newline="\n")


def styles(font):
    """The styles of formulas.

    The font is inside: who has them can draw, also from a disk, where a browser refuses
    to fetch a font ahead.
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
    if app.builder.format == "html" and _formulas(app.env).get(pagename):
        app.builder.add_css_file(STYLES, onload=DECODE)
        app.builder.add_js_file("formulas.js", defer="defer")


def choose(app, config):
    config.html_math_renderer = "toytf"


def setup(app):
    app.add_html_math_renderer("toytf", (visit_inline, None), (visit_display, None))
    app.connect("config-inited", choose)
    app.connect("doctree-read", collect)
    app.connect("env-purge-doc", forget)
    app.connect("env-merge-info", merge)
    app.connect("env-updated", convert)
    app.connect("html-page-context", add_styles)
    return {"env_version": 1, "parallel_read_safe": True, "parallel_write_safe": True}
