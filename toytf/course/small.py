"""A small picture for each chapter, as it stands in the contents: a sign of what the chapter shows, not a measurement.

>>> picture(14).startswith('<svg class="small"')
True
"""

from __future__ import annotations

import math
from collections.abc import Iterable

# Colours are the page's; a chapter without a picture gets an empty frame, so that the list keeps its shape.
INK, QUIET, ACCENT = "var(--toytf-ink,#1d1c1a)", "var(--toytf-grey,#77726a)", "var(--toytf-accent,#a3195b)"
PLUS, MINUS = "var(--toytf-blue,#1f6aa5)", "var(--toytf-orange,#e08a1e)"


def picture(chapter: int) -> str:
    """Return a chapter's picture as SVG, 64 wide and 40 high; it says nothing that the words beside it do not."""
    return f'<svg class="small" viewBox="0 0 64 40" aria-hidden="true">{PICTURES.get(chapter, "")}</svg>'


def _line(points: Iterable[tuple[float, float]], ink=INK, wide=2.0, more="") -> str:
    way = "".join(f"{'L' if k else 'M'}{x:.1f} {y:.1f}" for k, (x, y) in enumerate(points))
    return f'<path d="{way}" style="fill:none;stroke:{ink};stroke-width:{wide:g}{more}"/>'


def _arc(start, end, high, ink=QUIET, wide=1.0) -> str:
    way = f"M{start} 20Q{(start + end) / 2:g} {20 - 2 * high} {end} 20"
    return f'<path d="{way}" style="fill:none;stroke:{ink};stroke-width:{wide:g}"/>'


def _box(x, y, w, h, ink=PLUS, strength=1.0) -> str:
    return f'<path d="M{x:g} {y:g}h{w:g}v{h:g}h-{w:g}z" style="fill:{ink};fill-opacity:{round(strength, 2):g}"/>'


def _dot(x, y, ink=PLUS, size=2.5) -> str:
    return f'<circle cx="{x:g}" cy="{y:g}" r="{size:g}" style="fill:{ink}"/>'


def _cells(rows, x, y, size) -> str:
    """A matrix: blue is positive, orange negative."""
    return "".join(
        _box(x + size * j, y + size * i, size - 1, size - 1, PLUS if v > 0 else MINUS, max(abs(v), 0.08))
        for i, row in enumerate(rows)
        for j, v in enumerate(row)
    )


def _bars(values, ink=PLUS, x=6, wide=8) -> str:
    return "".join(_box(x + (wide + 2) * k, 36 - 32 * v, wide, 32 * v, ink) for k, v in enumerate(values))


def _word(text, x, y, ink=INK, size=12) -> str:
    look = f"fill:{ink};font:600 {size}px var(--sans,sans-serif)"
    return f'<text x="{x}" y="{y}" text-anchor="middle" style="{look}">{text}</text>'


def _ring(x, y, size, ink=QUIET, wide=1.0) -> str:
    return f'<circle cx="{x}" cy="{y}" r="{size}" style="fill:none;stroke:{ink};stroke-width:{wide:g}"/>'


_WORDS = (6, 19, 32, 45, 58)
_PARTS = [[0.3] * 3] * 3
_SAME = [[0.9, -0.6, 0.3], [-0.8, 0.5, 1], [0.4, 0.9, -1]]
_RULE = [[1 if j <= i else 0 for j in range(5)] for i in range(5)]
_CROSS = [[1, 0, 0, 0], [0, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 1]]

PICTURES = {
    1: _line([(2, 20), (18, 20)]) + _box(18, 8, 28, 24, ACCENT) + _line([(46, 20), (62, 20)]),
    2: "".join(_dot(8 + 5 * math.cos(k), 28 + 5 * math.sin(k), MINUS) for k in range(0, 6, 2))
    + "".join(_dot(52 + 7 * math.cos(k), 12 + 6 * math.sin(k)) for k in range(6))
    + "".join(_dot(36 + 6 * math.cos(k), 30 + 5 * math.sin(k), ACCENT) for k in range(0, 6, 2)),
    3: _line([(x, 20 - 15 * math.sin(x / 5)) for x in range(2, 63)], PLUS)
    + _line([(x, 20 - 15 * math.sin(x / 14)) for x in range(2, 63)], MINUS),
    4: _arc(45, 6, -13, ACCENT, 4) + _arc(45, 19, 9) + _arc(45, 32, 5) + _arc(45, 58, 9, ACCENT, 4)
    + "".join(_dot(x, 20, ACCENT if x > 40 else QUIET, 3) for x in _WORDS),
    5: _bars((0.05, 0.12, 1, 0.06, 0.03), QUIET)
    + _line([(2, 26), (62, 26)], ACCENT, 1.5, ";stroke-dasharray:4 3"),
    6: _box(10, 4, 44, 32, PLUS, 0.25) + _line([(10, 36), (54, 4)], QUIET) + _dot(22, 12, ACCENT, 4),
    7: _line([(4, 32), (62, 32)], QUIET, 1) + _line([(4, 32), (32, 32), (60, 6)], ACCENT, 3),
    8: _cells([[0.4, -0.6, 0.8, 1], [-0.8, 1, -1, 1]], 4, 4, 11) + _word("NaN", 48, 37, ACCENT, 13),
    9: _ring(32, 24, 13) + _line([(8, 4), (23, 15)], ACCENT, 1.5)
    + _line([(60, 6), (42, 16)], ACCENT, 1.5) + _dot(23, 15, ACCENT) + _dot(42, 16, ACCENT) + _dot(8, 4) + _dot(60, 6),
    10: "".join(_box(16, 3 + 6 * k, 32, 4.5, PLUS, 0.3 + 0.14 * k) for k in range(6)),
    11: _cells(_RULE, 14, 2, 7.4),
    12: _cells(_CROSS, 14, 2, 9),
    13: _box(20, 4, 40, 6, ACCENT) + _box(20, 13, 7, 6) + _box(20, 22, 4, 6) + _box(20, 31, 2, 6)
    + "".join(_box(4, 4 + 9 * k, 12, 6, QUIET, 0.5) for k in range(4)),
    14: _line([(6, 2), (6, 37), (62, 37)], QUIET, 1)
    + _line([(6 + 1.4 * k, 34 + 9.5 * math.log(k / 40)) for k in range(2, 41)], ACCENT, 3),
    15: _line([(x, 6 + (x - 36) ** 2 / 36) for x in range(4, 61, 2)], PLUS) + _line([(4, 34), (38, 2)], ACCENT, 1.5)
    + _dot(22, 12, ACCENT),
    16: _cells(_PARTS, 2, 8, 8) + _line([(29, 20), (37, 20)], ACCENT) + _line([(34, 16), (38, 20), (34, 24)], ACCENT)
    + _cells([[1, 0, 0], [0, 1, 0], [0, 0, 1]], 41, 8, 8),
    17: _cells([[0.9, 0.1, 0.1], [0.5, 0.1, 0.5], [0.1, 0.2, 0.9]], 8, 4, 10)
    + _ring(40, 18, 11, ACCENT, 2.5) + _line([(48, 26), (58, 37)], ACCENT, 3),
    18: _cells(_PARTS, 14, 2, 12.5)
    + _line([(28, 15), (37, 24)], ACCENT) + _line([(37, 15), (28, 24)], ACCENT),
    19: "".join(_dot(6 + 10 * k, 35 - 6 * k, ACCENT if k < 3 else PLUS, 4) for k in range(6))
    + _line([(31, 2), (31, 38)], QUIET, 1.5),
    20: "".join(_box(4, 3 + 9.5 * k, 54 - 9 * (k == 3), 5, QUIET, 0.4) for k in range(4))
    + _box(30, 3, 16, 5, ACCENT) + _box(29, 31.5, 16, 5, ACCENT),
    21: _cells(_SAME, 2, 8, 8) + _word("=", 32, 25) + _cells(_SAME, 39, 8, 8),
    22: _box(4, 8, 34, 10, MINUS) + _box(38, 8, 12, 10, PLUS) + _box(50, 8, 10, 10, ACCENT)
    + _box(4, 24, 12, 10, MINUS) + _box(16, 24, 14, 10, PLUS) + _box(30, 24, 30, 10, ACCENT),
    23: "".join(_box(8, 2 + 9.5 * k, 18, 7.5, QUIET, 0.4) + _box(36, 2 + 9.5 * k, 18, 7.5, ACCENT) for k in range(4)),
}  # fmt: skip
