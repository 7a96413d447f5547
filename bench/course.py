"""What the course itself costs its readers: `python bench/course.py [--pages 04 preface] [--line] [--notebooks]`.

Opens every page of the built site in Chromium, as on a phone and on a laptop, with a processor slowed four times and
an empty cache, and says what came over the line, when the page was there and how long it could not answer. What misses
a goal is named at the end, and the status is 1. With `--notebooks` first executes every notebook in a copy, one after
the other, and says how long each took, on the clock and on the processor (a loaded machine stretches the first alone).

Then the line of each chapter, what a reader meets before its exercises: words of prose, screens on a laptop and on a
phone, lines of code in sight; and on the whole page how often it names a source, which boxes scroll sideways on a phone
and which printed outputs are cut there. With `--line` this alone (seconds).
"""

from __future__ import annotations

import argparse
import functools
import gzip
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))  # pages are opened as the tests open them

import sitecheck  # noqa: E402

PARTS = ("toytf", "notebooks", "book")
WIDTHS = (390, 1280)
SLOWER = 4

# ---------------------------------------------------------------- notebooks


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


# ---------------------------------------------------------------- pages


@dataclass(frozen=True)
class Page:
    """What one page cost at one width; times in seconds after it was asked for."""

    name: str
    width: int
    kilobytes: float  # over the line, gzipped, headers included
    requests: int
    first_paint: float
    largest_paint: float
    blocking: float  # what is over 50 ms of each task
    shift: float
    formulas: float  # until the last one stands

    def row(self) -> str:
        """One line of the table."""
        return (
            f"{self.name:40} {self.width:5} {self.kilobytes:8.1f} {self.requests:4} {self.first_paint:7.2f} "
            f"{self.largest_paint:8.2f} {self.formulas:9.2f} {self.blocking * 1000:9.0f} {self.shift:6.3f}"
        )


HEAD = (
    f"{'page':40} {'width':>5} {'kB gz':>8} {'req':>4} {'paint s':>7} "
    f"{'largest':>8} {'formulas':>9} {'blocks ms':>9} {'shift':>6}"
)


def missed(page: Page, first: str) -> list[str]:
    """Which goals a page misses, each with the goal and what was measured; `first` names the first page."""
    most = 150 if page.name == first else 400  # kB; the first page has the translator's weights
    late = page.formulas - page.first_paint
    goals = [
        (page.kilobytes > most, f"{page.kilobytes:.0f} kB, the goal is {most}"),
        (late > 0.05, f"formulas stand {late:.2f} s after the first paint"),
        (page.shift >= 0.02, f"layout shift {page.shift:.3f}, the goal is below 0.02"),
        (page.blocking >= 0.3, f"blocked for {page.blocking * 1000:.0f} ms, the goal is below 300"),
    ]
    return [f"{page.name} at {page.width}: {what}" for is_missed, what in goals if is_missed]


class Gzipped(sitecheck.Quiet):
    """Answers gzipped, as hosts do."""

    def do_GET(self):
        path = self.translate_path(self.path)
        if not os.path.isfile(path) or path.endswith((".png", ".woff2")):
            super().do_GET()
            return
        body = packed(path)
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(path))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@functools.cache
def packed(path: str) -> bytes:
    """Return a file's bytes, packed once."""
    return gzip.compress(Path(path).read_bytes(), 9)


# Runs before anything of the page. A formula that was in the page as it came stands with the first paint; one that a
# script sets later, or whose font comes later, does not.
WATCH = """
window.seen = { paint: 0, largest: 0, blocking: 0, shift: 0, formulas: 0, last: 0 };
const watch = (type, each) => new PerformanceObserver(list => {
    for (const entry of list.getEntries()) { each(entry); window.seen.last = performance.now(); }
}).observe({ type, buffered: true });
watch("paint", e => { if (e.name === "first-contentful-paint") seen.paint = e.startTime; });
watch("largest-contentful-paint", e => { seen.largest = e.startTime; });
watch("longtask", e => { seen.blocking += Math.max(0, e.duration - 50); });
watch("layout-shift", e => { if (!e.hadRecentInput) seen.shift += e.value; });
const isFormula = node => node.nodeType === 1
    && (node.matches("math") || node.querySelector("math"));
new MutationObserver(changes => {
    if (document.readyState === "loading") return;
    if (changes.some(change => [...change.addedNodes].some(isFormula))) {
        seen.formulas = seen.last = performance.now();
    }
}).observe(document, { childList: true, subtree: true });
document.fonts.addEventListener("loadingdone", event => {
    if (event.fontfaces.some(face => /math/i.test(face.family))) seen.formulas = seen.last = performance.now();
});
"""
QUIET = "() => document.readyState === 'complete' && performance.now() - Math.max(seen.last, 0) > 1000"


def measure(browser, base: str, name: str, width: int) -> Page:
    """Open one page with an empty cache and a slow processor, wait until it rests, and say what it cost."""
    context = browser.new_context(
        viewport={"width": width, "height": 800}, is_mobile=width < 600, has_touch=width < 600
    )
    try:
        page = context.new_page()
        session = context.new_cdp_session(page)
        asked: set[str] = set()  # not what the page has in itself, a font as data:
        loads: list[float] = []

        def begun(event):
            if not event["request"]["url"].startswith("data:"):
                asked.add(event["requestId"])

        def ended(event):
            if event["requestId"] in asked:
                loads.append(event["encodedDataLength"])

        session.on("Network.requestWillBeSent", begun)
        session.on("Network.loadingFinished", ended)
        session.send("Network.enable")
        session.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
        page.add_init_script(WATCH)
        page.goto(f"{base}/{name}.html", wait_until="load")
        page.wait_for_function(QUIET, timeout=120_000, polling=200)
        seen = page.evaluate("window.seen")
    finally:
        context.close()
    paint = seen["paint"] / 1000
    return Page(
        name, width, sum(loads) / 1000, len(loads), paint, seen["largest"] / 1000, seen["blocking"] / 1000,
        seen["shift"], max(paint, seen["formulas"] / 1000),
    )  # fmt: skip


# ---------------------------------------------------------------- lines


@dataclass(frozen=True)
class Line:
    """What a reader of a chapter meets before its exercises; the last three on its whole page."""

    name: str
    words: int  # of prose in sight
    laptop: float  # screens of 1280 x 1000
    phone: float  # screens of 390 x 844
    code: int  # lines in sight
    sideways: int  # boxes that scroll sideways on a phone
    cut: int  # printed outputs that are cut there

    def row(self) -> str:
        """One line of the table."""
        return (
            f"{self.name:40} {self.words:6} {self.laptop:7.1f} {self.phone:6.1f} {self.code:5} "
            f"{self.sideways:9} {self.cut:4}"
        )


LINE_HEAD = f"{'line':40} {'words':>6} {'screens':>7} {'phone':>6} {'code':>5} {'sideways':>9} {'cut':>4}"
MOST_WORDS, MOST_SCREENS, MOST_CODE = 2000, 15, 60


def too_long(line: Line) -> list[str]:
    """Which goals a chapter's line misses."""
    goals = [
        (line.words > MOST_WORDS, f"{line.words} words, the goal is at most {MOST_WORDS}"),
        (line.laptop > MOST_SCREENS, f"{line.laptop:.1f} screens, the goal is at most {MOST_SCREENS}"),
        (line.code > MOST_CODE, f"{line.code} lines of code, the goal is at most {MOST_CODE}"),
        (line.cut > 0, f"{line.cut} printed outputs are cut on a phone, the goal is none"),
    ]
    return [f"{line.name}: {what}" for is_missed, what in goals if is_missed]


def line_of(browser, base: str, name: str) -> Line:
    """Go down one chapter, on a laptop and on a phone."""
    with sitecheck.open_page(browser, base, f"{name}.html", 1280, height=1000) as (page, _):
        met = sitecheck.line_to(page)
    with sitecheck.open_page(browser, base, f"{name}.html", 390, height=844) as (page, _):
        phone = sitecheck.line_to(page)["screens"]
        sideways, cut = len(sitecheck.sideways(page)), len(sitecheck.cut_problems(page))
    return Line(name, met["words"], met["screens"], phone, met["code"], sideways, cut)


def lines(browser, base: str, names: list[str]) -> list[str]:
    """Print the line of each chapter among the named pages; what misses a goal."""
    misses = []
    chapters = [name for name in names if re.fullmatch(r"notebooks/\d\d_\w+", name)]
    for name in chapters:
        if name == chapters[0]:
            print(LINE_HEAD, flush=True)
        line = line_of(browser, base, name)
        misses += too_long(line)
        print(line.row(), flush=True)
    return misses


# ---------------------------------------------------------------- both


def chosen(site: Path, wanted: list[str]) -> list[str]:
    """The site's pages, or those with one of the wanted words in their names; not the addresses that lead on."""
    names = sorted(
        p.relative_to(site).with_suffix("").as_posix() for p in site.rglob("*.html") if p.name != "index.html"
    )
    return [name for name in names if not wanted or any(word in name for word in wanted)]


def main(arguments: list[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--site", type=Path, default=ROOT / "_build" / "html", help="the built site")
    parser.add_argument("--pages", nargs="+", default=[], help="only pages with one of these words in their names")
    parser.add_argument("--first", default="book/preface", help="the first page, which has a goal of its own")
    parser.add_argument("--line", action="store_true", help="only the line of each chapter (seconds)")
    parser.add_argument("--notebooks", action="store_true", help="execute every notebook as well (minutes)")
    options = parser.parse_args(arguments)
    if options.notebooks:
        found = notebooks()
        print(f"all: {sum(row[1] for row in found):.0f} s, processor {sum(row[2] for row in found):.0f} s")
    if not options.site.is_dir():
        print(f"--site: expected a built site, got {options.site}; `make book` builds one", file=sys.stderr)
        return 2
    names = chosen(options.site, options.pages)
    if not names:
        print(f"--pages: expected parts of the names of pages, got {options.pages}", file=sys.stderr)
        return 2
    return report(options.site, names, options.first, options.line)


def report(site: Path, names: list[str], first: str, line: bool = False) -> int:
    """Measure the named pages at each width, unless only their lines are wanted; 0 if every goal is met, else 1."""
    executable = sitecheck.find_chromium()
    if executable is None:
        print("expected Chromium or Chrome, found none (on Debian: apt install chromium)", file=sys.stderr)
        return 2
    with sync_playwright() as playwright, sitecheck.serve(site, Gzipped) as base:
        browser = sitecheck.launch(playwright, executable)
        misses = [] if line else costs(browser, base, site, names, first)
        misses += lines(browser, base, names)
        browser.close()
    print(f"\n{len(misses)} goals missed" if misses else "\nevery goal is met")
    for line in misses:
        print(f"  {line}")
    return 1 if misses else 0


def costs(browser, base: str, site: Path, names: list[str], first: str) -> list[str]:
    """Print what each page costs at each width; what misses a goal."""
    whole = sum(p.stat().st_size for p in site.rglob("*") if p.is_file())
    print(f"the site: {whole / 1e6:.1f} MB; {len(names)} pages, processor slowed {SLOWER} times")
    print(HEAD, flush=True)
    misses = []
    for name in names:
        for width in WIDTHS:
            page = measure(browser, base, name, width)
            if missed(page, first):
                # somebody else may have had the processor: the better of two counts
                again = measure(browser, base, name, width)
                page = min(page, again, key=lambda p: (len(missed(p, first)), p.blocking))
            misses += missed(page, first)
            print(page.row(), flush=True)
    return misses


if __name__ == "__main__":
    sys.exit(main())
