"""Checkers of chapters 4 to 6: attention, its scale, its heads."""

from __future__ import annotations

from toytf.check.core import Check
from toytf.check.pencil import ByHand

CHECKS: list[Check] = []

BY_HAND: list[ByHand] = []
