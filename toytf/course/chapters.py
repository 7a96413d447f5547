"""The chapters of the book, as its table of contents names them.

>>> chapters()["04"]
'04_self_attention'
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

BOOK = Path(__file__).resolve().parents[2]  # the checkout; a package that is installed by itself has no book


@cache
def chapters() -> dict[str, str]:
    """From the number of each chapter to the name of its notebook; none where the book is not there."""
    contents = BOOK / "_toc.yml"
    text = contents.read_text(encoding="utf-8") if contents.is_file() else ""
    return {name[:2]: name for name in re.findall(r"^ *- file: notebooks/(\d\d_\w+)$", text, re.MULTILINE)}
