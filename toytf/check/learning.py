"""Checkers of chapters 14 to 16: loss, gradients, training."""

from __future__ import annotations

from toytf.check.core import Check
from toytf.check.pencil import ByHand

CHECKS: list[Check] = []

BY_HAND: list[ByHand] = []
