"""Things to touch: change a number and see what follows, exactly.

    >>> from toytf import live
    >>> print(live.divisor([[6.0, 9.0]], 9, rows=["Hello"], cols=["Hello", "World"]))
    Move the divisor
    S / divisor (1 x 2)
           Hello  World
    Hello      2      3
    [Hello, Hello] = 6 / 3 = 2
    [Hello, World] = 9 / 3 = 3
    A = softmax(S / divisor) (1 x 2)
            Hello   World
    Hello  0.2689  0.7311
    [Hello, Hello] = e^(2 - 3) / (e^(2 - 3) + e^(3 - 3)) ≈ 0.3679 / (0.3679 + 1) ≈ 0.3679 / 1.3679 ≈ 0.2689
    [Hello, World] = e^(3 - 3) / (e^(2 - 3) + e^(3 - 3)) ≈ 1 / (0.3679 + 1) ≈ 1 / 1.3679 ≈ 0.7311

Each function returns an `Element`, which shows itself in the book and in JupyterLab. There JavaScript computes what
`toytf` computes (``engine/``, read beside the package: the same names, the same formulas); without a script, in print
and in a notebook that is not trusted, its static form stands.

The boxes in which readers of the book type answers worked out by hand (``live/answer.py``) need no cell: the book puts
them below their exercises.
"""

from toytf.live.beam import beam
from toytf.live.bill import bill
from toytf.live.clocks import clocks
from toytf.live.divisor import divisor
from toytf.live.element import Element
from toytf.live.logits import logits
from toytf.live.machine import machine, rules, trained_machine
from toytf.live.mask import mask
from toytf.live.nudge import nudge
from toytf.live.patching import patching
from toytf.live.sampling import sampling
from toytf.live.shares import shares
from toytf.live.stack import stack
from toytf.live.stages import breaking, mixing, normalising, varied
from toytf.live.strip import strip
from toytf.live.training import training
from toytf.live.translator import translator, vocabulary
from toytf.live.writer import writer

__all__ = [
    "Element", "beam", "bill", "breaking", "clocks", "divisor", "logits", "machine", "mask", "mixing", "normalising",
    "nudge", "patching", "rules", "sampling", "shares", "stack", "strip", "trained_machine", "training", "translator",
    "varied", "vocabulary", "writer",
]  # fmt: skip
