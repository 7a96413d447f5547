"""Run the replays and list what five texts printed: `python -m replays [SOURCE]`, in the folder book.

A line for each number, with its verdict, what was printed and what is computed; then a line for each remark. The exit
status is 1 if a number is not what `source0.json` to `source4.json` say of it.
"""

import sys

from replays.index import counts, listed, run
from replays.ledger import TEXTS
from toytf._command import show


def main(*numbers: int) -> int:
    """List the texts of these numbers, or all; return the exit status."""
    failed = False
    for number in numbers or TEXTS:
        text, failures = run(number)
        print(*(f"FAILED {one}" for one in failures), sep="\n" if failures else "", end="", file=sys.stderr)
        tally = ", ".join(f"{n} {verdict}" for verdict, n in counts(text).items())
        show("\n".join([text.title, *listed(text), "", f"{len(text.rows)} published: {tally}", ""]))
        failed = failed or bool(failures)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
