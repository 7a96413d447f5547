"""The ledger on a page: tables in HTML and plain text, the Markdown of the book, links to the replays."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass

import numpy as np

from replays.ledger import (
    CORRECTED,
    FAILED,
    REMARKS,
    REPLAYS,
    REPRODUCED,
    SOURCES,
    UNSEEDED,
    Entry,
    Remark,
    Result,
    agrees,
    lookup,
)
from replays.recompute import LEDGER
from toytf.course.chapters import chapters
from toytf.ops import Array

SIGNS = {REPRODUCED: "✓", CORRECTED: "✗", UNSEEDED: "○", FAILED: "✗"}


# ---------------------------------------------------------------- names and links


def remark_heading(name: str) -> str:
    """The heading of a remark: its id and its title.

    Raises
    ------
    KeyError
        If there is no such remark.

    Examples
    --------
    >>> remark_heading("E0-02")
    'E0-02: the position of World'
    """
    return f"{name}: {lookup(name, REMARKS, 'remark', 'REMARKS').title}"


def remark_link(name: str, folder: str = "", text: str | None = None) -> str:
    """A Markdown link to a remark in the replay of its source.

    Parameters
    ----------
    name : str
        The remark's id.
    folder : str
        Where the replays are, as seen from the page with the link; ``"../book/"`` from a chapter.
    text : str, optional
        What to click on; the heading if left out.

    Examples
    --------
    >>> remark_link("E0-02")
    '[E0-02: the position of World](replay_random_transformer.ipynb#e0-02-the-position-of-world)'
    >>> remark_link("E3-29", text="E3-29")
    '[E3-29](replay_pytorch_post.ipynb#e3-29-formulas-printed-three-times)'
    """
    from mdit_py_plugins.anchors.index import slugify  # what makes the book's anchors; only its pages need them

    heading = remark_heading(name)
    text = heading if text is None else text
    return f"[{text}]({folder}{REPLAYS[int(name[1])]}.ipynb#{slugify(heading)})"


# ---------------------------------------------------------------- a passage


def remark(name: str) -> Passage:
    """Set the words of a passage below what kind of remark they get, for a notebook or a terminal.

    Raises
    ------
    KeyError
        If there is no such remark.

    Examples
    --------
    >>> remark("E0-03")
    Error, the author's, in section 2
        “cos(1 / 10000^0.5) ≈ cos(0.01) ≈ 0.99”
        One of the four lines of World. The others round: sin(1) to 0.84, and the cosine of the last column to 1.
    """
    return Passage(name, lookup(name, REMARKS, "remark", "REMARKS"))


@dataclass(frozen=True)
class Passage:
    """A remark that shows its kind, whose it is, the words it is about and what stands around them."""

    name: str
    remark: Remark

    @property
    def head(self) -> str:
        owner = "ours" if self.remark.whose == "this course" else f"the {self.remark.whose}'s"
        return f"{self.remark.kind.capitalize()}, {owner}, in {self.remark.where}"

    def __repr__(self) -> str:
        lines = (f"“{self.remark.quote}”", self.remark.means, self.remark.context)
        return "\n".join([self.head, *(f"    {line}" for line in lines if line)])

    def _repr_html_(self) -> str:
        said = self.remark
        kind, rest = self.head.split(", ", 1)
        parts = [
            f'<p class="head"><b>{kind}</b>, {html.escape(rest)}</p>',
            f"<blockquote><p>{html.escape(said.quote)}</p></blockquote>",
        ]
        parts += [f"<p>{html.escape(text)}</p>" for text in (said.means, said.context) if text]
        return f'<div class="passage passage-{said.kind}">{"".join(parts)}</div>'


# ---------------------------------------------------------------- what there is to show of a result


def written(entry: Entry, found) -> Array:
    """The words of what was computed, in its shape.

    Numbers have at least as many places as are printed, and one more where a tie was rounded the other way.
    """
    if not isinstance(found, np.ndarray):
        return np.array("" if found is None else str(found), dtype=object)
    digits = [word.lower().partition("e") for word in entry.words.ravel()] if entry.is_number else []
    places = max((len(mantissa.partition(".")[2]) for mantissa, _, _ in digits), default=0)
    numbers = found.ravel().tolist()
    if any(e for _, e, _ in digits):
        words = [f"{x:z.{places}e}" for x in numbers]
    else:
        places = max(6, entry.decimals or 0, places + _has_tie(entry, found))
        words = [f"{x:z.{places}f}" for x in numbers]
        surplus = min(len(word) - len(word.rstrip("0")) for word in words)  # zeros that all of them end with
        words = [word[: len(word) - surplus].rstrip(".") for word in words]
    return np.array(words, dtype=object).reshape(found.shape)


def _has_tie(entry: Entry, found: Array) -> bool:
    """Whether a computed number agrees with a printed one, and would be rounded to another."""
    if not entry.is_number or found.shape != entry.words.shape or not agrees(entry.words, found, entry.decimals).all():
        return False
    places = [max(entry.decimals or 0, len(word.partition(".")[2])) for word in entry.words.ravel()]
    pairs = zip(entry.words.ravel(), found.ravel().tolist(), places, strict=True)
    return any(float(f"{x:.{n}f}") != float(word) for word, x, n in pairs)


def _parts(result: Result) -> dict[str, Array]:
    """The words that were printed, computed and right; a sign stands before each computed one that differs."""
    parts = {"printed": result.entry.words}
    if result.computed is not None:
        words = written(result.entry, result.computed)
        if result.matches is not None:
            words = np.where(result.matches, words, "✗ " + words)
        parts["computed"] = words
    if result.status == CORRECTED and result.right is not result.computed:
        parts["right"] = written(result.entry, result.right)
    return parts


def _label(result: Result, label: str) -> str:
    """What stands before a part: of what cannot be recomputed, something is checked instead."""
    return "checked" if (result.status, label) == (UNSEEDED, "computed") else label


def _aligned(words: Array) -> list[str]:
    """One line for each row of an array, in columns."""
    if words.ndim == 0:
        return [words[()]]
    rows = words.reshape(-1, words.shape[-1])
    widths = [max(map(len, column)) for column in rows.T]
    return [" ".join(word.rjust(width) for word, width in zip(row, widths, strict=True)) for row in rows]


def _remarks(result: Result) -> list[str]:
    """What stands below the verdict."""
    entry = result.entry
    if result.status == FAILED:
        return [result.failure]
    if result.status in (REPRODUCED, UNSEEDED):
        how = ["given"] if result.given else [f"through {entry.through}"] if entry.through else []
        return how + [f"see {remark_heading(name)}" for name in entry.see]
    return [f"{remark_heading(name)} ({REMARKS[name].kind})" for name in entry.corrected_by]


# ---------------------------------------------------------------- a table for a page

SIDE_BY_SIDE = 16  # characters that printed and computed numbers may take together, beside each other


def table(*ids: str) -> Table:
    """Set what was printed beside what is computed, for a notebook or a terminal.

    Parameters
    ----------
    *ids : str
        Which entries, in this order.

    Raises
    ------
    KeyError
        If an id is unknown; the message names close ones.
    ValueError
        If there is none.

    Examples
    --------
    >>> table("s0-scores1", "s0-k1-hand-expansion")
    scores of head 1, by NumPy: ✓ reproduced
        printed     68.   105.21
                  87.88 135.5517
        computed  68.0000 105.2100
                  87.8800 135.5517
    K₁, from the sums as they are typed: ✗ corrected
        E0-12: a 4 where 3.99 is meant (error)
        printed      4    8    4
                  6.84 9.99 6.84
        computed  4.00    8.00 4.00
                  6.84 ✗ 10.00 6.84
        right     4.00 8.00 4.00
                  6.84 9.99 6.84
    """
    if not ids:
        raise ValueError('ids: expected at least one id, as in table("s0-k1"), got none')
    return Table(tuple(LEDGER.result(name) for name in ids))


@dataclass(frozen=True)
class Table:
    """Results that show themselves as a table, in HTML and in plain text.

    Short numbers stand side by side; where a row of an array is long, what was printed stands above
    what is computed, so that the page stays narrow.
    """

    results: tuple[Result, ...]

    @property
    def is_narrow(self) -> bool:
        """True if printed and computed numbers fit beside each other."""
        printed = max(len(line) for r in self.results for line in _aligned(r.entry.words))
        computed = max(len(line) for r in self.results for line in _aligned(written(r.entry, r.computed)))
        return printed + computed <= SIDE_BY_SIDE

    def __repr__(self) -> str:
        return "\n".join(self._side_by_side() if self.is_narrow else self._stacked())

    def _side_by_side(self) -> list[str]:
        rows = [[["what"], ["printed"], ["computed"], ["verdict"]]]
        for result in self.results:
            lines = {label: _aligned(words) for label, words in _parts(result).items()}
            right = [f"{'' if i else 'right:':6} {line}" for i, line in enumerate(lines.get("right", []))]
            verdict = [f"{SIGNS[result.status]} {result.status}", *right, *_remarks(result)]
            rows.append([[result.entry.what], lines["printed"], lines.get("computed", []), verdict])
        widths = [max(len(line) for row in rows for line in row[j]) for j in range(4)]
        text = []
        for row in rows:
            for i in range(max(map(len, row))):
                cells = [cell[i] if i < len(cell) else "" for cell in row]
                text.append("  ".join(c.ljust(w) for c, w in zip(cells, widths, strict=True)).rstrip())
        return text

    def _stacked(self) -> list[str]:
        text = []
        for result in self.results:
            text.append(f"{result.entry.what}: {SIGNS[result.status]} {result.status}")
            text += [f"    {remark}" for remark in _remarks(result)]
            for label, words in _parts(result).items():
                for i, line in enumerate(_aligned(words)):
                    text.append(f"    {'' if i else _label(result, label):10}{line}".rstrip())
        return text

    def _repr_html_(self) -> str:
        if not self.is_narrow:
            return f'<table class="compare">{"".join(map(_html_block, self.results))}</table>'
        head = "".join(f'<th scope="col">{name}</th>' for name in ("what", "printed", "computed", "verdict"))
        body = "".join(map(_html_row, self.results))
        return f'<table class="compare"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def _html_row(result: Result) -> str:
    """One row: what, printed, computed, verdict."""
    parts = {label: _html_words(words) for label, words in _parts(result).items()}
    right = f"<br>right: {parts['right']}" if "right" in parts else ""
    name = f"{html.escape(result.entry.what)}<br><code>{result.entry.id}</code>"
    cells = (parts["printed"], parts.get("computed", ""), _html_status(result) + right + _html_remarks(result))
    return f'<tr><th scope="row">{name}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'


def _html_block(result: Result) -> str:
    """Several rows: what and verdict, then printed, computed, right."""
    name = f"{html.escape(result.entry.what)} <code>{result.entry.id}</code>"
    head = f"{name} {_html_status(result)}{_html_remarks(result)}"
    rows = "".join(
        f'<tr><th scope="row">{_label(result, label)}</th><td>{_html_words(words)}</td></tr>'
        for label, words in _parts(result).items()
    )
    return f'<tbody><tr><th scope="rowgroup" colspan="2">{head}</th></tr>{rows}</tbody>'


def _html_status(result: Result) -> str:
    """The status without its sign: the style of the page sets one beside "ok" and "differs"."""
    kind = {REPRODUCED: "ok", CORRECTED: "differs", FAILED: "differs"}.get(result.status, "open")
    return f'<span class="{kind}">{result.status}</span>'


def _html_remarks(result: Result) -> str:
    return "".join(f"<br><small>{html.escape(remark)}</small>" for remark in _remarks(result))


def _html_words(words: Array) -> str:
    """Words with the rows of an array on lines of their own, in columns; what does not match stands out."""
    if words.ndim == 0 and not re.fullmatch(r"(✗ )?[-+.\de]*", words[()]):
        return html.escape(words[()])  # a statement
    lines = "\n".join(_aligned(words)).replace("-", "−")
    lines = re.sub(r"✗ [^ \n]+", r"<strong>\g<0></strong>", lines)
    style = "font-family: monospace; font-size: 0.85em; white-space: pre"
    return f'<span class="compare-numbers" style="{style}">{lines}</span>'


# ---------------------------------------------------------------- the page of the book


def _require_source(source: int) -> None:
    if source not in range(len(SOURCES)):
        raise ValueError(f"source: expected 0 to {len(SOURCES) - 1}, got {source!r}")


def as_markdown(source: int) -> str:
    """All entries of one source as Markdown tables, one for each section of the source.

    Each row links to its step of the replay, to the chapter that computes it, and to the remark that corrects it.

    Parameters
    ----------
    source : int
        0 to 4.

    Raises
    ------
    ValueError
        If there is no such source.
    """
    _require_source(source)
    sections: dict[str, list[str]] = {}
    for result in LEDGER.results(source=source):
        sections.setdefault(result.entry.section, []).append(_markdown_row(result))
    head = "| what | printed → computed | verdict |\n|:--|:--|:--|\n"
    tables = (f"**{name[0].upper()}{name[1:]}**\n\n{head}" + "\n".join(rows) for name, rows in sections.items())
    return "\n\n".join(tables)


def _markdown_row(result: Result) -> str:
    entry, parts = result.entry, _parts(result)
    numbers = [_markdown_words(entry.words)]
    if result.status in (CORRECTED, FAILED) or (entry.printed is None and result.computed is not None):
        numbers.append("→ " + _markdown_words(written(entry, result.computed)))
    if result.status == UNSEEDED:
        numbers.append("checked: " + _markdown_words(written(entry, result.computed)))
    if "right" in parts:
        numbers.append("right: " + _markdown_words(parts["right"]))
    remarks = []
    if result.status == CORRECTED:
        remarks = [f"{remark_link(name)} ({REMARKS[name].kind})" for name in entry.corrected_by]
    elif result.status in (REPRODUCED, UNSEEDED):
        remarks = ["given"] * result.given + [f"see {remark_link(name, text=name)}" for name in entry.see]
    verdict = f"{SIGNS[result.status]}\N{NO-BREAK SPACE}{result.status}"
    return f"| {_step_link(entry)}, {_home_link(entry)} | {'<br>'.join(numbers)} | {'<br>'.join([verdict, *remarks])} |"


def _step_link(entry: Entry) -> str:
    """What an entry is; a link to the step of the replay that sets it beside what is computed."""
    anchor = f"#{entry.step}" if entry.step else ""
    return f"[{entry.what}]({REPLAYS[entry.source]}.ipynb{anchor})"


def _home_link(entry: Entry) -> str:
    """The chapter that computes an entry; a link to its section, where the book is."""
    text = f"chapter\N{NO-BREAK SPACE}{int(entry.chapter)}"
    name = chapters().get(entry.chapter)
    if name is None:
        return text
    anchor = f"#{entry.home}" if entry.home else ""
    return f"[{text}](../notebooks/{name}.ipynb{anchor})"


def _markdown_words(words: Array) -> str:
    """One line for each row of an array, in brackets: on a narrow page a row takes several lines."""
    if words.ndim == 0:
        return words[()].replace("|", "\\|")
    return "<br>".join(f"`[{' '.join(row)}]`" for row in words.reshape(-1, words.shape[-1]))


def remarks_as_markdown(source: int) -> str:
    """All remarks on one source as a Markdown table: what, which kind, whose, where.

    Parameters
    ----------
    source : int
        0 to 4.

    Raises
    ------
    ValueError
        If there is no such source.
    """
    _require_source(source)
    rows = [
        f"| {remark_link(name)} | {said.kind} | {said.whose} | {said.where} |"
        for name, said in LEDGER.remarks_on(source).items()
    ]
    return "| remark | kind | whose | where |\n|:--|:--|:--|:--|\n" + "\n".join(rows)
