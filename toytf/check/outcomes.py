"""What came of a call, or stands in a variable: arrays of numbers, or words for what else it is.

The checkers read this file as `toytf.check.outcomes`, the grader's runner as a file beside it, in a sandbox
in which `toytf` is not there. So it imports nothing; NumPy's `asarray` is handed in.
"""

from __future__ import annotations

KINDS = ("arrays", "raised", "not written", "nothing", "no numbers")
LONGEST_TEXT = 2000  # of an error message


def returned(value, asarray) -> tuple[str, list, str]:
    """The kind of what a function returned, its arrays, and words for what is no number."""
    if value is None:
        return "nothing", [], ""
    arrays = []
    for part in value if isinstance(value, tuple) else (value,):
        try:
            array = asarray(part)
        except Exception as error:  # ragged lists, and objects that refuse
            return "no numbers", [], clip(f"{type(part).__name__} ({error})")
        if array.dtype.kind not in "fiub":
            return "no numbers", [], clip(f"{type(part).__name__} of dtype {array.dtype}")
        arrays.append(array)
    return "arrays", arrays, ""


def raised(error: BaseException) -> tuple[str, str]:
    """The kind of what a function raised, and words for it."""
    return "not written" if isinstance(error, NotImplementedError) else "raised", describe(error)


def answered(value, asarray) -> tuple[dict, list]:
    """A variable with by-hand answers, one or one for each part by its name: what each is, and the arrays."""
    pairs = list(value.items())[:64] if isinstance(value, dict) else [(None, value)]
    parts, arrays = [], []
    for name, answer in pairs:
        part = {"name": name if name is None else clip(str(name))}
        if answer is None:
            part["kind"] = "none"
        else:
            try:
                arrays.append(asarray(answer, dtype=float))
                part["kind"] = "array"
            except Exception:
                part.update(kind="other", text=clip(repr(answer))[:200])
        parts.append(part)
    return {"kind": "answers", "named": isinstance(value, dict), "parts": parts}, arrays


def describe(error: BaseException) -> str:
    """``ValueError: what it says``, also for an exception that cannot say it."""
    try:
        said = str(error)
    except BaseException:
        said = "(its text cannot be read)"
    name = type(error).__name__
    return clip(f"{name}: {said}" if said else name)


def clip(text: str) -> str:
    """A text, or as much of it as a page should show."""
    return text if len(text) <= LONGEST_TEXT else text[:LONGEST_TEXT] + " ... (cut)"
