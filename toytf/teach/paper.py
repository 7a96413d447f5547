"""Pages of HTML as PDF: Chromium prints them, from a file, and reaches nothing but this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from toytf._command import Trouble, replaced

SIZES = {"a4": "A4", "letter": "letter"}
SECONDS = 120  # for one file; it takes about one
INSTALL = "on Debian and Ubuntu: sudo apt install chromium; elsewhere: Chrome. CHROMIUM may name the program"
_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome")
_PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
)


def find_chromium() -> str | None:
    """The program that prints: what ``CHROMIUM`` names, or a Chromium or Chrome that is installed."""
    if named := os.environ.get("CHROMIUM"):
        return shutil.which(named)
    return next(filter(None, map(shutil.which, (*_NAMES, *_PLACES))), None)


def write(pages: Mapping[Path, str]) -> tuple[list[Path], str]:
    """Print pages as PDF; where nothing can print, write the pages themselves.

    Parameters
    ----------
    pages : mapping
        From the PDF's path to the page that it is printed from.

    Returns
    -------
    list of Path, str
        The files that are there now, ``.pdf`` or ``.html``, and what to say about those that could not be printed.

    Raises
    ------
    Trouble
        If Chromium is there and does not print.
    """
    chromium = find_chromium()
    if chromium is None:
        files = [path.with_suffix(".html") for path in pages]
        for path, page in zip(files, pages.values(), strict=True):
            with replaced(path) as new:
                new.write_text(page, "utf-8")
        return files, f"no PDF: expected Chromium to print with, got none ({INSTALL}). A browser prints the pages too"
    for path, page in pages.items():
        print_page(chromium, page, path)
    return list(pages), ""


def print_page(chromium: str, page: str, path: Path) -> None:
    """Print one page of HTML as the file `path`, which is there whole or not at all."""
    with tempfile.TemporaryDirectory() as folder, replaced(path) as new:
        source, made = Path(folder, "page.html"), Path(folder, "page.pdf")
        source.write_text(page, "utf-8")
        command = [
            chromium,
            "--headless",
            "--disable-gpu",
            "--no-pdf-header-footer",
            "--host-resolver-rules=MAP * ~NOTFOUND",
            f"--user-data-dir={Path(folder, 'profile')}",
            f"--print-to-pdf={made}",
        ]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            command.append("--no-sandbox")  # Chromium does not start as root without
        try:
            done = subprocess.run(
                [*command, source.as_uri()], capture_output=True, text=True, errors="replace", timeout=SECONDS
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise Trouble(f"{path}: expected {chromium} to print it, got {error}") from None
        if done.returncode or not made.is_file():
            last = (done.stderr.strip().splitlines() or ["nothing"])[-1]
            raise Trouble(f"{path}: expected {chromium} to print it, got exit status {done.returncode}: {last}")
        shutil.copyfile(made, new)
