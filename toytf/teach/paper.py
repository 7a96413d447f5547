"""Pages of HTML as PDF: Chromium prints them, from a file, and reaches nothing but this machine."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from toytf._command import Trouble, replaced, write_whole

SIZES = {"a4": "A4", "letter": "letter"}
SECONDS = 120  # for one file; it takes about one
MISSING = (
    "expected Chromium or Chrome to print with, got none (on Debian and Ubuntu: sudo apt install chromium; "
    "the variable CHROMIUM may name the program)"
)
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


def write(pages: Mapping[Path, str], *, print_them: bool = True, force: bool = False) -> tuple[list[Path], str]:
    """Print pages as PDF; where nothing can print, or nothing shall be printed, write the pages themselves.

    Parameters
    ----------
    pages : mapping
        From the PDF's path to the page that it is printed from. Folders that are missing are made.
    print_them : bool
        Whether to print at all.
    force : bool
        Whether files that are there may be replaced.

    Returns
    -------
    list of Path, str
        The files that are there now, ``.pdf`` or ``.html``, and what to say if they could not be printed.

    Raises
    ------
    ValueError
        If one of the files is there and `force` is not set; then nothing has been written.
    Trouble
        If Chromium is there and does not print.
    """
    chromium = find_chromium() if print_them else None
    missing = f"no PDF: {MISSING}. A browser prints the pages too" if print_them and chromium is None else ""
    files = {path if chromium else path.with_suffix(".html"): page for path, page in pages.items()}
    there = [path for path in files if path.exists()]
    if there and not force:
        raise ValueError(f"{there[0]}: expected a new file, got one that is there; --force replaces it")
    for path, page in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if chromium:
            print_page(chromium, page, path)
        else:
            write_whole(path, page.encode("utf-8"))
    return list(files), missing


def print_page(chromium: str, page: str, path: Path) -> None:
    """Print one page of HTML as the file `path`, which is there whole or not at all."""
    with tempfile.TemporaryDirectory() as folder, replaced(path) as new:
        source, made = Path(folder, "page.html"), Path(folder, "page.pdf")
        source.write_text(page.replace("</head>", f"{_font()}</head>", 1), "utf-8")
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


def _font() -> str:
    """A style with a mathematics font: that of ziamath if it is installed, else the page takes one of the system's."""
    spec = importlib.util.find_spec("ziamath")
    if spec is None or spec.origin is None:
        return ""
    font = Path(spec.origin).with_name("fonts") / "STIXTwoMath-Regular.ttf"
    face = f'@font-face {{ font-family: "STIX Two Math"; src: url("{font.as_uri()}") }}'
    return f"<style>{face}</style>" if font.is_file() else ""
