"""Computations written out term by term, from the arrays, never typed.

    >>> from toytf import byhand
    >>> print(byhand.matmul([[1, 3, 3, 5]], [[1], [0], [1], [0]], "k", rows=["Hello"]))
    k (1 x 1)
           1
    Hello  4
    [Hello, 1] = 1·1 + 3·0 + 3·1 + 5·0 = 1 + 0 + 3 + 0 = 4

Each function takes the operands of one operation and returns a `Working`: operands and result as labelled
tables, and for every entry the arithmetic that gives it. A `Working` shows itself as HTML in the book
and in JupyterLab, and as plain text in a terminal (``print``). The
arithmetic is a small tree of numbers (`Num`, `Sum`, `Prod`, ...) that is evaluated again and compared
with what NumPy computes, so that what is written cannot differ from what is meant.

Between two steps stands "=" where every number is shown in full and "≈" where one is rounded.

A `Working` may be an operand of the next one; `chain` shows such steps as one strip, in which a number
leads back to those that it was made of. `follow` does so in words: from one number of a whole model
back to the word that decided it.

This package also holds the one number formatter of the course, `fmt`.
"""

from toytf.byhand.chains import Chain, attention, chain
from toytf.byhand.expressions import (
    Cos,
    Difference,
    Exp,
    Larger,
    Num,
    Power,
    Prod,
    Quotient,
    Root,
    Row,
    Sin,
    Sum,
    fmt,
)
from toytf.byhand.follow import Step, Trail, follow
from toytf.byhand.operations import (
    add,
    concat,
    cross_entropy_backward,
    divide,
    layer_norm,
    mask,
    matmul,
    mean,
    positions,
    relu,
    softmax,
    softmax_backward,
    table,
    variance,
    weighted_sum,
)
from toytf.byhand.workings import Entry, Operand, Working, beside

__all__ = [
    "Chain", "Cos", "Difference", "Entry", "Exp", "Larger", "Num", "Operand", "Power", "Prod", "Quotient", "Root",
    "Row", "Sin", "Step", "Sum", "Trail", "Working", "add", "attention", "beside", "chain", "concat",
    "cross_entropy_backward", "divide", "fmt", "follow", "layer_norm", "mask", "matmul", "mean",
    "positions", "relu", "softmax", "softmax_backward", "table", "variance", "weighted_sum",
]  # fmt: skip
