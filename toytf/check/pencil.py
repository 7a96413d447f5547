"""The old name of `toytf.check.answers`, until the teaching tools and the instructors' notebook say the new one."""

from toytf.check.answers import ByHand, Part, Tries, number

__all__ = ["ByHand", "Part", "Tries", "number"]
