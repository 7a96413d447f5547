"""The small operations that everything else is made of, each formula above its gradient."""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np

from toytf._door import Array, Count, Flags, Floats, Gradient, Ids, Numbers, Positive, Scores, Share, door
from toytf.parameters import LayerNorm, Linear
from toytf.traces import CrossEntropyTrace, LayerNormTrace

# ---------------------------------------------------------------- softmax


@door
def softmax(x: Annotated[Scores, "... n"], axis: int = -1) -> Array:
    """Turn scores into weights: ``softmax(x)[i] = exp(x[i]) / sum_j exp(x[j])``.

    The largest score of each row is subtracted first. That changes nothing in exact arithmetic
    (numerator and denominator shrink by the same factor) and keeps ``exp`` from overflowing.

    Along `axis`, the last one if left out, the weights sum to 1. A score of ``-inf`` gets weight 0; NaN, ``+inf``, or a
    row of ``-inf`` alone is a `ValueError`. (*Attention Is All You Need*, section 3.2.1)

    >>> print(softmax([1.0, 2.0, 3.0]).round(4))
    [0.09   0.2447 0.6652]
    >>> print(softmax([1001.0, 1002.0, 1003.0]).round(4))
    [0.09   0.2447 0.6652]
    """
    exps = np.exp(x - x.max(axis=axis, keepdims=True))
    return exps / exps.sum(axis=axis, keepdims=True)


@door
def softmax_backward(weights: Annotated[Numbers, "... n"], dout: Annotated[Gradient, "... n"], axis: int = -1) -> Array:
    """The gradient of `softmax`: ``dx[i] = a[i] * (dout[i] - sum_j a[j] dout[j])``.

    It is the product with the Jacobian ``a_i (delta_ij - a_j)``, which is never built. Where a
    weight is exactly 0, as under a mask or in an empty row, the gradient is 0.

    `weights`, written ``a``, are what `softmax` returned; `dout` is the gradient of the loss with respect to them.

    >>> print(softmax_backward(softmax([1.0, 2.0, 3.0]), np.array([0.0, 0.0, 1.0])).round(4))
    [-0.0599 -0.1628  0.2227]
    """
    return weights * (dout - (weights * dout).sum(axis=axis, keepdims=True))


@door
def softmax_naive(x: Annotated[Numbers, "... n"], axis: int = -1) -> Array:
    """The softmax as it is usually typed: ``exp(x) / sum(exp(x))``, nothing subtracted.

    Right for small scores. ``exp`` overflows above 709.78 in float64, and infinity divided by
    infinity is NaN; below about -745 everything underflows, and zero divided by zero is NaN too.
    The course keeps it to show that; use `softmax` for work.

    >>> print(softmax_naive([1.0, 2.0, 3.0]).round(4))
    [0.09   0.2447 0.6652]
    """
    exps = np.exp(x)
    return exps / exps.sum(axis=axis, keepdims=True)


@door
def log_softmax(x: Annotated[Scores, "... n"], axis: int = -1) -> Array:
    """The logarithm of the softmax: ``log_softmax(x)[i] = x[i] - log sum_j exp(x[j])``.

    Computed without a softmax in between, so that a probability too small for a float still has a
    finite logarithm. Arguments and errors are those of `softmax`.

    >>> print(log_softmax([1.0, 2.0, 3.0]).round(4))
    [-2.4076 -1.4076 -0.4076]
    >>> print(log_softmax([0.0, 1000.0]))
    [-1000.     0.]
    """
    shifted = x - x.max(axis=axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))


# ---------------------------------------------------------------- linear map


@door
def linear(p: Linear, x: Annotated[Floats, "... d_in"]) -> Array:
    """Map every row: ``y = x W + b``.

    The weight has the shape (d_in, d_out), so that ``y`` is (..., d_out); a bias of None adds nothing.

    >>> W = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> print(linear(Linear(W), [[1.0, 2.0, 3.0]]))
    [[4. 5.]]
    """
    rows = x.reshape(-1, x.shape[-1])  # of all sentences: one product is faster than one for each sentence
    y = (rows @ p.weight).reshape(*x.shape[:-1], p.weight.shape[-1])
    return y if p.bias is None else y + p.bias


@door
def linear_backward(
    p: Linear, x: Annotated[Numbers, "... d_in"], dout: Annotated[Gradient, "... d_out"]
) -> tuple[Array, Linear]:
    """The gradients of `linear`: ``dx = dout W^T``, ``dW = x^T dout``, ``db = sum of dout``.

    Sums run over all rows: of the sentence, and of every leading axis. Returns ``dx`` and the gradient of `p`.

    >>> dx, dp = linear_backward(Linear(np.array([[1.0], [2.0]])), np.array([[3.0, 4.0]]), np.array([[1.0]]))
    >>> print(dx, dp.weight.T)
    [[1. 2.]] [[3. 4.]]
    """
    rows, drows = x.reshape(-1, x.shape[-1]), dout.reshape(-1, dout.shape[-1])  # of all sentences
    dx = (drows @ p.weight.T).reshape(x.shape)
    return dx, Linear(rows.T @ drows, None if p.bias is None else drows.sum(axis=0))


# ---------------------------------------------------------------- embedding


@door
def embedding(table: Annotated[Numbers, "vocabulary d_model"], ids: Annotated[Ids, "... < vocabulary"]) -> Array:
    """Look up one row for each token id: ``out[t] = table[ids[t]]``.

    The same as a product with one-hot rows, without the multiplications by zero. The rows, (..., d_model), are a copy.
    An id outside the vocabulary is a `ValueError`. (NumPy would read -1 as "the last row".)

    >>> table = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    >>> print(embedding(table, [2, 0]))
    [[5. 6.]
     [1. 2.]]
    """
    return table[ids]


@door
def embedding_backward(size: Count, ids: Annotated[Ids, "... < size"], dout: Annotated[Gradient, "... d"]) -> Array:
    """The gradient of `embedding`: each token's row gathers what flows back to its places.

    The table has `size` rows, of the width of `dout`.

    >>> print(embedding_backward(3, [2, 0, 2], np.array([[1.0], [5.0], [10.0]])))
    [[ 5.]
     [ 0.]
     [11.]]
    """
    dtable = np.zeros((size, dout.shape[-1]), dtype=dout.dtype)
    np.add.at(dtable, ids, dout)
    return dtable


# ---------------------------------------------------------------- activations


@door
def relu(x: Annotated[Numbers, "..."]) -> Array:
    """Cut off what is negative: ``relu(x) = max(0, x)``. (*Attention Is All You Need*, section 3.3)

    >>> print(relu([-1.5, 0.0, 2.0]))
    [0. 0. 2.]
    """
    return np.maximum(0, x)


@door
def relu_backward(x: Annotated[Numbers, "..."], dout: Annotated[Gradient, "..."]) -> Array:
    """The gradient of `relu`: `dout` where `x` is positive, 0 elsewhere, at 0 too.

    >>> print(relu_backward(np.array([-1.0, 0.0, 2.0]), np.array([5.0, 5.0, 5.0])))
    [0. 0. 5.]
    """
    return dout * (x > 0)


@door
def gelu(x: Annotated[Numbers, "..."]) -> Array:
    """Weigh `x` by the chance that a standard normal number lies below it: ``gelu(x) = x * Phi(x)``.

    ``Phi(x) = (1 + erf(x / sqrt(2))) / 2``. This is the exact form; `gelu_tanh` is the usual approximation. BERT and
    GPT use it, the paper uses `relu`. (Hendrycks and Gimpel, *Gaussian Error Linear Units*, 2016)

    >>> print(gelu([-1.0, 0.0, 1.0]).round(4))
    [-0.1587  0.      0.8413]
    """
    return x * normal_cdf(x)


@door
def gelu_backward(x: Annotated[Numbers, "..."], dout: Annotated[Gradient, "..."]) -> Array:
    """The gradient of `gelu`: ``dout * (Phi(x) + x * phi(x))``, phi being the bell curve.

    >>> print(gelu_backward(np.array([-1.0, 0.0, 1.0]), np.ones(3)).round(4))
    [-0.0833  0.5     1.0833]
    """
    bell = np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)
    return dout * (normal_cdf(x) + x * bell)


@door
def gelu_tanh(x: Annotated[Numbers, "..."]) -> Array:
    """Approximate `gelu` by a hyperbolic tangent::

        gelu_tanh(x) = x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3)))

    Within 0.0005 of `gelu` everywhere.

    >>> print(gelu_tanh([-1.0, 0.0, 1.0]).round(4))
    [-0.1588  0.      0.8412]
    """
    return x * 0.5 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))


@door
def normal_cdf(x: Annotated[Numbers, "..."]) -> Array:
    """The share of a standard normal distribution below `x`: ``Phi(x) = erfc(-x / sqrt(2)) / 2``."""
    # NumPy has no erf. The standard library's takes one number at a time.
    phi = [0.5 * math.erfc(-v) for v in (x / math.sqrt(2.0)).ravel().tolist()]
    return np.array(phi, dtype=x.dtype).reshape(x.shape)


# ---------------------------------------------------------------- layer norm


@door
def layer_norm(p: LayerNorm, x: Annotated[Floats, "... d_model"], eps: Positive = 1e-5) -> tuple[Array, LayerNormTrace]:
    """Give each row mean 0 and variance 1, then a learned scale and shift::

        layer_norm(x) = gamma * (x - mean(x)) / sqrt(var(x) + eps) + beta

    Mean and variance are those of one row, over its columns; the variance divides by the number of columns, not by one
    less. A constant row becomes `beta`; `eps`, which stands inside the root, keeps it away from zero. Returns the rows,
    of the shape of `x`, and a `LayerNormTrace`.

    Ba, Kiros and Hinton, *Layer Normalization*, 2016; *Attention Is All You Need*, section 3.1.

    >>> out, _ = layer_norm(LayerNorm(np.ones(4), np.zeros(4)), [[1.0, 3.0, 3.0, 5.0]])
    >>> print(out.round(4))
    [[-1.4142  0.      0.      1.4142]]
    """
    centred = x - x.mean(axis=-1, keepdims=True)
    std = np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + eps)
    normalised = centred / std
    return p.gamma * normalised + p.beta, LayerNormTrace(normalised, std)


@door
def layer_norm_backward(
    p: LayerNorm, trace: LayerNormTrace, dout: Annotated[Gradient, "... d_model"]
) -> tuple[Array, LayerNorm]:
    """The gradients of `layer_norm`, from its trace::

        g      = dout * gamma
        dx     = (g - mean(g) - normalised * mean(g * normalised)) / std
        dgamma = sum of dout * normalised over all rows,   dbeta = sum of dout

    The two means are what the row's own mean and variance send back. Returns ``dx`` and the gradient of `p`.
    """
    g, normalised = dout * p.gamma, trace.normalised
    along = (g * normalised).mean(axis=-1, keepdims=True)
    dx = (g - g.mean(axis=-1, keepdims=True) - normalised * along) / trace.std
    rows = tuple(range(dout.ndim - 1))  # of all sentences
    return dx, LayerNorm((dout * normalised).sum(axis=rows), dout.sum(axis=rows))


@door
def layer_norm_eps_outside(x: Annotated[Numbers, "... d_model"], eps: Positive = 1e-6) -> Array:
    """The layer norm of *The Random Transformer*'s code: ``(x - mean) / (std + eps)``.

    Epsilon stands outside the root, and there is neither scale nor shift. On rows of ordinary
    size it agrees with `layer_norm` to six or seven decimals; on rows that are nearly constant
    it does not.

    >>> print(layer_norm_eps_outside([[1.0, 3.0, 3.0, 5.0]]).round(4))
    [[-1.4142  0.      0.      1.4142]]
    """
    return (x - x.mean(axis=-1, keepdims=True)) / (x.std(axis=-1, keepdims=True) + eps)


# ---------------------------------------------------------------- loss


@door
def cross_entropy(
    logits: Annotated[Floats, "... length vocabulary"],
    targets: Annotated[Ids, "... length < vocabulary"],
    is_token: Annotated[Flags, "... length"] | None = None,
    label_smoothing: Share = 0.0,
) -> tuple[float, CrossEntropyTrace]:
    """Minus the logarithm of the probability given to the right token, on average::

        loss = mean over tokens of  - sum_w goal[w] * log softmax(logits)[w]

    The goal is 1 for the right token and 0 for the others; with label smoothing e it is
    ``1 - e + e / vocabulary`` for the right one and ``e / vocabulary`` for each other.

    (The paper takes 0.1, section 5.4.) Places where `is_token` is False were filled up, and do not count; one at least
    must. Returns the loss in nats, so that ``exp(loss)`` is the perplexity, and a `CrossEntropyTrace`.

    >>> loss, _ = cross_entropy([[1.0, 2.0, 3.0]], [2])
    >>> print(round(loss, 4))
    0.4076
    """
    vocabulary = logits.shape[-1]
    goal = np.full_like(logits, label_smoothing / vocabulary)
    np.put_along_axis(goal, targets[..., None], 1 - label_smoothing + label_smoothing / vocabulary, axis=-1)
    counted = np.ones(targets.shape, dtype=bool) if is_token is None else is_token
    if (n := int(counted.sum())) == 0:
        raise ValueError("is_token: expected at least one token to count, got none")
    log_probs = log_softmax(logits)
    loss = -float((goal * log_probs)[counted].sum()) / n
    return loss, CrossEntropyTrace(np.exp(log_probs), goal, counted[..., None].astype(logits.dtype), n)


@door
def cross_entropy_backward(trace: CrossEntropyTrace) -> Array:
    """The gradient of `cross_entropy`: ``(softmax(logits) - goal) / n`` at each counted token.

    The softmax and the logarithm have cancelled: what is left is what was said minus what was wanted.

    >>> _, trace = cross_entropy([[1.0, 2.0, 3.0]], [2])
    >>> print(cross_entropy_backward(trace).round(4))
    [[ 0.09    0.2447 -0.3348]]
    """
    # A float, since NumPy 1 divides a float32 array by an int above 65,535 in float64.
    return (trace.probs - trace.goal) * (trace.counted / float(trace.n))
