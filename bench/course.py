"""What the course itself costs its readers: `python bench/course.py [--pages 04 preface] [--line]`.

Opens every page of the built site in Chromium, as on a phone and on a laptop, with a processor slowed four times and
an empty cache, and says what came over the line, when the page was there and how long it could not answer.

Then the line of each chapter, what a reader meets before its exercises: words of prose, screens on a laptop and on a
phone, lines of code in sight; and on the whole page which boxes scroll sideways on a phone
and which printed outputs are cut there. With `--line` this alone (seconds).

What misses a goal is named at the end, and the status is 1.
"""

import argparse
import functools
import gzip
import re
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = map(str, (ROOT / "tests", ROOT / "book" / "forms"))  # pages are opened as the tests open them

import sitecheck  # noqa: E402

WIDTHS = (390, 1280)
SLOWER = 4
FIRST = "book/preface"  # has a goal of its own, with the weights of the translator


def report(name: str, measured: dict, goals: dict) -> list[str]:
    """Print what was measured of a page, and return which goals it misses: what is above the most it may be."""
    print(f"{name:40}", *(f"{what} {value:.5g}" for what, value in measured.items()), flush=True)
    above = {what: most for what, most in goals.items() if measured[what] > most}
    return [f"{name}: {what} {measured[what]:.5g}, the goal is at most {most}" for what, most in above.items()]


# ---------------------------------------------------------------- pages


class Gzipped(sitecheck.Quiet):
    """Answers gzipped, as hosts do."""

    def do_GET(self):
        path = Path(self.translate_path(self.path))
        if not path.is_file() or path.suffix in (".png", ".woff2"):
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
def packed(path: Path) -> bytes:
    return gzip.compress(path.read_bytes(), 9)


# Runs before anything of the page.
WATCH = """
window.seen = { paint: 0, blocking: 0, shift: 0, last: 0 };
const watch = (type, each) => new PerformanceObserver(list => {
    for (const entry of list.getEntries()) { each(entry); window.seen.last = performance.now(); }
}).observe({ type, buffered: true });
watch("paint", e => { if (e.name === "first-contentful-paint") seen.paint = e.startTime; });
watch("longtask", e => { seen.blocking += Math.max(0, e.duration - 50); });
watch("layout-shift", e => { if (!e.hadRecentInput) seen.shift += e.value; });
"""
QUIET = "() => document.readyState === 'complete' && performance.now() - Math.max(seen.last, 0) > 1000"


def cost(browser, base: str, name: str, width: int) -> dict:
    """Open one page with an empty cache and a slow processor, wait until it rests, and say what it cost."""
    phone = width < 600
    context = browser.new_context(viewport={"width": width, "height": 800}, is_mobile=phone, has_touch=phone)
    page = context.new_page()
    session = context.new_cdp_session(page)
    own, loads = set(), {}  # a font as data: is in the page itself
    session.on(
        "Network.requestWillBeSent", lambda e: e["request"]["url"].startswith("data:") and own.add(e["requestId"])
    )
    session.on("Network.loadingFinished", lambda e: loads.update({e["requestId"]: e["encodedDataLength"]}))
    session.send("Network.enable")
    session.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
    page.add_init_script(WATCH)
    page.goto(f"{base}/{name}.html", wait_until="load")
    page.wait_for_function(QUIET, timeout=120_000, polling=200)
    seen = page.evaluate("window.seen")
    context.close()
    sizes = [size for request, size in loads.items() if request not in own]
    return {
        "kB": sum(sizes) / 1000,
        "requests": len(sizes),
        "paint ms": seen["paint"],
        "blocked ms": seen["blocking"],
        "shift": seen["shift"],
    }


def costs(browser, base: str, names: list[str]) -> list[str]:
    """Print what each page costs at each width; what misses a goal."""
    misses = []
    for name in names:
        goals = {"kB": 150 if name == FIRST else 400, "shift": 0.02, "blocked ms": 300}
        for width in WIDTHS:
            # somebody else may have had the processor: the better of two
            measured = min((cost(browser, base, name, width) for _ in range(2)), key=lambda one: one["blocked ms"])
            misses += report(f"{name} at {width}", measured, goals)
    return misses


# ---------------------------------------------------------------- lines

LINE = {"screens": 15, "code": 60, "cut on a phone": 0}
SHORT, MIDDLE, LONG = 1800, 2000, 2100  # words before the exercises: what 25 minutes with its panels have room for
WORDS = dict.fromkeys([3, 4, 5, 8, 9, 10, 12, 17], SHORT) | dict.fromkeys([13, 14, 15, 16], MIDDLE)


def lines(browser, base: str, names: list[str]) -> list[str]:
    """Print the line of each chapter among the named pages; what misses a goal."""
    misses = []
    for name in (name for name in names if re.fullmatch(r"notebooks/\d\d_\w+", name)):
        with sitecheck.open_page(browser, base, f"{name}.html", 1280, height=1000) as (page, _):
            met = sitecheck.line_to(page)
        with sitecheck.open_page(browser, base, f"{name}.html", 390, height=844) as (page, _):
            met |= {
                "screens on a phone": sitecheck.line_to(page)["screens"],
                "scroll sideways": len(sitecheck.sideways(page)),
                "cut on a phone": len(sitecheck.cut_problems(page)),
            }
        number = int(name.removeprefix("notebooks/")[:2])
        misses += report(name, met, LINE | {"words": WORDS.get(number, LONG)})
    return misses


# ---------------------------------------------------------------- both


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--site", type=Path, default=ROOT / "_build" / "html", help="the built site")
    parser.add_argument("--pages", nargs="+", default=[""], help="only pages with one of these words in their names")
    parser.add_argument("--line", action="store_true", help="only the line of each chapter (seconds)")
    options = parser.parse_args(arguments)
    site = sorted(path.relative_to(options.site).with_suffix("").as_posix() for path in options.site.rglob("*.html"))
    names = [name for name in site if name != "index" and any(word in name for word in options.pages)]
    if not names:
        parser.error(f"expected pages of a built site (`make book`), found none in {options.site}")
    with sync_playwright() as playwright, sitecheck.serve(options.site, Gzipped) as base:
        browser = sitecheck.launch(playwright, sitecheck.chromium_or_skip())
        misses = [] if options.line else costs(browser, base, names)
        misses += lines(browser, base, names)
        browser.close()
    print(f"\n{len(misses)} goals missed" if misses else "\nevery goal is met", *misses, sep="\n  ")
    return 1 if misses else 0


if __name__ == "__main__":
    sys.exit(main())
