"""What chapter 22 shows of time, measured: `python bench/speed.py toytf/course/data/bench.json`.

How fast the base model runs, beside the machine's own speed, which is that of a matrix product in the same run; and
what part of an encoder layer's time goes into rows that meet rows.
"""

import gc
import json
import os
import sys
import time
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from toytf.attention import attention, split_heads
from toytf.model import Config, encoder_layer, forward, init

VOCABULARY, BATCH, LENGTH, THREADS = 1000, 32, 128, 2
BASE = Config(VOCABULARY, VOCABULARY)  # all else as in the paper


def seconds(work) -> float:
    """Run once and say how long it took."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def medians(works: list, rounds: int) -> list[float]:
    """Median seconds of each; they take turns, so that a slow moment of the machine hits all."""
    for work in works:
        work()
    gc.collect()
    gc.disable()
    try:
        times = [[seconds(work) for work in works] for _ in range(rounds)]
    finally:
        gc.enable()
    return np.median(times, axis=0).tolist()


def short(value: float) -> float:
    return float(f"{value:.4g}")


def forward_pass() -> dict:
    """The paper's base model forward, beside a product of two square matrices."""
    rng = np.random.default_rng(0)
    params = init(BASE, rng, np.float32)
    src, tgt = (rng.integers(0, VOCABULARY, (BATCH, LENGTH)) for _ in range(2))
    a = rng.normal(size=(1536, 1536)).astype(np.float32)
    with threadpool_limits(THREADS):
        ours, product = medians([lambda: forward(params, BASE, src, tgt, keep_trace=False), lambda: a @ a], 9)
    rate = len(a) ** 3 / product / 1e9
    d, n = BASE.d_model, BATCH * LENGTH
    layer = 4 * n * d * d + 2 * BATCH * LENGTH**2 * d  # one attention: four products, scores and sums
    feed_forward = 2 * n * d * BASE.d_ff
    products = 6 * (layer + feed_forward) + 6 * (2 * layer + feed_forward) + n * d * VOCABULARY
    share = products / ours / 1e9 / rate
    return {"matmul rate, 1e9 a second": short(rate), "share of the matmul rate": short(share), "threads": THREADS}


def attention_share() -> dict:
    """What part of an encoder layer's time goes into rows meeting rows: scores, softmax, sums."""
    rng = np.random.default_rng(0)
    layer = init(BASE, rng, np.float32).encoder[0]
    lengths, shares = [64, 128, 256, 512, 1024, 2048], []
    with threadpool_limits(1):
        for length in lengths:
            x = rng.normal(size=(length, BASE.d_model)).astype(np.float32)
            q, k, v = (split_heads(x, BASE.n_heads) for _ in range(3))
            works = [lambda q=q, k=k, v=v: attention(q, k, v), lambda x=x: encoder_layer(layer, BASE, x)]
            part, whole = medians(works, 15)
            shares.append(short(part / whole))
    return {"d_model": BASE.d_model, "lengths": lengths, "share": shares}


def main(path: Path) -> None:
    found = {
        "attention_share": attention_share(),
        "parts": {f"forward, base, {BATCH} x {LENGTH}, float32, {THREADS} threads": forward_pass()},
        "date": time.strftime("%Y-%m-%d"),
        "machine": f"{os.cpu_count()} cores, NumPy {np.__version__}",
    }
    path.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
