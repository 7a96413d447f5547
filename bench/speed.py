"""toytf beside PyTorch, and how cost grows: `python bench/speed.py toytf/course/data/bench.json`.

One process measures everything. Where two sides are compared they take turns, round by round, so
that a slow moment of the machine hits both; the ratio is the median of the rounds' ratios. The
machine's own speed, its matrix product and its memory, is measured in the same run. Before anything
is timed the two sides have to give the same numbers.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import torch
from threadpoolctl import threadpool_limits
from tqdm import tqdm

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "with_torch"))
import bridge
from toytf.attention import MultiHead, attention, multi_head_attention, split_heads
from toytf.generate import start, stepper
from toytf.model import Config, backward, encoder_layer, forward, init
from toytf.ops import cross_entropy, cross_entropy_backward, softmax
from toytf.optim import Adam
from toytf.tree import count

VOCABULARY = 1000
BASE = {"d_model": 512, "n_heads": 8, "d_ff": 2048, "n_encoder_layers": 6, "n_decoder_layers": 6}
F32, F64 = np.float32, np.float64


# ---------------------------------------------------------------- measuring


def seconds(work) -> float:
    """Run once and say how long it took."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def summary(values) -> dict:
    """Median and quartiles, six significant digits."""
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    return {"median": float(f"{middle:.6g}"), "quartiles": [float(f"{low:.6g}"), float(f"{high:.6g}")]}


def take_turns(sides: dict, rounds: int) -> dict:
    """Time all sides in every round; return their seconds and the ratios to the last side."""
    for work in sides.values():
        work(), work()
    gc.collect()
    gc.disable()
    try:
        times = {name: [] for name in sides}
        for _ in range(rounds):
            for name, work in sides.items():
                times[name].append(seconds(work))
    finally:
        gc.enable()
    *ours, last = sides
    found = {name: summary(t) for name, t in times.items()}
    for name in ours:
        ratios = np.array(times[name]) / np.array(times[last])
        found[f"{name} / {last}"] = summary(ratios)
    found["rounds"] = rounds
    return found


def limited_to(n: int) -> threadpool_limits:
    """Set the threads of both sides; NumPy's until the end of the block."""
    torch.set_num_threads(n)
    return threadpool_limits(n)


def matmul_rate(dtype, n: int = 1536, rounds: int = 7) -> float:
    """The machine's rate of multiplications with additions in a square matrix product, in 1e9 a second."""
    a = np.random.default_rng(0).normal(size=(n, n)).astype(dtype)
    return n**3 / np.median([seconds(lambda: a @ a) for _ in range(rounds)]) / 1e9


# ---------------------------------------------------------------- beside PyTorch


def close(ours, theirs, dtype, what):
    """Stop unless both sides agree: no time is worth anything otherwise."""
    tolerance = 1e-10 if dtype == F64 else 2e-3
    gap = float(np.abs(np.asarray(ours, F64) - np.asarray(theirs, F64)).max())
    if not gap < tolerance:
        raise AssertionError(f"{what}: expected agreement to {tolerance}, got a gap of {gap}")


def training_step(sizes: dict, batch: int, length: int, dtype, threads: int, rounds: int) -> dict:
    """Forward, loss, backward, Adam."""
    rng = np.random.default_rng(0)
    cfg = Config(VOCABULARY // 10, VOCABULARY // 10, **sizes)
    params = init(cfg, rng, dtype)
    src, tgt, goal = (rng.integers(0, cfg.tgt_vocab, (batch, length)) for _ in range(3))
    t_src, t_tgt, t_goal = map(torch.from_numpy, (src, tgt, goal))
    adam = Adam()

    def gradients():
        logits, trace = forward(params, cfg, src, tgt)
        loss, loss_trace = cross_entropy(logits, goal)
        return loss, backward(params, cfg, trace, cross_entropy_backward(loss_trace))

    def ours():
        adam.step(params, gradients()[1], 1e-4)

    def their_gradients(model, optimiser):
        optimiser.zero_grad()
        logits = model(t_src, t_tgt)
        loss = torch.nn.functional.cross_entropy(logits.reshape(-1, cfg.tgt_vocab), t_goal.reshape(-1))
        loss.backward()
        return loss

    model = bridge.Model(params, cfg)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9)
    loss, grads = gradients()
    close(loss, their_gradients(model, optimiser).item(), dtype, "loss")
    close(grads.output.weight, model.output.weight.grad.T, dtype, "gradient")

    def theirs():
        their_gradients(model, optimiser)
        optimiser.step()

    with limited_to(threads):
        return take_turns({"toytf": ours, "torch": theirs}, rounds) | {"threads": threads, "parameters": count(params)}


def forward_pass(batch: int, length: int, dtype, threads: int, rounds: int) -> dict:
    """The paper's base model forward, both sides without gradients."""
    rng = np.random.default_rng(0)
    cfg = Config(VOCABULARY, VOCABULARY, **BASE)
    params = init(cfg, rng, dtype)
    src, tgt = (rng.integers(0, VOCABULARY, (batch, length)) for _ in range(2))
    t_src, t_tgt = map(torch.from_numpy, (src, tgt))
    model = bridge.Model(params, cfg).eval()

    def theirs():
        with torch.inference_mode():
            return model(t_src, t_tgt)

    def ours():
        return forward(params, cfg, src, tgt, keep_trace=False)[0]

    close(ours(), theirs().numpy(), dtype, "logits")
    with limited_to(threads):
        rate = matmul_rate(dtype)
        found = take_turns({"toytf": ours, "torch": theirs}, rounds)
    d, n = cfg.d_model, batch * length
    layer = 4 * n * d * d + 2 * batch * length**2 * d  # one attention: four products, scores and sums
    feed_forward = 2 * n * d * cfg.d_ff
    products = 6 * (layer + feed_forward) + 6 * (2 * layer + feed_forward) + n * d * VOCABULARY
    found["share of the matmul rate"] = float(f"{products / found['toytf']['median'] / 1e9 / rate:.4g}")
    return found | {"threads": threads, "matmul rate, 1e9 a second": float(f"{rate:.4g}")}


def cached_against_prefix(length: int, rounds: int) -> dict:
    """One cached step of ours at a length, against torch computing the whole prefix."""
    cfg = Config(VOCABULARY, VOCABULARY, **BASE)
    rng = np.random.default_rng(0)
    params = init(cfg, rng, F32)
    src, tgt = rng.integers(0, VOCABULARY, (1, 30)), rng.integers(0, VOCABULARY, (1, length))
    model = bridge.Model(params, cfg).eval()
    t_src, t_tgt = map(torch.from_numpy, (src, tgt))
    step, state = stepper(params, cfg), start(params, cfg, src)
    with torch.inference_mode():
        memory = model.transformer.encoder(model.rows(model.src_embedding, t_src))
        mask = bridge.attn_mask(np.tri(length, dtype=bool))
    for token in tgt[0, :-1]:
        _, state = step(state, [token])

    def ours():
        return step(state, [tgt[0, -1]])[0]

    def theirs():
        with torch.inference_mode():
            rows = model.transformer.decoder(model.rows(model.tgt_embedding, t_tgt), memory, tgt_mask=mask)
            return model.output(rows[:, -1])

    close(ours(), theirs().numpy(), F32, "logits of a cached step")
    with limited_to(1):
        return take_turns({"toytf": ours, "torch": theirs}, rounds) | {"threads": 1, "length": length}


# ---------------------------------------------------------------- how cost grows


def exponent(sizes, times) -> float:
    """The slope of time against size, both as logarithms."""
    return float(f"{np.polyfit(np.log(sizes), np.log(times), 1)[0]:.3g}")


def growth(rounds: int) -> dict:
    """Forward and training step against length, width, depth and batch."""
    common = {"d_model": 128, "layers": 2, "batch": 8, "length": 32}
    ways = {
        "length": (32, 64, 128, 256, 512),
        "d_model": (64, 128, 256, 512),
        "layers": (1, 2, 4, 8),
        "batch": (4, 8, 16, 32),
    }
    found = {}
    for way, values in ways.items():
        forwards, steps = [], []
        for value in values:
            how = common | {way: value}
            sizes = {"d_model": how["d_model"], "n_heads": 4, "d_ff": 4 * how["d_model"]}
            cfg = Config(100, 100, **sizes, n_encoder_layers=how["layers"], n_decoder_layers=how["layers"])
            rng = np.random.default_rng(0)
            params, adam = init(cfg, rng, F32), Adam()
            ids = rng.integers(0, 100, (how["batch"], how["length"]))

            def step(params=params, cfg=cfg, ids=ids, adam=adam):
                logits, trace = forward(params, cfg, ids, ids)
                _, loss_trace = cross_entropy(logits, ids)
                adam.step(params, backward(params, cfg, trace, cross_entropy_backward(loss_trace)), 1e-4)

            with limited_to(1):
                step()
                alone = partial(forward, params, cfg, ids, ids, keep_trace=False)
                forwards.append(np.median([seconds(alone) for _ in range(rounds)]))
                steps.append(np.median([seconds(step) for _ in range(rounds)]))
        found[way] = {"exponents": {"forward": exponent(values, forwards), "training step": exponent(values, steps)}}
    return {"common": common, "ways": found, "threads": 1, "dtype": "float32"}


def attention_share(rounds: int) -> dict:
    """What part of an encoder layer's time goes into rows meeting rows: scores, softmax, sums."""
    cfg = Config(100, 100, **BASE)
    rng = np.random.default_rng(0)
    layer = init(cfg, rng, F32).encoder[0]
    lengths, shares = (64, 128, 256, 512, 1024, 2048), []
    with limited_to(1):
        for length in lengths:
            x = rng.normal(size=(length, cfg.d_model)).astype(F32)
            q, k, v = (split_heads(x, cfg.n_heads) for _ in range(3))
            sides = {
                "part": lambda q=q, k=k, v=v: attention(q, k, v),
                "layer": lambda x=x: encoder_layer(layer, cfg, x),
            }
            found = take_turns(sides, rounds)
            shares.append(float(f"{found['part']['median'] / found['layer']['median']:.4g}"))
    return {"d_model": cfg.d_model, "d_ff": cfg.d_ff, "lengths": list(lengths), "share": shares, "threads": 1}


def source_style(rounds: int) -> dict:
    """The first source's way, a loop over heads with weights drawn anew, against all heads at once."""
    rng = np.random.default_rng(0)
    heads, d_model, d_head, length = 8, 512, 64, 64
    x = rng.normal(size=(length, d_model))

    def source():
        found = []
        for _ in range(heads):
            w_q, w_k, w_v = (rng.normal(size=(d_model, d_head)) for _ in range(3))
            found.append(softmax((x @ w_q) @ (x @ w_k).T / 8) @ (x @ w_v))
        return np.concatenate(found, axis=1) @ rng.normal(size=(heads * d_head, d_model))

    weights = [rng.normal(size=(heads, d_model, d_head)) for _ in range(3)]
    w_o = rng.normal(size=(heads * d_head, d_model))
    p = MultiHead.from_heads(*weights, w_o)

    def loop():
        found = [softmax((x @ q) @ (x @ k).T / 8) @ (x @ v) for q, k, v in zip(*weights, strict=True)]
        return np.concatenate(found, axis=1) @ w_o

    def ours():
        return multi_head_attention(p, x, n_heads=heads)[0]

    close(loop(), ours(), F64, "loop over heads")
    with limited_to(1):
        return take_turns({"drawn anew, loop": source, "loop": loop, "toytf": ours}, rounds) | {"threads": 1}


# ---------------------------------------------------------------- all of it


def steps(d_model, layers, batch, length, dtype, rounds):
    """Training steps of a small model, on one thread."""
    sizes = {"d_model": d_model, "n_heads": 2 if d_model == 32 else 4 if d_model < 512 else 8, "d_ff": 4 * d_model}
    sizes |= {"n_encoder_layers": layers, "n_decoder_layers": layers}
    return partial(training_step, sizes, batch, length, dtype, 1, rounds)


PARTS = {
    "step, d 32, 1+1, float32": steps(32, 1, 64, 10, F32, 200),
    "step, d 32, 2+2, float32": steps(32, 2, 64, 10, F32, 150),
    "step, d 64, 2+2, float32": steps(64, 2, 64, 10, F32, 80),
    "step, d 256, 2+2, float32": steps(256, 2, 64, 10, F32, 20),
    "step, d 512, 2+2, 16 x 64, float32": steps(512, 2, 16, 64, F32, 10),
    "step, d 32, 1+1, float64": steps(32, 1, 64, 10, F64, 150),
    "step, d 64, 2+2, float64": steps(64, 2, 64, 10, F64, 50),
    "forward, base, 32 x 128, float32, 2 threads": partial(forward_pass, 32, 128, F32, 2, 9),
    "forward, base, 8 x 64, float32, 2 threads": partial(forward_pass, 8, 64, F32, 2, 30),
    "forward, base, 8 x 64, float64, 1 thread": partial(forward_pass, 8, 64, F64, 1, 9),
    "decode step at 512 against the prefix": partial(cached_against_prefix, 512, 15),
    "growth": partial(growth, 9),
    "share of attention": partial(attention_share, 15),
    "loop over heads": partial(source_style, 100),
}


def for_the_book(found: dict) -> dict:
    """What chapter 22 shows, from all results."""
    table = []
    for name, result in found.items():
        if "toytf / torch" in result:
            ratio = result["toytf / torch"]
            low, high = ratio["quartiles"]
            row = {"ratio": ratio["median"], "low": low, "high": high}
            table.append({"work": name} | {key: round(value, 4) for key, value in row.items()})
    share = found["share of attention"]
    return {
        "ratio_is": "time of toytf / time of PyTorch",
        "table": table,
        "attention_share": {key: share[key] for key in ("d_model", "lengths", "share")},
        "date": time.strftime("%Y-%m-%d"),
        "machine": f"{os.cpu_count()} cores, NumPy {np.__version__}, PyTorch {torch.__version__}; threads as each row "
        "says",
        "parts": found,
    }


def main(path: Path) -> None:
    """Measure, and write the results as JSON."""
    found = {name: work() for name, work in tqdm(PARTS.items(), disable=None)}
    path.write_text(json.dumps(for_the_book(found), indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
