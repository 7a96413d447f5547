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
from itertools import repeat

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, DeadKernelError

from text import (
    METADATA,
    PairError,
    chosen_pairs,
    command_line,
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
    """Make the notebook of a text; what was done."""
    before = pair.notebook.read_bytes() if pair.notebook.exists() else None
    notebook = notebook_from_text(pair, force)
    pair.notebook.parent.mkdir(exist_ok=True)
    run(notebook, pair.notebook.parent)
    notebook.metadata = nbformat.from_dict(METADATA)
    if before != (pair.notebook.read_bytes() if pair.notebook.exists() else None):
        name = pair.name(pair.notebook)
        raise PairError(f"{name}: edited while its text was executed; nothing written")
    written = write_whole(pair.notebook, (nbformat.writes(notebook) + "\n").encode())
    remember(pair, notebook)
    return "written" if written else "unchanged"


def attempt(pair, force):
    """Make one notebook; return the report and whether all went well."""
    start, name = time.perf_counter(), pair.notebook.name
    try:
        said = execute(pair, force)
    except CellExecutionError as error:
        return f"{name}: failed, and is as it was\n{error}", False
    except PairError as error:
        return str(error), False
    return f"{name}: {time.perf_counter() - start:.1f} s, {said}", True


def main(arguments):
    # Products of this size gain nothing from a second thread. It only waits, and on a
    # busy machine for long.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    parser = command_line("Make notebooks of their texts.")
    options = parser.parse_args(arguments)
    # The last chapters are the longest. Pages wait: one reads the chapters' exercises.
    pairs = sorted(
        chosen_pairs(parser, options), key=lambda pair: pair.text.name, reverse=True
    )
    chapters = [pair for pair in pairs if pair.text.parent.name == "chapters"]
    pages = [pair for pair in pairs if pair not in chapters]
    good = True
    with ProcessPoolExecutor(max_workers=min(len(pairs), os.cpu_count() or 1)) as pool:
        for part in (chapters, pages):
            for report, went_well in pool.map(attempt, part, repeat(options.force)):
                print(report, flush=True)
                good &= went_well
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
