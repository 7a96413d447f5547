"""A decoder alone with its vocabulary: it learns from texts, and writes on from a beginning."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from toytf._process import one_thread_if_small
from toytf.corpus import EOS, SOS, Batch, Vocabulary, batches, to_text_batch
from toytf.generate import Hypothesis, sample, start, stepper
from toytf.model import backward, forward
from toytf.ops import cross_entropy, cross_entropy_backward
from toytf.optim import Adam, clip, cosine_schedule
from toytf.parameters import Config, Transformer, init
from toytf.store import load, load_extra, save
from toytf.stories import all_words
from toytf.train import Record, train
from toytf.tree import count

#: The course's small model that writes; its layers stand in the file's name.
SIZES = {"d_model": 64, "n_heads": 4, "d_ff": 256, "n_encoder_layers": 0, "norm": "pre"}
LONGEST = 180  # tokens: no story of the grammar is longer


def loss_and_gradients(params: Transformer, batch: Batch, *, cfg: Config, limit: float) -> tuple[float, Transformer]:
    """One batch forward and back: the mean cross-entropy of a token, and all gradients, shortened to `limit`."""
    logits, trace = forward(params, cfg, None, batch.tgt, None, batch.tgt_is_token)
    loss, loss_trace = cross_entropy(logits, batch.goal, batch.tgt_is_token)
    gradients = backward(params, cfg, trace, cross_entropy_backward(loss_trace))
    clip(gradients, limit)
    return loss, gradients


@dataclass
class Writer:
    """Parameters, sizes and the vocabulary that belong together.

    >>> from toytf.stories import told
    >>> writer = Writer.load(2)  # two layers, trained on `toytf.stories`
    >>> beginning = "once there was a shy owl called Ri- -ko- -tus .".split()
    >>> (story,) = writer.write([beginning], np.random.default_rng(0))
    >>> told(story).startswith("Once there was a shy owl called Rikotus.")
    True
    """

    params: Transformer
    cfg: Config
    vocab: Vocabulary

    @classmethod
    def new(cls, rng: np.random.Generator, vocab: Vocabulary | None = None, dtype=np.float32, **sizes) -> Writer:
        """Make one that knows nothing yet; its vocabulary is that of `toytf.stories`, its sizes are `SIZES`."""
        vocab = all_words() if vocab is None else vocab
        cfg = Config(1, len(vocab), **{**SIZES, "n_decoder_layers": 2, **sizes})
        return cls(init(cfg, rng, dtype), cfg, vocab)

    def learn(
        self,
        texts: Sequence[Sequence[str]],
        rng: np.random.Generator,
        *,
        steps: int = 2500,
        batch_size: int = 16,
        learning_rate: float = 6e-3,
        warmup: int = 50,
        limit: float = 1.0,
        progress: bool | None = None,
    ) -> Iterator[Record]:
        """Learn from texts with Adam; yield a `toytf.train.Record` after each step, as `toytf.train.train` does."""
        return train(
            self.params,
            partial(loss_and_gradients, cfg=self.cfg, limit=limit),
            batches(to_text_batch(texts, self.vocab), batch_size, rng),
            Adam(),
            cosine_schedule(learning_rate, min(warmup, steps), steps),
            steps,
            progress=progress,
        )

    def write(
        self, beginnings: Sequence[Sequence[str]], rng: np.random.Generator, temperature: float = 0.8
    ) -> list[list[str]]:
        """Write on from beginnings of one length, side by side, each token drawn: the whole texts."""
        read = np.array([self.vocab.ids([SOS, *beginning]) for beginning in beginnings])
        with one_thread_if_small(count(self.params)):
            step = stepper(self.params, self.cfg)
            state = start(self.params, self.cfg).take(np.zeros(len(read), dtype=int))
            for ids in read.T[:-1]:
                _, state = step(state, ids)
            drawn = sample(
                step, state, n=len(read), sos=read[:, -1], eos=self.vocab.id(EOS), max_length=LONGEST, rng=rng,
                temperature=temperature,
            )  # fmt: skip
        return [[*begun, *self._tokens(h)] for begun, h in zip(beginnings, drawn, strict=True)]

    def _tokens(self, h: Hypothesis) -> list[str]:
        return self.vocab.tokens(h.ids[:-1] if h.ended else h.ids)

    @staticmethod
    def stored(which: int | str) -> Path:
        """Where a trained model lies that comes with the package: 1 or 2 layers, or ``"echoes"``."""
        return Path(__file__).with_name("data") / f"writer_{which}.npz"

    def save(self, path) -> None:
        """Write everything to one ``.npz`` file, the weights rounded to float16."""
        save(path, self.params, self.cfg, {"vocab": list(self.vocab)}, np.float16)

    @classmethod
    def load(cls, path) -> Writer:
        """Read what `save` wrote; 1, 2 and ``"echoes"`` stand for the trained models that come with the package."""
        path = cls.stored(path) if path in (1, 2, "echoes") else path
        params, cfg = load(path, np.float32)
        try:
            return cls(params, cfg, Vocabulary(load_extra(path)["vocab"]))
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path}: expected a model with its vocabulary, got {error}") from error
