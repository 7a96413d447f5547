r"""The mathematics font of the pages: of STIX Two Math, the glyphs that are used.

    woff2, missing = font("∑√𝑥")

A browser sets MathML with a font that has a MATH table: the sizes of brackets and roots, and where to put what stands
above and below. The whole font has 1.5 MB, what a book uses of it 16 kB. It is taken from an installed package, not
from a copy here.
"""

import io
from importlib import metadata
from unicodedata import decomposition

from fontTools import subset
from fontTools.ttLib import TTFont

# It is a part of another font, and changed: so it has a name of its own.
NAME = "Toytf Math"
# Chromium gives a bracket that grows the width of its widest size: matrices stood in wide gaps. Here sizes are dropped
# from `TALLEST` on, where parts are put together instead, and all sizes get one width. For each: that width, where the
# ink begins, and how wide it may be, in thousandths of the type size.
TALLEST = 2400
NARROW = {
    "(": (370, 50, 285),
    ")": (370, 35, 285),
    "[": (370, 95, 240),
    "]": (370, 45, 240),
    "{": (370, 30, 305),
    "}": (370, 45, 305),
    "√": (794, 18, 811),
}
# A single letter in `mi` is italic: from "x" to "𝑥", from "α" to "𝛼".
ITALIC = {
    chr(int(decomposition(chr(code)).split()[1], 16)): chr(code)
    for code in [*range(0x1D434, 0x1D468), *range(0x1D6E2, 0x1D71C)]
    if decomposition(chr(code))
} | {"h": "ℎ"}
# Function application and its like, and what selects a shape: nothing is drawn.
INVISIBLE = set("\u2061\u2062\u2063\u2064\ufe00\ufe01\n")
OFL = "SIL OPEN FONT LICENSE Version 1.1"
OFL_ENDS = "OTHER DEALINGS IN THE FONT SOFTWARE."


def characters(math):
    """The characters that a browser looks up in the font to draw a `math` element."""
    found = set()
    for element in math.iter():
        text = element.text or ""
        if element.tag == "mi" and len(text) == 1 and element.get("mathvariant") != "normal":
            text = ITALIC.get(text, text)
        found |= set(text + "√" * (element.tag in {"msqrt", "mroot"}))
    return found - INVISIBLE


def source():
    return metadata.distribution("ziamath").locate_file("ziamath/fonts/STIXTwoMath-Regular.ttf")


def licence():
    """What lies beside the font: whose it is, and the SIL Open Font License in full."""
    names, package = TTFont(source())["name"], metadata.distribution("fonttools")
    path = next(file for file in package.files if file.name == "LICENSE.external")
    text = package.locate_file(path).read_text("utf-8")
    text = text[text.index(OFL) : text.index(OFL_ENDS) + len(OFL_ENDS)]
    return f"""\
{names.getDebugName(0)}

The font {NAME} is a part of {names.getDebugName(4)}, {names.getDebugName(5)}: the
glyphs that these pages use; tall brackets and roots were made narrower. It is licensed
under the SIL Open Font License, Version 1.1.

-----------------------------------------------------------
{text}
"""


def font(text):
    """The font with all characters of `text`, and all sizes of those that grow.

    Returns it as WOFF2, the same bytes for the same characters, and the set of the characters that it lacks.
    """
    whole = TTFont(source(), recalcTimestamp=False)
    wanted = {char for char in text if ord(char) in whole.getBestCmap()}
    for names in (table.cmap for table in whole["cmap"].tables if ord("‾") in table.cmap):
        for code in map(ord, "′″‴⁗"):  # made for superscripts; Firefox alone would look for it
            names[code] = names[code].removesuffix(".ssty") + ".ssty"
        names[ord("‾")] = names[ord("_")]  # browsers agree where to put this one
    _narrow(whole, wanted)

    options = subset.Options()
    options.layout_features = []  # the MATH table is none of them
    options.bidi_closure = False  # nothing is written from right to left
    options.hinting = False
    options.notdef_outline = True
    options.drop_tables += ["DSIG", "GPOS", "GSUB", "GDEF"]
    options.name_IDs = [0, 1, 2, 3, 4, 5, 6, 13, 14]
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=[ord(char) for char in wanted])
    subsetter.subset(whole)

    for record in whole["name"].names:
        if record.nameID in {1, 3, 4, 6}:  # 6 is for PostScript, without spaces
            record.string = NAME.replace(" ", "") if record.nameID == 6 else NAME
    whole.flavor = "woff2"
    file = io.BytesIO()
    whole.save(file)
    return file.getvalue(), set(text) - wanted


def _narrow(whole, wanted):
    """Drop the tallest sizes of brackets and roots; make the others as in `NARROW`."""
    variants, known, outlines = whole["MATH"].table.MathVariants, whole.getBestCmap(), whole["glyf"]
    growing = dict(zip(variants.VertGlyphCoverage.glyphs, variants.VertGlyphConstruction, strict=True))
    for char in sorted(wanted & set(NARROW)):
        width, left, ink = NARROW[char]
        record = growing[known[ord(char)]]
        sizes = [size for size in record.MathGlyphVariantRecord if size.AdvanceMeasurement < TALLEST]
        record.MathGlyphVariantRecord, record.VariantCount = sizes, len(sizes)
        # the bracket of the text, which is the first size, stays as it is; parts are pressed together, as one
        together = [{size.VariantGlyph} for size in sizes[1:]]
        for names in [*together, {part.glyph for part in record.GlyphAssembly.PartRecords}]:
            start, stop = min(outlines[name].xMin for name in names), max(outlines[name].xMax for name in names)
            for name in names:
                glyph = outlines[name]
                glyph.coordinates.translate((-start, 0))
                glyph.coordinates.scale((min(1, ink / (stop - start)), 1))
                glyph.coordinates.translate((left, 0))
                glyph.coordinates.toInt()
                glyph.recalcBounds(outlines)
                whole["hmtx"][name] = (width, glyph.xMin)
