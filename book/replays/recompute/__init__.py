"""The functions that compute again what was printed, in the order of the sources.

One function for each quantity. It starts from the arrays of `toytf.example`, never from a result
that a source printed, and returns the number or array, or a `Claim` about a statement. Where a step
of the source itself starts from an array that nobody can compute again, drawn without a seed or left
from another run, that array as printed is the input.

``@recomputes``
    The value, computed from the arrays of the running example. A value that is not printed is taken
    on to one that is, by the function named `via`.
``@right``
    The right value, where what follows from the source's own words is not right.
``given``
    An input or a setting: nothing computes it.

The modules, each built on those before it: `register`, `common`, `source0_attention`,
`source0_encoder`, `source0_decoder`, `source0_words`, `source1` to `source4`. Importing one
registers its functions.
"""

from __future__ import annotations

import numpy as np

from replays.ledger import ENTRIES, REMARKS, Ledger
from replays.recompute import (  # noqa: F401  registers their functions
    source0_attention,
    source0_decoder,
    source0_encoder,
    source0_words,
    source1,
    source2,
    source3,
    source4,
)
from replays.recompute.register import FUNCTIONS, RIGHTS

LEDGER = Ledger(ENTRIES, REMARKS, FUNCTIONS, RIGHTS)


def value(name: str):
    """What an entry gives when it is computed again.

    Returns
    -------
    Array, float, Claim or str
        A `Claim` for a statement.

    Raises
    ------
    KeyError
        If there is no such entry.
    ValueError
        If computing it failed.

    Examples
    --------
    >>> value("s0-q1-dot-k1")
    68.0
    """
    result = LEDGER.result(name)
    found = result.computed
    if found is None:
        raise ValueError(f"{name}: {result.failure}")
    if not isinstance(found, np.ndarray):
        return found
    return found.copy() if found.ndim else float(found)
