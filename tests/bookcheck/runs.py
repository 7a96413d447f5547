"""Numbers that stand together in a chapter's prose: a matrix, a list, a shape, "319 of 575", "19 to 793".

One number of them may turn into another value of its section and still be found (``places.py``); together they stand
somewhere in what the notebook types and prints, or in what its checks know. A list in brackets, a matrix and a shape
stand there number after number, a list in words in its order with little between, two numbers near each other.
"""

import re

import numpy as np

from bookcheck.reading import ROOT, text_outputs
from numbertext import clean_markdown
from toytf import check

AROUND = {"near": 3, "side by side": 1}  # how far two numbers may stand from each other

# Sizes that the paper names: its shapes are no result of ours.
PAPER = {6.0, 8.0, 64.0, 512.0, 2048.0, 37000.0}

_N = r"(?<![\w.^])[-−]?\d+(?:,\d{3})*(?:\.\d+)?(?![\w^/])"
_IN_BRACKETS = re.compile(r"\\begin\{[bp]?matrix\}(.*?)\\end\{[bp]?matrix\}|\[([^\[\]]*)\](?!\()", re.DOTALL)
_CUTS = re.compile(r"\\\\|&|,(?!\d{3}\b)|;")
_IN_A_LINE = re.compile(rf"{_N}(?:(?: ×)? {_N})+")  # a shape, or results that a table has side by side
_IN_WORDS = re.compile(rf"{_N}(?:, {_N})+,? (?:and|or) {_N}|{_N}(?:, {_N}){{2,}}")
_W = r"[^\W\d]+"
# "student with 0.5, friend with 0.3 and cat with 0.2"
_OF_WORDS = re.compile(rf"(?:{_W} )?(with|near|to|for|by) {_N}(?:(?:,|,? and|;|,? then) (?:{_W} ){{0,2}}\1 {_N})+")
_TWO = re.compile(rf"({_N}) (?:of(?: the)?|to) ({_N})")
_BOTH = re.compile(rf"(?<!, )({_N}) (?:and|or) ({_N})")
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?!\w)")


def plain(text):
    """A text whose signs are those of a keyboard, without the commas of thousands."""
    text = text.replace("{,}", ",").replace("−", "-").replace("\\times", "×").replace("$", "")
    return re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", text)


def known_to(nb, chapter):
    """The numbers of each cell, of each of its outputs, and of a chapter's checks, in their order."""
    texts = [path.read_text("utf-8") for path in [ROOT / f"toytf/check/ch{chapter:02}.py"] if path.is_file()]
    for cell in nb.cells:
        if cell.cell_type == "code":
            texts += [cell.source, *(text for _, text in text_outputs(cell))]
    answers = [one for number, one in check.BY_HAND.items() if number.startswith(f"{chapter}.")]
    return [
        *([float(number) for number in _NUMBER.findall(plain(text))] for text in texts),
        *(np.ravel(part.expected).astype(float).tolist() for one in answers for part in one.parts),
    ]


def runs(markdown):
    """``(words, numbers as written, how they stand)`` of each run of a paragraph.

    They stand "in a row", "in order", "side by side" or "near".
    """
    text, found = plain(markdown), []
    for match in _IN_BRACKETS.finditer(text):
        parts = [part.strip(" {}\n") for part in _CUTS.split(match[1] or match[2] or "")]
        parts = [part for part in parts if part]
        if len(parts) > 1 and all(re.fullmatch(_N, part) for part in parts):
            found.append((match[0], parts, "in a row"))
    text = plain(clean_markdown(markdown))
    for kind, how in (
        (_IN_A_LINE, "in a row"),
        (_IN_WORDS, "in order"),
        (_OF_WORDS, "in a row"),
        (_TWO, "near"),
        (_BOTH, "side by side"),
    ):
        found += [(match[0], re.findall(_N, match[0]), how) for match in kind.finditer(text)]
    return found


def is_found(written, how, known):
    """Whether a run stands in one of the sequences, each number as exactly as it is written."""
    values = [float(number) for number in written]
    decimals = [len(number.partition(".")[2]) for number in written]
    if set(values) <= PAPER or (len(set(values)) == 1 and len(values) > 2):
        return True

    def same(number, k):
        return abs(round(number, decimals[k]) - values[k]) < 1e-9

    def stand(at, row):
        """Whether the numbers stand from a place on."""
        if how in AROUND:
            around = row[max(0, at - AROUND[how]) : at + AROUND[how] + 1]
            return all(any(same(x, k) for x in around) for k in range(1, len(values)))
        after, k = row[at + 1 : at + len(values) + (0 if how == "in a row" else 3)], 1
        for number in after:
            k += k < len(values) and same(number, k)
        return k == len(values)

    return any(same(number, 0) and stand(at, row) for row in known for at, number in enumerate(row))


def unfound(markdown, known):
    """The words of the runs that stand nowhere."""
    return [" ".join(words.split()) for words, written, how in runs(markdown) if not is_found(written, how, known)]
