"""An autograder for Gradescope.

    toytf assign --exercises 9.1 9.7 --title "Week 6" --gradescope week6.zip

writes an archive with ``setup.sh``, ``run_autograder``, this package, the assignment and a key. The script
is root. It runs a student's code in bubblewrap where the container allows that; mostly it does not, and
then as another user, in a process of its own with limits, in Gradescope's throw-away container. That user
can read neither the archive nor the key (the folder is root's alone) nor write the results, but it may
have the network: the script takes that away where it is allowed to. Arrays come out and are compared by
the script, ``toytf gradescope``.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import secrets
import zipfile
from collections.abc import Sequence
from pathlib import Path

from toytf._command import Trouble, write_whole
from toytf.teach.exports.files import PACKAGE, package_files, requirements, shown
from toytf.teach.grade import Bubblewrap, SandboxError, Unprotected, grade_one, read_assignment
from toytf.teach.grade.grading import nothing_to_grade
from toytf.teach.grade.sandbox import default_packages

SETUP = """\
#!/usr/bin/env bash
# Gradescope runs this once, as root, when it makes the container.
set -euo pipefail
root="${TOYTF_AUTOGRADER:-/autograder}"
export DEBIAN_FRONTEND=noninteractive
apt-get update -q
apt-get install -q -y --no-install-recommends bubblewrap python3 python3-venv
python=python3
if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
  apt-get install -q -y --no-install-recommends python3.11 python3.11-venv  # Ubuntu 22.04 has it beside 3.10
  python=python3.11
fi
"$python" -m venv "$root/venv"
"$root/venv/bin/python" -m pip install --no-cache-dir --require-hashes -r "$root/source/requirements.txt"
chmod -R go= "$root/source"
"""

RUN = """\
#!/usr/bin/env bash
# Gradescope runs this for each submission, as root.
set -euo pipefail
root="${TOYTF_AUTOGRADER:-/autograder}"
mkdir -p "$root/results"
# Students' code runs as another user, who has no business here.
for place in source submission results submission_metadata.json; do
  if [ -e "$root/$place" ]; then chmod -R go= "$root/$place"; fi
done
alone=()
if unshare --net true 2>/dev/null; then alone=(unshare --net); fi  # grading needs no network
export PYTHONPATH="$root/source" PYTHONDONTWRITEBYTECODE=1
exec "${alone[@]}" "$root/venv/bin/python" -P -m toytf gradescope "$root"
"""

UPLOAD = """\
{title}: an autograder for Gradescope

1. In Gradescope make a programming assignment of {points} points; {texts}
2. Configure Autograder, Zip file upload: this file, as it is. Base image: Ubuntu 22.04 or newer.
3. Students hand in their notebook (student.ipynb, under any name that ends in .ipynb), one file.
4. Test Autograder with instructor.ipynb: all points.

Keep this file to yourself: it has the key from which the hidden inputs are drawn, and the solutions.
"""


def gradescope_zip(manifest: dict, key: bytes | None = None) -> bytes:
    """Make the archive that Gradescope takes.

    Parameters
    ----------
    manifest : dict
        The assignment, from `toytf.teach.assign.manifest`.
    key : bytes, optional
        The secret from which hidden inputs come; by default a new one.
    """
    graded = [entry for entry in manifest["exercises"] if entry["kind"] != "text"]
    if not graded:
        raise ValueError("exercises: expected one that can be checked, got only those that a person reads")
    texts = [entry["number"] for entry in manifest["exercises"] if entry["kind"] == "text"]
    also = f"add questions graded by hand for {', '.join(texts)}." if texts else "all of them are graded by it."
    key = secrets.token_hex(32).encode() if key is None else key
    points = sum(entry["points"] for entry in graded)
    files = {
        "setup.sh": SETUP.encode(),
        "run_autograder": RUN.encode(),
        "README.txt": UPLOAD.format(title=manifest["title"], points=points, texts=also).encode(),
        "requirements.txt": requirements().encode(),
        "assignment.json": json.dumps(manifest, ensure_ascii=False, indent=1).encode(),
        "key": key + b"\n",
        **package_files(""),
    }
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as whole:
        for name, content in files.items():
            about = zipfile.ZipInfo(name)  # its date is fixed, so the same files give the same bytes
            about.compress_type = zipfile.ZIP_DEFLATED
            mode = 0o700 if name in ("setup.sh", "run_autograder") else 0o600
            about.external_attr = (0o100000 | mode) << 16
            whole.writestr(about, content)
    return archive.getvalue()


def gradescope(root: Path, sandbox=None) -> dict:
    """Grade the one submission below Gradescope's folder, and write ``results/results.json``.

    Parameters
    ----------
    root : Path
        With ``source``, ``submission`` and ``results``: ``/autograder``.
    sandbox : optional
        Where the student's code runs; by default `_sandbox` decides.

    Raises
    ------
    SandboxError
        If it cannot run, or a checker failed; then no result is written, and Gradescope tells the instructor.
    """
    source, submission, results = root / "source", root / "submission", root / "results"
    assignment = read_assignment(source / "assignment.json")
    key = (source / "key").read_bytes().strip()
    sandbox = sandbox or _sandbox((source, submission, results))
    handed_in = sorted(path for path in submission.glob("*.ipynb") if not path.name.startswith("."))
    if len(handed_in) == 1:
        receipt = grade_one(handed_in[0], assignment, sandbox=sandbox, key=key, student="submission")
        if receipt.failed:
            raise SandboxError(f"the checker itself failed at {', '.join(receipt.failed)}")
    else:
        many = ", ".join(path.name for path in handed_in) or "none"
        reason = f"Hand in one notebook (.ipynb). There are {len(handed_in)}: {many}."
        receipt = nothing_to_grade("submission", assignment, reason)
    said = gradescope_results(receipt, _titles(source / "assignment.json"))
    write_whole(results / "results.json", f"{json.dumps(said, indent=1)}\n".encode())
    return said


def _sandbox(hide: Sequence[Path]):
    """Bubblewrap where it works. Else another user, and only if we are root, who can become one."""
    hidden = tuple(str(path.resolve()) for path in (*hide, PACKAGE))
    try:
        sandbox = Bubblewrap(default_packages(), hidden)
        sandbox.check()
        return sandbox
    except SandboxError as error:
        if not hasattr(os, "geteuid") or os.geteuid() != 0:
            raise
        print(f"No bubblewrap here ({str(error).splitlines()[0]}); the student's code runs as another user.")
    sandbox = Unprotected(default_packages(), hidden)
    sandbox.check()
    return sandbox


def _titles(path: Path) -> dict[str, str]:
    listed = json.loads(path.read_text("utf-8"))["exercises"]
    return {entry["number"]: entry.get("title", "") for entry in listed}


def gradescope_results(receipt, titles: dict[str, str] | None = None) -> dict:
    """A receipt in Gradescope's form: a test for each exercise that is not read by a person; all of it plain text."""
    tests = []
    for result in receipt.results:
        if result.kind == "text":
            continue
        name = f"{result.number} {(titles or {}).get(result.number, '')}".strip()
        tests.append(
            {
                "name": name,
                "name_format": "text",
                "score": result.points or 0,
                "max_score": result.out_of,
                "status": "passed" if result.points == result.out_of else "failed",
                "output": shown(result),
                "output_format": "text",
                "visibility": "visible",
            }
        )
    notes = [receipt.reason, *receipt.notes]
    for cell in receipt.cells:
        if cell.get("error"):
            notes.append(f"Cell {cell['cell']}: {cell['error']}")
    texts = [result.number for result in receipt.results if result.kind == "text"]
    if texts:
        notes.append(f"To be read by a person: {', '.join(texts)}.")
    return {
        "score": round(sum(test["score"] for test in tests), 2),
        "output": "\n".join(filter(None, notes)),
        "output_format": "text",
        "stdout_visibility": "hidden",
        "tests": tests,
    }


# ---------------------------------------------------------------- the command

EXAMPLES = ("toytf gradescope /autograder",)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "Grade the submission in Gradescope's folder. The archive that toytf assign makes calls it."
    parser.add_argument("root", type=Path, help="the folder with source, submission and results")


def run(options) -> int:
    try:
        said = gradescope(options.root)
    except SandboxError as error:
        raise Trouble(str(error)) from error
    print(f"{said['score']} points in {len(said['tests'])} exercises.")
    return 0
