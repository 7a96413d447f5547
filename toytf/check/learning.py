"""Checkers of chapters 14 to 16: loss, gradients, training."""

from __future__ import annotations

import numpy as np

from toytf import attention, ops, optim
from toytf.byhand import fmt
from toytf.check.core import Case, Check, Mistake, apart
from toytf.check.pencil import ByHand, Part, product

LOG_3 = np.log(3.0)


def _swap(x):
    """Rows and columns of every matrix exchanged."""
    return np.swapaxes(x, -1, -2)


def _rows(x):
    """All rows of all sentences, one below the other."""
    return x.reshape(-1, x.shape[-1])


# ---------------------------------------------------------------- chapter 14: the loss


def cross_entropy(logits, targets, is_token):
    """The loss: the mean over all tokens of ``-log softmax(logits)[target]``, in nats.

    logits: array of shape (..., m, vocabulary). targets: whole numbers of shape
    (..., m), the id of the right word of each row. is_token: True and False, of the
    shape of targets; a row with False is padding and does not count. Returns one
    number. It must survive a logit of 1000.
    """
    shifted = logits - logits.max(axis=-1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    right = np.take_along_axis(log_p, targets[..., None], axis=-1)[..., 0]
    return -right[is_token].mean()


def _cross_entropy_cases(rng):
    two = np.array([[0.0, LOG_3], [LOG_3, 0.0]])
    lengths = np.array([[True, True, True], [True, False, False]])
    return [
        Case((two[:1], np.array([1]), np.array([True])), "one token, to which the model gives 3/4"),
        Case((two, np.array([1, 1]), np.array([True, True])), "two tokens, with 3/4 and 1/4"),
        Case(
            (np.vstack([two, [0.0, 0.0]]), np.array([1, 1, 0]), np.array([True, True, False])),
            "the same two tokens, and padding",
        ),
        Case(
            (np.array([[1000.0, 0.0], [0.0, 0.0]]), np.array([0, 0]), np.array([True, True])),
            "a large logit at a right word",
        ),
        Case((np.array([[0.0, 1000.0]]), np.array([0]), np.array([True])), "a right word with hardly any probability"),
        Case(
            (2 * rng.normal(size=(2, 3, 5)), rng.integers(5, size=(2, 3)), lengths),
            "two sentences, three places, five words",
        ),
    ]


def _of_targets(table, targets):
    """From each row the entry at its target."""
    return np.take_along_axis(table, targets[..., None], axis=-1)[..., 0]


def _losses(logits, targets):
    """The loss of each place, padding or not."""
    return -_of_targets(ops.log_softmax(logits), targets)


def _mean_over(losses, counted):
    return (losses * counted).sum() / counted.sum()


def _mean_of_sentence_means(logits, targets, is_token):
    return ((_losses(logits, targets) * is_token).sum(axis=-1) / is_token.sum(axis=-1)).mean()


def _accuracy(logits, targets, is_token):
    return _mean_over(logits.argmax(axis=-1) == targets, is_token)


def _naive_cross_entropy(logits, targets, is_token):
    exps = np.exp(logits)
    p = exps / exps.sum(axis=-1, keepdims=True)
    return -np.log(_of_targets(p, targets)[is_token]).mean()


CROSS_ENTROPY = Check(
    solution=cross_entropy,
    expected=lambda logits, targets, is_token: ops.cross_entropy(logits, targets, is_token)[0],
    cases=_cross_entropy_cases,
    exercise="ex-14-8",
    results=("loss",),
    mistakes=(
        Mistake(
            "no maximum subtracted",
            "exp overflows above 709.78. Subtract the largest logit of each row first (chapter 14, straight from the "
            "logits); the loss stays the same.",
            _naive_cross_entropy,
        ),
        Mistake(
            "the logarithm of a softmax",
            "A probability that is too small for a float becomes 0, and its logarithm minus infinity. Join the two on "
            "paper: log p = s - log(sum of exp(s)), with the largest logit subtracted (chapter 14).",
            lambda s, targets, is_token: -np.log(_of_targets(ops.softmax(s), targets)[is_token]).mean(),
        ),
        Mistake(
            "padding counted",
            "The mean runs over the tokens alone: leave out the rows where is_token is False, from the sum and from "
            "the number that you divide by (chapter 14, padding does not count).",
            lambda s, targets, is_token: _losses(s, targets).mean(),
        ),
        Mistake(
            "divided by the number of all places",
            "The sum leaves the padding out, the division does not. Divide by the number of tokens, is_token.sum().",
            lambda s, targets, is_token: (_losses(s, targets) * is_token).sum() / targets.size,
        ),
        Mistake(
            "the mask with the opposite sense",
            "True in is_token marks a token, and you averaged over the padding. Count where is_token is True.",
            lambda s, targets, is_token: _mean_over(_losses(s, targets), ~is_token),
        ),
        Mistake(
            "sum for mean",
            "The losses of the tokens are added and not divided. Divide by their number; otherwise a large batch looks "
            "worse than a small one.",
            lambda s, targets, is_token: (_losses(s, targets) * is_token).sum(),
        ),
        Mistake(
            "a mean of sentence means",
            "A token of a short sentence then weighs more. Take one mean over all tokens of the batch (chapter 14, "
            "padding does not count).",
            _mean_of_sentence_means,
        ),
        Mistake(
            "the sign forgotten",
            "The logarithm of a probability is never positive, and a loss is never negative: turn the sign round.",
            lambda s, targets, is_token: -_mean_over(_losses(s, targets), is_token),
        ),
        Mistake(
            "base-2 logarithm",
            "This is the loss in bits. Here it is in nats: take np.log, not np.log2.",
            lambda s, targets, is_token: _mean_over(_losses(s, targets), is_token) / np.log(2),
        ),
        Mistake(
            "the logarithm of the mean probability",
            "Take the logarithm of each token's probability first, then the mean. The product of probabilities becomes "
            "a sum of logarithms (chapter 14, minus the logarithm).",
            lambda s, targets, is_token: -np.log(_mean_over(np.exp(-_losses(s, targets)), is_token)),
        ),
        Mistake(
            "logits taken for probabilities",
            "The logarithm of the logits themselves is taken. A softmax has to come first.",
            lambda s, targets, is_token: -np.log(_of_targets(s, targets)[is_token]).mean(),
        ),
        Mistake(
            "softmax taken twice",
            "The probabilities went through a softmax once more, which makes them nearly equal. One is enough, and "
            "log-softmax contains it already.",
            lambda s, targets, is_token: _mean_over(_losses(ops.softmax(s), targets), is_token),
        ),
        Mistake(
            "softmax over the wrong axis",
            "The probabilities of one place sum to 1 over the words, which is the last axis: axis=-1.",
            lambda s, targets, is_token: _mean_over(-_of_targets(ops.log_softmax(s, axis=-2), targets), is_token),
        ),
        Mistake(
            "the likeliest word in place of the right one",
            "The loss looks at the probability of the target, whatever the model would say itself.",
            lambda s, targets, is_token: _mean_over(-ops.log_softmax(s).max(axis=-1), is_token),
        ),
        Mistake(
            "accuracy in place of the loss",
            "This counts how often the likeliest word is the right one. Such a count has no slope to learn from; take "
            "minus the logarithm of the right word's probability.",
            _accuracy,
        ),
    ),
)


def smoothed_goal(targets, vocabulary, e):
    """Make the goal with label smoothing: a share e is spread evenly over all words.

    The right word gets its part of the share too. targets: whole numbers of any shape,
    the ids of the right words. vocabulary: how many words there are. e: the share, at
    least 0 and below 1. Returns an array of shape (..., vocabulary); each sums to 1.
    """
    one_hot = np.eye(vocabulary)[targets]
    return (1 - e) * one_hot + e / vocabulary


def _smoothed_goal_cases(rng):
    return [
        Case((np.array([1]), 4, 0.2), "four words, the second is right"),
        Case((np.array([2, 0]), 5, 0.1), "two rows, five words, the paper's share"),
        Case((np.array([3, 1]), 4, 0.0), "no smoothing"),
        Case((rng.integers(6, size=(2, 3)), 6, 0.3), "two sentences, three places, six words"),
    ]


def _toytf_goal(targets, vocabulary, e):
    return ops.cross_entropy(np.zeros((*targets.shape, vocabulary)), targets, None, e)[1].goal


def _two_levels(targets, vocabulary, right, others):
    goal = np.full((*targets.shape, vocabulary), float(others))
    np.put_along_axis(goal, targets[..., None], right, axis=-1)
    return goal


def _columns_for_all_rows(targets, vocabulary, e):
    goal = np.full((*targets.shape, vocabulary), e / vocabulary)
    goal[..., targets] = 1 - e + e / vocabulary
    return goal


SMOOTHED_GOAL = Check(
    solution=smoothed_goal,
    expected=_toytf_goal,
    cases=_smoothed_goal_cases,
    exercise="ex-14-9",
    results=("goal",),
    mistakes=(
        Mistake(
            "the share spread over the other words only",
            "Each wrong word gets e / (vocabulary - 1), the right one 1 - e. The paper spreads e over all words, the "
            "right one too (chapter 14, label smoothing).",
            lambda targets, n, e: _two_levels(targets, n, 1 - e, e / (n - 1)),
        ),
        Mistake(
            "the right word without its part of the share",
            "1 - e stands at the right word, and the row does not sum to 1. It gets its e / vocabulary as well.",
            lambda targets, n, e: _two_levels(targets, n, 1 - e, e / n),
        ),
        Mistake(
            "the share added and nothing taken away",
            "The right word has 1 + e / vocabulary, and the row sums to 1 + e. Multiply the one-hot row by 1 - e "
            "first.",
            lambda targets, n, e: _two_levels(targets, n, 1 + e / n, e / n),
        ),
        Mistake(
            "the whole share for every wrong word",
            "e is what all words get together. Each gets e / vocabulary.",
            lambda targets, n, e: _two_levels(targets, n, 1 - e, e),
        ),
        Mistake(
            "the whole share for every word",
            "e is what all words get together, so each gets e / vocabulary, and the row sums to 1.",
            lambda targets, n, e: _two_levels(targets, n, 1.0, e),
        ),
        Mistake(
            "e and 1 - e exchanged",
            "The right word keeps 1 - e, and the small share e is spread.",
            lambda targets, n, e: _two_levels(targets, n, e + (1 - e) / n, (1 - e) / n),
        ),
        Mistake(
            "no smoothing",
            "This is the one-hot goal, right only for e = 0.",
            lambda targets, n, e: _two_levels(targets, n, 1.0, 0.0),
        ),
        Mistake(
            "ids counted from 1",
            "Id 0 is the first word: the goal stands one column too far to the left.",
            lambda targets, n, e: _toytf_goal((targets - 1) % n, n, e),
        ),
        Mistake(
            "every target set in every row",
            "goal[..., targets] = ... picks columns for all rows at once. Pair each row with its own target: "
            "np.eye(vocabulary)[targets], or goal[rows, targets].",
            _columns_for_all_rows,
        ),
    ),
)


def shift_right(goals, sos):
    """Make what the decoder reads: the right words moved one place, sos in front.

    goals: whole numbers of shape (..., m), the ids that the decoder should say, one
    sentence a row. sos: the id of the start token. Returns an array of the same shape;
    each row's last goal is read nowhere.
    """
    first = np.full_like(goals[..., :1], sos)
    return np.concatenate([first, goals[..., :-1]], axis=-1)


def _shift_cases(rng):
    return [
        Case((np.array([3, 5]), 9), "one sentence of two tokens"),
        Case((np.array([[2, 1, 0, 4, 5], [3, 5, 0, 0, 0]]), 1), "two sentences, the second filled up with 0"),
        Case((rng.permutation(np.arange(2, 26)).reshape(2, 3, 4), 1), "two batches of three sentences"),
    ]


def _start_in_front(goals, sos):
    return np.concatenate([np.full_like(goals[..., :1], sos), goals], axis=-1)


def _overwritten(goals, sos):
    found = goals.copy()
    found[..., 0] = sos
    return found


def _left(goals, sos):
    return np.concatenate([goals[..., 1:], np.full_like(goals[..., :1], sos)], axis=-1)


def _down(goals, sos):
    """Whole rows moved, where there are several."""
    found = np.roll(goals, 1, axis=0)
    found[0] = sos
    return found


def _last_replaced(goals, sos):
    found = goals.copy()
    found[..., -1] = sos
    return found


def _flat_shift(goals, sos):
    return np.concatenate([[sos], goals.ravel()[:-1]]).reshape(goals.shape)


SHIFT_RIGHT = Check(
    solution=shift_right,
    expected=lambda goals, sos: _start_in_front(goals, sos)[..., :-1],
    cases=_shift_cases,
    exercise="ex-14-10",
    results=("read",),
    mistakes=(
        Mistake(
            "the shift forgotten",
            "The decoder reads what it should say, and learns to repeat it (exercise 14.5).",
            lambda goals, sos: goals.copy(),
        ),
        Mistake(
            "the last token not cut off",
            "The row is one token too long. What follows the last goal is never asked for: leave the last goal out.",
            _start_in_front,
        ),
        Mistake(
            "the last token moved to the front",
            "np.roll brings what falls out on the right back in on the left. The first place belongs to the start "
            "token.",
            lambda goals, sos: np.roll(goals, 1, axis=-1),
        ),
        Mistake(
            "shifted to the left",
            "Each row then reads the word after its goal. Move the words to the right, and put the start token in "
            "front.",
            _left,
        ),
        Mistake(
            "the first word overwritten",
            "The start token stands in front, and the other words have not moved: every row but the first reads its "
            "own goal.",
            _overwritten,
        ),
        Mistake(
            "the start token at the end",
            "It replaces the last word and nothing moves. It belongs in front, and the words one place to the right.",
            _last_replaced,
        ),
        Mistake(
            "moved along the wrong axis",
            "The sentences of the batch have moved down. Places of one sentence stand along the last axis: axis=-1.",
            _down,
        ),
        Mistake(
            "all sentences in one row",
            "The flattened array was shifted, so the last word of one sentence became the first of the next. Shift "
            "each sentence by itself.",
            _flat_shift,
        ),
    ),
)


# ---------------------------------------------------------------- chapter 15: gradients


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


def _dlogits_cases(rng):
    three = np.log(np.array([[1.0, 2.0, 5.0]]))
    lengths = np.array([[True, True, True], [True, False, False]])
    return [
        Case((three, np.array([2]), np.array([True])), "p = 1/8, 2/8, 5/8, the third word is right"),
        Case(
            (np.vstack([three, three]), np.array([2, 0]), np.array([True, True])), "two rows with different right words"
        ),
        Case(
            (np.vstack([three, three, three]), np.array([2, 0, 1]), np.array([True, True, False])),
            "two rows and one of padding",
        ),
        Case((np.array([[0.0, 1000.0]]), np.array([0]), np.array([True])), "a logit that overflows exp"),
        Case(
            (rng.normal(size=(2, 3, 5)), rng.integers(5, size=(2, 3)), lengths),
            "two sentences, three places, five words",
        ),
    ]


def _miss(logits, targets):
    """Said minus wanted, at every place."""
    return ops.softmax(logits) - np.eye(logits.shape[-1])[targets]


def _counted(rows, is_token):
    return rows * is_token[..., None] / is_token.sum()


def _columns_of_all_rows(logits, targets, is_token):
    p = ops.softmax(logits)
    p[..., targets] -= 1
    return _counted(p, is_token)


def _naive_miss(logits, targets):
    exps = np.exp(logits)
    return exps / exps.sum(axis=-1, keepdims=True) - np.eye(logits.shape[-1])[targets]


CROSS_ENTROPY_BACKWARD = Check(
    solution=cross_entropy_backward,
    expected=lambda s, targets, is_token: ops.cross_entropy_backward(ops.cross_entropy(s, targets, is_token)[1]),
    cases=_dlogits_cases,
    exercise="ex-15-9",
    results=("dlogits",),
    mistakes=(
        Mistake(
            "not divided by the number of tokens",
            "The loss is a mean, so each row counts only its part: divide by is_token.sum() (chapter 15, softmax with "
            "cross-entropy).",
            lambda s, targets, is_token: _miss(s, targets) * is_token[..., None],
        ),
        Mistake(
            "divided by the number of all places",
            "The mean runs over the tokens alone. Divide by is_token.sum(), not by the number of rows.",
            lambda s, targets, is_token: _miss(s, targets) * is_token[..., None] / targets.size,
        ),
        Mistake(
            "padding with a gradient",
            "A row of padding does not count in the loss, so its gradient is 0. Multiply the rows by is_token.",
            lambda s, targets, is_token: _miss(s, targets) / is_token.sum(),
        ),
        Mistake(
            "padding counted throughout",
            "This is the gradient of the mean over all places. Leave out the rows where is_token is False, and divide "
            "by the number of the others.",
            lambda s, targets, is_token: _miss(s, targets) / targets.size,
        ),
        Mistake(
            "wanted minus said",
            "The sign is the other way round: p - goal. A logit that should rise has a negative slope.",
            lambda s, targets, is_token: -_counted(_miss(s, targets), is_token),
        ),
        Mistake(
            "the gradient for the probabilities",
            "-goal / p is the slope of the loss in p. The way back through the softmax is still to go; together they "
            "give p - goal (chapter 15).",
            lambda s, targets, is_token: _counted(-np.eye(s.shape[-1])[targets] / ops.softmax(s), is_token),
        ),
        Mistake(
            "through the softmax twice",
            "p - goal is the gradient of the logits already. Do not multiply by the softmax's derivative again.",
            lambda s, targets, is_token: _counted(ops.softmax_backward(ops.softmax(s), _miss(s, targets)), is_token),
        ),
        Mistake(
            "logits minus goal",
            "The softmax is missing: subtract the goal from the probabilities.",
            lambda s, targets, is_token: _counted(s - np.eye(s.shape[-1])[targets], is_token),
        ),
        Mistake(
            "the right words only",
            "The wrong words have a slope as well, their probability. Each row of the gradient sums to 0.",
            lambda s, targets, is_token: _counted(_miss(s, targets) * np.eye(s.shape[-1])[targets], is_token),
        ),
        Mistake(
            "1 subtracted in every row at every target",
            "p[..., targets] -= 1 picks columns for all rows at once. Pair each row with its own target: "
            "p - np.eye(vocabulary)[targets], or p[rows, targets] -= 1.",
            _columns_of_all_rows,
        ),
        Mistake(
            "no maximum subtracted",
            "exp overflows above 709.78 (chapter 8). Subtract the largest logit of each row first.",
            lambda s, targets, is_token: _counted(_naive_miss(s, targets), is_token),
        ),
    ),
)


def linear_backward(x, w, dy):
    """The three gradients of ``y = x @ w + b``: for x, for w and for b.

    x: array of shape (..., n, d). w: shape (d, k). dy: shape (..., n, k), the gradient
    with respect to y. Returns dx (the shape of x), dw (d, k) and db (k numbers). All
    rows of all sentences share w and b.
    """
    rows, drows = x.reshape(-1, x.shape[-1]), dy.reshape(-1, dy.shape[-1])
    return dy @ w.T, rows.T @ drows, drows.sum(axis=0)


_X = np.array([[1.0, 2.0], [0.0, 3.0]])
_W = np.array([[2.0, -1.0], [1.0, 4.0]])
_DY = np.array([[1.0, 0.0], [-1.0, 2.0]])


def _linear_cases(rng):
    return [
        Case((_X[:1], _W, _DY[:1]), "one row"),
        Case((_X, _W, _DY), "two rows, the matrices of exercise 15.1"),
        Case((rng.normal(size=(3, 2)), rng.normal(size=(2, 5)), rng.normal(size=(3, 5))), "three rows, from 2 to 5"),
        Case(
            (rng.normal(size=(2, 3, 4)), rng.normal(size=(4, 5)), rng.normal(size=(2, 3, 5))),
            "two sentences of three rows, from 4 to 5",
        ),
    ]


def _toytf_linear(x, w, dy):
    dx, d = ops.linear_backward(ops.Linear(w, np.zeros(w.shape[1])), x, dy)
    return dx, d.weight, d.bias


def _first_sentence(x):
    return x if x.ndim == 2 else x[0]


LINEAR_BACKWARD = Check(
    solution=linear_backward,
    expected=_toytf_linear,
    cases=_linear_cases,
    exercise="ex-15-10",
    results=("dx", "dw", "db"),
    mistakes=(
        Mistake(
            "w not transposed",
            "With a square w the shapes fit all the same and the numbers do not. dx = dy @ w.T: row i of dy times a "
            "row of w (chapter 15, a linear map).",
            lambda x, w, dy: (dy @ w, _rows(x).T @ _rows(dy), _rows(dy).sum(axis=0)),
        ),
        Mistake(
            "the sum over the sentences forgotten",
            "dw and db have an axis too many. All sentences share w and b, so their paths add: reshape to rows first, "
            "or sum over the leading axes.",
            lambda x, w, dy: (dy @ w.T, _swap(x) @ dy, dy.sum(axis=-2)),
        ),
        Mistake(
            "the sum over the sentences forgotten in dw",
            "All sentences share w, so their paths add. Reshape x and dy to rows, then x.T @ dy.",
            lambda x, w, dy: (dy @ w.T, _swap(x) @ dy, _rows(dy).sum(axis=0)),
        ),
        Mistake(
            "the sum over the sentences forgotten in db",
            "All sentences share b. Sum dy over every axis but the last.",
            lambda x, w, dy: (dy @ w.T, _rows(x).T @ _rows(dy), dy.sum(axis=-2)),
        ),
        Mistake(
            "the first sentence only",
            "dw and db come from sentence 0 alone. Every sentence adds its part.",
            lambda x, w, dy: (
                dy @ w.T,
                _first_sentence(x).T @ _first_sentence(dy),
                _first_sentence(dy).sum(axis=0),
            ),
        ),
        Mistake(
            "mean for sum",
            "dw and db are divided by the number of rows. The division belongs to the loss, where it happens once; "
            "here the paths add.",
            lambda x, w, dy: (dy @ w.T, _rows(x).T @ _rows(dy) / len(_rows(x)), _rows(dy).mean(axis=0)),
        ),
        Mistake(
            "mean for sum in db",
            "b reaches every row unchanged, and the paths add: db is the sum of the column, not its mean.",
            lambda x, w, dy: (dy @ w.T, _rows(x).T @ _rows(dy), _rows(dy).mean(axis=0)),
        ),
        Mistake(
            "db summed over the wrong axis",
            "b has one entry a column of y, so add up the rows: axis 0 of the rows, not axis=-1.",
            lambda x, w, dy: (dy @ w.T, _rows(x).T @ _rows(dy), dy.sum(axis=-1)),
        ),
        Mistake(
            "db a single number",
            "sum() without an axis adds up all columns. Each entry of b has its own slope: the sum of its column.",
            lambda x, w, dy: (dy @ w.T, _rows(x).T @ _rows(dy), dy.sum()),
        ),
        Mistake(
            "db without a sum",
            "b has one row, dy has many. b reaches all of them, and the paths add.",
            lambda x, w, dy: (dy @ w.T, _rows(x).T @ _rows(dy), dy.copy()),
        ),
        Mistake(
            "dw turned over",
            "dw has the shape of w, (d, k): x.T @ dy, not dy.T @ x.",
            lambda x, w, dy: (dy @ w.T, _rows(dy).T @ _rows(x), _rows(dy).sum(axis=0)),
        ),
        Mistake(
            "dy taken for ones",
            "These are the slopes of the sum of y. The chain rule wants the gradient that comes from above, dy, as a "
            "factor of every term.",
            lambda x, w, dy: _toytf_linear(x, w, np.ones_like(dy)),
        ),
    ),
)


def relu_backward(x, dy):
    """Give the gradient of ``max(0, x)``: dy where x is positive, else 0, at 0 too.

    x: array of any shape, what went into relu. dy: the gradient with respect to y, of
    the same shape. Returns an array of that shape.
    """
    return dy * (x > 0)


def _relu_cases(rng):
    return [
        Case((np.array([-1.0, 0.0, 2.0]), np.array([5.0, 5.0, 5.0])), "below, at and above 0"),
        Case((np.array([[-1.0, 2.0], [3.0, -4.0]]), np.array([[6.0, -7.0], [8.0, -9.0]])), "gradients of both signs"),
        Case((rng.normal(size=(2, 3, 5)), rng.normal(size=(2, 3, 5))), "two sentences, three rows, five columns"),
    ]


RELU_BACKWARD = Check(
    solution=relu_backward,
    expected=ops.relu_backward,
    cases=_relu_cases,
    gap=lambda x, dy: apart(x, 0.0),
    exercise="ex-15-11",
    results=("dx",),
    mistakes=(
        Mistake(
            "gradient let through at 0",
            "At x = 0 there is no slope from both sides; the choice here is 0: x > 0, not x >= 0.",
            lambda x, dy: dy * (x >= 0),
        ),
        Mistake(
            "half the gradient at 0",
            "The mean of both sides is one possible choice. The usual one is 0 there.",
            lambda x, dy: dy * (np.sign(x) + 1) / 2,
        ),
        Mistake(
            "cut by the sign of dy",
            "Relu cuts numbers on the way forward. On the way back x decides, and a negative dy passes where x is "
            "positive.",
            lambda x, dy: dy * (dy > 0),
        ),
        Mistake(
            "negative gradients cut off as well",
            "x > 0 is the only condition. A negative slope is as good as a positive one.",
            lambda x, dy: dy * (x > 0) * (dy > 0),
        ),
        Mistake(
            "dy forgotten",
            "1 and 0 are relu's own slopes. The chain rule multiplies them by dy.",
            lambda x, dy: (x > 0) * 1.0,
        ),
        Mistake(
            "relu itself in place of its slope",
            "dy is multiplied by max(0, x). The slope of relu is 1 where x is positive, however large x is.",
            lambda x, dy: dy * np.maximum(x, 0),
        ),
        Mistake(
            "the opposite sense",
            "dy passes where x is not positive. It should pass where relu let x through.",
            lambda x, dy: dy * (x <= 0),
        ),
        Mistake(
            "dy passed unchanged",
            "Where x is negative, a nudge of x changes nothing, so the slope is 0.",
            lambda x, dy: dy.copy(),
        ),
    ),
)


def softmax_backward(a, da):
    """Give the gradient of a softmax in its scores: ``a_j (da_j - sum_i a_i da_i)``.

    a: array of shape (..., n), the weights that softmax gave; each row sums to 1. da:
    the gradient with respect to the weights, of the same shape. Returns an array of
    that shape; each row sums to 0.
    """
    average = (a * da).sum(axis=-1, keepdims=True)
    return a * (da - average)


def _softmax_cases(rng):
    return [
        Case((np.array([0.5, 0.25, 0.25]), np.array([4.0, 0.0, 8.0])), "the row of exercise 15.3"),
        Case((np.array([[0.5, 0.5], [0.25, 0.75]]), np.array([[2.0, 0.0], [4.0, 8.0]])), "two rows"),
        Case((ops.softmax(rng.normal(size=(2, 3, 4))), rng.normal(size=(2, 3, 4))), "two heads, three rows, four keys"),
    ]


def _along(a, da, axis):
    return (a * da).sum(axis=axis, keepdims=True)


SOFTMAX_BACKWARD = Check(
    solution=softmax_backward,
    expected=ops.softmax_backward,
    cases=_softmax_cases,
    exercise="ex-15-12",
    results=("ds",),
    mistakes=(
        Mistake(
            "the diagonal of the Jacobian only",
            "a (1 - a) is what a score does to its own weight. It reaches the other weights of the row as well, by "
            "-a_i a_j, and these paths add (chapter 15, back through attention).",
            lambda a, da: a * (1 - a) * da,
        ),
        Mistake(
            "the average not subtracted",
            "a * da leaves out that the weights share one sum. Subtract the row's average slope from da first.",
            lambda a, da: a * da,
        ),
        Mistake(
            "an average that is not weighted",
            "The average slope of a row is taken by its own weights, sum of a * da, not da.mean().",
            lambda a, da: a * (da - da.mean(axis=-1, keepdims=True)),
        ),
        Mistake(
            "the factor a forgotten",
            "The difference to the average still has to be multiplied by the weight itself.",
            lambda a, da: da - _along(a, da, -1),
        ),
        Mistake(
            "the signs exchanged",
            "It is da minus the average: what lies above the average makes the loss grow.",
            lambda a, da: a * (_along(a, da, -1) - da),
        ),
        Mistake(
            "the average added",
            "Subtract it: each row of the result must sum to 0.",
            lambda a, da: a * (da + _along(a, da, -1)),
        ),
        Mistake(
            "summed over the wrong axis",
            "One query's weights stand along its row: axis=-1.",
            lambda a, da: a * (da - _along(a, da, max(a.ndim - 2, 0))),
        ),
        Mistake(
            "one sum for the whole array",
            "sum() without an axis mixes all rows. Each row has its own average: axis=-1, keepdims=True.",
            lambda a, da: a * (da - (a * da).sum()),
        ),
        Mistake(
            "keepdims forgotten",
            "A sum of shape (n,) is laid along the columns, where it belongs to the rows: keepdims=True.",
            lambda a, da: a * (da - (a * da).sum(axis=-1)),
        ),
        Mistake(
            "weights taken for scores",
            "a has been through softmax already. Taking it again makes other weights.",
            lambda a, da: ops.softmax_backward(ops.softmax(a), da),
        ),
    ),
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


def _toytf_layer_norm(x, gamma, dout):
    p = ops.LayerNorm(gamma, np.zeros_like(gamma))
    dx, d = ops.layer_norm_backward(p, ops.layer_norm(p, x)[1], dout)
    return dx, d.gamma, d.beta


def _parts(x, gamma, dout):
    """Normalised rows, their sigma, and the gradient of the normalised rows."""
    trace = ops.layer_norm(ops.LayerNorm(gamma, np.zeros_like(gamma)), x)[1]
    return trace.normalised, trace.std, dout * gamma


def _mean(x):
    return x.mean(axis=-1, keepdims=True)


def _norm_with(dx, dgamma=None):
    """A wrong layer norm: dx from (y, sigma, dy, dout), and dgamma from (x, y, gamma, dout), if it is wrong."""

    def mistaken(x, gamma, dout):
        y, sigma, dy = _parts(x, gamma, dout)
        weighted = dout * y if dgamma is None else dgamma(x, y, gamma, dout)
        return dx(y, sigma, dy, dout), _rows(weighted).sum(axis=0), _rows(dout).sum(axis=0)

    return mistaken


def _right_dx(y, sigma, dy, dout):
    return (dy - _mean(dy) - y * _mean(dy * y)) / sigma


def _norm_of_one_sentence(x, gamma, dout):
    y, sigma, dy = _parts(x, gamma, dout)
    return _right_dx(y, sigma, dy, dout), (dout * y).sum(axis=-2), dout.sum(axis=-2)


def _norm_without_sum(x, gamma, dout):
    y, sigma, dy = _parts(x, gamma, dout)
    return _right_dx(y, sigma, dy, dout), dout * y, dout.copy()


def _norm_with_sigma(sigma_of):
    def mistaken(x, gamma, dout):
        sigma = sigma_of(x)
        y = (x - _mean(x)) / sigma
        dx = _right_dx(y, sigma, dout * gamma, dout)
        return dx, _rows(dout * y).sum(axis=0), _rows(dout).sum(axis=0)

    return mistaken


LAYER_NORM_BACKWARD = Check(
    solution=layer_norm_backward,
    expected=_toytf_layer_norm,
    cases=_layer_norm_cases,
    exercise="ex-15-7",
    results=("dx", "dgamma", "dbeta"),
    tolerance=1e-8,  # a nearly constant row has large gradients, whose parts cancel
    points=3,
    mistakes=(
        Mistake(
            "gamma forgotten in the two means",
            "Both means are those of dy = dout * gamma. With dout in their place dx no longer stands at right angles "
            "to the ones.",
            _norm_with(lambda y, sigma, dy, dout: (dy - _mean(dout) - y * _mean(dout * y)) / sigma),
        ),
        Mistake(
            "gamma forgotten",
            "The output is gamma * y + beta, so dy = dout * gamma; go on with dy.",
            _norm_with(lambda y, sigma, dy, dout: (dout - _mean(dout) - y * _mean(dout * y)) / sigma),
        ),
        Mistake(
            "mean and deviation taken for constants",
            "dy / sigma is only the direct path. Each entry of x also moves the mean and sigma of its row, and these "
            "paths add (chapter 15, layer norm).",
            _norm_with(lambda y, sigma, dy, dout: dy / sigma),
        ),
        Mistake(
            "the path through the mean forgotten",
            "mean(dy) is not subtracted. The entries of dx must sum to 0 in each row, since a constant added to a row "
            "changes nothing.",
            _norm_with(lambda y, sigma, dy, dout: (dy - y * _mean(dy * y)) / sigma),
        ),
        Mistake(
            "the path through the deviation forgotten",
            "y * mean(dy * y) is not subtracted. Stretching a row changes nothing, so dx has no part along y.",
            _norm_with(lambda y, sigma, dy, dout: (dy - _mean(dy)) / sigma),
        ),
        Mistake(
            "sums for means",
            "What goes through the mean and the deviation comes with a factor 1/d: take mean(dy) and mean(dy * y).",
            _norm_with(
                lambda y, sigma, dy, dout: (
                    (dy - dy.sum(axis=-1, keepdims=True) - y * (dy * y).sum(axis=-1, keepdims=True)) / sigma
                )
            ),
        ),
        Mistake(
            "divided by the variance",
            "dx is divided by sigma, the root of variance + eps.",
            _norm_with(lambda y, sigma, dy, dout: _right_dx(y, sigma**2, dy, dout)),
        ),
        Mistake(
            "the division by sigma forgotten",
            "A row with large distances passes on a small gradient: divide by sigma at the end.",
            _norm_with(lambda y, sigma, dy, dout: _right_dx(y, 1.0, dy, dout)),
        ),
        Mistake(
            "dgamma with x in place of y",
            "gamma multiplies the normalised row y, so dgamma sums dout * y.",
            _norm_with(_right_dx, lambda x, y, gamma, dout: dout * x),
        ),
        Mistake(
            "gamma in its own gradient",
            "gamma multiplies y, so its slope is dout * y, summed over the rows; gamma itself does not occur in it.",
            _norm_with(_right_dx, lambda x, y, gamma, dout: dout * gamma * y),
        ),
        Mistake(
            "the sum over the sentences forgotten",
            "dgamma and dbeta have an axis too many. All rows of all sentences share gamma and beta: sum over every "
            "axis but the last.",
            _norm_of_one_sentence,
        ),
        Mistake(
            "dgamma and dbeta without a sum",
            "There is one gamma for all rows, and each row adds its part: sum over every axis but the last.",
            _norm_without_sum,
        ),
        Mistake(
            "N-1 in the variance",
            "Layer norm divides the squared distances by d, not by d - 1: no ddof=1 (chapter 9).",
            _norm_with_sigma(lambda x: np.sqrt(x.var(axis=-1, keepdims=True, ddof=1) + 1e-5)),
        ),
        Mistake(
            "epsilon outside the root",
            "sigma is the root of variance + eps, not the root plus eps (chapter 9).",
            _norm_with_sigma(lambda x: x.std(axis=-1, keepdims=True) + 1e-5),
        ),
        Mistake(
            "epsilon left out",
            "On a nearly constant row it matters: sigma is the root of variance + eps.",
            _norm_with_sigma(lambda x: x.std(axis=-1, keepdims=True)),
        ),
    ),
)


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


def _attention_cases(rng):
    def four(*lead, n, m, d, c):
        return tuple(rng.normal(size=(*lead, *shape)) for shape in ((n, d), (m, d), (m, c), (n, c)))

    tiny = np.array([[LOG_3]]), np.array([[1.0], [0.0]]), np.array([[4.0], [8.0]]), np.array([[1.0]])
    return [
        Case(tiny, "one query, two keys, width 1: weights 3/4 and 1/4"),
        Case(
            (
                np.array([[2 * LOG_3, 0, 0, 0], [0, 2 * LOG_3, 0, 0]]),
                np.eye(4)[:2],
                np.array([[4.0, 0.0], [0.0, 8.0]]),
                np.array([[1.0, 1.0], [2.0, 0.0]]),
            ),
            "two queries, two keys, width 4",
        ),
        Case(four(n=2, m=2, d=2, c=2), "everything square"),
        Case(four(2, 3, n=2, m=3, d=4, c=5), "two sentences, three heads, two queries, three keys"),
    ]


def _toytf_attention(q, k, v, do):
    return attention.attention_backward(attention.attention(q, k, v)[1], do)


def _attention_with(result, axis=-1, forward=None):
    """Wrong attention: result makes (dq, dk, dv) from a table of what the right way back computes."""

    def mistaken(q, k, v, do):
        c = 1 / np.sqrt(q.shape[-1])
        a = ops.softmax(q @ _swap(k) * (c if forward is None else forward(q.shape[-1])), axis)
        da = do @ _swap(v)
        ds = ops.softmax_backward(a, da)
        return result(dict(q=q, k=k, v=v, do=do, a=a, da=da, ds=ds, c=c))

    return mistaken


def _back(t, ds):
    return ds @ t["k"], _swap(ds) @ t["q"], _swap(t["a"]) @ t["do"]


ATTENTION_BACKWARD = Check(
    solution=attention_backward,
    expected=_toytf_attention,
    cases=_attention_cases,
    exercise="ex-15-13",
    results=("dq", "dk", "dv"),
    points=3,
    mistakes=(
        Mistake(
            "the divisor forgotten on the way back",
            "The scores were divided by the root of d, so their gradient is too: dS is d(S / root d), divided once "
            "more.",
            _attention_with(lambda t: _back(t, t["ds"])),
        ),
        Mistake(
            "the divisor forgotten in dk",
            "dq and dk are both made from the gradient of the unscaled scores. Divide dS itself, before either "
            "product.",
            _attention_with(lambda t: (_back(t, t["ds"] * t["c"])[0], *_back(t, t["ds"])[1:])),
        ),
        Mistake(
            "no divisor at all",
            "The scores have to be divided by the root of d, on the way forward and on the way back (chapter 5).",
            _attention_with(lambda t: _back(t, t["ds"]), forward=lambda d: 1.0),
        ),
        Mistake(
            "divided by d in place of its root",
            "The divisor is the root of the width of a query (chapter 5).",
            _attention_with(lambda t: _back(t, t["ds"] * t["c"] ** 2), forward=lambda d: 1 / d),
        ),
        Mistake(
            "the diagonal of the softmax's Jacobian only",
            "a (1 - a) leaves out what a score does to the other weights of its row. Use a * (da - sum of a * da).",
            _attention_with(lambda t: _back(t, t["a"] * (1 - t["a"]) * t["da"] * t["c"])),
        ),
        Mistake(
            "the average taken over the queries on the way back",
            "A score moves the weights of its own row, so the sum of a * da runs along the keys: axis=-1.",
            _attention_with(
                lambda t: _back(t, t["a"] * (t["da"] - (t["a"] * t["da"]).sum(axis=-2, keepdims=True)) * t["c"])
            ),
        ),
        Mistake(
            "the softmax left out on the way back",
            "dA is the gradient of the weights. To reach the scores it has to pass the softmax.",
            _attention_with(lambda t: _back(t, t["da"] * t["c"])),
        ),
        Mistake(
            "dq and dk exchanged",
            "dq = dS k and dk = dS^T q: a query's gradient is made of keys, a key's of queries. Return dq first.",
            _attention_with(
                lambda t: (_back(t, t["ds"] * t["c"])[1], _back(t, t["ds"] * t["c"])[0], _swap(t["a"]) @ t["do"])
            ),
        ),
        Mistake(
            "dS not transposed in dk",
            "A key collects from all queries, so the sum runs down a column of dS: dk = dS^T q.",
            _attention_with(lambda t: (t["ds"] @ t["k"] * t["c"], t["ds"] @ t["q"] * t["c"], _swap(t["a"]) @ t["do"])),
        ),
        Mistake(
            "weights not transposed in dv",
            "A value collects from all rows that looked at it, so the sum runs down a column of A: dv = A^T dO.",
            _attention_with(lambda t: (*_back(t, t["ds"] * t["c"])[:2], t["a"] @ t["do"])),
        ),
        Mistake(
            "v not transposed in dA",
            "The slope of a weight is the product of a row of dO with a row of v: dA = dO v^T.",
            _attention_with(lambda t: _back(t, ops.softmax_backward(t["a"], t["do"] @ t["v"]) * t["c"])),
        ),
        Mistake(
            "softmax over the wrong axis",
            "A query's weights sum to 1 along its row: axis=-1, on the way forward and on the way back.",
            _attention_with(lambda t: _back(t, ops.softmax_backward(t["a"], t["da"], -2) * t["c"]), axis=-2),
        ),
    ),
)


# ---------------------------------------------------------------- chapter 16: training


def adam_step(w, dw, m, v, t, learning_rate):
    """Take a step of Adam with the paper's beta_1 = 0.9, beta_2 = 0.98, eps = 1e-9.

    w: array of any shape, the weights. dw: their gradient. m, v: the running means of
    dw and of its square, before this step (at the first step all 0). All have the same
    shape. t: the number of this step, counted from 1. Returns the new w, m and v;
    changes none of its arguments.
    """
    m = 0.9 * m + 0.1 * dw
    v = 0.98 * v + 0.02 * dw**2
    mean, mean_of_squares = m / (1 - 0.9**t), v / (1 - 0.98**t)
    return w - learning_rate * mean / (np.sqrt(mean_of_squares) + 1e-9), m, v


def _adam_cases(rng):
    zeros, one = np.zeros(2), np.array
    shape = (3, 2)
    return [
        Case((one([1.0]), one([2.0]), np.zeros(1), np.zeros(1), 1, 0.1), "step 1 of exercise 16.1"),
        Case((one([0.9]), one([0.0]), one([0.2]), one([0.08]), 2, 0.1), "step 2: the gradient is 0"),
        Case((one([1.0, 1.0]), one([3.0, -0.5]), zeros, zeros.copy(), 1, 0.1), "two entries, a first step"),
        Case((one([1.0, 1.0]), one([4.0, -0.5]), one([0.5, 0.5]), one([2.0, 0.25]), 3, 0.1), "two entries, step 3"),
        Case(
            (one([1.0, 1.0]), one([0.0, 1e-9]), zeros, zeros.copy(), 1, 0.1),
            "a gradient of 0 and one as small as epsilon",
        ),
        Case(
            (rng.normal(size=shape), rng.normal(size=shape), rng.normal(size=shape), rng.uniform(1, 2, shape), 7, 0.01),
            "a matrix, step 7",
        ),
    ]


def _toytf_adam(w, dw, m, v, t, learning_rate):
    adam = optim.Adam(t=t - 1, m=m.flatten(), v=v.flatten())
    new = w.copy()
    adam.step(ops.Linear(new), ops.Linear(dw), learning_rate)
    return new, adam.m.reshape(w.shape), adam.v.reshape(w.shape)


def _adam_with(
    beta_1=0.9,
    beta_2=0.98,
    first=True,
    second=True,
    square=np.square,
    ratio=lambda up, up2: up / (np.sqrt(up2) + 1e-9),
    late=0,
    sign=-1,
    correction=lambda beta, t: 1 - beta**t,
):
    """Adam with one thing changed."""

    def mistaken(w, dw, m, v, t, learning_rate):
        t = t - late
        m = beta_1 * m + (1 - beta_1) * dw
        v = beta_2 * v + (1 - beta_2) * square(dw)
        up = np.divide(m, correction(beta_1, t)) if first else m
        up2 = np.divide(v, correction(beta_2, t)) if second else v
        return w + sign * learning_rate * ratio(up, up2), m, v

    return mistaken


def _adam_returns_corrected(w, dw, m, v, t, learning_rate):
    new, m, v = _toytf_adam(w, dw, m, v, t, learning_rate)
    return new, m / (1 - 0.9**t), v / (1 - 0.98**t)


def _adam_returns_old(w, dw, m, v, t, learning_rate):
    return _toytf_adam(w, dw, m, v, t, learning_rate)[0], m.copy(), v.copy()


def _adam_gradient_over_root(w, dw, m, v, t, learning_rate):
    _, m, v = _toytf_adam(w, dw, m, v, t, learning_rate)
    return w - learning_rate * dw / (np.sqrt(v / (1 - 0.98**t)) + 1e-9), m, v


def _adam_square_of_mean(w, dw, m, v, t, learning_rate):
    m = 0.9 * m + 0.1 * dw
    v = 0.98 * v + 0.02 * m**2
    return w - learning_rate * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.98**t)) + 1e-9), m, v


ADAM_STEP = Check(
    solution=adam_step,
    expected=_toytf_adam,
    cases=_adam_cases,
    exercise="ex-16-8",
    results=("w", "m", "v"),
    points=3,
    mistakes=(
        Mistake(
            "no bias correction",
            "Both means start at 0 and are too small at first. Divide them by 1 - beta^t before the ratio (chapter 16, "
            "Adam by hand).",
            _adam_with(first=False, second=False),
        ),
        Mistake(
            "only the mean of the gradient corrected",
            "The mean of the squares starts at 0 as well: divide it by 1 - beta_2^t.",
            _adam_with(second=False),
        ),
        Mistake(
            "only the mean of the squares corrected",
            "The mean of the gradient starts at 0 as well: divide it by 1 - beta_1^t.",
            _adam_with(first=False),
        ),
        Mistake(
            "the power of the bracket",
            "(1 - beta)^t raises the bracket. Only beta is raised: 1 - beta^t. At the first step both are the same.",
            _adam_with(correction=lambda beta, t: (1 - beta) ** t),
        ),
        Mistake(
            "beta times t",
            "beta is raised to the power t: 1 - beta**t. At the first step 1 - beta * t is the same.",
            _adam_with(correction=lambda beta, t: 1 - beta * t),
        ),
        Mistake(
            "steps counted from 0",
            "1 - beta^0 is 0, and the first step divides by it. t is 1 at the first step; use it as it is given.",
            _adam_with(late=1),
        ),
        Mistake(
            "the corrected means kept",
            "What is returned as m and v has been divided by 1 - beta^t, so the next step corrects them again. Correct "
            "copies, and hand on the running means themselves.",
            _adam_returns_corrected,
        ),
        Mistake(
            "the old means handed on",
            "The new w is right. But m and v are returned as they came in, so the next step remembers nothing.",
            _adam_returns_old,
        ),
        Mistake(
            "the gradient not squared",
            "v is the running mean of dw**2. Without the square it can be negative, and its root is NaN.",
            _adam_with(square=lambda dw: dw),
        ),
        Mistake(
            "the square of the mean",
            "v is the running mean of the squares, so square dw, not m.",
            _adam_square_of_mean,
        ),
        Mistake(
            "the root forgotten",
            "Divide by the root of the mean square. Without it a large gradient makes a small step.",
            _adam_with(ratio=lambda up, up2: up / (up2 + 1e-9)),
        ),
        Mistake(
            "epsilon inside the root",
            "The root of 1e-9 is 0.00003, far more than 1e-9. Add epsilon after taking the root.",
            _adam_with(ratio=lambda up, up2: up / np.sqrt(up2 + 1e-9)),
        ),
        Mistake(
            "epsilon left out",
            "An entry that has never had a gradient gives 0 / 0. Add 1e-9 to the root.",
            _adam_with(ratio=lambda up, up2: up / np.sqrt(up2)),
        ),
        Mistake(
            "another epsilon, 1e-8",
            "Many libraries have this default. The paper's value is 1e-9.",
            _adam_with(ratio=lambda up, up2: up / (np.sqrt(up2) + 1e-8)),
        ),
        Mistake(
            "another beta_2, 0.999",
            "Many libraries have this default. The paper's value is 0.98.",
            _adam_with(beta_2=0.999),
        ),
        Mistake(
            "the two betas exchanged",
            "0.9 belongs to the mean of the gradient, 0.98 to the mean of its square.",
            _adam_with(beta_1=0.98, beta_2=0.9),
        ),
        Mistake(
            "old and new weighted the wrong way round",
            "A running mean keeps the large part of what it had: 0.9 m + 0.1 dw, and 0.98 v + 0.02 dw**2.",
            _adam_with(beta_1=1 - 0.9, beta_2=1 - 0.98),
        ),
        Mistake(
            "the newest gradient in place of its mean",
            "Above the root stands the corrected mean of the gradient, not dw itself.",
            _adam_gradient_over_root,
        ),
        Mistake(
            "a step uphill",
            "The loss grows along the gradient. Subtract the step.",
            _adam_with(sign=1),
        ),
    ),
)


def paper_schedule(step, d_model, warmup):
    """The paper's learning rate: ``d_model^-0.5 * min(step^-0.5, step * warmup^-1.5)``.

    step: the number of the step, counted from 1. d_model: the width of the model.
    warmup: for how many steps the rate rises. All three are whole numbers. Returns one
    number.
    """
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


def _schedule_cases(rng):
    steps = [int(n) for n in rng.integers(2, 20_000, size=3)]
    return [
        Case((1, 4, 4), "the first of four steps of warm-up"),
        Case((4, 4, 4), "the last one, where both parts are equal"),
        Case((16, 4, 4), "after it"),
        Case((1000, 512, 4000), "the paper's sizes, rising"),
        Case((20_000, 512, 4000), "the paper's sizes, falling"),
        *(Case((step, 256, 3000), "another model") for step in steps),
    ]


PAPER_SCHEDULE = Check(
    solution=paper_schedule,
    expected=lambda step, d_model, warmup: optim.paper_schedule(d_model, warmup)(step),
    cases=_schedule_cases,
    exercise="ex-16-9",
    results=("rate",),
    tolerance=1e-13,  # rates are small
    mistakes=(
        Mistake(
            "max for min",
            "The smaller of the two counts: the line during warm-up, the root after it. They meet at step = warmup.",
            lambda t, d, n: d**-0.5 * max(t**-0.5, t * n**-1.5),
        ),
        Mistake(
            "no warm-up",
            "Only the falling part is there. During the first warmup steps the rate rises in a line, step * "
            "warmup^-1.5.",
            lambda t, d, n: d**-0.5 * t**-0.5,
        ),
        Mistake(
            "no fall after the warm-up",
            "Only the rising line is there. From step = warmup on the rate is step^-0.5 times the first factor.",
            lambda t, d, n: d**-0.5 * t * n**-1.5,
        ),
        Mistake(
            "a constant rate after the warm-up",
            "After the rise the rate falls like one over the root of the step: it depends on step, not on warmup "
            "alone.",
            lambda t, d, n: d**-0.5 * min(n**-0.5, t * n**-1.5),
        ),
        Mistake(
            "warmup^-0.5 in place of warmup^-1.5",
            "The line must reach warmup^-0.5 at step = warmup, so it rises by warmup^-0.5 / warmup = warmup^-1.5 a "
            "step.",
            lambda t, d, n: d**-0.5 * min(t**-0.5, t * n**-0.5),
        ),
        Mistake(
            "the root of d_model as a factor",
            "A wider model gets a smaller rate: d_model^-0.5 is one over the root.",
            lambda t, d, n: d**0.5 * min(t**-0.5, t * n**-1.5),
        ),
        Mistake(
            "d_model left out",
            "The factor d_model^-0.5 in front is missing.",
            lambda t, d, n: min(t**-0.5, t * n**-1.5),
        ),
        Mistake(
            "integer division in the exponents",
            "-1 // 2 is -1. Write -0.5 or -1 / 2.",
            lambda t, d, n: d ** (-1 // 2) * min(t ** (-1 // 2), t * n ** (-3 // 2)),
        ),
        Mistake(
            "steps counted one too far",
            "The rate is that of the next step. step is 1 at the first; use it as it is given.",
            lambda t, d, n: d**-0.5 * min((t + 1) ** -0.5, (t + 1) * n**-1.5),
        ),
        Mistake(
            "both parts added",
            "The rate is the smaller of the two parts, not their sum.",
            lambda t, d, n: d**-0.5 * (t**-0.5 + t * n**-1.5),
        ),
    ),
)


def clip(dw, db, limit):
    """Shorten two gradients together, if their common length exceeds limit.

    dw, db: arrays of any shapes, the gradients of a matrix and of its bias. Their
    common length is the root of the sum of the squares of all their entries. limit: a
    positive number. Returns both, with one factor for all entries; changes none of its
    arguments.
    """
    length = np.sqrt((dw**2).sum() + (db**2).sum())
    factor = limit / length if length > limit else 1.0
    return dw * factor, db * factor


def _clip_cases(rng):
    return [
        Case((np.array([[3.0]]), np.array([4.0]), 1.0), "length 5, limit 1"),
        Case((np.array([[3.0]]), np.array([4.0]), 10.0), "length 5, limit 10"),
        Case((np.array([[1.0, -2.0], [4.0, 2.0]]), np.array([0.0, 0.0]), 2.5), "length 5, a bias without gradient"),
        Case((np.zeros((2, 3)), np.zeros(3), 1.0), "all zero"),
        Case((4 * rng.normal(size=(5, 3)), 4 * rng.normal(size=3), 1.0), "a matrix 5 x 3 and its bias"),
    ]


def _toytf_clip(dw, db, limit):
    both = ops.Linear(dw.copy(), db.copy())
    optim.clip(both, limit)
    return both.weight, both.bias


def _clip_by(length, always=False):
    """Both shortened by limit / length, where length is computed in a wrong way."""

    def mistaken(dw, db, limit):
        found = length(dw, db)
        factor = np.divide(limit, found) if always or found > limit else 1.0
        return dw * factor, db * factor

    return mistaken


def _length(*arrays):
    return np.sqrt(sum((array**2).sum() for array in arrays))


def _shortened(array, limit, length):
    return array * (limit / length if length > limit else 1.0)


def _all_entries(dw, db):
    return np.concatenate([dw.ravel(), db.ravel()])


CLIP = Check(
    solution=clip,
    expected=_toytf_clip,
    cases=_clip_cases,
    exercise="ex-16-10",
    results=("dw", "db"),
    mistakes=(
        Mistake(
            "each array shortened by itself",
            "Two lengths and two factors turn the step into another direction. Take one length over all entries of "
            "both.",
            lambda dw, db, limit: tuple(_shortened(g, limit, _length(g)) for g in (dw, db)),
        ),
        Mistake(
            "each row shortened by itself",
            "The length runs over all entries of both arrays, not over one row: sum() without an axis.",
            lambda dw, db, limit: (
                dw * np.minimum(1, np.divide(limit, np.sqrt((dw**2).sum(axis=-1, keepdims=True) + 1e-300))),
                _shortened(db, limit, _length(db)),
            ),
        ),
        Mistake(
            "the limit set on every entry",
            "np.clip cuts entries, and the direction changes. Multiply all entries by one factor, limit / length.",
            lambda dw, db, limit: (np.clip(dw, -limit, limit), np.clip(db, -limit, limit)),
        ),
        Mistake(
            "the largest entry for the length",
            "The length is the root of the sum of all squares.",
            _clip_by(lambda dw, db: np.abs(_all_entries(dw, db)).max()),
        ),
        Mistake(
            "the root forgotten",
            "The sum of the squares is the length squared. Take its root.",
            _clip_by(lambda dw, db: _length(dw, db) ** 2),
        ),
        Mistake(
            "absolute values in place of squares",
            "The length is the root of the sum of the squares, not the sum of the absolute values.",
            _clip_by(lambda dw, db: np.abs(_all_entries(dw, db)).sum()),
        ),
        Mistake(
            "the lengths of both added",
            "The common length is the root of the sum of all squares, shorter than the two lengths together.",
            _clip_by(lambda dw, db: _length(dw) + _length(db)),
        ),
        Mistake(
            "mean for sum",
            "The length is the root of the sum of the squares. With the mean it depends on how many entries there are.",
            _clip_by(lambda dw, db: np.sqrt((_all_entries(dw, db) ** 2).mean())),
        ),
        Mistake(
            "short gradients stretched to the limit",
            "What is shorter than the limit stays as it is, and a gradient of 0 has no direction. Shorten only where "
            "length > limit.",
            _clip_by(_length, always=True),
        ),
        Mistake(
            "only dw shortened",
            "One factor for all: db is multiplied as well.",
            lambda dw, db, limit: (_shortened(dw, limit, _length(dw, db)), db.copy()),
        ),
        Mistake(
            "brought to length 1",
            "Divided by the length, but not multiplied by limit: the factor is limit / length.",
            lambda dw, db, limit: tuple(g / (_length(dw, db) if _length(dw, db) > limit else 1.0) for g in (dw, db)),
        ),
    ),
)


def momentum_step(w, dw, total, learning_rate):
    """Take a step: ``total = 0.9 total + dw``, then ``w = w - learning_rate * total``.

    w: array of any shape, the weights. dw: their gradient. total: the running sum
    before this step (at the first step all 0). All have the same shape. Returns the new
    w and the new total; changes none of its arguments.
    """
    total = 0.9 * total + dw
    return w - learning_rate * total, total


def _momentum_cases(rng):
    one = np.array
    return [
        Case((one([1.0]), one([2.0]), one([0.0]), 0.1), "a first step"),
        Case((one([0.8]), one([0.0]), one([2.0]), 0.1), "a second one: the gradient is 0"),
        Case((one([1.0, 2.0]), one([4.0, -4.0]), one([10.0, 10.0]), 0.5), "with and against what was gathered"),
        Case((*(rng.normal(size=(3, 2)) for _ in range(3)), 0.03), "a matrix"),
    ]


MOMENTUM_STEP = Check(
    solution=momentum_step,
    expected=lambda w, dw, total, rate: (w - rate * (0.9 * total + dw), 0.9 * total + dw),
    cases=_momentum_cases,
    exercise="ex-16-5",
    results=("w", "total"),
    mistakes=(
        Mistake(
            "a mean in place of the sum",
            "0.9 total + 0.1 dw is Adam's running mean. The sum takes in the whole gradient.",
            lambda w, dw, s, rate: (w - rate * (0.9 * s + 0.1 * dw), 0.9 * s + 0.1 * dw),
        ),
        Mistake(
            "the old sum used for the step",
            "The gradient enters the sum first, then the sum moves the weight: use the new total.",
            lambda w, dw, s, rate: (w - rate * s, 0.9 * s + dw),
        ),
        Mistake(
            "the sum forgotten in the step",
            "This is plain gradient descent: the sum is kept and never used. Subtract learning_rate * total.",
            lambda w, dw, s, rate: (w - rate * dw, 0.9 * s + dw),
        ),
        Mistake(
            "a sum that forgets nothing",
            "The old sum has to shrink: 0.9 total + dw. Otherwise the steps grow without end.",
            lambda w, dw, s, rate: (w - rate * (s + dw), s + dw),
        ),
        Mistake(
            "0.9 at the gradient",
            "The factor 0.9 belongs to the old sum: 0.9 total + dw.",
            lambda w, dw, s, rate: (w - rate * (s + 0.9 * dw), s + 0.9 * dw),
        ),
        Mistake(
            "0.9 at both",
            "0.9 (total + dw) shrinks the new gradient too. Only the old sum is multiplied.",
            lambda w, dw, s, rate: (w - rate * 0.9 * (s + dw), 0.9 * (s + dw)),
        ),
        Mistake(
            "the rate inside the sum",
            "Then the sum remembers old rates. Keep the gradients in the sum, and multiply by learning_rate when w "
            "moves.",
            lambda w, dw, s, rate: (w - (0.9 * s + rate * dw), 0.9 * s + rate * dw),
        ),
        Mistake(
            "a step uphill",
            "The loss grows along the gradient. Subtract the step.",
            lambda w, dw, s, rate: (w + rate * (0.9 * s + dw), 0.9 * s + dw),
        ),
        Mistake(
            "the old sum handed on",
            "The new w is right, but total is returned as it came in, so the next step does not know this gradient.",
            lambda w, dw, s, rate: (w - rate * (0.9 * s + dw), s.copy()),
        ),
    ),
)


CHECKS = [
    CROSS_ENTROPY,
    SMOOTHED_GOAL,
    SHIFT_RIGHT,
    CROSS_ENTROPY_BACKWARD,
    LINEAR_BACKWARD,
    RELU_BACKWARD,
    SOFTMAX_BACKWARD,
    LAYER_NORM_BACKWARD,
    ATTENTION_BACKWARD,
    ADAM_STEP,
    PAPER_SCHEDULE,
    CLIP,
    MOMENTUM_STEP,
]


# ---------------------------------------------------------------- by hand

# 14.1: six words, "thanks" is right
_SIX = np.array([0.1, 0.05, 0.1, 0.5, 0.05, 0.2])
_MISS = _SIX - np.eye(6)[3]

# 14.3: two words
_G, _P = np.array([0.5, 0.5]), np.array([0.25, 0.75])


def _h(g, p):
    return -(g * np.log(p)).sum()


def _h_text(g, p):
    return " ".join(f"- {x:g} * log {y:g}" for x, y in zip(g, p, strict=True)) + f" = {fmt(_h(g, p))}"


def _kl_text(g, p):
    return f"{fmt(_h(g, p))} - {fmt(_h(g, g))} = {fmt(_h(g, p) - _h(g, g))}"


# 14.4: four words, a share of 0.2
_SMOOTHED = smoothed_goal(np.array(1), 4, 0.2)


def _smooth_text(place):
    return "0.8 * 1 + 0.2 / 4 = 0.85" if place == (1,) else "0.8 * 0 + 0.2 / 4 = 0.05"


# 15.2: three words, powers 1, 2, 5
_THREE = np.array([1.0, 2.0, 5.0]) / 8


def _minus(goal):
    return lambda place: f"{_THREE[place]:g} - {np.eye(3)[goal][place]:g} = {_THREE[place] - np.eye(3)[goal][place]:g}"


# 15.3: one row through a softmax
_A, _DA = np.array([0.5, 0.25, 0.25]), np.array([4.0, 0.0, 8.0])


def _through(plus):
    average = (_A * (_DA + plus)).sum()

    def terms(place):
        return f"{_A[place]:g} * ({_DA[place] + plus:g} - {average:g}) = {_A[place] * (_DA[place] + plus - average):g}"

    return Part(softmax_backward(_A, _DA + plus), terms, decimals=2, name="ds, 15 added" if plus else "ds")


# 15.4: one query, two keys
_Q, _K, _V, _DO = np.array([LOG_3, 0.0]), np.eye(2), np.array([[4.0, 0.0], [0.0, 8.0]]), np.array([1.0, 1.0])
_ONE = np.array([0.75, 0.25])
_DS = softmax_backward(_ONE, _DO @ _V.T)

# 15.5: a row of width 2
_WIDTH_2 = layer_norm_backward(np.array([[2.0, 6.0]]), np.ones(2), np.array([[5.0, -1.0]]), 0.0)[0]

# 16.1: two steps of Adam
_M, _V_2 = 0.9 * 0.2, 0.98 * 0.08
_RATIO = (_M / 0.19) / np.sqrt(_V_2 / (1 - 0.98**2))

# 16.2: "hola mundo" and "hola casa roja"
_GOAL = np.array([[4, 5, 2, 0], [4, 3, 6, 2]])
_READS = np.array([[1, 4, 5, 0], [1, 4, 3, 6]])
_IS_TOKEN = 1 * (_READS != 0)

BY_HAND = [
    ByHand(
        "ex-14-1",
        (
            Part(-np.log(_SIX[3]), lambda _: "-log 0.5 = log 2 = 0.6931", decimals=4, name="loss"),
            Part(1 / _SIX[3], lambda _: "e^0.6931, about 2", decimals=2, name="perplexity"),
            Part(
                _MISS,
                lambda i: f"{_SIX[i]:g} - {int(i == (3,))} = {_MISS[i]:g}",
                decimals=2,
                name="gradient",
            ),
            Part(0.0, lambda _: "0.1 + 0.05 + 0.1 - 0.5 + 0.05 + 0.2 = 0", decimals=2, name="sum"),
        ),
    ),
    ByHand(
        "ex-14-3",
        (
            Part(_h(_G, _G), lambda _: _h_text(_G, _G), decimals=4, name="H(g)"),
            Part(_h(_G, _P), lambda _: _h_text(_G, _P), decimals=4, name="H(g, p)"),
            Part(_h(_G, _P) - _h(_G, _G), lambda _: _kl_text(_G, _P), decimals=4, name="KL(g, p)"),
            Part(_h(_P, _G) - _h(_P, _P), lambda _: _kl_text(_P, _G), decimals=4, name="KL(p, g)"),
        ),
    ),
    ByHand(
        "ex-14-4",
        (
            Part(_SMOOTHED, _smooth_text, decimals=2, name="goal"),
            Part(np.log(17), lambda _: f"log(0.85 / 0.05) = log 17 = {fmt(np.log(17))}", decimals=4, name="lead"),
            Part(0.25 - _SMOOTHED[1], lambda _: "0.25 - 0.85 = -0.6", decimals=2, name="with smoothing"),
            Part(0.25 - 1, lambda _: "0.25 - 1 = -0.75", decimals=2, name="without"),
        ),
    ),
    ByHand(
        "ex-15-1",
        (
            product(_DY, _W.T, name="dX"),
            product(_X.T, _DY, name="dW"),
            Part(
                _DY.sum(axis=0),
                lambda i: f"{_DY[0][i]:g} + ({_DY[1][i]:g}) = {_DY.sum(axis=0)[i]:g}",
                name="db",
            ),
            product(_DY, _W, name="dX without the transpose"),
        ),
    ),
    ByHand(
        "ex-15-2",
        (
            Part(_THREE, lambda i: f"{8 * _THREE[i]:g} / (1 + 2 + 5) = {_THREE[i]:g}", decimals=3, name="p"),
            Part(-np.log(_THREE[2]), lambda _: f"-log(5/8) = {fmt(-np.log(5 / 8))}", decimals=4, name="loss"),
            Part(_THREE - np.eye(3)[2], _minus(2), decimals=3, name="gradient"),
            Part(_THREE - np.eye(3)[0], _minus(0), decimals=3, name="gradient, first word right"),
        ),
    ),
    ByHand("ex-15-3", (_through(0), _through(15))),
    ByHand(
        "ex-15-4",
        (
            product(_ONE, _V, name="O"),
            product(_ONE[:, None], _DO[None], decimals=2, name="dV"),
            product(_DO, _V.T, name="dA"),
            Part(
                _DS,
                lambda i: f"{_ONE[i]:g} * ({(_DO @ _V.T)[i]:g} - 5) = {_DS[i]:g}",
                decimals=2,
                name="dS",
            ),
            product(_DS, _K, decimals=2, name="dQ"),
            product(_DS[:, None], _Q[None], decimals=4, name="dK"),
        ),
    ),
    ByHand(
        "ex-15-5",
        (
            Part(np.array([-1.0, 1.0]), lambda i: f"({(2, 6)[i[0]]} - 4) / 2 = {(-1, 1)[i[0]]}", name="y"),
            Part(2.0, lambda _: "(5 + (-1)) / 2 = 2", name="mean(dy)"),
            Part(-3.0, lambda _: "(5 * (-1) + (-1) * 1) / 2 = -3", name="mean(dy y)"),
            Part(
                _WIDTH_2[0],
                lambda i: ("(5 - 2 - (-1) * (-3)) / 2 = 0", "(-1 - 2 - 1 * (-3)) / 2 = 0")[i[0]],
                name="dx",
            ),
        ),
    ),
    ByHand(
        "ex-16-1",
        (
            Part(1 - 0.1, lambda _: "1 - 0.1 * 2 / root of 4 = 0.9", decimals=4, name="after step 1"),
            Part(
                0.9 - 0.1 * _RATIO,
                lambda _: (
                    f"means 0.9 * 0.2 = 0.18 and 0.98 * 0.08 = 0.0784; 0.9 - 0.1 * (0.18 / 0.19) / root of "
                    f"(0.0784 / 0.0396) = {fmt(0.9 - 0.1 * _RATIO)}"
                ),
                decimals=4,
                name="after step 2",
            ),
        ),
    ),
    ByHand(
        "ex-16-2",
        (
            Part(_READS, name="tgt"),
            Part(_GOAL, name="goal"),
            Part(_IS_TOKEN, name="tgt_is_token"),
            Part(
                np.array([1, 1, 1, 0]), lambda _: "causal: 1 1 1 0; padding: 1 1 1 0; both: 1 1 1 0", name="third row"
            ),
            Part(_IS_TOKEN.sum(), lambda _: "3 + 4 = 7", name="goals that count"),
        ),
    ),
    ByHand(
        "ex-16-3",
        (
            Part(0.99**8, lambda _: f"0.99^8 = {fmt(0.99**8)}", decimals=4, name="8 tokens"),
            Part(0.99**30, lambda _: f"0.99^30 = {fmt(0.99**30)}", decimals=4, name="30 tokens"),
        ),
    ),
]
