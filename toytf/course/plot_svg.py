"""How the course's figures are written: small SVG files, which belong to the page that they stand in.

``plot.style()`` tells IPython to show figures by this module, and then every figure of a notebook becomes an SVG whose

- text is text: it can be selected, searched and read aloud;
- colours are those of the page: ``var(--toytf-blue, #0072B2)`` follows the page's light and dark, and stands for
  itself where no page defines it;
- panels (the axes) are nested ``<svg class="panel">``, so that the book can set them
  side by side where there is room and one above the other where there is not;
- message, the sentence that the figure says, is a ``<g class="message">`` of its own, wrapped to the figure's width.

The same figure gives the same bytes every time.
"""

from __future__ import annotations

import hashlib
import itertools
import re
from xml.sax.saxutils import escape

import numpy as np
from matplotlib import colors, rcParams
from matplotlib.backend_bases import RendererBase
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.path import Path
from matplotlib.text import Text
from matplotlib.transforms import Affine2D, Bbox

from toytf._validate import require_class

# What a page calls the colours, and what they are where no page says anything.
PALETTE = {
    "#0072B2": "blue", "#E69F00": "orange", "#009E73": "green", "#D55E00": "red", "#56B4E9": "sky",
    "#CC79A7": "purple", "#6E6E6E": "grey",
    "#1F2430": "ink", "#FFFFFF": "paper", "#ECEEF2": "shade", "#D6E8F7": "row", "#FBE3B8": "col",
    "#A83C00": "differs", "#A3195B": "accent",
}  # fmt: skip
SANS = "var(--toytf-sans,system-ui,'Segoe UI',Roboto,'DejaVu Sans',sans-serif)"

FONT = 15.5  # points; what a figure's text has if nothing else is said
SCALE = 500 / 460.8  # CSS pixels for a point: 6.4 inches are 500 pixels, the text 16.8 high; 12 on a phone
WIDEST = 680  # pixels that a page has for a row of panels, without the gaps
NARROW = 462  # points: a figure up to here is legible on a phone as it is, and its panels stay together

_ANCHOR = {"left": ("start", 0.0), "center": ("middle", 0.5), "right": ("end", 1.0)}


def number(value: float, decimals: int = 1) -> str:
    """Write a coordinate as short as it can be: ``0.50`` is ``.5``, ``-0.0`` is ``0``."""
    text = f"{value:.{decimals}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    text = re.sub(r"^(-?)0\.", r"\1.", text)
    return "0" if text in {"-0", "-", ""} else text


def paint(rgb) -> str:
    """Write a colour: the page's own if it is one of the palette, else as it is."""
    hexed = colors.to_hex(rgb[:3]).upper()
    return f"var(--toytf-{PALETTE[hexed]},{hexed})" if hexed in PALETTE else hexed.lower()


def _pairs(*numbers: float) -> str:
    """Numbers of a path, with a space only where one is needed."""
    text = ""
    for value in numbers:
        word = number(value)
        text += word if not text or word.startswith("-") else " " + word
    return text


def _shape(path: Path, transform=None, **cleaning) -> str:
    """A path as text, coordinates relative, so that near points are short words."""
    words, here, start, last = [], np.zeros(2), np.zeros(2), ""
    for points, code in path.cleaned(transform, **cleaning).iter_segments(curves=True, simplify=False):
        if code == Path.STOP:
            break
        if code == Path.CLOSEPOLY:
            words.append("z")
            here, last = start, "z"
            continue
        points = np.round(points.reshape(-1, 2), 1)
        if code == Path.MOVETO:
            start, letter, step = points[0], "M", _pairs(*points[0])
        else:
            letter = {Path.LINETO: "l", Path.CURVE3: "q", Path.CURVE4: "c"}[code]
            step = _pairs(*(points - here).ravel())
            along = np.round(points[0] - here, 1)
            if letter == "l" and 0 in along:
                letter, step = ("h", _pairs(along[0])) if along[1] == 0 else ("v", _pairs(along[1]))
        joined = "" if step.startswith("-") else " "  # a letter is not said twice
        words.append((joined if letter == last != "M" else letter) + step)
        here, last = points[-1], letter
    return "".join(words)


def _is_circle(path: Path) -> bool:
    return len(path.vertices) == 26 and path.codes is not None and path.codes[1] == Path.CURVE4


class Renderer(RendererBase):
    """Draws the elements of each panel; `assemble` writes the file."""

    def __init__(self, width: float, height: float, panel_of: dict[str, object], written: dict[str, Text]):
        super().__init__()
        self.width, self.height = width, height
        self.panel_of = panel_of
        self.written = written  # texts by their names: of one with several lines matplotlib does not say which it is
        self.parts: dict = {}
        self.defs: dict[str, str] = {}
        self._open: list = []

    # -- where to draw

    def open_group(self, s, gid=None):
        self._open.append(self.panel_of.get(gid, self._open[-1] if self._open else "figure"))
        if gid in self.written:
            self._text, self._line = self.written[gid], -1

    def close_group(self, s):
        self._open.pop()

    def _emit(self, tag: str, style: str, attributes: str, content: str = "") -> None:
        """Add an element. Each says its whole style: a page is sent gzipped, so that weighs next to nothing."""
        end = f">{content}</{tag}>" if content else "/>"
        part = self._open[-1] if self._open else "figure"
        self.parts[part] = self.parts.get(part, "") + f'<{tag}{attributes} style="{style}"{end}'

    def _define(self, element: str) -> str:
        """Keep a definition once, and return its name; the real one gets the file's fingerprint."""
        return self.defs.setdefault(element, f"@{len(self.defs)}")

    # -- what matplotlib asks

    def get_canvas_width_height(self):
        return self.width, self.height

    def option_image_nocomposite(self):
        return True

    def option_scale_image(self):
        return True

    def get_text_width_height_descent(self, s, prop, ismath):
        return self._text2path.get_text_width_height_descent(s, prop, ismath)

    def _flip(self, transform):
        return transform + Affine2D().scale(1, -1).translate(0, self.height)

    # -- shapes

    def _style(self, gc, face) -> str:
        alpha = gc.get_alpha() if gc.get_forced_alpha() else None

        def opacity(colour):
            return alpha if alpha is not None else colour[3] if len(colour) == 4 else 1

        words = ["fill:none"]
        if face is not None and (len(face) == 3 or face[3] > 0):
            words = [f"fill:{paint(face)}"]
            if opacity(face) < 1:
                words.append(f"fill-opacity:{number(opacity(face), 2)}")
        rgb, width = gc.get_rgb(), gc.get_linewidth()
        if width > 0 and opacity(rgb) > 0:
            words.append(f"stroke:{paint(rgb)}")
            if width != 1:
                words.append(f"stroke-width:{number(width, 2)}")
            if opacity(rgb) < 1:
                words.append(f"stroke-opacity:{number(opacity(rgb), 2)}")
            dashes = gc.get_dashes()[1]
            if dashes is not None:
                words.append("stroke-dasharray:" + " ".join(number(d) for d in dashes))
            elif gc.get_capstyle() != "butt":
                words.append("stroke-linecap:" + {"projecting": "square"}.get(gc.get_capstyle(), "round"))
            if gc.get_joinstyle() == "miter":
                words.append("stroke-linejoin:miter")
        return ";".join(words)

    def _clip(self, gc, box: Bbox) -> str:
        """The attribute that keeps a shape in its axes, where it would leave them."""
        axes, room = gc.get_clip_rectangle(), gc.get_linewidth() / 2 + 0.6
        if axes is None:
            return ""
        axes = axes.padded(room)  # a line along the border keeps its width
        x, y, w, h = axes.x0, self.height - axes.y1, axes.width, axes.height
        if min(box.x0 - x, x + w - box.x1, box.y0 - y, y + h - box.y1) >= 0:
            return ""
        sides = f'x="{number(x)}" y="{number(y)}" width="{number(w)}" height="{number(h)}"'
        return f' clip-path="url(#{self._define(f"""<clipPath id="@@"><rect {sides}/></clipPath>""")})"'

    def draw_path(self, gc, path, transform, rgbFace=None):
        style, trans = self._style(gc, rgbFace), self._flip(transform)
        if style == "fill:none":
            return
        box = path.get_extents(trans)
        if not np.isfinite(box.get_points()).all():
            box = Bbox([[0, 0], [self.width, self.height]])
        clip = self._clip(gc, box)
        if _is_circle(path) and np.isclose(box.width, box.height, atol=0.05):
            x, y, r = number((box.x0 + box.x1) / 2), number((box.y0 + box.y1) / 2), number(box.width / 2, 2)
            self._emit("circle", style, f' cx="{x}" cy="{y}" r="{r}"{clip}')
            return
        simplify = path.should_simplify and style.startswith("fill:none")
        shape = _shape(path, trans, remove_nans=True, curves=True, simplify=simplify)
        if shape:
            self._emit("path", style, f' d="{shape}"{clip}')
            if gc.get_hatch():
                self._emit("path", f"fill:url(#{self._hatch(gc)})", f' d="{shape}"{clip}')

    def _hatch(self, gc) -> str:
        """A pattern of lines or dots; the letters say which, how many of them how dense."""
        letters = gc.get_hatch()
        space = number(18 / len(letters))
        ink = f"stroke:{paint(gc.get_hatch_color())}"
        turn = {"/": 45, "\\": -45, "x": 45, "-": 90, "+": 0}.get(letters[0], 0)
        lines = f"M0 0V{space}" + (f"M0 0H{space}" if letters[0] in "x+" else "")
        return self._define(
            f'<pattern id="@@" width="{space}" height="{space}" patternUnits="userSpaceOnUse" '
            f'patternTransform="rotate({turn})"><path d="{lines}" style="{ink};stroke-width:2"/></pattern>'
        )

    def draw_markers(self, gc, marker_path, marker_trans, path, trans, rgbFace=None):
        style = self._style(gc, rgbFace)
        size = marker_path.get_extents(marker_trans)
        axes = gc.get_clip_rectangle()
        places = {}  # one on top of its like is unseen
        for vertices, _ in path.iter_segments(trans, simplify=False):
            x, y = vertices[-2:]
            # matplotlib clips a marker at the border in two: here it is whole or not there
            if np.isfinite(x + y) and (axes is None or axes.padded(1).contains(x, y)):
                places[round(x, 1), round(self.height - y, 1)] = None
        if not places:
            return
        looks = dict(word.split(":", 1) for word in style.split(";"))
        if _is_circle(marker_path) and looks["fill"] == looks.get("stroke", looks["fill"]) and "opacity" not in style:
            # a dot of one colour: a line of no length with round ends, which is a third of the bytes
            wide = size.width + (float(looks.get("stroke-width", "1")) if "stroke" in looks else 0)
            style = f"fill:none;stroke:{looks['fill']};stroke-width:{number(wide, 2)};stroke-linecap:round"
            self._emit("path", style, f' d="{"".join(f"M{_pairs(x, y)}h0" for x, y in places)}"')
        elif _is_circle(marker_path):
            circles = (
                f'<circle cx="{number(x)}" cy="{number(y)}" r="{number(size.width / 2, 2)}"/>' for x, y in places
            )
            self._emit("g", style, "", "".join(circles))
        else:
            shape = _shape(marker_path, marker_trans + Affine2D().scale(1, -1))
            if "z" not in shape and marker_path.codes is None:  # a stroke, as ticks are: nothing to fill
                style = re.sub("^fill:[^;]*(;fill-opacity:[^;]*)?", "fill:none", style)
            self._emit("path", style, f' d="{"".join(_moved(shape, x, y) for x, y in places)}"')

    # -- cells

    def draw_image(self, gc, x, y, im, transform=None):
        """Cells as shapes, those of one colour as one path."""
        rows, cols = im.shape[:2]
        (left, first), (right, last) = transform.transform([[0, 0], [1, 1]]) + [x, y]  # the edges of first and last row
        left, right = min(left, right), max(left, right)
        top, bottom = self.height - max(first, last), self.height - min(first, last)
        # rounded before widths are taken: a width rounded by itself leaves a seam beside its cell
        edges_x, edges_y = np.linspace(left, right, cols + 1).round(1), np.linspace(top, bottom, rows + 1).round(1)
        shapes: dict[str, str] = {}
        for i, row in enumerate(np.asarray(im)[:: 1 if first > last else -1]):
            for colour, run in itertools.groupby(enumerate(map(tuple, row.tolist())), lambda cell: cell[1]):
                if colour[3]:
                    columns = [j for j, _ in run]
                    ink, high = f"fill:{paint(np.divide(colour[:3], 255))}", edges_y[i + 1] - edges_y[i]
                    if colour[3] < 255:
                        ink += f";fill-opacity:{number(colour[3] / 255, 2)}"
                    wide = edges_x[columns[-1] + 1] - edges_x[columns[0]]
                    box = f"M{_pairs(edges_x[columns[0]], edges_y[i])}h{number(wide)}v{number(high)}h{number(-wide)}z"
                    shapes[ink] = shapes.get(ink, "") + box
        for ink, shape in shapes.items():
            self._emit("path", ink, f' d="{shape}" shape-rendering="crispEdges"')

    # -- text

    def draw_text(self, gc, x, y, s, prop, angle, ismath=False, mtext=None):
        # The page may write smaller than the figure: a text stands by what it is aligned to, and its baseline and the
        # next lines are so many of its heights away from there.
        line = 0
        if mtext is None:  # one of several lines
            mtext, self._line = self._text, self._line + 1
            line = self._line
        lines = mtext.get_text().count("\n") + 1
        up = {"top": 0, "bottom": 1}.get(mtext.get_va(), 0.5) if not angle else 0.5
        down = 0.8 + 1.2 * line - up * (1.2 * lines - 0.3)
        anchor, share = _ANCHOR[(lines > 1 and mtext._multialignment) or mtext.get_ha()]
        turn, size = np.deg2rad(angle), prop.get_size_in_points()
        along, across = share * self.get_text_width_height_descent(s, prop, ismath)[0], down * size
        x, y = x + along * np.cos(turn) - across * np.sin(turn), y - along * np.sin(turn) - across * np.cos(turn)
        if up == 0.5 and not angle and mtext.get_va() != "baseline":  # matplotlib counts the room below the letters too
            y = self.height - mtext.get_transform().transform(mtext.get_unitless_position())[1]
        if angle == 90 and mtext.axes and mtext is mtext.axes.yaxis.label:  # beyond the ticks' names, at any size
            names = [name for name in mtext.axes.get_yticklabels() if name.get_text()]  # which end where the first does
            end = names[0].get_transform().transform(names[0].get_position())[0] if names else mtext.axes.bbox.x0
            x, down = end, down - (end - x) / size - 0.25 * any("$" in name.get_text() for name in names)
        style = [f"fill:{paint(gc.get_rgb())}"]
        if gc.get_alpha() is not None and gc.get_alpha() < 1:
            style.append(f"fill-opacity:{number(gc.get_alpha(), 2)}")
        if anchor != "start":
            style.append(f"text-anchor:{anchor}")
        if prop.get_weight() not in ("normal", 400, "regular"):
            style.append("font-weight:600")
        if prop.get_style() == "italic":
            style.append("font-style:italic")
        where = f' x="{number(x)}" y="{number(y)}"' + ("" if ismath else f' dy="{number(down, 2)}em"')
        if angle:
            where += f' transform="rotate({number(-angle)} {number(x)} {number(y)})"'
        content = self._formula(s, prop, down) if ismath else escape(s.replace("'", "’"))
        self._emit("text", ";".join(style), where, content)

    def _formula(self, s, prop, down) -> str:
        """A short formula, in runs of one height and one size; nothing with roots or fractions."""
        _, _, _, glyphs, rects = self._text2path.mathtext_parser.parse(s, 72, prop)
        if rects:
            raise ValueError(f"text in a figure: expected no root or fraction, got {s}")
        text, height, end, last = "", down * prop.get_size_in_points(), -1, ""
        for (size, up, slanted), run in itertools.groupby(glyphs, _set_alike):
            size = max(size, 0.85 * prop.get_size_in_points())  # what is raised can be read, too
            run = list(run)
            under = f' dx="-{number(0.75 * len(last), 2)}em"' if run[0][-2] < end else ""  # an index below its exponent
            last, end = run, run[-1][-2] + 0.2 * size
            letters = escape("".join(chr(glyph[2]) for glyph in run))
            words = f' dy="{number((height - up) / size, 2)}em"' if height != up else ""
            share = number(size / prop.get_size_in_points(), 2)
            words += f' font-size="{share}em"' if share != "1" else ""
            words += under + ' font-style="italic"' * slanted
            text, height = text + (f"<tspan{words}>{letters}</tspan>" if words else letters), up
        return text


def _set_alike(glyph) -> tuple[float, float, bool]:
    """The size of a glyph of a formula, how high it stands, whether it is slanted."""
    font, size, *_, height = glyph
    return round(size, 2), round(height, 2), any(word in font.postscript_name for word in ("Oblique", "Italic"))


def _moved(shape: str, x: float, y: float) -> str:
    """A marker's shape at a place. All but its beginnings are relative."""
    return re.sub(r"M(-?\d*\.?\d+) ?(-?\d*\.?\d+)", lambda m: "M" + _pairs(float(m[1]) + x, float(m[2]) + y), shape)


# ---------------------------------------------------------------- the file


def assemble(renderer: Renderer, boxes: dict) -> str:
    """Write the file: paper, message, panels in their order, each as a picture of its own."""
    width, height = renderer.width, renderer.height
    scale = min(SCALE, WIDEST / width)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="toytf-figure" viewBox="0 0 {number(width)} {number(height)}" '
        f'width="{number(width * scale, 0)}" height="{number(height * scale, 0)}" '
        f'style="font:{number(FONT)}px {SANS};stroke-linejoin:round">',
        '<rect class="paper" width="100%" height="100%" style="fill:var(--toytf-paper,#FFFFFF)"/>',
    ]
    if renderer.parts.get("message"):
        lines.append(f'<g class="message">{renderer.parts["message"]}</g>')
    for panel, (name, box) in enumerate(boxes.items()):
        content = renderer.parts.get(name, "")
        used = [e.replace("@@", n) for e, n in renderer.defs.items() if re.search(rf"#{n}\b", content)]
        head = f"<defs>{''.join(used)}</defs>" if used else ""
        x, y, w, h = map(number, box.bounds)
        place = f'x="{x}" y="{y}" width="{w}" height="{h}" viewBox="{x} {y} {w} {h}"'
        own = re.sub(r'((?:id="|url\(#))@', rf"\1@{panel}-", head + content)  # a page may take the panels apart
        lines.append(f'<svg class="panel" {place}>{own}</svg>')
    text = "\n".join([*lines, "</svg>"]) + "\n"
    fingerprint = "f" + hashlib.sha256(text.encode()).hexdigest()[:7]
    return re.sub(r'((?:id="|url\(#))@', rf"\1{fingerprint}-", text)


def _wrapped(text, measure, width: float) -> str:
    """The words of a matplotlib text in lines that fit."""
    lines = [""]
    for word in text.get_text().split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and measure(longer, text.get_fontproperties()) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return "\n".join(lines)


def panels(figure) -> dict:
    """Which panel each axes belong to: a twin to its sister's."""
    of: dict = {}
    for axes in figure.axes:
        spec = axes.get_subplotspec()
        sisters = [other for other in of if spec and other.get_subplotspec() == spec]
        of[axes] = of.get(sisters[-1], sisters[-1]) if sisters else axes
    return of


def place_titles(figure, leaders) -> None:
    """Put the message on top and the titles of panels in lines, for good."""
    canvas, dpi = figure.canvas, figure.dpi
    renderer = FigureCanvasAgg(figure).get_renderer()  # a canvas takes the figure over
    figure.set_canvas(canvas)

    def measure(text, prop):
        return renderer.get_text_width_height_descent(text, prop, "$" in text)[0] / dpi * 72

    width, message = figure.get_figwidth() * 72, figure._suptitle
    titles = [t for axes in leaders for t in (axes.title, axes._left_title, axes._right_title) if t.get_text()]
    if len(leaders) == 1 and titles and not (message and message.get_text()):
        message = figure.suptitle(" ".join(t.get_text() for t in titles))
        for title in titles:
            title.set_text("")
        titles = []
    if message:
        message.set(x=0.0, ha="left", fontsize=rcParams["figure.titlesize"], fontweight=rcParams["figure.titleweight"])
        message.set(gid="message", text=_wrapped(message, measure, width - 4))
    if titles:
        figure.draw_without_rendering()
    for title in titles:
        axes, right, spec = title.axes, width, title.axes.get_subplotspec()
        if spec is not None:
            ratios = np.cumsum(spec.get_gridspec().get_width_ratios())
            # long labels on the left push a panel to the right: its title may go as far as it does
            right = max(width * ratios[spec.colspan.stop - 1] / ratios[-1], axes.bbox.x1 / dpi * 72 + 6)
        title.set_text(_wrapped(title, measure, right - axes.bbox.x0 / dpi * 72 - 6))


def _extents(figure, of, renderer) -> dict:
    """The box of each panel, in points from the top; those of one row are equally high, and labels have equal room."""
    height = figure.get_figheight() * 72
    boxes: dict = {}
    for axes, leader in of.items():
        if axes.get_visible():
            box = axes.get_tightbbox(renderer)
            boxes[leader] = Bbox.union([boxes[leader], box]) if leader in boxes else box

    def row(leader):
        spec = leader.get_subplotspec()
        return (spec.rowspan.start, spec.rowspan.stop) if spec else leader

    found = {}
    for leader, box in boxes.items():
        beside = {o: other for o, other in boxes.items() if row(o) == row(leader)}
        high = Bbox.union([*beside.values()])
        x0, x1 = np.clip([box.x0 - 3, box.x1 + 3], 0, figure.get_figwidth() * 72)
        if leader.get_yticklabels():  # one above the other on a phone, they begin alike
            room = max(o.bbox.x0 - other.x0 for o, other in beside.items() if o.get_yticklabels())
            x0 = min(x0, leader.bbox.x0 - room - 3)
        top, bottom = np.clip([height - high.y1 - 3, height - high.y0 + 3], 0, height)
        found[leader] = Bbox([[np.floor(x0), np.floor(top)], [np.ceil(x1), np.ceil(bottom)]])
    return found


def svg(figure) -> str:
    """Write a figure as SVG. It keeps the message and the lines that its titles are given here."""
    require_class("figure", figure, Figure)
    of = panels(figure)
    place_titles(figure, list(dict.fromkeys(of.values())))
    figure._set_dpi(72, forward=False)
    for k, axes in enumerate(figure.axes):
        axes.set_gid(f"axes-{k}")
        axes.yaxis.label.axes = axes
        for image in axes.images:
            image.set_interpolation("none")  # else matplotlib blows the cells up to pixels itself
    width, height = figure.get_figwidth() * 72, figure.get_figheight() * 72
    written = {text.get_gid() or f"text-{k}": text for k, text in enumerate(figure.findobj(Text))}
    for name, text in written.items():
        text.set_gid(name)
    panel_of = {axes.get_gid(): of[axes] for axes in figure.axes} | {"message": "message"}
    renderer = Renderer(width, height, panel_of, written)
    figure.patch.set_visible(False)  # the page has its own paper
    figure.draw(renderer)
    figure.patch.set_visible(True)
    boxes = _extents(figure, of, renderer)
    beside = [*figure.legends, *figure.texts, figure._supxlabel, figure._supylabel]
    rest = [one.get_window_extent(renderer) for one in beside if one is not None and one.get_gid() != "message"]
    rest = [Bbox([[b.x0, height - b.y1], [b.x1, height - b.y0]]) for b in rest if b.width]
    parts = renderer.parts
    if figure.patches or figure.lines or figure.artists or width < NARROW:  # all is one picture
        renderer.parts = {"message": parts.pop("message", ""), "whole": "".join(parts.values())}
        boxes = {"whole": Bbox.union([*boxes.values(), *rest])}
    elif rest:
        boxes["figure"] = Bbox.union(rest).padded(2)
    return assemble(renderer, boxes)
