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
    """A package of npm, pinned.

    title: what readers call it, with what its archive weighs. integrity: as
    `npm view NAME@VERSION dist.integrity` writes it. setting: of the environment, for
    an archive that is there already. command: what asks for it.
    """

    name: str
    version: str
    integrity: str
    title: str
    weighs: str
    setting: str
    command: str

    @property
    def file_name(self):
        return f"{self.name}-{self.version}.tgz"


def archive(package, cache, given=None):
    """The package's archive, the hash compared.

    cache: folder that keeps it. given: an archive that is there already.

    Raises Failed if it is another one, or there is none to be had.
    """
    kept = cache / package.file_name
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
            f"{package.setting}={package.file_name} {package.command}"
        )
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
        call = [npm, "pack", f"{package.name}@{package.version}"]
        call += ["--pack-destination", folder]
        call += ["--fetch-retries=1", "--fetch-retry-mintimeout=2000"]
        run(call, f"npm could not fetch {package.title}. Is there a network?")
        fetched = Path(folder, package.file_name)
        verify(fetched, package.integrity)
        fetched.replace(kept)


def verify(path, integrity):
    """Raise Failed unless the file has the hash, written as npm writes it."""
    digest = hashlib.sha512(path.read_bytes()).digest()
    got = f"sha512-{base64.b64encode(digest).decode()}"
    if got != integrity:
        raise Failed(
            f"{path.name} is not what was pinned:\nexpected {integrity}\ngot      {got}"
        )


def run(call, sorry, **options):
    """Run a command; if it fails, raise Failed with `sorry` and what it said."""
    done = subprocess.run(
        call, capture_output=True, encoding="utf-8", errors="replace", **options
    )
    if done.returncode:
        lines = (done.stdout + done.stderr).strip().splitlines()
        if len(lines) > 12:  # npm says it first, Python last
            lines[5:-6] = ["..."]
        raise Failed("\n".join([sorry, *lines]))
