"""The command ``toytf published``: a line for each entry, the counts, the exit status."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict

import numpy as np

from toytf._command import show
from toytf.course.chapters import chapters
from toytf.course.published.ledger import (
    CORRECTED,
    ENTRIES,
    ERRATA,
    FAILED,
    SOURCES,
    STATUSES,
    Ledger,
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
    show(_as_json(shown, results) if options.json else "\n".join([*_report(shown), _summary(results)]))
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
        "Each line: id, verdict, what was printed, what is computed (the right value where it is "
        "corrected), erratum. The last line counts the verdicts. Exit status: 0 if all is as it should be, "
        "1 if a number that should reproduce does not, 2 if the arguments are wrong."
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
            last = f"{_shortened(words, start):{NUMBERS}}  {_cut(_errata(r), room)}"
        else:  # one word or a statement, and no erratum that needs the room
            last = _cut(words[()], NUMBERS + 2 + room)
        cells = (r.entry.id.ljust(names), r.status.ljust(verdicts), _shortened(r.entry.words, start).ljust(NUMBERS))
        lines.append("  ".join([*cells, last]).rstrip())
    return lines


def _errata(result: Result) -> str:
    """The ids of all errata first, so that none is lost when the line is shortened; empty unless corrected."""
    if result.status != CORRECTED:
        return ""
    names = result.entry.erratum
    return f"{', '.join(names)}: {'; '.join(ERRATA[name].title for name in names)}"


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


def _as_json(shown: list[Result], results: list[Result]) -> str:
    rows = []
    for result in shown:
        fields = asdict(result)
        rows.append(fields.pop("entry") | fields)
    return json.dumps({"results": rows, "counts": counts(results)}, indent=1, default=lambda x: x.tolist())
