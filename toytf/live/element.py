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
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import pairwise

from toytf.byhand import fmt, panels
from toytf.live import wire
from toytf.translator import Translator
from toytf.writer import Writer

SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
ENGINE = ("numbers", "ops", "positions", "attention", "model", "generate", "translator", "writer")
PAGE = ("make", "settings", "element", "sums", "tables", "chart")
LEARNING = ("positions", "random", "learning", "optim", "train")  # of the engine: what a model needs to learn
SHARED = {
    "live": (*(f"engine/{part}" for part in ENGINE), *(f"page/{part}" for part in PAGE)),
    "base": ("engine/numbers", "page/make"),  # what a box for an answer needs of it (answer.js)
}

# ---------------------------------------------------------------- scripts


@cache
def script(name: str) -> str:
    """Return a script, without its comments: an element's own, ``"divisor"``, or what several share.

    ``"live"`` is the engine with what all elements share, ``"base"`` the little of it that a box for an answer needs;
    ``"trained"`` holds the weights of the trained translator. ``"learning"`` is the engine that trains; its own text is
    `toytf.learning`, of which a worker can be made. ``"writers"`` holds the weights of the two that write stories.
    """
    if name == "trained":
        return f"toytf.trained = new toytf.Translator({wire.as_json(wire.translator(Translator.load()))});\n"
    if name == "writers":
        models = (f"{n}: new toytf.Writer({wire.as_json(wire.writer(Writer.load(n)))})" for n in (1, 2))
        return f"toytf.writers = {{ {', '.join(models)} }};\n"
    if name == "learning":
        modules = "".join(script(f"engine/{part}") for part in LEARNING)
        return f"(() => {{\nconst run = () => {{\n{modules}}};\nrun();\ntoytf.learning = `(${{run}})();`;\n}})();\n"
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
    later : str
        A large script that the book's page loads only when somebody touches the element: ``"trained"``, ``"writers"``.
        Until then the static form stands. An output brings it along.
    """

    name: str
    title: str
    data: dict
    static: str
    text: str
    id: str = ""
    needs: tuple[str, ...] = ()
    later: str = ""

    def html(self) -> str:
        """Return it as HTML, without its scripts."""
        needs = f' data-needs="{" ".join(self.needs)}"' if self.needs else ""
        needs += f' data-later="live-{self.later}.js"' if self.later else ""
        return (
            f'<toytf-{self.name} id="{_html.escape(self.id or self.name)}" class="live"{needs}>'
            f'<script type="application/json">{wire.as_json(self.data)}</script>'
            f'<p class="live-title">{_html.escape(self.title)}</p>'
            f'<div class="live-static">{self.static}</div></toytf-{self.name}>'
        )

    def _repr_html_(self) -> str:
        return panels.style_and_script() + parts([*self.needs, *filter(None, [self.later]), self.name]) + self.html()

    def __str__(self) -> str:
        return f"{self.title}\n{self.text}"

    __repr__ = __str__


# ---------------------------------------------------------------- what elements are made of

SAID = '<p class="live-said"></p>'  # where the script says what is seen
LEFT, TOP, WIDE, HIGH = 50, 8, 264, 180  # of the plane of a chart, within a picture of 320 x 220
SHAPES = {"square": "M-4 -4h8v8h-8z", "disc": "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z"}


def table(name: str, lines, heads: Sequence[str] = (), caption: str = "") -> str:
    """Return a table of the look `name`. Its lines: what stands to the left, then cells, as HTML, or whole ``<td>``.

    Over a column without a head (None) the next one's stands too: over a bar and its number.

    Examples
    --------
    >>> table("list", [("a", "1")], caption="One line")
    '<table class="live-table live-list"><caption>One line</caption><tbody><tr><th scope="row">a</th><td>1</td></tr></tbody></table>'
    """  # noqa: E501
    body = "".join(f'<tr><th scope="row">{_html.escape(head)}</th>{_cells(cells)}</tr>' for head, *cells in lines)
    above = ""
    for before, head in pairwise(["", *heads]):
        wide = ' colspan="2"' * (before is None)
        above += "" if head is None else f'<th scope="col"{wide}>{head}</th>' if head else "<td></td>"
    above = f"<thead><tr>{above}</tr></thead>" if heads else ""
    caption = f"<caption>{_html.escape(caption)}</caption>" if caption else ""
    return f'<table class="live-table live-{name}">{caption}{above}<tbody>{body}</tbody></table>'


def _cells(cells) -> str:
    return "".join(cell if cell.startswith("<td") else f"<td>{cell}</td>" for cell in cells)


def bars(labels: Sequence[str], values, name: str, *, sci: bool = False) -> str:
    """Return shares as a table with a bar for each, from 0 to 1; `sci` writes what would round to zero otherwise.

    Examples
    --------
    >>> "0.7500" in bars(["Hello", "World"], [0.25, 0.75], "weights")
    True
    """
    lines = [(label, bar(share=value), on_page(value, sci)) for label, value in zip(labels, values, strict=True)]
    return table("bars", lines, caption=name)


def bar(**shares: float) -> str:
    return f'<td class="live-bar" style="{";".join(f"--{name}:{value:.6g}" for name, value in shares.items())}"></td>'


def on_page(value: float, sci: bool = False) -> str:
    """Return a number with four decimals; with `sci` what would be written as 0 or 1 says how far it is from that."""
    if sci and panels.nearly_one(value, 4):
        return f"1 − {on_page(1 - value, sci)}"
    if sci and value and float(fmt(value)) == 0:
        digits, power = fmt(value, 3, sci=True).split("e")
        return f"{digits} × 10<sup>{int(power)}</sup>".replace("-", "−")
    return fmt(value).replace("-", "−")


def chart(alt: str, x, y, ticks, lines, marks=(), texts=(), below: Sequence[str] = ()) -> str:
    """Return a picture of lines and marks in a plane. page/chart.js draws it again, with the same words for it.

    Parameters
    ----------
    alt : str
        What is seen.
    x, y : pair of float
        The ends of the axes.
    ticks : pair of lists of (float, str)
        Places on each axis, with what stands there.
    lines, marks : list of (str, points), list of (str, str, point)
        The look of each, ``"blue dashed"``, and of a mark its shape.
    texts : list of (str, point, str, float)
        The look of a text, where it stands, its words, and how far below that.
    below : sequence of str
        What stands below the x axis: in its middle, or at its ends.
    """

    def at(point):
        return WIDE * (point[0] - x[0]) / (x[1] - x[0]), HIGH * (y[1] - point[1]) / (y[1] - y[0])

    def path(points):
        return "".join(f"{'L' if k else 'M'}{a:.1f} {b:.1f}" for k, (a, b) in enumerate(map(at, points)))

    def text(a, b, words, look="", anchor="middle"):
        return f'<text class="{look}" x="{a:.1f}" y="{b:.1f}" text-anchor="{anchor}">{words}</text>'

    # at the right edge of the plane a long word would stand out of the picture
    names = "".join(
        text(LEFT + at((v, 0))[0], TOP + HIGH + 15, word, "", "end" if v == x[1] else "middle") for v, word in ticks[0]
    )
    names += "".join(text(LEFT - 6, TOP + at((0, v))[1] + 4, word, "", "end") for v, word in ticks[1])
    ends = [(LEFT + WIDE / 2, "middle")] if len(below) == 1 else [(LEFT, "start"), (LEFT + WIDE, "end")]
    names += "".join(text(a, 217, word, "", anchor) for (a, anchor), word in zip(ends, below, strict=False))
    drawn = "".join(f'<path class="grid" d="M0 {at((0, v))[1]:.1f}H{WIDE}"/>' for v, _ in ticks[1])
    drawn += "".join(f'<path class="{look}" d="{path(points)}"/>' for look, points in lines)
    for look, shape, point in marks:
        a, b = at(point)
        drawn += f'<path class="mark {look}" transform="translate({a:.1f} {b:.1f})" d="{SHAPES[shape]}"/>'
    for look, point, word, down in texts:
        a, b = at(point)
        drawn += text(a, b + down, word, look, "end" if "end" in look else "middle")
    return (
        f'<svg class="live-chart" viewBox="0 0 320 220" role="img" aria-label="{_html.escape(alt)}">{names}'
        f'<svg x="{LEFT}" y="{TOP}" width="{WIDE}" height="{HIGH}">{drawn}</svg></svg>'
    )


def power(p: int) -> str:
    """Return a power of ten as a chart has it."""
    return f'10<tspan dy="-4">{str(p).replace("-", "−")}</tspan>' if p else "1"
