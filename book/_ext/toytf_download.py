"""Sphinx extension: the notebook behind the download button, for a reader elsewhere.

Colab, VS Code, nbviewer and GitHub read Markdown and know no directive of MyST. So exercises and notes are Markdown
there, solutions stand folded in <details>, links into the book are words. Where `toytf` is missing, the first cell
installs it: from its file or its folder, if one is near, or from the address of site or source, if they have one
(`toytf_address`). Otherwise it says what to do.

It stands where Sphinx puts sources, in place of the source. A site with an address has the package beside it, as a
wheel.
"""

import contextlib
import os
import re
from pathlib import Path

import nbformat
from flit_core import buildapi
from nbformat.v4 import new_code_cell, new_markdown_cell
from sphinx.errors import ExtensionError

import toytf
from toytf.course.exercises import SOLUTION_TAG, number_of, parse, without_solutions, words_for_links

# What editors elsewhere ask of a notebook; no version of Python.
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python", "file_extension": ".py", "pygments_lexer": "ipython3"},
}
# The first cell. {NEEDED}: what pip is asked for, if neither file nor folder is near.
FIRST = '''\
# This notebook is a page of "The Transformer, Number by Number". It needs the course's
# own package, toytf. Where it is missing, this cell installs it, if it can: from its
# file beside this notebook, from the course's folder around it, or from its address.
import importlib.util
import subprocess
import sys
from pathlib import Path

needed = ("numpy", "matplotlib", "threadpoolctl", "tqdm", "toytf")
missing = [name for name in needed if importlib.util.find_spec(name) is None]
if missing:
    here = Path.cwd()
    near = [here / "toytf-{VERSION}-py3-none-any.whl", here, *here.parents]
    near = [p for p in near if p.is_file() or (p / "toytf/course/plot.py").is_file()]
    what = f"{near[0]}[plot]" if near else "{NEEDED}"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", what]
    if not what or sys.platform == "emscripten" or subprocess.run(pip).returncode:
        raise ModuleNotFoundError(
            f"""This cell cannot install {", ".join(missing)}.
If pip said why, you see it above.

{WORDS}

Install nothing of this name from anywhere else: it may be somebody else's."""
        )
    importlib.invalidate_caches()
'''
NOWHERE = '''\
The package toytf is part of the course: it is in the folder from which the book is
made. Whoever gave you this notebook has it. Take one of three ways:

1. Put this notebook into that folder, and run this cell again.
2. Make one file of the package, in that folder: python -m pip wheel --no-deps .
   Put toytf-{VERSION}-py3-none-any.whl beside this notebook (in Colab: drag it into
   the list of files at the left edge), and run this cell again.
3. Run in a cell of its own, with the folder's place, and then restart the kernel:

    %pip install "/place/of/the/folder[plot]"'''
AT_AN_ADDRESS = """\
Is there a network here? Or run in a cell of its own, and then restart the kernel:

    %pip install "{NEEDED}"

If the address leads nowhere any more, this notebook is older than the book: download
it again."""
# What is translated; "admonition" has a title of its own.
KNOWN = {"exercise", "solution", "note", "tip", "hint", "important", "warning", "admonition"}
LOOK = re.compile(r"^\{\.(margin|answered)\}\n", re.M)
_CODE = re.compile(r"^ {0,3}(`{3,}|~{3,}).*?^ {0,3}\1[`~]*[ \t]*$|(?<![}`])`+[^`\n]+`+", re.M | re.S)
_LEFT = re.compile(r"^:{3,}.*|\{[a-z:]+\}`|^\([\w-]+\)=$|^ {0,3}\{[.#].*|^\+\+\+.*", re.M)
_PICTURE = re.compile(r"!\[([^\]]+)\]\(([^):]+)\)")


def first_cell(version, needed=""):
    """The code that installs what is missing, or says how.

    version: that of toytf. needed: what pip is asked for, if the book has an address.
    """
    cell = FIRST.replace("{WORDS}", AT_AN_ADDRESS if needed else NOWHERE)
    return cell.replace("{NEEDED}", needed).replace("{VERSION}", version)


def elsewhere(notebook, name, version, needed=""):
    """A copy of a notebook of the book that shows everywhere what it should.

    notebook: as JSON. name: its file's name. version, needed: those of `first_cell`.

    Raises ValueError when a text has something of MyST that nobody here translates.
    """
    made = nbformat.from_dict({**notebook, "metadata": METADATA, "cells": []})
    made.cells.append(new_code_cell(first_cell(version, needed), id="needs"))
    for cell in nbformat.from_dict(notebook["cells"]):
        source = "".join(cell.source)
        if cell.cell_type == "markdown":
            cell = new_markdown_cell(markdown(source, name), id=cell.id)
        elif SOLUTION_TAG in cell.metadata.get("tags", []):  # a cell would stand open
            printed = (one.get("text") or one.get("data", {}).get("text/plain", "") for one in cell.outputs)
            said = "".join(map("".join, printed)).rstrip()  # a text, or its lines
            shown = f"```python\n{source.rstrip()}\n```" + f"\n\nIt prints\n\n```text\n{said}\n```" * bool(said)
            cell = new_markdown_cell(_folded("Code of the solutions", shown), id=cell.id)
        made.cells.append(cell)
    return made


def markdown(text, name):
    """A text without anything that only MyST knows."""
    text = LOOK.sub("", text)  # a note in the margin, and where one may stop, are paragraphs
    lines = text.splitlines()
    for found in reversed(parse(text, kinds=KNOWN)):
        lines[found.start : found.stop] = _translated(found).splitlines()
    text = _PICTURE.sub(r"*Picture: \1*", words_for_links("\n".join(lines), name, alone=False))
    if left := _LEFT.search(_CODE.sub("", text)):
        raise ValueError(f"expected Markdown, got {left[0]!r}, which only MyST knows")
    return text


def _translated(directive):
    """An exercise is a heading, a note a quotation; what is folded stays so."""
    if directive.kind == "exercise":
        return f"### Exercise {directive.argument}\n\n{directive.body}"
    if directive.kind == "solution":
        return _folded(f"Solution of {number_of(directive.argument)}", directive.body)
    if "dropdown" in directive.options.get("class", ""):
        return _folded(directive.argument, directive.body)
    inside = f"**{directive.argument or directive.kind.capitalize()}**\n\n{directive.body}"
    return "\n".join(f"> {line}".rstrip() for line in inside.splitlines())


def _folded(summary, body):
    # The blank lines are what makes Markdown of the inside.
    return f"<details>\n<summary>{summary}</summary>\n\n{body}\n\n</details>"


# ---------------------------------------------------------------- in the build


def what_pip_needs(app):
    """What pip is asked for from anywhere; empty if the book has no address. A site gets the package's wheel."""
    base, repository = app.config.toytf_site_url, app.config.toytf_repository
    if base and app.builder.name == "html":
        if app.config.toytf_epoch:  # the date of its files, so that it is the same each time
            os.environ["SOURCE_DATE_EPOCH"] = app.config.toytf_epoch
        with contextlib.chdir(Path(toytf.__file__).resolve().parent.parent):
            return f"toytf[plot] @ {base}{buildapi.build_wheel(str(app.outdir))}"
    return f"toytf[plot] @ git+{repository}" if repository else ""


def write(app, exception):
    """Put each notebook in the place of the source that Sphinx copied."""
    if exception is not None or app.builder.format != "html":
        return
    needed = what_pip_needs(app)
    for docname in app.env.found_docs:
        page = Path(app.env.doc2path(docname))
        place = Path(app.outdir, "_sources", f"{docname}.ipynb")
        if page.suffix == ".ipynb" and place.parent.is_dir():
            notebook = nbformat.read(page, as_version=4)
            if not app.config.toytf_solutions:
                notebook = without_solutions(notebook)
            try:
                made = elsewhere(notebook, page.name, toytf.__version__, needed)
            except ValueError as error:
                raise ExtensionError(f"{docname}: {error}") from error
            place.write_text(nbformat.writes(made) + "\n", "utf-8", newline="\n")


def setup(app):
    # after toytf_site, which removes what no page needs
    app.connect("build-finished", write, priority=950)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
