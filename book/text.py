"""Each executed page is a text, which one edits, and the notebook that is made of it.

    book/chapters/05_scaling.md  makes  notebooks/05_scaling.ipynb
    book/pages/follow.md         makes  book/follow.ipynb

book/execute.py goes from left to right. This file has what both directions share, and
`python book/text.py [file ...]`, by default all, goes from right to left: it brings
what was edited in JupyterLab back to the texts. Jupytext reads and writes them.
"""

import argparse
import ast
import hashlib
import itertools
import json
import re
import subprocess
import sys
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache, partial
from pathlib import Path

import nbformat
import yaml
from jupytext import myst

from toytf._command import write_whole

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
EDITOR_STATE = ("ExecuteTime", "collapsed", "execution", "scrolled", "trusted")
# What JupyterLab folds is no part of a text: a rule folds the cells of solutions.
FOLD, SOLUTION_TAG = "jupyter", "solution"
FOLDED = {"outputs_hidden": True, "source_hidden": True}
SIMILAR = 0.6  # difflib's own limit for a close match


class PairError(Exception):
    """A text, a notebook or the two of them are not as they should be; one sentence."""


@dataclass(frozen=True)
class Pair:
    """A text and its notebook, either of which may not be there yet."""

    root: Path
    text: Path
    notebook: Path

    @property
    def base(self):
        """The text as it was when the two were last the same; not under git."""
        return self.root / "_build" / "text" / self.text.parent.name / self.text.name

    def name(self, path):
        return path.relative_to(self.root).as_posix()


def pair_of(path):
    """The pair to which a text or a notebook belongs.

    Raises
    ------
    PairError
        If the path is not one of the two.
    """
    path = Path(path).resolve()
    for notebooks, texts in TEXTS.items():
        for folder, suffix in (notebooks, ".ipynb"), (texts, ".md"):
            if path.match(f"{folder}/*{suffix}"):
                root = path.parents[folder.count("/") + 1]
                return Pair(
                    root,
                    root / texts / f"{path.stem}.md",
                    root / notebooks / f"{path.stem}.ipynb",
                )
    expected = ", ".join(f"{n}/*.ipynb, {t}/*.md" for n, t in TEXTS.items())
    raise PairError(f"{path}: expected one of {expected}, got another place")


def all_pairs(root=ROOT):
    """Every pair of the book, in reading order; one of the two may be missing."""
    return [
        pair_of(root / notebooks / f"{stem}.ipynb")
        for notebooks, texts in TEXTS.items()
        for stem in sorted(
            {path.stem for path in (root / notebooks).glob("*.ipynb")}
            | {path.stem for path in (root / texts).glob("*.md")}
        )
    ]


# ---------------------------------------------------------------- reading and writing


def read_text(text, name):
    """The notebook that a text stands for, without outputs and with ids of no meaning.

    Raises
    ------
    PairError
        If the text has a mistake; it names the line.
    """
    tokens, lines = myst.get_parser().parse(text), text.splitlines()
    _check_head(tokens, name)
    _check_cells(tokens, lines, name)
    _check_solutions(lines, name)
    notebook = myst.myst_to_notebook(text)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = with_solutions(cell.source)
    _fold_solutions(notebook)
    notebook.metadata = nbformat.from_dict(METADATA)
    notebook.nbformat_minor = 5
    return notebook


def _check_head(tokens, name):
    head = None
    if tokens and tokens[0].type == "front_matter":
        try:
            head = yaml.safe_load(tokens[0].content)
        except yaml.YAMLError:
            head = tokens[0].content
    if head != HEAD:
        expected = " / ".join(myst.dump_yaml_blocks(HEAD, compact=False).splitlines())
        raise PairError(f"{name}, line 1: expected the head {expected}, got {head!r}")


def _check_cells(tokens, lines, name):
    """Refuse what Jupytext would read as something else than was meant."""
    fenced = set()
    for token in tokens:
        if token.type == "myst_block_break":
            _check_break(token, name)
        elif token.type == "fence":
            fenced.update(range(*token.map))
            _check_fence(token, lines, name)
    for number, line in enumerate(lines):
        if number not in fenced and re.match(r" {0,3}(```+|~~~+|:::+)\{\w+-cell", line):
            raise PairError(
                f"{name}, line {number + 1}: expected a cell of its own, in backticks, "
                "got colons or a cell inside HTML"
            )


def _check_break(token, name):
    at = f"{name}, line {token.map[0] + 1}"
    try:
        metadata = json.loads(token.content or "{}")
    except ValueError:
        raise PairError(
            f"{at}: expected +++ alone or with metadata in braces, "
            f"got +++ {token.content}"
        ) from None
    _check_metadata(metadata, at)


def _check_fence(token, lines, name):
    first, after = token.map
    at, kind = f"{name}, line {first + 1}", token.info.strip()
    is_cell = kind in (myst.CODE_DIRECTIVE, myst.RAW_DIRECTIVE)
    if kind.startswith("{") and not is_cell:
        raise PairError(
            f"{at}: expected a cell {myst.CODE_DIRECTIVE} or {myst.RAW_DIRECTIVE} "
            f"(directives have colons), got {kind}"
        )
    if is_cell and token.level:
        raise PairError(
            f"{at}: expected a cell of its own, got one inside a list or quote"
        )
    mark = re.escape(token.markup) + "+"
    closed = token.level or re.fullmatch(rf"\s*{mark}\s*", lines[after - 1])
    if not closed or re.search(rf"^\s*{mark}\{{", token.content, re.MULTILINE):
        raise PairError(f"{at}: expected {token.markup} below that closes it, got none")
    if is_cell:
        _check_options(token, name)


def _check_options(token, name):
    """The metadata on top of a cell are YAML, and those of a cell."""
    line = token.map[0] + 2
    block = token.content.startswith("---")
    if block and not re.search(r"^---", token.content[3:], re.MULTILINE):
        raise PairError(
            f"{name}, line {line}: expected --- below that closes it, got none"
        )
    try:
        _, options = myst.parse_directive_options(token.content, "")
    except (myst.MystMetadataParsingError, yaml.YAMLError) as error:
        broken = error if isinstance(error, yaml.YAMLError) else error.__context__
        mark = getattr(broken, "problem_mark", None)
        line += (mark.line if mark else 0) + block
        problem = getattr(broken, "problem", None) or broken
        raise PairError(
            f"{name}, line {line}: expected YAML, got a mistake: {problem}"
        ) from None
    _check_metadata(options, f"{name}, line {line}")


def _check_metadata(metadata, at):
    if not isinstance(metadata, dict):
        raise PairError(
            f"{at}: expected metadata such as :tags: [hide-input], got {metadata!r}"
        )
    try:
        json.dumps(metadata)
        nbformat.v4.new_code_cell(metadata=metadata)
    except (TypeError, nbformat.ValidationError) as error:
        problem = str(error).partition("\n")[0]
        raise PairError(
            f"{at}: expected metadata such as :tags: [hide-input], got {problem}"
        ) from None


def read_notebook(text, name):
    """A stored notebook, without what an editor keeps in it for itself.

    Raises
    ------
    PairError
        If the file holds no notebook, or two of its cells have one id.
    """
    try:
        ids = [cell["id"] for cell in json.loads(text)["cells"]]
    except json.JSONDecodeError as error:
        raise PairError(
            f"{name}, line {error.lineno}: expected a notebook, got {error.msg}"
        ) from None
    except (KeyError, TypeError):
        raise PairError(
            f"{name}, line 1: expected a notebook whose cells have ids, got another one"
        ) from None
    if twice := [i for i in ids if ids.count(i) > 1]:
        entry = f'"id": {json.dumps(twice[0])}'
        lines = [n for n, line in enumerate(text.splitlines(), 1) if entry in line]
        raise PairError(
            f"{name}, line {lines[-1]}: expected an id for each cell, "
            f"got {twice[0]!r} twice"
        )
    notebook = nbformat.reads(text, as_version=4)
    for cell in notebook.cells:
        for key in EDITOR_STATE:
            cell.metadata.pop(key, None)
    return notebook


def _read(pair, path):
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise PairError(f"{pair.name(path)}: expected UTF-8, got {error}") from None


def content(notebook):
    """What a text says about a notebook: each cell but its id and its outputs.

    Blank lines around a source, Markdown cells with nothing in them, and what is folded
    say nothing.
    """
    found = []
    for cell in notebook.cells:
        source = cell.source.strip("\n")
        if cell.cell_type == "markdown":
            source = source.rstrip()
        if source or cell.cell_type != "markdown" or cell.metadata:
            extra = cell.get("attachments") or {}
            metadata = {k: v for k, v in cell.metadata.items() if k != FOLD}
            found.append((cell.cell_type, source, metadata, dict(extra)))
    return found


def write_text(notebook, name):
    """The text of a notebook.

    Raises
    ------
    PairError
        If a cell holds something that a text cannot hold.
    """
    cells = content(notebook)
    following = ("code", "1", {}, {})
    for number, cell in enumerate(cells, 1):
        try:
            again = content(read_text(_as_text([cell, following]), name))
        except PairError:
            again = None
        if again != [cell, following]:
            begin = cell[1].partition("\n")[0]
            raise PairError(
                f"{name}, cell {number} ({begin!r}): expected a cell that a text can "
                "hold, got a pasted picture, a line +++, a cell inside Markdown, a "
                "fence or comment left open, or a line end of another kind"
            )
    return _as_text(cells)


def _as_text(cells):
    notebook = nbformat.v4.new_notebook(metadata=nbformat.from_dict(HEAD))
    for kind, source, metadata, _ in cells:
        if kind == "markdown":
            source = without_solutions(source)
        cell = {"cell_type": kind, "source": source, "metadata": metadata}
        notebook.cells.append(nbformat.from_dict(cell))
    return myst.notebook_to_myst(notebook)


# ---------------------------------------------------------------- solutions
#
# A function that solves an exercise stands once, in toytf/check, where it is graded
# with. A text says {{ check.softmax }} on a line of its own.

NAMED = re.compile(r"^\{\{ check\.(\w+) \}\}$", re.MULTILINE)


def with_solutions(markdown, source_of=None):
    """Set each solution that is named where its name stands; by default today's."""
    return NAMED.sub(lambda named: (source_of or _solution)(named[1]), markdown)


def without_solutions(markdown):
    """Name each solution that stands in Markdown instead."""
    for name in re.findall(r"^def (\w+)\(", markdown, re.MULTILINE):
        if name in checkers():
            whole = re.compile(rf"^{re.escape(_solution(name))}$", re.MULTILINE)
            markdown = whole.sub(f"{{{{ check.{name} }}}}", markdown)
    return markdown


@cache
def checkers():
    from toytf.check import CHECKS  # a second that nobody waits for who only reads

    return CHECKS


@cache
def _solution(name):
    return checkers()[name].source.rstrip("\n")


def _check_solutions(lines, name):
    for number, line in enumerate(lines, 1):
        found = NAMED.match(line)
        if found and found[1] not in checkers():
            raise PairError(
                f"{name}, line {number}: expected a checker of toytf.check, "
                f"got {found[1]!r}"
            )


def _solution_then(pair, commit, name):
    """What stood in toytf/check under a name, as git knows it, or else today's."""
    places = _git(pair, "grep", "-l", f"^def {name}(", commit, "--", "toytf/check")
    for place in (places or "").splitlines():
        source = _git(pair, "show", place) or ""
        for node in ast.parse(source).body:
            if getattr(node, "name", None) == name:
                lines = source.splitlines()[node.lineno - 1 : node.end_lineno]
                return "\n".join(lines)
    return _solution(name)


def _fold_solutions(notebook):
    """Close the cells of solutions, code and outputs, where JupyterLab opens them."""
    for cell in notebook.cells:
        if cell.cell_type == "code" and SOLUTION_TAG in cell.metadata.get("tags", []):
            cell.metadata[FOLD] = dict(FOLDED)


# ---------------------------------------------------------------- ids


def give_ids(notebook, stored, prefix):
    """Give each cell the id of the stored cell that it was; to a new one its own.

    A cell is the stored one with the same source, first in its place, then anywhere
    (it was moved). Else it is the one of its type, between the same neighbours, that
    has most words in common with it (it was edited). A new cell's id is made of its
    source.
    """
    old, new = stored.cells, notebook.cells
    ids = {}  # by place in the new notebook
    left = dict(enumerate(old))  # stored cells that nobody is yet, by their place
    matcher = SequenceMatcher(
        None, [_key(cell) for cell in old], [_key(cell) for cell in new], autojunk=False
    )
    between = []
    for what, i1, i2, j1, j2 in matcher.get_opcodes():
        if what == "equal":
            for i, j in zip(range(i1, i2), range(j1, j2), strict=True):
                ids[j] = left.pop(i).id
        elif what == "replace":
            between += itertools.product(range(i1, i2), range(j1, j2))
    for j, cell in enumerate(new):
        if j not in ids:
            for i in left:
                if _key(left[i]) == _key(cell):
                    ids[j] = left.pop(i).id
                    break
    close = [
        (_similarity(old[i], new[j]), i, j)
        for i, j in between
        if i in left and j not in ids
    ]
    for ratio, i, j in sorted(close, key=lambda found: -found[0]):
        if ratio >= SIMILAR and i in left and j not in ids:
            ids[j] = left.pop(i).id
    for j, cell in enumerate(new):
        cell.id = ids.get(j) or _new_id(cell, prefix, ids.values())
        ids[j] = cell.id


def _key(cell):
    return cell.cell_type, cell.source


def _similarity(a, b):
    if a.cell_type != b.cell_type:
        return 0.0
    words, others = _words(a.source), _words(b.source)
    matcher = SequenceMatcher(None, words, others, autojunk=False)
    if matcher.real_quick_ratio() < SIMILAR or matcher.quick_ratio() < SIMILAR:
        return 0.0  # upper bounds, soon told
    return matcher.ratio()


@cache
def _words(source):
    return re.findall(r"\w+|[^\w\s]", source)


def _new_id(cell, prefix, taken):
    for number in itertools.count():
        seed = f"{cell.cell_type} {number}\n{cell.source}"
        new = f"{prefix}-{hashlib.sha256(seed.encode()).hexdigest()[:6]}"
        if new not in taken:
            return new


# ---------------------------------------------------------------- which is newer


def _known(pair):
    """What the two said when they were last the same, as the last run or git knows it.

    Git's is the text as it was when the notebook was committed last, or, when there was
    none yet, as it was committed first.
    """
    texts = []
    if pair.base.exists():
        texts.append(pair.base.read_text("utf-8"))
    text, log = pair.name(pair.text), ("log", "-1", "--format=%H")
    for choice in ["--", pair.name(pair.notebook)], ["--diff-filter=A", "--", text]:
        if commit := _git(pair, *log, *choice):
            commit = commit.strip()
            if found := _git(pair, "show", f"{commit}:./{text}"):
                then = partial(_solution_then, pair, commit)
                texts.append(with_solutions(found, then))
                break
    for text in texts:
        try:
            yield content(read_text(text, "base"))
        except PairError:
            continue


def _git(pair, *arguments):
    try:
        run = subprocess.run(
            ["git", "-C", pair.root, *arguments], capture_output=True, encoding="utf-8"
        )
    except OSError:  # there is no git
        return None
    return run.stdout if run.returncode == 0 else None


def remember(pair, text):
    """Keep the text with which the notebook now agrees."""
    pair.base.parent.mkdir(parents=True, exist_ok=True)
    write_whole(pair.base, with_solutions(text).encode())


def _both_edited(pair, stored):
    """Lay the notebook's text beside the other one, and say what can be done."""
    text, notebook = pair.name(pair.text), pair.name(pair.notebook)
    beside = pair.base.with_suffix(".notebook.md")
    beside.parent.mkdir(parents=True, exist_ok=True)
    write_whole(beside, write_text(stored, notebook).encode())
    return PairError(
        f"{text} and {notebook}: both were edited since they were last the same. "
        "Nothing is written.\n"
        f"  See the difference:  git diff --no-index {text} {pair.name(beside)}\n"
        f"  Keep the text:       .venv/bin/python book/execute.py --force {text}\n"
        f"  Keep the notebook:   .venv/bin/python book/text.py --force {notebook}"
    )


def notebook_from_text(pair, force=False):
    """The notebook to execute, and the text of which it is made.

    Raises
    ------
    PairError
        If the text is missing or has a mistake, or if the stored notebook was edited
        and that would be lost; ``force`` loses it.
    """
    name = pair.name(pair.text)
    if not pair.text.exists():
        raise PairError(
            f"{pair.name(pair.notebook)}: expected its text {name}, got none; "
            "make text writes it"
        )
    text = _read(pair, pair.text)
    notebook = read_text(text, name)
    stored = nbformat.v4.new_notebook()
    if pair.notebook.exists():
        stored_name = pair.name(pair.notebook)
        stored = read_notebook(_read(pair, pair.notebook), stored_name)
        now = content(stored)
        if now != content(notebook) and not force:
            known = list(_known(pair))
            if now not in known and content(notebook) in known:
                raise PairError(
                    f"{stored_name}: edited, and its text {name} was not; "
                    "make text brings the edit there"
                )
            if now not in known:
                raise _both_edited(pair, stored)
    give_ids(notebook, stored, pair.text.stem.partition("_")[0])
    return notebook, text


def text_from_notebook(pair, force=False):
    """Bring what was edited in the notebook to its text; return what was done.

    Raises
    ------
    PairError
        If the notebook is broken or holds what a text cannot hold, or if the text was
        edited too and that would be lost; ``force`` loses it.
    """
    name, stored_name = pair.name(pair.text), pair.name(pair.notebook)
    if not pair.notebook.exists():
        return f"{name}: has no notebook yet; make notebooks makes it"
    stored = read_notebook(_read(pair, pair.notebook), stored_name)
    if pair.text.exists() and not force:
        text = _read(pair, pair.text)
        now, then = content(stored), content(read_text(text, name))
        if now == then:
            remember(pair, text)
            return f"{name}: unchanged"
        known = list(_known(pair))
        if now in known:
            return f"{name}: newer than its notebook; make notebooks executes it"
        if then not in known:
            raise _both_edited(pair, stored)
    text = write_text(stored, stored_name)
    pair.text.parent.mkdir(parents=True, exist_ok=True)
    write_whole(pair.text, text.encode())
    remember(pair, text)
    return f"{name}: written"


def chosen_pairs(arguments, description):
    """The pairs that a command line names, by default all, and what it forces."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("files", nargs="*", type=Path, help="texts or notebooks")
    parser.add_argument("--force", action="store_true", help="overwrite edits")
    options = parser.parse_args(arguments)
    if options.force and not options.files:
        parser.error("--force: expected the files that it is meant for, got none")
    try:
        pairs = [pair_of(path) for path in options.files] or all_pairs()
    except PairError as error:
        parser.error(str(error))
    for pair in pairs:
        if not (pair.text.exists() or pair.notebook.exists()):
            parser.error(f"{pair.name(pair.text)}: expected a file, got none")
    return list(dict.fromkeys(pairs)), options.force


def main(arguments):
    pairs, force = chosen_pairs(arguments, "Bring edits of notebooks to their texts.")
    good = True
    for pair in pairs:
        try:
            print(text_from_notebook(pair, force))
        except PairError as error:
            print(error)
            good = False
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
