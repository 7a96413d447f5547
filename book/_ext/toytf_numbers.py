"""Sphinx extension: an index of every decimal number that the book prints.

The search page loads it when somebody types a number. It holds the panels' entries,
and of all other text each line that has a number in it; where which number stands,
_assets/toytf_search.js reads from the lines. Numbers in code are left out: the book
shows them, but does not say them.
"""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

INDEX = "_static/toytf_numbers.js"
# toytf_search.js has the same pattern. Not 2.4.6, not Exercise 4.1, not "4.1" in code.
NUMBER = re.compile(r"(?<![\d.\"])(?<!xercise )\d+\.\d+(?:e[-−+]?\d+)?(?![\d.]*\d)")
VOID = set("area br col hr img input link meta source use wbr".split())
LINES = set(
    "p li tr pre summary dt dd figcaption caption div section h1 h2 h3 h4 details "
    "table ul ol text svg".split()
)
SKIPPED_TAGS = set("script style annotation button title desc metadata defs".split())
SKIPPED = {"cell_input", "headerlink", "caption-number", "visually-hidden"}
LONGEST, AROUND = 150, 55


def numbers(text):
    """The decimal numbers in a text, as they are printed."""
    return NUMBER.findall(text)


def has_number(row):
    """Whether one of a row's cells has a decimal in it."""
    return NUMBER.search(" ".join(row)) is not None


def pieces(text):
    """A line's sentences with numbers in them; of a long one, what is around them."""
    for piece in re.split(r"(?<=[.;:?])\s+", text):
        found = list(NUMBER.finditer(piece))
        if not found:
            continue
        if len(piece) > LONGEST:
            kept, end = "", 0
            for match in found:
                start = max(end, match.start() - AROUND)
                kept += ("… " if start > end else "") + piece[start : match.end()]
                end = match.end()
            rest = piece[end:]
            piece = kept + (rest if len(rest) <= AROUND else rest[:AROUND] + " …")
        yield piece


class Panel:
    """What stands in one panel: its matrices, and the sums below them."""

    def __init__(self, number):
        self.number, self.title, self.tables, self.sums = number, "", [], []

    def result(self):
        """The matrix whose entries are worked out, or None."""
        named = [table for table in self.tables if "byhand-result" in table["classes"]]
        return (named or self.tables or [None])[-1]

    def name(self, table):
        """`K₁` of a panel headed `K₁ = X WK₁ 2 × 3`."""
        title = re.split(r"\s=\s", self.title or table["caption"], maxsplit=1)[0]
        return re.sub(r"\s*\d+ × \d+$", "", title).strip()

    def entry(self):
        """Number, name, labels of rows and of columns, entries, more numbers.

        The last are those that stand in a sum alone, each with its row and column.
        """
        table = self.result()
        if table is None:
            return None
        rows, cells = [], []
        for row in table["rows"]:
            rows.append(row["head"])
            cells.append(row["cells"])
        width = max((len(row) for row in cells), default=0)
        heads = table["head"][-width:] if width else []
        known = {number for row in cells for cell in row for number in numbers(cell)}
        more = []
        for k, (at, text) in enumerate(self.sums):
            i, j = at or divmod(k, width or 1)
            new = [n for n in dict.fromkeys(numbers(text)) if n not in known]
            if new:
                more.append([i, j, " ".join(new)])
        return [self.number, self.name(table), rows, heads, cells, more]


class Reader(HTMLParser):
    """Reads one page: `title`, `places`, `lines` and `panels`.

    A line is [place, text] or [place, text, what the figure shows]; a place is the id
    and the heading of the nearest section, exercise or solution.
    """

    def __init__(self, html):
        super().__init__()
        self.title, self.places, self.lines, self.all_panels = "", [], [], []
        self.known, self.headings = {}, {}  # by the id of a place
        self.stack = []  # (tag, what it is)
        self.inside = {"article": 0, "skipped": 0, "pre": 0, "heading": 0}
        self.place, self.open_panels, self.seen = [], [], 0
        self.text, self.cell, self.figure, self.where = "", None, None, None
        self.heading, self.chain = "", None
        self.feed(html)
        self.close()

    @property
    def panels(self):
        """What the index holds of each panel that has a decimal in it."""
        entries = [panel.entry() for panel in self.all_panels]
        return [e for e in entries if e and (e[5] or any(map(has_number, e[4])))]

    # -- what opens and closes

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        classes = (attrs.get("class") or "").split()
        if tag in VOID:
            if tag == "br":
                self.handle_data("\n" if self.inside["pre"] else " ")
            return
        what = set()
        if tag == "article":
            what.add("article")
        elif not self.inside["article"]:
            pass
        elif tag in SKIPPED_TAGS or SKIPPED & set(classes):
            what.add("skipped")
        else:
            self.opened(tag, attrs, classes, what)
        for name in what & self.inside.keys():
            self.inside[name] += 1
        self.stack.append((tag, what))

    def opened(self, tag, attrs, classes, what):
        if tag in LINES:
            self.end_line()
        if tag == "div" and "byhand" in classes:
            self.seen += 1
            own = re.fullmatch(r"panel-(\d+)", attrs.get("id") or "")
            self.open_panels.append(Panel(int(own.group(1)) if own else self.seen))
            what.add("panel")
        if "byhand-chain" in classes:
            self.chain = len(self.all_panels)
            what.add("chain")
        if (
            self.chain is not None and "data-k" in attrs
        ):  # the sums of the chain's k-th panel
            self.open_panels.append(self.all_panels[self.chain + int(attrs["data-k"])])
            what.add("more")
        panel = self.open_panels[-1] if self.open_panels else None
        if panel and tag == "table" and "byhand-matrix" in classes:
            table = {"classes": classes, "caption": "", "head": [], "rows": []}
            panel.tables.append(table)
            what.add("matrix")
        elif panel and ("byhand-title" in classes or tag == "caption"):
            self.cell = [""]
            what.add("title" if "byhand-title" in classes else "name")
        elif panel and panel.tables and tag == "tr":
            panel.tables[-1]["rows"].append({"head": "", "cells": []})
        elif panel and panel.tables and tag in {"td", "th"}:
            self.cell = [""]
            what.add("cell" if tag == "td" else "head")
        elif panel and ("byhand-work" in classes or (tag == "p" and self.in_sums())):
            at = attrs.get("data-at")
            self.where = tuple(int(n) for n in at.split(".")) if at else None
            self.cell = [""]
            what.add("sum")
        if "byhand-sums" in classes:
            what.add("sums")
        own = attrs.get("id") or ""
        named = tag == "section" and not own.endswith("-content")
        if own and (named or {"exercise", "solution"} & set(classes)):
            self.place.append(own)
            what.add("place")
        if tag == "svg":
            self.figure = attrs.get("aria-label") or ""
            what.add("figure")
        if tag == "pre":
            what.add("pre")
        if tag in {"h1", "h2", "h3", "h4"} or "admonition-title" in classes:
            what.add("heading")
            self.heading = ""
        if tag == "sup":
            self.handle_data("^")
        if tag in {"td", "th"} and not panel and self.text.strip():
            self.handle_data(" | ")

    def in_sums(self):
        return any("sums" in what for _, what in self.stack)

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        if self.stack[-1:] != [(tag, set())] and all(
            tag != name for name, _ in self.stack
        ):
            return
        while True:
            open_tag, what = self.stack.pop()
            self.closed(open_tag, what)
            for name in what & self.inside.keys():
                self.inside[name] -= 1
            if open_tag == tag:
                return

    def closed(self, tag, what):
        panel = self.open_panels[-1] if self.open_panels else None
        words = " ".join(self.cell[0].split()) if self.cell else ""
        if "title" in what:
            panel.title = words
        elif "name" in what and panel.tables:
            panel.tables[-1]["caption"] = words
        elif "sum" in what:
            panel.sums.append((self.where, words))
        elif "cell" in what or "head" in what:
            rows = panel.tables[-1]["rows"]
            in_head = any(open_tag == "thead" for open_tag, _ in self.stack)
            if in_head:
                panel.tables[-1]["head"].append(words)
            elif rows and "head" in what:
                rows[-1]["head"] = words
            elif rows:
                rows[-1]["cells"].append(words)
        if what & {"title", "name", "sum", "cell", "head"}:
            self.cell = None
        if "heading" in what:
            words = " ".join(self.heading.split())
            self.title = self.title or words
            if self.place:
                self.headings.setdefault(self.place[-1], words)
        if self.inside["article"] and tag in LINES:
            self.end_line()
        if "panel" in what:
            self.open_panels.pop()
            for table in panel.tables:
                table["rows"] = [row for row in table["rows"] if row["cells"]]
            self.all_panels.append(panel)
        if "more" in what:
            self.open_panels.pop()
        if "chain" in what:
            self.chain = None
        if "place" in what:
            self.place.pop()
        if "figure" in what:
            self.figure = None

    def handle_data(self, data):
        if not self.inside["article"] or self.inside["skipped"]:
            return
        if self.inside["heading"]:
            self.heading += data
        if self.cell is not None:
            self.cell[0] += data
        elif not self.open_panels:
            self.text += data

    # -- lines

    def end_line(self):
        if not self.place or not NUMBER.search(self.text):
            self.text = ""
            return
        place = self.place[-1]
        if place not in self.known:
            self.known[place] = len(self.places)
            self.places.append([place, self.headings.get(place, "")])
        lines = self.text.splitlines() if self.inside["pre"] else [self.text]
        self.text = ""
        for line in lines:
            for piece in pieces(" ".join(line.split())):
                entry = [self.known[place], piece]
                last = self.lines[-1] if self.lines else [None]
                if self.figure is None:
                    self.lines.append(entry)
                elif last[0] == entry[0] and last[2:] == [self.figure[:80]]:
                    last[1] += f" {piece}"  # one line a figure, not one for each tick
                else:
                    self.lines.append([*entry, self.figure[:80]])


def without_code(html):
    """A page's article without what is most of it: code, and the tags of formulas."""
    _, start, article = html.partition("<article")
    code = re.compile(r'(<div class="cell_input[^>]*>.*?<pre>).*?(?=</pre>)', re.DOTALL)
    formula = re.compile(r"<math\b.*?</math>", re.DOTALL)
    tags = re.compile(r"<annotation\b.*?</annotation>|<[^>]*>", re.DOTALL)
    return start + formula.sub(lambda m: tags.sub("", m[0]), code.sub(r"\1", article))


def index(site):
    """What the search needs of every page: [address, title, places, lines, panels]."""
    found = []
    # the chapters, then the reference; pages of the package have numbers in code alone
    pages = sorted(
        (path for path in Path(site).rglob("*.html") if path.parent.name != "api"),
        key=lambda path: (path.parent.name != "notebooks", path),
    )
    for path in pages:
        page = Reader(without_code(path.read_text("utf-8")))
        if page.lines or page.panels:
            address = path.relative_to(site).as_posix()
            found.append([address, page.title, page.places, page.lines, page.panels])
    return found


def write_index(app, exception):
    if exception is None and app.builder.format == "html":
        words = json.dumps(index(app.outdir), ensure_ascii=False, separators=(",", ":"))
        text = f"window.toytfNumbers={words};\n"
        (Path(app.outdir) / INDEX).write_text(text, "utf-8", newline="\n")


def setup(app):
    # after every other extension has changed the pages
    app.connect("build-finished", write_index, priority=990)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
