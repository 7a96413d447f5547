"""Blocks of labelled cells on pages, and a file of them: nothing here knows what is computed.

    >>> from toytf.course.spreadsheet.cells import Book
    >>> book = Book()
    >>> page = book.page("Sum", "Two tables, added")
    >>> a = page.given("A", [[1.0, 2.0]], rows=["row"])
    >>> b = page.given("B", [[3.0, 4.0]], rows=["row"])
    >>> total = page.computed("A + B", a.result + b.result, lambda i, j: f"{a[i, j]}+{b[i, j]}", rows=a.rows)
    >>> book.formula(total, 0, 1), total.result[0, 1]
    ('C7+F7', np.float64(6.0))

A cell holds a formula and, beside it, what the formula gives here. The file takes both along: who only looks at it, in
a preview or before "Enable editing", sees numbers too.
"""

from __future__ import annotations

import io
import math
import re
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from html import escape

import numpy as np

from toytf._command import Trouble

# What kinds of cells there are, each with its colours: background and letters
KINDS = {
    "given": ("FDE7C7", "1C2430"),  # may be changed
    "taken": ("DBEAFE", "1C2430"),  # from a sheet before
    "computed": ("FFFFFF", "1C2430"),
    "handed on": ("D5F0E4", "1C2430"),  # computed here, taken by a sheet after
    "label": (None, "566070"),
    "name": (None, "1C2430"),
    "title": (None, "1C2430"),
    "note": (None, "566070"),
    "link": (None, "1A4FB4"),
}
HIDDEN = "−∞"  # in place of a score that must not be seen: a text, which MAX passes over
FIRST = 5  # the row in which the blocks of a page begin, below its frozen title
# How numbers are shown: as they are; with four decimals; with as many, and a share that is nearly 0 as such
FORMS = {"plain": "General", "decimals": "0.0000", "shares": "[=0]0.0000;[<0.00005]0.0E+00;0.0000"}
LINKS = 4  # the column of the links below the title
WIDTH = 9.3  # of a column, in letters


@dataclass(frozen=True)
class Label:
    """A word or a number beside a row or above a column; with a `home`, the cell that it is read from."""

    says: str | int
    home: str = ""


@dataclass
class Cell:
    """One cell: what stands in it (with ``=`` in front, a formula), what it shows, and what kind of cell it is."""

    content: object
    shows: object
    kind: str
    form: str = "plain"


@dataclass(frozen=True)
class Block:
    """A table on a page. ``block[i, j]`` is the name of a cell, ``B6``; rows and columns count from 0."""

    name: str
    page: Page
    result: np.ndarray
    rows: tuple[Label, ...]
    cols: tuple[Label, ...]
    top: int  # the row of its first number
    left: int  # the column of its first number
    turned: bool = False

    def __getitem__(self, at: tuple[int, int]) -> str:
        return self._name(*at)

    def along(self, i: int, k: int) -> str:
        """An entry of row i, as a product names it: copied to the right, it stays in its column."""
        return self._name(i, k, "$", "") if not self.turned else self.fixed(i, k)

    def down(self, k: int, j: int) -> str:
        """An entry of column j, as a product names it: copied down, it stays in its row."""
        return self._name(k, j, "", "$") if not self.turned else self.fixed(k, j)

    def fixed(self, i: int = 0, j: int = 0) -> str:
        """An entry that stays, wherever the formula is copied."""
        return self._name(i, j, "$", "$")

    def row(self, i: int) -> str:
        """The cells of a row: ``$B6:$E6``."""
        return f"{self.along(i, 0)}:{self.along(i, len(self.cols) - 1)}"

    def row_label(self, i: int) -> str:
        """The cell beside row i."""
        return f"${letters(self.left - 1)}${self.top + i}"

    def col_label(self, j: int, col: str = "") -> str:
        """The cell above column j."""
        return f"{col}{letters(self.left + j)}${self.top - 1}"

    def elsewhere(self, i: int, j: int) -> str:
        """The name of a cell for another page: ``'1 Embedding'!B6``."""
        return f"'{self.page.name}'!{self._name(i, j)}"

    @property
    def T(self) -> Block:
        """The transpose: the same cells, read the other way."""
        return replace(
            self, name=f"{self.name}ᵀ", result=self.result.T, rows=self.cols, cols=self.rows, turned=not self.turned
        )

    def _name(self, i: int, j: int, col: str = "", row: str = "") -> str:
        if not (0 <= i < len(self.rows) and 0 <= j < len(self.cols)):
            raise IndexError(f"{self.name}: expected a cell of {len(self.rows)} × {len(self.cols)}, got ({i}, {j})")
        if self.turned:
            i, j = j, i
        return f"{col}{letters(self.left + j)}{row}{self.top + i}"


@dataclass
class Page:
    """A sheet. Blocks stand side by side until `below` begins a new line of them."""

    name: str
    title: str
    more: str = ""  # what stands in small letters below the title: the chapters
    cells: dict[tuple[int, int], Cell] = field(default_factory=dict)  # by row and column, both from 1
    blocks: dict[str, Block] = field(default_factory=dict)
    choices: list[tuple[str, str]] = field(default_factory=list)  # cells, and the list that they choose from
    shaded: list[str] = field(default_factory=list)  # cells whose colour follows their number, from 0 to 1
    links: dict[tuple[int, int], str] = field(default_factory=dict)  # from a cell to a page
    at: list[int] = field(default_factory=lambda: [FIRST, 1])
    deepest: int = FIRST - 1

    # -- where the next block stands

    def below(self, beside: Block | None = None) -> None:
        """Begin a new line of blocks, with room for a block on the left: a matrix stands above what it makes."""
        self.at = [self.deepest + 1, 1]
        if beside is not None:
            self.skip(1 + len(beside.cols))

    def skip(self, columns: int) -> None:
        """Leave columns empty."""
        self.at[1] += columns

    # -- blocks

    def given(
        self, name: str, values, rows: Sequence = (), cols: Sequence = (), form: str = "", starts: str = ""
    ) -> Block:
        """What may be changed: numbers or words; with `starts`, a number that a formula gives at first."""
        values = np.array(values, dtype=object if np.asarray(values).dtype.kind in "UO" else None, ndmin=2)
        whole = values.dtype.kind != "f" or not (values % 1).any()
        form = form or ("plain" if whole else "decimals")
        return self._block(name, values, lambda i, j: starts and f"={starts}", rows, cols, "given", form)

    def computed(
        self,
        name: str,
        result,
        cell: Callable[[int, int], str],
        rows: Sequence = (),
        cols: Sequence = (),
        form: str = "decimals",
    ) -> Block:
        """What is computed: `cell` gives the formula of row i and column j, `result` all that they come to."""
        return self._block(name, np.array(result, ndmin=2), lambda i, j: f"={cell(i, j)}", rows, cols, "computed", form)

    def taken(self, block: Block, name: str = "") -> Block:
        """A block of a page before, cell by cell."""
        for i, j in np.ndindex(block.result.shape):
            there = block.page.cells[block.top + i, block.left + j]
            if there.kind == "computed":
                there.kind = "handed on"
        form = block.page.cells[block.top, block.left].form
        return self._block(
            name or block.name,
            block.result,
            lambda i, j: f"={block.elsewhere(i, j)}",
            block.rows,
            block.cols,
            "taken",
            form,
        )

    def _block(self, name, result, content, rows, cols, kind, form) -> Block:
        n, m = result.shape
        rows, cols = (
            tuple(one if isinstance(one, Label) else Label(one) for one in labels or range(1, size + 1))
            for labels, size in ((rows, n), (cols, m))
        )
        if (len(rows), len(cols)) != (n, m):
            raise ValueError(f"{name}: expected {n} and {m} labels, got {len(rows)} and {len(cols)}")
        top, left = self.at[0] + 2, self.at[1] + 1
        short = re.split(r" = | \(", name)[0]
        block = Block(short, self, result, rows, cols, top, left)
        title = f"{name} ({n} × {m})"
        self.put(top - 2, left - 1, title, "name")
        for i, label in enumerate(rows):
            self._label(top + i, left - 1, label)
        for j, label in enumerate(cols):
            self._label(top - 1, left + j, label)
        for i, j in np.ndindex(n, m):
            shows = result[i, j].item() if isinstance(result[i, j], np.generic) else result[i, j]
            shows = HIDDEN if shows == -np.inf else shows
            self.cells[top + i, left + j] = Cell(content(i, j) or shows, shows, kind, form)
        self.skip(max(m + 1, math.ceil(len(title) / WIDTH)))  # so that no title runs into the next
        self.deepest = max(self.deepest, top + n)
        self.blocks[short] = block
        return block

    def _label(self, row: int, col: int, label: Label) -> None:
        self.cells[row, col] = Cell(f"={label.home}" if label.home else label.says, label.says, "label")

    # -- single cells, and what belongs to some of them

    def put(self, row: int, col: int, text: str, kind: str) -> None:
        self.cells[row, col] = Cell(text, text, kind)

    def line(self, *texts: tuple[int, str, str]) -> None:
        """A line below all that is there: columns, texts and their kinds; a link's text is the name of its page."""
        self.deepest += 1
        for col, text, kind in texts:
            self.put(self.deepest, col, text, kind)
            if kind == "link":
                self.links[self.deepest, col] = text

    def link(self, row: int, col: int, text: str, page: str) -> None:
        self.put(row, col, text, "link")
        self.links[row, col] = page

    def choose(self, block: Block, listed: Block | str) -> None:
        """Offer a list for the cells of a block: the labels of rows of another, or words in double quotes."""
        if isinstance(listed, Block):
            listed = f"{listed.row_label(0)}:{listed.row_label(len(listed.rows) - 1)}"
        self.choices.append((_span(block), listed))

    def shade(self, block: Block) -> None:
        """Colour the cells of a block by their shares."""
        self.shaded.append(_span(block))


@dataclass
class Book:
    """Pages in their order."""

    pages: list[Page] = field(default_factory=list)

    def page(self, name: str, title: str, says: str = "", more: str = "") -> Page:
        """A page behind the others, with its title and two lines below; each leads to the page before and after."""
        page = Page(name, title, more)
        page.put(1, 1, title, "title")
        page.put(2, 1, says, "note")
        page.put(3, 1, more, "note")
        if self.pages:
            page.link(3, LINKS, f"← {self.pages[-1].name}", self.pages[-1].name)
            self.pages[-1].link(3, LINKS + 3, f"{name} →", name)
        self.pages.append(page)
        return page

    def __getitem__(self, name: str) -> Page:
        return next(page for page in self.pages if page.name == name)

    def formula(self, block: Block, i: int, j: int) -> str:
        """What is typed into a cell, without the sign in front."""
        return str(block.page.cells[block.top + i, block.left + j].content).removeprefix("=")

    def file(self) -> bytes:
        """The file, .xlsx. The same pages give the same bytes.

        Raises
        ------
        Trouble
            If openpyxl is not installed.
        """
        try:
            import openpyxl
        except ImportError:
            raise Trouble(
                'spreadsheet: expected openpyxl to be installed, got none; pip install "toytf[spreadsheet]"'
            ) from None
        workbook = openpyxl.Workbook()
        workbook.remove(workbook.active)
        workbook.properties.creator = "toytf"
        for page in self.pages:
            _write(workbook.create_sheet(page.name), page)
        written = io.BytesIO()
        workbook.save(written)
        return _finished(written.getvalue(), self.pages)


# ---------------------------------------------------------------- names of cells


def letters(column: int) -> str:
    """The name of a column, counted from 1.

    >>> letters(1), letters(26), letters(27)
    ('A', 'Z', 'AA')
    """
    name = ""
    while column:
        column, place = divmod(column - 1, 26)
        name = chr(65 + place) + name
    return name


def _span(block: Block) -> str:
    return f"{block[0, 0]}:{block[len(block.rows) - 1, len(block.cols) - 1]}"


# ---------------------------------------------------------------- the file


def _write(sheet, page: Page) -> None:
    """One sheet: cells, colours, and how it is seen and printed."""
    from openpyxl.formatting.rule import ColorScaleRule
    from openpyxl.worksheet.datavalidation import DataValidation
    from openpyxl.worksheet.hyperlink import Hyperlink

    for (row, col), cell in sorted(page.cells.items()):
        there = sheet.cell(row, col, cell.content)
        there.style = _look(sheet.parent, cell.kind, cell.form)
        if target := page.links.get((row, col)):
            there.hyperlink = Hyperlink(ref=there.coordinate, location=f"'{target}'!A1")
    for col in range(1, max(col for _, col in page.cells) + 1):
        sheet.column_dimensions[letters(col)].width = WIDTH
    for cells, listed in page.choices:
        choice = DataValidation("list", formula1=listed, showErrorMessage=True, error="Choose one of the list.")
        choice.add(cells)
        sheet.add_data_validation(choice)
    shades = ColorScaleRule(
        start_type="num", start_value=0, start_color="FFFFFF", end_type="num", end_value=1, end_color="56B4E9"
    )
    for cells in page.shaded:
        sheet.conditional_formatting.add(cells, shades)
    sheet.freeze_panes = f"A{FIRST - 1}"
    sheet.sheet_view.showGridLines = False
    sheet.page_setup.orientation = "landscape"
    sheet.sheet_properties.pageSetUpPr.fitToPage = True


def _look(workbook, kind: str, form: str) -> str:
    """The name of a style for a kind of cell, made where the workbook has it not yet."""
    from openpyxl.styles import Alignment, Border, Font, NamedStyle, PatternFill, Side

    name = f"{kind} {form}"
    if name not in workbook.named_styles:
        ground, ink = KINDS[kind]
        style = NamedStyle(name, number_format=FORMS[form])
        style.font = Font(
            "Calibri", 16 if kind == "title" else 11, bold=kind in ("title", "name", "handed on"), color=ink,
            underline="single" if kind == "link" else None,
        )  # fmt: skip
        style.alignment = Alignment("right" if ground or kind == "label" else "left", indent=int(kind == "label"))
        if ground:
            line = Side("thin", color="D5DAE1")
            style.fill = PatternFill("solid", ground)
            style.border = Border(line, line, line, line)
        workbook.add_named_style(style)
    return name


def _finished(file: bytes, pages: Sequence[Page]) -> bytes:
    """The file with what each formula gives, which openpyxl leaves out, and without the time at which it was made."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(file)) as parts, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        for name in parts.namelist():
            text = parts.read(name).decode("utf-8")
            if found := re.fullmatch(r"xl/worksheets/sheet(\d+)\.xml", name):
                text = _with_results(text, pages[int(found[1]) - 1])
            elif name == "docProps/core.xml":
                text = re.sub(r"<dcterms:(created|modified).*?</dcterms:\1>", "", text)
            entry = zipfile.ZipInfo(name)  # its date is the first that a zip can have
            entry.compress_type = zipfile.ZIP_DEFLATED
            new.writestr(entry, text)
    return made.getvalue()


def _with_results(text: str, page: Page) -> str:
    shown = {f"{letters(col)}{row}": cell.shows for (row, col), cell in page.cells.items()}

    def result(found) -> str:
        value = shown[found[2]]
        kind = ' t="str"' if isinstance(value, str) else ' t="b"' if isinstance(value, bool) else ""
        value = escape(value) if isinstance(value, str) else repr(int(value) if isinstance(value, bool) else value)
        return f"{found[1]}{kind}{found[3]}<v>{value}</v></c>"

    return re.sub(r'(<c r="([A-Z]+\d+)"[^>]*)(><f>[^<]*</f>)<v ?(?:/>|></v>)</c>', result, text)
