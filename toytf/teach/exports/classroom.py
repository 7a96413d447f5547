"""A template repository for GitHub Classroom.

    toytf assign --exercises 9.1 9.7 --title "Week 6" --classroom week6-template

writes notebook, README, workflow and grader. A student who may push to a repository may also change its
workflow. Take its points as feedback; for grades that count, collect the notebooks and run ``toytf grade``
yourself.
"""

from __future__ import annotations

import argparse
import base64
import json
from pathlib import Path

from toytf.teach.exercises import NOT_ANSWERED
from toytf.teach.exports.files import package_files, requirements, shown
from toytf.teach.grade import Receipt

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
          python -P -m toytf grade "$RUNNER_TEMP/submissions" \\
            --assignment .github/grader/assignment.json --out "$RUNNER_TEMP/grades.csv"
          python -P -m toytf classroom "$RUNNER_TEMP/grades/receipts/student.json" >> "$GITHUB_OUTPUT"
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
            "message": _harmless(shown(result)),
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


# ---------------------------------------------------------------- the command

EXAMPLES = ("toytf classroom grades/receipts/student.json",)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Print a receipt for GitHub Classroom's reporter. The workflow that toytf assign makes calls it."
    )
    parser.add_argument("receipt", type=Path, help="receipts/<student>.json, written by toytf grade")


def run(options) -> int:
    print(f"result={classroom_result(Receipt.from_json(options.receipt.read_bytes()))}")
    return 0
