"""The rows and remarks of the five texts as lists: for the page ``published``, and for a terminal.

What is computed comes from the replays: `run` goes through the cells of one.
"""

from __future__ import annotations

import contextlib
import io
import re
from collections import Counter
from collections.abc import Iterable

import numpy as np

from replays.ledger import (
    CORRECTED,
    DRAWN,
    FOLDER,
    KINDS,
    NOT_PRINTED,
    SIGNS,
    VERDICTS,
    Result,
    Row,
    Source,
    written,
)
from toytf.course.chapters import chapters

CELL = re.compile(r"^```\{code-cell\}\n(?:.*\n)??((?!:tags)(?:.*\n)*?)^```$", re.MULTILINE)


def run(number: int) -> tuple[Source, list[str]]:
    """Run the cells of a replay's text.

    Returns
    -------
    Source
        With a result for each row that was compared.
    list of str
        What did not hold: a row whose digits are not what the file says of them, or that was compared nowhere.
    """
    text, failures = Source(number), []
    space = {"__name__": text.page}
    cells = CELL.findall(FOLDER.parent.joinpath("pages", f"{text.page}.md").read_text(encoding="utf-8"))
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


def counts(text: Source) -> dict[str, int]:
    """How many rows have each verdict."""
    found = Counter(result.verdict for result in text.results.values())
    return {verdict: found[verdict] for verdict in VERDICTS}


def upheld(text: Source) -> dict:
    """The remarks of a text without those that were withdrawn."""
    return {name: said for name, said in text.remarks.items() if said.kind != "withdrawn"}


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
    """The remarks of a text as a Markdown table: what and where, of which words, which kind and whose."""
    rows = []
    for name, said in upheld(text).items():
        words = _escaped(f"“{said.quote}”") + "".join(f"<br>{_escaped(one)}" for one in (said.means, said.says) if one)
        rows.append(f"| {_remark_link(text, name)}, {said.where} | {words} | {said.kind}, {said.whose} |")
    return "| remark | of these words | kind, whose |\n|:--|:--|:--|\n" + "\n".join(rows)


def _escaped(words: str) -> str:
    """Words that stand for themselves in Markdown; Chinese ones and long code may break between two lines."""
    words = re.sub(r"([\\`*_\[\]$|<>{}#~])", r"\\\1", words)
    return re.sub(r"([\u4e00-\u9fff]{4}|\\_|[=(),、])", r"\1<wbr>", words)


HEADS = ("Ran\u00addom", "Illus\u00adtrated", "sheet", "Py\u00adTorch", "notes")


def counted(rows: dict[str, list[int]]) -> str:
    """A Markdown table of counts: a row for each name, a column for each text; long words may break on a phone."""
    lines = ["| what | " + " | ".join(HEADS) + " | all |", "|:--|" + "--:|" * (len(HEADS) + 1)]
    lines += ["| " + " | ".join(map(str, [name, *found, sum(found)])) + " |" for name, found in rows.items()]
    return "\n".join(lines).replace("reprod", "repro\u00add").replace("plific", "plifi\u00adc")


def tallies(texts: Iterable[Source]) -> tuple[str, str]:
    """How many numbers have each verdict, and how many remarks are of each kind; with whose the errors are."""
    texts = list(texts)
    verdicts = {name: [counts(text)[name] for text in texts] for name in VERDICTS}
    kinds = {
        f"{kind}: {meaning}": [sum(said.kind == kind for said in text.remarks.values()) for text in texts]
        for kind, meaning in KINDS.items()
        if kind != "withdrawn"
    }
    errors = Counter(said.whose for text in texts for said in text.remarks.values() if said.kind == "error")
    copied = sum((said.kind, said.whose) == ("error", "Chinese edition") for said in texts[3].remarks.values())
    whose = (
        f"Of the {errors.total()} errors {errors['author']} are the authors' own, {errors['Chinese edition']} are from "
        f"the Chinese edition of *The Illustrated Transformer* ({copied} of them stands in the PyTorch post, too), "
        f"{errors['listing']} from a listing by somebody else."
    )
    return counted(verdicts), f"{counted(kinds)}\n\n{whose}"


# ---------------------------------------------------------------- a terminal

WIDTH = 110


def listed(text: Source) -> list[str]:
    """A line for each row, then one for each remark."""
    names = max(len(row.id) for row in text.rows.values())
    verdicts = max(len(result.verdict) for result in text.results.values())

    def line(result: Result) -> str:
        row: Row = result.row
        found = result.found or " ".join(
            written(row, result.numbers).ravel().tolist() if result.numbers is not None else []
        )
        printed = " ".join(row.words.ravel().tolist())
        said = printed if found in ("", printed) else f"{printed} → {found}".strip()
        return _cut(f"{row.id:{names}}  {result.verdict:{verdicts}}  {said}")

    remarks = (f"{n}  {s.kind:14}  {s.whose:15}  {s.title} ({s.where})" for n, s in upheld(text).items())
    return [*(line(text.results[name]) for name in text.rows if name in text.results), "", *map(_cut, remarks)]


def _cut(line: str) -> str:
    line = line.rstrip()
    return line if len(line) <= WIDTH else line[: WIDTH - 1].rpartition(" ")[0] + " …"
