"""Execute notebooks in place: `python book/execute.py [notebook ...]`, by default all.

One runs on each core. What is published is what this writes, so the same code must give
the same bytes: nothing that depends on the clock or the machine is kept.
"""

import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

ROOT = Path(__file__).resolve().parent.parent
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
EDITOR_STATE = ("ExecuteTime", "collapsed", "execution", "scrolled", "trusted")


def all_notebooks():
    return sorted(ROOT.glob("notebooks/*.ipynb")) + sorted(ROOT.glob("book/*.ipynb"))


def execute(path):
    """Run one notebook from its own folder; True when its file had to change."""
    before = path.read_text(encoding="utf-8")
    notebook = nbformat.reads(before, as_version=4)
    NotebookClient(
        notebook,
        kernel_name="python3",
        timeout=300,
        record_timing=False,
        extra_arguments=["--log-level=ERROR"],
        coalesce_streams=True,  # else how print() is cut up depends on the clock
        resources={"metadata": {"path": str(path.parent)}},
    ).execute()
    notebook.metadata = nbformat.from_dict(METADATA)
    for cell in notebook.cells:
        for key in EDITOR_STATE:
            cell.metadata.pop(key, None)
    after = nbformat.writes(notebook) + "\n"
    if after == before:
        return False
    path.write_text(after, encoding="utf-8", newline="\n")
    return True


def attempt(path):
    """Run one notebook; return its report and whether all went well."""
    start = time.perf_counter()
    try:
        changed = execute(path)
    except CellExecutionError as error:
        return f"{path.name}: failed\n{error}", False
    seconds = time.perf_counter() - start
    said = "written" if changed else "unchanged"
    return f"{path.name}: {seconds:.1f} s, {said}", True


def main(names):
    os.environ["TOYTF_PROGRESS"] = "0"  # a bar is for people, not for stored outputs
    # Products of this size gain nothing from a second thread. It only waits, and on a
    # busy machine for long.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    paths = [Path(name).resolve() for name in names] or all_notebooks()
    paths.sort(key=lambda path: path.name, reverse=True)  # the last are the longest
    good = True
    with ProcessPoolExecutor(max_workers=min(len(paths), os.cpu_count() or 1)) as pool:
        for report, went_well in pool.map(attempt, paths):
            print(report, flush=True)
            good &= went_well
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
