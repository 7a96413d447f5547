"""Source 4, the notes."""

from __future__ import annotations

import math

import numpy as np

from replays.ledger import Claim
from replays.recompute.common import D_MODEL, size
from replays.recompute.register import recomputes
from replays.recompute.source0_attention import k1, q1, scores1, v1, z
from replays.recompute.source0_encoder import drawn_feed_forward, ones_and_zeros
from replays.recompute.source1 import attention_steps
from toytf.attention import attention, causal_mask
from toytf.example import PUBLISHED
from toytf.model import feed_forward
from toytf.ops import layer_norm, softmax
from toytf.positions import sinusoids


@recomputes("s4-softmax")
def which_scores():
    scores = scores1()[0]
    scaled, unscaled = softmax(scores / np.sqrt(3)), softmax(scores)
    found = f"scaled scores; Hello's weight is {scaled[0]:.1e}, unscaled {unscaled[0]:.1e}"
    weights = attention(q1(), k1(), v1())[1].attn_weights[0]
    holds, instead = (np.allclose(x, weights, rtol=1e-6, atol=0) for x in (unscaled, scaled))
    return Claim(holds, found, instead)


@recomputes("s4-scale")
def scale_of_any_width():
    widths = (1, 3, 64)
    scales = [attention(x, x, x)[1].scale for x in (np.ones((1, d)) for d in widths)]
    holds = np.allclose(scales, [1 / math.sqrt(d) for d in widths], rtol=1e-15)
    return Claim(holds, f"{scales[1]:.4f} for d_k = 3, {scales[2]:.4f} for 64")


@recomputes("s4-steps")
def five_steps():
    return len(attention_steps()) - 1  # weighting and adding are one step here


@recomputes("s4-pe-unique")
def unique_positions():
    pe = sinusoids(20, D_MODEL)
    values, vectors = np.unique(pe).size, np.unique(pe, axis=0).shape[0]
    first = " and ".join(f"{x:.0f}" for x in np.unique(pe[0]))
    found = f"{vectors} of 20 rows are unique; row 0 holds only {first}"
    return Claim(values == pe.size, found, instead=vectors == 20)


# -- feed-forward, layer norm


@recomputes("s4-ffn-steps")
def feed_forward_steps():
    out, trace = feed_forward(drawn_feed_forward(np.random.default_rng(0)), z())
    return len([trace.before, trace.hidden, out])  # linear, activation, linear


@recomputes("s4-ln-formula")
def layer_norm_without_epsilon():
    x = PUBLISHED.x + z()
    typed = (x - x.mean(axis=-1, keepdims=True)) / x.std(axis=-1, keepdims=True)
    gap = np.abs(typed - layer_norm(ones_and_zeros(x.shape[1]), x)[0]).max()
    return Claim(gap < 1e-6, f"right but for epsilon, here a difference of {gap:.0e}")


# -- masks


@recomputes("s4-mask")
def mask_against_looking_ahead():
    length = 4
    i, j = np.indices((length, length))  # row: query, column: key
    rows = np.random.default_rng(0).standard_normal((length, 3))
    changed = rows.copy()
    changed[-1] += 1.0  # another last token

    def looks_ahead(mask):
        before, after = (attention(x, x, x, mask=mask)[0][:-1] for x in (rows, changed))
        return not np.array_equal(before, after)

    as_printed, turned = i <= j, j <= i
    found = f"0 where j <= i; as printed row 1 sees {as_printed[0].sum()} keys, row {length} only its own"
    instead = not looks_ahead(turned) and np.array_equal(turned, causal_mask(length))
    return Claim(not looks_ahead(as_printed), found, instead)


@recomputes("s4-mask-shape")
def mask_shape():
    return Claim(causal_mask(4).shape == (4, 4), f"{size(causal_mask(4))} for T = 4, one mask for all rows")
