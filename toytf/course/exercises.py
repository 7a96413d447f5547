"""The exercises of the book, read from its notebooks: the master of everything that is handed out.

Examples
--------
>>> from toytf.course.exercises import parse
>>> text = '''
... :::{exercise} 9.1: One row
... :label: ex-09-1
... :nonumber:
...
... *By hand, level 1, 5 min*
...
... Normalise the row. ([Layer norm](#layer-norm))
... :::
... '''
>>> [(d.kind, d.argument, d.options["label"]) for d in parse(text)]
[('exercise', '9.1: One row', 'ex-09-1')]
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from toytf import check
from toytf.check.answers import ByHand
from toytf.check.core import Check

KINDS = ("by hand", "code", "explain", "explore")
SOLUTION_TAG = "solution"
NOT_ANSWERED = "YOUR ANSWER HERE"  # in place of an answer in words; nbgrader's words too, which it gives 0 points

_KIND = f"({'|'.join(KINDS)})"
_ABOUT = re.compile(
    rf"^\*(?P<kinds>(?i:{_KIND})( and {_KIND})*), level (?P<level>[123]), (?P<minutes>\d+) min\*(?:\n\n|$)"
)
_CODE = re.compile(r"^ {0,3}(?P<fence>`{3,}|~{3,}).*?(?:^ {0,3}(?P=fence)[`~]*[ \t]*$|\Z)", re.M | re.S)
_OPTION = re.compile(r"^:([\w-]+):[ \t]*(.*?)[ \t]*$")
_LINK = re.compile(r"(\(?)\[([^\]]+)\]\(((?:\.\./)?(?:notebooks/|book/)?[\w.-]+\.(?:ipynb|md))?(#[^)\s]+)?\)")
_SECTION = re.compile(r"\[[^\]]+\]\((?:\.\./notebooks/)?(?P<file>[\w.-]+\.ipynb)?#(?!exercises\))(?P<slug>[^)\s]+)\)")


# ---------------------------------------------------------------- the directives


@dataclass(frozen=True)
class Directive:
    """An exercise, a solution or another directive as it stands in a cell, with the lines that it takes."""

    kind: str  # "exercise", "solution", "note", ...
    argument: str  # what follows the braces: the title, or the label of the exercise that is solved
    options: Mapping[str, str]
    body: str
    start: int
    stop: int


def parse(markdown: str, kinds: Iterable[str] = ("exercise", "solution")) -> list[Directive]:
    """Find the exercises and solutions in a text, or other kinds of directives; what stands in code fences is none.

    One that is not closed is a `ValueError`.
    """
    text = _CODE.sub(lambda code: re.sub("^:::", "   ", code[0], flags=re.M), markdown)  # of the same length
    opens = rf"^(?P<fence>:{{3,}})\{{(?P<kind>{'|'.join(kinds)})\}}[ \t]*(?P<argument>.*?)[ \t]*$"
    found, end = [], 0
    for begin in re.finditer(opens, text, re.M):
        if begin.start() < end:  # inside of another
            continue
        close = re.compile(rf"^:{{{len(begin['fence'])},}}[ \t]*$", re.M).search(text, begin.end())
        if close is None:
            raise ValueError(f"{begin[0]}: expected a line {begin['fence']} that closes it, got none")
        end = close.end()
        inside, options = markdown[begin.end() + 1 : close.start()].splitlines(), {}
        while inside and (option := _OPTION.match(inside[0])):
            options[option[1]] = option[2]
            inside.pop(0)
        start, last = (text.count("\n", 0, place) for place in (begin.start(), end))
        body = "\n".join(inside).strip()
        found.append(Directive(begin["kind"], begin["argument"], options, body, start, last + 1))
    return found


# ---------------------------------------------------------------- reading the book


def number_of(label: str) -> str:
    """The number in the book of the exercise with a label: "9.1" for "ex-09-1"."""
    _, chapter, number = label.split("-")
    return f"{int(chapter)}.{int(number)}"


@dataclass(frozen=True)
class Exercise:
    """One exercise of the book."""

    label: str  # "ex-09-1"
    title: str  # without its number
    kinds: tuple[str, ...]  # of `KINDS`
    level: int  # 1, 2 or 3
    minutes: int  # for somebody who has read the chapter
    section: str  # where it belongs: "09_residual_and_layer_norm.ipynb#layer-norm"
    text: str  # Markdown, without the line that has kinds, level and minutes
    solution: str  # Markdown
    check: Check | None = None  # if the answer is a function
    by_hand: ByHand | None = None  # if the answer is numbers
    folded: bool = True  # whether the book shows the solution only when it is opened

    @property
    def chapter(self) -> int:
        return int(self.label.split("-")[1])

    @property
    def number(self) -> str:
        """Its number in the book: "9.1"."""
        return number_of(self.label)

    @property
    def points(self) -> int:
        """The checker's points for a function, else the level."""
        return self.check.points if self.check else self.level

    @property
    def kind(self) -> str:
        """How it is graded: "function", "by hand", or "text" by a person."""
        return "function" if self.check else "by hand" if self.by_hand else "text"


def read_notebook(path: Path) -> dict:
    """A notebook as JSON, the source of each cell as one text; a file of another kind is a `ValueError`."""
    try:
        notebook = json.loads(Path(path).read_text("utf-8"))
        for cell in notebook["cells"]:
            cell["source"] = "".join(cell["source"])
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path}: expected a Jupyter notebook, got {type(error).__name__}: {error}") from error
    return notebook


def notebooks(folder: Path, chapters: Iterable[int] | None = None) -> list[Path]:
    """The chapters in a folder, in their order, or some of them; none, or not those asked for, is a `ValueError`."""
    paths = {int(path.name[:2]): path for path in sorted(Path(folder).glob("[0-9][0-9]_*.ipynb"))}
    if not paths:
        raise ValueError(f"folder: expected one with notebooks such as 09_name.ipynb, got {folder}")
    wanted = list(paths) if chapters is None else sorted(set(chapters))
    if missing := [n for n in wanted if n not in paths]:
        raise ValueError(f"chapters: expected some of {', '.join(map(str, paths))}, got {missing[0]}")
    return [paths[n] for n in wanted]


def read(folder: Path | str, chapters: Iterable[int] | None = None) -> dict[str, Exercise]:
    """Read the exercises of the chapters in a folder, all or some: by label, in the order of the book.

    One that has no solution, or a head of another form than CONTRIBUTING says, is a `ValueError`.
    """
    exercises = {}
    for path in notebooks(Path(folder), chapters):
        texts = [cell["source"] for cell in read_notebook(path)["cells"] if cell["cell_type"] == "markdown"]
        directives = [directive for text in texts for directive in parse(text)]
        solutions = {one.argument: one for one in directives if one.kind == "solution"}
        for one in (one for one in directives if one.kind == "exercise"):
            exercise = _exercise(one, path, solutions)
            exercises[exercise.label] = exercise
    return exercises


def _exercise(one: Directive, path: Path, solutions: Mapping[str, Directive]) -> Exercise:
    """An exercise as it stands in a chapter, with its solution and its checker."""
    label, chapter = one.options.get("label", ""), path.name[:2]
    about, section = _ABOUT.match(one.body), _SECTION.search(one.body)
    # The number stands in the title, so that it is the same wherever the exercise is read: each reader of
    # directives would count by itself, and `:nonumber:` says that it shall not.
    title = re.fullmatch(r"\d+\.(\d+): (.+)", one.argument)
    due = title and f"ex-{chapter}-{title[1]}"
    for wanted, is_so in (
        (f'a title such as "{int(chapter)}.1: Name"', title and one.argument.startswith(f"{int(chapter)}.")),
        (f":label: {due}", label == due),
        (":nonumber:, since the title has the number", "nonumber" in one.options),
        ('a first line such as "*By hand, level 1, 5 min*"', about),
        ("a link to its section, such as [Layer norm](#layer-norm)", section),
        ("a solution", label in solutions),
    ):
        if not is_so:
            raise ValueError(f"{path.parent.name}/{path.name}: exercise {one.argument}: expected {wanted}")
    solution = solutions[label]
    return Exercise(
        label,
        title[2],
        tuple(about["kinds"].lower().split(" and ")),
        int(about["level"]),
        int(about["minutes"]),
        f"{section['file'] or path.name}#{section['slug']}",
        one.body[about.end() :],
        solution.body,
        next((checker for checker in check.CHECKS.values() if checker.exercise == label), None),
        check.BY_HAND.get(number_of(label)),
        "dropdown" in solution.options.get("class", "").split(),
    )


# ---------------------------------------------------------------- outside of the book


def words_for_links(text: str, home: str, *, alone: bool = True) -> str:
    """Put words in place of the links into the book in a text, Markdown from the notebook `home`.

    Unless it stands `alone`, without the rest of its notebook, links within that name no chapter.

    >>> words_for_links("See ([Layer norm](#layer-norm)).", "09_residual_and_layer_norm.ipynb")
    'See (*Layer norm*, chapter 9).'
    >>> words_for_links("See [chapter 3](../notebooks/03_positions.ipynb).", "09_residual_and_layer_norm.ipynb")
    'See chapter 3.'
    """

    def replace(link: re.Match) -> str:
        bracket, words, file, slug = link[1], link[2], Path(link[3] or home).name, link[4] or ""
        if not link[3] and not slug:
            return link[0]
        if not alone and file == home:
            return f"{bracket}*{words}*"
        if not re.match(r"\d\d_", file) or re.match(r"chapter \d", words):
            return bracket + words
        chapter = f"chapter {int(file[:2])}"
        return f"{bracket}*{words}*, {chapter}" if bracket else f"*{words}* ({chapter})"

    return _LINK.sub(replace, text)


def without_solutions(notebook: dict) -> dict:
    """Return a copy of a notebook in which no solution is left, nor what points at one.

    Solutions go, and so do the cells that are tagged "solution", with their outputs: code that computes or shows one,
    and the text that announces it. Everything else stays as it is: a cell's source may be a text or a list of lines,
    and stays so. A solution that is not closed is a `ValueError`.
    """
    left, cells = copy.deepcopy(notebook), []
    for cell in left["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown" and (found := parse(source, ["solution"])):
            lines = source.splitlines()
            for directive in reversed(found):
                del lines[directive.start : directive.stop]
            source = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")
            cell["source"] = source if isinstance(cell["source"], str) else source.splitlines(keepends=True)
        tagged = SOLUTION_TAG in cell.get("metadata", {}).get("tags", [])
        if not tagged and (source.strip() or cell["cell_type"] == "code"):
            cells.append(cell)
    left["cells"] = cells
    return left
