"""The teacher's key: from where a command takes it. Numbers of one's own follow from it, and from a student's name."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

SHORT = 16
VARIABLE = "TOYTF_KEY"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add ``--key-file`` and ``--key`` in a group of their own."""
    keys = parser.add_argument_group("the key", f"One of these, or the environment variable {VARIABLE}.")
    keys.add_argument("--key-file", metavar="FILE", help="a file that holds the key")
    keys.add_argument("--key", metavar="SECRET", help="the key itself. It stays in your shell's history: prefer a file")


def read(options: argparse.Namespace) -> str:
    """The key that the options or the environment give; a short one is remarked on.

    Raises
    ------
    ValueError
        If there is none, or two.
    """
    if options.key is not None and options.key_file is not None:
        raise ValueError("expected --key or --key-file, got both")
    if options.key is not None:
        key, origin = options.key, "--key"
    elif options.key_file is not None:
        origin = "--key-file"
        try:
            key = Path(options.key_file).read_text(encoding="utf-8-sig")
        except UnicodeDecodeError:
            raise ValueError(f"--key-file: expected text in UTF-8, got something else in {options.key_file}") from None
    else:
        key, origin = os.environ.get(VARIABLE), VARIABLE
        if key is None:
            raise ValueError(f"expected a key: --key-file FILE, the variable {VARIABLE}, or --key SECRET")
    key = key.strip()
    if not key:
        raise ValueError(f"{origin}: expected a key, got nothing but blanks")
    if len(key) < SHORT:
        print(
            f"note: a key of {len(key)} characters can be guessed by trying; take {SHORT} or more that no person "
            'thought up, such as the output of python -c "import secrets; print(secrets.token_hex(32))"',
            file=sys.stderr,
        )
    return key
