"""Source 3, the PyTorch post."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from replays.ledger import Claim
from replays.recompute.common import N_LAYERS, YEAR, size, small_decoder_layer
from replays.recompute.register import given, recomputes
from replays.recompute.source1 import beam_on_the_tree
from toytf.attention import MultiHead, multi_head_attention
from toytf.course import pytorch
from toytf.model import decoder_layer
from toytf.ops import embedding, softmax
from toytf.positions import sinusoids

given("s3-year-layers", value=(YEAR, N_LAYERS, N_LAYERS))


@recomputes("s3-variance")
def variance_of_a_score():
    d, draws = 64, 20_000
    q, k = np.random.default_rng(0).standard_normal((2, draws, d))
    scores = (q * k).sum(axis=1)
    scaled = scores / np.sqrt(d)
    # Bounds of about five standard errors of the mean and of the variance.
    holds = abs(scaled.mean()) < 0.036 and abs(scores.var() / d - 1) < 0.052 and abs(scaled.var() - 1) < 0.052
    return Claim(holds, f"d = {d}: mean {scores.mean():.2f}, variance {scores.var():.1f}, then {scaled.var():.2f}")


@recomputes("s3-softmax-formula")
def softmax_formula():
    z = np.random.default_rng(0).standard_normal((4, 5))
    typed = [[math.exp(a) / sum(math.exp(b) for b in row) for a in row] for row in z]
    return Claim(np.allclose(typed, softmax(z), rtol=1e-12), "right")


@recomputes("s3-code-shapes")
def shapes_in_the_comments():
    n, step, d_model, h = 2, 5, 32, 4
    p = MultiHead(*(np.zeros((d_model, d_model)) for _ in range(4)))
    out, trace = multi_head_attention(p, np.ones((n, step, d_model)), n_heads=h)
    d_head = d_model // h
    found = (trace.heads.shape, trace.attention.q.shape, trace.attention.scaled_scores.shape, out.shape)
    holds = found == ((n, step, h * d_head), (n, h, step, d_head), (n, h, step, step), (n, step, d_model))
    return Claim(holds, ", ".join(map(size, found)))


@recomputes("s3-input-shape")
def several_sentences():
    n, length, d = 2, 3, 4
    rows = embedding(np.arange(5.0 * d).reshape(5, d), [[0, 1, 2], [3, 4, 0]])
    x = rows + sinusoids(length, d)
    same = np.array_equal(x[1], rows[1] + sinusoids(length, d))  # every sentence gets the same positions
    return Claim(x.shape == (n, length, d) and same, f"{size(x)} for 2 sentences of 3 tokens")


given("s3-eps-1e-8", value=1e-8)


@recomputes("s3-non-divisible")
def columns_of_eight_heads():
    covered = 300 // 8 * 8
    told = pytorch.stored("faults")
    same = told["8 heads of 300: columns"] == covered and "10x296 and 300x300" in told["8 heads of 300: output layer"]
    return Claim(same and covered == 296, f"{covered}; the output layer wants 300")


# -- residual


def slope(d_sublayer: float, residual: bool, layers: int = N_LAYERS) -> float:
    """The derivative through some layers, when each sub-layer has the same one."""
    value_0, value_1 = 0.0, 1.0  # everything is linear here, so the derivative is a difference
    for _ in range(layers):
        value_0, value_1 = (residual * value + d_sublayer * value for value in (value_0, value_1))
    return value_1 - value_0


@recomputes("s3-residual-derivative")
def residual_derivative():
    vanished = slope(-0.99, residual=True)
    helped, alone = slope(0.01, residual=True), slope(0.01, residual=False)
    found = f"it seldom vanishes; with F' = -0.99 in six layers it is {vanished:.0e}"
    return Claim(abs(vanished) > 1e-6, found, instead=helped > 1 and alone < 1e-11)


# -- decoder, words


@recomputes("s3-decoder-input-shape")
def decoder_input_shape():
    cfg, p = small_decoder_layer()
    memory = np.ones((2, 4, cfg.d_model))  # two source sentences

    def fits(n, length):
        x = np.ones((n, length, cfg.d_model))
        try:
            return decoder_layer(p, cfg, x, memory)[0].shape == x.shape
        except ValueError:
            return False

    holds = fits(2, 5) and fits(2, 4) and not fits(3, 5)
    return Claim(holds, "right, with n1 = n: as many sentences as the encoder has, of any length")


@recomputes("s3-decoder-two-mh")
def attention_modules():
    _, p = small_decoder_layer()
    return sum(isinstance(getattr(p, field.name), MultiHead) for field in dataclasses.fields(p))


@recomputes("s3-beam-k")
def width_that_keeps_two():
    return next(width for width in (1, 2, 3) if beam_on_the_tree(width)[1] == 2)
