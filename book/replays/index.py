"""The rows and remarks of the five texts as lists: for the page ``published``, and for a terminal.

What is computed comes from the replays: `run` goes through the cells of one.
"""

import contextlib
import io
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from replays.ledger import (
    CORRECTED,
    DRAWN,
    FOLDER,
    GIVEN,
    KINDS,
    NOT_PRINTED,
    REPRODUCED,
    SIGNS,
    TEXTS,
    VERDICTS,
    Result,
    Row,
    Source,
    agrees,
    written,
)
from toytf.course.chapters import chapters

CELL = re.compile(r"^```\{code-cell\}\n(?!---)(?:.*\n)??((?!:tags)(?:.*\n)*?)^```$", re.MULTILINE)  # no figures


def run(number: int) -> tuple[Source, list[str]]:
    """Run the cells of a replay's text; returns it with a result for each row that was compared, and what did not hold.

    That is a row whose digits are not what the file says of them, or that was compared nowhere.
    """
    text, failures = Source(number), []
    space = {"__name__": text.page}
    cells = [cell for cell in CELL.findall(_markdown(text)) if "index.strip(" not in cell]  # which runs all of them
    with contextlib.redirect_stdout(io.StringIO()):
        for cell in cells:
            try:
                exec(compile(cell, text.page, "exec"), space)
            except Exception as error:  # one broken cell must not hide the others
                failures.append(f"{type(error).__name__}: {error}")
    text = space.get("text", text)
    for one in (text, text.today):
        failures += [f"{row.id}: compared nowhere" for name, row in one.rows.items() if name not in one.results]
    return text, failures


def _markdown(text: Source) -> str:
    return FOLDER.parent.joinpath("pages", f"{text.page}.md").read_text(encoding="utf-8")


def counts(text: Source) -> dict[str, int]:
    """How many rows have each verdict."""
    found = Counter(result.verdict for result in text.results.values())
    return {verdict: found[verdict] for verdict in VERDICTS}


def upheld(text: Source) -> dict:
    """The remarks of a text without those that were withdrawn."""
    return {name: said for name, said in text.remarks.items() if said.kind != "withdrawn"}


# ---------------------------------------------------------------- the picture

OK, DIFFERS, QUIET = "var(--toytf-ok,#005f95)", "var(--toytf-differs,#a83c00)", "var(--toytf-grey,#77726a)"
LOOKS = {True: f"fill:{OK}", False: f"fill:{DIFFERS}", None: f"fill:none;stroke:{QUIET}"}
PATHS = {True: "h6v6h-6z", False: "m3 -1l4 4l-4 4l-4 -4z", None: "m.5 .5h5v5h-5z"}
PITCH = 8  # from one square to the next
LEGEND = (
    f'<span style="color:{OK}">■</span> agrees in every digit · <span style="color:{DIFFERS}">◆</span> differs · '
    "□ a setting, or drawn at random: no digits to compare"
)
MENDED = " · ✎\u00a0a\u00a0formula, a cell or a sentence to mend"


@dataclass(frozen=True)
class Strip:
    """Tiles that lead to a place each: its name, its address, and a mark for each number.

    A mark is True for what agrees, False for what differs, None for what nothing can be compared with.
    """

    message: str
    tiles: list[tuple[str, str, list[bool | None]]]
    across: int = 16  # squares in a line

    def __repr__(self) -> str:
        return "\n".join([self.message, *(f"{name}: {_told(marks)}".rstrip(": ") for name, _, marks in self.tiles)])

    def _repr_html_(self) -> str:
        rows = ((f'<a href="{to}">{name}', marks) for name, to, marks in self.tiles)
        tiles = "".join(f"<li>{link}{_squares(marks, self.across)}</a></li>" for link, marks in rows)
        body = f'<ol style="--tile: {self.across / 2 + 0.6}rem">{tiles}</ol><p>{LEGEND}{MENDED * ("✎" in tiles)}</p>'
        return f'<figure class="tiles"><figcaption>{self.message}</figcaption>{body}</figure>'


def _told(marks: list) -> str:
    names = {True: "agree", False: "differ", None: "with nothing to compare"}
    return ", ".join(f"{marks.count(mark)} {name}" for mark, name in names.items() if mark in marks)


def _squares(marks: list, across: int) -> str:
    ways = dict.fromkeys(LOOKS, "")
    for k, mark in enumerate(marks):
        ways[mark] += f"M{k % across * PITCH + 1} {k // across * PITCH + 1}{PATHS[mark]}"
    paths = "".join(f'<path d="{way}" style="{LOOKS[mark]}"/>' for mark, way in ways.items() if way)
    wide, high = min(len(marks), across) * PITCH, -(-len(marks) // across) * PITCH
    return f'<svg width="{wide}" height="{high}" role="img" aria-label="{_told(marks)}">{paths}</svg>' if marks else ""


def marks(result: Result) -> list[bool | None]:
    """A mark for each number that a row prints, or one for its statement."""
    row = result.row
    if result.verdict not in (REPRODUCED, CORRECTED):
        return [None] * (row.words.size if row.prints == "digits" else row.prints == "words")
    if row.prints == "digits":
        return agrees(row.printed, result.numbers, row.decimals).ravel().tolist()
    return [result.verdict == REPRODUCED]


def strip(number: int) -> Strip:
    """The steps of a replay, in its order, with what a reader of the text finds at each of them."""
    text, _ = run(number)
    mended = {said.step for said in upheld(text).values() if said.kind in ("error", "translation")}
    tiles = []
    for title in re.findall(r"^##+ (.+)$", _markdown(text), re.MULTILINE):
        slug = re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")
        there = [one for one in text.results.values() if one.row.step == slug]
        if slug in mended or any(one.verdict not in (GIVEN, NOT_PRINTED) for one in there):
            found = [mark for one in there for mark in marks(one)]
            sign = "≠" if False in found else "✎" if slug in mended else "✓" if True in found else "□"
            place = re.sub("[^a-z0-9]+", "-", title.lower()).lstrip("-0123456789").rstrip("-")  # as docutils has it
            tiles.append((f"{sign} {title}", f"#{place}", found))
    return _counted("{} of {} printed numbers and statements come out as printed, each entry counted", tiles)


def shelf(texts: Iterable[Source]) -> Strip:
    """The five texts, a square for each number, array or statement that they print."""
    signs = {REPRODUCED: True, CORRECTED: False}
    tiles = []
    for text in texts:
        found = [signs.get(one.verdict) for one in text.results.values() if one.verdict != NOT_PRINTED]
        tiles.append((f"{text.number} {text.title[0].upper()}{text.title[1:]}", f"{text.page}.ipynb", found))
    return replace(_counted("{} of {} numbers, arrays and statements come out as printed", tiles), across=12)


def _counted(message: str, tiles: list) -> Strip:
    for *_, found in tiles:
        found.sort(key=[True, False, None].index)
    every = [mark for *_, found in tiles for mark in found]
    return Strip(message.format(every.count(True), every.count(True) + every.count(False)), tiles)


# ---------------------------------------------------------------- the page


def numbers_as_markdown(text: Source) -> str:
    """A Markdown table for each section of a text, a row for each number.

    Each links to its step of the replay and to the chapter that teaches it; what was computed stands there too, where
    it is not what is printed.
    """
    sections: dict[str, list[str]] = {}
    for name, row in text.rows.items():
        sections.setdefault(row.section, []).append(_markdown_row(text, text.results[name]))
    head = "| what | printed → computed | verdict |\n|:--|:--|:--|\n"
    return "\n\n".join(
        f"**{name[0].upper()}{name[1:]}**\n\n{head}" + "\n".join(rows) for name, rows in sections.items()
    )


def _markdown_row(text: Source, result: Result) -> str:
    row = result.row
    chapter = chapters().get(row.chapter)
    taught = f"[chapter\N{NO-BREAK SPACE}{int(row.chapter)}](../notebooks/{chapter}.ipynb#{row.home})"
    numbers = [_brackets(row.words)] if row.printed is not None else []
    if result.verdict in (CORRECTED, NOT_PRINTED) or (result.verdict == DRAWN and result.found):
        numbers.append(f"→ {result.found or _brackets(written(row, result.numbers))}")
    if row.today is not None:
        numbers.append(f"today {_brackets(np.array(row.today, dtype=object))}")
    remarks = [_remark_link(text, name) for name in row.corrected_by]
    remarks += [f"see {_remark_link(text, name)}" for name in row.see if text.remarks[name].kind != "withdrawn"]
    verdict = f"{SIGNS.get(result.verdict, '')} {result.verdict}".strip().replace(" ", "\N{NO-BREAK SPACE}")
    what = f"[{row.what}]({text.page}.ipynb#{row.step})"
    return f"| {what}, {taught} | {'<br>'.join(numbers)} | {'<br>'.join([verdict, *remarks])} |"


def _remark_link(text: Source, name: str) -> str:
    said = text.remarks[name]
    if not said.step and not said.teaches:
        return said.title
    return f"[{said.title}]({text.page}.ipynb#{said.step or 'what-does-no-harm'})"


def _brackets(words: np.ndarray) -> str:
    """One line for each row of an array, in brackets: on a narrow page a row takes several lines."""
    if words.ndim == 0:
        return words[()].replace("|", "\\|")
    return "<br>".join(f"`[{' '.join(row)}]`" for row in words.reshape(-1, words.shape[-1]))


def remarks_as_markdown(text: Source) -> str:
    """The remarks of a text as a Markdown table: what and where, which kind and whose; of which words."""
    rows = []
    for name, said in upheld(text).items():
        words = _escaped(f"“{said.quote}”") + "".join(f"<br>{_escaped(one)}" for one in (said.means, said.says) if one)
        rows.append(f"| {_remark_link(text, name)}, {said.where}<br>{said.kind}, {said.whose} | {words} |")
    return "| remark, kind, whose | of these words |\n|:--|:--|\n" + "\n".join(rows)


def _escaped(words: str) -> str:
    """Words that stand for themselves in Markdown; Chinese ones and long code may break between two lines."""
    words = re.sub(r"([\\`*_\[\]$|<>{}#~])", r"\\\1", words)
    return re.sub(r"([\u4e00-\u9fff]{4}|\\_|[=(),、])", r"\1<wbr>", words)


def counted(rows: dict[str, list[int]]) -> str:
    """A Markdown table of counts: a row for each name, a column for each text."""
    lines = [["text", *TEXTS, "all"], [":--"] + ["--:"] * 6]
    lines += [[name, *found, sum(found)] for name, found in rows.items()]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def tallies(texts: Iterable[Source]) -> tuple[str, str]:
    """How many numbers have each verdict, and how many remarks are of each kind; with whose the errors are."""
    texts = list(texts)
    verdicts = {name: [counts(text)[name] for text in texts] for name in VERDICTS}
    kinds = {
        kind: [sum(said.kind == kind for said in text.remarks.values()) for text in texts]
        for kind in KINDS
        if kind != "withdrawn"
    }
    meanings = "\n".join(f"- **{kind}**: {KINDS[kind]}" for kind in kinds)
    errors = Counter(said.whose for text in texts for said in text.remarks.values() if said.kind == "error")
    copied = sum((said.kind, said.whose) == ("error", "Chinese edition") for said in texts[3].remarks.values())
    whose = (
        f"Of the {errors.total()} errors {errors['author']} are the authors' own, {errors['Chinese edition']} are from "
        f"the Chinese edition of *The Illustrated Transformer* ({copied}, a heading, counts for the PyTorch post, "
        f"which took it over), {errors['listing']} from a listing by somebody else."
    )
    return counted(verdicts), f"{counted(kinds)}\n\n{meanings}\n\n{whose}"


# ---------------------------------------------------------------- a terminal

WIDTH = 110


def listed(text: Source) -> list[str]:
    """A line for each row, then one for each remark."""
    names = max(len(row.id) for row in text.rows.values())
    verdicts = max(len(result.verdict) for result in text.results.values())

    def line(result: Result) -> str:
        row: Row = result.row
        computed = [] if result.numbers is None else written(row, result.numbers).ravel().tolist()
        found = result.found or " ".join(computed)
        printed = " ".join(row.words.ravel().tolist())
        said = printed if found in ("", printed) else f"{printed} → {found}".strip()
        return _cut(f"{row.id:{names}}  {result.verdict:{verdicts}}  {said}")

    remarks = (f"{n}  {s.kind:14}  {s.whose:15}  {s.title} ({s.where})" for n, s in upheld(text).items())
    return [*(line(text.results[name]) for name in text.rows if name in text.results), "", *map(_cut, remarks)]


def _cut(line: str) -> str:
    line = line.rstrip()
    return line if len(line) <= WIDTH else line[: WIDTH - 1].rpartition(" ")[0] + " …"
