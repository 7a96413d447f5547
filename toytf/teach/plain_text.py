"""Strangers' text, as tables and pages may hold it."""

from __future__ import annotations

import re

CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]"
)


def plain(text: str, most: int = 10_000) -> str:
    """Text without characters that steer a terminal or turn the direction of writing; cut if too long.

    Examples
    --------
    >>> plain("a\\x1b[31mb\\u202e")
    'a\ufffd[31mb\ufffd'
    """
    text = CONTROL.sub("\ufffd", text.replace("\r\n", "\n"))
    return text if len(text) <= most else text[:most] + " ... (cut)"
