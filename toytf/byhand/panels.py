"""Workings as HTML: matrices that look like matrices, restacked where the column is narrow.

A panel is made of tables and one disclosure, readable without any style or script. panel.css and panel.js, beside
this file, make of it what one can touch. The book links both once. A notebook's output brings them along: it may be the
only one that is run, or stand in a frame of its own, and so it is the same wherever it stands.
"""

from __future__ import annotations

import html as _html
import math
import re
from collections.abc import Sequence
from functools import cache
from importlib import resources

import numpy as np

from toytf.byhand.expressions import Array, Num, fixed, is_idle, trimmed

# Which cells of an operand make entry (i, j) of the result: rows, columns (* is all of them), and their colour.
LIGHTS = {"row": "i*r", "column": "*jc", "cell": "ijr", "other cell": "ijc", "all": "**c", "row, cell": "i*r,ijc"}
PHONE = 41  # so many digits stand in a line of a panel on a phone
LETTER, PADDING = 0.8, 0.9  # of a label and of a cell, in digits
SMALL = 0.94  # type of 12 pixels beside the usual one on a phone
EQUAL = 72  # up to so many digits factors and result stand side by side with columns of one width
LONG = 12  # letters of a title that is not said again
SHORT = 7  # letters of a column's name that is not broken
ZEROS = 3  # up to so many entries that are 0 term by term are written out
ZERO = '<td class="b-z">0</td>'
# Widths are rounded up to one of these, in digits: `_widths` has a rule for each.
STEPS = (12, 16, 20, 24, *range(28, 49, 2), *range(52, 77, 4), 80, 88, 96)

# ---------------------------------------------------------------- style and script


@cache
def style_and_script() -> str:
    return f"<style>{style()}</style><script>{script()}</script>"


def script() -> str:
    """Return panel.js."""
    return _file("panel.js")


def style() -> str:
    """Return panel.css and the rules for each width.

    Columns of a panel have one width (w), turned ones too (v), or have it where all fits side by side (k). What fits
    so hides the labels that would stand twice (s); a matrix that does not fit alone is turned, each row a column (t),
    or has its rows' names above their numbers (u, n columns). Each from its own width on. What is turned says so: Wᵀ.
    """
    turned = "--t: flex;--s: 0;--e: 1.5px;--j: 0;--l: .5em;--o: nowrap;--a: auto;--x: flex-start;--c: right"
    turned += ";--p: .27em;--r: .45em;--i: inline;--n: none;--d: rtl;--m: var(--v, 0ch)"
    above = "--u: grid;--v: contents;--h: none;--q: block;--y: 12px;--a: auto;--b: anywhere"
    rules = [
        f".w{n}{{--m: {n}ch}}.v{n}{{--v: {n}ch}}.k{n}{{--k: calc((1 - var(--z, 1)) * {n}ch)}}" for n in range(2, 15)
    ]
    rules += [f".n{n}{{--n: {n}}}" for n in (*range(3, 13), 16, 32, 80)]
    for n in STEPS:
        rules.append(f".s{n}{{--w: {n}ch}}@container (min-width: {n}ch){{.s{n}{{--z: 0}}}}")
        rules.append(f"@container (max-width: {n - 1}.9ch){{.t{n}{{{turned}}}.u{n}{{{above}}}}}")
    # so many lines of names stand above the left factor, and above them the end of a sum
    rules += [f".g{lines}{{--g: {1.7 + 1.5 * lines:g}}}" for lines in range(3)]
    return _file("panel.css") + "".join(rules)


def _file(name: str) -> str:
    text = resources.files("toytf.byhand").joinpath(name).read_text("utf-8")
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)  # comments are for who reads the file
    text = re.sub(r"\s*\n\s*", "\n", text).strip()
    return re.sub(r"\s*([{};])\s*", r"\1", text) if name.endswith(".css") else text


# ---------------------------------------------------------------- numbers


def words(array: Array, decimals: int, sci: bool, form: str) -> list[list[str]]:
    """Return a matrix's words: every number with as many decimals as the longest needs.

    With `sci`, what would be written as 0 or as 1 without being it says how far it is from that.
    """
    shown = [trimmed(float(v), decimals) for v in array.ravel()]
    needed = max((len(w.partition(".")[2]) for w in shown), default=0)

    def word(value):
        n = Num(value, decimals, sci)
        if "e" in n.word or math.isinf(value):
            return n.render(form)
        if sci and nearly_one(value, decimals):
            return f"1 {'−' if form == 'html' else '-'} {Num(1 - value, decimals, sci).render(form)}"
        text = fixed(value, needed)
        return text.replace("-", "−") if form == "html" else text

    return [[word(float(v)) for v in row] for row in array]


def nearly_one(value: float, decimals: int) -> bool:
    """Tell whether a number below 1 would be written as 1."""
    return value < 1 and float(fixed(value, decimals)) == 1.0


def _length(word: str) -> float:
    """How many digits wide a number is: points, spaces and powers are narrower than digits, a minus is wider."""
    word, _, power = word.removesuffix("</sup>").partition("<sup>")
    high = 0.7 * _length(power) if power else 0.0
    return len(word) - 0.5 * (word.count(".") + word.count(" ")) + 0.2 * word.count("−") + high


# ---------------------------------------------------------------- a matrix


class _Matrix:
    """One table of a panel, and how wide it is in digits."""

    def __init__(self, array, cells, rows=None, cols=None, name="", lights="", shift=0):
        self.array, self.cells, self.rows = array, cells, rows
        # a short name stays in one line, a long one breaks between its words
        self.cols = None if cols is None else [c.replace(" ", "\u00a0") if len(c) <= SHORT else c for c in cols]
        self.name, self.lights, self.shift = name, lights, shift
        self.at_least = 0.0  # a neighbour of this width is turned with it
        self.columns = ""  # the class that says so
        self.turns = False  # whether it is turned though it would fit, since that neighbour must be
        self.digits = self.apart = None  # of each column, as its neighbours have; of each where all stand side by side
        self.longest = max(_length(w) for row in cells for w in row)

    @property
    def stub(self) -> float:
        return 0.0 if self.rows is None else max(len(r) for r in self.rows) * LETTER + 0.5

    @property
    def column(self) -> float:
        """The width of a column."""
        names = [len(word) for c in self.cols or () for word in c.split(" ")]
        return max([self.longest, *(LETTER * n for n in names)]) + PADDING

    def across(self, digits: float | None = None) -> float:
        """The width with columns of so many digits, or of as many as they need."""
        return self.stub + (digits + PADDING if digits else self.column) * self.array.shape[1] + 0.5

    @property
    def width(self) -> float:
        return self.across(self.digits)

    @property
    def room(self) -> float:
        """The width where all fits side by side."""
        return self.across(self.apart)

    @property
    def name_width(self) -> float:
        """The width of the name below it, which is not broken."""
        return (len(self.name) + 1) * LETTER + 4

    def folding(self) -> str:
        """The classes that say how it becomes narrow enough for a phone, if it must."""
        n_cols = self.array.shape[1]
        if self.width <= PHONE and not self.turns:
            return ""
        step = _step(max(self.width, self.at_least))
        if self.turns or self.turned() <= PHONE:
            return f" b-t t{step}"  # turned: each row becomes a column
        width = n_cols * (self.longest + PADDING)  # each row's name above its numbers
        smaller = "" if width <= PHONE else " b-y" if width * SMALL <= PHONE else " b-x"
        return f" b-u u{step} n{n_cols}{smaller}"

    def turning(self) -> str:
        """The class that says from which width on it is turned; empty where it is not."""
        found = re.search(r" t\d+", self.folding())
        return found[0] if found else ""

    def turned(self, digits: float = 0) -> float:
        """The width when each row is a column."""
        labels = max((len(c) for c in self.cols or ()), default=0) * LETTER + PADDING
        return labels + len(self.array) * max(digits + PADDING, self.upright)

    @property
    def upright(self) -> float:
        """The width of a row that is a column."""
        return max(self.longest, *(LETTER * len(r) for r in self.rows or ("",))) + PADDING

    @property
    def turns_over(self) -> bool:
        return self.turns or (self.across() > PHONE and self.turned() <= PHONE)

    @property
    def narrow(self) -> float:
        """The width of a column on a phone."""
        return self.upright if self.turns_over else self.column

    def fits(self, digits: float) -> bool:
        """Whether a phone has room for columns of so many digits, folded as it is anyway."""
        if self.turns_over:
            return self.turned(digits) <= PHONE
        return self.across(digits) - (self.stub if self.across() > PHONE else 0) <= PHONE

    def html(self, classes: str = "", caption: bool = True) -> str:
        esc, folding = _html.escape, self.folding()
        head, labels = "", [""] * len(self.cells)
        if self.rows is not None:
            labels = [f'<th scope="row">{esc(label)}</th>' for label in self.rows]
        if self.cols is not None:
            corner = "" if self.rows is None else "<td></td>"
            names = "".join(f'<th scope="col">{esc(c)}</th>' for c in self.cols)
            head = f"<thead><tr>{corner}{names}</tr></thead>"
        body = "".join(
            f"<tr>{label}{''.join(ZERO if c == '0' else f'<td>{c}</td>' for c in row)}</tr>"
            for label, row in zip(labels, self.cells, strict=True)
        )
        name = f"<caption>{''.join(_entitled(self.name, self))}</caption>" if caption else ""
        lights = f' data-l="{self.lights}"' if self.lights else ""
        lights += f' data-s="{self.shift}"' if self.shift else ""
        kind = f"byhand-matrix{classes and ' ' + classes.strip()}{self.columns}{folding}"
        table = f'<table class="{kind}"{lights}>{name}{head}<tbody>{body}</tbody></table>'
        if not folding.endswith("b-x"):
            return table
        return f'<div class="byhand-scroll {folding.split()[1]}" tabindex="0">{table}</div>'


def _named(name: str) -> str:
    """A matrix's name as HTML: the letter of W stands where formulas have it."""
    stacked = re.sub(r"\bW([QKVO])([₁-₉])", r'W<span class="b-over"><sup>\1</sup>\2</span>', _html.escape(name))
    return re.sub(r"\bW([QKVO])(?![A-Za-z])", r"W<sup>\1</sup>", stacked)


def _entitled(name: str, m: _Matrix) -> tuple[str, str]:
    """A name and a shape. A matrix that is drawn turned is called Wᵀ, and Wᵀ is then W; who hears it hears its rows."""
    said, sign = _named(name), ""
    if m.turning():
        sign = ("turned" if not name else ", turned" if " " in name else "ᵀ") * (not name.endswith("ᵀ"))
        sign = sign and f'<span class="b-i" aria-hidden="true" data-i="{sign}"></span>'
        said = re.sub("ᵀ$", "<span class=b-n>ᵀ</span>", said)
    shape = " × ".join(map(str, m.array.shape))
    return said, f'{sign}{" " * bool(said)}<span class="byhand-shape">{shape}</span>'


def _step(width: float) -> int:
    return next((step for step in STEPS if step >= width), STEPS[-1])


def _unless_numbers(labels: Sequence[str] | None) -> Sequence[str] | None:
    """Labels that say something; numbers from 1 do not."""
    return None if labels is None or list(labels) == [str(i + 1) for i in range(len(labels))] else labels


# ---------------------------------------------------------------- a panel


def panel(working, known: Sequence = (), in_chain: bool = False) -> str:
    """Return a working as HTML; in a chain, operands among the `known` results are named, and lit there."""
    cols = None if tuple(working.cols) == ("",) else working.cols
    cells = words(working.result, working.decimals, working.sci, "html")
    result = _Matrix(working.result, cells, working.rows, cols)
    for at in zip(*np.nonzero(working.marked if working.marked is not None else ()), strict=True):
        cells[at[0]][at[1]] = f"<mark>{cells[at[0]][at[1]]}</mark>"
    places = [(operand, place(operand, known)) for operand in working.operands]
    shown = [operand for operand, at in places if at is None]
    linked = [f"{at[0]}:{_lights(operand, at[1])}:{operand.shift}" for operand, at in places if at is not None]
    heading = working._heading()
    title = f'<div class="byhand-title"><span>{_named(heading)}</span></div>'
    if not shown:
        _one_width([result])
        # what is turned has a name of its own: "hidden = max(0, before)" is no name
        called = bool(working.formula and result.turning())
        result.name, width = working.name, result.room
        body = result.html("byhand-result", caption=called)
        if not called:
            said, rest = _entitled(heading, result)
            title = f'<div class="byhand-title{result.turning()}"><span>{said}</span>{rest}</div>'
    elif working.layout == "product":
        body, width = _product(working, result, title, shown)
        title = "" if title in body else title
    else:
        body, width = _line(working, result, shown)
        title = "" if heading == result.name else title
    above = [_named(known[at[0]].name) for _, at in places if at is not None and len(places) > 1]
    note = f'<div class="byhand-known">from {" and ".join(dict.fromkeys(above))} above</div>' * any(above)
    linked = f' data-from="{" ".join(linked)}"' if linked else ""
    sums = all_sums(working) if working.entries and not in_chain else ""
    step = f"s{_step(width)}"
    beside = f" {step}" * (width <= STEPS[-1])  # what is wider stands below each other in any column
    return f'<div class="byhand {step}"{linked}>{title}<div class="byhand-parts{beside}">{body}</div>{note}{sums}</div>'


def place(operand, known: Sequence) -> tuple[int, bool] | None:
    """Where an operand stands among earlier steps, and whether it is the transpose of what stands there."""
    source = operand.source
    if source is None:
        return None
    turned, source = source.source is not None, source.source or source
    return next(((k, turned) for k, step in enumerate(known) if step.result is source.result), None)


def _lights(operand, turned: bool = False) -> str:
    lights = LIGHTS[operand.lights]
    return re.sub(r"(.)(.)(?=[rc])", r"\2\1", lights) if turned else lights


def _operand(operand, working, rows, cols) -> _Matrix:
    source = operand.source
    decimals, sci = (working.decimals, working.sci) if source is None else (source.decimals, source.sci)
    cells = words(operand.array, decimals, sci, "html")
    return _Matrix(operand.array, cells, rows, cols, operand.name, _lights(operand), operand.shift)


def _product(working, result: _Matrix, title: str, shown) -> tuple[str, float]:
    """As on paper: the left factor, the right factor above the result, the result where rows and columns cross."""
    first, second = working.operands
    result.name = working.name if working.formula or len(working.name) <= LONG else ""
    left = right = None
    if first in shown:
        left = _operand(first, working, _unless_numbers(first.rows) or working.rows, _unless_numbers(first.cols))
    if second in shown:
        right = _operand(second, working, _unless_numbers(second.rows), result.cols)
        result.longest = right.longest = max(result.longest, right.longest)
        result.at_least = right.at_least = max(result.width, right.width)
    every = [m for m in (left, right, result) if m is not None]
    same = every[1:] if left else every  # columns below columns
    if any(m.turning() for m in same) and max(m.turned() for m in every) <= PHONE:
        for m in every:
            m.turns, m.at_least = True, max(one.width for one in every)
    _one_width(every, same)
    if left and left.room + result.room - result.stub > EQUAL:
        _one_width([left])
        _one_width(same, same)
        if left.room + result.room - result.stub > EQUAL:  # then they do not stand side by side
            _one_width(every, same)
    inside = "byhand-result" + (" b-in" if left else "") + (" b-ih" if right else "")
    crossed = result.html(inside)
    if right is not None:
        crossed = right.html(f"b-above{' b-in' if left else ''}") + crossed
    width = result.room - result.stub
    if left is None:
        # the rows' names stand beside the result, so the right factor moves in by as much
        turned = result.turning() if right is not None else ""
        return f'<div class="b-block b-end{turned}">{crossed}</div>', result.room
    wide = max(left.room, left.name_width)
    lines = 0 if left.cols is None else 1 + any(" " in name for name in left.cols)
    gap = f" g{lines}" if right is not None else ""
    # a single row that is turned stands at the rows of the right factor, each number beside those it is multiplied with
    turned = left.turning() if right is not None and len(left.array) == 1 else ""
    if turned:  # the row's name stands beside the result alone
        title, turned, gap = "", f" b-one{turned}", f"{gap} b-end"
    body = f'<div class="b-block b-left{turned}">{title}{left.html()}</div><div class="b-block{gap}">{crossed}</div>'
    return body, wide + 1.5 + max(width, result.name_width)


def _one_width(matrices, always=()) -> None:
    """Give all their columns one width; where a phone has no room for that, only where all stand side by side.

    Those of `always` have one in any case, since they stand below each other.
    """
    digits, narrow = _digits(m.column for m in matrices), _digits(m.narrow for m in matrices)
    fit = next((n for n in (digits, narrow) if all(m.fits(n) for m in matrices)), None)
    for m in matrices:
        own = _digits(one.narrow for one in (always if m in always else [m]))
        own = fit or (own if m in always or m.fits(own) else None)
        m.apart, m.digits = digits, (digits if m in always else None) if m.turns_over else own
        m.columns = f" v{own}" * bool(own and m.turns_over) + f" w{m.digits}" * bool(m.digits)
        m.columns += f" k{digits}" * (m.digits != digits)


def _digits(columns) -> int:
    return min(14, max(2, math.ceil(max(columns) - PADDING)))


def _line(working, result: _Matrix, shown) -> tuple[str, float]:
    """The operands beside each other, then the result."""
    blocks = []
    for operand in shown:
        rows = working.rows if len(operand.array) == len(working.rows) else _unless_numbers(operand.rows)
        same = operand.array.shape[1] == working.result.shape[1]
        m = _operand(operand, working, rows, result.cols if same else _unless_numbers(operand.cols))
        blocks.append((operand.sign, m, []))
    result.name = working.name if working.formula or len(working.name) <= LONG else ""
    # 8.71 + (−0.02) = 8.70: "≈" where any number is not shown in full, as in the sums
    rounded = any(relation == "≈" for entry in working.entries for relation, _ in entry.chain("html"))
    blocks.append((working.sign.replace("=", "≈") if rounded else working.sign, result, ["byhand-result"]))
    widest = max((m for _, m, _ in blocks), key=lambda m: m.width)
    turned = bool(widest.turning())
    for _, m, _ in blocks:
        # a row beside a column cannot be added to it by eye
        m.turns = turned and len(m.array) == len(widest.array)
    every = [m for _, m, _ in blocks]
    # beside powers of ten other numbers would stand far from their brackets
    for some in [[m] for m in every] if working.sci and not turned else [every]:
        _one_width(some, some if turned else ())
    out, width = "", -1.5
    for k, (sign, m, classes) in enumerate(blocks):
        m.at_least = widest.width if m.turns or m.array.shape == working.result.shape else 0.0
        beside = 0.0
        if k and blocks[0][1].rows == m.rows:
            classes, beside = [*classes, "b-in"], m.stub
        before = f'<span class="b-sign">{_html.escape(sign)}</span>' if k and sign else ""
        room = f' style="--sign:{len(sign) + 1}ch"' if before else ""
        out += f'<div class="b-block"{room}>{before}{m.html(" ".join(classes))}</div>'
        width += max(m.room - beside, m.name_width) + 1.5 + (len(sign) + 1.3 if sign else 0)
    return out, width


# ---------------------------------------------------------------- the sums


def all_sums(working) -> str:
    """One disclosure: every entry's arithmetic, the only place where it stands."""
    n = len(working.entries)
    if working.layout == "product":
        label = f"All {n} sums" if n > 1 else "The sum"
    else:
        label = f"All {n} entries, worked out" if n > 1 else "The entry, worked out"
    return f'<details class="byhand-sums"><summary>{label}</summary>{sum_lines(working)}</details>'


def sum_lines(working) -> str:
    n_rows, n_cols = np.shape(working.result)
    ordered = [e.at for e in working.entries] in (list(np.ndindex(n_rows, n_cols)), list(np.ndindex(n_rows)))
    cells = words(working.result, working.decimals, working.sci, "html")
    lines, idle = [], [bool(entry.steps) and is_idle(entry.steps[0]) for entry in working.entries]
    for entry, adds_zeros in zip(working.entries, idle, strict=True):
        at = "" if ordered or not entry.at else f' data-at="{".".join(map(str, entry.at))}"'
        at += " hidden" * (adds_zeros and sum(idle) > ZEROS)  # panel.js shows it where it is asked for
        work = "\n".join(f"{r} {e}" for r, e in entry.chain("html"))
        word, end = cells[entry.at[0]][entry.at[1]] if len(entry.at) == 2 else "", work.split(" ")[-1]
        if word.startswith(end) and not word.removeprefix(end).strip(".0"):
            work = work.removesuffix(end) + word  # as the table has it: 0.0900, not 0.09
        lines.append(f"<p{at}><b>{_html.escape(entry.where)}</b> {work}</p>")
    others = f'<div class="byhand-others">{sum(idle)} entries are 0, term by term.</div>'
    return "".join([*lines, others * (sum(idle) > ZEROS)])
