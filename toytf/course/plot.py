"""Figures: their style, heat maps, and the spine that opens each chapter.

Needs matplotlib (``pip install "toytf[plot]"``), and so does ``plot_svg`` beside it; nothing else does. Colours are
the page's: a palette after Okabe and Ito, and one ramp from paper towards the accent. Both can be told apart by
colour-blind readers.
"""

from __future__ import annotations

try:
    import matplotlib.pyplot as plt
except ImportError as error:
    raise ImportError('figures need matplotlib: pip install "toytf[plot]"') from error
import numpy as np
from matplotlib import colormaps
from matplotlib.colors import LinearSegmentedColormap

from toytf._validate import shape_text
from toytf.byhand import fmt
from toytf.course.plot_spine import spine as spine
from toytf.course.plot_svg import FONT, svg

BLUE, ORANGE, GREEN, RED, SKY, PURPLE, GREY = (
    "#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#6E6E6E",
)  # fmt: skip
RED_INK = "#A83C00"  # red that can be read, for words
ACCENT = "#A3195B"  # attention, and never a sign
INK, PAPER, QUIET = "#1F2430", "#FFFFFF", "#ECEEF2"
# Grounds of boxes: text in INK is legible on them, in the light and in the dark.
ROW, COL = "#D6E8F7", "#FBE3B8"
# Numbers as colours: from paper to accent. Below the middle INK is legible on them, above it PAPER, in the light
# and in the dark; what lies between, where neither is, is left out.
RAMP = LinearSegmentedColormap.from_list(
    "toytf", [(0, ACCENT + "00"), (0.5, ACCENT + "80"), (0.5, ACCENT + "C8"), (1, ACCENT)]
)
colormaps.register(RAMP)

PAIR = (9.6, 4.2)  # inches of a figure with two panels: side by side on a desk, else one above the other

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
    "axes.labelpad": 6,  # else a name stands among the numbers of its axis
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
    "image.cmap": RAMP.name,
    "text.color": INK,
    "text.parse_math": True,
}


def style() -> None:
    """Set the course's figure style; a notebook shows figures as SVG from now on, whose text is text and whose colours
    follow the page's light and dark.
    """
    plt.rcParams.update(STYLE)
    try:
        from IPython import get_ipython
    except ImportError:  # the package does without
        return
    if get_ipython() is None:
        return
    from matplotlib_inline.backend_inline import configure_inline_support
    from matplotlib_inline.config import InlineBackend

    shell = get_ipython()
    inline = InlineBackend.instance(parent=shell)
    inline.rc, inline.figure_formats = {}, {"svg"}
    configure_inline_support(shell, "inline")  # whatever it sets up later, it has set up now
    for formatter in shell.display_formatter.formatters.values():
        formatter.pop(plt.Figure, None)
    shell.display_formatter.formatters["image/svg+xml"].for_type(plt.Figure, svg)


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
    """Draw a matrix, (rows, columns), as coloured cells, with its numbers written in them.

    The title says what is to be seen, as a sentence. `rows` and `cols` are labels, and `row_name` and `col_name` say
    what the axes are (``"query"``, ``"key"``). The `limits` are the values that get the faintest and the strongest
    colour. If `write` is left out, numbers are written where there are at most 100 cells. Without `ax` there is a new
    figure. Returns the axes.
    """
    matrix = np.asarray(matrix, dtype=float)
    if matrix.ndim != 2:
        raise ValueError(f"matrix: expected rows and columns, got shape {shape_text(matrix.shape)}")
    if ax is None:
        _, ax = plt.subplots()
    low, high = limits if limits is not None else (matrix.min(), matrix.max())
    image = ax.imshow(matrix, cmap=RAMP, vmin=low, vmax=high, aspect="auto" if matrix.size > 100 else "equal")
    ax.set_title(title)
    ax.set_xlabel(col_name)
    ax.set_ylabel(row_name)
    for axis, labels in ((ax.xaxis, cols), (ax.yaxis, rows)):
        if labels is not None:
            axis.set_ticks(range(len(labels)), labels)
    ax.spines[:].set_visible(False)
    if write if write is not None else matrix.size <= 100:
        for (i, j), value in np.ndenumerate(matrix):
            text, share = fmt(value, decimals), image.norm(value)
            ink = PAPER if share >= 0.5 else GREY if share < 0.01 and not float(text) else INK
            ax.text(j, i, text.replace("-", "−"), ha="center", va="center", color=ink)
        ax.tick_params(length=0)
    return ax
