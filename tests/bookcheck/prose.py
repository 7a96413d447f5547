"""Numbers in prose: each is computed in its section, typed there as an input, or printed by a source."""

import ast
import json
import math
import operator
import re
from bisect import bisect_left
from decimal import Decimal
from functools import cache

import nbformat
import numpy as np

from bookcheck.links import headings, links
from bookcheck.reading import (
    PUBLISHED_DATA,
    ROOT,
    code_cells,
    read_notebook,
    shown_alt,
    syntax_tree,
    text_outputs,
    where,
    written_chapters,
)
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

# Integers that no notebook computes and no source printed as a result: they come from the
# paper or from the world.  The paper's sizes are among the published numbers already.
PAPER_CONSTANTS = {
    37000: "the paper's shared English and German vocabulary, in tokens",
}

# A decimal typed in a code cell is an input that prose may repeat, when it is short.
# A longer one could be a result that somebody typed.
SHORT_INPUT_DIGITS = 4


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

    def has_zero(self, number):
        """Whether a zero is printed with as many decimals as this one: 0.000 may be a rounded 0.0004, and 0.0 typed."""
        return 0 in self._by_unit.get(number.unit, ()) or (number.text == "0.0" and self.typed(0, pointed=True))

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
def output_numbers(kind, text):
    """The numbers of one output."""
    return tuple(_READERS[kind](text)) if kind in _READERS else ()


def notebook_values(nb):
    """All numbers in the stored outputs of a notebook, and the inputs typed in its code."""
    texts = {item for _, cell in code_cells(nb) for item in text_outputs(cell)}
    numbers = (n for kind, text in texts for n in output_numbers(kind, text))
    return Values(numbers, {pair for _, cell in code_cells(nb) for pair in typed_inputs(cell.source)})


def typed_inputs(source):
    """``(value, with a point?)`` of what a code cell types: integers and short decimals."""
    negated = set()
    for node in ast.walk(syntax_tree(source) or ast.Module([], [])):
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            negated.add(id(node.operand))  # walked before its operand
        elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
            value = Decimal(repr(node.value))
            if value.is_finite() and _is_short(value):
                yield (-value if id(node) in negated else value), isinstance(node.value, float)


def _is_short(value):
    return value == value.to_integral_value() or len(value.normalize().as_tuple().digits) <= SHORT_INPUT_DIGITS


def _published(path):
    """``(entry, its numbers)`` of all that the sources printed.

    An entry's ``decimals`` tell how exact it is: NumPy drops the zeros at the end.
    """

    def texts(printed):
        return [printed] if isinstance(printed, str) else [t for part in printed for t in texts(part)]

    for entry in json.loads(path.read_text(encoding="utf-8")):
        found = [n for text in texts(entry["printed"] or []) for n in plain_numbers(text)]
        exact = Decimal(1).scaleb(-entry.get("decimals", 0))
        yield entry, [n._replace(unit=min(n.unit, exact)) for n in found]


def published_values(chapter, path=PUBLISHED_DATA):
    """The digits that the sources printed, as far as ``chapter`` and those before it use them.

    What belongs to a later chapter has not been computed again yet, so it proves nothing.
    """
    return Values(n for entry, found in _published(path) if int(entry["chapter"]) <= chapter for n in found)


def published_homes(chapter, path=PUBLISHED_DATA):
    """Slug of a section of ``chapter`` -> the numbers of the sources that it computes."""
    homes = {}
    for entry, found in _published(path):
        if int(entry["chapter"]) == chapter:
            homes.setdefault(entry["home"], []).extend(found)
    return homes


def chapter_of(path, root=ROOT):
    """The number of a chapter's notebook; for another page that of the last one written."""
    number = re.match(r"\d\d(?=_)", path.name)
    return int(number[0]) if number else max(written_chapters((root / "_toc.yml").read_text(encoding="utf-8")))


def is_found(number, values, near=None):
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
    if scientific and number.value.normalize().as_tuple().digits == (1,) and not number.about:
        return _lies_in(number, values, rounded=False)  # 10^-4 is no rounded 0.00012
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


def counts(number, constants=PAPER_CONSTANTS):
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
        if counts(number, constants) and not is_found(number, values, near):
            signed = number.candidates[0]
            nearest = values.nearest(signed)
            printed = ("-" if number.signs == (-1,) else "") + number.text
            problems.append(
                f"{printed} is not computed (nearest: {nearest if nearest is not None else 'none'}) "
                f"in «{number.context}»"
            )
    return problems


# An equation in a cleaned text: sides made of digits, operators, brackets, logarithms, roots and rows alone.
_SIDE = r"(?:[-+·×*/()^{} \d√]|\.(?=\d)|(?<=\d),(?=\d{3}(?!\d))|(?<![A-Za-z])log(?![A-Za-z])|\[[-\d., ]+\])*"
_OF = re.compile(r"(log|√)\s*(\d+(?:\.\d+)?|\([^()]*\)|\{[^{}]*\})")
_BROKEN = re.compile(rf"\s*{MATH_OFF}\s*{MATH_ON}\s*(?:\{{\}}|(?=[=≈]))")  # a formula may go on in the next line

_EQUATION = re.compile(rf"(?={_SIDE}[=≈])(?P<sides>{_SIDE}(?:==?{_SIDE}|≈{_SIDE})+)")


def evaluate(side):
    """The value of written-out arithmetic, a number or a row; None when it is not arithmetic all through."""
    code = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", side.strip()).replace("^", "**")
    code = _OF.sub(r"\1(\2)", re.sub(r"(?<=[\d)])\s*(?=log|√)", " * ", code))
    code = code.replace("√", "root").translate(str.maketrans("·×{}", "**()"))
    try:
        value = _value(ast.parse(re.sub(r"(?<![\d.])0+(?=\d)", "", code), mode="eval").body)
    except ZeroDivisionError:
        return math.inf  # equal to no written number
    except (SyntaxError, ArithmeticError, ValueError):
        return None
    return value if not isinstance(value, complex) and np.isfinite(value).all() else None


_OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_FUNCTIONS = {"log": math.log, "root": math.sqrt}


def _value(node):
    """The value of a node, in floats: 9^9^9 overflows, and does not take for ever."""
    match node:
        case ast.Constant(int() | float()):
            return float(node.value)
        case ast.List():
            return np.array([_value(entry) for entry in node.elts])
        case ast.UnaryOp(ast.USub()):
            return -_value(node.operand)
        case ast.UnaryOp(ast.UAdd()):
            return _value(node.operand)
        case ast.BinOp() if type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](_value(node.left), _value(node.right))
        case ast.Call(ast.Name(name), [argument]) if name in _FUNCTIONS:
            return _FUNCTIONS[name](_value(argument))
    raise ValueError(f"expected arithmetic, got {ast.unparse(node)}")


def equations(text):
    """``(left, relation, right)`` of every two neighbouring sides that are plain arithmetic.

    What stands before the first side or behind the last may belong to it (``sin (0) = 0``,
    ``= 2 x``, ``= 25 %``); then that side is left out.
    """
    text = _BROKEN.sub(" ", text)
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
    for left, relation, right in equations(clean_markdown(markdown)):
        a, b = evaluate(left), evaluate(right)
        if a is None or b is None:
            continue
        plain = re.fullmatch(r"\s*(?:-?[\d,]+(?:\.\d+)?|\[[-\d., ]+\])\s*", right)
        if relation == "≈" and not plain:
            continue
        places = max(map(len, re.findall(r"(?<=\.)\d+", right)), default=0) if plain else 0
        unit = 10.0**-places if plain and (places or relation == "≈") else 0.0
        slack = unit * (1.0 if relation == "≈" else 0.5) + 1e-9 * np.maximum(1.0, np.abs(b))
        if np.shape(a) != np.shape(b) or (np.abs(np.subtract(a, b)) > slack).any():
            said = np.array2string(np.asarray(a), separator=", ", formatter={"float": "{:.10g}".format})
            problems.append(f"{left.strip()} {relation} {right.strip()} is wrong: the left side is {said}")
    return problems


def sections(nb):
    """The cells of a notebook in lists, a new one at every heading of level 1 or 2."""
    parts = [[]]
    for cell in nb.cells:
        if cell.cell_type == "markdown" and any(level <= 2 for level, _ in headings(cell.source)):
            parts.append([])
        parts[-1].append(cell)
    return parts


def near_values(nb):
    """For each cell of a notebook what its section computes; inputs count wherever they are typed."""
    inputs, near = Values(inputs=notebook_values(nb).inputs), []
    for cells in sections(nb):
        near += [notebook_values(nbformat.v4.new_notebook(cells=cells)) + inputs] * len(cells)
    return near


def prose_problems(nb, name, published=None):
    """Every number in a notebook's text, and in its alternative texts, is accounted for."""
    values, problems = notebook_values(nb) + (published or Values()), []
    for index, (cell, near) in enumerate(zip(nb.cells, near_values(nb), strict=True)):
        for text in [cell.source] if cell.cell_type == "markdown" else shown_alt(cell):
            found = unfound_numbers(text, values, near) + arithmetic_problems(text)
            problems += [f"{where(name, index, cell)}: {problem}" for problem in found]
    return problems


# Arguments that tell matplotlib how to draw: color="0.5" is a shade of grey.
_STYLES = {"color", "c", "ec", "fc", "edgecolor", "facecolor", "boxstyle", "arrowstyle", "connectionstyle"}


def shown_strings(source):
    """The texts typed in a code cell; expressions and formats in an f-string, and styles, are none."""
    found, skipped = [], set()
    for node in ast.walk(syntax_tree(source) or ast.Module([], [])):
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
            if not is_found(n, values)
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
