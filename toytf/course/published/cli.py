"""The command ``toytf published``: a line for each entry, the counts, the exit status."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from dataclasses import asdict

import numpy as np

from toytf._command import show
from toytf.course.chapters import chapters
from toytf.course.published.ledger import (
    CORRECTED,
    ENTRIES,
    FAILED,
    KINDS,
    REMARKS,
    SOURCES,
    STATUSES,
    Ledger,
    Remark,
    Result,
    agrees,
    counts,
)
from toytf.course.published.recompute import LEDGER
from toytf.course.published.show import written
from toytf.ops import Array


def run(options, ledger: Ledger = LEDGER) -> int:
    """Recompute, print a line for each entry and the counts, and return the exit status."""
    results = ledger.results(options.source, options.chapter)
    failures = [result for result in results if result.status == FAILED]
    shown = [r for r in results if options.only in (None, r.status) or r.status == FAILED]
    for failure in failures:
        print(f"{FAILED} {failure.entry.id}: {failure.failure}", file=sys.stderr)
    remarks = ledger.remarks_on(options.source, options.chapter)
    if options.json:
        show(_as_json(shown, results, remarks))
    else:
        said = [] if options.only else ["", *_remark_lines(remarks), _remark_summary(remarks)]
        show("\n".join([*_report(shown), _summary(results), *said]))
    return 1 if failures else 0


# ---------------------------------------------------------------- the arguments


LAST_CHAPTER = int(max([*chapters(), *(entry.chapter for entry in ENTRIES.values())]))
EXAMPLES = (
    "toytf published",
    "toytf published --source 0 --chapter 04",
    "toytf published --only corrected --json",
)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "Compute again what five texts printed about the Transformer, and compare every digit."
    parser.epilog = (
        "First the numbers, a line each: id, verdict, what was printed, what is computed (the right value where it is "
        "corrected), remark; a line counts the verdicts. Without --only the remarks on the texts follow: id, kind, "
        "whose it is, what it is about (where); only the kind error counts as one. Exit status: 0 if all is "
        "as it should be, 1 if a number that should reproduce does not, 2 if the arguments are wrong."
    )
    listed = ", ".join(f"{i} {name}" for i, name in enumerate(SOURCES))
    parser.add_argument("--source", type=_source, metavar="N", help=f"only one source: {listed}")
    parser.add_argument("--chapter", type=_chapter, metavar="NN", help=f"only one chapter, 01 to {LAST_CHAPTER}")
    parser.add_argument("--only", type=_status, metavar="STATUS", help=f"only one verdict: {', '.join(STATUSES)}")
    parser.add_argument("--json", action="store_true", help="print JSON, with nothing shortened")


def _source(text: str) -> int:
    if text not in map(str, range(len(SOURCES))):
        raise argparse.ArgumentTypeError(f"expected a source from 0 to {len(SOURCES) - 1}, got {text!r}")
    return int(text)


def _chapter(text: str) -> str:
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= LAST_CHAPTER):
        raise argparse.ArgumentTypeError(f"expected a chapter from 01 to {LAST_CHAPTER}, got {text!r}")
    return f"{int(text):02d}"


def _status(text: str) -> str:
    status = text.replace("-", " ").strip().lower()
    if status not in STATUSES:
        raise argparse.ArgumentTypeError(f"expected one of {', '.join(map(repr, STATUSES))}, got {text!r}")
    return status


# ---------------------------------------------------------------- the report

WIDTH, NUMBERS = 110, 19  # columns of a line, and of each of the two numbers in it


def _report(results: list[Result]) -> list[str]:
    """A line for each result, in columns."""
    names = max((len(r.entry.id) for r in results), default=0)
    verdicts = max((len(r.status) for r in results), default=0)
    room = WIDTH - names - verdicts - 2 * NUMBERS - 4 * 2
    lines = []
    for r in results:
        found, start = _shown(r)
        words = written(r.entry, found)
        if words.ndim or r.status == CORRECTED:
            last = f"{_shortened(words, start):{NUMBERS}}  {_cut(_reasons(r), room)}"
        else:  # one word or a statement, and no remark that needs the room
            last = _cut(words[()], NUMBERS + 2 + room)
        cells = (r.entry.id.ljust(names), r.status.ljust(verdicts), _shortened(r.entry.words, start).ljust(NUMBERS))
        lines.append("  ".join([*cells, last]).rstrip())
    return lines


def _reasons(result: Result) -> str:
    """The ids of all remarks first, so that none is lost when the line is shortened; empty unless corrected."""
    if result.status != CORRECTED:
        return ""
    names = result.entry.corrected_by
    said = "; ".join(f"{REMARKS[name].title} ({REMARKS[name].kind})" for name in names)
    return f"{', '.join(names)}: {said}"


def _shown(result: Result) -> tuple[object, int]:
    """What a single column shows of a result, and where it first differs from what was printed.

    That is the right value, except where the printed digits are right and what they are said to
    follow from is not: then it is what does follow.
    """
    entry, found, matches = result.entry, result.right, result.matches
    if result.status == CORRECTED and matches is not None:
        right_matches = agrees(entry.printed, found, entry.decimals)
        found, matches = (result.computed, matches) if right_matches.all() else (found, right_matches)
    return found, 0 if matches is None else int(np.argmin(matches.ravel()))


def _shortened(words: Array, start: int) -> str:
    """Words on one line; what does not fit becomes "…", but never the word at `start`."""
    flat = words.ravel().tolist()
    if len(flat) == 1 or len(" ".join(flat)) <= NUMBERS:
        return _cut(" ".join(flat), NUMBERS)
    if len(" ".join(flat[: start + 1])) + 2 <= NUMBERS:
        start = 0  # it fits from the beginning on

    def text(stop):
        return ("… " if start else "") + " ".join(flat[start:stop]) + (" …" if stop < len(flat) else "")

    stop = start + 1
    while stop < len(flat) and len(text(stop + 1)) <= NUMBERS:
        stop += 1
    return text(stop)


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else text[: room - 1] + "…"


def _summary(results: list[Result]) -> str:
    tally = ", ".join(f"{n} {status}" for status, n in counts(results).items())
    return f"{len(results)} published: {tally}"


# ---------------------------------------------------------------- the remarks


def _remark_lines(remarks: dict[str, Remark]) -> list[str]:
    """A line for each remark, in columns."""
    kinds = max((len(said.kind) for said in remarks.values()), default=0)
    owners = max((len(said.whose) for said in remarks.values()), default=0)
    return [
        _cut(f"{name}  {said.kind:{kinds}}  {said.whose:{owners}}  {said.title} ({said.where})", WIDTH)
        for name, said in remarks.items()
    ]


def _remark_summary(remarks: dict[str, Remark]) -> str:
    tally = Counter(said.kind for said in remarks.values())
    return f"{len(remarks)} remarks: " + ", ".join(f"{tally[kind]} {kind}" for kind in KINDS)


def _as_json(shown: list[Result], results: list[Result], remarks: dict[str, Remark]) -> str:
    rows = []
    for result in shown:
        fields = asdict(result)
        rows.append(fields.pop("entry") | fields)
    said = [{"id": name} | asdict(remark) for name, remark in remarks.items()]
    kinds = dict(Counter(remark.kind for remark in remarks.values()))
    whole = {"results": rows, "counts": counts(results), "remarks": said, "kinds": kinds}
    return json.dumps(whole, indent=1, default=lambda x: x.tolist())
