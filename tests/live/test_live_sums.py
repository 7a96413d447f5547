"""The sums that the browser writes are those that `toytf.byhand` writes, letter by letter."""

import numpy as np

from toytf import byhand
from toytf.live import wire

RNG = np.random.default_rng(0)
MATRICES = [
    (RNG.integers(-3, 9, size=(2, 4)).astype(float), RNG.integers(-2, 3, size=(4, 3)).astype(float)),
    (RNG.normal(size=(2, 4)).round(2), RNG.normal(size=(4, 3)).round(1)),
    (RNG.normal(size=(3, 2)) * 9, RNG.normal(size=(2, 2)) * 1e-3),
    (np.array([[0.0]]), np.array([[-1.5]])),
]
ROOT = np.sqrt(3)
SUMS = {  # of matrices a and b, and of one like a
    "productSum(w, a[i], toytf.transposed(b)[j], x)": lambda a, b, like: byhand.matmul(a, b),
    "weightedSumRow(`${i + 1}`, a[i], b, result[i])": lambda a, b, like: byhand.weighted_sum(a, b),
    "addSum(w, a[i][j], like[i][j], x)": lambda a, b, like: byhand.add(a, like),
    "divideSum(w, a[i][j], Math.sqrt(3), x)": lambda a, b, like: byhand.divide(a, ROOT),
    "reluSum(w, a[i][j], x)": lambda a, b, like: byhand.relu(a),
    "softmaxSum(w, a[i], j, x)": lambda a, b, like: byhand.softmax(a),
    "softmaxSum(w, a[i], j, x, { subtractMax: true })": lambda a, b, like: byhand.softmax(a, subtract_max=True),
    "softmaxSum(w, a[i].map((s) => 40 * s), j, x, { subtractMax: true, sci: true })": lambda a, b, like: byhand.softmax(
        40 * a, subtract_max=True, sci=True
    ),
}


def lines(working):
    """Every sum of a working, with its number as a sum writes it."""
    return [f"<b>{e.where}</b> " + "\n".join(map(" ".join, e.chain("html"))) for e in working.entries]


def test_every_kind_of_sum(engine):
    evaluate = engine()
    for a, b in MATRICES:
        like = np.random.default_rng(1).normal(size=a.shape).round(1)
        for call, make in SUMS.items():
            working = make(a, b, like)
            script = f"""([a, b, like, result]) => [...new Set(result.flatMap((row, i) =>
                row.map((x, j) => {{ const w = `${{i + 1}}, ${{j + 1}}`; return toytf.{call}; }})))]"""
            assert evaluate(script, wire.plain([a, b, like, working.result])) == lines(working), call
    assert evaluate("toytf.productSum('a', [NaN, 1], [2, Infinity], NaN)") == "<b>a</b> ≈ NaN·2 + 1·∞\n≈ NaN + ∞\n≈ NaN"
