"""Checkers of chapter 15: gradients."""

import numpy as np

from toytf import ops
from toytf.byhand import Difference, Prod, Quotient, Sum, fmt
from toytf.check.answers import part, product, worked
from toytf.check.core import Case, checker, normals


@checker("ex-15-9", results=("dlogits",))
def cross_entropy_backward(logits, targets, is_token):
    """Give the gradient in the logits: ``(softmax(logits) - one_hot) / tokens``.

    logits: array of shape (..., m, vocabulary). targets: whole numbers of shape
    (..., m), the id of the right word of each row. is_token: True and False, of the
    shape of targets, False for padding. Returns an array of the shape of logits. The
    loss is the mean over the tokens, and a row of padding has gradient 0. It must
    survive a logit of 1000.
    """
    exps = np.exp(logits - logits.max(axis=-1, keepdims=True))
    p = exps / exps.sum(axis=-1, keepdims=True)
    one_hot = np.eye(logits.shape[-1])[targets]
    return (p - one_hot) * is_token[..., None] / is_token.sum()


cross_entropy_backward.cases = lambda rng: [
    Case((np.log([[1.0, 2.0, 5.0]]), [2], [True]), "p = 1/8, 2/8, 5/8, the third word is right"),
    Case((np.log([[1.0, 2.0, 5.0]] * 2), [2, 0], [True, True]), "two rows with different right words"),
    Case((np.log([[1.0, 2.0, 5.0]] * 3), [2, 0, 1], [True, True, False]), "two rows and one of padding"),
    Case(([[0.0, 1000.0]], [0], [True]), "a logit that overflows exp"),
    Case(
        (rng.normal(size=(2, 3, 5)), rng.integers(5, size=(2, 3)), [[True, True, True], [True, False, False]]),
        "two sentences, three places, five words",
    ),
]
cross_entropy_backward.knows("""
    - not divided by the number of tokens: is_token[..., None] / is_token.sum() => is_token[..., None]
      The loss is a mean, so each row counts only its part: divide by is_token.sum() (chapter 15, softmax with
      cross-entropy).
    - divided by the number of all places: is_token.sum() => targets.size
      The mean runs over the tokens alone. Divide by is_token.sum(), not by the number of rows.
    - padding with a gradient: * is_token[..., None] / is_token.sum() => / is_token.sum()
      A row of padding does not count in the loss, so its gradient is 0. Multiply the rows by is_token.
    - padding counted throughout: * is_token[..., None] / is_token.sum() => / targets.size
      This is the gradient of the mean over all places. Leave out the rows where is_token is False, and divide by the
      number of the others.
    - neither divided nor masked: (p - one_hot) * is_token[..., None] / is_token.sum() => p - one_hot
      Two things are missing. A row of padding has gradient 0: multiply the rows by is_token. And the loss is a mean:
      divide by is_token.sum() (chapter 15, softmax with cross-entropy).
    - wanted minus said: p - one_hot => one_hot - p
      The sign is the other way round: p - goal. A logit that should rise has a negative slope.
    - the gradient for the probabilities: p - one_hot => -one_hot / p
      -goal / p is the slope of the loss in p. The way back through the softmax is still to go; together they give p -
      goal (chapter 15).
    - through the softmax twice: (p - one_hot) => ops.softmax_backward(p, p - one_hot)
      p - goal is the gradient of the logits already. Do not multiply by the softmax's derivative again.
    - logits minus goal: p - one_hot => logits - one_hot
      The softmax is missing: subtract the goal from the probabilities.
    - the right words only: (p - one_hot) => (p - one_hot) * one_hot
      The wrong words have a slope as well, their probability. Each row of the gradient sums to 0.
    - 1 subtracted in every row at every target:
        one_hot = np.eye(logits.shape[-1])[targets] => one_hot = np.zeros_like(p); one_hot[..., targets] = 1
      p[..., targets] -= 1 picks columns for all rows at once. Pair each row with its own target: p -
      np.eye(vocabulary)[targets], or p[rows, targets] -= 1.
    - no maximum subtracted: logits - logits.max(axis=-1, keepdims=True) => logits
      exp overflows above 709.78 (chapter 8). Subtract the largest logit of each row first.
""")


_X = np.array([[1.0, 2.0], [0.0, 3.0]])
_W = np.array([[2.0, -1.0], [1.0, 4.0]])
_DY = np.array([[1.0, 0.0], [-1.0, 2.0]])


@checker("ex-15-10", results=("dx", "dw", "db"))
def linear_backward(x, w, dy):
    """The three gradients of ``y = x @ w + b``: for x, for w and for b.

    x: array of shape (..., n, d). w: shape (d, k). dy: shape (..., n, k), the gradient
    with respect to y. Returns dx (the shape of x), dw (d, k) and db (k numbers). All
    rows of all sentences share w and b.
    """
    rows, drows = x.reshape(-1, x.shape[-1]), dy.reshape(-1, dy.shape[-1])
    return dy @ w.T, rows.T @ drows, drows.sum(axis=0)


linear_backward.cases = lambda rng: [
    Case((_X[:1], _W, _DY[:1]), "one row"),
    Case((_X, _W, _DY), "two rows, the matrices of exercise 15.1"),
    Case(normals(rng, (3, 2), (2, 5), (3, 5)), "three rows, from 2 to 5"),
    Case(normals(rng, (2, 3, 4), (4, 5), (2, 3, 5)), "two sentences of three rows, from 4 to 5"),
]
linear_backward.knows("""
    - w not transposed: dy @ w.T => dy @ w
      With a square w the shapes fit all the same and the numbers do not. dx = dy @ w.T: row i of dy times a row of w
      (chapter 15, a linear map).
    - the sum over the sentences forgotten:
        rows.T @ drows, drows.sum(axis=0) => np.swapaxes(x, -1, -2) @ dy, dy.sum(axis=-2)
      dw and db have an axis too many. All sentences share w and b, so their paths add: reshape to rows first, or sum
      over the leading axes.
    - the sum over the sentences forgotten in dw: rows.T @ drows => np.swapaxes(x, -1, -2) @ dy
      All sentences share w, so their paths add. Reshape x and dy to rows, then x.T @ dy.
    - the sum over the sentences forgotten in db: drows.sum(axis=0) => dy.sum(axis=-2)
      All sentences share b. Sum dy over every axis but the last.
    - the first sentence only:
        x.reshape(-1, x.shape[-1]) => x.reshape(-1, x.shape[-1])[: x.shape[-2]], and
        dy.reshape(-1, dy.shape[-1]) => dy.reshape(-1, dy.shape[-1])[: dy.shape[-2]]
      dw and db come from sentence 0 alone. Every sentence adds its part.
    - mean for sum: rows.T @ drows, drows.sum(axis=0) => rows.T @ drows / len(rows), drows.mean(axis=0)
      dw and db are divided by the number of rows. The division belongs to the loss, where it happens once; here the
      paths add.
    - mean for sum in db: drows.sum => drows.mean
      b reaches every row unchanged, and the paths add: db is the sum of the column, not its mean.
    - db summed over the wrong axis: drows.sum(axis=0) => dy.sum(axis=-1)
      b has one entry a column of y, so add up the rows: axis 0 of the rows, not axis=-1.
    - db a single number: drows.sum(axis=0) => dy.sum()
      sum() without an axis adds up all columns. Each entry of b has its own slope: the sum of its column.
    - db without a sum: drows.sum(axis=0) => dy.copy()
      b has one row, dy has many. b reaches all of them, and the paths add.
    - every axis turned round by .T: rows.T @ drows => x.T @ dy
      x.T turns round all axes of x, the sentences too, and then the shapes do not fit. Reshape x and dy to rows first,
      or swap the last two axes with np.swapaxes(x, -1, -2) and add up over the sentences.
    - dw turned over: rows.T @ drows => drows.T @ rows
      dw has the shape of w, (d, k): x.T @ dy, not dy.T @ x.
    - dy taken for ones: dy.reshape => np.ones_like(dy).reshape, and dy @ w.T => np.ones_like(dy) @ w.T
      These are the slopes of the sum of y. The chain rule wants the gradient that comes from above, dy, as a factor of
      every term.
""")


@checker("ex-15-11", results=("dx",))
def relu_backward(x, dy):
    """Give the gradient of ``max(0, x)``: dy where x is positive, else 0, at 0 too.

    x: array of any shape, what went into relu. dy: the gradient with respect to y, of
    the same shape. Returns an array of that shape.
    """
    return dy * (x > 0)


relu_backward.cases = lambda rng: [
    Case(([-1.0, 0.0, 2.0], [5.0, 5.0, 5.0]), "below, at and above 0"),
    Case(([[-1.0, 2.0], [3.0, -4.0]], [[6.0, -7.0], [8.0, -9.0]]), "gradients of both signs"),
    Case(normals(rng, (2, 3, 5), (2, 3, 5)), "two sentences, three rows, five columns"),
]
relu_backward.knows("""
    - gradient let through at 0: x > 0 => x >= 0
      At x = 0 there is no slope from both sides; the choice here is 0: x > 0, not x >= 0.
    - half the gradient at 0: (x > 0) => (np.sign(x) + 1) / 2
      The mean of both sides is one possible choice. The usual one is 0 there.
    - cut by the sign of dy: x > 0 => dy > 0
      Relu cuts numbers on the way forward. On the way back x decides, and a negative dy passes where x is positive.
    - negative gradients cut off as well: (x > 0) => (x > 0) * (dy > 0)
      x > 0 is the only condition. A negative slope is as good as a positive one.
    - dy forgotten: dy * (x > 0) => 1.0 * (x > 0)
      1 and 0 are relu's own slopes. The chain rule multiplies them by dy.
    - relu itself in place of its slope: (x > 0) => np.maximum(x, 0)
      dy is multiplied by max(0, x). The slope of relu is 1 where x is positive, however large x is.
    - the opposite sense: x > 0 => x <= 0
      dy passes where x is not positive. It should pass where relu let x through.
    - dy passed unchanged: dy * (x > 0) => dy.copy()
      Where x is negative, a nudge of x changes nothing, so the slope is 0.
""")


@checker("ex-15-12", results=("ds",))
def softmax_backward(a, da):
    """Give the gradient of a softmax in its scores: ``a_j (da_j - sum_i a_i da_i)``.

    a: array of shape (..., n), the weights that softmax gave; each row sums to 1. da:
    the gradient with respect to the weights, of the same shape. Returns an array of
    that shape; each row sums to 0.
    """
    average = (a * da).sum(axis=-1, keepdims=True)
    return a * (da - average)


softmax_backward.cases = lambda rng: [
    Case(([0.5, 0.25, 0.25], [4.0, 0.0, 8.0]), "the row of exercise 15.3"),
    Case(([[0.5, 0.5], [0.25, 0.75]], [[2.0, 0.0], [4.0, 8.0]]), "two rows"),
    Case((ops.softmax(rng.normal(size=(2, 3, 4))), rng.normal(size=(2, 3, 4))), "two heads, three rows, four keys"),
]
softmax_backward.knows("""
    - the diagonal of the Jacobian only: a * (da - average) => a * (1 - a) * da
      a (1 - a) is what a score does to its own weight. It reaches the other weights of the row as well, by -a_i a_j,
      and these paths add (chapter 15, back through attention).
    - the average not subtracted: a * (da - average) => a * da
      a * da leaves out that the weights share one sum. Subtract the row's average slope from da first.
    - an average that is not weighted: (a * da).sum => da.mean
      The average slope of a row is taken by its own weights, sum of a * da, not da.mean().
    - the factor a forgotten: a * (da - average) => da - average
      The difference to the average still has to be multiplied by the weight itself.
    - the signs exchanged: da - average => average - da
      It is da minus the average: what lies above the average makes the loss grow.
    - the average added: da - average => da + average
      Subtract it: each row of the result must sum to 0.
    - summed over the wrong axis: axis=-1 => axis=max(a.ndim - 2, 0)
      One query's weights stand along its row: axis=-1.
    - one sum for the whole array: .sum(axis=-1, keepdims=True) => .sum()
      sum() without an axis mixes all rows. Each row has its own average: axis=-1, keepdims=True.
    - keepdims forgotten: axis=-1, keepdims=True => axis=-1
      A sum of shape (n,) is laid along the columns, where it belongs to the rows: keepdims=True.
    - weights taken for scores: average = => a = ops.softmax(a); average =
      a has been through softmax already. Taking it again makes other weights.
""")


def _layer_norm_cases(rng):
    gamma = np.array([1.0, 2.0, 0.5, -1.0])
    x = np.array([[1.0, 3.0, 3.0, 5.0], [0.0, 2.0, 4.0, 6.0]])
    dout = np.array([[2.0, 0.0, 1.0, 1.0], [1.0, -1.0, 0.0, 2.0]])
    return [
        Case((x[:1], np.ones(4), dout[:1]), "Hello's row, gamma all ones"),
        Case((x, gamma, dout), "two rows, and a gamma"),
        Case((np.array([[512.0, 513.0, 511.0, 512.0]]) / 512, gamma, dout[1:]), "a row that is nearly constant"),
        Case(
            (rng.normal(size=(2, 3, 5)), rng.normal(size=5) + 2, rng.normal(size=(2, 3, 5))),
            "two sentences, three rows, width 5",
        ),
    ]


@checker(
    "ex-15-7",
    cases=_layer_norm_cases,
    results=("dx", "dgamma", "dbeta"),
    tolerance=1e-8,  # a nearly constant row has large gradients, whose parts cancel
    points=3,
)
def layer_norm_backward(x, gamma, dout, eps=1e-5):
    """Give the gradients of ``gamma * (x - mean) / sigma + beta``.

    Three of them: for x, for gamma and for beta. sigma is the root of variance + eps.
    x: array of shape (..., n, d), one token a row. gamma: shape (d,). dout: the
    gradient with respect to the output, of the shape of x. Returns dx (the shape of x),
    dgamma (d,) and dbeta (d,). All rows of all sentences share gamma and beta.
    """
    away = x - x.mean(axis=-1, keepdims=True)
    sigma = np.sqrt((away**2).mean(axis=-1, keepdims=True) + eps)
    y = away / sigma
    dy = dout * gamma
    along = (dy * y).mean(axis=-1, keepdims=True)
    dx = (dy - dy.mean(axis=-1, keepdims=True) - y * along) / sigma
    rows = tuple(range(x.ndim - 1))
    return dx, (dout * y).sum(axis=rows), dout.sum(axis=rows)


layer_norm_backward.knows("""
    - gamma forgotten in the two means: (dy * y).mean => (dout * y).mean, and dy - dy.mean => dy - dout.mean
      Both means are those of dy = dout * gamma. With dout in their place dx no longer stands at right angles to the
      ones.
    - gamma forgotten: dout * gamma => dout
      The output is gamma * y + beta, so dy = dout * gamma; go on with dy.
    - mean and deviation taken for constants: (dy - dy.mean(axis=-1, keepdims=True) - y * along) => dy
      dy / sigma is only the direct path. Each entry of x also moves the mean and sigma of its row, and these paths add
      (chapter 15, layer norm).
    - the path through the mean forgotten: dy - dy.mean(axis=-1, keepdims=True) => dy
      mean(dy) is not subtracted. The entries of dx must sum to 0 in each row, since a constant added to a row changes
      nothing.
    - the path through the deviation forgotten: mean(axis=-1, keepdims=True) - y * along => mean(axis=-1, keepdims=True)
      y * mean(dy * y) is not subtracted. Stretching a row changes nothing, so dx has no part along y.
    - sums for means: (dy * y).mean => (dy * y).sum, and dy - dy.mean => dy - dy.sum
      What goes through the mean and the deviation comes with a factor 1/d: take mean(dy) and mean(dy * y).
    - divided by the variance: - y * along) / sigma => - y * along) / sigma**2
      dx is divided by sigma, the root of variance + eps.
    - the division by sigma forgotten: - y * along) / sigma => - y * along)
      A row with large distances passes on a small gradient: divide by sigma at the end.
    - dgamma with x in place of y: (dout * y).sum => (dout * x).sum
      gamma multiplies the normalised row y, so dgamma sums dout * y.
    - gamma in its own gradient: (dout * y).sum => (dout * gamma * y).sum
      gamma multiplies y, so its slope is dout * y, summed over the rows; gamma itself does not occur in it.
    - the sum over the sentences forgotten: tuple(range(x.ndim - 1)) => -2
      dgamma and dbeta have an axis too many. All rows of all sentences share gamma and beta: sum over every axis but
      the last.
    - dgamma and dbeta without a sum: (dout * y).sum(axis=rows), dout.sum(axis=rows) => dout * y, dout.copy()
      There is one gamma for all rows, and each row adds its part: sum over every axis but the last.
    - N-1 in the variance: (away**2).mean(axis=-1, keepdims=True) => x.var(axis=-1, ddof=1, keepdims=True)
      Layer norm divides the squared distances by d, not by d - 1: no ddof=1 (chapter 9).
    - epsilon outside the root:
        np.sqrt((away**2).mean(axis=-1, keepdims=True) + eps) => np.sqrt((away**2).mean(axis=-1, keepdims=True)) + eps
      sigma is the root of variance + eps, not the root plus eps (chapter 9).
    - epsilon left out: (away**2).mean(axis=-1, keepdims=True) + eps => (away**2).mean(axis=-1, keepdims=True)
      On a nearly constant row it matters: sigma is the root of variance + eps.
""")


LOG_3 = np.log(3.0)


@checker("ex-15-13", results=("dq", "dk", "dv"), points=3)
def attention_backward(q, k, v, do):
    """The three gradients of ``softmax(q k^T / sqrt(d)) v``: for q, for k and for v.

    q: array of shape (..., n, d). k: (..., m, d). v: (..., m, c). do: (..., n, c), the
    gradient with respect to the output. Returns dq, dk and dv, each of the shape of its
    array.
    """
    scale = 1 / np.sqrt(q.shape[-1])
    scores = q @ np.swapaxes(k, -1, -2) * scale
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    a = exps / exps.sum(axis=-1, keepdims=True)
    dv = np.swapaxes(a, -1, -2) @ do
    da = do @ np.swapaxes(v, -1, -2)
    ds = a * (da - (a * da).sum(axis=-1, keepdims=True)) * scale
    return ds @ k, np.swapaxes(ds, -1, -2) @ q, dv


attention_backward.cases = lambda rng: [
    Case(([[LOG_3]], [[1.0], [0.0]], [[4.0], [8.0]], [[1.0]]), "one query, two keys, width 1: weights 3/4 and 1/4"),
    Case(
        (
            [[2 * LOG_3, 0, 0, 0], [0, 2 * LOG_3, 0, 0]],
            np.eye(4)[:2],
            [[4.0, 0.0], [0.0, 8.0]],
            [[1.0, 1.0], [2.0, 0.0]],
        ),
        "two queries, two keys, width 4",
    ),
    Case(normals(rng, *[(2, 2)] * 4), "everything square"),
    Case(
        normals(rng, (2, 3, 2, 4), (2, 3, 3, 4), (2, 3, 3, 5), (2, 3, 2, 5)),
        "two sentences, three heads, two queries, three keys",
    ),
]
attention_backward.knows("""
    - the divisor forgotten on the way back:
        a * (da - (a * da).sum(axis=-1, keepdims=True)) * scale => a * (da - (a * da).sum(axis=-1, keepdims=True))
      The scores were divided by the root of d, so their gradient is too: dS is d(S / root d), divided once more.
    - the divisor forgotten in dk:
        a * (da - (a * da).sum(axis=-1, keepdims=True)) * scale => a * (da - (a * da).sum(axis=-1, keepdims=True)), and
        return ds @ k => return ds * scale @ k
      dq and dk are both made from the gradient of the unscaled scores. Divide dS itself, before either product.
    - no divisor at all: 1 / np.sqrt(q.shape[-1]) => 1.0
      The scores have to be divided by the root of d, on the way forward and on the way back (chapter 5).
    - divided by d in place of its root: np.sqrt(q.shape[-1]) => q.shape[-1]
      The divisor is the root of the width of a query (chapter 5).
    - the diagonal of the softmax's Jacobian only: a * (da - (a * da).sum(axis=-1, keepdims=True)) => a * (1 - a) * da
      a (1 - a) leaves out what a score does to the other weights of its row. Use a * (da - sum of a * da).
    - the average taken over the queries on the way back: (a * da).sum(axis=-1 => (a * da).sum(axis=-2
      A score moves the weights of its own row, so the sum of a * da runs along the keys: axis=-1.
    - the softmax left out on the way back: a * (da - (a * da).sum(axis=-1, keepdims=True)) => da
      dA is the gradient of the weights. To reach the scores it has to pass the softmax.
    - dq and dk exchanged: ds @ k, np.swapaxes(ds, -1, -2) @ q => np.swapaxes(ds, -1, -2) @ q, ds @ k
      dq = dS k and dk = dS^T q: a query's gradient is made of keys, a key's of queries. Return dq first.
    - dS not transposed in dk: np.swapaxes(ds, -1, -2) => ds
      A key collects from all queries, so the sum runs down a column of dS: dk = dS^T q.
    - weights not transposed in dv: np.swapaxes(a, -1, -2) => a
      A value collects from all rows that looked at it, so the sum runs down a column of A: dv = A^T dO.
    - v not transposed in dA: np.swapaxes(v, -1, -2) => v
      The slope of a weight is the product of a row of dO with a row of v: dA = dO v^T.
    - softmax over the wrong axis: axis=-1 =>> axis=-2
      A query's weights sum to 1 along its row: axis=-1, on the way forward and on the way back.
""")


# 15.2: three words, powers 1, 2, 5
_THREE = np.array([1.0, 2.0, 5.0]) / 8


def _minus(right, name):
    """Said minus wanted."""
    steps = [Difference(p, int(word == right)) for word, p in enumerate(_THREE)]
    goal = np.eye(3)[right]
    return (
        worked(name, steps, decimals=3, shown="g")
        .knows(goal - _THREE, "wanted minus said. It is said minus wanted.")
        .knows(_THREE, "the probabilities. Subtract 1 where the right word stands.")
        .knows(_THREE - np.eye(3)[2 - right], "the gradient of another right word.")
    )


# 15.3: one row through a softmax
_A, _DA = np.array([0.5, 0.25, 0.25]), np.array([4.0, 0.0, 12.0])


def _through(plus):
    average = (_A * (_DA + plus)).sum()
    steps = [Prod(a, Difference(da, average)) for a, da in zip(_A, _DA + plus, strict=True)]
    da = _DA + plus
    return (
        worked("ds, 15 added" if plus else "ds", steps, decimals=2, shown="g")
        .knows(_A * da, "the average not subtracted: a da. A share that grows takes from the others.")
        .knows(
            _A * (1 - _A) * da,
            "a(1 - a) da, the slope of each share by its own score alone. The other shares move too.",
        )
        .knows(da - average, "the difference not multiplied by the share.")
        .knows(_A * (da - da.mean()), "the plain average subtracted. Each slope counts by its share in it.")
    )


# 15.4: one query, two keys
_Q, _DO = np.array([LOG_3, 0.0]), np.array([1.0, 2.0])
_K, _V = np.array([[1.0, 1.0], [0.0, 3.0]]), np.array([[4.0, 0.0], [4.0, 8.0]])
_ONE = np.array([0.75, 0.25])
_DA_4 = _DO @ _V.T
_DS = [Prod(a, Difference(da, _ONE @ _DA_4)) for a, da in zip(_ONE, _DA_4, strict=True)]
_DS_4 = np.array([ds.value for ds in _DS])

BY_HAND = {}
BY_HAND["15.1"] = [
    product("dX", _DY, _W.T).knows(_DY @ _W, "the transpose forgotten: dY W. It is dY W^T."),
    product("dW", _X.T, _DY).knows(_X @ _DY, "the transpose forgotten: X dY. It is X^T dY."),
    worked("db", [Sum(*column) for column in _DY.T.tolist()])
    .knows(_DY.sum(axis=1), "the sums of the rows. A bias is added to a column, in every row.")
    .knows(_DY.mean(axis=0), "the means of the columns. Slopes of several paths add."),
    product("dX without the transpose", _DY, _W).knows(_DY @ _W.T, "dX with the transpose."),
]
BY_HAND["15.2"] = [
    worked("p", [Quotient(power, Sum(1, 2, 5)) for power in (1, 2, 5)], decimals=3, shown="g")
    .knows(np.log([1, 2, 5]) / np.log(10), "the logits divided by their sum. First e to each logit.")
    .knows([1, 2, 5], "the powers. Divide each by their sum."),
    part("loss", -np.log(_THREE[2]), f"-log(5/8) = {fmt(-np.log(5 / 8))}", decimals=4)
    .knows(np.log(_THREE[2]), "the sign lost. The loss is minus the logarithm.")
    .knows_logarithms(),
    _minus(2, "gradient"),
    _minus(0, "gradient, first word right"),
]
BY_HAND["15.3"] = [_through(0), _through(15)]
BY_HAND["15.4"] = [
    product("O", _ONE, _V)
    .knows(_Q @ _V, "the scores times V. First the softmax.")
    .knows(_ONE @ _V.T, "the shares times V^T. On the way forward V stands as it is.")
    .knows(ops.softmax(_Q @ _K) @ _V, "scores with the columns of K. A key is a row: the scores are q K^T.")
    .knows(_ONE[::-1] @ _V, "the two weights exchanged. The larger score has the larger weight."),
    product("dV", _ONE[:, None], _DO[None], decimals=2).knows(
        _DO[:, None] * _ONE, "the right table turned over. Each weight has a row of dV."
    ),
    product("dA", _DO, _V.T)
    .knows(_ONE @ _V, "the output O. dA meets dO with each value.")
    .knows(_DO @ _V, "dO V, without the transpose. A value is a row of V: dA = dO V^T."),
    worked("dS", _DS)
    .knows(_ONE * _DA_4, "the average not subtracted: a da.")
    .knows(_DA_4 - _ONE @ _DA_4, "the difference not multiplied by the share.")
    .knows(_ONE * (_DA_4 - _DA_4.mean()), "the plain average subtracted. Each slope counts by its share."),
    product("dQ", _DS_4, _K)
    .knows(_DS_4 @ _K / np.sqrt(2), "a division by the root of 2. This attention has no divisor.")
    .knows(_DS_4 @ _K.T, "dS K^T. The scores are q K^T, so on the way back it is dS K.")
    .knows(_DS_4, "dS itself. Each slope still meets its key."),
    product("dK", _DS_4[:, None], _Q[None], decimals=4)
    .knows(_DS_4[:, None] * [1, 0], "dS with 1 in place of log 3. dK is dS times the query.")
    .knows(_Q[:, None] * _DS_4, "the right table turned over. Each key has a row of dK."),
]
BY_HAND["15.5"] = [
    worked("y", [Quotient(Difference(x, 4), 2) for x in (2, 6)])
    .knows([-0.5, 0.5], "a division by the variance, 4. Divide by its root.")
    .knows([-(0.5**0.5), 0.5**0.5], "a deviation with N - 1. The squares are divided by N = 2.")
    .knows([-2, 2], "the mean subtracted and no more. Divide by the deviation."),
    part("mean(dy)", 2.0, "(5 + (-1)) / 2 = 2")
    .knows(4, "the sum. Divide by how many there are.")
    .knows(3, "a minus sign lost."),
    worked("mean(dy y)", Quotient(Sum(Prod(5, -1), Prod(-1, 1)), 2))
    .knows(-6, "the sum. Divide by how many there are.")
    .knows(-2, "a minus sign lost."),
    worked("dx", [Quotient(Difference(Difference(dy, 2), Prod(y, -3)), 2) for dy, y in ((5, -1), (-1, 1))])
    .knows([2.5, -0.5], "mean and deviation as constants: dy divided by 2. They move with x.")
    .knows([1.5, -1.5], "the mean alone taken out. The part along y goes too.")
    .knows([1, 1], "the part along y alone taken out. The mean goes too."),
]
