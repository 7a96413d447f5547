"""Known mistakes of a function, written as edits of the right one.

    - no maximum subtracted: scores - scores.max(axis=-1, keepdims=True) => scores
      exp overflows above 709.78. Subtract the largest score of each row first.

A mistake begins with ``-`` and its name. What stands left of ``=>`` occurs once in the solution, in
its signature or in its body; what stands right of it takes its place. With ``=>>`` it occurs more
than once, and each is replaced. Several edits are joined by ", and". What is too long for the line of
the name goes on four columns in. The lines two columns in are the advice.

    - the two maps exchanged: x @ w_1 + b_1 => x @ w_2 + b_2, and hidden @ w_2 + b_2 => hidden @ w_1 + b_1
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

from toytf import ops

ENTRY = re.compile(r"- (.+?):((?: .+)?(?:\n    .+)*)((?:\n  \S.*)+)")  # a colon inside a name has no blank behind it
ARROW = re.compile(r"(.+?)\s*(=>>?)\s*(.*)")

Edit = tuple[int, int, str]  # from where to where in the source, and what takes its place


@dataclass(frozen=True)
class Mistake:
    """A wrong function and what to tell somebody who wrote it."""

    name: str  # a few words: "no maximum subtracted"
    advice: str  # one or two sentences: what it does, and where to look
    function: Callable  # computes what the mistake computes; it may raise or give NaN, as the mistake would
    source: str = ""  # the function as text, if it is an edit of the solution
    edits: tuple[Edit, ...] = ()  # what makes it of the solution


def read(text: str, solution: Callable, source: str) -> list[Mistake]:
    """Read mistakes from a text, as the head of this module shows it, at any indentation, and make their functions.

    What the solution's module knows, the wrong functions know as well, and `toytf.ops`. An entry of another form, an
    edit that does not fit or changes nothing, and a name that two mistakes have are a `ValueError`.
    """
    mistakes: dict[str, Mistake] = {}
    for entry in re.split(r"\n(?=- )", textwrap.dedent(text).strip("\n ")):
        found = ENTRY.fullmatch(entry)
        if found is None:
            form = "'- NAME: BEFORE => AFTER' and below it an advice, two columns in"
            raise ValueError(f"{solution.__name__}: expected {form}, got {entry!r}")
        name, edits, advice = (re.sub(r"\n\s+", " ", part).strip() for part in found.groups())
        about = f"{solution.__name__}: {name}"
        if name in mistakes:
            raise ValueError(f"{about}: expected a name for each mistake, got this one twice")
        places = tuple(place for edit in edits.split(", and ") for place in _places(about, edit, _code(source)))
        mistakes[name] = _made(name, advice, places, solution, source)
    return list(mistakes.values())


def two_at_once(known: Iterable[Mistake], solution: Callable, source: str) -> Iterator[Mistake]:
    """Each two edits in one function, where they leave one. Of edits that lie in each other the longer counts."""
    for a, b in combinations([mistake for mistake in known if mistake.edits], 2):
        both = dict.fromkeys(a.edits + b.edits)
        longest = tuple(one for one in both if not any(_inside(one, other) for other in both))
        try:
            yield _made(f"{a.name}, and {b.name}", f"{a.advice} {b.advice}", longest, solution, source)
        except (SyntaxError, ValueError):  # both change one place
            continue


def _inside(one: Edit, other: Edit) -> bool:
    return one[:2] != other[:2] and other[0] <= one[0] and one[1] <= other[1]


def _code(source: str) -> str:
    """The source without its docstring: formulas in words are no code."""
    definition = ast.parse(source).body[0]
    docstring = ast.get_source_segment(source, definition.body[0]) if ast.get_docstring(definition) else None
    return source.replace(docstring, " " * len(docstring), 1) if docstring else source


def _places(about: str, edit: str, code: str) -> list[Edit]:
    """The places at which an edit, as it is written, fits into the code."""
    found = ARROW.fullmatch(edit)
    if found is None or "=>" in found[3]:
        raise ValueError(f"{about}: expected BEFORE => AFTER, got {edit!r}")
    before, arrow, after = found.groups()
    starts = [match.start() for match in re.finditer(re.escape(before), code)]
    if not starts or (len(starts) > 1) != (arrow == "=>>"):
        often = "once" if arrow == "=>" else "more than once"
        raise ValueError(f"{about}: expected {before!r} {often} in the solution, got it {len(starts)} times")
    return [(start, start + len(before), after) for start in starts]


def _made(name: str, advice: str, edits: tuple[Edit, ...], solution: Callable, source: str) -> Mistake:
    about, wrong = f"{solution.__name__}: {name}", source
    for (start, _, after), (_, end, other) in pairwise(sorted(edits, reverse=True)):
        if end > start:
            raise ValueError(f"{about}: expected edits of different places, got {after!r} and {other!r} at one")
    for start, end, after in sorted(edits, reverse=True):
        wrong = wrong[:start] + after + wrong[end:]
    tree = ast.parse(wrong, f"<{about}>")
    if ast.dump(tree) == ast.dump(ast.parse(source)):
        raise ValueError(f"{about}: expected edits that change the function, got the solution")
    defined: dict[str, Callable] = {}
    exec(compile(tree, f"<{about}>", "exec"), {"ops": ops, **solution.__globals__}, defined)
    return Mistake(name, advice, defined[solution.__name__], wrong, edits)
