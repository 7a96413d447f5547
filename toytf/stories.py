"""Short stories from a small grammar: endlessly many, and a program can say whether one keeps its promises.

Somebody has a thing, loses it, is helped, and in the end it is clear who has what. A story says its facts once and
has to remember them: whose thing it was, its colour, who helped. `broken` reads a story and names what it forgot.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import cache
from itertools import count, pairwise

import numpy as np

from toytf.corpus import SPECIAL, Vocabulary

KINDS = ("fox", "owl", "hare", "mouse", "bear", "goose", "frog", "badger")
NATURES = ("small", "young", "shy", "brave", "curious", "clever", "sleepy", "cheerful")
COLOURS = ("red", "blue", "green", "yellow", "black", "white", "silver", "golden")
PLACES = ("river", "lake", "sea", "forest", "mill", "bridge")
TIMES = ("morning", "evening", "night", "day")
GIFTS = ("apple", "feather", "shell", "button", "ribbon", "key")
MISHAPS = {  # what becomes of a thing, and what brings it back
    "kite": ("the wind blew it into a tree", "climbed the tree"),
    "boat": ("it drifted out with the tide", "swam after it"),
    "lantern": ("it rolled into a dark cave", "went into the cave without a light"),
    "drum": ("it fell into a well", "let down a rope"),
    "bell": ("a magpie carried it to its nest", "sang to the magpie"),
    "hat": ("the stream took it away", "waited below the waterfall"),
    "book": ("it was left out in the snow", "dug until dark"),
    "ball": ("it bounced over the wall of the giant", "knocked at the giant's door"),
}
THINGS = tuple(MISHAPS)
PRONOUNS = ({"he": "he", "him": "him", "his": "his"}, {"he": "she", "him": "her", "his": "her"})
#: A name is put together of one of each: its tokens.
SYLLABLES = (
    tuple(f"{start}-" for start in "Ba Da Fe Go Ka Li Mo Na Pe Ri Sa To Vi Zu".split()),
    tuple(f"-{middle}-" for middle in "be di ga ko la me no ra si ti va zo".split()),
    tuple(f"-{end}" for end in "bel dor fin la lin mir na ra rin ron sa tus".split()),
)
KNOWN_NAMES = 1765  # those of the 2,016 that lessons may have
#: Names for a grammar in which each name is one word of a list.
LISTED = tuple(
    "Ada Bruno Clara Dario Edda Felix Gina Hugo Ines Jonas Kira Leo Mira Nils Olga Paul Rosa Simon Tilda Urs Vera "
    "Willem Yara Zeno".split()
)

# One of each row is said. {he}, {him} and {his} are the hero's, {he2} and so on the helper's. Who is named first
# changes, so that a place in the story does not tell who is meant; the word before a name does ("little", "good").
PARTS = (
    (
        "once there was a {nature} {kind} called {hero} .",
        "by the {place} lived a {nature} {kind} called {hero} .",
        "{hero} was a {nature} {kind} who lived by the {place} .",
    ),
    (
        "{he} had a {colour} {thing} and took it everywhere .",
        "more than anything {he} loved {his} {colour} {thing} .",
        "{he} never slept without {his} {colour} {thing} .",
    ),
    ("but one {time} {mishap} .", "then , one {time} , when nobody was looking and all was still , {mishap} ."),
    ("poor {hero} sat down and cried .", "poor {hero} called for help .", "“ my {thing} ! ” cried {hero} ."),
    (
        "a {nature2} {kind2} named {helper} heard {him} .",
        "along came {helper} , a {nature2} {kind2} , who had heard it all from far away and wanted to help .",
    ),
    ("“ do not be sad , little {hero} , ” said {helper} .", "“ can you help me , dear {helper} ? ” asked {hero} ."),
    (
        "good {helper} {deed} and came back with the {thing} .",
        "so {helper} {deed} , and when the sun went down , there was the {thing} , and nothing was wrong with it .",
    ),
)
ENDS = {  # how it ends decides who has the thing
    "gift": (
        ("happy {hero} thanked {helper} and gave {him2} a {gift} .", "for that {helper} got a {gift} from {hero} ."),
        (
            "good {helper} went home with the {gift} , and happy {hero} with {his} {colour} {thing} .",
            "happy {hero} went home with {his} {colour} {thing} , and good {helper} with the {gift} .",
        ),
    ),
    "keep": (
        ("“ keep it , dear {helper} , ” cried {hero} .", "“ may i keep it , little {hero} ? ” said {helper} ."),
        (
            "good {helper} went home with the {colour} {thing} , and happy {hero} waved .",
            "happy {hero} waved , and good {helper} went home with the {colour} {thing} .",
        ),
    ),
    "share": (
        (
            "“ let us share it , dear {helper} , ” cried {hero} .",
            "“ shall we share it , little {hero} ? ” said {helper} .",
        ),
        (
            "since then the {colour} {thing} belongs to happy {hero} and good {helper} .",
            "since then the {colour} {thing} belongs to good {helper} and happy {hero} .",
        ),
    ),
}
LAST = (
    "little {hero} never forgot good {helper} .",
    "good {helper} never forgot little {hero} .",
    "that night little {hero} dreamed of good {helper} .",
    "that night good {helper} dreamed of little {hero} .",
)
#: What a story must not forget, and the slots of its sentences that speak of it.
PROMISES = {
    "hero": ("hero",),
    "helper": ("helper",),
    "pronouns": ("he", "him", "his"),
    "thing": ("thing", "mishap", "deed"),
    "colour": ("colour",),
    "gift": ("gift",),
    "helper's pronouns": ("he2", "him2"),
    "owner": ("end",),
}

NAME = r"[A-Z][a-z]+(?:- -[a-z]+- -[a-z]+)?"
#: Which words can stand in a slot, and the fact that each of them speaks of.
SLOTS: dict[str, dict[str, str]] = {
    **{
        slot: dict(zip(words, words, strict=True))
        for slot, words in {
            "nature": NATURES,
            "kind": KINDS,
            "colour": COLOURS,
            "thing": THINGS,
            "place": PLACES,
            "time": TIMES,
            "gift": GIFTS,
        }.items()
    },
    "mishap": {mishap: thing for thing, (mishap, _) in MISHAPS.items()},
    "deed": {deed: thing for thing, (_, deed) in MISHAPS.items()},
    **{case: {pronoun[case]: pronoun["he"] for pronoun in PRONOUNS} for case in PRONOUNS[0]},
}
FREE = {"nature", "nature2", "kind", "kind2", "colour", "thing", "place", "time", "gift"}  # drawn by themselves
#: The forms of each sentence, with the end to which they belong.
SENTENCES = [[("", form) for form in part] for part in PARTS]
SENTENCES += [[(end, form) for end, parts in ENDS.items() for form in parts[place]] for place in (0, 1)]
SENTENCES += [[("", form) for form in LAST]]


def made_name(rng: np.random.Generator, new: bool = False) -> str:
    """Put three syllables together. An eighth of the names is kept away from every lesson: the `new` ones.

    >>> rng = np.random.default_rng(0)
    >>> made_name(rng), made_name(rng, new=True)
    ('Go- -ko- -bel', 'Li- -va- -dor')
    """
    while True:
        places = [int(rng.integers(len(syllables))) for syllables in SYLLABLES]
        if (sum(places) % 8 == 0) == new:
            return " ".join(syllables[place] for syllables, place in zip(SYLLABLES, places, strict=True))


def listed_name(rng: np.random.Generator) -> str:
    """Draw one of `LISTED`.

    >>> listed_name(np.random.default_rng(0))
    'Vera'
    """
    return LISTED[rng.integers(len(LISTED))]


def draw_story(rng: np.random.Generator, name: Callable[[np.random.Generator], str] = made_name) -> list[str]:
    """Draw a story's facts, then its sentences: a list of tokens, with `name` for each of the two who are in it.

    >>> print(told(draw_story(np.random.default_rng(0))[:24]))
    Once there was a curious bear called Gotirin. She never slept without her white book. Then, one evening,
    """

    def pick(things):
        return things[rng.integers(len(things))]

    thing = pick(THINGS)
    facts = {"thing": thing, "mishap": MISHAPS[thing][0], "deed": MISHAPS[thing][1], "colour": pick(COLOURS)}
    facts |= {"place": pick(PLACES), "time": pick(TIMES), "gift": pick(GIFTS)}
    kinds = rng.permutation(KINDS)
    for whose, kind in zip(("", "2"), kinds, strict=False):
        facts |= {f"nature{whose}": pick(NATURES), f"kind{whose}": kind}
        facts |= {f"{case}{whose}": form for case, form in pick(PRONOUNS).items()}
    facts["hero"] = facts["helper"] = name(rng)
    while facts["helper"] == facts["hero"]:
        facts["helper"] = name(rng)
    said = [pick(part) for part in (*PARTS, *ENDS[pick(tuple(ENDS))], LAST)]
    return " ".join(said).format(**facts).split()


def told(tokens: list[str]) -> str:
    """Write tokens as one reads them: names in one piece, capitals, no space before a full stop.

    >>> told("“ my hat ! ” cried Ri- -ga- -bel .".split())
    '“My hat!” cried Rigabel.'
    """
    text = re.sub(r"- -| (?=[.,!?”])|(?<=“) ", "", re.sub(r"\bi\b", "I", " ".join(tokens)))
    return re.sub(r"(^|[.!?] |“)([a-z])", lambda start: start[1] + start[2].upper(), text)


def broken(tokens: list[str]) -> list[str]:
    """Say which of `PROMISES` a story breaks; ``["form"]`` if it is no story of this grammar at all.

    >>> story = draw_story(np.random.default_rng(0))
    >>> broken(story)
    []
    >>> broken(story[:-1])
    ['form']
    """
    said = facts(tokens)
    if said is None:
        return ["form"]
    return [promise for promise, slots in PROMISES.items() if len({fact for slot, fact in said if slot in slots}) > 1]


def facts(tokens: list[str]) -> list[tuple[str, str]] | None:
    """Read a story: each slot in its order, with the fact that its words speak of; None if it is no story.

    >>> facts(draw_story(np.random.default_rng(0)))[:3]
    [('nature', 'curious'), ('kind', 'bear'), ('hero', 'Go- -ti- -rin')]
    """
    sentences = re.findall(r"[^.]+ \.", " ".join(tokens))
    if len(sentences) != len(SENTENCES) or " ".join(map(str.strip, sentences)) != " ".join(tokens):
        return None
    found: list[tuple[str, str]] = []
    for sentence, forms in zip(sentences, SENTENCES, strict=True):
        read = ((end, _pattern(form).fullmatch(sentence.strip())) for end, form in forms)
        end, match = next(((end, match) for end, match in read if match), (None, None))
        if match is None:
            return None
        for name, words in match.groupdict().items():
            slot = name.split("_")[0]
            found.append((slot, SLOTS.get(slot.rstrip("2"), {}).get(words, words)))
        found += [("end", end)] if end else []
    return found


@cache
def _pattern(form: str) -> re.Pattern:
    """A sentence's form with each slot open for all words that can stand there."""
    place = count()

    def slot(match):
        words = "|".join(SLOTS[match[1].rstrip("2")]) if match[1] not in ("hero", "helper") else NAME
        return f"(?P<{match[1]}_{next(place)}>{words})"

    return re.compile(re.sub(r"\\{(\w+)\\}", slot, re.escape(form)))


def all_words(names: tuple[str, ...] = sum(SYLLABLES, ())) -> Vocabulary:
    """Return every token of the stories, `SPECIAL` and names first.

    >>> len(all_words()), len(all_words(LISTED))
    (223, 209)
    """
    said = (
        " ".join(form for forms in SENTENCES for _, form in forms) + " " + " ".join(" ".join(s) for s in SLOTS.values())
    )
    return Vocabulary([*SPECIAL, *names, *sorted(set(re.sub(r"\{\w+\}", "", said).split()))])


def surprise(tokens: list[str], names: int = KNOWN_NAMES) -> float:
    """-log p of a whole story under its own grammar, in nats: a choice among n costs log n.

    Its mean over stories, divided by that of their tokens, is the lowest loss that a model can reach. So many `names`
    can be drawn.

    >>> story = draw_story(np.random.default_rng(0))
    >>> print(f"{surprise(story):.2f} nats")
    39.31 nats
    """
    said = facts(tokens)
    if said is None:
        raise ValueError(f"tokens: expected a story of this grammar, got {' '.join(tokens)!r}")
    slots = {slot for slot, _ in said}
    choices = [names, names - 1, len(ENDS), len(LAST), *map(len, PARTS), *map(len, ENDS[dict(said)["end"]])]
    choices += [len(SLOTS[slot.rstrip("2")]) - (slot == "kind2") for slot in slots & FREE]
    choices += [len(PRONOUNS) for whose in ("", "2") if slots & {f"{case}{whose}" for case in PRONOUNS[0]}]
    return sum(map(math.log, choices))


LETTERS = tuple("abcdefghijklmnopqrstuvwxyz")
FIRST, ECHOES = 12, 40  # letters that come first, and letters in all


def draw_echoes(rng: np.random.Generator) -> list[str]:
    """Draw twelve different letters, and then pieces of four to eight of them, each from where it will: 40 letters.

    Nothing foretells where a piece begins. From its second letter on it goes on as it did before.

    >>> "".join(draw_echoes(np.random.default_rng(0)))
    'teklzcygqxdvlzcygqtekleklzygqxdvcygqxcyg'
    """
    first = [LETTERS[i] for i in rng.permutation(len(LETTERS))[:FIRST]]
    text = list(first)
    while len(text) < ECHOES:
        begin = rng.integers(FIRST - 3)
        text += first[begin : begin + rng.integers(4, 9)]
    return text[:ECHOES]


def goes_on(echoes: list[str]) -> list[bool]:
    """Say of each letter whether the one before it stood before this letter already, so that it could be foretold.

    >>> goes_on(list("abcdbcd"))
    [False, False, False, False, False, True, True]
    """
    seen = [set(pairwise(echoes[:k])) for k in range(len(echoes))]
    return [k > 0 and (echoes[k - 1], echoes[k]) in seen[k] for k in range(len(echoes))]
