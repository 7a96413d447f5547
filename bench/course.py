"""What the course itself costs: `python bench/course.py [--site FOLDER]`.

Executes every notebook in a copy, one after the other, and says how long each took, on the clock
and on the processor (a loaded machine stretches the first and not the second); then how large the
built site and its pages are.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PARTS = ("toytf", "notebooks", "book")


def processor_seconds() -> float:
    """Seconds that all finished child processes have used."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def notebooks() -> list[tuple[str, float, float]]:
    """Name, seconds on the clock and on the processor of each notebook, the slowest first."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for part in PARTS:
            shutil.copytree(ROOT / part, Path(folder) / part, ignore=shutil.ignore_patterns("__pycache__"))
        surroundings = os.environ | {"PYTHONPATH": folder}
        for path in sorted(Path(folder).glob("*/*.ipynb")):
            clock, processor = time.perf_counter(), processor_seconds()
            command = [sys.executable, str(Path(folder) / "book" / "execute.py"), str(path)]
            subprocess.run(command, check=True, env=surroundings, stdout=subprocess.DEVNULL)
            found.append((path.name, time.perf_counter() - clock, processor_seconds() - processor))
            print(f"{path.name:36} {found[-1][1]:6.1f} s   processor {found[-1][2]:6.1f} s", flush=True)
    return sorted(found, key=lambda row: -row[2])


def pages(site: Path) -> list[tuple[str, int]]:
    """Name and bytes of each page, the largest first."""
    return sorted(((str(p.relative_to(site)), p.stat().st_size) for p in site.rglob("*.html")), key=lambda row: -row[1])


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--site", type=Path, default=ROOT / "_build" / "html", help="the built site")
    options = parser.parse_args()
    found = notebooks()
    print(f"all: {sum(row[1] for row in found):.0f} s, processor {sum(row[2] for row in found):.0f} s")
    if not options.site.is_dir():
        print(f"--site: expected a built site, got {options.site}; `make book` builds one", file=sys.stderr)
        return 2
    whole = sum(p.stat().st_size for p in options.site.rglob("*") if p.is_file())
    print(f"the site: {whole / 1e6:.1f} MB")
    for name, size in pages(options.site):
        print(f"{name:48} {size / 1e3:8.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
