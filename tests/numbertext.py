"""Read the numbers that a text prints, in every notation that the book uses.

``markdown_numbers`` reads prose (text, tables, directives, LaTeX), ``plain_numbers``
reads printed output, ``latex_numbers`` and ``html_numbers`` read rich output.  All
end in ``_scan``, so that a number means the same on both sides of a comparison.

A text is first *cleaned*: what is no number of the book (link targets, section
numbers, versions, dates ...) is taken out by narrow rules, each with its reason, and
the notations are made one: ``−`` becomes ``-``, ``10⁻³`` and ``10<sup>-3</sup>``
become ``10^{-3}``, ``\\times`` becomes ``×``.
"""

import html
import re
from decimal import Decimal
from functools import cache
from html.parser import HTMLParser
from typing import NamedTuple

# Private-use characters mark, inside a cleaned text, where mathematics begins and ends,
# and a place that is not the start of a line although a piece of text starts there.
MATH_ON, MATH_OFF, MIDLINE = "\ue000", "\ue001", "\ue002"


class Number(NamedTuple):
    """One printed number: ``value`` is without its sign, ``signs`` says which fit."""

    text: str  # as it stands in the cleaned text, for messages
    value: Decimal
    unit: Decimal  # one unit of the last written place
    signs: tuple  # (1,), (-1,) or (1, -1) where the text leaves it open
    decimal: bool  # has a decimal point or an exponent
    percent: bool = False
    about: bool = False  # "about 37": the text itself says that it rounds
    cut: bool = False  # "1.414...": digits cut off, not rounded
    context: str = ""

    @property
    def candidates(self):
        """The signed values that this number may stand for."""
        return tuple(sign * self.value for sign in self.signs)


# ---------------------------------------------------------------------------------------
# Scanning a cleaned text

_TOKEN = re.compile(
    rf"""
      (?P<on>{MATH_ON}) | (?P<off>{MATH_OFF})
    | \d+(?:\.\d+){{2,}}                     # 3.2.3, 2.4.6: a section or a version
    | 0x[0-9a-fA-F]+                         # an address or a colour
    | [^\W\d]\w*                             # a name, with its digits: K1, float64, x_12
    | (?P<ten>10\^(?:\{{\s*(?P<ten_a>[+-]?\d+)\s*\}}|(?P<ten_b>[+-]?\d+))(?!\.?\d))
    | (?P<body>(?:\d{{1,3}}(?:,\d{{3}})+(?!\d)|\d+)(?:\.\d+)?|(?<![.\w])\.\d+)
      (?:[eE](?P<e>[+-]?\d+)(?!\w))?
      (?P<power>\s*[×·*]\s*10\^(?:\{{\s*(?P<pow_a>[+-]?\d+)\s*\}}|(?P<pow_b>[+-]?\d+))(?!\.?\d))?
    """,
    re.VERBOSE,
)
_ABOUT = re.compile(
    r"(?:\b(?:about|around|roughly|approximately|nearly|almost|some|over|more\ than|less\ than"
    r"|below|above|under)|[≈~])[\s$({\ue000]*-?\s*$",
    re.VERBOSE | re.IGNORECASE,
)
_PERCENT = re.compile(rf"\s*{MATH_OFF}?\s*(?:%|per\ ?cent\b)")
_OPERAND_ENDS = ")]}'′" + MATH_OFF  # a minus after one of these, or after a letter or digit


@cache
def _parse(body, exponent):
    """Value and unit of the last place of the digits ``body`` times 10**exponent."""
    value = Decimal(body.replace(",", "")).scaleb(exponent)
    return value, Decimal(1).scaleb(value.as_tuple().exponent)


def _signs(text, start, math):
    """Which signs the number at ``start`` may have.

    A minus after something that can be subtracted from is an operator when it stands
    free on its right (``3 - 0.5``), glued on both sides (``3-0.5``) or in a formula,
    where blanks mean nothing.  Then the number may be meant with either sign.  Without
    such an operand (``= -0.5``, ``[-0.5``) or set as ``3 -0.5`` in plain text, as NumPy
    prints its rows, the minus belongs to the number.
    """
    at = start - 1
    while at >= 0 and text[at] == " ":
        at -= 1
    if at < 0 or text[at] not in "-±":
        return (1,)
    if text[at] == "±":
        return (1, -1)
    gap = at < start - 1
    before = at - 1
    while before >= 0 and text[before].isspace():
        before -= 1
    operand = before >= 0 and (text[before].isalnum() or text[before] in _OPERAND_ENDS)
    if not operand:
        return (-1,)
    space_before = before < at - 1
    if space_before and not gap and not math:
        return (-1,)
    return (1, -1)


def _scan(text, math=False, context=True):
    """Yield every Number of a cleaned text, in order."""
    for found in _TOKEN.finditer(text):
        kind = found.lastgroup
        if kind is None:
            continue
        if kind in ("on", "off"):
            math = kind == "on"
            continue
        start, end = found.span()
        around = text[max(0, start - 30) : end + 20] if context else ""
        signs = _signs(text, start, math)
        if found["ten"]:  # a bare power of ten is exact, unless it is a small quantity
            power = int(found["ten_a"] or found["ten_b"])
            value = Decimal(1).scaleb(power)
            unit = value if power < 0 else Decimal(1)
            number = Number(found[0], value, unit, signs, power < 0)
        else:
            exponent = int(found["e"] or 0) + int(found["pow_a"] or found["pow_b"] or 0)
            value, unit = _parse(found["body"], exponent)
            decimal = "." in found["body"] or bool(found["e"] or found["power"])
            percent = bool(_PERCENT.match(text, end))
            number = Number(found[0], value, unit, signs, decimal, percent)
        if context:
            number = number._replace(
                about=bool(_ABOUT.search(text, max(0, start - 20), start)),
                cut=text[end : end + 1] == "…",
                context=re.sub(rf"[\s{MATH_ON}{MATH_OFF}]+", " ", around).strip(),
            )
        yield number


# ---------------------------------------------------------------------------------------
# Notations made one

_SUPER = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+", strict=True))
_SUPER_RUN = re.compile(r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺](?:[·⋅˙.]?[⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺])*")
_SUB_RUN = re.compile("[₀₁₂₃₄₅₆₇₈₉]+")  # an index is a name, not a quantity

_PYTHON_POWER = re.compile(r"(?<=\d)\*\*(?=-?\d)")  # 10**-3; bold has its stars outside


def _plain_superscript(found):
    """``⁻¹·²⁴`` -> ``^{-1.24}``: between raised digits a dot is a decimal point."""
    return "^{" + "".join(_SUPER.get(c, ".") for c in found[0]) + "}"


def _unify(text):
    """The same notation for the same thing, whatever the medium."""
    text = _SUPER_RUN.sub(_plain_superscript, text)
    text = _SUB_RUN.sub("", text)
    text = text.replace("\u2212", "-").replace("⋅", "·").replace("...", "…")
    text = text.replace("..", " ‥ ")
    text = re.sub(r"(?<=\d)[\u2009\u202f](?=\d{3}(?!\d))", "", text)  # 10 000, thin space
    text = re.sub(r"[\u00a0\u2000-\u200a\u202f\t]", " ", text)
    text = _PYTHON_POWER.sub("^", text)
    # 512x2048 and 4.7 x 10^-3 are products; 0x7f is not.
    return re.sub(r"(?<=\d)(?<!\b0)( ?)x( ?)(?=\d)", r"\1×\2", text)


# ---------------------------------------------------------------------------------------
# LaTeX

_TEX_RULES = [
    # What sets the formula's layout, or its number, is not part of what it says.
    (r"(?<!\\)%.*", ""),
    (r"\\\\\s*\[\s*-?[\d.]+\s*(?:em|ex|pt|px|mm|cm|mu)\s*\]", " ; "),
    (r"\\[hv]space\*?\{[^{}]*\}|\\m?kern\s*-?[\d.]+\s*(?:em|ex|pt|px|mm|cm|mu)", " "),
    (r"\\[hv]?phantom\{[^{}]*\}", " "),
    (r"\\(?:label|tag|ref|eqref|color|textcolor|class|cssId|style|href)\*?\{[^{}]*\}", " "),
    (r"\\begin\{(?:array|alignedat|alignat\*?)\}\s*\{[^{}]*\}", " ; "),
    (r"\\(?:begin|end)\{[^{}]*\}", " ; "),
    # A thousands separator; a plain comma is set as one between two numbers of a list.
    (r"(?<=\d)(?:\{,\}|\\,)(?=\d{3}(?!\d))", ""),
    (r",", ", "),
    (r"\\[dt]?frac\s*(\d)\s*(\d)", r"((\1)/(\2))"),
    (r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}", r"((\1)/(\2))"),
    (r"\\times(?![A-Za-z])", "×"),
    (r"\\cdot(?![A-Za-z])", "·"),
    (r"\\pm(?![A-Za-z])", "±"),
    (r"\\(?:ldots|dots|cdots)(?![A-Za-z])", "…"),
    (r"\\%", "%"),
    (r"\\(?:approx|sim|simeq)(?![A-Za-z])", "≈"),
    # After a relation, an opening bracket, a new cell or row a minus is a sign.
    (r"\\(?:leq?|geq?|lt|gt|neq?|equiv|to|in|mapsto|implies|quad|qquad|div)(?![A-Za-z])", " ; "),
    (r"\\(?:Long)?(?:left|right|Left|Right)arrow(?![A-Za-z])", " ; "),
    (r"\\(?:left|right|[bB]igg?[lr]?)(?![A-Za-z])", ""),
    (r"\\\\|&", " ; "),
    (r"\\(?:log|ln)(?![A-Za-z_])", " log "),
    (r"\\sqrt\s*(\d+(?:\.\d+)?|\{[^{}]*\})", r" √\1"),
    (r"\\\{", "("),
    (r"\\\}", ")"),
    (r"\\[,;:! ]|~", " "),
    (r"\\[A-Za-z]+", "ξ "),
    (r"\{([-+])\}", r"\1"),
    (r"_(?:\{[\d,\s]*\}|\d)", ""),  # an index is a name, not a quantity
    (r"(?<=[A-Za-z])(?=\d+\.\d)", " "),
]
_TEX_RULES = [(re.compile(pattern), put) for pattern, put in _TEX_RULES]


def _clean_tex(tex):
    """A formula as one line of plain text, with its digits, signs and powers."""
    tex = tex.replace("\u2212", "-")
    for pattern, put in _TEX_RULES:
        tex = pattern.sub(put, tex)
    return _unify(tex).replace("\n", " ")


# ---------------------------------------------------------------------------------------
# HTML

_INLINE = {"a", "abbr", "b", "code", "em", "i", "mark", "small", "span", "strong", "u", "var"}


class _HtmlText(HTMLParser):
    """The text content of HTML: attributes, scripts and styles are not read by anybody."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.parts, self.silent = [], 0

    def handle_starttag(self, tag, attrs):
        if tag in ("script", "style"):
            self.silent += 1
        elif tag in ("sup", "sub"):
            self.parts.append("^{" if tag == "sup" else "_{")
        elif tag not in _INLINE:
            self.parts.append(" ;\n")  # two table cells are two numbers

    def handle_endtag(self, tag):
        if tag in ("script", "style"):
            self.silent = max(0, self.silent - 1)
        elif tag in ("sup", "sub"):
            self.parts.append("}")
        elif tag not in _INLINE:
            self.parts.append(" ;\n")

    def handle_data(self, data):
        if not self.silent:
            self.parts.append(data)


def html_text(source):
    """The text of an HTML fragment; ``<sup>`` becomes ``^{...}``, an index disappears."""
    reader = _HtmlText()
    reader.feed(source)
    reader.close()
    text = "".join(reader.parts)
    return re.sub(r"_\{[\d,\s]*\}", "", text)


# ---------------------------------------------------------------------------------------
# Markdown

_FENCE = re.compile(r"^\s*(?P<mark>`{3,}|~{3,}|:{3,})\s*(?:\{(?P<name>[\w:-]+)\})?(?P<rest>.*)$")
_OPTION = re.compile(r"^\s*:(?P<key>[\w-]+):(?P<value>.*)$")
_READ_OPTIONS = ("alt", "caption")  # the directive options that a reader gets to read
# Those that say in their first line a path, or whose solution they are.
_LABELLED = ("figure", "image", "include", "literalinclude", "download", "glue", "solution")

_SPANS = re.compile(
    r"""
      (?P<math_role>\{math\})?(?P<ticks>(?<!`)`+(?!`))(?P<code>.+?)(?<!`)(?P=ticks)(?!`)
    | (?<!\\)\$\$(?P<display>.+?)\$\$
    | (?<![\\$])\$(?P<inline>(?:\\.|[^$\\\n]|\n(?!\s*\n))+?)\$(?!\$)
    | \\\[(?P<bracket>.+?)\\\] | \\\((?P<paren>.+?)\\\)
    | (?P<env>\\begin\{(?P<envname>align|alignat|equation|gather|multline|eqnarray)(?P<star>\*?)\}
        .+?\\end\{(?P=envname)(?P=star)\})
    """,
    re.VERBOSE | re.DOTALL,
)
# Roles whose content is a target or a key, not something to read.
_TARGET_ROLE = re.compile(r"\{(?:ref|numref|eq|doc|cite[\w:]*|download|glue[\w:]*|any|func|mod)\}$")

_MONTH = r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
_NUM = r"\d+(?:\.\d+)*"
_SOFTWARE = (
    r"(?:Python|NumPy|PyTorch|[Tt]orch|[Mm]atplotlib|Jupyter\ Book|JupyterLab|Sphinx|Chromium"
    r"|MathJax|Debian|Llama|[Vv]ersions?|[Rr]elease)"
)
# Nouns after which a number is a label.  "row", "position", "layer" are not among them:
# there the number is a quantity that the notebook has.
_LABEL = r"(?:chapter|figure|table|exercise|equation|issue|source|note|page|volume|notebook|part|item)"
_SECTIONS = rf"{_NUM}(?:,\s*{_NUM})*\s*,?\s*(?:and|or|to|–|-)\s*{_NUM}"
_LABELS = r"\d+(?:,\s*\d+)*\s*,?\s*(?:and|or|to|–|-)\s*\d+(?!\.?\d)"
_ID = r"\b[A-Z]\d-\d{1,2}\b"

_TEXT_RULES = [
    # Comments and raw HTML: tags are not read, the text between them and alt texts are.
    (r"<img\b[^<>]*?\balt=\"([^\"]*)\"[^<>]*>", r" \1 "),
    (r"<sup\b[^<>]*>", "^{"),
    (r"</sup>", "}"),
    (r"<sub\b[^<>]*>[\d,\s]*</sub>", ""),
    (
        r"</?(?:a|abbr|b|br|cite|code|details|div|em|figcaption|figure|hr|i|img|kbd|li|ol|p|small"
        r"|span|strong|sub|summary|table|tbody|td|th|thead|tr|u|ul)\b[^<>]*>",
        " ",
    ),
    # Where a link leads is an address: targets, bare addresses, DOIs, reference definitions.
    (r"\]\([^()\s]*(?:\([^()]*\)[^()\s]*)*(?:\s+\"[^\"]*\")?\s*\)", "]"),
    (r"^\s{0,3}\[[^\]\n]+\]:\s*\S+.*$", ""),
    (r"<?https?://[^\s>)]+>?", " "),
    (r"\b(?:doi:?\s*)?10\.\d{4,}/[^\s)]+", " "),
    (r"(?i)\barxiv(?:\s+preprint)?[\s:]*\d{4}\.\d{4,5}(?:v\d+)?", " "),
    (r"\[\^[^\]\s]+\]", " "),
    # The number of a heading or of a list item, and the bullet, which is no minus.
    (r"^(\s*(?:>\s*)*)#{1,6}\s+\d+(?:\.\d+)*[.:)]?(?=\s)", r"\1"),
    (r"^(\s*(?:>\s*)*)\d+[.)](?=\s)", r"\1"),
    (r"^(\s*(?:>\s*)*)[-*+]\s", r"\1 "),
    # Dates.
    (r"\b\d{4}-\d{2}-\d{2}\b", " "),
    (rf"\b(?:\d{{1,2}}\s+)?{_MONTH}(?:\s+\d{{1,2}},)?\s+\d{{4}}\b", " "),
    # A year in brackets or behind a title: "*Adam* (2015)", "Werbos (1974)", "(*Adam*, 2015)".
    (r"\((?:[^()\d]*, )?(?:19|20)\d\d\)", " "),
    (r"(?<=\w\*),\s+(?:19|20)\d\d\b", " "),
    # Labels: "section 3.4", "§3.5", "chapters 7 to 20", "figures 10, 11 and 12".  A list is
    # read only after a plural and up to its last word, for "in section 3.4, 0.99 is ...".
    # Only a section's number has a point in it.
    (rf"(?i)(?:\b(?:sub)?sections|§§)\s*{_SECTIONS}", " "),
    (rf"(?i)(?:\b(?:sub)?sections?|§)\s*{_NUM}(?:\s+against\s+{_NUM})?", " "),
    (rf"(?i)\b{_LABEL}s\s+{_LABELS}", " "),
    (rf"(?i)\b{_LABEL}s?\s+\d+(?!\.?\d)", " "),
    # Versions: "Python 3.11 to 3.14", "NumPy 2.4", "numpy==2.4", "python>=3.11", "v1.3".
    (rf"\b{_SOFTWARE}\s+v?{_NUM}(?:\s*(?:,|and|or|to|–|-)\s*{_NUM})*", " "),
    (rf"\b[A-Za-z][\w.-]*\s*(?:==|~=)\s*{_NUM}", " "),
    (rf"(?i)\b(?:python|numpy)\s*>=\s*{_NUM}", " "),
    (rf"\bv{_NUM}", " "),
    # The line below an exercise's title: "*Explain, level 2, 25 min*".
    (r"^(\*[a-zA-Z ]+), level [1-3], \d+ min\*$", r"\1*"),
    # Ids of topics, errata and exercises: T1-11, E0-02, X0-1.
    (_ID, " "),
    (r"\b(?:ex|sol)-\d+-\d+\b", " "),
    # A name in capitals with a number: GPT-3.5, UTF-8.
    (r"\b[A-Z]{2,}-\d+(?:\.\d+)?\b", " "),
    # Emphasis marks are not operators.
    (_PYTHON_POWER.pattern, "^"),
    (r"\*\*|__", ""),
    (r"(?<!\w)_(?=[-\d.])|(?<=\d)_(?!\w)", " "),
    (r"(?<![\w*])\*(?=[-−\d.])|(?<=\d)\*(?!\S)", " "),
]
_TEXT_RULES = [(re.compile(pattern, re.MULTILINE), put) for pattern, put in _TEXT_RULES]

# A code span is read like text, unless it names a file or only formats a number.
_FILE_NAME = re.compile(
    r"^[\w./*{}-]*[A-Za-z_][\w./*{}-]*(?:/|\.(?:ipynb|py|md|json|ya?ml|toml|txt|in|css|js|png|svg))"
    r"(?:[#:][\w:.-]*)?$"
)
FORMAT_SPEC = re.compile(r"(?<=[:%])[-+ ]?\d*\.\d+[efgEFG%]")
_EXERCISE_NUMBER = re.compile(r"(?<=check\.byhand\()\"\d+\.\d+\"")  # check.byhand("4.12", ...)
_CODE_VERSION = re.compile(rf"[A-Za-z][\w.-]*\s*(?:==|~=|>=)\s*\d+\.\d+(?:\.\d+)*|python{_NUM}")


def _clean_text(text):
    """Plain Markdown text without what is not one of the book's numbers."""
    for pattern, put in _TEXT_RULES:
        text = pattern.sub(put, text)
    return _unify(html.unescape(text)).replace(MIDLINE, "")


def _clean_code(code):
    """A code span: nothing when it is a file's name, else its text."""
    if _FILE_NAME.match(code):
        return " "
    for pattern in (_CODE_VERSION, _EXERCISE_NUMBER, FORMAT_SPEC, _ID):
        code = re.sub(pattern, " ", code)
    return _unify(code)


def _blocks(markdown):
    """Split into ("text" | "math" | "code" | "session", content) blocks, directives unwrapped."""
    kind, lines, close, options = "text", [], None, False
    for line in markdown.splitlines():
        fence = _FENCE.match(line)
        if close:  # inside a code fence or a {math} directive: only its end matters
            if fence and not fence["name"] and not fence["rest"].strip() and (fence["mark"].startswith(close)):
                yield kind, "\n".join(lines)
                kind, lines, close = "text", [], None
            elif not (kind == "math" and _OPTION.match(line)):
                lines.append(line)
            continue
        if fence:
            name, rest = fence["name"], fence["rest"].strip()
            if (name is None and fence["mark"][0] != ":") or name in ("math", "code", "code-block"):
                yield "text", "\n".join(lines)
                kind, lines, close = ("math" if name == "math" else "code"), [], fence["mark"]
                kind = "session" if rest == "console" else kind
                continue
            options = name is not None
            rest = re.sub(r"^\d+\.\d+: ", "", rest) if name == "exercise" else rest  # its number
            lines.append("" if name is None or name in _LABELLED else rest)
            continue
        option = _OPTION.match(line) if options else None
        if option:  # options stand directly under the directive's first line
            lines.append(option["value"] if option["key"] in _READ_OPTIONS else "")
            continue
        options = options and not line.strip()
        lines.append(line)
    yield kind, "\n".join(lines)


def _clean_block(text):
    """One text block, its formulas and code spans cleaned by their own rules."""
    parts, at = [], 0

    def add_text(piece, start):
        glued = start > 0 and text[start - 1] != "\n"
        parts.append(_clean_text((MIDLINE if glued else "") + piece))

    for found in _SPANS.finditer(text):
        before = text[at : found.start()]
        at_start, at = at, found.end()
        if found["code"] is not None and not found["math_role"]:
            role = _TARGET_ROLE.search(before)
            add_text(before[: role.start()] if role else before, at_start)
            parts.append(" " if role else _clean_code(found["code"]))
            continue
        add_text(before, at_start)
        formula = next(
            found[k] for k in ("code", "display", "inline", "bracket", "paren", "env") if found[k] is not None
        )
        parts.append(MATH_ON + _clean_tex(formula) + MATH_OFF)
    add_text(text[at:], at)
    return "".join(parts)


@cache
def clean_markdown(markdown):
    """A Markdown text as it is searched for numbers."""
    markdown = re.sub(r"\A---\n.*?\n---\n", "", markdown, flags=re.DOTALL)  # front matter
    markdown = re.sub(r"<!--.*?-->", "", markdown, flags=re.DOTALL)
    cleaned = []
    for kind, content in _blocks(markdown):
        if kind == "math":
            cleaned.append(MATH_ON + _clean_tex(content) + MATH_OFF)
        elif kind == "session":
            continue  # commands and what they print: tests/test_instructors.py runs them and compares
        elif kind == "code":
            cleaned.append(_unify(_CODE_VERSION.sub(" ", content)))
        else:
            cleaned.append(_clean_block(content))
    return " ;\n".join(cleaned)


# ---------------------------------------------------------------------------------------
# What the checks call

_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_FIGURE = re.compile(r"<Figure size [^>]*>")  # a picture's size in pixels is no result


def markdown_numbers(markdown):
    """Every number of a Markdown text that the book answers for."""
    return list(_scan(clean_markdown(markdown)))


def _output_numbers(cleaned, math=False):
    """Numbers of an output.  ``(2,345)`` may be a pair there, so both readings count."""
    for number in _scan(cleaned, math, context=False):
        yield number
        if "," in number.text:
            yield from _scan(number.text.replace(",", " "), math, context=False)


def plain_numbers(text):
    """Every number of printed text."""
    return list(_output_numbers(_unify(_FIGURE.sub(" ", _ANSI.sub("", text)))))


def html_numbers(source):
    """Every number in the text content of HTML."""
    return list(_output_numbers(_unify(html_text(source))))


def latex_numbers(tex):
    """Every number of a LaTeX output, dollar signs or not."""
    return list(_output_numbers(_clean_tex(tex.replace("$", " ")), math=True))
