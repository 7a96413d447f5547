"""The spine: the journey of one example through the whole Transformer, in colour strips of its real numbers.

A strip is a row (a word), a cell is a number; the colour says its size and its sign. Each chapter shows the same
picture and lights its own part. No matplotlib here: the picture is written as SVG, in a wide and in a tall form.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from xml.sax.saxutils import escape

import numpy as np

from toytf.byhand import fmt
from toytf.course import journey
from toytf.model import Trace
from toytf.ops import softmax

# The parts that can be lit, in the order of the journey.
PARTS = (
    "source words", "embedding", "positions", "self-attention", "encoder add & norm 1", "feed-forward",
    "encoder add & norm 2", "memory", "target words", "target embedding", "target positions",
    "masked self-attention", "decoder add & norm 1", "cross-attention", "decoder add & norm 2",
    "decoder feed-forward", "decoder add & norm 3", "linear", "softmax", "next word",
)  # fmt: skip

INK, QUIET = "var(--toytf-ink,#1F2430)", "var(--toytf-quiet,#5B6472)"
LINE, SHADE = "var(--toytf-line,#C9CED6)", "var(--toytf-shade,#ECEEF2)"
PAPER, LIT = "var(--toytf-paper,#FFFFFF)", "var(--toytf-row,#D6E8F7)"
ACCENT, PLUS, MINUS = "var(--toytf-accent,#0B63A5)", "var(--toytf-blue,#0072B2)", "var(--toytf-orange,#E69F00)"
SANS = "var(--toytf-sans,system-ui,'Segoe UI',Roboto,'DejaVu Sans',sans-serif)"
CELL, STRONGEST = 11, 9.0  # pixels; from this size on a cell has the full colour
FIRST = 113  # where the frames of the layers begin, in the wide form
HEADS = {"right": ((-6, -4), (-6, 4)), "down": ((-4, -6), (4, -6)), "up": ((-4, 6), (4, 6)), "left": ((6, -4), (6, 4))}
UNLIT = 0.6  # opacity of the strips of other chapters
PITCH, COLUMN = 156, 168  # from one box to the next in the wide form; the width of a stack in the tall one


def strength(value: float) -> float:
    """How strong a number's colour is: the root of its share of 9, so that 1, 4 and 9 are a third, two, three."""
    return min(1.0, float(np.sqrt(abs(value) / STRONGEST)))


@dataclass(frozen=True, repr=False)
class Spine:
    """A picture that shows itself in a notebook; `svg` is its text."""

    svg: str
    lit: tuple[str, ...]

    def __repr__(self) -> str:
        return f"<Spine, lit: {', '.join(self.lit) if len(self.lit) < len(PARTS) else 'all'}>"

    def _repr_svg_(self) -> str:
        return self.svg


def spine(trace: Trace, *, lit: Iterable[str], title: str, links: dict[str, tuple[str, str]] | None = None) -> Spine:
    """Draw the way from the words to the next word in colour strips, with this chapter's part lit.

    The trace is that of one encoder and one decoder layer; `lit` are some of `PARTS`, or ``"all"``. The title says what
    the picture says, as a sentence. With `links`, from a part to an address and its name, a part can be pressed. An
    unknown part is a `ValueError`.

    >>> from toytf.course import journey
    >>> picture = spine(journey.trace, lit={"self-attention"}, title="How a word looks at the others")
    >>> picture.lit
    ('self-attention',)
    """
    lit = PARTS if lit == "all" else tuple(lit)
    if unknown := sorted(set(lit) - set(PARTS)):
        raise ValueError(f"lit: expected some of {', '.join(map(repr, PARTS))}, got {', '.join(map(repr, unknown))}")
    lit, top = tuple(part for part in PARTS if part in lit), 30
    drawing = _Journey(trace, frozenset(lit))
    wide = drawing.wide()
    tall = drawing.tall(wide.known)
    look = f"font-size:15.7px;font-weight:600;fill:{INK}"
    content = [sheet.content() + sheet.links(links or {}) for sheet in (wide, tall)]
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="toytf-spine" viewBox="0 0 {wide.width} {wide.height + top}" '
        f'width="{wide.width}" height="{wide.height + top}" style="font:12px {SANS}">',
        f'<rect class="paper" width="100%" height="100%" style="fill:{PAPER}"/>',
        f'<g class="message"><text y="17" style="{look}">{escape(title)}</text></g>',
        f'<svg class="wide" y="{top}" {content[0]}</svg>',
        f'<svg class="tall" display="none" {content[1]}</svg>',
        "</svg>\n",
    ]
    return Spine("\n".join(lines), lit)


# ---------------------------------------------------------------- drawing


def _n(value: float, decimals: int = 1) -> str:
    return f"{round(float(value), decimals):g}"


@dataclass
class _Sheet:
    """A form of the picture: its elements in the order of drawing."""

    lit: frozenset
    width: int
    height: int
    known: dict[str, str] = field(default_factory=dict)  # strips that are drawn, by name
    found: list[str] = field(default_factory=list)
    spots: list[tuple] = field(default_factory=list)  # part, x, y, width and height of what can be pressed

    def content(self) -> str:
        size = f'width="{self.width}" height="{self.height}" viewBox="0 0 {self.width} {self.height}"'
        return f"{size}>{''.join(self.found)}"

    def spot(self, part, x, y, w, h) -> None:
        self.spots.append((part, x, y, w, h))

    def links(self, places: dict[str, tuple[str, str]]) -> str:
        """Over each part that has a place a link to it: address and what it is called."""
        made = ""
        for part, x, y, w, h in self.spots:
            if part in places:
                address, called = places[part]
                box = f'x="{_n(x)}" y="{_n(y)}" width="{_n(w)}" height="{_n(h)}" rx="5"'
                made += (
                    f'<a href="{escape(address)}"><title>{escape(called)}</title>'
                    f'<rect class="spot" data-part="{PARTS.index(part)}" {box} fill-opacity="0"/></a>'
                )
        return made

    def text(self, x, y, words, *, on=False, of=None, anchor="start", style="", ink=None, room=math.inf) -> None:
        """Words; those `of` a part stand beside it."""
        on = on or of in self.lit
        look = f"fill:{ink or (INK if on else QUIET)}" + (";font-weight:600" if on else "") + style
        turned = "" if anchor == "start" else f' text-anchor="{anchor}"'
        turned += f' data-part="{PARTS.index(of)}"' if of else ""
        if len(words) * 6.8 > room:  # in the widest of the fonts it would leave its box
            turned += f' textLength="{_n(room)}" lengthAdjust="spacingAndGlyphs"'
        self.found.append(f'<text x="{_n(x)}" y="{_n(y)}"{turned} style="{look}">{escape(words)}</text>')

    def frame(self, x, y, w, h, *, on=False, ground=PAPER, dashed=False) -> None:
        look = f"fill:{LIT if on else ground};stroke:{ACCENT if on else LINE}"
        look += ";stroke-width:2" if on else ";stroke-dasharray:4 3" if dashed else ""
        self.found.append(f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(w)}" height="{_n(h)}" rx="5" style="{look}"/>')

    def strip(self, x, y, matrix, *, name, rows, on, names=None) -> None:
        """The numbers of a matrix; under the pointer each tells its name and its value."""
        key = f"{name} {rows[0]}"
        if key in self.known:  # the other form has drawn it
            self.found.append(f'<use href="#{self.known[key]}" x="{_n(x)}" y="{_n(y)}"/>')
            return
        self.known[key] = f"strip-{len(self.known)}"
        matrix = np.atleast_2d(matrix)
        high, wide = (side * CELL for side in matrix.shape)
        cells: dict[str, str] = {PLUS: "", MINUS: ""}
        for (i, j), value in np.ndenumerate(matrix):
            told = f"{name} [{rows[i]}, {names[j] if names else j}] = {fmt(value)}"
            cells[MINUS if value < 0 else PLUS] += (
                f'<path d="M{j * CELL} {i * CELL}h{CELL}v{CELL}h-{CELL}z" fill-opacity="{_n(strength(value), 2)}">'
                f"<title>{escape(told)}</title></path>"
            )
        grid = "".join(f"M{x} 0v{high}" for x in range(0, wide + 1, CELL))
        grid += "".join(f"M0 {y}h{wide}" for y in range(0, high + 1, CELL))
        quiet = "" if on else f' opacity="{UNLIT}"'
        lines = f"fill:none;stroke:{INK if on else LINE};stroke-width:{'.8' if on else '1'}"
        coloured = "".join(f'<g style="fill:{ink}">{cells[ink]}</g>' for ink in cells if cells[ink])
        # the place is outside, so that the other form can use what is inside
        self.found.append(
            f'<g transform="translate({_n(x)} {_n(y)})"><g id="{self.known[key]}" class="strip"{quiet}>'
            f'<path d="M0 0h{wide}v{high}h-{wide}z" style="fill:{PAPER}"/>{coloured}'
            f'<path d="{grid}" style="{lines}"/></g></g>'
        )

    def state(self, x, y, matrix, *, name, rows, part) -> None:
        """A strip that stands in the stream, framed when it is lit."""
        on = part in self.lit
        high, wide = (side * CELL for side in matrix.shape)
        if on:
            self.frame(x - 4, y - 4, wide + 8, high + 8, on=True)
        self.spot(part, x - 4, y - 4, wide + 8, high + 8)
        self.strip(x, y, matrix, name=name, rows=rows, on=on)

    def path(self, shape, *, on=False, wide=1.5, head=None) -> None:
        """A line, and an arrow's head at its end: (x, y, direction)."""
        ink = ACCENT if on else QUIET
        self.found.append(
            f'<path d="{shape}" style="fill:none;stroke:{ink};stroke-width:{_n(wide + on)};stroke-linecap:round"/>'
        )
        if head:
            x, y, way = head
            (a, b), (c, d) = HEADS[way]
            points = f"M{_n(x)} {_n(y)}L{_n(x + a)} {_n(y + b)}L{_n(x + c)} {_n(y + d)}z"
            self.found.append(f'<path d="{points}" style="fill:{ink}"/>')

    def plus(self, x, y, *, on) -> None:
        ink, ground = (ACCENT, LIT) if on else (QUIET, PAPER)
        self.found.append(
            f'<circle cx="{_n(x)}" cy="{_n(y)}" r="7" style="fill:{ground};stroke:{ink};stroke-width:1.5"/>'
            f'<path d="M{_n(x - 4)} {_n(y)}h8M{_n(x)} {_n(y - 4)}v8" style="stroke:{ink};stroke-width:1.5"/>'
        )


class _Journey:
    """The parts of the picture, and the two ways in which they are laid out."""

    def __init__(self, trace: Trace, lit: frozenset):
        self.trace, self.lit = trace, lit
        self.source, self.target, self.words = tuple(journey.source), tuple(journey.target), tuple(journey.words)
        enc, dec = trace.encoder.layers[0], trace.decoder.layers[0]
        self.encoder = (
            ("self-attention", "self-attention", enc.self_attention, "encoder add & norm 1"),
            ("feed-forward", "feed-forward", enc.feed_forward, "encoder add & norm 2"),
        )
        self.decoder = (
            ("masked self-attention", "masked self-attention", dec.self_attention, "decoder add & norm 1"),
            ("cross-attention", "cross-attention", dec.cross_attention, "decoder add & norm 2"),
            ("decoder feed-forward", "feed-forward", dec.feed_forward, "decoder add & norm 3"),
        )

    # -- the parts

    def row_pitch(self, rows) -> int:
        """How far below a row of strips the next one stands."""
        return len(rows) * CELL + (5 if len(rows) > 1 else 6)

    def box_height(self, rows, sublayer) -> int:
        return 24 + (3 if hasattr(sublayer.inner, "heads") else 2) * self.row_pitch(rows)

    def box(self, sheet, x, y, w, part, title, sublayer, rows) -> float:
        """Draw what a sub-layer computes, its result last; return the middle of the result."""
        on, high, pitch = part in self.lit, len(rows) * CELL, self.row_pitch(rows)
        sheet.frame(x, y, w, self.box_height(rows, sublayer), on=on)
        sheet.spot(part, x, y, w, self.box_height(rows, sublayer))
        sheet.text(x + 6, y + 15, title, on=on, room=w - 11)
        side = "decoder" if part in PARTS[PARTS.index("target words") :] else "encoder"
        name, place = f"{side}, {title}", y + 22

        def line(matrices, gap, names, word, columns=None):
            left = x + 6
            for matrix, one in zip(matrices, names, strict=True):
                sheet.strip(left, place, matrix, name=f"{name}, {one}", rows=rows, on=on, names=columns)
                left += np.shape(matrix)[-1] * CELL + gap
            left += 5 - gap
            sheet.text(left, place + high / 2 + 4, word, ink=INK if on else None, room=x + w - left - 6)

        inner = sublayer.inner
        if hasattr(inner, "heads"):
            weights = inner.attention.attn_weights
            keys = self.target if part == "masked self-attention" else self.source
            count = range(1, len(weights) + 1)
            line(weights, 6, [f"shares of head {h}" for h in count], "shares", keys)
            place += pitch
            line(np.split(inner.heads, len(weights), axis=-1), 4, [f"head {h}" for h in count], "heads")
        else:
            line([inner.hidden], 0, ["hidden"], "hidden")
        place += pitch
        line([sublayer.inner_out], 0, ["result"], "result")
        return place + high / 2

    def words_of(self, sheet, x, y, rows, part, anchor="start") -> None:
        for i, word in enumerate(rows):
            down = y + len(rows) * CELL / 2 + (i - (len(rows) - 1) / 2) * 14 + 4  # of a cell's height they would touch
            sheet.text(x, down, word, on=part in self.lit, anchor=anchor, style=";font-style:italic")
        wide = 43
        sheet.spot(part, x - (wide - 3 if anchor == "end" else 3), y - 3, wide, len(rows) * CELL + 6)

    def start(self, sheet, x, y, stack, rows, parts, mirrored=False) -> float:
        """Embedding and positions, one below the other; return where they end."""
        matrices = stack.embedded, stack.x - stack.embedded
        left, anchor = (x + stack.x.shape[-1] * CELL, "end") if mirrored else (x, "start")
        for words, part, matrix in zip(("embedding", "+ positions"), parts[1:], matrices, strict=True):
            sheet.text(left, y + 6, words, of=part, anchor=anchor)
            sheet.state(x, y + 16, matrix, name=f"{self.side(rows)}, {words.strip('+ ')}", rows=rows, part=part)
            y += 28 + len(rows) * CELL
        return y - 12

    def side(self, rows) -> str:
        return "encoder" if rows is self.source else "decoder"

    def scale(self, sheet, x, y, down=False) -> None:
        """What the colours mean."""
        for k, value in enumerate((-9, -4, -1, 0, 1, 4, 9)):
            sign, words = MINUS if value < 0 else PLUS, str(value).replace("-", "−")
            left, top, wide, high = (x, y + 14 * (6 - k), CELL, 14) if down else (x + 22 * k, y, 22, CELL)
            sheet.found.append(
                f'<rect x="{_n(left)}" y="{_n(top)}" width="{wide}" height="{high}" style="fill:{sign};'
                f'fill-opacity:{_n(strength(value), 2)};stroke:{LINE}"/>'
            )
            if down:
                sheet.text(left + wide + 5, top + 11, words)
            else:
                sheet.text(left + 11, top + 24, words, anchor="middle")

    def choice(self, sheet, x, y) -> None:
        """The words that may come next: a logit's cell and a probability's bar for each."""
        logits, chances = self.trace.logits[-1], softmax(self.trace.logits[-1])
        best = int(np.argmax(chances))
        linear, soft, last = (part in self.lit for part in ("linear", "softmax", "next word"))
        pitch, high = 14, len(self.words) * 14
        for part, on, *box in (
            ("linear", linear, x + 42, y - 4, CELL + 8, high + 6),
            ("softmax", soft, x + 66, y - 4, 72, high + 6),
            ("next word", last, x - 6, y + best * pitch - 1, 43, pitch - 1),
        ):
            sheet.spot(part, *box)
            if on:
                sheet.frame(*box, on=True)
        for k, word in enumerate(self.words):
            top = y + k * pitch
            sheet.text(x + 34, top + 10, word, anchor="end", on=last and k == best)
            sheet.strip(x + 46, top, logits[None, k : k + 1], name="logit", rows=[word], names=["score"], on=linear)
            long = 30 * chances[k] / chances[best]
            quiet = "" if soft or (last and k == best) else f' opacity="{UNLIT}"'
            told = f"probability [{word}] = {fmt(chances[k])}"
            sheet.found.append(
                f'<rect x="{_n(x + 70)}" y="{_n(top + 1)}" width="{long:.1f}" height="{CELL - 2}" rx="1.5" '
                f'style="fill:{PLUS}"{quiet}><title>{escape(told)}</title></rect>'
            )
            sheet.text(x + 74 + long, top + 10, fmt(chances[k], 2), on=last and k == best, ink=INK if soft else None)

    # -- wide: two streams from left to right, what is added to them above

    def lane(self, sheet, top, deep, stack, rows, parts, sublayers) -> tuple:
        """A stack; return the middle of its stream, its right end, and the place of each box."""
        high, wide, left = len(rows) * CELL, stack.x.shape[-1] * CELL, 50
        middle = top + deep + 26
        self.words_of(sheet, left - 10, top + 16, rows, parts[0], "end")
        end = self.start(sheet, left, top, stack, rows, parts, True)
        sheet.path(f"M{left + wide / 2:g} {_n(end + 5)}V{_n(middle - high / 2 - 8)}",
                   head=(left + wide / 2, middle - high / 2 - 4, "down"))  # fmt: skip
        x, places = left, {}
        sheet.strip(left, middle - high / 2, stack.x, name=f"{self.side(rows)}, input", rows=rows,
                    on=bool({parts[1], parts[2]} & self.lit))  # fmt: skip
        box = FIRST + 6
        for part, title, sublayer, norm in sublayers:
            on = norm in self.lit
            plus, y = box + PITCH - 36, top + deep - self.box_height(rows, sublayer)
            begin = x + wide + (5 if x > left else 2)
            sheet.path(f"M{_n(begin)} {_n(middle)}H{_n(plus + 22)}", on=on, head=(plus + 27, middle, "right"))
            branch = max(box + 16, x + wide + 16)
            sheet.path(f"M{_n(branch)} {_n(middle)}V{_n(top + deep + 8)}", head=(branch, top + deep + 3, "up"))
            sheet.path(f"M{_n(plus)} {_n(top + deep + 1)}V{_n(middle - 15)}", on=on, head=(plus, middle - 8, "down"))
            self.box(sheet, box, y, PITCH - 14, part, title, sublayer, rows)
            places[part] = (box, y)
            sheet.plus(plus, middle, on=on)
            x = box + PITCH - 4
            sheet.text(x + wide + 4, middle + high / 2 + 16, "add & norm", of=norm, anchor="end")
            name = f"{self.side(rows)}, after {title}"
            sheet.state(x, middle - high / 2, sublayer.out, name=name, rows=rows, part=norm)
            box += PITCH
        return middle, x + wide, places

    def wide(self) -> _Sheet:
        sheet = _Sheet(self.lit, 724, 350)
        top, low = 14, 218
        right = FIRST + 2 * PITCH + 60
        sheet.frame(FIRST, 0, right - FIRST, 175, ground=SHADE, dashed=True)
        sheet.text(FIRST + PITCH + 10, 17, "encoder layer")
        sheet.frame(FIRST, low - 12, 3 * PITCH + 60, 143, ground=SHADE, dashed=True)
        sheet.text(FIRST + 2 * PITCH + 10, low + 5, "decoder layer")
        middle, end, _ = self.lane(sheet, top, 100, self.trace.encoder, self.source, PARTS[:3], self.encoder)
        below, _, places = self.lane(sheet, low, 78, self.trace.decoder, self.target, PARTS[8:11], self.decoder)
        on, (x, y) = bool({"memory", "cross-attention"} & self.lit), places["cross-attention"]
        x += PITCH - 46
        sheet.path(
            f"M{_n(end + 6)} {_n(middle)}h12q10 0 10 10v{_n(186 - middle)}q0 10 -10 10H{_n(x + 10)}q-10 0 -10 10"
            f"V{_n(y - 6)}", on=on, wide=2, head=(x, y - 1, "down"),
        )  # fmt: skip
        sheet.text(end + 34, 200, "memory", on="memory" in self.lit)
        sheet.spot("memory", end + 28, 185, 66, 22)
        # up to the words
        x = FIRST + 3 * PITCH + 24
        sheet.path(f"M{_n(x)} {_n(below - 11)}V190", head=(x, 184, "up"))
        sheet.text(x - 6, 20, "linear", of="linear", anchor="middle")
        sheet.text(x + 20, 20, "softmax", of="softmax")
        self.choice(sheet, x - 52, 36)
        self.scale(sheet, 492, 10, down=True)
        return sheet

    # -- tall: two streams downwards at the outer sides, the memory between them

    def column(self, sheet, x, mirrored, stack, rows, parts, sublayers) -> tuple:
        """A stack; return where it ends, and the place of each box."""
        high, wide = len(rows) * CELL, stack.x.shape[-1] * CELL
        left = x + COLUMN - wide - 5 if mirrored else x + 5  # of the strips
        line = x + COLUMN - 15 if mirrored else x + 15  # of the stream
        box = x + 5 if mirrored else x + 26
        word = "encoder" if rows is self.source else "decoder"
        beside, anchor = (left - 8, "end") if mirrored else (left + wide + 8, "start")
        self.words_of(sheet, beside, 18, rows, parts[0], anchor)
        end = self.start(sheet, left, 2, stack, rows, parts, mirrored)
        y = end + 22
        sheet.path(f"M{_n(left + wide / 2)} {_n(end + 5)}V{_n(y - 9)}", head=(left + wide / 2, y - 4, "down"))
        sheet.strip(left, y, stack.x, name=f"{word}, input", rows=rows, on=bool({parts[1], parts[2]} & self.lit))
        y += high
        start, ground, places = y, len(sheet.found), {}
        for part, title, sublayer, norm in sublayers:
            on = norm in self.lit
            top, tall = y + 14, self.box_height(rows, sublayer)
            after = top + tall + 10
            sheet.path(f"M{line} {_n(y + 4)}V{_n(after - 9)}", on=on, head=(line, after - 4, "down"))
            edge = box + COLUMN - 30 if mirrored else box
            way, back = ("left", "right") if mirrored else ("right", "left")
            step = 1 if mirrored else -1
            sheet.path(f"M{line} {_n(top + 12)}H{edge + 8 * step}", head=(edge + 3 * step, top + 12, way))
            plus = self.box(sheet, box, top, COLUMN - 30, part, title, sublayer, rows)
            sheet.path(f"M{edge + step} {_n(plus)}H{line - 14 * step}", on=on, head=(line - 8 * step, plus, back))
            sheet.plus(line, plus, on=on)
            places[part] = (edge, top, tall)
            sheet.state(left, after, sublayer.out, name=f"{word}, after {title}", rows=rows, part=norm)
            where = (left - 10, "end") if mirrored else (left + wide + 10, "start")
            sheet.text(where[0], after + high / 2 + 4, "add & norm", of=norm, anchor=where[1])
            y = after + high
        sheet.frame(x, start + 7, COLUMN, y + 1 - start, ground=SHADE, dashed=True)
        sheet.found.insert(ground, sheet.found.pop())  # under all of it
        return y, places

    def tall(self, known) -> _Sheet:
        sheet = _Sheet(self.lit, 350, 0, known)
        end, _ = self.column(sheet, 1, False, self.trace.encoder, self.source, PARTS[:3], self.encoder)
        low, places = self.column(sheet, 349 - COLUMN, True, self.trace.decoder, self.target, PARTS[8:11], self.decoder)
        edge, top, high = places["cross-attention"]
        on = bool({"memory", "cross-attention"} & self.lit)
        edge -= COLUMN - 30
        middle, gutter = top + high / 2, 175
        sheet.path(
            f"M58 {_n(end + 2)}v8q0 10 10 10H{gutter - 10}q10 0 10 -10V{_n(middle + 10)}q0 -10 6 -10", on=on, wide=2,
            head=(edge - 1, middle, "right"),
        )  # fmt: skip
        sheet.text(76, end + 34, "memory", on="memory" in self.lit)
        sheet.spot("memory", 70, end + 19, 66, 22)
        sheet.path(f"M{349 - 15} {_n(low + 4)}v6q0 8 -8 8H270q-8 0 -8 8v14", head=(262, low + 46, "down"))
        sheet.text(250, low + 40, "linear", of="linear", anchor="end")
        sheet.text(278, low + 40, "softmax", of="softmax")
        self.choice(sheet, 210, low + 52)
        self.scale(sheet, 8, low + 52 + 140 - 34)
        sheet.height = int(low + 52 + 144)
        return sheet
