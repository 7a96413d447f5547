"""The same assignment for Gradescope and for GitHub Classroom, graded by `toytf.teach.grade`; and feedback.

    python -m toytf.teach.assign --exercises 9.1 9.7 --title "Week 3" --gradescope week3.zip
    python -m toytf.teach.assign --exercises 9.1 9.7 --title "Week 3" --classroom week3-template

**Gradescope** gets an archive with ``setup.sh``, ``run_autograder``, this package, the assignment and a
key. The script is root. It runs a student's code in bubblewrap where the container allows that;
mostly it does not, and then as another user, in a process of its own with limits, in Gradescope's
throw-away container. That user can read neither the archive nor the key (the folder is root's alone)
nor write the results, but it may have the network: the script takes that away where it is allowed to.
Arrays come out and are compared by the script.

**GitHub Classroom** gets a template repository: notebook, README, workflow and grader. A student who may
push to a repository may also change its workflow. Take its points as feedback; for grades that
count, collect the notebooks and run ``python -m toytf.teach.grade`` yourself.

**Feedback.** After ``python -m toytf.teach.grade week3/submissions --out week3/grades.csv``

    python -m toytf.teach.exports feedback week3/grades.csv --out week3/feedback.zip

puts each student's page into a folder with that student's name, the name of what was handed in. With
the folders of Moodle's export (``Anna Abt_123_assignsubmission_file``) these are the names by which
Moodle's "upload multiple feedback files in a zip" finds its students again.

What was tried: the archive's entry script in an empty folder laid out as Gradescope's, with and without
bubblewrap, and the workflow against the published schema of workflows. What was not: either server, the
installation that ``setup.sh`` does, and Classroom's reporter.
"""

from __future__ import annotations

import argparse
import base64
import io
import json
import os
import secrets
import sys
import textwrap
import zipfile
from collections.abc import Sequence
from pathlib import Path

from toytf._command import write_whole
from toytf.teach.exercises import NOT_ANSWERED

PACKAGE = Path(__file__).parent.parent


def package_files(below: str) -> dict[str, bytes]:
    """This package, as files below a folder: what `toytf.teach.grade` needs and no data."""
    paths = sorted(path for path in PACKAGE.rglob("*.py") if "__pycache__" not in path.parts)
    return {f"{below}toytf/{path.relative_to(PACKAGE).as_posix()}": path.read_bytes() for path in paths}


def requirements() -> str:
    """What this package needs: the versions that the course is tested with, and the hashes of their files."""
    return (PACKAGE / "teach" / "requirements.txt").read_text("utf-8")


# ---------------------------------------------------------------- Gradescope

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
exec "${alone[@]}" "$root/venv/bin/python" -P -m toytf.teach.exports gradescope "$root"
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
    from toytf.teach.grade import SandboxError, grade_one, read_assignment
    from toytf.teach.grade.grading import nothing_to_grade

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
    from toytf.teach.grade import Bubblewrap, SandboxError, Unprotected
    from toytf.teach.grade.sandbox import default_packages

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
                "output": _said(result),
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


def _said(result) -> str:
    return "\n".join([result.headline, *(textwrap.indent(line, "  ") for line in result.details)])


# ---------------------------------------------------------------- GitHub Classroom

WORKFLOW = """\
# Grades assignment.ipynb after every push. It is called classroom.yml because GitHub Classroom looks there.
name: Autograding Tests
"on":
  - push
  - workflow_dispatch
permissions:
  contents: read  # for the checkout; the reporter prints its points as a notice, which needs none
jobs:
  grade:
    if: github.actor != 'github-classroom[bot]'
    runs-on: ubuntu-24.04
    timeout-minutes: 15
    steps:
      - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1  # v7.0.1
        with:
          persist-credentials: false
      - uses: actions/setup-python@5fda3b95a4ea91299a34e894583c3862153e4b97  # v7.0.0
        with:
          python-version: "3.12"
      - name: Install bubblewrap and NumPy
        run: |
          sudo apt-get update -q
          sudo apt-get install -q -y --no-install-recommends bubblewrap
          python -m pip install --require-hashes -r .github/grader/requirements.txt
      - name: Allow bubblewrap to make namespaces
        # Ubuntu 24.04 forbids it to programs without an AppArmor profile. This machine is thrown away afterwards.
        run: |
          if [ -e /proc/sys/kernel/apparmor_restrict_unprivileged_userns ]; then
            sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0
          fi
      - name: Grade
        id: toytf
        env:
          PYTHONPATH: ${{ github.workspace }}/.github/grader
        run: |
          mkdir -p "$RUNNER_TEMP/submissions"
          cp --no-dereference assignment.ipynb "$RUNNER_TEMP/submissions/student.ipynb"
          python -P -m toytf.teach.grade "$RUNNER_TEMP/submissions" \\
            --assignment .github/grader/assignment.json --out "$RUNNER_TEMP/grades.csv"
          python -P -m toytf.teach.exports classroom "$RUNNER_TEMP/grades/receipts/student.json" >> "$GITHUB_OUTPUT"
      - name: Keep the feedback page
        uses: actions/upload-artifact@bbbca2ddaa5d8feaa63e36b76fdaad77386f024f  # v7.0.0
        with:
          name: feedback
          path: ${{ runner.temp }}/grades/feedback/student.html
      - name: Report the points
        uses: classroom-resources/autograding-grading-reporter@d13b5912daf5042ac1b71bc38bdb4a6bcd61d8ca  # v1
        env:
          TOYTF_RESULTS: ${{ steps.toytf.outputs.result }}
        with:
          runners: toytf
"""

WELCOME = """\
# {title}

{count}, {points} points. Your work is in [assignment.ipynb](assignment.ipynb).

1. Clone this repository. Install `toytf` and JupyterLab as your teacher says, and open `assignment.ipynb`.
2. Replace the lines that say that something is not written yet, each `None`, and each {never}. The cell below each
   answer says how far you are, as often as you like.
3. Run the notebook from top to bottom once more, save it, commit it and push:

       git add assignment.ipynb
       git commit -m "My answers"
       git push

After each push the grader runs your functions with other inputs than the notebook does. A minute or two later the
Actions tab has the points, and the artifact *feedback* the page that says what is wrong. Answers in words are read by
your teacher. Leave the folder `.github` as it is: your teacher may run the grader again from a copy of their own.
"""


def classroom_files(manifest: dict, student: str) -> dict[str, str | bytes]:
    """Make the files of a template repository for GitHub Classroom.

    Parameters
    ----------
    manifest : dict
        The assignment, from `toytf.teach.assign.manifest`.
    student : str
        The student's notebook, as JSON.
    """
    listed = manifest["exercises"]
    count = f"{len(listed)} exercise{'s'[: len(listed) != 1]}"
    points = sum(entry["points"] for entry in listed)
    return {
        "README.md": WELCOME.format(title=manifest["title"], count=count, points=points, never=NOT_ANSWERED),
        "assignment.ipynb": student,
        ".github/workflows/classroom.yml": WORKFLOW,
        ".github/grader/assignment.json": json.dumps(manifest, ensure_ascii=False, indent=1) + "\n",
        ".github/grader/requirements.txt": requirements(),
        **package_files(".github/grader/"),
    }


def classroom_result(receipt) -> str:
    """A receipt as GitHub Classroom's reporter reads it: JSON in base 64."""
    tests = [
        {
            "name": _harmless(result.number + (f" {result.name}" if result.name else "")),
            "status": "pass" if result.points == result.out_of else "fail",
            "score": result.points or 0,
            "message": _harmless(_said(result)),
        }
        for result in receipt.results
        if result.kind != "text"
    ]
    if receipt.reason:
        for test in tests:
            test["message"] = _harmless(receipt.reason)
    whole = {
        "version": 1,
        "status": "pass" if all(test["status"] == "pass" for test in tests) else "fail",
        "max_score": sum(result.out_of for result in receipt.results if result.kind != "text"),
        "tests": tests,
    }
    return base64.b64encode(json.dumps(whole).encode()).decode()


def _harmless(text: str) -> str:
    """Text in which GitHub finds no command: it obeys lines such as ``::error::`` in what a step prints."""
    return text.replace("::", ": :").replace("##[", "# #[")


# ---------------------------------------------------------------- feedback to hand back


def feedback_zip(table: Path) -> tuple[bytes, int]:
    """Put the feedback pages of a graded class into an archive, ``<student>/feedback.html``.

    Parameters
    ----------
    table : Path
        ``grades.csv``, as `toytf.teach.grade` wrote it; the pages are in the folder beside it.

    Returns
    -------
    archive : bytes
    without : list of str
        Students of the table who have no page: the others get theirs all the same.
    """
    from toytf.teach.grade import Receipt
    from toytf.teach.grade.gradebook import inert, read_csv, written

    home = table.with_suffix("")
    pages = {}
    for path in sorted((home / "receipts").glob("*.json")):
        student = Receipt.from_json(path.read_bytes()).student
        pages[inert(written(student))] = student, home / "feedback" / f"{path.stem}.html"
    archive, taken, without = io.BytesIO(), set(), []
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as whole:
        for row in read_csv(table, ["student"]):
            student, page = pages.get(row["student"], ("", Path()))
            if not page.is_file():
                without.append(row["student"])
                continue
            folder = _folder_name(student, page.stem)
            if folder.lower() in taken:
                folder = page.stem  # no two of these are equal
            taken.add(folder.lower())
            about = zipfile.ZipInfo(f"{folder}/feedback.html")  # of a fixed date: the same pages give the same bytes
            about.compress_type, about.external_attr = zipfile.ZIP_DEFLATED, 0o100644 << 16
            whole.writestr(about, page.read_bytes())
    return archive.getvalue(), without


def _folder_name(student: str, otherwise: str) -> str:
    """The student's own name where every system takes it for a folder's, else the page's, which is harmless."""
    odd = set('/\\:*?"<>|') & set(student) or student != student.strip(" .") or not student.isprintable()
    return otherwise if odd or not student or len(student) > 100 else student


# ---------------------------------------------------------------- what the servers call


def main(arguments: list[str] | None = None) -> int:
    """Grade at Gradescope, tell GitHub Classroom what the grader said, or make an archive of feedback."""
    parser = argparse.ArgumentParser(
        prog="python -m toytf.teach.exports",
        description="Makes an archive of feedback pages. The other two are used by the exports of "
        "python -m toytf.teach.assign --gradescope and --classroom.",
    )
    commands = parser.add_subparsers(required=True, dest="command", metavar="feedback | gradescope | classroom")
    back = commands.add_parser("feedback", help="put each student's feedback page into a zip, to hand back")
    back.add_argument("grades", type=Path, help="grades.csv, written by toytf grade")
    back.add_argument("--out", type=Path, required=True, metavar="FILE.zip", help="the archive to write")
    at = commands.add_parser("gradescope", help="grade the submission in Gradescope's folder")
    at.add_argument("root", type=Path, help="/autograder, with source, submission and results")
    from_receipt = commands.add_parser("classroom", help="print a receipt for GitHub Classroom's reporter")
    from_receipt.add_argument("receipt", type=Path, help="receipts/<student>.json, written by toytf grade")
    given = parser.parse_args(arguments)
    from toytf.teach.grade import Receipt, SandboxError
    from toytf.teach.grade.gradebook import Trouble

    try:
        if given.command == "feedback":
            archive, without = feedback_zip(given.grades)
            write_whole(given.out, archive)
            students = len(zipfile.ZipFile(io.BytesIO(archive)).namelist())
            print(f"{given.out}: a page for each of {students} students")
            if without:
                names = ", ".join(map(repr, without))
                print(f"error: no page for {names}; run the grader again", file=sys.stderr)
                return 1
        elif given.command == "gradescope":
            said = gradescope(given.root)
            print(f"{said['score']} points in {len(said['tests'])} exercises.")
        else:
            print(f"result={classroom_result(Receipt.from_json(given.receipt.read_bytes()))}")
    except (OSError, ValueError, SandboxError, Trouble) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
