"""Checkers of chapters 17 to 20: looking inside, taking apart, PyTorch, full size."""

from __future__ import annotations

from toytf.check.core import Check
from toytf.check.pencil import ByHand

CHECKS: list[Check] = []

BY_HAND: list[ByHand] = []
