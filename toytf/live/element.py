"""What every element shares: its page form, and the scripts that bring it to life.

An element is a custom element of the browser, ``<toytf-divisor>``. Python writes its static form, which stays where
there is no script, in print, and in a notebook that is not trusted, and its data. The scripts in ``page/`` and the
element's own, beside its Python file, add controls and take the static form over. ``engine/`` computes, in plain
JavaScript, what `toytf` computes.

The book links the scripts as files, once. A notebook's output brings them along, as the panels of `toytf.byhand` do.
"""

from __future__ import annotations

import html as _html
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources

import numpy as np

from toytf._validate import as_floats, require_ndim, require_some, require_within
from toytf.byhand import fmt, panels
from toytf.live import wire
from toytf.translator import Translator

ENGINE = ("numbers", "ops", "positions", "attention", "model", "generate", "translator")
PAGE = ("make", "settings", "element", "sums", "tables")
SHARED = {
    "live": (*(f"engine/{part}" for part in ENGINE), *(f"page/{part}" for part in PAGE)),
    "base": ("engine/numbers", "page/make"),  # what a box for an answer needs of it (answer.js)
}

# ---------------------------------------------------------------- scripts


@cache
def script(name: str) -> str:
    """Return a script, without its comments: an element's own, ``"divisor"``, or what several share.

    ``"live"`` is the engine with what all elements share, ``"base"`` the little of it that a box for an answer needs;
    ``"trained"`` holds the weights of the trained translator.
    """
    if name == "trained":
        return f"toytf.trained = new toytf.Translator({wire.as_json(wire.translator(Translator.load()))});\n"
    if name in SHARED:
        return "".join(map(script, SHARED[name]))
    return _classic(resources.files("toytf.live").joinpath(f"{name}.js").read_text("utf-8"))


def _classic(module: str) -> str:
    """Return a module as a classic script, which runs from the disk too: `toytf` holds what modules share."""
    text = re.sub(r"(?m)^\s*//.*\n|(?<=[;{},]) // .*$", "", module)  # comments are for who reads the file
    text = re.sub(r'import (\{[^}]*\}) from "[^"]*";', r"const \1 = toytf;", text)
    text, given = re.sub(r"(?m)^export ", "", text), re.findall(r"(?m)^export (?:const|class|function\*?) (\w+)", text)
    text = re.sub(r"\n\s*", "\n", f"const toytf = (globalThis.toytf ??= {{}});\n{text}").strip()
    return f'(() => {{\n"use strict";\n{text}\nObject.assign(toytf, {{ {", ".join(given)} }});\n}})();\n'


@cache
def style(name: str) -> str:
    """Return a style: ``"live"`` is what all elements share, ``"translator"`` what one has of its own, if any."""
    file = resources.files("toytf.live").joinpath(f"{name}.css")
    text = re.sub(r"/\*.*?\*/", "", file.read_text("utf-8") if file.is_file() else "", flags=re.DOTALL)
    return re.sub(r"\s*([{};])\s*", r"\1", re.sub(r"\s*\n\s*", "\n", text).strip())


def parts(names: Sequence[str]) -> str:
    """Return style and scripts of elements, for an output that may stand in a frame of its own."""
    wanted = ("live", *names)
    return f"<style>{''.join(map(style, wanted))}</style>" + "".join(f"<script>{script(n)}</script>" for n in wanted)


# ---------------------------------------------------------------- an element


@dataclass(frozen=True)
class Element:
    """Something to touch: shown as HTML in the book and in JupyterLab, as text elsewhere.

    Parameters
    ----------
    name : str
        Of its script and its custom element: ``"divisor"`` for ``<toytf-divisor>``.
    title : str
        What one does with it: "Change the divisor".
    data : dict
        What the script needs: arrays, dataclasses, numbers, strings.
    static : str
        Its form without a script, as HTML: panels, bars and pictures with the numbers at the start.
    text : str
        The same as text, for a terminal.
    id : str, optional
        What its address begins with; `name` if left out. Two on one page need two.
    needs : tuple of str
        Scripts that it needs before its own: ``"trained"``, ``"sentence"``.
    """

    name: str
    title: str
    data: dict
    static: str
    text: str
    id: str = ""
    needs: tuple[str, ...] = field(default=())

    def html(self) -> str:
        """Return it as HTML, without its scripts."""
        needs = f' data-needs="{" ".join(self.needs)}"' if self.needs else ""
        return (
            f'<toytf-{self.name} id="{_html.escape(self.id or self.name)}" class="live"{needs}>'
            f'<script type="application/json">{wire.as_json(self.data)}</script>'
            f'<p class="live-title">{_html.escape(self.title)}</p>'
            f'<div class="live-static">{self.static}</div></toytf-{self.name}>'
        )

    def _repr_html_(self) -> str:
        return panels.style_and_script() + parts((*self.needs, self.name)) + self.html()

    def __str__(self) -> str:
        return f"{self.title}\n{self.text}"

    __repr__ = __str__


# ---------------------------------------------------------------- what elements are given, and what they are made of


def matrix(name: str, x, largest: float) -> np.ndarray:
    """Return a matrix with at least one entry, none of them beyond `largest`, or raise an error."""
    x = as_floats(name, x)
    require_ndim(name, x, 2)
    require_some(name, x)
    require_within(name, x, largest)
    return x


def bars(
    labels: Sequence[str], values, name: str, *, decimals: int = 4, sci: bool = False, rows: int | None = None
) -> str:
    """Return shares as a table with a bar for each, from 0 to 1.

    `sci` writes what would round to zero as a power of ten. `rows` makes room for so many, of which those
    beyond `labels` are hidden at first.

    Examples
    --------
    >>> "0.7500" in bars(["Hello", "World"], [0.25, 0.75], "weights")
    True
    """
    values = np.asarray(values, float)
    lines = []
    for i in range(rows or len(labels)):
        label, value = (labels[i], values[i]) if i < len(labels) else ("", 0.0)
        lines.append(
            f'<tr{"" if i < len(labels) else " hidden"}><th scope="row">{_html.escape(label)}</th>'
            f'<td class="live-bar" style="--share:{value:.6g}"></td>'
            f'<td class="live-value">{_word(value, decimals, sci)}</td></tr>'
        )
    return f'<table class="live-bars"><caption>{_html.escape(name)}</caption><tbody>{"".join(lines)}</tbody></table>'


def _word(value: float, decimals: int, sci: bool) -> str:
    if sci and value and float(fmt(value, decimals)) == 0:
        digits, power = fmt(value, 3, sci=True).split("e")
        return f"{digits} × 10<sup>{int(power)}</sup>".replace("-", "−")
    return fmt(value, decimals).replace("-", "−")
