"""The numbers that a text prints: of prose (Markdown, with its formulas), and of what code prints.

A text is first made plain: addresses, HTML and the options of directives go, formulas become signs (``×``, ``·``,
``10^{-3}``), and what counts nothing (sections, versions, dates) is taken out. Then numbers are found in it.
"""

import html
import re
from decimal import Decimal
from functools import cache
from typing import NamedTuple

from markdown_it import MarkdownIt
from mdit_py_plugins.colon_fence import colon_fence_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin

MARKDOWN = MarkdownIt("commonmark").enable("table").use(dollarmath_plugin).use(colon_fence_plugin)


class Number(NamedTuple):
    """One printed number."""

    text: str
    values: tuple  # one, or two where a minus may be a sign or may subtract
    unit: Decimal  # of the last written place
    percent: bool
    about: bool  # the text itself says that it rounds
    context: str

    @property
    def is_decimal(self):
        return self.unit < 1 or "." in self.text or "e" in self.text


# ---------------------------------------------------------------- plain text

SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺·", "0123456789-+.")


def _signs(text):
    """The same sign for the same thing."""
    text = re.sub(
        "[⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺](?:·?[⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺])*", lambda raised: f"^{{{raised[0].translate(SUPERSCRIPTS)}}}", text
    )
    text = text.replace("−", "-").replace("⋅", "·").replace("**", "^")
    text = re.sub(r"[₀₁₂₃₄₅₆₇₈₉]+", "", text)  # an index is a name
    text = re.sub(r"(?<=\d)[\u2009\u202f](?=\d{3}(?!\d))", "", text)  # 10 000
    return re.sub(r"(?<=\d)( ?)x( ?)(?=\d)", r"\1×\2", text)  # 4 x 3


TEX = [
    (r"\\\\\s*(?:\[[^\]]*\])?|&|\\(?:begin|end)\{[^{}]*\}(?:\{[rlc|]+\})?", " ; "),  # rows and cells of a matrix
    (r"\\(?:[hv]space|phantom|tag|label)\*?\{[^{}]*\}", " "),
    (r"(?<=\d)(?:\{,\}|\\,)(?=\d{3}(?!\d))", ""),  # 10{,}000
    (r",", ", "),
    (r"_(?:\{[^{}]*\}|\w)", " "),  # an index
    (r"\\[dt]?frac\s*(\d)\s*(\d)", r"(\1)/(\2)"),
    (r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}", r"(\1)/(\2)"),
    (r"\\times\b", "×"),
    (r"\\cdot\b", "·"),
    (r"\\pm\b", "±"),
    (r"\\%", "%"),
    (r"\\approx\b", "≈"),
    (r"\\[lc]?dots\b", "…"),
    (r"\\(?:left|right|[bB]igg?[lr]?)\b", ""),
    (r"\\[{}]", " "),
    (r"\\(?:quad|qquad|leq?|geq?|neq?|lt|gt|to|in)\b", " ; "),
    (r"\\sqrt\b", "√"),
    (r"\\[a-zA-Z]+", "ξ "),
    (r"\\.", " "),
    (r"(?<!\^)\{([^{}]*)\}", r" \1 "),
    (r"(?<=[\w)\]}])\s*-\s*", " - "),  # behind an operand it may subtract
]


def tex_text(tex):
    """A formula as plain text."""
    for pattern, put in TEX:
        tex = re.sub(pattern, put, tex)
    return _signs(tex).replace("\n", " ")


def html_text(source):
    """What is read of HTML: no attribute, no script."""
    source = re.sub(r"<(style|script)\b.*?</\1>|<!--.*?-->", "", source, flags=re.DOTALL)
    source = re.sub(r'<img\b[^>]*\balt="([^"]*)"[^>]*>', r" \1 ", source)
    source = re.sub(r"<sub\b[^>]*>.*?</sub>", "", source)
    source = re.sub(r"<sup\b[^>]*>(.*?)</sup>", r"^{\1}", source)
    source = re.sub(r"</?(?:a|b|code|em|i|span|strong|u|var)\b[^>]*>", "", source)
    return _signs(html.unescape(re.sub(r"<[^>]*>", " ;\n", source)))


_NUM, _AND = r"\d+(?:\.\d+)*", r"(?:,\s|\s(?:and|or|to)\s|,\sand\s|–|-)"
_LABEL = "chapter|figure|table|exercise|equation|source|note|page|notebook|part|item"
_SOFTWARE = "Python|NumPy|PyTorch|matplotlib|Jupyter Book|JupyterLab|Pyodide|Llama|version"
_MONTH = "January|February|March|April|May|June|July|August|September|October|November|December"
COUNT_NOTHING = [
    r"https?://\S+|\b10\.\d{4,}/\S+|\barxiv[\s:]*\d{4}\.\d{4,5}(?:v\d+)?",
    rf"\b\d{{4}}-\d\d-\d\d\b|\b(?:\d{{1,2}}\s)?(?:{_MONTH})(?:\s\d{{1,2}},)?\s\d{{4}}\b",
    r"\((?:[^()\d]*, )?(?:19|20)\d\d\)|(?<=\w),\s(?:19\d\d|20[0-2]\d)\b",  # the year of a paper
    rf"(?:\b(?:sub)?sections?|§§?)\s?{_NUM}(?:{_AND}{_NUM})*|\b\d+(?:\.\d+){{2,}}",
    rf"\b(?:{_LABEL})s?\s\d+(?!\.?\d)(?:{_AND}\d+(?!\.?\d))*",
    rf"\b(?:{_SOFTWARE})s?\sv?{_NUM}(?:{_AND}{_NUM})*|\b[a-z][\w.-]*\s?(?:==|~=|>=)\s?{_NUM}|\b(?:python|v){_NUM}",
    r"\b[A-Z]\d-\d{1,2}\b|\b(?:ex|sol)-\d+-\d+\b|\b[A-Z]{2,}-\d+(?:\.\d+)?\b",  # E0-12, ex-05-1, GPT-3
    r"\blevel [1-3], \d+ min\b|check\.byhand\(\"\d+\.\d+\"",  # of an exercise
    r"[\w./-]+\.(?:ipynb|py|md|json|npz|toml|txt|svg|png)\b|:[-+]?\d*\.\d+[efg%]|%\.\d+[efg]",  # files and formats
]
COUNT_NOTHING = re.compile("|".join(COUNT_NOTHING), re.IGNORECASE)


def _inline(token):
    for child in token.children:
        if child.type == "math_inline":
            yield f" {tex_text(child.content)} "
        elif child.type in ("text", "code_inline", "image"):
            yield _signs(child.content)
        elif child.type in ("softbreak", "hardbreak"):
            yield "\n"
        elif child.type == "html_inline":
            yield {"<sup>": "^{", "</sup>": "}"}.get(child.content, " ")


@cache
def markdown_text(markdown):
    """A text as one reads it."""
    said, heading = [], False
    for token in MARKDOWN.parse(re.sub(r"\A---\n.*?\n---\n", "", markdown, flags=re.DOTALL)):
        if token.type == "colon_fence":
            _, _, title = token.info.partition("}")
            title = re.sub(r"^ *\d+\.\d+: |^ *(?:ex-.*|\S*/\S*)$", "", title)
            lines = token.content.splitlines()
            while lines and (option := re.match(r":(\w+):(.*)", lines[0])):
                title += option[2] if option[1] == "alt" else ""
                lines.pop(0)
            said += [markdown_text(title), markdown_text("\n".join(lines))]
        elif token.type in ("fence", "code_block") and token.info not in ("console", "python"):
            said.append(_signs(token.content))
        elif token.type.startswith("math_block"):
            said.append(tex_text(token.content))
        elif token.type == "html_block":
            said.append(html_text(token.content))
        elif token.type == "inline":
            text = "".join(_inline(token))
            said.append(re.sub(r"^\d+(?:\.\d+)*\.? ", "", text) if heading else text)
        heading = token.type == "heading_open"
    return COUNT_NOTHING.sub(" ", " ;\n".join(said))


# ---------------------------------------------------------------- numbers

_POWER = r"10\^(?:\{\s*([-+]?\d+)\s*\}|([-+]?\d+))"
_NUMBER = re.compile(
    rf"""(?<!\w) (?P<word>0x[0-9a-f]+|[^\W\d]\w*)  # a name with its digits: float64
    | (?P<sign>[-±]\ *)? (?:
      {_POWER}(?!\.?\d)
    | (?P<digits>(?:\d{{1,3}}(?:,\d{{3}})+(?!\d)|\d+)(?:\.\d+)?|(?<![.\w])\.\d+)
      (?:e(?P<e>[-+]?\d+)(?!\w))? (?:\ *[×·*]\ *{_POWER}(?!\.?\d))? )""",
    re.VERBOSE,
)
_ABOUT = re.compile(
    r"(?:\b(?:about|around|roughly|nearly|almost|some|over|more than|less than|below|above|under)|[≈~])[ $({]*$"
)


def numbers(text):
    """Every number of a plain text."""
    for found in _NUMBER.finditer(text):
        if found["word"]:
            continue
        start, end = found.span()
        power = int(next((part for part in found.groups()[2:4] + found.groups()[6:8] if part), 0))
        digits = (found["digits"] or "1").replace(",", "")
        value = Decimal(digits).scaleb(power + int(found["e"] or 0))
        unit = Decimal(1).scaleb(value.as_tuple().exponent)
        # Behind an operand a minus may subtract: "3 - 0.5" and "3-0.5", not "3 -0.5" as NumPy prints its rows.
        sign, before = found["sign"] or "", text[:start].rstrip()
        is_operand = before[-1:].isalnum() or before[-1:] in set(")]}")
        subtracts = sign and is_operand and (len(sign) > 1 or before == text[:start])
        values = (value, -value) if subtracts or "±" in sign else (-value if sign else value,)
        about = bool(_ABOUT.search(text, max(0, start - 20), start))
        percent = bool(re.match(r" *(?:%|per cent\b)", text[end : end + 10]))
        context = " ".join(text[max(0, start - 30) : end + 20].split())
        yield Number(found[0], values, unit, percent, about or text[end : end + 1] == "…", context)


def output_numbers(kind, text):
    """Every number of an output; ``(2,345)`` may be a pair there."""
    readers = {"text/html": html_text, "text/markdown": markdown_text, "text/latex": tex_text}
    plain = readers.get(kind, _signs)(text)
    return [*numbers(plain), *(numbers(plain.replace(",", " ")) if re.search(r"\d,\d", plain) else ())]
