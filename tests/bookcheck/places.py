"""Numbers in a chapter's prose, each where it belongs: its own section computes it.

A section reaches from one heading of level 2 to the next, those of level 3 included. An exercise is a section of its
own, with its solution and with what the cells behind it print and type for it: from a line that begins with its number
(``3: 0.25``) to the next such line. What its checker knows counts as well, and in the solution what the question gives.

The fewer digits a number has, the more other values are equal to it, and the nearer it must be computed:

- with one digit, as 800 and 0.3 have, in the cell before its paragraph or the one behind, within the section;
- with two digits, or two decimals, in the two cells before or the two behind;
- with three anywhere in the section, or before the first heading, on the chapter's first screen;
- with four, three of them decimals, or in a power of ten, anywhere in the notebook, as on other pages (``prose.py``).

A sentence that links to a section of the chapter counts among its own what that section computes. Numbers that stand
together must also do so in the notebook (``runs.py``).
"""

import ast
import re
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache

import numpy as np

from bookcheck import prose, runs
from bookcheck.links import heading_slugs, headings, links
from bookcheck.reading import shown_alt, syntax_tree, tags, text_outputs, where
from bookcheck.sight import FOLDED
from numbertext import clean_markdown, markdown_numbers, plain_numbers
from toytf import check

# ---------------------------------------------------------------- paragraphs

_FENCE = re.compile(r"^\s*(`{3,}|~{3,}|:{3,}|\${2})(.*)$")


def paragraphs(markdown):
    """The text in pieces, cut at blank lines; what stands in a fence, a directive or a formula stays whole."""
    pieces, lines, open_until = [], [], None
    for line in markdown.splitlines():
        fence = _FENCE.match(line)
        if open_until:
            if fence and fence[1] == open_until and not fence[2].strip():
                open_until = None
        elif fence and not (fence[1] == "$$" and "$$" in fence[2]):
            open_until = fence[1]
        if not open_until and not line.strip():
            pieces.append(lines)
            lines = []
        else:
            lines.append(line)
    pieces.append(lines)
    return ["\n".join(lines) for lines in pieces if lines]


# ---------------------------------------------------------------- sections


@dataclass
class Section:
    """What one section says, and what it computes."""

    title: str
    slug: str
    said: list = field(default_factory=list)  # (index of the cell, cell, paragraph)
    printed: list = field(default_factory=list)  # (index of the cell, kind, text)
    typed: list = field(default_factory=list)  # (index of the cell, pairs as prose.typed_inputs gives them)
    is_exercise: bool = False

    def values(self, published=(), near=None, many=1):
        """All that may account for a number here; with `near`, the index of a cell, `many` cells on both sides."""
        cells = sorted({index for index, *_ in [*self.printed, *self.typed]})
        if near is not None:
            before = [index for index in cells if index <= near]
            cells = before[-many:] + cells[len(before) :][:many]
        numbers = [n for i, kind, text in self.printed if i in cells for n in prose.output_numbers(kind, text)]
        typed = [pair for i, pairs in self.typed if i in cells for pair in pairs]
        return prose.Values([*numbers, *published], typed)


EXERCISES = "Exercises"
_OF_EXERCISE = re.compile(
    r"""\s*:{3,}(?:\{exercise\}\s*(?P<title>\d+\.(?P<asked>\d+)): | \{solution\}\s*ex-\d\d-(?P<solved>\d+))""",
    re.VERBOSE,
)

# The line that a cell prints for an exercise: "3: 0.25", "ex 3: 0.25", "exercise 3: 0.25".
_LABEL = re.compile(r"(?:ex(?:ercise)? )?(\d+):")
_LISTING = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def sections(nb):
    """The sections of a chapter, its first screen first, each exercise as one of its own."""
    first = Section("the first screen", "")
    found, exercises, headed = [first], {}, ""
    current = latest = first  # the section; and where a cell belongs, which may be an exercise
    for index, cell in enumerate(nb.cells):
        if cell.cell_type == "code":
            latest.said += [(index, cell, text) for text in shown_alt(cell)]
            _compute(index, cell, latest, exercises if current.title == EXERCISES else {})
            continue
        for text in paragraphs(cell.source):
            place = current
            if heading := headings(text):
                headed += f"\n\n{text}"
                if heading[0][0] == 2:
                    place = current = latest = Section(heading[0][1], heading_slugs(headed)[-1])
                    found.append(current)
            elif current.title == EXERCISES and (mark := _OF_EXERCISE.match(text)):
                number = int(mark["asked"] or mark["solved"])
                if number not in exercises:
                    exercises[number] = Section(f"Exercise {mark['title']}", f"exercise {number}", is_exercise=True)
                    found.append(exercises[number])
                place = latest = exercises[number]
            for listing in _LISTING.findall(text):  # it is run: a checker's solution, or PyTorch by tests/with_torch
                place.typed.append((index, set(prose.typed_inputs(listing))))
            place.said.append((index, cell, text))
    return found


def _compute(index, cell, section, exercises):
    """Give what a cell prints and types to its section, or to the exercise that its lines name."""
    place = section
    for kind, text in text_outputs(cell):
        if kind == "image/svg+xml":
            continue  # the ticks of an axis are no results
        if not exercises or kind != "stdout":
            place.printed.append((index, kind, text))
            continue
        for line in text.splitlines():
            if label := _LABEL.match(line):
                place = exercises.get(int(label[1]), place)
                line = line[label.end() :]
            place.printed.append((index, kind, line))
    tree = syntax_tree(cell.source) or ast.Module([], [])
    if not exercises:
        # The code of a figure types where its words stand: nobody reads that, and it accounts for no number.
        unseen = tags(cell) & FOLDED
        read = [node for node in ast.walk(tree) if isinstance(node, ast.Assert)] if unseen else tree.body
        section.typed.append((index, {pair for node in read for pair in prose.typed_inputs(ast.unparse(node))}))
        return
    waiting, place = set(), section
    for statement in tree.body:
        waiting |= set(prose.typed_inputs(ast.unparse(statement)))
        texts = [n.value for n in ast.walk(statement) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
        named = [int(label[1]) for text in texts if (label := _LABEL.match(text)) and int(label[1]) in exercises]
        for number in named:
            place = exercises[number]
            place.typed.append((index, waiting))
        waiting = set() if named else waiting
    place.typed.append((index, waiting))


# ---------------------------------------------------------------- the rule

# What these sections say may repeat what the others say: without a link, any number of their prose.
SUMMARIES = ("Shapes", "What to remember", "Where to read on")
_ZERO_FIRST = re.compile(r"0[\d,]|.*\^\{?[-+]?0\d")
_SENTENCE = re.compile(r"(?:(?<=[.?!])|(?<=[.?!]\)))\s+")


def _digits(number):
    """How many digits tell a number from others: 0.0300 has one, and 3,200 has two."""
    return len(number.value.normalize().as_tuple().digits)


def _is_fine(number):
    """Whether no other value is likely to be so near: four digits, and three decimals or a power of ten."""
    is_exact = number.unit < Decimal("0.01") or "^" in number.text or "e" in number.text
    return number.decimal and is_exact and _digits(number) >= 4


def _results(text):
    """The right sides of the text's right equations: ``112 / 8 = 14`` accounts for 14."""
    if prose.arithmetic_problems(text):
        return []
    sides = [(left, right) for left, _, right in prose.equations(clean_markdown(text)) if re.search(r"\d\D+\d", left)]
    right_sides = [right for left, right in sides if all(prose.evaluate(side) is not None for side in (left, right))]
    return [number for right in right_sides for number in plain_numbers(right)]


@dataclass
class Place:
    """A paragraph, and what may account for its numbers."""

    section: Section
    index: int
    cell: dict
    text: str
    near: tuple  # prose.Values for numbers with one digit, with two, and with more
    everywhere: prose.Values  # for those that are fine
    own: dict  # slug of a section -> what it computes

    def unplaced(self, text):
        """The numbers of the paragraph, which may say `text` instead, that nothing near accounts for."""
        found, results, linked = [], prose.Values(_results(text)), self._linked(text)
        for number in markdown_numbers(text):
            decimals = -number.unit.as_tuple().exponent
            near = self.near[min(max(_digits(number), decimals), 3) - 1]
            accounts = [self.everywhere] if _is_fine(number) else [near + results, *linked.get(as_printed(number), ())]
            is_found = not prose.counts(number) or any(prose.is_found(number, values) for values in accounts)
            if number.decimal and not number.value and "^" not in number.text:
                is_found = any(values.has_zero(number) for values in [near, *linked.get(as_printed(number), ())])
            if not is_found or _ZERO_FIRST.match(number.text):
                found.append(number)
        return found

    def _linked(self, text):
        """Number as printed -> what the sections compute to which its sentences link."""
        found = {}
        for sentence in _SENTENCE.split(text):
            values = [self.own[slug] for to, slug in links(sentence) if not to and slug in self.own]
            for number in markdown_numbers(sentence) if values else ():
                found.setdefault(as_printed(number), []).extend(values)
        return found


def as_printed(number):
    """What tells two numbers of a text apart."""
    return number.text, number.signs


def places(nb, published=None, homes=None):
    """The `Place` of every paragraph of a chapter.

    published: what the sources printed up to this chapter. homes: slug of a section -> what they printed that
    it computes.
    """
    found, homes = sections(nb), homes or {}
    everywhere = prose.notebook_values(nb) + (published or prose.Values())
    own = {section.slug: section.values(homes.get(section.slug, ())) for section in found}
    body = [text for s in found if s.title not in SUMMARIES and not s.is_exercise for *_, text in s.said]
    summary = prose.Values(number for text in body for number in markdown_numbers(text))
    for section in found:
        for index, cell, text in section.said:
            wide = own[section.slug] + (_given(section, text) if section.is_exercise else own[""])
            near = wide, wide, wide
            if section.title in SUMMARIES:
                slugs = sorted({slug for to, slug in links(text) if not to and slug in own})
                near = (sum((own[slug] for slug in slugs), wide) if slugs else wide + summary,) * 3
            elif section.slug and not section.is_exercise:
                here = homes.get(section.slug, ())
                near = section.values(here, near=index), section.values(here, near=index, many=2), wide
            yield Place(section, index, cell, text, near, everywhere, own)


def _given(section, text):
    """What an exercise gives: the numbers of its answers by hand, and those of the question to what answers it."""
    asks = [said for *_, said in section.said if (mark := _OF_EXERCISE.match(said)) and mark["asked"]]
    numbers = [number for said in asks if text not in asks for number in markdown_numbers(said)]
    return prose.Values([*numbers, *_by_hand(section.title.removeprefix("Exercise "))])


@cache
def _by_hand(number):
    """The numbers of an exercise's answers by hand, with those that they are worked out from."""
    said = []
    for part in check.BY_HAND[number].parts if number in check.BY_HAND else ():
        for place in np.ndindex(np.shape(part.expected)):
            said += [part.terms(place) if part.terms else "", str(np.asarray(part.expected)[place])]
    return tuple(plain_numbers(" ; ".join(said)))


OF_OTHERS = "Where to read on"  # its numbers are those of other texts


def apart(section, text, known):
    """The runs of a paragraph whose numbers stand nowhere together; a listing is made from the package."""
    return [] if section.title == OF_OTHERS or "```" in text else runs.unfound(text, known)


def place_problems(nb, name, published=None, homes=None, known=None):
    """One sentence for each number of a chapter's text, and alternative texts, that its place does not account for.

    known: what ``runs.known_to`` gives; without, numbers that stand together are not looked at.
    """
    problems = []
    for place in places(nb, published, homes):
        at = f"{where(name, place.index, place.cell)}, «{place.section.title}»"
        for number in place.unplaced(place.text):
            printed = ("-" if number.signs == (-1,) else "") + number.text
            slugs = [slug for slug, values in place.own.items() if slug and prose.is_found(number, values)]
            elsewhere = f"in {', '.join(slugs)}" if slugs else "nowhere in this notebook"
            problems.append(
                f"{at}: {printed} is not computed there (nearest: {place.near[-1].nearest(number.candidates[0])}; "
                f"elsewhere: {elsewhere}), in «{number.context}»"
            )
        problems += [f"{at}: {problem}" for problem in prose.arithmetic_problems(place.text)]
        if known is not None:
            problems += [f"{at}: nothing has these together: {run}" for run in apart(place.section, place.text, known)]
    return problems
