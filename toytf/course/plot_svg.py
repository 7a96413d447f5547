"""How the course's figures are written: small SVG files, which belong to the page that they stand in.

``plot.style()`` tells IPython to show figures by this module, and then every figure of a notebook becomes an SVG whose

- text is text: it can be selected, searched and read aloud;
- colours are those of the page: ``var(--toytf-blue, #0072B2)`` follows the page's light and dark, and stands for
  itself where no page defines it;
- panels (the axes, each with its colour bar) are nested ``<svg class="panel">``, so that the book can set them
  side by side where there is room and one above the other where there is not;
- message, the sentence that the figure says, is a ``<g class="message">`` of its own, wrapped to the figure's width.

The same figure gives the same bytes every time.
"""

from __future__ import annotations

import base64
import hashlib
import io
import re
import struct
import zlib
from contextlib import contextmanager
from xml.sax.saxutils import escape, quoteattr

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
    "#CC79A7": "purple", "#F0E442": "yellow", "#6E6E6E": "grey",
    "#1F2430": "ink", "#FFFFFF": "paper", "#ECEEF2": "shade", "#D6E8F7": "row", "#FBE3B8": "col",
    "#A83C00": "differs",
}  # fmt: skip
SANS = "var(--toytf-sans,system-ui,'Segoe UI',Roboto,'DejaVu Sans',sans-serif)"

FONT = 14.5  # points; what a figure's text has if nothing else is said
SCALE = 500 / 460.8  # CSS pixels for a point: a figure of 6.4 inches is 500 pixels wide, its text 15.7 high
WIDEST = 680  # pixels that a page has for a row of panels, without the gaps
NARROW = 462  # points: a figure up to here is legible on a phone as it is, and its panels stay together
MOST_CELLS = 1500  # of a heat map drawn as shapes; one with more is a small raster

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


def _shape(path: Path, transform, **cleaning) -> str:
    """A path as text, coordinates relative, so that near points are short words."""
    path = transform.transform_path(path) if not cleaning else path.cleaned(transform, **cleaning)
    words, here, start = [], np.zeros(2), np.zeros(2)
    last = ""
    for points, code in path.iter_segments(curves=True, simplify=False):
        if code == Path.STOP:
            break
        if code == Path.CLOSEPOLY:
            words.append("z")
            here, last = start, "z"
            continue
        points = np.round(points.reshape(-1, 2), 1)
        if code == Path.MOVETO:
            words.append("M" + _pairs(*points[0]))
            start, letter = points[0], "M"
        else:
            letter = {Path.LINETO: "l", Path.CURVE3: "q", Path.CURVE4: "c"}[code]
            step = _pairs(*(points - here).ravel())
            if letter == "l" and len(points) == 1 and 0 in np.round(points[0] - here, 1):
                sideways = round(float(points[0][1] - here[1]), 1) == 0
                letter = "h" if sideways else "v"
                step = _pairs(points[0][0] - here[0] if sideways else points[0][1] - here[1])
            same = letter == last
            words.append((" " if same and not step.startswith("-") else "" if same else letter) + step)
        here, last = points[-1], letter
    return "".join(words)


def _is_circle(path: Path) -> bool:
    return len(path.vertices) == 26 and path.codes is not None and path.codes[1] == Path.CURVE4


class Renderer(RendererBase):
    """Draws into lists of elements, one for each panel; `assemble` writes them."""

    def __init__(self, width: float, height: float, panel_of: dict[str, object]):
        super().__init__()
        self.width, self.height = width, height
        self.panel_of = panel_of
        self.parts: dict = {}
        self.defs: dict[str, str] = {}
        self._open: list = []

    # -- where to draw

    def open_group(self, s, gid=None):
        self._open.append(self.panel_of.get(gid, self._open[-1] if self._open else "figure"))

    def close_group(self, s):
        self._open.pop()

    def _emit(self, tag: str, style: str, attributes: str, content: str = "") -> None:
        part = self._open[-1] if self._open else "figure"
        self.parts.setdefault(part, []).append((tag, style, attributes, content))

    def _define(self, element: str) -> str:
        """Keep a definition once, and return its name; the real one gets the file's fingerprint."""
        return self.defs.setdefault(element, f"@{len(self.defs)}")

    # -- what matplotlib asks

    def flipy(self):
        return True

    def get_canvas_width_height(self):
        return self.width, self.height

    def points_to_pixels(self, points):
        return points

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
        words = []
        if face is None or (len(face) == 4 and face[3] == 0):
            words.append("fill:none")
        else:
            words.append(f"fill:{paint(face)}")
            opacity = alpha if alpha is not None else face[3] if len(face) == 4 else 1
            if opacity < 1:
                words.append(f"fill-opacity:{number(opacity, 2)}")
        rgb, width = gc.get_rgb(), gc.get_linewidth()
        opacity = alpha if alpha is not None else rgb[3]
        if width > 0 and opacity > 0:
            words.append(f"stroke:{paint(rgb)}")
            if width != 1:
                words.append(f"stroke-width:{number(width, 2)}")
            if opacity < 1:
                words.append(f"stroke-opacity:{number(opacity, 2)}")
            offset, dashes = gc.get_dashes()
            if dashes is not None:
                words.append("stroke-dasharray:" + " ".join(number(d) for d in dashes))
                if offset:
                    words.append(f"stroke-dashoffset:{number(offset)}")
            elif gc.get_capstyle() == "projecting":
                words.append("stroke-linecap:square")
            if gc.get_joinstyle() == "miter":
                words.append("stroke-linejoin:miter")
        return ";".join(words)

    def _clip(self, gc, box: Bbox) -> str:
        """The attribute that keeps a shape in its axes, where it would leave them."""
        rectangle = gc.get_clip_rectangle()
        if rectangle is None:
            return ""
        x0, y0, x1, y1 = rectangle.x0, self.height - rectangle.y1, rectangle.x1, self.height - rectangle.y0
        room = gc.get_linewidth() / 2 + 0.6
        if box.x0 >= x0 - room and box.x1 <= x1 + room and box.y0 >= y0 - room and box.y1 <= y1 + room:
            return ""
        element = (
            f'<clipPath id="@@"><rect x="{number(x0)}" y="{number(y0)}" '
            f'width="{number(x1 - x0)}" height="{number(y1 - y0)}"/></clipPath>'
        )
        return f' clip-path="url(#{self._define(element)})"'

    def draw_path(self, gc, path, transform, rgbFace=None):
        style = self._style(gc, rgbFace)
        if "stroke:" not in style and style.startswith("fill:none"):
            return
        trans = self._flip(transform)
        box = path.get_extents(trans)
        if not np.isfinite(box.get_points()).all():
            box = Bbox([[0, 0], [self.width, self.height]])
        if _is_circle(path) and np.isclose(box.width, box.height, atol=0.05):
            where = (number((box.x0 + box.x1) / 2), number((box.y0 + box.y1) / 2), number(box.width / 2, 2))
            self._emit("circle", style, ' cx="{}" cy="{}" r="{}"'.format(*where) + self._clip(gc, box))
            return
        rectangle, cleaning, clip = gc.get_clip_rectangle(), {"remove_nans": True, "curves": True}, ""
        curved = path.codes is not None and bool(np.isin(path.codes, (Path.CURVE3, Path.CURVE4)).any())
        if rectangle is not None and style.startswith("fill:none") and not curved:
            room = gc.get_linewidth() / 2 + 0.5  # a line is cut at the border, and needs no clip path
            x0, x1 = rectangle.x0 - room, rectangle.x1 + room
            y0, y1 = self.height - rectangle.y1 - room, self.height - rectangle.y0 + room
            cleaning["clip"] = (x0, y0, x1, y1)
        else:
            clip = self._clip(gc, box)
        cleaning["simplify"] = path.should_simplify and style.startswith("fill:none")
        shape = _shape(path, trans, **cleaning)
        if not shape:
            return
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
        rectangle, places = gc.get_clip_rectangle(), []
        for vertices, _ in path.iter_segments(trans, simplify=False):
            if len(vertices) and np.isfinite(vertices[-2:]).all():
                x, y = vertices[-2:]
                inside = rectangle is None or rectangle.padded(1).contains(x, y)
                if inside:  # matplotlib clips a marker at the border in two: here it is whole or not there
                    places.append((x, self.height - y))
        places = list(dict.fromkeys((round(x, 1), round(y, 1)) for x, y in places))  # one on top of its like is unseen
        looks = dict(word.split(":", 1) for word in style.split(";"))
        if _is_circle(marker_path) and looks["fill"] == looks.get("stroke", looks["fill"]) and "opacity" not in style:
            # a dot of one colour: a line of no length with round ends, which is a third of the bytes
            wide = size.width + (float(looks.get("stroke-width", "1")) if "stroke" in looks else 0)
            style = f"fill:none;stroke:{looks['fill']};stroke-width:{number(wide, 2)};stroke-linecap:round"
            dots = "".join(f"M{_pairs(x, y)}h0" for x, y in places)
            if dots:
                self._emit("path", style, f' d="{dots}"')
        elif _is_circle(marker_path):
            for x, y in places:
                self._emit("circle", style, f' cx="{number(x)}" cy="{number(y)}" r="{number(size.width / 2, 2)}"')
        elif places:
            shape = _shape(marker_path, marker_trans + Affine2D().scale(1, -1))
            if "z" not in shape and marker_path.codes is None:  # a stroke, as ticks are: nothing to fill
                style = re.sub("^fill:[^;]*(;fill-opacity:[^;]*)?", "fill:none", style)
            moved = [_moved(shape, x, y) for x, y in places]
            self._emit("path", style, f' d="{"".join(moved)}"')

    # -- cells

    def _cells(self, edges_x, edges_y, pixels) -> None:
        """Cells as shapes, those of one colour as one path."""
        shapes: dict[str, str] = {}
        for i, row in enumerate(pixels):
            j = 0
            while j < len(row):
                end = j + 1
                while end < len(row) and (row[end] == row[j]).all():
                    end += 1
                if row[j][3]:
                    ink = paint(row[j][:3] / 255)
                    wide, high = edges_x[end] - edges_x[j], edges_y[i + 1] - edges_y[i]
                    box = f"M{_pairs(edges_x[j], edges_y[i])}h{number(wide)}v{number(high)}h{number(-wide)}z"
                    shapes[ink] = shapes.get(ink, "") + box
                j = end
        for ink, shape in shapes.items():
            self._emit("path", f"fill:{ink}", f' d="{shape}" shape-rendering="crispEdges"')

    def draw_image(self, gc, x, y, im, transform=None):
        rows, cols = im.shape[:2]
        ends = [[x, y + rows], [x + cols, y]] if transform is None else transform.transform([[0, 0], [1, 1]]) + [x, y]
        (left, first), (right, last) = ends  # the first row's edge, and the last one's
        left, right = min(left, right), max(left, right)
        top, bottom = self.height - max(first, last), self.height - min(first, last)
        pixels = np.asarray(im)[:: 1 if first > last else -1]
        if rows * cols <= MOST_CELLS:
            self._cells(np.linspace(left, right, cols + 1), np.linspace(top, bottom, rows + 1), pixels)
            return
        data = base64.b64encode(_png(pixels)).decode()
        self._emit(
            "image", "image-rendering:pixelated",
            f' x="{number(left)}" y="{number(top)}" width="{number(right - left)}" height="{number(bottom - top)}" '
            f'preserveAspectRatio="none" href="data:image/png;base64,{data}"',
        )  # fmt: skip

    def draw_quad_mesh(
        self, gc, master_transform, meshWidth, meshHeight, coordinates, offsets,
        offsetTrans, facecolors, antialiased, edgecolors,
    ):  # fmt: skip
        points = self._flip(master_transform).transform(coordinates.reshape(-1, 2)).reshape(coordinates.shape)
        box = Bbox([points[0, 0], points[-1, -1]])
        if min(meshWidth, meshHeight) == 1 and max(meshWidth, meshHeight) >= 16:  # a colour bar
            places = np.linspace(0, len(facecolors) - 1, 9).round().astype(int)
            stops = "".join(
                f'<stop offset="{number(k / 8, 3)}" stop-color="{colors.to_hex(facecolors[place])}"/>'
                for k, place in enumerate(places)
            )
            ends = 'x1="0" y1="1" x2="0" y2="0"' if meshWidth == 1 else 'x1="0" y1="0" x2="1" y2="0"'
            name = self._define(f'<linearGradient id="@@" {ends}>{stops}</linearGradient>')
            place = (min(box.x0, box.x1), min(box.y0, box.y1), abs(box.width), abs(box.height))
            self._emit(
                "rect", f"fill:url(#{name})",
                ' x="{}" y="{}" width="{}" height="{}"'.format(*(number(v) for v in place)),
            )  # fmt: skip
            return
        pixels = np.round(np.asarray(facecolors) * 255).astype(int).reshape(meshHeight, meshWidth, 4)
        order = slice(None, None, -1 if points[0, 0, 1] > points[-1, 0, 1] else 1)
        self._cells(points[0, :, 0], points[order, 0, 1], pixels[order])

    # -- text

    def draw_text(self, gc, x, y, s, prop, angle, ismath=False, mtext=None):
        size = prop.get_size_in_points()
        align = mtext.get_ha() if mtext is not None else "left"
        if mtext is not None and "\n" in mtext.get_text():
            align = getattr(mtext, "_multialignment", None) or align
        anchor, share = _ANCHOR[align]
        width = self.get_text_width_height_descent(s, prop, ismath)[0]
        turn = np.deg2rad(angle)
        x, y = x + share * width * np.cos(turn), y - share * width * np.sin(turn)
        style = [f"fill:{paint(gc.get_rgb())}"]
        if gc.get_alpha() is not None and gc.get_alpha() < 1:
            style.append(f"fill-opacity:{number(gc.get_alpha(), 2)}")
        if abs(size - FONT) > 0.01:
            style.append(f"font-size:{number(size, 2)}px")
        if anchor != "start":
            style.append(f"text-anchor:{anchor}")
        if prop.get_weight() not in ("normal", 400, "regular"):
            style.append("font-weight:600")
        if prop.get_style() == "italic":
            style.append("font-style:italic")
        where = f' x="{number(x)}" y="{number(y)}"'
        if angle:
            where += f' transform="rotate({number(-angle)} {number(x)} {number(y)})"'
        content = self._formula(s, prop) if ismath else escape(s)
        self._emit("text", ";".join(style), where, content)

    def _formula(self, s, prop) -> str:
        """A short formula, in runs of one height and one size; nothing with roots or fractions."""
        _, _, _, glyphs, rects = self._text2path.mathtext_parser.parse(s, 72, prop)
        if rects:
            raise ValueError(f"text in a figure: expected no root or fraction, got {s}")
        runs: list = []
        for font, size, num, *_, height in glyphs:
            slanted = "Oblique" in font.postscript_name or "Italic" in font.postscript_name
            key = (round(size, 2), round(height, 2), slanted)
            if not runs or runs[-1][0] != key:
                runs.append([key, ""])
            runs[-1][1] += chr(num)
        text, height = "", 0.0
        for (size, up, slanted), letters in runs:
            words = f' dy="{number(height - up)}"' if height != up else ""
            if size != round(prop.get_size_in_points(), 2):
                words += f' font-size="{number(size)}"'
            if slanted:
                words += ' font-style="italic"'
            text += f"<tspan{words}>{escape(letters)}</tspan>" if words else escape(letters)
            height = up
        return text


def _moved(shape: str, x: float, y: float) -> str:
    """A marker's shape at a place. All but its beginnings are relative."""
    return re.sub(r"M(-?\d*\.?\d+) ?(-?\d*\.?\d+)", lambda m: "M" + _pairs(float(m[1]) + x, float(m[2]) + y), shape)


def _png(pixels) -> bytes:
    """A small PNG with a palette, one pixel a cell."""
    table, index = np.unique(np.asarray(pixels)[..., :3].reshape(-1, 3), axis=0, return_inverse=True)
    rows, cols = pixels.shape[:2]
    raw = b"".join(b"\0" + row.tobytes() for row in index.astype(np.uint8).reshape(rows, cols))

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", cols, rows, 8, 3, 0, 0, 0)
    # stored, not deflated: zlib's versions differ in their bytes, and the page is sent gzipped
    stored = zlib.compress(raw, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"PLTE", table.astype(np.uint8).tobytes())
        + chunk(b"IDAT", stored) + chunk(b"IEND", b"")
    )  # fmt: skip


# ---------------------------------------------------------------- the file


def _is_mark(element) -> bool:
    """Whether it is a tick or a text: these lie beside each other, so that their order says nothing."""
    tag, style, attributes, _ = element
    return tag == "text" or (tag == "path" and style.startswith("fill:none") and "clip" not in attributes)


def _gathered(parts: list) -> list:
    """The same elements, with ticks and texts of one style together; lines of one style as one path."""
    found: list = []
    k = 0
    while k < len(parts):
        end = k
        while end < len(parts) and _is_mark(parts[end]) and parts[end][0] in ("text", parts[k][0], "path"):
            end += 1
        run = parts[k : end or k + 1]
        ticks = [e for e in run if e[0] == "text" or len(e[2]) < 40]
        if end > k and len(ticks) == len(run):
            order = dict.fromkeys((e[0], e[1]) for e in run)
            for tag, style in order:
                same = [e for e in run if e[:2] == (tag, style)]
                if tag == "path":
                    shape = "".join(e[2][4:-1] for e in same)
                    same = [(tag, style, f' d="{shape}"', "")]
                found += same
            k = end
        else:
            found.append(parts[k])
            k += 1
    return found


def _elements(parts: list) -> str:
    """Elements as text; what neighbours share is said once, around them."""
    parts = _gathered(parts)
    text, k = [], 0
    while k < len(parts):
        style, end = parts[k][1], k + 1
        while end < len(parts) and parts[end][1] == style:
            end += 1
        several = end - k > 1
        own = f" style={quoteattr(style)}" if style else ""
        if several:
            text.append(f"<g{own}>")
        for tag, _, attributes, content in parts[k:end]:
            head = f"<{tag}{attributes}{'' if several else own}"
            text.append(f"{head}>{content}</{tag}>" if content else f"{head}/>")
        if several:
            text.append("</g>")
        k = end
    return "".join(text)


def _box(box) -> str:
    return " ".join(number(v) for v in (box.x0, box.y0, box.width, box.height))


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
    if "message" in renderer.parts:
        lines.append(f'<g class="message">{_elements(renderer.parts["message"])}</g>')
    for panel, (name, box) in enumerate(boxes.items()):
        content = _elements(renderer.parts.get(name, []))
        used = [e.replace("@@", n) for e, n in renderer.defs.items() if re.search(rf"#{n}\b", content)]
        head = f"<defs>{''.join(used)}</defs>" if used else ""
        x, y, w, h = _box(box).split()
        place = f'x="{x}" y="{y}" width="{w}" height="{h}" viewBox="{x} {y} {w} {h}"'
        own = re.sub(r'((?:id="|url\(#))@', rf"\1@{panel}-", head + content)  # a page may take the panels apart
        lines.append(f'<svg class="panel" {place}>{own}</svg>')
    text = "\n".join([*lines, "</svg>"]) + "\n"
    fingerprint = "f" + hashlib.sha256(text.encode()).hexdigest()[:7]
    return re.sub(r'((?:id="|url\(#))@', rf"\1{fingerprint}-", text)


def _wrapped(text: str, width: float, prop, measure) -> str:
    """Break a sentence into lines that fit."""
    lines = []
    for paragraph in text.split("\n"):
        line = ""
        for word in paragraph.split(" "):
            longer = f"{line} {word}" if line else word
            if line and measure(longer, prop) > width:
                lines.append(line)
                line = word
            else:
                line = longer
        lines.append(line)
    return "\n".join(lines)


def panels(figure) -> dict:
    """Which panel each axes belong to: a colour bar to what it is a scale of, a twin to its sister."""
    of: dict = {}
    for axes in figure.axes:
        parents = getattr(axes, "_colorbar_info", {}).get("parents") or []
        spec = axes.get_subplotspec()
        twin = next((o for o in of if spec is not None and o.get_subplotspec() == spec), None)
        if parents:
            of[axes] = of.get(parents[-1], parents[-1])
        elif twin is not None:
            of[axes] = of[twin]
        else:
            of[axes] = axes
    return of


@contextmanager
def settled(figure):
    """The figure as it is written: the message on top, long titles in lines. Afterwards it is as it was."""
    of = panels(figure)
    leaders = list(dict.fromkeys(of.values()))
    undo = []

    def change(text: Text, new: str) -> None:
        old = text.get_text()
        undo.append(lambda: text.set_text(old))
        text.set_text(new)

    canvas = figure.canvas
    renderer = FigureCanvasAgg(figure).get_renderer()  # a canvas takes the figure over
    figure.set_canvas(canvas)

    def measure(text, prop):
        return renderer.get_text_width_height_descent(text, prop, "$" in text)[0] / figure.dpi * 72

    width = figure.get_figwidth() * 72
    message = figure._suptitle
    said = message.get_text() if message is not None else ""
    titled = [t for axes in leaders for t in (axes.title, axes._left_title, axes._right_title) if t.get_text()]
    if not said and len(leaders) == 1 and titled:
        said = " ".join(t.get_text().replace("\n", " ") for t in titled)
        for title in titled:
            change(title, "")
        titled = []
    if said:
        if message is None:
            undo.append(lambda: setattr(figure, "_suptitle", None))
            message = figure.suptitle(said, x=0.0, ha="left")
            added = message
            undo.append(lambda: added.remove())
            undo.reverse()
        else:
            change(message, said)
            before = (message.get_position(), message.get_ha(), message.get_fontproperties().copy())
            undo.append(lambda: (message.set_position(before[0]), message.set_ha(before[1]),
                                 message.set_fontproperties(before[2])))  # fmt: skip
            message.set(x=0.0, ha="left")
        message.set(fontsize=rcParams["figure.titlesize"], fontweight=rcParams["figure.titleweight"])
        message.set_gid("message")
        message.set_text(_wrapped(said.replace("\n", " "), width - 4, message.get_fontproperties(), measure))
    if titled:
        figure.draw_without_rendering()
        for title in titled:
            axes = title.axes
            spec = axes.get_subplotspec()
            right = width
            if spec is not None:
                grid = spec.get_gridspec()
                ratios = np.cumsum(grid.get_width_ratios())
                right = width * ratios[spec.colspan.stop - 1] / ratios[-1]
                # long labels on the left push a panel to the right: its title may go as far as it does
                right = max(right, axes.bbox.x1 / figure.dpi * 72 + 6)
            room = right - axes.bbox.x0 / figure.dpi * 72 - 6
            change(title, _wrapped(title.get_text(), room, title.get_fontproperties(), measure))
    try:
        yield of
    finally:
        for back in undo:
            back()


def _extents(figure, of, renderer) -> dict:
    """The box of each panel, in points from the top; panels of one row are equally high."""
    height = figure.get_figheight() * 72
    boxes: dict = {}
    for axes, leader in of.items():
        if axes.get_visible():
            box = axes.get_tightbbox(renderer)
            boxes[leader] = Bbox.union([boxes[leader], box]) if leader in boxes else box
    rows: dict = {}
    for leader in boxes:
        spec = leader.get_subplotspec()
        rows.setdefault((spec.rowspan.start, spec.rowspan.stop) if spec else leader, []).append(leader)
    for row in rows.values():
        low, high = min(boxes[a].y0 for a in row), max(boxes[a].y1 for a in row)
        for leader in row:
            b = boxes[leader]
            boxes[leader] = Bbox([[b.x0, low], [b.x1, high]])
    keep = {}
    for leader, b in boxes.items():
        x0, x1 = max(0.0, b.x0 - 3), min(figure.get_figwidth() * 72, b.x1 + 3)
        top, bottom = max(0.0, height - b.y1 - 3), min(height, height - b.y0 + 3)
        keep[leader] = Bbox([[np.floor(x0), np.floor(top)], [np.ceil(x1), np.ceil(bottom)]])
    return keep


def svg(figure) -> str:
    """Write a figure as SVG.

    Parameters
    ----------
    figure : matplotlib Figure

    Returns
    -------
    str
    """
    require_class("figure", figure, Figure)
    gids = {axes: axes.get_gid() for axes in figure.axes}
    dpi = figure.dpi
    images = [(image, image.get_interpolation()) for axes in figure.axes for image in axes.images]
    background = figure.patch.get_visible()
    try:
        figure._set_dpi(72, forward=False)
        figure.patch.set_visible(False)
        for image, _ in images:
            image.set_interpolation("none")  # else matplotlib blows the cells up to pixels itself
        with settled(figure) as of:
            for k, axes in enumerate(figure.axes):
                axes.set_gid(f"axes-{k}")
            panel_of: dict = {axes.get_gid(): of[axes] for axes in figure.axes} | {"message": "message"}
            renderer = Renderer(figure.get_figwidth() * 72, figure.get_figheight() * 72, panel_of)
            figure.draw(renderer)
            boxes = _extents(figure, of, renderer)
            rest = [legend.get_window_extent(renderer) for legend in figure.legends]
            rest += [t.get_window_extent(renderer) for t in figure.texts if t.get_text() and t.get_gid() != "message"]
            rest += [t.get_window_extent(renderer) for t in (figure._supxlabel, figure._supylabel) if t is not None]
            crossing = figure.patches or figure.lines or figure.artists
            if crossing or renderer.width < NARROW:  # all is one picture
                message = renderer.parts.pop("message", [])
                renderer.parts = {"whole": [e for part in renderer.parts.values() for e in part]}
                renderer.parts |= {"message": message}
                rest = [Bbox([[b.x0, renderer.height - b.y1], [b.x1, renderer.height - b.y0]]) for b in rest]
                boxes = {"whole": Bbox.union([*boxes.values(), *rest])}
            elif rest:
                b = Bbox.union(rest)
                boxes["figure"] = Bbox([[b.x0 - 2, renderer.height - b.y1 - 2], [b.x1 + 2, renderer.height - b.y0 + 2]])
            if not renderer.parts.get("message"):
                renderer.parts.pop("message", None)
            return assemble(renderer, boxes)
    finally:
        for axes, gid in gids.items():
            axes.set_gid(gid)
        for image, interpolation in images:
            image.set_interpolation(interpolation)
        figure.patch.set_visible(background)
        figure._set_dpi(dpi, forward=False)


def png(figure, dpi: float = 144) -> bytes:
    """Write a figure as PNG, with the same message and the same lines, for what cannot show SVG.

    Parameters
    ----------
    figure : matplotlib Figure
    dpi : float, default 144

    Returns
    -------
    bytes
    """
    require_class("figure", figure, Figure)
    file = io.BytesIO()
    with settled(figure):
        FigureCanvasAgg(figure).print_figure(file, format="png", dpi=dpi, bbox_inches=None)
    return file.getvalue()
