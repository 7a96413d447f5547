"""The exercises' text as HTML, for a page without any script: TeX between dollar signs, code between backticks."""

from __future__ import annotations

import re
from collections.abc import Sequence

from markupsafe import Markup

from toytf.byhand import Entry
from toytf.teach.worksheet.exercises import chain, is_word

SHORT_LINE = 46  # characters that fit into half the width of a page

_SIGNS = {
    "cdot": "·", "times": "×", "ln": "ln ", "max": "max", "mu": "μ", "sigma": "σ", "varepsilon": "ε", ",": " ",
}  # fmt: skip
_TEX = re.compile(
    r"""\\(?P<named>sqrt|mathrm)\{(?P<inside>[^{}]*)\}
    | \\(?P<sign>[a-z]+|,)\ ?
    | (?P<where>[_^])(?:\{(?P<long>[^{}]*)\}|(?P<short>\\?\w))
    | (?P<letter>[A-Za-z])
    | (?P<minus>-)
    | (?P<rest>[^A-Za-z\\_^-]+)""",
    re.VERBOSE,
)


def math(tex: str) -> Markup:
    """Turn the TeX of the exercises into HTML.

    Examples
    --------
    >>> print(math("Q = X W^Q"))
    <i>Q</i> = <i>X</i> <i>W</i><sup><i>Q</i></sup>
    >>> print(math(r"S / \\sqrt{d_k}"))
    <i>S</i> / √<span class="root"><i>d</i><sub><i>k</i></sub></span>
    """
    out, at = Markup(), 0
    while at < len(tex):
        match = _TEX.match(tex, at)
        if match is None:
            raise ValueError(f"tex: expected what the exercises use, got {tex[at:]!r}")
        at = match.end()
        if match["named"] == "sqrt":
            out += Markup('√<span class="root">{}</span>').format(math(match["inside"]))
        elif match["named"]:
            out += match["inside"]
        elif match["sign"]:
            out += _SIGNS[match["sign"]]
        elif match["where"]:
            tag = "sup" if match["where"] == "^" else "sub"
            out += Markup("<{0}>{1}</{0}>").format(tag, math(match["long"] or match["short"]))
        elif match["letter"]:
            out += Markup("<i>{}</i>").format(match["letter"])
        else:
            out += "−" if match["minus"] else match["rest"]
    return out


def prose(text: str) -> Markup:
    """Turn a paragraph with TeX between dollar signs and code between backticks into HTML."""
    out = Markup()
    for piece in re.split(r"(\$[^$]*\$|`[^`]*`)", text):
        if piece.startswith("$"):
            out += Markup('<span class="math">{}</span>').format(math(piece[1:-1]))
        elif piece.startswith("`"):
            out += Markup("<code>{}</code>").format(piece[1:-1])
        else:
            out += piece
    return out


def symbol(name: str) -> Markup | str:
    """Words stay upright, symbols are set as mathematics."""
    return name if is_word(name) else math(name)


def label(name: str) -> Markup | str:
    """The heading of a column."""
    return math(name) if name.startswith("\\") else name


def steps(entry: Entry) -> list[Markup]:
    """The steps of a working; `toytf.byhand` writes them as HTML."""
    return [Markup(step) for step in chain(entry, "html")]


def is_short(entries: Sequence[Entry]) -> bool:
    """Whether each line of a working fits into half the width of a page."""
    return all(max(len(e.where), 11) + len(" ".join(chain(e, "text"))) <= SHORT_LINE for e in entries)
