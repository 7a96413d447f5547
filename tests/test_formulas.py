"""Formulas, set when the book is built: what the MathML says, and how Chromium draws it.

Two things are compared that know nothing of each other: math-core with latex2mathml (the same
signs), and the MathML with the boxes that the browser makes of it.
"""

import base64
import functools
import hashlib
import html
import io
import os
import random
import re
import subprocess
import sys
import unicodedata
import xml.etree.ElementTree as ET
import zipfile
from pathlib import Path

import latex2mathml.converter
import pytest
from fontTools.ttLib import TTFont
from markdown_it.renderer import RendererHTML
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser
from PIL import Image

import sitecheck

ROOT = Path(__file__).resolve().parent.parent
EXTENSION = ROOT / "book" / "_ext"
sys.path.append(str(EXTENSION))

import toytf_formulas  # noqa: E402
import toytf_mathfont  # noqa: E402
from toytf_formulas import FormulaError, element, mathml  # noqa: E402

TEXTS = sorted([*ROOT.glob("book/*.md"), *ROOT.glob("book/chapters/*.md"), *ROOT.glob("book/pages/*.md")])
DISPLAY = {"math_block", "math_block_label", "amsmath"}


def formulas_in(markdown):
    """The formulas of a text, also those in its directives: (TeX, displayed)."""
    config = MdParserConfig(enable_extensions={"dollarmath", "amsmath", "colon_fence"})
    parser = create_md_parser(config, RendererHTML)
    tokens = parser.parse(markdown)
    while tokens:
        token = tokens.pop()
        tokens += token.children or []
        if token.type in {"math_inline", "math_inline_double"}:
            yield token.content, False
        elif token.type in DISPLAY:
            yield token.content, True
        elif token.type in {"colon_fence", "fence"} and token.info.startswith("{") and "code" not in token.info:
            tokens += parser.parse(token.content)


@functools.cache
def book_formulas():
    return sorted({formula for path in TEXTS for formula in formulas_in(path.read_text("utf-8"))})


# --- TeX becomes MathML -------------------------------------------------------------------------


def test_every_formula_of_the_book_is_set():
    assert len(book_formulas()) > 900
    for tex, display in book_formulas():
        ET.fromstring(mathml(tex, display))


ALIKE = {"−": "-", "⋅": "·", "″": "′′", "‴": "′′′", "⋯": "…", "···": "…", "...": "…", "¯": "‾", "―": "‾", "'": "′"}


def signs(text):
    """The signs of a formula, in any order: one engine has the upper limit first, the other the lower."""
    text = re.sub(r"[\s\u2061-\u2064\u200b&]", "", html.unescape(text))
    for one, other in ALIKE.items():
        text = text.replace(one, other)
    return sorted(unicodedata.normalize("NFKC", text))


def signs_by(engine, tex, display):
    if engine == "ours":
        return signs("".join(element(tex, display).itertext()))
    # it prints the distance of a row, too
    tex = re.sub(r"\\\\\[[^\]]*\]", r"\\\\", tex)
    return signs(re.sub(r"<[^>]*>", "", latex2mathml.converter.convert(tex)))


def test_another_engine_reads_the_same_signs_in_every_formula():
    unlike = [tex for tex, display in book_formulas() if len({*map(tuple, both(tex, display))}) > 1]
    assert not unlike


def both(tex, display):
    return [signs_by(engine, tex, display) for engine in ("ours", "theirs")]


def test_a_sign_that_is_lost_is_seen_by_the_other_engine(monkeypatch):
    right = toytf_formulas._converter()

    class Loses:
        def convert_with_local_state(self, tex, displaystyle):
            return right.convert_with_local_state(tex.replace("+", ""), displaystyle=displaystyle)

    monkeypatch.setattr(toytf_formulas, "_converter", Loses)
    toytf_formulas.element.cache_clear()
    ours, theirs = both("a + b", False)
    toytf_formulas.element.cache_clear()
    assert ours != theirs


@pytest.mark.parametrize(
    "tex, words",
    [
        (r"a + \planted{b}", r'Unknown command "\planted". (at character 4) in a + \planted{b}'),
        (r"\frac{1}", "Expected argument"),
        (r"\begin{planted} a \end{planted}", 'Unknown environment "planted"'),
        (r"\left( a", r"\right"),
        ("{a", '"}"'),
        ("a & b", '"&"'),
        ("a_1_2", "Duplicate subscript"),
        (r"a \\ b", r"expected \\ in an environment or a displayed formula, got it in the line: a \\ b"),
        (r"\begin{aligned} a \\[four] b \end{aligned}", r"expected a distance such as [4pt] after \\, got [four]"),
        (r"\begin{aligned} a \\[-4pt] b \end{aligned}", r"got [-4pt]"),
    ],
)
def test_a_mistake_is_refused_and_named(tex, words):
    with pytest.raises(FormulaError) as error:
        mathml(tex, False)
    assert words in str(error.value)


def test_the_tex_goes_along_as_an_annotation():
    math = ET.fromstring(mathml(" a < b & c ".replace("&", r"\&"), False))
    assert [child.tag for child in math[0]] == ["mrow", "annotation"]
    assert math.find("semantics/annotation").text == r"a < b \& c"
    assert math.find("semantics/annotation").get("encoding") == "application/x-tex"


def test_a_displayed_formula_is_a_block_and_others_are_not():
    assert mathml("a", True).startswith('<math display="block">')
    assert mathml("a", False).startswith("<math><semantics><mi>a</mi>")


def test_the_distance_of_a_row_is_kept_and_not_printed():
    math = element(r"\begin{aligned} a &= b \\[4pt] - c &= d \\ e &= f \end{aligned}", True)
    rows = math.findall(".//mtr")
    assert ["".join(row.itertext()) for row in rows] == ["a=b", "−c=d", "e=f"]
    assert ["4pt" in cell.get("style", "") for row in rows for cell in row] == [False, False, True, True, False, False]


def test_rows_without_an_environment_and_formulas_between_empty_lines_are_aligned():
    for tex in (r"a &= b \\ c &= d", "a &= b\n\nc &= d"):
        assert [len(row) for row in element(tex, True).findall("mtable/mtr")] == [2, 2]


@pytest.mark.parametrize("name", ["align", "align*", "gather", "equation", "multline*", "split"])
def test_environments_of_a_whole_display_are_set_and_print_no_number(name):
    tex = rf"\begin{{{name}}} \label{{here}} a = b \end{{{name}}}"
    assert "".join(element(tex, True).itertext()) == "a=b"


def test_a_row_that_begins_with_a_sign_has_a_term_before_it():
    sign = element(r"\begin{aligned} a = {} & b \\ & + c \end{aligned}", True).findall(".//mtr")[1][1][0]
    assert (sign.text, sign.get("form")) == ("+", "infix")
    alone = element(r"\begin{bmatrix} 1 & -\sin b \end{bmatrix}", True).findall(".//mtd")[1][0]
    assert (alone.text, alone.get("form")) == ("−", None)


# --- The font -----------------------------------------------------------------------------------


@functools.cache
def book_characters():
    return "".join(sorted(set().union(*(toytf_mathfont.characters(element(*formula)) for formula in book_formulas()))))


@functools.cache
def book_font():
    return toytf_mathfont.font(book_characters())


def test_the_font_has_every_character_that_is_used_and_hardly_another():
    font, missing = book_font()
    assert missing == set()
    assert set(map(chr, TTFont(io.BytesIO(font)).getBestCmap())) == set(book_characters())


def test_the_font_is_small():
    assert len(book_font()[0]) < 25_000


def test_a_character_that_the_font_lacks_is_named():
    assert toytf_mathfont.font("a我")[1] == {"我"}


def test_letters_are_looked_up_as_the_browser_draws_them():
    def looked_up(tex):
        return toytf_mathfont.characters(element(tex, False))

    assert looked_up(r"x_h + \Delta") == set("𝑥ℎ+Δ")
    assert looked_up(r"\beta \sin 2") == {"𝛽", *"sin2"}
    assert looked_up(r"\text{a b}") == {"a", "b", "\u00a0"}
    assert looked_up(r"\sqrt{2}") == {"√", "2"}


def test_brackets_and_roots_are_equally_wide_at_all_sizes_and_keep_some():
    font = TTFont(io.BytesIO(toytf_mathfont.font("()[]{}√")[0]))
    variants = font["MATH"].table.MathVariants
    names = font.getBestCmap()
    for char, (width, _left, ink) in toytf_mathfont.NARROW.items():
        index = variants.VertGlyphCoverage.glyphs.index(names[ord(char)])
        record = variants.VertGlyphConstruction[index]
        taller = [size.VariantGlyph for size in record.MathGlyphVariantRecord][1:]
        parts = [part.glyph for part in record.GlyphAssembly.PartRecords]
        assert len(taller) >= 2 and len(parts) >= 3
        for name in taller + parts:
            box = font["glyf"][name]
            assert font["hmtx"][name][0] == width
            assert box.xMax - box.xMin <= ink + 1


def test_the_font_has_another_name_and_its_licence_beside_it():
    names = TTFont(io.BytesIO(book_font()[0]))["name"]
    assert {names.getDebugName(number) for number in (1, 4)} == {toytf_mathfont.NAME}
    assert "STIX" not in "".join(names.getDebugName(number) for number in (1, 3, 4, 6))
    licence = toytf_mathfont.licence()
    assert names.getDebugName(0) in licence
    assert "SIL OPEN FONT LICENSE Version 1.1 - 26 February 2007" in licence
    assert "PERMISSION & CONDITIONS" in licence and licence.endswith("DEALINGS IN THE FONT SOFTWARE.\n")


def test_the_styles_are_the_same_every_time():
    text = list(book_characters())
    random.Random(0).shuffle(text)
    assert toytf_mathfont.font("".join(text))[0] == book_font()[0]
    code = (
        "import hashlib, toytf_formulas as f, toytf_mathfont as m\n"
        r"x = f.element(r'\begin{bmatrix} \sqrt{x} & \alpha \end{bmatrix}', True)" + "\n"
        "s = f.mathml('a + b', True) + f.styles(m.font(m.characters(x))[0])\n"
        "print(hashlib.sha256(s.encode()).hexdigest())"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONPATH": str(EXTENSION), "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(said) == 1 and len(said.pop().strip()) == hashlib.sha256().digest_size * 2


# --- What Chromium draws ------------------------------------------------------------------------


def body_of(tex, display):
    math = mathml(tex, display)
    if display:
        return f'<div class="math">{math}</div>'
    long = " long" if toytf_formulas.is_long(element(tex, display)) else ""
    return f'<span class="math{long}">{math}</span>'


@pytest.fixture(scope="module")
def draw(browser):
    """Draw formulas at 20 px a letter; returns the page, with `box(selector)` for what was drawn."""
    context = browser.new_context(viewport={"width": 800, "height": 600})

    def drawn(tex, display=True, styles="", before="", after=""):
        page = context.new_page()
        pages.append(page)
        scripts = [(ROOT / "book" / "_assets" / name).read_text("utf-8") for name in ("toytf.js", "formulas.js")]
        page.set_content(
            f"<!doctype html><style>{font_styles} body {{ margin: 0; font: 20px/1.5 sans-serif }} "
            f"math {{ font-size: 20px }} {styles}</style>"
            f"<article><section><p>{before}{body_of(tex, display)}{after}</p></section></article>"
            f"<script>{''.join(scripts)}</script>"
        )
        page.evaluate("document.fonts.ready")
        return page

    pages = []
    font_styles = toytf_formulas.styles(toytf_mathfont.font(book_characters() + "}¯")[0])
    yield drawn
    context.close()


def boxes(page, selector):
    """Left, top, right and bottom of each element, in order."""
    return page.evaluate(
        """selector => [...document.querySelectorAll(selector)].map(element => {
            const { left, top, right, bottom } = element.getBoundingClientRect();
            return [left, top, right, bottom];
        })""",
        selector,
    )


def height(box):
    return box[3] - box[1]


def width(box):
    return box[2] - box[0]


def aligned(page):
    """Whether the columns of the outer table end and begin at the same places in all rows."""
    left, right = zip(*zip(*[iter(boxes(page, "semantics > mtable > mtr > mtd"))] * 2, strict=True), strict=True)
    inks = [boxes(page, f"semantics > mtable > mtr > mtd:nth-child({column}) > *") for column in (1, 2)]
    ends = [max(box[2] for box in inks[0] if cell[1] <= box[1] <= cell[3]) for cell in left]
    starts = [min(box[0] for box in inks[1] if cell[1] <= box[1] <= cell[3]) for cell in right]
    return max(ends) - min(ends) < 1 and max(starts) - min(starts) < 1


ALIGNED = r"\begin{aligned} a + b + c &= d \\ e &= f + g + h \\[10pt] i &= \frac{j}{k} \end{aligned}"


def test_aligned_columns_meet_at_the_sign(draw):
    assert aligned(draw(ALIGNED))


def test_columns_that_do_not_meet_are_seen(draw):
    assert not aligned(draw(ALIGNED, styles="mtd { text-align: center !important; justify-items: center !important }"))


def test_a_row_with_a_distance_stands_lower(draw):
    def gaps(tex):
        tops = [box[1] for box in boxes(draw(tex), "mtr > mtd:first-child > *")]
        return [b - a for a, b in zip(tops, tops[1:], strict=False)]

    plain = gaps(r"\begin{aligned} a \\ b \\ c \end{aligned}")
    moved = gaps(r"\begin{aligned} a \\[12pt] b \\ c \end{aligned}")
    assert moved[0] - plain[0] == pytest.approx(16, abs=0.5)  # 12 pt
    assert moved[1] == pytest.approx(plain[1], abs=0.5)


MATRIX = r"\begin{bmatrix} 1 & 2 \\ 3 & 4 \\ 5 & 6 \\ 7 & 8 \\ 9 & 0 \end{bmatrix}"


def brackets_hold(page):
    """Whether a pair of brackets is as tall as the table between them, and close to it."""
    (left, right), (table,) = boxes(page, "mo"), boxes(page, "mtable")
    return (
        height(left) >= 0.95 * height(table)
        and height(right) >= 0.95 * height(table)
        and width(left) + width(right) < 0.8 * 20
        and abs(left[2] - table[0]) < 3
    )


@pytest.mark.parametrize(
    "tex", [MATRIX, r"\begin{pmatrix} 1 \\ 2 \end{pmatrix}", r"\left\{ \begin{matrix} 1 \\ 2 \end{matrix} \right\}"]
)
def test_brackets_are_as_tall_as_their_matrix_and_close_to_it(draw, tex):
    assert brackets_hold(draw(tex))


def test_brackets_that_do_not_grow_are_seen(draw):
    assert not brackets_hold(draw(MATRIX, styles="math { font-family: sans-serif !important }"))


def test_columns_of_a_matrix_stand_apart_and_its_rows_below_each_other(draw):
    cells = boxes(draw(r"\begin{bmatrix} 10 & 2 \\ 3 & 40 \end{bmatrix}"), "mn")
    middles = [(box[0] + box[2]) / 2 for box in cells]
    assert middles[0] == pytest.approx(middles[2], abs=1) and middles[1] == pytest.approx(middles[3], abs=1)
    assert cells[1][0] - cells[0][2] > 10
    assert cells[2][1] > cells[0][3]


def test_a_bracket_grows_where_it_is_told_to_and_nowhere_else(draw):
    def parentheses(tex):
        return {round(height(box)) for box in boxes(draw(tex), "mo")}

    (small,) = parentheses(r"(x)")
    (large,) = parentheses(r"\left(\frac{x}{y}\right)")
    (big,) = parentheses(r"\big(x\big)")
    (bigger,) = parentheses(r"\Big(x\Big)")
    assert small < big < bigger and small < large
    assert parentheses(r"(\frac{x}{y})") == {small}


def test_a_root_covers_what_it_is_of_and_no_more(draw):
    page = draw(r"[\sqrt{d_k}]")
    (root,), (inside,) = boxes(page, "msqrt"), boxes(page, "msqrt > *")
    assert 0.7 * 20 < width(root) - width(inside) < 0.9 * 20
    tall = draw(r"\sqrt{\frac{1}{d} \sum_i x_i}")
    assert height(boxes(tall, "msqrt")[0]) > height(boxes(tall, "mfrac")[0])


def ink(page, left, top, right, bottom):
    """What is drawn in a part of the page, as a box; a growing sign has no such box of its own."""
    clip = {"x": left, "y": top, "width": right - left, "height": bottom - top}
    picture = Image.open(io.BytesIO(page.screenshot(clip=clip))).convert("L").point(lambda grey: 255 * (grey < 160))
    box = picture.getbbox()
    return (left + box[0], top + box[1], left + box[2], top + box[3])


def test_an_overline_is_above_and_as_wide_as_what_it_covers(draw):
    page = draw(r"\overline{dw^2}")
    (over,), (inside, _line) = boxes(page, "mover"), boxes(page, "mover > *")
    assert width(over) == pytest.approx(width(inside), rel=0.1)
    line = ink(page, over[0] - 3, over[1] - 4, over[2] + 3, over[1] + 3)
    assert width(line) == pytest.approx(width(inside), abs=2)
    assert height(line) < 4


def test_an_overline_that_does_not_grow_is_seen(draw):
    page = draw(r"\bar{dw^2}")
    (over,), (inside, _line) = boxes(page, "mover"), boxes(page, "mover > *")
    assert width(ink(page, over[0] - 3, over[1] - 4, over[2] + 3, over[1] + 3)) < width(inside) / 2


def test_a_brace_below_is_as_wide_as_its_terms_and_has_words_below(draw):
    page = draw(r"\underbrace{a + b + c + d}_{\text{four}}")
    (terms, _brace), (words,) = boxes(page, "munder > munder > *"), boxes(page, "mtext")
    brace = ink(page, terms[0] - 10, terms[3], terms[2] + 10, words[1] + 2)
    assert width(brace) == pytest.approx(width(terms), abs=3)
    assert 3 < height(brace) < 20
    assert words[0] + words[2] == pytest.approx(terms[0] + terms[2], abs=2)


def test_the_brace_of_cases_holds_all_rows(draw):
    page = draw(r"\begin{cases} a & \text{where } b \\ c & \text{where } d \\ e & \text{else} \end{cases}")
    brace, (table,) = boxes(page, "mo")[0], boxes(page, "mtable")
    assert height(brace) >= 0.95 * height(table)
    firsts = boxes(page, "mtd:nth-child(2) > *:first-child")
    assert max(box[0] for box in firsts) - min(box[0] for box in firsts) < 1


def test_a_sum_has_its_limits_below_in_a_display_and_beside_in_the_line(draw):
    (display, _, limit), *_ = [boxes(draw(r"\sum_i x"), "munder, munder > *")]
    assert limit[1] > display[1] + 20
    line_sum, line_limit = boxes(draw(r"\sum_i x", display=False), "munder > *")
    assert line_limit[0] >= line_sum[2] - 6 and line_limit[1] < line_sum[3]


def test_a_fraction_is_small_in_the_line_and_large_by_choice(draw):
    def tall(tex):
        return height(boxes(draw(tex, display=False), "mfrac")[0])

    assert tall(r"\tfrac{1}{2}") == pytest.approx(tall(r"\frac{1}{2}"))
    assert tall(r"\dfrac{1}{2}") > 1.1 * tall(r"\frac{1}{2}")


def test_a_binomial_has_no_line_between(draw):
    page = draw(r"\binom{10}{5}")
    (upper, lower) = boxes(page, "mn")
    assert lower[1] >= upper[3] - 4
    assert height(boxes(page, "mo")[0]) > 30


def test_a_prime_is_raised_once_and_as_large_as_others_set_it(draw):
    page = draw("Y' + x", display=False)
    (prime,), letter = boxes(page, "msup > mo"), boxes(page, "msup > mi")[0]
    assert prime[0] >= letter[2] - 2
    font = TTFont(io.BytesIO(toytf_mathfont.font("′")[0]))
    glyph = font["glyf"][font.getBestCmap()[ord("′")]]
    assert glyph.yMax - glyph.yMin > 400  # a small one, made smaller, is a dot


def math_advance(letter):
    """How wide a letter of the book's font is, in ems."""
    font = TTFont(io.BytesIO(toytf_mathfont.font(letter)[0]))
    return font["hmtx"][font.getBestCmap()[ord(letter)]][0] / font["head"].unitsPerEm


@pytest.mark.parametrize("tex, least, most", [("a - b", 6, 11), ("a = b", 8, 13), ("a - - b", 0, 11), ("-b", 0, 1)])
def test_a_sign_between_two_terms_has_room_and_a_sign_before_one_has_none(draw, tex, least, most):
    page = draw(tex, display=False)
    sign, term = boxes(page, "mo")[-1], boxes(page, "mi")[-1]
    # The font's own width: some browsers round what they draw to whole pixels.
    advance = 20 * math_advance(tex[-3] if "=" in tex else "−")
    inside = advance - 0.6 * 20 if "=" in tex or tex == "a - b" else 0
    assert least <= inside + term[0] - sign[2] + 0.1 <= most + 0.2


@pytest.mark.parametrize("name", [r"\cos", r"\operatorname{cos}"])
def test_names_of_functions_are_upright_and_keep_off_a_letter_but_not_a_bracket(draw, name):
    page = draw(name + r" \theta", display=False)
    word, letter = boxes(page, "math mi, math mo")[0], boxes(page, "math mi")[-1]
    assert width(word) == pytest.approx(1.4 * 20, abs=3)
    assert 2 < letter[0] - word[2] < 5
    page = draw(name + "(x)", display=False)
    word, bracket = boxes(page, "math mi, math mo")[0], boxes(page, "mo[stretchy]")[0]
    assert abs(bracket[0] - word[2]) < 1


def test_thousands_are_one_number(draw):
    signs = boxes(draw("1{,}048{,}576", display=False), "math mn, math mo")
    assert max(b[0] - a[2] for a, b in zip(signs, signs[1:], strict=False)) < 1


def test_no_formula_shows_tex_or_an_error_when_it_is_drawn(browser):
    page = browser.new_page()
    page.set_content(
        f"<!doctype html><style>{toytf_formulas.styles(book_font()[0])}</style>"
        + "".join(f"<p>{body_of(*formula)}</p>" for formula in book_formulas())
    )
    page.evaluate("document.fonts.ready")
    shown = page.evaluate(
        """() => [...document.querySelectorAll("math")].map(math => {
            const { width, height } = math.firstChild.firstChild.getBoundingClientRect();
            return [math.firstChild.firstChild.textContent, width, height, getComputedStyle(math).color];
        })"""
    )
    page.close()
    assert len(shown) == len(book_formulas())
    for (tex, _display), (text, wide, high, color) in zip(book_formulas(), shown, strict=True):
        assert not re.search(r"[\\&#~\ue000-\uf8ff]|begin|\[\d+pt", text), tex
        assert wide > 2 and high > 2, tex
        assert color == "rgb(0, 0, 0)", tex


# --- On a page ----------------------------------------------------------------------------------

LONG = "x_1 + x_2 + x_3 + x_4 + x_5 + x_6 + x_7 + x_8 + x_9 + y_1 + y_2 + y_3 + y_4 + y_5"


def test_a_long_formula_in_the_line_scrolls_in_its_box_and_can_be_reached(draw):
    page = draw(LONG, display=False, before="Here ", after=" ends.")
    assert page.locator("span.long").get_attribute("tabindex") is None
    page.set_viewport_size({"width": 320, "height": 600})
    page.locator("span.long[tabindex='0']").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") == 320
    assert page.evaluate("(e => e.scrollWidth > e.clientWidth)(document.querySelector('.long'))")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("document.querySelector('.long').scrollLeft > 0")


def test_a_long_displayed_formula_scrolls_from_its_beginning(draw):
    page = draw(LONG)
    page.set_viewport_size({"width": 320, "height": 600})
    page.locator("div.math[tabindex='0']").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") == 320
    assert boxes(page, "math mi")[0][0] >= 0


def test_a_short_displayed_formula_stands_in_the_middle(draw):
    (first, *_, last) = boxes(draw("a + b"), "mi")
    assert first[0] + last[2] == pytest.approx(800, abs=2)


def test_formulas_stand_on_the_line_of_their_text_whether_long_or_short(draw):
    for tex in ("x", LONG):
        page = draw(tex, display=False, before='<b style="font: 20px Toytf Math">x</b>')
        (bold,) = boxes(page, "b")
        letters = boxes(page, "math mi")
        page.evaluate("document.querySelector('b').outerHTML = '<math><mi>x</mi></math>'")
        assert boxes(page, "math mi")[0][3] == pytest.approx(letters[0][3], abs=1.5), (tex, bold)


def copied(page, script):
    return page.evaluate(
        """script => {
            getSelection().removeAllRanges();
            new Function(script)();
            const clipboardData = new DataTransfer();
            const event = new ClipboardEvent("copy", { clipboardData, cancelable: true, bubbles: true });
            document.body.dispatchEvent(event);
            return [event.defaultPrevented, clipboardData.getData("text/plain")];
        }""",
        script,
    )


def test_a_copied_formula_is_its_tex(draw):
    page = draw(r"\sqrt{d_k} < 2", display=False, before="Divide by ", after=" here.")
    everything = "getSelection().selectAllChildren(document.querySelector('p'))"
    assert copied(page, everything) == [True, r"Divide by $\sqrt{d_k} < 2$ here."]
    half = "getSelection().setBaseAndExtent(document.querySelector('p').firstChild, 7, document.querySelector('mi'), 0)"
    assert copied(page, half) == [True, r"by $\sqrt{d_k} < 2$"]
    words = "getSelection().setBaseAndExtent(document.querySelector('p').firstChild, 0, "
    assert copied(page, words + "document.querySelector('p').firstChild, 6)") == [False, ""]
    assert copied(draw("a", display=True), everything.replace("'p'", "'article'"))[1].strip() == "$$a$$"


# --- In Sphinx ----------------------------------------------------------------------------------

CONF = f"""\
import sys
sys.path.append({str(EXTENSION)!r})
extensions = ["myst_parser", "toytf_formulas"]
myst_enable_extensions = ["dollarmath", "amsmath"]
html_static_path = [{str(ROOT / "book" / "_assets" / "formulas.js")!r}]
project = "Small"
html_theme = "basic"
epub_show_urls = "no"
suppress_warnings = ["epub.unknown_project_files"]
"""
PAGE = r"""# First

In the line $x < y$, and in a title: [equation](#root) {eq}`root`.

$$
\sqrt{d_k} = 2
$$ (root)

\begin{align}
a &= b \\
c &= d
\end{align}

{toctree}
"""
SECOND = "# Second\n\nNo formula.\n"


def sphinx(folder, builder="html", page=PAGE, options=()):
    source = folder / "source"
    source.mkdir(exist_ok=True)
    (source / "conf.py").write_text(CONF, "utf-8")
    (source / "index.md").write_text(page.replace("{toctree}", "```{toctree}\nsecond\n```"), "utf-8")
    (source / "second.md").write_text(SECOND, "utf-8")
    command = [sys.executable, "-m", "sphinx", "-b", builder, *options, source, folder / builder]
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, encoding="utf-8")


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    folder = tmp_path_factory.mktemp("small")
    result = sphinx(folder, options=["-W", "-j", "2"])
    assert result.returncode == 0, result.stderr
    return folder / "html"


def test_a_page_has_its_formulas_set_numbered_and_linked(small):
    page = (small / "index.html").read_text("utf-8")
    assert page.count("<math") == page.count("</math>") == 3
    assert re.findall(r'<span class="eqno">\((\d)\)', page) == ["1", "2"]
    assert 'href="#equation-root">(1)</a>' in page and 'id="equation-root"' in page
    assert not re.search(r"\\\(|\\\[|\$x", re.sub("<annotation.*?</annotation>", "", page))
    assert not re.search(r"<script[^>]*mathjax|window\.MathJax", page, re.IGNORECASE)


def test_only_pages_with_formulas_ask_for_their_styles(small):
    for name, there in (("index", True), ("second", False), ("search", False)):
        page = (small / f"{name}.html").read_text("utf-8")
        assert ("formulas.css?v=" in page) == there
        assert ("formulas.js?v=" in page) == there


def test_the_font_is_decoded_before_a_formula_asks_for_it(small, browser):
    def status(page):
        without = re.sub("<math.*?</math>", "", page, flags=re.DOTALL)
        (small / "planted.html").write_text(without, "utf-8")
        with sitecheck.open_page(browser, small.as_uri(), "planted.html") as (opened, problems):
            assert not problems
            return opened.evaluate("[...document.fonts].map(font => font.status)")

    page = (small / "index.html").read_text("utf-8")
    assert status(page) == ["loaded"]
    assert status(page.replace("onload=", "data-planted=")) == ["unloaded"]


def test_the_licence_of_the_font_lies_beside_the_styles_that_hold_it(small):
    static = small / "_static"
    assert toytf_formulas.LICENCE in (static / "formulas.css").read_text("utf-8")
    assert "SIL OPEN FONT LICENSE" in (static / toytf_formulas.LICENCE).read_text("utf-8")


def test_a_second_build_of_one_changed_page_keeps_the_font_of_all(tmp_path):
    assert sphinx(tmp_path).returncode == 0
    before = (tmp_path / "html" / "_static" / "formulas.css").read_text("utf-8")
    (tmp_path / "source" / "second.md").write_text(SECOND + "\nNow it has $\\Phi$.\n", "utf-8")
    command = [sys.executable, "-m", "sphinx", "-b", "html", str(tmp_path / "source"), str(tmp_path / "html")]
    assert subprocess.run(command, capture_output=True).returncode == 0
    after = (tmp_path / "html" / "_static" / "formulas.css").read_text("utf-8")
    had, has = (characters_of(styles) for styles in (before, after))
    assert has - had == {"Φ"} and had < has


def characters_of(styles):
    data = base64.b64decode(re.search('base64,([^"]*)', styles)[1])
    return set(map(chr, TTFont(io.BytesIO(data)).getBestCmap()))


@pytest.mark.parametrize(
    "planted, words",
    [
        (r"$a + \planted$", r'second: Unknown command "\planted". (at character 4) in a + \planted'),
        ("$$\n\\frac{1}\n$$", r"second: Expected argument"),
        (r"$\text{我}$", r"second: no '我' in the font, needed in \text{我}"),
    ],
)
def test_a_mistake_ends_the_build_and_names_the_page_and_the_formula(tmp_path, monkeypatch, planted, words):
    monkeypatch.setitem(globals(), "SECOND", SECOND + "\n" + planted + "\n")
    result = sphinx(tmp_path)  # without -W
    assert result.returncode != 0
    assert words in result.stderr


def test_an_epub_is_xml_with_its_formulas(tmp_path):
    result = sphinx(tmp_path, "epub")
    assert result.returncode == 0, result.stderr
    with zipfile.ZipFile(tmp_path / "epub" / "Small.epub") as book:
        page = ET.fromstring(book.read("index.xhtml"))
    assert len(page.findall(".//{http://www.w3.org/1998/Math/MathML}math")) == 3


def test_latex_gets_the_tex_as_it_is_written(tmp_path):
    assert sphinx(tmp_path, "latex").returncode == 0
    (path,) = (tmp_path / "latex").glob("*.tex")
    assert r"\sqrt{d_k} = 2" in path.read_text("utf-8")
