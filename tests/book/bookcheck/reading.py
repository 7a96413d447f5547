"""The book's files: notebooks, pages, their cells and texts."""

import ast
import re
from functools import cache
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parents[3]

PUBLISHED_DATA = sorted((ROOT / "book" / "replays").glob("source*.json"))


def read_notebook(path):
    """The notebook at ``path``, as nbformat 4."""
    return nbformat.read(path, as_version=4)


def chapter_paths():
    """The notebooks of the chapters, in order."""
    return sorted((ROOT / "notebooks").glob("*.ipynb"))


def notebook_paths():
    """Every notebook of the book, in reading order within its folder."""
    return [*chapter_paths(), *sorted((ROOT / "book").glob("*.ipynb"))]


def page_paths():
    """Every page of the book that has no code."""
    return sorted((ROOT / "book").glob("*.md"))


def where(name, index, cell):
    """How a message names a cell: the notebook, the place from the top, and the id."""
    return f"{name}, cell {index + 1} (id {cell.get('id', 'none')})"


def code_cells(nb):
    """``(index, cell)`` of every code cell."""
    return [(i, c) for i, c in enumerate(nb.cells) if c.cell_type == "code"]


def tags(cell):
    """The tags of a cell, as a set."""
    return set(cell.metadata.get("tags", []))


def _said(kind, data):
    """What is read of an output: nobody reads a script, and the numbers of an SVG's shapes are places on paper."""
    if kind == "image/svg+xml":
        return " ".join(re.findall(r">([^<]+)<", data))
    if kind == "text/html":
        return re.sub(r"<(script|style)\b.*?</\1>", "", data, flags=re.DOTALL)
    return data


def text_outputs(cell):
    """``(kind, text)`` of everything that the outputs of a cell say, pictures left out."""
    for output in cell.outputs:
        if output.output_type == "stream":
            yield output.name, output.text
        elif output.output_type == "error":
            yield "error", f"{output.ename}: {output.evalue}"
        else:
            for kind, data in output.data.items():
                if isinstance(data, str) and (kind == "image/svg+xml" or "image/" not in kind):
                    yield kind, _said(kind, data)


def shown_alt(cell):
    """The texts that stand in for, or under, a cell's picture."""
    shown = cell.metadata.get("mystnb", {})
    texts = [shown.get("image", {}).get("alt", ""), shown.get("figure", {}).get("caption", "")]
    return [text for text in texts if text]


@cache
def syntax_tree(source):
    """The syntax tree of a code cell; None for what only IPython can read."""
    try:
        return ast.parse(source)
    except SyntaxError:
        return None


def page_markdown(path):
    """The Markdown of a page or of a notebook, as one text."""
    written = path.read_text(encoding="utf-8")
    return _markdown_cells(written) if path.suffix == ".ipynb" else written


@cache  # every page is looked at for every other page that links to it
def _markdown_cells(written):
    cells = nbformat.reads(written, as_version=4).cells
    return "\n\n".join(c.source for c in cells if c.cell_type == "markdown")
