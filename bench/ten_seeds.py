"""Ten translators from ten seeds: `python bench/ten_seeds.py [--seeds N]`.

Each learns from 3,200 sentence pairs in float64 and then translates 10,800 sentences that it has
never seen. The bar: less than 3 seconds of the processor for the training, and at least 99.95 % of the
sentences exactly right, for every seed. (The clock would measure what else the machine does.) The exit
status is 1 if a seed stays below it.
"""

import argparse
import sys
import time

import numpy as np
from threadpoolctl import threadpool_info
from tqdm import tqdm

from toytf.grammar import HELLO_WORLD, corpus, draw_pairs
from toytf.translator import Translator
from toytf.tree import count

SECONDS, SHARE, MORE = 3.0, 0.9995, 10_000


def one(seed):
    """Train from one seed; return the processor's seconds, the last record, and what came out right."""
    rng = np.random.default_rng(seed)
    learned, held_out = corpus(rng)
    translator = Translator.new(rng)
    begin = time.process_time()
    *_, last = translator.learn(learned, rng, progress=False)
    seconds = time.process_time() - begin
    unseen = held_out + draw_pairs(rng, MORE, without=learned + held_out)
    return translator, seconds, last, translator.exact(unseen), bool(translator.exact([HELLO_WORLD])[0])


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10, help="how many (default 10)")
    seeds = parser.parse_args(arguments).seeds
    for pool in threadpool_info():
        if pool["user_api"] == "blas":
            print(f"{pool['internal_api']} {pool['version']}, {pool['num_threads']} threads, {pool['architecture']}")
    print(f"{'seed':>4} {'seconds':>8} {'steps':>6} {'loss':>8} {'exactly right':>18} {'share':>9}  hello world")
    passed = True
    for seed in tqdm(range(seeds), leave=False, unit="seed", disable=None):
        translator, seconds, last, right, hello = one(seed)
        good = seconds < SECONDS and right.mean() >= SHARE and hello
        passed &= good
        counted = f"{right.sum():,} of {len(right):,}"
        print(
            f"{seed:>4} {seconds:>8.2f} {last.step:>6} {last.loss:>8.4f} {counted:>18} {right.mean():>9.4%}"
            f"  {'hola mundo' if hello else 'wrong'}{'' if good else '   below the bar'}",
            flush=True,
        )
    print(f"{count(translator.params):,} parameters, {translator.params.output.weight.dtype}")
    print(f"bar: under {SECONDS} s of the processor, {SHARE:.2%} exactly right")
    print("passed" if passed else "NOT passed")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
