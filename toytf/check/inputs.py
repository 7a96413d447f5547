"""Checkers of chapters 1 to 3: words and positions."""

from __future__ import annotations

from toytf.check.core import Check
from toytf.check.pencil import ByHand

CHECKS: list[Check] = []

BY_HAND: list[ByHand] = []
