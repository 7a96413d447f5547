"""Checkers of chapters 11 to 13: masks, the decoder, choosing words."""

from __future__ import annotations

from toytf.check.core import Check
from toytf.check.pencil import ByHand

CHECKS: list[Check] = []

BY_HAND: list[ByHand] = []
