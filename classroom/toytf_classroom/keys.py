"""The teacher's key: from where a command takes it. Numbers of one's own follow from it, and from a student's name."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

SHORT = 16
VARIABLE = "TOYTF_KEY"


def arguments(parser: argparse.ArgumentParser, needed: str = "") -> None:
    """Add ``--key-file``; `needed` says when."""
    about = f"a file that holds the teacher's key (default: the environment variable {VARIABLE}){needed}"
    parser.add_argument("--key-file", metavar="FILE", type=Path, help=about)


def read(options: argparse.Namespace) -> str:
    """The key that the option or the environment gives, `ValueError` if there is none; a short one is remarked on."""
    key = os.environ.get(VARIABLE, "")
    if options.key_file is not None:
        try:
            key = options.key_file.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise ValueError(f"--key-file: expected a file that holds the key in UTF-8, got {error}") from None
    if not key.strip():
        raise ValueError(f"expected a key: --key-file FILE, or the variable {VARIABLE}")
    key = key.strip()
    if len(key) < SHORT:
        print(
            f"note: a key of {len(key)} characters can be guessed by trying; take {SHORT} or more that no person "
            'thought up, such as the output of python -c "import secrets; print(secrets.token_hex(32))"',
            file=sys.stderr,
        )
    return key
