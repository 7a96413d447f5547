"""What becomes a slide: the rule that takes a chapter's built page apart.

The page is the source, so a figure, a panel, a formula or something to touch is the
page's own. One slide shows one thing:

- *title*: the chapter's name, its question in bold, what is needed, what one can do
  afterwards. Then the pictures of the first screen.
- *section*: for each heading a slide with the heading and its question, or its first
  sentence. If no other prose stands before the section's first panel, formula or
  listing, both share that slide.
- *figure*, *panel*, *live*, *formula*, *code*, *table*: one slide each, below the
  sentence that leads to it. A figure's message is its title.
- *said*: a sentence that the text sets in bold.
- *list*: as many items as a slide holds, each cut after a sentence.
- *exercise*: by hand and of level 1, as far as it is short. No solutions.
- *next*: the next chapter's question.

A slide has at most `WORDS` words of prose. All prose, whether shown or not, stands in
the notes of the slide at which it is said. Three things stay on the page: proofs that
are folded there, code behind figures and tables, and code in sight that only prepares
(it prints nothing and defines nothing).

A sentence that begins with "This" or "They" is shown with the one before it, or not
at all.

Where the rule does not do, the text says so in front of what is meant, which readers do
not see:

    <!-- slides: leave out -->   no slide for what follows
    <!-- slides: show -->        a slide for the paragraph that follows
"""

import copy
import html
import re
from dataclasses import dataclass, field

from bs4 import BeautifulSoup, Comment, NavigableString, Tag

WORDS = 40  # of prose on a slide
ITEM = 26  # words of a list's item, if it has more than one sentence
SHORT = 25  # above something to touch
HEADING = 5  # words; a sentence in bold with fewer is a heading
OPENING = 30  # words below a heading
CODE = 17  # lines of a listing with what it prints
PRINTED = 12  # lines that stand without their listing
ASIDE = 4  # lines printed that may stand below something else
ROWS = 9  # lines of a table
PANELS, LINE = 20, 96  # lines of panels, and signs of a line of them
EXERCISE, EXERCISES = 60, 3  # words of one, and how many
AT_THE_END = ("exercises", "where-to-read-on")
# A sentence that begins so speaks of the one before it.
LEANS = re.compile(
    r"(This|That|These|Those|It|Its|They|Their|Them|He|She|His|Her|Both|Such|Which|Also"
    r"|Then|And|But|Or|Otherwise|Another|Neither|Either|There|Nor|Yet|Each of|Two of"
    r"|One of|None|The (same|other|others|last|first|second|third|two|three|latter|rest"
    r"|former))\b|[a-z(]"
)
POINTS_BACK = re.compile(r"(\S+ ){1,4}(it|them|they|its|their)\b")
MARK = re.compile(r"\s*slides: (.*?)\s*")
MARKS = {"leave out", "show"}


class SlidesError(ValueError):
    """What keeps a page from becoming slides, in words for the person who asked."""


@dataclass
class Slide:
    """One slide; what it holds is HTML.

    where: the section that it belongs to, if that is not its title. show: what it is
    about. notes: paragraphs for who speaks.
    """

    kind: str
    title: str = ""
    where: str = ""
    lead: str = ""
    show: str = ""
    notes: list = field(default_factory=list)
    id: str = ""


@dataclass
class Deck:
    """A chapter's slides: a list of columns, one for each section."""

    name: str
    title: str
    question: str
    columns: list


# ---------------------------------------------------------------- sentences


@dataclass
class Sentence:
    """HTML of a sentence, and whether a slide has shown it."""

    html: str
    shown: bool = False

    @property
    def text(self):
        return plain(self.html)

    @property
    def words(self):
        return len(self.text.split())

    @property
    def leans(self):
        return bool(LEANS.match(self.text)) or self.words < 3 or self.points_back

    @property
    def points_back(self):
        return bool(POINTS_BACK.match(self.text))

    @property
    def bold(self):
        """Whether it says something in bold, rather than naming it."""
        strong = BeautifulSoup(self.html, "html.parser").find_all("strong")
        said = [plain(str(one)) for one in strong]
        return any(len(one.split()) > 3 or one[-1:] in ".?!:" for one in said)


def plain(source):
    """The words of a piece of HTML; a formula counts as one."""
    soup = BeautifulSoup(source, "html.parser")
    for formula in soup.select(".math"):
        formula.replace_with("∎")
    return " ".join(soup.get_text().split())


END = re.compile(r"""(?<=[.?!])(?P<close>["”’)]*)\s+(?=["“(]?[A-Z0-9∎])""")


def sentences(paragraph):
    """The sentences of a paragraph. What stands inside of a tag is never parted."""
    pieces, found = [], []

    def ended():
        return bool(pieces) and re.search(r"[.?!][\"”’)]*$", plain("".join(pieces)))

    def close():
        if plain("".join(pieces)):
            found.append(Sentence("".join(pieces).strip()))
        pieces.clear()

    for child in paragraph.children:
        if isinstance(child, Comment):
            continue
        if not isinstance(child, NavigableString):
            pieces.append(str(child))
            continue
        text = str(child)
        if ended() and re.match(r"\s+([\"“(]?[A-Z0-9]|$)", text):
            close()
        last = 0
        for end in END.finditer(text):
            pieces.append(html.escape(text[last : end.end("close")], quote=False))
            close()
            last = end.end()
        pieces.append(html.escape(text[last:], quote=False))
        # what follows is a tag: a formula, a name, a word that is stressed
        if re.search(r"[.?!][\"”’)]*\s+$", text):
            close()
    close()
    return list(whole(found))


def whole(some):
    """Sentences in one pair of brackets stay together."""
    kept = []
    for sentence in some:
        kept.append(sentence.html)
        text = plain(" ".join(kept))
        if text.count("(") <= text.count(")"):
            yield Sentence(" ".join(kept))
            kept = []
    if kept:
        yield Sentence(" ".join(kept))


def together(some):
    for sentence in some:
        sentence.shown = True
    return " ".join(sentence.html for sentence in some)


def backwards(sentences, end, most=WORDS):
    """The sentence at `end` and those that it leans on; none if they are too many."""
    start = end
    while start > 0 and sentences[start].leans:
        start -= 1
    chosen = sentences[start : end + 1]
    if chosen[0].leans or sum(one.words for one in chosen) > most:
        return []
    return chosen


def opening(sentences):
    """What stands below a heading: up to the first question, or the first sentence."""
    for at, sentence in enumerate(sentences[:4]):
        if sentence.text.endswith("?"):
            up_to = sentences[: at + 1]
            if sum(one.words for one in up_to) <= WORDS:
                return up_to
            return backwards(sentences, at)
    # "It" may be what the heading names
    if not sentences or sentences[0].words > WORDS:
        return []
    room = OPENING - sentences[0].words
    more = sentences[1:2] if sentences[1:2] and sentences[1].words <= room else []
    return sentences[:1] + more


# ---------------------------------------------------------------- what stands on a page


@dataclass
class Paragraph:
    """Prose; `mark` is what the text says of its slide."""

    html: str
    sentences: list
    mark: str = ""


@dataclass
class Thing:
    """Something to show, of a kind that is also its slides'."""

    kind: str
    parts: list
    title: str = ""


def classes(node):
    return node.get("class", [])


def blocks(section):
    """What stands in a section, in its order, without sections within."""
    mark = ""
    for node in section.children:
        if isinstance(node, Comment):
            said = MARK.fullmatch(str(node))
            if said and said[1] not in MARKS:
                known = " or ".join(sorted(MARKS))
                raise SlidesError(f"slides: expected {known}, got {said[1]!r}")
            mark = said[1] if said else mark
            continue
        if not isinstance(node, Tag) or node.name in ("section", "h1", "h2", "h3"):
            continue
        if mark != "leave out":
            yield from block(node, mark)
        mark = ""


def block(node, mark):
    """A block of the page as what slides are made of; nothing for what stays there."""
    if node.name in ("p", "blockquote"):
        yield Paragraph(str(node), sentences(node), mark)
    elif "math-wrapper" in classes(node):
        yield Thing("formula", [str(node)])
    elif "table-wrapper" in classes(node):
        yield Thing("table", tables(node))
    elif node.name in ("ul", "ol"):
        yield Thing("list", lists(node))
    elif "cell" in classes(node):
        yield from cell(node)


def cell(node):
    """What a cell shows: its listing with what it prints, or each of its outputs."""
    if "tag_hide-cell" in classes(node) or "tag_no-slide" in classes(node):
        return
    source = node.find(class_="cell_input", recursive=False)
    outputs = node.find(class_="cell_output", recursive=False)
    outputs = outputs.find_all(recursive=False) if outputs else []
    seen = [output for output in outputs if output.name == "figure" or rich(output)]
    printed = [output for output in outputs if output not in seen]
    if source:
        yield from listing(source, printed)
    for output in seen:
        yield drawn(output)
    if printed and not source and sum(map(lines, printed)) <= PRINTED:
        yield Thing("printed", ["".join(map(str, printed))])


def rich(output):
    """Whether an output is more than printed lines."""
    return "text_html" in classes(output) or "table-wrapper" in classes(output)


def drawn(output):
    if output.name == "figure":
        output = copy.copy(output)
        caption = output.find("figcaption")
        title = caption.decode_contents() if caption else ""
        if caption:
            caption.decompose()
        return Thing("figure", [str(output)], title)
    if output.find(class_="live"):
        return Thing("live", [str(output)])
    if "table-wrapper" in classes(output):
        return Thing("table", tables(output))
    return Thing("panel", panels(output))


def panels(output):
    """Panels that stand side by side, as many as a slide holds.

    Those of a chain stay together: their entries know each other.
    """
    row = output.find(class_="byhand-beside")
    if row is None or output.find(class_="byhand-chain"):
        return [str(output)]
    groups, room = [], (0, 0, 0)  # lines above, lines of this row, its width
    for panel in row.find_all(class_="byhand", recursive=False):
        tall, wide = measure(panel)
        above, now, width = room
        if width + wide <= LINE:
            room = (above, max(now, tall), width + wide)
        else:
            room = (above + now, tall, wide)
        if not groups or room[0] + room[1] > PANELS:
            groups.append([])
            room = (0, tall, wide)
        groups[-1].append(str(panel))
    parts = []
    for group in groups:
        part = copy.copy(output)
        inner = part.find(class_="byhand-beside")
        inner.clear()
        inner.append(BeautifulSoup("".join(group), "html.parser"))
        parts.append(str(part))
    return parts


def measure(panel):
    """About how many lines a panel has, and how many signs its widest line."""
    blocks = panel.select(".byhand-parts > *")
    tall = wide = 0
    for block in blocks:
        tables = [block] if block.name == "table" else block.find_all("table")
        tall = max(tall, sum(len(table.find_all("tr")) + 1 for table in tables))
        wide += max(map(signs, tables), default=0) + 4
    return tall + 2, wide


def signs(table):
    """The width of a table, in signs."""
    widths = {}
    for row in table.find_all("tr"):
        for at, one in enumerate(row.find_all(["td", "th"])):
            widths[at] = max(widths.get(at, 0), len(one.get_text()) + 1)
    return sum(widths.values())


def lines(node):
    return len(node.get_text().strip("\n").splitlines())


def listing(source, printed):
    """A listing that prints or defines something; a long one in parts."""
    code = source.get_text().strip("\n")
    if not printed and not re.search(r"^(def|class) ", code, re.M):
        return
    below = "".join(map(str, printed))
    tall = lines(source) + sum(map(lines, printed))
    if tall <= CODE:
        yield Thing("code", [str(source) + below])
        return
    parts = cut(source)
    if sum(map(lines, printed)) > PRINTED:
        below = ""
    if parts:
        room = CODE - lines(BeautifulSoup(parts[-1], "html.parser"))
        fits = sum(map(lines, printed)) <= room
        yield Thing("code", [*parts[:-1], parts[-1] + below] if fits else parts)
        below = "" if fits else below
    if below:
        yield Thing("printed", [below])


def cut(source):
    """A long listing in parts that end at an empty line; none if it has none."""
    source = copy.copy(source)
    pre = source.find("pre")
    parts, part = [], []
    for line in re.split(r"\n", pre.decode_contents().strip("\n")):
        part.append(line)
    whole, part = part, []
    for at, line in enumerate(whole):
        part.append(line)
        rest = whole[at + 1 :]
        if line.strip() or not rest:
            continue
        following = next(
            (i for i, one in enumerate(rest) if not one.strip()), len(rest)
        )
        if len(part) + following > CODE:
            parts.append(part)
            part = []
    parts = ["\n".join(one).strip("\n") for one in [*parts, part]]
    if any(len(one.splitlines()) > CODE + 3 for one in parts):
        return []
    made = []
    for one in parts:
        pre.clear()
        pre.append(BeautifulSoup(f"{one}\n", "html.parser"))
        made.append(str(source))
    return made


def tables(wrapper):
    """A table, or its parts with the head above each."""
    table = wrapper.find("table")
    body = table.find("tbody")
    if body is None:
        return [str(wrapper)]
    rows = body.find_all("tr", recursive=False)
    groups, room = [[]], 0
    total = sum(map(height, rows))
    most = total / -(-total // ROWS)
    for row in rows:
        room += height(row)
        if groups[-1] and room > most + 0.5:
            groups.append([])
            room = height(row)
        groups[-1].append(str(row))
    parts = []
    for group in groups:
        part = copy.copy(wrapper)
        inner = part.find("tbody")
        inner.clear()
        inner.append(BeautifulSoup("".join(group), "html.parser"))
        parts.append(str(part))
    return parts


def height(row):
    """About how many lines a row of a table has on a slide."""
    cells = row.find_all(["td", "th"], recursive=False)
    column = 92 / max(1, len(cells))
    return max((-(-len(plain(str(one))) // column) for one in cells), default=1) or 1


def lists(node):
    """The items of a list, as many as a slide holds, each as short as it may be."""
    first = int(node.get("start", 1))
    groups, room = [], 0
    items = [short(item) for item in node.find_all("li", recursive=False)]
    counts = [len(plain(text).split()) for text in items]
    slides = max(1, round(sum(counts) / WORDS))
    for number, (text, words) in enumerate(
        zip(items, counts, strict=True), start=first
    ):
        full = room + words / 2 > sum(counts) / slides and len(groups) < slides
        if not groups or full:
            groups.append((number, []))
            room = 0
        room += words
        groups[-1][1].append(f"<li>{text}</li>")
    return [
        f'<{node.name} start="{start}">{"".join(some)}</{node.name}>'
        if node.name == "ol"
        else f"<ul>{''.join(some)}</ul>"
        for start, some in groups
    ]


def short(item):
    """An item's first sentences, as many as there is room for."""
    inner = item.find("p", recursive=False) or item
    some = sentences(inner)
    if len(some) < 2:
        return inner.decode_contents().strip()
    kept = some[:1]
    for sentence in some[1:]:
        if sum(one.words for one in [*kept, sentence]) > ITEM:
            break
        kept.append(sentence)
    return " ".join(one.html for one in kept)


# ---------------------------------------------------------------- from blocks to slides


class Section:
    """Slides of one section, collected from its blocks."""

    def __init__(self, title, id="", where=""):
        self.title, self.id, self.where = title, id, where
        self.slides = []
        self.waiting = []  # notes for the first slide
        self.told = set()  # paragraphs that stand in notes

    def read(self, section):
        """Add the slides of a section's own blocks."""
        found = list(blocks(section))
        rest = self.begin(found)
        for at, one in enumerate(rest):
            if isinstance(one, Paragraph):
                follows = rest[at + 1] if at + 1 < len(rest) else None
                self.prose(one, isinstance(follows, Thing))
            else:
                before = rest[at - 1] if at else None
                self.thing(one, before if isinstance(before, Paragraph) else None)
        return self.slides

    def begin(self, found):
        """The slide with the heading; returns the blocks that are still to be told."""
        first = found[0] if found else None
        if isinstance(first, Thing):
            self.thing(first, None, self.title)
            return found[1:]
        slide = Slide("section", self.title, self.where, id=self.id)
        self.slides.append(slide)
        if first is None:
            return []
        slide.lead = together(opening(first.sentences))
        if not slide.lead and len(found) > 1:
            self.slides.pop()
            return found
        self.note(first)
        follows = found[1] if len(found) > 1 else None
        shares = isinstance(follows, Thing) and follows.kind not in ("live", "figure")
        if shares and all(one.shown for one in first.sentences):
            self.slides.pop()
            self.thing(follows, None, self.title)
            merged = self.slides[0]
            merged.lead, merged.notes = slide.lead, slide.notes + merged.notes
            return found[2:]
        return found

    def note(self, paragraph, slide=None):
        if paragraph.html in self.told:
            return
        self.told.add(paragraph.html)
        slide = slide or (self.slides[-1] if self.slides else None)
        (slide.notes if slide else self.waiting).append(paragraph.html)

    def add(self, slide):
        if not self.slides:  # no slide with the heading alone: the first one has it
            slide.id, slide.notes = self.id, self.waiting + slide.notes
            slide.title = slide.title or self.title
        if slide.title != self.title:
            slide.where = slide.where or self.title
        self.slides.append(slide)

    def prose(self, paragraph, leads):
        """Prose: what it says in bold becomes a slide; the rest is spoken."""
        kept = []
        if leads:  # the last sentence may stand above what follows
            kept = backwards(paragraph.sentences, len(paragraph.sentences) - 1)
        said = paragraph.mark == "show"
        if said:
            chosen = paragraph.sentences
        else:
            chosen = self.bold(paragraph.sentences, kept)
        if chosen:
            self.add(Slide("said", lead=together(chosen)))
            self.note(paragraph)
        elif not leads or not kept or any(one.shown for one in kept):
            self.note(paragraph)

    @staticmethod
    def bold(sentences, kept):
        """The first thing said in bold that no slide shows, with what it leans on."""
        for at, sentence in enumerate(sentences):
            if sentence.bold and not sentence.shown and sentence not in kept:
                # "What goes wrong." is the heading of the next sentence
                end = at if sentence.words >= HEADING else at + 1
                if end == len(sentences) or sentences[end] in kept:
                    continue
                chosen = backwards(sentences, at) + sentences[at + 1 : end + 1]
                if not chosen and not LEANS.match(sentence.text):
                    chosen = [sentence]
                if sum(one.words for one in chosen) > WORDS:
                    continue
                # what the slide before shows need not be said again
                if chosen and any(one.shown for one in chosen):
                    chosen = [one for one in chosen if not one.shown]
                    if LEANS.match(chosen[0].text):
                        continue
                if chosen and not any(one in kept for one in chosen):
                    return chosen
        return []

    def thing(self, thing, before, title=""):
        """One slide, or several, for something to show."""
        lead = ""
        if before:
            most = SHORT if thing.kind == "live" else WORDS
            chosen = backwards(before.sentences, len(before.sentences) - 1, most)
            if chosen and not any(one.shown for one in chosen):
                lead = together(chosen)
        last = self.slides[-1] if self.slides else None
        if thing.kind == "printed":
            if not lead and not title:
                self.aside(thing.parts[0], last)
                return
            thing.kind = "code"
        if thing.kind == "formula" and last and last.kind == "formula" and not before:
            last.show += "".join(thing.parts)
            return
        for at, part in enumerate(thing.parts):
            slide = Slide(thing.kind, thing.title or title, lead=lead, show=part)
            if thing.title and title:
                slide.where = title
            if at:
                slide.title = thing.title
            self.add(slide)
            if before and not at:
                self.note(before, slide)
            lead = "" if thing.kind != "table" else lead

    def aside(self, printed, last):
        """Printed lines that nothing leads to: below what they belong to, or a note."""
        if last and last.kind in ("panel", "code") and last.show:
            soup = BeautifulSoup(printed, "html.parser")
            if lines(soup) <= ASIDE and "byhand-chain" not in last.show:
                last.show += printed
                return
        (last.notes if last else self.waiting).append(printed)


# ---------------------------------------------------------------- a chapter


def heading(section):
    """A section's heading as HTML, without the link to itself."""
    found = copy.copy(section.find(["h1", "h2", "h3"], recursive=False))
    for link in found.select(".headerlink"):
        link.decompose()
    return found.decode_contents().strip()


def deck(name, page, following=None):
    """The slides of a chapter.

    name: the chapter's file. page: HTML of its page. following: name and question of
    the next chapter.

    Raises SlidesError for a page without an article, or without a question in bold.
    """
    article = BeautifulSoup(page, "html.parser").find("article")
    if article is None:
        raise SlidesError(f"{name}: expected an <article>, found none")
    chapter = article.find("section", recursive=False)
    try:
        first, question = beginning(chapter)
        columns = [first]
        for section in chapter.find_all("section", recursive=False):
            if section.get("id") not in AT_THE_END:
                columns.append(told(section))
    except SlidesError as error:
        raise SlidesError(f"{name}: {error}") from None
    exercises = practice(chapter)
    if exercises:
        columns.append(exercises)
    if following:
        columns.append([farewell(*following)])
    return Deck(
        name, plain(heading(chapter)), question, [one for one in columns if one]
    )


def told(section):
    """The slides of a section with those of the sections within."""
    title = heading(section)
    slides = Section(title, section.get("id", "")).read(section)
    for inner in section.find_all("section", recursive=False):
        slides += Section(heading(inner), inner.get("id", ""), title).read(inner)
    return slides


def beginning(chapter):
    """The title's slide, the first screen's pictures, and the chapter's question."""
    found = list(blocks(chapter))
    prose = [one for one in found if isinstance(one, Paragraph)]
    asked = [
        strong.decode_contents()
        for paragraph in prose
        for strong in BeautifulSoup(paragraph.html, "html.parser").find_all("strong")
        if strong.get_text().rstrip().endswith("?")
    ]
    if not asked:
        raise SlidesError("expected a question in bold on the first screen, found none")
    slide = Slide("title", heading(chapter), lead=asked[0], id=chapter.get("id", ""))
    goals = [
        sentence.html
        for paragraph in prose
        for sentence in paragraph.sentences
        if re.match(r"(You need|Afterwards)\b", sentence.text)
    ]
    slide.show = "".join(f"<p>{goal}</p>" for goal in goals)
    slide.notes = [paragraph.html for paragraph in prose]
    pictures = Section("")
    for one in found:
        if isinstance(one, Thing):
            pictures.thing(one, None)
    for picture in pictures.slides:
        picture.where = "" if picture.title else slide.title
    return [slide, *pictures.slides], plain(asked[0])


def practice(chapter):
    """Slides for short exercises by hand."""
    slides = []
    for exercise in chapter.select(".exercise"):
        about = exercise.select_one(".exercise-about")
        if not about or not re.match(r"By hand, level 1\b", about.get_text()):
            continue
        statement = []
        for node in about.find_next_siblings():
            if node.name == "p" and node.get_text().startswith("Check "):
                break
            for link in node.find_all("a"):
                bracket = link.previous_sibling
                if isinstance(bracket, NavigableString) and bracket.endswith("("):
                    bracket.replace_with(str(bracket)[:-1])
                    after = link.next_sibling
                    after.replace_with(re.sub(r"^\)\.?", "", str(after)))
                    link.decompose()
            statement.append(str(node))
        show = "".join(statement)
        if len(plain(show).split()) <= EXERCISE:
            title = exercise.select_one(".admonition-title").decode_contents()
            slides.append(Slide("exercise", title.strip(), "By hand", show=show))
    slides = slides[:EXERCISES]
    if slides:
        slides[0].id = "exercises"
    return slides


def farewell(name, title, question):
    """The last slide: what the next chapter asks."""
    link = f'<a href="{name}.html">{html.escape(title)}</a>'
    return Slide("next", html.escape(question), "Next", show=f"<p>{link}</p>")
