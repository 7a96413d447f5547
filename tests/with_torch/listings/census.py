"""Which parts the files of Hugging Face's library have, by year: the list is fixed in ``parts.json``."""

import ast
import json
import re
from functools import cache
from pathlib import Path

import transformers

FIXED = json.loads(Path(__file__).with_name("parts.json").read_text("utf-8"))
PARTS = {part: re.compile(mark) for part, mark, _ in FIXED["parts"]}
UNNAMED = [part for part, _, section in FIXED["parts"] if section is None]
KNOWN = re.compile(rf"\w*({FIXED['classes']})")
YEAR = re.compile(r"Copyright\s+(?:\(c\)\s+)?(20\d\d)")


def parts(text: str) -> list[str]:
    """The parts whose marks stand in the code, comments and docstrings left out.

    A class whose name the list does not know is one more part, under its own name.
    """
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    code = ast.unparse(tree)
    classes = (node.name for node in tree.body if isinstance(node, ast.ClassDef))
    return [
        *(part for part, mark in PARTS.items() if mark.search(code)),
        *(f"class {name}" for name in classes if not KNOWN.fullmatch(name)),
    ]


def strange(found: list[str]) -> list[str]:
    """Those of the parts that the book does not name."""
    return [part for part in found if part in UNNAMED or part.startswith("class ")]


@cache
def decoders() -> dict[str, tuple[int | None, list[str]]]:
    """By model, for files that define a decoder: the year in its head, or in that of its settings, and its parts."""
    found = {}
    for path in sorted(Path(transformers.__file__).parent.glob("models/*/modeling_*.py")):
        if path.parent.name == "auto":  # a list of models, no model
            continue
        text = path.read_text(encoding="utf-8")
        if re.search(r"class \w+ForCausalLM\(", text):
            settings = path.with_name(path.name.replace("modeling", "configuration"))
            year = YEAR.search(text) or YEAR.search(settings.read_text(encoding="utf-8"))
            found[path.stem.removeprefix("modeling_")] = (int(year[1]) if year else None, parts(text))
    return found


def results():
    dated = {model: (year, found) for model, (year, found) in decoders().items() if year}
    years = sorted({year for year, _ in dated.values()})

    def by_year(wanted):
        has = [year for year, found in dated.values() if wanted(found)]
        return [has.count(year) for year in years]

    last = {model: strange(found) for model, (year, found) in dated.items() if year == years[-1]}
    return {
        "transformers": transformers.__version__,
        "years": years,
        "all files": by_year(lambda found: True),
        "without a year": len(decoders()) - len(dated),
        "named wholly": by_year(lambda found: not strange(found)),
        "named wholly, last year": [model for model, what in last.items() if not what],
        "last year: pictures or sound": sum("pictures or sound" in what for what in last.values()),
        **{part: by_year(lambda found, part=part: part in found) for part in PARTS},
    }
