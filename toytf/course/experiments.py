"""The course's experiments: the same training many times, with one thing changed.

Chapters 18 and 19 read the results that come with the package. This makes them again, in about an hour::

    toytf experiments --out experiments.json

Stopped and started again with the same file, it goes on where it was.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from fnmatch import fnmatch
from pathlib import Path

import numpy as np

from toytf._command import progress, write_whole
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
    """Which sentences a run learns from, and which it is tested with.

    Parameters
    ----------
    adjectives : tuple of int
        How many adjectives a noun may have in the sentences that are learned from.
    learn_from : int
        How many those are.
    longest : int, optional
        Learn from no English sentence of more words than this, and test with longer ones too.
    with_two : int
        So many of the sentences that are learned from have two adjectives at each noun instead.
    unseen : float
        The share of all combinations of an adjective and a noun that never occur in training, and
        one of which stands in every sentence of the test.
    more : tuple of int
        Further tests: sentences in which every noun has exactly so many adjectives. Where the
        training has fewer, one more test: a single noun with so many, in a sentence that is no
        longer than those of the training.
    alphabetical : bool
        Put the English words of every sentence in alphabetical order, in training and in tests. Those
        of a test may then be the words of another sentence, which was learned, and which means something else.
    """

    adjectives: tuple[int, ...] = (0, 1)
    learn_from: int = 3200
    longest: int | None = None
    with_two: int = 0
    unseen: float = 0.0
    more: tuple[int, ...] = ()
    alphabetical: bool = False


def sentences(data: Data, rng: np.random.Generator) -> tuple[list[Pair], dict[str, list[Pair]]]:
    """Draw what `data` asks for.

    Parameters
    ----------
    data : Data
    rng : numpy.random.Generator

    Returns
    -------
    train : list of Pair
    tests : dict from str to list of Pair
        `TESTED` pairs each, none of which is in `train`.

    Examples
    --------
    >>> train, tests = sentences(Data(more=(2,)), np.random.default_rng(0))
    >>> len(train), {name: len(pairs) for name, pairs in tests.items()}
    (3200, {'held out': 800, '2 adjectives': 800, '2 adjectives, no longer': 800})
    """
    if data.unseen:
        away = unseen_combinations(data.unseen, rng)
        drawn, _ = corpus(rng, 10_000, adjectives=data.adjectives)
        new = [bool(combinations(pair) & away) for pair in drawn]
        train = [pair for pair, is_new in zip(drawn, new, strict=True) if not is_new]
        tests = {HELD_OUT: [pair for pair, is_new in zip(drawn, new, strict=True) if is_new]}
    elif data.longest is not None:
        drawn, held_out = corpus(rng, 20_000, adjectives=data.adjectives)
        train = [pair for pair in drawn if len(pair.src) <= data.longest]
        tests = {HELD_OUT: [pair for pair in held_out if len(pair.src) <= data.longest]}
        for length in range(data.longest + 1, max(len(pair.src) for pair in held_out) + 1):
            tests[f"{length} words"] = [pair for pair in drawn if len(pair.src) == length]
    else:
        train, held_out = corpus(rng, adjectives=data.adjectives)
        tests = {HELD_OUT: held_out}
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

    Examples
    --------
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

    Every adjective keeps at least one noun of each gender, or there would be forms of it that the
    training never shows.

    Examples
    --------
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
    """One thing changed, and how often it is tried.

    Parameters
    ----------
    name : str
    changed : str
        What is changed, in words.
    switches : mapping
        Of `toytf.parameters.Config`; where left out, as in `toytf.translator.SIZES`.
    silent : tuple of str
        Patterns of parameters that are 0 and stay 0, for example ``"encoder.*.w_o"``: a sub-layer
        whose last matrix is 0 adds nothing to its row.
    learning : mapping
        Where it differs from `STANDARD`.
    data : Data
    seeds : int
        Seeds 0, 1, ... up to this number.
    """

    name: str
    changed: str
    switches: Mapping = field(default_factory=dict)
    silent: tuple[str, ...] = ()
    learning: Mapping = field(default_factory=dict)
    data: Data = Data()
    seeds: int = 5

    def settings(self) -> dict:
        """Return all that a result depends on, apart from the seed, as JSON would give it back."""
        about = asdict(self)
        return json.loads(json.dumps({key: about[key] for key in ("switches", "silent", "learning", "data")}))


ENCODER = ("encoder.*.w_o", "encoder.*.w_2", "encoder.*.b_2")
REST = (*ENCODER, "decoder.*.self_attention.w_o", "decoder.*.w_2", "decoder.*.feed_forward.b_2")
REMOVED = {  # name: what is changed, switches, silent
    "nothing": ("nothing is removed", {}, ()),
    "positions": ("no positions are added", {"positions": False}, ()),
    "residual": ("no residual connections", {"residual": False}, ()),
    "norm": ("no layer norm", {"norm": "none"}, ()),
    "residual and norm": ("neither residual connections nor layer norm", {"residual": False, "norm": "none"}, ()),
    "causal mask": ("the decoder sees the whole target", {"causal": False}, ()),
    "cross-attention": ("the decoder does not read the encoder", {"cross_attention": False}, ()),
    "scaling": ("scores are not divided by the root of the head's width", {"scale": False}, ()),
    "second head": ("one head of width 16 for two of width 8", {"n_heads": 1}, ()),
    "encoder": ("the encoder's attention and feed-forward add nothing", {}, ENCODER),
    "encoder attention": ("the encoder's attention adds nothing", {}, ENCODER[:1]),
    "decoder attention": ("the decoder's self-attention adds nothing", {}, ("decoder.*.self_attention.w_o",)),
    "feed-forward": ("all feed-forward networks add nothing", {}, ("*.w_2", "*.feed_forward.b_2")),
    "embedding scale": ("embeddings are not multiplied by the root of d_model", {"scale_embeddings": False}, ()),
    "four heads": ("four heads of width 4 for two of width 8", {"n_heads": 4}, ()),
    "pre-norm": ("the norm before each part", {"norm": "pre"}, ()),
}


def layers(n: int) -> dict:
    """Return the switches for `n` encoder and `n` decoder layers."""
    return {"n_encoder_layers": n, "n_decoder_layers": n}


def _table() -> Iterator[Experiment]:
    for n in (1, 2):
        for name, (changed, switches, silent) in REMOVED.items():
            yield Experiment(f"{name}, {n}+{n}", changed, {**layers(n), **switches}, silent)

    for n in (1, 2):
        words = f"English words in alphabetical order, {n}+{n}"
        yield Experiment(words, words, layers(n), data=Data(alphabetical=True), seeds=3)
    switches = {**layers(2), "residual": False}
    for rate, steps in ((0.03, 500), (0.003, 500), (0.001, 500), (0.003, 1500)):
        words = f"residual, 2+2, learning rate {rate}" + (", 1500 steps" if steps == 1500 else "")
        learning = {"learning_rate": rate, **({"steps": 1500} if steps == 1500 else {})}
        yield Experiment(words, REMOVED["residual"][0], switches, learning=learning, seeds=3)

    # Where a part that seemed useless is needed.
    for rate in (0.01, 0.003):
        for scale in (True, False):
            words = f"d_model 64, one head, learning rate {rate}, {'' if scale else 'not '}scaled"
            sizes = {"d_model": 64, "d_ff": 128, "n_heads": 1, "scale": scale}
            yield Experiment(f"scaling, {words}", words, sizes, learning={"learning_rate": rate})
    for heads in (1, 2, 4, 8):
        words = f"d_model 8, {heads} head{'s'[: heads > 1]} of width {8 // heads}"
        yield Experiment(f"heads, {words}", words, {"d_model": 8, "d_ff": 16, "n_heads": heads})
    for name in ("nothing", "second head", "encoder", "encoder attention", "decoder attention", "feed-forward"):
        changed, switches, silent = REMOVED[name]
        yield Experiment(f"{name}, up to 3 adjectives", changed, switches, silent, {"steps": 1500}, Data((0, 1, 2, 3)))
    for n in (1, 2):
        words = f"residual, {n}+{n}, 1500 steps"
        yield Experiment(words, REMOVED["residual"][0], {**layers(n), "residual": False}, learning={"steps": 1500})
    for rate in (0.01, 0.003):
        learning = {"steps": 600, "warmup": 200, "learning_rate": rate}
        words = f"norm, 4+4, learning rate {rate}, warm-up 200"
        yield Experiment(words, REMOVED["norm"][0], {**layers(4), "norm": "none"}, learning=learning, seeds=3)
    changed = "nothing but the cross-attention works"
    for words, data, learning in (("", Data(), {}), (", up to 3 adjectives", Data((0, 1, 2, 3)), {"steps": 1500})):
        yield Experiment(f"all but cross-attention{words}", changed, {}, REST, learning, data)

    # How much data.
    for n in (200, 400, 800, 1600):
        for smoothing in (0.0, 0.1):
            words = f"{n} sentences" + (", label smoothing 0.1" if smoothing else "")
            yield Experiment(words, words, learning={"label_smoothing": smoothing}, data=Data(learn_from=n))

    # Which unseen things.
    for n in (10, 30, 100, 300):
        words = f"up to 1 adjective, and {n} sentences with 2"
        yield Experiment(words, words, data=Data(with_two=n, more=(2, 3)))
    for share in (0.25, 0.5):
        words = f"{share:g} of all adjective-noun combinations unseen"
        yield Experiment(words, words, data=Data(unseen=share))
    for most in (1, 2, 3):
        for n in (1, 2):
            words = f"learned up to {most} adjectives, {n}+{n}"
            data = Data(adjectives=tuple(range(most + 1)), more=(2, 3, 4))
            learning = {"steps": 1500} if most == 3 else {}
            yield Experiment(words, words, layers(n), (), learning, data)
    for n in (1, 2):
        words = f"learned up to 2 adjectives and up to 7 words, {n}+{n}"
        yield Experiment(words, words, layers(n), data=Data(adjectives=(0, 1, 2), longest=7))

    # Warm-up at depth.
    for n in (4, 6):
        for norm in ("post", "pre"):
            for rate in (0.01, 0.003):
                for warmup in (0, 200):
                    words = f"{n}+{n}, {norm}-norm, learning rate {rate}, warm-up {warmup}"
                    learning = {"steps": 600, "warmup": warmup, "learning_rate": rate}
                    switches, seeds = {**layers(n), "norm": norm}, 3 if norm == "post" else 2
                    yield Experiment(f"depth {words}", words, switches, (), learning, seeds=seeds)


EXPERIMENTS = {experiment.name: experiment for experiment in _table()}


# ---------------------------------------------------------------- one run


@dataclass(frozen=True)
class Result:
    """What came of one run.

    Parameters
    ----------
    loss : float or None
        Of the training: the mean over the last `LAST` steps; None if training broke off.
    right : dict from str to int
        For each test how many of `TESTED` sentences were translated with every token right.
    stopped : int or None
        The step at which numbers were no longer finite; `right` is 0 everywhere then.
    """

    loss: float | None
    right: dict[str, int]
    stopped: int | None = None


def learn(experiment: Experiment, seed: int) -> tuple[Translator, list[Pair], dict[str, list[Pair]], Iterator[Record]]:
    """Set a run up; training happens while the records, which come last, are read.

    Returns
    -------
    translator : Translator
    train : list of Pair
    tests : dict from str to list of Pair
    records : iterator of toytf.train.Record

    Examples
    --------
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

    Raises
    ------
    ValueError
        If a pattern matches nothing.
    """
    arrays = named_arrays(tree)
    for pattern in patterns:
        matched = [array for name, array in arrays.items() if fnmatch(name, pattern)]
        if not matched:
            raise ValueError(f"patterns: expected names such as {next(iter(arrays))!r}, got {pattern!r}")
        for array in matched:
            array[:] = 0


def run(experiment: Experiment, seed: int) -> Result:
    """Train once and test.

    Parameters
    ----------
    experiment : Experiment
    seed : int

    Returns
    -------
    Result
    """
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


# ---------------------------------------------------------------- many runs, and their file


def load(path=STORED) -> dict[str, list[Result]]:
    """Read results: for each experiment's name those of seed 0, 1, and so on.

    Raises
    ------
    ValueError
        If the file is not one of ours.

    Examples
    --------
    >>> [result.right["held out"] for result in load()["nothing, 1+1"]]
    [800, 799, 800, 800, 800]
    """
    found = {}
    for name, kept in _read(path).items():
        seeds = [int(seed) for seed in kept["runs"]]
        found[name] = [Result(**kept["runs"][str(seed)]) for seed in sorted(seeds)]
    return found


def _read(path) -> dict:
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        if content["format"] != "toytf experiments" or content["version"] != 1:
            raise ValueError("another format or version")
        for kept in content["experiments"].values():
            kept["settings"], [Result(**result) for result in kept["runs"].values()]
        return content["experiments"]
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"{path}: expected a file of toytf experiments, got another ({error})") from error


def _write(path: Path, experiments: dict) -> None:
    """Write the file whole or not at all."""
    content = {"format": "toytf experiments", "version": 1, "experiments": experiments}
    write_whole(path, f"{json.dumps(content, indent=1, sort_keys=True)}\n".encode())


def run_all(
    path, experiments: Iterable[Experiment], seeds: int | None = None, report: Callable[[str], None] = print
) -> None:
    """Run what `path` does not hold yet, and write each result into it as soon as it is there.

    Parameters
    ----------
    path : str or path
        Results under other settings than those of today are made anew.
    experiments : iterable of Experiment
    seeds : int, optional
        Only so many of each.
    report : callable
        Gets a line for each run.
    """
    path = Path(path)
    found = _read(path) if path.exists() else {}
    waiting = []
    for experiment in experiments:
        settings = experiment.settings()
        if found.get(experiment.name, {}).get("settings") != settings:
            found[experiment.name] = {"settings": settings, "runs": {}}
        n = experiment.seeds if seeds is None else min(seeds, experiment.seeds)
        waiting += [(experiment, seed) for seed in range(n) if str(seed) not in found[experiment.name]["runs"]]
    report(f"{len(waiting)} run{'s'[: len(waiting) != 1]} to do")
    with progress(waiting, unit="run") as bar:
        for experiment, seed in bar:
            bar.set_postfix_str(experiment.name, refresh=True)
            result = run(experiment, seed)
            found[experiment.name]["runs"][str(seed)] = asdict(result)
            _write(path, {name: kept for name, kept in found.items() if kept["runs"]})
            bar.clear()
            report(f"{experiment.name}, seed {seed}: {_words(result)}")


def _words(result: Result) -> str:
    if result.stopped is not None:
        return f"no longer finite in step {result.stopped}"
    counts = ", ".join(f"{name} {right} of {TESTED}" for name, right in result.right.items())
    return f"loss {result.loss:.4f}; {counts}"
