"""Figures: their style, heat maps, and the spine that opens each chapter.

Needs matplotlib (``pip install "toytf[plot]"``), and so does `plot_svg` beside it; nothing else does. Colours come
from the palette of Okabe and Ito and from the map *cividis*: both can be told apart by colour-blind readers.
"""

from __future__ import annotations

from collections.abc import Iterable

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from toytf._validate import one_of, shape_text
from toytf.byhand import fmt
from toytf.course.plot_spine import spine as spine
from toytf.course.plot_svg import FONT

BLUE, ORANGE, GREEN, RED, SKY, PURPLE, YELLOW, GREY = (
    "#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#F0E442", "#6E6E6E",
)  # fmt: skip
INK, PAPER, QUIET = "#1F2430", "#FFFFFF", "#ECEEF2"
# Grounds of boxes: text in INK is legible on them, in the light and in the dark.
ROW, COL = "#D6E8F7", "#FBE3B8"
# Ink on a coloured cell. A cell's colour says a number, so it and its ink are the same in the dark.
ON_LIGHT, ON_DARK = "#141821", "#FBFBFB"

STYLE = {
    "figure.figsize": (6.4, 4.0),  # shown 500 pixels wide on a page, 350 on a phone
    "figure.dpi": 72,
    "savefig.dpi": 144,
    "figure.facecolor": PAPER,
    "savefig.facecolor": PAPER,
    "figure.constrained_layout.use": True,
    "figure.titlesize": FONT,
    "figure.titleweight": "bold",
    "axes.facecolor": "none",
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.titlesize": FONT,
    "axes.titlelocation": "left",
    "axes.titlepad": 10,
    "axes.labelsize": FONT,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.prop_cycle": plt.cycler(color=[BLUE, ORANGE, GREEN, RED, PURPLE, SKY]),
    "xtick.color": INK,
    "ytick.color": INK,
    "font.family": "DejaVu Sans",  # comes with matplotlib, so every machine measures the same
    "font.size": FONT,
    "mathtext.fontset": "dejavusans",
    "mathtext.default": "it",
    "legend.frameon": False,
    "legend.fontsize": FONT,
    "legend.handlelength": 1.6,
    "legend.borderaxespad": 0.2,
    "lines.linewidth": 2,
    "lines.markersize": 6,
    "patch.edgecolor": INK,
    "grid.color": QUIET,
    "hatch.color": INK,
    "text.color": INK,
    "text.parse_math": True,
}


def style(form: str = "svg") -> None:
    """Set the course's figure style, and the form in which a notebook shows figures from now on.

    Parameters
    ----------
    form : {"svg", "png"}
        "svg" for a page: text is text, colours follow the page's light and dark. "png" for paper.

    Raises
    ------
    ValueError
        If the form is another.
    """
    one_of("form", form, ("svg", "png"))
    plt.rcParams.update(STYLE)
    try:
        from IPython import get_ipython
    except ImportError:  # the package does without
        return
    if get_ipython() is None:
        return
    from matplotlib_inline.backend_inline import configure_inline_support
    from matplotlib_inline.config import InlineBackend

    inline = InlineBackend.instance(parent=get_ipython())
    inline.shell = get_ipython()
    inline.rc = {}
    # whole, not cropped to its ink: only so a figure has the width that its style gives it
    inline.print_figure_kwargs = {"bbox_inches": None, "backend": "module://toytf.course.plot_svg"}
    if form == "png":
        inline.print_figure_kwargs["dpi"] = STYLE["savefig.dpi"]
    inline.figure_formats = {form}
    configure_inline_support.current_backend = "unset"  # so that the next line sets the form anew
    configure_inline_support(get_ipython(), "inline")


def heatmap(
    matrix,
    *,
    title: str,
    rows=None,
    cols=None,
    row_name: str = "",
    col_name: str = "",
    decimals: int = 2,
    limits: tuple[float, float] | None = None,
    write: bool | None = None,
    ax=None,
):
    """Draw a matrix as coloured cells, with its numbers written in them.

    Parameters
    ----------
    matrix : array_like, shape (rows, columns)
    title : str
        What is to be seen, as a sentence.
    rows, cols : sequence of str, optional
        Labels.
    row_name, col_name : str
        What the axes are (``"query"``, ``"key"``).
    decimals : int, default 2
        Decimals of the written numbers.
    limits : (float, float), optional
        The values that get the darkest and the lightest colour.
    write : bool, optional
        Write the numbers; by default where there are at most 100 cells.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if left out.

    Returns
    -------
    matplotlib Axes
    """
    matrix = np.asarray(matrix, dtype=float)
    if matrix.ndim != 2:
        raise ValueError(f"matrix: expected rows and columns, got shape {shape_text(matrix.shape)}")
    if ax is None:
        _, ax = plt.subplots()
    low, high = limits if limits is not None else (matrix.min(), matrix.max())
    image = ax.imshow(matrix, cmap="cividis", vmin=low, vmax=high, aspect="auto" if matrix.size > 100 else "equal")
    ax.set_title(title)
    ax.set_xlabel(col_name)
    ax.set_ylabel(row_name)
    for axis, labels in ((ax.xaxis, cols), (ax.yaxis, rows)):
        if labels is not None:
            axis.set_ticks(range(len(labels)), labels)
    ax.spines[:].set_visible(False)
    if write if write is not None else matrix.size <= 100:
        middle = (low + high) / 2
        for (i, j), value in np.ndenumerate(matrix):
            ink = ON_LIGHT if value > middle else ON_DARK
            ax.text(j, i, fmt(value, decimals), ha="center", va="center", color=ink)
        ax.tick_params(length=0)
    else:
        ax.figure.colorbar(image, ax=ax, shrink=0.9)
    return ax


# ---------------------------------------------------------------- the small map

# part: (text, column, height of its centre, height of the box)
_PARTS = {
    "source words": ("Hello  World", 0, 0.0, 0.0),
    "embedding": ("embedding", 0, 0.8, 0.6),
    "positions": ("+ positions", 0, 1.6, 0.6),
    "self-attention": ("self-attention", 0, 3.0, 0.7),
    "encoder add & norm 1": ("add & norm", 0, 3.8, 0.5),
    "feed-forward": ("feed-forward", 0, 4.7, 0.7),
    "encoder add & norm 2": ("add & norm", 0, 5.5, 0.5),
    "target words": ("<sos>  hola", 1, 0.0, 0.0),
    "target embedding": ("embedding", 1, 0.8, 0.6),
    "target positions": ("+ positions", 1, 1.6, 0.6),
    "masked self-attention": ("masked self-attention", 1, 3.0, 0.7),
    "decoder add & norm 1": ("add & norm", 1, 3.8, 0.5),
    "cross-attention": ("cross-attention", 1, 4.7, 0.7),
    "decoder add & norm 2": ("add & norm", 1, 5.5, 0.5),
    "decoder feed-forward": ("feed-forward", 1, 6.4, 0.7),
    "decoder add & norm 3": ("add & norm", 1, 7.2, 0.5),
    "linear": ("linear", 1, 8.5, 0.6),
    "softmax": ("softmax", 1, 9.3, 0.6),
    "next word": ("mundo", 1, 10.1, 0.0),
}
_X = (2.0, 6.4)  # the columns' centres
_WIDTH = 3.3


def transformer_map(lit: Iterable[str], title: str):
    """Draw the whole Transformer small, with the parts of this chapter lit.

    Parameters
    ----------
    lit : iterable of str
        Names of parts, for example ``{"self-attention"}``; ``"all"`` for everything.
    title : str
        What the figure says, as a sentence.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If a part is unknown.
    """
    lit = set(_PARTS) if lit == "all" else set(lit)
    unknown = lit - set(_PARTS)
    if unknown:
        raise ValueError(f"lit: expected some of {sorted(_PARTS)}, got {sorted(unknown)}")
    _, ax = plt.subplots(figsize=(4.6, 4.9))
    ax.set(xlim=(0, 8.7), ylim=(-0.5, 10.5))
    ax.axis("off")
    ax.set_title(title)
    for x, low, high, text in ((_X[0], 2.45, 5.95, "encoder × 6"), (_X[1], 2.45, 7.65, "decoder × 6")):
        _box(ax, x, (low + high) / 2, _WIDTH + 0.5, high - low, QUIET, dashed=True)
        ax.text(x - _WIDTH / 2 - 0.2, high + 0.1, text, fontsize=8, color=GREY, va="bottom")
    for name, (text, column, y, height) in _PARTS.items():
        if not height:
            ax.text(_X[column], y, text, ha="center", va="center", fontsize=9, fontstyle="italic")
            continue
        on = name in lit
        _box(ax, _X[column], y, _WIDTH, height, ORANGE if on else PAPER)
        size = 9 if len(text) < 15 else 7  # the longest has to fit into its box, bold
        ax.text(_X[column], y, text, ha="center", va="center", fontsize=size, weight="bold" if on else "normal")
    for column in (0, 1):
        parts = [p for p in _PARTS.values() if p[1] == column]
        for (_, _, low, low_h), (_, _, high, high_h) in zip(parts, parts[1:], strict=False):
            start, end = low + (low_h / 2 or 0.25), high - (high_h / 2 or 0.25)
            _arrow(ax, (_X[column], start), (_X[column], end))
    memory, reader = _PARTS["encoder add & norm 2"][2] + 0.25, _PARTS["cross-attention"][2]
    middle = sum(_X) / 2
    ax.plot([_X[0], _X[0], middle, middle], [memory, 6.6, 6.6, reader], color=INK, lw=1)
    _arrow(ax, (middle, reader), (_X[1] - _WIDTH / 2, reader))
    ax.text(middle - 0.1, 6.75, "memory", fontsize=8, color=GREY, ha="right")
    return ax


def _box(ax, x, y, width, height, color, dashed=False):
    ax.add_patch(
        FancyBboxPatch(
            (x - width / 2, y - height / 2), width, height, boxstyle="round,pad=0,rounding_size=0.15",
            facecolor=color, edgecolor=GREY if dashed else INK, linewidth=0.8, linestyle="--" if dashed else "-",
        )
    )  # fmt: skip


def _arrow(ax, start, end):
    ax.add_patch(FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=7, color=INK, lw=1, shrinkA=0, shrinkB=0))
