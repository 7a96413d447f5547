"""PyTorch code that the book shows, and what it gave when it last ran.

The book and ``make test`` need no torch. So each listing is a module of this package with a function
``results()``, and what that function returned is stored in ``toytf/course/data/pytorch.json`` together with
the version of torch that ran it:

    >>> from toytf.course import listings
    >>> found = listings.stored("deviation")
    >>> print("run with torch", found.torch)  # doctest: +ELLIPSIS
    run with torch 2...
    >>> found["torch.std"].shape
    (2,)

`code` shows a listing, `run` runs it again (needs torch), and

    toytf listings --out toytf/course/data/pytorch.json

makes all stored results again. ``make test-torch`` compares them with a fresh run.
"""

from __future__ import annotations

import ast
import difflib
import importlib
import json
import textwrap
from importlib import resources

import numpy as np

from toytf.course.pytorch import import_torch

DATA = "pytorch.json"
DECIMALS = 12  # what is stored; the last bits of a float64 differ between machines


def names() -> list[str]:
    """The names of all listings, in alphabetical order."""
    files = (path.name for path in resources.files(__name__).iterdir())
    return sorted(
        name.removesuffix(".py")
        for name in files
        if name.endswith(".py") and name[0] != "_"
    )


class Code:
    """The text of a listing: Python in colour in the book and in JupyterLab, plain text elsewhere."""

    def __init__(self, text: str):
        self.text = text

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__

    def _repr_markdown_(self) -> str:
        return f"```python\n{self.text}\n```"


def code(name: str, *parts: str) -> Code:
    """Return the text of a listing, to be shown.

    Parameters
    ----------
    name : str
        One of `names`.
    *parts : str
        Functions or classes of it, or ``"Class.method"``; the whole file if left out.

    Raises
    ------
    KeyError
        If there is no such listing or part.

    Examples
    --------
    >>> print(code("deviation", "layer_norm_by_std"))
    def layer_norm_by_std(x, eps=1e-5):
        return (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + eps)
    """
    text = (
        resources.files(__name__)
        .joinpath(f"{_known(name, names())}.py")
        .read_text(encoding="utf-8")
        .rstrip()
    )
    if not parts:
        return Code(text)
    found = {}
    for node in ast.parse(text).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found[node.name] = node
        if isinstance(node, ast.ClassDef):
            methods = (one for one in node.body if isinstance(one, ast.FunctionDef))
            found |= {f"{node.name}.{method.name}": method for method in methods}
    shown = []
    for part in parts:
        node = found[_known(part, found, f"part of {name}")]
        shown.append(textwrap.dedent(ast.get_source_segment(text, node, padded=True)))
    return Code("\n\n\n".join(shown))


class Stored(dict):
    """What a listing returned, and the versions that made it.

    Parameters
    ----------
    results : dict
        Arrays of float64, texts, numbers, True and False, shapes as tuples.
    torch, numpy : str
        The versions.
    """

    def __init__(self, results: dict, torch: str, numpy: str):
        super().__init__(results)
        self.torch, self.numpy = torch, numpy


def stored(name: str, data: str | None = None) -> Stored:
    """Return what a listing gave when it last ran.

    Parameters
    ----------
    name : str
        One of `names`.
    data : str, optional
        The text of another file than the package's own ``toytf/course/data/pytorch.json``.

    Returns
    -------
    Stored
        A dict, with the attributes `torch` and `numpy`.

    Raises
    ------
    KeyError
        If nothing is stored under that name.
    """
    if data is None:
        data = (
            resources.files("toytf.course")
            .joinpath("data", DATA)
            .read_text(encoding="utf-8")
        )
    found = json.loads(data)
    results = found["listings"][_known(name, found["listings"])]
    return Stored(
        {key: _unpacked(value) for key, value in results.items()},
        found["torch"],
        found["numpy"],
    )


def run(name: str) -> dict:
    """Run a listing now, and return what its ``results()`` returns.

    Raises
    ------
    KeyError
        If there is no such listing.
    ImportError
        If torch is missing.
    """
    _known(name, names())
    import_torch()
    results = importlib.import_module(f"{__name__}.{name}").results()
    return {key: _plain(value) for key, value in results.items()}


def _known(name: str, known, kind: str = "listing") -> str:
    if name in known:
        return name
    near = difflib.get_close_matches(str(name), list(known), n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
    raise KeyError(f"unknown {kind} {name!r}: {hint}")


# ---------------------------------------------------------------- the file


def _plain(value):
    """A result without torch: tensors as arrays, shapes and lists as tuples."""
    if hasattr(value, "detach"):
        return value.detach().numpy()
    return tuple(value) if isinstance(value, (list, tuple)) else value


def dumps(results: dict[str, dict], torch: str, numpy: str) -> str:
    """Write the results of some listings as JSON: sorted, one result a line, the same text every time.

    Parameters
    ----------
    results : dict of dict
        By listing.
    torch, numpy : str
        The versions, of which the number alone is kept (``2.13.0+cpu`` is ``2.13.0``).

    Raises
    ------
    TypeError
        If a result is nothing that can be stored.
    """
    blocks = []
    for name in sorted(results):
        lines = (
            f"{json.dumps(key)}: {_packed(value)}"
            for key, value in sorted(results[name].items())
        )
        blocks.append(f"{json.dumps(name)}: {{\n  " + ",\n  ".join(lines) + "\n }")
    versions = (
        f"{json.dumps(key)}: {json.dumps(v.split('+')[0])}"
        for key, v in (("numpy", numpy), ("torch", torch))
    )
    return (
        '{"listings": {\n '
        + ",\n ".join(blocks)
        + "\n},\n"
        + ",\n".join(versions)
        + "}\n"
    )


def _packed(value) -> str:
    if isinstance(value, np.ndarray):
        if value.dtype != np.float64:
            raise TypeError(f"expected arrays of float64, got {value.dtype}")
        rounded = np.round(value, DECIMALS) + 0.0  # no -0.0
        numbers = [
            repr(x) if np.isfinite(x) else f'"{x}"' for x in rounded.ravel().tolist()
        ]
        return (
            f'{{"array": [{", ".join(numbers)}], "shape": {json.dumps(value.shape)}}}'
        )
    parts = value if isinstance(value, tuple) else (value,)
    if all(isinstance(part, (str, bool, int)) for part in parts):
        return json.dumps(value, ensure_ascii=False)
    raise TypeError(
        f"expected an array, a text, an integer, True or False, or a tuple of them, got {value!r}"
    )


def _unpacked(value):
    if isinstance(value, dict):
        return np.array(value["array"], dtype=np.float64).reshape(value["shape"])
    return tuple(value) if isinstance(value, list) else value
