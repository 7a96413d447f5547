"""What `toytf.byhand` shows: a result, the operands it was made of, and the arithmetic of its entries."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from toytf._validate import as_bool, list_of, require_class, shape_text, whole_number
from toytf.byhand import panels
from toytf.byhand.expressions import Array, is_transcendental

# JupyterLab hides the triangle that browsers draw; the book hides this one and keeps the browser's.
OPENS = '<span class="byhand-opens" aria-hidden="true">▸ </span>'

# ---------------------------------------------------------------- a computation, written out


@dataclass(frozen=True)
class Entry:
    """One entry of a result: where it stands and the steps that lead to it, the last one its value."""

    where: str
    steps: tuple
    at: tuple[int, ...] = ()  # its row and column, counted from 0; the row alone where the entry is a whole row

    def chain(self, form: str) -> list[tuple[str, str]]:
        """Return ``(relation, expression)`` for each step that does not read like the one before."""
        relations = ["=" if self.steps[0].exact else "≈"]
        for before, after in itertools.pairwise(self.steps):
            shown_in_full = before.exact and after.exact
            # exp, sin and cos of anything but 0 are irrational: no finite number of digits is all of them.
            evaluated = is_transcendental(before) and not is_transcendental(after)
            relations.append("=" if shown_in_full and not evaluated else "≈")
        said = [(relation, step.render(form)) for relation, step in zip(relations, self.steps, strict=True)]
        return said[:1] + [after for before, after in itertools.pairwise(said) if after[1] != before[1]]

    def __str__(self) -> str:
        return f"[{self.where}] " + " ".join(f"{relation} {step}" for relation, step in self.chain("text"))


def require_decimals(decimals) -> int:
    """Raise an error unless Python can write a number with so many decimals."""
    if whole_number("decimals", decimals, least=0) > 1000:
        raise ValueError(f"decimals: expected at most 1000, got {decimals}")
    return decimals


@dataclass(frozen=True, eq=False)
class Operand:
    """A matrix that a result was made of, and which of its cells belong to which entry."""

    name: str  # may be empty
    array: Array  # rows x columns
    rows: tuple[str, ...] | None = None  # its labels, where it has any of its own
    cols: tuple[str, ...] | None = None
    lights: str = "cell"  # what entry (i, j) of the result is made of: one of `toytf.byhand.panels.LIGHTS`
    sign: str = ""  # what stands before it: "+"
    shift: int = 0  # its first column is this column of the result, counted from 0
    source: Working | None = None  # the step that gave it


class Shown:
    """Shows itself: as HTML in the book and in JupyterLab, as plain text elsewhere."""

    def __str__(self) -> str:
        return self.text()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return panels.style_and_script() + self.html()


@dataclass(frozen=True, repr=False)
class Working(Shown):
    """A result as a labelled table, with what it was made of and the arithmetic of its entries.

    A working can be an operand of the next one, which takes names and labels from it.

    >>> from toytf import byhand
    >>> X = byhand.table([[1, 2], [3, 4]], "X", rows=["Hello", "World"])
    >>> print(byhand.matmul(X, X.T, "S").only("World, Hello"))
    S = X Xᵀ (2 x 2)
           Hello  World
    Hello      5     11
    World     11     25
    [World, Hello] = 3·1 + 4·2 = 3 + 8 = 11
    """

    name: str  # "K₁"; name and formula may be empty
    formula: str  # "x W_K"
    result: Array  # rows x columns
    rows: tuple[str, ...]  # one label for each row
    cols: tuple[str, ...]
    entries: tuple[Entry, ...] = ()  # if empty, it is a labelled table and nothing more
    decimals: int = 4  # at most so many are shown
    sci: bool = False  # write what would round to zero in scientific notation
    operands: tuple[Operand, ...] = ()  # what it was made of, shown as HTML only
    layout: str = ""  # "product" puts the second operand above the result; otherwise they stand in a line
    sign: str = "="  # what stands before the result in that line
    source: Working | None = None  # of which this is the transpose
    marked: Array | None = None  # which cells are tinted

    def __post_init__(self):
        require_class("name", self.name, str)
        require_class("formula", self.formula, str)
        require_decimals(self.decimals)
        as_bool("sci", self.sci)

    # -- choosing

    @property
    def T(self) -> Working:
        """The transpose, which knows what it was made of.

        >>> from toytf import byhand
        >>> print(byhand.table([[1, 2.5]], "K", rows=["Hello"]).T)
        Kᵀ (2 x 1)
           Hello
        1    1.0
        2    2.5
        """
        if self.source is not None:
            return self.source
        name = self.name and (f"({self.name})ᵀ" if " " in self.name else f"{self.name}ᵀ")
        turned = self.result.T, self.cols, self.rows
        return Working(name, "", *turned, decimals=self.decimals, sci=self.sci, source=self)

    def only(self, *where: str) -> Working:
        """Return the same table with the arithmetic of the named entries alone.

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

    def text(self) -> str:
        """Return it as plain text, for a terminal."""
        cells = panels.words(self.result, self.decimals, self.sci, "text")
        stub = max(len(r) for r in self.rows)
        widths = [max(len(c), *(len(row[j]) for row in cells)) for j, c in enumerate(self.cols)]

        def line(label: str, words: Sequence[str]) -> str:
            padded = (w.rjust(n) for w, n in zip(words, widths, strict=True))
            return f"{label.ljust(stub)}  {'  '.join(padded)}".rstrip()

        lines = [f"{self._heading()} ({shape_text(self.result.shape)})".strip(), line("", self.cols)]
        lines += [line(label, row) for label, row in zip(self.rows, cells, strict=True)]
        return "\n".join([*lines, *map(str, self.entries)])

    def html(self) -> str:
        """Return it as HTML: the operands, the result, and one ``<details>`` with all sums; no script needed."""
        return panels.panel(self)


def beside(*workings: Working) -> _Beside:
    """Show several tables next to each other (below each other where the window is narrow)."""
    return _Beside(tuple(list_of("workings", workings, Working, "tables as matmul gives them")))


@dataclass(frozen=True, repr=False)
class _Beside(Shown):
    workings: tuple[Working, ...]

    def text(self) -> str:
        return "\n\n".join(w.text() for w in self.workings)

    def html(self) -> str:
        return f'<div class="byhand-beside">{"".join(w.html() for w in self.workings)}</div>'
