"""The README's lines, read from the README: what somebody types who follows it.

    python tests/readme_lines.py --windows          prints the lines for Windows
    python tests/readme_lines.py --unix --run       types the lines for Linux and macOS, in a shell
    python tests/readme_lines.py --venv --run --skip pytest   the lines for Windows, as the README translates them

With ``--run`` the lines of each block are typed one after the other into one shell, in the folder of the project; the
first that fails ends it. A line that opens a page (`start`) only looks whether the page is there: nobody sits here.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
BLOCK = re.compile(r"^```(sh|bat|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(text: str, kind: str) -> list[list[str]]:
    """The lines of each fenced block of a kind, without what stands behind a #."""
    found = [block for name, block in BLOCK.findall(text) if name == kind]
    return [[line for raw in block.splitlines() if (line := raw.partition("#")[0].rstrip())] for block in found]


def windows(text: str) -> list[list[str]]:
    """What is typed at Windows' prompt."""
    return blocks(text, "bat")


def unix(text: str) -> list[list[str]]:
    """What is typed to read and to check the course where there is make: the first block."""
    return blocks(text, "sh")[:1]


def venv(text: str) -> list[list[str]]:
    """Windows' lines on macOS and Linux, by the README's own rule."""
    return [translated(block) for block in windows(text)]


def translated(block: list[str]) -> list[str]:
    """One block as macOS and Linux type it: another start, other slashes, and a setting in front of its command."""
    made, setting = [], ""
    for line in block:
        if line.startswith("set "):
            setting = f"{line.removeprefix('set ')} "
            continue
        line = (
            line.replace("py -3 -m venv", "python3 -m venv")
            .replace(".venv\\Scripts\\", ".venv/bin/")
            .replace("\\", "/")
        )
        made.append(line if line.startswith("start ") else setting + line)
    return made


def typed(line: str, shell: str) -> list[str]:
    """A line as it goes into a script: it is shown, done, and ends the script if it fails."""
    if shell == "cmd":
        done = f"if not exist {line.removeprefix('start ')} exit /b 1" if line.startswith("start ") else line
        return [f"echo ^> {line}", done, "if errorlevel 1 exit /b 1"]
    done = f"test -f {line.removeprefix('start ')}" if line.startswith("start ") else line
    return [f"printf '> %s\\n' '{line}'", done]


def script(lists: list[list[str]], shell: str) -> str:
    """All blocks as one script: of cmd, or of sh."""
    lines = [part for block in lists for line in block for part in typed(line, shell)]
    return "\r\n".join(["@echo off", *lines, ""]) if shell == "cmd" else "\n".join(["set -eu", *lines, ""])


def run(lists: list[list[str]], shell: str, folder: Path) -> int:
    """Type the blocks; return the exit status."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / ("lines.cmd" if shell == "cmd" else "lines.sh")
        path.write_bytes(script(lists, shell).encode("utf-8"))
        return subprocess.run(
            ["cmd", "/d", "/c", str(path)] if shell == "cmd" else ["sh", str(path)], cwd=folder
        ).returncode


def version(folder: Path) -> str:
    """The Python in the environment that the lines have made: 3.12."""
    text = (folder / ".venv" / "pyvenv.cfg").read_text("utf-8")
    return re.search(r"^version(?:_info)? *= *(\d+\.\d+)", text, re.MULTILINE).group(1)


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Print or type the README's lines.")
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--windows", dest="lines", action="store_const", const=windows, help="for Windows")
    which.add_argument("--unix", dest="lines", action="store_const", const=unix, help="for Linux and macOS, with make")
    which.add_argument(
        "--venv", dest="lines", action="store_const", const=venv, help="for Linux and macOS, without make"
    )
    parser.add_argument("--run", action="store_true", help="type them")
    parser.add_argument("--skip", action="append", default=[], metavar="WORD", help="leave out lines with this word")
    parser.add_argument("--folder", type=Path, default=ROOT, help="a clone of the project (default: this one)")
    parser.add_argument("--expect", metavar="3.12", help="fail if .venv then holds another Python")
    given = parser.parse_args(words)
    text = (given.folder / README.name).read_text("utf-8")
    lists = [[line for line in block if not any(word in line for word in given.skip)] for block in given.lines(text)]
    if not given.run:
        print("\n\n".join("\n".join(block) for block in lists))
        return 0
    status = run(lists, "cmd" if given.lines is windows else "sh", given.folder)
    if status == 0 and given.expect and version(given.folder) != given.expect:
        print(f"expected Python {given.expect} in .venv, got {version(given.folder)}", file=sys.stderr)
        status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
