"""Archives of npm's packages: fetched once, the hash compared each time."""

import base64
import hashlib
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path


class Failed(Exception):
    """What stopped a build, in words."""


@dataclass(frozen=True)
class Package:
    """A package of npm, pinned."""

    name: str
    version: str
    integrity: str  # as `npm view NAME@VERSION dist.integrity` writes it
    title: str  # what readers call it
    weighs: str
    setting: str  # of the environment, for an archive that is there already
    command: str  # what asks for it


def archive(package, cache, given=None):
    """The package's archive, kept in the folder `cache`, or the one that is given.

    Raises Failed if it is another one, or there is none to be had.
    """
    kept = cache / f"{package.name}-{package.version}.tgz"
    if given is not None:
        kept = Path(given)
        if not kept.is_file():
            raise Failed(f"{package.setting}: expected a file, got {given!r}")
    elif not kept.is_file():
        _download(package, kept)
    verify(kept, package.integrity)
    return kept


def _download(package, kept):
    about = f"{package.title} {package.version} with npm ({package.weighs}, once)"
    print(f"Downloading {about}", flush=True)
    npm = shutil.which("npm")
    if npm is None:
        raise Failed(
            f"npm is not installed, and {package.title} comes as an npm package.\n"
            "Install Node.js, or bring the archive yourself: "
            f"{package.setting}={kept.name} {package.command}"
        )
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
        call = [npm, "pack", f"{package.name}@{package.version}", "--fetch-retries=1"]
        call += ["--fetch-retry-mintimeout=2000", "--pack-destination", folder]
        run(call, f"npm could not fetch {package.title}. Is there a network?")
        verify(Path(folder, kept.name), package.integrity)
        Path(folder, kept.name).replace(kept)


def verify(path, integrity):
    """Raise Failed unless the file has the hash, written as npm writes it."""
    digest = hashlib.sha512(path.read_bytes()).digest()
    got = f"sha512-{base64.b64encode(digest).decode()}"
    if got != integrity:
        pinned = f"is not what was pinned:\nexpected {integrity}\ngot      {got}"
        raise Failed(f"{path.name} {pinned}")


def run(call, sorry, **options):
    """Run a command; if it fails, raise Failed with `sorry` and what it said."""
    options |= {"capture_output": True, "encoding": "utf-8", "errors": "replace"}
    done = subprocess.run(call, **options)
    if done.returncode:
        lines = (done.stdout + done.stderr).strip().splitlines()
        if len(lines) > 12:  # npm says it first, Python last
            lines[5:-6] = ["..."]
        raise Failed("\n".join([sorry, *lines]))
