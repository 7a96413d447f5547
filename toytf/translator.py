"""A Transformer with its two vocabularies: it learns from sentence pairs, and translates.

From the command line: ``toytf translate`` and ``toytf train``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from toytf._process import one_thread_if_small
from toytf._validate import list_of
from toytf.corpus import EOS, PAD, SOS, Batch, Pair, Vocabulary, batches, pad, to_batch
from toytf.generate import Hypothesis, beam_search, greedy, start, stepper
from toytf.grammar import all_words
from toytf.model import backward, forward
from toytf.ops import cross_entropy, cross_entropy_backward
from toytf.optim import Adam, cosine_schedule
from toytf.parameters import Config, Transformer, init
from toytf.store import load, load_extra, save
from toytf.train import Record, train
from toytf.tree import count

TRAINED = Path(__file__).with_name("data") / "translator.npz"
#: The course's small model.
SIZES = {"d_model": 16, "n_heads": 2, "d_ff": 32, "n_encoder_layers": 1, "n_decoder_layers": 1}
AT_ONCE = 1000  # sentences that are translated side by side


def loss_and_gradients(
    params: Transformer, batch: Batch, *, cfg: Config, label_smoothing: float = 0.0
) -> tuple[float, Transformer]:
    """One batch forward and back: the mean cross-entropy of a goal token, and all gradients."""
    logits, trace = forward(params, cfg, batch.src, batch.tgt, batch.src_is_token, batch.tgt_is_token)
    loss, loss_trace = cross_entropy(logits, batch.goal, batch.tgt_is_token, label_smoothing)
    return loss, backward(params, cfg, trace, cross_entropy_backward(loss_trace))


@dataclass
class Translator:
    """Parameters, sizes and vocabularies that belong together.

    >>> translator = Translator.load()  # the trained one that comes with the package
    >>> translator.translate(["hello world", "the small queens see a red house"])
    ['hola mundo', 'las reinas pequeñas ven una casa roja']
    """

    params: Transformer
    cfg: Config
    src_vocab: Vocabulary
    tgt_vocab: Vocabulary

    def __post_init__(self):
        for name in ("src_vocab", "tgt_vocab"):
            if len(getattr(self, name)) != getattr(self.cfg, name):
                raise ValueError(
                    f"{name}: expected {getattr(self.cfg, name)} tokens as cfg says, got {len(getattr(self, name))}"
                )

    @classmethod
    def new(
        cls, rng: np.random.Generator, words: tuple[Vocabulary, Vocabulary] | None = None, dtype=np.float64, **sizes
    ) -> Translator:
        """Make one that knows nothing yet.

        The two vocabularies are those of `toytf.grammar` if left out, and sizes of `Config` those of `SIZES`.
        """
        src_vocab, tgt_vocab = all_words() if words is None else words
        cfg = Config(len(src_vocab), len(tgt_vocab), **{**SIZES, **sizes})
        return cls(init(cfg, rng, dtype), cfg, src_vocab, tgt_vocab)

    def learn(
        self,
        pairs: Sequence[Pair],
        rng: np.random.Generator,
        *,
        steps: int = 500,
        batch_size: int = 48,
        learning_rate: float | Callable[[int], float] = 0.01,
        warmup: int = 100,
        label_smoothing: float = 0.0,
        progress: bool | None = None,
        objective: Callable = loss_and_gradients,
    ) -> Iterator[Record]:
        """Learn from sentence pairs with Adam; yield a `toytf.train.Record` after each step.

        The learning rate is the largest, reached after `warmup` steps and then lowered along a cosine; or the whole
        schedule, from step to rate. `rng` draws the order of the pairs. An `objective` takes and returns what
        `loss_and_gradients` does; all else is as in `toytf.ops.cross_entropy` and `toytf.train.train`.
        """
        rate = learning_rate if callable(learning_rate) else cosine_schedule(learning_rate, min(warmup, steps), steps)
        return train(
            self.params,
            partial(objective, cfg=self.cfg, label_smoothing=label_smoothing),
            batches(to_batch(pairs, self.src_vocab, self.tgt_vocab), batch_size, rng),
            Adam(),
            rate,
            steps,
            progress=progress,
        )

    def translate(self, sentences: Sequence[str], width: int = 1) -> list[str]:
        """Translate sentences; words are what spaces separate, and an unknown one is a `KeyError`.

        So many partial translations are kept as `width` says: 1 is greedy, more is beam search.
        """
        cut = [tuple(sentence.split()) for sentence in list_of("sentences", sentences, str, "sentences")]
        return [" ".join(self._words(hypothesis)) for hypothesis in self.write(cut, width)]

    def write(self, sources: Sequence[Sequence[str]], width: int = 1) -> list[Hypothesis]:
        """As `translate`, for sentences cut into tokens, with ids and log-probabilities."""
        if not all(sources):
            raise ValueError("sentences: expected at least one word in each, got an empty one")
        ids = [self.src_vocab.ids(source) for source in sources]
        step = stepper(self.params, self.cfg)
        ends = {"sos": self.tgt_vocab.id(SOS), "eos": self.tgt_vocab.id(EOS)}
        written: list[Hypothesis] = []
        size = AT_ONCE if width == 1 else 1
        with one_thread_if_small(count(self.params)):
            for begin in range(0, len(ids), size):
                part = ids[begin : begin + size]
                longest = max(map(len, part))
                src, src_is_token = pad(part, longest, self.src_vocab.id(PAD))
                # A decoder that sees the future cannot keep what it has computed.
                state = start(self.params, self.cfg, src, src_is_token, cached=self.cfg.causal)
                if width == 1:
                    written += greedy(step, state, n=len(part), max_length=2 * longest + 4, **ends)
                else:
                    written += beam_search(step, state, max_length=2 * longest + 4, width=width, **ends)
        return written

    def exact(self, pairs: Sequence[Pair]) -> np.ndarray:
        """Say for each pair whether the translation has every token right, the end included: (pairs,) of bool."""
        written = self.write([pair.src for pair in pairs])
        return np.array([h.ended and self._words(h) == pair.tgt for h, pair in zip(written, pairs, strict=True)])

    def _words(self, hypothesis: Hypothesis) -> tuple[str, ...]:
        ids = hypothesis.ids[:-1] if hypothesis.ended else hypothesis.ids
        return tuple(self.tgt_vocab.tokens(ids))

    def save(self, path) -> None:
        """Write everything to one ``.npz`` file."""
        words = {"src_vocab": list(self.src_vocab), "tgt_vocab": list(self.tgt_vocab)}
        save(path, self.params, self.cfg, words)

    @classmethod
    def load(cls, path=TRAINED) -> Translator:
        """Read what `save` wrote; without a path, the trained model that comes with the package."""
        params, cfg = load(path)
        extra = load_extra(path)
        try:
            return cls(params, cfg, Vocabulary(extra["src_vocab"]), Vocabulary(extra["tgt_vocab"]))
        except KeyError as missing:
            raise ValueError(f"{path}: expected a translator, got a model without {missing}") from None
        except (TypeError, ValueError) as error:
            raise ValueError(f"{path}: expected a translator with its two vocabularies, got {error}") from error
