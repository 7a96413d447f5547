"""The course's experiments: the same training many times, with one thing changed.

Chapters 16, 18 and 19 read the results that come with the package, each beside the settings that gave it.
`bench/train_experiments.py` makes them again in about an hour.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

import numpy as np

from toytf.corpus import Pair
from toytf.grammar import ADJECTIVES, OBJECTS, SUBJECTS, corpus, draw_pairs
from toytf.model import Transformer
from toytf.train import Record
from toytf.translator import Translator, loss_and_gradients
from toytf.tree import named_arrays

STORED = Path(__file__).with_name("data") / "experiments.json"
STANDARD = {"steps": 500, "batch_size": 48, "learning_rate": 0.01, "warmup": 100, "label_smoothing": 0.0}
HELD_OUT = "held out"
LAST = 25  # the final loss is the mean over so many steps
TESTED = 800  # sentences in each test


# ---------------------------------------------------------------- what is read and what is asked


@dataclass(frozen=True)
class Data:
    """Which sentences a run learns from, and which it is tested with."""

    adjectives: tuple[int, ...] = (0, 1)  # how many of them a noun may have in the sentences that are learned from
    learn_from: int = 3200  # how many those are
    longest: int | None = None  # learn from no English sentence of more words, and test with longer ones too
    with_two: int = 0  # so many of the sentences that are learned from have two adjectives at each noun instead
    # The share of all combinations of an adjective and a noun that never occur in training; one of them stands in
    # every sentence of the test.
    unseen: float = 0.0
    # Further tests: sentences in which every noun has exactly so many adjectives. Where the training has fewer, one
    # more test: a single noun with so many, in a sentence that is no longer than those of the training.
    more: tuple[int, ...] = ()
    # Put the English words of every sentence in alphabetical order, in training and in tests. Those of a test may then
    # be the words of another sentence, which was learned, and which means something else.
    alphabetical: bool = False


def sentences(data: Data, rng: np.random.Generator) -> tuple[list[Pair], dict[str, list[Pair]]]:
    """Draw what `data` asks for: pairs to learn from, and `TESTED` other pairs for each test, by its name.

    >>> train, tests = sentences(Data(more=(2,)), np.random.default_rng(0))
    >>> len(train), {name: len(pairs) for name, pairs in tests.items()}
    (3200, {'held out': 800, '2 adjectives': 800, '2 adjectives, no longer': 800})
    """
    longer = {}
    if data.unseen:
        away = unseen_combinations(data.unseen, rng)
        drawn, _ = corpus(rng, 10_000, adjectives=data.adjectives)
        train, held_out = ([pair for pair in drawn if bool(combinations(pair) & away) == new] for new in (False, True))
    elif data.longest is not None:
        drawn, held_out = corpus(rng, 20_000, adjectives=data.adjectives)
        lengths = range(data.longest + 1, max(len(pair.src) for pair in held_out) + 1)
        longer = {f"{n} words": [pair for pair in drawn if len(pair.src) == n] for n in lengths}
        train, held_out = ([pair for pair in pairs if len(pair.src) <= data.longest] for pairs in (drawn, held_out))
    else:
        train, held_out = corpus(rng, adjectives=data.adjectives)
    tests = {HELD_OUT: held_out} | longer
    longest = max(len(pair.src) for pair in train)
    if data.with_two:
        two = draw_pairs(rng, data.with_two, adjectives=(2,), greetings=0.0)
        train = train[: data.learn_from - len(two)] + two
    for n in data.more:
        tests[f"{n} adjectives"] = draw_pairs(rng, TESTED, adjectives=(n,), greetings=0.0, without=train)
        if n > max(data.adjectives) and not data.with_two:
            some = draw_pairs(rng, 4 * TESTED, adjectives=(0, n), greetings=0.0)
            one_noun = [pair for pair in some if len(pair.src) == 5 + n <= longest]
            if one_noun:
                tests[f"{n} adjectives, no longer"] = one_noun
    if data.alphabetical:
        train, tests = _sorted(train), {name: _sorted(pairs) for name, pairs in tests.items()}
    short = {name: len(pairs) for name, pairs in tests.items() if len(pairs) < TESTED}
    if short or len(train) < data.learn_from:
        raise ValueError(f"data: expected enough sentences, got {len(train)} to learn from and too few for {short}")
    return train[: data.learn_from], {name: pairs[:TESTED] for name, pairs in tests.items()}


def _sorted(pairs: list[Pair]) -> list[Pair]:
    return [Pair(tuple(sorted(pair.src)), pair.tgt) for pair in pairs]


_NOUNS = {word: noun for noun in SUBJECTS + OBJECTS for word in (noun.one, noun.several)}
_ADJECTIVES = {adjective.english for adjective in ADJECTIVES}


def combinations(pair: Pair) -> set[tuple[str, str]]:
    """Return which adjective stands with which noun (in the singular) in a sentence of the grammar.

    >>> from toytf.grammar import OBJECTS, Phrase
    >>> sorted(combinations(Phrase(OBJECTS[4], (ADJECTIVES[2], ADJECTIVES[0]), several=True).pair()))
    [('red', 'house'), ('small', 'house')]
    """
    found, waiting = set(), []
    for word in pair.src:
        if word in _ADJECTIVES:
            waiting.append(word)
        elif word in _NOUNS:
            found |= {(adjective, _NOUNS[word].one) for adjective in waiting}
            waiting = []
    return found


def unseen_combinations(share: float, rng: np.random.Generator) -> set[tuple[str, str]]:
    """Draw combinations that a training shall not contain.

    Every adjective keeps at least one noun of each gender, or there would be forms of it that the training never shows.

    >>> len(unseen_combinations(0.25, np.random.default_rng(0))), len(ADJECTIVES) * len(SUBJECTS + OBJECTS)
    (23, 91)
    """
    every = [(adjective.english, noun) for adjective in ADJECTIVES for noun in SUBJECTS + OBJECTS]
    while True:
        places = rng.permutation(len(every))[: round(share * len(every))]
        away = [every[place] for place in places]
        kept = {(adjective, noun.gender) for adjective, noun in every if (adjective, noun) not in away}
        if len(kept) == 2 * len(ADJECTIVES):
            return {(adjective, noun.one) for adjective, noun in away}


# ---------------------------------------------------------------- the experiments


@dataclass(frozen=True)
class Experiment:
    """One thing changed, and how often it is tried."""

    name: str
    switches: Mapping = field(default_factory=dict)  # of `Config`; where left out, as in `toytf.translator.SIZES`
    # Patterns of parameters that are 0 and stay 0, for example "encoder.*.w_o": a sub-layer whose last matrix is 0
    # adds nothing to its row.
    silent: tuple[str, ...] = ()
    learning: Mapping = field(default_factory=dict)  # where it differs from `STANDARD`
    data: Data = Data()
    seeds: int = 5  # 0, 1, ... up to this number


REMOVED = (  # what chapter 18 takes out, or changes, one at a time
    "nothing", "positions", "residual", "norm", "residual and norm", "causal mask", "cross-attention", "scaling",
    "second head", "encoder", "encoder attention", "decoder attention", "feed-forward", "embedding scale", "four heads",
    "pre-norm",
)  # fmt: skip


# ---------------------------------------------------------------- one run


@dataclass(frozen=True)
class Result:
    """What came of one run."""

    loss: float | None  # of the training: the mean over the last `LAST` steps; None if training broke off
    right: dict[str, int]  # for each test how many of `TESTED` sentences were translated with every token right
    stopped: int | None = None  # the step at which numbers were no longer finite; `right` is 0 everywhere then


def learn(experiment: Experiment, seed: int) -> tuple[Translator, list[Pair], dict[str, list[Pair]], Iterator[Record]]:
    """Set a run up. Returns the translator, the pairs to learn from, the tests by name, and the records.

    Training happens while the records are read.

    >>> translator, _, tests, records = learn(EXPERIMENTS["second head, 1+1"], seed=0)
    >>> print(next(records).step, translator.cfg.n_heads)
    1 1
    """
    rng = np.random.default_rng(seed)
    pairs, tests = sentences(experiment.data, rng)
    translator = Translator.new(rng, **experiment.switches)
    how = STANDARD | dict(experiment.learning)
    silence(translator.params, experiment.silent)

    def with_silence(params, batch, **of_model):
        loss, gradients = loss_and_gradients(params, batch, **of_model)
        silence(gradients, experiment.silent)  # no gradient, no step: Adam leaves them at 0
        return loss, gradients

    return translator, pairs, tests, translator.learn(pairs, rng, **how, progress=False, objective=with_silence)


def silence(tree: Transformer, patterns: Sequence[str]) -> None:
    """Set every array to 0, in place, whose name matches one of the patterns.

    A pattern that matches nothing is a `ValueError`.
    """
    arrays = named_arrays(tree)
    for pattern in patterns:
        matched = [array for name, array in arrays.items() if fnmatch(name, pattern)]
        if not matched:
            raise ValueError(f"patterns: expected names such as {next(iter(arrays))!r}, got {pattern!r}")
        for array in matched:
            array[:] = 0


def run(experiment: Experiment, seed: int) -> Result:
    """Train once and test."""
    steps = (STANDARD | dict(experiment.learning))["steps"]
    translator, _, tests, records = learn(experiment, seed)
    losses: list[float] = []
    try:
        with np.errstate(all="ignore"):  # what is not finite is reported below
            for record in records:
                losses.append(record.loss)
            if len(losses) < steps:  # Ctrl-C, which `train` answers by ending early
                raise KeyboardInterrupt
            right = {name: int(translator.exact(pairs).sum()) for name, pairs in tests.items()}
    except (FloatingPointError, ValueError) as error:
        if "finite" not in str(error):
            raise
        return Result(None, dict.fromkeys(tests, 0), len(losses) + 1)
    return Result(round(float(np.mean(losses[-LAST:])), 6), right)


# ---------------------------------------------------------------- what is stored


def read(path=STORED) -> dict:
    """Read the file as it is: for each experiment's name its settings and its runs."""
    return json.loads(Path(path).read_text(encoding="utf-8"))["experiments"]


def load(path=STORED) -> dict[str, list[Result]]:
    """Read results: for each experiment's name those of seed 0, 1, and so on.

    >>> [result.right["held out"] for result in load()["nothing, 1+1"]]
    [800, 799, 800, 800, 800]
    """
    runs = {name: kept["runs"] for name, kept in read(path).items()}
    return {name: [Result(**of[seed]) for seed in sorted(of, key=int)] for name, of in runs.items()}


def _experiments() -> dict[str, Experiment]:
    found = {}
    for name, kept in read().items():
        about = kept["settings"]
        data = Data(**{key: tuple(one) if isinstance(one, list) else one for key, one in about["data"].items()})
        silent, seeds = tuple(about["silent"]), len(kept["runs"])
        found[name] = Experiment(name, about["switches"], silent, about["learning"], data, seeds)
    return found


EXPERIMENTS = _experiments()


def stories() -> dict[str, dict]:
    """Read what chapter 20's models did (`bench/stories.py` makes it): by run, how many promises were kept."""
    return json.loads(STORED.with_name("stories.json").read_text("utf-8"))
