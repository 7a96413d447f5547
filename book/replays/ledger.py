"""What was printed, and the rule that tells whether a computed number agrees with it.

The digits stand in ``published.json``, as they were printed. Nothing here computes them again: a
`Ledger` is handed the functions that do.
"""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from pathlib import Path

import numpy as np

from toytf._validate import shape_text
from toytf.ops import Array

FOLDER = Path(__file__).parent
SOURCES = (
    "The Random Transformer",
    "The Illustrated Transformer",
    "the shape sheet",
    "the PyTorch post",
    "the notes",
)

REPRODUCED, CORRECTED, UNSEEDED = "reproduced", "corrected", "cannot be recomputed"
STATUSES = (REPRODUCED, CORRECTED, UNSEEDED)
# The page of the book that goes through each source.
REPLAYS = (
    "replay_random_transformer",
    "replay_illustrated_transformer",
    "replay_shape_sheet",
    "replay_pytorch_post",
    "replay_notes",
)

FAILED = "FAILED"  # no verdict: the promise is broken, and the run ends with an error


# ---------------------------------------------------------------- what was printed


@dataclass(frozen=True)
class Entry:
    """One number, array, shape or statement of a source.

    Parameters
    ----------
    id : str
        ``"s0-k1"``: the source, then a name.
    source : int
        0 to 4, see `SOURCES`.
    section : str
        Where it stands there.
    what : str
        What it is.
    printed : str, list or None
        The digits as printed, in lists nested like the array; the text of a statement; None for a
        value that the source implies and does not print.
    chapter : str
        The chapter that computes it, with two digits: ``"04"``.
    home : str, optional
        The section of that chapter, as the slug of its heading.
    step : str, optional
        The step of the replay that sets it beside what is computed, as the slug of its heading.
    corrected_by : tuple of str
        The remarks that say why what is printed does not agree.
    see : tuple of str
        Remarks that are worth reading beside it, though what is printed holds.
    decimals : int, optional
        How many decimals are meant where zeros at the end were left out, as NumPy does: its
        ``6.84`` stands for 6.84000000.
    through : str, optional
        For a value that is not printed: the entry whose printed digits follow from it.
    unseeded : bool
        True if the source drew it from an unseeded generator.
    """

    id: str
    source: int
    section: str
    what: str
    printed: str | list | None
    chapter: str
    home: str | None = None
    step: str | None = None
    corrected_by: tuple[str, ...] = ()
    see: tuple[str, ...] = ()
    decimals: int | None = None
    through: str | None = None
    unseeded: bool = False

    @property
    def words(self) -> Array:
        """The printed words, in the shape of the array."""
        return np.array("not printed" if self.printed is None else self.printed, dtype=object)

    @property
    def is_number(self) -> bool:
        """True for digits, False for a statement and for what is not printed."""
        try:
            for word in self.words.ravel():
                Decimal(word)
        except InvalidOperation:
            return False
        return True


KINDS = {
    "error": "wrong as it stands",
    "translation": "right in the English original, and lost in the Chinese edition",
    "extraction": "lost when the page became plain text, and nobody's error",
    "wording": "loosely worded, and right when one reads on",
    "simplification": "something is left out, announced or without harm",
    "outdated": "true of the library when it was written",
    "duplicate": "follows from another remark",
    "withdrawn": "our first edition said so, and was wrong",
}
OWNERS = ("author", "Chinese edition", "listing", "web copy", "this course")


@dataclass(frozen=True)
class Remark:
    """What this course says of a passage of a source.

    Parameters
    ----------
    title : str
        Unique; with the id before it, the heading in the replay.
    chapter : str
        The chapter that treats the matter, with two digits: ``"04"``.
    where : str
        Where the passage stands in the source.
    kind : str
        One of `KINDS`. Only an ``"error"`` counts as one.
    whose : str
        Whose it is, one of `OWNERS`: a slip of the Chinese edition is not the author's, nor is
        one of a listing that somebody else wrote.
    quote : str
        The words of the passage.
    means : str
        What they mean in English, if they are not.
    context : str
        What stands around them in the source.
    """

    title: str
    chapter: str
    where: str
    kind: str
    whose: str
    quote: str
    means: str
    context: str


def load(text: str, remarks: str = "{}") -> tuple[dict[str, Entry], dict[str, Remark]]:
    """Read entries and remarks from the texts of ``published.json`` and ``remarks*.json``.

    Raises
    ------
    ValueError
        If an id occurs twice.
    """
    entries: dict[str, Entry] = {}
    for row in json.loads(text):
        names = {key: tuple(row.get(key, ())) for key in ("corrected_by", "see")}
        entry = Entry(**{**row, **names})
        if entry.id in entries:
            raise ValueError(f"{entry.id}: expected every id once, got it twice")
        entries[entry.id] = entry
    return entries, {name: Remark(**row) for name, row in json.loads(remarks).items()}


def _load() -> tuple[dict[str, Entry], dict[str, Remark]]:
    entries, _ = load(FOLDER.joinpath("published.json").read_text(encoding="utf-8"))
    remarks: dict[str, Remark] = {}
    for source in range(len(SOURCES)):
        remarks |= load("[]", FOLDER.joinpath(f"remarks{source}.json").read_text(encoding="utf-8"))[1]
    return entries, remarks


ENTRIES, REMARKS = _load()


def lookup(name: str, known: Mapping[str, Entry | Remark], kind: str = "id", listing: str = "ENTRIES"):
    """Return ``known[name]``, or raise a `KeyError` that says which names come close."""
    try:
        return known[name]
    except (KeyError, TypeError):  # a list of ids is no id either
        near = difflib.get_close_matches(str(name), known, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(near)}?" if near else f"see {listing} for all of them"
        raise KeyError(f"unknown {kind} {name!r}: {hint}") from None


def printed(name: str):
    """What a source printed, as floats.

    Returns
    -------
    Array or float

    Raises
    ------
    KeyError
        If there is no such entry.
    ValueError
        If it is no number, or is not printed.

    Examples
    --------
    >>> printed("s0-k1")
    array([[4.  , 8.  , 4.  ],
           [6.84, 9.99, 6.84]])
    """
    entry = lookup(name, ENTRIES)
    if not entry.is_number:
        raise ValueError(f"{name}: expected a number, got {entry.words[()]!r}")
    numbers = entry.words.astype(np.float64)
    return numbers if numbers.ndim else float(numbers)


# ---------------------------------------------------------------- the rule of agreement


def agrees(printed, computed, decimals: int | None = None) -> Array:
    """Tell for every printed number whether the computed one rounds to it.

    A number agrees if it lies within half a unit of the last printed place, a tie included. In
    scientific notation that is the last place of the digits before the ``e``.

    Parameters
    ----------
    printed : str or nested lists of str
        The digits as printed.
    computed : array_like
        The numbers, in the same shape.
    decimals : int, optional
        How many decimals the digits are meant to have, if zeros at the end were left out. It does
        not touch numbers in scientific notation.

    Returns
    -------
    Array of bool, the shape of `printed`

    Raises
    ------
    ValueError
        If the shapes differ, or `decimals` is below what is printed.

    Examples
    --------
    >>> agrees(["0.09", "0.24", "0.67"], [0.09003, 0.24473, 0.66524]).tolist()
    [True, True, True]
    >>> agrees(["6.84", "9.99"], [6.84, 9.9935]).tolist()
    [True, True]
    >>> agrees(["6.84", "9.99"], [6.84, 9.9935], decimals=8).tolist()
    [True, False]
    """
    words, numbers = np.array(printed, dtype=object), np.asarray(computed, dtype=np.float64)
    if words.shape != numbers.shape:
        raise ValueError(f"computed: expected the shape {shape_text(words.shape)}, got {shape_text(numbers.shape)}")
    pairs = zip(words.ravel(), numbers.ravel().tolist(), strict=True)
    return np.array([_agrees(word, number, decimals) for word, number in pairs], dtype=bool).reshape(words.shape)


def _agrees(word: str, number: float, decimals: int | None) -> bool:
    value = Decimal(word)
    if value.is_nan() or not math.isfinite(number):
        return value.is_nan() and math.isnan(number)
    place = value.as_tuple().exponent
    if decimals is not None and "e" not in word.lower():
        if -decimals > place:
            raise ValueError(f"decimals: expected at least {-place}, as many as {word} shows, got {decimals}")
        place = -decimals
    unit = Decimal(1).scaleb(place)
    rounding = 4 * Decimal(math.ulp(number))  # what the float itself may be off by
    return abs(Decimal(number) - value) <= unit * (Decimal("0.5") + Decimal("1e-9")) + rounding


# ---------------------------------------------------------------- what is computed, and the verdict


@dataclass(frozen=True)
class Claim:
    """What a check of a statement found.

    Parameters
    ----------
    holds : bool
        Whether the statement is true as it is printed.
    found : str
        What is true, with the numbers or shapes that show it.
    instead : bool
        For a statement that does not hold: whether what is right instead was seen to hold.
    """

    holds: bool
    found: str
    instead: bool = True

    def __str__(self) -> str:
        return self.found


@dataclass(frozen=True)
class Recomputation:
    """The function that computes an entry again.

    Parameters
    ----------
    function : callable
        Takes nothing and returns a number, an array, a text or a `Claim`.
    given : bool
        True for a definition or a setting, which nothing computes.
    via : callable, optional
        For a value that is not printed: takes it to one that is, the entry's `through`.
    """

    function: Callable
    given: bool = False
    via: Callable | None = None


@dataclass(frozen=True)
class Result:
    """An entry and what came out when it was computed again.

    Parameters
    ----------
    entry : Entry
    status : str
        One of `STATUSES`, or `FAILED`.
    computed : Array, Claim, str or None
        What follows from the entry's own inputs; None if nothing was computed.
    right : Array, Claim, str or None
        The right value; the same as `computed` unless that starts from a mistake.
    matches : Array of bool or None
        For numbers: which of them agree.
    given : bool
        True for a definition or a setting.
    failure : str
        Why it failed; empty otherwise.
    """

    entry: Entry
    status: str
    computed: Array | Claim | str | None = None
    right: Array | Claim | str | None = None
    matches: Array | None = None
    given: bool = False
    failure: str = ""


@dataclass(frozen=True)
class Ledger:
    """The entries, the remarks and the functions that compute the entries again.

    The package has one, `LEDGER`. Tests make others, with a digit changed, and see them fail.
    """

    entries: Mapping[str, Entry]
    remarks: Mapping[str, Remark]
    functions: Mapping[str, Recomputation]
    rights: Mapping[str, Callable]  # the right values, where `functions` start from a mistake
    _cache: dict[str, Result] = field(default_factory=dict, init=False, compare=False, repr=False)

    def result(self, name: str) -> Result:
        """Compute one entry again and compare.

        Raises
        ------
        KeyError
            If there is no such entry.
        """
        entry = lookup(name, self.entries)
        if name not in self._cache:
            self._cache[name] = self._compare(entry)
        return self._cache[name]

    def results(self, source: int | None = None, chapter: str | None = None) -> list[Result]:
        """Compute all entries again, or those of one source or one chapter."""
        return [
            self.result(entry.id)
            for entry in self.entries.values()
            if source in (None, entry.source) and chapter in (None, entry.chapter)
        ]

    def remarks_on(self, source: int | None = None, chapter: str | None = None) -> dict[str, Remark]:
        """All remarks, or those on one source or of one chapter, by id."""
        return {
            name: said
            for name, said in self.remarks.items()
            if source in (None, int(name[1])) and chapter in (None, said.chapter)
        }

    def _compare(self, entry: Entry) -> Result:
        unknown = [name for name in (*entry.corrected_by, *entry.see) if name not in self.remarks]
        if unknown:
            return Result(entry, FAILED, failure=f"refers to {unknown[0]}, and there is no such remark")
        if entry.id not in self.functions:
            return Result(entry, FAILED, failure="nothing recomputes it")
        recomputation = self.functions[entry.id]
        try:
            computed = _as_value(recomputation.function())
            right = _as_value(self.rights[entry.id]()) if entry.id in self.rights else computed
            has_digits = isinstance(computed, np.ndarray) and entry.printed is not None
            matches = agrees(entry.printed, computed, entry.decimals) if has_digits else None
            status, failure = self._verdict(entry, computed, matches, recomputation.via)
        except Exception as error:  # a broken function must not hide the others
            return Result(entry, FAILED, failure=f"{type(error).__name__}: {error}")
        return Result(entry, status, computed, right, matches, recomputation.given, failure)

    def _verdict(self, entry: Entry, computed, matches: Array | None, via: Callable | None) -> tuple[str, str]:
        """The status, and why it failed."""
        if entry.unseeded:
            if not isinstance(computed, Claim):
                return FAILED, "was drawn without a seed: expected a check of its structure"
            return (UNSEEDED, "") if computed.holds else (FAILED, f"its structure: {computed.found}")

        agreed, failure = self._agreement(entry, computed, matches, via)
        if failure:
            return FAILED, failure
        if agreed and entry.corrected_by:
            return FAILED, f"agrees with what is printed, but {entry.corrected_by[0]} calls it wrong"
        if not agreed and not entry.corrected_by:
            gap = _first_gap(entry, computed, matches)
            return FAILED, f"disagrees with what is printed, and no remark says so: {gap}"
        return (REPRODUCED if agreed else CORRECTED), ""

    def _agreement(self, entry: Entry, computed, matches: Array | None, via: Callable | None) -> tuple[bool, str]:
        """Whether what was computed is what is printed, and why neither can be."""
        if isinstance(computed, Claim):
            wrong = "" if computed.holds or computed.instead else "is wrong, and so is what should be right: "
            return computed.holds, wrong and wrong + computed.found
        if entry.printed is None:
            if entry.through is None or via is None:
                return False, "is not printed, and nothing printed follows from it"
            goal = lookup(entry.through, self.entries)
            follows = agrees(goal.printed, via(computed), goal.decimals).all()
            return follows, "" if follows else f"is not printed, and {entry.through} does not follow from it"
        return (computed == entry.printed if isinstance(computed, str) else matches.all()), ""


def _as_value(value):
    """A claim or a text as it is, anything else as floats."""
    return value if isinstance(value, (Claim, str)) else np.asarray(value, dtype=np.float64)


def _first_gap(entry: Entry, computed, matches: Array | None) -> str:
    if matches is None:
        return f"printed {entry.printed!r}, found {str(computed)!r}"
    where = tuple(int(i) for i in np.argwhere(~matches)[0])
    place = f" at {list(where)}" if where else ""
    return f"printed {entry.words[where]}, computed {float(computed[where]):.10g}{place}"


def counts(results: Iterable[Result]) -> dict[str, int]:
    """How many results have each status, in the order of `STATUSES`; failures only if there are any."""
    found = [result.status for result in results]
    tally = {status: found.count(status) for status in STATUSES}
    return tally | ({FAILED: found.count(FAILED)} if FAILED in found else {})
