"""Checkers of chapter 16: training."""

import numpy as np

from toytf.byhand import Power, Sum, fmt
from toytf.check.answers import part, worked
from toytf.check.core import Case, checker


@checker("ex-16-8", results=("w", "m", "v"), points=3)
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


adam_step.cases = lambda rng: [
    Case(([1.0], [2.0], [0.0], [0.0], 1, 0.1), "step 1 of exercise 16.1"),
    Case(([0.9], [0.0], [0.2], [0.08], 2, 0.1), "step 2: the gradient is 0"),
    Case(([1.0, 1.0], [3.0, -0.5], [0.0, 0.0], [0.0, 0.0], 1, 0.1), "two entries, a first step"),
    Case(([1.0, 1.0], [4.0, -0.5], [0.5, 0.5], [2.0, 0.25], 3, 0.1), "two entries, step 3"),
    Case(([1.0, 1.0], [0.0, 1e-9], [0.0, 0.0], [0.0, 0.0], 1, 0.1), "a gradient of 0 and one as small as epsilon"),
    Case((*rng.normal(size=(3, 3, 2)), rng.uniform(1, 2, (3, 2)), 7, 0.01), "a matrix, step 7"),
]
adam_step.knows("""
    - no bias correction: m / (1 - 0.9**t), v / (1 - 0.98**t) => m, v
      Both means start at 0 and are too small at first. Divide them by 1 - beta^t before the ratio (chapter 16, Adam by
      hand).
    - only the mean of the gradient corrected: v / (1 - 0.98**t) => v
      The mean of the squares starts at 0 as well: divide it by 1 - beta_2^t.
    - only the mean of the squares corrected: m / (1 - 0.9**t) => m
      The mean of the gradient starts at 0 as well: divide it by 1 - beta_1^t.
    - the power of the bracket: **t) =>> ) ** t
      (1 - beta)^t raises the bracket. Only beta is raised: 1 - beta^t. At the first step both are the same.
    - beta times t: **t =>>  * t
      beta is raised to the power t: 1 - beta**t. At the first step 1 - beta * t is the same.
    - steps counted from 0: **t =>>  ** (t - 1)
      1 - beta^0 is 0, and the first step divides by it. t is 1 at the first step; use it as it is given.
    - the corrected means kept: 1e-9), m, v => 1e-9), mean, mean_of_squares
      What is returned as m and v has been divided by 1 - beta^t, so the next step corrects them again. Correct copies,
      and hand on the running means themselves.
    - the old means handed on:
        m = 0.9 * => new_m = 0.9 *, and v = 0.98 => new_v = 0.98, and m / (1 - 0.9**t), v => new_m / (1 - 0.9**t), new_v
      The new w is right. But m and v are returned as they came in, so the next step remembers nothing.
    - the gradient not squared: dw**2 => dw
      v is the running mean of dw**2. Without the square it can be negative, and its root is NaN.
    - the square of the mean: dw**2 => m**2
      v is the running mean of the squares, so square dw, not m.
    - the root forgotten: np.sqrt(mean_of_squares) => mean_of_squares
      Divide by the root of the mean square. Without it a large gradient makes a small step.
    - epsilon inside the root: (np.sqrt(mean_of_squares) + 1e-9) => np.sqrt(mean_of_squares + 1e-9)
      The root of 1e-9 is 0.00003, far more than 1e-9. Add epsilon after taking the root.
    - epsilon left out: (np.sqrt(mean_of_squares) + 1e-9) => np.sqrt(mean_of_squares)
      An entry that has never had a gradient gives 0 / 0. Add 1e-9 to the root.
    - another epsilon, 1e-8: 1e-9 => 1e-8
      Many libraries have this default. The paper's value is 1e-9.
    - another beta_2, 0.999: 0.98 * v + 0.02 * dw**2 => 0.999 * v + 0.001 * dw**2, and 0.98**t => 0.999**t
      Many libraries have this default. The paper's value is 0.98.
    - another beta_2 and another epsilon, 0.999 and 1e-8:
        0.98 * v + 0.02 * dw**2 => 0.999 * v + 0.001 * dw**2, and 0.98**t => 0.999**t, and 1e-9 => 1e-8
      These are PyTorch's defaults. The paper's values are 0.98 and 1e-9.
    - 0.999 in the mean and 0.98 in its correction: 0.98 * v + 0.02 * dw**2 => 0.999 * v + 0.001 * dw**2
      The mean of the squares keeps 0.98 of what it had, as its correction says.
    - the two betas exchanged:
        0.9 * m + 0.1 => 0.98 * m + 0.02, and 0.98 * v + 0.02 => 0.9 * v + 0.1, and 0.9** => 0.98**, and 0.98** => 0.9**
      0.9 belongs to the mean of the gradient, 0.98 to the mean of its square.
    - old and new weighted the wrong way round:
        0.9 * m + 0.1 => 0.1 * m + 0.9, and 0.98 * v + 0.02 => 0.02 * v + 0.98, and 0.9** => 0.1**, and 0.98** => 0.02**
      A running mean keeps the large part of what it had: 0.9 m + 0.1 dw, and 0.98 v + 0.02 dw**2.
    - the newest gradient in place of its mean: learning_rate * mean / => learning_rate * dw /
      Above the root stands the corrected mean of the gradient, not dw itself.
    - a step uphill: return w - => return w +
      The loss grows along the gradient. Subtract the step.
""")


@checker("ex-16-9", results=("rate",), tolerance=1e-13)  # rates are small
def paper_schedule(step, d_model, warmup):
    """The paper's learning rate: ``d_model^-0.5 * min(step^-0.5, step * warmup^-1.5)``.

    step: the number of the step, counted from 1. d_model: the width of the model.
    warmup: for how many steps the rate rises. All three are whole numbers. Returns one
    number.
    """
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


paper_schedule.cases = lambda rng: [
    Case((1, 4, 4), "the first of four steps of warm-up"),
    Case((4, 4, 4), "the last one, where both parts are equal"),
    Case((16, 4, 4), "after it"),
    Case((1000, 512, 4000), "the paper's sizes, rising"),
    Case((20_000, 512, 4000), "the paper's sizes, falling"),
    *(Case((step, 256, 3000), "another model") for step in rng.integers(2, 200_000, size=3).tolist()),
]
paper_schedule.knows("""
    - max for min: min( => max(
      The smaller of the two counts: the line during warm-up, the root after it. They meet at step = warmup.
    - no warm-up: min(step**-0.5, step * warmup**-1.5) => step**-0.5
      Only the falling part is there. During the first warmup steps the rate rises in a line, step * warmup^-1.5.
    - no fall after the warm-up: min(step**-0.5, step * warmup**-1.5) => step * warmup**-1.5
      Only the rising line is there. From step = warmup on the rate is step^-0.5 times the first factor.
    - a constant rate after the warm-up: min(step**-0.5 => min(warmup**-0.5
      After the rise the rate falls like one over the root of the step: it depends on step, not on warmup alone.
    - warmup^-0.5 in place of warmup^-1.5: warmup**-1.5 => warmup**-0.5
      The line must reach warmup^-0.5 at step = warmup, so it rises by warmup^-0.5 / warmup = warmup^-1.5 a step.
    - the root of d_model as a factor: d_model**-0.5 => d_model**0.5
      A wider model gets a smaller rate: d_model^-0.5 is one over the root.
    - d_model left out: d_model**-0.5 * min => min
      The factor d_model^-0.5 in front is missing.
    - integer division in the exponents:
        d_model**-0.5 => d_model ** (-1 // 2), and step**-0.5 => step ** (-1 // 2), and **-1.5 => ** (-3 // 2)
      -1 // 2 is -1. Write -0.5 or -1 / 2.
    - steps counted one too far: step**-0.5, step * => (step + 1) ** -0.5, (step + 1) *
      The rate is that of the next step. step is 1 at the first; use it as it is given.
    - both parts added: min(step**-0.5, step * warmup**-1.5) => (step**-0.5 + step * warmup**-1.5)
      The rate is the smaller of the two parts, not their sum.
""")


@checker("ex-16-10", results=("dw", "db"))
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


clip.cases = lambda rng: [
    Case(([[3.0]], [4.0], 1.0), "length 5, limit 1"),
    Case(([[3.0]], [4.0], 10.0), "length 5, limit 10"),
    Case(([[1.0, -2.0], [4.0, 2.0]], [0.0, 0.0], 2.5), "length 5, a bias without gradient"),
    Case((np.zeros((2, 3)), np.zeros(3), 1.0), "all zero"),
    Case((4 * rng.normal(size=(5, 3)), 4 * rng.normal(size=3), 1.0), "a matrix 5 x 3 and its bias"),
]
clip.knows("""
    - the limit set on every entry: dw * factor, db * factor => np.clip(dw, -limit, limit), np.clip(db, -limit, limit)
      np.clip cuts entries, and the direction changes. Multiply all entries by one factor, limit / length.
    - the largest entry for the length:
        np.sqrt((dw**2).sum() + (db**2).sum()) => max(np.abs(dw).max(), np.abs(db).max())
      The length is the root of the sum of all squares.
    - the root forgotten: np.sqrt((dw**2).sum() + (db**2).sum()) => (dw**2).sum() + (db**2).sum()
      The sum of the squares is the length squared. Take its root.
    - absolute values in place of squares: np.sqrt((dw**2).sum() + (db**2).sum()) => np.abs(dw).sum() + np.abs(db).sum()
      The length is the root of the sum of the squares, not the sum of the absolute values.
    - the lengths of both added: sqrt((dw**2).sum() + (db**2).sum()) => sqrt((dw**2).sum()) + np.sqrt((db**2).sum())
      The common length is the root of the sum of all squares, shorter than the two lengths together.
    - mean for sum: (dw**2).sum() + (db**2).sum() => ((dw**2).sum() + (db**2).sum()) / (dw.size + db.size)
      The length is the root of the sum of the squares. With the mean it depends on how many entries there are.
    - short gradients stretched to the limit: limit / length if length > limit else 1.0 => limit / length
      What is shorter than the limit stays as it is, and a gradient of 0 has no direction. Shorten only where length >
      limit.
    - only dw shortened: db * factor => db.copy()
      One factor for all: db is multiplied as well.
    - brought to length 1: limit / length => 1 / length
      Divided by the length, but not multiplied by limit: the factor is limit / length.
    - each array shortened by itself:
        dw * factor, db * factor => tuple(d * (limit / max(np.sqrt((d**2).sum()), limit)) for d in (dw, db))
      Two lengths and two factors turn the step into another direction. Take one length over all entries of both.
    - each row shortened by itself:
        dw * factor, db * factor
        => tuple(d * (limit / np.maximum(np.sqrt((d**2).sum(-1, keepdims=True)), limit)) for d in (dw, db))
      The length runs over all entries of both arrays, not over one row: sum() without an axis.
""")


@checker("ex-16-5", results=("w", "total"))
def momentum_step(w, dw, total, learning_rate):
    """Take a step: ``total = 0.9 total + dw``, then ``w = w - learning_rate * total``.

    w: array of any shape, the weights. dw: their gradient. total: the running sum
    before this step (at the first step all 0). All have the same shape. Returns the new
    w and the new total; changes none of its arguments.
    """
    total = 0.9 * total + dw
    return w - learning_rate * total, total


momentum_step.cases = lambda rng: [
    Case(([1.0], [2.0], [0.0], 0.1), "a first step"),
    Case(([0.8], [0.0], [2.0], 0.1), "a second one: the gradient is 0"),
    Case(([1.0, 2.0], [4.0, -4.0], [10.0, 10.0], 0.5), "with and against what was gathered"),
    Case((*rng.normal(size=(3, 3, 2)), 0.03), "a matrix"),
]
momentum_step.knows("""
    - a mean in place of the sum: 0.9 * total + dw => 0.9 * total + 0.1 * dw
      0.9 total + 0.1 dw is Adam's running mean. The sum takes in the whole gradient.
    - the old sum used for the step: total = 0.9 * total + => new = 0.9 * total +, and * total, total => * total, new
      The gradient enters the sum first, then the sum moves the weight: use the new total.
    - the sum forgotten in the step: learning_rate * total => learning_rate * dw
      This is plain gradient descent: the sum is kept and never used. Subtract learning_rate * total.
    - a sum that forgets nothing: 0.9 * total => total
      The old sum has to shrink: 0.9 total + dw. Otherwise the steps grow without end.
    - 0.9 at the gradient: 0.9 * total + dw => total + 0.9 * dw
      The factor 0.9 belongs to the old sum: 0.9 total + dw.
    - 0.9 at both: 0.9 * total + dw => 0.9 * (total + dw)
      0.9 (total + dw) shrinks the new gradient too. Only the old sum is multiplied.
    - the rate inside the sum: * total + dw => * total + learning_rate * dw, and w - learning_rate * total => w - total
      Then the sum remembers old rates. Keep the gradients in the sum, and multiply by learning_rate when w moves.
    - a step uphill: w - learning_rate => w + learning_rate
      The loss grows along the gradient. Subtract the step.
    - the old sum handed on: total = 0.9 * total => new = 0.9 * total, and learning_rate * total => learning_rate * new
      The new w is right, but total is returned as it came in, so the next step does not know this gradient.
""")


# 16.1: two steps of Adam
_M, _V_2 = 0.9 * 0.2, 0.98 * 0.08
_RATIO = (_M / 0.19) / np.sqrt(_V_2 / (1 - 0.98**2))

# 16.2: "hola mundo" and "hola casa roja"
_GOAL = np.array([[4, 5, 2, 0], [4, 3, 6, 2]])
_READS = np.array([[1, 4, 5, 0], [1, 4, 3, 6]])
_IS_TOKEN = 1 * (_READS != 0)
_WORDS = ("<pad>", "<sos>", "<eos>", "casa", "hola", "mundo", "roja")

# 16.1: the two steps with means that are not corrected
_BARE = 1 - 0.1 * np.cumsum([0.2 / np.sqrt(0.08), 0.18 / np.sqrt(0.0784)])

# 16.1: step 2 with the correction of step 1, and with 0.9 and 0.98 exchanged
_SLIPPED = 0.9 - 0.1 * np.array(
    [0.18 / 0.1 / np.sqrt(0.0784 / 0.02), 0.98 * 0.04 / (1 - 0.98**2) / np.sqrt(0.9 * 0.4 / (1 - 0.9**2))]
)


def _exact(n):
    """The answer 0.99 to the power n."""
    return (
        worked(f"{n} tokens", Power(0.99, n), decimals=4)
        .knows(1 - 0.01 * n, "a hundredth subtracted for each token. Shares of independent events multiply.")
        .knows(1 - 0.99**n, "the share with a mistake. Asked is the exact one.")
    )


BY_HAND = {}
BY_HAND["16.1"] = [
    part("after step 1", 1 - 0.1, "1 - 0.1 * 2 / root of 4 = 0.9", decimals=4)
    .knows(0.8, "a plain step, 1 - 0.1 * 2. Adam divides by the root of the mean square.")
    .knows(_BARE[0], "means not corrected. At step 1 divide them by 1 - 0.9 and 1 - 0.98.")
    .knows(0.95, "a division by the mean square. Divide by its root.")
    .knows(1.1, "a step in the direction of the gradient. Adam goes against it."),
    part(
        "after step 2",
        0.9 - 0.1 * _RATIO,
        f"means 0.9 * 0.2 = 0.18 and 0.98 * 0.08 = 0.0784; 0.9 - 0.1 * (0.18 / 0.19) / root of "
        f"(0.0784 / 0.0396) = {fmt(0.9 - 0.1 * _RATIO)}",
        decimals=4,
    )
    .step("0.9 - 0.1 * (0.9 * 0.2 / 0.19) / root of (0.98 * 0.08 / 0.0396)")
    .knows(0.9, "no step, because the gradient is 0. The means remember the step before.")
    .knows(_BARE[1], "means not corrected. At step 2 divide them by 1 - 0.9^2 and 1 - 0.98^2.")
    .knows(0.8, "the step of before once more. The mean of the gradients shrinks to 0.9 of itself.")
    .knows(_SLIPPED[0], "the correction of step 1 once more. At step 2 divide by 1 - 0.9^2 and 1 - 0.98^2.")
    .knows(_SLIPPED[1], "the two betas exchanged. 0.9 belongs to the gradient, 0.98 to its square."),
]
BY_HAND["16.2"] = [
    part("tgt", _READS, lambda at: f"{_WORDS[_READS[at]]} has the id {_READS[at]}")
    .step("`<sos>`, the words, then `<pad>`: the id of what stands in this column")
    .knows(_GOAL, "the goal. What the decoder reads begins with `<sos>`.")
    .knows([[1, 4, 5, 2], [1, 4, 3, 6]], "`<eos>` among what the decoder reads. It is only said."),
    part("goal", _GOAL, lambda at: f"{_WORDS[_GOAL[at]]} has the id {_GOAL[at]}")
    .step("the words, `<eos>`, then `<pad>`: the id of what stands in this column")
    .knows(_READS, "`tgt`. The goal is one place on, and ends with `<eos>`.")
    .knows([[4, 5, 0, 0], [4, 3, 6, 0]], "the words alone. Each sentence ends with `<eos>`.")
    .knows([[1, 4, 5, 2], [1, 4, 3, 6]], "`<sos>` in the goal. It is read and never said."),
    part("tgt_is_token", _IS_TOKEN, lambda at: f"tgt has {_WORDS[_READS[at]]} here: {_IS_TOKEN[at]}")
    .knows(1 - np.array(_IS_TOKEN), "1 and 0 exchanged. 1 means: a token.")
    .knows(np.ones((2, 4)), "`<pad>` taken for a token.")
    .knows([[0, 1, 1, 0], [0, 1, 1, 1]], "`<sos>` not taken for a token. It is one."),
    part("third row", np.array([1, 1, 1, 0]), "causal: 1 1 1 0; padding: 1 1 1 0; both: 1 1 1 0")
    .step("a key that both masks allow: it does not lie after the third, and is no `<pad>`")
    .knows([0, 0, 0, 1], '1 and 0 exchanged. 1 means "may".')
    .knows([1, 1, 0, 0], "a row that may not attend to itself. It may.")
    .knows([1, 1, 1, 1], "every key. What follows is hidden, and so is `<pad>`."),
    worked("goals that count", Sum(*_IS_TOKEN.sum(axis=1).tolist()))
    .knows(_IS_TOKEN.size, "every place. The filling does not count.")
    .knows(_IS_TOKEN.sum() - 2, "the words alone. Each sentence's `<eos>` is a goal too."),
]
BY_HAND["16.3"] = [_exact(8), _exact(30)]
