"""Checkers of chapter 3: positions."""

import numpy as np

from toytf import positions
from toytf.byhand import Cos, Prod, Quotient, Sin
from toytf.check.answers import part, worked
from toytf.check.core import Case, checker


@checker("ex-03-8", results=("table",))
def sinusoids(length, d_model):
    """Make the paper's positional encoding, a sine and a cosine for each pair.

    length: how many positions, counted from 0. d_model: the width, even. Returns an
    array of shape (length, d_model): sines in the columns 0, 2, 4, ..., cosines in the
    columns 1, 3, 5, ...; both of pair i have the angle pos / 10000^(2i / d_model).
    """
    pos = np.arange(length)[:, None]
    i = np.arange(d_model // 2)
    angle = pos / 10000 ** (2 * i / d_model)
    out = np.empty((length, d_model))
    out[:, 0::2] = np.sin(angle)
    out[:, 1::2] = np.cos(angle)
    return out


sinusoids.cases = lambda rng: [
    Case((2, 4), "the running example"),
    Case((3, 2), "a single pair"),
    Case((5, 6), "three pairs"),
    Case((7, 16)),
    *(Case((int(rng.integers(8, 200)), 2 * int(rng.integers(4, 150)))) for _ in range(3)),
]
sinusoids.knows("""
    - the column number as i: // 2 =>, and sin(angle) => sin(angle[:, 0::2]), and cos(angle) => cos(angle[:, 1::2])
      i counts pairs, from 0 to d_model/2 - 1; both columns of a pair have the same angle (chapter 3). With the column
      number no two columns belong together.
    - an angle of its own for each odd column: np.cos(angle) => np.cos(pos / 10000 ** ((2 * i + 1) / d_model))
      The exponent is 2i / d_model for both columns of pair i. The column number divided by d_model is right for the
      sines only: use the same angles for sine and cosine.
    - sines and cosines in halves: out[:, 0::2] => out[:, : d_model // 2], and out[:, 1::2] => out[:, d_model // 2 :]
      The paper puts them alternately: out[:, 0::2] = sin, out[:, 1::2] = cos (chapter 3, The formula).
    - Tensor2Tensor's table:
        :, 0:: => :, : d_model //, and :, 1::2 => :, d_model // 2 :, and 2 * i / d_model => i / max(d_model // 2 - 1, 1)
      Sines left, cosines right, and exponents up to exactly 1. The paper alternates, and its last exponent is (d_model
      - 2) / d_model (chapter 3, The formula).
    - positions counted from 1: np.arange(length) => np.arange(1, length + 1)
      The first token has position 0: its row is 0, 1, 0, 1, ...
    - degrees in place of radians: (angle) =>> (np.radians(angle))
      np.sin and np.cos take radians, and the formula's angle is one already: convert nothing.
    - 1000 in place of 10000: 10000 => 1000
      The base has four zeros.
    - the 2 in the exponent forgotten: 2 * i / d_model => i / d_model
      The exponent is 2i / d_model, where i counts pairs. With i / d_model the hands turn too fast.
    - twice the exponent: 2 * i / d_model => 4 * i / d_model
      i counts the pairs: 0, 1, 2, ... If it counts the first columns of the pairs, 0, 2, 4, ..., it is 2i already, and
      the 2 in front of it is one too many.
    - the brackets of the exponent forgotten: 10000 ** (2 * i / d_model) => 10000**2 * i / d_model
      10000 ** 2 * i / d_model is 10000 squared, times i, divided by d_model. The whole exponent stands in brackets:
      10000 ** (2 * i / d_model).
    - d_model - 1 in the exponent: 2 * i / d_model => 2 * i / (d_model - 1)
      2i is divided by d_model itself.
    - integer division in the exponent: 2 * i / d_model => 2 * i // d_model
      // cuts 2i / d_model to 0, so every pair has the same angle. Use /.
    - multiplied by the power of 10000: pos / 10000 => pos * 10000
      The position is divided by it. Multiplied, the hands turn faster from pair to pair.
    - cosines in the even columns: np.sin(angle) => np.cos(angle), and np.cos(angle) => np.sin(angle)
      Sines stand in the columns 0, 2, 4, ..., cosines in 1, 3, 5, ...
    - sines alone: np.cos(angle) => np.sin(angle)
      The odd columns hold cosines of the same angles. Without them a shift is no turn (chapter 3).
""")


@checker("ex-03-5", results=("matrix",))
def shift_matrix(k, d_model):
    """Build the matrix that moves positions by k: ``PE[pos + k] = PE[pos] @ T_k``.

    k: an integer, which may be negative. d_model: the width, even. Returns an array of
    shape (d_model, d_model): for each pair i a turn by b = k / 10000^(2i / d_model),
    the 2 x 2 block [[cos b, -sin b], [sin b, cos b]], on the diagonal, and zeros
    elsewhere.
    """
    matrix = np.zeros((d_model, d_model))
    for i in range(d_model // 2):
        b = k / 10000 ** (2 * i / d_model)
        block = [[np.cos(b), -np.sin(b)], [np.sin(b), np.cos(b)]]
        matrix[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = block
    return matrix


shift_matrix.cases = lambda rng: [
    Case((1, 2), "one step, a single pair"),
    Case((3, 4), "three steps, two pairs"),
    Case((-2, 6), "backwards"),
    Case((0, 4), "no step"),
    *(Case((int(rng.integers(4, 5000)), 2 * int(rng.integers(3, 10)))) for _ in range(3)),
]
shift_matrix.knows("""
    - a turn the other way: b = k / => b = -k /
      The minus stands in the upper right corner of each block: [[cos b, -sin b], [sin b, cos b]], for a row times the
      matrix. Transposed it moves by -k.
    - no minus sign: -np.sin(b) => np.sin(b)
      Without it the block does not turn: cos(a + b) = cos a cos b - sin a sin b.
    - sine and cosine exchanged:
        [[np.cos(b), -np.sin(b)], [np.sin(b), np.cos(b)]] => [[np.sin(b), -np.cos(b)], [np.cos(b), np.sin(b)]]
      The cosines stand on the diagonal: a turn by 0 must change nothing.
    - the same angle for every pair: k / 10000 ** (2 * i / d_model) => k
      Pair i turns by k / 10000^(2i / d_model): only pair 0 turns by k.
    - the column number as i: 2 * i / d_model => 4 * i / d_model
      i counts the blocks: 0, 1, 2, ... The block's first column is 2i already.
    - k forgotten: b = k / => b = 1 /
      That is the matrix of a single step. The angle of pair i is k times as large.
    - k times the matrix of one step: b = k / => b = 1 /, and return matrix => return k * matrix
      k steps are the matrix of one step applied k times, a product and no multiple: turn by k times the angle.
    - blocks for the layout of halves: 2 * i : 2 * i + 2, 2 * i : 2 * i + 2 => i :: d_model // 2, i :: d_model // 2
      In the paper's layout the two columns of a pair are neighbours, so the blocks stand on the diagonal.
    - columns moved, not turned: return matrix => return np.eye(d_model, k=k)
      A shift of the position does not move the columns. Each pair of columns turns in its place.
    - degrees in place of radians: k / 10000 ** (2 * i / d_model) => np.radians(k / 10000 ** (2 * i / d_model))
      np.sin and np.cos take radians, and the formula's angle is one already: convert nothing.
""")


@checker("ex-03-6", results=("spread",))
def diagonal_spread(table):
    """Measure for each distance how much the dot products at it differ.

    table: array of shape (n, d), n positions. Returns an array of shape (n,): entry k
    is the largest minus the smallest of the dot products table[p] @ table[p + k], for
    all p with p + k < n. Each is a diagonal of table @ table.T.
    """
    dots = table @ table.T
    return np.array([np.ptp(np.diagonal(dots, k)) for k in range(len(table))])


diagonal_spread.cases = lambda rng: [
    Case(([[1.0, 0.0], [2.0, 1.0], [0.0, 3.0]],), "three rows of width 2"),
    Case((rng.normal(size=(5, 3)),), "random rows"),
    Case((positions.sinusoids(6, 4),), "the paper's table: no spread"),
    Case((rng.normal(size=(4, 4)),), "as many rows as columns"),
    Case((positions.sinusoids_column_as_i(8, 6),), "the column number as i"),
]
diagonal_spread.knows("""
    - rows in place of diagonals: np.diagonal(dots, k) => dots[k]
      A row of table @ table.T holds one position's products with all others, at all distances. One distance is a
      diagonal: np.diagonal(dots, k).
    - columns multiplied in place of rows: table @ table.T => table.T @ table, and len(table) => len(dots)
      table.T @ table compares columns, d x d. Positions are rows: table @ table.T, n x n.
    - both sides of the diagonal: range(len(table)) => range(1 - len(table), len(table))
      The table of dot products is symmetric, so each distance would be counted twice. Let k run from 0 to n - 1.
    - distance 0 left out: range(len(table)) => range(1, len(table))
      Entry 0 belongs to k = 0: the products of rows with themselves.
    - the last distance left out: range(len(table)) => range(len(table) - 1)
      The largest distance is n - 1, between the first row and the last. range(n) reaches it.
    - the standard deviation in place of the spread: np.ptp => np.std
      The spread is the largest minus the smallest: np.ptp.
    - the largest product alone: np.ptp => np.max
      The spread is the largest minus the smallest: np.ptp.
    - rows that wrap around the end: np.diagonal(dots, k) => np.diagonal(np.roll(dots, -k, axis=1))
      After the last position comes nothing. np.roll brings the first rows back; stop at p + k < n.
    - distances of rows in place of dot products:
        np.diagonal(dots, k) => np.linalg.norm(table[: len(table) - k] - table[k:], axis=1)
      The exercise multiplies the rows; it does not subtract them.
""")


_PAIRS = np.arange(6) // 2
_PAIRED, _APART = (1, 1, 100, 100), (1, 100, 10000, 1000000)  # by what a position is divided, width 4


def _waves(divisors):
    """Position 2, column for column."""
    return [(Sin, Cos)[column % 2](Quotient(2, divisor)) for column, divisor in enumerate(divisors)]


def _row(angles):
    """Sines in the even columns, cosines in the odd ones."""
    return np.where(np.arange(4) % 2, np.cos(angles), np.sin(angles))


def _row_part(name, divisors, decimals):
    """Position 2, and known wrong rows of it."""
    angles = 2 / np.array(divisors, dtype=float)
    return (
        worked(name, _waves(divisors), decimals=decimals)
        .knows(_row(np.radians(angles)), "an angle in degrees. The formula's angle is in radians.")
        .knows(_row(angles / 2), "the row of the position before. Positions are counted from zero.")
        .knows(_row(angles + np.pi / 2) * [1, -1, 1, -1], "sine and cosine exchanged. Even columns hold sines.")
        .knows(_row(angles)[[0, 2, 1, 3]], "all sines first, then all cosines. They take turns, column by column.")
    )


BY_HAND = {}
BY_HAND["3.1"] = [
    _row_part("row", _PAIRED, 4).knows(
        _row(2 / np.array(_APART)), "the column number as i. Both columns of a pair have one angle."
    ),
    _row_part("column as i", _APART, 2).knows(
        _row(2 / np.array(_PAIRED)), "the row of the paper. Here each column has an angle of its own."
    ),
]
BY_HAND["3.2"] = [
    part("pairs", _PAIRS, lambda at: f"column {at[0]} belongs to pair {at[0] // 2}")
    .step("two columns are one pair, and both are counted from zero")
    .knows(_PAIRS + 1, "pairs counted from one. Count them from zero.")
    .knows(np.arange(6), "the columns' numbers. Two columns are one pair."),
    worked("exponents", [Quotient(Prod(2, i), 6) for i in _PAIRS.tolist()], decimals=4, shown=".4f")
    .knows(2 * np.arange(6) / 6, "the column number as i. i counts pairs.")
    .knows(_PAIRS / 6, "i / d. The exponent is 2i / d."),
    part(
        "divisors",
        10000 ** (2 * np.arange(3) / 6),
        lambda at: f"10000^({2 * at[0]}/6) = {10000 ** (2 * at[0] / 6):.2f}",
        decimals=2,
    ).knows(10000 ** (np.arange(3) / 6), "10000^(i/d). The exponent is 2i / d."),
]
