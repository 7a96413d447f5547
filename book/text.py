"""Each executed page is a text, which one edits, and the notebook that is made of it.

    book/chapters/05_scaling.md  makes  notebooks/05_scaling.ipynb
    book/pages/follow.md         makes  book/follow.ipynb

book/execute.py goes from left to right. This file has what both directions share, and
`python book/text.py [file ...]`, by default all, goes from right to left: it brings
what was edited in JupyterLab to the texts. Jupytext reads and writes them. Nothing is
overwritten but what the last run wrote, what git has, or what --force names.
"""

import argparse
import hashlib
import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import nbformat
from jupytext import myst
from jupytext.combine import map_outputs_to_inputs
from nbformat import ValidationError
from nbformat.reader import NotJSONError
from nbformat.v4 import new_notebook
from yaml import YAMLError

from toytf._command import write_whole
from toytf.check import CHECKS

ROOT = Path(__file__).resolve().parent.parent
# Where a notebook's text is, from the root of the book.
TEXTS = {"notebooks": "book/chapters", "book": "book/pages"}

# The head of each text; Jupytext and MyST know by it what the file is.
HEAD = {
    "file_format": "mystnb",
    "kernelspec": {"name": "python3", "display_name": "Python 3"},
}
# What JupyterLab finds in a notebook when the kernel of book/lab starts; with anything
# else it would be "unsaved" as soon as it is opened.
METADATA = {
    "kernelspec": {
        "display_name": "Python 3 (ipykernel)",
        "language": "python",
        "name": "python3",
    },
    "language_info": {"name": "python"},
}
# What JupyterLab folds is no part of a text: a rule folds the cells of solutions.
EDITOR_STATE = "ExecuteTime collapsed execution jupyter scrolled trusted".split()
FOLDED = {"outputs_hidden": True, "source_hidden": True}
# A solution stands once, in toytf/check. A text has {{ check.softmax }} on a line.
SOLUTION = re.compile(r"^\{\{ check\.(\w+) \}\}$", re.M)
# A cell that Jupytext has not taken for one: misspelled, in colons, in a list, or below
# a fence left open; and a listing in which one is shown.
LOST_CELL = re.compile(r"^[ >]*(?:[`~]{3,}\{.*|:{3,}\{(?:code|raw)-.*)", re.M)
LISTING = re.compile(r"^(````+)\n.*?^\1$", re.M | re.S)


class PairError(Exception):
    """A text, a notebook or the two of them are not as they should be."""


@dataclass(frozen=True)
class Pair:
    """A text and its notebook, either of which may not be there yet."""

    root: Path
    folder: str  # of the notebook, one of TEXTS
    stem: str

    @property
    def text(self):
        return self.root / TEXTS[self.folder] / f"{self.stem}.md"

    @property
    def notebook(self):
        return self.root / self.folder / f"{self.stem}.ipynb"

    @property
    def base(self):
        """What the two said when they were last the same; not under git."""
        return self.root / "_build" / "text" / self.folder / f"{self.stem}.json"

    def name(self, path):
        return path.relative_to(self.root).as_posix()


def pair_of(path):
    """The pair to which a text or a notebook belongs; PairError if it is neither."""
    path = Path(path).resolve()
    for folder, texts in TEXTS.items():
        if path.match(f"{folder}/*.ipynb"):
            return Pair(path.parents[1], folder, path.stem)
        if path.match(f"{texts}/*.md"):
            return Pair(path.parents[2], folder, path.stem)
    expected = ", ".join(f"{n}/*.ipynb, {t}/*.md" for n, t in TEXTS.items())
    raise PairError(f"{path}: expected one of {expected}, got another place")


def all_pairs():
    """Every pair of the book that has a text, in reading order."""
    folders = TEXTS.values()
    return [pair_of(path) for f in folders for path in sorted(ROOT.glob(f"{f}/*.md"))]


# ---------------------------------------------------------------- reading and writing


def read_text(text, name):
    """The notebook that a text stands for, without outputs and with ids of no meaning.

    Raises PairError if it names no solution's checker, or has a cell that is lost.
    """
    if wrong := [found for found in SOLUTION.findall(text) if found not in CHECKS]:
        raise PairError(f"{name}: expected a checker of toytf.check, got {wrong[0]}")
    whole = SOLUTION.sub(lambda found: CHECKS[found[1]].source.rstrip("\n"), text)
    try:
        notebook = myst.myst_to_notebook(whole)
        notebook.metadata, notebook.nbformat_minor = nbformat.from_dict(METADATA), 5
        nbformat.validate(notebook)
    except (myst.MystMetadataParsingError, YAMLError, ValidationError) as error:
        expected = "expected metadata such as :tags: [hide-input], got a mistake"
        raise PairError(f"{name}: {expected}: {error.__context__ or error}") from None
    for cell in notebook.cells:
        if lost := LOST_CELL.search(LISTING.sub("", cell.source)):
            expected = "expected cells in ```{code-cell} and ```, each closed"
            raise PairError(f"{name}: {expected}, got {lost[0]!r}")
        if cell.cell_type == "code" and "solution" in cell.metadata.get("tags", []):
            cell.metadata["jupyter"] = dict(FOLDED)
    return notebook


def _said(notebook):
    """Each cell but its id, its outputs, and what an editor keeps for itself."""
    cells = []
    for cell in notebook.cells:
        metadata = {k: v for k, v in cell.metadata.items() if k not in EDITOR_STATE}
        if cell.source.strip() or cell.cell_type != "markdown" or metadata:
            one = {"cell_type": cell.cell_type, "source": cell.source.strip("\n")}
            cells.append(one | {"metadata": metadata})
    return cells


def content(notebook):
    """What a notebook says, as one text: by this two versions are compared."""
    return json.dumps(_said(notebook), indent=1, sort_keys=True, ensure_ascii=False)


def write_text(notebook, name):
    """The text of a notebook.

    Raises PairError if a cell holds what no text can: a picture, a line +++, ...
    """
    named = new_notebook(metadata=HEAD)
    named.cells = nbformat.from_dict(_said(notebook))
    for cell in named.cells:
        for check in CHECKS.values() if cell.cell_type == "markdown" else ():
            name_of_it = f"\n{{{{ check.{check.name} }}}}\n"
            cell.source = cell.source.replace(f"\n{check.source}", name_of_it)
    text = myst.notebook_to_myst(named)
    pasted = any(cell.get("attachments") for cell in notebook.cells)
    if pasted or content(read_text(text, name)) != content(notebook):
        raise PairError(f"{name}: a pasted picture, a line +++, or a fence left open")
    return text


def _give_ids(notebook, stored, prefix):
    """Give each cell the id of the stored cell that it was; a new one gets its own.

    Jupytext finds which it was: the same elsewhere, or else the one in its place.
    """
    places = map_outputs_to_inputs(notebook.cells, stored.cells)
    for number, (cell, place) in enumerate(zip(notebook.cells, places, strict=True)):
        digest = hashlib.sha256(f"{number}\n{cell.source}".encode()).hexdigest()
        new = place is None
        cell.id = f"{prefix}-{digest[:6]}" if new else stored.cells[place].id


# ---------------------------------------------------------------- which is newer


def _read(path):
    try:
        return nbformat.read(path, as_version=4)
    except NotJSONError:
        raise PairError(f"{path.name}: expected a notebook, got no JSON") from None


def _kept(pair):
    """What the notebook said when it was written last, and in git: that is not lost."""
    kept = [pair.base.read_text("utf-8")] if pair.base.exists() else []
    show = ["git", "-C", pair.root, "show", f"HEAD:./{pair.name(pair.notebook)}"]
    run = subprocess.run(show, capture_output=True, encoding="utf-8")
    if run.returncode == 0:
        kept.append(content(nbformat.reads(run.stdout, as_version=4)))
    return kept


def remember(pair, notebook):
    """Keep what the two now say."""
    pair.base.parent.mkdir(parents=True, exist_ok=True)
    write_whole(pair.base, content(notebook).encode())


def notebook_from_text(pair, force=False):
    """The notebook to execute.

    Raises PairError if the text has a mistake, or the notebook an edit to lose.
    """
    name, stored_name = pair.name(pair.text), pair.name(pair.notebook)
    if not pair.text.exists():
        raise PairError(f"{name}: there is none; make text writes it")
    notebook = read_text(pair.text.read_text("utf-8"), name)
    stored = _read(pair.notebook) if pair.notebook.exists() else None
    saved = force or not stored or content(stored) in [content(notebook), *_kept(pair)]
    if not saved:
        raise PairError(
            f"{stored_name}: edited, so it stays.\n"
            f"  To keep the edit: book/text.py {stored_name}\n"
            f"  To lose it: book/execute.py --force {name}"
        )
    _give_ids(notebook, stored or new_notebook(), pair.stem.partition("_")[0])
    return notebook


def text_from_notebook(pair, force=False):
    """Bring what was edited in the notebook to its text; return what was done.

    Raises PairError if the notebook holds what a text cannot, or an edit of the text
    would be lost.
    """
    name, stored_name = pair.name(pair.text), pair.name(pair.notebook)
    if not pair.notebook.exists():
        return f"{name}: has no notebook yet; make notebooks makes it"
    stored = _read(pair.notebook)
    if pair.text.exists() and not force:
        then = content(read_text(pair.text.read_text("utf-8"), name))
        now, kept = content(stored), _kept(pair)
        if now == then:
            return f"{name}: unchanged"
        if now in kept:
            return f"{name}: newer than its notebook; make notebooks executes it"
        if then not in kept:
            raise PairError(
                f"{name} and {stored_name}: both edited, so both stay.\n"
                f"  To keep the text: book/execute.py --force {name}\n"
                f"  To keep the notebook: book/text.py --force {stored_name}"
            )
    pair.text.parent.mkdir(parents=True, exist_ok=True)
    write_whole(pair.text, write_text(stored, stored_name).encode())
    remember(pair, stored)
    return f"{name}: written"


def command_line(description):
    """The parser of both directions' command lines."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("files", nargs="*", type=Path, help="by default all")
    parser.add_argument("--force", action="store_true", help="lose edits")
    return parser


def chosen_pairs(parser, options):
    """The pairs that a command line names."""
    if options.force and not options.files:
        parser.error("--force: expected the files that it is meant for, got none")
    try:
        pairs = list(dict.fromkeys(map(pair_of, options.files))) or all_pairs()
    except PairError as error:
        parser.error(str(error))
    return pairs


def main(arguments):
    parser = command_line("Bring edits of notebooks to their texts.")
    options = parser.parse_args(arguments)
    failed = 0
    for pair in chosen_pairs(parser, options):
        try:
            print(text_from_notebook(pair, options.force))
        except PairError as error:
            print(error)
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
