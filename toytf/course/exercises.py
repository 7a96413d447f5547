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
LEVELS = (1, 2, 3)
SOLUTION_TAG = "solution"
NOT_ANSWERED = "YOUR ANSWER HERE"  # in place of an answer in words; nbgrader's words too, which it gives 0 points

# The number stands in the title, so that it is the same wherever the exercise is read: each reader of
# directives would count by itself, and `:nonumber:` says that it shall not.
_TITLE = re.compile(r"^(?P<number>\d+\.\d+): (?P<title>.+)$")
_KIND = f"({'|'.join(KINDS)})"
_ABOUT = re.compile(
    rf"^\*(?P<kinds>(?i:{_KIND})( and {_KIND})*), level (?P<level>[123]), (?P<minutes>\d+) min\*(?:\n\n|$)"
)
_LABEL = re.compile(r"^ex-(\d\d)-(\d+)$")
_OPENS = re.compile(r"^(?P<fence>:{3,})\{(?P<kind>[\w-]+)\}[ \t]*(?P<argument>.*?)[ \t]*$")
_OPTION = re.compile(r"^:([\w-]+):[ \t]*(.*?)[ \t]*$")
_CODE_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_LINK = re.compile(r"(\(?)\[([^\]]+)\]\(((?:\.\./)?(?:notebooks/|book/)?[\w.-]+\.(?:ipynb|md))?(#[^)\s]+)?\)")
_SECTION = re.compile(r"\[[^\]]+\]\((?:\.\./notebooks/)?(?P<file>[\w.-]+\.ipynb)?#(?P<slug>[^)\s]+)\)")


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


def parse(markdown: str, kinds: Iterable[str] | None = ("exercise", "solution")) -> list[Directive]:
    """Find the exercises and solutions in a text, in their order; what stands in code fences is none.

    Parameters
    ----------
    markdown : str
    kinds : iterable of str, optional
        Which directives; None for all. What stands inside of a found one is not looked at.

    Raises
    ------
    ValueError
        If one is not closed.
    """
    lines = markdown.splitlines()
    found, i = [], 0
    while i < len(lines):
        if fence := _CODE_FENCE.match(lines[i]):
            closes = re.compile(rf"^ {{0,3}}{fence[1][0]}{{{len(fence[1])},}}\s*$")
            i = _next(lines, i + 1, closes, len(lines)) + 1
        elif (opens := _OPENS.match(lines[i])) and (kinds is None or opens["kind"] in kinds):
            stop = _next(lines, i + 1, re.compile(rf"^:{{{len(opens['fence'])},}}\s*$"), None)
            if stop is None:
                raise ValueError(f"{lines[i]}: expected a line {opens['fence']} that closes it, got none")
            inside, options = lines[i + 1 : stop], {}
            while inside and (option := _OPTION.match(inside[0])):
                options[option[1]] = option[2]
                inside.pop(0)
            body = "\n".join(inside).strip()
            found.append(Directive(opens["kind"], opens["argument"], options, body, i, stop + 1))
            i = stop + 1
        else:
            i += 1
    return found


def _next(lines: list[str], start: int, pattern: re.Pattern, otherwise: int | None) -> int | None:
    return next((i for i in range(start, len(lines)) if pattern.match(lines[i])), otherwise)


# ---------------------------------------------------------------- reading the book


def number_of(label: str) -> str:
    """The number in the book of the exercise with a label: "9.1" for "ex-09-1"."""
    _, chapter, number = label.split("-")
    return f"{int(chapter)}.{int(number)}"


@dataclass(frozen=True)
class Exercise:
    """One exercise of the book.

    Parameters
    ----------
    label : str
        "ex-09-1".
    title : str
        Without its number.
    kinds : tuple of str
        Of `KINDS`.
    level : int
        1, 2 or 3.
    minutes : int
        For somebody who has read the chapter.
    section : str
        The section that it belongs to: "09_residual_and_layer_norm.ipynb#layer-norm".
    text, solution : str
        Markdown; the line with kinds, level and minutes is not repeated.
    check : Check, optional
        Its checker, if the answer is a function.
    by_hand : ByHand, optional
        Its answers, if they are numbers.
    folded : bool
        Whether the book shows the solution only when it is opened.
    """

    label: str
    title: str
    kinds: tuple[str, ...]
    level: int
    minutes: int
    section: str
    text: str
    solution: str
    check: Check | None = None
    by_hand: ByHand | None = None
    folded: bool = True

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
    """A notebook as JSON, the source of each cell as one text.

    Raises
    ------
    ValueError
        If the file holds no notebook.
    """
    try:
        notebook = json.loads(Path(path).read_text("utf-8"))
        for cell in notebook["cells"]:
            cell["source"] = "".join(cell["source"])
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path}: expected a Jupyter notebook, got {type(error).__name__}: {error}") from error
    return notebook


def notebooks(folder: Path, chapters: Iterable[int] | None = None) -> list[Path]:
    """The chapters in a folder, in their order, or some of them.

    Raises
    ------
    ValueError
        If there are none, or not the ones that are asked for.
    """
    paths = {int(path.name[:2]): path for path in sorted(Path(folder).glob("[0-9][0-9]_*.ipynb"))}
    if not paths:
        raise ValueError(f"folder: expected one with notebooks such as 09_name.ipynb, got {folder}")
    wanted = list(paths) if chapters is None else sorted(set(chapters))
    if missing := [n for n in wanted if n not in paths]:
        raise ValueError(f"chapters: expected some of {', '.join(map(str, paths))}, got {missing[0]}")
    return [paths[n] for n in wanted]


def read(
    folder: Path | str,
    chapters: Iterable[int] | None = None,
    *,
    checks: Iterable[Check] | None = None,
    by_hand: Iterable[ByHand] | None = None,
) -> dict[str, Exercise]:
    """Read the exercises of the chapters in a folder.

    Parameters
    ----------
    folder : path
        The book's notebooks.
    chapters : iterable of int, optional
        By default all.
    checks, by_hand : iterable, optional
        What checks the answers; by default that of `toytf.check`.

    Returns
    -------
    dict from str to Exercise
        By label, in the order of the book.

    Raises
    ------
    ValueError
        With one line for each thing that is wrong: a title of another form, a label that stands
        twice, an exercise without solution, a checker without exercise, ...
    """
    paths = notebooks(Path(folder), chapters)
    problems: list[str] = []
    found, solutions, home = _labelled(paths, problems)
    numbers = {int(path.name[:2]) for path in paths}
    checker = _by_label("check", check.CHECKS.values() if checks is None else checks, numbers, found, problems)
    pencil = _by_label("byhand", check.BY_HAND.values() if by_hand is None else by_hand, numbers, found, problems)
    exercises = {}
    for label, directive in found.items():
        where = f"{home[label].parent.name}/{home[label].name}: exercise {label}"
        if label in checker and label in pencil:
            problems.append(f"{where}: expected one checker, got check and byhand")
        about = _about(label, directive, home[label], where, problems)
        if about and label in solutions:
            folded = "dropdown" in solutions[label].options.get("class", "").split()
            exercises[label] = Exercise(
                label, *about, solutions[label].body, checker.get(label), pencil.get(label), folded
            )
    if problems:
        raise ValueError("\n".join(problems))
    return exercises


def _labelled(paths: Iterable[Path], problems: list[str]) -> tuple[dict, dict, dict]:
    """Exercises and solutions by label, and the notebook of each."""
    found: dict[str, Directive] = {}
    solutions: dict[str, Directive] = {}
    home: dict[str, Path] = {}
    for path in paths:
        where = f"{path.parent.name}/{path.name}"
        for directive in _directives(path, where, problems):
            is_exercise = directive.kind == "exercise"
            label = directive.options.get("label", "") if is_exercise else directive.argument
            kept, matched = found if is_exercise else solutions, _LABEL.match(label)
            at = f"{where}: {directive.kind} {label or directive.argument}"
            if not matched or int(matched[1]) != int(path.name[:2]):
                problems.append(f"{at}: label: expected ex-{path.name[:2]}-1, -2, ..., got {label!r}")
            elif label in kept:
                problems.append(f"{at}: label: expected one {directive.kind} of this label, got two")
            else:
                kept[label] = directive
                home[label] = path if is_exercise else home.get(label, path)
    for label in sorted(found.keys() ^ solutions.keys()):
        missing = f"exercise {label}: expected a solution"
        if label in solutions:
            missing = f"solution of {label}: expected such an exercise"
        problems.append(f"{home[label].parent.name}/{home[label].name}: {missing}, got none")
    return found, solutions, home


def _about(label: str, directive: Directive, path: Path, where: str, problems: list[str]) -> tuple | None:
    """Title, kinds, level, minutes, section and text of an exercise; None if one of them is not as expected."""
    title, about = _TITLE.match(directive.argument), _ABOUT.match(directive.body)
    section = _section(directive.body, path)
    if not title or title["number"] != number_of(label):
        problems.append(f'{where}: title: expected "{number_of(label)}: ...", got "{directive.argument}"')
    if not about:
        first = directive.body.partition("\n")[0]
        problems.append(f'{where}: first line: expected "*By hand, level 1, 5 min*", got "{first}"')
    if "nonumber" not in directive.options:
        problems.append(f"{where}: options: expected :nonumber:, since the title has the number, got none")
    if section is None:
        problems.append(f"{where}: text: expected a link to its section, such as [Layer norm](#layer-norm), got none")
    if not (title and about and section):
        return None
    kinds = tuple(about["kinds"].lower().split(" and "))
    return title["title"], kinds, int(about["level"]), int(about["minutes"]), section, directive.body[about.end() :]


def _directives(path: Path, where: str, problems: list[str]) -> list[Directive]:
    found = []
    for cell in read_notebook(path)["cells"]:
        if cell["cell_type"] == "markdown":
            try:
                found += parse(cell["source"])
            except ValueError as error:
                problems.append(f"{where}: {error}")
    return found


def _by_label(name: str, checkers: Iterable, chapters: set[int], exercises: Mapping, problems: list[str]) -> dict:
    """Checkers by the label of their exercise; those of chapters that are not read stay out."""
    found: dict = {}
    for one in checkers:
        label = one.exercise
        matched = _LABEL.match(label)
        what = f"{name}.{one.name}" if isinstance(one, Check) else f'{name}("{label}")'
        if not matched:
            problems.append(f"{what}: exercise: expected a label such as ex-09-1, got {label!r}")
        elif int(matched[1]) not in chapters:
            continue
        elif label not in exercises:
            problems.append(f"{what}: exercise: expected the label of an exercise, got {label!r}")
        elif label in found:
            problems.append(f"{what}: exercise: expected one checker for {label}, got two")
        else:
            found[label] = one
    return found


def _section(text: str, path: Path) -> str | None:
    """The first heading of a chapter that a text links to; the heading of the exercises themselves is none."""
    for link in _SECTION.finditer(text):
        if link["slug"] != "exercises":
            return f"{link['file'] or path.name}#{link['slug']}"
    return None


# ---------------------------------------------------------------- outside of the book


def words_for_links(text: str, home: str, book: str | None = None, *, alone: bool = True) -> str:
    """Put words in place of a text's links into the book, or addresses in the built one.

    Parameters
    ----------
    text : str
        Markdown.
    home : str
        The notebook that it comes from: "09_residual_and_layer_norm.ipynb".
    book : str, optional
        The address of the built book.
    alone : bool
        Whether the text stands without the rest of its notebook; if not, links within it name no chapter.

    Examples
    --------
    >>> words_for_links("See ([Layer norm](#layer-norm)).", "09_residual_and_layer_norm.ipynb")
    'See (*Layer norm*, chapter 9).'
    >>> words_for_links("See [chapter 3](../notebooks/03_positions.ipynb).", "09_residual_and_layer_norm.ipynb")
    'See chapter 3.'
    """

    def replace(link: re.Match) -> str:
        bracket, words, file, slug = link[1], link[2], Path(link[3] or home).name, link[4] or ""
        if not link[3] and not slug:
            return link[0]
        folder = "notebooks" if re.match(r"\d\d_", file) else "book"
        if book:
            return f"{bracket}[{words}]({book.rstrip('/')}/{folder}/{Path(file).stem}.html{slug})"
        if not alone and file == home:
            return f"{bracket}*{words}*"
        if folder == "book" or re.match(r"chapter \d", words):
            return bracket + words
        chapter = f"chapter {int(file[:2])}"
        return f"{bracket}*{words}*, {chapter}" if bracket else f"*{words}* ({chapter})"

    return _LINK.sub(replace, text)


# ---------------------------------------------------------------- leaving the solutions out


def without_solutions(notebook: dict) -> dict:
    """Return a copy of a notebook in which no solution is left, nor what points at one.

    Solutions go, and so do the cells that are tagged "solution", with their outputs: code that computes or
    shows one, and the text that announces it. Everything else stays as it is.

    Parameters
    ----------
    notebook : dict
        As JSON; a cell's source may be a text or a list of lines, and stays so.

    Raises
    ------
    ValueError
        If an exercise or a solution is not closed.
    """
    kept: list[dict] = []
    for cell in notebook["cells"]:
        if SOLUTION_TAG in cell.get("metadata", {}).get("tags", []):
            continue
        cell = copy.deepcopy(cell)
        if cell["cell_type"] == "markdown":
            source = "".join(cell["source"])
            directives = [d for d in parse(source) if d.kind == "solution"]
            if directives:
                lines = source.splitlines()
                for directive in reversed(directives):
                    del lines[directive.start : directive.stop]
                _set(cell, re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n"))
            if not "".join(cell["source"]).strip():
                continue
        kept.append(cell)
    return {**copy.deepcopy({k: v for k, v in notebook.items() if k != "cells"}), "cells": kept}


def _set(cell: dict, source: str) -> None:
    cell["source"] = source if isinstance(cell["source"], str) else source.splitlines(keepends=True)
