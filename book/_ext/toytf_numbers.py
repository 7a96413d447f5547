"""Sphinx extension: the search's two indexes, of what the book says and of the numbers that it prints.

The search page loads the one that it needs. That of words says how often each stands on which page, and what the
headings are; the sentences of each page are a file of their own, for those that are shown. That of numbers holds the
panels' entries, and of all other text each line that has a number in it; where which number stands,
_assets/toytf_search.js reads from the lines. Code is left out: the book shows it, but does not say it.
"""

import base64
import json
import re
import zlib
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from xml.etree.ElementTree import TreeBuilder

# toytf_search.js has the same pattern: decimals, and whole numbers from 1,000. Not 2.4.6, not Exercise 4.1, not "4.1".
NUMBER = re.compile(r"(?<![\d.\"])(?<!xercise )(?:\d+\.\d+(?:e[-−+]?\d+)?|\d{1,3}(?:,\d{3})+|\d{4,})(?![\d.]*\d)")
WORD = re.compile(r"[^\W\d_]\w+")
SENTENCE = re.compile(r"(?<=[.?!:])\s+(?=[^a-z])")
# How much a word found there weighs: a chapter explains it, a replay only says it again.
WEIGHTS = {"notebooks/": 1, "book/replay_": 0.2, "book/api/": 0.25, "": 0.6}
VOID = set("area br col hr img input link meta source use wbr".split())
LINES = set("p li tr pre summary dt dd figcaption caption div section h1 h2 h3 h4 details table ul ol text svg".split())
HEADINGS = {"h1", "h2", "h3", "h4"}
SKIPPED_TAGS = set("script style annotation button title desc metadata defs".split())
SKIPPED = {"cell_input", "headerlink", "caption-number"}
LONGEST, AROUND = 150, 55


def pieces(text):
    """A line's sentences with numbers in them; of a long one, what is around them."""
    for piece in re.split(r"(?<=[.;:?])\s+", text):
        found = list(NUMBER.finditer(piece))
        if len(piece) > LONGEST:
            kept, end = "", 0
            for match in found:
                start = max(end, match.start() - AROUND)
                kept += ("… " if start > end else "") + piece[start : match.end()]
                end = match.end()
            rest = piece[end:]
            piece = kept + (rest if len(rest) <= AROUND else rest[:AROUND] + " …")
        if found:
            yield piece


# ------------------------------------------------------ a page as a tree


class Tree(HTMLParser):
    """The article of a page as an element of ElementTree, `root`."""

    def __init__(self, html):
        super().__init__()
        self.builder = TreeBuilder()
        self.feed(re.search(r"<article.*?</article>|$", html, re.DOTALL)[0] or "<article></article>")
        self.root = self.builder.close()

    def handle_starttag(self, tag, attrs):
        self.builder.start(tag, {name: value or "" for name, value in attrs})
        if tag in VOID:
            self.builder.end(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            self.builder.end(tag)

    def handle_data(self, data):
        self.builder.data(data)


def sentences(text):
    """A line's sentences, and a table's row that says something: mostly letters, four words or more."""
    for one in SENTENCE.split(text.replace(" | ", ": ")):
        if len(one.split()) > 3 and len(re.findall(r"[^\W\d_]", one)) > 0.6 * len(one):
            yield one


def classes(node):
    return set(node.get("class", "").split())


def is_skipped(node):
    return node.tag in SKIPPED_TAGS or not SKIPPED.isdisjoint(classes(node))


def text(node):
    """What a reader sees of an element; a raised number has ^ before it."""
    if is_skipped(node):
        return ""
    inside = (node.text or "") + "".join(text(child) + (child.tail or "") for child in node)
    return {"sup": "^" + inside, "br": " ", "i": f" {inside} "}.get(node.tag, inside)


def words(node):
    return " ".join(text(node).split())


# ------------------------------------------------------ panels


def sums(node, inside=False):
    """The sums in a part of a panel: (row and column or None, words) of each."""
    inside = inside or "byhand-sums" in classes(node)
    if "byhand-work" in classes(node) or (inside and node.tag == "p"):
        at = node.get("data-at")
        return [(tuple(map(int, at.split("."))) if at else None, words(node))]
    return [one for child in node for one in sums(child, inside)]


def panel(node, number):
    """What stands in a panel: number, name, labels of rows and of columns, entries, and the sums."""
    tables = [table for table in node.iter("table") if "byhand-matrix" in classes(table)]
    if not tables:
        return [number, "", [], [], [], sums(node)]
    table = next((table for table in tables if "byhand-result" in classes(table)), tables[-1])
    titles = [words(part) for part in node.iter() if "byhand-title" in classes(part)]
    titles += [words(caption) for caption in table.iter("caption")]
    # `K₁` of a panel headed `K₁ = X WK₁ 2 × 3`
    name = re.split(r"\s=\s", next(filter(None, titles), ""), maxsplit=1)[0]
    heads = [words(cell) for part in table.iter("thead") for cell in part.iter() if cell.tag in {"td", "th"}]
    in_head = [row for part in table.iter("thead") for row in part.iter("tr")]
    rows = [row for row in table.iter("tr") if row not in in_head and row.find("td") is not None]
    labels = ["".join(words(label) for label in row.iter("th")) for row in rows]
    cells = [[words(cell) for cell in row.iter("td")] for row in rows]
    width = max(map(len, cells), default=0)
    return [
        number,
        re.sub(r"\s*\d+ × \d+$", "", name).strip(),
        labels,
        heads[-width:] if width else [],
        cells,
        sums(node),
    ]


def entry(number, name, labels, heads, cells, said):
    """What the index holds of a panel: in the place of its sums the numbers that stand in one of them alone, each with
    its row and column; None if it has no decimal.
    """
    known = {number for row in cells for cell in row for number in NUMBER.findall(cell)}
    width, more = max(map(len, cells), default=0), []
    for k, (at, words) in enumerate(said if cells else []):
        new = [number for number in dict.fromkeys(NUMBER.findall(words)) if number not in known]
        if new:
            more.append([*(at or divmod(k, width or 1)), " ".join(new)])
    return [number, name, labels, heads, cells, more] if known or more else None


# ------------------------------------------------------ lines


class Page:
    """Reads one page: `title`, `places`, `lines` and `panels`, and what it says: {place: sentences}.

    A line is [place, text] or [place, text, what the figure shows]; a place is the id and the heading of the nearest
    section, exercise or solution.
    """

    def __init__(self, html):
        self.title, self.places, self.lines, self.found = "", [], [], []
        self.known, self.headings, self.said, self.text = {}, {}, {}, ""  # by the id of a place; what is read of a line
        self.walk(Tree(html).root, "", None, None)
        self.panels = [one for one in (entry(*panel) for panel in self.found) if one]

    def walk(self, node, place, figure, chain):
        """Read an element. place: the id around it. figure: what the figure around it shows. chain: its first panel."""
        if is_skipped(node):
            return
        kinds, own = classes(node), node.get("id", "")
        if node.tag in LINES:
            self.end_line(place, figure)
        if node.tag == "div" and "byhand" in kinds:
            given = re.fullmatch(r"panel-(\d+)", own)
            self.found.append(panel(node, int(given[1]) if given else len(self.found) + 1))
        elif chain is not None and "data-k" in node.attrib:  # the sums of the chain's k-th panel
            self.found[chain + int(node.get("data-k"))][-1] += sums(node, True)
        else:
            if (node.tag == "section" and own and not own.endswith("-content")) or kinds & {"exercise", "solution"}:
                place = own or place
            if node.tag in HEADINGS or "admonition-title" in kinds:
                self.title = self.title or words(node)
                self.headings.setdefault(place, words(node))
            if node.tag == "dt" and own:  # a name of the package
                self.headings[own], self.said[own] = words(node), []
            self.read(node, place, figure, len(self.found) if "byhand-chain" in kinds else chain)

    def read(self, node, place, figure, chain):
        """Read an element that is no panel, and all that is in it."""
        if node.tag == "svg":
            figure = node.get("aria-label", "")
        if node.tag in {"td", "th"} and self.text.strip():
            self.text += " | "
        self.text += {"sup": "^", "br": " ", "i": " "}.get(node.tag, "") + (node.text or "")
        for child in node:
            self.walk(child, place, figure, chain)
            self.text += (" " if child.tag == "i" else "") + (child.tail or "")
        if node.tag in LINES:
            self.end_line(place, figure, node.tag == "pre")

    def end_line(self, place, figure, printed=False):
        """Keep what was read since the last one, if it has a number; what was printed is as many lines as it shows."""
        read, self.text = self.text, ""
        line = " ".join(read.split())
        if place and figure is None and not printed and line != self.headings.get(place):
            self.said.setdefault(place, []).extend(sentences(line))
        if not place or not NUMBER.search(read):
            return
        if place not in self.known:
            self.known[place] = len(self.places)
            self.places.append([place, self.headings.get(place, "")])
        shown = [] if figure is None else [figure[:80]]
        for line in read.splitlines() if printed else [read]:
            for piece in pieces(" ".join(line.split())):
                if shown and self.lines and self.lines[-1][::2] == [self.known[place], *shown]:
                    self.lines[-1][1] += f" {piece}"  # one line a figure, not one for each tick
                else:
                    self.lines.append([self.known[place], piece, *shown])


def index(site):
    """What the search needs, by the names of its files.

    "toytf_numbers": of every page [address, title, places, lines, panels]. "toytf_words": the pages
    [address, title, weight, [[place, heading], ...]], and from each word to [page, how often, page, how often, ...].
    "words/ADDRESS": the sentences of each of its places.
    """
    paths = sorted(
        Path(site).rglob("*.html"), key=lambda path: (path.parent.name != "notebooks", path)
    )  # chapters first
    numbers, pages, counts, files = [], [], {}, {}
    for path in paths:
        page, address = Page(path.read_text("utf-8")), path.relative_to(site).as_posix()
        # pages of the package have numbers in code alone
        if path.parent.name != "api" and (page.lines or page.panels):
            numbers.append([address, page.title, page.places, page.lines, page.panels])
        if page.said and page.title:
            places = [[place, page.headings.get(place, "")] for place in page.said]
            weight = next(weight for start, weight in WEIGHTS.items() if address.startswith(start))
            files[f"words/{address}"] = list(page.said.values())
            said = [one for place in page.said.values() for one in place]
            text = " ".join([page.title, *(heading for _, heading in places), *said]).lower()
            # "multi-head" is two words, and one: "multihead"
            found = WORD.findall(re.sub(r"[-_]", " ", text))
            joined = [re.sub(r"[-_]", "", one) for one in re.findall(r"\w+(?:[-_]\w+)+", text)]
            for word, count in sorted(Counter(found + joined).items()):
                counts.setdefault(word, []).extend((len(pages), count))
            pages.append([address, page.title, weight, places])
    return {"toytf_numbers": numbers, "toytf_words": [pages, counts], **files}


def packed(name, value):
    """A script that sets a name: from the disk a browser loads nothing else, and packed it is a third as large."""
    data = zlib.compress(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(), 9)
    return f'window["{name}"] = "{base64.b64encode(data).decode()}";\n'


def unpacked(script):
    """What a script of `packed` holds."""
    return json.loads(zlib.decompress(base64.b64decode(script.split('"')[3])))


def write_indexes(app, exception):
    if exception is None and app.builder.format == "html":
        for name, value in index(app.outdir).items():
            path = Path(app.outdir, "_static", f"{name}.js")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(packed(name, value), "utf-8", newline="\n")


def search_page(app):
    """Sphinx's own index is not made, so its page is asked for."""
    yield "search", {}, "search.html"


def start(app):
    app.builder.search = False


def setup(app):
    app.connect("builder-inited", start)
    app.connect("html-collect-pages", search_page)
    # after every other extension has changed the pages
    app.connect("build-finished", write_indexes, priority=990)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
