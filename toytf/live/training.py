"""The translator learns in the page: the loss falls, sentences turn into Spanish, the attention sharpens."""

from __future__ import annotations

import html as _html
import math
from collections.abc import Mapping, Sequence

import numpy as np

from toytf.byhand import fmt
from toytf.corpus import EOS, SOS, Pair, to_batch
from toytf.live import wire
from toytf.live.element import SAID, Element, chart
from toytf.live.translator import named, weight_table, written
from toytf.model import forward
from toytf.ops import cross_entropy
from toytf.train import Record
from toytf.translator import Translator

UNSEEN = 100  # sentences that are never learned from
MORE = 1  # words more than are right: what is written beyond them is cut off
FEW = (10, 50, 200, 800)  # pairs that one may learn from, and then all
RATES = ("0.001", "0.003", "0.01", "0.03", "0.1", "0.3", "1.0")
SENTENCES = (
    ("hello world", "hola mundo"),
    ("the small dog sees a blue boat", "el perro pequeño ve un barco azul"),
    ("some cows want this big table", "unas vacas quieren esta mesa grande"),
    ("my queen has these black letters", "mi reina tiene estas cartas negras"),
    ("a strange girl buys my new hats", "una niña extraña compra mis sombreros nuevos"),
)
WORDS = (
    "<b>Bold</b>: the right word, at its place. <b>Guessing</b>: all tokens get the same share. <b>Learning rate</b>: "
    "how far a step goes; it rises to the largest one and falls again. <b>Dropout</b>: in each step a tenth of the "
    "embeddings’ entries is 0."
)
SENTENCE = 1  # the one whose attention is seen at first


def training(
    rng: np.random.Generator,
    train: Sequence[Pair],
    held_out: Sequence[Pair],
    records: Sequence[Record],
    copies: Mapping[int, Translator],
    *,
    batch_size: int = 48,
    learning_rate: str = "0.01",
    warmup: int = 100,
    dropout: float = 0.1,
    sentences: Sequence[tuple[str, str]] = SENTENCES,
    id: str = "training",
) -> Element:
    """Train the translator in the page, with NumPy's random numbers: the same start, the same batches, the same run::

        loss, gradients = loss_and_gradients(params, batch),   params = adam(params, gradients, rate(t))

    Its settings are the largest learning rate, the number of pairs, and dropout. Before it learns anything in the page
    it shows the beginning of the run that it is given; without a script, its end.

    Parameters
    ----------
    rng : numpy.random.Generator
        As it is before the weights are drawn; it then draws the order of the pairs too.
    train, held_out : sequence of Pair
        Pairs to learn from, and others, the first hundred of which are never learned from here either.
    records : sequence of Record
        What `toytf.translator.Translator.learn` gave for each step of the run.
    copies : mapping of int to Translator
        The translator at step 0, and then every so many steps.
    batch_size, learning_rate, warmup
        Those of the run; the rate as it stands in `RATES`.
    dropout : float
        The share of the embeddings' entries that its switch drops.
    sentences : sequence of (str, str)
        English and Spanish: what is translated again and again.
    id : str
        The element's address on its page, ``#training?pairs=50&rate=0.3``.

    Returns
    -------
    Element
    """
    steps, every = records[-1].step, min(step for step in copies if step)
    end, unseen = copies[steps], held_out[:UNSEEN]
    losses = [round(records[step - 1].loss, 4) for step in range(every, steps + 1, every)]
    tests = [round(_loss(copies[step], unseen), 4) for step in range(0, steps + 1, every)]
    began, answers = ([written(one, english.split()) for english, _ in sentences] for one in (copies[0], end))
    said, heads = [words for words, _, _ in answers], [weights for *_, weights in answers]
    guess = math.log(end.cfg.tgt_vocab)
    picture = _chart(losses, tests, steps, every, guess)
    lines = "".join(_answer(e, s.split(), a) for (e, s), a in zip(sentences, said, strict=True))
    words, weights = said[SENTENCE], heads[SENTENCE].mean(axis=0)
    key = (
        f'<span>the pairs it learns from</span> <span class="train-unseen">{UNSEEN} sentences never shown</span> '
        f'<span class="train-guess">guessing: {fmt(guess, 2)}</span>'
    )
    table = weight_table(sentences[SENTENCE][0].split(), zip(words, weights, strict=True))
    static = (
        f'{SAID}<div class="train-parts"><div class="train-curve">{picture}<p class="train-key">{key}</p></div>'
        f'<ol class="train-answers">{lines}</ol><div class="train-looks"><p class="train-head">Attention of both heads'
        f'</p>{table}<p class="train-sharp">{_sharp(weights)}</p></div><p class="train-words">{WORDS}</p></div>'
    )
    vocabs = end.src_vocab, end.tgt_vocab
    data = {
        "learn": {
            "cfg": end.cfg,
            "start": wire.generator(rng),
            "dice": wire.generator(np.random.default_rng(0)),
            "pairs": wire.pairs(train, *vocabs),
            "unseen": wire.pairs(unseen, *vocabs),
            "sentences": [end.src_vocab.ids(english.split()) for english, _ in sentences],
            "ends": {"sos": end.tgt_vocab.id(SOS), "eos": end.tgt_vocab.id(EOS)},
            "steps": steps, "every": every, "batchSize": batch_size, "warmup": warmup,
        },
        "run": {
            "losses": losses, "unseen": tests,
            "said": [words for words, _, _ in began], "heads": [np.round(weights, 6) for *_, weights in began],
        },
        "words": [named(token) for token in end.tgt_vocab], "sentences": sentences, "sentence": SENTENCE + 1,
        "few": [n for n in FEW if n < len(train)], "all": len(train), "rates": RATES, "rate": learning_rate,
        "dropout": dropout, "more": MORE,
    }  # fmt: skip
    text = "\n".join(
        [f"step {step}: loss {fmt(losses[step // every - 1])}, of sentences never shown {fmt(tests[step // every])}"
         for step in (every, steps)]
        + [f"{english} -> {' '.join(words)}" for (english, _), words in zip(sentences, said, strict=True)]
    )  # fmt: skip
    return Element(
        "training", "Train the translator, here in the page", data, static, text, id, ("sentence", "learning")
    )


def _loss(translator: Translator, pairs: Sequence[Pair]) -> float:
    b = to_batch(pairs, translator.src_vocab, translator.tgt_vocab)
    logits, _ = forward(translator.params, translator.cfg, b.src, b.tgt, b.src_is_token, b.tgt_is_token)
    return cross_entropy(logits, b.goal, b.tgt_is_token)[0]


# ---------------------------------------------------------------- its static form, which training.js writes again


def _answer(english: str, right: Sequence[str], said: Sequence[str]) -> str:
    """One sentence and its answer: bold where the right word stands at its place."""
    words = [word for word in said if word != named(EOS)]
    marked = (
        f"<b>{_html.escape(word)}</b>" if word == should else f"<span>{_html.escape(word)}</span>"
        for word, should in zip(words, [*right, *[None] * MORE], strict=False)
    )
    done = " ✓" if words == list(right) else ""
    rest = " …" if len(words) > len(right) + MORE else "" if words else "(nothing)"
    return (
        f'<li><span class="train-english" lang="en">{_html.escape(english)}{done}</span> '
        f'<span class="train-spanish" lang="es">{" ".join(marked)}{rest}</span></li>'
    )


def _sharp(weights: np.ndarray) -> str:
    largest, even = weights.max(axis=-1).mean(), 1 / weights.shape[-1]
    return f"The largest weight of a row, on average: {fmt(largest, 2)}. Spread evenly it would be {fmt(even, 2)}."


def _chart(losses: Sequence[float], tests: Sequence[float], steps: int, every: int, guess: float) -> str:
    """The loss of each report's batch, and of the sentences never shown, with a line for guessing."""
    most = max(5, *losses, *tests)
    tick = next(t for t in (1, 2, 5, 10, 20, 50, 100, 1000, 10000) if most <= 6 * t)
    top = tick * math.ceil(most / tick)
    fifth = steps // 5
    return chart(
        f"The loss at step {steps}: {fmt(losses[-1])} on the pairs it learns from, {fmt(tests[-1])} on {UNSEEN} "
        f"sentences never shown. It began at {fmt(tests[0])}.",
        (0, steps),
        (0, top),
        ([(t, str(t)) for t in range(0, steps + 1, fifth)], [(t, str(t)) for t in range(0, top + 1, tick)]),
        [
            ("quiet dotted", [(0, guess), (steps, guess)]),
            ("blue", [(every * (k + 1), loss) for k, loss in enumerate(losses)]),
            ("red dashed", [(every * k, loss) for k, loss in enumerate(tests)]),
            ("ink", [(steps, 0), (steps, top)]),
        ],
        below=["step"],
    )
