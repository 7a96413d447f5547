"""Train again what chapters 16, 18 and 19 report: `python bench/train_experiments.py again.json [NAME ...]`.

The settings are those that stand beside the stored results, in ``toytf/course/data/experiments.json``. Runs that the
new file already holds are not repeated: all take an hour, and stopped and started again, it goes on where it was. A new
experiment is one call: ``run_all(path, [Experiment("five heads", {"n_heads": 5, "d_head": 3})])``.
"""

import json
import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from toytf._command import progress, write_whole
from toytf.course.experiments import EXPERIMENTS, Experiment, read, run


def settings(experiment: Experiment) -> dict:
    """All that a result depends on, apart from the seed, as JSON would give it back."""
    about = asdict(experiment)
    return json.loads(json.dumps({key: about[key] for key in ("switches", "silent", "learning", "data")}))


def run_all(path, experiments: Iterable[Experiment], report=print) -> None:
    """Run what a file does not hold yet under these settings; each result is written into it as soon as it is there.

    `report` gets a line for each run.
    """
    path = Path(path)
    found = read(path) if path.exists() else {}
    waiting = []
    for experiment in experiments:
        kept = found.get(experiment.name, {"settings": None, "runs": {}})
        runs = kept["runs"] if kept["settings"] == settings(experiment) else {}
        found[experiment.name] = {"settings": settings(experiment), "runs": runs}
        waiting += [(experiment, seed) for seed in range(experiment.seeds) if str(seed) not in runs]
    report(f"{len(waiting)} runs to do")
    with progress(waiting, unit="run") as bar:
        for experiment, seed in bar:
            result = run(experiment, seed)
            found[experiment.name]["runs"][str(seed)] = asdict(result)
            content = {"format": "toytf experiments", "version": 1}
            content["experiments"] = {name: kept for name, kept in found.items() if kept["runs"]}
            write_whole(path, f"{json.dumps(content, indent=1)}\n".encode())
            bar.clear()
            report(f"{experiment.name}, seed {seed}: {result}")


if __name__ == "__main__":
    run_all(sys.argv[1], [EXPERIMENTS[name] for name in sys.argv[2:] or EXPERIMENTS])
