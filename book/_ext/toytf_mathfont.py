r"""The mathematics font of the pages: of STIX Two Math, the glyphs that are used.

    woff2, missing = font("∑√𝑥")

A browser sets MathML with a font that has a MATH table: the sizes of brackets and
roots, and where to put what stands above and below. The whole font has 1.5 MB, what a
book uses of it 16 kB. It is taken from an installed package, not from a copy here.
"""

import io
from importlib import metadata

from fontTools import subset
from fontTools.pens.recordingPen import DecomposingRecordingPen
from fontTools.pens.transformPen import TransformPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import TTFont

# It is a part of another font, and changed: so it has a name of its own.
NAME = "Toytf Math"

# Chromium gives a bracket that grows the width of its widest size: matrices stood in
# wide gaps. Here sizes are dropped from `TALLEST` on, where parts are put together
# instead, and all sizes get one width. For each: that width, where the ink begins, and
# how wide it may be, in thousandths of the type size.
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

# A single letter in `mi` is italic; math-core marks the capitals that TeX has upright.
ITALIC = {
    **{chr(ord("A") + i): chr(0x1D434 + i) for i in range(26)},
    **{chr(ord("a") + i): chr(0x1D44E + i) for i in range(26)},
    **{chr(ord("Α") + i): chr(0x1D6E2 + i) for i in range(25)},
    **{chr(ord("α") + i): chr(0x1D6FC + i) for i in range(25)},
    **dict(zip("∂ϵϑϰϕϱϖ", map(chr, range(0x1D715, 0x1D71C)), strict=True)),
    "h": "ℎ",
}

# Function application and its like, and what selects a shape: nothing is drawn.
INVISIBLE = set("\u2061\u2062\u2063\u2064\ufe00\ufe01\n")

OFL = "SIL OPEN FONT LICENSE Version 1.1"
OFL_ENDS = "OTHER DEALINGS IN THE FONT SOFTWARE."


def characters(math):
    """The characters that a browser looks up in the font to draw a `math` element."""
    found = set()
    for element in math.iter():
        text = element.text or ""
        upright = element.get("mathvariant") == "normal"
        if element.tag == "mi" and len(text) == 1 and not upright:
            text = ITALIC.get(text, text)
        if element.tag in {"msqrt", "mroot"}:
            text += "√"
        if element.tag != "annotation":
            found |= set(text)
    return found - INVISIBLE


def source():
    """The path of the whole font."""
    package = metadata.distribution("ziamath")
    return package.locate_file("ziamath/fonts/STIXTwoMath-Regular.ttf")


def licence():
    """What lies beside the font: whose it is, and the SIL Open Font License in full."""
    names = TTFont(source())["name"]
    package = metadata.distribution("fonttools")
    path = next(file for file in package.files if file.name == "LICENSE.external")
    whole = package.locate_file(path).read_text("utf-8")
    _before, title, text = whole.partition(OFL)
    text, end, _after = text.partition(OFL_ENDS)
    if not (title and end):
        raise ValueError(f'expected "{OFL}" in LICENSE.external of fonttools')
    return f"""\
{names.getDebugName(0)}

The font {NAME} is a part of {names.getDebugName(4)}, {names.getDebugName(5)}: the
glyphs that these pages use; tall brackets and roots were made narrower. It is licensed
under the SIL Open Font License, Version 1.1.

-----------------------------------------------------------
{title}{text}{end}
"""


def font(text):
    """The font with all characters of `text`, and all sizes of those that grow.

    Returns it as WOFF2, the same bytes for the same characters, and the set of the
    characters that it lacks.
    """
    whole = TTFont(source(), recalcTimestamp=False)
    known = whole.getBestCmap()
    wanted = {char for char in text if ord(char) in known}
    _small_primes(whole)
    _low_overline(whole)
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


def _small_primes(whole):
    """Let a prime be the glyph made for superscripts; Firefox alone looks for it."""
    table = whole["GSUB"].table
    glyphs = {}
    for record in table.FeatureList.FeatureRecord:
        if record.FeatureTag == "ssty":
            for index in record.Feature.LookupListIndex:
                for part in table.LookupList.Lookup[index].SubTable:
                    part = getattr(part, "ExtSubTable", part)
                    alternates = getattr(part, "alternates", {})
                    glyphs |= {name: others[0] for name, others in alternates.items()}
                    glyphs |= getattr(part, "mapping", {})
    for names in _maps(whole):
        for code in map(ord, "′″‴⁗"):
            if code in names:
                names[code] = glyphs.get(names[code], names[code])


def _low_overline(whole):
    """Draw an overline as the low line is drawn: browsers agree where to put that."""
    for names in _maps(whole):
        names[ord("‾")] = names[ord("_")]


def _maps(whole):
    return [table.cmap for table in whole["cmap"].tables if ord("‾") in table.cmap]


def _narrow(whole, wanted):
    """Drop the tallest sizes of brackets and roots; make the others as in `NARROW`."""
    variants = whole["MATH"].table.MathVariants
    growing = dict(
        zip(
            variants.VertGlyphCoverage.glyphs,
            variants.VertGlyphConstruction,
            strict=True,
        )
    )
    known = whole.getBestCmap()
    for char in sorted(wanted & set(NARROW)):
        name = known[ord(char)]
        record = growing[name]
        sizes = record.MathGlyphVariantRecord
        sizes = [size for size in sizes if size.AdvanceMeasurement < TALLEST]
        record.MathGlyphVariantRecord, record.VariantCount = sizes, len(sizes)
        for size in sizes:
            if size.VariantGlyph != name:  # the bracket of the text stays as it is
                _make_narrow(whole, {size.VariantGlyph}, *NARROW[char])
        if record.GlyphAssembly:
            parts = {part.glyph for part in record.GlyphAssembly.PartRecords}
            _make_narrow(whole, parts, *NARROW[char])


def _make_narrow(whole, names, width, left, ink):
    """Press glyphs, which are parts of one, into a width."""
    table = whole["glyf"]
    start = min(table[name].xMin for name in names)
    stop = max(table[name].xMax for name in names)
    scale = min(1, ink / (stop - start))
    glyphs = whole.getGlyphSet()
    drawn = {}
    for name in sorted(names):
        outline, pen = DecomposingRecordingPen(glyphs), TTGlyphPen(None)
        glyphs[name].draw(outline)
        outline.replay(TransformPen(pen, (scale, 0, 0, 1, left - scale * start, 0)))
        drawn[name] = pen.glyph()
    for name, glyph in drawn.items():
        table[name] = glyph
        glyph.recalcBounds(table)
        whole["hmtx"][name] = (width, glyph.xMin)
