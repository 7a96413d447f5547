"""toytf beside PyTorch, and how cost grows: `python bench/speed.py [--out FILE] [--only PART] [--quick]`.

One process measures everything. Where two sides are compared they take turns, round by round, so
that a slow moment of the machine hits both; the ratio is the median of the rounds' ratios. The
machine's own speed, its matrix product and its memory, is measured in the same run. Before anything
is timed the two sides have to give the same numbers.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import sys
import time
import tracemalloc
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import torch
from threadpoolctl import threadpool_limits
from tqdm import tqdm

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "with_torch"))
import bridge

from toytf.attention import MultiHead, attention, multi_head_attention, split_heads
from toytf.generate import beam_search, start, stepper
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


def median_seconds(rounds: int, work, *arguments, **how) -> float:
    """Run so many times and give the median."""
    return float(np.median([seconds(partial(work, *arguments, **how)) for _ in range(rounds)]))


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


class Threads:
    """Set the threads of both sides."""

    def __init__(self, n: int):
        self.n = n

    def __enter__(self):
        self.before = torch.get_num_threads()
        torch.set_num_threads(self.n)
        self.limits = threadpool_limits(self.n)
        return self

    def __exit__(self, *error):
        self.limits.restore_original_limits()
        torch.set_num_threads(self.before)


def matmul_rate(dtype, n: int = 1536, rounds: int = 7) -> float:
    """The machine's rate of multiplications with additions in a square matrix product, in 1e9 a second."""
    a = np.random.default_rng(0).normal(size=(n, n)).astype(dtype)
    return n**3 / np.median([seconds(lambda: a @ a) for _ in range(rounds)]) / 1e9


def memory_rate(megabytes: int = 256, rounds: int = 7) -> float:
    """How fast a row times a matrix reads the matrix, in 1e9 bytes a second."""
    w = np.ones((megabytes * 1024 * 256 // 512, 512), F32)
    x = np.ones(len(w), F32)
    return w.nbytes / np.median([seconds(lambda: x @ w) for _ in range(rounds)]) / 1e9


# ---------------------------------------------------------------- beside PyTorch


def close(ours, theirs, dtype, what):
    """Stop unless both sides agree: no time is worth anything otherwise."""
    tolerance = 1e-10 if dtype == F64 else 2e-3
    gap = float(np.abs(np.asarray(ours, F64) - np.asarray(theirs, F64)).max())
    if not gap < tolerance:
        raise AssertionError(f"{what}: expected agreement to {tolerance}, got a gap of {gap}")


def training_step(sizes: dict, batch: int, length: int, dtype, threads: int, rounds: int) -> dict:
    """Forward, loss, backward, Adam; torch with Adam as it comes and with the fused one."""
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

    def theirs(model, optimiser):
        optimiser.zero_grad()
        logits = model(t_src, t_tgt)
        loss = torch.nn.functional.cross_entropy(logits.reshape(-1, cfg.tgt_vocab), t_goal.reshape(-1))
        loss.backward()
        optimiser.step()
        return loss

    sides = {"toytf": ours}
    for name, fused in (("torch fused", True), ("torch", False)):
        model = bridge.Model(params, cfg)
        options = {"lr": 1e-4, "betas": (0.9, 0.98), "eps": 1e-9, "fused": fused}
        optimiser = torch.optim.Adam(model.parameters(), **options)
        if not fused:
            loss, grads = gradients()
            optimiser.zero_grad()
            logits = model(t_src, t_tgt)
            their_loss = torch.nn.functional.cross_entropy(logits.reshape(-1, cfg.tgt_vocab), t_goal.reshape(-1))
            their_loss.backward()
            close(loss, their_loss.item(), dtype, "loss")
            close(grads.output.weight, bridge.from_model(model, bridge.gradients).output.weight, dtype, "gradient")
        sides[name] = lambda model=model, optimiser=optimiser: theirs(model, optimiser)
    with Threads(threads):
        return take_turns(sides, rounds) | {"threads": threads, "parameters": count(params)}


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
    with Threads(threads):
        rate = matmul_rate(dtype)
        found = take_turns({"toytf": ours, "torch": theirs}, rounds)
    d, n = cfg.d_model, batch * length
    layer = 4 * n * d * d + 2 * batch * length**2 * d  # one attention: four products, scores and sums
    feed_forward = 2 * n * d * cfg.d_ff
    products = 6 * (layer + feed_forward) + 6 * (2 * layer + feed_forward) + n * d * VOCABULARY
    found["share of the matmul rate"] = float(f"{products / found['toytf']['median'] / 1e9 / rate:.4g}")
    return found | {"threads": threads, "matmul rate, 1e9 a second": float(f"{rate:.4g}")}


def decode_step(rounds: int) -> dict:
    """One cached step of the base model for one sentence, against the memory's speed."""
    cfg = Config(VOCABULARY, VOCABULARY, **BASE)
    params = init(cfg, np.random.default_rng(0), F32)
    step, src = stepper(params, cfg), np.arange(30)[None] % VOCABULARY
    with Threads(1):
        _, state = step(start(params, cfg, src), [1])
        times = [seconds(lambda: step(state, [1])) for _ in range(rounds + 3)][3:]
        rate = memory_rate()
    # What one token reads: the decoder's weights but keys and values of the memory, and the output.
    read = count(params.decoder) + count(params.output) - 6 * 2 * cfg.d_model**2
    share = 4 * read / np.median(times) / 1e9 / rate
    return {
        "seconds": summary(times),
        "share of the memory rate": float(f"{share:.4g}"),
        "memory rate, 1e9 bytes a second": float(f"{rate:.4g}"),
        "threads": 1,
    }


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
    with Threads(1):
        return take_turns({"toytf": ours, "torch": theirs}, rounds) | {"threads": 1, "length": length}


# ---------------------------------------------------------------- how cost grows


def exponent(sizes, times) -> float:
    """The slope of time against size, both as logarithms."""
    return float(f"{np.polyfit(np.log(sizes), np.log(times), 1)[0]:.3g}")


def growth(rounds: int) -> dict:
    """Forward and training step against length, width, depth and batch."""
    common = {"d_model": 128, "n_heads": 4, "d_ff": 512, "layers": 2, "batch": 8, "length": 32}
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
            if way == "d_model":
                how["d_ff"] = 4 * value
            cfg = Config(
                100,
                100,
                **{k: how[k] for k in ("d_model", "n_heads", "d_ff")},
                n_encoder_layers=how["layers"],
                n_decoder_layers=how["layers"],
            )
            rng = np.random.default_rng(0)
            params, adam = init(cfg, rng, F32), Adam()
            ids = rng.integers(0, 100, (how["batch"], how["length"]))

            def step(params=params, cfg=cfg, ids=ids, adam=adam):
                logits, trace = forward(params, cfg, ids, ids)
                _, loss_trace = cross_entropy(logits, ids)
                adam.step(params, backward(params, cfg, trace, cross_entropy_backward(loss_trace)), 1e-4)

            with Threads(1):
                step()
                forwards.append(median_seconds(rounds, forward, params, cfg, ids, ids, keep_trace=False))
                steps.append(median_seconds(rounds, step))
        found[way] = {
            "values": list(values),
            "forward": [float(f"{t:.4g}") for t in forwards],
            "training step": [float(f"{t:.4g}") for t in steps],
            "exponents": {"forward": exponent(values, forwards), "training step": exponent(values, steps)},
        }
    return {"common": common, "ways": found, "threads": 1, "dtype": "float32"}


def decoding(rounds: int) -> dict:
    """A step after so many tokens, with and without cache; writing with beams of different widths."""
    cfg = Config(100, 100, d_model=128, n_heads=4, d_ff=512, n_encoder_layers=2, n_decoder_layers=2)
    params = init(cfg, np.random.default_rng(0), F32)
    step, src = stepper(params, cfg), np.arange(20)[None]
    lengths, cached, plain = (16, 32, 64, 128, 256, 512, 1024), [], []
    with Threads(1):
        ids, state = np.arange(max(lengths)) % 100, start(params, cfg, src)
        for place in range(max(lengths)):
            if place + 1 in lengths:
                cached.append(median_seconds(rounds, step, state, [1]))
                prefix = replace(start(params, cfg, src, cached=False), ids=ids[None, :place])
                plain.append(median_seconds(rounds, step, prefix, [1]))
            _, state = step(state, ids[place : place + 1])
        widths, beams = (1, 2, 4, 8, 16), []
        for width in widths:
            how = {"sos": 1, "eos": -1, "max_length": 24, "width": width}  # an end that never comes
            beams.append(median_seconds(5, beam_search, step, start(params, cfg, src), **how))
    return {
        "lengths": list(lengths),
        "with cache": [float(f"{t:.4g}") for t in cached],
        "without cache": [float(f"{t:.4g}") for t in plain],
        "exponents": {"with cache": exponent(lengths, cached), "without cache": exponent(lengths, plain)},
        "beam": {
            "widths": list(widths),
            "seconds": [float(f"{t:.4g}") for t in beams],
            "exponent": exponent(widths, beams),
        },
        "threads": 1,
    }


def peak_memory() -> dict:
    """The largest sum of arrays alive at once, forward and in a training step."""
    found = {}
    for length in (32, 64, 128, 256):
        cfg = Config(100, 100, d_model=128, n_heads=4, d_ff=512, n_encoder_layers=2, n_decoder_layers=2)
        params, ids = init(cfg, np.random.default_rng(0), F32), np.arange(8 * length).reshape(8, length) % 100
        tracemalloc.start()
        forward(params, cfg, ids, ids, keep_trace=False)
        no_trace = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        logits, trace = forward(params, cfg, ids, ids)
        after_forward = tracemalloc.get_traced_memory()[1]
        _, loss_trace = cross_entropy(logits, ids)
        backward(params, cfg, trace, cross_entropy_backward(loss_trace))
        step = tracemalloc.get_traced_memory()[1]
        found[str(length)] = {"forward, no trace": no_trace, "forward": after_forward, "training step": step}
        tracemalloc.stop()
    return {"bytes": found, "batch": 8}


def attention_share(rounds: int) -> dict:
    """What part of an encoder layer's time goes into rows meeting rows: scores, softmax, sums."""
    cfg = Config(100, 100, **BASE)
    rng = np.random.default_rng(0)
    layer = init(cfg, rng, F32).encoder[0]
    lengths, shares = (64, 128, 256, 512, 1024, 2048), []
    with Threads(1):
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
    with Threads(1):
        return take_turns({"drawn anew, loop": source, "loop": loop, "toytf": ours}, rounds) | {"threads": 1}


# ---------------------------------------------------------------- all of it


def small(d_model, layers, **how):
    """Sizes of the small models of the comparison."""
    sizes = {"d_model": d_model, "n_heads": 2 if d_model == 32 else 4 if d_model < 512 else 8, "d_ff": 4 * d_model}
    return sizes | {"n_encoder_layers": layers, "n_decoder_layers": layers}


def parts(quick: bool) -> dict:
    """Name and work of every measurement, in the order of the report."""
    n = (lambda rounds: max(5, rounds // 10)) if quick else (lambda rounds: rounds)
    return {
        "step, d 32, 1+1, float32": lambda: training_step(small(32, 1), 64, 10, F32, 1, n(200)),
        "step, d 32, 2+2, float32": lambda: training_step(small(32, 2), 64, 10, F32, 1, n(150)),
        "step, d 64, 2+2, float32": lambda: training_step(small(64, 2), 64, 10, F32, 1, n(80)),
        "step, d 256, 2+2, float32": lambda: training_step(small(256, 2), 64, 10, F32, 1, n(20)),
        "step, d 512, 2+2, 16 x 64, float32": lambda: training_step(small(512, 2), 16, 64, F32, 1, n(10)),
        "step, d 32, 1+1, float64": lambda: training_step(small(32, 1), 64, 10, F64, 1, n(150)),
        "step, d 64, 2+2, float64": lambda: training_step(small(64, 2), 64, 10, F64, 1, n(50)),
        "forward, base, 32 x 128, float32, 2 threads": lambda: forward_pass(32, 128, F32, 2, n(9)),
        "forward, base, 8 x 64, float32, 2 threads": lambda: forward_pass(8, 64, F32, 2, n(30)),
        "forward, base, 8 x 64, float64, 1 thread": lambda: forward_pass(8, 64, F64, 1, n(9)),
        "decode step, base": lambda: decode_step(n(200)),
        "decode step at 512 against the prefix": lambda: cached_against_prefix(512, n(15)),
        "growth": lambda: growth(n(9)),
        "decoding": lambda: decoding(n(15)),
        "share of attention": lambda: attention_share(n(15)),
        "peak memory": peak_memory,
        "loop over heads": lambda: source_style(n(100)),
    }


# What we aim at: time of toytf divided by time of PyTorch, unless it says otherwise.
GOALS = {
    "step, d 32, 1+1, float32": 0.45,
    "step, d 32, 2+2, float32": 0.45,
    "step, d 64, 2+2, float32": 0.5,
    "step, d 256, 2+2, float32": 0.85,
    "step, d 512, 2+2, 16 x 64, float32": 0.95,
    "step, d 32, 1+1, float64": 0.55,
    "step, d 64, 2+2, float64": 0.65,
    "forward, base, 32 x 128, float32, 2 threads": 0.8,
    "forward, base, 8 x 64, float32, 2 threads": 1.0,
    "forward, base, 8 x 64, float64, 1 thread": 0.9,
    "decode step at 512 against the prefix": 1 / 35,
}


def for_the_book(found: dict) -> dict:
    """What chapter 21 shows, from all results."""
    table = []
    for name, result in found.items():
        if "toytf / torch" in result:
            ratio = result["toytf / torch"]
            low, high = ratio["quartiles"]
            row = {"work": name, "ratio": ratio["median"], "low": low, "high": high, "goal": GOALS[name]}
            table.append({key: round(value, 4) if isinstance(value, float) else value for key, value in row.items()})
    shown = {"ratio_is": "time of toytf / time of PyTorch", "table": table}
    if "share of attention" in found:
        share = found["share of attention"]
        shown["attention_share"] = {key: share[key] for key in ("d_model", "lengths", "share")}
    return shown


def told(name: str, found: dict) -> str:
    """One line of the report."""
    ratios = {
        key.removeprefix("toytf / "): value["median"] for key, value in found.items() if key.startswith("toytf / ")
    }
    if ratios:
        ours, theirs = found["toytf"]["median"] * 1e3, found["torch"]["median"] * 1e3
        line = f"{name:46} toytf {ours:9.2f} ms   torch {theirs:9.2f} ms   ratio {ratios['torch']:.3f}"
        share = found.get("share of the matmul rate")
        return line + (f"   {share:.0%} of the matmul rate" if share else "")
    if "share of the memory rate" in found:
        share = found["share of the memory rate"]
        return f"{name:46} {found['seconds']['median'] * 1e3:9.2f} ms   {share:.0%} of the memory rate"
    if "ways" in found:
        return "\n".join(
            f"cost ~ {way}^{v['exponents']['forward']} forward, ^{v['exponents']['training step']} training step"
            for way, v in found["ways"].items()
        )
    if "beam" in found:
        e, beam = found["exponents"], found["beam"]["exponent"]
        cached, plain = e["with cache"], e["without cache"]
        return f"decode step ~ length^{cached} with cache, ^{plain} without; beam ~ width^{beam}"
    return f"{name}: {json.dumps(found)[:200]}"


def main(arguments=None) -> int:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="write the results there, as JSON")
    parser.add_argument("--only", help="only the parts whose name contains this")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rounds")
    options = parser.parse_args(arguments)
    chosen = {name: work for name, work in parts(options.quick).items() if (options.only or "") in name}
    if not chosen:
        parser.error(f"--only: expected part of a name such as {next(iter(parts(True)))!r}, got {options.only!r}")
    machine = {
        "numpy": np.__version__,
        "torch": torch.__version__,
        "python": platform.python_version(),
        "processor": platform.machine(),
        "cores": os.cpu_count(),
    }
    print(", ".join(f"{key} {value}" for key, value in machine.items()), flush=True)
    found = {}
    for name, work in tqdm(chosen.items(), disable=None, leave=False):
        found[name] = work()
        tqdm.write(told(name, found[name]))
    if options.out:
        about = (
            f"{machine['cores']} cores, NumPy {machine['numpy']}, PyTorch {machine['torch']}; threads as each row says"
        )
        content = for_the_book(found) | {"date": time.strftime("%Y-%m-%d"), "machine": about, "parts": found}
        text = json.dumps(content, indent=1, sort_keys=True)
        options.out.write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
