"""Known mistakes of a function, written as edits of the right one.

    - no maximum subtracted: np.exp(scores - scores.max(axis=-1, keepdims=True)) => np.exp(scores)
      exp overflows above 709.78. Subtract the largest score of each row first.

A mistake begins with ``-`` and its name. What stands left of ``=>`` occurs once in the solution, in
its signature or in its body; what stands right of it takes its place. With ``=>>`` it occurs more
than once, and each is replaced. An edit that is long, or one of several, has a line of its own, four
columns in; its arrow may begin the next line. The lines two columns in are the advice.

    - the two maps exchanged:
        x @ w_1 + b_1 => x @ w_2 + b_2
        hidden @ w_2 + b_2 => hidden @ w_1 + b_1
      First w_1 and b_1, which widen, then w_2 and b_2, which narrow.
    - the wrong axis: axis=-1 =>> axis=0
      Mean and variance are those of one row, over its columns: axis=-1.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise

HEAD = re.compile(r"- (.+?):(?: +(.+))?")  # a colon inside a name has no blank behind it
ARROW = re.compile(r"\s*(=>>?)\s*")

Edit = tuple[int, int, str]  # from where to where in the source, and what takes its place


@dataclass(frozen=True)
class Mistake:
    """A wrong function and what to tell somebody who wrote it.

    Parameters
    ----------
    name : str
        A few words: "no maximum subtracted".
    advice : str
        One or two sentences: what it does, and where to look.
    function : callable
        Computes what the mistake computes. It may raise or give NaN, as the mistake would.
    edits : tuple
        What makes it of the right function: from where to where in its source, and what takes the
        place. Empty if it is made otherwise.
    """

    name: str
    advice: str
    function: Callable
    edits: tuple[Edit, ...] = ()


def read(text: str, solution: Callable, source: str) -> list[Mistake]:
    """Read mistakes from a text and make their functions.

    Parameters
    ----------
    text : str
        As the head of this module shows it, at any indentation.
    solution : callable
        The right function. What its module knows, the wrong ones know as well.
    source : str
        Its source.

    Raises
    ------
    ValueError
        If a line is none of a name, an edit and an advice, if a mistake lacks one of them, if an edit
        does not fit, if what comes out is no other function, or if two mistakes have one name.
    """
    lines = [line for line in textwrap.dedent(text).splitlines() if line.strip()]
    starts = [i for i, line in enumerate(lines) if line.startswith("- ")]
    if starts[:1] != [0]:
        raise ValueError(f"known mistakes: expected '- ' and a name in the first line, got {lines[:1]}")
    mistakes: dict[str, Mistake] = {}
    for name, advice, edits in (_entry(lines[i:j]) for i, j in pairwise([*starts, len(lines)])):
        about = f"{solution.__name__}: {name}"
        if name in mistakes:
            raise ValueError(f"{about}: expected a name for each mistake, got this one twice")
        found = tuple(edit for text in edits for edit in _edits(about, text, _code(source)))
        mistakes[name] = _made(name, advice, found, solution, source)
    return list(mistakes.values())


def two_at_once(known: Iterable[Mistake], solution: Callable, source: str) -> Iterator[Mistake]:
    """Each two edits in one function, where they leave one. Of edits that lie in each other the longer counts."""
    for a, b in combinations([mistake for mistake in known if mistake.edits], 2):
        both = dict.fromkeys(a.edits + b.edits)
        longest = tuple(one for one in both if not any(_inside(one, other) for other in both))
        try:
            yield _made(f"{a.name}, and {b.name}", f"{a.advice} {b.advice}", longest, solution, source)
        except ValueError:  # both change one place
            continue


def _inside(one: Edit, other: Edit) -> bool:
    return one[:2] != other[:2] and other[0] <= one[0] and one[1] <= other[1]


def _entry(lines: list[str]) -> tuple[str, str, list[str]]:
    head = HEAD.fullmatch(lines[0])
    if head is None:
        raise ValueError(f"known mistakes: expected '- NAME: BEFORE => AFTER', got {lines[0]!r}")
    name, edit = head.groups()
    edits, advice = [edit] if edit else [], []
    for line in lines[1:]:
        depth, line = len(line) - len(line.lstrip()), line.strip()
        if depth == 2:
            advice.append(line)
        elif depth != 4 or advice:
            raise ValueError(f"{name}: expected edits four columns in, then an advice two columns in, got {line!r}")
        elif line.startswith("=>") and edits:
            edits[-1] += f" {line}"
        else:
            edits.append(line)
    if not advice:
        raise ValueError(f"{name}: expected an advice below the name, two columns in, got none")
    if not edits:
        raise ValueError(f"{name}: expected an edit, BEFORE => AFTER, got none")
    return name, " ".join(advice), edits


def _code(source: str) -> str:
    """The source without its docstring: formulas in words are no code."""
    definition = ast.parse(source).body[0]
    docstring = ast.get_source_segment(source, definition.body[0]) if ast.get_docstring(definition) else None
    return source.replace(docstring, " " * len(docstring), 1) if docstring else source


def _edits(about: str, text: str, code: str) -> list[Edit]:
    """The places at which an edit, as it is written, fits into the code."""
    before, arrow, after = [*ARROW.split(text), "", ""][:3]
    if not before or len(ARROW.split(text)) != 3:
        raise ValueError(f"{about}: expected BEFORE => AFTER, got {text!r}")
    starts = [match.start() for match in re.finditer(re.escape(before), code)]
    if not starts or (len(starts) > 1) != (arrow == "=>>"):
        often = "once" if arrow == "=>" else "more than once"
        raise ValueError(f"{about}: expected {before!r} {often} in the solution, got it {len(starts)} times")
    return [(start, start + len(before), after) for start in starts]


def _made(name: str, advice: str, edits: tuple[Edit, ...], solution: Callable, source: str) -> Mistake:
    about = f"{solution.__name__}: {name}"
    try:
        tree = ast.parse(edited(about, edits, source))
    except SyntaxError as error:
        raise ValueError(f"{about}: expected edits that leave a function, got {error.msg}: {error.text}") from None
    if ast.dump(tree) == ast.dump(ast.parse(source)):
        raise ValueError(f"{about}: expected edits that change the function, got the solution")
    defined: dict[str, Callable] = {}
    exec(compile(tree, f"<{about}>", "exec"), solution.__globals__, defined)
    return Mistake(name, advice, defined[solution.__name__], edits)


def edited(about: str, edits: Iterable[Edit], source: str) -> str:
    """The source with all edits; `about` begins what is said if two of them want one place."""
    edits = sorted(edits, reverse=True)
    for (start, _, after), (_, end, other) in pairwise(edits):
        if end > start:
            raise ValueError(f"{about}: expected edits of different places, got {after!r} and {other!r} at one")
    for start, end, after in edits:
        source = source[:start] + after + source[end:]
    return source
