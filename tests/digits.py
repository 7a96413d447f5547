"""How many changed digits of the chapters' prose are caught: `python tests/digits.py [1000] [--seed 0] [--show]`.

Changes one digit at a time, of a number that a reader reads, anywhere in the prose of the chapters, and asks the checks
of `bookcheck/places.py` (and those of the whole notebook, as other pages are asked). Prints, for each kind of number,
how many of the changes are caught; with `--show` also those that escape. With `all` for a number it makes every change
that there is (about 50,000, in some minutes).
"""

import argparse
import re
from collections import Counter
from typing import NamedTuple

import numpy as np

from bookcheck import places, prose, reading, runs
from numbertext import markdown_numbers
from toytf._command import progress


class Change(NamedTuple):
    """One changed digit."""

    kind: str
    page: str
    section: str
    was: str
    context: str  # as changed
    near: bool  # caught by the rule of the section
    everywhere: bool  # caught by the rule of the whole notebook


def kind(number):
    """What is counted together."""
    if "^" in number.text or "e" in number.text:
        return "power of ten"
    if not number.decimal:
        return "below 10" if number.value < 10 else "integer"
    return {1: "one decimal", 2: "two decimals"}.get(-number.unit.as_tuple().exponent, "more decimals")


def _problems(unfound, text):
    return Counter(map(str, [*unfound(text), *prose.arithmetic_problems(text)]))


def _paragraphs(paths):
    """``(page, section, text, rule of the section, rule of the notebook)`` of each paragraph of the chapters."""
    for path in paths:
        nb, chapter = reading.read_notebook(path), prose.chapter_of(path)
        published, homes = prose.published_values(chapter), prose.published_homes(chapter)
        broad, known = prose.near_values(nb), runs.known_to(nb, chapter)
        for place in places.places(nb, published, homes):
            if "```" in place.text:
                continue  # a listing is made from the package, and held equal to it

            def by_section(text, place=place, known=known):
                return [places.as_printed(n) for n in place.unplaced(text)] + places.apart(place.section, text, known)

            def by_notebook(text, near=broad[place.index], everywhere=place.everywhere):
                read = [n for n in markdown_numbers(text) if prose.counts(n)]
                return [places.as_printed(n) for n in read if not prose.is_found(n, everywhere, near)]

            yield path.stem, place.section.title, place.text, by_section, by_notebook


def _candidates(texts, seed):
    """``(index of a paragraph, place of a digit, other digit)``: each digit once, at random; without a seed, all."""
    digits = [(k, m.start()) for k, paragraph in enumerate(texts) for m in re.finditer(r"[0-9]", paragraph[2])]
    others = [[digit for digit in "0123456789" if digit != texts[k][2][place]] for k, place in digits]
    if seed is None:
        yield from ((*digits[at], other) for at in range(len(digits)) for other in others[at])
        return
    rng = np.random.default_rng(seed)
    for at in rng.permutation(len(digits)):
        yield *digits[at], str(rng.choice(others[at]))


def changes(paths, many=None, seed=0, small=True):
    """Yield ``many`` changes of one digit each, those of integers below 10 among them if ``small``; None for all."""
    texts = list(_paragraphs(paths))
    known = {}  # index of a paragraph -> its problems before any change, by either rule
    for which, place, other in _candidates(texts, seed if many is not None else None):
        if many == 0:
            return
        page, section, before, by_section, by_notebook = texts[which]
        after = before[:place] + other + before[place + 1 :]
        read = [markdown_numbers(text) for text in (before, after)]
        moved = [(a, b) for a, b in zip(*read, strict=False) if places.as_printed(a) != places.as_printed(b)]
        if len(read[0]) != len(read[1]) or not moved:
            continue  # a label, the number of a section, an address: other checks know these
        was, is_now = moved[0]
        if kind(was) == "below 10" and not small:
            continue
        many = many and many - 1
        rules = by_section, by_notebook
        if which not in known:
            known[which] = [_problems(rule, before) for rule in rules]
        caught = (_problems(rule, after) != was_so for rule, was_so in zip(rules, known[which], strict=True))
        yield Change(kind(was), page, section, was.text, is_now.context, *caught)


def main():
    """Change and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("many", nargs="?", type=lambda text: None if text == "all" else int(text), default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--pages", nargs="+", default=[""], help="only chapters with one of these in their names")
    parser.add_argument("--show", action="store_true", help="show what escapes the section's rule")
    options = parser.parse_args()
    paths = [p for p in reading.chapter_paths() if any(word in p.stem for word in options.pages)]
    found = list(progress(changes(paths, options.many, options.seed), unit="change"))
    print(f"{'changed digits of':20} {'all':>6} {'caught':>7} {'':>6} {'by the whole notebook':>22}")
    above = [change for change in found if change.kind != "below 10"]
    rows = [(name, [c for c in found if c.kind == name]) for name in sorted({c.kind for c in found})]
    for name, some in [*rows, ("all", found), ("all but below 10", above)]:
        near, far, of = sum(c.near for c in some), sum(c.everywhere for c in some), max(1, len(some))
        print(f"{name:20} {len(some):6} {near:7} {near / of:6.1%} {far:15} {far / of:6.1%}")
    for change in above if options.show else []:
        if not change.near:
            print(f"  {change.page}, «{change.section}»: {change.was} in «{change.context}»")


if __name__ == "__main__":
    main()
