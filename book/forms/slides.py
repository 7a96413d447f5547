"""Slides for each chapter, of its built page: figures, panels and formulas are the page's own.

One slide shows one thing:

- *title*: the chapter's name, its question in bold, what is needed, and what one can do afterwards;
- *section*: for each heading a slide with its question, or its first sentence; if a panel, a formula or a listing
  follows the first short paragraph, both share that slide;
- *figure*, *panel*, *live*, *formula*, *code*, *table*, *list*: one slide each, below the sentence that leads to it;
- *said*: a sentence that the text sets in bold;
- *exercise*: up to three short ones by hand, of level 1, without solutions;
- *next*: the next chapter's question.

All prose, shown or not, stands in the notes of the slide at which it is said. What stays on the page: code that is
folded there, and code in sight that only prepares (it prints nothing and defines nothing). What does not fit on a slide
slides.js parts in the browser, where it can be measured.
"""

import html
import re
import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path

from bs4 import Comment, NavigableString

from pages import ROOT, FormError, config, read, relink, soup

HERE = Path(__file__).resolve().parent
WORDS = 40  # of prose on a slide
HEADING = 5  # words; a sentence in bold with fewer is a heading
EXERCISE, EXERCISES = 60, 3  # words of one, and how many
AT_THE_END = ("exercises", "where-to-read-on")
OF_THE_SITE = "toytf code documentation_options doctools sphinx_highlight furo".split()  # scripts
# A sentence that begins so speaks of the one before it.
LEANS = re.compile(
    r"(This|That|These|Those|It|Its|They|Their|Them|He|She|His|Her|Both|Such|Which|Also|Then|And|But|Or|Otherwise"
    r"|Another|Neither|Either|There|Nor|Yet|(Each|Two|One|None) of"
    r"|The (same|others?|last|first|second|third|two|three|latter|rest|former))\b|[a-z(]|(\S+ ){1,4}(it|them|they)\b"
)


@dataclass
class Slide:
    """One slide; what it holds is HTML. `where`: the section it belongs to, if that is not its title."""

    kind: str
    title: str = ""
    where: str = ""
    lead: str = ""
    show: str = ""
    notes: list = field(default_factory=list)
    id: str = ""


# ---------------------------------------------------------------- sentences


def plain(source):
    """The words of a piece of HTML; a formula counts as one."""
    made = soup(source)
    for formula in made.select(".math"):
        formula.replace_with("∎")
    return " ".join(made.get_text().split())


def words(sentences):
    """How many words some sentences have."""
    return sum(len(plain(one).split()) for one in sentences)


TAG, ENDED = "\ue000", "\ue001"  # a tag in a paragraph; one in which a sentence ends
END = re.compile(
    rf"(?<=[.?!{ENDED}])\s+(?=[\"“(]?[A-Z0-9{TAG}{ENDED}])|(?<=[.?!][\"”’)])\s+(?=[\"“(]?[A-Z0-9{TAG}{ENDED}])"
)


def sentences(paragraph):
    """The sentences of a paragraph, as HTML. What stands inside of a tag or of brackets is never parted."""
    text, tags = "", []
    for child in paragraph.children:
        if isinstance(child, Comment):
            continue
        if isinstance(child, NavigableString):
            text += html.escape(child, quote=False)
        else:
            tags.append(str(child))
            text += ENDED if re.search(r"[.?!][\"”’)]*$", plain(tags[-1])) else TAG
    found, left = [], iter(tags)
    for part in END.split(text.strip()):
        part = re.sub(f"[{TAG}{ENDED}]", lambda _: next(left), part)
        if found and found[-1].count("(") > found[-1].count(")"):
            part = f"{found.pop()} {part}"
        found.append(part)
    return [one for one in found if plain(one)]


def with_what_it_leans_on(sentences, at):
    """The sentence at a place and those before it that it speaks of; none if they are too many."""
    start = at
    while start and LEANS.match(plain(sentences[start])):
        start -= 1
    chosen = sentences[start : at + 1]
    return chosen if words(chosen) <= WORDS and not LEANS.match(plain(chosen[0])) else []


def opening(sentences):
    """What stands below a heading: up to the first question, or the first sentence."""
    asked = next((at for at, one in enumerate(sentences[:4]) if plain(one).endswith("?")), 0)
    return next((some for some in (sentences[: asked + 1], sentences[:1]) if words(some) <= WORDS), [])


def claim(sentences, taken):
    """The first thing said in bold that is not taken, with what it leans on."""
    for at, one in enumerate(sentences):
        bold = [plain(str(strong)) for strong in soup(one).find_all("strong")]
        if one in taken or not any(len(some.split()) > 3 or some[-1:] in ".?!:" for some in bold):
            continue
        # "What goes wrong." is the heading of the next sentence
        chosen = with_what_it_leans_on(sentences, at) or [one]
        chosen += sentences[at + 1 : at + 2] if words([one]) < HEADING else []
        if words(chosen) <= WORDS and taken.isdisjoint(chosen):
            return chosen
    return []


# ---------------------------------------------------------------- what stands on a page


def blocks(section):
    """What stands in a section, without the sections within: (kind, HTML or element) of each thing."""
    for node in section.find_all(True, recursive=False):
        classes = node.get("class", [])
        if node.name in ("p", "blockquote"):
            yield "prose", node
        elif node.name in ("ul", "ol"):
            yield "list", str(node)
        elif "math-wrapper" in classes:
            yield "formula", str(node)
        elif "table-wrapper" in classes:
            yield "table", str(node)
        elif "cell" in classes and "tag_hide-cell" not in classes:
            yield from cell(node)


def cell(node):
    """What a cell shows: its listing with what it prints, and each picture, panel and table."""
    source = node.select_one(":scope > .cell_input:not(.more-code)")
    outputs = node.select(":scope > .cell_output > *")
    rich = {"text_html", "table-wrapper"}
    drawn = [output for output in outputs if output.name == "figure" or rich.intersection(output.get("class", ()))]
    printed = "".join(str(output) for output in outputs if output not in drawn)
    if source and (printed or re.search(r"^(def|class) ", source.get_text(), re.M)):
        yield "code", listing(source) + printed
    for output in drawn:
        kinds = {".live": "live", "figcaption": "figure", ".byhand": "panel", "table": "table"}
        kind = next((kind for tag, kind in kinds.items() if output.select_one(tag)), "figure")
        yield kind, str(output)
    if printed and not source:
        yield "code", printed


def listing(source):
    """A listing in pieces that end at empty lines, so that a long one can be parted there."""
    pieces = [""]
    for piece in source.pre.decode_contents().strip("\n").split("\n\n"):
        whole = pieces[-1].count("<span") == pieces[-1].count("</span")
        pieces = [*pieces, piece] if whole else [*pieces[:-1], f"{pieces[-1]}\n\n{piece}"]
    made = "".join(f"<pre>{one}</pre>" for one in pieces if one)
    return f'<div class="highlight">{made}</div>'


def heading(section):
    """A section's heading as HTML, without the link to itself."""
    found = soup(str(section.find(["h1", "h2", "h3"], recursive=False)))
    for link in found.select(".headerlink"):
        link.decompose()
    return found.find().decode_contents().strip()


# ---------------------------------------------------------------- a chapter


def told(section, where=""):
    """The slides of a section, then those of the sections within."""
    title, place = heading(section), section.get("id", "")
    slides, taken, waiting, lead = [], set(), [], []

    def add(kind, lead=(), show=""):
        first, own = not slides, ""
        if kind == "figure":
            own, show = without_caption(show)
        above = title if own or not first else where
        slides.append(Slide(kind, own or title * first, above, " ".join(lead), show, [*waiting], place * first))
        taken.update(lead)
        waiting.clear()

    found = list(blocks(section))
    for (kind, content), (following, _) in zip(found, [*found[1:], ("", "")], strict=False):  # a heading alone has none
        if kind == "prose":
            some, leads = sentences(content), following not in ("", "prose")
            shares = leads and following not in ("live", "figure") and words(some) <= WORDS
            if not slides and not shares:
                add("section", opening(some))
            if slides:
                lead = with_what_it_leans_on(some, len(some) - 1) if leads else []
                lead = lead if taken.isdisjoint(lead) else []
                if said := claim(some, taken.union(lead)):
                    add("said", said)
            else:
                lead = some
            (waiting if leads else slides[-1].notes).append(str(content))
        elif kind == "formula" and not lead and slides and slides[-1].kind == kind:
            slides[-1].show += content
        else:
            add(kind, lead, content)
            lead = []
    for inner in section.find_all("section", recursive=False):
        slides += told(inner, title)
    return slides


def without_caption(figure):
    """A figure's message, and the figure without it."""
    made = soup(figure)
    caption = made.figcaption.extract() if made.figcaption else soup("<p></p>").p
    return caption.decode_contents(), str(made)


def beginning(chapter):
    """The title's slide, and the pictures of the first screen."""
    first = soup(f"<section>{''.join(str(one) for one in chapter.children if one.name != 'section')}</section>").section
    asked = [strong for strong in first.select("p strong") if strong.get_text().rstrip().endswith("?")]
    if not asked:
        raise FormError(f"{chapter.get('id')}: expected a question in bold on the first screen, found none")
    goals = [one for p in first.select("p") for one in sentences(p) if re.match(r"(You need|Afterwards)\b", plain(one))]
    title = Slide(
        "title",
        heading(chapter),
        lead=asked[0].decode_contents(),
        id=chapter.get("id", ""),
    )
    title.show = "".join(f"<p>{goal}</p>" for goal in goals)
    slides = told(first)
    title.notes = [note for slide in slides for note in slide.notes]
    pictures = [replace(slide, notes=[], id="") for slide in slides if slide.show]
    return [title, *pictures]


def practice(chapter):
    """Slides for short exercises by hand."""
    slides = []
    for exercise in chapter.select(".exercise"):
        about = exercise.select_one(".exercise-about")
        if not about or not re.match(r"By hand, level 1\b", about.get_text()):
            continue
        statement = "".join(
            str(node) for node in about.find_next_siblings() if not node.get_text().startswith("Check ")
        )
        # "(Sums)", where to read on
        statement = re.sub(r"\s*\(<a [^>]*>((?!</a>).)*</a>\)\.?", "", statement, flags=re.DOTALL)
        if words([statement]) <= EXERCISE:
            title = exercise.select_one(".admonition-title").decode_contents().strip()
            slides.append(Slide("exercise", title, "By hand", show=statement))
    return slides[:EXERCISES]


def deck(chapter):
    """The slides of a chapter, which is a page's section."""
    slides = beginning(chapter)
    for section in chapter.find_all("section", recursive=False):
        if section.get("id") not in AT_THE_END:
            slides += told(section)
    return slides + practice(chapter)


def following(page, question):
    """The last slide of a chapter: the next one's question, and the way to it."""
    link = f'<p><a href="{page.key}.html">{html.escape(page.title)}</a></p>'
    return Slide("next", question, "Next", show=link)


# ---------------------------------------------------------------- written


def written(slide):
    """A slide as HTML."""
    level = "h1" if slide.kind == "title" else "h2"
    place = f' id="{html.escape(slide.id)}"' if slide.id else ""
    parts = [
        slide.where and f'<p class="where">{slide.where}</p>',
        slide.title and f"<{level}>{slide.title}</{level}>",
        slide.lead and f'<p class="lead">{slide.lead}</p>',
        slide.show and f'<div class="show"><div class="fit">{slide.show}</div></div>',
        f"<template>{''.join(slide.notes)}</template>",
    ]
    inner = "\n".join(filter(None, parts))
    return f'<section class="slide of-{slide.kind}"{place}>\n{inner}\n</section>'


DECK = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
{links}
</head><body data-theme="light">
{article}
</body></html>
"""


def make(site, out, root=ROOT):
    """Write the slides of a built site into the folder `out`/slides; returns it."""
    out, title = Path(out, "slides"), config(root)["title"]
    chapters = read(Path(site), root, of="notebooks/")
    decks = [deck(page.article.find("section", recursive=False)) for page in chapters]
    questions = [(page, slides[0].lead) for page, slides in zip(chapters, decks, strict=True)]
    for slides, after in zip(decks, questions[1:], strict=False):
        slides.append(following(*after))
    for page, slides in zip(chapters, decks, strict=True):
        page.article = soup(f'<article class="slides">{"".join(map(written, slides))}</article>').article
    relink(chapters, lambda page, place: f"{page.key}.html#{place}")
    shutil.rmtree(out, ignore_errors=True)
    (out / "assets").mkdir(parents=True)
    for page in chapters:
        write_page(page, out, title)
    lines = [
        f'<li><a href="{page.key}.html">{html.escape(page.title)}</a> <span>{question}</span></li>'
        for page, question in questions
    ]
    index = (HERE / "slides.html").read_text("utf-8")
    (out / "index.html").write_text(index.replace("{title}", title).replace("{lines}", "\n".join(lines)), "utf-8")
    return out


def write_page(page, out, title):
    """Write a chapter's slides, with the files that they need."""
    styles = [*page.styles(), HERE / "slides.css"]
    scripts = [*(file for file in page.scripts() if file.stem not in OF_THE_SITE), HERE / "slides.js"]
    pictures = [(page.path.parent / image["src"]).resolve() for image in page.article.select("img")]
    for image, picture in zip(page.article.select("img"), pictures, strict=True):
        image["src"] = f"assets/{picture.name}"
    for file in (*styles, *scripts, *pictures):
        shutil.copyfile(file, out / "assets" / file.name)
    links = [f'<link rel="stylesheet" href="assets/{file.name}">' for file in styles]
    links += [f'<script defer src="assets/{file.name}"></script>' for file in scripts]
    text = DECK.format(title=html.escape(f"{page.key}: {title}"), links="\n".join(links), article=page.article)
    (out / f"{page.key}.html").write_text(text, "utf-8")
