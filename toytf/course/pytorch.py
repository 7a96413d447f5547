"""What PyTorch gave, when the scripts in ``tests/with_torch/listings`` last ran.

    >>> from toytf.course import pytorch
    >>> found = pytorch.stored("deviation")
    >>> print("run with torch", found.torch)  # doctest: +ELLIPSIS
    run with torch 2...
    >>> found["torch.std"].shape
    (2,)

The book needs no torch. ``make test-torch`` runs the scripts again and compares; with ``STORE=1`` it stores.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

STORED = Path(__file__).with_name("data") / "pytorch.json"


class Stored(dict):
    """What a script returned: arrays of float64, texts, numbers, True and False, shapes as tuples.

    `torch` and `numpy` are the versions that made it.
    """

    def __init__(self, results: dict, torch: str, numpy: str):
        super().__init__(results)
        self.torch, self.numpy = torch, numpy


def stored(name: str) -> Stored:
    """What the script of this name gave; a name under which nothing is stored is a `KeyError`."""
    found = json.loads(STORED.read_text(encoding="utf-8"))
    if name not in found["listings"]:
        raise KeyError(f"unknown name {name!r}: there are {', '.join(found['listings'])}")
    results = {key: _unpacked(value) for key, value in found["listings"][name].items()}
    return Stored(results, found["torch"], found["numpy"])


def _unpacked(value):
    if isinstance(value, dict):
        return np.array(value["array"], dtype=np.float64).reshape(value["shape"])
    return tuple(value) if isinstance(value, list) else value
