"""What happens in stages: scores mix values, rows fall and go to a circle, shares follow a number, logits a slip."""

from __future__ import annotations

import html as _html
from collections.abc import Mapping, Sequence

import numpy as np

from toytf.byhand import fmt
from toytf.byhand.panels import words
from toytf.live.element import SAID, Element, bar, table
from toytf.ops import softmax

SCALE, EDGE, FLAT, LIFT = 62, 20, 0.45, 0.62  # of the picture: units, space around, how flat the plane, how steep up
SIDE, BACK, LEVEL = np.array([[1, -1, 0], [1, 1, -2], [1, 1, 1]]) / np.sqrt([[2], [6], [3]])
LOOK = SCALE * np.stack([SIDE, -FLAT * BACK - LIFT * LEVEL])  # a row of three numbers to its place in the picture


def mixing(scores, values, *, rows: Sequence[str], query: str, decimals: int = 3, id: str = "mixing") -> Element:
    """Scores become shares, and the shares mix the values, one stage after the other::

        shares = softmax(scores),   out = shares values

    Parameters
    ----------
    scores : array_like, shape (key,)
        The scaled scores of one query.
    values : array_like, shape (key, d_v)
        What each key hands over.
    rows : sequence of str
        What the keys are called.
    query : str
        What the query is called.
    decimals : int, default 3
        Of all numbers; trailing zeros are left out.
    id : str
        The element's address on its page, ``#mixing?stage=2``.

    Returns
    -------
    Element

    Notes
    -----
    *Attention Is All You Need*, section 3.2.1.

    Examples
    --------
    >>> print(mixing([0, 1], [[1, 0], [0, 4]], rows=["Hello", "World"], query="Hello").text)
    Hello: score 0, share 0.269, value [1 0], share × value [0.269 0.000]
    World: score 1, share 0.731, value [0 4], share × value [0.000 2.924]
    Hello takes home [0.269 2.924]
    """
    scores, values = np.asarray(scores, float), np.asarray(values, float)
    shares = softmax(scores)
    mixed = shares[:, None] * values
    columns = scores[:, None], np.append(shares, 1)[:, None], values, np.vstack([mixed, mixed.sum(axis=0)])
    s, a, v, p = (words(column, decimals, False, "html") for column in columns)
    lines = [
        (row, _cell(1, s[k]), bar(share=share).replace("<td", '<td data-stage="2"'), _cell(2, a[k]), _cell(1, v[k]))
        + (_cell(3, p[k]),)
        for k, (row, share) in enumerate(zip(rows, shares, strict=True))
    ]
    told = np.round(np.column_stack([shares, mixed]), decimals).sum(axis=0)  # what a reader adds up
    exact = np.allclose(told, [1, *np.round(mixed.sum(axis=0), decimals)], rtol=0, atol=0.1**decimals / 2)
    lines.append(("sum" if exact else "sum ≈", "", "", _cell(2, a[-1]), "", _cell(4, p[-1])))
    best = int(scores.argmax())
    home = " ".join(p[-1])
    home = f"[{home}]" if " " in home else home
    stages = {
        "scores": f"The scaled scores of “{query}”. The largest is that of {rows[best]}, {s[best][0]}.",
        "shares": f"Softmax makes shares of them, 1 in all. {rows[best]} gets {a[best][0]}.",
        "products": "Each value is multiplied by its share.",
        "sum": f"Added up, this is what “{query}” takes home: {home}.",
    }
    heads = ("", "score", None, "share", "value", "product")
    static = table("mixing", lines, heads) + SAID
    text = [
        f"{row}: score {s[k][0]}, share {a[k][0]}, value [{' '.join(v[k])}], share × value [{' '.join(p[k])}]"
        for k, row in enumerate(rows)
    ]
    text.append(f"{query} takes home {home}")
    return _stages("From scores to a mix of values", stages, static, "\n".join(text), id)


def normalising(points: Mapping[str, Sequence[float]], *, id: str = "normalising") -> Element:
    """Rows of three numbers, as points: they fall onto the plane of mean 0, and go to the circle of variance 1::

        x,   x - mean(x),   (x - mean(x)) / std(x)

    The last row can be dragged: sideways, and up along its level.

    Parameters
    ----------
    points : mapping
        Rows of three numbers, not all equal, by their names.
    id : str
        The element's address on its page, ``#normalising?stage=2``.

    Returns
    -------
    Element

    Raises
    ------
    ValueError
        If a row has not three numbers, or three equal ones.

    Examples
    --------
    >>> print(normalising({"a": [1.8, 0.6, 1.2], "4a": [7.2, 2.4, 4.8]}).text)
    a: [1.8 0.6 1.2], minus its mean [0.6 −0.6 0.0], over its σ [1.22 −1.22 0.00]
    4a: [7.2 2.4 4.8], minus its mean [2.4 −2.4 0.0], over its σ [1.22 −1.22 0.00]
    """
    for name, row in points.items():
        if np.shape(row) != (3,) or np.ptp(row) == 0:
            raise ValueError(f"points[{name!r}]: expected three numbers that are not all equal, got {row}")
    rows = np.array(list(points.values()), float)
    fallen = rows - rows.mean(axis=1, keepdims=True)
    ways = np.stack([rows, fallen, fallen / fallen.std(axis=1, keepdims=True)], axis=1)  # row, stage, 3
    said = list(zip(*(words(ways[:, k], 2, False, "html") for k in range(3)), strict=True))
    lines = [(name, *(_cell(k, row) for k, row in enumerate(way, 1))) for name, way in zip(points, said, strict=True)]
    stages = {
        "rows": "Rows of three numbers, as points in space. Which of them will end on the same point?",
        "mean 0": "Each row minus its mean: it drops straight onto the plane of the rows with mean 0.",
        "variance 1": "Each of them divided by its σ: straight in or out, to the circle of variance 1.",
    }
    heads = ("", "row", _later(2, "− mean"), _later(3, "/ σ"))
    static = f'<div class="live-fall">{_picture(list(points), ways)}{table("rows", lines, heads)}</div>{SAID}'
    text = [
        "{}: [{}], minus its mean [{}], over its σ [{}]".format(name, *map(" ".join, way))
        for name, way in zip(points, said, strict=True)
    ]
    dragged = {"row": rows[-1], "name": list(points)[-1], "look": LOOK}
    return _stages("First down to mean 0, then onto the circle", stages, static, "\n".join(text), id, **dragged)


def breaking(theirs, ours: Mapping[str, np.ndarray], *, id: str = "breaking") -> Element:
    """Break a model and see its logits move, for the word that another program finds most probable after each token.

    Parameters
    ----------
    theirs : array_like, shape (token, word)
        The logits of the other program.
    ours : mapping of str to array_like, shape (token, word)
        Our logits by what was broken; the first are right.
    id : str
        The element's address on its page, ``#breaking?stage=2``.

    Returns
    -------
    Element

    Examples
    --------
    >>> print(breaking([[0, 1], [2, 0]], {"nothing": [[0, 1], [2, 0]], "a sign": [[0, 1], [-1, 1]]}).text)
    nothing: largest difference of any word 0.00; the most probable word stays after 2 of 2 tokens.
    a sign: largest difference of any word 3.00; the most probable word stays after 1 of 2 tokens.
    """
    theirs, all_ours = np.asarray(theirs, float), np.array(list(ours.values()), float)
    best = theirs.argmax(axis=-1)
    tops = np.take_along_axis(np.stack([theirs, *all_ours]), best[None, :, None], axis=-1)[..., 0]  # theirs first
    left, high, wide = 24, 180, 300
    x = left + wide * (np.arange(len(best)) + 0.5) / len(best)
    low, step = np.floor(tops.min()), high / (np.ceil(tops.max()) - np.floor(tops.min()))
    y = high - step * (tops - low)
    drawn = f'<path class="fall-up" d="M{left} 0V{high}M{left} {high}H{left + wide}"/>'
    drawn += f'<text x="{left + 6}" y="4">logit</text>'
    drawn += f'<text x="{left + wide}" y="{high - 6}" text-anchor="end">token</text>'
    for tick in range(int(low), int(np.ceil(tops.max())) + 1):
        drawn += f'<text x="{left - 6}" y="{high - step * (tick - low) + 5:.1f}" text-anchor="end">{tick}</text>'
    for k, (at, ring) in enumerate(zip(x, y[0], strict=True)):
        moves = " ".join(f"0,{new - y[1, k]:.1f}" for new in y[1:, k])
        drawn += (
            f'<text x="{at:.1f}" y="{high + 18}" text-anchor="middle">{k + 1}</text>'
            f'<circle class="fall-row" cx="{at:.1f}" cy="{ring:.1f}" r="8"/>'
            f'<circle class="fall-dot" cx="{at:.1f}" cy="{y[1, k]:.1f}" r="4" data-at="{moves}"/>'
        )
    says = {
        name: f"largest difference of any word {np.abs(logits - theirs).max():.2f}; the most probable word stays "
        f"after {(logits.argmax(axis=-1) == best).sum()} of {len(best)} tokens."
        for name, logits in zip(ours, all_ours, strict=True)
    }
    text = "\n".join(f"{name}: {said}" for name, said in says.items())
    static = (
        f'<div class="live-fall"><svg viewBox="0 -12 {left + wide} {high + 36}" style="max-width:26rem" role="img" '
        f'aria-label="For each token a ring, and a dot in it, above or below.">{drawn}</svg>'
        + SAID.replace("><", f">{_html.escape(text)}<")
        + "</div>"
    )
    heads = {name: said[0].upper() + said[1:] for name, said in says.items()}
    return _stages("Break it: dots are ours, rings the library’s", heads, static, text, id, label="what is broken")


def varied(
    title: str,
    label: str,
    shares: Mapping[str, Mapping[str, Sequence[float]]],
    *,
    rows,
    says,
    guess=None,
    full: float = 1,
    id,
) -> Element:
    """Shares as bars, for each value of something that one sets.

    Parameters
    ----------
    title, label : str
        What is seen, and what one sets.
    shares : mapping
        Of each table, by its name: a share for each row, by the value; nan for a row that is not there.
    rows, says : sequence of str
        What the rows are called, the one to watch first, and what is said of each value.
    guess : pair of str and sequence of float, optional
        What to guess before one sets anything, and shares to choose from.
    full : float, default 1
        What fills a bar.
    id : str
        The element's address on its page, ``#varied?stage=2``.

    Returns
    -------
    Element

    Examples
    --------
    >>> it = varied("", "n", {"shares": {"1": [0.5, 0.5], "2": [1, 0]}}, rows="ab", says=["Even.", "All."], id="x")
    >>> print(it.text)
    shares, a: 0.50, 1.00
    shares, b: 0.50, 0.00
    """
    values, tables, text = list(next(iter(shares.values()))), "", []
    for name, by_value in shares.items():
        lines = []
        for row, ways in zip(rows, zip(*by_value.values(), strict=True), strict=True):
            wide, said = " ".join(f"{x / full:.6g}" for x in ways), [fmt(float(x), 2).replace("nan", "–") for x in ways]
            grown = bar(share=ways[-1] / full).replace("<td", f'<td data-each="{wide}"')
            lines.append((row, grown, f'<td data-each="{" ".join(said)}">{said[-1]}</td>'))
            text.append(f"{name}, {row}: {', '.join(said)}")
        tables += table("bars", lines, caption=name).replace("<tr>", '<tr class="live-lit">', 1)
    asks = guess and {"label": guess[0], "options": [fmt(float(x), 2) for x in guess[1]]}
    data = {"stages": values, "says": list(says), "label": label, "guess": asks}
    return Element("stages", title, data, f'<div class="live-side">{tables}</div>{SAID}', "\n".join(text), id)


def _later(stage: int, html: str) -> str:
    return f'<span data-stage="{stage}">{html}</span>'


def _cell(stage: int, row: Sequence[str]) -> str:
    """A number, or a row of numbers in brackets."""
    inside = " ".join(f"<span>{word}</span>" for word in row)
    return f'<td data-stage="{stage}">{f"<span class=live-row>{inside}</span>" if len(row) > 1 else row[0]}</td>'


def _stages(title: str, stages: Mapping[str, str], static: str, text: str, id: str, **more) -> Element:
    """What carries ``data-stage="2"`` is there from stage 2 on; ``data-at`` says where something is at each stage."""
    return Element("stages", title, {"stages": list(stages), "says": list(stages.values()), **more}, static, text, id)


# ---------------------------------------------------------------- the picture


def _picture(names: Sequence[str], ways: np.ndarray) -> str:
    """Points above a plane: where each begins, how it falls, and how it goes to the circle, where its dot is."""
    flat = ways @ LOOK.T
    rim = 1.15 * SCALE * np.sqrt((ways[:, 1] ** 2).sum(axis=-1)).max()
    ring = SCALE * 3**0.5
    top = min(flat[..., 1].min(), -FLAT * rim) - 2 * EDGE
    wide, high = rim + EDGE, FLAT * rim + EDGE - top
    drawn = (
        f'<ellipse class="fall-plane" rx="{rim:.1f}" ry="{FLAT * rim:.1f}"/>'
        f'<ellipse class="fall-circle" rx="{ring:.1f}" ry="{FLAT * ring:.1f}" data-stage="3"/>'
        f'<path class="fall-up" d="M0 0V{top + EDGE:.1f}"/>'
        f'<text x="6" y="{top + EDGE:.1f}">all entries grow alike</text>'
        f'<text x="0" y="{FLAT * rim - 6:.1f}" text-anchor="middle">mean 0</text>'
    )
    for name, ((a, b), (c, d), (e, f)) in zip(names, flat, strict=True):
        moves = " ".join(f"{x - e:.1f},{y - f:.1f}" for x, y in ((a, b), (c, d), (e, f)))
        drawn += (
            f'<path class="fall-down" data-stage="2" d="M{a:.1f} {b:.1f}L{c:.1f} {d:.1f}"/>'
            f'<path class="fall-out" data-stage="3" d="M{c:.1f} {d:.1f}L{e:.1f} {f:.1f}"/>'
            f'<circle class="fall-row" cx="{a:.1f}" cy="{b:.1f}" r="6"/>'
            f'<text x="{a + 17:.1f}" y="{b + 5:.1f}">{_html.escape(name)}</text>'
            f'<circle class="fall-dot" cx="{e:.1f}" cy="{f:.1f}" r="6" data-at="{moves}"/>'
        )
    ends: dict[tuple[str, str], list[str]] = {}  # rows that come to the same place share a label
    for name, (x, y) in zip(names, flat[:, -1], strict=True):
        ends.setdefault((f"{x:.1f}", f"{y + (-10 if y < -1 else 20):.1f}"), []).append(name)
    for (x, y), there in ends.items():
        way, anchor = (-1, "end") if x[0] == "-" else (1, "start")
        label = _html.escape(", ".join(there))
        drawn += f'<text x="{x}" dx="{8 * way}" y="{y}" text-anchor="{anchor}" data-stage="3">{label}</text>'
    alt = "Points above a plane. Each falls straight onto it, and goes from there straight in or out to a circle."
    return (
        f'<svg viewBox="{-wide:.1f} {top:.1f} {2 * wide:.1f} {high:.1f}" style="max-width:{2 * wide:.0f}px" role="img" '
        f'aria-label="{alt}">{drawn}</svg>'
    )
