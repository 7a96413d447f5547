"""What the book shows of PyTorch, and scripts whose results it uses: each has a function ``results()``.

What these return is stored in ``toytf/course/data/pytorch.json``, and `toytf.course.pytorch` reads it. Code that a page
shows stands on that page alone; `from_page` runs it from there. `make test-torch STORE=1` stores all results again.
"""

import ast
import importlib
import json
import re
from functools import cache
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[3]
DECIMALS = 12  # what is stored; the last bits of a float64 differ between machines


def names() -> list[str]:
    """The names of all scripts, in alphabetical order."""
    return sorted(path.stem for path in Path(__file__).parent.glob("[a-z]*.py"))


def run(name: str) -> dict:
    """Run a script, and return what its ``results()`` returns."""
    results = importlib.import_module(f"listings.{name}").results()
    return {key: _plain(value) for key, value in results.items()}


def from_page(page: str, **given) -> dict:
    """Run the blocks of Python that a page shows above its exercises; return the names that they define."""
    text, *_ = (ROOT / page).read_text("utf-8").split("\n## Exercises\n")
    for block in re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S):
        exec(compile(block, page, "exec"), given)
    return given


def from_cells(page: str, *wanted: str, **given) -> dict:
    """Define what a page's cells define under these names, in order, and nothing else of them."""
    text = (ROOT / page).read_text("utf-8")
    for cell in re.findall(r"^```\{code-cell\}\n(?:---\n.*?^---\n|(?:^:[^\n]*\n)*)(.*?)^```$", text, re.M | re.S):
        for node in ast.parse(cell).body:
            name = getattr(node, "name", None) or (isinstance(node, ast.Assign) and ast.unparse(node.targets[0]))
            if name in wanted and name not in given:
                exec(compile(ast.Module([node], []), page, "exec"), given)
    return given


@cache
def chapter_21() -> dict:
    """The names of chapter 21's listings."""
    return from_page("book/chapters/21_pytorch.md")


def _plain(value):
    """A result without torch: tensors as arrays, shapes and lists as tuples."""
    if hasattr(value, "detach"):
        return value.detach().numpy()
    return tuple(value) if isinstance(value, (list, tuple)) else value


def dumps(results: dict[str, dict], torch: str, numpy: str) -> str:
    """Write the results of some listings as JSON: sorted, one result a line, the same text every time.

    Of the versions the number alone is kept: ``2.13.0+cpu`` is ``2.13.0``.
    """
    blocks = []
    for name in sorted(results):
        lines = (f"{json.dumps(key)}: {_packed(value)}" for key, value in sorted(results[name].items()))
        blocks.append(f"{json.dumps(name)}: {{\n  " + ",\n  ".join(lines) + "\n }")
    versions = (f"{json.dumps(key)}: {json.dumps(v.split('+')[0])}" for key, v in (("numpy", numpy), ("torch", torch)))
    return '{"listings": {\n ' + ",\n ".join(blocks) + "\n},\n" + ",\n".join(versions) + "}\n"


def _packed(value) -> str:
    if isinstance(value, np.ndarray):
        if value.dtype != np.float64:
            raise TypeError(f"expected arrays of float64, got {value.dtype}")
        rounded = np.round(value, DECIMALS) + 0.0  # no -0.0
        numbers = [repr(x) if np.isfinite(x) else f'"{x}"' for x in rounded.ravel().tolist()]
        return f'{{"array": [{", ".join(numbers)}], "shape": {json.dumps(value.shape)}}}'
    parts = value if isinstance(value, tuple) else (value,)
    if all(isinstance(part, (str, bool, int)) for part in parts):
        return json.dumps(value, ensure_ascii=False)
    raise TypeError(f"expected an array, a text, an integer, True or False, or a tuple of them, got {value!r}")
