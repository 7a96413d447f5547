"""Train again what chapters 18 and 19 report: `python bench/experiments.py FILE [NAME ...]`, in about an hour.

Runs that the file already holds are not repeated: stopped and started again, it goes on where it was.
"""

import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path

from toytf._command import progress, write_whole
from toytf.course.experiments import TESTED, Data, Experiment, Result, read, run

ENCODER = ("encoder.*.w_o", "encoder.*.w_2", "encoder.*.b_2")
REST = (*ENCODER, "decoder.*.self_attention.w_o", "decoder.*.w_2", "decoder.*.feed_forward.b_2")
CHANGES = {  # name: switches, silent
    "nothing": ({}, ()),
    "positions": ({"positions": False}, ()),
    "residual": ({"residual": False}, ()),
    "norm": ({"norm": "none"}, ()),
    "residual and norm": ({"residual": False, "norm": "none"}, ()),
    "causal mask": ({"causal": False}, ()),
    "cross-attention": ({"cross_attention": False}, ()),
    "scaling": ({"scale": False}, ()),
    "second head": ({"n_heads": 1}, ()),
    "encoder": ({}, ENCODER),
    "encoder attention": ({}, ENCODER[:1]),
    "decoder attention": ({}, ("decoder.*.self_attention.w_o",)),
    "feed-forward": ({}, ("*.w_2", "*.feed_forward.b_2")),
    "embedding scale": ({"scale_embeddings": False}, ()),
    "four heads": ({"n_heads": 4}, ()),
    "pre-norm": ({"norm": "pre"}, ()),
}


def layers(n: int) -> dict:
    """Return the switches for `n` encoder and `n` decoder layers."""
    return {"n_encoder_layers": n, "n_decoder_layers": n}


def _without_a_part() -> Iterator[Experiment]:
    for n in (1, 2):
        for name, (switches, silent) in CHANGES.items():
            yield Experiment(f"{name}, {n}+{n}", {**layers(n), **switches}, silent)

    for n in (1, 2):
        words = f"English words in alphabetical order, {n}+{n}"
        yield Experiment(words, layers(n), data=Data(alphabetical=True), seeds=3)
    switches = {**layers(2), "residual": False}
    for rate, steps in ((0.03, 500), (0.003, 500), (0.001, 500), (0.003, 1500)):
        words = f"residual, 2+2, learning rate {rate}" + (", 1500 steps" if steps == 1500 else "")
        learning = {"learning_rate": rate, **({"steps": 1500} if steps == 1500 else {})}
        yield Experiment(words, switches, learning=learning, seeds=3)


def _where_it_is_needed() -> Iterator[Experiment]:
    for rate in (0.01, 0.003):
        for scale in (True, False):
            words = f"d_model 64, one head, learning rate {rate}, {'' if scale else 'not '}scaled"
            sizes = {"d_model": 64, "d_ff": 128, "n_heads": 1, "scale": scale}
            yield Experiment(f"scaling, {words}", sizes, learning={"learning_rate": rate})
    for heads in (1, 2, 4, 8):
        words = f"d_model 8, {heads} head{'s'[: heads > 1]} of width {8 // heads}"
        yield Experiment(f"heads, {words}", {"d_model": 8, "d_ff": 16, "n_heads": heads})
    for name in ("nothing", "second head", "encoder", "encoder attention", "decoder attention", "feed-forward"):
        switches, silent = CHANGES[name]
        yield Experiment(f"{name}, up to 3 adjectives", switches, silent, {"steps": 1500}, Data((0, 1, 2, 3)))


def _with_more_steps() -> Iterator[Experiment]:
    for n in (1, 2):
        words = f"residual, {n}+{n}, 1500 steps"
        yield Experiment(words, {**layers(n), "residual": False}, learning={"steps": 1500})
    for rate in (0.01, 0.003):
        learning = {"steps": 600, "warmup": 200, "learning_rate": rate}
        words = f"norm, 4+4, learning rate {rate}, warm-up 200"
        yield Experiment(words, {**layers(4), "norm": "none"}, learning=learning, seeds=3)
    for words, data, learning in (("", Data(), {}), (", up to 3 adjectives", Data((0, 1, 2, 3)), {"steps": 1500})):
        yield Experiment(f"all but cross-attention{words}", {}, REST, learning, data)


def _how_much_data() -> Iterator[Experiment]:
    for n in (200, 400, 800, 1600):
        for smoothing in (0.0, 0.1):
            words = f"{n} sentences" + (", label smoothing 0.1" if smoothing else "")
            yield Experiment(words, learning={"label_smoothing": smoothing}, data=Data(learn_from=n))


def _unseen() -> Iterator[Experiment]:
    for n in (10, 30, 100, 300):
        words = f"up to 1 adjective, and {n} sentences with 2"
        yield Experiment(words, data=Data(with_two=n, more=(2, 3)))
    for share in (0.25, 0.5):
        words = f"{share:g} of all adjective-noun combinations unseen"
        yield Experiment(words, data=Data(unseen=share))
    for most in (1, 2, 3):
        for n in (1, 2):
            words = f"learned up to {most} adjectives, {n}+{n}"
            data = Data(adjectives=tuple(range(most + 1)), more=(2, 3, 4))
            learning = {"steps": 1500} if most == 3 else {}
            yield Experiment(words, layers(n), (), learning, data)
    for n in (1, 2):
        words = f"learned up to 2 adjectives and up to 7 words, {n}+{n}"
        yield Experiment(words, layers(n), data=Data(adjectives=(0, 1, 2), longest=7))


def _warmup_at_depth() -> Iterator[Experiment]:
    for n in (4, 6):
        for norm in ("post", "pre"):
            for rate in (0.01, 0.003):
                for warmup in (0, 200):
                    words = f"{n}+{n}, {norm}-norm, learning rate {rate}, warm-up {warmup}"
                    learning = {"steps": 600, "warmup": warmup, "learning_rate": rate}
                    switches, seeds = {**layers(n), "norm": norm}, 3 if norm == "post" else 2
                    yield Experiment(f"depth {words}", switches, (), learning, seeds=seeds)


TABLE = (_without_a_part, _where_it_is_needed, _with_more_steps, _how_much_data, _unseen, _warmup_at_depth)
EXPERIMENTS = {experiment.name: experiment for part in TABLE for experiment in part()}


def settings(experiment: Experiment) -> dict:
    """All that a result depends on, apart from the seed, as JSON would give it back."""
    about = asdict(experiment)
    return json.loads(json.dumps({key: about[key] for key in ("switches", "silent", "learning", "data")}))


def _write(path: Path, experiments: dict) -> None:
    """Write the file whole or not at all."""
    content = {"format": "toytf experiments", "version": 1, "experiments": experiments}
    write_whole(path, f"{json.dumps(content, indent=1)}\n".encode())


def run_all(path, experiments: Iterable[Experiment], report=print) -> None:
    """Run what `path` does not hold yet, and write each result into it as soon as it is there.

    Parameters
    ----------
    path : str or path
        Results under other settings than those of today are made anew.
    experiments : iterable of Experiment
    report : callable
        Gets a line for each run.
    """
    path = Path(path)
    found = read(path) if path.exists() else {}
    waiting = []
    for experiment in experiments:
        today = settings(experiment)
        if found.get(experiment.name, {}).get("settings") != today:
            found[experiment.name] = {"settings": today, "runs": {}}
        waiting += [
            (experiment, seed) for seed in range(experiment.seeds) if str(seed) not in found[experiment.name]["runs"]
        ]
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


if __name__ == "__main__":
    run_all(sys.argv[1], [EXPERIMENTS[name] for name in sys.argv[2:] or EXPERIMENTS])
