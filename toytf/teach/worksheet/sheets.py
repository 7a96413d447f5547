"""One student's sheet: who it is for, where its numbers come from, and how answers are checked."""

from __future__ import annotations

import hashlib
import hmac
import json
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from toytf.check.core import Report
from toytf.check.pencil import ByHand, Part
from toytf.teach.worksheet import pages
from toytf.teach.worksheet.exercises import Exercise
from toytf.teach.worksheet.topics import TOPICS

VERSION = 1  # of the recipes: a change that gives other numbers is another version
LONGEST = 100  # characters of a student's id and of a title
TITLE = "Worksheet"
DEFAULT = ("product", "scores", "softmax", "weighted-sum", "feed-forward", "layer-norm", "cross-entropy")

# They turn the direction of the text around them, so that an id could pass for another.
_DIRECTIONS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


@dataclass(frozen=True)
class Sheet:
    """A student's exercises.

    Parameters
    ----------
    student, title : str
        As they are printed.
    number : str
        Nine digits that follow from the key and from everything that is printed. Student's sheet and
        answer sheet belong together if their numbers are the same.
    exercises : tuple of Exercise
    """

    student: str
    title: str
    number: str
    exercises: tuple[Exercise, ...]

    @property
    def minutes(self) -> int:
        return sum(exercise.minutes for exercise in self.exercises)

    def html(self) -> str:
        """The student's page, with blanks."""
        return pages.page([self], answers=False)

    def answers_html(self) -> str:
        """The answer sheet, worked out term by term."""
        return pages.page([self], answers=True)

    def notebook(self) -> dict:
        """The student's notebook; `toytf.teach.worksheet.pages.as_json` writes it."""
        return pages.notebook(self)

    def answers(self) -> dict:
        """The answers for a machine: each with its shape, its values as asked for, and its terms."""
        return {
            "student": self.student,
            "title": self.title,
            "sheet": self.number,
            "exercises": [_answers(exercise) for exercise in self.exercises],
        }


def sheet(student: str, key: str | bytes, topics: Sequence[str] = DEFAULT, title: str = TITLE) -> Sheet:
    """Make a student's sheet; the same arguments give the same sheet, on any machine.

    Parameters
    ----------
    student : str
        The student's id: a name, a number, an address; at most 100 characters. Blanks around it do
        not count, and neither does how its accents are encoded.
    key : str or bytes
        The teacher's secret: long, and thought up by no person.
    topics : sequence of str
        Names in `TOPICS`, in the order of the sheet. An exercise does not depend on the others.
    title : str
        Under another title the same student gets other numbers.

    Raises
    ------
    TypeError
        If an argument is of another kind.
    ValueError
        If the id, the title or the key is empty, the id or the title too long or not printable, or
        a topic unknown or twice there.

    Examples
    --------
    >>> made = sheet("anna", "a secret of the teacher", ["product"])
    >>> made.exercises[0].asked[0].shape
    (2, 2)
    >>> print(made.exercises[0].asked[0].terms((0, 1)))
    (-1)·(-1) + (-1)·(-1) + 2·3 = 1 + 1 + 6 = 8
    """
    student, title, key = clean_student(student), _clean("title", title), _key_bytes(key)
    topics = _known(topics)
    seed = int.from_bytes(_hmac(key, "numbers", title, student), "big")
    exercises = tuple(
        TOPICS[topic].exercise(topic, number, np.random.default_rng([seed, int.from_bytes(topic.encode(), "big")]))
        for number, topic in enumerate(topics, start=1)
    )
    printed = [exercise.topic + exercise.fingerprint for exercise in exercises]
    digits = f"{int.from_bytes(_hmac(key, 'sheet', title, student, *printed), 'big') % 10**9:09d}"
    return Sheet(student, title, f"{digits[:3]}-{digits[3:6]}-{digits[6:]}", exercises)


def clean_student(student: str) -> str:
    """An id as it is printed and counted: NFC, without blanks around it.

    Examples
    --------
    >>> clean_student(" Jose\\u0301 ") == "Jos\\u00e9"
    True
    """
    return _clean("student", student)


def check_answers(sheet: Sheet, mine: Mapping) -> list[Report]:
    """Compare a student's answers with the right ones, entry by entry.

    Parameters
    ----------
    sheet : Sheet
    mine : mapping
        From an exercise's number or topic to a dictionary from the names of its answers to numbers,
        rows or tables: ``{1: {"Q": [[4, 8], [1, 0]]}}``.

    Returns
    -------
    list of Report
        One for each answer. A wrong entry is shown with its sum of products; what is left out or
        None is reported as not answered.

    Raises
    ------
    ValueError
        If the sheet has no such exercise, or the exercise no such answer.

    Examples
    --------
    >>> one = sheet("anna", "a secret of the teacher", ["product"])
    >>> print(check_answers(one, {1: {"Q": [[-10, 8], [12, 4]]}})[0])
    1, Q: 1 of 4 entries differs.
      It looks like the right number with the other sign.
      row 2, column 2: yours 4; 2·(-1) + 2·(-1) + 0·3 = -2 - 2 + 0 = -4
    """
    names = {str(e.number): e for e in sheet.exercises} | {e.topic: e for e in sheet.exercises}
    given: dict[int, Mapping] = {}
    for name, answers in mine.items():
        if str(name) not in names:
            raise ValueError(f"mine: expected exercises 1 to {len(sheet.exercises)} or their topics, got {name!r}")
        if not isinstance(answers, Mapping):
            raise ValueError(
                f"mine: expected a dictionary of answers for exercise {name}, got {type(answers).__name__}"
            )
        given[names[str(name)].number] = answers
    reports = []
    for exercise in sheet.exercises:
        answers = {name: None if _blank(mine) else mine for name, mine in given.get(exercise.number, {}).items()}
        blank = dict.fromkeys(asked.name for asked in exercise.asked)
        reports += by_hand(exercise, str(exercise.number)).reports(blank | answers)
    return reports


@dataclass(frozen=True)
class _Numbered(ByHand):
    """Answers of an exercise that the book does not have, under a number, or a word, of its own."""

    said: str = ""

    @property
    def number(self) -> str:
        return self.said


def by_hand(exercise: Exercise, number: str) -> ByHand:
    """The answers of an exercise in the form in which answers are checked; `number` is what a report calls it.

    Examples
    --------
    >>> made = sheet("anna", "a secret of the teacher", ["scaling"]).exercises[0]
    >>> print(by_hand(made, "week 3").reports({"root": 7})[0])
    week 3, root: not right.
      yours 7; √16 = 4
    """
    parts = tuple(Part(a.expected, a.terms, a.decimals, a.name) for a in exercise.asked)
    return _Numbered(f"ex-{exercise.number}", parts, number)


def belongs(key: str | bytes, title: str, topics: Sequence[str]) -> str:
    """Sixteen signs by which a key, a title and topics are known again; they tell nothing of a good key.

    Examples
    --------
    >>> one = belongs("a secret of the teacher", "Week 6", ["product"])
    >>> one == belongs("another secret", "Week 6", ["product"]), len(one)
    (False, 16)
    """
    return _hmac(_key_bytes(key), "assignment", _clean("title", title), *_known(topics)).hex()[:16]


def sealed(key: str | bytes, text: str) -> str:
    """A hash of a text that nobody can compare with a guess who has not the key."""
    return _hmac(_key_bytes(key), "sealed", text).hex()


# ---------------------------------------------------------------- helpers


def _blank(answer) -> bool:
    """Whether nothing has been written into any of the boxes."""
    if isinstance(answer, (list, tuple)):
        return all(_blank(part) for part in answer)
    return answer is None


def _answers(exercise: Exercise) -> dict:
    parts = []
    for asked in exercise.asked:
        places = list(np.ndindex(asked.shape))
        parts.append(
            {
                "name": asked.name,
                "shape": list(asked.shape),
                "decimals": asked.decimals,
                "rounded": asked.rounded,
                "values": asked.values.tolist(),
                "terms": [asked.terms(place) for place in places],
            }
        )
    return {"number": exercise.number, "topic": exercise.topic, "title": exercise.title, "answers": parts}


def _clean(name: str, text: str) -> str:
    if not isinstance(text, str):
        raise TypeError(f"{name}: expected text, got {type(text).__name__}")
    text = unicodedata.normalize("NFC", text).strip()
    if not text:
        raise ValueError(f"{name}: expected at least one character, got none")
    if len(text) > LONGEST:
        raise ValueError(f"{name}: expected at most {LONGEST} characters, got {len(text)}")
    for char in text:
        if unicodedata.category(char) in ("Cc", "Cs", "Cn", "Zl", "Zp") or char in _DIRECTIONS:
            raise ValueError(f"{name}: expected printable characters, got U+{ord(char):04X}")
    return text


def _key_bytes(key: str | bytes) -> bytes:
    if isinstance(key, str):
        key = unicodedata.normalize("NFC", key).strip().encode()
    if not isinstance(key, bytes):
        raise TypeError(f"key: expected text or bytes, got {type(key).__name__}")
    if not key:
        raise ValueError("key: expected at least one character, got none")
    return key


def _known(topics: Sequence[str]) -> tuple[str, ...]:
    if isinstance(topics, str):
        raise TypeError(f"topics: expected a list of names, got the text {topics!r}")
    topics = tuple(topics)
    if not topics:
        raise ValueError("topics: expected at least one, got none")
    for place, topic in enumerate(topics):
        if topic not in TOPICS:
            raise ValueError(f"topics: expected some of {', '.join(TOPICS)}; got {topic!r}")
        if topic in topics[:place]:
            raise ValueError(f"topics: expected each once, got {topic!r} twice")
    return topics


def _hmac(key: bytes, purpose: str, *parts: str) -> bytes:
    """HMAC-SHA256 of what names a sheet. JSON keeps the parts apart: "ab" + "c" is not "a" + "bc"."""
    message = json.dumps(["toytf worksheet", VERSION, purpose, *parts])
    return hmac.new(key, message.encode(), hashlib.sha256).digest()
