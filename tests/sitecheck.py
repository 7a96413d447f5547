"""What a page of the built site has to keep, each check as a function that returns problems.

A problem is one line of text; an empty list is a page as it should be. The tests of the book and
the tests that plant mistakes call the same functions.
"""

import functools
import http.server
import io
import os
import re
import shutil
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit

import lxml.etree
import lxml.html
import pypdf
import pytest
from axe_playwright_python.base import AXE_SCRIPT
from sphinx_external_toc.parsing import parse_toc_yaml

from pdf import find_chromium

PHONE, DESKTOP = 390, 1280
# Milliseconds for whatever a browser is waited for: only what never comes meets them. A test may take longer
# (pyproject.toml), so Playwright says what it waited for.
PATIENCE = 240_000

ROOT = Path(__file__).resolve().parent.parent
CONTENTS = list(parse_toc_yaml(ROOT / "_toc.yml"))  # the pages in reading order, without suffix
OF_PACKAGE = [page for page in CONTENTS if re.match("book/api/(?!index)", page)]  # a module's each

# --- Building -----------------------------------------------------------------------------------

PICTURE = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><path d="M0 0h9v9"/></svg>'
FIRST = """# First

A formula $x^2$, a [link](second.md#there) and

![A black corner](corner.svg)
"""


def write_small_book(folder, first=FIRST):
    """Two pages with the real book's configuration, extension and styles."""
    folder.mkdir()
    shutil.copy(ROOT / "_config.yml", folder)
    for name in ("_ext", "_assets", "_templates"):
        shutil.copytree(ROOT / "book" / name, folder / "book" / name)
    (folder / "_toc.yml").write_text("format: jb-book\nroot: first\nparts:\n- chapters:\n  - file: second\n", "utf-8")
    (folder / "first.md").write_text(first, "utf-8")
    (folder / "second.md").write_text("# Second\n\n## There\n\nText.\n", "utf-8")
    (folder / "corner.svg").write_text(PICTURE, "utf-8")
    return folder


def build(source, output, **settings):
    """Run the README's build of the book at `source` into `output`/_build/html.

    settings: environment variables of the build; it has no address unless they say one.
    """
    command = [sys.executable, "-c", "from jupyter_book.cli.main import main; main()", "build"]
    options = ["-W", "-n", "--keep-going", "--all", "--path-output", str(output)]
    env = {
        name: value
        for name, value in os.environ.items()
        if name not in ("TOYTF_SITE_URL", "TOYTF_REPOSITORY", "TOYTF_LITE_URL")
    }
    return subprocess.run(
        [*command, str(source), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        env={**env, "PYTHONIOENCODING": "utf-8", **settings},
    )


# --- Without a browser: links -------------------------------------------------------------------


def _read(path):
    return lxml.html.fromstring(path.read_bytes().replace(b'<?xml version="1.0" encoding="utf-8"?>', b""))


def link_problems(site):
    """Links to files and anchors of the site that are not there."""
    pages = {path.resolve(): _read(path) for path in sorted(Path(site).rglob("*.html"))}
    anchors = {path: set(page.xpath("//@id | //@name")) for path, page in pages.items()}
    problems = []
    for path, page in pages.items():
        for link in page.xpath("//@href | //@src"):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchor = unquote(parts.fragment).partition("?")[0]  # then the settings of something to touch
            if not target.is_file():
                problems.append(f"{path.name}: {link} leads to no file")
            elif anchor and anchor not in anchors.get(target, {anchor}):
                problems.append(f"{path.name}: {link} leads to no anchor")
    return problems


def _elsewhere(path):
    """Element, attribute and address of each address of other sites that a page has."""
    for element in _read(path).iter(lxml.etree.Element):
        for name, value in element.items():
            if not name.startswith("xmlns") and re.search(r"(?<![\w/])(https?:)?//\w", value):
                yield element, name, value


def links_elsewhere(path):
    """The addresses of other sites to which a page leads."""
    return [value for element, name, value in _elsewhere(path) if (element.tag, name) == ("a", "href")]


def address_problems(site):
    """Addresses of other sites that are not what an <a> leads to: nothing is fetched from there."""
    problems = []
    for path in sorted(file for file in Path(site).rglob("*") if file.suffix in (".html", ".svg", ".css")):
        for element, name, value in _elsewhere(path) if path.suffix != ".css" else ():
            if (element.tag, name) != ("a", "href"):
                problems.append(f"{path.name}: <{element.tag} {name}> has an address elsewhere: {value[:80]}")
            elif "noopener" not in element.get("rel", "").split():
                problems.append(f"{path.name}: a link elsewhere without rel=noopener: {value}")
        asked = re.findall(r"(?:url\(|@import)\s*[\"']?((?:https?:)?//[^\"')\s]+)", path.read_text("utf-8"))
        problems += [f"{path.name}: a style has an address elsewhere: {one}" for one in asked]
    return problems


# --- In the browser -----------------------------------------------------------------------------


def chromium_or_skip():
    """An installed Chromium; without one the test that asks is skipped, and fails in CI."""
    executable = find_chromium()
    if executable is None:
        missing = "no Chromium or Chrome found (on Debian: apt install chromium)"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(missing)
    return executable


def launch(playwright, executable):
    args = ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]  # nobody else is there
    browser = playwright.chromium.launch(executable_path=executable, args=args, timeout=PATIENCE)
    browser.on("context", lambda context: context.set_default_timeout(PATIENCE))
    return browser


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Answers without a word."""

    def log_message(self, *args):
        pass


@contextmanager
def serve(folder, handler=Quiet):
    """Serve a folder on a free port of this machine; yields the address."""
    answer = functools.partial(handler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@contextmanager
def open_page(browser, base, path, width=DESKTOP, dark=False, height=900):
    """Open `base`/`path`; what is asked for outside of `base` is a problem, and on other machines not found.

    Yields the page and the list of problems met while loading, which grows as long as it is open.
    """
    problems = []
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light", reduced_motion="reduce"
    )

    def asked(request):
        if not request.url.startswith((base + "/", "data:", "blob:")):
            problems.append(f"request leaves the site: {request.url}")

    def failed(request):
        problems.append(f"request failed: {request.url}")

    def answered(response):
        if response.status >= 400:
            problems.append(f"status {response.status}: {response.url}")

    def said(message):
        if message.type in ("error", "warning"):
            problems.append(f"console {message.type}: {message.text}")

    try:
        context.on("request", asked)
        page = context.new_page()
        page.on("requestfailed", failed)
        page.on("response", answered)
        page.on("console", said)
        page.on("pageerror", lambda error: problems.append(f"script error: {error}"))
        page.goto(f"{base}/{path}", wait_until="load")
        settle(page)
        yield page, problems
    finally:
        context.close()


def settle(page):
    """Wait until fonts are there and the page keeps its width."""
    page.evaluate(
        """async () => {
            await document.fonts.ready;
            const width = () => document.querySelector("article")?.clientWidth;
            for (let last = null; last !== width();) {
                last = width();
                await new Promise(done => setTimeout(done, 50));
            }
        }"""
    )


def still(page):
    """Wait until the page has neither moved nor grown for thirty frames."""
    page.evaluate(
        """async () => {
            const now = () => `${window.scrollX} ${window.scrollY} ${document.documentElement.scrollHeight}`;
            for (let last = null, frames = 0; frames < 30; frames = last === now() ? frames + 1 : 0) {
                last = now();
                await new Promise(done => requestAnimationFrame(done));
            }
        }"""
    )


def walk(page):
    """Scroll to the end and back: what is far away is laid out only when it comes near."""
    page.evaluate(
        """async () => {
            const frame = () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
            const height = () => document.documentElement.scrollHeight;
            for (let y = 0; y < height(); y += 1200) {
                window.scrollTo(0, y);
                await frame();
            }
            window.scrollTo(0, 0);
            await frame();
        }"""
    )


def formula_problems(page):
    """Formulas that are not set, or not in the font that has their signs."""
    return page.evaluate(
        r"""() => {
            const article = document.querySelector("article") ?? document.body;
            const problems = [];
            for (const math of article.querySelectorAll(".math")) {
                if (!math.querySelector("math > semantics > annotation")) {
                    problems.push("formula not set: " + math.textContent.trim().slice(0, 80));
                }
            }
            for (const bad of article.querySelectorAll("merror")) {
                problems.push("formula with an error: " + bad.textContent.slice(0, 80));
            }
            const font = [...document.fonts].find(({ family }) => family.includes("Toytf Math"));
            if (article.querySelector("math") && font?.status !== "loaded") {
                problems.push("formulas without their font");
            }
            const texts = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
            while (texts.nextNode()) {
                const { data, parentElement } = texts.currentNode;
                const elsewhere = parentElement.closest("pre, code, script, style, .math");
                if (!elsewhere && /\$[^$]+\$|\$\$|\\[(\[]|\\begin\{/.test(data)) {
                    problems.push("formula not set: " + data.trim().slice(0, 80));
                }
            }
            return problems;
        }"""
    )


def picture_problems(page):
    """Pictures without a text that says what is to be seen."""
    pictures = page.evaluate(
        """() => [
            ...[...document.querySelectorAll("article img")].map(
                img => [img.getAttribute("src"), img.getAttribute("alt")]),
            ...[...document.querySelectorAll("article svg[role=img]:not([aria-hidden=true])")].map(
                svg => ["svg", svg.ariaLabel ?? svg.querySelector("title")?.textContent]),
        ]"""
    )
    problems = []
    for source, text in pictures:
        if not (text or "").strip():
            problems.append(f"picture without a text: {source}")
        elif ("/" in text and " " not in text) or re.search(r"\.(png|svg|jpe?g|gif)$", text):
            problems.append(f"picture with a file's name for a text: {text}")
    return problems


def width_problems(page):
    """A page wider than its window, or something in it wider than its column."""
    return page.evaluate(
        """() => {
            const problems = [];
            const root = document.documentElement;
            if (root.scrollWidth > root.clientWidth) {
                problems.push(`page is ${root.scrollWidth} wide in a window of ${root.clientWidth}`);
            }
            const article = document.querySelector("article");
            if (!article) return problems;
            const edge = article.getBoundingClientRect().right + 1;
            const scrolls = new Set();   // boxes whose content may be wider, and all within them
            for (const element of article.querySelectorAll("*")) {
                if (scrolls.has(element.parentElement)) {
                    scrolls.add(element);
                    continue;
                }
                if (getComputedStyle(element).position === "fixed") {
                    scrolls.add(element);   // it belongs to the window
                } else if (element.getBoundingClientRect().right > edge) {
                    problems.push(`wider than the column at ${root.clientWidth}: ` +
                        element.outerHTML.slice(0, 80));
                    scrolls.add(element);
                } else if (getComputedStyle(element).overflowX !== "visible") {
                    scrolls.add(element);
                }
            }
            return problems;
        }"""
    )


def cut_problems(page):
    """Lines that a phone cuts, printed columns that it breaks, and those that scroll though no key reaches them."""
    return page.evaluate(
        """() => [...document.querySelectorAll("article .highlight pre")].filter(pre => {
            const wide = pre.scrollWidth > pre.clientWidth + 1;
            const phone = innerWidth < 640, printed = pre.closest(".cell_output .output");
            const columns = phone && printed && pre.matches(".columns"); // they may scroll, and keep their lines
            const broken = columns && getComputedStyle(pre).whiteSpace !== "pre";
            return wide && pre.tabIndex < 0 || (columns ? broken : wide && (phone || printed));
        }).map(pre => "cut, broken or out of reach: " + pre.textContent.trim().slice(0, 60))"""
    )


def sideways(page):
    """Boxes in sight that one has to scroll sideways, each with its first words."""
    return page.evaluate(
        """() => [...document.querySelectorAll("article *")]
            .filter(box => box.scrollWidth > box.clientWidth + 1 && box.clientWidth > 0 &&
                ["auto", "scroll"].includes(getComputedStyle(box).overflowX) && box.checkVisibility())
            .map(box => "scrolls sideways: " + box.textContent.trim().replace(/\\s+/g, " ").slice(0, 60))"""
    )


def line_to(page, heading="exercises"):
    """What is met on the way down to a heading, or to the end: screens, words, lines of code.

    Words are those of the text: not of cells, formulas and figures. Beside them stand the words of captions, of what
    cells print, and of what is folded.
    """
    walk(page)
    return page.evaluate(
        """heading => {
            const article = document.querySelector("article");
            const end = document.getElementById(heading);
            const bottom = end ? end.getBoundingClientRect().top : article.getBoundingClientRect().bottom;
            const before = node => !end ||
                Boolean(end.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_PRECEDING);
            const inSight = node => before(node) && node.checkVisibility();
            const printed = ".cell_output .stream, .cell_output .text_plain, .highlight-myst-ansi";
            const kindOf = node => {
                if (!before(node) || node.closest("script, style, button, .headerlink, .math, math, svg")) return "";
                if (node.closest("figcaption, caption, .caption")) return "captions";
                if (node.closest(printed)) return "printed";
                if (node.closest(".cell, pre, summary")) return "";
                return node.checkVisibility() ? "words" : "folded";
            };
            const said = { words: "", captions: "", printed: "", folded: "", "": "" };
            const texts = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
            while (texts.nextNode()) said[kindOf(texts.currentNode.parentElement)] += " " + texts.currentNode.data;
            const count = kind => (said[kind].match(/[\\p{L}\\p{N}][\\p{L}\\p{N}'’.,-]*/gu) ?? []).length;
            const code = [...article.querySelectorAll(".highlight pre")]
                .filter(pre => !pre.closest(printed) && inSight(pre))
                .flatMap(pre => pre.textContent.split("\\n")).filter(line => line.trim()).length;
            return {
                screens: (bottom + scrollY) / innerHeight,
                words: count("words"),
                captions: count("captions"),
                printed: count("printed"),
                folded: count("folded"),
                code,
            };
        }""",
        heading,
    )


def line_problems(page, most=75):
    """Paragraphs whose lines hold more letters than the eye follows home."""
    return page.evaluate(
        """most => {
            const range = new Range();
            return [...document.querySelectorAll("article section > p")].flatMap(p => {
                const letters = p.innerText.length;
                range.selectNodeContents(p);
                const lines = new Set([...range.getClientRects()].map(box => Math.round(box.bottom / 12))).size;
                const long = letters > 300 && !p.querySelector(".math") && letters / lines > most;
                return long ? [`long lines: ${Math.round(letters / lines)} letters: ${p.innerText.slice(0, 40)}`] : [];
            });
        }""",
        most,
    )


def axe_problems(page):
    """Violations of the accessibility rules of axe-core.

    Contrast is the slow rule: it is asked of one element for each combination of colours and
    size that the page shows now.
    """
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    violations = page.evaluate(
        """async () => {
            const backgrounds = new Map();  // seen through each element
            const behind = element => {
                if (!backgrounds.has(element)) {
                    const color = element && getComputedStyle(element).backgroundColor;
                    backgrounds.set(element, color === "rgba(0, 0, 0, 0)" ? behind(element.parentElement) : color);
                }
                return backgrounds.get(element);
            };
            document.querySelectorAll("[data-contrast]").forEach(element => { delete element.dataset.contrast; });
            const kinds = new Map();
            const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
            while (texts.nextNode()) {
                const { data, parentElement: element } = texts.currentNode;
                if (data.trim() && !element.closest("math") && element.checkVisibility()) {
                    const { color, fontSize, fontWeight } = getComputedStyle(element);
                    kinds.set([color, fontSize, fontWeight, behind(element)].join(), element);
                }
            }
            kinds.forEach(element => { element.dataset.contrast = ""; });
            axe.configure({ rules: [{ id: "color-contrast", selector: "[data-contrast]" }] });
            const { violations } = await axe.run(document, {
                resultTypes: ["violations"],
                preload: false,  // it would fetch the styles a second time, which file:// forbids
                // to this rule a formula is no text, and Markdown tables must have all headers
                rules: { "empty-table-header": { enabled: false } },
            });
            return violations;
        }"""
    )
    return [f"axe {found['id']}: {found['nodes'][0]['html'][:100]}" for found in violations]


def page_problems(page):
    """All that can be seen on an open page at its present width and colours."""
    walk(page)
    return [
        *formula_problems(page),
        *picture_problems(page),
        *width_problems(page),
        *cut_problems(page),
        *line_problems(page),
        *axe_problems(page),
        *page.evaluate(  # <pad>, not escaped
            """() => [...document.querySelectorAll("article *")].filter(e => e instanceof HTMLUnknownElement)
                .map(e => `a word lost as a tag: <${e.localName}>`)"""
        ),
    ]


def number_hits(page, number):
    """What the search page lists for a number typed into it: the words of each line."""
    field = page.locator("article input[name=q]")
    field.fill(number)
    field.press("Enter")
    page.locator("#search-results h2").wait_for()
    return page.locator("#search-results li").all_inner_texts()


def print_problems(page):
    """Written-out arithmetic that is closed on the screen and missing on paper."""
    works = page.evaluate(
        """() => [...document.querySelectorAll(".byhand-sums p:not([hidden])")].map(
            work => work.textContent)"""
    )
    sheets = pypdf.PdfReader(io.BytesIO(page.pdf(format="A4"))).pages
    printed = _without_spaces("".join(sheet.extract_text() for sheet in sheets))
    return [f"not printed: {work}" for work in works if _without_spaces(work) not in printed]


def _without_spaces(text):
    return re.sub(r"\s", "", text)
