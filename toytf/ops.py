"""The small operations that everything else is made of."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from toytf._validate import (
    HALF,
    SINGLE,
    as_array,
    as_axis,
    as_floats,
    as_gradient,
    as_ids,
    positive_int,
    positive_number,
    require_class,
    require_finite,
    require_ndim,
    require_parameters,
    require_room,
    require_shape,
    require_some,
    require_width,
    rows_for,
    shape_text,
    share,
    surely_finite,
)

Array = np.ndarray
SHORT = 32  # rows up to here are handled as columns, where that is quicker


# ---------------------------------------------------------------- many short rows
#
# NumPy's own sums and maxima of rows are slow where the rows are short: with them a training step of the
# translator takes an eighth longer in float32.


def _sum_along(x: Array, axis: int = -1) -> Array:
    """``sum_i x[i]`` along an axis, which stays with length 1.

    Examples
    --------
    >>> print(_sum_along(np.array([[1.0, 2.0], [3.0, 4.0]])))
    [[3.]
     [7.]]
    """
    if axis in (-1, x.ndim - 1):
        return np.einsum("...i->...", x)[..., None]
    return x.sum(axis=axis, keepdims=True)


def _dot_along(x: Array, y: Array, axis: int = -1) -> Array:
    """``sum_i x[i] y[i]`` along an axis, which stays with length 1.

    Examples
    --------
    >>> print(_dot_along(np.array([[1.0, 2.0]]), np.array([[10.0, 100.0]])))
    [[210.]]
    """
    if axis in (-1, x.ndim - 1):
        return np.einsum("...i,...i->...", x, y)[..., None]
    return (x * y).sum(axis=axis, keepdims=True)


def _largest_along(x: Array, axis: int = -1) -> Array:
    """``max_i x[i]`` along an axis, which stays with length 1: a few long columns are compared, not many short rows.

    Examples
    --------
    >>> print(_largest_along(np.array([[1.0, 2.0], [4.0, 3.0]])))
    [[2.]
     [4.]]
    """
    if x.shape[axis] < SHORT:
        return np.expand_dims(np.ascontiguousarray(np.moveaxis(x, axis, 0)).max(axis=0), axis)
    return x.max(axis=axis, keepdims=True)


# ---------------------------------------------------------------- matrices


def _transposed(x: Array) -> Array:
    """``x^T`` for each matrix of a stack: the last two axes change places."""
    return np.swapaxes(x, -1, -2)


def _rows_times(x: Array, w: Array) -> Array:
    """``x w`` as one product of two matrices, which is faster than one for each leading index."""
    return (x.reshape(-1, x.shape[-1]) @ w).reshape(*x.shape[:-1], w.shape[-1])


# ---------------------------------------------------------------- softmax


def softmax(x, axis: int = -1) -> Array:
    """Turn scores into weights: ``softmax(x)[i] = exp(x[i]) / sum_j exp(x[j])``.

    The largest score of each row is subtracted first. That changes nothing in exact arithmetic
    (numerator and denominator shrink by the same factor) and keeps ``exp`` from overflowing. Scores in
    float16 are added up in float32.

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
    return _softmax("x", x, axis)


def _softmax(name: str, x, axis: int = -1) -> Array:
    """`softmax`, where errors speak of `x` by another name."""
    x, largest, dtype = _scores_and_largest(name, x, axis)
    with np.errstate(over="ignore", under="ignore"):  # a gap beyond the float range is weight 0
        exps = np.exp(x - largest)
    return _rounded_to(dtype, exps / _sum_along(exps, axis))


def softmax_backward(weights: Array, dout: Array, axis: int = -1) -> Array:
    """The gradient of `softmax`: ``dx[i] = a[i] * (dout[i] - sum_j a[j] dout[j])``.

    It is the product with the Jacobian ``a_i (delta_ij - a_j)``, which is never built. Where a
    weight is exactly 0, as under a mask or in an empty row, the gradient is 0.

    `weights`, written ``a``, are what `softmax` returned; `dout`, of their shape, is the gradient of the
    loss with respect to them.

    Examples
    --------
    >>> from toytf.byhand import fmt
    >>> print(fmt(softmax_backward(softmax([1.0, 2.0, 3.0]), np.array([0.0, 0.0, 1.0]))))
    [-0.0599 -0.1628  0.2227]
    """
    weights = as_floats("weights", weights)
    dout = as_gradient("dout", dout, weights.shape, "weights has")
    return _softmax_backward(weights, dout, as_axis("axis", axis, weights))


def _softmax_backward(weights: Array, dout: Array, axis: int = -1) -> Array:
    """`softmax_backward` alone."""
    return weights * (dout - _dot_along(weights, dout, axis))


def _scores_and_largest(name: str, x, axis: int) -> tuple[Array, Array, np.dtype]:
    """Return usable scores, the largest of each row, and the dtype of what is asked: float16 is computed in float32."""
    x = as_floats(name, x)
    require_some(name, x, "score")
    largest = _largest_along(x, as_axis("axis", axis, x))
    if not np.isfinite(largest).all():  # NaN, +inf and a row of -inf all show in the maximum
        _explain_unusable_scores(name, x, largest)
    return _not_half(x), _not_half(largest), x.dtype


def _not_half(x: Array) -> Array:
    """Return float16 as float32, since sums leave its range: 70,000 ones are more than its largest number."""
    return x.astype(SINGLE) if x.dtype == HALF else x


def _rounded_to(dtype: np.dtype, x: Array) -> Array:
    """Return `x` in the dtype that is asked for, which it nearly always has."""
    return x.astype(dtype, copy=False)


def _explain_unusable_scores(name: str, x: Array, largest: Array) -> None:
    """Raise the error that says what `softmax` cannot use, and where."""
    require_finite(name, np.where(np.isneginf(x), 0.0, x))
    where = [int(i) for i in np.argwhere(np.isneginf(largest))[0]]
    raise ValueError(f"{name}: expected a finite score in every row, got only -inf in the row at {where}")


def softmax_naive(x, axis: int = -1) -> Array:
    """The softmax as it is usually typed: ``exp(x) / sum(exp(x))``, nothing subtracted.

    Right for small scores. ``exp`` overflows above 709.78 in float64, and infinity divided by
    infinity is NaN; below about -745 everything underflows, and zero divided by zero is NaN too.
    The course keeps it to show that; use `softmax` for work.

    Examples
    --------
    >>> from toytf.byhand import fmt
    >>> print(fmt(softmax_naive([1.0, 2.0, 3.0])))
    [0.0900 0.2447 0.6652]
    """
    x = as_floats("x", x)
    require_some("x", x, "score")
    axis = as_axis("axis", axis, x)
    exps = np.exp(x)
    return exps / exps.sum(axis=axis, keepdims=True)


def log_softmax(x, axis: int = -1) -> Array:
    """The logarithm of the softmax: ``log_softmax(x)[i] = x[i] - log sum_j exp(x[j])``.

    Computed without a softmax in between, so that a probability too small for a float still has a
    finite logarithm.

    Arguments and errors are those of `softmax`.

    Examples
    --------
    >>> from toytf.byhand import fmt
    >>> print(fmt(log_softmax([1.0, 2.0, 3.0])))
    [-2.4076 -1.4076 -0.4076]
    >>> print(fmt(log_softmax([0.0, 1000.0]), decimals=1))
    [-1000.0     0.0]
    """
    x, largest, dtype = _scores_and_largest("x", x, axis)
    with np.errstate(over="ignore", under="ignore"):
        shifted = x - largest
        return _rounded_to(dtype, shifted - np.log(_sum_along(np.exp(shifted), axis)))


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
    require_parameters("p", p, Linear)
    return _linear(p, rows_for("x", x, "weight", p.weight))


def _linear(p: Linear, x: Array) -> Array:
    """`linear` alone, for those who have been at the door with a larger dataclass."""
    y = _rows_times(x, p.weight)
    return y if p.bias is None else y + p.bias


def linear_backward(p: Linear, x: Array, dout: Array) -> tuple[Array, Linear]:
    """The gradients of `linear`: ``dx = dout W^T``, ``dW = x^T dout``, ``db = sum of dout``.

    Sums run over all rows: of the sentence, and of every leading axis.

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
    require_parameters("p", p, Linear)
    x = as_floats("x", x)
    require_width("x", x, "weight", p.weight, axis=-2)
    return _linear_backward(p, x, as_gradient("dout", dout, (*x.shape[:-1], p.weight.shape[-1]), "x and p give"))


def _linear_backward(p: Linear, x: Array, dout: Array) -> tuple[Array, Linear]:
    """`linear_backward` alone, as `_linear`."""
    rows, drows = x.reshape(-1, x.shape[-1]), dout.reshape(-1, dout.shape[-1])  # of all sentences
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
    table = as_floats("table", table)
    require_ndim("table", table, 2)
    require_some("table", table)
    return table[as_ids("ids", ids, table.shape[0])]


def embedding_backward(size: int, ids, dout: Array) -> Array:
    """The gradient of `embedding`: each token's row gathers what flows back to its places.

    The table has `size` rows, of the width of `dout`.

    Examples
    --------
    >>> from toytf.byhand import fmt
    >>> print(fmt(embedding_backward(3, [2, 0, 2], np.array([[1.0], [5.0], [10.0]])), 0))
    [[ 5]
     [ 0]
     [11]]
    """
    size, ids, dout = _usable_places(size, ids, dout)
    one_hot = np.zeros((len(ids), size), dtype=dout.dtype)
    one_hot[np.arange(len(ids)), ids] = 1
    return one_hot.T @ dout


def _usable_places(size: int, ids, dout: Array) -> tuple[int, Array, Array]:
    """Return what `embedding_backward` was given, the places of all sentences in one row."""
    size = positive_int("size", size)
    ids, dout = as_ids("ids", ids, size), as_floats("dout", dout)
    require_some("dout", dout)
    require_shape("dout", dout, (*ids.shape, *dout.shape[-1:]), "ids has, and the width")
    require_room("size", ids.size, size)
    return size, ids.ravel(), dout.reshape(ids.size, -1)


# ---------------------------------------------------------------- activations


def relu(x) -> Array:
    """Cut off what is negative: ``relu(x) = max(0, x)``.

    Notes
    -----
    *Attention Is All You Need*, section 3.3.

    Examples
    --------
    >>> from toytf.byhand import fmt
    >>> print(fmt(relu([-1.5, 0.0, 2.0]), decimals=1))
    [0.0 0.0 2.0]
    """
    return np.maximum(0, as_floats("x", x, min_ndim=0))


def relu_backward(x: Array, dout: Array) -> Array:
    """The gradient of `relu`: `dout` where `x` is positive, 0 elsewhere, at 0 too.

    Examples
    --------
    >>> from toytf.byhand import fmt
    >>> print(fmt(relu_backward(np.array([-1.0, 0.0, 2.0]), np.array([5.0, 5.0, 5.0])), 0))
    [0 0 5]
    """
    x, dout = _input_and_gradient(x, dout)
    return dout * (x > 0)


def gelu(x) -> Array:
    """Weigh `x` by the chance that a standard normal number lies below it: ``gelu(x) = x * Phi(x)``.

    ``Phi(x) = (1 + erf(x / sqrt(2))) / 2``. This is the exact form; `gelu_tanh` is the usual
    approximation.

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
    x, dout = _input_and_gradient(x, dout)
    bell = np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)
    return _rounded_to(x.dtype, dout * (normal_cdf(x) + x * bell))


def _input_and_gradient(x, dout) -> tuple[Array, Array]:
    x = as_floats("x", x, min_ndim=0)
    return x, as_gradient("dout", dout, x.shape, "x has")


def gelu_tanh(x) -> Array:
    """Approximate `gelu` by a hyperbolic tangent::

        gelu_tanh(x) = x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3)))

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
    x = as_floats("x", x, min_ndim=0)
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
    of columns, not by one less. A constant row becomes `beta`; beyond 1e13 the rounding of its mean
    may be larger than the root of `eps`, and shows. Rows of any finite size are right otherwise, also
    where their squares are too large for a float. Rows in float16 are computed in float32; the
    result is float16, the trace float32.

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
    x, eps, dtype = _rows_and_eps(p, x, eps)
    centred, unit = _centred_in_units_whose_squares_fit(x)
    variance = _dot_along(centred, centred) / x.shape[-1]
    std = np.sqrt(variance + eps / unit / unit)
    normalised = centred / std
    out = p.gamma * normalised + p.beta
    return _rounded_to(dtype, out), LayerNormTrace(normalised, std * unit)


def _rows_and_eps(p: LayerNorm, x, eps: float) -> tuple[Array, float, np.dtype]:
    """Return what `layer_norm` was given as its formula can use it, and the dtype of what is asked."""
    require_parameters("p", p, LayerNorm)
    x = as_floats("x", x)
    if p.gamma.shape != x.shape[-1:]:
        raise ValueError(
            f"gamma: expected shape {shape_text(x.shape[-1:])} for rows of shape {shape_text(x.shape)}, "
            f"got {shape_text(p.gamma.shape)}; x has width {x.shape[-1]}"
        )
    require_some("x", x)
    rows = _not_half(x)
    dtype = x.dtype if x.dtype == HALF else np.result_type(p.gamma.dtype, x.dtype)
    return rows, positive_number("eps", eps, rows.dtype), dtype


def _centred_in_units_whose_squares_fit(x: Array) -> tuple[Array, Array | float]:
    """Return ``x - mean(x)`` in a unit of each row's own, and that unit: 1, but for rows as large as 1e154.

    Their squares would leave the float range. Such a row is measured in a power of two near its largest
    number: to divide by that is exact, and moves no digit.
    """
    d = x.shape[-1]
    if surely_finite(x):
        return x - _sum_along(x) / d, 1.0
    require_finite("x", x)
    one = x.dtype.type(1)
    _, exponent = np.frexp(np.abs(x).max(axis=-1, keepdims=True))
    with np.errstate(over="ignore"):
        unit = np.where(np.isfinite(_dot_along(x, x)), one, np.ldexp(one, exponent - 1))
        small = x / unit
        small -= _sum_along(small) / d
        centred = small * unit
        fits = np.isfinite(_dot_along(centred, centred))
    return np.where(fits, centred, small), np.where(fits, one, unit)


def layer_norm_backward(p: LayerNorm, trace: LayerNormTrace, dout: Array) -> tuple[Array, LayerNorm]:
    """The gradients of `layer_norm`, from its trace::

        g      = dout * gamma
        dx     = (g - mean(g) - normalised * mean(g * normalised)) / std
        dgamma = sum of dout * normalised over all rows,   dbeta = sum of dout

    The two means are what the row's own mean and variance send back.

    Returns
    -------
    dx : Array, shape of `dout`
    dp : LayerNorm
    """
    require_parameters("p", p, LayerNorm)
    require_class("trace", trace, LayerNormTrace)
    dout = as_gradient("dout", dout, trace.normalised.shape, "trace has")
    require_width("dout", dout, "gamma", p.gamma, axis=-1)
    normalised, d = trace.normalised, dout.shape[-1]
    g = dout * p.gamma
    dx = (g - _sum_along(g) / d - normalised * (_dot_along(g, normalised) / d)) / trace.std
    dout, normalised = dout.reshape(-1, d), normalised.reshape(-1, d)  # of all sentences
    dp = LayerNorm(np.einsum("ij,ij->j", dout, normalised), dout.sum(axis=0))
    return _rounded_to(g.dtype, dx), dp


def layer_norm_eps_outside(x, eps: float = 1e-6) -> Array:
    """The layer norm of *The Random Transformer*'s code: ``(x - mean) / (std + eps)``.

    Epsilon stands outside the root, and there is neither scale nor shift. On rows of ordinary
    size it agrees with `layer_norm` to six or seven decimals; on rows that are nearly constant
    it does not.

    Examples
    --------
    >>> from toytf.byhand import fmt
    >>> print(fmt(layer_norm_eps_outside([[1.0, 3.0, 3.0, 5.0]])))
    [[-1.4142  0.0000  0.0000  1.4142]]
    """
    x, eps = as_floats("x", x), positive_number("eps", eps)
    require_some("x", x)
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
    ``1 - e + e / vocabulary`` for the right one and ``e / vocabulary`` for each other. Logits in
    float16 are computed in float32, and so are the trace and the gradient.

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
    logits, targets, counted, label_smoothing = _usable_goal(logits, targets, is_token, label_smoothing)
    goal = _smoothed(targets, logits.shape[-1], label_smoothing, logits.dtype)
    log_probs = log_softmax(logits)
    n = int(np.count_nonzero(counted))
    loss = -float((_dot_along(goal, log_probs) * counted).sum()) / n
    return loss, CrossEntropyTrace(np.exp(log_probs), goal, counted, n)


def _smoothed(targets: Array, vocabulary: int, e: float, dtype: np.dtype) -> Array:
    """The distribution that is wanted at each place: one-hot rows, of which each word got its part of `e`."""
    goal = np.full((*targets.shape, vocabulary), e / vocabulary, dtype=dtype)
    np.put_along_axis(goal, targets[..., None], 1 - e + e / vocabulary, axis=-1)
    return goal


def _usable_goal(logits, targets, is_token, label_smoothing) -> tuple[Array, Array, Array, float]:
    """Return what `cross_entropy` was given as its formula can use it, in place of `is_token` 1 and 0."""
    logits = as_floats("logits", logits, min_ndim=2)
    require_some("logits", logits)
    logits = _not_half(logits)
    require_finite("logits", logits)
    targets = as_ids("targets", targets, logits.shape[-1])
    if targets.shape != logits.shape[:-1]:
        raise ValueError(
            f"targets: expected shape {shape_text(logits.shape[:-1])} for logits of shape "
            f"{shape_text(logits.shape)}, got {shape_text(targets.shape)}"
        )
    label_smoothing = share("label_smoothing", label_smoothing)
    is_token = np.ones(targets.shape, dtype=bool) if is_token is None else as_array("is_token", is_token)
    if is_token.dtype != np.bool_ or is_token.shape != targets.shape:
        raise ValueError(
            f"is_token: expected booleans of shape {shape_text(targets.shape)}, "
            f"got dtype {is_token.dtype} and shape {shape_text(is_token.shape)}"
        )
    if not is_token.any():
        raise ValueError("is_token: expected at least one token to count, got none")
    return logits, targets, is_token.astype(logits.dtype)[..., None], label_smoothing


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
    require_class("trace", trace, CrossEntropyTrace)
    # A float, since NumPy 1 divides a float32 array by an int above 65,535 in float64.
    return (trace.probs - trace.goal) * (trace.counted / float(trace.n))
