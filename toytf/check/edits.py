"""Known mistakes, written as edits of the right function.

    - no maximum subtracted: np.exp(scores - scores.max(axis=-1, keepdims=True)) => np.exp(scores)
      exp overflows above 709.78. Subtract the largest score of each row first.

A mistake begins with ``-`` and its name. What stands left of ``=>`` occurs once in the solution, in
its signature or in its body; what stands right of it takes its place. An edit that is long, or one of
several, has a line of its own, four columns in; its ``=>`` may begin the next line. The lines two
columns in are the advice.

    - the two maps exchanged:
        x @ w_1 + b_1 => x @ w_2 + b_2
        hidden @ w_2 + b_2 => hidden @ w_1 + b_1
      First w_1 and b_1, which widen, then w_2 and b_2, which narrow.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Callable
from dataclasses import dataclass

HEAD = re.compile(r"- (.+?):(?: +(.+))?")  # a colon inside a name has no blank behind it
ARROW = re.compile(r"\s*=>\s*")


@dataclass(frozen=True)
class Edited:
    """A known mistake: its name, what to say about it, and pairs of old and new text."""

    name: str
    advice: str
    edits: tuple[tuple[str, str], ...]


def read(text: str) -> list[Edited]:
    """Read mistakes from a text.

    Parameters
    ----------
    text : str
        As the head of this module shows it, at any indentation.

    Returns
    -------
    list of Edited

    Raises
    ------
    ValueError
        If a line is none of a name, an edit and an advice, or if a mistake lacks one of them.

    Examples
    --------
    >>> read('''
    ...     - no root: np.sqrt(variance) => variance
    ...       Divide by the deviation.
    ... ''')
    [Edited(name='no root', advice='Divide by the deviation.', edits=(('np.sqrt(variance)', 'variance'),))]
    """
    lines = [line for line in textwrap.dedent(text).splitlines() if line.strip()]
    starts = [i for i, line in enumerate(lines) if line.startswith("- ")]
    if starts[:1] != [0]:
        raise ValueError(f"known mistakes: expected '- ' and a name in the first line, got {lines[:1]}")
    return [_entry(lines[i:j]) for i, j in zip(starts, [*starts[1:], len(lines)], strict=True)]


def _entry(lines: list[str]) -> Edited:
    head = HEAD.fullmatch(lines[0])
    if head is None:
        raise ValueError(f"known mistakes: expected '- NAME: BEFORE => AFTER', got {lines[0]!r}")
    name, edit = head.groups()
    edits, advice = [edit] if edit else [], []
    for line in lines[1:]:
        depth = len(line) - len(line.lstrip())
        if depth == 2:
            advice.append(line.strip())
        elif depth != 4 or advice:
            raise ValueError(f"{name}: expected edits four columns in, then an advice two columns in, got {line!r}")
        elif line.strip().startswith("=>") and edits:
            edits[-1] += f" {line.strip()}"
        else:
            edits.append(line.strip())
    if not advice:
        raise ValueError(f"{name}: expected an advice below the name, two columns in, got none")
    if not edits:
        raise ValueError(f"{name}: expected an edit, BEFORE => AFTER, got none")
    return Edited(name, " ".join(advice), tuple(_pair(name, edit) for edit in edits))


def _pair(name: str, edit: str) -> tuple[str, str]:
    match ARROW.split(edit):
        case [before, after] if before:
            return before, after
    raise ValueError(f"{name}: expected BEFORE => AFTER, got {edit!r}")


def function(mistake: Edited, solution: Callable, source: str) -> Callable:
    """Make the wrong function from the right one.

    Parameters
    ----------
    mistake : Edited
    solution : callable
        The right function. What its module knows, the wrong one knows as well.
    source : str
        Its source.

    Returns
    -------
    callable

    Raises
    ------
    ValueError
        If an edit does not fit exactly once, or if what comes out is no other function.
    """
    about = f"{solution.__name__}: {mistake.name}"
    wrong = applied(about, mistake.edits, source)
    try:
        tree = ast.parse(wrong)
    except SyntaxError as error:
        raise ValueError(f"{about}: expected edits that leave a function, got {error.msg}: {error.text}") from None
    if ast.dump(tree) == ast.dump(ast.parse(source)):
        raise ValueError(f"{about}: expected edits that change the function, got the solution")
    defined: dict[str, Callable] = {}
    exec(compile(tree, f"<{about}>", "exec"), solution.__globals__, defined)
    return defined[solution.__name__]


def applied(about: str, edits: tuple[tuple[str, str], ...], source: str) -> str:
    """The source with all edits, each at its own place; `about` begins what is said if one does not fit."""
    (definition,) = ast.parse(source).body
    assert isinstance(definition, ast.FunctionDef)
    docstring = ast.get_source_segment(source, definition.body[0]) if ast.get_docstring(definition) else None
    code = source.replace(docstring, " " * len(docstring), 1) if docstring else source  # formulas in words are no code
    places = []
    for before, after in edits:
        if (found := code.count(before)) != 1:
            raise ValueError(f"{about}: expected {before!r} once in the solution, got it {found} times")
        start = code.index(before)
        places.append((start, start + len(before), after))
    places.sort(reverse=True)
    for (start, _, after), (_, end, other) in zip(places, places[1:], strict=False):
        if end > start:
            raise ValueError(f"{about}: expected edits of different places, got {after!r} and {other!r} at one")
    for start, end, after in places:
        source = source[:start] + after + source[end:]
    return source
