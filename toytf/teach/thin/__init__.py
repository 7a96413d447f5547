"""A package for students that checks one assignment and holds none of its solutions.

    toytf assign --exercises 9.1 8.8 9.7 --title "Week 6" --thin --out week6

writes ``week6/toytf_student-VERSION-py3-none-any.whl`` beside the student's notebook. It is a package of its
own with the name `toytf`, and has what a student's notebook imports: `toytf.check` with the checks of this
assignment, and `toytf.byhand.fmt`. The right functions are not in it, nor their sources, nor those of the known
mistakes. In their place stand results on fixed inputs, those on which `toytf.check` calls a function too: the right
ones in the open, those of a mistake as a hash, under which lies what is said to it.

**What it still gives away.** The right results for these inputs: a table of them passes the check at home (the
grader draws other inputs). For numbers worked out by hand a slow hash of each entry: whoever tries out small
whole numbers finds them in seconds.

The grader does not use it.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import math
import re
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import toytf
from toytf.check.compare import Mistake, Outcome, allowed
from toytf.check.core import Check
from toytf.check.pencil import ByHand, Part
from toytf.course.chapters import BOOK
from toytf.teach.exercises import Exercise
from toytf.teach.thin.stored import TAG, cells_hash, hidden, packed, sealed, step_text, steps

PACKAGE = Path(toytf.__file__).parent
AS_THEY_ARE = ("_validate.py", "byhand/expressions.py", "check/compare.py", "check/outcomes.py")
DAY = (1980, 1, 1, 0, 0, 0)  # in the archive: the same files give the same bytes
DRAWS = 200  # of a grid; half of them will do
ROOM = 1e-9  # how far a whole number may be off

TOP = '''\
"""What the notebook of {title} needs of toytf: its checks, without any solution.

This is not the whole of toytf, which has a Transformer in it: what the course's chapters import is not here.
"""

__version__ = "{version}"


def __getattr__(name):
    if name.startswith("_") or name in ("check", "byhand"):  # Python asks before it imports one of these
        raise AttributeError(name)
    raise ImportError(
        f"toytf.{{name}} is not in this package, which has the checks of one assignment; toytf.check and "
        "toytf.byhand.fmt are. Whatever needs more is tried out in its chapter's notebook, with the whole of toytf."
    )
'''
BYHAND = '''\
"""The course's one way of writing numbers."""

from toytf.byhand.expressions import fmt

__all__ = ["fmt"]
'''
CHECK = '''\
"""The checks of one assignment: ``check.softmax(mine)`` says whether a function is right, or what it looks like."""

import pkgutil

from toytf.check.stored import Shelf

_SHELF = Shelf(pkgutil.get_data(__name__, "data.json"))
CHECKS, BY_HAND = _SHELF.checks, _SHELF.by_hand
byhand, points, hide_answers = _SHELF.byhand, _SHELF.points, _SHELF.hide_answers
globals().update(CHECKS)


def __getattr__(name):
    raise _SHELF.missing(name)
'''


# ---------------------------------------------------------------- what is written down


def recorded(check: Check) -> dict:
    """A function's check without any function: inputs, right results, hashes of those of the known mistakes."""
    inputs = check.inputs
    return {
        "name": check.name,
        "exercise": check.exercise,
        "doc": check.__doc__,
        "parameters": check.parameters,
        "results": list(check.results),
        "tolerance": check.tolerance,
        "cases": [[packed(case.args), case.about] for case in inputs],
        "right": [
            [outcome.kind, [packed(array) for array in outcome.arrays], outcome.text]
            for outcome in inputs.given(check.expected)
        ],
        "looks": [
            [_look(mistake, list(inputs.given(mistake.function)), tolerance) for tolerance in _tolerances(check)]
            for mistake in check.mistakes
        ],
    }


def _tolerances(check: Check) -> list[float]:
    """The largest differences that are taken for rounding: of numbers in full, and of those of float32."""
    zero = np.zeros(1)
    return [allowed(check, Outcome("arrays", (zero.astype(kind),))) for kind in (np.float64, np.float32)]


def _look(mistake: Mistake, outcomes: list[Outcome], tolerance: float) -> list:
    """What a mistake gives, as `stored.Look` has it: a grid on whose lines no number lies, and a hash of its cells."""
    arrays = [np.arcsinh(array.astype(float)).ravel() for outcome in outcomes for array in outcome.arrays]
    numbers = np.concatenate([*arrays, np.zeros(1)])
    numbers = numbers[np.isfinite(numbers)]
    margin = 2 * tolerance
    step = 4 * margin * len(numbers)  # so that every second grid or so will do
    rng = np.random.default_rng(0)
    for _ in range(DRAWS):
        offset = float(rng.random())
        inside = (numbers / step + offset) % 1
        if np.minimum(inside, 1 - inside).min() * step > margin:
            key = cells_hash(outcomes, step, offset)
            words = json.dumps([mistake.name, mistake.advice]).encode()
            return [step, offset, key[:TAG].hex(), hidden(words, key[TAG:]).hex()]
    raise ValueError(f"{mistake.name}: expected a grid on whose lines no number lies, got none in {DRAWS} draws")


def sealed_by_hand(one: ByHand, title: str) -> dict:
    """The answers of a by-hand exercise, each entry as a slow hash of its own."""
    parts = [_sealed(part, f"{title}/{one.number}/{part.name}") for part in one.parts]
    return {"exercise": one.exercise, "number": one.number, "parts": parts}


def _sealed(part: Part, salt: str) -> dict:
    expected = np.asarray(part.expected, dtype=float)
    if not np.isfinite(expected).all():
        raise ValueError(f"{salt}: expected finite numbers, got {expected.tolist()}")
    exact = not part.decimals and bool((expected == np.round(expected)).all())
    return {
        "name": part.name,
        "shape": list(expected.shape),
        "decimals": part.decimals,
        "exact": exact,
        "salt": salt,
        "entries": [
            [sealed(step_text(step), f"{salt}/{i}")[:TAG].hex() for step in _accepted(value, part.decimals)]
            for i, value in enumerate(expected.ravel().tolist())
        ],
        "traps": _traps(part, expected, exact, salt),
    }


def _accepted(value: float, decimals: int) -> list[int]:
    """The steps of the last decimal that count as this number: one, or two where it lies half-way."""
    scaled = value * 10.0**decimals
    near = sorted({math.floor(scaled), math.ceil(scaled)})
    return [step for step in near if abs(step - scaled) <= 0.5 + ROOM]


def _traps(part: Part, expected: np.ndarray, exact: bool, salt: str) -> list:
    """Known wrong answers, recognised with two decimals, or with as many as tell them from the right one."""
    found: list = []
    for trap in part.traps:
        value = np.asarray(trap.value, dtype=float)
        if value.shape != expected.shape or not np.isfinite(value).all():
            continue
        for decimals in sorted({2 if exact else min(2, part.decimals), part.decimals}, reverse=exact):
            text = step_text(steps(value, decimals))
            if text != step_text(steps(expected, decimals)):
                key = sealed(text, f"{salt}/trap {len(found)}")
                found.append([decimals, key[:TAG].hex(), hidden(trap.looks.encode(), key[TAG:]).hex()])
                break
    return found


# ---------------------------------------------------------------- the wheel


def wheel(chosen: Sequence[Exercise], title: str) -> tuple[str, bytes]:
    """Make the package of an assignment: the name of its file, and the file.

    Parameters
    ----------
    chosen : sequence of Exercise
    title : str
        The assignment's.

    Returns
    -------
    name : str
        ``toytf_student-0.1.0.post123-py3-none-any.whl``; another assignment gives another number.
    content : bytes
        The same for the same assignment.
    """
    data = {
        "title": title,
        "checks": [recorded(one.check) for one in chosen if one.check],
        "by hand": [sealed_by_hand(one.by_hand, title) for one in chosen if one.by_hand],
    }
    files = {f"toytf/{name}": (PACKAGE / name).read_bytes() for name in AS_THEY_ARE}
    files["toytf/check/stored.py"] = Path(__file__).with_name("stored.py").read_bytes()
    files["toytf/byhand/__init__.py"] = BYHAND.encode()
    files["toytf/check/__init__.py"] = CHECK.encode()
    files["toytf/check/data.json"] = json.dumps(data, ensure_ascii=False).encode()
    whole = hashlib.sha256(b"".join(files[name] for name in sorted(files)))
    version = f"{toytf.__version__}.post{int(whole.hexdigest()[:7], 16)}"
    words = re.sub(r'["\\{}]', "", title)
    files["toytf/__init__.py"] = TOP.format(title=words, version=version).encode()
    return f"toytf_student-{version}-py3-none-any.whl", _archive(files, version)


def _archive(files: dict[str, bytes], version: str) -> bytes:
    """Files as a wheel."""
    about = f"toytf_student-{version}.dist-info"
    files = dict(sorted(files.items()))
    files[f"{about}/METADATA"] = (
        f"Metadata-Version: 2.4\nName: toytf-student\nVersion: {version}\n"
        "Summary: The checks of one assignment, without solutions\nLicense-Expression: MIT\n"
        "Requires-Python: >=3.11\nRequires-Dist: numpy>=1.26\n"
    ).encode()
    for name in ("LICENSE", "NOTICE"):
        if (BOOK / name).is_file():
            files[f"{about}/licenses/{name}"] = (BOOK / name).read_bytes()
    files[f"{about}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: toytf\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    record = f"{about}/RECORD"
    lines = [f"{name},sha256={_digest(content)},{len(content)}" for name, content in files.items()]
    files[record] = "\n".join([*lines, f"{record},,", ""]).encode()
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            about_file = zipfile.ZipInfo(name, DAY)
            about_file.compress_type = zipfile.ZIP_DEFLATED
            about_file.external_attr = 0o644 << 16
            about_file.create_system = 3  # the same on every system
            archive.writestr(about_file, content)
    return made.getvalue()


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


# ---------------------------------------------------------------- what is missing in it


def need_more(chosen: Sequence[Exercise]) -> list[Exercise]:
    """The exercises that are tried out with more of `toytf` than this package has.

    Explorations change something in their chapter's notebook, which needs the whole; and some texts name a
    module of it.
    """
    return [one for one in chosen if "explore" in one.kinds or re.search(r"`toytf\.(?!check)\w+", one.text)]
