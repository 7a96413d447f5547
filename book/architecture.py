"""Draw the house: `python book/architecture.py` writes `_assets/architecture.svg`.

The rooms come from the contract in pyproject.toml, the arrows from the imports. An
arrow that others imply is left out: who imports `model` need not point to `ops` too.
"""

import tomllib
from pathlib import Path

import grimp
from jinja2 import Environment

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "book" / "_assets" / "architecture.svg"
ROOMS = {
    "live": "numbers to touch",
    "check": "names the mistake",
    "course": "figures, what PyTorch gave",
    "byhand": "any of it, term by term",
}
DOOR = {
    "__main__",
    "_door",
    "_validate",
    "_command",
    "_process",
}  # not part of the story
TRANSFORMER = "the Transformer"
# A level's height, a file's, a room's; the picture's width, borders, a letter's width.
LEVEL, FILE, ROOM, WIDTH, GAP, LETTER = 52, 26, 40, 396, 12, 7.8
SVG = """\
<svg xmlns="http://www.w3.org/2000/svg" class="house"
 viewBox="0 0 {{ width }} {{ height }}" role="img" aria-label="{{ alt }}">
<style>
.house {
  --paper: var(--toytf-paper, #fff); --ink: var(--toytf-ink, #222);
  --frame: var(--toytf-shade, #f3f4f5); --line: var(--toytf-quiet, #555);
  --room: var(--toytf-row, #d0ebef);
}
@media (prefers-color-scheme: dark) {
  .house {
    --paper: var(--toytf-paper, #111); --ink: var(--toytf-ink, #ddd);
    --frame: var(--toytf-shade, #29313d);
    --line: var(--toytf-quiet, #aaa);
    --room: var(--toytf-row, #042f33);
  }
}
.house rect { fill: var(--paper); stroke: var(--line); }
.house rect.frame { fill: var(--frame); }
.house .room rect { fill: var(--room); }
.house path { fill: none; stroke: var(--line); }
.house marker path { fill: var(--line); stroke: none; }
.house text { fill: var(--ink); font: 13px system-ui, sans-serif; text-anchor: middle; }
.house text.frame { font-weight: 600; text-anchor: start; }
.house .room text { font-weight: 600; }
.house .room text.what { font-weight: 400; }
</style>
<rect class="frame" x="1" y="{{ frame }}" width="{{ width - 2 }}" height="{{ deep }}"
 rx="6"/>
<text class="frame" x="12" y="{{ frame + 18 }}">{{ transformer }}</text>
{% for x, y, x2, y2 in arrows -%}
<path d="M{{ x }} {{ y }}C{{ x }} {{ y + 14 }} {{ x2 }} {{ y2 - 14 }} {{ x2 }} {{ y2 }}"
 marker-end="url(#house-arrow)"/>
{% endfor -%}
<marker id="house-arrow" viewBox="0 0 6 6" refX="5" refY="3" markerWidth="6"
 markerHeight="6" orient="auto"><path d="M0 0L6 3L0 6z"/></marker>
{% for name, (left, top, wide, high) in boxes.items() -%}
<g class="{{ 'room' if name in rooms else 'file' }}">
<rect x="{{ left }}" y="{{ top }}" width="{{ wide }}" height="{{ high }}" rx="4"/>
<text x="{{ left + wide / 2 }}" y="{{ top + 17 }}">
{{- name }}{{ '/' if name in rooms }}</text>
{%- if name in rooms %}
<text class="what" x="{{ left + wide / 2 }}" y="{{ top + 32 }}">
{{- rooms[name] }}</text>
{%- endif %}
</g>
{% endfor -%}
</svg>
"""
ALT = (
    "Above the files of the Transformer stand the rooms byhand, then check, course and "
    "live. Every arrow points downwards, to what is imported."
)


def levels():
    """The modules of each level, from the top, as the contract lists them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contract, *_ = project["tool"]["importlinter"]["contracts"]
    return [level.replace("|", " ").split() for level in contract["layers"]]


def imports():
    """Which file or room imports which, as pairs; from a room the files are one."""
    graph = grimp.build_graph("toytf", cache_dir=None)
    pairs = {
        (one.split(".")[1], other.split(".")[1])
        for one in graph.modules - {"toytf"}
        for other in graph.find_modules_directly_imported_by(one) - {"toytf"}
    }
    pairs = {(one, other) for one, other in pairs if not DOOR & {one, other}}
    return {
        (one, TRANSFORMER if one in ROOMS and other not in ROOMS else other)
        for one, other in pairs
        if one != other
    }


def reaches(start, goal, arrows):
    """Whether the arrows lead from one to the other."""
    return any(
        other == goal or reaches(other, goal, arrows)
        for one, other in arrows
        if one == start
    )


def not_implied(arrows):
    """The arrows that no longer way round replaces."""
    return {arrow for arrow in arrows if not reaches(*arrow, arrows - {arrow})}


def places(floors):
    """Where each box stands: its left, its top, its width, its height."""
    found, top = {}, 1
    for names in floors:
        room = names[0] in ROOMS
        if not room and TRANSFORMER not in found:
            found[TRANSFORMER] = (1, top, WIDTH - 2, 0)
            top += 28
        widths = [len(name) * LETTER + 10 for name in names]
        if room:
            widths = [(WIDTH - 2 - GAP * (len(names) - 1)) / len(names)] * len(names)
        gap = GAP if room else (WIDTH - sum(widths)) / (len(names) + 1)
        left = 1 if room else gap
        for name, width in zip(names, widths, strict=True):
            high = ROOM if room else FILE
            found[name] = (round(left, 1), top, round(width, 1), high)
            left += width + gap
        top += LEVEL + (ROOM - FILE if room else 0)
    return found


def lines(arrows, boxes):
    """Where each arrow begins and ends: at the middle of a box, or of the narrower."""
    found = []
    for one, other in sorted(arrows):
        (left, top, width, high), (left_2, top_2, width_2, _) = boxes[one], boxes[other]
        start, end = left + width / 2, left_2 + width_2 / 2
        if one in ROOMS:
            start = end = start if width < width_2 else end
        found.append((round(start, 1), top + high, round(end, 1), top_2))
    return found


def picture():
    """The whole picture, as SVG that takes its colours from the page that it is in."""
    floors = [[name for name in names if name not in DOOR] for names in levels()]
    boxes = places([names for names in floors if names])
    frame = boxes[TRANSFORMER][1]
    bottom = max(top for _, top, _, _ in boxes.values()) + FILE + GAP
    arrows = lines(not_implied(imports()), boxes)
    del boxes[TRANSFORMER]
    template = Environment(autoescape=True).from_string(SVG)
    return template.render(
        width=WIDTH,
        height=bottom + 1,
        alt=ALT,
        frame=frame,
        deep=bottom - frame,
        transformer=TRANSFORMER,
        rooms=ROOMS,
        boxes=boxes,
        arrows=arrows,
    )


if __name__ == "__main__":
    PICTURE.write_text(picture() + "\n", encoding="utf-8", newline="\n")
