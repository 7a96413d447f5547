"""The command ``toytf experiments``: what chapters 18 and 19 report, trained again."""

from __future__ import annotations

import argparse
from functools import partial

from toytf._command import place_for
from toytf.course.experiments import EXPERIMENTS, run_all

EXAMPLES = (
    "toytf experiments --list",
    "toytf experiments --out experiments.json",
    'toytf experiments --out experiments.json --only "no residual" --seeds 1',
)
STOPPED = "finished runs are kept, the same command goes on from here"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Train the course's translator again and again with one thing changed, and write down how well each learned. "
        "Runs that the file already holds are not repeated."
    )
    parser.add_argument("--out", metavar="FILE", help="the results (.json); an existing file is continued")
    parser.add_argument("--only", action="append", metavar="NAME", help="only this experiment; may be repeated")
    parser.add_argument("--seeds", type=int, metavar="N", help="only seeds 0 to N - 1")
    parser.add_argument("--list", action="store_true", help="show the experiments' names and stop")


def run(options) -> int:
    if options.list:
        for experiment in EXPERIMENTS.values():
            print(f"{experiment.name}: {experiment.changed}; {experiment.seeds} seeds")
        return 0
    if options.out is None:
        raise ValueError("--out: expected the file for the results, got none")
    place_for("--out", options.out)
    if options.seeds is not None and options.seeds < 1:
        raise ValueError(f"--seeds: expected at least 1, got {options.seeds}")
    unknown = [name for name in options.only or () if name not in EXPERIMENTS]
    if unknown:
        raise ValueError(f"--only: expected a name that --list shows, got {unknown[0]!r}")
    chosen = [EXPERIMENTS[name] for name in options.only or EXPERIMENTS]
    run_all(options.out, chosen, options.seeds, partial(print, flush=True))
    return 0
