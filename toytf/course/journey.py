"""The example's whole journey, "Hello World" to the probabilities of ten words, as the spine draws it.

    >>> from toytf.course.journey import trace, words
    >>> trace.encoder.x.shape, trace.logits.shape, words[8]
    ((2, 4), (1, 10), 'hola')

It is the model of the page "The machine": width 4, two heads of width 3, one encoder layer and one
decoder layer. The encoder's embeddings and its attention matrices are those of the example; the rest is drawn once,
with a seed.
"""

from __future__ import annotations

import numpy as np

from toytf.corpus import Vocabulary
from toytf.example import EMBEDDING, PAPER, TOKENS
from toytf.model import Config, forward, init

words = "hello mundo world how ? EOS SOS a hola c".split()
vocabulary = Vocabulary(words)
source, target = TOKENS, ("SOS",)

cfg = Config(
    src_vocab=2,
    tgt_vocab=len(vocabulary),
    d_model=4,
    n_heads=2,
    d_head=3,
    d_ff=8,
    n_encoder_layers=1,
    n_decoder_layers=1,
    scale_embeddings=False,
)
params = init(cfg, np.random.default_rng(8))
params.src_embedding = EMBEDDING
params.encoder[0].self_attention = PAPER.heads
params.tgt_embedding[vocabulary.id("SOS")] = [1.0, 0.0, 0.0, 0.0]

logits, trace = forward(params, cfg, [0, 1], [vocabulary.id("SOS")])
