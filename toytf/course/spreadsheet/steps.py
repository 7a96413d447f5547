"""Formulas of the book, each written into cells: what it gives here, and what is typed into one of its cells.

    >>> import numpy as np
    >>> from toytf.course.spreadsheet import steps
    >>> from toytf.course.spreadsheet.cells import Book
    >>> book = Book()
    >>> page = book.page("Q", "Queries")
    >>> page.below()
    >>> x, w = page.given("X", [[1.0, 3.0]]), page.given("WQ", [[0.0, 1.0], [1.0, 0.0]])
    >>> q = steps.product(page, "Q", x, w)
    >>> book.formula(q, 0, 1), q.result  # a row of X times the second column of WQ
    ('$B7*F$7+$C7*F$8', array([[3., 1.]]))

Only functions that every spreadsheet has are used, and products are written out as the book's panels write them: no
array formulas.
"""

from __future__ import annotations

import numpy as np

from toytf.course.spreadsheet.cells import HIDDEN, Block, Label, Page
from toytf.ops import Array
from toytf.positions import BASE

ALONE = ("",)  # the label of a single row or column


def one_hot(page: Page, words: Block, table: Block) -> Block:
    """1 at the place of the word, 0 everywhere else."""
    rows = [Label(word, words.elsewhere(i, 0)) for i, word in enumerate(words.result[:, 0])]
    found = [[float(row.says == col.says) for col in table.rows] for row in rows]

    def cell(i, k):
        return f"IF(EXACT({words.fixed(i)},{table.row_label(k)}),1,0)"

    return page.computed("one-hot", found, cell, rows, table.rows, "plain")


def product(page: Page, name: str, x: Block, w: Block) -> Block:
    """``x w``, a row times a column."""
    result = x.result @ w.result
    return page.computed(f"{name} = {x.name} {w.name}", result, lambda i, j: _terms(x, w, i, j), x.rows, w.cols)


def affine(page: Page, name: str, x: Block, w: Block, b: Block) -> Block:
    """``x w + b``"""
    result = x.result @ w.result + b.result
    says = f"{name} = {x.name} {w.name} + {b.name}"
    return page.computed(says, result, lambda i, j: f"{_terms(x, w, i, j)}+{b.down(0, j)}", x.rows, w.cols)


def _terms(x: Block, w: Block, i: int, j: int) -> str:
    return "+".join(f"{x.along(i, k)}*{w.down(k, j)}" for k in range(len(w.rows)))


def add(page: Page, name: str, x: Block, y: Block) -> Block:
    """``x + y``; of a longer y, as many rows as x has."""
    result = x.result + y.result[: len(x.rows)]
    return page.computed(f"{name} = {x.name} + {y.name}", result, lambda i, j: f"{x[i, j]}+{y[i, j]}", x.rows, x.cols)


def divide(page: Page, name: str, x: Block, divisor: Block) -> Block:
    """``x / divisor``"""
    result = x.result / divisor.result
    says = f"{name} = {x.name} / divisor"
    return page.computed(says, result, lambda i, j: f"{x[i, j]}/{divisor.fixed()}", x.rows, x.cols)


def masked(page: Page, name: str, x: Block, mask: Block) -> Block:
    """x where the mask is true, minus infinity elsewhere."""
    result = np.where(mask.result == 1, x.result, -np.inf)
    says = f"{name} = {x.name} where M"
    return page.computed(says, result, lambda i, j: f'IF({mask[i, j]},{x[i, j]},"{HIDDEN}")', x.rows, x.cols)


def softmax(page: Page, name: str, x: Block, hidden: bool = False) -> Block:
    """``e^(x - m)`` divided by the sum of its row, with m the largest of the row; 0 for what is hidden."""
    largest, powers = x.result.max(axis=1), np.exp(x.result - x.result.max(axis=1, keepdims=True))

    def power(i, j):
        plain = f"EXP({x[i, j]}-{m.along(i, 0)})"
        return f"IF(ISNUMBER({x[i, j]}),{plain},0)" if hidden else plain

    page.below()
    m = page.computed("m = largest", largest[:, None], lambda i, _: f"MAX({x.row(i)})", x.rows, ALONE)
    e = page.computed(f"powers = e^({x.name} − m)", powers, power, x.rows, x.cols, "shares")
    total = page.computed("sum", powers.sum(axis=1)[:, None], lambda i, _: f"SUM({e.row(i)})", x.rows, ALONE)
    page.below()
    shares = powers / total.result

    def share(i, j):
        return f"{e[i, j]}/{total.along(i, 0)}"

    a = page.computed(f"{name} = powers / sum", shares, share, x.rows, x.cols, "shares")
    page.shade(a)
    return a


def relu(page: Page, name: str, x: Block) -> Block:
    """``max(0, x)``"""
    result = np.maximum(0, x.result)
    return page.computed(f"{name} = max(0, {x.name})", result, lambda i, j: f"MAX(0,{x[i, j]})", x.rows, x.cols)


def concat(page: Page, name: str, one: Block, other: Block) -> Block:
    """``[one, other]``, side by side."""
    width = len(one.cols)
    result = np.hstack([one.result, other.result])
    says = f"{name} = [{one.name}, {other.name}]"
    return page.computed(says, result, lambda i, j: one[i, j] if j < width else other[i, j - width], one.rows)


def layer_norm(page: Page, name: str, x: Block, gamma: Block, beta: Block, eps: Block) -> Block:
    """``gamma (x - mu) / sqrt(sigma^2 + eps) + beta``, with mean mu and variance sigma^2 of each row."""
    mean = x.result.mean(axis=1, keepdims=True)
    variance = x.result.var(axis=1, keepdims=True)
    mu = page.computed("μ", mean, lambda i, _: f"AVERAGE({x.row(i)})", x.rows, ALONE)
    c = page.computed(f"{x.name} − μ", x.result - mean, lambda i, j: f"{x[i, j]}-{mu.along(i, 0)}", x.rows, x.cols)
    square = page.computed("σ²", variance, lambda i, _: f"SUMSQ({c.row(i)})/COUNT({c.row(i)})", x.rows, ALONE)
    spread = np.sqrt(variance + eps.result)
    root = page.computed("√(σ² + ε)", spread, lambda i, _: f"SQRT({square[i, 0]}+{eps.fixed()})", x.rows, ALONE)

    def cell(i, j):
        return f"{gamma.down(0, j)}*{c[i, j]}/{root.along(i, 0)}+{beta.down(0, j)}"

    page.below()
    result = gamma.result * c.result / spread + beta.result
    return page.computed(f"{name} = γ ({x.name} − μ) / √(σ² + ε) + β", result, cell, x.rows, x.cols)


def sine_or_cosine(page: Page, name: str, pos: Block, j: Block, i: Block, wave: Block, result: Array) -> Block:
    """``sin(pos / wave)`` in column 2i, ``cos(pos / wave)`` in column 2i + 1."""

    def cell(row, k):
        angle = f"{pos.along(row, 0)}/{wave.down(0, k)}"
        return f"IF({j.down(0, k)}=2*{i.down(0, k)},SIN({angle}),COS({angle}))"

    return page.computed(name, result, cell, pos.rows)


def most_probable(page: Page, name: str, p: Block) -> Block:
    """The word above the largest of each row."""
    words = [[p.cols[k].says] for k in p.result.argmax(axis=1)]
    listed = f"{p.col_label(0, '$')}:{p.col_label(len(p.cols) - 1, '$')}"

    def cell(i, _):
        return f"INDEX({listed},MATCH(MAX({p.row(i)}),{p.row(i)},0))"

    return page.computed(name, np.array(words, dtype=object), cell, p.rows, ALONE)


def width(page: Page, name: str, x: Block) -> Block:
    """How many columns x has."""
    return page.computed(name, len(x.cols), lambda *_: f"COLUMNS({x.row(0)})", ALONE, ALONE, "plain")


def pairs(page: Page, x: Block) -> tuple[Block, Block]:
    """The columns j, counted from 0, and the pair i to which each belongs: columns 2i and 2i + 1."""
    columns = np.arange(len(x.cols))
    j = page.computed("j = column − 1", columns, lambda _, k: f"{x.col_label(k)}-1", ALONE, form="plain")
    halves = columns // 2
    return j, page.computed("i = whole part of j / 2", halves, lambda _, k: f"INT({j[0, k]}/2)", ALONE, form="plain")


def wave(page: Page, i: Block, d: Block) -> Block:
    """``10000^(2i/d)``, by which a position is divided."""
    result = BASE ** (2 * i.result / d.result)

    def cell(_, k):
        return f"{BASE:.0f}^(2*{i[0, k]}/{d.fixed()})"

    return page.computed(f"{BASE:.0f}^(2{i.name}/d)", result, cell, ALONE, form="plain")


def chosen(page: Page, name: str, choice: Block, paper: Block, printed: Block, goes_on: Block) -> Block:
    """Positions as chosen: of the paper, as they were printed and from there on by their own formula, or none."""
    known = len(printed.rows)

    def cell(i, j):
        published = printed[i, j] if i < known else goes_on[i, j]
        return f'IF({choice.fixed()}="published",{published},IF({choice.fixed()}="none",0,{paper[i, j]}))'

    return page.computed(name, paper.result, cell, paper.rows)
