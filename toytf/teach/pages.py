"""Pages of HTML from the templates beside this file: what is written into one is text, and stays text."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from toytf._command import Trouble
from toytf.teach.plain_text import plain

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).with_name("templates")


@cache
def environment() -> Environment:
    """Where templates are found, and what they may use. Every value is escaped; control signs are taken out.

    Raises
    ------
    Trouble
        If Jinja2 is not installed.
    """
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError:
        raise Trouble('pages: expected Jinja2 to be installed, got none; pip install "toytf[teach]"') from None
    return Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        finalize=_plain,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _plain(value):
    """Text without characters that steer a terminal; what is HTML already has been through here."""
    return value if hasattr(value, "__html__") or not isinstance(value, str) else plain(value, 30_000)
