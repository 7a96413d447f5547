"""Checkers of chapter 17: maps."""

import numpy as np

from toytf.byhand import Prod, Sum
from toytf.check.answers import part, worked
from toytf.check.core import Case, checker


def _even_cases(rng):
    drawn = rng.random(size=(2, 3, 5)) < 0.5
    drawn[..., 0] = True
    return [
        Case(([[True, False], [True, True]],), "two tokens, causal"),
        Case((np.tri(4, dtype=bool),), "four tokens, causal"),
        Case((np.array([[True, True, True, False, False]] * 2),), "two queries, three words and padding"),
        Case((drawn,), "two sentences, three queries, five keys"),
    ]


@checker("ex-17-5", cases=_even_cases)
def even_weights(mask):
    """Give each key that may be seen the same weight, as a head with zero queries does.

    mask: boolean array of shape (..., query, key), True means "may attend"; each row
    has at least one True. Returns an array of the shape of mask; each row sums to 1.
    """
    return mask / mask.sum(axis=-1, keepdims=True)


even_weights.knows("""
    - the mask ignored: mask / mask.sum(axis=-1, keepdims=True) => np.ones(mask.shape) / mask.shape[-1]
      1 / n for each of the n keys gives weight to hidden ones, too. Only the keys that are True in a row share its
      weight.
    - the mask after the softmax: mask.sum(axis=-1, keepdims=True) => mask.shape[-1]
      1 / n, then zeros over the hidden keys: the rows no longer sum to 1 (chapter 11). Divide by the
      number of keys that may be seen.
    - the mask with the opposite sense:
        mask / mask.sum(axis=-1, keepdims=True) => ~mask / np.maximum(1, (~mask).sum(axis=-1, keepdims=True))
      True means "may attend" here. Your weights stand where the mask is False.
    - columns that sum to 1: axis=-1 => axis=-2
      Rows ask, columns are asked: each row sums to 1. Count the True of a row: axis=-1.
    - one sum for the whole table: mask.sum(axis=-1, keepdims=True) => mask.sum()
      sum() without an axis counts the True of all rows together. Each row has its own number: axis=-1, keepdims=True.
    - keepdims forgotten: axis=-1, keepdims=True => axis=-1
      The sums have lost their last axis, so NumPy lays them along the columns. keepdims=True keeps one sum beside each
      row.
    - no division: mask / mask.sum(axis=-1, keepdims=True) => mask * 1.0
      A row of ones does not sum to 1. Divide it by the number of keys that may be seen.
    - the row's number in place of the count:
        mask.sum(axis=-1, keepdims=True) => np.arange(1, mask.shape[-2] + 1)[:, None]
      One divided by the number of the row is right for a causal mask alone. Padding hides keys as well: count the True
      of the row.
    - a softmax of the mask itself: mask / mask.sum => np.exp(1.0 * mask) / np.exp(1.0 * mask).sum
      exp(1) and exp(0): a hidden key still gets weight. True and False are no scores (chapter 11).
    - hidden keys with a share of their own: return mask => return np.ones(mask.shape)
      One divided by the count of a row stands in all its places, in hidden ones, too. Divide the mask itself.
    - [:, None] in place of keepdims: mask.sum(axis=-1, keepdims=True) => mask.sum(axis=-1)[:, None]
      [:, None] puts the lost axis second, which is the end only without a batch. keepdims=True keeps it at the end.
""")


def _contribution_cases(rng):
    def drawn(*shape, d_head, d):
        *batch, _, n = shape
        weights = rng.random(size=shape) + 0.1
        weights /= weights.sum(axis=-1, keepdims=True)
        return weights, rng.normal(size=(*batch, n, d_head)), rng.normal(size=(d_head, d))

    tiny = np.array([[0.5, 0.5], [0.9, 0.1]]), np.array([[3.0, 2.0], [0.0, 1.0]]), np.array([[1.0, 0.0], [0.0, 2.0]])
    return [
        Case(tiny, "two rows, two columns"),
        Case(drawn(2, 3, d_head=4, d=5), "two rows, three columns"),
        Case(drawn(2, 2, 3, d_head=3, d=4), "two sentences of two rows"),
        Case(drawn(4, 3, 5, d_head=2, d=6), "four sentences"),
    ]


@checker("ex-17-9", cases=_contribution_cases)
def contributions(weights, v, w_o):
    """Measure what a column adds to a row: the length of ``weight * value @ w_o``.

    weights: (..., m, n), the map of one head. v: (..., n, d_head), its values, a row
    for each column of the map. w_o: (d_head, d), the head's rows of W_O. Returns an
    array of shape (..., m, n). (The length of a row is the root of the sum of its
    squares.)
    """
    lengths = np.sqrt(((v @ w_o) ** 2).sum(axis=-1))
    return weights * lengths[..., None, :]


contributions.knows("""
    - the weights alone: weights * lengths[..., None, :] => weights * 1.0
      That is the map. What is added is weight times value times W_O (exercise 3): a large weight on a short row adds
      little.
    - W_O forgotten: (v @ w_o) ** 2 => v**2
      What reaches the row has gone through the head's rows of W_O. Measure v @ w_o, not v.
    - the weights forgotten: weights * lengths => np.ones(weights.shape) * lengths
      These are the lengths of v @ w_o, the same in every row. Each is multiplied by the weight that the row gives to
      it.
    - no root: np.sqrt(((v @ w_o) ** 2).sum(axis=-1)) => ((v @ w_o) ** 2).sum(axis=-1)
      A length is the root of the sum of squares; yours is the sum of squares.
    - sums in place of lengths: np.sqrt(((v @ w_o) ** 2).sum(axis=-1)) => (v @ w_o).sum(axis=-1)
      Entries of opposite signs cancel in a sum. A length squares them first.
    - absolute values in place of squares: np.sqrt(((v @ w_o) ** 2).sum(axis=-1)) => np.abs(v @ w_o).sum(axis=-1)
      The sum of absolute values is another measure. The length of a row is the root of the sum of its squares.
    - the mean of the squares: .sum(axis=-1) => .mean(axis=-1)
      The root of the mean is shorter than the length by the root of the width. Take the sum of the squares.
    - the weight inside the root:
        np.sqrt(((v @ w_o) ** 2).sum(axis=-1)) => ((v @ w_o) ** 2).sum(axis=-1), and
        weights * lengths[..., None, :] => np.sqrt(weights * lengths[..., None, :])
      The weight stands outside the root: weight times length. Yours is the root of weight times the sum of squares.
    - lengths laid along the rows: [..., None, :] => [..., :, None]
      A length belongs to a column of the map, to what is asked. It goes to the new axis in front: lengths[..., None,
      :].
    - the axis for the queries forgotten: lengths[..., None, :] => lengths
      Without it the sentences of a batch are taken for rows of the map. lengths[..., None, :] keeps each sentence's
      lengths with its own map.
    - rows scaled to a sum of 1: lengths[..., None, :] => lengths[..., None, :] / (weights @ lengths[..., None])
      Shares of a row are easy to draw and no lengths any more. Return the lengths as they are.
    - the length of the sum: weights * lengths[..., None, :] => np.linalg.norm(weights @ v @ w_o, axis=-1)
      weights @ v @ w_o is everything together; then no column can be told from another. Measure each part before the
      sum.
    - transposed W_O: v @ w_o => v @ w_o.T
      Rows times matrix: v @ w_o. The transpose fits only where w_o is square.
    - one length for the whole table: .sum(axis=-1) => .sum(), and lengths[..., None, :] => lengths
      Without an axis the norm takes all entries together. Each column of the map has a length of its own: axis=-1.
""")


def _rollout_cases(rng):
    def drawn(*shape):
        maps = rng.random(size=shape) ** 2
        return maps / maps.sum(axis=-1, keepdims=True)

    one = np.array([[[[1.0, 0.0], [1.0, 0.0]]]])
    two = np.array([[[[1.0, 0.0], [1.0, 0.0]]], [[[0.0, 1.0], [0.0, 1.0]]]])
    return [
        Case((one,), "one layer, one head, two tokens"),
        Case((two,), "two layers with one head"),
        Case((drawn(2, 2, 3, 3),), "two layers with two heads"),
        Case((drawn(3, 2, 4, 4),), "three layers with two heads"),
        Case((drawn(2, 3, 5, 5),), "two layers with three heads"),
    ]


@checker("ex-17-10", cases=_rollout_cases)
def rollout(maps):
    """Follow the weights through all layers: each input row's share in each last row.

    maps: (layers, heads, n, n), the first layer first. Of each layer take the mean of
    its heads, half of it plus half of the identity (for the residual connection), and
    multiply all layers. Returns an array of shape (n, n): a row for each row of the
    last layer, a column for each row of the input.
    """
    identity = np.eye(maps.shape[-1])
    total = identity
    for heads in maps:
        total = (0.5 * heads.mean(axis=0) + 0.5 * identity) @ total
    return total


rollout.knows("""
    - the layers in the opposite order:
        (0.5 * heads.mean(axis=0) + 0.5 * identity) @ total => total @ (0.5 * heads.mean(axis=0) + 0.5 * identity)
      A row of the last layer reads rows of the layer before it, so the last layer stands on the left: layer @ total.
    - the residual forgotten: (0.5 * heads.mean(axis=0) + 0.5 * identity) => heads.mean(axis=0)
      The row itself goes on beside what attention adds. Take half of the map and half of the identity.
    - the identity added, and nothing halved: 0.5 * heads.mean(axis=0) + 0.5 * identity => heads.mean(axis=0) + identity
      Rows of map + identity sum to 2, after three layers to 8. Halve the sum in each layer.
    - the sum of the heads: heads.mean => heads.sum
      Two heads together have rows that sum to 2. Take their mean: mean(axis=0) of one layer's maps.
    - the first head alone: heads.mean(axis=0) => heads[0]
      A layer has several heads. Take the mean over them: mean(axis=0) of one layer's maps.
    - the largest weight of the heads: heads.mean => heads.max
      The maximum over heads is used as well, but its rows do not sum to 1. The exercise asks for the mean.
    - a mean over the layers: return total => return 0.5 * maps.mean(axis=(0, 1)) + 0.5 * identity
      Layers come one after another, so their maps are multiplied. A mean would put them side by side.
    - a mean over layers and heads: return total => return maps.mean(axis=(0, 1))
      Layers come one after another, so their maps are multiplied, and each is mixed with the identity first.
    - the last layer alone: identity) @ total => identity)
      total is overwritten in every round. Multiply: the layer's map times what there is so far.
    - products entry by entry: identity) @ total => identity) * total
      a * b multiplies entries at the same place. A path over any row in between is a matrix product: a @ b.
    - transposed maps: heads.mean(axis=0) => heads.mean(axis=0).T
      Rows ask, columns are asked, and the answer has a row for each row that asks. No transpose is needed.
    - layers and heads exchanged: in maps => in np.swapaxes(maps, 0, 1)
      The first axis counts layers: go through it in the loop, and take the mean over the heads inside.
    - the residual only once:
        (0.5 * heads.mean(axis=0) + 0.5 * identity) => heads.mean(axis=0), and
        return total => return 0.5 * total + 0.5 * identity
      Every layer has a residual connection. Mix the identity into each map, not into the product.
    - a half added to every entry: 0.5 * identity => 0.5
      0.5 alone is added everywhere. The residual is half of the identity: 0.5 * np.eye(n).
    - the map not halved: 0.5 * heads => heads
      Rows of map + half of the identity sum to 1.5. Take half of both.
    - the identity mixed into the product:
        (0.5 * heads.mean(axis=0) + 0.5 * identity) @ total => 0.5 * heads.mean(axis=0) @ total + 0.5 * identity
      Half of the identity belongs to the map of a layer, before the product: (half of the map + half of the identity) @
      total.
    - the heads one after another: in maps => in maps.reshape(-1, 1, *maps.shape[2:])
      Heads stand side by side: take their mean. Layers come one after another.
""")


# 17.1: maps and the right columns; 17.2: a head silenced; 17.3: what each column adds
_MAPS = {
    "head 1": np.array([[0.5, 0.3, 0.2], [0.1, 0.4, 0.5], [0.6, 0.2, 0.2]]),
    "head 2": np.array([[0.3, 0.6, 0.1], [0.6, 0.1, 0.3], [0.1, 0.8, 0.1]]),
}
_MAPS["mean"] = (_MAPS["head 1"] + _MAPS["head 2"]) / 2
_LINKS = np.array([0, 2, 1])
_RIGHT = {name: (found.argmax(axis=1) == _LINKS).sum() for name, found in _MAPS.items()}
_SAID, _ASKED = ("la", "casa", "roja"), ("the", "red", "house")
_HEADS, _OUT, _RESIDUAL = np.array([2, 1]), np.array([[1, 0], [0, 3]]), np.array([0, 1])
_SILENCED = {"both": [1, 1], "without head 1": [0, 1], "without head 2": [1, 0]}
_LOGITS = {name: _RESIDUAL + (_HEADS * keep) @ _OUT for name, keep in _SILENCED.items()}
_VALUES = {"the": (0.9, np.array([0.3, 0.4])), "house": (0.1, np.array([-6.0, 8.0]))}
_PARTS = {word: weight * value for word, (weight, value) in _VALUES.items()}


def _count_part(name, before):
    links = zip(_SAID, _MAPS[name].argmax(axis=1), strict=True)
    strongest = ", ".join(f'"{said}" looks at "{_ASKED[k]}"' for said, k in links)
    answer = part(name, _RIGHT[name], f"{strongest}: {_RIGHT[name]} of 3").step(before)
    return answer.knows(3 - _RIGHT[name], "the rows that miss. Count those that are right.")


def _logit_part(name):
    el, la = _LOGITS[name]
    heads = (_HEADS * _SILENCED[name]).tolist()
    columns = zip(_RESIDUAL.tolist(), *_OUT.tolist(), strict=True)
    return (
        worked(f"logits, {name}", [Sum(x, *map(Prod, heads, out)) for x, *out in columns])
        .knows(_LOGITS[name] - _RESIDUAL, "the residual row left out. It is added.")
        .knows((la, el), 'the two logits exchanged. "el" stands first.')
    )


def _chance_part(name):
    el, la = _LOGITS[name]
    chance = 1 / (1 + np.exp(el - la))
    return (
        part(f"la, {name}", chance, f"1 / (1 + exp({el} - {la})), about {chance:.4f}", decimals=4)
        .knows(1 - chance, 'the probability of "el".')
        .knows(la / (el + la), "the logits as shares. First e to each logit, then divide.")
    )


def _length_terms(at):
    a, b = np.abs(list(_PARTS.values())[at[0]])
    return f"the root of {a:.2f}^2 + {b:.2f}^2 = {np.hypot(a, b):.2f}"


BY_HAND = {}
BY_HAND["17.1"] = [
    _count_part("head 1", "the strongest link of each row"),
    _count_part("head 2", "the strongest link of each row"),
    _count_part("mean", "the strongest link of each row, after the two maps are added").knows(
        (_RIGHT["head 1"] + _RIGHT["head 2"]) / 2,
        "the mean of the two counts. First take the mean of the maps, then count.",
    ),
]
BY_HAND["17.2"] = [*map(_logit_part, _SILENCED), *map(_chance_part, _SILENCED)]
BY_HAND["17.3"] = [
    *(
        worked(word, [Prod(weight, x) for x in value], decimals=2).knows(
            value, "the value itself. The weight multiplies it."
        )
        for word, (weight, value) in _VALUES.items()
    ),
    part("lengths", [np.linalg.norm(added) for added in _PARTS.values()], _length_terms, decimals=2)
    .knows([(added**2).sum() for added in _PARTS.values()], "the sums of the squares. Take the root.")
    .knows([np.linalg.norm(v) for _, v in _VALUES.values()], "the lengths before the weights.")
    .knows([np.abs(added).sum() for added in _PARTS.values()], "sums of the entries. Square them first.")
    .knows([added.sum() for added in _PARTS.values()], "sums of the entries. Square them first."),
    worked("sum", [Sum(*column) for column in zip(*_PARTS.values(), strict=True)], decimals=2)
    .knows(sum(value for _, value in _VALUES.values()), "the values without their weights.")
    .knows(_PARTS["house"], 'what is left without "the".')
    .knows(_PARTS["the"] + np.abs(_PARTS["house"]), "a minus sign lost.")
    .knows(_PARTS["the"] - _PARTS["house"], "a difference. Both are added."),
]
