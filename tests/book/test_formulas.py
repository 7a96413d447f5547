"""Formulas, set when the book is built: what the MathML says, and how Chromium draws it.

Two things are compared that know nothing of each other: math-core with latex2mathml (the same signs), and the MathML
with the boxes that the browser makes of it.
"""

import functools
import html
import io
import re
import subprocess
import sys
import unicodedata

import latex2mathml.converter
import pytest
import toytf_formulas
import toytf_mathfont
from fontTools.ttLib import TTFont
from toytf_formulas import element, mathml

from bookcheck.reading import ROOT

TEXTS = sorted([*ROOT.glob("book/*.md"), *ROOT.glob("book/chapters/*.md"), *ROOT.glob("book/pages/*.md")])


@functools.cache
def book_formulas():
    """The formulas of all texts: (TeX, displayed)."""
    found = set()
    for path in TEXTS:
        text = re.sub(r"```.*?```|`[^`\n]*`", "", path.read_text("utf-8"), flags=re.DOTALL)
        found |= {(tex, True) for tex in re.findall(r"\$\$(.+?)\$\$", text, re.DOTALL)}
        text = re.sub(r"\$\$.+?\$\$", "", text, flags=re.DOTALL)
        found |= {(tex, False) for tex in re.findall(r"(?<![\\\w])\$([^$]+?)\$", text)}
    return sorted(found)


# --- TeX becomes MathML -------------------------------------------------------------------------

ALIKE = {"−": "-", "⋅": "·", "″": "′′", "‴": "′′′", "⋯": "…", "···": "…", "...": "…", "¯": "‾", "―": "‾", "'": "′"}


def signs(text):
    """The signs of a formula, in any order: one engine has the upper limit first, the other the lower."""
    text = re.sub(r"[\s\u2061-\u2064\u200b&]", "", html.unescape(text))
    for one, other in ALIKE.items():
        text = text.replace(one, other)
    return sorted(unicodedata.normalize("NFKC", text))


def read_unlike(formulas):
    """The formulas in which another engine reads other signs."""
    found = []
    for tex, display in formulas:
        # it prints the distance of a row, too
        other = latex2mathml.converter.convert(re.sub(r"\\\\\[[^\]]*\]", r"\\\\", tex))
        if signs("".join(element(tex, display).itertext())) != signs(re.sub(r"<[^>]*>", "", other)):
            found.append(tex)
    return found


def test_another_engine_reads_the_same_signs_in_every_formula(monkeypatch):
    assert len(book_formulas()) > 900
    assert read_unlike(book_formulas()) == []
    right = latex2mathml.converter.convert
    monkeypatch.setattr(latex2mathml.converter, "convert", lambda tex: right(tex.replace("+", "")))
    assert read_unlike([("a + b", False)]) == ["a + b"]


def test_a_row_that_begins_with_a_sign_has_a_term_before_it_and_no_distance_is_printed():
    rows = element(r"\begin{aligned} a = {} & b \\[4pt] & + c \end{aligned}", True).findall(".//mtr")
    assert ["".join(row.itertext()) for row in rows] == ["a=b", "+c"]
    assert (rows[1][1][0].text, rows[1][1][0].get("form")) == ("+", "infix")


# --- The font -----------------------------------------------------------------------------------


@functools.cache
def book_characters():
    return "".join(sorted(set().union(*(toytf_mathfont.characters(element(*formula)) for formula in book_formulas()))))


@functools.cache
def book_font():
    return toytf_mathfont.font(book_characters())


def test_the_font_has_every_character_that_is_used_and_hardly_another():
    font, missing = book_font()
    assert missing == set() and len(font) < 25_000
    names = TTFont(io.BytesIO(font)).getBestCmap()
    assert set(map(chr, names)) == set(book_characters())
    assert toytf_mathfont.font("a我")[1] == {"我"}
    prime = TTFont(io.BytesIO(font))["glyf"][names[ord("′")]]
    assert prime.yMax - prime.yMin > 400  # a small one, made smaller, is a dot


def test_letters_are_looked_up_as_the_browser_draws_them():
    math = element(r"x_h + \Delta \beta \sin \text{a b} \sqrt{2}", False)
    assert toytf_mathfont.characters(math) == set("𝑥ℎ+Δ𝛽sinab\u00a0√2")


def test_the_font_has_another_name_and_its_licence_beside_it():
    names = TTFont(io.BytesIO(book_font()[0]))["name"]
    assert {names.getDebugName(number) for number in (1, 4)} == {toytf_mathfont.NAME}
    assert "STIX" not in "".join(names.getDebugName(number) for number in (1, 3, 4, 6))
    licence = toytf_mathfont.licence()
    assert names.getDebugName(0) in licence and "PERMISSION & CONDITIONS" in licence


# --- What Chromium draws ------------------------------------------------------------------------


def body_of(tex, display):
    if display:
        return f'<div class="math">{mathml(tex, True)}</div>'
    return f'<span class="math{" long" if toytf_formulas.is_long(tex) else ""}">{mathml(tex, False)}</span>'


@pytest.fixture(scope="module")
def draw(browser):
    """Draw a formula at 20 px a letter; returns the page."""
    context = browser.new_context(viewport={"width": 800, "height": 600})
    font_styles = toytf_formulas.styles(toytf_mathfont.font(book_characters() + "}¯")[0])
    scripts = [(ROOT / "book" / "_assets" / name).read_text("utf-8") for name in ("toytf.js", "formulas.js")]

    def drawn(tex, display=True, styles="", before="", after=""):
        page = context.new_page()
        page.set_content(
            f"<!doctype html><style>{font_styles} body {{ margin: 0; font: 20px/1.5 sans-serif }} "
            f"math {{ font-size: 20px }} {styles}</style>"
            f"<article><section><p>{before}{body_of(tex, display)}{after}</p></section></article>"
            f"<script>{''.join(scripts)}</script>"
        )
        page.evaluate("document.fonts.ready")
        return page

    yield drawn
    context.close()


# Whether brackets are as tall as the table between them, narrow, and close to it.
BRACKETS_HOLD = """() => {
    const [left, right, table] = ["mo", "mo:last-child", "mtable"].map(one =>
        document.querySelector(one).getBoundingClientRect());
    return [left, right].every(({ height }) => height >= 0.95 * table.height)
        && left.width + right.width < 0.8 * 20 && Math.abs(left.right - table.left) < 3;
}"""
MATRIX = r"\begin{bmatrix} 1 & 2 \\ 3 & 4 \\ 5 & 6 \\ 7 & 8 \\ 9 & 0 \end{bmatrix}"


def test_brackets_are_as_tall_as_their_matrix_and_close_to_it(draw):
    for tex in MATRIX, MATRIX.replace("bmatrix", "pmatrix"), r"\left\{ \begin{matrix} 1 \\ 2 \end{matrix} \right\}":
        assert draw(tex).evaluate(BRACKETS_HOLD), tex
    assert not draw(MATRIX, styles="math { font-family: sans-serif !important }").evaluate(BRACKETS_HOLD)


# --- On a page ----------------------------------------------------------------------------------

LONG = "x_1 + x_2 + x_3 + x_4 + x_5 + x_6 + x_7 + x_8 + x_9 + y_1 + y_2 + y_3 + y_4 + y_5"


@pytest.mark.parametrize("display, box", [(False, "span.long"), (True, "div.math")])
def test_a_long_formula_scrolls_in_its_box_and_can_be_reached(draw, display, box):
    page = draw(LONG, display, before="Here ", after=" ends.")
    assert page.locator(box).get_attribute("tabindex") is None
    page.set_viewport_size({"width": 320, "height": 600})
    page.locator(f"{box}[tabindex='0']").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") == 320
    assert page.locator("math mi").first.bounding_box()["x"] >= 0
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    page.wait_for_function(f"document.querySelector('{box}').scrollLeft > 0")


COPIED = """([first, start, last, end]) => {
    const text = document.querySelector("p").firstChild;
    const at = one => one === "text" ? text : document.querySelector(one);
    getSelection().setBaseAndExtent(at(first), start, at(last), end);
    const clipboardData = new DataTransfer();
    const ours = new ClipboardEvent("copy", { clipboardData, cancelable: true, bubbles: true });
    return document.body.dispatchEvent(ours) ? "" : clipboardData.getData("text/plain");
}"""


def test_a_copied_formula_is_its_tex(draw):
    page = draw(r"\sqrt{d_k} < 2", display=False, before="Divide by ", after=" here.")
    assert page.evaluate(COPIED, ["p", 0, "p", 3]) == r"Divide by $\sqrt{d_k} < 2$ here."
    assert page.evaluate(COPIED, ["text", 7, "mi", 0]) == r"by $\sqrt{d_k} < 2$"
    assert page.evaluate(COPIED, ["text", 0, "text", 6]) == ""  # the browser's own business
    assert draw("a").evaluate(COPIED, ["article", 0, "article", 1]).strip() == "$$a$$"


# --- In Sphinx ----------------------------------------------------------------------------------

CONF = f"""\
import sys
sys.path.append({str(ROOT / "book" / "_ext")!r})
extensions = ["myst_parser", "toytf_formulas"]
myst_enable_extensions = ["dollarmath", "amsmath"]
html_static_path = [{str(ROOT / "book" / "_assets" / "formulas.js")!r}]
project = "Small"
html_theme = "basic"
"""
PAGE = "# First\n\nIn the line $x < y$: {eq}`root`.\n\n$$\n\\sqrt{d_k} = 2\n$$ (root)\n\n```{toctree}\nsecond\n```\n"
SECOND = "# Second\n\nNo formula.\n"


def sphinx(folder, second=SECOND):
    for name, text in {"conf.py": CONF, "index.md": PAGE, "second.md": second}.items():
        (folder / name).write_text(text, "utf-8")
    command = [sys.executable, "-m", "sphinx", "-b", "html", str(folder), str(folder / "html")]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8")


def test_a_page_has_its_formulas_set_and_only_such_a_page_asks_for_their_styles(tmp_path):
    result = sphinx(tmp_path)
    assert result.returncode == 0, result.stderr
    page, *others = ((tmp_path / "html" / f"{name}.html").read_text("utf-8") for name in ("index", "second", "search"))
    assert page.count("<math") == page.count("</math>") == 2 and 'href="#equation-root">(1)</a>' in page
    assert "formulas.css?v=" in page and "formulas.js?v=" in page
    assert not [other for other in others if "formulas." in other]
    static = tmp_path / "html" / "_static"
    assert "SIL OPEN FONT LICENSE" in (static / toytf_formulas.LICENCE).read_text("utf-8")


def test_a_mistake_ends_the_build_and_names_the_page_and_the_formula(tmp_path):
    result = sphinx(tmp_path, SECOND + "\n$a + \\planted$ $a_1_2$\n\n$\\text{我}$\n")
    assert result.returncode != 0
    assert r'second: 4: Unknown command "\planted". in a + \planted' in result.stderr
    assert "second: 3: Duplicate subscript" in result.stderr
    assert r"second: no '我' in the font, needed in \text{我}" in result.stderr
