"""What `toytf.byhand` shows: a result as a labelled table, with the arithmetic of its entries."""

from __future__ import annotations

import html as _html
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from toytf._validate import as_bool, list_of, require_class, shape_text, whole_number
from toytf.byhand.expressions import Array, Num, fixed, is_transcendental, trimmed

# JupyterLab hides the triangle that browsers draw; the book hides this one and keeps the browser's.
OPENS = '<span class="byhand-opens" aria-hidden="true">▸ </span>'

# ---------------------------------------------------------------- a computation, written out


@dataclass(frozen=True)
class Entry:
    """One entry of a result: where it stands and the steps that lead to it, the last one its value."""

    where: str
    steps: tuple

    def chain(self, form: str) -> list[tuple[str, str]]:
        """Return ``(relation, expression)`` for each step."""
        relations = ["=" if self.steps[0].exact else "≈"]
        for before, after in itertools.pairwise(self.steps):
            shown_in_full = before.exact and after.exact
            # exp, sin and cos of anything but 0 are irrational: no finite number of digits is all of them.
            evaluated = is_transcendental(before) and not is_transcendental(after)
            relations.append("=" if shown_in_full and not evaluated else "≈")
        return [(relation, step.render(form)) for relation, step in zip(relations, self.steps, strict=True)]


def require_decimals(decimals) -> None:
    """Raise an error unless Python can write a number with so many decimals."""
    if whole_number("decimals", decimals, least=0) > 1000:
        raise ValueError(f"decimals: expected at most 1000, got {decimals}")


@dataclass(frozen=True)
class Working:
    """A result as a labelled table, with the arithmetic of its entries.

    Parameters
    ----------
    name, formula : str
        ``"K₁"`` and ``"x W_K"``; either may be empty.
    result : Array, shape (rows, columns)
    rows, cols : tuple of str
        One label for each row and column.
    entries : tuple of Entry
        May be empty: then it is a labelled table and nothing more.
    decimals : int
        At most so many decimals are shown.
    sci : bool
        Write what would round to zero in scientific notation.
    """

    name: str
    formula: str
    result: Array
    rows: tuple[str, ...]
    cols: tuple[str, ...]
    entries: tuple[Entry, ...] = ()
    decimals: int = 4
    sci: bool = False

    def __post_init__(self):
        require_class("name", self.name, str)
        require_class("formula", self.formula, str)
        require_decimals(self.decimals)
        as_bool("sci", self.sci)

    # -- choosing

    def only(self, *where: str) -> Working:
        """Return the same table with the arithmetic of the named entries alone.

        Examples
        --------
        >>> from toytf import byhand
        >>> print(byhand.matmul([[1, 2]], [[1], [2]], "s", rows=["q"], cols=["k"]).only("q, k"))
        s (1 x 1)
           k
        q  5
        [q, k] = 1·1 + 2·2 = 1 + 4 = 5
        """
        known = [entry.where for entry in self.entries]
        for name in list_of("where", where, str, "names of entries"):
            if name not in known:
                raise ValueError(f"where: expected some of {known}, got {name!r}")
        return replace(self, entries=tuple(e for e in self.entries if e.where in where))

    # -- showing

    def _heading(self) -> str:
        return " = ".join(part for part in (self.name, self.formula) if part)

    def _cells(self, form: str = "text") -> list[list[str]]:
        """Return the table's words: every number with as many decimals as the longest needs."""
        words = [trimmed(float(v), self.decimals) for v in self.result.ravel()]
        needed = max((len(w.partition(".")[2]) for w in words), default=0)
        cells = []
        for row in self.result:
            numbers = [Num(float(v), self.decimals, self.sci) for v in row]
            cells.append(
                [n.render(form) if "e" in n.word else _html_minus(fixed(n.value, needed), form) for n in numbers]
            )
        return cells

    def text(self) -> str:
        """Return it as plain text, for a terminal."""
        cells = self._cells()
        stub = max(len(r) for r in self.rows)
        widths = [max(len(c), *(len(row[j]) for row in cells)) for j, c in enumerate(self.cols)]

        def line(label: str, words: Sequence[str]) -> str:
            padded = (w.rjust(n) for w, n in zip(words, widths, strict=True))
            return f"{label.ljust(stub)}  {'  '.join(padded)}".rstrip()

        lines = [f"{self._heading()} ({shape_text(self.result.shape)})".strip(), line("", self.cols)]
        lines += [line(label, row) for label, row in zip(self.rows, cells, strict=True)]
        for entry in self.entries:
            lines.append(f"[{entry.where}] " + " ".join(f"{r} {e}" for r, e in entry.chain("text")))
        return "\n".join(lines)

    def html(self) -> str:
        """Return it as HTML: a table, then one `<details>` for each entry, no script needed."""
        esc = _html.escape
        head = "".join(f'<th scope="col">{esc(c)}</th>' for c in self.cols)
        body = "".join(
            f'<tr><th scope="row">{esc(label)}</th>{"".join(f"<td>{c}</td>" for c in row)}</tr>'
            for label, row in zip(self.rows, self._cells("html"), strict=True)
        )
        shape = " × ".join(str(n) for n in self.result.shape)
        parts = [
            f'<div class="byhand-title">{esc(self._heading())} <span class="byhand-shape">{shape}</span></div>',
            f'<div class="byhand-scroll"><table class="byhand-matrix"><thead><tr><td></td>{head}</tr></thead>'
            f"<tbody>{body}</tbody></table></div>",
        ]
        if self.entries:
            parts.append('<div class="byhand-entries">')
            parts += [self._details(entry) for entry in self.entries]
            parts.append("</div>")
        return '<div class="byhand">' + "".join(parts) + "</div>"

    def _details(self, entry: Entry) -> str:
        chain = entry.chain("html")
        _, last = chain[-1]
        # What is seen before the entry is opened stands for the whole chain: one rounding makes it "≈".
        relation = "≈" if any(r == "≈" for r, _ in chain) else "="
        work = "<br>".join(f"{r} {e}" for r, e in chain)
        return (
            f'<details><summary>{OPENS}<span class="byhand-where">{_html.escape(entry.where)}</span> '
            f'<span class="byhand-value">{relation} {last}</span></summary>'
            f'<div class="byhand-work">{work}</div></details>'
        )

    def latex(self) -> str:
        """Return it as LaTeX: the matrix, then one aligned line for each entry."""
        name = _latex_name(self._heading())
        matrix = r" \\ ".join(" & ".join(row) for row in self._cells("latex"))
        out = rf"{name} = \begin{{bmatrix}} {matrix} \end{{bmatrix}}"
        if not self.entries:
            return out
        lines = []
        for entry in self.entries:
            chain = " ".join(f"{r} {e}" for r, e in entry.chain("latex")).replace("≈", r"\approx")
            lines.append(rf"\text{{{_latex_text(entry.where)}}} &{chain}")
        return out + "\n" + r"\begin{aligned}" + " \\\\\n".join(lines) + r"\end{aligned}"

    def __str__(self) -> str:
        return self.text()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.html()


def beside(*workings: Working) -> _Beside:
    """Show several tables next to each other (below each other where the window is narrow)."""
    return _Beside(tuple(list_of("workings", workings, Working, "tables as matmul gives them")))


@dataclass(frozen=True)
class _Beside:
    workings: tuple[Working, ...]

    def __str__(self) -> str:
        return "\n\n".join(w.text() for w in self.workings)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return '<div class="byhand-beside">' + "".join(w.html() for w in self.workings) + "</div>"


def _html_minus(word: str, form: str) -> str:
    return word.replace("-", "−") if form == "html" else word


_SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉ᵢⱼ", "0123456789ij")


def _latex_name(name: str) -> str:
    """Turn ``K₁ᵀ`` into ``K_{1}^{T}``."""
    out = ""
    for char in name:
        if char.translate(_SUBSCRIPTS) != char:
            out += f"_{{{char.translate(_SUBSCRIPTS)}}}"
        else:
            out += {"ᵀ": "^{T}", "√": r"\surd ", "·": r"\cdot "}.get(char, char)
    return out


def _latex_text(text: str) -> str:
    for char in "\\{}$&#_%^~":
        text = text.replace(char, f"\\{char}" if char in "{}$&#_%" else " ")
    return text
