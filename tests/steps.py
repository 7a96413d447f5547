"""The workflows' own commands, read from the workflows and run here, as far as that goes.

    python tests/steps.py release.yml build              types the steps of a job in a fresh clone of the last commit
    python tests/steps.py site.yml build --folder /tmp/x --skip "Make the book"

A step that runs a command is run by `bash -eo pipefail`, as GitHub does, with its environment and with the values that
its expressions ask for; one that is an action is named and left out, but for the checkout, which is the clone, and for
the Python, which is the one that runs this. `gh` answers from a file, and `sudo` does nothing. It is no run at GitHub:
the machine, the rights and the actions are others.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".github" / "workflows"
PARTS = (  # what a release lays side by side
    "_build/dist/toytf-0.1.0-py3-none-any.whl",
    "_build/dist/toytf-0.1.0.tar.gz",
    "_build/paper/the-transformer-number-by-number.pdf",
    "_build/paper/the-transformer-number-by-number-letter.pdf",
    "_build/paper/the-transformer-number-by-number.epub",
    "_build/paper/the-transformer-number-by-number-0.1.0.zip",
)


def job(workflow: str, name: str) -> dict:
    """One job of a workflow."""
    return yaml.safe_load((FOLDER / workflow).read_text("utf-8"))["jobs"][name]


def step(workflow: str, name: str, title: str) -> dict:
    """One step of a job, by its name."""
    for one in job(workflow, name)["steps"]:
        if one.get("name") == title:
            return one
    raise KeyError(f"{workflow}, {name}: {title}")


def filled(text: str, values: dict[str, str]) -> str:
    """A text with each ``${{ name }}`` replaced by its value; one that is not given is an error."""
    return re.sub(r"\$\{\{ *([\w.-]+) *\}\}", lambda found: values[found[1]], str(text))


class Machine:
    """A folder in which steps run one after the other, as on one of GitHub's machines."""

    def __init__(self, work: Path, home: Path):
        self.work, self.home, self.server = Path(work), Path(home), "https://github.com"
        for folder in (self.work, self.home / "bin"):
            folder.mkdir(parents=True, exist_ok=True)
        self.answers("sudo", "")
        self.answers("gh", "https://example.org/course/")

    def answers(self, command: str, words: str, status: int = 0, place: Path | None = None) -> None:
        """Put a command into the machine's path that notes what it was asked, says this, and ends so."""
        place = place or self.home / "bin"
        place.mkdir(parents=True, exist_ok=True)
        lines = ["#!/bin/sh", f'echo "{command} $*" >> {shlex.quote(str(self.home / "asked"))}']
        lines += [f"echo {shlex.quote(words)}"] * bool(words) + [f"exit {status}", ""]
        (place / command).write_text("\n".join(lines), "utf-8")
        (place / command).chmod(0o755)

    def asked(self) -> list[str]:
        """What these commands were asked, line by line."""
        note = self.home / "asked"
        return note.read_text("utf-8").splitlines() if note.exists() else []

    def outputs(self) -> dict[str, str]:
        """What the steps have written for later ones."""
        file = self.home / "outputs"
        lines = file.read_text("utf-8").splitlines() if file.exists() else []
        return dict(line.split("=", 1) for line in lines)

    def run(self, one: dict, values: dict[str, str] | None = None, ref: str = "main", show: bool = False):
        """Run one step; return what subprocess says of it."""
        given = {name: filled(value, values or {}) for name, value in one.get("env", {}).items()}
        environment = {
            "PATH": f"{self.home / 'bin'}:{os.environ['PATH']}", "HOME": os.environ.get("HOME", "/"), "LANG": "C.UTF-8",
            "CI": "true", "GITHUB_ACTIONS": "true", "GITHUB_SERVER_URL": self.server, "GITHUB_REF_NAME": ref,
            "GITHUB_REPOSITORY": "somebody/course", "GITHUB_OUTPUT": str(self.home / "outputs"),
            "RUNNER_TEMP": str(self.home), **given,
        }  # fmt: skip
        environment |= {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", filled(one["run"], values or {})],
            cwd=self.work / one.get("working-directory", "."), env=environment, encoding="utf-8",
            capture_output=not show,
        )  # fmt: skip


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Run the steps of one job of a workflow in a fresh clone.")
    parser.add_argument("workflow", choices=sorted(path.name for path in FOLDER.glob("*.yml")))
    parser.add_argument("job")
    parser.add_argument("--folder", type=Path, help="an empty folder (default: one that is thrown away)")
    parser.add_argument("--skip", action="append", default=[], metavar="NAME", help="leave this step out")
    parser.add_argument("--ref", default="main", help="the branch or tag (default: main)")
    given = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as thrown_away:
        place = (given.folder or Path(thrown_away)).resolve()
        machine = Machine(place / "work", place / "machine")
        python = machine.home / "bin" / "python"
        python.unlink(missing_ok=True)
        python.symlink_to(sys.executable)
        values = {
            "github.token": "none", "github.server_url": "https://github.com", "github.repository": "somebody/course",
            "matrix.python": ".".join(map(str, sys.version_info[:2])),
        }  # fmt: skip
        for one in job(given.workflow, given.job)["steps"]:
            title = one.get("name") or one.get("uses", "").partition("@")[0]
            if "run" not in one and title == "actions/checkout":
                subprocess.run(["git", "clone", "-q", "--depth", "1", ROOT.as_uri(), str(machine.work)], check=True)
            if "run" not in one or title in given.skip:
                print(f"-- {title}: {'left out' if title != 'actions/checkout' else 'a clone'}", flush=True)
                continue
            print(f"== {title}", flush=True)
            begun = time.monotonic()
            status = machine.run(one, values, given.ref, show=True).returncode
            print(f"== {title}: status {status}, {time.monotonic() - begun:.0f} s", flush=True)
            if status:
                return status
            if "id" in one:
                values |= {f"steps.{one['id']}.outputs.{name}": value for name, value in machine.outputs().items()}
    return 0


if __name__ == "__main__":
    sys.exit(main())
