"""Checkers of chapter 14: the loss."""

import numpy as np

from toytf.byhand import Difference, Prod, Quotient, Sum, fmt
from toytf.check.answers import part, worked
from toytf.check.core import Case, checker

LOG_3 = np.log(3.0)


@checker("ex-14-8", results=("loss",))
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


cross_entropy.cases = lambda rng: [
    Case(([[0.0, LOG_3]], [1], [True]), "one token, to which the model gives 3/4"),
    Case(([[0.0, LOG_3], [LOG_3, 0.0]], [1, 1], [True, True]), "two tokens, with 3/4 and 1/4"),
    Case(
        ([[0.0, LOG_3], [LOG_3, 0.0], [0.0, 0.0]], [1, 1, 0], [True, True, False]), "the same two tokens, and padding"
    ),
    Case(([[1000.0, 0.0], [0.0, 0.0]], [0, 0], [True, True]), "a large logit at a right word"),
    Case(([[0.0, 1000.0]], [0], [True]), "a right word with hardly any probability"),
    Case(
        (2 * rng.normal(size=(2, 3, 5)), rng.integers(5, size=(2, 3)), [[True, True, True], [True, False, False]]),
        "two sentences, three places, five words",
    ),
]
cross_entropy.knows("""
    - no maximum subtracted:
        logits - logits.max(axis=-1, keepdims=True) => logits, and
        shifted - np.log(np.exp(shifted).sum( => np.log(np.exp(shifted) / np.exp(shifted).sum(
      exp overflows above 709.78. Subtract the largest logit of each row first (chapter 14, straight from the logits);
      the loss stays the same.
    - the logarithm of a softmax: shifted - np.log(np.exp(shifted).sum( => np.log(np.exp(shifted) / np.exp(shifted).sum(
      A probability that is too small for a float becomes 0, and its logarithm minus infinity. Join the two on paper:
      log p = s - log(sum of exp(s)), with the largest logit subtracted (chapter 14).
    - padding counted: right[is_token] => right
      The mean runs over the tokens alone: leave out the rows where is_token is False, from the sum and from the number
      that you divide by (chapter 14, padding does not count).
    - divided by the number of all places: right[is_token].mean() => right[is_token].sum() / targets.size
      The sum leaves the padding out, the division does not. Divide by the number of tokens, is_token.sum().
    - the mask with the opposite sense: right[is_token].mean() => (right * ~is_token).sum() / (~is_token).sum()
      True in is_token marks a token, and you averaged over the padding. Count where is_token is True.
    - sum for mean: .mean() => .sum()
      The losses of the tokens are added and not divided. Divide by their number; otherwise a large batch looks worse
      than a small one.
    - a mean of sentence means: right[is_token].mean => ((right * is_token).sum(axis=-1) / is_token.sum(axis=-1)).mean
      A token of a short sentence then weighs more. Take one mean over all tokens of the batch (chapter 14, padding does
      not count).
    - the sign forgotten: return -right => return right
      The logarithm of a probability is never positive, and a loss is never negative: turn the sign round.
    - base-2 logarithm: .mean() => .mean() / np.log(2)
      This is the loss in bits. Here it is in nats: take np.log, not np.log2.
    - the logarithm of the mean probability: right[is_token].mean() => np.log(np.exp(right[is_token]).mean())
      Take the logarithm of each token's probability first, then the mean. The product of probabilities becomes a sum of
      logarithms (chapter 14, minus the logarithm).
    - logits taken for probabilities: np.take_along_axis(log_p => np.take_along_axis(np.log(logits)
      The logarithm of the logits themselves is taken. A softmax has to come first.
    - softmax taken twice: logits - logits.max(axis=-1, keepdims=True) => ops.softmax(logits)
      The probabilities went through a softmax once more, which makes them nearly equal. One is enough, and log-softmax
      contains it already.
    - softmax over the wrong axis: (axis=-1 =>> (axis=-2
      The probabilities of one place sum to 1 over the words, which is the last axis: axis=-1.
    - the likeliest word in place of the right one:
        np.take_along_axis(log_p, targets[..., None], axis=-1)[..., 0] => log_p.max(axis=-1)
      The loss looks at the probability of the target, whatever the model would say itself.
    - accuracy in place of the loss: return -right[is_token] => return (log_p.argmax(axis=-1) == targets)[is_token]
      This counts how often the likeliest word is the right one. Such a count has no slope to learn from; take minus the
      logarithm of the right word's probability.
""")


@checker("ex-14-9", results=("goal",))
def smoothed_goal(targets, vocabulary, e):
    """Make the goal with label smoothing: a share e is spread evenly over all words.

    The right word gets its part of the share too. targets: whole numbers of any shape,
    the ids of the right words. vocabulary: how many words there are. e: the share, at
    least 0 and below 1. Returns an array of shape (..., vocabulary); each sums to 1.
    """
    one_hot = np.eye(vocabulary)[targets]
    return (1 - e) * one_hot + e / vocabulary


smoothed_goal.cases = lambda rng: [
    Case(([1], 4, 0.2), "four words, the second is right"),
    Case(([2, 0], 5, 0.1), "two rows, five words, the paper's share"),
    Case(([3, 1], 4, 0.0), "no smoothing"),
    Case((rng.integers(6, size=(3, 6)), 6, 0.3), "three sentences, six places, six words"),
]
smoothed_goal.knows("""
    - the share spread over the other words only: e / vocabulary => (1 - one_hot) * e / (vocabulary - 1)
      Each wrong word gets e / (vocabulary - 1), the right one 1 - e. Spread e over all words, the right one too
      (chapter 14, label smoothing).
    - the right word without its part of the share: e / vocabulary => (1 - one_hot) * e / vocabulary
      1 - e stands at the right word, and the row does not sum to 1. It gets its e / vocabulary as well.
    - the share added and nothing taken away: (1 - e) * one_hot => one_hot
      The right word has 1 + e / vocabulary, and the row sums to 1 + e. Multiply the one-hot row by 1 - e first.
    - the whole share for every wrong word: e / vocabulary => (1 - one_hot) * e
      e is what all words get together. Each gets e / vocabulary.
    - the whole share for every word: e / vocabulary => e
      e is what all words get together, so each gets e / vocabulary, and the row sums to 1.
    - e and 1 - e exchanged: (1 - e) * one_hot + e / vocabulary => e * one_hot + (1 - e) / vocabulary
      The right word keeps 1 - e, and the small share e is spread.
    - no smoothing: (1 - e) * one_hot + e / vocabulary => one_hot
      This is the one-hot goal, right only for e = 0.
    - ids counted from 1: [targets] => [targets - 1]
      Id 0 is the first word: the goal stands one column too far to the left.
    - every target set in every row:
        np.eye(vocabulary)[targets] => np.zeros((*targets.shape, vocabulary)); one_hot[..., targets] = 1
      goal[..., targets] = ... picks columns for all rows at once. Pair each row with its own target:
      np.eye(vocabulary)[targets], or goal[rows, targets].
""")


@checker("ex-14-10", results=("read",))
def shift_right(goals, sos):
    """Make what the decoder reads: the right words moved one place, sos in front.

    goals: whole numbers of shape (..., m), the ids that the decoder should say, one
    sentence a row. sos: the id of the start token. Returns an array of the same shape;
    each row's last goal is read nowhere.
    """
    first = np.full_like(goals[..., :1], sos)
    return np.concatenate([first, goals[..., :-1]], axis=-1)


shift_right.cases = lambda rng: [
    Case(([3, 5], 9), "one sentence of two tokens"),
    Case(([[2, 1, 0, 4, 5], [3, 5, 0, 0, 0]], 1), "two sentences, the second filled up with 0"),
    Case((rng.permutation(np.arange(2, 26)).reshape(2, 3, 4), 1), "two batches of three sentences"),
]
shift_right.knows("""
    - the shift forgotten: np.concatenate([first, goals[..., :-1]], axis=-1) => goals.copy()
      The decoder reads what it should say, and learns to repeat it (exercise 14.5).
    - the last token not cut off: goals[..., :-1] => goals
      The row is one token too long. What follows the last goal is never asked for: leave the last goal out.
    - the last token moved to the front: np.full_like(goals[..., :1], sos) => goals[..., -1:]
      np.roll brings what falls out on the right back in on the left. The first place belongs to the start token.
    - shifted to the left: first, goals[..., :-1] => goals[..., 1:], first
      Each row then reads the word after its goal. Move the words to the right, and put the start token in front.
    - the first word overwritten: goals[..., :-1] => goals[..., 1:]
      The start token stands in front, and the other words have not moved: every row but the first reads its own goal.
    - the start token at the end: first, goals[..., :-1] => goals[..., :-1], first
      It replaces the last word and nothing moves. It belongs in front, and the words one place to the right.
    - moved along the wrong axis: goals[..., :1] => goals[:1], and goals[..., :-1]], axis=-1 => goals[:-1]], axis=0
      The sentences of the batch have moved down. Places of one sentence stand along the last axis: axis=-1.
    - all sentences in one row:
        np.concatenate([first, goals[..., :-1]], axis=-1) => np.append(sos, goals.ravel()[:-1]).reshape(goals.shape)
      The flattened array was shifted, so the last word of one sentence became the first of the next. Shift each
      sentence by itself.
""")


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


BY_HAND = {}
BY_HAND["14.1"] = [
    part("loss", -np.log(_SIX[3]), "-log 0.5 = log 2 = 0.6931", decimals=4)
    .knows_logarithms()
    .knows(np.log(0.5), "the sign lost. The loss is minus the logarithm.")
    .knows(-np.log(_SIX).sum(), "the losses of all words. Only the right word's counts."),
    part("perplexity", 1 / _SIX[3], "e^0.6931, about 2", decimals=2)
    .step("e to the loss")
    .knows(0.5, "the probability. The perplexity is 1 divided by it.")
    .knows(2**0.6931, "2 to the loss. A loss in natural logarithms asks for e.")
    .knows(0.6931, "the loss. The perplexity is e to it."),
    worked("gradient", [Difference(p, int(i == 3)) for i, p in enumerate(_SIX)], decimals=2, shown="g")
    .knows(-_MISS, "wanted minus said. It is said minus wanted.")
    .knows(_SIX, "the probabilities. Subtract 1 where the right word stands.")
    .knows(-1 / _SIX[3] * np.eye(6)[3], "the slope of the probability. Asked is that of the logits."),
    worked("sum", Sum(*_MISS.round(2)), decimals=2).knows(1, "the sum of the probabilities."),
]
BY_HAND["14.3"] = [
    part("H(g)", _h(_G, _G), _h_text(_G, _G), decimals=4).knows_logarithms(),
    part("H(g, p)", _h(_G, _P), _h_text(_G, _P), decimals=4)
    .knows(_h(_P, _G), "H(p, g). g stands before the logarithm, p in it.")
    .knows(_h(_P, _P), "H(p). The shares in front are those of g.")
    .knows_logarithms(),
    part("KL(g, p)", _h(_G, _P) - _h(_G, _G), _kl_text(_G, _P), decimals=4)
    .knows(_h(_P, _G) - _h(_P, _P), "KL(p, g). The first one's shares stand in front.")
    .knows(_h(_G, _G) - _h(_G, _P), "H(g) - H(g, p). It is the other way round.")
    .knows_logarithms(),
    part("KL(p, g)", _h(_P, _G) - _h(_P, _P), _kl_text(_P, _G), decimals=4)
    .knows(_h(_G, _P) - _h(_G, _G), "KL(g, p). The first one's shares stand in front.")
    .knows(_h(_P, _P) - _h(_P, _G), "H(p) - H(p, g). It is the other way round.")
    .knows_logarithms(),
]
BY_HAND["14.4"] = [
    worked("goal", [Sum(Prod(0.8, said), Quotient(0.2, 4)) for said in (0, 1, 0, 0)], decimals=2)
    .knows([0.2 / 3, 0.8, 0.2 / 3, 0.2 / 3], "0.2 shared among the wrong words. All four share it.")
    .knows([0.05, 0.8, 0.05, 0.05], "0.2 not given to the right word. All four share it."),
    part("lead", np.log(17), f"log(0.85 / 0.05) = log 17 = {fmt(np.log(17))}", decimals=4)
    .knows(17, "the ratio. The lead of the logit is its logarithm.")
    .knows(np.log(12), "log(0.8 / 0.0667). The right word has a part of the 0.2 too.")
    .knows(np.log(16), "log(0.8 over a quarter of 0.2). The right word has a part of the 0.2 too.")
    .knows_logarithms(),
    worked("with smoothing", Difference(0.25, 0.85), decimals=2, shown="g")
    .knows(0.6, "wanted minus said. It is said minus wanted.")
    .knows(0.25 - 0.8, "0.25 - 0.8. The right word has a part of the 0.2 too.")
    .knows(0.25, "the probability. Subtract the goal."),
    worked("without", Difference(0.25, 1), decimals=2)
    .knows(0.75, "wanted minus said. It is said minus wanted.")
    .knows(0.25, "the probability. Subtract the goal."),
]
