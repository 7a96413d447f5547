"""Checkers of chapters 17 to 20: looking inside, taking apart, PyTorch, full size."""

from __future__ import annotations

from dataclasses import replace
from math import comb, prod

import numpy as np

from toytf import size
from toytf.attention import causal_mask, masked_softmax, padding_mask
from toytf.check.core import Case, Check, Mistake
from toytf.check.pencil import ByHand, Part, number
from toytf.model import Config

# ---------------------------------------------------------------- chapter 17: maps


def even_weights(mask):
    """Give each key that may be seen the same weight, as a head with zero queries does.

    mask: boolean array of shape (..., query, key), True means "may attend"; each row
    has at least one True. Returns an array of the shape of mask; each row sums to 1.
    """
    return mask / mask.sum(axis=-1, keepdims=True)


def _even_cases(rng):
    drawn = rng.random(size=(2, 3, 5)) < 0.5
    drawn[..., 0] = True
    return [
        Case((np.array([[True, False], [True, True]]),), "two tokens, causal"),
        Case((np.tri(4, dtype=bool),), "four tokens, causal"),
        Case((np.array([[True, True, True, False, False]] * 2),), "two queries, three words and padding"),
        Case((drawn,), "two sentences, three queries, five keys"),
    ]


EVEN_WEIGHTS = Check(
    solution=even_weights,
    expected=lambda mask: masked_softmax(np.zeros(mask.shape), mask),
    cases=_even_cases,
    exercise="ex-17-5",
    mistakes=(
        Mistake(
            "the mask ignored",
            "1 / n for each of the n keys gives weight to hidden ones, too. Only the keys that are True in a row share "
            "its weight.",
            lambda mask: np.ones(mask.shape) / mask.shape[-1],
        ),
        Mistake(
            "the mask after the softmax",
            "1 / n, then zeros over the hidden keys: the rows no longer sum to 1 (chapter 11, After the softmax). "
            "Divide by the number of keys that may be seen.",
            lambda mask: mask / mask.shape[-1],
        ),
        Mistake(
            "the mask with the opposite sense",
            'True means "may attend" here. Your weights stand where the mask is False.',
            lambda mask: ~mask / np.maximum(1, (~mask).sum(axis=-1, keepdims=True)),
        ),
        Mistake(
            "columns that sum to 1",
            "Rows ask, columns are asked: each row sums to 1. Count the True of a row: axis=-1.",
            lambda mask: mask / mask.sum(axis=-2, keepdims=True),
        ),
        Mistake(
            "one sum for the whole table",
            "sum() without an axis counts the True of all rows together. Each row has its own number: axis=-1, "
            "keepdims=True.",
            lambda mask: mask / mask.sum(),
        ),
        Mistake(
            "keepdims forgotten",
            "The sums have lost their last axis, so NumPy lays them along the columns. keepdims=True keeps one sum "
            "beside each row.",
            lambda mask: mask / mask.sum(axis=-1),
        ),
        Mistake(
            "no division",
            "A row of ones does not sum to 1. Divide it by the number of keys that may be seen.",
            lambda mask: mask * 1.0,
        ),
        Mistake(
            "the row's number in place of the count",
            "One divided by the number of the row is right for a causal mask alone. Padding hides keys as well: count "
            "the True of the row.",
            lambda mask: mask / np.arange(1, mask.shape[-2] + 1)[:, None],
        ),
        Mistake(
            "a softmax of the mask itself",
            "exp(1) and exp(0): a hidden key still gets weight. True and False are no scores (chapter 11).",
            lambda mask: np.exp(1.0 * mask) / np.exp(1.0 * mask).sum(axis=-1, keepdims=True),
        ),
        Mistake(
            "hidden keys with a share of their own",
            "One divided by the count of a row stands in all its places, in hidden ones, too. Divide the mask itself.",
            lambda mask: np.ones(mask.shape) / mask.sum(axis=-1, keepdims=True),
        ),
        Mistake(
            "[:, None] in place of keepdims",
            "[:, None] puts the lost axis second, which is the end only without a batch. keepdims=True keeps it at the "
            "end.",
            lambda mask: mask / mask.sum(axis=-1)[:, None],
        ),
    ),
)


def contributions(weights, v, w_o):
    """Measure what a column adds to a row: the length of ``weight * value @ w_o``.

    weights: (..., m, n), the map of one head. v: (..., n, d_head), its values, a row
    for each column of the map. w_o: (d_head, d), the head's rows of W_O. Returns an
    array of shape (..., m, n). (The length of a row is the root of the sum of its
    squares.)
    """
    lengths = np.sqrt(((v @ w_o) ** 2).sum(axis=-1))
    return weights * lengths[..., None, :]


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


def _added(weights, v, w_o, length=lambda rows: np.sqrt((rows**2).sum(axis=-1))):
    return weights * length(v @ w_o)[..., None, :]


CONTRIBUTIONS = Check(
    solution=contributions,
    expected=lambda weights, v, w_o: np.linalg.norm(weights[..., None] * (v @ w_o)[..., None, :, :], axis=-1),
    cases=_contribution_cases,
    exercise="ex-17-9",
    mistakes=(
        Mistake(
            "the weights alone",
            "That is the map. What is added is weight times value times W_O (exercise 3): a large weight on a short "
            "row adds little.",
            lambda weights, v, w_o: weights * 1.0,
        ),
        Mistake(
            "W_O forgotten",
            "What reaches the row has gone through the head's rows of W_O. Measure v @ w_o, not v.",
            lambda weights, v, w_o: _added(weights, v, np.eye(v.shape[-1])),
        ),
        Mistake(
            "the weights forgotten",
            "These are the lengths of v @ w_o, the same in every row. Each is multiplied by the weight that the row "
            "gives to it.",
            lambda weights, v, w_o: _added(np.ones(weights.shape), v, w_o),
        ),
        Mistake(
            "no root",
            "A length is the root of the sum of squares; yours is the sum of squares.",
            lambda weights, v, w_o: _added(weights, v, w_o, lambda rows: (rows**2).sum(axis=-1)),
        ),
        Mistake(
            "sums in place of lengths",
            "Entries of opposite signs cancel in a sum. A length squares them first.",
            lambda weights, v, w_o: _added(weights, v, w_o, lambda rows: rows.sum(axis=-1)),
        ),
        Mistake(
            "absolute values in place of squares",
            "The sum of absolute values is another measure. The length of a row is the root of the sum of its squares.",
            lambda weights, v, w_o: _added(weights, v, w_o, lambda rows: np.abs(rows).sum(axis=-1)),
        ),
        Mistake(
            "the mean of the squares",
            "The root of the mean is shorter than the length by the root of the width. Take the sum of the squares.",
            lambda weights, v, w_o: _added(weights, v, w_o, lambda rows: np.sqrt((rows**2).mean(axis=-1))),
        ),
        Mistake(
            "the weight inside the root",
            "The weight stands outside the root: weight times length. Yours is the root of weight times the sum "
            "of squares.",
            lambda weights, v, w_o: np.sqrt(_added(weights, v, w_o, lambda rows: (rows**2).sum(axis=-1))),
        ),
        Mistake(
            "lengths laid along the rows",
            "A length belongs to a column of the map, to what is asked. It goes to the new axis in front: "
            "lengths[..., None, :].",
            lambda weights, v, w_o: weights * np.linalg.norm(v @ w_o, axis=-1)[..., :, None],
        ),
        Mistake(
            "the axis for the queries forgotten",
            "Without it the sentences of a batch are taken for rows of the map. lengths[..., None, :] keeps each "
            "sentence's lengths with its own map.",
            lambda weights, v, w_o: weights * np.linalg.norm(v @ w_o, axis=-1),
        ),
        Mistake(
            "rows scaled to a sum of 1",
            "Shares of a row are easy to draw and no lengths any more. Return the lengths as they are.",
            lambda weights, v, w_o: (a := _added(weights, v, w_o)) / a.sum(axis=-1, keepdims=True),
        ),
        Mistake(
            "the length of the sum",
            "weights @ v @ w_o is everything together; then no column can be told from another. Measure each part "
            "before the sum.",
            lambda weights, v, w_o: np.linalg.norm(weights @ v @ w_o, axis=-1),
        ),
        Mistake(
            "transposed W_O",
            "Rows times matrix: v @ w_o. The transpose fits only where w_o is square.",
            lambda weights, v, w_o: _added(weights, v, w_o.T),
        ),
        Mistake(
            "one length for the whole table",
            "Without an axis the norm takes all entries together. Each column of the map has a length of its own: "
            "axis=-1.",
            lambda weights, v, w_o: weights * np.linalg.norm(v @ w_o),
        ),
    ),
)


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


def _rolled(maps, heads=lambda layer: layer.mean(axis=0), step=lambda a, total: a @ total, residual=0.5, map_part=0.5):
    identity = np.eye(maps.shape[-1])
    total = identity
    for layer in maps:
        total = step(map_part * heads(layer) + residual * identity, total)
    return total


ROLLOUT = Check(
    solution=rollout,
    expected=lambda maps: np.linalg.multi_dot(
        [np.eye(maps.shape[-1]), *((maps.mean(axis=1) + np.eye(maps.shape[-1])) / 2)[::-1], np.eye(maps.shape[-1])]
    ),
    cases=_rollout_cases,
    exercise="ex-17-10",
    mistakes=(
        Mistake(
            "the layers in the opposite order",
            "A row of the last layer reads rows of the layer before it, so the last layer stands on the left: "
            "layer @ total.",
            lambda maps: _rolled(maps, step=lambda a, total: total @ a),
        ),
        Mistake(
            "the residual forgotten",
            "The row itself goes on beside what attention adds. Take half of the map and half of the identity.",
            lambda maps: _rolled(maps, residual=0.0, map_part=1.0),
        ),
        Mistake(
            "the identity added, and nothing halved",
            "Rows of map + identity sum to 2, after three layers to 8. Halve the sum in each layer.",
            lambda maps: _rolled(maps, residual=1.0, map_part=1.0),
        ),
        Mistake(
            "the sum of the heads",
            "Two heads together have rows that sum to 2. Take their mean: mean(axis=0) of one layer's maps.",
            lambda maps: _rolled(maps, heads=lambda layer: layer.sum(axis=0)),
        ),
        Mistake(
            "the first head alone",
            "A layer has several heads. Take the mean over them: mean(axis=0) of one layer's maps.",
            lambda maps: _rolled(maps, heads=lambda layer: layer[0]),
        ),
        Mistake(
            "the largest weight of the heads",
            "The maximum over heads is used as well, but its rows do not sum to 1. The exercise asks for the mean.",
            lambda maps: _rolled(maps, heads=lambda layer: layer.max(axis=0)),
        ),
        Mistake(
            "a mean over the layers",
            "Layers come one after another, so their maps are multiplied. A mean would put them side by side.",
            lambda maps: 0.5 * maps.mean(axis=(0, 1)) + 0.5 * np.eye(maps.shape[-1]),
        ),
        Mistake(
            "a mean over layers and heads",
            "Layers come one after another, so their maps are multiplied, and each is mixed with the identity first.",
            lambda maps: maps.mean(axis=(0, 1)),
        ),
        Mistake(
            "the last layer alone",
            "total is overwritten in every round. Multiply: the layer's map times what there is so far.",
            lambda maps: _rolled(maps, step=lambda a, total: a),
        ),
        Mistake(
            "products entry by entry",
            "a * b multiplies entries at the same place. A path over any row in between is a matrix product: a @ b.",
            lambda maps: _rolled(maps, step=lambda a, total: a * total),
        ),
        Mistake(
            "transposed maps",
            "Rows ask, columns are asked, and the answer has a row for each row that asks. No transpose is needed.",
            lambda maps: _rolled(np.swapaxes(maps, -1, -2)),
        ),
        Mistake(
            "layers and heads exchanged",
            "The first axis counts layers: go through it in the loop, and take the mean over the heads inside.",
            lambda maps: _rolled(np.swapaxes(maps, 0, 1)),
        ),
        Mistake(
            "the residual only once",
            "Every layer has a residual connection. Mix the identity into each map, not into the product.",
            lambda maps: 0.5 * _rolled(maps, residual=0.0, map_part=1.0) + 0.5 * np.eye(maps.shape[-1]),
        ),
        Mistake(
            "a half added to every entry",
            "0.5 alone is added everywhere. The residual is half of the identity: 0.5 * np.eye(n).",
            lambda maps: _rolled(maps, step=lambda a, total: (a + 0.5 * (1 - np.eye(len(a)))) @ total),
        ),
        Mistake(
            "the map not halved",
            "Rows of map + half of the identity sum to 1.5. Take half of both.",
            lambda maps: _rolled(maps, map_part=1.0),
        ),
        Mistake(
            "the identity mixed into the product",
            "Half of the identity belongs to the map of a layer, before the product: (half of the map + half of the "
            "identity) @ total.",
            lambda maps: _rolled(maps, residual=0.0, step=lambda a, total: a @ total + 0.5 * np.eye(len(a))),
        ),
        Mistake(
            "the heads one after another",
            "Heads stand side by side: take their mean. Layers come one after another.",
            lambda maps: _rolled(maps.reshape(-1, 1, *maps.shape[2:])),
        ),
    ),
)

# 17.1: maps and the right columns; 17.2: a head silenced; 17.3: what each column adds
_MAPS = {
    "head 1": np.array([[0.6, 0.1, 0.3], [0.1, 0.2, 0.7], [0.1, 0.7, 0.2]]),
    "head 2": np.array([[0.1, 0.2, 0.7], [0.2, 0.2, 0.6], [0.1, 0.4, 0.5]]),
}
_MAPS["mean"] = (_MAPS["head 1"] + _MAPS["head 2"]) / 2
_LINKS = np.array([0, 2, 1])
_SAID, _ASKED = ("la", "casa", "roja"), ("the", "red", "house")
_HEADS, _OUT, _RESIDUAL = np.array([2, 1]), np.array([[1, 0], [0, 3]]), np.array([0, 1])
_SILENCED = {"both": [1, 1], "without head 1": [0, 1], "without head 2": [1, 0]}
_LOGITS = {name: _RESIDUAL + (_HEADS * keep) @ _OUT for name, keep in _SILENCED.items()}
_VALUES = {"the": (0.9, np.array([0.3, 0.4])), "house": (0.1, np.array([-6.0, 8.0]))}
_PARTS = {word: weight * value for word, (weight, value) in _VALUES.items()}


def _strongest(found):
    def terms(_):
        at = found.argmax(axis=1)
        links = (f'"{said}" looks at "{_ASKED[k]}"' for said, k in zip(_SAID, at, strict=True))
        return f"{', '.join(links)}: {(at == _LINKS).sum()} of 3"

    return terms


def _logit_part(name):
    keep = _SILENCED[name]

    def terms(place):
        k = place[0]
        added = [f"{_HEADS[h] * keep[h]} * {_OUT[h, k]}" for h in (0, 1)]
        return f"{_RESIDUAL[k]} + {' + '.join(added)} = {_LOGITS[name][k]}"

    return Part(_LOGITS[name], terms, name=f"logits, {name}")


def _chance_part(name):
    el, la = _LOGITS[name]
    chance = 1 / (1 + np.exp(el - la))
    return Part(chance, lambda _: f"1 / (1 + exp({el} - {la})), about {chance:.4f}", decimals=4, name=f"la, {name}")


def _scaled_part(word):
    weight, value = _VALUES[word]
    return Part(
        _PARTS[word],
        lambda at: f"{weight} * {_signed(value[at])} = {number(_PARTS[word][at], 2)}",
        decimals=2,
        name=word,
    )


def _signed(value) -> str:
    return f"({value:g})" if value < 0 else f"{value:g}"


LOOKING_BY_HAND = [
    ByHand(
        "ex-17-1",
        tuple(
            Part((found.argmax(axis=1) == _LINKS).sum(), _strongest(found), name=name) for name, found in _MAPS.items()
        ),
    ),
    ByHand("ex-17-2", (*map(_logit_part, _SILENCED), *map(_chance_part, _SILENCED))),
    ByHand(
        "ex-17-3",
        (
            *map(_scaled_part, _PARTS),
            Part(
                [np.linalg.norm(part) for part in _PARTS.values()],
                lambda at: "the root of {:.2f}^2 + {:.2f}^2 = {:.2f}".format(
                    *np.abs(part := list(_PARTS.values())[at[0]]), np.linalg.norm(part)
                ),
                decimals=2,
                name="lengths",
            ),
            Part(
                _PARTS["the"] + _PARTS["house"],
                lambda at: (
                    f"{_signed(_PARTS['the'][at])} + {_signed(_PARTS['house'][at])} = "
                    f"{number(sum(_PARTS.values())[at], 2)}"
                ),
                decimals=2,
                name="sum",
            ),
        ),
    ),
]

# ---------------------------------------------------------------- chapter 18: counts


def exact_matches(said, goal, is_token):
    """Say for each sentence whether all its tokens are right.

    said: (sentences, n), the ids that the model says. goal: (sentences, n), the right
    ids. is_token: boolean array (sentences, n), False where only padding stands.
    Padding does not count. Returns a boolean array of shape (sentences,).
    """
    return ((said == goal) | ~is_token).all(axis=-1)


def _exact_cases(rng):
    goal = rng.integers(3, 9, size=(6, 5))
    is_token = np.arange(5) < rng.integers(2, 6, size=(6, 1))
    said = np.where(is_token, goal, rng.integers(3, 9, size=(6, 5)))
    wrong = said.copy()
    wrong[[1, 4], [0, 1]] += 1
    small = np.array([[4, 5, 6], [7, 8, 9], [4, 5, 6]])
    spoken = np.array([[4, 5, 6], [7, 1, 9], [4, 5, 9]])
    flags = np.array([[True, True, True], [True, True, False], [True, True, False]])
    return [
        Case((np.array([[4, 5]]), np.array([[4, 6]]), np.array([[True, True]])), "one sentence of two tokens"),
        Case((spoken, small, flags), "three sentences, two of them with padding"),
        Case((np.where(flags, spoken, 0), np.where(flags, small, 0), flags), "the same, with 0 said at padding"),
        Case((said, np.where(is_token, goal, 0), is_token), "six right sentences, anything said at padding"),
        Case((wrong, np.where(is_token, goal, 0), is_token), "six sentences, two with one wrong token"),
    ]


EXACT_MATCHES = Check(
    solution=exact_matches,
    expected=lambda said, goal, is_token: np.array(
        [np.array_equal(a[here], b[here]) for a, b, here in zip(said, goal, is_token, strict=True)]
    ),
    cases=_exact_cases,
    exercise="ex-18-9",
    mistakes=(
        Mistake(
            "padding counted",
            "What the model says where only padding stands does not matter, and it may say anything there. Let these "
            "places count as right: | ~is_token.",
            lambda said, goal, is_token: (said == goal).all(axis=-1),
        ),
        Mistake(
            "any token in place of all",
            "One right token does not make a right sentence: all(axis=-1).",
            lambda said, goal, is_token: ((said == goal) & is_token).any(axis=-1),
        ),
        Mistake(
            "padding taken for wrong",
            "With & is_token every sentence with padding is wrong. Places without a token have to count as right: "
            "| ~is_token.",
            lambda said, goal, is_token: ((said == goal) & is_token).all(axis=-1),
        ),
        Mistake(
            "the flags the wrong way round",
            "True marks a token here. As you use them, the padding is compared and the tokens are not.",
            lambda said, goal, is_token: ((said == goal) | is_token).all(axis=-1),
        ),
        Mistake(
            "tokens in place of sentences",
            "The share of right tokens says little about sentences: one wrong word in each leaves no sentence right. "
            "Take all(axis=-1).",
            lambda said, goal, is_token: ((said == goal) & is_token).sum(axis=-1) / is_token.sum(axis=-1),
        ),
        Mistake(
            "one answer for all sentences",
            "all() without an axis asks whether every sentence is right. Each sentence has its own answer: axis=-1.",
            lambda said, goal, is_token: ((said == goal) | ~is_token).all(),
        ),
        Mistake(
            "columns in place of rows",
            "axis=0 goes down the sentences and answers for each place. A sentence is a row: axis=-1.",
            lambda said, goal, is_token: ((said == goal) | ~is_token).all(axis=0),
        ),
        Mistake(
            "a count in place of a flag for each sentence",
            "The number of exact matches is the sum of what is asked here. Return the flags, one for each sentence.",
            lambda said, goal, is_token: ((said == goal) | ~is_token).all(axis=-1).sum(),
        ),
        Mistake(
            "the sentences that are wrong",
            "Your flags are True where something differs. True means here that all tokens are right.",
            lambda said, goal, is_token: ((said != goal) & is_token).any(axis=-1),
        ),
        Mistake(
            "only the last place compared",
            "A sentence can go wrong anywhere. Compare all places: all(axis=-1).",
            lambda said, goal, is_token: ((said == goal) | ~is_token)[:, -1],
        ),
        Mistake(
            "equal places counted, padding among them",
            "Padding can be equal, too: then more places are equal than there are tokens, or one makes up for a wrong "
            "token. Count the places that are both equal and tokens.",
            lambda said, goal, is_token: (said == goal).sum(axis=-1) == is_token.sum(axis=-1),
        ),
    ),
)


def share_and_spread(right, n):
    """Say which share of n sentences is right, and how much chance alone moves it.

    right: how many are right. n: how many there are. If each sentence is right with
    probability p, whatever happens to the others, the share has the standard deviation
    sqrt(p (1 - p) / n); p is estimated by the share itself. Returns the share and this
    spread, two numbers between 0 and 1.
    """
    share = right / n
    return share, np.sqrt(share * (1 - share) / n)


SHARE_AND_SPREAD = Check(
    solution=share_and_spread,
    expected=lambda right, n: (right / n, np.std(np.arange(n) < right) / n**0.5),
    cases=lambda rng: [
        Case((1, 2), "one of two"),
        Case((4, 5), "four of five"),
        Case((0, 10), "none of ten"),
        Case((800, 800), "all of 800"),
        Case((int(rng.integers(500, 800)), 800), "most of 800"),
        Case((int(rng.integers(1, 90)), 900), "few of 900"),
    ],
    exercise="ex-18-10",
    results=("share", "spread"),
    mistakes=(
        Mistake(
            "no root",
            "p (1 - p) / n is the variance. The spread is its root, and has the unit of the share.",
            lambda right, n: (right / n, right / n * (1 - right / n) / n),
        ),
        Mistake(
            "n outside the root",
            "Four times as many sentences halve the spread: n stands under the root.",
            lambda right, n: (right / n, np.sqrt(right / n * (1 - right / n)) / n),
        ),
        Mistake(
            "the spread of the count",
            "sqrt(n p (1 - p)) says by how many sentences the count varies. The exercise asks for the share: "
            "divide by n.",
            lambda right, n: (right / n, np.sqrt(n * right / n * (1 - right / n))),
        ),
        Mistake(
            "n forgotten",
            "sqrt(p (1 - p)) is the deviation of a single sentence, 0 or 1. The mean of n of them varies less: divide "
            "by n under the root.",
            lambda right, n: (right / n, np.sqrt(right / n * (1 - right / n))),
        ),
        Mistake(
            "1 - p forgotten",
            "Where all are right nothing varies: the spread of p = 1 is 0. Under the root stands p (1 - p) / n.",
            lambda right, n: (right / n, np.sqrt(right / n / n)),
        ),
        Mistake(
            "n - 1 under the root",
            "p (1 - p) / n, with n. Here p is known to be the share, and nothing is estimated beside it.",
            lambda right, n: (right / n, np.sqrt(right / n * (1 - right / n) / (n - 1))),
        ),
        Mistake(
            "the count in place of the share",
            "p is a probability between 0 and 1: divide the count by n first.",
            lambda right, n: (right, np.sqrt(right * (n - right) / n)),
        ),
        Mistake(
            "percent in place of shares",
            "Both are asked as parts of 1, not of 100.",
            lambda right, n: (100 * right / n, 100 * np.sqrt(right / n * (1 - right / n) / n)),
        ),
        Mistake(
            "whole-number division",
            "right // n drops everything behind the point. Write right / n.",
            lambda right, n: (right // n, np.sqrt(right // n * (1 - right // n) / n)),
        ),
        Mistake(
            "the widest spread for every share",
            "0.5 / sqrt(n) is right at a share of one half, and too large everywhere else. Under the root stands "
            "p (1 - p) / n.",
            lambda right, n: (right / n, 0.5 / np.sqrt(n)),
        ),
        Mistake(
            "the two exchanged",
            "The share comes first, then its spread.",
            lambda right, n: (np.sqrt(right / n * (1 - right / n) / n), right / n),
        ),
    ),
)

_ORDERS = comb(10, 5)

TAKING_BY_HAND = [
    ByHand(
        "ex-18-1",
        (
            Part(
                2,
                lambda _: 'the determiners are fixed by "houses"; "red" may stand before "cat" or "houses": 2',
                name="a cat sees the red houses",
            ),
            Part(
                4,
                lambda _: "two ways for the determiners, two for the adjectives: 2 * 2 = 4",
                name="the red cat sees this blue house",
            ),
        ),
    ),
    ByHand(
        "ex-18-8",
        (
            Part(
                _ORDERS,
                lambda _: (
                    f"10 over 5: 10 * 9 * 8 * 7 * 6 / (5 * 4 * 3 * 2 * 1) = {10 * 9 * 8 * 7 * 6} / 120 = {_ORDERS}"
                ),
                name="orders",
            ),
            Part(
                100 / _ORDERS,
                lambda _: f"100 / {_ORDERS}, about {100 / _ORDERS:.3f}",
                decimals=1,
                name="percent",
            ),
        ),
    ),
]

# ---------------------------------------------------------------- chapter 19: another library


def turn_mask(is_token):
    """Make PyTorch's masks of a decoder from flags that say where tokens stand.

    is_token: boolean array of shape (batch, n), True where a token stands. Returns
    three boolean arrays. key_padding_mask (batch, n) and the causal attn_mask (n, n)
    are for nn.MultiheadAttention: True hides. both (batch, 1, n, n) is for
    scaled_dot_product_attention: True may attend.
    """
    causal = np.tri(is_token.shape[-1], dtype=bool)
    both = causal & is_token[:, None, None, :]
    return ~is_token, ~causal, both


def _turn_cases(rng):
    return [
        Case((np.array([[True, False]]),), "one sentence, a token and padding"),
        Case((np.array([[True, True, True], [True, False, False]]),), "the two sentences of the exercise"),
        Case((np.arange(5) < rng.integers(1, 6, size=(4, 1)),), "four sentences"),
        Case((np.arange(7) < rng.integers(1, 8, size=(3, 1)),), "three longer sentences"),
    ]


def _turned(padding=lambda t: ~t, causal=lambda c: ~c, both=lambda t, c: t[:, None, None, :] & c):
    def masks(is_token):
        may = causal_mask(is_token.shape[-1])
        return padding(is_token), causal(may), both(is_token, may)

    return masks


def _minus_infinity(may):
    return np.where(may, 0.0, -np.inf)


TURN_MASK = Check(
    solution=turn_mask,
    expected=lambda is_token: (
        ~is_token,
        ~causal_mask(is_token.shape[-1]),
        (causal_mask(is_token.shape[-1]) & padding_mask(is_token))[:, None],
    ),
    cases=_turn_cases,
    exercise="ex-19-2",
    results=("key_padding_mask", "attn_mask", "both"),
    mistakes=(
        Mistake(
            "all masks in this book's sense",
            "In nn.MultiheadAttention True hides, so the words would be hidden and the padding read (chapter 19, Three "
            "readings of one mask). Turn the first two round: ~.",
            _turned(padding=lambda t: t, causal=lambda c: c),
        ),
        Mistake(
            "key_padding_mask not turned round",
            "In nn.MultiheadAttention True hides: the module would read the padding and not the words. It is "
            "~is_token.",
            _turned(padding=lambda t: t),
        ),
        Mistake(
            "attn_mask not turned round",
            "In nn.MultiheadAttention True hides: each row would see the future, and neither the past nor itself. "
            "It is the causal mask with ~.",
            _turned(causal=lambda c: c),
        ),
        Mistake(
            "the joined mask turned round",
            "scaled_dot_product_attention has this book's sense: True may attend. Of the three masks this one "
            "stays as it is.",
            _turned(both=lambda t, c: ~(t[:, None, None, :] & c)),
        ),
        Mistake(
            "joined with or",
            "With | a key is seen if it is a token or not in the future. It has to be both: &. (~a & ~b, turned round, "
            "is a | b.)",
            _turned(both=lambda t, c: t[:, None, None, :] | c),
        ),
        Mistake(
            "turned masks joined with and",
            "~a & ~b is True where a key is padding and in the future as well. Join the masks in the sense of "
            "'may attend'.",
            _turned(both=lambda t, c: ~t[:, None, None, :] & ~c),
        ),
        Mistake(
            "the token itself hidden",
            "A token may attend to itself. np.tri keeps the diagonal; np.triu needs k=1 to leave it out.",
            lambda is_token: _turned(
                causal=lambda c: ~np.tri(len(c), k=-1, dtype=bool),
                both=lambda t, c: t[:, None, None, :] & np.tri(len(c), k=-1, dtype=bool),
            )(is_token),
        ),
        Mistake(
            "the diagonal hidden in attn_mask",
            "np.triu without k=1 is True on the diagonal, and True hides: the first row has nothing left. A token may "
            "attend to itself.",
            _turned(causal=lambda c: ~c | np.eye(len(c), dtype=bool)),
        ),
        Mistake(
            "past and future exchanged",
            "A row asks, a column is asked: hidden are the columns right of the diagonal. Yours hides the past.",
            _turned(causal=lambda c: ~c.T, both=lambda t, c: t[:, None, None, :] & c.T),
        ),
        Mistake(
            "no axis for the heads",
            "scaled_dot_product_attention has scores of shape (batch, heads, n, n). The mask needs an axis of length "
            "1 for the heads.",
            _turned(both=lambda t, c: t[:, None, :] & c),
        ),
        Mistake(
            "padding hidden among the queries",
            "Keys are hidden, and keys are columns: is_token[:, None, None, :]. Yours empties the rows of the padding "
            "and leaves its columns open.",
            _turned(both=lambda t, c: t[:, None, :, None] & c),
        ),
        Mistake(
            "padding not hidden in the joined mask",
            "The causal mask alone lets later padding be seen by padding, and padding in front by everybody. "
            "Join it with is_token[:, None, None, :].",
            _turned(both=lambda t, c: np.broadcast_to(c, (len(t), 1, *c.shape))),
        ),
        Mistake(
            "an axis for the queries in key_padding_mask",
            "nn.MultiheadAttention wants (batch, key) and adds the other axes itself.",
            _turned(padding=lambda t: ~t[:, None, :]),
        ),
        Mistake(
            "zero and minus infinity",
            "A mask of floats is added to the scores, and has no sense to confuse. It works in PyTorch; here masks of "
            "True and False are asked.",
            _turned(
                padding=_minus_infinity,
                causal=_minus_infinity,
                both=lambda t, c: _minus_infinity(t[:, None, None, :] & c),
            ),
        ),
        Mistake(
            "masks of 0 and 1",
            "PyTorch refuses masks of whole numbers (E1-13): whether 1 hides cannot be seen. Use booleans.",
            _turned(lambda t: 1 - t, lambda c: 1 - c, lambda t, c: 1 * (t[:, None, None, :] & c)),
        ),
    ),
)


def split_in_proj(in_proj_weight):
    """Cut the one array of nn.MultiheadAttention into matrices for ``x @ w``.

    in_proj_weight: (3 d, d), the transposes of W_Q, W_K and W_V one below the other.
    Returns w_q, w_k and w_v, each of shape (d, d).
    """
    q, k, v = np.split(in_proj_weight, 3)
    return q.T, k.T, v.T


def _split_cases(rng):
    return [
        Case((np.arange(12.0).reshape(6, 2),), "rows of width 2, all numbers different"),
        Case((rng.normal(size=(9, 3)),), "rows of width 3"),
        Case((rng.normal(size=(15, 5)),), "rows of width 5"),
    ]


SPLIT_IN_PROJ = Check(
    solution=split_in_proj,
    expected=lambda w: tuple(w.reshape(3, w.shape[1], w.shape[1]).transpose(0, 2, 1)),
    cases=_split_cases,
    exercise="ex-19-3",
    results=("w_q", "w_k", "w_v"),
    mistakes=(
        Mistake(
            "no transposes",
            "PyTorch stores the transposes and computes x @ w.T. For x @ w turn each of the three over (chapter 19, "
            "One matrix turned round). They are square, so no shape complains.",
            lambda w: tuple(np.split(w, 3)),
        ),
        Mistake(
            "w_v not transposed",
            "One of three is easily forgotten, and it is square: no shape complains. w_v needs its .T as well.",
            lambda w: tuple(a if i == 2 else a.T for i, a in enumerate(np.split(w, 3))),
        ),
        Mistake(
            "w_k not transposed",
            "One of three is easily forgotten, and it is square: no shape complains. w_k needs its .T as well.",
            lambda w: tuple(a if i == 1 else a.T for i, a in enumerate(np.split(w, 3))),
        ),
        Mistake(
            "w_q not transposed",
            "One of three is easily forgotten, and it is square: no shape complains. w_q needs its .T as well.",
            lambda w: tuple(a if i == 0 else a.T for i, a in enumerate(np.split(w, 3))),
        ),
        Mistake(
            "keys and queries exchanged",
            "The order is W_Q, W_K, W_V from top to bottom.",
            lambda w: tuple(np.split(w, 3)[i].T for i in (1, 0, 2)),
        ),
        Mistake(
            "keys and values exchanged",
            "The order is W_Q, W_K, W_V from top to bottom.",
            lambda w: tuple(np.split(w, 3)[i].T for i in (0, 2, 1)),
        ),
        Mistake(
            "the order turned round",
            "The order is W_Q, W_K, W_V from top to bottom; you begin below.",
            lambda w: tuple(a.T for a in np.split(w, 3)[::-1]),
        ),
        Mistake(
            "every third row",
            "The three matrices stand one below the other, each in one piece: rows 0 to d - 1 are W_Q. Do not "
            "interleave them.",
            lambda w: tuple(w[i::3].T for i in range(3)),
        ),
        Mistake(
            "rows for columns",
            "A reshape to (d, 3 d) reads the same numbers in the same order and is no transpose. Cut the rows into "
            "three, then turn each over.",
            lambda w: tuple(np.split(w.reshape(w.shape[1], -1), 3, axis=1)),
        ),
        Mistake(
            "a reshape of the transpose",
            "in_proj_weight.T has shape (d, 3 d), and its columns are to be cut: np.split(..., 3, axis=1). A reshape "
            "mixes the three.",
            lambda w: tuple(w.T.reshape(3, w.shape[1], w.shape[1])),
        ),
        Mistake(
            "turned upside down",
            "np.flip and [::-1] change the order of rows. A transpose exchanges rows and columns: .T.",
            lambda w: tuple(a[::-1] for a in np.split(w, 3)),
        ),
    ),
)


def sample_std(x):
    """Compute the deviation of each row as torch.std does: divide the squares by d - 1.

    x: array of shape (..., d), d at least 2. Returns an array of shape (..., 1).
    """
    away = x - x.mean(axis=-1, keepdims=True)
    return np.sqrt((away**2).sum(axis=-1, keepdims=True) / (x.shape[-1] - 1))


def _deviation(x, less=1, axis=-1):
    return np.std(x, axis=axis, ddof=less, keepdims=True)


SAMPLE_STD = Check(
    solution=sample_std,
    expected=_deviation,
    cases=lambda rng: [
        Case((np.array([1.0, 3.0, 3.0, 5.0]),), "the row of exercise 4"),
        Case((np.array([[0.0, 2.0], [10.0, 30.0]]),), "two rows of two numbers"),
        Case((rng.normal(size=(3, 4)) + 2,), "three rows"),
        Case((rng.normal(size=(2, 3, 5)) * 10,), "two sentences of three rows"),
    ],
    exercise="ex-19-9",
    mistakes=(
        Mistake(
            "N in place of N - 1",
            "That is what np.std does, and nn.LayerNorm. torch.std divides by one less (chapter 19, Two deviations).",
            lambda x: _deviation(x, less=0),
        ),
        Mistake(
            "N - 2",
            "One is taken off once. np.std(x, ddof=1) divides by d - 1.",
            lambda x: np.sqrt(((x - x.mean(-1, keepdims=True)) ** 2).sum(-1, keepdims=True) / max(x.shape[-1] - 2, 1)),
        ),
        Mistake(
            "N + 1",
            "ddof is subtracted. One number less, because the mean was taken from the same numbers: d - 1.",
            lambda x: _deviation(x, less=-1),
        ),
        Mistake(
            "the root forgotten",
            "This is the variance. The deviation is its root.",
            lambda x: _deviation(x) ** 2,
        ),
        Mistake(
            "N - 1 outside the root",
            "The division comes before the root: sqrt(sum / (d - 1)).",
            lambda x: np.sqrt(((x - x.mean(-1, keepdims=True)) ** 2).sum(-1, keepdims=True)) / (x.shape[-1] - 1),
        ),
        Mistake(
            "the mean not subtracted",
            "The distances from the mean are squared, not the numbers themselves.",
            lambda x: np.sqrt((x**2).sum(-1, keepdims=True) / (x.shape[-1] - 1)),
        ),
        Mistake(
            "the wrong axis",
            "A row is normalised by itself: axis=-1. Yours goes down the columns.",
            lambda x: _deviation(x, axis=0),
        ),
        Mistake(
            "one deviation for the whole array",
            "Each row has its own: axis=-1, keepdims=True.",
            lambda x: np.std(x, ddof=1),
        ),
        Mistake(
            "keepdims forgotten",
            "Each row's deviation stays beside its row: shape (..., 1), with keepdims=True. Without it the division "
            "of a square table by it goes wrong without an error.",
            lambda x: np.std(x, axis=-1, ddof=1),
        ),
        Mistake(
            "absolute distances",
            "The mean distance is another measure. Square the distances, then take the root of their mean.",
            lambda x: np.abs(x - x.mean(-1, keepdims=True)).sum(-1, keepdims=True) / (x.shape[-1] - 1),
        ),
        Mistake(
            "N - 1 in the mean as well",
            "The mean is divided by d. Only the squares are divided by d - 1.",
            lambda x: np.sqrt(
                ((x - x.sum(-1, keepdims=True) / (x.shape[-1] - 1)) ** 2).sum(-1, keepdims=True) / (x.shape[-1] - 1)
            ),
        ),
        Mistake(
            "the squares of the whole array",
            "x.size counts all rows. Divide by the length of one row less one: x.shape[-1] - 1.",
            lambda x: np.sqrt(((x - x.mean(-1, keepdims=True)) ** 2).sum(-1, keepdims=True) / (x.size - 1)),
        ),
        Mistake(
            "one mean for the whole array",
            "Each row has its own mean: axis=-1, keepdims=True.",
            lambda x: np.sqrt(((x - x.mean()) ** 2).sum(-1, keepdims=True) / (x.shape[-1] - 1)),
        ),
        Mistake(
            "keepdims forgotten in the mean",
            "The means have lost their last axis, so NumPy lays them along the columns. keepdims=True keeps each mean "
            "beside its row.",
            lambda x: np.sqrt(((x - x.mean(-1)) ** 2).sum(-1, keepdims=True) / (x.shape[-1] - 1)),
        ),
        Mistake(
            "1 subtracted after the division",
            "sum / d - 1 divides first. The bracket belongs around d - 1: sum / (d - 1).",
            lambda x: np.sqrt(((x - x.mean(-1, keepdims=True)) ** 2).sum(-1, keepdims=True) / x.shape[-1] - 1),
        ),
        Mistake(
            "divided twice",
            "mean() has divided by d already. Take sum(), and divide once, by d - 1.",
            lambda x: np.sqrt(((x - x.mean(-1, keepdims=True)) ** 2).mean(-1, keepdims=True) / (x.shape[-1] - 1)),
        ),
    ),
)

# 19.1: the arrays of nn.MultiheadAttention(8, 2); 19.4: two deviations; 19.5: two residuals
_WIDE = 8
_MHA = {
    "in_proj_weight": (3 * _WIDE, _WIDE),
    "in_proj_bias": (3 * _WIDE,),
    "out_proj.weight": (_WIDE, _WIDE),
    "out_proj.bias": (_WIDE,),
}
_MHA_COUNTS = [prod(shape) for shape in _MHA.values()]
_NORM_ROW = np.array([1.0, 3.0, 3.0, 5.0])
_SQUARES = ((_NORM_ROW - 3) ** 2).sum()
_DIVISORS = {"N": 4, "N - 1": 3}
_X, _F = np.array([1.0, 0.0]), np.array([0.5, 0.5])


def _std_part(name):
    by = _DIVISORS[name]
    return Part(
        np.sqrt(_SQUARES / by),
        lambda _: f"the root of (4 + 0 + 0 + 4) / {by}, about {np.sqrt(_SQUARES / by):.4f}",
        decimals=4,
        name=f"deviation with {name}",
    )


def _normed_part(name):
    std = np.sqrt(_SQUARES / _DIVISORS[name])
    return Part(
        (_NORM_ROW - 3) / std,
        lambda at: f"({_NORM_ROW[at]:g} - 3) / {std:.4f}, about {number((_NORM_ROW[at] - 3) / std, 4)}",
        decimals=4,
        name=f"result with {name}",
    )


def _residual_part(name, times):
    total = times * _X + _F
    return Part(
        total,
        lambda at: f"{' + '.join([f'{_X[at]:g}'] * times)} + {_F[at]:g} = {total[at]:g}",
        decimals=1,
        name=name,
    )


TORCH_BY_HAND = [
    ByHand(
        "ex-19-1",
        (
            Part(
                _MHA_COUNTS,
                lambda at: "{}: {}".format(
                    list(_MHA)[at[0]], " * ".join(map(str, list(_MHA.values())[at[0]])) + f" = {_MHA_COUNTS[at[0]]}"
                ),
                name="numbers",
            ),
            Part(
                sum(_MHA_COUNTS),
                lambda _: f"{' + '.join(map(str, _MHA_COUNTS))} = {sum(_MHA_COUNTS)}",
                name="together",
            ),
            Part(
                sum(_MHA_COUNTS),
                lambda _: f"the heads share the columns, so it stays {sum(_MHA_COUNTS)}",
                name="with 4 heads",
            ),
            Part(
                sum(_MHA_COUNTS[::2]),
                lambda _: (
                    f"the two weights are left: {' + '.join(map(str, _MHA_COUNTS[::2]))} = {sum(_MHA_COUNTS[::2])}"
                ),
                name="without bias",
            ),
        ),
    ),
    ByHand(
        "ex-19-4",
        (
            *(part(name) for name in _DIVISORS for part in (_std_part, _normed_part)),
            Part(
                np.sqrt(3 / 4),
                lambda _: f"the root of (d - 1) / d = 3 / 4, about {np.sqrt(3 / 4):.4f}",
                decimals=4,
                name="factor",
            ),
        ),
    ),
    ByHand("ex-19-5", (_residual_part("once", 1), _residual_part("twice", 2))),
]

# ---------------------------------------------------------------- chapter 20: sizes


def _config(words=5, d=4, d_ff=8, layers=1, n_heads=1):
    return Config(words, words, d, n_heads, d_ff, n_encoder_layers=layers, n_decoder_layers=layers)


def table_bytes(batch, n, m, n_heads, layers):
    """Count the bytes of all scores and weights of one forward pass, in float32.

    batch: sentence pairs. n, m: tokens of each source and of each target. The model has
    this many encoder layers, and as many decoder layers. Every attention keeps two
    tables for each sentence and head, the scores and the weights, with a row for each
    query and a column for each key. A number takes 4 bytes. Returns a whole number.
    """
    pairs = n * n + m * m + m * n
    return 4 * 2 * batch * n_heads * layers * pairs


def _table_cases(rng):
    drawn = [int(k) for k in rng.integers(2, 30, size=5)]
    return [
        Case((1, 1, 2, 1, 1), "one head, one layer, lengths 1 and 2"),
        Case((2, 3, 5, 2, 3), "small sizes, all different"),
        Case((1000, 25, 25, 8, 6), "the paper's batch, as 1000 sentences"),
        Case(tuple(drawn), "sizes drawn at random"),
    ]


def _tables(pairs, count=lambda b, h, e: 8 * b * h * e):
    return lambda batch, n, m, n_heads, layers: count(batch, n_heads, layers) * pairs(n, m)


def _three(n, m):
    return n * n + m * m + m * n


TABLE_BYTES = Check(
    solution=table_bytes,
    expected=lambda batch, n, m, n_heads, layers: (
        4 * size.activations(_config(d=2 * n_heads, n_heads=n_heads, layers=layers), batch, n, m)["attention weights"]
    ),
    cases=_table_cases,
    exercise="ex-20-4",
    mistakes=(
        Mistake(
            "one table for each head",
            "Scores and weights are two tables, and the way back needs both kept: twice as much.",
            _tables(_three, lambda b, h, e: 4 * b * h * e),
        ),
        Mistake(
            "numbers in place of bytes",
            "A float32 takes 4 bytes.",
            _tables(_three, lambda b, h, e: 2 * b * h * e),
        ),
        Mistake(
            "twice as many bytes",
            "Eight bytes for a number are float64; a float32 takes 4. If your number takes 4, the layers are counted "
            "twice: n * n belongs to each encoder layer, m * m + m * n to each decoder layer.",
            _tables(_three, lambda b, h, e: 16 * b * h * e),
        ),
        Mistake(
            "the heads forgotten",
            "Each head has a map of its own: multiply by n_heads. The width of a head does not matter here.",
            _tables(_three, lambda b, h, e: 8 * b * e),
        ),
        Mistake(
            "the batch forgotten",
            "Each sentence pair has its own tables: multiply by batch.",
            _tables(_three, lambda b, h, e: 8 * h * e),
        ),
        Mistake(
            "the layers forgotten",
            "Each layer has its own tables, and the way back needs them all.",
            _tables(_three, lambda b, h, e: 8 * b * h),
        ),
        Mistake(
            "the cross-attention forgotten",
            "A decoder layer has two attentions. The second has m queries and n keys: m * n.",
            _tables(lambda n, m: n * n + m * m),
        ),
        Mistake(
            "the decoder's self-attention forgotten",
            "A decoder layer has two attentions. In the first the m target tokens meet each other: m * m.",
            _tables(lambda n, m: n * n + m * n),
        ),
        Mistake(
            "the encoder alone",
            "Each decoder layer has two attentions on top: m * m for its own rows, m * n for those of the memory.",
            _tables(lambda n, m: n * n),
        ),
        Mistake(
            "all tokens in one table",
            "(n + m) squared would let source and target see each other everywhere. There are three tables: n * n, m "
            "* m and m * n.",
            _tables(lambda n, m: (n + m) ** 2),
        ),
        Mistake(
            "half a table for the causal mask",
            "The mask hides half of the scores, and they are stored all the same: m * m.",
            _tables(lambda n, m: n * n + m * (m + 1) // 2 + m * n),
        ),
        Mistake(
            "the tokens of the batch in one sentence",
            "Tokens meet within their sentence only: the batch is a factor, it is not squared.",
            lambda batch, n, m, n_heads, layers: 8 * n_heads * layers * _three(batch * n, batch * m),
        ),
        Mistake(
            "m * m for the cross-attention",
            "In the decoder's second attention m queries meet n keys: m * n.",
            _tables(lambda n, m: n * n + 2 * m * m),
        ),
        Mistake(
            "n * n for the cross-attention",
            "In the decoder's second attention m queries meet n keys: m * n.",
            _tables(lambda n, m: 2 * n * n + m * m),
        ),
    ),
)


def llama_parameters(words, d, layers, n_heads, n_key_heads, d_head, d_ff):
    """Count the parameters of a decoder-only model such as Llama 3.

    There is no bias anywhere. words: vocabulary, with two separate tables, input and
    output. Each layer has n_heads query heads and n_key_heads heads for keys and
    values, all of width d_head; SwiGLU with three matrices between d and d_ff; and two
    RMSNorms. One more RMSNorm stands at the end. An RMSNorm has d numbers. Returns a
    whole number.
    """
    attention = 2 * d * n_heads * d_head + 2 * d * n_key_heads * d_head
    return layers * (attention + 3 * d * d_ff + 2 * d) + d + 2 * words * d


def _llama_shapes(words, d, layers, n_heads, n_key_heads, d_head, d_ff, bias=False, shift=False):
    """The arrays of the model, one by one."""
    wide, narrow = n_heads * d_head, n_key_heads * d_head
    matrices = [(d, wide), (d, narrow), (d, narrow), (wide, d), (d, d_ff), (d, d_ff), (d_ff, d)]
    norm = [(d,)] * (1 + shift)
    layer = matrices + [shape[1:] for shape in matrices] * bias + 2 * norm
    return layer * layers + norm + [(words, d), (d, words)]


def _llama_count(*sizes, **how):
    return sum(prod(shape) for shape in _llama_shapes(*sizes, **how))


def _llama_cases(rng):
    d, pieces, narrow = (int(k) for k in rng.integers(2, 9, size=3))
    return [
        Case((3, 4, 1, 2, 1, 2, 5), "one layer of width 4, two query heads, one key head"),
        Case((10, 8, 3, 4, 2, 3, 12), "heads that are wider together than d"),
        Case((11, 2 * d, pieces, 6, 3, narrow, 5 * d), "sizes drawn at random"),
        Case((128_000, 4096, 32, 32, 8, 128, 14_336), "Llama 3 with eight thousand million"),
    ]


LLAMA_PARAMETERS = Check(
    solution=llama_parameters,
    expected=_llama_count,
    cases=_llama_cases,
    exercise="ex-20-6",
    points=3,
    mistakes=(
        Mistake(
            "a key head for every query head",
            "Keys and values are shared by groups of query heads: their matrices are d times n_key_heads * d_head.",
            lambda w, d, e, h, g, k, f: _llama_count(w, d, e, h, h, k, f),
        ),
        Mistake(
            "few query heads as well",
            "Only keys and values come in groups. Queries and output have n_heads heads.",
            lambda w, d, e, h, g, k, f: _llama_count(w, d, e, g, g, k, f),
        ),
        Mistake(
            "the output matrix forgotten",
            "An attention has four matrices; the last, W_O, is n_heads * d_head times d.",
            lambda w, d, e, h, g, k, f: _llama_count(w, d, e, h, g, k, f) - e * d * h * k,
        ),
        Mistake(
            "two matrices in the feed-forward network",
            "SwiGLU has a third one, for the gate: 3 * d * d_ff (chapter 20, What changed since 2017).",
            lambda w, d, e, h, g, k, f: _llama_count(w, d, e, h, g, k, f) - e * d * f,
        ),
        Mistake(
            "the last norm forgotten",
            "After the last layer stands one more RMSNorm, with d numbers.",
            lambda w, d, e, h, g, k, f: _llama_count(w, d, e, h, g, k, f) - d,
        ),
        Mistake(
            "the norms forgotten",
            "Each RMSNorm has d numbers: two in each layer, one at the end.",
            lambda w, d, e, h, g, k, f: _llama_count(w, d, e, h, g, k, f) - (2 * e + 1) * d,
        ),
        Mistake(
            "norms with gamma and beta",
            "RMSNorm has no beta: d numbers, where layer norm has 2 d.",
            lambda *sizes: _llama_count(*sizes, shift=True),
        ),
        Mistake(
            "one norm a layer",
            "A layer has two norms, one before each of its two parts.",
            lambda w, d, e, h, g, k, f: _llama_count(w, d, e, h, g, k, f) - e * d,
        ),
        Mistake(
            "one table for input and output",
            "This model has two separate tables: 2 * words * d.",
            lambda w, d, e, h, g, k, f: _llama_count(w, d, e, h, g, k, f) - w * d,
        ),
        Mistake(
            "the tables forgotten",
            "Input and output have a table each, with d numbers for each word.",
            lambda w, d, e, h, g, k, f: _llama_count(w, d, e, h, g, k, f) - 2 * w * d,
        ),
        Mistake(
            "one layer alone",
            "Everything but the tables and the last norm is there once for each layer.",
            lambda w, d, e, h, g, k, f: _llama_count(w, d, 1, h, g, k, f),
        ),
        Mistake(
            "biases added",
            "There is no bias anywhere in this model.",
            lambda *sizes: _llama_count(*sizes, bias=True),
        ),
        Mistake(
            "queries of width d",
            "The heads together are n_heads * d_head wide. That equals d in Llama 3, and need not elsewhere.",
            lambda w, d, e, h, g, k, f: _llama_count(w, d, e, h, g, k, f) + 2 * e * d * (d - h * k),
        ),
        Mistake(
            "one matrix for keys and values",
            "Keys and values have a matrix each: 2 * d * n_key_heads * d_head.",
            lambda w, d, e, h, g, k, f: _llama_count(w, d, e, h, g, k, f) - e * d * g * k,
        ),
    ),
)


def count_parameters(words, d, d_ff, layers):
    """Count the parameters of the paper's model, with one table for all three uses.

    words: the common vocabulary of source, target and output. d: the width of a row,
    and of all heads side by side. The model has this many encoder layers and as many
    decoder layers. Attentions have no biases, feed-forward networks have both, layer
    norms have gamma and beta, the output has no bias. Returns a whole number.
    """
    attention, feed_forward, norm = 4 * d * d, 2 * d * d_ff + d_ff + d, 2 * d
    encoder = attention + feed_forward + 2 * norm
    decoder = 2 * attention + feed_forward + 3 * norm
    return layers * (encoder + decoder) + words * d


def _right_count(words, d, d_ff, layers):
    """What `size.parameters` counts, without two of the three tables and without the output's bias."""
    return sum(size.parameters(_config(words, d, d_ff, layers)).values()) - 2 * words * d - words


def _count_cases(rng):
    words, d, d_ff, layers = (int(k) for k in rng.integers((20, 2, 9, 2), (90, 9, 40, 9)))
    return [
        Case((3, 2, 3, 1), "three words of width 2, one layer a side"),
        Case((10, 4, 8, 2), "width 4, two layers a side"),
        Case((words, 2 * d, d_ff, layers), "sizes drawn at random"),
        Case((37_000, 512, 2048, 6), "the paper's base model"),
    ]


def _off_by(amount):
    """A count that is too large by an amount, or too small."""
    return lambda words, d, d_ff, layers: _right_count(words, d, d_ff, layers) + amount(words, d, d_ff, layers)


COUNT_PARAMETERS = Check(
    solution=count_parameters,
    expected=_right_count,
    cases=_count_cases,
    exercise="ex-20-9",
    mistakes=(
        Mistake(
            "one attention in the decoder",
            "A decoder layer has two: its self-attention, and the cross-attention that reads the memory.",
            _off_by(lambda w, d, f, e: -4 * e * d * d),
        ),
        Mistake(
            "three matrices in an attention",
            "W_Q, W_K and W_V, and then W_O: four matrices of d times d.",
            _off_by(lambda w, d, f, e: -3 * e * d * d),
        ),
        Mistake(
            "the feed-forward biases forgotten",
            "Each of the two maps adds a row of its own: d_ff numbers and d numbers.",
            _off_by(lambda w, d, f, e: -2 * e * (f + d)),
        ),
        Mistake(
            "biases in the attentions",
            "The paper's attentions have no biases. With them there are 4 d more in each.",
            _off_by(lambda w, d, f, e: 3 * e * 4 * d),
        ),
        Mistake(
            "the norms forgotten",
            "Each layer norm has gamma and beta, 2 d numbers: two norms in an encoder layer, three in a decoder layer.",
            _off_by(lambda w, d, f, e: -e * 10 * d),
        ),
        Mistake(
            "norms without beta",
            "A layer norm has gamma and beta: 2 d numbers.",
            _off_by(lambda w, d, f, e: -e * 5 * d),
        ),
        Mistake(
            "two norms in a decoder layer, or no second bias",
            "A decoder layer has three parts, and a norm after each: 3 * 2 d. If you have three, look for d numbers in "
            "each feed-forward network: its second bias.",
            _off_by(lambda w, d, f, e: -e * 2 * d),
        ),
        Mistake(
            "the embeddings twice",
            "Source and target share one table, and the output uses the same, turned over: words * d once.",
            _off_by(lambda w, d, f, e: w * d),
        ),
        Mistake(
            "three tables",
            "Here one table does all the work of three: words * d once (chapter 20, The paper's 65 million).",
            _off_by(lambda w, d, f, e: 2 * w * d),
        ),
        Mistake(
            "the tables forgotten",
            "The common table has d numbers for each word, and training sets them like all others.",
            _off_by(lambda w, d, f, e: -w * d),
        ),
        Mistake(
            "a bias at the output",
            "With a shared table the output has no bias here.",
            _off_by(lambda w, d, f, e: w),
        ),
        Mistake(
            "the encoder alone",
            "There are as many decoder layers, and they are larger.",
            lambda w, d, f, e: e * (4 * d * d + 2 * d * f + f + d + 4 * d) + w * d,
        ),
        Mistake(
            "one matrix in the feed-forward network",
            "It widens and narrows: one matrix of d times d_ff, one of d_ff times d.",
            _off_by(lambda w, d, f, e: -2 * e * d * f),
        ),
        Mistake(
            "one layer alone",
            "Everything but the table is there once for each layer.",
            lambda w, d, f, e: _right_count(w, d, f, 1),
        ),
    ),
)


def count_multiplications(n, m, words, d, d_ff, layers):
    """Count the multiplications of all matrix products in one forward pass.

    One sentence. n, m: tokens of its source and of its target. words: the target
    vocabulary. d: the width of a row, and of all heads side by side. The model has this
    many encoder layers and as many decoder layers, and every target row gets logits. A
    product of a (p, q) and a (q, r) matrix takes p q r multiplications. Returns a whole
    number.
    """
    encoder = 4 * n * d * d + 2 * n * n * d + 2 * n * d * d_ff
    own = 4 * m * d * d + 2 * m * m * d
    cross = 2 * m * d * d + 2 * n * d * d + 2 * m * n * d
    return layers * (encoder + own + cross + 2 * m * d * d_ff) + m * d * words


def _right_products(n, m, words, d, d_ff, layers):
    return sum(size.multiplications(_config(words, d, d_ff, layers), n, m).values())


def _product_cases(rng):
    n, m, words, d, d_ff, layers = (int(k) for k in rng.integers((3, 3, 20, 2, 9, 2), (20, 20, 90, 9, 40, 9)))
    return [
        Case((1, 2, 3, 2, 5, 1), "one word to two words, width 2"),
        Case((3, 2, 7, 4, 8, 1), "three words to two, width 4"),
        Case((n, m + n, words, 2 * d, d_ff, layers), "sizes drawn at random"),
        Case((30, 30, 37_000, 512, 2048, 6), "the paper's base model"),
    ]


def _products_off_by(amount):
    return lambda n, m, w, d, f, e: _right_products(n, m, w, d, f, e) + amount(n, m, w, d, f, e)


COUNT_MULTIPLICATIONS = Check(
    solution=count_multiplications,
    expected=_right_products,
    cases=_product_cases,
    exercise="ex-20-10",
    mistakes=(
        Mistake(
            "the output forgotten",
            "Each target row meets the output matrix: m * d * words, once for the whole model.",
            _products_off_by(lambda n, m, w, d, f, e: -m * d * w),
        ),
        Mistake(
            "the output in every layer",
            "Logits are made once, after the last layer.",
            _products_off_by(lambda n, m, w, d, f, e: (e - 1) * m * d * w),
        ),
        Mistake(
            "rows that meet rows forgotten",
            "Scores and weighted sums have no weights in them, and are products all the same: 2 n n d, 2 m m d and "
            "2 m n d in each layer.",
            _products_off_by(lambda n, m, w, d, f, e: -2 * e * d * (n * n + m * m + m * n)),
        ),
        Mistake(
            "scores without the weighted sums",
            "Q K^T is one product, the weights with V another one of the same size: 2 n n d.",
            _products_off_by(lambda n, m, w, d, f, e: -e * d * (n * n + m * m + m * n)),
        ),
        Mistake(
            "the cross-attention forgotten",
            "A decoder layer has two attentions. The second takes its queries from m rows, its keys and values from n.",
            _products_off_by(lambda n, m, w, d, f, e: -e * (2 * m * d * d + 2 * n * d * d + 2 * m * n * d)),
        ),
        Mistake(
            "keys and values from the decoder",
            "In cross-attention they are made from the n rows of the memory: 2 n d d. Queries and output take 2 m d d.",
            _products_off_by(lambda n, m, w, d, f, e: e * 2 * (m - n) * d * d),
        ),
        Mistake(
            "three projections",
            "W_Q, W_K and W_V, and then W_O: four products with d * d matrices.",
            _products_off_by(lambda n, m, w, d, f, e: -e * (n + 2 * m) * d * d),
        ),
        Mistake(
            "half of the scores for the causal mask",
            "All scores are computed, then half of them are hidden: the mask saves nothing here.",
            _products_off_by(lambda n, m, w, d, f, e: -2 * e * d * (m * m - m * (m + 1) // 2)),
        ),
        Mistake(
            "one product in the feed-forward network",
            "It widens and narrows: 2 n d d_ff, and 2 m d d_ff in the decoder.",
            _products_off_by(lambda n, m, w, d, f, e: -e * (n + m) * d * f),
        ),
        Mistake(
            "the feed-forward network forgotten",
            "Both stacks have one in each layer: 2 n d d_ff and 2 m d d_ff.",
            _products_off_by(lambda n, m, w, d, f, e: -2 * e * (n + m) * d * f),
        ),
        Mistake(
            "the output for one row only",
            "While it writes, a model needs the logits of the last row alone. Here all m rows get them, as in "
            "training.",
            _products_off_by(lambda n, m, w, d, f, e: -(m - 1) * d * w),
        ),
        Mistake(
            "one row in place of all",
            "That is what each matrix entry costs for a single row. Every row meets every matrix: n rows in the "
            "encoder, m in the decoder.",
            lambda n, m, w, d, f, e: _right_products(1, 1, w, d, f, e),
        ),
        Mistake(
            "additions counted as well",
            "With the additions it is twice as much. Only multiplications are asked.",
            _products_off_by(lambda *sizes: _right_products(*sizes)),
        ),
        Mistake(
            "all four from the memory",
            "In cross-attention queries and output are made from the decoder's m rows: 2 m d d. Keys and values take "
            "2 n d d.",
            _products_off_by(lambda n, m, w, d, f, e: e * 2 * (n - m) * d * d),
        ),
        Mistake(
            "m rows that meet m rows in the cross-attention",
            "There the m rows of the decoder meet the n rows of the memory: 2 m n d.",
            _products_off_by(lambda n, m, w, d, f, e: 2 * e * d * (m * m - m * n)),
        ),
        Mistake(
            "logits for the source",
            "The decoder says the words, so its m rows get logits: m * d * words.",
            _products_off_by(lambda n, m, w, d, f, e: (n - m) * d * w),
        ),
    ),
)


def cache_bytes(n, m, d, layers, itemsize):
    """Count the bytes that a model keeps while it writes, after m tokens.

    n: tokens of the source. d: the width of a row, and of all heads side by side.
    layers: of the decoder. itemsize: bytes of one number. Each decoder layer keeps keys
    and values of the m tokens written so far, and keys and values of the memory; the
    memory itself, a row for each source token, is kept once. Returns a whole number.
    """
    own, of_the_memory = 2 * layers * m * d, 2 * layers * n * d
    return itemsize * (own + of_the_memory + n * d)


def _right_cache(n, m, d, layers, itemsize):
    return itemsize * sum(size.cache(replace(_config(d=d), n_decoder_layers=layers), 1, n, m).values())


def _cache_cases(rng):
    n, m, d, layers = (int(k) for k in rng.integers((3, 3, 2, 2), (40, 40, 9, 9)))
    return [
        Case((1, 2, 2, 1, 4), "one layer of width 2"),
        Case((3, 5, 4, 2, 8), "two layers of width 4, float64"),
        Case((n, m + n, 2 * d, layers, 2), "sizes drawn at random, two bytes"),
        Case((30, 100, 512, 6, 4), "the paper's base model"),
    ]


def _cached(own=2, other=2, memory=1, bytes_of=lambda itemsize: itemsize):
    return lambda n, m, d, e, itemsize: bytes_of(itemsize) * (own * e * m * d + other * e * n * d + memory * n * d)


CACHE_BYTES = Check(
    solution=cache_bytes,
    expected=_right_cache,
    cases=_cache_cases,
    exercise="ex-20-11",
    mistakes=(
        Mistake(
            "keys without values",
            "Each layer keeps keys and values, so everything in it counts twice.",
            _cached(own=1, other=1),
        ),
        Mistake(
            "queries kept as well",
            "A query is used once, in its own step. Only keys and values are needed later: twice, not three times.",
            _cached(own=3),
        ),
        Mistake(
            "the memory's keys and values forgotten",
            "The cross-attention of each layer keeps keys and values of the n source tokens, made once.",
            _cached(other=0),
        ),
        Mistake(
            "the memory forgotten",
            "The rows that the encoder made are kept, too: n * d, once for all layers.",
            _cached(memory=0),
        ),
        Mistake(
            "only what was written",
            "The source has its part: keys and values of the memory in each layer, and the memory itself.",
            _cached(other=0, memory=0),
        ),
        Mistake(
            "the layers forgotten",
            "Each decoder layer has keys and values of its own. Only the memory is kept once.",
            lambda n, m, d, e, itemsize: _cached()(n, m, d, 1, itemsize),
        ),
        Mistake(
            "the memory kept by every layer",
            "All layers read the same memory: n * d once. What differs between layers are its keys and values.",
            lambda n, m, d, e, itemsize: _cached(memory=e)(n, m, d, e, itemsize),
        ),
        Mistake(
            "numbers in place of bytes",
            "Each number takes itemsize bytes.",
            _cached(bytes_of=lambda itemsize: 1),
        ),
        Mistake(
            "bits in place of bytes",
            "itemsize is in bytes already.",
            _cached(bytes_of=lambda itemsize: 8 * itemsize),
        ),
        Mistake(
            "a cache that grows with the square",
            "Each step adds one row to the cache; the rows before stay where they are. So it is m rows, not 1 + 2 "
            "+ ... + m.",
            lambda n, m, d, e, itemsize: itemsize * (e * m * (m + 1) * d + 2 * e * n * d + n * d),
        ),
        Mistake(
            "source and target exchanged",
            "The memory has a row for each of the n source tokens; m tokens were written.",
            lambda n, m, d, e, itemsize: _cached()(m, n, d, e, itemsize),
        ),
        Mistake(
            "the memory twice",
            "Keys and values are two arrays, the memory is one: n * d.",
            _cached(memory=2),
        ),
        Mistake(
            "one array for the memory's keys and values",
            "The cross-attention of each layer keeps both, keys and values: 2 n d.",
            _cached(other=1),
        ),
        Mistake(
            "one array for the keys and values of what was written",
            "The self-attention of each layer keeps both, keys and values: 2 m d.",
            _cached(own=1),
        ),
    ),
)

# 20.1: one layer; 20.3: a chat; 20.5: one table; 20.8: twice as large
_SMALL, _SMALL_FF, _SMALL_HEADS = 8, 32, 2
_SMALL_PARTS = {
    "attention": (4 * _SMALL**2, "4 * 8 * 8"),
    "feed-forward": (2 * _SMALL * _SMALL_FF + _SMALL_FF + _SMALL, "2 * 8 * 32 + 32 + 8"),
    "norms": (4 * _SMALL, "2 * (8 + 8)"),
}
_SMALL_COUNT = sum(n for n, _ in _SMALL_PARTS.values())
_SMALL_SHARE = 100 * _SMALL_PARTS["feed-forward"][0] / _SMALL_COUNT
_A_TOKEN = 2 * 80 * 8 * 128 * 2
_A_CHAT = _A_TOKEN * 4096
_WORDS, _PAPER_D, _PAPER_FF = 37_000, 512, 2048
_CROSSOVER = 2 * _PAPER_D + _PAPER_FF

SIZE_BY_HAND = [
    ByHand(
        "ex-20-1",
        (
            *(
                Part(n, lambda _, n=n, text=text: f"{text} = {n}", name=name)
                for name, (n, text) in _SMALL_PARTS.items()
            ),
            Part(
                _SMALL_COUNT,
                lambda _: f"{' + '.join(str(n) for n, _ in _SMALL_PARTS.values())} = {_SMALL_COUNT}",
                name="together",
            ),
            Part(
                _SMALL_SHARE,
                lambda _: f"100 * {_SMALL_PARTS['feed-forward'][0]} / {_SMALL_COUNT}, about {_SMALL_SHARE:.1f}",
                name="percent",
            ),
            Part(
                4 * _SMALL,
                lambda _: f"three of width 2 * 4 and one of width 8: 3 * 8 + 8 = {4 * _SMALL}",
                name="biases",
            ),
        ),
    ),
    ByHand(
        "ex-20-3",
        (
            Part(
                _A_TOKEN,
                lambda _: f"keys and values, layers, heads, width, bytes: 2 * 80 * 8 * 128 * 2 = {_A_TOKEN}",
                name="one token",
            ),
            Part(_A_CHAT, lambda _: f"{_A_TOKEN} * 4096 = {_A_CHAT}", name="conversation"),
            Part(
                8 * _A_CHAT,
                lambda _: f"64 heads in place of 8, eight times as much: 8 * {_A_CHAT} = {8 * _A_CHAT}",
                name="without groups",
            ),
        ),
    ),
    ByHand(
        "ex-20-5",
        (
            Part(
                2 * _WORDS * _PAPER_D + _WORDS,
                lambda _: f"2 * 37000 * 512 + 37000 = {2 * _WORDS * _PAPER_D + _WORDS}",
            ),
        ),
    ),
    ByHand(
        "ex-20-8",
        (
            Part(4, lambda _: "every matrix is twice as high and twice as wide: 2 * 2 = 4", name="factor, width"),
            Part(2, lambda _: "twice as many layers: 2", name="factor, depth"),
            Part(
                2 * _CROSSOVER,
                lambda _: f"2 d + d_ff with both doubled: 2 * 1024 + 4096 = {2 * _CROSSOVER}",
                name="crossover, width",
            ),
            Part(
                _CROSSOVER,
                lambda _: f"2 d + d_ff does not contain the number of layers: 2 * 512 + 2048 = {_CROSSOVER}",
                name="crossover, depth",
            ),
        ),
    ),
]

CHECKS: list[Check] = [
    EVEN_WEIGHTS,
    CONTRIBUTIONS,
    ROLLOUT,
    EXACT_MATCHES,
    SHARE_AND_SPREAD,
    TURN_MASK,
    SPLIT_IN_PROJ,
    SAMPLE_STD,
    TABLE_BYTES,
    LLAMA_PARAMETERS,
    COUNT_PARAMETERS,
    COUNT_MULTIPLICATIONS,
    CACHE_BYTES,
]

BY_HAND: list[ByHand] = [*LOOKING_BY_HAND, *TAKING_BY_HAND, *TORCH_BY_HAND, *SIZE_BY_HAND]
