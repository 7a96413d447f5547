"""The small operations that everything else is made of."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from toytf._validate import as_floats, as_ids, require_finite, require_width, shape_text

Array = np.ndarray
SHORT = 32  # rows up to here are handled as columns, where that is quicker


# ---------------------------------------------------------------- sums of rows


def sum_along(x: Array, axis: int = -1) -> Array:
    """``sum_i x[i]`` along an axis, which stays with length 1.

    What ``x.sum(axis, keepdims=True)`` does; on many short rows einsum is several times faster.

    Examples
    --------
    >>> print(sum_along(np.array([[1.0, 2.0], [3.0, 4.0]])))
    [[3.]
     [7.]]
    """
    if axis in (-1, x.ndim - 1):
        return np.einsum("...i->...", x)[..., None]
    return x.sum(axis=axis, keepdims=True)


def dot_along(x: Array, y: Array, axis: int = -1) -> Array:
    """``sum_i x[i] y[i]`` along an axis, which stays with length 1.

    Examples
    --------
    >>> print(dot_along(np.array([[1.0, 2.0]]), np.array([[10.0, 100.0]])))
    [[210.]]
    """
    if axis in (-1, x.ndim - 1):
        return np.einsum("...i,...i->...", x, y)[..., None]
    return (x * y).sum(axis=axis, keepdims=True)


# ---------------------------------------------------------------- softmax


def softmax(x, axis: int = -1) -> Array:
    """Turn scores into weights: ``softmax(x)[i] = exp(x[i]) / sum_j exp(x[j])``.

    The largest score of each row is subtracted first. That changes nothing in exact arithmetic
    (numerator and denominator shrink by the same factor) and keeps `exp` from overflowing.

    Parameters
    ----------
    x : array_like, shape (..., n, ...)
        Scores, of any finite size. ``-inf`` is allowed and gets weight 0, unless a whole row
        is ``-inf``.
    axis : int, default -1
        The axis along which the weights sum to 1: for attention scores, the keys.

    Returns
    -------
    Array, same shape as `x`
        Weights between 0 and 1.

    Raises
    ------
    ValueError
        If `x` holds NaN or ``+inf``, if a whole row is ``-inf``, or `axis` does not exist.

    Notes
    -----
    *Attention Is All You Need*, section 3.2.1.

    Examples
    --------
    >>> from toytf.byhand import fmt
    >>> print(fmt(softmax([1.0, 2.0, 3.0])))
    [0.0900 0.2447 0.6652]
    >>> print(fmt(softmax([1001.0, 1002.0, 1003.0])))
    [0.0900 0.2447 0.6652]
    """
    x, largest = _scores_and_largest(x, axis)
    with np.errstate(over="ignore", under="ignore"):  # a gap beyond the float range is weight 0
        exps = x - largest
        np.exp(exps, out=exps)  # in place: a new array of this size would cost more than the exponentials
    exps /= sum_along(exps, axis)
    return exps


def softmax_backward(weights: Array, dout: Array, axis: int = -1) -> Array:
    """The gradient of `softmax`: ``dx[i] = a[i] * (dout[i] - sum_j a[j] dout[j])``.

    It is the product with the Jacobian ``a_i (delta_ij - a_j)``, which is never built. Where a
    weight is exactly 0, as under a mask or in an empty row, the gradient is 0.

    Parameters
    ----------
    weights : Array
        What `softmax` returned.
    dout : Array, same shape
        The gradient of the loss with respect to the weights.
    axis : int, default -1

    Returns
    -------
    Array, same shape
        The gradient with respect to the scores.

    Examples
    --------
    >>> from toytf.byhand import fmt
    >>> print(fmt(softmax_backward(softmax([1.0, 2.0, 3.0]), np.array([0.0, 0.0, 1.0]))))
    [-0.0599 -0.1628  0.2227]
    """
    dx = dout - dot_along(weights, dout, axis)
    dx *= weights
    return dx


def _scores_and_largest(x, axis: int) -> tuple[Array, Array]:
    """Return the scores as floats and the largest of each row, once both are known to be usable."""
    x = as_floats("x", x)
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(f"axis: expected {-x.ndim} to {x.ndim - 1} for shape {shape_text(x.shape)}, got {axis}")
    if x.shape[axis] == 0:
        raise ValueError(f"x: expected at least one score along axis {axis}, got shape {shape_text(x.shape)}")
    if x.shape[axis] < SHORT:  # NumPy is quicker at comparing a few long columns than many short rows
        largest = np.expand_dims(np.ascontiguousarray(np.moveaxis(x, axis, 0)).max(axis=0), axis)
    else:
        largest = x.max(axis=axis, keepdims=True)
    if not np.isfinite(largest).all():  # NaN, +inf and a row of -inf all show in the maximum
        _explain_unusable_scores(x, largest)
    return x, largest


def _explain_unusable_scores(x: Array, largest: Array) -> None:
    """Raise the error that says what `softmax` cannot use, and where."""
    require_finite("x", np.where(np.isneginf(x), 0.0, x))
    where = [int(i) for i in np.argwhere(np.isneginf(largest))[0]]
    raise ValueError(f"x: expected a finite score in every row, got only -inf in the row at {where}")


def softmax_naive(x, axis: int = -1) -> Array:
    """The softmax as it is usually typed: ``exp(x) / sum(exp(x))``, nothing subtracted.

    Right for small scores. `exp` overflows above 709.78 in float64, and infinity divided by
    infinity is NaN; below about -745 everything underflows, and zero divided by zero is NaN too.
    The course keeps it to show that; use `softmax` for work.

    Parameters
    ----------
    x : array_like, shape (..., n, ...)
        Scores.
    axis : int, default -1
        The axis along which the weights sum to 1.

    Returns
    -------
    Array, same shape as `x`
        Weights, or NaN with NumPy's RuntimeWarning.

    Examples
    --------
    >>> from toytf.byhand import fmt
    >>> print(fmt(softmax_naive([1.0, 2.0, 3.0])))
    [0.0900 0.2447 0.6652]
    """
    exps = np.exp(as_floats("x", x))
    return exps / exps.sum(axis=axis, keepdims=True)


def log_softmax(x, axis: int = -1) -> Array:
    """The logarithm of the softmax: ``log_softmax(x)[i] = x[i] - log sum_j exp(x[j])``.

    Computed without a softmax in between, so that a probability too small for a float still has a
    finite logarithm.

    Parameters
    ----------
    x : array_like, shape (..., n, ...)
        Scores, as for `softmax`.
    axis : int, default -1
        The axis along which the probabilities sum to 1.

    Returns
    -------
    Array, same shape as `x`
        Numbers up to 0.

    Raises
    ------
    ValueError
        As `softmax`.

    Examples
    --------
    >>> from toytf.byhand import fmt
    >>> print(fmt(log_softmax([1.0, 2.0, 3.0])))
    [-2.4076 -1.4076 -0.4076]
    >>> print(fmt(log_softmax([0.0, 1000.0]), decimals=1))
    [-1000.0     0.0]
    """
    x, largest = _scores_and_largest(x, axis)
    with np.errstate(over="ignore", under="ignore"):
        shifted = x - largest
        shifted -= np.log(sum_along(np.exp(shifted), axis))
        return shifted


# ---------------------------------------------------------------- linear map


@dataclass
class Linear:
    """Parameters of ``y = x W + b``; `bias` may be left out."""

    weight: Annotated[Array, "d_in d_out"]
    bias: Annotated[Array, "d_out"] | None = None


def linear(p: Linear, x) -> Array:
    """Map every row: ``y = x W + b``.

    Parameters
    ----------
    p : Linear
        ``weight`` of shape (d_in, d_out), ``bias`` of shape (d_out,) or None.
    x : array_like, shape (..., length, d_in)
        One token a row.

    Returns
    -------
    Array, shape (..., length, d_out)

    Raises
    ------
    ValueError
        If the widths do not fit, or `x` holds NaN or infinity.

    Examples
    --------
    >>> from toytf.byhand import fmt
    >>> W = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> print(fmt(linear(Linear(W), [[1.0, 2.0, 3.0]]), decimals=1))
    [[4.0 5.0]]
    """
    x = as_floats("x", x)
    require_width("x", x, "weight", p.weight, axis=-2)
    require_finite("x", x)
    # One product of two matrices is faster than one product for each leading index.
    y = x.reshape(-1, x.shape[-1]) @ p.weight
    if p.bias is not None:
        if p.bias.shape != p.weight.shape[-1:]:
            raise ValueError(
                f"bias: expected shape {shape_text(p.weight.shape[-1:])} for a weight of shape "
                f"{shape_text(p.weight.shape)}, got {shape_text(p.bias.shape)}"
            )
        y += p.bias
    return y.reshape(*x.shape[:-1], p.weight.shape[-1])


def linear_backward(p: Linear, x: Array, dout: Array) -> tuple[Array, Linear]:
    """The gradients of `linear`: ``dx = dout W^T``, ``dW = x^T dout``, ``db = sum of dout``.

    Sums run over all rows: of the sentence, and of every leading axis.

    Parameters
    ----------
    p : Linear
    x : Array, shape (..., length, d_in)
        What `linear` was given.
    dout : Array, shape (..., length, d_out)

    Returns
    -------
    dx : Array, shape of `x`
    dp : Linear

    Examples
    --------
    >>> from toytf.byhand import fmt
    >>> dx, dp = linear_backward(Linear(np.array([[1.0], [2.0]])), np.array([[3.0, 4.0]]), np.array([[1.0]]))
    >>> print(fmt(dx, 0), fmt(dp.weight.T, 0))
    [[1 2]] [[3 4]]
    """
    rows, drows = x.reshape(-1, x.shape[-1]), dout.reshape(-1, dout.shape[-1])
    dx = (drows @ p.weight.T).reshape(x.shape)
    return dx, Linear(rows.T @ drows, None if p.bias is None else drows.sum(axis=0))


# ---------------------------------------------------------------- embedding


def embedding(table, ids) -> Array:
    """Look up one row for each token id: ``out[t] = table[ids[t]]``.

    The same as a product with one-hot rows, without the multiplications by zero.

    Parameters
    ----------
    table : array_like, shape (vocabulary, d_model)
        One row for each token of the vocabulary.
    ids : array_like of int, shape (..., length)
        Token ids from 0 to ``vocabulary - 1``.

    Returns
    -------
    Array, shape (..., length, d_model)

    Raises
    ------
    ValueError
        If an id lies outside the vocabulary. (NumPy would read -1 as "the last row".)
    TypeError
        If the ids are not integers.

    Examples
    --------
    >>> from toytf.byhand import fmt
    >>> table = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    >>> print(fmt(embedding(table, [2, 0]), decimals=0))
    [[5 6]
     [1 2]]
    """
    table = as_floats("table", table, min_ndim=2)
    return table[as_ids("ids", ids, table.shape[0])]


def embedding_backward(size: int, ids, dout: Array) -> Array:
    """The gradient of `embedding`: each token's row gathers what flows back to its places.

    Parameters
    ----------
    size : int
        How many rows the table has.
    ids : array_like of int, shape (..., length)
    dout : Array, shape (..., length, d_model)

    Returns
    -------
    Array, shape (size, d_model)

    Examples
    --------
    >>> from toytf.byhand import fmt
    >>> print(fmt(embedding_backward(3, [2, 0, 2], np.array([[1.0], [5.0], [10.0]])), 0))
    [[ 5]
     [ 0]
     [11]]
    """
    ids = as_ids("ids", ids, size).ravel()
    one_hot = np.zeros((len(ids), size), dtype=dout.dtype)
    one_hot[np.arange(len(ids)), ids] = 1
    return one_hot.T @ dout.reshape(len(ids), -1)


# ---------------------------------------------------------------- activations


def relu(x) -> Array:
    """Cut off what is negative: ``relu(x) = max(0, x)``.

    Parameters
    ----------
    x : array_like, any shape

    Returns
    -------
    Array, same shape as `x`

    Notes
    -----
    *Attention Is All You Need*, section 3.3.

    Examples
    --------
    >>> from toytf.byhand import fmt
    >>> print(fmt(relu([-1.5, 0.0, 2.0]), decimals=1))
    [0.0 0.0 2.0]
    """
    return np.clip(as_floats("x", x, min_ndim=0), 0, np.inf)  # twice as quick as np.maximum(x, 0)


def relu_backward(x: Array, dout: Array) -> Array:
    """The gradient of `relu`: `dout` where `x` is positive, 0 elsewhere, at 0 too.

    Examples
    --------
    >>> from toytf.byhand import fmt
    >>> print(fmt(relu_backward(np.array([-1.0, 0.0, 2.0]), np.array([5.0, 5.0, 5.0])), 0))
    [0 0 5]
    """
    return dout * (x > 0)


def gelu(x) -> Array:
    """Weigh `x` by the chance that a standard normal number lies below it: ``gelu(x) = x * Phi(x)``.

    ``Phi(x) = (1 + erf(x / sqrt(2))) / 2``. This is the exact form; `gelu_tanh` is the usual
    approximation.

    Parameters
    ----------
    x : array_like, any shape

    Returns
    -------
    Array, same shape as `x`

    Notes
    -----
    Hendrycks and Gimpel, *Gaussian Error Linear Units*, 2016. BERT and GPT use it; the paper uses
    `relu`.

    Examples
    --------
    >>> from toytf.byhand import fmt
    >>> print(fmt(gelu([-1.0, 0.0, 1.0])))
    [-0.1587  0.0000  0.8413]
    """
    x = as_floats("x", x, min_ndim=0)
    return x * normal_cdf(x)


def gelu_backward(x: Array, dout: Array) -> Array:
    """The gradient of `gelu`: ``dout * (Phi(x) + x * phi(x))``, phi being the bell curve.

    Examples
    --------
    >>> from toytf.byhand import fmt
    >>> print(fmt(gelu_backward(np.array([-1.0, 0.0, 1.0]), np.ones(3))))
    [-0.0833  0.5000  1.0833]
    """
    bell = np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)
    return (dout * (normal_cdf(x) + x * bell)).astype(x.dtype, copy=False)


def gelu_tanh(x) -> Array:
    """Approximate `gelu` by a hyperbolic tangent::

        gelu_tanh(x) = x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3)))

    Parameters
    ----------
    x : array_like, any shape

    Returns
    -------
    Array, same shape as `x`
        Within 0.0005 of `gelu` everywhere.

    Examples
    --------
    >>> from toytf.byhand import fmt
    >>> print(fmt(gelu_tanh([-1.0, 0.0, 1.0])))
    [-0.1588  0.0000  0.8412]
    """
    x = as_floats("x", x, min_ndim=0)
    with np.errstate(over="ignore"):  # beyond the float range tanh is 1 or -1 all the same
        return x * 0.5 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))


def normal_cdf(x: Array) -> Array:
    """The share of a standard normal distribution below `x`: ``Phi(x) = erfc(-x / sqrt(2)) / 2``."""
    # NumPy has no erf. The standard library's is exact, one number at a time.
    phi = [0.5 * math.erfc(-v) for v in (x / math.sqrt(2.0)).ravel().tolist()]
    return np.array(phi, dtype=x.dtype).reshape(x.shape)


# ---------------------------------------------------------------- layer norm


@dataclass
class LayerNorm:
    """Parameters of layer normalisation: a scale and a shift for each column."""

    gamma: Annotated[Array, "d_model"]
    beta: Annotated[Array, "d_model"]


@dataclass
class LayerNormTrace:
    """What one call of `layer_norm` computed on the way."""

    normalised: Annotated[Array, "... d_model"]  # mean 0, variance 1, before gamma and beta
    std: Annotated[Array, "... 1"]  # sqrt(variance + eps) of each row


def layer_norm(p: LayerNorm, x, eps: float = 1e-5) -> tuple[Array, LayerNormTrace]:
    """Give each row mean 0 and variance 1, then a learned scale and shift::

        layer_norm(x) = gamma * (x - mean(x)) / sqrt(var(x) + eps) + beta

    Mean and variance are those of one row, over its columns; the variance divides by the number
    of columns, not by one less. A constant row becomes `beta`.

    Parameters
    ----------
    p : LayerNorm
        `gamma` and `beta`, each of shape (d_model,).
    x : array_like, shape (..., d_model)
    eps : float, default 1e-5
        Keeps the root away from zero. It stands inside the root.

    Returns
    -------
    out : Array, shape (..., d_model)
    trace : LayerNormTrace

    Raises
    ------
    ValueError
        If the widths do not fit, `eps` is not positive, or `x` holds NaN or infinity.

    Notes
    -----
    Ba, Kiros and Hinton, *Layer Normalization*, 2016; *Attention Is All You Need*, section 3.1.

    Examples
    --------
    >>> from toytf.byhand import fmt
    >>> out, _ = layer_norm(LayerNorm(np.ones(4), np.zeros(4)), [[1.0, 3.0, 3.0, 5.0]])
    >>> print(fmt(out))
    [[-1.4142  0.0000  0.0000  1.4142]]
    """
    x = as_floats("x", x)
    for name, array in (("gamma", p.gamma), ("beta", p.beta)):
        if array.shape != x.shape[-1:]:
            raise ValueError(
                f"{name}: expected shape {shape_text(x.shape[-1:])} for rows of shape {shape_text(x.shape)}, "
                f"got {shape_text(array.shape)}"
            )
    if not 0 < eps < np.inf:
        raise ValueError(f"eps: expected a positive number, got {eps}")
    require_finite("x", x)
    d = x.shape[-1]
    centred = x - sum_along(x) / d
    variance = dot_along(centred, centred) / d
    std = np.sqrt(variance + eps)
    centred /= std
    out = p.gamma * centred
    out += p.beta
    return out, LayerNormTrace(normalised=centred, std=std)


def layer_norm_backward(p: LayerNorm, trace: LayerNormTrace, dout: Array) -> tuple[Array, LayerNorm]:
    """The gradients of `layer_norm`, from its trace::

        g      = dout * gamma
        dx     = (g - mean(g) - normalised * mean(g * normalised)) / std
        dgamma = sum of dout * normalised over all rows,   dbeta = sum of dout

    The two means are what the row's own mean and variance send back.

    Parameters
    ----------
    p : LayerNorm
    trace : LayerNormTrace
    dout : Array, shape (..., d_model)

    Returns
    -------
    dx : Array, shape of `dout`
    dp : LayerNorm
    """
    normalised = trace.normalised
    g = dout * p.gamma
    d = g.shape[-1]
    dx = g - sum_along(g) / d
    dx -= normalised * (dot_along(g, normalised) / d)
    dx /= trace.std
    dout, normalised = dout.reshape(-1, d), normalised.reshape(-1, d)
    return dx, LayerNorm(np.einsum("ij,ij->j", dout, normalised), dout.sum(axis=0))


def layer_norm_eps_outside(x, eps: float = 1e-6) -> Array:
    """The layer norm of *The Random Transformer*'s code: ``(x - mean) / (std + eps)``.

    Epsilon stands outside the root, and there is neither scale nor shift. On rows of ordinary
    size it agrees with `layer_norm` to six or seven decimals; on rows that are nearly constant
    it does not.

    Parameters
    ----------
    x : array_like, shape (..., d_model)
    eps : float, default 1e-6

    Returns
    -------
    Array, shape (..., d_model)

    Examples
    --------
    >>> from toytf.byhand import fmt
    >>> print(fmt(layer_norm_eps_outside([[1.0, 3.0, 3.0, 5.0]])))
    [[-1.4142  0.0000  0.0000  1.4142]]
    """
    x = as_floats("x", x)
    return (x - x.mean(axis=-1, keepdims=True)) / (x.std(axis=-1, keepdims=True) + eps)


# ---------------------------------------------------------------- loss


@dataclass
class CrossEntropyTrace:
    """What `cross_entropy` computed on the way."""

    probs: Annotated[Array, "... length vocabulary"]
    goal: Annotated[Array, "... length vocabulary"]  # the distribution that was wanted
    counted: Annotated[Array, "... length 1"]  # 1 for a token, 0 for padding
    n: int  # how many tokens were counted


def cross_entropy(logits, targets, is_token=None, label_smoothing: float = 0.0) -> tuple[float, CrossEntropyTrace]:
    """Minus the logarithm of the probability given to the right token, on average::

        loss = mean over tokens of  - sum_w goal[w] * log softmax(logits)[w]

    The goal is 1 for the right token and 0 for the others; with label smoothing e it is
    ``1 - e + e / vocabulary`` for the right one and ``e / vocabulary`` for each other.

    Parameters
    ----------
    logits : array_like, shape (..., length, vocabulary)
    targets : array_like of int, shape (..., length)
        The right token at each place.
    is_token : array_like of bool, shape of `targets`, optional
        False where a sentence was filled up: those places do not count.
    label_smoothing : float, default 0.0
        At least 0 and below 1. The paper takes 0.1 (section 5.4).

    Returns
    -------
    loss : float
        In nats: ``exp(loss)`` is the perplexity.
    trace : CrossEntropyTrace

    Raises
    ------
    ValueError
        If a target is outside the vocabulary, shapes do not fit, no token is left to count, or
        the logits hold NaN or infinity.

    Examples
    --------
    >>> from toytf.byhand import fmt
    >>> loss, _ = cross_entropy([[1.0, 2.0, 3.0]], [2])
    >>> print(fmt(loss))
    0.4076
    """
    logits = as_floats("logits", logits, min_ndim=2)
    require_finite("logits", logits)
    targets = as_ids("targets", targets, logits.shape[-1])
    if targets.shape != logits.shape[:-1]:
        raise ValueError(
            f"targets: expected shape {shape_text(logits.shape[:-1])} for logits of shape "
            f"{shape_text(logits.shape)}, got {shape_text(targets.shape)}"
        )
    if not 0 <= label_smoothing < 1:
        raise ValueError(f"label_smoothing: expected at least 0 and below 1, got {label_smoothing}")
    if is_token is None:
        counted = np.ones(targets.shape, dtype=logits.dtype)
    else:
        is_token = np.asarray(is_token)
        if is_token.dtype != np.bool_ or is_token.shape != targets.shape:
            raise ValueError(
                f"is_token: expected booleans of shape {shape_text(targets.shape)}, "
                f"got dtype {is_token.dtype} and shape {shape_text(is_token.shape)}"
            )
        counted = is_token.astype(logits.dtype)
    n = int(counted.sum())
    if n == 0:
        raise ValueError("is_token: expected at least one token to count, got none")
    vocabulary = logits.shape[-1]
    goal = np.full(logits.shape, label_smoothing / vocabulary, dtype=logits.dtype)
    np.put_along_axis(goal, targets[..., None], 1 - label_smoothing + label_smoothing / vocabulary, axis=-1)
    log_probs = log_softmax(logits)
    counted = counted[..., None]
    loss = -float((dot_along(goal, log_probs) * counted).sum()) / n
    return loss, CrossEntropyTrace(np.exp(log_probs, out=log_probs), goal, counted, n)


def cross_entropy_backward(trace: CrossEntropyTrace) -> Array:
    """The gradient of `cross_entropy`: ``(softmax(logits) - goal) / n`` at each counted token.

    The softmax and the logarithm have cancelled: what is left is what was said minus what was
    wanted.

    Returns
    -------
    Array, shape (..., length, vocabulary)

    Examples
    --------
    >>> from toytf.byhand import fmt
    >>> _, trace = cross_entropy([[1.0, 2.0, 3.0]], [2])
    >>> print(fmt(cross_entropy_backward(trace)))
    [[ 0.0900  0.2447 -0.3348]]
    """
    dlogits = trace.probs - trace.goal
    dlogits *= trace.counted / trace.n
    return dlogits
