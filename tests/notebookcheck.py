"""The checks that keep the book's numbers true, as plain functions.

Each check takes what it looks at (a notebook, a page's text, a folder) and returns a
list of sentences, one for each problem; an empty list means that the promise holds.
The tests run every check on the book, and on copies with a planted mistake.
"""

import ast
import json
import re
from bisect import bisect_left
from decimal import Decimal
from functools import cache
from itertools import pairwise
from pathlib import Path

import nbformat
from markdown_it import MarkdownIt
from mdit_py_plugins.anchors.index import slugify
from mdit_py_plugins.colon_fence import colon_fence_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin

from numbertext import (
    FORMAT_SPEC,
    MATH_OFF,
    MATH_ON,
    clean_markdown,
    html_numbers,
    latex_numbers,
    markdown_numbers,
    plain_numbers,
)

ROOT = Path(__file__).resolve().parent.parent
PUBLISHED_DATA = ROOT / "toytf" / "course" / "published" / "published.json"

# Cells that nbval may leave uncompared: {(notebook file name, cell id): reason}.
EXEMPT = {}

# Integers that no notebook computes and no source printed as a result: they come from the
# paper or from the world.  The paper's sizes are among the published numbers already.
PAPER_CONSTANTS = {
    37000: "the paper's shared English and German vocabulary, in tokens",
    2018: "the year of source 1",
    2024: "the year of source 0",
}

# A decimal typed in a code cell is an input that prose may repeat, when it is short.
# A longer one could be a result that somebody typed.
SHORT_INPUT_DIGITS = 4


# ---------------------------------------------------------------------------------------
# Reading


def read_notebook(path):
    """The notebook at ``path``, as nbformat 4."""
    return nbformat.read(path, as_version=4)


def notebook_paths(root=ROOT):
    """Every notebook of the book, in reading order within its folder."""
    return [p for folder in ("notebooks", "book") for p in sorted((root / folder).glob("*.ipynb"))]


def page_paths(root=ROOT):
    """Every page of the book that has no code."""
    return sorted((root / "book").glob("*.md"))


def where(name, index, cell):
    """How a message names a cell: the notebook, the place from the top, and the id."""
    return f"{name}, cell {index + 1} (id {cell.get('id', 'none')})"


def code_cells(nb):
    """``(index, cell)`` of every code cell."""
    return [(i, c) for i, c in enumerate(nb.cells) if c.cell_type == "code"]


def tags(cell):
    """The tags of a cell, as a set."""
    return set(cell.metadata.get("tags", []))


def text_outputs(cell):
    """``(kind, text)`` of everything that the outputs of a cell say, pictures left out."""
    for output in cell.outputs:
        if output.output_type == "stream":
            yield output.name, output.text
        elif output.output_type == "error":
            yield "error", f"{output.ename}: {output.evalue}"
        else:
            for kind, data in output.data.items():
                if isinstance(data, str) and (kind == "image/svg+xml" or "image/" not in kind):
                    yield kind, data


def pictures(cell):
    """The image types among the outputs of a cell, one for each picture."""
    return [
        next(kind for kind in output.data if kind.startswith("image/"))
        for output in cell.outputs
        if any(kind.startswith("image/") for kind in output.get("data", {}))
    ]


def shown_alt(cell):
    """The texts that stand in for, or under, a cell's picture."""
    shown = cell.metadata.get("mystnb", {})
    texts = [shown.get("image", {}).get("alt", ""), shown.get("figure", {}).get("caption", "")]
    return [text for text in texts if text]


@cache
def _tree(source):
    """The syntax tree of a code cell; None for what only IPython can read."""
    try:
        return ast.parse(source)
    except SyntaxError:
        return None


# ---------------------------------------------------------------------------------------
# Stored outputs: complete, in order, clean


def execution_problems(nb, name):
    """Every code cell was executed, from top to bottom, in one go, without an error."""
    problems = []
    for count, (index, cell) in enumerate(code_cells(nb), start=1):
        at = where(name, index, cell)
        if not cell.source.strip():
            problems.append(f"{at} is empty")
        elif cell.execution_count is None:
            problems.append(f"{at} was never executed, so nbval does not compare it")
        elif cell.execution_count != count:
            problems.append(
                f"{at} has execution count {cell.execution_count} where {count} is due: "
                "execute the notebook from top to bottom"
            )
        for output in cell.outputs:
            result_count = output.get("execution_count", cell.execution_count)
            if result_count != cell.execution_count:
                problems.append(f"{at}: the stored result is numbered {result_count}")
    return problems


def _expects(source):
    """Which outputs a cell must have stored, as far as its source tells: a set of kinds."""
    tree = _tree(source)
    if tree is None or not tree.body:
        return set()
    expected = set()
    for statement in tree.body:
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "print":
            if not any(keyword.arg == "file" for keyword in call.keywords):
                expected.add("stdout")
    last = tree.body[-1]
    # A call may return None and show nothing; these forms always have a value.
    shows = (ast.BinOp, ast.Compare, ast.JoinedStr, ast.List, ast.Tuple, ast.Dict, ast.Constant)
    if isinstance(last, ast.Expr) and isinstance(last.value, shows):
        if not source.rstrip().endswith(";"):
            expected.add("execute_result")
    return expected


def stored_output_problems(nb, name):
    """What a cell plainly shows is stored: ``print`` has printed, a value stands below."""
    problems = []
    for index, cell in code_cells(nb):
        kinds = {o.get("name", o.output_type) for o in cell.outputs}
        for missing in sorted(_expects(cell.source) - kinds - ({"stdout"} if "error" in kinds else set())):
            problems.append(f"{where(name, index, cell)} has no stored {missing}")
    return problems


def error_and_warning_problems(nb, name):
    """Errors and warnings are stored only where a tag says that the page means to show them."""
    problems = []
    for index, cell in code_cells(nb):
        at = where(name, index, cell)
        has_error = any(o.output_type == "error" for o in cell.outputs)
        has_stderr = any(o.get("name") == "stderr" for o in cell.outputs)
        for present, tag, what in (
            (has_error, "raises-exception", "an error"),
            (has_stderr, "shows-warning", "stderr output"),
        ):
            if present and tag not in tags(cell):
                problems.append(f"{at} stores {what} and is not tagged {tag}")
            elif tag in tags(cell) and not present:
                problems.append(f"{at} is tagged {tag} and stores no such output")
    return problems


_SENTENCE = re.compile(r"^\S+(?:\s+\S+){5,}[.!?]$", re.DOTALL)
_LOOKS_LIKE_PATH = re.compile(r"\S+\.(?:png|svg|jpe?g|gif)\b|^\S*/\S*$", re.IGNORECASE)


def picture_problems(nb, name):
    """Every picture has an alternative text: a sentence, not a path, and its own."""
    problems = []
    for index, cell in code_cells(nb):
        at = where(name, index, cell)
        count = len(pictures(cell))
        alt = cell.metadata.get("mystnb", {}).get("image", {}).get("alt", "")
        if count and not alt:
            problems.append(f"{at} draws a picture and has no alternative text (mystnb.image.alt)")
        elif count and _LOOKS_LIKE_PATH.search(alt):
            problems.append(f"{at}: the alternative text is a path: {alt!r}")
        elif count and not _SENTENCE.match(alt.strip()):
            problems.append(f"{at}: the alternative text is not a sentence of six words: {alt!r}")
        elif alt and not count:
            problems.append(f"{at} has an alternative text and no picture")
        if count > 1:
            problems.append(f"{at} draws {count} pictures, which share one alternative text")
    for index, cell in enumerate(nb.cells):
        if cell.cell_type == "markdown":
            problems += [f"{where(name, index, cell)}: {p}" for p in image_problems(cell.source)]
    return problems


def image_problems(markdown):
    """A picture that is put in by Markdown or HTML has an alternative text too."""
    problems = []
    for found in re.finditer(r"!\[([^\]]*)\]\(([^)]*)\)", markdown):
        if not found[1].strip() or _LOOKS_LIKE_PATH.search(found[1]):
            problems.append(f"the picture {found[2]} has no alternative text")
    for found in re.finditer(r"<img\b[^>]*>", markdown):
        if not re.search(r"\balt=\"[^\"]+\"", found[0]):
            problems.append(f"the picture {found[0]} has no alternative text")
    for found in re.finditer(r"^\s*[:`]{3,}\{(?:figure|image)\}(.*\n(?:\s*:[\w-]+:.*\n)*)", markdown, re.MULTILINE):
        if not re.search(r":alt:\s*\S", found[1]):
            problems.append(f"the picture {found[1].split()[0]} has no alternative text")
    return problems


_MACHINE_PATH = re.compile(
    r"(?<![\w.:/])/(?:home|root|tmp|work|usr|opt|var|Users|private)/"
    r"|\b[A-Z]:\\(?:Users|Windows|Program|Temp|temp|tmp)"
    r"|site-packages|ipykernel_\d"
)


def path_problems(nb, name):
    """No path of the machine that executed the notebook is in a source or an output."""
    problems = []
    for index, cell in enumerate(nb.cells):
        texts = [("source", cell.source)]
        if cell.cell_type == "code":
            texts += text_outputs(cell)
        for kind, text in texts:
            if found := _MACHINE_PATH.search(text):
                problems.append(f"{where(name, index, cell)}: machine path {found[0]!r} in its {kind}")
    return problems


_REPRS = {
    "a NumPy scalar's repr": re.compile(r"\bnp\.(?:float|int|uint|bool|complex|str)\w*\(|\bnp\.(?:True|False)_"),
    "an array's repr": re.compile(r"\barray\("),
    "a memory address": re.compile(r"\b0x[0-9a-fA-F]{6,}"),
}


def repr_problems(nb, name):
    """Outputs are formatted: no bare repr, which differs between versions, and no address."""
    problems = []
    for index, cell in code_cells(nb):
        for kind, text in text_outputs(cell):
            for what, pattern in _REPRS.items():
                if found := pattern.search(text):
                    problems.append(f"{where(name, index, cell)}: {what} in its {kind}: {found[0]!r}")
    return problems


_SEEDED = {"default_rng", "Generator", "PCG64", "SeedSequence", "BitGenerator"}


def randomness_problems(nb, name):
    """Random numbers come from ``np.random.default_rng(seed)`` and from nothing else."""
    problems = []
    for index, cell in code_cells(nb):
        at = where(name, index, cell)
        for node in ast.walk(_tree(cell.source) or ast.Module([], [])):
            if isinstance(node, ast.Attribute):
                owner = ast.unparse(node.value)
                if owner in ("np.random", "numpy.random") and node.attr not in _SEEDED:
                    problems.append(f"{at} uses {owner}.{node.attr}; use np.random.default_rng(seed)")
            elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("default_rng"):
                first = (node.args or [k.value for k in node.keywords] or [ast.Constant(None)])[0]
                if isinstance(first, ast.Constant) and first.value is None:
                    problems.append(f"{at} calls default_rng() without a seed")
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                modules = [a.name for a in node.names] + [getattr(node, "module", "")]
                if "random" in modules:
                    problems.append(f"{at} imports random; use np.random.default_rng(seed)")
    return problems


# What nbval compares; anything else would be stored and never checked.  Pictures are
# exempt as pictures: their data are printed or asserted.
_COMPARED = {"text/plain", "text/html", "text/markdown", "text/latex", "image/svg+xml", "image/png"}
_EXEMPTING = re.compile(
    r"(?:nbval|pytest[-_]validate)[-_](?:skip|ignore[-_]output|raises[-_]exception)",
    re.IGNORECASE,
)


def exemption_problems(nb, name, exempt=None):
    """nbval compares every cell, but for those that ``EXEMPT`` lists with a reason."""
    exempt = EXEMPT if exempt is None else exempt
    listed = {cell_id for (file, cell_id), reason in exempt.items() if file == name and reason}
    problems, used = [], set()
    for index, cell in code_cells(nb):
        at = where(name, index, cell)
        comments = "\n".join(re.findall(r"^\s*#.*$", cell.source, re.MULTILINE))
        found = [t for t in sorted(tags(cell)) if _EXEMPTING.fullmatch(t)]
        found += [f"comment {m}" for m in _EXEMPTING.findall(comments)]
        if found and cell.id in listed:
            used.add(cell.id)
        elif found:
            problems.append(f"{at} is exempt from nbval ({', '.join(found)}) and not listed in EXEMPT")
        for output in cell.outputs:
            for kind in sorted(set(output.get("data", {})) - _COMPARED):
                problems.append(f"{at} stores {kind}, which nbval does not compare")
    problems += [f"{name}: EXEMPT lists cell {i}, which is not exempt" for i in sorted(listed - used)]
    return problems


def metadata_problems(nb, name):
    """Format 4.5, unique cell ids, and no metadata that changes from run to run."""
    problems = []
    if (nb.nbformat, nb.nbformat_minor) != (4, 5):
        problems.append(f"{name}: format {nb.nbformat}.{nb.nbformat_minor}, expected 4.5")
    if set(nb.metadata) != {"kernelspec", "language_info"}:
        problems.append(f"{name}: metadata {sorted(nb.metadata)}, expected kernelspec and language_info alone")
    if nb.metadata.get("language_info") != {"name": "python"}:
        problems.append(f"{name}: language_info must be {{'name': 'python'}}, or it stores a Python version")
    if nb.metadata.get("kernelspec", {}).get("name") != "python3":
        problems.append(f"{name}: the kernel's name must be python3")
    seen = set()
    for index, cell in enumerate(nb.cells):
        at = where(name, index, cell)
        if cell.get("id") in seen or not cell.get("id"):
            problems.append(f"{at}: the cell id is missing or stands twice")
        seen.add(cell.get("id"))
        if extra := set(cell.metadata) - {"tags", "mystnb"}:
            problems.append(f"{at}: metadata {sorted(extra)} beside tags and mystnb")
    return problems


STORED_CHECKS = (
    execution_problems,
    stored_output_problems,
    error_and_warning_problems,
    picture_problems,
    path_problems,
    repr_problems,
    randomness_problems,
    exemption_problems,
    metadata_problems,
)


def stored_problems(nb, name):
    """All problems of a notebook's stored outputs."""
    return [problem for check in STORED_CHECKS for problem in check(nb, name)]


# ---------------------------------------------------------------------------------------
# Numbers in prose


class Values:
    """What may account for a number: computed ones, and inputs typed in code.

    Computed numbers are kept sorted, so that the nearest one is found at once, and apart
    by the last place they were printed with: prose that says 6.0000 is not borne out by
    any 6, nor 0.50 by a 0.5 that may be a rounded 0.54.
    """

    def __init__(self, numbers=(), inputs=()):
        by_unit = {}
        for number in numbers:
            for part in _parts(number):
                values = by_unit.setdefault(number.unit / part, set())
                values.update(value / part for value in number.candidates)
        self._by_unit = {unit: sorted(values) for unit, values in by_unit.items()}
        self.inputs = frozenset(inputs)  # pairs: the value, and whether typed with a point

    def between(self, low, high, unit=None):
        """Whether a value printed to ``unit``, or finer, lies in the closed interval."""
        for printed, values in self._by_unit.items():
            if unit is None or printed <= unit:
                at = bisect_left(values, low)
                if at < len(values) and values[at] <= high:
                    return True
        return False

    def typed(self, value, pointed=False):
        """Whether code has the value as an input."""
        return (value, True) in self.inputs or (not pointed and (value, False) in self.inputs)

    def nearest(self, value):
        """The computed value nearest to ``value``; None when there is none."""
        around = []
        for values in self._by_unit.values():
            at = bisect_left(values, value)
            around += values[max(0, at - 1) : at + 1]
        return min(around, key=lambda v: abs(v - value), default=None)

    def __add__(self, other):
        both = Values(inputs=self.inputs | other.inputs)
        for unit in {*self._by_unit, *other._by_unit}:
            together = {*self._by_unit.get(unit, ()), *other._by_unit.get(unit, ())}
            both._by_unit[unit] = sorted(together)
        return both

    def __len__(self):
        return sum(map(len, self._by_unit.values()))


def _parts(number):
    """By what to divide a printed number for what it may mean: 99.8 % is 0.998 too."""
    return (1, 100) if number.percent else (1,)


_READERS = {
    "stdout": plain_numbers,
    "error": plain_numbers,
    "text/plain": plain_numbers,
    "text/html": html_numbers,
    "text/markdown": markdown_numbers,
    "text/latex": latex_numbers,
}


@cache  # an output is read for the notebook, for its section, and for every other cell
def _read(kind, text):
    """The numbers of one output."""
    return tuple(_READERS[kind](text)) if kind in _READERS else ()


def notebook_values(nb):
    """All numbers in the stored outputs of a notebook, and the inputs typed in its code."""
    texts = {item for _, cell in code_cells(nb) for item in text_outputs(cell)}
    numbers = (n for kind, text in texts for n in _read(kind, text))
    return Values(numbers, {pair for _, cell in code_cells(nb) for pair in typed_inputs(cell.source)})


def typed_inputs(source):
    """``(value, with a point?)`` of what a code cell types: integers and short decimals."""
    negated = set()
    for node in ast.walk(_tree(source) or ast.Module([], [])):
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            negated.add(id(node.operand))  # walked before its operand
        elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
            value = Decimal(repr(node.value))
            if value.is_finite() and _is_short(value):
                yield (-value if id(node) in negated else value), isinstance(node.value, float)


def _is_short(value):
    return value == value.to_integral_value() or len(value.normalize().as_tuple().digits) <= SHORT_INPUT_DIGITS


def published_values(chapter, path=PUBLISHED_DATA):
    """The digits that the sources printed, as far as ``chapter`` and those before it use them.

    What belongs to a later chapter has not been computed again yet, so it proves nothing.
    An entry's ``decimals`` tell how exact it is: NumPy drops the zeros at the end.
    """

    def texts(printed):
        return [printed] if isinstance(printed, str) else [t for part in printed for t in texts(part)]

    entries = json.loads(path.read_text(encoding="utf-8"))["entries"]
    numbers = []
    for entry in entries:
        if int(entry["chapter"]) <= chapter:
            found = [n for text in texts(entry["printed"] or []) for n in plain_numbers(text)]
            exact = Decimal(1).scaleb(-entry.get("decimals", 0))
            numbers += [n._replace(unit=min(n.unit, exact)) for n in found]
    return Values(numbers)


def chapter_of(path, root=ROOT):
    """The number of a chapter's notebook; for another page that of the last one written."""
    number = re.match(r"\d\d(?=_)", path.name)
    return int(number[0]) if number else max(written_chapters((root / "_toc.yml").read_text(encoding="utf-8")))


def _is_found(number, values, near=None):
    """Whether a number of the prose is computed, at the precision written, or an input.

    A decimal may differ from a value by half a unit of its last place (a tie rounds
    either way), or by a whole unit when its digits are cut off with "...", and it may
    not show more places than the value was printed with.

    With few places almost any number would be found among hundreds of values.  So, unless
    the text says "about", "more than", "≈" or "%":
    one with two places is a rounded value of the same section (``near``), or equal to a
    value of the notebook; one with one place, or none, is equal to a value.
    """
    scientific = "^" in number.text or "e" in number.text
    fine = number.unit < Decimal("0.01") or scientific
    if fine or number.about or number.percent or number.cut:
        return _lies_in(number, values, rounded=True)
    if number.unit == Decimal("0.01") and _lies_in(number, values if near is None else near, rounded=True):
        return True
    return _lies_in(number, values, rounded=False)


def _lies_in(number, values, rounded):
    """Whether one of the readings of a number, rounded or not, is among the values."""
    pointed = number.decimal and number.unit < 1
    half = number.unit / 2 if rounded else Decimal(0)
    for value in number.candidates:
        low, high = value - half, value + half
        if number.cut:
            low, high = sorted((value, value + number.unit.copy_sign(value)))
        for part in _parts(number):
            unit = number.unit / part if pointed else None
            if values.between(low / part, high / part, unit) or values.typed(value / part, pointed):
                return True
    return False


def _counts(number, constants):
    """Whether a number of the prose must be found: decimals, and integers from 10 on."""
    if number.decimal:
        return True
    return number.value >= 10 and number.value not in constants


def unfound_numbers(markdown, values, near=None, constants=PAPER_CONSTANTS):
    """One sentence for each number of a text that is neither computed nor an input.

    ``near`` are the values of the same section; without it all are near.
    """
    problems = []
    for number in markdown_numbers(markdown):
        if _counts(number, constants) and not _is_found(number, values, near):
            signed = number.candidates[0]
            nearest = values.nearest(signed)
            printed = ("-" if number.signs == (-1,) else "") + number.text
            problems.append(
                f"{printed} is not computed (nearest: {nearest if nearest is not None else 'none'}) "
                f"in «{number.context}»"
            )
    return problems


# An equation in a cleaned text: sides made of digits, operators and brackets alone.
_SIDE = r"(?:[-+·×*/()^{} \d]|\.(?=\d)|(?<=\d),(?=\d{3}(?!\d)))*"
_EQUATION = re.compile(rf"(?={_SIDE}[=≈])(?P<sides>{_SIDE}(?:==?{_SIDE}|≈{_SIDE})+)")


def _evaluate(side):
    """The value of written-out arithmetic; None when it is not arithmetic all through."""
    code = side.strip().replace(",", "").replace("^", "**")
    code = code.translate(str.maketrans("·×{}", "**()"))
    try:
        tree = ast.parse(re.sub(r"(?<![\d.])0+(?=\d)", "", code), mode="eval")
    except SyntaxError:
        return None
    allowed = (ast.Expression, ast.BinOp, ast.UnaryOp, ast.Constant, ast.operator, ast.unaryop)
    for node in ast.walk(tree):
        if not isinstance(node, allowed):
            return None
        if isinstance(node, ast.Constant):
            node.value = float(node.value)  # 9^9^9 overflows, and does not take for ever
    try:
        value = eval(compile(tree, "side", "eval"), {"__builtins__": {}})  # digits and operators alone
    except (ArithmeticError, ValueError):
        return None
    return value if isinstance(value, float) else None  # a root of a negative number is complex


def _equations(text):
    """``(left, relation, right)`` of every two neighbouring sides that are plain arithmetic.

    What stands before the first side or behind the last may belong to it (``sin (0) = 0``,
    ``= 2 x``, ``= 25 %``); then that side is left out.
    """
    for found in _EQUATION.finditer(text):
        parts = re.split(r"(==?|≈)", found["sides"])
        before, after = text[: found.start()].rstrip(" "), text[found.end() :]
        glued = before[-1:].isalnum() or before[-1:] in set("√%_'|)]}…")
        word = re.search(r"(?<![A-Za-z])(?:[a-z]{2,}|[A-Z][a-z]+)$", before)
        in_formula = text.rfind(MATH_ON, 0, found.start()) > text.rfind(MATH_OFF, 0, found.start())
        if glued and (in_formula or not word or not re.match(r" +\d", found["sides"])):
            parts[0] = ""
        letter = after[:1].isalpha()
        glued = in_formula or parts[-1][-1:] != " " or not after[1:2].isalpha()
        if after[:1] in set("%√[") or (letter and glued):
            parts[-1] = ""
        for k in range(0, len(parts) - 2, 2):
            yield parts[k], parts[k + 1], parts[k + 2]


def arithmetic_problems(markdown):
    """Arithmetic that the prose writes out is right: ``0.7·4 + 0.3·1 = 3.1``, ``112 / 8 = 14``.

    The result may be rounded to the digits written; after ``≈`` the operands may be too,
    which can move the last digit by one.
    """
    problems = []
    for left, relation, right in _equations(clean_markdown(markdown)):
        a, b = _evaluate(left), _evaluate(right)
        if a is None or b is None:
            continue
        plain = re.fullmatch(r"\s*-?[\d,]+(?:\.(\d+))?\s*", right)
        if relation == "≈" and not plain:
            continue
        unit = 10.0 ** -len(plain[1] or "") if plain and (plain[1] or relation == "≈") else 0.0
        slack = unit * (1.0 if relation == "≈" else 0.5) + 1e-9 * max(1.0, abs(a))
        if abs(a - b) > slack:
            problems.append(f"{left.strip()} {relation} {right.strip()} is wrong: the left side is {a:.10g}")
    return problems


def sections(nb):
    """The cells of a notebook in lists, a new one at every heading of level 1 or 2."""
    parts = [[]]
    for cell in nb.cells:
        if cell.cell_type == "markdown" and any(level <= 2 for level, _ in headings(cell.source)):
            parts.append([])
        parts[-1].append(cell)
    return parts


def prose_problems(nb, name, published=None):
    """Every number in a notebook's text, and in its alternative texts, is accounted for."""
    own, published = notebook_values(nb), published or Values()
    values, index, problems = own + published, 0, []
    for cells in sections(nb):
        near = notebook_values(nbformat.v4.new_notebook(cells=cells)) + Values(inputs=own.inputs)
        for cell in cells:
            for text in [cell.source] if cell.cell_type == "markdown" else shown_alt(cell):
                found = unfound_numbers(text, values, near) + arithmetic_problems(text)
                problems += [f"{where(name, index, cell)}: {problem}" for problem in found]
            index += 1
    return problems


# Arguments that tell matplotlib how to draw: color="0.5" is a shade of grey.
_STYLES = {"color", "c", "ec", "fc", "edgecolor", "facecolor", "boxstyle", "arrowstyle", "connectionstyle"}


def shown_strings(source):
    """The texts typed in a code cell; expressions and formats in an f-string, and styles, are none."""
    found, skipped = [], set()
    for node in ast.walk(_tree(source) or ast.Module([], [])):
        if isinstance(node, ast.FormattedValue) and node.format_spec:
            skipped.update(map(id, ast.walk(node.format_spec)))
        elif isinstance(node, ast.keyword) and node.arg in _STYLES:
            skipped.update(map(id, ast.walk(node.value)))
        elif isinstance(node, ast.Dict):  # {"boxstyle": "round,pad=0.6"}
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and key.value in _STYLES:
                    skipped.update(map(id, ast.walk(value)))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            found.append(node.value)
    return found


def typed_problems(nb, name, published=None):
    """A decimal typed in a text that code shows is accounted for like one in prose.

    Else ``print("it is 0.99")`` would make 0.99 a computed number.  What the cell itself
    shows is no account of what it shows, so only the outputs of the others count.
    """
    cells = [cell for _, cell in code_cells(nb)]
    inputs, problems = Values(inputs=notebook_values(nb).inputs), []
    for index, cell in code_cells(nb):
        decimals = [
            number
            for text in shown_strings(cell.source)
            for number in markdown_numbers(FORMAT_SPEC.sub(" ", text))
            if number.decimal
        ]
        if not decimals:
            continue
        others = nbformat.v4.new_notebook(cells=[other for other in cells if other is not cell])
        values = notebook_values(others) + inputs + (published or Values())
        problems += [
            f"{where(name, index, cell)}: {n.text} is typed in a text that code shows, «{n.context}»"
            for n in decimals
            if not _is_found(n, values)
        ]
    return problems


def page_problems(path, published=None):
    """The same for a page without code: the numbers of the notebooks that it links to."""
    markdown = path.read_text(encoding="utf-8")
    values = published or Values()
    linked = {target for target, _ in links(markdown) if target.endswith(".ipynb")}
    for target in sorted(linked):
        notebook = (path.parent / target).resolve()
        if notebook.exists():  # a broken link is the coverage check's, and the build's, to tell
            values += _values_of(notebook, notebook.stat().st_mtime_ns)
    found = unfound_numbers(markdown, values) + arithmetic_problems(markdown)
    return [f"{path.name}: {problem}" for problem in found]


@cache
def _values_of(path, changed):
    """The values of a notebook; ``changed`` keeps the memory up to date."""
    return notebook_values(read_notebook(path))


# ---------------------------------------------------------------------------------------
# Headings, slugs and links

# The depth to which the book's configuration makes headings linkable (myst_heading_anchors).
HEADING_DEPTH = 4

_MARKDOWN = MarkdownIt("commonmark").use(dollarmath_plugin).use(colon_fence_plugin)
_LINK = re.compile(r"\]\(\s*<?([^()\s<>#]*)(?:#([^()\s<>]*))?>?(?:\s+\"[^\"]*\")?\s*\)")


def links(markdown):
    """``(target, slug)`` of every link outside code blocks; the slug is None when there is no ``#``."""
    text = re.sub(r"^(```+)(?!\{).*?^\1$", "", markdown, flags=re.MULTILINE | re.DOTALL)
    return [(m[1], m[2]) for m in _LINK.finditer(text)]


def _heading_tokens(markdown):
    """The tokens of the headings outside code fences and directives, each with that of its title."""
    return [(one, then) for one, then in pairwise(_MARKDOWN.parse(markdown)) if one.type == "heading_open"]


def headings(markdown):
    """``(level, title)`` of the headings outside code fences and directives."""
    return [(int(heading.tag[1]), title.content) for heading, title in _heading_tokens(markdown)]


def heading_slugs(markdown):
    """The slugs that a page offers, in order; a title that stands twice gets a number.

    The text of a title is that of its words and code; MyST leaves formulas out.
    """
    slugs = []
    for heading, title in _heading_tokens(markdown):
        if int(heading.tag[1]) > HEADING_DEPTH:
            continue
        new = slugify("".join(c.content for c in title.children if c.type in ("text", "code_inline")))
        number = 1
        while new in slugs:
            new, number = f"{new}-{number}", number + 1
        slugs.append(new)
    return slugs


def page_markdown(path):
    """The Markdown of a page or of a notebook, as one text."""
    if path.suffix == ".ipynb":
        cells = read_notebook(path).cells
        return "\n\n".join(c.source for c in cells if c.cell_type == "markdown")
    return path.read_text(encoding="utf-8")


def link_problems(markdown, folder):
    """Every link to a file of the book has its file, and its heading."""
    problems = []
    for target, anchor in links(markdown):
        if re.match(r"[a-z]+:", target):
            continue
        path = (folder / target).resolve() if target else None
        if path and not path.exists():
            problems.append(f"link to {target}: no such file")
        elif anchor is not None:
            text = page_markdown(path) if path else markdown
            if anchor not in heading_slugs(text):
                problems.append(f"link to {target}#{anchor}: no such heading")
    return problems


# ---------------------------------------------------------------------------------------
# Where each source went

# How many topics, and exercises, each source has.
TOPICS = {"T0": 53, "T1": 37, "T2": 11, "T3": 17, "T4": 14}
EXERCISES = 8

_ROW = re.compile(r"^\|\s*([TX]\d-\d+)\s*\|(.*?)\|([^|]*(?:\\\|[^|]*)*)\|\s*$", re.MULTILINE)
_NOT_WRITTEN = re.compile(r"chapters?\s+(\d+)(?:\s*(?:,|and)\s*(?:chapter\s+)?(\d+))*,? not written yet")


def topic_ids():
    """The id of every topic and exercise of the five sources."""
    topics = [f"{source}-{n:02d}" for source, last in TOPICS.items() for n in range(1, last + 1)]
    return topics + [f"X0-{n}" for n in range(1, EXERCISES + 1)]


def written_chapters(toc):
    """The numbers of the chapters that ``_toc.yml`` lists: {3: "notebooks/03_positions"}."""
    return {int(m[2]): m[1] for m in re.finditer(r"(notebooks/(\d\d)_\w+)", toc)}


def coverage_problems(markdown, folder, toc):
    """Every topic has one row, and every row of a finished chapter a home that exists."""
    rows = _ROW.findall(markdown)
    ids = [row[0] for row in rows]
    known = topic_ids()
    problems = [f"{i} has no row" for i in known if i not in ids]
    problems += [f"{i} stands {ids.count(i)} times" for i in sorted(set(ids)) if ids.count(i) > 1]
    problems += [f"{i} is no topic of the sources" for i in ids if i not in known]
    written = written_chapters(toc)
    for topic, _, home in rows:
        found = links(home)
        promised = [int(n) for part in _NOT_WRITTEN.finditer(home) for n in re.findall(r"\d+", part[0])]
        if not found and not promised:
            problems.append(f"{topic} has no home: {home.strip()!r}")
        problems += [
            f"{topic} is promised for chapter {n}, which is written ({written[n]})" for n in promised if n in written
        ]
        problems += [
            f"{topic}: link to {target} names no section"
            for target, anchor in found
            if "notebooks/" in target and not anchor
        ]
    return problems + [f"coverage page: {p}" for p in dict.fromkeys(link_problems(markdown, folder))]


def toc_problems(root=ROOT):
    """``_toc.yml`` lists the notebooks and pages that exist, no more and no fewer."""
    toc = (root / "_toc.yml").read_text(encoding="utf-8")
    listed = set(re.findall(r"\b((?:notebooks|book)/[\w/-]+)", toc))
    files = {p.relative_to(root).with_suffix("").as_posix() for p in notebook_paths(root) + page_paths(root)}
    return [f"{f} is not in _toc.yml" for f in sorted(files - listed)] + [
        f"_toc.yml lists {f}, which does not exist" for f in sorted(listed - files)
    ]


# ---------------------------------------------------------------------------------------
# The errata page

KINDS = ("error", "rounding", "simplification", "code bug", "typo", "extraction artefact")
_ERRATUM = re.compile(r"^###\s+(E\d-\d\d):\s+(\S.*?)\s*$", re.MULTILINE)
_KIND = re.compile(rf"^\*Kind:\*\s+(?:{'|'.join(KINDS)})\b", re.MULTILINE)
_NO_CODE = ("*Check:* a fact", "*Check:* editorial")


def errata_sections(nb):
    """``(id, title, text, code cells)`` of every erratum: what stands up to the next heading."""
    sections, current = [], None
    for cell in nb.cells:
        if cell.cell_type == "code":
            if current:
                current[3].append(cell)
            continue
        for part in re.split(r"^(?=#{1,6}\s)", cell.source, flags=re.MULTILINE):
            if heading := _ERRATUM.match(part):
                current = [heading[1], heading[2], part, []]
                sections.append(current)
            elif part.startswith("#"):
                current = None
            elif current:
                current[2] += "\n" + part
    return sections


def errata_problems(nb):
    """Every erratum has its kind, and its check in an executed cell that shows something."""
    problems, seen = [], set()
    for erratum, _, text, cells in errata_sections(nb):
        if erratum in seen:
            problems.append(f"{erratum} stands twice")
        seen.add(erratum)
        if not _KIND.search(text):
            problems.append(f"{erratum} has no line «*Kind:* {' | '.join(KINDS)}»")
        if any(words in text for words in _NO_CODE):
            continue
        if not any(cell.outputs for cell in cells):
            problems.append(f"{erratum} has no check that was executed, and none that it needs no code")
    return problems


def erratum_data_problems(nb, data, toc):
    """The page and ``published.json`` name the same errata under the same titles.

    An erratum must be on the page when its chapter is written, and when a published
    number of a written chapter is corrected by it.
    """
    written, titles = written_chapters(toc), {e: d["title"] for e, d in data["errata"].items()}
    on_page = {erratum: title for erratum, title, _, _ in errata_sections(nb)}
    named = {i: e for e in data["entries"] for key in ("erratum", "see") for i in e.get(key, ())}
    problems = [f"{i} is named by {e['id']} and is no known erratum" for i, e in named.items() if i not in titles]
    needed = {i for i, d in data["errata"].items() if int(d["chapter"]) in written}
    for entry in data["entries"]:
        if int(entry["chapter"]) in written:
            needed.update(entry.get("erratum", ()))
    problems += [f"{i} belongs to a written chapter and is not on the page" for i in sorted(needed - set(on_page))]
    for erratum, title in on_page.items():
        if erratum not in titles:
            problems.append(f"{erratum} is on the page and not in published.json")
        elif titles[erratum] != title:
            problems.append(f"{erratum} is «{title}» on the page and «{titles[erratum]}» in published.json")
    return problems
