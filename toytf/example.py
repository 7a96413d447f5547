"""The running example: "Hello World", two tokens of width 4, two heads of width 3.

Its embeddings and matrices are Omar Sanseviero's, from `The Random Transformer
<https://osanseviero.github.io/hackerllama/blog/posts/random_transformer/>`__ (2024), whose repository,
osanseviero/hackerllama, is under the Apache License 2.0. The weights of the feed-forward layer are ours.

Two tracks hold the same example:

- `PUBLISHED`: the arrays as *The Random Transformer* prints them, its positional encoding included
  (rounded, and with the column number used as ``i``). Its later digits follow from these alone.
- `PAPER`: the same embeddings and weights with the positional encoding of the paper.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from toytf.attention import MultiHead
from toytf.model import FeedForward
from toytf.ops import Array
from toytf.positions import sinusoids

#: The two words.
TOKENS = ("Hello", "World")

#: A row for each word, token x d_model.
EMBEDDING = np.array([[1.0, 2.0, 3.0, 4.0], [2.0, 3.0, 4.0, 5.0]])

#: What the source prints for its two positions; 0.99 stands where cos(1) = 0.5403 belongs.
POSITIONS_PRINTED = np.array([[0.0, 1.0, 0.0, 1.0], [0.84, 0.99, 0.0, 1.0]])

#: One matrix a head, d_model x d_head, as the source's code has them.
W_Q = (
    np.array([[0.0, 0, 0], [1, 1, 0], [0, 0, 1], [1, 0, 0]]),
    np.array([[1.0, 0, 1], [0, 1, 0], [1, 0, 0], [0, 1, 1]]),
)
#: The keys' matrices, one a head.
W_K = (
    np.array([[1.0, 0, 1], [0, 1, 0], [1, 0, 1], [0, 1, 0]]),
    np.array([[0.0, 1, 1], [1, 0, 1], [1, 1, 0], [0, 1, 0]]),
)
#: The values' matrices, one a head.
W_V = (
    np.array([[0.0, 1, 1], [1, 0, 0], [1, 0, 1], [0, 1, 0]]),
    np.array([[1.0, 0, 0], [0, 1, 1], [0, 0, 1], [1, 0, 0]]),
)

#: The output projection, heads*d_head x d_model.
W_O = np.array(
    [
        [0.79445237, 0.1081456, 0.27411536, 0.78394531],
        [0.29081936, -0.36187258, -0.32312791, -0.48530339],
        [-0.36702934, -0.76471963, -0.88058366, -1.73713022],
        [-0.02305587, -0.64315981, -0.68306653, -1.25393866],
        [0.29077448, -0.04121674, 0.01509932, 0.13149906],
        [0.57451867, -0.08895355, 0.02190485, 0.24535932],
    ]
)

#: The source's feed-forward weights are unpublished; these integers are ours (chapter 7), d_ff = 8.
FEED_FORWARD = FeedForward(
    w_1=np.array(
        [
            [1.0, 0, 0, 1, 0, 1, -1, 0],
            [0, 1, -1, 1, 0, 0, 0, -1],
            [0, 0, 0, 0, 1, 1, 0, -1],
            [0, 0, 1, 0, -1, 0, 1, 0],
        ]
    ),
    b_1=np.array([0.0, 1, 4, 2, -1, 0, 3, 0]),
    w_2=np.array(
        [
            [1.0, 0, 1, 0],
            [0, 1, 0, 1],
            [1, 1, 0, 0],
            [0, -1, 1, 2],
            [0, 1, -1, 0],
            [-1, 0, 0, 1],
            [0, 0, 1, -1],
            [0, 1, 0, -1],
        ]
    ),
    b_2=np.array([1.0, 0, -2, 1]),
)


#: What the source's model, drawn without a seed, gave for ten words of the target.
LOGITS = np.array(
    [-0.39929948, 0.96345013, 2.77090264, 0.25651866, -0.84738762]
    + [-1.67834992, -0.29583529, -3.55515281, 2.97453801, -1.10682376]
)


@dataclass(frozen=True)
class Example:
    """The arrays of one track."""

    tokens: tuple[str, ...]
    embedding: Array  # token x d_model
    positions: Array  # token x d_model
    heads: MultiHead

    @property
    def x(self) -> Array:
        """The encoder's input, ``embedding + positions``, token x d_model."""
        return self.embedding + self.positions


_HEADS = MultiHead.from_heads(W_Q, W_K, W_V, W_O)

#: The arrays as the source prints them.
PUBLISHED = Example(TOKENS, EMBEDDING, POSITIONS_PRINTED, _HEADS)
#: The same, with the positions of the paper.
PAPER = Example(TOKENS, EMBEDDING, sinusoids(len(TOKENS), EMBEDDING.shape[1]), _HEADS)
