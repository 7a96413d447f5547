"""What five texts printed, what there is to say of it, and the rule that tells whether a computed number agrees.

``source0.json`` to ``source4.json`` have all of it: the digits as printed, the remarks, where the topics of the text
are taught, and at which step of the replay each of them stands. Nothing is computed here: the replay of a text
computes, and hands each result to `Source.compare`, which raises where the digits are not what the file says of them.

    >>> text = Source(0)
    >>> text.compare(scores1_scaled=np.array([[68, 105.21], [87.88, 135.5517]]) / np.sqrt(3))
    ✓ scores of head 1, divided by √3: all 4 entries, to 8 decimals
"""

from __future__ import annotations

import copy
import difflib
import html
import json
import math
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from functools import cached_property
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent
TEXTS = range(5)

REPRODUCED, GIVEN, CORRECTED = "reproduced", "given", "corrected"
DRAWN, NOT_PRINTED = "random", "not printed"
VERDICTS = (REPRODUCED, GIVEN, CORRECTED, DRAWN, NOT_PRINTED)
SIGNS = {REPRODUCED: "✓", CORRECTED: "✗"}
KINDS = {
    "error": "wrong as it stands",
    "slip": "a slip of the keyboard",
    "translation": "right in the English original, and lost in the Chinese edition",
    "extraction": "lost when the page became plain text, and nobody's error",
    "wording": "loosely worded, and right when one reads on",
    "simplification": "something is left out, announced or without harm",
    "outdated": "true of the library when it was written",
    "duplicate": "follows from another remark",
    "withdrawn": "said by the first edition of this course, and wrong",
}
OWNERS = ("author", "Chinese edition", "listing", "web copy", "this course")


@dataclass(frozen=True)
class Row:
    """One number, array, shape or statement of a text.

    `printed` has the digits as printed, in lists nested like the array; the text of a statement; None for what the
    text needs and does not print. `decimals` says how many are meant where NumPy left out zeros at the end. `given`
    is a setting, which nothing computes; `unseeded` was drawn from a generator without a seed. `corrected_by` names
    the remarks that say why the digits do not agree, `see` those worth reading though they do. `step` is the heading
    of the replay where it stands, `chapter` and `home` where the course teaches it. `today` is what the text prints
    instead since its author ran the cell again.
    """

    id: str
    section: str
    what: str
    printed: str | list | None
    chapter: str
    home: str
    step: str
    corrected_by: tuple[str, ...] = ()
    see: tuple[str, ...] = ()
    decimals: int | None = None
    given: bool = False
    unseeded: bool = False
    today: str | list | None = None

    @property
    def name(self) -> str:
        """How `Source.compare` calls it: ``"s0-k1-hand"`` is ``k1_hand``."""
        return self.id.partition("-")[2].replace("-", "_")

    @property
    def words(self) -> np.ndarray:
        return np.array("" if self.printed is None else self.printed, dtype=object)

    @property
    def places(self) -> int:
        """How many decimals its digits have, or are meant to have."""
        written = (len(word.lower().partition("e")[0].partition(".")[2]) for word in self.words.ravel())
        return max(self.decimals or 0, *written) if self.prints == "digits" else 0

    @property
    def prints(self) -> str:
        """What the text prints of it: ``"digits"``, ``"words"`` or ``"nothing"``."""
        if self.printed is None:
            return "nothing"
        try:
            return "digits" if all(Decimal(word) is not None for word in self.words.ravel()) else "words"
        except InvalidOperation:
            return "words"


@dataclass(frozen=True)
class Remark:
    """What this course says of a passage, whose words are `quote`.

    It stands in the replay at the heading `step`, in two or three sentences that open with its title. What does no
    harm has one sentence instead, `says`, in the index, and in the replay if it `teaches` something; what is withdrawn
    has neither.
    """

    title: str
    where: str
    kind: str
    whose: str
    quote: str
    means: str
    context: str
    step: str = ""
    says: str = ""
    teaches: bool = False


@dataclass(frozen=True)
class Result:
    """A row with what was computed of it: numbers, or what a check found."""

    row: Row
    verdict: str
    numbers: np.ndarray | None = None
    found: str = ""


# ---------------------------------------------------------------- the rule of agreement


def agrees(printed, computed, decimals: int | None = None) -> np.ndarray:
    """Tell for every printed number whether the computed one rounds to it.

    It does if it lies within half a unit of the last printed place, a tie included; with an exponent, that is the
    last place before the ``e``. `printed` is a text or nested lists of texts, and `computed` has the same shape, or a
    `ValueError` says so. `decimals` says how many are meant, if zeros at the end were left out.

    >>> agrees(["6.84", "9.99"], [6.84, 9.9935]).tolist()
    [True, True]
    >>> agrees(["6.84", "9.99"], [6.84, 9.9935], decimals=8).tolist()
    [True, False]
    """
    words, numbers = np.array(printed, dtype=object), np.asarray(computed, dtype=np.float64)
    if words.shape != numbers.shape:
        raise ValueError(f"computed: expected the shape {words.shape}, got {numbers.shape}")
    pairs = zip(words.ravel(), numbers.ravel().tolist(), strict=True)
    return np.array([_agrees(word, number, decimals) for word, number in pairs], dtype=bool).reshape(words.shape)


def _agrees(word: str, number: float, decimals: int | None) -> bool:
    value = Decimal(word)
    if value.is_nan() or not math.isfinite(number):
        return value.is_nan() and math.isnan(number)
    place = value.as_tuple().exponent
    if decimals is not None and "e" not in word.lower():
        place = min(place, -decimals)
    rounding = 4 * Decimal(math.ulp(number))  # what the float itself may be off by
    return abs(Decimal(number) - value) <= Decimal(1).scaleb(place) * (Decimal("0.5") + Decimal("1e-9")) + rounding


def judge(row: Row, value) -> Result:
    """Hold a computed value against a row of the file: numbers against printed digits; of a statement, whether it is
    true, and what was found.

    `ValueError` if the digits agree and the file calls them wrong, or the other way round; if digits get no numbers.
    """
    numbers, found, holds = None, "", True
    if isinstance(value, (bool, np.bool_)):
        holds = bool(value)
    elif isinstance(value, tuple) and isinstance(value[-1], str):
        holds, found = bool(value[0]), value[1]
    elif isinstance(value, str):
        holds, found = value == row.printed, value
    else:
        numbers = np.asarray(value, dtype=np.float64)
    has_digits = row.prints == "digits" and not row.unseeded
    if row.printed is not None and has_digits == (numbers is None):
        raise ValueError(f"{row.id}: expected {'numbers' if has_digits else 'True or False'}, got {value!r}")
    if has_digits:
        holds = bool(agrees(row.printed, numbers, row.decimals).all())
    if holds == bool(row.corrected_by):
        why = (
            f"{row.corrected_by[0]} calls it wrong, and it holds"
            if holds
            else "it does not hold, and no remark says so"
        )
        raise ValueError(f"{row.id}: {why}: printed {row.printed}, computed {found or value}")
    flags = {NOT_PRINTED: row.printed is None, DRAWN: row.unseeded, GIVEN: row.given, CORRECTED: row.corrected_by}
    return Result(row, next((name for name, flag in flags.items() if flag), REPRODUCED), numbers, found)


# ---------------------------------------------------------------- what is seen of it


def headed(result: Result, what: str = "") -> str:
    """What a result is of, behind its sign, or its verdict in words."""
    return f"{SIGNS.get(result.verdict, f'{result.verdict}:')} {what or result.row.what}"


def entries(results: list[Result]) -> str:
    """How many printed numbers agree, and how far; of what was drawn, that draws can give it."""
    if results[0].verdict == DRAWN:
        return f"{len(results)}, each as a draw can give it"
    words = [word for one in results for word in one.row.words.ravel()]
    pointed = any("." in word.rstrip(".") for word in words)
    return f"all {len(words)} entries" + f", to {min(one.row.places for one in results)} decimals" * pointed


def written(row: Row, numbers: np.ndarray) -> np.ndarray:
    """The words of computed numbers: six places, or as many as are printed."""
    digits = row.words.ravel() if row.prints == "digits" else []
    tiny = not len(digits) and (np.abs(numbers[numbers != 0]) < 1e-6).any()
    if tiny or any("e" in word.lower() for word in digits):
        words = [f"{x:z.{max(row.places, 8 * tiny)}e}" for x in numbers.ravel()]
    else:
        words = [f"{x:z.{max(6, row.places)}f}" for x in numbers.ravel()]
        surplus = min(len(word) - len(word.rstrip("0")) for word in words)  # zeros that all of them end with
        words = [word[: len(word) - surplus].rstrip(".") for word in words]
    return np.array(words, dtype=object).reshape(numbers.shape)


def aligned(words: np.ndarray) -> list[str]:
    """One line for each row of an array, in columns; a long row takes several."""
    if words.ndim and words.shape[-1] > 6 and words.shape[-1] % 5 == 0:
        words = words.reshape(-1, 5)
    rows = words.reshape(-1, words.shape[-1] if words.ndim else 1)
    widths = [max(map(len, column)) for column in rows.T]
    return [" ".join(word.rjust(width) for word, width in zip(row, widths, strict=True)) for row in rows]


LINE = 80  # characters; a row of four numbers with eight decimals takes 60
PHONE = 36  # characters of a row, behind its name, that a phone shows in one line


def lines(result: Result) -> list[str]:
    """A result in plain text: what agrees once, and the printed beside the computed numbers where they differ."""
    row, head = result.row, headed(result)
    if result.verdict == GIVEN:
        return [head]
    if result.numbers is None:
        said = [row.printed] if row.prints == "words" else []
        said += [f"here {result.found}" if said else result.found] if result.found not in ("", row.printed) else []
        return [f"{head}: {'; '.join(said)}" if said else head]
    if result.verdict == REPRODUCED:
        rows = list(map(" ".join, np.atleast_2d(row.words)))
        if max(map(len, rows)) <= PHONE:  # where a line is too long, it ends between two rows
            rows = [one.replace(" ", "\N{NO-BREAK SPACE}") for one in rows]
        whole = f"{head}: {'; '.join(rows)}"
        return [whole if len(whole) <= LINE else f"{head}: {entries([result])}"]
    parts = {} if row.printed is None else {"printed": row.words}
    parts |= {"computed": written(row, result.numbers)}
    if result.verdict == CORRECTED and result.numbers.ndim == 2:  # of a matrix, the rows that differ
        differs = ~agrees(row.printed, result.numbers, row.decimals).all(axis=1)
        parts = {name: words[differs] for name, words in parts.items()}
        head += f", row {', '.join(map(str, np.flatnonzero(differs) + 1))}" * (not differs.all())
    if result.numbers.ndim == 0:
        return [f"{head}: {', '.join(f'{name} {words}' for name, words in parts.items())}"]
    columns = [(name, i, line) for name, words in parts.items() for i, line in enumerate(aligned(words))]
    if result.verdict == CORRECTED and max(len(line) for *_, line in columns) > PHONE:  # entry by entry
        pairs = [(x, y) for x, y in zip(*map(np.ravel, parts.values()), strict=True) if not agrees(x, y, row.decimals)]
        width = max(len(x) for x, _ in pairs)
        return [f"{head}: printed ≠ computed", *(f"    {x:>{width}} ≠ {y}" for x, y in pairs)]
    return [head, *(f"  {'' if i else name:9}{line}" for name, i, line in columns)]


@dataclass(frozen=True)
class Folded:
    """A table of remarks that do no harm, closed until somebody opens it."""

    remarks: tuple[Remark, ...]

    def __repr__(self) -> str:
        return "\n".join(f"{said.where}: {said.title}. {said.says}" for said in self.remarks)

    def _repr_html_(self) -> str:
        rows = ""
        for said in self.remarks:
            title = html.escape(said.title[0].upper() + said.title[1:])
            rows += f'<tr style="text-align: left; vertical-align: top"><td>{html.escape(said.where)}</td>'
            rows += f"<td><b>{title}.</b> {html.escape(said.says)}</td></tr>"
        return f"<details><summary>{len(self.remarks)} passages</summary><table>{rows}</table></details>"


# ---------------------------------------------------------------- a text


class Source:
    """One of the five texts, 0 to 4: its rows by name, its remarks and topics by id, and what was compared so far."""

    def __init__(self, number: int):
        if number not in TEXTS:
            raise ValueError(f"number: expected 0 to {TEXTS[-1]}, got {number!r}")
        data = json.loads(FOLDER.joinpath(f"source{number}.json").read_text(encoding="utf-8"))
        self.number, self.title, self.page, self.topics = number, data["title"], data["page"], data["topics"]
        made = (
            Row(**{key: tuple(v) if key in ("see", "corrected_by") else v for key, v in row.items()})
            for row in data["numbers"]
        )
        self.rows = {row.name: row for row in made}
        self.remarks = {name: Remark(**said) for name, said in data["remarks"].items()}
        self.digits = data.get("digits", [])  # all of two decimals or more, in the order of the text
        self.results = self._given()

    @cached_property
    def today(self) -> Source:
        """The text of today: the rows of the cells that its author ran again, with what they print since."""
        now = copy.copy(self)
        rows = {name: row for name, row in self.rows.items() if row.today is not None}
        now.rows = {name: replace(row, printed=row.today, what=f"today, {row.what}") for name, row in rows.items()}
        now.results = now._given()
        return now

    def _given(self) -> dict[str, Result]:
        """The results of the settings, which no cell need type again."""
        return {name: judge(row, self._read(row)) for name, row in self.rows.items() if row.given}

    def row(self, name: str) -> Row:
        """The row of this name, or a `KeyError` that says which names come close."""
        if name not in self.rows:
            raise KeyError(
                f"unknown name {name!r}: did you mean {' or '.join(difflib.get_close_matches(name, self.rows))}?"
            )
        return self.rows[name]

    def printed(self, name: str):
        """The printed digits of a row, as floats.

        >>> Source(0).printed("q1_dot_k1")
        68.0
        """
        row = self.row(name)
        if row.prints != "digits":
            raise ValueError(f"{name}: expected a row with digits, this one prints {row.prints}")
        return self._read(row)

    @staticmethod
    def _read(row: Row):
        numbers = row.words.astype(np.float64) if row.prints == "digits" else row.words
        return numbers if numbers.ndim else numbers.item()

    def compare(self, together: str = "", /, **computed) -> None:
        """Hold each value against the row of its name, and say what was found; see `judge`.

        What comes out as the first does is one line if `together` says what it is.
        """
        results = [judge(self.row(name), value) for name, value in computed.items()]
        self.results |= zip(computed, results, strict=True)
        if together:
            alike = [one for one in results if one.verdict == results[0].verdict]
            print(f"{headed(alike[0], together)}: {entries(alike)}")
        for one in results:
            if not together or one.verdict != results[0].verdict:
                print("\n".join(lines(one)))

    def harmless(self) -> Folded:
        """Of the remarks that stand at no step, because they do no harm, those that teach something."""
        return Folded(tuple(said for said in self.remarks.values() if said.teaches))
