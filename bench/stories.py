"""Train the models of chapter 20, which write stories, ask how many promises they keep, and store results and weights.

python bench/stories.py            # all runs, about a quarter of an hour on one core
python bench/stories.py "made, 1"  # those whose name begins so; the others stay as they are
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np

from toytf.corpus import SPECIAL, Vocabulary, to_text_batch
from toytf.model import forward
from toytf.ops import cross_entropy
from toytf.stories import (
    LETTERS,
    LISTED,
    all_words,
    broken,
    draw_echoes,
    draw_story,
    goes_on,
    listed_name,
    made_name,
)
from toytf.writer import Writer

STORED = Path(__file__).parents[1] / "toytf" / "course" / "data" / "stories.json"
LESSONS = {"stories": 12_000, "steps": 2500, "batch_size": 16, "echoes": 20_000}
HELD_OUT, TESTED = 200, 500
LOOKED_AT = (1, 100, 200, 400, 600, 1000, 1500, 2500)  # steps after which one run is asked
RUNS = {
    f"{names}, {layers}, seed {seed}": (names, layers, seed)
    for seed in (0, 1, 2)
    for names, layers in (("made", 2), ("made", 1), ("listed", 2))
} | {f"echoes, {layers}, seed 0": ("echoes", layers, 0) for layers in (2, 1)}
SHIPPED = {("made", n, 2): Writer.stored(n) for n in (1, 2)} | {("echoes", 2, 0): Writer.stored("echoes")}


def lessons(names: str, rng: np.random.Generator) -> tuple[list[list[str]], list[list[str]]]:
    """Stories to learn from, and stories kept away."""
    draw = listed_name if names == "listed" else made_name
    return tuple([draw_story(rng, draw) for _ in range(n)] for n in (LESSONS["stories"], HELD_OUT))


def loss(writer: Writer, texts) -> float:
    """Mean cross-entropy of a token, in nats."""
    batch = to_text_batch(texts, writer.vocab)
    logits, _ = forward(writer.params, writer.cfg, None, batch.tgt, None, batch.tgt_is_token)
    return float(cross_entropy(logits, batch.goal, batch.tgt_is_token)[0])


def kept(stories) -> int:
    """How many stories break no promise."""
    return sum(not broken(story) for story in stories)


def run(names: str, layers: int, seed: int) -> tuple[Writer, dict]:
    """Train one model, and ask it."""
    rng = np.random.default_rng(seed)
    texts, held_out = lessons(names, rng)
    writer = Writer.new(rng, all_words(LISTED) if names == "listed" else all_words(), n_decoder_layers=layers)
    curve = []
    for record in writer.learn(texts, rng, steps=LESSONS["steps"], batch_size=LESSONS["batch_size"], progress=False):
        if record.step in LOOKED_AT and (names, layers, seed) in SHIPPED:
            stories = writer.write([[]] * TESTED, np.random.default_rng(seed))
            curve.append([record.step, round(loss(writer, held_out), 4), kept(stories)])
            print(f"  step {record.step}: loss {curve[-1][1]}, {curve[-1][2]} of {TESTED}", flush=True)
    stories = writer.write([[]] * TESTED, np.random.default_rng(seed))
    result = {"loss": round(loss(writer, held_out), 4), "kept": kept(stories)}
    if names == "made":
        rng = np.random.default_rng(seed)
        begin = [f"once there was a shy owl called {made_name(rng, new=True)} .".split() for _ in range(TESTED)]
        result["kept, new hero"] = kept(writer.write(begin, rng))
    return writer, result | ({"curve": curve} if curve else {})


def run_echoes(layers: int, seed: int) -> tuple[Writer, dict]:
    """Train one model on letters that come again, and count how often it goes on as before."""
    rng = np.random.default_rng(seed)
    texts = [draw_echoes(rng) for _ in range(LESSONS["echoes"])]
    writer = Writer.new(rng, Vocabulary([*SPECIAL, *LETTERS]), n_decoder_layers=layers, d_ff=64)
    curve = []
    for record in writer.learn(texts, rng, steps=2000, batch_size=32, progress=False):
        if record.step % 200 == 0:
            curve.append([record.step, round(record.loss, 4), round(writer_right(writer), 4)])
    return writer, {"right": curve[-1][2], "curve": curve}


def writer_right(writer: Writer) -> float:
    """The share of letters inside pieces, from the second on, that are foretold; in 500 new texts."""
    rng = np.random.default_rng(1)
    texts = [draw_echoes(rng) for _ in range(TESTED)]
    batch = to_text_batch(texts, writer.vocab)
    logits, _ = forward(writer.params, writer.cfg, None, batch.tgt, None, batch.tgt_is_token)
    right = logits.argmax(axis=-1)[:, :-1] == batch.goal[:, :-1]
    return float(right[np.array([goes_on(text) for text in texts])].mean())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("begins", nargs="?", default="", help="only runs whose name begins so")
    begins = parser.parse_args().begins
    for name, how in RUNS.items():
        if name.startswith(begins):
            print(name, flush=True)
            writer, result = run_echoes(*how[1:]) if how[0] == "echoes" else run(*how)
            print(" ", result, flush=True)
            stored = json.loads(STORED.read_text("utf-8")) if STORED.is_file() else {}
            stored |= {"lessons": LESSONS, name: result}
            STORED.write_text(json.dumps(dict(sorted(stored.items())), indent=1) + "\n", "utf-8")
            if how in SHIPPED:
                writer.save(SHIPPED[how])
    return 0


if __name__ == "__main__":
    sys.exit(main())
