"""Checkers of chapter 13: out come words."""

import numpy as np

from toytf.byhand import Prod, Quotient, Root, Sum
from toytf.check.answers import part, worked, written
from toytf.check.core import Case, checker

_TWO_WORDS = np.log([0.6, 0.4]), np.log([[0.55, 0.45], [0.1, 0.9]])
_ONE_PARENT = np.log([0.9, 0.1]), np.log([[0.6, 0.4], [0.7, 0.3]])
_THREE_WORDS = np.log([0.5, 0.3, 0.2]), np.log([[0.4, 0.35, 0.25], [0.1, 0.1, 0.8], [0.05, 0.9, 0.05]])


@checker("ex-13-5", results=("sentences", "log_probs"), points=3)
def beam(first, following, length, width):
    """Write sentences of a fixed length by beam search in a table.

    first: shape (words,), the log-probability of each word as the first one.
    following: shape (words, words); row w holds the log-probabilities of the word after
    word w. length: how many words a sentence has. width: how many sentences are kept
    at each step, at most as many as there are words. Returns (sentences, log_probs):
    integers of shape (width, length) and their summed log-probabilities, shape
    (width,), the best first; of equals the one that was found first.
    """
    kept = np.argsort(-first, kind="stable")[:width]
    sentences, log_probs = kept[:, None], first[kept]
    for _ in range(length - 1):
        candidates = log_probs[:, None] + following[sentences[:, -1]]  # kept x word
        best = np.argsort(-candidates, axis=None, kind="stable")[:width]
        parent, word = np.divmod(best, len(first))
        sentences = np.column_stack([sentences[parent], word])
        log_probs = candidates[parent, word]
    return sentences, log_probs


beam.cases = lambda rng: [
    Case((*_TWO_WORDS, 2, 2), "two words, greedy would miss the best sentence"),
    Case((*_TWO_WORDS, 2, 1), "width 1 is greedy"),
    Case((*_ONE_PARENT, 2, 2), "two words, both sentences that stay begin alike"),
    Case((*_THREE_WORDS, 3, 2), "three words"),
    Case((*_THREE_WORDS, 4, 3), "three words, four of them in a sentence"),
    # of four words, two sentences can have the same transitions in another order: equal sums, as rounding wills
    Case((np.log(rng.dirichlet(np.ones(5))), np.log(rng.dirichlet(np.ones(5), size=5)), 3, 3), "five words"),
]
beam.knows("""
    - pruned within each sentence:
        (-candidates, axis=None, kind="stable")[:width] => (-candidates, axis=1, kind="stable")[:, :width], and
        np.divmod(best, len(first)) => np.repeat(np.arange(len(best)), best.shape[1]), best.ravel()
      Each kept sentence keeps its own best continuations, so their number is multiplied at every step (chapter 13, Beam
      search, step by step). All candidates compete. The expected shape has width rows.
    - one continuation of each sentence:
        np.argsort(-candidates, axis=None, kind="stable")[:width] => candidates.argmax(axis=1), and
        np.divmod(best, len(first)) => np.arange(len(best)), best
      Each kept sentence goes on greedily by itself. All continuations of all sentences compete, and one sentence may
      lose all of its children.
    - one continuation of each sentence, sorted:
        np.argsort(-candidates, axis=None, kind="stable")[:width] => candidates.argmax(axis=1), and
        parent, word = np.divmod(best, len(first))
        => parent = np.argsort(-candidates.max(axis=1), kind="stable"); word = best[parent]
      You keep the best child of each sentence. All continuations of all sentences compete: one sentence may keep two
      children and another lose all of its own.
    - greedy: [:width] =>> [:1]
      The width is not used: one sentence comes out. The expected shape has width rows.
    - the sums so far forgotten: log_probs[:, None] + following => following
      You compare the last words alone. Add what the sentence has had before: log_probs[:, None] + ...
    - the words put behind the wrong sentences: sentences[parent], word => sentences, word
      The sentences that stay must be picked by their parents before the new words go behind them: sentences[parent].
    - the table read by columns: following[sentences[:, -1]] => following[:, sentences[:, -1]].T
      Row w of following holds what comes after word w: following[last], not following[:, last].
    - log-probabilities multiplied: log_probs[:, None] + => log_probs[:, None] *
      Probabilities are multiplied, so their logarithms are added (chapter 13, Sums of logarithms).
    - divided by the width to find parent and word: len(first) => width
      A flattened index counts through rows of as many entries as there are words: divmod(best, words).
    - the least probable kept: np.argsort(-candidates => np.argsort(candidates
      argsort counts upwards. Sort the negative sums.
    - the best sentence last: return sentences, log_probs => return sentences[::-1], log_probs[::-1]
      The sentences are the right ones. The best comes first: turn their order round, and that of log_probs.
    - one word too many: range(length - 1) => range(length)
      The first word is there before the loop; length - 1 are to come. The expected shape is (width, length).
    - probabilities in place of their logarithms: return sentences, log_probs => return sentences, np.exp(log_probs)
      The sums themselves are asked for, without exp.
""")


def _generate_cases(rng):
    forgets = np.array([[0.0, 4, 3, -1], [2, -2, 1, 0], [0, 0, -3, 5], [0, 0, 0, 0]])
    grows = np.array([[0.0, 1, 0, 0], [0, 0, 9, 0], [0, 0, -9, 5], [0, 0, 0, 0]])
    drawn = rng.normal(size=(6, 4)), rng.normal(size=(4, 6))
    return [
        Case((np.eye(4), forgets, 0, 3, 5), "four words, three to be written"),
        Case((np.eye(4), grows, 0, 3, 5), "larger logits in the later rows"),
        Case((np.eye(4), forgets, 0, 3, 2), "cut off after two"),
        Case((*drawn, 0, 5, 8), "six words"),
        Case((*drawn, 1, 2, 8), "other start and end tokens"),
    ]


@checker("ex-13-6", cases=_generate_cases)
def generate(table, weight, sos, eos, limit):
    """Write a sentence greedily, with a decoder small enough to be read at a glance.

    table: embeddings, shape (words, d). weight: output matrix, shape (d, words). Row t
    of the decoder's output is the mean of the embeddings of tokens 0 to t. sos, eos:
    the ids of start and end token. limit: how many tokens are written at most. Returns
    the ids that were written, an array of integers, without the start token, with the
    end token if it came.
    """
    ids = [sos]
    for _ in range(limit):
        rows = table[ids].cumsum(axis=0) / np.arange(1, len(ids) + 1)[:, None]  # t x d
        ids.append(int(np.argmax(rows[-1] @ weight)))
        if ids[-1] == eos:
            break
    return np.array(ids[1:])


generate.knows("""
    - the sequence replaced, not extended:
        table[ids].cumsum(axis=0) / np.arange(1, len(ids) + 1)[:, None] => table[ids[-1:]]
      The decoder reads one token and has forgotten what it wrote (chapter 13, Three traps of one loop). Add the new
      token to those that are there.
    - argmax over the flattened array: rows[-1] @ weight => rows @ weight
      With t rows argmax counts through all of them. There may be no such word (chapter 13, Three traps of one loop).
      Only the last row is new: rows[-1].
    - the first row in place of the last: rows[-1] => rows[0]
      Row 0 predicts the word after the start token, every time the same. Only the last row is new: rows[-1].
    - no stop at the end token: ids[-1] == eos => False
      When the end token comes the sentence is over: break.
    - the first token of the sequence written at every step: ids[-1] => ids[0], and ids[1:] => ids[:1] * (len(ids) - 1)
      Once the sequence grows, its first token is always the start token. What is written is the last: ids[-1].
    - the start token in the result: ids[1:] => ids
      The start token is read, not written. Return what comes behind it.
    - the end token left out of the result: (ids[1:]) => ([token for token in ids[1:] if token != eos], dtype=int)
      The end token is written like the others, and belongs to the result.
    - one token beyond the limit: range(limit) => range(limit + 1)
      At most limit tokens are written, the start token not counted: range(limit).
    - one token too few: range(limit) => range(limit - 1)
      limit tokens may be written. The start token does not count.
    - the least probable word: np.argmax => np.argmin
      argmin takes the smallest logit.
""")


@checker("ex-13-9")
def pick(logits):
    """Choose the next word of each sentence greedily.

    logits: array of shape (sentences, tokens, words): for each token written so far a
    row of scores for the word after it. Returns integers of shape (sentences,): the id
    of the word with the largest score, counted from 0, in the last row of each
    sentence; of equals the first.
    """
    return logits[:, -1].argmax(axis=-1)


pick.cases = lambda rng: [
    Case(([[[0.0, 9.0, 1.0], [2.0, 3.0, 5.0]]],), "one sentence, two tokens written, three words"),
    Case(([[[1.0, 4.0, 4.0]], [[-3.0, -2.0, -1.0]]],), "two equal scores; all scores negative"),
    Case(
        ([[[0.0, 7.0, 1.0], [9.0, 5.0, 6.0]], [[8.0, 2.0, 3.0], [4.0, 1.0, 6.0]]],), "two sentences, two tokens written"
    ),
    Case((rng.normal(size=(4, 3, 10)),), "four sentences, three tokens written, ten words"),
]
pick.knows("""
    - argmax over the flattened array: logits[:, -1].argmax(axis=-1) => logits.argmax()
      argmax without an axis counts through all numbers of all rows (chapter 13, Three traps of one loop). The expected
      shape is one id for each sentence: axis=-1.
    - argmax over the flattened last rows: argmax(axis=-1) => argmax()
      argmax without an axis counts through the last rows of all sentences. The expected shape is one id for each
      sentence: axis=-1.
    - argmax over the sentences: axis=-1 => axis=0
      axis=0 asks for each word which sentence likes it most. For each sentence the words compete: axis=-1. The expected
      shape is (sentences,).
    - the first row in place of the last: [:, -1] => [:, 0]
      Row 0 scores the word after the start token, which is written already. Only the last row is new: [:, -1].
    - the row before the last: [:, -1] => [:, -2:][:, 0]
      Rows are counted from 0, and -1 is the last: it scores the word that is not written yet.
    - the last sentence in place of the last row: [:, -1] => [-1]
      logits[-1] is the last sentence with all its rows. The axes are (sentences, tokens, words): [:, -1].
    - every row: logits[:, -1] => logits
      The expected shape is one id for each sentence. The rows before the last score words that are written already.
    - the least probable word: argmax => argmin
      argmin takes the smallest score.
    - the last of equals: logits[:, -1].argmax(axis=-1) => logits.shape[-1] - 1 - logits[:, -1, ::-1].argmax(axis=-1)
      Where two words have the same score, the first is taken, as argmax does. Sorting and taking the last one gives the
      other; >= in a loop as well.
    - the score in place of the id: argmax => max
      max gives the largest score. argmax gives its place, which is the id of the word.
    - ids counted from 1: argmax(axis=-1) => argmax(axis=-1) + 1
      Ids begin with 0, as the rows of the embedding table do.
    - the largest absolute value: logits[:, -1] => np.abs(logits[:, -1])
      A score of -3 is less than one of -1. Signs count.
""")


@checker("ex-13-10")
def temperature(logits, t):
    """Turn logits into the probabilities from which a word is drawn at temperature t.

    logits: array of shape (..., words). t: a positive number. The logits are divided by
    t before the softmax over the words. Returns an array of the shape of logits; each
    row sums to 1. It must survive logits of 20 at a temperature of 0.01.
    """
    scaled = logits / t
    exps = np.exp(scaled - scaled.max(axis=-1, keepdims=True))
    return exps / exps.sum(axis=-1, keepdims=True)


temperature.cases = lambda rng: [
    Case(([0.0, np.log(3.0)], 0.5), "1/4 and 3/4 become 1/10 and 9/10"),
    Case(([0.0, np.log(9.0)], 2.0), "1/10 and 9/10 become 1/4 and 3/4"),
    Case(([[1.0, 2.0, 3.0], [3.0, 3.0, 0.0]], 1.0), "two sentences at temperature 1"),
    Case(([[20.0, 19.0], [-20.0, -20.0]], 0.01), "a low temperature"),
    Case((np.array([712.0, 711.0]) / 128, 1 / 128), "powers that overflow unless the maximum is subtracted"),
    Case((rng.normal(size=(2, 3, 5)) * 2, 0.7), "two sentences, three rows, five words"),
]
temperature.knows("""
    - multiplied in place of divided: logits / t => logits * t
      At T = 0.5 the likely words must get likelier, and yours get less so. Divide the logits by T. (Probabilities
      raised to the power T are the same mistake: the power is 1 / T.)
    - divided after the softmax:
        logits / t => logits, and exps.sum(axis=-1, keepdims=True) => exps.sum(axis=-1, keepdims=True) / t
      The sum is 1 / T then, and the ratios of the words are as before. Divide the logits, before the softmax.
    - a temperature without effect: logits / t => logits
      These are the probabilities at T = 1. Dividing the probabilities and renewing their sum, or subtracting T from the
      logits, changes nothing: divide the logits.
    - the root of the temperature: logits / t => logits / np.sqrt(t)
      Divide by T itself. The root belongs to the scores of attention.
    - no softmax: exps / exps.sum(axis=-1, keepdims=True) => scaled
      The divided logits are returned. Softmax comes behind.
    - softmax twice: logits / t => ops.softmax(logits) / t
      You divide probabilities by T and take their softmax. Divide the logits, and take one softmax.
    - no maximum subtracted: scaled - scaled.max(axis=-1, keepdims=True) => scaled
      20 / 0.01 is 2000, and exp overflows above 709.78 (chapter 8). Subtract the largest of each row first.
    - the maximum of the logits that are not divided: scaled.max => logits.max
      At a low temperature the divided logits are far larger, and exp overflows all the same. Divide first, then
      subtract the largest of what you have.
    - a sigmoid for each logit: exps / exps.sum(axis=-1, keepdims=True) => 1 / (1 + np.exp(-scaled))
      A sigmoid sees one logit, and a row of them sums to anything. In a softmax the words share 1 among them.
    - the likeliest word alone:
        exps / exps.sum(axis=-1, keepdims=True) => np.eye(logits.shape[-1])[logits.argmax(axis=-1)]
      That is argmax, the limit of a temperature of 0. At any other every word keeps a share.
    - summed over the wrong axis: axis=-1 =>> axis=0
      The probabilities of the words of one row sum to 1: axis=-1.
    - one sum for the whole array: axis=-1, keepdims=True =>>
      sum() without an axis adds up all rows. Each row needs its own sum: axis=-1, keepdims=True.
""")


@checker("ex-13-11")
def top_k(probs, k):
    """Keep the k most probable words and share out their probabilities to sum to 1.

    probs: array of shape (words,), the probabilities of the next word. k: how many
    words are kept, at most all; of equals the first. Returns an array of shape
    (words,), 0 for the words that are cut off.
    """
    order = np.argsort(-probs, kind="stable")
    kept = np.zeros_like(probs)
    kept[order[:k]] = probs[order[:k]]
    return kept / kept.sum()


top_k.cases = lambda rng: [
    Case(([0.125, 0.5, 0.125, 0.25], 2), "the two best of four words"),
    Case(([0.125, 0.5, 0.25, 0.125], 3), "two words of equal probability, room for one"),
    Case(([0.5, 0.25, 0.25], 1), "one word"),
    Case(([0.25, 0.75], 2), "all words"),
    Case((rng.dirichlet(np.ones(8)), 3), "three of eight words"),
]
top_k.knows("""
    - the sum not renewed: kept / kept.sum() => kept
      What is left sums to less than 1. Divide by its sum.
    - the least probable words kept: np.argsort(-probs => np.argsort(probs
      argsort counts upwards: its first k are the least probable. Sort -probs, or take the last k.
    - the first words kept: np.argsort(-probs, kind="stable") => np.arange(len(probs))
      You keep the first k of the vocabulary. Sort by probability first.
    - one word too many: kept[order[:k]] = probs[order[:k]] => kept[order[: k + 1]] = probs[order[: k + 1]]
      k + 1 words are left. A slice [:k] has k entries.
    - all of equals kept: kept[order[:k]] = probs[order[:k]] => kept = probs * (probs >= probs[order[k - 1]])
      Words as probable as the last one kept stay too, so there can be more than k. Of equals the first stays: choose by
      place, not by value.
    - the last of equals kept: np.argsort(-probs, kind="stable") => np.argsort(probs, kind="stable")[::-1]
      Of equals the first is kept. np.argsort(-probs, kind='stable') leaves them in order; a sort turned round does not.
    - equal shares: kept[order[:k]] = probs[order[:k]] => kept[order[:k]] = 1
      Each kept word got 1 / k. The shares keep the ratios of the probabilities.
    - a second softmax: kept / kept.sum() => ops.softmax(kept)
      Softmax of probabilities gives every word a share, those cut off too. Divide by the sum.
    - only the kept words returned: return kept => return probs[order[:k]]
      The place of a number is the id of its word, so the expected shape is that of probs, with 0 for the words that are
      cut off.
""")


@checker("ex-13-12")
def top_p(probs, p):
    """Keep the fewest words that together reach the probability p, and renew the sum.

    probs: array of shape (words,), the probabilities of the next word. p: a number
    above 0, at most 1. Words are taken from the most probable on (of equals the first)
    until their sum is p or more. Returns an array of shape (words,) that sums to 1, 0
    for the words that are cut off.
    """
    order = np.argsort(-probs, kind="stable")
    before = np.cumsum(probs[order]) - probs[order]  # what the words in front have
    ids = order[before < p]
    kept = np.zeros_like(probs)
    kept[ids] = probs[ids]
    return kept / kept.sum()


top_p.cases = lambda rng: [
    Case(([0.125, 0.5, 0.125, 0.25], 0.7), "two words are enough"),
    Case(([0.25, 0.5, 0.125, 0.125], 0.75), "two words reach p exactly"),
    Case(([0.125, 0.625, 0.25], 0.3), "the first word is enough"),
    Case(([0.25, 0.5, 0.25], 0.6), "two words of equal probability, one is enough"),
    Case(([0.5, 0.25, 0.25], 1.0), "all words"),
    Case((rng.dirichlet(np.ones(8)), 0.9), "eight words"),
]
top_p.knows("""
    - the sum not renewed: kept / kept.sum() => kept
      What is left sums to less than 1. Divide by its sum.
    - the word that reaches p left out: before < p => np.cumsum(probs[order]) <= p
      The sum of the words kept must be p or more, so the word with which it is reached stays. If it is the first word,
      none is left, and 0 divided by 0 is NaN.
    - the word that reaches p always left out: before < p => np.cumsum(probs[order]) < p
      The sum of the words kept must be p or more, so the word with which it is reached stays. np.searchsorted counts
      the words before it.
    - one word more where p is reached exactly, by argmax: before < p => : np.argmax(np.cumsum(probs[order]) > p) + 1
      A sum that equals p is enough: >= p. And where no sum is above p, argmax gives 0.
    - one word more where p is reached exactly: before < p => before <= p
      The fewest words that reach p: when their sum equals p, that is enough.
    - one word too many: order[before < p] => order[: (before < p).sum() + 1]
      You stop one word after p has been reached.
    - the words not sorted: np.argsort(-probs, kind="stable") => np.arange(len(probs))
      You add up in the order of the vocabulary. The most probable words come first.
    - the least probable words first: np.argsort(-probs => np.argsort(probs
      argsort counts upwards. Sort -probs.
    - the last of equals first: np.argsort(-probs, kind="stable") => np.argsort(probs, kind="stable")[::-1]
      Of equals the first is taken first. np.argsort(-probs, kind='stable') leaves them in order; a sort turned round
      does not.
    - each word measured by itself: before < p => probs[order] >= p
      You keep the words that have at least p alone. It is their sum that must reach p.
    - words above 1 - p: before < p => probs[order] > 1 - p
      The words cut off have at most 1 - p together; that says nothing of each one. Add up from the top.
    - not put back in their places: return kept => return kept[order]
      Your result is sorted by probability. The place of a number is the id of its word.
    - equal shares: kept[ids] = probs[ids] => kept[ids] = 1
      Each kept word got the same. The shares keep the ratios of the probabilities.
""")


@checker("ex-13-13")
def sentence_score(log_probs, alpha):
    """Rank a finished sentence: log P / ((5 + n) / 6) ** alpha.

    log_probs: array of shape (n,), the log-probability of each of the sentence's n
    tokens, the end token included; log P is their sum. alpha: 0 or more. Returns a
    number.
    """
    return log_probs.sum() / ((5 + len(log_probs)) / 6) ** alpha


sentence_score.cases = lambda rng: [
    Case(([-1.0, -2.0, -1.0, -1.0, -1.0, -1.0, -1.0], 1.0), "seven tokens: -8 / 2"),
    Case(([-2.0], 0.6), "one token: its penalty is 1"),
    Case(([-0.5, -0.25], 0.0), "no penalty"),
    Case(([-0.25, -0.5, -0.25], 2.0), "three tokens"),
    Case((-rng.exponential(size=10), 0.6), "ten tokens, the paper's alpha"),
]
sentence_score.knows("""
    - no length penalty: log_probs.sum() / ((5 + len(log_probs)) / 6) ** alpha => log_probs.sum()
      This is log P alone. Divide it.
    - multiplied by the penalty: log_probs.sum() / => log_probs.sum() *
      log P is negative: dividing it by more than 1 brings it nearer to 0 and helps long sentences. Multiplied, it is as
      if they were punished twice.
    - divided by the number of tokens: ((5 + len(log_probs)) / 6) ** alpha => len(log_probs)
      This is the mean. The length penalty is ((5 + n) / 6) to the power alpha, which grows more slowly.
    - n in place of (5 + n) / 6: ((5 + len(log_probs)) / 6) => len(log_probs)
      n to the power alpha is another penalty. This one begins with 5 + n.
    - a bracket missing: ((5 + len(log_probs)) / 6) => (5 + len(log_probs) / 6)
      5 + n / 6 divides n alone. It is (5 + n) / 6.
    - alpha on the 6 alone: ((5 + len(log_probs)) / 6) ** alpha => ((5 + len(log_probs)) / 6**alpha)
      (5 + n) / 6 ** alpha raises the 6 alone. The whole fraction stands in brackets: ((5 + n) / 6) ** alpha.
    - alpha as a factor: / 6) ** alpha => / 6 * alpha)
      alpha is an exponent: ** alpha. With alpha = 0 the penalty is 1.
    - alpha not used: / 6) ** alpha => / 6)
      Raise (5 + n) / 6 to the power alpha. With alpha = 0 the score is log P.
    - the end token not counted: 5 + len => 4 + len
      n counts all tokens, the end token included: len(log_probs).
    - log-probabilities multiplied: log_probs.sum() => log_probs.prod()
      Probabilities are multiplied, so their logarithms are added (chapter 13, Sums of logarithms).
    - the probability in place of its logarithm: log_probs.sum() => np.exp(log_probs.sum())
      The sentences are ranked by log P, the sum itself. No exp.
""")


_POWERS = np.exp([2.0, 1.0, 0.0])
_RATIO = 1.2259  # of "hola" to "world", as the exercise gives it


def _probabilities(name, largest):
    """The softmax of three logits, each 1 below the one before."""
    powers, shares = _POWERS.round(4), _POWERS / _POWERS.sum()  # powers as the exercise gives them
    below = written(Sum(*_POWERS))
    exponents = [f"e^{largest - n}" for n in range(3)]

    def terms(at):
        return f"{powers[at]:.4f} / ({below}) = {powers[at]:.4f} / {powers.sum():.4f}, about {shares[at]:.4f}"

    return (
        part(name, shares, terms, decimals=4)
        .step(lambda at: f"{exponents[at[0]]} / ({' + '.join(exponents)})")
        .knows([2 / 3, 1 / 3, 0], "the logits divided by their sum. First e to each logit, then divide.")
        .knows(_POWERS, "the powers. Divide each by their sum.")
        .knows([4 / 7, 2 / 7, 1 / 7], "powers of 2. The powers are those of e.")
        .knows(shares[::-1], "the row in reverse. The largest logit has the largest probability.")
    )


BY_HAND = {}
BY_HAND["13.1"] = [
    _probabilities("probabilities", 2),
    _probabilities("with 100 added", 102).knows(
        [1 / 3] * 3, "three equal shares. The gaps are what they were, so the probabilities are too."
    ),
]
BY_HAND["13.4"] = [
    worked(
        "temperature 0.5", Prod(_RATIO, _RATIO), lead="the difference of the logits doubles: ", about=True, decimals=3
    )
    .knows(2 * _RATIO, "the ratio doubled. The logits' difference doubles, so the ratio is squared.")
    .knows(np.sqrt(_RATIO), "temperature 2. A small temperature makes the ratio larger."),
    worked("temperature 2", Root(_RATIO), lead="the difference of the logits is halved: ", about=True, decimals=3)
    .knows(_RATIO / 2, "the ratio halved. The logits' difference is halved, so take the ratio's root.")
    .knows(_RATIO**2, "temperature 0.5. A large temperature makes the ratio smaller."),
]
BY_HAND["13.7"] = [
    worked("numbers", Prod(2, 6, 100, 512), lead="keys and values, 6 layers, 100 tokens, 512 columns: ")
    .knows(6 * 100 * 512, "the keys alone. The values are kept too.")
    .knows(2 * 100 * 512, "one layer. Each of the 6 keeps its own.")
    .knows(2 * 6 * 100 * 512 * 8, "the heads counted again. 8 heads of 64 are the 512 columns.")
    .knows(2 * 6 * 100 * 64, "one head. There are 8."),
    part("rows with cache", 100, "one row for each token: 100")
    .step("at each step the newest row alone")
    .knows(5050, "the number without a cache. With it only the newest row goes through.")
    .knows(1, "the rows of one step. Asked are those of all steps."),
    worked("rows without cache", Quotient(Prod(100, 101), 2), lead="1 + 2 + ... + 100 = ")
    .knows(10000, "100 rows at each step. At step t there are only t.")
    .knows(4950, "1 + 2 + ... + 99. The last step reads every token.")
    .knows(100, "the number with a cache. Without it all rows go through again."),
    part("caches", 4, "one for each hypothesis: 4")
    .step("each hypothesis has words of its own, and so a cache of its own")
    .knows(1, "one for all. Each hypothesis has words of its own.")
    .knows(24, "one for each layer too. A cache holds all layers."),
]
