"""Compute again what five texts printed, and compare every digit: `python -m replays [SOURCE]`, in the folder book.

First the numbers, a line each: id, verdict, what was printed, what is computed (the right value where it is
corrected), remark; a line counts the verdicts. Then the remarks: id, kind, whose it is, what it is about (where).
The exit status is 1 if a number that should reproduce does not.
"""

import sys
from collections import Counter

import numpy as np

from replays.ledger import CORRECTED, FAILED, KINDS, REMARKS, Ledger, Remark, Result, agrees, counts
from replays.recompute import LEDGER
from replays.show import written
from toytf._command import show
from toytf.ops import Array

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


def main(source: int | None = None, ledger: Ledger = LEDGER) -> int:
    """Print a line for each entry and each remark, of one source or of all, and the counts; return the exit status."""
    results, remarks = ledger.results(source), ledger.remarks_on(source)
    failures = [result for result in results if result.status == FAILED]
    for failure in failures:
        print(f"{FAILED} {failure.entry.id}: {failure.failure}", file=sys.stderr)
    said = [*_remark_lines(remarks), _remark_summary(remarks)]
    show("\n".join([*_report(results), _summary(results), "", *said]))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
