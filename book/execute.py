"""Make notebooks of their texts: `python book/execute.py [file ...]`, by default all.

A file is a text or its notebook; book/text.py says which belongs to which. One runs on
each core. What is published is what this writes, so the same text must give the same
bytes: nothing that depends on the clock or the machine is kept. A notebook is written
when all of its cells have run.
"""

import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, DeadKernelError

from text import (
    METADATA,
    PairError,
    chosen_pairs,
    notebook_from_text,
    remember,
)
from toytf._command import write_whole


def run(notebook, folder, starts=3):
    """Run all cells in a kernel of their own."""
    try:
        NotebookClient(
            notebook,
            kernel_name="python3",
            timeout=300,
            record_timing=False,
            extra_arguments=["--log-level=ERROR"],
            coalesce_streams=True,  # else how print() is cut up depends on the clock
            resources={"metadata": {"path": str(folder)}},
        ).execute()
    except DeadKernelError:  # a cell has ended it
        raise
    except RuntimeError:
        # A port is looked up before the kernel takes it; in between somebody else can.
        if starts == 1:
            raise
        run(notebook, folder, starts - 1)


def execute(pair, force):
    """Run the notebook of a text; True when its file had to change."""
    before = pair.notebook.read_bytes() if pair.notebook.exists() else None
    notebook, text = notebook_from_text(pair, force)
    pair.notebook.parent.mkdir(exist_ok=True)
    run(notebook, pair.notebook.parent)
    notebook.metadata = nbformat.from_dict(METADATA)
    now = pair.notebook.read_bytes() if pair.notebook.exists() else None
    if now != before:
        name = pair.name(pair.notebook)
        raise PairError(f"{name}: edited while its text was executed; nothing written")
    changed = write_whole(pair.notebook, (nbformat.writes(notebook) + "\n").encode())
    remember(pair, text)
    return changed


def attempt(pair, force):
    """Run one notebook; return its report and whether all went well."""
    start = time.perf_counter()
    name = pair.notebook.name
    try:
        changed = execute(pair, force)
    except CellExecutionError as error:
        return f"{name}: failed, and is as it was\n{error}", False
    except PairError as error:
        return str(error), False
    seconds = time.perf_counter() - start
    said = "written" if changed else "unchanged"
    return f"{name}: {seconds:.1f} s, {said}", True


def main(arguments):
    # Products of this size gain nothing from a second thread. It only waits, and on a
    # busy machine for long.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    pairs, force = chosen_pairs(arguments, "Make notebooks of their texts.")
    # The last chapters are the longest. Then pages: one reads the chapters' exercises.
    pairs.sort(key=lambda pair: pair.text.name, reverse=True)
    pairs.sort(key=lambda pair: pair.text.parent.name)
    good = True
    with ProcessPoolExecutor(max_workers=min(len(pairs), os.cpu_count() or 1)) as pool:
        for report, went_well in pool.map(attempt, pairs, [force] * len(pairs)):
            print(report, flush=True)
            good &= went_well
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
