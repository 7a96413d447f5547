"""Every number in the book's text is computed by code near it, typed there as an input, or printed by a source.

A number of a chapter's prose is looked for in its section, which reaches from one ``##`` to the next, on the first
screen, and in the sections to which its cell links: one with two digits in the two cells of code before or behind it,
one with four, three of them decimals, anywhere in the notebook. Exercises are a section, and know the answers of their
checkers; summaries may repeat what the chapter computes. Integers below 10 are not looked for.
"""

import ast
import json
import re
from bisect import bisect_left
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache

import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from bookcheck import reading
from bookcheck.links import heading_slugs, headings, links
from numbertext import markdown_text, numbers, output_numbers
from toytf import check

# Integers that no notebook computes and no source printed: they come from the paper or from the world.
# Tokens: the paper's shared English and German vocabulary, and GPT-2's; and the width of GPT-2's rows.
CONSTANTS = {37000, 50257, 1600}
SUMMARIES = ("Shapes", "What to remember", "Where to read on")
LISTING = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)  # a checker's solution, or PyTorch's
NEAR = 2  # cells of code before a text, and behind it
MOST_TYPED = 4  # digits of a decimal that code types as an input; a longer one is a result that somebody typed


def readings(number):
    """By what to divide a number for what it may mean: 99.8 % is 0.998 too."""
    return (1, 100) if number.percent else (1,)


class Values:
    """Numbers that account for one in the prose, sorted."""

    def __init__(self, found=(), typed=()):
        pairs = {(value / part, n.unit / part) for n in found for value in n.values for part in readings(n)}
        self.pairs = sorted(pairs | {(value, Decimal(0)) for value in typed})  # an input is exact

    def __add__(self, other):
        both = Values()
        both.pairs = sorted({*self.pairs, *other.pairs})
        return both

    def has(self, number):
        """Whether a number is among them, as exactly as it is written.

        One with two decimals or more may be rounded, as may one that says so ("about", "%"); it may not show more
        places than were printed.
        """
        rounds = number.unit < Decimal("0.1") or number.about or number.percent
        half = number.unit / 2 if rounds else Decimal(0)
        for value in number.values:
            for part in readings(number):
                low, high = (value - half) / part, (value + half) / part
                for x, unit in self.pairs[bisect_left(self.pairs, (low, Decimal(0))) :]:
                    if x > high:
                        break
                    if unit <= number.unit / part or number.unit >= 1:
                        return True
        return False

    def nearest(self, value):
        return min((x for x, _ in self.pairs), key=lambda x: abs(x - value), default="none")


# ---------------------------------------------------------------- what is computed


@cache
def _of_output(kind, text):
    return tuple(output_numbers(kind, text))


def typed_in(source):
    """The integers and short decimals that code types."""
    for node in ast.walk(reading.syntax_tree(source) or ast.Module([], [])):
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            node, sign = node.operand, -1
        else:
            sign = 1
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            value = Decimal(repr(node.value))
            is_short = len(value.normalize().as_tuple().digits) <= MOST_TYPED
            if value.is_finite() and (is_short or value == value.to_integral_value()):
                yield sign * value


def typed_texts(cell):
    """What code shows in words that somebody typed: texts of prints and titles."""
    tree = reading.syntax_tree(cell.source) or ast.Module([], [])
    constants = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    return [value for value in constants if isinstance(value, str) and " " in value]


def computed(cells):
    """The numbers of the cells' outputs and code; a decimal typed in a text that code prints is none."""
    found, typed = [], []
    for cell in cells:
        typed += typed_in(cell.source)
        words = {n.values for text in typed_texts(cell) for n in numbers(text) if n.is_decimal}
        outputs = [n for kind, text in reading.text_outputs(cell) for n in _of_output(kind, text)]
        found += [n for n in outputs if n.values not in words]
    return Values(found, typed)


@cache
def published(chapter, home=None):
    """What the sources printed up to a chapter, or for one section of it."""

    def texts(printed):
        return [printed] if isinstance(printed, str) else [t for part in printed for t in texts(part)]

    found = []
    for entry in (row for path in reading.PUBLISHED_DATA for row in json.loads(path.read_text("utf-8"))["numbers"]):
        first = int(entry["chapter"])
        if (first <= chapter) if home is None else (first, entry["home"]) == (chapter, home):
            exact = Decimal(1).scaleb(-entry.get("decimals", 0))  # NumPy drops the zeros at the end
            read = [n for text in texts(entry["printed"] or []) for n in numbers(text)]
            found += [n._replace(unit=min(n.unit, exact)) for n in read]
    return Values(found)


@cache
def by_hand(chapter):
    """The numbers of a chapter's answers by hand, with those that they are worked out from."""
    said = []
    for one in check.BY_HAND.values():
        for part in one.parts if one.number.startswith(f"{chapter}.") else ():
            for place in np.ndindex(np.shape(part.expected)):
                said += [part.terms(place) if part.terms else "", str(np.asarray(part.expected)[place])]
    return Values(numbers(" ; ".join(said)))


# ---------------------------------------------------------------- arithmetic that the prose writes out

SIDE = r"[-+·×*/()^{}\d. ]*\d[)} ]*"
EQUATION = re.compile(rf"(?={SIDE}[=≈]){SIDE}(?:(?:==?|≈){SIDE})+")
# What stands beside a side belongs to it: sin 0, √4, f'(0), 2 x, 25 %; a word does not.
BEFORE = re.compile(r"(?:[\dξ√%)\]}|'…_]|(?<![a-zA-Z])[a-zA-Z]) *$")
AFTER = re.compile(r" *(?:[-+·×*/^%√\[ξ]|[a-zA-Z](?![a-z]))")


def value_of(side):
    """The value of digits and operators; None if it is something else."""
    if re.search(r"[\d)]\s*\(", side):
        return None
    code = side.replace("^", "**").translate(str.maketrans("·×{}", "**()"))
    try:
        return eval(re.sub(r"(?<![\d.])0+(?=\d)", "", code), {"__builtins__": {}})
    except (SyntaxError, TypeError, ArithmeticError):
        return None


def equations(text):
    """``(left, relation, right)`` of every two neighbouring sides that are plain arithmetic."""
    text = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", text)
    for found in EQUATION.finditer(text):
        parts = re.split(r"(==?|≈)", found[0])
        parts = parts[2:] if BEFORE.search(text[: found.start()]) else parts
        parts = parts[:-2] if AFTER.match(text[found.end() :]) else parts
        yield from zip(parts[::2], parts[1::2], parts[2::2], strict=False)


def wrong_sums(text):
    """Written-out arithmetic that is wrong: the result may be rounded to the digits written."""
    for left, relation, right in equations(text):
        a, b = value_of(left), value_of(right)
        if a is None or b is None or isinstance(a, complex):
            continue
        places = max(map(len, re.findall(r"\.(\d+)", right)), default=0)
        unit = 10.0**-places if places or relation == "≈" else 0.0
        if abs(a - b) > unit * (1.0 if relation == "≈" else 0.5) + 1e-9 * max(1.0, abs(b)):
            yield f"{left.strip()} {relation} {right.strip()} is wrong: the left side is {a:.10g}"


# ---------------------------------------------------------------- the rule


@dataclass
class Section:
    """A part of a notebook, from one heading of level 2 to the next: its texts with their places, and its code."""

    title: str = ""
    slug: str = ""
    texts: list = field(default_factory=list)  # (index of the cell, cell, text, how many cells of code are before it)
    cells: list = field(default_factory=list)


def sections(nb):
    """The parts of a notebook; first what stands before the first heading of level 2, on the first screen."""
    found = [Section()]
    for index, cell in enumerate(nb.cells):
        if cell.cell_type == "code":
            found[-1].cells.append(cell)
        texts = reading.shown_alt(cell)
        if cell.cell_type == "markdown":
            texts = re.split(r"^(?=## )", cell.source, flags=re.MULTILINE)
        for text in texts:
            if text.startswith("## "):
                found.append(Section(headings(text)[0][1], heading_slugs(text)[0]))
            found[-1].texts.append((index, cell, text, len(found[-1].cells)))
    return found


def digits(number):
    """How many digits tell a number from others: 0.0300 has one, and 3,200 has two."""
    return len(number.values[0].normalize().as_tuple().digits)


@dataclass
class Place:
    """What accounts for the numbers of a text: near it, in its section, anywhere in the notebook."""

    near: Values
    section: Values
    everywhere: Values
    own: dict = field(default_factory=dict)  # slug of a section -> what it computes

    def unfound(self, text):
        """The numbers of a plain text for which nothing accounts: decimals, and integers from 10 on.

        The fewer digits one has, the more others are equal to it, and the nearer it must be computed.
        """
        right_sides = [right for left, _, right in equations(text) if re.search(r"\d\D+\d", left)]
        sums = Values(n for right in right_sides for n in numbers(right))
        for n in numbers(text):
            values = self.near if digits(n) <= 2 else self.section
            if n.unit <= Decimal("0.001") and digits(n) >= 4:
                values = self.everywhere
            counts = n.is_decimal or (abs(n.values[0]) >= 10 and n.values[0] not in CONSTANTS)
            if (counts and not values.has(n) and not sums.has(n)) or re.match(r"0\d", n.text):
                yield n


def places(nb, chapter, local):
    """``(index of the cell, cell, text, Place)`` of each text of a notebook."""
    parts = sections(nb)
    listings = [code for part in parts for _, _, text, _ in part.texts for code in LISTING.findall(text)]
    answers = Values(typed=[value for code in listings for value in typed_in(code)]) + by_hand(chapter)
    everywhere = computed([cell for part in parts for cell in part.cells]) + published(chapter) + answers
    own = {part.slug: computed(part.cells) + published(chapter, part.slug) for part in parts}
    for part in parts:
        for index, cell, text, behind in part.texts:
            if not local or not part.slug or part.title in SUMMARIES:
                yield index, cell, text, Place(everywhere, everywhere, everywhere)
                continue
            linked = [own[slug] for to, slug in links(text) if not to and slug in own]
            more = sum(linked, own[""])
            near = computed(part.cells[max(0, behind - NEAR) : behind + NEAR]) + published(chapter, part.slug)
            if part.title == "Exercises":
                more, near = more + answers, own[part.slug]
            yield index, cell, text, Place(near + more, own[part.slug] + more, everywhere, own)
    for index, cell in reading.code_cells(nb):
        for text in typed_texts(cell):
            yield index, cell, text, Place(everywhere, everywhere, everywhere)


def problems(nb, name, chapter, local=True):
    """One sentence for each number of a notebook's prose that is not at home, and each wrong sum.

    local: whether a number is looked for in its section, as in chapters, or in the whole notebook.
    """
    for index, cell, markdown, place in places(nb, chapter, local):
        at, text = reading.where(name, index, cell), markdown_text(markdown)
        yield from (f"{at}: {problem}" for problem in wrong_sums(text))
        for n in place.unfound(text):
            computing = [slug for slug, values in place.own.items() if values.has(n)] or ["no section"]
            nearest = f"{place.near.nearest(n.values[0])}; computed in: {', '.join(computing)}"
            yield f"{at}: {n.text} is not computed near by (nearest: {nearest}), in «{n.context}»"


# ---------------------------------------------------------------- the book


def chapter_of(path):
    """A chapter's number; for another page that of the last one."""
    return int(path.name[:2]) if path.name[0].isdigit() else len(reading.chapter_paths())


@pytest.mark.parametrize("path", reading.notebook_paths(), ids=lambda path: path.name)
def test_every_number_in_a_notebooks_text_is_computed(path):
    found = problems(reading.read_notebook(path), path.name, chapter_of(path), path in reading.chapter_paths())
    assert [*found] == []


@pytest.mark.parametrize("path", reading.page_paths(), ids=lambda path: path.name)
def test_every_number_on_a_page_is_computed_by_a_notebook_that_it_links_to(path):
    markdown = path.read_text("utf-8")
    linked = {(path.parent / target).resolve() for target, _ in links(markdown) if target.endswith(".ipynb")}
    values = sum(map(_of_notebook, sorted(linked)), published(chapter_of(path)))
    text = markdown_text(markdown)
    assert [n.context for n in Place(values, values, values).unfound(text)] + [*wrong_sums(text)] == []


@cache
def _of_notebook(path):
    return computed([cell for _, cell in reading.code_cells(reading.read_notebook(path))])


# ---------------------------------------------------------------- planted mistakes


def chapter(text, output="", source="x", alt=""):
    """A chapter with one text and one cell of code."""
    outputs = [new_output("stream", text=output)]
    metadata = {"mystnb": {"image": {"alt": alt}}} if alt else {}
    code = new_code_cell(source, id="code", outputs=outputs, metadata=metadata)
    return new_notebook(cells=[new_markdown_cell(f"# Title\n\n## Here\n\n{text}", id="text"), code])


MATRIX = r"""$$
Z = \begin{bmatrix}
 11.4639 & -13.1802 \\[0.5em]
 1.2 \cdot 10^{-3} & 4.67695573\times 10^{-10}
\end{bmatrix}
$$"""
MATRIX_OUTPUT = "[[ 11.46394285 -13.18016471]\n [1.2e-03 4.67695573e-10]]"
PLANTED = [
    ("the weight is 0.5403.", "0.54030231", "0.5403", "0.5413"),
    (MATRIX, MATRIX_OUTPUT, "11.4639", "11.4638"),
    (MATRIX, MATRIX_OUTPUT, "10^{-10}", "10^{-9}"),
    (
        ":::{exercise} 4.1: Why?\n:label: ex-04-1\n\nIt is **0.84**, see [1.5](a.md#b-2.5).\n:::",
        "0.84 1.5",
        "1.5",
        "1.6",
    ),
    ("a cost of 1,234.5 in 2017, in a $20 \\times 4$ table", "1234.5 2017 (20, 4)", "2017", "2071"),
    ("section 3.4, chapters 7 to 20, NumPy 2.4 and E0-12: 37 of 45 keys", "37 45", "37", "38"),
    ("it is 0.500", "0.5000", "0.500", "0.50000"),  # more places than were printed
    ("| about 37.2 times | $-2 / 4 = -0.5$ |\n|---|---|\n| 99.8 % | −0.54 |", "37.21 0.998 -0.5403", "99.8", "98.9"),
    ("so 0.7·4 + 0.3·1 = 3.1, about 4.7 × 10⁻¹⁰", "0.7 0.3 3.1 3.2 4.67695573e-10", "3.1", "3.2"),
    (r"$x = \frac{7.389}{8.389} \approx 0.88$", "7.389 8.389 0.88 0.86", "0.88", "0.86"),
]


@pytest.mark.parametrize(("text", "output", "right", "wrong"), PLANTED)
def test_a_planted_digit_is_caught(text, output, right, wrong):
    assert [*problems(chapter(text, output), "01.ipynb", 0)] == []
    assert text.count(right) == 1
    (problem,) = problems(chapter(text.replace(right, wrong), output), "01.ipynb", 0)
    assert problem.startswith("01.ipynb, cell 1 (id text): ")
    (problem,) = problems(chapter("", output, alt=text.replace(right, wrong)), "01.ipynb", 0)
    assert "cell 2 (id code)" in problem


@pytest.mark.parametrize(
    ("source", "caught"),
    [
        ("print('it is 0.55')", 2),  # in the code, and in the prose that repeats it
        ("print(f'it is {x:.2f}')", 0),
        ("assert round(x, 2) == 0.55", 0),
        ("y = 0.5512345  # a result that somebody typed", 1),
    ],
)
def test_a_result_is_computed_and_not_typed(source, caught):
    output = "it is 0.55" if "print" in source else ""
    assert len([*problems(chapter("It is 0.55.", output, source), "01.ipynb", 0)]) == caught


def test_the_fewer_digits_a_number_has_the_nearer_it_is_computed():
    cells = [new_code_cell("x", outputs=[new_output("stream", text=text)]) for text in ("45 145", "", "", "25 125")]
    text = new_markdown_cell("")
    there = [new_markdown_cell("## There"), new_code_cell("x", outputs=[new_output("stream", text="345 0.4145")])]
    nb = new_notebook(cells=[new_markdown_cell("## Here"), *cells[:3], text, cells[3], *there])
    found = {
        25: 0,
        125: 0,
        45: 1,
        145: 0,
        345: 1,
        0.4145: 0,
        "345 ([there](#there))": 0,
        "200 + 145 = 345": 1,
        "100 + 245 = 345": 2,
    }
    for said, wrong in found.items():
        text.source = f"It is {said}."
        assert len([*problems(nb, "01.ipynb", 0)]) == wrong, said
