"""What five texts printed about the Transformer, computed again.

    >>> from replays import published
    >>> published.table("s0-q1-dot-k1", "s0-pe-1-1")
    what                                             printed  computed   verdict
    score of Hello's query with Hello's key          68       68         ✓ reproduced
    PE(1), column 1, in the source's own arithmetic  0.99     ✗ 0.99995  ✗ corrected
                                                                         right: 0.540302
                                                                         E0-02: the position of World (error)
                                                                         E0-03: a cosine cut off, not rounded (error)

In the folder ``book``, ``python -m replays`` does the same for all of them,
and fails when a number that should reproduce does not.

The digits stand in ``published.json``, as they were printed; what there is to say of a passage, with its
words, its kind and whose it is, in ``remarks0.json`` to ``remarks4.json``. Functions compute them again, from the
arrays of `toytf.example` and never from a result that a source printed, unless the source's own step
starts from an array that nobody can compute again. Three verdicts are possible:

``reproduced``
    What is computed agrees with every printed digit.
``corrected``
    It does not, and a remark says why. The right value is computed too.
``cannot be recomputed``
    The source drew random numbers without a seed. What must hold whatever the draw was is checked.

The modules, each built on those before it: `ledger` (what was printed, and when a number agrees),
`recompute` (the functions), `show` (tables, links, the page of the book), `__main__` (the command).
"""

from replays.ledger import (
    CORRECTED,
    ENTRIES,
    FAILED,
    KINDS,
    OWNERS,
    REMARKS,
    REPLAYS,
    REPRODUCED,
    SOURCES,
    STATUSES,
    UNSEEDED,
    Claim,
    Entry,
    Ledger,
    Recomputation,
    Remark,
    Result,
    agrees,
    counts,
    load,
    printed,
)
from replays.recompute import LEDGER, value
from replays.show import (
    Passage,
    Table,
    as_markdown,
    remark,
    remark_heading,
    remark_link,
    remarks_as_markdown,
    table,
)

__all__ = [
    "CORRECTED",
    "ENTRIES",
    "FAILED",
    "KINDS",
    "LEDGER",
    "OWNERS",
    "REMARKS",
    "REPLAYS",
    "REPRODUCED",
    "SOURCES",
    "STATUSES",
    "UNSEEDED",
    "Claim",
    "Entry",
    "Ledger",
    "Passage",
    "Recomputation",
    "Remark",
    "Result",
    "Table",
    "agrees",
    "as_markdown",
    "counts",
    "load",
    "printed",
    "remark",
    "remark_heading",
    "remark_link",
    "remarks_as_markdown",
    "table",
    "value",
]
