"""Things to touch: change a number and see what follows, exactly.

    >>> from toytf import live
    >>> print(live.divisor([[68.0, 105.21]], 3, rows=["Hello"], cols=["Hello", "World"]))
    Move the divisor
    S / divisor (1 x 2)
             Hello    World
    Hello  39.2598  60.7430
    [Hello, Hello] ≈ 68 / 1.7321 ≈ 39.2598
    [Hello, World] ≈ 105.21 / 1.7321 ≈ 60.743
    A = softmax(S / divisor) (1 x 2)
           Hello  World
    Hello      0      1
    [Hello, Hello] ≈ e^(39.2598 - 60.743) / (e^(39.2598 - 60.743) + e^(60.743 - 60.743)) ≈ 0 / (0 + 1) ≈ 0 / 1 ≈ 0
    [Hello, World] ≈ e^(60.743 - 60.743) / (e^(39.2598 - 60.743) + e^(60.743 - 60.743)) ≈ 1 / (0 + 1) ≈ 1 / 1 ≈ 1

Each function returns an `Element`, which shows itself in the book and in JupyterLab. There JavaScript computes what
`toytf` computes (``engine/``, read beside the package: the same names, the same formulas); without a script, in print
and in a notebook that is not trusted, its static form stands.
"""

from toytf.live.beam import beam
from toytf.live.clocks import clocks
from toytf.live.divisor import divisor
from toytf.live.element import Element
from toytf.live.machine import machine
from toytf.live.mask import mask
from toytf.live.nudge import nudge
from toytf.live.patching import patching
from toytf.live.sampling import sampling
from toytf.live.shares import shares
from toytf.live.stack import stack
from toytf.live.translator import translator

__all__ = [
    "Element", "beam", "clocks", "divisor", "machine", "mask", "nudge", "patching", "sampling", "shares", "stack",
    "translator",
]  # fmt: skip
