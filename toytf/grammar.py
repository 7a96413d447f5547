"""A small grammar of English and Spanish: more than a million sentence pairs that a model can learn from.

A sentence is a subject, a verb and an object; subject and object are a determiner, adjectives and a
noun. English marks little of this. Spanish puts the adjective behind the noun, and gives determiner,
adjective and verb the form that the noun asks for: masculine or feminine, one or several.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from toytf._door import Count, Share, door
from toytf._validate import shown
from toytf.corpus import Pair, Vocabulary, split, vocabularies


class Noun(NamedTuple):
    """A noun in both languages and numbers, with its Spanish gender."""

    one: str
    several: str
    uno: str
    varios: str
    gender: str  # "m" or "f"


class Adjective(NamedTuple):
    """An adjective: one form in English, up to four in Spanish."""

    english: str
    m_one: str
    f_one: str
    m_several: str
    f_several: str


class Determiner(NamedTuple):
    """A determiner, which also says whether one thing is meant or several."""

    english: str
    several: bool
    m: str
    f: str


class Verb(NamedTuple):
    """A verb, third person: one subject or several."""

    one: str
    several: str
    uno: str
    varios: str


SUBJECTS = (  # who can act
    Noun("cat", "cats", "gato", "gatos", "m"),
    Noun("dog", "dogs", "perro", "perros", "m"),
    Noun("boy", "boys", "niño", "niños", "m"),
    Noun("girl", "girls", "niña", "niñas", "f"),
    Noun("queen", "queens", "reina", "reinas", "f"),
    Noun("cow", "cows", "vaca", "vacas", "f"),
)
OBJECTS = (  # things: a person would need the Spanish "a" before it
    Noun("world", "worlds", "mundo", "mundos", "m"),
    Noun("book", "books", "libro", "libros", "m"),
    Noun("hat", "hats", "sombrero", "sombreros", "m"),
    Noun("boat", "boats", "barco", "barcos", "m"),
    Noun("house", "houses", "casa", "casas", "f"),
    Noun("letter", "letters", "carta", "cartas", "f"),
    Noun("table", "tables", "mesa", "mesas", "f"),
)
ADJECTIVES = (
    Adjective("red", "rojo", "roja", "rojos", "rojas"),
    Adjective("black", "negro", "negra", "negros", "negras"),
    Adjective("small", "pequeño", "pequeña", "pequeños", "pequeñas"),
    Adjective("new", "nuevo", "nueva", "nuevos", "nuevas"),
    Adjective("strange", "extraño", "extraña", "extraños", "extrañas"),
    Adjective("big", "grande", "grande", "grandes", "grandes"),
    Adjective("blue", "azul", "azul", "azules", "azules"),
)
DETERMINERS = (
    Determiner("the", False, "el", "la"),
    Determiner("a", False, "un", "una"),
    Determiner("this", False, "este", "esta"),
    Determiner("my", False, "mi", "mi"),
    Determiner("the", True, "los", "las"),
    Determiner("some", True, "unos", "unas"),
    Determiner("these", True, "estos", "estas"),
    Determiner("my", True, "mis", "mis"),
)
VERBS = (
    Verb("sees", "see", "ve", "ven"),
    Verb("wants", "want", "quiere", "quieren"),
    Verb("has", "have", "tiene", "tienen"),
    Verb("finds", "find", "encuentra", "encuentran"),
    Verb("buys", "buy", "compra", "compran"),
    Verb("draws", "draw", "dibuja", "dibujan"),
)
HELLO_WORLD = Pair(("hello", "world"), ("hola", "mundo"), (0, 1))


@dataclass(frozen=True)
class Phrase:
    """A noun with its adjectives and, in a sentence, its determiner."""

    noun: Noun
    adjectives: tuple[Adjective, ...] = ()
    determiner: Determiner | None = None
    several: bool = False

    def pair(self) -> Pair:
        """Say it in both languages.

        >>> print(Phrase(OBJECTS[4], (ADJECTIVES[2], ADJECTIVES[0]), DETERMINERS[4], several=True).pair())
        the small red houses -> las casas rojas pequeñas
        """
        form = 1 + (self.noun.gender == "f") + 2 * self.several
        before: tuple[str, ...] = ()
        antes: tuple[str, ...] = ()
        if self.determiner is not None:
            before = (self.determiner.english,)
            antes = (self.determiner.m if self.noun.gender == "m" else self.determiner.f,)
        one, uno = (self.noun.several, self.noun.varios) if self.several else (self.noun.one, self.noun.uno)
        src = (*before, *(a.english for a in self.adjectives), one)
        tgt = (*antes, uno, *(a[form] for a in reversed(self.adjectives)))
        # In Spanish what follows the determiner stands in the opposite order.
        links = (*range(len(before)), *range(len(src) - 1, len(before) - 1, -1))
        return Pair(src, tgt, links)


def sentence(subject: Phrase, verb: Verb, thing: Phrase) -> Pair:
    """Put subject, verb and object together.

    >>> cat = Phrase(SUBJECTS[0], (), DETERMINERS[4], several=True)
    >>> pair = sentence(cat, VERBS[0], Phrase(OBJECTS[4], (ADJECTIVES[0],), DETERMINERS[1]))
    >>> print(pair)
    the cats see a red house -> los gatos ven una casa roja
    >>> pair.links
    (0, 1, 2, 3, 5, 4)
    """
    a, b = subject.pair(), thing.pair()
    middle = len(a.src)
    return Pair(
        (*a.src, verb.several if subject.several else verb.one, *b.src),
        (*a.tgt, verb.varios if subject.several else verb.uno, *b.tgt),
        (*a.links, middle, *(middle + 1 + i for i in b.links)),
    )


def greeting(noun: Noun, adjectives: tuple[Adjective, ...] = (), several: bool = False) -> Pair:
    """Say hello to somebody or something.

    >>> print(greeting(OBJECTS[0]))
    hello world -> hola mundo
    """
    named = Phrase(noun, adjectives, several=several).pair()
    return Pair(("hello", *named.src), ("hola", *named.tgt), (0, *(1 + i for i in named.links)))


@door
def draw_pairs(
    rng: np.random.Generator,
    n: Count,
    *,
    adjectives: Sequence[int] = (0, 1),
    greetings: Share = 0.1,
    without: Sequence[Pair] = (),
) -> list[Pair]:
    """Draw different sentence pairs at random.

    `adjectives` says how many a noun may have, each number as likely as the others; `greetings` the chance that a
    sentence is a greeting. (The grammar has few of them: a large corpus has them all, and a smaller share.) Pairs in
    `without`, for example those of a training set, are not drawn.

    >>> for pair in draw_pairs(np.random.default_rng(0), 3):
    ...     print(pair)
    the dogs see the world -> los perros ven el mundo
    these blue girls buy some blue boats -> estas niñas azules compran unos barcos azules
    some cats draw the big worlds -> unos gatos dibujan los mundos grandes
    """
    if not adjectives or not all(0 <= count <= len(ADJECTIVES) for count in adjectives):
        raise ValueError(f"adjectives: expected numbers from 0 to {len(ADJECTIVES)}, got {shown(adjectives)}")

    def pick(things):
        return things[rng.integers(len(things))]

    def draw_adjectives():
        chosen: list[Adjective] = []
        for _ in range(pick(adjectives)):
            chosen.append(pick([a for a in ADJECTIVES if a not in chosen]))
        return tuple(chosen)

    def phrase(nouns):
        determiner = pick(DETERMINERS)
        return Phrase(pick(nouns), draw_adjectives(), determiner, determiner.several)

    taken, misses = {pair.src for pair in without}, 0
    found: list[Pair] = []
    while len(found) < n:
        if rng.random() < greetings:
            pair = greeting(pick(SUBJECTS + OBJECTS), draw_adjectives(), pick((False, True)))
        else:
            pair = sentence(phrase(SUBJECTS), pick(VERBS), phrase(OBJECTS))
        misses = misses + 1 if pair.src in taken else 0
        if misses > 10_000:
            raise ValueError(f"n: expected a number that the grammar can supply, got {n}; it gave {len(found)}")
        if not misses:
            taken.add(pair.src)
            found.append(pair)
    return found


def corpus(rng: np.random.Generator, n: int = 4000, **how) -> tuple[list[Pair], list[Pair]]:
    """Draw the course's sentence pairs: four fifths to learn from, one fifth held out.

    No sentence of one part is in the other, in either language; "hello world" is always among those to learn from.
    They are `n` in all, drawn as `draw_pairs` does.
    """
    pairs = draw_pairs(rng, n - 1, without=[HELLO_WORLD], **how)
    train, held_out = split(pairs, rng, held_out=0.2 * n / (n - 1))
    return [HELLO_WORLD, *train], held_out


def all_words() -> tuple[Vocabulary, Vocabulary]:
    """Return the English and the Spanish vocabulary: every word of the grammar, whatever was drawn.

    >>> src_vocab, tgt_vocab = all_words()
    >>> len(src_vocab), len(tgt_vocab)
    (55, 80)
    """
    pairs = [HELLO_WORLD, *(Pair(verb[:2], verb[2:]) for verb in VERBS)]
    for determiner in DETERMINERS:
        for adjective in ADJECTIVES:
            for noun in SUBJECTS + OBJECTS:
                pairs.append(Phrase(noun, (adjective,), determiner, determiner.several).pair())
    return vocabularies(pairs)
