"""The questions in words, read from a text: ``questions.md`` beside this file, or a teacher's own.

>>> from toytf.teach.exam.questions import pairs
>>> [a.chapter for a, b in pairs()]
[1, 5, 6, 8, 10, 12]
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from toytf._command import Trouble

TEXT = Path(__file__).with_name("questions.md")
_HEAD = re.compile(r"^## (.*)$", re.MULTILINE)
_TITLE = re.compile(r"(\d+)([ab]): (.+)")
_PARTS = re.compile(r"^### (Answer|Points)$", re.MULTILINE)
_POINT = re.compile(r"- (\d+): (.+)")


@dataclass(frozen=True)
class Question:
    """A question in words.

    Parameters
    ----------
    chapter : int
        Where the book explains it.
    letter : str
        "a" or "b": its place in its pair.
    title : str
    text, answer : str
        Markdown.
    marks : tuple of (int, str)
        Points, and what they are for.
    """

    chapter: int
    letter: str
    title: str
    text: str
    answer: str
    marks: tuple[tuple[int, str], ...]

    @property
    def points(self) -> int:
        return sum(points for points, _ in self.marks)


def pairs(path: Path | str = TEXT) -> list[tuple[Question, Question]]:
    """Read questions in pairs, one for each set.

    Raises
    ------
    Trouble
        If the file cannot be read, a question is not written as in ``questions.md``, or the two of a pair are not
        for as many points.
    """
    try:
        text = Path(path).read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise Trouble(f"{path}: expected questions as text in UTF-8, got something else") from None
    _, *pieces = _HEAD.split(text)
    found: dict[tuple[int, str], Question] = {}
    for head, body in zip(pieces[::2], pieces[1::2], strict=True):
        question = _question(path, head, body)
        place = question.chapter, question.letter
        if place in found:
            raise Trouble(f"{path}: expected each question once, got {question.chapter}{question.letter} twice")
        found[place] = question
    if not found:
        raise Trouble(f'{path}: expected questions such as "## 1a: Twice as long", got none')
    return [_pair(path, chapter, found) for chapter in sorted({chapter for chapter, _ in found})]


def _question(path: Path | str, head: str, body: str) -> Question:
    title = _TITLE.fullmatch(head.strip())
    if title is None:
        raise Trouble(f'{path}: expected a heading such as "## 1a: Twice as long", got "## {head}"')
    where = f"{path}, {title[1]}{title[2]}"
    parts = _PARTS.split(body)
    if parts[1::2] != ["Answer", "Points"]:
        raise Trouble(f"{where}: expected ### Answer and then ### Points, got {', '.join(parts[1::2]) or 'neither'}")
    text, answer, marks = (part.strip() for part in parts[::2])
    if not (text and answer and marks):
        raise Trouble(f"{where}: expected a question, an answer and points, got one of them empty")
    return Question(int(title[1]), title[2], title[3].strip(), text, answer, tuple(_marks(where, marks)))


def _marks(where: str, text: str):
    for line in text.splitlines():
        matched = _POINT.fullmatch(line.strip())
        if matched is None or not int(matched[1]):
            raise Trouble(f'{where}: expected points such as "- 2: The scores have factor 4.", got {line!r}')
        yield int(matched[1]), matched[2]


def _pair(path: Path | str, chapter: int, found: dict[tuple[int, str], Question]) -> tuple[Question, Question]:
    one, other = (found.get((chapter, letter)) for letter in "ab")
    if one is None or other is None:
        missing = f"{chapter}{'a' if one is None else 'b'}"
        raise Trouble(f"{path}: expected two questions of chapter {chapter}, one for each set, got no {missing}")
    if one.points != other.points:
        got = f"{one.points} and {other.points}"
        raise Trouble(f"{path}: expected as many points for {chapter}a as for {chapter}b, got {got}")
    return one, other
