"""The command ``toytf train``: a small translator from the course's grammar, or from pairs of one's own."""

from __future__ import annotations

import argparse

import numpy as np

from toytf._command import place_for, replaced
from toytf.corpus import read_pairs, split, vocabularies
from toytf.grammar import corpus
from toytf.translator import SIZES, Translator
from toytf.tree import count

EXAMPLES = (
    "toytf train --out model.npz",
    "toytf train --pairs my_sentences.tsv --out model.npz",
    "toytf train --steps 1000 --d-model 32 --seed 1 --out larger.npz",
)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Train a translator from the grammar in toytf.grammar or from a file of sentence pairs. "
        "Ctrl-C stops early and keeps what was learned."
    )
    parser.add_argument("--out", required=True, metavar="FILE", help="where to write the trained model (.npz)")
    parser.add_argument("--pairs", metavar="FILE", help="text file, one pair a line, a tab between source and target")
    parser.add_argument("--seed", type=int, default=0, help="default %(default)s")
    parser.add_argument("--steps", type=int, default=500, help="default %(default)s")
    parser.add_argument("--batch-size", type=int, default=48, help="default %(default)s")
    parser.add_argument("--learning-rate", type=float, default=0.01, help="default %(default)s")
    for name, value in SIZES.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=int, default=value, help="default %(default)s")


def run(options) -> int:
    out = place_for("--out", options.out)  # before the work, not after it
    rng = np.random.default_rng(options.seed)
    if options.pairs is None:
        words = None
        learned, held_out = corpus(rng)
    else:
        pairs = read_pairs(options.pairs)
        words = vocabularies(pairs)
        learned, held_out = split(pairs, rng)
    sizes = {name: getattr(options, name) for name in SIZES}
    translator = Translator.new(rng, words, **sizes)
    print(f"{count(translator.params):,} parameters; {len(learned):,} pairs to learn from, {len(held_out):,} held out")
    record = None
    for record in translator.learn(
        learned, rng, steps=options.steps, batch_size=options.batch_size, learning_rate=options.learning_rate
    ):
        if record.step % max(options.steps // 10, 1) == 0:
            print(f"step {record.step:5}   loss {record.loss:.4f}", flush=True)
    with replaced(out) as new:
        translator.save(new)
    right = translator.exact(held_out)
    print(f"held out: {int(right.sum()):,} of {len(right):,} exactly right after {record.step} steps")
    print(f"written: {options.out}")
    return 0
