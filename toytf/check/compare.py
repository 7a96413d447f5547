"""How what a function gave is compared with what is right, and how the mistake is named.

`call` calls your function on an input, `diagnose` says what came out of all of them. The two are apart because
the grader calls in a sandbox and diagnoses outside.
"""

from __future__ import annotations

import copy
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from toytf._validate import shape_text
from toytf.byhand import fmt
from toytf.check.outcomes import raised, returned

if TYPE_CHECKING:
    from toytf.check.core import Check

Array = np.ndarray
SHOWN_WHOLE = 40  # numbers up to which an array is shown whole
SHOWN_OF_ALL = 90  # and all arguments of a call; beyond it only the small ones are shown
NAN = "There is NaN (not a number) in it."
ASKED_FOR = ("ValueError", "TypeError")  # the errors that a function may have to raise


# ---------------------------------------------------------------- what is compared


@dataclass(frozen=True)
class Case:
    """One call: the arguments, of which a list becomes an array, and in a few words what is special about them."""

    args: tuple
    about: str = ""

    def __post_init__(self):
        object.__setattr__(self, "args", tuple(np.array(x) if isinstance(x, list) else x for x in self.args))


@dataclass(frozen=True)
class Outcome:
    """What one call gave: arrays, or the reason why there are none."""

    kind: str  # of `toytf.check.outcomes.KINDS`
    arrays: tuple[Array, ...] = ()
    text: str = ""  # the exception, or what came instead of numbers
    modified: tuple[int, ...] = ()  # which arguments were changed in place


@dataclass(frozen=True)
class Report:
    """What a checker says."""

    right: bool
    headline: str
    details: tuple[str, ...] = ()
    mistake: str | None = None  # the name of the known mistake that it looks like

    def __bool__(self) -> bool:
        return self.right

    def __str__(self) -> str:
        return "\n".join((self.headline, *(textwrap.indent(line, "  ") for line in self.details)))


class Inputs(tuple):
    """Cases, and what functions of ours give on them: each is called when it is asked for, and once."""

    def __init__(self, cases: Iterable[Case]):
        self._given: dict[Callable, list[Outcome]] = {}

    def given(self, function: Callable) -> Iterator[Outcome]:
        """What a function gives, case by case."""
        known = self._given.setdefault(function, [])
        for i, case in enumerate(self):
            if i == len(known):
                known.append(call(function, case.args))
            yield known[i]


# ---------------------------------------------------------------- calling


def right_outcomes(check: Check, inputs: Inputs) -> list[Outcome]:
    """What the right function gives. An error that no exercise asks for is ours, and is raised."""
    outcomes = list(inputs.given(check.solution))
    for outcome in outcomes:
        if outcome.kind != "arrays" and outcome.text.split(":")[0] not in ASKED_FOR:
            raise RuntimeError(f"{check.name}: the right function failed: {outcome.kind} {outcome.text}")
    return outcomes


def call(function: Callable, args: tuple) -> Outcome:
    """Call a function with copies of these arguments; whatever comes of it is an outcome."""
    given = tuple(copy.deepcopy(arg) for arg in args)  # one by one: no two share an array, as in the grader
    try:
        with np.errstate(all="ignore"):
            value = function(*given)
    except Exception as error:  # whatever a student's code raises is an answer to be explained
        kind, text = raised(error)
        return Outcome(kind, text=text)
    changed = tuple(i for i, (a, b) in enumerate(zip(given, args, strict=True)) if not _unchanged(a, b))
    kind, arrays, text = returned(value, np.asarray)
    return Outcome(kind, tuple(arrays), text, changed if kind == "arrays" else ())


def _unchanged(given, original) -> bool:
    if isinstance(original, np.ndarray):
        return isinstance(given, np.ndarray) and np.array_equal(given, original, equal_nan=original.dtype.kind == "f")
    if isinstance(original, (list, tuple)):
        return len(given) == len(original) and all(map(_unchanged, given, original))
    return given == original


# ---------------------------------------------------------------- comparing


def same(a: Outcome, b: Outcome, tolerance: float) -> bool:
    """Whether two calls gave the same: equal arrays, or no arrays for the same kind of reason."""
    if a.kind != b.kind or len(a.arrays) != len(b.arrays):
        return False
    return all(_close(x, y, tolerance) for x, y in zip(a.arrays, b.arrays, strict=True))


def _close(x: Array, y: Array, tolerance: float = 1e-9) -> bool:
    return _same_kind(x, y) and x.shape == y.shape and not _differs(x, y, tolerance).any()


def _same_kind(x: Array, y: Array) -> bool:
    """Whether both are truth values or both numbers: a mask of 0 and 1 is no mask."""
    return (x.dtype.kind == "b") == (y.dtype.kind == "b")


def _differs(x: Array, y: Array, tolerance: float) -> Array:
    """Where two arrays of one shape differ; NaN equals NaN and infinity equals infinity."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    with np.errstate(invalid="ignore"):
        near = np.isfinite(y) & (np.abs(x - y) <= tolerance * np.maximum(1.0, np.abs(y)))
    return ~(near | (x == y) | (np.isnan(x) & np.isnan(y)))


def diagnose(check: Check, inputs: Inputs, outcomes: Sequence[Outcome]) -> Report:
    """Say whether the outcomes are right; if not, which known mistake gives the same, and where it shows first."""
    right = right_outcomes(check, inputs)
    outcomes = [_stacked(*pair) for pair in zip(outcomes, right, strict=True)]
    wrong = [i for i, pair in enumerate(zip(outcomes, right, strict=True)) if not agree(check, *pair)]
    if not wrong:
        right_on = f"{check.name}: right, on {len(inputs)} input{'s'[: len(inputs) != 1]}."
        modified = _modified(check, inputs, outcomes)
        return Report(True, right_on) if modified is None else modified
    mine, ours = outcomes[wrong[0]], right[wrong[0]]
    if mine.kind == "not written":
        stays = "The line that raises NotImplementedError still ends it."
        return Report(False, f"{check.name}: not written yet. {stays}")
    shown = _example(check, inputs[wrong[0]], mine, ours)
    if any(array.dtype == np.float16 for array in mine.arrays):
        shown.append("Your result is float16, which keeps three digits. Work with float64.")
    if known := check.looks_like(inputs, outcomes):
        raised = [f"it raised {mine.text}"] * (mine.kind == "raised")
        headline = f"{check.name}: not yet. This looks like: {known.name}."
        return Report(False, headline, (known.advice, *shown, *raised), known.name)
    general = _in_general(check, mine, ours) or _pattern([(outcomes[i], right[i]) for i in wrong])
    return Report(False, f"{check.name}: not yet. {general or 'Some numbers differ.'}", tuple(shown))


def _stacked(mine: Outcome, ours: Outcome) -> Outcome:
    """A tuple of arrays where one array of as many numbers is due: read as NumPy reads a list of them."""
    if len(ours.arrays) == 1 < len(mine.arrays) and len({array.shape for array in mine.arrays}) == 1:
        whole = np.stack(mine.arrays)
        if (whole.ndim, whole.size) == (ours.arrays[0].ndim, ours.arrays[0].size):
            return replace(mine, arrays=(whole,))
    return mine


def agree(check: Check, mine: Outcome, ours: Outcome) -> bool:
    """Whether an outcome is right; of an error the type alone counts."""
    errors = [one.text.split(":")[0] for one in (mine, ours) if mine.kind == "raised"]
    return same(mine, ours, allowed(check, mine)) and len(set(errors)) < 2


def allowed(check: Check, mine: Outcome) -> float:
    """The tolerance: numbers handed in as float32 are compared with the precision that they have.

    Those of float16 are not: with its three digits 0 would pass for 0.05.
    """
    single = any(a.dtype == np.float32 for a in mine.arrays)
    return max(check.tolerance, 64 * float(np.finfo(np.float32).eps)) if single else check.tolerance


def _modified(check: Check, inputs: Inputs, outcomes: Sequence[Outcome]) -> Report | None:
    """What is said to right numbers if an argument was changed on the way."""
    for case, outcome in zip(inputs, outcomes, strict=True):
        for name in (check.parameters[i] for i in outcome.modified):
            headline = f"{check.name}: the numbers are right, but your function changes its argument {name}."
            advice = (
                f"Whoever called it finds another {name} afterwards. Work on a new array: "
                f"{name} = {name} - 1 makes one, {name} -= 1 does not."
            )
            return Report(False, headline, (advice, *shown_input(check, case)), "argument modified")
    return None


def _in_general(check: Check, mine: Outcome, ours: Outcome) -> str | None:
    """What to say when the mistake is none of the known ones, and not in the numbers alone."""
    if mine.kind == "raised":
        other = f"; expected {ours.text.split(':')[0]}" if ours.kind == "raised" else ""
        return f"It raised {mine.text.removesuffix(': ')}{other}"
    if mine.kind == "nothing":
        return "It returned None. Is the return missing?"
    many = len(ours.arrays)
    if many > 1 and (mine.text.startswith("list (") or len(mine.arrays) == 1):
        return f"It returned one list or array. Return a tuple: return {', '.join(check.results)}."
    if mine.kind == "no numbers":
        return f"It returned {mine.text}; expected numbers or an array of numbers."
    if ours.kind == "raised":
        return "It returned an answer where an error is expected."
    if len(mine.arrays) != many:
        expected = f"{many} results ({', '.join(check.results)})" if many > 1 else "1 result"
        return f"It returned {len(mine.arrays)} result{'s'[: len(mine.arrays) != 1]}; expected {expected}."
    return next(filter(None, map(_form, check.results, mine.arrays, ours.arrays)), None)


def _form(name: str, x: Array, y: Array) -> str | None:
    """What is wrong with an array before its numbers are: its shape, or its kind of numbers."""
    if x.shape != y.shape:
        turned = " It is the expected shape turned over." if x.shape == y.shape[::-1] and x.ndim > 1 else ""
        return f"{name} {_is_shape(x)}; expected {shape_text(y.shape)}.{turned}"
    if not _same_kind(x, y):
        return f"{name} has dtype {x.dtype}; expected {'True and False' if y.dtype.kind == 'b' else 'numbers'}."
    return None


def _is_shape(x: Array) -> str:
    return f"has shape {shape_text(x.shape)}" if x.ndim else "is a single number"


def _pattern(wrong: Sequence[tuple[Outcome, Outcome]]) -> str | None:
    """Slips that any function can have; said only if all wrong arrays have them, for one alone may by chance."""
    both = (zip(mine.arrays, ours.arrays, strict=False) for mine, ours in wrong)
    pairs = [(np.asarray(x, float), np.asarray(y, float)) for arrays in both for x, y in arrays]
    pairs = [pair for pair in pairs if not _close(*pair)]
    if pairs and np.isnan(pairs[0][0]).any() and not np.isnan(pairs[0][1]).any():  # a fact, whatever the others hold
        return NAN
    if not pairs or not all(x.shape == y.shape and np.isfinite([*x.flat, *y.flat]).all() for x, y in pairs):
        return None
    if all(x.ndim > 1 and x.shape[-1] == x.shape[-2] and _close(np.swapaxes(x, -1, -2), y) for x, y in pairs):
        return "It is the transpose of what is expected."
    if any(x.any() for x, _ in pairs) and all(any(_close(x, np.round(y, n)) for n in range(1, 9)) for x, y in pairs):
        return "You rounded. Return the numbers with all their decimals."
    if all(_close(-x, y) for x, y in pairs) and any(np.count_nonzero(y) > 1 for _, y in pairs):
        return "Every sign is the other way round."
    factors = [_factor(x, y) for x, y in pairs]
    if None in factors or not factors[0]:
        return None
    return f"Every number is {fmt(factors[0])} times what is expected."


def _factor(x: Array, y: Array) -> float | None:
    """By what all numbers are multiplied; None if by nothing, 0 if they are too few or too equal to tell."""
    away = np.abs(y) > 1e-12
    if away.sum() < 2 or np.ptp(np.abs(y[away])) < 1e-9:
        return 0.0
    ratios = x[away] / y[away]
    if x[~away].any() or np.ptp(ratios) >= 1e-9 or fmt(ratios[0]) in (fmt(0.0), fmt(-0.0), fmt(1.0)):
        return None
    return float(ratios[0])


# ---------------------------------------------------------------- showing


def _example(check: Check, case: Case, mine: Outcome, ours: Outcome) -> list[str]:
    """The input on which it shows, and both values."""
    lines = shown_input(check, case)
    if ours.kind == "raised":
        lines.append(f"expected an error such as {ours.text}")
    if mine.kind == "nothing" and len(ours.arrays) == 1 and ours.arrays[0].size <= SHOWN_WHOLE:
        lines += ["it returned None, expected", _text(ours.arrays[0])]
    if mine.kind == ours.kind == "arrays" and len(mine.arrays) == len(ours.arrays):
        tolerance = allowed(check, mine)
        pairs = zip(check.results, mine.arrays, ours.arrays, strict=True)
        lines += next(filter(None, (_both(name, x, y, tolerance) for name, x, y in pairs)), [])
    return lines


def _both(name: str, x: Array, y: Array, tolerance: float) -> list[str]:
    """Both values of a result, where they differ."""
    whole = [f"your {name} =", _text(x), "expected", _text(y)] if max(x.size, y.size) <= SHOWN_WHOLE else []
    if x.shape != y.shape:
        return [*whole, f"your {name} {_is_shape(x)}, expected {shape_text(y.shape)}"]
    if not _same_kind(x, y):
        return [f"your {name} has dtype {x.dtype}, expected {y.dtype}"]
    bad = _differs(x, y, tolerance)
    if not bad.any() or not x.ndim:
        return whole if bad.any() else []
    where = tuple(np.argwhere(bad)[0].tolist())
    at = f"{name}[{', '.join(map(str, where))}]"
    return [*whole, f"{at}: yours {_digits(x[where], y[where])}, expected {_digits(y[where], x[where])}"]


def shown_input(check: Check, case: Case) -> list[str]:
    """The arguments of a call, in lines; of a large array its shape alone."""
    lines = [f"With this input ({case.about}):" if case.about else "With this input:"]
    sizes = [arg.size for arg in case.args if isinstance(arg, np.ndarray)]
    room = SHOWN_WHOLE if sum(size for size in sizes if size <= SHOWN_WHOLE) <= SHOWN_OF_ALL else 8
    for name, value in zip(check.parameters, case.args, strict=False):
        if isinstance(value, np.ndarray) and value.size > room:
            lines.append(f"{name}: shape {shape_text(value.shape)}")
        else:
            below = isinstance(value, np.ndarray) and value.ndim > 1
            lines += [f"{name} =", _text(value)] if below else [f"{name} = {_text(value)}"]
    return lines


def _text(value) -> str:
    """A value as the page shows numbers."""
    if isinstance(value, (np.ndarray, float, np.floating)):
        value = np.asarray(value)
        if value.dtype.kind == "f" and np.isfinite(value).all():
            large = value.size and float(np.abs(value).max()) >= 1e6
            return str(value) if large else fmt(value)
    return str(value)


def _digits(number, other) -> str:
    """A number with enough digits to tell it from the other."""
    if np.asarray(number).dtype.kind != "f":
        return str(number)
    texts = [(f"{float(number):.{digits}g}", f"{float(other):.{digits}g}") for digits in (4, 6, 9, 12, 17)]
    return next((mine for mine, ours in texts if mine != ours), repr(float(number)))
